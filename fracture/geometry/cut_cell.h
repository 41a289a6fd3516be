#ifndef RUBBLE_GEOMETRY_CUT_CELL_H
#define RUBBLE_GEOMETRY_CUT_CELL_H

/// One cell of the cut on its way to pieces: local vertices and triangles, edges made unique, connected
/// parts.

#include "fracture/geometry/cut_internal.h"

typedef struct cut_cell_triangle {
    int32_t v[3];   /* local vertices */
    int32_t source; /* mesh triangle, or −1 − facet */
    bool weighted;  /* corners are not the source's */
    bool dropped;   /* flattened by a collapsed edge */
} cut_cell_triangle;

typedef struct cut_point {
    double at[3];
} cut_point;

/// Named so that what a cell found can be handed over as it is.
typedef RBLI_ARRAY(cut_cell_triangle) cut_triangle_list;
typedef RBLI_ARRAY(cut_point) cut_point_list;
typedef RBLI_ARRAY(uint8_t) cut_byte_list;

/// The middle of two local vertices.
typedef struct cut_middle {
    int32_t ends[2];
} cut_middle;

/// A connected part of a cell.
typedef struct cut_part {
    double volume, area;
    double noise;   /* rounding of the volume, in units of 2^-48 */
    double limit;   /* a volume up to here is a film */
    double taken;   /* volume of the other parts of its piece */
    int32_t first;  /* its lowest vertex number; volumes are measured from there */
    int32_t lowest; /* its first vertex in the order (x, y, z) */
    int32_t owner;  /* the part whose piece it belongs to, −1: left out */
    int32_t piece;  /* number within the cell */
} cut_part;

typedef struct cut_edge_slot {
    int32_t low, high; /* −1: free */
    int32_t count[2];  /* half-edges up and down */
} cut_edge_slot;

/// The caps of a facet as one of its cells has them.
typedef struct cut_cap_run {
    int32_t first; /* 2 × the first cap + side; side 1 is the positive cell */
    int32_t facet;
    uint32_t count : 31;
    uint32_t measured : 1; /* all of a facet that has a measure */
} cut_cap_run;

/// What belongs to a cell.
typedef struct cut_items {
    const int32_t *untouched, *faces; /* mesh triangles; numbers of faces */
    const cut_cap_run *runs;          /* by facet */
    size_t untouched_count, face_count, run_count;
    size_t cap_count; /* of all runs */
} cut_items;

typedef struct cut_cell {
    uint32_t *locals; /* [local_count] arrangement vertices: stamp << number_bits | local number */
    size_t local_count;
    int number_bits;
    uint32_t stamp; /* of this cell, not zero; vertices with another are not in it */
    cut_triangle_list triangles;
    cut_index_list ids;          /* of each vertex: an arrangement vertex, or −1 − m for middle point m */
    cut_point_list positions;    /* of each vertex, in source coordinates */
    RBLI_ARRAY(int32_t) part_of; /* of each vertex; a lower vertex of its part while parts are found */
    RBLI_ARRAY(cut_middle) middles;
    RBLI_ARRAY(int32_t) kept; /* the vertex that each was joined with, itself for one that stays */
    RBLI_ARRAY(cut_part) parts;
    RBLI_ARRAY(int32_t) pieces; /* the part that gives a piece its name, by piece */
    bool has_zero_edge;         /* two corners of a triangle are at one place */
    bool whole;       /* all vertices and triangles, as gathered, are one piece; `kept` is not set */
    size_t cap_first; /* first triangle that is a cap; caps are in the order of the items */
    size_t film_count, negative_count, split_count; /* summed over cells; the caller resets them */
    /* Scratch. */
    RBLI_ARRAY(uint64_t) keys, table;
    RBLI_ARRAY(cut_edge_slot) slots;
    RBLI_ARRAY(int32_t) first_halves, halves, half_middles, windings, touched;
} cut_cell;

/// Parts whose volume is below this many grid steps × their area are rounding, not pieces; contacts likewise.
#define CUT_FILM_STEPS 4.0

rbl_status cut_cell_init(rbl_context *ctx, cut_cell *cell, size_t arrangement_vertex_count);
void cut_cell_free(rbl_context *ctx, cut_cell *cell);

/// Fills triangles, vertices, parts and pieces of a cell. An edge that would occur twice gets a middle point.
rbl_status cut_cell_build(rbl_context *ctx, const cut_state *state, const cut_items *items, cut_cell *cell);

/// Local numbers while they are given, apart from the cell so that compilers keep them in registers.
typedef struct cut_local_numbers {
    uint32_t *locals, stamp; /* shifted to its place */
    uint32_t last;           /* the largest local number that there can be */
    int32_t *ids;            /* [count], and room for one more than there will be */
    size_t count;
} cut_local_numbers;

/// Makes all arrangement vertices unknown to the cell. @param most  local vertices that there can be
cut_local_numbers cut_cell_begin(cut_cell *cell, size_t most);

/// The local number of an arrangement vertex. Whether it is new cannot be foretold for corners of facets, so nothing
/// depends on that by a branch.
static inline int32_t cut_local_of(cut_local_numbers *numbers, int32_t id)
{
    uint32_t stored = numbers->locals[id] ^ numbers->stamp;
    bool known = stored <= numbers->last;
    size_t count = numbers->count;
    uint32_t local = known ? stored : (uint32_t)count;
    numbers->locals[id] = numbers->stamp | local;
    numbers->ids[count] = id;
    numbers->count = count + !known;
    return (int32_t)local;
}

/// Whether a cell that is one part has a volume beyond doubt, more than a film or rounding can be for triangles no farther
/// from its first vertex than its vertices are; then nothing more need be measured.
bool cut_is_surely_piece(const cut_state *state, const cut_cell *cell, double volume, size_t triangle_count);

/// A part of that: measures the parts of a cell that has been gathered, and numbers the pieces.
rbl_status cut_cell_find_pieces(rbl_context *ctx, const cut_state *state, cut_cell *cell);

#endif
