/// Rigid bodies of pieces, read from attributes or measured.

#include "fracture/io/body_view.h"

#include <math.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"
#include "fracture/geometry/mass_properties.h"

static const double default_density = 2400; /* kg/m³, that of SetMass */

static rbl_status check_hulls(
    rbl_context *ctx, const rbli_body_view *view, const int32_t *owners, size_t count)
{
    for (size_t h = 0; h < count; h++) {
        if (owners[h] < 0 || (size_t)owners[h] >= view->asset->bone_count)
            return rbli_fail(
                ctx, RBL_ERR_COLLECTION, "convex.bone: hull %zu has no bone %d", h, (int)owners[h]);
        uint64_t points = view->point_offsets[h + 1] - view->point_offsets[h];
        for (uint64_t f = view->face_offsets[h]; f < view->face_offsets[h + 1]; f++)
            for (int k = 0; k < 3; k++)
                if (view->faces[f][k] < 0 || (uint64_t)view->faces[f][k] >= points)
                    return rbli_fail(ctx, RBL_ERR_COLLECTION, "convex.faces: hull %zu has no point %d", h,
                        (int)view->faces[f][k]);
    }
    return RBL_OK;
}

rbl_status rbli_body_view_init(rbl_context *ctx, const rbli_asset_view *asset, rbli_body_view *out)
{
    rbl_status status = RBL_OK;
    const rbl_collection *c = asset->collection;
    const rbli_buffer *points = rbli_collection_buffer(c, "convex", "points"),
                      *faces = rbli_collection_buffer(c, "convex", "faces");
    const int32_t *owners = rbli_collection_read(c, "convex", "bone", RBL_INT32);
    size_t count = rbli_collection_size(c, "convex");
    rbli_body_view view = {.asset = asset,
        .collider = rbli_collection_read(c, "bone", "collider", RBL_INT32),
        .simulation = rbli_collection_read(c, "bone", "simulation_type", RBL_INT32),
        .anchored = rbli_collection_read(c, "bone", "anchored", RBL_BOOL),
        .mass = rbli_collection_read(c, "bone", "mass", RBL_DOUBLE),
        .center_of_mass = rbli_collection_read(c, "bone", "center_of_mass", RBL_VEC3),
        .inertia = rbli_collection_read(c, "bone", "inertia", RBL_VEC3),
        .products = rbli_collection_read(c, "bone", "inertia_products", RBL_VEC3)};
    if (!view.center_of_mass || !view.inertia || !view.products) view.mass = NULL;
    if (count > 0) {
        if (!owners || !points || !faces || rbli_buffer_type(points) != RBL_VEC3 ||
            rbli_buffer_type(faces) != RBL_INT32_3 || !rbli_buffer_offsets(points) ||
            !rbli_buffer_offsets(faces))
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "the group convex lacks bone, points or faces");
        view.point_offsets = rbli_buffer_offsets(points);
        view.face_offsets = rbli_buffer_offsets(faces);
        view.points = rbli_buffer_data(points);
        view.faces = rbli_buffer_data(faces);
        RBL_TRY(check_hulls(ctx, &view, owners, count));
    }
    RBL_TRY_ALLOC(view.hull_start = rbli_calloc(ctx, asset->bone_count + 2, sizeof *view.hull_start));
    RBL_TRY_ALLOC(view.hull_of_bone = rbli_alloc(ctx, count, sizeof *view.hull_of_bone));
    for (size_t h = 0; h < count; h++)
        view.hull_start[owners[h] + 2]++;
    for (size_t b = 0; b <= asset->bone_count; b++)
        view.hull_start[b + 1] += view.hull_start[b];
    for (size_t h = 0; h < count; h++)
        view.hull_of_bone[view.hull_start[owners[h] + 1]++] = (int32_t)h;
    *out = view;
    view = (rbli_body_view){0};
done:
    rbli_body_view_free(ctx, &view);
    return status;
}

void rbli_body_view_free(rbl_context *ctx, rbli_body_view *view)
{
    rbli_free(ctx, view->hull_start);
    rbli_free(ctx, view->hull_of_bone);
    *view = (rbli_body_view){0};
}

rbli_hull_view rbli_body_hull(const rbli_body_view *view, int32_t hull)
{
    return (rbli_hull_view){.points = view->points + view->point_offsets[hull],
        .triangles = view->faces + view->face_offsets[hull],
        .point_count = (size_t)(view->point_offsets[hull + 1] - view->point_offsets[hull]),
        .triangle_count = (size_t)(view->face_offsets[hull + 1] - view->face_offsets[hull])};
}

/* ---- shape ---- */

