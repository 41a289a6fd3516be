/* LoadCollection: reads a collection that an earlier run wrote as .rbl. */

#include "fracture/base/alloc.h"
#include "fracture/base/file.h"
#include "fracture/collection/rbl_file.h"
#include "fracture/collection/schema.h"
#include "rubble/node.h"

/* Files come from anywhere: what does not hold together is refused here, so that no later node has to look.
 */
static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *file = rbl_call_param(call, "file");
    const char *path = rbl_param_string(file);
    uint8_t *bytes = NULL;
    size_t byte_count = 0;
    rbl_collection *collection = NULL;
    rbl_status status;
    RBL_TRY(rbli_file_read(ctx, path, RBLI_MOST_FILE_BYTES, &bytes, &byte_count));
    RBL_TRY(rbli_rbl_decode(ctx, path, bytes, byte_count, &collection));
    status = rbli_collection_validate(ctx, collection, RBLI_VALIDATE_GEOMETRY);
    if (status == RBL_ERR_COLLECTION) {
        status =
            rbl_call_fail(ctx, call, file, RBL_ERR_PARSE, "%s holds a collection that is not valid", path);
    }
    RBL_TRY(status);
    rbl_call_set_output_collection(call, "collection", collection);
    collection = NULL;
done:
    rbli_free(ctx, bytes);
    rbli_collection_release(collection);
    return status;
}

static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "The collection as it was written"},
    {0},
};

static const rbl_param_desc params[] = {
    {.name = "file", .type = RBL_PARAM_PATH, .text = "A .rbl file"},
    {0},
};

const rbl_node_desc rbli_node_load_collection = {
    .size = sizeof(rbl_node_desc),
    .type = "LoadCollection",
    .version = 1,
    .revision = 1,
    .family = "sources",
    .text = "Reads a collection from a .rbl file",
    .details = "The file is what Terminal writes: hierarchy, geometry, hulls, contacts and all attributes, "
               "bit for bit. "
               "A damaged file is refused with the place of the damage.",
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
