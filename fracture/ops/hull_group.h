#ifndef RUBBLE_OPS_HULL_GROUP_H
#define RUBBLE_OPS_HULL_GROUP_H

/// Reading and writing the group `convex` as a whole.

#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/convex_hull.h"

/// Rows of the group by bone: those of bone b are row[start[b]] … row[start[b + 1] − 1], ascending.
typedef struct rbli_hull_rows {
    size_t *start; /* [bone_count + 1] */
    int32_t *row;
} rbli_hull_rows;
/// @param out set on success only; rbli_hull_rows_free. A collection without the group gives empty lists.
/// @return RBL_OK · RBL_ERR_COLLECTION (an owner or a point that does not exist) · RBL_ERR_NO_MEMORY
rbl_status rbli_hull_rows_build(rbl_context *ctx, const rbl_collection *collection, rbli_hull_rows *out);
void rbli_hull_rows_free(rbl_context *ctx, rbli_hull_rows *rows);

/// Hull `index` of the group, checked by rbli_hull_rows_build: borrowed, not to be freed or changed.
rbli_hull rbli_hull_get(const rbl_collection *collection, size_t index);

/// A hull of the new group.
typedef struct rbli_hull_row {
    int32_t bone;
    int32_t source;        /* row of the old group that further attributes come from, or −1 */
    const rbli_hull *hull; /* NULL: that of `source` */
} rbli_hull_row;
/// Makes the group `convex` of `to` anew, sorted by bone, otherwise in the order given.
/// @param in   what `source` means; may be what `to` was copied from
/// @param rows sorted in place
/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_hull_group_write(
    rbl_context *ctx, const rbl_collection *in, rbli_hull_row *rows, size_t count, rbl_collection *to);

/// A mask [bone count] of the bones of a selection, with `below` also of all below them; NULL: all. Freed by
/// the caller with rbli_free. @return RBL_OK · RBL_ERR_COLLECTION (another topology) · RBL_ERR_NO_MEMORY
rbl_status rbli_bone_mask(
    rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection, bool below, bool **out);

#endif
