#include "tests/nodes/node_help.h"

#include <math.h>
#include <unistd.h>

#ifdef RUBBLE_HAVE_PNG
#include <png.h>
#endif

#define BOX "\"box\": {\"type\": \"test.Boxes\", \"params\": {\"size\": [4, 2, 1]}},\n"
#define POINTS(type, params)                                                                                 \
    BOX "\"p\": {\"type\": \"" type "\", \"in\": {\"collection\": \"box\"}, \"params\": {" params "}}"

static bool inside(const double p[3])
{
    return p[0] >= 0 && p[0] <= 4 && p[1] >= 0 && p[1] <= 2 && p[2] >= 0 && p[2] <= 1;
}

static void patterns_fill_the_box_of_the_collection(void **state)
{
    (void)state;
    size_t count;
    graph_run g = run_nodes(POINTS("GridScatterPoints", ""), RBL_OK);
    const double(*p)[3] = points_of(&g, "p", &count);
    assert_int_equal(count, 125);
    assert_close(p[0][0], 0.4, 1e-15);
    assert_close(p[124][1], 1.8, 1e-15);
    end_run(&g);

    g = run_nodes(POINTS("RadialScatterPoints", "\"radius\": 1, \"center\": [0, 0, 0.25]"), RBL_OK);
    p = points_of(&g, "p", &count);
    assert_int_equal(count, 25);
    assert_close(p[20][0], 3, 1e-15); /* the last ring's first point: centre of the box + radius along x */
    assert_close(p[20][1], 1, 1e-15);
    assert_close(p[20][2], 0.75, 1e-15);
    end_run(&g);

    g = run_nodes("\"p\": {\"type\": \"RadialScatterPoints\", \"params\": {\"angle_offset\": 90}}", RBL_OK);
    p = points_of(&g, "p", &count);
    assert_close(p[20][0], 0, 1e-15);
    assert_close(p[20][1], 0.5, 1e-15);
    end_run(&g);

    g = run_nodes(POINTS("ClusterScatterPoints", "\"seed\": 3"), RBL_OK);
    points_of(&g, "p", &count);
    assert_in_range(count, 16, 240);
    end_run(&g);
}

static void points_in_and_on_pieces(void **state)
{
    (void)state;
    size_t count;
    graph_run g = run_nodes(POINTS("VolumePoints", "\"count\": 50"), RBL_OK);
    const double(*p)[3] = points_of(&g, "p", &count);
    assert_int_equal(count, 50);
    for (size_t i = 0; i < count; i++) {
        assert_true(inside(p[i]));
        for (size_t j = 0; j < i; j++) {
            double x = p[i][0] - p[j][0], y = p[i][1] - p[j][1], z = p[i][2] - p[j][2];
            assert_true(
                x * x + y * y + z * z > 0.25 * 0.25); /* a cube of a 50th of the volume has edge 0.54 */
        }
    }
    end_run(&g);

    g = run_nodes(POINTS("SurfacePoints", "\"radius\": 0.2"), RBL_OK);
    p = points_of(&g, "p", &count);
    assert_in_range(count, 28 * 0.4 / 0.1257, 28 * 0.7 / 0.1257); /* covered: about half of the area 28 */
    end_run(&g);

    g = run_nodes(
        POINTS("ImpactPoints", "\"at\": [[0, 0, 0], [4, 2, 1]], \"count\": 30, \"falloff\": \"squared\""),
        RBL_OK);
    p = points_of(&g, "p", &count);
    assert_int_equal(count, 70);
    for (size_t i = 0; i < count; i++)
        assert_true(inside(p[i]));
    assert_true(p[29][0] <= 0.5 && p[59][0] >= 3.5);
    end_run(&g);

    g = run_nodes(POINTS("MeshVertexPoints", "\"normal_offset\": 0.5"), RBL_OK);
    p = points_of(&g, "p", &count);
    assert_int_equal(count, 8);
    assert_true(p[0][0] < 0 && p[0][1] < 0 && p[0][2] < 0);
    assert_close(p[0][0] * p[0][0] + p[0][1] * p[0][1] + p[0][2] * p[0][2], 0.25, 1e-12);
    end_run(&g);
    g = run_nodes(
        POINTS("MeshVertexPoints", "\"skip_fraction\": 0.5, \"skip_mode\": \"uniform_spacing\""), RBL_OK);
    points_of(&g, "p", &count);
    assert_int_equal(count, 4);
    end_run(&g);
}

