/// The connection graph in `extras.rubble` of a GLB's scene, by numbers of nodes. What nodes say of themselves: glb_facts.c.

#include <math.h>

#include "fracture/io/glb_writer.h"

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
    rbli_put(json, ",\"extras\":{\"rubble\":{\"connections\":{\"a\":[");
    RBL_TRY(put_bones(ctx, json, pairs, count, 0));
    rbli_put(json, "],\"b\":[");
    RBL_TRY(put_bones(ctx, json, pairs, count, 1));
    if (areas) rbli_put(json, "],\"area\":[");
    for (size_t i = 0; areas && i < count; i++) {
        RBL_TRY(rbli_poll(ctx, i));
        if (i) rbli_put_bytes(json, ",", 1);
        rbli_put_double(json, isfinite(areas[i]) ? areas[i] : -1);
    }
    rbli_put(json, "]}}}");
done:
    return status;
}
