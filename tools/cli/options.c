/// Options of commands: reading them, and saying what is wrong with them.

#include "tools/cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_WORD = 256 };

void cli_each_word(
    const char *words, char separator, void (*visit)(void *user, const char *word, size_t length), void *user)
{
    while (words && *words) {
        const char *end = strchr(words, separator);
        size_t length = end ? (size_t)(end - words) : strlen(words);
        if (length) visit(user, words, length);
        words = end ? end + 1 : NULL;
    }
}

void cli_tell_unknown(const char *what, const char *name, const char *const *candidates, size_t count)
{
    const char *nearest = rbl_nearest_name(name, candidates, count);
    cli_error("unknown %s \"%s\"", what, name);
    if (nearest) fprintf(stderr, "  did you mean \"%s\"?\n", nearest);
}

typedef struct nth_word {
    size_t index, wanted;
    char *word;
    size_t room;
} nth_word;

static void keep_nth(void *user, const char *word, size_t length)
{
    nth_word *n = user;
    if (n->index++ == n->wanted) snprintf(n->word, n->room, "%.*s", (int)length, word);
}

void cli_nth_word(const char *words, char separator, size_t index, char *out, size_t room)
{
    nth_word n = {.wanted = index, .word = out, .room = room};
    *out = '\0';
    cli_each_word(words, separator, keep_nth, &n);
}

static int usage_fault(const cli_command *command)
{
    fprintf(stderr, "`rubble %s --help` tells more\n", command->name);
    return EXIT_USAGE;
}

static void tell_unknown_option(const cli_command *command, const char *text, const char *name)
{
    const char *names[48];
    size_t count = 0;
    for (const cli_option *o = command->options; o->name && count < 47; o++)
        names[count++] = o->name;
    names[count++] = "help";
    const char *nearest = rbl_nearest_name(name, names, count);
    cli_error("unknown option \"%s\"", text);
    if (nearest) fprintf(stderr, "  did you mean --%s?\n", nearest);
}

static bool append(cli_list *list, const char *item)
{
    const char **items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (!items) return false;
    items[list->count++] = item;
    list->items = items;
    return true;
}

static bool parse_bytes(const char *text, size_t *out)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || end == text || strchr(text, '-')) return false;
    static const char suffixes[] = "KMG";
    const char *suffix = *end ? strchr(suffixes, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
    if (*end && (!suffix || end[1])) return false;
    unsigned shift = suffix ? (unsigned)(suffix - suffixes + 1) * 10 : 0;
    if (number > (SIZE_MAX >> shift)) return false;
    *out = (size_t)number << shift;
    return true;
}

/* ---- Words ---- */

typedef struct word_search {
    const char *wanted;
    bool found;
    char list[MOST_WORD]; /* "a, b or c" */
    size_t count, total;
} word_search;

static void count_word(void *user, const char *word, size_t length)
{
    word_search *s = user;
    s->total++;
    s->found = s->found || (strlen(s->wanted) == length && memcmp(s->wanted, word, length) == 0);
}

static void list_word(void *user, const char *word, size_t length)
{
    word_search *s = user;
    size_t used = strlen(s->list);
    const char *before = s->count == 0 ? "" : s->count + 1 == s->total ? " or " : ", ";
    snprintf(s->list + used, sizeof s->list - used, "%s%.*s", before, (int)length, word);
    s->count++;
}

static bool is_word(const char *words, const char *wanted, word_search *s)
{
    *s = (word_search){.wanted = wanted};
    cli_each_word(words, '|', count_word, s);
    cli_each_word(words, '|', list_word, s);
    return s->found;
}

/* ---- Values ---- */

static void tell_range(const cli_option *option, const char *value)
{
    if (option->most > 0)
        cli_error("--%s needs a number from %.15g to %.15g, not \"%s\"", option->name, option->least,
            option->most, value);
    else
        cli_error("--%s needs a number from %.15g, not \"%s\"", option->name, option->least, value);
}

static bool store_number(const cli_option *option, const char *value)
{
    char *end;
    errno = 0;
    bool whole = option->kind == CLI_NUMBER;
    long number = whole ? strtol(value, &end, 10) : 0;
    double real = whole ? (double)number : strtod(value, &end);
    if (errno || end == value || *end || !(real >= option->least) ||
        (option->most > 0 && real > option->most) || !isfinite(real)) {
        tell_range(option, value);
        return false;
    }
    if (whole)
        *(long *)option->target = number;
    else
        *(double *)option->target = real;
    return true;
}

