/// Clusters of children (GEO §6.2): centres and edges for the kernel, then new bones.

#include "fracture/ops/auto_cluster.h"

#include <math.h>
#include <stdio.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/cluster_convex.h"
#include "fracture/geometry/radix_sort.h"
#include "fracture/ops/bone_measure.h"
#include "fracture/ops/cluster_edit_internal.h"

rbli_auto_cluster_options rbli_auto_cluster_default_options(void)
{
    return (rbli_auto_cluster_options){
        .fraction = 0.25, .site_size = 1, .grid = {2, 2, 2}, .cluster = rbli_cluster_default_options()};
}

typedef struct grouping {
    rbli_edit e;
    const rbli_auto_cluster_options *options;
    rbli_children children;
    rbli_world_surface surface;
    rbli_bone_measure measure;
    int32_t *parents; /* clusters whose children are grouped */
    size_t parent_count;
    rbli_sibling_pair *pairs; /* of all siblings, sorted by the lower bone */
    size_t pair_count;
    int32_t *index_of; /* [bone count] scratch: a child's place among those with something to see */
} grouping;

/// The children of one cluster.
typedef struct family {
    int32_t parent;
    size_t count;
    int32_t *bones;       /* [count] those with something to see */
    double (*centers)[3]; /* [count] */
    double *volumes;      /* [count] */
    double low[3], high[3];
    double (*seeds)[3]; /* by grid */
    size_t wanted;
    RBLI_ARRAY(rbli_cluster_edge) edges;
    int32_t *cluster; /* [count] the answer */
    size_t cluster_count;
} family;

static void family_free(rbl_context *ctx, family *f)
{
    rbli_free(ctx, f->bones);
    rbli_free(ctx, f->centers);
    rbli_free(ctx, f->volumes);
    rbli_free(ctx, f->seeds);
    rbli_free(ctx, f->edges.data);
    rbli_free(ctx, f->cluster);
}

static size_t child_count(const grouping *g, int32_t bone)
{
    return (size_t)(g->children.start[bone + 1] - g->children.start[bone]);
}

static rbl_status gather_children(const grouping *g, int32_t parent, family *f)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = g->e.ctx;
    size_t most = child_count(g, parent);
    const int32_t *child = g->children.child + g->children.start[parent];
    f->parent = parent;
    RBL_TRY_ALLOC(f->bones = rbli_alloc(ctx, most, sizeof *f->bones));
    RBL_TRY_ALLOC(f->centers = rbli_alloc(ctx, most, sizeof *f->centers));
    RBL_TRY_ALLOC(f->volumes = rbli_alloc(ctx, most, sizeof *f->volumes));
    for (int k = 0; k < 3; k++)
        f->low[k] = HUGE_VAL, f->high[k] = -HUGE_VAL;
    for (size_t i = 0; i < most; i++) {
        const double *low = g->measure.low[child[i]], *high = g->measure.high[child[i]];
        if (low[0] > high[0]) continue;
        for (int k = 0; k < 3; k++) {
            f->centers[f->count][k] = low[k] / 2 + high[k] / 2;
            f->low[k] = low[k] < f->low[k] ? low[k] : f->low[k];
            f->high[k] = high[k] > f->high[k] ? high[k] : f->high[k];
        }
        f->volumes[f->count] = g->measure.volume[child[i]];
        f->bones[f->count++] = child[i];
    }
done:
    return status;
}

/* ---- how many ---- */

/// Sorted numbers of the cells of a grid that hold centres, each once. `cell`: edges of a cell.
static rbl_status occupied_cells(
    rbl_context *ctx, const family *f, const double cell[3], rbli_keyed **out, size_t *count)
{
    static const double most = 0x1fffff;
    rbl_status status = RBL_OK;
    rbli_keyed *keys = NULL, *scratch = NULL;
    size_t kept = 0;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, f->count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, f->count, sizeof *scratch));
    for (size_t i = 0; i < f->count; i++) {
        keys[i] = (rbli_keyed){0, (int32_t)i};
        for (int k = 0; k < 3; k++) {
            double at = cell[k] > 0 ? floor((f->centers[i][k] - f->low[k]) / cell[k]) : 0;
            keys[i].key = keys[i].key << 21 | (uint64_t)(at < 0 ? 0 : at > most ? most : at);
        }
    }
    rbli_radix_sort(keys, scratch, f->count);
    for (size_t i = 0; i < f->count; i++)
        if (kept == 0 || keys[i].key != keys[kept - 1].key) keys[kept++] = keys[i];
    *out = keys;
    *count = kept;
    keys = NULL;
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    return status;
}

