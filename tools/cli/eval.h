#ifndef RUBBLE_CLI_EVAL_H
#define RUBBLE_CLI_EVAL_H

/// What `rubble eval` and its --watch share.

#include "tools/cli/cli.h"

typedef enum cli_progress { PROGRESS_NONE, PROGRESS_LINE, PROGRESS_PLAIN, PROGRESS_JSON } cli_progress;

typedef struct cli_eval_settings {
    const char *graph, *out, *only, *report, *trace, *progress, *fail_on, *cache;
    cli_list pairs;
    long threads;
    size_t memory, cache_bytes;
    bool no_cache, checked, json, watch;
    cli_progress progress_kind;
} cli_eval_settings;

/// Fills the options of an evaluation; events go to the progress display.
void cli_eval_options(cli_eval_settings *s, rbl_control *control, rbl_evaluate_options *options);
/// Says that --only names no node of the graph, and what was meant.
void cli_eval_tell_unknown_node(const rbl_graph *graph, const cli_eval_settings *s);
/// Tells of an ended evaluation and destroys its run, which may be NULL. @return exit code
int cli_eval_tell(const cli_eval_settings *s, rbl_status status, rbl_run *run, size_t warning_count);
/// Evaluates, and again whenever the graph or a file that it reads changes, until Ctrl-C. @return
/// EXIT_CANCELLED, or what went wrong in the beginning
int cli_watch(rbl_engine *engine, cli_eval_settings *s);

#endif
