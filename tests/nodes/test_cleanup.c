#include <math.h>

#include <unistd.h>

#include "fracture/collection/rbl_file.h"
#include "fracture/io/mesh_file.h"
#include "fracture/io/write.h"
#include "tests/nodes/node_help.h"

/* SplitIslands, CollisionSamples, RecomputeNormals, ValidateCollection, ExplodedView and ColorPieces. */

static double total_volume(const rbl_collection *c)
{
    const double *volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE);
    double sum = 0;
    for (size_t g = 0; g < rbli_collection_size(c, "geometry"); g++)
        sum += volume[g];
    return sum;
}

static void check_valid(const rbl_collection *c)
{
    rbl_context *ctx = make_context(1);
    assert_ok(ctx, rbli_collection_validate(ctx, c, RBLI_VALIDATE_CLOSED));
    finish_context(ctx);
}

/// A slab cut by a knife across its middle: the knife's inside, and two ends that are one piece as islands
/// are kept.
#define ENDS                                                                                                 \
    "\"slab\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"box\", \"size\": [4, 1, 1]}},\n"      \
    "\"knife\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"box\", \"size\": [1, 3, 3]}},\n"     \
    "\"cut\": {\"type\": \"MeshCutter\", \"in\": {\"collection\": \"slab\", \"cutter\": \"knife\"}, "        \
    "\"params\": {\"split_islands\": false, \"collision_samples\": true}},\n"

static void islands_are_split_unless_near(void **state)
{
    (void)state;
    static const char *const near[] = {"", "\"close_vertex_distance\": 1.001", "\"bridge_distance\": 1.001",
        "\"close_vertex_distance\": 0.999", "\"bridge_distance\": 0.999"};
    static const size_t parts[] = {2, 1, 1, 2, 2};
    for (int i = 0; i < 5; i++) {
        char text[1200], hashes[3][33];
        static const int threads[] = {1, 2, 8};
        snprintf(text, sizeof text,
            ENDS
            "\"split\": {\"type\": \"SplitIslands\", \"in\": {\"collection\": \"cut\"}, \"params\": {%s}}",
            near[i]);
        for (int t = 0; t < 3; t++) {
            graph_run g = run_nodes_with(text, RBL_OK, threads[t]);
            const rbl_collection *cut = collection_of(&g, "cut"), *c = collection_of(&g, "split.collection");
            size_t count;
            rbl_value_selection(rbl_run_value(g.run, "split.new_pieces"), &count);
            assert_int_equal(count, 1 + parts[i]);
            check_valid(c);
            assert_int_equal(rbli_collection_size(cut, "geometry"), 2);
            assert_int_equal(rbli_collection_size(c, "geometry"), 1 + parts[i]);
            assert_close(total_volume(c), 4, 1e-12);
            assert_int_equal(rbli_collection_size(c, "material"), rbli_collection_size(cut, "material"));
            if (parts[i] == 1)
                assert_true(rbli_hash_equal(rbli_collection_hash(c), rbli_collection_hash(cut)));
            rbl_collection_hash_text(c, hashes[t]);
            end_run(&g);
        }
        assert_string_equal(hashes[0], hashes[1]);
        assert_string_equal(hashes[0], hashes[2]);
    }
}

