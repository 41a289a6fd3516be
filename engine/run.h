#ifndef RUBBLE_ENGINE_RUN_H
#define RUBBLE_ENGINE_RUN_H

/// What an evaluation leaves.

#include "engine/call.h"
#include "fracture/base/trace.h"

typedef struct rbli_run_node {
    char *id;
    const rbl_node_desc *desc;
    rbli_result *result; /* NULL unless it succeeded */
    rbli_hash key;
    char *reason;
    rbl_node_report report; /* points into the above */
} rbli_run_node;

typedef struct rbli_run_file {
    char *path, *node;
    char hash[33];
    rbl_file_report report;
} rbli_run_file;

struct rbl_run {
    rbli_allocator *allocator;
    rbl_graph *graph; /* holds the types of its nodes "inputs" */
    rbl_status status;
    rbl_messages *messages;
    rbli_run_node *nodes; /* in the order of evaluation */
    size_t node_count;
    rbli_name_table ids;
    RBLI_ARRAY(rbli_run_file) files;
    char *graph_file;
    char graph_hash[33];
    char *variables; /* JSON object */
    double wall_ms, cpu_ms;
    rbli_trace *trace; /* NULL: not asked for */
    uint64_t trace_begin_ns;
};

/// A run without results for a graph; the nodes are in evaluation order, those that are not `needed` last.
rbl_status rbli_run_create(rbl_graph *graph, const bool *needed, rbl_run **out);
/// Writes the manifest of one node's files. `files`: all of the run.
void rbli_write_manifest(const rbl_run *run, uint32_t node, const rbli_pending_files *files, rbli_text *out);

/// How an evaluation is begun otherwise than by rbl_evaluate.
typedef struct rbli_evaluate_hooks {
    bool dry;                    /* say what would run and why; run and remember nothing */
    void (*started)(void *user); /* called once the graph's parameters were taken, also on failure; or NULL */
    void *user;
} rbli_evaluate_hooks;
/// rbl_evaluate with hooks. `started` is not called when the arguments are refused.
rbl_status rbli_evaluate(
    rbl_graph *graph, const rbl_evaluate_options *options, const rbli_evaluate_hooks *hooks, rbl_run **out);

/// How far a run is.
typedef struct rbli_progress_state {
    size_t count;
    double *costs; /* [count] guessed */
    double total_cost;
    _Atomic(float) *fractions; /* [count] done of each node, 0 … 1 */
} rbli_progress_state;

/// Controls (include/rubble/rubble.h).
struct rbl_control {
    rbli_allocator *allocator;
    atomic_bool cancel;
    uv_mutex_t mutex;
    const rbli_progress_state *state; /* of the run under way, NULL: none; under the mutex */
    double fraction;                  /* without a run */
};

#endif
