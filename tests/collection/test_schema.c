#include "tests/check.h"

#include "fracture/base/rng.h"
#include "tests/failing_alloc.h"
#include "tests/make_asset.h"

static void an_empty_asset_is_valid(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    assert_ok(ctx, rbli_collection_create_empty_asset(ctx, &asset));
    assert_int_equal(rbli_collection_group_count(asset), 6);
    assert_int_equal(rbli_collection_attribute_count(asset, "bone"), 9);
    assert_ok(ctx, rbli_collection_validate(ctx, asset, RBLI_VALIDATE_CLOSED));
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void a_row_of_cubes_is_valid(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads *= 2) {
        rbl_context *ctx = make_context(threads);
        rbl_collection *asset = NULL;
        assert_ok(ctx, make_cube_row(ctx, 100, &asset));
        assert_ok(ctx, rbli_collection_validate(ctx, asset, RBLI_VALIDATE_CLOSED));
        assert_string_equal(rbli_collection_string(asset, "bone", "name", 100), "cube_100");
        rbli_collection_release(asset);
        finish_context(ctx);
    }
}

/// One fault: what is written where, the level that finds it, and the message.
typedef struct fault {
    const char *group, *name;
    rbl_type type;
    size_t scalar; /* index of the scalar that is changed */
    double value;
    rbli_validate_level level;
    const char *message;
} fault;

