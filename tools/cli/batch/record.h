#ifndef RUBBLE_CLI_BATCH_RECORD_H
#define RUBBLE_CLI_BATCH_RECORD_H

/// asset.json in an asset's folder: what it was made of, what came out, and what was said.

#include "tools/cli/batch/batch.h"

/// Writes it whole or not at all. `graph` and `run` may be NULL (a graph that cannot be loaded).
/// @return false when it cannot be written, which is told
bool batch_record_write(batch *b, const batch_asset *asset, const batch_result *result, rbl_graph *graph,
    const rbl_run *run, const char *folder);
/// Whether an earlier batch made the asset: of the same graph, values, input files and version, and its files
/// are still what was written, by their hashes. Then `result` gets its figures.
bool batch_record_matches(batch *b, const batch_asset *asset, const char *folder, batch_result *result);

#endif
