/// Parts of the mesh readers that do not depend on the format.

#include "fracture/io/mesh_builder.h"

#include <math.h>
#include <stdio.h>

#include "fracture/base/hash.h"
#include "fracture/geometry/polygon.h"
#include "fracture/io/utf8.h"

char *rbli_clean_text(rbl_context *ctx, const char *text, size_t length, const char *empty)
{
    if (length == 0) return rbli_strdup(ctx, empty);
    char *copy = rbli_alloc(ctx, length + 1, 1);
    if (!copy) return NULL;
    for (size_t i = 0; i < length;) {
        size_t step = rbli_utf8_length(text + i, length - i);
        if (step == 0 || (unsigned char)text[i] < 32 || text[i] == 127) {
            copy[i++] = '?';
            continue;
        }
        memcpy(copy + i, text + i, step);
        i += step;
    }
    copy[length] = 0;
    return copy;
}

char *rbli_file_stem(rbl_context *ctx, const char *name)
{
    const char *base = name;
    for (const char *p = name; *p; p++)
        if (*p == '/' || *p == '\\') base = p + 1;
    const char *dot = strrchr(base, '.');
    return rbli_clean_text(ctx, base, dot && dot > base ? (size_t)(dot - base) : strlen(base), "mesh");
}

char *rbli_join_path(rbl_context *ctx, const char *folder, const char *relative)
{
    if (folder[0] == 0 || relative[0] == '/') return rbli_strdup(ctx, relative);
    bool slash = folder[strlen(folder) - 1] == '/';
    return rbli_format(ctx, "%s%s%s", folder, slash ? "" : "/", relative);
}

