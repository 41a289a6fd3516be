/// Contacts of pieces: opposite triangles by a hash of their positions, the rest by a tree of boxes and
/// clipping.

#include "fracture/geometry/contact.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/base/hash.h"
#include "fracture/base/threads.h"

/* ---- equal positions, opposite triangles ---- */

static size_t table_size(size_t count)
{
    size_t size = 16;
    while (size < 2 * count)
        size *= 2;
    return size;
}

rbl_status rbli_position_ids(
    rbl_context *ctx, const double (*positions)[3], size_t count, int32_t *ids, size_t *unique_count)
{
    rbl_status status = RBL_OK;
    size_t mask = table_size(count) - 1, unique = 0;
    int32_t *table = NULL;
    RBL_TRY_ALLOC(table = rbli_alloc(ctx, mask + 1, sizeof *table));
    memset(table, 0xff, (mask + 1) * sizeof *table);
    for (size_t i = 0; i < count; i++) {
        if (i % 4096 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        double p[3] = {positions[i][0] + 0.0, positions[i][1] + 0.0, positions[i][2] + 0.0};
        size_t slot = rbli_hash64(p, sizeof p) & mask;
        for (; table[slot] >= 0; slot = (slot + 1) & mask) {
            const double *q = positions[table[slot]];
            if (q[0] == p[0] && q[1] == p[1] && q[2] == p[2]) break;
        }
        if (table[slot] < 0) {
            table[slot] = (int32_t)i;
            ids[i] = (int32_t)unique++;
        } else {
            ids[i] = ids[table[slot]];
        }
    }
    *unique_count = unique;
done:
    rbli_free(ctx, table);
    return status;
}

/// The least id first, keeping the direction; false when two are equal.
static bool canonical(const int32_t triangle[3], const int32_t *ids, int32_t out[3])
{
    int32_t v[3] = {ids[triangle[0]], ids[triangle[1]], ids[triangle[2]]};
    int first = v[0] < v[1] && v[0] < v[2] ? 0 : v[1] < v[2] ? 1 : 2;
    for (int k = 0; k < 3; k++)
        out[k] = v[(first + k) % 3];
    return v[0] != v[1] && v[1] != v[2] && v[0] != v[2];
}

rbl_status rbli_match_opposite(rbl_context *ctx, const int32_t (*triangles)[3], size_t triangle_count,
    const int32_t *ids, const int32_t *piece, int32_t *opposite)
{
    rbl_status status = RBL_OK;
    size_t mask = table_size(triangle_count) - 1;
    int32_t *table = NULL;
    RBL_TRY_ALLOC(table = rbli_alloc(ctx, mask + 1, sizeof *table));
    memset(table, 0xff, (mask + 1) * sizeof *table);
    for (size_t t = 0; t < triangle_count; t++) {
        if (t % 4096 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        int32_t v[3];
        opposite[t] = -1;
        if (piece[t] < 0 || !canonical(triangles[t], ids, v)) continue;
        /* Both directions share a hash: look for one that waits the other way round, else wait. */
        int32_t key[3] = {v[0], v[1] < v[2] ? v[1] : v[2], v[1] < v[2] ? v[2] : v[1]};
        size_t slot = rbli_hash64(key, sizeof key) & mask;
        for (; table[slot] >= 0; slot = (slot + 1) & mask) {
            int32_t w[3], other = table[slot];
            if (opposite[other] >= 0 || piece[other] == piece[t]) continue;
            canonical(triangles[other], ids, w);
            if (w[0] == v[0] && w[1] == v[2] && w[2] == v[1]) break;
        }
        if (table[slot] >= 0) {
            opposite[t] = table[slot];
            opposite[table[slot]] = (int32_t)t;
        } else {
            table[slot] = (int32_t)t;
        }
    }
done:
    rbli_free(ctx, table);
    return status;
}

/* ---- a tree of boxes over the triangles that are left ---- */

enum { LEAF_SIZE = 4 };

typedef struct box {
    double low[3], high[3];
} box;

/// A complete binary tree over triangles in Morton order: node i has children 2i + 1 and 2i + 2; the last
/// `leaf_count` nodes are leaves of LEAF_SIZE triangles, in order.
typedef struct box_levels {
    int32_t *order; /* [count] triangles in Morton order */
    size_t count;
    size_t leaf_count; /* a power of two */
    box *nodes;        /* [2 · leaf_count − 1] */
} box_levels;

typedef struct morton_key {
    uint64_t code;
    int32_t triangle;
} morton_key;

static int compare_morton(const void *a, const void *b)
{
    const morton_key *p = a, *q = b;
    if (p->code != q->code) return p->code < q->code ? -1 : 1;
    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

static uint64_t spread_bits(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

static void box_empty(box *b)
{
    for (int k = 0; k < 3; k++)
        b->low[k] = HUGE_VAL, b->high[k] = -HUGE_VAL;
}

static void box_add(box *b, const double p[3])
{
    for (int k = 0; k < 3; k++) {
        b->low[k] = p[k] < b->low[k] ? p[k] : b->low[k];
        b->high[k] = p[k] > b->high[k] ? p[k] : b->high[k];
    }
}

static bool boxes_meet(const box *a, const box *b, double tolerance)
{
    for (int k = 0; k < 3; k++)
        if (a->low[k] > b->high[k] + tolerance || b->low[k] > a->high[k] + tolerance) return false;
    return true;
}

static box triangle_box(const rbli_mesh_view *mesh, int32_t triangle)
{
    box b;
    box_empty(&b);
    for (int k = 0; k < 3; k++)
        box_add(&b, mesh->positions[mesh->triangles[triangle][k]]);
    return b;
}

static rbl_status build_tree(
    rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *left, size_t count, box_levels *tree)
{
    rbl_status status = RBL_OK;
    morton_key *keys = NULL;
    box whole;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, count, sizeof *keys));
    box_empty(&whole);
    for (size_t i = 0; i < count; i++) {
        if (i % 4096 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        box b = triangle_box(mesh, left[i]);
        box_add(&whole, b.low);
        box_add(&whole, b.high);
    }
    for (size_t i = 0; i < count; i++) {
        if (i % 4096 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        box b = triangle_box(mesh, left[i]);
        keys[i] = (morton_key){0, left[i]};
        for (int k = 0; k < 3; k++) {
            double extent = whole.high[k] - whole.low[k];
            double at = extent > 0 ? ((b.low[k] + b.high[k]) / 2 - whole.low[k]) / extent : 0;
            keys[i].code |= spread_bits((uint64_t)(at * 0x1fffff)) << k;
        }
    }
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    qsort(keys, count, sizeof *keys, compare_morton);
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    tree->count = count;
    tree->leaf_count = 1;
    while (tree->leaf_count * LEAF_SIZE < count)
        tree->leaf_count *= 2;
    RBL_TRY_ALLOC(tree->order = rbli_alloc(ctx, count, sizeof *tree->order));
    RBL_TRY_ALLOC(tree->nodes = rbli_alloc(ctx, 2 * tree->leaf_count - 1, sizeof *tree->nodes));
    for (size_t i = 0; i < count; i++)
        tree->order[i] = keys[i].triangle;
    for (size_t n = 2 * tree->leaf_count - 1; n-- > 0;) {
        if (n % 4096 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        box *b = &tree->nodes[n];
        box_empty(b);
        if (n >= tree->leaf_count - 1) {
            size_t begin = (n - (tree->leaf_count - 1)) * LEAF_SIZE;
            for (size_t i = begin; i < begin + LEAF_SIZE && i < count; i++) {
                box t = triangle_box(mesh, tree->order[i]);
                box_add(b, t.low);
                box_add(b, t.high);
            }
            continue;
        }
        for (size_t c = 2 * n + 1; c <= 2 * n + 2; c++) {
            if (tree->nodes[c].low[0] > tree->nodes[c].high[0]) continue;
            box_add(b, tree->nodes[c].low);
            box_add(b, tree->nodes[c].high);
        }
    }
done:
    rbli_free(ctx, keys);
    return status;
}

/* ---- overlap of two triangles ---- */

typedef struct overlap {
    int32_t a, b;
    bool matched;
    double area;
    box bounds;
} overlap;

static bool unit_normal(const rbli_mesh_view *mesh, int32_t triangle, double out[3], double *area)
{
    const int32_t *t = mesh->triangles[triangle];
    const double *p = mesh->positions[t[0]], *q = mesh->positions[t[1]], *r = mesh->positions[t[2]];
    double u[3], v[3], length = 0;
    for (int k = 0; k < 3; k++)
        u[k] = q[k] - p[k], v[k] = r[k] - p[k];
    for (int k = 0; k < 3; k++) {
        out[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        length += out[k] * out[k];
    }
    length = sqrt(length);
    *area = length / 2;
    for (int k = 0; k < 3; k++)
        out[k] /= length;
    return length > 0;
}

/// Keeps what lies on the side n · x ≤ offset of a polygon of up to 9 vertices; @return the new count.
static int clip(double (*polygon)[3], int count, const double n[3], double offset)
{
    double out[10][3];
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const double *p = polygon[i], *q = polygon[(i + 1) % count];
        double dp = n[0] * p[0] + n[1] * p[1] + n[2] * p[2] - offset;
        double dq = n[0] * q[0] + n[1] * q[1] + n[2] * q[2] - offset;
        if (dp <= 0 && kept < 10) memcpy(out[kept++], p, sizeof out[0]);
        if (((dp < 0 && dq > 0) || (dp > 0 && dq < 0)) && kept < 10) {
            double s = dp / (dp - dq);
            for (int k = 0; k < 3; k++)
                out[kept][k] = p[k] + s * (q[k] - p[k]);
            kept++;
        }
    }
    memcpy(polygon, out, (size_t)kept * sizeof out[0]);
    return kept;
}

/// The part of triangle b within the prism over triangle a and within the tolerance of its plane, measured in
/// that plane.
static bool triangle_overlap(const rbli_mesh_view *mesh, int32_t a, int32_t b, double tolerance, overlap *out)
{
    double na[3], nb[3], area;
    if (!unit_normal(mesh, a, na, &area) || !unit_normal(mesh, b, nb, &area)) return false;
    if (na[0] * nb[0] + na[1] * nb[1] + na[2] * nb[2] > -0.5) return false;
    /* Everything relative to a's first corner: far from the origin nothing is lost. */
    const double *origin = mesh->positions[mesh->triangles[a][0]];
    double polygon[10][3], corner[3][3];
    int count = 3;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) {
            corner[c][k] = mesh->positions[mesh->triangles[a][c]][k] - origin[k];
            polygon[c][k] = mesh->positions[mesh->triangles[b][c]][k] - origin[k];
        }
    count = clip(polygon, count, na, tolerance);
    double down[3] = {-na[0], -na[1], -na[2]};
    if (count >= 3) count = clip(polygon, count, down, tolerance);
    for (int c = 0; c < 3 && count >= 3; c++) {
        const double *p = corner[c], *q = corner[(c + 1) % 3];
        double e[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]}, side[3];
        for (int k = 0; k < 3; k++)
            side[k] = e[(k + 1) % 3] * na[(k + 2) % 3] - e[(k + 2) % 3] * na[(k + 1) % 3];
        count = clip(polygon, count, side, side[0] * p[0] + side[1] * p[1] + side[2] * p[2]);
    }
    if (count < 3) return false;
    double sum = 0;
    for (int i = 1; i + 1 < count; i++) {
        double u[3], v[3];
        for (int k = 0; k < 3; k++)
            u[k] = polygon[i][k] - polygon[0][k], v[k] = polygon[i + 1][k] - polygon[0][k];
        for (int k = 0; k < 3; k++)
            sum -= na[k] * (u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]) / 2;
    }
    if (!(sum > 0)) return false;
    out->area = sum;
    box_empty(&out->bounds);
    for (int i = 0; i < count; i++) {
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = polygon[i][k] + origin[k];
        box_add(&out->bounds, p);
    }
    return true;
}

/* ---- all overlaps of the triangles that are left ---- */

typedef RBLI_ARRAY(overlap) overlap_array;

typedef struct search {
    const rbli_mesh_view *mesh;
    const int32_t *piece;
    double tolerance;
    const box_levels *tree;
    overlap_array *blocks;
} search;

enum { SEARCH_GRAIN = 1024 };

static rbl_status search_triangle(rbl_context *ctx, const search *s, int32_t a, overlap_array *found)
{
    const box_levels *tree = s->tree;
    box around = triangle_box(s->mesh, a);
    size_t stack[64], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        size_t n = stack[--depth];
        if (!boxes_meet(&tree->nodes[n], &around, s->tolerance)) continue;
        if (n < tree->leaf_count - 1) {
            stack[depth++] = 2 * n + 2;
            stack[depth++] = 2 * n + 1;
            continue;
        }
        size_t begin = (n - (tree->leaf_count - 1)) * LEAF_SIZE;
        for (size_t i = begin; i < begin + LEAF_SIZE && i < tree->count; i++) {
            int32_t b = tree->order[i];
            if (s->piece[b] <= s->piece[a]) continue;
            box other = triangle_box(s->mesh, b);
            if (!boxes_meet(&other, &around, s->tolerance)) continue;
            overlap o = {.a = s->piece[a], .b = s->piece[b]};
            if (!triangle_overlap(s->mesh, a, b, s->tolerance, &o)) continue;
            rbl_status status = rbli_array_push(ctx, found, o);
            if (status != RBL_OK) return status;
        }
    }
    return RBL_OK;
}

static rbl_status search_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)worker;
    const search *s = user;
    for (size_t i = begin; i < end; i++) {
        rbl_status status = search_triangle(ctx, s, s->tree->order[i], &s->blocks[block]);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

static rbl_status search_overlaps(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece,
    double tolerance, const int32_t *left, size_t left_count, overlap_array *found)
{
    rbl_status status = RBL_OK;
    box_levels tree = {0};
    size_t block_count = (left_count + SEARCH_GRAIN - 1) / SEARCH_GRAIN;
    search s = {mesh, piece, tolerance, &tree, NULL};
    if (left_count == 0) return RBL_OK;
    RBL_TRY_ALLOC(s.blocks = rbli_calloc(ctx, block_count, sizeof *s.blocks));
    RBL_TRY(build_tree(ctx, mesh, left, left_count, &tree));
    RBL_TRY(rbli_parallel_for(ctx, left_count, SEARCH_GRAIN, search_block, &s));
    for (size_t i = 0; i < block_count; i++) {
        if (s.blocks[i].count == 0) continue;
        RBL_TRY(rbli_array_reserve(ctx, found, s.blocks[i].count));
        memcpy(found->data + found->count, s.blocks[i].data, s.blocks[i].count * sizeof *found->data);
        found->count += s.blocks[i].count;
    }
done:
    for (size_t i = 0; s.blocks && i < block_count; i++)
        rbli_free(ctx, s.blocks[i].data);
    rbli_free(ctx, s.blocks);
    rbli_free(ctx, tree.order);
    rbli_free(ctx, tree.nodes);
    return status;
}

/* ---- pairs of pieces ---- */

static int compare_overlaps(const void *a, const void *b)
{
    const overlap *p = a, *q = b;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    if (p->matched != q->matched) return p->matched ? -1 : 1;
    return p->area < q->area ? -1 : p->area > q->area;
}

static rbl_status sum_pairs(
    rbl_context *ctx, overlap_array *all, double tolerance, rbli_touch **out, size_t *out_count)
{
    size_t pair_count = 0, kept = 0;
    if (all->count) qsort(all->data, all->count, sizeof *all->data, compare_overlaps);
    for (size_t i = 0; i < all->count; i++)
        pair_count += i == 0 || all->data[i].a != all->data[i - 1].a || all->data[i].b != all->data[i - 1].b;
    rbli_touch *pairs = rbli_alloc(ctx, pair_count, sizeof *pairs);
    if (!pairs) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0, end; i < all->count; i = end) {
        rbli_touch pair = {all->data[i].a, all->data[i].b, 0, 0};
        double rest = 0, diagonal = 0;
        box bounds;
        box_empty(&bounds);
        for (end = i;
             end < all->count && all->data[end].a == pair.piece_a && all->data[end].b == pair.piece_b;
             end++) {
            const overlap *o = &all->data[end];
            if (o->matched) {
                pair.matched_area += o->area;
            } else {
                rest += o->area;
                box_add(&bounds, o->bounds.low);
                box_add(&bounds, o->bounds.high);
            }
        }
        for (int k = 0; k < 3 && rest > 0; k++)
            diagonal += (bounds.high[k] - bounds.low[k]) * (bounds.high[k] - bounds.low[k]);
        bool wide = rest > 2 * tolerance * (sqrt(diagonal) + 2 * tolerance);
        pair.area = pair.matched_area + (wide ? rest : 0);
        if (pair.area > 0) pairs[kept++] = pair;
    }
    *out = pairs;
    *out_count = kept;
    return RBL_OK;
}

