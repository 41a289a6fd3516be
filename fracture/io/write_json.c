/// JSON form of a collection (DESIGN §10): what a program needs to know about pieces, without their geometry.

#include <math.h>

#include "fracture/io/piece_view.h"
#include "fracture/io/text_out.h"
#include "fracture/io/write.h"

typedef struct bounds {
    double min[3], max[3];
    bool any;
} bounds;

typedef struct bone_sums {
    double volume;
    bounds bounds;
    size_t triangles; /* of the bone itself */
} bone_sums;

static void add_point(bounds *box, const double p[3])
{
    for (int k = 0; k < 3; k++) {
        if (!box->any || p[k] < box->min[k]) box->min[k] = p[k];
        if (!box->any || p[k] > box->max[k]) box->max[k] = p[k];
    }
    box->any = true;
}

static rbl_status measure_bones(rbl_context *ctx, const rbli_asset_view *view, bone_sums *sums)
{
    const double *volumes = rbli_collection_read(view->collection, "geometry", "volume", RBL_DOUBLE);
    for (size_t b = view->bone_count; b-- > 0;) {
        bone_sums *own = &sums[b];
        int32_t g = view->geometry[b];
        bool sheet = view->sheet && view->sheet[b];
        if (g >= 0) {
            const double *world = view->world[b];
            bool identity = rbli_transform_is_identity(world);
            for (int32_t v = view->vertex_start[g]; v < view->vertex_start[g] + view->vertex_counts[g]; v++) {
                if (rbli_poll(ctx, (size_t)v) != RBL_OK) return RBL_ERR_CANCELLED;
                double p[3];
                rbli_transform_point(world, view->positions[v], p);
                add_point(&own->bounds, identity ? view->positions[v] : p);
            }
            if (volumes && !sheet)
                own->volume += volumes[g] * (identity ? 1 : fabs(rbli_transform_determinant(world)));
            own->triangles = (size_t)view->face_counts[g];
        }
        if (view->parent[b] < 0) continue;
        bone_sums *parent = &sums[view->parent[b]];
        parent->volume += own->volume;
        if (own->bounds.any) {
            add_point(&parent->bounds, own->bounds.min);
            add_point(&parent->bounds, own->bounds.max);
        }
    }
    return RBL_OK;
}

static void put_vector(rbli_text_out *out, const double v[3])
{
    rbli_put(out, "[");
    for (int k = 0; k < 3; k++) {
        if (k) rbli_put(out, ", ");
        rbli_put_double(out, v[k]);
    }
    rbli_put(out, "]");
}

/// Hulls by owner: next[h] after first[bone], ascending.
static void link_hulls(
    const rbli_asset_view *view, const int32_t *owners, size_t hull_count, int32_t *first, int32_t *next)
{
    for (size_t b = 0; b < view->bone_count; b++)
        first[b] = -1;
    for (size_t h = hull_count; h-- > 0;) {
        if (owners[h] < 0 || (size_t)owners[h] >= view->bone_count) continue;
        next[h] = first[owners[h]];
        first[owners[h]] = (int32_t)h;
    }
}

static size_t list_length(const rbli_buffer *buffer, size_t index)
{
    const uint64_t *offsets = buffer ? rbli_buffer_offsets(buffer) : NULL;
    return offsets ? (size_t)(offsets[index + 1] - offsets[index]) : 0;
}

static void put_hulls(
    const rbli_asset_view *view, rbli_text_out *out, size_t bone, int32_t first, const int32_t *next)
{
    const rbli_buffer *points = rbli_collection_buffer(view->collection, "convex", "points");
    const rbli_buffer *faces = rbli_collection_buffer(view->collection, "convex", "faces");
    const double *volumes = rbli_collection_read(view->collection, "convex", "volume", RBL_DOUBLE);
    const double *world = view->world[bone];
    double factor = rbli_transform_is_identity(world) ? 1 : fabs(rbli_transform_determinant(world));
    rbli_put(out, "[");
    for (int32_t h = first; h >= 0; h = next[h]) {
        rbli_put(out, h == first ? "" : ", ");
        rbli_put_format(out,
            "{\"vertices\": %zu, \"triangles\": %zu, \"volume\": ", list_length(points, (size_t)h),
            list_length(faces, (size_t)h));
        rbli_put_double(out, volumes ? volumes[h] * factor : 0);
        rbli_put(out, "}");
    }
    rbli_put(out, "]");
}

