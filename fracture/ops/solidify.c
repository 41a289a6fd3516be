/// Repair, then one bone a mesh node from its solid shells.

#include "fracture/ops/solidify.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/trace.h"
#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/thicken.h"
#include "fracture/ops/solidify_internal.h"
#include "fracture/ops/surface.h"

rbli_solidify_options rbli_solidify_default_options(void)
{
    return (rbli_solidify_options){.repair = rbli_repair_default_options(), .join = RBLI_JOIN_NODE};
}

static rbl_status run_repair(rbl_context *ctx, solidify_job *job)
{
    rbl_status status = RBL_OK;
    size_t faces = rbli_collection_size(job->in, "face"),
           geometries = rbli_collection_size(job->in, "geometry");
    const int32_t *start = rbli_collection_read(job->in, "geometry", "face_start", RBL_INT32);
    const int32_t *count = rbli_collection_read(job->in, "geometry", "face_count", RBL_INT32);
    const int32_t *owner = rbli_collection_read(job->in, "geometry", "bone", RBL_INT32);
    int32_t *node = rbli_alloc(ctx, faces, sizeof *node);
    job->geometry_bone = rbli_alloc(ctx, geometries, sizeof *job->geometry_bone);
    RBL_TRY_ALLOC(node);
    RBL_TRY_ALLOC(job->geometry_bone);
    for (size_t g = 0; g < geometries; g++) {
        job->geometry_bone[g] = owner[g];
        for (int32_t f = start[g]; f < start[g] + count[g]; f++)
            node[f] = (int32_t)g;
    }
    rbli_mesh_view mesh = {rbli_collection_read(job->in, "vertex", "position", RBL_VEC3),
        rbli_collection_size(job->in, "vertex"),
        rbli_collection_read(job->in, "face", "vertices", RBL_INT32_3), faces};
    RBL_TRY(rbli_repair(ctx, &mesh, node, &job->options->repair, &job->repair));
done:
    rbli_free(ctx, node);
    return status;
}

/// Decides which shells are solids of the result.
static rbl_status choose_shells(rbl_context *ctx, solidify_job *job)
{
    const rbli_shell *shells = job->repair->shells;
    size_t count = job->repair->shell_count;
    job->kept = rbli_calloc(ctx, count, 1);
    if (!job->kept) return RBL_ERR_NO_MEMORY;
    for (size_t s = 0; s < count; s++) {
        job->kept[s] = shells[s].kind == RBLI_SHELL_SOLID || shells[s].kind == RBLI_SHELL_CAVITY;
        /* A shell within a swallowed one goes with it. The chain of parents is as long as shells are nested.
         */
        for (int32_t a = (int32_t)s; job->kept[s] && a >= 0; a = shells[a].parent)
            if (solidify_is_swallowed(shells, (size_t)a)) job->kept[s] = false;
    }
    return RBL_OK;
}

/// The solid that a kept shell belongs to: itself, or for a cavity the one around it.
static size_t solid_of(const rbli_shell *shells, size_t shell)
{
    if (shells[shell].kind == RBLI_SHELL_CAVITY && shells[shell].parent >= 0)
        return (size_t)shells[shell].parent;
    return shell;
}

/// Squared distance of two points.
static double squared_distance(const double a[3], const double b[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/// Of thickened sheets, times the diagonal.
static const double DEFAULT_THICKNESS = 0.01;
/// Sheets farther than this from every solid, times the diagonal, are pieces of their own.
static const double REACH = 0.05;

/// The least squared distance from vertices of a sheet to vertices of a solid.
static double shell_distance(const rbli_repair_result *r, const rbli_shell *sheet, const rbli_shell *solid)
{
    double least = HUGE_VAL;
    for (int32_t t = sheet->triangle_start; t < sheet->triangle_start + sheet->triangle_count; t++)
        for (int32_t u = solid->triangle_start; u < solid->triangle_start + solid->triangle_count; u++)
            for (int k = 0; k < 9; k++)
                least = fmin(least, squared_distance(r->positions[r->triangles[t][k % 3]],
                                        r->positions[r->triangles[u][k / 3]]));
    return least;
}

/// Of the box of all vertices.
static double squared_diagonal(const rbli_repair_result *r)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (size_t v = 0; v < r->vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], r->positions[v][k]);
            high[k] = fmax(high[k], r->positions[v][k]);
        }
    return squared_distance(low, high);
}

