/// One file of the disk cache (docs/cache.md): a header with checksums, rows of the outputs with their
/// content hashes, messages, further files, and the values, collections last: what is before them can be read
/// without them. All numbers are little-endian.

#include "engine/disk_entry.h"

#include <string.h>

#include "fracture/base/alloc.h"
#include "fracture/base/file.h"
#include "fracture/collection/rbl_file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are stored as they are in memory");

enum { MOST_RATIO = 2000, FREE_BYTES = 512 << 20 }; /* memory of a value, for the bytes of its file */
enum { HEADER_BYTES = 64, CHECKED_HEADER_BYTES = 56, ROW_BYTES = 56, VALUE_ALIGNMENT = 64 };
enum { HEAD_BYTES = 8192 }; /* read at once of a file that is read in parts */

static const uint8_t magic[8] = {0x89, 'R', 'C', 'E', '\r', '\n', 0x1a, '\n'};

static size_t align_value(size_t place)
{
    return (place + VALUE_ALIGNMENT - 1) & ~(size_t)(VALUE_ALIGNMENT - 1);
}

/* ---- Encoding ---- */

typedef RBLI_ARRAY(uint8_t) byte_array;

static rbl_status append(rbl_context *ctx, byte_array *to, const void *bytes, size_t count)
{
    if (count == 0) return RBL_OK;
    rbl_status status = rbli_array_reserve(ctx, to, count);
    if (status != RBL_OK) return status;
    memcpy(to->data + to->count, bytes, count);
    to->count += count;
    return RBL_OK;
}

static rbl_status append_zeros(rbl_context *ctx, byte_array *to, size_t count)
{
    static const uint8_t zeros[VALUE_ALIGNMENT];
    return append(ctx, to, zeros, count);
}

static rbl_status append_u32(rbl_context *ctx, byte_array *to, size_t number)
{
    if (number > UINT32_MAX) return RBL_ERR_LIMIT;
    uint32_t stored = (uint32_t)number;
    return append(ctx, to, &stored, sizeof stored);
}

static rbl_status append_value(rbl_context *ctx, byte_array *to, const rbl_value *value)
{
    rbl_status status = RBL_OK;
    uint8_t *packed = NULL;
    size_t count = 0;
    double box[2][3], number = rbl_value_number(value);
    switch (rbl_value_get_kind(value)) {
    case RBL_VALUE_COLLECTION:
        RBL_TRY(rbli_value_unpack(ctx, value));
        RBL_TRY(rbli_rbl_encode(ctx, rbl_value_collection(value), &packed, &count));
        RBL_TRY(append(ctx, to, packed, count));
        break;
    case RBL_VALUE_POINTS: {
        const double(*points)[3] = rbl_value_points(value, &count);
        RBL_TRY(append(ctx, to, points, count * sizeof *points));
        break;
    }
    case RBL_VALUE_BOX:
        rbl_value_box(value, box[0], box[1]);
        RBL_TRY(append(ctx, to, box, sizeof box));
        break;
    case RBL_VALUE_VEC3:
        rbl_value_vec3(value, box[0]);
        RBL_TRY(append(ctx, to, box[0], sizeof box[0]));
        break;
    case RBL_VALUE_SELECTION: {
        const rbli_selection *selection = rbli_value_get_selection(value);
        rbli_hash topology = rbli_selection_topology(selection);
        RBL_TRY(append(ctx, to, &topology, sizeof topology));
        RBL_TRY(append(ctx, to, rbli_selection_bones(selection),
            rbli_selection_count(selection) * sizeof *rbli_selection_bones(selection)));
        break;
    }
    case RBL_VALUE_BOOL:
    case RBL_VALUE_INT:
    case RBL_VALUE_FLOAT:
        RBL_TRY(append(ctx, to, &number, sizeof number));
        break;
    case RBL_VALUE_STRING:
        RBL_TRY(append(ctx, to, rbl_value_string(value), strlen(rbl_value_string(value))));
        break;
    }
done:
    rbli_free(ctx, packed);
    return status;
}

