/// Unions of pieces: each group alone, in parallel; then one new surface, and all that refers to what is gone.

#include "fracture/ops/fuse_pieces.h"

#include <math.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/fuse.h"
#include "fracture/geometry/radix_sort.h"
#include "fracture/ops/bone_mass.h"
#include "fracture/ops/rehang.h"
#include "fracture/ops/surface.h"

void rbli_piece_groups_free(rbl_context *ctx, rbli_piece_groups *groups)
{
    rbli_free(ctx, groups->member);
    rbli_free(ctx, groups->start);
    rbli_free(ctx, groups->keeper);
    rbli_free(ctx, groups->contact_area);
    *groups = (rbli_piece_groups){0};
}

typedef struct ranges {
    const int32_t *vertex_start, *vertex_count, *face_start, *face_count;
    const int32_t (*faces)[3];
} ranges;

static ranges read_ranges(const rbl_collection *c)
{
    return (ranges){rbli_collection_read(c, "geometry", "vertex_start", RBL_INT32),
        rbli_collection_read(c, "geometry", "vertex_count", RBL_INT32),
        rbli_collection_read(c, "geometry", "face_start", RBL_INT32),
        rbli_collection_read(c, "geometry", "face_count", RBL_INT32),
        rbli_collection_read(c, "face", "vertices", RBL_INT32_3)};
}

typedef struct fusing {
    rbl_context *ctx;
    const rbl_collection *in;
    const rbli_world_surface *surface;
    const rbli_piece_groups *groups;
    ranges in_ranges;
    const int32_t *geometry; /* of bones */
    double (*world)[16];
    rbli_fuse_result *unions; /* [groups] sources are vertices and faces of the collection; positions in the
                                 keeper's frame */
    bool *fused;
} fusing;

/* ---- union of a group ---- */

static double total_area(const double (*positions)[3], const int32_t (*triangles)[3], size_t count)
{
    double sum = 0;
    for (size_t t = 0; t < count; t++) {
        const double *a = positions[triangles[t][0]], *b = positions[triangles[t][1]],
                     *c = positions[triangles[t][2]];
        double u[3], v[3], n[3];
        for (int k = 0; k < 3; k++)
            u[k] = b[k] - a[k], v[k] = c[k] - a[k];
        for (int k = 0; k < 3; k++)
            n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        sum += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
    }
    return sum;
}

static double signed_volume(const double (*positions)[3], const int32_t (*triangles)[3], size_t count)
{
    const double *origin = positions[triangles[0][0]];
    double volume = 0;
    for (size_t t = 0; t < count; t++) {
        double p[3][3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                p[c][k] = positions[triangles[t][c]][k] - origin[k];
        volume += (p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                      p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                      p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0])) /
                  6;
    }
    return volume;
}

/// From world space to the frame of the bone `to`; a vertex that did not move keeps its own bits.
static bool to_frame(const fusing *f, int32_t to, const int32_t *vertex_bone, rbli_fuse_result *r)
{
    const double(*local)[3] = rbli_collection_read(f->in, "vertex", "position", RBL_VEC3);
    for (size_t v = 0; v < r->vertex_count; v++) {
        int32_t source = r->vertex_source[v];
        double world[3];
        memcpy(world, r->positions[v], sizeof world);
        bool same_frame = memcmp(f->world[vertex_bone[v]], f->world[to], sizeof *f->world) == 0;
        if (same_frame && memcmp(world, f->surface->positions[source], sizeof world) == 0) {
            memcpy(r->positions[v], local[source], sizeof world);
        } else if (!rbli_affine_solve_point(f->world[to], world, r->positions[v])) {
            return false;
        }
    }
    return true;
}

/// The members' surfaces side by side.
typedef struct soup {
    double (*positions)[3];
    size_t vertex_count;
    int32_t (*triangles)[3];
    size_t triangle_count;
    int32_t *piece, *face;   /* [triangle_count] bone, face of the collection */
    int32_t *vertex, *owner; /* [vertex_count] vertex of the collection, its bone */
} soup;

static void soup_free(rbl_context *ctx, soup *s)
{
    rbli_free(ctx, s->positions);
    rbli_free(ctx, s->triangles);
    rbli_free(ctx, s->piece);
    rbli_free(ctx, s->face);
    rbli_free(ctx, s->vertex);
    rbli_free(ctx, s->owner);
}

