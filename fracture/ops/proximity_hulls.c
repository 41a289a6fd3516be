/// Hulls near each other: boxes in a tree, then the distance of hulls (gjk.h).

#include "fracture/ops/proximity_hulls.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/gjk.h"
#include "fracture/geometry/hull_edit.h"
#include "fracture/geometry/radix_sort.h"
#include "fracture/ops/hull_group.h"

/* Pieces of few vertices are taken as they are; of more, the vertices of the hull alone. */
enum { FEW_VERTICES = 64, LEAF_GRAIN = 16, PAIR_GRAIN = 64, MEASURE_GRAIN = 64 };

/* ---- hulls of leaves ---- */

typedef struct hull_job {
    const rbl_collection *collection;
    const rbli_world_surface *surface;
    const int32_t *geometry, *vertex_start, *vertex_count;
    rbli_hull_rows rows;
    double (*world)[16];
    bool facets;
    bool *flat; /* [leaf count] */
    rbli_leaf_hulls *out;
} hull_job;

void rbli_leaf_hulls_free(rbl_context *ctx, rbli_leaf_hulls *h)
{
    size_t count = h->start && h->shape ? h->start[h->leaf_count] : 0;
    for (size_t i = 0; i < count; i++)
        rbli_hull_shape_free(ctx, &h->shape[i]);
    rbli_free(ctx, h->leaf);
    rbli_free(ctx, h->leaf_of);
    rbli_free(ctx, h->start);
    rbli_free(ctx, h->shape);
    rbli_free(ctx, h->boxes);
    *h = (rbli_leaf_hulls){0};
}

/// The hull of a leaf's own vertices.
static rbl_status hull_of_vertices(rbl_context *ctx, const hull_job *job, size_t leaf, size_t at)
{
    int32_t bone = job->out->leaf[leaf], g = job->geometry[bone];
    const double(*points)[3] = (const double(*)[3])job->surface->positions + job->vertex_start[g];
    size_t count = (size_t)job->vertex_count[g];
    rbli_hull hull = {0};
    if (!job->facets && count <= FEW_VERTICES && count > 0) {
        job->out->shape[at] = (rbli_hull_shape){.points = points, .point_count = count};
        return RBL_OK;
    }
    rbli_hull_options options = rbli_hull_default_options();
    options.max_vertices = INT32_MAX;
    rbl_status status = rbli_convex_hull(ctx, points, count, &options, &hull);
    if (status == RBL_OK) {
        job->flat[leaf] = hull.thickened;
        status = rbli_hull_shape_create(ctx, &hull, job->facets, &job->out->shape[at]);
        rbli_hull_free(ctx, &hull);
    }
    if (status == RBL_OK || status == RBL_ERR_NO_MEMORY || status == RBL_ERR_CANCELLED) return status;
    return rbli_fail(ctx, RBL_ERR_MESH, "no convex hull of piece \"%s\"",
        rbli_collection_string(job->collection, "bone", "name", (size_t)bone));
}

/// A hull that the collection has, in world space.
static rbl_status hull_of_row(rbl_context *ctx, const hull_job *job, int32_t row, size_t bone, size_t at)
{
    rbli_hull own = rbli_hull_get(job->collection, (size_t)row), hull;
    rbl_status status = rbli_hull_copy(ctx, &own, job->world[bone], &hull);
    if (status != RBL_OK) return status;
    status = rbli_hull_shape_create(ctx, &hull, job->facets, &job->out->shape[at]);
    rbli_hull_free(ctx, &hull);
    return status;
}

static void find_box(const rbli_hull_shape *shape, double box[2][3])
{
    for (int k = 0; k < 3; k++) {
        box[0][k] = HUGE_VAL;
        box[1][k] = -HUGE_VAL;
        for (size_t i = 0; i < shape->point_count; i++) {
            box[0][k] = fmin(box[0][k], shape->points[i][k]);
            box[1][k] = fmax(box[1][k], shape->points[i][k]);
        }
    }
}

static rbl_status make_hulls(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const hull_job *job = user;
    rbli_leaf_hulls *h = job->out;
    (void)block;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        size_t bone = (size_t)h->leaf[i], row = job->rows.start[bone];
        rbl_status status = RBL_OK;
        if (row == job->rows.start[bone + 1]) status = hull_of_vertices(ctx, job, i, h->start[i]);
        for (size_t n = 0; row + n < job->rows.start[bone + 1] && status == RBL_OK; n++)
            status = hull_of_row(ctx, job, job->rows.row[row + n], bone, h->start[i] + n);
        if (status != RBL_OK) return status;
        for (size_t n = h->start[i]; n < h->start[i + 1]; n++)
            find_box(&h->shape[n], h->boxes[n]);
    }
    return RBL_OK;
}

