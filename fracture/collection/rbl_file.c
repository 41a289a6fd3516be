/// The .rbl file. All numbers are little-endian; one content has one encoding (with one version of zstd).
///
///   header, 64 bytes
///      0  8 bytes  magic 89 52 42 4c 0d 0a 1a 0a
///      8  u32      version, 1
///     12  u32      0
///     16  u64      bytes of the file
///     24  u32      groups
///     28  u32      attributes
///     32  u64      bytes of all blocks when unpacked
///     40  u64      0
///     48  u64      XXH3-64 of the table
///     56  u64      XXH3-64 of bytes 0 … 55
///
///   table, from byte 64: all group rows, then all attribute rows (those of the first group first), by name
///     group row, 80 bytes
///        0  64 bytes  name, padded with zeros
///       64  u64       elements
///       72  u32       attributes
///       76  u32       0
///     attribute row, 144 bytes
///        0  64 bytes  name, padded with zeros
///       64  u32       type (rbl_type)
///       68  u32       1: a list array, 0: an array
///       72  block     values
///      108  block     list offsets; zeros for an array
///     block, 36 bytes
///        0  u64  place in the file
///        8  u64  bytes in the file
///       16  u64  bytes unpacked
///       24  u64  XXH3-64 of the bytes in the file
///       32  u32  packing: 0 as they are, 1 one zstd frame
///
///   the blocks' bytes, each at a multiple of 64, in the order of the table; zeros between, nothing behind
///
/// A list array of n lists has n + 1 offsets (u64, counted in values). Strings are lists of char: UTF-8
/// without zero bytes.
///
/// Reading believes nothing: sizes must follow from counts and types, blocks must lie exactly where the ones
/// before end, and the unpacked total must not exceed 256 MiB + 1000 × the file's bytes, so that a small file
/// cannot ask for all memory. The writer leaves its blocks unpacked where packing would break that rule.

#include "fracture/collection/rbl_file.h"

#include <zstd.h>
#include <zstd_errors.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are stored as they are in memory");

enum {
    VERSION = 1,
    HEADER_BYTES = 64,
    NAME_BYTES = 64,
    GROUP_ROW_BYTES = 80,
    ATTRIBUTE_ROW_BYTES = 144,
    BLOCK_ROW_BYTES = 36,
    BLOCK_ALIGNMENT = 64,
    ZSTD_LEVEL = 1,
    PACK_PART_BYTES = 1 << 20,
    WRITE_PART_BYTES = 1 << 18,
    PACKED_FREE_BYTES = 256 << 20,
    PACKED_MOST_RATIO = 1000,
};
enum { PACKING_NONE = 0, PACKING_ZSTD = 1 };

static const uint8_t magic[8] = {0x89, 'R', 'B', 'L', '\r', '\n', 0x1a, '\n'};

/// A block of the file; `bytes` are those in the file.
typedef struct block {
    uint64_t place, stored, unpacked, checksum;
    uint32_t packing;
    const uint8_t *bytes;
    uint8_t *owned; /* encoding: the packed bytes, or NULL */
} block;

typedef struct attribute_row {
    const char *group, *name; /* borrowed from the collection (encoding) or from the rows (decoding) */
    char name_text[NAME_BYTES + 1];
    size_t group_index;
    size_t size;  /* elements of the group */
    size_t place; /* of the row, for messages */
    rbl_type type;
    bool is_list;
    block blocks[2]; /* values, offsets */
    rbli_buffer *buffer;
} attribute_row;

typedef struct group_row {
    char name[NAME_BYTES + 1];
    size_t size, attribute_count;
} group_row;

static uint64_t most_unpacked(uint64_t file_bytes)
{
    return PACKED_FREE_BYTES + PACKED_MOST_RATIO * file_bytes;
}

static size_t align_block(size_t place)
{
    return (place + BLOCK_ALIGNMENT - 1) & ~(size_t)(BLOCK_ALIGNMENT - 1);
}

/* Encoding. */

