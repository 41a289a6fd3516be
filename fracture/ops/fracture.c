/// Cutting bones: collect meshes in world space, cut each by its complex, then lay out one new surface from
/// the geometries that stay and the pieces.

#include <math.h>

#include "fracture/base/threads.h"
#include "fracture/base/trace.h"
#include "fracture/ops/collision_samples.h"
#include "fracture/ops/fracture_internal.h"
#include "fracture/ops/surface.h"

rbli_fracture_options rbli_fracture_default_options(void)
{
    return (rbli_fracture_options){.chance = 1,
        .group = true,
        .split_islands = true,
        .internal_material = "interior",
        .noise = rbli_noise_default_options()};
}

static void free_layout(rbl_context *ctx, fracture_layout *l)
{
    void *arrays[] = {l->geometry_source, l->vertex_start, l->vertex_counts, l->face_start, l->face_counts,
        l->positions, l->vertex_source, l->faces, l->face_source, l->weights_index, l->weights, l->cap_facet};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
}

/// Counts what the new surface holds and gives every geometry its ranges.
static rbl_status size_layout(rbl_context *ctx, const fracture_job *job, fracture_layout *l)
{
    rbl_status status = RBL_OK;
    size_t old_count = rbli_collection_size(job->in, "geometry"), pieces = 0;
    const int32_t *old_vertices = rbli_collection_read(job->in, "geometry", "vertex_count", RBL_INT32);
    const int32_t *old_faces = rbli_collection_read(job->in, "geometry", "face_count", RBL_INT32);
    bool *gone = rbli_calloc(ctx, old_count, 1);
    RBL_TRY_ALLOC(gone);
    for (size_t i = 0; i < job->cut_count; i++)
        if (is_broken(&job->cuts[i])) {
            gone[job->cuts[i].geometry] = true;
            pieces += job->cuts[i].result->piece_count;
        }
    int32_t **ranges[] = {
        &l->geometry_source, &l->vertex_start, &l->vertex_counts, &l->face_start, &l->face_counts};
    for (size_t i = 0; i < 5; i++) {
        *ranges[i] = rbli_alloc(ctx, old_count + pieces, sizeof **ranges[i]);
        RBL_TRY_ALLOC(*ranges[i]);
    }
    size_t n = 0;
    for (size_t g = 0; g < old_count; g++) {
        if (gone[g]) continue;
        l->geometry_source[n] = (int32_t)g;
        l->vertex_counts[n] = old_vertices[g];
        l->face_counts[n++] = old_faces[g];
    }
    l->kept_count = n;
    for (size_t i = 0; i < job->cut_count; i++) {
        bone_cut *cut = &job->cuts[i];
        if (!is_broken(cut)) continue;
        cut->first_geometry = n;
        cut->weights_start = l->weights_count;
        l->weights_count += cut->result->origins.weights_count;
        for (size_t p = 0; p < cut->result->piece_count; p++) {
            l->geometry_source[n] = cut->geometry;
            l->vertex_counts[n] = cut->result->vertex_start[p + 1] - cut->result->vertex_start[p];
            l->face_counts[n++] = cut->result->triangle_start[p + 1] - cut->result->triangle_start[p];
        }
    }
    l->geometry_count = n;
    for (size_t g = 0; g < n; g++) {
        if (l->vertex_count + (size_t)l->vertex_counts[g] > INT32_MAX / 4 ||
            l->face_count + (size_t)l->face_counts[g] > INT32_MAX / 4) {
            status = rbli_fail(
                ctx, RBL_ERR_LIMIT, "the pieces have more than %d vertices or faces", INT32_MAX / 4);
            goto done;
        }
        l->vertex_start[g] = (int32_t)l->vertex_count;
        l->face_start[g] = (int32_t)l->face_count;
        l->vertex_count += (size_t)l->vertex_counts[g];
        l->face_count += (size_t)l->face_counts[g];
    }
done:
    rbli_free(ctx, gone);
    return status;
}

