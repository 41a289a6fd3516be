/// Cutting by meshes: parts of the cutter, copies of them, batches that lie apart, one cut a batch.

#include "fracture/ops/mesh_cut.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/elementary.h"
#include "fracture/geometry/mesh_complex.h"
#include "fracture/ops/join_films.h"
#include "fracture/ops/proximity.h"

/// Thickness of the film behind a sheet, relative to the size of what is cut and of the sheet.
static const double FILM = 1e-5;
/// Padding of the box around a cutter, as a part of its longest side.
static const double PADDING = 1.0 / 16;

/// A part of the cutter: a closed geometry, or a connected part of an open one.
typedef struct cutter_part {
    double (*positions)[3];
    size_t vertex_count;
    int32_t (*triangles)[3];
    size_t triangle_count;
    bool closed;
} cutter_part;

/// A part where a copy has it.
typedef struct placed_part {
    const cutter_part *part;
    double (*positions)[3];
    double low[3], high[3];
    int32_t site, batch;
} placed_part;

typedef struct mesh_cut {
    const rbl_collection *in;
    const rbli_fracture_options *options;
    const rbli_mesh_cut_options *copies;
    RBLI_ARRAY(cutter_part) parts;
    RBLI_ARRAY(placed_part) placed;
    size_t batch_count;
    double low[3], high[3];        /* of the cutter */
    rbl_collection *collection;    /* as cut so far */
    RBLI_ARRAY(int32_t) fragments; /* bones to cut by what is left */
    size_t stages;
} mesh_cut;

/// What the complex of a batch is made from.
typedef struct batch_job {
    const mesh_cut *cut;
    size_t batch;
    size_t sheet_facets; /* 0: solids */
} batch_job;

rbli_mesh_cut_options rbli_mesh_cut_default_options(void)
{
    return (rbli_mesh_cut_options){.count = 10,
        .grid = {2, 2, 2},
        .scale_min = 0.5,
        .scale_max = 1.5,
        .random_orientation = true,
        .roll_rad = RBLI_PI,
        .pitch_rad = RBLI_PI,
        .yaw_rad = RBLI_PI};
}

static void free_cut(rbl_context *ctx, mesh_cut *m)
{
    for (size_t i = 0; i < m->parts.count; i++) {
        rbli_free(ctx, m->parts.data[i].positions);
        rbli_free(ctx, m->parts.data[i].triangles);
    }
    for (size_t i = 0; i < m->placed.count; i++)
        rbli_free(ctx, m->placed.data[i].positions);
    rbli_free(ctx, m->parts.data);
    rbli_free(ctx, m->placed.data);
    rbli_free(ctx, m->fragments.data);
    rbli_collection_release(m->collection);
}

static void empty_box(double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
}

static void grow_box(const double p[3], double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = fmin(low[k], p[k]);
        high[k] = fmax(high[k], p[k]);
    }
}

/* ---- the cutter ---- */

/// Copies the triangles whose root is `root` (−1: all) as a part.
static rbl_status add_part(rbl_context *ctx, mesh_cut *m, const rbli_mesh_view *mesh, const int32_t *roots,
    int32_t root, bool closed)
{
    rbl_status status = RBL_OK;
    cutter_part part = {.closed = closed};
    int32_t *number = rbli_alloc(ctx, mesh->vertex_count, sizeof *number);
    RBL_TRY_ALLOC(number);
    RBL_TRY_ALLOC(part.positions = rbli_alloc(ctx, mesh->vertex_count, sizeof *part.positions));
    RBL_TRY_ALLOC(part.triangles = rbli_alloc(ctx, mesh->triangle_count, sizeof *part.triangles));
    memset(number, 0xff, mesh->vertex_count * sizeof *number);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangles[t];
        if (root >= 0 && roots[v[0]] != root) continue;
        for (int c = 0; c < 3; c++) {
            if (number[v[c]] < 0) {
                number[v[c]] = (int32_t)part.vertex_count;
                memcpy(part.positions[part.vertex_count++], mesh->positions[v[c]], sizeof *part.positions);
                grow_box(mesh->positions[v[c]], m->low, m->high);
            }
            part.triangles[part.triangle_count][c] = number[v[c]];
        }
        part.triangle_count++;
    }
    RBL_TRY(rbli_array_push(ctx, &m->parts, part));
    part = (cutter_part){0};
done:
    rbli_free(ctx, number);
    rbli_free(ctx, part.positions);
    rbli_free(ctx, part.triangles);
    return status;
}

