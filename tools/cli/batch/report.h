#ifndef RUBBLE_CLI_BATCH_REPORT_H
#define RUBBLE_CLI_BATCH_REPORT_H

/// Summaries of a batch: batch.json, batch.csv and batch.html in the output folder; of a chunk batch-2-of-8.json
/// and so on, which are merged when all are there.

#include "tools/cli/batch/batch.h"

/// Writes the three files of this process. @return false when one cannot be written, which is told
bool batch_report_write(const batch *b);
/// Makes the summary of a batch of its chunks' summaries in `folder`. @return exit code: that of the whole batch
int batch_report_merge(const char *folder);

#endif
