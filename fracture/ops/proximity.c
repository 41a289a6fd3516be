/// Proximity of leaves and the connection graph of siblings (GEO §8).

#include "fracture/ops/proximity.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"

/* ---- world space ---- */

void rbli_world_surface_free(rbl_context *ctx, rbli_world_surface *surface)
{
    rbli_free(ctx, surface->positions);
    rbli_free(ctx, surface->piece);
    surface->positions = NULL;
    surface->piece = NULL;
}

double rbli_world_surface_diagonal(const rbli_world_surface *s)
{
    if (s->low[0] > s->high[0]) return 0;
    double x = s->high[0] - s->low[0], y = s->high[1] - s->low[1], z = s->high[2] - s->low[2];
    return sqrt(x * x + y * y + z * z);
}

rbl_status rbli_world_surface_build(
    rbl_context *ctx, const rbl_collection *collection, rbli_world_surface *out)
{
    rbl_status status = RBL_OK;
    size_t vertex_count = rbli_collection_size(collection, "vertex");
    size_t face_count = rbli_collection_size(collection, "face");
    size_t geometry_count = rbli_collection_size(collection, "geometry"), leaf_count;
    const double(*positions)[3] = rbli_collection_read(collection, "vertex", "position", RBL_VEC3);
    const int32_t *bone = rbli_collection_read(collection, "geometry", "bone", RBL_INT32);
    const int32_t *geometry = rbli_collection_read(collection, "bone", "geometry", RBL_INT32);
    const int32_t *ranges[4];
    static const char *const range_names[4] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    double(*world)[16] = NULL;
    int32_t *leaves = NULL;
    rbli_world_surface s = {0};
    for (int i = 0; i < 4; i++)
        ranges[i] = rbli_collection_read(collection, "geometry", range_names[i], RBL_INT32);
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, collection, &world));
    RBL_TRY(rbli_rigid_leaves(ctx, collection, NULL, &leaves, &leaf_count));
    RBL_TRY_ALLOC(s.positions = rbli_alloc(ctx, vertex_count, sizeof *s.positions));
    RBL_TRY_ALLOC(s.piece = rbli_alloc(ctx, face_count, sizeof *s.piece));
    if (vertex_count) memcpy(s.positions, positions, vertex_count * sizeof *s.positions);
    memset(s.piece, 0xff, face_count * sizeof *s.piece);
    for (size_t g = 0; g < geometry_count; g++) {
        if (bone[g] < 0 || rbli_affine_is_identity(world[bone[g]])) continue;
        for (int32_t v = ranges[0][g]; v < ranges[0][g] + ranges[1][g]; v++)
            rbli_affine_point(world[bone[g]], positions[v], s.positions[v]);
    }
    for (int k = 0; k < 3; k++)
        s.low[k] = HUGE_VAL, s.high[k] = -HUGE_VAL;
    for (size_t i = 0; i < leaf_count; i++) {
        int32_t g = geometry[leaves[i]];
        for (int32_t f = ranges[2][g]; f < ranges[2][g] + ranges[3][g]; f++)
            s.piece[f] = leaves[i];
        for (int32_t v = ranges[0][g]; v < ranges[0][g] + ranges[1][g]; v++)
            for (int k = 0; k < 3; k++) {
                s.low[k] = s.positions[v][k] < s.low[k] ? s.positions[v][k] : s.low[k];
                s.high[k] = s.positions[v][k] > s.high[k] ? s.positions[v][k] : s.high[k];
            }
    }
    *out = s;
    s = (rbli_world_surface){0};
done:
    rbli_free(ctx, world);
    rbli_free(ctx, leaves);
    rbli_world_surface_free(ctx, &s);
    return status;
}

rbl_status rbli_world_bounds(rbl_context *ctx, const rbl_collection *collection,
    const rbli_selection *selection, double low[3], double high[3], bool *found)
{
    rbl_status status = RBL_OK;
    const int32_t *geometry = rbli_collection_read(collection, "bone", "geometry", RBL_INT32);
    const int32_t *start = rbli_collection_read(collection, "geometry", "vertex_start", RBL_INT32);
    const int32_t *vertex_count = rbli_collection_read(collection, "geometry", "vertex_count", RBL_INT32);
    int32_t *leaves = NULL;
    size_t count;
    rbli_world_surface surface = {0};
    *found = false;
    RBL_TRY(rbli_rigid_leaves(ctx, collection, selection, &leaves, &count));
    RBL_TRY(rbli_world_surface_build(ctx, collection, &surface));
    for (size_t i = 0; i < count; i++) {
        int32_t g = geometry[leaves[i]];
        for (int32_t v = start[g]; v < start[g] + vertex_count[g]; v++) {
            for (int k = 0; k < 3; k++) {
                double x = surface.positions[v][k];
                low[k] = !*found || x < low[k] ? x : low[k];
                high[k] = !*found || x > high[k] ? x : high[k];
            }
            *found = true;
        }
    }
done:
    rbli_free(ctx, leaves);
    rbli_world_surface_free(ctx, &surface);
    return status;
}

