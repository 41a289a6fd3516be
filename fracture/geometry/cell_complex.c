/// Cell complexes: freeing, checking, packing.

#include "fracture/geometry/complex_edit.h"

#include <math.h>
#include <stdatomic.h>

#include "fracture/base/threads.h"

void rbli_cell_complex_destroy(rbl_context *ctx, rbli_cell_complex *complex)
{
    if (!complex) return;
    rbli_free(ctx, complex->vertices);
    rbli_free(ctx, complex->facet_start);
    rbli_free(ctx, complex->facet_vertices);
    rbli_free(ctx, complex->facet_cells);
    rbli_free(ctx, complex->facet_origin);
    rbli_free(ctx, complex->cell_site);
    rbli_free(ctx, complex->cell_point);
    rbli_free(ctx, complex->facet_normal);
    rbli_free(ctx, complex);
}

/* Check */

/// A directed edge of a cell, outward; `use` 1 for (low, high), −1 for (high, low).
typedef struct cell_edge {
    int32_t low, high, use, facet;
} cell_edge;

static rbl_status check_loop(rbl_context *ctx, const rbli_cell_complex *k, size_t f, int32_t *last_facet)
{
    int32_t begin = k->facet_start[f], end = k->facet_start[f + 1];
    if (end < begin || end - begin < 3)
        return rbli_fail(
            ctx, RBL_ERR_INTERNAL, "facet %zu of the cell complex has fewer than three vertices", f);
    for (int32_t i = begin; i < end; i++) {
        int32_t v = k->facet_vertices[i];
        if (v < 0 || (size_t)v >= k->vertex_count)
            return rbli_fail(ctx, RBL_ERR_INTERNAL, "facet %zu of the cell complex names vertex %d of %zu", f,
                v, k->vertex_count);
        if (last_facet[v] == (int32_t)f)
            return rbli_fail(
                ctx, RBL_ERR_INTERNAL, "facet %zu of the cell complex meets vertex %d twice", f, v);
        last_facet[v] = (int32_t)f;
    }
    for (int side = 0; side < 2; side++) {
        int32_t cell = k->facet_cells[f][side];
        if (cell < -1 || cell >= (int32_t)k->cell_count || cell == k->facet_cells[f][!side])
            return rbli_fail(ctx, RBL_ERR_INTERNAL,
                "facet %zu of the cell complex lies between cells %d and %d", f, k->facet_cells[f][0],
                k->facet_cells[f][1]);
    }
    return RBL_OK;
}

/// Edges of one cell: each directed edge once, met once by its reverse. Hash table of the cell's edges in
/// `table`.
static rbl_status check_cell(rbl_context *ctx, const rbli_cell_complex *k, size_t cell, const int32_t *facets,
    size_t facet_count, cell_edge *table, size_t mask)
{
    for (size_t i = 0; i <= mask; i++)
        table[i].use = 0;
    size_t open = 0;
    if (!facet_count)
        return rbli_fail(ctx, RBL_ERR_INTERNAL, "cell %zu of the cell complex has no facet", cell);
    for (size_t i = 0; i < facet_count; i++) {
        int32_t f = facets[i], begin = k->facet_start[f], end = k->facet_start[f + 1];
        int outward = k->facet_cells[f][0] == (int32_t)cell ? 1 : -1;
        for (int32_t j = begin; j < end; j++) {
            int32_t a = k->facet_vertices[j], b = k->facet_vertices[j + 1 < end ? j + 1 : begin];
            int use = a < b ? outward : -outward;
            int32_t low = a < b ? a : b, high = a < b ? b : a;
            size_t slot = ((size_t)low * 0x9e3779b1u ^ (size_t)high * 0x85ebca6bu) & mask;
            while (table[slot].use && (table[slot].low != low || table[slot].high != high))
                slot = (slot + 1) & mask;
            if (!table[slot].use) {
                table[slot] = (cell_edge){low, high, use, f};
                open++;
            } else if (table[slot].use == -use) {
                table[slot].use = 2; /* met by its reverse: any further use is an error */
                open--;
            } else {
                return rbli_fail(ctx, RBL_ERR_INTERNAL,
                    "cell %zu of the cell complex meets the edge of vertices %d and %d more than once "
                    "(facets %d and %d)",
                    cell, low, high, table[slot].facet, f);
            }
        }
    }
    if (!open) return RBL_OK;
    for (size_t i = 0; i <= mask; i++)
        if (table[i].use == 1 || table[i].use == -1)
            return rbli_fail(ctx, RBL_ERR_INTERNAL,
                "cell %zu of the cell complex is open at the edge of vertices %d and %d (facet %d)", cell,
                table[i].low, table[i].high, table[i].facet);
    return RBL_OK;
}