static int32_t find_root(int32_t *roots, int32_t v)
{
    while (roots[v] != v) {
        roots[v] = roots[roots[v]];
        v = roots[v];
    }
    return v;
}

/// An open geometry: its connected parts.
static rbl_status add_open_parts(rbl_context *ctx, mesh_cut *m, const rbli_mesh_view *mesh)
{
    rbl_status status = RBL_OK;
    int32_t *roots = rbli_alloc(ctx, mesh->vertex_count, sizeof *roots);
    bool *used = rbli_calloc(ctx, mesh->vertex_count, sizeof *used);
    RBL_TRY_ALLOC(roots);
    RBL_TRY_ALLOC(used);
    for (size_t v = 0; v < mesh->vertex_count; v++)
        roots[v] = (int32_t)v;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            int32_t a = find_root(roots, mesh->triangles[t][c]);
            int32_t b = find_root(roots, mesh->triangles[t][(c + 1) % 3]);
            roots[a < b ? b : a] = a < b ? a : b;
            used[mesh->triangles[t][c]] = true;
        }
    for (size_t v = 0; v < mesh->vertex_count; v++)
        roots[v] = find_root(roots, (int32_t)v);
    for (size_t v = 0; v < mesh->vertex_count; v++)
        if (used[v] && roots[v] == (int32_t)v) RBL_TRY(add_part(ctx, m, mesh, roots, (int32_t)v, false));
done:
    rbli_free(ctx, roots);
    rbli_free(ctx, used);
    return status;
}

static rbl_status add_geometry(
    rbl_context *ctx, mesh_cut *m, const rbl_collection *cutter, const rbli_world_surface *world, size_t g)
{
    rbl_status status = RBL_OK;
    size_t v0 =
        (size_t)((const int32_t *)rbli_collection_read(cutter, "geometry", "vertex_start", RBL_INT32))[g];
    size_t vn =
        (size_t)((const int32_t *)rbli_collection_read(cutter, "geometry", "vertex_count", RBL_INT32))[g];
    size_t f0 =
        (size_t)((const int32_t *)rbli_collection_read(cutter, "geometry", "face_start", RBL_INT32))[g];
    size_t fn =
        (size_t)((const int32_t *)rbli_collection_read(cutter, "geometry", "face_count", RBL_INT32))[g];
    const int32_t(*faces)[3] = rbli_collection_read(cutter, "face", "vertices", RBL_INT32_3);
    int32_t(*triangles)[3] = rbli_alloc(ctx, fn, sizeof *triangles);
    bool closed, crosses;
    double at[3];
    RBL_TRY_ALLOC(triangles);
    if (fn == 0) goto done;
    for (size_t t = 0; t < fn; t++)
        for (int c = 0; c < 3; c++)
            triangles[t][c] = faces[f0 + t][c] - (int32_t)v0;
    rbli_mesh_view mesh = {(const double(*)[3])world->positions + v0, vn, (const int32_t(*)[3])triangles, fn};
    RBL_TRY(rbli_mesh_is_closed(ctx, &mesh, &closed));
    RBL_TRY(rbli_mesh_crosses_itself(ctx, &mesh, &crosses, at));
    if (crosses) {
        status = rbli_fail(
            ctx, RBL_ERR_MESH, "the cutter crosses or touches itself near (%g, %g, %g)", at[0], at[1], at[2]);
        goto done;
    }
    RBL_TRY(closed ? add_part(ctx, m, &mesh, NULL, -1, true) : add_open_parts(ctx, m, &mesh));
done:
    rbli_free(ctx, triangles);
    return status;
}

static rbl_status load_cutter(rbl_context *ctx, mesh_cut *m, const rbl_collection *cutter)
{
    rbl_status status = RBL_OK;
    rbli_world_surface world = {0};
    const int32_t *bone = rbli_collection_read(cutter, "geometry", "bone", RBL_INT32);
    const int32_t *type = rbli_collection_read(cutter, "bone", "type", RBL_INT32);
    RBL_TRY(rbli_world_surface_build(ctx, cutter, &world));
    empty_box(m->low, m->high);
    for (size_t g = 0; bone && type && g < rbli_collection_size(cutter, "geometry"); g++)
        if (bone[g] >= 0 && type[bone[g]] == RBLI_BONE_RIGID)
            RBL_TRY(add_geometry(ctx, m, cutter, &world, g));
    if (m->parts.count == 0) status = rbli_fail(ctx, RBL_ERR_ARGUMENT, "the cutter has no face");
done:
    rbli_world_surface_free(ctx, &world);
    return status;
}

