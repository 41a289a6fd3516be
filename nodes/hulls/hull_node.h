#ifndef RUBBLE_NODES_HULL_NODE_H
#define RUBBLE_NODES_HULL_NODE_H

/// Parameters that nodes of this family share.

#include "fracture/geometry/hull_decompose.h"
#include "nodes/state/state_node.h"

/// Fields of the parameter `decomposition`.
extern const rbl_param_desc rbli_decomposition_fields[];
/// Reads it; `protect` keeps what the options refer to.
rbli_decompose_options rbli_read_decomposition(
    const rbl_call *call, const char *name, rbli_negative_space_options *protect);

/// Fields of the parameter `protect_negative_space`.
extern const rbl_param_desc rbli_negative_space_fields[];
/// Reads it from an object; NULL when it is not enabled, else `storage` filled.
const rbli_negative_space_options *rbli_read_negative_space(
    const rbl_param *object, rbli_negative_space_options *storage);

#endif
