#ifndef RUBBLE_CLI_ENGINE_COST_H
#define RUBBLE_CLI_ENGINE_COST_H

/// What a collection will cost in an engine.

#include "tools/cli/asset.h"

typedef struct cli_engine_cost {
    size_t draw_calls;        /* one a piece and material on it */
    size_t fewest_draw_calls; /* with one material for all */
    size_t vertices;          /* as drawn: one for each vertex, material, normal, UV, colour and tangent */
    size_t vertex_bytes;      /* of one: position and normal 24, 8 a UV set, 16 a tangent, 4 a colour */
    size_t vertex_total_bytes;
    size_t index_bytes; /* 2 an index, 4 in a piece of more than 65,535 vertices */
    size_t wide_pieces; /* those */
    int32_t first_wide; /* bone of the first one, −1 for none */
    size_t image_bytes; /* of image files, as they are stored */
    size_t hull_bytes;  /* 12 a vertex, 2 an index */
} cli_engine_cost;

/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status cli_count_engine_cost(const cli_asset *asset, cli_engine_cost *out);

#endif
