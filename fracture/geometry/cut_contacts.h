#ifndef RUBBLE_GEOMETRY_CUT_CONTACTS_H
#define RUBBLE_GEOMETRY_CUT_CONTACTS_H

/// From caps to contacts of pieces.

#include "fracture/geometry/cut_internal.h"

/// Which piece a cap belongs to in each of its cells.
typedef struct cut_cap_pieces {
    const cut_state *state;
    uint8_t *cell_whole;       /* [cell_count] all of the cell is one piece */
    int32_t *cap_piece;        /* [2 × caps' numbers] piece within a cell that is not whole, −1 for none */
    int32_t *cell_first_piece; /* [cell_count + 1] */
} cut_cap_pieces;

/// Fills the contacts of a result that has none.
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status cut_make_contacts(rbl_context *ctx, const cut_cap_pieces *of, rbli_cut_result *result);

#endif
