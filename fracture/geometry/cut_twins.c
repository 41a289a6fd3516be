/// Vertices of the complex that lie on vertices of the mesh (on the grid): they are written at the mesh
/// vertex's own source coordinates, so that the edge between the two has length zero exactly and can be
/// collapsed.

#include <stdatomic.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/cut_internal.h"

enum { POINT_GRAIN = 8192, TRIANGLE_GRAIN = 4096, NO_TWIN = -1 };

/// A mesh vertex at a point where the complex seems to have one, too.
typedef struct candidate_list {
    RBLI_ARRAY(int32_t) vertices;
    char apart[CUT_APART_BYTES];
} candidate_list;

/// Of a grid point.
typedef struct twin_slot {
    int32_t vertex;        /* the first candidate there, or NO_TWIN: a free slot */
    _Atomic(int32_t) twin; /* the last vertex of the complex there, or NO_TWIN */
} twin_slot;

typedef struct twin_search {
    cut_state *state;
    candidate_list *blocks; /* of cut triangles */
    cut_bit_set places;     /* hashes of the candidates' points */
    twin_slot *slots;       /* [mask + 1] by points */
    size_t mask;
} twin_search;

/// Coordinates are whole numbers below 2^53 in size, so sums of their multiples tell points apart well enough.
static size_t hash_point(const double p[3])
{
    uint64_t x = (uint64_t)(int64_t)p[0] * 0x9e3779b97f4a7c15u +
                 (uint64_t)(int64_t)p[1] * 0xc2b2ae3d27d4eb4fu +
                 (uint64_t)(int64_t)p[2] * 0x165667b19e3779f9u;
    return (size_t)((x ^ x >> 32) * 0x9e3779b97f4a7c15u >> 24);
}

/* ---- sets of hashes: most points that are looked for are not there ---- */

static rbl_status make_bits(rbl_context *ctx, size_t count, cut_bit_set *set)
{
    enum { BITS_A_POINT = 16 };
    size_t bits = 1024;
    while (bits < BITS_A_POINT * count)
        bits *= 2;
    set->mask = bits - 1;
    set->words = rbli_calloc(ctx, bits / 64, sizeof *set->words);
    return set->words ? RBL_OK : RBL_ERR_NO_MEMORY;
}

static inline void add_bit(cut_bit_set *set, size_t hash)
{
    size_t bit = hash & set->mask;
    set->words[bit / 64] |= (uint64_t)1 << bit % 64;
}

static inline bool has_bit(const cut_bit_set *set, size_t hash)
{
    size_t bit = hash & set->mask;
    return set->words[bit / 64] >> bit % 64 & 1;
}

rbl_status cut_list_points(rbl_context *ctx, cut_state *s)
{
    rbl_status status = RBL_OK;
    size_t first = s->mesh_view->vertex_count, count = s->complex_view->vertex_count;
    RBL_TRY(make_bits(ctx, count, &s->complex_places));
    for (size_t k = 0; k < count; k++) {
        RBL_TRY(rbli_poll(ctx, k));
        add_bit(&s->complex_places, hash_point(s->points[first + k]));
    }
done:
    return status;
}

/* ---- candidates ---- */

/// A vertex of the complex that the output shows beside a mesh vertex has facets that cut its triangles.
static rbl_status search_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)worker;
    const twin_search *t = user;
    const cut_state *s = t->state;
    for (size_t i = begin; i < end; i++)
        for (int corner = 0; corner < 3; corner++) {
            int32_t vertex = s->mesh_view->triangles[s->cut_triangles[i].triangle][corner];
            if (has_bit(&s->complex_places, hash_point(s->points[vertex])) &&
                rbli_array_push(ctx, &t->blocks[block].vertices, vertex) != RBL_OK)
                return RBL_ERR_NO_MEMORY;
        }
    return RBL_OK;
}

