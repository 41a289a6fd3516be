#ifndef RUBBLE_CLI_RENDER_ASSET_H
#define RUBBLE_CLI_RENDER_ASSET_H

/// A collection as what `rubble render` draws: pieces moved and coloured, hulls, graphs.

#include "tools/cli/asset.h"
#include "tools/cli/render_scene.h"

typedef enum render_by {
    RENDER_BY_BONE,
    RENDER_BY_CLUSTER,
    RENDER_BY_LEVEL,
    RENDER_BY_MATERIAL,
    RENDER_BY_COLOR,
    RENDER_BY_VOLUME,
    RENDER_BY_CONTACTS,
} render_by;

typedef struct render_look {
    render_by by;
    int32_t level; /* bones of that level move as one; −1: pieces move alone */
    double explode;
    float line_scale; /* 1: as for a picture 700 pixels high */
    bool pale;        /* colours that leave room for lines */
} render_look;

typedef struct render_bounds {
    double low[3], high[3];
} render_bounds;

typedef struct render_asset {
    cli_asset base;
    render_look look;
    const float (*normal)[3];
    const float (*base_colour)[4];
    const float (*corner_colour)[4];
    double (*world)[16];
    double (*offset)[3];    /* [bone_count] how far what belongs to a bone is moved */
    render_bounds *bounds;  /* [bone_count] of all that is below, moved; empty: low > high */
    float (*heat)[3];       /* [geometry_count] colours by volume or contacts, else NULL */
    double origin[3], size; /* all positions are drawn as (p − origin) / size */
} render_asset;

/// Reads and places. @return NULL, or what is wrong. Freed in any case.
const char *render_asset_create(const rbl_collection *collection, const render_look *look, render_asset *out);
void render_asset_free(render_asset *asset);
/// The triangles of all pieces, freed by the caller; NULL when there is none (*count 0) or no memory.
render_triangle *render_asset_triangles(const render_asset *asset, size_t *count);
/// Where a point of a bone's frame is drawn.
void render_place(const render_asset *asset, size_t bone, const double point[3], float out[3]);
/// The colour that pieces of a bone have.
void render_bone_colour(const render_asset *asset, size_t bone, float out[3]);

/// Hulls as solids, instead of pieces. As render_asset_triangles.
render_triangle *render_hull_triangles(const render_asset *asset, size_t *count);
/// Edges of hulls, but those between triangles of one plane. @return NULL, or what is wrong
const char *render_hull_lines(const render_asset *asset, render_line **lines, size_t *count);
/// Who touches whom (proximity), or who holds whom (connection): lines between middles, the thicker the larger the area.
const char *render_graph_lines(
    const render_asset *asset, bool connections, render_line **lines, size_t *count);

#endif
