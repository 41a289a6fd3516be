/// glTF 2.0: GLB chunks, JSON, buffers (chunk, data URI, file), views, accessors with strides, sparse
/// substitution and normalised integers. Each size is checked against what the file holds before anything is
/// allocated.

#include "fracture/io/gltf_document.h"
#include "fracture/io/write.h"

#include <math.h>
#include <stdio.h>

#include "fracture/base/file.h"
#include "fracture/io/scan.h"

enum {
    COMPONENT_I8 = 5120,
    COMPONENT_U8 = 5121,
    COMPONENT_I16 = 5122,
    COMPONENT_U16 = 5123,
    COMPONENT_U32 = 5125,
    COMPONENT_FLOAT = 5126,
    GLB_HEADER_BYTES = 12,
    CHUNK_HEADER_BYTES = 8,
};

rbl_status rbli_gltf_fail(const rbli_gltf_document *document, const char *pointer, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rbli_fail(document->ctx, RBL_ERR_PARSE, "%s: %s: %s", document->name, pointer, text);
}

static rbl_status fail_at_byte(const rbli_gltf_document *document, size_t byte, const char *text)
{
    return rbli_fail(document->ctx, RBL_ERR_PARSE, "%s: byte %zu: %s", document->name, byte, text);
}

static uint32_t read_u32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static size_t component_bytes(int component)
{
    switch (component) {
    case COMPONENT_I8:
    case COMPONENT_U8:
        return 1;
    case COMPONENT_I16:
    case COMPONENT_U16:
        return 2;
    case COMPONENT_U32:
    case COMPONENT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

/// Finds the JSON and the binary chunk of a GLB.
static rbl_status read_chunks(rbli_gltf_document *document, const char **json, size_t *json_bytes)
{
    const uint8_t *bytes = document->bytes;
    size_t count = document->byte_count;
    if (count < GLB_HEADER_BYTES + CHUNK_HEADER_BYTES)
        return fail_at_byte(document, count, "the file ends in its header");
    if (read_u32(bytes + 4) != 2) return fail_at_byte(document, 4, "not version 2 of GLB");
    size_t total = read_u32(bytes + 8);
    if (total > count) {
        char text[100];
        snprintf(text, sizeof text, "the header says %zu bytes, the file has %zu", total, count);
        return fail_at_byte(document, 8, text);
    }
    size_t at = GLB_HEADER_BYTES;
    for (int chunk = 0; at + CHUNK_HEADER_BYTES <= total; chunk++) {
        size_t length = read_u32(bytes + at);
        if (length > total - at - CHUNK_HEADER_BYTES)
            return fail_at_byte(document, at, "a chunk is longer than the file");
        const uint8_t *content = bytes + at + CHUNK_HEADER_BYTES;
        if (chunk == 0) {
            if (memcmp(bytes + at + 4, "JSON", 4) != 0)
                return fail_at_byte(document, at + 4, "the first chunk is not JSON");
            *json = (const char *)content;
            *json_bytes = length;
        } else if (!document->chunk && memcmp(bytes + at + 4, "BIN", 4) == 0) {
            document->chunk = content;
            document->chunk_bytes = length;
        }
        at += CHUNK_HEADER_BYTES + length;
    }
    return *json ? RBL_OK : fail_at_byte(document, GLB_HEADER_BYTES, "no JSON chunk");
}

static rbl_status parse_json(rbli_gltf_document *document, bool binary, const char *json, size_t json_bytes)
{
    const char *end = NULL;
    document->root = json_bytes ? cJSON_ParseWithLengthOpts(json, json_bytes, &end, false) : NULL;
    if (document->root && cJSON_IsObject(document->root)) return RBL_OK;
    size_t offset = document->root || !end ? 0 : (size_t)(end - json);
    if (offset > json_bytes) offset = json_bytes;
    if (binary)
        return fail_at_byte(document, (size_t)((const uint8_t *)json - document->bytes) + offset, "not JSON");
    size_t line = 1;
    for (size_t i = 0; i < offset; i++)
        line += json[i] == '\n';
    return rbli_fail(
        document->ctx, RBL_ERR_PARSE, "%s:%zu: not a glTF document (JSON object)", document->name, line);
}

const char *rbli_gltf_string(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

/// object[key] as a whole number of at most 2^53; `missing` when it is not there.
rbl_status rbli_gltf_size(const rbli_gltf_document *document, const cJSON *object, const char *pointer,
    const char *key, size_t missing, size_t *out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!item) {
        *out = missing;
        return RBL_OK;
    }
    double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
    if (!(value >= 0 && value <= 9007199254740992.0) || value != floor(value))
        return rbli_gltf_fail(document, pointer, "\"%s\" is not a whole number of 0 or more", key);
    *out = (size_t)value;
    return RBL_OK;
}

rbl_status rbli_gltf_index(const rbli_gltf_document *document, const cJSON *object, const char *pointer,
    const char *key, size_t limit, int64_t *out)
{
    *out = RBLI_GLTF_NONE;
    if (!cJSON_GetObjectItemCaseSensitive(object, key)) return RBL_OK;
    size_t value;
    rbl_status status = rbli_gltf_size(document, object, pointer, key, 0, &value);
    if (status != RBL_OK) return status;
    if (value >= limit)
        return rbli_gltf_fail(
            document, pointer, "\"%s\": %zu is out of range, there are %zu", key, value, limit);
    *out = (int64_t)value;
    return RBL_OK;
}

rbl_status rbli_gltf_numbers(const rbli_gltf_document *document, const cJSON *object, const char *pointer,
    const char *key, size_t count, double *out, bool *found)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, key), *item;
    *found = array != NULL;
    if (!array) return RBL_OK;
    size_t i = 0;
    bool good = cJSON_IsArray(array);
    if (good) {
        cJSON_ArrayForEach(item, array)
        {
            if (i == count || !cJSON_IsNumber(item) || !isfinite(item->valuedouble)) {
                good = false;
                break;
            }
            out[i++] = item->valuedouble;
        }
    }
    if (good && i == count) return RBL_OK;
    return rbli_gltf_fail(document, pointer, "\"%s\" is not an array of %zu finite numbers", key, count);
}

