/// Step 4 of MESHES.md: which triangles are neighbours across an edge of more than two. The triangles are
/// sorted around the edge by exact predicates; a forward one (the solid lies before it, seen along the rising
/// angle) belongs to the nearest backward one before it that is not taken by one in between, as brackets
/// match, or to one of its own surface where that is as good.

#include "fracture/geometry/repair_internal.h"

typedef struct spoke {
    int32_t half;
    int8_t forward;
    int8_t sector; /* against the first spoke: 0 same, 1 below 180 degrees, 2 opposite, 3 above */
    bool flat;     /* the triangle has no area: its angle means nothing */
} spoke;

typedef struct edge_ring {
    repair *r;
    RBLI_ARRAY(spoke) spokes;
    RBLI_ARRAY(int32_t) stack; /* spokes that wait for a partner */
    int32_t *patch;            /* [triangles] */
    uint8_t *has_border;       /* [triangles] of a patch's root: some edge has one triangle */
    int32_t *surface;          /* [triangles] patches and what was paired so far, as sets */
} edge_ring;

static int node_of(const repair *r, int32_t h)
{
    return r->triangles.data[h / 3].node;
}

/* Patches: triangles joined over edges of exactly two triangles of one node. */

static bool is_pair_of_node(const repair *r, size_t e)
{
    const int32_t *half = r->edges.half + r->edges.start[e];
    return r->edges.start[e + 1] - r->edges.start[e] == 2 && node_of(r, half[0]) == node_of(r, half[1]);
}

static rbl_status build_patches(edge_ring *ring)
{
    repair *r = ring->r;
    rbli_free(r->ctx, ring->patch);
    rbli_free(r->ctx, ring->has_border);
    ring->patch = repair_make_sets(r->ctx, r->triangles.count);
    ring->has_border = rbli_calloc(r->ctx, r->triangles.count, 1);
    if (!ring->patch || !ring->has_border) return RBL_ERR_NO_MEMORY;
    for (size_t e = 0; e < r->edges.count; e++) {
        if (rbli_poll(r->ctx, e) != RBL_OK) return RBL_ERR_CANCELLED;
        if (is_pair_of_node(r, e))
            unite(
                ring->patch, r->edges.half[r->edges.start[e]] / 3, r->edges.half[r->edges.start[e] + 1] / 3);
    }
    for (size_t t = 0; t < r->triangles.count; t++) {
        if (rbli_poll(r->ctx, t) != RBL_OK) return RBL_ERR_CANCELLED;
        ring->patch[t] = find_root(ring->patch, (int32_t)t);
    }
    for (size_t e = 0; e < r->edges.count; e++)
        if (r->edges.start[e + 1] - r->edges.start[e] == 1)
            ring->has_border[ring->patch[r->edges.half[r->edges.start[e]] / 3]] = 1;
    return RBL_OK;
}

/* Radial order */

typedef struct edge_frame {
    const double *a, *b,
        *first;     /* the edge from its lower to its upper vertex; an apex that is off its line */
    int u, v, turn; /* axes in which the edge and `first` span an area, and its sign */
} edge_frame;

static const double *apex_of(const repair *r, int32_t h)
{
    return r->grid[half_apex(r, h)];
}

static int sector_of(const edge_frame *frame, const double *apex)
{
    int side = rbli_grid_orient3d(frame->a, frame->b, frame->first, apex);
    if (side) return side > 0 ? 1 : 3;
    return rbli_grid_orient2d(frame->a, frame->b, apex, frame->u, frame->v) == frame->turn ? 0 : 2;
}

static int compare_spokes(const edge_ring *ring, const edge_frame *frame, const spoke *s, const spoke *t)
{
    if (s->flat != t->flat) return s->flat ? 1 : -1;
    if (!s->flat) {
        if (s->sector != t->sector) return s->sector < t->sector ? -1 : 1;
        int side = s->sector % 2 == 0 ? 0
                                      : rbli_grid_orient3d(frame->a, frame->b, apex_of(ring->r, s->half),
                                            apex_of(ring->r, t->half));
        if (side) return side > 0 ? -1 : 1;
    }
    if (s->forward != t->forward) return s->forward ? -1 : 1; /* touching solids stay apart */
    return s->half < t->half ? -1 : 1;
}

