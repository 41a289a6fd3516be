/// glTF 2.0 and GLB: nodes of the default scene with their meshes in world space. A mesh that several nodes
/// use comes once for each. Skins, morph targets and cameras are not looked at.

#include <math.h>
#include <stdio.h>

#include "fracture/base/affine.h"
#include "fracture/geometry/polygon.h"
#include "fracture/io/gltf_document.h"
#include "fracture/io/piece_view.h"

enum { MODE_TRIANGLES = 4, MODE_STRIP = 5, MODE_FAN = 6 };

typedef struct gltf_primitive {
    int64_t positions, normals, normal_lengths, tangents, colors, indices, material; /* or RBLI_GLTF_NONE */
    int64_t uvs[RBLI_MESH_FILE_UV_SETS];
    int mode;
    bool
        polygons; /* FB_ngon_encoding: triangles in a row with the same first vertex are the fan of a polygon */
    size_t vertex_count, triangle_count;
} gltf_primitive;

/// A node of the scene in the order of a walk, parents first.
typedef struct gltf_node {
    size_t item;    /* number in the file */
    int64_t parent; /* number in the walk, or −1 */
    int64_t mesh;
    double world[16];
    bool needed;  /* has triangles, or a node below has */
    int32_t node; /* in the mesh file, where needed */
} gltf_node;

typedef struct gltf_reader {
    rbl_context *ctx;
    rbli_mesh_builder builder;
    rbli_gltf_document document;
    RBLI_ARRAY(gltf_primitive) primitives;
    size_t *first_primitive; /* [mesh + 1] */
    RBLI_ARRAY(gltf_node) walk;
    bool *visited;        /* nodes of the file */
    int32_t *material_of; /* [material of the file] or −1 until used */
    size_t triangle_count, position_count;
    size_t next_triangle, next_position;
    bool any_normals, any_tangents, any_colors;
    size_t uv_sets;
    size_t skipped_primitives, odd_primitives;
    bool skins;
} gltf_reader;

static rbl_status read_attribute(gltf_reader *reader, const cJSON *attributes, const char *pointer,
    const char *key, size_t least_width, size_t most_width, size_t count, int64_t *out)
{
    rbli_gltf_document *document = &reader->document;
    rbl_status status = rbli_gltf_index(document, attributes, pointer, key, document->accessor_count, out);
    if (status != RBL_OK || *out < 0) return status;
    const rbli_gltf_accessor *accessor = &document->accessors[*out];
    if (accessor->width < least_width || accessor->width > most_width)
        return rbli_gltf_fail(document, pointer, "%s has a wrong type", key);
    if (accessor->count != count)
        return rbli_gltf_fail(
            document, pointer, "%s has %zu elements, there are %zu positions", key, accessor->count, count);
    return RBL_OK;
}

static rbl_status read_attributes(
    gltf_reader *reader, const cJSON *attributes, const char *pointer, gltf_primitive *primitive)
{
    rbl_status status = RBL_OK;
    size_t count = primitive->vertex_count;
    RBL_TRY(read_attribute(reader, attributes, pointer, "NORMAL", 3, 3, count, &primitive->normals));
    RBL_TRY(read_attribute(
        reader, attributes, pointer, "_NORMAL_LENGTH", 1, 1, count, &primitive->normal_lengths));
    RBL_TRY(read_attribute(reader, attributes, pointer, "TANGENT", 4, 4, count, &primitive->tangents));
    RBL_TRY(read_attribute(reader, attributes, pointer, "COLOR_0", 3, 4, count, &primitive->colors));
    for (size_t set = 0; set < RBLI_MESH_FILE_UV_SETS; set++) {
        char key[16];
        snprintf(key, sizeof key, "TEXCOORD_%zu", set);
        RBL_TRY(read_attribute(reader, attributes, pointer, key, 2, 2, count, &primitive->uvs[set]));
    }
done:
    return status;
}

static size_t triangles_of(int mode, size_t corners)
{
    return mode == MODE_TRIANGLES ? corners / 3 : corners < 3 ? 0 : corners - 2;
}

