/// The command: finds what to do and leaves it to the file of that name.

#include "tools/cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef RUBBLE_HAS_RENDER
/// Becomes `rubble-render`, which lies beside this program.
static int become_render(int argc, char **argv)
{
    char path[CLI_PATH_BYTES];
    (void)argc;
    if (!cli_find_program("rubble-render", path)) {
        cli_error("the folder of rubble and rubble-render cannot be found");
        return EXIT_FILE;
    }
    execv(path, argv);
    cli_error("%s: %s", path, strerror(errno));
    return EXIT_FILE;
}
#endif

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *text;
} commands[] = {
    {"batch", cli_batch, "evaluate graphs with many values of their variables"},
    {"cache", cli_cache, "count, check, trim or clear the folder of --cache"},
    {"check", cli_check, "look for mistakes in a graph without running it"},
    {"dot", cli_dot, "draw a graph as DOT or mermaid, with times and outcomes of a run"},
    {"eval", cli_eval, "evaluate a graph and write its files"},
    {"explain", cli_explain, "say what an evaluation would run, and why"},
    {"farm", cli_farm, "make a batch on the machines of Slurm or Kubernetes"},
    {"fmt", cli_fmt, "write graph files in their canonical form"},
    {"inspect", cli_inspect, "show what is in a mesh or a .rbl file"},
    {"migrate", cli_migrate, "turn nodes of old versions in a graph file into the newest"},
    {"nodes", cli_nodes, "list the node types, or show one"},
#ifdef RUBBLE_HAS_RENDER
    {"render", become_render, "draw a mesh, a .rbl file or a graph's result as a PNG"},
#endif
    {"schema", cli_schema, "print the JSON schema of graph files"},
    {"table", cli_table, "print attributes of a mesh, a .rbl file or a graph's result"},
    {"version", cli_version, "print the version"},
    {"view", cli_view, "write a page to look at a mesh, a .rbl file or a graph's result"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const struct {
    const char *number, *text;
} exit_codes[] = {
    {"0", "done"},
    {"1", "an evaluation failed, or there was a warning and --fail-on warning was given"},
    {"2", "usage, or an invalid graph"},
    {"3", "a file that cannot be read, parsed or written"},
    {"130", "cancelled"},
};
enum { EXIT_CODE_COUNT = sizeof exit_codes / sizeof *exit_codes };

static int print_help(void)
{
    printf(
        "rubble %s: breaks meshes as a graph file says\n\nusage: rubble COMMAND …\n\n", rbl_version_text());
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-9s %s\n", commands[i].name, commands[i].text);
    printf("\n`rubble COMMAND --help` or `rubble help COMMAND` tells more. A first step:\n\n"
           "  rubble eval graphs/box.json --out out\n"
           "  rubble inspect out/box.rbl\n\n"
           "exit code:\n");
    for (size_t i = 0; i < EXIT_CODE_COUNT; i++)
        printf("  %-3s  %s\n", exit_codes[i].number, exit_codes[i].text);
    return cli_print("");
}

/// The part of one command; in a process of its own, which may become another program.
static int print_man_of(size_t command)
{
    static char man_option[] = "--help=man";
    char name[16];
    snprintf(name, sizeof name, "%s", commands[command].name);
    char *asked[] = {name, man_option, NULL};
    if (fflush(stdout) != 0) return EXIT_FILE;
    int status = 0;
    pid_t child = fork();
    if (child == 0) _exit(commands[command].run(2, asked));
    if (child < 0 || waitpid(child, &status, 0) != child) return EXIT_FILE;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FILE;
}

/// The man page, section 1, of the tables that --help is made of.
static int print_man(void)
{
    printf(".TH RUBBLE 1 \"\" \"rubble %s\"\n.SH NAME\nrubble \\- break meshes as a graph file says\n"
           ".SH SYNOPSIS\n.B rubble\n.I COMMAND\n.RI [ ARGUMENTS ]\n.SH DESCRIPTION\n"
           "rubble breaks meshes into pieces. A graph file, JSON, says how: which mesh, where the cracks go, "
           "how "
           "pieces are\ngrouped, which hulls they get. rubble evaluates it, keeps every intermediate result, "
           "and "
           "after a change runs\nonly what the change reaches.\n.PP\n"
           "Results go to standard output, messages and progress to standard error.\n.SH COMMANDS\n",
        rbl_version_text());
    int code = EXIT_DONE;
    for (size_t i = 0; i < COMMAND_COUNT && code == EXIT_DONE; i++)
        code = print_man_of(i);
    printf(".SH EXIT STATUS\n");
    for (size_t i = 0; i < EXIT_CODE_COUNT; i++)
        printf(".TP\n.B %s\n%s\n", exit_codes[i].number, exit_codes[i].text);
    printf(".SH ENVIRONMENT\n.TP\n.B RUBBLE_CACHE\nfolder for results, as of \\-\\-cache\n"
           ".TP\n.B NO_COLOR\nwhen set, messages have no colours\n"
           ".SH SEE ALSO\n.BR dot (1)\n.PP\nThe documentation of nodes and graph files comes with the "
           "source, in docs/.\n");
    int printed = cli_print("");
    return code == EXIT_DONE ? printed : code;
}

static int find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) return (int)i;
    return -1;
}

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    cli_tell_unknown("command", name, names, COMMAND_COUNT);
    fprintf(stderr, "  commands: ");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stderr, "%s%s", i ? ", " : "", commands[i].name);
    fprintf(stderr, "\n");
    return EXIT_USAGE;
}

