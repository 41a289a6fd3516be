#ifndef RUBBLE_ENGINE_EVALUATION_H
#define RUBBLE_ENGINE_EVALUATION_H

/// The inside of an evaluation, for the files that do it: evaluate.c (the whole), schedule.c (nodes as
/// tasks), node_run.c (one node) with node_inputs.c, node_cache.c, node_messages.c and node_reason.c, and
/// deliver.c (its files). Nobody else includes this.

#include "engine/run.h"
#include "fracture/base/trace.h"

typedef struct rbli_evaluation {
    rbl_graph *graph;
    rbl_engine *engine;
    const rbl_evaluate_options *options;
    rbl_run *run;
    rbli_params **params;  /* [node_count] the graph's at the beginning */
    uint32_t *run_index;   /* [node_count] of a graph's node in the run */
    uint32_t *graph_index; /* [node_count] of a run's node in the graph */
    uint32_t *blame;       /* [node_count] by run index: the failed node that it was skipped for */
    size_t needed_count;
    rbl_messages **said;       /* [node_count] by run index: what the run has not got yet; NULL: nothing */
    rbli_activity *activities; /* [node_count] by run index */
    rbli_trace *trace;         /* of the whole run, NULL: none */
    rbli_progress_state progress;
    uv_mutex_t event_mutex;
    double done_cost; /* of the nodes that have ended, under event_mutex */
    rbli_pending_files files;
    atomic_bool cancelled;
    bool dry;                /* only says what would happen */
    atomic_bool undecodable; /* an input from the cache folder cannot be unpacked: once more without */
    bool distrust;           /* the second time: neither the cache folder nor what is still packed */
    rbl_value *const *given; /* of a graph that ForEach runs: what goes in; else NULL */
    const char *prefix;      /* of ids in messages, or NULL */
    bool **skips; /* [node_count] by graph index: for each of a node's connections, whether it does without;
                     NULL: it needs all */
    bool *ends; /* [node_count] by graph index: what the host may ask for first: nothing is connected to it */
    /* [needed_count] by run index, files_only: how often others have yet to take its outputs; NULL: they stay */
    atomic_uint *waiting;
    bool whole;  /* files_only found something damaged: results are read whole from the cache folder */
    size_t only; /* the node that is asked for, in the graph; SIZE_MAX: all */
} rbli_evaluation;

typedef struct rbli_demand rbli_demand;

/// One node under way.
typedef struct rbli_node_work {
    uint32_t index; /* in the run */
    const rbli_graph_node *node;
    rbli_run_node *entry;
    rbl_context ctx;
    const rbli_params *params; /* with connected values */
    rbli_params *own_params;   /* NULL: those of the graph */
    rbl_value **inputs;        /* [ref_count] retained */
    rbli_file_stamp *stamps;   /* of PATH parameters */
    size_t stamp_count;
    size_t elements, elements_ran; /* of ForEach */
    rbl_status status;
    uint64_t begin_ns;
    int64_t begin_cpu_ns; /* of this thread */
} rbli_node_work;

static inline bool rbli_evaluation_is_cancelled(const rbli_evaluation *e)
{
    return e->options->control && atomic_load_explicit(&e->options->control->cancel, memory_order_relaxed);
}

/// True for an answer from a cache.
static inline bool rbli_is_hit(rbl_outcome outcome)
{
    return outcome == RBL_OUTCOME_MEMORY_HIT || outcome == RBL_OUTCOME_DISK_HIT;
}

/// True for a node that has outputs.
static inline bool rbli_is_good(const rbli_run_node *entry)
{
    return entry->result != NULL;
}

/* schedule.c */

/// Evaluates all nodes that are needed, each behind those that it needs. `outer`: tasks that this is part of,
/// or NULL. What the nodes say goes to the run, in their order.
rbl_status rbli_evaluation_run_nodes(rbli_evaluation *e, rbli_task_set *outer);

/* demand.c */