/// Sorts the spokes by angle, those without area last.
static void sort_ring(edge_ring *ring)
{
    repair *r = ring->r;
    spoke *spokes = ring->spokes.data;
    size_t count = ring->spokes.count;
    edge_frame frame = {0};
    int32_t h = spokes[0].half, tail = half_tail(r, h), tip = half_tip(r, h);
    frame.a = r->grid[tail < tip ? tail : tip];
    frame.b = r->grid[tail < tip ? tip : tail];
    for (size_t i = 0; i < count; i++) {
        const double *apex = apex_of(r, spokes[i].half);
        spokes[i].flat = rbli_grid_collinear(frame.a, frame.b, apex);
        if (frame.first || spokes[i].flat) continue;
        frame.first = apex;
        for (int k = 0; k < 3 && !frame.turn; k++) {
            frame.u = k;
            frame.v = (k + 1) % 3;
            frame.turn = rbli_grid_orient2d(frame.a, frame.b, apex, frame.u, frame.v);
        }
    }
    for (size_t i = 0; i < count; i++)
        if (!spokes[i].flat) spokes[i].sector = (int8_t)sector_of(&frame, apex_of(r, spokes[i].half));
    for (size_t i = 1; i < count; i++) {
        spoke moved = spokes[i];
        size_t j = i;
        for (; j > 0 && compare_spokes(ring, &frame, &spokes[j - 1], &moved) > 0; j--)
            spokes[j] = spokes[j - 1];
        spokes[j] = moved;
    }
}

static rbl_status add_spoke(edge_ring *ring, int32_t h)
{
    spoke added = {.half = h, .forward = half_direction(ring->r, h) > 0};
    return rbli_array_push(ring->r->ctx, &ring->spokes, added);
}

static void set_mates(edge_ring *ring, int32_t g, int32_t h)
{
    ring->r->mate[g] = h;
    ring->r->mate[h] = g;
    if (ring->surface) unite(ring->surface, g / 3, h / 3);
}

static int32_t surface_of(const edge_ring *ring, size_t i)
{
    return find_root(ring->surface, ring->spokes.data[i].half / 3);
}

/// Matches forward with backward spokes that are free as brackets: once around, then once more for what
/// wraps.
/// @param surface of the spokes to take, or −1 for all
static rbl_status match_brackets(edge_ring *ring, int32_t surface, int32_t *partner)
{
    ring->stack.count = 0;
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < ring->spokes.count; i++) {
            if (partner[i] >= 0 || (surface >= 0 && surface_of(ring, i) != surface)) continue;
            if (!ring->spokes.data[i].forward) {
                if (turn == 0 && rbli_array_push(ring->r->ctx, &ring->stack, (int32_t)i) != RBL_OK)
                    return RBL_ERR_NO_MEMORY;
            } else if (ring->stack.count > 0) {
                int32_t j = ring->stack.data[--ring->stack.count];
                partner[i] = j;
                partner[j] = (int32_t)i;
            }
        }
    return RBL_OK;
}

