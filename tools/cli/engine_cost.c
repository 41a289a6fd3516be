/// Counts what an engine would draw: a vertex is drawn once for each different set of values at its corners.

#include "tools/cli/engine_cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STREAMS = 16 };

/// A corner attribute that vertices are split by.
typedef struct stream {
    const unsigned char *data;
    size_t bytes;
} stream;

typedef struct corner {
    int32_t vertex, material;
    uint64_t values;
} corner;

static void add_stream(const cli_asset *a, const char *name, rbl_type type, stream *streams, size_t *count,
    size_t *vertex_bytes, size_t engine_bytes)
{
    const void *data = cli_attribute(a->collection, "corner", name, type);
    if (!data || *count == MOST_STREAMS) return;
    streams[(*count)++] = (stream){data, rbl_type_bytes(type)};
    *vertex_bytes += engine_bytes;
}

static size_t find_streams(const cli_asset *a, stream streams[MOST_STREAMS], size_t *vertex_bytes)
{
    size_t count = 0;
    *vertex_bytes = 24;
    add_stream(a, "normal", RBL_FLOAT_3, streams, &count, vertex_bytes, 0);
    add_stream(a, "tangent", RBL_FLOAT_4, streams, &count, vertex_bytes, 16);
    add_stream(a, "color", RBL_FLOAT_4, streams, &count, vertex_bytes, 4);
    for (int k = 0; k < 8; k++) {
        char name[16];
        snprintf(name, sizeof name, "uv%d", k);
        add_stream(a, name, RBL_FLOAT_2, streams, &count, vertex_bytes, 8);
    }
    return count;
}

/// FNV-1a over the values at a corner, with a final mix.
static uint64_t hash_corner(const stream *streams, size_t count, size_t index)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < streams[s].bytes; i++)
            h = (h ^ streams[s].data[index * streams[s].bytes + i]) * 0x100000001b3u;
    return h ^ (h >> 29);
}

static int compare_corners(const void *a, const void *b)
{
    const corner *x = a, *y = b;
    if (x->vertex != y->vertex) return x->vertex < y->vertex ? -1 : 1;
    if (x->material != y->material) return x->material < y->material ? -1 : 1;
    return (x->values > y->values) - (x->values < y->values);
}

static int compare_materials(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/// Draw calls, vertices and indices of one geometry; `corners` and `materials` are scratch.
static void count_geometry(const cli_asset *a, size_t g, const stream *streams, size_t stream_count,
    corner *corners, int32_t *materials, cli_engine_cost *cost)
{
    size_t begin = (size_t)a->face_start[g], count = (size_t)a->geometry_faces[g], different = 0;
    if (!count) return;
    for (size_t f = 0; f < count; f++) {
        materials[f] = a->face_material[begin + f];
        for (size_t k = 0; k < 3; k++) {
            size_t index = 3 * (begin + f) + k;
            corners[3 * f + k] =
                (corner){a->face_vertices[index], materials[f], hash_corner(streams, stream_count, index)};
        }
    }
    qsort(corners, 3 * count, sizeof *corners, compare_corners);
    for (size_t i = 0; i < 3 * count; i++)
        different += i == 0 || compare_corners(&corners[i - 1], &corners[i]) != 0;
    qsort(materials, count, sizeof *materials, compare_materials);
    for (size_t f = 0; f < count; f++)
        cost->draw_calls += f == 0 || materials[f] != materials[f - 1];
    cost->fewest_draw_calls++;
    cost->vertices += different;
    bool wide = different > 65535;
    cost->index_bytes += 3 * count * (wide ? 4 : 2);
    if (wide && !cost->wide_pieces++) cost->first_wide = a->geometry_bone[g];
}

static size_t list_length(const rbl_collection *c, const char *group, const char *name)
{
    rbl_attribute_view view;
    if (rbl_collection_attribute(c, group, name, &view) != RBL_OK || !view.is_list) return 0;
    return (size_t)view.offsets[view.count];
}

rbl_status cli_count_engine_cost(const cli_asset *a, cli_engine_cost *out)
{
    stream streams[MOST_STREAMS];
    size_t most = 1;
    *out = (cli_engine_cost){.first_wide = -1};
    size_t stream_count = find_streams(a, streams, &out->vertex_bytes);
    for (size_t g = 0; g < a->geometry_count; g++)
        if ((size_t)a->geometry_faces[g] > most) most = (size_t)a->geometry_faces[g];
    corner *corners = malloc(3 * most * sizeof *corners);
    int32_t *materials = malloc(most * sizeof *materials);
    for (size_t g = 0; corners && materials && g < a->geometry_count; g++)
        count_geometry(a, g, streams, stream_count, corners, materials, out);
    out->vertex_total_bytes = out->vertices * out->vertex_bytes;
    const int64_t *images = cli_attribute(a->collection, "image", "bytes", RBL_INT64);
    for (size_t i = 0; images && i < rbl_collection_group_size(a->collection, "image"); i++)
        out->image_bytes += images[i] > 0 ? (size_t)images[i] : 0;
    out->hull_bytes = 12 * list_length(a->collection, "convex", "points") +
                      6 * list_length(a->collection, "convex", "faces");
    rbl_status status = corners && materials ? RBL_OK : RBL_ERR_NO_MEMORY;
    free(corners);
    free(materials);
    return status;
}
