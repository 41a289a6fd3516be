/// SetMass: weights of pieces.

#include "fracture/base/alloc.h"
#include "fracture/ops/state.h"
#include "rubble/node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbl_collection *out = NULL;
    rbli_material_density *materials = NULL;
    const rbl_param *list = rbl_call_param(call, "materials");
    rbli_set_mass_options options = rbli_set_mass_default_options();
    options.density = rbl_param_float(rbl_call_param(call, "density"));
    options.material_count = rbl_param_count(list);
    RBL_TRY_ALLOC(materials = rbli_alloc(ctx, options.material_count, sizeof *materials));
    for (size_t i = 0; i < options.material_count; i++) {
        const rbl_param *one = rbl_param_at(list, i);
        materials[i].material = rbl_param_string(rbl_param_field(one, "material"));
        materials[i].density = rbl_param_float(rbl_param_field(one, "density"));
    }
    options.materials = materials;
    RBL_TRY(rbli_set_mass(ctx, rbl_call_input_collection(call, "collection"), &options, &out));
    rbl_call_set_output_collection(call, "collection", out);
done:
    rbli_free(ctx, materials);
    return status;
}

static const rbl_param_desc material_fields[] = {
    {.name = "material",
        .type = RBL_PARAM_STRING,
        .default_json = NULL,
        .text = "name of a material, or a pattern with * and ?"},
    {.name = "density",
        .type = RBL_PARAM_FLOAT,
        .default_json = NULL,
        .min = 1e-9,
        .max = 1e9,
        .unit = "kg/m3",
        .text = "of pieces of this material"},
    {0},
};

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose bones change"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with masses"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "density",
        .type = RBL_PARAM_FLOAT,
        .default_json = "2400",
        .min = 1e-9,
        .max = 1e9,
        .unit = "kg/m3",
        .text = "of everything else; 2400 is concrete, 700 wood, 2500 glass, 7800 steel"},
    {.name = "materials",
        .type = RBL_PARAM_OBJECT,
        .list = true,
        .default_json = "[]",
        .fields = material_fields,
        .text = "densities of materials; the first that matches counts"},
    {0},
};

const rbl_node_desc rbli_node_set_mass = {
    .size = sizeof(rbl_node_desc),
    .type = "SetMass",
    .version = 1,
    .revision = 1,
    .family = "state",
    .text = "Gives each bone its mass, centre of mass and inertia.",
    .details = "Exact integrals over the volume of each solid piece, in world space at rest; clusters are "
               "the sum of what is below them, sheets\nweigh nothing. Writes bone.mass, center_of_mass "
               "(bone's frame), inertia and inertia_products (around the centre of mass, axes of\nthe "
               "world). A piece is made of the material with the largest area on its surface.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
