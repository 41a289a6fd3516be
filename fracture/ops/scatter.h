#ifndef RUBBLE_OPS_SCATTER_H
#define RUBBLE_OPS_SCATTER_H

/// Random points in a box or inside pieces.

#include "fracture/collection/collection.h"

typedef struct rbli_scatter_options {
    size_t min_count, max_count;  /* default 20, 20: a number between them is drawn by the seed */
    uint32_t seed;                /* default 0 */
    double min_distance;          /* between two points; default 0 */
    int32_t relax;                /* steps of Lloyd in the box; default 0 */
    const rbl_collection *inside; /* NULL (default), or points lie inside its pieces */
} rbli_scatter_options;
rbli_scatter_options rbli_scatter_default_options(void);

/// Uniform independent points in the box. Point i depends on the seed and the points before it alone, so a
/// larger count keeps the first ones. A point that is too near to another or outside is drawn again, at most
/// 1,000 times; what cannot be placed is left out with a warning. After relaxing, points that left the pieces
/// return to where they were.
/// @param out [count][3], freed by the caller with rbli_free; set on success only
/// @return RBL_OK · RBL_ERR_ARGUMENT (box, counts) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Deterministic.
rbl_status rbli_scatter_points(rbl_context *ctx, const double low[3], const double high[3],
    const rbli_scatter_options *options, double (**out)[3], size_t *count);

#endif
