/// Grout: each cell clipped by its own facets' planes moved inward, which is its erosion by a ball
/// (CUTTERS.md).

#include "fracture/geometry/complex_erode.h"

#include <math.h>

#include "fracture/geometry/complex_edit.h"

/// Corners closer to a plane than this, relative to the extent of the complex, lie on it.
static const double ON_PLANE = 1e-12;

typedef struct corner {
    double x[3];    /* from the cell's first vertex */
    double height;  /* above the clipping plane */
    int32_t number; /* in the new complex; −1: not there yet */
    int8_t sign;
} corner;

/// Where the clipping plane meets an edge of the cell.
typedef struct crossing {
    int32_t low, high, corner;
} crossing;

/// A side of the clipped cell that lies in the clipping plane, as the facet beside it walks it.
typedef struct plane_side {
    int32_t from, to;
} plane_side;

typedef struct eroder {
    rbl_context *ctx;
    const rbli_cell_complex *k;
    double distance, tolerance;
    int32_t *start, *facets; /* facets of each cell */
    RBLI_ARRAY(corner) corners;
    rbli_facet_list now, next; /* the cell's facets, outward; cells are not used, origin is the facet of k */
    RBLI_ARRAY(crossing) crossings;
    RBLI_ARRAY(plane_side) sides;
    RBLI_ARRAY(int32_t) loop;
    rbli_facet_list made;
    RBLI_ARRAY(corner) vertices; /* of the new complex: x alone */
    RBLI_ARRAY(int32_t) sites;
} eroder;

static void clear_facets(rbli_facet_list *list)
{
    list->start.count = list->vertices.count = list->cells.count = list->origin.count = 0;
}

/// The facets of each ordinary cell.
static rbl_status list_cell_facets(eroder *e)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = e->k;
    RBL_TRY_ALLOC(e->start = rbli_calloc(e->ctx, k->cell_count + 2, sizeof *e->start));
    RBL_TRY_ALLOC(e->facets = rbli_alloc(e->ctx, 2 * k->facet_count, sizeof *e->facets));
    for (size_t f = 0; f < k->facet_count; f++)
        for (int side = 0; side < 2; side++)
            if (k->facet_cells[f][side] >= 0) e->start[k->facet_cells[f][side] + 2]++;
    for (size_t c = 0; c < k->cell_count; c++)
        e->start[c + 2] += e->start[c + 1];
    for (size_t f = 0; f < k->facet_count; f++)
        for (int side = 0; side < 2; side++)
            if (k->facet_cells[f][side] >= 0) e->facets[e->start[k->facet_cells[f][side] + 1]++] = (int32_t)f;
done:
    return status;
}

/// Copies the cell as it is. Its corners are numbered as their vertices come.
static rbl_status load_cell(eroder *e, size_t cell)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = e->k;
    const double *base = k->vertices[k->facet_vertices[k->facet_start[e->facets[e->start[cell]]]]];
    e->corners.count = 0;
    e->crossings.count = 0; /* here: vertex → corner */
    clear_facets(&e->now);
    for (int32_t i = e->start[cell]; i < e->start[cell + 1]; i++) {
        int32_t f = e->facets[i], begin = k->facet_start[f], count = k->facet_start[f + 1] - begin;
        bool outward = k->facet_cells[f][0] == (int32_t)cell;
        e->loop.count = 0;
        RBL_TRY(rbli_array_reserve(e->ctx, &e->loop, (size_t)count));
        for (int32_t j = 0; j < count; j++) {
            int32_t vertex = k->facet_vertices[begin + (outward ? j : count - 1 - j)], at = -1;
            for (size_t c = 0; c < e->crossings.count && at < 0; c++)
                if (e->crossings.data[c].low == vertex) at = e->crossings.data[c].corner;
            if (at < 0) {
                corner made = {.number = -1};
                for (int a = 0; a < 3; a++)
                    made.x[a] = k->vertices[vertex][a] - base[a];
                at = (int32_t)e->corners.count;
                RBL_TRY(rbli_array_push(e->ctx, &e->corners, made));
                RBL_TRY(rbli_array_push(e->ctx, &e->crossings, ((crossing){vertex, vertex, at})));
            }
            e->loop.data[e->loop.count++] = at;
        }
        RBL_TRY(rbli_facet_list_add(e->ctx, &e->now, e->loop.data, e->loop.count, 0, 0, f));
    }
done:
    return status;
}

