/// rubble version

#include "tools/cli/cli.h"

int cli_version(int argc, char **argv)
{
    bool json = false;
    const cli_option options[] = {{"json", CLI_FLAG, &json, NULL, "print it as JSON"}, {0}};
    const cli_command command = {.name = "version",
        .usage = "[options]",
        .text = "Prints the version of rubble and of the graph format that it reads.",
        .examples = "rubble version --json",
        .options = options};
    int code = cli_parse(&command, argc, argv);
    if (code >= 0) return code;
    char text[128];
    snprintf(text, sizeof text,
        json ? "{\"rubble\": \"%s\", \"graph_version\": %d}\n" : "rubble %s (graph format %d)\n",
        rbl_version_text(), RBL_GRAPH_VERSION);
    return cli_print(text);
}
