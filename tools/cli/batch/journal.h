#ifndef RUBBLE_CLI_BATCH_JOURNAL_H
#define RUBBLE_CLI_BATCH_JOURNAL_H

/// batch-2-of-8.jsonl in the output folder: what a chunk did, a JSON object a line, added to as it happens. It is
/// never cut, so that what happened before a crash stays. `rubble farm status` reads it (docs/batch.md).

#include "tools/cli/batch/batch.h"

/// Opens the chunk's journal and notes that it begins; nothing without --chunk. What is wrong is told, and the
/// batch goes on without.
void batch_journal_open(batch *b);
void batch_journal_start(batch *b, const batch_asset *asset);
void batch_journal_asset(batch *b, const batch_asset *asset, const batch_result *result);
/// Notes the end and closes it.
void batch_journal_close(batch *b);

#endif
