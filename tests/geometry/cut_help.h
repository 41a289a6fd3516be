#ifndef RUBBLE_TESTS_GEOMETRY_CUT_HELP_H
#define RUBBLE_TESTS_GEOMETRY_CUT_HELP_H

/// Meshes and complexes made by hand, and an independent check of the cut's result.

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/cut.h"
#include "tests/check.h"

#define HELPER static inline __attribute__((unused))

/* ---- meshes ---- */

typedef struct test_mesh {
    double (*positions)[3];
    int32_t (*triangles)[3];
    size_t vertex_count, triangle_count;
} test_mesh;

HELPER rbli_mesh_view view_of(const test_mesh *mesh)
{
    return (rbli_mesh_view){(const double(*)[3])mesh->positions, mesh->vertex_count,
        (const int32_t(*)[3])mesh->triangles, mesh->triangle_count};
}

HELPER void free_mesh(test_mesh *mesh)
{
    free(mesh->positions);
    free(mesh->triangles);
    *mesh = (test_mesh){0};
}

HELPER int32_t mesh_vertex(test_mesh *mesh, double x, double y, double z)
{
    mesh->positions = realloc(mesh->positions, (mesh->vertex_count + 1) * sizeof *mesh->positions);
    double *p = mesh->positions[mesh->vertex_count];
    p[0] = x, p[1] = y, p[2] = z;
    return (int32_t)mesh->vertex_count++;
}

HELPER void mesh_triangle(test_mesh *mesh, int32_t a, int32_t b, int32_t c)
{
    mesh->triangles = realloc(mesh->triangles, (mesh->triangle_count + 1) * sizeof *mesh->triangles);
    int32_t *t = mesh->triangles[mesh->triangle_count++];
    t[0] = a, t[1] = b, t[2] = c;
}

HELPER void mesh_append(test_mesh *mesh, const test_mesh *other, bool inward)
{
    int32_t base = (int32_t)mesh->vertex_count;
    for (size_t v = 0; v < other->vertex_count; v++)
        mesh_vertex(mesh, other->positions[v][0], other->positions[v][1], other->positions[v][2]);
    for (size_t t = 0; t < other->triangle_count; t++) {
        const int32_t *c = other->triangles[t];
        mesh_triangle(mesh, base + c[0], base + c[inward ? 2 : 1], base + c[inward ? 1 : 2]);
    }
}

/// The boundary of a set of voxels of size h at `origin`: closed and edge-manifold where voxels meet in faces
/// only, with a vertex for each lattice point (points where voxels touch in an edge or corner alone are left
/// to the caller to avoid).
HELPER test_mesh make_voxels(const uint8_t *filled, int nx, int ny, int nz, double h, const double origin[3])
{
    test_mesh mesh = {0};
    int px = nx + 1, py = ny + 1, pz = nz + 1;
    int32_t *id = malloc((size_t)(px * py * pz) * sizeof *id);
    for (int i = 0; i < px * py * pz; i++)
        id[i] = -1;
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                if (!filled[(z * ny + y) * nx + x]) continue;
                for (int axis = 0; axis < 3; axis++)
                    for (int side = 0; side < 2; side++) {
                        int n[3] = {x, y, z};
                        n[axis] += side ? 1 : -1;
                        bool inside =
                            n[0] >= 0 && n[1] >= 0 && n[2] >= 0 && n[0] < nx && n[1] < ny && n[2] < nz;
                        if (inside && filled[(n[2] * ny + n[1]) * nx + n[0]]) continue;
                        int32_t corner[4];
                        for (int k = 0; k < 4; k++) {
                            int q[3] = {x, y, z};
                            q[axis] += side;
                            q[(axis + 1) % 3] += k == 1 || k == 2;
                            q[(axis + 2) % 3] += k >= 2;
                            int at = (q[2] * py + q[1]) * px + q[0];
                            if (id[at] < 0)
                                id[at] = mesh_vertex(
                                    &mesh, origin[0] + h * q[0], origin[1] + h * q[1], origin[2] + h * q[2]);
                            corner[k] = id[at];
                        }
                        int b = side ? 1 : 3, d = side ? 3 : 1;
                        mesh_triangle(&mesh, corner[0], corner[b], corner[2]);
                        mesh_triangle(&mesh, corner[0], corner[2], corner[d]);
                    }
            }
    free(id);
    return mesh;
}

