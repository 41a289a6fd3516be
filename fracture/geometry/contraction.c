/// Contraction of a graph: union-find, and lists of neighbours that are tied together when parts join. Names
/// of neighbours go stale; they are resolved, and links to one neighbour made one, when a list is read.

#include "fracture/geometry/contraction.h"

#include "fracture/base/alloc.h"

void rbli_contraction_free(rbl_context *ctx, rbli_contraction *c)
{
    rbli_free(ctx, c->parent);
    rbli_free(ctx, c->size);
    rbli_free(ctx, c->first);
    rbli_free(ctx, c->last);
    rbli_free(ctx, c->links);
    rbli_free(ctx, c->slot);
    rbli_free(ctx, c->stamp);
    *c = (rbli_contraction){0};
}

rbl_status rbli_contraction_create(
    rbl_context *ctx, size_t count, const rbli_cluster_edge *edges, size_t edge_count, rbli_contraction *out)
{
    rbl_status status = RBL_OK;
    rbli_contraction c = {.count = count, .part_count = count};
    if (count > INT32_MAX || edge_count > INT32_MAX / 2)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "%zu contacts of %zu parts are too many", edge_count, count);
    RBL_TRY_ALLOC(c.parent = rbli_alloc(ctx, count, sizeof *c.parent));
    RBL_TRY_ALLOC(c.size = rbli_alloc(ctx, count, sizeof *c.size));
    RBL_TRY_ALLOC(c.first = rbli_alloc(ctx, count, sizeof *c.first));
    RBL_TRY_ALLOC(c.last = rbli_alloc(ctx, count, sizeof *c.last));
    RBL_TRY_ALLOC(c.links = rbli_alloc(ctx, edge_count, 2 * sizeof *c.links));
    RBL_TRY_ALLOC(c.slot = rbli_alloc(ctx, count, sizeof *c.slot));
    RBL_TRY_ALLOC(c.stamp = rbli_calloc(ctx, count, sizeof *c.stamp));
    for (size_t i = 0; i < count; i++) {
        c.parent[i] = (int32_t)i;
        c.size[i] = 1;
        c.first[i] = c.last[i] = -1;
    }
    for (size_t e = 0; e < edge_count; e++)
        for (int side = 0; side < 2; side++) {
            int32_t from = side ? edges[e].b : edges[e].a, to = side ? edges[e].a : edges[e].b;
            int32_t l = (int32_t)(2 * e) + side;
            c.links[l] = (rbli_contraction_link){to, c.first[from], edges[e].weight};
            if (c.first[from] < 0) c.last[from] = l;
            c.first[from] = l;
        }
    *out = c;
    c = (rbli_contraction){0};
done:
    rbli_contraction_free(ctx, &c);
    return status;
}

int32_t rbli_contraction_find(rbli_contraction *c, int32_t node)
{
    while (c->parent[node] != node) {
        c->parent[node] = c->parent[c->parent[node]];
        node = c->parent[node];
    }
    return node;
}

int32_t rbli_contraction_join(rbli_contraction *c, int32_t a, int32_t b)
{
    a = rbli_contraction_find(c, a);
    b = rbli_contraction_find(c, b);
    if (a == b) return a;
    if (b < a) {
        int32_t swap = a;
        a = b;
        b = swap;
    }
    c->parent[b] = a;
    c->size[a] += c->size[b];
    if (c->first[a] < 0) {
        c->first[a] = c->first[b];
        c->last[a] = c->last[b];
    } else if (c->first[b] >= 0) {
        c->links[c->last[a]].next = c->first[b];
        c->last[a] = c->last[b];
    }
    c->part_count--;
    return a;
}

int32_t rbli_contraction_neighbors(rbli_contraction *c, int32_t root)
{
    int32_t kept = -1;
    c->now++;
    for (int32_t l = c->first[root], next; l >= 0; l = next) {
        rbli_contraction_link *link = &c->links[l];
        int32_t other = rbli_contraction_find(c, link->to);
        next = link->next;
        bool inner = other == root; /* never an outer one again */
        if (!inner && c->stamp[other] == c->now) {
            c->links[c->slot[other]].weight += link->weight;
            continue;
        }
        if (inner) continue;
        link->to = other;
        c->stamp[other] = c->now;
        c->slot[other] = l;
        if (kept < 0)
            c->first[root] = l;
        else
            c->links[kept].next = l;
        kept = l;
    }
    if (kept < 0)
        c->first[root] = -1;
    else
        c->links[kept].next = -1;
    c->last[root] = kept;
    return c->first[root];
}
