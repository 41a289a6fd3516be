/// From labelled triangles to pieces: compact vertices, islands, cavities, origins and contacts; cell by
/// cell.

#include "fracture/geometry/cut_internal.h"

#include <stdlib.h>

enum {
    CELL_GRAIN = 8,
    MOST_SPLIT_ROUNDS = 16, /* back-to-back triangles need a second round */
};

/// Parts whose volume is below this many grid steps × their area are rounding, not pieces.
static const double FILM_STEPS = 4;

typedef struct piece_triangle {
    int32_t v[3];     /* local vertices */
    int32_t source;   /* mesh triangle, or −1 − facet */
    int32_t weighted; /* corners are not the source's */
} piece_triangle;

/// A vertex of the cell: an arrangement vertex, or the middle of two local ones.
typedef struct piece_vertex {
    int32_t id; /* −1: a middle point */
    int32_t ends[2];
    double position[3];
} piece_vertex;

/// A connected part of a cell.
typedef struct part {
    double volume, area;
    double noise;   /* rounding of the volume, in units of 2^-50 */
    int32_t first;  /* its lowest vertex number; volumes are measured from there */
    int32_t lowest; /* its first vertex in the order (x, y, z) */
    int32_t owner;  /* the part whose piece it belongs to, −1: left out */
    int32_t piece;  /* number within the cell */
} part;

typedef struct edge_slot {
    int32_t low, high; /* −1: free */
    int32_t count[2];  /* half-edges up and down */
    int32_t first;     /* in `halves` */
} edge_slot;

typedef struct cell_scratch {
    int32_t *local, *stamp; /* [arrangement vertices] */
    RBLI_ARRAY(piece_triangle) triangles;
    RBLI_ARRAY(piece_vertex) vertices;
    RBLI_ARRAY(int32_t) parent; /* union-find over vertices, then the part of each */
    RBLI_ARRAY(part) parts;
    RBLI_ARRAY(int32_t) order;
    RBLI_ARRAY(edge_slot) slots;
    RBLI_ARRAY(int32_t) halves; /* next half-edge of the same slot and direction */
    RBLI_ARRAY(int32_t) middles;
    RBLI_ARRAY(int32_t) windings;
    RBLI_ARRAY(int32_t) renumber;
    size_t cap_first; /* first triangle that is a cap */
} cell_scratch;

typedef struct piece_record {
    int32_t cell;
    int32_t vertex_count, triangle_count;
    double volume;
} piece_record;

typedef struct assembly_block {
    RBLI_ARRAY(piece_record) pieces;
    RBLI_ARRAY(double) positions; /* three each */
    RBLI_ARRAY(int32_t) sources;
    RBLI_ARRAY(int32_t) triangles; /* three each, within the piece */
    RBLI_ARRAY(int32_t) origin_source, origin_index;
    RBLI_ARRAY(double) weights; /* nine each */
    size_t film_count, negative_count, split_count;
} assembly_block;

typedef struct assembly {
    cut_state *state;
    /* Items of each cell: untouched mesh triangles, faces, caps (2 × cap + side; side 1 is the positive
     * cell). */
    int32_t *start[3], *items[3];
    int32_t *cap_piece;        /* [2 × cap_count] piece within the cell, −1 for none */
    int32_t *cell_piece_count; /* [cell_count + 1] then the first piece of each cell */
    cell_scratch *workers;
    size_t worker_count;
    assembly_block *blocks;
    size_t block_count;
} assembly;

/* ---- sharing out ---- */

static void make_starts(int32_t *start, size_t count)
{
    for (size_t i = 0; i < count; i++)
        start[i + 2] += start[i + 1];
}

static rbl_status share_out(rbl_context *ctx, assembly *a)
{
    rbl_status status = RBL_OK;
    const cut_state *s = a->state;
    size_t cells = s->complex_view->cell_count, triangle_count = s->mesh_view->triangle_count;
    size_t untouched = triangle_count - s->cut_triangle_count;
    size_t counts[3] = {untouched, s->face_count, 2 * s->cap_count};
    uint8_t *is_cut = NULL;
    RBL_TRY_ALLOC(is_cut = rbli_calloc(ctx, triangle_count, 1));
    for (int kind = 0; kind < 3; kind++) {
        RBL_TRY_ALLOC(a->start[kind] = rbli_calloc(ctx, cells + 2, sizeof(int32_t)));
        RBL_TRY_ALLOC(a->items[kind] = rbli_alloc(ctx, counts[kind], sizeof(int32_t)));
    }
    for (size_t i = 0; i < s->cut_triangle_count; i++)
        is_cut[s->cut_triangles[i].triangle] = 1;
    for (size_t t = 0; t < triangle_count; t++)
        if (!is_cut[t]) a->start[0][s->vertex_label[s->mesh_view->triangles[t][0]] + 2]++;
    for (size_t i = 0; i < s->face_count; i++)
        a->start[1][s->faces[i].label + 2]++;
    for (size_t i = 0; i < 2 * s->cap_count; i++)
        a->start[2][cut_facet_cells(s, s->caps[i / 2].facet)[i % 2] + 2]++;
    for (int kind = 0; kind < 3; kind++)
        make_starts(a->start[kind], cells);
    for (size_t t = 0; t < triangle_count; t++)
        if (!is_cut[t])
            a->items[0][a->start[0][s->vertex_label[s->mesh_view->triangles[t][0]] + 1]++] = (int32_t)t;
    for (size_t i = 0; i < s->face_count; i++)
        a->items[1][a->start[1][s->faces[i].label + 1]++] = (int32_t)i;
    for (size_t i = 0; i < 2 * s->cap_count; i++)
        a->items[2][a->start[2][cut_facet_cells(s, s->caps[i / 2].facet)[i % 2] + 1]++] = (int32_t)i;
done:
    rbli_free(ctx, is_cut);
    return status;
}

