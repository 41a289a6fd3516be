#ifndef RUBBLE_OPS_LEAF_MESH_H
#define RUBBLE_OPS_LEAF_MESH_H

/// The surface of pieces as one plain mesh in world space, for kernels that take arrays.

#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/mesh.h"

typedef struct rbli_leaf_mesh {
    double (*positions)[3]; /* [vertex_count] all vertices of the collection, in world space */
    size_t vertex_count;
    int32_t (*triangles)[3]; /* [triangle_count] of the chosen pieces */
    int32_t *faces;          /* [triangle_count] element of group face of each triangle */
    size_t triangle_count;
    double low[3], high[3]; /* bounds of the triangles; low > high when there are none */
} rbli_leaf_mesh;

/// @param selection NULL: all rigid leaves
/// @param out       set on success only; rbli_leaf_mesh_free
/// @return RBL_OK · RBL_ERR_COLLECTION (selection of another topology) · RBL_ERR_NO_MEMORY. Threads:
/// reentrant.
rbl_status rbli_leaf_mesh_build(
    rbl_context *ctx, const rbl_collection *collection, const rbli_selection *selection, rbli_leaf_mesh *out);
void rbli_leaf_mesh_free(rbl_context *ctx, rbli_leaf_mesh *mesh);
/// Takes out the triangles of internal faces; bounds stay those of the pieces.
void rbli_leaf_mesh_drop_internal(const rbl_collection *collection, rbli_leaf_mesh *mesh);
rbli_mesh_view rbli_leaf_mesh_view(const rbli_leaf_mesh *mesh);

/// A number for each corner of the mesh's triangles from an attribute: the first of corner.NAME, vertex.NAME,
/// face.NAME, bone.NAME that exists. Of a vector with three or four parts (a colour) it is `channel` 0 … 3,
/// or for −1 the mean of the first three; plain numbers and bools are taken as they are.
/// @param out [triangle_count][3], freed by the caller with rbli_free; set on success only
/// @return RBL_OK · RBL_ERR_NOT_FOUND · RBL_ERR_TYPE (no numbers, or no such channel) · RBL_ERR_NO_MEMORY
rbl_status rbli_leaf_mesh_numbers(rbl_context *ctx, const rbl_collection *collection,
    const rbli_leaf_mesh *mesh, const char *attribute, int channel, double (**out)[3]);

#endif