/// Leaves, and how many hulls each has.
static rbl_status count_hulls(rbl_context *ctx, const hull_job *job, rbli_leaf_hulls *h)
{
    rbl_status status = RBL_OK;
    size_t bone_count = rbli_collection_size(job->collection, "bone");
    RBL_TRY(rbli_rigid_leaves(ctx, job->collection, NULL, &h->leaf, &h->leaf_count));
    RBL_TRY_ALLOC(h->leaf_of = rbli_alloc(ctx, bone_count, sizeof *h->leaf_of));
    RBL_TRY_ALLOC(h->start = rbli_calloc(ctx, h->leaf_count + 1, sizeof *h->start));
    memset(h->leaf_of, 0xff, bone_count * sizeof *h->leaf_of);
    for (size_t i = 0; i < h->leaf_count; i++) {
        int32_t bone = h->leaf[i];
        size_t own = job->rows.start[bone + 1] - job->rows.start[bone];
        h->leaf_of[bone] = (int32_t)i;
        h->start[i + 1] = h->start[i] + (own ? own : 1);
    }
    RBL_TRY_ALLOC(h->boxes = rbli_alloc(ctx, h->start[h->leaf_count], sizeof *h->boxes));
    RBL_TRY_ALLOC(h->shape = rbli_calloc(ctx, h->start[h->leaf_count], sizeof *h->shape));
done:
    return status;
}

rbl_status rbli_leaf_hulls_build(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, bool facets, rbli_leaf_hulls *out)
{
    rbl_status status = RBL_OK;
    rbli_leaf_hulls made = {0};
    hull_job job = {.collection = collection,
        .surface = surface,
        .geometry = rbli_collection_read(collection, "bone", "geometry", RBL_INT32),
        .vertex_start = rbli_collection_read(collection, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(collection, "geometry", "vertex_count", RBL_INT32),
        .facets = facets,
        .out = &made};
    RBL_TRY(rbli_hull_rows_build(ctx, collection, &job.rows));
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, collection, &job.world));
    RBL_TRY(count_hulls(ctx, &job, &made));
    RBL_TRY_ALLOC(job.flat = rbli_calloc(ctx, made.leaf_count, sizeof *job.flat));
    RBL_TRY(rbli_parallel_for(ctx, made.leaf_count, LEAF_GRAIN, make_hulls, &job));
    for (size_t i = 0; i < made.leaf_count; i++)
        made.flat_count += job.flat[i];
    *out = made;
    made = (rbli_leaf_hulls){0};
done:
    rbli_hull_rows_free(ctx, &job.rows);
    rbli_free(ctx, job.world);
    rbli_free(ctx, job.flat);
    rbli_leaf_hulls_free(ctx, &made);
    return status;
}

/* ---- pairs that are near ---- */

typedef struct near_search {
    const rbli_leaf_hulls *hulls;
    const int32_t *leaf_of_hull;
    const rbli_box_tree *tree;
    const int32_t *items;
    double distance;
    rbli_pair_array *blocks;
} near_search;

typedef struct near_block {
    const near_search *search;
    rbl_context *ctx;
    rbli_pair_array *found;
    size_t visits;
    rbl_status status;
} near_block;

static void visit_hulls(void *user, int32_t first, int32_t second)
{
    near_block *b = user;
    const near_search *s = b->search;
    if (b->status != RBL_OK) return;
    if (++b->visits % 512 == 0 && rbli_cancelled(b->ctx)) b->status = RBL_ERR_CANCELLED;
    int32_t i = s->items[first], j = s->items[second];
    int32_t p = s->leaf_of_hull[i], q = s->leaf_of_hull[j];
    if (p == q) return;
    const rbli_hull_shape *a = &s->hulls->shape[p < q ? i : j], *c = &s->hulls->shape[p < q ? j : i];
    rbli_hull_gap gap =
        rbli_hull_distance(a->points, a->point_count, c->points, c->point_count, s->distance, s->distance);
    if (gap.distance > s->distance) return;
    int32_t low = s->hulls->leaf[p < q ? p : q], high = s->hulls->leaf[p < q ? q : p];
    rbli_keyed pair = {(uint64_t)low << 32 | (uint32_t)high, 0};
    b->status = rbli_array_push(b->ctx, b->found, pair);
}

static rbl_status search_near(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const near_search *s = user;
    near_block b = {.search = s, .ctx = ctx, .found = &s->blocks[block]};
    (void)worker;
    rbli_box_tree_pairs(s->tree, begin, end, visit_hulls, &b);
    return b.status;
}

static rbl_status build_tree(rbl_context *ctx, const rbli_leaf_hulls *h, double distance, rbli_box_tree **out)
{
    size_t count = h->start[h->leaf_count];
    double(*boxes)[2][3] = rbli_alloc(ctx, count, sizeof *boxes);
    if (!boxes) return RBL_ERR_NO_MEMORY;
    double pad = distance / 2 * (1 + 1e-12); /* so that rounding loses none */
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = h->boxes[i][0][k] - pad;
            boxes[i][1][k] = h->boxes[i][1][k] + pad;
        }
    rbl_status status = rbli_box_tree_create(ctx, (const double(*)[2][3])boxes, count, out);
    rbli_free(ctx, boxes);
    return status;
}

