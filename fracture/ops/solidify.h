#ifndef RUBBLE_OPS_SOLIDIFY_H
#define RUBBLE_OPS_SOLIDIFY_H

/// From a collection as a file holds it to one whose rigid bones are closed, outward solids (MESHES.md).

#include "fracture/collection/schema.h"
#include "fracture/geometry/repair.h"

typedef struct rbli_solidify_options {
    rbli_repair_options repair;
    bool split_components; /* one bone for each solid shell instead of one a mesh node; default false */
    bool strict;           /* any repair is an error; default false */
} rbli_solidify_options;
rbli_solidify_options rbli_solidify_default_options(void);

/// Repairs the surface of all rigid bones together and says what it found and did: one note with the shells,
/// a warning for each kind of repair. Faces that fill holes get the material "filled". Cavities stay with the
/// solid around them; a solid that lies wholly inside another of its node is swallowed; fins and shells
/// without volume are dropped. Bones are those of `in` that keep a solid, in their order; with
/// split_components they are named BONE_0, BONE_1, …
/// @param in  one rigid bone a mesh node, identity transforms; not changed
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_OPEN_MESH (a shell that cannot be closed: the message names it and says why) ·
/// RBL_ERR_MESH (no
///         solid at all, overlapping shells, or a repair although `strict`) · RBL_ERR_ARGUMENT (a position
///         that is not finite) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. The same result for any order of the input's faces.
rbl_status rbli_solidify(
    rbl_context *ctx, const rbl_collection *in, const rbli_solidify_options *options, rbl_collection **out);

#endif
