/// Finds every crossing of the mesh with the complex. Facets are sifted down the tree over the mesh; what
/// reaches a mesh triangle is decided exactly.

#include "fracture/geometry/cut_sift.h"

#include <math.h>
#include <stdlib.h>

enum { TASK_GRAIN = 4 };

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

/// What a block of tasks finds.
typedef struct flood_output {
    RBLI_ARRAY(cut_cut_triangle) triangles;
    RBLI_ARRAY(cut_crossing) crossings;
    RBLI_ARRAY(cut_node) nodes;
    RBLI_ARRAY(cut_chain) chains;
    RBLI_ARRAY(int32_t) bends;
} flood_output;

typedef struct worker_scratch {
    cut_index_list stack; /* lists of candidates, those of the path from the root on top of each other */
    RBLI_ARRAY(segment) segments;
    cut_index_list links; /* segments of a chain behind its first */
    int32_t *edge_node;   /* [real_edge_count] node of an edge on the current triangle … */
    int32_t *edge_stamp;  /* … valid where this is the triangle */
    flood_output out;     /* of the block that the worker is at */
    char apart[CUT_APART_BYTES];
} worker_scratch;

typedef struct flood {
    cut_state *state;
    cut_tasks tasks;
    flood_output *blocks;
    size_t block_count;
    struct output_start {
        size_t triangle, crossing, node, chain, bend;
    } * starts; /* of the blocks in what is merged */
    worker_scratch *workers;
} flood;

/* ---- one pair of triangles, exactly ---- */

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

/// A mesh triangle as predicates and filters want it.
typedef struct mesh_triangle {
    const int32_t *v;
    cut_plane plane;
    rbli_double2 corners[2][3]; /* coordinates of the first two, those of the last one twice */
    cut_floats low, high;       /* nearest floats: boxes of facets are rounded outward by more */
    cut_floats x, y, z;         /* of the corners; the last one twice */
} mesh_triangle;

/// a where the flags are set, b elsewhere.
static inline cut_floats choose(cut_flags flags, cut_floats a, cut_floats b)
{
    return (cut_floats)(((cut_flags)a & flags) | ((cut_flags)b & ~flags));
}

static inline cut_floats to_floats(const double p[3])
{
    return (cut_floats){(float)p[0], (float)p[1], (float)p[2], 0};
}

static mesh_triangle load_mesh_triangle(const cut_state *state, int32_t triangle)
{
    mesh_triangle t = {.v = state->mesh_view->triangles[triangle]};
    const double *a = state->points[t.v[0]], *b = state->points[t.v[1]], *c = state->points[t.v[2]];
    cut_floats p[3] = {to_floats(a), to_floats(b), to_floats(c)};
    cut_floats low = choose(p[0] < p[1], p[0], p[1]), high = choose(p[0] < p[1], p[1], p[0]);
    t.low = choose(low < p[2], low, p[2]);
    t.high = choose(high > p[2], high, p[2]);
    t.x = (cut_floats){p[0][0], p[1][0], p[2][0], p[2][0]};
    t.y = (cut_floats){p[0][1], p[1][1], p[2][1], p[2][1]};
    t.z = (cut_floats){p[0][2], p[1][2], p[2][2], p[2][2]};
    for (int axis = 0; axis < 3; axis++) {
        t.corners[0][axis] = (rbli_double2){a[axis], b[axis]};
        t.corners[1][axis] = (rbli_double2){c[axis], c[axis]};
    }
    t.plane = cut_plane_make(a, b, c);
    return t;
}

/// Whether a mesh triangle lies on one side of a facet's slab.
static bool misses_slab(const mesh_triangle *t, const cut_k_box *box)
{
    cut_floats height = box->normal[0] * t->x + box->normal[1] * t->y + box->normal[2] * t->z;
    return !cut_any(height <= box->middle + box->reach) || !cut_any(height >= box->middle - box->reach);
}

