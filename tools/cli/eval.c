/// rubble eval: evaluates a graph, writes its files, and says what happened.

#include "tools/cli/eval.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/files.h"
#include "tools/cli/model.h"
#include "tools/cli/results.h"

/* A signal handler can reach nothing but this. */
static rbl_control *volatile running;

static void on_interrupt(int number)
{
    int kept = errno;
    (void)number;
    if (running) rbl_control_cancel(running);
    errno = kept;
}

/// The first Ctrl-C asks for the end; the second one ends the process.
static void catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- Progress ---- */

static void on_event(void *user, const rbl_event *event)
{
    const cli_eval_settings *s = user;
    bool begins = event->kind == RBL_EVENT_NODE_BEGINS;
    switch (s->progress_kind) {
    case PROGRESS_NONE:
        return;
    case PROGRESS_LINE:
        if (begins) fprintf(stderr, "\r\033[K[%zu/%zu] %s", event->number + 1, event->total, event->node);
        break;
    case PROGRESS_PLAIN:
        if (!begins)
            fprintf(stderr, "[%zu/%zu] %s: %s\n", event->number + 1, event->total, event->node,
                rbl_outcome_text(event->outcome));
        break;
    case PROGRESS_JSON:
        fprintf(stderr,
            "{\"event\": \"%s\", \"node\": \"%s\", \"type\": \"%s\", \"number\": %zu, \"total\": %zu",
            begins ? "begins" : "ends", event->node, event->type, event->number, event->total);
        if (!begins) fprintf(stderr, ", \"outcome\": \"%s\"", rbl_outcome_text(event->outcome));
        fprintf(stderr, "}\n");
        break;
    }
    fflush(stderr);
}

static void read_progress(cli_eval_settings *s)
{
    if (strcmp(s->progress, "auto") == 0)
        s->progress_kind = isatty(STDERR_FILENO) ? PROGRESS_LINE : PROGRESS_NONE;
    else if (strcmp(s->progress, "plain") == 0)
        s->progress_kind = PROGRESS_PLAIN;
    else if (strcmp(s->progress, "json") == 0)
        s->progress_kind = PROGRESS_JSON;
    else
        s->progress_kind = PROGRESS_NONE;
}

/* ---- What a person sees afterwards ---- */

static void print_one(void *user, const cli_result *result)
{
    (void)user;
    cli_print_result(result);
}

static void print_result(const rbl_run *run)
{
    cli_counts c = cli_count_outcomes(run);
    if (rbl_run_status(run) == RBL_OK) cli_each_result(run, print_one, NULL);
    printf("%zu node%s: %zu ran, %zu from the cache", c.asked, cli_plural(c.asked), c.ran, c.hits);
    if (c.failed) printf(", %zu failed", c.failed);
    if (c.skipped) printf(", %zu skipped", c.skipped);
    if (c.not_needed) printf(", %zu not needed", c.not_needed);
    printf("; %.0f ms\n", rbl_run_wall_ms(run));
    for (size_t i = 0; i < rbl_run_file_count(run); i++) {
        const rbl_file_report *file = rbl_run_file(run, i);
        char bytes[32];
        printf("%s %s (%s)\n", file->unchanged ? "unchanged" : "wrote", file->path,
            cli_bytes(file->bytes, bytes));
    }
}

static void print_json_summary(
    void *user, const char *node, const rbl_collection *collection, const cli_summary *summary)
{
    size_t *printed = user;
    printf((*printed)++ ? ", " : "");
    cli_json_string(stdout, node);
    printf(": ");
    cli_summary_json(collection, summary);
}

static int print_json(const rbl_run *run)
{
    char *text = NULL;
    if (rbl_run_json(run, &text) != RBL_OK) return EXIT_EVALUATION;
    printf("{\"results\": {");
    size_t printed = 0;
    if (rbl_run_status(run) == RBL_OK) cli_each_summary(run, print_json_summary, &printed);
    printf("}, \"run\": %s}\n", text);
    rbl_run_free_text(run, text);
    return EXIT_DONE;
}