static rbl_status read_list(rbli_gltf_document *document, const char *key, rbli_gltf_list *out)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(document->root, key), *item;
    if (!array) return RBL_OK;
    if (!cJSON_IsArray(array)) return rbli_gltf_fail(document, "/", "\"%s\" is not an array", key);
    size_t count = 0;
    cJSON_ArrayForEach(item, array) count++;
    out->items = rbli_alloc(document->ctx, count, sizeof *out->items);
    if (!out->items) return RBL_ERR_NO_MEMORY;
    cJSON_ArrayForEach(item, array) out->items[out->count++] = item;
    return RBL_OK;
}

static rbl_status read_views(rbli_gltf_document *document)
{
    rbli_gltf_list list = {0};
    rbl_status status = RBL_OK;
    RBL_TRY(read_list(document, "bufferViews", &list));
    document->views = rbli_calloc(document->ctx, list.count, sizeof *document->views);
    RBL_TRY_ALLOC(document->views);
    document->view_count = list.count;
    for (size_t i = 0; i < list.count; i++) {
        char pointer[40];
        snprintf(pointer, sizeof pointer, "/bufferViews/%zu", i);
        rbli_gltf_view *view = &document->views[i];
        int64_t buffer;
        RBL_TRY(rbli_gltf_index(document, list.items[i], pointer, "buffer", document->buffer_count, &buffer));
        if (buffer < 0) {
            status = rbli_gltf_fail(document, pointer, "no \"buffer\"");
            goto done;
        }
        view->buffer = (size_t)buffer;
        RBL_TRY(rbli_gltf_size(document, list.items[i], pointer, "byteOffset", 0, &view->offset));
        RBL_TRY(rbli_gltf_size(document, list.items[i], pointer, "byteLength", 0, &view->length));
        RBL_TRY(rbli_gltf_size(document, list.items[i], pointer, "byteStride", 0, &view->stride));
        if (view->stride > 255) {
            status = rbli_gltf_fail(
                document, pointer, "\"byteStride\" is %zu, at most 252 expected", view->stride);
            goto done;
        }
        RBL_TRY(rbli_gltf_read_packed(document, list.items[i], pointer, view));
    }
done:
    rbli_free(document->ctx, list.items);
    return status;
}

