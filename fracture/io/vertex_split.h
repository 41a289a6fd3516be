#ifndef RUBBLE_IO_VERTEX_SPLIT_H
#define RUBBLE_IO_VERTEX_SPLIT_H

/// Vertices for files in which all attributes belong to vertices (GLB, PLY): corners of a vertex that agree in
/// all attributes become one vertex.

#include "fracture/io/piece_view.h"

/// Zero-initialised, then rbli_vertex_split_init.
typedef struct rbli_vertex_split {
    const rbli_asset_view *view;
    int uv_sets;               /* of the collection, from 0 on without gap */
    bool tangents, colors;     /* are compared, too; there are no tangents without UVs */
    const float (*normals)[3]; /* [corner] each with a direction; the face's own where the asset has none */
    float (*own_normals)[3];   /* those, if they had to be made */
    /* of the vertices made since the last start */
    uint32_t *corners; /* [count] the first corner of each */
    size_t count;
    uint32_t *next, *heads; /* chains of those made of one vertex */
    uint32_t first_vertex;
} rbli_vertex_split;

/// @param view is kept. @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_vertex_split_init(rbl_context *ctx, const rbli_asset_view *view, rbli_vertex_split *out);
void rbli_vertex_split_free(rbl_context *ctx, rbli_vertex_split *split);

/// Begins anew: corners of one geometry follow.
void rbli_vertex_split_start(rbli_vertex_split *split, size_t geometry);
/// The number of a corner's vertex, from 0 on. Of a vertex of more than 64 kinds of corners the last 64 are
/// looked at.
uint32_t rbli_vertex_split_add(rbli_vertex_split *split, uint32_t corner);

/// A normal made unit; its length.
double rbli_unit_direction(const float normal[3], float out[3]);
/// A unit tangent of a corner; where the asset has none, any direction across the (unit) normal.
void rbli_unit_tangent(const float tangent[4], const float normal[3], float out[4]);

#endif
