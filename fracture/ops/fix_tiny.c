/// Tiny pieces: who joins whom by the kernel join_small, then unions or clusters.

#include "fracture/ops/fix_tiny.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/trace.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/join_small.h"
#include "fracture/ops/bone_measure.h"
#include "fracture/ops/cluster_edit_internal.h"
#include "fracture/ops/fuse_pieces.h"

rbli_fix_tiny_options rbli_fix_tiny_default_options(void)
{
    return (rbli_fix_tiny_options){.relative_volume = 0.01,
        .min_volume_cube_root = 0.01,
        .only_connected = true,
        .only_same_parent = true,
        .on_fracture_level = true};
}

typedef struct tiny {
    rbli_edit e;
    const rbli_fix_tiny_options *options;
    const int32_t *geometry;
    int32_t *leaves; /* rigid leaves, ascending */
    size_t leaf_count;
    int32_t *row; /* [bone count] place among the leaves, −1 for others */
    rbli_world_surface surface;
    rbli_bone_measure measure;
    rbli_small_item *items; /* [leaf_count] */
    double threshold;
    size_t candidates;   /* leaves that are tiny or must join */
    rbli_touch *touches; /* between candidates and anyone, by bone */
    size_t touch_count;
    int32_t *group;            /* [leaf_count] lowest leaf of its group, as a row */
    rbli_small_reason *reason; /* [leaf_count] */
    rbli_piece_groups groups;  /* of more than one */
} tiny;

static void tiny_free(rbl_context *ctx, tiny *t)
{
    rbli_free(ctx, t->leaves);
    rbli_free(ctx, t->row);
    rbli_free(ctx, t->items);
    rbli_free(ctx, t->touches);
    rbli_free(ctx, t->group);
    rbli_free(ctx, t->reason);
    rbli_piece_groups_free(ctx, &t->groups);
    rbli_world_surface_free(ctx, &t->surface);
    rbli_bone_measure_free(ctx, &t->measure);
    rbli_edit_end(&t->e);
}

/* ---- what is tiny ---- */

/// Marks what is chosen: the selection and all below it.
static rbl_status spread_selection(tiny *t)
{
    for (size_t b = 0; b < t->e.count; b++)
        if (t->e.parent[b] >= 0 && t->e.chosen[t->e.parent[b]]) t->e.chosen[b] = true;
    return RBL_OK;
}

static bool is_candidate(const tiny *t, const rbli_small_item *item)
{
    return item->volume < t->threshold || item->must_join;
}

static rbl_status make_items(tiny *t)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->e.ctx;
    const rbli_fix_tiny_options *o = t->options;
    bool same_parent = o->only_same_parent || o->merge == RBLI_TINY_CLUSTERS;
    double total = 0, r = o->relative_volume, m = o->min_volume_cube_root;
    RBL_TRY(rbli_rigid_leaves(ctx, t->e.in, NULL, &t->leaves, &t->leaf_count));
    RBL_TRY(rbli_world_surface_build(ctx, t->e.in, &t->surface));
    RBL_TRY(rbli_bone_measure_build(ctx, t->e.in, &t->surface, &t->measure));
    RBL_TRY_ALLOC(t->row = rbli_alloc(ctx, t->e.count, sizeof *t->row));
    RBL_TRY_ALLOC(t->items = rbli_calloc(ctx, t->leaf_count, sizeof *t->items));
    memset(t->row, 0xff, t->e.count * sizeof *t->row);
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t b = t->leaves[i];
        rbli_small_item *item = &t->items[i];
        t->row[b] = (int32_t)i;
        item->volume = t->measure.volume[b];
        memcpy(item->center, t->measure.center[b], sizeof item->center);
        item->kind = same_parent ? t->e.parent[b] : o->on_fracture_level ? t->e.level[b] : 0;
        item->may_be_small = o->use_selection != RBLI_TINY_USE_RESTRICT || t->e.chosen[b];
        item->must_join = o->use_selection == RBLI_TINY_USE_INCLUDE && t->e.chosen[b];
        total += item->volume;
    }
    t->threshold = o->select_by == RBLI_TINY_RELATIVE_VOLUME ? total * (r * r * r) : m * m * m;
    for (size_t i = 0; i < t->leaf_count; i++)
        t->candidates += is_candidate(t, &t->items[i]) && (t->items[i].may_be_small || t->items[i].must_join);