static rbl_status soup_build(rbl_context *ctx, const fusing *f, const int32_t *member, size_t count, soup *s)
{
    rbl_status status = RBL_OK;
    const ranges *in = &f->in_ranges;
    size_t v = 0, t = 0;
    for (size_t i = 0; i < count; i++) {
        s->vertex_count += (size_t)in->vertex_count[f->geometry[member[i]]];
        s->triangle_count += (size_t)in->face_count[f->geometry[member[i]]];
    }
    RBL_TRY_ALLOC(s->positions = rbli_alloc(ctx, s->vertex_count, sizeof *s->positions));
    RBL_TRY_ALLOC(s->vertex = rbli_alloc(ctx, s->vertex_count, sizeof *s->vertex));
    RBL_TRY_ALLOC(s->owner = rbli_alloc(ctx, s->vertex_count, sizeof *s->owner));
    RBL_TRY_ALLOC(s->triangles = rbli_alloc(ctx, s->triangle_count, sizeof *s->triangles));
    RBL_TRY_ALLOC(s->piece = rbli_alloc(ctx, s->triangle_count, sizeof *s->piece));
    RBL_TRY_ALLOC(s->face = rbli_alloc(ctx, s->triangle_count, sizeof *s->face));
    for (size_t i = 0; i < count; i++) {
        int32_t g = f->geometry[member[i]], shift = (int32_t)v - in->vertex_start[g];
        for (int32_t j = 0; j < in->vertex_count[g]; j++, v++) {
            s->vertex[v] = in->vertex_start[g] + j;
            s->owner[v] = member[i];
            memcpy(s->positions[v], f->surface->positions[s->vertex[v]], sizeof *s->positions);
        }
        for (int32_t j = 0; j < in->face_count[g]; j++, t++) {
            s->face[t] = in->face_start[g] + j;
            s->piece[t] = member[i];
            for (int k = 0; k < 3; k++)
                s->triangles[t][k] = in->faces[s->face[t]][k] + shift;
        }
    }
done:
    return status;
}

/// Whether the union lost both sides of the whole contact and no volume.
static bool is_clean(const soup *s, const rbli_fuse_result *r, double contact_area)
{
    const double(*old)[3] = (const double(*)[3])s->positions, (*now)[3] = (const double(*)[3])r->positions;
    const int32_t(*old_faces)[3] = (const int32_t(*)[3])s->triangles;
    const int32_t(*now_faces)[3] = (const int32_t(*)[3])r->triangles;
    if (s->triangle_count == 0 || r->triangle_count == 0) return false;
    double before = total_area(old, old_faces, s->triangle_count);
    double after = total_area(now, now_faces, r->triangle_count);
    double volume = signed_volume(old, old_faces, s->triangle_count);
    /* Both from one point, so that far parts do not differ by rounding. */
    double kept = signed_volume(now, now_faces, r->triangle_count);
    return fabs(before - after - 2 * contact_area) <= 1e-6 * contact_area + 1e-12 * before &&
           fabs(volume - kept) <= 1e-12 * fabs(volume);
}

static bool mirrors(const double m[16])
{
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[4] * (m[1] * m[10] - m[2] * m[9]) +
               m[8] * (m[1] * m[6] - m[2] * m[5]) <
           0;
}

/// Whether all members have their faces on the same side in the world: none is mirrored, or all are.
static bool same_side(const fusing *f, size_t group)
{
    const rbli_piece_groups *g = f->groups;
    bool first = mirrors(f->world[g->keeper[group]]);
    for (size_t i = g->start[group]; i < g->start[group + 1]; i++)
        if (mirrors(f->world[g->member[i]]) != first) return false;
    return true;
}

