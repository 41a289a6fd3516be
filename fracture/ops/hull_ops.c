/// Operations on the group `convex`: one job a bone, then one new group.

#include "fracture/ops/hull_ops.h"

#include <math.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/elementary.h"
#include "fracture/ops/asset_stats.h"
#include "fracture/ops/hull_group.h"

/// Hulls of all bones while they are worked on.
typedef struct hull_table {
    const rbl_collection *in;
    size_t bone_count;
    rbli_hull_rows rows;
    bool *changed;       /* [bone_count] the bone's hulls are those of `sets`, not the old ones */
    rbli_hull_set *sets; /* [bone_count] */
    double *stand_off;   /* [bone_count] */
} hull_table;

static void table_free(rbl_context *ctx, hull_table *table)
{
    for (size_t b = 0; table->sets && b < table->bone_count; b++)
        rbli_hull_set_free(ctx, &table->sets[b]);
    rbli_free(ctx, table->sets);
    rbli_free(ctx, table->changed);
    rbli_free(ctx, table->stand_off);
    rbli_hull_rows_free(ctx, &table->rows);
}

static rbl_status table_build(rbl_context *ctx, const rbl_collection *in, hull_table *table)
{
    rbl_status status = RBL_OK;
    *table = (hull_table){.in = in, .bone_count = rbli_collection_size(in, "bone")};
    RBL_TRY(rbli_hull_rows_build(ctx, in, &table->rows));
    RBL_TRY_ALLOC(table->changed = rbli_calloc(ctx, table->bone_count, sizeof *table->changed));
    RBL_TRY_ALLOC(table->sets = rbli_calloc(ctx, table->bone_count, sizeof *table->sets));
    RBL_TRY_ALLOC(table->stand_off = rbli_calloc(ctx, table->bone_count, sizeof *table->stand_off));
done:
    return status;
}

static size_t hull_count(const hull_table *table, size_t bone)
{
    return table->changed[bone] ? table->sets[bone].count
                                : table->rows.start[bone + 1] - table->rows.start[bone];
}

/// Borrowed.
static rbli_hull hull_at(const hull_table *table, size_t bone, size_t index)
{
    return table->changed[bone]
               ? table->sets[bone].hulls[index]
               : rbli_hull_get(table->in, (size_t)table->rows.row[table->rows.start[bone] + index]);
}

/// A copy of the collection with the hulls of the table. Hull i of a changed bone takes further attributes
/// from the bone's old hull i.
static rbl_status table_write(rbl_context *ctx, const hull_table *table, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    size_t capacity = 0, count = 0;
    rbli_hull_row *rows = NULL;
    rbl_collection *copy = NULL;
    for (size_t b = 0; b < table->bone_count; b++)
        capacity += hull_count(table, b);
    RBL_TRY_ALLOC(rows = rbli_alloc(ctx, capacity, sizeof *rows));
    for (size_t b = 0; b < table->bone_count; b++)
        for (size_t i = 0; i < hull_count(table, b); i++) {
            size_t old = table->rows.start[b] + i;
            rows[count++] =
                (rbli_hull_row){(int32_t)b, old < table->rows.start[b + 1] ? table->rows.row[old] : -1,
                    table->changed[b] ? &table->sets[b].hulls[i] : NULL};
        }
    RBL_TRY(rbli_collection_copy(ctx, table->in, &copy));
    RBL_TRY(rbli_hull_group_write(ctx, table->in, rows, count, copy));
    *out = copy;
    copy = NULL;
done:
    rbli_free(ctx, rows);
    rbli_collection_release(copy);
    return status;
}

/// Appends copies of a bone's hulls to a set with room for them.
static rbl_status append_copies(
    rbl_context *ctx, const hull_table *table, size_t bone, const double matrix[16], rbli_hull_set *set)
{
    for (size_t i = 0; i < hull_count(table, bone); i++) {
        rbli_hull hull = hull_at(table, bone, i);
        rbl_status status = rbli_hull_copy(ctx, &hull, matrix, &set->hulls[set->count]);
        if (status != RBL_OK) return status;
        set->count++;
    }
    return RBL_OK;
}

