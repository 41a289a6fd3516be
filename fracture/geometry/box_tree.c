/// A bounding volume hierarchy with implicit links: level 0 holds the items' boxes along a Morton curve,
/// level n + 1 the boxes around each four of level n (after Morton 1966; the layout is that of a packed
/// Hilbert R-tree).

#include "fracture/geometry/box_tree.h"

#include "fracture/base/alloc.h"
#include "fracture/geometry/radix_sort.h"

enum { FAN = 4, MAX_LEVELS = 18 };

typedef struct flat_box {
    float min[3], max[3];
} flat_box;

struct rbli_box_tree {
    double origin[3], scale; /* into 0 … 1 */
    size_t count;
    int32_t *items;  /* [count] in the tree's order */
    flat_box *boxes; /* all levels, level 0 first */
    int level_count;
    size_t level_start[MAX_LEVELS], level_size[MAX_LEVELS];
};

static bool overlap(const flat_box *a, const flat_box *b)
{
    return a->min[0] <= b->max[0] && b->min[0] <= a->max[0] && a->min[1] <= b->max[1] &&
           b->min[1] <= a->max[1] && a->min[2] <= b->max[2] && b->min[2] <= a->max[2];
}

static float clamp_to_float(double value)
{
    return (float)(value < -8 ? -8 : value > 8 ? 8 : value);
}

static flat_box flatten(const rbli_box_tree *tree, const double min[3], const double max[3])
{
    const double pad = 0x1p-22; /* more than the rounding of a float in 0 … 1 */
    flat_box box;
    for (int k = 0; k < 3; k++) {
        box.min[k] = clamp_to_float((min[k] - tree->origin[k]) * tree->scale - pad);
        box.max[k] = clamp_to_float((max[k] - tree->origin[k]) * tree->scale + pad);
    }
    return box;
}

static uint64_t spread_bits(uint64_t value)
{
    value &= 0xffff;
    value = (value | value << 32) & 0x00ff00000000ffffull;
    value = (value | value << 16) & 0x00ff0000ff0000ffull;
    value = (value | value << 8) & 0xf00f00f00f00f00full;
    value = (value | value << 4) & 0x30c30c30c30c30c3ull;
    return (value | value << 2) & 0x9249249249249249ull;
}

static uint64_t morton_key(const flat_box *box)
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        float middle = (box->min[k] + box->max[k]) * 32767.5f;
        uint64_t cell = middle <= 0 ? 0 : middle >= 65535 ? 65535 : (uint64_t)middle;
        key |= spread_bits(cell) << k;
    }
    return key;
}

static void fit(rbli_box_tree *tree, const double (*boxes)[2][3])
{
    double max[3] = {0}, extent = 0;
    for (size_t i = 0; i < tree->count; i++)
        for (int k = 0; k < 3; k++) {
            if (i == 0 || boxes[i][0][k] < tree->origin[k]) tree->origin[k] = boxes[i][0][k];
            if (i == 0 || boxes[i][1][k] > max[k]) max[k] = boxes[i][1][k];
        }
    for (int k = 0; k < 3; k++)
        if (max[k] - tree->origin[k] > extent) extent = max[k] - tree->origin[k];
    tree->scale = extent > 1e-300 ? 1 / extent : 1;
}

static void layout(rbli_box_tree *tree)
{
    size_t size = tree->count, start = 0;
    for (;;) {
        tree->level_start[tree->level_count] = start;
        tree->level_size[tree->level_count++] = size;
        start += size;
        if (size <= 1) break;
        size = (size + FAN - 1) / FAN;
    }
}

static void fill_levels(rbli_box_tree *tree)
{
    for (int level = 1; level < tree->level_count; level++) {
        const flat_box *below = tree->boxes + tree->level_start[level - 1];
        flat_box *here = tree->boxes + tree->level_start[level];
        size_t below_size = tree->level_size[level - 1];
        for (size_t i = 0; i < tree->level_size[level]; i++) {
            flat_box box = below[i * FAN];
            for (size_t j = i * FAN + 1; j < i * FAN + FAN && j < below_size; j++)
                for (int k = 0; k < 3; k++) {
                    if (below[j].min[k] < box.min[k]) box.min[k] = below[j].min[k];
                    if (below[j].max[k] > box.max[k]) box.max[k] = below[j].max[k];
                }
            here[i] = box;
        }
    }
}

