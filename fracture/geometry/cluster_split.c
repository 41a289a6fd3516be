/// Splitting groups in two along spanning trees: one by breadth first from an outer point; where that has no
/// edge with enough on both sides, one by depth first, which branches less.

#include "fracture/base/alloc.h"
#include "fracture/geometry/cluster_internal.h"

typedef struct splitting {
    rbl_context *ctx;
    size_t count;
    size_t *start;  /* [count + 1] neighbours of each rank; NULL: by place */
    int32_t *near;  /* neighbours */
    int32_t *group; /* [count] */
    int32_t *head;  /* [wanted] first member of a group; members ascend */
    int32_t *link;  /* [count] the next member, −1: none */
    size_t *size;   /* [wanted] members of a group */
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
} splitting;

static void splitting_free(splitting *s)
{
    rbli_free(s->ctx, s->start);
    rbli_free(s->ctx, s->near);
    rbli_free(s->ctx, s->head);
    rbli_free(s->ctx, s->link);
    rbli_free(s->ctx, s->size);
    rbli_free(s->ctx, s->heap);
    rbli_free(s->ctx, s->aside);
    rbli_free(s->ctx, s->parent);
    rbli_free(s->ctx, s->below);
    rbli_free(s->ctx, s->order);
    rbli_free(s->ctx, s->next);
    rbli_free(s->ctx, s->seen);
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
    RBL_TRY_ALLOC(s->head = rbli_alloc(s->ctx, s->wanted, sizeof *s->head));
    RBL_TRY_ALLOC(s->size = rbli_calloc(s->ctx, s->wanted, sizeof *s->size));
    RBL_TRY_ALLOC(s->link = rbli_alloc(s->ctx, s->count, sizeof *s->link));
    memset(s->head, 0xff, s->wanted * sizeof *s->head);
    for (size_t i = s->count; i-- > 0;) {
        int32_t g = s->group[i];
        s->link[i] = s->head[g];
        s->head[g] = (int32_t)i;
        s->size[g]++;
    }
done:
    return status;
}

/* ---- the largest group ---- */

