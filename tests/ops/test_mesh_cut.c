#include "fracture/ops/mesh_cut.h"

#include "fracture/ops/surface.h"
#include "tests/geometry/cut_help.h"

/* Cutting by meshes: closed and open cutters, arrays of copies, what is refused. */

/// One rigid bone with a mesh.
static rbl_collection *collection_of_mesh(rbl_context *ctx, const test_mesh *mesh, const char *name)
{
    rbl_collection *c = NULL;
    int32_t parent = 0, first;
    void *out;
    assert_ok(ctx, rbli_collection_create_empty_asset(ctx, &c));
    const char *root = "root", *paint = "paint";
    rbli_buffer *materials = NULL;
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 1, NULL, &root, RBLI_BONE_CLUSTER, &parent));
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 1, &parent, &name, RBLI_BONE_RIGID, &first));
    assert_ok(ctx, rbli_buffer_create_strings(ctx, 1, &paint, &materials));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "material", 1));
    assert_ok(ctx, rbli_collection_set(ctx, c, "material", "name", materials));
    rbli_buffer_release(materials);
    assert_ok(ctx, rbli_collection_resize(ctx, c, "vertex", mesh->vertex_count));
    assert_ok(ctx, rbli_collection_write(ctx, c, "vertex", "position", RBL_VEC3, &out));
    memcpy(out, mesh->positions, mesh->vertex_count * sizeof *mesh->positions);
    assert_ok(ctx, rbli_collection_resize(ctx, c, "face", mesh->triangle_count));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "corner", 3 * mesh->triangle_count));
    assert_ok(ctx, rbli_collection_write(ctx, c, "face", "vertices", RBL_INT32_3, &out));
    memcpy(out, mesh->triangles, mesh->triangle_count * sizeof *mesh->triangles);
    assert_ok(ctx, rbli_collection_resize(ctx, c, "geometry", 1));
    const int32_t values[] = {first, 0, (int32_t)mesh->vertex_count, 0, (int32_t)mesh->triangle_count};
    static const char *const names[] = {"bone", "vertex_start", "vertex_count", "face_start", "face_count"};
    for (int i = 0; i < 5; i++) {
        assert_ok(ctx, rbli_collection_write(ctx, c, "geometry", names[i], RBL_INT32, &out));
        *(int32_t *)out = values[i];
    }
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "geometry", RBL_INT32, &out));
    ((int32_t *)out)[0] = -1;
    ((int32_t *)out)[first] = 0;
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

/// A sheet over −s … s in x and y with n × n cells, at height f(x, y).
static test_mesh make_sheet(int n, double s, double bump)
{
    test_mesh mesh = {0};
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++) {
            double x = s * (2.0 * i / n - 1), y = s * (2.0 * j / n - 1);
            mesh_vertex(&mesh, x, y, bump * sin(5 * x) * cos(4 * y));
        }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int32_t a = j * (n + 1) + i, b = a + 1, c = b + n + 1, d = a + n + 1;
            mesh_triangle(&mesh, a, b, c);
            mesh_triangle(&mesh, a, c, d);
        }
    return mesh;
}

static rbl_status cut(rbl_context *ctx, const test_mesh *object, const test_mesh *cutter,
    const rbli_mesh_cut_options *copies, rbli_fracture_result *out)
{
    rbl_collection *in = collection_of_mesh(ctx, object, "object"),
                   *knife = collection_of_mesh(ctx, cutter, "knife");
    rbli_fracture_options options = rbli_fracture_default_options();
    options.seed = 4;
    *out = (rbli_fracture_result){0};
    rbl_status status = rbli_mesh_cut(ctx, in, knife, &options, copies, out);
    rbli_collection_release(in);
    rbli_collection_release(knife);
    return status;
}

/// Closed pieces, of which all new ones are rigid leaves; the sum of volumes.
static double check_result(rbl_context *ctx, const rbli_fracture_result *r)
{
    assert_ok(ctx, rbli_collection_validate(ctx, r->collection, RBLI_VALIDATE_CLOSED));
    const double *volume = rbli_collection_read(r->collection, "geometry", "volume", RBL_DOUBLE);
    const int32_t *geometry = rbli_collection_read(r->collection, "bone", "geometry", RBL_INT32);
    const int32_t *level = rbli_collection_read(r->collection, "bone", "level", RBL_INT32);
    double sum = 0;
    assert_int_equal(r->new_count, rbli_collection_size(r->collection, "geometry"));
    for (size_t i = 0; i < r->new_count; i++) {
        assert_true(geometry[r->new_bones[i]] >= 0);
        assert_true(level[r->new_bones[i]] <= 2);
        assert_true(volume[geometry[r->new_bones[i]]] > 0);
        sum += volume[geometry[r->new_bones[i]]];
    }
    return sum;
}

static void drop_result(rbl_context *ctx, rbli_fracture_result *r)
{
    rbli_collection_release(r->collection);
    rbli_free(ctx, r->new_bones);
}

