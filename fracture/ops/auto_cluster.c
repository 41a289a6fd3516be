/// Clusters of children (GEO §6.2): centres and edges for the kernel, then new bones.

#include "fracture/ops/auto_cluster.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/ops/proximity.h"

rbli_auto_cluster_options rbli_auto_cluster_default_options(void)
{
    return (rbli_auto_cluster_options){.cluster = rbli_cluster_default_options()};
}

typedef struct grouping {
    rbl_context *ctx;
    const rbl_collection *in;
    const rbli_auto_cluster_options *options;
    rbli_children children;
    int32_t *parents; /* clusters whose children are grouped */
    size_t parent_count;
    double (*low)[3], (*high)[3]; /* [bone count] bounds in the world of all that is below */
    rbli_sibling_pair *pairs;     /* of all siblings, sorted by the lower bone */
    size_t pair_count;
    int32_t *group; /* [bone count] of children: number of the new cluster of their parent, or −1 */
    RBLI_ARRAY(int32_t) new_parents; /* of each new cluster */
    RBLI_ARRAY(char *) new_names;
    int32_t *place; /* [bone count] first new cluster of a parent */
} grouping;

static size_t child_count(const grouping *g, int32_t bone)
{
    return (size_t)(g->children.start[bone + 1] - g->children.start[bone]);
}

static size_t wanted_count(const rbli_auto_cluster_options *options, size_t children)
{
    if (!(options->fraction > 0)) return options->cluster.count;
    double wanted = rint(options->fraction * (double)children);
    return wanted < 1 ? 1 : wanted > (double)children ? children : (size_t)wanted;
}

static rbl_status choose_parents(grouping *g)
{
    size_t bone_count = rbli_collection_size(g->in, "bone");
    const int32_t *parent = rbli_collection_read(g->in, "bone", "parent", RBL_INT32);
    const int32_t *type = rbli_collection_read(g->in, "bone", "type", RBL_INT32);
    const rbli_selection *selection = g->options->selection;
    g->parents = rbli_alloc(g->ctx, bone_count, sizeof *g->parents);
    if (!g->parents) return RBL_ERR_NO_MEMORY;
    if (selection) {
        if (!rbli_selection_fits(selection, g->in))
            return rbli_fail(g->ctx, RBL_ERR_COLLECTION, "the selection was made on another set of bones");
        const int32_t *bones = rbli_selection_bones(selection);
        for (size_t i = 0; i < rbli_selection_count(selection); i++)
            if (type[bones[i]] == RBLI_BONE_CLUSTER && child_count(g, bones[i]) > 1)
                g->parents[g->parent_count++] = bones[i];
        return RBL_OK;
    }
    /* Parents come before children: `open` says that no cluster above is grouped. */
    bool *open = rbli_alloc(g->ctx, bone_count, sizeof *open);
    if (!open) return RBL_ERR_NO_MEMORY;
    for (size_t b = 0; b < bone_count; b++) {
        size_t children = child_count(g, (int32_t)b);
        open[b] = parent[b] < 0 || open[parent[b]];
        if (!open[b] || type[b] != RBLI_BONE_CLUSTER) continue;
        if (children > 1 && children > wanted_count(g->options, children)) {
            g->parents[g->parent_count++] = (int32_t)b;
            open[b] = false;
        }
    }
    rbli_free(g->ctx, open);
    return RBL_OK;
}

static rbl_status measure(grouping *g, const rbli_world_surface *surface)
{
    rbl_status status = RBL_OK;
    size_t bone_count = rbli_collection_size(g->in, "bone"), leaf_count;
    const int32_t *parent = rbli_collection_read(g->in, "bone", "parent", RBL_INT32);
    const int32_t *geometry = rbli_collection_read(g->in, "bone", "geometry", RBL_INT32);
    const int32_t *start = rbli_collection_read(g->in, "geometry", "vertex_start", RBL_INT32);
    const int32_t *count = rbli_collection_read(g->in, "geometry", "vertex_count", RBL_INT32);
    int32_t *leaves = NULL;
    RBL_TRY(rbli_rigid_leaves(g->ctx, g->in, NULL, &leaves, &leaf_count));
    RBL_TRY_ALLOC(g->low = rbli_alloc(g->ctx, bone_count, sizeof *g->low));
    RBL_TRY_ALLOC(g->high = rbli_alloc(g->ctx, bone_count, sizeof *g->high));
    for (size_t b = 0; b < bone_count; b++)
        for (int k = 0; k < 3; k++)
            g->low[b][k] = HUGE_VAL, g->high[b][k] = -HUGE_VAL;
    for (size_t i = 0; i < leaf_count; i++) {
        int32_t b = leaves[i], first = start[geometry[b]];
        for (int32_t v = first; v < first + count[geometry[b]]; v++)
            for (int k = 0; k < 3; k++) {
                g->low[b][k] = fmin(g->low[b][k], surface->positions[v][k]);
                g->high[b][k] = fmax(g->high[b][k], surface->positions[v][k]);
            }
    }
    for (size_t b = bone_count; b-- > 0;)
        for (int k = 0; k < 3 && parent[b] >= 0; k++) {
            g->low[parent[b]][k] = fmin(g->low[parent[b]][k], g->low[b][k]);
            g->high[parent[b]][k] = fmax(g->high[parent[b]][k], g->high[b][k]);
        }
done:
    rbli_free(g->ctx, leaves);
    return status;
}

