/// Caps: the triangles of pieces on facets of the complex. They are textured in the plane of their facet.

#include <math.h>

#include "fracture/base/threads.h"
#include "fracture/geometry/lanes.h"
#include "fracture/ops/fracture_internal.h"
#include "fracture/ops/surface.h"

const char *const rbli_fracture_cap_attributes[] = {
    "normal", "tangent", "color", "uv0", "uv1", "uv2", "uv3", "uv4", "uv5", "uv6", "uv7", NULL};
static const char *const *const uv_names = rbli_fracture_cap_attributes + 3;
enum { UV_COUNT = 8 };

/// What caps take from their facet: outward normal of its negative cell, and two axes in its plane, in the bone's frame.
typedef struct facet_frame {
    rbli_double2 axes[3]; /* coordinate, then u and v */
    double normal[3];
    int32_t negative_cell, origin;
} facet_frame;

/// The normal of the planar facet, in the bone's frame. Normals go by the inverse transposed of what moves
/// points, and `inverse` (world → bone) moves points: its own inverse is wanted, which for a plane is what
/// two vectors in it span after moving.
static void turn_normal(const double normal[3], const double *inverse, double out[3])
{
    double u[3] = {0, 0, 0}, v[3], a[3], b[3], length = 0;
    memcpy(out, normal, 3 * sizeof *out);
    if (!inverse) return;
    int least = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(normal[i]) < fabs(normal[least])) least = i;
    u[(least + 1) % 3] = normal[(least + 2) % 3];
    u[(least + 2) % 3] = -normal[(least + 1) % 3];
    for (int i = 0; i < 3; i++)
        v[i] = normal[(i + 1) % 3] * u[(i + 2) % 3] - normal[(i + 2) % 3] * u[(i + 1) % 3];
    for (int i = 0; i < 3; i++) {
        a[i] = inverse[i] * u[0] + inverse[4 + i] * u[1] + inverse[8 + i] * u[2];
        b[i] = inverse[i] * v[0] + inverse[4 + i] * v[1] + inverse[8 + i] * v[2];
    }
    for (int i = 0; i < 3; i++) {
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
        length += out[i] * out[i];
    }
    length = sqrt(length);
    if (!(length > 0)) {
        memcpy(out, normal, 3 * sizeof *out);
        return;
    }
    for (int i = 0; i < 3; i++)
        out[i] /= length;
}

/// Newell's normal of a facet; axes depend on the plane alone.
static facet_frame frame_of_facet(const rbli_cell_complex *k, int32_t facet, const double *inverse)
{
    facet_frame frame = {.negative_cell = k->facet_cells[facet][0], .origin = k->facet_origin[facet]};
    int32_t begin = k->facet_start[facet], end = k->facet_start[facet + 1];
    double origin[3], before[3], here[3];
    for (int32_t i = begin - 1; i < end; i++) {
        int32_t vertex = k->facet_vertices[i < begin ? end - 1 : i];
        if (inverse)
            rbli_affine_point(inverse, k->vertices[vertex], here);
        else
            memcpy(here, k->vertices[vertex], sizeof here);
        if (i < begin) memcpy(origin, here, sizeof origin);
        for (int a = 0; a < 3; a++)
            here[a] -= origin[a];
        if (i >= begin)
            for (int a = 0; a < 3; a++) {
                int b = (a + 1) % 3, c = (a + 2) % 3;
                frame.normal[a] += before[b] * here[c] - before[c] * here[b];
            }
        memcpy(before, here, sizeof before);
    }
    double largest = fmax(fabs(frame.normal[0]), fmax(fabs(frame.normal[1]), fabs(frame.normal[2])));
    if (!(largest > 0)) frame.normal[2] = largest = 1;
    double square = 0;
    for (int a = 0; a < 3; a++) {
        frame.normal[a] /= largest;
        square += frame.normal[a] * frame.normal[a];
    }
    double length = sqrt(square);
    for (int a = 0; a < 3; a++)
        frame.normal[a] /= length;
    double plane[3];
    memcpy(plane, frame.normal, sizeof plane);
    if (k->facet_normal) turn_normal(k->facet_normal[facet], inverse, plane);
    /* u = normal × the axis that is least along it */
    int least = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(plane[a]) < fabs(plane[least])) least = a;
    int b = (least + 1) % 3, c = (least + 2) % 3;
    double side = sqrt(plane[b] * plane[b] + plane[c] * plane[c]);
    frame.axes[b][0] = plane[c] / side;
    frame.axes[c][0] = -plane[b] / side;
    for (int a = 0; a < 3; a++) {
        int d = (a + 1) % 3, e = (a + 2) % 3;
        frame.axes[a][1] = plane[d] * frame.axes[e][0] - plane[e] * frame.axes[d][0];
    }
    return frame;
}

