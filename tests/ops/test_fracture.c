#include <math.h>

#include "fracture/ops/fracture.h"
#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

typedef struct planes {
    const double (*data)[4];
    size_t count;
    size_t calls;
} planes;

static rbl_status make_planes(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    (void)facts;
    planes *p = user;
    p->calls++;
    return rbli_plane_complex(ctx, p->data, p->count, domain->box_min, domain->box_max, NULL, out);
}

static const double two_boxes[2][2][3] = {{{0, 0, 0}, {2, 1, 1}}, {{5, 0, 0}, {6, 1, 1}}};
static const double middle[1][4] = {{1, 0, 0, 0.5}};

static rbl_collection *measured_boxes(rbl_context *ctx, size_t count, const double (*boxes)[2][3])
{
    rbl_collection *c = make_boxes(ctx, count, boxes);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

static void cut_bone_becomes_a_cluster_of_closed_pieces(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    rbl_collection *c = measured_boxes(ctx, 2, two_boxes);
    rbli_hash before = rbli_collection_hash(c);
    planes p = {middle, 1, 0};
    rbli_fracture_options options = rbli_fracture_default_options();
    options.make_complex = make_planes;
    options.user = &p;
    rbli_fracture_result r = {0};
    assert_ok(ctx, rbli_fracture(ctx, c, &options, &r));
    assert_true(rbli_hash_equal(before, rbli_collection_hash(c)));
    assert_ok(ctx, rbli_collection_validate(ctx, r.collection, RBLI_VALIDATE_CLOSED));

    assert_int_equal(p.calls, 1);
    assert_int_equal(r.cut_count, 1);
    assert_int_equal(r.new_count, 3); /* two pieces, and the box that one cell holds whole */
    assert_int_equal(rbli_collection_size(r.collection, "bone"), 5);
    const int32_t *type = rbli_collection_read(r.collection, "bone", "type", RBL_INT32);
    const int32_t *level = rbli_collection_read(r.collection, "bone", "level", RBL_INT32);
    const int32_t *parent = rbli_collection_read(r.collection, "bone", "parent", RBL_INT32);
    const int32_t *geometry = rbli_collection_read(r.collection, "bone", "geometry", RBL_INT32);
    const int32_t *site = rbli_collection_read(r.collection, "bone", "site", RBL_INT32);
    assert_int_equal(type[1], RBLI_BONE_CLUSTER);
    assert_int_equal(geometry[1], -1);
    assert_int_equal(type[2], RBLI_BONE_RIGID);
    assert_int_equal(parent[3], 1);
    assert_int_equal(level[4], 2);
    assert_true(site[3] != site[4] && site[3] >= 0);
    assert_string_equal(rbli_collection_string(r.collection, "bone", "name", 3), "box_0_0");
    assert_string_equal(rbli_collection_string(r.collection, "bone", "name", 4), "box_0_1");

    const double *volume = rbli_collection_read(r.collection, "geometry", "volume", RBL_DOUBLE);
    assert_int_equal(rbli_collection_size(r.collection, "geometry"), 3);
    assert_close(volume[geometry[2]], 1, 1e-15);
    assert_close(volume[geometry[3]] + volume[geometry[4]], 2, 1e-14);
    assert_close(
        volume[geometry[3]] < volume[geometry[4]] ? volume[geometry[3]] : volume[geometry[4]], 0.5, 1e-14);
    for (size_t g = 0; g < 3; g++)
        assert_closed(r.collection, g);
    rbli_collection_release(r.collection);
    rbli_free(ctx, r.new_bones);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void caps_have_material_normals_uvs_and_contacts(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = measured_boxes(ctx, 1, two_boxes);
    planes p = {middle, 1, 0};
    rbli_fracture_options options = rbli_fracture_default_options();
    options.make_complex = make_planes;
    options.user = &p;
    options.internal_material = "core";
    rbli_fracture_result r = {0};
    assert_ok(ctx, rbli_fracture(ctx, c, &options, &r));
    const bool *internal = rbli_collection_read(r.collection, "face", "internal", RBL_BOOL);
    const int32_t *material = rbli_collection_read(r.collection, "face", "material", RBL_INT32);
    const float(*normal)[3] = rbli_collection_read(r.collection, "corner", "normal", RBL_FLOAT_3);
    const double(*positions)[3] = rbli_collection_read(r.collection, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(r.collection, "face", "vertices", RBL_INT32_3);
    const float(*uv)[2] = rbli_collection_read(r.collection, "corner", "uv0", RBL_FLOAT_2);
    double cap_uv_area = 0, sides = 0;
    for (size_t f = 0; f < rbli_collection_size(r.collection, "face"); f++) {
        bool in_plane = true;
        for (int k = 0; k < 3; k++)
            in_plane = in_plane && positions[faces[f][k]][0] == 0.5;
        assert_int_equal(internal[f], in_plane);
        assert_string_equal(rbli_collection_string(r.collection, "material", "name", (size_t)material[f]),
            in_plane ? "core" : "paint");
        if (!in_plane) continue;
        const float *a = uv[3 * f], *b = uv[3 * f + 1], *d = uv[3 * f + 2];
        double twice =
            ((double)b[0] - a[0]) * ((double)d[1] - a[1]) - ((double)b[1] - a[1]) * ((double)d[0] - a[0]);
        cap_uv_area += (twice < 0 ? -twice : twice) / 2;
        sides += normal[3 * f][0];
        assert_close(normal[3 * f][0] * normal[3 * f][0], 1, 1e-6);
    }
    assert_close(sides, 0, 1e-9); /* one side looks left, one right */
    /* UVs of the box are (x, y): two faces of area 2 keep theirs, all others collapse; 4 of 10 units of area
     */
    assert_close(cap_uv_area, 2 * 0.4, 1e-5);
    const int32_t(*pairs)[2] = rbli_collection_read(r.collection, "contact", "geometries", RBL_INT32_2);
    assert_int_equal(rbli_collection_size(r.collection, "contact"), 1);
    assert_int_equal(pairs[0][0] + pairs[0][1], 1);
    assert_close(
        *(const double *)rbli_collection_read(r.collection, "contact", "area", RBL_DOUBLE), 1, 1e-14);
    rbli_collection_release(r.collection);
    rbli_free(ctx, r.new_bones);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void chance_and_selection_choose_bones(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double boxes[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 2, 0}, {1, 3, 1}}};
    rbl_collection *c = measured_boxes(ctx, 2, boxes);
    planes p = {middle, 1, 0};
    rbli_fracture_options options = rbli_fracture_default_options();
    options.make_complex = make_planes;
    options.user = &p;
    options.chance = 0;
    rbli_fracture_result r = {0};
    assert_ok(ctx, rbli_fracture(ctx, c, &options, &r));
    assert_int_equal(r.new_count, 0);
    assert_true(rbli_hash_equal(rbli_collection_hash(c), rbli_collection_hash(r.collection)));
    rbli_collection_release(r.collection);
    rbli_free(ctx, r.new_bones);

    options.chance = 1;
    options.group = false;
    const int32_t second = 2;
    rbli_selection *selection = NULL;
    assert_ok(ctx, rbli_selection_create(ctx, c, &second, 1, &selection));
    options.selection = selection;
    assert_ok(ctx, rbli_fracture(ctx, c, &options, &r));
    assert_int_equal(r.cut_count, 1);
    assert_int_equal(rbli_collection_size(r.collection, "bone"), 5);
    /* the selection does not fit what came out */
    rbli_fracture_result again = {0};
    assert_int_equal(rbli_fracture(ctx, r.collection, &options, &again), RBL_ERR_COLLECTION);
    rbli_collection_release(r.collection);
    rbli_free(ctx, r.new_bones);
    rbli_selection_release(selection);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void moved_bones_are_cut_where_they_stand(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = measured_boxes(ctx, 1, two_boxes);
    void *out;
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "transform", RBL_MAT4, &out));
    double *m = ((double(*)[16])out)[1]; /* a quarter turn about z and a step: x' = −y + 10, y' = x */
    const double turned[16] = {0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 10, 0, 0, 1};
    memcpy(m, turned, sizeof turned);
    const double plane[1][4] = {{0, 1, 0, 0.25}}; /* y' = 0.25 is x = 0.25 in the bone */
    planes p = {plane, 1, 0};
    rbli_fracture_options options = rbli_fracture_default_options();
    options.make_complex = make_planes;
    options.user = &p;
    rbli_fracture_result r = {0};
    assert_ok(ctx, rbli_fracture(ctx, c, &options, &r));
    const double *volume = rbli_collection_read(r.collection, "geometry", "volume", RBL_DOUBLE);
    assert_close(volume[0] < volume[1] ? volume[0] : volume[1], 0.25, 1e-13);
    rbli_collection_release(r.collection);
    rbli_free(ctx, r.new_bones);
    rbli_collection_release(c);
    finish_context(ctx);
}

static double sheet_area(const rbl_collection *c, size_t geometry)
{
    int32_t start = ((const int32_t *)rbli_collection_read(c, "geometry", "face_start", RBL_INT32))[geometry];
    int32_t count = ((const int32_t *)rbli_collection_read(c, "geometry", "face_count", RBL_INT32))[geometry];
    const double(*p)[3] = rbli_collection_read(c, "vertex", "position", RBL_VEC3);
    const int32_t(*f)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    double sum = 0;
    for (int32_t t = start; t < start + count; t++) {
        double u[3], v[3];
        for (int k = 0; k < 3; k++) {
            u[k] = p[f[t][1]][k] - p[f[t][0]][k];
            v[k] = p[f[t][2]][k] - p[f[t][0]][k];
        }
        double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
        sum += 0.5 * sqrt(x * x + y * y + z * z);
    }
    return sum;
}

/// The second box becomes two triangles of its bottom, attached to the first.
static rbl_collection *box_with_sheet(rbl_context *ctx, const double boxes[2][2][3])
{
    rbl_collection *c = measured_boxes(ctx, 2, boxes);
    void *out;
    assert_ok(ctx, rbli_collection_resize(ctx, c, "face", 14));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "corner", 42));
    assert_ok(ctx, rbli_collection_write(ctx, c, "geometry", "face_count", RBL_INT32, &out));
    ((int32_t *)out)[1] = 2;
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "sheet", RBL_BOOL, &out));
    ((bool *)out)[2] = true;
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "parent", RBL_INT32, &out));
    ((int32_t *)out)[2] = 1;
    assert_ok(ctx, rbli_hierarchy_update_levels(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

static void attached_sheets_go_to_the_pieces_beside_them(void **state)
{
    (void)state;
    static const double near_box[2][2][3] = {{{0, 0, 0}, {2, 1, 1}}, {{0, -0.05, 0}, {2, 0, 1}}};
    static const double far_box[2][2][3] = {{{0, 0, 0}, {2, 1, 1}}, {{0, 3, 0}, {2, 4, 1}}};
    static const double inner_box[2][2][3] = {{{0, 0, 0}, {2, 1, 1}}, {{0.2, 0.2, 0.2}, {1.8, 0.8, 0.8}}};
    const struct {
        const double (*boxes)[2][3];
        size_t sheets;
        int32_t level;
    } cases[] = {{near_box, 2, 3}, {far_box, 2, 2}, {inner_box, 0, 0}};
    rbl_context *ctx = make_context(1);
    for (size_t i = 0; i < 3; i++) {
        rbl_collection *c = box_with_sheet(ctx, cases[i].boxes);
        planes p = {middle, 1, 0};
        rbli_fracture_options options = rbli_fracture_default_options();
        options.make_complex = make_planes;
        options.user = &p;
        rbli_fracture_result r = {0};
        assert_ok(ctx, rbli_fracture(ctx, c, &options, &r));
        assert_ok(ctx, rbli_collection_validate(ctx, r.collection, RBLI_VALIDATE_CLOSED));
        const bool *sheet = rbli_collection_read(r.collection, "bone", "sheet", RBL_BOOL);
        const int32_t *level = rbli_collection_read(r.collection, "bone", "level", RBL_INT32);
        const int32_t *geometry = rbli_collection_read(r.collection, "bone", "geometry", RBL_INT32);
        size_t sheets = 0, bones = rbli_collection_size(r.collection, "bone");
        double area = 0;
        for (size_t b = 0; b < bones; b++) {
            if (!sheet[b]) continue;
            sheets++;
            assert_int_equal(level[b], cases[i].level);
            area += sheet_area(r.collection, (size_t)geometry[b]);
        }
        assert_int_equal(sheets, cases[i].sheets);
        assert_int_equal(bones, 4 + sheets);
        if (sheets) assert_close(area, sheet_area(c, 1), 1e-12);
        assert_int_equal(r.new_count, 2);
        for (size_t n = 0; n < 2; n++)
            assert_false(sheet[r.new_bones[n]]);
        rbli_collection_release(r.collection);
        rbli_free(ctx, r.new_bones);
        rbli_collection_release(c);
    }
    finish_context(ctx);
}

/// A sheet goes through the box: what stands out on both sides stays, with attributes of the source.
static void sheets_are_trimmed_by_the_solid(void **state)
{
    (void)state;
    static const double through[2][2][3] = {{{0, 0, 0}, {2, 1, 1}}, {{0.5, -1, 0.25}, {1.75, 2, 0.75}}};
    rbl_context *ctx = make_context(1);
    rbl_collection *c = box_with_sheet(ctx, through);
    assert_close(sheet_area(c, 1), 3 * 1.25, 1e-12);
    planes p = {middle, 1, 0};
    rbli_fracture_options options = rbli_fracture_default_options();
    options.make_complex = make_planes;
    options.user = &p;
    rbli_fracture_result r = {0};
    assert_ok(ctx, rbli_fracture(ctx, c, &options, &r));
    assert_ok(ctx, rbli_collection_validate(ctx, r.collection, RBLI_VALIDATE_CLOSED));
    const bool *sheet = rbli_collection_read(r.collection, "bone", "sheet", RBL_BOOL);
    const int32_t *geometry = rbli_collection_read(r.collection, "bone", "geometry", RBL_INT32);
    const double(*position)[3] = rbli_collection_read(r.collection, "vertex", "position", RBL_VEC3);
    const int32_t *start = rbli_collection_read(r.collection, "geometry", "vertex_start", RBL_INT32);
    const int32_t *count = rbli_collection_read(r.collection, "geometry", "vertex_count", RBL_INT32);
    double area = 0;
    for (size_t b = 0; b < rbli_collection_size(r.collection, "bone"); b++) {
        if (!sheet[b]) continue;
        area += sheet_area(r.collection, (size_t)geometry[b]);
        for (int32_t v = start[geometry[b]]; v < start[geometry[b]] + count[geometry[b]]; v++)
            assert_true(position[v][1] < 1e-9 || position[v][1] > 1 - 1e-9);
    }
    assert_close(area, 2 * 1.25, 1e-9);
    rbli_collection_release(r.collection);
    rbli_free(ctx, r.new_bones);
    rbli_collection_release(c);
    finish_context(ctx);
}

/// Fails for the box at x = 50.
static rbl_status make_or_fail(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    (void)user;
    double x = domain->object_min[0], plane[1][4] = {{1, 0, 0, x + 0.5}};
    if (x == 50) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "no cells");
    facts->repeated_count = (size_t)(x / 5);
    return rbli_plane_complex(ctx, (const double(*)[4])plane, 1, domain->box_min, domain->box_max, NULL, out);
}

static void say_number(rbl_context *ctx, const rbli_complex_facts *facts, void *user)
{
    (void)user;
    rbli_note(ctx, "bone %zu", facts->repeated_count);
}

static void remarks_come_in_order_and_before_the_error(void **state)
{
    (void)state;
    enum { BOXES = 14, FAILS = 10 };
    double boxes[BOXES][2][3];
    for (int i = 0; i < BOXES; i++)
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = k == 0 ? 5.0 * i : 0;
            boxes[i][1][k] = boxes[i][0][k] + 1;
        }
    for (int count = 2; count <= BOXES; count += 4)
        for (int threads = 1; threads <= 4; threads += 3) {
            rbl_context *ctx = make_context(threads);
            rbl_collection *c = measured_boxes(ctx, (size_t)count, (const double(*)[2][3])boxes);
            rbli_fracture_options options = rbli_fracture_default_options();
            options.group = false;
            options.make_complex = make_or_fail;
            options.remark = say_number;
            rbli_fracture_result r = {0};
            rbl_status status = rbli_fracture(ctx, c, &options, &r);
            bool fails = count > FAILS;
            assert_int_equal(status, fails ? RBL_ERR_ARGUMENT : RBL_OK);
            int notes = fails ? FAILS : count;
            assert_int_equal(rbli_messages_count(ctx->messages), notes + fails);
            for (int i = 0; i < notes; i++) {
                char text[16];
                snprintf(text, sizeof text, "bone %d", i);
                assert_string_equal(rbli_messages_get(ctx->messages, (size_t)i)->text, text);
            }
            if (fails) assert_string_equal(rbli_messages_get(ctx->messages, (size_t)notes)->text, "no cells");
            rbli_collection_release(r.collection);
            rbli_free(ctx, r.new_bones);
            rbli_collection_release(c);
            finish_context(ctx);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_bone_becomes_a_cluster_of_closed_pieces),
        cmocka_unit_test(caps_have_material_normals_uvs_and_contacts),
        cmocka_unit_test(chance_and_selection_choose_bones),
        cmocka_unit_test(moved_bones_are_cut_where_they_stand),
        cmocka_unit_test(attached_sheets_go_to_the_pieces_beside_them),
        cmocka_unit_test(sheets_are_trimmed_by_the_solid),
        cmocka_unit_test(remarks_come_in_order_and_before_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
