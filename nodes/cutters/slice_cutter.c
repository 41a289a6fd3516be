/// SliceCutter: planes across each axis at equal steps, tilted and shifted at random (GEO §4.6).

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/elementary.h"
#include "nodes/cutters/cutter.h"

typedef struct slice_job {
    int64_t slices[3];
    double angle_rad, offset; /* variations */
    size_t count;             /* slices[0] + slices[1] + slices[2] */
} slice_job;

static double draw_around_zero(rbli_rng *rng, double most)
{
    return (2 * rbli_rng_double(rng) - 1) * most;
}

/// Slice `index` of an axis as nx, ny, nz, d.
static void make_plane(const slice_job *job, const double low[3], const double high[3], int axis,
    int64_t index, uint32_t seed, double out[4])
{
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_SLICES, (uint64_t)axis << 32 | (uint64_t)index);
    int next = (axis + 1) % 3, last = (axis + 2) % 3;
    double point[3];
    for (int k = 0; k < 3; k++)
        point[k] = 0.5 * (low[k] + high[k]);
    point[axis] = low[axis] +
                  (high[axis] - low[axis]) * (double)(index + 1) / (double)(job->slices[axis] + 1) +
                  draw_around_zero(&rng, job->offset);
    double a = draw_around_zero(&rng, job->angle_rad), b = draw_around_zero(&rng, job->angle_rad);
    out[axis] = rbli_cos(a) * rbli_cos(b);
    out[next] = rbli_cos(a) * rbli_sin(b);
    out[last] = -rbli_sin(a);
    out[3] = out[0] * point[0] + out[1] * point[1] + out[2] * point[2];
}

static rbl_status make_complex(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    const slice_job *job = user;
    size_t made = 0;
    double(*planes)[4] = rbli_alloc(ctx, job->count, sizeof *planes);
    RBL_TRY_ALLOC(planes);
    for (int axis = 0; axis < 3; axis++)
        for (int64_t i = 0; i < job->slices[axis]; i++)
            make_plane(job, domain->object_min, domain->object_max, axis, i, domain->seed, planes[made++]);
    status = rbli_plane_complex(ctx, (const double(*)[4])planes, job->count, domain->box_min, domain->box_max,
        &facts->repeated_count, out);
done:
    rbli_free(ctx, planes);
    return status;
}

static void remark(rbl_context *ctx, const rbli_complex_facts *facts, void *user)
{
    (void)user;
    rbli_cutter_note_repeated(ctx, facts, "slice");
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *slices = rbl_call_param(call, "slices");
    slice_job job = {.angle_rad = rbl_param_float(rbl_call_param(call, "angle_variation")) * (RBLI_PI / 180),
        .offset = rbl_param_float(rbl_call_param(call, "offset_variation"))};
    rbl_param_int3(slices, job.slices);
    job.count = (size_t)(job.slices[0] + job.slices[1] + job.slices[2]);
    if (job.count == 0)
        return rbl_call_fail(
            ctx, call, slices, RBL_ERR_ARGUMENT, "there is no slice to cut by: all three numbers are 0");
    return rbli_cutter_run(ctx, call, make_complex, remark, &job);
}

static const rbl_port_desc inputs[] = {RBLI_CUTTER_INPUTS, {0}};
static const rbl_port_desc outputs[] = {RBLI_CUTTER_OUTPUTS, {0}};
static const rbl_param_desc params[] = {
    {.name = "slices",
        .type = RBL_PARAM_INT3,
        .default_json = "[3, 3, 1]",
        .min = 0,
        .max = 10000,
        .step = 1,
        .text = "planes across x, y and z, in equal steps over the box of what is cut"},
    {.name = "angle_variation",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 90,
        .step = 1,
        .unit = "deg",
        .text = "each plane is tilted by up to so much about both axes across its normal"},
    {.name = "offset_variation",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "each plane is shifted by up to so much along its axis, either way"},
    RBLI_PLANAR_CUTTER_PARAMS("false"),
    {0},
};

const rbl_node_desc rbli_node_slice_cutter = {
    .size = sizeof(rbl_node_desc),
    .type = "SliceCutter",
    .version = 1,
    .revision = 4,
    .family = "cutters",
    .text = "Cuts by planes across the axes: slabs, sticks or cubes.",
    .details =
        "X + Y + Z planes, each through all pieces: a box falls into (X + 1)(Y + 1)(Z + 1) pieces. The "
        "default "
        "[3, 3, 1]\n"
        "has 7 planes and gives 32. What is drawn for a plane depends on the seed, its axis and its number "
        "alone.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
