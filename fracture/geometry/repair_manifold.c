/// Step 8 of MESHES.md: vertices are split by umbrella, and an edge that would still occur twice gets a
/// middle point.

#include "fracture/geometry/repair_internal.h"

/// True when every vertex has one closed umbrella.
static rbl_status has_single_umbrellas(repair *r, bool *single)
{
    rbl_status status = RBL_OK;
    int32_t *first = NULL, *count = NULL;
    *single = true;
    RBL_TRY_ALLOC(count = rbli_calloc(r->ctx, r->positions.count, sizeof *count));
    RBL_TRY_ALLOC(first = rbli_alloc(r->ctx, r->positions.count, sizeof *first));
    for (size_t t = 0; t < r->triangles.count && *single; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        for (size_t k = 0; k < 3; k++) {
            int32_t v = r->triangles.data[t].v[k];
            first[v] = (int32_t)(3 * t + k);
            count[v]++;
            *single &= r->mate[3 * t + k] >= 0;
        }
    }
    for (size_t v = 0; v < r->positions.count && *single; v++) {
        RBL_TRY(rbli_poll(r->ctx, v));
        if (count[v] == 0) continue;
        int32_t h = first[v], seen = 0;
        do {
            h = r->mate[half_previous(h)];
            seen++;
        } while (h != first[v] && seen <= count[v] && half_tail(r, h) == (int32_t)v);
        *single = seen == count[v] && h == first[v];
    }
done:
    rbli_free(r->ctx, count);
    rbli_free(r->ctx, first);
    return status;
}

rbl_status repair_find_umbrellas(repair *r, int32_t **out, bool *single)
{
    rbl_status status = has_single_umbrellas(r, single);
    *out = NULL;
    if (status != RBL_OK || *single) return status;
    int32_t half_count = (int32_t)(3 * r->triangles.count);
    int32_t *umbrella = repair_make_sets(r->ctx, (size_t)half_count);
    RBL_TRY_ALLOC(umbrella);
    for (int32_t h = 0; h < half_count; h++) {
        RBL_TRY(rbli_poll(r->ctx, (size_t)h));
        int32_t g = r->mate[h];
        if (g < h) continue;
        bool opposite = half_tail(r, h) == half_tip(r, g);
        unite(umbrella, h, opposite ? half_next(g) : g);
        unite(umbrella, half_next(h), opposite ? g : half_next(g));
    }
    for (int32_t h = 0; h < half_count; h++) {
        RBL_TRY(rbli_poll(r->ctx, (size_t)h));
        umbrella[h] = find_root(umbrella, h);
    }
    *out = umbrella;
    umbrella = NULL;
done:
    rbli_free(r->ctx, umbrella);
    return status;
}

/// Splits the triangle of h at the new vertex `middle`, which lies at `place` between tail and tip of h.
static rbl_status split_triangle(repair *r, int32_t h, int32_t middle, double place)
{
    repair_triangle old = r->triangles.data[h / 3];
    int tail = h % 3, tip = (tail + 1) % 3, apex = (tail + 2) % 3;
    double rows[3][3] = {{0}};
    rows[0][tail] = 1;
    rows[1][tail] = 1 - place;
    rows[1][tip] = place;
    rows[2][apex] = 1;
    const int32_t first[3] = {old.v[tail], middle, old.v[apex]};
    if (repair_append_part(r, &old, first, (const double(*)[3])rows) != RBL_OK) return RBL_ERR_NO_MEMORY;
    memcpy(rows[0], rows[1], sizeof rows[0]);
    memset(rows[1], 0, sizeof rows[1]);
    rows[1][tip] = 1;
    const int32_t second[3] = {middle, old.v[tip], old.v[apex]};
    return repair_append_part(r, &old, second, (const double(*)[3])rows);
}

/// Splits edge h and its mate at `place` from the lower to the upper vertex.
static rbl_status split_edge(repair *r, int32_t h, double place, uint8_t *dead)
{
    int32_t g = r->mate[h], a = half_tail(r, h), b = half_tip(r, h);
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    if (rbli_array_reserve(r->ctx, &r->positions, 1) != RBL_OK) return RBL_ERR_NO_MEMORY;
    int32_t middle = (int32_t)r->positions.count;
    double *p = r->positions.data[r->positions.count++];
    for (int k = 0; k < 3; k++)
        p[k] = r->positions.data[low][k] * (1 - place) + r->positions.data[high][k] * place;
    if (split_triangle(r, h, middle, a < b ? place : 1 - place) != RBL_OK) return RBL_ERR_NO_MEMORY;
    if (split_triangle(r, g, middle, half_tail(r, g) == low ? place : 1 - place) != RBL_OK)
        return RBL_ERR_NO_MEMORY;
    dead[h / 3] = dead[g / 3] = 1;
    r->out->split_edges_manifold++;
    return RBL_OK;
}

/// The corners at the lower and the upper end of h, as umbrellas (as vertices where each has one).
static void ends_of(const repair *r, const int32_t *umbrella, int32_t h, int32_t ends[2])
{
    bool rises = half_direction(r, h) > 0;
    int32_t low = rises ? h : half_next(h), high = rises ? half_next(h) : h;
    ends[0] = umbrella ? umbrella[low] : half_tail(r, low);
    ends[1] = umbrella ? umbrella[high] : half_tail(r, high);
}

static rbl_status split_in_group(repair *r, const int32_t *umbrella, size_t e, uint8_t *dead, bool *changed)
{
    int32_t begin = r->edges.start[e], end = r->edges.start[e + 1];
    for (int32_t i = begin + 1; i < end; i++) {
        int32_t h = r->edges.half[i], ends[2];
        if (r->mate[h] < h || dead[h / 3] || dead[r->mate[h] / 3]) continue;
        ends_of(r, umbrella, h, ends);
        int twins = 0;
        for (int32_t j = begin; j < i; j++) {
            int32_t g = r->edges.half[j], other[2];
            if (r->mate[g] < g) continue;
            ends_of(r, umbrella, g, other);
            twins += ends[0] == other[0] && ends[1] == other[1];
        }
        if (twins == 0) continue;
        if (split_edge(r, h, twins == 1 ? 0.5 : 1.0 / (twins + 1), dead) != RBL_OK) return RBL_ERR_NO_MEMORY;
        *changed = true;
    }
    return RBL_OK;
}

rbl_status repair_split_double_edges(repair *r, bool *changed)
{
    rbl_status status = RBL_OK;
    int32_t *umbrella = NULL;
    uint8_t *dead = NULL;
    bool single = true;
    size_t count = r->triangles.count;
    *changed = false;
    RBL_TRY(repair_match_edges(r));
    if (r->edges.clean) goto done;
    RBL_TRY(repair_find_umbrellas(r, &umbrella, &single));
    RBL_TRY_ALLOC(dead = rbli_calloc(r->ctx, count, 1));
    for (size_t e = 0; e < r->edges.count; e++) {
        RBL_TRY(rbli_poll(r->ctx, e));
        if (r->edges.start[e + 1] - r->edges.start[e] > 2)
            RBL_TRY(split_in_group(r, umbrella, e, dead, changed));
    }
    if (!*changed) goto done;
    size_t kept = 0;
    for (size_t t = 0; t < r->triangles.count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        if (t >= count || !dead[t]) r->triangles.data[kept++] = r->triangles.data[t];
    }
    r->triangles.count = kept;
done:
    rbli_free(r->ctx, umbrella);
    rbli_free(r->ctx, dead);
    return status;
}
