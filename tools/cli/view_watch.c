/// rubble view --watch: what the watcher of rubble eval finds out goes to browsers through the server.

#include <stdlib.h>
#include <string.h>

#include "tools/cli/eval.h"
#include "tools/cli/model.h"
#include "tools/cli/view.h"
#include "tools/cli/view_serve.h"

typedef struct view_loop {
    const view_settings *settings;
    const char *page;
    size_t page_size;
    view_server *server;
} view_loop;

/// Fills the page and hands it to the server. @return what is wrong, or NULL
static const char *serve(view_loop *loop, const rbl_collection *collection)
{
    view_bytes data = {0}, filled = {0};
    char live[33] = "";
    if (collection) rbl_collection_hash_text(collection, live);
    const char *problem = view_write_data(collection, cli_base_name(loop->settings->file), live, &data);
    if (!problem && !view_fill_page(loop->page, loop->page_size, &data, &filled)) problem = "out of memory";
    free(data.data);
    if (problem)
        free(filled.data);
    else
        view_server_set_page(loop->server, &filled, live);
    return problem;
}

/// Sends errors as one text; `problem` stands where there is none.
static void serve_problem(view_loop *loop, const rbl_messages *messages, const char *problem)
{
    view_bytes all = {0}, json = {0};
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        char *text = NULL;
        if (rbl_messages_get(messages, i)->severity != RBL_ERROR) continue;
        if (rbl_messages_format(messages, i, &text) == RBL_OK) view_bytes_text(&all, text);
        rbl_messages_free_text(messages, text);
    }
    if (!all.size) view_bytes_text(&all, problem);
    view_bytes_add(&all, "", 1);
    if (!all.failed) view_bytes_json_string(&json, (const char *)all.data);
    view_bytes_add(&json, "", 1);
    if (!json.failed) view_server_set_problem(loop->server, (const char *)json.data);
    free(all.data);
    free(json.data);
}

/* ---- What the watcher calls ---- */

static bool on_open(void *user, uv_loop_t *uv)
{
    view_loop *loop = user;
    int error = 0;
    loop->server = view_server_start(uv, (int)loop->settings->port, &error);
    if (!loop->server) {
        cli_error("port %ld cannot be opened: %s", loop->settings->port, uv_strerror(error));
        return false;
    }
    const char *problem = serve(loop, NULL);
    if (problem) cli_error("%s", problem);
    printf("open http://127.0.0.1:%d/ in a browser\n", view_server_port(loop->server));
    fflush(stdout);
    return true;
}

static void on_close(void *user)
{
    view_loop *loop = user;
    view_server_stop(loop->server);
}

static rbl_status on_load(void *user, rbl_engine *engine, rbl_messages **messages, rbl_graph **graph)
{
    const char *file = ((view_loop *)user)->settings->file;
    if (cli_is_graph(file)) return rbl_graph_load_file(engine, file, messages, graph);
    return cli_load_file_graph(engine, file, graph) == EXIT_DONE ? RBL_OK : RBL_ERR_GRAPH;
}

static void on_begins(void *user)
{
    view_server_tell_running(((view_loop *)user)->server);
}

static void on_ended(
    void *user, const rbl_graph *graph, const rbl_run *run, rbl_status status, const rbl_messages *messages)
{
    view_loop *loop = user;
    const char *node = graph ? cli_choose_node(graph, loop->settings->node) : NULL;
    const rbl_value *value = run && node ? rbl_run_value(run, node) : NULL;
    const rbl_collection *collection = value ? rbl_value_collection(value) : NULL;
    const char *problem = collection ? serve(loop, collection) : NULL;
    if (!problem && status != RBL_OK) problem = rbl_status_text(status);
    if (!problem && !collection) problem = "no node gives a collection";
    if (problem) serve_problem(loop, messages, problem);
}

int view_watch(rbl_engine *engine, const view_settings *settings, const char *page, size_t page_size)
{
    view_loop loop = {.settings = settings, .page = page, .page_size = page_size};
    const cli_watch_hooks hooks = {&loop, on_open, on_close, on_load, on_begins, on_ended};
    cli_eval_settings s = {.graph = settings->file,
        .only = settings->node,
        .pairs = settings->pairs,
        .progress = "none",
        .progress_kind = PROGRESS_NONE,
        .watch = true,
        .hooks = &hooks};
    return cli_watch(engine, &s);
}
