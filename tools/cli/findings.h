#ifndef RUBBLE_CLI_FINDINGS_H
#define RUBBLE_CLI_FINDINGS_H

/// What MeshToCollection found in a mesh before it repaired it, shell by shell, and what can be set about it.

#include "rubble/rubble.h"

/// Prints shells that are not closed and clear of others, with their holes, and settings that would change
/// something. Nothing where all is well, or where the collection holds no such list.
void cli_print_findings(const rbl_collection *collection);
/// The same as members "shells", "holes" and "settings" of a JSON object, each after a comma.
void cli_findings_json(const rbl_collection *collection);

#endif