static void put(uint8_t **at, const void *bytes, size_t count)
{
    memcpy(*at, bytes, count);
    *at += count;
}
static void put_u32(uint8_t **at, uint32_t value)
{
    put(at, &value, sizeof value);
}
static void put_u64(uint8_t **at, uint64_t value)
{
    put(at, &value, sizeof value);
}
static void put_name(uint8_t **at, const char *name)
{
    memset(*at, 0, NAME_BYTES);
    memcpy(*at, name, strlen(name));
    *at += NAME_BYTES;
}

/// Packs in one frame that tells its size. Parts go in one after the other, so that the end of the
/// evaluation can be asked for between them.
static rbl_status pack_bytes(rbl_context *ctx, ZSTD_CCtx *packer, ZSTD_outBuffer *out, const block *b)
{
    rbl_status status = RBL_OK;
    ZSTD_inBuffer in = {.src = b->bytes};
    size_t left = ZSTD_CCtx_setParameter(packer, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    if (!ZSTD_isError(left)) left = ZSTD_CCtx_setPledgedSrcSize(packer, b->unpacked);
    do {
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        in.size = b->unpacked - in.pos > PACK_PART_BYTES ? in.pos + PACK_PART_BYTES : b->unpacked;
        bool last = in.size == b->unpacked;
        if (!ZSTD_isError(left))
            left = ZSTD_compressStream2(packer, out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    } while (!ZSTD_isError(left) && (left > 0 || in.pos < b->unpacked));
    if (!ZSTD_isError(left)) goto done;
    status = ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation
                 ? RBL_ERR_NO_MEMORY
                 : rbli_fail(ctx, RBL_ERR_INTERNAL, "zstd: %s", ZSTD_getErrorName(left));
done:
    return status;
}

/// Packs a block unless that saves less than a sixteenth.
static rbl_status pack_block(rbl_context *ctx, block *b)
{
    if (b->unpacked < 64) return RBL_OK;
    size_t bound = ZSTD_compressBound(b->unpacked);
    rbl_status status = RBL_OK;
    ZSTD_CCtx *packer = ZSTD_createCCtx();
    uint8_t *packed = rbli_alloc(ctx, bound, 1);
    RBL_TRY_ALLOC(packer);
    RBL_TRY_ALLOC(packed);
    ZSTD_outBuffer out = {.dst = packed, .size = bound};
    RBL_TRY(pack_bytes(ctx, packer, &out, b));
    size_t bytes = out.pos;
    if (bytes > b->unpacked - b->unpacked / 16) goto done;
    uint8_t *trimmed = rbli_realloc(ctx, packed, bytes, 1);
    RBL_TRY_ALLOC(trimmed);
    b->owned = trimmed;
    b->bytes = trimmed;
    b->stored = bytes;
    b->packing = PACKING_ZSTD;
    packed = NULL;
done:
    rbli_free(ctx, packed);
    ZSTD_freeCCtx(packer);
    return status;
}

static rbl_status pack_attributes(
    rbl_context *ctx, size_t begin, size_t end, size_t block_index, int worker, void *user)
{
    (void)block_index;
    (void)worker;
    attribute_row *rows = user;
    for (size_t i = begin; i < end; i++)
        for (int k = 0; k < 2; k++) {
            rbl_status status = pack_block(ctx, &rows[i].blocks[k]);
            if (status != RBL_OK) return status;
        }
    return RBL_OK;
}

static void set_plain_block(block *b, const void *bytes, size_t count)
{
    *b = (block){.stored = count, .unpacked = count, .packing = PACKING_NONE, .bytes = bytes};
}

static void leave_unpacked(rbl_context *ctx, attribute_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const rbli_buffer *buffer = rows[i].buffer;
        for (int k = 0; k < 2; k++) {
            rbli_free(ctx, rows[i].blocks[k].owned);
            rows[i].blocks[k].owned = NULL;
        }
        set_plain_block(&rows[i].blocks[0], rbli_buffer_data(buffer), rows[i].blocks[0].unpacked);
        if (rows[i].is_list)
            set_plain_block(&rows[i].blocks[1], rbli_buffer_offsets(buffer), rows[i].blocks[1].unpacked);
    }
}

/// Rows of all attributes in the order of the table, with blocks that are not packed yet.
static rbl_status collect_rows(rbl_context *ctx, const rbl_collection *collection, attribute_row *rows)
{
    size_t row = 0;
    for (size_t g = 0; g < rbli_collection_group_count(collection); g++) {
        const char *group = rbli_collection_group_name(collection, g);
        size_t size = rbli_collection_size(collection, group);
        if (size > INT32_MAX)
            return rbli_fail(ctx, RBL_ERR_LIMIT, "%s: %zu elements are too many for a file", group, size);
        for (size_t i = 0; i < rbli_collection_attribute_count(collection, group); i++, row++) {
            attribute_row *to = &rows[row];
            to->group = group;
            to->name = rbli_collection_attribute_name(collection, group, i);
            to->buffer = rbli_collection_buffer(collection, group, to->name);
            to->type = rbli_buffer_type(to->buffer);
            to->is_list = rbli_buffer_is_list(to->buffer);
            const uint64_t *offsets = rbli_buffer_offsets(to->buffer);
            size_t values = to->is_list ? offsets[size] : size;
            set_plain_block(&to->blocks[0], rbli_buffer_data(to->buffer), values * rbl_type_bytes(to->type));
            if (to->is_list) set_plain_block(&to->blocks[1], offsets, (size + 1) * sizeof *offsets);
        }
    }
    return RBL_OK;
}

/// Gives every block its place; the file's bytes.
static size_t place_blocks(attribute_row *rows, size_t count, size_t table_end, uint64_t *unpacked)
{
    size_t end = table_end;
    *unpacked = 0;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 1 + rows[i].is_list; k++) {
            block *b = &rows[i].blocks[k];
            b->place = align_block(end);
            end = b->place + b->stored;
            *unpacked += b->unpacked;
        }
    return end;
}

