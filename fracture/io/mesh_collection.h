#ifndef RUBBLE_IO_MESH_COLLECTION_H
#define RUBBLE_IO_MESH_COLLECTION_H

/// A mesh file as a collection, unrepaired.

#include "fracture/collection/collection.h"
#include "fracture/io/mesh_file.h"

typedef struct rbli_mesh_collection_options {
    double scale;   /* positions are multiplied by it; positive; default 1 */
    bool up_axis_z; /* the file's z points up: turned so that y does; default false */
} rbli_mesh_collection_options;

/// One root cluster named "root" and one rigid child a mesh node that has triangles, in the file's order;
/// world positions, identity transforms. Vertices that no triangle uses are left out. Corner attributes that
/// the file has are there, normals are zero where it gives none; of a file without any there is no corner.normal until
/// rbli_solidify or rbli_surface_fill_flat_normals makes it. Triangles without a material get the material "default".
/// @param out set on success only. @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_ARGUMENT: a
/// coordinate beyond 1e100, or less than 1e-100 in all; also a warning when the mesh is so far from the origin that
/// doubles blur it
rbl_status rbli_mesh_collection_create(rbl_context *ctx, const rbli_mesh_file *file,
    const rbli_mesh_collection_options *options, rbl_collection **out);

#endif
