/// From labelled triangles to pieces: shares triangles out to cells, turns cells into pieces in parallel,
/// writes them, sums contacts.

#include "fracture/geometry/cut_cell.h"

#include <stdlib.h>

#include "fracture/geometry/radix_sort.h"

enum {
    CELL_GRAIN = 8,
    AHEAD = 40, /* caps whose corners memory is asked for before they are measured */
    LABEL_GRAIN = 32768,
    FACET_GRAIN = 1024,
    CONTACT_GRAIN = 8192,
    WAVE_CELLS = 128,     /* for one thread; what they hold stays in the caches */
    CELLS_A_WORKER = 128, /* for several: they wait for one another twice a wave */
};

typedef struct piece_record {
    int32_t cell;
    int32_t vertex_count, triangle_count;
    double volume;
} piece_record;

/// The pieces of a cell, one after another.
typedef struct cell_output {
    RBLI_ARRAY(piece_record) pieces;
    cut_index_list vertex_ids; /* arrangement vertices, or −1 − middle */
    cut_point_list positions;
    RBLI_ARRAY(cut_middle) middles; /* ends are vertices of the output */
    cut_triangle_list triangles;    /* vertices count within the piece */
    size_t weighted_count, film_count, negative_count, split_count;
    size_t first_piece, first_vertex, first_triangle, first_row; /* in the result */
} cell_output;

typedef struct assembly_worker {
    cut_cell cell;
    RBLI_ARRAY(int32_t) start; /* first vertex, then triangle, of each piece of a cell */
    RBLI_ARRAY(int32_t) renumber;
    char apart[CUT_APART_BYTES];
} assembly_worker;

typedef struct assembly {
    cut_state *state;
    int32_t *start[3]; /* untouched triangles, faces, runs of caps of each cell, see cut_items */
    int32_t *items[2]; /* untouched triangles, faces */
    cut_cap_run *runs;
    uint8_t *cell_whole;       /* [cell_count] all of the cell is one piece */
    int32_t *cap_piece;        /* [2 × caps' numbers] piece within a cell that is not whole, −1 for none */
    int32_t *cell_piece_count; /* [cell_count + 1] then the first piece of each cell */
    assembly_worker *workers;
    size_t worker_count;
    cell_output *outputs; /* of a wave: some cells are assembled, then written */
    size_t output_count, wave_first;
    struct assembly_room {
        size_t pieces, vertices, triangles, rows;
    } room; /* of the result's arrays */
    rbli_cut_result *result;
} assembly;

/* ---- sharing out ---- */

static void make_starts(int32_t *start, size_t count)
{
    for (size_t i = 0; i < count; i++)
        start[i + 2] += start[i + 1];
}

static rbl_status label_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    void **arguments = user;
    const cut_state *s = arguments[0];
    int32_t *label = arguments[1];
    for (size_t t = begin; t < end; t++)
        label[t] = s->vertex_label[s->mesh_view->triangles[t][0]];
    return RBL_OK;
}

typedef struct sharing_job {
    assembly *a;
    int32_t *label; /* of an untouched triangle, else −1 */
} sharing_job;

/// Sorts the items of one kind by their cells.
static void share_kind(const sharing_job *job, size_t kind)
{
    const assembly *a = job->a;
    const cut_state *s = a->state;
    const int32_t *label = job->label;
    int32_t *start = a->start[kind], *items = kind < 2 ? a->items[kind] : NULL;
    size_t cells = s->complex_view->cell_count, triangle_count = s->mesh_view->triangle_count;
    if (kind == 0) {
        for (size_t t = 0; t < triangle_count; t++)
            if (label[t] >= 0) start[label[t] + 2]++;
        make_starts(start, cells);
        for (size_t t = 0; t < triangle_count; t++)
            if (label[t] >= 0) items[start[label[t] + 1]++] = (int32_t)t;
    } else if (kind == 1) {
        for (size_t i = 0; i < s->face_count; i++)
            start[s->faces[i].label + 2]++;
        make_starts(start, cells);
        for (size_t i = 0; i < s->face_count; i++)
            items[start[s->faces[i].label + 1]++] = (int32_t)i;
    } else {
        const cut_cap_range *caps = s->facet_caps;
        int32_t side_count = 2 * (int32_t)s->complex_view->facet_count;
        for (int32_t i = 0; i < side_count; i++)
            if (caps[i / 2].count) start[cut_facet_cells(s, i / 2)[i % 2] + 2]++;
        make_starts(start, cells);
        for (int32_t i = 0; i < side_count; i++)
            if (caps[i / 2].count)
                a->runs[start[cut_facet_cells(s, i / 2)[i % 2] + 1]++] =
                    (cut_cap_run){2 * caps[i / 2].first + i % 2, caps[i / 2].count};
    }
}

static rbl_status share_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    for (size_t kind = begin; kind < end; kind++)
        share_kind(user, 2 - kind); /* the most work first */
    return RBL_OK;
}