static rbl_status read_primitive(gltf_reader *reader, const cJSON *item, const char *pointer)
{
    rbli_gltf_document *document = &reader->document;
    rbl_status status = RBL_OK;
    gltf_primitive primitive = {.mode = MODE_TRIANGLES};
    const cJSON *attributes = cJSON_GetObjectItemCaseSensitive(item, "attributes");
    const cJSON *mode = cJSON_GetObjectItemCaseSensitive(item, "mode");
    if (mode) primitive.mode = cJSON_IsNumber(mode) ? mode->valueint : -1;
    RBL_TRY(rbli_gltf_index(
        document, attributes, pointer, "POSITION", document->accessor_count, &primitive.positions));
    if (primitive.positions < 0 || primitive.mode < MODE_TRIANGLES || primitive.mode > MODE_FAN) {
        reader->skipped_primitives++;
        return RBL_OK;
    }
    const rbli_gltf_accessor *accessor = &document->accessors[primitive.positions];
    if (accessor->width != 3)
        return rbli_gltf_fail(document, pointer, "POSITION has a wrong type, VEC3 expected");
    const cJSON *extensions = cJSON_GetObjectItemCaseSensitive(item, "extensions");
    if (accessor->view < 0 && cJSON_GetObjectItemCaseSensitive(extensions, "KHR_draco_mesh_compression"))
        return rbli_gltf_fail(document, pointer,
            "the mesh is compressed (KHR_draco_mesh_compression), which is not read; export it without mesh "
            "compression");
    primitive.vertex_count = accessor->count;
    primitive.polygons = primitive.mode == MODE_TRIANGLES &&
                         cJSON_GetObjectItemCaseSensitive(extensions, "FB_ngon_encoding") != NULL;
    RBL_TRY(read_attributes(reader, attributes, pointer, &primitive));
    RBL_TRY(
        rbli_gltf_index(document, item, pointer, "indices", document->accessor_count, &primitive.indices));
    RBL_TRY(
        rbli_gltf_index(document, item, pointer, "material", document->materials.count, &primitive.material));
    RBL_TRY(rbli_gltf_check_accessor(document, (size_t)primitive.positions));
    if (primitive.indices >= 0) RBL_TRY(rbli_gltf_check_accessor(document, (size_t)primitive.indices));
    size_t corners =
        primitive.indices >= 0 ? document->accessors[primitive.indices].count : primitive.vertex_count;
    primitive.triangle_count = triangles_of(primitive.mode, corners);
    if (primitive.mode == MODE_TRIANGLES && corners % 3) reader->odd_primitives++;
    RBL_TRY(rbli_array_push(reader->ctx, &reader->primitives, primitive));
done:
    return status;
}

static rbl_status read_meshes(gltf_reader *reader)
{
    rbli_gltf_document *document = &reader->document;
    rbl_status status = RBL_OK;
    reader->first_primitive =
        rbli_alloc(reader->ctx, document->meshes.count + 1, sizeof *reader->first_primitive);
    RBL_TRY_ALLOC(reader->first_primitive);
    for (size_t m = 0; m < document->meshes.count; m++) {
        reader->first_primitive[m] = reader->primitives.count;
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(document->meshes.items[m], "primitives"), *item;
        size_t p = 0;
        cJSON_ArrayForEach(item, list)
        {
            char pointer[80];
            snprintf(pointer, sizeof pointer, "/meshes/%zu/primitives/%zu", m, p++);
            RBL_TRY(read_primitive(reader, item, pointer));
        }
    }
    reader->first_primitive[document->meshes.count] = reader->primitives.count;
done:
    return status;
}

static rbl_status read_local_transform(
    gltf_reader *reader, const cJSON *item, const char *pointer, double out[16])
{
    rbli_gltf_document *document = &reader->document;
    rbl_status status = RBL_OK;
    bool found;
    RBL_TRY(rbli_gltf_numbers(document, item, pointer, "matrix", 16, out, &found));
    if (found) goto done;
    double t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    RBL_TRY(rbli_gltf_numbers(document, item, pointer, "translation", 3, t, &found));
    RBL_TRY(rbli_gltf_numbers(document, item, pointer, "rotation", 4, q, &found));
    RBL_TRY(rbli_gltf_numbers(document, item, pointer, "scale", 3, s, &found));
    double norm = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    double f = norm > 0 && isfinite(norm) ? 2 / norm : 0; /* 2: the formulas are for unit quaternions */
    double x = q[0], y = q[1], z = q[2], w = q[3];
    const double m[16] = {s[0] * (1 - f * (y * y + z * z)), s[0] * f * (x * y + z * w),
        s[0] * f * (x * z - y * w), 0, s[1] * f * (x * y - z * w), s[1] * (1 - f * (x * x + z * z)),
        s[1] * f * (y * z + x * w), 0, s[2] * f * (x * z + y * w), s[2] * f * (y * z - x * w),
        s[2] * (1 - f * (x * x + y * y)), 0, t[0], t[1], t[2], 1};
    memcpy(out, m, sizeof m);
done:
    return status;
}