static void parts_are_numbered_and_keep_their_surface(void **state)
{
    (void)state;
    graph_run g =
        run_nodes(ENDS "\"split\": {\"type\": \"SplitIslands\", \"in\": {\"collection\": \"cut\"}}", RBL_OK);
    const rbl_collection *cut = collection_of(&g, "cut"), *c = collection_of(&g, "split.collection");
    const int32_t *site = rbli_collection_read(c, "bone", "site", RBL_INT32);
    const int32_t *type = rbli_collection_read(c, "bone", "type", RBL_INT32);
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    size_t bones = rbli_collection_size(cut, "bone");
    assert_int_equal(rbli_collection_size(c, "bone"), bones + 2);
    for (size_t i = 0; i < 2; i++) {
        char name[100];
        size_t whole = (size_t)parent[bones + i];
        snprintf(name, sizeof name, "%s_%zu", rbli_collection_string(c, "bone", "name", whole), i);
        assert_string_equal(rbli_collection_string(c, "bone", "name", bones + i), name);
        assert_int_equal(site[bones + i], i);
        assert_int_equal(type[whole], RBLI_BONE_CLUSTER);
        assert_int_equal(type[bones + i], RBLI_BONE_RIGID);
    }
    assert_int_equal(rbli_collection_size(c, "face"), rbli_collection_size(cut, "face"));
    assert_int_equal(rbli_collection_size(c, "vertex"), rbli_collection_size(cut, "vertex"));
    /* what belongs to faces is the same, in another order */
    double sums[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        const rbl_collection *of = i ? c : cut;
        const bool *internal = rbli_collection_read(of, "face", "internal", RBL_BOOL);
        const float(*uv)[2] = rbli_collection_read(of, "corner", "uv0", RBL_FLOAT_2);
        for (size_t f = 0; f < rbli_collection_size(of, "face"); f++)
            sums[i] += internal[f] ? 1000 : (double)uv[3 * f][0] + (double)uv[3 * f + 1][1];
    }
    assert_close(sums[0], sums[1], 1e-6);
    /* samples of the split piece are gone, those of the other stay */
    const rbli_buffer *samples = rbli_collection_buffer(c, "geometry", "collision_samples");
    const int32_t *vertices = rbli_collection_read(c, "geometry", "vertex_count", RBL_INT32);
    const uint64_t *at = rbli_buffer_offsets(samples);
    assert_true(at[1] > (uint64_t)vertices[0]);
    assert_int_equal(at[3], at[1]);
    end_run(&g);
}

static void cavities_stay_with_what_holds_them(void **state)
{
    (void)state;
    /* a slab with a hollow in each half, its halves apart: two parts with a cavity each */
    graph_run g = run_nodes(
        "\"slab\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"box\", \"size\": [4, 1, 1]}},\n"
        "\"ball\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"sphere\", \"size\": [0.5, 0.5, "
        "0.5], \"segments\": 12}},\n"
        "\"hollow\": {\"type\": \"MeshCutter\", \"in\": {\"collection\": \"slab\", \"cutter\": \"ball\"}},\n"
        "\"outer\": {\"type\": \"SelectByVolume\", \"in\": {\"collection\": \"hollow\"}, \"params\": "
        "{\"min\": "
        "1}},\n"
        "\"split\": {\"type\": \"SplitIslands\", \"in\": {\"collection\": \"hollow\", \"selection\": "
        "\"outer\"}}",
        RBL_OK);
    const rbl_collection *hollow = collection_of(&g, "hollow"), *c = collection_of(&g, "split");
    assert_true(rbli_hash_equal(rbli_collection_hash(hollow), rbli_collection_hash(c)));
    end_run(&g);
}