static rbl_status append_texts(rbl_context *ctx, byte_array *to, const rbli_result *result)
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < result->message_count; i++) {
        const rbli_kept_message *message = &result->messages[i];
        RBL_TRY(append_u32(ctx, to, (size_t)message->severity));
        RBL_TRY(append_u32(ctx, to, strlen(message->text)));
        RBL_TRY(append(ctx, to, message->text, strlen(message->text)));
    }
    for (size_t i = 0; i < result->file_count; i++) {
        const rbli_file_stamp *file = &result->files[i];
        RBL_TRY(append_u32(ctx, to, file->anchor));
        RBL_TRY(append_u32(ctx, to, strlen(file->path)));
        RBL_TRY(append(ctx, to, &file->hash, sizeof file->hash));
        RBL_TRY(append(ctx, to, file->path, strlen(file->path)));
    }
done:
    return status;
}

/// Appends the collections, or the other values, and fills their rows in.
static rbl_status append_values(rbl_context *ctx, byte_array *to, const rbli_result *result, bool collections)
{
    for (size_t i = 0; i < result->output_count; i++) {
        const rbl_value *value = result->outputs[i];
        if ((rbl_value_get_kind(value) == RBL_VALUE_COLLECTION) != collections) continue;
        rbl_status status = append_zeros(ctx, to, align_value(to->count) - to->count);
        size_t place = to->count;
        if (status == RBL_OK) status = append_value(ctx, to, value);
        if (status != RBL_OK) return status;
        rbli_hash hash = rbli_value_hash(value);
        size_t count = to->count - place;
        uint64_t row[7] = {(uint64_t)rbl_value_get_kind(value), hash.low, hash.high, rbli_value_bytes(value),
            place, count, rbli_hash64(to->data + place, count)};
        _Static_assert(sizeof row == ROW_BYTES, "the size of a row is part of the format");
        memcpy(to->data + HEADER_BYTES + i * ROW_BYTES, row, sizeof row);
    }
    return RBL_OK;
}

/// Where the values begin. @param bytes  with all rows in it
static size_t find_values(const uint8_t *bytes, size_t count, size_t outputs)
{
    size_t first = count;
    for (size_t i = 0; i < outputs; i++) {
        uint64_t row[7];
        memcpy(row, bytes + HEADER_BYTES + i * ROW_BYTES, sizeof row);
        if (row[4] < first) first = row[4];
    }
    return first;
}

static void write_header(byte_array *file, rbli_hash address, const rbli_result *result)
{
    uint32_t version = RBLI_ENTRY_VERSION, outputs = (uint32_t)result->output_count;
    uint32_t texts[2] = {(uint32_t)result->message_count, (uint32_t)result->file_count};
    uint64_t bytes = file->count;
    size_t values = find_values(file->data, file->count, result->output_count);
    uint64_t head = rbli_hash64(file->data + HEADER_BYTES, values - HEADER_BYTES);
    memcpy(file->data, magic, sizeof magic);
    memcpy(file->data + 8, &version, sizeof version);
    memcpy(file->data + 12, &outputs, sizeof outputs);
    memcpy(file->data + 16, &bytes, sizeof bytes);
    memcpy(file->data + 24, texts, sizeof texts);
    memcpy(file->data + 32, &address, sizeof address);
    memcpy(file->data + 48, &head, sizeof head);
    uint64_t header = rbli_hash64(file->data, CHECKED_HEADER_BYTES);
    memcpy(file->data + CHECKED_HEADER_BYTES, &header, sizeof header);
}