static const char *simulation_word(const int32_t *types, size_t bone)
{
    static const char *const words[] = {"none", "static", "kinematic", "dynamic"};
    int32_t type = types ? types[bone] : RBLI_SIMULATION_DYNAMIC;
    return type >= 0 && type < 4 ? words[type] : "dynamic";
}

/// What a runtime reads, as far as it was set.
static void put_state(const rbl_collection *collection, rbli_text_out *out, size_t b)
{
    static const char *const shapes[] = {"none", "convex", "box", "sphere"};
    const double(*centers)[3] = rbli_collection_read(collection, "bone", "center_of_mass", RBL_VEC3);
    const double(*inertia)[3] = rbli_collection_read(collection, "bone", "inertia", RBL_VEC3);
    const double(*products)[3] = rbli_collection_read(collection, "bone", "inertia_products", RBL_VEC3);
    const double *thresholds = rbli_collection_read(collection, "bone", "damage_threshold", RBL_DOUBLE);
    const int32_t *colliders = rbli_collection_read(collection, "bone", "collider", RBL_INT32);
    if (centers) {
        rbli_put(out, ", \"center_of_mass\": ");
        put_vector(out, centers[b]);
    }
    if (inertia && products) {
        rbli_put(out, ", \"inertia\": ");
        put_vector(out, inertia[b]);
        rbli_put(out, ", \"inertia_products\": ");
        put_vector(out, products[b]);
    }
    if (thresholds) {
        rbli_put(out, ", \"damage_threshold\": ");
        rbli_put_double(out, thresholds[b]);
    }
    if (colliders)
        rbli_put_format(out, ", \"collider\": \"%s\"",
            colliders[b] >= 0 && colliders[b] < 4 ? shapes[colliders[b]] : "convex");
}

/// How many points for collisions lie on the surface of a piece, where there are any.
static void put_samples(const rbli_asset_view *view, rbli_text_out *out, size_t bone)
{
    const rbli_buffer *samples = rbli_collection_buffer(view->collection, "geometry", "collision_samples");
    int32_t geometry = view->geometry[bone];
    if (!samples || geometry < 0) return;
    rbli_put_format(out, ", \"collision_samples\": %zu", list_length(samples, (size_t)geometry));
}

static void put_bone(const rbli_asset_view *view, rbli_text_out *out, size_t b, const bone_sums *sums,
    const int32_t *first_hull, const int32_t *next_hull)
{
    const rbl_collection *collection = view->collection;
    const int32_t *levels = rbli_collection_read(collection, "bone", "level", RBL_INT32);
    const int32_t *sites = rbli_collection_read(collection, "bone", "site", RBL_INT32);
    const int32_t *simulation = rbli_collection_read(collection, "bone", "simulation_type", RBL_INT32);
    const bool *anchored = rbli_collection_read(collection, "bone", "anchored", RBL_BOOL);
    const double *masses = rbli_collection_read(collection, "bone", "mass", RBL_DOUBLE);
    rbli_put(out, "{\"name\": ");
    rbli_put_json_string(out, rbli_collection_string(collection, "bone", "name", b));
    rbli_put(out, ", \"parent\": ");
    if (view->parent[b] < 0) {
        rbli_put(out, "null");
    } else {
        rbli_put_json_string(
            out, rbli_collection_string(collection, "bone", "name", (size_t)view->parent[b]));
    }
    rbli_put_format(out,
        ", \"level\": %d, \"type\": \"%s\", \"site\": %d, \"volume\": ", levels ? levels[b] : 0,
        view->type[b] == RBLI_BONE_RIGID ? "rigid" : "cluster", sites ? sites[b] : -1);
    rbli_put_double(out, sums->volume);
    rbli_put(out, ", \"mass\": ");
    if (masses) {
        rbli_put_double(out, masses[b]);
    } else {
        rbli_put(out, "null");
    }
    rbli_put(out, ", \"bounds\": ");
    if (sums->bounds.any) {
        rbli_put(out, "[");
        put_vector(out, sums->bounds.min);
        rbli_put(out, ", ");
        put_vector(out, sums->bounds.max);
        rbli_put(out, "]");
    } else {
        rbli_put(out, "null");
    }
    rbli_put_format(out, ", \"triangles\": %zu, \"hulls\": ", sums->triangles);
    put_hulls(view, out, b, first_hull[b], next_hull);
    rbli_put_format(out, ", \"anchored\": %s, \"simulation\": \"%s\", \"sheet\": %s",
        anchored && anchored[b] ? "true" : "false", simulation_word(simulation, b),
        view->sheet && view->sheet[b] ? "true" : "false");
    put_samples(view, out, b);
    put_state(collection, out, b);
    rbli_put(out, "}");
}