/* ---- one cell ---- */

static rbl_status local_vertex(
    rbl_context *ctx, const cut_state *s, cell_scratch *c, int32_t cell, int32_t vertex, int32_t *local)
{
    if (c->stamp[vertex] == cell) {
        *local = c->local[vertex];
        return RBL_OK;
    }
    rbl_status status = rbli_array_reserve(ctx, &c->vertices, 1);
    if (status != RBL_OK) return status;
    piece_vertex *v = &c->vertices.data[c->vertices.count];
    v->id = vertex;
    size_t mesh_count = s->mesh_view->vertex_count;
    if ((size_t)vertex < mesh_count)
        memcpy(v->position, s->mesh_view->positions[vertex], sizeof v->position);
    else if (vertex < s->point_count)
        memcpy(v->position, s->complex_view->vertices[(size_t)vertex - mesh_count], sizeof v->position);
    else
        rbli_grid_unsnap(&s->grid, cut_position(s, vertex), v->position);
    *local = (int32_t)c->vertices.count++;
    c->stamp[vertex] = cell;
    c->local[vertex] = *local;
    return RBL_OK;
}

static rbl_status add_triangle(rbl_context *ctx, const cut_state *s, cell_scratch *c, int32_t cell,
    const int32_t v[3], int32_t source, int32_t weighted)
{
    rbl_status status = RBL_OK;
    piece_triangle triangle = {{0}, source, weighted};
    for (int i = 0; i < 3; i++)
        RBL_TRY(local_vertex(ctx, s, c, cell, v[i], &triangle.v[i]));
    status = rbli_array_push(ctx, &c->triangles, triangle);
done:
    return status;
}

static rbl_status gather_cell(rbl_context *ctx, const assembly *a, cell_scratch *c, int32_t cell)
{
    rbl_status status = RBL_OK;
    const cut_state *s = a->state;
    c->triangles.count = c->vertices.count = 0;
    for (int32_t i = a->start[0][cell]; i < a->start[0][cell + 1]; i++) {
        int32_t t = a->items[0][i];
        RBL_TRY(add_triangle(ctx, s, c, cell, s->mesh_view->triangles[t], t, 0));
    }
    for (int32_t i = a->start[1][cell]; i < a->start[1][cell + 1]; i++) {
        const cut_face *face = &s->faces[a->items[1][i]];
        RBL_TRY(add_triangle(ctx, s, c, cell, face->v, face->source, 1));
    }
    c->cap_first = c->triangles.count;
    for (int32_t i = a->start[2][cell]; i < a->start[2][cell + 1]; i++) {
        const cut_cap *cap = &s->caps[a->items[2][i] / 2];
        bool positive = a->items[2][i] % 2;
        int32_t v[3] = {cap->v[0], cap->v[positive ? 2 : 1], cap->v[positive ? 1 : 2]};
        RBL_TRY(add_triangle(ctx, s, c, cell, v, -1 - cap->facet, 0));
    }
done:
    return status;
}

/* ---- edges that occur twice ---- */

static edge_slot *find_slot(cell_scratch *c, int32_t low, int32_t high)
{
    uint32_t x = (uint32_t)low * 0x9e3779b1u ^ (uint32_t)high * 0x85ebca6bu;
    size_t i = (x ^ x >> 15) & (c->slots.count - 1);
    while (c->slots.data[i].low >= 0 && (c->slots.data[i].low != low || c->slots.data[i].high != high))
        i = (i + 1) & (c->slots.count - 1);
    return &c->slots.data[i];
}

static bool is_mesh_vertex(const cut_state *s, const cell_scratch *c, int32_t local)
{
    int32_t id = c->vertices.data[local].id;
    return id >= 0 && (size_t)id < s->mesh_view->vertex_count;
}

/// Counts the half-edges of all triangles but the untouched ones; `*doubled` tells whether an edge occurs
/// twice.
static rbl_status count_edges(
    rbl_context *ctx, const cut_state *s, cell_scratch *c, size_t first, bool *doubled)
{
    rbl_status status = RBL_OK;
    size_t half_count = 3 * (c->triangles.count - first), size = 16;
    while (size < half_count)
        size *= 2;
    c->slots.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->slots, size));
    c->slots.count = size;
    for (size_t i = 0; i < size; i++)
        c->slots.data[i] = (edge_slot){-1, -1, {0, 0}, -1};
    *doubled = false;
    for (size_t h = 0; h < half_count; h++) {
        const int32_t *v = c->triangles.data[first + h / 3].v;
        int32_t from = v[h % 3], to = v[(h + 1) % 3];
        edge_slot *slot = find_slot(c, from < to ? from : to, from < to ? to : from);
        slot->low = from < to ? from : to;
        slot->high = from < to ? to : from;
        if (slot->count[from > to]++ > 0) *doubled = true;
    }
    for (size_t i = 0; i < size; i++) {
        const edge_slot *slot = &c->slots.data[i];
        if (slot->low < 0 || slot->count[0] == slot->count[1]) continue;
        if (!is_mesh_vertex(s, c, slot->low) || !is_mesh_vertex(s, c, slot->high))
            return rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: a piece is not closed at arrangement edge %d–%d",
                c->vertices.data[slot->low].id, c->vertices.data[slot->high].id);
    }
