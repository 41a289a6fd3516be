/// Steps 1 and 2 of MESHES.md: triangles without area, triangles listed twice, triangles back to back.

#include "fracture/geometry/repair_internal.h"

static const int32_t *corners(const repair *r, size_t t)
{
    return r->triangles.data[t].v;
}

static bool same_vertices(const repair_triangle *a, const repair_triangle *b)
{
    if (a->node != b->node) return false;
    int matches = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            matches += a->v[i] == b->v[j];
    return matches == 3;
}

static bool same_turn(const repair_triangle *a, const repair_triangle *b)
{
    int shift = b->v[0] == a->v[0] ? 0 : b->v[1] == a->v[0] ? 1 : 2;
    return b->v[(shift + 1) % 3] == a->v[1];
}

static int32_t node_of_half(const repair *r, int32_t h)
{
    return r->triangles.data[h / 3].node;
}

/// Half-edges of the group of `h` in the same node, weighed: all of them, or those of triangles with mark[t]
/// == value.
static int count_in_group(const repair *r, int32_t h, const uint8_t *mark, uint8_t value, int *net)
{
    int32_t e = r->edges.of_half[h];
    int count = 0;
    *net = 0;
    for (int32_t i = r->edges.start[e]; i < r->edges.start[e + 1]; i++) {
        int32_t g = r->edges.half[i];
        if (node_of_half(r, g) != node_of_half(r, h)) continue;
        if (mark && mark[g / 3] != value) continue;
        count++;
        *net += half_direction(r, g);
    }
    return count;
}

rbl_status repair_drop_zero_area(repair *r)
{
    rbl_status status = RBL_OK;
    uint8_t *dead = NULL;
    size_t dropped = 0;
    RBL_TRY(repair_build_edges(r));
    RBL_TRY_ALLOC(dead = rbli_calloc(r->ctx, r->triangles.count, 1));
    for (size_t t = 0; t < r->triangles.count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        const int32_t *v = corners(r, t);
        if (!rbli_grid_collinear(r->grid[v[0]], r->grid[v[1]], r->grid[v[2]])) continue;
        bool opens = false;
        for (int k = 0; k < 3; k++) {
            int net;
            if (count_in_group(r, (int32_t)(3 * t) + k, dead, 0, &net) % 2 == 0) opens = true;
        }
        if (opens) continue;
        dead[t] = 1;
        dropped++;
    }
    if (dropped) repair_remove(r, dead);
    r->out->dropped_zero_area += dropped;
done:
    rbli_free(r->ctx, dead);
    return status;
}

/* Same orientation twice */

/// Marks all but the first of each set of equal triangles; triangles are sorted, so equal ones are
/// neighbours.
static rbl_status mark_extras(const repair *r, uint8_t *extra, size_t *found)
{
    *found = 0;
    for (size_t t = 0; t < r->triangles.count; t++) {
        if (rbli_poll(r->ctx, t) != RBL_OK) return RBL_ERR_CANCELLED;
        for (size_t u = t; u-- > 0 && same_vertices(&r->triangles.data[u], &r->triangles.data[t]);)
            if (same_turn(&r->triangles.data[u], &r->triangles.data[t])) {
                extra[t] = 1;
                ++*found;
                break;
            }
    }
    return RBL_OK;
}

/// Joins extras that share an edge in one node.
static rbl_status join_extras(repair *r, const uint8_t *extra, int32_t *patch)
{
    for (size_t e = 0; e < r->edges.count; e++) {
        if (rbli_poll(r->ctx, e) != RBL_OK) return RBL_ERR_CANCELLED;
        for (int32_t i = r->edges.start[e]; i < r->edges.start[e + 1]; i++) {
            int32_t h = r->edges.half[i];
            if (!extra[h / 3]) continue;
            for (int32_t j = r->edges.start[e]; j < i; j++) {
                int32_t g = r->edges.half[j];
                if (extra[g / 3] && node_of_half(r, g) == node_of_half(r, h)) unite(patch, g / 3, h / 3);
            }
        }
    }
    return RBL_OK;
}

static int magnitude(int value)
{
    return value < 0 ? -value : value;
}

