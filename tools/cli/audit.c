/// Looks for faults and risks of a finished collection. Limits of engines: PhysX cooks hulls of at most 255 vertices, for
/// the GPU 64, and not those whose inscribed sphere is below a hundredth of their length (PxConvexMeshDesc and
/// PxConvexMeshCookingResult, PhysX 5); Unity takes 255 triangles (MeshCollider), Jolt 256 points (ConvexHullShape).

#include "tools/cli/audit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"

enum { PHYSX_VERTICES = 255, GPU_VERTICES = 64, UNITY_TRIANGLES = 255 };
static const double SLIVER = 0.01;    /* inscribed sphere beside length */
static const double TINY_EDGE = 0.01; /* as FixTinyGeo.relative_volume */
static const double FLAT_UV = 1e-12;  /* area in UV space */

/// Bones or materials that one concern is about.
typedef struct finds {
    size_t count;
    const char *names[AUDIT_NAMES];
} finds;

static void find(finds *f, const char *name)
{
    if (f->count < AUDIT_NAMES) f->names[f->count] = name;
    f->count++;
}

static RBL_PRINTF(5, 6) void add(
    cli_audit *audit, const char *code, bool warning, const finds *found, const char *format, ...)
{
    if (!found->count || audit->count == AUDIT_MOST) return;
    cli_concern *c = &audit->concerns[audit->count++];
    *c = (cli_concern){.code = code, .warning = warning, .count = found->count};
    memcpy(c->names, found->names, sizeof c->names);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->text, sizeof c->text, format, arguments);
    va_end(arguments);
    audit->warnings += warning;
}

static const char *has(size_t count)
{
    return count == 1 ? "has" : "have";
}

static const char *is(size_t count)
{
    return count == 1 ? "is" : "are";
}

/* ---- Shapes ---- */

static double triangle_area(const double *a, const double *b, const double *c)
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
    }
    double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
    return 0.5 * sqrt(x * x + y * y + z * z);
}

/// Area and longest side of the bounds of one geometry; counts triangles without area.
static void measure(const cli_asset *a, size_t g, double *area, double *length, size_t *flat)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    *area = *length = 0;
    for (int32_t v = 0; v < a->geometry_vertices[g]; v++)
        for (int k = 0; k < 3; k++) {
            double x = a->position[3 * (size_t)(a->vertex_start[g] + v) + (size_t)k];
            low[k] = fmin(low[k], x);
            high[k] = fmax(high[k], x);
        }
    for (int k = 0; k < 3 && a->geometry_vertices[g]; k++)
        *length = fmax(*length, high[k] - low[k]);
    for (int32_t f = 0; f < a->geometry_faces[g]; f++) {
        const int32_t *v = a->face_vertices + 3 * (size_t)(a->face_start[g] + f);
        double one = triangle_area(
            a->position + 3 * (size_t)v[0], a->position + 3 * (size_t)v[1], a->position + 3 * (size_t)v[2]);
        *area += one;
        *flat += one == 0;
    }
}

static void look_at_shapes(const cli_asset *a, const cli_summary *s, cli_audit *audit)
{
    finds slivers = {0}, tiny = {0}, inverted = {0}, flat = {0};
    double least = s->volume * TINY_EDGE * TINY_EDGE * TINY_EDGE;
    for (size_t b = 0; b < a->bone_count; b++) {
        if (!cli_is_piece(a, b)) continue;
        size_t g = (size_t)a->bone_geometry[b], without_area = 0;
        double area, length, volume = a->volume[g];
        measure(a, g, &area, &length, &without_area);
        for (size_t i = 0; i < without_area; i++)
            find(&flat, cli_bone_name(a, b));
        if (volume < 0) find(&inverted, cli_bone_name(a, b));
        if (s->pieces < 2 || volume < 0) continue;
        if (volume < least)
            find(&tiny, cli_bone_name(a, b));
        else if (3 * volume < SLIVER * length * area)
            find(&slivers, cli_bone_name(a, b));
    }
    add(audit, "inverted_pieces", true, &inverted, "%zu piece%s %s turned inside out: the volume is negative",
        inverted.count, cli_plural(inverted.count), is(inverted.count));
    add(audit, "tiny_pieces", true, &tiny,
        "%zu piece%s %s below a millionth of the volume: FixTinyGeo joins them to neighbours", tiny.count,
        cli_plural(tiny.count), is(tiny.count));
    add(audit, "sliver_pieces", true, &slivers,
        "%zu sliver%s, thinner than a hundredth of the length: jitter, and stay off PhysX's GPU",
        slivers.count, cli_plural(slivers.count));
    add(audit, "flat_triangles", false, &flat, "%zu triangle%s %s no area", flat.count,
        cli_plural(flat.count), has(flat.count));
}