rbl_status rbli_entry_encode(
    rbl_context *ctx, rbli_hash address, const rbli_result *result, uint8_t **out, size_t *out_bytes)
{
    rbl_status status = RBL_OK;
    byte_array file = {0};
    if (result->output_count > UINT32_MAX || result->message_count > UINT32_MAX ||
        result->file_count > UINT32_MAX)
        return RBL_ERR_LIMIT;
    RBL_TRY(append_zeros(ctx, &file, HEADER_BYTES));
    for (size_t i = 0; i < result->output_count; i++)
        RBL_TRY(append_zeros(ctx, &file, ROW_BYTES));
    RBL_TRY(append_texts(ctx, &file, result));
    RBL_TRY(append_values(ctx, &file, result, false));
    RBL_TRY(append_values(ctx, &file, result, true));
    write_header(&file, address, result);
    *out = file.data;
    *out_bytes = file.count;
    file.data = NULL;
done:
    rbli_free(ctx, file.data);
    return status;
}

/* ---- Decoding: nothing is believed before it was compared ---- */

typedef struct reader {
    const uint8_t *bytes;
    size_t have;  /* bytes: all of the file, or what is before its collections */
    size_t count; /* bytes of the file */
    size_t at;
    uint32_t outputs, messages, files;
    rbli_blob *blob; /* of the file */
} reader;

static rbl_status malformed(rbl_context *ctx, const char *what)
{
    return rbli_fail(ctx, RBL_ERR_PARSE, "%s", what);
}

static bool take(reader *r, void *out, size_t count)
{
    if (count > r->have - r->at) return false;
    memcpy(out, r->bytes + r->at, count);
    r->at += count;
    return true;
}

static rbl_status read_header(rbl_context *ctx, reader *r, rbli_hash address, uint64_t *head_checksum)
{
    uint8_t start[8];
    uint32_t version = 0;
    uint64_t bytes = 0, head = 0, header = 0;
    rbli_hash stored = {0, 0};
    if (r->have < HEADER_BYTES) return malformed(ctx, "it ends within its header");
    take(r, start, sizeof start);
    take(r, &version, sizeof version);
    take(r, &r->outputs, sizeof r->outputs);
    take(r, &bytes, sizeof bytes);
    take(r, &r->messages, sizeof r->messages);
    take(r, &r->files, sizeof r->files);
    take(r, &stored, sizeof stored);
    take(r, &head, sizeof head);
    take(r, &header, sizeof header);
    if (memcmp(start, magic, sizeof magic) != 0) return malformed(ctx, "it is no file of a cache");
    if (rbli_hash64(r->bytes, CHECKED_HEADER_BYTES) != header)
        return malformed(ctx, "the checksum of its header differs");
    if (version != RBLI_ENTRY_VERSION)
        return rbli_fail(
            ctx, RBL_ERR_PARSE, "it has version %u, not %d", (unsigned)version, (int)RBLI_ENTRY_VERSION);
    if (bytes != r->count)
        return rbli_fail(
            ctx, RBL_ERR_PARSE, "it has %zu bytes, not %llu", r->count, (unsigned long long)bytes);
    if (!rbli_hash_equal(stored, address)) return malformed(ctx, "it belongs to another address");
    if (r->outputs > (r->count - HEADER_BYTES) / ROW_BYTES)
        return malformed(ctx, "it has another number of outputs than its node");
    *head_checksum = head;
    return RBL_OK;
}

/// Compares the checksum of what is between the header and the values.
static rbl_status check_head(rbl_context *ctx, const reader *r, uint64_t checksum)
{
    size_t rows = HEADER_BYTES + (size_t)r->outputs * ROW_BYTES;
    size_t values = rows <= r->have ? find_values(r->bytes, r->count, r->outputs) : 0;
    if (values < rows || values > r->have ||
        rbli_hash64(r->bytes + HEADER_BYTES, values - HEADER_BYTES) != checksum)
        return malformed(ctx, "the checksum of its content differs");
    return RBL_OK;
}

