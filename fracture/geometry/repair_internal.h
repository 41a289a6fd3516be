#ifndef RUBBLE_GEOMETRY_REPAIR_INTERNAL_H
#define RUBBLE_GEOMETRY_REPAIR_INTERNAL_H

/// The working state that the phases of rbli_repair share. A phase leaves the triangles compact; what it
/// derives (edges, mates, shells) is rebuilt by the next one that needs it.
///
/// A half-edge h = 3·t + k runs from corner k of triangle t to corner k + 1.

#include "fracture/base/alloc.h"
#include "fracture/geometry/grid_orient.h"
#include "fracture/geometry/repair.h"

typedef double repair_point[3];

typedef struct repair_triangle {
    int32_t v[3];
    int32_t node;
    int32_t source;  /* of the input, or −1 − hole */
    int32_t weights; /* row of `weights`, or −1 */
    int8_t why;      /* repair_why: why its shell stays open */
    bool turned;     /* with its whole shell */
} repair_triangle;

typedef enum repair_why {
    REPAIR_WHY_NOT_ASKED,
    REPAIR_WHY_NOT_ORIENTABLE,
    REPAIR_WHY_NOT_PLANAR,
    REPAIR_WHY_FLAT,
    REPAIR_WHY_MOSTLY_FILL,
    REPAIR_WHY_CROSSING,
    REPAIR_WHY_POCKET,
    REPAIR_WHY_NO_LOOP,
} repair_why;

typedef struct repair_weights {
    double corner[3][3]; /* [corner][source corner] */
} repair_weights;

/// Half-edges grouped by undirected edge; groups ascend by (lower vertex, upper vertex), half-edges in a
/// group by number.
typedef struct repair_edges {
    size_t count;
    int32_t *start;        /* [count + 1] into `half` */
    int32_t *half;         /* [3 · triangles] */
    int32_t *of_half;      /* [3 · triangles] the group of each half-edge */
    int32_t *vertex_start; /* [vertices + 1] first group whose lower vertex is v */
    bool clean; /* every group is two half-edges of one node in opposite directions; then the arrays are
                              made only by repair_build_edges */
} repair_edges;

/// A connected set of triangles as paired; `members` is a range of repair.members, ascending.
typedef struct repair_shell {
    size_t start, count;
    bool orientable, closed, filled;
    double volume, area, filled_area;
    double min[3], max[3];
} repair_shell;

typedef struct repair {
    rbl_context *ctx;
    const rbli_mesh_view *mesh;
    const int32_t *node;
    rbli_repair_options options;
    rbli_repair_result *out; /* for the counters */

    RBLI_ARRAY(repair_point) positions; /* ascending by (x, y, z) after repair_reindex, no two equal */
    double (*grid)[3];                  /* [positions.count] */
    double diagonal, tolerance;
    bool changed; /* triangles were turned, added or split since this was last cleared */
    RBLI_ARRAY(repair_triangle) triangles; /* in canonical order after repair_reindex */
    RBLI_ARRAY(repair_weights) weights;
    RBLI_ARRAY(repair_triangle) fins; /* two-sided sheets and fins, taken out of the rest */
    RBLI_ARRAY(rbli_hole) holes;      /* filled ones; `shell` is set at the end */

    repair_edges edges;
    int32_t *mate; /* [3 · triangles] the half-edge on the other side, or −1 */
    RBLI_ARRAY(repair_shell) shells;
    int32_t *members;  /* [triangles] by shell */
    int32_t *shell_of; /* [triangles] */
} repair;

static inline int32_t half_next(int32_t h)
{
    return h % 3 == 2 ? h - 2 : h + 1;
}
static inline int32_t half_previous(int32_t h)
{
    return h % 3 == 0 ? h + 2 : h - 1;
}
static inline int32_t half_tail(const repair *r, int32_t h)
{
    return r->triangles.data[h / 3].v[h % 3];
}
static inline int32_t half_tip(const repair *r, int32_t h)
{
    return half_tail(r, half_next(h));
}
static inline int32_t half_apex(const repair *r, int32_t h)
{
    return half_tail(r, half_previous(h));
}
/// +1 for a half-edge from its lower to its upper vertex, else −1.
static inline int half_direction(const repair *r, int32_t h)
{
    return half_tail(r, h) < half_tip(r, h) ? 1 : -1;
}

