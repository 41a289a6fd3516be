#ifndef RUBBLE_OPS_SOLIDIFY_H
#define RUBBLE_OPS_SOLIDIFY_H

/// From a collection as a file holds it to one whose rigid bones are closed, outward solids (MESHES.md).

#include "fracture/collection/schema.h"
#include "fracture/geometry/repair.h"
#include "fracture/geometry/unite.h"

/// What becomes of shells that cannot be closed and of two-sided ones.
typedef enum rbli_sheets {
    RBLI_SHEETS_ATTACH,   /* children of the solid of their node (the nearest one), PIECE_sheet */
    RBLI_SHEETS_SEPARATE, /* bones of their own, NODE_sheet */
    RBLI_SHEETS_DROP,     /* left out */
    RBLI_SHEETS_THICKEN,  /* solids of the given thickness */
} rbli_sheets;

typedef struct rbli_solidify_options {
    rbli_repair_options repair;
    rbli_sheets sheets;    /* default RBLI_SHEETS_ATTACH */
    double thickness;      /* of thickened sheets; 0 (default): 1 % of the diagonal */
    rbli_join join;        /* which overlapping solids become one; default RBLI_JOIN_NODE */
    bool details;          /* writes what was found, before the union, as the groups `shell` (node, kind, why,
                              triangles, open_holes, filled_holes, crossings, overlaps, volume, area) and
                              `hole` (shell, edges, length, center, filled); default false */
    bool split_components; /* one bone for each solid shell instead of one a mesh node; default false */
    bool strict;           /* any repair is an error; default false */
} rbli_solidify_options;
rbli_solidify_options rbli_solidify_default_options(void);

/// Repairs the surface of all rigid bones together and says what it found and did: one note with the shells,
/// a warning for each kind of repair. Faces that fill holes get the material "filled". Cavities stay with the
/// solid around them; a solid that lies wholly inside another of its node is swallowed; shells
/// without volume are dropped. Sheets are rigid bones after all solids, with bone.sheet true: children of a
/// solid when attached (a sheet more than 5 % of the diagonal away from all solids of other nodes is a bone
/// of its own). Bones are those of `in` that keep a solid, in their order; with
/// split_components they are named BONE_0, BONE_1, …
/// @param in  one rigid bone a mesh node, identity transforms; not changed
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_OPEN_MESH (no solid, and a shell that cannot be closed: the message names it and
/// says why; never with RBLI_SHEETS_SEPARATE) · RBL_ERR_MESH (no
///         solid at all, overlapping shells, or a repair although `strict`) · RBL_ERR_ARGUMENT (a position
///         that is not finite) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. The same result for any order of the input's faces.
rbl_status rbli_solidify(
    rbl_context *ctx, const rbl_collection *in, const rbli_solidify_options *options, rbl_collection **out);

#endif
