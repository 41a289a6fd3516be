/// From labelled triangles to pieces: shares triangles out to cells, turns cells into pieces in parallel and
/// writes them.

#include "fracture/geometry/cut_cell.h"
#include "fracture/geometry/cut_contacts.h"
#include "fracture/geometry/cut_inner.h"

enum {
    CELL_GRAIN = 8,
    LABEL_GRAIN = 32768,
    WAVE_CELLS = 128,     /* for one thread; what they hold stays in the caches */
    CELLS_A_WORKER = 128, /* for several: they wait for one another twice a wave */
    MOST_COPIED = 2048,   /* triangles of a cell: copies of more leave the caches, and take much memory */
};

typedef struct piece_record {
    int32_t cell;
    int32_t vertex_count, triangle_count;
    double volume;
} piece_record;

/// The pieces of a cell, one after another. Its arrays are in the arena of the worker that made them.
typedef struct cell_output {
    piece_record *pieces;
    int32_t *vertex_ids; /* arrangement vertices, or −1 − middle */
    cut_point *positions;
    cut_middle *middles;          /* ends are vertices of the output */
    cut_cell_triangle *triangles; /* vertices count within the piece */
    uint8_t *loops;               /* instead of triangles, of a cell inside the mesh; else NULL */
    size_t piece_count, vertex_count, triangle_count;
    size_t weighted_count, film_count, negative_count, split_count;
    size_t first_piece, first_vertex, first_triangle, first_row; /* in the result */
} cell_output;

typedef struct assembly_worker {
    cut_cell cell;
    cut_byte_list loops;       /* of a cell inside the mesh */
    RBLI_ARRAY(int32_t) start; /* first vertex, then triangle, of each piece of a cell */
    RBLI_ARRAY(int32_t) renumber;
    rbli_arena outputs;       /* of a wave */
    RBLI_ARRAY(void *) taken; /* arrays of large cells, which are in the outputs as they are */
    char apart[CUT_APART_BYTES];
} assembly_worker;

typedef struct assembly {
    cut_state *state;
    int32_t *start[3]; /* untouched triangles, faces, runs of caps of each cell, see cut_items */
    int32_t *items[2]; /* untouched triangles, faces */
    cut_cap_run *runs;
    cut_cap_pieces of_caps; /* its cells' first pieces are counts until all are assembled */
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
        for (int32_t i = 0; i < side_count; i++) {
            cut_cap_range range = caps[i / 2];
            if (range.count == 0) continue;
            a->runs[start[cut_facet_cells(s, i / 2)[i % 2] + 1]++] = (cut_cap_run){2 * range.first + i % 2,
                i / 2, (uint32_t)range.count & INT32_MAX, cut_measure_of_caps(s, i / 2) != NULL};
        }
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

/// Weights of a vertex of a piece; a middle point has its ends' mean (a middle of middles: as deep as there
/// were rounds).
static void vertex_weights(
    const cut_state *s, const cell_output *b, size_t vertex, const int32_t corners[3], double w[3])
{
    int32_t id = b->vertex_ids[vertex];
    if (id >= 0) {
        cut_arrangement_weights(s, id, corners, w);
        return;
    }
    double x[3], y[3];
    vertex_weights(s, b, (size_t)b->middles[-1 - id].ends[0], corners, x);
    vertex_weights(s, b, (size_t)b->middles[-1 - id].ends[1], corners, y);
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

/// Room for a cell's vertices.
static rbl_status make_vertices(assembly_worker *w, cell_output *out)
{
    size_t count = w->cell.ids.count;
    out->vertex_ids = rbli_arena_alloc(&w->outputs, count, sizeof *out->vertex_ids);
    out->positions = rbli_arena_alloc(&w->outputs, count, sizeof *out->positions);
    return out->vertex_ids && out->positions ? RBL_OK : RBL_ERR_NO_MEMORY;
}

/// Stores the vertices piece by piece, each piece's in the order of the cell.
static rbl_status store_vertices(rbl_context *ctx, assembly_worker *w, cell_output *out)
{
    rbl_status status = RBL_OK;
    const cut_cell *c = &w->cell;
    int32_t middle_count = 0;
    RBL_TRY(clear_starts(ctx, w));
    w->renumber.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &w->renumber, c->ids.count));
    RBL_TRY(make_vertices(w, out));
    RBL_TRY_ALLOC(out->middles = rbli_arena_alloc(&w->outputs, c->middles.count, sizeof *out->middles));
    for (size_t v = 0; v < c->ids.count; v++) {
        int32_t piece = piece_of_vertex(c, (int32_t)v);
        w->renumber.data[v] = piece < 0 ? -1 : out->pieces[piece].vertex_count++;
    }
    for (size_t piece = 0; piece < c->pieces.count; piece++)
        w->start.data[piece + 1] = w->start.data[piece] + out->pieces[piece].vertex_count;
    for (size_t v = 0; v < c->ids.count; v++) {
        int32_t piece = piece_of_vertex(c, (int32_t)v), id = c->ids.data[v];
        if (piece < 0) continue;
        size_t at = (size_t)(w->start.data[piece] + w->renumber.data[v]);
        if (id < 0) { /* its ends come before it in the cell and lie in the same piece */
            const cut_middle *middle = &c->middles.data[-1 - id];
            cut_middle *stored = &out->middles[middle_count++];
            for (int end = 0; end < 2; end++)
                stored->ends[end] = w->start.data[piece] + w->renumber.data[c->kept.data[middle->ends[end]]];
            id = -middle_count;
        }
        out->vertex_ids[at] = id;
        out->positions[at] = c->positions.data[v];
    }
    out->vertex_count = (size_t)w->start.data[c->pieces.count];
done:
    return status;
}

