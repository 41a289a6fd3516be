#ifndef RUBBLE_GEOMETRY_SPACING_H
#define RUBBLE_GEOMETRY_SPACING_H

/// Balls that keep clear of each other: asks whether a new one fits, in constant time.
///
/// A hash of cubes for each power of two of the radii, so that small balls do not crowd the cells of large
/// ones. Fast when balls are added from the largest to the smallest, right in any order.

#include "fracture/base/context.h"

typedef struct rbli_spacing rbli_spacing;

/// @param origin    any point near the others. @param least_radius > 0; smaller radii count as this one for
/// the cells
/// @param out       set on success only; rbli_spacing_destroy. @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_spacing_create(
    rbl_context *ctx, const double origin[3], double least_radius, rbli_spacing **out);
void rbli_spacing_destroy(rbl_context *ctx, rbli_spacing *spacing); /* NULL is fine */
/// True when the distance to the centre of every ball added before is at least the sum of the radii.
bool rbli_spacing_fits(const rbli_spacing *spacing, const double center[3], double radius);
/// Adds a ball whether it fits or not. Radii are at most 2^40 times the least one.
/// @return RBL_OK · RBL_ERR_LIMIT (2^31 balls) · RBL_ERR_NO_MEMORY
rbl_status rbli_spacing_add(rbl_context *ctx, rbli_spacing *spacing, const double center[3], double radius);

#endif
