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
int cli_version(int argc, char **argv);
int cli_view(int argc, char **argv);

typedef enum cli_option_kind {
    CLI_FLAG,   /* bool */
    CLI_TEXT,   /* const char * */
    CLI_LIST,   /* cli_list: given several times */
    CLI_NUMBER, /* long, from 0 */
    CLI_BYTES,  /* size_t, with K, M or G behind it */
} cli_option_kind;

typedef struct cli_list {
    const char **items; /* freed by the command */
    size_t count;
} cli_list;

/// An option; the table ends with one without a name. `name` without dashes; one letter is written with one
/// dash.
typedef struct cli_option {
    const char *name;
    cli_option_kind kind;
    void *target;
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *help; /* the whole text of --help, ended by a line feed */
    const cli_option *options;
    const char **arguments; /* [most_arguments] set to what stands without an option, NULL when missing */
    size_t least_arguments, most_arguments;
} cli_command;

/// Reads a command's arguments; argv[0] is its name. @return −1 to go on, else the exit code
int cli_parse(const cli_command *command, int argc, char **argv);

/// Messages as a person reads them, on stderr; colours on a terminal unless NO_COLOR is set.
void cli_print_messages(const rbl_messages *messages);
/// Messages of a run of cli_load_file_graph down to severity `least`, as `error: file: text`: that graph has
/// no place that a person could look at.
void cli_print_file_messages(const char *file, const rbl_messages *messages, rbl_severity least);
/// `error: …` on stderr, with a line feed.
void cli_error(const char *format, ...) RBL_PRINTF(1, 2);
int cli_exit_code(rbl_status status);
enum { CLI_PATH_BYTES = 4096 };
/// Path of a program that lies beside this one. @return false when the folder is not known
bool cli_find_program(const char *name, char path[CLI_PATH_BYTES]);
/// Creates an engine, or says why not and gives NULL.
rbl_engine *cli_engine(long thread_count, const size_t *memory_bytes);
/// The same with a folder that keeps results between processes; `cache_folder` NULL: none.
rbl_engine *cli_engine_with_cache(
    long thread_count, const size_t *memory_bytes, const char *cache_folder, const size_t *cache_bytes);
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
/// "12.3 kB"
const char *cli_bytes(size_t bytes, char buffer[32]);

#endif
