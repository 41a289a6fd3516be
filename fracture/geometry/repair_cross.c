/// Triangles that cross, exactly. Every shell is thought shrunk by an infinitesimal ε against its vertex
/// normals, so that faces that only touch come apart, and an overlap with coplanar faces is still an overlap.

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fracture/base/threads.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/lanes.h"
#include "fracture/geometry/repair_internal.h"

enum {
    BLOCKS_A_TASK = 512,
    BLOCKS_A_POLL = 64, /* between looks at the request to cancel */
};

typedef RBLI_ARRAY(uint64_t) key_list;

typedef struct slot_pair {
    int32_t a, b;
} slot_pair;
typedef RBLI_ARRAY(slot_pair) pair_list;

/// What a test reads of a triangle.
typedef struct cross_slot {
    int32_t v[3], shell, triangle;
} cross_slot;

/// The slots of a block of the tree side by side.
typedef struct cross_block {
    rbli_int4 v[3], shell, triangle;
} cross_block;

typedef struct crosser {
    repair *r;
    const int32_t *unit;
    rbli_box_tree *tree;
    cross_block
        *blocks;      /* in the order of the tree; lanes beyond the end are never hit, nor are clear blocks */
    int32_t *move_of; /* [3 · triangles] row of `moves` of a corner; made when a pair needs it */
    int64_t (*moves)[3];      /* one a vertex and shell */
    key_list *found;          /* [tasks] low shell << 32 | high shell, repeated */
    pair_list *undecided;     /* [tasks] pairs that meet in a special position */
    _Atomic(uint64_t) *known; /* [known_mask + 1] some of the keys found of two shells, by hash; 0: none */
    size_t known_mask;
    repair_crossings *out;
} crosser;

typedef struct cross_task {
    const crosser *c;
    rbl_context *ctx;
    key_list *found;
    pair_list *undecided;
    rbl_status status;
} cross_task;

static bool is_searched(const repair_shell *shell)
{
    return shell->closed && shell->orientable;
}

/* Pairs of shells that are known to cross: what else they have in common need not be looked at. A key that is not
 * found there is only found again. */

static rbl_status make_known(crosser *c)
{
    enum { A_SHELL = 16, MOST = 1 << 18 };
    size_t size = 64, count = c->r->shells.count;
    while (size < A_SHELL * count && size < MOST)
        size *= 2;
    c->known = rbli_calloc(c->r->ctx, size, sizeof *c->known);
    c->known_mask = size - 1;
    return c->known ? RBL_OK : RBL_ERR_NO_MEMORY;
}

static _Atomic(uint64_t) *known_slot(const crosser *c, uint64_t key)
{
    return &c->known[key * 0x9E3779B97F4A7C15ull >> 40 & c->known_mask];
}

static bool is_known(const crosser *c, uint64_t key)
{
    return atomic_load_explicit(known_slot(c, key), memory_order_relaxed) == key;
}

/* Moves */

/// Adds the triangle's unit normal, in steps of 2^-20, to its corners' moves; whole numbers, so that order is
/// nothing.
static void add_normal(crosser *c, int32_t t, double outward)
{
    const repair *r = c->r;
    const int32_t *v = r->triangles.data[t].v;
    double u[3], w[3], n[3], length = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = r->grid[v[1]][k] - r->grid[v[0]][k];
        w[k] = r->grid[v[2]][k] - r->grid[v[0]][k];
    }
    for (int k = 0; k < 3; k++) {
        n[k] = u[(k + 1) % 3] * w[(k + 2) % 3] - u[(k + 2) % 3] * w[(k + 1) % 3];
        length += n[k] * n[k];
    }
    if (!(length > 0)) return;
    length = sqrt(length);
    for (int corner = 0; corner < 3; corner++)
        for (int k = 0; k < 3; k++)
            c->moves[c->move_of[3 * t + corner]][k] -= (int64_t)rint(outward * n[k] / length * 0x1p20);
}

/// A little to each side, so that symmetric meshes are not in special position still; the same in every run.
static void add_noise(int64_t move[3], int32_t v, int32_t s)
{
    uint64_t bits = ((uint64_t)(uint32_t)v << 32 | (uint32_t)s) + 1;
    for (int k = 0; k < 3; k++) {
        bits = (bits ^ bits >> 31) * 0x9E3779B97F4A7C15ull; /* Fibonacci hashing, mixed */
        bits = (bits ^ bits >> 29) * 0xBF58476D1CE4E5B9ull;
        move[k] += (int64_t)(bits >> 52) - 2048;
    }
}

