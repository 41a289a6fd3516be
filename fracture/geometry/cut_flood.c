/// Finds every crossing of the mesh with the complex. The complex's triangles are sifted down the tree over
/// the mesh: each node passes on those whose box and plane meet its box. What reaches a mesh triangle is
/// decided exactly.

#include "fracture/geometry/cut_internal.h"

#include <math.h>
#include <stdlib.h>

enum { TASK_COUNT = 256, TASK_GRAIN = 4, FIRST_STACK = 4096, SIFT_GRAIN = 4096 };

/// One end of a segment: side 0 … 2 of the mesh triangle, or ON_EDGE with an edge of the complex.
enum { ON_EDGE = 3 };
typedef struct segment_end {
    int32_t place, edge;
    int32_t step; /* winding step along the edge */
} segment_end;

/// The crossing of one triangle of the complex with the mesh triangle, negative cell to the left.
typedef struct segment {
    int32_t facet, triangle;
    segment_end end[2];
} segment;

typedef RBLI_ARRAY(int32_t) int_list;

typedef struct output_block {
    RBLI_ARRAY(cut_cut_triangle) triangles;
    RBLI_ARRAY(cut_crossing) crossings;
    RBLI_ARRAY(cut_node) nodes;
    RBLI_ARRAY(cut_chain) chains;
    RBLI_ARRAY(int32_t) bends;
    char apart[CUT_APART_BYTES];
} output_block;

typedef struct worker_scratch {
    int_list stack; /* lists of candidates, those of the path from the root on top of each other */
    RBLI_ARRAY(segment) segments;
    int_list links;      /* segments of a chain behind its first */
    int32_t *edge_node;  /* [real_edge_count] node of an edge on the current triangle … */
    int32_t *edge_stamp; /* … valid where this is the triangle */
    int32_t *k_side; /* [complex vertices] 2 × mesh triangle + (1 on its outside), the last one asked about */
    char apart[CUT_APART_BYTES];
} worker_scratch;

/// What a run of facets brings to the nodes of the tree that are the tasks.
typedef struct sifted {
    int_list facets; /* task by task */
    size_t start[TASK_COUNT + 1];
    char apart[CUT_APART_BYTES];
} sifted;

typedef struct flood {
    cut_state *state;
    size_t first_node, task_count; /* a level of the tree, or its leaves */
    sifted *runs;
    size_t run_count;
    output_block *blocks;
    struct output_start {
        size_t triangle, crossing, node, chain, bend;
    } * starts; /* of the blocks in what is merged */
    worker_scratch *workers;
} flood;

/* ---- sifting ---- */

/// Nodes of the tree side by side: those two levels below a node, or one where no more are asked for.
typedef struct node_lanes {
    cut_floats low[3], high[3], middle[3], half[3];
    size_t first; /* node of lane 0 */
    size_t count;
} node_lanes;