/// @param vertices  they were stored, so corners have numbers
static rbl_status store_triangles(rbl_context *ctx, assembly_worker *w, cell_output *out, bool vertices)
{
    rbl_status status = RBL_OK;
    const cut_cell *c = &w->cell;
    RBL_TRY(clear_starts(ctx, w));
    RBL_TRY_ALLOC(out->triangles = rbli_arena_alloc(&w->outputs, c->triangles.count, sizeof *out->triangles));
    for (size_t i = 0; i < c->triangles.count; i++) {
        int32_t piece = piece_of_triangle(c, &c->triangles.data[i]);
        if (piece >= 0) out->pieces[piece].triangle_count++;
    }
    for (size_t piece = 0; piece < c->pieces.count; piece++)
        w->start.data[piece + 1] = w->start.data[piece] + out->pieces[piece].triangle_count;
    out->triangle_count = (size_t)w->start.data[c->pieces.count];
    for (size_t i = 0; i < c->triangles.count; i++) {
        const cut_cell_triangle *t = &c->triangles.data[i];
        int32_t piece = piece_of_triangle(c, t);
        if (piece < 0) continue;
        cut_cell_triangle *stored = &out->triangles[w->start.data[piece]++];
        *stored = *t;
        for (int corner = 0; corner < 3; corner++)
            stored->v[corner] = vertices ? w->renumber.data[t->v[corner]] : 0;
        stored->weighted = t->weighted && vertices;
        out->weighted_count += (size_t)stored->weighted;
    }
done:
    return status;
}

static void free_taken(rbl_context *ctx, assembly_worker *w)
{
    while (w->taken.count > 0)
        rbli_free(ctx, w->taken.data[--w->taken.count]);
}