static void a_closed_cutter_parts_inside_from_outside(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh box = make_box(-1, -1, -1, 1, 1, 1), ball = make_sphere(8, 0.6, 0.1);
    for (size_t v = 0; v < ball.vertex_count; v++)
        ball.positions[v][0] += 0.7;
    rbli_mesh_cut_options copies = rbli_mesh_cut_default_options();
    rbli_fracture_result r;
    assert_ok(ctx, cut(ctx, &box, &ball, &copies, &r));
    assert_int_equal(r.new_count, 2);
    assert_int_equal(r.cut_count, 1);
    assert_close(check_result(ctx, &r), 8, 1e-12);
    const int32_t *site = rbli_collection_read(r.collection, "bone", "site", RBL_INT32);
    assert_int_equal(site[r.new_bones[0]], 0);
    assert_int_equal(site[r.new_bones[1]], 1);
    assert_int_equal(rbli_collection_size(r.collection, "contact"), 1);
    drop_result(ctx, &r);
    free_mesh(&box);
    free_mesh(&ball);
    finish_context(ctx);
}

static void a_sheet_parts_its_two_sides_exactly(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    for (int n = 1; n <= 12; n += 3)
        for (int flush = 0; flush < 2; flush++)
            for (int bend = 0; bend < 2; bend++) {
                test_mesh box = make_box(-1, -1, -1, 1, 1, 1),
                          sheet = make_sheet(n, flush ? 1 : 1.3, bend ? 0.3 : 0);
                rbli_mesh_cut_options copies = rbli_mesh_cut_default_options();
                rbli_fracture_result r;
                rbl_status status = cut(ctx, &box, &sheet, &copies, &r);
                if (status != RBL_OK) print_error("n %d flush %d bend %d\n", n, flush, bend);
                assert_ok(ctx, status);
                assert_int_equal(r.new_count, 2);
                assert_close(check_result(ctx, &r), 8, 1e-11);
                assert_int_equal(rbli_collection_size(r.collection, "contact"), 1);
                /* both sides have the sheet's facets: vertices on it occur in both to the bit */
                const double(*p)[3] = rbli_collection_read(r.collection, "vertex", "position", RBL_VEC3);
                const int32_t *start =
                    rbli_collection_read(r.collection, "geometry", "vertex_start", RBL_INT32);
                const int32_t *count =
                    rbli_collection_read(r.collection, "geometry", "vertex_count", RBL_INT32);
                size_t shared = 0, one_sided = 0;
                for (int32_t a = start[0]; a < start[0] + count[0]; a++) {
                    bool found = false;
                    for (int32_t b = start[1]; b < start[1] + count[1]; b++)
                        found |= memcmp(p[a], p[b], sizeof p[a]) == 0;
                    shared += found;
                    one_sided += !found && fabs(p[a][2]) < 0.5 && fabs(p[a][0]) < 1 && fabs(p[a][1]) < 1;
                }
                assert_true(shared >= 4);
                assert_int_equal(one_sided, 0);
                drop_result(ctx, &r);
                free_mesh(&box);
                free_mesh(&sheet);
            }
    finish_context(ctx);
}

static void a_sheet_across_one_arm_leaves_one_open_ring(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh ring = make_torus(24, 12, 1, 0.3), sheet = make_sheet(4, 0.5, 0.05);
    for (size_t v = 0; v < sheet.vertex_count; v++) { /* stand it up in the arm at (1, 0, 0) */
        double *p = sheet.positions[v], x = p[0], y = p[1], z = p[2];
        p[0] = x + 1;
        p[1] = z;
        p[2] = y;
    }
    double volume = mesh_volume(
        (const double(*)[3])ring.positions, (const int32_t(*)[3])ring.triangles, ring.triangle_count, NULL);
    rbli_mesh_cut_options copies = rbli_mesh_cut_default_options();
    rbli_fracture_result r;
    assert_ok(ctx, cut(ctx, &ring, &sheet, &copies, &r));
    assert_int_equal(r.new_count, 1);
    assert_close(check_result(ctx, &r), volume, 1e-11);
    drop_result(ctx, &r);
    free_mesh(&ring);
    free_mesh(&sheet);
    finish_context(ctx);
}

static void a_border_inside_the_object_is_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh box = make_box(-1, -1, -1, 1, 1, 1);
    for (int n = 2; n <= 4; n++) {
        test_mesh sheet = make_sheet(n, 0.7, 0.1);
        rbli_mesh_cut_options copies = rbli_mesh_cut_default_options();
        rbli_fracture_result r;
        assert_int_equal(cut(ctx, &box, &sheet, &copies, &r), RBL_ERR_MESH);
        free_mesh(&sheet);
    }
    free_mesh(&box);
    finish_context(ctx);
}