static rbl_status fuse_group(rbl_context *ctx, fusing *f, size_t group)
{
    rbl_status status = RBL_OK;
    const rbli_piece_groups *g = f->groups;
    soup s = {0};
    int32_t *vertex_bone = NULL;
    rbli_fuse_result *r = &f->unions[group];
    f->fused[group] = false;
    if (!same_side(f, group)) return RBL_OK;
    RBL_TRY(soup_build(ctx, f, g->member + g->start[group], g->start[group + 1] - g->start[group], &s));
    rbli_mesh_view mesh = {
        (const double(*)[3])s.positions, s.vertex_count, (const int32_t(*)[3])s.triangles, s.triangle_count};
    status = rbli_fuse(ctx, &mesh, s.piece, r);
    if (status == RBL_ERR_OPEN_MESH || status == RBL_ERR_INTERNAL) {
        status = RBL_OK; /* stays apart */
        goto done;
    }
    if (status != RBL_OK || !is_clean(&s, r, g->contact_area[group])) goto done;
    RBL_TRY_ALLOC(vertex_bone = rbli_alloc(ctx, r->vertex_count, sizeof *vertex_bone));
    for (size_t i = 0; i < r->vertex_count; i++) {
        vertex_bone[i] = s.owner[r->vertex_source[i]];
        r->vertex_source[i] = s.vertex[r->vertex_source[i]];
    }
    for (size_t i = 0; i < r->triangle_count; i++)
        r->origins.source[i] = s.face[r->origins.source[i]];
    f->fused[group] = to_frame(f, g->keeper[group], vertex_bone, r);
done:
    soup_free(ctx, &s);
    rbli_free(ctx, vertex_bone);
    return status;
}

static rbl_status fuse_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    rbl_status status = RBL_OK;
    for (size_t i = begin; i < end && status == RBL_OK; i++)
        status = fuse_group(ctx, user, i);
    return status;
}

/* ---- the new surface ---- */

typedef struct new_surface {
    RBLI_ARRAY(int32_t) vertex_source;
    struct {
        double (*data)[3];
        size_t count, capacity;
    } positions;
    struct {
        int32_t (*data)[3];
        size_t count, capacity;
    } faces;
    RBLI_ARRAY(int32_t) face_source;
    RBLI_ARRAY(int32_t) weights_index;
    struct {
        double (*data)[3][3];
        size_t count, capacity;
    } weights;
} new_surface;

static void new_surface_free(rbl_context *ctx, new_surface *s)
{
    rbli_free(ctx, s->vertex_source.data);
    rbli_free(ctx, s->positions.data);
    rbli_free(ctx, s->faces.data);
    rbli_free(ctx, s->face_source.data);
    rbli_free(ctx, s->weights_index.data);
    rbli_free(ctx, s->weights.data);
}

static rbl_status append_old(
    rbl_context *ctx, new_surface *s, const rbl_collection *in, const ranges *r, size_t g)
{
    rbl_status status = RBL_OK;
    const double(*positions)[3] = rbli_collection_read(in, "vertex", "position", RBL_VEC3);
    size_t vertices = (size_t)r->vertex_count[g], faces = (size_t)r->face_count[g];
    int32_t shift = (int32_t)s->positions.count - r->vertex_start[g];
    RBL_TRY(rbli_array_reserve(ctx, &s->positions, vertices));
    RBL_TRY(rbli_array_reserve(ctx, &s->vertex_source, vertices));
    RBL_TRY(rbli_array_reserve(ctx, &s->faces, faces));
    RBL_TRY(rbli_array_reserve(ctx, &s->face_source, faces));
    RBL_TRY(rbli_array_reserve(ctx, &s->weights_index, faces));
    for (size_t i = 0; i < vertices; i++) {
        int32_t v = r->vertex_start[g] + (int32_t)i;
        memcpy(s->positions.data[s->positions.count++], positions[v], sizeof *positions);
        s->vertex_source.data[s->vertex_source.count++] = v;
    }
    for (size_t i = 0; i < faces; i++) {
        int32_t f = r->face_start[g] + (int32_t)i;
        for (int k = 0; k < 3; k++)
            s->faces.data[s->faces.count][k] = r->faces[f][k] + shift;
        s->faces.count++;
        s->face_source.data[s->face_source.count++] = f;
        s->weights_index.data[s->weights_index.count++] = -1;
    }
done:
    return status;
}

