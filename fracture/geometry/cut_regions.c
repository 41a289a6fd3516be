/// Traces the regions of cells on mesh triangles and of the mesh's inside on facets, and triangulates each
/// one once. The next arc is the one that leaves the vertex with the same label: nothing is sorted by angle,
/// so closure does not depend on rounded positions.

#include "fracture/geometry/cut_internal.h"
#include "fracture/geometry/cut_polygon.h"

#include <stdlib.h>

enum {
    FACE_GRAIN = 512,
    FACET_GRAIN = 256,
    COPY_GRAIN = 16,
    LINEAR_ARCS = 12,
    AHEAD = 4, /* triangles that memory is asked for before they are traced */
};

/// Loops flatter than this, area against squared perimeter, are never holes.
static const double FLAT_LOOP = 1e-11;

/// A directed piece of a region's border with the region to its left.
typedef struct arc {
    int32_t from, to, label;
    int32_t chain;    /* its bends belong between the ends; −1 for none */
    int32_t backward; /* the chain is walked from end[1] to end[0] */
    int32_t next;     /* in the hash bucket */
    int32_t used;
} arc;

typedef struct loop {
    int32_t start, count; /* in loop_vertices */
    int32_t label;
    int32_t parent; /* the loop it is a hole of, −1: an outer loop */
    double area2;
} loop;

typedef struct region_scratch {
    RBLI_ARRAY(arc) arcs;
    RBLI_ARRAY(int32_t) buckets;
    RBLI_ARRAY(int32_t) loop_vertices;
    RBLI_ARRAY(double) flat; /* pairs, parallel to loop_vertices */
    RBLI_ARRAY(loop) loops;
    RBLI_ARRAY(int32_t) polygon_vertices, polygon_start;
    RBLI_ARRAY(double) polygon_flat;
    RBLI_ARRAY(int32_t) triangles; /* of a region: three arrangement vertices each */
    cut_polygon polygon;
    /* What the block that the worker is at has made: */
    RBLI_ARRAY(cut_face) faces;
    RBLI_ARRAY(cut_facet_triangle) caps;
    char apart[CUT_APART_BYTES];
} region_scratch;

typedef struct region_pass {
    cut_state *state;
    region_scratch *workers;
    size_t worker_count;
    struct region_block {
        RBLI_ARRAY(cut_face) faces;
        RBLI_ARRAY(cut_facet_triangle) caps; /* that were made */
        size_t cap_count;                    /* of all its facets */
    } * blocks;
    size_t block_count;
    size_t *block_start;                       /* first face or cap of each block */
    int32_t *facet_chain_start, *facet_chains; /* chains of a facet */
} region_pass;

/* ---- tracing ---- */

static rbl_status add_arc(rbl_context *ctx, region_scratch *r, int32_t from, int32_t to, int32_t label,
    int32_t chain, int32_t backward)
{
    return rbli_array_push(ctx, &r->arcs, ((arc){from, to, label, chain, backward, -1, 0}));
}

static uint32_t hash_arc(int32_t vertex, int32_t label)
{
    uint32_t x = (uint32_t)vertex * 0x9e3779b1u ^ (uint32_t)label * 0x85ebca6bu;
    return x ^ x >> 15;
}

static rbl_status index_arcs(rbl_context *ctx, region_scratch *r)
{
    size_t size = 16;
    while (size < 2 * r->arcs.count)
        size *= 2;
    r->buckets.count = 0;
    rbl_status status = rbli_array_reserve(ctx, &r->buckets, size);
    if (status != RBL_OK) return status;
    r->buckets.count = size;
    memset(r->buckets.data, 0xff, size * sizeof *r->buckets.data);
    for (size_t i = r->arcs.count; i-- > 0;) {
        arc *a = &r->arcs.data[i];
        int32_t *head = &r->buckets.data[hash_arc(a->from, a->label) & (size - 1)];
        a->next = *head;
        *head = (int32_t)i;
    }
    return RBL_OK;
}