static void put_block_row(uint8_t **at, const block *b)
{
    put_u64(at, b->place);
    put_u64(at, b->stored);
    put_u64(at, b->unpacked);
    put_u64(at, b->checksum);
    put_u32(at, b->packing);
}

static void put_table(uint8_t *at, const rbl_collection *collection, attribute_row *rows, size_t count)
{
    for (size_t g = 0; g < rbli_collection_group_count(collection); g++) {
        const char *group = rbli_collection_group_name(collection, g);
        put_name(&at, group);
        put_u64(&at, rbli_collection_size(collection, group));
        put_u32(&at, (uint32_t)rbli_collection_attribute_count(collection, group));
        put_u32(&at, 0);
    }
    for (size_t i = 0; i < count; i++) {
        put_name(&at, rows[i].name);
        put_u32(&at, (uint32_t)rows[i].type);
        put_u32(&at, rows[i].is_list);
        put_block_row(&at, &rows[i].blocks[0]);
        put_block_row(&at, &rows[i].blocks[1]);
    }
}

static void put_header(
    uint8_t *file, size_t file_bytes, size_t groups, size_t attributes, uint64_t unpacked, size_t table_bytes)
{
    uint8_t *at = file;
    put(&at, magic, sizeof magic);
    put_u32(&at, VERSION);
    put_u32(&at, 0);
    put_u64(&at, file_bytes);
    put_u32(&at, (uint32_t)groups);
    put_u32(&at, (uint32_t)attributes);
    put_u64(&at, unpacked);
    put_u64(&at, 0);
    put_u64(&at, rbli_hash64(file + HEADER_BYTES, table_bytes));
    put_u64(&at, rbli_hash64(file, HEADER_BYTES - sizeof(uint64_t)));
}

/// Everything of a file but the blocks' bytes, which are those of the collection or packed ones.
typedef struct encoding {
    attribute_row *rows;
    size_t attributes, file_bytes, head_bytes;
    uint8_t *head; /* header and table */
} encoding;

static void encoding_free(rbl_context *ctx, encoding *e)
{
    for (size_t i = 0; e->rows && i < e->attributes; i++)
        for (int k = 0; k < 2; k++)
            rbli_free(ctx, e->rows[i].blocks[k].owned);
    rbli_free(ctx, e->rows);
    rbli_free(ctx, e->head);
}