static rbl_status read_pairs(grouping *g, const rbli_world_surface *surface)
{
    rbl_status status = RBL_OK;
    rbli_touch *touches = NULL;
    size_t count;
    RBL_TRY(rbli_known_contacts(g->ctx, g->in, surface, &touches, &count));
    RBL_TRY(rbli_lift_contacts(g->ctx, g->in, touches, count, &g->pairs, &g->pair_count));
done:
    rbli_free(g->ctx, touches);
    return status;
}

/// First pair whose lower bone is `bone` or higher.
static size_t first_pair(const grouping *g, int32_t bone)
{
    size_t low = 0, high = g->pair_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->pairs[middle].bone_a < bone) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static rbl_status name_clusters(grouping *g, int32_t parent, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *name = rbli_format(
            g->ctx, "%s_cluster_%zu", rbli_collection_string(g->in, "bone", "name", (size_t)parent), i);
        if (!name) return RBL_ERR_NO_MEMORY;
        rbl_status status = rbli_array_push(g->ctx, &g->new_names, name);
        if (status != RBL_OK) {
            rbli_free(g->ctx, name);
            return status;
        }
        status = rbli_array_push(g->ctx, &g->new_parents, parent);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// `index_of` [bone count] is scratch: a child's place among those with something to see.
static rbl_status group_children(grouping *g, int32_t parent, int32_t *index_of, const int32_t *parent_of)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = g->ctx;
    size_t most = child_count(g, parent), count = 0, cluster_count, alone = 0;
    const int32_t *child = g->children.child + g->children.start[parent];
    double(*centers)[3] = NULL;
    int32_t *bones = NULL, *cluster = NULL;
    RBLI_ARRAY(rbli_cluster_edge) edges = {0};
    RBL_TRY_ALLOC(centers = rbli_alloc(ctx, most, sizeof *centers));
    RBL_TRY_ALLOC(bones = rbli_alloc(ctx, most, sizeof *bones));
    RBL_TRY_ALLOC(cluster = rbli_alloc(ctx, most, sizeof *cluster));
    for (size_t i = 0; i < most; i++) {
        int32_t b = child[i];
        index_of[b] = -1;
        if (g->low[b][0] > g->high[b][0]) continue;
        for (int k = 0; k < 3; k++)
            centers[count][k] = g->low[b][k] / 2 + g->high[b][k] / 2;
        index_of[b] = (int32_t)count;
        bones[count++] = b;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t p = first_pair(g, bones[i]); p < g->pair_count && g->pairs[p].bone_a == bones[i]; p++) {
            const rbli_sibling_pair *pair = &g->pairs[p];
            if (parent_of[pair->bone_b] != parent || index_of[pair->bone_b] < 0) continue;
            double weight = pair->area > 0 ? pair->area : pair->count;
            rbli_cluster_edge edge = {(int32_t)i, index_of[pair->bone_b], weight};
            RBL_TRY(rbli_array_push(ctx, &edges, edge));
        }
    rbli_cluster_options options = g->options->cluster;
    options.count = wanted_count(g->options, count);
    RBL_TRY(rbli_cluster_points(
        ctx, (const double(*)[3])centers, count, edges.data, edges.count, &options, cluster, &cluster_count));
    const char *name = rbli_collection_string(g->in, "bone", "name", (size_t)parent);
    if (options.enforce_connectivity && edges.count == 0 && count > 1)
        rbli_warn(ctx, "no two children of \"%s\" touch: they were grouped by place alone", name);
    for (size_t i = 0; i < count; i++)
        alone += cluster[i] < 0;
    if (cluster_count == 0 || (cluster_count == 1 && alone == 0)) {
        rbli_note(ctx, "the children of \"%s\" stay as they are: they would make %s", name,
            cluster_count == 0 ? "no cluster" : "one cluster of all");
        goto done;
    }
    if (cluster_count != options.count && options.enforce_count)
        rbli_note(ctx, "\"%s\": %zu clusters, not %zu%s", name, cluster_count, options.count,
            cluster_count > options.count ? ": the rest do not touch" : "");
    g->place[parent] = (int32_t)g->new_parents.count;
    for (size_t i = 0; i < count; i++)
        g->group[bones[i]] = cluster[i];
    RBL_TRY(name_clusters(g, parent, cluster_count));
done:
    rbli_free(ctx, centers);
    rbli_free(ctx, bones);
    rbli_free(ctx, cluster);
    rbli_free(ctx, edges.data);
    return status;
}

