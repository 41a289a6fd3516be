/// Masses of bones: attributes to bodies and back.

#include "fracture/ops/bone_mass.h"

#include <string.h>

#include "fracture/base/affine.h"

static const char *const names[4] = {"mass", "center_of_mass", "inertia", "inertia_products"};

bool rbli_has_masses(const rbl_collection *collection)
{
    for (int i = 0; i < 4; i++)
        if (!rbli_collection_read(collection, "bone", names[i], i ? RBL_VEC3 : RBL_DOUBLE)) return false;
    return true;
}

rbl_status rbli_bone_masses_write(rbl_context *ctx, rbl_collection *collection, rbli_bone_masses *out)
{
    rbl_status status = RBL_OK;
    void *data[4];
    for (int i = 0; i < 4; i++)
        RBL_TRY(
            rbli_collection_write(ctx, collection, "bone", names[i], i ? RBL_VEC3 : RBL_DOUBLE, &data[i]));
    *out = (rbli_bone_masses){data[0], data[1], data[2], data[3]};
done:
    return status;
}

rbli_mass rbli_bone_mass_get(const rbli_bone_masses *m, size_t bone, const double world[16])
{
    const double *inertia = m->inertia[bone];
    rbli_mass body = {.mass = m->mass[bone]};
    rbli_affine_point(world, m->center[bone], body.center);
    for (int k = 0; k < 3; k++) {
        body.moments[k] = (inertia[(k + 1) % 3] + inertia[(k + 2) % 3] - inertia[k]) / 2;
        body.moments[3 + k] = 0 - m->products[bone][k];
    }
    return body;
}

void rbli_bone_mass_set(const rbli_bone_masses *m, size_t bone, const double world[16], const rbli_mass *body)
{
    m->mass[bone] = body->mass;
    memset(m->center[bone], 0, sizeof *m->center);
    if (body->mass > 0) rbli_affine_solve_point(world, body->center, m->center[bone]);
    rbli_mass_inertia(body, m->inertia[bone], m->products[bone]);
}
