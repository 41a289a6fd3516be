#ifndef RUBBLE_GEOMETRY_CUT_SIFT_H
#define RUBBLE_GEOMETRY_CUT_SIFT_H

/// Sifting facets down the tree over the mesh: each node passes on those whose box and slab meet its box. Only what
/// surely misses is left out.

#include "fracture/geometry/cut_internal.h"

enum {
    CUT_MOST_TASKS = 256,
    CUT_LANES = 8,
};

/// Nodes of the tree side by side, or triangles of a leaf. Lanes from `count` on are free: they meet nothing.
typedef struct cut_lanes {
    float low[3][CUT_LANES], high[3][CUT_LANES], middle[3][CUT_LANES], half[3][CUT_LANES];
    size_t first; /* node of lane 0 */
    size_t count;
} cut_lanes;

/// The nodes up to three levels below a node; `last` is the first node of the level where the descent ends.
cut_lanes cut_lanes_below(const cut_tree *tree, size_t node, size_t last);
/// The boxes of up to CUT_LANES mesh triangles.
cut_lanes cut_lanes_of_triangles(const cut_state *state, const int32_t *triangles, size_t count);
/// Appends what each lane meets of a list on the stack, lane by lane. @param met  how many of each lane
rbl_status cut_sift(rbl_context *ctx, const cut_k_box *boxes, const cut_lanes *lanes, cut_index_list *stack,
    size_t list_start, size_t count, size_t met[CUT_LANES]);

/// Facets that follow each other and lie close together.
typedef struct cut_facet_group {
    int32_t first, end; /* those between that do not separate cells are no members */
    int32_t member_count;
    float extents; /* of the members' boxes, all together */
} cut_facet_group;

/// A run of facets, and which of its groups reach the nodes of the tree that are the tasks.
typedef struct cut_sifted {
    RBLI_ARRAY(cut_k_box) boxes; /* of the groups */
    RBLI_ARRAY(cut_facet_group) groups;
    cut_index_list met; /* task by task */
    size_t start[CUT_MOST_TASKS + 1];
    char apart[CUT_APART_BYTES];
} cut_sifted;

/// The nodes of a level of the tree, or its leaves, and the facets that reach them.
typedef struct cut_tasks {
    const cut_state *state;
    size_t first_node, count;
    cut_sifted *runs;
    size_t run_count;
} cut_tasks;

/// Sifts runs of facets, in groups, down the upper levels of the tree, in parallel; the nodes below are to be shared out.
rbl_status cut_tasks_make(rbl_context *ctx, const cut_state *state, cut_tasks *tasks);
void cut_tasks_free(rbl_context *ctx, cut_tasks *tasks);
/// Makes the list of a task's facets, in their order.
rbl_status cut_task_list(rbl_context *ctx, const cut_tasks *tasks, size_t task, cut_index_list *out);

#endif
