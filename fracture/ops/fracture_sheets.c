/// Sheets that were attached to broken bones: cut by the same complex, each fragment goes to the piece beside
/// it.

#include <math.h>

#include "fracture/geometry/cut_sheet.h"
#include "fracture/ops/fracture_internal.h"
#include "fracture/ops/surface.h"
#include "fracture/ops/trim_sheet.h"

/// A fragment joins a piece of its cell that is this near, times the diagonal of what was cut.
static const double REACH = 0.05;

/// One attached sheet.
typedef struct sheet_cut {
    int32_t bone, geometry;
    size_t cut;         /* of the job */
    size_t first_piece; /* geometry of the cut's first piece */
    double (*positions)[3];
    int32_t (*triangles)[3];
    rbli_mesh_view mesh; /* world space */
    rbli_sheet_fragments *fragments;
    int32_t *target; /* [fragments] new sheet, −1: dropped */
} sheet_cut;

/// A new sheet: all fragments of a piece, or one that found none.
typedef struct new_sheet {
    int32_t piece; /* geometry, −1: none */
    int32_t site;
    size_t source; /* of `sheets` */
} new_sheet;

typedef struct sheet_job {
    const fracture_job *job;
    rbl_collection *c;
    sheet_cut *sheets;
    size_t sheet_count;
    RBLI_ARRAY(new_sheet) made;
} sheet_job;

/* ---- distances ---- */

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double squared_to_segment(const double p[3], const double a[3], const double b[3])
{
    double ab[3], ap[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k];
        ap[k] = p[k] - a[k];
    }
    double length = dot3(ab, ab), t = length > 0 ? fmin(fmax(dot3(ap, ab) / length, 0), 1) : 0;
    for (int k = 0; k < 3; k++)
        sum += (ap[k] - t * ab[k]) * (ap[k] - t * ab[k]);
    return sum;
}

/// Squared distance of a point from a triangle: to the plane where it stands above the inside, else to a
/// side.
static double squared_to_triangle(const double p[3], const double a[3], const double b[3], const double c[3])
{
    double u[3], v[3], w[3];
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
        w[k] = p[k] - a[k];
    }
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    double nn = dot3(n, n);
    if (nn > 0) {
        double uw[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
        double wv[3] = {w[1] * v[2] - w[2] * v[1], w[2] * v[0] - w[0] * v[2], w[0] * v[1] - w[1] * v[0]};
        double s = dot3(wv, n) / nn, t = dot3(uw, n) / nn;
        if (s >= 0 && t >= 0 && s + t <= 1) {
            double height = dot3(w, n);
            return height * height / nn;
        }
    }
    return fmin(squared_to_segment(p, a, b), fmin(squared_to_segment(p, b, c), squared_to_segment(p, c, a)));
}

/// A run of vertices and triangles that index them absolutely.
typedef struct part {
    const double (*positions)[3];
    const int32_t (*triangles)[3];
    size_t vertex_start, vertex_end, triangle_start, triangle_end;
} part;

static double squared_from_vertices(const part *points, const part *surface, double least)
{
    for (size_t v = points->vertex_start; v < points->vertex_end; v++)
        for (size_t t = surface->triangle_start; t < surface->triangle_end; t++) {
            const int32_t *corner = surface->triangles[t];
            least = fmin(least, squared_to_triangle(points->positions[v], surface->positions[corner[0]],
                                    surface->positions[corner[1]], surface->positions[corner[2]]));
        }
    return least;
}

static part fragment_part(const rbli_sheet_fragments *f, size_t i)
{
    return (part){(const double(*)[3])f->positions, (const int32_t(*)[3])f->triangles,
        (size_t)f->vertex_start[i], (size_t)f->vertex_start[i + 1], (size_t)f->triangle_start[i],
        (size_t)f->triangle_start[i + 1]};
}

