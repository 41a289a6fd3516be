/// UniformFracture: ScatterPoints and VoronoiFracture in one.

#include "fracture/base/alloc.h"
#include "fracture/ops/scatter.h"
#include "nodes/cutters/cutter.h"

typedef struct uniform_job {
    size_t min_sites, max_sites;
} uniform_job;

static rbl_status make_complex(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    (void)facts;
    const uniform_job *job = user;
    rbli_scatter_options options = rbli_scatter_default_options();
    double(*sites)[3] = NULL;
    size_t count;
    options.min_count = job->min_sites;
    options.max_count = job->max_sites;
    options.seed = domain->seed;
    rbl_status status =
        rbli_scatter_points(ctx, domain->object_min, domain->object_max, &options, &sites, &count);
    if (status == RBL_OK)
        status = rbli_voronoi_complex(
            ctx, (const double(*)[3])sites, count, domain->box_min, domain->box_max, NULL, NULL, out);
    rbli_free(ctx, sites);
    return status;
}

static rbl_status check(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *least = rbl_call_param(call, "min_sites"), *most = rbl_call_param(call, "max_sites");
    if (least && most && rbl_param_int(least) > rbl_param_int(most))
        return rbl_call_fail(ctx, call, most, RBL_ERR_ARGUMENT,
            "max_sites (%lld) is smaller than min_sites (%lld)", (long long)rbl_param_int(most),
            (long long)rbl_param_int(least));
    return RBL_OK;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = check(ctx, call);
    if (status != RBL_OK) return status;
    uniform_job job = {(size_t)rbl_param_int(rbl_call_param(call, "min_sites")),
        (size_t)rbl_param_int(rbl_call_param(call, "max_sites"))};
    return rbli_cutter_run(ctx, call, make_complex, NULL, &job);
}

static const rbl_port_desc inputs[] = {RBLI_CUTTER_INPUTS, {0}};
static const rbl_port_desc outputs[] = {RBLI_CUTTER_OUTPUTS, {0}};
static const rbl_param_desc params[] = {
    {.name = "min_sites",
        .type = RBL_PARAM_INT,
        .default_json = "20",
        .min = 1,
        .max = 1000000,
        .step = 1,
        .text = "least number of sites"},
    {.name = "max_sites",
        .type = RBL_PARAM_INT,
        .default_json = "20",
        .min = 1,
        .max = 1000000,
        .step = 1,
        .text = "greatest number of sites; one between the two is drawn by the seed"},
    RBLI_PLANAR_CUTTER_PARAMS("false"),
    {0},
};

const rbl_node_desc rbli_node_uniform_fracture = {
    .size = sizeof(rbl_node_desc),
    .type = "UniformFracture",
    .version = 1,
    .revision = 5,
    .family = "cutters",
    .text = "Cuts into the Voronoi cells of random points: ScatterPoints and VoronoiFracture in one.",
    .details =
        "With group_fracture the points are those that ScatterPoints gives for the box of the chosen bones; "
        "without,\n"
        "each bone gets a number of points and points of its own, by a seed drawn from the node's seed and "
        "the bone.\n"
        "That is the way to break each piece of a level again.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .check = check,
    .evaluate = evaluate,
};
