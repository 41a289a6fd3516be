/// Turns a collection into the block of bytes that the page of `rubble view` reads; view_data.h has the
/// layout.

#include "tools/cli/view_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/summary.h"

/// About 500 MB of page; browsers open no more than that.
enum { MOST_TRIANGLES = 10 * 1000 * 1000 };

/* ---- Bytes ---- */

void view_bytes_add(view_bytes *bytes, const void *data, size_t size)
{
    if (bytes->failed || size == 0) return;
    if (size > bytes->capacity - bytes->size) {
        size_t capacity = bytes->capacity + bytes->capacity / 2 + 4096;
        if (capacity < bytes->size + size) capacity = bytes->size + size;
        unsigned char *grown = size > SIZE_MAX / 4 ? NULL : realloc(bytes->data, capacity);
        if (!grown) {
            bytes->failed = true;
            return;
        }
        bytes->data = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void view_bytes_text(view_bytes *bytes, const char *text)
{
    view_bytes_add(bytes, text, strlen(text));
}

void view_bytes_json_string(view_bytes *bytes, const char *text)
{
    view_bytes_text(bytes, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        char escaped[8];
        if (*c == '"' || *c == '\\')
            snprintf(escaped, sizeof escaped, "\\%c", *c);
        else if (*c < 0x20)
            snprintf(escaped, sizeof escaped, "\\u%04x", *c);
        else
            snprintf(escaped, sizeof escaped, "%c", *c);
        view_bytes_text(bytes, escaped);
    }
    view_bytes_text(bytes, "\"");
}

static void pad(view_bytes *bytes, char with)
{
    while (bytes->size % 8 && !bytes->failed)
        view_bytes_add(bytes, &with, 1);
}

/* ---- The collection as plain arrays, borrowed ---- */

typedef struct list {
    const void *values;
    const uint64_t *offsets;
} list;

typedef struct asset {
    const rbl_collection *collection;
    size_t bones, geometries, vertices, faces, materials, hulls, connections, contacts;
    const int32_t *parent, *level, *type, *simulation_type, *site, *collider;
    const bool *anchored, *sheet, *internal;
    const double *mass, *threshold, *volume, *connection_area, *contact_area, *hull_volume;
    const double (*transform)[16], (*position)[3];
    const int32_t *geometry_bone, *vertex_start, *vertex_count, *face_start, *face_count;
    const int32_t (*face)[3], *material, *hull_bone, (*connection)[2], (*contact)[2];
    const float (*normal)[3], (*color)[4], (*base_color)[4];
    list hull_points, hull_faces;
    double (*world)[16]; /* owned, as are the next two */
    view_bytes json, arrays;
    double origin[3];
} asset;

static list get_list(const rbl_collection *c, const char *group, const char *name, rbl_type type)
{
    rbl_attribute_view view;
    if (rbl_collection_attribute(c, group, name, &view) != RBL_OK) return (list){0};
    if (view.type != type || !view.is_list || view.stride != rbl_type_bytes(type)) return (list){0};
    return (list){view.data, view.offsets};
}

static void read_asset(const rbl_collection *c, asset *a)
{
    *a = (asset){
        .collection = c,
        .bones = rbl_collection_group_size(c, "bone"),
        .geometries = rbl_collection_group_size(c, "geometry"),
        .vertices = rbl_collection_group_size(c, "vertex"),
        .faces = rbl_collection_group_size(c, "face"),
        .materials = rbl_collection_group_size(c, "material"),
        .parent = cli_attribute(c, "bone", "parent", RBL_INT32),
        .level = cli_attribute(c, "bone", "level", RBL_INT32),
        .type = cli_attribute(c, "bone", "type", RBL_INT32),
        .simulation_type = cli_attribute(c, "bone", "simulation_type", RBL_INT32),
        .site = cli_attribute(c, "bone", "site", RBL_INT32),
        .collider = cli_attribute(c, "bone", "collider", RBL_INT32),
        .anchored = cli_attribute(c, "bone", "anchored", RBL_BOOL),
        .sheet = cli_attribute(c, "bone", "sheet", RBL_BOOL),
        .mass = cli_attribute(c, "bone", "mass", RBL_DOUBLE),
        .threshold = cli_attribute(c, "bone", "damage_threshold", RBL_DOUBLE),
        .transform = cli_attribute(c, "bone", "transform", RBL_MAT4),
        .geometry_bone = cli_attribute(c, "geometry", "bone", RBL_INT32),
        .volume = cli_attribute(c, "geometry", "volume", RBL_DOUBLE),
        .vertex_start = cli_attribute(c, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = cli_attribute(c, "geometry", "vertex_count", RBL_INT32),
        .face_start = cli_attribute(c, "geometry", "face_start", RBL_INT32),
        .face_count = cli_attribute(c, "geometry", "face_count", RBL_INT32),
        .position = cli_attribute(c, "vertex", "position", RBL_VEC3),
        .face = cli_attribute(c, "face", "vertices", RBL_INT32_3),
        .material = cli_attribute(c, "face", "material", RBL_INT32),
        .internal = cli_attribute(c, "face", "internal", RBL_BOOL),
        .normal = cli_attribute(c, "corner", "normal", RBL_FLOAT_3),
        .color = cli_attribute(c, "corner", "color", RBL_FLOAT_4),
        .base_color = cli_attribute(c, "material", "base_color", RBL_FLOAT_4),
        .hull_bone = cli_attribute(c, "convex", "bone", RBL_INT32),
        .hull_volume = cli_attribute(c, "convex", "volume", RBL_DOUBLE),
        .hull_points = get_list(c, "convex", "points", RBL_VEC3),
        .hull_faces = get_list(c, "convex", "faces", RBL_INT32_3),
        .connection = cli_attribute(c, "connection", "bones", RBL_INT32_2),
        .connection_area = cli_attribute(c, "connection", "area", RBL_DOUBLE),
        .contact = cli_attribute(c, "proximity", "geometries", RBL_INT32_2),
        .contact_area = cli_attribute(c, "proximity", "area", RBL_DOUBLE),
    };
    if (a->hull_bone && a->hull_points.offsets && a->hull_faces.offsets)
        a->hulls = rbl_collection_group_size(c, "convex");
    if (a->connection) a->connections = rbl_collection_group_size(c, "connection");
    if (a->contact) a->contacts = rbl_collection_group_size(c, "proximity");
}

static bool is_bone(const asset *a, int32_t bone)
{
    return bone >= 0 && (size_t)bone < a->bones;
}

static bool in_range(int32_t start, int32_t count, size_t size)
{
    return start >= 0 && count >= 0 && (size_t)start + (size_t)count <= size;
}

static bool good_faces(const asset *a, size_t g)
{
    for (size_t f = (size_t)a->face_start[g]; f < (size_t)(a->face_start[g] + a->face_count[g]); f++)
        for (int k = 0; k < 3; k++)
            if (a->face[f][k] < a->vertex_start[g] ||
                a->face[f][k] >= a->vertex_start[g] + a->vertex_count[g])
                return false;
    return true;
}

/// Whether all indices that are followed here are in range; a collection may come from a stranger.
static bool is_sound(const asset *a)
{
    if (!a->parent || !a->level || !a->transform || !a->geometry_bone || !a->vertex_start || !a->vertex_count)
        return false;
    if (!a->face_start || !a->face_count || !a->position || !a->face) return false;
    for (size_t b = 0; b < a->bones; b++)
        if (a->parent[b] < -1 || a->parent[b] >= (int32_t)b) return false;
    size_t vertex = 0, face = 0; /* ranges are in order, without gaps */
    for (size_t g = 0; g < a->geometries; g++) {
        if (!is_bone(a, a->geometry_bone[g]) ||
            !in_range(a->vertex_start[g], a->vertex_count[g], a->vertices) ||
            !in_range(a->face_start[g], a->face_count[g], a->faces) || !good_faces(a, g))
            return false;
        if ((size_t)a->vertex_start[g] != vertex || (size_t)a->face_start[g] != face) return false;
        vertex += (size_t)a->vertex_count[g];
        face += (size_t)a->face_count[g];
    }
    if (vertex != a->vertices || face != a->faces) return false;
    for (size_t h = 0; h < a->hulls; h++)
        if (!is_bone(a, a->hull_bone[h])) return false;
    for (size_t i = 0; i < a->connections; i++)
        if (!is_bone(a, a->connection[i][0]) || !is_bone(a, a->connection[i][1])) return false;
    for (size_t i = 0; i < a->contacts; i++)
        for (int k = 0; k < 2; k++)
            if (a->contact[i][k] < 0 || (size_t)a->contact[i][k] >= a->geometries) return false;
    return true;
}

/* ---- World space ---- */

static void apply(const double m[16], const double p[3], double w, double out[3])
{
    for (int row = 0; row < 3; row++)
        out[row] = m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row] * w;
}

/// World transforms, column-major; a parent comes before its children.
static bool place_bones(asset *a)
{
    a->world = malloc((a->bones ? a->bones : 1) * sizeof *a->world);
    if (!a->world) return false;
    for (size_t b = 0; b < a->bones; b++) {
        memcpy(a->world[b], a->transform[b], sizeof a->world[b]);
        if (a->parent[b] < 0) continue;
        const double *parent = a->world[a->parent[b]], *own = a->transform[b];
        for (int i = 0; i < 16; i++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += parent[k * 4 + i % 4] * own[i / 4 * 4 + k];
            a->world[b][i] = sum;
        }
    }
    return true;
}

/// The middle of everything; positions become floats around it, so that an asset far away keeps its detail.
static void find_origin(asset *a)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, p[3];
    for (size_t g = 0; g < a->geometries; g++) {
        for (int32_t v = 0; v < a->vertex_count[g]; v++) {
            apply(a->world[a->geometry_bone[g]], a->position[a->vertex_start[g] + v], 1, p);
            for (int k = 0; k < 3; k++) {
                low[k] = fmin(low[k], p[k]);
                high[k] = fmax(high[k], p[k]);
            }
        }
    }
    for (int k = 0; k < 3; k++)
        a->origin[k] = low[k] <= high[k] ? low[k] + (high[k] - low[k]) / 2 : 0;
}

static void add_point(asset *a, size_t bone, const double p[3])
{
    double placed[3];
    float out[3];
    apply(a->world[bone], p, 1, placed);
    for (int k = 0; k < 3; k++)
        out[k] = (float)(placed[k] - a->origin[k]);
    view_bytes_add(&a->arrays, out, sizeof out);
}

/* ---- Arrays ---- */

/// Enters an array into the table; its numbers are added next.
static void begin_array(asset *a, const char *name, const char *type, size_t count)
{
    pad(&a->arrays, 0);
    char text[128];
    bool first = a->json.size && a->json.data[a->json.size - 1] == '{';
    snprintf(text, sizeof text, "%s\"%s\": [\"%s\", %zu, %zu]", first ? "" : ", ", name, type, a->arrays.size,
        count);
    view_bytes_text(&a->json, text);
}

static void add_ints(asset *a, const char *name, const int32_t *values, size_t count)
{
    if (!values) return;
    begin_array(a, name, "i32", count);
    view_bytes_add(&a->arrays, values, count * sizeof *values);
}

static void add_floats(asset *a, const char *name, const double *values, size_t count)
{
    if (!values) return;
    begin_array(a, name, "f32", count);
    for (size_t i = 0; i < count; i++) {
        float value = (float)values[i];
        view_bytes_add(&a->arrays, &value, sizeof value);
    }
}

static void add_bools(asset *a, const char *name, const bool *values, size_t count)
{
    if (!values) return;
    begin_array(a, name, "u8", count);
    view_bytes_add(&a->arrays, values, count);
}

static void add_bones(asset *a)
{
    add_ints(a, "parent", a->parent, a->bones);
    add_ints(a, "level", a->level, a->bones);
    add_ints(a, "type", a->type, a->bones);
    add_ints(a, "simulation_type", a->simulation_type, a->bones);
    add_ints(a, "site", a->site, a->bones);
    add_ints(a, "collider", a->collider, a->bones);
    add_bools(a, "anchored", a->anchored, a->bones);
    add_bools(a, "sheet", a->sheet, a->bones);
    add_floats(a, "mass", a->mass, a->bones);
    add_floats(a, "threshold", a->threshold, a->bones);
    add_ints(a, "geometry_bone", a->geometry_bone, a->geometries);
    add_ints(a, "vertex_start", a->vertex_start, a->geometries);
    add_ints(a, "vertex_count", a->vertex_count, a->geometries);
    add_ints(a, "face_start", a->face_start, a->geometries);
    add_ints(a, "face_count", a->face_count, a->geometries);
    if (a->volume) {
        begin_array(a, "volume", "f64", a->geometries);
        view_bytes_add(&a->arrays, a->volume, a->geometries * sizeof *a->volume);
    }
}

/// A normal as three bytes, in world space.
static void add_normal(asset *a, size_t bone, const float normal[3])
{
    double own[3] = {normal[0], normal[1], normal[2]}, n[3];
    signed char bytes[3];
    apply(a->world[bone], own, 0, n); /* bones turn and scale evenly */
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++)
        bytes[k] = (signed char)(length > 0 ? round(127 * n[k] / length) : 0);
    view_bytes_add(&a->arrays, bytes, sizeof bytes);
}

