#ifndef RUBBLE_GEOMETRY_CUT_INTERNAL_H
#define RUBBLE_GEOMETRY_CUT_INTERNAL_H

/// What the phases of the cut share (CUT.md). Nothing outside cut*.c includes this.
///
/// Arrangement vertices have one numbering: mesh vertices, complex vertices, spare points, then nodes: first
/// the crossings of mesh edges with complex triangles, then those of mesh triangles with complex edges.
///
/// Half-edge h of the mesh is side h % 3 of triangle h / 3, from corner h % 3 to the next one.

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/cut.h"
#include "fracture/geometry/lanes.h"
#include "fracture/geometry/orient.h"

enum {
    CUT_LEAF_TRIANGLES = 8, /* of the tree over the mesh */
    CUT_SPARE_POINTS = 2,   /* the far ends of queries' segments: for a cell, for a winding */
    CUT_NO_LABEL = -2,      /* not known yet; −1 is the outside of the box */
    CUT_PLACE_GRAIN = 8192,
    CUT_APART_BYTES = 128, /* at the end of what different threads write: no cache line is in two of them */
};

/// fmin and fmax without their calls; no NaN comes here.
static inline double cut_min(double a, double b)
{
    return a < b ? a : b;
}
static inline double cut_max(double a, double b)
{
    return a > b ? a : b;
}

/// A dozen roundings of 24 bits at the grid's size: what heights over planes, in floats, may be wrong by.
#define CUT_FLOAT_MARGIN 0x1p28f

/// The plane of a triangle with an error bound, so that a point's side costs a dozen operations.
typedef struct cut_plane {
    double base[3], normal[3], weight[3];
} cut_plane;

static inline cut_plane cut_plane_make(const double a[3], const double b[3], const double c[3])
{
    cut_plane plane;
    double u[3], v[3], m[3];
    for (int axis = 0; axis < 3; axis++) {
        plane.base[axis] = a[axis];
        u[axis] = b[axis] - a[axis];
        v[axis] = c[axis] - a[axis];
        m[axis] = cut_max(fabs(u[axis]), fabs(v[axis]));
    }
    for (int axis = 0; axis < 3; axis++) {
        int i = (axis + 1) % 3, j = (axis + 2) % 3;
        plane.normal[axis] = u[i] * v[j] - u[j] * v[i];
        plane.weight[axis] = 0x1p-49 * m[i] * m[j]; /* 16 roundings' worth; the value takes 8 at most */
    }
    return plane;
}

/// ±1, or 0 when the filter cannot tell.
static inline int cut_plane_side(const cut_plane *plane, const double p[3])
{
    double x = p[0] - plane->base[0], y = p[1] - plane->base[1], z = p[2] - plane->base[2];
    double value = plane->normal[0] * x + plane->normal[1] * y + plane->normal[2] * z;
    double bound = plane->weight[0] * fabs(x) + plane->weight[1] * fabs(y) + plane->weight[2] * fabs(z);
    return (value > bound) - (value < -bound);
}

/// A triangle on a facet, counter-clockwise seen from the positive cell: one of the facet's own, or a cap, which is what
/// the output has there.
typedef struct cut_facet_triangle {
    int32_t v[3]; /* arrangement vertices */
    int32_t facet;
} cut_facet_triangle;

/// Neighbours in a list of triangles on facets.
typedef struct cut_cap_range {
    int32_t first, count;
} cut_cap_range;

typedef RBLI_ARRAY(int32_t) cut_index_list;

typedef rbli_float4 cut_floats;
typedef rbli_int4 cut_flags;

static inline cut_floats cut_load(const float p[4])
{
    cut_floats four;
    memcpy(&four, p, sizeof four);
    return four;
}
static inline cut_floats cut_four(float x)
{
    return (cut_floats){x, x, x, x};
}
static inline bool cut_any(cut_flags flags)
{
    uint64_t halves[2];
    memcpy(halves, &flags, sizeof halves);
    return halves[0] | halves[1];
}

/// Bit i: whether flag i is set.
static inline int cut_flag_bits(cut_flags flags)
{
    return (int)rbli_lane_bits(flags);
}

