/// Values that flow along connections: immutable, reference counted, with their content hash.

#include "engine/value.h"

#include <math.h>
#include <string.h>
#include <uv.h>

#include "fracture/base/alloc.h"
#include "fracture/base/file.h"
#include "fracture/collection/rbl_file.h"

struct rbli_blob {
    rbli_allocator *allocator;
    atomic_size_t references;
    uint8_t *bytes; /* NULL: in a file */
    size_t count;
    char *path; /* of the file */
};

/// A collection that is unpacked when it is asked for.
typedef struct packed_content {
    _Atomic(rbl_collection *) collection; /* NULL while packed */
    uv_mutex_t mutex;                     /* from.blob, and setting of the collection */
    rbli_packed from;                     /* its blob is NULL once unpacked */
} packed_content;

struct rbl_value {
    rbli_allocator *allocator;
    atomic_size_t references;
    rbl_value_kind kind;
    rbli_hash hash;         /* unused for COLLECTION (unless packed) and SELECTION, which keep their own */
    packed_content *packed; /* a COLLECTION that came packed; `collection` is then unused */
    union {
        rbl_collection *collection;
        rbli_selection *selection;
        struct {
            double (*points)[3];
            size_t point_count;
        };
        double box[2][3];
        double vec3[3];
        double number;
        struct {
            char *text;
            size_t text_bytes;
        };
    };
};

static rbl_value *new_value(rbl_context *ctx, rbl_value_kind kind)
{
    rbl_value *value = rbli_calloc(ctx, 1, sizeof *value);
    if (!value) return NULL;
    value->allocator = rbli_allocator_retain(ctx->allocator);
    atomic_init(&value->references, 1);
    value->kind = kind;
    return value;
}

static rbli_hash hash_content(rbl_value_kind kind, const void *bytes, size_t count)
{
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    int32_t number = (int32_t)kind;
    rbli_hasher_add(&hasher, &number, sizeof number);
    rbli_hasher_add(&hasher, bytes, count);
    return rbli_hasher_end(&hasher);
}

/* ---- Packed collections ---- */

rbl_status rbli_blob_create(rbl_context *ctx, uint8_t *bytes, size_t count, rbli_blob **out)
{
    rbli_blob *blob = rbli_calloc(ctx, 1, sizeof *blob);
    if (!blob) return RBL_ERR_NO_MEMORY;
    blob->allocator = rbli_allocator_retain(ctx->allocator);
    atomic_init(&blob->references, 1);
    blob->bytes = bytes;
    blob->count = count;
    *out = blob;
    return RBL_OK;
}

rbl_status rbli_blob_create_on_file(rbl_context *ctx, const char *path, rbli_blob **out)
{
    char *copy = rbli_strdup(ctx, path);
    rbl_status status = copy ? rbli_blob_create(ctx, NULL, 0, out) : RBL_ERR_NO_MEMORY;
    if (status == RBL_OK)
        (*out)->path = copy;
    else
        rbli_free(ctx, copy);
    return status;
}

rbli_blob *rbli_blob_retain(rbli_blob *blob)
{
    atomic_fetch_add_explicit(&blob->references, 1, memory_order_relaxed);
    return blob;
}

void rbli_blob_release(rbli_blob *blob)
{
    if (!blob || atomic_fetch_sub_explicit(&blob->references, 1, memory_order_acq_rel) != 1) return;
    rbli_allocator *allocator = blob->allocator;
    rbli_allocator_free(allocator, blob->bytes);
    rbli_allocator_free(allocator, blob->path);
    rbli_allocator_free(allocator, blob);
    rbli_allocator_release(allocator);
}

rbl_status rbli_value_create_packed(rbl_context *ctx, const rbli_packed *from, rbl_value **out)
{
    packed_content *packed = rbli_calloc(ctx, 1, sizeof *packed);
    rbl_value *value = packed ? new_value(ctx, RBL_VALUE_COLLECTION) : NULL;
    if (!value || uv_mutex_init(&packed->mutex) != 0) {
        if (value) {
            rbli_free(ctx, value);
            rbli_allocator_release(ctx->allocator);
        }
        rbli_free(ctx, packed);
        return RBL_ERR_NO_MEMORY;
    }
    atomic_init(&packed->collection, NULL);
    packed->from = *from;
    rbli_blob_retain(from->blob);
    value->packed = packed;
    value->hash = from->hash;
    *out = value;
    return RBL_OK;
}