/// The slot that holds a mesh vertex at this point or, empty, waits for one.
static twin_slot *find_slot(const twin_search *t, const double p[3], size_t hash)
{
    size_t at = hash & t->mask;
    while (t->slots[at].vertex != NO_TWIN &&
           memcmp(t->state->points[t->slots[at].vertex], p, sizeof(double[3])) != 0)
        at = (at + 1) & t->mask;
    return &t->slots[at];
}

static rbl_status list_candidates(rbl_context *ctx, twin_search *t, size_t block_count)
{
    rbl_status status = RBL_OK;
    size_t count = 0, capacity = 64;
    for (size_t b = 0; b < block_count; b++)
        count += t->blocks[b].vertices.count;
    while (capacity < 2 * count)
        capacity *= 2;
    t->mask = capacity - 1;
    RBL_TRY_ALLOC(t->slots = rbli_alloc(ctx, capacity, sizeof *t->slots));
    memset((void *)t->slots, 0xff, capacity * sizeof *t->slots);
    RBL_TRY(make_bits(ctx, count, &t->places));
    for (size_t b = 0; b < block_count; b++)
        for (size_t i = 0; i < t->blocks[b].vertices.count; i++) {
            int32_t vertex = t->blocks[b].vertices.data[i];
            size_t hash = hash_point(t->state->points[vertex]);
            twin_slot *slot = find_slot(t, t->state->points[vertex], hash);
            if (slot->vertex == NO_TWIN || vertex < slot->vertex) slot->vertex = vertex;
            add_bit(&t->places, hash);
        }
done:
    return status;
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
        const double *p = s->points[s->mesh_view->vertex_count + k];
        size_t hash = hash_point(p);
        rbli_grid_unsnap(&s->grid, p, s->complex_sources[k]);
        if (!has_bit(&t->places, hash)) continue;
        twin_slot *slot = find_slot(t, p, hash);
        int32_t last = atomic_load_explicit(&slot->twin, memory_order_relaxed);
        while (slot->vertex != NO_TWIN && last < (int32_t)k &&
               !atomic_compare_exchange_weak_explicit(
                   &slot->twin, &last, (int32_t)k, memory_order_relaxed, memory_order_relaxed)) {
        }
    }
    return RBL_OK;
}

/// Of several vertices of the complex at one point (the two sides of a gap below rounding) the last one is the twin.
static void move_twins(const twin_search *t)
{
    cut_state *s = t->state;
    for (size_t i = 0; i <= t->mask; i++) {
        int32_t k = atomic_load_explicit(&t->slots[i].twin, memory_order_relaxed);
        if (k != NO_TWIN)
            memcpy(s->complex_sources[k], s->mesh_view->positions[t->slots[i].vertex],
                sizeof *s->complex_sources);
    }
}

rbl_status cut_find_twins(rbl_context *ctx, cut_state *s)
{
    rbl_status status = RBL_OK;
    size_t count = s->complex_view->vertex_count,
           block_count = (s->cut_triangle_count + TRIANGLE_GRAIN - 1) / TRIANGLE_GRAIN;
    twin_search t = {.state = s};
    RBL_TRY_ALLOC(t.blocks = rbli_calloc(ctx, block_count, sizeof *t.blocks));
    RBL_TRY_ALLOC(s->complex_sources = rbli_alloc(ctx, count, sizeof *s->complex_sources));
    RBL_TRY(rbli_parallel_for(ctx, s->cut_triangle_count, TRIANGLE_GRAIN, search_block, &t));
    RBL_TRY(list_candidates(ctx, &t, block_count));
    RBL_TRY(rbli_parallel_for(ctx, count, POINT_GRAIN, source_block, &t));
    move_twins(&t);
done:
    for (size_t b = 0; t.blocks && b < block_count; b++)
        rbli_free(ctx, t.blocks[b].vertices.data);
    rbli_free(ctx, t.blocks);
    rbli_free(ctx, t.places.words);
    rbli_free(ctx, t.slots);
    rbli_free(ctx, s->complex_places.words);
    s->complex_places = (cut_bit_set){0};
    return status;
}
