/// Cutting hulls apart. All hulls are worked on in world space; those that do not change go back bit for bit.

#include "fracture/ops/hull_overlap.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/ops/asset_stats.h"
#include "fracture/ops/hull_group.h"
#include "fracture/ops/hulls.h"

/* Overlaps of less than this part of the larger hull are rounding. */
static const double nothing = 1e-7;

rbli_overlap_options rbli_overlap_default_options(void)
{
    return (rbli_overlap_options){.can_remove_fraction = 0.3, .can_exceed_fraction = 0.5, .max_vertices = 64};
}

/// A hull under way.
typedef struct solid {
    int32_t bone, row; /* row of the old group, or −1 for a new one */
    bool cluster, changed, gone;
    rbli_hull hull; /* world */
    double volume;  /* before all cuts */
    double size;
} solid;

typedef struct solid_pair {
    int32_t a, b;
    bool overlaps, given_up, done;
    rbli_hull_overlap overlap; /* before any cut */
} solid_pair;

/// Two pieces that overlap still.
typedef struct leftover {
    int32_t a, b; /* solids */
    double depth;
} leftover;

typedef struct separation {
    const rbl_collection *in; /* with hulls of all pieces */
    const rbli_overlap_options *options;
    size_t bone_count;
    const int32_t *parent, *level;
    double (*world)[16];
    rbli_hull_rows rows;
    solid *solids;
    size_t solid_count;
    RBLI_ARRAY(solid_pair) pairs;
    RBLI_ARRAY(int32_t) turn; /* pairs of one round */
    RBLI_ARRAY(leftover) leftovers;
    rbli_overlap_report report;
} separation;

static void separation_free(rbl_context *ctx, separation *s)
{
    for (size_t i = 0; i < s->solid_count; i++)
        rbli_hull_free(ctx, &s->solids[i].hull);
    rbli_free(ctx, s->solids);
    rbli_free(ctx, s->world);
    rbli_free(ctx, s->pairs.data);
    rbli_free(ctx, s->turn.data);
    rbli_free(ctx, s->leftovers.data);
    rbli_hull_rows_free(ctx, &s->rows);
}

static double size_of(const rbli_hull *hull)
{
    double low[3], high[3];
    rbli_hull_bounds(hull, low, high);
    return fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
}

static rbl_status add_solid(rbl_context *ctx, separation *s, int32_t bone, int32_t row, const rbli_hull *hull,
    const double matrix[16])
{
    solid made = {.bone = bone, .row = row, .cluster = row < 0};
    rbl_status status = rbli_hull_copy(ctx, hull, matrix, &made.hull);
    if (status != RBL_OK) return status;
    made.volume = made.hull.volume;
    made.size = size_of(&made.hull);
    s->solids[s->solid_count++] = made;
    return RBL_OK;
}

/* ---- hulls of clusters ---- */

/// The hull of all hulls below each cluster, [bone_count], in world space.
typedef struct wholes {
    separation *s;
    const rbli_children *children;
    const int32_t *bones; /* of one level */
    rbli_hull *whole;
} wholes;

/// Copies the points of a bone's hulls, or of what is below it; NULL counts them.
static size_t copy_points(const wholes *w, int32_t bone, double (*to)[3])
{
    const separation *s = w->s;
    size_t count = 0, first = s->rows.start[bone], end = s->rows.start[bone + 1];
    for (size_t i = first; i < end; i++) { /* solids begin as the rows by bone */
        const rbli_hull *hull = &s->solids[i].hull;
        if (to) memcpy(to[count], hull->points, hull->point_count * sizeof *to);
        count += hull->point_count;
    }
    if (first < end || w->whole[bone].point_count == 0) return count;
    if (to) memcpy(to, w->whole[bone].points, w->whole[bone].point_count * sizeof *to);
    return w->whole[bone].point_count;
}