static rbl_status find_moves(crosser *c)
{
    rbl_status status = RBL_OK;
    repair *r = c->r;
    int32_t *stamp = NULL, *row = NULL, rows = 0;
    RBL_TRY_ALLOC(c->move_of = rbli_alloc(r->ctx, 3 * r->triangles.count, sizeof *c->move_of));
    RBL_TRY_ALLOC(stamp = rbli_alloc(r->ctx, r->positions.count, sizeof *stamp));
    RBL_TRY_ALLOC(row = rbli_alloc(r->ctx, r->positions.count, sizeof *row));
    memset(stamp, 0xff, r->positions.count * sizeof *stamp);
    for (int32_t s = 0; s < (int32_t)r->shells.count; s++) {
        const repair_shell *shell = &r->shells.data[s];
        for (size_t i = 0; i < shell->count && is_searched(shell); i++) {
            RBL_TRY(rbli_poll(r->ctx, i));
            for (int32_t h = 3 * r->members[shell->start + i], end = h + 3; h < end; h++) {
                int32_t v = half_tail(r, h);
                if (stamp[v] != s) row[v] = rows++;
                stamp[v] = s;
                c->move_of[h] = row[v];
            }
        }
    }
    RBL_TRY_ALLOC(c->moves = rbli_calloc(r->ctx, (size_t)rows, sizeof *c->moves));
    for (int32_t s = 0; s < (int32_t)r->shells.count; s++) {
        const repair_shell *shell = &r->shells.data[s];
        for (size_t i = 0; i < shell->count && is_searched(shell); i++) {
            RBL_TRY(rbli_poll(r->ctx, i));
            for (int32_t h = 3 * r->members[shell->start + i], end = h + 3; h < end; h++) {
                int64_t *move = c->moves[c->move_of[h]];
                if (move[0] == 0 && move[1] == 0 && move[2] == 0) add_noise(move, half_tail(r, h), s);
            }
        }
        for (size_t i = 0; i < shell->count && is_searched(shell); i++) {
            RBL_TRY(rbli_poll(r->ctx, i));
            add_normal(c, r->members[shell->start + i], shell->volume < 0 ? -1 : 1);
        }
    }
done:
    rbli_free(r->ctx, stamp);
    rbli_free(r->ctx, row);
    return status;
}

/* Two triangles */

typedef struct corner_set {
    const double *points[3];
    const int64_t *moves[3]; /* NULL: as they are */
} corner_set;

enum { APART, CROSSING, SPECIAL };

static corner_set corners_of(const crosser *c, const cross_slot *slot)
{
    corner_set set = {0};
    for (int k = 0; k < 3; k++) {
        set.points[k] = c->r->grid[slot->v[k]];
        if (c->moves) set.moves[k] = c->moves[c->move_of[3 * slot->triangle + k]];
    }
    return set;
}

static int plane_side(const corner_set *a, const corner_set *b, int k)
{
    if (!a->moves[0]) return rbli_grid_orient3d(a->points[0], a->points[1], a->points[2], b->points[k]);
    const double *points[4] = {a->points[0], a->points[1], a->points[2], b->points[k]};
    const int64_t *moves[4] = {a->moves[0], a->moves[1], a->moves[2], b->moves[k]};
    return rbli_grid_orient3d_moved(points, moves);
}

/// How edge i of a passes edge k of b.
static int edge_side(const corner_set *a, int i, const corner_set *b, int k)
{
    int j = (i + 1) % 3, l = (k + 1) % 3;
    if (!a->moves[0]) return rbli_grid_orient3d(a->points[i], a->points[j], b->points[k], b->points[l]);
    const double *points[4] = {a->points[i], a->points[j], b->points[k], b->points[l]};
    const int64_t *moves[4] = {a->moves[i], a->moves[j], b->moves[k], b->moves[l]};
    return rbli_grid_orient3d_moved(points, moves);
}

/// Whether b's corners lie on both sides of a's plane.
static int straddle(const corner_set *a, const corner_set *b, int sides[3])
{
    for (int k = 0; k < 3; k++)
        sides[k] = plane_side(a, b, k);
    if (sides[0] && sides[0] == sides[1] && sides[1] == sides[2]) return APART;
    return sides[0] && sides[1] && sides[2] ? CROSSING : SPECIAL;
}

