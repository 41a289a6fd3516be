/// The first half of rbli_fracture: meshes in world space, their complexes, the cuts.

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/base/threads.h"
#include "fracture/base/trace.h"
#include "fracture/geometry/complex_erode.h"
#include "fracture/ops/fracture_internal.h"
#include "fracture/ops/join_islands.h"
#include "fracture/ops/regroup.h"

/// From this many bones on, bones are worked on side by side instead of each by all threads.
enum { BONES_SIDE_BY_SIDE = 8 };

/// The mesh of one bone in world space.
static rbl_status prepare_bone(
    rbl_context *ctx, const rbl_collection *in, const double world[16], bone_cut *cut)
{
    size_t g = (size_t)cut->geometry;
    int32_t vertex_start =
        ((const int32_t *)rbli_collection_read(in, "geometry", "vertex_start", RBL_INT32))[g];
    int32_t vertex_count =
        ((const int32_t *)rbli_collection_read(in, "geometry", "vertex_count", RBL_INT32))[g];
    int32_t face_start = ((const int32_t *)rbli_collection_read(in, "geometry", "face_start", RBL_INT32))[g];
    int32_t face_count = ((const int32_t *)rbli_collection_read(in, "geometry", "face_count", RBL_INT32))[g];
    const double(*positions)[3] = rbli_collection_read(in, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(in, "face", "vertices", RBL_INT32_3);
    rbl_status status = RBL_OK;

    if (vertex_start > 0) {
        RBL_TRY_ALLOC(cut->triangles = rbli_alloc(ctx, (size_t)face_count, sizeof *cut->triangles));
        for (int32_t f = 0; f < face_count; f++)
            for (int k = 0; k < 3; k++)
                cut->triangles[f][k] = faces[face_start + f][k] - vertex_start;
    }
    cut->moved = !rbli_affine_is_identity(world);
    if (cut->moved) {
        if (!rbli_affine_invert(world, cut->inverse))
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "bone \"%s\" has a transform without an inverse",
                rbli_collection_string(in, "bone", "name", (size_t)cut->bone));
        cut->positions = rbli_alloc(ctx, (size_t)vertex_count, sizeof *cut->positions);
        RBL_TRY_ALLOC(cut->positions);
        for (int32_t v = 0; v < vertex_count; v++)
            rbli_affine_point(world, positions[vertex_start + v], cut->positions[v]);
    }
    cut->mesh = (rbli_mesh_view){cut->moved ? (const double(*)[3])cut->positions : positions + vertex_start,
        (size_t)vertex_count, cut->triangles ? (const int32_t(*)[3])cut->triangles : faces + face_start,
        (size_t)face_count};
done:
    return status;
}

/// Widens the boxes of sheets by those attached to the bones that are cut.
static void measure_sheets(const fracture_job *job, const double (*world)[16])
{
    const rbl_collection *in = job->in;
    const bool *sheet = rbli_collection_read(in, "bone", "sheet", RBL_BOOL);
    const int32_t *parent = rbli_collection_read(in, "bone", "parent", RBL_INT32);
    const int32_t *geometry = rbli_collection_read(in, "bone", "geometry", RBL_INT32);
    const int32_t *start = rbli_collection_read(in, "geometry", "vertex_start", RBL_INT32);
    const int32_t *count = rbli_collection_read(in, "geometry", "vertex_count", RBL_INT32);
    const double(*positions)[3] = rbli_collection_read(in, "vertex", "position", RBL_VEC3);
    size_t bones = rbli_collection_size(in, "bone");
    for (size_t i = 0; i < job->cut_count; i++) {
        bone_cut *cut = &job->cuts[i];
        for (int k = 0; k < 3; k++) {
            cut->sheet_min[k] = HUGE_VAL;
            cut->sheet_max[k] = -HUGE_VAL;
        }
        for (size_t b = (size_t)cut->bone + 1; sheet && b < bones; b++) {
            if (!sheet[b] || parent[b] != cut->bone || geometry[b] < 0) continue;
            for (int32_t v = start[geometry[b]]; v < start[geometry[b]] + count[geometry[b]]; v++) {
                double p[3];
                rbli_affine_point(world[b], positions[v], p);
                for (int k = 0; k < 3; k++) {
                    cut->sheet_min[k] = fmin(cut->sheet_min[k], p[k]);
                    cut->sheet_max[k] = fmax(cut->sheet_max[k], p[k]);
                }
            }
        }
    }
}