typedef struct check_job {
    const rbli_cell_complex *k;
    const int32_t *start, *facets;
    uint8_t *bad; /* flags instead of a failure, or NULL */
} check_job;

static rbl_status check_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const check_job *job = user;
    cell_edge *table = NULL;
    size_t capacity = 0;
    rbl_status status = RBL_OK;
    rbl_context quiet = *ctx;
    quiet.messages = NULL;
    for (size_t c = begin; c < end; c++) {
        size_t count = (size_t)(job->start[c + 1] - job->start[c]), entries = 0, size = 16;
        const int32_t *facets = job->facets + job->start[c];
        for (size_t i = 0; i < count; i++)
            entries += (size_t)(job->k->facet_start[facets[i] + 1] - job->k->facet_start[facets[i]]);
        while (size < 2 * entries)
            size *= 2;
        if (size > capacity) {
            rbli_free(ctx, table);
            RBL_TRY_ALLOC(table = rbli_alloc(ctx, size, sizeof *table));
            capacity = size;
        }
        status = check_cell(job->bad ? &quiet : ctx, job->k, c, facets, count, table, size - 1);
        if (job->bad) job->bad[c] = status == RBL_ERR_INTERNAL && count > 0;
        if (status != RBL_OK && !(job->bad && status == RBL_ERR_INTERNAL)) goto done;
        status = RBL_OK;
    }
done:
    rbli_free(ctx, table);
    return status;
}

/// The facets of each cell: start[cell_count + 1], facets.
static rbl_status gather_facets(
    rbl_context *ctx, const rbli_cell_complex *k, int32_t **start, int32_t **facets)
{
    int32_t *s = rbli_calloc(ctx, k->cell_count + 2, sizeof *s);
    int32_t *list = rbli_alloc(ctx, 2 * k->facet_count, sizeof *list);
    if (!s || !list) {
        rbli_free(ctx, s);
        rbli_free(ctx, list);
        return RBL_ERR_NO_MEMORY;
    }
    for (size_t f = 0; f < k->facet_count; f++)
        for (int side = 0; side < 2; side++)
            if (k->facet_cells[f][side] >= 0) s[k->facet_cells[f][side] + 2]++;
    for (size_t c = 0; c < k->cell_count; c++)
        s[c + 2] += s[c + 1];
    for (size_t f = 0; f < k->facet_count; f++)
        for (int side = 0; side < 2; side++)
            if (k->facet_cells[f][side] >= 0) list[s[k->facet_cells[f][side] + 1]++] = (int32_t)f;
    *start = s;
    *facets = list;
    return RBL_OK;
}

rbl_status rbli_cell_complex_check(rbl_context *ctx, const rbli_cell_complex *k)
{
    rbl_status status = RBL_OK;
    int32_t *last_facet = NULL, *start = NULL, *facets = NULL;
    if (!k->facet_count || !k->cell_count)
        return rbli_fail(ctx, RBL_ERR_INTERNAL, "the cell complex is empty");
    RBL_TRY_ALLOC(last_facet = rbli_alloc(ctx, k->vertex_count, sizeof *last_facet));
    memset(last_facet, 0xff, k->vertex_count * sizeof *last_facet);
    for (size_t f = 0; f < k->facet_count; f++)
        RBL_TRY(check_loop(ctx, k, f, last_facet));
    for (size_t v = 0; v < k->vertex_count; v++) {
        if (last_facet[v] < 0)
            RBL_TRY(rbli_fail(ctx, RBL_ERR_INTERNAL, "vertex %zu of the cell complex is in no facet", v));
        if (!isfinite(k->vertices[v][0]) || !isfinite(k->vertices[v][1]) || !isfinite(k->vertices[v][2]))
            RBL_TRY(rbli_fail(ctx, RBL_ERR_INTERNAL, "vertex %zu of the cell complex is not finite", v));
    }
    RBL_TRY(gather_facets(ctx, k, &start, &facets));
    check_job job = {k, start, facets, NULL};
    RBL_TRY(rbli_parallel_for(ctx, k->cell_count, 256, check_block, &job));
done:
    rbli_free(ctx, last_facet);
    rbli_free(ctx, start);
    rbli_free(ctx, facets);
    return status;
}

