#ifndef RUBBLE_OPS_HULL_OVERLAP_H
#define RUBBLE_OPS_HULL_OVERLAP_H

/// Hulls of pieces and clusters that do not overlap.

#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/hull_edit.h"

typedef enum rbli_overlaps {
    RBLI_OVERLAPS_ALL,            /* removed between pieces, clusters, and clusters and pieces */
    RBLI_OVERLAPS_NONE,           /* none are removed: hulls of clusters are made, no more */
    RBLI_OVERLAPS_CLUSTERS,       /* between clusters, and clusters and pieces */
    RBLI_OVERLAPS_CLUSTERS_ALONE, /* between clusters */
} rbli_overlaps;

typedef struct rbli_overlap_options {
    rbli_overlaps overlaps;          /* default all */
    double can_remove_fraction;      /* most of a hull's volume that cuts may take away; default 0.3 */
    double can_exceed_fraction;      /* how much more volume than its pieces a cluster's hull may have; 0.5 */
    double simplification_threshold; /* of the hulls made here, as in rbli_hull_options; default 0 */
    double shrink_percent; /* hulls are taken to be smaller by this while looking for overlaps; default 0 */
    int32_t max_vertices;  /* budget of the hulls made here; cuts may add some; default 64 */
} rbli_overlap_options;
rbli_overlap_options rbli_overlap_default_options(void);

/// What happened, for messages and tests.
typedef struct rbli_overlap_report {
    size_t cut_pairs;
    size_t given_up_pairs;                      /* pairs of pieces that overlap still */
    int32_t given_up[2];                        /* the bones of the first, or −1 */
    size_t exceeding_clusters, shrunk_clusters; /* clusters without a hull: too large, or cut too small */
} rbli_overlap_report;

/// Pieces without hulls get one; those of one another that overlap (those of one bone may) are cut by a
/// plane. Each cluster gets the hull of all hulls below it, unless that exceeds, and these are cut where they
/// overlap other clusters of the same level, and pieces of that level or above, which are left whole. A
/// cluster that loses too much has no hull: those of its children stand for it. A pair of pieces of which one
/// would lose too much is given up and counted in a warning; those that overlap at the end are listed in the
/// group `hull_overlap`: names `a` and `b`, and `depth` (DOUBLE, how far they must be moved apart). Source: GEO
/// §7.1.
///
/// The plane: normal to the axis of least overlap, or to the line between the centres, whichever scores lower
/// (overlap of the two projections by their union), in the middle of the overlap. Order: pairs that overlap
/// are found first, in parallel; then in rounds all pairs whose hulls no earlier pair of the round has are
/// cut in parallel (a colouring of the pairs).
/// @param in     not changed
/// @param report may be NULL
/// @param out    set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool; same bytes for any thread count.
rbl_status rbli_separate_hulls(rbl_context *ctx, const rbl_collection *in,
    const rbli_overlap_options *options, rbli_overlap_report *report, rbl_collection **out);

#endif
