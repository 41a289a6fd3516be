/// Meshes in a host's memory: every array is read once, by stride, into one form (doubles, 32-bit indices,
/// attributes at corners), so that what was meant to be the same mesh has the same key.

#include "engine/host_mesh.h"

#include <math.h>
#include <string.h>

#include "engine/call.h"
#include "engine/params.h"
#include "fracture/base/alloc.h"
#include "fracture/collection/buffer.h"

struct rbli_host_mesh {
    rbli_allocator *allocator;
    atomic_size_t references;
    rbl_mesh_desc desc; /* points at the copies */
    rbli_hash hash;
};

void rbl_mesh_desc_init(rbl_mesh_desc *mesh)
{
    *mesh = (rbl_mesh_desc){.size = sizeof *mesh, .index_bits = 32};
}

rbli_host_mesh *rbli_host_mesh_retain(rbli_host_mesh *mesh)
{
    if (mesh) atomic_fetch_add_explicit(&mesh->references, 1, memory_order_relaxed);
    return mesh;
}

void rbli_host_mesh_release(rbli_host_mesh *mesh)
{
    if (!mesh || atomic_fetch_sub_explicit(&mesh->references, 1, memory_order_acq_rel) != 1) return;
    rbli_allocator *allocator = mesh->allocator;
    rbl_mesh_desc *d = &mesh->desc;
    for (size_t i = 0; d->material_names && i < d->material_count; i++)
        rbli_allocator_free(allocator, (void *)d->material_names[i]);
    rbli_allocator_free(allocator, (void *)d->material_names);
    rbli_allocator_free(allocator, (void *)d->materials);
    rbli_allocator_free(allocator, (void *)d->name);
    rbli_allocator_free(allocator, (void *)d->positions.data);
    rbli_allocator_free(allocator, (void *)d->indices);
    rbli_allocator_free(allocator, (void *)d->normals.data);
    rbli_allocator_free(allocator, (void *)d->tangents.data);
    rbli_allocator_free(allocator, (void *)d->colors.data);
    for (int i = 0; i < RBL_MESH_UV_SETS; i++)
        rbli_allocator_free(allocator, (void *)d->uvs[i].data);
    rbli_allocator_free(allocator, mesh);
    rbli_allocator_release(allocator);
}

rbli_hash rbli_host_mesh_hash(const rbli_host_mesh *mesh)
{
    return mesh->hash;
}

const rbl_mesh_desc *rbli_host_mesh_desc(const rbli_host_mesh *mesh)
{
    return &mesh->desc;
}

/* ---- Checks ---- */

static rbl_status check_array(rbl_context *ctx, const char *what, const rbl_mesh_array *array,
    rbl_type single, rbl_type other, rbl_type third)
{
    if (!array->data) return RBL_OK;
    if (array->type == single || array->type == other || (third && array->type == third)) return RBL_OK;
    return rbli_fail(
        ctx, RBL_ERR_ARGUMENT, "%s of a mesh cannot be of type %s", what, rbl_type_word(array->type));
}

static rbl_status check_text(rbl_context *ctx, const char *what, const char *text)
{
    if (rbli_text_is_valid(text, strlen(text))) return RBL_OK;
    return rbli_fail(ctx, RBL_ERR_ARGUMENT, "%s of a mesh is no valid UTF-8", what);
}

