/// VoronoiFracture: cuts by the Voronoi cells of points.

#include <math.h>

#include "nodes/cutters/cutter.h"

typedef struct voronoi_job {
    const double (*sites)[3];
    size_t count;
    bool warned;
} voronoi_job;

static rbl_status make_complex(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    const voronoi_job *job = user;
    return rbli_voronoi_complex(ctx, job->sites, job->count, domain->box_min, domain->box_max,
        &facts->repeated_count, facts->first_repeated, out);
}

/// Once: bones side by side have such sites in common.
static void remark(rbl_context *ctx, const rbli_complex_facts *facts, void *user)
{
    voronoi_job *job = user;
    size_t merged = facts->repeated_count;
    if (!merged || job->warned) return;
    rbli_warn(ctx,
        "%zu site%s closer than 1e-9 of the extent to another and merged into it (site %zu into site "
        "%zu%s)",
        merged, merged == 1 ? " is" : "s are", facts->first_repeated[1], facts->first_repeated[0],
        merged > 1 ? ", …" : "");
    job->warned = true;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    voronoi_job job = {0};
    job.sites = rbl_value_points(rbl_call_input(call, "points", 0), &job.count);
    if (job.count == 0)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "there is no site to cut by: input \"points\" is empty");
    for (size_t i = 0; i < job.count; i++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(job.sites[i][k]))
                return rbli_fail(ctx, RBL_ERR_ARGUMENT, "site %zu is not finite", i);
    return rbli_cutter_run(ctx, call, make_complex, remark, &job);
}

static const rbl_port_desc inputs[] = {
    RBLI_CUTTER_INPUTS,
    {.name = "points",
        .kind = RBL_VALUE_POINTS,
        .text = "the sites; also those outside the mesh cut as far as their cells reach"},
    {0},
};
static const rbl_port_desc outputs[] = {RBLI_CUTTER_OUTPUTS, {0}};
static const rbl_param_desc params[] = {RBLI_PLANAR_CUTTER_PARAMS("false"), {0}};

const rbl_node_desc rbli_node_voronoi_fracture = {
    .size = sizeof(rbl_node_desc),
    .type = "VoronoiFracture",
    .version = 1,
    .revision = 5,
    .family = "cutters",
    .text = "Cuts into the Voronoi cells of points: each piece is what lies nearest to its site.",
    .details = "All pieces come out of one exact arrangement: they are closed, neighbours share their facets "
               "to the bit, and\n"
               "volumes add up. Sites on a lattice, on vertices, edges or faces, and outside the mesh are "
               "ordinary. Sites closer\n"
               "than 1e-9 of the extent are merged with a warning. The bone attribute `site` tells which "
               "point made a piece.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