static rbl_status rehash_names(rbl_context *ctx, rbli_names *names)
{
    size_t slot_count = names->slot_count ? names->slot_count * 2 : 64;
    uint32_t *slots = rbli_calloc(ctx, slot_count, sizeof *slots);
    if (!slots) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < names->list.count; i++) {
        size_t at = rbli_hash64(names->list.data[i], strlen(names->list.data[i])) & (slot_count - 1);
        while (slots[at])
            at = (at + 1) & (slot_count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    rbli_free(ctx, names->slots);
    names->slots = slots;
    names->slot_count = slot_count;
    return RBL_OK;
}

/// The slot of a cleaned text, or the free one where it belongs.
static size_t find_slot(const rbli_names *names, const char *clean)
{
    size_t at = rbli_hash64(clean, strlen(clean)) & (names->slot_count - 1);
    while (names->slots[at] && strcmp(names->list.data[names->slots[at] - 1], clean) != 0)
        at = (at + 1) & (names->slot_count - 1);
    return at;
}

rbl_status rbli_names_find(
    rbl_context *ctx, const rbli_names *names, const char *text, size_t length, int32_t *out)
{
    *out = -1;
    if (names->slot_count == 0) return RBL_OK;
    char *clean = rbli_clean_text(ctx, text, length, "default");
    if (!clean) return RBL_ERR_NO_MEMORY;
    *out = (int32_t)names->slots[find_slot(names, clean)] - 1;
    rbli_free(ctx, clean);
    return RBL_OK;
}

rbl_status rbli_names_add(rbl_context *ctx, rbli_names *names, const char *text, size_t length, int32_t *out)
{
    rbl_status status = RBL_OK;
    char *clean = rbli_clean_text(ctx, text, length, "default");
    RBL_TRY_ALLOC(clean);
    if (names->list.count * 2 >= names->slot_count) RBL_TRY(rehash_names(ctx, names));
    size_t at = find_slot(names, clean);
    if (!names->slots[at]) {
        if (names->list.count >= INT32_MAX) {
            status = RBL_ERR_LIMIT;
            goto done;
        }
        RBL_TRY(rbli_array_push(ctx, &names->list, clean));
        clean = NULL;
        names->slots[at] = (uint32_t)names->list.count;
    }
    *out = (int32_t)names->slots[at] - 1;
done:
    rbli_free(ctx, clean);
    return status;
}

void rbli_names_free(rbl_context *ctx, rbli_names *names)
{
    for (size_t i = 0; i < names->list.count; i++)
        rbli_free(ctx, names->list.data[i]);
    rbli_free(ctx, names->list.data);
    rbli_free(ctx, names->slots);
    memset(names, 0, sizeof *names);
}

void rbli_mesh_file_free(rbl_context *ctx, rbli_mesh_file *file)
{
    rbli_free(ctx, file->positions);
    rbli_free(ctx, file->triangles);
    rbli_free(ctx, file->triangle_nodes);
    rbli_free(ctx, file->triangle_materials);
    rbli_free(ctx, file->normals);
    rbli_free(ctx, file->tangents);
    rbli_free(ctx, file->colors);
    for (size_t i = 0; i < RBLI_MESH_FILE_UV_SETS; i++)
        rbli_free(ctx, file->uvs[i]);
    for (size_t i = 0; i < file->node_count; i++)
        rbli_free(ctx, file->nodes[i].name);
    rbli_free(ctx, file->nodes);
    for (size_t i = 0; i < file->material_count; i++) {
        rbli_free(ctx, file->materials[i].name);
        rbli_free(ctx, file->materials[i].texture);
    }
    rbli_free(ctx, file->materials);
    rbli_free(ctx, file->textures);
    for (size_t i = 0; i < file->image_count; i++) {
        rbli_free(ctx, file->images[i].name);
        rbli_free(ctx, file->images[i].source);
        rbli_free(ctx, file->images[i].bytes);
    }
    rbli_free(ctx, file->images);
    for (size_t i = 0; i < file->file_count; i++)
        rbli_free(ctx, file->files[i]);
    rbli_free(ctx, file->files);
    for (size_t i = 0; i < file->message_count; i++)
        rbli_free(ctx, file->messages[i].text);
    rbli_free(ctx, file->messages);
    memset(file, 0, sizeof *file);
}

void rbli_builder_free(rbli_mesh_builder *builder)
{
    rbli_mesh_file_free(builder->ctx, &builder->file);
    rbli_names_free(builder->ctx, &builder->material_names);
    rbli_names_free(builder->ctx, &builder->image_paths);
    rbli_free(builder->ctx, builder->image_of_path.data);
}

rbl_status rbli_builder_end(rbli_mesh_builder *builder, rbl_status status, rbli_mesh_file *out)
{
    if (status == RBL_OK) {
        *out = builder->file;
        memset(&builder->file, 0, sizeof builder->file);
    }
    rbli_builder_free(builder);
    return status;
}

/// Room for one more element of an array kept as pointer, count and capacity.
#define RESERVE_ONE(builder, array, count, capacity)                                                         \
    rbli_array_reserve_((builder)->ctx, (void **)&(array), &(capacity), (count), 1, sizeof *(array))

rbl_status rbli_builder_add_node(
    rbli_mesh_builder *builder, const char *name, size_t length, int32_t parent, const double transform[16])
{
    rbli_mesh_file *file = &builder->file;
    rbl_status status = RESERVE_ONE(builder, file->nodes, file->node_count, builder->node_capacity);
    if (status != RBL_OK) return status;
    rbli_mesh_file_node *node = &file->nodes[file->node_count];
    memset(node, 0, sizeof *node);
    node->name = rbli_clean_text(builder->ctx, name, length, "default");
    if (!node->name) return RBL_ERR_NO_MEMORY;
    node->parent = parent;
    for (int i = 0; i < 16; i++)
        node->transform[i] = transform ? transform[i] : i % 5 == 0;
    file->node_count++;
    return RBL_OK;
}

/// Adds `name` to the names in use; false when it was there.
static rbl_status use_name(rbli_mesh_builder *builder, const char *name, bool *fresh)
{
    size_t before = builder->material_names.list.count;
    int32_t index;
    rbl_status status = rbli_names_add(builder->ctx, &builder->material_names, name, strlen(name), &index);
    *fresh = builder->material_names.list.count > before;
    return status;
}

rbl_status rbli_builder_add_material(rbli_mesh_builder *builder, const char *name, size_t length)
{
    rbl_context *ctx = builder->ctx;
    rbli_mesh_file *file = &builder->file;
    rbl_status status = RBL_OK;
    char *texture = NULL, *unique = NULL, *clean = rbli_clean_text(ctx, name, length, "default");
    RBL_TRY_ALLOC(clean);
    RBL_TRY(RESERVE_ONE(builder, file->materials, file->material_count, builder->material_capacity));
    texture = rbli_strdup(ctx, "");
    RBL_TRY_ALLOC(texture);
    unique = rbli_strdup(ctx, clean);
    RBL_TRY_ALLOC(unique);
    bool fresh;
    RBL_TRY(use_name(builder, unique, &fresh));
    for (size_t n = file->material_count + 1; !fresh; n++) {
        rbli_free(ctx, unique);
        unique = rbli_format(ctx, "%s_%zu", clean, n);
        RBL_TRY_ALLOC(unique);
        RBL_TRY(use_name(builder, unique, &fresh));
    }
    file->materials[file->material_count++] =
        (rbli_mesh_file_material){unique, {1, 1, 1, 1}, texture, rbli_material_default()};
    unique = texture = NULL;
done:
    rbli_free(ctx, clean);
    rbli_free(ctx, unique);
    rbli_free(ctx, texture);
    return status;
}

rbl_status rbli_builder_add_file(rbli_mesh_builder *builder, const char *path)
{
    rbli_mesh_file *file = &builder->file;
    rbl_status status = RESERVE_ONE(builder, file->files, file->file_count, builder->file_capacity);
    if (status != RBL_OK) return status;
    char *copy = rbli_strdup(builder->ctx, path);
    if (!copy) return RBL_ERR_NO_MEMORY;
    file->files[file->file_count++] = copy;
    return RBL_OK;
}

rbl_status rbli_builder_message(rbli_mesh_builder *builder, rbli_severity severity, const char *format, ...)
{
    rbli_mesh_file *file = &builder->file;
    rbl_status status = RESERVE_ONE(builder, file->messages, file->message_count, builder->message_capacity);
    if (status != RBL_OK) return status;
    char text[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *copy = rbli_format(builder->ctx, "%s%s", builder->name, text);
    if (!copy) return RBL_ERR_NO_MEMORY;
    file->messages[file->message_count++] = (rbli_message){severity, RBL_OK, copy};
    return RBL_OK;
}

rbl_status rbli_builder_set_triangle_count(rbli_mesh_builder *builder, size_t count)
{
    rbl_context *ctx = builder->ctx;
    rbli_mesh_file *file = &builder->file;
    if (count == 0) return rbli_fail(ctx, RBL_ERR_PARSE, "%s: no triangles", builder->name);
    if (count > INT32_MAX / 3)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "%s: %zu triangles, at most %d are possible", builder->name,
            count, INT32_MAX / 3);
    file->triangles = rbli_alloc(ctx, count, sizeof *file->triangles);
    file->triangle_nodes = rbli_calloc(ctx, count, sizeof *file->triangle_nodes);
    file->triangle_materials = rbli_alloc(ctx, count, sizeof *file->triangle_materials);
    if (!file->triangles || !file->triangle_nodes || !file->triangle_materials) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        file->triangle_materials[i] = -1;
    file->triangle_count = count;
    return RBL_OK;
}

rbl_status rbli_builder_add_normals(rbli_mesh_builder *builder)
{
    rbli_mesh_file *file = &builder->file;
    if (!file->normals)
        file->normals = rbli_calloc(builder->ctx, 3 * file->triangle_count, sizeof *file->normals);
    return file->normals ? RBL_OK : RBL_ERR_NO_MEMORY;
}

rbl_status rbli_builder_add_tangents(rbli_mesh_builder *builder)
{
    rbli_mesh_file *file = &builder->file;
    if (!file->tangents)
        file->tangents = rbli_calloc(builder->ctx, 3 * file->triangle_count, sizeof *file->tangents);
    return file->tangents ? RBL_OK : RBL_ERR_NO_MEMORY;
}

rbl_status rbli_builder_add_colors(rbli_mesh_builder *builder)
{
    rbli_mesh_file *file = &builder->file;
    if (file->colors) return RBL_OK;
    file->colors = rbli_alloc(builder->ctx, 3 * file->triangle_count, sizeof *file->colors);
    if (!file->colors) return RBL_ERR_NO_MEMORY;
    for (size_t c = 0; c < 3 * file->triangle_count; c++)
        for (int k = 0; k < 4; k++)
            file->colors[c][k] = 1;
    return RBL_OK;
}

rbl_status rbli_builder_add_uvs(rbli_mesh_builder *builder, size_t set)
{
    rbli_mesh_file *file = &builder->file;
    for (; file->uv_set_count <= set; file->uv_set_count++) {
        float(*uvs)[2] = rbli_calloc(builder->ctx, 3 * file->triangle_count, sizeof *uvs);
        if (!uvs) return RBL_ERR_NO_MEMORY;
        file->uvs[file->uv_set_count] = uvs;
    }
    return RBL_OK;
}

void rbli_builder_fix_colors(rbli_mesh_builder *builder)
{
    rbli_mesh_file *file = &builder->file;
    if (!file->colors) return;
    float most = 0;
    size_t corner_count = 3 * file->triangle_count;
    for (size_t c = 0; c < corner_count; c++)
        for (int k = 0; k < 4; k++)
            if (file->colors[c][k] > most) most = file->colors[c][k];
    bool bytes = most > 1.5f && most <= 255;
    for (size_t c = 0; c < corner_count; c++)
        for (int k = 0; k < 4; k++) {
            /* An alpha of exactly 1 among colours of 0 … 255 is the default, not nearly transparent. */
            float value = file->colors[c][k];
            if (bytes && !(k == 3 && value == 1)) value /= 255;
            file->colors[c][k] = value >= 0 ? value <= 1 ? value : 1 : 0;
        }
}

void rbli_unit_normal(const double normal[3], float out[3])
{
    double largest = fmax(fabs(normal[0]), fmax(fabs(normal[1]), fabs(normal[2])));
    out[0] = out[1] = out[2] = 0;
    if (!(largest > 0 && largest < INFINITY) || isnan(normal[0] + normal[1] + normal[2])) return;
    double x = normal[0] / largest, y = normal[1] / largest, z = normal[2] / largest;
    double length = sqrt(x * x + y * y + z * z);
    out[0] = (float)(x / length);
    out[1] = (float)(y / length);
    out[2] = (float)(z / length);
}

static rbl_status check_finite(rbli_mesh_builder *builder, const rbli_polygon_input *input)
{
    const rbli_mesh_file *file = &builder->file;
    bool all_finite = true;
    for (size_t i = 0; i < file->position_count && all_finite; i++) {
        if (rbli_poll(builder->ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        const double *p = file->positions[i];
        all_finite = isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
    }
    if (all_finite) return RBL_OK;
    size_t corner_count = input->polygons[input->polygon_count].start;
    for (size_t c = 0; c < corner_count; c++) {
        if (rbli_poll(builder->ctx, c) != RBL_OK) return RBL_ERR_CANCELLED;
        size_t vertex = (size_t)input->corner_positions[c];
        const double *p = file->positions[vertex];
        if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2])) continue;
        char place[4100];
        if (input->position_places) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(place, sizeof place, input->place_format, builder->name, input->position_places[vertex]);
#pragma GCC diagnostic pop
        } else {
            snprintf(place, sizeof place, "%s: ", builder->name);
        }
        return rbli_fail(builder->ctx, RBL_ERR_PARSE,
            "%svertex %zu is not finite (%g, %g, %g) and a face uses it", place, vertex + input->first_index,
            p[0], p[1], p[2]);
    }
    return RBL_OK;
}