/// Union-find over 0 … count − 1: the root of a set is its least element.
static inline int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}
static inline void unite(int32_t *parent, int32_t a, int32_t b)
{
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a < b) {
        parent[b] = a;
    } else {
        parent[a] = b;
    }
}
int32_t *repair_make_sets(rbl_context *ctx, size_t count); /* NULL without memory */

/* repair_weld.c */
/// Reads the mesh: checks it, welds by exact position, drops triangles with a repeated vertex, sorts.
rbl_status repair_weld(repair *r);
/// Welds positions that became equal, drops unused ones, sorts vertices and triangles, forgets edges and
/// shells.
rbl_status repair_reindex(repair *r);
/// @param order [count] set to the canonical order of triangles, as their numbers
rbl_status repair_order_triangles(repair *r, const repair_triangle *triangles, size_t count, int32_t *order);
/// Removes triangles marked in `dead` [triangles]; forgets edges and shells.
void repair_remove(repair *r, const uint8_t *dead);
/// Builds `edges` if they are not there.
rbl_status repair_build_edges(repair *r);
/// Tells whether they are clean, and sets `mate` then; else builds them.
rbl_status repair_match_edges(repair *r);
/// The group of an edge, or −1.
int32_t repair_find_edge(const repair *r, int32_t a, int32_t b);
void repair_forget(repair *r);       /* edges, mates and shells */
void repair_forget_edges(repair *r); /* only the edges, when triangles were turned */
/// The barycentric rows of a triangle (the identity if it has none).
repair_weights repair_weights_of(const repair *r, const repair_triangle *triangle);
/// Exchanges corners 1 and 2.
rbl_status repair_flip_triangle(repair *r, repair_triangle *triangle);
/// Appends a copy of `triangle` whose corners k lie at `corners[k]` of the old one's corners (rows of
/// barycentrics).
rbl_status repair_append_part(
    repair *r, const repair_triangle *triangle, const int32_t v[3], const double corners[3][3]);

/* repair_duplicates.c */
rbl_status repair_drop_zero_area(repair *r);
/// Same orientation twice: keep one. Back to back: keep one side, both sides (a wall), or take both out (a
/// fin).
rbl_status repair_drop_duplicates(repair *r);
/// After shells: back to back triangles in one shell are taken out as fins. `*changed` tells.
rbl_status repair_take_fins(repair *r, bool *changed);

/* repair_stitch.c */
rbl_status repair_stitch(repair *r);

/* repair_pair.c */
/// Drops inner walls: patches that close nothing and lie in the wedge of the others at all of their borders.
rbl_status repair_drop_membranes(repair *r);
/// Sets `mate`.
rbl_status repair_pair(repair *r);

/* repair_shells.c */
/// Builds shells from mates and turns triangles to agree with their shell.
rbl_status repair_build_shells(repair *r);
rbl_status repair_measure_shell(const repair *r, repair_shell *shell);
/// Turns a whole shell; mates stay right.
rbl_status repair_turn_shell(repair *r, const repair_shell *shell);
/// The triangles of a shell and, after them, `extra` [extra_count] as a mesh of its own with corners of its
/// own. Free positions and triangles of the view with repair_free_mesh.
rbl_status repair_shell_mesh(repair *r, const repair_shell *shell, const int32_t (*extra)[3],
    size_t extra_count, rbli_mesh_view *view);
void repair_free_mesh(rbl_context *ctx, rbli_mesh_view *view);