static void samples_are_vertices_and_points_of_the_surface(void **state)
{
    (void)state;
    const char *nodes = "\"row\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 3, \"growth\": 2}},\n"
                        "\"last\": {\"type\": \"SelectCustom\", \"in\": {\"collection\": \"row\"}, "
                        "\"params\": {\"bones\": \"3\"}},\n"
                        "\"all\": {\"type\": \"CollisionSamples\", \"in\": {\"collection\": \"row\"}},\n"
                        "\"one\": {\"type\": \"CollisionSamples\", \"in\": {\"collection\": \"all\", "
                        "\"selection\": \"last\"}, "
                        "\"params\": {\"spacing\": 10}}";
    char hashes[3][33];
    static const int threads[] = {1, 2, 8};
    for (int t = 0; t < 3; t++) {
        graph_run g = run_nodes_with(nodes, RBL_OK, threads[t]);
        const rbl_collection *all = collection_of(&g, "all"), *one = collection_of(&g, "one");
        check_valid(all);
        const rbli_buffer *samples = rbli_collection_buffer(all, "geometry", "collision_samples");
        const uint64_t *at = rbli_buffer_offsets(samples);
        const double(*points)[3] = rbli_buffer_data(samples);
        const double(*positions)[3] = rbli_collection_read(all, "vertex", "position", RBL_VEC3);
        for (size_t p = 0; p < 3; p++) {
            assert_memory_equal(points + at[p], positions + 8 * p, 8 * sizeof *points);
            assert_true(at[p + 1] - at[p] > 8 + (p ? at[p] - at[p - 1] - 8 : 0));
        }
        samples = rbli_collection_buffer(one, "geometry", "collision_samples");
        const uint64_t *at_one = rbli_buffer_offsets(samples);
        assert_int_equal(at_one[2], at[2]);
        assert_int_equal(at_one[3], at[2] + 8);
        rbl_collection_hash_text(all, hashes[t]);
        end_run(&g);
    }
    assert_string_equal(hashes[0], hashes[1]);
    assert_string_equal(hashes[0], hashes[2]);
    graph_run g = run_nodes("\"row\": {\"type\": \"test.Boxes\"},\n\"all\": {\"type\": \"CollisionSamples\", "
                            "\"in\": {\"collection\": \"row\"}, \"params\": {\"spacing\": 0.0001}}",
        RBL_ERR_LIMIT);
    assert_true(said(&g, "more than 2000000 samples would be needed"));
    end_run(&g);
}

static void json_tells_how_many_samples_there_are(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    graph_run g = run_nodes("\"row\": {\"type\": \"test.Boxes\"},\n\"all\": {\"type\": \"CollisionSamples\", "
                            "\"in\": {\"collection\": \"row\"}, \"params\": {\"spacing\": 2}}",
        RBL_OK);
    char path[100], text[4000] = "";
    snprintf(path, sizeof path, "/tmp/rubble_samples_%d.json", (int)getpid());
    for (int with = 0; with < 2; with++) {
        rbli_file_writer *writer = NULL;
        assert_ok(ctx, rbli_file_writer_open(ctx, path, &writer));
        assert_ok(ctx, rbli_write_json(ctx, collection_of(&g, with ? "all" : "row"), writer));
        assert_ok(ctx, rbli_file_writer_commit(ctx, writer));
        FILE *file = fopen(path, "rb");
        size_t count = fread(text, 1, sizeof text - 1, file);
        text[count] = 0;
        fclose(file);
        assert_int_equal(strstr(text, "\"collision_samples\": 8") != NULL, with);
    }
    unlink(path);
    end_run(&g);
    finish_context(ctx);
}

static void each_cutter_gives_its_pieces_samples(void **state)
{
    (void)state;
    static const char *const cutters[] = {
        "\"UniformFracture\", \"in\": {\"collection\": \"box\"}, \"params\": {",
        "\"SliceCutter\", \"in\": {\"collection\": \"box\"}, \"params\": {",
        "\"PlaneCutter\", \"in\": {\"collection\": \"box\"}, \"params\": {\"random_planes\": 2, ",
        "\"BrickCutter\", \"in\": {\"collection\": \"box\"}, \"params\": {\"length\": 1, \"grout\": 0.01, ",
        "\"MeshCutter\", \"in\": {\"collection\": \"box\", \"cutter\": \"knife\"}, \"params\": {",
    };
    for (size_t i = 0; i < sizeof cutters / sizeof *cutters; i++)
        for (int with = 0; with < 2; with++) {
            char text[1200];
            snprintf(text, sizeof text,
                "\"box\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"box\", \"size\": [4, 2, "
                "1]}},\n\"knife\": {\"type\": \"MakePrimitive\", \"params\": {\"size\": [1, 3, 3]}},\n"
                "\"cut\": {\"type\": %s\"collision_samples\": %s, \"collision_sample_spacing\": 0.3}},\n"
                "\"again\": {\"type\": \"CollisionSamples\", \"in\": {\"collection\": \"cut\"}, \"params\": "
                "{\"spacing\": 0.3}}",
                cutters[i], with ? "true" : "false");
            graph_run g = run_nodes(text, RBL_OK);
            const rbl_collection *c = collection_of(&g, "cut");
            check_valid(c);
            if (with)
                assert_true(rbli_hash_equal(
                    rbli_collection_hash(c), rbli_collection_hash(collection_of(&g, "again"))));
            else
                assert_null(rbli_collection_buffer(c, "geometry", "collision_samples"));
            end_run(&g);
        }
}