/// What the search needs of a facet: a box rounded outward, and a slab that holds it.
typedef struct cut_k_box {
    float low[3],
        middle; /* `middle` and `reach`: points of the facet have |normal·p − middle| < reach, with room */
    float high[3], reach; /* for the rounding of that in floats */
    float normal[3],
        separates;            /* of about unit length; 0: both sides are one cell, the facet does not count */
    double offset, thickness; /* points of the facet have |normal·p − offset| ≤ thickness */
} cut_k_box;

/// What a facet gives to volumes and contacts where all of it lies inside the mesh.
typedef struct cut_facet_measure {
    double normal[3]; /* area normal of its loop, twice the area long, in squared grid steps */
    double
        area; /* 0: its triangles must be looked at one by one: they are no fan, two of their corners may be at
                         one place in source coordinates, it may be a film, or bent */
} cut_facet_measure;

/// The complex, triangulated. Edges below real_edge_count belong to facet loops, the others are flat:
/// diagonals.
typedef struct cut_complex {
    const rbli_cell_complex *source;
    int32_t first_point; /* number of the complex's vertex 0 among the points */
    cut_facet_triangle *triangles;
    int32_t (*triangle_edges)[3]; /* edge j of a triangle goes from v[j] to v[(j + 1) % 3] */
    size_t triangle_count;
    cut_k_box *boxes;            /* [facet_count] */
    cut_facet_measure *measures; /* [facet_count] */
    int32_t (*edges)[2];         /* points, the smaller first */
    size_t edge_count, real_edge_count;
    int32_t *loop_edge;            /* [facet_start[facet_count]] edge from this loop vertex to the next */
    int32_t *facet_triangle_start; /* [facet_count + 1] */
    int32_t (*facet_axes)[2];      /* the coordinate axes that project a facet counter-clockwise */
    int32_t *side_start;           /* [cell_count + 1 …] sides of a cell */
    int32_t *sides; /* 2 × facet + side, of facets between two cells: by the cell on that side */
} cut_complex;

/// A tree of boxes over triangles of the mesh in Morton order.
typedef struct cut_tree {
    int32_t *order; /* [count] triangles */
    size_t count;
    size_t leaf_count; /* rounded up to a power of two */
    float (*boxes)[6]; /* [2 × leaf_count] low, high; node n has children 2n and 2n + 1; leaf l is node
                           leaf_count + l */
} cut_tree;

/// The mesh: pairing of half-edges, and its triangles by where they lie.
typedef struct cut_mesh {
    const rbli_mesh_view *source;
    int32_t *opposite;          /* [3 × triangle_count] */
    int32_t *vertex_half;       /* [vertex_count] lowest half-edge that leaves the vertex, −1 for none */
    _Atomic(uint64_t) *normals; /* [vertex_count] packed, 0 where not asked for yet */
    double low[3], high[3];     /* the box of its points */
    uint8_t *settled; /* [triangle_count] 1: the corners surely lie in one cell, nothing crosses it */
    cut_tree open;    /* over the other triangles */
    cut_tree whole;   /* over all, where some are settled; made by the first query for windings */
} cut_mesh;

/// A mesh edge crosses a triangle of the complex. Stored once, along the half-edge whose start index is
/// smaller.
typedef struct cut_crossing {
    int32_t half;
    int32_t triangle;
    int32_t from, to; /* cells along the half-edge */
    double parameter;
} cut_crossing;

/// A mesh triangle crosses an edge of the complex (or a diagonal, where a chain bends).
typedef struct cut_node {
    int32_t mesh_triangle;
    int32_t edge;
    int32_t winding_step; /* +1: enters the mesh along the edge, from its smaller end */
    double parameter;
} cut_node;

/// The part of a facet's line on a mesh triangle, from `end[0]` to `end[1]` with the facet's negative cell to
/// the left (seen from outside the mesh). While collected, an end is a node number of the block, or −1 − i
/// for side i of the triangle with the complex triangle in `end_triangle`; once resolved it is an arrangement
/// vertex.
typedef struct cut_chain {
    int32_t facet;
    int32_t end[2];
    int32_t end_triangle[2];
    int32_t bend_start, bend_count; /* in `bends`: nodes between the ends */
} cut_chain;