/// Appends a node to the walk.
static rbl_status visit(gltf_reader *reader, size_t item, int64_t parent)
{
    rbli_gltf_document *document = &reader->document;
    rbl_status status = RBL_OK;
    char pointer[40];
    snprintf(pointer, sizeof pointer, "/nodes/%zu", item);
    if (reader->visited[item]) return rbli_gltf_fail(document, pointer, "the node is reached twice");
    reader->visited[item] = true;
    const cJSON *json = document->nodes.items[item];
    gltf_node node = {.item = item, .parent = parent, .node = -1};
    double local[16];
    RBL_TRY(read_local_transform(reader, json, pointer, local));
    if (parent >= 0) {
        rbli_affine_multiply(reader->walk.data[parent].world, local, node.world);
    } else {
        memcpy(node.world, local, sizeof local);
    }
    RBL_TRY(rbli_gltf_index(document, json, pointer, "mesh", document->meshes.count, &node.mesh));
    if (node.mesh >= 0 && cJSON_GetObjectItemCaseSensitive(json, "skin")) reader->skins = true;
    RBL_TRY(rbli_array_push(reader->ctx, &reader->walk, node));
done:
    return status;
}

static rbl_status visit_list(gltf_reader *reader, const cJSON *list, const char *pointer, int64_t parent)
{
    rbl_status status = RBL_OK;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        double index = cJSON_IsNumber(item) ? item->valuedouble : -1;
        if (!(index >= 0 && index < (double)reader->document.nodes.count) || index != floor(index))
            return rbli_gltf_fail(
                &reader->document, pointer, "a node that is none of 0 … %zu", reader->document.nodes.count);
        RBL_TRY(visit(reader, (size_t)index, parent));
    }
done:
    return status;
}

/// Without a scene: every node that is no child.
static rbl_status visit_roots(gltf_reader *reader)
{
    rbli_gltf_document *document = &reader->document;
    rbl_status status = RBL_OK;
    bool *is_child = rbli_calloc(reader->ctx, document->nodes.count, sizeof *is_child);
    if (!is_child) return RBL_ERR_NO_MEMORY;
    for (size_t n = 0; n < document->nodes.count; n++) {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(document->nodes.items[n], "children"), *item;
        cJSON_ArrayForEach(item, list)
        {
            double index = cJSON_IsNumber(item) ? item->valuedouble : -1;
            if (index >= 0 && index < (double)document->nodes.count) is_child[(size_t)index] = true;
        }
    }
    for (size_t n = 0; n < document->nodes.count; n++)
        if (!is_child[n]) RBL_TRY(visit(reader, n, -1));
done:
    rbli_free(reader->ctx, is_child);
    return status;
}

/// Breadth first, so that parents come before children.
static rbl_status walk_scene(gltf_reader *reader)
{
    rbli_gltf_document *document = &reader->document;
    rbl_status status = RBL_OK;
    int64_t scene;
    reader->visited = rbli_calloc(reader->ctx, document->nodes.count, sizeof *reader->visited);
    RBL_TRY_ALLOC(reader->visited);
    RBL_TRY(rbli_gltf_index(document, document->root, "/", "scene", document->scenes.count, &scene));
    if (scene < 0) scene = 0;
    if (document->scenes.count > 0) {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(document->scenes.items[scene], "nodes");
        RBL_TRY(visit_list(reader, list, "/scenes", -1));
    } else {
        RBL_TRY(visit_roots(reader));
    }
    for (size_t n = 0; n < reader->walk.count; n++) {
        size_t item = reader->walk.data[n].item;
        char pointer[60];
        snprintf(pointer, sizeof pointer, "/nodes/%zu/children", item);
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(document->nodes.items[item], "children");
        RBL_TRY(visit_list(reader, list, pointer, (int64_t)n));
    }
done:
    return status;
}