static void destroy_packed(rbli_allocator *allocator, packed_content *packed)
{
    rbli_collection_release(atomic_load(&packed->collection));
    rbli_blob_release(packed->from.blob);
    uv_mutex_destroy(&packed->mutex);
    rbli_allocator_free(allocator, packed);
}

/// The collection of the bytes of a blob, which are read now when they are in a file.
static rbl_status decode_packed(
    rbl_context *ctx, const rbli_packed *from, const rbli_blob *blob, rbl_collection **out)
{
    uint8_t *read = NULL;
    size_t count = from->count, file_bytes;
    rbl_status status = RBL_OK;
    if (blob->path) {
        RBL_TRY(rbli_file_read_part(ctx, blob->path, from->place, from->count, &read, &count, &file_bytes));
        if (count != from->count || rbli_hash64(read, count) != from->checksum)
            RBL_TRY(rbli_fail(ctx, RBL_ERR_PARSE, "%s: the checksum of a value differs", blob->path));
    }
    RBL_TRY(rbli_rbl_decode(ctx, "packed value", read ? read : blob->bytes + from->place, count, out));
done:
    rbli_free(ctx, read);
    return status;
}

/// Unpacks without the lock, because a parallel loop may run other work that asks for the same value; of two
/// that did it at once, one gives its collection up.
rbl_status rbli_value_unpack(rbl_context *ctx, const rbl_value *value)
{
    packed_content *packed = value->packed;
    if (!rbli_value_is_packed(value)) return RBL_OK;
    uv_mutex_lock(&packed->mutex);
    rbli_blob *blob = packed->from.blob ? rbli_blob_retain(packed->from.blob) : NULL;
    uv_mutex_unlock(&packed->mutex);
    if (!blob) return RBL_OK;
    rbl_collection *made = NULL;
    rbl_status status = decode_packed(ctx, &packed->from, blob, &made);
    if (status == RBL_OK) status = rbli_collection_hash_polled(ctx, made);
    if (status == RBL_OK) {
        rbli_hash content = rbli_collection_hash(made);
        if (!rbli_hash_equal(hash_content(RBL_VALUE_COLLECTION, &content, sizeof content), value->hash))
            status = rbli_fail(ctx, RBL_ERR_PARSE, "packed value: its content has another hash");
    }
    if (status == RBL_OK) {
        rbli_blob *unused = NULL;
        uv_mutex_lock(&packed->mutex);
        if (!atomic_load(&packed->collection)) {
            unused = packed->from.blob;
            packed->from.blob = NULL;
            atomic_store_explicit(&packed->collection, made, memory_order_release);
            made = NULL;
        }
        uv_mutex_unlock(&packed->mutex);
        rbli_blob_release(unused);
    }
    rbli_collection_release(made);
    rbli_blob_release(blob);
    return status;
}

bool rbli_value_was_packed(const rbl_value *value)
{
    return value->packed != NULL;
}

bool rbli_value_is_packed(const rbl_value *value)
{
    return value->packed && !atomic_load_explicit(&value->packed->collection, memory_order_acquire);
}

bool rbli_value_is_in_file(const rbl_value *value)
{
    if (!rbli_value_is_packed(value)) return false;
    uv_mutex_lock(&value->packed->mutex);
    bool in_file = value->packed->from.blob && value->packed->from.blob->path;
    uv_mutex_unlock(&value->packed->mutex);
    return in_file;
}

/* ---- Values ---- */

rbl_value *rbl_value_retain(rbl_value *value)
{
    if (value) atomic_fetch_add_explicit(&value->references, 1, memory_order_relaxed);
    return value;
}

void rbl_value_release(rbl_value *value)
{
    if (!value || atomic_fetch_sub_explicit(&value->references, 1, memory_order_acq_rel) != 1) return;
    rbli_allocator *allocator = value->allocator;
    switch (value->kind) {
    case RBL_VALUE_COLLECTION:
        if (value->packed)
            destroy_packed(allocator, value->packed);
        else
            rbli_collection_release(value->collection);
        break;
    case RBL_VALUE_SELECTION:
        rbli_selection_release(value->selection);
        break;
    case RBL_VALUE_POINTS:
        rbli_allocator_free(allocator, value->points);
        break;
    case RBL_VALUE_STRING:
        rbli_allocator_free(allocator, value->text);
        break;
    case RBL_VALUE_BOX:
    case RBL_VALUE_VEC3:
    case RBL_VALUE_BOOL:
    case RBL_VALUE_INT:
    case RBL_VALUE_FLOAT:
        break;
    }
    rbli_allocator_free(allocator, value);
    rbli_allocator_release(allocator);
}