static void grow_box(double low[3], double high[3], const double (*points)[3], size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], points[i][k]);
            high[k] = fmax(high[k], points[i][k]);
        }
}

static double farthest(const double center[3], const double (*points)[3], size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double x = points[i][0] - center[0], y = points[i][1] - center[1], z = points[i][2] - center[2];
        most = fmax(most, x * x + y * y + z * z);
    }
    return sqrt(most);
}

/// Box and sphere around the hulls; around the mesh where there are none.
static void measure_shape(const rbli_body_view *view, size_t bone, rbli_body *out)
{
    const rbli_asset_view *asset = view->asset;
    int32_t g = asset->geometry[bone];
    const double(*mesh)[3] = asset->positions + asset->vertex_start[g];
    size_t vertex_count = (size_t)asset->vertex_counts[g];
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < out->hull_count; i++) {
        rbli_hull_view hull = rbli_body_hull(view, out->hulls[i]);
        grow_box(low, high, hull.points, hull.point_count);
    }
    if (!(low[0] <= high[0])) grow_box(low, high, mesh, vertex_count);
    double longest = 0;
    for (int k = 0; k < 3; k++) {
        out->center[k] = low[k] + (high[k] - low[k]) / 2;
        out->size[k] = high[k] - low[k];
        longest = fmax(longest, out->size[k]);
    }
    for (int k = 0; k < 3; k++) /* shapes without thickness are not allowed */
        out->size[k] = fmax(out->size[k], longest > 0 ? longest * 1e-3 : 1e-3);
    out->radius = out->hull_count == 0 ? farthest(out->center, mesh, vertex_count) : 0;
    for (size_t i = 0; i < out->hull_count; i++) {
        rbli_hull_view hull = rbli_body_hull(view, out->hulls[i]);
        out->radius = fmax(out->radius, farthest(out->center, hull.points, hull.point_count));
    }
    if (!(out->radius > 0)) out->radius = 1e-3;
}

/* ---- mass ---- */

void rbli_body_rotation(const double m[16], double out[3][3])
{
    for (int c = 0; c < 3; c++) {
        double length = 0;
        if (c == 2) {
            for (int k = 0; k < 3; k++)
                out[k][2] =
                    out[(k + 1) % 3][0] * out[(k + 2) % 3][1] - out[(k + 2) % 3][0] * out[(k + 1) % 3][1];
            return;
        }
        for (int k = 0; k < 3; k++)
            out[k][c] = m[4 * c + k];
        double along = c == 1 ? out[0][0] * out[0][1] + out[1][0] * out[1][1] + out[2][0] * out[2][1] : 0;
        for (int k = 0; k < 3; k++) {
            if (c == 1) out[k][1] -= along * out[k][0];
            length += out[k][c] * out[k][c];
        }
        for (int k = 0; k < 3; k++)
            out[k][c] = length > 0 ? out[k][c] / sqrt(length) : k == c;
    }
}

/// A tensor of the world in the frame whose axes are the columns of `r`.
static void turn_tensor(const double r[3][3], double diagonal[3], double products[3])
{
    const double a[3][3] = {{diagonal[0], products[0], products[2]}, {products[0], diagonal[1], products[1]},
        {products[2], products[1], diagonal[2]}};
    for (int i = 0; i < 6; i++) {
        int p = i % 3, q = i < 3 ? p : (p + 1) % 3;
        double sum = 0;
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                sum += r[j][p] * a[j][k] * r[k][q];
        *(i < 3 ? &diagonal[p] : &products[p]) = sum;
    }
}

static void weigh(const rbli_body_view *view, size_t bone, rbli_body *out)
{
    const rbli_asset_view *asset = view->asset;
    int32_t g = asset->geometry[bone];
    const double *world = asset->world[bone];
    double diagonal[3], products[3], rotation[3][3];
    if (view->mass) {
        out->mass = view->mass[bone];
        memcpy(out->center_of_mass, view->center_of_mass[bone], sizeof out->center_of_mass);
        memcpy(diagonal, view->inertia[bone], sizeof diagonal);
        memcpy(products, view->products[bone], sizeof products);
    } else {
        rbli_mass body = rbli_mass_of_mesh(
            asset->positions, asset->faces + asset->face_start[g], (size_t)asset->face_counts[g]);
        memcpy(out->center_of_mass, body.center, sizeof out->center_of_mass);
        body = rbli_mass_transform(&body, world);
        body = rbli_mass_scale(&body, default_density);
        out->mass = body.mass;
        rbli_mass_inertia(&body, diagonal, products);
    }
    if (!(out->mass > 0) || !isfinite(out->mass)) {
        out->mass = 0;
        return;
    }
    if (!rbli_affine_is_identity(world)) {
        rbli_body_rotation(world, rotation);
        turn_tensor((const double(*)[3])rotation, diagonal, products);
    }
    rbli_mass_principal(diagonal, products, out->moments, out->axes);
    double most = fmax(out->moments[0], fmax(out->moments[1], out->moments[2]));
    for (int k = 0; k < 3; k++) /* needles have nearly none about their axis */
        out->moments[k] = fmax(out->moments[k], most > 0 ? most * 1e-9 : out->mass * 1e-9);
}

