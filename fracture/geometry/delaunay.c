/// Bowyer–Watson with exact predicates. Points are copied in order of insertion, so that neighbours in space
/// lie close in memory; the cavity is linked by rotating about its edges, with no search structure.

#include "fracture/geometry/delaunay.h"

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"

enum { POLL = 1 << 15 }; /* tetrahedra between looks at the request to cancel */

typedef struct triangulator {
    rbl_context *ctx;
    rbli_ranked_point *points; /* six ghosts, then the sites in order of insertion */
    RBLI_ARRAY(rbli_tetrahedron) tets;
    uint32_t *stamp; /* [tets.capacity] 2i: in conflict with insertion i, 2i + 1: tested and not */
    size_t stamp_capacity;
    RBLI_ARRAY(int32_t) free_list;
    RBLI_ARRAY(int32_t) conflict;
    RBLI_ARRAY(int64_t) border; /* 4 · tetrahedron + face, seen from inside the cavity */
    int32_t last;
    uint32_t clock;
} triangulator;

static int find(const int32_t list[4], int32_t value)
{
    return list[0] == value ? 0 : list[1] == value ? 1 : list[2] == value ? 2 : 3;
}

/// Room for `extra` more tetrahedra, with stamps.
static rbl_status reserve(triangulator *t, size_t extra)
{
    if (rbli_array_reserve(t->ctx, &t->tets, extra) != RBL_OK) return RBL_ERR_NO_MEMORY;
    if (t->stamp_capacity >= t->tets.capacity) return RBL_OK;
    uint32_t *stamp = rbli_realloc(t->ctx, t->stamp, t->tets.capacity, sizeof *stamp);
    if (!stamp) return RBL_ERR_NO_MEMORY;
    memset(stamp + t->stamp_capacity, 0, (t->tets.capacity - t->stamp_capacity) * sizeof *stamp);
    t->stamp = stamp;
    t->stamp_capacity = t->tets.capacity;
    return RBL_OK;
}

/// The eight tetrahedra of the first site with the faces of the octahedron.
static rbl_status start(triangulator *t)
{
    rbl_status status = reserve(t, 64);
    if (status != RBL_OK) return status;
    for (int octant = 0; octant < 8; octant++) {
        int x = octant & 1, y = octant >> 1 & 1, z = octant >> 2;
        int flip = (x + y + z) % 2; /* orientation alternates */
        rbli_tetrahedron *tet = &t->tets.data[octant];
        int axis[3] = {0, flip ? 2 : 1, flip ? 1 : 2};
        for (int k = 0; k < 3; k++) {
            tet->v[k] = 2 * axis[k] + (octant >> axis[k] & 1);
            tet->n[k] = octant ^ (1 << axis[k]);
        }
        tet->v[3] = 6;
        tet->n[3] = -1;
        if (rbli_orient3d(
                t->points[tet->v[0]].x, t->points[tet->v[1]].x, t->points[tet->v[2]].x, t->points[6].x) < 0) {
            int32_t v = tet->v[0], n = tet->n[0];
            tet->v[0] = tet->v[1];
            tet->n[0] = tet->n[1];
            tet->v[1] = v;
            tet->n[1] = n;
        }
    }
    t->tets.count = 8;
    t->last = 0;
    return RBL_OK;
}

/// Visibility walk to the tetrahedron that contains `p`; it ends because Delaunay triangulations are acyclic.
static int32_t locate(const triangulator *t, const double p[3])
{
    int32_t current = t->last, from = -1;
    for (;;) {
        const rbli_tetrahedron *tet = &t->tets.data[current];
        int32_t next = -1;
        for (int f = 0; f < 4 && next < 0; f++) {
            if (tet->n[f] < 0 || tet->n[f] == from) continue;
            const double *corner[4] = {t->points[tet->v[0]].x, t->points[tet->v[1]].x, t->points[tet->v[2]].x,
                t->points[tet->v[3]].x};
            corner[f] = p;
            if (rbli_orient3d(corner[0], corner[1], corner[2], corner[3]) < 0) next = tet->n[f];
        }
        if (next < 0) return current;
        from = current;
        current = next;
    }
}

