#ifndef RUBBLE_CLI_EVAL_H
#define RUBBLE_CLI_EVAL_H

/// What `rubble eval` and its --watch share.

#include <uv.h>

#include "tools/cli/cli.h"

typedef enum cli_progress { PROGRESS_NONE, PROGRESS_LINE, PROGRESS_PLAIN, PROGRESS_JSON } cli_progress;

/// What a command that watches does besides; all functions are called on the loop's thread.
typedef struct cli_watch_hooks {
    void *user;
    bool (*open)(void *user, uv_loop_t *loop); /* false, with a message: do not begin */
    void (*close)(void *user);                 /* the loop runs on until all handles are closed */
    /// Loads what settings->graph names, as rbl_graph_load_file does.
    rbl_status (*load)(void *user, rbl_engine *engine, rbl_messages **messages, rbl_graph **graph);
    void (*begins)(void *user);
    /// An evaluation has ended, or the graph cannot be loaded (run NULL). `messages` may be NULL.
    void (*ended)(void *user, const rbl_graph *graph, const rbl_run *run, rbl_status status,
        const rbl_messages *messages);
} cli_watch_hooks;

typedef struct cli_eval_settings {
    const char *graph, *out, *only, *report, *trace, *progress, *fail_on, *cache;
    cli_list pairs;
    long threads;
    size_t memory, cache_bytes;
    bool no_cache, checked, json, watch;
    cli_progress progress_kind;
    const cli_watch_hooks *hooks; /* NULL: none */
} cli_eval_settings;

/// Fills the options of an evaluation; events go to the progress display.
void cli_eval_options(cli_eval_settings *s, rbl_control *control, rbl_evaluate_options *options);
/// Looks whether what is to be written can be, before an evaluation that may take long. @return exit code
int cli_eval_look_at_outputs(const rbl_graph *graph, const cli_eval_settings *s);
/// Tells of an ended evaluation and destroys its run, which may be NULL. @return exit code
int cli_eval_tell(const cli_eval_settings *s, rbl_status status, rbl_run *run, size_t warning_count);
/// Evaluates, and again whenever the graph or a file that it reads changes, until Ctrl-C. @return
/// EXIT_CANCELLED, or what went wrong in the beginning
int cli_watch(rbl_engine *engine, cli_eval_settings *s);

#endif