/// The geometry that a sheet is attached to: that of its node, else the nearest one within reach, else −1.
/// @param reach squared
static rbl_status find_carrier(
    rbl_context *ctx, const solidify_job *job, size_t sheet, double reach, int32_t *carrier)
{
    const rbli_repair_result *r = job->repair;
    const rbli_shell *shells = r->shells;
    bool at_home = false;
    double best = reach;
    if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
    for (size_t g = 0; g < job->solid_count; g++)
        at_home = at_home || job->geometry_node[g] == shells[sheet].node;
    if (at_home) best = HUGE_VAL;
    *carrier = -1;
    for (size_t s = 0; s < r->shell_count; s++) {
        if (job->shell_bone[s] < 0 || shells[s].kind != RBLI_SHELL_SOLID) continue;
        if (at_home && shells[s].node != shells[sheet].node) continue;
        if (at_home && !job->options->split_components) {
            *carrier = job->shell_bone[s];
            return RBL_OK;
        }
        if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        double distance = shell_distance(r, &shells[sheet], &shells[s]);
        if (distance >= best && *carrier >= 0) continue;
        if (distance > best) continue;
        best = distance;
        *carrier = job->shell_bone[s];
    }
    return RBL_OK;
}

/// Gives every kept shell its new geometry: nodes in the file's order, solids of a node in theirs.
static rbl_status assign_solids(rbl_context *ctx, solidify_job *job, int32_t *first)
{
    const rbli_shell *shells = job->repair->shells;
    size_t shell_count = job->repair->shell_count, nodes = rbli_collection_size(job->in, "geometry");
    bool split = job->options->split_components;
    for (size_t s = 0; s < shell_count; s++) {
        if (!job->kept[s] || shells[s].kind != RBLI_SHELL_SOLID) continue;
        int32_t *count = &first[shells[s].node + 1];
        *count = split ? *count + 1 : 1;
    }
    for (size_t n = 0; n < nodes; n++) {
        for (int32_t part = 0; part < first[n + 1]; part++) {
            job->geometry_node[job->geometry_count] = (int32_t)n;
            job->geometry_part[job->geometry_count++] = split ? part : -1;
        }
        first[n + 1] += first[n];
    }
    for (size_t s = 0; s < shell_count; s++)
        if (job->kept[s] && shells[s].kind == RBLI_SHELL_SOLID)
            job->shell_bone[s] = split ? first[shells[s].node]++ : first[shells[s].node];
    for (size_t s = 0; s < shell_count; s++)
        if (job->kept[s] && shells[s].kind == RBLI_SHELL_CAVITY)
            job->shell_bone[s] = job->shell_bone[solid_of(shells, s)];
    job->solid_count = job->geometry_count;
    return rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK;
}

/// The geometry of all sheets of a node that have this parent; made where it is not there yet.
static int32_t sheet_geometry(solidify_job *job, int32_t node, int32_t parent)
{
    for (size_t g = job->solid_count; g < job->geometry_count; g++)
        if (job->geometry_parent[g] == parent && (parent >= 0 || job->geometry_node[g] == node))
            return (int32_t)g;
    job->geometry_node[job->geometry_count] = node;
    job->geometry_part[job->geometry_count] = -1;
    job->geometry_parent[job->geometry_count] = parent;
    return (int32_t)job->geometry_count++;
}

