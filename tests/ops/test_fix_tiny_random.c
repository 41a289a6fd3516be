#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/brick_complex.h"
#include "fracture/geometry/primitive.h"
#include "fracture/ops/fix_tiny.h"
#include "fracture/ops/fracture.h"
#include "fracture/ops/hulls.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/state.h"
#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

/* Tiny pieces of random cuts: Voronoi cells, bricks, with noise, with grout and its mortar, in two levels,
   also across parents.
   Closure, volume, inner walls and independence of the order are checked by searches of their own. */

enum { VORONOI, NOISE, GROUT, MORTAR, BRICKS, BRICK_NOISE, LEVELS, ACROSS, KINDS };

typedef struct cells {
    int kind;
    uint32_t seed;
    size_t sites;
} cells;

static rbl_status make_complex(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    (void)facts;
    const cells *c = user;
    if (c->kind == BRICKS || c->kind == BRICK_NOISE) {
        rbli_brick_options o = rbli_brick_default_options();
        rbli_brick *bricks = NULL;
        size_t count;
        o.bond = RBLI_BOND_FLEMISH;
        o.length = 0.7;
        o.height = 0.31;
        o.depth = 0.3;
        rbl_status status =
            rbli_brick_layout(ctx, &o, domain->object_min, domain->object_max, NULL, &bricks, &count);
        if (status == RBL_OK)
            status = rbli_box_complex(ctx, bricks, count, domain->object_min, domain->object_max,
                domain->box_min, domain->box_max, out);
        rbli_free(ctx, bricks);
        return status;
    }
    double(*sites)[3] = rbli_alloc(ctx, c->sites, sizeof *sites);
    if (!sites) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < c->sites; i++) {
        rbli_rng rng = rbli_rng_make(c->seed ^ domain->seed, RBLI_RNG_TEST, i);
        for (int k = 0; k < 3; k++)
            sites[i][k] = domain->object_min[k] +
                          rbli_rng_double(&rng) * (domain->object_max[k] - domain->object_min[k]);
    }
    rbl_status status = rbli_voronoi_complex(
        ctx, (const double(*)[3])sites, c->sites, domain->box_min, domain->box_max, NULL, NULL, out);
    rbli_free(ctx, sites);
    return status;
}

/// A ball or a box, whole.
static rbl_collection *make_body(rbl_context *ctx, bool ball)
{
    double box[1][2][3] = {{{-1, -0.7, -0.5}, {1, 0.7, 0.5}}};
    rbl_collection *c = make_boxes(ctx, 1, (const double(*)[2][3])box);
    if (ball) {
        rbli_primitive p = {0};
        const double size[3] = {2, 1.4, 1.2};
        void *out;
        assert_ok(ctx, rbli_primitive_make(ctx, RBLI_PRIMITIVE_SPHERE, size, 20, &p));
        assert_ok(ctx, rbli_collection_resize(ctx, c, "vertex", p.vertex_count));
        assert_ok(ctx, rbli_collection_resize(ctx, c, "face", p.triangle_count));
        assert_ok(ctx, rbli_collection_resize(ctx, c, "corner", 3 * p.triangle_count));
        assert_ok(ctx, rbli_collection_write(ctx, c, "vertex", "position", RBL_VEC3, &out));
        memcpy(out, p.positions, p.vertex_count * sizeof *p.positions);
        assert_ok(ctx, rbli_collection_write(ctx, c, "face", "vertices", RBL_INT32_3, &out));
        memcpy(out, p.triangles, p.triangle_count * sizeof *p.triangles);
        assert_ok(ctx, rbli_collection_write(ctx, c, "face", "origin", RBL_INT32, &out));
        memset(out, 0xff, p.triangle_count * sizeof(int32_t));
        assert_ok(ctx, rbli_collection_write(ctx, c, "geometry", "vertex_count", RBL_INT32, &out));
        *(int32_t *)out = (int32_t)p.vertex_count;
        assert_ok(ctx, rbli_collection_write(ctx, c, "geometry", "face_count", RBL_INT32, &out));
        *(int32_t *)out = (int32_t)p.triangle_count;
        rbli_primitive_free(ctx, &p);
    }
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

static rbl_collection *cut(rbl_context *ctx, const rbl_collection *in, cells *c)
{
    rbli_fracture_options options = rbli_fracture_default_options();
    rbli_fracture_result r = {0};
    options.make_complex = make_complex;
    options.user = c;
    options.seed = c->seed;
    if (c->kind == NOISE || c->kind == BRICK_NOISE) {
        options.noise.noise.amplitude = 0.02;
        options.noise.point_spacing = 0.12;
    }
    if (c->kind == GROUT || c->kind == MORTAR) options.grout = 0.01;
    options.keep_outside = c->kind == MORTAR;
    assert_ok(ctx, rbli_fracture(ctx, in, &options, &r));
    rbli_free(ctx, r.new_bones);
    return r.collection;
}

static rbl_collection *make_pieces(rbl_context *ctx, int kind, uint32_t seed)
{
    cells c = {kind, seed, 60 + seed % 60};
    rbl_collection *body = make_body(ctx, seed % 2), *once = cut(ctx, body, &c), *twice;
    rbli_collection_release(body);
    if (kind != LEVELS && kind != ACROSS) return once;
    cells d = {VORONOI, seed + 77, 5};
    twice = cut(ctx, once, &d);
    rbli_collection_release(once);
    return twice;
}

/* ---- what is checked ---- */

static int compare_edges(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(int32_t));
}

