#ifndef RUBBLE_CLI_BATCH_NAMES_H
#define RUBBLE_CLI_BATCH_NAMES_H

/// Names of assets: folders below the output folder, made from a template.

#include <stddef.h>

#include "tools/cli/batch/list.h"

/// {graph} becomes the graph file's name without its ending, {VARIABLE} the value: of a path the file's name
/// without its ending ({VARIABLE.file}: with it, {VARIABLE.path}: with its folders). What is not a letter, digit or
/// one of "._+=-" becomes '_', except '/' of the template itself.
/// @return the name, freed by the caller; NULL with `why` when the template is wrong or nothing safe comes out
char *batch_make_name(const char *template, const batch_asset *asset, char *why, size_t why_bytes);

#endif
