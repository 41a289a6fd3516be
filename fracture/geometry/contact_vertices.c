/// Pieces that share vertices: equal positions by their numbers, near ones by a tree of boxes.

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/contact.h"
#include "fracture/geometry/radix_sort.h"

enum { POLL = 4096 };

/// Owners of positions: those of position i are piece[start[i]] … piece[start[i + 1] − 1], ascending, each
/// once.
typedef struct owners {
    size_t *start; /* [count + 1] */
    int32_t *piece;
    double (*position)[3];
    size_t count;
} owners;

typedef RBLI_ARRAY(rbli_keyed) keyed_array;

static void owners_free(rbl_context *ctx, owners *o)
{
    rbli_free(ctx, o->start);
    rbli_free(ctx, o->piece);
    rbli_free(ctx, o->position);
}

/// Sorts and keeps one of each key.
static rbl_status sort_unique(rbl_context *ctx, keyed_array *keys)
{
    size_t kept = 0;
    rbli_keyed *scratch = rbli_alloc(ctx, keys->count, sizeof *scratch);
    if (!scratch) return RBL_ERR_NO_MEMORY;
    rbl_status status = rbli_radix_sort_polled(ctx, keys->data, scratch, keys->count);
    for (size_t i = 0; status == RBL_OK && i < keys->count; i++)
        if (i == 0 || keys->data[i].key != keys->data[i - 1].key) keys->data[kept++] = keys->data[i];
    keys->count = kept;
    rbli_free(ctx, scratch);
    return status;
}

/// One entry (position, piece) for each vertex and piece that use each other; twice is fine.
static rbl_status list_uses(
    rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece, const int32_t *ids, keyed_array *uses)
{
    rbl_status status = RBL_OK;
    int32_t *last = rbli_alloc(ctx, mesh->vertex_count, sizeof *last);
    RBL_TRY_ALLOC(last);
    memset(last, 0xff, mesh->vertex_count * sizeof *last);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        if (t % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (piece[t] < 0) continue;
        for (int k = 0; k < 3; k++) {
            int32_t v = mesh->triangles[t][k];
            if (last[v] == piece[t]) continue;
            last[v] = piece[t];
            rbli_keyed use = {(uint64_t)ids[v] << 32 | (uint32_t)piece[t], v};
            RBL_TRY(rbli_array_push(ctx, uses, use));
        }
    }
done:
    rbli_free(ctx, last);
    return status;
}

