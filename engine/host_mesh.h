#ifndef RUBBLE_ENGINE_HOST_MESH_H
#define RUBBLE_ENGINE_HOST_MESH_H

/// Meshes that hosts bind to nodes (include/rubble/mesh.h): checked copies with a content hash.

#include "fracture/base/context.h"
#include "fracture/base/hash.h"
#include "rubble/mesh.h"

/// Immutable, reference counted.
typedef struct rbli_host_mesh rbli_host_mesh;

/// Copies and checks a mesh; what is wrong is said in `ctx`.
/// @return RBL_OK · RBL_ERR_ARGUMENT · RBL_ERR_MESH · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY
rbl_status rbli_host_mesh_create(rbl_context *ctx, const rbl_mesh_desc *mesh, rbli_host_mesh **out);
rbli_host_mesh *rbli_host_mesh_retain(rbli_host_mesh *mesh); /* NULL is fine */
void rbli_host_mesh_release(rbli_host_mesh *mesh);           /* NULL is fine; from any thread */
rbli_hash rbli_host_mesh_hash(const rbli_host_mesh *mesh);
/// Views as rbl_call_mesh gives them.
const rbl_mesh_desc *rbli_host_mesh_desc(const rbli_host_mesh *mesh);

#endif
