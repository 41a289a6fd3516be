#ifndef RUBBLE_CLI_BATCH_READER_H
#define RUBBLE_CLI_BATCH_READER_H

/// Shared by the files that make a list of assets.

#include <cjson/cJSON.h>

#include "tools/cli/batch/list.h"
#include "tools/cli/cli.h"

typedef struct batch_reader {
    rbl_engine *engine;
    const batch_request *request;
    const char *text; /* of the manifest; NULL for a graph with --over */
    char *folder;     /* that paths of the manifest are relative to, ended by '/', or "" */
    batch_list *list;
    size_t capacity;
    int code; /* EXIT_DONE while nothing is wrong with the list */
} batch_reader;

/// Says what is wrong with the list, at a JSON pointer of the manifest or (pointer NULL) on the command line.
void batch_fail_at(batch_reader *r, const char *pointer, const char *format, ...) RBL_PRINTF(3, 4);
/// @return NULL
void *batch_fail_memory(batch_reader *r);

/// Index of a variable of a graph. @return false when there is none of this name
bool batch_find_variable(const rbl_graph *graph, const char *name, size_t *index);

/// Adds the assets of one job, which stands at `pointer` of the manifest.
void batch_read_job(batch_reader *r, const cJSON *job, const char *pointer);
/// The two ways to ask: a manifest's jobs, or a graph with the request's pairs as one job.
void batch_read_manifest(batch_reader *r);
void batch_read_graph(batch_reader *r);

#endif