static rbl_status assign_geometries(rbl_context *ctx, solidify_job *job)
{
    rbl_status status = RBL_OK;
    size_t shell_count = job->repair->shell_count;
    int32_t *first = rbli_calloc(ctx, rbli_collection_size(job->in, "geometry") + 1,
        sizeof *first); /* geometries before a node, then the node's next one */
    job->shell_bone = rbli_alloc(ctx, shell_count, sizeof *job->shell_bone);
    job->geometry_node = rbli_alloc(ctx, shell_count, sizeof *job->geometry_node);
    job->geometry_part = rbli_alloc(ctx, shell_count, sizeof *job->geometry_part);
    job->geometry_parent = rbli_alloc(ctx, shell_count, sizeof *job->geometry_parent);
    RBL_TRY_ALLOC(first);
    RBL_TRY_ALLOC(job->shell_bone);
    RBL_TRY_ALLOC(job->geometry_node);
    RBL_TRY_ALLOC(job->geometry_part);
    RBL_TRY_ALLOC(job->geometry_parent);
    for (size_t s = 0; s < shell_count; s++)
        job->shell_bone[s] = job->geometry_parent[s] = -1;
    RBL_TRY(assign_solids(ctx, job, first));
    if (job->options->sheets == RBLI_SHEETS_DROP) goto done;
    double reach = REACH * REACH * squared_diagonal(job->repair);
    for (size_t s = 0; s < shell_count; s++) {
        const rbli_shell *shell = &job->repair->shells[s];
        int32_t parent = -1;
        if (!solidify_is_sheet(shell)) continue;
        if (job->options->sheets == RBLI_SHEETS_ATTACH) RBL_TRY(find_carrier(ctx, job, s, reach, &parent));
        job->shell_bone[s] = sheet_geometry(job, shell->node, parent);
    }
done:
    rbli_free(ctx, first);
    return status;
}

/// Names of the bones: NODE or NODE_n, and for a sheet PIECE_sheet. The caller frees them.
static rbl_status name_bones(rbl_context *ctx, const solidify_job *job, char **names)
{
    for (size_t g = 0; g < job->geometry_count; g++) {
        int32_t parent = job->geometry_parent[g], part = job->geometry_part[g];
        const char *name = solidify_node_name(job, job->geometry_node[g]);
        if (g >= job->solid_count)
            names[g] = rbli_format(ctx, "%s_sheet", parent < 0 ? name : names[parent]);
        else
            names[g] = part < 0 ? rbli_strdup(ctx, name) : rbli_format(ctx, "%s_%d", name, (int)part);
        if (!names[g]) return RBL_ERR_NO_MEMORY;
    }
    return RBL_OK;
}

static rbl_status build_bones(rbl_context *ctx, const solidify_job *job, rbl_collection *c)
{
    rbl_status status = RBL_OK;
    char **names = rbli_calloc(ctx, job->geometry_count, sizeof *names);
    int32_t *parents = rbli_calloc(ctx, job->geometry_count, sizeof *parents), first, root = -1;
    void *geometry, *sheet;
    RBL_TRY_ALLOC(names);
    RBL_TRY_ALLOC(parents);
    RBL_TRY(name_bones(ctx, job, names));
    RBL_TRY(rbli_collection_resize(ctx, c, "bone", 0));
    const char *root_name = "root";
    RBL_TRY(rbli_hierarchy_add_bones(ctx, c, 1, &root, &root_name, RBLI_BONE_CLUSTER, &first));
    RBL_TRY(rbli_hierarchy_add_bones(
        ctx, c, job->solid_count, parents, (const char *const *)names, RBLI_BONE_RIGID, &first));
    for (size_t g = job->solid_count; g < job->geometry_count; g++)
        parents[g] = 1 + job->geometry_parent[g];
    RBL_TRY(rbli_hierarchy_add_bones(ctx, c, job->geometry_count - job->solid_count,
        parents + job->solid_count, (const char *const *)names + job->solid_count, RBLI_BONE_RIGID, &first));
    RBL_TRY(rbli_collection_write(ctx, c, "bone", "geometry", RBL_INT32, &geometry));
    for (size_t g = 0; g < job->geometry_count; g++)
        ((int32_t *)geometry)[1 + g] = (int32_t)g;
    if (job->geometry_count > job->solid_count) {
        RBL_TRY(rbli_collection_write(ctx, c, "bone", "sheet", RBL_BOOL, &sheet));
        for (size_t g = job->solid_count; g < job->geometry_count; g++)
            ((bool *)sheet)[1 + g] = true;
    }
done:
    for (size_t g = 0; names && g < job->geometry_count; g++)
        rbli_free(ctx, names[g]);
    rbli_free(ctx, names);
    rbli_free(ctx, parents);
    return status;
}

