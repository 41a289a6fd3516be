#ifndef RUBBLE_GEOMETRY_CONTRACTION_H
#define RUBBLE_GEOMETRY_CONTRACTION_H

/// A graph whose nodes are joined one after the other, while each part knows its neighbours.

#include "fracture/base/context.h"

/// Two nodes that touch. `weight` ≥ 0: the area of the contact, or 1.
typedef struct rbli_cluster_edge {
    int32_t a, b;
    double weight;
} rbli_cluster_edge;

typedef struct rbli_contraction_link {
    int32_t to; /* a node: the part is its root */
    int32_t next;
    double weight;
} rbli_contraction_link;

typedef struct rbli_contraction {
    size_t count;
    int32_t *parent; /* union-find; the root of a part is its lowest node */
    int32_t *size;   /* of roots: nodes */
    int32_t *first, *last;
    rbli_contraction_link *links;
    int32_t *slot; /* scratch: the link to a root in the list that is read */
    uint32_t *stamp, now;
    size_t part_count;
} rbli_contraction;

/// @param edges [edge_count], of each pair any number, no loops; lists of neighbours come in their order, last
///              first
/// @param out   set on success only; rbli_contraction_free
/// @return RBL_OK · RBL_ERR_LIMIT (2³⁰ edges) · RBL_ERR_NO_MEMORY. Cost: linear.
rbl_status rbli_contraction_create(
    rbl_context *ctx, size_t count, const rbli_cluster_edge *edges, size_t edge_count, rbli_contraction *out);
void rbli_contraction_free(rbl_context *ctx, rbli_contraction *c); /* what is in it */

int32_t rbli_contraction_find(rbli_contraction *c, int32_t node);
/// Joins the parts of two nodes. @return the root of both. Cost: nearly constant.
int32_t rbli_contraction_join(rbli_contraction *c, int32_t a, int32_t b);
/// The first link of a part's list, −1 when it has no neighbour, after the list was read once: then it has
/// one link for each neighbour, `to` is the neighbour's root and `weight` the sum of all edges between both,
/// until the next join. Follow `next`. Cost: the length of the list, which shrinks to the number of
/// neighbours.
int32_t rbli_contraction_neighbors(rbli_contraction *c, int32_t root);

#endif