static part piece_part(const rbli_cut_result *r, size_t i)
{
    return (part){(const double(*)[3])r->positions, (const int32_t(*)[3])r->triangles,
        (size_t)r->vertex_start[i], (size_t)r->vertex_start[i + 1], (size_t)r->triangle_start[i],
        (size_t)r->triangle_start[i + 1]};
}

/* ---- cutting ---- */

/// The mesh of a sheet in world space.
static rbl_status load_sheet(
    rbl_context *ctx, const rbl_collection *in, const double world[16], sheet_cut *sheet)
{
    rbl_status status = RBL_OK;
    size_t g = (size_t)sheet->geometry;
    static const char *const names[] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    int32_t range[4];
    for (int i = 0; i < 4; i++)
        range[i] = ((const int32_t *)rbli_collection_read(in, "geometry", names[i], RBL_INT32))[g];
    const double(*positions)[3] = rbli_collection_read(in, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(in, "face", "vertices", RBL_INT32_3);
    RBL_TRY_ALLOC(sheet->positions = rbli_alloc(ctx, (size_t)range[1], sizeof *sheet->positions));
    RBL_TRY_ALLOC(sheet->triangles = rbli_alloc(ctx, (size_t)range[3], sizeof *sheet->triangles));
    for (int32_t v = 0; v < range[1]; v++)
        rbli_affine_point(world, positions[range[0] + v], sheet->positions[v]);
    for (int32_t f = 0; f < range[3]; f++)
        for (int k = 0; k < 3; k++)
            sheet->triangles[f][k] = faces[range[2] + f][k] - range[0];
    sheet->mesh = (rbli_mesh_view){(const double(*)[3])sheet->positions, (size_t)range[1],
        (const int32_t(*)[3])sheet->triangles, (size_t)range[3]};
done:
    return status;
}

/// Cuts what of a sheet stands out of the solid.
static rbl_status cut_sheet(rbl_context *ctx, const sheet_job *s, sheet_cut *sheet)
{
    rbl_status status = RBL_OK;
    const bone_cut *cut = &s->job->cuts[sheet->cut];
    rbli_sheet_fragments *outside = NULL;
    rbli_mesh_view mesh = sheet->mesh;
    RBL_TRY(rbli_trim_sheet(ctx, &sheet->mesh, &cut->mesh, &outside));
    if (outside)
        mesh = (rbli_mesh_view){(const double(*)[3])outside->positions, outside->vertex_count,
            (const int32_t(*)[3])outside->triangles, outside->triangle_count};
    RBL_TRY(rbli_cut_sheet(ctx, &mesh, complex_of(s->job, cut), &sheet->fragments));
    if (outside) status = rbli_compose_fragments(ctx, outside, sheet->fragments);
done:
    rbli_sheet_fragments_destroy(ctx, outside);
    return status;
}

/// Attached sheets of broken bones; cuts them.
static rbl_status cut_sheets(rbl_context *ctx, sheet_job *s, size_t first_piece)
{
    rbl_status status = RBL_OK;
    const rbl_collection *in = s->job->in;
    size_t bones = rbli_collection_size(in, "bone");
    const bool *sheet = rbli_collection_read(in, "bone", "sheet", RBL_BOOL);
    const int32_t *parent = rbli_collection_read(in, "bone", "parent", RBL_INT32);
    const int32_t *geometry = rbli_collection_read(in, "bone", "geometry", RBL_INT32);
    double(*world)[16] = NULL;
    int32_t *cut_of = NULL;
    size_t *piece_of = NULL;
    if (!sheet) return RBL_OK;
    RBL_TRY_ALLOC(cut_of = rbli_alloc(ctx, bones, sizeof *cut_of));
    RBL_TRY_ALLOC(piece_of = rbli_alloc(ctx, s->job->cut_count, sizeof *piece_of));
    RBL_TRY_ALLOC(s->sheets = rbli_calloc(ctx, bones, sizeof *s->sheets));
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, in, &world));
    memset(cut_of, 0xff, bones * sizeof *cut_of);
    for (size_t i = 0; i < s->job->cut_count; i++) {
        piece_of[i] = first_piece;
        if (!is_broken(&s->job->cuts[i])) continue;
        cut_of[s->job->cuts[i].bone] = (int32_t)i;
        first_piece += s->job->cuts[i].result->piece_count;
    }
    for (size_t b = 0; b < bones; b++) {
        if (!sheet[b] || parent[b] < 0 || geometry[b] < 0 || cut_of[parent[b]] < 0) continue;
        sheet_cut *cut = &s->sheets[s->sheet_count++];
        cut->bone = (int32_t)b;
        cut->geometry = geometry[b];
        cut->cut = (size_t)cut_of[parent[b]];
        cut->first_piece = piece_of[cut->cut];
        RBL_TRY(load_sheet(ctx, in, world[b], cut));
        RBL_TRY(cut_sheet(ctx, s, cut));
    }
