#ifndef RUBBLE_OPS_ASSET_STATS_H
#define RUBBLE_OPS_ASSET_STATS_H

/// What a person or an exporter wants to know of an asset: bounds, volumes and counts, for each bone and for
/// all.

#include "fracture/collection/collection.h"

/// One bone with everything below it. World space: units of the scene, bounds around the transformed
/// vertices.
typedef struct rbli_bone_stats {
    bool has_bounds; /* false: no vertex at or below the bone; then the bounds are zero */
    double bounds_min[3], bounds_max[3];
    double volume;      /* of solid pieces; sheets count for nothing */
    size_t piece_count; /* solid pieces: rigid bones with geometry that are no sheets */
    size_t triangle_count, vertex_count;
    size_t hull_count;
} rbli_bone_stats;

typedef struct rbli_asset_stats {
    rbli_bone_stats *bones; /* [bone_count] */
    size_t bone_count;
    rbli_bone_stats all; /* all roots together */
    size_t cluster_count, sheet_count;
    size_t level_count; /* highest level + 1 */
    size_t material_count;
    size_t draw_call_count;                /* pairs of a geometry and a material that it uses */
    int32_t largest_piece, smallest_piece; /* bones, by volume, the first of equals; −1 without pieces */
} rbli_asset_stats;

/// @param collection an asset (schema.h); indices and ranges are checked as far as they are used
/// @param out set on success only; rbli_asset_stats_free
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool; the same result for any number of threads. Cost: linear.
rbl_status rbli_asset_stats_compute(
    rbl_context *ctx, const rbl_collection *collection, rbli_asset_stats *out);
/// Counts the hulls anew, of a collection in which nothing else that the statistics tell has changed.
void rbli_asset_stats_recount_hulls(const rbl_collection *collection, rbli_asset_stats *stats);
void rbli_asset_stats_free(rbl_context *ctx, rbli_asset_stats *stats);

#endif
