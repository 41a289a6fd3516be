/// Text appended to files.

#include "fracture/io/text_out.h"

#include <stdio.h>

#include "fracture/io/number_text.h"
#include "fracture/io/utf8.h"

void rbli_put_text(rbli_file_writer *out, const char *text)
{
    rbli_file_writer_write(out, text, strlen(text));
}

void rbli_put_double(rbli_file_writer *out, double value)
{
    char text[RBLI_NUMBER_TEXT_BYTES];
    rbli_file_writer_write(out, text, rbli_double_text(value, text));
}

void rbli_put_float(rbli_file_writer *out, float value)
{
    char text[RBLI_NUMBER_TEXT_BYTES];
    rbli_file_writer_write(out, text, rbli_float_text(value, text));
}

void rbli_put_json_string(rbli_file_writer *out, const char *text)
{
    size_t length = strlen(text), done = 0;
    rbli_put_text(out, "\"");
    for (size_t i = 0; i < length;) {
        size_t step = rbli_utf8_length(text + i, length - i);
        unsigned char c = (unsigned char)text[i];
        if (step > 0 && c >= 32 && c != 127 && c != '"' && c != '\\') {
            i += step;
            continue;
        }
        rbli_file_writer_write(out, text + done, i - done);
        char escape[8];
        if (step == 0) {
            snprintf(escape, sizeof escape, "\\ufffd");
        } else if (c == '"' || c == '\\') {
            snprintf(escape, sizeof escape, "\\%c", c);
        } else {
            snprintf(escape, sizeof escape, "\\u%04x", c);
        }
        rbli_put_text(out, escape);
        done = ++i;
    }
    rbli_file_writer_write(out, text + done, length - done);
    rbli_put_text(out, "\"");
}
