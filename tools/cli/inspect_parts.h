#ifndef RUBBLE_CLI_INSPECT_PARTS_H
#define RUBBLE_CLI_INSPECT_PARTS_H

/// Parts of `rubble inspect`: each prints a few lines, or members of a JSON object that begin with a comma.

#include "tools/cli/audit.h"

enum { INSPECT_ALL = -1, INSPECT_AUTO = -2 };

/// How many clusters and pieces stand on each level.
void cli_print_levels(const cli_asset *asset);
void cli_levels_json(const cli_asset *asset);
/// Bones down to `depth` levels below the roots, not more than a few children each; INSPECT_AUTO: to the
/// first level with more than one bone; INSPECT_ALL: all of all.
/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status cli_print_tree(const cli_asset *asset, long depth);
/// All bones.
void cli_bones_json(const cli_asset *asset);
/// Pairs that touch or hold together, and vertices of hulls.
rbl_status cli_print_structure(const cli_asset *asset);
rbl_status cli_structure_json(const cli_asset *asset);
void cli_print_engine_cost(const cli_engine_cost *cost);
void cli_engine_cost_json(const cli_engine_cost *cost);
/// Groups with their attributes, types and sizes.
void cli_print_attributes(const rbl_collection *collection);
void cli_attributes_json(const rbl_collection *collection);
void cli_print_audit(const cli_audit *audit);
void cli_audit_json(const cli_audit *audit);

#endif