static bool in_conflict(const triangulator *t, int32_t tet, const rbli_ranked_point *p)
{
    const int32_t *v = t->tets.data[tet].v;
    const rbli_ranked_point *q = t->points;
    return rbli_insphere(&q[v[0]], &q[v[1]], &q[v[2]], &q[v[3]], p) > 0;
}

/// Collects the tetrahedra whose spheres contain `p` and the faces around them.
static rbl_status find_cavity(triangulator *t, int32_t first, const rbli_ranked_point *p)
{
    uint32_t inside = t->clock += 2;
    t->conflict.count = t->border.count = 0;
    if (rbli_array_push(t->ctx, &t->conflict, first) != RBL_OK) return RBL_ERR_NO_MEMORY;
    t->stamp[first] = inside;
    for (size_t i = 0; i < t->conflict.count; i++) {
        int32_t current = t->conflict.data[i];
        const rbli_tetrahedron *tet = &t->tets.data[current];
        for (int f = 0; f < 4; f++) {
            int32_t neighbour = tet->n[f];
            if (neighbour >= 0) {
                uint32_t stamp = t->stamp[neighbour];
                if (stamp == inside) continue;
                if (stamp != inside + 1 && in_conflict(t, neighbour, p)) {
                    t->stamp[neighbour] = inside;
                    if (rbli_array_push(t->ctx, &t->conflict, neighbour) != RBL_OK) return RBL_ERR_NO_MEMORY;
                    continue;
                }
                t->stamp[neighbour] = inside + 1;
            }
            if (rbli_array_push(t->ctx, &t->border, 4 * (int64_t)current + f) != RBL_OK)
                return RBL_ERR_NO_MEMORY;
        }
    }
    return RBL_OK;
}

/// One new tetrahedron for each border face: a copy of the old one with the opposite vertex replaced, so that
/// slots keep their meaning. The old one's link across the face becomes −2 − (new one).
static rbl_status make_star(triangulator *t, int32_t p)
{
    size_t border_count = t->border.count;
    rbl_status status = reserve(t, border_count);
    if (status != RBL_OK) return status;
    for (size_t i = 0; i < border_count; i++) {
        int32_t old = (int32_t)(t->border.data[i] / 4), f = (int32_t)(t->border.data[i] % 4);
        int32_t made =
            t->free_list.count ? t->free_list.data[--t->free_list.count] : (int32_t)t->tets.count++;
        rbli_tetrahedron *from = &t->tets.data[old], *to = &t->tets.data[made];
        int32_t outer = from->n[f];
        *to = (rbli_tetrahedron){{from->v[0], from->v[1], from->v[2], from->v[3]}, {-1, -1, -1, -1}};
        to->v[f] = p;
        to->n[f] = outer;
        if (outer >= 0) t->tets.data[outer].n[find(t->tets.data[outer].n, old)] = made;
        from->n[f] = -2 - made;
        t->last = made;
    }
    return RBL_OK;
}