HELPER test_mesh make_box(double x0, double y0, double z0, double x1, double y1, double z1)
{
    test_mesh mesh = make_voxels((uint8_t[]){1}, 1, 1, 1, 1, (double[]){0, 0, 0});
    for (size_t v = 0; v < mesh.vertex_count; v++) {
        double *p = mesh.positions[v];
        p[0] = p[0] > 0 ? x1 : x0;
        p[1] = p[1] > 0 ? y1 : y0;
        p[2] = p[2] > 0 ? z1 : z0;
    }
    return mesh;
}

/// A grid of quads closed in both directions: a torus, also folded ones.
HELPER test_mesh make_torus(int n, int m, double big, double small)
{
    test_mesh mesh = {0};
    mesh.vertex_count = (size_t)n * (size_t)m;
    mesh.triangle_count = 2 * mesh.vertex_count;
    mesh.positions = malloc(mesh.vertex_count * sizeof *mesh.positions);
    mesh.triangles = malloc(mesh.triangle_count * sizeof *mesh.triangles);
    const double turn = 6.283185307179586;
    size_t t = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double u = turn * i / n, v = turn * j / m;
            double *p = mesh.positions[i * m + j];
            p[0] = (big + small * cos(v)) * cos(u);
            p[1] = (big + small * cos(v)) * sin(u);
            p[2] = small * sin(v);
            int32_t a = i * m + j, b = (i + 1) % n * m + j, c = (i + 1) % n * m + (j + 1) % m,
                    d = i * m + (j + 1) % m;
            int32_t quads[2][3] = {{a, b, c}, {a, c, d}};
            memcpy(mesh.triangles[t], quads, sizeof quads);
            t += 2;
        }
    return mesh;
}

/// An octahedron divided n times along each edge, pushed to a sphere with bumps.
HELPER test_mesh make_sphere(int n, double radius, double bump)
{
    test_mesh mesh = {0};
    mesh.vertex_count = 4 * (size_t)n * (size_t)n + 2;
    mesh.triangle_count = 8 * (size_t)n * (size_t)n;
    mesh.positions = malloc(mesh.vertex_count * sizeof *mesh.positions);
    mesh.triangles = malloc(mesh.triangle_count * sizeof *mesh.triangles);
    /* Rings of the octahedron: ring r has 4·min(r, 2n − r) vertices. */
    int32_t *ring_start = malloc((size_t)(2 * n + 2) * sizeof *ring_start);
    int32_t count = 0;
    for (int r = 0; r <= 2 * n; r++) {
        int k = r <= n ? r : 2 * n - r;
        ring_start[r] = count;
        for (int i = 0; i < (k ? 4 * k : 1); i++) {
            double p[3] = {0, 0, (double)(n - r) / n};
            if (k) {
                int q = i / k;
                double f = (double)(i % k) / n, g = (double)(k - i % k) / n;
                static const int ux[] = {1, 0, -1, 0}, uy[] = {0, 1, 0, -1};
                p[0] = g * ux[q] + f * ux[(q + 1) % 4];
                p[1] = g * uy[q] + f * uy[(q + 1) % 4];
            }
            double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
            double scale = radius / length;
            for (int axis = 0; axis < 3; axis++)
                p[axis] *= scale;
            double wave = sin(9 * p[0] / radius) * sin(11 * p[1] / radius) * sin(7 * p[2] / radius + 1);
            for (int axis = 0; axis < 3; axis++)
                mesh.positions[count][axis] = p[axis] * (1 + bump * wave);
            count++;
        }
    }
    ring_start[2 * n + 1] = count;
    size_t t = 0;
    for (int r = 0; r < 2 * n; r++) {
        int a = r <= n ? r : 2 * n - r, b = r + 1 <= n ? r + 1 : 2 * n - r - 1;
        for (int q = 0; q < 4; q++) {
            int top = a, bottom = b;
#define RING(r_, k_, i_) (ring_start[r_] + ((k_) ? (q * (k_) + (i_)) % (4 * (k_)) : 0))
            for (int i = 0; i < bottom; i++)
                if (bottom > top || top == 0 || i < bottom) {
                    int32_t tri[3] = {RING(r, top, bottom > top ? i : i + 1), RING(r + 1, bottom, i),
                        RING(r + 1, bottom, i + 1)};
                    memcpy(mesh.triangles[t++], tri, sizeof tri);
                }
            for (int i = 0; i < top; i++) {
                int32_t tri[3] = {
                    RING(r, top, i), RING(r + 1, bottom, bottom > top ? i + 1 : i), RING(r, top, i + 1)};
                memcpy(mesh.triangles[t++], tri, sizeof tri);
            }
#undef RING
        }
    }
    mesh.triangle_count = t;
    free(ring_start);
    return mesh;
}

