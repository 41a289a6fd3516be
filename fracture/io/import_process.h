#ifndef RUBBLE_IO_IMPORT_PROCESS_H
#define RUBBLE_IO_IMPORT_PROCESS_H

/// Runs `rubble-import` (tools/import) on the bytes of a file whose reader is not trusted. The program gets the file
/// as standard input and no other descriptor, no shell, limits on processor time and memory that are set before it
/// begins, and an end by force when it takes too long, writes too much or the work is cancelled.
///
/// Where it is: RUBBLE_IMPORT when that is set (a path), else beside the running program, beside the library, in
/// the folder for such programs of the installation. RUBBLE_IMPORT_SECONDS and RUBBLE_IMPORT_MEMORY (MiB) take the
/// place of the limits, which grow with the file: 30 s and a second a MiB of processor time, three times that in all;
/// 1 GiB and 64 times the file of memory.

#include "fracture/base/context.h"

/// @param name   of the file, for messages
/// @param format what the program is told: "fbx", "dae" or "3mf"
/// @param out    what the program wrote, freed by the caller with rbli_free; any bytes: nothing about it is checked
/// @return RBL_OK · RBL_ERR_READ: the program is not there or cannot be started · RBL_ERR_PARSE: it refused the file,
///         crashed or ended in another odd way · RBL_ERR_LIMIT: time, memory or output · RBL_ERR_NO_MEMORY ·
///         RBL_ERR_CANCELLED; messages "name: why"
/// Threads: reentrant. Looks for cancellation every 10 ms.
rbl_status rbli_import_run(rbl_context *ctx, const char *name, const char *format, const uint8_t *bytes,
    size_t byte_count, uint8_t **out, size_t *out_bytes);

#endif
