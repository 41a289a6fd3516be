#ifndef RUBBLE_IO_WRITE_H
#define RUBBLE_IO_WRITE_H

/// A collection as a mesh or asset file. Each function appends a whole file to an open writer; the caller
/// finishes and commits it (a failed write shows there). The same bytes for the same collection. The
/// collection should be valid (RBLI_VALIDATE_GEOMETRY); an index out of range is RBL_ERR_COLLECTION, nothing
/// is read out of bounds. Threads: reentrant; the writer is used by one thread.

#include "fracture/base/file.h"
#include "fracture/collection/collection.h"

/// Wavefront OBJ: an object per rigid bone with geometry, in bone order, each with its own vertices, which
/// its faces share; world positions, numbers that read back to the same bits; vt (v upwards, as OBJ has it)
/// and vn; usemtl.
/// @param mtl_name  what `mtllib` names; NULL: neither mtllib nor usemtl
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_write_obj(
    rbl_context *ctx, const rbl_collection *collection, const char *mtl_name, rbli_file_writer *out);
/// Its material library: Kd, d and map_Kd (not for textures inside a source file).
rbl_status rbli_write_mtl(rbl_context *ctx, const rbl_collection *collection, rbli_file_writer *out);

/// JSON (DESIGN §10): `bones`, `proximity`, `connections`, all by name. World units: volumes and bounds are
/// those of the bone's geometry under its world transform; a cluster's volume is the sum of its pieces'
/// without sheets, its bounds hold all below. `mass` is bone.mass, null where there is none. `site` is −1 for
/// a bone that was not cut. `center_of_mass`, `inertia`, `inertia_products`, `damage_threshold`,
/// `collider` and the number of `collision_samples` are written where the attributes exist.
rbl_status rbli_write_json(rbl_context *ctx, const rbl_collection *collection, rbli_file_writer *out);

typedef struct rbli_glb_report {
    size_t triangles;           /* written */
    size_t collapsed_triangles; /* left out because two corners meet in float */
} rbli_glb_report;

/// Binary glTF 2.0: a node for each bone in the same hierarchy, a mesh for each bone with geometry, a
/// primitive per material. Positions are floats around the centre of the piece; the centre is in the node's
/// translation. Interior faces of a material are not split off.
/// @param report  filled on success; may be NULL
rbl_status rbli_write_glb(
    rbl_context *ctx, const rbl_collection *collection, rbli_file_writer *out, rbli_glb_report *report);

#endif
