/// State of bones: attributes written into a copy.

#include "fracture/ops/state.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/mass_properties.h"
#include "fracture/ops/asset_stats.h"
#include "fracture/ops/hull_group.h"
#include "fracture/ops/select.h"

rbl_status rbli_set_anchored(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    bool anchored, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *copy = NULL;
    bool *mask = NULL, *values;
    RBL_TRY(rbli_bone_mask(ctx, in, selection, true, &mask));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(rbli_collection_write(ctx, copy, "bone", "anchored", RBL_BOOL, (void **)&values));
    for (size_t b = 0; b < rbli_collection_size(in, "bone"); b++)
        if (mask[b]) values[b] = anchored;
    *out = copy;
    copy = NULL;
done:
    rbli_free(ctx, mask);
    rbli_collection_release(copy);
    return status;
}

rbl_status rbli_set_simulation_type(rbl_context *ctx, const rbl_collection *in,
    const rbli_selection *selection, rbli_simulation_type type, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *copy = NULL;
    bool *mask = NULL;
    int32_t *values;
    RBL_TRY(rbli_bone_mask(ctx, in, selection, false, &mask));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(rbli_collection_write(ctx, copy, "bone", "simulation_type", RBL_INT32, (void **)&values));
    for (size_t b = 0; b < rbli_collection_size(in, "bone"); b++)
        if (mask[b]) values[b] = type;
    *out = copy;
    copy = NULL;
done:
    rbli_free(ctx, mask);
    rbli_collection_release(copy);
    return status;
}

/* ---- materials of bones ---- */

static double area_of(const double a[3], const double b[3], const double c[3])
{
    double u[3], v[3], n[3];
    for (int k = 0; k < 3; k++)
        u[k] = b[k] - a[k], v[k] = c[k] - a[k];
    for (int k = 0; k < 3; k++)
        n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
}

/// For each bone which of the patterns matches the material of most of its surface and of all below it;
/// `count` for none of them. Areas are taken in the bones' frames.
static rbl_status match_materials(rbl_context *ctx, const rbl_collection *in, const char *const *patterns,
    size_t pattern_count, size_t **out)
{
    rbl_status status = RBL_OK;
    size_t bone_count = rbli_collection_size(in, "bone"),
           material_count = rbli_collection_size(in, "material"), columns = pattern_count + 1;
    const int32_t *parent = rbli_collection_read(in, "bone", "parent", RBL_INT32),
                  *owner = rbli_collection_read(in, "geometry", "bone", RBL_INT32),
                  *start = rbli_collection_read(in, "geometry", "face_start", RBL_INT32),
                  *length = rbli_collection_read(in, "geometry", "face_count", RBL_INT32),
                  *material = rbli_collection_read(in, "face", "material", RBL_INT32);
    const int32_t(*faces)[3] = rbli_collection_read(in, "face", "vertices", RBL_INT32_3);
    const double(*positions)[3] = rbli_collection_read(in, "vertex", "position", RBL_VEC3);
    size_t *column_of = NULL, *choice = NULL;
    double *areas = NULL;
    RBL_TRY_ALLOC(column_of = rbli_alloc(ctx, material_count, sizeof *column_of));
    RBL_TRY_ALLOC(choice = rbli_alloc(ctx, bone_count, sizeof *choice));
    if (columns > SIZE_MAX / sizeof *areas) RBL_TRY(RBL_ERR_NO_MEMORY);
    RBL_TRY_ALLOC(areas = rbli_calloc(ctx, bone_count, columns * sizeof *areas));
    for (size_t m = 0; m < material_count; m++) {
        const char *name = rbli_collection_string(in, "material", "name", m);
        for (column_of[m] = 0; column_of[m] < pattern_count; column_of[m]++)
            if (rbli_glob_match(patterns[column_of[m]], name)) break;
    }
    for (size_t g = 0; g < rbli_collection_size(in, "geometry"); g++)
        for (int32_t f = start[g]; f < start[g] + length[g]; f++)
            areas[(size_t)owner[g] * columns + column_of[material[f]]] +=
                area_of(positions[faces[f][0]], positions[faces[f][1]], positions[faces[f][2]]);
    for (size_t b = bone_count; b-- > 0;) {
        double *own = areas + b * columns;
        choice[b] = pattern_count;
        for (size_t c = pattern_count; c-- > 0;)
            if (own[c] > 0 && own[c] >= own[choice[b]]) choice[b] = c;
        for (size_t c = 0; parent[b] >= 0 && c < columns; c++)
            areas[(size_t)parent[b] * columns + c] += own[c];
    }
    *out = choice;
    choice = NULL;
done:
    rbli_free(ctx, column_of);
    rbli_free(ctx, choice);
    rbli_free(ctx, areas);
    return status;
}