rbl_status rbli_leaf_contacts(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, double tolerance, rbli_touch **out, size_t *count)
{
    double diagonal = rbli_world_surface_diagonal(surface), least = diagonal * 1e-14;
    if (tolerance == 0) tolerance = 1e-6 * diagonal;
    rbli_mesh_view mesh = {(const double(*)[3])surface->positions, rbli_collection_size(collection, "vertex"),
        rbli_collection_read(collection, "face", "vertices", RBL_INT32_3),
        rbli_collection_size(collection, "face")};
    return rbli_find_contacts(ctx, &mesh, surface->piece, tolerance < least ? least : tolerance, out, count);
}

rbl_status rbli_known_contacts(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, rbli_touch **out, size_t *count)
{
    const int32_t(*pairs)[2] = rbli_collection_read(collection, "proximity", "geometries", RBL_INT32_2);
    const double *area = rbli_collection_read(collection, "proximity", "area", RBL_DOUBLE);
    const int32_t *bone = rbli_collection_read(collection, "geometry", "bone", RBL_INT32);
    if (!pairs) return rbli_leaf_contacts(ctx, collection, surface, 0, out, count);
    size_t pair_count = rbli_collection_size(collection, "proximity");
    rbli_touch *touches = rbli_alloc(ctx, pair_count, sizeof *touches);
    if (!touches) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < pair_count; i++) {
        int32_t a = bone[pairs[i][0]], b = bone[pairs[i][1]];
        touches[i] = (rbli_touch){a < b ? a : b, a < b ? b : a, area ? area[i] : -1, 0};
    }
    *out = touches;
    *count = pair_count;
    return RBL_OK;
}

/* ---- siblings ---- */

static int compare_pairs(const void *a, const void *b)
{
    const rbli_sibling_pair *p = a, *q = b;
    if (p->bone_a != q->bone_a) return p->bone_a < q->bone_a ? -1 : 1;
    if (p->bone_b != q->bone_b) return p->bone_b < q->bone_b ? -1 : 1;
    return p->area < q->area ? -1 : p->area > q->area;
}

rbl_status rbli_lift_contacts(rbl_context *ctx, const rbl_collection *collection, const rbli_touch *touches,
    size_t count, rbli_sibling_pair **out, size_t *out_count)
{
    const int32_t *parent = rbli_collection_read(collection, "bone", "parent", RBL_INT32);
    const int32_t *level = rbli_collection_read(collection, "bone", "level", RBL_INT32);
    size_t lifted = 0, kept = 0;
    rbli_sibling_pair *pairs = rbli_alloc(ctx, count, sizeof *pairs);
    if (!pairs) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        int32_t a = touches[i].piece_a, b = touches[i].piece_b;
        while (a >= 0 && b >= 0 && a != b && parent[a] != parent[b]) {
            bool up_a = level[a] >= level[b], up_b = level[b] >= level[a];
            if (up_a) a = parent[a];
            if (up_b) b = parent[b];
        }
        if (a == b || a < 0 || b < 0) continue;
        pairs[lifted++] = (rbli_sibling_pair){a < b ? a : b, a < b ? b : a, touches[i].area, 1};
    }
    if (lifted) qsort(pairs, lifted, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < lifted; i++) {
        rbli_sibling_pair *last = kept ? &pairs[kept - 1] : NULL;
        if (!last || last->bone_a != pairs[i].bone_a || last->bone_b != pairs[i].bone_b) {
            pairs[kept++] = pairs[i];
            continue;
        }
        last->area = last->area < 0 || pairs[i].area < 0 ? -1 : last->area + pairs[i].area;
        last->count++;
    }
    *out = pairs;
    *out_count = kept;
    return RBL_OK;
}

/* ---- groups ---- */