/// A mesh triangle with chains.
typedef struct cut_cut_triangle {
    int32_t triangle;
    int32_t chain_start, chain_count;
    int32_t node_start, node_count;
} cut_cut_triangle;

/// A triangle of the output on a mesh triangle.
typedef struct cut_face {
    int32_t v[3]; /* arrangement vertices */
    int32_t label;
    int32_t source; /* mesh triangle */
} cut_face;

/// A set of hashes that may hold more than was added, but not many.
typedef struct cut_bit_set {
    uint64_t *words; /* [mask / 64 + 1] */
    size_t mask;
} cut_bit_set;

typedef struct cut_state {
    const rbli_mesh_view *mesh_view;
    const rbli_cell_complex *complex_view;
    bool split_islands;
    size_t dropped_cells; /* so many cells at the end give no pieces */
    bool contacts_only;
    /* The union of two meshes: the complex is the second mesh, its triangles the facets between cell 0 inside
       and cell 1 outside; the mesh grows instead of shrinking, labels are windings of the complex, and
       regions are traced 1 − winding times. */
    bool unite;
    rbli_grid grid;
    double (*points)[3]; /* mesh, complex, spare */
    int32_t point_count;
    double complex_top; /* highest z of the complex's points */
    rbli_orient_points orient;
    cut_mesh mesh;
    cut_complex complex;

    cut_cut_triangle *cut_triangles;
    size_t cut_triangle_count;
    cut_crossing *crossings;
    size_t crossing_count;
    cut_node *nodes;
    size_t node_count;
    cut_chain *chains;
    size_t chain_count;
    int32_t *bends;
    size_t bend_count;
    int32_t *half_crossing; /* [3 × triangle_count] 1 + first crossing of an owning half-edge, 0 for none */
    double (*node_positions)[3]; /* [crossing_count + node_count] */
    double (*node_sources)[3];   /* the same in source coordinates, as they are written */
    double (*node_weights)[3];   /* [node_count] in their mesh triangles; NULL where the result has none */

    int32_t *vertex_label;    /* [mesh vertex_count] */
    int32_t *k_winding;       /* [complex vertex_count] */
    int32_t *edge_node_start; /* [real_edge_count + 1] */
    int32_t *edge_nodes;      /* nodes of an edge, from its smaller end */

    double (*complex_sources)[3]; /* [complex vertex_count] source coordinates as they are written */
    cut_bit_set complex_places;   /* hashes of the complex's vertices */
    cut_face *faces;
    size_t face_count;
    /* Caps are numbered: first the complex's own triangles, which are the caps of facets that lie inside the mesh, then
       those that were made for the others. */
    cut_facet_triangle *made_caps;
    size_t made_cap_count;
    cut_cap_range *facet_caps; /* [facet_count] */
    size_t cap_count;          /* of all facets */
} cut_state;

