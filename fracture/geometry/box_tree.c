/// A bounding volume hierarchy with implicit links: level 0 holds the items' boxes along a Morton curve,
/// level n + 1 the boxes around each four of level n (after Morton 1966; the layout is that of a packed
/// Hilbert R-tree).

#include "fracture/geometry/box_tree.h"

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/lanes.h"
#include "fracture/geometry/radix_sort.h"

enum {
    FAN = RBLI_BOX_TREE_FAN,
    MAX_LEVELS = 18,
    MAX_NEAR = 64,
    AHEAD = 16,
    POLL = 1 << 16,
    PACK_GRAIN = 1 << 12
};
enum { UPPER_HALF = 0x08ce }; /* bits FAN · i + j with i < j */
_Static_assert(FAN == 4, "UPPER_HALF is for four");

typedef rbli_flat_box flat_box;

/// FAN boxes side by side, tested at once. Lanes beyond the end are empty (minimum above maximum).
typedef struct box_pack {
    rbli_float4 min[3], max[3];
} box_pack;

struct rbli_box_tree {
    double origin[3], scale; /* into 0 … 1 */
    size_t count;
    int32_t *items;  /* [count] in the tree's order */
    box_pack *packs; /* all levels, level 0 first */
    int level_count;
    size_t level_start[MAX_LEVELS]; /* first pack of a level */
    size_t level_size[MAX_LEVELS];  /* boxes of a level */
    rbli_keyed *keys;               /* [count] while it is built */
    rbli_flat_box *boxes;           /* [count] of items while it is built, or NULL */
};

/// One box in all lanes.
static box_pack spread_box(const flat_box *box)
{
    box_pack wide;
    for (int k = 0; k < 3; k++)
        for (int lane = 0; lane < FAN; lane++) {
            wide.min[k][lane] = box->min[k];
            wide.max[k][lane] = box->max[k];
        }
    return wide;
}

/// Bit i is set when lane i of one overlaps lane i of the other.
static inline unsigned overlap(const box_pack *pack, const box_pack *box)
{
    rbli_int4 both = (pack->min[0] <= box->max[0]) & (pack->max[0] >= box->min[0]);
    both &= (pack->min[1] <= box->max[1]) & (pack->max[1] >= box->min[1]);
    both &= (pack->min[2] <= box->max[2]) & (pack->max[2] >= box->min[2]);
    return rbli_lane_bits(both);
}

static inline const box_pack *pack_of(const rbli_box_tree *tree, int level, size_t pack)
{
    return &tree->packs[tree->level_start[level] + pack];
}

static inline flat_box box_of(const rbli_box_tree *tree, int level, size_t index)
{
    const box_pack *pack = pack_of(tree, level, index / FAN);
    flat_box box;
    for (int k = 0; k < 3; k++) {
        box.min[k] = pack->min[k][index % FAN];
        box.max[k] = pack->max[k][index % FAN];
    }
    return box;
}

static float clamp_to_float(double value)
{
    double least = value > -8 ? value : -8; /* one instruction each */
    return (float)(least < 8 ? least : 8);
}

rbli_flat_box rbli_box_tree_flatten(const rbli_box_tree *tree, const double min[3], const double max[3])
{
    const double pad = 0x1p-22; /* more than the rounding of a float in 0 … 1 */
    flat_box box;
    for (int k = 0; k < 3; k++) {
        box.min[k] = clamp_to_float((min[k] - tree->origin[k]) * tree->scale - pad);
        box.max[k] = clamp_to_float((max[k] - tree->origin[k]) * tree->scale + pad);
    }
    return box;
}

/// The same for a box within the extent.
static inline flat_box flatten_inner(const rbli_box_tree *tree, const double min[3], const double max[3])
{
    const double pad = 0x1p-22;
    flat_box box;
    for (int k = 0; k < 3; k++) {
        box.min[k] = (float)((min[k] - tree->origin[k]) * tree->scale - pad);
        box.max[k] = (float)((max[k] - tree->origin[k]) * tree->scale + pad);
    }
    return box;
}