/// The plane of facet i of the loaded cell: unit outward normal (Newell) and offset; false without area.
static bool plane_of(const eroder *e, size_t i, double normal[3], double *offset)
{
    int32_t begin = e->now.start.data[i], end = e->now.start.data[i + 1];
    const double *origin = e->corners.data[e->now.vertices.data[begin]].x;
    double mean[3] = {0, 0, 0}, length = 0;
    normal[0] = normal[1] = normal[2] = 0;
    for (int32_t j = begin; j < end; j++) {
        const double *p = e->corners.data[e->now.vertices.data[j]].x;
        const double *q = e->corners.data[e->now.vertices.data[j + 1 < end ? j + 1 : begin]].x;
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            normal[a] += (p[b] - origin[b]) * (q[c] - origin[c]) - (p[c] - origin[c]) * (q[b] - origin[b]);
            mean[a] += p[a] - origin[a];
        }
    }
    for (int a = 0; a < 3; a++)
        length += normal[a] * normal[a];
    length = sqrt(length);
    if (!(length > 0)) return false;
    *offset = 0;
    for (int a = 0; a < 3; a++) {
        normal[a] /= length;
        *offset += normal[a] * (origin[a] + mean[a] / (end - begin));
    }
    return true;
}

/// The corner where the plane meets the edge between two corners of opposite signs.
static rbl_status cross_edge(eroder *e, int32_t a, int32_t b, int32_t *out)
{
    rbl_status status = RBL_OK;
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    for (size_t i = 0; i < e->crossings.count; i++)
        if (e->crossings.data[i].low == low && e->crossings.data[i].high == high) {
            *out = e->crossings.data[i].corner;
            return RBL_OK;
        }
    const corner *p = &e->corners.data[low], *q = &e->corners.data[high];
    double t = p->height / (p->height - q->height);
    corner made = {.number = -1};
    for (int k = 0; k < 3; k++)
        made.x[k] = p->x[k] + t * (q->x[k] - p->x[k]);
    *out = (int32_t)e->corners.count;
    RBL_TRY(rbli_array_push(e->ctx, &e->corners, made));
    RBL_TRY(rbli_array_push(e->ctx, &e->crossings, ((crossing){low, high, *out})));
done:
    return status;
}

/// Keeps the part of a facet below the plane; notes its sides in the plane.
static rbl_status clip_facet(eroder *e, size_t f)
{
    rbl_status status = RBL_OK;
    int32_t begin = e->now.start.data[f], end = e->now.start.data[f + 1];
    bool below = false;
    e->loop.count = 0;
    RBL_TRY(rbli_array_reserve(e->ctx, &e->loop, 2 * (size_t)(end - begin)));
    for (int32_t i = begin; i < end; i++) {
        int32_t a = e->now.vertices.data[i], b = e->now.vertices.data[i + 1 < end ? i + 1 : begin];
        int8_t from = e->corners.data[a].sign, to = e->corners.data[b].sign;
        below |= from < 0;
        if (from <= 0) e->loop.data[e->loop.count++] = a;
        if (from * to < 0) {
            int32_t made;
            RBL_TRY(cross_edge(e, a, b, &made));
            e->loop.data[e->loop.count++] = made;
        }
    }
    size_t count = e->loop.count;
    if (!below || count < 3) return RBL_OK;
    RBL_TRY(rbli_facet_list_add(e->ctx, &e->next, e->loop.data, count, 0, 0, e->now.origin.data[f]));
    for (size_t i = 0; i < count; i++) {
        int32_t a = e->loop.data[i], b = e->loop.data[i + 1 < count ? i + 1 : 0];
        if (e->corners.data[a].sign == 0 && e->corners.data[b].sign == 0)
            RBL_TRY(rbli_array_push(e->ctx, &e->sides, ((plane_side){a, b})));
    }
done:
    return status;
}