/// Sets `wanted` and, by grid, `seeds`: the middles of cells that hold centres.
static rbl_status count_wanted(const grouping *g, family *f)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = g->e.ctx;
    const rbli_auto_cluster_options *o = g->options;
    rbli_keyed *cells = NULL;
    double cell[3];
    f->wanted = o->cluster.count;
    if (o->by == RBLI_CLUSTER_BY_COUNT || f->count == 0) return RBL_OK;
    if (o->by == RBLI_CLUSTER_BY_FRACTION) {
        double wanted = rint(o->fraction * (double)f->count);
        f->wanted = wanted < 2 ? 2 : wanted > (double)f->count ? f->count : (size_t)wanted;
        return RBL_OK;
    }
    bool grid = o->by == RBLI_CLUSTER_BY_GRID;
    for (int k = 0; k < 3; k++)
        cell[k] = grid ? (f->high[k] - f->low[k]) / o->grid[k] : o->site_size;
    RBL_TRY(occupied_cells(ctx, f, cell, &cells, &f->wanted));
    if (!grid) goto done;
    RBL_TRY_ALLOC(f->seeds = rbli_alloc(ctx, f->wanted, sizeof *f->seeds));
    for (size_t i = 0; i < f->wanted; i++)
        for (int k = 0; k < 3; k++) {
            double at = (double)(cells[i].key >> 21 * (2 - k) & 0x1fffff);
            f->seeds[i][k] = f->low[k] + cell[k] * (at + 0.5);
        }
done:
    rbli_free(ctx, cells);
    return status;
}

/* ---- whose children ---- */

static rbl_status choose_selected(grouping *g)
{
    size_t unfit = 0;
    for (size_t b = 0; b < g->e.count; b++) {
        if (!g->e.chosen[b]) continue;
        if (g->e.type[b] == RBLI_BONE_CLUSTER && child_count(g, (int32_t)b) > 1)
            g->parents[g->parent_count++] = (int32_t)b;
        else
            unfit++;
    }
    if (unfit > 0)
        rbli_warn(g->e.ctx, "%zu chosen bone%s no cluster of two children or more: nothing to group there",
            unfit, unfit == 1 ? " is" : "s are");
    return RBL_OK;
}

/// From each root down the first clusters with more children than clusters are wanted.
static rbl_status choose_first(grouping *g)
{
    rbl_status status = RBL_OK;
    bool *open = NULL; /* no cluster above is grouped */
    family f = {0};
    RBL_TRY_ALLOC(open = rbli_alloc(g->e.ctx, g->e.count, sizeof *open));
    for (size_t b = 0; b < g->e.count; b++) {
        open[b] = g->e.parent[b] < 0 || open[g->e.parent[b]];
        if (!open[b] || g->e.type[b] != RBLI_BONE_CLUSTER || child_count(g, (int32_t)b) < 2) continue;
        RBL_TRY(gather_children(g, (int32_t)b, &f));
        RBL_TRY(count_wanted(g, &f));
        if (f.count > f.wanted) {
            g->parents[g->parent_count++] = (int32_t)b;
            open[b] = false;
        }
        family_free(g->e.ctx, &f);
        f = (family){0};
    }
    if (g->parent_count == 0)
        rbli_warn(g->e.ctx, "no cluster has more children than clusters are wanted: nothing to group");
done:
    family_free(g->e.ctx, &f);
    rbli_free(g->e.ctx, open);
    return status;
}

/* ---- who touches whom ---- */

static rbl_status read_pairs(grouping *g)
{
    rbl_status status = RBL_OK;
    rbli_touch *touches = NULL;
    size_t count;
    RBL_TRY(rbli_known_contacts(g->e.ctx, g->e.in, &g->surface, &touches, &count));
    RBL_TRY(rbli_lift_contacts(g->e.ctx, g->e.in, touches, count, &g->pairs, &g->pair_count));
done:
    rbli_free(g->e.ctx, touches);
    return status;
}

