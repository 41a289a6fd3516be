/// Union of pieces that share facets. Half-edge 3·t + k runs from corner k of triangle t to the next corner.
/// `partner` is the reverse of a half-edge in its own piece, `glue` the reverse on the other side of a shared
/// facet. Around an edge they alternate: partner crosses the solid of a piece, glue crosses a facet that
/// disappears.

#include "fracture/geometry/fuse.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/hash.h"
#include "fracture/geometry/contact.h"

typedef struct fuse {
    rbl_context *ctx;
    const rbli_mesh_view *mesh;
    const int32_t *piece;
    int32_t *ids;     /* [vertex] equal positions */
    int32_t *partner; /* [half-edge] */
    int32_t *glue;    /* [half-edge] −1: none */
    bool *dropped;    /* [triangle] */
    /* The surface that is left: a triangle each with its own corners, then joined. */
    RBLI_ARRAY(int32_t) corner;     /* [3 · triangle] output vertex */
    RBLI_ARRAY(int32_t) twin;       /* [3 · triangle] */
    RBLI_ARRAY(int32_t) source;     /* [triangle] */
    RBLI_ARRAY(int32_t) weight_row; /* [triangle] */
    struct {
        double (*data)[3][3];
        size_t count, capacity;
    } weights;
    struct {
        double (*data)[3];
        size_t count, capacity;
    } positions;
    RBLI_ARRAY(int32_t) vertex_source;
    size_t dropped_count, split_count;
} fuse;

static int32_t next_edge(int32_t h)
{
    return h % 3 == 2 ? h - 2 : h + 1;
}

static int32_t from_vertex(const fuse *f, int32_t h)
{
    return f->mesh->triangles[h / 3][h % 3];
}

static int32_t to_vertex(const fuse *f, int32_t h)
{
    return from_vertex(f, next_edge(h));
}

static size_t table_mask(size_t count)
{
    size_t size = 16;
    while (size < 2 * count)
        size *= 2;
    return size - 1;
}

static size_t hash_edge(int32_t from, int32_t to)
{
    int32_t key[2] = {from, to};
    return (size_t)rbli_hash64(key, sizeof key);
}

/// Pairs half-edges of each piece by vertex index.
static rbl_status pair_half_edges(fuse *f)
{
    size_t count = 3 * f->mesh->triangle_count, mask = table_mask(count);
    int32_t *table = rbli_alloc(f->ctx, mask + 1, sizeof *table);
    if (!table) return RBL_ERR_NO_MEMORY;
    memset(table, 0xff, (mask + 1) * sizeof *table);
    rbl_status status = RBL_OK;
    for (size_t h = 0; h < count; h++) {
        size_t slot = hash_edge(from_vertex(f, (int32_t)h), to_vertex(f, (int32_t)h)) & mask;
        for (; table[slot] >= 0; slot = (slot + 1) & mask)
            if (from_vertex(f, table[slot]) == from_vertex(f, (int32_t)h) &&
                to_vertex(f, table[slot]) == to_vertex(f, (int32_t)h))
                status = RBL_ERR_OPEN_MESH;
        table[slot] = (int32_t)h;
    }
    for (size_t h = 0; h < count && status == RBL_OK; h++) {
        int32_t from = from_vertex(f, (int32_t)h), to = to_vertex(f, (int32_t)h);
        size_t slot = hash_edge(to, from) & mask;
        while (table[slot] >= 0 && (from_vertex(f, table[slot]) != to || to_vertex(f, table[slot]) != from))
            slot = (slot + 1) & mask;
        f->partner[h] = table[slot];
        if (table[slot] < 0) status = RBL_ERR_OPEN_MESH;
    }
    rbli_free(f->ctx, table);
    return status;
}

/// Glues the half-edges of one list to those of another that run the other way between the same positions.
static void glue_edges(fuse *f, const int32_t *a, const int32_t *b, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            if (f->ids[from_vertex(f, a[i])] != f->ids[to_vertex(f, b[j])] ||
                f->ids[to_vertex(f, a[i])] != f->ids[from_vertex(f, b[j])])
                continue;
            f->glue[a[i]] = b[j];
            f->glue[b[j]] = a[i];
        }
}

