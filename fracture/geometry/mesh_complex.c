/// Complexes of cutter meshes (CUT.md, other complexes).

#include "fracture/geometry/mesh_complex.h"

#include <math.h>

#include "fracture/geometry/complex_edit.h"
#include "fracture/geometry/embedding.h"
#include "fracture/geometry/orient.h"

/* ---- edges ---- */

/// An edge of a mesh with how often each direction occurs.
typedef struct mesh_edge {
    int32_t low, high; /* low < 0: free */
    int32_t up, down;
    int32_t middle; /* vertex that splits it, or −1 */
} mesh_edge;

typedef struct edge_table {
    mesh_edge *edges;
    size_t mask;
} edge_table;

static mesh_edge *find_edge(const edge_table *table, int32_t a, int32_t b)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    size_t slot =
        ((size_t)low * 0x9e3779b97f4a7c15u ^ (size_t)high * 0xc2b2ae3d27d4eb4fu) >> 20 & table->mask;
    while (table->edges[slot].low >= 0 && (table->edges[slot].low != low || table->edges[slot].high != high))
        slot = (slot + 1) & table->mask;
    return &table->edges[slot];
}

static rbl_status make_edges(rbl_context *ctx, const rbli_mesh_view *mesh, edge_table *table)
{
    rbl_status status = RBL_OK;
    size_t size = 64;
    while (size < 6 * mesh->triangle_count)
        size *= 2;
    table->mask = size - 1;
    RBL_TRY_ALLOC(table->edges = rbli_alloc(ctx, size, sizeof *table->edges));
    for (size_t i = 0; i < size; i++)
        table->edges[i].low = -1;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            int32_t a = mesh->triangles[t][c], b = mesh->triangles[t][(c + 1) % 3];
            mesh_edge *edge = find_edge(table, a, b);
            if (edge->low < 0) *edge = (mesh_edge){a < b ? a : b, a < b ? b : a, 0, 0, -1};
            ++*(a < b ? &edge->up : &edge->down);
        }
done:
    return status;
}

rbl_status rbli_mesh_is_closed(rbl_context *ctx, const rbli_mesh_view *mesh, bool *closed)
{
    rbl_status status = RBL_OK;
    edge_table table = {0};
    RBL_TRY(make_edges(ctx, mesh, &table));
    *closed = true;
    for (size_t i = 0; i <= table.mask; i++)
        if (table.edges[i].low >= 0) *closed &= table.edges[i].up == 1 && table.edges[i].down == 1;
done:
    rbli_free(ctx, table.edges);
    return status;
}

rbl_status rbli_mesh_crosses_itself(
    rbl_context *ctx, const rbli_mesh_view *mesh, bool *crosses, double where[3])
{
    rbl_status status = RBL_OK;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double(*points)[3] = rbli_alloc(ctx, mesh->vertex_count, sizeof *points);
    int32_t vertex = -1;
    RBL_TRY_ALLOC(points);
    for (size_t v = 0; v < mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], mesh->positions[v][k]);
            high[k] = fmax(high[k], mesh->positions[v][k]);
        }
    if (mesh->vertex_count) {
        rbli_grid grid = rbli_grid_make(low, high);
        for (size_t v = 0; v < mesh->vertex_count; v++)
            rbli_grid_snap(&grid, mesh->positions[v], points[v]);
    }
    RBL_TRY(rbli_find_mesh_crossing(
        ctx, (const double(*)[3])points, mesh->vertex_count, mesh->triangles, mesh->triangle_count, &vertex));
    *crosses = vertex >= 0;
    if (vertex >= 0 && where) memcpy(where, mesh->positions[vertex], sizeof *mesh->positions);
done:
    rbli_free(ctx, points);
    return status;
}

/* ---- building ---- */

typedef struct maker_point {
    double x[3];
} maker_point;

typedef struct maker {
    rbl_context *ctx;
    RBLI_ARRAY(maker_point) points;
    rbli_facet_list facets;
} maker;

static rbl_status add_point(maker *m, const double x[3], int32_t *number)
{
    maker_point made;
    memcpy(made.x, x, sizeof made.x);
    *number = (int32_t)m->points.count;
    return rbli_array_push(m->ctx, &m->points, made);
}

