#ifndef RUBBLE_GEOMETRY_SOLID_GRID_H
#define RUBBLE_GEOMETRY_SOLID_GRID_H

/// A coarse grid of the space that closed meshes fill or come near to.

#include "fracture/base/context.h"
#include "fracture/geometry/mesh.h"

typedef struct rbli_solid_grid {
    double origin[3], inverse; /* cell = ⌊(x − origin) · inverse⌋ */
    int32_t size[3];
    uint8_t *near; /* [size product], x fastest */
} rbli_solid_grid;

/// Marks the grid cells within `reach` (per axis) of a surface, then what the outside cannot reach.
/// @param low, high  the box to cover; all meshes lie inside
/// @param out        set on success only; rbli_solid_grid_free
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_solid_grid_make(rbl_context *ctx, const rbli_mesh_view *meshes, size_t mesh_count,
    const double low[3], const double high[3], double reach, rbli_solid_grid *out);
void rbli_solid_grid_free(rbl_context *ctx, rbli_solid_grid *grid);

bool rbli_solid_grid_at(const rbli_solid_grid *grid, const double point[3]);
/// Whether any cell under a box is marked.
bool rbli_solid_grid_any(const rbli_solid_grid *grid, const double low[3], const double high[3]);

#endif
