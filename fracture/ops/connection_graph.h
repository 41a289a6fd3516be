#ifndef RUBBLE_OPS_CONNECTION_GRAPH_H
#define RUBBLE_OPS_CONNECTION_GRAPH_H

/// Which children of a cluster hold on to each other: the group connection.

#include "fracture/collection/hierarchy.h"

/// The methods that Chaos has (RUN, table of connection methods).
typedef enum rbli_connection_method {
    RBLI_CONNECT_PROXIMITY,        /* what touches, lifted to siblings */
    RBLI_CONNECT_DELAUNAY,         /* centres that are Voronoi neighbours */
    RBLI_CONNECT_MINIMAL_SPANNING, /* of these the near ones, and the shortest that join what is apart */
    RBLI_CONNECT_BOUNDS_FILTERED,  /* of these the ones whose boxes meet */
    RBLI_CONNECT_POINT_IMPLICIT,   /* a vertex of one lies in or on the other */
    RBLI_CONNECT_POINT_IMPLICIT_AUGMENTED, /* that, then as minimal spanning */
    RBLI_CONNECT_NONE,                     /* no connections (Chaos takes minimal spanning for it) */
} rbli_connection_method;

typedef struct rbli_connection_options {
    rbli_connection_method method;
    double near_distance; /* minimal spanning: pairs up to near_distance · √factor apart are all joined; 5 */
    double factor;        /* default 1 */
} rbli_connection_options;
rbli_connection_options rbli_connection_default_options(void);

/// Writes the group connection anew: pairs of siblings (roots count as siblings), sorted. Every cluster is worked
/// on for itself. Centres are centres of mass of what is below a bone, or of its bounds where there is no volume.
/// Areas are those of contacts between the two, where the collection has them (group proximity with areas: 0 for
/// pairs that do not touch; without that group what cuts recorded), else −1. Method proximity computes contacts
/// if there is no group proximity.
/// Notes when a cluster's children do not hold together, with its name.
/// @param in  not changed
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count. Cost: near linear.
rbl_status rbli_connection_graph(
    rbl_context *ctx, const rbl_collection *in, const rbli_connection_options *options, rbl_collection **out);

#endif