static const fault faults[] = {
    {"bone", "parent", RBL_INT32, 2, 2, RBLI_VALIDATE_RANGES,
        "bone.parent: bone 2 has parent 2, which does not come before it"},
    {"bone", "parent", RBL_INT32, 2, -2, RBLI_VALIDATE_RANGES,
        "bone.parent: bone 2 has parent -2, which does not come before it"},
    {"bone", "level", RBL_INT32, 3, 2, RBLI_VALIDATE_RANGES, "bone.level: bone 3 has level 2 instead of 1"},
    {"bone", "type", RBL_INT32, 0, 2, RBLI_VALIDATE_RANGES, "bone.type: element 0 is 2, not in 0 … 1"},
    {"bone", "type", RBL_INT32, 1, 0, RBLI_VALIDATE_RANGES,
        "bone.geometry: bone 1 is a cluster and has geometry 0"},
    {"bone", "simulation_type", RBL_INT32, 1, 4, RBLI_VALIDATE_RANGES,
        "bone.simulation_type: element 1 is 4, not in 0 … 3"},
    {"bone", "transform", RBL_MAT4, 16 + 3, 1, RBLI_VALIDATE_RANGES,
        "bone.transform: bone 1 has a last row that is not 0 0 0 1"},
    {"bone", "transform", RBL_MAT4, 16 + 1, 1.0 / 0.0, RBLI_VALIDATE_RANGES,
        "bone.transform: element 1 has a number that is not finite"},
    {"bone", "geometry", RBL_INT32, 1, 4, RBLI_VALIDATE_RANGES,
        "bone.geometry: element 1 is 4, not in -1 … 3"},
    {"bone", "geometry", RBL_INT32, 1, 2, RBLI_VALIDATE_RANGES,
        "bone.geometry: bone 1 has geometry 2, which belongs to bone 3"},
    {"bone", "geometry", RBL_INT32, 1, -1, RBLI_VALIDATE_RANGES,
        "geometry.bone: geometry 0 belongs to bone 1, which has geometry -1"},
    {"bone", "site", RBL_INT32, 1, -2, RBLI_VALIDATE_RANGES,
        "bone.site: element 1 is -2, not in -1 … 2147483647"},
    {"bone", "anchored", RBL_BOOL, 1, 2, RBLI_VALIDATE_RANGES, "bone.anchored: element 1 is 2, not 0 or 1"},
    {"geometry", "bone", RBL_INT32, 1, 5, RBLI_VALIDATE_RANGES,
        "geometry.bone: element 1 is 5, not in 0 … 4"},
    {"geometry", "vertex_start", RBL_INT32, 1, 33, RBLI_VALIDATE_RANGES,
        "geometry.vertex_start: element 1 is 33, not in 0 … 32"},
    {"geometry", "vertex_start", RBL_INT32, 1, 7, RBLI_VALIDATE_GEOMETRY,
        "geometry.vertex_start: geometry 1 starts at 7 instead of 8"},
    {"geometry", "face_count", RBL_INT32, 3, 11, RBLI_VALIDATE_GEOMETRY,
        "geometry.face_count: all geometries together have 47 of 48"},
    {"geometry", "bounds_max", RBL_VEC3, 1, 2, RBLI_VALIDATE_GEOMETRY,
        "geometry.bounds: geometry 0 has 0 … 2 along y where its vertices have 0 … 1"},
    {"geometry", "volume", RBL_DOUBLE, 1, 2, RBLI_VALIDATE_GEOMETRY,
        "geometry.volume: geometry 1 has 2 where its faces have 1"},
    {"vertex", "position", RBL_VEC3, 30, 0.0 / 0.0, RBLI_VALIDATE_RANGES,
        "vertex.position: element 10 has a number that is not finite"},
    {"face", "vertices", RBL_INT32_3, 4, 32, RBLI_VALIDATE_RANGES,
        "face.vertices: element 1 is 32, not in 0 … 31"},
    {"face", "vertices", RBL_INT32_3, 4, 8, RBLI_VALIDATE_GEOMETRY,
        "face.vertices: face 1 of geometry 0 has vertex 8, outside its 0 … 7"},
    {"face", "vertices", RBL_INT32_3, 4, 0, RBLI_VALIDATE_GEOMETRY,
        "face.vertices: face 1 has a vertex twice (0, 0, 1)"},
    {"face", "material", RBL_INT32, 7, 2, RBLI_VALIDATE_RANGES,
        "face.material: element 7 is 2, not in 0 … 1"},
    {"face", "origin", RBL_INT32, 7, -2, RBLI_VALIDATE_RANGES,
        "face.origin: element 7 is -2, not in -1 … 2147483647"},
    {"corner", "normal", RBL_FLOAT_3, 2, 1.5, RBLI_VALIDATE_GEOMETRY,
        "corner.normal: corner 0 of face 0 has length 1.5, not above 0 and at most 1"},
    {"corner", "uv0", RBL_FLOAT_2, 8, 1.0 / 0.0, RBLI_VALIDATE_RANGES,
        "corner.uv0: element 4 has a number that is not finite"},
    {"convex", "bone", RBL_INT32, 1, -1, RBLI_VALIDATE_RANGES, "convex.bone: element 1 is -1, not in 0 … 4"},
    {"convex", "volume", RBL_DOUBLE, 2, 3, RBLI_VALIDATE_CLOSED,
        "convex.volume: hull 2 has 3 where its faces have 1"},
    {"proximity", "geometries", RBL_INT32_2, 1, 0, RBLI_VALIDATE_RANGES,
        "proximity.geometries: element 0 is 0, 0, which is not ascending"},
    {"proximity", "area", RBL_DOUBLE, 1, -2, RBLI_VALIDATE_RANGES,
        "proximity.area: element 1 is -2, neither an area nor -1"},
    {"connection", "bones", RBL_INT32_2, 2, 0, RBLI_VALIDATE_RANGES,
        "connection.bones: element 1 joins bones 0 and 3, which are not siblings"},
    {"connection", "bones", RBL_INT32_2, 2, 9, RBLI_VALIDATE_RANGES,
        "connection.bones: element 1 is 9, not in 0 … 4"},
};

static void put_scalar(void *elements, rbl_type type, size_t index, double value)
{
    switch (type) {
    case RBL_BOOL:
        ((uint8_t *)elements)[index] = (uint8_t)value;
        break;
    case RBL_INT32:
    case RBL_INT32_2:
    case RBL_INT32_3:
        ((int32_t *)elements)[index] = (int32_t)value;
        break;
    case RBL_FLOAT_2:
    case RBL_FLOAT_3:
        ((float *)elements)[index] = (float)value;
        break;
    default:
        ((double *)elements)[index] = value;
    }
}

