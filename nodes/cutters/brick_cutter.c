/// BrickCutter: cuts into bricks laid in a bond.

#include "engine/call.h"
#include "fracture/base/alloc.h"
#include "fracture/geometry/brick_complex.h"
#include "nodes/cutters/cutter.h"

enum { MOST_BRICKS = 8192 };

static const char *const bonds[] = {"stretcher", "stack", "english", "header", "flemish", NULL};

static rbl_status make_complex(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    const rbli_brick_options *options = user;
    rbl_status status = RBL_OK;
    rbli_brick *bricks = NULL;
    size_t count;
    RBL_TRY(rbli_brick_layout(
        ctx, options, domain->object_min, domain->object_max, &facts->factor, &bricks, &count));
    RBL_TRY(rbli_box_complex(
        ctx, bricks, count, domain->object_min, domain->object_max, domain->box_min, domain->box_max, out));
done:
    rbli_free(ctx, bricks);
    return status;
}

static void remark(rbl_context *ctx, const rbli_complex_facts *facts, void *user)
{
    const rbli_brick_options *options = user;
    double factor = facts->factor;
    if (factor > 1)
        rbli_warn(ctx, "more than %d bricks would be needed: their size is %.4g × %.4g × %.4g instead",
            MOST_BRICKS, options->length * factor, options->height * factor, options->depth * factor);
}

static rbl_status check(rbl_context *ctx, rbl_call *call)
{
    static const char *const names[] = {"bond", "length", "depth"};
    const rbl_param *length = rbl_call_param(call, "length"), *depth = rbl_call_param(call, "depth");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rbli_param_is_open(rbli_params_root(call->params), names[i])) return RBL_OK;
    if (rbl_param_int(rbl_call_param(call, "bond")) != RBLI_BOND_FLEMISH ||
        rbl_param_float(length) >= 2 * rbl_param_float(depth))
        return RBL_OK;
    return rbl_call_fail(ctx, call, length, RBL_ERR_ARGUMENT,
        "Flemish bond lays two stretchers beside a header: length %g must be at least twice the depth %g",
        rbl_param_float(length), rbl_param_float(depth));
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_brick_options options = rbli_brick_default_options();
    options.bond = (rbli_brick_bond)rbl_param_int(rbl_call_param(call, "bond"));
    options.length = rbl_param_float(rbl_call_param(call, "length"));
    options.height = rbl_param_float(rbl_call_param(call, "height"));
    options.depth = rbl_param_float(rbl_call_param(call, "depth"));
    options.along_z = rbl_param_int(rbl_call_param(call, "along")) == 1;
    options.most = MOST_BRICKS;
    rbl_status status = check(ctx, call);
    return status != RBL_OK ? status : rbli_cutter_run(ctx, call, make_complex, remark, &options);
}

static const char *const directions[] = {"x", "z", NULL};
static const rbl_port_desc inputs[] = {RBLI_CUTTER_INPUTS, {0}};
static const rbl_port_desc outputs[] = {RBLI_CUTTER_OUTPUTS, {0}};
static const rbl_param_desc params[] = {
    {.name = "bond",
        .type = RBL_PARAM_ENUM,
        .words = bonds,
        .default_json = "\"stretcher\"",
        .text = "how the bricks are laid"},
    {.name = "length",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.194",
        .min = 1e-6,
        .max = 1e9,
        .step = 0.001,
        .unit = "m",
        .text = "of a brick and its joint, along the wall"},
    {.name = "height",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.057",
        .min = 1e-6,
        .max = 1e9,
        .step = 0.001,
        .unit = "m",
        .text = "of a brick and its joint, upwards (y)"},
    {.name = "depth",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.092",
        .min = 1e-6,
        .max = 1e9,
        .step = 0.001,
        .unit = "m",
        .text = "of a brick and its joint, into the wall"},
    {.name = "along",
        .type = RBL_PARAM_ENUM,
        .words = directions,
        .default_json = "\"x\"",
        .text = "the direction that walls run in"},
    RBLI_PLANAR_CUTTER_PARAMS("true"),
    {0},
};

const rbl_node_desc rbli_node_brick_cutter = {
    .size = sizeof(rbl_node_desc),
    .type = "BrickCutter",
    .version = 1,
    .revision = 4,
    .family = "cutters",
    .text = "Cuts into bricks laid in a bond, with or without mortar.",
    .details =
        "Courses start at the lowest corner of what is cut; bricks at its border are cut off there. "
        "stretcher: long sides\nout, odd courses half a length on. stack: all joints in line. english: "
        "courses of stretchers and of headers by\nturns. header: short sides out, odd courses half a "
        "depth on. flemish: stretchers and headers by turns in each\ncourse; the wall is `length` thick "
        "there, and what two stretchers leave between them is mortar. With more than 8192\nbricks they "
        "are enlarged, with a warning that names the size used. `grout` takes half its width from each "
        "brick's\nside; the mortar is a piece of its own (keep_mortar).",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .check = check,
    .evaluate = evaluate,
};
