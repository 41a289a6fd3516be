#include <math.h>

#include "tests/nodes/node_help.h"

/* Breaking in two and three levels with chance_to_fracture: the hierarchy, volumes level by level, and that a
   collection holds the surface of its leaves and nothing else. */

#define LEVELS                                                                                               \
    "\"src\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"%s\", \"segments\": 16}},\n"           \
    "\"one\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"src\"}, \"params\": "               \
    "{\"min_sites\": "                                                                                       \
    "8, \"max_sites\": 8, \"seed\": %d}},\n"                                                                 \
    "\"two\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"one\", \"selection\": "             \
    "\"one.new_pieces\"}, \"params\": {\"min_sites\": 5, \"max_sites\": 9, \"chance_to_fracture\": 0.5, "    \
    "\"group_fracture\": %s, \"seed\": %d}},\n"                                                              \
    "\"three\": {\"type\": \"%s\", \"in\": {\"collection\": \"two\", \"selection\": \"two.new_pieces\"}, "   \
    "\"params\": {\"chance_to_fracture\": 0.3, \"seed\": %d}}"

static const int32_t *bone_ints(const rbl_collection *c, const char *name)
{
    return rbli_collection_read(c, "bone", name, RBL_INT32);
}

static const char *name_of(const rbl_collection *c, size_t bone)
{
    return rbli_collection_string(c, "bone", "name", bone);
}

/// Volume of all that is at or below each bone; freed by the caller.
static double *volumes_of(const rbl_collection *c)
{
    size_t bones = rbli_collection_size(c, "bone");
    const int32_t *parent = bone_ints(c, "parent"), *geometry = bone_ints(c, "geometry");
    const double *volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE);
    double *sum = calloc(bones, sizeof *sum);
    for (size_t b = bones; b-- > 0;) {
        if (geometry[b] >= 0) sum[b] += volume[geometry[b]];
        if (parent[b] >= 0) sum[parent[b]] += sum[b];
    }
    return sum;
}

/// Only leaves have geometry, all of it visible, and there is none that no leaf has.
static void check_surface(const rbl_collection *c)
{
    size_t bones = rbli_collection_size(c, "bone"), owned = 0, vertices = 0, faces = 0;
    const int32_t *parent = bone_ints(c, "parent"), *type = bone_ints(c, "type"),
                  *level = bone_ints(c, "level");
    const int32_t *geometry = bone_ints(c, "geometry");
    const int32_t *vertex_count = rbli_collection_read(c, "geometry", "vertex_count", RBL_INT32);
    const int32_t *face_count = rbli_collection_read(c, "geometry", "face_count", RBL_INT32);
    const bool *visible = rbli_collection_read(c, "face", "visible", RBL_BOOL);
    size_t *children = calloc(bones, sizeof *children);
    for (size_t b = 0; b < bones; b++) {
        assert_true(parent[b] < (int32_t)b);
        assert_int_equal(level[b], parent[b] < 0 ? 0 : level[parent[b]] + 1);
        if (parent[b] >= 0) children[parent[b]]++;
    }
    for (size_t b = 0; b < bones; b++) {
        assert_int_equal(type[b], children[b] ? RBLI_BONE_CLUSTER : RBLI_BONE_RIGID);
        assert_int_equal(geometry[b] >= 0, children[b] == 0);
        if (geometry[b] < 0) continue;
        owned++;
        vertices += (size_t)vertex_count[geometry[b]];
        faces += (size_t)face_count[geometry[b]];
    }
    assert_int_equal(owned, rbli_collection_size(c, "geometry"));
    assert_int_equal(vertices, rbli_collection_size(c, "vertex"));
    assert_int_equal(faces, rbli_collection_size(c, "face"));
    for (size_t f = 0; f < faces; f++)
        assert_true(visible[f]);
    free(children);
}

/// What `after` made of the bones of `before`: those cut became clusters one level above their pieces, named after them,
/// that add up to them; the others are as they were. @return how many were cut
static size_t check_level(const rbl_collection *before, const rbl_collection *after)
{
    size_t bones = rbli_collection_size(before, "bone"), cut = 0;
    const int32_t *type_before = bone_ints(before, "type"), *type = bone_ints(after, "type");
    const int32_t *parent = bone_ints(after, "parent");
    double *volume_before = volumes_of(before), *volume = volumes_of(after);
    for (size_t b = 0; b < bones; b++) {
        assert_string_equal(name_of(before, b), name_of(after, b));
        assert_int_equal(bone_ints(before, "parent")[b], parent[b]);
        assert_close(volume[b], volume_before[b], 1e-12);
        cut += type[b] != type_before[b];
    }
    for (size_t b = bones; b < rbli_collection_size(after, "bone"); b++) {
        size_t whole = (size_t)parent[b], length = strlen(name_of(after, whole));
        assert_true(whole < bones && type_before[whole] == RBLI_BONE_RIGID);
        assert_int_equal(strncmp(name_of(after, b), name_of(after, whole), length), 0);
        assert_int_equal(name_of(after, b)[length], '_');
    }
    free(volume_before);
    free(volume);
    return cut;
}