/// As above, but surfaces with as many forward as backward spokes keep to themselves.
static rbl_status match_surfaces(edge_ring *ring, int32_t *partner)
{
    for (size_t i = 0; i < ring->spokes.count; i++) {
        int32_t surface = surface_of(ring, i);
        int net = 0;
        bool first = true;
        for (size_t j = 0; j < ring->spokes.count; j++) {
            if (surface_of(ring, j) != surface) continue;
            net += ring->spokes.data[j].forward ? 1 : -1;
            if (j < i) first = false;
        }
        if (first && net == 0 && match_brackets(ring, surface, partner) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    return match_brackets(ring, -1, partner);
}

/// How many wedges hold the direction just before the first spoke.
static int count_wraps(const edge_ring *ring, const int32_t *partner)
{
    int wraps = 0;
    for (size_t i = 0; i < ring->spokes.count; i++)
        wraps += ring->spokes.data[i].forward && partner[i] > (int32_t)i;
    return wraps;
}

/// Where surfaces cross or coincide along the edge, brackets would lead from one to the other; so each
/// surface keeps to itself if that makes the same number of solids around the edge, and does not turn one
/// inside out.
static rbl_status match_ring(edge_ring *ring)
{
    rbl_status status = RBL_OK;
    repair *r = ring->r;
    size_t count = ring->spokes.count;
    int32_t *brackets = NULL;
    if (count < 2) return RBL_OK;
    sort_ring(ring);
    RBL_TRY_ALLOC(brackets = rbli_alloc(r->ctx, 2 * count, sizeof *brackets));
    memset(brackets, 0xff, 2 * count * sizeof *brackets);
    int32_t *surfaces = brackets + count;
    RBL_TRY(match_brackets(ring, -1, brackets));
    RBL_TRY(match_surfaces(ring, surfaces));
    bool apart = count_wraps(ring, surfaces) == count_wraps(ring, brackets);
    const int32_t *chosen = apart ? surfaces : brackets;
    for (int32_t i = 0; i < (int32_t)count; i++)
        if (chosen[i] > i) set_mates(ring, ring->spokes.data[i].half, ring->spokes.data[chosen[i]].half);
done:
    rbli_free(r->ctx, brackets);
    return status;
}

/* One edge */

static bool is_bordered(const edge_ring *ring, int32_t h)
{
    return ring->has_border[ring->patch[h / 3]];
}

/// Pairs the half-edges of one node. Patches that end somewhere (sheets, flaps) come after those that do not,
/// where these are balanced among themselves.
static rbl_status pair_in_node(edge_ring *ring, size_t e, int node)
{
    repair *r = ring->r;
    int32_t begin = r->edges.start[e], end = r->edges.start[e + 1], last = -1, first = -1;
    int count = 0, inner = 0, net = 0;
    for (int32_t i = begin; i < end; i++) {
        int32_t h = r->edges.half[i];
        if (node_of(r, h) != node) continue;
        count++;
        first = last;
        last = h;
        if (is_bordered(ring, h)) continue;
        inner++;
        net += half_direction(r, h);
    }
    if (count == 2) {
        set_mates(ring, first, last);
        return RBL_OK;
    }
    bool apart = inner > 0 && inner < count && net == 0;
    for (int bordered = 0; bordered < (apart ? 2 : 1); bordered++) {
        ring->spokes.count = 0;
        for (int32_t i = begin; i < end; i++) {
            int32_t h = r->edges.half[i];
            if (node_of(r, h) != node || (apart && is_bordered(ring, h) != (bordered == 1))) continue;
            if (add_spoke(ring, h) != RBL_OK) return RBL_ERR_NO_MEMORY;
        }
        if (match_ring(ring) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    return RBL_OK;
}

static rbl_status pair_edge(edge_ring *ring, size_t e)
{
    repair *r = ring->r;
    int32_t begin = r->edges.start[e], end = r->edges.start[e + 1];
    if (end - begin < 2) return RBL_OK;
    bool several = false;
    for (int32_t i = begin; i < end; i++) {
        int node = node_of(r, r->edges.half[i]);
        bool seen = false;
        for (int32_t j = begin; j < i && !seen; j++)
            seen = node_of(r, r->edges.half[j]) == node;
        if (i > begin && !seen) several = true;
        if (!seen && pair_in_node(ring, e, node) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    if (!several) return RBL_OK;
    ring->spokes.count = 0;
    for (int32_t i = begin; i < end; i++)
        if (r->mate[r->edges.half[i]] < 0 && add_spoke(ring, r->edges.half[i]) != RBL_OK)
            return RBL_ERR_NO_MEMORY;
    return match_ring(ring);
}

static void free_ring(edge_ring *ring)
{
    rbl_context *ctx = ring->r->ctx;
    rbli_free(ctx, ring->spokes.data);
    rbli_free(ctx, ring->stack.data);
    rbli_free(ctx, ring->patch);
    rbli_free(ctx, ring->has_border);
    rbli_free(ctx, ring->surface);
}

rbl_status repair_pair(repair *r)
{
    rbl_status status = RBL_OK;
    edge_ring ring = {.r = r};
    size_t half_count = 3 * r->triangles.count;
    if (r->edges.start && r->edges.clean) repair_forget_edges(r);
    RBL_TRY(repair_match_edges(r));
    if (r->edges.clean) goto done;
    RBL_TRY_ALLOC(r->mate = rbli_alloc(r->ctx, half_count, sizeof *r->mate));
    memset(r->mate, 0xff, half_count * sizeof *r->mate);
    RBL_TRY(build_patches(&ring));
    RBL_TRY_ALLOC(ring.surface = rbli_alloc(r->ctx, r->triangles.count, sizeof *ring.surface));
    memcpy(ring.surface, ring.patch, r->triangles.count * sizeof *ring.surface);
    for (size_t e = 0; e < r->edges.count; e++) {
        RBL_TRY(rbli_poll(r->ctx, e));
        RBL_TRY(pair_edge(&ring, e));
    }
done:
    free_ring(&ring);
    return status;
}

/* Inner walls */

typedef struct wall_ballot {
    int32_t *borders, *votes; /* [triangles] of a patch's root */
    int32_t *best;            /* [edges] the lowest candidate at an edge */
} wall_ballot;

/// A triangle more on one side: each one of that side that lies in the solid wedge of the others could be a
/// wall.
static void vote_at_ring(edge_ring *ring, wall_ballot *ballot)
{
    spoke *spokes = ring->spokes.data;
    size_t count = ring->spokes.count;
    int net = 0;
    for (size_t i = 0; i < count; i++)
        net += spokes[i].forward ? 1 : -1;
    if (net != 1 && net != -1) return;
    sort_ring(ring);
    if (spokes[count - 1].flat) return;
    for (size_t i = 0; i < count; i++) {
        if (spokes[i].forward != (net > 0)) continue;
        int32_t patch = ring->patch[spokes[i].half / 3];
        int level = 0, least = 0, here = 0, same = 0;
        for (size_t j = 0; j < count; j++) {
            same += ring->patch[spokes[j].half / 3] == patch;
            if (j == i) {
                here = level;
            } else {
                level += spokes[j].forward ? -1 : 1;
            }
            if (level < least) least = level;
        }
        if (same == 1 && here > least) ballot->votes[patch]++;
    }
}

static rbl_status hold_ballot(edge_ring *ring, wall_ballot *ballot)
{
    repair *r = ring->r;
    for (size_t e = 0; e < r->edges.count; e++) {
        if (rbli_poll(r->ctx, e) != RBL_OK) return RBL_ERR_CANCELLED;
        int32_t begin = r->edges.start[e], end = r->edges.start[e + 1];
        if (end - begin < 3) continue;
        int node = node_of(r, r->edges.half[begin]);
        ring->spokes.count = 0;
        for (int32_t i = begin; i < end; i++) {
            int32_t h = r->edges.half[i];
            ballot->borders[ring->patch[h / 3]]++;
            if (node_of(r, h) == node && add_spoke(ring, h) != RBL_OK) return RBL_ERR_NO_MEMORY;
        }
        if (ring->spokes.count == (size_t)(end - begin)) vote_at_ring(ring, ballot);
    }
    return RBL_OK;
}

static bool is_candidate(const edge_ring *ring, const wall_ballot *ballot, int32_t patch)
{
    return !ring->has_border[patch] && ballot->votes[patch] > 0 &&
           ballot->votes[patch] == ballot->borders[patch];
}

/// Marks the candidates that are the lowest at all of their edges; the others wait for the next round.
static rbl_status elect(edge_ring *ring, wall_ballot *ballot, uint8_t *dead, size_t *dropped)
{
    rbl_status status = RBL_OK;
    repair *r = ring->r;
    size_t half_count = 3 * r->triangles.count;
    *dropped = 0;
    for (size_t e = 0; e < r->edges.count; e++) {
        RBL_TRY(rbli_poll(r->ctx, e));
        ballot->best[e] = INT32_MAX;
        for (int32_t i = r->edges.start[e]; i < r->edges.start[e + 1]; i++) {
            int32_t patch = ring->patch[r->edges.half[i] / 3];
            if (patch < ballot->best[e] && is_candidate(ring, ballot, patch)) ballot->best[e] = patch;
        }
    }
    for (size_t h = 0; h < half_count; h++) {
        RBL_TRY(rbli_poll(r->ctx, h));
        int32_t patch = ring->patch[h / 3];
        int32_t best = ballot->best[r->edges.of_half[h]];
        if (best < patch && is_candidate(ring, ballot, best)) ballot->votes[patch] = 0;
    }
    for (size_t t = 0; t < r->triangles.count; t++) {
        dead[t] = is_candidate(ring, ballot, ring->patch[t]);
        *dropped += dead[t];
    }
done:
    return status;
}

rbl_status repair_drop_membranes(repair *r)
{
    rbl_status status = RBL_OK;
    edge_ring ring = {.r = r};
    wall_ballot ballot = {0};
    uint8_t *dead = NULL;
    for (;;) {
        RBL_TRY(repair_build_edges(r));
        bool any = false;
        for (size_t e = 0; e < r->edges.count && !any; e++)
            any = (r->edges.start[e + 1] - r->edges.start[e]) % 2 == 1 &&
                  r->edges.start[e + 1] - r->edges.start[e] > 2;
        if (!any) break;
        RBL_TRY(build_patches(&ring));
        RBL_TRY_ALLOC(ballot.borders = rbli_calloc(r->ctx, r->triangles.count, sizeof(int32_t)));
        RBL_TRY_ALLOC(ballot.votes = rbli_calloc(r->ctx, r->triangles.count, sizeof(int32_t)));
        RBL_TRY_ALLOC(ballot.best = rbli_calloc(r->ctx, r->edges.count, sizeof(int32_t)));
        RBL_TRY_ALLOC(dead = rbli_alloc(r->ctx, r->triangles.count, 1));
        RBL_TRY(hold_ballot(&ring, &ballot));
        size_t dropped = 0;
        RBL_TRY(elect(&ring, &ballot, dead, &dropped));
        if (dropped == 0) break;
        r->out->membrane_triangles += dropped;
        repair_remove(r, dead);
        rbli_free(r->ctx, ballot.borders);
        rbli_free(r->ctx, ballot.votes);
        rbli_free(r->ctx, ballot.best);
        rbli_free(r->ctx, dead);
        ballot.borders = ballot.votes = ballot.best = NULL;
        dead = NULL;
    }
done:
    rbli_free(r->ctx, ballot.borders);
    rbli_free(r->ctx, ballot.votes);
    rbli_free(r->ctx, ballot.best);
    rbli_free(r->ctx, dead);
    free_ring(&ring);
    return status;
}
