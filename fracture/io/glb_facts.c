/// What nodes of a GLB say of their bones in `extras.rubble`: all that a runtime needs, neighbours included.

#include <math.h>

#include "fracture/io/glb_writer.h"

/// Volumes in the world; those of clusters are sums.
static void sum_volumes(const rbli_asset_view *view, double *volumes)
{
    const double *own = rbli_collection_read(view->collection, "geometry", "volume", RBL_DOUBLE);
    for (size_t b = view->bone_count; b-- > 0;) {
        int32_t g = view->geometry[b];
        if (g >= 0 && own && !(view->sheet && view->sheet[b]))
            volumes[b] += own[g] * (rbli_transform_is_identity(view->world[b])
                                           ? 1
                                           : fabs(rbli_transform_determinant(view->world[b])));
        if (view->parent[b] >= 0) volumes[view->parent[b]] += volumes[b];
    }
}

/// Pairs of one group, as bones.
typedef struct pair_list {
    const int32_t (*pairs)[2];
    const double *areas;
    const int32_t *bones; /* of geometries; NULL: they are bones */
    size_t count;
} pair_list;

static pair_list list_pairs(
    const rbli_asset_view *view, const char *group, const char *attribute, bool geometries)
{
    const rbl_collection *c = view->collection;
    pair_list out = {rbli_collection_read(c, group, attribute, RBL_INT32_2),
        rbli_collection_read(c, group, "area", RBL_DOUBLE), NULL, rbli_collection_size(c, group)};
    if (geometries) out.bones = rbli_collection_read(c, "geometry", "bone", RBL_INT32);
    if (!out.pairs || (geometries && !out.bones)) out.count = 0;
    return out;
}

static rbl_status check_pairs(glb_writer *writer, const pair_list *list, const char *what)
{
    const rbli_asset_view *view = &writer->view;
    for (size_t i = 0; i < 2 * list->count; i++) {
        int64_t of = list->pairs[i / 2][i % 2],
                limit = (int64_t)(list->bones ? view->geometry_count : view->bone_count);
        if (rbli_poll(writer->ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        if (of < 0 || of >= limit ||
            (list->bones && (list->bones[of] < 0 || list->bones[of] >= (int64_t)view->bone_count)))
            return rbli_fail(writer->ctx, RBL_ERR_COLLECTION, "%s %zu: index out of range", what, i / 2);
    }
    return RBL_OK;
}

/// Counts the contacts of bones, or puts them in their places.
static void take_pairs(
    const rbli_asset_view *view, const pair_list *list, bool pieces, size_t *at, struct glb_contact *to)
{
    for (size_t i = 0; i < list->count; i++)
        for (int k = 0; k < 2; k++) {
            int32_t own = list->pairs[i][k], other = list->pairs[i][1 - k];
            if (list->bones) own = list->bones[own], other = list->bones[other];
            if (!list->bones && !pieces && view->geometry[own] >= 0) continue;
            if (to) to[at[own]] = (struct glb_contact){other, list->areas ? list->areas[i] : -1};
            at[own]++;
        }
}

static rbl_status list_contacts(glb_writer *writer, glb_facts *facts)
{
    const rbli_asset_view *view = &writer->view;
    rbl_status status = RBL_OK;
    pair_list proximity = list_pairs(view, "proximity", "geometries", true);
    pair_list connection = list_pairs(view, "connection", "bones", false);
    bool pieces = proximity.count == 0; /* then the connections say it of pieces, too */
    size_t *start = facts->contact_start;
    RBL_TRY(check_pairs(writer, &proximity, "proximity.geometries"));
    RBL_TRY(check_pairs(writer, &connection, "connection.bones"));
    take_pairs(view, &proximity, true, start + 1, NULL);
    take_pairs(view, &connection, pieces, start + 1, NULL);
    for (size_t b = 0; b < view->bone_count; b++)
        start[b + 1] += start[b];
    RBL_TRY_ALLOC(
        facts->contacts = rbli_alloc(writer->ctx, start[view->bone_count], sizeof *facts->contacts));
    take_pairs(view, &proximity, true, start, facts->contacts);
    take_pairs(view, &connection, pieces, start, facts->contacts);
    for (size_t b = view->bone_count; b > 0; b--) /* each start became the next one */
        start[b] = start[b - 1];
    start[0] = 0;
done:
    return status;
}

rbl_status rbli_glb_facts_init(glb_writer *writer, glb_facts *out)
{
    rbl_status status = RBL_OK;
    const rbli_asset_view *view = &writer->view;
    RBL_TRY_ALLOC(out->volumes = rbli_calloc(writer->ctx, view->bone_count, sizeof *out->volumes));
    RBL_TRY_ALLOC(
        out->contact_start = rbli_calloc(writer->ctx, view->bone_count + 1, sizeof *out->contact_start));
    out->level = rbli_collection_read(view->collection, "bone", "level", RBL_INT32);
    out->mass = rbli_collection_read(view->collection, "bone", "mass", RBL_DOUBLE);
    out->threshold = rbli_collection_read(view->collection, "bone", "damage_threshold", RBL_DOUBLE);
    out->anchored = rbli_collection_read(view->collection, "bone", "anchored", RBL_BOOL);
    sum_volumes(view, out->volumes);
    RBL_TRY(list_contacts(writer, out));
done:
    return status;
}

void rbli_glb_facts_free(glb_writer *writer, glb_facts *facts)
{
    rbli_free(writer->ctx, facts->volumes);
    rbli_free(writer->ctx, facts->contact_start);
    rbli_free(writer->ctx, facts->contacts);
    *facts = (glb_facts){0};
}

static void put_number(rbli_text_out *json, const char *key, double value)
{
    if (!isfinite(value)) return;
    rbli_put(json, key);
    rbli_put_double(json, value);
}

void rbli_glb_put_facts(const glb_writer *writer, const glb_facts *facts, rbli_text_out *json, size_t bone)
{
    rbli_put(json, ",\"extras\":{\"rubble\":{\"level\":");
    rbli_put_size(json, facts->level && facts->level[bone] > 0 ? (size_t)facts->level[bone] : 0);
    put_number(json, ",\"volume\":", facts->volumes[bone]);
    if (facts->mass) put_number(json, ",\"mass\":", facts->mass[bone]);
    if (facts->anchored && facts->anchored[bone]) rbli_put(json, ",\"anchored\":true");
    if (writer->view.sheet && writer->view.sheet[bone]) rbli_put(json, ",\"sheet\":true");
    if (facts->threshold) put_number(json, ",\"threshold\":", facts->threshold[bone]);
    size_t first = facts->contact_start[bone], end = facts->contact_start[bone + 1];
    for (size_t i = first; i < end; i++) {
        rbli_put(json, i == first ? ",\"contacts\":[[" : ",[");
        rbli_put_size(json, (size_t)facts->contacts[i].bone);
        rbli_put(json, ",");
        if (facts->contacts[i].area >= 0)
            rbli_put_float(json, (float)facts->contacts[i].area);
        else
            rbli_put(json, "-1"); /* no null: Blender would leave out all of `rubble` */
        rbli_put(json, "]");
    }
    rbli_put(json, first < end ? "]}}" : "}}");
}
