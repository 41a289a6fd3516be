/// The result of a repair: shells one after another, their vertices split by umbrella and numbered by
/// position.

#include <math.h>

#include "fracture/geometry/radix_sort.h"
#include "fracture/geometry/repair_internal.h"

typedef struct writer {
    repair *r;
    rbli_repair_result *out;
    repair_triangle *triangles; /* in the order of the result */
    int32_t
        *label; /* [3 · triangles of the result] corners of one vertex share position and label; NULL when all
                       at one position are one vertex */
    size_t count;
} writer;

/* Fins become shells of their own. */

/// Sets of fin triangles that share edges; `set` [fins] by least triangle in canonical order.
static rbl_status group_fins(writer *w, const repair_triangle *fins, size_t count, int32_t *set)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = w->r->ctx;
    rbli_keyed *keys = NULL, *scratch = NULL;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, 3 * count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, 3 * count, sizeof *scratch));
    for (size_t t = 0; t < count; t++) {
        RBL_TRY(rbli_poll(ctx, t));
        set[t] = (int32_t)t;
        for (int k = 0; k < 3; k++) {
            uint32_t a = (uint32_t)fins[t].v[k], b = (uint32_t)fins[t].v[(k + 1) % 3];
            keys[3 * t + (size_t)k] =
                (rbli_keyed){(uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a), (int32_t)t};
        }
    }
    RBL_TRY(rbli_radix_sort_polled(ctx, keys, scratch, 3 * count));
    for (size_t i = 1; i < 3 * count; i++) {
        RBL_TRY(rbli_poll(ctx, i));
        for (size_t j = i; j-- > 0 && keys[j].key == keys[i].key;)
            if (fins[keys[j].index].node == fins[keys[i].index].node) {
                unite(set, keys[j].index, keys[i].index);
                break;
            }
    }
    for (size_t t = 0; t < count; t++)
        set[t] = find_root(set, (int32_t)t);
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    return status;
}

static double fin_area(const repair *r, const repair_triangle *fin)
{
    const double *a = r->positions.data[fin->v[0]], *b = r->positions.data[fin->v[1]],
                 *c = r->positions.data[fin->v[2]];
    double x = (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]);
    double y = (b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2]);
    double z = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    return 0.5 * sqrt(x * x + y * y + z * z);
}

/// Appends the fins' shells and triangles.
static rbl_status write_fins(writer *w)
{
    rbl_status status = RBL_OK;
    repair *r = w->r;
    size_t count = r->fins.count;
    int32_t *order = NULL, *set = NULL;
    repair_triangle *fins = NULL;
    rbli_keyed *keys = NULL;
    if (count == 0) return RBL_OK;
    RBL_TRY_ALLOC(keys = rbli_alloc(r->ctx, 2 * count, sizeof *keys));
    RBL_TRY_ALLOC(order = rbli_alloc(r->ctx, count, sizeof *order));
    RBL_TRY_ALLOC(set = rbli_alloc(r->ctx, count, sizeof *set));
    RBL_TRY_ALLOC(fins = rbli_alloc(r->ctx, count, sizeof *fins));
    RBL_TRY(repair_order_triangles(r, r->fins.data, count, order));
    for (size_t t = 0; t < count; t++)
        fins[t] = r->fins.data[order[t]];
    RBL_TRY(group_fins(w, fins, count, set));
    for (size_t t = 0; t < count; t++)
        keys[t] = (rbli_keyed){(uint64_t)set[t], (int32_t)t};
    RBL_TRY(rbli_radix_sort_polled(r->ctx, keys, keys + count, count));
    for (size_t begin = 0, end; begin < count; begin = end) {
        RBL_TRY(rbli_poll(r->ctx, begin));
        int32_t t = keys[begin].index;
        rbli_shell *shell = &w->out->shells[w->out->shell_count++];
        *shell = (rbli_shell){.kind = RBLI_SHELL_DROPPED,
            .triangle_start = (int32_t)w->count,
            .parent = -1,
            .node = fins[t].node,
            .two_sided = true,
            .why = "two sides back to back without volume"};
        for (end = begin; end < count && set[keys[end].index] == t; end++) {
            const repair_triangle *fin = &fins[keys[end].index];
            for (int k = 0; k < 3; k++)
                w->label[3 * w->count + (size_t)k] = -1 - t;
            shell->area += fin_area(r, fin);
            w->triangles[w->count++] = *fin;
            shell->triangle_count++;
        }
    }
done:
    rbli_free(r->ctx, keys);
    rbli_free(r->ctx, order);
    rbli_free(r->ctx, set);
    rbli_free(r->ctx, fins);
    return status;
}