/// Whether an edge of b whose ends are on two sides of a's plane goes through a.
static int pierce(const corner_set *a, const corner_set *b, const int sides[3])
{
    int result = APART;
    for (int k = 0; k < 3; k++) {
        if (sides[k] == sides[(k + 1) % 3]) continue;
        int turns[3];
        for (int i = 0; i < 3; i++)
            turns[i] = edge_side(a, i, b, k);
        if (turns[0] && turns[0] == turns[1] && turns[1] == turns[2]) return CROSSING;
        bool positive = turns[0] > 0 || turns[1] > 0 || turns[2] > 0;
        bool negative = turns[0] < 0 || turns[1] < 0 || turns[2] < 0;
        if (!(positive && negative)) result = SPECIAL;
    }
    return result;
}

/// True when b's corners are certainly on one side of a's plane: the filter of rbli_grid_orient3d for all
/// three at once, with one normal.
static bool is_clearly_apart(const double *const a[3], const double *const b[3])
{
    double u[3], v[3], n[3], permanent[3];
    for (int k = 0; k < 3; k++) {
        u[k] = a[1][k] - a[0][k];
        v[k] = a[2][k] - a[0][k];
    }
    for (int k = 0; k < 3; k++) {
        int i = k == 2 ? 0 : k + 1, j = k == 0 ? 2 : k - 1;
        double left = u[i] * v[j], right = u[j] * v[i];
        n[k] = left - right;
        permanent[k] = 1e-15 * (fabs(left) + fabs(right));
    }
    int above = 0, below = 0;
    for (int c = 0; c < 3; c++) {
        double x = b[c][0] - a[0][0], y = b[c][1] - a[0][1], z = b[c][2] - a[0][2];
        double side = n[0] * x + n[1] * y + n[2] * z;
        double bound = permanent[0] * fabs(x) + permanent[1] * fabs(y) + permanent[2] * fabs(z);
        above += side > bound;
        below += side < -bound;
    }
    return above == 3 || below == 3;
}

static int compare_triangles(const corner_set *a, const corner_set *b)
{
    int sides_b[3], sides_a[3];
    if (!a->moves[0] && (is_clearly_apart(a->points, b->points) || is_clearly_apart(b->points, a->points)))
        return APART;
    int first = straddle(a, b, sides_b);
    if (first == APART) return APART;
    int second = straddle(b, a, sides_a);
    if (second == APART) return APART;
    if (first == SPECIAL || second == SPECIAL) return SPECIAL;
    first = pierce(a, b, sides_b);
    if (first == CROSSING) return CROSSING;
    second = pierce(b, a, sides_a);
    return second == CROSSING ? CROSSING : first == SPECIAL || second == SPECIAL ? SPECIAL : APART;
}

/// True when a corner of b lies on a: one shell that touches itself there.
static bool touches(const corner_set *a, const corner_set *b)
{
    const double *const *p = a->points;
    for (int k = 0; k < 3; k++)
        if (rbli_grid_orient3d(p[0], p[1], p[2], b->points[k]) == 0 &&
            rbli_grid_in_triangle(p[0], p[1], p[2], b->points[k]))
            return true;
    return false;
}

static cross_slot slot_at(const crosser *c, int32_t slot)
{
    const cross_block *block = &c->blocks[(size_t)slot / RBLI_BOX_TREE_FAN];
    size_t lane = (size_t)slot % RBLI_BOX_TREE_FAN;
    return (cross_slot){
        {block->v[0][lane], block->v[1][lane], block->v[2][lane]}, block->shell[lane], block->triangle[lane]};
}

/// Bit j is set when slot i of one block need not be compared with slot j of the other: they are of the same shell and
/// share a vertex (neighbours are no crossing), or all of one shell are left out.
static inline unsigned find_exempt(const cross_block *one, int i, const cross_block *two, bool same_shell)
{
    rbli_int4 shared = (rbli_int4){0} - (int32_t)same_shell;
    for (int k = 0; k < 3; k++) {
        int32_t v = one->v[k][i];
        shared |= (two->v[0] == v) | (two->v[1] == v) | (two->v[2] == v);
    }
    shared &= two->shell == one->shell[i];
    return rbli_lane_bits(shared);
}

static uint64_t key_of_pair(const cross_slot *a, const cross_slot *b)
{
    uint32_t low = (uint32_t)(a->shell < b->shell ? a->shell : b->shell);
    uint32_t high = (uint32_t)(a->shell < b->shell ? b->shell : a->shell);
    return (uint64_t)low << 32 | high;
}