static void offer_commands(const char *prefix)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strncmp(commands[i].name, prefix, strlen(prefix)) == 0)
            printf("%s\t%s\n", commands[i].name, commands[i].text);
    if (*prefix && strncmp("help", prefix, strlen(prefix)) == 0) printf("help\tsay more of a command\n");
}

/// `rubble --complete WORD…`: what may stand in place of the last word, for the completion of shells.
static int complete(int count, char **words)
{
    static char complete_option[] = "--help=complete";
    if (count < 1) return EXIT_DONE;
    if (count == 1 || (count == 2 && strcmp(words[0], "help") == 0)) {
        offer_commands(words[count - 1]);
        return cli_print("");
    }
    int command = find_command(words[0]);
    char **asked = command >= 0 ? calloc((size_t)count + 2, sizeof *asked) : NULL;
    if (!asked) return EXIT_DONE;
    asked[0] = words[0];
    asked[1] = complete_option;
    for (int i = 1; i < count; i++)
        asked[i + 1] = words[i];
    int code = commands[command].run(count + 1, asked);
    free(asked);
    return code;
}

int main(int argc, char **argv)
{
    rbl_tune_process_memory();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is a write error, */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file over the limit of its size */
    if (argc < 2) {
        cli_error("which command?");
        fprintf(stderr, "`rubble --help` lists them\n");
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    static char help_option[] = "--help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return print_help();
    if (strcmp(name, "--help=man") == 0) return print_man();
    if (strcmp(name, "--complete") == 0) return complete(argc - 2, argv + 2);
    if (strcmp(name, "help") == 0) {
        if (argc < 3) return print_help();
        int command = find_command(argv[2]);
        char *asked[] = {argv[2], help_option, NULL};
        return command >= 0 ? commands[command].run(2, asked) : unknown_command(argv[2]);
    }
    if (strcmp(name, "--version") == 0) name = "version";
    int command = find_command(name);
    if (command >= 0) return commands[command].run(argc - 1, argv + 1);
    if (*name != '-') return unknown_command(name);
    cli_tell_unknown("option", name, (const char *[]){"--help", "--version"}, 2);
    fprintf(stderr, "`rubble --help` tells more\n");
    return EXIT_USAGE;
}