static void expect_invalid(
    rbl_context *ctx, const rbl_collection *asset, rbli_validate_level level, const char *message)
{
    if (level > RBLI_VALIDATE_RANGES)
        assert_ok(ctx, rbli_collection_validate(ctx, asset, (rbli_validate_level)(level - 1)));
    rbli_messages_clear(ctx->messages);
    for (int above = level; above <= RBLI_VALIDATE_CLOSED; above++) {
        rbli_messages_clear(ctx->messages);
        assert_int_equal(
            rbli_collection_validate(ctx, asset, (rbli_validate_level)above), RBL_ERR_COLLECTION);
        assert_int_equal(rbli_messages_count(ctx->messages), 1);
        assert_string_equal(rbli_messages_get(ctx->messages, 0)->text, message);
    }
}

static void each_fault_is_found_and_named(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    rbl_collection *good = NULL;
    assert_ok(ctx, make_cube_row(ctx, 4, &good));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        rbl_collection *bad = NULL;
        void *elements;
        assert_ok(ctx, rbli_collection_copy(ctx, good, &bad));
        assert_ok(
            ctx, rbli_collection_write(ctx, bad, faults[i].group, faults[i].name, faults[i].type, &elements));
        put_scalar(elements, faults[i].type, faults[i].scalar, faults[i].value);
        expect_invalid(ctx, bad, faults[i].level, faults[i].message);
        rbli_collection_release(bad);
    }
    rbli_collection_release(good);
    finish_context(ctx);
}

static void set_names(
    rbl_context *ctx, rbl_collection *asset, const char *group, size_t count, const char *const *names)
{
    rbli_buffer *buffer = NULL;
    assert_ok(ctx, rbli_buffer_create_strings(ctx, count, names, &buffer));
    assert_ok(ctx, rbli_collection_set(ctx, asset, group, "name", buffer));
    rbli_buffer_release(buffer);
}

static void missing_and_misnamed_things_are_found(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *good = NULL, *bad = NULL;
    void *elements;
    assert_ok(ctx, make_cube_row(ctx, 2, &good));

    assert_ok(ctx, rbli_collection_copy(ctx, good, &bad));
    rbli_collection_remove_group(bad, "corner");
    expect_invalid(ctx, bad, RBLI_VALIDATE_RANGES, "the group corner is missing");
    rbli_collection_release(bad);

    assert_ok(ctx, rbli_collection_copy(ctx, good, &bad));
    rbli_collection_remove(bad, "convex", "volume");
    expect_invalid(ctx, bad, RBLI_VALIDATE_RANGES, "convex.volume is missing");
    rbli_collection_release(bad);

    assert_ok(ctx, rbli_collection_copy(ctx, good, &bad));
    assert_ok(ctx, rbli_collection_write(ctx, bad, "vertex", "position", RBL_FLOAT_3, &elements));
    expect_invalid(ctx, bad, RBLI_VALIDATE_RANGES, "vertex.position has type float_3 instead of vec3");
    assert_ok(ctx, rbli_collection_write(ctx, bad, "bone", "name", RBL_CHAR, &elements));
    expect_invalid(ctx, bad, RBLI_VALIDATE_RANGES, "bone.name has type char instead of list of char");
    rbli_collection_release(bad);

    assert_ok(ctx, rbli_collection_copy(ctx, good, &bad));
    assert_ok(ctx, rbli_collection_resize(ctx, bad, "corner", 71));
    expect_invalid(ctx, bad, RBLI_VALIDATE_RANGES, "corner: 71 elements where 24 faces have 72");
    rbli_collection_release(bad);

    assert_ok(ctx, rbli_collection_copy(ctx, good, &bad));
    set_names(ctx, bad, "bone", 3, (const char *const[]){"x", "y", "x"});
    expect_invalid(
        ctx, bad, RBLI_VALIDATE_RANGES, "bone.name: element 2 has the same name \"x\" as element 0");
    set_names(ctx, bad, "bone", 3, (const char *const[]){"x", "", "z"});
    expect_invalid(ctx, bad, RBLI_VALIDATE_RANGES, "bone.name: bone 1 has an empty name");
    set_names(ctx, bad, "bone", 3, (const char *const[]){"x", "\xc3\xa4", "\xc3"});
    expect_invalid(ctx, bad, RBLI_VALIDATE_RANGES, "bone.name: element 2 is not UTF-8 without zero bytes");
    rbli_collection_release(bad);
    rbli_collection_release(good);
    finish_context(ctx);
}

