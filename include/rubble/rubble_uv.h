#ifndef RUBBLE_UV_H
#define RUBBLE_UV_H

/// Evaluations for a host with a libuv loop: the work is done on a thread of its own, everything that a host
/// hears of it comes on the loop's thread. The loop is never blocked.

#include <uv.h>

#include "rubble/rubble.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An evaluation under way. It frees itself after `done`.
typedef struct rbl_uv_evaluation rbl_uv_evaluation;

/// Called on the loop's thread, once, when the evaluation has ended and after its last event. `run` is handed
/// over (rbl_run_destroy) and NULL only without memory; `status` is what rbl_evaluate would have returned,
/// RBL_ERR_CANCELLED after a cancel. The handle is not valid any more afterwards.
typedef void (*rbl_uv_done)(void *user, rbl_status status, rbl_run *run);

/// Begins an evaluation; the graph may be changed from now on, and must outlive `done`. Only on the loop's
/// thread. The loop stays alive until `done` was called. options->event is called on the loop's thread.
/// @return RBL_OK · RBL_ERR_NOT_FOUND (only_node) · RBL_ERR_ARGUMENT · RBL_ERR_NO_MEMORY; then `done` is not
/// called
RBL_API rbl_status rbl_uv_evaluate(uv_loop_t *loop, rbl_graph *graph, const rbl_evaluate_options *options,
    rbl_uv_done done, void *user, rbl_uv_evaluation **out);
/// Asks for the end; `done` still comes. On the loop's thread, before `done`.
RBL_API void rbl_uv_cancel(rbl_uv_evaluation *evaluation);
/// Fraction done, 0 … 1. On the loop's thread, before `done`.
RBL_API double rbl_uv_progress(const rbl_uv_evaluation *evaluation);

#ifdef __cplusplus
}
#endif
#endif