static rbl_status drop_opposite(fuse *f)
{
    size_t count = f->mesh->triangle_count;
    int32_t *opposite = rbli_alloc(f->ctx, count, sizeof *opposite);
    if (!opposite) return RBL_ERR_NO_MEMORY;
    rbl_status status = rbli_match_opposite(f->ctx, f->mesh->triangles, count, f->ids, f->piece, opposite);
    for (size_t t = 0; t < count && status == RBL_OK; t++) {
        if (opposite[t] < 0) continue;
        f->dropped[t] = true;
        f->dropped_count++;
        int32_t a[3], b[3];
        for (int32_t k = 0; k < 3; k++) {
            a[k] = 3 * (int32_t)t + k;
            b[k] = 3 * opposite[t] + k;
        }
        glue_edges(f, a, b, 3);
    }
    rbli_free(f->ctx, opposite);
    return status;
}

/* ---- facets of which one side has a middle point on a diagonal ---- */

typedef struct triangle_table {
    int32_t *slots;
    size_t mask;
} triangle_table;

static void sorted_key(int32_t a, int32_t b, int32_t c, int32_t key[3])
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    key[0] = c < low ? c : low;
    key[2] = c > high ? c : high;
    key[1] = c < low ? low : c > high ? high : c;
}

static void triangle_key(const fuse *f, int32_t t, int32_t key[3])
{
    const int32_t *v = f->mesh->triangles[t];
    sorted_key(f->ids[v[0]], f->ids[v[1]], f->ids[v[2]], key);
}

/// A triangle of another piece with the ids (a, b, c) in this direction that is still there.
static int32_t find_triangle(
    const fuse *f, const triangle_table *table, int32_t a, int32_t b, int32_t c, int32_t piece)
{
    int32_t key[3];
    sorted_key(a, b, c, key);
    for (size_t slot = (size_t)rbli_hash64(key, sizeof key) & table->mask; table->slots[slot] >= 0;
         slot = (slot + 1) & table->mask) {
        int32_t t = table->slots[slot];
        const int32_t *v = f->mesh->triangles[t];
        if (f->dropped[t] || f->piece[t] == piece) continue;
        for (int k = 0; k < 3; k++)
            if (f->ids[v[k]] == a && f->ids[v[(k + 1) % 3]] == b && f->ids[v[(k + 2) % 3]] == c) return t;
    }
    return -1;
}

/// True when m lies between u and v up to rounding.
static bool between(const double m[3], const double u[3], const double v[3])
{
    double length = 0, off = 0, along = 0, d[3], e[3];
    for (int k = 0; k < 3; k++) {
        d[k] = v[k] - u[k];
        e[k] = m[k] - u[k];
        length += d[k] * d[k];
        along += d[k] * e[k];
    }
    for (int k = 0; k < 3; k++) {
        double rest = e[k] - along / length * d[k];
        off += rest * rest;
    }
    return along > 0 && along < length && off < 1e-20 * length;
}

/// Around a vertex of four triangles: if it lies on a diagonal, and the other side has the two triangles that
/// the four make without it, all six go.
static void drop_split_quad(fuse *f, const triangle_table *table, int32_t first)
{
    int32_t outer[4], rim[4], h = first, piece = f->piece[first / 3];
    /* `h` leaves the middle; the edge after it is on the rim. */
    for (int i = 0; i < 4; i++) {
        if (f->dropped[h / 3]) return;
        outer[i] = next_edge(h);
        rim[i] = to_vertex(f, h);
        h = f->partner[next_edge(outer[i])];
    }
    if (h != first) return;
    const double *m = f->mesh->positions[from_vertex(f, first)];
    for (int turn = 0; turn < 2; turn++) {
        int32_t u = rim[turn], x = rim[turn + 1], v = rim[turn + 2], y = rim[(turn + 3) % 4];
        if (!between(m, f->mesh->positions[u], f->mesh->positions[v])) continue;
        /* Without m: (u, x, v) and (v, y, u). */
        int32_t a = find_triangle(f, table, f->ids[v], f->ids[x], f->ids[u], piece);
        int32_t b = find_triangle(f, table, f->ids[u], f->ids[y], f->ids[v], piece);
        if (a < 0 || b < 0 || f->piece[a] != f->piece[b]) continue;
        int32_t other[4];
        int count = 0;
        for (int32_t k = 0; k < 6; k++) {
            int32_t e = 3 * (k < 3 ? a : b) + k % 3;
            int32_t from = f->ids[from_vertex(f, e)], to = f->ids[to_vertex(f, e)];
            bool diagonal = (from == f->ids[u] && to == f->ids[v]) || (from == f->ids[v] && to == f->ids[u]);
            if (!diagonal && count < 4) other[count++] = e;
        }
        if (count != 4) continue;
        glue_edges(f, outer, other, 4);
        for (int i = 0; i < 4; i++)
            f->dropped[outer[i] / 3] = true;
        f->dropped[a] = f->dropped[b] = true;
        f->dropped_count += 6;
        return;
    }
}

