/// Refining and displacing the facets of a complex (CUTTERS.md, noise).

#include "fracture/geometry/noise_complex.h"

#include <math.h>

#include "fracture/geometry/complex_edit.h"
#include "fracture/geometry/embedding.h"
#include "fracture/geometry/facet_mesh.h"
#include "fracture/geometry/orient.h"
#include "fracture/geometry/solid_grid.h"

/// Tangential displacement fades over this many times the largest displacement.
static const double FADE_WIDTH = 4;
enum { MOST_HALVINGS = 9, MOST_ROUNDS = 40 };

typedef struct noise_vertex {
    double p[3]; /* where the planar complex has it */
    double d[3]; /* its displacement */
} noise_vertex;

/// The points that divide an edge, from its lower to its higher vertex.
typedef struct divided_edge {
    int32_t low, high; /* low < 0: free */
    int32_t first, count;
} divided_edge;

/// A facet seen in its plane.
typedef struct facet_frame {
    double normal[3]; /* of the loop, unit */
    double u[3], v[3];
    bool turned; /* the loop runs clockwise in u, v */
} facet_frame;

/// An edge of a facet in its plane.
typedef struct border_edge {
    double a[2], d[2], length; /* from a to a + d */
} border_edge;

typedef struct roughener {
    rbl_context *ctx;
    const rbli_cell_complex *k;
    const rbli_noise_options *o;
    double spacing, bound, low[3], high[3];
    rbli_solid_grid near;
    uint8_t *fixed;  /* [k vertices] on a wall of the box */
    uint8_t *active; /* [k facets] no wall, and near a mesh */
    RBLI_ARRAY(noise_vertex) vertices;
    divided_edge *edges;
    size_t edge_mask;
    rbli_facet_mesh mesh;
    RBLI_ARRAY(int32_t) chain;      /* border of the facet with the points on its edges */
    RBLI_ARRAY(double) flat;        /* [2 ×] chain, then inner points */
    RBLI_ARRAY(double) corners;     /* [2 ×] the planar facet's vertices */
    RBLI_ARRAY(border_edge) border; /* its edges that have a length */
    rbli_facet_list facets;
    RBLI_ARRAY(facet_frame) frames; /* of each facet made: the normal alone is used */
    /* Displacing. */
    rbli_grid grid;
    double (*points)[3], (*centers)[3];
    uint8_t *halvings, *moved;
    int32_t *cell_start, *cell_facets;
} roughener;

rbli_noise_options rbli_noise_default_options(void)
{
    return (rbli_noise_options){
        .noise = rbli_noise_default(), .point_spacing = 0.1, .most_vertices = 1000000};
}

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double distance3(const double a[3], const double b[3])
{
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    return sqrt(dot3(d, d));
}

/* ---- where noise acts ---- */

/// Near a mesh, and too far from the walls to reach them.
static bool is_active(const roughener *r, const double p[3])
{
    for (int a = 0; a < 3; a++)
        if (p[a] - r->low[a] <= 1.01 * r->bound || r->high[a] - p[a] <= 1.01 * r->bound) return false;
    return rbli_solid_grid_at(&r->near, p);
}

static void grow_bounds(const double p[3], double low[3], double high[3])
{
    for (int a = 0; a < 3; a++) {
        low[a] = p[a] < low[a] ? p[a] : low[a];
        high[a] = p[a] > high[a] ? p[a] : high[a];
    }
}

static bool facet_is_active(const roughener *r, size_t f)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    if (r->k->facet_origin[f] < 0) return false;
    for (int32_t i = r->k->facet_start[f]; i < r->k->facet_start[f + 1]; i++)
        grow_bounds(r->k->vertices[r->k->facet_vertices[i]], low, high);
    return rbli_solid_grid_any(&r->near, low, high);
}

/// Noise at `at`, taken over by the vertex at p.
static void displacement_at(const roughener *r, const double p[3], const double at[3], double out[3])
{
    out[0] = out[1] = out[2] = 0;
    if (is_active(r, p)) rbli_noise_at(&r->o->noise, at, out);
}

/* ---- frames ---- */

