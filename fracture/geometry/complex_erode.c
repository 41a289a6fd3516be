/// Grout: each cell clipped by its own facets' planes moved inward, which is its erosion by a ball
/// (CUTTERS.md). Where no facet vanishes, its corners move instead.

#include "fracture/geometry/complex_erode.h"

#include <math.h>

#include "fracture/geometry/complex_edit.h"

/// Corners closer to a plane than this, relative to the extent of the complex, lie on it.
static const double ON_PLANE = 1e-12;
/// Three facets whose unit normals span less than this meet in no point that is worth a short cut.
static const double FLAT_CORNER = 1e-3;

typedef struct corner {
    double x[3];        /* from the cell's first vertex */
    double height;      /* above the clipping plane */
    int32_t number;     /* in the new complex; −1: not there yet */
    int32_t vertex;     /* of the old complex; −1: made by clipping */
    int32_t facets[3];  /* of the cell as it came; the first three */
    int8_t facet_count; /* 4: more than three */
} corner;

/// A facet's plane: unit outward normal, and offset from the cell's first vertex.
typedef struct facet_plane {
    double normal[3], offset;
    int32_t facet;
} facet_plane;

/// Where the clipping plane meets an edge of the cell.
typedef struct crossing {
    int32_t low, high, corner;
} crossing;

/// An edge of the clipped cell in the clipping plane, as the side beside it walks it.
typedef struct rim_edge {
    int32_t from, to;
} rim_edge;

/// A facet of the cell while it is clipped.
typedef struct cell_side {
    int32_t first, count; /* corners, in `loops` */
    int32_t facet;        /* of the old complex */
} cell_side;

typedef struct eroder {
    rbl_context *ctx;
    const rbli_cell_complex *k;
    double distance, tolerance;
    int32_t *start, *facets; /* facets of each cell */
    int32_t *corner_of;      /* [vertices of k] corner of the cell, where that says so, too */
    RBLI_ARRAY(corner) corners;
    RBLI_ARRAY(facet_plane) planes;
    RBLI_ARRAY(double) places;   /* [3 ×] where corners move */
    RBLI_ARRAY(int8_t) signs;    /* of corners against the clipping plane; 1: clipped off */
    RBLI_ARRAY(cell_side) sides; /* of the cell, outward */
    RBLI_ARRAY(int32_t) loops;
    RBLI_ARRAY(crossing) crossings;
    RBLI_ARRAY(rim_edge) rim;
    RBLI_ARRAY(int32_t) loop;
    rbli_facet_list made;
    RBLI_ARRAY(corner) vertices; /* of the new complex: x alone */
    RBLI_ARRAY(int32_t) sites;
} eroder;

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
    e->corners.count = e->signs.count = 0;
    e->sides.count = e->loops.count = 0;
    for (int32_t i = e->start[cell]; i < e->start[cell + 1]; i++) {
        int32_t f = e->facets[i], begin = k->facet_start[f], count = k->facet_start[f + 1] - begin;
        bool outward = k->facet_cells[f][0] == (int32_t)cell;
        RBL_TRY(rbli_array_push(e->ctx, &e->sides, ((cell_side){(int32_t)e->loops.count, count, f})));
        RBL_TRY(rbli_array_reserve(e->ctx, &e->loops, (size_t)count));
        for (int32_t j = 0; j < count; j++) {
            int32_t vertex = k->facet_vertices[begin + (outward ? j : count - 1 - j)];
            int32_t at = e->corner_of[vertex];
            if ((size_t)at >= e->corners.count || e->corners.data[at].vertex != vertex) {
                corner made = {.number = -1, .vertex = vertex};
                for (int a = 0; a < 3; a++)
                    made.x[a] = k->vertices[vertex][a] - base[a];
                at = e->corner_of[vertex] = (int32_t)e->corners.count;
                RBL_TRY(rbli_array_push(e->ctx, &e->corners, made));
                RBL_TRY(rbli_array_push(e->ctx, &e->signs, (int8_t)0));
            }
            corner *c = &e->corners.data[at];
            if (c->facet_count < 3) c->facets[c->facet_count] = i - e->start[cell];
            if (c->facet_count < 4) c->facet_count++;
            e->loops.data[e->loops.count++] = at;
        }
    }