done:
    return status;
}

/* ---- contacts of what is tiny ---- */

/// The triangles that can touch a candidate, as a mesh of their own.
typedef struct near_surface {
    double (*positions)[3];
    size_t vertex_count;
    int32_t (*triangles)[3];
    int32_t *piece; /* bone */
    size_t triangle_count;
} near_surface;

typedef struct near_query {
    const double (*boxes)[2][3]; /* of the candidates */
    RBLI_ARRAY(int32_t) found;
    rbl_context *ctx;
    bool failed;
} near_query;

static bool note_box(void *user, int32_t item)
{
    near_query *q = user;
    q->failed |= rbli_array_push(q->ctx, &q->found, item) != RBL_OK;
    return !q->failed;
}

static bool triangle_is_near(const tiny *t, const near_query *q, const int32_t triangle[3])
{
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        double a = t->surface.positions[triangle[0]][k], b = t->surface.positions[triangle[1]][k],
               c = t->surface.positions[triangle[2]][k];
        low[k] = fmin(a, fmin(b, c));
        high[k] = fmax(a, fmax(b, c));
    }
    for (size_t i = 0; i < q->found.count; i++) {
        const double(*box)[3] = q->boxes[q->found.data[i]];
        bool apart = false;
        for (int k = 0; k < 3; k++)
            apart |= low[k] > box[1][k] || high[k] < box[0][k];
        if (!apart) return true;
    }
    return false;
}

/// Marks the faces of a leaf that can touch a candidate. @return how many by `kept`
static rbl_status mark_faces(
    tiny *t, const rbli_box_tree *tree, near_query *q, size_t i, double margin, bool *near)
{
    int32_t b = t->leaves[i], g = t->geometry[b];
    const int32_t *start = rbli_collection_read(t->e.in, "geometry", "face_start", RBL_INT32);
    const int32_t *count = rbli_collection_read(t->e.in, "geometry", "face_count", RBL_INT32);
    const int32_t(*faces)[3] = t->surface.triangles;
    double low[3], high[3];
    if (is_candidate(t, &t->items[i])) {
        memset(near + start[g], 1, (size_t)count[g]);
        return RBL_OK;
    }
    for (int k = 0; k < 3; k++) {
        low[k] = t->measure.low[b][k] - margin;
        high[k] = t->measure.high[b][k] + margin;
    }
    q->found.count = 0;
    rbli_box_tree_query(tree, low, high, note_box, q);
    if (q->failed) return RBL_ERR_NO_MEMORY;
    for (int32_t f = start[g]; f < start[g] + count[g] && q->found.count > 0; f++)
        near[f] = triangle_is_near(t, q, faces[f]);
    return RBL_OK;
}

/// Boxes of all leaves of less than the threshold and of those that must join, a margin wider.
static rbl_status box_candidates(tiny *t, double margin, double (**out)[2][3], size_t *count)
{
    double(*boxes)[2][3] = rbli_alloc(t->e.ctx, t->leaf_count, sizeof *boxes);
    if (!boxes) return RBL_ERR_NO_MEMORY;
    *count = 0;
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t b = t->leaves[i];
        if (!is_candidate(t, &t->items[i]) || t->measure.low[b][0] > t->measure.high[b][0]) continue;
        for (int k = 0; k < 3; k++) {
            boxes[*count][0][k] = t->measure.low[b][k] - margin;
            boxes[*count][1][k] = t->measure.high[b][k] + margin;
        }
        ++*count;
    }
    *out = boxes;
    return RBL_OK;
}

