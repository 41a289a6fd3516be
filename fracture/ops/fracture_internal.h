#ifndef RUBBLE_OPS_FRACTURE_INTERNAL_H
#define RUBBLE_OPS_FRACTURE_INTERNAL_H

/// What the files of rbli_fracture share.

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"
#include "fracture/geometry/cut.h"
#include "fracture/ops/fracture.h"

/// What became of a complex after its cells were made.
typedef struct complex_report {
    rbli_noise_report noise;
    size_t vanished_count;
} complex_report;

/// One bone that is cut.
typedef struct bone_cut {
    int32_t bone, geometry;
    bool moved; /* its world transform is not the identity: `positions` holds world positions */
    double (*positions)[3];
    double inverse[16];         /* world → bone, when moved */
    rbli_mesh_view mesh;        /* world space */
    int32_t (*triangles)[3];    /* of the mesh, when the geometry's first vertex is not 0 */
    rbli_cell_complex *complex; /* own, or NULL for the shared one */
    rbli_cell_complex *gapless; /* likewise, before grout; NULL without */
    uint32_t seed;              /* of the own complex … */
    bool made, done;            /* … whether it was made, whether the bone was cut … */
    rbli_complex_facts facts;   /* … what that told … */
    complex_report report;      /* … and what became of it */
    rbli_cut_result *result;
    size_t first_geometry, weights_start; /* of a broken bone in the layout */
    double sheet_min[3], sheet_max[3];    /* box of the attached sheets in world space, empty for none */
} bone_cut;

typedef struct fracture_job {
    const rbl_collection *in;
    const rbli_fracture_options *options;
    bone_cut *cuts;
    size_t cut_count;
    rbli_cell_complex *shared, *shared_gapless;
    size_t vanished_count, moved_count, reduced_count;
    double noise_spacing;
} fracture_job;

/// The layout of the new surface: geometries that stay, then the pieces of each broken bone.
typedef struct fracture_layout {
    size_t kept_count;        /* geometries that stay */
    int32_t *geometry_source; /* [geometry_count] old geometry */
    size_t geometry_count, vertex_count, face_count, weights_count;
    int32_t *vertex_start, *vertex_counts, *face_start, *face_counts; /* [geometry_count] */
    double (*positions)[3];
    int32_t *vertex_source;
    int32_t (*faces)[3];
    int32_t *face_source, *weights_index;
    double (*weights)[3][3];
    int32_t *cap_facet; /* [face_count] facet of the complex for a cap, else −1 */
} fracture_layout;

/// Fills in the bones to cut: chosen by selection and chance, meshes in world space.
rbl_status rbli_fracture_collect(rbl_context *ctx, fracture_job *job);
/// Makes the complexes, cuts, and drops what is no piece.
rbl_status rbli_fracture_cut(rbl_context *ctx, fracture_job *job);
/// Frees what the two made.
void rbli_fracture_free(rbl_context *ctx, fracture_job *job);

/// The attributes of corners that rbli_fracture_caps sets at every cap where they are; up to NULL.
extern const char *const rbli_fracture_cap_attributes[];
/// Material, flat normals and planar UVs of all caps; makes uv0 where there is none. Nothing without an internal material.
/// @param c  with the surface of the layout, whose caps need not have rbli_fracture_cap_attributes set yet
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool.
rbl_status rbli_fracture_caps(
    rbl_context *ctx, const fracture_job *job, const fracture_layout *l, rbl_collection *c);
/// Copies attributes of bones that are not their own from sources[i] to bone first + i.
rbl_status rbli_fracture_inherit(
    rbl_context *ctx, rbl_collection *c, size_t first, size_t count, const int32_t *sources);
/// Cuts the sheets attached to broken bones; they become children of the pieces beside them.
/// @param first_piece geometry of the first piece in `c`
/// @param bones       [count] indices that are renumbered, as bones are removed
rbl_status rbli_fracture_sheets(rbl_context *ctx, const fracture_job *job, size_t first_piece,
    rbl_collection *c, int32_t *bones, size_t count);

static inline const rbli_cell_complex *complex_of(const fracture_job *job, const bone_cut *cut)
{
    return cut->complex ? cut->complex : job->shared;
}

/// True when pieces take the bone's place; otherwise it stays as it is.
static inline bool is_broken(const bone_cut *cut)
{
    return cut->result->piece_count > 1 || (cut->result->piece_count == 1 && cut->result->outside_dropped);
}

#endif