/// Packs all blocks and makes the head.
static rbl_status encode(rbl_context *ctx, const rbl_collection *collection, encoding *e)
{
    rbl_status status = RBL_OK;
    size_t groups = rbli_collection_group_count(collection);
    for (size_t g = 0; g < groups; g++)
        e->attributes +=
            rbli_collection_attribute_count(collection, rbli_collection_group_name(collection, g));
    size_t table_bytes = groups * GROUP_ROW_BYTES + e->attributes * ATTRIBUTE_ROW_BYTES;
    RBL_TRY_ALLOC(e->rows = rbli_calloc(ctx, e->attributes, sizeof *e->rows));
    RBL_TRY(collect_rows(ctx, collection, e->rows));
    RBL_TRY(rbli_parallel_for(ctx, e->attributes, 1, pack_attributes, e->rows));
    uint64_t unpacked;
    e->head_bytes = HEADER_BYTES + table_bytes;
    e->file_bytes = place_blocks(e->rows, e->attributes, e->head_bytes, &unpacked);
    if (unpacked > most_unpacked(e->file_bytes)) {
        leave_unpacked(ctx, e->rows, e->attributes);
        e->file_bytes = place_blocks(e->rows, e->attributes, e->head_bytes, &unpacked);
    }
    for (size_t i = 0; i < e->attributes; i++)
        for (int k = 0; k < 1 + e->rows[i].is_list; k++) {
            block *b = &e->rows[i].blocks[k];
            if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
            b->checksum = rbli_hash64(b->bytes, b->stored);
        }
    RBL_TRY_ALLOC(e->head = rbli_calloc(ctx, e->head_bytes, 1));
    put_table(e->head + HEADER_BYTES, collection, e->rows, e->attributes);
    put_header(e->head, e->file_bytes, groups, e->attributes, unpacked, table_bytes);
done:
    return status;
}

rbl_status rbli_rbl_encode(
    rbl_context *ctx, const rbl_collection *collection, uint8_t **out, size_t *out_bytes)
{
    rbl_status status = RBL_OK;
    encoding e = {0};
    uint8_t *file = NULL;
    RBL_TRY(encode(ctx, collection, &e));
    RBL_TRY_ALLOC(file = rbli_alloc(ctx, e.file_bytes, 1));
    memcpy(file, e.head, e.head_bytes);
    for (size_t i = 0, end = e.head_bytes; i < e.attributes; i++)
        for (int k = 0; k < 1 + e.rows[i].is_list; k++) {
            const block *b = &e.rows[i].blocks[k];
            memset(file + end, 0, b->place - end);
            RBL_TRY(rbli_copy_polled(ctx, file + b->place, b->bytes, b->stored));
            end = b->place + b->stored;
        }
    *out = file;
    *out_bytes = e.file_bytes;
    file = NULL;
done:
    rbli_free(ctx, file);
    encoding_free(ctx, &e);
    return status;
}

rbl_status rbli_rbl_write(rbl_context *ctx, const rbl_collection *collection, rbli_file_writer *writer)
{
    static const uint8_t zeros[BLOCK_ALIGNMENT];
    rbl_status status = RBL_OK;
    encoding e = {0};
    RBL_TRY(encode(ctx, collection, &e));
    rbli_file_writer_write(writer, e.head, e.head_bytes);
    for (size_t i = 0, end = e.head_bytes; i < e.attributes; i++)
        for (int k = 0; k < 1 + e.rows[i].is_list; k++) {
            block *b = &e.rows[i].blocks[k];
            rbli_file_writer_write(writer, zeros, b->place - end);
            for (size_t at = 0, part; at < b->stored; at += part) {
                if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
                part = b->stored - at < WRITE_PART_BYTES ? b->stored - at : WRITE_PART_BYTES;
                rbli_file_writer_write(writer, b->bytes + at, part);
            }
            end = b->place + b->stored;
            rbli_free(ctx, b->owned);
            b->owned = NULL;
        }
done:
    encoding_free(ctx, &e);
    return status;
}

/* Decoding. */

typedef struct reader {
    const char *name;
    const uint8_t *bytes;
    size_t count;
    size_t groups, attributes;
    uint64_t unpacked;
    group_row *group_rows;
    attribute_row *rows;
} reader;