/// Adds the new bones, hangs the children below them and sorts.
static rbl_status insert_clusters(grouping *g, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    size_t bone_count = rbli_collection_size(g->in, "bone");
    const double *known_area = rbli_collection_read(g->in, "connection", "area", RBL_DOUBLE);
    bool with_area = known_area && rbli_collection_size(g->in, "connection") > 0 && known_area[0] >= 0;
    const int32_t *old_parent = rbli_collection_read(g->in, "bone", "parent", RBL_INT32);
    int32_t first, *parent;
    RBL_TRY(rbli_hierarchy_add_bones(g->ctx, to, g->new_parents.count, g->new_parents.data,
        (const char *const *)g->new_names.data, RBLI_BONE_CLUSTER, &first));
    RBL_TRY(rbli_collection_write(g->ctx, to, "bone", "parent", RBL_INT32, (void **)&parent));
    for (size_t b = 0; b < bone_count; b++)
        if (g->group[b] >= 0) parent[b] = first + g->place[old_parent[b]] + g->group[b];
    bool connected = rbli_collection_has_group(to, "connection");
    rbli_collection_remove_group(to, "connection");
    RBL_TRY(rbli_hierarchy_sort(g->ctx, to));
    if (connected) RBL_TRY(rbli_connect_siblings(g->ctx, to, with_area));
done:
    return status;
}

rbl_status rbli_auto_cluster(rbl_context *ctx, const rbl_collection *in,
    const rbli_auto_cluster_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    grouping g = {.ctx = ctx, .in = in, .options = options};
    rbli_world_surface surface = {0};
    rbl_collection *copy = NULL;
    int32_t *index_of = NULL;
    size_t bone_count = rbli_collection_size(in, "bone");
    const int32_t *parent = rbli_collection_read(in, "bone", "parent", RBL_INT32);
    RBL_TRY(rbli_children_build(ctx, in, &g.children));
    RBL_TRY(choose_parents(&g));
    RBL_TRY(rbli_world_surface_build(ctx, in, &surface));
    RBL_TRY(measure(&g, &surface));
    RBL_TRY(read_pairs(&g, &surface));
    RBL_TRY_ALLOC(index_of = rbli_alloc(ctx, bone_count, sizeof *index_of));
    RBL_TRY_ALLOC(g.group = rbli_alloc(ctx, bone_count, sizeof *g.group));
    RBL_TRY_ALLOC(g.place = rbli_calloc(ctx, bone_count, sizeof *g.place));
    memset(g.group, 0xff, bone_count * sizeof *g.group);
    for (size_t i = 0; i < g.parent_count; i++)
        RBL_TRY(group_children(&g, g.parents[i], index_of, parent));
    if (g.parent_count == 0)
        rbli_warn(ctx, "no cluster has more children than clusters are wanted: nothing to group");
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    if (g.new_parents.count > 0) RBL_TRY(insert_clusters(&g, copy));
    *out = copy;
    copy = NULL;
done:
    for (size_t i = 0; i < g.new_names.count; i++)
        rbli_free(ctx, g.new_names.data[i]);
    rbli_free(ctx, g.new_names.data);
    rbli_free(ctx, g.new_parents.data);
    rbli_free(ctx, g.parents);
    rbli_free(ctx, g.low);
    rbli_free(ctx, g.high);
    rbli_free(ctx, g.pairs);
    rbli_free(ctx, g.group);
    rbli_free(ctx, g.place);
    rbli_free(ctx, index_of);
    rbli_children_free(ctx, &g.children);
    rbli_world_surface_free(ctx, &surface);
    rbli_collection_release(copy);
    return status;
}