/// The demand for what `only` needs (SIZE_MAX: for everything), before anything has run.
rbl_status rbli_demand_create(rbli_evaluation *e, size_t only, rbli_demand **out);
void rbli_demand_destroy(rbli_evaluation *e, rbli_demand *d); /* NULL is fine */
/// The nodes to run next: run[i], by run index; *count of them, 0: all is done. They are taken as done.
rbl_status rbli_demand_next(rbli_evaluation *e, rbli_demand *d, bool *run, size_t *count);
/// Reports the nodes that were not needed.
void rbli_demand_end(rbli_evaluation *e, rbli_demand *d);

/* node_run.c */

/// Why a node has its outcome ("": nothing to say); copied. Without memory: nothing is said.
void rbli_evaluation_set_reason(rbli_evaluation *e, rbli_run_node *entry, const char *text);
/// Begins the work on a node; false without memory, which is told. Ended by rbli_work_end in both cases.
bool rbli_work_begin(rbli_evaluation *e, uint32_t index, rbli_node_work *w);
/// Frees what the work holds and notes its time, in the trace under `category`.
void rbli_work_end(rbli_evaluation *e, rbli_node_work *w, const char *category);
void rbli_work_fail(rbli_evaluation *e, rbli_node_work *w, rbl_status status);
/// Evaluates the node: its entry in the run has the outcome, and its result when it succeeded.
void rbli_work_run(rbli_evaluation *e, rbli_node_work *w);

/* node_inputs.c */

/// Takes the values of everything connected, ints turned to floats where a port wants floats.
rbl_status rbli_work_gather_inputs(rbli_evaluation *e, rbli_node_work *w);
/// Puts connected values into the parameters.
rbl_status rbli_work_connect_parameters(rbli_evaluation *e, rbli_node_work *w);
/// Hashes the contents of the files of PATH parameters; a file that cannot be read is told.
rbl_status rbli_work_stamp_files(rbli_evaluation *e, rbli_node_work *w);
/// The node's key, once all of the above is there.
rbli_hash rbli_work_key(const rbli_node_work *w);
/// Notes files that the node read as relative to the folder of the PATH parameter that led to them: keys hold
/// contents, so the same mesh in another folder, with other files beside it, asks for the same result.
void rbli_work_anchor_files(const rbli_node_work *w, rbli_result *result);
/// The path of a further file as it is now; NULL without memory. Freed by the caller.
char *rbli_work_anchored_path(rbl_context *ctx, const rbli_node_work *w, const rbli_file_stamp *file);
/// True while a further file that the node read then still has that content.
bool rbli_work_file_is_unchanged(const rbli_node_work *w, const rbli_file_stamp *file);
bool rbli_work_files_are_unchanged(const rbli_node_work *w, const rbli_result *result);

/* node_cache.c */

/// True while an output of the result is as it came from the cache folder.
bool rbli_result_is_packed(const rbli_result *result);
/// True while an output of the result is in a file of the cache folder (files_only). Such a result is not put into
/// the memory's cache: others rely on what is there.
bool rbli_result_is_in_file(const rbli_result *result);
/// The result of a key in the cache folder, or NULL. `outputs`: its ports.
rbli_result *rbli_work_find_on_disk(
    rbli_evaluation *e, rbli_node_work *w, rbli_hash key, const rbl_port_desc *outputs);
