#include "fracture/geometry/brick_complex.h"
#include "fracture/ops/mesh_cut.h"
#include "fracture/ops/surface.h"
#include "tests/failing_alloc.h"
#include "tests/ops/asset_builder.h"

/* Every allocation of the cutters may fail: bricks with grout, noise, near islands; solids and sheets. */

typedef struct trial {
    const rbl_collection *in, *cutter;
    int kind;
    bool apart; /* cells of its own for each bone */
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
        options.group = !t->apart;
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

static rbl_collection *measured_boxes(rbl_context *ctx, size_t count, const double (*boxes)[2][3])
{
    rbl_collection *c = make_boxes(ctx, count, boxes);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

/// So many that they are cut side by side.
static rbl_collection *many_boxes(rbl_context *ctx)
{
    enum { BOXES = 9 };
    double boxes[BOXES][2][3];
    for (int i = 0; i < BOXES; i++)
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = k == 0 ? 2 * i : 0;
            boxes[i][1][k] = boxes[i][0][k] + 0.7;
        }
    return measured_boxes(ctx, BOXES, (const double(*)[2][3])boxes);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double object[1][2][3] = {{{0, 0, -1}, {2, 1, 1}}},
                 solid[1][2][3] = {{{0.5, -1, -0.5}, {1, 2, 0.5}}};
    const double sheet[1][2][3] = {{{-1, -1, -2}, {3, 2, 0.25}}};
    rbl_collection *in = measured_boxes(ctx, 1, object), *knife = measured_boxes(ctx, 1, solid);
    rbl_collection *open = measured_boxes(ctx, 1, sheet), *many = many_boxes(ctx);
    keep_top(ctx, open);
    const trial trials[] = {{in, NULL, 0, false}, {in, NULL, 1, false}, {in, knife, 0, false},
        {in, knife, 1, false}, {in, open, 0, false}, {many, NULL, 1, true}};
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        trial t = trials[i];
        assert_true(fail_each_allocation(run, &t, tries(40, 150)) > 0);
    }
    rbli_collection_release(in);
    rbli_collection_release(knife);
    rbli_collection_release(open);
    rbli_collection_release(many);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
