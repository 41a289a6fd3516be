#ifndef RUBBLE_CLI_SUMMARY_H
#define RUBBLE_CLI_SUMMARY_H

/// What a person wants to know of a collection.

#include "rubble/rubble.h"
#include "tools/cli/asset.h"

typedef struct cli_summary {
    size_t bones, clusters, pieces, sheets;
    size_t vertices, triangles, internal_triangles;
    size_t shells;     /* of surfaces: parts of pieces that share vertices */
    size_t open_edges; /* of surfaces: directed edges of pieces without their reverse */
    size_t open_pieces;
    int32_t first_open; /* bone of the first open piece, −1 for none */
    size_t hulls;
    size_t materials;
    size_t draw_calls;         /* one a piece and material on it */
    double volume;             /* of all pieces */
    int32_t smallest, largest; /* bones; −1 without pieces */
    double smallest_volume, largest_volume;
    double min[3], max[3]; /* of all pieces in world space; min > max when empty */
    int levels;
} cli_summary;

/// @param surfaces  look at how triangles hang together, too, which takes longer than all the rest
/// @return RBL_OK · RBL_ERR_COLLECTION (its hierarchy is missing or damaged) · RBL_ERR_NO_MEMORY
rbl_status cli_summarize(const rbl_collection *collection, bool surfaces, cli_summary *out);
/// One JSON object.
void cli_summary_json(const rbl_collection *collection, const cli_summary *summary);
/// A number as JSON, null when it is not finite.
void cli_json_number(double number);

#endif
