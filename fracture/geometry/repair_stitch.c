/// Step 3 of MESHES.md: joins open borders that lie within the tolerance, first vertex to vertex, then edge
/// to chain.

#include <math.h>
#include <stdlib.h>

#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/repair_internal.h"

enum { MAX_ROUNDS = 32 };

static bool is_open(const repair *r, int32_t h)
{
    int32_t e = r->edges.of_half[h];
    return r->edges.start[e + 1] - r->edges.start[e] == 1;
}

static double distance(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* Vertices */

typedef struct close_pair {
    double distance;
    int32_t a, b;
} close_pair;

typedef struct stitcher {
    repair *r;
    int32_t *border; /* [border_count] vertices on open edges, ascending */
    size_t border_count;
    const int32_t *items; /* [border_count] of `border` in the order of the tree */
    int32_t *parent;      /* [vertices] clusters; the lowest vertex stands for all */
    int32_t *head, *tail; /* [vertices] corners at a cluster, linked */
    int32_t *next;        /* [3 · triangles] */
    RBLI_ARRAY(close_pair) pairs;
    rbl_status status;
} stitcher;

static void note_pair(void *user, int32_t a, int32_t b)
{
    stitcher *s = user;
    int32_t v = s->border[s->items[a]], w = s->border[s->items[b]];
    if (v > w) {
        int32_t swap = v;
        v = w;
        w = swap;
    }
    double between = distance(s->r->positions.data[v], s->r->positions.data[w]);
    if (between > s->r->tolerance || s->status != RBL_OK) return;
    s->status = rbli_array_push(s->r->ctx, &s->pairs, ((close_pair){between, v, w}));
}

static int compare_pairs(const void *left, const void *right)
{
    const close_pair *a = left, *b = right;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

static rbl_status find_pairs(stitcher *s)
{
    rbl_status status = RBL_OK;
    repair *r = s->r;
    double(*boxes)[2][3] = NULL;
    rbli_box_tree *tree = NULL;
    uint8_t *on_border = NULL;
    RBL_TRY_ALLOC(on_border = rbli_calloc(r->ctx, r->positions.count, 1));
    for (int32_t h = 0; h < (int32_t)(3 * r->triangles.count); h++)
        if (is_open(r, h)) on_border[half_tail(r, h)] = on_border[half_tip(r, h)] = 1;
    RBL_TRY_ALLOC(s->border = rbli_alloc(r->ctx, r->positions.count, sizeof *s->border));
    for (size_t v = 0; v < r->positions.count; v++)
        if (on_border[v]) s->border[s->border_count++] = (int32_t)v;
    RBL_TRY_ALLOC(boxes = rbli_alloc(r->ctx, s->border_count, sizeof *boxes));
    for (size_t i = 0; i < s->border_count; i++)
        for (int k = 0; k < 3; k++) {
            double value = r->positions.data[s->border[i]][k];
            boxes[i][0][k] = value - 0.5 * r->tolerance;
            boxes[i][1][k] = value + 0.5 * r->tolerance;
        }
    RBL_TRY(rbli_box_tree_create(r->ctx, (const double(*)[2][3])boxes, s->border_count, &tree));
    s->items = rbli_box_tree_items(tree);
    rbli_box_tree_pairs(tree, 0, rbli_box_tree_block_count(tree), note_pair, s);
    RBL_TRY(s->status);
    if (s->pairs.count) qsort(s->pairs.data, s->pairs.count, sizeof *s->pairs.data, compare_pairs);
done:
    rbli_free(r->ctx, boxes);
    rbli_free(r->ctx, on_border);
    rbli_box_tree_destroy(r->ctx, tree);
    return status;
}

static rbl_status link_corners(stitcher *s)
{
    rbl_status status = RBL_OK;
    repair *r = s->r;
    size_t vertex_count = r->positions.count, corner_count = 3 * r->triangles.count;
    RBL_TRY_ALLOC(s->parent = repair_make_sets(r->ctx, vertex_count));
    RBL_TRY_ALLOC(s->head = rbli_alloc(r->ctx, vertex_count, sizeof *s->head));
    RBL_TRY_ALLOC(s->tail = rbli_alloc(r->ctx, vertex_count, sizeof *s->tail));
    RBL_TRY_ALLOC(s->next = rbli_alloc(r->ctx, corner_count, sizeof *s->next));
    memset(s->head, 0xff, vertex_count * sizeof *s->head);
    memset(s->tail, 0xff, vertex_count * sizeof *s->tail);
    for (int32_t corner = 0; corner < (int32_t)corner_count; corner++) {
        int32_t v = half_tail(r, corner);
        s->next[corner] = -1;
        if (s->tail[v] >= 0) {
            s->next[s->tail[v]] = corner;
        } else {
            s->head[v] = corner;
        }
        s->tail[v] = corner;
    }
done:
    return status;
}

/// How many half-edges run from cluster `a` to `w` and back.
static void count_between(stitcher *s, int32_t a, int32_t w, int *there, int *back)
{
    *there = *back = 0;
    for (int32_t corner = s->head[a]; corner >= 0; corner = s->next[corner]) {
        *there += find_root(s->parent, half_tip(s->r, corner)) == w;
        *back += find_root(s->parent, half_apex(s->r, corner)) == w;
    }
}

/// No vertex may move farther than the tolerance, also not in several steps.
static bool is_in_reach(const stitcher *s, int32_t a, int32_t b)
{
    const double *to = s->r->positions.data[a];
    for (int32_t corner = s->head[b]; corner >= 0; corner = s->next[corner])
        if (distance(s->r->positions.data[half_tail(s->r, corner)], to) > s->r->tolerance) return false;
    return true;
}

/// False when an edge would collapse, or a joined edge would have two half-edges of one direction.
static bool may_join(stitcher *s, int32_t a, int32_t b)
{
    for (int32_t corner = s->head[a]; corner >= 0; corner = s->next[corner]) {
        const int32_t ends[2] = {half_tip(s->r, corner), half_apex(s->r, corner)};
        for (int i = 0; i < 2; i++) {
            int32_t w = find_root(s->parent, ends[i]);
            if (w == b) return false;
            int there_a, back_a, there_b, back_b;
            count_between(s, b, w, &there_b, &back_b);
            if (there_b + back_b == 0) continue;
            count_between(s, a, w, &there_a, &back_a);
            if (there_a + there_b > 1 || back_a + back_b > 1) return false;
        }
    }
    return true;
}

static void join(stitcher *s, int32_t a, int32_t b)
{
    s->parent[b] = a;
    if (s->tail[a] >= 0) s->next[s->tail[a]] = s->head[b];
    s->tail[a] = s->tail[b];
}

static rbl_status stitch_vertices(repair *r, bool *changed)
{
    rbl_status status = RBL_OK;
    stitcher s = {.r = r};
    RBL_TRY(find_pairs(&s));
    if (s.pairs.count == 0) goto done;
    RBL_TRY(link_corners(&s));
    for (size_t i = 0; i < s.pairs.count; i++) {
        int32_t a = find_root(s.parent, s.pairs.data[i].a), b = find_root(s.parent, s.pairs.data[i].b);
        if (a == b) continue;
        if (b < a) {
            int32_t swap = a;
            a = b;
            b = swap;
        }
        if (is_in_reach(&s, a, b) && may_join(&s, a, b)) join(&s, a, b);
    }
    for (size_t i = 0; i < s.border_count; i++) {
        int32_t v = s.border[i], root = find_root(s.parent, v);
        if (root == v) continue;
        double move = distance(r->positions.data[v], r->positions.data[root]);
        if (move > r->out->largest_move) r->out->largest_move = move;
        r->out->stitched_vertices++;
        *changed = true;
    }
    for (size_t t = 0; *changed && t < r->triangles.count; t++)
        for (int k = 0; k < 3; k++)
            r->triangles.data[t].v[k] = find_root(s.parent, r->triangles.data[t].v[k]);
done:
    rbli_free(r->ctx, s.border);
    rbli_free(r->ctx, s.parent);
    rbli_free(r->ctx, s.head);
    rbli_free(r->ctx, s.tail);
    rbli_free(r->ctx, s.next);
    rbli_free(r->ctx, s.pairs.data);
    return status;
}

/* T-junctions */

typedef struct chain {
    RBLI_ARRAY(int32_t) vertices; /* between the ends, from the tail of the edge to its tip */
    RBLI_ARRAY(double) place;     /* 0 … 1 along the edge */
} chain;

/// Where the foot of `p` lies on a → b, and whether p is within the tolerance of the line.
static bool place_on_edge(
    const repair *r, const double a[3], const double b[3], const double p[3], double *place)
{
    double ab[3], ap[3], dot = 0, length = 0, off = 0;
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k];
        ap[k] = p[k] - a[k];
        dot += ab[k] * ap[k];
        length += ab[k] * ab[k];
    }
    if (length <= 0) return false;
    *place = dot / length;
    for (int k = 0; k < 3; k++)
        off += (ap[k] - *place * ab[k]) * (ap[k] - *place * ab[k]);
    return off <= r->tolerance * r->tolerance;
}

