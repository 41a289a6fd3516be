#ifndef RUBBLE_OPS_BONE_MASS_H
#define RUBBLE_OPS_BONE_MASS_H

/// The masses of bones as their attributes tell them.

#include "fracture/collection/schema.h"
#include "fracture/geometry/mass_properties.h"

/// bone.mass, center_of_mass, inertia and inertia_products, for writing.
typedef struct rbli_bone_masses {
    double *mass;
    double (*center)[3], (*inertia)[3], (*products)[3];
} rbli_bone_masses;

/// Whether a collection has all four attributes.
bool rbli_has_masses(const rbl_collection *collection);
/// @return RBL_OK · RBL_ERR_NOT_FOUND · RBL_ERR_NO_MEMORY
rbl_status rbli_bone_masses_write(rbl_context *ctx, rbl_collection *collection, rbli_bone_masses *out);
/// The body of a bone, in the world. @param world the bone's place
rbli_mass rbli_bone_mass_get(const rbli_bone_masses *masses, size_t bone, const double world[16]);
void rbli_bone_mass_set(
    const rbli_bone_masses *masses, size_t bone, const double world[16], const rbli_mass *body);

#endif