static rbl_status check_desc(rbl_context *ctx, const rbl_mesh_desc *m)
{
    rbl_status status = RBL_OK;
    if (!m->size)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "the mesh description is of another version of the library");
    if (!m->positions.data || !m->vertex_count || !m->triangle_count)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "a mesh needs positions and at least one triangle");
    if (m->index_bits != 16 && m->index_bits != 32)
        return rbli_fail(
            ctx, RBL_ERR_ARGUMENT, "an index of a mesh has 16 or 32 bits, not %d", m->index_bits);
    if (m->vertex_count > INT32_MAX || m->triangle_count > INT32_MAX / 3)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "a mesh has at most 2^31 − 1 vertices and corners");
    if (!m->indices && m->vertex_count / 3 < m->triangle_count)
        return rbli_fail(ctx, RBL_ERR_MESH,
            "a mesh of %zu triangles without indices needs %zu vertices, not %zu", m->triangle_count,
            3 * m->triangle_count, m->vertex_count);
    RBL_TRY(check_array(ctx, "positions", &m->positions, RBL_FLOAT_3, RBL_VEC3, 0));
    RBL_TRY(check_array(ctx, "normals", &m->normals, RBL_FLOAT_3, RBL_VEC3, 0));
    RBL_TRY(check_array(ctx, "tangents", &m->tangents, RBL_FLOAT_4, RBL_VEC4, 0));
    RBL_TRY(check_array(ctx, "colors", &m->colors, RBL_FLOAT_3, RBL_FLOAT_4, RBL_INT32));
    for (int i = 0; i < RBL_MESH_UV_SETS; i++) {
        RBL_TRY(check_array(ctx, "uvs", &m->uvs[i], RBL_FLOAT_2, RBL_VEC2, 0));
        if (i && m->uvs[i].data && !m->uvs[i - 1].data)
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "a mesh has UV set %d but not set %d", i, i - 1);
    }
    if (m->name) RBL_TRY(check_text(ctx, "the name", m->name));
    if (m->materials && !m->material_names)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "a mesh has materials but no names of them");
    for (size_t i = 0; m->material_names && i < m->material_count; i++) {
        if (!m->material_names[i] || !*m->material_names[i])
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "material %zu of a mesh has no name", i);
        RBL_TRY(check_text(ctx, "a material's name", m->material_names[i]));
        for (size_t k = 0; k < i; k++)
            if (strcmp(m->material_names[i], m->material_names[k]) == 0)
                return rbli_fail(
                    ctx, RBL_ERR_ARGUMENT, "two materials of a mesh are named \"%s\"", m->material_names[i]);
    }
done:
    return status;
}

/* ---- Copies ---- */

/// Reads element `index` as `width` doubles; what the type does not have stays as it is.
static void read_element(const rbl_mesh_array *array, size_t index, int width, double *out)
{
    size_t bytes = rbl_type_bytes(array->type), stride = array->stride ? array->stride : bytes;
    const unsigned char *from = (const unsigned char *)array->data + index * stride;
    if (array->type == RBL_INT32) {
        for (int k = 0; k < width && k < 4; k++)
            out[k] = from[k] / 255.0;
        return;
    }
    bool doubles = array->type == RBL_VEC2 || array->type == RBL_VEC3 || array->type == RBL_VEC4;
    int has = (int)(bytes / (doubles ? sizeof(double) : sizeof(float)));
    for (int k = 0; k < width && k < has; k++) {
        float single;
        if (doubles) {
            memcpy(&out[k], from + (size_t)k * sizeof(double), sizeof(double)); /* need not be aligned */
        } else {
            memcpy(&single, from + (size_t)k * sizeof single, sizeof single);
            out[k] = (double)single;
        }
    }
}

static uint32_t read_index(const rbl_mesh_desc *m, size_t corner)
{
    uint16_t small;
    uint32_t large;
    if (!m->indices) return (uint32_t)corner;
    if (m->index_bits == 16) {
        memcpy(&small, (const unsigned char *)m->indices + corner * sizeof small, sizeof small);
        return small;
    }
    memcpy(&large, (const unsigned char *)m->indices + corner * sizeof large, sizeof large);
    return large;
}

/// Corner of the host's mesh that becomes corner `corner`.
static size_t source_corner(const rbl_mesh_desc *m, size_t corner)
{
    if (!m->clockwise || corner % 3 == 0) return corner;
    return corner % 3 == 1 ? corner + 1 : corner - 1;
}