/* Shells */

static rbl_status write_shells(writer *w, const rbli_shell *shells)
{
    rbl_status status = RBL_OK;
    repair *r = w->r;
    int32_t *umbrella = NULL;
    bool single = true;
    RBL_TRY(repair_find_umbrellas(r, &umbrella, &single));
    if (umbrella || r->fins.count > 0)
        RBL_TRY_ALLOC(
            w->label = rbli_calloc(r->ctx, 3 * (r->triangles.count + r->fins.count), sizeof *w->label));
    for (size_t s = 0; s < r->shells.count; s++) {
        const repair_shell *from = &r->shells.data[s];
        rbli_shell *to = &w->out->shells[w->out->shell_count++];
        *to = shells[s];
        to->triangle_start = (int32_t)w->count;
        to->triangle_count = (int32_t)from->count;
        for (size_t i = 0; i < from->count; i++) {
            RBL_TRY(rbli_poll(r->ctx, i));
            int32_t t = r->members[from->start + i];
            for (int32_t k = 0; k < 3 && umbrella; k++)
                w->label[3 * w->count + (size_t)k] = umbrella[3 * t + k];
            w->triangles[w->count++] = r->triangles.data[t];
        }
    }
done:
    rbli_free(r->ctx, umbrella);
    return status;
}

/* Vertices: by position, at one position by first use. */

/// Corners by position, in the order of the triangles: sorted[start[p]] ….
static rbl_status sort_corners(const writer *w, int32_t **start_out, int32_t **sorted_out)
{
    rbl_status status = RBL_OK;
    repair *r = w->r;
    size_t corner_count = 3 * w->count, position_count = r->positions.count;
    int32_t *start = NULL, *sorted = NULL;
    RBL_TRY_ALLOC(start = rbli_calloc(r->ctx, position_count + 2, sizeof *start));
    RBL_TRY_ALLOC(sorted = rbli_alloc(r->ctx, corner_count, sizeof *sorted));
    for (size_t c = 0; c < corner_count; c++) {
        RBL_TRY(rbli_poll(r->ctx, c));
        start[w->triangles[c / 3].v[c % 3] + 2]++;
    }
    for (size_t p = 0; p < position_count; p++) {
        RBL_TRY(rbli_poll(r->ctx, p));
        start[p + 2] += start[p + 1];
    }
    for (size_t c = 0; c < corner_count; c++) {
        RBL_TRY(rbli_poll(r->ctx, c));
        sorted[start[w->triangles[c / 3].v[c % 3] + 1]++] = (int32_t)c;
    }
    *start_out = start;
    *sorted_out = sorted;
    return RBL_OK;
done:
    rbli_free(r->ctx, start);
    rbli_free(r->ctx, sorted);
    return status;
}

