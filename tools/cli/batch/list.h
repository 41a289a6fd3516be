#ifndef RUBBLE_CLI_BATCH_LIST_H
#define RUBBLE_CLI_BATCH_LIST_H

/// What a batch is to make: a manifest, or a graph with --over, turned into a list of assets.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rubble/rubble.h"

enum { BATCH_MOST_ASSETS = 1000000 };

/// A variable of the graph and its value.
typedef struct batch_value {
    char *name;
    char *json; /* paths are relative to the working folder */
} batch_value;

typedef struct batch_asset {
    char *name;  /* folder below the output folder, with '/' between parts; unique in the list */
    char *graph; /* file, relative to the working folder */
    batch_value *values;
    size_t value_count;
    char *only;           /* node, or NULL: all */
    double limit_seconds; /* 0: none */
    char *fault;          /* why it cannot run (graph, variable, input file), or NULL; several lines */
    uint64_t input_bytes; /* of the files that it reads, as far as known before */
} batch_asset;

typedef struct batch_list {
    batch_asset *assets;
    size_t count;
} batch_list;

/// How a batch is asked for on the command line.
typedef struct batch_request {
    const char *file;                       /* manifest or graph */
    const char *const *sets, *const *overs; /* NAME=VALUE */
    size_t set_count, over_count;
    const char *name; /* template of names, or NULL */
    double limit_seconds;
} batch_request;

/// Reads the manifest or graph, expands globs and products, loads every graph and sets its variables. What
/// makes the list itself wrong is printed with its place and ends the batch; what is wrong with one asset
/// becomes its fault.
/// @return exit code; the list is set on EXIT_DONE, batch_list_free
int batch_list_read(rbl_engine *engine, const batch_request *request, batch_list *list);
void batch_list_free(batch_list *list);

/// Loads an asset's graph and sets its variables. Faults are added to `messages`.
rbl_status batch_asset_load(
    rbl_engine *engine, const batch_asset *asset, rbl_messages **messages, rbl_graph **graph);

/// Number 0 … count − 1 of the chunk that an asset belongs to; depends on its name alone.
uint64_t batch_chunk_of(const char *name, uint64_t count);

#endif
