/// Vertices of the complex that lie on vertices of the mesh (on the grid): they are written at the mesh
/// vertex's own source coordinates, so that the edge between the two has length zero exactly and can be
/// collapsed.

#include <stdatomic.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/cut_internal.h"

enum { POINT_GRAIN = 8192, NO_TWIN = -1 };

typedef struct twin_search {
    cut_state *state;
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

static bool is_at(const cut_state *s, int32_t point, const double p[3])
{
    return memcmp(s->points[point], p, sizeof(double[3])) == 0;
}

/// The slot that holds a point at this place or, empty, waits for one.
static int32_t *find_slot(const cut_state *s, const double p[3], size_t hash)
{
    const cut_point_table *table = &s->complex_points;
    size_t at = hash & table->mask;
    while (table->slots[at] >= 0 && !is_at(s, table->slots[at], p))
        at = (at + 1) & table->mask;
    return &table->slots[at];
}

/// −1 where there is none.
static int32_t find_point(const cut_state *s, const double p[3])
{
    const cut_point_table *table = &s->complex_points;
    size_t hash = hash_point(p), bit = hash & table->bit_mask;
    return table->bits[bit / 64] >> bit % 64 & 1 ? *find_slot(s, p, hash) : -1;
}

void cut_point_table_free(rbl_context *ctx, cut_point_table *table)
{
    rbli_free(ctx, table->slots);
    rbli_free(ctx, table->bits);
    *table = (cut_point_table){0};
}

rbl_status cut_list_points(rbl_context *ctx, cut_state *s)
{
    rbl_status status = RBL_OK;
    cut_point_table *table = &s->complex_points;
    size_t first = s->mesh_view->vertex_count, count = s->complex_view->vertex_count, capacity = 64;
    while (capacity < 2 * count)
        capacity *= 2;
    table->mask = capacity - 1;
    table->bit_mask = 8 * capacity - 1; /* most points that are looked for are not there */
    RBL_TRY_ALLOC(table->slots = rbli_alloc(ctx, capacity, sizeof *table->slots));
    RBL_TRY_ALLOC(table->bits = rbli_calloc(ctx, capacity / 8, sizeof *table->bits));
    memset(table->slots, 0xff, capacity * sizeof *table->slots);
    for (size_t k = 0; k < count; k++) {
        RBL_TRY(rbli_poll(ctx, k));
        const double *p = s->points[first + k];
        size_t hash = hash_point(p), bit = hash & table->bit_mask;
        *find_slot(s, p, hash) = (int32_t)(first + k);
        table->bits[bit / 64] |= (uint64_t)1 << bit % 64;
    }
done:
    return status;
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
            int32_t point = find_point(s, s->points[vertex]);
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
    size_t count = s->complex_view->vertex_count;
    twin_search t = {.state = s};
    RBL_TRY_ALLOC(t.twins = rbli_alloc(ctx, count, sizeof *t.twins));
    RBL_TRY_ALLOC(s->complex_sources = rbli_alloc(ctx, count, sizeof *s->complex_sources));
    RBL_TRY(cut_fill(ctx, (void *)t.twins, 0xff, count * sizeof *t.twins));
    RBL_TRY(rbli_parallel_for(ctx, s->cut_triangle_count, POINT_GRAIN, search_block, &t));
    RBL_TRY(rbli_parallel_for(ctx, count, POINT_GRAIN, source_block, &t));
done:
    rbli_free(ctx, (void *)t.twins);
    cut_point_table_free(ctx, &s->complex_points);
    return status;
}
