/// Finds triangles that cross nothing without looking at pairs, by the degree of a map: in a region, a box with one
/// axis upright, let every triangle face up, and let none reach its top or bottom. Closed surfaces then cover each
/// point of the box's base equally often. Where that is once, at any one point, no two triangles overlap seen from
/// above, so none touches another but at the vertex or edge that they share in one surface. (Regions of nearly equal
/// normals as in Volino and Magnenat-Thalmann 1994; counting takes the place of a look at their outlines.)

#include <math.h>

#include "fracture/base/threads.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/repair_internal.h"

enum {
    FAN = RBLI_BOX_TREE_FAN,
    LARGEST = 6, /* level of the tree whose nodes are tried first, if it is as high; then their children */
    LEAST = 3,   /* smaller ones cost more than their pairs */
    NODES_A_TASK = 4,
    LOOKS = 20,        /* at packs of the tree that a region is worth … */
    LOOKS_A_BLOCK = 3, /* … and more for each of its blocks */
};

/// Product differences a·b − c·d are wrong by less than this, times |a·b| + |c·d|, where a … d are within one rounding.
static const double PRODUCT_ERROR = 1e-15;

uint8_t repair_facing(const double a[3], const double b[3], const double c[3])
{
    double u[3], v[3];
    uint8_t facing = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
    }
    for (int k = 0; k < 3; k++) {
        int i = k == 2 ? 0 : k + 1, j = k == 0 ? 2 : k - 1;
        double left = u[i] * v[j], right = u[j] * v[i];
        double normal = left - right, bound = PRODUCT_ERROR * (fabs(left) + fabs(right));
        facing |= (uint8_t)((normal > bound) << 2 * k | (normal < -bound) << (2 * k + 1));
    }
    return facing;
}

/// The triangles of a mesh and the directions that those of a node face all.
typedef struct sifter {
    const repair_sift *sift;
    uint8_t *facing[LARGEST + 1]; /* by level [nodes], but for level 0 */
    size_t nodes[LARGEST + 1];
    int top;
} sifter;

static inline uint8_t facing_of(const sifter *s, int level, size_t node)
{
    return level == 0 ? s->sift->facing[rbli_box_tree_items(s->sift->tree)[node]] : s->facing[level][node];
}

/// One region while it is looked at.
typedef struct region {
    const sifter *sifter;
    int axis;   /* that is upright */
    uint8_t up; /* the bit of `facing` that all must have */
    int budget; /* looks at nodes that it is worth */
    rbli_flat_box box;
    float bottom, top; /* of what was found in it */
    double base[3];    /* a point of the base */
    int covers;        /* triangles over it; −1: not certain */
} region;

/// Finds where triangles in the region reach beyond it; ends the walk where one does not face up.
static int visit_nodes(
    void *user, int level, size_t pack, unsigned hits, const float (*min)[FAN], const float (*max)[FAN])
{
    region *at = user;
    const float *low = min[at->axis], *high = max[at->axis];
    unsigned enter = 0;
    if (level > at->sifter->top) return (int)hits;
    if (--at->budget < 0) return RBLI_BOX_TREE_STOP;
    for (; hits; hits &= hits - 1) {
        int lane = __builtin_ctz(hits);
        bool faces_up = facing_of(at->sifter, level, pack * FAN + (size_t)lane) & at->up;
        if (faces_up && low[lane] >= at->box.min[at->axis] && high[lane] <= at->box.max[at->axis]) continue;
        if (level > 0) {
            enter |= 1u << lane;
            continue;
        }
        if (!faces_up) return RBLI_BOX_TREE_STOP;
        if (low[lane] < at->bottom) at->bottom = low[lane];
        if (high[lane] > at->top) at->top = high[lane];
    }
    return (int)enter;
}

/// Counts triangles over the base point.
static int visit_covers(
    void *user, int level, size_t pack, unsigned hits, const float (*min)[FAN], const float (*max)[FAN])
{
    region *at = user;
    const repair_sift *sift = at->sifter->sift;
    int i = (at->axis + 1) % 3, j = (at->axis + 2) % 3;
    double sign = at->up >> 2 * at->axis & 1 ? 1 : -1;
    (void)min;
    (void)max;
    if (level > 0) return (int)hits;
    for (; hits; hits &= hits - 1) {
        size_t slot = pack * FAN + (size_t)__builtin_ctz(hits);
        const int32_t *v = sift->r->triangles.data[sift->triangles[rbli_box_tree_items(sift->tree)[slot]]].v;
        int inside = 0, outside = 0;
        for (int k = 0; k < 3; k++) {
            const double *a = sift->r->grid[v[k]], *b = sift->r->grid[v[k == 2 ? 0 : k + 1]];
            double left = (b[i] - a[i]) * (at->base[j] - a[j]), right = (b[j] - a[j]) * (at->base[i] - a[i]);
            double side = sign * (left - right), bound = PRODUCT_ERROR * (fabs(left) + fabs(right));
            inside += side > bound;
            outside += side < -bound;
        }
        if (outside) continue;
        at->covers = inside == 3 ? at->covers + 1 : -1;
        if (at->covers < 0 || at->covers > 1) return RBLI_BOX_TREE_STOP;
    }
    return 0;
}

