/// Splitting groups in two along spanning trees: one by breadth first from an outer point; where that has no
/// edge with enough on both sides, one by depth first, which branches less.

#include "fracture/base/alloc.h"
#include "fracture/geometry/cluster_internal.h"

/// Members of a group in `member`, ascending.
typedef struct range {
    size_t begin, end;
} range;

typedef struct splitting {
    rbl_context *ctx;
    size_t count;
    size_t *start;   /* [count + 1] neighbours of each rank; NULL: by place */
    int32_t *near;   /* neighbours */
    int32_t *group;  /* [count] */
    int32_t *member; /* [count] */
    range *ranges;   /* [wanted] by group */
    size_t group_count, wanted;
    int32_t *heap; /* [wanted] groups, the largest on top */
    size_t heap_count;
    int32_t *aside; /* [wanted] groups that could not be split */
    size_t aside_count;
    /* By rank, of the tree of the group in hand: */
    int32_t *parent, *below, *order;
    size_t *next;   /* next neighbour to look at */
    uint32_t *seen; /* the tree that reached it */
    uint32_t tree;
    int32_t *scratch; /* [count] */
} splitting;

static void splitting_free(splitting *s)
{
    rbli_free(s->ctx, s->start);
    rbli_free(s->ctx, s->near);
    rbli_free(s->ctx, s->member);
    rbli_free(s->ctx, s->ranges);
    rbli_free(s->ctx, s->heap);
    rbli_free(s->ctx, s->aside);
    rbli_free(s->ctx, s->parent);
    rbli_free(s->ctx, s->below);
    rbli_free(s->ctx, s->order);
    rbli_free(s->ctx, s->next);
    rbli_free(s->ctx, s->seen);
    rbli_free(s->ctx, s->scratch);
}

static rbl_status list_neighbors(splitting *s, const rbli_cluster_edge *edges, size_t edge_count)
{
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(s->start = rbli_calloc(s->ctx, s->count + 2, sizeof *s->start));
    RBL_TRY_ALLOC(s->near = rbli_alloc(s->ctx, edge_count, 2 * sizeof *s->near));
    for (size_t e = 0; e < edge_count; e++) {
        s->start[edges[e].a + 2]++;
        s->start[edges[e].b + 2]++;
    }
    for (size_t i = 2; i < s->count + 2; i++)
        s->start[i] += s->start[i - 1];
    for (size_t e = 0; e < edge_count; e++) {
        s->near[s->start[edges[e].a + 1]++] = edges[e].b;
        s->near[s->start[edges[e].b + 1]++] = edges[e].a;
    }
done:
    return status;
}

static rbl_status list_members(splitting *s)
{
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(s->member = rbli_alloc(s->ctx, s->count, sizeof *s->member));
    RBL_TRY_ALLOC(s->ranges = rbli_calloc(s->ctx, s->wanted + 1, sizeof *s->ranges));
    for (size_t i = 0; i < s->count; i++)
        s->ranges[s->group[i]].end++;
    size_t at = 0;
    for (size_t g = 0; g < s->group_count; g++) {
        size_t size = s->ranges[g].end;
        s->ranges[g].begin = s->ranges[g].end = at;
        at += size;
    }
    for (size_t i = 0; i < s->count; i++)
        s->member[s->ranges[s->group[i]].end++] = (int32_t)i;
done:
    return status;
}

/* ---- the largest group ---- */

static size_t size_of(const splitting *s, int32_t g)
{
    return s->ranges[g].end - s->ranges[g].begin;
}

static bool larger(const splitting *s, int32_t a, int32_t b)
{
    if (size_of(s, a) != size_of(s, b)) return size_of(s, a) > size_of(s, b);
    return s->member[s->ranges[a].begin] < s->member[s->ranges[b].begin];
}