static rbl_status share_out(rbl_context *ctx, assembly *a)
{
    rbl_status status = RBL_OK;
    const cut_state *s = a->state;
    size_t cells = s->complex_view->cell_count, triangle_count = s->mesh_view->triangle_count;
    size_t untouched = triangle_count - s->cut_triangle_count;
    size_t facet_count = s->complex_view->facet_count, counts[2] = {untouched, s->face_count};
    sharing_job job = {a, NULL};
    RBL_TRY_ALLOC(job.label = rbli_alloc(ctx, triangle_count, sizeof *job.label));
    for (int kind = 0; kind < 3; kind++) {
        RBL_TRY_ALLOC(a->start[kind] = rbli_calloc(ctx, cells + 2, sizeof(int32_t)));
        if (kind < 2) RBL_TRY_ALLOC(a->items[kind] = rbli_alloc(ctx, counts[kind], sizeof(int32_t)));
    }
    RBL_TRY_ALLOC(a->runs = rbli_alloc(
                      ctx, 2 * (s->cap_count < facet_count ? s->cap_count : facet_count), sizeof *a->runs));
    void *arguments[] = {a->state, job.label};
    RBL_TRY(rbli_parallel_for(ctx, triangle_count, LABEL_GRAIN, label_block, arguments));
    for (size_t i = 0; i < s->cut_triangle_count; i++)
        job.label[s->cut_triangles[i].triangle] = -1;
    RBL_TRY(rbli_parallel_for(ctx, 3, 1, share_block, &job));
done:
    rbli_free(ctx, job.label);
    return status;
}

/* ---- weights ---- */

/// False when the vertex is no corner. Which corner it is cannot be foretold, so nothing depends on it by a branch.
static inline bool corner_weight(const int32_t corners[3], int32_t vertex, double amount, double w[3])
{
    bool found = false;
    for (int i = 0; i < 3; i++) {
        bool here = corners[i] == vertex && !found;
        w[i] += here ? amount : 0;
        found |= here;
    }
    return found;
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
        w[1] = cut_min(cut_max((px * vy - py * vx) / area, 0), 1);
        w[2] = cut_min(cut_max((ux * py - uy * px) / area, 0), 1 - w[1]);
    } else { /* a flat triangle: along its longest side would do, its middle does as well */
        w[1] = w[2] = 1.0 / 3;
    }
    w[0] = 1 - w[1] - w[2];
}

void cut_arrangement_weights(const cut_state *s, int32_t id, const int32_t corners[3], double w[3])
{
    w[0] = w[1] = w[2] = 0;
    if (id < s->point_count) {
        if (corner_weight(corners, id, 1, w)) return;
    } else if ((size_t)(id - s->point_count) < s->crossing_count) {
        const cut_crossing *x = &s->crossings[id - s->point_count];
        if (corner_weight(corners, cut_half_start(s, x->half), 1 - x->parameter, w) &&
            corner_weight(corners, cut_half_end(s, x->half), x->parameter, w))
            return;
    } else {
        const cut_node *x = &s->nodes[(size_t)(id - s->point_count) - s->crossing_count];
        const int32_t *edge = s->complex.edges[x->edge];
        if (corner_weight(corners, edge[0], 1 - x->parameter, w) &&
            corner_weight(corners, edge[1], x->parameter, w))
            return;
    }
    /* a point inside the triangle, or one that a collapsed edge brought here */
    solve_weights(s, corners, cut_position(s, id), w);
}

/// Weights of a vertex of a piece; a middle point has its ends' mean (a middle of middles: as deep as there
/// were rounds).
static void vertex_weights(
    const cut_state *s, const cell_output *b, size_t vertex, const int32_t corners[3], double w[3])
{
    int32_t id = b->vertex_ids.data[vertex];
    if (id >= 0) {
        cut_arrangement_weights(s, id, corners, w);
        return;
    }
    double x[3], y[3];
    vertex_weights(s, b, (size_t)b->middles.data[-1 - id].ends[0], corners, x);
    vertex_weights(s, b, (size_t)b->middles.data[-1 - id].ends[1], corners, y);
    for (int i = 0; i < 3; i++)
        w[i] = 0.5 * (x[i] + y[i]);
}

/* ---- one cell ---- */

/// −1 for a vertex that is left out.
static int32_t piece_of_vertex(const cut_cell *c, int32_t vertex)
{
    if (c->whole) return 0;
    if (c->kept.data[vertex] != vertex) return -1;
    return c->parts.data[c->part_of.data[vertex]].piece;
}

/// −1 for a triangle that is left out.
static int32_t piece_of_triangle(const cut_cell *c, const cut_cell_triangle *triangle)
{
    return triangle->dropped ? -1 : piece_of_vertex(c, triangle->v[0]);
}

