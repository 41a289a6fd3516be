#ifndef RUBBLE_OPS_UNWRAP_H
#define RUBBLE_OPS_UNWRAP_H

/// UVs made from the shape alone.

#include "fracture/collection/collection.h"

typedef enum rbli_unwrap_faces { RBLI_UNWRAP_INTERNAL, RBLI_UNWRAP_ALL } rbli_unwrap_faces;

/// What both functions change: UVs of one channel of some faces. Channels 0 … 7; one may be new if those
/// before it exist, then its other corners are (0, 0). With channel 0, corner.tangent of these faces follows where it exists.
typedef struct rbli_unwrap_target {
    rbli_unwrap_faces faces; /* cut faces alone, or all */
    int channel;
} rbli_unwrap_target;

/// The first UV set that channel `channel` would leave out, or −1 when there is none.
int rbli_missing_uv_channel(const rbl_collection *in, int channel);

/// Projects each face along the axis that is most along its normal, in its bone's frame: `scale` UV units a
/// length, upright and not mirrored seen from outside (v grows downwards).
/// @param in  not changed @param out set on success only
/// @return RBL_OK · RBL_ERR_ARGUMENT (a channel beyond the next new one) · RBL_ERR_NO_MEMORY ·
/// RBL_ERR_CANCELLED
rbl_status rbli_box_project_uv(rbl_context *ctx, const rbl_collection *in, const rbli_unwrap_target *target,
    double scale, rbl_collection **out);

typedef struct rbli_unwrap_report {
    size_t chart_count;
    double density; /* pixels a length */
    double used;    /* part of the square that charts cover */
} rbli_unwrap_report;

/// Unfolds the faces of all geometries into charts (rbli_make_charts; planar cuts make charts of their own)
/// and packs them into one square without overlap: all charts have the same texels a length, within the
/// distortion of the projection.
/// @param scale      side of the square in UV units, 0 … 1
/// @param gutter, resolution  pixels between charts, and of the square's side
/// @param report     filled on success; may be NULL
/// @return as above · RBL_ERR_LIMIT (more charts than gutters fit: the message says so)
/// Threads: uses the context's pool. Same bytes for any thread count.
rbl_status rbli_auto_unwrap_uv(rbl_context *ctx, const rbl_collection *in, const rbli_unwrap_target *target,
    double scale, double gutter, double resolution, rbli_unwrap_report *report, rbl_collection **out);

#endif