static void look_at_surfaces(
    const cli_asset *a, const cli_summary *s, const cli_engine_cost *cost, cli_audit *audit)
{
    finds open = {.count = s->open_pieces}, wide = {.count = cost->wide_pieces};
    if (s->first_open >= 0) open.names[0] = cli_bone_name(a, (size_t)s->first_open);
    if (cost->first_wide >= 0) wide.names[0] = cli_bone_name(a, (size_t)cost->first_wide);
    add(audit, "open_pieces", true, &open, "%zu piece%s %s open (%zu edge%s): volume and mass are wrong",
        open.count, cli_plural(open.count), is(open.count), s->open_edges, cli_plural(s->open_edges));
    add(audit, "wide_indices", false, &wide, "%zu piece%s %s more than 65,535 vertices: 32-bit indices",
        wide.count, cli_plural(wide.count), has(wide.count));
}

/* ---- Hulls ---- */

static bool wants_no_hull(const cli_asset *a, const int32_t *collider, size_t bone)
{
    return !cli_is_piece(a, bone) || (collider && collider[bone] == 0);
}

static rbl_status look_at_hulls(bool finished, const cli_asset *a, const cli_summary *s, cli_audit *audit)
{
    rbl_attribute_view points, faces;
    const int32_t *bone = cli_attribute(a->collection, "convex", "bone", RBL_INT32);
    const int32_t *collider = cli_attribute(a->collection, "bone", "collider", RBL_INT32);
    finds many = {0}, gpu = {0}, triangles = {0}, without = {0}, none = {.count = finished && s->pieces > 1};
    if (!s->hulls) {
        add(audit, "no_hulls", false, &none, "there are no hulls: CreateLeafConvexHulls makes them");
        return RBL_OK;
    }
    if (!bone || rbl_collection_attribute(a->collection, "convex", "points", &points) != RBL_OK ||
        rbl_collection_attribute(a->collection, "convex", "faces", &faces) != RBL_OK || !points.is_list ||
        !faces.is_list)
        return RBL_OK;
    bool *seen = calloc(a->bone_count + 1, sizeof *seen);
    if (!seen) return RBL_ERR_NO_MEMORY;
    for (size_t h = 0; h < s->hulls; h++) {
        if (bone[h] < 0 || (size_t)bone[h] >= a->bone_count) continue;
        const char *name = cli_bone_name(a, (size_t)bone[h]);
        size_t vertex_count = (size_t)(points.offsets[h + 1] - points.offsets[h]);
        seen[bone[h]] = true;
        if (vertex_count > PHYSX_VERTICES)
            find(&many, name);
        else if (vertex_count > GPU_VERTICES)
            find(&gpu, name);
        if (faces.offsets[h + 1] - faces.offsets[h] > UNITY_TRIANGLES) find(&triangles, name);
    }
    for (size_t b = 0; b < a->bone_count; b++)
        if (!seen[b] && !wants_no_hull(a, collider, b)) find(&without, cli_bone_name(a, b));
    free(seen);
    add(audit, "hull_vertices", true, &many,
        "%zu hull%s %s more than %d vertices, which PhysX does not take (Jolt: 256): lower max_vertices",
        many.count, cli_plural(many.count), has(many.count), PHYSX_VERTICES);
    add(audit, "hull_triangles", true, &triangles,
        "%zu hull%s %s more than %d triangles, the limit of Unity's convex colliders: lower max_vertices",
        triangles.count, cli_plural(triangles.count), has(triangles.count), UNITY_TRIANGLES);
    add(audit, "hull_gpu", false, &gpu, "%zu hull%s %s more than %d vertices: PhysX keeps that off the GPU",
        gpu.count, cli_plural(gpu.count), has(gpu.count), GPU_VERTICES);
    add(audit, "no_hull", true, &without, "%zu piece%s %s no hull and would fall through the floor",
        without.count, cli_plural(without.count), has(without.count));
    return RBL_OK;
}

/* ---- Structure ---- */

static rbl_status look_at_contacts(bool finished, const cli_asset *a, const cli_summary *s, cli_audit *audit)
{
    size_t count = rbl_collection_group_size(a->collection, "proximity");
    const int32_t(*pair)[2] = cli_attribute(a->collection, "proximity", "geometries", RBL_INT32_2);
    finds alone = {0}, none = {.count = finished && s->pieces > 1};
    if (!pair) {
        add(audit, "no_contacts", false, &none, "who touches whom is not known: a Proximity node finds it");
        return RBL_OK;
    }
    bool *touched = calloc(a->geometry_count + 1, sizeof *touched);
    if (!touched) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 2; k++)
            if (pair[i][k] >= 0 && (size_t)pair[i][k] < a->geometry_count) touched[pair[i][k]] = true;
    for (size_t b = 0; b < a->bone_count && s->pieces > 1; b++)
        if (cli_is_piece(a, b) && !touched[a->bone_geometry[b]]) find(&alone, cli_bone_name(a, b));
    free(touched);
    add(audit, "no_contact", true, &alone, "%zu piece%s %s no other: nothing holds %s", alone.count,
        cli_plural(alone.count), alone.count == 1 ? "touches" : "touch", alone.count == 1 ? "it" : "them");
    return RBL_OK;
}