/* ---- damage ---- */

/// The number of the value that each bone takes, before the last one repeats.
static rbl_status choose_thresholds(
    rbl_context *ctx, const rbl_collection *in, const rbli_damage_options *options, size_t **out)
{
    rbl_status status = RBL_OK;
    rbli_asset_stats stats = {0};
    size_t bone_count = rbli_collection_size(in, "bone"), *choice = NULL;
    if (options->by == RBLI_THRESHOLD_MATERIAL) {
        RBL_TRY(match_materials(ctx, in, options->materials, options->material_count, &choice));
        for (size_t b = 0; b < bone_count; b++)
            if (choice[b] == options->material_count) choice[b] = options->threshold_count - 1;
    } else if (options->by == RBLI_THRESHOLD_SIZE) {
        RBL_TRY(rbli_asset_stats_compute(ctx, in, &stats));
        RBL_TRY_ALLOC(choice = rbli_alloc(ctx, bone_count, sizeof *choice));
        for (size_t b = 0; b < bone_count; b++) {
            size_t i = 0;
            for (; i < options->size_count; i++) {
                double size = options->sizes[i];
                if (stats.bones[b].volume >= size * size * size * stats.all.volume) break;
            }
            choice[b] = i < options->size_count ? i : options->threshold_count - 1;
        }
    } else {
        const int32_t *level = rbli_collection_read(in, "bone", "level", RBL_INT32);
        if (!level && bone_count > 0) RBL_TRY(rbli_fail(ctx, RBL_ERR_COLLECTION, "there is no bone.level"));
        RBL_TRY_ALLOC(choice = rbli_alloc(ctx, bone_count, sizeof *choice));
        for (size_t b = 0; b < bone_count; b++)
            choice[b] = level[b] > 1 ? (size_t)level[b] - 1 : 0;
    }
    *out = choice;
    choice = NULL;
done:
    rbli_free(ctx, choice);
    rbli_asset_stats_free(ctx, &stats);
    return status;
}

rbl_status rbli_set_damage_thresholds(
    rbl_context *ctx, const rbl_collection *in, const rbli_damage_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *copy = NULL;
    bool *mask = NULL;
    size_t *choice = NULL, last = options->threshold_count - 1;
    double *values;
    if (options->threshold_count == 0)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "there must be at least one threshold");
    RBL_TRY(rbli_bone_mask(ctx, in, options->selection, false, &mask));
    RBL_TRY(choose_thresholds(ctx, in, options, &choice));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(rbli_collection_write(ctx, copy, "bone", "damage_threshold", RBL_DOUBLE, (void **)&values));
    for (size_t b = 0; b < rbli_collection_size(in, "bone"); b++)
        if (mask[b]) values[b] = options->thresholds[choice[b] < last ? choice[b] : last];
    *out = copy;
    copy = NULL;
done:
    rbli_free(ctx, mask);
    rbli_free(ctx, choice);
    rbli_collection_release(copy);
    return status;
}

/* ---- removal ---- */

rbli_removal_options rbli_removal_default_options(void)
{
    return (rbli_removal_options){.sleep_time = {5, 10},
        .sleep_removal_time = {2.5, 5},
        .sleep_speed = 0.01,
        .break_time = {0, 0},
        .break_removal_time = {2, 3}};
}