/// A patch of extras goes if that does not leave more unbalanced edges: coincident faces of two solids stay.
static rbl_status drop_extras(repair *r)
{
    rbl_status status = RBL_OK;
    size_t count = r->triangles.count;
    uint8_t *extra = NULL;
    int32_t *patch = NULL, *gain = NULL;
    RBL_TRY_ALLOC(extra = rbli_calloc(r->ctx, count, 1));
    size_t found = 0;
    RBL_TRY(mark_extras(r, extra, &found));
    if (found == 0) goto done;
    RBL_TRY(repair_build_edges(r));
    RBL_TRY_ALLOC(patch = repair_make_sets(r->ctx, count));
    RBL_TRY_ALLOC(gain = rbli_calloc(r->ctx, count, sizeof *gain));
    RBL_TRY(join_extras(r, extra, patch));
    for (int32_t h = 0; h < (int32_t)(3 * count); h++) {
        RBL_TRY(rbli_poll(r->ctx, (size_t)h));
        if (!extra[h / 3]) continue;
        int all_net, extra_net;
        count_in_group(r, h, NULL, 0, &all_net);
        int sharers = count_in_group(r, h, extra, 1, &extra_net);
        /* Each of the patch's half-edges at an edge adds the same: 5040 divides by all likely numbers of
         * them. */
        int change = magnitude(all_net - extra_net) - magnitude(all_net);
        gain[find_root(patch, h / 3)] += change * 5040 / (sharers > 0 && sharers < 8 ? sharers : 1);
    }
    size_t dropped = 0;
    for (size_t t = 0; t < count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        extra[t] = extra[t] && gain[find_root(patch, (int32_t)t)] <= 0;
        dropped += extra[t];
    }
    if (dropped) repair_remove(r, extra);
    r->out->dropped_duplicates += dropped;
done:
    rbli_free(r->ctx, extra);
    rbli_free(r->ctx, patch);
    rbli_free(r->ctx, gain);
    return status;
}

/* Back to back */

/// A pair of opposite triangles: `t` is the lower one, `partner[t]` the other, and the reverse.
typedef struct back_to_back {
    int32_t *partner; /* [triangles] −1: none */
    uint8_t *paired;  /* [triangles] */
    int32_t *side; /* [triangles] of the lower one: its triangle on the flooded side; −1: not reached yet */
    int32_t *complex; /* [triangles] pairs joined over any edge, as sets */
    uint8_t *alone;   /* [triangles] of a complex's root: it touches nothing that is not back to back */
    RBLI_ARRAY(int32_t) patch; /* lower triangles of the patch at hand */
} back_to_back;

typedef struct patch_border {
    int edges, open, attached, vote;
    bool orientable;
} patch_border;

static rbl_status find_opposites(const repair *r, back_to_back *pairs, size_t *found)
{
    size_t groups = 0;
    *found = 0;
    const repair_triangle *triangles = r->triangles.data;
    for (size_t t = 0, end; t < r->triangles.count; t = end) {
        if (rbli_poll(r->ctx, groups++) != RBL_OK) return RBL_ERR_CANCELLED;
        for (end = t + 1; end < r->triangles.count && same_vertices(&triangles[t], &triangles[end]); end++) {
        }
        if (end - t != 2 || same_turn(&triangles[t], &triangles[t + 1])) continue;
        pairs->partner[t] = (int32_t)t + 1;
        pairs->partner[t + 1] = (int32_t)t;
        pairs->paired[t] = pairs->paired[t + 1] = 1;
        ++*found;
    }
    return RBL_OK;
}

static int32_t lower_of(const back_to_back *pairs, int32_t t)
{
    return pairs->partner[t] < t ? pairs->partner[t] : t;
}

