#ifndef RUBBLE_IO_UTF8_H
#define RUBBLE_IO_UTF8_H

/// UTF-8 (RFC 3629).

#include <stddef.h>

/// Bytes of the valid sequence at `text`, of which `left` > 0 are there; 0 when it is none.
static inline size_t rbli_utf8_length(const char *text, size_t left)
{
    const unsigned char *t = (const unsigned char *)text;
    unsigned char c = t[0];
    size_t length = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (length == 0 || length > left) return 0;
    for (size_t i = 1; i < length; i++)
        if ((t[i] & 0xC0) != 0x80) return 0;
    /* overlong forms, surrogates, past U+10FFFF */
    if ((c == 0xE0 && t[1] < 0xA0) || (c == 0xED && t[1] > 0x9F)) return 0;
    if ((c == 0xF0 && t[1] < 0x90) || (c == 0xF4 && t[1] > 0x8F)) return 0;
    return length;
}

#endif