static rbl_status write_vertices(writer *w)
{
    rbl_status status = RBL_OK;
    repair *r = w->r;
    rbli_repair_result *out = w->out;
    int32_t *start = NULL, *sorted = NULL;
    RBLI_ARRAY(repair_point) points = {0};
    size_t used = 0;
    RBL_TRY(sort_corners(w, &start, &sorted));
    RBL_TRY(rbli_array_reserve(r->ctx, &points, r->positions.count));
    for (size_t p = 0; p < r->positions.count; p++) {
        RBL_TRY(rbli_poll(r->ctx, p));
        used += start[p] < start[p + 1];
        for (int32_t i = start[p]; i < start[p + 1]; i++) {
            int32_t c = sorted[i], vertex = -1;
            for (int32_t j = start[p]; j < i && vertex < 0; j++)
                if (w->label[sorted[j]] == w->label[c]) vertex = out->triangles[sorted[j] / 3][sorted[j] % 3];
            if (vertex < 0) {
                vertex = (int32_t)points.count;
                RBL_TRY(rbli_array_reserve(r->ctx, &points, 1));
                memcpy(points.data[points.count++], r->positions.data[p], sizeof(repair_point));
            }
            out->triangles[c / 3][c % 3] = vertex;
        }
    }
    out->positions = points.data;
    out->vertex_count = points.count;
    out->split_vertices = points.count - used;
    points.data = NULL;
done:
    rbli_free(r->ctx, points.data);
    rbli_free(r->ctx, start);
    rbli_free(r->ctx, sorted);
    return status;
}

/// The same where no position has two vertices.
static rbl_status write_positions(writer *w)
{
    rbl_status status = RBL_OK;
    repair *r = w->r;
    rbli_repair_result *out = w->out;
    int32_t *vertex = NULL, used = 0;
    RBL_TRY_ALLOC(vertex = rbli_calloc(r->ctx, r->positions.count, sizeof *vertex));
    for (size_t t = 0; t < w->count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        for (int k = 0; k < 3; k++)
            vertex[w->triangles[t].v[k]] = 1;
    }
    for (size_t p = 0; p < r->positions.count; p++) {
        bool is_used = vertex[p] != 0;
        vertex[p] = used;
        if (is_used) memmove(r->positions.data[used++], r->positions.data[p], sizeof *r->positions.data);
    }
    for (size_t t = 0; t < w->count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        for (int k = 0; k < 3; k++)
            out->triangles[t][k] = vertex[w->triangles[t].v[k]];
    }
    out->positions = r->positions.data; /* nobody asks for them any more */
    out->vertex_count = (size_t)used;
    r->positions.data = NULL;
    r->positions.count = r->positions.capacity = 0;
done:
    rbli_free(r->ctx, vertex);
    return status;
}

static rbl_status write_triangles(writer *w)
{
    rbl_status status = RBL_OK;
    repair *r = w->r;
    rbli_repair_result *out = w->out;
    size_t rows = 0;
    RBL_TRY_ALLOC(out->triangles = rbli_alloc(r->ctx, w->count, sizeof *out->triangles));
    RBL_TRY_ALLOC(out->triangle_node = rbli_alloc(r->ctx, w->count, sizeof *out->triangle_node));
    RBL_TRY_ALLOC(out->origins.source = rbli_alloc(r->ctx, w->count, sizeof *out->origins.source));
    RBL_TRY_ALLOC(
        out->origins.weights_index = rbli_alloc(r->ctx, w->count, sizeof *out->origins.weights_index));
    for (size_t t = 0; t < w->count && r->weights.count > 0; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        rows += w->triangles[t].weights >= 0;
    }
    RBL_TRY_ALLOC(out->origins.weights = rbli_alloc(r->ctx, rows, sizeof *out->origins.weights));
    out->triangle_count = w->count;
    for (size_t t = 0; t < w->count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        const repair_triangle *triangle = &w->triangles[t];
        out->triangle_node[t] = triangle->node;
        out->origins.source[t] = triangle->source;
        out->origins.weights_index[t] = -1;
        if (triangle->weights < 0) continue;
        out->origins.weights_index[t] = (int32_t)out->origins.weights_count;
        memcpy(out->origins.weights[out->origins.weights_count++], r->weights.data[triangle->weights].corner,
            sizeof *out->origins.weights);
    }
done:
    return status;
}