static rbl_status append_fused(rbl_context *ctx, new_surface *s, const rbli_fuse_result *r)
{
    rbl_status status = RBL_OK;
    int32_t shift = (int32_t)s->positions.count, weights_shift = (int32_t)s->weights.count;
    RBL_TRY(rbli_array_reserve(ctx, &s->positions, r->vertex_count));
    RBL_TRY(rbli_array_reserve(ctx, &s->vertex_source, r->vertex_count));
    RBL_TRY(rbli_array_reserve(ctx, &s->faces, r->triangle_count));
    RBL_TRY(rbli_array_reserve(ctx, &s->face_source, r->triangle_count));
    RBL_TRY(rbli_array_reserve(ctx, &s->weights_index, r->triangle_count));
    RBL_TRY(rbli_array_reserve(ctx, &s->weights, r->origins.weights_count));
    for (size_t v = 0; v < r->vertex_count; v++) {
        memcpy(s->positions.data[s->positions.count++], r->positions[v], sizeof *r->positions);
        s->vertex_source.data[s->vertex_source.count++] = r->vertex_source[v];
    }
    for (size_t f = 0; f < r->triangle_count; f++) {
        for (int k = 0; k < 3; k++)
            s->faces.data[s->faces.count][k] = r->triangles[f][k] + shift;
        s->faces.count++;
        s->face_source.data[s->face_source.count++] = r->origins.source[f];
        int32_t row = r->origins.weights_index[f];
        s->weights_index.data[s->weights_index.count++] = row < 0 ? -1 : row + weights_shift;
    }
    for (size_t i = 0; i < r->origins.weights_count; i++)
        memcpy(s->weights.data[s->weights.count++], r->origins.weights[i], sizeof *s->weights.data);
done:
    return status;
}