static void add_faces(asset *a)
{
    begin_array(a, "faces", "u32", a->faces * 3);
    view_bytes_add(&a->arrays, a->face, a->faces * sizeof *a->face); /* NULL and 0 are fine */
    add_bools(a, "internal", a->internal, a->faces);
    if (a->material) {
        begin_array(a, "material", "u16", a->faces);
        for (size_t f = 0; f < a->faces; f++) {
            uint16_t m = a->material[f] >= 0 && a->material[f] < 65535 ? (uint16_t)a->material[f] : 0;
            view_bytes_add(&a->arrays, &m, sizeof m);
        }
    }
    if (a->normal) {
        begin_array(a, "normals", "i8", a->faces * 9);
        for (size_t g = 0; g < a->geometries; g++)
            for (size_t c = 0; c < 3 * (size_t)a->face_count[g]; c++)
                add_normal(a, (size_t)a->geometry_bone[g], a->normal[3 * (size_t)a->face_start[g] + c]);
    }
    if (a->color) {
        begin_array(a, "colors", "u8", a->faces * 9);
        for (size_t c = 0; c < a->faces * 3; c++)
            for (int k = 0; k < 3; k++) {
                float value = fminf(fmaxf(a->color[c][k], 0), 1);
                unsigned char byte =
                    (unsigned char)(255 * sqrtf(value) + 0.5f); /* squared again by the page */
                view_bytes_add(&a->arrays, &byte, 1);
            }
    }
}