done:
    rbli_free(ctx, world);
    rbli_free(ctx, cut_of);
    rbli_free(ctx, piece_of);
    return status;
}

/* ---- joining ---- */

/// The piece of the fragment's cell that is nearest and within reach, −1 for none.
static int32_t find_piece(const bone_cut *cut, const sheet_cut *sheet, size_t fragment, double reach)
{
    const rbli_cut_result *r = cut->result;
    part f = fragment_part(sheet->fragments, fragment);
    double best = reach * reach;
    int32_t found = -1;
    for (size_t p = 0; p < r->piece_count; p++) {
        if (r->piece_cell[p] != sheet->fragments->cell[fragment]) continue;
        part piece = piece_part(r, p);
        double distance = squared_from_vertices(&f, &piece, HUGE_VAL);
        distance = squared_from_vertices(&piece, &f, distance);
        if (distance > best || (distance == best && found >= 0)) continue;
        best = distance;
        found = (int32_t)p;
    }
    return found;
}

static rbl_status join_sheet(rbl_context *ctx, sheet_job *s, size_t index)
{
    rbl_status status = RBL_OK;
    sheet_cut *sheet = &s->sheets[index];
    const bone_cut *cut = &s->job->cuts[sheet->cut];
    const rbli_cell_complex *k = complex_of(s->job, cut);
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, squared = 0;
    for (size_t v = 0; v < cut->mesh.vertex_count; v++)
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = fmin(low[axis], cut->mesh.positions[v][axis]);
            high[axis] = fmax(high[axis], cut->mesh.positions[v][axis]);
        }
    for (int axis = 0; axis < 3; axis++)
        squared += (high[axis] - low[axis]) * (high[axis] - low[axis]);
    RBL_TRY_ALLOC(sheet->target = rbli_alloc(ctx, sheet->fragments->fragment_count, sizeof *sheet->target));
    for (size_t f = 0; f < sheet->fragments->fragment_count; f++) {
        sheet->target[f] = -1;
        if (rbli_cancelled(ctx)) {
            status = RBL_ERR_CANCELLED;
            goto done;
        }
        int32_t piece = find_piece(cut, sheet, f, REACH * sqrt(squared));
        int32_t geometry = piece < 0 ? -1 : (int32_t)sheet->first_piece + piece;
        for (size_t i = 0; geometry >= 0 && i < s->made.count; i++)
            if (s->made.data[i].piece == geometry) sheet->target[f] = (int32_t)i;
        if (sheet->target[f] >= 0) continue;
        sheet->target[f] = (int32_t)s->made.count;
        RBL_TRY(rbli_array_push(
            ctx, &s->made, ((new_sheet){geometry, k->cell_site[sheet->fragments->cell[f]], index})));
    }
done:
    return status;
}

/* ---- the new surface ---- */

typedef struct sheet_layout {
    size_t vertex_count, face_count, geometry_count, row_count;
    double (*positions)[3];
    int32_t *vertex_source;
    int32_t (*faces)[3];
    int32_t *face_source, *weights_index;
    double (*weights)[3][3];
    int32_t *geometry_source, *ranges[4]; /* [geometry_count] as the attributes in range_names */
} sheet_layout;

