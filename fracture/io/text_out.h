#ifndef RUBBLE_IO_TEXT_OUT_H
#define RUBBLE_IO_TEXT_OUT_H

/// Text pieces appended to a file under way.

#include "fracture/base/alloc.h"
#include "fracture/base/file.h"

void rbli_put_text(rbli_file_writer *out, const char *text);
/// Reads back to the same bits; not finite: 0.
void rbli_put_double(rbli_file_writer *out, double value);
void rbli_put_float(rbli_file_writer *out, float value);
/// A JSON string with quotes; control characters escaped, bytes that are not UTF-8 as U+FFFD.
void rbli_put_json_string(rbli_file_writer *out, const char *text);

#endif
