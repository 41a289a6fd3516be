#ifndef RUBBLE_ENGINE_CALL_H
#define RUBBLE_ENGINE_CALL_H

/// One call of a node's function, as the evaluation sees it.

#include "engine/engine.h"
#include "fracture/base/alloc.h"
#include "fracture/base/file.h"

/// A finished temporary file that waits to be published.
typedef struct rbli_pending_file {
    uint32_t node;
    char *name;
    rbli_file_writer *writer; /* NULL once published or discarded, and of a file that stays */
    rbli_hash hash;
    size_t bytes;
    bool is_unchanged; /* the file is there already, with this content */
} rbli_pending_file;

typedef struct rbli_pending_files {
    rbli_pending_file *data;
    size_t count, capacity;
} rbli_pending_files;

/// The parameter that a message is about.
typedef struct rbli_message_place {
    size_t message; /* index in the context's messages */
    const rbl_param *param;
} rbli_message_place;

/// A file that a node says it writes, while its parameters are checked.
typedef struct rbli_told_file {
    uint32_t node;
    const rbl_param *param;
} rbli_told_file;

typedef RBLI_ARRAY(rbli_told_file) rbli_told_files;

struct rbl_call {
    rbl_context *ctx; /* of this call; blocks of parallel loops have their own */
    const rbli_graph_node *node;
    uint32_t node_index;
    const rbli_params *params;
    rbl_value *const *inputs; /* [ref_count], converted to the ports' kinds */
    rbli_result *result;
    bool may_set_outputs;
    bool out_of_memory; /* met where no status can be returned */
    const char *output_folder;
    rbli_pending_files *files;
    RBLI_ARRAY(rbli_message_place) places;
    bool *skips;                        /* [ref_count] while a node chooses what it does without; else NULL */
    struct rbli_evaluation *evaluation; /* NULL while a graph is loaded and parameters are checked; then */
    rbli_told_files *told_files;        /* files that nodes write */
    rbl_value *const *given;            /* of a node "inputs": what ForEach gives it, by output; else NULL */
    size_t elements, elements_ran;      /* of ForEach; in a dry run: those in which something would run */
    bool is_dry; /* ForEach alone is called in a dry run; it need not set its outputs then */
};

/// Evaluates the graph that a node ForEach runs, once; `ctx`: of a task of the call. `given` (by output of its
/// node "inputs"): the values that go in, NULL where its default is meant. `prefix` stands before the ids of
/// nodes in messages. *out is set when it began, also when it failed. Threads: several at once.
rbl_status rbli_evaluate_body(
    rbl_context *ctx, rbl_call *call, rbl_value *const *given, const char *prefix, rbl_run **out);
/// The messages of a run, which has none then.
rbl_messages *rbli_run_take_messages(rbl_run *run);
/// Lets the run of the call say what one of its bodies said (NULL: nothing). Threads: that of the call.
rbl_status rbli_hand_on_body_messages(rbl_call *call, const rbl_messages *said);

/// The value of a parameter as it flows out of a node "inputs".
rbl_status rbli_param_value(rbl_context *ctx, const rbl_param *param, rbl_value **out);
/// Hash of a file's content; zero when it cannot be read.
rbl_status rbli_hash_file(rbl_context *ctx, const char *path, rbli_hash *out);
/// Notes a file that is in the output folder already, when it has this content; *found says so.
/// @return RBL_OK · RBL_ERR_ARGUMENT (the name is written twice) · RBL_ERR_NO_MEMORY
rbl_status rbli_call_find_file(
    rbl_context *ctx, rbl_call *call, const char *name, rbli_hash hash, size_t bytes, bool *found);
/// Discards all behind the first `count`.
void rbli_pending_files_cut(rbl_context *ctx, rbli_pending_files *files, size_t count);
void rbli_pending_files_discard(rbl_context *ctx, rbli_pending_files *files);

#endif
