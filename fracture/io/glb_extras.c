/// What glTF has no word for and a game needs to break an asset, as `extras`: on the node of each bone its level, volume,
/// mass, threshold and what holds it; on the scene the connection graph, by numbers of nodes.

#include <math.h>

#include "fracture/io/glb_writer.h"

static void put_number(rbli_text_out *json, const char *key, double value)
{
    if (!isfinite(value)) return;
    rbli_put(json, key);
    rbli_put_double(json, value);
}

void rbli_glb_put_bone_extras(
    const glb_writer *writer, const glb_facts *facts, rbli_text_out *json, size_t bone)
{
    const rbli_asset_view *view = &writer->view;
    const rbl_collection *c = view->collection;
    const int32_t *levels = rbli_collection_read(c, "bone", "level", RBL_INT32);
    const double *masses = rbli_collection_read(c, "bone", "mass", RBL_DOUBLE);
    const double *thresholds = rbli_collection_read(c, "bone", "damage_threshold", RBL_DOUBLE);
    const double *volumes = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE);
    const bool *anchored = rbli_collection_read(c, "bone", "anchored", RBL_BOOL);
    bool sheet = view->sheet && view->sheet[bone];
    rbli_put(json, ",\"extras\":{\"level\":");
    rbli_put_size(json, levels && levels[bone] > 0 ? (size_t)levels[bone] : 0);
    if (volumes && !sheet && rbli_asset_is_piece(view, bone)) {
        const double *world = view->world[bone];
        double scale = rbli_transform_is_identity(world) ? 1 : fabs(rbli_transform_determinant(world));
        put_number(json, ",\"volume\":", volumes[view->geometry[bone]] * scale);
    }
    if (masses) put_number(json, ",\"mass\":", masses[bone]);
    if (thresholds) put_number(json, ",\"damage_threshold\":", thresholds[bone]);
    if (anchored && anchored[bone]) rbli_put(json, ",\"anchored\":true");
    if (sheet) rbli_put(json, ",\"sheet\":true");
    rbli_glb_put_facts(facts, json, bone);
    rbli_put(json, "}");
}

/// One of the two bones of each connection.
static rbl_status put_bones(
    rbl_context *ctx, rbli_text_out *json, const int32_t (*pairs)[2], size_t count, int side)
{
    for (size_t i = 0; i < count; i++) {
        if (rbli_poll(ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        if (i) rbli_put_bytes(json, ",", 1);
        rbli_put_size(json, (size_t)pairs[i][side]);
    }
    return RBL_OK;
}

rbl_status rbli_glb_put_scene_extras(const glb_writer *writer, rbli_text_out *json)
{
    rbl_context *ctx = writer->ctx;
    rbl_status status = RBL_OK;
    const rbl_collection *c = writer->view.collection;
    const int32_t(*pairs)[2] = rbli_collection_read(c, "connection", "bones", RBL_INT32_2);
    const double *areas = rbli_collection_read(c, "connection", "area", RBL_DOUBLE);
    size_t count = pairs ? rbli_collection_size(c, "connection") : 0, bones = writer->view.bone_count;
    if (count == 0) return RBL_OK;
    for (size_t i = 0; i < count; i++)
        if (pairs[i][0] < 0 || pairs[i][1] < 0 || (size_t)pairs[i][0] >= bones ||
            (size_t)pairs[i][1] >= bones)
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "connection.bones %zu: index out of range", i);
    rbli_put(json, ",\"extras\":{\"connections\":{\"a\":[");
    RBL_TRY(put_bones(ctx, json, pairs, count, 0));
    rbli_put(json, "],\"b\":[");
    RBL_TRY(put_bones(ctx, json, pairs, count, 1));
    if (areas) rbli_put(json, "],\"area\":[");
    for (size_t i = 0; areas && i < count; i++) {
        RBL_TRY(rbli_poll(ctx, i));
        if (i) rbli_put_bytes(json, ",", 1);
        rbli_put_double(json, isfinite(areas[i]) ? areas[i] : -1);
    }
    rbli_put(json, "]}}");
done:
    return status;
}