rbl_status rbli_fracture_collect(rbl_context *ctx, fracture_job *job)
{
    rbl_status status = RBL_OK;
    int32_t *leaves = NULL;
    size_t leaf_count = 0;
    double(*world)[16] = NULL;
    RBL_TRY(rbli_rigid_leaves(ctx, job->in, job->options->selection, &leaves, &leaf_count));
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, job->in, &world));
    job->cuts = rbli_calloc(ctx, leaf_count, sizeof *job->cuts);
    RBL_TRY_ALLOC(job->cuts);
    const int32_t *geometry = rbli_collection_read(job->in, "bone", "geometry", RBL_INT32);
    for (size_t i = 0; i < leaf_count; i++) {
        rbli_rng rng = rbli_rng_make(job->options->seed, RBLI_RNG_CHANCE, (uint64_t)leaves[i]);
        if (rbli_rng_double(&rng) >= job->options->chance) continue;
        bone_cut *cut = &job->cuts[job->cut_count++];
        cut->bone = leaves[i];
        cut->geometry = geometry[leaves[i]];
        RBL_TRY(prepare_bone(ctx, job->in, world[leaves[i]], cut));
    }
    measure_sheets(job, (const double(*)[16])world);
done:
    rbli_free(ctx, leaves);
    rbli_free(ctx, world);
    return status;
}