/// First pair whose lower bone is `bone` or higher.
static size_t first_pair(const grouping *g, int32_t bone)
{
    size_t low = 0, high = g->pair_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->pairs[middle].bone_a < bone)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static rbl_status list_edges(grouping *g, family *f)
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < child_count(g, f->parent); i++)
        g->index_of[g->children.child[(size_t)g->children.start[f->parent] + i]] = -1;
    for (size_t i = 0; i < f->count; i++)
        g->index_of[f->bones[i]] = (int32_t)i;
    for (size_t i = 0; i < f->count; i++) {
        int32_t b = f->bones[i];
        if (i % 4096 == 0 && rbli_cancelled(g->e.ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (size_t p = first_pair(g, b); p < g->pair_count && g->pairs[p].bone_a == b; p++) {
            const rbli_sibling_pair *pair = &g->pairs[p];
            /* Roots are siblings of each other, too, but their parent is not f->parent. */
            if (g->e.parent[pair->bone_b] != f->parent || g->index_of[pair->bone_b] < 0) continue;
            double weight = pair->area > 0 ? pair->area : pair->count;
            rbli_cluster_edge edge = {(int32_t)i, g->index_of[pair->bone_b], weight};
            RBL_TRY(rbli_array_push(g->e.ctx, &f->edges, edge));
        }
    }
done:
    return status;
}

/* ---- by convexity ---- */

typedef struct shaping {
    const rbl_collection *in;
    const double (*positions)[3];
    const int32_t *geometry, *vertex_start, *vertex_count;
    const int32_t *leaf; /* leaves by part */
    const size_t *start; /* [parts + 1] */
    rbli_extremes *extremes;
} shaping;

static rbl_status shape_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const shaping *s = user;
    for (size_t p = begin; p < end; p++)
        for (size_t i = s->start[p]; i < s->start[p + 1]; i++) {
            int32_t geometry = s->geometry[s->leaf[i]];
            rbli_extremes_add(
                &s->extremes[p], s->positions + s->vertex_start[geometry], (size_t)s->vertex_count[geometry]);
        }
    return RBL_OK;
}

/// Outermost points of the parts that the children fall into; `part` [f->count].
static rbl_status shape_parts(
    grouping *g, const family *f, const int32_t *part, size_t part_count, rbli_extremes *extremes)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = g->e.ctx;
    int32_t *leaves = NULL, *of_bone = NULL, *sorted = NULL;
    size_t leaf_count, *start = NULL;
    RBL_TRY(rbli_rigid_leaves(ctx, g->e.in, NULL, &leaves, &leaf_count));
    RBL_TRY_ALLOC(of_bone = rbli_alloc(ctx, g->e.count, sizeof *of_bone));
    RBL_TRY_ALLOC(sorted = rbli_alloc(ctx, leaf_count, sizeof *sorted));
    RBL_TRY_ALLOC(start = rbli_calloc(ctx, part_count + 2, sizeof *start));
    memset(of_bone, 0xff, g->e.count * sizeof *of_bone);
    for (size_t i = 0; i < f->count; i++)
        of_bone[f->bones[i]] = part[i];
    for (size_t b = 0; b < g->e.count; b++)
        if (of_bone[b] < 0 && g->e.parent[b] >= 0) of_bone[b] = of_bone[g->e.parent[b]];
    for (size_t i = 0; i < leaf_count; i++)
        if (of_bone[leaves[i]] >= 0) start[of_bone[leaves[i]] + 2]++;
    for (size_t p = 2; p < part_count + 2; p++)
        start[p] += start[p - 1];
    for (size_t i = 0; i < leaf_count; i++)
        if (of_bone[leaves[i]] >= 0) sorted[start[of_bone[leaves[i]] + 1]++] = leaves[i];
    shaping s = {.in = g->e.in,
        .positions = (const double(*)[3])g->surface.positions,
        .geometry = rbli_collection_read(g->e.in, "bone", "geometry", RBL_INT32),
        .vertex_start = rbli_collection_read(g->e.in, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(g->e.in, "geometry", "vertex_count", RBL_INT32),
        .leaf = sorted,
        .start = start,
        .extremes = extremes};
    RBL_TRY(rbli_parallel_for(ctx, part_count, 8, shape_block, &s));
done:
    rbli_free(ctx, leaves);
    rbli_free(ctx, of_bone);
    rbli_free(ctx, sorted);
    rbli_free(ctx, start);
    return status;
}