static rbl_status copy_triangles(rbl_context *ctx, const rbl_mesh_desc *m, rbl_mesh_desc *out)
{
    size_t count = 3 * m->triangle_count;
    int32_t *indices = rbli_alloc(ctx, count, sizeof *indices);
    if (!indices) return RBL_ERR_NO_MEMORY;
    out->indices = indices;
    for (size_t c = 0; c < count; c++) {
        uint32_t index = read_index(m, source_corner(m, c));
        if (index >= m->vertex_count)
            return rbli_fail(ctx, RBL_ERR_MESH, "triangle %zu of a mesh uses vertex %u of %zu", c / 3, index,
                m->vertex_count);
        indices[c] = (int32_t)index;
    }
    return RBL_OK;
}

static rbl_status copy_positions(rbl_context *ctx, const rbl_mesh_desc *m, rbl_mesh_desc *out)
{
    double(*positions)[3] = rbli_alloc(ctx, m->vertex_count, sizeof *positions);
    if (!positions) return RBL_ERR_NO_MEMORY;
    out->positions = (rbl_mesh_array){positions, RBL_VEC3, sizeof *positions};
    for (size_t v = 0; v < m->vertex_count; v++) {
        read_element(&m->positions, v, 3, positions[v]);
        for (int k = 0; k < 3; k++) {
            if (!isfinite(positions[v][k]))
                return rbli_fail(ctx, RBL_ERR_MESH, "position %zu of a mesh is not finite", v);
            positions[v][k] += 0.0; /* −0 is 0 */
        }
    }
    return RBL_OK;
}

/// Unit length, or zero.
static void normalize(double *v)
{
    double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (!(largest > 0)) return;
    double x = v[0] / largest, y = v[1] / largest, z = v[2] / largest;
    double length = sqrt(x * x + y * y + z * z);
    v[0] = x / length;
    v[1] = y / length;
    v[2] = z / length;
}

static void fix_color(double *color)
{
    for (int k = 0; k < 4; k++)
        color[k] = color[k] < 0 ? 0 : color[k] > 1 ? 1 : color[k];
}

static void fix_tangent(double *tangent)
{
    normalize(tangent);
    tangent[3] = tangent[3] < 0 ? -1 : 1;
}

/// An attribute as `width` floats a corner; `fix` makes an element what it must be, or NULL.
static rbl_status copy_corners(rbl_context *ctx, const char *what, const rbl_mesh_desc *m,
    const rbl_mesh_array *array, rbl_type type, int width, void (*fix)(double *element),
    const int32_t *vertices, rbl_mesh_array *out)
{
    if (!array->data) return RBL_OK;
    size_t count = 3 * m->triangle_count;
    float *values = rbli_alloc(ctx, count * (size_t)width, sizeof *values);
    if (!values) return RBL_ERR_NO_MEMORY;
    *out = (rbl_mesh_array){values, type, (size_t)width * sizeof *values};
    for (size_t c = 0; c < count; c++) {
        double element[4] = {0, 0, 0, 1};
        size_t from = m->at_corners ? source_corner(m, c) : (size_t)vertices[c];
        read_element(array, from, width, element);
        for (int k = 0; k < width; k++)
            if (!isfinite(element[k]))
                return rbli_fail(
                    ctx, RBL_ERR_MESH, "element %zu of the %s of a mesh is not finite", from, what);
        if (fix) fix(element);
        for (int k = 0; k < width; k++) {
            values[c * (size_t)width + (size_t)k] = (float)element[k];
            if (!isfinite(values[c * (size_t)width + (size_t)k]))
                return rbli_fail(
                    ctx, RBL_ERR_MESH, "element %zu of the %s of a mesh is too large", from, what);
        }
    }
    return RBL_OK;
}

static rbl_status copy_materials(rbl_context *ctx, const rbl_mesh_desc *m, rbl_mesh_desc *out)
{
    int32_t *materials = rbli_alloc(ctx, m->triangle_count, sizeof *materials);
    if (!materials) return RBL_ERR_NO_MEMORY;
    out->materials = materials;
    size_t count = m->material_names ? m->material_count : 0;
    char **names = rbli_calloc(ctx, count, sizeof *names);
    if (!names) return RBL_ERR_NO_MEMORY;
    out->material_names = (const char *const *)names;
    out->material_count = count;
    for (size_t i = 0; i < count; i++) {
        names[i] = rbli_strdup(ctx, m->material_names[i]);
        if (!names[i]) return RBL_ERR_NO_MEMORY;
    }
    for (size_t t = 0; t < m->triangle_count; t++) {
        int32_t material = m->materials ? m->materials[t] : count ? 0 : -1;
        if (material < -1 || material >= (int64_t)count)
            return rbli_fail(
                ctx, RBL_ERR_MESH, "triangle %zu of a mesh has material %d of %zu", t, material, count);
        materials[t] = material;
    }
    return RBL_OK;
}

