/// Exact tests of self-crossings within cells: facing a centre first, pairs of triangles for what fails.

#include "fracture/geometry/embedding.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/predicates.h"

/* ---- pairs ---- */

/// Sign of the turn a → b → c in the plane of two axes; exact.
static int turn(const double *a, const double *b, const double *c, int u, int v)
{
    __extension__ typedef __int128 wide;
    wide left = (wide)(int64_t)(b[u] - a[u]) * (int64_t)(c[v] - a[v]);
    wide right = (wide)(int64_t)(b[v] - a[v]) * (int64_t)(c[u] - a[u]);
    return left > right ? 1 : left < right ? -1 : 0;
}

/// For three points on a line: is c between a and b, ends included?
static bool between(const double *a, const double *b, const double *c, int u, int v)
{
    return fmin(a[u], b[u]) <= c[u] && c[u] <= fmax(a[u], b[u]) && fmin(a[v], b[v]) <= c[v] &&
           c[v] <= fmax(a[v], b[v]);
}

static bool segments_meet_flat(
    const double *a, const double *b, const double *c, const double *d, int u, int v)
{
    int s0 = turn(a, b, c, u, v), s1 = turn(a, b, d, u, v);
    int s2 = turn(c, d, a, u, v), s3 = turn(c, d, b, u, v);
    if (s0 * s1 < 0 && s2 * s3 < 0) return true;
    return (s0 == 0 && between(a, b, c, u, v)) || (s1 == 0 && between(a, b, d, u, v)) ||
           (s2 == 0 && between(c, d, a, u, v)) || (s3 == 0 && between(c, d, b, u, v));
}

/// Closed segment against closed triangle in one plane.
static bool segment_meets_flat(const double (*p)[3], int32_t from, int32_t to, const int32_t t[3])
{
    for (int axis = 0; axis < 3; axis++) {
        int u = (axis + 1) % 3, v = (axis + 2) % 3;
        int side = turn(p[t[0]], p[t[1]], p[t[2]], u, v);
        if (side == 0) continue;
        bool inside = true;
        for (int i = 0; i < 3; i++) {
            inside &= turn(p[t[i]], p[t[(i + 1) % 3]], p[from], u, v) * side >= 0;
            if (segments_meet_flat(p[from], p[to], p[t[i]], p[t[(i + 1) % 3]], u, v)) return true;
        }
        return inside;
    }
    return true; /* a triangle without area */
}

/// Closed segment against closed triangle.
static bool segment_meets(const double (*p)[3], int32_t from, int32_t to, const int32_t t[3])
{
    const double *a = p[t[0]], *b = p[t[1]], *c = p[t[2]];
    int start = rbli_orient3d(a, b, c, p[from]), end = rbli_orient3d(a, b, c, p[to]);
    if (start * end > 0) return false;
    if (start == 0 && end == 0) return segment_meets_flat(p, from, to, t);
    int s0 = rbli_orient3d(p[from], p[to], a, b);
    int s1 = rbli_orient3d(p[from], p[to], b, c);
    if (s0 * s1 < 0) return false;
    int s2 = rbli_orient3d(p[from], p[to], c, a);
    return s0 * s2 >= 0 && s1 * s2 >= 0;
}

static bool beside_plane(const double (*p)[3], const int32_t a[3], const int32_t b[3])
{
    int s0 = rbli_orient3d(p[a[0]], p[a[1]], p[a[2]], p[b[0]]);
    if (s0 == 0) return false;
    return rbli_orient3d(p[a[0]], p[a[1]], p[a[2]], p[b[1]]) == s0 &&
           rbli_orient3d(p[a[0]], p[a[1]], p[a[2]], p[b[2]]) == s0;
}

static void area_normal(const double (*p)[3], const int32_t t[3], double out[3])
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = p[t[1]][k] - p[t[0]][k];
        v[k] = p[t[2]][k] - p[t[0]][k];
    }
    for (int k = 0; k < 3; k++)
        out[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
}

/// Triangles that share an edge: folded onto each other?
static bool folded(const double (*p)[3], const int32_t a[3], const int32_t b[3], int32_t far)
{
    if (rbli_orient3d(p[a[0]], p[a[1]], p[a[2]], p[far]) != 0) return false;
    double n[3], m[3];
    area_normal(p, a, n);
    area_normal(p, b, m);
    return !(n[0] * m[0] + n[1] * m[1] + n[2] * m[2] > 0);
}

