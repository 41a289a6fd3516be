#include "fracture/geometry/cut_sift.h"

#include <math.h>

enum {
    SIFT_GRAIN = 4096,
    GROUP_FACETS = 16,
    AHEAD = 8, /* boxes that memory is asked for before they are read */
};

/// Facets make a group while the box around them is smaller than this times all their boxes. Complexes are mostly made in
/// an order in space; one that is not has groups of one facet.
static const float CLOSE_TOGETHER = 0.75f;

static void set_lane(cut_lanes *lanes, size_t lane, int axis, float low, float high)
{
    float middle = 0.5f * (low + high);
    lanes->low[axis][lane] = low;
    lanes->high[axis][lane] = high;
    lanes->middle[axis][lane] = middle;
    lanes->half[axis][lane] = high - middle;
}

/// Makes the lanes that are left over meet nothing.
static void free_lanes(cut_lanes *lanes)
{
    for (size_t i = lanes->count; i < CUT_LANES; i++)
        for (int axis = 0; axis < 3; axis++)
            set_lane(lanes, i, axis, 0x1p100f, -0x1p100f);
}

static cut_lanes take_lanes(const cut_tree *tree, size_t first, size_t count)
{
    cut_lanes lanes;
    lanes.first = first;
    lanes.count = count;
    for (size_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++)
            set_lane(&lanes, i, axis, tree->boxes[first + i][axis], tree->boxes[first + i][axis + 3]);
    free_lanes(&lanes);
    return lanes;
}

cut_lanes cut_lanes_below(const cut_tree *tree, size_t node, size_t last)
{
    size_t left = 0, levels;
    while (node << left < last)
        left++;
    levels = left == 4  ? 2
             : left > 3 ? 3
                        : left; /* of four, two and two: three and one would fill two lanes */
    return take_lanes(tree, node << levels, (size_t)1 << levels);
}

typedef float float_lanes __attribute__((vector_size(4 * CUT_LANES)));
typedef int32_t flag_lanes __attribute__((vector_size(4 * CUT_LANES)));

/// An entry of a list and the lanes that it meets, a bit each.
typedef struct lane_hits {
    int32_t index, bits;
} lane_hits;

/// Tests a list's boxes and slabs. @param hits  [count] what meets any lane @return how many do
static inline __attribute__((always_inline)) size_t test_list(
    const cut_k_box *boxes, const cut_lanes *lanes, const int32_t *list, size_t count, lane_hits *hits)
{
    float_lanes low[3], high[3], middle[3], half[3];
    memcpy(low, lanes->low, sizeof low);
    memcpy(high, lanes->high, sizeof high);
    memcpy(middle, lanes->middle, sizeof middle);
    memcpy(half, lanes->half, sizeof half);
    size_t hit_count = 0;
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(&boxes[list[i + AHEAD < count ? i + AHEAD : i]]);
        const cut_k_box *k = &boxes[list[i]];
        float_lanes height =
            k->normal[0] * middle[0] + k->normal[1] * middle[1] + k->normal[2] * middle[2] - k->middle;
        float_lanes reach = fabsf(k->normal[0]) * half[0] + fabsf(k->normal[1]) * half[1] +
                            fabsf(k->normal[2]) * half[2] + k->reach;
        /* Signs of differences: compilers split comparisons of long vectors badly. */
        flag_lanes apart = (flag_lanes)(reach - height) | (flag_lanes)(reach + height);
        for (int axis = 0; axis < 3; axis++)
            apart |= (flag_lanes)(k->high[axis] - low[axis]) | (flag_lanes)(high[axis] - k->low[axis]);
        rbli_int4 halves[2];
        memcpy(halves, &apart, sizeof halves);
        int bits = 255 ^ (int)(rbli_lane_bits(halves[0]) | rbli_lane_bits(halves[1]) << 4);
        hits[hit_count] = (lane_hits){list[i], bits};
        hit_count += bits != 0;
    }
    return hit_count;
}

static size_t test_list_anywhere(
    const cut_k_box *boxes, const cut_lanes *lanes, const int32_t *list, size_t count, lane_hits *hits)
{
    return test_list(boxes, lanes, list, count, hits);
}

#ifdef RBLI_AVX2
RBLI_AVX2 static size_t test_list_avx2(
    const cut_k_box *boxes, const cut_lanes *lanes, const int32_t *list, size_t count, lane_hits *hits)
{
    return test_list(boxes, lanes, list, count, hits);
}
#endif

