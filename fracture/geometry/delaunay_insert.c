/// Bowyer–Watson with exact predicates.

#include "fracture/geometry/delaunay_insert.h"

static int find(const int32_t list[4], int32_t value)
{
    return (list[1] == value) + 2 * (list[2] == value) + 3 * (list[3] == value); /* no branches to foresee */
}

bool rbli_inserter_owns(const rbli_inserter *in, const int32_t v[4])
{
    bool owns = true;
    for (int k = 0; k < 4 && !in->alone; k++)
        owns &= in->t->region[v[k]] == in->region || in->t->region[v[k]] == RBLI_EVERY_REGION;
    return owns;
}

/// The corner of a tetrahedron's neighbour across face `f` that both do not share.
static int32_t apex_across(const rbli_tetrahedron *tet, int f, const rbli_tetrahedron *neighbour)
{
    const int32_t *v = tet->v, *w = neighbour->v;
    return v[0] ^ v[1] ^ v[2] ^ v[3] ^ v[f] ^ w[0] ^ w[1] ^ w[2] ^ w[3];
}

/// Whether the region of an inserter, which owns `tet`, owns its neighbour across face `f`.
static bool owns_across(const rbli_inserter *in, const rbli_tetrahedron *tet, int f)
{
    if (in->alone) return true;
    uint8_t region = in->t->region[apex_across(tet, f, &in->t->tets[tet->n[f]])];
    return region == in->region || region == RBLI_EVERY_REGION;
}

void *rbli_at_cache_line(void *memory)
{
    return (char *)memory + (RBLI_CACHE_LINE - (uintptr_t)memory % RBLI_CACHE_LINE) % RBLI_CACHE_LINE;
}

rbl_status rbli_triangulation_reserve(rbl_context *ctx, rbli_triangulation *t, size_t extra)
{
    if (extra <= t->capacity - t->count) return RBL_OK;
    size_t capacity = t->count + extra > 2 * t->capacity ? t->count + extra : 2 * t->capacity;
    void *memory = rbli_alloc(ctx, capacity + RBLI_CACHE_LINE / sizeof *t->tets, sizeof *t->tets);
    uint32_t *stamp = rbli_realloc(ctx, t->stamp, capacity, sizeof *stamp);
    if (stamp) t->stamp = stamp;
    if (!memory || !stamp) {
        rbli_free(ctx, memory);
        return RBL_ERR_NO_MEMORY;
    }
    rbli_tetrahedron *tets = rbli_at_cache_line(memory);
    if (t->count) memcpy(tets, t->tets, t->count * sizeof *tets);
    rbli_free(ctx, t->memory);
    t->memory = memory;
    t->tets = tets;
    t->capacity = capacity;
    return RBL_OK;
}

/// Sets `count` tetrahedra of the range free, or as many as it has. Their inserter's thread does it not long before it
/// uses them, so that they are in its cache.
static void clear_range(rbli_inserter *in, size_t count)
{
    for (; count > 0 && in->clear < in->end; count--, in->clear++) {
        in->t->tets[in->clear].v[0] = -1;
        in->t->stamp[in->clear] = 0;
    }
}

rbl_status rbli_inserter_take(rbli_inserter *in, size_t count)
{
    rbli_triangulation *t = in->t;
    rbli_inserter_finish(in);
    if (rbli_array_reserve(in->ctx, &in->free_list, in->end - in->next) != RBL_OK) return RBL_ERR_NO_MEMORY;
    while (in->next < in->end)
        in->free_list.data[in->free_list.count++] = (int32_t)in->next++;
    if (rbli_triangulation_reserve(in->ctx, t, count) != RBL_OK) return RBL_ERR_NO_MEMORY;
    in->next = in->clear = t->count;
    in->end = t->count += count;
    return RBL_OK;
}

void rbli_inserter_finish(rbli_inserter *in)
{
    clear_range(in, in->end - in->clear);
}