HELPER void quantise(test_mesh *mesh, double step)
{
    for (size_t v = 0; v < mesh->vertex_count; v++)
        for (int axis = 0; axis < 3; axis++)
            mesh->positions[v][axis] = nearbyint(mesh->positions[v][axis] / step) * step;
}

HELPER double mesh_volume(
    const double (*positions)[3], const int32_t (*triangles)[3], size_t count, double *area)
{
    double sum = 0, total = 0;
    for (size_t t = 0; t < count; t++) {
        const double *o = positions[triangles[0][0]];
        double p[3][3];
        for (int i = 0; i < 3; i++)
            for (int axis = 0; axis < 3; axis++)
                p[i][axis] = positions[triangles[t][i]][axis] - o[axis];
        sum += (p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                   p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                   p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0])) /
               6;
        double u[3], w[3];
        for (int axis = 0; axis < 3; axis++) {
            u[axis] = p[1][axis] - p[0][axis];
            w[axis] = p[2][axis] - p[0][axis];
        }
        double n[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
        total += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    if (area) *area = total;
    return sum;
}

/// Rotates corners and shuffles triangles; the surface stays the same.
HELPER void shuffle_triangles(test_mesh *mesh, uint32_t seed)
{
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 77);
    for (size_t i = mesh->triangle_count; i > 1; i--) {
        size_t j = rbli_rng_below(&rng, (uint32_t)i);
        int32_t moving[3];
        memcpy(moving, mesh->triangles[i - 1], sizeof moving);
        memcpy(mesh->triangles[i - 1], mesh->triangles[j], sizeof moving);
        uint32_t turn = rbli_rng_below(&rng, 3);
        for (uint32_t k = 0; k < 3; k++)
            mesh->triangles[j][k] = moving[(k + turn) % 3];
    }
}

/* ---- complexes ---- */