/// Leaves along a Morton curve: what is near in space is near in memory, and that is where contacts look.
static rbl_status order_leaves(tiny *t, int32_t **out)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->e.ctx;
    rbli_box_tree *tree = NULL;
    int32_t *order = NULL;
    double(*boxes)[2][3] = rbli_alloc(ctx, t->leaf_count, sizeof *boxes);
    RBL_TRY_ALLOC(boxes);
    for (size_t i = 0; i < t->leaf_count; i++) {
        const double *low = t->measure.low[t->leaves[i]], *high = t->measure.high[t->leaves[i]];
        bool empty = low[0] > high[0];
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = empty ? 0 : low[k];
            boxes[i][1][k] = empty ? 0 : high[k];
        }
    }
    RBL_TRY(rbli_box_tree_create(ctx, (const double(*)[2][3])boxes, t->leaf_count, &tree));
    RBL_TRY_ALLOC(order = rbli_alloc(ctx, t->leaf_count, sizeof *order));
    if (t->leaf_count) memcpy(order, rbli_box_tree_items(tree), t->leaf_count * sizeof *order);
    *out = order;
done:
    rbli_box_tree_destroy(ctx, tree);
    rbli_free(ctx, boxes);
    return status;
}

/// Appends the marked faces of a leaf. `place` [vertices] tells where vertices that are there are, else −1.
static void append_near(const tiny *t, int32_t leaf, const bool *near, int32_t *place, near_surface *out)
{
    int32_t g = t->geometry[t->leaves[leaf]];
    int32_t start = ((const int32_t *)rbli_collection_read(t->e.in, "geometry", "face_start", RBL_INT32))[g];
    int32_t count = ((const int32_t *)rbli_collection_read(t->e.in, "geometry", "face_count", RBL_INT32))[g];
    for (int32_t f = start; f < start + count; f++) {
        if (!near[f]) continue;
        for (int k = 0; k < 3; k++) {
            int32_t v = t->surface.triangles[f][k];
            if (place[v] < 0) {
                place[v] = (int32_t)out->vertex_count;
                memcpy(out->positions[out->vertex_count++], t->surface.positions[v], sizeof *out->positions);
            }
            out->triangles[out->triangle_count][k] = place[v];
        }
        out->piece[out->triangle_count++] = t->surface.piece[f];
    }
}

static rbl_status extract_near(tiny *t, double margin, near_surface *out)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->e.ctx;
    size_t face_count = rbli_collection_size(t->e.in, "face"), box_count, kept = 0;
    size_t vertex_count = rbli_collection_size(t->e.in, "vertex");
    double(*boxes)[2][3] = NULL;
    rbli_box_tree *tree = NULL;
    near_query q = {.ctx = ctx};
    bool *near = NULL;
    int32_t *place = NULL, *order = NULL;
    RBL_TRY(box_candidates(t, margin, &boxes, &box_count));
    RBL_TRY(rbli_box_tree_create(ctx, (const double(*)[2][3])boxes, box_count, &tree));
    q.boxes = (const double(*)[2][3])boxes;
    RBL_TRY_ALLOC(near = rbli_calloc(ctx, face_count, sizeof *near));
    for (size_t i = 0; i < t->leaf_count; i++) {
        if (i % 256 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        RBL_TRY(mark_faces(t, tree, &q, i, margin, near));
    }
    for (size_t f = 0; f < face_count; f++)
        kept += near[f];
    RBL_TRY_ALLOC(place = rbli_alloc(ctx, vertex_count, sizeof *place));
    RBL_TRY_ALLOC(out->triangles = rbli_alloc(ctx, kept, sizeof *out->triangles));
    RBL_TRY_ALLOC(out->piece = rbli_alloc(ctx, kept, sizeof *out->piece));
    RBL_TRY_ALLOC(out->positions = rbli_alloc(
                      ctx, 3 * kept < vertex_count ? 3 * kept : vertex_count, sizeof *out->positions));
    memset(place, 0xff, vertex_count * sizeof *place);
    RBL_TRY(order_leaves(t, &order));
    for (size_t i = 0; i < t->leaf_count; i++) {
        if (i % 256 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        append_near(t, order[i], near, place, out);
    }
done:
    rbli_free(ctx, boxes);
    rbli_box_tree_destroy(ctx, tree);
    rbli_free(ctx, q.found.data);
    rbli_free(ctx, near);
    rbli_free(ctx, place);
    rbli_free(ctx, order);
    return status;
}

static int compare_touches(const rbli_touch *a, const rbli_touch *b)
{
    if (a->piece_a != b->piece_a) return a->piece_a < b->piece_a ? -1 : 1;
    return a->piece_b < b->piece_b ? -1 : a->piece_b > b->piece_b;
}

/// Adds pairs that a cut recorded although a gap parts them now; they can share a cluster, not a surface.
static rbl_status add_recorded(tiny *t)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->e.ctx;
    rbli_touch *recorded = NULL, *all = NULL;
    size_t count, at = 0, kept = 0;
    RBL_TRY(rbli_recorded_contacts(ctx, t->e.in, &recorded, &count));
    RBL_TRY_ALLOC(all = rbli_alloc(ctx, t->touch_count + count, sizeof *all));
    for (size_t i = 0; i < t->touch_count; i++)
        all[kept++] = t->touches[i];
    for (size_t i = 0; i < count; i++) {
        while (at < t->touch_count && compare_touches(&t->touches[at], &recorded[i]) < 0)
            at++;
        bool known = at < t->touch_count && compare_touches(&t->touches[at], &recorded[i]) == 0;
        if (!known && t->row[recorded[i].piece_a] >= 0 && t->row[recorded[i].piece_b] >= 0)
            all[kept++] = recorded[i];
    }
    rbli_free(ctx, t->touches);
    t->touches = all;
    t->touch_count = kept;
    all = NULL;
done:
    rbli_free(ctx, recorded);
    rbli_free(ctx, all);
    return status;
}