static rbl_status drop_split_quads(fuse *f)
{
    rbl_status status = RBL_OK;
    size_t count = f->mesh->triangle_count;
    triangle_table table = {.mask = table_mask(count)};
    uint8_t *degree = NULL;
    RBL_TRY_ALLOC(table.slots = rbli_alloc(f->ctx, table.mask + 1, sizeof *table.slots));
    RBL_TRY_ALLOC(degree = rbli_calloc(f->ctx, f->mesh->vertex_count, 1));
    memset(table.slots, 0xff, (table.mask + 1) * sizeof *table.slots);
    for (size_t t = 0; t < count; t++) {
        for (int k = 0; k < 3; k++)
            if (degree[f->mesh->triangles[t][k]] < 9) degree[f->mesh->triangles[t][k]]++;
        if (f->dropped[t]) continue;
        int32_t key[3];
        triangle_key(f, (int32_t)t, key);
        size_t slot = (size_t)rbli_hash64(key, sizeof key) & table.mask;
        while (table.slots[slot] >= 0)
            slot = (slot + 1) & table.mask;
        table.slots[slot] = (int32_t)t;
    }
    for (size_t h = 0; h < 3 * count; h++)
        if (!f->dropped[h / 3] && degree[from_vertex(f, (int32_t)h)] == 4)
            drop_split_quad(f, &table, (int32_t)h);
done:
    rbli_free(f->ctx, table.slots);
    rbli_free(f->ctx, degree);
    return status;
}

/* ---- what is left ---- */

/// The reverse of a half-edge in the union: across solids and shared facets until a triangle that is left.
static int32_t follow(const fuse *f, int32_t h)
{
    int32_t p = f->partner[h];
    for (size_t steps = 0; p >= 0 && f->dropped[p / 3]; steps++) {
        if (f->glue[p] < 0 || steps > 3 * f->mesh->triangle_count) return -1;
        p = f->partner[f->glue[p]];
    }
    return p;
}

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void unite(int32_t *parent, int32_t a, int32_t b)
{
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a < b) parent[b] = a;
    if (b < a) parent[a] = b;
}

/// Triangles that are left, their twins, and a vertex for each fan of corners.
static rbl_status build_rest(fuse *f)
{
    rbl_status status = RBL_OK;
    size_t count = f->mesh->triangle_count, kept = 0;
    int32_t *place = NULL, *parent = NULL;
    RBL_TRY_ALLOC(place = rbli_alloc(f->ctx, count, sizeof *place));
    for (size_t t = 0; t < count; t++)
        place[t] = f->dropped[t] ? -1 : (int32_t)kept++;
    RBL_TRY_ALLOC(parent = rbli_alloc(f->ctx, kept, 3 * sizeof *parent));
    RBL_TRY(rbli_array_reserve(f->ctx, &f->twin, 3 * kept));
    RBL_TRY(rbli_array_reserve(f->ctx, &f->corner, 3 * kept));
    RBL_TRY(rbli_array_reserve(f->ctx, &f->source, kept));
    RBL_TRY(rbli_array_reserve(f->ctx, &f->weight_row, kept));
    for (size_t i = 0; i < 3 * kept; i++)
        parent[i] = (int32_t)i;
    for (size_t t = 0; t < count; t++) {
        if (place[t] < 0) continue;
        f->source.data[f->source.count++] = (int32_t)t;
        f->weight_row.data[f->weight_row.count++] = -1;
        for (int32_t k = 0; k < 3; k++) {
            int32_t p = follow(f, 3 * (int32_t)t + k);
            if (p < 0) {
                status = RBL_ERR_INTERNAL;
                goto done;
            }
            int32_t here = 3 * place[t] + k, there = 3 * place[p / 3] + p % 3;
            f->twin.data[f->twin.count++] = there;
            unite(parent, here, next_edge(there));
            unite(parent, next_edge(here), there);
        }
    }
    f->corner.count = 3 * kept;
    for (size_t i = 0; i < 3 * kept; i++) {
        int32_t root = find_root(parent, (int32_t)i);
        if (root == (int32_t)i) {
            int32_t source = f->mesh->triangles[f->source.data[i / 3]][i % 3];
            RBL_TRY(rbli_array_reserve(f->ctx, &f->positions, 1));
            memcpy(
                f->positions.data[f->positions.count], f->mesh->positions[source], sizeof *f->positions.data);
            f->corner.data[i] = (int32_t)f->positions.count++;
            RBL_TRY(rbli_array_push(f->ctx, &f->vertex_source, source));
        } else {
            f->corner.data[i] = f->corner.data[root];
        }
    }
done:
    rbli_free(f->ctx, place);
    rbli_free(f->ctx, parent);
    return status;
}