static const char *const range_names[] = {"vertex_start", "vertex_count", "face_start", "face_count"};

static rbl_status keep_surface(rbl_context *ctx, const sheet_job *s, sheet_layout *l)
{
    rbl_status status = RBL_OK;
    size_t vertices = rbli_collection_size(s->c, "vertex"), faces = rbli_collection_size(s->c, "face"),
           geometries = rbli_collection_size(s->c, "geometry"), rows = 0;
    l->vertex_count = vertices;
    l->face_count = faces;
    l->geometry_count = geometries;
    for (size_t i = 0; i < s->sheet_count; i++) {
        vertices += s->sheets[i].fragments->vertex_count;
        faces += s->sheets[i].fragments->triangle_count;
        rows += s->sheets[i].fragments->origins.weights_count;
    }
    geometries += s->made.count;
    RBL_TRY_ALLOC(l->positions = rbli_alloc(ctx, vertices, sizeof *l->positions));
    RBL_TRY_ALLOC(l->vertex_source = rbli_alloc(ctx, vertices, sizeof *l->vertex_source));
    RBL_TRY_ALLOC(l->faces = rbli_alloc(ctx, faces, sizeof *l->faces));
    RBL_TRY_ALLOC(l->face_source = rbli_alloc(ctx, faces, sizeof *l->face_source));
    RBL_TRY_ALLOC(l->weights_index = rbli_alloc(ctx, faces, sizeof *l->weights_index));
    RBL_TRY_ALLOC(l->weights = rbli_alloc(ctx, rows, sizeof *l->weights));
    RBL_TRY_ALLOC(l->geometry_source = rbli_alloc(ctx, geometries, sizeof *l->geometry_source));
    memcpy(l->positions, rbli_collection_read(s->c, "vertex", "position", RBL_VEC3),
        l->vertex_count * sizeof *l->positions);
    memcpy(l->faces, rbli_collection_read(s->c, "face", "vertices", RBL_INT32_3),
        l->face_count * sizeof *l->faces);
    for (size_t v = 0; v < l->vertex_count; v++)
        l->vertex_source[v] = (int32_t)v;
    for (size_t f = 0; f < l->face_count; f++) {
        l->face_source[f] = (int32_t)f;
        l->weights_index[f] = -1;
    }
    for (size_t g = 0; g < l->geometry_count; g++)
        l->geometry_source[g] = (int32_t)g;
    for (int i = 0; i < 4; i++) {
        RBL_TRY_ALLOC(l->ranges[i] = rbli_alloc(ctx, geometries, sizeof *l->ranges[i]));
        memcpy(l->ranges[i], rbli_collection_read(s->c, "geometry", range_names[i], RBL_INT32),
            l->geometry_count * sizeof *l->ranges[i]);
    }
done:
    return status;
}

/// Where the geometry of a sheet starts in the collection that pieces were added to.
static int32_t start_of(const sheet_job *s, const sheet_cut *sheet, const char *name)
{
    int32_t geometry =
        ((const int32_t *)rbli_collection_read(s->c, "bone", "geometry", RBL_INT32))[sheet->bone];
    return ((const int32_t *)rbli_collection_read(s->c, "geometry", name, RBL_INT32))[geometry];
}

