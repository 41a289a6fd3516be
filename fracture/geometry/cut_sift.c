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

static cut_lanes take_lanes(const cut_tree *tree, size_t first, size_t count)
{
    cut_lanes lanes = {.first = first, .count = count};
    for (int axis = 0; axis < 3; axis++) {
        lanes.low[axis] = cut_four(0x1p100f); /* free lanes meet nothing */
        lanes.high[axis] = cut_four(-0x1p100f);
        for (size_t i = 0; i < count; i++) {
            lanes.low[axis][i] = tree->boxes[first + i][axis];
            lanes.high[axis][i] = tree->boxes[first + i][axis + 3];
        }
        lanes.middle[axis] = 0.5f * (lanes.low[axis] + lanes.high[axis]);
        lanes.half[axis] = lanes.high[axis] - lanes.middle[axis];
    }
    return lanes;
}

cut_lanes cut_lanes_below(const cut_tree *tree, size_t node, size_t last)
{
    return 2 * node < last ? take_lanes(tree, 4 * node, 4) : take_lanes(tree, 2 * node, 2);
}

static inline cut_floats magnitude(cut_floats x)
{
    return (cut_floats)((cut_flags)x & (cut_flags){INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX});
}

/// Which lanes a facet's box and slab meet.
static inline int lanes_met(const cut_lanes *lanes, const cut_k_box *k)
{
    cut_flags apart = {0};
    cut_floats height = cut_four(-k->middle), reach = cut_four(k->reach);
    for (int axis = 0; axis < 3; axis++) {
        cut_floats normal = cut_four(k->normal[axis]);
        apart |= (lanes->low[axis] > k->high[axis]) | (lanes->high[axis] < k->low[axis]);
        height += normal * lanes->middle[axis];
        reach += magnitude(normal) * lanes->half[axis];
    }
    return 15 ^ cut_flag_bits(apart | (magnitude(height) > reach));
}

rbl_status cut_sift(rbl_context *ctx, const cut_k_box *boxes, const cut_lanes *lanes, cut_index_list *stack,
    size_t list_start, size_t count, size_t met[4])
{
    rbl_status status = rbli_array_reserve(ctx, stack, 4 * count);
    if (status != RBL_OK) return status;
    const int32_t *list = stack->data + list_start;
    int32_t *out[4];
    for (size_t lane = 0; lane < 4; lane++)
        out[lane] = stack->data + stack->count + lane * count;
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(&boxes[list[i + AHEAD < count ? i + AHEAD : i]]);
        int hits = lanes_met(lanes, &boxes[list[i]]);
        for (int lane = 0; lane < 4; lane++) {
            *out[lane] = list[i];
            out[lane] += hits >> lane & 1;
        }
    }
    for (size_t lane = 0; lane < 4; lane++)
        met[lane] = (size_t)(out[lane] - (stack->data + stack->count + lane * count));
    stack->count += 4 * count;
    return RBL_OK;
}

_Static_assert(CUT_LEAF_TRIANGLES % 4 == 0, "leaves are whole lanes");
cut_lanes cut_lanes_of_triangles(const cut_state *state, const int32_t *triangles, size_t count)
{
    cut_lanes lanes = {.count = count};
    for (size_t i = 0; i < 4; i++) {
        const int32_t *a = state->mesh_view->triangles[triangles[i < count ? i : 0]];
        for (int axis = 0; axis < 3; axis++) {
            double x = state->points[a[0]][axis], y = state->points[a[1]][axis],
                   z = state->points[a[2]][axis];
            lanes.low[axis][i] = (float)cut_min(cut_min(x, y), z);
            lanes.high[axis][i] = (float)cut_max(cut_max(x, y), z);
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        lanes.middle[axis] = 0.5f * (lanes.low[axis] + lanes.high[axis]);
        lanes.half[axis] = lanes.high[axis] - lanes.middle[axis];
    }
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
    size_t begin = stack->count, met[4];
    RBL_TRY(cut_sift(ctx, out->boxes.data, &lanes, stack, list_start, count, met));
    for (size_t i = 0; i < lanes.count; i++)
        if (met[i] > 0)
            RBL_TRY(sift_to_tasks(ctx, tasks, stack, out, lanes.first + i, begin + i * count, met[i]));
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
    for (size_t i = begin; i < end; i++)
        if (state->complex.boxes[i].separates > 0)
            RBL_TRY(add_to_groups(ctx, out, (int32_t)i, &state->complex.boxes[i]));
    size_t count = out->boxes.count, met[4];
    if (count == 0) return RBL_OK;
    RBL_TRY(rbli_array_reserve(ctx, &stack, 4 * count));
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