static void check_closed(const rbl_collection *c)
{
    const int32_t *starts = rbli_collection_read(c, "geometry", "face_start", RBL_INT32);
    const int32_t *counts = rbli_collection_read(c, "geometry", "face_count", RBL_INT32);
    const int32_t(*faces)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    for (size_t g = 0; g < rbli_collection_size(c, "geometry"); g++) {
        size_t count = 3 * (size_t)counts[g];
        int32_t(*edges)[2] = malloc(count * sizeof *edges), (*back)[2] = malloc(count * sizeof *back);
        for (size_t h = 0; h < count; h++) {
            const int32_t *f = faces[starts[g] + (int32_t)(h / 3)];
            edges[h][0] = back[h][1] = f[h % 3];
            edges[h][1] = back[h][0] = f[(h + 1) % 3];
        }
        qsort(edges, count, sizeof *edges, compare_edges);
        qsort(back, count, sizeof *back, compare_edges);
        for (size_t h = 1; h < count; h++)
            assert_true(memcmp(edges[h - 1], edges[h], sizeof *edges) != 0);
        assert_memory_equal(edges, back, count * sizeof *edges);
        free(edges);
        free(back);
    }
}

static double volume_of(const rbl_collection *c)
{
    const double *volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE);
    double sum = 0;
    for (size_t i = 0; i < rbli_collection_size(c, "geometry"); i++)
        sum += volume[i];
    return sum;
}

static int32_t find_bone(const rbl_collection *c, const char *name)
{
    for (size_t b = 0; b < rbli_collection_size(c, "bone"); b++)
        if (strcmp(rbli_collection_string(c, "bone", "name", b), name) == 0) return (int32_t)b;
    return -1;
}

typedef struct facet {
    double p[3][3]; /* sorted corners */
    int32_t geometry, face;
} facet;

static int compare_points(const void *a, const void *b)
{
    const double *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
    return 0;
}

