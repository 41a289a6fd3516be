/// rubble nodes: the node types, for people.

#include "tools/cli/cli.h"

#include <stdlib.h>
#include <string.h>

static int compare_families(const void *a, const void *b)
{
    const rbl_node_desc *x = *(const rbl_node_desc *const *)a, *y = *(const rbl_node_desc *const *)b;
    int order = strcmp(x->family, y->family);
    if (!order) order = strcmp(x->type, y->type);
    return order ? order : x->version - y->version;
}

static int list_types(const rbl_engine *engine)
{
    size_t count = rbl_engine_node_count(engine);
    const rbl_node_desc **types = malloc((count + 1) * sizeof *types);
    if (!types) return EXIT_EVALUATION;
    for (size_t i = 0; i < count; i++)
        types[i] = rbl_engine_node(engine, i);
    if (count) qsort(types, count, sizeof *types, compare_families);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(types[i]->family, types[i - 1]->family) != 0)
            printf("%s%s\n", i ? "\n" : "", types[i]->family);
        bool newest = rbl_engine_find_node(engine, types[i]->type, 0) == types[i];
        char name[128];
        snprintf(name, sizeof name, newest ? "%s" : "%s@%d", types[i]->type, types[i]->version);
        printf("  %-26s %s\n", name, types[i]->text ? types[i]->text : "");
    }
    free(types);
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FILE;
}

static void print_ports(const char *title, const rbl_port_desc *ports, bool inputs)
{
    if (!ports || !ports[0].name) return;
    printf("\n%s\n", title);
    for (const rbl_port_desc *p = ports; p->name; p++)
        printf("  %-24s %s%s%s  %s\n", p->name, rbl_value_kind_text(p->kind), p->several ? "…" : "",
            inputs && !p->optional ? ", required" : "", p->text ? p->text : "");
}

static void print_range(const rbl_param_desc *p)
{
    const double unbounded = 1e15;
    bool below = p->min<-unbounded, above = p->max> unbounded;
    if ((p->min == 0 && p->max == 0) || (below && above)) return;
    if (above)
        printf(" (at least %.15g)", p->min);
    else if (below)
        printf(" (at most %.15g)", p->max);
    else
        printf(" (%.15g … %.15g)", p->min, p->max);
}

static void print_params(const rbl_param_desc *params, int depth)
{
    for (const rbl_param_desc *p = params; p && p->name; p++) {
        printf("  %*s%-*s %s%s", depth * 2, "", 24 - depth * 2, p->name, p->list ? "list of " : "",
            rbl_param_type_text(p->type));
        if (p->default_json)
            printf(" = %s", p->default_json);
        else
            printf(p->optional ? ", optional" : ", required");
        if (p->unit && *p->unit) printf(" %s", p->unit);
        print_range(p);
        if (p->type == RBL_PARAM_ENUM) {
            printf(" (");
            for (size_t i = 0; p->words[i]; i++)
                printf("%s%s", i ? " | " : "", p->words[i]);
            printf(")");
        }
        printf("  %s\n", p->text ? p->text : "");
        if (p->type == RBL_PARAM_OBJECT) print_params(p->fields, depth + 1);
    }
}

static int show_type(const rbl_node_desc *desc)
{
    printf(
        "%s (version %d, %s)\n%s\n", desc->type, desc->version, desc->family, desc->text ? desc->text : "");
    if (desc->details) printf("\n%s\n", desc->details);
    print_ports("in", desc->inputs, true);
    print_ports("out", desc->outputs, false);
    if (desc->params && desc->params[0].name) {
        printf("\nparams\n");
        print_params(desc->params, 0);
    }
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FILE;
}

static int print_json(const rbl_engine *engine, const char *type)
{
    char *text = NULL;
    rbl_status status = rbl_engine_nodes_json(engine, type, &text);
    if (status != RBL_OK) {
        cli_error("%s", rbl_status_text(status));
        return EXIT_EVALUATION;
    }
    int code = cli_print(text);
    rbl_engine_free_text(engine, text);
    return code;
}

int cli_nodes(int argc, char **argv)
{
    bool json = false;
    const char *type = NULL;
    const cli_option options[] = {{"json", CLI_FLAG, &json, NULL, "print it as JSON"}, {0}};
    const cli_command command = {.name = "nodes",
        .usage = "[TYPE] [options]",
        .text = "Lists the node types, or shows the ports and parameters of one.",
        .examples = "rubble nodes\nrubble nodes VoronoiFracture",
        .takes = "TYPE",
        .options = options,
        .arguments = &type,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    if (code >= 0) return code;
    rbl_engine *engine = cli_engine(1, NULL);
    if (!engine) return EXIT_EVALUATION;
    const rbl_node_desc *desc = type ? rbl_engine_find_node(engine, type, 0) : NULL;
    if (type && !desc) {
        const char *nearest = rbl_engine_nearest_node(engine, type);
        cli_error("unknown node type \"%s\"", type);
        if (nearest) fprintf(stderr, "  did you mean \"%s\"?\n", nearest);
        code = EXIT_USAGE;
    } else if (json) {
        code = print_json(engine, type);
    } else {
        code = desc ? show_type(desc) : list_types(engine);
    }
    rbl_engine_destroy(engine);
    return code;
}
