#ifndef RUBBLE_CLI_FILES_H
#define RUBBLE_CLI_FILES_H

/// Whole files of the command itself: read at once, written to a temporary name and renamed.

#include <stdbool.h>
#include <stddef.h>

#define CLI_MOST_TEXT_BYTES ((size_t)1 << 30)

/// The bytes of a file with a zero byte behind them, freed by the caller; NULL when it cannot be read or has more than
/// CLI_MOST_TEXT_BYTES, which is told.
char *cli_read_file(const char *path, size_t *bytes);
/// Puts `bytes` of `data` at `path`, whole or not at all; the rights of a file that is there stay, and a link
/// stays a link. What is no plain file (/dev/stdout, a pipe) is written as it is. Failure is told.
bool cli_write_file(const char *path, const void *data, size_t bytes);
/// The same for a file in an output folder, where others may have put links: one at `path` is replaced, not followed.
bool cli_write_product(const char *path, const void *data, size_t bytes);
/// Whether a folder below another one, which need not be there, is below it when links are followed, too.
bool cli_stays_inside(const char *folder, const char *below);
/// Makes the folders that lead to a file. What goes wrong shows when the file is written.
void cli_make_folders(char *path);
/// Whether a folder is there for files, or could be made. False is told.
bool cli_can_hold_files(const char *folder);
/// Whether a file could be written there: in a folder that exists, and not in place of one. False is told.
bool cli_can_write_file(const char *path);
/// True, and told, when what is to be written to `output` (NULL: nothing) would take the place of `input`.
bool cli_would_replace(const char *output, const char *input);

#endif