/// Writes a run as the text that `to_text` makes of it.
static int write_text(
    const rbl_run *run, rbl_status (*to_text)(const rbl_run *run, char **text), const char *path)
{
    char *text = NULL;
    rbl_status status = to_text(run, &text);
    if (status != RBL_OK) {
        cli_error("%s", rbl_status_text(status));
        return EXIT_EVALUATION;
    }
    bool good = cli_write_file(path, text, strlen(text));
    rbl_run_free_text(run, text);
    return good ? EXIT_DONE : EXIT_FILE;
}

/* ---- The command ---- */

void cli_eval_options(cli_eval_settings *s, rbl_control *control, rbl_evaluate_options *options)
{
    rbl_evaluate_options_init(options);
    options->output_folder = s->out;
    options->only_node = s->only;
    options->no_cache = s->no_cache;
    options->files_only = s->no_cache; /* so that results go when they are no longer needed */
    options->checked = s->checked;
    options->trace = s->trace != NULL;
    options->control = control;
    options->event = on_event;
    options->user = s;
}

int cli_eval_look_at_outputs(const rbl_graph *graph, const cli_eval_settings *s)
{
    bool writes = false;
    for (size_t i = 0; i < rbl_graph_node_count(graph) && !writes; i++)
        writes = rbl_graph_node_desc(graph, i)->deliver &&
                 (!s->only || strcmp(s->only, rbl_graph_node_id(graph, i)) == 0);
    if (cli_would_replace_input(s->report, graph) || cli_would_replace_input(s->trace, graph))
        return EXIT_USAGE;
    bool good = !writes || cli_can_hold_files(s->out);
    if (good && s->report) good = cli_can_write_file(s->report);
    if (good && s->trace) good = cli_can_write_file(s->trace);
    return good ? EXIT_DONE : EXIT_FILE;
}

int cli_eval_tell(const cli_eval_settings *s, rbl_status status, rbl_run *run, size_t warning_count)
{
    if (s->progress_kind == PROGRESS_LINE) fputs("\r\033[K", stderr);
    if (!run) {
        cli_tell_status(status, &s->memory);
        return cli_exit_code(status);
    }
    const rbl_messages *messages = rbl_run_messages(run);
    cli_print_messages(messages);
    /* A node that did not find something is no fault of the command line. */
    int code = status == RBL_ERR_NOT_FOUND ? EXIT_EVALUATION : cli_exit_code(status);
    warning_count += rbl_messages_count_of(messages, RBL_WARNING);
    if (status == RBL_ERR_CANCELLED)
        cli_error("cancelled; no file was written");
    else if (status != RBL_OK && !rbl_messages_count_of(messages, RBL_ERROR))
        cli_error("%s", rbl_status_text(status));
    int printed = EXIT_DONE;
    if (s->json)
        printed = print_json(run);
    else
        print_result(run);
    if (fflush(stdout) != 0) {
        if (errno != EPIPE) cli_error("standard output: %s", strerror(errno));
        printed = EXIT_FILE;
    }
    if (code == EXIT_DONE) code = printed;
    if (s->report) {
        int reported = write_text(run, rbl_run_json, s->report);
        if (code == EXIT_DONE) code = reported;
    }
    if (s->trace) {
        int traced = write_text(run, rbl_run_trace_json, s->trace);
        if (code == EXIT_DONE) code = traced;
    }
    if (code == EXIT_DONE && s->fail_on && warning_count) {
        cli_error("%zu warning%s, and --fail-on warning was given", warning_count, cli_plural(warning_count));
        code = EXIT_EVALUATION;
    }
    rbl_run_destroy(run);
    return code;
}

static int evaluate(rbl_graph *graph, cli_eval_settings *s, rbl_control *control, size_t warning_count)
{
    rbl_evaluate_options options;
    cli_eval_options(s, control, &options);
    rbl_run *run = NULL;
    rbl_status status = rbl_evaluate(graph, &options, &run);
    if (!run && status == RBL_ERR_NOT_FOUND) {
        cli_tell_unknown_node(graph, s->only);
        return EXIT_USAGE;
    }
    return cli_eval_tell(s, status, run, warning_count);
}