static void add_positions(asset *a)
{
    begin_array(a, "positions", "f32", a->vertices * 3);
    for (size_t g = 0; g < a->geometries; g++)
        for (int32_t v = 0; v < a->vertex_count[g]; v++)
            add_point(a, (size_t)a->geometry_bone[g], a->position[a->vertex_start[g] + v]);
}

static void add_offsets(asset *a, const char *name, const uint64_t *offsets, size_t count)
{
    begin_array(a, name, "u32", count + 1);
    for (size_t i = 0; i <= count; i++) {
        uint32_t offset = (uint32_t)offsets[i];
        view_bytes_add(&a->arrays, &offset, sizeof offset);
    }
}

static void add_hulls(asset *a)
{
    if (!a->hulls) return;
    const double(*points)[3] = a->hull_points.values;
    const int32_t(*faces)[3] = a->hull_faces.values;
    size_t face_count = a->hull_faces.offsets[a->hulls];
    add_ints(a, "hull_bone", a->hull_bone, a->hulls);
    add_floats(a, "hull_volume", a->hull_volume, a->hulls);
    add_offsets(a, "hull_point_start", a->hull_points.offsets, a->hulls);
    add_offsets(a, "hull_face_start", a->hull_faces.offsets, a->hulls);
    begin_array(a, "hull_points", "f32", 3 * a->hull_points.offsets[a->hulls]);
    for (size_t h = 0; h < a->hulls; h++)
        for (uint64_t p = a->hull_points.offsets[h]; p < a->hull_points.offsets[h + 1]; p++)
            add_point(a, (size_t)a->hull_bone[h], points[p]);
    begin_array(a, "hull_faces", "u32", 3 * face_count);
    view_bytes_add(&a->arrays, faces, face_count * sizeof *faces);
}