/* ---- none, and those of another asset ---- */

rbl_status rbli_clear_hulls(
    rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    hull_table table = {0};
    bool *mask = NULL;
    RBL_TRY(rbli_bone_mask(ctx, in, selection, false, &mask));
    RBL_TRY(table_build(ctx, in, &table));
    for (size_t b = 0; b < table.bone_count; b++)
        table.changed[b] = mask[b];
    RBL_TRY(table_write(ctx, &table, out));
done:
    rbli_free(ctx, mask);
    table_free(ctx, &table);
    return status;
}

rbl_status rbli_copy_root_hulls(rbl_context *ctx, const rbl_collection *in, const rbl_collection *from,
    bool skip_if_empty, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    hull_table table = {0}, source = {0};
    const int32_t *parent = rbli_collection_read(in, "bone", "parent", RBL_INT32),
                  *from_parent = rbli_collection_read(from, "bone", "parent", RBL_INT32);
    const double(*transform)[16] = rbli_collection_read(in, "bone", "transform", RBL_MAT4),
          (*from_transform)[16] = rbli_collection_read(from, "bone", "transform", RBL_MAT4);
    size_t count = 0;
    if (!parent || !from_parent || !transform || !from_transform)
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "the collection lacks attributes of an asset");
    RBL_TRY(table_build(ctx, in, &table));
    RBL_TRY(table_build(ctx, from, &source));
    for (size_t r = 0; r < source.bone_count; r++)
        if (from_parent[r] < 0) count += hull_count(&source, r);
    for (size_t b = 0; b < table.bone_count; b++) {
        double inverse[16], matrix[16];
        if (parent[b] >= 0 || (count == 0 && skip_if_empty)) continue;
        if (!rbli_affine_invert(transform[b], inverse))
            RBL_TRY(rbli_fail(ctx, RBL_ERR_ARGUMENT, "the transform of root \"%s\" has no inverse",
                rbli_collection_string(in, "bone", "name", b)));
        table.changed[b] = true;
        RBL_TRY_ALLOC(table.sets[b].hulls = rbli_calloc(ctx, count, sizeof(rbli_hull)));
        for (size_t r = 0; r < source.bone_count; r++) {
            if (from_parent[r] >= 0) continue;
            bool same = memcmp(transform[b], from_transform[r], sizeof matrix) == 0;
            rbli_affine_multiply(inverse, from_transform[r], matrix);
            RBL_TRY(append_copies(ctx, &source, r, same ? NULL : matrix, &table.sets[b]));
        }
    }
    RBL_TRY(table_write(ctx, &table, out));
done:
    table_free(ctx, &table);
    table_free(ctx, &source);
    return status;
}

/* ---- simpler ones ---- */

rbli_simplify_options rbli_simplify_default_options(void)
{
    return (rbli_simplify_options){
        .max_vertices = 32, .angle = RBLI_PI / 18, .distance = 0.1, .min_triangles = 12};
}

typedef struct edit_jobs {
    hull_table *table;
    const int32_t *bones;
    const rbli_simplify_options *simplify;
    const rbli_merge_hulls_options *merge;
    const rbli_children *children; /* of clusters; NULL: a bone's own hulls are merged */
    const double (*world)[16];
    bool of_leaves;
} edit_jobs;

static rbl_status simplify_one(
    rbl_context *ctx, const rbli_simplify_options *options, const rbli_hull *hull, rbli_hull *out)
{
    if (options->method == RBLI_SIMPLIFY_ANGLE)
        return rbli_hull_simplify_angle(ctx, hull, options->angle, out);
    if (options->method == RBLI_SIMPLIFY_QSLIM)
        return rbli_hull_simplify_collapse(ctx, hull, options->distance, options->min_triangles, out);
    rbli_hull_options budget = rbli_hull_default_options();
    budget.max_vertices = options->max_vertices;
    return rbli_convex_hull(ctx, (const double(*)[3])hull->points, hull->point_count, &budget, out);
}

