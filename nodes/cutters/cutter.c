/// What all cutter nodes do around their complex.

#include "nodes/cutters/cutter.h"

#include "engine/value.h"
#include "fracture/base/alloc.h"

rbl_status rbli_cutter_run(rbl_context *ctx, rbl_call *call, rbli_complex_fn make_complex, void *user)
{
    rbl_status status = RBL_OK;
    rbli_fracture_result result = {0};
    rbl_value *pieces = NULL;
    const rbl_collection *in = rbl_call_input_collection(call, "collection");
    rbli_fracture_options options = rbli_fracture_default_options();
    const rbl_value *selection = rbl_call_input(call, "selection", 0);
    if (selection) options.selection = rbli_value_get_selection(selection);
    options.chance = rbl_param_float(rbl_call_param(call, "chance_to_fracture"));
    options.group = rbl_param_bool(rbl_call_param(call, "group_fracture"));
    options.split_islands = rbl_param_bool(rbl_call_param(call, "split_islands"));
    options.internal_material = rbl_param_string(rbl_call_param(call, "internal_material"));
    options.seed = (uint32_t)rbl_param_int(rbl_call_param(call, "seed"));
    options.grout = rbl_param_float(rbl_call_param(call, "grout"));
    options.keep_outside = rbl_param_bool(rbl_call_param(call, "keep_mortar"));
    options.make_complex = make_complex;
    options.user = user;
    if (options.internal_material[0] == 0)
        return rbl_call_fail(ctx, call, rbl_call_param(call, "internal_material"), RBL_ERR_ARGUMENT,
            "the name of the internal material is empty");

    RBL_TRY(rbli_fracture(ctx, in, &options, &result));
    if (result.empty_cell_count)
        rbli_note(ctx, "%zu cell%s hold no part of the mesh and give no piece", result.empty_cell_count,
            result.empty_cell_count == 1 ? "" : "s");
    if (result.vanished_count)
        rbli_warn(ctx, "%zu cell%s thinner than the grout of %g and gone", result.vanished_count,
            result.vanished_count == 1 ? " is" : "s are", options.grout);
    if (result.lost_count)
        rbli_warn(ctx, "%zu bone%s wholly in the grout and stay%s as %s", result.lost_count,
            result.lost_count == 1 ? " lies" : "s lie", result.lost_count == 1 ? "s" : "",
            result.lost_count == 1 ? "it is" : "they are");
    RBL_TRY(rbl_value_create_selection(ctx, result.collection, result.new_bones, result.new_count, &pieces));
    rbl_call_set_output_collection(call, "collection", result.collection);
    result.collection = NULL;
    rbl_call_set_output(call, "new_pieces", pieces);
done:
    rbli_collection_release(result.collection);
    rbli_free(ctx, result.new_bones);
    return status;
}
