#ifndef RUBBLE_GEOMETRY_BRICK_COMPLEX_H
#define RUBBLE_GEOMETRY_BRICK_COMPLEX_H

/// Bricks in a bond, as a cell complex (CUTTERS.md, bricks).

#include "fracture/geometry/cell_complex.h"

typedef enum rbli_brick_bond {
    RBLI_BOND_STRETCHER, /* long sides out; odd courses are half a length on */
    RBLI_BOND_STACK,     /* all joints in line */
    RBLI_BOND_ENGLISH,   /* even courses stretchers, odd ones headers, half a depth back */
    RBLI_BOND_HEADER,    /* short sides out; odd courses are half a depth on */
    RBLI_BOND_FLEMISH,   /* stretchers and headers by turns; odd courses put headers over stretchers */
    RBLI_BOND_COUNT
} rbli_brick_bond;

typedef struct rbli_brick_options {
    rbli_brick_bond bond;
    double length, height, depth; /* of a brick with half a joint around it; > 0 */
    bool along_z;                 /* walls run along z instead of x; y is up */
    size_t most;                  /* bricks; default 8192: above it the bricks are enlarged */
} rbli_brick_options;
rbli_brick_options rbli_brick_default_options(void);

/// A brick of the pattern: its box.
typedef struct rbli_brick {
    double min[3], max[3];
} rbli_brick;

/// The bricks of a bond that reach into a box. The pattern starts at the box's minimum: courses of `height`
/// along y; in a course, stretchers are length × depth and headers depth × length (along the wall × across
/// it). In Flemish bond each layer of the wall is `length` thick: a header beside two stretchers, one at the
/// front and one at the back, with length − 2 depth between these. Order: by course, across, along.
/// @param enlarged  may be NULL: by which factor all sizes grew so that there are at most `most` bricks; 1:
/// not
/// @param bricks    set on success only; rbli_free
/// @return RBL_OK · RBL_ERR_ARGUMENT (a size that is not positive, an empty box, Flemish with length < 2
///         depth) · RBL_ERR_NO_MEMORY
rbl_status rbli_brick_layout(rbl_context *ctx, const rbli_brick_options *options, const double low[3],
    const double high[3], double *enlarged, rbli_brick **bricks, size_t *count);

/// The complex of boxes that do not overlap inside a larger box. Boxes that end on a side of `low` … `high`
/// are extended to the outer box there. What no box covers is one more cell, the last
/// (`outside_cell_count`). cell_site is the box's index; facet_origin the joint plane's (three axes, in
/// turn).
///
/// Coordinates within 1e-9 of the size are one; a grid of them holds the cells, equal faces of a grid plane
/// are merged to rectangles, and each facet takes every rectangle's corner on its border.
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_ARGUMENT (boxes overlap: names two) · RBL_ERR_NO_MEMORY · RBL_ERR_LIMIT
/// Threads: reentrant. Deterministic. Cost: O(cells of the grid).
rbl_status rbli_box_complex(rbl_context *ctx, const rbli_brick *boxes, size_t count, const double low[3],
    const double high[3], const double outer_min[3], const double outer_max[3], rbli_cell_complex **out);

#endif