rbl_status rbli_inserter_start(rbli_inserter *in, int32_t first)
{
    rbli_triangulation *t = in->t;
    rbl_status status = rbli_inserter_take(in, 8);
    if (status != RBL_OK) return status;
    rbli_inserter_finish(in);
    for (int octant = 0; octant < 8; octant++) {
        int x = octant & 1, y = octant >> 1 & 1, z = octant >> 2;
        int flip = (x + y + z) % 2; /* orientation alternates */
        rbli_tetrahedron *tet = &t->tets[octant];
        int axis[3] = {0, flip ? 2 : 1, flip ? 1 : 2};
        for (int k = 0; k < 3; k++) {
            tet->v[k] = 2 * axis[k] + (octant >> axis[k] & 1);
            tet->n[k] = octant ^ (1 << axis[k]);
        }
        tet->v[3] = first;
        tet->n[3] = -1;
        if (rbli_orient3d(t->points[tet->v[0]].x, t->points[tet->v[1]].x, t->points[tet->v[2]].x,
                t->points[first].x) < 0) {
            int32_t v = tet->v[0], n = tet->n[0];
            tet->v[0] = tet->v[1];
            tet->n[0] = tet->n[1];
            tet->v[1] = v;
            tet->n[1] = n;
        }
    }
    in->next = 8;
    in->last = 0;
    return RBL_OK;
}

/// Visibility walk to the tetrahedron that contains `p`; it ends because Delaunay triangulations are acyclic.
/// `last` becomes its end. −1 where it cannot go on inside the region: `last` stays, since a walk may end in a part of
/// the region that no other is reached from.
static int32_t locate(rbli_inserter *in, const double p[3])
{
    const rbli_triangulation *t = in->t;
    int32_t current = in->last, from = -1;
    for (;;) {
        const rbli_tetrahedron *tet = &t->tets[current];
        int32_t next = -1;
        bool outside = false;
        for (int f = 0; f < 4 && next < 0; f++) {
            if (tet->n[f] < 0 || tet->n[f] == from) continue;
            const double *corner[4] = {t->points[tet->v[0]].x, t->points[tet->v[1]].x, t->points[tet->v[2]].x,
                t->points[tet->v[3]].x};
            corner[f] = p;
            if (rbli_orient3d(corner[0], corner[1], corner[2], corner[3]) >= 0) continue;
            if (owns_across(in, tet, f))
                next = tet->n[f];
            else
                outside = true;
        }
        if (next < 0 && outside) return -1;
        if (next < 0) return in->last = current;
        from = current;
        current = next;
    }
}

/// Whether the spheres around tetrahedra contain a point, for up to four of them: none waits for the branches that
/// follow from another.
static void find_conflicts(
    const rbli_triangulation *t, const int32_t *tets, int count, const rbli_ranked_point *p, bool *conflict)
{
    for (int i = 0; i < count; i += 2) {
        const rbli_ranked_point *corners[2][4];
        int signs[2], other = i + 1 < count ? i + 1 : i;
        for (int k = 0; k < 4; k++) {
            corners[0][k] = &t->points[t->tets[tets[i]].v[k]];
            corners[1][k] = &t->points[t->tets[tets[other]].v[k]];
        }
        rbli_insphere_twice((const rbli_ranked_point *const(*)[4])corners, p, signs);
        conflict[other] = signs[1] > 0;
        conflict[i] = signs[0] > 0;
    }
}

/// Has the neighbours of a tetrahedron fetched, which are looked at some steps later.
static void fetch_neighbours(const rbli_triangulation *t, int32_t tet)
{
    for (int f = 0; f < 4; f++) {
        int32_t neighbour = t->tets[tet].n[f];
        if (neighbour < 0) continue;
        __builtin_prefetch(&t->tets[neighbour]);
        __builtin_prefetch(&t->stamp[neighbour]);
    }
}

