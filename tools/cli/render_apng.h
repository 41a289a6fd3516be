#ifndef RUBBLE_CLI_RENDER_APNG_H
#define RUBBLE_CLI_RENDER_APNG_H

/// An animated PNG (PNG specification, third edition: acTL, fcTL and fdAT), joined from pictures that are PNG files.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Zero-initialised, with `frames` and `frames_per_second` set.
typedef struct render_apng {
    uint32_t frames; /* that will be added */
    uint16_t frames_per_second;
    unsigned char *bytes; /* the file so far; the caller frees it */
    size_t count, room;
    uint32_t added, sequence;
} render_apng;

/// Adds a picture. All have the size, the colours' kind and the palette of the first one, which programs that know no
/// animation show. The file is whole after the last. @return false when out of memory, or for what is no PNG
bool render_apng_add(render_apng *out, const unsigned char *png, size_t bytes);

#endif