static rbl_status whole_of(rbl_context *ctx, const wholes *w, int32_t bone)
{
    rbl_status status = RBL_OK;
    const int32_t *child = w->children->child + w->children->start[bone];
    size_t child_count = (size_t)(w->children->start[bone + 1] - w->children->start[bone]), count = 0, at = 0;
    double(*points)[3] = NULL;
    if (w->s->rows.start[bone] < w->s->rows.start[bone + 1]) return RBL_OK; /* a piece */
    for (size_t i = 0; i < child_count; i++)
        count += copy_points(w, child[i], NULL);
    if (count == 0) return RBL_OK;
    RBL_TRY_ALLOC(points = rbli_alloc(ctx, count, sizeof *points));
    for (size_t i = 0; i < child_count; i++)
        at += copy_points(w, child[i], points + at);
    rbli_hull_options exact = rbli_hull_default_options();
    exact.max_vertices = INT32_MAX;
    RBL_TRY(rbli_convex_hull(ctx, (const double(*)[3])points, count, &exact, &w->whole[bone]));
done:
    rbli_free(ctx, points);
    return status;
}

static rbl_status whole_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const wholes *w = user;
    for (size_t i = begin; i < end; i++) {
        rbl_status status = whole_of(ctx, w, w->bones[i]);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// Bones by level, the deepest first: a permutation in `order`, level l ends at end[deepest − l].
static rbl_status order_by_level(
    rbl_context *ctx, const separation *s, int32_t *order, size_t **end, size_t *level_count)
{
    int32_t deepest = 0;
    for (size_t b = 0; b < s->bone_count; b++)
        deepest = s->level[b] > deepest ? s->level[b] : deepest;
    size_t *at = rbli_calloc(ctx, (size_t)deepest + 2, sizeof *at);
    if (!at) return RBL_ERR_NO_MEMORY;
    for (size_t b = 0; b < s->bone_count; b++)
        at[deepest - s->level[b] + 1]++;
    for (int32_t l = 0; l <= deepest; l++)
        at[l + 1] += at[l];
    for (size_t b = 0; b < s->bone_count; b++)
        order[at[deepest - s->level[b]]++] = (int32_t)b;
    *end = at;
    *level_count = (size_t)deepest + 1;
    return RBL_OK;
}

/// Adds the hulls of clusters to the solids, those alone that do not exceed.
static rbl_status add_clusters(rbl_context *ctx, separation *s, const rbli_asset_stats *stats)
{
    rbl_status status = RBL_OK;
    rbli_children children = {0};
    wholes w = {.s = s, .children = &children};
    int32_t *order = NULL;
    size_t *end = NULL, levels;
    const int32_t *type = rbli_collection_read(s->in, "bone", "type", RBL_INT32);
    rbli_hull_options budget = rbli_hull_default_options();
    budget.max_vertices = s->options->max_vertices;
    budget.simplification_threshold = s->options->simplification_threshold;
    RBL_TRY(rbli_children_build(ctx, s->in, &children));
    RBL_TRY_ALLOC(order = rbli_alloc(ctx, s->bone_count, sizeof *order));
    RBL_TRY_ALLOC(w.whole = rbli_calloc(ctx, s->bone_count, sizeof *w.whole));
    RBL_TRY(order_by_level(ctx, s, order, &end, &levels));
    for (size_t l = 0; l < levels; l++) {
        size_t begin = l == 0 ? 0 : end[l - 1];
        w.bones = order + begin;
        RBL_TRY(rbli_parallel_for(ctx, end[l] - begin, 4, whole_block, &w));
    }
    for (size_t b = 0; b < s->bone_count; b++) {
        const rbli_hull *whole = &w.whole[b];
        if (type[b] != RBLI_BONE_CLUSTER || whole->point_count == 0) continue;
        rbli_hull hull;
        RBL_TRY(rbli_convex_hull(ctx, (const double(*)[3])whole->points, whole->point_count, &budget, &hull));
        if (hull.volume > stats->bones[b].volume * (1 + s->options->can_exceed_fraction))
            s->report.exceeding_clusters++;
        else
            status = add_solid(ctx, s, (int32_t)b, -1, &hull, NULL);
        rbli_hull_free(ctx, &hull);
        if (status != RBL_OK) goto done;
    }
done:
    for (size_t b = 0; w.whole && b < s->bone_count; b++)
        rbli_hull_free(ctx, &w.whole[b]);
    rbli_free(ctx, w.whole);
    rbli_free(ctx, order);
    rbli_free(ctx, end);
    rbli_children_free(ctx, &children);
    return status;
}

/* ---- pairs ---- */

/// Whether two hulls are to be separated.
static bool is_wanted(const separation *s, const solid *a, const solid *b)
{
    rbli_overlaps overlaps = s->options->overlaps;
    if (a->bone == b->bone || overlaps == RBLI_OVERLAPS_NONE) return false;
    if (!a->cluster && !b->cluster) return overlaps == RBLI_OVERLAPS_ALL;
    int32_t la = s->level[a->bone], lb = s->level[b->bone];
    if (a->cluster && b->cluster) return la == lb;
    /* A piece is there on its own level and below, beside the clusters of those levels. */
    return overlaps != RBLI_OVERLAPS_CLUSTERS_ALONE && (a->cluster ? lb <= la : la <= lb);
}

typedef struct pair_search {
    rbl_context *ctx;
    separation *s;
    const int32_t *items; /* solid of a slot */
    bool clusters;
    rbl_status status;
} pair_search;

static void visit_pair(void *user, int32_t a, int32_t b)
{
    pair_search *search = user;
    int32_t i = search->items[a], j = search->items[b];
    const solid *p = &search->s->solids[i], *q = &search->s->solids[j];
    if ((p->cluster || q->cluster) != search->clusters || !is_wanted(search->s, p, q)) return;
    solid_pair pair = {.a = i < j ? i : j, .b = i < j ? j : i};
    if (search->status == RBL_OK) search->status = rbli_array_push(search->ctx, &search->s->pairs, pair);
}

static int compare_pairs(const void *a, const void *b)
{
    const solid_pair *p = a, *q = b;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

/// Lists the wanted pairs whose boxes overlap: with clusters, or of pieces alone.
static rbl_status list_pairs(rbl_context *ctx, separation *s, bool clusters)
{
    rbl_status status = RBL_OK;
    double(*boxes)[2][3] = NULL;
    rbli_box_tree *tree = NULL;
    s->pairs.count = 0;
    RBL_TRY_ALLOC(boxes = rbli_alloc(ctx, s->solid_count, sizeof *boxes));
    for (size_t i = 0; i < s->solid_count; i++)
        rbli_hull_bounds(&s->solids[i].hull, boxes[i][0], boxes[i][1]);
    RBL_TRY(rbli_box_tree_create(ctx, (const double(*)[2][3])boxes, s->solid_count, &tree));
    pair_search search = {.ctx = ctx, .s = s, .items = rbli_box_tree_items(tree), .clusters = clusters};
    rbli_box_tree_pairs(tree, 0, rbli_box_tree_block_count(tree), visit_pair, &search);
    RBL_TRY(search.status);
    if (s->pairs.count) qsort(s->pairs.data, s->pairs.count, sizeof *s->pairs.data, compare_pairs);
done:
    rbli_free(ctx, boxes);
    rbli_box_tree_destroy(ctx, tree);
    return status;
}

/// A copy of a hull, smaller about its centre.
static rbl_status shrunk(rbl_context *ctx, const solid *from, double factor, double center[3], rbli_hull *out)
{
    double matrix[16] = {factor, 0, 0, 0, 0, factor, 0, 0, 0, 0, factor, 0, 0, 0, 0, 1};
    rbli_hull_center(&from->hull, center);
    for (int k = 0; k < 3; k++)
        matrix[12 + k] = center[k] - factor * center[k];
    return rbli_hull_copy(ctx, &from->hull, factor < 1 ? matrix : NULL, out);
}

static rbl_status test_pairs(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    rbl_status status = RBL_OK;
    separation *s = user;
    rbli_hull a = {0}, b = {0};
    double factor = 1 - s->options->shrink_percent / 100;
    for (size_t i = begin; i < end; i++) {
        solid_pair *pair = &s->pairs.data[i];
        const solid *p = &s->solids[pair->a], *q = &s->solids[pair->b];
        rbli_hull_overlap overlap;
        double center[3], least = nothing * fmax(p->size, q->size);
        if (factor < 1) {
            RBL_TRY(shrunk(ctx, p, factor, center, &a));
            RBL_TRY(shrunk(ctx, q, factor, center, &b));
            RBL_TRY(rbli_hull_find_overlap(ctx, &a, &b, -least, &overlap));
            rbli_hull_free(ctx, &a);
            rbli_hull_free(ctx, &b);
        } else {
            RBL_TRY(rbli_hull_find_overlap(ctx, &p->hull, &q->hull, -least, &overlap));
        }
        pair->overlaps = overlap.depth > least;
        pair->overlap = overlap;
    }
done:
    rbli_hull_free(ctx, &a);
    rbli_hull_free(ctx, &b);
    return status;
}

/* ---- cutting a pair ---- */

/// How much of the union of two projections is their overlap; the overlap in `both`.
static double score(const rbli_hull *a, const rbli_hull *b, const double normal[3], double both[2])
{
    double ra[2], rb[2];
    rbli_hull_range(a, normal, ra);
    rbli_hull_range(b, normal, rb);
    both[0] = rb[0]; /* the normal points from a to b */
    both[1] = ra[1];
    double low = fmin(ra[0], rb[0]), high = fmax(ra[1], rb[1]);
    double shared = fmin(ra[1], rb[1]) - fmax(ra[0], rb[0]);
    return high > low && shared > 0 ? shared / (high - low) : 0;
}

/// Cuts one of the two by normal · x ≤ offset, given for the hull shrunk by `factor` about `center`.
/// `*enough` false: too much would be lost.
static rbl_status cut_one(rbl_context *ctx, const separation *s, const solid *from, const double normal[3],
    double offset, const double center[3], double factor, rbli_hull *out, bool *enough)
{
    double plane[4] = {normal[0], normal[1], normal[2], offset};
    bool empty;
    if (factor < 1) {
        double middle = normal[0] * center[0] + normal[1] * center[1] + normal[2] * center[2];
        plane[3] = middle + (offset - middle) / factor;
    }
    rbl_status status = rbli_hull_clip(ctx, &from->hull, plane, out, &empty);
    if (status != RBL_OK) return status;
    *enough = !empty && out->volume >= (1 - s->options->can_remove_fraction) * from->volume;
    if (!empty && !*enough) rbli_hull_free(ctx, out);
    return RBL_OK;
}

/// Tries one direction; `*good` false: one of the two would lose too much; then `lost[0]`, `lost[1]` say
/// which.
static rbl_status try_cut(rbl_context *ctx, separation *s, solid *p, solid *q, const rbli_hull *a,
    const rbli_hull *b, const double centers[2][3], const double normal[3], bool *good, bool lost[2])
{
    rbl_status status = RBL_OK;
    double factor = 1 - s->options->shrink_percent / 100, both[2], back[3], middle;
    bool cut_p = p->cluster || !q->cluster, cut_q = q->cluster || !p->cluster, enough = true;
    rbli_hull made_p = {0}, made_q = {0};
    score(a, b, normal, both);
    middle = cut_p && cut_q ? both[0] + (both[1] - both[0]) / 2 : cut_p ? both[0] : both[1];
    for (int k = 0; k < 3; k++)
        back[k] = -normal[k];
    *good = true;
    if (cut_p) {
        RBL_TRY(cut_one(ctx, s, p, normal, middle, centers[0], factor, &made_p, &enough));
        lost[0] = !enough;
        *good &= enough;
    }
    if (cut_q) {
        RBL_TRY(cut_one(ctx, s, q, back, -middle, centers[1], factor, &made_q, &enough));
        lost[1] = !enough;
        *good &= enough;
    }
    if (!*good) goto done;
    if (cut_p) {
        rbli_hull_free(ctx, &p->hull);
        p->hull = made_p;
        p->changed = true;
    }
    if (cut_q) {
        rbli_hull_free(ctx, &q->hull);
        q->hull = made_q;
        q->changed = true;
    }
    made_p = made_q = (rbli_hull){0};
done:
    rbli_hull_free(ctx, &made_p);
    rbli_hull_free(ctx, &made_q);
    return status;
}

static rbl_status cut_pair(rbl_context *ctx, separation *s, solid_pair *pair)
{
    rbl_status status = RBL_OK;
    solid *p = &s->solids[pair->a], *q = &s->solids[pair->b];
    double factor = 1 - s->options->shrink_percent / 100, centers[2][3], both[2], between[3], length = 0;
    rbli_hull a = {0}, b = {0};
    rbli_hull_overlap overlap;
    bool good = false, lost[2] = {false, false};
    if (p->gone || q->gone) return RBL_OK;
    RBL_TRY(shrunk(ctx, p, factor, centers[0], &a));
    RBL_TRY(shrunk(ctx, q, factor, centers[1], &b));
    double least = nothing * fmax(p->size, q->size);
    if (p->changed || q->changed)
        RBL_TRY(rbli_hull_find_overlap(ctx, &a, &b, -least, &overlap));
    else
        overlap = pair->overlap;
    pair->overlaps = overlap.depth > least;
    if (!pair->overlaps) goto done; /* earlier cuts have parted them */
    for (int k = 0; k < 3; k++) {
        between[k] = centers[1][k] - centers[0][k];
        length += between[k] * between[k];
    }
    bool two = length > 0;
    for (int k = 0; k < 3; k++)
        between[k] /= two ? sqrt(length) : 1;
    bool swap = two && score(&a, &b, between, both) < score(&a, &b, overlap.normal, both);
    RBL_TRY(try_cut(
        ctx, s, p, q, &a, &b, (const double(*)[3])centers, swap ? between : overlap.normal, &good, lost));
    if (!good && two)
        RBL_TRY(try_cut(
            ctx, s, p, q, &a, &b, (const double(*)[3])centers, swap ? overlap.normal : between, &good, lost));
    pair->done = good;
    if (good) goto done;
    if (!p->cluster && !q->cluster) pair->given_up = true;
    p->gone = p->cluster && lost[0];
    q->gone = q->cluster && lost[1];
done:
    rbli_hull_free(ctx, &a);
    rbli_hull_free(ctx, &b);
    return status;
}

static rbl_status cut_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    separation *s = user;
    for (size_t i = begin; i < end; i++) {
        rbl_status status = cut_pair(ctx, s, &s->pairs.data[s->turn.data[i]]);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// Keeps a pair that was given up, unless cuts for others have parted it.
static rbl_status keep_leftover(rbl_context *ctx, separation *s, const solid_pair *pair)
{
    const solid *p = &s->solids[pair->a], *q = &s->solids[pair->b];
    double factor = 1 - s->options->shrink_percent / 100, center[3], least = nothing * fmax(p->size, q->size);
    rbli_hull a = {0}, b = {0};
    rbli_hull_overlap overlap;
    rbl_status status = RBL_OK;
    RBL_TRY(shrunk(ctx, p, factor, center, &a));
    RBL_TRY(shrunk(ctx, q, factor, center, &b));
    RBL_TRY(rbli_hull_find_overlap(ctx, &a, &b, -least, &overlap));
    if (overlap.depth <= least) goto done;
    if (s->report.given_up_pairs++ == 0) {
        s->report.given_up[0] = p->bone;
        s->report.given_up[1] = q->bone;
    }
    leftover left = {pair->a, pair->b, overlap.depth};
    RBL_TRY(rbli_array_push(ctx, &s->leftovers, left));
done:
    rbli_hull_free(ctx, &a);
    rbli_hull_free(ctx, &b);
    return status;
}

/// Cuts all pairs, in rounds of pairs that share no hull.
static rbl_status cut_pairs(rbl_context *ctx, separation *s)
{
    rbl_status status = RBL_OK;
    size_t left = 0, round = 0;
    size_t *taken = NULL; /* round in which a solid was last taken, from 1 */
    int32_t *open = NULL;
    RBL_TRY(rbli_parallel_for(ctx, s->pairs.count, 16, test_pairs, s));
    RBL_TRY_ALLOC(taken = rbli_calloc(ctx, s->solid_count, sizeof *taken));
    RBL_TRY_ALLOC(open = rbli_alloc(ctx, s->pairs.count, sizeof *open));
    for (size_t i = 0; i < s->pairs.count; i++)
        if (s->pairs.data[i].overlaps) open[left++] = (int32_t)i;
    while (left > 0) {
        size_t kept = 0;
        s->turn.count = 0;
        round++;
        for (size_t i = 0; i < left; i++) {
            const solid_pair *pair = &s->pairs.data[open[i]];
            if (taken[pair->a] == round || taken[pair->b] == round) {
                open[kept++] = open[i];
                continue;
            }
            taken[pair->a] = taken[pair->b] = round;
            RBL_TRY(rbli_array_push(ctx, &s->turn, open[i]));
        }
        left = kept;
        RBL_TRY(rbli_parallel_for(ctx, s->turn.count, 1, cut_block, s));
    }
    for (size_t i = 0; i < s->pairs.count; i++) {
        const solid_pair *pair = &s->pairs.data[i];
        s->report.cut_pairs += pair->done;
        if (pair->given_up) RBL_TRY(keep_leftover(ctx, s, pair));
    }
done:
    rbli_free(ctx, taken);
    rbli_free(ctx, open);
    return status;
}

/* ---- the whole ---- */

/// Names of the bones on one side of the pairs left.
static rbl_status write_names(
    rbl_context *ctx, const separation *s, rbl_collection *to, const char *attribute, bool second)
{
    rbl_status status = RBL_OK;
    rbli_buffer *buffer = NULL;
    const char **names = rbli_alloc(ctx, s->leftovers.count, sizeof *names);
    if (!names) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < s->leftovers.count; i++) {
        const leftover *left = &s->leftovers.data[i];
        names[i] =
            rbli_collection_string(s->in, "bone", "name", (size_t)s->solids[second ? left->b : left->a].bone);
    }
    RBL_TRY(rbli_buffer_create_strings(ctx, s->leftovers.count, names, &buffer));
    RBL_TRY(rbli_collection_set(ctx, to, "hull_overlap", attribute, buffer));
done:
    rbli_buffer_release(buffer);
    rbli_free(ctx, names);
    return status;
}

/// The group `hull_overlap`; none without such pairs.
static rbl_status write_leftovers(rbl_context *ctx, const separation *s, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    double *depths;
    rbli_collection_remove_group(to, "hull_overlap");
    if (s->leftovers.count == 0) return RBL_OK;
    RBL_TRY(rbli_collection_resize(ctx, to, "hull_overlap", s->leftovers.count));
    RBL_TRY(write_names(ctx, s, to, "a", false));
    RBL_TRY(write_names(ctx, s, to, "b", true));
    RBL_TRY(rbli_collection_write(ctx, to, "hull_overlap", "depth", RBL_DOUBLE, (void **)&depths));
    for (size_t i = 0; i < s->leftovers.count; i++)
        depths[i] = s->leftovers.data[i].depth;
done:
    return status;
}

static rbl_status write_solids(rbl_context *ctx, separation *s, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *copy = NULL;
    rbli_hull_row *rows = NULL;
    size_t count = 0;
    RBL_TRY_ALLOC(rows = rbli_alloc(ctx, s->solid_count, sizeof *rows));
    for (size_t i = 0; i < s->solid_count; i++) {
        solid *one = &s->solids[i];
        double inverse[16];
        if (one->gone) continue;
        const double *world = s->world[one->bone];
        bool local = rbli_affine_is_identity(world);
        if (!local && (one->changed || one->row < 0)) {
            rbli_hull moved;
            if (!rbli_affine_invert(world, inverse)) continue; /* flat: it cannot be in its frame */
            RBL_TRY(rbli_hull_copy(ctx, &one->hull, inverse, &moved));
            rbli_hull_free(ctx, &one->hull);
            one->hull = moved;
        }
        bool same = one->row >= 0 && !one->changed;
        rows[count++] = (rbli_hull_row){one->bone, one->row, same ? NULL : &one->hull};
    }
    RBL_TRY(rbli_collection_copy(ctx, s->in, &copy));
    RBL_TRY(rbli_hull_group_write(ctx, s->in, rows, count, copy));
    RBL_TRY(write_leftovers(ctx, s, copy));
    *out = copy;
    copy = NULL;
done:
    rbli_free(ctx, rows);
    rbli_collection_release(copy);
    return status;
}

static void tell(rbl_context *ctx, const separation *s)
{
    const rbli_overlap_report *r = &s->report;
    if (r->cut_pairs > 0)
        rbli_note(ctx, "%zu pair%s of hulls cut apart", r->cut_pairs, r->cut_pairs == 1 ? "" : "s");
    if (r->given_up_pairs > 0)
        rbli_warn(ctx,
            "%zu pair%s of hulls still overlap, since a cut would take more than can_remove_fraction (first: "
            "\"%s\" and \"%s\"; all in hull_overlap)",
            r->given_up_pairs, r->given_up_pairs == 1 ? "" : "s",
            rbli_collection_string(s->in, "bone", "name", (size_t)r->given_up[0]),
            rbli_collection_string(s->in, "bone", "name", (size_t)r->given_up[1]));
    if (r->exceeding_clusters + r->shrunk_clusters > 0)
        rbli_note(ctx,
            "%zu clusters have no hull of their own, those below stand for them: %zu would exceed their "
            "pieces, "
            "%zu would lose too much",
            r->exceeding_clusters + r->shrunk_clusters, r->exceeding_clusters, r->shrunk_clusters);
}

/// Pieces and their hulls, in the order of the rows by bone.
static rbl_status add_pieces(rbl_context *ctx, separation *s)
{
    rbl_status status = RBL_OK;
    size_t count = s->rows.start[s->bone_count];
    RBL_TRY_ALLOC(s->solids = rbli_calloc(ctx, count + s->bone_count, sizeof *s->solids));
    for (size_t b = 0; b < s->bone_count; b++)
        for (size_t i = s->rows.start[b]; i < s->rows.start[b + 1]; i++) {
            rbli_hull hull = rbli_hull_get(s->in, (size_t)s->rows.row[i]);
            RBL_TRY(add_solid(ctx, s, (int32_t)b, s->rows.row[i], &hull, s->world[b]));
        }
done:
    return status;
}

/// The input with hulls of all pieces and without those of clusters.
static rbl_status prepare(
    rbl_context *ctx, const rbl_collection *in, const rbli_overlap_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *with = NULL;
    rbli_hull_rows rows = {0};
    rbli_hull_row *kept = NULL;
    size_t count = 0, bone_count = rbli_collection_size(in, "bone");
    const int32_t *type = rbli_collection_read(in, "bone", "type", RBL_INT32);
    rbli_leaf_hull_options leaf = rbli_leaf_hull_default_options();
    leaf.source = RBLI_HULL_KEEP;
    leaf.hull.max_vertices = options->max_vertices;
    leaf.hull.simplification_threshold = options->simplification_threshold;
    RBL_TRY(rbli_create_leaf_hulls(ctx, in, &leaf, &with));
    RBL_TRY(rbli_hull_rows_build(ctx, with, &rows));
    RBL_TRY_ALLOC(kept = rbli_alloc(ctx, rows.start[bone_count], sizeof *kept));
    for (size_t b = 0; b < bone_count; b++)
        for (size_t i = rows.start[b]; type[b] != RBLI_BONE_CLUSTER && i < rows.start[b + 1]; i++)
            kept[count++] = (rbli_hull_row){(int32_t)b, rows.row[i], NULL};
    RBL_TRY(rbli_hull_group_write(ctx, with, kept, count, with));
    *out = with;
    with = NULL;
done:
    rbli_hull_rows_free(ctx, &rows);
    rbli_free(ctx, kept);
    rbli_collection_release(with);
    return status;
}

rbl_status rbli_separate_hulls(rbl_context *ctx, const rbl_collection *in,
    const rbli_overlap_options *options, rbli_overlap_report *report, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *prepared = NULL;
    rbli_asset_stats stats = {0};
    separation s = {
        .options = options, .bone_count = rbli_collection_size(in, "bone"), .report = {.given_up = {-1, -1}}};
    RBL_TRY(rbli_asset_stats_compute(ctx, in, &stats));
    RBL_TRY(prepare(ctx, in, options, &prepared));
    s.in = prepared;
    s.parent = rbli_collection_read(prepared, "bone", "parent", RBL_INT32);
    s.level = rbli_collection_read(prepared, "bone", "level", RBL_INT32);
    if (!s.level) RBL_TRY(rbli_fail(ctx, RBL_ERR_COLLECTION, "there is no bone.level"));
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, prepared, &s.world));
    RBL_TRY(rbli_hull_rows_build(ctx, prepared, &s.rows));
    RBL_TRY(add_pieces(ctx, &s));
    RBL_TRY(list_pairs(ctx, &s, false));
    RBL_TRY(cut_pairs(ctx, &s));
    RBL_TRY(add_clusters(ctx, &s, &stats));
    RBL_TRY(list_pairs(ctx, &s, true));
    RBL_TRY(cut_pairs(ctx, &s));
    for (size_t i = 0; i < s.solid_count; i++)
        s.report.shrunk_clusters += s.solids[i].gone;
    RBL_TRY(write_solids(ctx, &s, out));
    tell(ctx, &s);
    if (report) *report = s.report;
done:
    separation_free(ctx, &s);
    rbli_asset_stats_free(ctx, &stats);
    rbli_collection_release(prepared);
    return status;
}
