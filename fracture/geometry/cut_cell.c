/// One cell of the cut: gathers its triangles, makes every edge occur once, finds connected parts and decides
/// which of them are pieces, cavities of pieces or films.

#include "fracture/geometry/cut_cell.h"

#include "fracture/geometry/collapse.h"

enum { MOST_SPLIT_ROUNDS = 16 /* back-to-back triangles need a second round */ };

/* ---- gathering ---- */

void cut_source_position(const cut_state *s, int32_t vertex, double position[3])
{
    size_t mesh_count = s->mesh_view->vertex_count;
    if (vertex >= s->point_count) {
        memcpy(position, s->node_sources[vertex - s->point_count], sizeof(double[3]));
        return;
    }
    int32_t source = (size_t)vertex < mesh_count ? vertex : s->twins[(size_t)vertex - mesh_count];
    if (source >= 0)
        memcpy(position, s->mesh_view->positions[source], sizeof(double[3]));
    else
        rbli_grid_unsnap(&s->grid, s->points[vertex], position);
}

/// Appends a triangle; room was made by the caller.
static void add_triangle(const cut_state *s, cut_cell *c, int32_t number, int32_t u, int32_t v, int32_t w,
    int32_t source, int32_t weighted)
{
    const int32_t corners[3] = {u, v, w};
    cut_cell_triangle *triangle = &c->triangles.data[c->triangles.count++];
    for (int i = 0; i < 3; i++) {
        cut_local *known = &c->locals[corners[i]];
        if (known->cell != number) {
            *known = (cut_local){number, (int32_t)c->vertices.count};
            cut_cell_vertex *vertex = &c->vertices.data[c->vertices.count++];
            vertex->id = corners[i];
            cut_source_position(s, corners[i], vertex->position);
        }
        triangle->v[i] = known->local;
    }
    triangle->source = source;
    triangle->weighted = weighted;
    triangle->dropped = false;
}

static rbl_status gather(
    rbl_context *ctx, const cut_state *s, const cut_items *items, int32_t number, cut_cell *c)
{
    rbl_status status = RBL_OK;
    size_t count = items->count[0] + items->count[1] + items->count[2];
    c->triangles.count = c->vertices.count = c->middles.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->triangles, count));
    RBL_TRY(rbli_array_reserve(ctx, &c->vertices, 3 * count));
    for (size_t i = 0; i < items->count[0]; i++) {
        const int32_t *v = s->mesh_view->triangles[items->items[0][i]];
        add_triangle(s, c, number, v[0], v[1], v[2], items->items[0][i], 0);
    }
    for (size_t i = 0; i < items->count[1]; i++) {
        const cut_face *face = &s->faces[items->items[1][i]];
        add_triangle(s, c, number, face->v[0], face->v[1], face->v[2], face->source, 1);
    }
    c->cap_first = c->triangles.count;
    for (size_t i = 0; i < items->count[2]; i++) {
        const cut_cap *cap = &s->caps[items->items[2][i] / 2];
        bool positive = items->items[2][i] % 2;
        add_triangle(
            s, c, number, cap->v[0], cap->v[positive ? 2 : 1], cap->v[positive ? 1 : 2], -1 - cap->facet, 0);
    }
done:
    return status;
}

/* ---- edges that occur twice ---- */

static cut_edge_slot *find_slot(cut_cell *c, int32_t low, int32_t high)
{
    uint32_t x = (uint32_t)low * 0x9e3779b1u ^ (uint32_t)high * 0x85ebca6bu;
    size_t i = (x ^ x >> 15) & (c->slots.count - 1);
    while (c->slots.data[i].low >= 0 && (c->slots.data[i].low != low || c->slots.data[i].high != high))
        i = (i + 1) & (c->slots.count - 1);
    return &c->slots.data[i];
}

static bool is_mesh_vertex(const cut_state *s, const cut_cell *c, int32_t local)
{
    int32_t id = c->vertices.data[local].id;
    return id >= 0 && (size_t)id < s->mesh_view->vertex_count;
}