static node_lanes take_lanes(const cut_tree *tree, size_t first, size_t count)
{
    node_lanes lanes = {.first = first, .count = count};
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

/// @param last  first node of the level where the descent ends
static node_lanes lanes_below(const cut_tree *tree, size_t node, size_t last)
{
    return 2 * node < last ? take_lanes(tree, 4 * node, 4) : take_lanes(tree, 2 * node, 2);
}

/// Which lanes a facet's box and slab meet.
static inline int lanes_met(const node_lanes *lanes, const cut_k_box *k)
{
    cut_flags apart = {0};
    cut_floats distance = cut_four(-(float)k->offset),
               reach = cut_four((float)k->thickness + CUT_FLOAT_MARGIN);
    for (int axis = 0; axis < 3; axis++) {
        apart |= (lanes->low[axis] > k->high[axis]) | (lanes->high[axis] < k->low[axis]);
        distance += k->normal[axis] * lanes->middle[axis];
        reach += fabsf(k->normal[axis]) * lanes->half[axis];
    }
    return cut_flag_bits(~(apart | (distance > reach) | (-distance > reach)));
}

/// Appends room for a list a lane, `count` apart, and fills them with what the lanes meet of a list on the stack.
static rbl_status sift(rbl_context *ctx, const cut_state *state, const node_lanes *lanes, int_list *stack,
    size_t list_start, size_t count, size_t met[4])
{
    rbl_status status = rbli_array_reserve(ctx, stack, 4 * count);
    if (status != RBL_OK) return status;
    const int32_t *list = stack->data + list_start;
    int32_t *out[4];
    for (size_t lane = 0; lane < 4; lane++)
        out[lane] = stack->data + stack->count + lane * count;
    for (size_t i = 0; i < count; i++) {
        int hits = lanes_met(lanes, &state->complex.boxes[list[i]]);
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

/* ---- one pair of triangles, exactly ---- */

static int side_of_plane(const cut_state *state, const cut_plane *plane, const int32_t v[3], int32_t point)
{
    int side = cut_plane_side(plane, state->points[point]);
    return side ? side : rbli_orient(&state->orient, v[0], v[1], v[2], point);
}

static rbl_status record_end(rbl_context *ctx, segment *s, int *found, bool start, segment_end end)
{
    int which = start ? 0 : 1;
    if (*found & 1 << which)
        return rbli_fail(
            ctx, RBL_ERR_INTERNAL, "cut: two triangles meet in more than one segment (facet %d)", s->facet);
    *found |= 1 << which;
    s->end[which] = end;
    return RBL_OK;
}

/// A mesh triangle as the filters see it.
typedef struct rough_triangle {
    cut_floats low, high; /* nearest floats: boxes of facets are rounded outward by more */
    cut_floats x, y, z;   /* of the corners; the last one twice */
} rough_triangle;

/// a where the flags are set, b elsewhere.
static inline cut_floats choose(cut_flags flags, cut_floats a, cut_floats b)
{
    return (cut_floats)(((cut_flags)a & flags) | ((cut_flags)b & ~flags));
}

static rough_triangle make_rough(const cut_state *state, const int32_t a[3])
{
    cut_floats p[3];
    for (int i = 0; i < 3; i++) {
        const double *at = state->points[a[i]];
        p[i] = (cut_floats){(float)at[0], (float)at[1], (float)at[2], 0};
    }
    cut_floats low = choose(p[0] < p[1], p[0], p[1]), high = choose(p[0] < p[1], p[1], p[0]);
    return (rough_triangle){.low = choose(low < p[2], low, p[2]),
        .high = choose(high > p[2], high, p[2]),
        .x = {p[0][0], p[1][0], p[2][0], p[2][0]},
        .y = {p[0][1], p[1][1], p[2][1], p[2][1]},
        .z = {p[0][2], p[1][2], p[2][2], p[2][2]}};
}

/// Whether a mesh triangle lies on one side of a facet's slab.
static bool misses_slab(const rough_triangle *t, const cut_k_box *box)
{
    cut_floats height = box->normal[0] * t->x + box->normal[1] * t->y + box->normal[2] * t->z;
    float reach = (float)box->thickness + CUT_FLOAT_MARGIN, offset = (float)box->offset;
    return !cut_any(height <= offset + reach) || !cut_any(height >= offset - reach);
}

/// Whether the box of a triangle of the complex keeps clear of a mesh triangle: so do most of a fan.
static bool misses_triangle(const cut_state *state, const rough_triangle *t, const int32_t v[3])
{
    cut_floats p[3];
    for (int i = 0; i < 3; i++) {
        const double *at = state->points[v[i]];
        p[i] = (cut_floats){(float)at[0], (float)at[1], (float)at[2], 0};
    }
    return cut_any(((p[0] > t->high) & (p[1] > t->high) & (p[2] > t->high)) |
                   ((p[0] < t->low) & (p[1] < t->low) & (p[2] < t->low)));
}

/// Whether the plane of a triangle of the complex separates the corners of mesh triangle `a`; most candidates
/// end here.
static bool crosses_plane(const cut_state *state, const int32_t a[3], int32_t k_index, int side[3])
{
    const cut_k_triangle *k = &state->complex.triangles[k_index];
    const cut_plane plane =
        cut_plane_make(state->points[k->v[0]], state->points[k->v[1]], state->points[k->v[2]]);
    for (int i = 0; i < 3; i++)
        side[i] = side_of_plane(state, &plane, k->v, a[i]);
    return side[0] != side[1] || side[1] != side[2];
}

/// A complex vertex's side of a mesh triangle, remembered for the other facets at the vertex.
static int side_of_mesh_triangle(
    const cut_state *state, worker_scratch *w, const cut_plane *plane, int32_t triangle, int32_t point)
{
    int32_t *known = &w->k_side[point - state->complex.first_point];
    if (*known >> 1 != triangle) {
        int side = side_of_plane(state, plane, state->mesh_view->triangles[triangle], point);
        *known = 2 * triangle + (side > 0);
    }
    return *known & 1 ? 1 : -1;
}

/// Intersects a mesh triangle, whose corners lie on the given sides, with a triangle of the complex;
/// `*found` is 3 when they meet.
static rbl_status intersect_pair(rbl_context *ctx, const cut_state *state, worker_scratch *w,
    int32_t triangle, const int a_side[3], const cut_plane *mesh_plane, int32_t k_index, segment *s,
    int *found)
{
    const int32_t *a = state->mesh_view->triangles[triangle];
    rbl_status status = RBL_OK;
    const cut_k_triangle *k = &state->complex.triangles[k_index];
    int k_side[3];
    *found = 0;
    for (int i = 0; i < 3; i++)
        k_side[i] = side_of_mesh_triangle(state, w, mesh_plane, triangle, k->v[i]);
    if (k_side[0] == k_side[1] && k_side[1] == k_side[2]) return RBL_OK;

    s->facet = k->facet;
    s->triangle = k_index;
    for (int i = 0; i < 3; i++) {
        int n = i == 2 ? 0 : i + 1, lines[3];
        if (a_side[i] == a_side[n]) continue;
        rbli_orient_edges(&state->orient, a[i], a[n], k->v, lines);
        if (lines[0] != lines[1] || lines[1] != lines[2]) continue;
        RBL_TRY(record_end(ctx, s, found, a_side[i] < 0, (segment_end){i, -1, 0}));
    }
    for (int j = 0; j < 3 && *found != 3; j++) {
        int n = j == 2 ? 0 : j + 1, lines[3];
        if (k_side[j] == k_side[n]) continue;
        rbli_orient_edges(&state->orient, k->v[j], k->v[n], a, lines);
        if (lines[0] != lines[1] || lines[1] != lines[2]) continue;
        bool enters = k_side[j] > 0; /* from outside the mesh to inside, from v[j] to v[n] */
        int32_t step = enters == (k->v[j] < k->v[n]) ? 1 : -1;
        RBL_TRY(record_end(ctx, s, found, enters, (segment_end){ON_EDGE, k->edge[j], step}));
    }
    if (*found != 0 && *found != 3)
        status = rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: a segment on facet %d has one end", k->facet);
done:
    return status;
}

/* ---- chains ---- */

static void end_position(
    const cut_state *state, int32_t triangle, const int32_t a[3], const segment *s, int which, double out[3])
{
    const segment_end *end = &s->end[which];
    const double *from, *to;
    double t;
    if (end->place == ON_EDGE) {
        const int32_t *edge = state->complex.edges[end->edge];
        from = state->points[edge[0]];
        to = state->points[edge[1]];
        t = rbli_crossing_parameter(&state->orient, a[0], a[1], a[2], edge[0], edge[1]);
    } else {
        const int32_t *v = state->complex.triangles[s->triangle].v;
        int32_t i = a[end->place], n = a[(end->place + 1) % 3];
        from = state->points[i];
        to = state->points[n];
        t = rbli_crossing_parameter(&state->orient, v[0], v[1], v[2], i, n);
    }
    (void)triangle;
    for (int axis = 0; axis < 3; axis++)
        out[axis] = from[axis] + t * (to[axis] - from[axis]);
}

/// Facets no thicker than this many grid steps are plane.
static const double PLANE_FACET = 64;

/// True where a facet that is plane is crossed at an angle: then its line on the mesh triangle is straight.
static bool surely_straight(const cut_state *state, const cut_plane *mesh_plane, int32_t facet)
{
    const cut_k_box *box = &state->complex.boxes[facet];
    double dot = 0, squared = 0;
    for (int axis = 0; axis < 3; axis++) {
        dot += box->normal[axis] * mesh_plane->normal[axis];
        squared += mesh_plane->normal[axis] * mesh_plane->normal[axis];
    }
    return box->thickness < PLANE_FACET && dot * dot < 0.96 * squared;
}

/// Whether q lies on segment p–r up to rounding.
static bool is_between(const double p[3], const double q[3], const double r[3])
{
    double chord = 0, along = 0, offset = 0;
    for (int axis = 0; axis < 3; axis++) {
        chord += (r[axis] - p[axis]) * (r[axis] - p[axis]);
        along += (r[axis] - p[axis]) * (q[axis] - p[axis]);
        offset += (q[axis] - p[axis]) * (q[axis] - p[axis]);
    }
    if (along < 0 || along > chord) return false;
    return offset * chord - along * along <= 1e-14 * chord * chord;
}

static rbl_status node_of_end(rbl_context *ctx, const flood *f, worker_scratch *w, output_block *out,
    int32_t triangle, const int32_t a[3], const segment_end *end, int32_t *node)
{
    const cut_state *state = f->state;
    bool real = (size_t)end->edge < state->complex.real_edge_count;
    if (real && w->edge_stamp[end->edge] == triangle) {
        *node = w->edge_node[end->edge];
        return RBL_OK;
    }
    const int32_t *edge = state->complex.edges[end->edge];
    double t = rbli_crossing_parameter(&state->orient, a[0], a[1], a[2], edge[0], edge[1]);
    *node = (int32_t)out->nodes.count;
    if (real) {
        w->edge_stamp[end->edge] = triangle;
        w->edge_node[end->edge] = *node;
    }
    return rbli_array_push(ctx, &out->nodes, ((cut_node){triangle, end->edge, end->step, t}));
}

static rbl_status chain_end(rbl_context *ctx, const flood *f, worker_scratch *w, output_block *out,
    int32_t triangle, const int32_t a[3], const segment *s, int which, cut_chain *chain)
{
    const segment_end *end = &s->end[which];
    chain->end_triangle[which] = s->triangle;
    if (end->place == ON_EDGE) return node_of_end(ctx, f, w, out, triangle, a, end, &chain->end[which]);
    chain->end[which] = -1 - end->place;
    return RBL_OK;
}

static bool is_flat_end(const cut_state *state, const segment_end *end)
{
    return end->place == ON_EDGE && (size_t)end->edge >= state->complex.real_edge_count;
}

/// Keeps the bends of a chain that are not on the straight line between its ends.
static rbl_status keep_bends(rbl_context *ctx, const flood *f, worker_scratch *w, output_block *out,
    int32_t triangle, const int32_t a[3], const segment *first, const int32_t *links, size_t link_count,
    const segment *group, cut_chain *chain)
{
    rbl_status status = RBL_OK;
    double p[3], r[3], q[3];
    end_position(f->state, triangle, a, first, 0, p);
    end_position(f->state, triangle, a, &group[links[link_count - 1]], 1, r);
    for (size_t i = 0; i < link_count; i++) {
        const segment *s = &group[links[i]];
        end_position(f->state, triangle, a, s, 0, q);
        if (is_between(p, q, r)) continue;
        int32_t node;
        RBL_TRY(node_of_end(ctx, f, w, out, triangle, a, &s->end[0], &node));
        RBL_TRY(rbli_array_push(ctx, &out->bends, node));
        chain->bend_count++;
    }
done:
    return status;
}

/// Joins the segments of one facet through its diagonals.
static rbl_status chain_facet(rbl_context *ctx, const flood *f, worker_scratch *w, output_block *out,
    int32_t triangle, const int32_t a[3], const cut_plane *mesh_plane, const segment *group, size_t count)
{
    rbl_status status = RBL_OK;
    const cut_state *state = f->state;
    size_t joined = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_flat_end(state, &group[i].end[0])) continue;
        cut_chain chain = {.facet = group[i].facet, .bend_start = (int32_t)out->bends.count};
        RBL_TRY(chain_end(ctx, f, w, out, triangle, a, &group[i], 0, &chain));
        const segment *last = &group[i];
        w->links.count = 0;
        joined++;
        while (is_flat_end(state, &last->end[1])) {
            size_t next = 0;
            while (next < count &&
                   !(group[next].end[0].place == ON_EDGE && group[next].end[0].edge == last->end[1].edge))
                next++;
            if (next == count || w->links.count == count) {
                status = rbli_fail(
                    ctx, RBL_ERR_INTERNAL, "cut: a chain on facet %d ends on a diagonal", group[i].facet);
                goto done;
            }
            RBL_TRY(rbli_array_push(ctx, &w->links, (int32_t)next));
            last = &group[next];
            joined++;
        }
        if (w->links.count > 0 && !surely_straight(state, mesh_plane, group[i].facet))
            RBL_TRY(keep_bends(
                ctx, f, w, out, triangle, a, &group[i], w->links.data, w->links.count, group, &chain));
        RBL_TRY(chain_end(ctx, f, w, out, triangle, a, last, 1, &chain));
        RBL_TRY(rbli_array_push(ctx, &out->chains, chain));
    }
    if (joined != count)
        status = rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: segments of facet %d are left over", group[0].facet);
done:
    return status;
}

static int compare_segments(const segment *a, const segment *b)
{
    if (a->facet != b->facet) return a->facet < b->facet ? -1 : 1;
    return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static int compare_segments_untyped(const void *a, const void *b)
{
    return compare_segments(a, b);
}

static void sort_segments(segment *segments, size_t count)
{
    if (count > 32) {
        qsort(segments, count, sizeof *segments, compare_segments_untyped);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        segment moving = segments[i];
        size_t j = i;
        for (; j > 0 && compare_segments(&moving, &segments[j - 1]) < 0; j--)
            segments[j] = segments[j - 1];
        segments[j] = moving;
    }
}

/// Stores the crossings of the sides that this triangle owns, in order.
static rbl_status store_crossings(
    rbl_context *ctx, const cut_state *state, output_block *out, int32_t triangle, const worker_scratch *w)
{
    rbl_status status = RBL_OK;
    for (int side = 0; side < 3; side++) {
        int32_t half = 3 * triangle + side;
        int32_t from = cut_half_start(state, half), to = cut_half_end(state, half);
        if (from > to) continue;
        size_t first = out->crossings.count;
        for (size_t i = 0; i < w->segments.count; i++)
            for (int which = 0; which < 2; which++) {
                const segment *s = &w->segments.data[i];
                if (s->end[which].place != side) continue;
                const int32_t *cells = cut_facet_cells(state, s->facet);
                const int32_t *v = state->complex.triangles[s->triangle].v;
                double t = rbli_crossing_parameter(&state->orient, v[0], v[1], v[2], from, to);
                cut_crossing c = {half, s->triangle, cells[which], cells[1 - which], t};
                RBL_TRY(rbli_array_push(ctx, &out->crossings, c));
            }
        if (out->crossings.count - first > 1)
            RBL_TRY(
                cut_order_crossings(ctx, state, out->crossings.data + first, out->crossings.count - first));
    }
done:
    return status;
}

static rbl_status cut_one_triangle(rbl_context *ctx, const flood *f, worker_scratch *w, output_block *out,
    int32_t triangle, const int32_t *list, size_t count)
{
    rbl_status status = RBL_OK;
    const cut_state *state = f->state;
    const int32_t *a = state->mesh_view->triangles[triangle];
    const rough_triangle rough = make_rough(state, a);
    const int32_t *k_start = state->complex.facet_triangle_start;
    cut_plane mesh_plane;
    bool have_plane = false;
    w->segments.count = 0;
    for (size_t i = 0; i < count; i++) {
        const cut_k_box *box = &state->complex.boxes[list[i]];
        if (misses_slab(&rough, box)) continue;
        for (int32_t k = k_start[list[i]]; k < k_start[list[i] + 1]; k++) {
            int side[3], found;
            segment s;
            if (misses_triangle(state, &rough, state->complex.triangles[k].v)) continue;
            if (!crosses_plane(state, a, k, side)) continue;
            if (!have_plane)
                mesh_plane = cut_plane_make(state->points[a[0]], state->points[a[1]], state->points[a[2]]);
            have_plane = true;
            RBL_TRY(intersect_pair(ctx, state, w, triangle, side, &mesh_plane, k, &s, &found));
            if (found) RBL_TRY(rbli_array_push(ctx, &w->segments, s));
        }
    }
    if (w->segments.count == 0) return RBL_OK;
    sort_segments(w->segments.data, w->segments.count);
    cut_cut_triangle record = {triangle, (int32_t)out->chains.count, 0, (int32_t)out->nodes.count, 0};
    for (size_t i = 0; i < w->segments.count;) {
        size_t end = i + 1;
        while (end < w->segments.count && w->segments.data[end].facet == w->segments.data[i].facet)
            end++;
        RBL_TRY(chain_facet(ctx, f, w, out, triangle, a, &mesh_plane, w->segments.data + i, end - i));
        i = end;
    }
    RBL_TRY(store_crossings(ctx, state, out, triangle, w));
    record.chain_count = (int32_t)out->chains.count - record.chain_start;
    record.node_count = (int32_t)out->nodes.count - record.node_start;
    status = rbli_array_push(ctx, &out->triangles, record);
done:
    return status;
}

/* ---- the recursion ---- */

/// The boxes of up to four mesh triangles.
_Static_assert(CUT_LEAF_TRIANGLES % 4 == 0, "leaves are whole lanes");
static node_lanes lanes_of_triangles(const cut_state *state, const int32_t *triangles, size_t count)
{
    node_lanes lanes = {.count = count};
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

static rbl_status cut_leaf(rbl_context *ctx, const flood *f, worker_scratch *w, output_block *out,
    size_t leaf, size_t list_start, size_t count)
{
    rbl_status status = RBL_OK;
    const cut_tree *tree = &f->state->mesh.open;
    size_t begin = w->stack.count, end = (leaf + 1) * CUT_LEAF_TRIANGLES;
    for (size_t first = leaf * CUT_LEAF_TRIANGLES; first < end && first < tree->count; first += 4) {
        size_t met[4], triangles = tree->count - first < 4 ? tree->count - first : 4;
        node_lanes lanes = lanes_of_triangles(f->state, tree->order + first, triangles);
        RBL_TRY(sift(ctx, f->state, &lanes, &w->stack, list_start, count, met));
        for (size_t i = 0; i < triangles; i++)
            RBL_TRY(cut_one_triangle(
                ctx, f, w, out, tree->order[first + i], w->stack.data + begin + i * count, met[i]));
        w->stack.count = begin;
    }
done:
    return status;
}

static rbl_status descend(rbl_context *ctx, const flood *f, worker_scratch *w, output_block *out, size_t node,
    size_t list_start, size_t count)
{
    rbl_status status = RBL_OK;
    const cut_state *state = f->state;
    if (node >= state->mesh.open.leaf_count)
        return cut_leaf(ctx, f, w, out, node - state->mesh.open.leaf_count, list_start, count);
    if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
    node_lanes lanes = lanes_below(&state->mesh.open, node, state->mesh.open.leaf_count);
    size_t begin = w->stack.count, met[4];
    RBL_TRY(sift(ctx, state, &lanes, &w->stack, list_start, count, met));
    for (size_t i = 0; i < lanes.count; i++)
        if (met[i] > 0) RBL_TRY(descend(ctx, f, w, out, lanes.first + i, begin + i * count, met[i]));
    w->stack.count = begin;
done:
    return status;
}

static rbl_status task_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    flood *f = user;
    worker_scratch *w = &f->workers[worker];
    for (size_t i = begin; i < end; i++) {
        size_t count = 0;
        for (size_t r = 0; r < f->run_count; r++)
            count += f->runs[r].start[i + 1] - f->runs[r].start[i];
        if (count == 0) continue;
        w->stack.count = 0;
        rbl_status status = rbli_array_reserve(ctx, &w->stack, count + FIRST_STACK);
        if (status != RBL_OK) return status;
        for (size_t r = 0; r < f->run_count; r++) {
            const sifted *run = &f->runs[r];
            size_t more = run->start[i + 1] - run->start[i];
            if (more)
                memcpy(
                    w->stack.data + w->stack.count, run->facets.data + run->start[i], more * sizeof(int32_t));
            w->stack.count += more;
        }
        status = descend(ctx, f, w, &f->blocks[i], f->first_node + i, 0, count);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// Sifts a list down to the tasks' nodes.
static rbl_status sift_to_tasks(rbl_context *ctx, const flood *f, int_list *stack, sifted *out, size_t node,
    size_t list_start, size_t count)
{
    rbl_status status = RBL_OK;
    if (node >= f->first_node) {
        size_t task = node - f->first_node;
        RBL_TRY(rbli_array_reserve(ctx, &out->facets, count));
        memcpy(out->facets.data + out->facets.count, stack->data + list_start, count * sizeof(int32_t));
        out->facets.count += count;
        out->start[task + 1] = count;
        return RBL_OK;
    }
    node_lanes lanes = lanes_below(&f->state->mesh.open, node, f->first_node);
    size_t begin = stack->count, met[4];
    RBL_TRY(sift(ctx, f->state, &lanes, stack, list_start, count, met));
    for (size_t i = 0; i < lanes.count; i++)
        if (met[i] > 0)
            RBL_TRY(sift_to_tasks(ctx, f, stack, out, lanes.first + i, begin + i * count, met[i]));
    stack->count = begin;
done:
    return status;
}

static rbl_status sift_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)worker;
    const flood *f = user;
    const cut_state *state = f->state;
    rbl_status status = RBL_OK;
    sifted *out = &f->runs[block];
    int_list stack = {0};
    RBL_TRY(rbli_array_reserve(ctx, &stack, 4 * (end - begin)));
    RBL_TRY(rbli_array_reserve(ctx, &out->facets, 2 * (end - begin)));
    for (size_t i = begin; i < end; i++) {
        stack.data[stack.count] = (int32_t)i;
        stack.count += state->complex.boxes[i].separates > 0;
    }
    node_lanes root = take_lanes(&state->mesh.open, 1, 1);
    size_t count = stack.count, met[4];
    RBL_TRY(sift(ctx, state, &root, &stack, 0, count, met));
    if (met[0] > 0) RBL_TRY(sift_to_tasks(ctx, f, &stack, out, 1, count, met[0]));
    for (size_t task = 0; task < f->task_count; task++)
        out->start[task + 1] += out->start[task];
done:
    rbli_free(ctx, stack.data);
    return status;
}

/// Sifts runs of facets down the upper levels of the tree: the nodes below are shared out.
static rbl_status make_tasks(rbl_context *ctx, flood *f)
{
    rbl_status status = RBL_OK;
    size_t facet_count = f->state->complex_view->facet_count;
    f->first_node = 1;
    while (f->first_node < f->state->mesh.open.leaf_count && f->first_node < TASK_COUNT)
        f->first_node *= 2;
    f->task_count = f->first_node;
    f->run_count = (facet_count + SIFT_GRAIN - 1) / SIFT_GRAIN;
    RBL_TRY_ALLOC(f->runs = rbli_calloc(ctx, f->run_count, sizeof *f->runs));
    RBL_TRY(rbli_parallel_for(ctx, facet_count, SIFT_GRAIN, sift_block, f));
done:
    return status;
}

/* ---- merging ---- */

static void merge_block(const flood *f, size_t i)
{
    cut_state *s = f->state;
    const output_block *b = &f->blocks[i];
    const struct output_start *start = &f->starts[i];
    int32_t node = (int32_t)start->node;
    for (size_t j = 0; j < b->triangles.count; j++) {
        cut_cut_triangle record = b->triangles.data[j];
        record.chain_start += (int32_t)start->chain;
        record.node_start += node;
        s->cut_triangles[start->triangle + j] = record;
    }
    for (size_t j = 0; j < b->chains.count; j++) {
        cut_chain record = b->chains.data[j];
        record.bend_start += (int32_t)start->bend;
        for (int which = 0; which < 2; which++)
            if (record.end[which] >= 0) record.end[which] += node;
        s->chains[start->chain + j] = record;
    }
    for (size_t j = 0; j < b->bends.count; j++)
        s->bends[start->bend + j] = b->bends.data[j] + node;
    for (size_t j = 0; j < b->crossings.count; j++) { /* a half-edge's are all in one block */
        int32_t half = b->crossings.data[j].half;
        if (s->half_crossing[half] == 0) s->half_crossing[half] = (int32_t)(start->crossing + j) + 1;
        s->crossings[start->crossing + j] = b->crossings.data[j];
    }
    if (b->nodes.count) memcpy(s->nodes + start->node, b->nodes.data, b->nodes.count * sizeof *s->nodes);
}

static rbl_status merge_range(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        merge_block(user, i);
    return RBL_OK;
}

static rbl_status merge_blocks(rbl_context *ctx, flood *f)
{
    rbl_status status = RBL_OK;
    cut_state *s = f->state;
    size_t half_bytes = 3 * s->mesh_view->triangle_count * sizeof(int32_t);
    RBL_TRY_ALLOC(f->starts = rbli_alloc(ctx, f->task_count, sizeof *f->starts));
    for (size_t i = 0; i < f->task_count; i++) {
        const output_block *b = &f->blocks[i];
        f->starts[i] = (struct output_start){
            s->cut_triangle_count, s->crossing_count, s->node_count, s->chain_count, s->bend_count};
        s->cut_triangle_count += b->triangles.count;
        s->crossing_count += b->crossings.count;
        s->node_count += b->nodes.count;
        s->chain_count += b->chains.count;
        s->bend_count += b->bends.count;
    }
    if (s->crossing_count + s->node_count + (size_t)s->point_count > INT32_MAX / 4 ||
        s->chain_count > INT32_MAX / 4)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "the cut has too many vertices");
    RBL_TRY_ALLOC(s->cut_triangles = rbli_alloc(ctx, s->cut_triangle_count, sizeof *s->cut_triangles));
    RBL_TRY_ALLOC(s->crossings = rbli_alloc(ctx, s->crossing_count, sizeof *s->crossings));
    RBL_TRY_ALLOC(s->nodes = rbli_alloc(ctx, s->node_count, sizeof *s->nodes));
    RBL_TRY_ALLOC(s->chains = rbli_alloc(ctx, s->chain_count, sizeof *s->chains));
    RBL_TRY_ALLOC(s->bends = rbli_alloc(ctx, s->bend_count, sizeof *s->bends));
    RBL_TRY_ALLOC(s->half_crossing = rbli_alloc(ctx, half_bytes, 1));
    RBL_TRY(cut_fill(ctx, s->half_crossing, 0, half_bytes));
    RBL_TRY(rbli_parallel_for(ctx, f->task_count, 1, merge_range, f));
done:
    return status;
}

static void interpolate(const double a[3], const double b[3], double t, double out[3])
{
    for (int axis = 0; axis < 3; axis++)
        out[axis] = t <= 0.5 ? a[axis] + t * (b[axis] - a[axis]) : b[axis] - (1 - t) * (b[axis] - a[axis]);
}

/// Rounds to the grid, so that vertices which coincide but for rounding coincide exactly. The threshold lies
/// away from simple fractions: those are what regular input gives, and they must not fall to either side by
/// chance.
static void round_to_grid(double p[3])
{
    for (int axis = 0; axis < 3; axis++)
        p[axis] = floor(p[axis] + 0.5857864376269049);
}

/// Source coordinates of a node: those of the mesh vertex at its grid point, where one of the candidates is.
static void place_source(const cut_state *s, const int32_t *candidates, int count, size_t node)
{
    const double *p = s->node_positions[node];
    for (int i = 0; i < count; i++) {
        const double *q = s->points[candidates[i]];
        if (p[0] != q[0] || p[1] != q[1] || p[2] != q[2]) continue;
        memcpy(s->node_sources[node], s->mesh_view->positions[candidates[i]], sizeof s->node_sources[node]);
        return;
    }
    rbli_grid_unsnap(&s->grid, p, s->node_sources[node]);
}

static rbl_status place_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    cut_state *s = user;
    for (size_t i = begin; i < end; i++) {
        if (i < s->crossing_count) {
            const cut_crossing *c = &s->crossings[i];
            int32_t ends[2] = {cut_half_start(s, c->half), cut_half_end(s, c->half)};
            interpolate(s->points[ends[0]], s->points[ends[1]], c->parameter, s->node_positions[i]);
            round_to_grid(s->node_positions[i]);
            place_source(s, ends, 2, i);
        } else {
            const cut_node *n = &s->nodes[i - s->crossing_count];
            const int32_t *edge = s->complex.edges[n->edge];
            interpolate(s->points[edge[0]], s->points[edge[1]], n->parameter, s->node_positions[i]);
            round_to_grid(s->node_positions[i]);
            place_source(s, s->mesh_view->triangles[n->mesh_triangle], 3, i);
        }
    }
    return RBL_OK;
}