static facet_frame frame_of(const rbli_cell_complex *k, size_t f)
{
    facet_frame r = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, false};
    int32_t begin = k->facet_start[f], end = k->facet_start[f + 1];
    const double *base = k->vertices[k->facet_vertices[begin]];
    for (int32_t i = begin; i < end; i++) {
        const double *p = k->vertices[k->facet_vertices[i]];
        const double *q = k->vertices[k->facet_vertices[i + 1 < end ? i + 1 : begin]];
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            r.normal[a] += (p[b] - base[b]) * (q[c] - base[c]) - (p[c] - base[c]) * (q[b] - base[b]);
        }
    }
    double length = sqrt(dot3(r.normal, r.normal));
    if (!(length > 0)) r.normal[2] = length = 1;
    for (int a = 0; a < 3; a++)
        r.normal[a] /= length;
    /* Axes depend on the plane alone: both sides of a gap get the same lattice. */
    int largest = 0, least = 0;
    for (int a = 1; a < 3; a++) {
        if (fabs(r.normal[a]) > fabs(r.normal[largest]) * (1 + 1e-6)) largest = a;
        if (fabs(r.normal[a]) < fabs(r.normal[least]) * (1 - 1e-6) - 1e-9) least = a;
    }
    r.turned = r.normal[largest] < 0;
    double n[3];
    for (int a = 0; a < 3; a++)
        n[a] = r.turned ? -r.normal[a] : r.normal[a];
    int b = (least + 1) % 3, c = (least + 2) % 3;
    double side = sqrt(n[b] * n[b] + n[c] * n[c]);
    r.u[b] = n[c] / side;
    r.u[c] = -n[b] / side;
    for (int a = 0; a < 3; a++)
        r.v[a] = n[(a + 1) % 3] * r.u[(a + 2) % 3] - n[(a + 2) % 3] * r.u[(a + 1) % 3];
    return r;
}

/* ---- edges ---- */

static divided_edge *edge_slot(const roughener *r, int32_t low, int32_t high)
{
    size_t slot =
        ((size_t)low * 0x9e3779b97f4a7c15u ^ (size_t)high * 0xc2b2ae3d27d4eb4fu) >> 20 & r->edge_mask;
    while (r->edges[slot].low >= 0 && (r->edges[slot].low != low || r->edges[slot].high != high))
        slot = (slot + 1) & r->edge_mask;
    return &r->edges[slot];
}

/// Points on an edge, each displaced across it and, near the ends, along it.
static rbl_status divide_edge(roughener *r, divided_edge *edge)
{
    rbl_status status = RBL_OK;
    const double *a = r->k->vertices[edge->low], *b = r->k->vertices[edge->high];
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double length = distance3(a, b), fade = FADE_WIDTH * r->bound;
    edge->first = (int32_t)r->vertices.count;
    edge->count = 0;
    grow_bounds(a, low, high);
    grow_bounds(b, low, high);
    if ((r->fixed[edge->low] && r->fixed[edge->high]) || !rbli_solid_grid_any(&r->near, low, high))
        return RBL_OK;
    int64_t parts = (int64_t)ceil(length / r->spacing);
    for (int64_t i = 1; i < parts; i++) {
        double t = (double)i / (double)parts, along[3], u[3];
        noise_vertex made;
        for (int k = 0; k < 3; k++) {
            made.p[k] = a[k] + t * (b[k] - a[k]);
            along[k] = (b[k] - a[k]) / length;
        }
        if (!is_active(r, made.p)) continue;
        displacement_at(r, made.p, made.p, u);
        double keep = fmax(0, 1 - fmin(t, 1 - t) * length / fade), part = dot3(u, along) * (1 - keep);
        for (int k = 0; k < 3; k++)
            made.d[k] = u[k] - part * along[k];
        RBL_TRY(rbli_array_push(r->ctx, &r->vertices, made));
        edge->count++;
    }
done:
    return status;
}

