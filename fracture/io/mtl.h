#ifndef RUBBLE_IO_MTL_H
#define RUBBLE_IO_MTL_H

/// Wavefront material libraries.

#include "fracture/io/mesh_builder.h"

/// Takes Kd, d, Tr, Ke, Ks, Ns, Pr, Pm and the textures map_Kd, map_Ke, map_Bump, bump, norm and map_ao of the
/// materials whose names the builder's file has; other materials are skipped. Images are read beside the
/// library.
/// Lenient: a line that cannot be understood is a warning, not an error.
/// @param folder of the mesh; NULL: no image is read
/// @param found [material_count] set true for each material that the library has
/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_mtl_parse(rbli_mesh_builder *builder, const char *mtl_name, const rbli_mesh_folder *folder,
    const uint8_t *bytes, size_t byte_count, bool *found);

#endif