/// Turns the ends of chains into arrangement vertices.
static rbl_status resolve_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    cut_state *s = user;
    for (size_t i = begin; i < end; i++) {
        const cut_cut_triangle *record = &s->cut_triangles[i];
        for (int32_t c = record->chain_start; c < record->chain_start + record->chain_count; c++) {
            cut_chain *chain = &s->chains[c];
            for (int which = 0; which < 2; which++) {
                if (chain->end[which] >= 0) {
                    chain->end[which] = cut_node_vertex(s, (size_t)chain->end[which]);
                    continue;
                }
                size_t first = 0, j = 0;
                size_t count = cut_crossings_of(
                    s, cut_half_owner(s, 3 * record->triangle + (-1 - chain->end[which])), &first);
                while (j < count && s->crossings[first + j].triangle != chain->end_triangle[which])
                    j++;
                if (j == count)
                    return rbli_fail(ctx, RBL_ERR_INTERNAL,
                        "cut: two mesh triangles disagree on their common edge (triangle %d)",
                        record->triangle);
                chain->end[which] = cut_crossing_vertex(s, first + j);
            }
            for (int32_t b = chain->bend_start; b < chain->bend_start + chain->bend_count; b++)
                s->bends[b] = cut_node_vertex(s, (size_t)s->bends[b]);
        }
    }
    return RBL_OK;
}