static rbl_status find_touches(tiny *t)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->e.ctx;
    near_surface s = {0};
    double tolerance = rbli_world_surface_tolerance(&t->surface, 0);
    RBL_TRY(extract_near(t, 2 * tolerance, &s));
    rbli_mesh_view mesh = {
        (const double(*)[3])s.positions, s.vertex_count, (const int32_t(*)[3])s.triangles, s.triangle_count};
    RBL_TRY(rbli_find_contacts(ctx, &mesh, s.piece, tolerance, &t->touches, &t->touch_count));
    if (t->options->merge == RBLI_TINY_CLUSTERS) RBL_TRY(add_recorded(t));
done:
    rbli_free(ctx, s.positions);
    rbli_free(ctx, s.triangles);
    rbli_free(ctx, s.piece);
    return status;
}

/* ---- groups ---- */

/// Whether a union over this contact can be clean: most of it is shared to the bit.
static bool is_shared(const tiny *t, const rbli_touch *touch)
{
    return t->options->merge == RBLI_TINY_CLUSTERS || touch->matched_area > 0.25 * touch->area;
}

static rbl_status choose_groups(tiny *t)
{
    static const rbli_small_rule rules[] = {
        RBLI_SMALL_TO_LARGEST, RBLI_SMALL_TO_NEAREST_CENTER, RBLI_SMALL_TO_LARGEST_CONTACT};
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->e.ctx;
    rbli_small_options options = {t->threshold, rules[t->options->neighbor], t->options->only_connected};
    rbli_cluster_edge *edges = NULL;
    RBL_TRY_ALLOC(edges = rbli_alloc(ctx, t->touch_count, sizeof *edges));
    for (size_t i = 0; i < t->touch_count; i++) {
        const rbli_touch *touch = &t->touches[i];
        edges[i] = (rbli_cluster_edge){t->row[touch->piece_a], t->row[touch->piece_b],
            is_shared(t, touch) ? fmax(touch->area, 0) : -HUGE_VAL};
    }
    RBL_TRY_ALLOC(t->group = rbli_alloc(ctx, t->leaf_count, sizeof *t->group));
    RBL_TRY_ALLOC(t->reason = rbli_calloc(ctx, t->leaf_count, sizeof *t->reason));
    RBL_TRY(
        rbli_join_small(ctx, t->items, t->leaf_count, edges, t->touch_count, &options, t->group, t->reason));
done:
    rbli_free(ctx, edges);
    return status;
}

/// The largest, then the lowest in place, so that it does not depend on the order of the pieces.
static bool keeps(const rbli_small_item *a, const rbli_small_item *b)
{
    if (a->volume != b->volume) return a->volume > b->volume;
    for (int k = 0; k < 3; k++)
        if (a->center[k] != b->center[k]) return a->center[k] < b->center[k];
    return false;
}