static rbl_status divide_edges(roughener *r)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = r->k;
    size_t size = 1024;
    while (size < 2 * (size_t)k->facet_start[k->facet_count])
        size *= 2;
    RBL_TRY_ALLOC(r->edges = rbli_alloc(r->ctx, size, sizeof *r->edges));
    r->edge_mask = size - 1;
    for (size_t i = 0; i < size; i++)
        r->edges[i].low = -1;
    for (size_t f = 0; f < k->facet_count; f++) {
        int32_t begin = k->facet_start[f], end = k->facet_start[f + 1];
        for (int32_t i = begin; i < end; i++) {
            int32_t a = k->facet_vertices[i], b = k->facet_vertices[i + 1 < end ? i + 1 : begin];
            int32_t low = a < b ? a : b, high = a < b ? b : a;
            divided_edge *edge = edge_slot(r, low, high);
            if (edge->low >= 0) continue;
            edge->low = low;
            edge->high = high;
            RBL_TRY(divide_edge(r, edge));
        }
    }
done:
    return status;
}

/* ---- facets ---- */

/// The facet's vertices with the points on its edges, counter-clockwise in its frame, in the plane.
static rbl_status lay_out_border(roughener *r, size_t f, const facet_frame *frame)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = r->k;
    int32_t begin = k->facet_start[f], count = k->facet_start[f + 1] - begin;
    r->chain.count = r->flat.count = r->corners.count = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t j = frame->turned ? count - 1 - i : i,
                next = frame->turned ? (j + count - 1) % count : (j + 1) % count;
        int32_t a = k->facet_vertices[begin + j], b = k->facet_vertices[begin + next];
        const divided_edge *edge = edge_slot(r, a < b ? a : b, a < b ? b : a);
        RBL_TRY(rbli_array_push(r->ctx, &r->chain, a));
        RBL_TRY(rbli_array_push(r->ctx, &r->corners, dot3(k->vertices[a], frame->u)));
        RBL_TRY(rbli_array_push(r->ctx, &r->corners, dot3(k->vertices[a], frame->v)));
        for (int32_t n = 0; n < edge->count; n++)
            RBL_TRY(rbli_array_push(r->ctx, &r->chain, edge->first + (a < b ? n : edge->count - 1 - n)));
    }
    for (size_t i = 0; i < r->chain.count; i++) {
        const double *p = r->vertices.data[r->chain.data[i]].p;
        RBL_TRY(rbli_array_push(r->ctx, &r->flat, dot3(p, frame->u)));
        RBL_TRY(rbli_array_push(r->ctx, &r->flat, dot3(p, frame->v)));
    }
done:
    return status;
}

static rbl_status measure_border(roughener *r)
{
    rbl_status status = RBL_OK;
    size_t n = r->corners.count / 2;
    r->border.count = 0;
    for (size_t i = 0; i < n; i++) {
        const double *a = r->corners.data + 2 * i, *b = r->corners.data + 2 * (i + 1 < n ? i + 1 : 0);
        border_edge edge = {{a[0], a[1]}, {b[0] - a[0], b[1] - a[1]}, 0};
        edge.length = sqrt(edge.d[0] * edge.d[0] + edge.d[1] * edge.d[1]);
        if (edge.length > 0) RBL_TRY(rbli_array_push(r->ctx, &r->border, edge));
    }
done:
    return status;
}

/// Distance of a point of the plane to the facet's border; negative outside.
static double border_distance(const roughener *r, double x, double y)
{
    double least = INFINITY;
    for (size_t i = 0; i < r->border.count; i++) {
        const border_edge *e = &r->border.data[i];
        double distance = (e->d[0] * (y - e->a[1]) - e->d[1] * (x - e->a[0])) / e->length;
        least = distance < least ? distance : least;
    }
    return least;
}

/// Appends a point inside the facet, displaced along the normal and, near the border, in the plane.
static rbl_status add_inner(
    roughener *r, const facet_frame *frame, double height, double x, double y, double border)
{
    rbl_status status = RBL_OK;
    noise_vertex made;
    double at[3], u[3];
    for (int a = 0; a < 3; a++) {
        made.p[a] = height * frame->normal[a] + x * frame->u[a] + y * frame->v[a];
        at[a] = made.p[a] + 0.5 * r->o->gap * frame->normal[a]; /* the middle of the gap */
    }
    displacement_at(r, made.p, at, u);
    double part = dot3(u, frame->normal), keep = fmax(0, 1 - border / (FADE_WIDTH * r->bound));
    for (int a = 0; a < 3; a++)
        made.d[a] = part * frame->normal[a] + keep * (u[a] - part * frame->normal[a]);
    RBL_TRY(rbli_array_push(r->ctx, &r->vertices, made));
    RBL_TRY(rbli_array_push(r->ctx, &r->flat, x));
    RBL_TRY(rbli_array_push(r->ctx, &r->flat, y));
done:
    return status;
}

