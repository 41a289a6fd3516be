/// Magnets: rounds in which the siblings that touch what a magnet gathered go to the magnet that they touch
/// most. What a round leaves touches nothing that was gathered before, so only the last gathered ones count.

#include "fracture/base/alloc.h"
#include "fracture/ops/bone_measure.h"
#include "fracture/ops/cluster_contacts.h"
#include "fracture/ops/cluster_edit_internal.h"

#include <stdlib.h>

/// A sibling that may go to a magnet.
typedef struct offer {
    int32_t bone, magnet;
    double area;
} offer;

typedef struct magnets {
    rbli_edit e;
    rbli_neighbors near;
    rbli_bone_measure measure;
    int32_t *owner; /* [bone count] the magnet that has it, or −1 */
    int32_t *front; /* [bone count] gathered in the last round */
    size_t front_count;
    RBLI_ARRAY(offer) offers;
} magnets;

static int compare_offers(const void *a, const void *b)
{
    const offer *p = a, *q = b;
    if (p->bone != q->bone) return p->bone < q->bone ? -1 : 1;
    if (p->magnet != q->magnet) return p->magnet < q->magnet ? -1 : 1;
    return p->area < q->area ? -1 : p->area > q->area;
}

static double distance_squared(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

static bool is_better(const magnets *m, const offer *now, const offer *best)
{
    if (best->magnet < 0) return true;
    if (now->area != best->area) return now->area > best->area;
    const double *center = m->measure.center[now->bone];
    double d = distance_squared(center, m->measure.center[now->magnet]);
    double e = distance_squared(center, m->measure.center[best->magnet]);
    if (d != e) return d < e;
    return strcmp(rbli_collection_string(m->e.in, "bone", "name", (size_t)now->magnet),
               rbli_collection_string(m->e.in, "bone", "name", (size_t)best->magnet)) < 0;
}

static rbl_status gather_round(magnets *m)
{
    rbl_status status = RBL_OK;
    m->offers.count = 0;
    for (size_t i = 0; i < m->front_count; i++) {
        int32_t b = m->front[i];
        for (size_t n = m->near.start[b]; n < m->near.start[b + 1]; n++) {
            offer made = {m->near.bone[n], m->owner[b], m->near.area[n]};
            if (m->owner[made.bone] < 0) RBL_TRY(rbli_array_push(m->e.ctx, &m->offers, made));
        }
        if (i % 1024 == 0 && rbli_cancelled(m->e.ctx)) RBL_TRY(RBL_ERR_CANCELLED);
    }
    if (m->offers.count) qsort(m->offers.data, m->offers.count, sizeof(offer), compare_offers);
    m->front_count = 0;
    for (size_t i = 0; i < m->offers.count;) {
        offer best = {m->offers.data[i].bone, -1, 0};
        while (i < m->offers.count && m->offers.data[i].bone == best.bone) {
            offer sum = m->offers.data[i++];
            while (i < m->offers.count && m->offers.data[i].bone == sum.bone &&
                   m->offers.data[i].magnet == sum.magnet)
                sum.area += m->offers.data[i++].area;
            if (is_better(m, &sum, &best)) best = sum;
        }
        m->owner[best.bone] = best.magnet;
        m->front[m->front_count++] = best.bone;
    }
done:
    return status;
}

static rbl_status prepare(magnets *m)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = m->e.ctx;
    rbli_world_surface surface = {0};
    rbli_touch *touches = NULL;
    rbli_sibling_pair *pairs = NULL;
    size_t touch_count, pair_count;
    RBL_TRY(rbli_world_surface_build(ctx, m->e.in, &surface));
    RBL_TRY(rbli_bone_measure_build(ctx, m->e.in, &surface, &m->measure));
    RBL_TRY(rbli_weighed_contacts(ctx, m->e.in, &surface, &touches, &touch_count));
    RBL_TRY(rbli_lift_contacts(ctx, m->e.in, touches, touch_count, &pairs, &pair_count));
    RBL_TRY(rbli_neighbors_build(ctx, m->e.count, pairs, pair_count, &m->near));
    RBL_TRY_ALLOC(m->owner = rbli_alloc(ctx, m->e.count, sizeof *m->owner));
    RBL_TRY_ALLOC(m->front = rbli_alloc(ctx, m->e.count, sizeof *m->front));
    for (size_t b = 0; b < m->e.count; b++) {
        m->owner[b] = m->e.chosen[b] ? (int32_t)b : -1;
        if (m->e.chosen[b]) m->front[m->front_count++] = (int32_t)b;
    }
done:
    rbli_free(ctx, touches);
    rbli_free(ctx, pairs);
    rbli_world_surface_free(ctx, &surface);
    return status;
}