static rbl_status simplify_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    rbl_status status = RBL_OK;
    const edit_jobs *jobs = user;
    for (size_t i = begin; i < end; i++) {
        size_t bone = (size_t)jobs->bones[i], count = hull_count(jobs->table, bone);
        rbli_hull_set *set = &jobs->table->sets[bone];
        RBL_TRY_ALLOC(set->hulls = rbli_calloc(ctx, count, sizeof *set->hulls));
        for (; set->count < count; set->count++) {
            rbli_hull hull = hull_at(jobs->table, bone, set->count);
            RBL_TRY(simplify_one(ctx, jobs->simplify, &hull, &set->hulls[set->count]));
            jobs->table->stand_off[bone] = fmax(jobs->table->stand_off[bone], set->hulls[set->count].excess);
        }
    }
done:
    return status;
}

/// Bones of a selection that have at least `least` hulls.
static rbl_status list_bones(rbl_context *ctx, const hull_table *table, const rbli_selection *selection,
    size_t least, int32_t **out, size_t *count)
{
    bool *mask;
    rbl_status status = rbli_bone_mask(ctx, table->in, selection, false, &mask);
    if (status != RBL_OK) return status;
    int32_t *bones = rbli_alloc(ctx, table->bone_count, sizeof *bones);
    *count = 0;
    for (size_t b = 0; bones && b < table->bone_count; b++)
        if (mask[b] && hull_count(table, b) >= least) bones[(*count)++] = (int32_t)b;
    rbli_free(ctx, mask);
    *out = bones;
    return bones ? RBL_OK : RBL_ERR_NO_MEMORY;
}

static void report_stand_off(rbl_context *ctx, const hull_table *table, const char *what)
{
    double most = 0;
    for (size_t b = 0; b < table->bone_count; b++)
        most = fmax(most, table->stand_off[b]);
    if (most > 0) rbli_note(ctx, "%s stand off at most %g", what, most);
}

/// Works on each bone of a selection with at least `least` hulls, one a block, and writes what came out.
static rbl_status edit_hulls(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    size_t least, edit_jobs *jobs, rbli_block_fn work, const char *what, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    hull_table table = {0};
    int32_t *bones = NULL;
    size_t count;
    RBL_TRY(table_build(ctx, in, &table));
    RBL_TRY(list_bones(ctx, &table, selection, least, &bones, &count));
    jobs->table = &table;
    jobs->bones = bones;
    RBL_TRY(rbli_parallel_for(ctx, count, 1, work, jobs));
    for (size_t i = 0; i < count; i++)
        table.changed[bones[i]] = true;
    RBL_TRY(table_write(ctx, &table, out));
    report_stand_off(ctx, &table, what);
done:
    rbli_free(ctx, bones);
    table_free(ctx, &table);
    return status;
}

rbl_status rbli_simplify_hulls(
    rbl_context *ctx, const rbl_collection *in, const rbli_simplify_options *options, rbl_collection **out)
{
    edit_jobs jobs = {.simplify = options};
    return edit_hulls(ctx, in, options->selection, 1, &jobs, simplify_block, "simplified hulls", out);
}

/* ---- merged ones ---- */

/// Merges a set and brings its hulls within their budget.
static rbl_status merge_set(
    rbl_context *ctx, const rbli_merge_hulls_options *options, rbli_hull_set *set, double *stand_off)
{
    rbl_status status = RBL_OK;
    rbli_spheres spheres = {0};
    rbli_hull_merge_options merge = options->merge;
    rbli_hull_options budget = rbli_hull_default_options();
    if (options->protect) {
        RBL_TRY(rbli_negative_space(ctx, set->hulls, set->count, NULL, options->protect, &spheres));
        merge.spheres = &spheres;
    }
    RBL_TRY(rbli_hull_merge(ctx, set, &merge));
    budget.max_vertices = options->max_vertices;
    for (size_t i = 0; i < set->count; i++) {
        rbli_hull hull;
        if (set->hulls[i].point_count <= (size_t)options->max_vertices) continue;
        RBL_TRY(rbli_convex_hull(
            ctx, (const double(*)[3])set->hulls[i].points, set->hulls[i].point_count, &budget, &hull));
        rbli_hull_free(ctx, &set->hulls[i]);
        set->hulls[i] = hull;
        *stand_off = fmax(*stand_off, hull.excess);
    }
done:
    rbli_spheres_free(ctx, &spheres);
    return status;
}