/// Notes the least triangle that crosses its own shell; the same whoever comes first.
static void note_first(const crosser *c, const cross_slot *a, const cross_slot *b)
{
    if (a->shell != b->shell) return;
    int32_t least = a->triangle < b->triangle ? a->triangle : b->triangle;
    _Atomic(int32_t) *first = &c->out->first[a->shell];
    int32_t known = atomic_load(first);
    while (least < known && !atomic_compare_exchange_weak(first, &known, least)) {
    }
}

/// Notes that two triangles cross.
static rbl_status note_crossing(
    rbl_context *ctx, const crosser *c, const cross_slot *a, const cross_slot *b, key_list *found)
{
    uint64_t key = key_of_pair(a, b);
    note_first(c, a, b);
    if (a->shell != b->shell) atomic_store_explicit(known_slot(c, key), key, memory_order_relaxed);
    return rbli_array_push(ctx, found, key);
}

static __attribute__((noinline)) void test_pair(cross_task *task, int32_t i, int32_t j)
{
    const crosser *c = task->c;
    cross_slot one = slot_at(c, i), two = slot_at(c, j), *a = &one, *b = &two;
    if (a->shell != b->shell && (c->unit[a->shell] != c->unit[b->shell] || is_known(c, key_of_pair(a, b))))
        return;
    corner_set first = corners_of(c, a), second = corners_of(c, b);
    int result = compare_triangles(&first, &second);
    if (result == APART || task->status != RBL_OK) return;
    if (result == CROSSING) {
        task->status = note_crossing(task->ctx, c, a, b, task->found);
    } else {
        task->status = rbli_array_push(task->ctx, task->undecided, ((slot_pair){i, j}));
    }
}

static void test_blocks(void *user, size_t one, size_t two, unsigned hits)
{
    enum { FAN = RBLI_BOX_TREE_FAN };
    cross_task *task = user;
    const cross_block *first = &task->c->blocks[one], *second = &task->c->blocks[two];
    bool exempt = !task->c->r->options.self_crossings;
    while (hits) {
        int i = __builtin_ctz(hits) / FAN;
        unsigned row = ((1u << FAN) - 1) << (FAN * i), found = (hits & row) >> (FAN * i);
        hits &= ~row;
        for (found &= ~find_exempt(first, i, second, exempt); found; found &= found - 1)
            test_pair(task, (int32_t)(one * FAN) + i, (int32_t)(two * FAN) + __builtin_ctz(found));
    }
}

static rbl_status run_task(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const crosser *c = user;
    (void)worker;
    cross_task task = {c, ctx, &c->found[block], &c->undecided[block], RBL_OK};
    for (size_t at = begin, next; at < end && task.status == RBL_OK; at = next) {
        if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        next = end - at < BLOCKS_A_POLL ? end : at + BLOCKS_A_POLL;
        rbli_box_tree_pair_blocks(c->tree, at, next, test_blocks, &task);
    }
    return task.status;
}