/// Takes the arrays of a cell; it makes new ones.
static rbl_status take_cell(rbl_context *ctx, assembly_worker *w, cell_output *out)
{
    rbl_status status = RBL_OK;
    cut_cell *c = &w->cell;
    RBL_TRY(rbli_array_reserve(ctx, &w->taken, 3));
    w->taken.data[w->taken.count++] = out->vertex_ids = c->ids.data;
    w->taken.data[w->taken.count++] = out->positions = c->positions.data;
    w->taken.data[w->taken.count++] = out->triangles = c->triangles.data;
    c->ids = (cut_index_list){0};
    c->positions = (cut_point_list){0};
    c->triangles = (cut_triangle_list){0};
done:
    return status;
}

/// Stores a cell that is one piece as it is; one inside the mesh has loops.
static rbl_status store_whole(
    rbl_context *ctx, assembly_worker *w, cell_output *out, bool inner, size_t triangle_count)
{
    const cut_cell *c = &w->cell;
    out->vertex_count = c->ids.count;
    out->triangle_count = triangle_count;
    out->pieces->vertex_count = (int32_t)c->ids.count;
    out->pieces->triangle_count = (int32_t)triangle_count;
    if (!inner && triangle_count > MOST_COPIED) return take_cell(ctx, w, out);
    rbl_status status = make_vertices(w, out);
    if (status != RBL_OK) return status;
    memcpy(out->vertex_ids, c->ids.data, c->ids.count * sizeof *out->vertex_ids);
    memcpy(out->positions, c->positions.data, c->ids.count * sizeof *out->positions);
    size_t size = inner ? sizeof *out->loops : sizeof *out->triangles,
           count = inner ? w->loops.count : triangle_count;
    void *kept = rbli_arena_alloc(&w->outputs, count, size);
    if (!kept) return RBL_ERR_NO_MEMORY;
    memcpy(kept, inner ? (void *)w->loops.data : (void *)c->triangles.data, count * size);
    if (inner)
        out->loops = kept;
    else
        out->triangles = kept;
    return RBL_OK;
}

/// Notes to which piece each cap of a cell belongs; splitting an edge does not change that.
static void store_cap_pieces(const assembly *a, const cut_items *items, const cut_cell *c)
{
    const cut_cell_triangle *triangle = c->triangles.data + c->cap_first;
    for (size_t i = 0; i < items->run_count; i++) {
        int32_t *piece = a->of_caps.cap_piece + items->runs[i].first;
        for (int32_t cap = 0; cap < (int32_t)items->runs[i].count; cap++, triangle++)
            piece[2 * cap] = piece_of_vertex(c, c->kept.data[triangle->v[0]]);
    }
}

static cut_items items_of(const assembly *a, int32_t cell)
{
    const int32_t *start[3] = {a->start[0] + cell, a->start[1] + cell, a->start[2] + cell};
    cut_items items = {.untouched = a->items[0] + start[0][0],
        .faces = a->items[1] + start[1][0],
        .runs = a->runs + start[2][0],
        .untouched_count = (size_t)(start[0][1] - start[0][0]),
        .face_count = (size_t)(start[1][1] - start[1][0]),
        .run_count = (size_t)(start[2][1] - start[2][0])};
    for (size_t i = 0; i < items.run_count; i++)
        items.cap_count += (size_t)items.runs[i].count;
    return items;
}