/// Room for one more than the pieces, zeroed.
static rbl_status clear_starts(rbl_context *ctx, assembly_worker *w)
{
    size_t count = w->cell.pieces.count + 2;
    w->start.count = 0;
    rbl_status status = rbli_array_reserve(ctx, &w->start, count);
    if (status == RBL_OK) memset(w->start.data, 0, count * sizeof *w->start.data);
    return status;
}

/// Stores the vertices piece by piece, each piece's in the order of the cell.
static rbl_status store_vertices(rbl_context *ctx, assembly_worker *w, cell_output *out)
{
    rbl_status status = RBL_OK;
    const cut_cell *c = &w->cell;
    RBL_TRY(clear_starts(ctx, w));
    w->renumber.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &w->renumber, c->ids.count));
    RBL_TRY(rbli_array_reserve(ctx, &out->vertex_ids, c->ids.count));
    RBL_TRY(rbli_array_reserve(ctx, &out->positions, c->ids.count));
    for (size_t v = 0; v < c->ids.count; v++) {
        int32_t piece = piece_of_vertex(c, (int32_t)v);
        w->renumber.data[v] = piece < 0 ? -1 : out->pieces.data[piece].vertex_count++;
    }
    for (size_t piece = 0; piece < c->pieces.count; piece++)
        w->start.data[piece + 1] = w->start.data[piece] + out->pieces.data[piece].vertex_count;
    for (size_t v = 0; v < c->ids.count; v++) {
        int32_t piece = piece_of_vertex(c, (int32_t)v), id = c->ids.data[v];
        if (piece < 0) continue;
        size_t at = (size_t)(w->start.data[piece] + w->renumber.data[v]);
        if (id < 0) { /* its ends come before it in the cell and lie in the same piece */
            const cut_middle *middle = &c->middles.data[-1 - id];
            cut_middle stored = {{0, 0}};
            for (int end = 0; end < 2; end++)
                stored.ends[end] = w->start.data[piece] + w->renumber.data[c->kept.data[middle->ends[end]]];
            id = -1 - (int32_t)out->middles.count;
            RBL_TRY(rbli_array_push(ctx, &out->middles, stored));
        }
        out->vertex_ids.data[at] = id;
        out->positions.data[at] = c->positions.data[v];
    }
    out->vertex_ids.count = out->positions.count = (size_t)w->start.data[c->pieces.count];
done:
    return status;
}

/// @param vertices  they were stored, so corners have numbers
static rbl_status store_triangles(rbl_context *ctx, assembly_worker *w, cell_output *out, bool vertices)
{
    rbl_status status = RBL_OK;
    const cut_cell *c = &w->cell;
    RBL_TRY(clear_starts(ctx, w));
    RBL_TRY(rbli_array_reserve(ctx, &out->triangles, c->triangles.count));
    for (size_t i = 0; i < c->triangles.count; i++) {
        int32_t piece = piece_of_triangle(c, &c->triangles.data[i]);
        if (piece >= 0) out->pieces.data[piece].triangle_count++;
    }
    for (size_t piece = 0; piece < c->pieces.count; piece++)
        w->start.data[piece + 1] = w->start.data[piece] + out->pieces.data[piece].triangle_count;
    out->triangles.count = (size_t)w->start.data[c->pieces.count];
    for (size_t i = 0; i < c->triangles.count; i++) {
        const cut_cell_triangle *t = &c->triangles.data[i];
        int32_t piece = piece_of_triangle(c, t);
        if (piece < 0) continue;
        cut_cell_triangle *stored = &out->triangles.data[w->start.data[piece]++];
        *stored = *t;
        for (int corner = 0; corner < 3; corner++)
            stored->v[corner] = vertices ? w->renumber.data[t->v[corner]] : 0;
        stored->weighted = t->weighted && vertices;
        out->weighted_count += (size_t)stored->weighted;
    }
done:
    return status;
}

/// Takes the arrays of a cell that is one piece; the cell gets those of the output to fill next.
static void take_whole(cut_cell *c, cell_output *out)
{
    cut_index_list ids = out->vertex_ids;
    cut_point_list positions = out->positions;
    cut_triangle_list triangles = out->triangles;
    out->pieces.data[0].vertex_count = (int32_t)c->ids.count;
    out->pieces.data[0].triangle_count = (int32_t)c->triangles.count;
    out->vertex_ids = c->ids;
    out->positions = c->positions;
    out->triangles = c->triangles;
    c->ids = ids;
    c->positions = positions;
    c->triangles = triangles;
}

/// Notes to which piece each cap of a cell belongs; splitting an edge does not change that.
static void store_cap_pieces(const assembly *a, const cut_items *items, const cut_cell *c)
{
    const cut_cell_triangle *triangle = c->triangles.data + c->cap_first;
    for (size_t i = 0; i < items->run_count; i++) {
        int32_t *piece = a->cap_piece + items->runs[i].first;
        for (int32_t cap = 0; cap < items->runs[i].count; cap++, triangle++)
            piece[2 * cap] = piece_of_vertex(c, c->kept.data[triangle->v[0]]);
    }
}

