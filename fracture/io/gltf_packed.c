/// EXT_meshopt_compression in glTF files: buffer views that are encoded (codecs by Kapoulkine, meshoptimizer).

#include "fracture/io/gltf_document.h"

#include "fracture/io/write.h"

#ifdef RUBBLE_HAVE_MESHOPT
#include <meshoptimizer.h>
#endif

static const char extension[] = "EXT_meshopt_compression";

enum { MODE_ATTRIBUTES = 1, MODE_TRIANGLES, MODE_INDICES };
enum { FILTER_NONE = 1, FILTER_OCTAHEDRAL, FILTER_QUATERNION, FILTER_EXPONENTIAL };

/// The place of a word among others, from 1; `missing` where there is none, 0 when it is unknown.
static int word_of(const cJSON *object, const char *key, const char *const *words, int missing)
{
    if (!cJSON_GetObjectItemCaseSensitive(object, key)) return missing;
    const char *word = rbli_gltf_string(object, key);
    for (int i = 0; word && words[i]; i++)
        if (strcmp(word, words[i]) == 0) return i + 1;
    return 0;
}

/// Whether the encoding is one that can be, and its size justifies what comes out: a vertex byte takes a 64th of
/// a byte at least, a triangle and an index one.
static rbl_status check_packed(
    const rbli_gltf_document *document, const char *pointer, const rbli_gltf_view *view)
{
    const rbli_gltf_packed *p = &view->packed;
    size_t bytes;
    bool sound =
        p->mode != 0 && p->filter != 0 && p->count <= UINT32_MAX && p->stride <= 256 && p->stride > 0;
    if (sound && p->mode == MODE_ATTRIBUTES) {
        sound = p->stride % 4 == 0;
        if (p->filter == FILTER_OCTAHEDRAL) sound = p->stride == 4 || p->stride == 8;
        if (p->filter == FILTER_QUATERNION) sound = p->stride == 8;
    } else if (sound) {
        sound = (p->stride == 2 || p->stride == 4) && p->filter == FILTER_NONE &&
                (p->mode == MODE_INDICES || p->count % 3 == 0);
    }
    if (!sound)
        return rbli_gltf_fail(
            document, pointer, "%s with a mode, filter, stride or count that cannot be", extension);
    bytes = p->count * p->stride;
    if (bytes < view->length)
        return rbli_gltf_fail(document, pointer, "%s gives %zu bytes of %zu", extension, bytes, view->length);
    size_t units = p->mode == MODE_ATTRIBUTES  ? bytes / 64
                   : p->mode == MODE_TRIANGLES ? p->count / 3
                                               : p->count;
    if (units > p->length)
        return rbli_gltf_fail(
            document, pointer, "%s: %zu bytes cannot hold %zu elements", extension, p->length, p->count);
    return RBL_OK;
}

rbl_status rbli_gltf_read_packed(
    const rbli_gltf_document *document, const cJSON *item, const char *pointer, rbli_gltf_view *view)
{
    static const char *const modes[] = {"ATTRIBUTES", "TRIANGLES", "INDICES", NULL};
    static const char *const filters[] = {"NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", NULL};
    rbl_status status = RBL_OK;
    const cJSON *packed =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(item, "extensions"), extension);
    rbli_gltf_packed *to = &view->packed;
    int64_t buffer;
    if (!packed || !rbli_glb_has_meshopt()) return RBL_OK;
    RBL_TRY(rbli_gltf_index(document, packed, pointer, "buffer", document->buffer_count, &buffer));
    if (buffer < 0) return rbli_gltf_fail(document, pointer, "%s without \"buffer\"", extension);
    to->buffer = (size_t)buffer;
    RBL_TRY(rbli_gltf_size(document, packed, pointer, "byteOffset", 0, &to->offset));
    RBL_TRY(rbli_gltf_size(document, packed, pointer, "byteLength", 0, &to->length));
    RBL_TRY(rbli_gltf_size(document, packed, pointer, "byteStride", 0, &to->stride));
    RBL_TRY(rbli_gltf_size(document, packed, pointer, "count", 0, &to->count));
    to->mode = word_of(packed, "mode", modes, 0);
    to->filter = word_of(packed, "filter", filters, FILTER_NONE);
    status = check_packed(document, pointer, view);
    to->used = status == RBL_OK;
done:
    return status;
}

#ifdef RUBBLE_HAVE_MESHOPT

static int unpack(const rbli_gltf_packed *p, const uint8_t *from, uint8_t *to)
{
    int failed;
    if (p->mode == MODE_TRIANGLES) return meshopt_decodeIndexBuffer(to, p->count, p->stride, from, p->length);
    if (p->mode == MODE_INDICES) return meshopt_decodeIndexSequence(to, p->count, p->stride, from, p->length);
    failed = meshopt_decodeVertexBuffer(to, p->count, p->stride, from, p->length);
    if (failed) return failed;
    if (p->filter == FILTER_OCTAHEDRAL) meshopt_decodeFilterOct(to, p->count, p->stride);
    if (p->filter == FILTER_QUATERNION) meshopt_decodeFilterQuat(to, p->count, p->stride);
    if (p->filter == FILTER_EXPONENTIAL) meshopt_decodeFilterExp(to, p->count, p->stride);
    return 0;
}

#else

static int unpack(const rbli_gltf_packed *p, const uint8_t *from, uint8_t *to)
{
    (void)p;
    (void)from;
    (void)to;
    return -1;
}

#endif

rbl_status rbli_gltf_unpack(const rbli_gltf_document *document, const char *pointer, rbli_gltf_view *view,
    const rbli_gltf_buffer *buffer)
{
    rbli_gltf_packed *p = &view->packed;
    if (p->bytes) return RBL_OK;
    if (p->offset > buffer->count || p->length > buffer->count - p->offset)
        return rbli_gltf_fail(
            document, pointer, "%s leaves its buffer of %zu bytes", extension, buffer->count);
    uint8_t *bytes = rbli_calloc(document->ctx, p->count, p->stride);
    if (!bytes) return RBL_ERR_NO_MEMORY;
    if (unpack(p, buffer->bytes + p->offset, bytes) != 0) {
        rbli_free(document->ctx, bytes);
        return rbli_gltf_fail(document, pointer, "%s is damaged", extension);
    }
    p->bytes = bytes;
    return RBL_OK;
}
