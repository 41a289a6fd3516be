/// rubble version

#include "tools/cli/cli.h"

static const char help[] = "usage: rubble version [--json]\n"
                           "\n"
                           "Prints the version of rubble and of the graph format that it reads.\n"
                           "\n"
                           "example: rubble version --json\n";

int cli_version(int argc, char **argv)
{
    bool json = false;
    const cli_option options[] = {{"json", CLI_FLAG, &json}, {0}};
    int code = cli_parse(&(cli_command){"version", help, options, NULL, 0, 0}, argc, argv);
    if (code >= 0) return code;
    char text[128];
    snprintf(text, sizeof text,
        json ? "{\"rubble\": \"%s\", \"graph_version\": %d}\n" : "rubble %s (graph format %d)\n",
        rbl_version_text(), RBL_GRAPH_VERSION);
    return cli_print(text);
}
