#ifndef RUBBLE_GEOMETRY_EXACT_HULL_H
#define RUBBLE_GEOMETRY_EXACT_HULL_H

/// The convex hull of points with integer coordinates, every decision exact.

#include "fracture/base/alloc.h"

/// Coordinates are integers of at most this magnitude.
#define RBLI_EXACT_HULL_LIMIT 0x1p49

/// A triangle of the hull. Edge k runs from vertex[k] to vertex[(k + 1) % 3].
typedef struct rbli_exact_face {
    int32_t vertex[3];   /* indices of points, counter-clockwise from outside */
    int32_t neighbor[3]; /* face beyond edge k */
    double normal[3];    /* unit, outward, right to the last bits */
} rbli_exact_face;

struct rbli_hull_face;

/// Memory that one hull after the other uses, for one thread at a time: threads that share an allocator wait for one
/// another with each block that they take or free, and a hull takes dozens.
typedef struct rbli_hull_scratch {
    rbli_arena results; /* of rbli_exact_hull_build, and what its caller puts there: rewound by the caller */
    /* For rbli_exact_hull_build alone: */
    rbli_arena work;
    RBLI_ARRAY(struct rbli_hull_face) faces; /* the largest array: grows in place */
} rbli_hull_scratch;

/// @param ctx outlives it
void rbli_hull_scratch_init(rbli_hull_scratch *scratch, rbl_context *ctx);
void rbli_hull_scratch_free(rbli_hull_scratch *scratch); /* one of zeroes is fine */

typedef struct rbli_exact_hull {
    int rank; /* affine rank of the points: 0 one point, 1 collinear, 2 flat; 3: `faces` hold the hull */
    int32_t simplex[4]; /* rank + 1 points far apart */
    rbli_exact_face
        *faces; /* [face_count] closed, weakly convex, no face without area; of scratch->results */
    size_t face_count;
} rbli_exact_hull;

/// Quickhull (Barber, Dobkin and Huhdanpaa 1996) with exact signs. Points less than `tolerance` outside of
/// the hull of the others may be left out; with 0 every point lies inside. The hull is the exact one of its
/// vertices all the same. A tolerance over 256 steps also saves exact arithmetic.
/// @param points    [count][3] integers as doubles, |x| ≤ RBLI_EXACT_HULL_LIMIT; count ≥ 1
/// @param tolerance a distance; the points count as flat, collinear or one below it
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant. Deterministic. Cost: O(n log n) expected.
rbl_status rbli_exact_hull_build(rbl_context *ctx, rbli_hull_scratch *scratch, const double (*points)[3],
    size_t count, double tolerance, rbli_exact_hull *out);

#endif