/// Replaces the surface by one in which groups are fused; pieces that went into others have none left.
static rbl_status replace_surface(
    const fusing *f, const int32_t *action, const bool *remove, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = f->ctx;
    size_t geometry_count = rbli_collection_size(to, "geometry");
    const int32_t *bone = rbli_collection_read(f->in, "geometry", "bone", RBL_INT32);
    int32_t *start[4] = {NULL, NULL, NULL, NULL};
    int32_t(*written)[4] = NULL;
    new_surface s = {0};
    RBL_TRY_ALLOC(written = rbli_alloc(ctx, geometry_count, sizeof *written));
    RBL_TRY(rbli_array_reserve(ctx, &s.positions, rbli_collection_size(to, "vertex")));
    RBL_TRY(rbli_array_reserve(ctx, &s.vertex_source, rbli_collection_size(to, "vertex")));
    RBL_TRY(rbli_array_reserve(ctx, &s.faces, rbli_collection_size(to, "face")));
    RBL_TRY(rbli_array_reserve(ctx, &s.face_source, rbli_collection_size(to, "face")));
    RBL_TRY(rbli_array_reserve(ctx, &s.weights_index, rbli_collection_size(to, "face")));
    for (size_t g = 0; g < geometry_count; g++) {
        size_t v = s.positions.count, faces = s.faces.count;
        int32_t what = bone[g] >= 0 ? action[bone[g]] : -1;
        if (g % 1024 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (what >= 0) {
            RBL_TRY(append_fused(ctx, &s, &f->unions[what]));
        } else if (bone[g] < 0 || !remove[bone[g]]) {
            RBL_TRY(append_old(ctx, &s, f->in, &f->in_ranges, g));
        }
        if (s.positions.count > INT32_MAX || s.faces.count > INT32_MAX / 3) {
            status = rbli_fail(ctx, RBL_ERR_LIMIT, "the joined surface is too large");
            goto done;
        }
        written[g][0] = (int32_t)v;
        written[g][1] = (int32_t)(s.positions.count - v);
        written[g][2] = (int32_t)faces;
        written[g][3] = (int32_t)(s.faces.count - faces);
    }
    rbli_surface_map map = {.vertex_count = s.positions.count,
        .positions = (const double(*)[3])s.positions.data,
        .vertex_source = s.vertex_source.data,
        .face_count = s.faces.count,
        .faces = (const int32_t(*)[3])s.faces.data,
        .face_source = s.face_source.data,
        .weights_index = s.weights_index.data,
        .weights = (const double(*)[3][3])s.weights.data};
    RBL_TRY(rbli_surface_replace(ctx, to, &map));
    static const char *const names[4] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    for (int i = 0; i < 4; i++) {
        RBL_TRY(rbli_collection_write(ctx, to, "geometry", names[i], RBL_INT32, (void **)&start[i]));
        for (size_t g = 0; g < geometry_count; g++)
            start[i][g] = written[g][i];
    }
    RBL_TRY(rbli_surface_measure(ctx, to, 0));
done:
    rbli_free(ctx, written);
    new_surface_free(ctx, &s);
    return status;
}

/* ---- what refers to pieces ---- */

/// Hulls of pieces that grew no longer fit, nor do those of clusters between which pieces moved.
static rbl_status drop_hulls(const fusing *f, const int32_t *keeper, const bool *remove, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(to, "convex"), bones = rbli_collection_size(f->in, "bone"), kept = 0;
    const int32_t *owner = rbli_collection_read(to, "convex", "bone", RBL_INT32);
    const int32_t *parent = rbli_collection_read(f->in, "bone", "parent", RBL_INT32);
    bool *keep = NULL, *stale = NULL;
    if (!owner || count == 0) return RBL_OK;
    RBL_TRY_ALLOC(keep = rbli_alloc(f->ctx, count, sizeof *keep));
    RBL_TRY_ALLOC(stale = rbli_calloc(f->ctx, bones, sizeof *stale));
    for (size_t b = 0; b < bones; b++) {
        if (keeper[b] < 0) continue;
        stale[b] = true;
        if (!remove[b] || parent[b] == parent[keeper[b]]) continue;
        for (int32_t p = parent[b]; p >= 0 && !stale[p]; p = parent[p])
            stale[p] = true;
        for (int32_t p = parent[keeper[b]]; p >= 0 && !stale[p]; p = parent[p])
            stale[p] = true;
    }
    for (size_t i = 0; i < count; i++)
        kept += keep[i] = !stale[owner[i]];
    RBL_TRY(rbli_collection_filter(f->ctx, to, "convex", keep, NULL));
    if (kept < count)
        rbli_note(
            f->ctx, "removed %zu hull%s that no longer fit", count - kept, count - kept == 1 ? "" : "s");
done:
    rbli_free(f->ctx, keep);
    rbli_free(f->ctx, stale);
    return status;
}

/// Pairs of pieces become pairs of what they went into.
static rbl_status remap_pairs(rbl_context *ctx, rbl_collection *to, const char *group, const int32_t *into)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(to, group), kept = 0;
    const int32_t(*old)[2] = rbli_collection_read(to, group, "geometries", RBL_INT32_2);
    const double *old_area = rbli_collection_read(to, group, "area", RBL_DOUBLE);
    rbli_keyed *keys = NULL, *scratch = NULL;
    int32_t *source = NULL, (*pairs)[2];
    double *sum = NULL, *area;
    if (!old || count == 0) return RBL_OK;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, count, sizeof *scratch));
    RBL_TRY_ALLOC(source = rbli_alloc(ctx, count, sizeof *source));
    RBL_TRY_ALLOC(sum = rbli_alloc(ctx, count, sizeof *sum));
    for (size_t i = 0; i < count; i++) {
        uint64_t a = (uint64_t)into[old[i][0]], b = (uint64_t)into[old[i][1]];
        if (a != b) keys[kept++] = (rbli_keyed){a < b ? a << 32 | b : b << 32 | a, (int32_t)i};
    }
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    rbli_radix_sort(keys, scratch, kept);
    count = kept;
    kept = 0;
    for (size_t i = 0; i < count; i++) {
        double here = old_area ? old_area[keys[i].index] : -1;
        if (kept > 0 && keys[i].key == keys[kept - 1].key) {
            sum[kept - 1] = sum[kept - 1] < 0 || here < 0 ? -1 : sum[kept - 1] + here;
            continue;
        }
        keys[kept] = keys[i];
        source[kept] = keys[i].index;
        sum[kept++] = here;
    }
    RBL_TRY(rbli_collection_gather(ctx, to, group, source, kept));
    RBL_TRY(rbli_collection_write(ctx, to, group, "geometries", RBL_INT32_2, (void **)&pairs));
    RBL_TRY(rbli_collection_write(ctx, to, group, "area", RBL_DOUBLE, (void **)&area));
    for (size_t i = 0; i < kept; i++) {
        pairs[i][0] = (int32_t)(keys[i].key >> 32);
        pairs[i][1] = (int32_t)(keys[i].key & 0xffffffff);
        area[i] = sum[i];
    }
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    rbli_free(ctx, source);
    rbli_free(ctx, sum);
    return status;
}

static rbl_status remap_contacts(const fusing *f, const int32_t *keeper, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(to, "geometry");
    const int32_t *bone = rbli_collection_read(f->in, "geometry", "bone", RBL_INT32);
    int32_t *into = rbli_alloc(f->ctx, count, sizeof *into);
    RBL_TRY_ALLOC(into);
    for (size_t g = 0; g < count; g++)
        into[g] = bone[g] >= 0 && keeper[bone[g]] >= 0 ? f->geometry[keeper[bone[g]]] : (int32_t)g;
    RBL_TRY(remap_pairs(f->ctx, to, "proximity", into));
    RBL_TRY(remap_pairs(f->ctx, to, "contact", into));
done:
    rbli_free(f->ctx, into);
    return status;
}

