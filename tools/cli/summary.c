/// Counts a collection's pieces, triangles, shells, open edges and draw calls through the public views.

#include "tools/cli/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"

const void *cli_attribute(
    const rbl_collection *collection, const char *group, const char *name, rbl_type type)
{
    rbl_attribute_view view;
    if (rbl_collection_attribute(collection, group, name, &view) != RBL_OK) return NULL;
    return view.type == type && !view.is_list ? view.data : NULL;
}

/// The arrays that are looked at.
typedef struct arrays {
    const rbl_collection *collection;
    size_t bone_count, geometry_count, vertex_count, face_count;
    const int32_t *parent, *type, *level, *bone_geometry;
    const uint8_t *sheet, *internal;
    const double *transform; /* [bone_count][16] */
    const int32_t *geometry_bone, *vertex_start, *geometry_vertices, *face_start, *geometry_faces;
    const double *volume, *position;
    const int32_t *face_vertices, *face_material;
} arrays;

static bool get_arrays(const rbl_collection *c, arrays *a)
{
    *a = (arrays){.collection = c,
        .bone_count = rbl_collection_group_size(c, "bone"),
        .geometry_count = rbl_collection_group_size(c, "geometry"),
        .vertex_count = rbl_collection_group_size(c, "vertex"),
        .face_count = rbl_collection_group_size(c, "face")};
    a->parent = cli_attribute(c, "bone", "parent", RBL_INT32);
    a->type = cli_attribute(c, "bone", "type", RBL_INT32);
    a->level = cli_attribute(c, "bone", "level", RBL_INT32);
    a->bone_geometry = cli_attribute(c, "bone", "geometry", RBL_INT32);
    a->transform = cli_attribute(c, "bone", "transform", RBL_MAT4);
    a->sheet = cli_attribute(c, "bone", "sheet", RBL_BOOL);
    a->geometry_bone = cli_attribute(c, "geometry", "bone", RBL_INT32);
    a->vertex_start = cli_attribute(c, "geometry", "vertex_start", RBL_INT32);
    a->geometry_vertices = cli_attribute(c, "geometry", "vertex_count", RBL_INT32);
    a->face_start = cli_attribute(c, "geometry", "face_start", RBL_INT32);
    a->geometry_faces = cli_attribute(c, "geometry", "face_count", RBL_INT32);
    a->volume = cli_attribute(c, "geometry", "volume", RBL_DOUBLE);
    a->position = cli_attribute(c, "vertex", "position", RBL_VEC3);
    a->face_vertices = cli_attribute(c, "face", "vertices", RBL_INT32_3);
    a->face_material = cli_attribute(c, "face", "material", RBL_INT32);
    a->internal = cli_attribute(c, "face", "internal", RBL_BOOL);
    return a->parent && a->type && a->bone_geometry && a->transform && a->geometry_bone && a->vertex_start &&
           a->geometry_vertices && a->face_start && a->geometry_faces && a->volume && a->position &&
           a->face_vertices && a->face_material;
}

/// World transforms, [bone_count][16] column-major; freed by the caller. Parents come before their children.
static double *world_transforms(const arrays *a)
{
    double *world = malloc((a->bone_count + 1) * 16 * sizeof *world);
    for (size_t b = 0; world && b < a->bone_count; b++) {
        const double *local = a->transform + 16 * b;
        double *out = world + 16 * b;
        int32_t parent = a->parent[b];
        memcpy(out, local, 16 * sizeof *out);
        if (parent < 0 || (size_t)parent >= b) continue;
        const double *up = world + 16 * (size_t)parent;
        for (size_t column = 0; column < 4; column++)
            for (size_t row = 0; row < 4; row++) {
                out[4 * column + row] = 0;
                for (size_t k = 0; k < 4; k++)
                    out[4 * column + row] += up[4 * k + row] * local[4 * column + k];
            }
    }
    return world;
}

static void grow_bounds(const arrays *a, size_t geometry, const double *matrix, cli_summary *s)
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
    const arrays *a, size_t geometry, int32_t *parent, int32_t (*edges)[3], cli_summary *s)
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

static void count_faces(const arrays *a, size_t geometry, uint32_t *seen, uint32_t round, cli_summary *s)
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

static bool ranges_are_good(const arrays *a)
{
    for (size_t g = 0; g < a->geometry_count; g++) {
        int64_t v = (int64_t)a->vertex_start[g] + a->geometry_vertices[g],
                f = (int64_t)a->face_start[g] + a->geometry_faces[g];
        if (a->vertex_start[g] < 0 || a->geometry_vertices[g] < 0 || v > (int64_t)a->vertex_count)
            return false;
        if (a->face_start[g] < 0 || a->geometry_faces[g] < 0 || f > (int64_t)a->face_count) return false;
    }
    for (size_t i = 0; i < 3 * a->face_count; i++)
        if (a->face_vertices[i] < 0 || (size_t)a->face_vertices[i] >= a->vertex_count) return false;
    for (size_t b = 0; b < a->bone_count; b++)
        if (a->bone_geometry[b] >= (int64_t)a->geometry_count) return false;
    return true;
}

rbl_status cli_summarize(const rbl_collection *collection, bool surfaces, cli_summary *s)
{
    arrays a;
    *s = (cli_summary){.smallest = -1, .largest = -1};
    for (size_t k = 0; k < 3; k++) {
        s->min[k] = INFINITY;
        s->max[k] = -INFINITY;
    }
    if (!get_arrays(collection, &a) || !ranges_are_good(&a)) return RBL_ERR_COLLECTION;
    s->bones = a.bone_count;
    s->hulls = rbl_collection_group_size(collection, "convex");
    s->materials = rbl_collection_group_size(collection, "material");
    double *world = world_transforms(&a);
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
        if (surfaces) look_at_surface(&a, g, parent, edges, s);
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