/// Extends the region along its axis until nothing in it reaches its ends. @return false: something faces elsewhere, or
/// it takes too long
static bool close_region(region *at)
{
    float *low = &at->box.min[at->axis], *high = &at->box.max[at->axis];
    float height = *high - *low; /* of a part of a slanting surface: what is next to it may be as high */
    for (;;) {
        *low -= height;
        *high += height;
        at->bottom = *low;
        at->top = *high;
        if (!rbli_box_tree_walk(at->sifter->sift->tree, &at->box, visit_nodes, at)) return false;
        if (at->bottom >= *low && at->top <= *high) return true;
        *low = at->bottom;
        *high = at->top;
    }
}

/// Whether the triangles of a node cross nothing.
static bool is_clear(const sifter *s, int level, size_t node)
{
    const repair_sift *sift = s->sift;
    uint8_t facing = s->facing[level][node];
    if (facing == 0) return false;
    region at = {.sifter = s, .box = rbli_box_tree_node(sift->tree, level, node)};
    float least = HUGE_VALF;
    for (int k = 0; k < 3; k++) {
        float height = at.box.max[k] - at.box.min[k];
        if (!(facing >> 2 * k & 3) || height >= least) continue;
        least = height;
        at.axis = k;
        at.up = facing & (uint8_t)(3 << 2 * k);
    }
    at.budget = LOOKS + (LOOKS_A_BLOCK << 2 * (level - 1));
    if (!close_region(&at)) return false;
    const int32_t *v =
        sift->r->triangles.data[sift->triangles[rbli_box_tree_items(sift->tree)[node << 2 * level]]].v;
    for (int k = 0; k < 3; k++)
        at.base[k] = (sift->r->grid[v[0]][k] + sift->r->grid[v[1]][k] + sift->r->grid[v[2]][k]) / 3;
    rbli_flat_box base = rbli_box_tree_flatten(sift->tree, at.base, at.base);
    base.min[at.axis] = at.box.min[at.axis];
    base.max[at.axis] = at.box.max[at.axis];
    rbli_box_tree_walk(sift->tree, &base, visit_covers, &at);
    return at.covers == 1;
}

static void sift_node(const sifter *s, int level, size_t node)
{
    if (is_clear(s, level, node)) {
        size_t first = node << 2 * (level - 1), end = (node + 1) << 2 * (level - 1);
        if (end > s->nodes[1]) end = s->nodes[1];
        memset(s->sift->clear + first, 1, end - first);
        return;
    }
    if (level == LEAST) return;
    for (size_t child = node * FAN; child < (node + 1) * FAN && child < s->nodes[level - 1]; child++)
        sift_node(s, level - 1, child);
}

static rbl_status sift_nodes(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const sifter *s = user;
    (void)block;
    (void)worker;
    for (size_t node = begin; node < end; node++) {
        if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        sift_node(s, s->top, node);
    }
    return RBL_OK;
}

rbl_status repair_sift_blocks(repair_sift *sift)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = sift->r->ctx;
    sifter s = {.sift = sift};
    for (int level = 0; level <= LARGEST; level++) {
        s.nodes[level] = rbli_box_tree_node_count(sift->tree, level);
        if (s.nodes[level] > 0) s.top = level;
    }
    if (s.top < LEAST) return RBL_OK;
    for (int level = 1; level <= s.top; level++) {
        RBL_TRY_ALLOC(s.facing[level] = rbli_alloc(ctx, s.nodes[level], 1));
        memset(s.facing[level], 0xff, s.nodes[level]);
        for (size_t node = 0; node < s.nodes[level - 1]; node++) {
            RBL_TRY(rbli_poll(ctx, node));
            s.facing[level][node / FAN] &= facing_of(&s, level - 1, node);
        }
    }
    status = rbli_parallel_for(ctx, s.nodes[s.top], NODES_A_TASK, sift_nodes, &s);
done:
    for (int level = 1; level <= LARGEST; level++)
        rbli_free(ctx, s.facing[level]);
    return status;
}