/* repair_loops.c */
/// Simple open loops of a shell, in the direction of the surface's half-edges, each from its lowest vertex:
/// loop i is vertices[start[i]] … vertices[start[i + 1] − 1].
typedef struct repair_loops {
    RBLI_ARRAY(int32_t) vertices;
    RBLI_ARRAY(int32_t) start; /* [count + 1] */
    size_t count;
    RBLI_ARRAY(int32_t) walk; /* scratch */
    uint8_t *seen;            /* scratch [3 · triangles], zero between shells */
    int32_t *place;           /* scratch [vertices], −1 between loops */
} repair_loops;
/// Replaces what `loops` holds. Start with zeros; free with repair_loops_free before triangles change.
rbl_status repair_trace_loops(repair *r, const repair_shell *shell, repair_loops *loops);
void repair_loops_free(rbl_context *ctx, repair_loops *loops);
/// Length and centre of a loop.
rbli_hole repair_describe_loop(const repair *r, const int32_t *vertices, size_t count);

/* repair_polygon.c */
typedef struct repair_indices {
    RBLI_ARRAY(int32_t) list;
} repair_indices;
/// Triangulates a polygon that turns counter-clockwise about `normal`, with holes that turn clockwise, in the
/// plane of two axes. Appends vertex triples. `*done` false, and nothing appended: the projection is not
/// simple.
/// @param loops [count] loops[0] the border, then holes
rbl_status repair_triangulate_planar(repair *r, const int32_t *const *loops, const size_t *counts,
    size_t count, const double normal[3], repair_indices *out, bool *done);
/// Minimal area (Barequet and Sharir 1995), diagonals that are edges of the mesh avoided. Cost O(count³).
rbl_status repair_triangulate_minimal(repair *r, const int32_t *loop, size_t count, repair_indices *out);

/* repair_fill.c */
/// Fills the holes of shells as the options say; `*changed` when triangles were added.
rbl_status repair_fill(repair *r, bool *changed);

/* repair_manifold.c */
/// Gives an edge that would occur twice in one shell a middle point; triangles must be reindexed then.
/// `*changed` tells.
rbl_status repair_split_double_edges(repair *r, bool *changed);
/// For each corner [3 · triangles] the least corner of its umbrella: the corners at a vertex that are
/// connected over paired edges. `*single`: every vertex has one umbrella, and *out is NULL. Free with
/// rbli_free.
rbl_status repair_find_umbrellas(repair *r, int32_t **out, bool *single);

/* repair_sift.c */
/// To which sides of the axes a triangle on the grid certainly faces: bit 2·k towards +k, bit 2·k + 1 towards −k.
uint8_t repair_facing(const double a[3], const double b[3], const double c[3]);
/// The triangles of closed, oriented shells, in a tree.
typedef struct repair_sift {
    const repair *r;
    const struct rbli_box_tree *tree; /* their boxes on the grid */
    const int32_t *triangles;         /* of the tree's items */
    const uint8_t *facing;            /* of its items */
    uint8_t *clear; /* [blocks of the tree] zeros; set to 1 where the triangles cross and touch nothing */
} repair_sift;
/// Deterministic, by the context's pool.
rbl_status repair_sift_blocks(repair_sift *sift);

/* repair_cross.c */
typedef struct repair_crossings {
    int32_t *self_count;        /* [shells] */
    _Atomic(int32_t) *first;    /* [shells] the least triangle that crosses its own shell */
    RBLI_ARRAY(uint64_t) pairs; /* low shell << 32 | high shell, ascending, no two equal */
} repair_crossings;
/// Crossings of closed shells within themselves and with others of the same unit. Each shell is shrunk by an
/// infinitesimal amount, so touching does not count. @param unit [shells]
rbl_status repair_find_crossings(repair *r, const int32_t *unit, repair_crossings *out);
void repair_crossings_free(rbl_context *ctx, repair_crossings *crossings);
bool repair_shells_cross(const repair_crossings *crossings, int32_t a, int32_t b);

/* repair_sign.c */
/// Decides kinds, parents and overlaps and turns shells. @param out [shells], zeroed
rbl_status repair_decide_signs(repair *r, rbli_shell *out);

/* repair_output.c */
/// Writes the result. @param shells [shells] their kinds; fins become shells of their own after them
rbl_status repair_write(repair *r, const rbli_shell *shells);

#endif