bool rbli_triangles_cross(const double (*p)[3], const int32_t a[3], const int32_t b[3])
{
    int shared = 0, apart_a = 0, apart_b = 0; /* the last corner of each that the other has not, or has */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (a[i] == b[j]) {
                shared++;
                apart_a = i;
                apart_b = j;
            }
    if (shared == 3) return true;
    if (shared == 2) {
        for (int j = 0; j < 3; j++)
            if (b[j] != a[0] && b[j] != a[1] && b[j] != a[2]) return folded(p, a, b, b[j]);
        return true;
    }
    if (shared == 1)
        return segment_meets(p, a[(apart_a + 1) % 3], a[(apart_a + 2) % 3], b) ||
               segment_meets(p, b[(apart_b + 1) % 3], b[(apart_b + 2) % 3], a);
    if (beside_plane(p, a, b) || beside_plane(p, b, a)) return false;
    for (int i = 0; i < 3; i++)
        if (segment_meets(p, a[i], a[(i + 1) % 3], b) || segment_meets(p, b[i], b[(i + 1) % 3], a))
            return true;
    return false;
}

/* ---- cells ---- */

/// A triangle of a cell, outward.
typedef struct shell_triangle {
    int32_t v[3];
    int32_t other; /* the cell on its other side */
    bool moved;
} shell_triangle;

typedef struct shell {
    RBLI_ARRAY(shell_triangle) triangles;
    double (*boxes)[2][3];
    rbli_box_tree *tree;
} shell;

static rbl_status list_shell(rbl_context *ctx, const rbli_embedding *e, size_t cell, shell *s)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = e->complex;
    for (int32_t i = e->cell_start[cell]; i < e->cell_start[cell + 1]; i++) {
        int32_t f = e->cell_facets[i], begin = k->facet_start[f], end = k->facet_start[f + 1];
        bool outward = k->facet_cells[f][0] == (int32_t)cell;
        for (int32_t j = begin + 1; j + 1 < end; j++) {
            shell_triangle t = {{k->facet_vertices[begin], k->facet_vertices[outward ? j : j + 1],
                                    k->facet_vertices[outward ? j + 1 : j]},
                k->facet_cells[f][outward], false};
            for (int c = 0; c < 3; c++)
                t.moved |= e->moved[t.v[c]];
            RBL_TRY(rbli_array_push(ctx, &s->triangles, t));
        }
    }
done:
    return status;
}

static bool faces_center(const rbli_embedding *e, size_t cell)
{
    const rbli_cell_complex *k = e->complex;
    for (int32_t i = e->cell_start[cell]; i < e->cell_start[cell + 1]; i++) {
        int32_t f = e->cell_facets[i], begin = k->facet_start[f], end = k->facet_start[f + 1];
        int outward = k->facet_cells[f][0] == (int32_t)cell ? -1 : 1;
        if (end - begin != 3) continue; /* moved facets are triangles */
        const int32_t *v = k->facet_vertices + begin;
        if (!e->moved[v[0]] && !e->moved[v[1]] && !e->moved[v[2]]) continue;
        if (rbli_orient3d(e->points[v[0]], e->points[v[1]], e->points[v[2]], e->centers[cell]) != outward)
            return false;
    }
    return true;
}

static bool has_volume(const rbli_embedding *e, size_t cell, const shell *s)
{
    const double *o = e->centers[cell];
    double sum = 0;
    for (size_t i = 0; i < s->triangles.count; i++) {
        const double *q[3];
        double d[3][3];
        for (int c = 0; c < 3; c++) {
            q[c] = e->points[s->triangles.data[i].v[c]];
            for (int k = 0; k < 3; k++)
                d[c][k] = q[c][k] - o[k];
        }
        sum += d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) +
               d[0][1] * (d[1][2] * d[2][0] - d[1][0] * d[2][2]) +
               d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
    }
    return sum > 0;
}

static rbl_status make_tree(rbl_context *ctx, const rbli_embedding *e, shell *s)
{
    rbl_status status = RBL_OK;
    size_t count = s->triangles.count;
    RBL_TRY_ALLOC(s->boxes = rbli_alloc(ctx, count, sizeof *s->boxes));
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            const int32_t *v = s->triangles.data[i].v;
            double x = e->points[v[0]][k], y = e->points[v[1]][k], z = e->points[v[2]][k];
            s->boxes[i][0][k] = fmin(x, fmin(y, z));
            s->boxes[i][1][k] = fmax(x, fmax(y, z));
        }
    RBL_TRY(rbli_box_tree_create(ctx, (const double(*)[2][3])s->boxes, count, &s->tree));
done:
    return status;
}

static void free_shell(rbl_context *ctx, shell *s)
{
    rbli_free(ctx, s->triangles.data);
    rbli_free(ctx, s->boxes);
    rbli_box_tree_destroy(ctx, s->tree);
}

typedef struct pair_job {
    const rbli_embedding *e;
    const shell *s;
    const int32_t *items;
    bool outside;
    uint8_t *bad_vertex;
    uint8_t *found;
} pair_job;