static void levels_add_up_and_hold_no_dead_geometry(void **state)
{
    (void)state;
    static const char *const shapes[] = {"box", "sphere"};
    static const char *const thirds[] = {"UniformFracture", "SliceCutter"};
    rbl_context *ctx = make_context(1);
    size_t cuts[3] = {0, 0, 0}, chosen = 0, count;
    for (int i = 0; i < 12; i++) {
        char text[1600];
        snprintf(text, sizeof text, LEVELS, shapes[i % 2], i, i % 4 < 2 ? "true" : "false", i,
            thirds[i % 3 == 2], i);
        graph_run g = run_nodes(text, RBL_OK);
        const rbl_collection *levels[4] = {collection_of(&g, "src"), collection_of(&g, "one"),
            collection_of(&g, "two"), collection_of(&g, "three")};
        for (int l = 1; l < 4; l++) {
            assert_ok(ctx, rbli_collection_validate(ctx, levels[l], RBLI_VALIDATE_CLOSED));
            check_surface(levels[l]);
            cuts[l - 1] += check_level(levels[l - 1], levels[l]);
        }
        /* bones of level 3 are there exactly where bones of level 2 were cut */
        const int32_t *level = bone_ints(levels[3], "level"), *parent = bone_ints(levels[3], "parent");
        for (size_t b = 0; b < rbli_collection_size(levels[3], "bone"); b++)
            if (level[b] == 4) assert_int_equal(level[parent[b]], 3);
        rbl_value_selection(rbl_run_value(g.run, "two.new_pieces"), &count);
        chosen += count;
        end_run(&g);
    }
    print_message("%zu of 12 cut, then %zu of 96, then %zu of %zu\n", cuts[0], cuts[1], cuts[2], chosen);
    assert_int_equal(cuts[0], 12);
    /* chances 0.5 and 0.3 within five standard deviations; a cell may hold a piece whole */
    assert_true(cuts[1] > 48 - 25 && cuts[1] < 48 + 25);
    assert_true(fabs((double)cuts[2] - 0.3 * (double)chosen) < 5 * sqrt(0.3 * 0.7 * (double)chosen));
    finish_context(ctx);
}

static void chance_of_one_and_none_cut_all_and_nothing(void **state)
{
    (void)state;
    static const char *const chances[] = {"0", "1"};
    for (int i = 0; i < 2; i++) {
        char text[900];
        snprintf(text, sizeof text,
            "\"src\": {\"type\": \"MakePrimitive\"},\n"
            "\"one\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"src\"}},\n"
            "\"two\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"one\"}, \"params\": "
            "{\"group_fracture\": false, \"slices\": [1, 0, 0], \"chance_to_fracture\": %s}}",
            chances[i]);
        graph_run g = run_nodes(text, RBL_OK);
        const rbl_collection *c = collection_of(&g, "two");
        size_t chosen;
        rbl_value_selection(rbl_run_value(g.run, "two.new_pieces"), &chosen);
        assert_int_equal(rbli_collection_size(c, "geometry"), i ? 64 : 32);
        assert_int_equal(chosen, i ? 64 : 0);
        check_surface(c);
        if (!i)
            assert_true(
                rbli_hash_equal(rbli_collection_hash(c), rbli_collection_hash(collection_of(&g, "one"))));
        end_run(&g);
    }
}

/// A collection takes the bytes of its faces, whatever was cut away on the way to them.
static void cut_geometry_takes_no_memory(void **state)
{
    (void)state;
    graph_run g = run_nodes(
        "\"src\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"sphere\", \"segments\": 64}},\n"
        "\"one\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"src\"}, \"params\": {\"slices\": "
        "[1, 0, "
        "0]}},\n"
        "\"two\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"one\"}, \"params\": {\"slices\": "
        "[0, 1, "
        "0]}},\n"
        "\"three\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"two\"}, \"params\": {\"slices\": "
        "[0, 0, "
        "1]}},\n"
        "\"once\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"src\"}, \"params\": {\"slices\": "
        "[1, 1, "
        "1]}}",
        RBL_OK);
    const rbl_collection *three = collection_of(&g, "three"), *once = collection_of(&g, "once");
    assert_int_equal(rbli_collection_size(three, "geometry"), 8);
    assert_int_equal(rbli_collection_size(once, "geometry"), 8);
    double bytes = (double)rbli_collection_bytes(once),
           more = (double)rbli_collection_size(three, "face") / (double)rbli_collection_size(once, "face");
    assert_true(more < 1.1); /* later cuts divide the faces of earlier ones */
    assert_true((double)rbli_collection_bytes(three) < 1.01 * more * bytes + 4096);
    end_run(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_add_up_and_hold_no_dead_geometry),
        cmocka_unit_test(chance_of_one_and_none_cut_all_and_nothing),
        cmocka_unit_test(cut_geometry_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