static int compare_facets(const void *a, const void *b)
{
    const facet *f = a, *g = b;
    for (int i = 0; i < 3; i++) {
        int order = compare_points(f->p[i], g->p[i]);
        if (order) return order;
    }
    return 0;
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool covers(const double (*position)[3], const int32_t face[3], const double at[3])
{
    double n[3], u[3], v[3], length = 0, off = 0;
    const double *p[3] = {position[face[0]], position[face[1]], position[face[2]]};
    for (int k = 0; k < 3; k++)
        u[k] = p[1][k] - p[0][k], v[k] = p[2][k] - p[0][k];
    for (int k = 0; k < 3; k++) {
        n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        length += n[k] * n[k];
        off += n[k] * (at[k] - p[0][k]);
    }
    length = sqrt(length);
    if (length == 0 || fabs(off) > 1e-9 * length) return false;
    for (int i = 0; i < 3; i++) {
        double side = 0;
        for (int k = 0; k < 3; k++)
            u[k] = p[(i + 1) % 3][k] - p[i][k], v[k] = at[k] - p[i][k];
        for (int k = 0; k < 3; k++)
            side += n[k] * (u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
        if (side <= 0) return false;
    }
    return true;
}

/// Where facets of two pieces lay on each other and both went into one, no triangle is left. @return how many
static size_t check_no_inner_walls(
    const rbl_collection *before, const rbl_collection *after, const int32_t *into)
{
    const int32_t *starts = rbli_collection_read(before, "geometry", "face_start", RBL_INT32);
    const int32_t *counts = rbli_collection_read(before, "geometry", "face_count", RBL_INT32);
    const int32_t(*faces)[3] = rbli_collection_read(before, "face", "vertices", RBL_INT32_3);
    const double(*position)[3] = rbli_collection_read(before, "vertex", "position", RBL_VEC3);
    const int32_t *new_starts = rbli_collection_read(after, "geometry", "face_start", RBL_INT32);
    const int32_t *new_counts = rbli_collection_read(after, "geometry", "face_count", RBL_INT32);
    const int32_t(*new_faces)[3] = rbli_collection_read(after, "face", "vertices", RBL_INT32_3);
    const double(*new_position)[3] = rbli_collection_read(after, "vertex", "position", RBL_VEC3);
    size_t count = rbli_collection_size(before, "face"), walls = 0, at = 0;
    facet *facets = malloc(count * sizeof *facets);
    for (size_t g = 0; g < rbli_collection_size(before, "geometry"); g++)
        for (int32_t f = starts[g]; f < starts[g] + counts[g]; f++) {
            for (int i = 0; i < 3; i++)
                memcpy(facets[at].p[i], position[faces[f][i]], sizeof facets[at].p[i]);
            qsort(facets[at].p, 3, sizeof facets[at].p[0], compare_points);
            facets[at].geometry = (int32_t)g;
            facets[at++].face = f;
        }
    qsort(facets, at, sizeof *facets, compare_facets);
    for (size_t i = 1; i < at; i++) {
        if (compare_facets(&facets[i - 1], &facets[i]) != 0) continue;
        int32_t a = into[facets[i - 1].geometry], b = into[facets[i].geometry];
        if (a < 0 || a != b || facets[i].geometry == facets[i - 1].geometry) continue;
        double middle[3], u[3], v[3], n[3];
        for (int k = 0; k < 3; k++)
            u[k] = facets[i].p[1][k] - facets[i].p[0][k], v[k] = facets[i].p[2][k] - facets[i].p[0][k];
        cross(u, v, n);
        if (dot(n, n) < 1e-16) continue; /* a sliver lies on other faces, too */
        for (int k = 0; k < 3; k++)
            middle[k] = (facets[i].p[0][k] + facets[i].p[1][k] + facets[i].p[2][k]) / 3;
        for (int32_t f = new_starts[a]; f < new_starts[a] + new_counts[a]; f++)
            assert_false(covers(new_position, new_faces[f], middle));
        walls++;
    }
    free(facets);
    return walls;
}

/// Solid angles of a surface seen from a point (Van Oosterom and Strackee 1983), over 4 π.
static double winding(const double (*p)[3], const int32_t (*faces)[3], int32_t count, const double at[3])
{
    double sum = 0;
    for (int32_t f = 0; f < count; f++) {
        double v[3][3], length[3], n[3];
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++)
                v[i][k] = p[faces[f][i]][k] - at[k];
            length[i] = sqrt(dot(v[i], v[i]));
        }
        cross(v[1], v[2], n);
        double below = length[0] * length[1] * length[2] + dot(v[0], v[1]) * length[2] +
                       dot(v[1], v[2]) * length[0] + dot(v[2], v[0]) * length[1];
        sum += 2 * atan2(dot(v[0], n), below);
    }
    return sum / (4 * 3.14159265358979);
}