/// Boxes between the given planes of each axis. Uses the context's memory, as the library's builders do.
/// `wobble` moves inner vertices and makes facets triangles.
HELPER rbli_cell_complex *make_boxes(
    rbl_context *ctx, const double *const coordinates[3], const int counts[3], double wobble, uint32_t seed)
{
    rbli_cell_complex *k = rbli_calloc(ctx, 1, sizeof *k);
    int nx = counts[0], ny = counts[1], nz = counts[2];
    k->vertex_count = (size_t)(nx * ny * nz);
    k->vertices = rbli_alloc(ctx, k->vertex_count, sizeof *k->vertices);
    k->cell_count = (size_t)((nx - 1) * (ny - 1) * (nz - 1));
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 5);
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                double *p = k->vertices[(z * ny + y) * nx + x];
                p[0] = coordinates[0][x], p[1] = coordinates[1][y], p[2] = coordinates[2][z];
                bool inner = x > 0 && y > 0 && z > 0 && x < nx - 1 && y < ny - 1 && z < nz - 1;
                if (inner && wobble > 0)
                    for (int axis = 0; axis < 3; axis++)
                        p[axis] += wobble * (2 * rbli_rng_double(&rng) - 1);
            }
    size_t most = 3 * k->vertex_count;
    int corners = wobble > 0 ? 3 : 4, per_face = wobble > 0 ? 2 : 1;
    k->facet_start = rbli_alloc(ctx, most * (size_t)per_face + 1, sizeof(int32_t));
    k->facet_vertices = rbli_alloc(ctx, most * 6, sizeof(int32_t));
    k->facet_cells = rbli_alloc(ctx, most * (size_t)per_face, sizeof *k->facet_cells);
    k->facet_origin = rbli_alloc(ctx, most * (size_t)per_face, sizeof(int32_t));
    int32_t at = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int z = 0; z < nz; z++)
            for (int y = 0; y < ny; y++)
                for (int x = 0; x < nx; x++) {
                    int q[3] = {x, y, z}, u = (axis + 1) % 3, v = (axis + 2) % 3;
                    if (q[u] + 1 >= counts[u] || q[v] + 1 >= counts[v]) continue;
                    int32_t loop[4];
                    for (int c = 0; c < 4; c++) {
                        int r[3] = {x, y, z};
                        r[u] += c == 1 || c == 2;
                        r[v] += c >= 2;
                        loop[c] = (r[2] * ny + r[1]) * nx + r[0];
                    }
                    int32_t cells[2];
                    for (int side = 0; side < 2; side++) {
                        int r[3] = {x, y, z};
                        r[axis] += side - 1;
                        cells[side] = r[axis] < 0 || r[axis] >= counts[axis] - 1
                                          ? -1
                                          : (r[2] * (ny - 1) + r[1]) * (nx - 1) + r[0];
                    }
                    for (int part = 0; part < per_face; part++) {
                        k->facet_start[k->facet_count] = at;
                        for (int c = 0; c < corners; c++)
                            k->facet_vertices[at++] = loop[corners == 4 ? c : c == 0 ? 0 : c + part];
                        memcpy(k->facet_cells[k->facet_count], cells, sizeof cells);
                        k->facet_origin[k->facet_count++] = cells[0] < 0 || cells[1] < 0 ? -1 : axis;
                    }
                }
    k->facet_start[k->facet_count] = at;
    k->cell_site = rbli_alloc(ctx, k->cell_count, sizeof(int32_t));
    for (size_t c = 0; c < k->cell_count; c++)
        k->cell_site[c] = (int32_t)c;
    k->convex = wobble == 0;
    return k;
}

/// Voronoi cells of a box 5 % larger than the mesh.
HELPER rbli_cell_complex *make_voronoi(
    rbl_context *ctx, const test_mesh *mesh, const double (*sites)[3], size_t count)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0;
    for (size_t v = 0; v < mesh->vertex_count; v++)
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = fmin(low[axis], mesh->positions[v][axis]);
            high[axis] = fmax(high[axis], mesh->positions[v][axis]);
        }
    for (int axis = 0; axis < 3; axis++)
        size = fmax(size, high[axis] - low[axis]);
    for (int axis = 0; axis < 3; axis++) {
        low[axis] -= 0.05 * size;
        high[axis] += 0.05 * size;
    }
    rbli_cell_complex *k = NULL;
    assert_ok(ctx, rbli_voronoi_complex(ctx, sites, count, low, high, NULL, NULL, &k));
    return k;
}

/* ---- checks ---- */

typedef struct check_edge {
    int32_t a, b;
} check_edge;

