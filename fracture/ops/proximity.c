/// Proximity of leaves and the connection graph of siblings (GEO §8).

#include "fracture/ops/proximity.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/threads.h"
#include "fracture/base/trace.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/ops/proximity_hulls.h"

enum { POLL = 4096 };

/* ---- contacts ---- */

/// The pieces' surfaces one after the other along a Morton curve: what is near in space is near in memory, and
/// that is where contacts look.
typedef struct near_surface {
    double (*positions)[3];
    int32_t (*triangles)[3], *piece;
    size_t vertex_count, triangle_count;
} near_surface;

static void near_surface_free(rbl_context *ctx, near_surface *s)
{
    rbli_free(ctx, s->positions);
    rbli_free(ctx, s->triangles);
    rbli_free(ctx, s->piece);
}

/// Ranges of a geometry in the collection's arrays, and where they go.
typedef struct geometry_range {
    int32_t vertex, vertices, face, faces;
    int32_t to_vertex, to_face;
} geometry_range;

/// The work of putting geometries in order.
typedef struct surface_sorter {
    const rbli_world_surface *from;
    geometry_range *ranges; /* of rigid leaves, in the order of the collection */
    double (*boxes)[2][3];  /* theirs */
    const int32_t *order;   /* of ranges along the curve */
    near_surface *to;
} surface_sorter;

enum { PIECES = 16 }; /* of a block */

/// @return how many there are
static size_t list_ranges(
    const rbl_collection *collection, const rbli_world_surface *surface, geometry_range *ranges)
{
    const int32_t *vertex = rbli_collection_read(collection, "geometry", "vertex_start", RBL_INT32);
    const int32_t *vertices = rbli_collection_read(collection, "geometry", "vertex_count", RBL_INT32);
    const int32_t *face = rbli_collection_read(collection, "geometry", "face_start", RBL_INT32);
    const int32_t *faces = rbli_collection_read(collection, "geometry", "face_count", RBL_INT32);
    size_t count = 0;
    for (size_t g = 0; g < rbli_collection_size(collection, "geometry"); g++) {
        if (faces[g] == 0 || vertices[g] == 0 || surface->piece[face[g]] < 0) continue;
        ranges[count++] = (geometry_range){vertex[g], vertices[g], face[g], faces[g], 0, 0};
    }
    return count;
}

static rbl_status bound_ranges(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const surface_sorter *s = user;
    (void)block;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const geometry_range *range = &s->ranges[i];
        double(*box)[3] = s->boxes[i];
        for (int k = 0; k < 3; k++)
            box[0][k] = box[1][k] = s->from->positions[range->vertex][k];
        for (int32_t v = range->vertex; v < range->vertex + range->vertices; v++) {
            if (rbli_poll(ctx, (size_t)v) != RBL_OK) return RBL_ERR_CANCELLED;
            for (int k = 0; k < 3; k++) {
                double x = s->from->positions[v][k];
                box[0][k] = x < box[0][k] ? x : box[0][k];
                box[1][k] = x > box[1][k] ? x : box[1][k];
            }
        }
    }
    return RBL_OK;
}

static rbl_status copy_ranges(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const surface_sorter *s = user;
    near_surface *to = s->to;
    (void)block;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const geometry_range *range = &s->ranges[s->order[i]];
        int32_t moved = range->to_vertex - range->vertex;
        memcpy(to->positions + range->to_vertex, s->from->positions + range->vertex,
            (size_t)range->vertices * sizeof *to->positions);
        memcpy(to->piece + range->to_face, s->from->piece + range->face,
            (size_t)range->faces * sizeof *to->piece);
        for (int32_t f = 0; f < range->faces; f++) {
            if (rbli_poll(ctx, (size_t)f) != RBL_OK) return RBL_ERR_CANCELLED;
            for (int k = 0; k < 3; k++)
                to->triangles[range->to_face + f][k] = s->from->triangles[range->face + f][k] + moved;
        }
    }
    return RBL_OK;
}

