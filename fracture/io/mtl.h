#ifndef RUBBLE_IO_MTL_H
#define RUBBLE_IO_MTL_H

/// Wavefront material libraries.

#include "fracture/io/mesh_builder.h"

/// Takes Kd, d, Tr and map_Kd of the materials whose names the builder's file has; other materials are
/// skipped. Lenient: a line that cannot be understood is a warning, not an error.
/// @param found [material_count] set true for each material that the library has
/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_mtl_parse(
    rbli_mesh_builder *builder, const char *mtl_name, const uint8_t *bytes, size_t byte_count, bool *found);

#endif
