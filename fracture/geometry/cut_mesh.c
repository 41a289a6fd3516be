/// The mesh side of the cut: grid points, pairing of half-edges, vertex normals.

#include "fracture/geometry/cut_internal.h"

#include <limits.h>

enum { POINT_GRAIN = 16384 };

void cut_projection_axes(const double normal[3], int32_t axes[2])
{
    static const int32_t of[2][3][2] = {{{1, 2}, {2, 0}, {0, 1}}, {{2, 1}, {0, 2}, {1, 0}}};
    double x = fabs(normal[0]), y = fabs(normal[1]), z = fabs(normal[2]);
    int axis = y > x;
    axis = z > cut_max(x, y) ? 2 : axis;
    memcpy(axes, of[normal[axis] < 0][axis], sizeof *of[0]);
}

/* ---- half-edges ---- */

/// Pairing by way of the half-edges that lead from a smaller index to a larger one, in buckets by their start.
typedef struct matching {
    cut_state *state;
    int32_t *start;  /* [vertex_count + 2] */
    uint64_t *leads; /* [lead_count] end << 32 | half-edge */
    size_t lead_count;
    _Atomic(int32_t) failed;
    double low[3], high[3];     /* of the mesh */
    double k_low[3], k_high[3]; /* of the complex */
} matching;

enum { MOST_LEADS = 1024 }; /* of a vertex: larger fans would cost their square */

/// Gives the half-edges that lead back their partners. Where an edge has two of one kind, the partner of one is
/// overwritten, so that another half-edge stays without one.
static rbl_status match_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    matching *m = user;
    int32_t *opposite = m->state->mesh.opposite;
    for (size_t t = begin; t < end; t++) {
        const int32_t *v = m->state->mesh_view->triangles[t];
        for (int i = 0; i < 3; i++) {
            int32_t from = v[i], to = v[i == 2 ? 0 : i + 1];
            if (from < to) continue;
            int32_t at = m->start[to], last = m->start[to + 1];
            bool large = last - at > MOST_LEADS;
            while (!large && at < last && (int32_t)(m->leads[at] >> 32) != from)
                at++;
            if (large || at == last) {
                atomic_store(&m->failed, 1);
                return RBL_OK;
            }
            int32_t half = (int32_t)(3 * t) + i, partner = (int32_t)(uint32_t)m->leads[at];
            opposite[half] = partner;
            __atomic_store_n(&opposite[partner], half, __ATOMIC_RELAXED);
        }
    }
    return RBL_OK;
}

/// Counts half-edges to larger vertices by their start; refuses indices out of range and repeated vertices.
static rbl_status count_half_edges(rbl_context *ctx, cut_state *state, int32_t *start)
{
    const rbli_mesh_view *mesh = state->mesh_view;
    int32_t *vertex_half = state->mesh.vertex_half;
    for (size_t v = 0; v < mesh->vertex_count; v++)
        vertex_half[v] = -1;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangles[t];
        if (rbli_poll(ctx, t) != RBL_OK) return RBL_ERR_CANCELLED;
        for (int i = 0; i < 3; i++) {
            int32_t a = v[i], b = v[i == 2 ? 0 : i + 1];
            if (a < 0 || (size_t)a >= mesh->vertex_count)
                return rbli_fail(
                    ctx, RBL_ERR_ARGUMENT, "triangle %zu names vertex %d of %zu", t, a, mesh->vertex_count);
            if (a == b) return rbli_fail(ctx, RBL_ERR_OPEN_MESH, "triangle %zu has vertex %d twice", t, a);
            if (vertex_half[a] < 0) vertex_half[a] = (int32_t)(3 * t) + i;
        }
        for (int i = 0; i < 3; i++) {
            int32_t a = v[i], b = v[i == 2 ? 0 : i + 1];
            if (a < b) start[a + 2]++;
        }
    }
    return RBL_OK;
}