/* ---- copies ---- */

/// A rotation: about z, then x, then y.
static void make_rotation(double roll, double pitch, double yaw, double out[3][3])
{
    double cr = rbli_cos(roll), sr = rbli_sin(roll), cp = rbli_cos(pitch), sp = rbli_sin(pitch);
    double cy = rbli_cos(yaw), sy = rbli_sin(yaw);
    const double m[3][3] = {{cy * cr + sy * sp * sr, -cy * sr + sy * sp * cr, sy * cp},
        {cp * sr, cp * cr, -sp}, {-sy * cr + cy * sp * sr, sy * sr + cy * sp * cr, cy * cp}};
    memcpy(out, m, sizeof m);
}

static bool boxes_meet(const placed_part *a, const placed_part *b)
{
    for (int k = 0; k < 3; k++)
        if (a->high[k] < b->low[k] || b->high[k] < a->low[k]) return false;
    return true;
}

/// The first batch of solids that lie apart from this one; a sheet gets its own.
static int32_t choose_batch(mesh_cut *m, const placed_part *part)
{
    for (size_t batch = 0; part->part->closed && batch < m->batch_count; batch++) {
        bool apart = true;
        for (size_t i = 0; i < m->placed.count && apart; i++) {
            const placed_part *other = &m->placed.data[i];
            if (other->batch == (int32_t)batch) apart = other->part->closed && !boxes_meet(other, part);
        }
        if (apart) return (int32_t)batch;
    }
    return (int32_t)m->batch_count++;
}

/// Places all parts with their centre at `at`; NULL: where they are.
static rbl_status place_copy(
    rbl_context *ctx, mesh_cut *m, const double *at, double scale, const double turn[3][3], int32_t site)
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < m->parts.count; i++) {
        placed_part placed = {.part = &m->parts.data[i], .site = site};
        RBL_TRY_ALLOC(
            placed.positions = rbli_alloc(ctx, placed.part->vertex_count, sizeof *placed.positions));
        empty_box(placed.low, placed.high);
        for (size_t v = 0; v < placed.part->vertex_count; v++) {
            const double *from = placed.part->positions[v];
            double d[3];
            for (int k = 0; k < 3; k++)
                d[k] = scale * (from[k] - 0.5 * (m->low[k] + m->high[k]));
            for (int k = 0; k < 3; k++)
                placed.positions[v][k] =
                    at ? at[k] + turn[k][0] * d[0] + turn[k][1] * d[1] + turn[k][2] * d[2] : from[k];
            grow_box(placed.positions[v], placed.low, placed.high);
        }
        placed.batch = choose_batch(m, &placed);
        if (rbli_array_push(ctx, &m->placed, placed) != RBL_OK) {
            rbli_free(ctx, placed.positions);
            return RBL_ERR_NO_MEMORY;
        }
    }
done:
    return status;
}

/// Places the copies over the bounds of what is cut.
static rbl_status place_copies(
    rbl_context *ctx, mesh_cut *m, const double low[3], const double high[3], uint32_t seed)
{
    rbl_status status = RBL_OK;
    const rbli_mesh_cut_options *o = m->copies;
    bool grid = o->distribution == RBLI_COPIES_GRID;
    for (size_t i = 0; i < m->placed.count; i++)
        rbli_free(ctx, m->placed.data[i].positions);
    m->placed.count = m->batch_count = 0;
    if (o->distribution == RBLI_COPIES_SINGLE) return place_copy(ctx, m, NULL, 1, NULL, 1);
    size_t count = grid ? (size_t)(o->grid[0] * o->grid[1] * o->grid[2]) : o->count;
    for (size_t i = 0; i < count; i++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_MESH_COPIES, i);
        double at[3], turn[3][3], draws[7];
        for (int k = 0; k < 7; k++)
            draws[k] = rbli_rng_double(&rng);
        size_t cell[3] = {i % (size_t)o->grid[0], i / (size_t)o->grid[0] % (size_t)o->grid[1],
            i / (size_t)o->grid[0] / (size_t)o->grid[1]};
        for (int k = 0; k < 3; k++)
            at[k] = grid ? low[k] + (high[k] - low[k]) * ((double)cell[k] + 0.5) / (double)o->grid[k] +
                               o->variability * (2 * draws[k] - 1)
                         : low[k] + (high[k] - low[k]) * draws[k];
        double turned = o->random_orientation ? 1 : 0;
        make_rotation(turned * o->roll_rad * (2 * draws[4] - 1), turned * o->pitch_rad * (2 * draws[5] - 1),
            turned * o->yaw_rad * (2 * draws[6] - 1), turn);
        double scale = o->scale_min + (o->scale_max - o->scale_min) * draws[3];
        RBL_TRY(place_copy(ctx, m, at, scale, (const double(*)[3])turn, (int32_t)i + 1));
    }