/// A corner of a triangle of the complex, as a mesh triangle sees it.
typedef struct k_corner {
    int32_t point;
    int beyond; /* bits of the sides of the mesh triangle's box that it lies beyond */
    int side;   /* of the mesh triangle's plane: ±1, 0 while the filter cannot tell */
} k_corner;

static inline k_corner look_at(const cut_state *state, const mesh_triangle *t, int32_t point)
{
    const double *p = state->points[point];
    cut_floats rough = to_floats(p);
    int beyond = cut_flag_bits(rough > t->high) | cut_flag_bits(rough < t->low) << 4;
    return (k_corner){point, beyond, cut_plane_side(&t->plane, p)};
}

/// Whether a mesh triangle's plane separates the corners of a triangle of the complex.
static bool separates_corners(const cut_state *state, const mesh_triangle *t, k_corner c[3])
{
    for (int i = 0; i < 3; i++)
        if (c[i].side == 0) c[i].side = rbli_orient(&state->orient, t->v[0], t->v[1], t->v[2], c[i].point);
    return c[0].side != c[1].side || c[1].side != c[2].side;
}

/// Bit i: whether corner i of a mesh triangle lies on the positive side of the plane of a triangle of the complex.
static unsigned corners_above(const cut_state *state, const mesh_triangle *t, const int32_t v[3])
{
    const cut_plane plane = cut_plane_make(state->points[v[0]], state->points[v[1]], state->points[v[2]]);
    unsigned above = 0, below = 0;
    for (int i = 0; i < 2; i++) {
        const rbli_double2 *p = t->corners[i];
        rbli_double2 x = p[0] - plane.base[0], y = p[1] - plane.base[1], z = p[2] - plane.base[2];
        rbli_double2 value = plane.normal[0] * x + plane.normal[1] * y + plane.normal[2] * z;
        rbli_double2 bound =
            plane.weight[0] * rbli_abs2(x) + plane.weight[1] * rbli_abs2(y) + plane.weight[2] * rbli_abs2(z);
        above |= rbli_lane_bits2(value > bound) << 2 * i;
        below |= rbli_lane_bits2(value < -bound) << 2 * i;
    }
    for (unsigned open = 7 & ~(above | below); open; open &= open - 1) {
        int i = __builtin_ctz(open);
        above |= (unsigned)(rbli_orient(&state->orient, v[0], v[1], v[2], t->v[i]) > 0) << i;
    }
    return above & 7;
}

/// Intersects a mesh triangle with a triangle of the complex, whose planes separate each other's corners.
/// @param above  corners of the mesh triangle on the positive side
/// @param found  set to 3 when they meet, else to 0
static rbl_status intersect_pair(rbl_context *ctx, const cut_state *state, const mesh_triangle *t,
    unsigned above, int32_t k_index, const k_corner c[3], segment *s, int *found)
{
    enum { FIRST_LINE = 21, SECOND_LINE = 42 }; /* bits of the three edges */
    rbl_status status = RBL_OK;
    const cut_facet_triangle *k = &state->complex.triangles[k_index];
    int alone = __builtin_ctz(above & (above - 1) ? 7 ^ above : above); /* the corner on a side of its own */
    int next = alone == 2 ? 0 : alone + 1, last = next == 2 ? 0 : next + 1;
    bool up = above >> alone & 1;
    const int32_t *a = t->v, to[2] = {a[next], a[last]};
    unsigned lines = rbli_orient_two_lines(&state->orient, a[alone], to, k->v),
             outside = up ? lines : 63 ^ lines;
    *found = 0;
    *s = (segment){.facet = k->facet, .triangle = k_index};
    if (!(outside & FIRST_LINE)) RBL_TRY(record_end(ctx, s, found, !up, (segment_end){alone, -1, 0}));
    if (!(outside & SECOND_LINE)) RBL_TRY(record_end(ctx, s, found, up, (segment_end){last, -1, 0}));
    if (*found == 3 || (outside & outside >> 1 & FIRST_LINE)) return RBL_OK;
    for (int j = 0; j < 3 && *found != 3; j++) {
        int n = j == 2 ? 0 : j + 1;
        unsigned passes = lines >> 2 * j & 3;
        if (c[j].side == c[n].side || passes == 0 || passes == 3) continue;
        bool left = rbli_orient(&state->orient, to[0], to[1], k->v[j], k->v[n]) > 0;
        if (left != (passes == 1)) continue;
        bool enters = c[j].side > 0; /* from outside the mesh to inside, from v[j] to v[n] */
        int32_t step = enters == (k->v[j] < k->v[n]) ? 1 : -1;
        RBL_TRY(record_end(
            ctx, s, found, enters, (segment_end){ON_EDGE, state->complex.triangle_edges[k_index][j], step}));
    }
    if (*found != 0 && *found != 3)
        status = rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: a segment on facet %d has one end", k->facet);
done:
    return status;
}

