#ifndef RUBBLE_ENGINE_REGISTRY_H
#define RUBBLE_ENGINE_REGISTRY_H

/// The table of node types. The engine names no node: nodes/meson.build holds the list and generates this
/// table from it.

#include "rubble/node.h"

/// Ended by NULL; generated into nodes_table.c from the list in nodes/meson.build (node file
/// `voronoi_fracture.c` defines `const rbl_node_desc rbli_node_voronoi_fracture`).
extern const rbl_node_desc *const rbli_builtin_nodes[];

#endif