static rbl_status sort_surface(
    rbl_context *ctx, const rbl_collection *collection, const rbli_world_surface *surface, near_surface *out)
{
    rbl_status status = RBL_OK;
    size_t geometries = rbli_collection_size(collection, "geometry"), count;
    surface_sorter s = {.from = surface, .to = out};
    rbli_box_tree *tree = NULL;
    RBL_TRY_ALLOC(s.ranges = rbli_alloc(ctx, geometries, sizeof *s.ranges));
    RBL_TRY_ALLOC(s.boxes = rbli_alloc(ctx, geometries, sizeof *s.boxes));
    RBL_TRY_ALLOC(
        out->positions = rbli_alloc(ctx, rbli_collection_size(collection, "vertex"), sizeof *out->positions));
    RBL_TRY_ALLOC(
        out->triangles = rbli_alloc(ctx, rbli_collection_size(collection, "face"), sizeof *out->triangles));
    RBL_TRY_ALLOC(out->piece = rbli_alloc(ctx, rbli_collection_size(collection, "face"), sizeof *out->piece));
    count = list_ranges(collection, surface, s.ranges);
    RBL_TRY(rbli_parallel_for(ctx, count, PIECES, bound_ranges, &s));
    RBL_TRY(rbli_box_tree_create(ctx, (const double(*)[2][3])s.boxes, count, &tree));
    s.order = rbli_box_tree_items(tree);
    for (size_t i = 0; i < count; i++) {
        geometry_range *range = &s.ranges[s.order[i]];
        range->to_vertex = (int32_t)out->vertex_count;
        range->to_face = (int32_t)out->triangle_count;
        out->vertex_count += (size_t)range->vertices;
        out->triangle_count += (size_t)range->faces;
    }
    RBL_TRY(rbli_parallel_for(ctx, count, PIECES, copy_ranges, &s));
done:
    rbli_box_tree_destroy(ctx, tree);
    rbli_free(ctx, s.ranges);
    rbli_free(ctx, s.boxes);
    return status;
}

/// The same as rbli_leaf_contacts; `last` says that the surface's arrays are not needed any more: they are freed
/// before contacts are looked for.
static rbl_status leaf_contacts(rbl_context *ctx, const rbl_collection *collection,
    rbli_world_surface *surface, bool last, double tolerance, rbli_touch **out, size_t *count)
{
    rbl_status status = RBL_OK;
    near_surface sorted = {0};
    RBL_TRY(sort_surface(ctx, collection, surface, &sorted));
    if (last) rbli_world_surface_free(ctx, surface);
    rbli_mesh_view mesh = {(const double(*)[3])sorted.positions, sorted.vertex_count,
        (const int32_t(*)[3])sorted.triangles, sorted.triangle_count};
    RBL_TRY(rbli_find_contacts(
        ctx, &mesh, sorted.piece, rbli_world_surface_tolerance(surface, tolerance), out, count));
done:
    near_surface_free(ctx, &sorted);
    return status;
}

rbl_status rbli_leaf_contacts(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, double tolerance, rbli_touch **out, size_t *count)
{
    rbli_world_surface borrowed = *surface;
    return leaf_contacts(ctx, collection, &borrowed, false, tolerance, out, count);
}

static rbl_status shared_vertices(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, double tolerance, rbli_touch **out, size_t *count)
{
    rbli_mesh_view mesh = {(const double(*)[3])surface->positions, rbli_collection_size(collection, "vertex"),
        surface->triangles, rbli_collection_size(collection, "face")};
    return rbli_find_shared_vertices(
        ctx, &mesh, surface->piece, rbli_world_surface_tolerance(surface, tolerance), out, count);
}

/// Sorts touches by pair, each once: of equal pairs the first given stays.
static rbl_status sort_touches(rbl_context *ctx, rbli_touch *touches, size_t *count)
{
    rbl_status status = RBL_OK;
    rbli_keyed *keys = NULL, *scratch = NULL;
    rbli_touch *copy = NULL;
    size_t kept = 0, n = *count;
    if (n < 2) return RBL_OK;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, n, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, n, sizeof *scratch));
    RBL_TRY_ALLOC(copy = rbli_alloc(ctx, n, sizeof *copy));
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    for (size_t i = 0; i < n; i++)
        keys[i] = (rbli_keyed){(uint64_t)touches[i].piece_a << 32 | (uint32_t)touches[i].piece_b, (int32_t)i};
    memcpy(copy, touches, n * sizeof *copy);
    RBL_TRY(rbli_radix_sort_polled(ctx, keys, scratch, n));
    for (size_t i = 0; i < n; i++)
        if (i == 0 || keys[i].key != keys[i - 1].key) touches[kept++] = copy[keys[i].index];
    *count = kept;
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    rbli_free(ctx, copy);
    return status;
}