static rbl_status read_sparse(
    rbli_gltf_document *document, const cJSON *sparse, const char *pointer, rbli_gltf_accessor *accessor)
{
    rbl_status status = RBL_OK;
    const cJSON *indices = cJSON_GetObjectItemCaseSensitive(sparse, "indices");
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(sparse, "values");
    size_t component;
    RBL_TRY(rbli_gltf_size(document, sparse, pointer, "count", 0, &accessor->sparse_count));
    RBL_TRY(rbli_gltf_index(
        document, indices, pointer, "bufferView", document->view_count, &accessor->sparse_index_view));
    RBL_TRY(rbli_gltf_size(document, indices, pointer, "byteOffset", 0, &accessor->sparse_index_offset));
    RBL_TRY(rbli_gltf_size(document, indices, pointer, "componentType", 0, &component));
    RBL_TRY(rbli_gltf_index(
        document, values, pointer, "bufferView", document->view_count, &accessor->sparse_value_view));
    RBL_TRY(rbli_gltf_size(document, values, pointer, "byteOffset", 0, &accessor->sparse_value_offset));
    accessor->sparse_index_component = component <= COMPONENT_U32 ? (int)component : 0;
    bool known = component == COMPONENT_U8 || component == COMPONENT_U16 || component == COMPONENT_U32;
    if (!known || accessor->sparse_index_view < 0 || accessor->sparse_value_view < 0)
        status = rbli_gltf_fail(document, pointer, "\"sparse\" needs indices and values with their views");
done:
    return status;
}

static rbl_status read_accessor(
    rbli_gltf_document *document, const cJSON *item, const char *pointer, rbli_gltf_accessor *accessor)
{
    static const char *const types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
    rbl_status status = RBL_OK;
    size_t component;
    RBL_TRY(rbli_gltf_index(document, item, pointer, "bufferView", document->view_count, &accessor->view));
    RBL_TRY(rbli_gltf_size(document, item, pointer, "byteOffset", 0, &accessor->offset));
    RBL_TRY(rbli_gltf_size(document, item, pointer, "count", 0, &accessor->count));
    RBL_TRY(rbli_gltf_size(document, item, pointer, "componentType", 0, &component));
    accessor->component = component <= COMPONENT_FLOAT ? (int)component : 0;
    accessor->normalized = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "normalized"));
    const char *type = rbli_gltf_string(item, "type");
    for (size_t i = 0; type && i < 4; i++)
        if (strcmp(type, types[i]) == 0) accessor->width = i + 1;
    if (component_bytes(accessor->component) == 0) {
        status = rbli_gltf_fail(document, pointer, "unknown \"componentType\" %zu", component);
        goto done;
    }
    const cJSON *sparse = cJSON_GetObjectItemCaseSensitive(item, "sparse");
    if (sparse) RBL_TRY(read_sparse(document, sparse, pointer, accessor));
    if (accessor->count > document->byte_count && accessor->view < 0)
        status =
            rbli_gltf_fail(document, pointer, "%zu zeros, more than the file justifies", accessor->count);
done:
    return status;
}

static rbl_status read_accessors(rbli_gltf_document *document)
{
    rbli_gltf_list list = {0};
    rbl_status status = RBL_OK;
    RBL_TRY(read_list(document, "accessors", &list));
    document->accessors = rbli_calloc(document->ctx, list.count, sizeof *document->accessors);
    RBL_TRY_ALLOC(document->accessors);
    document->accessor_count = list.count;
    for (size_t i = 0; i < list.count; i++) {
        char pointer[40];
        snprintf(pointer, sizeof pointer, "/accessors/%zu", i);
        RBL_TRY(read_accessor(document, list.items[i], pointer, &document->accessors[i]));
    }
done:
    rbli_free(document->ctx, list.items);
    return status;
}