static rbl_status assemble_cell(
    rbl_context *ctx, const assembly *a, assembly_worker *w, cell_output *out, int32_t number)
{
    rbl_status status = RBL_OK;
    cut_cell *c = &w->cell;
    const int32_t *start[3] = {a->start[0] + number, a->start[1] + number, a->start[2] + number};
    cut_items items = {.untouched = a->items[0] + start[0][0],
        .faces = a->items[1] + start[1][0],
        .runs = a->runs + start[2][0],
        .untouched_count = (size_t)(start[0][1] - start[0][0]),
        .face_count = (size_t)(start[1][1] - start[1][0]),
        .run_count = (size_t)(start[2][1] - start[2][0])};
    for (size_t i = 0; i < items.run_count; i++)
        items.cap_count += (size_t)items.runs[i].count;
    size_t total = items.untouched_count + items.face_count + items.cap_count;
    if (total == 0 || cut_is_dropped(a->state, number)) return RBL_OK;
    c->film_count = c->negative_count = c->split_count = 0;
    RBL_TRY(cut_cell_build(ctx, a->state, &items, c));
    out->film_count = c->film_count;
    out->negative_count = c->negative_count;
    out->split_count = c->split_count;
    a->cell_whole[number] = c->whole;
    if (!c->whole) store_cap_pieces(a, &items, c);
    a->cell_piece_count[number] = (int32_t)c->pieces.count;
    for (size_t piece = 0; piece < c->pieces.count; piece++)
        RBL_TRY(rbli_array_push(ctx, &out->pieces, ((piece_record){number, 0, 0, 0})));
    for (size_t i = 0; i < c->parts.count; i++)
        if (c->parts.data[i].piece >= 0)
            out->pieces.data[c->parts.data[i].piece].volume += c->parts.data[i].volume;
    if (a->state->contacts_only) {
        if (c->pieces.count > 1) RBL_TRY(store_triangles(ctx, w, out, false));
    } else if (c->whole) {
        out->weighted_count = items.face_count;
        take_whole(c, out);
    } else {
        RBL_TRY(store_vertices(ctx, w, out));
        RBL_TRY(store_triangles(ctx, w, out, true));
    }
done:
    return status;
}

/// Asks for the caps of a cell before its turn comes: cells are in no order in space. (Inlined by force, because
/// compilers may drop calls of a function that does nothing else.)
static inline __attribute__((always_inline)) void prefetch_caps(const assembly *a, size_t cell)
{
    if (cell >= a->state->complex_view->cell_count) return;
    for (int32_t i = a->start[2][cell]; i < a->start[2][cell + 1]; i++) {
        const cut_facet_triangle *caps = cut_cap_at(a->state, a->runs[i].first / 2);
        __builtin_prefetch(caps);
        __builtin_prefetch(caps + a->runs[i].count - 1);
    }
}