/// Volumes of parts, summed from the least up, so that the order of the children does not matter.
static rbl_status sum_volumes(rbl_context *ctx, const family *f, const int32_t *part, double *volumes)
{
    rbl_status status = RBL_OK;
    rbli_keyed *keys = NULL, *scratch = NULL;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, f->count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, f->count, sizeof *scratch));
    for (size_t i = 0; i < f->count; i++)
        keys[i] = (rbli_keyed){rbli_double_key(f->volumes[i]), (int32_t)i};
    rbli_radix_sort(keys, scratch, f->count);
    for (size_t i = 0; i < f->count; i++)
        volumes[part[keys[i].index]] += f->volumes[keys[i].index];
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    return status;
}

/// k-means into more parts than are wanted, which merge by convexity; the result is settled.
static rbl_status cluster_by_convexity(grouping *g, family *f, const rbli_cluster_options *options)
{
    enum { FINER = 4, MOST_MORE = 6000 };
    rbl_status status = RBL_OK;
    rbl_context *ctx = g->e.ctx;
    rbli_cluster_options fine = *options, last = *options;
    rbli_convex_cluster_options convex = {options->count, g->options->concavity_tolerance};
    int32_t *part = NULL, *label = NULL;
    size_t part_count, label_count;
    rbli_extremes *extremes = NULL;
    double *volumes = NULL;
    RBLI_ARRAY(rbli_cluster_edge) edges = {0};
    size_t finer = FINER * options->count, more = options->count + MOST_MORE;
    fine.count = finer < more ? finer : more;
    fine.seeds = NULL;
    fine.iterations = g->options->cluster.iterations;
    fine.avoid_isolated = false;
    fine.minimum_volume = 0;
    fine.enforce_connectivity = true;
    RBL_TRY_ALLOC(part = rbli_alloc(ctx, f->count, sizeof *part));
    RBL_TRY_ALLOC(label = rbli_alloc(ctx, f->count, sizeof *label));
    RBL_TRY(rbli_cluster_points(ctx, (const double(*)[3])f->centers, f->count, f->edges.data, f->edges.count,
        &fine, part, &part_count));
    RBL_TRY_ALLOC(extremes = rbli_calloc(ctx, part_count, sizeof *extremes));
    RBL_TRY_ALLOC(volumes = rbli_calloc(ctx, part_count, sizeof *volumes));
    RBL_TRY(shape_parts(g, f, part, part_count, extremes));
    RBL_TRY(sum_volumes(ctx, f, part, volumes));
    for (size_t e = 0; e < f->edges.count; e++) {
        rbli_cluster_edge edge = {
            part[f->edges.data[e].a], part[f->edges.data[e].b], f->edges.data[e].weight};
        if (edge.a != edge.b) RBL_TRY(rbli_array_push(ctx, &edges, edge));
    }
    RBL_TRY(rbli_cluster_convex(
        ctx, extremes, volumes, part_count, edges.data, edges.count, &convex, label, &label_count));
    for (size_t i = 0; i < f->count; i++)
        part[i] = label[part[i]];
    if (label_count < last.count) last.count = label_count;
    RBL_TRY(rbli_cluster_settle(ctx, (const double(*)[3])f->centers, f->count, f->edges.data, f->edges.count,
        part, &last, f->cluster, &f->cluster_count));
done:
    rbli_free(ctx, part);
    rbli_free(ctx, label);
    rbli_free(ctx, extremes);
    rbli_free(ctx, volumes);
    rbli_free(ctx, edges.data);
    return status;
}

/* ---- new clusters ---- */

static void tell(const grouping *g, const family *f, const rbli_cluster_options *options, size_t alone)
{
    const char *name = rbli_collection_string(g->e.in, "bone", "name", (size_t)f->parent);
    size_t groups = f->cluster_count + alone;
    if (options->enforce_connectivity && f->edges.count == 0 && f->count > 1)
        rbli_warn(g->e.ctx, "no two children of \"%s\" touch: they were grouped by place alone", name);
    if (f->cluster_count == 0 || groups == 1)
        rbli_note(g->e.ctx, "the children of \"%s\" stay as they are: they would make %s", name,
            f->cluster_count == 0 ? "no cluster" : "one cluster of all");
    else if (groups != options->count && options->enforce_count)
        rbli_note(g->e.ctx, "\"%s\": %zu clusters%s, not %zu%s", name, f->cluster_count,
            alone > 0 ? " beside children alone" : "", options->count,
            groups > options->count ? ": the rest do not touch" : "");
    else if (alone > 0)
        rbli_note(g->e.ctx, "\"%s\": %zu clusters; %zu child%s alone stay%s where %s", name, f->cluster_count,
            alone, alone == 1 ? "" : "ren", alone == 1 ? "s" : "", alone == 1 ? "it is" : "they are");
}