static int load_and_evaluate(rbl_engine *engine, cli_eval_settings *s)
{
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    rbl_control *control = NULL;
    rbl_status status = rbl_graph_load_file(engine, s->graph, &messages, &graph);
    cli_print_messages(messages);
    int code = cli_exit_code(status);
    if (status != RBL_OK && !rbl_messages_count_of(messages, RBL_ERROR)) cli_tell_status(status, &s->memory);
    if (code == EXIT_DONE) code = cli_set_variables(graph, &s->pairs);
    if (code == EXIT_DONE) code = cli_eval_look_at_outputs(graph, s);
    if (code == EXIT_DONE && rbl_control_create(engine, &control) != RBL_OK) code = EXIT_EVALUATION;
    if (code == EXIT_DONE) {
        running = control;
        catch_interrupt();
        code = evaluate(graph, s, control, rbl_messages_count_of(messages, RBL_WARNING));
        running = NULL;
    }
    rbl_control_destroy(control);
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
    return code;
}

int cli_eval(int argc, char **argv)
{
    cli_eval_settings s = {.out = "out", .progress = "auto", .cache_bytes = (size_t)10 << 30};
    const cli_option options[] = {CLI_OPTION_SET(&s.pairs),
        {"out", CLI_TEXT, &s.out, "DIR", "folder for the files (default: out); made when it is missing",
            .letter = 'o'},
        {"only", CLI_TEXT, &s.only, "NODE", "evaluate this node and what it needs"},
        CLI_OPTION_THREADS(&s.threads), CLI_OPTION_MEMORY(&s.memory),
        {"cache", CLI_TEXT, &s.cache, "DIR",
            "keep results in a folder, or on a server (redis://HOST, unix://SOCKET), for later runs "
            "(default: $RUBBLE_CACHE, else none); several processes "
            "may share it"},
        {"cache-bytes", CLI_BYTES, &s.cache_bytes, "BYTES",
            "most bytes that the folder keeps, about (default 10G; 0: no bound)"},
        {"no-cache", CLI_FLAG, &s.no_cache, NULL, "remember nothing, in memory or in a folder"},
        {"checked", CLI_FLAG, &s.checked, NULL, "compute what is remembered again and compare"},
        {"watch", CLI_FLAG, &s.watch, NULL,
            "evaluate again whenever the graph or a file that it reads changes, until Ctrl-C"},
        {"report", CLI_TEXT, &s.report, "FILE", "write what ran, why, and how long it took, as JSON"},
        {"trace", CLI_TEXT, &s.trace, "FILE", "write what ran when and on which thread, for ui.perfetto.dev"},
        {"progress", CLI_WORD, &s.progress, "auto|plain|json|none",
            "on stderr (default auto: a line on a terminal)"},
        CLI_OPTION_FAIL_ON(&s.fail_on), {"json", CLI_FLAG, &s.json, NULL, "print the result as JSON"}, {0}};
    const cli_command command = {.name = "eval",
        .usage = "GRAPH [options]",
        .text = "Evaluates a graph and writes the files that its Terminal nodes name. When a node fails, no "
                "file is written.",
        .examples = "rubble eval graphs/wall.json --out out --set stones=200",
        .takes = "GRAPH",
        .options = options,
        .arguments = &s.graph,
        .least_arguments = 1,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    if (code < 0) read_progress(&s);
    if (code < 0 && !*s.out) {
        cli_error("--out needs a folder");
        code = EXIT_USAGE;
    }
    if (code < 0) {
        if (!s.cache) s.cache = getenv("RUBBLE_CACHE");
        if (s.no_cache) s.cache = NULL;
        rbl_engine *engine = cli_engine_with_cache(s.threads, &s.memory, s.cache, &s.cache_bytes);
        if (!engine)
            code = cli_engine_exit_code(s.cache);
        else
            code = s.watch ? cli_watch(engine, &s) : load_and_evaluate(engine, &s);
        rbl_engine_destroy(engine);
    }
    free(s.pairs.items);
    return code;
}