static rbl_status flood_across(repair *r, back_to_back *pairs, int32_t h, patch_border *border)
{
    int32_t e = r->edges.of_half[h];
    for (int32_t i = r->edges.start[e]; i < r->edges.start[e + 1]; i++) {
        int32_t g = r->edges.half[i];
        if (node_of_half(r, g) != node_of_half(r, h) || !pairs->paired[g / 3]) continue;
        int32_t lower = lower_of(pairs, g / 3);
        if (lower == lower_of(pairs, h / 3) || half_direction(r, g) == half_direction(r, h)) continue;
        if (pairs->side[lower] < 0) {
            pairs->side[lower] = g / 3;
            return rbli_array_push(r->ctx, &pairs->patch, lower);
        }
        if (pairs->side[lower] != g / 3) border->orientable = false;
    }
    return RBL_OK;
}

static void count_border(
    const repair *r, const back_to_back *pairs, int32_t h, int sides, patch_border *border)
{
    int net, rest = count_in_group(r, h, pairs->paired, 0, &net);
    border->edges++;
    if (rest % 2 == 1) {
        border->open++;
        border->vote += half_direction(r, h) * net < 0 ? 1 : -1;
    } else if (rest > 0) {
        border->attached++;
    } else if (sides > 2 && pairs->alone[find_root(pairs->complex, h / 3)]) {
        border
            ->open++; /* everything has two sides, and several patches meet here: each stands for a surface */
    } else if (sides > 2) {
        border->attached++; /* walls meet here */
    }
}