/// A text of the file as a string; NULL with *status set.
static char *take_text(rbl_context *ctx, reader *r, size_t length, rbl_status *status)
{
    if (length > r->have - r->at || memchr(r->bytes + r->at, 0, length)) {
        *status = malformed(ctx, "a text ends behind the file, or has a zero byte");
        return NULL;
    }
    char *text = rbli_alloc(ctx, length + 1, 1);
    if (!text) {
        *status = RBL_ERR_NO_MEMORY;
        return NULL;
    }
    take(r, text, length);
    text[length] = '\0';
    return text;
}

static rbl_status read_messages(rbl_context *ctx, reader *r, rbli_result *result)
{
    rbl_status status = RBL_OK;
    for (uint32_t i = 0; i < r->messages; i++) {
        uint32_t head[2];
        if (!take(r, head, sizeof head)) return malformed(ctx, "it ends within its messages");
        if (head[0] != RBL_WARNING && head[0] != RBL_NOTE) return malformed(ctx, "a message has no severity");
        char *text = take_text(ctx, r, head[1], &status);
        if (!text) return status;
        status = rbli_result_add_message(result, (rbl_severity)head[0], text);
        rbli_free(ctx, text);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

static rbl_status read_files(rbl_context *ctx, reader *r, rbli_result *result)
{
    rbl_status status = RBL_OK;
    for (uint32_t i = 0; i < r->files; i++) {
        uint32_t head[2];
        rbli_hash hash;
        if (!take(r, head, sizeof head) || !take(r, &hash, sizeof hash))
            return malformed(ctx, "it ends within its list of files");
        char *path = take_text(ctx, r, head[1], &status);
        if (!path) return status;
        status = rbli_result_add_file(result, path, hash);
        rbli_free(ctx, path);
        if (status != RBL_OK) return status;
        result->files[i].anchor = head[0];
    }
    return RBL_OK;
}

static rbl_status restore_points(rbl_context *ctx, const uint8_t *bytes, size_t count, rbl_value **out)
{
    if (count % sizeof(double[3])) return malformed(ctx, "points of a wrong size");
    double(*points)[3] = rbli_alloc(ctx, count, 1);
    if (!points) return RBL_ERR_NO_MEMORY;
    if (count) memcpy(points, bytes, count);
    rbl_status status = rbl_value_create_points(ctx, (const double(*)[3])points, count / sizeof *points, out);
    rbli_free(ctx, points);
    return status;
}

static rbl_status restore_selection(rbl_context *ctx, const uint8_t *bytes, size_t count, rbl_value **out)
{
    rbli_hash topology;
    if (count < sizeof topology || (count - sizeof topology) % sizeof(int32_t))
        return malformed(ctx, "a selection of a wrong size");
    memcpy(&topology, bytes, sizeof topology);
    count -= sizeof topology;
    int32_t *bones = rbli_alloc(ctx, count, 1);
    if (!bones) return RBL_ERR_NO_MEMORY;
    if (count) memcpy(bones, bytes + sizeof topology, count);
    rbli_selection *selection = NULL;
    rbl_status status = rbli_selection_restore(ctx, topology, bones, count / sizeof *bones, &selection);
    if (status == RBL_OK) status = rbli_value_create_from_selection(ctx, selection, out);
    rbli_selection_release(selection);
    rbli_free(ctx, bones);
    return status;
}

static rbl_status restore_string(rbl_context *ctx, const uint8_t *bytes, size_t count, rbl_value **out)
{
    rbl_status status = RBL_OK;
    reader r = {.bytes = bytes, .have = count, .count = count};
    char *text = take_text(ctx, &r, count, &status);
    if (!text) return status;
    status = rbl_value_create_string(ctx, text, out);
    rbli_free(ctx, text);
    return status;
}

static rbl_status restore_value(rbl_context *ctx, const reader *r, const uint64_t row[7], rbl_value **out)
{
    size_t count = row[5];
    const uint8_t *bytes = r->bytes + row[4]; /* unused of a collection */
    const rbli_packed packed = {r->blob, row[4], count, row[6], {row[1], row[2]}, row[3]};
    double box[2][3], number;
    switch (row[0]) {
    case RBL_VALUE_COLLECTION:
        return rbli_value_create_packed(ctx, &packed, out);
    case RBL_VALUE_POINTS:
        return restore_points(ctx, bytes, count, out);
    case RBL_VALUE_BOX:
        if (count != sizeof box) return malformed(ctx, "a box of a wrong size");
        memcpy(box, bytes, sizeof box);
        return rbl_value_create_box(ctx, box[0], box[1], out);
    case RBL_VALUE_VEC3:
        if (count != sizeof box[0]) return malformed(ctx, "a vector of a wrong size");
        memcpy(box[0], bytes, sizeof box[0]);
        return rbl_value_create_vec3(ctx, box[0], out);
    case RBL_VALUE_SELECTION:
        return restore_selection(ctx, bytes, count, out);
    case RBL_VALUE_BOOL:
    case RBL_VALUE_INT:
    case RBL_VALUE_FLOAT:
        if (count != sizeof number) return malformed(ctx, "a number of a wrong size");
        memcpy(&number, bytes, sizeof number);
        return rbl_value_create_number(ctx, (rbl_value_kind)row[0], number, out);
    case RBL_VALUE_STRING:
        return restore_string(ctx, bytes, count, out);
    default:
        return malformed(ctx, "a value of no kind");
    }
}

static bool is_zero(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i]) return false;
    return true;
}

