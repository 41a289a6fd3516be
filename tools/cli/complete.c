/// What may stand where the cursor is: one program for the completion of all shells.

#include "tools/cli/cli.h"

#include <stdlib.h>
#include <string.h>

/// What is to be completed.
typedef struct completion {
    const cli_command *command;
    const char *prefix; /* as much as is there */
    const char *graph;  /* first argument that is no option, NULL when there is none */
    const char *lead;   /* "--name=" when that stands before the prefix in the same word, else "" */
    size_t lead_length;
} completion;

static void offer(const completion *c, const char *text, size_t length, const char *meaning)
{
    size_t prefix = strlen(c->prefix);
    if (length < prefix || memcmp(text, c->prefix, prefix) != 0) return;
    printf("%.*s%.*s%s%s\n", (int)c->lead_length, c->lead, (int)length, text, meaning && *meaning ? "\t" : "",
        meaning ? meaning : "");
}

static void offer_word(void *user, const char *word, size_t length)
{
    offer(user, word, length, NULL);
}

static void offer_types(const completion *c)
{
    rbl_engine *engine = cli_engine(1, NULL);
    for (size_t i = 0; engine && i < rbl_engine_node_count(engine); i++) {
        const rbl_node_desc *desc = rbl_engine_node(engine, i);
        if (rbl_engine_find_node(engine, desc->type, 0) == desc)
            offer(c, desc->type, strlen(desc->type), desc->text);
    }
    rbl_engine_destroy(engine);
}

static void offer_of_graph(const completion *c, bool variables)
{
    rbl_engine *engine = c->graph ? cli_engine(1, NULL) : NULL;
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    if (engine && rbl_graph_load_file(engine, c->graph, &messages, &graph) == RBL_OK) {
        for (size_t i = 0; !variables && i < rbl_graph_node_count(graph); i++) {
            const char *id = rbl_graph_node_id(graph, i);
            offer(c, id, strlen(id), rbl_graph_node_desc(graph, i)->type);
        }
        for (size_t i = 0; variables && i < rbl_graph_variable_count(graph); i++) {
            char name[128];
            snprintf(name, sizeof name, "%s=", rbl_graph_variable_name(graph, i));
            offer(c, name, strlen(name), rbl_graph_variable_type(graph, i));
        }
    }
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
    rbl_engine_destroy(engine);
}

/// Values by the word that stands for them in the help.
static void offer_values(completion *c, const char *value)
{
    static const struct {
        const char *value, *answer;
    } files[] = {
        {"GRAPH", "@files .json .jsonc"},
        {"MANIFEST.json", "@files .json .jsonc"},
        {"MESH", "@files .obj .glb .gltf .stl .ply .off .fbx .dae .3mf .rbl"},
        {"MODEL", "@files .obj .glb .gltf .stl .ply .off .fbx .dae .3mf .rbl .json .jsonc"},
        {"DIR", "@folders"},
    };
    if (strchr(value, '|')) {
        cli_each_word(value, '|', offer_word, c);
        return;
    }
    if (strcmp(value, "TYPE") == 0) {
        offer_types(c);
        return;
    }
    if (strcmp(value, "NODE") == 0 || strncmp(value, "NAME=", 5) == 0) {
        offer_of_graph(c, *value == 'N' && value[1] == 'A');
        return;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(value, files[i].value) == 0) {
            printf("%s\n", files[i].answer);
            return;
        }
    if (strcmp(value, "warning") == 0)
        offer(c, value, strlen(value), NULL);
    else if (strstr(value, "FILE") || strchr(value, '.'))
        printf("@files\n");
}

static const cli_option *find_option(const cli_command *command, const char *word)
{
    bool is_long = word[0] == '-' && word[1] == '-';
    size_t length = strcspn(word + 2 * is_long, "=");
    for (const cli_option *o = command->options; o->name; o++)
        if (is_long ? strlen(o->name) == length && strncmp(o->name, word + 2, length) == 0
                    : o->letter && word[0] == '-' && word[1] == o->letter && !word[2])
            return o;
    return NULL;
}

static void offer_options(const completion *c)
{
    for (const cli_option *o = c->command->options; o->name; o++) {
        char name[64];
        snprintf(name, sizeof name, "--%s", o->name);
        offer(c, name, strlen(name), o->text);
    }
    offer(c, "--help", 6, "print a text on the command");
}

static void offer_argument(completion *c, size_t index)
{
    char value[128];
    if (index >= c->command->most_arguments) return;
    cli_nth_word(c->command->takes, ' ', index, value, sizeof value);
    if (*value) offer_values(c, value);
}

int cli_complete(const cli_command *command, int count, char **words)
{
    completion c = {.command = command, .prefix = count > 0 ? words[count - 1] : "", .lead = ""};
    size_t arguments = 0;
    const cli_option *waiting = NULL; /* an option whose value comes next */
    bool options_end = false;
    for (int i = 0; i + 1 < count; i++) {
        if (waiting) {
            waiting = NULL;
        } else if (!options_end && strcmp(words[i], "--") == 0) {
            options_end = true;
        } else if (!options_end && words[i][0] == '-' && words[i][1]) {
            const cli_option *option = find_option(command, words[i]);
            if (option && option->kind != CLI_FLAG && !strchr(words[i], '=')) waiting = option;
        } else {
            if (arguments++ == 0) c.graph = words[i];
        }
    }
    const char *equals = strncmp(c.prefix, "--", 2) == 0 ? strchr(c.prefix, '=') : NULL;
    if (!waiting && equals && !options_end) {
        waiting = find_option(command, c.prefix);
        c.lead = c.prefix;
        c.lead_length = (size_t)(equals - c.prefix) + 1;
        c.prefix = equals + 1;
        if (!waiting) return EXIT_DONE;
    }
    if (waiting)
        offer_values(&c, waiting->value ? waiting->value : "");
    else if (c.prefix[0] == '-' && !options_end)
        offer_options(&c);
    else
        offer_argument(&c, arguments);
    return cli_print("");
}
