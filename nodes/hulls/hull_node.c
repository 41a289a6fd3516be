/// Parameters that nodes of this family share.

#include "nodes/hulls/hull_node.h"

const rbl_param_desc rbli_negative_space_fields[] = {
    {.name = "enabled",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "keep gaps and holes free: merging never covers spheres of empty space"},
    {.name = "samples",
        .type = RBL_PARAM_INT,
        .default_json = "50",
        .min = 1,
        .max = 10000,
        .step = 1,
        .text = "most spheres"},
    {.name = "tolerance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.02",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "space left between spheres and bodies"},
    {.name = "min_radius",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.1",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "smaller gaps may be covered"},
    {0},
};

const rbl_param_desc rbli_decomposition_fields[] = {
    {.name = "max_hulls",
        .type = RBL_PARAM_INT,
        .default_json = "1",
        .min = 0,
        .max = 64,
        .step = 1,
        .text = "hulls of a piece; 1: no decomposition; 0: as many as error_tolerance asks for, at most 64"},
    {.name = "max_ratio",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = 0,
        .max = 1,
        .step = 0.05,
        .text = "pieces that fill at least this part of their hull get one hull"},
    {.name = "min_volume",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e300,
        .unit = "m3",
        .text = "smaller pieces get one hull"},
    {.name = "error_tolerance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "edge of a cube: a hull may have its volume too much, and merging may add it"},
    {.name = "min_thickness",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "no part is cut off that is thinner than this across the cut"},
    {.name = "additional_splits",
        .type = RBL_PARAM_INT,
        .default_json = "4",
        .min = 0,
        .max = 63,
        .step = 1,
        .text = "parts beyond max_hulls that are made and then merged again: slower, closer"},
    {.name = "protect_negative_space",
        .type = RBL_PARAM_OBJECT,
        .default_json = "{}",
        .fields = rbli_negative_space_fields,
        .text = "keep holes of pieces free"},
    {0},
};

const rbli_negative_space_options *rbli_read_negative_space(
    const rbl_param *object, rbli_negative_space_options *storage)
{
    if (!object || !rbl_param_bool(rbl_param_field(object, "enabled"))) return NULL;
    *storage =
        (rbli_negative_space_options){.samples = (size_t)rbl_param_int(rbl_param_field(object, "samples")),
            .tolerance = rbl_param_float(rbl_param_field(object, "tolerance")),
            .min_radius = rbl_param_float(rbl_param_field(object, "min_radius"))};
    return storage;
}

rbli_decompose_options rbli_read_decomposition(
    const rbl_call *call, const char *name, rbli_negative_space_options *protect)
{
    const rbl_param *object = rbl_call_param(call, name);
    return (rbli_decompose_options){.max_hulls = (size_t)rbl_param_int(rbl_param_field(object, "max_hulls")),
        .max_ratio = rbl_param_float(rbl_param_field(object, "max_ratio")),
        .min_volume = rbl_param_float(rbl_param_field(object, "min_volume")),
        .error_tolerance = rbl_param_float(rbl_param_field(object, "error_tolerance")),
        .min_thickness = rbl_param_float(rbl_param_field(object, "min_thickness")),
        .additional_splits = (size_t)rbl_param_int(rbl_param_field(object, "additional_splits")),
        .protect = rbli_read_negative_space(rbl_param_field(object, "protect_negative_space"), protect)};
}