done:
    return status;
}

/// The plane of side i of the loaded cell: unit outward normal (Newell) and offset; false without area.
static bool plane_of(const eroder *e, size_t i, double normal[3], double *offset)
{
    const int32_t *loop = e->loops.data + e->sides.data[i].first;
    int32_t count = e->sides.data[i].count;
    const double *origin = e->corners.data[loop[0]].x;
    double mean[3] = {0, 0, 0}, length = 0;
    normal[0] = normal[1] = normal[2] = 0;
    for (int32_t j = 0; j < count; j++) {
        const double *p = e->corners.data[loop[j]].x;
        const double *q = e->corners.data[loop[j + 1 < count ? j + 1 : 0]].x;
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
        *offset += normal[a] * (origin[a] + mean[a] / count);
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
    corner made = {.number = -1, .vertex = -1};
    for (int k = 0; k < 3; k++)
        made.x[k] = p->x[k] + t * (q->x[k] - p->x[k]);
    *out = (int32_t)e->corners.count;
    RBL_TRY(rbli_array_push(e->ctx, &e->corners, made));
    RBL_TRY(rbli_array_push(e->ctx, &e->signs, (int8_t)0));
    RBL_TRY(rbli_array_push(e->ctx, &e->crossings, ((crossing){low, high, *out})));
done:
    return status;
}

/// Keeps the part of a side below the plane, perhaps nothing; notes its edges in the plane.
static rbl_status clip_side(eroder *e, cell_side *s)
{
    rbl_status status = RBL_OK;
    int32_t first = s->first, count = s->count;
    const int8_t *signs = e->signs.data;
    bool below = false, above = false, on = false;
    for (int32_t i = 0; i < count; i++) {
        int8_t sign = signs[e->loops.data[first + i]];
        below |= sign < 0;
        above |= sign > 0;
        on |= sign == 0;
    }
    if (!above && !on) return RBL_OK;
    if (below && above) {
        RBL_TRY(rbli_array_reserve(e->ctx, &e->loops, 2 * (size_t)count));
        s->first = (int32_t)e->loops.count;
        for (int32_t i = 0; i < count; i++) {
            int32_t a = e->loops.data[first + i], b = e->loops.data[first + (i + 1 < count ? i + 1 : 0)];
            int8_t from = signs[a], to = signs[b];
            if (from <= 0) e->loops.data[e->loops.count++] = a;
            if (from * to < 0) {
                int32_t made;
                RBL_TRY(cross_edge(e, a, b, &made));
                signs = e->signs.data;
                e->loops.data[e->loops.count++] = made;
            }
        }
        s->count = (int32_t)e->loops.count - s->first;
    }
    if (!below || s->count < 3) s->count = 0;
    const int32_t *loop = e->loops.data + s->first;
    for (int32_t i = 0; i < s->count; i++) {
        int32_t a = loop[i], b = loop[i + 1 < s->count ? i + 1 : 0];
        if (signs[a] == 0 && signs[b] == 0) RBL_TRY(rbli_array_push(e->ctx, &e->rim, ((rim_edge){a, b})));
    }
done:
    return status;
}

/// Appends a side with the corners loop[0] … loop[count − 1].
static rbl_status add_side(eroder *e, const int32_t *loop, size_t count, int32_t facet)
{
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_array_reserve(e->ctx, &e->loops, count));
    RBL_TRY(
        rbli_array_push(e->ctx, &e->sides, ((cell_side){(int32_t)e->loops.count, (int32_t)count, facet})));
    memcpy(e->loops.data + e->loops.count, loop, count * sizeof *loop);
    e->loops.count += count;
done:
    return status;
}