static void middle_of_corners(const roughener *r, double out[2])
{
    size_t n = r->corners.count / 2;
    out[0] = out[1] = 0;
    for (size_t i = 0; i < n; i++)
        for (int a = 0; a < 2; a++)
            out[a] += r->corners.data[2 * i + (size_t)a] / (double)n;
}

/// Lattice points that are half a spacing from the border. The one nearest the middle comes first.
static rbl_status add_lattice(roughener *r, const facet_frame *frame, double height, size_t *count)
{
    rbl_status status = RBL_OK;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, middle[2], best = INFINITY;
    size_t first_vertex = r->vertices.count, first_flat = r->flat.count, nearest = 0;
    double row = r->spacing * 0.8660254037844386;
    middle_of_corners(r, middle);
    for (size_t i = 0; i < r->corners.count; i++) {
        low[i % 2] = fmin(low[i % 2], r->corners.data[i]);
        high[i % 2] = fmax(high[i % 2], r->corners.data[i]);
    }
    *count = 0;
    for (double j = ceil(low[1] / row); j * row <= high[1]; j++) {
        double shift = fmod(j, 2) == 0 ? 0 : 0.5;
        for (double i = ceil(low[0] / r->spacing - shift); (i + shift) * r->spacing <= high[0]; i++) {
            double x = (i + shift) * r->spacing, y = j * row, p[3];
            double border = border_distance(r, x, y);
            if (border < 0.5 * r->spacing) continue;
            for (int a = 0; a < 3; a++)
                p[a] = height * frame->normal[a] + x * frame->u[a] + y * frame->v[a];
            if (!is_active(r, p)) continue;
            RBL_TRY(add_inner(r, frame, height, x, y, border));
            double square = (x - middle[0]) * (x - middle[0]) + (y - middle[1]) * (y - middle[1]);
            if (square < best) {
                best = square;
                nearest = *count;
            }
            ++*count;
        }
    }
    if (*count > 1) {
        noise_vertex *v = r->vertices.data + first_vertex, swap = v[0];
        double *flat = r->flat.data + first_flat;
        v[0] = v[nearest];
        v[nearest] = swap;
        for (size_t a = 0; a < 2; a++) {
            double x = flat[a];
            flat[a] = flat[2 * nearest + a];
            flat[2 * nearest + a] = x;
        }
    }
done:
    return status;
}

static rbl_status add_facet(
    roughener *r, size_t f, const int32_t *loop, size_t count, const facet_frame *frame)
{
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_array_push(r->ctx, &r->frames, *frame));
    RBL_TRY(rbli_facet_list_add(r->ctx, &r->facets, loop, count, r->k->facet_cells[f][0],
        r->k->facet_cells[f][1], r->k->facet_origin[f]));
done:
    return status;
}

/// A facet that has points on its border or inside it, as triangles.
static rbl_status refine_facet(roughener *r, size_t f)
{
    rbl_status status = RBL_OK;
    facet_frame frame = frame_of(r->k, f);
    RBL_TRY(lay_out_border(r, f, &frame));
    size_t border_count = r->chain.count, inner;
    int32_t first_inner = (int32_t)r->vertices.count;
    double height = 0;
    for (int32_t i = r->k->facet_start[f]; i < r->k->facet_start[f + 1]; i++)
        height += dot3(r->k->vertices[r->k->facet_vertices[i]], frame.normal);
    height /= r->k->facet_start[f + 1] - r->k->facet_start[f];
    RBL_TRY(measure_border(r));
    RBL_TRY(add_lattice(r, &frame, height, &inner));
    if (inner == 0 && border_count == 3)
        return add_facet(r, f, r->k->facet_vertices + r->k->facet_start[f], 3, &frame);
    if (inner == 0) {
        double middle[2];
        middle_of_corners(r, middle);
        RBL_TRY(add_inner(r, &frame, height, middle[0], middle[1], border_distance(r, middle[0], middle[1])));
        inner = 1;
    }
    RBL_TRY(rbli_facet_mesh_make(
        r->ctx, &r->mesh, (const double(*)[2])r->flat.data, border_count, border_count + inner));
    for (size_t t = 0; t < r->mesh.triangles.count; t++) {
        int32_t loop[3];
        for (int c = 0; c < 3; c++) {
            int32_t v = r->mesh.triangles.data[t].v[frame.turned ? 2 - c : c];
            loop[c] =
                v < (int32_t)border_count ? r->chain.data[v] : first_inner + (v - (int32_t)border_count);
        }
        RBL_TRY(add_facet(r, f, loop, 3, &frame));
    }
done:
    return status;
}