rbl_value_kind rbl_value_get_kind(const rbl_value *value)
{
    return value->kind;
}

rbl_status rbl_value_create_collection(rbl_context *ctx, rbl_collection *collection, rbl_value **out)
{
    rbl_value *value = new_value(ctx, RBL_VALUE_COLLECTION);
    if (!value) return RBL_ERR_NO_MEMORY;
    value->collection = rbli_collection_retain(collection);
    *out = value;
    return RBL_OK;
}

rbl_status rbl_value_create_points(rbl_context *ctx, const double (*points)[3], size_t count, rbl_value **out)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(points[i][0]) || !isfinite(points[i][1]) || !isfinite(points[i][2]))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "point %zu is not finite", i);
    double(*copy)[3] = rbli_alloc(ctx, count, sizeof *copy);
    rbl_value *value = copy ? new_value(ctx, RBL_VALUE_POINTS) : NULL;
    if (!value) {
        rbli_free(ctx, copy);
        return RBL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < 3; k++)
            copy[i][k] = points[i][k] + 0.0; /* no −0: equal points hash equally */
    value->points = copy;
    value->point_count = count;
    value->hash = hash_content(RBL_VALUE_POINTS, copy, count * sizeof *copy);
    *out = value;
    return RBL_OK;
}

rbl_status rbl_value_create_box(rbl_context *ctx, const double min[3], const double max[3], rbl_value **out)
{
    for (size_t k = 0; k < 3; k++)
        if (!isfinite(min[k]) || !isfinite(max[k]) || min[k] > max[k])
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "a box from %g to %g on axis %zu", min[k], max[k], k);
    rbl_value *value = new_value(ctx, RBL_VALUE_BOX);
    if (!value) return RBL_ERR_NO_MEMORY;
    for (size_t k = 0; k < 3; k++) {
        value->box[0][k] = min[k] + 0.0;
        value->box[1][k] = max[k] + 0.0;
    }
    value->hash = hash_content(RBL_VALUE_BOX, value->box, sizeof value->box);
    *out = value;
    return RBL_OK;
}

rbl_status rbl_value_create_selection(
    rbl_context *ctx, const rbl_collection *collection, const int32_t *bones, size_t count, rbl_value **out)
{
    rbli_selection *selection = NULL;
    rbl_status status = rbli_selection_create(ctx, collection, bones, count, &selection);
    if (status != RBL_OK) return status;
    status = rbli_value_create_from_selection(ctx, selection, out);
    rbli_selection_release(selection);
    return status;
}

rbl_status rbli_value_create_from_selection(rbl_context *ctx, rbli_selection *selection, rbl_value **out)
{
    rbl_value *value = new_value(ctx, RBL_VALUE_SELECTION);
    if (!value) return RBL_ERR_NO_MEMORY;
    value->selection = rbli_selection_retain(selection);
    *out = value;
    return RBL_OK;
}

rbl_status rbl_value_create_number(rbl_context *ctx, rbl_value_kind kind, double number, rbl_value **out)
{
    if (kind != RBL_VALUE_BOOL && kind != RBL_VALUE_INT && kind != RBL_VALUE_FLOAT)
        return rbli_fail(ctx, RBL_ERR_TYPE, "a %s is not a number", rbli_value_kind_word(kind));
    if (!isfinite(number)) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "a number that is not finite");
    if (kind == RBL_VALUE_BOOL) number = number != 0;
    if (kind == RBL_VALUE_INT && number != trunc(number))
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "%g is not an integer", number);
    rbl_value *value = new_value(ctx, kind);
    if (!value) return RBL_ERR_NO_MEMORY;
    value->number = number + 0.0;
    value->hash = hash_content(kind, &value->number, sizeof value->number);
    *out = value;
    return RBL_OK;
}

rbl_status rbl_value_create_vec3(rbl_context *ctx, const double vector[3], rbl_value **out)
{
    for (size_t k = 0; k < 3; k++)
        if (!isfinite(vector[k])) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "a vector that is not finite");
    rbl_value *value = new_value(ctx, RBL_VALUE_VEC3);
    if (!value) return RBL_ERR_NO_MEMORY;
    for (size_t k = 0; k < 3; k++)
        value->vec3[k] = vector[k] + 0.0; /* no −0: equal vectors hash equally */
    value->hash = hash_content(RBL_VALUE_VEC3, value->vec3, sizeof value->vec3);
    *out = value;
    return RBL_OK;
}

