#ifndef RUBBLE_GEOMETRY_BOX_TREE_H
#define RUBBLE_GEOMETRY_BOX_TREE_H

/// A tree of axis-parallel boxes for overlap queries: built once, read by many threads.
///
/// Items are ordered along a Morton curve and grouped by four, level by level. Boxes are kept in single
/// precision, rounded outwards: a query never misses, and may report a box that is up to 2^-21 of the whole
/// extent away.

#include "fracture/base/context.h"

typedef struct rbli_box_tree rbli_box_tree;

/// @param boxes [count] {minimum, maximum}; finite, minimum ≤ maximum; not kept
/// @param out   set on success only; rbli_box_tree_destroy
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED. Cost O(count). The tree depends on the boxes and
/// their order alone.
rbl_status rbli_box_tree_create(
    rbl_context *ctx, const double (*boxes)[2][3], size_t count, rbli_box_tree **out);
void rbli_box_tree_destroy(rbl_context *ctx, rbli_box_tree *tree); /* NULL is fine */

/// The same box by box, so that no array of them is needed: begin, put every item once, end, which asks for every box
/// a second time, in the tree's order. All boxes lie in [min, max]. Until it has ended, a tree can only be destroyed;
/// its items are known when it asks.
rbl_status rbli_box_tree_begin(
    rbl_context *ctx, const double min[3], const double max[3], size_t count, rbli_box_tree **out);
void rbli_box_tree_put(rbli_box_tree *tree, size_t item, const double min[3], const double max[3]);
/// Between begin and the first put: boxes are kept, 24 bytes each, and end needs no `get`.
rbl_status rbli_box_tree_keep_boxes(rbl_context *ctx, rbli_box_tree *tree);
/// Gives the box of the item in a slot. Called once for each slot, by several threads at once for slots of different
/// blocks; of a block in turn.
typedef void (*rbli_box_get)(void *user, size_t slot, int32_t item, double min[3], double max[3]);
rbl_status rbli_box_tree_end(rbl_context *ctx, rbli_box_tree *tree, rbli_box_get get, void *user);

/// Called for an item; return false to end the query.
typedef bool (*rbli_box_visit)(void *user, int32_t item);

/// Visits every item whose box overlaps [min, max] (touching counts), in the tree's order. Infinite bounds
/// are fine.
/// @return false when a visit ended it
bool rbli_box_tree_query(
    const rbli_box_tree *tree, const double min[3], const double max[3], rbli_box_visit visit, void *user);

/// A box as the tree holds it: in single precision, the extent of all boxes from 0 to 1, rounded outwards.
typedef struct rbli_flat_box {
    float min[3], max[3];
} rbli_flat_box;
rbli_flat_box rbli_box_tree_flatten(const rbli_box_tree *tree, const double min[3], const double max[3]);

/// Node i of level n is the box around the items in slots i · FAN^n … (i + 1) · FAN^n − 1, of the last one fewer; of
/// level 0 the item in slot i. FAN is RBLI_BOX_TREE_FAN. @return how many nodes a level has, 0 beyond the top
size_t rbli_box_tree_node_count(const rbli_box_tree *tree, int level);
rbli_flat_box rbli_box_tree_node(const rbli_box_tree *tree, int level, size_t node);

enum { RBLI_BOX_TREE_FAN = 4 };
/// Called for nodes FAN · pack … FAN · pack + FAN − 1 of a level where some overlap what is asked for: bit i of `hits`,
/// and min[axis][i] … max[axis][i] is node i's box. @return the bits of those to enter, which level 0 cannot be, or
/// RBLI_BOX_TREE_STOP to end the walk
enum { RBLI_BOX_TREE_STOP = -1 };
typedef int (*rbli_box_pack_visit)(
    void *user, int level, size_t pack, unsigned hits, const float (*min)[4], const float (*max)[4]);
/// Walks the tree from the top, the lowest children first. @return false when a visit ended it
bool rbli_box_tree_walk(
    const rbli_box_tree *tree, const rbli_flat_box *box, rbli_box_pack_visit visit, void *user);

/// The items in the tree's order: items that are near in space are mostly near in it. A place in it is a
/// slot.
const int32_t *rbli_box_tree_items(const rbli_box_tree *tree);

/// Visits the pairs of different items whose boxes overlap, each once, as slots `a` < `b`: what a visit reads
/// of an item is best kept by slot. The work is divided by blocks 0 … rbli_box_tree_block_count − 1, which
/// may be visited in parallel.
typedef void (*rbli_box_pair_visit)(void *user, int32_t a, int32_t b);
size_t rbli_box_tree_block_count(const rbli_box_tree *tree);
void rbli_box_tree_pairs(
    const rbli_box_tree *tree, size_t first_block, size_t end_block, rbli_box_pair_visit visit, void *user);

/// Leaves the items of a block out of all pairs from now on; queries still find them. A tree of one block keeps it.
/// Threads: while nobody else uses the tree.
void rbli_box_tree_drop_block(rbli_box_tree *tree, size_t block);

/// The same, two blocks `one` ≤ `two` of RBLI_BOX_TREE_FAN slots at a time: bit FAN · i + j of `hits` stands for
/// the pair of slot FAN · one + i and slot FAN · two + j.
typedef void (*rbli_box_block_visit)(void *user, size_t one, size_t two, unsigned hits);
void rbli_box_tree_pair_blocks(
    const rbli_box_tree *tree, size_t first_block, size_t end_block, rbli_box_block_visit visit, void *user);

#endif