done:
    return status;
}

static rbl_status add_middle(rbl_context *ctx, cell_scratch *c, int32_t a, int32_t b, int32_t *middle)
{
    *middle = (int32_t)c->vertices.count;
    piece_vertex m = {-1, {a, b}, {0}};
    for (int axis = 0; axis < 3; axis++)
        m.position[axis] = 0.5 * (c->vertices.data[a].position[axis] + c->vertices.data[b].position[axis]);
    return rbli_array_push(ctx, &c->vertices, m);
}

/// Gives every further occurrence of an edge a middle point, shared by the two triangles there.
static rbl_status choose_middles(rbl_context *ctx, cell_scratch *c, size_t first, size_t *split_count)
{
    rbl_status status = RBL_OK;
    size_t half_count = 3 * (c->triangles.count - first);
    RBL_TRY(rbli_array_reserve(ctx, &c->middles, half_count));
    RBL_TRY(rbli_array_reserve(ctx, &c->halves, half_count));
    for (size_t h = 0; h < half_count; h++)
        c->middles.data[h] = -1;
    /* Lists of the half-edges of doubled edges, in order, both directions in one. */
    for (size_t h = half_count; h-- > 0;) {
        const int32_t *v = c->triangles.data[first + h / 3].v;
        int32_t from = v[h % 3], to = v[(h + 1) % 3];
        edge_slot *slot = find_slot(c, from < to ? from : to, from < to ? to : from);
        if (slot->count[0] < 2 && slot->count[1] < 2) continue;
        c->halves.data[h] = slot->first;
        slot->first = (int32_t)h;
    }
    for (size_t i = 0; i < c->slots.count; i++) {
        edge_slot *slot = &c->slots.data[i];
        if (slot->low < 0 || (slot->count[0] < 2 && slot->count[1] < 2)) continue;
        /* The k-th half-edge up meets the k-th down; the last pair stays as it is. */
        int32_t up = slot->first, down = slot->first;
        int pairs = slot->count[0] < slot->count[1] ? slot->count[0] : slot->count[1];
        int extra = slot->count[0] == slot->count[1] ? 1 : 0;
        for (int k = 0; k < pairs - extra; k++) {
            while (c->triangles.data[first + (size_t)up / 3].v[up % 3] != slot->low)
                up = c->halves.data[up];
            while (c->triangles.data[first + (size_t)down / 3].v[down % 3] != slot->high)
                down = c->halves.data[down];
            int32_t middle;
            RBL_TRY(add_middle(ctx, c, slot->low, slot->high, &middle));
            c->middles.data[up] = c->middles.data[down] = middle;
            up = c->halves.data[up];
            down = c->halves.data[down];
            ++*split_count;
        }
    }
done:
    return status;
}

/// Replaces a triangle by the fan of its outline with middle points. The first part takes its place, so that
/// a cap is still found at its number; the others go to the end.
static rbl_status split_triangle(rbl_context *ctx, cell_scratch *c, size_t index, const int32_t middle[3])
{
    rbl_status status = RBL_OK;
    piece_triangle old = c->triangles.data[index];
    int32_t outline[6];
    int count = 0, start = 0;
    for (int i = 0; i < 3; i++) {
        outline[count++] = old.v[i];
        if (middle[i] >= 0) {
            start = count; /* fan from a middle point: no flat triangle */
            outline[count++] = middle[i];
        }
    }
    bool first = true;
    for (int i = 1; i + 1 < count; i++) {
        piece_triangle t = old;
        t.v[0] = outline[start];
        t.v[1] = outline[(start + i) % count];
        t.v[2] = outline[(start + i + 1) % count];
        t.weighted = old.source >= 0;
        if (first)
            c->triangles.data[index] = t;
        else
            RBL_TRY(rbli_array_push(ctx, &c->triangles, t));
        first = false;
    }
done:
    return status;
}

static rbl_status separate_edges(
    rbl_context *ctx, const cut_state *s, cell_scratch *c, size_t first, size_t *split_count)
{
    rbl_status status = RBL_OK;
    for (int round = 0; round < MOST_SPLIT_ROUNDS; round++) {
        bool doubled;
        RBL_TRY(count_edges(ctx, s, c, first, &doubled));
        if (!doubled) return RBL_OK;
        RBL_TRY(choose_middles(ctx, c, first, split_count));
        size_t count = c->triangles.count;
        for (size_t i = first; i < count; i++) {
            const int32_t *middle = c->middles.data + 3 * (i - first);
            int32_t copy[3] = {middle[0], middle[1], middle[2]};
            if (copy[0] >= 0 || copy[1] >= 0 || copy[2] >= 0) RBL_TRY(split_triangle(ctx, c, i, copy));
        }
    }
    status = rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: a piece keeps doubled edges");
done:
    return status;
}

/* ---- parts ---- */

