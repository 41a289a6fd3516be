/// Trees of boxes over triangles of the mesh, in Morton order.

#include "fracture/geometry/cut_internal.h"

static uint32_t spread_bits(uint32_t x)
{
    x &= 0x3ff;
    x = (x | x << 16) & 0x030000ff;
    x = (x | x << 8) & 0x0300f00f;
    x = (x | x << 4) & 0x030c30c3;
    return (x | x << 2) & 0x09249249;
}

typedef struct keyed_triangle {
    uint32_t key;
    int32_t triangle;
} keyed_triangle;

/// Widens a box, low then high, to hold a triangle.
static inline void widen_box(const cut_state *state, int32_t triangle, double box[6])
{
    const int32_t *v = state->mesh_view->triangles[triangle];
    for (int corner = 0; corner < 3; corner++)
        for (int axis = 0; axis < 3; axis++) {
            box[axis] = cut_min(state->points[v[corner]][axis], box[axis]);
            box[axis + 3] = cut_max(state->points[v[corner]][axis], box[axis + 3]);
        }
}

/// Far outside of the grid, finite so that it can be rounded.
static const double EMPTY_BOX[6] = {0x1p99, 0x1p99, 0x1p99, -0x1p99, -0x1p99, -0x1p99};

/// Rounds outward: a float has 24 bits.
static void round_box(const double box[6], float out[6])
{
    for (int axis = 0; axis < 3; axis++) {
        out[axis] = (float)(box[axis] - fabs(box[axis]) * 0x1p-23);
        out[axis + 3] = (float)(box[axis + 3] + fabs(box[axis + 3]) * 0x1p-23);
    }
}

typedef struct tree_job {
    const cut_state *state;
    const int32_t *list; /* triangles, or NULL for all */
    keyed_triangle *keyed;
    double scale;
    cut_tree *tree;
} tree_job;

static rbl_status key_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const tree_job *job = user;
    const cut_state *state = job->state;
    for (size_t i = begin; i < end; i++) {
        int32_t t = job->list ? job->list[i] : (int32_t)i;
        const int32_t *v = state->mesh_view->triangles[t];
        uint32_t key = 0;
        for (int axis = 0; axis < 3; axis++) {
            double middle =
                (state->points[v[0]][axis] + state->points[v[1]][axis] + state->points[v[2]][axis]) / 3;
            double cell = (middle - state->mesh.low[axis]) * job->scale;
            uint32_t bits = cell > 0 ? (cell < 1023 ? (uint32_t)cell : 1023) : 0;
            key |= spread_bits(bits) << axis;
        }
        job->keyed[i] = (keyed_triangle){key, t};
    }
    return RBL_OK;
}

/// Stable, three passes of ten bits: the result is in `spare`.
static void radix_sort(keyed_triangle *keyed, keyed_triangle *spare, size_t count)
{
    size_t start[3][1025] = {{0}};
    for (size_t i = 0; i < count; i++)
        for (int digit = 0; digit < 3; digit++)
            start[digit][(keyed[i].key >> 10 * digit & 1023) + 1]++;
    for (int digit = 0; digit < 3; digit++) {
        for (int i = 0; i < 1024; i++)
            start[digit][i + 1] += start[digit][i];
        for (size_t i = 0; i < count; i++)
            spare[start[digit][keyed[i].key >> 10 * digit & 1023]++] = keyed[i];
        keyed_triangle *swap = keyed;
        keyed = spare;
        spare = swap;
    }
}

static rbl_status leaf_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const tree_job *job = user;
    cut_tree *tree = job->tree;
    for (size_t leaf = begin; leaf < end; leaf++) {
        double box[6];
        memcpy(box, EMPTY_BOX, sizeof box);
        for (size_t i = leaf * CUT_LEAF_TRIANGLES; i < (leaf + 1) * CUT_LEAF_TRIANGLES && i < tree->count;
             i++)
            widen_box(job->state, tree->order[i], box);
        round_box(box, tree->boxes[tree->leaf_count + leaf]);
    }
    return RBL_OK;
}

rbl_status cut_tree_build(
    rbl_context *ctx, const cut_state *state, const int32_t *list, size_t count, cut_tree *tree)
{
    rbl_status status = RBL_OK;
    const double *low = state->mesh.low, *high = state->mesh.high;
    double size = fmax(fmax(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    tree_job job = {state, list, NULL, size > 0 ? 1024 / size : 0, tree};
    RBL_TRY_ALLOC(job.keyed = rbli_alloc(ctx, 2 * count, sizeof *job.keyed));
    RBL_TRY_ALLOC(tree->order = rbli_alloc(ctx, count, sizeof *tree->order));
    RBL_TRY(rbli_parallel_for(ctx, count, 16384, key_block, &job));
    radix_sort(job.keyed, job.keyed + count, count);
    for (size_t i = 0; i < count; i++)
        tree->order[i] = job.keyed[count + i].triangle;
    size_t leaves = (count + CUT_LEAF_TRIANGLES - 1) / CUT_LEAF_TRIANGLES, rounded = 1;
    while (rounded < leaves)
        rounded *= 2;
    tree->count = count;
    tree->leaf_count = rounded;
    RBL_TRY_ALLOC(tree->boxes = rbli_alloc(ctx, 2 * rounded, sizeof *tree->boxes));
    RBL_TRY(rbli_parallel_for(ctx, rounded, 2048, leaf_block, &job));
    for (size_t node = rounded - 1; node > 0; node--) {
        const float *a = tree->boxes[2 * node], *b = tree->boxes[2 * node + 1];
        float *out = tree->boxes[node];
        for (int axis = 0; axis < 3; axis++) {
            out[axis] = a[axis] < b[axis] ? a[axis] : b[axis];
            out[axis + 3] = a[axis + 3] > b[axis + 3] ? a[axis + 3] : b[axis + 3];
        }
    }
done:
    rbli_free(ctx, job.keyed);
    return status;
}

void cut_tree_free(rbl_context *ctx, cut_tree *tree)
{
    rbli_free(ctx, tree->order);
    rbli_free(ctx, tree->boxes);
}

rbl_status cut_tree_visit(rbl_context *ctx, const cut_state *state, const cut_tree *tree, const float box[6],
    cut_visit_fn visit, void *user)
{
    size_t stack[64];
    int depth = 0;
    stack[depth++] = 1;
    while (depth > 0) {
        size_t node = stack[--depth];
        const float *b = tree->boxes[node];
        if (b[0] > box[3] || b[3] < box[0] || b[1] > box[4] || b[4] < box[1] || b[2] > box[5] ||
            b[5] < box[2])
            continue;
        if (node < tree->leaf_count) {
            stack[depth++] = 2 * node + 1;
            stack[depth++] = 2 * node;
            continue;
        }
        size_t first = (node - tree->leaf_count) * CUT_LEAF_TRIANGLES;
        for (size_t i = first; i < first + CUT_LEAF_TRIANGLES && i < tree->count; i++) {
            double exact[6];
            float one[6];
            memcpy(exact, EMPTY_BOX, sizeof exact);
            widen_box(state, tree->order[i], exact);
            round_box(exact, one);
            if (one[0] > box[3] || one[3] < box[0] || one[1] > box[4] || one[4] < box[1] || one[2] > box[5] ||
                one[5] < box[2])
                continue;
            rbl_status status = visit(ctx, tree->order[i], user);
            if (status != RBL_OK) return status;
        }
    }
    return RBL_OK;
}