static rbl_status cell_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    const assembly *a = user;
    assembly_worker *w = &a->workers[worker];
    for (size_t i = begin; i < end; i++) {
        prefetch_caps(a, a->wave_first + i + 2);
        rbl_status status = assemble_cell(ctx, a, w, &a->outputs[i], (int32_t)(a->wave_first + i));
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/* ---- the result ---- */

/// Room for what all cells give unless edges are split, and for vertices as closed surfaces have them.
static struct assembly_room expected_room(const assembly *a)
{
    const cut_state *s = a->state;
    size_t cells = s->complex_view->cell_count - s->dropped_cells;
    struct assembly_room room = {.pieces = cells};
    if (s->contacts_only) return room;
    room.triangles = (size_t)a->start[0][cells] + (size_t)a->start[1][cells] + 2 * s->cap_count;
    for (int32_t i = a->start[2][cells]; i < a->start[2][s->complex_view->cell_count]; i++)
        room.triangles -= (size_t)a->runs[i].count;
    room.rows = (size_t)a->start[1][cells];
    room.vertices = room.triangles / 2 + 2 * cells;
    return room;
}

/// Waves write little at a time, all threads to the same pages: these are fetched before.
static rbl_status fit(rbl_context *ctx, void *array, size_t old_count, size_t count, size_t size)
{
    void *old, *moved;
    memcpy(&old, array, sizeof old);
    moved = rbli_realloc(ctx, old, count, size);
    if (!moved) return RBL_ERR_NO_MEMORY;
    memcpy(array, &moved, sizeof moved);
    if (count <= old_count) return RBL_OK;
    return rbli_touch_pages(ctx, (char *)moved + old_count * size, (count - old_count) * size);
}

/// Makes the result's arrays as long as `room` says.
static rbl_status fit_result(rbl_context *ctx, assembly *a, struct assembly_room room)
{
    rbl_status status = RBL_OK;
    rbli_cut_result *r = a->result;
    if (room.pieces != a->room.pieces || !r->piece_cell) {
        RBL_TRY(fit(ctx, &r->piece_cell, a->room.pieces, room.pieces, sizeof *r->piece_cell));
        RBL_TRY(fit(ctx, &r->piece_volume, a->room.pieces, room.pieces, sizeof *r->piece_volume));
        RBL_TRY(fit(ctx, &r->vertex_start, a->room.pieces, room.pieces + 1, sizeof *r->vertex_start));
        RBL_TRY(fit(ctx, &r->triangle_start, a->room.pieces, room.pieces + 1, sizeof *r->triangle_start));
        a->room.pieces = room.pieces;
    }
    if (room.vertices != a->room.vertices || !r->positions) {
        RBL_TRY(fit(ctx, &r->positions, a->room.vertices, room.vertices, sizeof *r->positions));
        RBL_TRY(fit(ctx, &r->vertex_source, a->room.vertices, room.vertices, sizeof *r->vertex_source));
        a->room.vertices = room.vertices;
    }
    if (room.triangles != a->room.triangles || !r->triangles) {
        RBL_TRY(fit(ctx, &r->triangles, a->room.triangles, room.triangles, sizeof *r->triangles));
        RBL_TRY(fit(ctx, &r->origins.source, a->room.triangles, room.triangles, sizeof *r->origins.source));
        RBL_TRY(fit(ctx, &r->origins.weights_index, a->room.triangles, room.triangles,
            sizeof *r->origins.weights_index));
        a->room.triangles = room.triangles;
    }
    if (room.rows != a->room.rows || !r->origins.weights) {
        RBL_TRY(fit(ctx, &r->origins.weights, a->room.rows, room.rows, sizeof *r->origins.weights));
        a->room.rows = room.rows;
    }
done:
    return status;
}

static size_t grown(size_t room, size_t needed)
{
    if (needed <= room) return room;
    return needed > room + room / 4 ? needed : room + room / 4;
}

/// Gives the cells of a wave their places in the result.
static rbl_status place_wave(rbl_context *ctx, assembly *a, size_t count)
{
    rbli_cut_result *r = a->result;
    for (size_t i = 0; i < count; i++) {
        cell_output *b = &a->outputs[i];
        b->first_piece = r->piece_count;
        b->first_vertex = r->vertex_count;
        b->first_triangle = r->triangle_count;
        b->first_row = r->origins.weights_count;
        r->piece_count += b->pieces.count;
        r->vertex_count += b->vertex_ids.count;
        r->triangle_count += b->triangles.count;
        r->origins.weights_count += b->weighted_count;
        r->film_count += b->film_count;
        r->negative_count += b->negative_count;
        r->split_edge_count += b->split_count;
    }
    if (r->vertex_count > INT32_MAX || r->triangle_count > INT32_MAX)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "the pieces have too many triangles");
    return fit_result(ctx, a,
        (struct assembly_room){grown(a->room.pieces, r->piece_count),
            grown(a->room.vertices, r->vertex_count), grown(a->room.triangles, r->triangle_count),
            grown(a->room.rows, r->origins.weights_count)});
}

static void clear_output(cell_output *b)
{
    b->pieces.count = b->vertex_ids.count = b->positions.count = 0;
    b->middles.count = b->triangles.count = 0;
    b->weighted_count = b->film_count = b->negative_count = b->split_count = 0;
}

static void write_triangles(const cut_state *s, const cell_output *b, const piece_record *piece,
    size_t vertex, size_t triangle, size_t *row, rbli_cut_result *r)
{
    for (int32_t i = 0; i < piece->triangle_count; i++) {
        const cut_cell_triangle *t = &b->triangles.data[triangle + (size_t)i];
        size_t at = b->first_triangle + triangle + (size_t)i;
        for (int corner = 0; corner < 3; corner++)
            r->triangles[at][corner] = t->v[corner] + (int32_t)(b->first_vertex + vertex);
        r->origins.source[at] = t->source;
        r->origins.weights_index[at] = t->weighted ? (int32_t)*row : -1;
        if (!t->weighted) continue;
        for (int corner = 0; corner < 3; corner++)
            vertex_weights(s, b, vertex + (size_t)t->v[corner], s->mesh_view->triangles[t->source],
                r->origins.weights[*row][corner]);
        ++*row;
    }
}