/// Half-edges to larger vertices by their start.
static rbl_status bucket_leads(rbl_context *ctx, matching *m)
{
    rbl_status status = RBL_OK;
    const rbli_mesh_view *mesh = m->state->mesh_view;
    RBL_TRY_ALLOC(m->start = rbli_calloc(ctx, mesh->vertex_count + 2, sizeof *m->start));
    RBL_TRY(count_half_edges(ctx, m->state, m->start));
    for (size_t v = 0; v < mesh->vertex_count; v++)
        m->start[v + 2] += m->start[v + 1];
    m->lead_count = (size_t)m->start[mesh->vertex_count + 1];
    if (2 * m->lead_count != 3 * mesh->triangle_count) return RBL_OK;
    RBL_TRY_ALLOC(m->leads = rbli_alloc(ctx, m->lead_count, sizeof *m->leads));
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        RBL_TRY(rbli_poll(ctx, t));
        for (int i = 0; i < 3; i++) {
            int32_t from = mesh->triangles[t][i], to = mesh->triangles[t][i == 2 ? 0 : i + 1];
            if (from < to)
                m->leads[m->start[from + 1]++] = (uint64_t)to << 32 | (uint32_t)(3 * t + (size_t)i);
        }
    }
done:
    return status;
}

/// The box of the mesh's vertices in use.
static rbl_status find_mesh_box(rbl_context *ctx, matching *m)
{
    const rbli_mesh_view *mesh = m->state->mesh_view;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        if (rbli_poll(ctx, v) != RBL_OK) return RBL_ERR_CANCELLED;
        if (m->state->mesh.vertex_half[v] < 0) continue;
        const double *p = mesh->positions[v];
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "mesh vertex %zu is not finite", v);
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = cut_min(low[axis], p[axis]);
            high[axis] = cut_max(high[axis], p[axis]);
        }
    }
    memcpy(m->low, low, sizeof low);
    memcpy(m->high, high, sizeof high);
    return RBL_OK;
}

/// The box of the complex.
static rbl_status find_complex_box(rbl_context *ctx, matching *m)
{
    const rbli_cell_complex *complex = m->state->complex_view;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t v = 0; v < complex->vertex_count; v++) {
        if (rbli_poll(ctx, v) != RBL_OK) return RBL_ERR_CANCELLED;
        const double *p = complex->vertices[v];
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "complex vertex %zu is not finite", v);
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = cut_min(low[axis], p[axis]);
            high[axis] = cut_max(high[axis], p[axis]);
        }
    }
    memcpy(m->k_low, low, sizeof low);
    memcpy(m->k_high, high, sizeof high);
    return RBL_OK;
}

/// Two jobs that know nothing of each other, and take about as long.
static rbl_status topology_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    matching *m = user;
    rbl_status status = RBL_OK;
    for (size_t i = begin; i < end; i++) {
        if (i == 1) {
            RBL_TRY(cut_number_edges(ctx, m->state));
            continue;
        }
        RBL_TRY(bucket_leads(ctx, m));
        RBL_TRY(find_mesh_box(ctx, m));
        RBL_TRY(find_complex_box(ctx, m));
        RBL_TRY(cut_list_sides(ctx, m->state));
    }
done:
    return status;
}

/// The quick way of pairing. @param matched  false where an edge does not have one half-edge each way, or a fan is
/// too large
static rbl_status match_half_edges(rbl_context *ctx, matching *m, bool *matched)
{
    rbl_status status = RBL_OK;
    const rbli_mesh_view *mesh = m->state->mesh_view;
    int32_t *opposite = m->state->mesh.opposite, negative = 0;
    size_t half_count = 3 * mesh->triangle_count;
    *matched = false;
    if (2 * m->lead_count != half_count) return RBL_OK;
    RBL_TRY(cut_fill(ctx, opposite, 0xff, half_count * sizeof *opposite));
    RBL_TRY(rbli_parallel_for(ctx, mesh->triangle_count, 8192, match_block, m));
    for (size_t h = 0; h < half_count; h++)
        negative |= opposite[h];
    *matched = negative >= 0 && !atomic_load(&m->failed);
done:
    return status;
}