/// Pairs of bones (connection) or geometries (proximity) with their areas.
static rbl_status put_pairs(rbl_context *ctx, const rbli_asset_view *view, rbli_text_out *out,
    const char *group, const char *attribute, bool of_geometry)
{
    const rbl_collection *collection = view->collection;
    const int32_t(*pairs)[2] = rbli_collection_read(collection, group, attribute, RBL_INT32_2);
    const double *areas = rbli_collection_read(collection, group, "area", RBL_DOUBLE);
    const int32_t *geometry_bone = rbli_collection_read(collection, "geometry", "bone", RBL_INT32);
    size_t count = pairs ? rbli_collection_size(collection, group) : 0;
    size_t limit = of_geometry ? geometry_bone ? view->geometry_count : 0 : view->bone_count;
    for (size_t i = 0; i < count; i++) {
        if (rbli_poll(ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        rbli_put(out, i ? ",\n{" : "\n{");
        for (int k = 0; k < 2; k++) {
            int64_t bone = pairs[i][k];
            if (bone < 0 || (uint64_t)bone >= limit)
                return rbli_fail(
                    ctx, RBL_ERR_COLLECTION, "%s.%s %zu: index out of range", group, attribute, i);
            if (of_geometry) bone = geometry_bone[bone];
            if (bone < 0 || (uint64_t)bone >= view->bone_count)
                return rbli_fail(ctx, RBL_ERR_COLLECTION, "geometry.bone: index out of range");
            rbli_put(out, k ? ", \"b\": " : "\"a\": ");
            rbli_put_json_string(out, rbli_collection_string(collection, "bone", "name", (size_t)bone));
        }
        rbli_put(out, ", \"area\": ");
        if (areas && areas[i] >= 0) {
            rbli_put_double(out, areas[i]);
        } else {
            rbli_put(out, "null");
        }
        rbli_put(out, "}");
    }
    return RBL_OK;
}

rbl_status rbli_write_json(rbl_context *ctx, const rbl_collection *collection, rbli_file_writer *writer)
{
    rbl_status status = RBL_OK;
    rbli_text_out text = {.ctx = ctx, .out = writer}, *out = &text;
    rbli_asset_view view = {0};
    bone_sums *sums = NULL;
    int32_t *first_hull = NULL, *next_hull = NULL;
    RBL_TRY(rbli_asset_view_init(ctx, collection, &view));
    const int32_t *owners = rbli_collection_read(collection, "convex", "bone", RBL_INT32);
    size_t hull_count = owners ? rbli_collection_size(collection, "convex") : 0;
    sums = rbli_calloc(ctx, view.bone_count, sizeof *sums);
    first_hull = rbli_alloc(ctx, view.bone_count, sizeof *first_hull);
    next_hull = rbli_alloc(ctx, hull_count, sizeof *next_hull);
    if (!sums || !first_hull || !next_hull) {
        status = RBL_ERR_NO_MEMORY;
        goto done;
    }
    RBL_TRY(measure_bones(ctx, &view, sums));
    link_hulls(&view, owners, hull_count, first_hull, next_hull);
    rbli_put(out, "{\n\"bones\": [");
    for (size_t b = 0; b < view.bone_count; b++) {
        if (b % 512 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        rbli_put(out, b ? ",\n" : "\n");
        put_bone(&view, out, b, &sums[b], first_hull, next_hull);
    }
    rbli_put(out, "\n],\n\"proximity\": [");
    RBL_TRY(put_pairs(ctx, &view, out, "proximity", "geometries", true));
    rbli_put(out, "\n],\n\"connections\": [");
    RBL_TRY(put_pairs(ctx, &view, out, "connection", "bones", false));
    rbli_put(out, "\n]\n}\n");
    status = rbli_text_out_end(out);
done:
    rbli_text_out_free(out);
    rbli_free(ctx, sums);
    rbli_free(ctx, first_hull);
    rbli_free(ctx, next_hull);
    rbli_asset_view_free(ctx, &view);
    return status;
}