/// Checks that a value is where it has to be, behind `end`, and as it was written when it was read.
static rbl_status check_value(rbl_context *ctx, const reader *r, const uint64_t row[7], size_t end)
{
    if (row[4] != align_value(end) || row[4] > r->count || row[5] > r->count - row[4])
        return malformed(ctx, "a value lies outside of its place");
    bool read = row[4] <= r->have && row[5] <= r->have - row[4];
    if (!read && row[0] != RBL_VALUE_COLLECTION) return malformed(ctx, "a value lies behind a collection");
    if (row[4] <= r->have && !is_zero(r->bytes + end, row[4] - end))
        return malformed(ctx, "something lies between the values");
    if (read && rbli_hash64(r->bytes + row[4], row[5]) != row[6])
        return malformed(ctx, "the checksum of a value differs");
    return RBL_OK;
}

/// Reads the collections, or the other values. `end`: of what was read before
static rbl_status read_values(rbl_context *ctx, const reader *r, const rbl_port_desc *outputs,
    rbli_result *result, bool collections, size_t *end)
{
    for (uint32_t i = 0; i < r->outputs; i++) {
        uint64_t row[7];
        memcpy(row, r->bytes + HEADER_BYTES + (size_t)i * ROW_BYTES, sizeof row);
        if ((row[0] == RBL_VALUE_COLLECTION) != collections) continue;
        rbl_status status = check_value(ctx, r, row, *end);
        if (status != RBL_OK) return status;
        if (row[3] / MOST_RATIO > r->count + FREE_BYTES / MOST_RATIO)
            return malformed(ctx, "a value claims too much memory");
        if (outputs && row[0] != (uint64_t)outputs[i].kind)
            return malformed(ctx, "a value is of another kind than its output");
        status = restore_value(ctx, r, row, &result->outputs[i]);
        if (status == RBL_ERR_NO_MEMORY) return status;
        if (status != RBL_OK) return RBL_ERR_PARSE;
        rbli_hash hash = rbli_value_hash(result->outputs[i]);
        if (hash.low != row[1] || hash.high != row[2])
            return malformed(ctx, "a value has another hash than its row");
        *end = row[4] + row[5];
    }
    return RBL_OK;
}

static size_t count_outputs(const rbl_port_desc *outputs)
{
    size_t count = 0;
    while (outputs[count].name)
        count++;
    return count;
}

