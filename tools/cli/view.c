/// rubble view: writes a page to look at a mesh, a collection or a graph's result, and to break it.

#include "tools/cli/view.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/cli/files.h"
#include "tools/cli/model.h"

/* ---- Files ---- */

static int write_page(const char *path, const view_bytes *page)
{
    char bytes[32];
    if (!cli_write_file(path, page->data, page->size)) return EXIT_FILE;
    printf("wrote %s (%s)\n", path, cli_bytes(page->size, bytes));
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FILE;
}

/* ---- What is shown ---- */

/// Writes the page for a value. @return exit code
static int show(const rbl_collection *collection, const view_settings *s, const char *page, size_t page_size)
{
    view_bytes data = {0}, filled = {0};
    char *made = s->output ? NULL : cli_name_with_ending(s->file, ".html");
    const char *output = s->output ? s->output : made;
    int code = EXIT_EVALUATION;
    const char *problem = view_write_data(collection, cli_base_name(s->file), NULL, &data);
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
    cli_model model;
    cli_model_request request = {
        .file = s->file, .node = s->node, .pairs = &s->pairs, .output = s->output, .least = RBL_WARNING};
    int code = cli_load_model(engine, &request, &model);
    if (code == EXIT_DONE) code = show(model.collection, s, page, page_size);
    cli_free_model(&model);
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
        .text = "Writes one HTML file that shows a mesh (.obj .glb .gltf .stl .ply .off .fbx .dae .3mf), a "
                "collection "
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
