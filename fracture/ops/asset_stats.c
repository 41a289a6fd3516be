/// Statistics: every geometry gives those of its bone, in parallel; then each bone adds its own to its
/// parent's, last bone first, so that depth costs no stack and sums have one order.

#include "fracture/ops/asset_stats.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/collection/hierarchy.h"

typedef struct asset {
    size_t geometries, vertices, faces, materials, hulls;
    const int32_t *parent, *type, *bone_geometry;
    const bool *sheet;
    const int32_t *geometry_bone, *vertex_start, *vertex_count, *face_start, *face_count;
    const double *volume, (*position)[3];
    const int32_t *material, *hull_bone;
    double (*world)[16];
    rbli_bone_stats *bones;
    size_t bone_count;
} asset;

static rbl_status check_index(
    rbl_context *ctx, const char *place, const int32_t *values, size_t count, int32_t least, size_t limit)
{
    for (size_t i = 0; i < count; i++) {
        if (rbli_poll(ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        if (values[i] < least || (values[i] >= 0 && (size_t)values[i] >= limit))
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "%s: element %zu is %d, which is not one of %zu", place,
                i, (int)values[i], limit);
    }
    return RBL_OK;
}

static rbl_status check_range(rbl_context *ctx, const char *kind, const int32_t *start, const int32_t *length,
    size_t count, size_t limit)
{
    for (size_t g = 0; g < count; g++)
        if (start[g] < 0 || length[g] < 0 || (size_t)start[g] + (size_t)length[g] > limit)
            return rbli_fail(ctx, RBL_ERR_COLLECTION,
                "geometry.%s_start: geometry %zu reaches beyond the %zu there are", kind, g, limit);
    return RBL_OK;
}

static rbl_status read_asset(rbl_context *ctx, const rbl_collection *c, asset *a)
{
    rbl_status status = RBL_OK;
    *a = (asset){
        .geometries = rbli_collection_size(c, "geometry"),
        .vertices = rbli_collection_size(c, "vertex"),
        .faces = rbli_collection_size(c, "face"),
        .materials = rbli_collection_size(c, "material"),
        .hulls = rbli_collection_size(c, "convex"),
        .parent = rbli_collection_read(c, "bone", "parent", RBL_INT32),
        .type = rbli_collection_read(c, "bone", "type", RBL_INT32),
        .bone_geometry = rbli_collection_read(c, "bone", "geometry", RBL_INT32),
        .sheet = rbli_collection_read(c, "bone", "sheet", RBL_BOOL),
        .geometry_bone = rbli_collection_read(c, "geometry", "bone", RBL_INT32),
        .vertex_start = rbli_collection_read(c, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(c, "geometry", "vertex_count", RBL_INT32),
        .face_start = rbli_collection_read(c, "geometry", "face_start", RBL_INT32),
        .face_count = rbli_collection_read(c, "geometry", "face_count", RBL_INT32),
        .volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE),
        .position = rbli_collection_read(c, "vertex", "position", RBL_VEC3),
        .material = rbli_collection_read(c, "face", "material", RBL_INT32),
        .hull_bone = rbli_collection_read(c, "convex", "bone", RBL_INT32),
        .bone_count = rbli_collection_size(c, "bone"),
    };
    if (!a->parent || !a->type || !a->bone_geometry || !a->geometry_bone || !a->vertex_start ||
        !a->vertex_count || !a->face_start || !a->face_count || !a->volume || !a->position || !a->material ||
        (a->hulls && !a->hull_bone))
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "the collection lacks attributes of an asset");
    RBL_TRY(check_index(ctx, "bone.geometry", a->bone_geometry, a->bone_count, -1, a->geometries));
    RBL_TRY(check_index(ctx, "geometry.bone", a->geometry_bone, a->geometries, 0, a->bone_count));
    RBL_TRY(check_index(ctx, "face.material", a->material, a->faces, 0, a->materials));
    RBL_TRY(check_index(ctx, "convex.bone", a->hull_bone, a->hulls, 0, a->bone_count));
    RBL_TRY(check_range(ctx, "vertex", a->vertex_start, a->vertex_count, a->geometries, a->vertices));
    RBL_TRY(check_range(ctx, "face", a->face_start, a->face_count, a->geometries, a->faces));
done:
    return status;
}

static double determinant(const double m[16])
{
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[4] * (m[1] * m[10] - m[2] * m[9]) +
           m[8] * (m[1] * m[6] - m[2] * m[5]);
}

static void add_point(rbli_bone_stats *stats, const double p[3])
{
    for (int k = 0; k < 3; k++) {
        if (!stats->has_bounds || p[k] < stats->bounds_min[k]) stats->bounds_min[k] = p[k];
        if (!stats->has_bounds || p[k] > stats->bounds_max[k]) stats->bounds_max[k] = p[k];
    }
    stats->has_bounds = true;
}

/// Bones begin … end − 1, each with its own geometry alone.
static rbl_status measure_bones(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const asset *a = user;
    for (size_t b = begin; b < end; b++) {
        int32_t g = a->bone_geometry[b];
        if (g < 0) continue;
        rbli_bone_stats *stats = &a->bones[b];
        const double *m = a->world[b];
        const double(*points)[3] = a->position + a->vertex_start[g];
        for (int32_t v = 0; v < a->vertex_count[g]; v++) {
            if (rbli_poll(ctx, (size_t)v) != RBL_OK) return RBL_ERR_CANCELLED;
            double p[3];
            for (int k = 0; k < 3; k++)
                p[k] = m[k] * points[v][0] + m[4 + k] * points[v][1] + m[8 + k] * points[v][2] + m[12 + k];
            add_point(stats, p);
        }
        stats->vertex_count = (size_t)a->vertex_count[g];
        stats->triangle_count = (size_t)a->face_count[g];
        if (a->sheet && a->sheet[b]) continue;
        stats->piece_count = 1;
        stats->volume = a->volume[g] * fabs(determinant(m));
    }
    return RBL_OK;
}