/// Groups of more than one: members in rows, the bone that stays, and the area inside.
static rbl_status list_groups(tiny *t)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->e.ctx;
    rbli_piece_groups *g = &t->groups;
    int32_t *size = NULL, *number = NULL, *keeper = NULL;
    size_t at = 0;
    RBL_TRY_ALLOC(size = rbli_calloc(ctx, t->leaf_count, sizeof *size));
    RBL_TRY_ALLOC(number = rbli_alloc(ctx, t->leaf_count, sizeof *number));
    RBL_TRY_ALLOC(keeper = rbli_alloc(ctx, t->leaf_count, sizeof *keeper));
    for (size_t i = 0; i < t->leaf_count; i++)
        size[t->group[i]]++;
    for (size_t i = 0; i < t->leaf_count; i++) {
        number[i] = size[i] > 1 ? (int32_t)g->count++ : -1;
        at += size[i] > 1 ? (size_t)size[i] : 0;
    }
    RBL_TRY_ALLOC(g->member = rbli_alloc(ctx, at, sizeof *g->member));
    RBL_TRY_ALLOC(g->start = rbli_calloc(ctx, g->count + 2, sizeof *g->start));
    RBL_TRY_ALLOC(g->keeper = rbli_alloc(ctx, g->count, sizeof *g->keeper));
    RBL_TRY_ALLOC(g->contact_area = rbli_calloc(ctx, g->count, sizeof *g->contact_area));
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t n = number[t->group[i]];
        if (n < 0) continue;
        if (t->group[i] == (int32_t)i || keeps(&t->items[i], &t->items[keeper[n]])) keeper[n] = (int32_t)i;
        g->start[n + 2]++;
    }
    for (size_t n = 2; n < g->count + 2; n++)
        g->start[n] += g->start[n - 1];
    for (size_t i = 0; i < t->leaf_count; i++)
        if (number[t->group[i]] >= 0) g->member[g->start[number[t->group[i]] + 1]++] = t->leaves[i];
    for (size_t n = 0; n < g->count; n++)
        g->keeper[n] = t->leaves[keeper[n]];
    for (size_t i = 0; i < t->touch_count; i++) {
        int32_t a = t->group[t->row[t->touches[i].piece_a]], b = t->group[t->row[t->touches[i].piece_b]];
        if (a == b && number[a] >= 0) g->contact_area[number[a]] += t->touches[i].area;
    }
done:
    rbli_free(ctx, size);
    rbli_free(ctx, number);
    rbli_free(ctx, keeper);
    return status;
}

/* ---- what comes of it ---- */

typedef struct outcome {
    size_t joined; /* pieces that went into others */
    size_t apart;  /* pieces that would have, but their union would not be clean */
} outcome;

static rbl_status merge_geometry(tiny *t, outcome *o, rbli_fix_tiny_result *out)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->e.ctx;
    const rbli_piece_groups *g = &t->groups;
    int32_t *place = NULL, *grown = NULL;
    bool *fused = NULL, *is_grown = NULL;
    rbl_collection *made = NULL;
    RBL_TRY_ALLOC(fused = rbli_calloc(ctx, g->count, sizeof *fused));
    RBL_TRY(rbli_fuse_pieces(ctx, t->e.in, &t->surface, g, fused, &made, &place));
    size_t bones = rbli_collection_size(made, "bone");
    RBL_TRY_ALLOC(is_grown = rbli_calloc(ctx, bones, sizeof *is_grown));
    RBL_TRY_ALLOC(grown = rbli_alloc(ctx, g->count, sizeof *grown));
    for (size_t i = 0; i < g->count; i++) {
        size_t others = g->start[i + 1] - g->start[i] - 1;
        if (fused[i])
            is_grown[place[g->keeper[i]]] = true, o->joined += others;
        else
            o->apart += others;
    }
    for (size_t b = 0; b < bones; b++)
        if (is_grown[b]) grown[out->count++] = (int32_t)b;
    out->bones = grown;
    out->collection = made;
    grown = NULL;
    made = NULL;
done:
    rbli_free(ctx, place);
    rbli_free(ctx, grown);
    rbli_free(ctx, fused);
    rbli_free(ctx, is_grown);
    rbli_collection_release(made);
    return status;
}