/// Sums triangles and positions of all instances; a small file may not unfold to an enormous mesh.
static rbl_status count_all(gltf_reader *reader)
{
    size_t most =
        reader->document.byte_count < (size_t)1 << 16 ? (size_t)1 << 20 : reader->document.byte_count * 16;
    for (size_t n = 0; n < reader->walk.count; n++) {
        gltf_node *node = &reader->walk.data[n];
        if (node->mesh < 0) continue;
        for (size_t p = reader->first_primitive[node->mesh]; p < reader->first_primitive[node->mesh + 1];
             p++) {
            const gltf_primitive *primitive = &reader->primitives.data[p];
            if (primitive->triangle_count == 0) continue;
            node->needed = true;
            reader->triangle_count += primitive->triangle_count;
            reader->position_count += primitive->vertex_count;
            reader->any_normals |= primitive->normals >= 0;
            reader->any_tangents |= primitive->tangents >= 0;
            reader->any_colors |= primitive->colors >= 0;
            for (size_t set = reader->uv_sets; set < RBLI_MESH_FILE_UV_SETS; set++)
                if (primitive->uvs[set] >= 0) reader->uv_sets = set + 1;
            if (reader->triangle_count > most || reader->position_count > most ||
                reader->position_count > INT32_MAX)
                return rbli_fail(reader->ctx, RBL_ERR_LIMIT,
                    "%s: its nodes unfold to more than %zu triangles or vertices, more than the file's size "
                    "justifies",
                    reader->builder.name, most);
        }
    }
    for (size_t n = reader->walk.count; n-- > 0;)
        if (reader->walk.data[n].needed && reader->walk.data[n].parent >= 0)
            reader->walk.data[reader->walk.data[n].parent].needed = true;
    return RBL_OK;
}

static rbl_status add_nodes(gltf_reader *reader)
{
    rbl_status status = RBL_OK;
    for (size_t n = 0; n < reader->walk.count; n++) {
        gltf_node *node = &reader->walk.data[n];
        if (!node->needed) continue;
        const char *name = rbli_gltf_string(reader->document.nodes.items[node->item], "name");
        if ((!name || !*name) && node->mesh >= 0)
            name = rbli_gltf_string(reader->document.meshes.items[node->mesh], "name");
        char numbered[40];
        snprintf(numbered, sizeof numbered, "node_%zu", node->item);
        if (!name || !*name) name = numbered;
        node->node = (int32_t)reader->builder.file.node_count;
        int32_t parent = node->parent >= 0 ? reader->walk.data[node->parent].node : -1;
        RBL_TRY(rbli_builder_add_node(&reader->builder, name, strlen(name), parent, node->world));
    }
done:
    return status;
}

/// Vertex numbers of the triangles, from indices or in order; counter-clockwise.
static rbl_status read_triangles(gltf_reader *reader, const gltf_primitive *primitive, uint32_t (**out)[3])
{
    rbl_status status = RBL_OK;
    uint32_t *indices = NULL;
    uint32_t(*triangles)[3] = NULL;
    if (primitive->indices >= 0)
        RBL_TRY(rbli_gltf_read_indices(
            &reader->document, (size_t)primitive->indices, primitive->vertex_count, &indices));
    if (indices && primitive->mode == MODE_TRIANGLES) {
        *out = (uint32_t(*)[3])indices;
        return RBL_OK;
    }
    triangles = rbli_alloc(reader->ctx, primitive->triangle_count, sizeof *triangles);
    RBL_TRY_ALLOC(triangles);
    for (size_t t = 0; t < primitive->triangle_count; t++) {
        size_t corners[3] = {3 * t, 3 * t + 1, 3 * t + 2};
        if (primitive->mode == MODE_STRIP) {
            corners[0] = t;
            corners[1] = t + 1 + t % 2;
            corners[2] = t + 2 - t % 2;
        } else if (primitive->mode == MODE_FAN) {
            corners[0] = 0;
            corners[1] = t + 1;
            corners[2] = t + 2;
        }
        for (int k = 0; k < 3; k++)
            triangles[t][k] = indices ? indices[corners[k]] : (uint32_t)corners[k];
    }
    *out = triangles;
    triangles = NULL;
done:
    rbli_free(reader->ctx, triangles);
    rbli_free(reader->ctx, indices);
    return status;
}