/// Closes the clipped cell: the rim edges that no two sides share, walked backwards, are the new side.
static rbl_status close_cell(eroder *e, int32_t facet)
{
    rbl_status status = RBL_OK;
    rim_edge *rim = e->rim.data;
    size_t count = e->rim.count;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count && rim[i].from >= 0; j++)
            if (rim[i].from == rim[j].to && rim[i].to == rim[j].from) {
                rim[i].from = rim[j].from = -1;
                rim[i].to = rim[j].to = -1;
            }
    e->loop.count = 0;
    RBL_TRY(rbli_array_reserve(e->ctx, &e->loop, count + 1));
    for (size_t i = 0; i < count; i++) {
        if (rim[i].from < 0) continue;
        int32_t at = rim[i].to;
        e->loop.count = 0;
        e->loop.data[e->loop.count++] = at;
        for (bool found = true; found;) {
            found = false;
            for (size_t j = i; j < count && !found; j++) {
                if (rim[j].to != at || rim[j].from < 0) continue;
                at = rim[j].from;
                rim[j].from = rim[j].to = -1;
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
            if (e->loop.count - place >= 3) /* back at a corner: a side of its own */
                RBL_TRY(add_side(e, e->loop.data + place, e->loop.count - place, facet));
            e->loop.count = place + 1;
        }
    }
done:
    return status;
}

/// @param left  false when nothing of the cell remains
static rbl_status clip_cell(eroder *e, const facet_plane *plane, bool *left)
{
    rbl_status status = RBL_OK;
    bool above = false, below = false;
    const double *normal = plane->normal, offset = plane->offset - e->distance;
    for (size_t i = 0; i < e->corners.count; i++) {
        corner *c = &e->corners.data[i];
        if (e->signs.data[i] > 0) continue; /* clipped off before */
        c->height = normal[0] * c->x[0] + normal[1] * c->x[1] + normal[2] * c->x[2] - offset;
        int8_t sign = c->height > e->tolerance ? 1 : c->height < -e->tolerance ? -1 : 0;
        e->signs.data[i] = sign;
        above |= sign > 0;
        below |= sign < 0;
    }
    *left = below;
    if (!above || !below) return RBL_OK;
    e->rim.count = e->crossings.count = 0;
    size_t kept = 0;
    for (size_t i = 0; i < e->sides.count; i++) {
        cell_side clipped = e->sides.data[i];
        RBL_TRY(clip_side(e, &clipped));
        if (clipped.count) e->sides.data[kept++] = clipped;
    }
    e->sides.count = kept;
    RBL_TRY(close_cell(e, plane->facet));
    *left = e->sides.count >= 4;
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
    for (size_t i = 0; i < e->sides.count; i++) {
        const cell_side *s = &e->sides.data[i];
        int32_t *loop = e->loops.data + s->first;
        for (int32_t j = 0; j < s->count; j++) {
            corner *c = &e->corners.data[loop[j]];
            if (c->number < 0) {
                corner made = {.number = -1};
                for (int a = 0; a < 3; a++)
                    made.x[a] = base[a] + c->x[a];
                c->number = (int32_t)e->vertices.count;
                RBL_TRY(rbli_array_push(e->ctx, &e->vertices, made));
            }
            loop[j] = c->number;
        }
        RBL_TRY(rbli_facet_list_add(
            e->ctx, &e->made, loop, (size_t)s->count, number, -1, k->facet_origin[s->facet]));
    }
    RBL_TRY(rbli_array_push(e->ctx, &e->sites, k->cell_site[cell]));
done:
    return status;
}