/* Holes: the filled ones are numbered already; the open ones follow, shell by shell. */

static rbl_status add_open_holes(writer *w)
{
    rbl_status status = RBL_OK;
    repair *r = w->r;
    repair_loops loops = {0};
    for (size_t s = 0; s < r->shells.count; s++) {
        if (r->shells.data[s].closed || !r->shells.data[s].orientable) continue;
        RBL_TRY(repair_trace_loops(r, &r->shells.data[s], &loops));
        w->out->shells[s].open_loop_count = (int32_t)loops.count;
        for (size_t i = 0; i < loops.count; i++) {
            int32_t begin = loops.start.data[i], end = loops.start.data[i + 1];
            rbli_hole hole = repair_describe_loop(r, loops.vertices.data + begin, (size_t)(end - begin));
            hole.shell = (int32_t)s;
            RBL_TRY(rbli_array_push(r->ctx, &r->holes, hole));
        }
    }
done:
    repair_loops_free(r->ctx, &loops);
    return status;
}

/// Finds the shells of filled holes, and forgets holes whose triangles did not stay.
static rbl_status settle_filled_holes(writer *w)
{
    rbl_status status = RBL_OK;
    repair *r = w->r;
    rbli_hole *holes = r->holes.data;
    int32_t *place = NULL;
    size_t kept = 0;
    if (r->holes.count == 0) return RBL_OK;
    RBL_TRY_ALLOC(place = rbli_alloc(r->ctx, r->holes.count, sizeof *place));
    for (size_t s = 0; s < w->out->shell_count; s++)
        for (int32_t i = 0; i < w->out->shells[s].triangle_count; i++) {
            RBL_TRY(rbli_poll(r->ctx, (size_t)i));
            int32_t source = w->triangles[w->out->shells[s].triangle_start + i].source;
            if (source < 0) holes[-1 - source].shell = (int32_t)s;
        }
    for (size_t h = 0; h < r->holes.count; h++)
        if (holes[h].shell < -1) holes[h].shell = holes[-2 - holes[h].shell].shell;
    for (size_t h = 0; h < r->holes.count; h++) {
        place[h] = (int32_t)kept;
        if (holes[h].shell < 0) continue;
        w->out->shells[holes[h].shell].filled_loop_count++;
        holes[kept++] = holes[h];
    }
    r->holes.count = kept;
    for (size_t t = 0; t < w->count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        if (w->triangles[t].source < 0) w->triangles[t].source = -1 - place[-1 - w->triangles[t].source];
    }
done:
    rbli_free(r->ctx, place);
    return status;
}

static rbl_status write_holes(writer *w)
{
    rbl_status status = RBL_OK;
    repair *r = w->r;
    RBL_TRY(settle_filled_holes(w));
    RBL_TRY(add_open_holes(w));
    w->out->holes = r->holes.data;
    w->out->hole_count = r->holes.count;
    r->holes.data = NULL;
    r->holes.count = r->holes.capacity = 0;
done:
    return status;
}

rbl_status repair_write(repair *r, const rbli_shell *shells)
{
    rbl_status status = RBL_OK;
    writer w = {.r = r, .out = r->out};
    size_t most = r->triangles.count + r->fins.count;
    RBL_TRY_ALLOC(w.triangles = rbli_alloc(r->ctx, most, sizeof *w.triangles));
    RBL_TRY_ALLOC(
        r->out->shells = rbli_alloc(r->ctx, r->shells.count + r->fins.count, sizeof *r->out->shells));
    RBL_TRY(write_shells(&w, shells));
    RBL_TRY(write_fins(&w));
    RBL_TRY(write_holes(&w));
    RBL_TRY(write_triangles(&w));
    RBL_TRY(w.label ? write_vertices(&w) : write_positions(&w));
done:
    rbli_free(r->ctx, w.triangles);
    rbli_free(r->ctx, w.label);
    return status;
}
