/// What all selection nodes do around their one question.

#include "nodes/selections/select_node.h"

#include "engine/value.h"
#include "fracture/base/alloc.h"

const rbl_port_desc rbli_select_inputs[] = {
    RBLI_SELECT_COLLECTION,
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "the bones to choose from or to start from"},
    {0},
};
const rbl_port_desc rbli_select_outputs[] = {
    {.name = "selection", .kind = RBL_VALUE_SELECTION, .text = "the chosen bones"},
    {0},
};

rbl_status rbli_select_read(rbl_context *ctx, rbl_call *call, const char *port, size_t index,
    const rbl_collection *collection, bool *mask)
{
    const rbli_selection *selection = rbli_value_get_selection(rbl_call_input(call, port, index));
    if (!rbli_selection_fits(selection, collection))
        return rbli_fail(ctx, RBL_ERR_COLLECTION,
            "the selection at input \"%s\" was made on a collection with other bones", port);
    memset(mask, 0, rbli_collection_size(collection, "bone") * sizeof *mask);
    for (size_t i = 0; i < rbli_selection_count(selection); i++)
        mask[rbli_selection_bones(selection)[i]] = true;
    return RBL_OK;
}

rbl_status rbli_select_begin(rbl_context *ctx, rbl_call *call, bool pieces, rbli_select_call *out)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {.collection = rbl_call_input_collection(call, "collection")};
    made.count = rbli_collection_size(made.collection, "bone");
    made.within = rbli_calloc(ctx, made.count, sizeof *made.within);
    made.mask = rbli_calloc(ctx, made.count, sizeof *made.mask);
    RBL_TRY_ALLOC(made.within);
    RBL_TRY_ALLOC(made.mask);
    if (rbl_call_input(call, "selection", 0))
        RBL_TRY(rbli_select_read(ctx, call, "selection", 0, made.collection, made.within));
    else if (pieces)
        RBL_TRY(rbli_select_leaves(ctx, made.collection, NULL, made.within));
    else
        memset(made.within, true, made.count * sizeof *made.within);
    *out = made;
    made = (rbli_select_call){0};
done:
    rbli_select_end(ctx, &made);
    return status;
}

rbl_status rbli_select_finish(rbl_context *ctx, rbl_call *call, const rbli_select_call *made)
{
    size_t chosen = 0;
    rbl_value *value = NULL;
    int32_t *bones = rbli_alloc(ctx, made->count, sizeof *bones);
    if (!bones) return RBL_ERR_NO_MEMORY;
    for (size_t b = 0; b < made->count; b++)
        if (made->mask[b]) bones[chosen++] = (int32_t)b;
    rbl_status status = rbl_value_create_selection(ctx, made->collection, bones, chosen, &value);
    rbli_free(ctx, bones);
    if (status == RBL_OK) rbl_call_set_output(call, "selection", value);
    return status;
}

void rbli_select_end(rbl_context *ctx, rbli_select_call *made)
{
    rbli_free(ctx, made->within);
    rbli_free(ctx, made->mask);
    *made = (rbli_select_call){0};
}

rbl_status rbli_select_by_share(rbl_context *ctx, rbl_call *call, rbli_measure measure)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    double low = rbl_param_float(rbl_call_param(call, "min"));
    double high = rbl_param_float(rbl_call_param(call, "max"));
    RBL_TRY(rbli_select_begin(ctx, call, true, &made));
    if (low > high)
        RBL_TRY(rbl_call_fail(
            ctx, call, rbl_call_param(call, "max"), RBL_ERR_ARGUMENT, "max is smaller than min"));
    RBL_TRY(rbli_select_measure(ctx, made.collection, measure, low, high, made.within, made.mask));
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

const rbl_param_desc rbli_select_share_params[] = {
    {.name = "min",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e9,
        .step = 0.01,
        .text = "least share of the largest piece"},
    {.name = "max",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = 0,
        .max = 1e9,
        .step = 0.01,
        .text = "greatest share of the largest piece"},
    {0},
};