static void hash_array(rbli_hasher *hasher, const void *data, size_t bytes)
{
    uint64_t count = data ? bytes : 0;
    rbli_hasher_add(hasher, &count, sizeof count);
    if (!data || !bytes) return;
    rbli_hash hash = rbli_hash_bytes(data, bytes);
    rbli_hasher_add(hasher, &hash, sizeof hash);
}

static rbli_hash hash_mesh(const rbl_mesh_desc *m)
{
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    rbli_hasher_add_string(&hasher, m->name);
    size_t corners = 3 * m->triangle_count;
    hash_array(&hasher, m->positions.data, m->vertex_count * 3 * sizeof(double));
    hash_array(&hasher, m->indices, corners * sizeof(int32_t));
    hash_array(&hasher, m->normals.data, corners * 3 * sizeof(float));
    hash_array(&hasher, m->tangents.data, corners * 4 * sizeof(float));
    hash_array(&hasher, m->colors.data, corners * 4 * sizeof(float));
    for (int i = 0; i < RBL_MESH_UV_SETS; i++)
        hash_array(&hasher, m->uvs[i].data, corners * 2 * sizeof(float));
    hash_array(&hasher, m->materials, m->triangle_count * sizeof(int32_t));
    for (size_t i = 0; i < m->material_count; i++)
        rbli_hasher_add_string(&hasher, m->material_names[i]);
    return rbli_hasher_end(&hasher);
}

rbl_status rbli_host_mesh_create(rbl_context *ctx, const rbl_mesh_desc *mesh, rbli_host_mesh **out)
{
    rbl_mesh_desc whole;
    rbl_mesh_desc_init(&whole);
    if (!rbli_take_struct(&whole, sizeof whole, mesh, RBLI_MESH_DESC_LEAST)) whole.size = 0;
    mesh = &whole;
    rbl_status status = check_desc(ctx, mesh);
    if (status != RBL_OK) return status;
    rbli_host_mesh *made = rbli_calloc(ctx, 1, sizeof *made);
    if (!made) return RBL_ERR_NO_MEMORY;
    made->allocator = rbli_allocator_retain(ctx->allocator);
    atomic_init(&made->references, 1);
    rbl_mesh_desc *d = &made->desc;
    rbl_mesh_desc_init(d);
    d->vertex_count = mesh->vertex_count;
    d->triangle_count = mesh->triangle_count;
    d->at_corners = true;
    d->name = rbli_strdup(ctx, mesh->name && *mesh->name ? mesh->name : "mesh");
    RBL_TRY_ALLOC(d->name);
    RBL_TRY(copy_triangles(ctx, mesh, d));
    RBL_TRY(copy_positions(ctx, mesh, d));
    const int32_t *vertices = d->indices;
    RBL_TRY(
        copy_corners(ctx, "normals", mesh, &mesh->normals, RBL_FLOAT_3, 3, normalize, vertices, &d->normals));
    RBL_TRY(copy_corners(
        ctx, "tangents", mesh, &mesh->tangents, RBL_FLOAT_4, 4, fix_tangent, vertices, &d->tangents));
    RBL_TRY(
        copy_corners(ctx, "colors", mesh, &mesh->colors, RBL_FLOAT_4, 4, fix_color, vertices, &d->colors));
    for (int i = 0; i < RBL_MESH_UV_SETS; i++)
        RBL_TRY(copy_corners(ctx, "uvs", mesh, &mesh->uvs[i], RBL_FLOAT_2, 2, NULL, vertices, &d->uvs[i]));
    RBL_TRY(copy_materials(ctx, mesh, d));
    made->hash = hash_mesh(d);
    *out = made;
    made = NULL;
done:
    rbli_host_mesh_release(made);
    return status;
}