/// World positions of a primitive's vertices, behind those that are there.
static rbl_status add_positions(gltf_reader *reader, const gltf_primitive *primitive, const gltf_node *node)
{
    double(*positions)[3] = reader->builder.file.positions + reader->next_position;
    rbl_status status =
        rbli_gltf_read_values_into(&reader->document, (size_t)primitive->positions, positions[0]);
    if (status != RBL_OK || rbli_transform_is_identity(node->world)) return status;
    for (size_t v = 0; v < primitive->vertex_count; v++) {
        double moved[3];
        rbli_transform_point(node->world, positions[v], moved);
        memcpy(positions[v], moved, sizeof moved);
    }
    return RBL_OK;
}

static rbl_status check_finite(gltf_reader *reader, const gltf_primitive *primitive, const gltf_node *node,
    const uint32_t (*triangles)[3])
{
    const double(*positions)[3] = (const double(*)[3])reader->builder.file.positions + reader->next_position;
    double nothing = 0; /* 0 · x is 0, or not a number where x is not finite */
    for (size_t v = 0; v < primitive->vertex_count; v++)
        nothing += 0 * positions[v][0] + 0 * positions[v][1] + 0 * positions[v][2];
    if (nothing == 0) return RBL_OK;
    for (size_t t = 0; t < primitive->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const double *p = positions[triangles[t][k]];
            if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2])) continue;
            char pointer[40];
            snprintf(pointer, sizeof pointer, "/accessors/%lld", (long long)primitive->positions);
            return rbli_gltf_fail(&reader->document, pointer,
                "vertex %u is not finite (%g, %g, %g in the world) and a triangle of node %zu uses it",
                triangles[t][k], p[0], p[1], p[2], node->item);
        }
    return RBL_OK;
}

/// Triangulates the polygon whose fan begins at triangle `first` anew, because a fan leaves concave ones.
static rbl_status triangulate_fan(
    gltf_reader *reader, uint32_t (*triangles)[3], size_t first, size_t count, int32_t *corners)
{
    const double(*positions)[3] = (const double(*)[3])reader->builder.file.positions + reader->next_position;
    corners[0] = (int32_t)triangles[first][0];
    corners[1] = (int32_t)triangles[first][1];
    for (size_t t = 0; t < count; t++)
        corners[2 + t] = (int32_t)triangles[first + t][2];
    rbl_status status = rbli_polygon_triangulate(
        reader->ctx, positions, corners, 1, count + 2, (int32_t(*)[3])triangles + first);
    if (status != RBL_OK) return status;
    for (size_t t = first; t < first + count; t++)
        for (int k = 0; k < 3; k++)
            triangles[t][k] = (uint32_t)corners[triangles[t][k]];
    return RBL_OK;
}

/// Triangulates the polygons of a primitive whose positions were added.
static rbl_status triangulate_fans(
    gltf_reader *reader, const gltf_primitive *primitive, uint32_t (*triangles)[3])
{
    rbl_status status = RBL_OK;
    int32_t *corners = rbli_alloc(reader->ctx, primitive->triangle_count + 2, sizeof *corners);
    RBL_TRY_ALLOC(corners);
    for (size_t first = 0, end; first < primitive->triangle_count; first = end) {
        RBL_TRY(rbli_poll(reader->ctx, first));
        for (end = first + 1; end < primitive->triangle_count && triangles[end][0] == triangles[first][0] &&
                              triangles[end][1] == triangles[end - 1][2];
             end++)
            ;
        if (end - first > 1) RBL_TRY(triangulate_fan(reader, triangles, first, end - first, corners));
    }
done:
    rbli_free(reader->ctx, corners);
    return status;
}

/// Where an output corner's vertex is: corners of mirrored nodes run backwards.
static size_t corner_slot(bool mirrored, size_t k)
{
    return mirrored && k > 0 ? 3 - k : k;
}

/// A normal that a cut interpolated: its length, from a file of ours, is its weight in the sums of a face.
static void shorten(float normal[3], double length)
{
    if (!(length > 1e-4 && length < 1)) return;
    for (int k = 0; k < 3; k++)
        normal[k] = (float)((double)normal[k] * length);
}