static rbl_status merge_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    rbl_status status = RBL_OK;
    const edit_jobs *jobs = user;
    for (size_t i = begin; i < end; i++) {
        size_t bone = (size_t)jobs->bones[i];
        rbli_hull_set *set = &jobs->table->sets[bone];
        RBL_TRY_ALLOC(set->hulls = rbli_calloc(ctx, hull_count(jobs->table, bone), sizeof *set->hulls));
        RBL_TRY(append_copies(ctx, jobs->table, bone, NULL, set));
        RBL_TRY(merge_set(ctx, jobs->merge, set, &jobs->table->stand_off[bone]));
    }
done:
    return status;
}

rbl_status rbli_merge_hulls(
    rbl_context *ctx, const rbl_collection *in, const rbli_merge_hulls_options *options, rbl_collection **out)
{
    edit_jobs jobs = {.merge = options};
    return edit_hulls(
        ctx, in, options->selection, 2, &jobs, merge_block, "merged hulls within their budget", out);
}

/* ---- those of clusters ---- */

typedef RBLI_ARRAY(int32_t) bone_list;

/// Bones whose hulls a cluster is made of: its children (for clusters without hulls, theirs), or all below it
/// that are no clusters; those with hulls alone.
static rbl_status list_sources(rbl_context *ctx, const edit_jobs *jobs, int32_t cluster, bone_list *out)
{
    rbl_status status = RBL_OK;
    const int32_t *type = rbli_collection_read(jobs->table->in, "bone", "type", RBL_INT32);
    bone_list open = {0};
    RBL_TRY(rbli_array_push(ctx, &open, cluster));
    while (open.count > 0) {
        int32_t b = open.data[--open.count];
        for (int32_t i = jobs->children->start[b]; i < jobs->children->start[b + 1]; i++) {
            int32_t child = jobs->children->child[i];
            bool deeper = type[child] == RBLI_BONE_CLUSTER &&
                          (jobs->of_leaves || hull_count(jobs->table, (size_t)child) == 0);
            if (deeper)
                RBL_TRY(rbli_array_push(ctx, &open, child));
            else if (hull_count(jobs->table, (size_t)child) > 0)
                RBL_TRY(rbli_array_push(ctx, out, child));
        }
    }
done:
    rbli_free(ctx, open.data);
    return status;
}

static rbl_status cluster_one(rbl_context *ctx, const edit_jobs *jobs, int32_t cluster)
{
    rbl_status status = RBL_OK;
    hull_table *table = jobs->table;
    rbli_hull_set *set = &table->sets[cluster];
    bone_list sources = {0};
    size_t count = 0;
    double inverse[16], matrix[16];
    RBL_TRY(list_sources(ctx, jobs, cluster, &sources));
    for (size_t i = 0; i < sources.count; i++)
        count += hull_count(table, (size_t)sources.data[i]);
    if (count == 0 || !rbli_affine_invert(jobs->world[cluster], inverse)) goto done;
    RBL_TRY_ALLOC(set->hulls = rbli_calloc(ctx, count, sizeof *set->hulls));
    for (size_t i = 0; i < sources.count; i++) {
        const double *world = jobs->world[sources.data[i]];
        bool same = memcmp(world, jobs->world[cluster], sizeof matrix) == 0;
        rbli_affine_multiply(inverse, world, matrix);
        RBL_TRY(append_copies(ctx, table, (size_t)sources.data[i], same ? NULL : matrix, set));
    }
    RBL_TRY(merge_set(ctx, jobs->merge, set, &table->stand_off[cluster]));
done:
    rbli_free(ctx, sources.data);
    return status;
}