static void heap_push(splitting *s, int32_t g)
{
    size_t i = s->heap_count++;
    for (; i > 0 && larger(s, g, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = g;
}

static int32_t heap_pop(splitting *s)
{
    int32_t top = s->heap[0], moved = s->heap[--s->heap_count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= s->heap_count) break;
        if (child + 1 < s->heap_count && larger(s, s->heap[child + 1], s->heap[child])) child++;
        if (!larger(s, s->heap[child], moved)) break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = moved;
    return top;
}

/* ---- trees ---- */

/// Breadth first from a rank through its group: `order` and `parent`. @return how many were reached
static size_t walk_wide(splitting *s, int32_t from)
{
    size_t reached = 0;
    s->tree++;
    s->seen[from] = s->tree;
    s->parent[from] = -1;
    s->order[reached++] = from;
    for (size_t i = 0; i < reached; i++) {
        int32_t here = s->order[i];
        for (size_t n = s->start[here]; n < s->start[here + 1]; n++) {
            int32_t to = s->near[n];
            if (s->group[to] != s->group[from] || s->seen[to] == s->tree) continue;
            s->seen[to] = s->tree;
            s->parent[to] = here;
            s->order[reached++] = to;
        }
    }
    return reached;
}

/// The same depth first.
static size_t walk_deep(splitting *s, int32_t from)
{
    size_t reached = 0;
    int32_t here = from;
    s->tree++;
    s->seen[from] = s->tree;
    s->parent[from] = -1;
    s->next[from] = s->start[from];
    s->order[reached++] = from;
    while (here >= 0) {
        if (s->next[here] == s->start[here + 1]) {
            here = s->parent[here];
            continue;
        }
        int32_t to = s->near[s->next[here]++];
        if (s->group[to] != s->group[from] || s->seen[to] == s->tree) continue;
        s->seen[to] = s->tree;
        s->parent[to] = here;
        s->next[to] = s->start[to];
        s->order[reached++] = to;
        here = to;
    }
    return reached;
}

/// Counts what is below each rank of the tree. @return the rank above which the most even cut is
static int32_t most_even(splitting *s, size_t reached, size_t *lesser)
{
    int32_t best = -1;
    *lesser = 0;
    for (size_t i = 0; i < reached; i++)
        s->below[s->order[i]] = 1;
    for (size_t i = reached; i-- > 1;)
        s->below[s->parent[s->order[i]]] += s->below[s->order[i]];
    for (size_t i = 1; i < reached; i++) {
        int32_t r = s->order[i];
        size_t here = (size_t)s->below[r], rest = reached - here, least = here < rest ? here : rest;
        if (least > *lesser || (least == *lesser && r < best)) *lesser = least, best = r;
    }
    return best;
}

/// Moves the members with a mark to a new group behind the others.
static int32_t move_marked(splitting *s, int32_t g, const int32_t *marked_as, int32_t mark)
{
    range *r = &s->ranges[g];
    size_t kept = r->begin, moved = 0;
    int32_t made = (int32_t)s->group_count++;
    for (size_t i = r->begin; i < r->end; i++) {
        int32_t m = s->member[i];
        if (marked_as[m] == mark)
            s->scratch[moved++] = m;
        else
            s->member[kept++] = m;
    }
    memcpy(s->member + kept, s->scratch, moved * sizeof *s->scratch);
    s->ranges[made] = (range){kept, r->end};
    r->end = kept;
    for (size_t i = 0; i < moved; i++)
        s->group[s->scratch[i]] = made;
    return made;
}

/// Everything below `cut` in the tree becomes a group.
static void cut_tree(splitting *s, int32_t g, size_t reached, int32_t cut)
{
    /* `below` is not needed any more: 1 marks what moves. */
    for (size_t i = 0; i < reached; i++) {
        int32_t r = s->order[i];
        s->below[r] = r == cut || (s->parent[r] >= 0 && s->below[s->parent[r]] == 1);
    }
    int32_t made = move_marked(s, g, s->below, 1);
    heap_push(s, g);
    heap_push(s, made);
}

/// Makes the ends of the tree groups of one, as many as are wanted; one rank stays.
static void peel(splitting *s, int32_t g, size_t reached)
{
    range *r = &s->ranges[g];
    size_t needed = s->wanted - s->group_count, taken = 0, kept = r->begin;
    for (size_t i = reached; i-- > 1 && taken < needed;) {
        if (s->below[s->order[i]] != 1) continue;
        s->below[s->order[i]] = -1;
        taken++;
    }
    taken = 0;
    for (size_t i = r->begin; i < r->end; i++) {
        int32_t m = s->member[i];
        if (s->below[m] == -1)
            s->scratch[taken++] = m;
        else
            s->member[kept++] = m;
    }
    memcpy(s->member + kept, s->scratch, taken * sizeof *s->scratch);
    for (size_t i = kept; i < r->end; i++) {
        s->group[s->member[i]] = (int32_t)s->group_count;
        s->ranges[s->group_count++] = (range){i, i + 1};
    }
    r->end = kept;
    heap_push(s, g);
}

/// Splits a group so that both parts have `least` or more; false when no way was found.
static bool split(splitting *s, int32_t g, size_t least)
{
    size_t size = size_of(s, g), lesser, reached;
    if (size < 2 * least) return false;
    if (!s->start) {
        for (size_t i = 0; i < size; i++)
            s->below[s->member[s->ranges[g].begin + i]] = i >= size / 2;
        int32_t made = move_marked(s, g, s->below, 1);
        heap_push(s, g);
        heap_push(s, made);
        return true;
    }
    reached = walk_wide(s, s->member[s->ranges[g].begin]);
    reached = walk_wide(s, s->order[reached - 1]);
    int32_t cut = most_even(s, reached, &lesser);
    if (lesser < least || (least == 1 && lesser == 1 && size > 3)) {
        reached = walk_deep(s, s->order[0]);
        cut = most_even(s, reached, &lesser);
    }
    if (cut < 0 || lesser < least) return false;
    if (lesser == 1)
        peel(s, g, reached);
    else
        cut_tree(s, g, reached, cut);
    return true;
}

rbl_status rbli_split_groups(rbl_context *ctx, size_t count, const rbli_cluster_edge *edges,
    size_t edge_count, size_t wanted, bool avoid_isolated, int32_t *group, size_t *group_count)
{
    rbl_status status = RBL_OK;
    splitting s = {.ctx = ctx,
        .count = count,
        .group = group,
        .group_count = *group_count,
        .wanted = wanted < count ? wanted : count};
    if (s.group_count >= s.wanted) return RBL_OK;
    if (edges) RBL_TRY(list_neighbors(&s, edges, edge_count));
    RBL_TRY(list_members(&s));
    RBL_TRY_ALLOC(s.heap = rbli_alloc(ctx, s.wanted, sizeof *s.heap));
    RBL_TRY_ALLOC(s.aside = rbli_alloc(ctx, s.wanted, sizeof *s.aside));
    RBL_TRY_ALLOC(s.parent = rbli_alloc(ctx, count, sizeof *s.parent));
    RBL_TRY_ALLOC(s.below = rbli_alloc(ctx, count, sizeof *s.below));
    RBL_TRY_ALLOC(s.order = rbli_alloc(ctx, count, sizeof *s.order));
    RBL_TRY_ALLOC(s.next = rbli_alloc(ctx, count, sizeof *s.next));
    RBL_TRY_ALLOC(s.seen = rbli_calloc(ctx, count, sizeof *s.seen));
    RBL_TRY_ALLOC(s.scratch = rbli_alloc(ctx, count, sizeof *s.scratch));
    for (size_t g = 0; g < s.group_count; g++)
        heap_push(&s, (int32_t)g);
    for (size_t least = avoid_isolated ? 2 : 1; least >= 1; least--) {
        while (s.heap_count > 0 && s.group_count < s.wanted) {
            if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
            int32_t g = heap_pop(&s);
            if (!split(&s, g, least)) s.aside[s.aside_count++] = g;
        }
        while (s.aside_count > 0)
            heap_push(&s, s.aside[--s.aside_count]);
    }
    *group_count = s.group_count;
done:
    splitting_free(&s);
    return status;
}
