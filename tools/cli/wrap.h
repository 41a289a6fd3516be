#ifndef RUBBLE_CLI_WRAP_H
#define RUBBLE_CLI_WRAP_H

/// Lines for people: as wide as the terminal. Where standard output is none they stay whole, so that grep finds all of one.

#include <stddef.h>

/// Prints as printf does, a line when it is whole. One that is too wide goes on below its text.
__attribute__((format(printf, 1, 2))) void cli_say(const char *format, ...);

/// Where to break `line` (without its end) so that `columns` hold it: bytes of the first part, of which the next one begins
/// behind the space. The whole length when it fits or has no space where it could be broken.
size_t cli_wrap_at(const char *line, size_t columns);
/// Columns that lines which go on are indented by.
size_t cli_wrap_indent(const char *line);

#endif