/// The geometry of `after` that each of `before` went into: told by a point a little inside the largest face.
static int32_t *find_unions(const rbl_collection *before, const rbl_collection *after)
{
    size_t old_count = rbli_collection_size(before, "geometry"),
           count = rbli_collection_size(after, "geometry");
    const int32_t *fs = rbli_collection_read(before, "geometry", "face_start", RBL_INT32);
    const int32_t *fc = rbli_collection_read(before, "geometry", "face_count", RBL_INT32);
    const int32_t(*faces)[3] = rbli_collection_read(before, "face", "vertices", RBL_INT32_3);
    const int32_t *gs = rbli_collection_read(after, "geometry", "face_start", RBL_INT32);
    const int32_t *gc = rbli_collection_read(after, "geometry", "face_count", RBL_INT32);
    const int32_t(*new_faces)[3] = rbli_collection_read(after, "face", "vertices", RBL_INT32_3);
    const double(*p)[3] = rbli_collection_read(before, "vertex", "position", RBL_VEC3);
    const double(*q)[3] = rbli_collection_read(after, "vertex", "position", RBL_VEC3);
    int32_t *into = malloc(old_count * sizeof *into);
    for (size_t g = 0; g < old_count; g++) {
        double best = 0, at[3] = {0, 0, 0};
        for (int32_t f = fs[g]; f < fs[g] + fc[g]; f++) {
            double u[3], v[3], n[3];
            for (int k = 0; k < 3; k++)
                u[k] = p[faces[f][1]][k] - p[faces[f][0]][k], v[k] = p[faces[f][2]][k] - p[faces[f][0]][k];
            cross(u, v, n);
            double area = sqrt(dot(n, n));
            if (area <= best) continue;
            best = area;
            for (int k = 0; k < 3; k++)
                at[k] = (p[faces[f][0]][k] + p[faces[f][1]][k] + p[faces[f][2]][k]) / 3 -
                        n[k] / area * 1e-4 * sqrt(area);
        }
        into[g] = -1;
        for (size_t h = 0; h < count && into[g] < 0; h++)
            if (winding(q, new_faces + gs[h], gc[h], at) > 0.5) into[g] = (int32_t)h;
    }
    return into;
}

/// The same collection with its bones in another order, siblings shuffled.
static rbl_collection *shuffle(rbl_context *ctx, const rbl_collection *c, uint32_t seed)
{
    size_t count = rbli_collection_size(c, "bone");
    rbl_collection *mixed = NULL;
    int32_t *order = malloc(count * sizeof *order), *place = malloc(count * sizeof *place), *values;
    assert_ok(ctx, rbli_collection_copy(ctx, c, &mixed));
    for (size_t b = 0; b < count; b++)
        order[b] = (int32_t)b;
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 5);
    for (size_t b = count; b-- > 2;) {
        size_t other = 1 + rbli_rng_below(&rng, (uint32_t)b);
        int32_t swap = order[b];
        order[b] = order[other];
        order[other] = swap;
    }
    for (size_t b = 0; b < count; b++)
        place[order[b]] = (int32_t)b;
    rbli_collection_remove_group(mixed, "connection");
    assert_ok(ctx, rbli_collection_gather(ctx, mixed, "bone", order, count));
    assert_ok(ctx, rbli_collection_write(ctx, mixed, "bone", "parent", RBL_INT32, (void **)&values));
    for (size_t b = 0; b < count; b++)
        if (values[b] >= 0) values[b] = place[values[b]];
    assert_ok(ctx, rbli_collection_write(ctx, mixed, "geometry", "bone", RBL_INT32, (void **)&values));
    for (size_t g = 0; g < rbli_collection_size(c, "geometry"); g++)
        values[g] = place[values[g]];
    assert_ok(ctx, rbli_hierarchy_sort(ctx, mixed));
    free(order);
    free(place);
    return mixed;
}

static void result_free(rbl_context *ctx, rbli_fix_tiny_result *r)
{
    rbli_collection_release(r->collection);
    rbli_free(ctx, r->bones);
    *r = (rbli_fix_tiny_result){0};
}

static bool said(rbl_context *ctx, const char *part)
{
    for (size_t i = 0; i < rbli_messages_count(ctx->messages); i++)
        if (strstr(rbli_messages_get(ctx->messages, i)->text, part)) return true;
    return false;
}

