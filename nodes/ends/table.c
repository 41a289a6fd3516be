/// Table: attributes of a collection as a CSV or JSON file that a person reads.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text.h"
#include "engine/value.h"
#include "fracture/base/alloc.h"
#include "fracture/base/file.h"
#include "fracture/collection/collection.h"
#include "rubble/node.h"

typedef struct column {
    const char *name;
    const rbli_buffer *buffer;
} column;

typedef struct table {
    rbl_context *ctx;
    size_t row_count, column_count;
    column *columns;
    int32_t *rows; /* [row_count] elements in their order */
} table;

static bool is_string(const rbli_buffer *buffer)
{
    return rbli_buffer_is_list(buffer) && rbli_buffer_type(buffer) == RBL_CHAR;
}

/// Numbers of one element: its components; 0 for what has no plain numbers.
static size_t component_count(const rbli_buffer *buffer)
{
    if (rbli_buffer_is_list(buffer)) return 0;
    size_t bytes = rbl_type_bytes(rbli_buffer_type(buffer));
    switch (rbli_buffer_type(buffer)) {
    case RBL_BOOL:
    case RBL_INT32:
    case RBL_INT64:
    case RBL_FLOAT:
    case RBL_DOUBLE:
        return 1;
    case RBL_INT32_2:
    case RBL_INT32_3:
    case RBL_FLOAT_2:
    case RBL_FLOAT_3:
    case RBL_FLOAT_4:
        return bytes / 4;
    case RBL_VEC2:
    case RBL_VEC3:
    case RBL_VEC4:
        return bytes / 8;
    default:
        return 0;
    }
}

static double number_at(const rbli_buffer *buffer, size_t row, size_t component)
{
    size_t i = row * component_count(buffer) + component;
    const void *data = rbli_buffer_data(buffer);
    switch (rbli_buffer_type(buffer)) {
    case RBL_BOOL:
        return ((const uint8_t *)data)[i] != 0;
    case RBL_INT64:
        return (double)((const int64_t *)data)[i];
    case RBL_INT32:
    case RBL_INT32_2:
    case RBL_INT32_3:
        return ((const int32_t *)data)[i];
    case RBL_FLOAT:
    case RBL_FLOAT_2:
    case RBL_FLOAT_3:
    case RBL_FLOAT_4:
        return ((const float *)data)[i];
    default:
        return ((const double *)data)[i];
    }
}

/* ---- Rows and columns ---- */

static rbl_status tell_unknown(rbl_context *ctx, rbl_call *call, const rbl_param *param,
    const rbl_collection *collection, const char *group, const char *name)
{
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, name);
    for (size_t i = 0; i < rbli_collection_attribute_count(collection, group); i++)
        rbli_nearest_feed(&nearest, rbli_collection_attribute_name(collection, group, i));
    return rbl_call_fail(ctx, call, param, RBL_ERR_NOT_FOUND, "there is no attribute \"%s\" in %s%s%s%s",
        name, group, nearest.best ? "; did you mean \"" : "", nearest.best ? nearest.best : "",
        nearest.best ? "\"?" : "");
}

static rbl_status find_columns(rbl_call *call, const rbl_collection *collection, const char *group, table *t)
{
    const rbl_param *names = rbl_call_param(call, "columns");
    size_t count = rbl_param_count(names), all = rbli_collection_attribute_count(collection, group);
    t->columns = rbli_calloc(t->ctx, (count ? count : all) + 1, sizeof *t->columns);
    if (!t->columns) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < (count ? count : all); i++) {
        const rbl_param *param = count ? rbl_param_at(names, i) : NULL;
        const char *name =
            count ? rbl_param_string(param) : rbli_collection_attribute_name(collection, group, i);
        const rbli_buffer *buffer = rbli_collection_buffer(collection, group, name);
        if (!buffer) return tell_unknown(t->ctx, call, param, collection, group, name);
        bool shown = is_string(buffer) || component_count(buffer) > 0;
        if (!shown && count)
            return rbl_call_fail(
                t->ctx, call, param, RBL_ERR_TYPE, "attribute \"%s\" is no number, vector or text", name);
        if (shown) t->columns[t->column_count++] = (column){name, buffer};
    }
    return RBL_OK;
}

typedef struct sort_row {
    const rbli_buffer *buffer;
    int32_t row;
    bool descending;
} sort_row;