/// Closes the clipped cell: the sides that no two facets share, walked backwards, are the new facet.
static rbl_status close_cell(eroder *e, int32_t origin)
{
    rbl_status status = RBL_OK;
    plane_side *sides = e->sides.data;
    size_t count = e->sides.count;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count && sides[i].from >= 0; j++)
            if (sides[i].from == sides[j].to && sides[i].to == sides[j].from) {
                sides[i].from = sides[j].from = -1;
                sides[i].to = sides[j].to = -1;
            }
    RBL_TRY(rbli_array_reserve(e->ctx, &e->loop, count + 1));
    for (size_t i = 0; i < count; i++) {
        if (sides[i].from < 0) continue;
        int32_t at = sides[i].to;
        e->loop.count = 0;
        e->loop.data[e->loop.count++] = at;
        for (bool found = true; found;) {
            found = false;
            for (size_t j = i; j < count && !found; j++) {
                if (sides[j].to != at || sides[j].from < 0) continue;
                at = sides[j].from;
                sides[j].from = sides[j].to = -1;
                found = true;
            }
            if (!found) break;
            size_t place = 0;
            while (place < e->loop.count && e->loop.data[place] != at)
                place++;
            if (place == e->loop.count) {
                e->loop.data[e->loop.count++] = at;
                continue;
            }
            if (e->loop.count - place >= 3) /* back at a corner: a facet of its own */
                RBL_TRY(rbli_facet_list_add(
                    e->ctx, &e->next, e->loop.data + place, e->loop.count - place, 0, 0, origin));
            e->loop.count = place + 1;
        }
    }
done:
    return status;
}

/// @param left  false when nothing of the cell remains
static rbl_status clip_cell(eroder *e, const double normal[3], double offset, int32_t origin, bool *left)
{
    rbl_status status = RBL_OK;
    bool above = false, below = false;
    for (size_t i = 0; i < e->corners.count; i++) {
        corner *c = &e->corners.data[i];
        if (c->sign > 0) continue; /* clipped off before */
        c->height = normal[0] * c->x[0] + normal[1] * c->x[1] + normal[2] * c->x[2] - offset;
        c->sign = c->height > e->tolerance ? 1 : c->height < -e->tolerance ? -1 : 0;
        above |= c->sign > 0;
        below |= c->sign < 0;
    }
    *left = below;
    if (!above || !below) return RBL_OK;
    e->sides.count = e->crossings.count = 0;
    clear_facets(&e->next);
    for (size_t f = 0; f < e->now.origin.count; f++)
        RBL_TRY(clip_facet(e, f));
    RBL_TRY(close_cell(e, origin));
    rbli_facet_list swap = e->now;
    e->now = e->next;
    e->next = swap;
    *left = e->now.origin.count >= 4;
done:
    return status;
}

/// Appends what is left of a cell to the new complex; `gap` becomes the other side of its facets later on.
static rbl_status store_cell(eroder *e, size_t cell)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = e->k;
    const double *base = k->vertices[k->facet_vertices[k->facet_start[e->facets[e->start[cell]]]]];
    int32_t number = (int32_t)e->sites.count;
    for (size_t f = 0; f < e->now.origin.count; f++) {
        int32_t begin = e->now.start.data[f], end = e->now.start.data[f + 1];
        for (int32_t i = begin; i < end; i++) {
            corner *c = &e->corners.data[e->now.vertices.data[i]];
            if (c->number < 0) {
                corner made = {.number = -1};
                for (int a = 0; a < 3; a++)
                    made.x[a] = base[a] + c->x[a];
                c->number = (int32_t)e->vertices.count;
                RBL_TRY(rbli_array_push(e->ctx, &e->vertices, made));
            }
            e->now.vertices.data[i] = c->number;
        }
        RBL_TRY(rbli_facet_list_add(e->ctx, &e->made, e->now.vertices.data + begin, (size_t)(end - begin),
            number, -1, k->facet_origin[e->now.origin.data[f]]));
    }
    RBL_TRY(rbli_array_push(e->ctx, &e->sites, k->cell_site[cell]));
done:
    return status;
}

static rbl_status erode_cell(eroder *e, size_t cell, bool *left)
{
    rbl_status status = RBL_OK;
    struct {
        double normal[3], offset;
        int32_t facet;
    } plane, *planes = NULL;
    size_t count = 0;
    RBL_TRY(load_cell(e, cell));
    size_t facet_count = e->now.origin.count;
    RBL_TRY_ALLOC(planes = rbli_alloc(e->ctx, facet_count, sizeof *planes));
    for (size_t f = 0; f < facet_count; f++) {
        plane.facet = e->now.origin.data[f];
        if (plane_of(e, f, plane.normal, &plane.offset)) planes[count++] = plane;
    }
    *left = true;
    for (size_t f = 0; f < count && *left; f++)
        RBL_TRY(clip_cell(e, planes[f].normal, planes[f].offset - e->distance, planes[f].facet, left));
    if (*left) status = store_cell(e, cell);
done:
    rbli_free(e->ctx, planes);
    return status;
}