/// Counts the half-edges of all triangles but the untouched ones; `*doubled` tells whether an edge occurs
/// twice.
static rbl_status count_edges(rbl_context *ctx, const cut_state *s, cut_cell *c, size_t first, bool *doubled)
{
    rbl_status status = RBL_OK;
    size_t half_count = 3 * (c->triangles.count - first), size = 16;
    while (size < half_count)
        size *= 2;
    c->slots.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->slots, size));
    c->slots.count = size;
    for (size_t i = 0; i < size; i++)
        c->slots.data[i] = (cut_edge_slot){-1, -1, {0, 0}, -1};
    *doubled = false;
    for (size_t h = 0; h < half_count; h++) {
        const int32_t *v = c->triangles.data[first + h / 3].v;
        int32_t from = v[h % 3], to = v[(h + 1) % 3];
        cut_edge_slot *slot = find_slot(c, from < to ? from : to, from < to ? to : from);
        slot->low = from < to ? from : to;
        slot->high = from < to ? to : from;
        if (slot->count[from > to]++ > 0) *doubled = true;
    }
    for (size_t i = 0; i < size; i++) {
        const cut_edge_slot *slot = &c->slots.data[i];
        if (slot->low < 0 || slot->count[0] == slot->count[1]) continue;
        if (!is_mesh_vertex(s, c, slot->low) || !is_mesh_vertex(s, c, slot->high))
            return rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: a piece is not closed at arrangement edge %d–%d",
                c->vertices.data[slot->low].id, c->vertices.data[slot->high].id);
    }
done:
    return status;
}

static rbl_status add_middle(rbl_context *ctx, cut_cell *c, int32_t a, int32_t b, int32_t *middle)
{
    rbl_status status = RBL_OK;
    cut_cell_vertex m = {.id = -1 - (int32_t)c->middles.count};
    for (int axis = 0; axis < 3; axis++)
        m.position[axis] = 0.5 * (c->vertices.data[a].position[axis] + c->vertices.data[b].position[axis]);
    RBL_TRY(rbli_array_push(ctx, &c->middles, ((cut_middle){{a, b}})));
    *middle = (int32_t)c->vertices.count;
    status = rbli_array_push(ctx, &c->vertices, m);
done:
    return status;
}

/// Gives every further occurrence of an edge a middle point, shared by the two triangles there.
static rbl_status choose_middles(rbl_context *ctx, cut_cell *c, size_t first)
{
    rbl_status status = RBL_OK;
    size_t half_count = 3 * (c->triangles.count - first);
    RBL_TRY(rbli_array_reserve(ctx, &c->half_middles, half_count));
    RBL_TRY(rbli_array_reserve(ctx, &c->halves, half_count));
    for (size_t h = 0; h < half_count; h++)
        c->half_middles.data[h] = -1;
    /* Lists of the half-edges of doubled edges, in order, both directions in one. */
    for (size_t h = half_count; h-- > 0;) {
        const int32_t *v = c->triangles.data[first + h / 3].v;
        int32_t from = v[h % 3], to = v[(h + 1) % 3];
        cut_edge_slot *slot = find_slot(c, from < to ? from : to, from < to ? to : from);
        if (slot->count[0] < 2 && slot->count[1] < 2) continue;
        c->halves.data[h] = slot->first;
        slot->first = (int32_t)h;
    }
    for (size_t i = 0; i < c->slots.count; i++) {
        cut_edge_slot *slot = &c->slots.data[i];
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
            c->half_middles.data[up] = c->half_middles.data[down] = middle;
            up = c->halves.data[up];
            down = c->halves.data[down];
            c->split_count++;
        }
    }
done:
    return status;
}