static rbl_status add_directions(gltf_reader *reader, const gltf_primitive *primitive, const gltf_node *node,
    const uint32_t (*triangles)[3], bool mirrored)
{
    rbli_mesh_file *file = &reader->builder.file;
    rbl_status status = RBL_OK;
    double *normals = NULL, *lengths = NULL, *tangents = NULL, m[9];
    const double *w = node->world;
    rbli_transform_normal_matrix(w, m);
    if (primitive->normals >= 0)
        RBL_TRY(rbli_gltf_read_values(&reader->document, (size_t)primitive->normals, &normals));
    if (normals && primitive->normal_lengths >= 0)
        RBL_TRY(rbli_gltf_read_values(&reader->document, (size_t)primitive->normal_lengths, &lengths));
    if (primitive->tangents >= 0)
        RBL_TRY(rbli_gltf_read_values(&reader->document, (size_t)primitive->tangents, &tangents));
    for (size_t t = 0; t < primitive->triangle_count; t++)
        for (size_t k = 0; k < 3; k++) {
            size_t corner = 3 * (reader->next_triangle + t) + corner_slot(mirrored, k), v = triangles[t][k];
            double moved[3];
            if (normals) {
                const double *n = normals + 3 * v;
                for (int r = 0; r < 3; r++)
                    moved[r] = m[3 * r] * n[0] + m[3 * r + 1] * n[1] + m[3 * r + 2] * n[2];
                rbli_unit_normal(moved, file->normals[corner]);
                if (lengths) shorten(file->normals[corner], lengths[v]);
            }
            if (tangents) {
                const double *d = tangents + 4 * v;
                for (int r = 0; r < 3; r++)
                    moved[r] = w[r] * d[0] + w[4 + r] * d[1] + w[8 + r] * d[2];
                rbli_unit_normal(moved, file->tangents[corner]);
                file->tangents[corner][3] = (d[3] < 0) != mirrored ? -1 : 1;
            }
        }
done:
    rbli_free(reader->ctx, normals);
    rbli_free(reader->ctx, lengths);
    rbli_free(reader->ctx, tangents);
    return status;
}

static float finite_or(double value, float other)
{
    return isfinite((float)value) ? (float)value : other;
}

static rbl_status add_colors_and_uvs(
    gltf_reader *reader, const gltf_primitive *primitive, const uint32_t (*triangles)[3], bool mirrored)
{
    rbli_mesh_file *file = &reader->builder.file;
    rbl_status status = RBL_OK;
    double *values = NULL;
    size_t first = 3 * reader->next_triangle;
    if (primitive->colors >= 0) {
        size_t width = reader->document.accessors[primitive->colors].width;
        RBL_TRY(rbli_gltf_read_values(&reader->document, (size_t)primitive->colors, &values));
        for (size_t c = 0; c < 3 * primitive->triangle_count; c++)
            for (size_t k = 0; k < width; k++)
                file->colors[first + c / 3 * 3 + corner_slot(mirrored, c % 3)][k] =
                    finite_or(values[triangles[c / 3][c % 3] * width + k], 1);
    }
    for (size_t set = 0; set < reader->uv_sets; set++) {
        if (primitive->uvs[set] < 0) continue;
        rbli_free(reader->ctx, values);
        values = NULL;
        RBL_TRY(rbli_gltf_read_values(&reader->document, (size_t)primitive->uvs[set], &values));
        for (size_t c = 0; c < 3 * primitive->triangle_count; c++)
            for (size_t k = 0; k < 2; k++)
                file->uvs[set][first + c / 3 * 3 + corner_slot(mirrored, c % 3)][k] =
                    finite_or(values[2 * (size_t)triangles[c / 3][c % 3] + k], 0);
    }
done:
    rbli_free(reader->ctx, values);
    return status;
}

static rbl_status add_primitive(gltf_reader *reader, const gltf_primitive *primitive, const gltf_node *node)
{
    rbli_mesh_file *file = &reader->builder.file;
    rbl_status status = RBL_OK;
    uint32_t(*triangles)[3] = NULL;
    bool mirrored = rbli_transform_determinant(node->world) < 0;
    if (rbli_cancelled(reader->ctx)) return RBL_ERR_CANCELLED;
    RBL_TRY(read_triangles(reader, primitive, &triangles));
    RBL_TRY(add_positions(reader, primitive, node));
    RBL_TRY(check_finite(reader, primitive, node, (const uint32_t(*)[3])triangles));
    if (primitive->polygons) RBL_TRY(triangulate_fans(reader, primitive, triangles));
    if (primitive->material >= 0 && reader->material_of[primitive->material] < 0) {
        reader->material_of[primitive->material] = (int32_t)file->material_count;
        RBL_TRY(rbli_gltf_add_material(&reader->document, (size_t)primitive->material));
    }
    for (size_t t = 0; t < primitive->triangle_count; t++) {
        size_t out = reader->next_triangle + t;
        for (size_t k = 0; k < 3; k++)
            file->triangles[out][corner_slot(mirrored, k)] =
                (int32_t)(reader->next_position + triangles[t][k]);
        file->triangle_nodes[out] = node->node;
        if (primitive->material >= 0)
            file->triangle_materials[out] = reader->material_of[primitive->material];
    }
    if (primitive->normals >= 0 || primitive->tangents >= 0)
        RBL_TRY(add_directions(reader, primitive, node, (const uint32_t(*)[3])triangles, mirrored));
    RBL_TRY(add_colors_and_uvs(reader, primitive, (const uint32_t(*)[3])triangles, mirrored));
    reader->next_triangle += primitive->triangle_count;
    reader->next_position += primitive->vertex_count;
done:
    rbli_free(reader->ctx, triangles);
    return status;
}