done:
    return status;
}

/* ---- one batch ---- */

static rbl_status make_complex(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    (void)facts;
    rbl_status status = RBL_OK;
    batch_job *job = user;
    const mesh_cut *m = job->cut;
    rbli_mesh_view *meshes = rbli_alloc(ctx, m->placed.count, sizeof *meshes);
    int32_t *sites = rbli_alloc(ctx, m->placed.count, sizeof *sites);
    double low[3], high[3], padding = 0;
    size_t count = 0;
    bool closed = true;
    RBL_TRY_ALLOC(meshes);
    RBL_TRY_ALLOC(sites);
    memcpy(low, domain->object_min, sizeof low);
    memcpy(high, domain->object_max, sizeof high);
    for (size_t i = 0; i < m->placed.count; i++) {
        const placed_part *p = &m->placed.data[i];
        if (p->batch != (int32_t)job->batch) continue;
        meshes[count] = (rbli_mesh_view){(const double(*)[3])p->positions, p->part->vertex_count,
            (const int32_t(*)[3])p->part->triangles, p->part->triangle_count};
        sites[count++] = p->site;
        closed = p->part->closed;
        grow_box(p->low, low, high);
        grow_box(p->high, low, high);
    }
    for (int k = 0; k < 3; k++)
        padding = fmax(padding, PADDING * (high[k] - low[k]));
    double thickness = FILM / PADDING * padding;
    for (int k = 0; k < 3; k++) {
        low[k] -= padding;
        high[k] += padding;
    }
    job->sheet_facets = 0;
    status = closed ? rbli_solids_complex(ctx, meshes, sites, count, low, high, out)
                    : rbli_sheet_complex(ctx, &meshes[0], thickness, low, high, &job->sheet_facets, out);
done:
    rbli_free(ctx, meshes);
    rbli_free(ctx, sites);
    return status;
}

static rbl_status after_cut(rbl_context *ctx, rbli_cut_result *result, void *user)
{
    const batch_job *job = user;
    return job->sheet_facets ? rbli_join_films(ctx, result, job->sheet_facets) : RBL_OK;
}

/// The fragments whose bounds meet a part of the batch.
static rbl_status choose_fragments(
    rbl_context *ctx, const mesh_cut *m, size_t batch, int32_t **out, size_t *count)
{
    rbl_status status = RBL_OK;
    double(*world)[16] = NULL;
    int32_t *chosen = rbli_alloc(ctx, m->fragments.count, sizeof *chosen);
    RBL_TRY_ALLOC(chosen);
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, m->collection, &world));
    const int32_t *geometry = rbli_collection_read(m->collection, "bone", "geometry", RBL_INT32);
    const double(*low)[3] = rbli_collection_read(m->collection, "geometry", "bounds_min", RBL_VEC3);
    const double(*high)[3] = rbli_collection_read(m->collection, "geometry", "bounds_max", RBL_VEC3);
    *count = 0;
    for (size_t i = 0; i < m->fragments.count; i++) {
        int32_t bone = m->fragments.data[i], g = geometry[bone];
        const double *t = world[bone];
        placed_part box = {0};
        empty_box(box.low, box.high);
        for (int c = 0; c < 8; c++) {
            double p[3], moved[3];
            for (int k = 0; k < 3; k++)
                p[k] = c >> k & 1 ? high[g][k] : low[g][k];
            for (int k = 0; k < 3; k++)
                moved[k] = t[k] * p[0] + t[4 + k] * p[1] + t[8 + k] * p[2] + t[12 + k];
            grow_box(moved, box.low, box.high);
        }
        bool meets = false;
        for (size_t j = 0; j < m->placed.count && !meets; j++)
            meets = m->placed.data[j].batch == (int32_t)batch && boxes_meet(&m->placed.data[j], &box);
        if (meets) chosen[(*count)++] = bone;
    }
    *out = chosen;
    chosen = NULL;