#define MALFORMED(ctx, r, place, format, ...)                                                                \
    rbli_fail((ctx), RBL_ERR_PARSE, "%s: byte %zu: " format, (r)->name, (size_t)(place), __VA_ARGS__)

static uint32_t get_u32(const reader *r, size_t place)
{
    uint32_t value;
    memcpy(&value, r->bytes + place, sizeof value);
    return value;
}
static uint64_t get_u64(const reader *r, size_t place)
{
    uint64_t value;
    memcpy(&value, r->bytes + place, sizeof value);
    return value;
}

static rbl_status read_header(rbl_context *ctx, reader *r)
{
    if (r->count < sizeof magic || memcmp(r->bytes, magic, sizeof magic) != 0)
        return MALFORMED(ctx, r, 0, "%s", "not an .rbl file");
    if (r->count < HEADER_BYTES)
        return MALFORMED(ctx, r, r->count, "the file ends inside its header of %d bytes", HEADER_BYTES);
    uint32_t version = get_u32(r, 8);
    if (version != VERSION)
        return MALFORMED(ctx, r, 8, "version %u, expected %d", (unsigned)version, VERSION);
    uint64_t checksum = rbli_hash64(r->bytes, HEADER_BYTES - sizeof(uint64_t));
    if (get_u64(r, 56) != checksum)
        return MALFORMED(ctx, r, 56, "%s", "the checksum of the header does not match");
    if (get_u64(r, 16) != r->count)
        return MALFORMED(ctx, r, 16, "a file of %llu bytes, but there are %zu",
            (unsigned long long)get_u64(r, 16), r->count);
    if (get_u32(r, 12) != 0 || get_u64(r, 40) != 0)
        return MALFORMED(ctx, r, 12, "%s", "reserved bytes are not 0");
    r->groups = get_u32(r, 24);
    r->attributes = get_u32(r, 28);
    r->unpacked = get_u64(r, 32);
    /* Neither product can overflow 64 bits. */
    uint64_t table_bytes =
        (uint64_t)r->groups * GROUP_ROW_BYTES + (uint64_t)r->attributes * ATTRIBUTE_ROW_BYTES;
    if (table_bytes > r->count - HEADER_BYTES)
        return MALFORMED(ctx, r, 24, "a table of %zu groups and %zu attributes does not fit in the file",
            r->groups, r->attributes);
    if (get_u64(r, 48) != rbli_hash64(r->bytes + HEADER_BYTES, table_bytes))
        return MALFORMED(ctx, r, 48, "%s", "the checksum of the table does not match");
    if (r->unpacked > most_unpacked(r->count))
        return MALFORMED(ctx, r, 32, "%llu bytes unpacked, which is more than a file of %zu bytes may hold",
            (unsigned long long)r->unpacked, r->count);
    return RBL_OK;
}

static rbl_status read_name(rbl_context *ctx, const reader *r, size_t place, char name[NAME_BYTES + 1])
{
    memcpy(name, r->bytes + place, NAME_BYTES);
    name[NAME_BYTES] = 0;
    bool padded = true;
    for (size_t i = strlen(name); i < NAME_BYTES; i++)
        padded = padded && name[i] == 0;
    if (!padded || !rbli_collection_name_is_valid(name))
        return MALFORMED(ctx, r, place, "%s", "not a valid name");
    return RBL_OK;
}

static rbl_status read_groups(rbl_context *ctx, reader *r)
{
    rbl_status status = RBL_OK;
    size_t attributes = 0;
    for (size_t g = 0; g < r->groups; g++) {
        size_t place = HEADER_BYTES + g * GROUP_ROW_BYTES;
        group_row *row = &r->group_rows[g];
        RBL_TRY(read_name(ctx, r, place, row->name));
        if (g > 0 && strcmp(r->group_rows[g - 1].name, row->name) >= 0)
            return MALFORMED(
                ctx, r, place, "group %s does not come after %s", row->name, r->group_rows[g - 1].name);
        uint64_t size = get_u64(r, place + NAME_BYTES);
        if (size > INT32_MAX)
            return MALFORMED(
                ctx, r, place + NAME_BYTES, "%s has %llu elements", row->name, (unsigned long long)size);
        row->size = size;
        row->attribute_count = get_u32(r, place + NAME_BYTES + 8);
        attributes += row->attribute_count;
        if (get_u32(r, place + NAME_BYTES + 12) != 0)
            return MALFORMED(ctx, r, place + NAME_BYTES + 12, "%s", "reserved bytes are not 0");
    }
    if (attributes != r->attributes)
        return MALFORMED(ctx, r, 28, "%zu attributes, but the groups have %zu", r->attributes, attributes);
done:
    return status;
}