/// Open half-edges by one of their ends: half[start[v]] ….
typedef struct open_edges {
    int32_t *start, *half;
} open_edges;

static rbl_status list_open_edges(repair *r, bool by_tip, open_edges *open)
{
    rbl_status status = RBL_OK;
    int32_t half_count = (int32_t)(3 * r->triangles.count);
    RBL_TRY_ALLOC(open->start = rbli_calloc(r->ctx, r->positions.count + 2, sizeof *open->start));
    RBL_TRY_ALLOC(open->half = rbli_alloc(r->ctx, (size_t)half_count, sizeof *open->half));
    for (int32_t h = 0; h < half_count; h++)
        if (is_open(r, h)) open->start[(by_tip ? half_tip(r, h) : half_tail(r, h)) + 2]++;
    for (size_t v = 0; v < r->positions.count; v++)
        open->start[v + 2] += open->start[v + 1];
    for (int32_t h = 0; h < half_count; h++)
        if (is_open(r, h)) open->half[open->start[(by_tip ? half_tip(r, h) : half_tail(r, h)) + 1]++] = h;
done:
    return status;
}

/// An open half-edge that ends where h begins and starts on h: the vertex nearest to the tail of h, or −1.
static int32_t find_overlap_at_tail(repair *r, const open_edges *into, int32_t h, double *place)
{
    const double *a = r->positions.data[half_tail(r, h)], *b = r->positions.data[half_tip(r, h)];
    int32_t best = -1;
    *place = 1;
    for (int32_t i = into->start[half_tail(r, h)]; i < into->start[half_tail(r, h) + 1]; i++) {
        int32_t tail = half_tail(r, into->half[i]);
        double at;
        if (into->half[i] / 3 == h / 3 || !place_on_edge(r, a, b, r->positions.data[tail], &at)) continue;
        if (at <= 0 || at >= *place) continue;
        *place = at;
        best = tail;
    }
    return best;
}

