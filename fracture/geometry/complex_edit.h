#ifndef RUBBLE_GEOMETRY_COMPLEX_EDIT_H
#define RUBBLE_GEOMETRY_COMPLEX_EDIT_H

/// What the makers of cell complexes share: appending facets, contracting what is too small, clipping to a
/// box, packing.

#include "fracture/base/alloc.h"
#include "fracture/geometry/cell_complex.h"

/// The facets of a complex while they are made; each array grows by itself.
typedef struct rbli_facet_list {
    RBLI_ARRAY(int32_t) start; /* one more than facets once the first was added */
    RBLI_ARRAY(int32_t) vertices;
    RBLI_ARRAY(int32_t) cells; /* two a facet */
    RBLI_ARRAY(int32_t) origin;
} rbli_facet_list;

/// Appends a facet. @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_LIMIT (more than 2^31 loop entries)
rbl_status rbli_facet_list_add(rbl_context *ctx, rbli_facet_list *list, const int32_t *vertices, size_t count,
    int32_t negative, int32_t positive, int32_t origin);
/// Appends facets begin … end − 1 of another list. @return as above
rbl_status rbli_facet_list_append(
    rbl_context *ctx, rbli_facet_list *list, const rbli_facet_list *from, size_t begin, size_t end);
void rbli_facet_list_free(rbl_context *ctx, rbli_facet_list *list);
/// Replaces the facets of `complex` by the list, which becomes empty. @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_facet_list_move(rbl_context *ctx, rbli_facet_list *list, rbli_cell_complex *complex);

typedef struct rbli_contract_options {
    double extent;             /* of what the complex was made from: lengths are relative to it */
    const uint8_t *wall_count; /* [vertex_count] on how many walls a vertex lies, or NULL: a contracted edge
                                  keeps the vertex with the most */
    bool at_walls_only;        /* look only at facets with a vertex on a wall */
    size_t first_facet;        /* with at_walls_only from this one on: those before have none */
    const uint8_t
        *caution; /* [vertex_count] or NULL: 0 as described, 1 asks for a gap of eight bins, 2 contracts what
                     is below 2^-49 alone, 3 nothing; a component takes the highest of its vertices */
} rbli_contract_options;

/// Contracts edges and zips facets that are too small to be meant (CUT.md, K, step 7). Changes nothing in a
/// complex whose edges and facet widths are all above 2^-24 of the extent.
///
/// Lengths and widths below that are histogrammed by binary exponent, per connected component; the threshold
/// is put in the largest gap of at least three bins that reaches between 2^-33 (2^-29 for gaps of six bins)
/// and 2^-46 of the extent, else it is 2^-49. Shorter edges are contracted to one of their vertices; the
/// vertices of narrower facets go into the edges everywhere those edges are used; facets with the same loop
/// become one or none; pinched loops are split; straight vertices with two neighbours are dropped. Cells stay
/// closed, but where a gap is not a clear one a cell may come to touch itself along an edge:
/// rbli_complex_find_bad. Vertices keep their numbers, some are no longer used: rbli_complex_pack.
/// @param changed     may be NULL: whether anything was
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_LIMIT · RBL_ERR_CANCELLED
rbl_status rbli_complex_contract(
    rbl_context *ctx, rbli_cell_complex *complex, const rbli_contract_options *options, bool *changed);

/// Flags the cells that are not closed or meet an edge more than twice, as rbli_cell_complex_check would
/// refuse them. Cells without facets are not bad.
/// @param bad  [cell_count] 1 or 0
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_complex_find_bad(
    rbl_context *ctx, const rbli_cell_complex *complex, uint8_t *bad, size_t *bad_count);

/// Clips to a box: whatever lies outside goes, and each cell that is cut gets facets on the walls with origin
/// −1 and positive cell −1. Vertices within `tolerance` of a wall are moved onto it. Adjacent outside cells
/// must be −1 or ordinary cells; ordinary cells must cover the box.
/// @param inner_count  may be NULL: how many facets come first that are of cells wholly inside the box
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_LIMIT
rbl_status rbli_complex_clip(rbl_context *ctx, rbli_cell_complex *complex, const double box_min[3],
    const double box_max[3], double tolerance, size_t *inner_count);

/// Drops vertices that no facet uses and cells that have no facet; the order of the rest stays.
rbl_status rbli_complex_pack(rbl_context *ctx, rbli_cell_complex *complex);

/// The signed volume and the centroid of each cell from its boundary; the centroid of a cell whose volume is
/// not positive is one of its vertices.
/// @param centroids  [cell_count][3] or NULL
/// @param volumes    [cell_count] or NULL
/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_complex_moments(
    rbl_context *ctx, const rbli_cell_complex *complex, double (*centroids)[3], double *volumes);

#endif
