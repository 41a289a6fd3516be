#ifndef RUBBLE_OPS_FRACTURE_H
#define RUBBLE_OPS_FRACTURE_H

/// Breaking bones of a collection by a cell complex: what all cutter nodes share.

#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/cut.h"
#include "fracture/geometry/noise_complex.h"

/// What a complex is made for, in world space.
typedef struct rbli_cut_domain {
    double object_min[3], object_max[3]; /* bounds of what is cut */
    double box_min[3], box_max[3];       /* those padded: the box that the complex fills */
    uint32_t seed;                       /* the options' seed for a group cut, else one of the bone's own */
} rbli_cut_domain;

/// What a cutter wants to remember of making a complex.
typedef struct rbli_complex_facts {
    size_t repeated_count;    /* sites or planes that repeat another */
    size_t first_repeated[2]; /* the one kept, the one that repeats it */
    double factor;            /* by which parts are larger than asked for; not above 1: they are not */
} rbli_complex_facts;

/// Makes the complex; may run for several bones at once, so `user` is not changed and nothing said.
/// @param facts zeroed
typedef rbl_status (*rbli_complex_fn)(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out);

/// Says what there is to say about a complex that was made. One at a time, in the order of the bones.
typedef void (*rbli_remark_fn)(rbl_context *ctx, const rbli_complex_facts *facts, void *user);

/// Changes which parts of a bone's cut make a piece; may run on several bones at once.
typedef rbl_status (*rbli_after_cut_fn)(rbl_context *ctx, rbli_cut_result *result, void *user);

typedef struct rbli_fracture_options {
    const rbli_selection *selection; /* NULL: all rigid leaves */
    double chance;                   /* each bone is cut with this probability, by seed; default 1 */
    uint32_t seed;                   /* default 0 */
    bool group;                      /* default true: one complex over all chosen bones, else one a bone */
    bool split_islands;              /* default true */
    double close_vertex_distance;    /* islands of a cell with vertices this near stay one piece; default 0 */
    double bridge_distance;          /* likewise, a vertex this near to a surface; default 0 */
    const char *internal_material; /* default "interior": found by name or added; NULL: no cut face is made */
    bool number_pieces;            /* pieces of a bone are named and get as sites 0, 1, 2, … in their order,
                                      whatever their cell, and whole bones keep their site; default false */
    double grout;                  /* width of the gap between neighbouring cells; default 0: none */
    rbli_noise_options
        noise;         /* amplitude 0: smooth cuts; `gap` and the noise's seed are set from the others */
    bool keep_outside; /* what lies in the gaps, or in no cell, becomes pieces too; default false */
    rbli_complex_fn make_complex;
    rbli_remark_fn remark;       /* NULL: none */
    rbli_after_cut_fn after_cut; /* NULL: none */
    void *user;
} rbli_fracture_options;
rbli_fracture_options rbli_fracture_default_options(void);

typedef struct rbli_fracture_result {
    rbl_collection *collection; /* the caller's reference */
    int32_t *new_bones; /* [new_count] ascending: pieces, and bones that one cell holds whole; rbli_free */
    size_t new_count;
    size_t cut_count;        /* bones that became clusters */
    size_t split_count;      /* pieces that they became */
    size_t empty_cell_count; /* cells of all complexes that gave no piece, those that vanished not counted */
    size_t vanished_count;   /* cells too small for the gap */
    double noise_spacing;    /* the largest spacing of points used, 0 without noise */
    size_t moved_count;      /* points that noise displaced */
    size_t
        reduced_count; /* points of these displaced less than the noise says, so that cuts do not cross themselves */
    size_t lost_count; /* bones that lie wholly in gaps: they stay whole */
} rbli_fracture_result;

/// Cuts the chosen rigid leaves. A bone that falls into several pieces becomes a cluster with the pieces as
/// its rigid children: name PARENT_SITE (further islands of a site: PARENT_SITEb, PARENT_SITEc, …;
/// PARENT_mortar for what lies in gaps), identity transforms, attribute `site`; user attributes are
/// inherited. A bone that one cell holds whole stays as it is and gets the site. Internal faces get the
/// internal material, flat normals and planar UVs at the exterior's texel density (their unit square is one
/// unit of length where the exterior has no UVs). Group `contact` (geometries INT32_2, area DOUBLE) records
/// which pieces of one cut share facets; where gaps part them and are not kept, which would without gaps.
/// Hulls of cut bones, and the groups proximity and connection, which no longer hold, are removed.
/// @param in  not changed; shares all untouched arrays with the result
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION (selection of another topology) · RBL_ERR_OPEN_MESH, the message names
/// the bone · what
///         make_complex returns · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count.
rbl_status rbli_fracture(rbl_context *ctx, const rbl_collection *in, const rbli_fracture_options *options,
    rbli_fracture_result *out);

#endif
