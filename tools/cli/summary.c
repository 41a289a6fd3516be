/// Counts a collection's pieces, triangles, shells, open edges and draw calls through the public views.

#include "tools/cli/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/asset.h"
#include "tools/cli/cli.h"

static void grow_bounds(const cli_asset *a, size_t geometry, const double *matrix, cli_summary *s)
{
    size_t begin = (size_t)a->vertex_start[geometry], end = begin + (size_t)a->geometry_vertices[geometry];
    for (size_t v = begin; v < end && v < a->vertex_count; v++) {
        const double *p = a->position + 3 * v;
        for (size_t k = 0; k < 3; k++) {
            double x = matrix[k] * p[0] + matrix[4 + k] * p[1] + matrix[8 + k] * p[2] + matrix[12 + k];
            if (x < s->min[k]) s->min[k] = x;
            if (x > s->max[k]) s->max[k] = x;
        }
    }
}

static int32_t find_root(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

static int compare_edges(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/// Directed edges of sorted (low, high, direction) triples that have no reverse.
static size_t count_open_edges(int32_t (*edges)[3], size_t count)
{
    qsort(edges, count, sizeof *edges, compare_edges);
    size_t open = 0;
    for (size_t i = 0; i < count;) {
        size_t next = i;
        long balance = 0;
        while (next < count && compare_edges(edges[next], edges[i]) == 0)
            balance += edges[next++][2];
        open += (size_t)labs(balance);
        i = next;
    }
    return open;
}

/// Shells and open edges of one geometry. `parent` [vertex_count] and `edges` [3 × face_count] are scratch.
static void look_at_surface(
    const cli_asset *a, size_t geometry, int32_t *parent, int32_t (*edges)[3], cli_summary *s)
{
    size_t begin = (size_t)a->face_start[geometry], end = begin + (size_t)a->geometry_faces[geometry];
    if (end > a->face_count) end = a->face_count;
    size_t edge_count = 0;
    for (size_t f = begin; f < end; f++) {
        const int32_t *v = a->face_vertices + 3 * f;
        for (size_t k = 0; k < 3; k++) {
            int32_t from = v[k], to = v[(k + 1) % 3];
            parent[from] = from;
            edges[edge_count][0] = from < to ? from : to;
            edges[edge_count][1] = from < to ? to : from;
            edges[edge_count++][2] = from < to ? 1 : -1;
        }
    }
    for (size_t f = begin; f < end; f++) {
        const int32_t *v = a->face_vertices + 3 * f;
        parent[find_root(parent, v[1])] = find_root(parent, v[0]);
        parent[find_root(parent, v[2])] = find_root(parent, v[0]);
    }
    for (size_t f = begin; f < end; f++)
        for (size_t k = 0; k < 3; k++) {
            int32_t v = a->face_vertices[3 * f + k];
            if (parent[v] != v) continue;
            s->shells++;
            parent[v] = INT32_MIN; /* counted: a root is met as often as it has faces */
        }
    s->open_edges += count_open_edges(edges, edge_count);
}

static void count_faces(const cli_asset *a, size_t geometry, uint32_t *seen, uint32_t round, cli_summary *s)
{
    size_t begin = (size_t)a->face_start[geometry], end = begin + (size_t)a->geometry_faces[geometry];
    for (size_t f = begin; f < end && f < a->face_count; f++) {
        s->triangles++;
        s->internal_triangles += a->internal && a->internal[f];
        size_t material = a->face_material[f] >= 0 ? (size_t)a->face_material[f] : 0;
        if (material < s->materials + 1 && seen[material] != round) {
            seen[material] = round;
            s->draw_calls++;
        }
    }
}

rbl_status cli_summarize(const rbl_collection *collection, bool surfaces, cli_summary *s)
{
    cli_asset a;
    *s = (cli_summary){.smallest = -1, .largest = -1, .first_open = -1};
    for (size_t k = 0; k < 3; k++) {
        s->min[k] = INFINITY;
        s->max[k] = -INFINITY;
    }
    if (!cli_get_asset(collection, &a)) return RBL_ERR_COLLECTION;
    s->bones = a.bone_count;
    s->hulls = rbl_collection_group_size(collection, "convex");
    s->materials = rbl_collection_group_size(collection, "material");
    double *world = cli_world_transforms(&a);
    uint32_t *seen = calloc(s->materials + 1, sizeof *seen);
    int32_t *parent = surfaces ? calloc(a.vertex_count + 1, sizeof *parent) : NULL;
    int32_t(*edges)[3] = surfaces ? calloc(3 * a.face_count + 1, sizeof *edges) : NULL;
    rbl_status status = world && seen && (!surfaces || (parent && edges)) ? RBL_OK : RBL_ERR_NO_MEMORY;
    for (size_t b = 0; b < a.bone_count && status == RBL_OK; b++) {
        if (a.level && a.level[b] + 1 > s->levels) s->levels = a.level[b] + 1;
        int32_t geometry = a.bone_geometry[b];
        if (a.type[b] == 0) s->clusters++;
        if (geometry < 0) continue;
        bool sheet = a.sheet && a.sheet[b];
        size_t g = (size_t)geometry;
        s->vertices += (size_t)a.geometry_vertices[g];
        count_faces(&a, g, seen, (uint32_t)b + 1, s);
        grow_bounds(&a, g, world + 16 * b, s);
        if (sheet) {
            s->sheets++;
            continue;
        }
        s->pieces++;
        size_t open_before = s->open_edges;
        if (surfaces) look_at_surface(&a, g, parent, edges, s);
        if (s->open_edges > open_before && !s->open_pieces++) s->first_open = (int32_t)b;
        double volume = a.volume[g];
        s->volume += volume;
        if (s->smallest < 0 || volume < s->smallest_volume) {
            s->smallest = (int32_t)b;
            s->smallest_volume = volume;
        }
        if (s->largest < 0 || volume > s->largest_volume) {
            s->largest = (int32_t)b;
            s->largest_volume = volume;
        }
    }
    free(world);
    free(seen);
    free(parent);
    free(edges);
    return status;
}

void cli_json_number(double number)
{
    if (isfinite(number))
        printf("%.17g", number);
    else
        printf("null");
}

static void json_vector(const char *name, const double v[3])
{
    printf(", \"%s\": [", name);
    for (size_t k = 0; k < 3; k++) {
        printf(k ? ", " : "");
        cli_json_number(v[k]);
    }
    printf("]");
}

void cli_summary_json(const rbl_collection *collection, const cli_summary *s)
{
    printf("{\"bones\": %zu, \"clusters\": %zu, \"levels\": %d, \"pieces\": %zu, \"sheets\": %zu, "
           "\"shells\": %zu, ",
        s->bones, s->clusters, s->levels, s->pieces, s->sheets, s->shells);
    printf("\"open_edges\": %zu, \"vertices\": %zu, \"triangles\": %zu, \"internal_triangles\": %zu, ",
        s->open_edges, s->vertices, s->triangles, s->internal_triangles);
    printf("\"materials\": %zu, \"hulls\": %zu, \"draw_calls\": %zu, \"volume\": ", s->materials, s->hulls,
        s->draw_calls);
    cli_json_number(s->volume);
    if (s->pieces) {
        printf(", \"smallest\": {\"name\": ");
        cli_json_string(stdout, rbl_collection_string(collection, "bone", "name", (size_t)s->smallest));
        printf(", \"volume\": ");
        cli_json_number(s->smallest_volume);
        printf("}, \"largest\": {\"name\": ");
        cli_json_string(stdout, rbl_collection_string(collection, "bone", "name", (size_t)s->largest));
        printf(", \"volume\": ");
        cli_json_number(s->largest_volume);
        printf("}");
        json_vector("min", s->min);
        json_vector("max", s->max);
    }
    printf("}");
}
