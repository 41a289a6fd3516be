#include "tests/nodes/node_help.h"

#include <math.h>
#include <unistd.h>

/* ScatterPoints, MakePoints and BoundingBox. */

#define ROW "\"row\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 3}},\n"
#define SCATTER(params)                                                                                      \
    ROW "\"p\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"row\"}, \"params\": {" params "}}"

static void points_fill_the_box_and_the_first_ones_stay(void **state)
{
    (void)state;
    graph_run g = run_nodes(SCATTER("\"count\": 500, \"seed\": 9"), RBL_OK);
    graph_run h = run_nodes(SCATTER("\"count\": 700, \"seed\": 9"), RBL_OK);
    size_t count, more;
    const double(*p)[3] = points_of(&g, "p", &count), (*q)[3] = points_of(&h, "p", &more);
    double mean[3] = {0, 0, 0};
    assert_int_equal(count, 500);
    assert_int_equal(more, 700);
    assert_memory_equal(p, q, 500 * sizeof *p);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            assert_true(p[i][k] >= 0 && p[i][k] <= (k ? 1 : 3));
            mean[k] += p[i][k] / 500;
        }
    assert_close(mean[0], 1.5, 0.15);
    assert_close(mean[1], 0.5, 0.05);
    end_run(&g);
    end_run(&h);
}

static void distances_are_kept_and_misses_told(void **state)
{
    (void)state;
    graph_run g = run_nodes(SCATTER("\"count\": 2000, \"min_distance\": 0.3"), RBL_OK);
    size_t count;
    const double(*p)[3] = points_of(&g, "p", &count);
    assert_true(count > 60 && count < 400);
    assert_true(said(&g, "found no place far enough"));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            double x = p[i][0] - p[j][0], y = p[i][1] - p[j][1], z = p[i][2] - p[j][2];
            assert_true(x * x + y * y + z * z >= 0.3 * 0.3);
        }
    end_run(&g);
}

static void inside_only_and_relax_stay_inside(void **state)
{
    (void)state;
    graph_run g = run_nodes("\"ball\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"sphere\"}},\n"
                            "\"p\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"ball\"}, "
                            "\"params\": {\"count\": 300, \"inside_only\": true}},\n"
                            "\"r\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"ball\"}, "
                            "\"params\": {\"count\": 300, \"inside_only\": true, \"relax\": 3}}",
        RBL_OK);
    for (int way = 0; way < 2; way++) {
        size_t count;
        const double(*p)[3] = points_of(&g, way ? "r" : "p", &count);
        assert_int_equal(count, 300);
        for (size_t i = 0; i < count; i++)
            assert_true(p[i][0] * p[i][0] + p[i][1] * p[i][1] + p[i][2] * p[i][2] <= 0.25);
    }
    end_run(&g);
}

static void counts_are_drawn_between_limits(void **state)
{
    (void)state;
    bool differ = false;
    size_t first = 0;
    for (int seed = 0; seed < 5; seed++) {
        char nodes[500];
        snprintf(nodes, sizeof nodes, SCATTER("\"min_count\": 10, \"max_count\": 30, \"seed\": %d"), seed);
        graph_run g = run_nodes(nodes, RBL_OK);
        size_t count;
        points_of(&g, "p", &count);
        assert_true(count >= 10 && count <= 30);
        if (seed == 0) first = count;
        differ |= count != first;
        end_run(&g);
    }
    assert_true(differ);
}

static void boxes_are_measured(void **state)
{
    (void)state;
    graph_run g = run_nodes(ROW "\"box\": {\"type\": \"BoundingBox\", \"in\": {\"collection\": \"row\"}, "
                                "\"params\": {\"padding\": 0.5}},\n"
                                "\"p\": {\"type\": \"ScatterPoints\", \"in\": {\"box\": \"box\"}}",
        RBL_OK);
    double low[3], high[3];
    assert_true(rbl_value_box(rbl_run_value(g.run, "box"), low, high));
    assert_true(low[0] == -0.5 && high[0] == 3.5 && high[2] == 1.5);
    end_run(&g);
}