static void only_sheets_may_be_open(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    rbl_collection *asset = NULL;
    int32_t(*vertices)[3];
    double *volume;
    bool *sheet;
    assert_ok(ctx, make_cube_row(ctx, 30, &asset));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "face", "vertices", RBL_INT32_3, (void **)&vertices));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "geometry", "volume", RBL_DOUBLE, (void **)&volume));
    /* Turning a face round leaves its edges without partners. */
    int32_t *face = vertices[12 * 20 + 3], swapped = face[1];
    face[1] = face[2];
    face[2] = swapped;
    assert_int_equal(rbli_collection_validate(ctx, asset, RBLI_VALIDATE_GEOMETRY), RBL_ERR_COLLECTION);
    volume[20] -= 1.0 / 3;
    expect_invalid(ctx, asset, RBLI_VALIDATE_CLOSED,
        "face.vertices: geometry 20 (bone \"cube_21\") is not closed at the edge between vertices 164 and "
        "166");
    assert_ok(ctx, rbli_collection_write(ctx, asset, "bone", "sheet", RBL_BOOL, (void **)&sheet));
    sheet[21] = true;
    assert_ok(ctx, rbli_collection_validate(ctx, asset, RBLI_VALIDATE_CLOSED));
    rbli_collection_release(asset);
    finish_context(ctx);
}

static size_t count_directed(const int32_t (*faces)[3], int32_t from, int32_t to)
{
    size_t count = 0;
    for (size_t f = 0; f < 12; f++)
        for (int k = 0; k < 3; k++)
            count += faces[f][k] == from && faces[f][(k + 1) % 3] == to;
    return count;
}

/// By the definition: each edge has one face on each side.
static bool find_open_edge_slowly(const int32_t (*faces)[3], int32_t edge[2])
{
    for (edge[0] = 0; edge[0] < 8; edge[0]++)
        for (edge[1] = edge[0] + 1; edge[1] < 8; edge[1]++) {
            size_t there = count_directed(faces, edge[0], edge[1]),
                   back = count_directed(faces, edge[1], edge[0]);
            if (there + back > 0 && (there != 1 || back != 1)) return true;
        }
    return false;
}

static double volume_of(const int32_t (*faces)[3])
{
    double sum = 0;
    for (size_t f = 0; f < 12; f++) {
        const double *p = unit_cube_positions[faces[f][0]], *q = unit_cube_positions[faces[f][1]],
                     *r = unit_cube_positions[faces[f][2]];
        sum += p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) +
               p[2] * (q[0] * r[1] - q[1] * r[0]);
    }
    return sum / 6;
}

/// Turns faces round, puts copies of others in their place and moves corners.
static void spoil_faces(rbli_rng *rng, int32_t (*faces)[3])
{
    for (uint32_t i = rbli_rng_below(rng, 4); i-- > 0;) {
        int32_t *face = faces[rbli_rng_below(rng, 12)], swapped = face[0];
        uint32_t corner = rbli_rng_below(rng, 3), other = rbli_rng_below(rng, 12);
        switch (rbli_rng_below(rng, 3)) {
        case 0:
            face[0] = face[1], face[1] = swapped;
            break;
        case 1:
            memmove(face, faces[other], sizeof *faces);
            break;
        default:
            face[corner] = (int32_t)rbli_rng_below(rng, 8);
            while (face[corner] == face[(corner + 1) % 3] || face[corner] == face[(corner + 2) % 3])
                face[corner] = (int32_t)rbli_rng_below(rng, 8);
        }
    }
}

