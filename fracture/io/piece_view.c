/// Checked access to the arrays of a collection.

#include "fracture/io/piece_view.h"

#include <math.h>
#include <stdio.h>

#include "fracture/base/alloc.h"
#include "fracture/collection/hierarchy.h"

static rbl_status missing(rbl_context *ctx, const char *what)
{
    return rbli_fail(ctx, RBL_ERR_COLLECTION, "%s is missing or of another type", what);
}

static rbl_status check_geometry_ranges(rbl_context *ctx, const rbli_asset_view *view)
{
    for (size_t g = 0; g < view->geometry_count; g++) {
        int64_t vertex_start = view->vertex_start[g], vertex_count = view->vertex_counts[g];
        int64_t face_start = view->face_start[g], face_count = view->face_counts[g];
        if (vertex_start < 0 || vertex_count < 0 ||
            vertex_start + vertex_count > (int64_t)view->vertex_count || face_start < 0 || face_count < 0 ||
            face_start + face_count > (int64_t)view->face_count)
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "geometry %zu: a range exceeds its group", g);
        for (int64_t f = face_start; f < face_start + face_count; f++) {
            if (rbli_poll(ctx, 0) != RBL_OK) return RBL_ERR_CANCELLED;
            for (int k = 0; k < 3; k++)
                if (view->faces[f][k] < vertex_start || view->faces[f][k] >= vertex_start + vertex_count)
                    return rbli_fail(ctx, RBL_ERR_COLLECTION,
                        "face.vertices %lld: not a vertex of geometry %zu", (long long)f, g);
        }
    }
    return RBL_OK;
}

static rbl_status check_indices(rbl_context *ctx, const rbli_asset_view *view)
{
    for (size_t b = 0; b < view->bone_count; b++) {
        if (view->parent[b] < -1 || view->parent[b] >= (int64_t)b)
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "bone.parent %zu: not a bone before it", b);
        if (view->geometry[b] < -1 || view->geometry[b] >= (int64_t)view->geometry_count)
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "bone.geometry %zu: no such geometry", b);
    }
    for (size_t f = 0; view->face_material && f < view->face_count; f++) {
        if (rbli_poll(ctx, f) != RBL_OK) return RBL_ERR_CANCELLED;
        if (view->face_material[f] < -1 || view->face_material[f] >= (int64_t)view->material_count)
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "face.material %zu: no such material", f);
    }
    return check_geometry_ranges(ctx, view);
}

rbl_status rbli_asset_view_init(rbl_context *ctx, const rbl_collection *collection, rbli_asset_view *out)
{
    rbli_asset_view view = {.collection = collection};
    view.bone_count = rbli_collection_size(collection, "bone");
    view.geometry_count = rbli_collection_size(collection, "geometry");
    view.vertex_count = rbli_collection_size(collection, "vertex");
    view.face_count = rbli_collection_size(collection, "face");
    view.material_count = rbli_collection_size(collection, "material");
    view.parent = rbli_collection_read(collection, "bone", "parent", RBL_INT32);
    view.type = rbli_collection_read(collection, "bone", "type", RBL_INT32);
    view.geometry = rbli_collection_read(collection, "bone", "geometry", RBL_INT32);
    view.sheet = rbli_collection_read(collection, "bone", "sheet", RBL_BOOL);
    if (view.bone_count && !view.parent) return missing(ctx, "bone.parent");
    if (view.bone_count && !view.type) return missing(ctx, "bone.type");
    if (view.bone_count && !view.geometry) return missing(ctx, "bone.geometry");
    view.vertex_start = rbli_collection_read(collection, "geometry", "vertex_start", RBL_INT32);
    view.vertex_counts = rbli_collection_read(collection, "geometry", "vertex_count", RBL_INT32);
    view.face_start = rbli_collection_read(collection, "geometry", "face_start", RBL_INT32);
    view.face_counts = rbli_collection_read(collection, "geometry", "face_count", RBL_INT32);
    if (view.geometry_count &&
        !(view.vertex_start && view.vertex_counts && view.face_start && view.face_counts))
        return missing(ctx, "a range of geometry");
    view.positions = rbli_collection_read(collection, "vertex", "position", RBL_VEC3);
    view.faces = rbli_collection_read(collection, "face", "vertices", RBL_INT32_3);
    if (view.vertex_count && !view.positions) return missing(ctx, "vertex.position");
    if (view.face_count && !view.faces) return missing(ctx, "face.vertices");
    view.face_material = rbli_collection_read(collection, "face", "material", RBL_INT32);
    if (rbli_collection_size(collection, "corner") == 3 * view.face_count) {
        view.normals = rbli_collection_read(collection, "corner", "normal", RBL_FLOAT_3);
        view.tangents = rbli_collection_read(collection, "corner", "tangent", RBL_FLOAT_4);
        view.colors = rbli_collection_read(collection, "corner", "color", RBL_FLOAT_4);
        for (int set = 0; set < RBLI_PIECE_UV_SETS; set++) {
            char name[8];
            snprintf(name, sizeof name, "uv%d", set);
            view.uvs[set] = rbli_collection_read(collection, "corner", name, RBL_FLOAT_2);
        }
    } else if (rbli_collection_size(collection, "corner") > 0) {
        return rbli_fail(ctx, RBL_ERR_COLLECTION,
            "corner: %zu elements, three for each of %zu faces expected",
            rbli_collection_size(collection, "corner"), view.face_count);
    }
    rbl_status status = check_indices(ctx, &view);
    if (status != RBL_OK) return status;
    status = rbli_hierarchy_world_transforms(ctx, collection, &view.world);
    if (status == RBL_OK) *out = view;
    return status;
}

