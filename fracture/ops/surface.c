/// Carrying attributes over to a new surface: gather where an element survives, barycentric interpolation on
/// the old face where a face was cut.

#include "fracture/ops/surface.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/collection/material.h"

enum { FACE_GRAIN = 8192 };
#define LEAST_NORMAL 1e-4

/// Number of floating-point components of a type and whether they are doubles; 0 for other types.
static int float_components(rbl_type type, bool *is_double)
{
    *is_double =
        type == RBL_DOUBLE || type == RBL_VEC2 || type == RBL_VEC3 || type == RBL_VEC4 || type == RBL_MAT4;
    switch (type) {
    case RBL_FLOAT:
    case RBL_DOUBLE:
        return 1;
    case RBL_FLOAT_2:
    case RBL_VEC2:
        return 2;
    case RBL_FLOAT_3:
    case RBL_VEC3:
        return 3;
    case RBL_FLOAT_4:
    case RBL_VEC4:
        return 4;
    case RBL_MAT4:
        return 16;
    default:
        return 0;
    }
}

/// Σ weights[k] · old[source[k]].
static void blend(const void *old, void *out, int components, bool is_double, const int32_t source[3],
    const double weights[3])
{
    for (int c = 0; c < components; c++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            size_t at = (size_t)source[k] * (size_t)components + (size_t)c;
            sum += weights[k] * (is_double ? ((const double *)old)[at] : (double)((const float *)old)[at]);
        }
        if (is_double)
            ((double *)out)[c] = sum;
        else
            ((float *)out)[c] = (float)sum;
    }
}

typedef struct corner_job {
    const rbli_surface_map *map;
    const void *old;
    char *out;
    size_t bytes; /* of one element */
    int components;
    bool is_double, normal, skips_new;
} corner_job;

/// Whether a normal has a direction: those of the old corners may cancel each other out.
static bool has_direction(const float normal[3])
{
    double square =
        (double)normal[0] * normal[0] + (double)normal[1] * normal[1] + (double)normal[2] * normal[2];
    return square > LEAST_NORMAL * LEAST_NORMAL;
}

/// The corners of a new face from weights of those of the old one; to inline with a known number of components.
static inline void blend_floats(const float *old, float *out, int components, const double (*weights)[3])
{
    for (int corner = 0; corner < 3; corner++)
        for (int c = 0; c < components; c++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += weights[corner][k] * (double)old[k * components + c];
            out[corner * components + c] = (float)sum;
        }
}

static void blend_corners(const corner_job *job, const void *old, char *out, const double (*weights)[3])
{
    static const int32_t source[3] = {0, 1, 2};
    int floats = job->is_double ? 0 : job->components;
    if (floats == 2) {
        blend_floats(old, (float *)out, 2, weights);
    } else if (floats == 3) {
        blend_floats(old, (float *)out, 3, weights);
    } else {
        for (size_t corner = 0; corner < 3; corner++)
            blend(old, out + corner * job->bytes, job->components, job->is_double, source, weights[corner]);
    }
}

/// The corners of a face that was cut out of an old one.
static void carry_cut_face(const corner_job *job, const char *old, char *out, const double (*weights)[3])
{
    if (job->components) blend_corners(job, old, out, weights);
    if (job->components && !job->normal) return;
    for (size_t corner = 0; corner < 3; corner++) {
        const double *w = weights[corner];
        if (job->normal && has_direction((const float *)(out + corner * job->bytes))) continue;
        size_t best = w[1] > w[0] ? 1 : 0;
        if (w[2] > w[best]) best = 2;
        memcpy(out + corner * job->bytes, old + best * job->bytes, job->bytes);
    }
}

/// Three elements; the usual sizes without a call.
static inline void copy_corners(char *to, const char *from, size_t bytes)
{
    switch (bytes) {
    case sizeof(float[2]):
        memcpy(to, from, 3 * sizeof(float[2]));
        break;
    case sizeof(float[3]):
        memcpy(to, from, 3 * sizeof(float[3]));
        break;
    case sizeof(float[4]):
        memcpy(to, from, 3 * sizeof(float[4]));
        break;
    default:
        memcpy(to, from, 3 * bytes);
    }
}