/// Extensions that change nothing of what is read here, or that are read.
static bool is_harmless(const char *extension)
{
    static const char *const names[] = {"KHR_mesh_quantization", "KHR_texture_transform",
        "KHR_texture_basisu", "KHR_lights_punctual", "KHR_xmp_json_ld", "KHR_animation_pointer",
        "EXT_texture_webp", "EXT_texture_avif", "MSFT_texture_dds", "EXT_lights_image_based",
        "KHR_node_visibility", "FB_ngon_encoding"};
    if (strncmp(extension, "KHR_materials_", 14) == 0) return true;
    if (strcmp(extension, "EXT_meshopt_compression") == 0) return rbli_glb_has_meshopt();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(extension, names[i]) == 0) return true;
    return false;
}

static rbl_status check_asset(rbli_gltf_document *document)
{
    const cJSON *asset = cJSON_GetObjectItemCaseSensitive(document->root, "asset"), *item;
    const char *version = rbli_gltf_string(asset, "version");
    if (!version) return rbli_gltf_fail(document, "/asset", "no \"version\", so this is not glTF");
    if (version[0] != '2' || (version[1] != '.' && version[1] != 0))
        return rbli_gltf_fail(document, "/asset", "glTF version %.20s, 2.0 expected", version);
    const cJSON *required = cJSON_GetObjectItemCaseSensitive(document->root, "extensionsRequired");
    cJSON_ArrayForEach(item, required)
    {
        if (!cJSON_IsString(item) || is_harmless(item->valuestring)) continue;
        char *name = rbli_clean_text(document->ctx, item->valuestring, strlen(item->valuestring), "");
        if (!name) return RBL_ERR_NO_MEMORY;
        bool compressed = strstr(name, "compression") != NULL;
        rbl_status status =
            rbli_gltf_fail(document, "/extensionsRequired", "the file needs %s, which is not read%s", name,
                compressed ? "; export it without mesh compression" : "");
        rbli_free(document->ctx, name);
        return status;
    }
    return RBL_OK;
}

rbl_status rbli_gltf_document_parse(rbli_gltf_document *document)
{
    rbl_status status = RBL_OK;
    const char *json = (const char *)document->bytes;
    size_t json_bytes = document->byte_count;
    bool binary = json_bytes >= 4 && memcmp(json, "glTF", 4) == 0;
    if (binary) {
        json = NULL;
        RBL_TRY(read_chunks(document, &json, &json_bytes));
    }
    RBL_TRY(parse_json(document, binary, json, json_bytes));
    RBL_TRY(check_asset(document));
    RBL_TRY(read_list(document, "buffers", &document->buffer_items));
    document->buffers = rbli_calloc(document->ctx, document->buffer_items.count, sizeof *document->buffers);
    RBL_TRY_ALLOC(document->buffers);
    document->buffer_count = document->buffer_items.count;
    RBL_TRY(read_views(document));
    RBL_TRY(read_accessors(document));
    RBL_TRY(read_list(document, "nodes", &document->nodes));
    RBL_TRY(read_list(document, "meshes", &document->meshes));
    RBL_TRY(read_list(document, "materials", &document->materials));
    RBL_TRY(read_list(document, "textures", &document->textures));
    RBL_TRY(read_list(document, "images", &document->images));
    RBL_TRY(read_list(document, "samplers", &document->samplers));
    RBL_TRY(read_list(document, "scenes", &document->scenes));
done:
    return status;
}