/// Collects the segments that a mesh triangle has in common with a facet.
static rbl_status intersect_facet(
    rbl_context *ctx, const cut_state *state, worker_scratch *w, const mesh_triangle *t, int32_t facet)
{
    rbl_status status = RBL_OK;
    const int32_t *start = &state->complex.facet_triangle_start[facet];
    k_corner c[3] = {{-1}, {-1}, {-1}};
    for (int32_t k = start[0]; k < start[1]; k++) {
        segment s;
        int found;
        const int32_t *v = state->complex.triangles[k].v;
        c[1] = v[1] == c[2].point ? c[2] : look_at(state, t, v[1]); /* it is, in a fan */
        if (v[0] != c[0].point) c[0] = look_at(state, t, v[0]);
        c[2] = look_at(state, t, v[2]);
        if (c[0].beyond & c[1].beyond & c[2].beyond) continue;
        if (!separates_corners(state, t, c)) continue;
        unsigned above = corners_above(state, t, v);
        if (above == 0 || above == 7) continue;
        RBL_TRY(intersect_pair(ctx, state, t, above, k, c, &s, &found));
        if (found) RBL_TRY(rbli_array_push(ctx, &w->segments, s));
    }
done:
    return status;
}

/* ---- chains ---- */

static void end_position(
    const cut_state *state, const int32_t a[3], const segment *s, int which, double out[3])
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

static rbl_status node_of_end(rbl_context *ctx, const flood *f, worker_scratch *w, int32_t triangle,
    const int32_t a[3], const segment_end *end, int32_t *node)
{
    const cut_state *state = f->state;
    bool real = (size_t)end->edge < state->complex.real_edge_count;
    if (real && w->edge_stamp[end->edge] == triangle) {
        *node = w->edge_node[end->edge];
        return RBL_OK;
    }
    const int32_t *edge = state->complex.edges[end->edge];
    double t = rbli_crossing_parameter(&state->orient, a[0], a[1], a[2], edge[0], edge[1]);
    *node = (int32_t)w->out.nodes.count;
    if (real) {
        w->edge_stamp[end->edge] = triangle;
        w->edge_node[end->edge] = *node;
    }
    return rbli_array_push(ctx, &w->out.nodes, ((cut_node){triangle, end->edge, end->step, t}));
}

static rbl_status chain_end(rbl_context *ctx, const flood *f, worker_scratch *w, int32_t triangle,
    const int32_t a[3], const segment *s, int which, cut_chain *chain)
{
    const segment_end *end = &s->end[which];
    chain->end_triangle[which] = s->triangle;
    if (end->place == ON_EDGE) return node_of_end(ctx, f, w, triangle, a, end, &chain->end[which]);
    chain->end[which] = -1 - end->place;
    return RBL_OK;
}

static bool is_flat_end(const cut_state *state, const segment_end *end)
{
    return end->place == ON_EDGE && (size_t)end->edge >= state->complex.real_edge_count;
}