/* ---- edges that would occur twice ---- */

/// Gives a triangle its own row of weights.
static rbl_status own_weights(fuse *f, int32_t triangle)
{
    if (f->weight_row.data[triangle] >= 0) return RBL_OK;
    rbl_status status = rbli_array_reserve(f->ctx, &f->weights, 1);
    if (status != RBL_OK) return status;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            f->weights.data[f->weights.count][i][j] = i == j;
    f->weight_row.data[triangle] = (int32_t)f->weights.count++;
    return RBL_OK;
}

/// Cuts the triangle of half-edge h = u → v, w behind: it becomes (u, m, w), a new one is (m, v, w). @return
/// by `half` the new half-edge m → v
static rbl_status cut_triangle(fuse *f, int32_t h, int32_t middle, int32_t *half)
{
    rbl_status status = RBL_OK;
    int32_t t = h / 3, n = (int32_t)f->source.count, k = h % 3, l = (k + 1) % 3;
    RBL_TRY(own_weights(f, t));
    RBL_TRY(rbli_array_reserve(f->ctx, &f->weights, 1));
    RBL_TRY(rbli_array_reserve(f->ctx, &f->corner, 3));
    RBL_TRY(rbli_array_reserve(f->ctx, &f->twin, 3));
    RBL_TRY(rbli_array_push(f->ctx, &f->source, f->source.data[t]));
    RBL_TRY(rbli_array_push(f->ctx, &f->weight_row, (int32_t)f->weights.count));
    double(*old)[3] = f->weights.data[f->weight_row.data[t]],
    (*fresh)[3] = f->weights.data[f->weights.count++];
    for (int j = 0; j < 3; j++) {
        double half_weight = (old[k][j] + old[l][j]) / 2;
        for (int i = 0; i < 3; i++)
            fresh[i][j] = old[i][j];
        fresh[k][j] = half_weight;
        old[l][j] = half_weight;
    }
    /* The new triangle has its corners in the same places: m at k, v at l, w. */
    for (int i = 0; i < 3; i++) {
        f->corner.data[3 * n + i] = i == k ? middle : f->corner.data[3 * t + i];
        f->twin.data[3 * n + i] = -1;
    }
    f->corner.count += 3;
    f->twin.count += 3;
    f->corner.data[3 * t + l] = middle;
    int32_t outer = f->twin.data[3 * t + l], inner = 3 * n + (l + 1) % 3;
    f->twin.data[3 * n + l] = outer;
    f->twin.data[outer] = 3 * n + l;
    f->twin.data[3 * t + l] = inner;
    f->twin.data[inner] = 3 * t + l;
    *half = 3 * n + k;
done:
    return status;
}

static rbl_status split_edge(fuse *f, int32_t h)
{
    rbl_status status = RBL_OK;
    int32_t g = f->twin.data[h], from = f->corner.data[h], to = f->corner.data[next_edge(h)], h_new, g_new;
    int32_t middle = (int32_t)f->positions.count, source = f->vertex_source.data[from < to ? from : to];
    RBL_TRY(rbli_array_reserve(f->ctx, &f->positions, 1));
    for (int k = 0; k < 3; k++)
        f->positions.data[middle][k] = f->positions.data[from][k] / 2 + f->positions.data[to][k] / 2;
    f->positions.count++;
    RBL_TRY(rbli_array_push(f->ctx, &f->vertex_source, source));
    RBL_TRY(cut_triangle(f, h, middle, &h_new));
    RBL_TRY(cut_triangle(f, g, middle, &g_new));
    f->twin.data[h] = g_new;
    f->twin.data[g_new] = h;
    f->twin.data[g] = h_new;
    f->twin.data[h_new] = g;
    f->split_count++;
done:
    return status;
}