#define ROUGH                                                                                                \
    "\"ball\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"sphere\", \"segments\": 16}},\n"      \
    "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"ball\"}, \"params\": "              \
    "{\"min_sites\": 8, \"max_sites\": 8, \"noise\": {\"amplitude\": 0.02}}},\n"

static void rough_cuts_become_smooth(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 8};
    char hashes[3][33];
    for (int t = 0; t < 3; t++) {
        graph_run g = run_nodes_with(ROUGH
            "\"smooth\": {\"type\": \"RecomputeNormals\", \"in\": {\"collection\": \"cut\"}},\n"
            "\"all\": {\"type\": \"RecomputeNormals\", \"in\": {\"collection\": \"smooth\"}, \"params\": "
            "{\"only_internal\": false, \"sharp_edge_angle\": 0}},\n"
            "\"tangents\": {\"type\": \"RecomputeNormals\", \"in\": {\"collection\": \"cut\"}, \"params\": "
            "{\"only_tangents\": true}}",
            RBL_OK, threads[t]);
        const rbl_collection *cut = collection_of(&g, "cut"), *smooth = collection_of(&g, "smooth"),
                             *all = collection_of(&g, "all"), *tangents = collection_of(&g, "tangents");
        check_valid(smooth);
        check_valid(all);
        const float(*before)[3] = rbli_collection_read(cut, "corner", "normal", RBL_FLOAT_3);
        const float(*after)[3] = rbli_collection_read(smooth, "corner", "normal", RBL_FLOAT_3);
        const float(*flat)[3] = rbli_collection_read(all, "corner", "normal", RBL_FLOAT_3);
        const bool *internal = rbli_collection_read(cut, "face", "internal", RBL_BOOL);
        size_t changed = 0, faces = rbli_collection_size(cut, "face"), inner = 0;
        for (size_t f = 0; f < faces; f++) {
            bool same = memcmp(before[3 * f], after[3 * f], 3 * sizeof *before) == 0;
            inner += internal[f];
            changed += !same;
            if (!internal[f]) assert_true(same);
            for (int k = 0; k < 3; k++) {
                assert_close(flat[3 * f][k], flat[3 * f + 1][k], 1e-6);
                assert_close(flat[3 * f][k], flat[3 * f + 2][k], 1e-6);
            }
        }
        assert_true(inner > 500 && changed * 10 > inner * 9);
        assert_ptr_equal(rbli_collection_buffer(cut, "vertex", "position"),
            rbli_collection_buffer(smooth, "vertex", "position"));
        assert_ptr_equal(rbli_collection_buffer(cut, "corner", "normal"),
            rbli_collection_buffer(tangents, "corner", "normal"));
        assert_null(rbli_collection_buffer(cut, "corner", "tangent"));
        const float(*tangent)[4] = rbli_collection_read(tangents, "corner", "tangent", RBL_FLOAT_4);
        for (size_t c = 0; c < 3 * faces; c++) {
            double along = 0, length = 0;
            for (int k = 0; k < 3; k++) {
                along += (double)tangent[c][k] * (double)before[c][k];
                length += (double)tangent[c][k] * (double)tangent[c][k];
            }
            assert_close(along, 0, 1e-5);
            assert_close(length, 1, 1e-5);
            assert_true(tangent[c][3] == 1 || tangent[c][3] == -1);
        }
        rbl_collection_hash_text(all, hashes[t]);
        end_run(&g);
    }
    assert_string_equal(hashes[0], hashes[1]);
    assert_string_equal(hashes[0], hashes[2]);
}