static rbl_status set_range(
    rbl_context *ctx, rbl_collection *copy, const char *name, const bool *mask, const double range[2])
{
    double(*values)[2];
    rbl_status status = rbli_collection_write(ctx, copy, "bone", name, RBL_VEC2, (void **)&values);
    for (size_t b = 0; status == RBL_OK && b < rbli_collection_size(copy, "bone"); b++)
        if (mask[b]) memcpy(values[b], range, sizeof values[b]);
    return status;
}

static rbl_status set_flag(
    rbl_context *ctx, rbl_collection *copy, const char *name, const bool *mask, bool value)
{
    bool *values;
    rbl_status status = rbli_collection_write(ctx, copy, "bone", name, RBL_BOOL, (void **)&values);
    for (size_t b = 0; status == RBL_OK && b < rbli_collection_size(copy, "bone"); b++)
        if (mask[b]) values[b] = value;
    return status;
}

rbl_status rbli_set_removal(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    const rbli_removal_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *copy = NULL;
    bool *mask = NULL;
    double *speed;
    RBL_TRY(rbli_bone_mask(ctx, in, selection, false, &mask));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(set_flag(ctx, copy, "remove_on_sleep", mask, options->on_sleep));
    RBL_TRY(set_flag(ctx, copy, "remove_on_break", mask, options->on_break));
    RBL_TRY(set_flag(ctx, copy, "crumble_on_break", mask, options->on_break && options->crumble_clusters));
    RBL_TRY(set_range(ctx, copy, "sleep_time", mask, options->sleep_time));
    RBL_TRY(set_range(ctx, copy, "sleep_removal_time", mask, options->sleep_removal_time));
    RBL_TRY(set_range(ctx, copy, "break_time", mask, options->break_time));
    RBL_TRY(set_range(ctx, copy, "break_removal_time", mask, options->break_removal_time));
    RBL_TRY(rbli_collection_write(ctx, copy, "bone", "sleep_speed", RBL_DOUBLE, (void **)&speed));
    for (size_t b = 0; b < rbli_collection_size(in, "bone"); b++)
        if (mask[b]) speed[b] = options->sleep_speed;
    *out = copy;
    copy = NULL;
done:
    rbli_free(ctx, mask);
    rbli_collection_release(copy);
    return status;
}

/* ---- mass ---- */

rbli_set_mass_options rbli_set_mass_default_options(void)
{
    return (rbli_set_mass_options){.density = 2400};
}

typedef struct mass_jobs {
    const int32_t *owner, *face_start, *face_count;
    const int32_t (*faces)[3];
    const double (*positions)[3];
    const bool *sheet;
    const size_t *choice; /* NULL: no densities of materials */
    const rbli_set_mass_options *options;
    double (*world)[16];
    rbli_mass *bodies; /* [bone count] */
} mass_jobs;

static rbl_status weigh(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const mass_jobs *jobs = user;
    for (size_t g = begin; g < end; g++) {
        int32_t bone = jobs->owner[g];
        if (jobs->sheet && jobs->sheet[bone]) continue;
        size_t choice = jobs->choice ? jobs->choice[bone] : jobs->options->material_count;
        double density = choice < jobs->options->material_count ? jobs->options->materials[choice].density
                                                                : jobs->options->density;
        rbli_mass body = rbli_mass_of_mesh(
            jobs->positions, jobs->faces + jobs->face_start[g], (size_t)jobs->face_count[g]);
        if (!(body.mass > 0)) continue; /* flat, or inside out: no weight */
        body = rbli_mass_transform(&body, jobs->world[bone]);
        jobs->bodies[bone] = rbli_mass_scale(&body, density);
    }
    return RBL_OK;
}