static int32_t find_root(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

static int compare_positions(const double a[3], const double b[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (a[axis] != b[axis]) return a[axis] < b[axis] ? -1 : 1;
    return 0;
}

static double largest_component(const double v[3])
{
    double x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]);
    return x > y ? (x > z ? x : z) : (y > z ? y : z);
}

/// Unites vertices over triangles; afterwards parent[v] is the part of v.
static rbl_status find_parts(rbl_context *ctx, cell_scratch *c)
{
    rbl_status status = RBL_OK;
    c->parts.count = 0;
    c->parent.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->parent, 2 * c->vertices.count));
    int32_t *parent = c->parent.data, *part_of_root = parent + c->vertices.count;
    for (size_t v = 0; v < c->vertices.count; v++)
        parent[v] = (int32_t)v;
    for (size_t i = 0; i < c->triangles.count; i++) {
        const int32_t *v = c->triangles.data[i].v;
        int32_t a = find_root(parent, v[0]), b = find_root(parent, v[1]), d = find_root(parent, v[2]);
        int32_t least = a < b ? (a < d ? a : d) : (b < d ? b : d);
        parent[a] = parent[b] = parent[d] = least;
    }
    for (size_t v = 0; v < c->vertices.count; v++) {
        /* Roots are the least of their set, so they come first. */
        int32_t root = find_root(parent, (int32_t)v);
        if ((size_t)root == v) {
            part_of_root[v] = (int32_t)c->parts.count;
            part fresh = {0, 0, 0, (int32_t)v, (int32_t)v, (int32_t)c->parts.count, -1};
            RBL_TRY(rbli_array_push(ctx, &c->parts, fresh));
        } else {
            part_of_root[v] = part_of_root[root];
        }
        part *p = &c->parts.data[part_of_root[v]];
        if (compare_positions(c->vertices.data[v].position, c->vertices.data[p->lowest].position) < 0)
            p->lowest = (int32_t)v;
    }
    memcpy(parent, part_of_root, c->vertices.count * sizeof *parent);
    c->parent.count = c->vertices.count;
    for (size_t i = 0; i < c->triangles.count; i++) {
        const int32_t *v = c->triangles.data[i].v;
        part *own = &c->parts.data[parent[v[0]]];
        const double *origin = c->vertices.data[own->first].position;
        const double *a = c->vertices.data[v[0]].position;
        const double *b = c->vertices.data[v[1]].position, *d = c->vertices.data[v[2]].position;
        double p[3], u[3], w[3];
        for (int axis = 0; axis < 3; axis++) {
            p[axis] = a[axis] - origin[axis];
            u[axis] = b[axis] - a[axis];
            w[axis] = d[axis] - a[axis];
        }
        double n[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
        own->volume += (p[0] * n[0] + p[1] * n[1] + p[2] * n[2]) / 6;
        own->area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        own->noise += largest_component(p) * largest_component(u) * largest_component(w);
    }
done:
    return status;
}

/// Whether edge a–b passes to the right of p, half open in y; the same answer for both triangles at the edge.
static bool edge_is_right(const double *a, const double *b, const double *p)
{
    if ((a[1] > p[1]) == (b[1] > p[1])) return false;
    if (compare_positions(a, b) > 0) {
        const double *swap = a;
        a = b;
        b = swap;
    }
    return p[0] < a[0] + (p[1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1]);
}

/// How often each part winds around a point, from the triangles above it.
static rbl_status wind_parts(rbl_context *ctx, cell_scratch *c, const double p[3])
{
    rbl_status status = RBL_OK;
    c->windings.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->windings, c->parts.count));
    memset(c->windings.data, 0, c->parts.count * sizeof *c->windings.data);
    for (size_t i = 0; i < c->triangles.count; i++) {
        const int32_t *v = c->triangles.data[i].v;
        const double *q[3] = {c->vertices.data[v[0]].position, c->vertices.data[v[1]].position,
            c->vertices.data[v[2]].position};
        int crossings =
            edge_is_right(q[0], q[1], p) + edge_is_right(q[1], q[2], p) + edge_is_right(q[2], q[0], p);
        if (crossings % 2 == 0) continue;
        double ux = q[1][0] - q[0][0], uy = q[1][1] - q[0][1], uz = q[1][2] - q[0][2];
        double wx = q[2][0] - q[0][0], wy = q[2][1] - q[0][1], wz = q[2][2] - q[0][2];
        double normal = ux * wy - uy * wx;
        if (normal == 0) continue;
        double z = q[0][2] -
                   ((uy * wz - uz * wy) * (p[0] - q[0][0]) + (uz * wx - ux * wz) * (p[1] - q[0][1])) / normal;
        if (z > p[2]) c->windings.data[c->parent.data[v[0]]] += normal > 0 ? 1 : -1;
    }
done:
    return status;
}