/// Unions weigh what their members weigh together; clusters only change when pieces move between them.
static rbl_status sum_masses(const fusing *f, const int32_t *keeper, const bool *remove, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(f->in, "bone");
    const int32_t *parent = rbli_collection_read(f->in, "bone", "parent", RBL_INT32);
    rbli_bone_masses masses;
    rbli_mass *bodies = NULL;
    bool moved = false;
    if (!rbli_has_masses(to)) return RBL_OK;
    RBL_TRY(rbli_bone_masses_write(f->ctx, to, &masses));
    RBL_TRY_ALLOC(bodies = rbli_calloc(f->ctx, count, sizeof *bodies));
    for (size_t b = 0; b < count; b++) {
        if (f->geometry[b] < 0) continue;
        int32_t to_bone = keeper[b] >= 0 ? keeper[b] : (int32_t)b;
        rbli_mass body = rbli_bone_mass_get(&masses, b, f->world[b]);
        bodies[to_bone] = rbli_mass_add(&bodies[to_bone], &body);
        moved |= parent[to_bone] != parent[b];
    }
    for (size_t b = count; b-- > 0;) {
        bool grown = keeper[b] == (int32_t)b, cluster = f->geometry[b] < 0;
        if (grown || (cluster && moved)) rbli_bone_mass_set(&masses, b, f->world[b], &bodies[b]);
        if (moved && parent[b] >= 0 && !remove[b])
            bodies[parent[b]] = rbli_mass_add(&bodies[parent[b]], &bodies[b]);
    }
done:
    rbli_free(f->ctx, bodies);
    return status;
}

/* ---- the bones ---- */

/// Attached sheets of what goes hang below the union.
static rbl_status move_sheets(const fusing *f, const int32_t *keeper, const bool *remove, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(f->in, "bone");
    const int32_t *old = rbli_collection_read(f->in, "bone", "parent", RBL_INT32);
    int32_t *parent;
    double(*local)[16], inverse[16];
    RBL_TRY(rbli_collection_write(f->ctx, to, "bone", "parent", RBL_INT32, (void **)&parent));
    RBL_TRY(rbli_collection_write(f->ctx, to, "bone", "transform", RBL_MAT4, (void **)&local));
    for (size_t b = 0; b < count; b++) {
        if (remove[b] || old[b] < 0 || !remove[old[b]] || keeper[old[b]] < 0) continue;
        int32_t above = keeper[old[b]];
        parent[b] = above;
        if (memcmp(f->world[old[b]], f->world[above], sizeof inverse) == 0) continue;
        /* The union was brought into this frame, so it has an inverse. */
        if (rbli_affine_invert(f->world[above], inverse))
            rbli_affine_multiply(inverse, f->world[b], local[b]);
    }
done:
    return status;
}

/// Marks clusters that lost all children; roots stay.
static rbl_status mark_empty(const fusing *f, bool *remove)
{
    size_t count = rbli_collection_size(f->in, "bone");
    const int32_t *parent = rbli_collection_read(f->in, "bone", "parent", RBL_INT32);
    int32_t *left = rbli_calloc(f->ctx, count, 2 * sizeof *left), *was = left ? left + count : NULL;
    if (!left) return RBL_ERR_NO_MEMORY;
    for (size_t b = count; b-- > 0;) {
        if (was[b] > 0 && left[b] == 0 && parent[b] >= 0 && f->geometry[b] < 0) remove[b] = true;
        if (parent[b] < 0) continue;
        was[parent[b]]++;
        left[parent[b]] += !remove[b];
    }
    rbli_free(f->ctx, left);
    return RBL_OK;
}