/// The same for zeros.
static inline void clear_corners(char *to, size_t bytes)
{
    switch (bytes) {
    case sizeof(float[2]):
        memset(to, 0, 3 * sizeof(float[2]));
        break;
    case sizeof(float[3]):
        memset(to, 0, 3 * sizeof(float[3]));
        break;
    case sizeof(float[4]):
        memset(to, 0, 3 * sizeof(float[4]));
        break;
    default:
        memset(to, 0, 3 * bytes);
    }
}

static rbl_status carry_corners(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const corner_job *job = user;
    for (size_t face = begin; face < end; face++) {
        int32_t old_face = job->map->face_source[face], row = job->map->weights_index[face];
        char *out = job->out + face * 3 * job->bytes;
        if (old_face < 0) {
            if (!job->skips_new) clear_corners(out, job->bytes);
            continue;
        }
        const char *old = (const char *)job->old + (size_t)old_face * 3 * job->bytes;
        if (row < 0) {
            copy_corners(out, old, job->bytes);
        } else {
            carry_cut_face(job, old, out, job->map->weights[row]);
        }
    }
    return RBL_OK;
}

/// Whether the caller sets an attribute for corners of faces without a source.
static bool is_set_by_caller(const rbli_surface_map *map, const char *name)
{
    for (size_t i = 0; map->set_by_caller && map->set_by_caller[i]; i++)
        if (strcmp(map->set_by_caller[i], name) == 0) return true;
    return false;
}

static rbl_status replace_corners(
    rbl_context *ctx, const rbl_collection *old, rbl_collection *made, const rbli_surface_map *map)
{
    rbl_status status = RBL_OK;
    rbli_buffer *carried = NULL;
    rbli_collection_remove_group(made, "corner");
    RBL_TRY(rbli_collection_resize(ctx, made, "corner", map->face_count * 3));
    for (size_t i = 0; i < rbli_collection_attribute_count(old, "corner"); i++) {
        const char *name = rbli_collection_attribute_name(old, "corner", i);
        rbli_buffer *buffer = rbli_collection_buffer(old, "corner", name);
        if (rbli_buffer_is_list(buffer)) continue; /* a list has no meaning between corners */
        rbl_type type = rbli_buffer_type(buffer);
        void *out;
        RBL_TRY(rbli_buffer_create_unset(ctx, type, map->face_count * 3, &out, &carried));
        corner_job job = {
            .map = map, .old = rbli_buffer_data(buffer), .out = out, .bytes = rbl_type_bytes(type)};
        job.components = float_components(type, &job.is_double);
        job.normal = type == RBL_FLOAT_3 && strcmp(name, "normal") == 0;
        job.skips_new = is_set_by_caller(map, name);
        RBL_TRY(rbli_parallel_for(ctx, map->face_count, FACE_GRAIN, carry_corners, &job));
        RBL_TRY(rbli_collection_set(ctx, made, "corner", name, carried));
        rbli_buffer_release(carried);
        carried = NULL;
    }
done:
    rbli_buffer_release(carried);
    return status;
}