static void add_pairs(asset *a)
{
    if (a->connections) {
        add_ints(a, "connection", *a->connection, 2 * a->connections);
        add_floats(a, "connection_area", a->connection_area, a->connections);
    }
    if (!a->contacts) return;
    begin_array(a, "contact", "i32", 2 * a->contacts);
    for (size_t i = 0; i < 2 * a->contacts; i++)
        view_bytes_add(&a->arrays, &a->geometry_bone[a->contact[i / 2][i % 2]], sizeof(int32_t));
    add_floats(a, "contact_area", a->contact_area, a->contacts);
}

/* ---- Text ---- */

static void add_numbers(view_bytes *json, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[40];
        snprintf(text, sizeof text, "%s%.17g", i ? ", " : "", isfinite(numbers[i]) ? numbers[i] : 0);
        view_bytes_text(json, text);
    }
}

static void add_texts(asset *a, const char *title, const char *live)
{
    view_bytes *json = &a->json;
    view_bytes_text(json, "{\"program\": ");
    view_bytes_json_string(json, rbl_version_text());
    view_bytes_text(json, ", \"title\": ");
    view_bytes_json_string(json, title);
    if (live) {
        view_bytes_text(json, ", \"live\": ");
        view_bytes_json_string(json, live);
    }
    view_bytes_text(json, ", \"origin\": [");
    add_numbers(json, a->origin, 3);
    view_bytes_text(json, "], \"names\": [");
    for (size_t b = 0; b < a->bones; b++) {
        if (b) view_bytes_text(json, ", ");
        view_bytes_json_string(json, rbl_collection_string(a->collection, "bone", "name", b));
    }
    view_bytes_text(json, "], \"materials\": [");
    for (size_t m = 0; m < a->materials; m++) {
        view_bytes_text(json, m ? ", {\"name\": " : "{\"name\": ");
        view_bytes_json_string(json, rbl_collection_string(a->collection, "material", "name", m));
        if (a->base_color) {
            double color[3] = {a->base_color[m][0], a->base_color[m][1], a->base_color[m][2]};
            view_bytes_text(json, ", \"color\": [");
            add_numbers(json, color, 3);
            view_bytes_text(json, "]");
        }
        view_bytes_text(json, "}");
    }
    view_bytes_text(json, "], \"arrays\": {");
}