/// Replaces a triangle by the fan of its outline with middle points. The first part takes its place, so that
/// a cap is still found at its number; the others go to the end.
static rbl_status split_triangle(rbl_context *ctx, cut_cell *c, size_t index, const int32_t middle[3])
{
    rbl_status status = RBL_OK;
    cut_cell_triangle old = c->triangles.data[index];
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
        cut_cell_triangle t = old;
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

static rbl_status separate_edges(rbl_context *ctx, const cut_state *s, cut_cell *c, size_t first)
{
    rbl_status status = RBL_OK;
    for (int round = 0; round < MOST_SPLIT_ROUNDS; round++) {
        bool doubled;
        RBL_TRY(count_edges(ctx, s, c, first, &doubled));
        if (!doubled) return RBL_OK;
        RBL_TRY(choose_middles(ctx, c, first));
        size_t count = c->triangles.count;
        for (size_t i = first; i < count; i++) {
            const int32_t *middle = c->half_middles.data + 3 * (i - first);
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
static rbl_status find_parts(rbl_context *ctx, cut_cell *c)
{
    rbl_status status = RBL_OK;
    c->parts.count = 0;
    c->has_zero_edge = false;
    c->part_of.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->part_of, 2 * c->vertices.count));
    int32_t *parent = c->part_of.data, *part_of_root = parent + c->vertices.count;
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
            cut_part fresh = {0, 0, 0, 0, 0, (int32_t)v, (int32_t)v, (int32_t)c->parts.count, -1};
            RBL_TRY(rbli_array_push(ctx, &c->parts, fresh));
        } else {
            part_of_root[v] = part_of_root[root];
        }
        cut_part *p = &c->parts.data[part_of_root[v]];
        if (compare_positions(c->vertices.data[v].position, c->vertices.data[p->lowest].position) < 0)
            p->lowest = (int32_t)v;
    }
    memcpy(parent, part_of_root, c->vertices.count * sizeof *parent);
    c->part_of.count = c->vertices.count;
    for (size_t i = 0; i < c->triangles.count; i++) {
        const int32_t *v = c->triangles.data[i].v;
        cut_part *own = &c->parts.data[parent[v[0]]];
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
        double longest_u = largest_component(u), longest_w = largest_component(w);
        own->noise += largest_component(p) * longest_u * longest_w;
        if (longest_u == 0 || longest_w == 0 || (u[0] == w[0] && u[1] == w[1] && u[2] == w[2]))
            c->has_zero_edge = true;
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
static rbl_status wind_parts(rbl_context *ctx, cut_cell *c, const double p[3])
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
        if (z > p[2]) c->windings.data[c->part_of.data[v[0]]] += normal > 0 ? 1 : -1;
    }
done:
    return status;
}

/// Leaves out pieces that hold no more than was taken from them (overlapping shells of both senses).
static void drop_hollow_pieces(cut_cell *c)
{
    for (size_t i = 0; i < c->parts.count; i++) {
        cut_part *p = &c->parts.data[i];
        if (p->owner < 0 || p->owner == (int32_t)i) continue;
        c->parts.data[p->owner].taken += p->volume;
        c->parts.data[p->owner].limit += p->limit;
    }
    for (size_t i = 0; i < c->parts.count; i++) {
        cut_part *p = &c->parts.data[i];
        if (p->owner < 0) continue;
        const cut_part *owner = &c->parts.data[p->owner];
        if (owner->volume + owner->taken > owner->limit) continue;
        if (p->owner == (int32_t)i) c->negative_count++;
        p->piece = -2; /* marks; owners must stay readable until all are looked at */
    }
    for (size_t i = 0; i < c->parts.count; i++)
        if (c->parts.data[i].piece == -2) c->parts.data[i].owner = -1;
}

/// Leaves films out and gives cavities to the part around them.
static rbl_status own_parts(rbl_context *ctx, const cut_state *s, cut_cell *c)
{
    rbl_status status = RBL_OK;
    double thinnest = CUT_FILM_STEPS * s->grid.step;
    int32_t largest = -1;
    for (size_t i = 0; i < c->parts.count; i++) {
        cut_part *p = &c->parts.data[i];
        p->limit = thinnest * (p->area + thinnest * thinnest) + 0x1p-48 * p->noise;
        if (fabs(p->volume) <= p->limit) {
            p->owner = -1;
            c->film_count++;
        } else if (p->volume > 0 && (largest < 0 || p->volume > c->parts.data[largest].volume)) {
            largest = (int32_t)i;
        }
    }
    for (size_t i = 0; i < c->parts.count; i++) {
        cut_part *p = &c->parts.data[i];
        if (p->owner < 0 || p->volume > 0) continue;
        RBL_TRY(wind_parts(ctx, c, c->vertices.data[p->lowest].position));
        int32_t around = -1;
        for (size_t j = 0; j < c->parts.count; j++) {
            const cut_part *q = &c->parts.data[j];
            if (j == i || q->owner < 0 || q->volume <= 0 || c->windings.data[j] == 0) continue;
            if (around < 0 || q->volume < c->parts.data[around].volume) around = (int32_t)j;
        }
        if (around < 0) {
            c->negative_count++;
            around = largest;
        }
        p->owner = around;
    }
    for (size_t i = 0; i < c->parts.count && !s->split_islands; i++)
        if (c->parts.data[i].owner >= 0) c->parts.data[i].owner = largest;
    drop_hollow_pieces(c);
done:
    return status;
}

