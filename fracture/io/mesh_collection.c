/// Mesh file → collection: faces sorted by node, vertices counted anew for each node.

#include "fracture/io/mesh_collection.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/collection/hierarchy.h"

typedef struct build {
    const rbli_mesh_file *file;
    const rbli_mesh_collection_options *options;
    rbl_collection *collection;
    int32_t *node_geometry; /* [node_count] geometry of a node, or −1 */
    int32_t *face_source;   /* [triangle_count] file triangle of each face */
    size_t geometry_count;
} build;

static void turn(const rbli_mesh_collection_options *options, const double in[3], double out[3])
{
    double p[3] = {in[0], in[1], in[2]};
    out[0] = p[0];
    out[1] = options->up_axis_z ? p[2] : p[1];
    out[2] = options->up_axis_z ? -p[1] : p[2];
}

/// Stable counting sort of triangles by node.
static rbl_status sort_faces(rbl_context *ctx, build *b, int32_t *face_start)
{
    size_t nodes = b->file->node_count, triangles = b->file->triangle_count;
    b->node_geometry = rbli_alloc(ctx, nodes, sizeof *b->node_geometry);
    b->face_source = rbli_alloc(ctx, triangles, sizeof *b->face_source);
    if (!b->node_geometry || !b->face_source) return RBL_ERR_NO_MEMORY;
    for (size_t t = 0; t < triangles; t++) {
        if (rbli_poll(ctx, t) != RBL_OK) return RBL_ERR_CANCELLED;
        face_start[b->file->triangle_nodes[t] + 1]++;
    }
    for (size_t n = 0; n < nodes; n++) {
        b->node_geometry[n] = face_start[n + 1] > 0 ? (int32_t)b->geometry_count++ : -1;
        face_start[n + 1] += face_start[n];
    }
    for (size_t t = 0; t < triangles; t++) {
        if (rbli_poll(ctx, t) != RBL_OK) return RBL_ERR_CANCELLED;
        b->face_source[face_start[b->file->triangle_nodes[t]]++] = (int32_t)t;
    }
    for (size_t n = nodes; n > 0; n--)
        face_start[n] = face_start[n - 1];
    face_start[0] = 0;
    return RBL_OK;
}

static rbl_status add_bones(rbl_context *ctx, build *b)
{
    rbl_status status = RBL_OK;
    const char **names = rbli_alloc(ctx, b->geometry_count, sizeof *names);
    int32_t *parents = rbli_calloc(ctx, b->geometry_count, sizeof *parents);
    RBL_TRY_ALLOC(names);
    RBL_TRY_ALLOC(parents);
    for (size_t n = 0; n < b->file->node_count; n++)
        if (b->node_geometry[n] >= 0) names[b->node_geometry[n]] = b->file->nodes[n].name;
    int32_t root_parent = -1, first;
    const char *root_name = "root";
    RBL_TRY(
        rbli_hierarchy_add_bones(ctx, b->collection, 1, &root_parent, &root_name, RBLI_BONE_CLUSTER, &first));
    RBL_TRY(rbli_hierarchy_add_bones(
        ctx, b->collection, b->geometry_count, parents, names, RBLI_BONE_RIGID, &first));
    void *geometry;
    RBL_TRY(rbli_collection_write(ctx, b->collection, "bone", "geometry", RBL_INT32, &geometry));
    for (size_t g = 0; g < b->geometry_count; g++)
        ((int32_t *)geometry)[first + (int32_t)g] = (int32_t)g;
done:
    rbli_free(ctx, names);
    rbli_free(ctx, parents);
    return status;
}

/// Volumes are products of three coordinates, and these must be finite and not zero.
#define MOST_COORDINATE 1e100
#define LEAST_EXTENT 1e-100

static rbl_status tell_too_far(rbl_context *ctx, const build *b, const double p[3])
{
    if (b->options->scale == 1)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT,
            "a vertex is at (%g, %g, %g), and coordinates beyond %g are not possible: the file is damaged, "
            "or its "
            "unit is wrong",
            p[0], p[1], p[2], MOST_COORDINATE);
    return rbli_fail(ctx, RBL_ERR_ARGUMENT,
        "with \"scale\": %g, a vertex at (%g, %g, %g) comes beyond %g, which is not possible",
        b->options->scale, p[0], p[1], p[2], MOST_COORDINATE);
}

