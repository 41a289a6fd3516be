#ifndef RUBBLE_NODES_SELECTIONS_SELECT_NODE_H
#define RUBBLE_NODES_SELECTIONS_SELECT_NODE_H

/// Ports and frame that all selection nodes share.

#include "fracture/ops/select.h"
#include "rubble/node.h"

/// `collection`, and `selection` (optional), ended by an entry without a name.
extern const rbl_port_desc rbli_select_inputs[];
/// `selection`.
extern const rbl_port_desc rbli_select_outputs[];

#define RBLI_SELECT_COLLECTION                                                                               \
    {                                                                                                        \
        .name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose bones are chosen"                 \
    }

typedef struct rbli_select_call {
    const rbl_collection *collection;
    size_t count; /* bones */
    bool *within; /* [count] the selection that is connected, else all bones or all pieces */
    bool *mask;   /* [count] for the answer; all false */
} rbli_select_call;

/// Reads the inputs. A selection of another topology is RBL_ERR_COLLECTION.
/// @param pieces  without a selection start from the rigid leaves instead of all bones
rbl_status rbli_select_begin(rbl_context *ctx, rbl_call *call, bool pieces, rbli_select_call *out);
/// The mask of the selection that is value `index` of port `port`. @return RBL_OK · RBL_ERR_COLLECTION
rbl_status rbli_select_read(rbl_context *ctx, rbl_call *call, const char *port, size_t index,
    const rbl_collection *collection, bool *mask);
/// Makes the output from the mask.
rbl_status rbli_select_finish(rbl_context *ctx, rbl_call *call, const rbli_select_call *made);
/// Parameters `min` and `max`, shares of the largest piece, ended by an entry without a name.
extern const rbl_param_desc rbli_select_share_params[];
/// The whole evaluation of a node that chooses by a measure between `min` and `max`.
/// @return RBL_OK · RBL_ERR_ARGUMENT max is smaller than min · as rbli_select_begin
rbl_status rbli_select_by_share(rbl_context *ctx, rbl_call *call, rbli_measure measure);
void rbli_select_end(rbl_context *ctx, rbli_select_call *made);

#endif
