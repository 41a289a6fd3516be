/// Texts, numbers and UTF-8: what is written as JSON is valid and reads back; numbers read back to the bit.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/json.h"
#include "engine/text.h"
#include "fracture/base/alloc.h"
#include "fracture/io/number_text.h"
#include "fracture/io/scan.h"
#include "fracture/io/utf8.h"
#include "tests/fuzz/fuzz.h"

static bool is_utf8(const char *text, size_t count)
{
    size_t length;
    for (size_t i = 0; i < count; i += length)
        if ((length = rbli_utf8_length(text + i, count - i)) == 0) return false;
    return true;
}

static void check_string(rbl_context *ctx, const char *text)
{
    rbli_text out;
    char *json = NULL;
    rbli_text_init(&out, ctx->allocator);
    rbli_text_json_string(&out, text);
    if (rbli_text_take(&out, &json) != RBL_OK) return;
    rbl_messages *messages = NULL;
    rbli_source *source = NULL;
    rbli_json *parsed = NULL;
    if (rbli_messages_open(ctx->allocator, &messages) != RBL_OK) abort();
    /* takes the text */
    if (rbli_source_create(ctx->allocator, "text", json, strlen(json), &source) != RBL_OK) abort();
    if (rbli_json_parse(ctx->allocator, source, 0, messages, &parsed) != RBL_OK) abort();
    if (rbl_messages_count(messages) || parsed->values[0].type != RBLI_JSON_STRING) abort();
    if (is_utf8(text, strlen(text)) && strcmp(parsed->values[0].string, text) != 0) abort();
    rbli_json_destroy(parsed);
    rbli_source_release(source);
    rbl_messages_destroy(messages);
}

static void check_number(rbl_context *ctx, double number)
{
    char text[RBLI_NUMBER_TEXT_BYTES];
    double again = 0;
    size_t length = rbli_double_text(number, text);
    const char *at = text;
    if (length != strlen(text) || !rbli_scan_double(&at, text + length, &again) || at != text + length)
        abort();
    if (isfinite(number) && memcmp(&again, &number, sizeof number) != 0) abort();
    rbli_text out;
    char *json = NULL;
    rbli_text_init(&out, ctx->allocator);
    rbli_text_json_double(&out, number);
    if (rbli_text_take(&out, &json) != RBL_OK) return;
    if (isfinite(number) && strtod(json, NULL) != number) abort();
    rbli_allocator_free(ctx->allocator, json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    if (rbli_context_create(1, &ctx) != RBL_OK) return 0;
    char *text = rbli_alloc(ctx, count + 1, 1);
    if (text) {
        if (count) memcpy(text, bytes, count);
        text[count] = '\0';
        check_string(ctx, text);
        double number;
        if (count >= sizeof number) {
            memcpy(&number, bytes, sizeof number);
            check_number(ctx, number);
        }
        const char *at = text;
        if (rbli_scan_double(&at, text + count, &number)) check_number(ctx, number);
    }
    rbli_free(ctx, text);
    rbli_context_destroy(ctx);
    return 0;
}