/// The walls of the box around cell 0.
static rbl_status add_box(maker *m, const double box_min[3], const double box_max[3])
{
    static const int32_t sides[6][4] = {
        {0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    rbl_status status = RBL_OK;
    int32_t corner[8];
    for (int i = 0; i < 8; i++) {
        double x[3];
        for (int a = 0; a < 3; a++)
            x[a] = i >> a & 1 ? box_max[a] : box_min[a];
        RBL_TRY(add_point(m, x, &corner[i]));
    }
    for (int s = 0; s < 6; s++) {
        int32_t loop[4];
        for (int i = 0; i < 4; i++)
            loop[i] = corner[sides[s][i]];
        RBL_TRY(rbli_facet_list_add(m->ctx, &m->facets, loop, 4, 0, -1, -1));
    }
done:
    return status;
}

static rbl_status finish(maker *m, size_t cell_count, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    rbli_cell_complex *made = rbli_calloc(m->ctx, 1, sizeof *made);
    RBL_TRY_ALLOC(made);
    made->vertex_count = m->points.count;
    made->cell_count = cell_count;
    RBL_TRY_ALLOC(made->cell_site = rbli_calloc(m->ctx, cell_count, sizeof *made->cell_site));
    RBL_TRY(rbli_facet_list_move(m->ctx, &m->facets, made));
    made->vertices = (double(*)[3])(void *)m->points.data;
    m->points.data = NULL;
    *out = made;
    made = NULL;
done:
    rbli_cell_complex_destroy(m->ctx, made);
    return status;
}

static void free_maker(maker *m)
{
    rbli_free(m->ctx, m->points.data);
    rbli_facet_list_free(m->ctx, &m->facets);
}

rbl_status rbli_solids_complex(rbl_context *ctx, const rbli_mesh_view *solids, const int32_t *sites,
    size_t count, const double box_min[3], const double box_max[3], rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    maker m = {.ctx = ctx};
    int32_t *number = NULL, origin = 0;
    for (size_t i = 0; i < count; i++) {
        const rbli_mesh_view *mesh = &solids[i];
        rbli_free(ctx, number);
        RBL_TRY_ALLOC(number = rbli_alloc(ctx, mesh->vertex_count, sizeof *number));
        memset(number, 0xff, mesh->vertex_count * sizeof *number);
        for (size_t t = 0; t < mesh->triangle_count; t++) {
            int32_t loop[3];
            for (int c = 0; c < 3; c++) {
                int32_t v = mesh->triangles[t][c];
                if (number[v] < 0) RBL_TRY(add_point(&m, mesh->positions[v], &number[v]));
                loop[c] = number[v];
            }
            RBL_TRY(rbli_facet_list_add(ctx, &m.facets, loop, 3, (int32_t)i + 1, 0, origin++));
        }
    }
    RBL_TRY(add_box(&m, box_min, box_max));
    RBL_TRY(finish(&m, count + 1, out));
    for (size_t i = 0; i < count; i++)
        (*out)->cell_site[i + 1] = sites[i];
done:
    rbli_free(ctx, number);
    free_maker(&m);
    return status;
}

/* ---- sheets ---- */

typedef struct sheet_triangle {
    int32_t v[3];
    int32_t origin;
} sheet_triangle;

/// A sheet with its split edges: triangles of the front, and where the back lies.
typedef struct sheet {
    RBLI_ARRAY(maker_point) points;
    RBLI_ARRAY(sheet_triangle) triangles;
    bool *border;         /* [points] */
    maker_point *normals; /* [points] unit; area-weighted */
    int32_t *back;        /* [points] number of the back's vertex: its own at the border */
} sheet;

static rbl_status add_triangle(rbl_context *ctx, sheet *s, int32_t a, int32_t b, int32_t c, size_t origin)
{
    sheet_triangle made = {{a, b, c}, (int32_t)origin};
    return rbli_array_push(ctx, &s->triangles, made);
}

static rbl_status middle_of(rbl_context *ctx, sheet *s, const int32_t *v, int n, int32_t *out)
{
    maker_point made = {{0, 0, 0}};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            made.x[k] += s->points.data[v[i]].x[k] / n;
    *out = (int32_t)s->points.count;
    return rbli_array_push(ctx, &s->points, made);
}

/// Copies the sheet, splitting edges inside it whose ends both lie on the border.
static rbl_status split_sheet(
    rbl_context *ctx, sheet *s, const rbli_mesh_view *mesh, edge_table *table, const bool *on_border)
{
    rbl_status status = RBL_OK;
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        maker_point made;
        memcpy(made.x, mesh->positions[v], sizeof made.x);
        RBL_TRY(rbli_array_push(ctx, &s->points, made));
    }
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangles[t];
        int32_t loop[6];
        int n = 0, split = 0, inner = 0;
        for (int c = 0; c < 3; c++) {
            int32_t ends[2] = {v[c], v[(c + 1) % 3]};
            mesh_edge *edge = find_edge(table, ends[0], ends[1]);
            loop[n++] = v[c];
            inner += !on_border[v[c]];
            if (edge->up + edge->down < 2 || !on_border[ends[0]] || !on_border[ends[1]]) continue;
            if (edge->middle < 0) RBL_TRY(middle_of(ctx, s, ends, 2, &edge->middle));
            loop[n++] = edge->middle;
            split++;
        }
        if (split == 0 && inner > 0) {
            RBL_TRY(add_triangle(ctx, s, v[0], v[1], v[2], t));
            continue;
        }
        if (split == 1) { /* from the middle to the corner across */
            int at = 1;
            while (loop[at] < (int32_t)mesh->vertex_count)
                at++;
            RBL_TRY(add_triangle(ctx, s, loop[at], loop[(at + 1) % 4], loop[(at + 2) % 4], t));
            RBL_TRY(add_triangle(ctx, s, loop[at], loop[(at + 2) % 4], loop[(at + 3) % 4], t));
            continue;
        }
        int32_t centre; /* alone, or split in several places: a fan */
        RBL_TRY(middle_of(ctx, s, v, 3, &centre));
        for (int i = 0; i < n; i++)
            RBL_TRY(add_triangle(ctx, s, centre, loop[i], loop[(i + 1) % n], t));
    }
done:
    return status;
}