/// The slow way, which finds the first half-edge without a partner. A half-edge in the bucket of its edge's smaller
/// end: larger end, direction, number; sorts by these.
typedef uint64_t half_entry;

static half_entry make_entry(int32_t larger, bool backward, int32_t half)
{
    return (uint64_t)larger << 33 | (uint64_t)backward << 32 | (uint64_t)half;
}

typedef struct pairing {
    cut_state *state;
    const int32_t *start; /* [vertex_count + 1] entries by the smaller end */
    half_entry *entries;
    _Atomic(int32_t) first_open; /* lowest half-edge without a partner, INT32_MAX for none */
} pairing;

static void report_open(pairing *p, int32_t half)
{
    int32_t lowest = atomic_load(&p->first_open);
    while (half < lowest && !atomic_compare_exchange_weak(&p->first_open, &lowest, half)) {
    }
}

/// Shell sort: buckets are tiny, and a fan of thousands still goes well.
static void sort_entries(half_entry *entries, size_t count)
{
    static const size_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = count > 12 ? 0 : 7; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t i = gaps[g]; i < count; i++) {
            half_entry moving = entries[i];
            size_t j = i;
            for (; j >= gaps[g] && entries[j - gaps[g]] > moving; j -= gaps[g])
                entries[j] = entries[j - gaps[g]];
            entries[j] = moving;
        }
}

static rbl_status pair_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    pairing *p = user;
    int32_t *opposite = p->state->mesh.opposite;
    for (size_t v = begin; v < end; v++) {
        half_entry *entries = p->entries + p->start[v];
        size_t count = (size_t)(p->start[v + 1] - p->start[v]);
        sort_entries(entries, count);
        for (size_t i = 0; i < count;) {
            size_t j = i + 1;
            while (j < count && entries[j] >> 33 == entries[i] >> 33)
                j++;
            if (j - i == 2 && (entries[i] >> 32 & 1) == 0 && (entries[i + 1] >> 32 & 1) == 1) {
                int32_t a = (int32_t)(entries[i] & 0x7fffffff), b = (int32_t)(entries[i + 1] & 0x7fffffff);
                opposite[a] = b;
                opposite[b] = a;
            } else {
                for (size_t k = i; k < j; k++)
                    report_open(p, (int32_t)(entries[k] & 0x7fffffff));
            }
            i = j;
        }
    }
    return RBL_OK;
}

static rbl_status pair_half_edges(rbl_context *ctx, cut_state *state)
{
    const rbli_mesh_view *mesh = state->mesh_view;
    rbl_status status = RBL_OK;
    half_entry *entries = NULL;
    int32_t *start = NULL;
    RBL_TRY_ALLOC(start = rbli_calloc(ctx, mesh->vertex_count + 2, sizeof *start));
    RBL_TRY_ALLOC(entries = rbli_alloc(ctx, mesh->triangle_count * 3, sizeof *entries));
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int i = 0; i < 3; i++) {
            int32_t a = mesh->triangles[t][i], b = mesh->triangles[t][i == 2 ? 0 : i + 1];
            start[(a < b ? a : b) + 2]++;
        }
    for (size_t v = 0; v < mesh->vertex_count; v++)
        start[v + 2] += start[v + 1];
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int i = 0; i < 3; i++) {
            int32_t a = mesh->triangles[t][i], b = mesh->triangles[t][i == 2 ? 0 : i + 1];
            int32_t half = (int32_t)(3 * t) + i;
            entries[start[(a < b ? a : b) + 1]++] = make_entry(a < b ? b : a, a > b, half);
        }
    pairing p = {state, start, entries, INT32_MAX};
    RBL_TRY(rbli_parallel_for(ctx, mesh->vertex_count, 8192, pair_block, &p));
    int32_t open = atomic_load(&p.first_open);
    if (open != INT32_MAX)
        status = rbli_fail(ctx, RBL_ERR_OPEN_MESH,
            "edge %d–%d of triangle %d is not met exactly once by its reverse", cut_half_start(state, open),
            cut_half_end(state, open), open / 3);
