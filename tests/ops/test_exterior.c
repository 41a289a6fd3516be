/* The outside of pieces carries what the source has at the same points, however often and however roughly it was
 * cut: UVs, colours and the directions of normals. The oracle looks for the point on all triangles of the source. */

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/ops/fracture.h"
#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

enum { POINTS = 1000, SITES = 9, CUTS = 12 };

static const double source_box[1][2][3] = {{{-1, 0, 3}, {1, 0.75, 4.5}}};

static rbl_status make_cells(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    (void)facts;
    double sites[SITES][3];
    rbli_rng *rng = user;
    size_t first[2];
    for (int i = 0; i < SITES; i++)
        for (int k = 0; k < 3; k++)
            sites[i][k] = domain->object_min[k] +
                          (domain->object_max[k] - domain->object_min[k]) * rbli_rng_double(rng);
    size_t merged;
    return rbli_voronoi_complex(
        ctx, (const double(*)[3])sites, SITES, domain->box_min, domain->box_max, &merged, first, out);
}

/// A box whose corners have random UVs and colours, and normals that turn by up to 120 degrees on a face.
static rbl_collection *make_source(rbl_context *ctx, rbli_rng *rng)
{
    rbl_collection *c = make_boxes(ctx, 1, source_box);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    void *out;
    assert_ok(ctx, rbli_collection_write(ctx, c, "corner", "normal", RBL_FLOAT_3, &out));
    float(*normal)[3] = out;
    assert_ok(ctx, rbli_collection_write(ctx, c, "corner", "uv0", RBL_FLOAT_2, &out));
    float(*uv)[2] = out;
    assert_ok(ctx, rbli_collection_write(ctx, c, "corner", "color", RBL_FLOAT_4, &out));
    float(*color)[4] = out;
    for (size_t i = 0; i < 36; i++) {
        double n[3], length = 0;
        for (int k = 0; k < 3; k++) {
            n[k] = (double)normal[i][k] + 1.7 * (rbli_rng_double(rng) - 0.5);
            length += n[k] * n[k];
            color[i][k] = (float)rbli_rng_double(rng);
        }
        for (int k = 0; k < 3; k++)
            normal[i][k] = (float)(n[k] / sqrt(length));
        uv[i][0] = (float)(4 * rbli_rng_double(rng) - 2);
        uv[i][1] = (float)rbli_rng_double(rng);
        color[i][3] = 1;
    }
    return c;
}