static void open_edges_are_those_of_the_definition(void **state)
{
    (void)state;
    size_t closed = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        rbl_context *ctx = make_context(1);
        rbl_collection *asset = NULL;
        rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, seed);
        int32_t(*faces)[3], edge[2];
        double *volume;
        char message[200];
        assert_ok(ctx, make_cube_row(ctx, 1, &asset));
        assert_ok(ctx, rbli_collection_write(ctx, asset, "face", "vertices", RBL_INT32_3, (void **)&faces));
        assert_ok(ctx, rbli_collection_write(ctx, asset, "geometry", "volume", RBL_DOUBLE, (void **)&volume));
        spoil_faces(&rng, faces);
        volume[0] = volume_of((const int32_t(*)[3])faces);
        bool open = find_open_edge_slowly((const int32_t(*)[3])faces, edge);
        snprintf(message, sizeof message,
            "face.vertices: geometry 0 (bone \"cube\") is not closed at the edge between vertices %d and "
            "%d",
            (int)edge[0], (int)edge[1]);
        rbl_status status = rbli_collection_validate(ctx, asset, RBLI_VALIDATE_CLOSED);
        const char *said =
            rbli_messages_count(ctx->messages) ? rbli_messages_get(ctx->messages, 0)->text : "";
        if (status != (open ? RBL_ERR_COLLECTION : RBL_OK) || strcmp(said, open ? message : "") != 0)
            fail_msg("seed %d: \"%s\" where \"%s\" was expected", (int)seed, said, open ? message : "");
        closed += !open;
        rbli_collection_release(asset);
        finish_context(ctx);
    }
    assert_in_range(closed, 40, 300);
}

/// Large arrays are checked in blocks: the first fault is named, whoever finds it.
static void the_first_of_many_faults_is_named(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads *= 2) {
        rbl_context *ctx = make_context(threads);
        rbl_collection *asset = NULL;
        double(*position)[3];
        assert_ok(ctx, make_cube_row(ctx, 20000, &asset));
        assert_ok(ctx, rbli_collection_write(ctx, asset, "vertex", "position", RBL_VEC3, (void **)&position));
        for (size_t v = 70001; v < 160000; v += 29999)
            position[v][1] = 1.0 / 0.0;
        expect_invalid(ctx, asset, RBLI_VALIDATE_RANGES,
            "vertex.position: element 70001 has a number that is not finite");
        rbli_collection_release(asset);
        finish_context(ctx);
    }
}

static void hulls_must_be_convex(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    rbli_buffer *points = NULL;
    double dented[2][8][3];
    assert_ok(ctx, make_cube_row(ctx, 2, &asset));
    memcpy(dented[0], unit_cube_positions, sizeof dented[0]);
    memcpy(dented[1], unit_cube_positions, sizeof dented[1]);
    dented[1][7][0] = dented[1][7][1] = dented[1][7][2] = 0.25;
    assert_ok(ctx, rbli_buffer_create_list(ctx, RBL_VEC3, 2, (uint64_t[]){0, 8, 16}, dented, &points));
    assert_ok(ctx, rbli_collection_set(ctx, asset, "convex", "points", points));
    rbli_buffer_release(points);
    assert_ok(ctx, rbli_collection_validate(ctx, asset, RBLI_VALIDATE_GEOMETRY));
    assert_int_equal(rbli_collection_validate(ctx, asset, RBLI_VALIDATE_CLOSED), RBL_ERR_COLLECTION);
    const char *text = rbli_messages_get(ctx->messages, 0)->text;
    assert_non_null(strstr(text, "convex.points: hull 1 is not convex: point"));
    rbli_collection_release(asset);
    finish_context(ctx);
}

static rbl_status make_and_validate(rbl_context *ctx, void *user)
{
    (void)user;
    rbl_collection *asset = NULL;
    rbl_status status;
    RBL_TRY(make_cube_row(ctx, 5, &asset));
    RBL_TRY(rbli_collection_validate(ctx, asset, RBLI_VALIDATE_CLOSED));
done:
    rbli_collection_release(asset);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(make_and_validate, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_asset_is_valid),
        cmocka_unit_test(a_row_of_cubes_is_valid),
        cmocka_unit_test(each_fault_is_found_and_named),
        cmocka_unit_test(missing_and_misnamed_things_are_found),
        cmocka_unit_test(only_sheets_may_be_open),
        cmocka_unit_test(open_edges_are_those_of_the_definition),
        cmocka_unit_test(the_first_of_many_faults_is_named),
        cmocka_unit_test(hulls_must_be_convex),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