static void read_block_row(const reader *r, size_t place, block *b)
{
    *b = (block){
        .place = get_u64(r, place),
        .stored = get_u64(r, place + 8),
        .unpacked = get_u64(r, place + 16),
        .checksum = get_u64(r, place + 24),
        .packing = get_u32(r, place + 32),
    };
}

/// Checks a block's place and sizes against where the blocks before end (`*end`, moved on) and what is left
/// to unpack.
static rbl_status check_block(
    rbl_context *ctx, const reader *r, size_t row_place, block *b, uint64_t *end, uint64_t *unpacked_left)
{
    uint64_t expected = (*end + BLOCK_ALIGNMENT - 1) & ~(uint64_t)(BLOCK_ALIGNMENT - 1);
    if (b->place != expected)
        return MALFORMED(ctx, r, row_place, "a block at %llu, expected at %llu", (unsigned long long)b->place,
            (unsigned long long)expected);
    if (b->place > r->count || b->stored > r->count - b->place)
        return MALFORMED(ctx, r, row_place + 8, "a block of %llu bytes does not fit in the file",
            (unsigned long long)b->stored);
    if (b->unpacked > *unpacked_left)
        return MALFORMED(ctx, r, row_place + 16, "a block of %llu bytes unpacked exceeds the stated total",
            (unsigned long long)b->unpacked);
    if (b->packing > PACKING_ZSTD || (b->packing == PACKING_NONE && b->stored != b->unpacked))
        return MALFORMED(ctx, r, row_place + 32, "packing %u of %llu bytes as %llu", (unsigned)b->packing,
            (unsigned long long)b->unpacked, (unsigned long long)b->stored);
    for (uint64_t i = *end; i < expected; i++)
        if (r->bytes[i] != 0) return MALFORMED(ctx, r, i, "%s", "bytes between blocks are not 0");
    *end = b->place + b->stored;
    *unpacked_left -= b->unpacked;
    b->bytes = r->bytes + b->place;
    return RBL_OK;
}

static rbl_status read_attribute_row(
    rbl_context *ctx, const reader *r, attribute_row *row, uint64_t *end, uint64_t *unpacked_left)
{
    rbl_status status = RBL_OK;
    size_t place = row->place + NAME_BYTES, element_bytes;
    RBL_TRY(read_name(ctx, r, row->place, row->name_text));
    uint32_t type = get_u32(r, place), list = get_u32(r, place + 4);
    element_bytes = rbl_type_bytes((rbl_type)type);
    if (element_bytes == 0 || list > 1)
        return MALFORMED(
            ctx, r, place, "%s has type %u, list %u", row->name_text, (unsigned)type, (unsigned)list);
    row->type = (rbl_type)type;
    row->is_list = list == 1;
    read_block_row(r, place + 8, &row->blocks[0]);
    read_block_row(r, place + 8 + BLOCK_ROW_BYTES, &row->blocks[1]);
    block *values = &row->blocks[0], *offsets = &row->blocks[1];
    if (row->is_list ? values->unpacked % element_bytes != 0 : values->unpacked != row->size * element_bytes)
        return MALFORMED(ctx, r, place + 24, "%s has %llu bytes of %s for %zu elements", row->name_text,
            (unsigned long long)values->unpacked, rbl_type_word(row->type), row->size);
    RBL_TRY(check_block(ctx, r, place + 8, values, end, unpacked_left));
    if (!row->is_list) {
        if (offsets->place || offsets->stored || offsets->unpacked || offsets->checksum || offsets->packing)
            return MALFORMED(
                ctx, r, place + 8 + BLOCK_ROW_BYTES, "%s is no list, but has offsets", row->name_text);
        return RBL_OK;
    }
    if (offsets->unpacked != (row->size + 1) * sizeof(uint64_t))
        return MALFORMED(ctx, r, place + 24 + BLOCK_ROW_BYTES, "%s has %llu bytes of offsets for %zu lists",
            row->name_text, (unsigned long long)offsets->unpacked, row->size);
    RBL_TRY(check_block(ctx, r, place + 8 + BLOCK_ROW_BYTES, offsets, end, unpacked_left));
done:
    return status;
}