rbl_status rbli_complex_find_bad(
    rbl_context *ctx, const rbli_cell_complex *k, uint8_t *bad, size_t *bad_count)
{
    int32_t *start = NULL, *facets = NULL;
    rbl_status status = gather_facets(ctx, k, &start, &facets);
    if (status != RBL_OK) return status;
    check_job job = {k, start, facets, bad};
    status = rbli_parallel_for(ctx, k->cell_count, 256, check_block, &job);
    *bad_count = 0;
    for (size_t c = 0; c < k->cell_count && status == RBL_OK; c++)
        *bad_count += bad[c];
    rbli_free(ctx, start);
    rbli_free(ctx, facets);
    return status;
}

/* Facet lists */

rbl_status rbli_facet_list_add(rbl_context *ctx, rbli_facet_list *list, const int32_t *vertices, size_t count,
    int32_t negative, int32_t positive, int32_t origin)
{
    if (list->vertices.count + count > INT32_MAX)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "the cell complex is too large");
    if (rbli_array_reserve(ctx, &list->vertices, count) != RBL_OK ||
        rbli_array_reserve(ctx, &list->start, 2) != RBL_OK ||
        rbli_array_reserve(ctx, &list->cells, 2) != RBL_OK ||
        rbli_array_reserve(ctx, &list->origin, 1) != RBL_OK)
        return RBL_ERR_NO_MEMORY;
    if (!list->start.count) list->start.data[list->start.count++] = 0;
    memcpy(list->vertices.data + list->vertices.count, vertices, count * sizeof *vertices);
    list->vertices.count += count;
    list->start.data[list->start.count++] = (int32_t)list->vertices.count;
    list->cells.data[list->cells.count++] = negative;
    list->cells.data[list->cells.count++] = positive;
    list->origin.data[list->origin.count++] = origin;
    return RBL_OK;
}

rbl_status rbli_facet_list_append(
    rbl_context *ctx, rbli_facet_list *list, const rbli_facet_list *from, size_t begin, size_t end)
{
    if (begin == end) return RBL_OK;
    int32_t first = from->start.data[begin];
    size_t count = end - begin, entries = (size_t)(from->start.data[end] - first);
    if (list->vertices.count + entries > INT32_MAX)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "the cell complex is too large");
    if (rbli_array_reserve(ctx, &list->vertices, entries) != RBL_OK ||
        rbli_array_reserve(ctx, &list->start, count + 1) != RBL_OK ||
        rbli_array_reserve(ctx, &list->cells, 2 * count) != RBL_OK ||
        rbli_array_reserve(ctx, &list->origin, count) != RBL_OK)
        return RBL_ERR_NO_MEMORY;
    if (!list->start.count) list->start.data[list->start.count++] = 0;
    int32_t shift = (int32_t)list->vertices.count - first;
    memcpy(
        list->vertices.data + list->vertices.count, from->vertices.data + first, entries * sizeof(int32_t));
    memcpy(list->cells.data + list->cells.count, from->cells.data + 2 * begin, 2 * count * sizeof(int32_t));
    memcpy(list->origin.data + list->origin.count, from->origin.data + begin, count * sizeof(int32_t));
    for (size_t i = begin + 1; i <= end; i++)
        list->start.data[list->start.count++] = from->start.data[i] + shift;
    list->vertices.count += entries;
    list->cells.count += 2 * count;
    list->origin.count += count;
    return RBL_OK;
}

void rbli_facet_list_free(rbl_context *ctx, rbli_facet_list *list)
{
    rbli_free(ctx, list->start.data);
    rbli_free(ctx, list->vertices.data);
    rbli_free(ctx, list->cells.data);
    rbli_free(ctx, list->origin.data);
    *list = (rbli_facet_list){0};
}