void rbli_body_kind(const rbli_body_view *view, size_t bone, rbli_body *out)
{
    int32_t collider = view->collider ? view->collider[bone] : RBLI_COLLIDER_CONVEX;
    bool sheet = view->asset->sheet && view->asset->sheet[bone];
    *out = (rbli_body){.hulls = view->hull_of_bone + view->hull_start[bone],
        .hull_count = view->hull_start[bone + 1] - view->hull_start[bone],
        .simulation = view->simulation ? view->simulation[bone] : RBLI_SIMULATION_DYNAMIC,
        .axes = {0, 0, 0, 1}};
    out->shape = collider == RBLI_COLLIDER_BOX      ? RBLI_SHAPE_BOX
                 : collider == RBLI_COLLIDER_SPHERE ? RBLI_SHAPE_SPHERE
                 : collider == RBLI_COLLIDER_CONVEX ? RBLI_SHAPE_HULLS
                                                    : RBLI_SHAPE_NONE;
    if (view->anchored && view->anchored[bone] && out->simulation != RBLI_SIMULATION_NONE)
        out->simulation = RBLI_SIMULATION_STATIC;
    if (sheet || out->simulation == RBLI_SIMULATION_NONE) {
        out->shape = RBLI_SHAPE_NONE;
        out->simulation = RBLI_SIMULATION_NONE;
    }
}

void rbli_body_get(const rbli_body_view *view, size_t bone, rbli_body *out)
{
    rbli_body_kind(view, bone, out);
    if (out->simulation == RBLI_SIMULATION_NONE) return;
    measure_shape(view, bone, out);
    weigh(view, bone, out);
}

/* ---- meshes of shapes ---- */

static void box_mesh(const rbli_body *body, rbli_shape_mesh *out)
{
    static const int32_t triangles[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
        {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    out->point_count = 8;
    out->triangle_count = 12;
    memcpy(out->triangles, triangles, sizeof triangles);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            out->points[i][k] = body->center[k] + (i >> k & 1 ? 0.5 : -0.5) * body->size[k];
}

/// Points 0 … 5 on the axes, 6 … 17 between two of them; each face of the octahedron makes four triangles.
static void sphere_mesh(const rbli_body *body, rbli_shape_mesh *out)
{
    static const int32_t faces[8][3] = {
        {0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    int32_t middle[6][6];
    double directions[RBLI_SHAPE_POINTS][3] = {
        {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    out->point_count = 6;
    for (int i = 0; i < 6; i++)
        for (int j = i + 1; j < 6; j++) {
            if (i / 2 == j / 2) continue; /* opposite ones */
            middle[i][j] = middle[j][i] = (int32_t)out->point_count;
            for (int k = 0; k < 3; k++)
                directions[out->point_count][k] = (directions[i][k] + directions[j][k]) / sqrt(2);
            out->point_count++;
        }
    for (size_t i = 0; i < out->point_count; i++)
        for (int k = 0; k < 3; k++)
            out->points[i][k] = body->center[k] + body->radius * directions[i][k];
    out->triangle_count = 0;
    for (int f = 0; f < 8; f++) {
        const int32_t *c = faces[f];
        int32_t m[3] = {middle[c[0]][c[1]], middle[c[1]][c[2]], middle[c[2]][c[0]]};
        const int32_t four[4][3] = {
            {c[0], m[0], m[2]}, {m[0], c[1], m[1]}, {m[2], m[1], c[2]}, {m[0], m[1], m[2]}};
        memcpy(out->triangles + out->triangle_count, four, sizeof four);
        out->triangle_count += 4;
    }
}

void rbli_body_shape_mesh(const rbli_body *body, rbli_shape_mesh *out)
{
    if (body->shape == RBLI_SHAPE_SPHERE)
        sphere_mesh(body, out);
    else
        box_mesh(body, out);
}

const char *rbli_ucx_prefix(rbli_shape shape)
{
    return shape == RBLI_SHAPE_BOX ? "UBX_" : shape == RBLI_SHAPE_SPHERE ? "USP_" : "UCX_";
}