static void free_flood(rbl_context *ctx, flood *f, size_t worker_count)
{
    for (size_t i = 0; f->blocks && i < f->task_count; i++) {
        rbli_free(ctx, f->blocks[i].triangles.data);
        rbli_free(ctx, f->blocks[i].crossings.data);
        rbli_free(ctx, f->blocks[i].nodes.data);
        rbli_free(ctx, f->blocks[i].chains.data);
        rbli_free(ctx, f->blocks[i].bends.data);
    }
    for (size_t i = 0; f->workers && i < worker_count; i++) {
        rbli_free(ctx, f->workers[i].stack.data);
        rbli_free(ctx, f->workers[i].segments.data);
        rbli_free(ctx, f->workers[i].links.data);
        rbli_free(ctx, f->workers[i].edge_node);
        rbli_free(ctx, f->workers[i].edge_stamp);
        rbli_free(ctx, f->workers[i].k_side);
    }
    for (size_t i = 0; f->runs && i < f->run_count; i++)
        rbli_free(ctx, f->runs[i].facets.data);
    rbli_free(ctx, f->blocks);
    rbli_free(ctx, f->starts);
    rbli_free(ctx, f->workers);
    rbli_free(ctx, f->runs);
}

rbl_status cut_flood(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    flood f = {.state = state};
    size_t worker_count = (size_t)rbli_worker_count(ctx);
    RBL_TRY(make_tasks(ctx, &f));
    RBL_TRY_ALLOC(f.blocks = rbli_calloc(ctx, f.task_count, sizeof *f.blocks));
    RBL_TRY_ALLOC(f.workers = rbli_calloc(ctx, worker_count, sizeof *f.workers));
    for (size_t i = 0; i < worker_count; i++) {
        worker_scratch *w = &f.workers[i];
        RBL_TRY_ALLOC(w->edge_node = rbli_alloc(ctx, state->complex.real_edge_count, sizeof(int32_t)));
        RBL_TRY_ALLOC(w->edge_stamp = rbli_alloc(ctx, state->complex.real_edge_count, sizeof(int32_t)));
        RBL_TRY_ALLOC(w->k_side = rbli_alloc(ctx, state->complex_view->vertex_count, sizeof(int32_t)));
        memset(w->k_side, 0xff, state->complex_view->vertex_count * sizeof(int32_t));
        memset(w->edge_stamp, 0xff, state->complex.real_edge_count * sizeof(int32_t));
    }
    RBL_TRY(rbli_parallel_for(ctx, f.task_count, TASK_GRAIN, task_block, &f));
    RBL_TRY(merge_blocks(ctx, &f));
done:
    free_flood(ctx, &f, worker_count);
    return status;
}

rbl_status cut_place_nodes(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    size_t count = state->crossing_count + state->node_count;
    RBL_TRY_ALLOC(state->node_positions = rbli_alloc(ctx, count, sizeof *state->node_positions));
    RBL_TRY_ALLOC(state->node_sources = rbli_alloc(ctx, count, sizeof *state->node_sources));
    RBL_TRY(rbli_parallel_for(ctx, count, 8192, place_block, state));
    RBL_TRY(rbli_parallel_for(ctx, state->cut_triangle_count, 4096, resolve_block, state));
done:
    return status;
}