/// Grows the patch from its first triangle over edges where two pairs meet.
static rbl_status flood_patch(repair *r, back_to_back *pairs, patch_border *border)
{
    for (size_t i = 0; i < pairs->patch.count; i++) {
        if (rbli_poll(r->ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        int32_t lower = pairs->patch.data[i];
        for (int k = 0; k < 3; k++) {
            int32_t h = 3 * pairs->side[lower] + k;
            int net, sides = count_in_group(r, h, pairs->paired, 1, &net);
            if (sides == 4) {
                if (flood_across(r, pairs, h, border) != RBL_OK) return RBL_ERR_NO_MEMORY;
            } else {
                count_border(r, pairs, h, sides, border);
            }
        }
    }
    return RBL_OK;
}

static double patch_volume(const repair *r, const back_to_back *pairs)
{
    const double *o = r->grid[corners(r, (size_t)pairs->patch.data[0])[0]];
    double volume = 0;
    for (size_t i = 0; i < pairs->patch.count; i++) {
        const int32_t *v = corners(r, (size_t)pairs->side[pairs->patch.data[i]]);
        double d[3][3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                d[c][k] = r->grid[v[c]][k] - o[k];
        volume += d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) +
                  d[0][1] * (d[1][2] * d[2][0] - d[1][0] * d[2][2]) +
                  d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
    }
    return volume;
}

static rbl_status take_fin(repair *r, int32_t t, int32_t u, uint8_t *dead)
{
    dead[t] = dead[u] = 1;
    if (rbli_array_push(r->ctx, &r->fins, r->triangles.data[t]) != RBL_OK) return RBL_ERR_NO_MEMORY;
    return rbli_array_push(r->ctx, &r->fins, r->triangles.data[u]);
}

static rbl_status settle_patch(repair *r, back_to_back *pairs, const patch_border *border, uint8_t *dead)
{
    bool closed = border->edges == 0;
    if (border->orientable && (closed || 2 * border->open > border->edges)) {
        bool other = border->vote < 0 || (border->vote == 0 && patch_volume(r, pairs) < 0);
        for (size_t i = 0; i < pairs->patch.count; i++) {
            int32_t side = pairs->side[pairs->patch.data[i]];
            dead[other ? side : pairs->partner[side]] = 1;
            r->out->dropped_opposite++;
        }
        return RBL_OK;
    }
    if (2 * border->attached > border->edges)
        return RBL_OK; /* a wall between touching solids, until shells tell */
    for (size_t i = 0; i < pairs->patch.count; i++) {
        int32_t t = pairs->patch.data[i];
        if (take_fin(r, t, pairs->partner[t], dead) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    return RBL_OK;
}

/// Finds which pairs hang together, and whether they touch anything else.
static rbl_status find_complexes(repair *r, back_to_back *pairs)
{
    rbl_status status = RBL_OK;
    size_t half_count = 3 * r->triangles.count;
    RBL_TRY_ALLOC(pairs->complex = repair_make_sets(r->ctx, r->triangles.count));
    RBL_TRY_ALLOC(pairs->alone = rbli_alloc(r->ctx, r->triangles.count, 1));
    memset(pairs->alone, 1, r->triangles.count);
    for (int32_t h = 0; h < (int32_t)half_count; h++) {
        RBL_TRY(rbli_poll(r->ctx, (size_t)h));
        int32_t e = r->edges.of_half[h];
        for (int32_t i = r->edges.start[e]; pairs->paired[h / 3] && i < r->edges.start[e + 1]; i++) {
            int32_t g = r->edges.half[i];
            if (pairs->paired[g / 3] && node_of_half(r, g) == node_of_half(r, h))
                unite(pairs->complex, h / 3, g / 3);
        }
    }
    for (int32_t h = 0; h < (int32_t)half_count; h++) {
        RBL_TRY(rbli_poll(r->ctx, (size_t)h));
        int net;
        if (pairs->paired[h / 3] && count_in_group(r, h, pairs->paired, 0, &net) > 0)
            pairs->alone[find_root(pairs->complex, h / 3)] = 0;
    }
done:
    return status;
}

static rbl_status settle_opposites(repair *r)
{
    rbl_status status = RBL_OK;
    size_t count = r->triangles.count;
    back_to_back pairs = {0};
    uint8_t *dead = NULL;
    RBL_TRY_ALLOC(pairs.partner = rbli_alloc(r->ctx, count, sizeof(int32_t)));
    memset(pairs.partner, 0xff, count * sizeof(int32_t));
    RBL_TRY_ALLOC(pairs.paired = rbli_calloc(r->ctx, count, 1));
    size_t found = 0;
    RBL_TRY(find_opposites(r, &pairs, &found));
    if (found == 0) goto done;
    RBL_TRY(repair_build_edges(r));
    RBL_TRY_ALLOC(pairs.side = rbli_alloc(r->ctx, count, sizeof(int32_t)));
    memset(pairs.side, 0xff, count * sizeof(int32_t));
    RBL_TRY_ALLOC(dead = rbli_calloc(r->ctx, count, 1));
    RBL_TRY(find_complexes(r, &pairs));
    for (int32_t t = 0; t < (int32_t)count; t++) {
        RBL_TRY(rbli_poll(r->ctx, (size_t)t));
        if (pairs.partner[t] <= t || pairs.side[t] >= 0) continue;
        patch_border border = {.orientable = true};
        pairs.patch.count = 0;
        pairs.side[t] = t;
        RBL_TRY(rbli_array_push(r->ctx, &pairs.patch, t));
        RBL_TRY(flood_patch(r, &pairs, &border));
        RBL_TRY(settle_patch(r, &pairs, &border, dead));
    }
    repair_remove(r, dead);
done:
    rbli_free(r->ctx, pairs.partner);
    rbli_free(r->ctx, pairs.paired);
    rbli_free(r->ctx, pairs.side);
    rbli_free(r->ctx, pairs.complex);
    rbli_free(r->ctx, pairs.alone);
    rbli_free(r->ctx, pairs.patch.data);
    rbli_free(r->ctx, dead);
    return status;
}

rbl_status repair_drop_duplicates(repair *r)
{
    rbl_status status = drop_extras(r);
    return status == RBL_OK ? settle_opposites(r) : status;
}

rbl_status repair_take_fins(repair *r, bool *changed)
{
    rbl_status status = RBL_OK;
    uint8_t *dead = NULL;
    *changed = false;
    RBL_TRY_ALLOC(dead = rbli_calloc(r->ctx, r->triangles.count, 1));
    for (size_t t = 0; t + 1 < r->triangles.count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        const repair_triangle *a = &r->triangles.data[t], *b = a + 1;
        if (dead[t] || !same_vertices(a, b) || same_turn(a, b) || r->shell_of[t] != r->shell_of[t + 1])
            continue;
        RBL_TRY(take_fin(r, (int32_t)t, (int32_t)t + 1, dead));
        *changed = true;
    }
    if (*changed) repair_remove(r, dead);
done:
    rbli_free(r->ctx, dead);
    return status;
}