/// Keeps the bends of a chain that are not on the straight line between its ends.
static rbl_status keep_bends(rbl_context *ctx, const flood *f, worker_scratch *w, int32_t triangle,
    const int32_t a[3], const segment *first, const int32_t *links, size_t link_count, const segment *group,
    cut_chain *chain)
{
    rbl_status status = RBL_OK;
    double p[3], r[3], q[3];
    end_position(f->state, a, first, 0, p);
    end_position(f->state, a, &group[links[link_count - 1]], 1, r);
    for (size_t i = 0; i < link_count; i++) {
        const segment *s = &group[links[i]];
        end_position(f->state, a, s, 0, q);
        if (is_between(p, q, r)) continue;
        int32_t node;
        RBL_TRY(node_of_end(ctx, f, w, triangle, a, &s->end[0], &node));
        RBL_TRY(rbli_array_push(ctx, &w->out.bends, node));
        chain->bend_count++;
    }
done:
    return status;
}

/// Joins the segments of one facet through its diagonals.
static rbl_status chain_facet(rbl_context *ctx, const flood *f, worker_scratch *w, int32_t triangle,
    const int32_t a[3], const cut_plane *mesh_plane, const segment *group, size_t count)
{
    rbl_status status = RBL_OK;
    const cut_state *state = f->state;
    size_t joined = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_flat_end(state, &group[i].end[0])) continue;
        cut_chain chain = {.facet = group[i].facet, .bend_start = (int32_t)w->out.bends.count};
        RBL_TRY(chain_end(ctx, f, w, triangle, a, &group[i], 0, &chain));
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
            RBL_TRY(
                keep_bends(ctx, f, w, triangle, a, &group[i], w->links.data, w->links.count, group, &chain));
        RBL_TRY(chain_end(ctx, f, w, triangle, a, last, 1, &chain));
        RBL_TRY(rbli_array_push(ctx, &w->out.chains, chain));
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
    rbl_context *ctx, const cut_state *state, worker_scratch *w, int32_t triangle)
{
    rbl_status status = RBL_OK;
    for (int side = 0; side < 3; side++) {
        int32_t half = 3 * triangle + side;
        int32_t from = cut_half_start(state, half), to = cut_half_end(state, half);
        if (from > to) continue;
        size_t first = w->out.crossings.count;
        for (size_t i = 0; i < w->segments.count; i++)
            for (int which = 0; which < 2; which++) {
                const segment *s = &w->segments.data[i];
                if (s->end[which].place != side) continue;
                const int32_t *cells = cut_facet_cells(state, s->facet);
                const int32_t *v = state->complex.triangles[s->triangle].v;
                double t = rbli_crossing_parameter(&state->orient, v[0], v[1], v[2], from, to);
                cut_crossing c = {half, s->triangle, cells[which], cells[1 - which], t};
                RBL_TRY(rbli_array_push(ctx, &w->out.crossings, c));
            }
        if (w->out.crossings.count - first > 1)
            RBL_TRY(cut_order_crossings(
                ctx, state, w->out.crossings.data + first, w->out.crossings.count - first));
    }
done:
    return status;
}