/// A point of the world in the frame of a bone; the origin when its transform cannot be inverted.
static void to_frame(const double m[16], const double world[3], double out[3])
{
    double p[3];
    for (int k = 0; k < 3; k++)
        p[k] = world[k] - m[12 + k];
    double determinant = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[4] * (m[1] * m[10] - m[2] * m[9]) +
                         m[8] * (m[1] * m[6] - m[2] * m[5]);
    for (int k = 0; k < 3; k++) {
        const double *u = m + 4 * ((k + 1) % 3), *v = m + 4 * ((k + 2) % 3);
        double n = p[0] * (u[1] * v[2] - u[2] * v[1]) + p[1] * (u[2] * v[0] - u[0] * v[2]) +
                   p[2] * (u[0] * v[1] - u[1] * v[0]);
        out[k] = determinant != 0 ? n / determinant : 0;
    }
}

static rbl_status write_masses(rbl_context *ctx, rbl_collection *copy, const mass_jobs *jobs)
{
    rbl_status status = RBL_OK;
    double *mass, (*center)[3], (*inertia)[3], (*products)[3];
    RBL_TRY(rbli_collection_write(ctx, copy, "bone", "mass", RBL_DOUBLE, (void **)&mass));
    RBL_TRY(rbli_collection_write(ctx, copy, "bone", "center_of_mass", RBL_VEC3, (void **)&center));
    RBL_TRY(rbli_collection_write(ctx, copy, "bone", "inertia", RBL_VEC3, (void **)&inertia));
    RBL_TRY(rbli_collection_write(ctx, copy, "bone", "inertia_products", RBL_VEC3, (void **)&products));
    for (size_t b = 0; b < rbli_collection_size(copy, "bone"); b++) {
        const rbli_mass *body = &jobs->bodies[b];
        mass[b] = body->mass;
        memset(center[b], 0, sizeof center[b]);
        if (body->mass > 0) to_frame(jobs->world[b], body->center, center[b]);
        rbli_mass_inertia(body, inertia[b], products[b]);
    }
done:
    return status;
}

rbl_status rbli_set_mass(
    rbl_context *ctx, const rbl_collection *in, const rbli_set_mass_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *copy = NULL;
    size_t bone_count = rbli_collection_size(in, "bone"), *choice = NULL;
    const char **patterns = NULL;
    const int32_t *parent = rbli_collection_read(in, "bone", "parent", RBL_INT32);
    mass_jobs jobs = {.owner = rbli_collection_read(in, "geometry", "bone", RBL_INT32),
        .face_start = rbli_collection_read(in, "geometry", "face_start", RBL_INT32),
        .face_count = rbli_collection_read(in, "geometry", "face_count", RBL_INT32),
        .faces = rbli_collection_read(in, "face", "vertices", RBL_INT32_3),
        .positions = rbli_collection_read(in, "vertex", "position", RBL_VEC3),
        .sheet = rbli_collection_read(in, "bone", "sheet", RBL_BOOL),
        .options = options};
    if (!jobs.owner || !jobs.face_start || !jobs.face_count || !jobs.faces || !jobs.positions || !parent)
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "the collection lacks attributes of an asset");
    if (options->material_count > 0) {
        RBL_TRY_ALLOC(patterns = rbli_alloc(ctx, options->material_count, sizeof *patterns));
        for (size_t i = 0; i < options->material_count; i++)
            patterns[i] = options->materials[i].material;
        RBL_TRY(match_materials(ctx, in, patterns, options->material_count, &choice));
        jobs.choice = choice;
    }
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, in, &jobs.world));
    RBL_TRY_ALLOC(jobs.bodies = rbli_calloc(ctx, bone_count, sizeof *jobs.bodies));
    RBL_TRY(rbli_parallel_for(ctx, rbli_collection_size(in, "geometry"), 16, weigh, &jobs));
    for (size_t b = bone_count; b-- > 0;)
        if (parent[b] >= 0) jobs.bodies[parent[b]] = rbli_mass_add(&jobs.bodies[parent[b]], &jobs.bodies[b]);
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(write_masses(ctx, copy, &jobs));
    *out = copy;
    copy = NULL;
done:
    rbli_free(ctx, choice);
    rbli_free(ctx, patterns);
    rbli_free(ctx, jobs.world);
    rbli_free(ctx, jobs.bodies);
    rbli_collection_release(copy);
    return status;
}