static rbl_status find_normals(rbl_context *ctx, sheet *s, const bool *on_border, size_t old_count)
{
    rbl_status status = RBL_OK;
    size_t count = s->points.count;
    RBL_TRY_ALLOC(s->border = rbli_calloc(ctx, count, sizeof *s->border));
    RBL_TRY_ALLOC(s->normals = rbli_calloc(ctx, count, sizeof *s->normals));
    RBL_TRY_ALLOC(s->back = rbli_alloc(ctx, count, sizeof *s->back));
    memcpy(s->border, on_border, old_count * sizeof *s->border);
    for (size_t t = 0; t < s->triangles.count; t++) {
        const int32_t *v = s->triangles.data[t].v;
        double u[3], w[3];
        for (int k = 0; k < 3; k++) {
            u[k] = s->points.data[v[1]].x[k] - s->points.data[v[0]].x[k];
            w[k] = s->points.data[v[2]].x[k] - s->points.data[v[0]].x[k];
        }
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                s->normals[v[c]].x[k] += u[(k + 1) % 3] * w[(k + 2) % 3] - u[(k + 2) % 3] * w[(k + 1) % 3];
    }
    for (size_t v = 0; v < count; v++) {
        double *n = s->normals[v].x, length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3 && length > 0; k++)
            n[k] /= length;
    }
done:
    return status;
}

/// Front and back as one list of points and triangles; the back is turned over.
static rbl_status make_film(rbl_context *ctx, sheet *s, double thickness, maker *m)
{
    rbl_status status = RBL_OK;
    int32_t number;
    m->points.count = 0;
    for (size_t v = 0; v < s->points.count; v++)
        RBL_TRY(add_point(m, s->points.data[v].x, &number));
    for (size_t v = 0; v < s->points.count; v++) {
        double x[3];
        s->back[v] = (int32_t)v;
        if (s->border[v]) continue;
        for (int k = 0; k < 3; k++)
            x[k] = s->points.data[v].x[k] - thickness * s->normals[v].x[k];
        RBL_TRY(add_point(m, x, &s->back[v]));
    }
done:
    (void)ctx;
    return status;
}