/// Interpolates floating-point attributes of vertices that have no source, from the first face that knows
/// them.
static rbl_status blend_new_vertices(rbl_context *ctx, const rbl_collection *old, rbl_collection *made,
    const rbli_surface_map *map, const int32_t (*old_faces)[3])
{
    rbl_status status = RBL_OK;
    bool *known = rbli_calloc(ctx, map->vertex_count, 1);
    RBL_TRY_ALLOC(known);
    for (size_t i = 0; i < rbli_collection_attribute_count(old, "vertex"); i++) {
        const char *name = rbli_collection_attribute_name(old, "vertex", i);
        rbli_buffer *buffer = rbli_collection_buffer(old, "vertex", name);
        bool is_double;
        int components = float_components(rbli_buffer_type(buffer), &is_double);
        if (rbli_buffer_is_list(buffer) || !components || strcmp(name, "position") == 0) continue;
        size_t bytes = rbl_type_bytes(rbli_buffer_type(buffer));
        void *out;
        RBL_TRY(rbli_collection_write(ctx, made, "vertex", name, rbli_buffer_type(buffer), &out));
        memset(known, 0, map->vertex_count);
        for (size_t face = 0; face < map->face_count; face++) {
            RBL_TRY(rbli_poll(ctx, face));
            if (map->face_source[face] < 0 || map->weights_index[face] < 0) continue;
            for (int corner = 0; corner < 3; corner++) {
                int32_t vertex = map->faces[face][corner];
                if (map->vertex_source[vertex] >= 0 || known[vertex]) continue;
                known[vertex] = true;
                blend(rbli_buffer_data(buffer), (char *)out + (size_t)vertex * bytes, components, is_double,
                    old_faces[map->face_source[face]], map->weights[map->weights_index[face]][corner]);
            }
        }
    }
done:
    rbli_free(ctx, known);
    return status;
}

/// Sets an attribute to a copy of `values`, one for each element of the group.
static rbl_status set_copy(rbl_context *ctx, rbl_collection *collection, const char *group, const char *name,
    rbl_type type, const void *values, size_t bytes)
{
    rbl_status status = RBL_OK;
    rbli_buffer *buffer = NULL;
    size_t count = rbli_collection_size(collection, group);
    void *out;
    RBL_TRY(rbli_buffer_create_unset(ctx, type, count, &out, &buffer));
    RBL_TRY(rbli_copy_polled(ctx, out, values, count * bytes));
    RBL_TRY(rbli_collection_set(ctx, collection, group, name, buffer));
done:
    rbli_buffer_release(buffer);
    return status;
}

/// Makes an array from rbli_alloc an attribute.
static rbl_status set_adopted(rbl_context *ctx, rbl_collection *collection, const char *group,
    const char *name, rbl_type type, const void *values, bool *taken)
{
    rbli_buffer *buffer = NULL;
    rbl_status status =
        rbli_buffer_adopt(ctx, type, rbli_collection_size(collection, group), (void *)values, &buffer);
    *taken = status == RBL_OK;
    if (status == RBL_OK) status = rbli_collection_set(ctx, collection, group, name, buffer);
    rbli_buffer_release(buffer);
    return status;
}

/// @param taken NULL: positions and faces are copied; else which of them became the collection's
static rbl_status replace(
    rbl_context *ctx, rbl_collection *collection, const rbli_surface_map *map, bool taken[2])
{
    rbl_status status = RBL_OK;
    rbl_collection *old = NULL;
    RBL_TRY(rbli_collection_copy(ctx, collection, &old));
    const int32_t(*old_faces)[3] = rbli_collection_read(old, "face", "vertices", RBL_INT32_3);

    rbli_collection_remove(collection, "vertex", "position");
    RBL_TRY(rbli_collection_gather(ctx, collection, "vertex", map->vertex_source, map->vertex_count));
    rbli_collection_remove(collection, "face", "vertices");
    RBL_TRY(rbli_collection_gather(ctx, collection, "face", map->face_source, map->face_count));
    if (taken) {
        RBL_TRY(set_adopted(ctx, collection, "vertex", "position", RBL_VEC3, map->positions, &taken[0]));
        RBL_TRY(set_adopted(ctx, collection, "face", "vertices", RBL_INT32_3, map->faces, &taken[1]));
    } else {
        RBL_TRY(set_copy(
            ctx, collection, "vertex", "position", RBL_VEC3, map->positions, sizeof *map->positions));
        RBL_TRY(set_copy(ctx, collection, "face", "vertices", RBL_INT32_3, map->faces, sizeof *map->faces));
    }
    RBL_TRY(replace_corners(ctx, old, collection, map));
    RBL_TRY(blend_new_vertices(ctx, old, collection, map, old_faces));
done:
    rbli_collection_release(old);
    return status;
}