/// A facet away from the meshes stays as it is, but for points on its edges.
static rbl_status keep_facet(roughener *r, size_t f)
{
    facet_frame frame = frame_of(r->k, f);
    frame.turned = false;
    rbl_status status = lay_out_border(r, f, &frame);
    return status == RBL_OK ? add_facet(r, f, r->chain.data, r->chain.count, &frame) : status;
}

static rbl_status refine_facets(roughener *r)
{
    rbl_status status = RBL_OK;
    for (size_t f = 0; f < r->k->facet_count; f++) {
        if ((f & 255) == 0 && rbli_cancelled(r->ctx)) return RBL_ERR_CANCELLED;
        RBL_TRY(r->active[f] ? refine_facet(r, f) : keep_facet(r, f));
    }
done:
    return status;
}

/* ---- spacing ---- */

/// About how many vertices there will be with a spacing.
static double estimate(const roughener *r, double spacing)
{
    double count = (double)r->k->vertex_count;
    for (size_t f = 0; f < r->k->facet_count; f++) {
        if (!r->active[f]) continue;
        int32_t begin = r->k->facet_start[f], end = r->k->facet_start[f + 1];
        const double *base = r->k->vertices[r->k->facet_vertices[begin]];
        double n[3] = {0, 0, 0}, perimeter = 0;
        for (int32_t i = begin; i < end; i++) {
            const double *p = r->k->vertices[r->k->facet_vertices[i]];
            const double *q = r->k->vertices[r->k->facet_vertices[i + 1 < end ? i + 1 : begin]];
            perimeter += distance3(p, q);
            for (int a = 0; a < 3; a++) {
                int b = (a + 1) % 3, c = (a + 2) % 3;
                n[a] += (p[b] - base[b]) * (q[c] - base[c]) - (p[c] - base[c]) * (q[b] - base[b]);
            }
        }
        count +=
            0.5 * sqrt(dot3(n, n)) / (spacing * spacing * 0.8660254037844386) + perimeter / (3 * spacing) + 1;
    }
    return count;
}

static void choose_spacing(roughener *r)
{
    r->spacing = r->o->point_spacing;
    double fixed = (double)r->k->vertex_count + (double)r->k->facet_count;
    double most = fmax((double)r->o->most_vertices, 2 * fixed);
    for (int i = 0; i < 64; i++) {
        double count = estimate(r, r->spacing);
        if (count <= most) break;
        r->spacing *= fmax(1.01, fmin(2, sqrt(count / most)));
    }
}

/* ---- displacing ---- */

static rbl_status list_cell_facets(roughener *r, const rbli_cell_complex *made)
{
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(r->cell_start = rbli_calloc(r->ctx, made->cell_count + 2, sizeof *r->cell_start));
    RBL_TRY_ALLOC(r->cell_facets = rbli_alloc(r->ctx, 2 * made->facet_count, sizeof *r->cell_facets));
    for (size_t f = 0; f < made->facet_count; f++)
        for (int side = 0; side < 2; side++)
            if (made->facet_cells[f][side] >= 0) r->cell_start[made->facet_cells[f][side] + 2]++;
    for (size_t c = 0; c < made->cell_count; c++)
        r->cell_start[c + 2] += r->cell_start[c + 1];
    for (size_t f = 0; f < made->facet_count; f++)
        for (int side = 0; side < 2; side++)
            if (made->facet_cells[f][side] >= 0)
                r->cell_facets[r->cell_start[made->facet_cells[f][side] + 1]++] = (int32_t)f;
done:
    return status;
}