/// An arc that has not been walked and leaves the vertex with this label; NULL for none.
static arc *find_arc(region_scratch *r, int32_t vertex, int32_t label)
{
    if (r->arcs.count <= LINEAR_ARCS) {
        for (size_t i = 0; i < r->arcs.count; i++) {
            arc *a = &r->arcs.data[i];
            if (a->from == vertex && a->label == label && !a->used) return a;
        }
        return NULL;
    }
    int32_t i = r->buckets.data[hash_arc(vertex, label) & (r->buckets.count - 1)];
    for (; i >= 0; i = r->arcs.data[i].next) {
        arc *a = &r->arcs.data[i];
        if (a->from == vertex && a->label == label && !a->used) return a;
    }
    return NULL;
}

static rbl_status push_arc_vertices(rbl_context *ctx, const cut_state *state, region_scratch *r, const arc *a)
{
    rbl_status status = RBL_OK;
    __builtin_prefetch(cut_position(state, a->from));
    RBL_TRY(rbli_array_push(ctx, &r->loop_vertices, a->from));
    if (a->chain < 0) return RBL_OK;
    const cut_chain *chain = &state->chains[a->chain];
    for (int32_t i = 0; i < chain->bend_count; i++) {
        int32_t at = a->backward ? chain->bend_count - 1 - i : i;
        RBL_TRY(rbli_array_push(ctx, &r->loop_vertices, state->bends[chain->bend_start + at]));
    }
done:
    return status;
}

/// Turns all arcs into closed loops; loops of two vertices enclose nothing and vanish.
static rbl_status trace_loops(
    rbl_context *ctx, const cut_state *state, region_scratch *r, const char *where, int32_t index)
{
    rbl_status status = RBL_OK;
    r->loops.count = r->loop_vertices.count = 0;
    if (r->arcs.count > LINEAR_ARCS) RBL_TRY(index_arcs(ctx, r));
    for (size_t i = 0; i < r->arcs.count; i++) {
        if (r->arcs.data[i].used) continue;
        arc *a = &r->arcs.data[i];
        int32_t first = a->from, start = (int32_t)r->loop_vertices.count;
        for (;;) {
            a->used = 1;
            RBL_TRY(push_arc_vertices(ctx, state, r, a));
            if (a->to == first) break;
            a = find_arc(r, a->to, a->label);
            if (!a) {
                status = rbli_fail(ctx, RBL_ERR_INTERNAL,
                    "cut: the border of a region on %s %d does not close", where, index);
                goto done;
            }
        }
        int32_t count = (int32_t)r->loop_vertices.count - start;
        if (count < 3)
            r->loop_vertices.count = (size_t)start;
        else
            RBL_TRY(rbli_array_push(ctx, &r->loops, ((loop){start, count, a->label, -1, 0})));
    }
done:
    return status;
}

/* ---- triangulation ---- */

static rbl_status project_loops(rbl_context *ctx, const cut_state *state, region_scratch *r,
    const int32_t axes[2], const double origin[3])
{
    rbl_status status = RBL_OK;
    r->flat.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &r->flat, 2 * r->loop_vertices.count));
    for (size_t i = 0; i < r->loop_vertices.count; i++) {
        const double *p = cut_position(state, r->loop_vertices.data[i]);
        r->flat.data[2 * i] = p[axes[0]] - origin[axes[0]];
        r->flat.data[2 * i + 1] = p[axes[1]] - origin[axes[1]];
    }
    for (size_t i = 0; i < r->loops.count; i++) {
        loop *l = &r->loops.data[i];
        l->area2 = cut_loop_area2((const double(*)[2])r->flat.data + l->start, (size_t)l->count);
    }
done:
    return status;
}

static double loop_perimeter(const region_scratch *r, const loop *l)
{
    const double(*p)[2] = (const double(*)[2])r->flat.data + l->start;
    double sum = 0;
    for (int32_t i = 0, j = l->count - 1; i < l->count; j = i++)
        sum += sqrt((p[i][0] - p[j][0]) * (p[i][0] - p[j][0]) + (p[i][1] - p[j][1]) * (p[i][1] - p[j][1]));
    return sum;
}