static bool larger(const splitting *s, int32_t a, int32_t b)
{
    if (s->size[a] != s->size[b]) return s->size[a] > s->size[b];
    return s->head[a] < s->head[b];
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

/// Moves the members with below = 1 to a new group.
static int32_t move_marked(splitting *s, int32_t g)
{
    int32_t made = (int32_t)s->group_count++, *kept_end = &s->head[g], *moved_end = &s->head[made];
    int32_t m = s->head[g];
    for (int32_t next; m >= 0; m = next) {
        next = s->link[m];
        int32_t **end = s->below[m] == 1 ? &moved_end : &kept_end;
        **end = m;
        *end = &s->link[m];
        if (s->below[m] != 1) continue;
        s->group[m] = made;
        s->size[made]++;
        s->size[g]--;
    }
    *kept_end = *moved_end = -1;
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
    int32_t made = move_marked(s, g);
    heap_push(s, g);
    heap_push(s, made);
}

/// Makes the ends of the tree groups of one, as many as are wanted; one rank stays.
static void peel(splitting *s, int32_t g, size_t reached)
{
    size_t needed = s->wanted - s->group_count, taken = 0;
    int32_t *end = &s->head[g];
    for (size_t i = reached; i-- > 1 && taken < needed;) {
        if (s->below[s->order[i]] != 1) continue;
        s->below[s->order[i]] = -1;
        taken++;
    }
    for (int32_t m = s->head[g], next; m >= 0; m = next) {
        next = s->link[m];
        if (s->below[m] != -1) {
            *end = m;
            end = &s->link[m];
            continue;
        }
        s->group[m] = (int32_t)s->group_count;
        s->head[s->group_count] = m;
        s->link[m] = -1;
        s->size[s->group_count++] = 1;
        s->size[g]--;
    }
    *end = -1;
    heap_push(s, g);
}

/// Splits a group so that both parts have `least` or more; false when no way was found.
static bool split(splitting *s, int32_t g, size_t least)
{
    size_t size = s->size[g], lesser, reached, at = 0;
    if (size < 2 * least) return false;
    if (!s->start) {
        for (int32_t m = s->head[g]; m >= 0; m = s->link[m])
            s->below[m] = at++ >= size / 2;
        int32_t made = move_marked(s, g);
        heap_push(s, g);
        heap_push(s, made);
        return true;
    }
    reached = walk_wide(s, s->head[g]);
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

/* ---- groups that only yield a further one together ---- */

enum { MOST_TOGETHER = 12 };

/// A few ranks: of two or three groups that touch.
typedef struct handful {
    int32_t rank[MOST_TOGETHER];
    uint32_t near[MOST_TOGETHER]; /* bits of neighbours */
    size_t count;
} handful;

static uint32_t reach(const handful *h, uint32_t within, uint32_t from)
{
    for (uint32_t front = from; front;) {
        uint32_t next = 0;
        for (size_t i = 0; i < h->count; i++)
            if (front >> i & 1) next |= h->near[i];
        front = next & within & ~from;
        from |= front;
    }
    return from;
}

static bool is_connected(const handful *h, uint32_t set)
{
    return set != 0 && reach(h, set, set & (~set + 1)) == set;
}

static int count_bits(uint32_t set)
{
    int count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

/// Parts a set in `parts` connected ones of two or more: pairs are taken off while the rest stays connected,
/// the last part is what is left then. Depth first, without recursion. @param chosen [parts]
static bool part_handful(const handful *h, uint32_t set, int parts, uint32_t *chosen)
{
    uint32_t rest[4] = {set};
    size_t next[4] = {0}; /* pair a · count + b to try */
    for (int depth = 0; depth >= 0;) {
        if (depth == parts - 1) {
            chosen[depth] = rest[depth];
            return true;
        }
        bool found = false;
        while (next[depth] < h->count * h->count && !found) {
            size_t a = next[depth] / h->count, b = next[depth] % h->count;
            next[depth]++;
            uint32_t pair = (uint32_t)1 << a | (uint32_t)1 << b, left = rest[depth] & ~pair;
            found = b < a && (rest[depth] & pair) == pair && (h->near[a] >> b & 1) && count_bits(left) >= 2 &&
                    is_connected(h, left);
            if (found) chosen[depth] = pair, rest[depth + 1] = left;
        }
        if (found)
            next[++depth] = 0;
        else
            depth--;
    }
    return false;
}

static void add_group(const splitting *s, handful *h, int32_t g)
{
    for (int32_t m = s->head[g]; m >= 0 && h->count < MOST_TOGETHER; m = s->link[m])
        h->rank[h->count++] = m;
}

static void find_near(const splitting *s, handful *h)
{
    for (size_t i = 0; i < h->count; i++) {
        h->near[i] = 0;
        for (size_t n = s->start[h->rank[i]]; n < s->start[h->rank[i] + 1]; n++)
            for (size_t k = 0; k < h->count; k++)
                if (h->rank[k] == s->near[n]) h->near[i] |= (uint32_t)1 << k;
    }
}

/// Gives the ranks of a handful to the groups, and one new one.
static void regroup(splitting *s, const handful *h, const uint32_t *chosen, const int32_t *groups, int count)
{
    for (int c = 0; c <= count; c++) {
        int32_t g = c < count ? groups[c] : (int32_t)s->group_count++, *end = &s->head[g];
        s->size[g] = 0;
        /* Ranks in ascending order. */
        for (int32_t last = -1;;) {
            int32_t next = -1;
            for (size_t i = 0; i < h->count; i++)
                if (chosen[c] >> i & 1 && h->rank[i] > last && (next < 0 || h->rank[i] < next))
                    next = h->rank[i];
            if (next < 0) break;
            *end = next;
            end = &s->link[next];
            s->group[next] = g;
            s->size[g]++;
            last = next;
        }
        *end = -1;
    }
}

/// Tries a group with a neighbour, or with a neighbour and one of that one's.
static bool yield_together(splitting *s, int32_t g)
{
    size_t looks = 1000; /* a hub has many neighbours */
    if (s->size[g] < 3) return false;
    for (int32_t m = s->head[g]; m >= 0; m = s->link[m])
        for (size_t n = s->start[m]; n < s->start[m + 1] && looks > 1; n++, looks--) {
            int32_t groups[3] = {g, s->group[s->near[n]], -1};
            uint32_t chosen[4];
            if (groups[1] == g || s->size[g] + s->size[groups[1]] > MOST_TOGETHER) continue;
            handful h = {.count = 0};
            add_group(s, &h, g);
            add_group(s, &h, groups[1]);
            find_near(s, &h);
            if (h.count >= 6 && part_handful(&h, ((uint32_t)1 << h.count) - 1, 3, chosen)) {
                regroup(s, &h, chosen, groups, 2);
                return true;
            }
            for (int32_t k = s->head[groups[1]]; k >= 0; k = s->link[k])
                for (size_t o = s->start[k]; o < s->start[k + 1] && looks > 1; o++, looks--) {
                    groups[2] = s->group[s->near[o]];
                    if (groups[2] == g || groups[2] == groups[1] || s->size[groups[2]] < 3) continue;
                    if (s->size[g] + s->size[groups[1]] + s->size[groups[2]] > MOST_TOGETHER) continue;
                    handful three = {.count = 0};
                    for (int i = 0; i < 3; i++)
                        add_group(s, &three, groups[i]);
                    find_near(s, &three);
                    if (three.count < 8 || !part_handful(&three, ((uint32_t)1 << three.count) - 1, 4, chosen))
                        continue;
                    regroup(s, &three, chosen, groups, 3);
                    return true;
                }
        }
    return false;
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
    for (size_t g = 0; g < s.group_count; g++)
        heap_push(&s, (int32_t)g);
    for (size_t least = avoid_isolated ? 2 : 1; least >= 1; least--) {
        while (s.heap_count > 0 && s.group_count < s.wanted) {
            if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
            int32_t g = heap_pop(&s);
            if (!split(&s, g, least)) s.aside[s.aside_count++] = g;
        }
        for (size_t i = 0; least == 2 && s.start && i < s.aside_count && s.group_count < s.wanted; i++) {
            if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
            yield_together(&s, s.aside[i]);
        }
        s.heap_count = s.aside_count = 0;
        for (size_t g = 0; g < s.group_count; g++)
            heap_push(&s, (int32_t)g);
    }
    *group_count = s.group_count;
done:
    splitting_free(&s);
    return status;
}