static void add_stats(rbli_bone_stats *to, const rbli_bone_stats *from)
{
    if (from->has_bounds) {
        add_point(to, from->bounds_min);
        add_point(to, from->bounds_max);
    }
    to->volume += from->volume;
    to->piece_count += from->piece_count;
    to->triangle_count += from->triangle_count;
    to->vertex_count += from->vertex_count;
    to->hull_count += from->hull_count;
}

/// Counts and extremes, while the bones still have their own geometry alone.
static void count_bones(const asset *a, rbli_asset_stats *out)
{
    out->largest_piece = out->smallest_piece = -1;
    for (size_t h = 0; h < a->hulls; h++)
        a->bones[a->hull_bone[h]].hull_count++;
    for (size_t b = 0; b < a->bone_count; b++) {
        out->cluster_count += a->type[b] == RBLI_BONE_CLUSTER;
        out->sheet_count += a->sheet && a->sheet[b];
        if (a->bones[b].piece_count == 0) continue;
        double volume = a->bones[b].volume;
        if (out->largest_piece < 0 || volume > a->bones[out->largest_piece].volume)
            out->largest_piece = (int32_t)b;
        if (out->smallest_piece < 0 || volume < a->bones[out->smallest_piece].volume)
            out->smallest_piece = (int32_t)b;
    }
}

static rbl_status count_draw_calls(rbl_context *ctx, const asset *a, size_t *count)
{
    rbl_status status = RBL_OK;
    size_t *seen_in = rbli_calloc(ctx, a->materials, sizeof *seen_in); /* geometry + 1 */
    RBL_TRY_ALLOC(seen_in);
    *count = 0;
    for (size_t g = 0; g < a->geometries; g++)
        for (int32_t f = a->face_start[g]; f < a->face_start[g] + a->face_count[g]; f++) {
            RBL_TRY(rbli_poll(ctx, (size_t)f));
            size_t *seen = &seen_in[a->material[f]];
            *count += *seen != g + 1;
            *seen = g + 1;
        }
done:
    rbli_free(ctx, seen_in);
    return status;
}

/// Adds every bone to its parent, and counts levels.
static rbl_status add_up(rbl_context *ctx, const asset *a, rbli_asset_stats *out)
{
    int32_t *level = rbli_alloc(ctx, a->bone_count, sizeof *level);
    if (!level) return RBL_ERR_NO_MEMORY;
    for (size_t b = 0; b < a->bone_count; b++) {
        level[b] = a->parent[b] < 0 ? 0 : level[a->parent[b]] + 1;
        if ((size_t)level[b] + 1 > out->level_count) out->level_count = (size_t)level[b] + 1;
    }
    rbli_free(ctx, level);
    for (size_t b = a->bone_count; b-- > 0;)
        add_stats(a->parent[b] < 0 ? &out->all : &a->bones[a->parent[b]], &a->bones[b]);
    return RBL_OK;
}

rbl_status rbli_asset_stats_compute(rbl_context *ctx, const rbl_collection *collection, rbli_asset_stats *out)
{
    rbl_status status = RBL_OK;
    asset a = {0};
    rbli_asset_stats made = {0};
    RBL_TRY(read_asset(ctx, collection, &a));
    /* Checks that parents come first. */
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, collection, &a.world));
    a.bones = made.bones = rbli_calloc(ctx, a.bone_count, sizeof *a.bones);
    RBL_TRY_ALLOC(a.bones);
    made.bone_count = a.bone_count;
    made.material_count = a.materials;
    RBL_TRY(rbli_parallel_for(ctx, a.bone_count, 16, measure_bones, &a));
    count_bones(&a, &made);
    RBL_TRY(count_draw_calls(ctx, &a, &made.draw_call_count));
    RBL_TRY(add_up(ctx, &a, &made));
    *out = made;
    made.bones = NULL;
done:
    rbli_free(ctx, a.world);
    rbli_free(ctx, made.bones);
    return status;
}

void rbli_asset_stats_recount_hulls(const rbl_collection *collection, rbli_asset_stats *stats)
{
    const int32_t *parent = rbli_collection_read(collection, "bone", "parent", RBL_INT32);
    const int32_t *owner = rbli_collection_read(collection, "convex", "bone", RBL_INT32);
    size_t hulls = rbli_collection_size(collection, "convex");
    for (size_t b = 0; b < stats->bone_count; b++)
        stats->bones[b].hull_count = 0;
    for (size_t h = 0; h < hulls; h++)
        stats->bones[owner[h]].hull_count++;
    for (size_t b = stats->bone_count; b-- > 0;)
        if (parent[b] >= 0) stats->bones[parent[b]].hull_count += stats->bones[b].hull_count;
    stats->all.hull_count = hulls;
}

void rbli_asset_stats_free(rbl_context *ctx, rbli_asset_stats *stats)
{
    rbli_free(ctx, stats->bones);
    *stats = (rbli_asset_stats){0};
}