/// A point inside a clockwise loop that is not flat, also where it touches itself: the middle of its largest
/// triangle.
static rbl_status find_middle(rbl_context *ctx, region_scratch *r, const loop *l, double middle[2])
{
    rbl_status status = RBL_OK;
    size_t count = (size_t)l->count;
    int32_t start[2] = {0, l->count};
    double largest = 0;
    r->polygon_flat.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &r->polygon_flat, 2 * count));
    double(*p)[2] = (double(*)[2])r->polygon_flat.data;
    for (size_t i = 0; i < count; i++)
        memcpy(p[i], r->flat.data + 2 * ((size_t)l->start + count - 1 - i), sizeof *p);
    memcpy(middle, p[0], sizeof *p);
    RBL_TRY(cut_polygon_triangulate(ctx, &r->polygon, (const double(*)[2])p, start, 1));
    for (size_t i = 0; i < r->polygon.corners.count; i += 3) {
        const int32_t *c = r->polygon.corners.data + i;
        double corners[3][2];
        for (int k = 0; k < 3; k++)
            memcpy(corners[k], p[c[k]], sizeof corners[k]);
        double area = cut_loop_area2((const double(*)[2])corners, 3);
        if (area <= largest) continue;
        largest = area;
        for (int axis = 0; axis < 2; axis++)
            middle[axis] = (corners[0][axis] + corners[1][axis] + corners[2][axis]) / 3;
    }
done:
    return status;
}

/// Finds the smallest outer loop of the same label around each clockwise loop.
static rbl_status nest_loops(rbl_context *ctx, region_scratch *r)
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < r->loops.count; i++) {
        loop *hole = &r->loops.data[i];
        if (hole->area2 >= 0) continue;
        double perimeter = loop_perimeter(r, hole);
        if (-hole->area2 <= FLAT_LOOP * perimeter * perimeter) continue;
        const double(*points)[2] = (const double(*)[2])r->flat.data;
        double best = INFINITY, middle[2];
        RBL_TRY(find_middle(ctx, r, hole, middle));
        for (size_t j = 0; j < r->loops.count; j++) {
            const loop *outer = &r->loops.data[j];
            if (outer->label != hole->label || outer->area2 < -hole->area2 || outer->area2 >= best) continue;
            if (!cut_loop_contains(points + outer->start, (size_t)outer->count, middle)) continue;
            best = outer->area2;
            hole->parent = (int32_t)j;
        }
    }
done:
    return status;
}

static rbl_status add_to_polygon(rbl_context *ctx, region_scratch *r, const loop *l)
{
    rbl_status status = RBL_OK;
    size_t at = r->polygon_vertices.count, count = (size_t)l->count;
    RBL_TRY(rbli_array_reserve(ctx, &r->polygon_vertices, count));
    RBL_TRY(rbli_array_reserve(ctx, &r->polygon_flat, 2 * count));
    memcpy(r->polygon_vertices.data + at, r->loop_vertices.data + l->start, count * sizeof(int32_t));
    memcpy(r->polygon_flat.data + 2 * at, r->flat.data + 2 * l->start, 2 * count * sizeof(double));
    r->polygon_vertices.count += count;
    r->polygon_flat.count += 2 * count;
    RBL_TRY(rbli_array_push(ctx, &r->polygon_start, (int32_t)r->polygon_vertices.count));
done:
    return status;
}