/// Collects the tetrahedra whose spheres contain `p` and the faces around them. `*inside` is false, and the lists
/// are not whole, where the region does not own one of them.
static rbl_status find_cavity(rbli_inserter *in, int32_t first, const rbli_ranked_point *p, bool *inside)
{
    rbli_triangulation *t = in->t;
    uint32_t conflict = in->clock += 2;
    in->conflict.count = in->border.count = 0;
    *inside = true;
    if (rbli_array_push(in->ctx, &in->conflict, first) != RBL_OK) return RBL_ERR_NO_MEMORY;
    t->stamp[first] = conflict;
    for (size_t i = 0; i < in->conflict.count; i++) {
        int32_t current = in->conflict.data[i], tested[4];
        const rbli_tetrahedron *tet = &t->tets[current];
        int faces[4], count = 0;
        bool own[4], in_conflict[4];
        if (rbli_array_reserve(in->ctx, &in->border, 4) != RBL_OK ||
            rbli_array_reserve(in->ctx, &in->conflict, 4) != RBL_OK)
            return RBL_ERR_NO_MEMORY;
        for (int f = 0; f < 4; f++) {
            int32_t neighbour = tet->n[f];
            bool owned = neighbour < 0 || owns_across(in, tet, f);
            uint32_t stamp = neighbour >= 0 && owned ? t->stamp[neighbour] : 0;
            if (stamp == conflict) continue;
            if (neighbour < 0 || stamp == conflict + 1) {
                in->border.data[in->border.count++] = 4 * (int64_t)current + f;
                continue;
            }
            tested[count] = neighbour;
            own[count] = owned;
            faces[count++] = f;
        }
        find_conflicts(t, tested, count, p, in_conflict);
        for (int j = 0; j < count; j++) {
            if (in_conflict[j] && !own[j]) {
                *inside = false;
                return RBL_OK;
            }
            if (own[j]) t->stamp[tested[j]] = conflict + !in_conflict[j];
            if (in_conflict[j]) {
                in->conflict.data[in->conflict.count++] = tested[j];
                fetch_neighbours(t, tested[j]);
            } else {
                in->border.data[in->border.count++] = 4 * (int64_t)current + faces[j];
            }
        }
    }
    return RBL_OK;
}

/// One new tetrahedron for each border face: a copy of the old one with the opposite vertex replaced, so that
/// slots keep their meaning. The old one's link across the face becomes −2 − (new one).
static void make_star(rbli_inserter *in, int32_t p)
{
    rbli_tetrahedron *tets = in->t->tets;
    for (size_t i = 0; i < in->border.count; i++) {
        int32_t old = (int32_t)(in->border.data[i] / 4), f = (int32_t)(in->border.data[i] % 4);
        int32_t made = in->free_list.count ? in->free_list.data[--in->free_list.count] : (int32_t)in->next++;
        rbli_tetrahedron *from = &tets[old], *to = &tets[made];
        int32_t outer = from->n[f];
        *to = (rbli_tetrahedron){{from->v[0], from->v[1], from->v[2], from->v[3]}, {-1, -1, -1, -1}};
        to->v[f] = p;
        to->n[f] = outer;
        /* The link back is found by the corner: other inserters may write the others. */
        if (outer >= 0) tets[outer].n[find(tets[outer].v, apex_across(from, f, &tets[outer]))] = made;
        from->n[f] = -2 - made;
        in->last = made;
    }
}

/// The corners of a star's outer faces, by numbers of their own, and the new tetrahedra at their directed edges.
enum { STAR_CORNERS = 32, STAR_SLOTS = 128 };
typedef struct rbli_star {
    struct {
        uint32_t clock; /* of the insertion that uses the slot */
        int32_t corner, number;
    } slots[STAR_SLOTS];
    int32_t count;
    int32_t at[STAR_CORNERS][STAR_CORNERS];
} rbli_star;

/// The number of a corner, or −1 if there are too many.
static int32_t number_of(rbli_star *star, uint32_t clock, int32_t corner)
{
    size_t slot = (uint32_t)corner * 0x9e3779b1u >> 25;
    for (;; slot = (slot + 1) % STAR_SLOTS) {
        if (star->slots[slot].clock == clock) {
            if (star->slots[slot].corner == corner) return star->slots[slot].number;
            continue;
        }
        if (star->count == STAR_CORNERS) return -1;
        star->slots[slot].clock = clock;
        star->slots[slot].corner = corner;
        return star->slots[slot].number = star->count++;
    }
}

/// The corners of face f, counter-clockwise seen from outside.
static const uint8_t face_corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

