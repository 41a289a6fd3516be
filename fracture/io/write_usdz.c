/// .usdz: a ZIP archive of stored files whose bytes begin at multiples of 64, the .usda first, its images behind.

#include <stdio.h>

#include "fracture/collection/material.h"
#include "fracture/io/text_out.h"
#include "fracture/io/usda_writer.h"

enum { ALIGNMENT = 64, LOCAL_BYTES = 30, FIELD_BYTES = 4 };

typedef struct zip_entry {
    char *name;
    const uint8_t *bytes;
    size_t count, offset; /* offset: of its local header */
    uint32_t check;
} zip_entry;

typedef struct zip_writer {
    rbl_context *ctx;
    rbli_file_writer *out;
    size_t written;
    RBLI_ARRAY(zip_entry) entries;
    uint32_t table[256];
} zip_writer;

/// CRC-32 of ISO 3309, a byte a step.
static void make_table(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int k = 0; k < 8; k++)
            value = value & 1 ? value >> 1 ^ 0xEDB88320u : value >> 1;
        table[i] = value;
    }
}

static uint32_t crc_of(const uint32_t table[256], const uint8_t *bytes, size_t count)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < count; i++)
        crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
    return ~crc;
}

static void put(zip_writer *zip, const void *bytes, size_t count)
{
    rbli_file_writer_write(zip->out, bytes, count);
    zip->written += count;
}

static void put16(zip_writer *zip, size_t value)
{
    put(zip, (uint8_t[2]){(uint8_t)value, (uint8_t)(value >> 8)}, 2);
}

static void put32(zip_writer *zip, size_t value)
{
    put16(zip, value & 0xffff);
    put16(zip, value >> 16);
}

/// What local header and directory have in common, from the version on. The date is 1980-01-01, as for all that
/// has none.
static void put_common(zip_writer *zip, const zip_entry *entry, size_t extra)
{
    put16(zip, 10);
    put16(zip, 0x0800); /* the name is UTF-8 */
    put16(zip, 0);      /* stored */
    put16(zip, 0);
    put16(zip, 0x21);
    put32(zip, entry->check);
    put32(zip, entry->count);
    put32(zip, entry->count);
    put16(zip, strlen(entry->name));
    put16(zip, extra);
}

/// Writes a file of the archive. `name` is taken, also on failure; `bytes` are kept until the end.
static rbl_status add_entry(zip_writer *zip, char *name, const uint8_t *bytes, size_t count)
{
    zip_entry entry = {name, bytes, count, zip->written, crc_of(zip->table, bytes, count)};
    size_t head = zip->written + LOCAL_BYTES + strlen(name),
           extra = (ALIGNMENT - head % ALIGNMENT) % ALIGNMENT;
    if (extra > 0 && extra < FIELD_BYTES) extra += ALIGNMENT;
    rbl_status status = rbli_array_push(zip->ctx, &zip->entries, entry);
    if (status != RBL_OK) {
        rbli_free(zip->ctx, name);
        return status;
    }
    put32(zip, 0x04034b50);
    put_common(zip, &entry, extra);
    put(zip, name, strlen(name));
    if (extra > 0) { /* a field that nobody reads */
        static const uint8_t zeros[2 * ALIGNMENT];
        put16(zip, 0x1986);
        put16(zip, extra - FIELD_BYTES);
        put(zip, zeros, extra - FIELD_BYTES);
    }
    for (size_t at = 0, part; at < count; at += part) {
        if (rbli_cancelled(zip->ctx)) return RBL_ERR_CANCELLED;
        part = count - at < 1 << 20 ? count - at : 1 << 20;
        put(zip, bytes + at, part);
    }
    return RBL_OK;
}

static rbl_status put_directory(zip_writer *zip)
{
    size_t start = zip->written;
    for (size_t i = 0; i < zip->entries.count; i++) {
        const zip_entry *entry = &zip->entries.data[i];
        put32(zip, 0x02014b50);
        put16(zip, 10);
        put_common(zip, entry, 0);
        put16(zip, 0); /* comment, disk, attributes */
        put16(zip, 0);
        put16(zip, 0);
        put32(zip, 0);
        put32(zip, entry->offset);
        put(zip, entry->name, strlen(entry->name));
    }
    size_t bytes = zip->written - start;
    if (zip->written > UINT32_MAX - 64 || zip->entries.count >= UINT16_MAX)
        return rbli_fail(
            zip->ctx, RBL_ERR_LIMIT, "a .usdz of %zu bytes: at most 2^32 are possible", zip->written);
    put32(zip, 0x06054b50);
    put32(zip, 0); /* disks */
    put16(zip, zip->entries.count);
    put16(zip, zip->entries.count);
    put32(zip, bytes);
    put32(zip, start);
    put16(zip, 0);
    return RBL_OK;
}

rbl_status rbli_write_usdz(rbl_context *ctx, const rbl_collection *collection, const char *stem,
    rbli_collider_form colliders, rbli_file_writer *out, rbli_usda_report *report)
{
    rbl_status status = RBL_OK;
    rbli_text_out text = {.ctx = ctx};
    zip_writer zip = {.ctx = ctx, .out = out};
    bool *used = NULL;
    make_table(zip.table);
    RBL_TRY(rbli_usda_make_text(ctx, collection, stem, colliders, &text, report));
    char *name = rbli_format(ctx, "%s.usda", stem);
    RBL_TRY_ALLOC(name);
    RBL_TRY(add_entry(&zip, name, (const uint8_t *)text.data, text.count));
    RBL_TRY_ALLOC(used = rbli_usda_images(ctx, collection));
    for (size_t i = 0; i < rbli_collection_size(collection, "image"); i++) {
        rbli_image_view image = rbli_image_get(collection, i);
        name = used[i] ? rbli_image_file_name(ctx, collection, stem, i, &status) : NULL;
        if (status != RBL_OK) goto done;
        if (name) RBL_TRY(add_entry(&zip, name, image.bytes, image.byte_count));
    }
    status = put_directory(&zip);
done:
    for (size_t i = 0; i < zip.entries.count; i++)
        rbli_free(ctx, zip.entries.data[i].name);
    rbli_free(ctx, zip.entries.data);
    rbli_free(ctx, used);
    rbli_text_out_free(&text);
    return status;
}