/// Triangulates an outer loop with its holes and appends to r->triangles.
static rbl_status triangulate_region(rbl_context *ctx, region_scratch *r, size_t outer)
{
    rbl_status status = RBL_OK;
    r->polygon_vertices.count = r->polygon_flat.count = r->polygon_start.count = 0;
    RBL_TRY(rbli_array_push(ctx, &r->polygon_start, 0));
    RBL_TRY(add_to_polygon(ctx, r, &r->loops.data[outer]));
    for (size_t i = 0; i < r->loops.count; i++)
        if (r->loops.data[i].parent == (int32_t)outer) RBL_TRY(add_to_polygon(ctx, r, &r->loops.data[i]));
    RBL_TRY(cut_polygon_triangulate(ctx, &r->polygon, (const double(*)[2])r->polygon_flat.data,
        r->polygon_start.data, r->polygon_start.count - 1));
    RBL_TRY(rbli_array_reserve(ctx, &r->triangles, r->polygon.corners.count));
    for (size_t i = 0; i < r->polygon.corners.count; i += 3) {
        int32_t v[3];
        for (size_t j = 0; j < 3; j++)
            v[j] = r->polygon_vertices.data[r->polygon.corners.data[i + j]];
        /* A loop may come by a vertex twice; a triangle with both is a line, and its sides cancel each other.
         */
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
        memcpy(r->triangles.data + r->triangles.count, v, sizeof v);
        r->triangles.count += 3;
    }
done:
    return status;
}

static bool has_several_loops_of_a_label(const region_scratch *r)
{
    for (size_t i = 0; i < r->loops.count; i++)
        if (r->loops.data[i].area2 < 0) return r->loops.count > 1;
    return false;
}

/// A piece of a border, as often as its region counts; a negative number runs it backward.
static rbl_status add_layers(rbl_context *ctx, region_scratch *r, int32_t from, int32_t to, int32_t layers)
{
    rbl_status status = RBL_OK;
    for (int32_t layer = 0; layer < layers; layer++)
        RBL_TRY(add_arc(ctx, r, from, to, 0, -1, 0));
    for (int32_t layer = 0; layer > layers; layer--)
        RBL_TRY(add_arc(ctx, r, to, from, 0, -1, 0));
done:
    return status;
}

/* ---- mesh triangles ---- */

/// The border of a triangle for a union: 1 − winding times.
static rbl_status add_united_side(
    rbl_context *ctx, const cut_state *state, region_scratch *r, int32_t triangle, int side)
{
    rbl_status status = RBL_OK;
    int32_t half = 3 * triangle + side;
    int32_t owner = cut_half_owner(state, half);
    int32_t vertex = cut_half_start(state, half), end = cut_half_end(state, half);
    int32_t winding = state->vertex_label[vertex];
    size_t first = 0, count = cut_crossings_of(state, owner, &first);
    for (size_t i = 0; i < count; i++) {
        size_t index = owner == half ? first + i : first + count - 1 - i;
        const cut_crossing *c = &state->crossings[index];
        int32_t node = cut_crossing_vertex(state, index);
        RBL_TRY(add_layers(ctx, r, vertex, node, 1 - winding));
        vertex = node;
        winding += (c->to == 0) == (owner == half) ? 1 : -1;
    }
    if (winding != state->vertex_label[end])
        return rbli_fail(
            ctx, RBL_ERR_INTERNAL, "union: windings along a mesh edge do not end at vertex %d's", end);
    RBL_TRY(add_layers(ctx, r, vertex, end, 1 - winding));
done:
    return status;
}

/// The border of a triangle, split at its crossings.
static rbl_status add_side_arcs(
    rbl_context *ctx, const cut_state *state, region_scratch *r, int32_t triangle, int side)
{
    rbl_status status = RBL_OK;
    int32_t half = 3 * triangle + side;
    int32_t owner = cut_half_owner(state, half);
    int32_t vertex = cut_half_start(state, half), end = cut_half_end(state, half);
    int32_t label = state->vertex_label[vertex];
    size_t first = 0, count = cut_crossings_of(state, owner, &first);
    for (size_t i = 0; i < count; i++) {
        size_t index = owner == half ? first + i : first + count - 1 - i;
        const cut_crossing *c = &state->crossings[index];
        int32_t before = owner == half ? c->from : c->to, after = owner == half ? c->to : c->from;
        if (before != label)
            return rbli_fail(
                ctx, RBL_ERR_INTERNAL, "cut: labels along mesh edge %d–%d do not chain", vertex, end);
        int32_t node = cut_crossing_vertex(state, index);
        RBL_TRY(add_arc(ctx, r, vertex, node, label, -1, 0));
        vertex = node;
        label = after;
    }
    if (label != state->vertex_label[end])
        return rbli_fail(
            ctx, RBL_ERR_INTERNAL, "cut: labels along a mesh edge do not end at vertex %d's", end);
    RBL_TRY(add_arc(ctx, r, vertex, end, label, -1, 0));
done:
    return status;
}