static rbl_status decode(
    rbl_context *ctx, reader *r, rbli_hash address, const rbl_port_desc *outputs, rbli_result **out)
{
    rbl_status status = RBL_OK;
    rbli_result *result = NULL;
    uint64_t checksum = 0;
    RBL_TRY(read_header(ctx, r, address, &checksum));
    RBL_TRY(check_head(ctx, r, checksum));
    if (outputs && count_outputs(outputs) != r->outputs)
        RBL_TRY(malformed(ctx, "it has another number of outputs than its node"));
    r->at += (size_t)r->outputs * ROW_BYTES;
    RBL_TRY(rbli_result_create(ctx->allocator, r->outputs, &result));
    RBL_TRY(read_messages(ctx, r, result));
    RBL_TRY(read_files(ctx, r, result));
    size_t end = r->at;
    RBL_TRY(read_values(ctx, r, outputs, result, false, &end));
    RBL_TRY(read_values(ctx, r, outputs, result, true, &end));
    if (end != r->count) RBL_TRY(malformed(ctx, "something lies behind the last value"));
    *out = result;
    result = NULL;
done:
    rbli_result_release(result);
    return status;
}

rbl_status rbli_entry_decode(rbl_context *ctx, rbli_hash address, uint8_t *bytes, size_t count,
    const rbl_port_desc *outputs, rbli_result **out)
{
    reader r = {.bytes = bytes, .have = count, .count = count};
    rbl_status status = rbli_blob_create(ctx, bytes, count, &r.blob);
    if (status != RBL_OK) {
        rbli_free(ctx, bytes);
        return status;
    }
    status = decode(ctx, &r, address, outputs, out);
    rbli_blob_release(r.blob);
    return status;
}

/// How many bytes of a file have to be read, as its first ones say: those before its first collection.
static size_t find_head(const uint8_t *bytes, size_t have, size_t count)
{
    uint32_t outputs = 0;
    size_t end = count;
    if (have < HEADER_BYTES) return count;
    memcpy(&outputs, bytes + 12, sizeof outputs);
    if (outputs > (count - HEADER_BYTES) / ROW_BYTES) return count;
    size_t rows = HEADER_BYTES + (size_t)outputs * ROW_BYTES;
    for (uint32_t i = 0; i < outputs && rows <= have; i++) {
        uint64_t row[7];
        memcpy(row, bytes + HEADER_BYTES + (size_t)i * ROW_BYTES, sizeof row);
        if (row[0] == RBL_VALUE_COLLECTION && row[4] < end) end = row[4];
    }
    return end < rows ? count : end;
}

rbl_status rbli_entry_read_head(
    rbl_context *ctx, rbli_hash address, const char *path, const rbl_port_desc *outputs, rbli_result **out)
{
    uint8_t *bytes = NULL;
    reader r = {0};
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_file_read_part(ctx, path, 0, HEAD_BYTES, &bytes, &r.have, &r.count));
    if (r.count > RBLI_ENTRY_MOST_BYTES) RBL_TRY(rbli_fail(ctx, RBL_ERR_READ, "%s: is too large", path));
    size_t head = find_head(bytes, r.have, r.count);
    if (head > r.have) {
        rbli_free(ctx, bytes);
        bytes = NULL;
        RBL_TRY(rbli_file_read_part(ctx, path, 0, head, &bytes, &r.have, &r.count));
    }
    if (r.have < r.count) r.have = head < r.have ? head : r.have;
    if (r.have == r.count) { /* small, or without collections */
        uint8_t *taken = bytes;
        bytes = NULL;
        return rbli_entry_decode(ctx, address, taken, r.count, outputs, out);
    }
    RBL_TRY(rbli_blob_create_on_file(ctx, path, &r.blob));
    r.bytes = bytes;
    status = decode(ctx, &r, address, outputs, out);
done:
    rbli_blob_release(r.blob);
    rbli_free(ctx, bytes);
    return status;
}
