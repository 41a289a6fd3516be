#ifndef RUBBLE_OPS_JOIN_FILMS_H
#define RUBBLE_OPS_JOIN_FILMS_H

/// Cutting by sheets: the thin film behind a sheet goes back to the pieces behind it.

#include "fracture/geometry/cut.h"

/// Joins each piece of cell 1 (the film of rbli_sheet_complex) with the pieces that it shares back facets
/// with, so that cutting by the sheet leaves two sides with the same facets and nothing else.
/// @param sheet_facets facets below it are the sheet, the next so many the film's back
/// @return RBL_OK · RBL_ERR_MESH (the sheet's border lies inside: the message names a place) ·
/// RBL_ERR_NO_MEMORY
///         · RBL_ERR_OPEN_MESH; after an error the result is to be destroyed
rbl_status rbli_join_films(rbl_context *ctx, rbli_cut_result *result, size_t sheet_facets);

#endif