/// Puts a vertex where its displacement, halved as often as it was, takes it, on the cut's grid.
static void place_vertex(roughener *r, rbli_cell_complex *made, size_t v)
{
    const noise_vertex *from = &r->vertices.data[v];
    double scale = r->halvings[v] >= MOST_HALVINGS ? 0 : 1.0 / (double)(1 << r->halvings[v]), x[3];
    r->moved[v] = scale > 0 && (from->d[0] != 0 || from->d[1] != 0 || from->d[2] != 0);
    for (int a = 0; a < 3; a++)
        x[a] = from->p[a] + scale * from->d[a];
    if (r->moved[v]) {
        rbli_grid_snap(&r->grid, x, r->points[v]);
        rbli_grid_unsnap(&r->grid, r->points[v], made->vertices[v]);
    } else {
        memcpy(made->vertices[v], x, sizeof x);
    }
    rbli_grid_snap(&r->grid, made->vertices[v], r->points[v]); /* what the cut will see */
}

/// Flags the cells around the vertices of `bad`, and halves the displacement of these.
static bool halve(roughener *r, rbli_cell_complex *made, const uint8_t *bad, bool all, uint8_t *check_cell)
{
    bool any = false;
    memset(check_cell, 0, made->cell_count);
    for (size_t f = 0; f < made->facet_count; f++)
        for (int32_t i = made->facet_start[f]; i < made->facet_start[f + 1]; i++) {
            int32_t v = made->facet_vertices[i];
            if (!bad[v] || !r->moved[v]) continue;
            for (int side = 0; side < 2; side++)
                if (made->facet_cells[f][side] >= 0) check_cell[made->facet_cells[f][side]] = 1;
        }
    for (size_t v = 0; v < made->vertex_count; v++) {
        if (!bad[v] || !r->moved[v]) continue;
        r->halvings[v] = all ? MOST_HALVINGS : r->halvings[v] + 1;
        place_vertex(r, made, v);
        any = true;
    }
    return any;
}

static rbl_status displace(roughener *r, rbli_cell_complex *made, rbli_noise_report *report)
{
    rbl_status status = RBL_OK;
    uint8_t *check_cell = NULL, *bad = NULL;
    RBL_TRY_ALLOC(r->points = rbli_alloc(r->ctx, made->vertex_count, sizeof *r->points));
    RBL_TRY_ALLOC(r->centers = rbli_alloc(r->ctx, made->cell_count, sizeof *r->centers));
    RBL_TRY_ALLOC(r->halvings = rbli_calloc(r->ctx, made->vertex_count, 1));
    RBL_TRY_ALLOC(r->moved = rbli_calloc(r->ctx, made->vertex_count, 1));
    RBL_TRY_ALLOC(check_cell = rbli_alloc(r->ctx, made->cell_count, 1));
    RBL_TRY_ALLOC(bad = rbli_alloc(r->ctx, made->vertex_count, 1));
    RBL_TRY(list_cell_facets(r, made));
    RBL_TRY(rbli_complex_moments(r->ctx, r->k, r->centers, NULL));
    for (size_t c = 0; c < made->cell_count; c++) {
        double at[3];
        rbli_grid_snap(&r->grid, r->centers[c], at);
        memcpy(r->centers[c], at, sizeof at);
    }
    for (size_t v = 0; v < made->vertex_count; v++) {
        place_vertex(r, made, v);
        report->moved_count += r->moved[v];
    }
    rbli_embedding embedding = {made, (const double(*)[3])r->points, r->moved, (const double(*)[3])r->centers,
        r->cell_start, r->cell_facets};
    memset(check_cell, 1, made->cell_count);
    for (int round = 0;; round++) {
        bool found;
        memset(bad, 0, made->vertex_count);
        RBL_TRY(rbli_find_crossings(r->ctx, &embedding, check_cell, bad, &found));
        if (!found || !halve(r, made, bad, round >= MOST_ROUNDS, check_cell)) break;
    }
    for (size_t v = 0; v < made->vertex_count; v++)
        report->reduced_count += r->halvings[v] > 0;
done:
    rbli_free(r->ctx, check_cell);
    rbli_free(r->ctx, bad);
    return status;
}

/* ---- all ---- */