/// Numbers the pieces of the cell by their lowest vertex; insertion sort, islands are few.
static rbl_status number_pieces(rbl_context *ctx, cut_cell *c)
{
    rbl_status status = RBL_OK;
    c->pieces.count = 0;
    for (size_t i = 0; i < c->parts.count; i++)
        if (c->parts.data[i].owner == (int32_t)i) RBL_TRY(rbli_array_push(ctx, &c->pieces, (int32_t)i));
    for (size_t i = 1; i < c->pieces.count; i++) {
        int32_t moving = c->pieces.data[i];
        const double *key = c->vertices.data[c->parts.data[moving].lowest].position;
        size_t j = i;
        for (; j > 0; j--) {
            const cut_part *before = &c->parts.data[c->pieces.data[j - 1]];
            if (compare_positions(key, c->vertices.data[before->lowest].position) >= 0) break;
            c->pieces.data[j] = c->pieces.data[j - 1];
        }
        c->pieces.data[j] = moving;
    }
    for (size_t i = 0; i < c->pieces.count; i++)
        c->parts.data[c->pieces.data[i]].piece = (int32_t)i;
    for (size_t i = 0; i < c->parts.count; i++) {
        cut_part *p = &c->parts.data[i];
        p->piece = p->owner < 0 ? -1 : c->parts.data[p->owner].piece;
    }
done:
    return status;
}

/* ---- all of it ---- */

/// Joins the ends of edges of length zero; dropped triangles and joined vertices stay in the lists, marked.
static rbl_status collapse_edges(rbl_context *ctx, const cut_state *s, cut_cell *c)
{
    rbl_status status = RBL_OK;
    rbli_arena arena;
    rbli_arena_init(&arena, ctx);
    c->kept.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->kept, c->vertices.count));
    c->kept.count = c->vertices.count;
    for (size_t v = 0; v < c->vertices.count; v++)
        c->kept.data[v] = (int32_t)v;
    if (!c->has_zero_edge) goto done;
    double(*positions)[3] = rbli_arena_alloc(&arena, c->vertices.count, sizeof *positions);
    uint8_t *prefer = rbli_arena_alloc(&arena, c->vertices.count, 1);
    int32_t(*triangles)[3] = rbli_arena_alloc(&arena, c->triangles.count, sizeof *triangles);
    bool *dropped = rbli_arena_alloc(&arena, c->triangles.count, 1);
    RBL_TRY_ALLOC(positions);
    RBL_TRY_ALLOC(prefer);
    RBL_TRY_ALLOC(triangles);
    RBL_TRY_ALLOC(dropped);
    for (size_t v = 0; v < c->vertices.count; v++) {
        memcpy(positions[v], c->vertices.data[v].position, sizeof *positions);
        prefer[v] = is_mesh_vertex(s, c, (int32_t)v) ? 2 : c->vertices.data[v].id >= 0;
    }
    for (size_t t = 0; t < c->triangles.count; t++) {
        memcpy(triangles[t], c->triangles.data[t].v, sizeof *triangles);
        dropped[t] = false;
    }
    RBL_TRY(rbli_collapse_zero_edges(&arena, (const double(*)[3])positions, c->vertices.count, prefer,
        triangles, c->triangles.count, dropped, c->kept.data));
    for (size_t t = 0; t < c->triangles.count; t++) {
        c->triangles.data[t].dropped = dropped[t];
        if (!dropped[t]) memcpy(c->triangles.data[t].v, triangles[t], sizeof *triangles);
    }
done:
    rbli_arena_free(&arena);
    return status;
}

rbl_status cut_cell_init(rbl_context *ctx, cut_cell *c, size_t arrangement_vertex_count)
{
    c->locals = rbli_alloc(ctx, arrangement_vertex_count, sizeof *c->locals);
    if (!c->locals) return RBL_ERR_NO_MEMORY;
    memset(c->locals, 0xff, arrangement_vertex_count * sizeof *c->locals);
    return RBL_OK;
}

void cut_cell_free(rbl_context *ctx, cut_cell *c)
{
    void *arrays[] = {c->locals, c->triangles.data, c->vertices.data, c->middles.data, c->part_of.data,
        c->parts.data, c->pieces.data, c->slots.data, c->halves.data, c->half_middles.data, c->windings.data,
        c->kept.data};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
}

rbl_status cut_cell_build(
    rbl_context *ctx, const cut_state *state, const cut_items *items, int32_t number, cut_cell *cell)
{
    rbl_status status = RBL_OK;
    RBL_TRY(gather(ctx, state, items, number, cell));
    RBL_TRY(separate_edges(ctx, state, cell, items->count[0]));
    RBL_TRY(find_parts(ctx, cell));
    RBL_TRY(own_parts(ctx, state, cell));
    RBL_TRY(number_pieces(ctx, cell));
    RBL_TRY(collapse_edges(ctx, state, cell));
done:
    return status;
}
