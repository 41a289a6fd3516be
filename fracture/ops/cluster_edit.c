/// Operations on clusters: each makes a plan of who hangs below whom.

#include "fracture/ops/cluster_edit.h"

#include "fracture/base/alloc.h"
#include "fracture/ops/bone_measure.h"
#include "fracture/ops/cluster_edit_internal.h"

/* ---- what they share ---- */

rbl_status rbli_edit_begin(
    rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection, rbli_edit *e)
{
    rbl_status status = RBL_OK;
    *e = (rbli_edit){.ctx = ctx,
        .in = in,
        .count = rbli_collection_size(in, "bone"),
        .parent = rbli_collection_read(in, "bone", "parent", RBL_INT32),
        .level = rbli_collection_read(in, "bone", "level", RBL_INT32),
        .type = rbli_collection_read(in, "bone", "type", RBL_INT32)};
    const bool *sheet = rbli_collection_read(in, "bone", "sheet", RBL_BOOL);
    if (e->count > 0 && (!e->parent || !e->level || !e->type))
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "the collection lacks bone.parent, level or type");
    if (selection && !rbli_selection_fits(selection, in))
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "the selection was made on a collection with other bones");
    RBL_TRY(rbli_rehang_plan_create(ctx, in, &e->plan));
    RBL_TRY_ALLOC(e->chosen = rbli_calloc(ctx, e->count, sizeof *e->chosen));
    for (size_t i = 0; selection && i < rbli_selection_count(selection); i++) {
        int32_t b = rbli_selection_bones(selection)[i];
        while (sheet && sheet[b] && e->parent[b] >= 0)
            b = e->parent[b];
        e->chosen_count += !e->chosen[b];
        e->chosen[b] = true;
    }
done:
    return status;
}

void rbli_edit_end(rbli_edit *e)
{
    rbli_rehang_plan_free(e->ctx, &e->plan);
    rbli_free(e->ctx, e->chosen);
}

rbl_status rbli_edit_keep_topmost(rbli_edit *e)
{
    bool *below = rbli_calloc(e->ctx, e->count, sizeof *below);
    if (!below) return RBL_ERR_NO_MEMORY;
    e->chosen_count = 0;
    for (size_t b = 0; b < e->count; b++) {
        int32_t p = e->parent[b];
        below[b] = p >= 0 && (below[p] || e->chosen[p]);
    }
    for (size_t b = 0; b < e->count; b++) {
        e->chosen[b] &= !below[b];
        e->chosen_count += e->chosen[b];
    }
    rbli_free(e->ctx, below);
    return RBL_OK;
}

rbl_status rbli_edit_nothing(rbli_edit *e, rbli_cluster_edit *out)
{
    rbli_cluster_edit made = {0};
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(made.bones = rbli_alloc(e->ctx, 0, sizeof *made.bones));
    RBL_TRY(rbli_collection_copy(e->ctx, e->in, &made.collection));
    *out = made;
    made = (rbli_cluster_edit){0};
done:
    rbli_free(e->ctx, made.bones);
    return status;
}

/// Whether a bone of the result belongs in the list.
static bool is_told(
    const rbli_edit *e, rbli_edit_tell tell, const int32_t *source, const int32_t *parent, size_t b)
{
    int32_t node = source[b], above = parent[b] < 0 ? -1 : source[parent[b]];
    switch (tell) {
    case RBLI_TELL_NEW:
        return (size_t)node >= e->count;
    case RBLI_TELL_MOVED:
        return (size_t)node < e->count && above != e->parent[node];
    case RBLI_TELL_CHOSEN:
        return (size_t)node < e->count && e->chosen[node];
    }
    return false;
}

rbl_status rbli_edit_finish(rbli_edit *e, rbli_edit_tell tell, rbli_cluster_edit *out)
{
    rbl_status status = RBL_OK;
    int32_t *source = NULL;
    rbli_cluster_edit made = {0};
    RBL_TRY(rbli_rehang(e->ctx, e->in, &e->plan, &made.collection, &source));
    size_t count = rbli_collection_size(made.collection, "bone");
    const int32_t *parent = rbli_collection_read(made.collection, "bone", "parent", RBL_INT32);
    RBL_TRY_ALLOC(made.bones = rbli_alloc(e->ctx, count, sizeof *made.bones));
    for (size_t b = 0; b < count; b++)
        if (is_told(e, tell, source, parent, b)) made.bones[made.count++] = (int32_t)b;
    *out = made;
    made = (rbli_cluster_edit){0};
done:
    rbli_free(e->ctx, source);
    rbli_free(e->ctx, made.bones);
    rbli_collection_release(made.collection);
    return status;
}

static const char *name_of(const rbli_edit *e, int32_t bone)
{
    return rbli_collection_string(e->in, "bone", "name", (size_t)bone);
}

static int32_t first_chosen(const rbli_edit *e)
{
    for (size_t b = 0; b < e->count; b++)
        if (e->chosen[b]) return (int32_t)b;
    return -1;
}

/* ---- Cluster ---- */