/// UV units per unit of length on the exterior of a geometry: √(Σ UV areas / Σ areas); 1 without UVs.
static double texel_density(const rbl_collection *in, size_t geometry, const char *uv_name)
{
    const float(*uv)[2] = rbli_collection_read(in, "corner", uv_name, RBL_FLOAT_2);
    const bool *internal = rbli_collection_read(in, "face", "internal", RBL_BOOL);
    const double(*positions)[3] = rbli_collection_read(in, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(in, "face", "vertices", RBL_INT32_3);
    int32_t start =
        ((const int32_t *)rbli_collection_read(in, "geometry", "face_start", RBL_INT32))[geometry];
    int32_t count =
        ((const int32_t *)rbli_collection_read(in, "geometry", "face_count", RBL_INT32))[geometry];
    double uv_area = 0, area = 0;
    for (int32_t f = start; uv && f < start + count; f++) {
        if (internal && internal[f]) continue;
        double a[3], b[3], ua[2], ub[2];
        for (int k = 0; k < 3; k++) {
            a[k] = positions[faces[f][1]][k] - positions[faces[f][0]][k];
            b[k] = positions[faces[f][2]][k] - positions[faces[f][0]][k];
        }
        for (int k = 0; k < 2; k++) {
            ua[k] = (double)uv[3 * f + 1][k] - uv[3 * f][k];
            ub[k] = (double)uv[3 * f + 2][k] - uv[3 * f][k];
        }
        double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
        area += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        uv_area += fabs(ua[0] * ub[1] - ua[1] * ub[0]);
    }
    double density = area > 0 ? sqrt(uv_area / area) : 0;
    return density > 0 && isfinite(density) ? density : 1;
}

/// Writable arrays of the faces and corners that caps fill in.
typedef struct cap_target {
    const double (*positions)[3];
    const int32_t (*faces)[3];
    int32_t *material, *origin;
    bool *internal, *visible;
    float (*normal)[3];
    float (*tangent)[4];      /* or NULL */
    float (*color)[4];        /* or NULL */
    float (*uv[UV_COUNT])[2]; /* those that there are */
    const char *uv_name[UV_COUNT];
    int uv_count;
    bool has_new_uv; /* uv[0] is not set anywhere */
} cap_target;

/// Makes uv0 without values. What a face without UVs has instead are zeros.
static rbl_status add_uv(rbl_context *ctx, rbl_collection *c, cap_target *target)
{
    rbl_status status = RBL_OK;
    rbli_buffer *buffer = NULL;
    void *out;
    RBL_TRY(rbli_buffer_create_unset(ctx, RBL_FLOAT_2, rbli_collection_size(c, "corner"), &out, &buffer));
    RBL_TRY(rbli_collection_set(ctx, c, "corner", uv_names[0], buffer));
    target->has_new_uv = true;
done:
    rbli_buffer_release(buffer);
    return status;
}

static rbl_status open_cap_target(rbl_context *ctx, rbl_collection *c, cap_target *target)
{
    rbl_status status = RBL_OK;
    void *out;
    RBL_TRY(rbli_collection_write(ctx, c, "face", "material", RBL_INT32, &out));
    target->material = out;
    RBL_TRY(rbli_collection_write(ctx, c, "face", "internal", RBL_BOOL, &out));
    target->internal = out;
    RBL_TRY(rbli_collection_write(ctx, c, "face", "visible", RBL_BOOL, &out));
    target->visible = out;
    RBL_TRY(rbli_collection_write(ctx, c, "face", "origin", RBL_INT32, &out));
    target->origin = out;
    RBL_TRY(rbli_collection_write(ctx, c, "corner", "normal", RBL_FLOAT_3, &out));
    target->normal = out;
    if (rbli_collection_buffer(c, "corner", "tangent")) {
        RBL_TRY(rbli_collection_write(ctx, c, "corner", "tangent", RBL_FLOAT_4, &out));
        target->tangent = out;
    }
    if (rbli_collection_buffer(c, "corner", "color")) {
        RBL_TRY(rbli_collection_write(ctx, c, "corner", "color", RBL_FLOAT_4, &out));
        target->color = out;
    }
    if (!rbli_collection_buffer(c, "corner", uv_names[0])) RBL_TRY(add_uv(ctx, c, target));
    for (int i = 0; i < UV_COUNT; i++) {
        if (!rbli_collection_buffer(c, "corner", uv_names[i])) continue;
        RBL_TRY(rbli_collection_write(ctx, c, "corner", uv_names[i], RBL_FLOAT_2, &out));
        target->uv[target->uv_count] = out;
        target->uv_name[target->uv_count++] = uv_names[i];
    }
    target->positions = rbli_collection_read(c, "vertex", "position", RBL_VEC3);
    target->faces = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
done:
    return status;
}

/// Fills in one cap triangle.
/// @param sign    +1 for the facet's negative cell, −1 for its positive one
/// @param density of each UV set of the target
static inline void fill_cap(const cap_target *target, size_t face, const facet_frame *frame, double sign,
    const double origin[3], const double density[UV_COUNT])
{
    rbli_double2 along[3];
    float(*normals)[3] = target->normal + 3 * face;
    for (size_t k = 0; k < 3; k++) {
        const double *position = target->positions[target->faces[face][k]];
        double x = position[0] - origin[0], y = position[1] - origin[1], z = position[2] - origin[2];
        along[k] = x * frame->axes[0] + y * frame->axes[1] + z * frame->axes[2];
    }
    for (int a = 0; a < 3; a++)
        normals[0][a] = normals[1][a] = normals[2][a] = (float)(sign * frame->normal[a]);
    for (int i = 0; i < target->uv_count; i++) {
        float(*uv)[2] = target->uv[i] + 3 * face;
        for (int k = 0; k < 3; k++) {
            rbli_double2 scaled = along[k] * density[i];
            uv[k][0] = (float)scaled[0];
            uv[k][1] = (float)scaled[1];
        }
    }
    for (size_t corner = 3 * face; target->tangent && corner < 3 * face + 3; corner++) {
        for (int a = 0; a < 3; a++)
            target->tangent[corner][a] = (float)frame->axes[a][0];
        /* v grows downwards, bitangents point up: against v */
        target->tangent[corner][3] = (float)-sign;
    }
    for (size_t corner = 3 * face; target->color && corner < 3 * face + 3; corner++)
        for (int a = 0; a < 4; a++)
            target->color[corner][a] = 1;
}

/// Whether a face looks where the normal points: asked where a piece takes parts of several cells.
static __attribute__((noinline)) bool faces_along(
    const cap_target *target, size_t face, const double normal[3])
{
    const int32_t *v = target->faces[face];
    double u[3], w[3], n[3];
    for (int a = 0; a < 3; a++) {
        u[a] = target->positions[v[1]][a] - target->positions[v[0]][a];
        w[a] = target->positions[v[2]][a] - target->positions[v[0]][a];
    }
    for (int a = 0; a < 3; a++)
        n[a] = u[(a + 1) % 3] * w[(a + 2) % 3] - u[(a + 2) % 3] * w[(a + 1) % 3];
    return n[0] * normal[0] + n[1] * normal[1] + n[2] * normal[2] >= 0;
}

enum {
    AHEAD = 12,
    FACET_GRAIN = 1024,
    PIECE_GRAIN = 16
}; /* caps ask for frames of facets all over the complex */

typedef struct frames_job {
    const rbli_cell_complex *complex;
    const double *inverse; /* or NULL */
    facet_frame *frames;
} frames_job;

static rbl_status make_frames(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const frames_job *job = user;
    for (size_t f = begin; f < end; f++)
        job->frames[f] = frame_of_facet(job->complex, (int32_t)f, job->inverse);
    return RBL_OK;
}

/// The caps of one broken bone.
typedef struct caps_job {
    const cap_target *target;
    const fracture_layout *layout;
    const facet_frame *frames;
    const int32_t *piece_cell;
    size_t first; /* geometry of the first piece */
    int32_t material;
    bool looks; /* whether the triangles tell in which cell they are, instead of the piece */
    const double *origin;
    double density[UV_COUNT];
} caps_job;

static void fill_piece(const caps_job *job, size_t piece)
{
    const cap_target *target = job->target;
    const fracture_layout *l = job->layout;
    size_t begin = (size_t)l->face_start[job->first + piece];
    size_t end = begin + (size_t)l->face_counts[job->first + piece];
    for (size_t face = begin; face < end; face++) {
        int32_t facet = l->cap_facet[face], later = face + AHEAD < end ? l->cap_facet[face + AHEAD] : -1;
        if (later >= 0) __builtin_prefetch(&job->frames[later]);
        if (facet < 0) {
            if (target->has_new_uv) memset(target->uv[0][3 * face], 0, 3 * sizeof *target->uv[0]);
            continue;
        }
        const facet_frame *frame = &job->frames[facet];
        target->material[face] = job->material;
        target->internal[face] = true;
        target->visible[face] = true;
        target->origin[face] = frame->origin;
        bool outward = job->looks ? faces_along(target, face, frame->normal)
                                  : frame->negative_cell == job->piece_cell[piece];
        fill_cap(target, face, frame, outward ? 1 : -1, job->origin, job->density);
    }
}

static rbl_status fill_pieces(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    for (size_t piece = begin; piece < end; piece++)
        fill_piece(user, piece);
    return RBL_OK;
}

rbl_status rbli_fracture_caps(
    rbl_context *ctx, const fracture_job *job, const fracture_layout *l, rbl_collection *c)
{
    rbl_status status = RBL_OK;
    facet_frame *frames = NULL;
    cap_target target = {0};
    caps_job caps = {
        .target = &target, .layout = l, .first = l->kept_count, .looks = job->options->after_cut};
    if (!job->options->internal_material) return RBL_OK;
    RBL_TRY(rbli_material_index(ctx, c, job->options->internal_material, &caps.material));
    RBL_TRY(open_cap_target(ctx, c, &target));
    size_t kept_faces = caps.first < l->geometry_count ? (size_t)l->face_start[caps.first] : l->face_count;
    if (target.has_new_uv)
        RBL_TRY(rbli_clear_polled(ctx, target.uv[0], 3 * kept_faces * sizeof *target.uv[0]));
    for (size_t i = 0; i < job->cut_count; i++) {
        const bone_cut *cut = &job->cuts[i];
        if (!is_broken(cut)) continue;
        if (!frames || !job->options->group || cut->moved || (i > 0 && job->cuts[i - 1].moved)) {
            const rbli_cell_complex *k = complex_of(job, cut);
            rbli_free(ctx, frames);
            RBL_TRY_ALLOC(frames = rbli_alloc(ctx, k->facet_count, sizeof *frames));
            frames_job making = {k, cut->moved ? cut->inverse : NULL, frames};
            RBL_TRY(rbli_parallel_for(ctx, k->facet_count, FACET_GRAIN, make_frames, &making));
        }
        caps.frames = frames;
        caps.piece_cell = cut->result->piece_cell;
        for (int u = 0; u < target.uv_count; u++)
            caps.density[u] = texel_density(job->in, (size_t)cut->geometry, target.uv_name[u]);
        caps.origin = ((const double(*)[3])rbli_collection_read(
            job->in, "geometry", "bounds_min", RBL_VEC3))[cut->geometry];
        RBL_TRY(rbli_parallel_for(ctx, cut->result->piece_count, PIECE_GRAIN, fill_pieces, &caps));
        caps.first += cut->result->piece_count;
    }
done:
    rbli_free(ctx, frames);
    return status;
}