static uint64_t morton_key(const flat_box *box)
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        float middle = (box->min[k] + box->max[k]) * 32767.5f;
        uint64_t cell = middle <= 0 ? 0 : middle >= 65535 ? 65535 : (uint64_t)middle;
        key |= rbli_every_third(cell) << k;
    }
    return key;
}

/// Levels up to one of a single pack. @return the number of packs
static size_t layout(rbli_box_tree *tree)
{
    size_t size = tree->count, start = 0;
    for (;;) {
        size_t packs = (size + FAN - 1) / FAN;
        tree->level_start[tree->level_count] = start;
        tree->level_size[tree->level_count++] = size;
        start += packs;
        if (packs <= 1) return start;
        size = packs;
    }
}

static void set_lane(box_pack *pack, size_t lane, const flat_box *box)
{
    for (int k = 0; k < 3; k++) {
        pack->min[k][lane] = box ? box->min[k] : 1e9f;
        pack->max[k][lane] = box ? box->max[k] : -1e9f;
    }
}

static flat_box box_around(const box_pack *pack)
{
    flat_box box;
    for (int k = 0; k < 3; k++) {
        box.min[k] = pack->min[k][0];
        box.max[k] = pack->max[k][0];
        for (int lane = 1; lane < FAN; lane++) {
            if (pack->min[k][lane] < box.min[k]) box.min[k] = pack->min[k][lane];
            if (pack->max[k][lane] > box.max[k]) box.max[k] = pack->max[k][lane];
        }
    }
    return box;
}

typedef struct fill_job {
    rbli_box_tree *tree;
    rbli_box_get get;
    void *user;
} fill_job;

/// Packs begin … end − 1 of level 0.
static rbl_status fill_packs(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const fill_job *job = user;
    rbli_box_tree *tree = job->tree;
    (void)ctx;
    (void)block;
    (void)worker;
    for (size_t i = begin * FAN; i < end * FAN; i++) {
        double min[3], max[3];
        flat_box box;
        if (i < tree->count && tree->boxes) {
            if (i + AHEAD < tree->count) __builtin_prefetch(&tree->boxes[tree->items[i + AHEAD]]);
            box = tree->boxes[tree->items[i]];
        } else if (i < tree->count) {
            job->get(job->user, i, tree->items[i], min, max);
            box = rbli_box_tree_flatten(tree, min, max);
        }
        set_lane(&tree->packs[i / FAN], i % FAN, i < tree->count ? &box : NULL);
    }
    return RBL_OK;
}

typedef struct level_job {
    rbli_box_tree *tree;
    int level;
} level_job;

/// Packs begin … end − 1 of a level above 0, from the boxes below.
static rbl_status fill_level(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const level_job *job = user;
    rbli_box_tree *tree = job->tree;
    box_pack *packs = &tree->packs[tree->level_start[job->level]];
    (void)ctx;
    (void)block;
    (void)worker;
    for (size_t i = begin * FAN; i < end * FAN; i++) {
        bool is_box = i < tree->level_size[job->level];
        flat_box box;
        if (is_box) box = box_around(pack_of(tree, job->level - 1, i));
        set_lane(&packs[i / FAN], i % FAN, is_box ? &box : NULL);
    }
    return RBL_OK;
}

rbl_status rbli_box_tree_begin(
    rbl_context *ctx, const double min[3], const double max[3], size_t count, rbli_box_tree **out)
{
    rbl_status status = RBL_OK;
    double extent = 0;
    rbli_box_tree *tree = rbli_calloc(ctx, 1, sizeof *tree);
    RBL_TRY_ALLOC(tree);
    tree->count = count;
    for (int k = 0; k < 3; k++) {
        tree->origin[k] = min[k];
        if (max[k] - min[k] > extent) extent = max[k] - min[k];
    }
    tree->scale = extent > 1e-300 ? 1 / extent : 1;
    RBL_TRY_ALLOC(tree->keys = rbli_alloc(ctx, count, sizeof *tree->keys));
    *out = tree;
    tree = NULL;
done:
    rbli_box_tree_destroy(ctx, tree);
    return status;
}