static rbl_status cut_one_triangle(
    rbl_context *ctx, const flood *f, worker_scratch *w, int32_t triangle, const int32_t *list, size_t count)
{
    rbl_status status = RBL_OK;
    const cut_state *state = f->state;
    w->segments.count = 0;
    if (count == 0) return RBL_OK;
    const mesh_triangle t = load_mesh_triangle(state, triangle);
    for (size_t i = 0; i < count; i++)
        if (!misses_slab(&t, &state->complex.boxes[list[i]]))
            RBL_TRY(intersect_facet(ctx, state, w, &t, list[i]));
    if (w->segments.count == 0) return RBL_OK;
    sort_segments(w->segments.data, w->segments.count);
    cut_cut_triangle record = {triangle, (int32_t)w->out.chains.count, 0, (int32_t)w->out.nodes.count, 0};
    for (size_t i = 0; i < w->segments.count;) {
        size_t end = i + 1;
        while (end < w->segments.count && w->segments.data[end].facet == w->segments.data[i].facet)
            end++;
        RBL_TRY(chain_facet(ctx, f, w, triangle, t.v, &t.plane, w->segments.data + i, end - i));
        i = end;
    }
    RBL_TRY(store_crossings(ctx, state, w, triangle));
    record.chain_count = (int32_t)w->out.chains.count - record.chain_start;
    record.node_count = (int32_t)w->out.nodes.count - record.node_start;
    status = rbli_array_push(ctx, &w->out.triangles, record);
done:
    return status;
}

/* ---- the recursion ---- */

/// Asks for the corners of a leaf's triangles, and for the triangles of the next leaf. (Inlined by force, because
/// compilers may drop calls of a function that does nothing else.)
static inline __attribute__((always_inline)) void prefetch_leaf(
    const cut_state *state, size_t begin, size_t end)
{
    const cut_tree *tree = &state->mesh.open;
    for (size_t i = begin; i < end && i < tree->count; i++)
        for (int corner = 0; corner < 3; corner++)
            __builtin_prefetch(state->points[state->mesh_view->triangles[tree->order[i]][corner]]);
    for (size_t i = end; i < end + CUT_LEAF_TRIANGLES && i < tree->count; i++)
        __builtin_prefetch(state->mesh_view->triangles[tree->order[i]]);
}

static rbl_status cut_leaf(
    rbl_context *ctx, const flood *f, worker_scratch *w, size_t leaf, size_t list_start, size_t count)
{
    rbl_status status = RBL_OK;
    const cut_tree *tree = &f->state->mesh.open;
    size_t begin = w->stack.count, first = leaf * CUT_LEAF_TRIANGLES, met[CUT_LANES];
    if (first >= tree->count) return RBL_OK;
    size_t triangles = tree->count - first < CUT_LEAF_TRIANGLES ? tree->count - first : CUT_LEAF_TRIANGLES;
    prefetch_leaf(f->state, first, first + CUT_LEAF_TRIANGLES);
    cut_lanes lanes = cut_lanes_of_triangles(f->state, tree->order + first, triangles);
    RBL_TRY(cut_sift(ctx, f->state->complex.boxes, &lanes, &w->stack, list_start, count, met));
    for (size_t i = 0, start = begin; i < triangles; start += met[i++])
        RBL_TRY(cut_one_triangle(ctx, f, w, tree->order[first + i], w->stack.data + start, met[i]));
    w->stack.count = begin;
done:
    return status;
}

static rbl_status descend(
    rbl_context *ctx, const flood *f, worker_scratch *w, size_t node, size_t list_start, size_t count)
{
    rbl_status status = RBL_OK;
    const cut_state *state = f->state;
    if (node >= state->mesh.open.leaf_count)
        return cut_leaf(ctx, f, w, node - state->mesh.open.leaf_count, list_start, count);
    if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
    cut_lanes lanes = cut_lanes_below(&state->mesh.open, node, state->mesh.open.leaf_count);
    size_t begin = w->stack.count, met[CUT_LANES];
    RBL_TRY(cut_sift(ctx, state->complex.boxes, &lanes, &w->stack, list_start, count, met));
    for (size_t i = 0, start = begin; i < lanes.count; start += met[i++])
        if (met[i] > 0) RBL_TRY(descend(ctx, f, w, lanes.first + i, start, met[i]));
    w->stack.count = begin;
done:
    return status;
}

