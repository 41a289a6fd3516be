#ifndef RUBBLE_IO_VERTEX_SPLIT_H
#define RUBBLE_IO_VERTEX_SPLIT_H

/// Vertices for files in which all attributes belong to vertices (GLB, PLY): corners of a vertex that agree in
/// all attributes become one vertex.

#include "fracture/io/piece_view.h"

/// Zero-initialised, then rbli_vertex_split_init.
typedef struct rbli_vertex_split {
    const rbli_asset_view *view;
    int uv_sets;           /* of the collection, from 0 on without gap */
    bool tangents, colors; /* belong to the attributes; there are no tangents without UVs */
    /* Of the vertices made since the last start: corner and vertex of the geometry that each came from, and its
       attributes, `width` numbers one behind the other: normal (3), UVs (2 a set), tangent (4), colour (4). */
    uint32_t *corners, *vertices;
    float *values;
    size_t width, count;
    int tangent_at, color_at;
    uint32_t *next, *heads; /* chains of those made of one vertex */
    int32_t first_vertex;
} rbli_vertex_split;

/// @param view is kept. @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_vertex_split_init(rbl_context *ctx, const rbli_asset_view *view, rbli_vertex_split *out);
void rbli_vertex_split_free(rbl_context *ctx, rbli_vertex_split *split);

/// Begins anew: faces of one geometry follow.
void rbli_vertex_split_start(rbli_vertex_split *split, size_t geometry);
/// The numbers of the vertices of a face's corners, from 0 on. Of a vertex of more than 64 kinds of corners the
/// last 64 are looked at.
void rbli_vertex_split_face(rbli_vertex_split *split, size_t face, uint32_t out[3]);

/// The normal of a corner as it is; the face's own where it has none.
void rbli_corner_normal(const rbli_asset_view *view, size_t corner, float out[3]);
/// A unit tangent of a corner; where the asset has none, any direction across the (unit) normal.
void rbli_unit_tangent(const float tangent[4], const float normal[3], float out[4]);

#endif