/// One pass: splits repeated edges, but none of a triangle that this pass has cut already. @return by `found`
/// how many edges were repeated
static rbl_status split_repeated_pass(fuse *f, size_t *found)
{
    rbl_status status = RBL_OK;
    size_t count = f->corner.count, mask = table_mask(count);
    int32_t *table = NULL;
    bool *touched = NULL;
    *found = 0;
    RBL_TRY_ALLOC(table = rbli_alloc(f->ctx, mask + 1, sizeof *table));
    RBL_TRY_ALLOC(touched = rbli_calloc(f->ctx, count / 3, 1));
    memset(table, 0xff, (mask + 1) * sizeof *table);
    for (size_t i = 0; i < count; i++) {
        int32_t h = (int32_t)i, g = f->twin.data[h];
        int32_t from = f->corner.data[h], to = f->corner.data[next_edge(h)];
        if (from > to || touched[h / 3] || g >= (int32_t)count) continue; /* of two twins one comes */
        size_t slot = hash_edge(from, to) & mask;
        bool again = false;
        for (; table[slot] >= 0 && !again; slot = (slot + 1) & mask)
            again = f->corner.data[table[slot]] == from && f->corner.data[next_edge(table[slot])] == to;
        if (!again) {
            table[slot] = h;
            continue;
        }
        ++*found;
        if (touched[g / 3]) continue;
        touched[h / 3] = touched[g / 3] = true;
        RBL_TRY(split_edge(f, h));
    }
done:
    rbli_free(f->ctx, table);
    rbli_free(f->ctx, touched);
    return status;
}

static rbl_status split_repeated_edges(fuse *f)
{
    size_t found;
    do {
        rbl_status status = split_repeated_pass(f, &found);
        if (status != RBL_OK) return status;
    } while (found > 0);
    return RBL_OK;
}

/* ---- the whole ---- */

void rbli_fuse_result_free(rbl_context *ctx, rbli_fuse_result *result)
{
    rbli_free(ctx, result->positions);
    rbli_free(ctx, result->vertex_source);
    rbli_free(ctx, result->triangles);
    rbli_free(ctx, result->origins.source);
    rbli_free(ctx, result->origins.weights_index);
    rbli_free(ctx, result->origins.weights);
    *result = (rbli_fuse_result){0};
}

rbl_status rbli_fuse(
    rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece, rbli_fuse_result *out)
{
    rbl_status status = RBL_OK;
    size_t half_edges = 3 * mesh->triangle_count, unique;
    fuse f = {.ctx = ctx, .mesh = mesh, .piece = piece};
    RBL_TRY_ALLOC(f.ids = rbli_alloc(ctx, mesh->vertex_count, sizeof *f.ids));
    RBL_TRY_ALLOC(f.partner = rbli_alloc(ctx, half_edges, sizeof *f.partner));
    RBL_TRY_ALLOC(f.glue = rbli_alloc(ctx, half_edges, sizeof *f.glue));
    RBL_TRY_ALLOC(f.dropped = rbli_calloc(ctx, mesh->triangle_count, sizeof *f.dropped));
    memset(f.glue, 0xff, half_edges * sizeof *f.glue);
    RBL_TRY(rbli_position_ids(ctx, mesh->positions, mesh->vertex_count, f.ids, &unique));
    RBL_TRY(pair_half_edges(&f));
    RBL_TRY(drop_opposite(&f));
    RBL_TRY(drop_split_quads(&f));
    RBL_TRY(build_rest(&f));
    RBL_TRY(split_repeated_edges(&f));
    *out = (rbli_fuse_result){.positions = f.positions.data,
        .vertex_source = f.vertex_source.data,
        .vertex_count = f.positions.count,
        .triangles = (int32_t(*)[3])f.corner.data,
        .triangle_count = f.source.count,
        .origins = {f.source.data, f.weight_row.data, f.weights.data, f.weights.count},
        .dropped_count = f.dropped_count,
        .split_edge_count = f.split_count};
    f.positions.data = NULL;
    f.vertex_source.data = f.corner.data = f.source.data = f.weight_row.data = NULL;
    f.weights.data = NULL;
done:
    rbli_free(ctx, f.ids);
    rbli_free(ctx, f.partner);
    rbli_free(ctx, f.glue);
    rbli_free(ctx, f.dropped);
    rbli_free(ctx, f.corner.data);
    rbli_free(ctx, f.twin.data);
    rbli_free(ctx, f.source.data);
    rbli_free(ctx, f.weight_row.data);
    rbli_free(ctx, f.weights.data);
    rbli_free(ctx, f.positions.data);
    rbli_free(ctx, f.vertex_source.data);
    return status;
}