static rbl_status trace_triangle(
    rbl_context *ctx, const cut_state *state, region_scratch *r, const cut_cut_triangle *record)
{
    rbl_status status = RBL_OK;
    const int32_t *v = state->mesh_view->triangles[record->triangle];
    r->arcs.count = 0;
    for (int side = 0; side < 3; side++)
        RBL_TRY((state->unite ? add_united_side : add_side_arcs)(ctx, state, r, record->triangle, side));
    for (int32_t i = record->chain_start; i < record->chain_start + record->chain_count; i++) {
        const cut_chain *chain = &state->chains[i];
        const int32_t *cells = cut_facet_cells(state, chain->facet);
        if (!state->unite) RBL_TRY(add_arc(ctx, r, chain->end[0], chain->end[1], cells[0], i, 0));
        RBL_TRY(add_arc(ctx, r, chain->end[1], chain->end[0], state->unite ? 0 : cells[1], i, 1));
    }
    RBL_TRY(trace_loops(ctx, state, r, "mesh triangle", record->triangle));
    const double *a = state->points[v[0]];
    cut_plane plane = cut_plane_make(a, state->points[v[1]], state->points[v[2]]);
    int32_t axes[2];
    cut_projection_axes(plane.normal, axes);
    RBL_TRY(project_loops(ctx, state, r, axes, a));
    if (has_several_loops_of_a_label(r)) RBL_TRY(nest_loops(ctx, r));
    for (size_t i = 0; i < r->loops.count; i++) {
        if (r->loops.data[i].parent >= 0) continue;
        int32_t label = r->loops.data[i].label;
        if (label < 0)
            return rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: mesh triangle %d reaches outside of the complex",
                record->triangle);
        if (!state->unite && cut_is_dropped(state, label)) continue;
        r->triangles.count = 0;
        RBL_TRY(triangulate_region(ctx, r, i));
        RBL_TRY(rbli_array_reserve(ctx, &r->faces, r->triangles.count / 3));
        for (size_t j = 0; j < r->triangles.count; j += 3) {
            const int32_t *t = r->triangles.data + j;
            r->faces.data[r->faces.count++] = (cut_face){{t[0], t[1], t[2]}, label, record->triangle};
        }
    }
done:
    return status;
}

static rbl_status triangle_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    region_pass *pass = user;
    region_scratch *r = &pass->workers[worker];
    rbl_status status = RBL_OK;
    for (size_t i = begin; i < end; i++) {
        if (i + AHEAD < end) cut_prefetch_sides(pass->state, pass->state->cut_triangles[i + AHEAD].triangle);
        RBL_TRY(trace_triangle(ctx, pass->state, r, &pass->state->cut_triangles[i]));
    }
    status = rbli_array_keep(ctx, &r->faces, &pass->blocks[block].faces);
done:
    return status;
}

/* ---- facets ---- */

/// How often a region of a facet counts where the mesh winds around it.
static int32_t facet_layers(const cut_state *state, int32_t winding)
{
    return state->unite ? 1 - winding : winding;
}