static void write_output(const cut_state *s, const cell_output *b, rbli_cut_result *r)
{
    if (b->pieces.count == 0) return;
    if (b->positions.count)
        memcpy(r->positions + b->first_vertex, b->positions.data, b->positions.count * sizeof(cut_point));
    for (size_t v = 0; v < b->vertex_ids.count; v++) {
        int32_t id = b->vertex_ids.data[v];
        r->vertex_source[b->first_vertex + v] = id >= 0 && (size_t)id < s->mesh_view->vertex_count ? id : -1;
    }
    size_t vertex = 0, triangle = 0, row = b->first_row;
    for (size_t i = 0; i < b->pieces.count; i++) {
        const piece_record *piece = &b->pieces.data[i];
        r->piece_cell[b->first_piece + i] = piece->cell;
        r->piece_volume[b->first_piece + i] = piece->volume;
        r->vertex_start[b->first_piece + i] = (int32_t)(b->first_vertex + vertex);
        r->triangle_start[b->first_piece + i] = (int32_t)(b->first_triangle + triangle);
        write_triangles(s, b, piece, vertex, triangle, &row, r);
        vertex += (size_t)piece->vertex_count;
        triangle += (size_t)piece->triangle_count;
    }
}

static rbl_status write_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const assembly *a = user;
    for (size_t i = begin; i < end; i++)
        write_output(a->state, &a->outputs[i], a->result);
    return RBL_OK;
}

/* ---- contacts ---- */

/// Area and longest side of a cap, in source units.
typedef struct cap_measure {
    double area, reach;
} cap_measure;

static inline double squared_length(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

/// What the next cap around the same corner has in common with a cap.
typedef struct cap_spoke {
    const double *corner, *end;
    double side[3], squared; /* from the corner to the end; its squared length */
} cap_spoke;

static inline cap_spoke spoke_between(const double *corner, const double *end)
{
    cap_spoke spoke = {corner, end, {end[0] - corner[0], end[1] - corner[1], end[2] - corner[2]}, 0};
    spoke.squared = squared_length(spoke.side);
    return spoke;
}

/// @param before  the cap before this one in its facet, or NULL; then `spoke` is of that, and set to this one's
static inline cap_measure measure_cap(
    const cut_state *s, const cut_facet_triangle *cap, const cut_facet_triangle *before, cap_spoke *spoke)
{
    bool follows = before && cap->v[0] == before->v[0] && cap->v[1] == before->v[2];
    cap_spoke u = follows ? *spoke : spoke_between(cut_position(s, cap->v[0]), cut_position(s, cap->v[1]));
    cap_spoke v = spoke_between(u.corner, cut_position(s, cap->v[2]));
    const double w[3] = {v.end[0] - u.end[0], v.end[1] - u.end[1], v.end[2] - u.end[2]};
    const double n[3] = {u.side[1] * v.side[2] - u.side[2] * v.side[1],
        u.side[2] * v.side[0] - u.side[0] * v.side[2], u.side[0] * v.side[1] - u.side[1] * v.side[0]};
    double longest = cut_max(cut_max(u.squared, v.squared), squared_length(w));
    *spoke = v;
    return (cap_measure){
        0.5 * sqrt(squared_length(n)) * s->grid.step * s->grid.step, sqrt(longest) * s->grid.step};
}

/// A contact while it is summed up; `reach` bounds its length, so that lines and points can be told from
/// areas.
typedef struct contact_sum {
    int32_t piece_a, piece_b;
    double area, reach;
} contact_sum;
typedef RBLI_ARRAY(contact_sum) contact_list;

static int by_area(const void *pa, const void *pb)
{
    const contact_sum *a = pa, *b = pb;
    return a->area < b->area ? -1 : a->area > b->area; /* so that sums do not depend on the sort */
}

static bool same_contact(const contact_sum *a, const contact_sum *b)
{
    return a->piece_a == b->piece_a && a->piece_b == b->piece_b;
}

typedef struct contact_lists {
    const assembly *a;
    struct contact_block {
        contact_list list;
        size_t start; /* in the whole */
        char apart[CUT_APART_BYTES];
    } * blocks; /* of facets */
    contact_list *whole;
} contact_lists;

/// The piece that a cap belongs to on one side, −1 for none.
static inline int32_t piece_of_cap(const assembly *a, int32_t cap, int side, int32_t cell)
{
    if (cut_is_dropped(a->state, cell)) return -1;
    int32_t within = a->cell_whole[cell] ? 0 : a->cap_piece[2 * cap + side];
    return within < 0 ? -1 : a->cell_piece_count[cell] + within;
}

/// One entry for each run of a facet's caps between the same two pieces.
static rbl_status list_facet_contacts(rbl_context *ctx, const assembly *a, contact_list *list, size_t facet)
{
    rbl_status status = RBL_OK;
    const cut_state *s = a->state;
    const int32_t *cells = cut_facet_cells(s, (int32_t)facet);
    const cut_cap_range range = s->facet_caps[facet];
    if (range.count == 0) return RBL_OK;
    const cut_facet_triangle *caps = cut_cap_at(s, range.first);
    size_t beyond = (size_t)range.first < s->complex.triangle_count
                        ? s->complex.triangle_count - (size_t)range.first
                        : s->complex.triangle_count + s->made_cap_count - (size_t)range.first;
    bool whole = a->cell_whole[cells[0]] && a->cell_whole[cells[1]]; /* then all caps are alike */
    contact_sum sum = {-1, -1, 0, 0};
    const cut_facet_triangle *before = NULL; /* that was measured */
    cap_spoke spoke = {0};
    for (int32_t i = 0; i < range.count; i++) {
        if (!whole || i == 0) {
            int32_t p = piece_of_cap(a, range.first + i, 0, cells[0]),
                    q = piece_of_cap(a, range.first + i, 1, cells[1]);
            if (p < 0 || q < 0) continue;
            contact_sum one = {p < q ? p : q, p < q ? q : p, 0, 0};
            if (!same_contact(&sum, &one)) {
                if (sum.piece_a >= 0) RBL_TRY(rbli_array_push(ctx, list, sum));
                sum = one;
            }
        }
        if ((size_t)i + AHEAD < beyond) __builtin_prefetch(cut_position(s, caps[i + AHEAD].v[2]));
        cap_measure measure = measure_cap(s, &caps[i], before, &spoke);
        before = &caps[i];
        sum.area += measure.area;
        sum.reach += measure.reach;
    }
    if (sum.piece_a >= 0) RBL_TRY(rbli_array_push(ctx, list, sum));
done:
    return status;
}

static rbl_status contact_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)worker;
    rbl_status status = RBL_OK;
    const contact_lists *lists = user;
    contact_list *list = &lists->blocks[block].list;
    RBL_TRY(rbli_array_reserve(ctx, list, end - begin)); /* facets between more pieces are rare */
    for (size_t f = begin; f < end; f++)
        RBL_TRY(list_facet_contacts(ctx, lists->a, list, f));