static void append_fragment(const sheet_job *s, const sheet_cut *sheet, size_t fragment, sheet_layout *l)
{
    const rbli_sheet_fragments *f = sheet->fragments;
    const bone_cut *cut = &s->job->cuts[sheet->cut];
    int32_t first_vertex = start_of(s, sheet, "vertex_start"), first_face = start_of(s, sheet, "face_start");
    int32_t shift = (int32_t)l->vertex_count - f->vertex_start[fragment];
    for (int32_t v = f->vertex_start[fragment]; v < f->vertex_start[fragment + 1]; v++) {
        double *p = l->positions[l->vertex_count];
        if (cut->moved)
            rbli_affine_point(cut->inverse, f->positions[v], p);
        else
            memcpy(p, f->positions[v], sizeof(double[3]));
        l->vertex_source[l->vertex_count++] =
            f->vertex_source[v] < 0 ? -1 : first_vertex + f->vertex_source[v];
    }
    for (int32_t t = f->triangle_start[fragment]; t < f->triangle_start[fragment + 1]; t++) {
        int32_t row = f->origins.weights_index[t];
        for (int k = 0; k < 3; k++)
            l->faces[l->face_count][k] = f->triangles[t][k] + shift;
        l->face_source[l->face_count] = first_face + f->origins.source[t];
        l->weights_index[l->face_count++] = row < 0 ? -1 : (int32_t)l->row_count;
        if (row >= 0) memcpy(l->weights[l->row_count++], f->origins.weights[row], sizeof *l->weights);
    }
}

static rbl_status replace_surface(rbl_context *ctx, sheet_job *s, sheet_layout *l)
{
    rbl_status status = RBL_OK;
    size_t first = l->geometry_count;
    for (size_t i = 0; i < s->made.count; i++) {
        size_t g = l->geometry_count++, start[2] = {l->vertex_count, l->face_count};
        for (size_t n = 0; n < s->sheet_count; n++)
            for (size_t f = 0; f < s->sheets[n].fragments->fragment_count; f++)
                if (s->sheets[n].target[f] == (int32_t)i) append_fragment(s, &s->sheets[n], f, l);
        l->geometry_source[g] = ((const int32_t *)rbli_collection_read(
            s->c, "bone", "geometry", RBL_INT32))[s->sheets[s->made.data[i].source].bone];
        l->ranges[0][g] = (int32_t)start[0];
        l->ranges[1][g] = (int32_t)(l->vertex_count - start[0]);
        l->ranges[2][g] = (int32_t)start[1];
        l->ranges[3][g] = (int32_t)(l->face_count - start[1]);
    }
    rbli_surface_map map = {l->vertex_count, (const double(*)[3])l->positions, l->vertex_source,
        l->face_count, (const int32_t(*)[3])l->faces, l->face_source, l->weights_index,
        (const double(*)[3][3])l->weights};
    RBL_TRY(rbli_surface_replace(ctx, s->c, &map));
    RBL_TRY(rbli_collection_gather(ctx, s->c, "geometry", l->geometry_source, l->geometry_count));
    for (int i = 0; i < 4; i++) {
        void *out;
        RBL_TRY(rbli_collection_write(ctx, s->c, "geometry", range_names[i], RBL_INT32, &out));
        memcpy(out, l->ranges[i], l->geometry_count * sizeof(int32_t));
    }
    RBL_TRY(rbli_surface_measure(ctx, s->c, first));
done:
    return status;
}

/* ---- bones ---- */

