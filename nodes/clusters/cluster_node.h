#ifndef RUBBLE_NODES_CLUSTER_NODE_H
#define RUBBLE_NODES_CLUSTER_NODE_H

/// Ports, a parameter and the end that nodes of this family share.

#include "engine/value.h"
#include "fracture/ops/cluster_edit.h"
#include "rubble/node.h"

#define RBLI_CLUSTER_COLLECTION                                                                              \
    {                                                                                                        \
        .name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose hierarchy changes"                \
    }
#define RBLI_CLUSTER_COLLECTION_OUT                                                                          \
    {                                                                                                        \
        .name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same pieces in the same places"     \
    }
#define RBLI_CLUSTERS_OF_ONE                                                                                 \
    {                                                                                                        \
        .name = "clusters_of_one", .type = RBL_PARAM_BOOL, .default_json = "false",                          \
        .text = "keep and make clusters of one child, too"                                                   \
    }

/// Sets the outputs `collection` and, from `bones`, `port`; takes or frees what is in `edit`.
rbl_status rbli_cluster_node_finish(
    rbl_context *ctx, rbl_call *call, rbl_status status, const char *port, rbli_cluster_edit *edit);

#endif