void rbli_box_tree_put(rbli_box_tree *tree, size_t item, const double min[3], const double max[3])
{
    flat_box flat = flatten_inner(tree, min, max);
    tree->keys[item] = (rbli_keyed){morton_key(&flat), (int32_t)item};
    if (tree->boxes) tree->boxes[item] = flat;
}

rbl_status rbli_box_tree_keep_boxes(rbl_context *ctx, rbli_box_tree *tree)
{
    tree->boxes = rbli_alloc(ctx, tree->count, sizeof *tree->boxes);
    return tree->boxes ? RBL_OK : RBL_ERR_NO_MEMORY;
}

static rbl_status list_items(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const rbli_box_tree *tree = user;
    (void)ctx;
    (void)block;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        tree->items[i] = tree->keys[i].index;
    return RBL_OK;
}

rbl_status rbli_box_tree_end(rbl_context *ctx, rbli_box_tree *tree, rbli_box_get get, void *user)
{
    rbl_status status = RBL_OK;
    size_t count = tree->count, total = layout(tree);
    fill_job job = {tree, get, user};
    rbli_keyed *scratch = NULL;
    RBL_TRY_ALLOC(tree->items = rbli_alloc(ctx, count, sizeof *tree->items));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, count, sizeof *scratch));
    RBL_TRY(rbli_radix_sort_polled(ctx, tree->keys, scratch, count));
    RBL_TRY(rbli_parallel_for(ctx, count, POLL, list_items, tree));
    rbli_free(ctx, tree->keys); /* before the packs, which are as large */
    rbli_free(ctx, scratch);
    tree->keys = scratch = NULL;
    RBL_TRY_ALLOC(tree->packs = rbli_alloc(ctx, total, sizeof *tree->packs));
    RBL_TRY(rbli_parallel_for(ctx, rbli_box_tree_block_count(tree), PACK_GRAIN, fill_packs, &job));
    rbli_free(ctx, tree->boxes);
    tree->boxes = NULL;
    for (int level = 1; level < tree->level_count; level++) {
        size_t packs = (tree->level_size[level] + FAN - 1) / FAN;
        level_job above = {tree, level};
        RBL_TRY(rbli_parallel_for(ctx, packs, PACK_GRAIN, fill_level, &above));
    }
done:
    rbli_free(ctx, scratch);
    return status;
}

/// Boxes that are there all at once.
typedef struct box_array {
    const double (*boxes)[2][3];
    const rbli_box_tree *tree;
} box_array;

static void get_box(void *user, size_t slot, int32_t item, double min[3], double max[3])
{
    const box_array *array = user;
    if (slot + AHEAD < array->tree->count)
        __builtin_prefetch(&array->boxes[array->tree->items[slot + AHEAD]]);
    memcpy(min, array->boxes[item][0], 3 * sizeof *min);
    memcpy(max, array->boxes[item][1], 3 * sizeof *max);
}