done:
    return status;
}

static rbl_status copy_contacts(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const contact_lists *lists = user;
    for (size_t i = begin; i < end; i++) {
        const struct contact_block *b = &lists->blocks[i];
        if (b->list.count)
            memcpy(lists->whole->data + b->start, b->list.data, b->list.count * sizeof *b->list.data);
    }
    return RBL_OK;
}

static rbl_status list_contacts(rbl_context *ctx, const assembly *a, contact_list *list)
{
    rbl_status status = RBL_OK;
    size_t facet_count = a->state->complex_view->facet_count, count = 0,
           block_count = (facet_count + FACET_GRAIN - 1) / FACET_GRAIN;
    contact_lists lists = {.a = a, .whole = list};
    RBL_TRY_ALLOC(lists.blocks = rbli_calloc(ctx, block_count, sizeof *lists.blocks));
    RBL_TRY(rbli_parallel_for(ctx, facet_count, FACET_GRAIN, contact_block, &lists));
    for (size_t i = 0; i < block_count; i++) {
        lists.blocks[i].start = count;
        count += lists.blocks[i].list.count;
    }
    RBL_TRY(rbli_array_reserve(ctx, list, count));
    list->count = count;
    RBL_TRY(rbli_parallel_for(ctx, block_count, 4, copy_contacts, &lists));
done:
    for (size_t i = 0; lists.blocks && i < block_count; i++)
        rbli_free(ctx, lists.blocks[i].list.data);
    rbli_free(ctx, lists.blocks);
    return status;
}

typedef struct contact_order {
    const contact_list *list;
    rbli_keyed *keys;
    contact_sum *sorted;
} contact_order;

static rbl_status key_contacts(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const contact_order *order = user;
    for (size_t i = begin; i < end; i++) {
        const contact_sum *one = &order->list->data[i];
        order->keys[i] = (rbli_keyed){(uint64_t)one->piece_a << 32 | (uint32_t)one->piece_b, (int32_t)i};
    }
    return RBL_OK;
}

static rbl_status put_contacts(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const contact_order *order = user;
    for (size_t i = begin; i < end; i++)
        order->sorted[i] = order->list->data[order->keys[i].index];
    return RBL_OK;
}

/// Sorts by pieces, then area.
static rbl_status sort_contacts(rbl_context *ctx, contact_list *list)
{
    rbl_status status = RBL_OK;
    contact_order order = {.list = list};
    size_t count = list->count;
    RBL_TRY_ALLOC(order.keys = rbli_alloc(ctx, 2 * count, sizeof *order.keys));
    RBL_TRY_ALLOC(order.sorted = rbli_alloc(ctx, count, sizeof *order.sorted));
    RBL_TRY(rbli_parallel_for(ctx, count, CONTACT_GRAIN, key_contacts, &order));
    RBL_TRY(rbli_radix_sort_polled(ctx, order.keys, order.keys + count, count));
    RBL_TRY(rbli_parallel_for(ctx, count, CONTACT_GRAIN, put_contacts, &order));
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && same_contact(&order.sorted[i], &order.sorted[end]);)
            end++;
        if (end - i > 1) qsort(order.sorted + i, end - i, sizeof *order.sorted, by_area);
    }
    rbli_free(ctx, list->data);
    list->data = order.sorted;
    list->capacity = count;
    order.sorted = NULL;