/// Leaves films out and gives cavities to the part around them.
static rbl_status own_parts(rbl_context *ctx, const cut_state *s, cell_scratch *c, assembly_block *out)
{
    rbl_status status = RBL_OK;
    double thinnest = FILM_STEPS * s->grid.step;
    int32_t largest = -1;
    for (size_t i = 0; i < c->parts.count; i++) {
        part *p = &c->parts.data[i];
        if (fabs(p->volume) <= thinnest * (p->area + thinnest * thinnest) + 0x1p-50 * p->noise) {
            p->owner = -1;
            out->film_count++;
        } else if (p->volume > 0 && (largest < 0 || p->volume > c->parts.data[largest].volume)) {
            largest = (int32_t)i;
        }
    }
    for (size_t i = 0; i < c->parts.count; i++) {
        part *p = &c->parts.data[i];
        if (p->owner < 0 || p->volume > 0) continue;
        RBL_TRY(wind_parts(ctx, c, c->vertices.data[p->lowest].position));
        int32_t around = -1;
        for (size_t j = 0; j < c->parts.count; j++) {
            const part *q = &c->parts.data[j];
            if (j == i || q->owner < 0 || q->volume <= 0 || c->windings.data[j] == 0) continue;
            if (around < 0 || q->volume < c->parts.data[around].volume) around = (int32_t)j;
        }
        if (around < 0) {
            out->negative_count++;
            around = largest;
        }
        p->owner = around;
    }
    for (size_t i = 0; i < c->parts.count && !s->split_islands; i++)
        if (c->parts.data[i].owner >= 0) c->parts.data[i].owner = largest;
done:
    return status;
}

/// Numbers the pieces of the cell by their lowest vertex; insertion sort, islands are few.
static rbl_status number_pieces(rbl_context *ctx, cell_scratch *c)
{
    rbl_status status = RBL_OK;
    c->order.count = 0;
    for (size_t i = 0; i < c->parts.count; i++)
        if (c->parts.data[i].owner == (int32_t)i) RBL_TRY(rbli_array_push(ctx, &c->order, (int32_t)i));
    for (size_t i = 1; i < c->order.count; i++) {
        int32_t moving = c->order.data[i];
        const double *key = c->vertices.data[c->parts.data[moving].lowest].position;
        size_t j = i;
        for (; j > 0; j--) {
            const part *before = &c->parts.data[c->order.data[j - 1]];
            if (compare_positions(key, c->vertices.data[before->lowest].position) >= 0) break;
            c->order.data[j] = c->order.data[j - 1];
        }
        c->order.data[j] = moving;
    }
    for (size_t i = 0; i < c->order.count; i++)
        c->parts.data[c->order.data[i]].piece = (int32_t)i;
    for (size_t i = 0; i < c->parts.count; i++) {
        part *p = &c->parts.data[i];
        p->piece = p->owner < 0 ? -1 : c->parts.data[p->owner].piece;
    }
done:
    return status;
}

/* ---- weights ---- */

static void corner_weight(const int32_t corners[3], int32_t vertex, double amount, double w[3])
{
    for (int i = 0; i < 3; i++)
        if (corners[i] == vertex) {
            w[i] += amount;
            return;
        }
}

/// Barycentric coordinates of a point in a mesh triangle, clamped to it.
static void solve_weights(const cut_state *s, const int32_t corners[3], const double p[3], double w[3])
{
    const double *a = s->points[corners[0]], *b = s->points[corners[1]], *c = s->points[corners[2]];
    cut_plane plane = cut_plane_make(a, b, c);
    int32_t axes[2];
    cut_projection_axes(plane.normal, axes);
    int32_t x = axes[0], y = axes[1];
    double ux = b[x] - a[x], uy = b[y] - a[y], vx = c[x] - a[x], vy = c[y] - a[y];
    double px = p[x] - a[x], py = p[y] - a[y], area = ux * vy - uy * vx;
    if (area > 0) {
        w[1] = fmin(fmax((px * vy - py * vx) / area, 0), 1);
        w[2] = fmin(fmax((ux * py - uy * px) / area, 0), 1 - w[1]);
    } else { /* a flat triangle: along its longest side would do, its middle does as well */
        w[1] = w[2] = 1.0 / 3;
    }
    w[0] = 1 - w[1] - w[2];
}

static void arrangement_weights(const cut_state *s, int32_t id, const int32_t corners[3], double w[3])
{
    w[0] = w[1] = w[2] = 0;
    if ((size_t)id < s->mesh_view->vertex_count) {
        corner_weight(corners, id, 1, w);
        return;
    }
    size_t node = (size_t)(id - s->point_count);
    if (node < s->crossing_count) {
        const cut_crossing *x = &s->crossings[node];
        corner_weight(corners, cut_half_start(s, x->half), 1 - x->parameter, w);
        corner_weight(corners, cut_half_end(s, x->half), x->parameter, w);
        return;
    }
    solve_weights(s, corners, cut_position(s, id), w);
}

static void vertex_weights(
    const cut_state *s, const cell_scratch *c, int32_t local, const int32_t corners[3], double w[3])
{
    const piece_vertex *v = &c->vertices.data[local];
    if (v->id >= 0) {
        arrangement_weights(s, v->id, corners, w);
        return;
    }
    double a[3], b[3];
    arrangement_weights(s, c->vertices.data[v->ends[0]].id, corners, a);
    arrangement_weights(s, c->vertices.data[v->ends[1]].id, corners, b);
    for (int i = 0; i < 3; i++)
        w[i] = 0.5 * (a[i] + b[i]);
}

/* ---- writing a cell ---- */