/// Widens a box to the bounds of a mesh's used vertices.
static void grow_box(const rbli_mesh_view *mesh, double low[3], double high[3])
{
    for (size_t v = 0; v < mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            double x = mesh->positions[v][k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        }
}

/// Padding of a box on every side, as a part of its longest edge.
static const double PADDING = 1.0 / 16;

/// Opens the gaps: the complex becomes the eroded one, and what it was is kept for the contacts.
static rbl_status open_gaps(rbl_context *ctx, const fracture_job *job, rbli_cell_complex **complex,
    rbli_cell_complex **gapless, size_t *vanished)
{
    rbl_status status = RBL_OK;
    rbli_cell_complex *eroded = NULL;
    RBL_TRY(rbli_complex_erode(ctx, *complex, job->options->grout / 2, vanished, &eroded));
    *gapless = *complex;
    *complex = eroded;
done:
    return status;
}

/// Makes the complex rough where the cuts first … first + count − 1 are.
static rbl_status add_noise(rbl_context *ctx, const fracture_job *job, size_t first, size_t count,
    uint32_t seed, rbli_cell_complex **complex, rbli_noise_report *report)
{
    rbl_status status = RBL_OK;
    rbli_noise_options options = job->options->noise;
    rbli_cell_complex *rough = NULL;
    rbli_mesh_view *meshes = rbli_alloc(ctx, count, sizeof *meshes);
    RBL_TRY_ALLOC(meshes);
    for (size_t i = 0; i < count; i++)
        meshes[i] = job->cuts[first + i].mesh;
    options.noise.seed = seed;
    options.gap = job->options->grout;
    RBL_TRY(rbli_noise_complex(ctx, *complex, &options, meshes, count, report, &rough));
    rbli_cell_complex_destroy(ctx, *complex);
    *complex = rough;
done:
    rbli_free(ctx, meshes);
    return status;
}

/// Gaps and noise of the complex of the cuts first … first + count − 1.
static rbl_status work_on_complex(rbl_context *ctx, const fracture_job *job, size_t first, size_t count,
    uint32_t seed, rbli_cell_complex **complex, rbli_cell_complex **gapless, complex_report *report)
{
    rbl_status status = RBL_OK;
    if (job->options->grout > 0)
        RBLI_PHASE(ctx, "open gaps", open_gaps(ctx, job, complex, gapless, &report->vanished_count));
    if (job->options->noise.noise.amplitude > 0)
        RBLI_PHASE(ctx, "add noise", add_noise(ctx, job, first, count, seed, complex, &report->noise));
done:
    return status;
}

static rbl_status work_on_own_complex(rbl_context *ctx, const fracture_job *job, size_t i)
{
    bone_cut *cut = &job->cuts[i];
    return work_on_complex(ctx, job, i, 1, cut->seed, &cut->complex, &cut->gapless, &cut->report);
}

static rbl_status work_on_complexes(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const fracture_job *job = user;
    rbl_status status = RBL_OK;
    for (size_t i = begin; i < end; i++)
        RBL_TRY(work_on_own_complex(ctx, job, i));
done:
    return status;
}

static void remark_on(rbl_context *ctx, const fracture_job *job, const rbli_complex_facts *facts)
{
    if (job->options->remark) job->options->remark(ctx, facts, job->options->user);
}

static void add_report(fracture_job *job, const complex_report *report)
{
    job->vanished_count += report->vanished_count;
    job->noise_spacing = fmax(job->noise_spacing, report->noise.spacing);
    job->moved_count += report->noise.moved_count;
    job->reduced_count += report->noise.reduced_count;
}

/// The complex of the cuts first … first + count − 1 over their padded box, without gaps and noise.
static rbl_status make_complex(rbl_context *ctx, const fracture_job *job, size_t first, size_t count,
    uint32_t seed, rbli_complex_facts *facts, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    rbli_cut_domain domain = {.seed = seed};
    for (int k = 0; k < 3; k++) {
        domain.object_min[k] = HUGE_VAL;
        domain.object_max[k] = -HUGE_VAL;
    }
    for (size_t i = first; i < first + count; i++)
        grow_box(&job->cuts[i].mesh, domain.object_min, domain.object_max);
    double padding = 0;
    for (int k = 0; k < 3; k++)
        padding = fmax(padding, domain.object_max[k] - domain.object_min[k]);
    padding = padding * PADDING + job->options->grout / 2 + 2 * rbli_noise_bound(&job->options->noise.noise);
    for (int k = 0; k < 3; k++) {
        domain.box_min[k] = domain.object_min[k] - padding;
        domain.box_max[k] = domain.object_max[k] + padding;
        for (size_t i = first; i < first + count; i++) {
            domain.box_min[k] = fmin(domain.box_min[k], job->cuts[i].sheet_min[k] - padding);
            domain.box_max[k] = fmax(domain.box_max[k], job->cuts[i].sheet_max[k] + padding);
        }
    }
    RBLI_PHASE(ctx, "make cells", job->options->make_complex(ctx, &domain, job->options->user, facts, out));
done:
    return status;
}

static rbl_status make_own_complex(rbl_context *ctx, const fracture_job *job, size_t i)
{
    bone_cut *cut = &job->cuts[i];
    rbli_rng rng = rbli_rng_make(job->options->seed, RBLI_RNG_BONE_SEED, (uint64_t)cut->bone);
    cut->seed = rbli_rng_u32(&rng);
    rbl_status status = make_complex(ctx, job, i, 1, cut->seed, &cut->facts, &cut->complex);
    cut->made = status == RBL_OK;
    return status;
}

static rbl_status cut_bone(rbl_context *ctx, const fracture_job *job, bone_cut *cut)
{
    rbl_status status = RBL_OK;
    rbli_cut_options options = {
        .split_islands = job->options->split_islands, .drop_outside = !job->options->keep_outside};
    const rbli_cell_complex *k = complex_of(job, cut);
    const rbli_cell_complex *gapless = cut->gapless ? cut->gapless : job->shared_gapless;
    rbli_cut_result *whole = NULL;
    RBL_TRY(rbli_cut(ctx, &cut->mesh, k, &options, &cut->result));
    if (job->options->after_cut) RBL_TRY(job->options->after_cut(ctx, cut->result, job->options->user));
    if (job->options->close_vertex_distance > 0 || job->options->bridge_distance > 0)
        RBL_TRY(rbli_join_near_islands(
            ctx, cut->result, job->options->close_vertex_distance, job->options->bridge_distance));
    if (gapless && options.drop_outside) {
        options = (rbli_cut_options){.split_islands = options.split_islands, .contacts_only = true};
        RBL_TRY(rbli_cut(ctx, &cut->mesh, gapless, &options, &whole));
        RBL_TRY(rbli_contacts_across_gaps(
            ctx, cut->result, k->cell_site, whole, gapless->cell_site, cut->mesh.triangle_count));
    }
done:
    rbli_cut_result_destroy(ctx, whole);
    return status;
}

/// Cuts bones by the shared complex or their own, which it makes where it is not there yet.
static rbl_status cut_bones(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const fracture_job *job = user;
    rbl_status status = RBL_OK;
    for (size_t i = begin; i < end; i++) {
        if (!complex_of(job, &job->cuts[i])) {
            RBL_TRY(make_own_complex(ctx, job, i));
            RBL_TRY(work_on_own_complex(ctx, job, i));
        }
        status = cut_bone(ctx, job, &job->cuts[i]);
        if (status == RBL_ERR_OPEN_MESH || status == RBL_ERR_INTERNAL || status == RBL_ERR_MESH)
            rbli_fail(ctx, status, "while cutting bone \"%s\"",
                rbli_collection_string(job->in, "bone", "name", (size_t)job->cuts[i].bone));
        if (status != RBL_OK) goto done;
        job->cuts[i].done = true;
    }
done:
    return status;
}

/// One complex for all bones.
static rbl_status share_complex(rbl_context *ctx, fracture_job *job)
{
    rbl_status status = RBL_OK;
    uint32_t seed = job->options->seed;
    rbli_complex_facts facts = {0};
    complex_report report = {0};
    RBL_TRY(make_complex(ctx, job, 0, job->cut_count, seed, &facts, &job->shared));
    remark_on(ctx, job, &facts);
    RBL_TRY(work_on_complex(ctx, job, 0, job->cut_count, seed, &job->shared, &job->shared_gapless, &report));
    add_report(job, &report);
done:
    return status;
}

/// A complex for each of a few bones. Cells are made by all threads, gaps and noise side by side.
static rbl_status make_own_complexes(rbl_context *ctx, fracture_job *job)
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < job->cut_count; i++) {
        RBL_TRY(make_own_complex(ctx, job, i));
        remark_on(ctx, job, &job->cuts[i].facts);
    }
    if (job->cut_count > 1)
        RBL_TRY(rbli_parallel_for(ctx, job->cut_count, 1, work_on_complexes, job));
    else /* not in a block: its own loops have the threads */
        RBL_TRY(work_on_complexes(ctx, 0, job->cut_count, 0, 0, job));