rbl_status rbli_box_tree_create(
    rbl_context *ctx, const double (*boxes)[2][3], size_t count, rbli_box_tree **out)
{
    rbl_status status = RBL_OK;
    rbli_keyed *keys = NULL, *scratch = NULL;
    flat_box *flat = NULL;
    rbli_box_tree *tree = rbli_calloc(ctx, 1, sizeof *tree);
    RBL_TRY_ALLOC(tree);
    tree->count = count;
    fit(tree, boxes);
    layout(tree);
    size_t total = tree->level_start[tree->level_count - 1] + tree->level_size[tree->level_count - 1];
    RBL_TRY_ALLOC(tree->items = rbli_alloc(ctx, count, sizeof *tree->items));
    RBL_TRY_ALLOC(tree->boxes = rbli_alloc(ctx, total, sizeof *tree->boxes));
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, count, sizeof *scratch));
    RBL_TRY_ALLOC(flat = rbli_alloc(ctx, count, sizeof *flat));
    for (size_t i = 0; i < count; i++) {
        flat[i] = flatten(tree, boxes[i][0], boxes[i][1]);
        keys[i] = (rbli_keyed){morton_key(&flat[i]), (int32_t)i};
    }
    rbli_radix_sort(keys, scratch, count);
    for (size_t i = 0; i < count; i++) {
        tree->items[i] = keys[i].index;
        tree->boxes[i] = flat[keys[i].index];
    }
    fill_levels(tree);
    *out = tree;
    tree = NULL;
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    rbli_free(ctx, flat);
    rbli_box_tree_destroy(ctx, tree);
    return status;
}

void rbli_box_tree_destroy(rbl_context *ctx, rbli_box_tree *tree)
{
    if (!tree) return;
    rbli_free(ctx, tree->items);
    rbli_free(ctx, tree->boxes);
    rbli_free(ctx, tree);
}

typedef struct node_stack {
    struct {
        int level;
        size_t index;
    } nodes[MAX_LEVELS * FAN];
    int count;
} node_stack;

static void push_children(
    const rbli_box_tree *tree, node_stack *stack, int level, size_t index, const flat_box *box, size_t least)
{
    const flat_box *below = tree->boxes + tree->level_start[level - 1];
    size_t end = index * FAN + FAN;
    if (end > tree->level_size[level - 1]) end = tree->level_size[level - 1];
    for (size_t child = end; child-- > index * FAN;) {
        if (child < least) break;
        if (!overlap(&below[child], box)) continue;
        stack->nodes[stack->count].level = level - 1;
        stack->nodes[stack->count++].index = child;
    }
}

bool rbli_box_tree_query(
    const rbli_box_tree *tree, const double min[3], const double max[3], rbli_box_visit visit, void *user)
{
    if (tree->count == 0) return true;
    flat_box box = flatten(tree, min, max);
    node_stack stack;
    stack.count = 0;
    if (overlap(&tree->boxes[tree->level_start[tree->level_count - 1]], &box)) {
        stack.nodes[0].level = tree->level_count - 1;
        stack.nodes[0].index = 0;
        stack.count = 1;
    }
    while (stack.count > 0) {
        stack.count--;
        int level = stack.nodes[stack.count].level;
        size_t index = stack.nodes[stack.count].index;
        if (level == 0) {
            if (!visit(user, tree->items[index])) return false;
        } else {
            push_children(tree, &stack, level, index, &box, 0);
        }
    }
    return true;
}

size_t rbli_box_tree_block_count(const rbli_box_tree *tree)
{
    return tree->level_count > 1 ? tree->level_size[1] : tree->count;
}

static void visit_pair(const rbli_box_tree *tree, size_t i, size_t j, rbli_box_pair_visit visit, void *user)
{
    if (!overlap(&tree->boxes[i], &tree->boxes[j])) return;
    int32_t a = tree->items[i], b = tree->items[j];
    if (a < b) {
        visit(user, a, b);
    } else {
        visit(user, b, a);
    }
}

/// Pairs of items in block `one` with those in block `two` ≥ `one`.
static void pairs_of_blocks(
    const rbli_box_tree *tree, size_t one, size_t two, rbli_box_pair_visit visit, void *user)
{
    const flat_box *other = &tree->boxes[tree->level_start[1] + two];
    size_t end_one = one * FAN + FAN, end_two = two * FAN + FAN;
    if (end_one > tree->count) end_one = tree->count;
    if (end_two > tree->count) end_two = tree->count;
    for (size_t i = one * FAN; i < end_one; i++) {
        if (!overlap(&tree->boxes[i], other)) continue;
        for (size_t j = one == two ? i + 1 : two * FAN; j < end_two; j++)
            visit_pair(tree, i, j, visit, user);
    }
}

void rbli_box_tree_pairs(
    const rbli_box_tree *tree, size_t first_block, size_t end_block, rbli_box_pair_visit visit, void *user)
{
    if (tree->level_count < 2) return;
    node_stack stack;
    for (size_t block = first_block; block < end_block; block++) {
        const flat_box *box = &tree->boxes[tree->level_start[1] + block];
        stack.nodes[0].level = tree->level_count - 1;
        stack.nodes[0].index = 0;
        stack.count = 1;
        while (stack.count > 0) {
            stack.count--;
            int level = stack.nodes[stack.count].level;
            size_t index = stack.nodes[stack.count].index;
            if (level == 1) {
                pairs_of_blocks(tree, block, index, visit, user);
                continue;
            }
            /* Children that end before this block were paired when they were the block. */
            size_t least = block;
            for (int up = 1; up < level - 1; up++)
                least /= FAN;
            push_children(tree, &stack, level, index, box, least);
        }
    }
}