/// Links new tetrahedra with each other: two meet at each edge of the star's outside, which they run along in both
/// directions (as in Marot, Pellerin and Remacle 2019, One machine, one minute, three billion tetrahedra).
/// @return false, nothing done, if the star has too many corners
static bool link_small_star(rbli_inserter *in)
{
    enum { MOST_FACES = 2 * STAR_CORNERS };
    rbli_tetrahedron *tets = in->t->tets;
    rbli_star *star = in->star;
    uint8_t numbers[MOST_FACES][3];
    if (in->border.count > MOST_FACES) return false;
    star->count = 0;
    for (size_t i = 0; i < in->border.count; i++) {
        int32_t old = (int32_t)(in->border.data[i] / 4), f = (int32_t)(in->border.data[i] % 4);
        for (int c = 0; c < 3; c++) {
            int32_t number = number_of(star, in->clock, tets[old].v[face_corners[f][c]]);
            if (number < 0) return false;
            numbers[i][c] = (uint8_t)number;
        }
        int32_t made = -2 - tets[old].n[f];
        for (int c = 0; c < 3; c++)
            star->at[numbers[i][(c + 1) % 3]][numbers[i][(c + 2) % 3]] = made;
    }
    for (size_t i = 0; i < in->border.count; i++) {
        int32_t old = (int32_t)(in->border.data[i] / 4), f = (int32_t)(in->border.data[i] % 4);
        rbli_tetrahedron *tet = &tets[-2 - tets[old].n[f]];
        for (int c = 0; c < 3; c++)
            tet->n[face_corners[f][c]] = star->at[numbers[i][(c + 2) % 3]][numbers[i][(c + 1) % 3]];
    }
    return true;
}

/// The same for a star of any size: from each border face rotates about each of its edges through the cavity.
static void link_large_star(rbli_inserter *in)
{
    rbli_tetrahedron *tets = in->t->tets;
    for (size_t i = 0; i < in->border.count; i++) {
        int32_t old = (int32_t)(in->border.data[i] / 4), f = (int32_t)(in->border.data[i] % 4);
        int32_t made = -2 - tets[old].n[f];
        for (int k = 0; k < 4; k++) {
            if (k == f || tets[made].n[k] >= 0) continue;
            int32_t current = old;
            int cross = k, third = f;
            while (tets[current].n[cross] >= 0) {
                int32_t next = tets[current].n[cross], y = tets[current].v[third];
                third = find(tets[next].n, current);
                cross = find(tets[next].v, y);
                current = next;
            }
            int32_t other = -2 - tets[current].n[cross];
            tets[made].n[k] = other;
            tets[other].n[third] = made;
        }
    }
}

/// Sees to it that `count` tetrahedra are free; `*enough` is false if they are not and the inserter is not alone.
static rbl_status reserve(rbli_inserter *in, size_t count, bool *enough)
{
    enum { CHUNK = 512 };
    rbl_status status = RBL_OK;
    *enough = in->free_list.count + (in->end - in->next) >= count;
    if (!*enough && in->alone) {
        status = rbli_inserter_take(in, count > CHUNK ? count : CHUNK);
        *enough = status == RBL_OK;
    }
    if (in->free_list.count + (in->clear - in->next) < count) clear_range(in, count > CHUNK ? count : CHUNK);
    return status;
}

rbl_status rbli_insert_point(rbli_inserter *in, int32_t p, bool *inserted)
{
    const rbli_ranked_point *point = &in->t->points[p];
    bool inside = false, enough = false;
    int32_t first = locate(in, point->x);
    *inserted = false;
    if (first < 0) return RBL_OK;
    rbl_status status = find_cavity(in, first, point, &inside);
    if (status != RBL_OK || !inside) return status;
    status = reserve(in, in->border.count, &enough);
    if (status != RBL_OK || !enough) return status;
    if (rbli_array_reserve(in->ctx, &in->free_list, in->conflict.count) != RBL_OK) return RBL_ERR_NO_MEMORY;
    if (!in->star && !(in->star = rbli_calloc(in->ctx, 1, sizeof *in->star))) return RBL_ERR_NO_MEMORY;
    make_star(in, p);
    if (!link_small_star(in)) link_large_star(in);
    for (size_t i = 0; i < in->conflict.count; i++) {
        in->free_list.data[in->free_list.count++] = in->conflict.data[i];
        in->t->tets[in->conflict.data[i]].v[0] = -1;
    }
    *inserted = true;
    return RBL_OK;
}

void rbli_inserter_free(rbl_context *ctx, rbli_inserter *in)
{
    rbli_free(ctx, in->free_list.data);
    rbli_free(ctx, in->conflict.data);
    rbli_free(ctx, in->border.data);
    rbli_free(ctx, in->star);
}

void rbli_triangulation_free(rbl_context *ctx, rbli_triangulation *t)
{
    rbli_free(ctx, t->memory);
    rbli_free(ctx, t->stamp);
    rbli_free(ctx, t->region);
}