static void check_same_pieces(const rbl_collection *a, const rbl_collection *b)
{
    const int32_t *g = rbli_collection_read(a, "bone", "geometry", RBL_INT32);
    const int32_t *h = rbli_collection_read(b, "bone", "geometry", RBL_INT32);
    const double *v = rbli_collection_read(a, "geometry", "volume", RBL_DOUBLE);
    const double *w = rbli_collection_read(b, "geometry", "volume", RBL_DOUBLE);
    assert_int_equal(rbli_collection_size(a, "bone"), rbli_collection_size(b, "bone"));
    for (size_t i = 0; i < rbli_collection_size(a, "bone"); i++) {
        int32_t other = find_bone(b, rbli_collection_string(a, "bone", "name", i));
        assert_true(other >= 0 && (g[i] < 0) == (h[other] < 0));
        if (g[i] >= 0) assert_close(v[g[i]], w[h[other]], 1e-12 * v[g[i]]);
    }
}

static void unions_of_random_cuts_are_whole(void **state)
{
    (void)state;
    size_t seeds = tries(3, 40), walls = 0, apart = 0, runs = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t seed = 0; seed < seeds; seed++) {
            rbl_context *ctx = make_context(1), *threaded = make_context(3);
            rbl_collection *c = make_pieces(ctx, kind, seed), *mixed = shuffle(ctx, c, seed);
            rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
            options.relative_volume = kind == LEVELS ? 0.12 : 0.18;
            options.only_same_parent = options.on_fracture_level = kind != ACROSS;
            options.neighbor = (rbli_tiny_neighbor)(seed % 3);
            options.only_connected = kind != GROUT && seed % 5 != 4;
            rbli_fix_tiny_result r = {0}, s = {0}, t = {0};
            rbli_messages_clear(ctx->messages);
            assert_ok(ctx, rbli_fix_tiny(ctx, c, &options, &r));
            bool stayed = said(ctx, "inner walls");
            apart += stayed;
            runs++;
            assert_ok(ctx, rbli_collection_validate(ctx, r.collection, RBLI_VALIDATE_CLOSED));
            check_closed(r.collection);
            assert_close(volume_of(r.collection), volume_of(c), 1e-12 * volume_of(c));
            assert_true(r.count > 0);
            int32_t *into = find_unions(c, r.collection);
            walls += check_no_inner_walls(c, r.collection, into);
            free(into);
            assert_ok(ctx, rbli_fix_tiny(ctx, mixed, &options, &s));
            check_same_pieces(r.collection, s.collection);
            assert_ok(threaded, rbli_fix_tiny(threaded, c, &options, &t));
            assert_true(
                rbli_hash_equal(rbli_collection_hash(r.collection), rbli_collection_hash(t.collection)));
            result_free(ctx, &r);
            result_free(ctx, &s);
            result_free(threaded, &t);
            rbli_collection_release(mixed);
            rbli_collection_release(c);
            finish_context(ctx);
            finish_context(threaded);
        }
    printf("%zu runs, %zu inner walls gone, %zu runs with pieces that stayed apart\n", runs, walls, apart);
    assert_true(walls > 100 * runs / 7);
}

static void clusters_reach_across_grout(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_pieces(ctx, GROUT, 3);
    rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
    rbli_fix_tiny_result r = {0};
    options.relative_volume = 0.18;
    /* A union of parted pieces is none: they stay, and it is told why. */
    assert_ok(ctx, rbli_fix_tiny(ctx, c, &options, &r));
    assert_int_equal(r.count, 0);
    assert_true(said(ctx, "nothing touches them"));
    result_free(ctx, &r);
    options.merge = RBLI_TINY_CLUSTERS;
    assert_ok(ctx, rbli_fix_tiny(ctx, c, &options, &r));
    assert_true(r.count > 0);
    assert_ok(ctx, rbli_collection_validate(ctx, r.collection, RBLI_VALIDATE_CLOSED));
    const int32_t *type = rbli_collection_read(r.collection, "bone", "type", RBL_INT32);
    for (size_t i = 0; i < r.count; i++) {
        assert_int_equal(type[r.bones[i]], RBLI_BONE_CLUSTER);
        assert_non_null(
            strstr(rbli_collection_string(r.collection, "bone", "name", (size_t)r.bones[i]), "_merged"));
    }
    result_free(ctx, &r);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unions_of_random_cuts_are_whole),
        cmocka_unit_test(clusters_reach_across_grout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
