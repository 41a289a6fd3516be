/// Vertices of pieces in other pieces: boxes in a tree, then the surface within reach and the winding number.

#include "fracture/ops/inside_pairs.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/radix_sort.h"
#include "fracture/geometry/winding.h"

enum { GRAIN = 4, FEW_TRIANGLES = 32 };

typedef struct inside_job {
    const rbli_world_surface *surface;
    double tolerance;
    const int32_t *vertex_start, *vertex_count, *face_start, *face_count, *geometry;
    int32_t *leaves;
    size_t leaf_count;
    double (*boxes)[2][3]; /* [leaf_count] */
    rbli_box_tree *tree;
    rbli_pair_array *blocks;
} inside_job;

/// One piece that others may reach into.
typedef struct solid {
    const inside_job *job;
    rbl_context *ctx;
    size_t leaf;
    int32_t (*triangles)[3]; /* of its own vertices */
    rbli_mesh_view mesh;
    rbli_winding *winding;
    rbli_box_tree *tree;        /* of many triangles, else NULL */
    RBLI_ARRAY(int32_t) others; /* leaves whose boxes meet */
    double square;              /* nearest found to a point */
    const double *point;
    rbl_status status;
} solid;

/* ---- a point and a surface ---- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double clamp01(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/// Square of the distance to a triangle: to its plane over its inside, else to its sides.
static double triangle_square(const double p[3], const double a[3], const double b[3], const double c[3])
{
    const double *corners[3] = {a, b, c};
    double e[3], f[3], to[3], n[3], best = HUGE_VAL;
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        e[k] = b[k] - a[k];
        f[k] = c[k] - a[k];
        to[k] = p[k] - a[k];
    }
    for (int k = 0; k < 3; k++)
        n[k] = e[(k + 1) % 3] * f[(k + 2) % 3] - e[(k + 2) % 3] * f[(k + 1) % 3];
    for (int i = 0; i < 3; i++) {
        double side[3], from[3], off[3], across[3];
        for (int k = 0; k < 3; k++) {
            side[k] = corners[(i + 1) % 3][k] - corners[i][k];
            from[k] = p[k] - corners[i][k];
        }
        double length = dot(side, side), s = length > 0 ? clamp01(dot(side, from) / length) : 0;
        for (int k = 0; k < 3; k++) {
            off[k] = from[k] - s * side[k];
            across[k] = n[(k + 1) % 3] * side[(k + 2) % 3] - n[(k + 2) % 3] * side[(k + 1) % 3];
        }
        inside = inside && dot(across, from) >= 0;
        best = fmin(best, dot(off, off));
    }
    double height = dot(n, to), square = dot(n, n);
    return inside && square > 0 ? fmin(best, height * height / square) : best;
}

static bool visit_triangle(void *user, int32_t t)
{
    solid *s = user;
    const int32_t *v = s->mesh.triangles[t];
    const double(*p)[3] = s->mesh.positions;
    s->square = fmin(s->square, triangle_square(s->point, p[v[0]], p[v[1]], p[v[2]]));
    return s->square > s->job->tolerance * s->job->tolerance;
}

static bool holds(solid *s, const double p[3])
{
    double low[3], high[3], tolerance = s->job->tolerance;
    s->point = p;
    s->square = HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        low[k] = p[k] - tolerance;
        high[k] = p[k] + tolerance;
    }
    if (s->tree) {
        rbli_box_tree_query(s->tree, low, high, visit_triangle, s);
    } else {
        for (size_t t = 0; t < s->mesh.triangle_count; t++)
            if (!visit_triangle(s, (int32_t)t)) break;
    }
    if (s->square <= tolerance * tolerance) return true;
    return rbli_winding_number(s->winding, p, NULL) != 0;
}

/* ---- one piece and its surroundings ---- */

static bool visit_other(void *user, int32_t leaf)
{
    solid *s = user;
    if ((size_t)leaf == s->leaf) return true;
    s->status = rbli_array_push(s->ctx, &s->others, leaf);
    return s->status == RBL_OK;
}

static rbl_status build_surface_tree(rbl_context *ctx, const rbli_mesh_view *mesh, rbli_box_tree **out)
{
    double(*boxes)[2][3] = rbli_alloc(ctx, mesh->triangle_count, sizeof *boxes);
    if (!boxes) return RBL_ERR_NO_MEMORY;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            double a = mesh->positions[mesh->triangles[t][0]][k],
                   b = mesh->positions[mesh->triangles[t][1]][k],
                   c = mesh->positions[mesh->triangles[t][2]][k];
            boxes[t][0][k] = fmin(a, fmin(b, c));
            boxes[t][1][k] = fmax(a, fmax(b, c));
        }
    rbl_status status = rbli_box_tree_create(ctx, (const double(*)[2][3])boxes, mesh->triangle_count, out);
    rbli_free(ctx, boxes);
    return status;
}

static rbl_status open_solid(rbl_context *ctx, const inside_job *job, size_t leaf, solid *s)
{
    rbl_status status = RBL_OK;
    int32_t g = job->geometry[job->leaves[leaf]], first = job->vertex_start[g];
    size_t count = (size_t)job->face_count[g];
    RBL_TRY_ALLOC(s->triangles = rbli_alloc(ctx, count, sizeof *s->triangles));
    for (size_t f = 0; f < count; f++)
        for (int k = 0; k < 3; k++)
            s->triangles[f][k] = job->surface->triangles[(size_t)job->face_start[g] + f][k] - first;
    s->mesh = (rbli_mesh_view){(const double(*)[3])job->surface->positions + first,
        (size_t)job->vertex_count[g], (const int32_t(*)[3])s->triangles, count};
    RBL_TRY(rbli_winding_create(ctx, &s->mesh, &s->winding));
    if (count > FEW_TRIANGLES) RBL_TRY(build_surface_tree(ctx, &s->mesh, &s->tree));
done:
    return status;
}