static int compare_rows(const void *a, const void *b)
{
    const sort_row *x = a, *y = b;
    int order;
    if (is_string(x->buffer)) {
        order = strcmp(
            rbli_buffer_string(x->buffer, (size_t)x->row), rbli_buffer_string(y->buffer, (size_t)y->row));
    } else {
        double p = number_at(x->buffer, (size_t)x->row, 0), q = number_at(y->buffer, (size_t)y->row, 0);
        order = (p > q) - (p < q);
    }
    if (x->descending) order = -order;
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static rbl_status sort_rows(rbl_call *call, const rbl_collection *collection, const char *group, table *t)
{
    const rbl_param *param = rbl_call_param(call, "sort");
    const char *name = rbl_param_string(param);
    bool descending = name[0] == '-';
    t->row_count = rbli_collection_size(collection, group);
    t->rows = rbli_alloc(t->ctx, t->row_count + 1, sizeof *t->rows);
    if (!t->rows) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < t->row_count; i++)
        t->rows[i] = (int32_t)i;
    if (!*name) return RBL_OK;
    const rbli_buffer *buffer = rbli_collection_buffer(collection, group, name + descending);
    if (!buffer) return tell_unknown(t->ctx, call, param, collection, group, name + descending);
    if (!is_string(buffer) && component_count(buffer) != 1)
        return rbl_call_fail(t->ctx, call, param, RBL_ERR_TYPE, "only numbers and texts can be sorted by");
    sort_row *keys = rbli_alloc(t->ctx, t->row_count + 1, sizeof *keys);
    if (!keys) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < t->row_count; i++)
        keys[i] = (sort_row){buffer, (int32_t)i, descending};
    qsort(keys, t->row_count, sizeof *keys, compare_rows);
    for (size_t i = 0; i < t->row_count; i++)
        t->rows[i] = keys[i].row;
    rbli_free(t->ctx, keys);
    return RBL_OK;
}

/* ---- Texts ---- */

/// A field of RFC 4180: in quotes where it has to be.
static void add_csv_field(rbli_text *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        rbli_text_puts(out, text);
        return;
    }
    rbli_text_puts(out, "\"");
    for (; *text; text++) {
        if (*text == '"') rbli_text_puts(out, "\"");
        rbli_text_add(out, text, 1);
    }
    rbli_text_puts(out, "\"");
}

static const char *const axes[] = {"_x", "_y", "_z", "_w"};

static void add_number(rbli_text *out, const rbli_buffer *buffer, size_t row, size_t component)
{
    if (rbli_buffer_type(buffer) == RBL_INT64)
        rbli_text_printf(out, "%lld", (long long)((const int64_t *)rbli_buffer_data(buffer))[row]);
    else if (rbli_buffer_type(buffer) == RBL_BOOL)
        rbli_text_puts(out, number_at(buffer, row, 0) != 0 ? "true" : "false");
    else
        rbli_text_json_double(out, number_at(buffer, row, component));
}

static void write_csv(const table *t, rbli_text *out)
{
    for (size_t c = 0; c < t->column_count; c++) {
        size_t parts = is_string(t->columns[c].buffer) ? 1 : component_count(t->columns[c].buffer);
        for (size_t k = 0; k < parts; k++)
            rbli_text_printf(out, "%s%s%s", c || k ? "," : "", t->columns[c].name, parts > 1 ? axes[k] : "");
    }
    rbli_text_puts(out, "\n");
    for (size_t r = 0; r < t->row_count; r++) {
        for (size_t c = 0; c < t->column_count; c++) {
            const rbli_buffer *buffer = t->columns[c].buffer;
            size_t row = (size_t)t->rows[r];
            if (c) rbli_text_puts(out, ",");
            if (is_string(buffer)) add_csv_field(out, rbli_buffer_string(buffer, row));
            for (size_t k = 0; !is_string(buffer) && k < component_count(buffer); k++) {
                if (k) rbli_text_puts(out, ",");
                add_number(out, buffer, row, k);
            }
        }
        rbli_text_puts(out, "\n");
    }
}

static void write_json(const table *t, rbli_text *out)
{
    rbli_text_puts(out, "[");
    for (size_t r = 0; r < t->row_count; r++) {
        rbli_text_puts(out, r ? ",\n  {" : "\n  {");
        for (size_t c = 0; c < t->column_count; c++) {
            const rbli_buffer *buffer = t->columns[c].buffer;
            size_t row = (size_t)t->rows[r], parts = component_count(buffer);
            rbli_text_puts(out, c ? ", " : "");
            rbli_text_json_string(out, t->columns[c].name);
            rbli_text_puts(out, parts > 1 ? ": [" : ": ");
            if (is_string(buffer)) rbli_text_json_string(out, rbli_buffer_string(buffer, row));
            for (size_t k = 0; !is_string(buffer) && k < parts; k++) {
                if (k) rbli_text_puts(out, ", ");
                add_number(out, buffer, row, k);
            }
            if (parts > 1) rbli_text_puts(out, "]");
        }
        rbli_text_puts(out, "}");
    }
    rbli_text_puts(out, "\n]\n");
}

