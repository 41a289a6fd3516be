/// PlaneCutter: cuts by whole planes, each through all pieces.

#include <math.h>

#include "engine/call.h"
#include "fracture/base/alloc.h"
#include "fracture/geometry/point_patterns.h"
#include "nodes/cutters/cutter.h"

typedef struct plane_job {
    double (*planes)[4]; /* [given_count] */
    size_t given_count, random_count;
} plane_job;

static rbl_status make_complex(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    const plane_job *job = user;
    size_t count = job->given_count + job->random_count;
    double(*planes)[4] = rbli_alloc(ctx, count, sizeof *planes);
    RBL_TRY_ALLOC(planes);
    if (job->given_count) memcpy(planes, job->planes, job->given_count * sizeof *planes);
    for (size_t i = 0; i < job->random_count; i++) {
        double *plane = planes[job->given_count + i];
        rbli_rng rng = rbli_rng_make(domain->seed, RBLI_RNG_PLANES, i);
        rbli_random_direction(&rng, plane);
        plane[3] = 0;
        for (int k = 0; k < 3; k++)
            plane[3] += plane[k] * (domain->box_min[k] +
                                       (domain->box_max[k] - domain->box_min[k]) * rbli_rng_double(&rng));
    }
    status = rbli_plane_complex(ctx, (const double(*)[4])planes, count, domain->box_min, domain->box_max,
        &facts->repeated_count, out);
done:
    rbli_free(ctx, planes);
    return status;
}

static void remark(rbl_context *ctx, const rbli_complex_facts *facts, void *user)
{
    (void)user;
    rbli_cutter_note_repeated(ctx, facts, "plane");
}

static rbl_status read_plane(rbl_context *ctx, rbl_call *call, const rbl_param *param, double out[4])
{
    double point[3], largest = 0;
    rbl_param_vec3(rbl_param_field(param, "point"), point);
    rbl_param_vec3(rbl_param_field(param, "normal"), out);
    for (int k = 0; k < 3; k++)
        largest = fmax(largest, fabs(out[k]));
    if (!(largest > 0))
        return rbl_call_fail(
            ctx, call, rbl_param_field(param, "normal"), RBL_ERR_ARGUMENT, "a plane's normal is zero");
    out[3] = 0;
    for (int k = 0; k < 3; k++)
        out[3] += out[k] * point[k];
    return RBL_OK;
}

static rbl_status check(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *root = rbli_params_root(call->params), *list = rbl_call_param(call, "planes");
    if (rbli_param_is_open(root, "planes") || rbli_param_is_open(root, "random_planes") ||
        rbl_param_count(list) || rbl_param_int(rbl_call_param(call, "random_planes")))
        return RBL_OK;
    return rbl_call_fail(ctx, call, list, RBL_ERR_ARGUMENT,
        "there is no plane to cut by: give \"planes\" or \"random_planes\"");
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    const rbl_param *list = rbl_call_param(call, "planes");
    plane_job job = {.given_count = rbl_param_count(list),
        .random_count = (size_t)rbl_param_int(rbl_call_param(call, "random_planes"))};
    RBL_TRY(check(ctx, call));
    job.planes = rbli_alloc(ctx, job.given_count, sizeof *job.planes);
    RBL_TRY_ALLOC(job.planes);
    for (size_t i = 0; i < job.given_count; i++)
        RBL_TRY(read_plane(ctx, call, rbl_param_at(list, i), job.planes[i]));
    RBL_TRY(rbli_cutter_run(ctx, call, make_complex, remark, &job));
done:
    rbli_free(ctx, job.planes);
    return status;
}

static const rbl_param_desc plane_fields[] = {
    {.name = "point",
        .type = RBL_PARAM_VEC3,
        .default_json = "[0, 0, 0]",
        .unit = "m",
        .text = "any point of the plane"},
    {.name = "normal", .type = RBL_PARAM_VEC3, .text = "need not be of unit length"},
    {0},
};
static const rbl_port_desc inputs[] = {RBLI_CUTTER_INPUTS, {0}};
static const rbl_port_desc outputs[] = {RBLI_CUTTER_OUTPUTS, {0}};
static const rbl_param_desc params[] = {
    {.name = "planes",
        .type = RBL_PARAM_OBJECT,
        .list = true,
        .default_json = "[]",
        .fields = plane_fields,
        .text = "each cuts all pieces"},
    {.name = "random_planes",
        .type = RBL_PARAM_INT,
        .default_json = "0",
        .min = 0,
        .max = 200,
        .step = 1,
        .text = "so many more planes through random points of the box, directions uniform on the sphere"},
    RBLI_PLANAR_CUTTER_PARAMS("false"),
    {0},
};

const rbl_node_desc rbli_node_plane_cutter = {
    .size = sizeof(rbl_node_desc),
    .type = "PlaneCutter",
    .version = 1,
    .revision = 4,
    .family = "cutters",
    .text = "Cuts by whole planes, each through all pieces.",
    .details = "Planes that coincide within 1e-9 of the size over the object's box count once. A plane that "
               "lies in a face cuts\n"
               "nothing there.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .check = check,
    .evaluate = evaluate,
};