/// Whether a mesh has an extent, and coordinates fine enough for it: doubles far from the origin are steps apart.
static rbl_status check_extent(rbl_context *ctx, const double (*positions)[3], size_t count)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double extent = 0, farthest = 0;
    for (size_t v = 0; v < count; v++) {
        if (rbli_poll(ctx, v) != RBL_OK) return RBL_ERR_CANCELLED;
        for (int k = 0; k < 3; k++) {
            double value = positions[v][k];
            low[k] = value < low[k] ? value : low[k]; /* without the calls that fmin and fmax are */
            high[k] = value > high[k] ? value : high[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        extent = fmax(extent, high[k] - low[k]);
        farthest = fmax(farthest, fmax(fabs(low[k]), fabs(high[k])));
    }
    double step = nextafter(farthest, INFINITY) - farthest;
    if (extent == 0 && farthest >= 1e15)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT,
            "all vertices are at (%g, %g, %g): so far from the origin coordinates are steps of %g, and the "
            "mesh is lost "
            "between them; move it to the origin in the program that made it",
            low[0], low[1], low[2], step);
    if (extent == 0)
        return rbli_fail(
            ctx, RBL_ERR_ARGUMENT, "all vertices are at one point (%g, %g, %g)", low[0], low[1], low[2]);
    if (extent < LEAST_EXTENT)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT,
            "the mesh is %g across, and less than %g is not possible: a \"scale\" makes it larger", extent,
            LEAST_EXTENT);
    if (step > 1e-6 * extent)
        rbli_warn(ctx,
            "the mesh is %g across and %g from the origin, where coordinates are steps of %g: its shape has "
            "lost "
            "details; move it to the origin in the program that made it",
            extent, farthest, step);
    return RBL_OK;
}

/// Faces and vertices of every geometry; a vertex used by two nodes is in both.
static rbl_status add_surface(rbl_context *ctx, build *b, const int32_t *face_start)
{
    rbl_status status = RBL_OK;
    const rbli_mesh_file *file = b->file;
    rbl_collection *c = b->collection;
    RBLI_ARRAY(int32_t) used = {0}; /* file position of each vertex */
    int32_t *local = rbli_alloc(ctx, file->position_count, sizeof *local);
    void *faces, *range[5], *positions;
    static const char *const range_names[5] = {
        "bone", "vertex_start", "vertex_count", "face_start", "face_count"};
    RBL_TRY_ALLOC(local);
    for (size_t v = 0; v < file->position_count; v++) {
        RBL_TRY(rbli_poll(ctx, v));
        local[v] = -1;
    }
    RBL_TRY(rbli_collection_resize(ctx, c, "geometry", b->geometry_count));
    RBL_TRY(rbli_collection_resize(ctx, c, "face", file->triangle_count));
    RBL_TRY(rbli_collection_write(ctx, c, "face", "vertices", RBL_INT32_3, &faces));
    for (int i = 0; i < 5; i++)
        RBL_TRY(rbli_collection_write(ctx, c, "geometry", range_names[i], RBL_INT32, &range[i]));
    for (size_t n = 0; n < file->node_count; n++) {
        int32_t g = b->node_geometry[n];
        if (g < 0) continue;
        size_t first = used.count;
        for (int32_t f = face_start[n]; f < face_start[n + 1]; f++) {
            RBL_TRY(rbli_poll(ctx, (size_t)f));
            for (int k = 0; k < 3; k++) {
                int32_t position = file->triangles[b->face_source[f]][k];
                if (local[position] < (int32_t)first) {
                    local[position] = (int32_t)used.count;
                    RBL_TRY(rbli_array_push(ctx, &used, position));
                }
                ((int32_t(*)[3])faces)[f][k] = local[position];
            }
        }
        const int32_t values[5] = {1 + g, (int32_t)first, (int32_t)(used.count - first), face_start[n],
            face_start[n + 1] - face_start[n]};
        for (int i = 0; i < 5; i++)
            ((int32_t *)range[i])[g] = values[i];
    }
    RBL_TRY(rbli_collection_resize(ctx, c, "vertex", used.count));
    RBL_TRY(rbli_collection_write(ctx, c, "vertex", "position", RBL_VEC3, &positions));
    for (size_t v = 0; v < used.count; v++) {
        RBL_TRY(rbli_poll(ctx, v));
        double *p = ((double(*)[3])positions)[v];
        turn(b->options, file->positions[used.data[v]], p);
        for (int k = 0; k < 3; k++) {
            p[k] *= b->options->scale;
            if (!(fabs(p[k]) <= MOST_COORDINATE)) {
                status = tell_too_far(ctx, b, file->positions[used.data[v]]);
                goto done;
            }
        }
    }
    status = check_extent(ctx, (const double(*)[3])positions, used.count);
done:
    rbli_free(ctx, used.data);
    rbli_free(ctx, local);
    return status;
}

