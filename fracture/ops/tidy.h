#ifndef RUBBLE_OPS_TIDY_H
#define RUBBLE_OPS_TIDY_H

/// Looking a collection through, and putting in order what can be.

#include "fracture/collection/schema.h"

typedef struct rbli_tidy_options {
    bool remove_unreferenced;      /* default true */
    bool remove_clusters_of_one;   /* default false */
    bool remove_dangling_clusters; /* default false */
} rbli_tidy_options;
rbli_tidy_options rbli_tidy_default_options(void);

/// What was found. Counts of what can be removed are those found; the options say whether it was.
typedef struct rbli_tidy_report {
    size_t lost_geometries; /* that no bone has */
    size_t lost_faces;      /* outside of all geometries */
    size_t lost_vertices;   /* that no face of a geometry has, those of lost geometries too */
    size_t lost_hulls;      /* of no bone */
    size_t lost_pairs;      /* of proximity, contact and connection, with something that does not exist */
    size_t lost_links;      /* bones that name a geometry which is not theirs; always taken back */
    size_t clusters_of_one; /* clusters below a root with one child */
    size_t dangling;        /* bones without geometry at or below them */
    bool order_fixed;       /* bones were put behind their parents, or levels set */
    size_t roots;           /* before; several became children of a new one */
    /* of the result: */
    size_t pieces, open_pieces, inside_out_pieces; /* solid ones; not closed; without positive volume */
    size_t empty_bones;                            /* rigid bones without geometry */
    size_t flat_faces;                             /* without area */
    int32_t first_open, first_inside_out;          /* bones, or −1 */
    char
        *fault; /* what rbli_collection_validate says first of the result, NULL when all is well; rbli_free */
} rbli_tidy_report;

/// Repairs and reports. Always: levels, parents before children, one root, no bone that names a geometry of
/// another. By the options: removes geometries, faces, vertices, hulls and pairs that nothing refers to;
/// clusters with one child, whose child takes their place, their connections too (roots stay); bones
/// without geometry at or below them. A piece that loses vertices has an empty list of collision samples.
/// @param in     any collection with the groups and attributes of an asset; not changed
/// @param report set on success only; its `fault` is the caller's
/// @param out    set on success only; valid at least to RBLI_VALIDATE_RANGES
/// @return RBL_OK · RBL_ERR_COLLECTION (what cannot be repaired: the message says what) · RBL_ERR_NO_MEMORY ·
/// RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count. Cost: near linear.
rbl_status rbli_tidy(rbl_context *ctx, const rbl_collection *in, const rbli_tidy_options *options,
    rbli_tidy_report *report, rbl_collection **out);

#endif