static void lists_are_joined_moved_and_filtered(void **state)
{
    (void)state;
    size_t count;
    graph_run g = run_nodes(BOX
        "\"a\": {\"type\": \"MakePoints\", \"params\": {\"points\": [[1, 1, 0.5], [5, 1, 0.5]]}},\n"
        "\"b\": {\"type\": \"MakePoints\", \"params\": {\"points\": [[2, 1, 0.5], [4, 2, 1]]}},\n"
        "\"all\": {\"type\": \"AppendPoints\", \"in\": {\"points\": [\"a\", \"b\", \"a\"]}},\n"
        "\"in\": {\"type\": \"FilterPoints\", \"in\": {\"points\": \"all\", \"collection\": \"box\"}},\n"
        "\"out\": {\"type\": \"FilterPoints\", \"in\": {\"points\": \"all\", \"collection\": \"box\"}, "
        "\"params\": {\"keep\": \"outside\"}},\n"
        "\"none\": {\"type\": \"FilterPoints\", \"in\": {\"points\": \"out\", \"collection\": \"box\"}},\n"
        "\"moved\": {\"type\": \"TransformPoints\", \"in\": {\"points\": \"a\"}, \"params\": {\"scale\": [2, "
        "1, 1], "
        "\"rotate\": [0, 0, 90], \"translate\": [0, 0, 3], \"pivot\": [1, 1, 0]}}",
        RBL_OK);
    const double(*p)[3] = points_of(&g, "all", &count);
    assert_int_equal(count, 6);
    assert_close(p[2][0], 2, 0);
    p = points_of(&g, "in", &count);
    assert_int_equal(count, 4); /* the corner of the box counts */
    p = points_of(&g, "out", &count);
    assert_int_equal(count, 2);
    assert_close(p[0][0], 5, 0);
    points_of(&g, "none", &count);
    assert_int_equal(count, 0);
    assert_true(said(&g, "none of 2 points is kept"));
    p = points_of(&g, "moved", &count);
    assert_close(p[1][0], 1, 1e-14);
    assert_close(p[1][1], 9, 1e-14);
    assert_close(p[1][2], 3.5, 0);
    end_run(&g);
}

/* The boxes' corners have uv0 = (x, y), so an image whose right half is white paints x from ½ to 1. */
static void painted_parts_get_the_points(void **state)
{
    (void)state;
    size_t count;
    graph_run g =
        run_nodes("\"box\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 2}},\n"
                  "\"p\": {\"type\": \"DensityPoints\", \"in\": {\"collection\": \"box\"}, \"params\": "
                  "{\"attribute\": \"site\"}}",
            RBL_ERR_ARGUMENT);
    assert_true(said(&g, "nowhere above 0"));
    assert_string_equal(error_pointer(&g), "/nodes/p/params/attribute");
    end_run(&g);
    /* face.visible is 1 everywhere; uv0 has no number. */
    g = run_nodes(POINTS("DensityPoints", "\"attribute\": \"visible\", \"count\": 40"), RBL_OK);
    points_of(&g, "p", &count);
    assert_int_equal(count, 40);
    end_run(&g);
    g = run_nodes(POINTS("DensityPoints", "\"attribute\": \"uv0\""), RBL_ERR_TYPE);
    end_run(&g);
    g = run_nodes(POINTS("DensityPoints", ""), RBL_ERR_NOT_FOUND);
    assert_true(said(&g, "no attribute \"color\""));
    end_run(&g);
#ifdef RUBBLE_HAVE_PNG
    char path[] = "/tmp/rubble-paint-XXXXXX", nodes[2000];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    png_byte pixels[4][8];
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 8; x++)
            pixels[y][x] = x < 4 ? 0 : 255;
    png_image image = {.version = PNG_IMAGE_VERSION, .width = 8, .height = 4, .format = PNG_FORMAT_GRAY};
    assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
    snprintf(nodes, sizeof nodes,
        "\"box\": {\"type\": \"test.Boxes\"},\n\"p\": {\"type\": \"DensityPoints\", \"in\": {\"collection\": "
        "\"box\"}, \"params\": {\"image\": \"%s\"}}",
        path);
    g = run_nodes(nodes, RBL_OK);
    const double(*p)[3] = points_of(&g, "p", &count);
    assert_int_equal(count, 60);
    size_t painted = 0;
    for (size_t i = 0; i < count; i++)
        painted += p[i][0] > 0.5;
    assert_true(painted > 50); /* the rest sits between pixels, and where the image repeats at the border */
    end_run(&g);
    FILE *damaged = fopen(path, "w");
    fputs("not a picture", damaged);
    fclose(damaged);
    g = run_nodes(nodes, RBL_ERR_PARSE);
    assert_true(said(&g, "this is no PNG file"));
    end_run(&g);
    remove(path);
