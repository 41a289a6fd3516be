#ifndef RUBBLE_NODES_CUTTERS_CUTTER_H
#define RUBBLE_NODES_CUTTERS_CUTTER_H

/// Ports, parameters and the run that all cutter nodes share.

#include "fracture/ops/fracture.h"
#include "rubble/node.h"

extern const rbl_param_desc rbli_cutter_noise_fields[];

#define RBLI_CUTTER_INPUTS                                                                                   \
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "what is cut; only rigid leaves are"},      \
    {                                                                                                        \
        .name = "selection", .kind = RBL_VALUE_SELECTION, .optional = true,                                  \
        .text = "the bones to cut; all rigid leaves when not connected"                                      \
    }

#define RBLI_CUTTER_OUTPUTS                                                                                  \
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "cut bones are clusters of their pieces"},  \
    {                                                                                                        \
        .name = "new_pieces", .kind = RBL_VALUE_SELECTION,                                                   \
        .text = "the pieces of this cut, and chosen bones that it left whole"                                \
    }

/// Parameters of every cutter.
#define RBLI_CUTTER_COMMON_PARAMS                                                                            \
    {.name = "chance_to_fracture",                                                                           \
        .type = RBL_PARAM_FLOAT,                                                                             \
        .default_json = "1",                                                                                 \
        .min = 0,                                                                                            \
        .max = 1,                                                                                            \
        .step = 0.05,                                                                                        \
        .text = "each bone is cut with this probability, drawn by the seed"},                                \
        {.name = "group_fracture",                                                                           \
            .type = RBL_PARAM_BOOL,                                                                          \
            .default_json = "true",                                                                          \
            .text =                                                                                          \
                "one pattern over all chosen bones together, or one for each bone with a seed of its own"},  \
        {.name = "split_islands",                                                                            \
            .type = RBL_PARAM_BOOL,                                                                          \
            .default_json = "true",                                                                          \
            .text = "unconnected parts of one cell become pieces of their own"},                             \
        {.name = "close_vertex_distance",                                                                    \
            .type = RBL_PARAM_FLOAT,                                                                         \
            .default_json = "0",                                                                             \
            .min = 0,                                                                                        \
            .max = 1e9,                                                                                      \
            .step = 0.001,                                                                                   \
            .unit = "m",                                                                                     \
            .text = "unconnected parts of one cell stay one piece when vertices of them are this near"},     \
        {.name = "bridge_distance",                                                                          \
            .type = RBL_PARAM_FLOAT,                                                                         \
            .default_json = "0",                                                                             \
            .min = 0,                                                                                        \
            .max = 1e9,                                                                                      \
            .step = 0.001,                                                                                   \
            .unit = "m",                                                                                     \
            .text = "likewise when a vertex of one is this near to the surface of another"},                 \
        {.name = "internal_material",                                                                        \
            .type = RBL_PARAM_STRING,                                                                        \
            .default_json = "\"interior\"",                                                                  \
            .text = "material of the cut faces: found by name, or added"},                                   \
        {.name = "collision_samples",                                                                        \
            .type = RBL_PARAM_BOOL,                                                                          \
            .default_json = "false",                                                                         \
            .text = "new pieces get points on their surface, see CollisionSamples"},                         \
        {.name = "collision_sample_spacing",                                                                 \
            .type = RBL_PARAM_FLOAT,                                                                         \
            .default_json = "0.5",                                                                           \
            .min = 1e-9,                                                                                     \
            .max = 1e9,                                                                                      \
            .step = 0.01,                                                                                    \
            .unit = "m",                                                                                     \
            .text = "no point of a piece's surface is farther than this from one of them"},                  \
    {                                                                                                        \
        .name = "seed", .type = RBL_PARAM_SEED, .default_json = "0",                                         \
        .text = "of everything random in this node"                                                          \
    }

/// Parameters of the cutters with planar cells; `keep` is the default of keep_mortar, "true" or "false".
#define RBLI_PLANAR_CUTTER_PARAMS(keep)                                                                      \
    {.name = "grout",                                                                                        \
        .type = RBL_PARAM_FLOAT,                                                                             \
        .default_json = "0",                                                                                 \
        .min = 0,                                                                                            \
        .max = 1e9,                                                                                          \
        .step = 0.001,                                                                                       \
        .unit = "m",                                                                                         \
        .text = "width of the gap between neighbouring pieces, measured across their faces"},                \
        {.name = "noise",                                                                                    \
            .type = RBL_PARAM_OBJECT,                                                                        \
            .fields = rbli_cutter_noise_fields,                                                              \
            .default_json = "{}",                                                                            \
            .text = "rough cut surfaces"},                                                                   \
        {.name = "keep_mortar",                                                                              \
            .type = RBL_PARAM_BOOL,                                                                          \
            .default_json = keep,                                                                            \
            .text = "what lies in the gaps becomes pieces named BONE_mortar"},                               \
        RBLI_CUTTER_COMMON_PARAMS

/// Reads the parameters of RBLI_CUTTER_COMMON_PARAMS.
rbl_status rbli_cutter_read_common(rbl_context *ctx, rbl_call *call, rbli_fracture_options *out);
/// Gives the new pieces collision samples when the parameters ask for them.
rbl_status rbli_cutter_add_samples(rbl_context *ctx, rbl_call *call, rbli_fracture_result *result);
/// Sets both outputs from a result, whose arrays it takes or frees.
rbl_status rbli_cutter_finish(rbl_context *ctx, rbl_call *call, rbli_fracture_result *result);

/// Notes how many planes repeat another, if any do. @param what  one of them: "plane", "slice"
void rbli_cutter_note_repeated(rbl_context *ctx, const rbli_complex_facts *facts, const char *what);

/// Reads the parameters of RBLI_PLANAR_CUTTER_PARAMS, cuts with `make_complex` and sets both outputs.
/// Notes how many cells were empty. `remark`: NULL for none.
rbl_status rbli_cutter_run(
    rbl_context *ctx, rbl_call *call, rbli_complex_fn make_complex, rbli_remark_fn remark, void *user);

#endif