/// Adds the pairs of the other list that are not there yet.
static rbl_status add_touches(
    rbl_context *ctx, rbli_touch **touches, size_t *count, const rbli_touch *more, size_t more_count)
{
    rbli_touch *joined = rbli_realloc(ctx, *touches, *count + more_count, sizeof *joined);
    if (!joined) return RBL_ERR_NO_MEMORY;
    *touches = joined;
    if (more_count) memcpy(joined + *count, more, more_count * sizeof *joined);
    *count += more_count;
    return sort_touches(ctx, joined, count);
}

/// Pairs of leaves from a group of pairs of geometries; NULL when there is no such group.
static rbl_status read_pairs(
    rbl_context *ctx, const rbl_collection *collection, const char *group, rbli_touch **out, size_t *count)
{
    const int32_t(*pairs)[2] = rbli_collection_read(collection, group, "geometries", RBL_INT32_2);
    const double *area = rbli_collection_read(collection, group, "area", RBL_DOUBLE);
    const int32_t *bone = rbli_collection_read(collection, "geometry", "bone", RBL_INT32);
    size_t pair_count = rbli_collection_size(collection, group), kept = 0;
    size_t geometry_count = rbli_collection_size(collection, "geometry");
    *out = NULL;
    *count = 0;
    if (!pairs) return RBL_OK;
    rbli_touch *touches = rbli_alloc(ctx, pair_count, sizeof *touches);
    if (!touches) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < pair_count; i++) {
        if (pairs[i][0] < 0 || pairs[i][1] < 0 || (size_t)pairs[i][0] >= geometry_count ||
            (size_t)pairs[i][1] >= geometry_count)
            continue;
        int32_t a = bone[pairs[i][0]], b = bone[pairs[i][1]];
        if (a < 0 || b < 0 || a == b) continue;
        touches[kept++] = (rbli_touch){a < b ? a : b, a < b ? b : a, area ? area[i] : -1, 0};
    }
    *out = touches;
    *count = kept;
    return RBL_OK;
}

rbl_status rbli_recorded_contacts(
    rbl_context *ctx, const rbl_collection *collection, rbli_touch **out, size_t *count)
{
    rbl_status status = RBL_OK;
    rbli_touch *recorded = NULL;
    int32_t *leaves = NULL;
    bool *is_leaf = NULL;
    size_t recorded_count, leaf_count, kept = 0;
    RBL_TRY(read_pairs(ctx, collection, "contact", &recorded, &recorded_count));
    RBL_TRY(rbli_rigid_leaves(ctx, collection, NULL, &leaves, &leaf_count));
    RBL_TRY_ALLOC(is_leaf = rbli_calloc(ctx, rbli_collection_size(collection, "bone"), sizeof *is_leaf));
    for (size_t i = 0; i < leaf_count; i++)
        is_leaf[leaves[i]] = true;
    for (size_t i = 0; i < recorded_count; i++)
        if (is_leaf[recorded[i].piece_a] && is_leaf[recorded[i].piece_b] && recorded[i].area != 0)
            recorded[kept++] = recorded[i];
    RBL_TRY(sort_touches(ctx, recorded, &kept));
    *out = recorded;
    *count = kept;
    recorded = NULL;
done:
    rbli_free(ctx, recorded);
    rbli_free(ctx, leaves);
    rbli_free(ctx, is_leaf);
    return status;
}

/// Adds what cuts recorded of leaves.
static rbl_status add_recorded(
    rbl_context *ctx, const rbl_collection *collection, rbli_touch **touches, size_t *count)
{
    rbli_touch *recorded = NULL;
    size_t recorded_count;
    rbl_status status = rbli_recorded_contacts(ctx, collection, &recorded, &recorded_count);
    if (status == RBL_OK) status = add_touches(ctx, touches, count, recorded, recorded_count);
    rbli_free(ctx, recorded);
    return status;
}

rbl_status rbli_known_contacts(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, rbli_touch **out, size_t *count)
{
    rbl_status status = RBL_OK;
    rbli_touch *touches = NULL;
    size_t found = 0;
    RBL_TRY(read_pairs(ctx, collection, "proximity", &touches, &found));
    if (!touches) {
        RBL_TRY(rbli_leaf_contacts(ctx, collection, surface, 0, &touches, &found));
        RBL_TRY(add_recorded(ctx, collection, &touches, &found));
    }
    *out = touches;
    *count = found;
    touches = NULL;
done:
    rbli_free(ctx, touches);
    return status;
}

