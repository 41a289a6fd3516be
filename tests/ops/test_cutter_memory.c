#include "fracture/geometry/brick_complex.h"
#include "fracture/ops/mesh_cut.h"
#include "fracture/ops/surface.h"
#include "tests/failing_alloc.h"
#include "tests/ops/asset_builder.h"

/* Every allocation of the cutters may fail: bricks with grout, noise, near islands; solids and sheets. */

typedef struct trial {
    const rbl_collection *in, *cutter;
    int kind;
} trial;

static rbl_status make_bricks(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    (void)user;
    (void)facts;
    rbli_brick_options o = rbli_brick_default_options();
    rbli_brick *bricks = NULL;
    size_t count;
    o.bond = RBLI_BOND_FLEMISH;
    o.length = 1;
    o.height = 0.5;
    o.depth = 0.4;
    rbl_status status =
        rbli_brick_layout(ctx, &o, domain->object_min, domain->object_max, NULL, &bricks, &count);
    if (status == RBL_OK)
        status = rbli_box_complex(ctx, bricks, count, domain->object_min, domain->object_max, domain->box_min,
            domain->box_max, out);
    rbli_free(ctx, bricks);
    return status;
}

static rbl_status run(rbl_context *ctx, void *user)
{
    const trial *t = user;
    rbli_fracture_options options = rbli_fracture_default_options();
    rbli_fracture_result r = {0};
    rbl_status status;
    options.close_vertex_distance = 1e-3;
    options.bridge_distance = 1e-3;
    if (t->cutter) {
        rbli_mesh_cut_options copies = rbli_mesh_cut_default_options();
        if (t->kind) {
            copies.distribution = RBLI_COPIES_GRID;
            copies.grid[0] = 2;
            copies.grid[1] = copies.grid[2] = 1;
        }
        status = rbli_mesh_cut(ctx, t->in, t->cutter, &options, &copies, &r);
    } else {
        options.grout = t->kind ? 0.05 : 0;
        options.noise.noise.amplitude = 0.02;
        options.noise.point_spacing = 0.3;
        options.make_complex = make_bricks;
        status = rbli_fracture(ctx, t->in, &options, &r);
    }
    rbli_collection_release(r.collection);
    rbli_free(ctx, r.new_bones);
    return status;
}

/// Leaves only the triangles that face +z: a sheet of two triangles.
static void keep_top(rbl_context *ctx, rbl_collection *c)
{
    void *out;
    const double(*p)[3] = rbli_collection_read(c, "vertex", "position", RBL_VEC3);
    assert_ok(ctx, rbli_collection_write(ctx, c, "face", "vertices", RBL_INT32_3, &out));
    int32_t(*faces)[3] = out;
    size_t kept = 0;
    for (size_t f = 0; f < rbli_collection_size(c, "face"); f++)
        if (p[faces[f][0]][2] > 0 && p[faces[f][1]][2] > 0 && p[faces[f][2]][2] > 0)
            memmove(faces[kept++], faces[f], sizeof *faces);
    assert_int_equal(kept, 2);
    assert_ok(ctx, rbli_collection_write(ctx, c, "geometry", "face_count", RBL_INT32, &out));
    *(int32_t *)out = (int32_t)kept;
}

static rbl_collection *measured_box(rbl_context *ctx, const double box[2][3])
{
    rbl_collection *c = make_boxes(ctx, 1, (const double(*)[2][3])box);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double object[2][3] = {{0, 0, -1}, {2, 1, 1}}, solid[2][3] = {{0.5, -1, -0.5}, {1, 2, 0.5}};
    const double sheet[2][3] = {{-1, -1, -2}, {3, 2, 0.25}};
    rbl_collection *in = measured_box(ctx, object), *knife = measured_box(ctx, solid);
    rbl_collection *open = measured_box(ctx, sheet);
    keep_top(ctx, open);
    const trial trials[] = {{in, NULL, 0}, {in, NULL, 1}, {in, knife, 0}, {in, knife, 1}, {in, open, 0}};
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        trial t = trials[i];
        assert_true(fail_each_allocation(run, &t, tries(40, 150)) > 0);
    }
    rbli_collection_release(in);
    rbli_collection_release(knife);
    rbli_collection_release(open);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