/// The border of a facet where its regions count, split at the edges' nodes.
static rbl_status add_loop_arcs(rbl_context *ctx, const cut_state *state, region_scratch *r, int32_t facet)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = state->complex_view;
    int32_t begin = k->facet_start[facet], end = k->facet_start[facet + 1], base = state->complex.first_point;
    for (int32_t i = begin; i < end; i++) {
        int32_t u = k->facet_vertices[i], v = k->facet_vertices[i + 1 == end ? begin : i + 1];
        int32_t edge = state->complex.loop_edge[i];
        int32_t first = state->edge_node_start[edge], count = state->edge_node_start[edge + 1] - first;
        int32_t winding = state->k_winding[u], vertex = base + u;
        for (int32_t j = 0; j <= count; j++) {
            int32_t step = 0, next = base + v;
            if (j < count) {
                int32_t node = state->edge_nodes[u < v ? first + j : first + count - 1 - j];
                step = u < v ? state->nodes[node].winding_step : -state->nodes[node].winding_step;
                next = cut_node_vertex(state, (size_t)node);
            }
            RBL_TRY(add_layers(ctx, r, vertex, next, facet_layers(state, winding)));
            winding += step;
            vertex = next;
        }
        if (winding != state->k_winding[v])
            return rbli_fail(
                ctx, RBL_ERR_INTERNAL, "cut: windings along edge %d–%d of the complex do not add up", u, v);
    }
done:
    return status;
}

/// A facet that the mesh does not cross: nothing, its own triangles, or, in a union or where the mesh winds around it
/// otherwise than once, all of it so many times.
static rbl_status cap_whole_facet(rbl_context *ctx, cut_state *state, region_scratch *r, int32_t facet)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = state->complex_view;
    int32_t layers = facet_layers(state, state->k_winding[k->facet_vertices[k->facet_start[facet]]]);
    int32_t first = state->complex.facet_triangle_start[facet],
            end = state->complex.facet_triangle_start[facet + 1];
    int second = layers > 0 ? 1 : 2;
    if (layers == 0 || first == end) return RBL_OK;
    if (layers == 1) {
        state->facet_caps[facet] = (cut_cap_range){first, end - first};
        return RBL_OK;
    }
    RBL_TRY(rbli_array_reserve(ctx, &r->caps, (size_t)abs(layers) * (size_t)(end - first)));
    cut_facet_triangle *cap = r->caps.data + r->caps.count;
    for (int32_t layer = 0; layer < abs(layers); layer++)
        for (int32_t i = first; i < end; i++) {
            const int32_t *v = state->complex.triangles[i].v;
            *cap++ = (cut_facet_triangle){{v[0], v[second], v[3 - second]}, facet};
        }
    r->caps.count = (size_t)(cap - r->caps.data);
done:
    return status;
}

static rbl_status trace_facet(rbl_context *ctx, const region_pass *pass, region_scratch *r, int32_t facet)
{
    rbl_status status = RBL_OK;
    cut_state *state = pass->state;
    int32_t first = pass->facet_chain_start[facet], last = pass->facet_chain_start[facet + 1];
    if (first == last) return cap_whole_facet(ctx, state, r, facet);
    r->arcs.count = 0;
    RBL_TRY(add_loop_arcs(ctx, state, r, facet));
    for (int32_t i = first; i < last; i++) {
        const cut_chain *chain = &state->chains[pass->facet_chains[i]];
        int from = state->unite ? 0 : 1;
        RBL_TRY(add_arc(ctx, r, chain->end[from], chain->end[1 - from], 0, pass->facet_chains[i], from));
    }
    RBL_TRY(trace_loops(ctx, state, r, "facet", facet));
    if (r->loops.count == 0) return RBL_OK;
    const double *origin = cut_position(state, r->loop_vertices.data[0]);
    RBL_TRY(project_loops(ctx, state, r, state->complex.facet_axes[facet], origin));
    if (has_several_loops_of_a_label(r)) RBL_TRY(nest_loops(ctx, r));
    for (size_t i = 0; i < r->loops.count; i++) {
        if (r->loops.data[i].parent >= 0) continue;
        r->triangles.count = 0;
        RBL_TRY(triangulate_region(ctx, r, i));
        RBL_TRY(rbli_array_reserve(ctx, &r->caps, r->triangles.count / 3));
        for (size_t j = 0; j < r->triangles.count; j += 3) {
            const int32_t *t = r->triangles.data + j;
            r->caps.data[r->caps.count++] = (cut_facet_triangle){{t[0], t[1], t[2]}, facet};
        }
    }
done:
    return status;
}