done:
    return status;
}

/// Works on many bones at once. Remarks on their complexes are said in the order of the bones; where one fails, up to it
/// and before its error, whatever became of those behind.
static rbl_status cut_side_by_side(rbl_context *ctx, fracture_job *job)
{
    rbl_context apart = *ctx;
    rbli_messages *errors = ctx->messages ? rbli_messages_create(ctx->allocator) : NULL;
    if (ctx->messages && !errors) return RBL_ERR_NO_MEMORY;
    apart.messages = errors;
    rbl_status status = rbli_parallel_for(&apart, job->cut_count, 1, cut_bones, job);
    for (size_t i = 0; i < job->cut_count; i++) {
        if (job->cuts[i].made) remark_on(ctx, job, &job->cuts[i].facts);
        if (!job->cuts[i].done) break;
    }
    for (size_t i = 0; errors && i < rbli_messages_count(errors); i++) {
        const rbli_message *error = rbli_messages_get(errors, i);
        rbli_messages_append(ctx->messages, error->severity, error->status, error->text);
    }
    rbli_messages_destroy(errors);
    return status;
}

rbl_status rbli_fracture_cut(rbl_context *ctx, fracture_job *job)
{
    rbl_status status = RBL_OK;
    if (job->cut_count == 0) return RBL_OK;
    if (job->options->group) RBL_TRY(share_complex(ctx, job));
    if (job->cut_count >= BONES_SIDE_BY_SIDE) {
        RBL_TRY(cut_side_by_side(ctx, job));
    } else {
        if (!job->options->group) RBL_TRY(make_own_complexes(ctx, job));
        RBL_TRY(cut_bones(ctx, 0, job->cut_count, 0, 0, job));
    }
    for (size_t i = 0; i < job->cut_count && !job->options->group; i++)
        add_report(job, &job->cuts[i].report);
done:
    return status;
}

void rbli_fracture_free(rbl_context *ctx, fracture_job *job)
{
    for (size_t i = 0; i < job->cut_count; i++) {
        rbli_cut_result_destroy(ctx, job->cuts[i].result);
        rbli_cell_complex_destroy(ctx, job->cuts[i].complex);
        rbli_cell_complex_destroy(ctx, job->cuts[i].gapless);
        rbli_free(ctx, job->cuts[i].positions);
        rbli_free(ctx, job->cuts[i].triangles);
    }
    rbli_free(ctx, job->cuts);
    rbli_cell_complex_destroy(ctx, job->shared);
    rbli_cell_complex_destroy(ctx, job->shared_gapless);
}