static void minus(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Whether a point is on a triangle within 1e-9; its weights.
static bool weights_of(
    const double (*positions)[3], const int32_t face[3], const double point[3], double out[3])
{
    double u[3], v[3], w[3];
    minus(positions[face[1]], positions[face[0]], u);
    minus(positions[face[2]], positions[face[0]], v);
    minus(point, positions[face[0]], w);
    double uu = dot3(u, u), uv = dot3(u, v), vv = dot3(v, v), wu = dot3(w, u), wv = dot3(w, v);
    double d = uu * vv - uv * uv, rest = 0;
    out[1] = (vv * wu - uv * wv) / d;
    out[2] = (uu * wv - uv * wu) / d;
    out[0] = 1 - out[1] - out[2];
    for (int k = 0; k < 3; k++) {
        double off = w[k] - out[1] * u[k] - out[2] * v[k];
        rest += off * off;
    }
    return rest < 1e-18 && out[0] > -1e-9 && out[1] > -1e-9 && out[2] > -1e-9;
}

/// What a collection has at a point of a face: the normal's direction, UV, colour.
static void values_at(const rbl_collection *c, size_t face, const double weights[3], double out[9])
{
    static const struct {
        const char *name;
        rbl_type type;
        size_t width;
    } what[] = {{"normal", RBL_FLOAT_3, 3}, {"uv0", RBL_FLOAT_2, 2}, {"color", RBL_FLOAT_4, 4}};
    size_t at = 0;
    for (size_t i = 0; i < 3; i++) {
        const float *values = rbli_collection_read(c, "corner", what[i].name, what[i].type);
        for (size_t k = 0; k < what[i].width; k++, at++) {
            out[at] = 0;
            for (size_t j = 0; j < 3; j++)
                out[at] += weights[j] * (double)values[(3 * face + j) * what[i].width + k];
        }
    }
    double length = sqrt(dot3(out, out));
    for (int k = 0; k < 3; k++)
        out[k] /= length;
}

/// Compares random points of outer faces, chosen by area, with the source.
static void check_points(
    const rbl_collection *source, const rbl_collection *pieces, rbli_rng *rng, uint32_t seed)
{
    const double(*p)[3] = rbli_collection_read(pieces, "vertex", "position", RBL_VEC3);
    const double(*q)[3] = rbli_collection_read(source, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(pieces, "face", "vertices", RBL_INT32_3);
    const int32_t(*source_faces)[3] = rbli_collection_read(source, "face", "vertices", RBL_INT32_3);
    const bool *internal = rbli_collection_read(pieces, "face", "internal", RBL_BOOL);
    size_t count = rbli_collection_size(pieces, "face"), shortened = 0;
    const float(*normals)[3] = rbli_collection_read(pieces, "corner", "normal", RBL_FLOAT_3);
    for (size_t c = 0; c < 3 * count; c++)
        shortened += (double)normals[c][0] * (double)normals[c][0] +
                         (double)normals[c][1] * (double)normals[c][1] +
                         (double)normals[c][2] * (double)normals[c][2] <
                     0.9;
    assert_true(shortened > 20); /* else there is nothing to see */
    for (int i = 0; i < POINTS;) {
        size_t f = rbli_rng_below(rng, (uint32_t)count);
        if (internal[f]) continue;
        double a = rbli_rng_double(rng), b = rbli_rng_double(rng), point[3], at[3], mine[9], other[9],
               best = 9;
        const double weights[3] = {a < b ? a : b, a < b ? b - a : a - b, 1 - (a < b ? b : a)};
        for (int k = 0; k < 3; k++)
            point[k] = weights[0] * p[faces[f][0]][k] + weights[1] * p[faces[f][1]][k] +
                       weights[2] * p[faces[f][2]][k];
        values_at(pieces, f, weights, mine);
        for (size_t s = 0; s < 12; s++) {
            if (!weights_of(q, source_faces[s], point, at)) continue;
            double error = 0;
            values_at(source, s, at, other);
            for (int k = 0; k < 9; k++)
                error = fmax(error, fabs(mine[k] - other[k]));
            best = fmin(best, error);
        }
        if (!(best <= 1e-6))
            print_error("seed %u: %g at %g %g %g\n", seed, best, point[0], point[1], point[2]);
        assert_true(best <= 1e-6);
        i++;
    }
}

static rbl_collection *cut(
    rbl_context *ctx, const rbl_collection *c, rbli_rng *rng, double noise, double grout)
{
    rbli_fracture_options options = rbli_fracture_default_options();
    options.make_complex = make_cells;
    options.user = rng;
    options.noise.noise.amplitude = noise;
    options.grout = grout;
    rbli_fracture_result r = {0};
    assert_ok(ctx, rbli_fracture(ctx, c, &options, &r));
    assert_ok(ctx, rbli_collection_validate(ctx, r.collection, RBLI_VALIDATE_CLOSED));
    rbli_free(ctx, r.new_bones);
    return r.collection;
}

static void points_of_pieces_have_the_values_of_the_source(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= CUTS; seed++) {
        rbl_context *ctx = make_context(2);
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 77);
        rbl_collection *source = make_source(ctx, &rng);
        rbl_collection *once = cut(ctx, source, &rng, seed % 3 == 1 ? 0.05 : 0, seed % 4 == 1 ? 0.02 : 0);
        check_points(source, once, &rng, seed);
        rbl_collection *twice = cut(ctx, once, &rng, 0, 0);
        check_points(source, twice, &rng, seed);
        rbli_collection_release(source);
        rbli_collection_release(once);
        rbli_collection_release(twice);
        finish_context(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_of_pieces_have_the_values_of_the_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
