#ifndef RUBBLE_TOOLS_IMPORT_H
#define RUBBLE_TOOLS_IMPORT_H

/// `rubble-import`: what the parts of the program share.

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct aiScene;

/// What is wrong with the input, for the person who gave it.
struct import_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a scene's file says beyond what assimp keeps.
struct import_facts {
    double root[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}; /* column-major, to metres and y up */
    std::map<std::string, std::string> names; /* better names of nodes, by assimp's */
    bool numbered_materials = false;          /* names begin with "id1_" and the like */
};

/// The scene as GLB 2.0: nodes with their names and transforms, the top one multiplied by the facts' root, a mesh for
/// each node that has triangles, materials, textures and embedded images. Throws import_error for a scene without
/// triangles or with indices that are out of range, std::bad_alloc.
std::vector<uint8_t> make_glb(const aiScene &scene, const import_facts &facts);

/// Looks into a 3MF package for its unit (millimetres when nothing is said) and the names of objects.
import_facts facts_of_3mf(const std::vector<uint8_t> &bytes);

#endif
