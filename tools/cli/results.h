#ifndef RUBBLE_CLI_RESULTS_H
#define RUBBLE_CLI_RESULTS_H

/// What an ended run made.

#include "tools/cli/summary.h"

typedef struct cli_counts {
    size_t asked, ran, hits, skipped, not_needed, failed; /* nodes */
} cli_counts;

/// How the nodes that were asked for ended.
cli_counts cli_count_outcomes(const rbl_run *run);

/// What a person wants to know at once of an ending node.
typedef struct cli_result {
    const char *node; /* id */
    size_t pieces, triangles, hulls, draw_calls;
    double volume;
    const char *smallest, *largest; /* names of pieces; NULL without one */
    double smallest_volume, largest_volume;
} cli_result;

typedef void (*cli_result_visit)(void *user, const cli_result *result);
/// Calls `visit` for each ending node; without one, for the last collection of the run. Asks what Terminals say of
/// their assets, which does not unpack a collection from the cache.
void cli_each_result(const rbl_run *run, cli_result_visit visit, void *user);
/// Two lines for a person.
void cli_print_result(const cli_result *result);

typedef void (*cli_summary_visit)(
    void *user, const char *node, const rbl_collection *collection, const cli_summary *summary);
/// The same with the whole collection, surfaces looked at.
void cli_each_summary(const rbl_run *run, cli_summary_visit visit, void *user);

#endif