static rbl_status add_bones(rbl_context *ctx, sheet_job *s, size_t first_geometry)
{
    rbl_status status = RBL_OK;
    size_t count = s->made.count;
    int32_t *parents = NULL, *sources = NULL, first = 0;
    char **names = NULL;
    void *geometry, *owner, *sheet, *site;
    RBL_TRY_ALLOC(parents = rbli_alloc(ctx, count, sizeof *parents));
    RBL_TRY_ALLOC(sources = rbli_alloc(ctx, count, sizeof *sources));
    RBL_TRY_ALLOC(names = rbli_calloc(ctx, count, sizeof *names));
    const int32_t *owners = rbli_collection_read(s->c, "geometry", "bone", RBL_INT32);
    for (size_t i = 0; i < count; i++) {
        const new_sheet *made = &s->made.data[i];
        const sheet_cut *from = &s->sheets[made->source];
        int32_t broken = s->job->cuts[from->cut].bone;
        parents[i] = made->piece < 0 ? broken : owners[made->piece];
        sources[i] = from->bone;
        const char *name = rbli_collection_string(s->c, "bone", "name", (size_t)parents[i]);
        names[i] = made->piece < 0 ? rbli_format(ctx, "%s_%d_sheet", name, (int)made->site)
                                   : rbli_format(ctx, "%s_sheet", name);
        RBL_TRY_ALLOC(names[i]);
    }
    RBL_TRY(rbli_hierarchy_add_bones(
        ctx, s->c, count, parents, (const char *const *)names, RBLI_BONE_RIGID, &first));
    RBL_TRY(rbli_fracture_inherit(ctx, s->c, (size_t)first, count, sources));
    RBL_TRY(rbli_collection_write(ctx, s->c, "bone", "geometry", RBL_INT32, &geometry));
    RBL_TRY(rbli_collection_write(ctx, s->c, "bone", "sheet", RBL_BOOL, &sheet));
    RBL_TRY(rbli_collection_write(ctx, s->c, "bone", "site", RBL_INT32, &site));
    RBL_TRY(rbli_collection_write(ctx, s->c, "geometry", "bone", RBL_INT32, &owner));
    for (size_t i = 0; i < count; i++) {
        ((int32_t *)geometry)[(size_t)first + i] = (int32_t)(first_geometry + i);
        ((int32_t *)owner)[first_geometry + i] = first + (int32_t)i;
        ((int32_t *)site)[(size_t)first + i] = s->made.data[i].site;
        ((bool *)sheet)[(size_t)first + i] = true;
    }
done:
    for (size_t i = 0; names && i < count; i++)
        rbli_free(ctx, names[i]);
    rbli_free(ctx, names);
    rbli_free(ctx, parents);
    rbli_free(ctx, sources);
    return status;
}

/// Removes the bones of the sheets that were cut, and renumbers the bones that are told of.
static rbl_status remove_old(rbl_context *ctx, sheet_job *s, int32_t *bones, size_t count)
{
    rbl_status status = RBL_OK;
    bool *gone = NULL;
    RBL_TRY_ALLOC(gone = rbli_calloc(ctx, rbli_collection_size(s->c, "bone"), sizeof *gone));
    for (size_t i = 0; i < s->sheet_count; i++)
        gone[s->sheets[i].bone] = true;
    RBL_TRY(rbli_hierarchy_remove_bones(ctx, s->c, gone));
    for (size_t i = 0; i < count; i++) {
        int32_t less = 0;
        for (size_t n = 0; n < s->sheet_count; n++)
            less += s->sheets[n].bone < bones[i];
        bones[i] -= less;
    }
done:
    rbli_free(ctx, gone);
    return status;
}

rbl_status rbli_fracture_sheets(rbl_context *ctx, const fracture_job *job, size_t first_piece,
    rbl_collection *c, int32_t *bones, size_t count)
{
    rbl_status status = RBL_OK;
    sheet_job s = {.job = job, .c = c};
    sheet_layout l = {0};
    RBL_TRY(cut_sheets(ctx, &s, first_piece));
    if (s.sheet_count == 0) goto done;
    for (size_t i = 0; i < s.sheet_count; i++)
        RBL_TRY(join_sheet(ctx, &s, i));
    RBL_TRY(keep_surface(ctx, &s, &l));
    size_t first_geometry = l.geometry_count;
    RBL_TRY(replace_surface(ctx, &s, &l));
    RBL_TRY(add_bones(ctx, &s, first_geometry));
    RBL_TRY(remove_old(ctx, &s, bones, count));
done:
    for (size_t i = 0; i < s.sheet_count; i++) {
        rbli_free(ctx, s.sheets[i].positions);
        rbli_free(ctx, s.sheets[i].triangles);
        rbli_free(ctx, s.sheets[i].target);
        rbli_sheet_fragments_destroy(ctx, s.sheets[i].fragments);
    }
    rbli_free(ctx, s.sheets);
    rbli_free(ctx, s.made.data);
    void *arrays[] = {l.positions, l.vertex_source, l.faces, l.face_source, l.weights_index, l.weights,
        l.geometry_source, l.ranges[0], l.ranges[1], l.ranges[2], l.ranges[3]};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
    return status;
}