rbl_status rbl_value_create_string(rbl_context *ctx, const char *text, rbl_value **out)
{
    char *copy = rbli_strdup(ctx, text);
    rbl_value *value = copy ? new_value(ctx, RBL_VALUE_STRING) : NULL;
    if (!value) {
        rbli_free(ctx, copy);
        return RBL_ERR_NO_MEMORY;
    }
    value->text = copy;
    value->text_bytes = strlen(copy);
    value->hash = hash_content(RBL_VALUE_STRING, copy, value->text_bytes);
    *out = value;
    return RBL_OK;
}

const rbl_collection *rbl_value_collection(const rbl_value *value)
{
    if (!value || value->kind != RBL_VALUE_COLLECTION) return NULL;
    if (!value->packed) return value->collection;
    rbl_context quiet = {.allocator = value->allocator};
    if (rbli_value_unpack(&quiet, value) != RBL_OK) return NULL;
    return atomic_load_explicit(&value->packed->collection, memory_order_acquire);
}

const double (*rbl_value_points(const rbl_value *value, size_t *count))[3]
{
    bool points = value && value->kind == RBL_VALUE_POINTS;
    if (count) *count = points ? value->point_count : 0;
    return points ? (const double(*)[3])value->points : NULL;
}

bool rbl_value_box(const rbl_value *value, double min[3], double max[3])
{
    if (!value || value->kind != RBL_VALUE_BOX) return false;
    memcpy(min, value->box[0], sizeof value->box[0]);
    memcpy(max, value->box[1], sizeof value->box[1]);
    return true;
}

bool rbl_value_vec3(const rbl_value *value, double out[3])
{
    if (!value || value->kind != RBL_VALUE_VEC3) return false;
    memcpy(out, value->vec3, sizeof value->vec3);
    return true;
}

const rbli_selection *rbli_value_get_selection(const rbl_value *value)
{
    return value && value->kind == RBL_VALUE_SELECTION ? value->selection : NULL;
}

const int32_t *rbl_value_selection(const rbl_value *value, size_t *count)
{
    const rbli_selection *selection = rbli_value_get_selection(value);
    if (count) *count = selection ? rbli_selection_count(selection) : 0;
    return selection ? rbli_selection_bones(selection) : NULL;
}

double rbl_value_number(const rbl_value *value)
{
    if (!value) return 0;
    bool number =
        value->kind == RBL_VALUE_BOOL || value->kind == RBL_VALUE_INT || value->kind == RBL_VALUE_FLOAT;
    return number ? value->number : 0;
}

const char *rbl_value_string(const rbl_value *value)
{
    return value && value->kind == RBL_VALUE_STRING ? value->text : NULL;
}

rbli_hash rbli_value_hash(const rbl_value *value)
{
    rbli_hash content;
    if (!value) return (rbli_hash){0, 0};
    if (value->packed) return value->hash;
    if (value->kind == RBL_VALUE_COLLECTION)
        content = rbli_collection_hash(value->collection);
    else if (value->kind == RBL_VALUE_SELECTION)
        content = rbli_selection_hash(value->selection);
    else
        return value->hash;
    return hash_content(value->kind, &content, sizeof content);
}

rbl_status rbli_value_hash_polled(rbl_context *ctx, const rbl_value *value)
{
    bool collection = value && value->kind == RBL_VALUE_COLLECTION && !value->packed;
    return collection ? rbli_collection_hash_polled(ctx, value->collection) : RBL_OK;
}

size_t rbli_value_bytes(const rbl_value *value)
{
    size_t bytes = sizeof *value;
    if (value->packed) return value->packed->from.unpacked_bytes;
    if (value->kind == RBL_VALUE_COLLECTION) bytes += rbli_collection_bytes(value->collection);
    if (value->kind == RBL_VALUE_SELECTION) bytes += rbli_selection_bytes(value->selection);
    if (value->kind == RBL_VALUE_POINTS) bytes += value->point_count * sizeof *value->points;
    if (value->kind == RBL_VALUE_STRING) bytes += value->text_bytes;
    return bytes;
}

const char *rbli_value_kind_word(rbl_value_kind kind)
{
    switch (kind) {
#define KIND_WORD(name, number, word)                                                                        \
    case RBL_VALUE_##name:                                                                                   \
        return word;
        RBL_VALUE_KIND_LIST(KIND_WORD)
#undef KIND_WORD
    }
    return "unknown";
}

bool rbli_value_kind_fits(rbl_value_kind from, rbl_value_kind to)
{
    return from == to || (from == RBL_VALUE_INT && to == RBL_VALUE_FLOAT);
}