void rbli_asset_view_free(rbl_context *ctx, rbli_asset_view *view)
{
    rbli_free(ctx, view->world);
    view->world = NULL;
}

bool rbli_asset_is_piece(const rbli_asset_view *view, size_t bone)
{
    return view->type[bone] == RBLI_BONE_RIGID && view->geometry[bone] >= 0 &&
           view->face_counts[view->geometry[bone]] > 0;
}

void rbli_piece_center(const rbli_asset_view *view, size_t bone, double out[3])
{
    int32_t g = view->geometry[bone];
    const double(*positions)[3] = view->positions + view->vertex_start[g];
    for (int k = 0; k < 3; k++) {
        double low = positions[0][k], high = low;
        for (int32_t v = 1; v < view->vertex_counts[g]; v++) {
            if (positions[v][k] < low) low = positions[v][k];
            if (positions[v][k] > high) high = positions[v][k];
        }
        double center = (double)(float)(low + (high - low) / 2);
        out[k] = isfinite(center) ? center : 0;
    }
}

bool rbli_node_transform(const rbli_asset_view *view, const double (*centers)[3], size_t bone, double out[16])
{
    static const double identity[16] = {[0] = 1, [5] = 1, [10] = 1, [15] = 1};
    const double(*transforms)[16] = rbli_collection_read(view->collection, "bone", "transform", RBL_MAT4);
    const double *local = transforms ? transforms[bone] : identity;
    double translation[3];
    memcpy(out, local, sizeof identity);
    rbli_transform_point(local, centers[bone], translation);
    bool plain = true;
    for (int i = 0; i < 12; i++)
        plain = plain && out[i] == identity[i];
    for (int k = 0; k < 3; k++) {
        if (plain) translation[k] = centers[bone][k] + local[12 + k];
        if (view->parent[bone] >= 0) translation[k] -= centers[view->parent[bone]][k];
    }
    memcpy(out + 12, translation, sizeof translation);
    out[3] = out[7] = out[11] = 0;
    out[15] = 1;
    return plain;
}

void rbli_material_color(const rbli_asset_view *view, size_t material, float out[4])
{
    const float(*colors)[4] = rbli_collection_read(view->collection, "material", "base_color", RBL_FLOAT_4);
    const char *name = rbli_collection_string(view->collection, "material", "name", material);
    for (int k = 0; k < 4; k++)
        out[k] = !colors                    ? 1
                 : colors[material][k] >= 0 ? colors[material][k] <= 1 ? colors[material][k] : 1
                                            : 0;
    if (!colors && strcmp(name, "interior") == 0) /* told apart from the outside without a texture */
        memcpy(out, (const float[4]){0.5f, 0.45f, 0.4f, 1}, 4 * sizeof *out);
}

void rbli_transform_point(const double m[16], const double p[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = m[k] * p[0] + m[4 + k] * p[1] + m[8 + k] * p[2] + m[12 + k];
}

bool rbli_transform_is_identity(const double m[16])
{
    for (int i = 0; i < 16; i++)
        if (m[i] != (i % 5 == 0)) return false;
    return true;
}

void rbli_transform_normal_matrix(const double m[16], double out[9])
{
    /* Cofactors; the inverse transpose is these over the determinant. */
    double sign = rbli_transform_determinant(m) < 0 ? -1 : 1;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            out[3 * r + c] = sign * (m[4 * c1 + r1] * m[4 * c2 + r2] - m[4 * c2 + r1] * m[4 * c1 + r2]);
        }
}

rbli_world_map rbli_world_map_of(const rbli_asset_view *view, size_t bone)
{
    rbli_world_map map = {
        .transform = view->world[bone], .identity = rbli_transform_is_identity(view->world[bone])};
    map.mirrored = rbli_transform_determinant(map.transform) < 0;
    double square = 0;
    rbli_transform_normal_matrix(map.transform, map.normal);
    for (int i = 0; i < 9; i++)
        square += map.normal[i] * map.normal[i];
    double scale = square > 0 && isfinite(square) ? sqrt(square / 3) : 1;
    for (int i = 0; i < 9; i++)
        map.normal[i] /= scale;
    return map;
}

void rbli_world_point(const rbli_world_map *map, const double p[3], double out[3])
{
    double moved[3];
    rbli_transform_point(map->transform, p, moved);
    memcpy(out, map->identity ? p : moved, sizeof moved);
}

void rbli_world_normal(const rbli_world_map *map, const float n[3], float out[3])
{
    float moved[3];
    for (int k = 0; k < 3; k++)
        moved[k] = (float)(map->normal[3 * k] * (double)n[0] + map->normal[3 * k + 1] * (double)n[1] +
                           map->normal[3 * k + 2] * (double)n[2]);
    memcpy(out, map->identity ? n : moved, sizeof moved);
}

double rbli_transform_determinant(const double m[16])
{
    return m[0] * (m[5] * m[10] - m[9] * m[6]) - m[4] * (m[1] * m[10] - m[9] * m[2]) +
           m[8] * (m[1] * m[6] - m[5] * m[2]);
}
