#ifndef RUBBLE_CLI_BATCH_PLACE_H
#define RUBBLE_CLI_BATCH_PLACE_H

/// Where a value of a JSON text stands: looked up only when there is something to say about it.

#include <stdbool.h>
#include <stddef.h>

typedef struct batch_place {
    size_t line, column; /* from 1, columns in bytes; 0: not found */
} batch_place;

/// Place of byte `offset`.
batch_place batch_place_of_offset(const char *text, size_t offset);
/// Place of the value that a JSON pointer names in valid JSON; of its key when it is a member of an object.
batch_place batch_place_of_pointer(const char *text, const char *pointer);

#endif