void rbli_gltf_document_free(rbli_gltf_document *document)
{
    rbl_context *ctx = document->ctx;
    cJSON_Delete(document->root);
    for (size_t i = 0; i < document->buffer_count; i++)
        rbli_free(ctx, document->buffers[i].owned);
    rbli_free(ctx, document->buffers);
    rbli_free(ctx, document->buffer_items.items);
    for (size_t i = 0; i < document->view_count; i++)
        rbli_free(ctx, document->views[i].packed.bytes);
    rbli_free(ctx, document->views);
    rbli_free(ctx, document->accessors);
    rbli_free(ctx, document->nodes.items);
    rbli_free(ctx, document->meshes.items);
    rbli_free(ctx, document->materials.items);
    rbli_free(ctx, document->textures.items);
    rbli_free(ctx, document->images.items);
    rbli_free(ctx, document->samplers.items);
    rbli_free(ctx, document->scenes.items);
    rbli_free(ctx, document->image_of);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *rbli_gltf_decode_uri(rbl_context *ctx, const char *uri)
{
    char *copy = rbli_strdup(ctx, uri), *to = copy;
    if (!copy) return NULL;
    for (const char *from = uri; *from;) {
        int high = from[0] == '%' && from[1] ? hex_digit(from[1]) : -1;
        int low = high >= 0 && from[2] ? hex_digit(from[2]) : -1;
        if (low >= 0 && (high || low)) {
            *to++ = (char)(high * 16 + low);
            from += 3;
        } else {
            *to++ = *from++;
        }
    }
    *to = 0;
    return copy;
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    if (c == '/' || c == '_') return 63;
    return -1;
}

static rbl_status decode_base64(
    rbli_gltf_document *document, const char *pointer, const char *text, uint8_t **out, size_t *out_bytes)
{
    size_t length = strlen(text), count = 0;
    uint8_t *bytes = rbli_alloc(document->ctx, length / 4 * 3 + 3, 1);
    if (!bytes) return RBL_ERR_NO_MEMORY;
    uint32_t bits = 0;
    int held = 0;
    for (size_t i = 0; i < length && text[i] != '='; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0) {
            rbli_free(document->ctx, bytes);
            return rbli_gltf_fail(document, pointer, "character %zu of the data URI is not base64", i + 1);
        }
        bits = bits << 6 | (uint32_t)digit;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        bytes[count++] = (uint8_t)(bits >> held);
    }
    *out = bytes;
    *out_bytes = count;
    return RBL_OK;
}

rbl_status rbli_gltf_decode_data_uri(
    rbli_gltf_document *document, const char *pointer, const char *uri, uint8_t **out, size_t *out_bytes)
{
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 7 || memcmp(comma - 7, ";base64", 7) != 0)
        return rbli_gltf_fail(document, pointer, "a data URI that is not base64");
    return decode_base64(document, pointer, comma + 1, out, out_bytes);
}

/// Whether a URI has a scheme ("http:"), which a file name on no system we read from has.
static bool has_scheme(const char *uri)
{
    size_t length = strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    return length > 1 && uri[length] == ':';
}

static rbl_status load_file(
    rbli_gltf_document *document, const char *pointer, const char *uri, rbli_gltf_buffer *buffer)
{
    rbl_context *ctx = document->ctx;
    rbl_status status = RBL_OK;
    char *path = NULL, *relative = rbli_gltf_decode_uri(ctx, uri);
    RBL_TRY_ALLOC(relative);
    if (has_scheme(uri) || !document->folder) {
        status =
            rbli_gltf_fail(document, pointer, "its data is elsewhere (%.200s) and is not fetched", relative);
        goto done;
    }
    if (!rbli_may_read(document->folder, relative)) {
        status = rbli_gltf_fail(document, pointer,
            "its data is not in the folder of the file or below (%.200s) and is not read; \"other_files\": "
            "\"anywhere\" reads it",
            relative);
        goto done;
    }
    path = rbli_join_path(ctx, document->folder->path, relative);
    RBL_TRY_ALLOC(path);
    RBL_TRY(rbli_file_read(ctx, path, RBLI_MOST_FILE_BYTES, &buffer->owned, &buffer->count));
    RBL_TRY(rbli_builder_add_file(document->builder, path));
    buffer->bytes = buffer->owned;
done:
    rbli_free(ctx, path);
    rbli_free(ctx, relative);
    return status;
}

