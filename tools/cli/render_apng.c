/* Animated PNG: the first picture keeps its chunks, the data of the others moves to chunks of its own. */

#include "tools/cli/render_apng.h"

#include <stdlib.h>
#include <string.h>

enum { SIGNATURE = 8, HEAD = 8, TAIL = 4 }; /* of a chunk: length and name, checksum */

static uint32_t get_u32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_u32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* The checksum of PNG (CRC-32, reflected polynomial EDB88320). */
static uint32_t checksum(const unsigned char *bytes, size_t count)
{
    uint32_t table[256], crc = 0xFFFFFFFF;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ 0xEDB88320 : c >> 1;
        table[i] = c;
    }
    for (size_t i = 0; i < count; i++)
        crc = table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
    return ~crc;
}

static unsigned char *append(render_apng *out, size_t bytes)
{
    if (out->room - out->count < bytes) {
        size_t room = out->room + out->room / 2 + bytes;
        unsigned char *more = realloc(out->bytes, room);
        if (!more) return NULL;
        out->bytes = more;
        out->room = room;
    }
    out->count += bytes;
    return out->bytes + out->count - bytes;
}

static bool copy(render_apng *out, const unsigned char *bytes, size_t count)
{
    unsigned char *to = append(out, count);
    if (to) memcpy(to, bytes, count);
    return to != NULL;
}

/* A chunk of these two parts. */
static bool put_chunk(render_apng *out, const char *name, const unsigned char *first, size_t first_count,
    const unsigned char *second, size_t second_count)
{
    size_t count = first_count + second_count;
    unsigned char *to = append(out, HEAD + count + TAIL);
    if (!to) return false;
    put_u32(to, (uint32_t)count);
    memcpy(to + 4, name, 4);
    if (first_count) memcpy(to + HEAD, first, first_count);
    if (second_count) memcpy(to + HEAD + first_count, second, second_count);
    put_u32(to + HEAD + count, checksum(to + 4, 4 + count));
    return true;
}

/* How the next frame is shown: whole, in the place of the one before, for its part of a second. `size`: of the picture. */
static bool put_frame_control(render_apng *out, const unsigned char size[8])
{
    unsigned char data[26] = {0};
    put_u32(data, out->sequence++);
    memcpy(data + 4, size, 8);
    data[21] = 1; /* 1 / frames_per_second */
    data[22] = (unsigned char)(out->frames_per_second >> 8);
    data[23] = (unsigned char)out->frames_per_second;
    return put_chunk(out, "fcTL", data, sizeof data, NULL, 0);
}

static bool put_data(render_apng *out, const unsigned char *data, size_t count)
{
    unsigned char number[4];
    if (out->added == 0) return put_chunk(out, "IDAT", data, count, NULL, 0);
    put_u32(number, out->sequence++);
    return put_chunk(out, "fdAT", number, sizeof number, data, count);
}

bool render_apng_add(render_apng *out, const unsigned char *png, size_t bytes)
{
    static const unsigned char signature[SIGNATURE] = "\x89PNG\r\n\x1a\n";
    const unsigned char *size = png + SIGNATURE + HEAD;
    unsigned char control[8] = {0};
    bool first = out->added == 0, controlled = false;
    if (bytes < SIGNATURE || memcmp(png, signature, SIGNATURE) != 0) return false;
    if (first && !copy(out, png, SIGNATURE)) return false;
    for (size_t at = SIGNATURE; bytes - at >= HEAD + TAIL;) {
        size_t count = get_u32(png + at);
        const unsigned char *name = png + at + 4, *data = png + at + HEAD;
        if (count > bytes - at - HEAD - TAIL) return false;
        at += HEAD + count + TAIL;
        if (memcmp(name, "IDAT", 4) == 0) {
            put_u32(control, out->frames);
            if (first && !controlled && !put_chunk(out, "acTL", control, sizeof control, NULL, 0))
                return false;
            if (!controlled && !put_frame_control(out, size)) return false;
            controlled = true;
            if (!put_data(out, data, count)) return false;
        } else if (first && memcmp(name, "IEND", 4) != 0 && !copy(out, name - 4, HEAD + count + TAIL)) {
            return false;
        }
    }
    out->added++;
    return controlled && (out->added < out->frames || put_chunk(out, "IEND", NULL, 0, NULL, 0));
}