/// The chain of open half-edges from the tip of h back to its tail that stays within the tolerance of h and
/// never turns back; each step takes the nearest vertex. `partly`: where the chain goes on past the tail
/// (both sides have vertices of their own), its first vertex alone: one open edge less, too.
static rbl_status follow_chain(
    repair *r, const open_edges *open, int32_t h, bool partly, chain *c, bool *found)
{
    const double *a = r->positions.data[half_tail(r, h)], *b = r->positions.data[half_tip(r, h)];
    int32_t at = half_tip(r, h);
    double here = 1;
    *found = false;
    c->vertices.count = c->place.count = 0;
    while (at != half_tail(r, h)) {
        int32_t best = -1;
        double best_place = -1;
        for (int32_t i = open->start[at]; i < open->start[at + 1]; i++) {
            int32_t g = open->half[i], tip = half_tip(r, g);
            double place = 0;
            if (g / 3 == h / 3) continue;
            if (tip != half_tail(r, h) &&
                (!place_on_edge(r, a, b, r->positions.data[tip], &place) || place <= 0 || place >= here))
                continue;
            if (tip == half_tail(r, h)) place = 0;
            if (place > best_place) {
                best_place = place;
                best = tip;
            }
        }
        if (best < 0) {
            *found = partly && c->vertices.count > 0;
            c->vertices.count = c->place.count = *found ? 1 : 0;
            return RBL_OK;
        }
        at = best;
        here = best_place;
        if (at == half_tail(r, h)) break;
        if (rbli_array_push(r->ctx, &c->vertices, at) != RBL_OK) return RBL_ERR_NO_MEMORY;
        if (rbli_array_push(r->ctx, &c->place, here) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    *found = c->vertices.count > 0;
    return RBL_OK;
}

/// Replaces the triangle of h by a fan from its apex over the chain; the chain runs from tip to tail.
static rbl_status split_by_chain(repair *r, int32_t h, const chain *c)
{
    repair_triangle old = r->triangles.data[h / 3];
    int tail = h % 3, tip = (tail + 1) % 3, apex = (tail + 2) % 3;
    double last_row[3] = {0};
    int32_t last = old.v[tail];
    last_row[tail] = 1;
    for (size_t i = c->vertices.count + 1; i-- > 0;) {
        double row[3] = {0}, rows[3][3] = {{0}};
        int32_t v = i > 0 ? c->vertices.data[i - 1] : old.v[tip];
        row[tip] = i > 0 ? c->place.data[i - 1] : 1;
        row[tail] = 1 - row[tip];
        memcpy(rows[0], last_row, sizeof row);
        memcpy(rows[1], row, sizeof row);
        rows[2][apex] = 1;
        const int32_t corners[3] = {last, v, old.v[apex]};
        if (repair_append_part(r, &old, corners, (const double(*)[3])rows) != RBL_OK)
            return RBL_ERR_NO_MEMORY;
        last = v;
        memcpy(last_row, row, sizeof row);
    }
    return RBL_OK;
}

static rbl_status split_round(repair *r, bool partly, bool *changed)
{
    rbl_status status = RBL_OK;
    open_edges open = {0}, into = {0};
    chain c = {0};
    uint8_t *dead = NULL;
    size_t count = r->triangles.count;
    *changed = false;
    RBL_TRY(repair_build_edges(r));
    RBL_TRY(list_open_edges(r, false, &open));
    if (partly) RBL_TRY(list_open_edges(r, true, &into));
    RBL_TRY_ALLOC(dead = rbli_calloc(r->ctx, count, 1));
    for (int32_t h = 0; h < (int32_t)(3 * count); h++) {
        bool found = false;
        if (dead[h / 3] || !is_open(r, h)) continue;
        RBL_TRY(follow_chain(r, &open, h, partly, &c, &found));
        if (!found && partly) {
            double place;
            int32_t v = find_overlap_at_tail(r, &into, h, &place);
            if (v >= 0) {
                RBL_TRY(rbli_array_push(r->ctx, &c.vertices, v));
                RBL_TRY(rbli_array_push(r->ctx, &c.place, place));
                found = true;
            }
        }
        if (!found) continue;
        dead[h / 3] = 1;
        RBL_TRY(split_by_chain(r, h, &c));
        r->out->split_edges++;
        *changed = true;
    }
    if (!*changed) goto done;
    size_t kept = 0;
    for (size_t t = 0; t < r->triangles.count; t++)
        if (t >= count || !dead[t]) r->triangles.data[kept++] = r->triangles.data[t];
    r->triangles.count = kept;
    RBL_TRY(repair_reindex(r));
done:
    rbli_free(r->ctx, open.start);
    rbli_free(r->ctx, open.half);
    rbli_free(r->ctx, into.start);
    rbli_free(r->ctx, into.half);
    rbli_free(r->ctx, c.vertices.data);
    rbli_free(r->ctx, c.place.data);
    rbli_free(r->ctx, dead);
    return status;
}

rbl_status repair_stitch(repair *r)
{
    rbl_status status = RBL_OK;
    if (!(r->tolerance > 0)) return RBL_OK;
    bool changed = false;
    RBL_TRY(repair_build_edges(r));
    RBL_TRY(stitch_vertices(r, &changed));
    if (changed) RBL_TRY(repair_reindex(r));
    bool partly = false;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        RBL_TRY(split_round(r, partly, &changed));
        if (!changed && partly) break;
        partly = !changed; /* only where no whole chain is left */
    }
done:
    return status;
}
