#ifndef RUBBLE_CLI_RENDER_PALETTE_H
#define RUBBLE_CLI_RENDER_PALETTE_H

/// A picture of few colours.

#include <stdbool.h>
#include <stddef.h>

/// Chooses at most `most` colours for a picture and the nearest of them for each pixel.
/// @param rgb     [pixels][3]
/// @param most    2 … 256
/// @param palette [most][3]; the first *count are set
/// @param index   [pixels]
/// @return false when out of memory
bool render_choose_palette(const unsigned char *rgb, size_t pixels, size_t most, unsigned char palette[][3],
    size_t *count, unsigned char *index);

#endif
