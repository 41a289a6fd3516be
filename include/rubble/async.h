#ifndef RUBBLE_ASYNC_H
#define RUBBLE_ASYNC_H

/// Evaluations on a thread of their own. A host with a libuv loop takes rubble/rubble_uv.h instead.
///
///     rbl_evaluation *evaluation;
///     rbl_evaluation_begin(graph, NULL, on_done, user, &evaluation);
///     …                                    the graph may be changed: the evaluation has its own copy
///     rbl_evaluation_cancel(evaluation);   if something else is wanted meanwhile
///     rbl_evaluation_wait(evaluation);
///     rbl_run *run = rbl_evaluation_take_run(evaluation);
///     rbl_evaluation_destroy(evaluation);

#include "rubble/rubble.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An evaluation that was begun. Its functions may be called from any thread, destroy from one alone.
typedef struct rbl_evaluation rbl_evaluation;

/// Called on the evaluating thread as its last act. May ask everything and take the run; may neither wait nor
/// destroy.
typedef void (*rbl_evaluation_done)(void *user, rbl_evaluation *evaluation);

/// Begins an evaluation and returns once it has taken the graph's parameters, which is at once: what is
/// changed after that counts for the next one. Evaluations of one graph follow each other; those of several
/// graphs run at the same time and share the engine's threads. The graph must outlive the evaluation.
/// `options` are copied; their events come on the evaluating thread.
/// @param done may be NULL
/// @return RBL_OK · RBL_ERR_NOT_FOUND (only_node) · RBL_ERR_ARGUMENT · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_evaluation_begin(rbl_graph *graph, const rbl_evaluate_options *options,
    rbl_evaluation_done done, void *user, rbl_evaluation **out);
/// Asks for the end; the run then has the status RBL_ERR_CANCELLED, unless it was finished before. From
/// signal handlers, too.
RBL_API void rbl_evaluation_cancel(rbl_evaluation *evaluation);
RBL_API bool rbl_evaluation_is_done(const rbl_evaluation *evaluation);
/// Fraction done, 0 … 1.
RBL_API double rbl_evaluation_progress(const rbl_evaluation *evaluation);
/// Waits for the end. @return what rbl_evaluate would have returned
RBL_API rbl_status rbl_evaluation_wait(rbl_evaluation *evaluation);
/// The run, borrowed; NULL before the end, without memory, or when it was taken.
RBL_API const rbl_run *rbl_evaluation_run(const rbl_evaluation *evaluation);
/// The run, now the caller's (rbl_run_destroy); NULL as above.
RBL_API rbl_run *rbl_evaluation_take_run(rbl_evaluation *evaluation);
/// Cancels, waits and frees; a run that was not taken is destroyed. NULL is fine.
RBL_API void rbl_evaluation_destroy(rbl_evaluation *evaluation);

#ifdef __cplusplus
}
#endif
#endif