done:
    rbli_free(ctx, entries);
    rbli_free(ctx, start);
    return status;
}

/* ---- normals ---- */

enum { UNIT_SCALE = 1 << 20, MAX_FAN = 512 };

/// The unit normal of a triangle as integers, so that sums do not depend on their order. Zero for a flat one.
static void unit_normal(const cut_state *state, int32_t triangle, int64_t normal[3])
{
    const int32_t *v = state->mesh_view->triangles[triangle];
    cut_plane plane = cut_plane_make(state->points[v[0]], state->points[v[1]], state->points[v[2]]);
    double *n = plane.normal;
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int axis = 0; axis < 3; axis++)
        normal[axis] = length > 0 ? (int64_t)nearbyint(n[axis] / length * UNIT_SCALE) : 0;
}

static bool comes_before(const int64_t a[3], const int64_t b[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (a[axis] != b[axis]) return a[axis] < b[axis];
    return false;
}

/// The sum of the unit normals around a vertex; then those it looks away from are added until none is left,
/// so that moving against it moves behind every face around where that is possible (the perceptron rule).
static void compute_normal(const cut_state *state, int32_t vertex, int64_t sum[3])
{
    int64_t fan[MAX_FAN][3];
    int count = 0;
    sum[0] = sum[1] = sum[2] = 0;
    int32_t first = state->mesh.vertex_half[vertex];
    int32_t half = first;
    do {
        int64_t *normal = fan[count < MAX_FAN ? count++ : MAX_FAN - 1];
        unit_normal(state, half / 3, normal);
        for (int axis = 0; axis < 3; axis++)
            sum[axis] += normal[axis];
        half = state->mesh.opposite[cut_next_half(cut_next_half(half))];
    } while (half != first);
    for (int round = 0; round < 32; round++) {
        int worst = -1;
        int64_t worst_dot = 0;
        for (int i = 0; i < count; i++) {
            int64_t *n = fan[i];
            if (n[0] == 0 && n[1] == 0 && n[2] == 0) continue;
            int64_t dot = n[0] * sum[0] + n[1] * sum[1] + n[2] * sum[2];
            if (worst < 0 || dot < worst_dot || (dot == worst_dot && comes_before(n, fan[worst]))) {
                worst = i;
                worst_dot = dot;
            }
        }
        if (worst < 0 || worst_dot > 0) break;
        for (int axis = 0; axis < 3; axis++)
            sum[axis] += fan[worst][axis];
    }
}

void cut_vertex_normal(void *user, int32_t vertex, int64_t normal[3])
{
    const cut_state *state = user;
    uint64_t packed = atomic_load_explicit(&state->mesh.normals[vertex], memory_order_relaxed);
    if (packed == 0) {
        int64_t sum[3] = {0, 0, 0};
        if (state->mesh.vertex_half[vertex] >= 0) compute_normal(state, vertex, sum);
        double largest = 0;
        for (int axis = 0; axis < 3; axis++)
            largest = fmax(largest, fabs((double)sum[axis]));
        packed = (uint64_t)1 << 63;
        for (int axis = 0; axis < 3; axis++) {
            double scaled = largest > 0 ? nearbyint((double)sum[axis] / largest * RBLI_NORMAL_LIMIT) : 0;
            packed |= (uint64_t)((int64_t)scaled + RBLI_NORMAL_LIMIT) << (16 * axis);
        }
        atomic_store_explicit(&state->mesh.normals[vertex], packed, memory_order_relaxed);
    }
    for (int axis = 0; axis < 3; axis++)
        normal[axis] = (int64_t)(packed >> (16 * axis) & 0xffff) - RBLI_NORMAL_LIMIT;
    for (int axis = 0; axis < 3 && state->unite; axis++)
        normal[axis] = -normal[axis];
}

/* ---- points ---- */

/// Chooses the grid that holds the mesh and the complex.
static rbl_status make_grid(rbl_context *ctx, const matching *m)
{
    cut_state *state = m->state;
    double low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        if (state->mesh_view->triangle_count > 0 && !state->unite &&
            !(m->k_low[axis] < m->low[axis] && m->high[axis] < m->k_high[axis]))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "the complex does not contain the mesh");
        low[axis] = cut_min(m->low[axis], m->k_low[axis]);
        high[axis] = cut_max(m->high[axis], m->k_high[axis]);
    }
    state->grid = rbli_grid_make(low, high);
    return RBL_OK;
}