/// Decides what is left with the shells shrunk.
static rbl_status run_special(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const crosser *c = user;
    (void)begin;
    (void)end;
    (void)worker;
    for (size_t n = 0; n < c->undecided[block].count; n++) {
        if (rbli_poll(ctx, n) != RBL_OK) return RBL_ERR_CANCELLED;
        cross_slot one = slot_at(c, c->undecided[block].data[n].a), *a = &one;
        cross_slot two = slot_at(c, c->undecided[block].data[n].b), *b = &two;
        if (a->shell != b->shell && is_known(c, key_of_pair(a, b))) continue;
        corner_set first = corners_of(c, a), second = corners_of(c, b);
        if (compare_triangles(&first, &second) != CROSSING) continue;
        if (a->shell == b->shell && (touches(&first, &second) || touches(&second, &first))) continue;
        if (note_crossing(ctx, c, a, b, &c->found[block]) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    return RBL_OK;
}

/* All of them */

static void bounds_of_grid(const repair *r, double min[3], double max[3])
{
    for (int k = 0; k < 3; k++)
        min[k] = max[k] = r->positions.count ? r->grid[0][k] : 0;
    for (size_t v = 1; v < r->positions.count; v++)
        for (int k = 0; k < 3; k++) {
            min[k] = r->grid[v][k] < min[k] ? r->grid[v][k] : min[k];
            max[k] = r->grid[v][k] > max[k] ? r->grid[v][k] : max[k];
        }
}

static void box_of_corners(
    const double p[3], const double q[3], const double o[3], double min[3], double max[3])
{
    for (int k = 0; k < 3; k++) {
        double low = p[k] < q[k] ? p[k] : q[k], high = p[k] < q[k] ? q[k] : p[k];
        min[k] = o[k] < low ? o[k] : low;
        max[k] = o[k] > high ? o[k] : high;
    }
}

enum { AHEAD = 12 }; /* slots from here whose memory is asked for early */

static void put_in_block(crosser *c, size_t slot, int32_t triangle)
{
    cross_block *block = &c->blocks[slot / RBLI_BOX_TREE_FAN];
    size_t lane = slot % RBLI_BOX_TREE_FAN;
    for (int k = 0; k < 3; k++)
        block->v[k][lane] = c->r->triangles.data[triangle].v[k];
    block->shell[lane] = c->r->shell_of[triangle];
    block->triangle[lane] = triangle;
}

/// Fills the blocks but for clear ones; the last triangle to the end of its block.
static rbl_status fill_blocks(crosser *c, const int32_t *triangles, size_t count, const uint8_t *clear)
{
    const repair *r = c->r;
    const int32_t *items = rbli_box_tree_items(c->tree);
    size_t slots = rbli_box_tree_block_count(c->tree) * RBLI_BOX_TREE_FAN;
    for (size_t slot = 0; slot < slots; slot++) {
        if (rbli_poll(r->ctx, slot) != RBL_OK) return RBL_ERR_CANCELLED;
        if (clear[slot / RBLI_BOX_TREE_FAN]) continue;
        if (slot + 2 * AHEAD < count) __builtin_prefetch(&triangles[items[slot + 2 * AHEAD]]);
        if (slot + AHEAD < count) {
            int32_t later = triangles[items[slot + AHEAD]];
            __builtin_prefetch(&r->triangles.data[later]);
            __builtin_prefetch(&r->shell_of[later]);
        }
        put_in_block(c, slot, triangles[items[slot < count ? slot : count - 1]]);
    }
    return RBL_OK;
}

/// Puts the searched triangles into the tree and the blocks; those that certainly cross nothing only into the tree.
static rbl_status build_tree(crosser *c)
{
    rbl_status status = RBL_OK;
    repair *r = c->r;
    double min[3], max[3];
    int32_t *triangles = NULL;
    uint8_t *facing = NULL, *clear = NULL;
    size_t count = 0;
    RBL_TRY_ALLOC(triangles = rbli_alloc(r->ctx, r->triangles.count, sizeof *triangles));
    for (int32_t i = 0; i < (int32_t)r->triangles.count; i++) {
        RBL_TRY(rbli_poll(r->ctx, (size_t)i));
        if (is_searched(&r->shells.data[r->shell_of[i]])) triangles[count++] = i;
    }
    bounds_of_grid(r, min, max);
    RBL_TRY(rbli_box_tree_begin(r->ctx, min, max, count, &c->tree));
    RBL_TRY(rbli_box_tree_keep_boxes(r->ctx, c->tree));
    RBL_TRY_ALLOC(facing = rbli_alloc(r->ctx, count, 1));
    for (size_t i = 0; i < count; i++) {
        RBL_TRY(rbli_poll(r->ctx, i));
        const int32_t *v = r->triangles.data[triangles[i]].v;
        const double *corners[3] = {r->grid[v[0]], r->grid[v[1]], r->grid[v[2]]};
        box_of_corners(corners[0], corners[1], corners[2], min, max);
        rbli_box_tree_put(c->tree, i, min, max);
        facing[i] = repair_facing(corners[0], corners[1], corners[2]);
    }
    RBL_TRY(rbli_box_tree_end(r->ctx, c->tree, NULL, NULL));
    size_t blocks = rbli_box_tree_block_count(c->tree);
    RBL_TRY_ALLOC(clear = rbli_calloc(r->ctx, blocks, 1));
    RBL_TRY(repair_sift_blocks(&(repair_sift){r, c->tree, triangles, facing, clear}));
    for (size_t block = 0; block < blocks; block++)
        if (clear[block]) rbli_box_tree_drop_block(c->tree, block);
    RBL_TRY_ALLOC(c->blocks = rbli_alloc(r->ctx, blocks, sizeof *c->blocks));
    RBL_TRY(fill_blocks(c, triangles, count, clear));
done:
    rbli_free(r->ctx, triangles);
    rbli_free(r->ctx, facing);
    rbli_free(r->ctx, clear);
    return status;
}

static int compare_u64(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static rbl_status collect(crosser *c, size_t task_count, repair_crossings *out)
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < task_count; i++)
        for (size_t j = 0; j < c->found[i].count; j++) {
            RBL_TRY(rbli_poll(c->r->ctx, j));
            uint64_t key = c->found[i].data[j];
            if (key >> 32 == (key & UINT32_MAX)) {
                out->self_count[key >> 32]++;
            } else {
                RBL_TRY(rbli_array_push(c->r->ctx, &out->pairs, key));
            }
        }
    if (out->pairs.count == 0) goto done;
    if (out->pairs.count) qsort(out->pairs.data, out->pairs.count, sizeof(uint64_t), compare_u64);
    size_t kept = 1;
    for (size_t i = 1; i < out->pairs.count; i++)
        if (out->pairs.data[i] != out->pairs.data[kept - 1]) out->pairs.data[kept++] = out->pairs.data[i];
    out->pairs.count = kept;
done:
    return status;
}

rbl_status repair_find_crossings(repair *r, const int32_t *unit, repair_crossings *out)
{
    rbl_status status = RBL_OK;
    crosser c = {.r = r, .unit = unit, .out = out};
    size_t blocks = 0, task_count = 0, searched = 0;
    *out = (repair_crossings){0};
    RBL_TRY_ALLOC(out->first = rbli_alloc(r->ctx, r->shells.count, sizeof *out->first));
    RBL_TRY_ALLOC(out->self_count = rbli_calloc(r->ctx, r->shells.count, sizeof *out->self_count));
    for (size_t s = 0; s < r->shells.count; s++) {
        atomic_init(&out->first[s], INT32_MAX);
        searched += is_searched(&r->shells.data[s]);
    }
    if (searched < (r->options.self_crossings ? 1 : 2)) goto done;
    RBL_TRY(make_known(&c));
    RBL_TRY(build_tree(&c));
    blocks = rbli_box_tree_block_count(c.tree);
    task_count = (blocks + BLOCKS_A_TASK - 1) / BLOCKS_A_TASK;
    RBL_TRY_ALLOC(c.found = rbli_calloc(r->ctx, task_count, sizeof *c.found));
    RBL_TRY_ALLOC(c.undecided = rbli_calloc(r->ctx, task_count, sizeof *c.undecided));
    RBL_TRY(rbli_parallel_for(r->ctx, blocks, BLOCKS_A_TASK, run_task, &c));
    bool special = false;
    for (size_t i = 0; i < task_count; i++)
        special |= c.undecided[i].count > 0;
    if (special) {
        RBL_TRY(find_moves(&c));
        RBL_TRY(rbli_parallel_for(r->ctx, task_count, 1, run_special, &c));
    }
    RBL_TRY(collect(&c, task_count, out));
done:
    for (size_t i = 0; i < task_count; i++) {
        if (c.found) rbli_free(r->ctx, c.found[i].data);
        if (c.undecided) rbli_free(r->ctx, c.undecided[i].data);
    }
    rbli_free(r->ctx, c.found);
    rbli_free(r->ctx, c.undecided);
    rbli_free(r->ctx, c.blocks);
    rbli_free(r->ctx, c.move_of);
    rbli_free(r->ctx, c.moves);
    rbli_free(r->ctx, (void *)c.known);
    rbli_box_tree_destroy(r->ctx, c.tree);
    if (status != RBL_OK) repair_crossings_free(r->ctx, out);
    return status;
}

void repair_crossings_free(rbl_context *ctx, repair_crossings *crossings)
{
    rbli_free(ctx, crossings->self_count);
    rbli_free(ctx, (void *)crossings->first);
    rbli_free(ctx, crossings->pairs.data);
    *crossings = (repair_crossings){0};
}

bool repair_shells_cross(const repair_crossings *crossings, int32_t a, int32_t b)
{
    uint64_t key = (uint64_t)(uint32_t)(a < b ? a : b) << 32 | (uint32_t)(a < b ? b : a);
    return crossings->pairs.count > 0 &&
           bsearch(&key, crossings->pairs.data, crossings->pairs.count, sizeof key, compare_u64) != NULL;
}