/// Copies one corner attribute of `width` floats in the order of faces.
static rbl_status add_corners(rbl_context *ctx, build *b, const char *name, rbl_type type,
    const float *values, size_t width, bool directions)
{
    void *out;
    rbl_status status = rbli_collection_write(ctx, b->collection, "corner", name, type, &out);
    if (status != RBL_OK) return status;
    for (size_t f = 0; f < b->file->triangle_count; f++) {
        if (rbli_poll(ctx, f) != RBL_OK) return RBL_ERR_CANCELLED;
        for (size_t k = 0; k < 3; k++) {
            float *to = (float *)out + (3 * f + k) * width;
            memcpy(to, values + (3 * (size_t)b->face_source[f] + k) * width, width * sizeof *to);
            if (directions && b->options->up_axis_z) {
                float y = to[1];
                to[1] = to[2];
                to[2] = -y;
            }
        }
    }
    return RBL_OK;
}

static rbl_status add_all_corners(rbl_context *ctx, build *b)
{
    rbl_status status = RBL_OK;
    const rbli_mesh_file *file = b->file;
    if (!file->normals) rbli_collection_remove(b->collection, "corner", "normal");
    RBL_TRY(rbli_collection_resize(ctx, b->collection, "corner", 3 * file->triangle_count));
    if (file->normals)
        RBL_TRY(add_corners(ctx, b, "normal", RBL_FLOAT_3, (const float *)file->normals, 3, true));
    if (file->tangents)
        RBL_TRY(add_corners(ctx, b, "tangent", RBL_FLOAT_4, (const float *)file->tangents, 4, true));
    if (file->colors)
        RBL_TRY(add_corners(ctx, b, "color", RBL_FLOAT_4, (const float *)file->colors, 4, false));
    for (size_t i = 0; i < file->uv_set_count; i++) {
        char name[] = {'u', 'v', (char)('0' + i), 0};
        RBL_TRY(add_corners(ctx, b, name, RBL_FLOAT_2, (const float *)file->uvs[i], 2, false));
    }
done:
    return status;
}

/// The attributes of materials beyond name and base colour, textures and images.
static rbl_status add_looks(rbl_context *ctx, build *b, size_t material_count)
{
    rbl_status status = RBL_OK;
    const rbli_mesh_file *file = b->file;
    rbli_material *looks = rbli_alloc(ctx, material_count, sizeof *looks);
    rbli_image_view *images = rbli_calloc(ctx, file->image_count, sizeof *images);
    RBL_TRY_ALLOC(looks);
    RBL_TRY_ALLOC(images);
    for (size_t m = 0; m < material_count; m++)
        looks[m] = m < file->material_count ? file->materials[m].look : rbli_material_default();
    for (size_t i = 0; i < file->image_count; i++)
        images[i] = (rbli_image_view){file->images[i].bytes, file->images[i].byte_count, file->images[i].name,
            file->images[i].mime_type};
    RBL_TRY(rbli_materials_set(ctx, b->collection, looks, material_count));
    status =
        rbli_textures_set(ctx, b->collection, file->textures, file->texture_count, images, file->image_count);
done:
    rbli_free(ctx, looks);
    rbli_free(ctx, images);
    return status;
}

