#ifndef RUBBLE_GEOMETRY_POINT_TREE_H
#define RUBBLE_GEOMETRY_POINT_TREE_H

/// Nearest points by a k-d tree.

#include "fracture/base/context.h"

typedef struct rbli_point_node {
    double point[3];
    int32_t index; /* of the point */
    int32_t axis;
} rbli_point_node;

static inline double rbli_point_distance_squared(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/// @param nodes  [count] receives the tree
/// @param points [count][3], not kept
/// @return RBL_OK · RBL_ERR_CANCELLED. Cost: O(n log n)
rbl_status rbli_point_tree_build(
    rbl_context *ctx, rbli_point_node *nodes, const double (*points)[3], size_t count);

/// The nearest point, the one of lowest index among equally near ones.
/// @param guess a point, and `near` its squared distance, to start from
/// Threads: reentrant.
int32_t rbli_point_tree_nearest(
    const rbli_point_node *nodes, size_t count, const double p[3], int32_t guess, double near);

/// The same, and the squared distance of the second nearest point (HUGE_VAL: there is none).
int32_t rbli_point_tree_two_nearest(const rbli_point_node *nodes, size_t count, const double p[3],
    int32_t guess, double near, double *second);

/// Whether a point may be the answer.
typedef bool (*rbli_point_accept)(void *user, int32_t index);
/// The nearest point that is accepted; −1 when none is. Asks only for points nearer than the best so far.
int32_t rbli_point_tree_nearest_accepted(
    const rbli_point_node *nodes, size_t count, const double p[3], rbli_point_accept accept, void *user);

#endif