static rbl_status look_at_hierarchy(const cli_asset *a, cli_audit *audit)
{
    uint32_t *children = calloc(a->bone_count + 1, sizeof *children);
    finds single = {0}, empty = {0};
    if (!children) return RBL_ERR_NO_MEMORY;
    for (size_t b = 0; b < a->bone_count; b++)
        if (a->parent[b] >= 0) children[a->parent[b]]++;
    for (size_t b = 0; b < a->bone_count; b++) {
        if (a->type[b] != 0 || a->bone_geometry[b] >= 0) continue;
        if (children[b] == 0) find(&empty, cli_bone_name(a, b));
        if (children[b] == 1 && a->parent[b] >= 0) find(&single, cli_bone_name(a, b));
    }
    free(children);
    add(audit, "empty_clusters", true, &empty, "%zu cluster%s %s empty: ValidateCollection removes %s",
        empty.count, cli_plural(empty.count), is(empty.count), empty.count == 1 ? "it" : "them");
    add(audit, "clusters_of_one", true, &single,
        "%zu cluster%s %s a single child: ValidateCollection with remove_clusters_of_one takes %s out",
        single.count, cli_plural(single.count), has(single.count), single.count == 1 ? "it" : "them");
    return RBL_OK;
}

/* ---- Textures ---- */

/// The UV set that a material's textures look into, −1 when it has none.
static int texture_uv_set(const cli_asset *a, size_t material)
{
    static const char *const slots[] = {"base_color_texture", "metallic_roughness_texture", "normal_texture",
        "occlusion_texture", "emissive_texture"};
    size_t textures = rbl_collection_group_size(a->collection, "texture");
    const int32_t *uv_set = cli_attribute(a->collection, "texture", "uv_set", RBL_INT32);
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        const int32_t *texture = cli_attribute(a->collection, "material", slots[i], RBL_INT32);
        if (texture && texture[material] >= 0 && (size_t)texture[material] < textures)
            return uv_set ? uv_set[texture[material]] : 0;
    }
    return *rbl_collection_string(a->collection, "material", "texture", material) ? 0 : -1;
}

static double uv_area(const float (*uv)[2])
{
    double ux = uv[1][0] - uv[0][0], uy = uv[1][1] - uv[0][1], vx = uv[2][0] - uv[0][0],
           vy = uv[2][1] - uv[0][1];
    return fabs(ux * vy - uy * vx) / 2;
}

static void look_at_uvs(const cli_asset *a, cli_audit *audit)
{
    finds missing = {0}, flat = {0};
    for (size_t m = 0; m < a->material_count; m++) {
        int set = texture_uv_set(a, m);
        char name[16];
        if (set < 0) continue;
        snprintf(name, sizeof name, "uv%d", set);
        const float(*uv)[2] = cli_attribute(a->collection, "corner", name, RBL_FLOAT_2);
        size_t faces = 0, without = 0;
        for (size_t f = 0; f < a->face_count; f++) {
            if (a->face_material[f] < 0 || (size_t)a->face_material[f] != m) continue;
            faces++;
            without += uv && uv_area(uv + 3 * f) < FLAT_UV;
        }
        const char *material = rbl_collection_string(a->collection, "material", "name", m);
        if (faces && !uv)
            find(&missing, material);
        else if (2 * without > faces)
            find(&flat, material);
    }
    add(audit, "no_uvs", true, &missing, "%zu textured material%s %s no UVs: BoxProjectUV or AutoUnwrapUV",
        missing.count, cli_plural(missing.count), has(missing.count));
    add(audit, "flat_uvs", true, &flat, "%zu textured material%s %s UVs without area on most triangles",
        flat.count, cli_plural(flat.count), has(flat.count));
}

rbl_status cli_audit_collection(bool finished, const cli_asset *asset, const cli_summary *summary,
    const cli_engine_cost *cost, cli_audit *out)
{
    *out = (cli_audit){0};
    look_at_surfaces(asset, summary, cost, out);
    look_at_shapes(asset, summary, out);
    rbl_status status = look_at_hulls(finished, asset, summary, out);
    if (status == RBL_OK) status = look_at_contacts(finished, asset, summary, out);
    if (status == RBL_OK) status = look_at_hierarchy(asset, out);
    look_at_uvs(asset, out);
    return status;
}