static rbl_status prepare(roughener *r, const rbli_mesh_view *meshes, size_t mesh_count)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = r->k;
    for (int a = 0; a < 3; a++) {
        r->low[a] = INFINITY;
        r->high[a] = -INFINITY;
    }
    for (size_t v = 0; v < k->vertex_count; v++)
        grow_bounds(k->vertices[v], r->low, r->high);
    r->grid = rbli_grid_make(r->low, r->high);
    r->bound = rbli_noise_bound(&r->o->noise);
    RBL_TRY(rbli_solid_grid_make(r->ctx, meshes, mesh_count, r->low, r->high, r->bound, &r->near));
    RBL_TRY_ALLOC(r->active = rbli_alloc(r->ctx, k->facet_count, 1));
    for (size_t f = 0; f < k->facet_count; f++)
        r->active[f] = facet_is_active(r, f);
    choose_spacing(r);
    RBL_TRY_ALLOC(r->fixed = rbli_calloc(r->ctx, k->vertex_count, 1));
    for (size_t f = 0; f < k->facet_count; f++)
        for (int32_t i = k->facet_start[f]; i < k->facet_start[f + 1] && k->facet_origin[f] < 0; i++)
            r->fixed[k->facet_vertices[i]] = 1;
    RBL_TRY(rbli_array_reserve(r->ctx, &r->vertices, k->vertex_count));
    for (size_t v = 0; v < k->vertex_count; v++) {
        noise_vertex made = {{0, 0, 0}, {0, 0, 0}};
        memcpy(made.p, k->vertices[v], sizeof made.p);
        if (!r->fixed[v]) displacement_at(r, made.p, made.p, made.d);
        r->vertices.data[r->vertices.count++] = made;
    }
done:
    return status;
}

static rbl_status build(roughener *r, rbli_noise_report *report, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    rbli_cell_complex *made = rbli_calloc(r->ctx, 1, sizeof *made);
    RBL_TRY_ALLOC(made);
    if (r->vertices.count > INT32_MAX / 2) {
        status = rbli_fail(r->ctx, RBL_ERR_LIMIT, "the rough surfaces have too many vertices");
        goto done;
    }
    made->vertex_count = r->vertices.count;
    RBL_TRY_ALLOC(made->vertices = rbli_alloc(r->ctx, made->vertex_count, sizeof *made->vertices));
    RBL_TRY_ALLOC(made->facet_normal = rbli_alloc(r->ctx, r->frames.count, sizeof *made->facet_normal));
    for (size_t f = 0; f < r->frames.count; f++)
        memcpy(made->facet_normal[f], r->frames.data[f].normal, sizeof *made->facet_normal);
    made->cell_count = r->k->cell_count;
    made->outside_cell_count = r->k->outside_cell_count;
    RBL_TRY_ALLOC(made->cell_site = rbli_alloc(r->ctx, made->cell_count, sizeof *made->cell_site));
    memcpy(made->cell_site, r->k->cell_site, made->cell_count * sizeof *made->cell_site);
    RBL_TRY(rbli_facet_list_move(r->ctx, &r->facets, made));
    RBL_TRY(displace(r, made, report));
    *out = made;
    made = NULL;
done:
    rbli_cell_complex_destroy(r->ctx, made);
    return status;
}

rbl_status rbli_noise_complex(rbl_context *ctx, const rbli_cell_complex *complex,
    const rbli_noise_options *options, const rbli_mesh_view *meshes, size_t mesh_count,
    rbli_noise_report *report, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    roughener r = {.ctx = ctx, .k = complex, .o = options};
    rbli_noise_report made = {0};
    RBL_TRY(prepare(&r, meshes, mesh_count));
    RBL_TRY(divide_edges(&r));
    RBL_TRY(refine_facets(&r));
    RBL_TRY(build(&r, &made, out));
    made.spacing = r.spacing;
    *report = made;
done:
    rbli_solid_grid_free(ctx, &r.near);
    rbli_facet_mesh_free(ctx, &r.mesh);
    rbli_facet_list_free(ctx, &r.facets);
    void *arrays[] = {r.fixed, r.active, r.vertices.data, r.edges, r.chain.data, r.flat.data, r.corners.data,
        r.border.data, r.frames.data, r.points, r.centers, r.halvings, r.moved, r.cell_start, r.cell_facets};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
    return status;
}