/// Makes a group of pairs anew, dropping what it held.
static rbl_status write_pairs(rbl_context *ctx, rbl_collection *to, const char *group, const char *name,
    size_t count, int32_t (**pairs)[2], double **area)
{
    rbl_status status = RBL_OK;
    rbli_collection_remove_group(to, group);
    RBL_TRY(rbli_collection_resize(ctx, to, group, count));
    RBL_TRY(rbli_collection_write(ctx, to, group, name, RBL_INT32_2, (void **)pairs));
    RBL_TRY(rbli_collection_write(ctx, to, group, "area", RBL_DOUBLE, (void **)area));
done:
    return status;
}

typedef struct geometry_pair {
    int32_t a, b;
    double area;
} geometry_pair;

static int compare_geometry_pairs(const void *a, const void *b)
{
    const geometry_pair *p = a, *q = b;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

static rbl_status write_proximity(
    rbl_context *ctx, rbl_collection *to, const rbli_touch *touches, size_t count, bool with_area)
{
    rbl_status status = RBL_OK;
    const int32_t *geometry = rbli_collection_read(to, "bone", "geometry", RBL_INT32);
    geometry_pair *sorted = NULL;
    int32_t(*pairs)[2];
    double *area;
    RBL_TRY_ALLOC(sorted = rbli_alloc(ctx, count, sizeof *sorted));
    for (size_t i = 0; i < count; i++) {
        int32_t a = geometry[touches[i].piece_a], b = geometry[touches[i].piece_b];
        sorted[i] = (geometry_pair){a < b ? a : b, a < b ? b : a, touches[i].area};
    }
    if (count) qsort(sorted, count, sizeof *sorted, compare_geometry_pairs);
    RBL_TRY(write_pairs(ctx, to, "proximity", "geometries", count, &pairs, &area));
    for (size_t i = 0; i < count; i++) {
        pairs[i][0] = sorted[i].a;
        pairs[i][1] = sorted[i].b;
        area[i] = with_area ? sorted[i].area : -1;
    }
done:
    rbli_free(ctx, sorted);
    return status;
}

static rbl_status write_connections(
    rbl_context *ctx, rbl_collection *to, const rbli_touch *touches, size_t count, bool with_area)
{
    rbl_status status = RBL_OK;
    rbli_sibling_pair *siblings = NULL;
    size_t pair_count;
    int32_t(*pairs)[2];
    double *area;
    RBL_TRY(rbli_lift_contacts(ctx, to, touches, count, &siblings, &pair_count));
    RBL_TRY(write_pairs(ctx, to, "connection", "bones", pair_count, &pairs, &area));
    for (size_t i = 0; i < pair_count; i++) {
        pairs[i][0] = siblings[i].bone_a;
        pairs[i][1] = siblings[i].bone_b;
        area[i] = with_area ? siblings[i].area : -1;
    }
done:
    rbli_free(ctx, siblings);
    return status;
}

rbl_status rbli_connect_siblings(rbl_context *ctx, rbl_collection *collection, bool with_area)
{
    rbl_status status = RBL_OK;
    rbli_touch *touches = NULL;
    size_t count;
    if (!rbli_collection_read(collection, "proximity", "geometries", RBL_INT32_2)) return RBL_OK;
    RBL_TRY(rbli_known_contacts(ctx, collection, NULL, &touches, &count));
    RBL_TRY(write_connections(ctx, collection, touches, count, with_area));
done:
    rbli_free(ctx, touches);
    return status;
}

rbl_status rbli_proximity(
    rbl_context *ctx, const rbl_collection *in, const rbli_proximity_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbli_world_surface surface = {0};
    rbli_touch *touches = NULL;
    size_t count, kept = 0;
    rbl_collection *copy = NULL;
    RBL_TRY(rbli_world_surface_build(ctx, in, &surface));
    RBL_TRY(rbli_leaf_contacts(ctx, in, &surface, options->tolerance, &touches, &count));
    for (size_t i = 0; i < count; i++)
        if (touches[i].area >= options->contact_threshold) touches[kept++] = touches[i];
    if (kept < count) rbli_note(ctx, "%zu contacts below the threshold were left out", count - kept);
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(write_proximity(ctx, copy, touches, kept, options->contact_area));
    if (options->connection_graph)
        RBL_TRY(write_connections(ctx, copy, touches, kept, options->contact_area));
    *out = copy;
    copy = NULL;
done:
    rbli_world_surface_free(ctx, &surface);
    rbli_free(ctx, touches);
    rbli_collection_release(copy);
    return status;
}