static rbl_status load_buffer(rbli_gltf_document *document, size_t index)
{
    rbli_gltf_buffer *buffer = &document->buffers[index];
    if (buffer->loaded) return RBL_OK;
    rbli_free(document->ctx, buffer->owned); /* of a try that failed: an image goes without its buffer */
    buffer->owned = NULL;
    const cJSON *item = document->buffer_items.items[index];
    char pointer[40];
    snprintf(pointer, sizeof pointer, "/buffers/%zu", index);
    const char *uri = rbli_gltf_string(item, "uri");
    rbl_status status = RBL_OK;
    if (!uri) {
        if (index > 0 || !document->chunk)
            return rbli_gltf_fail(document, pointer, "no \"uri\" and no binary chunk");
        buffer->bytes = document->chunk;
        buffer->count = document->chunk_bytes;
    } else if (strncmp(uri, "data:", 5) == 0) {
        status = rbli_gltf_decode_data_uri(document, pointer, uri, &buffer->owned, &buffer->count);
        buffer->bytes = buffer->owned;
    } else {
        status = load_file(document, pointer, uri, buffer);
    }
    if (status != RBL_OK) return status;
    size_t length;
    status = rbli_gltf_size(document, item, pointer, "byteLength", 0, &length);
    if (status != RBL_OK) return status;
    if (length > buffer->count)
        return rbli_gltf_fail(
            document, pointer, "%zu bytes of data, \"byteLength\" says %zu", buffer->count, length);
    buffer->loaded = true;
    return RBL_OK;
}

rbl_status rbli_gltf_view_bytes(
    rbli_gltf_document *document, size_t view_index, const uint8_t **out, size_t *out_bytes)
{
    rbli_gltf_view *view = &document->views[view_index];
    size_t at = view->packed.used ? view->packed.buffer : view->buffer;
    char pointer[40];
    snprintf(pointer, sizeof pointer, "/bufferViews/%zu", view_index);
    rbl_status status = load_buffer(document, at);
    if (status != RBL_OK) return status;
    const rbli_gltf_buffer *buffer = &document->buffers[at];
    *out_bytes = view->length;
    if (view->packed.used) {
        status = rbli_gltf_unpack(document, pointer, view, buffer);
        *out = view->packed.bytes;
        return status;
    }
    if (view->offset > buffer->count || view->length > buffer->count - view->offset)
        return rbli_gltf_fail(document, pointer, "it leaves its buffer of %zu bytes", buffer->count);
    *out = buffer->bytes + view->offset;
    return RBL_OK;
}

/// Whether `count` elements of `element_bytes` lie in a view; the view itself is looked at when its buffer is
/// loaded.
static rbl_status check_extent(const rbli_gltf_document *document, const char *pointer, size_t view_index,
    size_t offset, size_t count, size_t element_bytes)
{
    const rbli_gltf_view *view = &document->views[view_index];
    size_t stride = view->stride ? view->stride : element_bytes;
    if (count == 0) return RBL_OK;
    if (offset <= view->length && element_bytes <= view->length - offset &&
        (count - 1) <= (view->length - offset - element_bytes) / stride)
        return RBL_OK;
    return rbli_gltf_fail(document, pointer,
        "%zu elements from byte %zu on leave bufferView %zu of %zu bytes", count, offset, view_index,
        view->length);
}

rbl_status rbli_gltf_check_accessor(const rbli_gltf_document *document, size_t index)
{
    const rbli_gltf_accessor *accessor = &document->accessors[index];
    char pointer[40];
    snprintf(pointer, sizeof pointer, "/accessors/%zu", index);
    if (accessor->width == 0)
        return rbli_gltf_fail(document, pointer, "\"type\" is none of SCALAR, VEC2, VEC3, VEC4");
    if (accessor->view < 0) return RBL_OK;
    return check_extent(document, pointer, (size_t)accessor->view, accessor->offset, accessor->count,
        component_bytes(accessor->component) * accessor->width);
}

/// Where the elements of a view begin; checked to lie inside view and buffer.
static rbl_status locate(rbli_gltf_document *document, const char *pointer, size_t view_index, size_t offset,
    size_t count, size_t element_bytes, const uint8_t **out, size_t *out_stride)
{
    const rbli_gltf_view *view = &document->views[view_index];
    const uint8_t *bytes;
    size_t byte_count;
    rbl_status status = check_extent(document, pointer, view_index, offset, count, element_bytes);
    if (status == RBL_OK) status = rbli_gltf_view_bytes(document, view_index, &bytes, &byte_count);
    if (status != RBL_OK) return status;
    *out_stride = view->stride ? view->stride : element_bytes;
    *out = bytes + (count ? offset : 0);
    return RBL_OK;
}