static rbl_status cluster_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const edit_jobs *jobs = user;
    for (size_t i = begin; i < end; i++) {
        rbl_status status = cluster_one(ctx, jobs, jobs->bones[i]);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// Level by level, the deepest first; clusters of one level do not depend on each other.
static rbl_status make_levels(
    rbl_context *ctx, edit_jobs *jobs, const bool *mask, const int32_t *level, int32_t *bones)
{
    rbl_status status = RBL_OK;
    const int32_t *type = rbli_collection_read(jobs->table->in, "bone", "type", RBL_INT32);
    int32_t deepest = 0;
    for (size_t b = 0; b < jobs->table->bone_count; b++)
        deepest = level[b] > deepest ? level[b] : deepest;
    size_t *start = rbli_calloc(ctx, (size_t)deepest + 2, sizeof *start);
    if (!start) return RBL_ERR_NO_MEMORY;
    for (size_t b = 0; b < jobs->table->bone_count; b++)
        if (mask[b] && type[b] == RBLI_BONE_CLUSTER) start[deepest - level[b] + 1]++;
    for (int32_t l = 0; l <= deepest; l++)
        start[l + 1] += start[l];
    for (size_t b = 0; b < jobs->table->bone_count; b++)
        if (mask[b] && type[b] == RBLI_BONE_CLUSTER) bones[start[deepest - level[b]]++] = (int32_t)b;
    for (int32_t l = 0; l <= deepest; l++) {
        size_t begin = l == 0 ? 0 : start[l - 1], count = start[l] - begin;
        jobs->bones = bones + begin;
        RBL_TRY(rbli_parallel_for(ctx, count, 1, cluster_block, jobs));
        for (size_t i = 0; i < count; i++)
            jobs->table->changed[jobs->bones[i]] = jobs->table->sets[jobs->bones[i]].count > 0;
    }
done:
    rbli_free(ctx, start);
    return status;
}

rbl_status rbli_cluster_hulls(rbl_context *ctx, const rbl_collection *in, rbli_cluster_hull_source source,
    const rbli_merge_hulls_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    hull_table table = {0};
    rbli_children children = {0};
    double(*world)[16] = NULL;
    bool *mask = NULL;
    int32_t *bones = NULL;
    const int32_t *type = rbli_collection_read(in, "bone", "type", RBL_INT32),
                  *level = rbli_collection_read(in, "bone", "level", RBL_INT32);
    if (!type || !level)
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "the collection lacks attributes of an asset");
    RBL_TRY(rbli_bone_mask(ctx, in, options->selection, false, &mask));
    RBL_TRY(table_build(ctx, in, &table));
    bool wanted = false, any = false;
    for (size_t b = 0; b < table.bone_count; b++) {
        bool cluster = type[b] == RBLI_BONE_CLUSTER;
        wanted |= cluster && mask[b];
        any |= !cluster && hull_count(&table, b) > 0;
    }
    if (wanted && !any)
        RBL_TRY(rbli_fail(
            ctx, RBL_ERR_NOT_FOUND, "no piece has a hull to make those of clusters of: create them first"));
    RBL_TRY(rbli_children_build(ctx, in, &children));
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, in, &world));
    RBL_TRY_ALLOC(bones = rbli_alloc(ctx, table.bone_count, sizeof *bones));
    edit_jobs jobs = {.table = &table,
        .merge = options,
        .children = &children,
        .world = (const double(*)[16])world,
        .of_leaves = source == RBLI_HULLS_OF_LEAVES};
    RBL_TRY(make_levels(ctx, &jobs, mask, level, bones));
    RBL_TRY(table_write(ctx, &table, out));
    report_stand_off(ctx, &table, "hulls of clusters within their budget");
done:
    table_free(ctx, &table);
    rbli_children_free(ctx, &children);
    rbli_free(ctx, world);
    rbli_free(ctx, mask);
    rbli_free(ctx, bones);
    return status;
}