static rbl_status find_owners(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece, owners *out)
{
    rbl_status status = RBL_OK;
    keyed_array uses = {0};
    owners o = {0};
    int32_t *ids = NULL;
    size_t unique;
    RBL_TRY_ALLOC(ids = rbli_alloc(ctx, mesh->vertex_count, sizeof *ids));
    RBL_TRY(rbli_position_ids(ctx, mesh->positions, mesh->vertex_count, ids, &unique));
    RBL_TRY(list_uses(ctx, mesh, piece, ids, &uses));
    if (uses.count) RBL_TRY(sort_unique(ctx, &uses));
    RBL_TRY_ALLOC(o.start = rbli_alloc(ctx, uses.count + 1, sizeof *o.start));
    RBL_TRY_ALLOC(o.piece = rbli_alloc(ctx, uses.count, sizeof *o.piece));
    RBL_TRY_ALLOC(o.position = rbli_alloc(ctx, uses.count, sizeof *o.position));
    for (size_t i = 0; i < uses.count; i++) {
        if (i % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        o.piece[i] = (int32_t)(uint32_t)uses.data[i].key;
        if (i > 0 && uses.data[i].key >> 32 == uses.data[i - 1].key >> 32) continue;
        memcpy(o.position[o.count], mesh->positions[uses.data[i].index], sizeof *o.position);
        o.start[o.count++] = i;
    }
    o.start[o.count] = uses.count;
    *out = o;
    o = (owners){0};
done:
    owners_free(ctx, &o);
    rbli_free(ctx, uses.data);
    rbli_free(ctx, ids);
    return status;
}

typedef struct vertex_search {
    rbl_context *ctx;
    const owners *o;
    const int32_t *items; /* the tree's order */
    double square;        /* of the tolerance */
    keyed_array pairs;    /* a << 32 | b */
    size_t visits;
    rbl_status status;
} vertex_search;

static void push_pair(vertex_search *s, int32_t a, int32_t b)
{
    if (s->status != RBL_OK || a == b) return;
    rbli_keyed pair = {(uint64_t)(a < b ? a : b) << 32 | (uint32_t)(a < b ? b : a), 0};
    s->status = rbli_array_push(s->ctx, &s->pairs, pair);
}

static void visit_near(void *user, int32_t first, int32_t second)
{
    vertex_search *s = user;
    const owners *o = s->o;
    if (++s->visits % POLL == 0 && s->status == RBL_OK && rbli_cancelled(s->ctx))
        s->status = RBL_ERR_CANCELLED;
    if (s->status != RBL_OK) return;
    int32_t p = s->items[first], q = s->items[second];
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += (o->position[p][k] - o->position[q][k]) * (o->position[p][k] - o->position[q][k]);
    if (square > s->square) return;
    for (size_t i = o->start[p]; i < o->start[p + 1]; i++)
        for (size_t j = o->start[q]; j < o->start[q + 1]; j++)
            push_pair(s, o->piece[i], o->piece[j]);
}

/// Pairs of positions that differ by the tolerance at most.
static rbl_status pair_near(vertex_search *s, double tolerance)
{
    rbl_status status = RBL_OK;
    rbli_box_tree *tree = NULL;
    double(*boxes)[2][3] = rbli_alloc(s->ctx, s->o->count, sizeof *boxes);
    RBL_TRY_ALLOC(boxes);
    for (size_t i = 0; i < s->o->count; i++) {
        if (i % POLL == 0 && rbli_cancelled(s->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = s->o->position[i][k] - tolerance / 2;
            boxes[i][1][k] = s->o->position[i][k] + tolerance / 2;
        }
    }
    RBL_TRY(rbli_box_tree_create(s->ctx, (const double(*)[2][3])boxes, s->o->count, &tree));
    s->items = rbli_box_tree_items(tree);
    s->square = tolerance * tolerance;
    for (size_t block = 0, count = rbli_box_tree_block_count(tree); block < count; block += 1024) {
        if (rbli_cancelled(s->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        rbli_box_tree_pairs(tree, block, block + 1024 < count ? block + 1024 : count, visit_near, s);
        RBL_TRY(s->status);
    }
done:
    rbli_box_tree_destroy(s->ctx, tree);
    rbli_free(s->ctx, boxes);
    return status;
}

rbl_status rbli_find_shared_vertices(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece,
    double tolerance, rbli_touch **out, size_t *count)
{
    rbl_status status = RBL_OK;
    owners o = {0};
    vertex_search s = {.ctx = ctx, .o = &o};
    rbli_touch *touches = NULL;
    RBL_TRY(find_owners(ctx, mesh, piece, &o));
    for (size_t i = 0; i < o.count; i++) {
        if (i % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (size_t j = o.start[i]; j < o.start[i + 1]; j++)
            for (size_t k = j + 1; k < o.start[i + 1]; k++)
                push_pair(&s, o.piece[j], o.piece[k]);
        RBL_TRY(s.status);
    }
    if (tolerance > 0 && o.count > 1) RBL_TRY(pair_near(&s, tolerance));
    if (s.pairs.count) RBL_TRY(sort_unique(ctx, &s.pairs));
    RBL_TRY_ALLOC(touches = rbli_alloc(ctx, s.pairs.count, sizeof *touches));
    for (size_t i = 0; i < s.pairs.count; i++)
        touches[i] =
            (rbli_touch){(int32_t)(s.pairs.data[i].key >> 32), (int32_t)(uint32_t)s.pairs.data[i].key, 0, 0};
    *out = touches;
    *count = s.pairs.count;
done:
    owners_free(ctx, &o);
    rbli_free(ctx, s.pairs.data);
    return status;
}
