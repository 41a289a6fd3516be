/// Text in memory or on its way to a file.

#include "fracture/io/text_out.h"

#include <stdio.h>

#include "fracture/io/number_text.h"
#include "fracture/io/utf8.h"

enum { FLUSH_BYTES = 1 << 15 };

void rbli_put_bytes(rbli_text_out *text, const char *bytes, size_t count)
{
    if (text->no_memory || count == 0) return;
    if (text->out && text->count >= FLUSH_BYTES) {
        rbli_file_writer_write(text->out, text->data, text->count);
        text->count = 0;
    }
    if (count > text->capacity - text->count &&
        rbli_array_reserve_(text->ctx, (void **)&text->data, &text->capacity, text->count,
            text->out && count < FLUSH_BYTES ? 2 * FLUSH_BYTES : count, 1) != RBL_OK) {
        text->no_memory = true;
        return;
    }
    memcpy(text->data + text->count, bytes, count);
    text->count += count;
}

void rbli_put(rbli_text_out *text, const char *string)
{
    rbli_put_bytes(text, string, strlen(string));
}

void rbli_put_format(rbli_text_out *text, const char *format, ...)
{
    char line[501];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0)
        rbli_put_bytes(text, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void rbli_put_size(rbli_text_out *text, size_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    rbli_put_bytes(text, digits + at, sizeof digits - at);
}

void rbli_put_double(rbli_text_out *text, double value)
{
    char digits[RBLI_NUMBER_TEXT_BYTES];
    rbli_put_bytes(text, digits, rbli_double_text(value, digits));
}

void rbli_put_float(rbli_text_out *text, float value)
{
    char digits[RBLI_NUMBER_TEXT_BYTES];
    rbli_put_bytes(text, digits, rbli_float_text(value, digits));
}

void rbli_put_json_string(rbli_text_out *text, const char *string)
{
    size_t length = strlen(string), done = 0;
    rbli_put(text, "\"");
    for (size_t i = 0; i < length;) {
        size_t step = rbli_utf8_length(string + i, length - i);
        unsigned char c = (unsigned char)string[i];
        if (step > 0 && c >= 32 && c != 127 && c != '"' && c != '\\') {
            i += step;
            continue;
        }
        rbli_put_bytes(text, string + done, i - done);
        if (step == 0) {
            rbli_put(text, "\\ufffd");
        } else if (c == '"' || c == '\\') {
            rbli_put_format(text, "\\%c", c);
        } else {
            rbli_put_format(text, "\\u%04x", c);
        }
        done = ++i;
    }
    rbli_put_bytes(text, string + done, length - done);
    rbli_put(text, "\"");
}

rbl_status rbli_text_out_end(rbli_text_out *text)
{
    rbl_status status = text->no_memory ? RBL_ERR_NO_MEMORY : RBL_OK;
    if (text->out) {
        if (status == RBL_OK) rbli_file_writer_write(text->out, text->data, text->count);
        rbli_text_out_free(text);
    }
    return status;
}

void rbli_text_out_free(rbli_text_out *text)
{
    rbli_free(text->ctx, text->data);
    text->data = NULL;
    text->count = text->capacity = 0;
}