static rbl_status read_attributes(rbl_context *ctx, reader *r)
{
    size_t first_place = HEADER_BYTES + r->groups * GROUP_ROW_BYTES, row = 0;
    uint64_t end = first_place + r->attributes * ATTRIBUTE_ROW_BYTES, unpacked_left = r->unpacked;
    for (size_t g = 0; g < r->groups; g++)
        for (size_t i = 0; i < r->group_rows[g].attribute_count; i++, row++) {
            attribute_row *to = &r->rows[row];
            to->group = r->group_rows[g].name;
            to->group_index = g;
            to->size = r->group_rows[g].size;
            to->place = first_place + row * ATTRIBUTE_ROW_BYTES;
            rbl_status status = read_attribute_row(ctx, r, to, &end, &unpacked_left);
            if (status != RBL_OK) return status;
            if (i > 0 && strcmp(r->rows[row - 1].name_text, to->name_text) >= 0)
                return MALFORMED(ctx, r, to->place, "attribute %s does not come after %s", to->name_text,
                    r->rows[row - 1].name_text);
        }
    if (unpacked_left != 0)
        return MALFORMED(
            ctx, r, 32, "%llu bytes unpacked are in no block", (unsigned long long)unpacked_left);
    if (end != r->count) return MALFORMED(ctx, r, end, "%s", "bytes behind the last block");
    return RBL_OK;
}

/// Unpacks a block into `to`, which has room for b->unpacked bytes.
static rbl_status unpack_block(rbl_context *ctx, const reader *r, const block *b, void *to)
{
    if (rbli_hash64(b->bytes, b->stored) != b->checksum)
        return MALFORMED(ctx, r, b->place, "%s", "the checksum of a block does not match");
    if (b->packing == PACKING_NONE) {
        if (b->stored > 0) memcpy(to, b->bytes, b->stored);
        return RBL_OK;
    }
    if (ZSTD_getFrameContentSize(b->bytes, b->stored) != b->unpacked ||
        ZSTD_findFrameCompressedSize(b->bytes, b->stored) != b->stored)
        return MALFORMED(
            ctx, r, b->place, "not one zstd frame of %llu bytes", (unsigned long long)b->unpacked);
    size_t bytes = ZSTD_decompress(to, b->unpacked, b->bytes, b->stored);
    if (ZSTD_isError(bytes) && ZSTD_getErrorCode(bytes) == ZSTD_error_memory_allocation)
        return RBL_ERR_NO_MEMORY;
    if (ZSTD_isError(bytes)) return MALFORMED(ctx, r, b->place, "zstd: %s", ZSTD_getErrorName(bytes));
    if (bytes != b->unpacked) return MALFORMED(ctx, r, b->place, "%zu bytes unpacked", bytes);
    return RBL_OK;
}

static rbl_status unpack_array(rbl_context *ctx, const reader *r, attribute_row *row)
{
    rbl_status status = rbli_buffer_create(ctx, row->type, row->size, &row->buffer);
    if (status != RBL_OK) return status;
    uint8_t *values = rbli_buffer_write(ctx, &row->buffer);
    RBL_TRY(unpack_block(ctx, r, &row->blocks[0], values));
    for (size_t i = 0; row->type == RBL_BOOL && i < row->size; i++)
        if (values[i] > 1)
            return MALFORMED(ctx, r, row->blocks[0].place, "%s.%s: element %zu is %u, not 0 or 1", row->group,
                row->name_text, i, (unsigned)values[i]);
done:
    return status;
}

