/// MergeCollections: puts several collections into one.

#include "fracture/ops/merge.h"
#include "fracture/base/alloc.h"
#include "rubble/node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    size_t count = rbl_call_input_count(call, "collections");
    const char *root = rbl_param_string(rbl_call_param(call, "root"));
    rbl_collection *merged = NULL;
    const rbl_collection **list = rbli_alloc(ctx, count + 1, sizeof *list);
    RBL_TRY_ALLOC(list);
    for (size_t i = 0; i < count; i++)
        list[i] = rbl_value_collection(rbl_call_input(call, "collections", i));
    RBL_TRY(rbli_merge_collections(ctx, list, count, *root ? root : NULL, &merged));
    rbl_call_set_output_collection(call, "collection", merged);
    merged = NULL;
done:
    rbli_collection_release(merged);
    rbli_free(ctx, list);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collections",
        .kind = RBL_VALUE_COLLECTION,
        .several = true,
        .text = "the collections, in this order"},
    {0},
};

static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "all of them in one"},
    {0},
};

static const rbl_param_desc params[] = {
    {.name = "root",
        .type = RBL_PARAM_STRING,
        .default_json = "\"merged\"",
        .text = "name of the new bone above all roots; \"\": the roots stay roots"},
    {0},
};

const rbl_node_desc rbli_node_merge_collections = {
    .size = sizeof(rbl_node_desc),
    .type = "MergeCollections",
    .version = 1,
    .revision = 1,
    .family = "flow",
    .text = "Puts several collections into one",
    .details =
        "Bones whose name is taken get a number behind it; materials of one name become one. Contacts and "
        "connections inside each collection stay; between them Proximity finds new ones. Nothing is moved "
        "and overlaps are not looked for.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