/// The lowest bone that is above all chosen ones, which are not above each other; −1: none.
static rbl_status find_common_parent(rbli_edit *e, int32_t *out)
{
    size_t *below = rbli_calloc(e->ctx, e->count, sizeof *below);
    if (!below) return RBL_ERR_NO_MEMORY;
    *out = -1;
    /* Children come after parents, so the first bone that has all below it is the lowest of them. */
    for (size_t b = e->count; b-- > 0;) {
        if (!e->chosen[b] && below[b] == e->chosen_count) {
            *out = (int32_t)b;
            break;
        }
        below[b] += e->chosen[b];
        if (e->parent[b] >= 0) below[e->parent[b]] += below[b];
    }
    rbli_free(e->ctx, below);
    return RBL_OK;
}

rbl_status rbli_cluster_bones(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    const char *name, bool clusters_of_one, rbli_cluster_edit *out)
{
    rbl_status status = RBL_OK;
    rbli_edit e = {.ctx = ctx};
    int32_t parent, node;
    bool named = name && name[0];
    rbli_cluster_edit made = {0};
    RBL_TRY(rbli_edit_begin(ctx, in, selection, &e));
    RBL_TRY(rbli_edit_keep_topmost(&e));
    if (e.chosen_count == 0 || (e.chosen_count == 1 && !clusters_of_one)) {
        if (e.chosen_count == 0)
            rbli_warn(ctx, "no bone was chosen: nothing to cluster");
        else
            rbli_warn(ctx, "\"%s\" was chosen alone: no cluster of one is made (clusters_of_one allows it)",
                name_of(&e, first_chosen(&e)));
        RBL_TRY(rbli_edit_nothing(&e, out));
        goto done;
    }
    RBL_TRY(find_common_parent(&e, &parent));
    e.plan.clusters_of_one = clusters_of_one;
    const char *base = named ? name : parent < 0 ? "root" : name_of(&e, parent);
    RBL_TRY(rbli_rehang_add(ctx, &e.plan, parent, base, named || parent < 0 ? "" : "_cluster", &node));
    for (size_t b = 0; b < e.count; b++)
        if (e.chosen[b]) e.plan.parent[b] = node;
    RBL_TRY(rbli_edit_finish(&e, RBLI_TELL_NEW, &made));
    if (made.count == 0)
        rbli_warn(ctx, "the chosen bones are all that is below \"%s\": no further cluster is made",
            parent < 0 ? "" : name_of(&e, parent));
    *out = made;
done:
    rbli_edit_end(&e);
    return status;
}

/* ---- Uncluster, Flatten ---- */

rbl_status rbli_uncluster(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    bool clusters_of_one, rbli_cluster_edit *out)
{
    rbl_status status = RBL_OK;
    rbli_edit e = {.ctx = ctx};
    size_t dissolved = 0, roots = 0;
    RBL_TRY(rbli_edit_begin(ctx, in, selection, &e));
    e.plan.clusters_of_one = clusters_of_one;
    for (size_t b = 0; b < e.count; b++) {
        if (e.type[b] != RBLI_BONE_CLUSTER || (selection && !e.chosen[b])) continue;
        roots += e.parent[b] < 0;
        dissolved += e.plan.dissolve[b] = e.parent[b] >= 0;
    }
    if (selection && roots > 0) rbli_warn(ctx, "a root stays: it cannot be dissolved");
    if (dissolved > 0) {
        status = rbli_edit_finish(&e, RBLI_TELL_MOVED, out);
    } else {
        if (roots == 0 || !selection) rbli_warn(ctx, "no cluster was chosen: nothing to dissolve");
        status = rbli_edit_nothing(&e, out);
    }
done:
    rbli_edit_end(&e);
    return status;
}

rbl_status rbli_flatten(
    rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection, rbli_cluster_edit *out)
{
    rbl_status status = RBL_OK;
    rbli_edit e = {.ctx = ctx};
    bool *inside = NULL;
    size_t dissolved = 0, tops = 0;
    RBL_TRY(rbli_edit_begin(ctx, in, selection, &e));
    RBL_TRY_ALLOC(inside = rbli_calloc(ctx, e.count, sizeof *inside));
    for (size_t b = 0; b < e.count; b++) {
        int32_t p = e.parent[b];
        bool cluster = e.type[b] == RBLI_BONE_CLUSTER, below = p >= 0 && inside[p];
        inside[b] = below || (cluster && (selection ? e.chosen[b] : p < 0));
        tops += inside[b] && !below;
        dissolved += e.plan.dissolve[b] = cluster && below;
    }
    if (dissolved > 0) {
        status = rbli_edit_finish(&e, RBLI_TELL_MOVED, out);
    } else {
        rbli_warn(ctx, tops == 0 ? "no cluster was chosen: nothing to flatten"
                                 : "there are no clusters below: it is flat");
        status = rbli_edit_nothing(&e, out);
    }
done:
    rbli_free(ctx, inside);
    rbli_edit_end(&e);
    return status;
}

/* ---- ClusterMerge ---- */