done:
    rbli_free(ctx, chosen);
    rbli_free(ctx, world);
    return status;
}

/// What lies in no inside of this batch keeps the site that it, or the fragment it came from, had.
static rbl_status keep_sites(
    rbl_context *ctx, const rbl_collection *before, rbl_collection *after, const int32_t *bones, size_t count)
{
    rbl_status status = RBL_OK;
    size_t old_count = rbli_collection_size(before, "bone");
    const int32_t *old = rbli_collection_read(before, "bone", "site", RBL_INT32);
    const int32_t *parent = rbli_collection_read(after, "bone", "parent", RBL_INT32);
    void *out;
    RBL_TRY(rbli_collection_write(ctx, after, "bone", "site", RBL_INT32, &out));
    int32_t *site = out;
    for (size_t i = 0; i < count; i++) {
        int32_t from = (size_t)bones[i] < old_count ? bones[i] : parent[bones[i]];
        if (site[bones[i]] <= 0 && old && from >= 0 && old[from] > 0) site[bones[i]] = old[from];
    }
done:
    return status;
}

/// Cuts the fragments that a batch may reach.
static rbl_status run_batch(rbl_context *ctx, mesh_cut *m, size_t batch)
{
    rbl_status status = RBL_OK;
    batch_job job = {.cut = m, .batch = batch};
    rbli_fracture_options options = *m->options;
    rbli_fracture_result result = {0};
    rbli_selection *selection = NULL;
    int32_t *chosen = NULL;
    size_t count, kept = 0;
    RBL_TRY(choose_fragments(ctx, m, batch, &chosen, &count));
    if (count == 0) goto done;
    RBL_TRY(rbli_selection_create(ctx, m->collection, chosen, count, &selection));
    options.selection = selection;
    options.chance = 1; /* drawn before */
    options.group = true;
    options.grout = 0;
    options.noise.noise.amplitude = 0;
    options.make_complex = make_complex;
    options.after_cut = after_cut;
    options.user = &job;
    RBL_TRY(rbli_fracture(ctx, m->collection, &options, &result));
    RBL_TRY(keep_sites(ctx, m->collection, result.collection, result.new_bones, result.new_count));
    for (size_t i = 0, c = 0; i < m->fragments.count; i++) { /* both ascend */
        if (c < count && chosen[c] == m->fragments.data[i])
            c++;
        else
            m->fragments.data[kept++] = m->fragments.data[i];
    }
    m->fragments.count = kept;
    RBL_TRY(rbli_array_reserve(ctx, &m->fragments, result.new_count));
    /* merge two ascending lists from behind */
    size_t a = kept, b = result.new_count, at = kept + result.new_count;
    m->fragments.count = at;
    while (b > 0)
        m->fragments.data[--at] = a > 0 && m->fragments.data[a - 1] > result.new_bones[b - 1]
                                      ? m->fragments.data[--a]
                                      : result.new_bones[--b];
    rbli_collection_release(m->collection);
    m->collection = result.collection;
    result.collection = NULL;
    m->stages++;
done:
    rbli_selection_release(selection);
    rbli_collection_release(result.collection);
    rbli_free(ctx, result.new_bones);
    rbli_free(ctx, chosen);
    return status;
}

/* ---- all ---- */

/// Cuts a set of bones by all copies over its bounds.
static rbl_status cut_target(rbl_context *ctx, mesh_cut *m, const int32_t *bones, size_t count, uint32_t seed,
    int32_t **pieces, size_t *piece_count)
{
    rbl_status status = RBL_OK;
    rbli_selection *selection = NULL;
    double low[3], high[3];
    bool found;
    RBL_TRY(rbli_selection_create(ctx, m->collection, bones, count, &selection));
    RBL_TRY(rbli_world_bounds(ctx, m->collection, selection, low, high, &found));
    if (!found) goto done;
    RBL_TRY(place_copies(ctx, m, low, high, seed));
    void *site;
    RBL_TRY(rbli_collection_write(ctx, m->collection, "bone", "site", RBL_INT32, &site));
    for (size_t i = 0; i < count; i++)
        ((int32_t *)site)[bones[i]] = 0;
    m->fragments.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &m->fragments, count));
    memcpy(m->fragments.data, bones, count * sizeof *bones);
    m->fragments.count = count;
    for (size_t b = 0; b < m->batch_count; b++) {
        if (rbli_cancelled(ctx)) {
            status = RBL_ERR_CANCELLED;
            goto done;
        }
        RBL_TRY(run_batch(ctx, m, b));
        rbli_progress(ctx, (double)(b + 1) / (double)m->batch_count);
    }
    void *grown = rbli_realloc(ctx, *pieces, *piece_count + m->fragments.count, sizeof **pieces);
    RBL_TRY_ALLOC(grown);
    *pieces = grown;
    memcpy(*pieces + *piece_count, m->fragments.data, m->fragments.count * sizeof **pieces);
    *piece_count += m->fragments.count;