rbl_status cut_sift(rbl_context *ctx, const cut_k_box *boxes, const cut_lanes *lanes, cut_index_list *stack,
    size_t list_start, size_t count, size_t met[CUT_LANES])
{
    rbl_status status = rbli_array_reserve(ctx, stack, (CUT_LANES + 2) * count + 1);
    if (status != RBL_OK) return status;
    const int32_t *list = stack->data + list_start;
    int32_t *first = stack->data + stack->count,
            *out[CUT_LANES]; /* `count` apart, until they are moved together */
    lane_hits *hits = (lane_hits *)(first + CUT_LANES * count);
    size_t hit_count;
#ifdef RBLI_AVX2
    if (rbli_has_avx2())
        hit_count = test_list_avx2(boxes, lanes, list, count, hits);
    else
#endif
        hit_count = test_list_anywhere(boxes, lanes, list, count, hits);
    for (size_t lane = 0; lane < CUT_LANES; lane++)
        out[lane] = first + lane * count;
    for (size_t i = 0; i < hit_count; i++)
        for (int lane = 0; lane < CUT_LANES; lane++) {
            *out[lane] = hits[i].index;
            out[lane] += hits[i].bits >> lane & 1;
        }
    for (size_t lane = 0; lane < CUT_LANES; lane++) {
        met[lane] = (size_t)(out[lane] - (first + lane * count));
        memmove(stack->data + stack->count, first + lane * count, met[lane] * sizeof *first);
        stack->count += met[lane];
    }
    return RBL_OK;
}

_Static_assert((int)CUT_LEAF_TRIANGLES == (int)CUT_LANES, "a leaf's triangles are sifted at once");
cut_lanes cut_lanes_of_triangles(const cut_state *state, const int32_t *triangles, size_t count)
{
    cut_lanes lanes;
    lanes.first = 0;
    lanes.count = count;
    for (size_t i = 0; i < count; i++) {
        const int32_t *a = state->mesh_view->triangles[triangles[i]];
        for (int axis = 0; axis < 3; axis++) {
            double x = state->points[a[0]][axis], y = state->points[a[1]][axis],
                   z = state->points[a[2]][axis];
            set_lane(&lanes, i, axis, (float)cut_min(cut_min(x, y), z), (float)cut_max(cut_max(x, y), z));
        }
    }
    free_lanes(&lanes);
    return lanes;
}

/* ---- the upper levels ---- */

static float box_extent(const float low[3], const float high[3])
{
    return high[0] - low[0] + high[1] - low[1] + high[2] - low[2];
}

/// Puts a facet into the last group, or into one of its own where the two are not close together.
static rbl_status add_to_groups(rbl_context *ctx, cut_sifted *run, int32_t facet, const cut_k_box *box)
{
    rbl_status status = RBL_OK;
    float own = box_extent(box->low, box->high);
    if (run->boxes.count > 0) {
        cut_facet_group *group = &run->groups.data[run->boxes.count - 1];
        cut_k_box *around = &run->boxes.data[run->boxes.count - 1], wider = *around;
        for (int axis = 0; axis < 3; axis++) {
            wider.low[axis] = box->low[axis] < wider.low[axis] ? box->low[axis] : wider.low[axis];
            wider.high[axis] = box->high[axis] > wider.high[axis] ? box->high[axis] : wider.high[axis];
        }
        if (group->member_count < GROUP_FACETS &&
            box_extent(wider.low, wider.high) < CLOSE_TOGETHER * (group->extents + own)) {
            group->end = facet + 1;
            group->member_count++;
            group->extents += own;
            *around = wider;
            return RBL_OK;
        }
    }
    cut_k_box fresh = *box;
    memset(fresh.normal, 0, sizeof fresh.normal);
    fresh.middle = 0;
    fresh.reach = 0x1p100f; /* no slab */
    RBL_TRY(rbli_array_push(ctx, &run->boxes, fresh));
    RBL_TRY(rbli_array_push(ctx, &run->groups, ((cut_facet_group){facet, facet + 1, 1, own})));
done:
    return status;
}