/// The new surface while it is laid out, geometry by geometry, vertices compact within each.
typedef struct surface_layout {
    RBLI_ARRAY(int32_t) vertices;  /* repaired vertex of each new one */
    RBLI_ARRAY(int32_t) triangles; /* repaired triangle of each new face */
    int32_t (*faces)[3];           /* into the new vertices */
    int32_t (*ranges)[4];          /* [geometry_count] vertex start and count, face start and count */
    double (*positions)[3];
    int32_t *vertex_source, *face_source, *weights_index;
    size_t filled_count; /* faces that fill holes */
} surface_layout;

static void free_surface_layout(rbl_context *ctx, surface_layout *l)
{
    void *arrays[] = {l->vertices.data, l->triangles.data, l->faces, l->ranges, l->positions,
        l->vertex_source, l->face_source, l->weights_index};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
}

/// Kept shells sorted by their new geometry: shells of geometry g are order[start[g]] … order[start[g+1] −
/// 1].
static rbl_status sort_shells(rbl_context *ctx, const solidify_job *job, int32_t **start, int32_t **order)
{
    size_t shell_count = job->repair->shell_count;
    *start = rbli_calloc(ctx, job->geometry_count + 2, sizeof **start);
    *order = rbli_alloc(ctx, shell_count, sizeof **order);
    if (!*start || !*order) return RBL_ERR_NO_MEMORY;
    for (size_t s = 0; s < shell_count; s++)
        if (job->shell_bone[s] >= 0) (*start)[job->shell_bone[s] + 2]++;
    for (size_t g = 0; g < job->geometry_count; g++)
        (*start)[g + 2] += (*start)[g + 1];
    for (size_t s = 0; s < shell_count; s++)
        if (job->shell_bone[s] >= 0) (*order)[(*start)[job->shell_bone[s] + 1]++] = (int32_t)s;
    return RBL_OK;
}

static rbl_status lay_out_shell(rbl_context *ctx, const rbli_repair_result *r, const rbli_shell *shell,
    int32_t *local, surface_layout *l, size_t first)
{
    rbl_status status = RBL_OK;
    for (int32_t t = shell->triangle_start; t < shell->triangle_start + shell->triangle_count; t++) {
        RBL_TRY(rbli_poll(ctx, (size_t)t));
        for (int k = 0; k < 3; k++) {
            int32_t v = r->triangles[t][k];
            if (local[v] < (int32_t)first) {
                local[v] = (int32_t)l->vertices.count;
                RBL_TRY(rbli_array_push(ctx, &l->vertices, v));
            }
            l->faces[l->triangles.count][k] = local[v];
        }
        RBL_TRY(rbli_array_push(ctx, &l->triangles, t));
    }
done:
    return status;
}

static rbl_status lay_out_surface(rbl_context *ctx, const solidify_job *job, surface_layout *l)
{
    rbl_status status = RBL_OK;
    const rbli_repair_result *r = job->repair;
    int32_t *start = NULL, *order = NULL, *local = rbli_alloc(ctx, r->vertex_count, sizeof *local);
    RBL_TRY_ALLOC(local);
    RBL_TRY_ALLOC(l->ranges = rbli_alloc(ctx, job->geometry_count, sizeof *l->ranges));
    RBL_TRY_ALLOC(l->faces = rbli_alloc(ctx, r->triangle_count, sizeof *l->faces));
    RBL_TRY(sort_shells(ctx, job, &start, &order));
    for (size_t v = 0; v < r->vertex_count; v++)
        local[v] = -1;
    for (size_t g = 0; g < job->geometry_count; g++) {
        size_t first_vertex = l->vertices.count, first_face = l->triangles.count;
        for (int32_t i = start[g]; i < start[g + 1]; i++)
            RBL_TRY(lay_out_shell(ctx, r, &r->shells[order[i]], local, l, first_vertex));
        l->ranges[g][0] = (int32_t)first_vertex;
        l->ranges[g][1] = (int32_t)(l->vertices.count - first_vertex);
        l->ranges[g][2] = (int32_t)first_face;
        l->ranges[g][3] = (int32_t)(l->triangles.count - first_face);
    }
done:
    rbli_free(ctx, start);
    rbli_free(ctx, order);
    rbli_free(ctx, local);
    return status;
}