static void cutters_that_cross_themselves_are_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh box = make_box(-1, -1, -1, 1, 1, 1), knife = make_box(-0.5, -0.5, -0.5, 0.5, 0.5, 0.5);
    test_mesh other = make_box(0, 0, 0, 0.9, 0.9, 0.9);
    mesh_append(&knife, &other, false);
    rbli_mesh_cut_options copies = rbli_mesh_cut_default_options();
    rbli_fracture_result r;
    assert_int_equal(cut(ctx, &box, &knife, &copies, &r), RBL_ERR_MESH);
    free_mesh(&box);
    free_mesh(&knife);
    free_mesh(&other);
    finish_context(ctx);
}

static void grids_of_copies_lie_apart_or_overlap(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    test_mesh box = make_box(-1, -1, -1, 1, 1, 1), knife = make_box(-0.2, -0.2, -0.2, 0.2, 0.2, 0.2);
    rbli_mesh_cut_options copies = rbli_mesh_cut_default_options();
    rbli_fracture_result r;
    copies.distribution = RBLI_COPIES_GRID;
    copies.grid[0] = copies.grid[1] = copies.grid[2] = 3;
    copies.scale_min = copies.scale_max = 1;
    copies.random_orientation = false;
    assert_ok(ctx, cut(ctx, &box, &knife, &copies, &r));
    assert_int_equal(r.new_count, 28);
    assert_close(check_result(ctx, &r), 8, 1e-12);
    drop_result(ctx, &r);
    copies.scale_min = copies.scale_max = 2.5; /* each overlaps its neighbours */
    copies.grid[0] = copies.grid[1] = copies.grid[2] = 2;
    copies.variability = 0.05;
    assert_ok(ctx, cut(ctx, &box, &knife, &copies, &r));
    assert_true(r.new_count > 8);
    assert_close(check_result(ctx, &r), 8, 1e-11);
    drop_result(ctx, &r);
    free_mesh(&box);
    free_mesh(&knife);
    finish_context(ctx);
}

/// Copies that touch each other and the object's faces: volumes stay exact and pieces closed.
static void touching_copies_are_cut_one_after_the_other(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    test_mesh box = make_box(-1, -1, -1, 1, 1, 1), knife = make_box(-0.5, -0.5, -0.5, 0.5, 0.5, 0.5);
    rbli_mesh_cut_options copies = rbli_mesh_cut_default_options();
    rbli_fracture_result r;
    copies.distribution = RBLI_COPIES_GRID;
    copies.scale_min = copies.scale_max = 1;
    copies.random_orientation = false;
    assert_ok(ctx, cut(ctx, &box, &knife, &copies, &r));
    assert_int_equal(r.new_count, 8);
    assert_close(check_result(ctx, &r), 8, 1e-11);
    drop_result(ctx, &r);
    free_mesh(&box);
    free_mesh(&knife);
    finish_context(ctx);
}

static void random_copies_of_solids_and_sheets_keep_the_volume(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    for (int sheets = 0; sheets < 2; sheets++)
        for (uint32_t seed = 1; seed <= 4; seed++) {
            print_message("sheets %d seed %u\n", sheets, seed);
            test_mesh object = make_sphere(10, 1, 0.1);
            test_mesh knife = sheets ? make_sheet(6, 4, 0.2) : make_sphere(4, 0.5, 0);
            double volume = mesh_volume((const double(*)[3])object.positions,
                (const int32_t(*)[3])object.triangles, object.triangle_count, NULL);
            rbl_collection *in = collection_of_mesh(ctx, &object, "object"),
                           *k = collection_of_mesh(ctx, &knife, "knife");
            rbli_mesh_cut_options copies = rbli_mesh_cut_default_options();
            rbli_fracture_options options = rbli_fracture_default_options();
            rbli_fracture_result r = {0};
            copies.distribution = RBLI_COPIES_RANDOM;
            copies.count = sheets ? 4 : 8;
            if (sheets) copies.scale_min = 1;
            options.seed = seed;
            assert_ok(ctx, rbli_mesh_cut(ctx, in, k, &options, &copies, &r));
            assert_true(r.new_count > 2);
            assert_close(check_result(ctx, &r) / volume, 1, 1e-10);
            drop_result(ctx, &r);
            rbli_collection_release(in);
            rbli_collection_release(k);
            free_mesh(&object);
            free_mesh(&knife);
        }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_cutter_parts_inside_from_outside),
        cmocka_unit_test(a_sheet_parts_its_two_sides_exactly),
        cmocka_unit_test(a_sheet_across_one_arm_leaves_one_open_ring),
        cmocka_unit_test(a_border_inside_the_object_is_refused),
        cmocka_unit_test(cutters_that_cross_themselves_are_refused),
        cmocka_unit_test(grids_of_copies_lie_apart_or_overlap),
        cmocka_unit_test(touching_copies_are_cut_one_after_the_other),
        cmocka_unit_test(random_copies_of_solids_and_sheets_keep_the_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
