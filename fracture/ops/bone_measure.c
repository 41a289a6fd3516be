/// Measures of bones: tetrahedra between the triangles of a leaf and its first vertex, then sums up the
/// hierarchy.

#include "fracture/ops/bone_measure.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"

enum { LEAF_GRAIN = 64 };

typedef struct measuring {
    const rbli_world_surface *surface;
    const int32_t *leaves, *geometry, *vertex_start, *vertex_count, *face_start, *face_count;
    const int32_t (*faces)[3];
    rbli_bone_measure *out;
} measuring;

static void measure_leaf(const measuring *m, int32_t bone)
{
    int32_t g = m->geometry[bone];
    const double(*positions)[3] = (const double(*)[3])m->surface->positions;
    double *low = m->out->low[bone], *high = m->out->high[bone], volume = 0, moment[3] = {0, 0, 0};
    for (int32_t v = m->vertex_start[g]; v < m->vertex_start[g] + m->vertex_count[g]; v++)
        for (int k = 0; k < 3; k++) {
            low[k] = positions[v][k] < low[k] ? positions[v][k] : low[k];
            high[k] = positions[v][k] > high[k] ? positions[v][k] : high[k];
        }
    if (m->vertex_count[g] == 0) return;
    const double *origin = positions[m->vertex_start[g]];
    for (int32_t f = m->face_start[g]; f < m->face_start[g] + m->face_count[g]; f++) {
        double p[3][3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                p[c][k] = positions[m->faces[f][c]][k] - origin[k];
        double six = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                     p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                     p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        volume += six / 6;
        for (int k = 0; k < 3; k++)
            moment[k] += six / 24 * (p[0][k] + p[1][k] + p[2][k]);
    }
    m->out->volume[bone] = volume;
    for (int k = 0; k < 3; k++)
        m->out->center[bone][k] = volume != 0 ? origin[k] + moment[k] / volume : low[k] / 2 + high[k] / 2;
}

static rbl_status measure_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const measuring *m = user;
    for (size_t i = begin; i < end; i++)
        measure_leaf(m, m->leaves[i]);
    return RBL_OK;
}

/// Clusters from what is below them; leaves are done. Children come after parents.
static void sum_up(const rbl_collection *c, size_t count, const bool *is_leaf, rbli_bone_measure *m)
{
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    for (size_t b = count; b-- > 0;) {
        bool empty = m->low[b][0] > m->high[b][0];
        for (int k = 0; k < 3 && !is_leaf[b] && !empty; k++)
            m->center[b][k] =
                m->volume[b] != 0 ? m->center[b][k] / m->volume[b] : m->low[b][k] / 2 + m->high[b][k] / 2;
        if (parent[b] < 0 || empty) continue;
        int32_t p = parent[b];
        if (is_leaf[p]) continue;
        for (int k = 0; k < 3; k++) {
            m->low[p][k] = m->low[b][k] < m->low[p][k] ? m->low[b][k] : m->low[p][k];
            m->high[p][k] = m->high[b][k] > m->high[p][k] ? m->high[b][k] : m->high[p][k];
            m->center[p][k] += m->volume[b] * m->center[b][k];
        }
        m->volume[p] += m->volume[b];
    }
}

void rbli_bone_measure_free(rbl_context *ctx, rbli_bone_measure *measure)
{
    rbli_free(ctx, measure->low);
    rbli_free(ctx, measure->high);
    rbli_free(ctx, measure->volume);
    rbli_free(ctx, measure->center);
    *measure = (rbli_bone_measure){0};
}

rbl_status rbli_bone_measure_build(
    rbl_context *ctx, const rbl_collection *c, const rbli_world_surface *surface, rbli_bone_measure *out)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(c, "bone"), leaf_count;
    int32_t *leaves = NULL;
    bool *is_leaf = NULL;
    double(*world)[16] = NULL;
    rbli_bone_measure made = {0};
    measuring m = {.surface = surface,
        .geometry = rbli_collection_read(c, "bone", "geometry", RBL_INT32),
        .vertex_start = rbli_collection_read(c, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(c, "geometry", "vertex_count", RBL_INT32),
        .face_start = rbli_collection_read(c, "geometry", "face_start", RBL_INT32),
        .face_count = rbli_collection_read(c, "geometry", "face_count", RBL_INT32),
        .faces = surface->triangles,
        .out = &made};
    RBL_TRY(rbli_rigid_leaves(ctx, c, NULL, &leaves, &leaf_count));
    if (leaf_count > 0 && (!m.vertex_start || !m.vertex_count || !m.face_start || !m.face_count || !m.faces))
        RBL_TRY(rbli_fail(ctx, RBL_ERR_COLLECTION, "the collection lacks attributes of an asset"));
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, c, &world));
    RBL_TRY_ALLOC(is_leaf = rbli_calloc(ctx, count, sizeof *is_leaf));
    RBL_TRY_ALLOC(made.low = rbli_alloc(ctx, count, sizeof *made.low));
    RBL_TRY_ALLOC(made.high = rbli_alloc(ctx, count, sizeof *made.high));
    RBL_TRY_ALLOC(made.volume = rbli_calloc(ctx, count, sizeof *made.volume));
    RBL_TRY_ALLOC(made.center = rbli_calloc(ctx, count, sizeof *made.center));
    for (size_t b = 0; b < count; b++)
        for (int k = 0; k < 3; k++)
            made.low[b][k] = HUGE_VAL, made.high[b][k] = -HUGE_VAL;
    for (size_t i = 0; i < leaf_count; i++)
        is_leaf[leaves[i]] = true;
    m.leaves = leaves;
    RBL_TRY(rbli_parallel_for(ctx, leaf_count, LEAF_GRAIN, measure_block, &m));
    sum_up(c, count, is_leaf, &made);
    for (size_t b = 0; b < count; b++)
        if (made.low[b][0] > made.high[b][0]) memcpy(made.center[b], world[b] + 12, sizeof *made.center);
    *out = made;
    made = (rbli_bone_measure){0};
done:
    rbli_bone_measure_free(ctx, &made);
    rbli_free(ctx, leaves);
    rbli_free(ctx, is_leaf);
    rbli_free(ctx, world);
    return status;
}