/// Replaces the surface of `c` by the laid out one.
static rbl_status carry_surface(
    rbl_context *ctx, const rbli_repair_result *r, surface_layout *l, rbl_collection *c)
{
    rbl_status status = RBL_OK;
    size_t vertices = l->vertices.count, faces = l->triangles.count;
    RBL_TRY_ALLOC(l->positions = rbli_alloc(ctx, vertices, sizeof *l->positions));
    RBL_TRY_ALLOC(l->vertex_source = rbli_alloc(ctx, vertices, sizeof *l->vertex_source));
    RBL_TRY_ALLOC(l->face_source = rbli_alloc(ctx, faces, sizeof *l->face_source));
    RBL_TRY_ALLOC(l->weights_index = rbli_alloc(ctx, faces, sizeof *l->weights_index));
    for (size_t v = 0; v < vertices; v++) {
        RBL_TRY(rbli_poll(ctx, v));
        memcpy(l->positions[v], r->positions[l->vertices.data[v]], sizeof *l->positions);
        l->vertex_source[v] = -1;
    }
    for (size_t f = 0; f < faces; f++) {
        RBL_TRY(rbli_poll(ctx, f));
        int32_t from = r->origins.source[l->triangles.data[f]];
        l->face_source[f] = from < 0 ? -1 : from;
        l->weights_index[f] = from < 0 ? -1 : r->origins.weights_index[l->triangles.data[f]];
        l->filled_count += from < 0;
    }
    if (faces > 0 && faces < r->triangle_count) { /* some shells were left out */
        int32_t(*fitting)[3] = rbli_realloc(ctx, l->faces, faces, sizeof *fitting);
        RBL_TRY_ALLOC(fitting);
        l->faces = fitting;
    }
    rbli_surface_map map = {vertices, (const double(*)[3])l->positions, l->vertex_source, faces,
        (const int32_t(*)[3])l->faces, l->face_source, l->weights_index,
        (const double(*)[3][3])r->origins.weights};
    status = rbli_surface_replace_taking(ctx, c, &map);
    if (!map.positions) l->positions = NULL;
    if (!map.faces) l->faces = NULL;
done:
    return status;
}

/// Faces that fill holes are visible, flat and of a material of their own.
static rbl_status finish_filled_faces(rbl_context *ctx, const surface_layout *l, rbl_collection *c)
{
    rbl_status status = RBL_OK;
    void *material, *visible, *origin, *color;
    int32_t filled;
    if (l->filled_count == 0) return RBL_OK;
    RBL_TRY(rbli_material_index(ctx, c, "filled", &filled));
    RBL_TRY(rbli_collection_write(ctx, c, "face", "material", RBL_INT32, &material));
    RBL_TRY(rbli_collection_write(ctx, c, "face", "visible", RBL_BOOL, &visible));
    RBL_TRY(rbli_collection_write(ctx, c, "face", "origin", RBL_INT32, &origin));
    color = NULL;
    if (rbli_collection_buffer(c, "corner", "color"))
        RBL_TRY(rbli_collection_write(ctx, c, "corner", "color", RBL_FLOAT_4, &color));
    for (size_t f = 0; f < l->triangles.count; f++) {
        RBL_TRY(rbli_poll(ctx, f));
        if (l->face_source[f] >= 0) continue;
        ((int32_t *)material)[f] = filled;
        ((bool *)visible)[f] = true;
        ((int32_t *)origin)[f] = -1;
        for (size_t i = 12 * f; color && i < 12 * (f + 1); i++)
            ((float *)color)[i] = 1;
    }
done:
    return status;
}

static rbl_status write_geometries(
    rbl_context *ctx, const solidify_job *job, const surface_layout *l, rbl_collection *c)
{
    rbl_status status = RBL_OK;
    static const char *const names[] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    void *out;
    RBL_TRY(rbli_collection_resize(ctx, c, "geometry", job->geometry_count));
    for (size_t i = 0; i < 4; i++) {
        RBL_TRY(rbli_collection_write(ctx, c, "geometry", names[i], RBL_INT32, &out));
        for (size_t g = 0; g < job->geometry_count; g++)
            ((int32_t *)out)[g] = l->ranges[g][i];
    }
    RBL_TRY(rbli_collection_write(ctx, c, "geometry", "bone", RBL_INT32, &out));
    for (size_t g = 0; g < job->geometry_count; g++)
        ((int32_t *)out)[g] = 1 + (int32_t)g;
done:
    return status;
}

