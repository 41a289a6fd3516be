/// The command: finds what to do and leaves it to the file of that name.

#include "tools/cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
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
    {"eval", cli_eval, "evaluate a graph and write its files"},
    {"cache", cli_cache, "count, check, trim or clear the folder of --cache"},
    {"check", cli_check, "look for mistakes in a graph without running it"},
    {"dot", cli_dot, "draw a graph as DOT or mermaid, with times and outcomes of a run"},
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
    {"version", cli_version, "print the version"},
    {"view", cli_view, "write a page to look at a mesh, a .rbl file or a graph's result"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static int print_help(void)
{
    printf(
        "rubble %s: breaks meshes as a graph file says\n\nusage: rubble COMMAND …\n\n", rbl_version_text());
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-9s %s\n", commands[i].name, commands[i].text);
    printf("\n`rubble COMMAND --help` tells more. A first step:\n\n"
           "  rubble eval graphs/box.json --out out\n"
           "  rubble inspect out/box.rbl\n\n"
           "Exit code: 0 done; 1 an evaluation failed; 2 usage or an invalid graph; 3 a file that cannot be "
           "read, parsed\n"
           "or written; 130 cancelled.\n");
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FILE;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is a write error, */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file over the limit of its size */
    if (argc < 2) {
        cli_error("which command?");
        fprintf(stderr, "`rubble --help` lists them\n");
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return print_help();
    if (strcmp(name, "help") == 0) {
        if (argc < 3) return print_help();
        static char help_option[] = "--help";
        char *asked[] = {argv[2], help_option, NULL};
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            if (strcmp(commands[i].name, argv[2]) == 0) return commands[i].run(2, asked);
        name = argv[2];
    }
    if (strcmp(name, "--version") == 0) name = "version";
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i].name;
        if (strcmp(name, commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
    }
    const char *nearest = rbl_nearest_name(name, names, COMMAND_COUNT);
    cli_error("unknown command \"%s\"", name);
    if (nearest) fprintf(stderr, "  did you mean \"%s\"?\n", nearest);
    fprintf(stderr, "  commands: ");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stderr, "%s%s", i ? ", " : "", commands[i].name);
    fprintf(stderr, "\n");
    return EXIT_USAGE;
}