rbl_status rbli_facet_list_move(rbl_context *ctx, rbli_facet_list *list, rbli_cell_complex *complex)
{
    if (!list->start.count && rbli_array_push(ctx, &list->start, 0) != RBL_OK) return RBL_ERR_NO_MEMORY;
    rbli_free(ctx, complex->facet_start);
    rbli_free(ctx, complex->facet_vertices);
    rbli_free(ctx, complex->facet_cells);
    rbli_free(ctx, complex->facet_origin);
    complex->facet_count = list->origin.count;
    complex->facet_start = list->start.data;
    complex->facet_vertices = list->vertices.data;
    complex->facet_cells = (int32_t(*)[2])(void *)list->cells.data;
    complex->facet_origin = list->origin.data;
    *list = (rbli_facet_list){0};
    return RBL_OK;
}

/* Packing */

enum { PACK_GRAIN = 8192, MOST_MARKERS = 8, APART_BYTES = 128 };

typedef struct pack_job {
    rbli_cell_complex *k;
    atomic_uchar
        *used;     /* a list for each worker, so that few lines are written by two; by vertex, then by cell */
    size_t stride; /* bytes of a list */
    int lists;
    int32_t *vertex, *cell; /* new numbers of those used */
    double (*vertices)[3];  /* those used */
    size_t *before;         /* [blocks of PACK_GRAIN vertices] used ones of the blocks before */
} pack_job;

static rbl_status mark_used(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    const pack_job *job = user;
    const rbli_cell_complex *k = job->k;
    atomic_uchar *vertex_used = job->used + (size_t)(worker % job->lists) * job->stride,
                 *cell_used = vertex_used + k->vertex_count;
    for (int32_t i = k->facet_start[begin]; i < k->facet_start[end]; i++)
        atomic_store_explicit(&vertex_used[k->facet_vertices[i]], 1, memory_order_relaxed);
    for (size_t f = begin; f < end; f++)
        for (int side = 0; side < 2; side++)
            if (k->facet_cells[f][side] >= 0)
                atomic_store_explicit(&cell_used[k->facet_cells[f][side]], 1, memory_order_relaxed);
    return RBL_OK;
}

/// Whether any worker marked a vertex or, behind those, a cell.
static inline uint8_t is_used(const pack_job *job, size_t item)
{
    uint8_t used = 0;
    for (int i = 0; i < job->lists; i++)
        used |= atomic_load_explicit(&job->used[(size_t)i * job->stride + item], memory_order_relaxed);
    return used;
}

static rbl_status count_used(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    const pack_job *job = user;
    size_t used = 0;
    for (size_t v = begin; v < end; v++)
        used += is_used(job, v);
    job->before[block] = used;
    return RBL_OK;
}

static rbl_status move_used(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    const pack_job *job = user;
    size_t at = job->before[block];
    for (size_t v = begin; v < end; v++) {
        if (!is_used(job, v)) continue;
        memcpy(job->vertices[at], job->k->vertices[v], sizeof job->vertices[at]);
        job->vertex[v] = (int32_t)at++;
    }
    return RBL_OK;
}

static rbl_status renumber(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const pack_job *job = user;
    rbli_cell_complex *k = job->k;
    for (int32_t i = k->facet_start[begin]; i < k->facet_start[end]; i++)
        k->facet_vertices[i] = job->vertex[k->facet_vertices[i]];
    for (size_t f = begin; f < end; f++)
        for (int side = 0; side < 2; side++)
            if (k->facet_cells[f][side] >= 0) k->facet_cells[f][side] = job->cell[k->facet_cells[f][side]];
    return RBL_OK;
}

static size_t pack_cells(const pack_job *job)
{
    rbli_cell_complex *k = job->k;
    size_t cells = 0;
    for (size_t c = 0; c < k->cell_count; c++) {
        if (!is_used(job, k->vertex_count + c)) continue;
        k->cell_site[cells] = k->cell_site[c];
        if (k->cell_point) memmove(k->cell_point[cells], k->cell_point[c], sizeof k->cell_point[c]);
        job->cell[c] = (int32_t)cells++;
    }
    return cells;
}

