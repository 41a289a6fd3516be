#ifndef RUBBLE_CLI_VIEW_DATA_H
#define RUBBLE_CLI_VIEW_DATA_H

/// What the page of `rubble view` gets of a collection, as one block of bytes. All numbers are little-endian:
///
///     "RUBV"  uint32 version (1)  uint32 bytes of the JSON text  uint32 0
///     JSON text, padded with spaces to a multiple of 8
///     arrays, each at a multiple of 8 bytes from the end of the text
///
/// The JSON object has `title`, `program`, `live` (text, may be missing), `origin` [x, y, z], `names` (of bones), `materials` [{name,
/// color}], and `arrays`: {NAME: [type, offset, count]}, where type is i8, u8, u16, u32, i32, f32 or f64 and
/// count is in numbers. Positions are floats in world space at rest, relative to `origin`.
/// tools/view/src/data.js reads it.

#include "rubble/rubble.h"

typedef struct view_bytes {
    unsigned char *data; /* freed by the owner */
    size_t size, capacity;
    bool failed; /* out of memory; nothing is added any more */
} view_bytes;

void view_bytes_add(view_bytes *bytes, const void *data, size_t size);
/// Adds text and JSON strings with quotes; control characters, quotes and backslashes are escaped.
void view_bytes_text(view_bytes *bytes, const char *text);
void view_bytes_json_string(view_bytes *bytes, const char *text);

/// @param collection  NULL: an asset without pieces
/// @param title       what the person asked to see, such as the file's name
/// @param live        for a page that is served and loaded anew: what tells its results apart; NULL: a file
/// @param out         appended to
/// @return NULL · what is wrong, a constant text
const char *view_write_data(
    const rbl_collection *collection, const char *title, const char *live, view_bytes *out);

#endif