static rbl_status facet_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    region_pass *pass = user;
    region_scratch *r = &pass->workers[worker];
    cut_cap_range *facet_caps = pass->state->facet_caps;
    size_t cap_count = 0;
    rbl_status status = RBL_OK;
    for (size_t i = begin; i < end; i++) {
        const int32_t *cells = cut_facet_cells(pass->state, (int32_t)i);
        int32_t before = (int32_t)r->caps.count;
        facet_caps[i] = (cut_cap_range){0, 0};
        if (cells[0] == cells[1] || cells[0] < 0 || cells[1] < 0) continue;
        RBL_TRY(trace_facet(ctx, pass, r, (int32_t)i));
        int32_t made = (int32_t)r->caps.count - before;
        if (made > 0)
            facet_caps[i] = (cut_cap_range){(int32_t)pass->state->complex.triangle_count + before, made};
        cap_count += (size_t)facet_caps[i].count;
    }
    pass->blocks[block].cap_count = cap_count;
    status = rbli_array_keep(ctx, &r->caps, &pass->blocks[block].caps);
done:
    return status;
}

/* ---- passes ---- */

static rbl_status begin_pass(
    rbl_context *ctx, region_pass *pass, cut_state *state, size_t count, size_t grain)
{
    rbl_status status = RBL_OK;
    *pass = (region_pass){.state = state, .worker_count = (size_t)rbli_worker_count(ctx)};
    pass->block_count = (count + grain - 1) / grain;
    RBL_TRY_ALLOC(pass->workers = rbli_calloc(ctx, pass->worker_count, sizeof *pass->workers));
    RBL_TRY_ALLOC(pass->blocks = rbli_calloc(ctx, pass->block_count, sizeof *pass->blocks));
    RBL_TRY_ALLOC(pass->block_start = rbli_alloc(ctx, pass->block_count, sizeof *pass->block_start));
done:
    return status;
}

static void end_pass(rbl_context *ctx, region_pass *pass)
{
    for (size_t i = 0; pass->blocks && i < pass->block_count; i++) {
        rbli_free(ctx, pass->blocks[i].faces.data);
        rbli_free(ctx, pass->blocks[i].caps.data);
    }
    for (size_t i = 0; pass->workers && i < pass->worker_count; i++) {
        region_scratch *r = &pass->workers[i];
        rbli_free(ctx, r->arcs.data);
        rbli_free(ctx, r->buckets.data);
        rbli_free(ctx, r->loop_vertices.data);
        rbli_free(ctx, r->flat.data);
        rbli_free(ctx, r->loops.data);
        rbli_free(ctx, r->polygon_vertices.data);
        rbli_free(ctx, r->polygon_start.data);
        rbli_free(ctx, r->polygon_flat.data);
        rbli_free(ctx, r->triangles.data);
        rbli_free(ctx, r->faces.data);
        rbli_free(ctx, r->caps.data);
        cut_polygon_free(ctx, &r->polygon);
    }
    rbli_free(ctx, pass->workers);
    rbli_free(ctx, pass->blocks);
    rbli_free(ctx, pass->block_start);
    rbli_free(ctx, pass->facet_chain_start);
    rbli_free(ctx, pass->facet_chains);
}

/// Copies what blocks have made to its place.
static rbl_status copy_blocks(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const region_pass *pass = user;
    for (size_t i = begin; i < end; i++) {
        const struct region_block *b = &pass->blocks[i];
        if (b->faces.count)
            memcpy(pass->state->faces + pass->block_start[i], b->faces.data,
                b->faces.count * sizeof *b->faces.data);
        if (b->caps.count)
            memcpy(pass->state->made_caps + pass->block_start[i], b->caps.data,
                b->caps.count * sizeof *b->caps.data);
    }
    return RBL_OK;
}

