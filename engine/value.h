#ifndef RUBBLE_ENGINE_VALUE_H
#define RUBBLE_ENGINE_VALUE_H

/// What the engine needs of values beyond include/rubble/node.h. All functions are thread-safe.

#include "fracture/base/hash.h"
#include "fracture/collection/hierarchy.h"
#include "rubble/node.h"

/// Content hash: equal for equal kind and content, whatever made the value.
rbli_hash rbli_value_hash(const rbl_value *value);
/// Memory that the value keeps alive, arrays of collections included.
size_t rbli_value_bytes(const rbl_value *value);
/// The selection of a SELECTION value, borrowed; NULL for another kind. For nodes that ask
/// rbli_selection_fits.
const rbli_selection *rbli_value_get_selection(const rbl_value *value);
/// A SELECTION value that retains `selection`.
rbl_status rbli_value_create_from_selection(rbl_context *ctx, rbli_selection *selection, rbl_value **out);
/// "collection", "int" …; "unknown" for no kind.
const char *rbli_value_kind_word(rbl_value_kind kind);
/// True when a value of kind `from` may go into a port of kind `to`.
bool rbli_value_kind_fits(rbl_value_kind from, rbl_value_kind to);

#endif