rbl_status rbli_collect_pairs(
    rbl_context *ctx, const rbli_pair_array *blocks, size_t block_count, rbli_touch **out, size_t *count)
{
    rbl_status status = RBL_OK;
    rbli_keyed *all = NULL, *scratch = NULL;
    rbli_touch *touches = NULL;
    size_t total = 0, kept = 0;
    for (size_t i = 0; i < block_count; i++)
        total += blocks[i].count;
    RBL_TRY_ALLOC(all = rbli_alloc(ctx, total, sizeof *all));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, total, sizeof *scratch));
    RBL_TRY_ALLOC(touches = rbli_alloc(ctx, total, sizeof *touches));
    for (size_t i = 0, at = 0; i < block_count; at += blocks[i++].count)
        if (blocks[i].count) memcpy(all + at, blocks[i].data, blocks[i].count * sizeof *all);
    if (total) RBL_TRY(rbli_radix_sort_polled(ctx, all, scratch, total));
    for (size_t i = 0; i < total; i++) {
        if (i > 0 && all[i].key == all[i - 1].key) continue;
        touches[kept++] = (rbli_touch){(int32_t)(all[i].key >> 32), (int32_t)(uint32_t)all[i].key, -1, 0};
    }
    *out = touches;
    *count = kept;
    touches = NULL;
done:
    rbli_free(ctx, all);
    rbli_free(ctx, scratch);
    rbli_free(ctx, touches);
    return status;
}

/* ---- siblings ---- */

rbl_status rbli_lift_contacts(rbl_context *ctx, const rbl_collection *collection, const rbli_touch *touches,
    size_t count, rbli_sibling_pair **out, size_t *out_count)
{
    rbl_status status = RBL_OK;
    const int32_t *parent = rbli_collection_read(collection, "bone", "parent", RBL_INT32);
    const int32_t *level = rbli_collection_read(collection, "bone", "level", RBL_INT32);
    size_t lifted = 0, kept = 0;
    rbli_keyed *keys = NULL, *scratch = NULL;
    rbli_sibling_pair *pairs = NULL;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, count, sizeof *scratch));
    RBL_TRY_ALLOC(pairs = rbli_alloc(ctx, count, sizeof *pairs));
    for (size_t i = 0; i < count; i++) {
        int32_t a = touches[i].piece_a, b = touches[i].piece_b;
        if (i % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        while (a >= 0 && b >= 0 && a != b && parent[a] != parent[b]) {
            bool up_a = level[a] >= level[b], up_b = level[b] >= level[a];
            if (up_a) a = parent[a];
            if (up_b) b = parent[b];
        }
        if (a == b || a < 0 || b < 0) continue;
        keys[lifted++] =
            (rbli_keyed){(uint64_t)(a < b ? a : b) << 32 | (uint32_t)(a < b ? b : a), (int32_t)i};
    }
    if (lifted) RBL_TRY(rbli_radix_sort_polled(ctx, keys, scratch, lifted));
    for (size_t i = 0; i < lifted; i++) {
        double area = touches[keys[i].index].area;
        if (i == 0 || keys[i].key != keys[i - 1].key) {
            pairs[kept++] =
                (rbli_sibling_pair){(int32_t)(keys[i].key >> 32), (int32_t)(uint32_t)keys[i].key, area, 1};
            continue;
        }
        rbli_sibling_pair *last = &pairs[kept - 1];
        last->area = last->area < 0 || area < 0 ? -1 : last->area + area;
        last->count++;
    }
    *out = pairs;
    *out_count = kept;
    pairs = NULL;
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    rbli_free(ctx, pairs);
    return status;
}

/* ---- groups ---- */

/// Makes a group of pairs anew, dropping what it held.
static rbl_status write_pairs(rbl_context *ctx, rbl_collection *to, const char *group, const char *name,
    size_t count, int32_t (**pairs)[2], double **area)
{
    rbl_status status = RBL_OK;
    rbli_collection_remove_group(to, group);
    RBL_TRY(rbli_collection_resize(ctx, to, group, count));
    RBL_TRY(rbli_collection_write(ctx, to, group, name, RBL_INT32_2, (void **)pairs));
    RBL_TRY(rbli_collection_write(ctx, to, group, "area", RBL_DOUBLE, (void **)area));
done:
    return status;
}