rbl_status rbli_find_contacts(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece,
    double tolerance, rbli_touch **out, size_t *count)
{
    rbl_status status = RBL_OK;
    int32_t *ids = NULL, *opposite = NULL, *left = NULL;
    overlap_array all = {0};
    size_t unique, left_count = 0;
    RBL_TRY_ALLOC(ids = rbli_alloc(ctx, mesh->vertex_count, sizeof *ids));
    RBL_TRY_ALLOC(opposite = rbli_alloc(ctx, mesh->triangle_count, sizeof *opposite));
    RBL_TRY_ALLOC(left = rbli_alloc(ctx, mesh->triangle_count, sizeof *left));
    RBL_TRY(rbli_position_ids(ctx, mesh->positions, mesh->vertex_count, ids, &unique));
    RBL_TRY(rbli_match_opposite(ctx, mesh->triangles, mesh->triangle_count, ids, piece, opposite));
    if (rbli_cancelled(ctx)) {
        status = RBL_ERR_CANCELLED;
        goto done;
    }
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        if (piece[t] < 0) continue;
        if (opposite[t] < 0) {
            left[left_count++] = (int32_t)t;
            continue;
        }
        int32_t other = piece[opposite[t]];
        overlap o = {.a = piece[t], .b = other, .matched = true};
        double normal[3];
        if (piece[t] > other || !unit_normal(mesh, (int32_t)t, normal, &o.area)) continue;
        RBL_TRY(rbli_array_push(ctx, &all, o));
    }
    RBL_TRY(search_overlaps(ctx, mesh, piece, tolerance, left, left_count, &all));
    RBL_TRY(sum_pairs(ctx, &all, tolerance, out, count));
done:
    rbli_free(ctx, ids);
    rbli_free(ctx, opposite);
    rbli_free(ctx, left);
    rbli_free(ctx, all.data);
    return status;
}