static void cut_faces_get_the_tangents_of_their_uvs(void **state)
{
    (void)state;
    graph_run g = run_nodes(
        "\"ball\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"sphere\", \"segments\": 16}},\n"
        "\"with\": {\"type\": \"RecomputeNormals\", \"in\": {\"collection\": \"ball\"}},\n"
        "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"with\"}},\n"
        "\"again\": {\"type\": \"RecomputeNormals\", \"in\": {\"collection\": \"cut\"}, \"params\": "
        "{\"only_tangents\": true}}",
        RBL_OK);
    const rbl_collection *cut = collection_of(&g, "cut"), *again = collection_of(&g, "again");
    const float(*a)[4] = rbli_collection_read(cut, "corner", "tangent", RBL_FLOAT_4);
    const float(*b)[4] = rbli_collection_read(again, "corner", "tangent", RBL_FLOAT_4);
    const bool *internal = rbli_collection_read(cut, "face", "internal", RBL_BOOL);
    const float(*uv)[2] = rbli_collection_read(cut, "corner", "uv0", RBL_FLOAT_2);
    size_t compared = 0;
    for (size_t c = 0; c < rbli_collection_size(cut, "corner"); c++) {
        const float(*t)[2] = uv + 3 * (c / 3);
        double area = ((double)t[1][0] - t[0][0]) * ((double)t[2][1] - t[0][1]) -
                      ((double)t[2][0] - t[0][0]) * ((double)t[1][1] - t[0][1]);
        if (!internal[c / 3] || fabs(area) < 1e-4) continue; /* floats give slivers no direction */
        for (int k = 0; k < 4; k++)
            assert_close(a[c][k], b[c][k], 2e-3);
        compared++;
    }
    assert_true(compared > 1000);
    end_run(&g);
}

static void tangents_reach_files(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    graph_run g = run_nodes(
        ROUGH "\"smooth\": {\"type\": \"RecomputeNormals\", \"in\": {\"collection\": \"cut\"}}", RBL_OK);
    const rbl_collection *c = collection_of(&g, "smooth");
    char path[100];
    snprintf(path, sizeof path, "/tmp/rubble_tangents_%d.glb", (int)getpid());
    rbli_file_writer *writer = NULL;
    rbli_glb_report report;
    assert_ok(ctx, rbli_file_writer_open(ctx, path, &writer));
    assert_ok(
        ctx, rbli_write_glb(ctx, c, &(rbli_glb_options){.colliders = RBLI_COLLIDERS_NONE, .extras = true},
                 writer, &report));
    assert_ok(ctx, rbli_file_writer_commit(ctx, writer));
    rbli_mesh_file read = {0}, *file = &read;
    assert_ok(ctx, rbli_mesh_file_read(ctx, path, file));
    assert_non_null(file->tangents);
    /* every tangent of the collection comes back at its place */
    const float(*tangent)[4] = rbli_collection_read(c, "corner", "tangent", RBL_FLOAT_4);
    const double(*positions)[3] = rbli_collection_read(c, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    size_t corners = 3 * rbli_collection_size(c, "face");
    assert_int_equal(file->triangle_count * 3 + 3 * report.collapsed_triangles, corners);
    for (size_t a = 0; a < 3 * file->triangle_count; a += 37) {
        const double *p = file->positions[file->triangles[a / 3][a % 3]];
        bool found = false;
        for (size_t b = 0; b < corners && !found; b++) {
            const double *q = positions[faces[b / 3][b % 3]];
            double apart = 0;
            for (int k = 0; k < 3; k++)
                apart += fabs(p[k] - q[k]) + fabs((double)tangent[b][k] - (double)file->tangents[a][k]);
            found = apart < 1e-5 && tangent[b][3] == file->tangents[a][3];
        }
        assert_true(found);
    }
    rbli_mesh_file_free(ctx, file);
    unlink(path);
    uint8_t *bytes = NULL;
    size_t count;
    rbl_collection *back = NULL;
    assert_ok(ctx, rbli_rbl_encode(ctx, c, &bytes, &count));
    assert_ok(ctx, rbli_rbl_decode(ctx, "test", bytes, count, &back));
    assert_memory_equal(
        rbli_collection_read(back, "corner", "tangent", RBL_FLOAT_4), tangent, corners * sizeof *tangent);
    rbli_collection_release(back);
    rbli_free(ctx, bytes);
    end_run(&g);
    finish_context(ctx);
}

static void reports_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 8};
    char hashes[3][33], reports[3][1000];
    for (int t = 0; t < 3; t++) {
        graph_run g = run_nodes_with(ROUGH
            "\"look\": {\"type\": \"ValidateCollection\", \"in\": {\"collection\": \"cut\"}, "
            "\"params\": {\"remove_clusters_of_one\": true, \"remove_dangling_clusters\": true}}",
            RBL_OK, threads[t]);
        rbl_collection_hash_text(collection_of(&g, "look"), hashes[t]);
        snprintf(reports[t], sizeof reports[t], "%s", rbl_value_string(rbl_run_value(g.run, "look.report")));
        end_run(&g);
    }
    for (int t = 1; t < 3; t++) {
        assert_string_equal(hashes[0], hashes[t]);
        assert_string_equal(reports[0], reports[t]);
    }
}