/// Runs MakePoints on a file with the given text.
static graph_run run_file(const char *text, rbl_status expected)
{
    char path[] = "/tmp/rubble-points-XXXXXX", nodes[300];
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    snprintf(nodes, sizeof nodes, "\"p\": {\"type\": \"MakePoints\", \"params\": {\"file\": \"%s\"}}", path);
    graph_run g = run_nodes(nodes, expected);
    unlink(path);
    return g;
}

static void points_come_from_lists_and_files(void **state)
{
    (void)state;
    size_t count;
    graph_run g = run_nodes(
        "\"p\": {\"type\": \"MakePoints\", \"params\": {\"points\": [[1, 2, 3], [0.1, 0, -1e-3]]}}", RBL_OK);
    const double(*p)[3] = points_of(&g, "p", &count);
    assert_int_equal(count, 2);
    assert_true(p[1][0] == 0.1 && p[1][2] == -1e-3);
    end_run(&g);
    g = run_file("[ [1,2,3],\n[4e0, 5.5, -6] ]\n", RBL_OK);
    p = points_of(&g, "p", &count);
    assert_int_equal(count, 2);
    assert_true(p[1][1] == 5.5);
    end_run(&g);
}

static void bad_points_are_errors(void **state)
{
    (void)state;
    const struct {
        const char *text, *said;
        rbl_status status;
    } files[] = {
        {"[]", "is empty", RBL_ERR_ARGUMENT},
        {"[[0,0,0],\n[1,1e999,2]]", ":2: point 1 is not finite", RBL_ERR_PARSE},
        {"[[0,0,0]", "the text ends", RBL_ERR_PARSE},
        {"[[0,0]]", "a comma", RBL_ERR_PARSE},
        {"[[0,0,0,0]]", "after three numbers", RBL_ERR_PARSE},
        {"[[0,0,0]] x", "the end", RBL_ERR_PARSE},
        {"{}", "a list", RBL_ERR_PARSE},
        {"", "the text ends", RBL_ERR_PARSE},
        {"[[\"a\",0,0]]", "a number", RBL_ERR_PARSE},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        graph_run g = run_file(files[i].text, files[i].status);
        assert_true(said(&g, files[i].said));
        end_run(&g);
    }
    const struct {
        const char *nodes, *said, *pointer;
    } refused[] = {
        {"\"p\": {\"type\": \"MakePoints\", \"params\": {\"points\": []}}", "is empty",
            "/nodes/p/params/points"},
        {"\"p\": {\"type\": \"MakePoints\"}", "no points are given", ""},
        {"\"p\": {\"type\": \"ScatterPoints\"}", "nothing to scatter in", ""},
        {SCATTER("\"min_count\": 5"), "given together", "/nodes/p/params/min_count"},
        {SCATTER("\"min_count\": 5, \"max_count\": 2"), "above max_count", "/nodes/p/params/min_count"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect_refused(refused[i].nodes, refused[i].said, refused[i].pointer);
    const struct {
        const char *nodes, *said, *pointer;
    } cases[] = {
        {ROW
            "\"b\": {\"type\": \"BoundingBox\", \"in\": {\"collection\": \"row\"}, \"params\": {\"padding\": "
            "-2}}",
            "leaves nothing", "/nodes/b/params/padding"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graph_run g = run_nodes(cases[i].nodes, RBL_ERR_ARGUMENT);
        assert_true(said(&g, cases[i].said));
        if (cases[i].pointer[0]) assert_string_equal(error_pointer(&g), cases[i].pointer);
        end_run(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_fill_the_box_and_the_first_ones_stay),
        cmocka_unit_test(distances_are_kept_and_misses_told),
        cmocka_unit_test(inside_only_and_relax_stay_inside),
        cmocka_unit_test(counts_are_drawn_between_limits),
        cmocka_unit_test(boxes_are_measured),
        cmocka_unit_test(points_come_from_lists_and_files),
        cmocka_unit_test(bad_points_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