static rbl_status write_proximity(
    rbl_context *ctx, rbl_collection *to, const rbli_touch *touches, size_t count, bool with_area)
{
    rbl_status status = RBL_OK;
    const int32_t *geometry = rbli_collection_read(to, "bone", "geometry", RBL_INT32);
    rbli_touch *sorted = NULL;
    int32_t(*pairs)[2];
    double *area;
    RBL_TRY_ALLOC(sorted = rbli_alloc(ctx, count, sizeof *sorted));
    for (size_t i = 0; i < count; i++) {
        int32_t a = geometry[touches[i].piece_a], b = geometry[touches[i].piece_b];
        sorted[i] = (rbli_touch){a < b ? a : b, a < b ? b : a, touches[i].area, 0};
    }
    RBL_TRY(sort_touches(ctx, sorted, &count));
    RBL_TRY(write_pairs(ctx, to, "proximity", "geometries", count, &pairs, &area));
    for (size_t i = 0; i < count; i++) {
        pairs[i][0] = sorted[i].piece_a;
        pairs[i][1] = sorted[i].piece_b;
        area[i] = with_area ? sorted[i].area : -1;
    }
done:
    rbli_free(ctx, sorted);
    return status;
}

static rbl_status write_connections(
    rbl_context *ctx, rbl_collection *to, const rbli_touch *touches, size_t count, bool with_area)
{
    rbl_status status = RBL_OK;
    rbli_sibling_pair *siblings = NULL;
    size_t pair_count;
    int32_t(*pairs)[2];
    double *area;
    RBL_TRY(rbli_lift_contacts(ctx, to, touches, count, &siblings, &pair_count));
    RBL_TRY(write_pairs(ctx, to, "connection", "bones", pair_count, &pairs, &area));
    for (size_t i = 0; i < pair_count; i++) {
        pairs[i][0] = siblings[i].bone_a;
        pairs[i][1] = siblings[i].bone_b;
        area[i] = with_area ? siblings[i].area : -1;
    }
done:
    rbli_free(ctx, siblings);
    return status;
}

rbl_status rbli_connect_siblings(rbl_context *ctx, rbl_collection *collection, bool with_area)
{
    rbl_status status = RBL_OK;
    rbli_touch *touches = NULL;
    size_t count;
    if (!rbli_collection_read(collection, "proximity", "geometries", RBL_INT32_2)) return RBL_OK;
    RBL_TRY(rbli_known_contacts(ctx, collection, NULL, &touches, &count));
    RBL_TRY(write_connections(ctx, collection, touches, count, with_area));
done:
    rbli_free(ctx, touches);
    return status;
}

/* ---- proximity ---- */

typedef struct proximity_job {
    const rbl_collection *in;
    const rbli_proximity_options *options;
    rbli_world_surface surface;
    double tolerance;
    rbli_leaf_hulls hulls;
    rbli_touch *touches;
    size_t count;
    double (*boxes)[2][3];       /* [bone count] of leaves, for the filter by bounds */
    rbli_hull_contact *contacts; /* [count] what hulls have in common, or NULL */
} proximity_job;

static void job_free(rbl_context *ctx, proximity_job *job)
{
    rbli_world_surface_free(ctx, &job->surface);
    rbli_leaf_hulls_free(ctx, &job->hulls);
    rbli_free(ctx, job->touches);
    rbli_free(ctx, job->boxes);
    rbli_free(ctx, job->contacts);
}

/// @param last nobody needs the surface behind it
static rbl_status find_precise(rbl_context *ctx, proximity_job *job, bool last)
{
    rbl_status status = RBL_OK;
    rbli_touch *shared = NULL;
    size_t shared_count;
    last = last && !job->options->shared_vertices;
    RBL_TRY(leaf_contacts(
        ctx, job->in, &job->surface, last, job->options->tolerance, &job->touches, &job->count));
    if (job->options->recorded) RBL_TRY(add_recorded(ctx, job->in, &job->touches, &job->count));
    if (job->options->shared_vertices) {
        RBL_TRY(
            shared_vertices(ctx, job->in, &job->surface, job->options->tolerance, &shared, &shared_count));
        RBL_TRY(add_touches(ctx, &job->touches, &job->count, shared, shared_count));
    }
done:
    rbli_free(ctx, shared);
    return status;
}