static rbl_status build_surface(rbl_context *ctx, const solidify_job *job, rbl_collection *c)
{
    rbl_status status = RBL_OK;
    surface_layout l = {0};
    RBL_TRY(lay_out_surface(ctx, job, &l));
    RBL_TRY(carry_surface(ctx, job->repair, &l, c));
    RBL_TRY(write_geometries(ctx, job, &l, c));
    RBL_TRY(finish_filled_faces(ctx, &l, c));
    RBL_TRY(rbli_surface_fill_flat_normals(ctx, c));
    RBL_TRY(rbli_surface_measure(ctx, c, 0));
done:
    free_surface_layout(ctx, &l);
    return status;
}

/// Replaces the repaired shells by their union.
static rbl_status unite_shells(rbl_context *ctx, solidify_job *job)
{
    rbl_status status = RBL_OK;
    rbli_repair_result *united = NULL;
    RBL_TRY(rbli_unite(ctx, job->repair, job->kept, job->options->join, &united));
    if (!united) return RBL_OK;
    job->found = job->repair;
    job->found_kept = job->kept;
    job->repair = united;
    RBL_TRY_ALLOC(job->kept = rbli_calloc(ctx, united->shell_count, sizeof *job->kept));
    for (size_t s = 0; s < united->shell_count; s++)
        job->kept[s] = united->shells[s].kind <= RBLI_SHELL_CAVITY;
done:
    return status;
}

static rbl_status thicken_sheets(rbl_context *ctx, solidify_job *job, size_t *warnings)
{
    rbli_repair_result *r = job->repair;
    double thickness = job->options->thickness;
    size_t sheets = 0;
    for (size_t s = 0; s < r->shell_count; s++)
        sheets += solidify_is_sheet(&r->shells[s]);
    if (sheets == 0) return RBL_OK;
    if (!(thickness > 0)) thickness = DEFAULT_THICKNESS * sqrt(squared_diagonal(r));
    ++*warnings;
    rbli_warn(ctx, "%zu sheet%s thickened to %.4g", sheets, sheets == 1 ? "" : "s", thickness);
    return rbli_thicken_sheets(ctx, r, thickness);
}

rbl_status rbli_solidify(
    rbl_context *ctx, const rbl_collection *in, const rbli_solidify_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    solidify_job job = {.in = in, .options = options};
    rbl_collection *made = NULL;
    size_t warnings = 0;
    RBLI_PHASE(ctx, "repair", run_repair(ctx, &job));
    if (options->sheets == RBLI_SHEETS_THICKEN) RBL_TRY(thicken_sheets(ctx, &job, &warnings));
    RBL_TRY(choose_shells(ctx, &job));
    RBL_TRY(solidify_refuse(ctx, &job));
    RBLI_PHASE(ctx, "unite shells", unite_shells(ctx, &job));
    RBL_TRY(solidify_report(ctx, &job, &warnings));
    if (options->strict && warnings > 0) {
        status = rbli_fail(ctx, RBL_ERR_MESH, "the mesh needed %zu repair%s and \"strict\" allows none",
            warnings, warnings == 1 ? "" : "s");
        goto done;
    }
    RBL_TRY(assign_geometries(ctx, &job));
    RBL_TRY(rbli_collection_copy(ctx, in, &made));
    RBL_TRY(build_bones(ctx, &job, made));
    RBLI_PHASE(ctx, "build surface", build_surface(ctx, &job, made));
    if (options->details) RBL_TRY(solidify_write_details(ctx, &job, made));
    *out = made;
    made = NULL;
done:
    rbli_collection_release(made);
    rbli_repair_result_destroy(ctx, job.repair);
    rbli_repair_result_destroy(ctx, job.found);
    rbli_free(ctx, job.found_kept);
    rbli_free(ctx, job.geometry_bone);
    rbli_free(ctx, job.kept);
    rbli_free(ctx, job.shell_bone);
    rbli_free(ctx, job.geometry_node);
    rbli_free(ctx, job.geometry_part);
    rbli_free(ctx, job.geometry_parent);
    return status;
}