done:
    rbli_selection_release(selection);
    return status;
}

/// Removes the clusters between the bones that were cut and their fragments; renumbers `pieces`.
static rbl_status flatten(rbl_context *ctx, mesh_cut *m, int32_t *pieces, size_t count)
{
    rbl_status status = RBL_OK;
    size_t old_count = rbli_collection_size(m->in, "bone"),
           bone_count = rbli_collection_size(m->collection, "bone");
    const int32_t *type = rbli_collection_read(m->collection, "bone", "type", RBL_INT32);
    bool *remove = rbli_calloc(ctx, bone_count, sizeof *remove);
    int32_t *number = rbli_alloc(ctx, bone_count, sizeof *number), next = 0;
    RBL_TRY_ALLOC(remove);
    RBL_TRY_ALLOC(number);
    for (size_t b = 0; b < bone_count; b++) {
        remove[b] = b >= old_count && type[b] == RBLI_BONE_CLUSTER;
        number[b] = remove[b] ? -1 : next++;
    }
    for (size_t i = 0; i < count; i++)
        pieces[i] = number[pieces[i]];
    if ((size_t)next < bone_count) RBL_TRY(rbli_hierarchy_remove_bones(ctx, m->collection, remove));
    if (m->stages > 1) rbli_collection_remove_group(m->collection, "contact");
done:
    rbli_free(ctx, remove);
    rbli_free(ctx, number);
    return status;
}

static int compare_bones(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/// The chosen bones after the chance of each.
static rbl_status draw_bones(rbl_context *ctx, const mesh_cut *m, int32_t **out, size_t *count)
{
    rbl_status status = rbli_rigid_leaves(ctx, m->in, m->options->selection, out, count);
    if (status != RBL_OK) return status;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        rbli_rng rng = rbli_rng_make(m->options->seed, RBLI_RNG_CHANCE, (uint64_t)(*out)[i]);
        if (rbli_rng_double(&rng) < m->options->chance) (*out)[kept++] = (*out)[i];
    }
    *count = kept;
    return RBL_OK;
}

rbl_status rbli_mesh_cut(rbl_context *ctx, const rbl_collection *in, const rbl_collection *cutter,
    const rbli_fracture_options *options, const rbli_mesh_cut_options *copies, rbli_fracture_result *out)
{
    rbl_status status = RBL_OK;
    mesh_cut m = {.in = in, .options = options, .copies = copies};
    int32_t *bones = NULL, *pieces = NULL;
    size_t count = 0, piece_count = 0;
    RBL_TRY(load_cutter(ctx, &m, cutter));
    RBL_TRY(rbli_collection_copy(ctx, in, &m.collection));
    RBL_TRY(draw_bones(ctx, &m, &bones, &count));
    if (options->group && count)
        RBL_TRY(cut_target(ctx, &m, bones, count, options->seed, &pieces, &piece_count));
    for (size_t i = 0; i < count && !options->group; i++) {
        rbli_rng rng = rbli_rng_make(options->seed, RBLI_RNG_BONE_SEED, (uint64_t)bones[i]);
        RBL_TRY(cut_target(ctx, &m, &bones[i], 1, rbli_rng_u32(&rng), &pieces, &piece_count));
    }
    RBL_TRY(flatten(ctx, &m, pieces, piece_count));
    if (piece_count) qsort(pieces, piece_count, sizeof *pieces, compare_bones);
    const int32_t *type = rbli_collection_read(m.collection, "bone", "type", RBL_INT32);
    rbli_fracture_result made = {.collection = m.collection, .new_bones = pieces, .new_count = piece_count};
    for (size_t i = 0; i < count; i++)
        made.cut_count += type[bones[i]] == RBLI_BONE_CLUSTER;
    *out = made;
    m.collection = NULL;
    pieces = NULL;
done:
    rbli_free(ctx, bones);
    rbli_free(ctx, pieces);
    free_cut(ctx, &m);
    return status;
}
