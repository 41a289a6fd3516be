#ifndef RUBBLE_OPS_MESH_CUT_H
#define RUBBLE_OPS_MESH_CUT_H

/// Cutting bones by copies of a mesh.

#include "fracture/ops/fracture.h"

typedef enum rbli_copies {
    RBLI_COPIES_SINGLE, /* the cutter as it stands */
    RBLI_COPIES_RANDOM, /* `count` copies, their centres anywhere in the bounds of what is cut */
    RBLI_COPIES_GRID,   /* at the centres of a grid over those bounds, moved by up to `variability` an axis */
} rbli_copies;

typedef struct rbli_mesh_cut_options {
    rbli_copies distribution;
    size_t count;                        /* default 10 */
    int64_t grid[3];                     /* default 2, 2, 2 */
    double variability;                  /* a length; default 0 */
    double scale_min, scale_max;         /* default 0.5, 1.5; of random and grid copies */
    bool random_orientation;             /* default true; of random and grid copies */
    double roll_rad, pitch_rad, yaw_rad; /* turned by up to so much about z, x and y; default π */
} rbli_mesh_cut_options;
rbli_mesh_cut_options rbli_mesh_cut_default_options(void);

/// Cuts the chosen rigid leaves by a cutter: each closed geometry of it cuts inside from outside, each
/// connected part of an open one cuts as a sheet. Each later copy cuts the fragments of the earlier ones;
/// copies that lie apart cut at once. All fragments become children of the bone that was cut. bone.site is 1
/// + the number of the last copy whose inside holds the piece, 0 for none.
///
/// Contacts are kept when everything is cut at once; otherwise group `contact` is removed, since later cuts
/// divide facets of earlier ones.
/// @param options  make_complex, after_cut, user, grout and noise are not used
/// @param cutter   its rigid leaves, and bones that are sheets
/// @return as rbli_fracture · RBL_ERR_ARGUMENT (the cutter has no face) · RBL_ERR_MESH (it crosses itself, or
/// an
///         open part's border lies inside the object: the message names the place)
rbl_status rbli_mesh_cut(rbl_context *ctx, const rbl_collection *in, const rbl_collection *cutter,
    const rbli_fracture_options *options, const rbli_mesh_cut_options *copies, rbli_fracture_result *out);

#endif