/// Sorts and removes bones. @param place as rbli_fuse_pieces
static rbl_status remove_bones(
    const fusing *f, const int32_t *keeper, const bool *remove, rbl_collection *to, int32_t **place)
{
    static const char mark[] = "fuse_source";
    rbl_status status = RBL_OK;
    rbl_context *ctx = f->ctx;
    size_t count = rbli_collection_size(f->in, "bone");
    int32_t *numbers, *made = NULL;
    bool *sorted_remove = NULL;
    RBL_TRY(rbli_collection_write(ctx, to, "bone", mark, RBL_INT32, (void **)&numbers));
    for (size_t b = 0; b < count; b++)
        numbers[b] = (int32_t)b;
    rbli_collection_remove_group(to, "connection");
    RBL_TRY(rbli_hierarchy_sort(ctx, to));
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    const int32_t *sorted = rbli_collection_read(to, "bone", mark, RBL_INT32);
    RBL_TRY_ALLOC(sorted_remove = rbli_alloc(ctx, count, sizeof *sorted_remove));
    for (size_t b = 0; b < count; b++)
        sorted_remove[b] = remove[sorted[b]];
    RBL_TRY(rbli_hierarchy_remove_bones(ctx, to, sorted_remove));
    RBL_TRY_ALLOC(made = rbli_alloc(ctx, count, sizeof *made));
    memset(made, 0xff, count * sizeof *made);
    sorted = rbli_collection_read(to, "bone", mark, RBL_INT32);
    for (size_t b = 0; b < rbli_collection_size(to, "bone"); b++)
        made[sorted[b]] = (int32_t)b;
    for (size_t b = 0; b < count; b++)
        if (remove[b] && keeper[b] >= 0) made[b] = made[keeper[b]];
    rbli_collection_remove(to, "bone", mark);
    *place = made;
    made = NULL;
done:
    rbli_free(ctx, made);
    rbli_free(ctx, sorted_remove);
    return status;
}

static rbl_status apply(const fusing *f, rbl_collection *to, int32_t **place)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = f->ctx;
    const rbli_piece_groups *g = f->groups;
    size_t count = rbli_collection_size(f->in, "bone");
    int32_t *action = NULL; /* of keepers: the union */
    int32_t *keeper = NULL; /* of members of unions */
    bool *remove = NULL;
    RBL_TRY_ALLOC(action = rbli_alloc(ctx, count, sizeof *action));
    RBL_TRY_ALLOC(keeper = rbli_alloc(ctx, count, sizeof *keeper));
    RBL_TRY_ALLOC(remove = rbli_calloc(ctx, count, sizeof *remove));
    memset(action, 0xff, count * sizeof *action);
    memset(keeper, 0xff, count * sizeof *keeper);
    for (size_t i = 0; i < g->count; i++) {
        if (!f->fused[i]) continue;
        action[g->keeper[i]] = (int32_t)i;
        for (size_t j = g->start[i]; j < g->start[i + 1]; j++) {
            keeper[g->member[j]] = g->keeper[i];
            remove[g->member[j]] = g->member[j] != g->keeper[i];
        }
    }
    RBL_TRY(drop_hulls(f, keeper, remove, to));
    RBL_TRY(remap_contacts(f, keeper, to));
    RBL_TRY(sum_masses(f, keeper, remove, to));
    RBL_TRY(replace_surface(f, action, remove, to));
    RBL_TRY(move_sheets(f, keeper, remove, to));
    RBL_TRY(mark_empty(f, remove));
    RBL_TRY(remove_bones(f, keeper, remove, to, place));
done:
    rbli_free(ctx, action);
    rbli_free(ctx, keeper);
    rbli_free(ctx, remove);
    return status;
}

rbl_status rbli_fuse_pieces(rbl_context *ctx, const rbl_collection *in, const rbli_world_surface *surface,
    const rbli_piece_groups *groups, bool *fused, rbl_collection **out, int32_t **place)
{
    rbl_status status = RBL_OK;
    fusing f = {.ctx = ctx,
        .in = in,
        .surface = surface,
        .groups = groups,
        .in_ranges = read_ranges(in),
        .geometry = rbli_collection_read(in, "bone", "geometry", RBL_INT32),
        .fused = fused};
    rbl_collection *copy = NULL;
    int32_t *made = NULL;
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, in, &f.world));
    RBL_TRY_ALLOC(f.unions = rbli_calloc(ctx, groups->count, sizeof *f.unions));
    RBL_TRY(rbli_parallel_for(ctx, groups->count, 4, fuse_block, &f));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(apply(&f, copy, &made));
    RBL_TRY(rbli_renew_connections(ctx, in, made, copy));
    *out = copy;
    *place = made;
    copy = NULL;
    made = NULL;
done:
    for (size_t i = 0; f.unions && i < groups->count; i++)
        rbli_fuse_result_free(ctx, &f.unions[i]);
    rbli_free(ctx, f.unions);
    rbli_free(ctx, f.world);
    rbli_free(ctx, made);
    rbli_collection_release(copy);
    return status;
}