void rbli_work_put_on_disk(rbli_evaluation *e, rbli_node_work *w, rbli_hash key, const rbli_result *result);
/// Hands on, as notes, what the cache folder said in a context's messages; destroys these (NULL is fine).
void rbli_work_tell_notes(rbli_evaluation *e, const rbli_node_work *w, rbl_context *ctx);
/// Frees collections among the outputs that nothing else keeps, once nobody needs them. What is known of them without
/// looking inside stays; unpacking one begins the run again. Without memory they stay.
void rbli_entry_let_go(rbli_evaluation *e, rbli_run_node *entry);
/// Takes a result out of both caches.
void rbli_work_reject(rbli_evaluation *e, rbli_node_work *w, rbli_hash key, const char *why);
/// Unpacks the inputs, or the outputs. One whose checksums are right and that still is no collection was not
/// written by rubble: the run begins again without the cache folder. One that had stayed in its file and is
/// damaged or gone lets the run begin again with all of what it takes from the folder checked.
rbl_status rbli_work_unpack_inputs(rbli_evaluation *e, rbli_node_work *w);
rbl_status rbli_work_unpack_outputs(rbli_evaluation *e, rbli_node_work *w);

/* node_messages.c */

/// The list of what a node says; NULL without memory.
rbl_messages *rbli_work_messages(rbli_evaluation *e, const rbli_node_work *w);
size_t rbli_work_error_count(const rbli_evaluation *e, const rbli_node_work *w);
/// A message about a node, or (`param`) about one of its parameters.
void rbli_work_tell(rbli_evaluation *e, const rbli_node_work *w, const rbl_param *param,
    rbl_severity severity, rbl_status status, const char *hint, const char *text);
/// An error in the words of its status; without memory it matters whether a limit was met.
void rbli_work_tell_status(rbli_evaluation *e, const rbli_node_work *w, rbl_status status);
/// Puts places to what a node said through its context; a failure without a word gets one. `call` may be
/// NULL.
void rbli_work_hand_on_messages(
    rbli_evaluation *e, const rbli_node_work *w, const rbl_call *call, rbl_status status);
/// Says again what an earlier evaluation of the node said.
void rbli_work_replay_messages(rbli_evaluation *e, const rbli_node_work *w, const rbli_result *result);
/// Hands what a node said to the run.
void rbli_evaluation_take_messages(rbli_evaluation *e, uint32_t index);
rbl_severity rbli_public_severity(rbli_severity severity);

/* node_reason.c */

/// Says why the node has to run: what differs from the graph's previous run. `stale`: a remembered result
/// that files made worthless, or NULL.
void rbli_work_explain(
    rbli_evaluation *e, const rbli_node_work *w, const rbli_result *stale, char *reason, size_t bytes);
/// Remembers what a node was made from. Without memory it is forgotten: the next run says "first run".
void rbli_work_remember(rbli_evaluation *e, const rbli_node_work *w);
/// Notes what a node of a graph that ForEach runs has read, in that graph. Without memory it is left out.
void rbli_work_note_files(rbli_evaluation *e, const rbli_node_work *w);
/// True when the outputs are those of the graph's previous run.
bool rbli_work_output_is_same(rbli_evaluation *e, const rbli_node_work *w, const rbli_result *result);

/* kept_files.c */

/// The record of what the node's delivery wrote, or NULL. Released by the caller.
rbli_result *rbli_work_find_files(rbli_evaluation *e, rbli_node_work *w);
/// Delivers from a record. False, with nothing delivered, when the node has to write its files itself.
bool rbli_work_restore_files(
    rbli_evaluation *e, rbli_node_work *w, rbl_call *call, const rbli_result *record);
/// Remembers what the node has written: the call's files from `first` on. `known`: the record that there was,
/// or NULL; a checked run compares. @return RBL_OK · RBL_ERR_INTERNAL with a message (they differ)
rbl_status rbli_work_keep_files(
    rbli_evaluation *e, rbli_node_work *w, const rbl_call *call, size_t first, const rbli_result *known);

/* deliver.c */

/// Writes the files of all nodes. All files or none: nothing is written when a node failed.
void rbli_evaluation_write_files(rbli_evaluation *e);

/* control.c */

/// Guesses what each node costs against the others, for progress.
void rbli_evaluation_guess_costs(rbli_evaluation *e);
/// Lets a control (NULL is fine) show the progress of a run, or (NULL) of none any more.
void rbli_control_show(rbl_control *control, const rbli_progress_state *state);

#endif