static rbl_status keep_output(rbl_context *ctx, flood_output *made, flood_output *kept)
{
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_array_keep(ctx, &made->triangles, &kept->triangles));
    RBL_TRY(rbli_array_keep(ctx, &made->crossings, &kept->crossings));
    RBL_TRY(rbli_array_keep(ctx, &made->nodes, &kept->nodes));
    RBL_TRY(rbli_array_keep(ctx, &made->chains, &kept->chains));
    RBL_TRY(rbli_array_keep(ctx, &made->bends, &kept->bends));
done:
    return status;
}

static rbl_status task_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    rbl_status status = RBL_OK;
    flood *f = user;
    worker_scratch *w = &f->workers[worker];
    for (size_t i = begin; i < end; i++) {
        RBL_TRY(cut_task_list(ctx, &f->tasks, i, &w->stack));
        size_t count = w->stack.count;
        if (count > 0) RBL_TRY(descend(ctx, f, w, f->tasks.first_node + i, 0, count));
    }
    status = keep_output(ctx, &w->out, &f->blocks[block]);
done:
    return status;
}

/* ---- merging ---- */

static void merge_block(const flood *f, size_t i)
{
    cut_state *s = f->state;
    const flood_output *b = &f->blocks[i];
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
    RBL_TRY_ALLOC(f->starts = rbli_alloc(ctx, f->block_count, sizeof *f->starts));
    for (size_t i = 0; i < f->block_count; i++) {
        const flood_output *b = &f->blocks[i];
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
    RBL_TRY(rbli_parallel_for(ctx, f->block_count, 1, merge_range, f));
done:
    return status;
}

static void free_output(rbl_context *ctx, flood_output *out)
{
    rbli_free(ctx, out->triangles.data);
    rbli_free(ctx, out->crossings.data);
    rbli_free(ctx, out->nodes.data);
    rbli_free(ctx, out->chains.data);
    rbli_free(ctx, out->bends.data);
}

static void free_flood(rbl_context *ctx, flood *f, size_t worker_count)
{
    for (size_t i = 0; f->blocks && i < f->block_count; i++)
        free_output(ctx, &f->blocks[i]);
    for (size_t i = 0; f->workers && i < worker_count; i++) {
        rbli_free(ctx, f->workers[i].stack.data);
        rbli_free(ctx, f->workers[i].segments.data);
        rbli_free(ctx, f->workers[i].links.data);
        rbli_free(ctx, f->workers[i].edge_node);
        rbli_free(ctx, f->workers[i].edge_stamp);
        free_output(ctx, &f->workers[i].out);
    }
    rbli_free(ctx, f->blocks);
    rbli_free(ctx, f->starts);
    rbli_free(ctx, f->workers);
    cut_tasks_free(ctx, &f->tasks);
}

rbl_status cut_flood(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    flood f = {.state = state};
    size_t worker_count = (size_t)rbli_worker_count(ctx);
    RBL_TRY(cut_tasks_make(ctx, state, &f.tasks));
    f.block_count = (f.tasks.count + TASK_GRAIN - 1) / TASK_GRAIN;
    RBL_TRY_ALLOC(f.blocks = rbli_calloc(ctx, f.block_count, sizeof *f.blocks));
    RBL_TRY_ALLOC(f.workers = rbli_calloc(ctx, worker_count, sizeof *f.workers));
    for (size_t i = 0; i < worker_count; i++) {
        worker_scratch *w = &f.workers[i];
        RBL_TRY_ALLOC(w->edge_node = rbli_alloc(ctx, state->complex.real_edge_count, sizeof(int32_t)));
        RBL_TRY_ALLOC(w->edge_stamp = rbli_alloc(ctx, state->complex.real_edge_count, sizeof(int32_t)));
        memset(w->edge_stamp, 0xff, state->complex.real_edge_count * sizeof(int32_t));
    }
    RBL_TRY(rbli_parallel_for(ctx, f.tasks.count, TASK_GRAIN, task_block, &f));
    RBL_TRY(merge_blocks(ctx, &f));
done:
    free_flood(ctx, &f, worker_count);
    return status;
}