/// @param sources of the triangles' corners, or NULL
static rbl_status triangulate_polygon(rbli_mesh_builder *builder, const rbli_polygon_input *input,
    size_t polygon, size_t first_triangle, int32_t *sources)
{
    rbli_mesh_file *file = &builder->file;
    const rbli_file_polygon *p = &input->polygons[polygon];
    size_t count = p[1].start - p->start;
    const int32_t *corners = input->corner_positions + p->start;
    int32_t(*out)[3] = file->triangles + first_triangle;
    if (count == 3) {
        out[0][0] = 0;
        out[0][1] = 1;
        out[0][2] = 2;
    } else {
        rbl_status status = rbli_polygon_triangulate(
            builder->ctx, (const double(*)[3])file->positions, corners, 1, count, out);
        if (status != RBL_OK) return status;
    }
    for (size_t t = 0; t < count - 2; t++) {
        for (int k = 0; k < 3; k++) {
            int32_t corner = out[t][k];
            if (sources) sources[3 * (first_triangle + t) + (size_t)k] = (int32_t)p->start + corner;
            out[t][k] = corners[corner];
        }
        file->triangle_nodes[first_triangle + t] = p->node;
        file->triangle_materials[first_triangle + t] = p->material;
    }
    return RBL_OK;
}

rbl_status rbli_builder_triangulate(
    rbli_mesh_builder *builder, const rbli_polygon_input *input, int32_t **corner_sources)
{
    rbl_status status = RBL_OK;
    int32_t *sources = NULL;
    size_t corner_count = input->polygon_count ? input->polygons[input->polygon_count].start : 0;
    /* Polygons have three corners at least, so there are at most three times as many corners as triangles: they can be
     * numbered in 32 bits. */
    RBL_TRY(rbli_builder_set_triangle_count(builder, corner_count - 2 * input->polygon_count));
    RBL_TRY(check_finite(builder, input));
    if (corner_sources)
        RBL_TRY_ALLOC(sources = rbli_alloc(builder->ctx, 3 * builder->file.triangle_count, sizeof *sources));
    size_t triangle = 0;
    for (size_t p = 0; p < input->polygon_count; p++) {
        if (p % 8192 == 0 && rbli_cancelled(builder->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        RBL_TRY(triangulate_polygon(builder, input, p, triangle, sources));
        triangle += input->polygons[p + 1].start - input->polygons[p].start - 2;
    }
    if (corner_sources) *corner_sources = sources;
    sources = NULL;
done:
    rbli_free(builder->ctx, sources);
    return status;
}