/* ---- Public ---- */

static void pass_errors(rbl_graph *graph, const rbl_context *ctx, const char *node, rbl_messages *list)
{
    rbli_place place = {.source = graph->source, .offset = SIZE_MAX, .node = node, .pointer = NULL};
    for (size_t i = 0; i < rbli_messages_count(ctx->messages); i++) {
        const rbli_message *message = rbli_messages_get(ctx->messages, i);
        rbli_message_add(list, RBL_ERROR, message->status, &place, NULL, message->text);
    }
}

static rbl_status set_mesh(rbl_graph *graph, size_t index, rbli_host_mesh *mesh)
{
    rbli_graph_node *node = &graph->nodes[index];
    rbli_param_scope scope = {.allocator = graph->engine->allocator,
        .source = graph->nodes[index].document->source,
        .folder = graph->nodes[index].document->folder,
        .node = node->id,
        .pointer = "",
        .node_offset = node->id_offset};
    rbli_params *changed = NULL;
    rbl_status status = rbli_params_with_mesh(&scope, node->params, mesh, &changed);
    if (status != RBL_OK) return status;
    uv_mutex_lock(&graph->mutex);
    rbli_params *old = node->params;
    node->params = changed;
    uv_mutex_unlock(&graph->mutex);
    rbli_params_release(old);
    return RBL_OK;
}

/// The node that `name` means: one of the graph, or "each/mesh", one of the graph that the ForEach "each" runs.
static size_t find_node(rbl_graph *graph, const char *name, rbl_graph **owner)
{
    *owner = graph;
    size_t index = rbl_graph_find_node(graph, name);
    for (const char *slash = strchr(name, '/'); slash && index == SIZE_MAX; slash = strchr(slash + 1, '/')) {
        for (size_t i = 0; i < graph->node_count && index == SIZE_MAX; i++) {
            const rbli_graph_node *node = &graph->nodes[i];
            size_t length = (size_t)(slash - name);
            if (node->body && strlen(node->id) == length && memcmp(node->id, name, length) == 0)
                index = find_node(node->body, slash + 1, owner);
        }
    }
    return index;
}

rbl_status rbl_graph_bind_mesh(
    rbl_graph *graph, const char *node, const rbl_mesh_desc *mesh, rbl_messages **messages)
{
    rbl_messages *list = NULL;
    rbl_status status = messages ? rbli_messages_open(graph->engine->allocator, messages) : RBL_OK;
    if (status != RBL_OK) return status;
    if (messages) list = *messages;
    rbl_context ctx = graph->engine->base;
    rbli_host_mesh *copy = NULL;
    ctx.messages = rbli_messages_create(ctx.allocator);
    RBL_TRY_ALLOC(ctx.messages);
    rbl_graph *owner;
    size_t index = find_node(graph, node, &owner);
    if (index == SIZE_MAX) RBL_TRY(rbli_fail(&ctx, RBL_ERR_NOT_FOUND, "the graph has no node \"%s\"", node));
    const rbl_node_desc *desc = owner->nodes[index].type->desc;
    if (!(desc->flags & RBL_NODE_TAKES_MESH))
        RBL_TRY(rbli_fail(&ctx, RBL_ERR_ARGUMENT, "a node of type %s takes no mesh", desc->type));
    if (mesh) RBL_TRY(rbli_host_mesh_create(&ctx, mesh, &copy));
    RBL_TRY(set_mesh(owner, index, copy));
done:
    if (ctx.messages) pass_errors(graph, &ctx, node, list);
    rbli_messages_destroy(ctx.messages);
    rbli_host_mesh_release(copy);
    return status;
}

bool rbl_call_mesh(const rbl_call *call, rbl_mesh_desc *mesh)
{
    const rbli_host_mesh *bound = rbli_params_mesh(call->params);
    if (bound) *mesh = *rbli_host_mesh_desc(bound);
    return bound != NULL;
}