static rbl_status write_vertices(
    rbl_context *ctx, const cut_state *s, cell_scratch *c, assembly_block *out, size_t first)
{
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_array_reserve(ctx, &c->renumber, c->vertices.count));
    RBL_TRY(rbli_array_reserve(ctx, &out->positions, 3 * c->vertices.count));
    RBL_TRY(rbli_array_reserve(ctx, &out->sources, c->vertices.count));
    for (size_t piece = 0; piece < c->order.count; piece++) {
        piece_record *record = &out->pieces.data[first + piece];
        for (size_t v = 0; v < c->vertices.count; v++) {
            if (c->parts.data[c->parent.data[v]].piece != (int32_t)piece) continue;
            c->renumber.data[v] = record->vertex_count++;
            memcpy(
                out->positions.data + out->positions.count, c->vertices.data[v].position, 3 * sizeof(double));
            out->positions.count += 3;
            out->sources.data[out->sources.count++] =
                is_mesh_vertex(s, c, (int32_t)v) ? c->vertices.data[v].id : -1;
        }
    }
done:
    return status;
}

static rbl_status write_triangle(
    rbl_context *ctx, const cut_state *s, const cell_scratch *c, assembly_block *out, const piece_triangle *t)
{
    rbl_status status = RBL_OK;
    for (int i = 0; i < 3; i++)
        out->triangles.data[out->triangles.count++] = c->renumber.data[t->v[i]];
    out->origin_source.data[out->origin_source.count++] = t->source;
    int32_t row = -1;
    if (t->weighted) {
        RBL_TRY(rbli_array_reserve(ctx, &out->weights, 9));
        row = (int32_t)(out->weights.count / 9);
        double(*w)[3] = (double(*)[3])(out->weights.data + out->weights.count);
        for (int i = 0; i < 3; i++)
            vertex_weights(s, c, t->v[i], s->mesh_view->triangles[t->source], w[i]);
        out->weights.count += 9;
    }
    out->origin_index.data[out->origin_index.count++] = row;
done:
    return status;
}

static rbl_status write_triangles(
    rbl_context *ctx, const cut_state *s, cell_scratch *c, assembly_block *out, size_t first)
{
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_array_reserve(ctx, &out->triangles, 3 * c->triangles.count));
    RBL_TRY(rbli_array_reserve(ctx, &out->origin_source, c->triangles.count));
    RBL_TRY(rbli_array_reserve(ctx, &out->origin_index, c->triangles.count));
    for (size_t piece = 0; piece < c->order.count; piece++) {
        piece_record *record = &out->pieces.data[first + piece];
        for (size_t i = 0; i < c->triangles.count; i++) {
            const piece_triangle *t = &c->triangles.data[i];
            if (c->parts.data[c->parent.data[t->v[0]]].piece != (int32_t)piece) continue;
            record->triangle_count++;
            RBL_TRY(write_triangle(ctx, s, c, out, t));
        }
    }
done:
    return status;
}

static void note_cap_pieces(const assembly *a, const cell_scratch *c, int32_t cell)
{
    /* Caps were gathered in the order of the items; splitting an edge changes a triangle but not its part. */
    size_t at = c->cap_first;
    for (int32_t i = a->start[2][cell]; i < a->start[2][cell + 1]; i++, at++)
        a->cap_piece[a->items[2][i]] = c->parts.data[c->parent.data[c->triangles.data[at].v[0]]].piece;
}

static rbl_status assemble_cell(
    rbl_context *ctx, const assembly *a, cell_scratch *c, assembly_block *out, int32_t cell)
{
    rbl_status status = RBL_OK;
    const cut_state *s = a->state;
    size_t untouched = (size_t)(a->start[0][cell + 1] - a->start[0][cell]);
    RBL_TRY(gather_cell(ctx, a, c, cell));
    if (c->triangles.count == 0) return RBL_OK;
    RBL_TRY(separate_edges(ctx, s, c, untouched, &out->split_count));
    RBL_TRY(find_parts(ctx, c));
    RBL_TRY(own_parts(ctx, s, c, out));
    RBL_TRY(number_pieces(ctx, c));
    note_cap_pieces(a, c, cell);
    a->cell_piece_count[cell] = (int32_t)c->order.count;
    size_t first = out->pieces.count;
    for (size_t piece = 0; piece < c->order.count; piece++) {
        double volume = 0;
        for (size_t i = 0; i < c->parts.count; i++)
            if (c->parts.data[i].piece == (int32_t)piece) volume += c->parts.data[i].volume;
        RBL_TRY(rbli_array_push(ctx, &out->pieces, ((piece_record){cell, 0, 0, volume})));
    }
    RBL_TRY(write_vertices(ctx, s, c, out, first));
    RBL_TRY(write_triangles(ctx, s, c, out, first));
done:
    return status;
}