static rbl_status merge_clusters(tiny *t, outcome *o, rbli_fix_tiny_result *out)
{
    rbl_status status = RBL_OK;
    const rbli_piece_groups *g = &t->groups;
    rbli_cluster_edit made = {0};
    for (size_t i = 0; i < g->count; i++) {
        int32_t node, keeper = g->keeper[i];
        RBL_TRY(rbli_rehang_add(t->e.ctx, &t->e.plan, t->e.parent[keeper],
            rbli_collection_string(t->e.in, "bone", "name", (size_t)keeper), "_merged", &node));
        for (size_t j = g->start[i]; j < g->start[i + 1]; j++)
            t->e.plan.parent[g->member[j]] = node;
        o->joined += g->start[i + 1] - g->start[i] - 1;
    }
    RBL_TRY(rbli_edit_finish(&t->e, RBLI_TELL_NEW, &made));
    *out = (rbli_fix_tiny_result){made.collection, made.bones, made.count};
done:
    return status;
}

static void warn_of(
    tiny *t, const size_t *counts, const int32_t *first, rbli_small_reason reason, const char *why)
{
    if (counts[reason] > 0)
        rbli_warn(t->e.ctx, "%zu tiny piece%s stayed: %s (first: \"%s\")", counts[reason],
            counts[reason] == 1 ? "" : "s", why,
            rbli_collection_string(t->e.in, "bone", "name", (size_t)first[reason]));
}

/// Says what was joined, and what was not and why.
static void report(tiny *t, const outcome *o)
{
    size_t counts[4] = {0};
    int32_t first[4] = {0};
    for (size_t i = 0; i < t->leaf_count && t->reason; i++) {
        if (t->reason[i] == RBLI_SMALL_NOT) continue;
        if (counts[t->reason[i]]++ == 0) first[t->reason[i]] = t->leaves[i];
    }
    if (o->joined > 0)
        rbli_note(t->e.ctx, "joined %zu tiny piece%s to neighbours", o->joined, o->joined == 1 ? "" : "s");
    warn_of(t, counts, first, RBLI_SMALL_ALONE,
        t->options->only_connected ? "nothing touches them" : "there is nothing that they may join");
    warn_of(t, counts, first, RBLI_SMALL_OTHER_KIND, "only pieces of other parents or levels touch them");
    warn_of(t, counts, first, RBLI_SMALL_FORBIDDEN,
        "they share no whole facets with what they touch, so a union would keep inner walls");
    if (o->apart > 0)
        rbli_warn(t->e.ctx,
            "%zu tiny piece%s stayed apart: the pieces do not share their whole contact to the bit, so a "
            "union "
            "would keep inner walls",
            o->apart, o->apart == 1 ? "" : "s");
}

rbl_status rbli_fix_tiny(rbl_context *ctx, const rbl_collection *in, const rbli_fix_tiny_options *options,
    rbli_fix_tiny_result *out)
{
    rbl_status status = RBL_OK;
    tiny t = {.e = {.ctx = ctx}, .options = options};
    rbli_fix_tiny_result made = {0};
    outcome o = {0};
    RBL_TRY(rbli_edit_begin(
        ctx, in, options->use_selection == RBLI_TINY_USE_NONE ? NULL : options->selection, &t.e));
    t.geometry = rbli_collection_read(in, "bone", "geometry", RBL_INT32);
    RBL_TRY(spread_selection(&t));
    RBLI_PHASE(ctx, "measure pieces", make_items(&t));
    if (t.candidates > 0) {
        RBL_TRY(find_touches(&t));
        RBL_TRY(choose_groups(&t));
        RBL_TRY(list_groups(&t));
    }
    if (t.groups.count == 0) {
        rbli_cluster_edit nothing = {0};
        RBL_TRY(rbli_edit_nothing(&t.e, &nothing));
        made = (rbli_fix_tiny_result){nothing.collection, nothing.bones, 0};
    } else if (options->merge == RBLI_TINY_GEOMETRY) {
        RBLI_PHASE(ctx, "merge geometry", merge_geometry(&t, &o, &made));
    } else {
        RBL_TRY(merge_clusters(&t, &o, &made));
    }
    report(&t, &o);
    *out = made;
done:
    tiny_free(ctx, &t);
    return status;
}
