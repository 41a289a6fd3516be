/// What nodes of this family share.

#include "nodes/clusters/cluster_node.h"

#include "fracture/base/alloc.h"

rbl_status rbli_cluster_node_finish(
    rbl_context *ctx, rbl_call *call, rbl_status status, const char *port, rbli_cluster_edit *edit)
{
    rbl_value *value = NULL;
    if (status == RBL_OK)
        status = rbl_value_create_selection(ctx, edit->collection, edit->bones, edit->count, &value);
    if (status == RBL_OK) {
        rbl_call_set_output(call, port, value);
        rbl_call_set_output_collection(call, "collection", edit->collection);
        edit->collection = NULL;
    }
    rbli_collection_release(edit->collection);
    rbli_free(ctx, edit->bones);
    return status;
}