rbl_status rbli_box_tree_create(
    rbl_context *ctx, const double (*boxes)[2][3], size_t count, rbli_box_tree **out)
{
    rbl_status status = RBL_OK;
    rbli_box_tree *tree = NULL;
    double min[3] = {0}, max[3] = {0};
    for (size_t i = 0; i < count; i++) {
        if (i % POLL == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        for (int k = 0; k < 3; k++) {
            if (i == 0 || boxes[i][0][k] < min[k]) min[k] = boxes[i][0][k];
            if (i == 0 || boxes[i][1][k] > max[k]) max[k] = boxes[i][1][k];
        }
    }
    RBL_TRY(rbli_box_tree_begin(ctx, min, max, count, &tree));
    for (size_t i = 0; i < count; i++) {
        if (i % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        rbli_box_tree_put(tree, i, boxes[i][0], boxes[i][1]);
    }
    RBL_TRY(rbli_box_tree_end(ctx, tree, get_box, &(box_array){boxes, tree}));
    *out = tree;
    tree = NULL;
done:
    rbli_box_tree_destroy(ctx, tree);
    return status;
}

void rbli_box_tree_destroy(rbl_context *ctx, rbli_box_tree *tree)
{
    if (!tree) return;
    rbli_free(ctx, tree->items);
    rbli_free(ctx, tree->packs);
    rbli_free(ctx, tree->keys);
    rbli_free(ctx, tree->boxes);
    rbli_free(ctx, tree);
}

/// Packs to look at.
typedef struct node_stack {
    struct {
        int32_t level;
        uint32_t pack;
    } nodes[MAX_LEVELS * FAN];
    int count;
} node_stack;

static inline void push_node(node_stack *stack, int level, size_t pack)
{
    stack->nodes[stack->count].level = level;
    stack->nodes[stack->count++].pack = (uint32_t)pack;
}

/// The walk of rbli_box_tree_walk. Inlined by force, so that each caller has one with its visit inside.
static inline __attribute__((always_inline)) bool walk(
    const rbli_box_tree *tree, const flat_box *box, rbli_box_pack_visit visit, void *user)
{
    if (tree->count == 0) return true;
    box_pack wide = spread_box(box);
    node_stack stack;
    stack.count = 0;
    push_node(&stack, tree->level_count - 1, 0);
    while (stack.count > 0) {
        stack.count--;
        int level = stack.nodes[stack.count].level;
        size_t pack = stack.nodes[stack.count].pack;
        const box_pack *boxes = pack_of(tree, level, pack);
        unsigned hits = overlap(boxes, &wide);
        if (!hits) continue;
        int enter =
            visit(user, level, pack, hits, (const float(*)[FAN])boxes->min, (const float(*)[FAN])boxes->max);
        if (enter == RBLI_BOX_TREE_STOP) return false;
        for (int lane = FAN - 1; lane >= 0 && level > 0; lane--) /* so that the lowest child is taken next */
            if (enter >> lane & 1) push_node(&stack, level - 1, pack * FAN + (size_t)lane);
    }
    return true;
}

bool rbli_box_tree_walk(
    const rbli_box_tree *tree, const rbli_flat_box *box, rbli_box_pack_visit visit, void *user)
{
    return walk(tree, box, visit, user);
}

typedef struct item_query {
    const rbli_box_tree *tree;
    rbli_box_visit visit;
    void *user;
} item_query;

static inline int visit_items(
    void *user, int level, size_t pack, unsigned hits, const float (*min)[FAN], const float (*max)[FAN])
{
    const item_query *query = user;
    (void)min;
    (void)max;
    if (level > 0) return (int)hits;
    for (; hits; hits &= hits - 1)
        if (!query->visit(query->user, query->tree->items[pack * FAN + (size_t)__builtin_ctz(hits)]))
            return RBLI_BOX_TREE_STOP;
    return 0;
}

bool rbli_box_tree_query(
    const rbli_box_tree *tree, const double min[3], const double max[3], rbli_box_visit visit, void *user)
{
    flat_box box = rbli_box_tree_flatten(tree, min, max);
    return walk(tree, &box, visit_items, &(item_query){tree, visit, user});
}

size_t rbli_box_tree_node_count(const rbli_box_tree *tree, int level)
{
    return level < tree->level_count ? tree->level_size[level] : 0;
}

rbli_flat_box rbli_box_tree_node(const rbli_box_tree *tree, int level, size_t node)
{
    return box_of(tree, level, node);
}

void rbli_box_tree_drop_block(rbli_box_tree *tree, size_t block)
{
    if (tree->level_count > 1) set_lane(&tree->packs[tree->level_start[1] + block / FAN], block % FAN, NULL);
}

const int32_t *rbli_box_tree_items(const rbli_box_tree *tree)
{
    return tree->items;
}

size_t rbli_box_tree_block_count(const rbli_box_tree *tree)
{
    return (tree->count + FAN - 1) / FAN;
}

/// Pairs of the items of pack `one`, whose boxes are `own`, with those in pack `two` ≥ `one`.
static void pairs_of_packs(const rbli_box_tree *tree, const box_pack own[FAN], size_t one, size_t two,
    rbli_box_block_visit visit, void *user)
{
    const box_pack *other = pack_of(tree, 0, two);
    unsigned hits = 0;
    for (int i = 0; i < FAN; i++)
        hits |= overlap(other, &own[i]) << (FAN * i);
    if (one == two) hits &= UPPER_HALF;
    if (hits) visit(user, one, two, hits);
}

/// Packs of level 1 that may hold partners of a group of blocks, those of one pack of level 1.
typedef struct pair_search {
    const rbli_box_tree *tree;
    size_t first, end; /* blocks of the group */
    uint32_t near[MAX_NEAR];
    int near_count;
    rbli_box_block_visit visit;
    void *user;
} pair_search;

static void pair_near(pair_search *s)
{
    const rbli_box_tree *tree = s->tree;
    for (size_t block = s->first; block < s->end; block++) {
        flat_box flat = box_of(tree, 1, block);
        if (flat.min[0] > flat.max[0]) continue; /* dropped */
        box_pack around = spread_box(&flat), own[FAN];
        for (size_t i = 0; i < FAN; i++) {
            flat = box_of(tree, 0, block * FAN + i);
            own[i] = spread_box(&flat);
        }
        for (int i = 0; i < s->near_count; i++) {
            unsigned hits = overlap(pack_of(tree, 1, s->near[i]), &around);
            for (; hits; hits &= hits - 1) {
                size_t other = s->near[i] * (size_t)FAN + (size_t)__builtin_ctz(hits);
                /* Blocks before this one were paired with it when it was their turn. */
                if (other >= block) pairs_of_packs(tree, own, block, other, s->visit, s->user);
            }
        }
    }
    s->near_count = 0;
}

/// Pairs the blocks of pack `group` of level 1.
static void pair_group(pair_search *s, size_t group)
{
    const rbli_box_tree *tree = s->tree;
    flat_box flat = box_around(pack_of(tree, 1, group));
    box_pack around = spread_box(&flat);
    node_stack stack;
    stack.count = 0;
    push_node(&stack, tree->level_count - 1, 0);
    while (stack.count > 0) {
        stack.count--;
        int level = stack.nodes[stack.count].level;
        size_t pack = stack.nodes[stack.count].pack;
        if (level == 1) {
            s->near[s->near_count++] = (uint32_t)pack;
            if (s->near_count == MAX_NEAR) pair_near(s);
            continue;
        }
        size_t least = group >> (2 * (level - 2)); /* children before it hold blocks before the group alone */
        unsigned hits = overlap(pack_of(tree, level, pack), &around);
        for (; hits; hits &= hits - 1) {
            size_t child = pack * FAN + (size_t)__builtin_ctz(hits);
            if (child >= least) push_node(&stack, level - 1, child);
        }
    }
    pair_near(s);
}

void rbli_box_tree_pair_blocks(
    const rbli_box_tree *tree, size_t first_block, size_t end_block, rbli_box_block_visit visit, void *user)
{
    pair_search search = {.tree = tree, .visit = visit, .user = user};
    if (tree->level_count == 1 && first_block < end_block) {
        box_pack own[FAN];
        for (size_t i = 0; i < FAN; i++) {
            flat_box flat = box_of(tree, 0, i);
            own[i] = spread_box(&flat);
        }
        pairs_of_packs(tree, own, 0, 0, visit, user);
        return;
    }
    for (size_t block = first_block; block < end_block; block = search.end) {
        size_t next = (block / FAN + 1) * FAN;
        search.first = block;
        search.end = next < end_block ? next : end_block;
        pair_group(&search, block / FAN);
    }
}

typedef struct single_visit {
    rbli_box_pair_visit visit;
    void *user;
} single_visit;

static void visit_singly(void *user, size_t one, size_t two, unsigned hits)
{
    const single_visit *single = user;
    for (; hits; hits &= hits - 1) {
        int bit = __builtin_ctz(hits);
        single->visit(single->user, (int32_t)(one * FAN) + bit / FAN, (int32_t)(two * FAN) + bit % FAN);
    }
}

void rbli_box_tree_pairs(
    const rbli_box_tree *tree, size_t first_block, size_t end_block, rbli_box_pair_visit visit, void *user)
{
    single_visit single = {visit, user};
    rbli_box_tree_pair_blocks(tree, first_block, end_block, visit_singly, &single);
}
