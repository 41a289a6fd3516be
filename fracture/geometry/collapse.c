/// Edge collapse of zero-length edges under the link condition: Dey, Edelsbrunner, Guha and Nekhayev,
/// "Topology preserving edge contraction", 1999. On a closed surface the condition is that the two ends have
/// exactly the two neighbours in common that the edge's triangles have opposite to it.

#include "fracture/geometry/collapse.h"

#include <stdlib.h>

typedef struct zero_edge {
    int32_t a, b; /* a < b */
} zero_edge;

/// Triangles around vertices as linked lists over corners, so that two lists join in constant time.
typedef struct mesh_state {
    int32_t (*triangles)[3];
    bool *dropped;
    int32_t *next;         /* [3 · triangle_count] next corner of the same vertex, −1 at the end */
    int32_t *first, *last; /* [vertex_count] */
    int32_t *stamp;        /* [vertex_count] marks of neighbours */
    int32_t stamp_now;
} mesh_state;

static bool same_place(const double a[3], const double b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static int compare_edges(const void *pa, const void *pb)
{
    const zero_edge *x = pa, *y = pb;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/// Each undirected zero edge once; a closed mesh meets each in both directions.
static zero_edge *find_zero_edges(rbli_arena *arena, const double (*positions)[3], const mesh_state *m,
    size_t triangle_count, size_t *out_count)
{
    size_t count = 0;
    for (size_t t = 0; t < triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            int32_t a = m->triangles[t][k], b = m->triangles[t][(k + 1) % 3];
            count += a < b && same_place(positions[a], positions[b]);
        }
    *out_count = count;
    if (count == 0) return NULL;
    zero_edge *edges = rbli_arena_alloc(arena, count, sizeof *edges);
    if (!edges) return NULL;
    count = 0;
    for (size_t t = 0; t < triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            int32_t a = m->triangles[t][k], b = m->triangles[t][(k + 1) % 3];
            if (a < b && same_place(positions[a], positions[b])) edges[count++] = (zero_edge){a, b};
        }
    qsort(edges, count, sizeof *edges, compare_edges);
    return edges;
}

static rbl_status build_lists(rbli_arena *arena, mesh_state *m, size_t vertex_count, size_t triangle_count)
{
    m->next = rbli_arena_alloc(arena, 3 * triangle_count, sizeof *m->next);
    m->first = rbli_arena_alloc(arena, vertex_count, sizeof *m->first);
    m->last = rbli_arena_alloc(arena, vertex_count, sizeof *m->last);
    m->stamp = rbli_arena_alloc(arena, vertex_count, sizeof *m->stamp);
    if (!m->next || !m->first || !m->last || !m->stamp) return RBL_ERR_NO_MEMORY;
    for (size_t v = 0; v < vertex_count; v++) {
        m->first[v] = m->last[v] = -1;
        m->stamp[v] = 0;
    }
    for (size_t c = 0; c < 3 * triangle_count; c++) {
        int32_t v = m->triangles[c / 3][c % 3];
        m->next[c] = -1;
        if (m->last[v] < 0)
            m->first[v] = (int32_t)c;
        else
            m->next[m->last[v]] = (int32_t)c;
        m->last[v] = (int32_t)c;
    }
    return RBL_OK;
}

/// True when a triangle of `v` without `other` has both its other corners stamped `stamp`.
static bool has_triangle_of(const mesh_state *m, int32_t v, int32_t other, int32_t stamp)
{
    for (int32_t c = m->first[v]; c >= 0; c = m->next[c]) {
        int32_t p = m->triangles[c / 3][(c % 3 + 1) % 3], q = m->triangles[c / 3][(c % 3 + 2) % 3];
        if (!m->dropped[c / 3] && p != other && q != other && m->stamp[p] == stamp && m->stamp[q] == stamp)
            return true;
    }
    return false;
}

/// The link condition for the edge a b. `*shared`: triangles with both ends.
static bool links_allow(mesh_state *m, int32_t a, int32_t b, int *shared)
{
    int common = 0;
    int32_t of_a = ++m->stamp_now, counted = ++m->stamp_now;
    for (int32_t c = m->first[a]; c >= 0; c = m->next[c]) {
        if (m->dropped[c / 3]) continue;
        for (int k = 0; k < 3; k++)
            m->stamp[m->triangles[c / 3][k]] = of_a;
    }
    *shared = 0;
    for (int32_t c = m->first[b]; c >= 0; c = m->next[c]) {
        if (m->dropped[c / 3]) continue;
        for (int k = 0; k < 3; k++) {
            int32_t v = m->triangles[c / 3][k];
            if (v == a) ++*shared;
            if (v == a || v == b || m->stamp[v] != of_a) continue;
            m->stamp[v] = counted;
            common++;
        }
    }
    if (*shared != 2 || common != 2) return false;
    /* the edge between the two common neighbours must not be in both links: a tetrahedron would become flat
     */
    return !has_triangle_of(m, a, b, counted) || !has_triangle_of(m, b, a, counted);
}

/// Renames `gone` to `stays` and drops the triangles that hold both.
static void collapse(mesh_state *m, int32_t stays, int32_t gone)
{
    for (int32_t c = m->first[gone]; c >= 0; c = m->next[c]) {
        int32_t *triangle = m->triangles[c / 3];
        if (m->dropped[c / 3]) continue;
        if (triangle[0] == stays || triangle[1] == stays || triangle[2] == stays) {
            m->dropped[c / 3] = true;
        } else {
            triangle[c % 3] = stays;
        }
    }
    if (m->first[gone] >= 0) {
        m->next[m->last[stays]] = m->first[gone];
        m->last[stays] = m->last[gone];
        m->first[gone] = -1;
    }
}

static int32_t follow(int32_t *kept, int32_t v)
{
    while (kept[v] != v)
        v = kept[v] = kept[kept[v]];
    return v;
}

rbl_status rbli_collapse_zero_edges(rbli_arena *arena, const double (*positions)[3], size_t vertex_count,
    const uint8_t *prefer, int32_t (*triangles)[3], size_t triangle_count, bool *dropped, int32_t *kept)
{
    mesh_state m = {.triangles = triangles, .dropped = dropped};
    rbl_status status = RBL_OK;
    rbli_arena_mark mark = rbli_arena_get_mark(arena);
    size_t edge_count = 0;
    for (size_t v = 0; v < vertex_count; v++)
        kept[v] = (int32_t)v;
    zero_edge *edges = find_zero_edges(arena, positions, &m, triangle_count, &edge_count);
    if (edge_count == 0) return RBL_OK;
    RBL_TRY_ALLOC(edges);
    RBL_TRY(build_lists(arena, &m, vertex_count, triangle_count));

    /* An edge that has to wait for another may be free later: go round while it helps. */
    for (size_t before = SIZE_MAX; edge_count > 0 && edge_count < before;) {
        before = edge_count;
        size_t waiting = 0;
        for (size_t e = 0; e < before; e++) {
            int32_t a = follow(kept, edges[e].a), b = follow(kept, edges[e].b);
            int shared;
            if (a == b) continue;
            bool allowed = links_allow(&m, a, b, &shared);
            if (shared == 0) continue; /* the edge went with a dropped triangle */
            if (!allowed) {
                edges[waiting++] = edges[e];
                continue;
            }
            bool keep_b = prefer && prefer[b] != prefer[a] ? prefer[b] > prefer[a] : b < a;
            collapse(&m, keep_b ? b : a, keep_b ? a : b);
            kept[keep_b ? a : b] = keep_b ? b : a;
        }
        edge_count = waiting;
    }
    for (size_t v = 0; v < vertex_count; v++)
        kept[v] = follow(kept, (int32_t)v);
done:
    rbli_arena_rewind(arena, mark);
    return status;
}
