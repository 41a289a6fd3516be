/// MeshCutter: cuts by copies of a mesh.

#include "engine/value.h"
#include "fracture/base/alloc.h"
#include "fracture/geometry/elementary.h"
#include "fracture/ops/mesh_cut.h"
#include "nodes/cutters/cutter.h"

enum { MOST_COPIES = 10000 };

static rbl_status read_copies(rbl_context *ctx, rbl_call *call, rbli_mesh_cut_options *o)
{
    const rbl_param *grid = rbl_call_param(call, "grid"), *most = rbl_call_param(call, "scale_max");
    *o = rbli_mesh_cut_default_options();
    o->distribution = (rbli_copies)rbl_param_int(rbl_call_param(call, "distribution"));
    o->count = (size_t)rbl_param_int(rbl_call_param(call, "count"));
    rbl_param_int3(grid, o->grid);
    o->variability = rbl_param_float(rbl_call_param(call, "variability"));
    o->scale_min = rbl_param_float(rbl_call_param(call, "scale_min"));
    o->scale_max = rbl_param_float(most);
    o->random_orientation = rbl_param_bool(rbl_call_param(call, "random_orientation"));
    o->roll_rad = rbl_param_float(rbl_call_param(call, "roll_range")) * (RBLI_PI / 180);
    o->pitch_rad = rbl_param_float(rbl_call_param(call, "pitch_range")) * (RBLI_PI / 180);
    o->yaw_rad = rbl_param_float(rbl_call_param(call, "yaw_range")) * (RBLI_PI / 180);
    if (o->scale_max < o->scale_min)
        return rbl_call_fail(ctx, call, most, RBL_ERR_ARGUMENT, "scale_max is smaller than scale_min");
    int64_t total = 1;
    for (int k = 0; k < 3; k++) {
        total *= o->grid[k];
        if (o->grid[k] < 1 || total > MOST_COPIES)
            return rbl_call_fail(ctx, call, grid, RBL_ERR_ARGUMENT,
                "a grid has at least 1 copy along each axis and at most %d in all", MOST_COPIES);
    }
    return RBL_OK;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_fracture_options options;
    rbli_mesh_cut_options copies;
    rbli_fracture_result result = {0};
    RBL_TRY(rbli_cutter_read_common(ctx, call, &options));
    RBL_TRY(read_copies(ctx, call, &copies));
    RBL_TRY(rbli_mesh_cut(ctx, rbl_call_input_collection(call, "collection"),
        rbl_call_input_collection(call, "cutter"), &options, &copies, &result));
    RBL_TRY(rbli_cutter_add_samples(ctx, call, &result));
    status = rbli_cutter_finish(ctx, call, &result);
done:
    rbli_collection_release(result.collection);
    rbli_free(ctx, result.new_bones);
    return status;
}

static const char *const distributions[] = {"single", "random", "grid", NULL};
static const rbl_port_desc inputs[] = {
    RBLI_CUTTER_INPUTS,
    {.name = "cutter",
        .kind = RBL_VALUE_COLLECTION,
        .text = "the mesh to cut by; open parts cut as sheets (MeshToCollection: sheets separate)"},
    {0},
};
static const rbl_port_desc outputs[] = {RBLI_CUTTER_OUTPUTS, {0}};
static const rbl_param_desc params[] = {
    {.name = "distribution",
        .type = RBL_PARAM_ENUM,
        .words = distributions,
        .default_json = "\"single\"",
        .text = "the cutter as it stands, or copies of it over the bounds of what is cut"},
    {.name = "count",
        .type = RBL_PARAM_INT,
        .default_json = "10",
        .min = 1,
        .max = MOST_COPIES,
        .step = 1,
        .text = "random copies"},
    {.name = "grid",
        .type = RBL_PARAM_INT3,
        .default_json = "[2, 2, 2]",
        .min = 1,
        .max = MOST_COPIES,
        .text = "copies along each axis"},
    {.name = "variability",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e9,
        .step = 0.01,
        .unit = "m",
        .text = "grid copies are moved at random by up to this along each axis"},
    {.name = "scale_min",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.5",
        .min = 1e-6,
        .max = 1e6,
        .step = 0.1,
        .text = "least size of a random or grid copy"},
    {.name = "scale_max",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1.5",
        .min = 1e-6,
        .max = 1e6,
        .step = 0.1,
        .text = "greatest size of a random or grid copy"},
    {.name = "random_orientation",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "random and grid copies are turned"},
    {.name = "roll_range",
        .type = RBL_PARAM_FLOAT,
        .default_json = "180",
        .min = 0,
        .max = 180,
        .step = 1,
        .unit = "deg",
        .text = "turned about z by up to this either way"},
    {.name = "pitch_range",
        .type = RBL_PARAM_FLOAT,
        .default_json = "180",
        .min = 0,
        .max = 180,
        .step = 1,
        .unit = "deg",
        .text = "then about x"},
    {.name = "yaw_range",
        .type = RBL_PARAM_FLOAT,
        .default_json = "180",
        .min = 0,
        .max = 180,
        .step = 1,
        .unit = "deg",
        .text = "then about y"},
    RBLI_CUTTER_COMMON_PARAMS,
    {0},
};

const rbl_node_desc rbli_node_mesh_cutter = {
    .size = sizeof(rbl_node_desc),
    .type = "MeshCutter",
    .version = 1,
    .revision = 3,
    .family = "cutters",
    .text = "Cuts by a mesh, or by many copies of it.",
    .details =
        "A closed cutter cuts inside from outside. An open one cuts as a sheet: its border must lie "
        "outside of the\nobject, else an error names the place. Later copies cut the fragments of earlier "
        "ones. The bone attribute `site` is\n1 + the number of the last copy that holds a piece, 0 for "
        "none.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