rbl_status rbli_complex_pack(rbl_context *ctx, rbli_cell_complex *k)
{
    rbl_status status = RBL_OK;
    pack_job job = {.k = k};
    size_t count = k->vertex_count, blocks = (count + PACK_GRAIN - 1) / PACK_GRAIN, vertices = 0;
    job.lists = rbli_worker_count(ctx) < MOST_MARKERS ? rbli_worker_count(ctx) : MOST_MARKERS;
    job.stride = (count + k->cell_count + APART_BYTES) / APART_BYTES * APART_BYTES;
    RBL_TRY_ALLOC(job.used = rbli_calloc(ctx, job.stride, (size_t)job.lists));
    RBL_TRY_ALLOC(job.vertex = rbli_alloc(ctx, count, sizeof *job.vertex));
    RBL_TRY_ALLOC(job.cell = rbli_alloc(ctx, k->cell_count, sizeof *job.cell));
    RBL_TRY_ALLOC(job.before = rbli_alloc(ctx, blocks, sizeof *job.before));
    RBL_TRY(rbli_parallel_for(ctx, k->facet_count, PACK_GRAIN, mark_used, &job));
    RBL_TRY(rbli_parallel_for(ctx, count, PACK_GRAIN, count_used, &job));
    for (size_t b = 0; b < blocks; b++) {
        size_t used = job.before[b];
        job.before[b] = vertices;
        vertices += used;
    }
    RBL_TRY_ALLOC(job.vertices = rbli_alloc(ctx, vertices, sizeof *job.vertices));
    RBL_TRY(rbli_parallel_for(ctx, count, PACK_GRAIN, move_used, &job));
    size_t cells = pack_cells(&job);
    RBL_TRY(rbli_parallel_for(ctx, k->facet_count, PACK_GRAIN, renumber, &job));
    rbli_free(ctx, k->vertices);
    k->vertices = job.vertices;
    job.vertices = NULL;
    k->vertex_count = vertices;
    k->cell_count = cells;
done:
    rbli_free(ctx, job.vertices);
    rbli_free(ctx, job.before);
    rbli_free(ctx, job.used);
    rbli_free(ctx, job.vertex);
    rbli_free(ctx, job.cell);
    return status;
}

/* Moments */

/// Adds the cone from `apex` over a facet to a first moment about the apex and, last, a volume.
static void add_cone(const rbli_cell_complex *k, size_t f, double sign, const double apex[3], double sums[4])
{
    const int32_t *loop = k->facet_vertices + k->facet_start[f];
    int32_t count = k->facet_start[f + 1] - k->facet_start[f];
    double a[3], b[3], c[3];
    for (int j = 0; j < 3; j++)
        a[j] = k->vertices[loop[0]][j] - apex[j];
    for (int32_t i = 1; i + 1 < count; i++) {
        for (int j = 0; j < 3; j++) {
            b[j] = k->vertices[loop[i]][j] - apex[j];
            c[j] = k->vertices[loop[i + 1]][j] - apex[j];
        }
        double volume = sign / 6 *
                        (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                            a[2] * (b[0] * c[1] - b[1] * c[0]));
        sums[3] += volume;
        for (int j = 0; j < 3; j++)
            sums[j] += volume * (a[j] + b[j] + c[j]) / 4;
    }
}

rbl_status rbli_complex_moments(
    rbl_context *ctx, const rbli_cell_complex *k, double (*centroids)[3], double *volumes)
{
    rbl_status status = RBL_OK;
    int32_t *apex = NULL; /* a vertex of each cell: cones from near by round least */
    double(*sums)[4] = rbli_calloc(ctx, k->cell_count, sizeof *sums);
    RBL_TRY_ALLOC(sums);
    RBL_TRY_ALLOC(apex = rbli_calloc(ctx, k->cell_count, sizeof *apex));
    for (size_t f = k->facet_count; f-- > 0;)
        for (int side = 0; side < 2; side++)
            if (k->facet_cells[f][side] >= 0)
                apex[k->facet_cells[f][side]] = k->facet_vertices[k->facet_start[f]];
    for (size_t f = 0; f < k->facet_count; f++)
        for (int side = 0; side < 2; side++) {
            int32_t c = k->facet_cells[f][side];
            if (c >= 0) add_cone(k, f, side == 0 ? 1 : -1, k->vertices[apex[c]], sums[c]);
        }
    for (size_t c = 0; c < k->cell_count; c++) {
        if (volumes) volumes[c] = sums[c][3];
        for (int j = 0; j < 3 && centroids; j++)
            centroids[c][j] = k->vertices[apex[c]][j] + (sums[c][3] > 0 ? sums[c][j] / sums[c][3] : 0);
    }
done:
    rbli_free(ctx, sums);
    rbli_free(ctx, apex);
    return status;
}
