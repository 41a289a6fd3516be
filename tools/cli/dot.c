/// rubble dot: a graph as DOT or mermaid, coloured by what a run made of its nodes.

#include "tools/cli/cli.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/files.h"

static const struct {
    const char *outcome, *name, *color;
} outcomes[] = {{"ran", "ran", "#9ecae1"}, {"memory hit", "hit", "#c7e9c0"}, {"disk hit", "hit", "#c7e9c0"},
    {"same output", "same", "#fff2ae"}, {"skipped", "skipped", "#d9d9d9"},
    {"not needed", "unneeded", "#f0f0f0"}, {"failed", "failed", "#fb9a99"}};
enum { OUTCOME_COUNT = sizeof outcomes / sizeof *outcomes };

/// What a report says about a node.
typedef struct node_run {
    const char *outcome; /* NULL: nothing */
    double wall_ms;
} node_run;

/// A report as JSON, which the caller deletes; NULL when it was reported as wrong.
static cJSON *read_report(const char *path)
{
    size_t bytes = 0;
    char *text = cli_read_file(path, &bytes);
    if (!text) return NULL;
    cJSON *report = cJSON_Parse(text);
    free(text);
    if (cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(report, "nodes"))) return report;
    cJSON_Delete(report);
    cli_error("%s: is no report of rubble eval", path);
    return NULL;
}

static node_run find_run(const cJSON *report, const char *id)
{
    const cJSON *node;
    cJSON_ArrayForEach(node, cJSON_GetObjectItemCaseSensitive(report, "nodes"))
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(node, "node"));
        if (!name || strcmp(name, id) != 0) continue;
        const cJSON *wall = cJSON_GetObjectItemCaseSensitive(node, "wall_ms");
        return (node_run){cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(node, "outcome")),
            cJSON_IsNumber(wall) ? wall->valuedouble : 0};
    }
    return (node_run){NULL, 0};
}

static size_t find_outcome(const node_run *run)
{
    size_t i = 0;
    while (i < OUTCOME_COUNT && (!run->outcome || strcmp(outcomes[i].outcome, run->outcome) != 0))
        i++;
    return i;
}

/// A text inside the quotes of a label.
static void print_quoted(const char *text, bool mermaid)
{
    for (const char *c = text; *c; c++) {
        if (mermaid && strchr("\"<>#&", *c))
            printf("#%d;", *c);
        else if (!mermaid && (*c == '"' || *c == '\\'))
            printf("\\%c", *c);
        else if ((unsigned char)*c >= 0x20)
            putchar(*c);
    }
}

static void print_label(const char *id, const char *type, const node_run *run, bool mermaid)
{
    const char *line = mermaid ? "<br/>" : "\\n";
    print_quoted(id, mermaid);
    fputs(line, stdout);
    print_quoted(type, mermaid);
    if (!run->outcome) return;
    fputs(line, stdout);
    print_quoted(run->outcome, mermaid);
    if (run->wall_ms > 0) printf(", %.*f ms", run->wall_ms < 10 ? 1 : 0, run->wall_ms);
}

static void print_node(const rbl_graph *graph, size_t node, const cJSON *report, bool mermaid)
{
    const char *id = rbl_graph_node_id(graph, node);
    node_run run = find_run(report, id);
    size_t outcome = find_outcome(&run);
    printf(mermaid ? "  n%zu[\"" : "  n%zu [label=\"", node);
    print_label(id, rbl_graph_node_desc(graph, node)->type, &run, mermaid);
    if (mermaid) {
        printf("\"]%s%s\n", outcome < OUTCOME_COUNT ? ":::" : "",
            outcome < OUTCOME_COUNT ? outcomes[outcome].name : "");
    } else {
        printf("\"");
        if (outcome < OUTCOME_COUNT) printf(", style=filled, fillcolor=\"%s\"", outcomes[outcome].color);
        printf("];\n");
    }
}

static void print_edges(const rbl_graph *graph, size_t node, bool mermaid)
{
    rbl_connection c;
    for (size_t i = 0; rbl_graph_connection(graph, node, i, &c) == RBL_OK; i++) {
        const char *to = c.to_port ? c.to_port : "parameter";
        if (mermaid)
            printf("  n%zu -->|%s| n%zu\n", c.from, to, node);
        else
            printf("  n%zu -> n%zu [label=\"%s\", tooltip=\"%s\"%s];\n", c.from, node, to, c.from_port,
                c.to_port ? "" : ", style=dashed");
    }
}

static int print_graph(const rbl_graph *graph, const cJSON *report, bool mermaid)
{
    size_t count = rbl_graph_node_count(graph);
    if (mermaid) {
        printf("flowchart LR\n");
    } else {
        printf("digraph \"");
        print_quoted(rbl_graph_file(graph), false);
        printf("\" {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n"
               "  edge [fontname=\"sans-serif\", fontsize=10];\n");
    }
    for (size_t i = 0; i < count; i++)
        print_node(graph, i, report, mermaid);
    for (size_t i = 0; i < count; i++)
        print_edges(graph, i, mermaid);
    for (size_t i = 0; mermaid && report && i < OUTCOME_COUNT; i++)
        if (i == 0 || strcmp(outcomes[i].name, outcomes[i - 1].name) != 0)
            printf("  classDef %s fill:%s\n", outcomes[i].name, outcomes[i].color);
    if (!mermaid) printf("}\n");
    if (fflush(stdout) == 0) return EXIT_DONE;
    cli_error("standard output: %s", strerror(errno));
    return EXIT_FILE;
}

static int draw(
    rbl_engine *engine, const char *file, const cli_list *pairs, const cJSON *report, bool mermaid)
{
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    rbl_status status = rbl_graph_load_file(engine, file, &messages, &graph);
    cli_print_messages(messages);
    int code = cli_exit_code(status);
    if (status != RBL_OK && !rbl_messages_count_of(messages, RBL_ERROR))
        cli_error("%s", rbl_status_text(status));
    if (code == EXIT_DONE) code = cli_set_variables(graph, pairs);
    if (code == EXIT_DONE) code = print_graph(graph, report, mermaid);
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
    return code;
}

int cli_dot(int argc, char **argv)
{
    const char *graph = NULL, *format = "dot", *report_file = NULL;
    cli_list pairs = {0};
    cJSON *report = NULL;
    const cli_option options[] = {{"format", CLI_WORD, &format, "dot|mermaid", "default: dot"},
        {"report", CLI_TEXT, &report_file, "FILE",
            "a report of `rubble eval --report`: times, and outcomes as colours"},
        CLI_OPTION_SET(&pairs), {0}};
    const cli_command command = {.name = "dot",
        .usage = "GRAPH [options]",
        .text = "Prints the nodes of a graph and their connections, to be drawn by Graphviz or mermaid.",
        .examples = "rubble dot graphs/wall.json | dot -Tsvg -o wall.svg",
        .takes = "GRAPH",
        .options = options,
        .arguments = &graph,
        .least_arguments = 1,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    bool mermaid = strcmp(format, "mermaid") == 0;
    if (code < 0 && report_file) {
        report = read_report(report_file);
        if (!report) code = EXIT_FILE;
    }
    if (code < 0) {
        rbl_engine *engine = cli_engine(1, NULL);
        code = engine ? draw(engine, graph, &pairs, report, mermaid) : EXIT_EVALUATION;
        rbl_engine_destroy(engine);
    }
    cJSON_Delete(report);
    free(pairs.items);
    return code;
}