/// Points that nothing uses are zero.
static rbl_status snap_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    cut_state *state = user;
    size_t mesh_count = state->mesh_view->vertex_count, used = mesh_count + state->complex_view->vertex_count;
    for (size_t i = begin; i < end; i++) {
        if (i < mesh_count ? state->mesh.vertex_half[i] < 0 : i >= used)
            memset(state->points[i], 0, sizeof state->points[i]);
        else
            rbli_grid_snap(&state->grid,
                i < mesh_count ? state->mesh_view->positions[i]
                               : state->complex_view->vertices[i - mesh_count],
                state->points[i]);
    }
    return RBL_OK;
}

rbl_status cut_prepare_mesh(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    matching m = {.state = state};
    const rbli_mesh_view *mesh = state->mesh_view;
    const rbli_cell_complex *complex = state->complex_view;
    size_t half_count = mesh->triangle_count * 3;
    size_t point_count = mesh->vertex_count + complex->vertex_count + CUT_SPARE_POINTS;
    if (half_count > INT32_MAX / 4 || point_count > INT32_MAX / 4)
        return rbli_fail(
            ctx, RBL_ERR_LIMIT, "the mesh has too many triangles to cut (%zu)", mesh->triangle_count);
    RBL_TRY_ALLOC(state->mesh.opposite = rbli_alloc(ctx, half_count, sizeof(int32_t)));
    RBL_TRY_ALLOC(state->mesh.vertex_half = rbli_alloc(ctx, mesh->vertex_count, sizeof(int32_t)));
    RBL_TRY_ALLOC(state->mesh.normals = rbli_calloc(ctx, mesh->vertex_count, sizeof(uint64_t)));
    RBL_TRY_ALLOC(state->points = rbli_alloc(ctx, point_count, sizeof *state->points));
    RBL_TRY(rbli_parallel_for(ctx, 2, 1, topology_block, &m));
    RBL_TRY(make_grid(ctx, &m));
    state->point_count = (int32_t)point_count;
    RBL_TRY(rbli_parallel_for(ctx, point_count, POINT_GRAIN, snap_block, state));
    for (size_t v = 0; v < complex->vertex_count; v++) {
        double top = state->points[mesh->vertex_count + v][2];
        if (v == 0 || top > state->complex_top) state->complex_top = top;
    }
    for (size_t v = 0; v < mesh->vertex_count && state->unite; v++)
        state->complex_top = cut_max(state->complex_top, state->points[v][2]);
    state->orient = (rbli_orient_points){
        (const double(*)[3])state->points, (int32_t)mesh->vertex_count, cut_vertex_normal, state};
    rbli_grid_snap(&state->grid, m.low, state->mesh.low);
    rbli_grid_snap(&state->grid, m.high, state->mesh.high);
    bool matched;
    RBL_TRY(match_half_edges(ctx, &m, &matched));
    if (!matched) RBL_TRY(pair_half_edges(ctx, state));
done:
    rbli_free(ctx, m.start);
    rbli_free(ctx, m.leads);
    return status;
}
