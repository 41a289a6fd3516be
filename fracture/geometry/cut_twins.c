/// Vertices of the complex that lie on vertices of the mesh (on the grid): they are written at the mesh
/// vertex's own source coordinates, so that the edge between the two has length zero exactly and can be
/// collapsed.

#include <stdatomic.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/cut_internal.h"

enum { POINT_GRAIN = 8192, NO_TWIN = -1 };

/// All threads fill the table at once, with open addressing: where a point lies depends on who came first, what is
/// found does not.
typedef struct twin_search {
    cut_state *state;
    _Atomic(int32_t) *slots; /* complex point, the last of equal ones, or −1 */
    size_t mask;
    _Atomic(uint32_t)
        *twins; /* [complex vertices] the first mesh vertex at the same grid point, or NO_TWIN */
} twin_search;

/// Coordinates are whole numbers below 2^53 in size, so sums of their multiples tell points apart well enough.
static size_t hash_point(const double p[3])
{
    uint64_t x = (uint64_t)(int64_t)p[0] * 0x9e3779b97f4a7c15u +
                 (uint64_t)(int64_t)p[1] * 0xc2b2ae3d27d4eb4fu +
                 (uint64_t)(int64_t)p[2] * 0x165667b19e3779f9u;
    return (size_t)((x ^ x >> 32) * 0x9e3779b97f4a7c15u >> 24);
}

static bool is_at(const twin_search *t, int32_t point, const double p[3])
{
    return memcmp(t->state->points[point], p, sizeof(double[3])) == 0;
}

static void insert_point(const twin_search *t, int32_t point)
{
    const double *p = t->state->points[point];
    for (size_t at = hash_point(p) & t->mask;; at = (at + 1) & t->mask) {
        int32_t there = -1;
        if (atomic_compare_exchange_strong_explicit(
                &t->slots[at], &there, point, memory_order_relaxed, memory_order_relaxed))
            return;
        if (!is_at(t, there, p)) continue;
        while (there < point && !atomic_compare_exchange_weak_explicit(&t->slots[at], &there, point,
                                    memory_order_relaxed, memory_order_relaxed)) {
        }
        return;
    }
}

/// −1 where there is none.
static int32_t find_point(const twin_search *t, const double p[3])
{
    for (size_t at = hash_point(p) & t->mask;; at = (at + 1) & t->mask) {
        int32_t there = atomic_load_explicit(&t->slots[at], memory_order_relaxed);
        if (there < 0 || is_at(t, there, p)) return there;
    }
}

static rbl_status insert_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const twin_search *t = user;
    for (size_t k = begin; k < end; k++)
        insert_point(t, (int32_t)(t->state->mesh_view->vertex_count + k));
    return RBL_OK;
}

/// A vertex of the complex that the output shows beside a mesh vertex has facets that cut its triangles.
static rbl_status search_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const twin_search *t = user;
    const cut_state *s = t->state;
    for (size_t i = begin; i < end; i++)
        for (int corner = 0; corner < 3; corner++) {
            int32_t vertex = s->mesh_view->triangles[s->cut_triangles[i].triangle][corner];
            int32_t point = find_point(t, s->points[vertex]);
            if (point < 0) continue;
            _Atomic(uint32_t) *twin = &t->twins[(size_t)point - s->mesh_view->vertex_count];
            uint32_t first = atomic_load_explicit(twin, memory_order_relaxed);
            while ((uint32_t)vertex < first &&
                   !atomic_compare_exchange_weak_explicit(
                       twin, &first, (uint32_t)vertex, memory_order_relaxed, memory_order_relaxed)) {
            }
        }
    return RBL_OK;
}

static rbl_status source_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const twin_search *t = user;
    cut_state *s = t->state;
    for (size_t k = begin; k < end; k++) {
        uint32_t twin = atomic_load_explicit(&t->twins[k], memory_order_relaxed);
        if (twin != (uint32_t)NO_TWIN)
            memcpy(s->complex_sources[k], s->mesh_view->positions[twin], sizeof *s->complex_sources);
        else
            rbli_grid_unsnap(&s->grid, s->points[s->mesh_view->vertex_count + k], s->complex_sources[k]);
    }
    return RBL_OK;
}

rbl_status cut_find_twins(rbl_context *ctx, cut_state *s)
{
    rbl_status status = RBL_OK;
    size_t count = s->complex_view->vertex_count, capacity = 16;
    while (capacity < 4 * count) /* most points that are looked for are not there */
        capacity *= 2;
    twin_search t = {.state = s, .mask = capacity - 1};
    RBL_TRY_ALLOC(t.twins = rbli_alloc(ctx, count, sizeof *t.twins));
    RBL_TRY_ALLOC(s->complex_sources = rbli_alloc(ctx, count, sizeof *s->complex_sources));
    RBL_TRY_ALLOC(t.slots = rbli_alloc(ctx, capacity, sizeof *t.slots));
    RBL_TRY(cut_fill(ctx, (void *)t.slots, 0xff, capacity * sizeof *t.slots));
    RBL_TRY(cut_fill(ctx, (void *)t.twins, 0xff, count * sizeof *t.twins));
    RBL_TRY(rbli_parallel_for(ctx, count, POINT_GRAIN, insert_block, &t));
    RBL_TRY(rbli_parallel_for(ctx, s->cut_triangle_count, POINT_GRAIN, search_block, &t));
    RBL_TRY(rbli_parallel_for(ctx, count, POINT_GRAIN, source_block, &t));
done:
    rbli_free(ctx, (void *)t.twins);
    rbli_free(ctx, (void *)t.slots);
    return status;
}