static rbl_status film_crosses(rbl_context *ctx, const sheet *s, const maker *m, bool *crosses)
{
    rbl_status status = RBL_OK;
    size_t count = s->triangles.count;
    int32_t(*triangles)[3] = rbli_alloc(ctx, 2 * count, sizeof *triangles);
    RBL_TRY_ALLOC(triangles);
    for (size_t t = 0; t < count; t++)
        for (int c = 0; c < 3; c++) {
            triangles[t][c] = s->triangles.data[t].v[c];
            triangles[count + t][c] = s->back[s->triangles.data[t].v[2 - c]];
        }
    rbli_mesh_view view = {(const double(*)[3])(void *)m->points.data, m->points.count,
        (const int32_t(*)[3])triangles, 2 * count};
    status = rbli_mesh_crosses_itself(ctx, &view, crosses, NULL);
done:
    rbli_free(ctx, triangles);
    return status;
}

static rbl_status find_border(
    rbl_context *ctx, const rbli_mesh_view *mesh, const edge_table *table, bool *on_border)
{
    for (size_t i = 0; i <= table->mask; i++) {
        const mesh_edge *e = &table->edges[i];
        if (e->low < 0) continue;
        const double *p = mesh->positions[e->low];
        if (e->up > 1 || e->down > 1)
            return rbli_fail(ctx, RBL_ERR_MESH,
                "the sheet is not consistently oriented, or more than two triangles meet in an edge, at (%g, "
                "%g, %g)",
                p[0], p[1], p[2]);
        if (e->up + e->down == 1) on_border[e->low] = on_border[e->high] = true;
    }
    return RBL_OK;
}

rbl_status rbli_sheet_complex(rbl_context *ctx, const rbli_mesh_view *mesh, double thickness,
    const double box_min[3], const double box_max[3], size_t *sheet_facets, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    maker m = {.ctx = ctx};
    sheet s = {0};
    edge_table table = {0};
    bool *on_border = rbli_calloc(ctx, mesh->vertex_count, sizeof *on_border);
    RBL_TRY_ALLOC(on_border);
    RBL_TRY(make_edges(ctx, mesh, &table));
    RBL_TRY(find_border(ctx, mesh, &table, on_border));
    RBL_TRY(split_sheet(ctx, &s, mesh, &table, on_border));
    RBL_TRY(find_normals(ctx, &s, on_border, mesh->vertex_count));
    bool crosses = true;
    for (int tries = 0; tries < 5 && crosses; tries++, thickness *= 0.1) {
        RBL_TRY(make_film(ctx, &s, thickness, &m));
        RBL_TRY(film_crosses(ctx, &s, &m, &crosses));
    }
    if (crosses) {
        status = rbli_fail(ctx, RBL_ERR_MESH, "the sheet crosses or touches itself");
        goto done;
    }
    for (int side = 0; side < 2; side++)
        for (size_t t = 0; t < s.triangles.count; t++) {
            int32_t loop[3];
            for (int c = 0; c < 3; c++)
                loop[c] = side ? s.back[s.triangles.data[t].v[c]] : s.triangles.data[t].v[c];
            RBL_TRY(rbli_facet_list_add(ctx, &m.facets, loop, 3, !side, side, s.triangles.data[t].origin));
        }
    RBL_TRY(add_box(&m, box_min, box_max));
    RBL_TRY(finish(&m, 2, out));
    *sheet_facets = s.triangles.count;
done:
    rbli_free(ctx, on_border);
    rbli_free(ctx, table.edges);
    rbli_free(ctx, s.points.data);
    rbli_free(ctx, s.triangles.data);
    rbli_free(ctx, s.border);
    rbli_free(ctx, s.normals);
    rbli_free(ctx, s.back);
    free_maker(&m);
    return status;
}