static double decode(const uint8_t *at, int component, bool normalized)
{
    switch (component) {
    case COMPONENT_I8: {
        double value = (double)(int8_t)at[0];
        return normalized ? fmax(value / 127, -1) : value;
    }
    case COMPONENT_U8:
        return normalized ? (double)at[0] / 255 : (double)at[0];
    case COMPONENT_I16: {
        double value = (double)(int16_t)(at[0] | (uint16_t)(at[1] << 8));
        return normalized ? fmax(value / 32767, -1) : value;
    }
    case COMPONENT_U16: {
        double value = (double)(at[0] | (uint16_t)(at[1] << 8));
        return normalized ? value / 65535 : value;
    }
    case COMPONENT_FLOAT: {
        uint32_t bits = read_u32(at);
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    default:
        return (double)read_u32(at);
    }
}

static rbl_status apply_sparse(
    rbli_gltf_document *document, const char *pointer, const rbli_gltf_accessor *accessor, double *values)
{
    rbl_status status = RBL_OK;
    const uint8_t *indices, *substitutes;
    size_t index_stride, value_stride, bytes = component_bytes(accessor->component);
    RBL_TRY(locate(document, pointer, (size_t)accessor->sparse_index_view, accessor->sparse_index_offset,
        accessor->sparse_count, component_bytes(accessor->sparse_index_component), &indices, &index_stride));
    RBL_TRY(locate(document, pointer, (size_t)accessor->sparse_value_view, accessor->sparse_value_offset,
        accessor->sparse_count, bytes * accessor->width, &substitutes, &value_stride));
    for (size_t i = 0; i < accessor->sparse_count; i++) {
        double index = decode(indices + i * index_stride, accessor->sparse_index_component, false);
        if (index >= (double)accessor->count)
            return rbli_gltf_fail(document, pointer,
                "sparse index %.0f is out of range, there are %zu elements", index, accessor->count);
        for (size_t k = 0; k < accessor->width; k++)
            values[(size_t)index * accessor->width + k] =
                decode(substitutes + i * value_stride + k * bytes, accessor->component, accessor->normalized);
    }
done:
    return status;
}

/// Elements of `width` floats as doubles; most accessors.
static void decode_floats(const uint8_t *bytes, size_t stride, size_t count, size_t width, double *out)
{
    float row[4];
    for (size_t i = 0; i < count; i++, bytes += stride, out += width) {
        memcpy(row, bytes, width * sizeof *row);
        for (size_t k = 0; k < width; k++)
            out[k] = (double)row[k];
    }
}

rbl_status rbli_gltf_read_values_into(rbli_gltf_document *document, size_t index, double *out)
{
    const rbli_gltf_accessor *accessor = &document->accessors[index];
    rbl_status status = RBL_OK;
    char pointer[40];
    snprintf(pointer, sizeof pointer, "/accessors/%zu", index);
    const uint8_t *bytes = NULL;
    size_t stride = 0, component = component_bytes(accessor->component), width = accessor->width;
    RBL_TRY(rbli_gltf_check_accessor(document, index));
    if (accessor->view >= 0)
        RBL_TRY(locate(document, pointer, (size_t)accessor->view, accessor->offset, accessor->count,
            component * width, &bytes, &stride));
    if (!bytes) {
        memset(out, 0, accessor->count * width * sizeof *out);
    } else if (accessor->component == COMPONENT_FLOAT && width == 3) {
        decode_floats(bytes, stride, accessor->count, 3, out); /* the compiler knows the width */
    } else if (accessor->component == COMPONENT_FLOAT) {
        decode_floats(bytes, stride, accessor->count, width, out);
    } else {
        for (size_t i = 0; i < accessor->count; i++)
            for (size_t k = 0; k < width; k++)
                out[i * width + k] =
                    decode(bytes + i * stride + k * component, accessor->component, accessor->normalized);
    }
    if (accessor->sparse_count > 0) RBL_TRY(apply_sparse(document, pointer, accessor, out));
done:
    return status;
}

rbl_status rbli_gltf_read_values(rbli_gltf_document *document, size_t index, double **out)
{
    const rbli_gltf_accessor *accessor = &document->accessors[index];
    /* Before anything is allocated for its count. */
    rbl_status status = rbli_gltf_check_accessor(document, index);
    if (status != RBL_OK) return status;
    double *values = rbli_alloc(document->ctx, accessor->count * accessor->width, sizeof *values);
    if (!values) return RBL_ERR_NO_MEMORY;
    status = rbli_gltf_read_values_into(document, index, values);
    if (status == RBL_OK)
        *out = values;
    else
        rbli_free(document->ctx, values);
    return status;
}

/// Unsigned integers of a view, and the largest of them.
static uint32_t decode_indices(
    const uint8_t *bytes, size_t stride, size_t count, int component, uint32_t *out)
{
    uint32_t most = 0;
    if (component == COMPONENT_U32 && stride == sizeof *out) {
        memcpy(out, bytes, count * sizeof *out);
        for (size_t i = 0; i < count; i++)
            most = out[i] > most ? out[i] : most;
        return most;
    }
    for (size_t i = 0; i < count; i++, bytes += stride) {
        out[i] = component == COMPONENT_U32   ? read_u32(bytes)
                 : component == COMPONENT_U16 ? bytes[0] | (uint32_t)bytes[1] << 8
                                              : bytes[0];
        most = out[i] > most ? out[i] : most;
    }
    return most;
}

static rbl_status check_indices(const rbli_gltf_document *document, const char *pointer,
    const uint32_t *indices, size_t count, size_t limit)
{
    for (size_t i = 0; i < count; i++)
        if (indices[i] >= limit)
            return rbli_gltf_fail(document, pointer,
                "index %u (element %zu) is out of range, there are %zu vertices", indices[i], i, limit);
    return RBL_OK;
}

/// The slow way, for accessors with substitutes or without data.
static rbl_status read_sparse_indices(rbli_gltf_document *document, size_t index, uint32_t *out)
{
    double *values = NULL;
    rbl_status status = rbli_gltf_read_values(document, index, &values);
    for (size_t i = 0; status == RBL_OK && i < document->accessors[index].count; i++)
        out[i] = (uint32_t)values[i];
    rbli_free(document->ctx, values);
    return status;
}

rbl_status rbli_gltf_read_indices(rbli_gltf_document *document, size_t index, size_t limit, uint32_t **out)
{
    const rbli_gltf_accessor *accessor = &document->accessors[index];
    rbl_status status = RBL_OK;
    uint32_t *indices = NULL, most = UINT32_MAX;
    const uint8_t *bytes;
    size_t stride;
    char pointer[40];
    snprintf(pointer, sizeof pointer, "/accessors/%zu", index);
    if (accessor->width != 1 || accessor->component == COMPONENT_FLOAT ||
        accessor->component == COMPONENT_I8 || accessor->component == COMPONENT_I16)
        return rbli_gltf_fail(document, pointer, "indices must be SCALAR of unsigned integers");
    bool plain = accessor->view >= 0 && accessor->sparse_count == 0 && !accessor->normalized;
    RBL_TRY(rbli_gltf_check_accessor(document, index));
    if (plain)
        RBL_TRY(locate(document, pointer, (size_t)accessor->view, accessor->offset, accessor->count,
            component_bytes(accessor->component), &bytes, &stride));
    indices = rbli_alloc(document->ctx, accessor->count, sizeof *indices);
    RBL_TRY_ALLOC(indices);
    if (plain)
        most = decode_indices(bytes, stride, accessor->count, accessor->component, indices);
    else
        RBL_TRY(read_sparse_indices(document, index, indices));
    if (most >= limit) RBL_TRY(check_indices(document, pointer, indices, accessor->count, limit));
    *out = indices;
    indices = NULL;
done:
    rbli_free(document->ctx, indices);
    return status;
}
