#ifndef RUBBLE_NODES_POINTS_POINT_NODE_H
#define RUBBLE_NODES_POINTS_POINT_NODE_H

/// Ports and helpers that the point nodes share.

#include "fracture/geometry/elementary.h"
#include "fracture/ops/leaf_mesh.h"
#include "rubble/node.h"

/// Radians of a degree.
#define RBLI_DEGREE (RBLI_PI / 180)

/// Where patterns go: `collection`, `selection` and `box`, all optional.
extern const rbl_port_desc rbli_pattern_inputs[];
/// `collection` and, optional, `selection`.
extern const rbl_port_desc rbli_mesh_points_inputs[];
/// `points`.
extern const rbl_port_desc rbli_points_outputs[];

/// The connected box, or the bounds of the chosen pieces of the connected collection.
/// @param found NULL: neither is an error; else receives whether there is one
rbl_status rbli_points_box(rbl_context *ctx, rbl_call *call, double low[3], double high[3], bool *found);
/// For `check` of nodes that need a box: an error unless `collection` or `box` is connected.
rbl_status rbli_points_check_box(rbl_context *ctx, rbl_call *call);
/// The surface of the chosen pieces of input `collection`; it is an error when there is none.
rbl_status rbli_points_mesh(rbl_context *ctx, rbl_call *call, rbli_leaf_mesh *out);
/// Sets the output, a copy of the points.
rbl_status rbli_points_finish(rbl_context *ctx, rbl_call *call, double (*points)[3], size_t count);
/// Warns of points that found no place; none at all is an error. @param where "inside", "in the painted part"
/// …
rbl_status rbli_points_tell_missing(rbl_context *ctx, size_t missing, size_t wanted, const char *where);
/// Reads two numbers of which the second must not be smaller.
rbl_status rbli_points_range(
    rbl_context *ctx, rbl_call *call, const char *low_name, const char *high_name, double *low, double *high);

#endif