/// Sifts a list of groups down to the tasks' nodes.
static rbl_status sift_to_tasks(rbl_context *ctx, const cut_tasks *tasks, cut_index_list *stack,
    cut_sifted *out, size_t node, size_t list_start, size_t count)
{
    rbl_status status = RBL_OK;
    if (node >= tasks->first_node) {
        size_t task = node - tasks->first_node;
        RBL_TRY(rbli_array_reserve(ctx, &out->met, count));
        memcpy(out->met.data + out->met.count, stack->data + list_start, count * sizeof(int32_t));
        out->met.count += count;
        out->start[task + 1] = count;
        return RBL_OK;
    }
    cut_lanes lanes = cut_lanes_below(&tasks->state->mesh.open, node, tasks->first_node);
    size_t begin = stack->count, met[CUT_LANES];
    RBL_TRY(cut_sift(ctx, out->boxes.data, &lanes, stack, list_start, count, met));
    for (size_t i = 0, start = begin; i < lanes.count; start += met[i++])
        if (met[i] > 0) RBL_TRY(sift_to_tasks(ctx, tasks, stack, out, lanes.first + i, start, met[i]));
    stack->count = begin;
done:
    return status;
}

static rbl_status sift_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)worker;
    const cut_tasks *tasks = user;
    const cut_state *state = tasks->state;
    rbl_status status = RBL_OK;
    cut_sifted *out = &tasks->runs[block];
    cut_index_list stack = {0};
    RBL_TRY(rbli_array_reserve(ctx, &out->boxes, (end - begin) / 2));
    RBL_TRY(rbli_array_reserve(ctx, &out->groups, (end - begin) / 2));
    for (size_t i = begin; i < end; i++)
        if (state->complex.boxes[i].separates > 0)
            RBL_TRY(add_to_groups(ctx, out, (int32_t)i, &state->complex.boxes[i]));
    size_t count = out->boxes.count, met[CUT_LANES];
    if (count == 0) return RBL_OK;
    RBL_TRY(rbli_array_reserve(ctx, &stack, count));
    RBL_TRY(rbli_array_reserve(ctx, &out->met, 2 * count));
    for (; stack.count < count; stack.count++)
        stack.data[stack.count] = (int32_t)stack.count;
    cut_lanes root = take_lanes(&state->mesh.open, 1, 1);
    RBL_TRY(cut_sift(ctx, out->boxes.data, &root, &stack, 0, count, met));
    if (met[0] > 0) RBL_TRY(sift_to_tasks(ctx, tasks, &stack, out, 1, count, met[0]));
    for (size_t task = 0; task < tasks->count; task++)
        out->start[task + 1] += out->start[task];
done:
    rbli_free(ctx, stack.data);
    return status;
}

rbl_status cut_tasks_make(rbl_context *ctx, const cut_state *state, cut_tasks *tasks)
{
    rbl_status status = RBL_OK;
    size_t facet_count = state->complex_view->facet_count;
    *tasks = (cut_tasks){.state = state, .first_node = 1};
    while (tasks->first_node < state->mesh.open.leaf_count && tasks->first_node < CUT_MOST_TASKS)
        tasks->first_node *= 2;
    tasks->count = tasks->first_node;
    tasks->run_count = (facet_count + SIFT_GRAIN - 1) / SIFT_GRAIN;
    RBL_TRY_ALLOC(tasks->runs = rbli_calloc(ctx, tasks->run_count, sizeof *tasks->runs));
    RBL_TRY(rbli_parallel_for(ctx, facet_count, SIFT_GRAIN, sift_block, tasks));
done:
    return status;
}

void cut_tasks_free(rbl_context *ctx, cut_tasks *tasks)
{
    for (size_t i = 0; tasks->runs && i < tasks->run_count; i++) {
        rbli_free(ctx, tasks->runs[i].boxes.data);
        rbli_free(ctx, tasks->runs[i].groups.data);
        rbli_free(ctx, tasks->runs[i].met.data);
    }
    rbli_free(ctx, tasks->runs);
}

rbl_status cut_task_list(rbl_context *ctx, const cut_tasks *tasks, size_t task, cut_index_list *out)
{
    rbl_status status = RBL_OK;
    const cut_k_box *boxes = tasks->state->complex.boxes;
    out->count = 0;
    for (size_t r = 0; r < tasks->run_count; r++) {
        const cut_sifted *run = &tasks->runs[r];
        RBL_TRY(rbli_array_reserve(ctx, out, GROUP_FACETS * (run->start[task + 1] - run->start[task]) + 1));
        for (size_t i = run->start[task]; i < run->start[task + 1]; i++) {
            const cut_facet_group *group = &run->groups.data[run->met.data[i]];
            bool all = group->end - group->first == group->member_count;
            for (int32_t f = group->first; f < group->end; f++) {
                out->data[out->count] = f;
                out->count += all || boxes[f].separates > 0;
            }
        }
    }
done:
    return status;
}