static rbl_status tell_oddities(gltf_reader *reader)
{
    rbl_status status = RBL_OK;
    if (reader->skipped_primitives)
        RBL_TRY(rbli_builder_message(&reader->builder, RBLI_WARNING,
            ": %zu primitives that are not triangles are left out", reader->skipped_primitives));
    if (reader->odd_primitives)
        RBL_TRY(rbli_builder_message(&reader->builder, RBLI_WARNING,
            ": %zu primitives with corners that make no whole triangle at their end",
            reader->odd_primitives));
    if (reader->skins)
        RBL_TRY(rbli_builder_message(
            &reader->builder, RBLI_WARNING, ": skins are not applied, meshes are taken as they were bound"));
done:
    return status;
}

static rbl_status read_all(gltf_reader *reader)
{
    rbl_context *ctx = reader->ctx;
    rbli_mesh_builder *builder = &reader->builder;
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_gltf_document_parse(&reader->document));
    RBL_TRY(read_meshes(reader));
    RBL_TRY(walk_scene(reader));
    RBL_TRY(count_all(reader));
    RBL_TRY(rbli_builder_set_triangle_count(builder, reader->triangle_count));
    RBL_TRY(add_nodes(reader));
    builder->file.positions = rbli_alloc(ctx, reader->position_count, sizeof *builder->file.positions);
    RBL_TRY_ALLOC(builder->file.positions);
    builder->file.position_count = reader->position_count;
    if (reader->any_normals) RBL_TRY(rbli_builder_add_normals(builder));
    if (reader->any_tangents) RBL_TRY(rbli_builder_add_tangents(builder));
    if (reader->any_colors) RBL_TRY(rbli_builder_add_colors(builder));
    if (reader->uv_sets > 0) RBL_TRY(rbli_builder_add_uvs(builder, reader->uv_sets - 1));
    size_t material_count = reader->document.materials.count;
    reader->material_of = rbli_alloc(ctx, material_count, sizeof *reader->material_of);
    RBL_TRY_ALLOC(reader->material_of);
    for (size_t m = 0; m < material_count; m++)
        reader->material_of[m] = -1;
    for (size_t n = 0; n < reader->walk.count; n++) {
        const gltf_node *node = &reader->walk.data[n];
        if (node->mesh < 0) continue;
        for (size_t p = reader->first_primitive[node->mesh]; p < reader->first_primitive[node->mesh + 1]; p++)
            if (reader->primitives.data[p].triangle_count > 0)
                RBL_TRY(add_primitive(reader, &reader->primitives.data[p], node));
    }
    rbli_builder_fix_colors(builder);
    RBL_TRY(tell_oddities(reader));
done:
    return status;
}

rbl_status rbli_mesh_file_parse_gltf(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out)
{
    gltf_reader reader = {.ctx = ctx, .builder = {.ctx = ctx, .name = name}};
    reader.document = (rbli_gltf_document){.ctx = ctx,
        .name = name,
        .folder = folder,
        .builder = &reader.builder,
        .bytes = bytes,
        .byte_count = byte_count};
    rbl_status status = read_all(&reader);
    rbli_gltf_document_free(&reader.document);
    rbli_free(ctx, reader.primitives.data);
    rbli_free(ctx, reader.first_primitive);
    rbli_free(ctx, reader.walk.data);
    rbli_free(ctx, reader.visited);
    rbli_free(ctx, reader.material_of);
    return rbli_builder_end(&reader.builder, status, out);
}