#endif
}

static void faults_are_told_at_their_place(void **state)
{
    (void)state;
    const struct {
        const char *nodes;
        rbl_status status;
        const char *said, *pointer;
    } cases[] = {
        {"\"p\": {\"type\": \"GridScatterPoints\"}", RBL_ERR_GRAPH, "there is nothing to fill", "/nodes/p"},
        {"\"p\": {\"type\": \"ClusterScatterPoints\"}", RBL_ERR_GRAPH, "there is nothing to fill",
            "/nodes/p"},
        {POINTS("GridScatterPoints", "\"count\": [200, 200, 200]"), RBL_ERR_LIMIT, "8000000 points",
            "/nodes/p/params/count"},
        {POINTS("RadialScatterPoints", "\"normal\": [0, 0, 0]"), RBL_ERR_ARGUMENT, "the normal is zero",
            "/nodes/p/params/normal"},
        {POINTS("ClusterScatterPoints", "\"clusters_min\": 9"), RBL_ERR_ARGUMENT,
            "clusters_max is smaller than clusters_min", ""},
        {POINTS("SurfacePoints", "\"radius\": 0.0001"), RBL_ERR_LIMIT, "the least radius for it is 0.00231",
            ""},
        {POINTS("SurfacePoints", "\"radius\": 0"), RBL_ERR_ARGUMENT, "greater than 0",
            "/nodes/p/params/radius"},
        {POINTS("SurfacePoints", "\"max_radius\": 0.05"), RBL_ERR_ARGUMENT, "smaller than radius",
            "/nodes/p/params/max_radius"},
        {POINTS("ImpactPoints", "\"at\": [[0, 0, 0], [9, 0, 0]]"), RBL_ERR_ARGUMENT,
            "the impact at (9, 0, 0) with its radius of 0.5 reaches no piece", "/nodes/p/params/at/1"},
        {POINTS("ImpactPoints", "\"at\": []"), RBL_ERR_ARGUMENT, "there is no impact", "/nodes/p/params/at"},
        {POINTS("MeshVertexPoints", "\"skip_fraction\": 1"), RBL_ERR_ARGUMENT, "skip less",
            "/nodes/p/params/skip_fraction"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].status == RBL_ERR_GRAPH) { /* seen when the graph is loaded */
            expect_refused(cases[i].nodes, cases[i].said, cases[i].pointer);
            continue;
        }
        graph_run g = run_nodes(cases[i].nodes, cases[i].status);
        assert_true(said(&g, cases[i].said));
        if (cases[i].pointer[0]) assert_string_equal(error_pointer(&g), cases[i].pointer);
        end_run(&g);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const char *const nodes[] = {POINTS("VolumePoints", ""), POINTS("SurfacePoints", ""),
        POINTS("ImpactPoints", "\"at\": [[1, 1, 1]]"), POINTS("DensityPoints", "\"attribute\": \"visible\"")};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        size_t count, other_count;
        graph_run one = run_nodes_with(nodes[i], RBL_OK, 1), many = run_nodes_with(nodes[i], RBL_OK, 3);
        const double(*p)[3] = points_of(&one, "p", &count), (*q)[3] = points_of(&many, "p", &other_count);
        assert_int_equal(count, other_count);
        assert_memory_equal(p, q, count * sizeof *p);
        end_run(&one);
        end_run(&many);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_fill_the_box_of_the_collection),
        cmocka_unit_test(points_in_and_on_pieces),
        cmocka_unit_test(lists_are_joined_moved_and_filtered),
        cmocka_unit_test(painted_parts_get_the_points),
        cmocka_unit_test(faults_are_told_at_their_place),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