/* ---- empty space ---- */

rbl_status rbli_write_negative_space(rbl_context *ctx, const rbl_collection *in,
    const rbli_selection *selection, const rbli_negative_space_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    hull_table table = {0};
    rbli_hull_set set = {0};
    rbli_spheres spheres = {0};
    rbl_collection *copy = NULL;
    double(*world)[16] = NULL, (*centers)[3], *radii;
    int32_t *bones = NULL;
    size_t count, hulls = 0;
    RBL_TRY(table_build(ctx, in, &table));
    RBL_TRY(list_bones(ctx, &table, selection, 1, &bones, &count));
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, in, &world));
    for (size_t i = 0; i < count; i++)
        hulls += hull_count(&table, (size_t)bones[i]);
    RBL_TRY_ALLOC(set.hulls = rbli_calloc(ctx, hulls, sizeof *set.hulls));
    for (size_t i = 0; i < count; i++)
        RBL_TRY(append_copies(ctx, &table, (size_t)bones[i], world[bones[i]], &set));
    RBL_TRY(rbli_negative_space(ctx, set.hulls, set.count, NULL, options, &spheres));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    rbli_collection_remove_group(copy, "negative_space");
    RBL_TRY(rbli_collection_resize(ctx, copy, "negative_space", spheres.count));
    RBL_TRY(rbli_collection_write(ctx, copy, "negative_space", "center", RBL_VEC3, (void **)&centers));
    RBL_TRY(rbli_collection_write(ctx, copy, "negative_space", "radius", RBL_DOUBLE, (void **)&radii));
    for (size_t i = 0; i < spheres.count; i++) {
        memcpy(centers[i], spheres.centers[i], sizeof centers[i]);
        radii[i] = spheres.radii[i];
    }
    *out = copy;
    copy = NULL;
done:
    table_free(ctx, &table);
    rbli_hull_set_free(ctx, &set);
    rbli_spheres_free(ctx, &spheres);
    rbli_free(ctx, world);
    rbli_free(ctx, bones);
    rbli_collection_release(copy);
    return status;
}

/* ---- shapes ---- */

rbl_status rbli_set_colliders(
    rbl_context *ctx, const rbl_collection *in, const rbli_collider_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbli_asset_stats stats = {0};
    rbl_collection *copy = NULL;
    bool *mask = NULL;
    int32_t *shapes;
    const bool *sheet = rbli_collection_read(in, "bone", "sheet", RBL_BOOL);
    bool first = !rbli_collection_read(in, "bone", "collider", RBL_INT32);
    const struct {
        double limit;
        int32_t shape;
    } below[3] = {{options->none_below, RBLI_COLLIDER_NONE}, {options->sphere_below, RBLI_COLLIDER_SPHERE},
        {options->box_below, RBLI_COLLIDER_BOX}};
    RBL_TRY(rbli_bone_mask(ctx, in, options->selection, false, &mask));
    RBL_TRY(rbli_asset_stats_compute(ctx, in, &stats));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(rbli_collection_write(ctx, copy, "bone", "collider", RBL_INT32, (void **)&shapes));
    for (size_t b = 0; b < stats.bone_count; b++) {
        double volume = stats.bones[b].volume, convex = options->convex_above, least = HUGE_VAL;
        if (first) shapes[b] = RBLI_COLLIDER_CONVEX;
        if (!mask[b]) continue;
        shapes[b] = volume >= convex * convex * convex ? RBLI_COLLIDER_CONVEX : RBLI_COLLIDER_BOX;
        for (int i = 0; i < 3; i++) {
            double limit = below[i].limit;
            if (!(volume < limit * limit * limit) || limit >= least) continue;
            least = limit;
            shapes[b] = below[i].shape;
        }
        if (sheet && sheet[b]) shapes[b] = RBLI_COLLIDER_NONE;
    }
    *out = copy;
    copy = NULL;
done:
    rbli_free(ctx, mask);
    rbli_asset_stats_free(ctx, &stats);
    rbli_collection_release(copy);
    return status;
}