/// A new cluster for each magnet that gathered something. @return by `made` how many
static rbl_status plan_clusters(magnets *m, size_t *made)
{
    rbl_status status = RBL_OK;
    bool single = m->e.plan.clusters_of_one;
    int32_t *node = NULL;
    *made = 0;
    RBL_TRY_ALLOC(node = rbli_alloc(m->e.ctx, m->e.count, sizeof *node));
    memset(node, 0xff, m->e.count * sizeof *node);
    for (size_t b = 0; b < m->e.count; b++) {
        int32_t magnet = m->owner[b];
        if (magnet < 0 || ((int32_t)b == magnet && !single) || node[magnet] >= 0) continue;
        RBL_TRY(rbli_rehang_add(m->e.ctx, &m->e.plan, m->e.parent[magnet],
            rbli_collection_string(m->e.in, "bone", "name", (size_t)magnet), "_cluster", &node[magnet]));
        ++*made;
    }
    for (size_t b = 0; b < m->e.count; b++)
        if (m->owner[b] >= 0 && node[m->owner[b]] >= 0) m->e.plan.parent[b] = node[m->owner[b]];
done:
    rbli_free(m->e.ctx, node);
    return status;
}

rbl_status rbli_cluster_magnet(
    rbl_context *ctx, const rbl_collection *in, const rbli_magnet_options *options, rbli_cluster_edit *out)
{
    rbl_status status = RBL_OK;
    magnets m = {.e = {.ctx = ctx}};
    rbli_cluster_edit made = {0};
    size_t planned;
    RBL_TRY(rbli_edit_begin(ctx, in, options->selection, &m.e));
    m.e.plan.clusters_of_one = options->clusters_of_one;
    if (m.e.chosen_count == 0) {
        rbli_warn(ctx, "no bone was chosen as a magnet: nothing to gather");
        RBL_TRY(rbli_edit_nothing(&m.e, out));
        goto done;
    }
    RBL_TRY(prepare(&m));
    for (int32_t i = 0; i < options->iterations && m.front_count > 0; i++)
        RBL_TRY(gather_round(&m));
    RBL_TRY(plan_clusters(&m, &planned));
    if (planned < m.e.chosen_count)
        rbli_warn(ctx, "%zu magnet%s nothing: no sibling that is free touches %s", m.e.chosen_count - planned,
            m.e.chosen_count - planned == 1 ? " gathered" : "s gathered",
            m.e.chosen_count - planned == 1 ? "it" : "them");
    if (planned == 0) {
        RBL_TRY(rbli_edit_nothing(&m.e, out));
        goto done;
    }
    RBL_TRY(rbli_edit_finish(&m.e, RBLI_TELL_NEW, &made));
    if (made.count < planned)
        rbli_note(ctx, "%zu magnet%s all siblings: no further cluster is made of them", planned - made.count,
            planned - made.count == 1 ? " gathered" : "s gathered");
    *out = made;
done:
    rbli_edit_end(&m.e);
    rbli_neighbors_free(ctx, &m.near);
    rbli_bone_measure_free(ctx, &m.measure);
    rbli_free(ctx, m.owner);
    rbli_free(ctx, m.front);
    rbli_free(ctx, m.offers.data);
    return status;
}