/// Links new tetrahedra with each other: from each border face rotates about each of its edges through the
/// cavity.
static void link_star(triangulator *t)
{
    rbli_tetrahedron *tets = t->tets.data;
    for (size_t i = 0; i < t->border.count; i++) {
        int32_t old = (int32_t)(t->border.data[i] / 4), f = (int32_t)(t->border.data[i] % 4);
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

static rbl_status insert(triangulator *t, int32_t p)
{
    const rbli_ranked_point *point = &t->points[p];
    rbl_status status = find_cavity(t, locate(t, point->x), point);
    if (status == RBL_OK) status = make_star(t, p);
    if (status != RBL_OK) return status;
    link_star(t);
    if (rbli_array_reserve(t->ctx, &t->free_list, t->conflict.count) != RBL_OK) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < t->conflict.count; i++) {
        t->free_list.data[t->free_list.count++] = t->conflict.data[i];
        t->tets.data[t->conflict.data[i]].v[0] = -1;
    }
    return RBL_OK;
}

/* Order of insertion */

typedef struct keyed_point {
    uint64_t key;
    int32_t point;
} keyed_point;

/// Position along a Hilbert curve, 19 bits an axis (Skilling 2004, Programming the Hilbert curve).
static uint64_t hilbert_key(const double p[3], double half_extent)
{
    enum { BITS = 19 };
    uint32_t x[3];
    for (int k = 0; k < 3; k++)
        x[k] = (uint32_t)((p[k] + half_extent) / (2 * half_extent) * ((1 << BITS) - 1));
    for (uint32_t q = 1u << (BITS - 1); q > 1; q >>= 1) {
        uint32_t low = q - 1;
        for (int k = 0; k < 3; k++) {
            if (x[k] & q) {
                x[0] ^= low;
            } else {
                uint32_t swap = (x[0] ^ x[k]) & low;
                x[0] ^= swap;
                x[k] ^= swap;
            }
        }
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    uint32_t fix = 0;
    for (uint32_t q = 1u << (BITS - 1); q > 1; q >>= 1)
        if (x[2] & q) fix ^= q - 1;
    uint64_t key = 0;
    for (int bit = BITS - 1; bit >= 0; bit--)
        for (int k = 0; k < 3; k++)
            key = key << 1 | ((x[k] ^ fix) >> bit & 1);
    return key;
}

/// The round of a point: half of all in the last, a quarter in the one before, …
static uint64_t round_of(uint64_t index, int round_count)
{
    uint64_t z = index + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    int level = z ? __builtin_ctzll(z) : 63;
    return level >= round_count ? 0 : (uint64_t)(round_count - level);
}

typedef struct key_job {
    const double (*points)[3];
    double half_extent;
    int round_count;
    keyed_point *keys;
} key_job;

static rbl_status key_range(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const key_job *job = user;
    for (size_t i = begin; i < end; i++)
        job->keys[i] = (keyed_point){
            round_of(i, job->round_count) << 57 | hilbert_key(job->points[i], job->half_extent), (int32_t)i};
    return RBL_OK;
}

static rbl_status insertion_order(
    rbl_context *ctx, const double (*points)[3], size_t count, double half_extent, keyed_point **out)
{
    keyed_point *a = rbli_alloc(ctx, count, sizeof *a), *b = rbli_alloc(ctx, count, sizeof *b);
    if (!a || !b) {
        rbli_free(ctx, a);
        rbli_free(ctx, b);
        return RBL_ERR_NO_MEMORY;
    }
    int round_count = 0;
    while (count >> round_count > 64)
        round_count++;
    key_job job = {points, half_extent, round_count, a};
    rbl_status status = rbli_parallel_for(ctx, count, 1024, key_range, &job);
    if (status != RBL_OK) {
        rbli_free(ctx, a);
        rbli_free(ctx, b);
        return status;
    }
    for (int shift = 0; shift < 64; shift += 8) { /* stable radix sort */
        if (rbli_cancelled(ctx)) {
            rbli_free(ctx, a);
            rbli_free(ctx, b);
            return RBL_ERR_CANCELLED;
        }
        size_t start_of[257] = {0};
        for (size_t i = 0; i < count; i++)
            start_of[(a[i].key >> shift & 255) + 1]++;
        for (int i = 0; i < 256; i++)
            start_of[i + 1] += start_of[i];
        for (size_t i = 0; i < count; i++)
            b[start_of[a[i].key >> shift & 255]++] = a[i];
        keyed_point *t = a;
        a = b;
        b = t;
    }
    rbli_free(ctx, b);
    *out = a;
    return RBL_OK;
}

static void set_ghosts(double distance, double ghosts[6][3])
{
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++)
            ghosts[i][k] = k == i / 2 ? (i % 2 ? distance : -distance) : 0;
}

static int32_t last_corner(const int32_t v[4])
{
    int32_t a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
    return a > b ? a : b;
}

/// Sorts the live tetrahedra by their last inserted corner, so that neighbours in space are neighbours in
/// memory, and names points as the caller does.
static rbl_status compact(triangulator *t, const int32_t *name, rbli_delaunay *out)
{
    rbl_status status = RBL_OK;
    rbli_tetrahedron *sorted = NULL;
    size_t live = 0, *start = rbli_calloc(t->ctx, out->point_count + 8, sizeof *start);
    RBL_TRY_ALLOC(start);
    for (size_t i = 0; i < t->tets.count; i++) {
        const int32_t *v = t->tets.data[i].v;
        if (i % POLL == 0 && rbli_cancelled(t->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (v[0] < 0) continue;
        start[last_corner(v) + 1]++;
        live++;
    }
    for (size_t i = 0; i < out->point_count + 6; i++)
        start[i + 1] += start[i];
    RBL_TRY_ALLOC(sorted = rbli_alloc(t->ctx, live, sizeof *sorted));
    RBL_TRY(rbli_cancelled(t->ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    for (size_t i = 0; i < t->tets.count; i++)
        if (t->tets.data[i].v[0] >= 0) t->stamp[i] = (uint32_t)start[last_corner(t->tets.data[i].v)]++;
    for (size_t i = 0; i < t->tets.count; i++) {
        rbli_tetrahedron tet = t->tets.data[i];
        if (i % POLL == 0 && rbli_cancelled(t->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (tet.v[0] < 0) continue;
        for (int k = 0; k < 4; k++) {
            tet.v[k] = tet.v[k] < 6 ? (int32_t)out->point_count + tet.v[k] : name[tet.v[k] - 6];
            if (tet.n[k] >= 0) tet.n[k] = (int32_t)t->stamp[tet.n[k]];
        }
        sorted[t->stamp[i]] = tet;
    }
    out->tetrahedra = sorted;
    out->tetrahedron_count = live;
    sorted = NULL;
done:
    rbli_free(t->ctx, sorted);
    rbli_free(t->ctx, start);
    return status;
}

rbl_status rbli_delaunay_create(rbl_context *ctx, const double (*points)[3], size_t point_count,
    const int32_t *rank, double ghost_distance, const int32_t *order, rbli_delaunay **out)
{
    rbl_status status = RBL_OK;
    triangulator t = {.ctx = ctx};
    keyed_point *keys = NULL;
    int32_t *name = NULL;
    rbli_delaunay *result = NULL;
    if (point_count > 100000000) return rbli_fail(ctx, RBL_ERR_LIMIT, "more than 100,000,000 points");
    RBL_TRY_ALLOC(result = rbli_calloc(ctx, 1, sizeof *result));
    RBL_TRY_ALLOC(name = rbli_alloc(ctx, point_count, sizeof *name));
    RBL_TRY_ALLOC(t.points = rbli_alloc(ctx, point_count + 6, sizeof *t.points));
    result->point_count = point_count;
    set_ghosts(ghost_distance, result->ghosts);
    if (!order) RBL_TRY(insertion_order(ctx, points, point_count, ghost_distance / 5, &keys));
    for (size_t i = 0; i < point_count + 6; i++) {
        const double *x =
            i < 6 ? result->ghosts[i] : points[name[i - 6] = order ? order[i - 6] : keys[i - 6].point];
        t.points[i] =
            (rbli_ranked_point){{x[0], x[1], x[2]}, i < 6 ? (int64_t)(point_count + i) : rank[name[i - 6]]};
    }
    rbli_free(ctx, keys);
    keys = NULL;
    RBL_TRY(reserve(&t, 7 * point_count + 64));
    RBL_TRY(start(&t));
    for (size_t i = 1; i < point_count; i++) {
        RBL_TRY(insert(&t, (int32_t)(i + 6)));
        if (i % 1024 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (t.clock > UINT32_MAX - 4) { /* stamps start anew */
            memset(t.stamp, 0, t.stamp_capacity * sizeof *t.stamp);
            t.clock = 0;
        }
    }
    RBL_TRY(compact(&t, name, result));
    *out = result;
    result = NULL;
done:
    rbli_delaunay_destroy(ctx, result);
    rbli_free(ctx, keys);
    rbli_free(ctx, name);
    rbli_free(ctx, t.points);
    rbli_free(ctx, t.tets.data);
    rbli_free(ctx, t.stamp);
    rbli_free(ctx, t.free_list.data);
    rbli_free(ctx, t.conflict.data);
    rbli_free(ctx, t.border.data);
    return status;
}

void rbli_delaunay_destroy(rbl_context *ctx, rbli_delaunay *delaunay)
{
    if (!delaunay) return;
    rbli_free(ctx, delaunay->tetrahedra);
    rbli_free(ctx, delaunay);
}