HELPER int compare_check_edges(const void *pa, const void *pb)
{
    const check_edge *a = pa, *b = pb;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

/// NULL when each directed edge occurs once and its reverse too, else what is wrong.
HELPER const char *closed_fault(const int32_t (*triangles)[3], size_t count)
{
    check_edge *edges = malloc((3 * count + 1) * sizeof *edges);
    for (size_t i = 0; i < 3 * count; i++)
        edges[i] = (check_edge){triangles[i / 3][i % 3], triangles[i / 3][(i + 1) % 3]};
    qsort(edges, 3 * count, sizeof *edges, compare_check_edges);
    const char *fault = NULL;
    for (size_t i = 0; i < 3 * count && !fault; i++) {
        if (edges[i].a == edges[i].b) fault = "a triangle repeats a vertex";
        if (i > 0 && compare_check_edges(&edges[i - 1], &edges[i]) == 0)
            fault = "a directed edge occurs twice";
        check_edge reverse = {edges[i].b, edges[i].a};
        if (!bsearch(&reverse, edges, 3 * count, sizeof *edges, compare_check_edges))
            fault = "an edge is open";
    }
    free(edges);
    return fault;
}

typedef struct check_cap {
    int32_t facet;
    int32_t piece;
    double area, sum[3];
} check_cap;

HELPER int compare_check_caps(const void *pa, const void *pb)
{
    const check_cap *a = pa, *b = pb;
    if (a->facet != b->facet) return a->facet < b->facet ? -1 : 1;
    for (int axis = 0; axis < 3; axis++)
        if (a->sum[axis] != b->sum[axis]) return a->sum[axis] < b->sum[axis] ? -1 : 1;
    return 0;
}

/// True for a triangle with two corners in one place: a piece drops it where it can, its neighbour perhaps
/// not.
HELPER bool has_zero_side(const rbli_cut_result *r, size_t t)
{
    for (int i = 0; i < 3; i++) {
        const double *p = r->positions[r->triangles[t][i]], *q = r->positions[r->triangles[t][(i + 1) % 3]];
        if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) return true;
    }
    return false;
}

/// Facets' triangles must be there twice, with the same corners to the bit (unless an edge was split or a
/// film left out).
HELPER const char *caps_fault(const rbli_cut_result *r)
{
    if (r->split_edge_count || r->film_count || r->negative_count) return NULL;
    check_cap *caps = malloc((r->triangle_count + 1) * sizeof *caps);
    size_t count = 0;
    for (size_t t = 0; t < r->triangle_count; t++) {
        if (r->origins.source[t] >= 0 || has_zero_side(r, t)) continue;
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        check_cap cap = {-1 - r->origins.source[t], 0, 0, {0, 0, 0}};
        for (int i = 0; i < 3; i++)
            for (int axis = 0; axis < 3; axis++) {
                double x = r->positions[r->triangles[t][i]][axis];
                low[axis] = fmin(low[axis], x);
                high[axis] = fmax(high[axis], x);
            }
        for (int axis = 0; axis < 3; axis++) /* independent of the corners' order */
            cap.sum[axis] = low[axis] + 3 * high[axis];
        caps[count++] = cap;
    }
    qsort(caps, count, sizeof *caps, compare_check_caps);
    const char *fault = count % 2 ? "an odd number of cap triangles" : NULL;
    for (size_t i = 0; i + 1 < count && !fault; i += 2)
        if (compare_check_caps(&caps[i], &caps[i + 1]) != 0) fault = "a cap is not shared to the bit";
    free(caps);
    return fault;
}

HELPER const char *origins_fault(const rbli_mesh_view *mesh, const rbli_cut_result *r, double tolerance)
{
    for (size_t t = 0; t < r->triangle_count; t++) {
        int32_t source = r->origins.source[t], row = r->origins.weights_index[t];
        if (source < 0) {
            if (row != -1) return "a cap has weights";
            continue;
        }
        if ((size_t)source >= mesh->triangle_count) return "a source is out of range";
        for (int i = 0; i < 3; i++) {
            const double *p = r->positions[r->triangles[t][i]];
            int32_t vertex = r->vertex_source[r->triangles[t][i]];
            if (vertex >= 0 && memcmp(p, mesh->positions[vertex], sizeof(double[3])) != 0)
                return "an original vertex moved";
            if (row < 0) {
                if (vertex != mesh->triangles[source][i]) return "an untouched triangle changed";
                continue;
            }
            const double *w = r->origins.weights[row][i];
            if (fabs(w[0] + w[1] + w[2] - 1) > 1e-12) return "weights do not sum to 1";
            for (int axis = 0; axis < 3; axis++) {
                double x = 0;
                for (int j = 0; j < 3; j++)
                    x += w[j] * mesh->positions[mesh->triangles[source][j]][axis];
                if (fabs(x - p[axis]) > tolerance) return "weights do not give the position";
            }
        }
    }
    return NULL;
}