static void collections_are_reported_and_tidied(void **state)
{
    (void)state;
    graph_run g = run_nodes(
        "\"row\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 2, \"group\": true}},\n"
        "\"all\": {\"type\": \"ValidateCollection\", \"in\": {\"collection\": \"row\"}},\n"
        "\"ball\": {\"type\": \"MakePrimitive\"},\n"
        "\"slice\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"ball\"}, \"params\": {\"slices\": "
        "[1, 0, 0]}},\n"
        "\"one\": {\"type\": \"ValidateCollection\", \"in\": {\"collection\": \"slice\"}, \"params\": "
        "{\"remove_clusters_of_one\": true, \"remove_dangling_clusters\": true}}",
        RBL_OK);
    assert_true(rbli_hash_equal(
        rbli_collection_hash(collection_of(&g, "row")), rbli_collection_hash(collection_of(&g, "all"))));
    const char *report = rbl_value_string(rbl_run_value(g.run, "all.report"));
    assert_non_null(strstr(report, "{\"valid\": true, \"fault\": null, \"pieces\": 4, \"open_pieces\": 0"));
    assert_true(rbl_value_number(rbl_run_value(g.run, "all.valid")) == 1);
    assert_true(said(&g, "4 pieces, all closed: valid"));
    /* root → box → two slices: the root stays, though it has one child */
    assert_true(rbli_hash_equal(
        rbli_collection_hash(collection_of(&g, "slice")), rbli_collection_hash(collection_of(&g, "one"))));
    end_run(&g);
    g = run_nodes("\"open\": {\"type\": \"test.Boxes\", \"params\": {\"size\": [1, 1, 0]}},\n"
                  "\"all\": {\"type\": \"ValidateCollection\", \"in\": {\"collection\": \"open\"}}",
        RBL_OK);
    assert_true(said(&g, "1 piece has no volume or is inside out (\"box_0\")"));
    end_run(&g);
}

