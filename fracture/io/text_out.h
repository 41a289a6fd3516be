#ifndef RUBBLE_IO_TEXT_OUT_H
#define RUBBLE_IO_TEXT_OUT_H

/// Text under way: in memory, or on its way to a file.

#include "fracture/base/alloc.h"
#include "fracture/base/file.h"

/// Zero-initialised but for `ctx` and `out`. Being out of memory is sticky and told by the end.
typedef struct rbli_text_out {
    rbl_context *ctx;
    rbli_file_writer *out; /* NULL: everything stays in `data` */
    char *data;
    size_t count, capacity;
    bool no_memory;
} rbli_text_out;

void rbli_put_bytes(rbli_text_out *text, const char *bytes, size_t count);
void rbli_put(rbli_text_out *text, const char *string);
void rbli_put_format(rbli_text_out *text, const char *format, ...) RBL_PRINTF(2, 3); /* at most 500 bytes */
void rbli_put_size(rbli_text_out *text, size_t number);
/// Reads back to the same bits; not finite: 0.
void rbli_put_double(rbli_text_out *text, double value);
void rbli_put_float(rbli_text_out *text, float value);
/// A JSON string with quotes; control characters escaped, bytes that are not UTF-8 as U+FFFD.
void rbli_put_json_string(rbli_text_out *text, const char *string);
/// Hands what is left to the file, if there is one, and gives back the memory of text for a file.
/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_text_out_end(rbli_text_out *text);
void rbli_text_out_free(rbli_text_out *text);

#endif