/// Stores an option's value; false when it was reported as wrong.
static bool store(const cli_option *option, const char *value)
{
    word_search search;
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)option->target = true;
        return true;
    case CLI_TEXT:
        *(const char **)option->target = value;
        return true;
    case CLI_WORD:
        *(const char **)option->target = value;
        if (is_word(option->value, value, &search)) return true;
        cli_error("--%s takes %s, not \"%s\"", option->name, search.list, value);
        return false;
    case CLI_LIST:
        if (append(option->target, value)) return true;
        cli_error("%s", rbl_status_text(RBL_ERR_NO_MEMORY));
        return false;
    case CLI_NUMBER:
    case CLI_REAL:
        return store_number(option, value);
    case CLI_BYTES:
        if (parse_bytes(value, option->target)) return true;
        cli_error("--%s needs a number of bytes like 500M or 2G, not \"%s\"", option->name, value);
        return false;
    }
    return false;
}

/// One option at argv[*i], with its value behind it or behind '='. False when it was reported as wrong.
static bool parse_option(const cli_command *command, int argc, char **argv, int *i)
{
    const char *text = argv[*i];
    bool is_long = text[1] == '-';
    const char *name = text + (is_long ? 2 : 1), *equals = is_long ? strchr(name, '=') : NULL;
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const cli_option *option = command->options;
    while (
        option->name && !(is_long ? strlen(option->name) == length && memcmp(option->name, name, length) == 0
                                  : length == 1 && option->letter == *name))
        option++;
    if (!option->name) {
        tell_unknown_option(command, text, name);
        return false;
    }
    if (option->kind == CLI_FLAG) {
        if (equals) cli_error("--%s takes no value", option->name);
        return !equals && store(option, NULL);
    }
    if (!equals && *i + 1 >= argc) {
        cli_error("%s needs a value", text);
        return false;
    }
    return store(option, equals ? equals + 1 : argv[++*i]);
}

static void tell_missing(const cli_command *command, size_t index)
{
    word_search search;
    char takes[MOST_WORD];
    cli_nth_word(command->takes, ' ', index, takes, sizeof takes);
    if (strchr(takes, '|')) {
        is_word(takes, "", &search);
        cli_error("rubble %s needs %s", command->name, search.list);
    } else {
        cli_error("rubble %s needs a %s", command->name, strcmp(takes, "GRAPH") == 0 ? "graph file" : "file");
    }
}

/// A mesh where a graph is meant is a slip: its text would be taken for bad JSON.
static bool is_mesh_for_graph(const cli_command *command, const char *file)
{
    static const char *const endings[] = {
        ".obj", ".glb", ".gltf", ".stl", ".ply", ".off", ".rbl", ".fbx", ".dae", ".3mf"};
    const char *dot = file ? strrchr(file, '.') : NULL;
    if (!dot || !command->takes || strcmp(command->takes, "GRAPH") != 0) return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (strcasecmp(dot, endings[i]) != 0) continue;
        cli_error("rubble %s takes a graph (.json), and %s is a mesh: `rubble inspect` shows it",
            command->name, file);
        return true;
    }
    return false;
}

int cli_parse(const cli_command *command, int argc, char **argv)
{
    size_t count = 0;
    bool options_end = false;
    for (size_t i = 0; i < command->most_arguments; i++)
        command->arguments[i] = NULL;
    if (argc > 1 && strcmp(argv[1], "--help=man") == 0) return cli_print_man(command);
    if (argc > 1 && strcmp(argv[1], "--help=complete") == 0) return cli_complete(command, argc - 2, argv + 2);
    for (int i = 1; i < argc; i++) {
        if (!options_end && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0))
            return cli_print_help(command);
        if (!options_end && strcmp(argv[i], "--") == 0) {
            options_end = true;
        } else if (!options_end && argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(command, argc, argv, &i)) return usage_fault(command);
        } else if (count < command->most_arguments) {
            command->arguments[count++] = argv[i];
        } else {
            cli_error("too many arguments: \"%s\"", argv[i]);
            return usage_fault(command);
        }
    }
    if (count < command->least_arguments) {
        tell_missing(command, count);
        return usage_fault(command);
    }
    return count && is_mesh_for_graph(command, command->arguments[0]) ? EXIT_USAGE : -1;
}
