#ifndef RUBBLE_CLI_CLI_H
#define RUBBLE_CLI_CLI_H

/// What the commands share: options, messages, exit codes.

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "rubble/rubble.h"

enum {
    EXIT_DONE = 0,
    EXIT_EVALUATION = 1, /* an evaluation failed */
    EXIT_USAGE = 2,      /* usage, or an invalid graph */
    EXIT_FILE = 3,       /* a file that cannot be read, parsed or written */
    EXIT_CANCELLED = 130,
};

int cli_batch(int argc, char **argv);
int cli_cache(int argc, char **argv);
int cli_eval(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_dot(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_farm(int argc, char **argv);
int cli_fmt(int argc, char **argv);
int cli_inspect(int argc, char **argv);
int cli_migrate(int argc, char **argv);
int cli_nodes(int argc, char **argv);
int cli_schema(int argc, char **argv);
int cli_table(int argc, char **argv);
int cli_version(int argc, char **argv);
int cli_view(int argc, char **argv);

typedef enum cli_option_kind {
    CLI_FLAG,   /* bool */
    CLI_TEXT,   /* const char * */
    CLI_WORD,   /* const char *, one of the words of `value` */
    CLI_LIST,   /* cli_list: given several times */
    CLI_NUMBER, /* long, least … most */
    CLI_REAL,   /* double, least … most */
    CLI_BYTES,  /* size_t, with K, M or G behind it */
} cli_option_kind;

typedef struct cli_list {
    const char **items; /* freed by the command */
    size_t count;
} cli_list;

/// An option; the table ends with one without a name. Help, man page and completion are made of these tables.
typedef struct cli_option {
    const char *name; /* without dashes */
    cli_option_kind kind;
    void *target;
    const char
        *value; /* what stands for the value, and how it is completed: FILE, DIR, NODE, NAME=VALUE, a|b */
    const char *text;
    char letter;        /* a name of one letter, 0 for none */
    double least, most; /* most 0: no bound */
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *usage;    /* what stands behind the name; further ways to call it in lines of their own */
    const char *text;     /* paragraphs are lines; "- word: text" is an item */
    const char *examples; /* lines */
    const char
        *takes; /* arguments for completion and messages, by spaces: GRAPH, MODEL, MESH, DIR, TYPE, a|b */
    const cli_option *options;
    const char **arguments; /* [most_arguments] set to what stands without an option, NULL when missing */
    size_t least_arguments, most_arguments;
} cli_command;

enum { CLI_MOST_THREADS = 256 };

/* Options that several commands have. */
#define CLI_OPTION_SET(target)                                                                               \
    {                                                                                                        \
        "set", CLI_LIST, target, "NAME=VALUE",                                                               \
            "set a variable of the graph; paths are relative to the working folder"                          \
    }
#define CLI_OPTION_THREADS(target)                                                                           \
    {                                                                                                        \
        "threads", CLI_NUMBER, target, "N",                                                                  \
            "threads that compute (default 0: one per core); the result never depends on it",                \
            .most = CLI_MOST_THREADS                                                                         \
    }
#define CLI_OPTION_MEMORY(target)                                                                            \
    {                                                                                                        \
        "memory", CLI_BYTES, target, "BYTES",                                                                \
            "most memory, like 500M or 4G: what is remembered goes first, then the node that asks for more " \
            "fails (default 0: no limit)"                                                                    \
    }
#define CLI_OPTION_FAIL_ON(target)                                                                           \
    {                                                                                                        \
        "fail-on", CLI_WORD, target, "warning", "exit 1 when there is a warning"                             \
    }

/// Reads a command's arguments; argv[0] is its name. @return −1 to go on, else the exit code
int cli_parse(const cli_command *command, int argc, char **argv);
/// The text of --help, to stdout. @return exit code
int cli_print_help(const cli_command *command);
/// The command's part of the man page, to stdout.
int cli_print_man(const cli_command *command);
/// Text as man pages want it: backslashes, dashes and leading dots escaped, other than ASCII by number.
void cli_print_roff(const char *text);
/// What may stand in place of words[count − 1], which may be incomplete: one a line, a tab and what it means
/// behind it; "@files .ext…" and "@folders" leave it to the shell.
int cli_complete(const cli_command *command, int count, char **words);
/// Calls `visit` with each word between separators.
void cli_each_word(const char *words, char separator,
    void (*visit)(void *user, const char *word, size_t length), void *user);
/// The word of that number between separators, "" when there is none.
void cli_nth_word(const char *words, char separator, size_t index, char *out, size_t room);
/// `error: unknown WHAT "NAME"` and the nearest of the candidates.
void cli_tell_unknown(const char *what, const char *name, const char *const *candidates, size_t count);

/// Messages as a person reads them, on stderr; colours on a terminal unless NO_COLOR is set.
void cli_print_messages(const rbl_messages *messages);
/// Only those down to severity `least`.
void cli_print_messages_down_to(const rbl_messages *messages, rbl_severity least);
/// Messages of a run of cli_load_file_graph down to severity `least`, as `error: file: text`: that graph has
/// no place that a person could look at.
void cli_print_file_messages(const char *file, const rbl_messages *messages, rbl_severity least);
/// `error: …` on stderr, with a line feed.
void cli_error(const char *format, ...) RBL_PRINTF(1, 2);
int cli_exit_code(rbl_status status);
/// The error of a status without messages; `memory_bytes` NULL or 0: there is no limit.
void cli_tell_status(rbl_status status, const size_t *memory_bytes);
enum { CLI_PATH_BYTES = 4096 };
/// Path of a program that lies beside this one. @return false when the folder is not known
bool cli_find_program(const char *name, char path[CLI_PATH_BYTES]);
/// Creates an engine, or says why not and gives NULL.
rbl_engine *cli_engine(long thread_count, const size_t *memory_bytes);
/// The same with a folder that keeps results between processes; `cache_folder` NULL: none.
rbl_engine *cli_engine_with_cache(
    long thread_count, const size_t *memory_bytes, const char *cache_folder, const size_t *cache_bytes);
/// Says why an engine cannot be started.
void cli_engine_fault(rbl_status status, const char *cache_folder);
/// The exit code then: of a server's address nothing but its text can be wrong.
int cli_engine_exit_code(const char *cache_folder);
bool cli_is_server(const char *cache_folder);
/// Sets NAME=VALUE pairs; what is wrong is printed. @return exit code
int cli_set_variables(rbl_graph *graph, const cli_list *pairs);
/// The same; what is wrong goes to the list.
int cli_set_variables_quietly(rbl_graph *graph, const cli_list *pairs, rbl_messages **messages);
/// Makes a graph whose one node, "file", reads a mesh or a .rbl file; what is wrong is printed. @return exit
/// code; *graph is set on EXIT_DONE only
int cli_load_file_graph(rbl_engine *engine, const char *file, rbl_graph **graph);
/// Writes text to stdout; @return EXIT_DONE, or EXIT_FILE with a message
int cli_print(const char *text);
/// Writes a JSON string with quotes.
void cli_json_string(FILE *file, const char *text);
/// "" for one, else "s"
const char *cli_plural(size_t count);
/// "12.3 kB"
const char *cli_bytes(size_t bytes, char buffer[32]);

#endif