/// Puts header, text and arrays together. @return whether there was memory
static bool join_parts(const asset *a, view_bytes *out)
{
    if (a->json.failed || a->arrays.failed || a->json.size > UINT32_MAX) return false;
    uint32_t header[4] = {0, 1, (uint32_t)a->json.size, 0};
    memcpy(header, "RUBV", 4);
    view_bytes_add(out, header, sizeof header);
    view_bytes_add(out, a->json.data, a->json.size);
    view_bytes_add(out, a->arrays.data, a->arrays.size);
    return !out->failed;
}

const char *view_write_data(
    const rbl_collection *collection, const char *title, const char *live, view_bytes *out)
{
    static const int32_t none[1];
    asset a = {.collection = collection,
        .parent = none,
        .level = none,
        .geometry_bone = none,
        .vertex_start = none,
        .vertex_count = none,
        .face_start = none,
        .face_count = none};
    if (collection) {
        read_asset(collection, &a);
        if (!is_sound(&a)) return "the collection is damaged";
        if (a.faces > MOST_TRIANGLES) return "it has too many triangles for a page";
        if (!place_bones(&a)) return "out of memory";
        find_origin(&a);
    }
    add_texts(&a, title, live);
    add_bones(&a);
    add_positions(&a);
    add_faces(&a);
    add_hulls(&a);
    add_pairs(&a);
    view_bytes_text(&a.json, "}}");
    pad(&a.json, ' ');
    pad(&a.arrays, 0);
    bool good = join_parts(&a, out);
    free(a.world);
    free(a.json.data);
    free(a.arrays.data);
    return good ? NULL : "out of memory";
}
