#ifndef RUBBLE_GEOMETRY_MESH_H
#define RUBBLE_GEOMETRY_MESH_H

/// Plain views of triangle meshes, and where a new triangle's corners come from.

#include <stddef.h>
#include <stdint.h>

/// A borrowed triangle mesh. Vertices are shared: the surface is closed by index.
typedef struct rbli_mesh_view {
    const double (*positions)[3]; /* [vertex_count] */
    size_t vertex_count;
    const int32_t (*triangles)[3]; /* [triangle_count], counter-clockwise seen from outside */
    size_t triangle_count;
} rbli_mesh_view;

/// For each output triangle of a kernel: what source triangle it lies on and where its corners lie there, so
/// that whatever belongs to corners (normals, UVs, colours) can be carried over.
typedef struct rbli_triangle_origins {
    int32_t *source; /* [count] source triangle ≥ 0, or −1 − n for a new one (the kernel says what n is) */
    int32_t *weights_index;  /* [count] −1: corners are the source's corners in the same order; else row of
                                `weights` */
    double (*weights)[3][3]; /* [weights_count][output corner][source corner] barycentric, rows sum to 1 */
    size_t weights_count;
} rbli_triangle_origins;

#endif