static rbl_status cell_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const assembly *a = user;
    for (size_t cell = begin; cell < end; cell++) {
        rbl_status status = assemble_cell(ctx, a, &a->workers[worker], &a->blocks[block], (int32_t)cell);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/* ---- the result ---- */

static rbl_status allocate_result(rbl_context *ctx, const assembly *a, rbli_cut_result *r)
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < a->block_count; i++) {
        const assembly_block *b = &a->blocks[i];
        r->piece_count += b->pieces.count;
        r->vertex_count += b->sources.count;
        r->triangle_count += b->origin_source.count;
        r->origins.weights_count += b->weights.count / 9;
        r->film_count += b->film_count;
        r->negative_count += b->negative_count;
        r->split_edge_count += b->split_count;
    }
    if (r->vertex_count > INT32_MAX || r->triangle_count > INT32_MAX)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "the pieces have too many triangles (%zu)", r->triangle_count);
    RBL_TRY_ALLOC(r->piece_cell = rbli_alloc(ctx, r->piece_count, sizeof *r->piece_cell));
    RBL_TRY_ALLOC(r->piece_volume = rbli_alloc(ctx, r->piece_count, sizeof *r->piece_volume));
    RBL_TRY_ALLOC(r->vertex_start = rbli_alloc(ctx, r->piece_count + 1, sizeof *r->vertex_start));
    RBL_TRY_ALLOC(r->triangle_start = rbli_alloc(ctx, r->piece_count + 1, sizeof *r->triangle_start));
    RBL_TRY_ALLOC(r->positions = rbli_alloc(ctx, r->vertex_count, sizeof *r->positions));
    RBL_TRY_ALLOC(r->vertex_source = rbli_alloc(ctx, r->vertex_count, sizeof *r->vertex_source));
    RBL_TRY_ALLOC(r->triangles = rbli_alloc(ctx, r->triangle_count, sizeof *r->triangles));
    RBL_TRY_ALLOC(r->origins.source = rbli_alloc(ctx, r->triangle_count, sizeof(int32_t)));
    RBL_TRY_ALLOC(r->origins.weights_index = rbli_alloc(ctx, r->triangle_count, sizeof(int32_t)));
    RBL_TRY_ALLOC(r->origins.weights = rbli_alloc(ctx, r->origins.weights_count, sizeof *r->origins.weights));
done:
    return status;
}

static void copy_block(
    const assembly_block *b, rbli_cut_result *r, size_t *piece, size_t *vertex, size_t *triangle, size_t *row)
{
    if (b->pieces.count == 0) return;
    memcpy(r->positions + *vertex, b->positions.data, b->positions.count * sizeof(double));
    memcpy(r->vertex_source + *vertex, b->sources.data, b->sources.count * sizeof(int32_t));
    memcpy(r->origins.source + *triangle, b->origin_source.data, b->origin_source.count * sizeof(int32_t));
    if (b->weights.count)
        memcpy(r->origins.weights + *row, b->weights.data, b->weights.count * sizeof(double));
    const int32_t *corner = b->triangles.data, *index = b->origin_index.data;
    for (size_t i = 0; i < b->pieces.count; i++, ++*piece) {
        const piece_record *p = &b->pieces.data[i];
        r->piece_cell[*piece] = p->cell;
        r->piece_volume[*piece] = p->volume;
        r->vertex_start[*piece] = (int32_t)*vertex;
        r->triangle_start[*piece] = (int32_t)*triangle;
        for (int32_t t = 0; t < p->triangle_count; t++, ++*triangle, corner += 3, index++) {
            for (int j = 0; j < 3; j++)
                r->triangles[*triangle][j] = corner[j] + (int32_t)*vertex;
            r->origins.weights_index[*triangle] = *index < 0 ? -1 : *index + (int32_t)*row;
        }
        *vertex += (size_t)p->vertex_count;
    }
    *row += b->weights.count / 9;
}

/// Area and longest side of a cap, in source units.
static void measure_cap(const cut_state *s, const cut_cap *cap, double *area, double *reach)
{
    const double *p[3];
    double longest = 0;
    for (int i = 0; i < 3; i++)
        p[i] = cut_position(s, cap->v[i]);
    for (int i = 0; i < 3; i++) {
        double squared = 0;
        for (int axis = 0; axis < 3; axis++)
            squared += (p[i][axis] - p[(i + 1) % 3][axis]) * (p[i][axis] - p[(i + 1) % 3][axis]);
        longest = fmax(longest, squared);
    }
    cut_plane plane = cut_plane_make(p[0], p[1], p[2]);
    const double *n = plane.normal;
    *area = 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) * s->grid.step * s->grid.step;
    *reach = sqrt(longest) * s->grid.step;
}

/// A contact while it is summed up; `reach` bounds its length, so that lines and points can be told from
/// areas.
typedef struct contact_sum {
    int32_t piece_a, piece_b;
    double area, reach;
} contact_sum;
typedef RBLI_ARRAY(contact_sum) contact_list;

static int compare_contacts(const void *pa, const void *pb)
{
    const contact_sum *a = pa, *b = pb;
    if (a->piece_a != b->piece_a) return a->piece_a < b->piece_a ? -1 : 1;
    if (a->piece_b != b->piece_b) return a->piece_b < b->piece_b ? -1 : 1;
    return a->area < b->area ? -1 : a->area > b->area; /* so that sums do not depend on the sort */
}

static bool same_contact(const contact_sum *a, const contact_sum *b)
{
    return a->piece_a == b->piece_a && a->piece_b == b->piece_b;
}

/// One entry for each facet's run of caps between the same two pieces.
static rbl_status list_contacts(rbl_context *ctx, const assembly *a, contact_list *list)
{
    rbl_status status = RBL_OK;
    const cut_state *s = a->state;
    int32_t last_facet = -1;
    for (size_t i = 0; i < s->cap_count; i++) {
        const cut_cap *cap = &s->caps[i];
        const int32_t *cells = cut_facet_cells(s, cap->facet);
        int32_t p = a->cap_piece[2 * i], q = a->cap_piece[2 * i + 1];
        if (p < 0 || q < 0) continue;
        p += a->cell_piece_count[cells[0]];
        q += a->cell_piece_count[cells[1]];
        contact_sum one = {p < q ? p : q, p < q ? q : p, 0, 0};
        measure_cap(s, cap, &one.area, &one.reach);
        contact_sum *last = list->count ? &list->data[list->count - 1] : NULL;
        if (last && last_facet == cap->facet && same_contact(last, &one)) {
            last->area += one.area;
            last->reach += one.reach;
        } else {
            RBL_TRY(rbli_array_push(ctx, list, one));
        }
        last_facet = cap->facet;
    }
done:
    return status;
}