static bool wants_json(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

static rbl_status check_file(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *param = rbl_call_param(call, "file");
    const char *name = rbl_param_string(param);
    size_t length = strlen(name);
    if (length == 0) return RBL_OK;
    if (!wants_json(name) && !(length > 4 && strcmp(name + length - 4, ".csv") == 0))
        return rbl_call_fail(
            ctx, call, param, RBL_ERR_ARGUMENT, "\"%s\" ends neither in .csv nor in .json", name);
    return rbl_call_check_file_name(ctx, call, param, name);
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    const rbl_collection *collection = rbl_call_input_collection(call, "collection");
    const rbl_param *param = rbl_call_param(call, "group");
    const char *group = rbl_param_string(param);
    table t = {.ctx = ctx};
    rbli_text text;
    rbl_value *value = NULL;
    char *taken = NULL;
    rbli_text_init(&text, ctx->allocator);
    RBL_TRY(check_file(ctx, call));
    if (!rbli_collection_has_group(collection, group))
        RBL_TRY(rbl_call_fail(ctx, call, param, RBL_ERR_NOT_FOUND, "there is no group \"%s\"", group));
    RBL_TRY(find_columns(call, collection, group, &t));
    RBL_TRY(sort_rows(call, collection, group, &t));
    size_t most = (size_t)rbl_param_int(rbl_call_param(call, "rows"));
    if (most && most < t.row_count) t.row_count = most;
    if (wants_json(rbl_param_string(rbl_call_param(call, "file"))))
        write_json(&t, &text);
    else
        write_csv(&t, &text);
    RBL_TRY(rbli_text_take(&text, &taken));
    RBL_TRY(rbl_value_create_string(ctx, taken, &value));
    rbl_call_set_output(call, "text", value);
done:
    rbli_text_free(&text);
    rbli_free(ctx, taken);
    rbli_free(ctx, t.columns);
    rbli_free(ctx, t.rows);
    return status;
}

static rbl_status deliver(rbl_context *ctx, rbl_call *call)
{
    const char *name = rbl_param_string(rbl_call_param(call, "file"));
    const char *text = rbl_value_string(rbl_call_output(call, "text"));
    void *writer = NULL;
    if (!*name || !text || !rbl_call_output_folder(call)) return RBL_OK;
    rbl_status status = rbl_call_open_file(ctx, call, name, &writer);
    if (status != RBL_OK) return status;
    rbli_file_writer_write(writer, text, strlen(text));
    return rbl_call_add_file(ctx, call, name, writer);
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose attributes are shown"},
    {0},
};

static const rbl_port_desc outputs[] = {
    {.name = "text", .kind = RBL_VALUE_STRING, .text = "the whole table"},
    {0},
};

static const char *const endings[] = {".csv", ".json", NULL};

static const rbl_param_desc params[] = {
    {.name = "group",
        .type = RBL_PARAM_STRING,
        .default_json = "\"bone\"",
        .text = "whose elements are the rows: bone, geometry, material, connection, element …"},
    {.name = "columns",
        .type = RBL_PARAM_STRING,
        .list = true,
        .default_json = "[]",
        .text = "attributes in this order; none: all that are numbers, vectors or texts"},
    {.name = "sort",
        .type = RBL_PARAM_STRING,
        .default_json = "\"\"",
        .text = "attribute to sort by, with - before it from the largest down; \"\": as they are"},
    {.name = "rows",
        .type = RBL_PARAM_INT,
        .default_json = "0",
        .min = 0,
        .max = 2147483647,
        .text = "at most so many rows; 0: all"},
    {.name = "file",
        .type = RBL_PARAM_STRING,
        .default_json = "\"\"",
        .words = endings,
        .text = "name of the file to write, .csv or .json; \"\": none"},
    {0},
};

const rbl_node_desc rbli_node_table = {
    .size = sizeof(rbl_node_desc),
    .type = "Table",
    .version = 1,
    .revision = 1,
    .family = "ends",
    .text = "Shows attributes of a collection as a table",
    .details =
        "A .csv file has one line for each element, and for vectors a column for each component (_x, _y, …); "
        "texts are quoted as RFC 4180 says. A .json file is a list of objects. Matrices and lists are "
        "left out.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .check = check_file,
    .evaluate = evaluate,
    .deliver = deliver,
    .flags = RBL_NODE_ALWAYS_DELIVER | RBL_NODE_KEEPS_FILES,
};
