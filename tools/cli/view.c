/// rubble view: writes a page to look at a mesh, a collection or a graph's result, and to break it.

#include "tools/cli/view.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/cli/files.h"

/* ---- Files ---- */

static const char *extension(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot : "";
}

bool view_is_graph(const char *file)
{
    return strcasecmp(extension(file), ".json") == 0 || strcasecmp(extension(file), ".jsonc") == 0;
}

const char *view_title(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static char *default_output(const char *file)
{
    const char *name = view_title(file);
    size_t length = strlen(name) - strlen(extension(name));
    char *out = malloc(length + 6);
    if (out) sprintf(out, "%.*s.html", (int)length, name);
    return out;
}

static int write_page(const char *path, const view_bytes *page)
{
    char bytes[32];
    if (!cli_write_file(path, page->data, page->size)) return EXIT_FILE;
    printf("wrote %s (%s)\n", path, cli_bytes(page->size, bytes));
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FILE;
}

/* ---- What is shown ---- */

static int load_graph(rbl_engine *engine, const char *file, rbl_graph **graph)
{
    if (!view_is_graph(file)) return cli_load_file_graph(engine, file, graph);
    rbl_messages *messages = NULL;
    rbl_status status = rbl_graph_load_file(engine, file, &messages, graph);
    cli_print_messages(messages);
    if (status != RBL_OK && !rbl_messages_count_of(messages, RBL_ERROR))
        cli_error("%s: %s", file, rbl_status_text(status));
    rbl_messages_destroy(messages);
    return cli_exit_code(status);
}

const char *view_choose_node(const rbl_graph *graph, const char *asked)
{
    if (asked) return asked;
    for (size_t i = rbl_graph_node_count(graph); i-- > 0;) {
        const rbl_port_desc *outputs = rbl_graph_node_desc(graph, i)->outputs;
        if (outputs && outputs[0].name && outputs[0].kind == RBL_VALUE_COLLECTION)
            return rbl_graph_node_id(graph, i);
    }
    return NULL;
}

static int evaluate(rbl_graph *graph, const char *file, const char *node, rbl_run **run)
{
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.only_node = node;
    rbl_status status = rbl_evaluate(graph, &options, run);
    if (!*run)
        cli_error("node \"%s\": %s", node, rbl_status_text(status));
    else if (view_is_graph(file))
        cli_print_messages(rbl_run_messages(*run));
    else
        cli_print_file_messages(file, rbl_run_messages(*run), RBL_WARNING);
    return cli_exit_code(status);
}

/// Writes the page for a value. @return exit code
static int show(const rbl_collection *collection, const view_settings *s, const char *page, size_t page_size)
{
    view_bytes data = {0}, filled = {0};
    char *made = s->output ? NULL : default_output(s->file);
    const char *output = s->output ? s->output : made;
    const char *problem = "there is no collection to show";
    int code = EXIT_EVALUATION;
    if (collection) problem = view_write_data(collection, view_title(s->file), NULL, &data);
    if (!problem && (!output || !view_fill_page(page, page_size, &data, &filled))) problem = "out of memory";
    if (problem)
        cli_error("%s: %s", s->file, problem);
    else
        code = write_page(output, &filled);
    free(data.data);
    free(filled.data);
    free(made);
    return code;
}

static int load_and_show(rbl_engine *engine, const view_settings *s, const char *page, size_t page_size)
{
    rbl_graph *graph = NULL;
    rbl_run *run = NULL;
    const char *node = NULL;
    int code = load_graph(engine, s->file, &graph);
    if (code == EXIT_DONE) code = cli_set_variables(graph, &s->pairs);
    if (code == EXIT_DONE && !(node = view_choose_node(graph, s->node))) {
        cli_error("%s: no node gives a collection", s->file);
        code = EXIT_USAGE;
    }
    if (code == EXIT_DONE) code = evaluate(graph, s->file, node, &run);
    if (code == EXIT_DONE) {
        const rbl_value *value = rbl_run_value(run, node);
        code = show(value ? rbl_value_collection(value) : NULL, s, page, page_size);
    }
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    return code;
}

int cli_view(int argc, char **argv)
{
    view_settings s = {0};
    const cli_option options[] = {
        {"out", CLI_TEXT, &s.output, "PAGE.html",
            "file to write (default: FILE's name with .html, in the working folder)", .letter = 'o'},
        {"watch", CLI_FLAG, &s.watch, NULL,
            "serve the page on this machine, and load it anew whenever the graph or a file that it reads "
            "changes, until Ctrl-C"},
        {"port", CLI_NUMBER, &s.port, "N", "of --watch (default 8177, another one when that is taken)",
            .most = 65535},
        {"node", CLI_TEXT, &s.node, "NODE",
            "of a graph: the node to show (default: the last one that gives a collection)"},
        CLI_OPTION_SET(&s.pairs), CLI_OPTION_MEMORY(&s.memory), CLI_OPTION_THREADS(&s.threads), {0}};
    const cli_command command = {.name = "view",
        .usage = "FILE [-o PAGE.html | --watch] [options]",
        .text = "Writes one HTML file that shows a mesh (.obj .glb .gltf .stl .ply .off), a collection "
                "(.rbl) or the result of a graph (.json "
                ".jsonc): turn it, pull it apart, look at hulls and connections, break it. It needs no "
                "network and no other file.",
        .examples = "rubble view graphs/wall.json --set stones=200 -o wall.html\nrubble view "
                    "graphs/wall.json --watch",
        .takes = "MODEL",
        .options = options,
        .arguments = &s.file,
        .least_arguments = 1,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    if (code < 0 && ((s.watch && s.output) || (!s.watch && s.port))) {
        cli_error(s.watch ? "--watch serves the page; it takes no -o" : "--port needs --watch");
        code = EXIT_USAGE;
    }
    if (code < 0 && cli_would_replace(s.output, s.file)) code = EXIT_USAGE;
    if (code < 0) {
        size_t page_size = 0;
        char *page = view_load_page(&page_size); /* before an evaluation that may take long */
        rbl_engine *engine = page ? cli_engine(s.threads, &s.memory) : NULL;
        if (!page || !engine)
            code = !page ? EXIT_FILE : EXIT_EVALUATION;
        else
            code = s.watch ? view_watch(engine, &s, page, page_size)
                           : load_and_show(engine, &s, page, page_size);
        rbl_engine_destroy(engine);
        free(page);
    }
    free(s.pairs.items);
    return code;
}
