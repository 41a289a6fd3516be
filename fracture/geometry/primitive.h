#ifndef RUBBLE_GEOMETRY_PRIMITIVE_H
#define RUBBLE_GEOMETRY_PRIMITIVE_H

/// Boxes, spheres, cylinders and plates as closed meshes.

#include "fracture/base/context.h"

typedef enum rbli_primitive_shape {
    RBLI_PRIMITIVE_BOX,
    RBLI_PRIMITIVE_SPHERE,     /* an ellipsoid: rings of `segments` around y, half as many rings */
    RBLI_PRIMITIVE_CYLINDER,   /* along y, `segments` around */
    RBLI_PRIMITIVE_PLANE_SLAB, /* a box whose top and bottom are grids of `segments` × `segments` */
} rbli_primitive_shape;

typedef struct rbli_primitive {
    double (*positions)[3]; /* [vertex_count] around the origin */
    size_t vertex_count;
    int32_t (*triangles)[3]; /* [triangle_count] closed by index, outward */
    size_t triangle_count;
    float (*normals)[3]; /* [3 · triangle_count] corners; smooth on round parts, flat on flat ones */
    float (*uvs)[2];     /* [3 · triangle_count] within 0 … 1 */
} rbli_primitive;

void rbli_primitive_free(rbl_context *ctx, rbli_primitive *primitive); /* what is in it */

/// @param size     full extents along the axes, > 0
/// @param segments 3 … 2048
/// @param out      set on success only; rbli_primitive_free
/// @return RBL_OK · RBL_ERR_ARGUMENT · RBL_ERR_NO_MEMORY
/// Threads: reentrant. The same bits on every machine.
rbl_status rbli_primitive_make(rbl_context *ctx, rbli_primitive_shape shape, const double size[3],
    int32_t segments, rbli_primitive *out);

#endif