rbl_status rbli_near_hulls(
    rbl_context *ctx, const rbli_leaf_hulls *hulls, double distance, rbli_touch **out, size_t *count)
{
    rbl_status status = RBL_OK;
    rbli_box_tree *tree = NULL;
    int32_t *leaf_of_hull = NULL;
    size_t hull_count = hulls->start[hulls->leaf_count], block_count = 0;
    near_search s = {.hulls = hulls, .distance = distance};
    RBL_TRY_ALLOC(leaf_of_hull = rbli_alloc(ctx, hull_count, sizeof *leaf_of_hull));
    for (size_t i = 0; i < hulls->leaf_count; i++)
        for (size_t n = hulls->start[i]; n < hulls->start[i + 1]; n++)
            leaf_of_hull[n] = (int32_t)i;
    s.leaf_of_hull = leaf_of_hull;
    if (hull_count > 1) {
        RBL_TRY(build_tree(ctx, hulls, distance, &tree));
        s.tree = tree;
        s.items = rbli_box_tree_items(tree);
        size_t blocks = rbli_box_tree_block_count(tree);
        block_count = (blocks + PAIR_GRAIN - 1) / PAIR_GRAIN;
        RBL_TRY_ALLOC(s.blocks = rbli_calloc(ctx, block_count, sizeof *s.blocks));
        RBL_TRY(rbli_parallel_for(ctx, blocks, PAIR_GRAIN, search_near, &s));
    }
    RBL_TRY(rbli_collect_pairs(ctx, s.blocks, block_count, out, count));
done:
    for (size_t i = 0; s.blocks && i < block_count; i++)
        rbli_free(ctx, s.blocks[i].data);
    rbli_free(ctx, s.blocks);
    rbli_free(ctx, leaf_of_hull);
    rbli_box_tree_destroy(ctx, tree);
    return status;
}

/* ---- what they have in common ---- */

typedef struct measure_job {
    const rbli_leaf_hulls *hulls;
    const rbli_touch *touches;
    double bridge, depth;
    rbli_hull_contact *out;
} measure_job;

static double gap_of(const rbli_hull_shape *a, const rbli_hull_shape *b)
{
    return rbli_hull_distance(a->points, a->point_count, b->points, b->point_count, 0, HUGE_VAL).distance;
}

static rbl_status measure_pair(rbl_context *ctx, const measure_job *job, const rbli_touch *touch,
    rbli_hull_contact_scratch *scratch, rbli_hull_contact *out)
{
    const rbli_leaf_hulls *h = job->hulls;
    size_t a = (size_t)h->leaf_of[touch->piece_a], b = (size_t)h->leaf_of[touch->piece_b];
    size_t a_begin = h->start[a], a_end = h->start[a + 1], b_begin = h->start[b], b_end = h->start[b + 1];
    bool several = a_end - a_begin > 1 || b_end - b_begin > 1;
    double least = HUGE_VAL;
    rbli_hull_contact sum = {.width = -1};
    for (size_t i = a_begin; several && i < a_end; i++)
        for (size_t j = b_begin; j < b_end; j++)
            least = fmin(least, gap_of(&h->shape[i], &h->shape[j]));
    double most = fmax(least, job->bridge) + job->depth;
    for (size_t i = a_begin; i < a_end; i++)
        for (size_t j = b_begin; j < b_end; j++) {
            rbli_hull_contact one;
            if (several && gap_of(&h->shape[i], &h->shape[j]) > most) continue;
            rbl_status status = rbli_hull_contact_measure(
                ctx, &h->shape[i], &h->shape[j], job->bridge, job->depth, scratch, &one);
            if (status != RBL_OK) return status;
            sum.area += one.area;
            sum.most_area += one.most_area;
            sum.most_width = fmax(sum.most_width, one.most_width);
            if (one.width <= sum.width) continue;
            sum.width = one.width;
            memcpy(sum.normal, one.normal, sizeof sum.normal);
        }
    *out = sum;
    return RBL_OK;
}

static rbl_status measure_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const measure_job *job = user;
    rbli_hull_contact_scratch scratch = {0};
    rbl_status status = RBL_OK;
    (void)block;
    (void)worker;
    for (size_t i = begin; i < end && status == RBL_OK; i++)
        status = measure_pair(ctx, job, &job->touches[i], &scratch, &job->out[i]);
    rbli_hull_contact_scratch_free(ctx, &scratch);
    return status;
}

rbl_status rbli_measure_hull_contacts(rbl_context *ctx, const rbli_leaf_hulls *hulls,
    const rbli_touch *touches, size_t count, double bridge, double depth, rbli_hull_contact *out)
{
    measure_job job = {hulls, touches, bridge, depth, out};
    return rbli_parallel_for(ctx, count, MEASURE_GRAIN, measure_block, &job);
}