static rbl_status add_materials(rbl_context *ctx, build *b)
{
    rbl_status status = RBL_OK;
    const rbli_mesh_file *file = b->file;
    rbl_collection *c = b->collection;
    rbli_buffer *name_buffer = NULL, *texture_buffer = NULL;
    const char **names = rbli_alloc(ctx, file->material_count + 1, sizeof *names);
    const char **textures = rbli_alloc(ctx, file->material_count + 1, sizeof *textures);
    void *colors, *material, *origin, *visible;
    bool plain = false;
    RBL_TRY_ALLOC(names);
    RBL_TRY_ALLOC(textures);
    for (size_t t = 0; t < file->triangle_count; t++) {
        RBL_TRY(rbli_poll(ctx, t));
        plain = plain || file->triangle_materials[t] < 0;
    }
    size_t count = file->material_count, plain_index = file->material_count;
    for (size_t m = 0; m < count; m++) {
        names[m] = file->materials[m].name;
        textures[m] = file->materials[m].texture;
        if (plain && strcmp(names[m], "default") == 0) plain_index = m;
    }
    if (plain && plain_index == count) {
        names[count] = "default";
        textures[count++] = "";
    }
    RBL_TRY(rbli_buffer_create_strings(ctx, count, names, &name_buffer));
    RBL_TRY(rbli_buffer_create_strings(ctx, count, textures, &texture_buffer));
    RBL_TRY(rbli_collection_resize(ctx, c, "material", count));
    RBL_TRY(rbli_collection_set(ctx, c, "material", "name", name_buffer));
    RBL_TRY(rbli_collection_set(ctx, c, "material", "texture", texture_buffer));
    RBL_TRY(rbli_collection_write(ctx, c, "material", "base_color", RBL_FLOAT_4, &colors));
    for (size_t m = 0; m < count; m++)
        for (int k = 0; k < 4; k++)
            ((float(*)[4])colors)[m][k] = m < file->material_count ? file->materials[m].base_color[k]
                                          : k < 3                  ? 0.8f
                                                                   : 1;
    RBL_TRY(add_looks(ctx, b, count));
    RBL_TRY(rbli_collection_write(ctx, c, "face", "material", RBL_INT32, &material));
    RBL_TRY(rbli_collection_write(ctx, c, "face", "origin", RBL_INT32, &origin));
    RBL_TRY(rbli_collection_write(ctx, c, "face", "visible", RBL_BOOL, &visible));
    for (size_t f = 0; f < file->triangle_count; f++) {
        RBL_TRY(rbli_poll(ctx, f));
        int32_t m = file->triangle_materials[b->face_source[f]];
        ((int32_t *)material)[f] = m < 0 ? (int32_t)plain_index : m;
        ((int32_t *)origin)[f] = -1;
        ((bool *)visible)[f] = true;
    }
done:
    rbli_buffer_release(name_buffer);
    rbli_buffer_release(texture_buffer);
    rbli_free(ctx, names);
    rbli_free(ctx, textures);
    return status;
}

rbl_status rbli_mesh_collection_create(rbl_context *ctx, const rbli_mesh_file *file,
    const rbli_mesh_collection_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    build b = {.file = file, .options = options};
    int32_t *face_start = rbli_calloc(ctx, file->node_count + 1, sizeof *face_start);
    RBL_TRY_ALLOC(face_start);
    RBL_TRY(rbli_collection_create_empty_asset(ctx, &b.collection));
    RBL_TRY(sort_faces(ctx, &b, face_start));
    RBL_TRY(add_bones(ctx, &b));
    RBL_TRY(add_surface(ctx, &b, face_start));
    RBL_TRY(add_all_corners(ctx, &b));
    RBL_TRY(add_materials(ctx, &b));
    *out = b.collection;
    b.collection = NULL;
done:
    rbli_collection_release(b.collection);
    rbli_free(ctx, face_start);
    rbli_free(ctx, b.node_geometry);
    rbli_free(ctx, b.face_source);
    return status;
}