/// The same for caps that were made, which facets then know by their place.
static rbl_status copy_caps(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const region_pass *pass = user;
    size_t facet_count = pass->state->complex_view->facet_count;
    size_t last = end * FACET_GRAIN < facet_count ? end * FACET_GRAIN : facet_count;
    for (size_t f = begin * FACET_GRAIN; f < last; f++) {
        int32_t *first = &pass->state->facet_caps[f].first;
        if ((size_t)*first >= pass->state->complex.triangle_count)
            *first += (int32_t)pass->block_start[f / FACET_GRAIN];
    }
    return copy_blocks(ctx, begin, end, block, worker, user);
}

rbl_status cut_trace_mesh(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    region_pass pass = {0};
    RBL_TRY(begin_pass(ctx, &pass, state, state->cut_triangle_count, FACE_GRAIN));
    RBL_TRY(rbli_parallel_for(ctx, state->cut_triangle_count, FACE_GRAIN, triangle_block, &pass));
    for (size_t i = 0; i < pass.block_count; i++) {
        pass.block_start[i] = state->face_count;
        state->face_count += pass.blocks[i].faces.count;
    }
    RBL_TRY_ALLOC(state->faces = rbli_alloc(ctx, state->face_count, sizeof *state->faces));
    RBL_TRY(rbli_touch_pages(ctx, state->faces, state->face_count * sizeof *state->faces));
    RBL_TRY(rbli_parallel_for(ctx, pass.block_count, COPY_GRAIN, copy_blocks, &pass));
done:
    end_pass(ctx, &pass);
    return status;
}

static rbl_status chains_by_facet(rbl_context *ctx, region_pass *pass)
{
    rbl_status status = RBL_OK;
    const cut_state *state = pass->state;
    size_t facet_count = state->complex_view->facet_count;
    RBL_TRY_ALLOC(pass->facet_chain_start = rbli_calloc(ctx, facet_count + 2, sizeof(int32_t)));
    RBL_TRY_ALLOC(pass->facet_chains = rbli_alloc(ctx, state->chain_count, sizeof(int32_t)));
    for (size_t i = 0; i < state->chain_count; i++)
        pass->facet_chain_start[state->chains[i].facet + 2]++;
    for (size_t f = 0; f < facet_count; f++)
        pass->facet_chain_start[f + 2] += pass->facet_chain_start[f + 1];
    for (size_t i = 0; i < state->chain_count; i++)
        pass->facet_chains[pass->facet_chain_start[state->chains[i].facet + 1]++] = (int32_t)i;
done:
    return status;
}

rbl_status cut_trace_facets(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    region_pass pass = {0};
    size_t facet_count = state->complex_view->facet_count;
    RBL_TRY(begin_pass(ctx, &pass, state, facet_count, FACET_GRAIN));
    RBL_TRY(chains_by_facet(ctx, &pass));
    RBL_TRY_ALLOC(state->facet_caps = rbli_alloc(ctx, facet_count, sizeof *state->facet_caps));
    RBL_TRY(rbli_parallel_for(ctx, facet_count, FACET_GRAIN, facet_block, &pass));
    for (size_t i = 0; i < pass.block_count; i++) {
        pass.block_start[i] = state->made_cap_count;
        state->made_cap_count += pass.blocks[i].caps.count;
        state->cap_count += pass.blocks[i].cap_count;
    }
    if (state->complex.triangle_count + state->made_cap_count > INT32_MAX / 4) {
        status = rbli_fail(ctx, RBL_ERR_LIMIT, "the pieces have too many triangles");
        goto done;
    }
    RBL_TRY_ALLOC(state->made_caps = rbli_alloc(ctx, state->made_cap_count, sizeof *state->made_caps));
    RBL_TRY(rbli_touch_pages(ctx, state->made_caps, state->made_cap_count * sizeof *state->made_caps));
    RBL_TRY(rbli_parallel_for(ctx, pass.block_count, COPY_GRAIN, copy_caps, &pass));
done:
    end_pass(ctx, &pass);
    return status;
}