/// Where a corner's three planes meet once they have moved inward; false where they hardly do.
static bool move_corner(const eroder *e, const corner *c, double out[3])
{
    const facet_plane *p = &e->planes.data[c->facets[0]], *q = &e->planes.data[c->facets[1]],
                      *r = &e->planes.data[c->facets[2]];
    const double *n[3] = {p->normal, q->normal, r->normal};
    double offset[3] = {p->offset - e->distance, q->offset - e->distance, r->offset - e->distance};
    double cross[3][3], det = 0;
    for (int i = 0; i < 3; i++) {
        const double *u = n[(i + 1) % 3], *v = n[(i + 2) % 3];
        for (int a = 0; a < 3; a++)
            cross[i][a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
    }
    for (int a = 0; a < 3; a++)
        det += n[0][a] * cross[0][a];
    if (fabs(det) < FLAT_CORNER) return false;
    for (int a = 0; a < 3; a++)
        out[a] = (offset[0] * cross[0][a] + offset[1] * cross[1][a] + offset[2] * cross[2][a]) / det;
    return true;
}

/// Erodes a cell by moving its corners, where three facets meet at each and every edge keeps its direction:
/// the length of an edge between moving planes is linear in how far they moved, so nothing vanished on the
/// way. @return false, and the cell as it was, otherwise
static rbl_status move_corners(eroder *e, bool *moved)
{
    rbl_status status = RBL_OK;
    *moved = false;
    RBL_TRY(rbli_array_reserve(e->ctx, &e->places, 3 * e->corners.count));
    double(*place)[3] = (double(*)[3])e->places.data;
    for (size_t i = 0; i < e->corners.count; i++)
        if (e->corners.data[i].facet_count != 3 || !move_corner(e, &e->corners.data[i], place[i]))
            return RBL_OK;
    for (size_t i = 0; i < e->sides.count; i++) {
        const int32_t *loop = e->loops.data + e->sides.data[i].first;
        int32_t count = e->sides.data[i].count;
        for (int32_t j = 0; j < count; j++) {
            int32_t a = loop[j], b = loop[j + 1 < count ? j + 1 : 0];
            double along = 0, square = 0;
            for (int k = 0; k < 3; k++) {
                double old = e->corners.data[b].x[k] - e->corners.data[a].x[k];
                along += old * (place[b][k] - place[a][k]);
                square += old * old;
            }
            if (!(along > e->tolerance * sqrt(square))) return RBL_OK;
        }
    }
    for (size_t i = 0; i < e->corners.count; i++)
        memcpy(e->corners.data[i].x, place[i], sizeof *place);
    *moved = true;
done:
    return status;
}

static rbl_status erode_cell(eroder *e, size_t cell, bool *left)
{
    rbl_status status = RBL_OK;
    RBL_TRY(load_cell(e, cell));
    e->planes.count = 0;
    size_t count = e->sides.count;
    RBL_TRY(rbli_array_reserve(e->ctx, &e->planes, count));
    for (size_t i = 0; i < count; i++) {
        facet_plane plane = {.facet = e->sides.data[i].facet};
        if (plane_of(e, i, plane.normal, &plane.offset)) e->planes.data[e->planes.count++] = plane;
    }
    *left = false;
    if (e->planes.count == count) RBL_TRY(move_corners(e, left));
    if (!*left) {
        *left = true;
        for (size_t i = 0; i < e->planes.count && *left; i++)
            RBL_TRY(clip_cell(e, &e->planes.data[i], left));
    }
    if (*left) status = store_cell(e, cell);
done:
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
    RBL_TRY_ALLOC(e.corner_of = rbli_calloc(ctx, complex->vertex_count, sizeof *e.corner_of));
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
    rbli_free(ctx, e.corner_of);
    rbli_free(ctx, e.corners.data);
    rbli_free(ctx, e.signs.data);
    rbli_free(ctx, e.planes.data);
    rbli_free(ctx, e.places.data);
    rbli_free(ctx, e.crossings.data);
    rbli_free(ctx, e.sides.data);
    rbli_free(ctx, e.loops.data);
    rbli_free(ctx, e.rim.data);
    rbli_free(ctx, e.loop.data);
    rbli_free(ctx, e.vertices.data);
    rbli_free(ctx, e.sites.data);
    rbli_facet_list_free(ctx, &e.made);
    return status;
}