static void mark(uint8_t *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

static void visit_pair(void *user, int32_t slot_a, int32_t slot_b)
{
    const pair_job *job = user;
    int32_t i = job->items[slot_a], j = job->items[slot_b];
    const shell_triangle *a = &job->s->triangles.data[i], *b = &job->s->triangles.data[j];
    if ((!a->moved && !b->moved) || (job->outside && a->other == b->other)) return;
    for (int k = 0; k < 3; k++)
        if (job->s->boxes[i][0][k] > job->s->boxes[j][1][k] ||
            job->s->boxes[j][0][k] > job->s->boxes[i][1][k])
            return;
    if (!rbli_triangles_cross(job->e->points, a->v, b->v)) return;
    for (int k = 0; k < 3; k++) {
        mark(&job->bad_vertex[a->v[k]]);
        mark(&job->bad_vertex[b->v[k]]);
    }
    mark(job->found);
}

static rbl_status visit_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const pair_job *job = user;
    rbli_box_tree_pairs(job->s->tree, begin, end, visit_pair, user);
    return RBL_OK;
}

/// All pairs of one cell.
static rbl_status check_pairs(
    rbl_context *ctx, const rbli_embedding *e, size_t cell, bool outside, uint8_t *bad_vertex, uint8_t *found)
{
    rbl_status status = RBL_OK;
    shell s = {0};
    RBL_TRY(list_shell(ctx, e, cell, &s));
    RBL_TRY(make_tree(ctx, e, &s));
    uint8_t here = 0;
    pair_job job = {e, &s, rbli_box_tree_items(s.tree), outside, bad_vertex, &here};
    RBL_TRY(rbli_parallel_for(ctx, rbli_box_tree_block_count(s.tree), 16, visit_block, &job));
    if (!here && !outside && !has_volume(e, cell, &s)) {
        here = 1;
        for (size_t i = 0; i < s.triangles.count; i++)
            for (int k = 0; k < 3; k++)
                mark(&bad_vertex[s.triangles.data[i].v[k]]);
    }
    if (here) mark(found);
done:
    free_shell(ctx, &s);
    return status;
}

typedef struct cells_job {
    const rbli_embedding *e;
    const uint8_t *check_cell;
    uint8_t *bad_vertex, *found;
} cells_job;

static rbl_status check_cells(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const cells_job *job = user;
    rbl_status status = RBL_OK;
    for (size_t c = begin; c < end && status == RBL_OK; c++)
        if (job->check_cell[c] && !faces_center(job->e, c))
            status = check_pairs(ctx, job->e, c, false, job->bad_vertex, job->found);
    return status;
}

rbl_status rbli_find_crossings(
    rbl_context *ctx, const rbli_embedding *e, const uint8_t *check_cell, uint8_t *bad_vertex, bool *found)
{
    rbl_status status = RBL_OK;
    uint8_t any = 0;
    cells_job job = {e, check_cell, bad_vertex, &any};
    size_t ordinary = e->complex->cell_count - e->complex->outside_cell_count;
    RBL_TRY(rbli_parallel_for(ctx, ordinary, 8, check_cells, &job));
    for (size_t c = ordinary; c < e->complex->cell_count; c++)
        if (check_cell[c]) RBL_TRY(check_pairs(ctx, e, c, true, bad_vertex, &any));
    *found = any;
done:
    return status;
}

rbl_status rbli_find_mesh_crossing(rbl_context *ctx, const double (*points)[3], size_t point_count,
    const int32_t (*triangles)[3], size_t triangle_count, int32_t *vertex)
{
    rbl_status status = RBL_OK;
    shell s = {0};
    uint8_t *bad = NULL, found = 0;
    rbli_embedding e = {.points = points};
    *vertex = -1;
    RBL_TRY_ALLOC(bad = rbli_calloc(ctx, point_count, 1));
    for (size_t t = 0; t < triangle_count; t++) {
        shell_triangle made = {{triangles[t][0], triangles[t][1], triangles[t][2]}, -1, true};
        RBL_TRY(rbli_array_push(ctx, &s.triangles, made));
    }
    RBL_TRY(make_tree(ctx, &e, &s));
    pair_job job = {&e, &s, rbli_box_tree_items(s.tree), false, bad, &found};
    RBL_TRY(rbli_parallel_for(ctx, rbli_box_tree_block_count(s.tree), 16, visit_block, &job));
    for (size_t v = 0; found && v < point_count && *vertex < 0; v++)
        if (bad[v]) *vertex = (int32_t)v;
done:
    rbli_free(ctx, bad);
    free_shell(ctx, &s);
    return status;
}
