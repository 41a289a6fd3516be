/// Clusters that join neighbours: the kernel of tiny pieces, on clusters.

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/ops/bone_measure.h"
#include "fracture/ops/cluster_contacts.h"
#include "fracture/ops/cluster_edit_internal.h"

rbli_merge_neighbors_options rbli_merge_neighbors_default_options(void)
{
    return (rbli_merge_neighbors_options){.only_connected = true, .only_same_parent = true};
}

typedef struct neighbors {
    rbli_edit e;
    const rbli_merge_neighbors_options *options;
    rbli_bone_measure measure;
    int32_t *row;   /* [bone count] item of a cluster, or −1 */
    int32_t *bones; /* [count] of the items */
    rbli_small_item *items;
    size_t count;
    RBLI_ARRAY(rbli_cluster_edge) edges;
    int32_t *group; /* [count] */
    rbli_small_reason *reason;
} neighbors;

static rbl_status make_items(neighbors *n)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = n->e.ctx;
    RBL_TRY_ALLOC(n->row = rbli_alloc(ctx, n->e.count, sizeof *n->row));
    RBL_TRY_ALLOC(n->bones = rbli_alloc(ctx, n->e.count, sizeof *n->bones));
    RBL_TRY_ALLOC(n->items = rbli_alloc(ctx, n->e.count, sizeof *n->items));
    for (size_t b = 0; b < n->e.count; b++) {
        n->row[b] = -1;
        if (n->e.type[b] != RBLI_BONE_CLUSTER || n->e.parent[b] < 0) continue;
        if (n->measure.low[b][0] > n->measure.high[b][0]) continue;
        rbli_small_item *item = &n->items[n->count];
        *item = (rbli_small_item){.volume = n->measure.volume[b],
            .kind = n->options->only_same_parent ? n->e.parent[b] : n->e.level[b],
            .may_be_small = !n->options->selection || n->e.chosen[b],
            .must_join = n->options->selection && n->e.chosen[b]};
        memcpy(item->center, n->measure.center[b], sizeof item->center);
        n->bones[n->count] = (int32_t)b;
        n->row[b] = (int32_t)n->count++;
    }
done:
    return status;
}

static rbl_status add_edge(neighbors *n, int32_t a, int32_t b, double area)
{
    if (n->row[a] < 0 || n->row[b] < 0) return RBL_OK;
    rbli_cluster_edge edge = {n->row[a], n->row[b], area > 0 ? area : 0};
    return rbli_array_push(n->e.ctx, &n->edges, edge);
}

/// The clusters above two pieces that touch, level by level.
static rbl_status add_levels(neighbors *n, const rbli_touch *touch)
{
    rbl_status status = RBL_OK;
    int32_t a = touch->piece_a, b = touch->piece_b;
    while (a >= 0 && n->e.level[a] > n->e.level[b])
        a = n->e.parent[a];
    while (b >= 0 && n->e.level[b] > n->e.level[a])
        b = n->e.parent[b];
    for (; a >= 0 && a != b; a = n->e.parent[a], b = n->e.parent[b])
        RBL_TRY(add_edge(n, a, b, touch->area));
done:
    return status;
}

static rbl_status make_edges(neighbors *n, const rbli_world_surface *surface)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = n->e.ctx;
    rbli_touch *touches = NULL;
    rbli_sibling_pair *pairs = NULL;
    size_t count, pair_count = 0;
    RBL_TRY(rbli_weighed_contacts(ctx, n->e.in, surface, &touches, &count));
    if (n->options->only_same_parent)
        RBL_TRY(rbli_lift_contacts(ctx, n->e.in, touches, count, &pairs, &pair_count));
    for (size_t i = 0; i < pair_count; i++)
        RBL_TRY(add_edge(n, pairs[i].bone_a, pairs[i].bone_b, pairs[i].area));
    for (size_t i = 0; i < count && !n->options->only_same_parent; i++) {
        if (i % 8192 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        RBL_TRY(add_levels(n, &touches[i]));
    }
done:
    rbli_free(ctx, touches);
    rbli_free(ctx, pairs);
    return status;
}

/// The largest, then the lowest in place, then the first by name.
static bool keeps(const neighbors *n, int32_t a, int32_t b)
{
    const rbli_small_item *p = &n->items[a], *q = &n->items[b];
    if (p->volume != q->volume) return p->volume > q->volume;
    for (int k = 0; k < 3; k++)
        if (p->center[k] != q->center[k]) return p->center[k] < q->center[k];
    return strcmp(rbli_collection_string(n->e.in, "bone", "name", (size_t)n->bones[a]),
               rbli_collection_string(n->e.in, "bone", "name", (size_t)n->bones[b])) < 0;
}

