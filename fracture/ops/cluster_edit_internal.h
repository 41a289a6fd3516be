#ifndef RUBBLE_OPS_CLUSTER_EDIT_INTERNAL_H
#define RUBBLE_OPS_CLUSTER_EDIT_INTERNAL_H

/// The frame of operations on clusters: a selection, a plan, a list of bones to tell.

#include "fracture/ops/cluster_edit.h"
#include "fracture/ops/rehang.h"

typedef struct rbli_edit {
    rbl_context *ctx;
    const rbl_collection *in;
    size_t count; /* bones */
    const int32_t *parent, *level, *type;
    bool *chosen; /* [count] the selection; a sheet's piece in its place */
    size_t chosen_count;
    rbli_rehang_plan plan;
} rbli_edit;

/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY; rbli_edit_end in any case
rbl_status rbli_edit_begin(
    rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection, rbli_edit *e);
void rbli_edit_end(rbli_edit *e);
/// Leaves out chosen bones below chosen ones.
rbl_status rbli_edit_keep_topmost(rbli_edit *e);

/// A copy of the input and no bones.
rbl_status rbli_edit_nothing(rbli_edit *e, rbli_cluster_edit *out);

typedef enum rbli_edit_tell {
    RBLI_TELL_NEW,    /* new clusters */
    RBLI_TELL_MOVED,  /* old bones that hang below another bone */
    RBLI_TELL_CHOSEN, /* old bones of `chosen` */
} rbli_edit_tell;
/// Follows the plan.
rbl_status rbli_edit_finish(rbli_edit *e, rbli_edit_tell tell, rbli_cluster_edit *out);

#endif