static inline int32_t cut_next_half(int32_t half)
{
    return half % 3 == 2 ? half - 2 : half + 1;
}
static inline int32_t cut_half_start(const cut_state *state, int32_t half)
{
    return state->mesh_view->triangles[half / 3][half % 3];
}
static inline int32_t cut_half_end(const cut_state *state, int32_t half)
{
    return cut_half_start(state, cut_next_half(half));
}
/// The half-edge that stores the crossings of this one's edge.
static inline int32_t cut_half_owner(const cut_state *state, int32_t half)
{
    return cut_half_start(state, half) < cut_half_end(state, half) ? half : state->mesh.opposite[half];
}
/// Grid position of an arrangement vertex.
static inline const double *cut_position(const cut_state *state, int32_t vertex)
{
    return vertex < state->point_count ? state->points[vertex]
                                       : state->node_positions[vertex - state->point_count];
}
/// Source coordinates of an arrangement vertex, as they are written.
static inline const double *cut_source(const cut_state *state, int32_t vertex)
{
    size_t mesh_count = state->mesh_view->vertex_count;
    if ((size_t)vertex < mesh_count) return state->mesh_view->positions[vertex];
    if (vertex < state->point_count) return state->complex_sources[(size_t)vertex - mesh_count];
    return state->node_sources[vertex - state->point_count];
}
static inline int32_t cut_crossing_vertex(const cut_state *state, size_t crossing)
{
    return state->point_count + (int32_t)crossing;
}
static inline int32_t cut_node_vertex(const cut_state *state, size_t node)
{
    return state->point_count + (int32_t)(state->crossing_count + node);
}
/// A cap; those behind it in its facet follow.
static inline const cut_facet_triangle *cut_cap_at(const cut_state *state, int32_t cap)
{
    int32_t own_count = (int32_t)state->complex.triangle_count;
    return cap < own_count ? state->complex.triangles + cap : state->made_caps + (cap - own_count);
}
/// Whether a cell gives no pieces.
static inline bool cut_is_dropped(const cut_state *state, int32_t cell)
{
    return (size_t)cell >= state->complex_view->cell_count - state->dropped_cells;
}
/// What a facet gives whose caps are all of it; NULL: its caps are to be looked at one by one.
static inline const cut_facet_measure *cut_measure_of_caps(const cut_state *state, int32_t facet)
{
    bool own = (size_t)state->facet_caps[facet].first < state->complex.triangle_count;
    return own && state->complex.measures[facet].area > 0 ? &state->complex.measures[facet] : NULL;
}
/// Cells on the two sides of a facet.
static inline const int32_t *cut_facet_cells(const cut_state *state, int32_t facet)
{
    return state->complex_view->facet_cells[facet];
}
/// Asks for what is known of a mesh triangle's sides. (Inlined by force, because compilers may drop calls of a function
/// that does nothing else.)
static inline __attribute__((always_inline)) void cut_prefetch_sides(const cut_state *state, int32_t triangle)
{
    __builtin_prefetch(state->mesh_view->triangles[triangle]);
    __builtin_prefetch(state->mesh.opposite + 3 * triangle);
    __builtin_prefetch(state->half_crossing + 3 * triangle);
}
/// How many crossings an owning half-edge has from its first one.
static inline size_t cut_crossings_of(const cut_state *state, int32_t owner, size_t *first)
{
    int32_t stored = state->half_crossing[owner];
    if (stored == 0) return 0;
    *first = (size_t)stored - 1;
    size_t end = *first;
    while (end < state->crossing_count && state->crossings[end].half == owner)
        end++;
    return end - *first;
}

/// memset, by all threads.
rbl_status cut_fill(rbl_context *ctx, void *to, int byte, size_t bytes);

/// Sorts the crossings of one mesh edge along it; exact ties are ordered so that the cells chain. A single
/// one is fine.
rbl_status cut_order_crossings(
    rbl_context *ctx, const cut_state *state, cut_crossing *crossings, size_t count);
/// Reorders sorted crossings as little as possible so that they chain from cell `start`; false if there is no
/// way.
bool cut_chain_crossings(cut_crossing *crossings, size_t count, int32_t start);

/// Facets in columns over the x–y plane; built by the first query that needs them. Zero it first.
typedef struct cut_columns {
    int32_t count; /* of columns along each axis */
    double low[2], scale[2];
    size_t *start; /* [count² + 2] into facets */
    int32_t *facets;
    int32_t *seen; /* [facet_count] the last vertex that a facet was tested for */
} cut_columns;
void cut_columns_free(rbl_context *ctx, cut_columns *columns);
/// The cell of a mesh vertex: what is left once more than entered on the way out of the box. One at a time;
/// a query for a winding of the complex may run beside it.
rbl_status cut_query_cell(
    rbl_context *ctx, cut_state *state, cut_columns *columns, int32_t vertex, int32_t *cell);
/// How often the complex of a union winds around a mesh vertex. One at a time.
rbl_status cut_query_cell_winding(
    rbl_context *ctx, cut_state *state, cut_columns *columns, int32_t vertex, int32_t *winding);
/// How often the mesh winds around a vertex of the complex. One at a time; a query for a cell may run beside it.
rbl_status cut_query_winding(rbl_context *ctx, cut_state *state, int32_t point, int32_t *winding);