static rbl_status check_list(rbl_context *ctx, const reader *r, const attribute_row *row,
    const uint64_t *offsets, const uint8_t *values)
{
    size_t value_count = row->blocks[0].unpacked / rbl_type_bytes(row->type);
    bool ascending = offsets[0] == 0 && offsets[row->size] == value_count;
    for (size_t i = 0; ascending && i < row->size; i++)
        ascending = offsets[i] <= offsets[i + 1];
    if (!ascending)
        return MALFORMED(ctx, r, row->blocks[1].place, "offsets of %s.%s do not ascend from 0 to %zu",
            row->group, row->name_text, value_count);
    for (size_t i = 0; row->type == RBL_BOOL && i < value_count; i++)
        if (values[i] > 1)
            return MALFORMED(ctx, r, row->blocks[0].place, "%s.%s: value %zu is %u, not 0 or 1", row->group,
                row->name_text, i, (unsigned)values[i]);
    for (size_t i = 0; row->type == RBL_CHAR && i < row->size; i++)
        if (!rbli_text_is_valid((const char *)values + offsets[i], offsets[i + 1] - offsets[i]))
            return MALFORMED(ctx, r, row->blocks[0].place,
                "%s.%s: string %zu is not UTF-8 without zero bytes", row->group, row->name_text, i);
    return RBL_OK;
}

static rbl_status unpack_list(rbl_context *ctx, const reader *r, attribute_row *row)
{
    rbl_status status = RBL_OK;
    uint8_t *values = rbli_alloc(ctx, row->blocks[0].unpacked, 1);
    uint64_t *offsets = rbli_alloc(ctx, row->blocks[1].unpacked, 1);
    RBL_TRY_ALLOC(values);
    RBL_TRY_ALLOC(offsets);
    RBL_TRY(unpack_block(ctx, r, &row->blocks[0], values));
    RBL_TRY(unpack_block(ctx, r, &row->blocks[1], offsets));
    RBL_TRY(check_list(ctx, r, row, offsets, values));
    RBL_TRY(rbli_buffer_create_list(ctx, row->type, row->size, offsets, values, &row->buffer));
done:
    rbli_free(ctx, offsets);
    rbli_free(ctx, values);
    return status;
}

static rbl_status unpack_attributes(
    rbl_context *ctx, size_t begin, size_t end, size_t block_index, int worker, void *user)
{
    (void)block_index;
    (void)worker;
    const reader *r = user;
    for (size_t i = begin; i < end; i++) {
        attribute_row *row = &r->rows[i];
        rbl_status status = row->is_list ? unpack_list(ctx, r, row) : unpack_array(ctx, r, row);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

static rbl_status build_collection(rbl_context *ctx, const reader *r, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *made = NULL;
    RBL_TRY(rbli_collection_create(ctx, &made));
    for (size_t g = 0; g < r->groups; g++)
        RBL_TRY(rbli_collection_resize(ctx, made, r->group_rows[g].name, r->group_rows[g].size));
    for (size_t i = 0; i < r->attributes; i++)
        RBL_TRY(rbli_collection_set(ctx, made, r->rows[i].group, r->rows[i].name_text, r->rows[i].buffer));
    *out = made;
    made = NULL;
done:
    rbli_collection_release(made);
    return status;
}

rbl_status rbli_rbl_decode(
    rbl_context *ctx, const char *name, const uint8_t *bytes, size_t byte_count, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    reader r = {.name = name, .bytes = bytes, .count = byte_count};
    RBL_TRY(read_header(ctx, &r));
    r.group_rows = rbli_calloc(ctx, r.groups, sizeof *r.group_rows);
    r.rows = rbli_calloc(ctx, r.attributes, sizeof *r.rows);
    RBL_TRY_ALLOC(r.group_rows);
    RBL_TRY_ALLOC(r.rows);
    RBL_TRY(read_groups(ctx, &r));
    RBL_TRY(read_attributes(ctx, &r));
    RBL_TRY(rbli_parallel_for(ctx, r.attributes, 1, unpack_attributes, &r));
    RBL_TRY(build_collection(ctx, &r, out));
done:
    for (size_t i = 0; r.rows && i < r.attributes; i++)
        rbli_buffer_release(r.rows[i].buffer);
    rbli_free(ctx, r.rows);
    rbli_free(ctx, r.group_rows);
    return status;
}