/// Checks all that holds for every input; volumes positive where `sound`. Returns NULL or what is wrong.
HELPER const char *result_fault(const rbli_mesh_view *mesh, const rbli_cut_result *r, bool sound)
{
    static char text[200];
    double area, sum = 0, size = 0;
    double volume = mesh_volume(mesh->positions, mesh->triangles, mesh->triangle_count, &area);
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int axis = 0; axis < 3; axis++)
            size = fmax(size, 2 * fabs(mesh->positions[mesh->triangles[t][0]][axis] -
                                       mesh->positions[mesh->triangles[0][0]][axis]));
    for (size_t p = 0; p < r->piece_count; p++) {
        size_t first = (size_t)r->triangle_start[p], count = (size_t)r->triangle_start[p + 1] - first;
        for (size_t t = first; t < first + count; t++)
            for (int i = 0; i < 3; i++)
                if (r->triangles[t][i] < r->vertex_start[p] || r->triangles[t][i] >= r->vertex_start[p + 1])
                    return "an index leaves its piece";
        const char *fault = closed_fault((const int32_t(*)[3])r->triangles + first, count);
        if (fault) {
            snprintf(text, sizeof text, "piece %zu: %s", p, fault);
            return text;
        }
        double own = mesh_volume(
            (const double(*)[3])r->positions, (const int32_t(*)[3])r->triangles + first, count, NULL);
        if (fabs(own - r->piece_volume[p]) > 1e-12 * fabs(own) + 1e-13 * area * size)
            return "a volume is wrong";
        if (sound && !(r->piece_volume[p] > 0)) {
            snprintf(text, sizeof text, "piece %zu has volume %g", p, own);
            return text;
        }
        if (p > 0 && r->piece_cell[p] < r->piece_cell[p - 1]) return "pieces are not ordered by cell";
        sum += own;
    }
    if (r->negative_count == 0 && fabs(sum - volume) > 1e-12 * fabs(volume) + 1e-14 * area * size) {
        snprintf(text, sizeof text, "volumes sum to %.17g, not %.17g", sum, volume);
        return text;
    }
    for (size_t i = 0; i < r->contact_count; i++) {
        const rbli_contact *c = &r->contacts[i];
        if (c->piece_a >= c->piece_b || c->piece_a < 0 || (size_t)c->piece_b >= r->piece_count)
            return "a contact is malformed";
        if (i > 0 &&
            (c[-1].piece_a > c->piece_a || (c[-1].piece_a == c->piece_a && c[-1].piece_b >= c->piece_b)))
            return "contacts are not sorted";
    }
    const char *fault = origins_fault(mesh, r, 1e-9 * size);
    return fault ? fault : caps_fault(r);
}

/// How often a piece winds around a point, by the solid angle (not exact, for points away from the surface).
HELPER double winding_at(const rbli_cut_result *r, size_t piece, const double p[3])
{
    double sum = 0;
    for (int32_t t = r->triangle_start[piece]; t < r->triangle_start[piece + 1]; t++) {
        double q[3][3], l[3];
        for (int i = 0; i < 3; i++) {
            for (int axis = 0; axis < 3; axis++)
                q[i][axis] = r->positions[r->triangles[t][i]][axis] - p[axis];
            l[i] = sqrt(q[i][0] * q[i][0] + q[i][1] * q[i][1] + q[i][2] * q[i][2]);
        }
        double det = q[0][0] * (q[1][1] * q[2][2] - q[1][2] * q[2][1]) +
                     q[0][1] * (q[1][2] * q[2][0] - q[1][0] * q[2][2]) +
                     q[0][2] * (q[1][0] * q[2][1] - q[1][1] * q[2][0]);
#define DOT(i_, j_) (q[i_][0] * q[j_][0] + q[i_][1] * q[j_][1] + q[i_][2] * q[j_][2])
        sum += 2 * atan2(det, l[0] * l[1] * l[2] + DOT(0, 1) * l[2] + DOT(1, 2) * l[0] + DOT(2, 0) * l[1]);
#undef DOT
    }
    return sum / 12.566370614359172;
}

#endif