/// The axes that project along the largest component of a normal, counter-clockwise seen from its tip.
void cut_projection_axes(const double normal[3], int32_t axes[2]);

/// Phases in order. Each reads what the earlier ones left in the state.
/// The mesh's points, half-edges and normals, and the edges of the complex beside them.
rbl_status cut_prepare_mesh(rbl_context *ctx, cut_state *state);
/// Parts of cut_prepare_mesh. Checks the complex and numbers the edges of its facets' loops.
rbl_status cut_number_edges(rbl_context *ctx, cut_state *state);
/// Lists the sides of all cells.
rbl_status cut_list_sides(rbl_context *ctx, cut_state *state);
rbl_status cut_prepare_complex(rbl_context *ctx, cut_state *state);
/// Labels the vertices that surely lie in one cell, and makes the tree over the triangles that may be cut.
rbl_status cut_settle(rbl_context *ctx, cut_state *state);
rbl_status cut_flood(rbl_context *ctx, cut_state *state);
/// What one thread does side by side: cut_spread_labels, cut_wind_vertices, cut_list_points, nodes by blocks; then
/// cut_find_twins and cut_finish_chains.
rbl_status cut_label_all(rbl_context *ctx, cut_state *state);
/// Cells of the mesh's vertices.
rbl_status cut_spread_labels(rbl_context *ctx, cut_state *state);
/// The same for a union: windings, and cut_place_nodes.
rbl_status cut_wind_mesh(rbl_context *ctx, cut_state *state);
/// How often the mesh winds around each vertex of the complex.
rbl_status cut_wind_vertices(rbl_context *ctx, cut_state *state);
/// The set of the places of the complex's vertices, which cut_find_twins frees.
rbl_status cut_list_points(rbl_context *ctx, cut_state *state);
/// Source coordinates of the complex's vertices.
rbl_status cut_find_twins(rbl_context *ctx, cut_state *state);
/// Room for what nodes and crossings get.
rbl_status cut_make_node_room(rbl_context *ctx, cut_state *state);
/// Positions of crossings and, after them, nodes begin … end − 1, and weights of nodes.
void cut_place_range(cut_state *state, size_t begin, size_t end);
/// Positions of crossings, and chains' ends as vertices; the end of labelling, because labels settle the order of ties.
rbl_status cut_finish_chains(rbl_context *ctx, cut_state *state);
/// All three.
rbl_status cut_place_nodes(rbl_context *ctx, cut_state *state);
/// Nodes in order along the complex's edges.
rbl_status cut_order_edges(rbl_context *ctx, cut_state *state);
rbl_status cut_trace_mesh(rbl_context *ctx, cut_state *state);
rbl_status cut_trace_facets(rbl_context *ctx, cut_state *state);
rbl_status cut_assemble(rbl_context *ctx, cut_state *state, rbli_cut_result *result);

/// Barycentric coordinates of an arrangement vertex in the triangle of three others (of the mesh, or of the
/// complex).
void cut_arrangement_weights(const cut_state *state, int32_t id, const int32_t corners[3], double w[3]);

/// The same of a point in a mesh triangle, clamped to it.
void cut_solve_weights(const cut_state *state, const int32_t corners[3], const double point[3], double w[3]);

/// Frees what the state holds.
void cut_free_state(rbl_context *ctx, cut_state *state);

/// The integer normal of a mesh vertex (rbli_normal_fn; user is the state).
void cut_vertex_normal(void *user, int32_t vertex, int64_t normal[3]);

/// @param list  triangles, ascending; NULL: all
rbl_status cut_tree_build(
    rbl_context *ctx, const cut_state *state, const int32_t *list, size_t count, cut_tree *tree);
void cut_tree_free(rbl_context *ctx, cut_tree *tree);
/// Calls `visit` for each triangle of the tree whose box meets the box; stops at the first status that is not
/// RBL_OK.
typedef rbl_status (*cut_visit_fn)(rbl_context *ctx, int32_t triangle, void *user);
rbl_status cut_tree_visit(rbl_context *ctx, const cut_state *state, const cut_tree *tree, const float box[6],
    cut_visit_fn visit, void *user);

#endif
