#ifndef RUBBLE_CLI_FILES_H
#define RUBBLE_CLI_FILES_H

/// Whole files of the command itself: read at once, written to a temporary name and renamed.

#include <stdbool.h>
#include <stddef.h>

/// The bytes of a file with a zero byte behind them, freed by the caller; NULL when it cannot be read, which
/// is told.
char *cli_read_file(const char *path, size_t *bytes);
/// Puts `bytes` of `data` at `path`, whole or not at all; the rights of a file that is there stay, and a link
/// stays a link. What is no plain file (/dev/stdout, a pipe) is written as it is. Failure is told.
bool cli_write_file(const char *path, const void *data, size_t bytes);
/// Makes the folders that lead to a file. What goes wrong shows when the file is written.
void cli_make_folders(char *path);
/// Whether a folder is there for files, or could be made. False is told.
bool cli_can_hold_files(const char *folder);
/// Whether a file could be written there: in a folder that exists, and not in place of one. False is told.
bool cli_can_write_file(const char *path);
/// True, and told, when what is to be written to `output` (NULL: nothing) would take the place of `input`.
bool cli_would_replace(const char *output, const char *input);

#endif