/// Sums the entries of each pair; pairs that meet in a line or a point alone do not touch.
static rbl_status make_contacts(rbl_context *ctx, const assembly *a, rbli_cut_result *r)
{
    rbl_status status = RBL_OK;
    contact_list list = {0};
    RBL_TRY(list_contacts(ctx, a, &list));
    if (list.count) qsort(list.data, list.count, sizeof *list.data, compare_contacts);
    RBL_TRY_ALLOC(r->contacts = rbli_alloc(ctx, list.count, sizeof *r->contacts));
    for (size_t i = 0; i < list.count;) {
        contact_sum sum = list.data[i++];
        for (; i < list.count && same_contact(&sum, &list.data[i]); i++) {
            sum.area += list.data[i].area;
            sum.reach += list.data[i].reach;
        }
        if (sum.area <= FILM_STEPS * a->state->grid.step * sum.reach) continue;
        r->contacts[r->contact_count++] = (rbli_contact){sum.piece_a, sum.piece_b, sum.area};
    }
done:
    rbli_free(ctx, list.data);
    return status;
}

static void free_assembly(rbl_context *ctx, assembly *a)
{
    for (int kind = 0; kind < 3; kind++) {
        rbli_free(ctx, a->start[kind]);
        rbli_free(ctx, a->items[kind]);
    }
    rbli_free(ctx, a->cap_piece);
    rbli_free(ctx, a->cell_piece_count);
    for (size_t i = 0; a->workers && i < a->worker_count; i++) {
        cell_scratch *c = &a->workers[i];
        void *arrays[] = {c->local, c->stamp, c->triangles.data, c->vertices.data, c->parent.data,
            c->parts.data, c->order.data, c->slots.data, c->halves.data, c->middles.data, c->windings.data,
            c->renumber.data};
        for (size_t j = 0; j < sizeof arrays / sizeof *arrays; j++)
            rbli_free(ctx, arrays[j]);
    }
    for (size_t i = 0; a->blocks && i < a->block_count; i++) {
        assembly_block *b = &a->blocks[i];
        void *arrays[] = {b->pieces.data, b->positions.data, b->sources.data, b->triangles.data,
            b->origin_source.data, b->origin_index.data, b->weights.data};
        for (size_t j = 0; j < sizeof arrays / sizeof *arrays; j++)
            rbli_free(ctx, arrays[j]);
    }
    rbli_free(ctx, a->workers);
    rbli_free(ctx, a->blocks);
}

rbl_status cut_assemble(rbl_context *ctx, cut_state *state, rbli_cut_result *result)
{
    rbl_status status = RBL_OK;
    assembly a = {.state = state, .worker_count = (size_t)rbli_worker_count(ctx)};
    size_t cells = state->complex_view->cell_count;
    size_t vertex_count = (size_t)state->point_count + state->crossing_count + state->node_count;
    a.block_count = (cells + CELL_GRAIN - 1) / CELL_GRAIN;
    RBL_TRY(share_out(ctx, &a));
    RBL_TRY_ALLOC(a.cap_piece = rbli_alloc(ctx, 2 * state->cap_count, sizeof(int32_t)));
    memset(a.cap_piece, 0xff, 2 * state->cap_count * sizeof(int32_t));
    RBL_TRY_ALLOC(a.cell_piece_count = rbli_calloc(ctx, cells + 1, sizeof(int32_t)));
    RBL_TRY_ALLOC(a.workers = rbli_calloc(ctx, a.worker_count, sizeof *a.workers));
    RBL_TRY_ALLOC(a.blocks = rbli_calloc(ctx, a.block_count, sizeof *a.blocks));
    for (size_t i = 0; i < a.worker_count; i++) {
        RBL_TRY_ALLOC(a.workers[i].local = rbli_alloc(ctx, vertex_count, sizeof(int32_t)));
        RBL_TRY_ALLOC(a.workers[i].stamp = rbli_alloc(ctx, vertex_count, sizeof(int32_t)));
        memset(a.workers[i].stamp, 0xff, vertex_count * sizeof(int32_t));
    }
    RBL_TRY(rbli_parallel_for(ctx, cells, CELL_GRAIN, cell_block, &a));
    RBL_TRY(allocate_result(ctx, &a, result));
    size_t piece = 0, vertex = 0, triangle = 0, row = 0;
    for (size_t i = 0; i < a.block_count; i++)
        copy_block(&a.blocks[i], result, &piece, &vertex, &triangle, &row);
    result->vertex_start[piece] = (int32_t)vertex;
    result->triangle_start[piece] = (int32_t)triangle;
    for (size_t cell = 0, first = 0; cell <= cells; cell++) {
        size_t count = (size_t)a.cell_piece_count[cell];
        a.cell_piece_count[cell] = (int32_t)first;
        first += count;
    }
    RBL_TRY(make_contacts(ctx, &a, result));
done:
    free_assembly(ctx, &a);
    return status;
}