rbl_status rbli_surface_replace(rbl_context *ctx, rbl_collection *collection, const rbli_surface_map *map)
{
    return replace(ctx, collection, map, NULL);
}

rbl_status rbli_surface_replace_taking(rbl_context *ctx, rbl_collection *collection, rbli_surface_map *map)
{
    bool taken[2] = {false, false};
    rbl_status status = replace(ctx, collection, map, taken);
    if (taken[0]) map->positions = NULL;
    if (taken[1]) map->faces = NULL;
    return status;
}

static void face_normal(const double (*positions)[3], const int32_t face[3], float out[3])
{
    double u[3], v[3], largest = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = positions[face[1]][k] - positions[face[0]][k];
        v[k] = positions[face[2]][k] - positions[face[0]][k];
        if (fabs(u[k]) > largest) largest = fabs(u[k]);
        if (fabs(v[k]) > largest) largest = fabs(v[k]);
    }
    if (largest > 0) /* no product under- or overflows, whatever the unit of length */
        for (int k = 0; k < 3; k++) {
            u[k] /= largest;
            v[k] /= largest;
        }
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++)
        out[k] = length > 0 ? (float)(n[k] / length) : k == 2;
}

rbl_status rbli_surface_fill_flat_normals(rbl_context *ctx, rbl_collection *collection)
{
    void *out;
    rbl_status status = rbli_collection_write(ctx, collection, "corner", "normal", RBL_FLOAT_3, &out);
    if (status != RBL_OK) return status;
    float(*normals)[3] = out;
    const double(*positions)[3] = rbli_collection_read(collection, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(collection, "face", "vertices", RBL_INT32_3);
    size_t count = rbli_collection_size(collection, "face");
    for (size_t face = 0; face < count; face++) {
        if (rbli_poll(ctx, face) != RBL_OK) return RBL_ERR_CANCELLED;
        float flat[3] = {0};
        bool computed = false;
        for (int k = 0; k < 3; k++) {
            float *normal = normals[face * 3 + (size_t)k];
            if (normal[0] != 0 || normal[1] != 0 || normal[2] != 0) continue;
            if (!computed) face_normal(positions, faces[face], flat);
            computed = true;
            memcpy(normal, flat, sizeof flat);
        }
    }
    return RBL_OK;
}

/// Signed volume about the middle of the bounds, so that far from the origin no digits are lost.
static rbl_status closed_volume(const rbl_context *ctx, const double (*positions)[3],
    const int32_t (*faces)[3], size_t count, const double origin[3], double *out)
{
    double sum = 0, lost = 0;
    for (size_t i = 0; i < count; i++) {
        if (rbli_poll(ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        double p[3][3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                p[c][k] = positions[faces[i][c]][k] - origin[k];
        double term = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                      p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                      p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        /* Neumaier's compensated sum */
        double next = sum + term;
        lost += fabs(sum) >= fabs(term) ? (sum - next) + term : (term - next) + sum;
        sum = next;
    }
    *out = (sum + lost) / 6;
    return RBL_OK;
}

typedef struct measure_job {
    size_t first;
    const int32_t *vertex_start, *vertex_count, *face_start, *face_count;
    const double (*positions)[3];
    const int32_t (*faces)[3];
    double *volume, (*low)[3], (*high)[3];
} measure_job;

static rbl_status measure_geometries(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const measure_job *job = user;
    rbl_status status = RBL_OK;
    for (size_t g = job->first + begin; g < job->first + end; g++) {
        double lo[3], hi[3], middle[3];
        int32_t first = job->vertex_start[g], count = job->vertex_count[g];
        for (int k = 0; k < 3; k++) {
            lo[k] = count ? HUGE_VAL : 0;
            hi[k] = count ? -HUGE_VAL : 0;
        }
        for (int32_t v = first; v < first + count; v++) {
            RBL_TRY(rbli_poll(ctx, (size_t)v));
            for (int k = 0; k < 3; k++) {
                double x = job->positions[v][k];
                lo[k] = x < lo[k] ? x : lo[k];
                hi[k] = x > hi[k] ? x : hi[k];
            }
        }
        for (int k = 0; k < 3; k++) {
            middle[k] = lo[k] + (hi[k] - lo[k]) / 2;
            job->low[g][k] = lo[k];
            job->high[g][k] = hi[k];
        }
        RBL_TRY(closed_volume(ctx, job->positions, job->faces + job->face_start[g],
            (size_t)job->face_count[g], middle, &job->volume[g]));
    }
done:
    return status;
}

rbl_status rbli_surface_measure(rbl_context *ctx, rbl_collection *collection, size_t first)
{
    rbl_status status = RBL_OK;
    void *volume, *low, *high;
    size_t count = rbli_collection_size(collection, "geometry");
    RBL_TRY(rbli_collection_write(ctx, collection, "geometry", "volume", RBL_DOUBLE, &volume));
    RBL_TRY(rbli_collection_write(ctx, collection, "geometry", "bounds_min", RBL_VEC3, &low));
    RBL_TRY(rbli_collection_write(ctx, collection, "geometry", "bounds_max", RBL_VEC3, &high));
    measure_job job = {.first = first,
        .vertex_start = rbli_collection_read(collection, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(collection, "geometry", "vertex_count", RBL_INT32),
        .face_start = rbli_collection_read(collection, "geometry", "face_start", RBL_INT32),
        .face_count = rbli_collection_read(collection, "geometry", "face_count", RBL_INT32),
        .positions = rbli_collection_read(collection, "vertex", "position", RBL_VEC3),
        .faces = rbli_collection_read(collection, "face", "vertices", RBL_INT32_3),
        .volume = volume,
        .low = low,
        .high = high};
    if (first < count) RBL_TRY(rbli_parallel_for(ctx, count - first, 8, measure_geometries, &job));
done:
    return status;
}

rbl_status rbli_material_index(rbl_context *ctx, rbl_collection *collection, const char *name, int32_t *out)
{
    size_t count = rbli_collection_size(collection, "material");
    for (size_t i = 0; i < count; i++)
        if (strcmp(rbli_collection_string(collection, "material", "name", i), name) == 0) {
            *out = (int32_t)i;
            return RBL_OK;
        }
    rbl_status status = RBL_OK;
    rbli_buffer *strings = NULL;
    const char **names = rbli_alloc(ctx, count + 1, sizeof *names);
    RBL_TRY_ALLOC(names);
    for (size_t i = 0; i < count; i++)
        names[i] = rbli_collection_string(collection, "material", "name", i);
    names[count] = name;
    RBL_TRY(rbli_buffer_create_strings(ctx, count + 1, names, &strings));
    RBL_TRY(rbli_collection_resize(ctx, collection, "material", count + 1));
    RBL_TRY(rbli_collection_set(ctx, collection, "material", "name", strings));
    bool had_colors = rbli_collection_buffer(collection, "material", "base_color") != NULL;
    void *colors;
    RBL_TRY(rbli_collection_write(ctx, collection, "material", "base_color", RBL_FLOAT_4, &colors));
    for (size_t i = had_colors ? count : 0; i <= count; i++) {
        static const float plain[4] = {0.8f, 0.8f, 0.8f, 1}, interior[4] = {0.55f, 0.47f, 0.4f, 1};
        memcpy((float(*)[4])colors + i,
            strcmp(rbli_collection_string(collection, "material", "name", i), "interior") == 0 ? interior
                                                                                               : plain,
            sizeof plain);
    }
    RBL_TRY(rbli_materials_fill(ctx, collection, count));
    *out = (int32_t)count;
done:
    rbli_buffer_release(strings);
    rbli_free(ctx, names);
    return status;
}