/// Areas of faces for pairs that hulls found: 0 where no faces lie on each other.
static rbl_status take_areas(rbl_context *ctx, proximity_job *job)
{
    rbli_touch *precise = NULL;
    size_t count, at = 0;
    rbl_status status =
        rbli_leaf_contacts(ctx, job->in, &job->surface, job->options->tolerance, &precise, &count);
    for (size_t i = 0; status == RBL_OK && i < job->count; i++) {
        rbli_touch *t = &job->touches[i];
        while (at < count && (precise[at].piece_a < t->piece_a ||
                                 (precise[at].piece_a == t->piece_a && precise[at].piece_b < t->piece_b)))
            at++;
        bool same = at < count && precise[at].piece_a == t->piece_a && precise[at].piece_b == t->piece_b;
        t->area = same ? precise[at].area : 0;
    }
    rbli_free(ctx, precise);
    return status;
}

/// Finds the pairs and, where they are needed, hulls and what these have in common.
static rbl_status find_pairs(rbl_context *ctx, proximity_job *job)
{
    rbl_status status = RBL_OK;
    const rbli_proximity_options *o = job->options;
    bool by_hull = o->method == RBLI_PROXIMITY_HULL;
    bool filtered = o->contact_threshold > 0 && o->contact_filter != RBLI_FILTER_BOUNDS;
    bool measured = filtered || o->contact_area == RBLI_AREA_HULL;
    if (!by_hull) RBL_TRY(find_precise(ctx, job, !measured && o->contact_threshold <= 0));
    if (by_hull || measured)
        RBL_TRY(rbli_leaf_hulls_build(ctx, job->in, &job->surface, measured, &job->hulls));
    if (by_hull)
        RBL_TRY(rbli_near_hulls(ctx, &job->hulls, o->distance_threshold, &job->touches, &job->count));
    if (by_hull && o->contact_area == RBLI_AREA_GEOMETRY) RBL_TRY(take_areas(ctx, job));
    if (!measured) goto done;
    RBL_TRY_ALLOC(job->contacts = rbli_alloc(ctx, job->count, sizeof *job->contacts));
    double depth = job->tolerance > 0 ? job->tolerance : 1e-300;
    RBL_TRY(rbli_measure_hull_contacts(ctx, &job->hulls, job->touches, job->count,
        by_hull ? o->distance_threshold : 0, depth, job->contacts));
    for (size_t i = 0; o->contact_area == RBLI_AREA_HULL && i < job->count; i++)
        job->touches[i].area = job->contacts[i].area;
done:
    return status;
}

/// Boxes of all leaves in world space.
static rbl_status find_boxes(rbl_context *ctx, proximity_job *job)
{
    size_t bone_count = rbli_collection_size(job->in, "bone"),
           face_count = rbli_collection_size(job->in, "face");
    job->boxes = rbli_alloc(ctx, bone_count, sizeof *job->boxes);
    if (!job->boxes) return RBL_ERR_NO_MEMORY;
    for (size_t b = 0; b < bone_count; b++)
        for (int k = 0; k < 3; k++) {
            job->boxes[b][0][k] = HUGE_VAL;
            job->boxes[b][1][k] = -HUGE_VAL;
        }
    for (size_t f = 0; f < face_count; f++) {
        if (f % POLL == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        if (job->surface.piece[f] < 0) continue;
        double(*box)[3] = job->boxes[job->surface.piece[f]];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                double x = job->surface.positions[job->surface.triangles[f][c]][k];
                box[0][k] = x < box[0][k] ? x : box[0][k];
                box[1][k] = x > box[1][k] ? x : box[1][k];
            }
    }
    return RBL_OK;
}

/// Whether both boxes overlap, seen along one of the axes, by more than the threshold in both directions, or by
/// half of what the thinner box could.
static bool bounds_overlap(const double (*a)[3], const double (*b)[3], double threshold)
{
    for (int axis = 0; axis < 3; axis++) {
        double overlap = HUGE_VAL, most = HUGE_VAL;
        for (int i = 1; i < 3; i++) {
            int k = (axis + i) % 3;
            overlap = fmin(overlap, fmin(a[1][k], b[1][k]) - fmax(a[0][k], b[0][k]));
            most = fmin(most, fmin(a[1][k] - a[0][k], b[1][k] - b[0][k]));
        }
        if (overlap >= fmin(threshold, most / 2)) return true;
    }
    return false;
}

