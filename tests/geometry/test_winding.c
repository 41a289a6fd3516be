/// Winding numbers of boxes whose answer is known, and of a sphere that is turned at random.

#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/winding.h"

typedef struct boxes {
    double positions[800][3];
    int32_t triangles[1200][3];
    size_t vertex_count, triangle_count;
} boxes;

static void add_box(boxes *b, const double min[3], const double max[3], bool inverted)
{
    static const int32_t quads[6][4] = {
        {0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    int32_t v = (int32_t)b->vertex_count;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            b->positions[v + i][k] = i >> k & 1 ? max[k] : min[k];
    b->vertex_count += 8;
    for (int q = 0; q < 6; q++)
        for (int half = 0; half < 2; half++) {
            int32_t *t = b->triangles[b->triangle_count++];
            t[0] = v + quads[q][0];
            t[inverted ? 2 : 1] = v + quads[q][1 + half];
            t[inverted ? 1 : 2] = v + quads[q][2 + half];
        }
}

static rbli_winding *make_winding(rbl_context *ctx, const boxes *b)
{
    rbli_mesh_view view = {b->positions, b->vertex_count, b->triangles, b->triangle_count};
    rbli_winding *winding = NULL;
    assert_ok(ctx, rbli_winding_create(ctx, &view, &winding));
    return winding;
}

/// Integer boxes and half-integer points: rays along faces, edges and vertices, points on the surface too.
static void overlapping_boxes_are_counted(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint64_t seed = 0; seed < 40; seed++) {
        boxes *b = calloc(1, sizeof *b);
        double box[5][2][3];
        rbli_rng rng = rbli_rng_make(31, RBLI_RNG_TEST, seed);
        for (int i = 0; i < 5; i++) {
            for (int k = 0; k < 3; k++) {
                box[i][0][k] = rbli_rng_below(&rng, 4);
                box[i][1][k] = box[i][0][k] + 1 + rbli_rng_below(&rng, 3);
            }
            add_box(b, box[i][0], box[i][1], i == 4);
        }
        rbli_winding *winding = make_winding(ctx, b);
        for (int p = 0; p < 15 * 15 * 15; p++) {
            double point[3] = {0.5 * (p % 15) - 0.5, 0.5 * (p / 15 % 15) - 0.5, 0.5 * (p / 225) - 0.5};
            int expected = 0;
            bool on_some = false, touches = false;
            for (int i = 0; i < 5; i++) {
                bool inside = true, closed = true;
                for (int k = 0; k < 3; k++) {
                    inside &= point[k] > box[i][0][k] && point[k] < box[i][1][k];
                    closed &= point[k] >= box[i][0][k] && point[k] <= box[i][1][k];
                }
                expected += inside ? (i == 4 ? -1 : 1) : 0;
                on_some |= closed && !inside;
            }
            int32_t number = rbli_winding_number(winding, point, &touches);
            assert_int_equal(touches, on_some);
            if (!on_some) assert_int_equal(number, expected);
            if (!on_some) assert_int_equal(rbli_winding_number(winding, point, NULL), expected);
        }
        rbli_winding_destroy(ctx, winding);
        free(b);
    }
    finish_context(ctx);
}

static void far_and_tiny_meshes_are_the_same(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static const double scales[] = {1, 0x1p-60, 0x1p60, 1e-200, 1e200};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        boxes *b = calloc(1, sizeof *b);
        double s = scales[i], shift = i == 0 ? 1e6 : 0;
        add_box(b, (double[]){shift, shift, shift}, (double[]){shift + s, shift + s, shift + s}, false);
        rbli_winding *winding = make_winding(ctx, b);
        const double at[4] = {-0.01, 0.01, 0.99, 1.01};
        for (int p = 0; p < 64; p++) {
            double point[3] = {shift + s * at[p % 4], shift + s * at[p / 4 % 4], shift + s * at[p / 16]};
            bool inside = true;
            for (int k = 0; k < 3; k++)
                inside &= point[k] > shift && point[k] < shift + s;
            assert_int_equal(rbli_winding_number(winding, point, NULL), inside);
        }
        assert_int_equal(rbli_winding_number(winding, (double[]){NAN, 0, 0}, NULL), 0);
        rbli_winding_destroy(ctx, winding);
        free(b);
    }
    finish_context(ctx);
}

static void deep_points_are_inside(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    boxes *b = calloc(1, sizeof *b);
    double point[3];
    add_box(b, (double[]){0, 0, 0}, (double[]){8, 8, 8}, false);
    add_box(b, (double[]){1, 1, 1}, (double[]){7, 7, 7}, true);
    rbli_winding *winding = make_winding(ctx, b);
    assert_true(rbli_winding_deep_point(winding, false, point));
    assert_int_equal(rbli_winding_number(winding, point, NULL), 1);
    assert_false(rbli_winding_deep_point(winding, true, point));
    rbli_winding_destroy(ctx, winding);

    memset(b, 0, sizeof *b);
    add_box(b, (double[]){0, 0, 0}, (double[]){1000, 1000, 0x1p-10}, true);
    winding = make_winding(ctx, b);
    assert_true(rbli_winding_deep_point(winding, true, point));
    assert_int_equal(rbli_winding_number(winding, point, NULL), -1);
    assert_false(rbli_winding_deep_point(winding, false, point));
    rbli_winding_destroy(ctx, winding);

    memset(b, 0, sizeof *b); /* nothing at all */
    winding = make_winding(ctx, b);
    assert_int_equal(rbli_winding_number(winding, (double[]){0, 0, 0}, NULL), 0);
    assert_false(rbli_winding_deep_point(winding, false, point));
    rbli_winding_destroy(ctx, winding);
    free(b);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_boxes_are_counted),
        cmocka_unit_test(far_and_tiny_meshes_are_the_same),
        cmocka_unit_test(deep_points_are_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