/// The walls of the old complex bound the gap.
static rbl_status add_walls(eroder *e, int32_t gap)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = e->k;
    int32_t *number = rbli_alloc(e->ctx, k->vertex_count, sizeof *number);
    RBL_TRY_ALLOC(number);
    memset(number, 0xff, k->vertex_count * sizeof *number);
    for (size_t f = 0; f < k->facet_count; f++) {
        if (k->facet_cells[f][0] >= 0 && k->facet_cells[f][1] >= 0) continue;
        int32_t begin = k->facet_start[f], count = k->facet_start[f + 1] - begin;
        e->loop.count = 0;
        RBL_TRY(rbli_array_reserve(e->ctx, &e->loop, (size_t)count));
        for (int32_t i = 0; i < count; i++) {
            int32_t v = k->facet_vertices[begin + i];
            if (number[v] < 0) {
                corner made = {.number = -1};
                memcpy(made.x, k->vertices[v], sizeof made.x);
                number[v] = (int32_t)e->vertices.count;
                RBL_TRY(rbli_array_push(e->ctx, &e->vertices, made));
            }
            e->loop.data[e->loop.count++] = number[v];
        }
        bool outward = k->facet_cells[f][1] < 0;
        RBL_TRY(rbli_facet_list_add(
            e->ctx, &e->made, e->loop.data, e->loop.count, outward ? gap : -1, outward ? -1 : gap, -1));
    }
done:
    rbli_free(e->ctx, number);
    return status;
}

static rbl_status build(eroder *e, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    rbli_cell_complex *made = NULL;
    int32_t gap = (int32_t)e->sites.count;
    for (size_t f = 0; f < e->made.origin.count; f++)
        e->made.cells.data[2 * f + 1] = gap;
    RBL_TRY(add_walls(e, gap));
    RBL_TRY(rbli_array_push(e->ctx, &e->sites, -1));
    RBL_TRY_ALLOC(made = rbli_calloc(e->ctx, 1, sizeof *made));
    RBL_TRY_ALLOC(made->vertices = rbli_alloc(e->ctx, e->vertices.count, sizeof *made->vertices));
    made->vertex_count = e->vertices.count;
    for (size_t v = 0; v < made->vertex_count; v++)
        memcpy(made->vertices[v], e->vertices.data[v].x, sizeof *made->vertices);
    made->cell_count = e->sites.count;
    made->outside_cell_count = 1;
    made->cell_site = e->sites.data;
    e->sites.data = NULL;
    RBL_TRY(rbli_facet_list_move(e->ctx, &e->made, made));
    *out = made;
    made = NULL;
done:
    rbli_cell_complex_destroy(e->ctx, made);
    return status;
}

static double extent_of(const rbli_cell_complex *k)
{
    double extent = 0;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t v = 0; v < k->vertex_count; v++) {
            low = fmin(low, k->vertices[v][a]);
            high = fmax(high, k->vertices[v][a]);
        }
        extent = fmax(extent, high - low);
    }
    return extent;
}

rbl_status rbli_complex_erode(rbl_context *ctx, const rbli_cell_complex *complex, double distance,
    size_t *vanished, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    eroder e = {.ctx = ctx, .k = complex, .distance = distance, .tolerance = ON_PLANE * extent_of(complex)};
    size_t gone = 0;
    RBL_TRY(list_cell_facets(&e));
    for (size_t c = 0; c < complex->cell_count - complex->outside_cell_count; c++) {
        bool left;
        if ((c & 255) == 0 && rbli_cancelled(ctx)) {
            status = RBL_ERR_CANCELLED;
            goto done;
        }
        RBL_TRY(erode_cell(&e, c, &left));
        gone += !left;
    }
    RBL_TRY(build(&e, out));
    if (vanished) *vanished = gone;
done:
    rbli_free(ctx, e.start);
    rbli_free(ctx, e.facets);
    rbli_free(ctx, e.corners.data);
    rbli_free(ctx, e.crossings.data);
    rbli_free(ctx, e.sides.data);
    rbli_free(ctx, e.loop.data);
    rbli_free(ctx, e.vertices.data);
    rbli_free(ctx, e.sites.data);
    rbli_facet_list_free(ctx, &e.now);
    rbli_facet_list_free(ctx, &e.next);
    rbli_facet_list_free(ctx, &e.made);
    return status;
}