static bool passes(const proximity_job *job, size_t i)
{
    const rbli_touch *t = &job->touches[i];
    const rbli_hull_contact *c = job->contacts ? &job->contacts[i] : NULL;
    double threshold = job->options->contact_threshold;
    switch (job->options->contact_filter) {
    case RBLI_FILTER_SHARP:
        return c->width >= fmin(threshold, c->most_width / 2);
    case RBLI_FILTER_AREA:
        return c->area >= fmin(threshold * threshold, c->most_area / 2);
    default:
        return bounds_overlap((const double(*)[3])job->boxes[t->piece_a],
            (const double(*)[3])job->boxes[t->piece_b], threshold);
    }
}

static rbl_status filter(rbl_context *ctx, proximity_job *job)
{
    size_t kept = 0;
    if (job->options->contact_threshold <= 0) return RBL_OK;
    if (job->options->contact_filter == RBLI_FILTER_BOUNDS) {
        rbl_status status = find_boxes(ctx, job);
        if (status != RBL_OK) return status;
    }
    for (size_t i = 0; i < job->count; i++) {
        if (i % POLL == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        if (passes(job, i)) job->touches[kept++] = job->touches[i];
    }
    if (kept < job->count)
        rbli_note(ctx, "%zu contact%s below the threshold %s left out", job->count - kept,
            job->count - kept == 1 ? "" : "s", job->count - kept == 1 ? "was" : "were");
    job->count = kept;
    return RBL_OK;
}

static rbl_status report(rbl_context *ctx, const proximity_job *job)
{
    size_t alone = 0, leaf_count;
    int32_t *leaves = NULL, first = -1;
    rbl_status status = RBL_OK;
    bool *touched = rbli_calloc(ctx, rbli_collection_size(job->in, "bone"), sizeof *touched);
    RBL_TRY_ALLOC(touched);
    RBL_TRY(rbli_rigid_leaves(ctx, job->in, NULL, &leaves, &leaf_count));
    for (size_t i = 0; i < job->count; i++)
        touched[job->touches[i].piece_a] = touched[job->touches[i].piece_b] = true;
    for (size_t i = 0; i < leaf_count; i++) {
        if (touched[leaves[i]]) continue;
        if (alone++ == 0) first = leaves[i];
    }
    if (leaf_count > 1 && alone > 0)
        rbli_note(ctx, "%zu piece%s no other (first: \"%s\")", alone, alone == 1 ? " touches" : "s touch",
            rbli_collection_string(job->in, "bone", "name", (size_t)first));
    if (job->hulls.flat_count)
        rbli_warn(ctx, "%zu piece%s flat and thickened for a hull", job->hulls.flat_count,
            job->hulls.flat_count == 1 ? " is" : "s are");
done:
    rbli_free(ctx, touched);
    rbli_free(ctx, leaves);
    return status;
}

static const double most_tolerance = 0.25; /* of the diagonal */

rbl_status rbli_proximity(
    rbl_context *ctx, const rbl_collection *in, const rbli_proximity_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    proximity_job job = {.in = in, .options = options};
    rbl_collection *copy = NULL;
    bool with_area = options->contact_area != RBLI_AREA_NONE;
    RBL_TRY(rbli_world_surface_build(ctx, in, &job.surface));
    job.tolerance = rbli_world_surface_tolerance(&job.surface, options->tolerance);
    double diagonal = rbli_world_surface_diagonal(&job.surface);
    if (diagonal > 0 && options->tolerance > most_tolerance * diagonal) {
        status = rbli_fail(ctx, RBL_ERR_ARGUMENT,
            "a tolerance of %g is more than a quarter of the whole, %g: everything would touch everything",
            options->tolerance, diagonal);
        goto done;
    }
    RBLI_PHASE(ctx, "find pairs", find_pairs(ctx, &job));
    RBL_TRY(filter(ctx, &job));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(write_proximity(ctx, copy, job.touches, job.count, with_area));
    if (options->connection_graph) RBL_TRY(write_connections(ctx, copy, job.touches, job.count, with_area));
    RBL_TRY(report(ctx, &job));
    *out = copy;
    copy = NULL;
done:
    job_free(ctx, &job);
    rbli_collection_release(copy);
    return status;
}