done:
    rbli_free(ctx, order.keys);
    rbli_free(ctx, order.sorted);
    return status;
}

/// Sums the entries of each pair; pairs that meet in a line or a point alone do not touch.
static rbl_status make_contacts(rbl_context *ctx, const assembly *a, rbli_cut_result *r)
{
    rbl_status status = RBL_OK;
    contact_list list = {0};
    RBL_TRY(list_contacts(ctx, a, &list));
    RBL_TRY(sort_contacts(ctx, &list));
    RBL_TRY_ALLOC(r->contacts = rbli_alloc(ctx, list.count, sizeof *r->contacts));
    for (size_t i = 0; i < list.count;) {
        contact_sum sum = list.data[i++];
        for (; i < list.count && same_contact(&sum, &list.data[i]); i++) {
            sum.area += list.data[i].area;
            sum.reach += list.data[i].reach;
        }
        if (sum.area <= CUT_FILM_STEPS * a->state->grid.step * sum.reach) continue;
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
        if (kind < 2) rbli_free(ctx, a->items[kind]);
    }
    rbli_free(ctx, a->runs);
    rbli_free(ctx, a->cap_piece);
    rbli_free(ctx, a->cell_whole);
    rbli_free(ctx, a->cell_piece_count);
    for (size_t i = 0; a->workers && i < a->worker_count; i++) {
        cut_cell_free(ctx, &a->workers[i].cell);
        rbli_free(ctx, a->workers[i].start.data);
        rbli_free(ctx, a->workers[i].renumber.data);
    }
    for (size_t i = 0; a->outputs && i < a->output_count; i++) {
        rbli_free(ctx, a->outputs[i].pieces.data);
        rbli_free(ctx, a->outputs[i].vertex_ids.data);
        rbli_free(ctx, a->outputs[i].middles.data);
        rbli_free(ctx, a->outputs[i].positions.data);
        rbli_free(ctx, a->outputs[i].triangles.data);
    }
    rbli_free(ctx, a->workers);
    rbli_free(ctx, a->outputs);
}

/// Assembles all cells, some at a time.
static rbl_status assemble_cells(rbl_context *ctx, assembly *a)
{
    rbl_status status = RBL_OK;
    rbli_cut_result *r = a->result;
    size_t cells = a->state->complex_view->cell_count;
    RBL_TRY(fit_result(ctx, a, expected_room(a)));
    for (a->wave_first = 0; a->wave_first < cells; a->wave_first += a->output_count) {
        size_t count = cells - a->wave_first < a->output_count ? cells - a->wave_first : a->output_count;
        for (size_t i = 0; i < count; i++)
            clear_output(&a->outputs[i]);
        RBL_TRY(rbli_parallel_for(ctx, count, CELL_GRAIN, cell_block, a));
        RBL_TRY(place_wave(ctx, a, count));
        RBL_TRY(rbli_parallel_for(ctx, count, CELL_GRAIN, write_block, a));
    }
    RBL_TRY(fit_result(ctx, a,
        (struct assembly_room){
            r->piece_count, r->vertex_count, r->triangle_count, r->origins.weights_count}));
    r->vertex_start[r->piece_count] = (int32_t)r->vertex_count;
    r->triangle_start[r->piece_count] = (int32_t)r->triangle_count;
done:
    return status;
}

rbl_status cut_assemble(rbl_context *ctx, cut_state *state, rbli_cut_result *result)
{
    rbl_status status = RBL_OK;
    assembly a = {.state = state, .worker_count = (size_t)rbli_worker_count(ctx), .result = result};
    size_t cells = state->complex_view->cell_count;
    size_t vertex_count = (size_t)state->point_count + state->crossing_count + state->node_count;
    a.output_count = a.worker_count > 1 ? a.worker_count * CELLS_A_WORKER : WAVE_CELLS;
    RBL_TRY(share_out(ctx, &a));
    for (int kind = 0; kind < 3; kind++)
        result->outside_dropped |= a.start[kind][cells - state->dropped_cells] < a.start[kind][cells];
    RBL_TRY_ALLOC(a.cap_piece = rbli_alloc(
                      ctx, 2 * (state->complex.triangle_count + state->made_cap_count), sizeof(int32_t)));
    RBL_TRY_ALLOC(a.cell_whole = rbli_calloc(ctx, cells, 1));
    RBL_TRY_ALLOC(a.cell_piece_count = rbli_calloc(ctx, cells + 1, sizeof(int32_t)));
    RBL_TRY_ALLOC(a.workers = rbli_calloc(ctx, a.worker_count, sizeof *a.workers));
    RBL_TRY_ALLOC(a.outputs = rbli_calloc(ctx, a.output_count, sizeof *a.outputs));
    for (size_t i = 0; i < a.worker_count; i++)
        RBL_TRY(cut_cell_init(ctx, &a.workers[i].cell, vertex_count));
    RBL_TRY(assemble_cells(ctx, &a));
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