static rbl_status plan_clusters(grouping *g, const family *f)
{
    rbl_status status = RBL_OK;
    const char *name = rbli_collection_string(g->e.in, "bone", "name", (size_t)f->parent);
    int32_t first = (int32_t)(g->e.plan.bone_count + g->e.plan.new_count), node;
    for (size_t c = 0; c < f->cluster_count; c++) {
        char ending[40];
        snprintf(ending, sizeof ending, "_cluster_%zu", c);
        RBL_TRY(rbli_rehang_add(g->e.ctx, &g->e.plan, f->parent, name, ending, &node));
    }
    for (size_t i = 0; i < f->count; i++)
        if (f->cluster[i] >= 0) g->e.plan.parent[f->bones[i]] = first + f->cluster[i];
done:
    return status;
}

static rbl_status group_children(grouping *g, int32_t parent)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = g->e.ctx;
    family f = {0};
    size_t alone = 0;
    RBL_TRY(gather_children(g, parent, &f));
    RBL_TRY(count_wanted(g, &f));
    RBL_TRY(list_edges(g, &f));
    RBL_TRY_ALLOC(f.cluster = rbli_alloc(ctx, f.count, sizeof *f.cluster));
    rbli_cluster_options options = g->options->cluster;
    double least = g->options->minimum_size;
    options.count = f.wanted;
    options.seeds = (const double(*)[3])f.seeds;
    options.volumes = f.volumes;
    options.minimum_volume = least * least * least;
    if (g->options->by == RBLI_CLUSTER_BY_GRID) options.iterations = g->options->drift_iterations;
    if (g->options->prefer_convexity && f.edges.count > 0)
        RBL_TRY(cluster_by_convexity(g, &f, &options));
    else
        RBL_TRY(rbli_cluster_points(ctx, (const double(*)[3])f.centers, f.count, f.edges.data, f.edges.count,
            &options, f.cluster, &f.cluster_count));
    for (size_t i = 0; i < f.count; i++)
        alone += f.cluster[i] < 0;
    tell(g, &f, &options, alone);
    if (f.cluster_count > 0 && f.cluster_count + alone > 1) RBL_TRY(plan_clusters(g, &f));
done:
    family_free(ctx, &f);
    return status;
}

rbl_status rbli_auto_cluster(rbl_context *ctx, const rbl_collection *in,
    const rbli_auto_cluster_options *options, rbli_cluster_edit *out)
{
    rbl_status status = RBL_OK;
    grouping g = {.e = {.ctx = ctx}, .options = options};
    RBL_TRY(rbli_edit_begin(ctx, in, options->selection, &g.e));
    g.e.plan.clusters_of_one = !options->cluster.avoid_isolated;
    RBL_TRY(rbli_children_build(ctx, in, &g.children));
    RBL_TRY(rbli_world_surface_build(ctx, in, &g.surface));
    RBL_TRY(rbli_bone_measure_build(ctx, in, &g.surface, &g.measure));
    RBL_TRY_ALLOC(g.parents = rbli_alloc(ctx, g.e.count, sizeof *g.parents));
    RBL_TRY_ALLOC(g.index_of = rbli_alloc(ctx, g.e.count, sizeof *g.index_of));
    RBL_TRY(options->selection ? choose_selected(&g) : choose_first(&g));
    if (g.parent_count > 0) RBL_TRY(read_pairs(&g));
    for (size_t i = 0; i < g.parent_count; i++)
        RBL_TRY(group_children(&g, g.parents[i]));
    status =
        g.e.plan.new_count > 0 ? rbli_edit_finish(&g.e, RBLI_TELL_NEW, out) : rbli_edit_nothing(&g.e, out);
done:
    rbli_free(ctx, g.parents);
    rbli_free(ctx, g.pairs);
    rbli_free(ctx, g.index_of);
    rbli_children_free(ctx, &g.children);
    rbli_world_surface_free(ctx, &g.surface);
    rbli_bone_measure_free(ctx, &g.measure);
    rbli_edit_end(&g.e);
    return status;
}