static int32_t best_target(const rbli_edit *e, const double *volume)
{
    int32_t best = -1;
    for (size_t i = 0; i < e->count; i++) {
        int32_t b = (int32_t)i;
        if (!e->chosen[b] || e->type[b] != RBLI_BONE_CLUSTER) continue;
        if (best >= 0) {
            if (e->level[b] > e->level[best]) continue;
            if (e->level[b] == e->level[best]) {
                if (volume[b] < volume[best]) continue;
                if (volume[b] == volume[best] && strcmp(name_of(e, b), name_of(e, best)) > 0) continue;
            }
        }
        best = b;
    }
    return best;
}

rbl_status rbli_cluster_merge(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    bool clusters_of_one, rbli_cluster_edit *out)
{
    rbl_status status = RBL_OK;
    rbli_edit e = {.ctx = ctx};
    rbli_world_surface surface = {0};
    rbli_bone_measure measure = {0};
    int32_t target;
    RBL_TRY(rbli_edit_begin(ctx, in, selection, &e));
    RBL_TRY(rbli_edit_keep_topmost(&e));
    RBL_TRY(rbli_world_surface_build(ctx, in, &surface));
    RBL_TRY(rbli_bone_measure_build(ctx, in, &surface, &measure));
    target = best_target(&e, measure.volume);
    if (target < 0 || e.chosen_count < 2) {
        if (target < 0)
            rbli_warn(ctx, "no cluster was chosen: nothing to merge");
        else
            rbli_warn(ctx, "\"%s\" was chosen alone: nothing to merge it with", name_of(&e, target));
        RBL_TRY(rbli_edit_nothing(&e, out));
        goto done;
    }
    e.plan.clusters_of_one = clusters_of_one;
    for (size_t b = 0; b < e.count; b++) {
        if (!e.chosen[b] || (int32_t)b == target) continue;
        /* A cluster that goes hands its place to its children. */
        e.plan.parent[b] = target;
        e.plan.dissolve[b] = e.type[b] == RBLI_BONE_CLUSTER;
        e.chosen[b] = false;
    }
    status = rbli_edit_finish(&e, RBLI_TELL_CHOSEN, out);
done:
    rbli_bone_measure_free(ctx, &measure);
    rbli_world_surface_free(ctx, &surface);
    rbli_edit_end(&e);
    return status;
}

/* ---- ClusterIsolatedRoots, MoveUp ---- */

rbl_status rbli_cluster_isolated_roots(rbl_context *ctx, const rbl_collection *in,
    const rbli_selection *selection, bool clusters_of_one, rbli_cluster_edit *out)
{
    rbl_status status = RBL_OK;
    rbli_edit e = {.ctx = ctx};
    size_t found = 0, last = 0;
    int32_t node;
    RBL_TRY(rbli_edit_begin(ctx, in, selection, &e));
    for (size_t b = 0; b < e.count; b++) {
        e.chosen[b] = (!selection || e.chosen[b]) && e.parent[b] < 0 && e.type[b] == RBLI_BONE_RIGID;
        if (e.chosen[b]) found++, last = b;
    }
    if (found == 0 || (found == 1 && !clusters_of_one)) {
        if (found == 0)
            rbli_note(ctx, "no root is a piece: nothing to cluster");
        else
            rbli_warn(ctx,
                "\"%s\" alone is a root and a piece: no cluster of one is made "
                "(clusters_of_one allows it)",
                name_of(&e, (int32_t)last));
        RBL_TRY(rbli_edit_nothing(&e, out));
        goto done;
    }
    e.plan.clusters_of_one = clusters_of_one;
    RBL_TRY(rbli_rehang_add(ctx, &e.plan, -1, "root", "", &node));
    for (size_t b = 0; b < e.count; b++)
        if (e.chosen[b]) e.plan.parent[b] = node;
    status = rbli_edit_finish(&e, RBLI_TELL_NEW, out);
done:
    rbli_edit_end(&e);
    return status;
}

rbl_status rbli_move_up(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    bool clusters_of_one, rbli_cluster_edit *out)
{
    rbl_status status = RBL_OK;
    rbli_edit e = {.ctx = ctx};
    size_t moved = 0, stuck = 0;
    RBL_TRY(rbli_edit_begin(ctx, in, selection, &e));
    e.plan.clusters_of_one = clusters_of_one;
    for (size_t b = 0; b < e.count; b++) {
        if (!e.chosen[b]) continue;
        int32_t p = e.parent[b];
        if (p < 0 || e.parent[p] < 0) {
            stuck++;
            continue;
        }
        e.plan.parent[b] = e.parent[p];
        moved++;
    }
    if (e.chosen_count == 0) rbli_warn(ctx, "no bone was chosen: nothing to move");
    if (stuck > 0)
        rbli_warn(ctx, "%zu chosen bone%s no place to move up to: nothing is above the parent", stuck,
            stuck == 1 ? " has" : "s have");
    status = moved > 0 ? rbli_edit_finish(&e, RBLI_TELL_MOVED, out) : rbli_edit_nothing(&e, out);
done:
    rbli_edit_end(&e);
    return status;
}
