#ifndef RUBBLE_CLI_FARM_H
#define RUBBLE_CLI_FARM_H

/// rubble farm: a batch cut into chunks for other machines.

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/cli/cli.h"

/// What is asked for on the command line.
typedef struct farm_options {
    const char *file; /* manifest or graph */
    const char *out;
    cli_list sets, overs; /* as of rubble batch, also what follows */
    const char *name, *cache, *cache_bytes, *fail_on;
    bool no_cache, thumbnails;
    long limit;
    long chunks, threads; /* of a chunk */
    size_t memory;        /* of a chunk; 0: what the farm gives */
    const char
        *program; /* rubble, as the machines of the farm know it; NULL: this one, or of Kubernetes "rubble" */
    bool dry_run;
    const char *time, *partition; /* Slurm */
    cli_list extra;
    const char *image, *claim, *mount, *output; /* Kubernetes */
} farm_options;

/// The list of assets, which is looked at before anything is asked of a farm.
typedef struct farm_assets {
    char **names;
    size_t count;
    size_t faults; /* that cannot run */
} farm_assets;

int farm_slurm(const farm_options *options, const farm_assets *assets);
int farm_kubernetes(const farm_options *options);
int farm_status(const char *folder, bool json);

/// Words of the command `rubble batch …` that a chunk runs, `words` freed by the caller, their texts with it
/// (farm_words_free).
typedef struct farm_words {
    char **items;
    size_t count;
    bool failed; /* no memory */
} farm_words;

/// `chunk`: the value of --chunk.
void farm_batch_words(farm_words *words, const farm_options *options, const char *program, const char *chunk);
void farm_word(farm_words *words, const char *text);
void farm_words_free(farm_words *words);

/// A word as sh reads it, whatever is in it.
void farm_print_shell_word(FILE *file, const char *word);
/// A string as YAML and JSON read it. @return false when it is not UTF-8, which neither can hold
bool farm_print_string(FILE *file, const char *text);
/// A name like "rubble-props" of the manifest's: lower case letters, digits and '-', at most 40.
void farm_job_name(const char *file, char name[48]);

/// A file name that a batch's summary, journal or table has. False for any other.
bool farm_is_chunk_file(const char *name, unsigned long *chunk, unsigned long *count, const char **ending);

typedef struct farm_output {
    int code;   /* exit code; −1: it cannot be started (errno), or was killed */
    char *text; /* what it wrote to stdout, freed by the caller; NULL: not started */
} farm_output;

/// Runs a program of the PATH in a folder (NULL: this one) and reads what it writes. `quiet`: without its messages.
farm_output farm_run(char *const *arguments, const char *folder, bool quiet);

/// Paths below the output folder, freed by the caller.
char *farm_path(const char *out, const char *name);
extern const char farm_folder[], farm_record[]; /* "batch-farm", "batch-farm/farm.json" */

#endif