/// Whether a vertex of leaf `other` lies in the solid.
static bool reaches_in(solid *s, int32_t other)
{
    const inside_job *job = s->job;
    const double(*box)[3] = (const double(*)[3])job->boxes[s->leaf];
    int32_t g = job->geometry[job->leaves[other]], first = job->vertex_start[g];
    for (int32_t v = first; v < first + job->vertex_count[g]; v++) {
        const double *p = job->surface->positions[v];
        bool out = false;
        if ((v - first) % 256 == 255 && rbli_cancelled(s->ctx)) s->status = RBL_ERR_CANCELLED;
        if (s->status != RBL_OK) return false;
        for (int k = 0; k < 3; k++)
            out = out || p[k] < box[0][k] || p[k] > box[1][k];
        if (!out && holds(s, p)) return true;
    }
    return false;
}

static rbl_status search_leaf(rbl_context *ctx, const inside_job *job, size_t leaf, rbli_pair_array *found)
{
    solid s = {.job = job, .ctx = ctx, .leaf = leaf};
    rbli_box_tree_query(job->tree, job->boxes[leaf][0], job->boxes[leaf][1], visit_other, &s);
    if (s.status == RBL_OK && s.others.count) s.status = open_solid(ctx, job, leaf, &s);
    for (size_t i = 0; s.status == RBL_OK && i < s.others.count; i++) {
        if (!reaches_in(&s, s.others.data[i])) continue;
        int32_t a = job->leaves[leaf], b = job->leaves[s.others.data[i]];
        rbli_keyed pair = {(uint64_t)(a < b ? a : b) << 32 | (uint32_t)(a < b ? b : a), 0};
        s.status = rbli_array_push(ctx, found, pair);
    }
    rbli_free(ctx, s.triangles);
    rbli_winding_destroy(ctx, s.winding);
    rbli_box_tree_destroy(ctx, s.tree);
    rbli_free(ctx, s.others.data);
    return s.status;
}

static rbl_status search_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const inside_job *job = user;
    (void)worker;
    rbl_status status = RBL_OK;
    for (size_t i = begin; i < end && status == RBL_OK; i++)
        status = search_leaf(ctx, job, i, &job->blocks[block]);
    return status;
}

/// Boxes of the leaves' vertices, grown by the tolerance.
static rbl_status find_boxes(rbl_context *ctx, inside_job *job)
{
    job->boxes = rbli_alloc(ctx, job->leaf_count, sizeof *job->boxes);
    if (!job->boxes) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < job->leaf_count; i++) {
        int32_t g = job->geometry[job->leaves[i]], first = job->vertex_start[g];
        if (i % 512 == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        for (int k = 0; k < 3; k++) {
            double low = HUGE_VAL, high = -HUGE_VAL;
            for (int32_t v = first; v < first + job->vertex_count[g]; v++) {
                low = fmin(low, job->surface->positions[v][k]);
                high = fmax(high, job->surface->positions[v][k]);
            }
            job->boxes[i][0][k] = (low <= high ? low : 0) - job->tolerance;
            job->boxes[i][1][k] = (low <= high ? high : 0) + job->tolerance;
        }
    }
    return RBL_OK;
}

rbl_status rbli_inside_pairs(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, double tolerance, rbli_touch **out, size_t *count)
{
    rbl_status status = RBL_OK;
    size_t block_count = 0;
    inside_job job = {.surface = surface,
        .tolerance = tolerance,
        .vertex_start = rbli_collection_read(collection, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(collection, "geometry", "vertex_count", RBL_INT32),
        .face_start = rbli_collection_read(collection, "geometry", "face_start", RBL_INT32),
        .face_count = rbli_collection_read(collection, "geometry", "face_count", RBL_INT32),
        .geometry = rbli_collection_read(collection, "bone", "geometry", RBL_INT32)};
    RBL_TRY(rbli_rigid_leaves(ctx, collection, NULL, &job.leaves, &job.leaf_count));
    RBL_TRY(find_boxes(ctx, &job));
    RBL_TRY(rbli_box_tree_create(ctx, (const double(*)[2][3])job.boxes, job.leaf_count, &job.tree));
    block_count = (job.leaf_count + GRAIN - 1) / GRAIN;
    RBL_TRY_ALLOC(job.blocks = rbli_calloc(ctx, block_count, sizeof *job.blocks));
    RBL_TRY(rbli_parallel_for(ctx, job.leaf_count, GRAIN, search_block, &job));
    RBL_TRY(rbli_collect_pairs(ctx, job.blocks, block_count, out, count));
done:
    for (size_t i = 0; job.blocks && i < block_count; i++)
        rbli_free(ctx, job.blocks[i].data);
    rbli_free(ctx, job.blocks);
    rbli_box_tree_destroy(ctx, job.tree);
    rbli_free(ctx, job.boxes);
    rbli_free(ctx, job.leaves);
    return status;
}