static void colours_tell_apart_what_they_are_by(void **state)
{
    (void)state;
    static const char *const words[] = {"level", "bone", "cluster", "volume", "material"};
    /* two boxes of one size and a cluster with two cubes: geometries 0, 1 | 2, 3 */
    static const bool same[5][4][4] = {{{1, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 1}, {0, 0, 1, 1}},
        {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}},
        {{1, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 1}, {0, 0, 1, 1}},
        {{1, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 1}, {0, 0, 1, 1}},
        {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}};
    for (int w = 0; w < 5; w++) {
        char text[600];
        snprintf(text, sizeof text,
            "\"row\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 2, \"size\": [2, 1, 1], \"group\": "
            "true}},\n\"look\": {\"type\": \"ColorPieces\", \"in\": {\"collection\": \"row\"}, \"params\": "
            "{\"by\": \"%s\", \"seed\": 3}}",
            words[w]);
        graph_run g = run_nodes(text, RBL_OK);
        const rbl_collection *c = collection_of(&g, "look");
        const float(*color)[4] = rbli_collection_read(c, "corner", "color", RBL_FLOAT_4);
        const int32_t *start = rbli_collection_read(c, "geometry", "face_start", RBL_INT32);
        for (int a = 0; a < 4; a++) {
            for (int k = 0; k < 36; k++) /* one colour a piece */
                assert_memory_equal(color[3 * start[a] + k], color[3 * start[a]], sizeof *color);
            for (int k = 0; k < 3; k++)
                assert_true(color[3 * start[a]][k] >= 0 && color[3 * start[a]][k] <= 1);
            for (int b = 0; b < 4; b++)
                assert_int_equal(
                    memcmp(color[3 * start[a]], color[3 * start[b]], sizeof *color) == 0, same[w][a][b]);
        }
        end_run(&g);
    }
    graph_run g = run_nodes("\"row\": {\"type\": \"test.Boxes\"},\n\"look\": {\"type\": \"ColorPieces\", "
                            "\"in\": {\"collection\": \"row\"}}",
        RBL_OK);
    assert_non_null(rbli_collection_read(collection_of(&g, "look"), "corner", "color", RBL_FLOAT_4));
    end_run(&g);
}

static void exploded_views_move_by_their_scale(void **state)
{
    (void)state;
    static const char *const scales[] = {"0", "1", "-1", "2.5"};
    static const double factors[] = {0, 1, -1, 2.5};
    for (int i = 0; i < 4; i++) {
        char text[400];
        snprintf(text, sizeof text,
            "\"row\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 3}},\n\"apart\": {\"type\": "
            "\"ExplodedView\", \"in\": {\"collection\": \"row\"}, \"params\": {\"scale\": %s}}",
            scales[i]);
        graph_run g = run_nodes(text, RBL_OK);
        const double(*transform)[16] =
            rbli_collection_read(collection_of(&g, "apart"), "bone", "transform", RBL_MAT4);
        for (int b = 0; b < 3; b++)
            assert_close(transform[1 + b][12], factors[i] * (b - 1), 1e-12);
        if (i == 0)
            assert_true(rbli_hash_equal(rbli_collection_hash(collection_of(&g, "apart")),
                rbli_collection_hash(collection_of(&g, "row"))));
        end_run(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(islands_are_split_unless_near),
        cmocka_unit_test(parts_are_numbered_and_keep_their_surface),
        cmocka_unit_test(cavities_stay_with_what_holds_them),
        cmocka_unit_test(samples_are_vertices_and_points_of_the_surface),
        cmocka_unit_test(json_tells_how_many_samples_there_are),
        cmocka_unit_test(each_cutter_gives_its_pieces_samples),
        cmocka_unit_test(rough_cuts_become_smooth),
        cmocka_unit_test(cut_faces_get_the_tangents_of_their_uvs),
        cmocka_unit_test(tangents_reach_files),
        cmocka_unit_test(reports_do_not_depend_on_threads),
        cmocka_unit_test(collections_are_reported_and_tidied),
        cmocka_unit_test(colours_tell_apart_what_they_are_by),
        cmocka_unit_test(exploded_views_move_by_their_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