static void keep_geometry(const fracture_job *job, fracture_layout *l, size_t g)
{
    size_t old = (size_t)l->geometry_source[g];
    int32_t vertex_start =
        ((const int32_t *)rbli_collection_read(job->in, "geometry", "vertex_start", RBL_INT32))[old];
    int32_t face_start =
        ((const int32_t *)rbli_collection_read(job->in, "geometry", "face_start", RBL_INT32))[old];
    const double(*positions)[3] = rbli_collection_read(job->in, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(job->in, "face", "vertices", RBL_INT32_3);
    for (int32_t v = 0; v < l->vertex_counts[g]; v++) {
        l->vertex_source[l->vertex_start[g] + v] = vertex_start + v;
        memcpy(l->positions[l->vertex_start[g] + v], positions[vertex_start + v], sizeof *positions);
    }
    for (int32_t f = 0; f < l->face_counts[g]; f++) {
        int32_t at = l->face_start[g] + f;
        for (int k = 0; k < 3; k++)
            l->faces[at][k] = faces[face_start + f][k] - vertex_start + l->vertex_start[g];
        l->face_source[at] = face_start + f;
        l->weights_index[at] = -1;
        l->cap_facet[at] = -1;
    }
}

static void copy_unless_there(void *to, const void *from, size_t bytes)
{
    if (to != from && bytes > 0) memcpy(to, from, bytes);
}

/// Copies all pieces of one bone; they are contiguous in the result as in the layout. The layout may have taken the
/// result's arrays: then each element is changed in its place.
static void place_pieces(const fracture_job *job, fracture_layout *l, const bone_cut *cut)
{
    const rbli_cut_result *result = cut->result;
    size_t g = cut->first_geometry, weights_start = cut->weights_start;
    size_t old = (size_t)cut->geometry, vertices = result->vertex_count, triangles = result->triangle_count;
    int32_t vertex_start =
        ((const int32_t *)rbli_collection_read(job->in, "geometry", "vertex_start", RBL_INT32))[old];
    int32_t face_start =
        ((const int32_t *)rbli_collection_read(job->in, "geometry", "face_start", RBL_INT32))[old];
    const double(*old_positions)[3] = rbli_collection_read(job->in, "vertex", "position", RBL_VEC3);
    int32_t to_vertex = l->vertex_start[g] - result->vertex_start[0];
    int32_t to_face = l->face_start[g] - result->triangle_start[0];

    double(*positions)[3] = l->positions + to_vertex;
    copy_unless_there(positions, result->positions, vertices * sizeof *positions);
    int32_t *vertex_source = l->vertex_source + to_vertex;
    copy_unless_there(vertex_source, result->vertex_source, vertices * sizeof *vertex_source);
    for (size_t v = 0; v < vertices; v++)
        vertex_source[v] = vertex_source[v] < 0 ? -1 : vertex_source[v] + vertex_start;
    for (size_t v = 0; v < vertices && cut->moved; v++) {
        if (vertex_source[v] < 0)
            rbli_affine_point(cut->inverse, result->positions[v], positions[v]);
        else /* as it came */
            memcpy(positions[v], old_positions[vertex_source[v]], sizeof *positions);
    }

    int32_t(*faces)[3] = l->faces + to_face;
    copy_unless_there(faces, result->triangles, triangles * sizeof *faces);
    for (size_t t = 0; t < triangles && to_vertex != 0; t++)
        for (int k = 0; k < 3; k++)
            faces[t][k] += to_vertex;
    int32_t *face_source = l->face_source + to_face, *cap_facet = l->cap_facet + to_face;
    copy_unless_there(face_source, result->origins.source, triangles * sizeof *face_source);
    for (size_t t = 0; t < triangles; t++) {
        int32_t source = face_source[t];
        cap_facet[t] = source < 0 ? -1 - source : -1;
        face_source[t] = source < 0 ? -1 : source + face_start;
    }
    int32_t *row = l->weights_index + to_face;
    copy_unless_there(row, result->origins.weights_index, triangles * sizeof *row);
    for (size_t t = 0; t < triangles && weights_start > 0; t++)
        row[t] = row[t] < 0 ? -1 : row[t] + (int32_t)weights_start;
    copy_unless_there(l->weights + weights_start, result->origins.weights,
        result->origins.weights_count * sizeof *l->weights);
}

/// Attached sheets ask for the arrays of cuts after the layout is filled.
static bool has_sheets(const fracture_job *job)
{
    return rbli_collection_buffer(job->in, "bone", "sheet") != NULL;
}

/// The cut whose pieces are the whole new surface, or NULL.
static bone_cut *only_cut(const fracture_job *job, const fracture_layout *l)
{
    bone_cut *only = NULL;
    if (l->kept_count > 0 || has_sheets(job)) return NULL;
    for (size_t i = 0; i < job->cut_count; i++) {
        if (!is_broken(&job->cuts[i])) continue;
        if (only) return NULL;
        only = &job->cuts[i];
    }
    return only && only->result->vertex_start[0] == 0 && only->result->triangle_start[0] == 0 ? only : NULL;
}

/// The arrays of the only cut become the layout's.
static void take_arrays(rbli_cut_result *result, fracture_layout *l)
{
    rbli_triangle_origins *origins = &result->origins;
    l->positions = result->positions;
    l->vertex_source = result->vertex_source;
    l->faces = result->triangles;
    l->face_source = origins->source;
    l->weights_index = origins->weights_index;
    l->weights = origins->weights;
}

static void leave_arrays(rbli_cut_result *result)
{
    result->positions = NULL;
    result->vertex_source = NULL;
    result->triangles = NULL;
    result->origins.source = result->origins.weights_index = NULL;
    result->origins.weights = NULL;
}

static void free_arrays(rbl_context *ctx, rbli_cut_result *result)
{
    void *arrays[] = {result->positions, result->vertex_source, result->triangles, result->origins.source,
        result->origins.weights_index, result->origins.weights};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
    leave_arrays(result);
}

typedef struct place_job {
    const fracture_job *job;
    fracture_layout *layout;
    bool has_sheets;
} place_job;

/// The arrays of a cut go as soon as they are copied: what is made next takes their place.
static rbl_status place_cuts(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const place_job *place = user;
    for (size_t i = begin; i < end; i++) {
        const bone_cut *cut = &place->job->cuts[i];
        if (!is_broken(cut)) continue;
        place_pieces(place->job, place->layout, cut);
        if (!place->has_sheets) free_arrays(ctx, cut->result);
    }
    return RBL_OK;
}

static rbl_status allocate_arrays(rbl_context *ctx, fracture_layout *l)
{
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(l->positions = rbli_alloc(ctx, l->vertex_count, sizeof *l->positions));
    RBL_TRY_ALLOC(l->vertex_source = rbli_alloc(ctx, l->vertex_count, sizeof *l->vertex_source));
    RBL_TRY_ALLOC(l->faces = rbli_alloc(ctx, l->face_count, sizeof *l->faces));
    RBL_TRY_ALLOC(l->face_source = rbli_alloc(ctx, l->face_count, sizeof *l->face_source));
    RBL_TRY_ALLOC(l->weights_index = rbli_alloc(ctx, l->face_count, sizeof *l->weights_index));
    RBL_TRY_ALLOC(l->weights = rbli_alloc(ctx, l->weights_count, sizeof *l->weights));
done:
    return status;
}

static rbl_status fill_layout(rbl_context *ctx, const fracture_job *job, fracture_layout *l)
{
    rbl_status status = RBL_OK;
    bone_cut *only = only_cut(job, l);
    RBL_TRY_ALLOC(l->cap_facet = rbli_alloc(ctx, l->face_count, sizeof *l->cap_facet));
    if (only) {
        take_arrays(only->result, l);
    } else {
        RBL_TRY(allocate_arrays(ctx, l));
    }
    for (size_t g = 0; g < l->kept_count; g++)
        keep_geometry(job, l, g);
    if (only) {
        place_pieces(job, l, only);
        leave_arrays(only->result);
    } else {
        place_job place = {job, l, has_sheets(job)};
        RBL_TRY(rbli_parallel_for(ctx, job->cut_count, 1, place_cuts, &place));
    }
done:
    return status;
}

static rbl_status write_geometries(rbl_context *ctx, rbl_collection *c, const fracture_layout *l)
{
    rbl_status status = RBL_OK;
    static const char *const names[] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    const int32_t *values[] = {l->vertex_start, l->vertex_counts, l->face_start, l->face_counts};
    bool *kept = NULL;
    RBL_TRY(rbli_collection_gather(ctx, c, "geometry", l->geometry_source, l->geometry_count));
    for (size_t i = 0; i < 4; i++) {
        void *out;
        RBL_TRY(rbli_collection_write(ctx, c, "geometry", names[i], RBL_INT32, &out));
        memcpy(out, values[i], l->geometry_count * sizeof(int32_t));
    }
    RBL_TRY_ALLOC(kept = rbli_calloc(ctx, l->geometry_count, sizeof *kept));
    for (size_t g = 0; g < l->kept_count; g++)
        kept[g] = true;
    RBL_TRY(rbli_keep_collision_samples(ctx, c, kept));
done:
    rbli_free(ctx, kept);
    return status;
}

/// "Wall_3", "Wall_3b" for its second island, … "Wall_3z", "Wall_3ba"; "Wall_mortar" without a site.
static char *piece_name(rbl_context *ctx, const char *parent, int32_t site, size_t island)
{
    static const char mortar[] = "_mortar";
    char end[40]; /* filled from behind */
    size_t at = sizeof end - 1, length = strlen(parent);
    end[at] = 0;
    for (size_t rest = island; rest > 0; rest /= 26)
        end[--at] = (char)('a' + rest % 26);
    if (site < 0) {
        at -= sizeof mortar - 1;
        memcpy(end + at, mortar, sizeof mortar - 1);
    } else {
        for (int32_t rest = site, more = 1; more; more = rest > 0) {
            end[--at] = (char)('0' + rest % 10);
            rest /= 10;
        }
        end[--at] = '_';
    }
    char *name = rbli_alloc(ctx, length + sizeof end - at, 1);
    if (!name) return NULL;
    memcpy(name, parent, length);
    memcpy(name + length, end + at, sizeof end - at);
    return name;
}

/// Attributes of bones that a piece does not inherit from the bone it was cut from.
static const char *const own_bone_attributes[] = {
    "parent", "level", "name", "type", "transform", "geometry", "site", "sheet"};
enum { OWN_BONE_ATTRIBUTE_COUNT = sizeof own_bone_attributes / sizeof *own_bone_attributes };

/// Copies the other attributes of bones from parents to the new bones from `first` on.
rbl_status rbli_fracture_inherit(
    rbl_context *ctx, rbl_collection *c, size_t first, size_t count, const int32_t *sources)
{
    rbl_status status = RBL_OK;
    rbli_buffer *own[OWN_BONE_ATTRIBUTE_COUNT] = {NULL};
    int32_t *source = rbli_alloc(ctx, first + count, sizeof *source);
    RBL_TRY_ALLOC(source);
    for (size_t b = 0; b < first + count; b++)
        source[b] = b < first ? (int32_t)b : sources[b - first];
    for (size_t i = 0; i < OWN_BONE_ATTRIBUTE_COUNT; i++) {
        rbli_buffer *buffer = rbli_collection_buffer(c, "bone", own_bone_attributes[i]);
        if (buffer) own[i] = rbli_buffer_retain(buffer);
    }
    RBL_TRY(rbli_collection_gather(ctx, c, "bone", source, first + count));
    for (size_t i = 0; i < OWN_BONE_ATTRIBUTE_COUNT; i++)
        if (own[i]) RBL_TRY(rbli_collection_set(ctx, c, "bone", own_bone_attributes[i], own[i]));
done:
    for (size_t i = 0; i < OWN_BONE_ATTRIBUTE_COUNT; i++)
        rbli_buffer_release(own[i]);
    rbli_free(ctx, source);
    return status;
}

/// Appends the pieces as bones and turns broken bones into clusters.
static rbl_status write_bones(rbl_context *ctx, const fracture_job *job, rbl_collection *c,
    const fracture_layout *l, rbli_fracture_result *out)
{
    rbl_status status = RBL_OK;
    size_t count = l->geometry_count - l->kept_count, n = 0;
    int32_t first = (int32_t)rbli_collection_size(c, "bone");
    int32_t *parents = rbli_alloc(ctx, count, sizeof *parents),
            *sites = rbli_alloc(ctx, count, sizeof *sites);
    char **names = rbli_calloc(ctx, count, sizeof *names);
    out->new_bones = rbli_alloc(ctx, count + job->cut_count, sizeof *out->new_bones);
    RBL_TRY_ALLOC(parents);
    RBL_TRY_ALLOC(sites);
    RBL_TRY_ALLOC(names);
    RBL_TRY_ALLOC(out->new_bones);
    for (size_t i = 0; i < job->cut_count; i++) {
        const bone_cut *cut = &job->cuts[i];
        if (!is_broken(cut)) {
            out->new_bones[out->new_count++] = cut->bone;
            continue;
        }
        const char *parent = rbli_collection_string(c, "bone", "name", (size_t)cut->bone);
        size_t island = 0;
        for (size_t p = 0; p < cut->result->piece_count; p++, n++) {
            int32_t cell = cut->result->piece_cell[p];
            island = p > 0 && cut->result->piece_cell[p - 1] == cell ? island + 1 : 0;
            parents[n] = cut->bone;
            sites[n] = complex_of(job, cut)->cell_site[cell];
            if (job->options->number_pieces) {
                sites[n] = (int32_t)p;
                island = 0;
            }
            names[n] = piece_name(ctx, parent, sites[n], island);
            RBL_TRY_ALLOC(names[n]);
        }
    }
    for (size_t i = 0; i < count; i++)
        out->new_bones[out->new_count++] = first + (int32_t)i;
    if (count > 0) {
        RBL_TRY(rbli_hierarchy_add_bones(
            ctx, c, count, parents, (const char *const *)names, RBLI_BONE_RIGID, &first));
        RBL_TRY(rbli_fracture_inherit(ctx, c, (size_t)first, count, parents));
    }

    void *geometry, *type, *site, *owner;
    RBL_TRY(rbli_collection_write(ctx, c, "bone", "geometry", RBL_INT32, &geometry));
    RBL_TRY(rbli_collection_write(ctx, c, "bone", "type", RBL_INT32, &type));
    RBL_TRY(rbli_collection_write(ctx, c, "bone", "site", RBL_INT32, &site));
    RBL_TRY(rbli_collection_write(ctx, c, "geometry", "bone", RBL_INT32, &owner));
    for (size_t g = 0; g < l->kept_count; g++)
        ((int32_t *)geometry)[((int32_t *)owner)[g]] = (int32_t)g;
    for (size_t i = 0; i < count; i++) {
        ((int32_t *)geometry)[first + (int32_t)i] = (int32_t)(l->kept_count + i);
        ((int32_t *)owner)[l->kept_count + i] = first + (int32_t)i;
        ((int32_t *)site)[first + (int32_t)i] = sites[i];
    }
    for (size_t i = 0; i < job->cut_count; i++) {
        const bone_cut *cut = &job->cuts[i];
        if (is_broken(cut)) {
            ((int32_t *)geometry)[cut->bone] = -1;
            ((int32_t *)type)[cut->bone] = RBLI_BONE_CLUSTER;
        } else if (cut->result->piece_count == 1 && !job->options->number_pieces) {
            ((int32_t *)site)[cut->bone] = complex_of(job, cut)->cell_site[cut->result->piece_cell[0]];
        }
    }
done:
    for (size_t i = 0; names && i < count; i++)
        rbli_free(ctx, names[i]);
    rbli_free(ctx, names);
    rbli_free(ctx, parents);
    rbli_free(ctx, sites);
    return status;
}

/// Old contacts between geometries that stay, and the new ones.
static rbl_status write_contacts(
    rbl_context *ctx, const fracture_job *job, rbl_collection *c, const fracture_layout *l)
{
    rbl_status status = RBL_OK;
    size_t old_geometries = rbli_collection_size(job->in, "geometry");
    size_t old_count = rbli_collection_size(job->in, "contact"), count = 0;
    const int32_t(*old_pairs)[2] = rbli_collection_read(job->in, "contact", "geometries", RBL_INT32_2);
    const double *old_areas = rbli_collection_read(job->in, "contact", "area", RBL_DOUBLE);
    if (!old_pairs || !old_areas) old_count = 0;
    int32_t *renumber = rbli_alloc(ctx, old_geometries, sizeof *renumber);
    RBL_TRY_ALLOC(renumber);
    for (size_t g = 0; g < old_geometries; g++)
        renumber[g] = -1;
    for (size_t g = 0; g < l->kept_count; g++)
        renumber[l->geometry_source[g]] = (int32_t)g;
    size_t most = old_count;
    for (size_t i = 0; i < job->cut_count; i++)
        if (is_broken(&job->cuts[i])) most += job->cuts[i].result->contact_count;
    RBL_TRY(rbli_collection_resize(ctx, c, "contact", most));
    void *pairs_out, *areas_out;
    RBL_TRY(rbli_collection_write(ctx, c, "contact", "geometries", RBL_INT32_2, &pairs_out));
    RBL_TRY(rbli_collection_write(ctx, c, "contact", "area", RBL_DOUBLE, &areas_out));
    int32_t(*pairs)[2] = pairs_out;
    double *areas = areas_out;
    for (size_t i = 0; i < old_count; i++) {
        if ((size_t)old_pairs[i][0] >= old_geometries || (size_t)old_pairs[i][1] >= old_geometries) continue;
        int32_t a = renumber[old_pairs[i][0]], b = renumber[old_pairs[i][1]];
        if (a < 0 || b < 0) continue;
        pairs[count][0] = a;
        pairs[count][1] = b;
        areas[count++] = old_areas[i];
    }
    size_t g = l->kept_count;
    for (size_t i = 0; i < job->cut_count; i++) {
        const rbli_cut_result *result = job->cuts[i].result;
        if (!is_broken(&job->cuts[i])) continue;
        for (size_t n = 0; n < result->contact_count; n++) {
            pairs[count][0] = (int32_t)g + result->contacts[n].piece_a;
            pairs[count][1] = (int32_t)g + result->contacts[n].piece_b;
            areas[count++] = result->contacts[n].area;
        }
        g += result->piece_count;
    }
    RBL_TRY(rbli_collection_resize(ctx, c, "contact", count));
done:
    rbli_free(ctx, renumber);
    return status;
}

static rbl_status remove_hulls_of_cut_bones(rbl_context *ctx, const fracture_job *job, rbl_collection *c)
{
    rbl_status status = RBL_OK;
    size_t hull_count = rbli_collection_size(c, "convex");
    const int32_t *owner = rbli_collection_read(c, "convex", "bone", RBL_INT32);
    if (!owner || hull_count == 0) return RBL_OK;
    bool *broken = rbli_calloc(ctx, rbli_collection_size(job->in, "bone"), 1);
    bool *keep = rbli_calloc(ctx, hull_count, 1);
    RBL_TRY_ALLOC(broken);
    RBL_TRY_ALLOC(keep);
    for (size_t i = 0; i < job->cut_count; i++)
        broken[job->cuts[i].bone] = is_broken(&job->cuts[i]);
    for (size_t h = 0; h < hull_count; h++)
        keep[h] = !broken[owner[h]];
    RBL_TRY(rbli_collection_filter(ctx, c, "convex", keep, NULL));
done:
    rbli_free(ctx, broken);
    rbli_free(ctx, keep);
    return status;
}

/// Cells that gave no piece of any bone they were meant for.
static rbl_status count_empty_cells(rbl_context *ctx, const fracture_job *job, size_t *out)
{
    *out = 0;
    for (size_t i = 0; i < job->cut_count;) {
        const rbli_cell_complex *k = complex_of(job, &job->cuts[i]);
        bool *used = rbli_calloc(ctx, k->cell_count, 1);
        if (!used) return RBL_ERR_NO_MEMORY;
        size_t end = job->shared ? job->cut_count : i + 1;
        for (; i < end; i++)
            for (size_t p = 0; p < job->cuts[i].result->piece_count; p++)
                used[job->cuts[i].result->piece_cell[p]] = true;
        for (size_t c = 0; c < k->cell_count - k->outside_cell_count; c++)
            *out += !used[c];
        rbli_free(ctx, used);
    }
    return RBL_OK;
}

/// Makes the layout's surface that of the collection and frees what nobody needs behind it: the largest arrays.
static rbl_status replace_surface(
    rbl_context *ctx, const fracture_job *job, rbl_collection *c, fracture_layout *l)
{
    rbli_surface_map map = {l->vertex_count, (const double(*)[3])l->positions, l->vertex_source,
        l->face_count, (const int32_t(*)[3])l->faces, l->face_source, l->weights_index,
        (const double(*)[3][3])l->weights,
        job->options->internal_material ? rbli_fracture_cap_attributes : NULL};
    rbl_status status = rbli_surface_replace_taking(ctx, c, &map);
    if (!map.positions) l->positions = NULL;
    if (!map.faces) l->faces = NULL;
    rbli_free(ctx, l->vertex_source);
    rbli_free(ctx, l->face_source);
    rbli_free(ctx, l->weights_index);
    rbli_free(ctx, l->weights);
    l->vertex_source = l->face_source = l->weights_index = NULL;
    l->weights = NULL;
    return status;
}

static rbl_status assemble(rbl_context *ctx, const fracture_job *job, rbl_collection *c, fracture_layout *l,
    rbli_fracture_result *out)
{
    rbl_status status = RBL_OK;
    RBL_TRY(size_layout(ctx, job, l));
    if (l->geometry_count > l->kept_count) {
        RBL_TRY(fill_layout(ctx, job, l));
        RBLI_PHASE(ctx, "replace surface", replace_surface(ctx, job, c, l));
        RBL_TRY(write_geometries(ctx, c, l));
        RBLI_PHASE(ctx, "write caps", rbli_fracture_caps(ctx, job, l, c));
        RBL_TRY(rbli_surface_measure(ctx, c, l->kept_count));
        RBL_TRY(remove_hulls_of_cut_bones(ctx, job, c));
        RBL_TRY(write_contacts(ctx, job, c, l));
        rbli_collection_remove_group(c, "proximity");
        rbli_collection_remove_group(c, "connection");
    }
    RBL_TRY(write_bones(ctx, job, c, l, out));
    RBL_TRY(rbli_fracture_sheets(ctx, job, l->kept_count, c, out->new_bones, out->new_count));
    for (size_t i = 0; i < job->cut_count; i++) {
        out->cut_count += is_broken(&job->cuts[i]);
        if (is_broken(&job->cuts[i])) out->split_count += job->cuts[i].result->piece_count;
        out->lost_count += job->cuts[i].result->outside_dropped && job->cuts[i].result->piece_count == 0;
    }
    RBL_TRY(count_empty_cells(ctx, job, &out->empty_cell_count));
    out->vanished_count = job->vanished_count;
    out->noise_spacing = job->noise_spacing;
    out->moved_count = job->moved_count;
    out->reduced_count = job->reduced_count;
done:
    return status;
}

rbl_status rbli_fracture(rbl_context *ctx, const rbl_collection *in, const rbli_fracture_options *options,
    rbli_fracture_result *out)
{
    rbl_status status = RBL_OK;
    fracture_job job = {.in = in, .options = options};
    fracture_layout l = {0};
    rbli_fracture_result made = {0};
    RBL_TRY(rbli_fracture_collect(ctx, &job));
    RBL_TRY(rbli_fracture_cut(ctx, &job));
    RBL_TRY(rbli_collection_copy(ctx, in, &made.collection));
    RBLI_PHASE(ctx, "assemble", assemble(ctx, &job, made.collection, &l, &made));
    *out = made;
    made = (rbli_fracture_result){0};
done:
    rbli_collection_release(made.collection);
    rbli_free(ctx, made.new_bones);
    free_layout(ctx, &l);
    rbli_fracture_free(ctx, &job);
    return status;
}