static rbl_status assemble_cell(
    rbl_context *ctx, const assembly *a, assembly_worker *w, cell_output *out, int32_t number)
{
    rbl_status status = RBL_OK;
    cut_cell *c = &w->cell;
    cut_items items = items_of(a, number);
    size_t total = items.untouched_count + items.face_count + items.cap_count;
    bool inner;
    if (total == 0 || cut_is_dropped(a->state, number)) return RBL_OK;
    c->film_count = c->negative_count = c->split_count = 0;
    w->loops.count = 0;
    RBL_TRY(cut_inner_build(ctx, a->state, &items, c, &w->loops, &inner));
    if (!inner) RBL_TRY(cut_cell_build(ctx, a->state, &items, c));
    out->film_count = c->film_count;
    out->negative_count = c->negative_count;
    out->split_count = c->split_count;
    a->of_caps.cell_whole[number] = c->whole;
    if (!c->whole) store_cap_pieces(a, &items, c);
    a->of_caps.cell_first_piece[number] = (int32_t)c->pieces.count;
    out->piece_count = c->pieces.count;
    RBL_TRY_ALLOC(out->pieces = rbli_arena_alloc(&w->outputs, out->piece_count, sizeof *out->pieces));
    for (size_t piece = 0; piece < out->piece_count; piece++)
        out->pieces[piece] = (piece_record){number, 0, 0, 0};
    for (size_t i = 0; i < c->parts.count; i++)
        if (c->parts.data[i].piece >= 0)
            out->pieces[c->parts.data[i].piece].volume += c->parts.data[i].volume;
    if (a->state->contacts_only) {
        if (c->pieces.count > 1) RBL_TRY(store_triangles(ctx, w, out, false));
    } else if (c->whole) {
        out->weighted_count = items.face_count;
        RBL_TRY(store_whole(ctx, w, out, inner, inner ? items.cap_count : c->triangles.count));
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
        __builtin_prefetch(&a->state->complex.measures[a->runs[i].facet]);
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
        r->piece_count += b->piece_count;
        r->vertex_count += b->vertex_count;
        r->triangle_count += b->triangle_count;
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

static void write_triangles(const cut_state *s, const cell_output *b, const piece_record *piece,
    size_t vertex, size_t triangle, size_t *row, rbli_cut_result *r)
{
    if (piece->triangle_count == 0) return; /* there may be no array */
    const cut_cell_triangle *triangles = b->triangles + triangle;
    size_t at = b->first_triangle + triangle;
    int32_t(*restrict corners)[3] = r->triangles + at, first_vertex = (int32_t)(b->first_vertex + vertex);
    int32_t *restrict source = r->origins.source + at;
    int32_t *restrict weights_index = r->origins.weights_index + at;
    int32_t next_row = (int32_t)*row;
    for (int32_t i = 0; i < piece->triangle_count; i++) {
        const cut_cell_triangle *t = &triangles[i];
        for (int corner = 0; corner < 3; corner++)
            corners[i][corner] = t->v[corner] + first_vertex;
        source[i] = t->source;
        weights_index[i] = t->weighted ? next_row : -1;
        next_row += t->weighted;
    }
    for (const cut_cell_triangle *t = triangles; *row < (size_t)next_row; t++) {
        if (!t->weighted) continue;
        for (int corner = 0; corner < 3; corner++)
            vertex_weights(s, b, vertex + (size_t)t->v[corner], s->mesh_view->triangles[t->source],
                r->origins.weights[*row][corner]);
        ++*row;
    }
}

/// The one piece of a cell inside the mesh.
static void write_inner(const assembly *a, const cell_output *b, int32_t cell)
{
    rbli_cut_result *r = a->result;
    const int32_t *start = a->start[2] + cell;
    cut_inner_write(a->runs + start[0], (size_t)(start[1] - start[0]), b->loops, (int32_t)b->first_vertex,
        r->triangles + b->first_triangle, r->origins.source + b->first_triangle,
        r->origins.weights_index + b->first_triangle);
}

static void write_output(const assembly *a, const cell_output *b)
{
    const cut_state *s = a->state;
    rbli_cut_result *r = a->result;
    if (b->piece_count == 0) return;
    if (b->vertex_count)
        memcpy(r->positions + b->first_vertex, b->positions, b->vertex_count * sizeof(cut_point));
    int32_t *restrict source = r->vertex_source + b->first_vertex;
    uint32_t mesh_count = (uint32_t)s->mesh_view->vertex_count;
    for (size_t v = 0; v < b->vertex_count; v++)
        source[v] = (uint32_t)b->vertex_ids[v] < mesh_count ? b->vertex_ids[v] : -1;
    size_t vertex = 0, triangle = 0, row = b->first_row;
    for (size_t i = 0; i < b->piece_count; i++) {
        const piece_record *piece = &b->pieces[i];
        r->piece_cell[b->first_piece + i] = piece->cell;
        r->piece_volume[b->first_piece + i] = piece->volume;
        r->vertex_start[b->first_piece + i] = (int32_t)(b->first_vertex + vertex);
        r->triangle_start[b->first_piece + i] = (int32_t)(b->first_triangle + triangle);
        if (b->loops)
            write_inner(a, b, piece->cell);
        else
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
        write_output(a, &a->outputs[i]);
    return RBL_OK;
}

static void free_assembly(rbl_context *ctx, assembly *a)
{
    for (int kind = 0; kind < 3; kind++) {
        rbli_free(ctx, a->start[kind]);
        if (kind < 2) rbli_free(ctx, a->items[kind]);
    }
    rbli_free(ctx, a->runs);
    rbli_free(ctx, a->of_caps.cap_piece);
    rbli_free(ctx, a->of_caps.cell_whole);
    rbli_free(ctx, a->of_caps.cell_first_piece);
    for (size_t i = 0; a->workers && i < a->worker_count; i++) {
        cut_cell_free(ctx, &a->workers[i].cell);
        rbli_free(ctx, a->workers[i].loops.data);
        rbli_free(ctx, a->workers[i].start.data);
        rbli_free(ctx, a->workers[i].renumber.data);
        rbli_arena_free(&a->workers[i].outputs);
        free_taken(ctx, &a->workers[i]);
        rbli_free(ctx, a->workers[i].taken.data);
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
        memset(a->outputs, 0, count * sizeof *a->outputs);
        for (size_t i = 0; i < a->worker_count; i++) {
            rbli_arena_clear(&a->workers[i].outputs);
            free_taken(ctx, &a->workers[i]);
        }
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
    assembly a = {.state = state,
        .of_caps = {.state = state},
        .worker_count = (size_t)rbli_worker_count(ctx),
        .result = result};
    size_t cells = state->complex_view->cell_count;
    size_t vertex_count = (size_t)state->point_count + state->crossing_count + state->node_count;
    a.output_count = a.worker_count > 1 ? a.worker_count * CELLS_A_WORKER : WAVE_CELLS;
    RBL_TRY(share_out(ctx, &a));
    for (int kind = 0; kind < 3; kind++)
        result->outside_dropped |= a.start[kind][cells - state->dropped_cells] < a.start[kind][cells];
    RBL_TRY_ALLOC(a.of_caps.cap_piece = rbli_alloc(
                      ctx, 2 * (state->complex.triangle_count + state->made_cap_count), sizeof(int32_t)));
    RBL_TRY_ALLOC(a.of_caps.cell_whole = rbli_calloc(ctx, cells, 1));
    RBL_TRY_ALLOC(a.of_caps.cell_first_piece = rbli_calloc(ctx, cells + 1, sizeof(int32_t)));
    RBL_TRY_ALLOC(a.workers = rbli_calloc(ctx, a.worker_count, sizeof *a.workers));
    RBL_TRY_ALLOC(a.outputs = rbli_alloc(ctx, a.output_count, sizeof *a.outputs));
    for (size_t i = 0; i < a.worker_count; i++) {
        rbli_arena_init(&a.workers[i].outputs, ctx);
        RBL_TRY(cut_cell_init(ctx, &a.workers[i].cell, vertex_count));
    }
    RBL_TRY(assemble_cells(ctx, &a));
    for (size_t cell = 0, first = 0; cell <= cells; cell++) {
        size_t count = (size_t)a.of_caps.cell_first_piece[cell];
        a.of_caps.cell_first_piece[cell] = (int32_t)first;
        first += count;
    }
    RBL_TRY(cut_make_contacts(ctx, &a.of_caps, result));
done:
    free_assembly(ctx, &a);
    return status;
}
