#ifndef RUBBLE_GEOMETRY_JOIN_SMALL_H
#define RUBBLE_GEOMETRY_JOIN_SMALL_H

/// Who joins whom until nothing is too small.

#include "fracture/geometry/contraction.h"

typedef enum rbli_small_rule {
    RBLI_SMALL_TO_LARGEST,
    RBLI_SMALL_TO_NEAREST_CENTER,
    RBLI_SMALL_TO_LARGEST_CONTACT,
} rbli_small_rule;

typedef struct rbli_small_item {
    double volume;
    double center[3];
    int32_t kind;      /* only items of one kind join */
    bool may_be_small; /* a group may be small when one of its items may */
    bool must_join;    /* joins once, whatever its volume */
} rbli_small_item;

typedef struct rbli_small_options {
    double threshold; /* small: of less volume */
    rbli_small_rule rule;
    bool only_connected; /* else what has no neighbour to join joins the nearest one that it does not touch */
} rbli_small_options;

/// Why a group is still small.
typedef enum rbli_small_reason {
    RBLI_SMALL_NOT,        /* it is not */
    RBLI_SMALL_ALONE,      /* nothing touches it (or, without only_connected: there is nothing else) */
    RBLI_SMALL_OTHER_KIND, /* only items of other kinds do */
    RBLI_SMALL_FORBIDDEN,  /* what touches it may not join */
} rbli_small_reason;

/// Always the smallest group next, by volume, joins the neighbour that the rule prefers; ties go to the larger
/// volume, then the nearer centre, then the lower place (x, then y, then z). Centres of groups are means by
/// volume. So a group never has more than one item that is not small and need not join.
/// @param items [count] finite numbers
/// @param edges who touches whom, any number of each pair; weight: area of contact; −HUGE_VAL: may not join,
///              whatever other edges are between the groups
/// @param group  [count] receives the lowest item of its group
/// @param reason [count] receives why a group is still small, at its lowest item
/// @return RBL_OK · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant. Deterministic; the same groups for any order of items and edges unless two items have
/// the same centre and volume. Cost: O(n log n + edges log (threshold / least volume)).
rbl_status rbli_join_small(rbl_context *ctx, const rbli_small_item *items, size_t count,
    const rbli_cluster_edge *edges, size_t edge_count, const rbli_small_options *options, int32_t *group,
    rbli_small_reason *reason);

#endif