/// @return by `joined` how many clusters go into others
static rbl_status plan_merges(neighbors *n, size_t *joined)
{
    int32_t *keeper = rbli_alloc(n->e.ctx, n->count, sizeof *keeper);
    if (!keeper) return RBL_ERR_NO_MEMORY;
    *joined = 0;
    memset(n->e.chosen, 0, n->e.count * sizeof *n->e.chosen);
    for (size_t i = 0; i < n->count; i++) {
        int32_t *best = &keeper[n->group[i]];
        if (n->group[i] == (int32_t)i || keeps(n, (int32_t)i, *best)) *best = (int32_t)i;
    }
    for (size_t i = 0; i < n->count; i++) {
        int32_t best = keeper[n->group[i]];
        if (best == (int32_t)i) continue;
        n->e.plan.parent[n->bones[i]] = n->bones[best];
        n->e.plan.dissolve[n->bones[i]] = true;
        n->e.chosen[n->bones[best]] = true;
        ++*joined;
    }
    rbli_free(n->e.ctx, keeper);
    return RBL_OK;
}

static void report(const neighbors *n, size_t wanted, size_t joined)
{
    static const char *const why[] = {NULL, "no cluster that they may join touches them",
        "only clusters of other parents or levels touch them", NULL};
    if (joined > 0) rbli_note(n->e.ctx, "%zu cluster%s joined neighbours", joined, joined == 1 ? "" : "s");
    if (wanted == 0)
        rbli_warn(
            n->e.ctx, n->options->selection
                          ? "no cluster below a root was chosen: nothing to merge"
                          : "no cluster is too small: nothing to merge (min_volume_cube_root says what is)");
    for (int r = RBLI_SMALL_ALONE; r <= RBLI_SMALL_OTHER_KIND; r++) {
        size_t stayed = 0;
        int32_t first = -1;
        for (size_t i = 0; i < n->count; i++)
            if (n->reason[i] == (rbli_small_reason)r && stayed++ == 0) first = n->bones[i];
        if (stayed > 0)
            rbli_warn(n->e.ctx, "%zu cluster%s stayed: %s (first: \"%s\")", stayed, stayed == 1 ? "" : "s",
                why[r], rbli_collection_string(n->e.in, "bone", "name", (size_t)first));
    }
}

rbl_status rbli_cluster_merge_to_neighbors(rbl_context *ctx, const rbl_collection *in,
    const rbli_merge_neighbors_options *options, rbli_cluster_edit *out)
{
    rbl_status status = RBL_OK;
    neighbors n = {.e = {.ctx = ctx}, .options = options};
    rbli_world_surface surface = {0};
    double least = options->min_volume_cube_root;
    rbli_small_options small = {least * least * least, options->neighbor, options->only_connected};
    size_t wanted = 0, joined = 0;
    RBL_TRY(rbli_edit_begin(ctx, in, options->selection, &n.e));
    n.e.plan.clusters_of_one = options->clusters_of_one;
    RBL_TRY(rbli_world_surface_build(ctx, in, &surface));
    RBL_TRY(rbli_bone_measure_build(ctx, in, &surface, &n.measure));
    RBL_TRY(make_items(&n));
    for (size_t i = 0; i < n.count; i++)
        wanted += n.items[i].must_join || (n.items[i].may_be_small && n.items[i].volume < small.threshold);
    RBL_TRY_ALLOC(n.group = rbli_alloc(ctx, n.count, sizeof *n.group));
    RBL_TRY_ALLOC(n.reason = rbli_calloc(ctx, n.count, sizeof *n.reason));
    if (wanted > 0) {
        RBL_TRY(make_edges(&n, &surface));
        RBL_TRY(
            rbli_join_small(ctx, n.items, n.count, n.edges.data, n.edges.count, &small, n.group, n.reason));
        RBL_TRY(plan_merges(&n, &joined));
    }
    report(&n, wanted, joined);
    status = joined > 0 ? rbli_edit_finish(&n.e, RBLI_TELL_CHOSEN, out) : rbli_edit_nothing(&n.e, out);
done:
    rbli_world_surface_free(ctx, &surface);
    rbli_bone_measure_free(ctx, &n.measure);
    rbli_free(ctx, n.row);
    rbli_free(ctx, n.bones);
    rbli_free(ctx, n.items);
    rbli_free(ctx, n.edges.data);
    rbli_free(ctx, n.group);
    rbli_free(ctx, n.reason);
    rbli_edit_end(&n.e);
    return status;
}
