/// PLY (Turk 1994): ASCII and binary of both byte orders; any elements and properties, of which positions,
/// normals, colours and texture coordinates of vertices, and polygons (or triangle strips) with colours and
/// texture coordinates are used.

#include <math.h>
#include <stdio.h>

#include "fracture/io/mesh_builder.h"
#include "fracture/io/scan.h"

typedef enum ply_type {
    PLY_NONE,
    PLY_INT8,
    PLY_UINT8,
    PLY_INT16,
    PLY_UINT16,
    PLY_INT32,
    PLY_UINT32,
    PLY_FLOAT,
    PLY_DOUBLE,
} ply_type;

static const struct {
    const char *word, *old_word;
    size_t bytes;
} ply_types[] = {
    [PLY_INT8] = {"int8", "char", 1},
    [PLY_UINT8] = {"uint8", "uchar", 1},
    [PLY_INT16] = {"int16", "short", 2},
    [PLY_UINT16] = {"uint16", "ushort", 2},
    [PLY_INT32] = {"int32", "int", 4},
    [PLY_UINT32] = {"uint32", "uint", 4},
    [PLY_FLOAT] = {"float32", "float", 4},
    [PLY_DOUBLE] = {"float64", "double", 8},
};

/// What a property is used for.
typedef enum ply_role {
    ROLE_X, /* to ROLE_V: scalars; their values go to a row of ROLE_SCALARS numbers */
    ROLE_Y,
    ROLE_Z,
    ROLE_NX,
    ROLE_NY,
    ROLE_NZ,
    ROLE_RED,
    ROLE_GREEN,
    ROLE_BLUE,
    ROLE_ALPHA,
    ROLE_U,
    ROLE_V,
    ROLE_SCALARS,
    ROLE_INDICES = ROLE_SCALARS, /* lists */
    ROLE_UVS,
    ROLE_NONE,
} ply_role;

static const struct {
    const char *name;
    ply_role role;
} scalar_roles[] = {{"x", ROLE_X}, {"y", ROLE_Y}, {"z", ROLE_Z}, {"nx", ROLE_NX}, {"ny", ROLE_NY},
    {"nz", ROLE_NZ}, {"red", ROLE_RED}, {"green", ROLE_GREEN}, {"blue", ROLE_BLUE}, {"alpha", ROLE_ALPHA},
    {"r", ROLE_RED}, {"g", ROLE_GREEN}, {"b", ROLE_BLUE}, {"a", ROLE_ALPHA}, {"diffuse_red", ROLE_RED},
    {"diffuse_green", ROLE_GREEN}, {"diffuse_blue", ROLE_BLUE}, {"s", ROLE_U}, {"t", ROLE_V}, {"u", ROLE_U},
    {"v", ROLE_V}, {"texture_u", ROLE_U}, {"texture_v", ROLE_V}, {"texture_s", ROLE_U},
    {"texture_t", ROLE_V}};

typedef struct ply_property {
    ply_type type, count_type; /* count_type PLY_NONE: a scalar */
    ply_role role;
} ply_property;

typedef enum ply_kind { KIND_VERTEX, KIND_FACE, KIND_STRIPS, KIND_OTHER } ply_kind;

typedef struct ply_element {
    ply_kind kind;
    size_t count, first_property, property_count, line;
} ply_element;

typedef enum ply_format { FORMAT_ASCII, FORMAT_LITTLE, FORMAT_BIG } ply_format;

typedef struct ply_reader {
    rbl_context *ctx;
    const char *name;
    const uint8_t *bytes;
    rbli_mesh_builder builder;
    rbli_scan scan; /* in binary data only `at` counts */
    ply_format format;
    RBLI_ARRAY(ply_element) elements;
    RBLI_ARRAY(ply_property) properties;
    size_t vertex_count;
    bool has[ROLE_SCALARS]; /* of vertices */
    bool face_has_colors, face_has_uvs;
    size_t *vertex_places;
    float (*normals)[3];
    float (*colors)[4];
    float (*uvs)[2];
    RBLI_ARRAY(int32_t) corners;
    RBLI_ARRAY(float) corner_uvs; /* 2 a corner, or empty */
    RBLI_ARRAY(rbli_file_polygon) polygons;
    RBLI_ARRAY(float) face_colors; /* 4 a polygon, or empty */
    RBLI_ARRAY(double) list;       /* of the row being read */
    RBLI_ARRAY(double) uv_list;
    size_t few_corners_place, few_corners_count;
} ply_reader;

static const char *place_format(const ply_reader *reader)
{
    return reader->format == FORMAT_ASCII ? "%s:%zu: " : "%s: byte %zu: ";
}

/// Line or byte offset of what is read now.
static size_t place(const ply_reader *reader)
{
    return reader->format == FORMAT_ASCII ? reader->scan.line
                                          : (size_t)((const uint8_t *)reader->scan.at - reader->bytes);
}

static rbl_status fail_at(ply_reader *reader, size_t at, const char *text)
{
    const char *between = reader->format == FORMAT_ASCII ? ":" : ": byte ";
    return rbli_fail(reader->ctx, RBL_ERR_PARSE, "%s%s%zu: %s", reader->name, between, at, text);
}

static rbl_status fail_header(ply_reader *reader, const char *expected)
{
    char quote[44];
    return rbli_fail(reader->ctx, RBL_ERR_PARSE, "%s:%zu: %s where %s was expected", reader->name,
        reader->scan.line,
        reader->scan.at >= reader->scan.end ? "the file ends" : rbli_scan_quote(&reader->scan, quote),
        expected);
}

static rbl_status read_type(ply_reader *reader, ply_type *out)
{
    rbli_scan_blanks(&reader->scan);
    rbli_scan saved = reader->scan;
    const char *word;
    size_t length = rbli_scan_word(&reader->scan, &word);
    for (ply_type type = PLY_INT8; type <= PLY_DOUBLE; type++)
        if (rbli_word_is(word, length, ply_types[type].word) ||
            rbli_word_is(word, length, ply_types[type].old_word)) {
            *out = type;
            return RBL_OK;
        }
    reader->scan = saved;
    return fail_header(reader, "a type (char … double, int8 … float64)");
}

static rbl_status read_property(ply_reader *reader)
{
    rbl_status status = RBL_OK;
    rbli_scan *scan = &reader->scan;
    if (reader->elements.count == 0) return fail_header(reader, "an element");
    ply_element *element = &reader->elements.data[reader->elements.count - 1];
    ply_property property = {PLY_NONE, PLY_NONE, ROLE_NONE};
    rbli_scan_blanks(scan);
    rbli_scan saved = *scan;
    const char *word;
    size_t length = rbli_scan_word(scan, &word);
    bool list = rbli_word_is(word, length, "list");
    if (list) {
        RBL_TRY(read_type(reader, &property.count_type));
        if (property.count_type >= PLY_FLOAT)
            return fail_header(reader, "an integer type of the list's length");
    } else {
        *scan = saved;
    }
    RBL_TRY(read_type(reader, &property.type));
    rbli_scan_blanks(scan);
    length = rbli_scan_word(scan, &word);
    if (length == 0) return fail_header(reader, "the property's name");
    if (list) {
        if (rbli_word_is(word, length, "vertex_indices") || rbli_word_is(word, length, "vertex_index"))
            property.role = ROLE_INDICES;
        if (rbli_word_is(word, length, "texcoord")) property.role = ROLE_UVS;
    } else {
        for (size_t i = 0; i < sizeof scalar_roles / sizeof *scalar_roles; i++)
            if (rbli_word_is(word, length, scalar_roles[i].name)) property.role = scalar_roles[i].role;
    }
    if (element->kind == KIND_VERTEX && property.role < ROLE_SCALARS) reader->has[property.role] = true;
    if (element->kind == KIND_FACE && property.role == ROLE_RED) reader->face_has_colors = true;
    if (element->kind == KIND_FACE && property.role == ROLE_UVS) reader->face_has_uvs = true;
    RBL_TRY(rbli_array_push(reader->ctx, &reader->properties, property));
    element->property_count++;
done:
    return status;
}

static rbl_status read_element(ply_reader *reader)
{
    rbli_scan *scan = &reader->scan;
    const char *word;
    rbli_scan_blanks(scan);
    size_t length = rbli_scan_word(scan, &word);
    ply_element element = {KIND_OTHER, 0, reader->properties.count, 0, scan->line};
    if (rbli_word_is(word, length, "vertex")) element.kind = KIND_VERTEX;
    if (rbli_word_is(word, length, "face")) element.kind = KIND_FACE;
    if (rbli_word_is(word, length, "tristrips")) element.kind = KIND_STRIPS;
    int64_t count;
    rbli_scan_blanks(scan);
    if (!rbli_scan_int(&scan->at, scan->end, &count) || count < 0)
        return fail_header(reader, "the number of elements");
    element.count = (size_t)count;
    for (size_t i = 0; element.kind != KIND_OTHER && i < reader->elements.count; i++)
        if (reader->elements.data[i].kind == element.kind)
            return fail_header(reader, "one element of that name");
    if (element.kind == KIND_VERTEX) reader->vertex_count = element.count;
    return rbli_array_push(reader->ctx, &reader->elements, element);
}

static rbl_status read_format(ply_reader *reader)
{
    rbli_scan_blanks(&reader->scan);
    rbli_scan saved = reader->scan;
    const char *word;
    size_t length = rbli_scan_word(&reader->scan, &word);
    if (rbli_word_is(word, length, "ascii")) {
        reader->format = FORMAT_ASCII;
    } else if (rbli_word_is(word, length, "binary_little_endian")) {
        reader->format = FORMAT_LITTLE;
    } else if (rbli_word_is(word, length, "binary_big_endian")) {
        reader->format = FORMAT_BIG;
    } else {
        reader->scan = saved;
        return fail_header(reader, "ascii, binary_little_endian or binary_big_endian");
    }
    return RBL_OK;
}

static rbl_status read_comment(ply_reader *reader)
{
    const char *word, *rest;
    rbli_scan_blanks(&reader->scan);
    size_t length = rbli_scan_word(&reader->scan, &word);
    if (!rbli_word_is(word, length, "TextureFile") || reader->builder.file.material_count > 0) return RBL_OK;
    rbli_scan line = reader->scan;
    length = rbli_scan_rest(&line, &rest);
    char *texture = rbli_clean_text(reader->ctx, rest, length, ""), *stem = NULL;
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(texture);
    stem = rbli_file_stem(reader->ctx, texture);
    RBL_TRY_ALLOC(stem);
    RBL_TRY(rbli_builder_add_material(&reader->builder, stem, strlen(stem)));
    rbli_free(reader->ctx, reader->builder.file.materials[0].texture);
    reader->builder.file.materials[0].texture = texture;
    texture = NULL;
done:
    rbli_free(reader->ctx, texture);
    rbli_free(reader->ctx, stem);
    return status;
}

static rbl_status read_header(ply_reader *reader)
{
    rbl_status status = RBL_OK;
    rbli_scan *scan = &reader->scan;
    const char *word;
    size_t length = rbli_scan_word(scan, &word);
    if (!rbli_word_is(word, length, "ply")) {
        scan->at = word;
        return fail_header(reader, "\"ply\"");
    }
    rbli_scan_line(scan);
    bool has_format = false;
    for (;;) {
        if (scan->at >= scan->end) return fail_header(reader, "\"end_header\"");
        rbli_scan_blanks(scan);
        rbli_scan saved = *scan;
        length = rbli_scan_word(scan, &word);
        if (rbli_word_is(word, length, "end_header")) break;
        if (rbli_word_is(word, length, "format")) {
            RBL_TRY(read_format(reader));
            has_format = true;
        } else if (rbli_word_is(word, length, "element")) {
            RBL_TRY(read_element(reader));
        } else if (rbli_word_is(word, length, "property")) {
            RBL_TRY(read_property(reader));
        } else if (rbli_word_is(word, length, "comment")) {
            RBL_TRY(read_comment(reader));
        } else if (length > 0 && !rbli_word_is(word, length, "obj_info")) {
            *scan = saved;
            return fail_header(reader, "format, element, property, comment or end_header");
        }
        rbli_scan_line(scan);
    }
    if (!has_format) return fail_header(reader, "a format before it");
    rbli_scan_line(scan);
done:
    return status;
}

/// Bytes that one element takes at least.
static size_t least_bytes(const ply_reader *reader, const ply_element *element)
{
    size_t sum = 0;
    for (size_t i = 0; i < element->property_count; i++) {
        const ply_property *property = &reader->properties.data[element->first_property + i];
        sum += reader->format == FORMAT_ASCII
                   ? 2
                   : ply_types[property->count_type ? property->count_type : property->type].bytes;
    }
    return sum;
}

static double decode(ply_type type, const uint8_t *at, bool big)
{
    size_t count = ply_types[type].bytes;
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits |= (uint64_t)at[big ? count - 1 - i : i] << (8 * i);
    switch (type) {
    case PLY_INT8:
        return (double)(int8_t)bits;
    case PLY_INT16:
        return (double)(int16_t)bits;
    case PLY_INT32:
        return (double)(int32_t)bits;
    case PLY_FLOAT: {
        uint32_t narrow = (uint32_t)bits;
        float value;
        memcpy(&value, &narrow, sizeof value);
        return (double)value;
    }
    case PLY_DOUBLE: {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    default:
        return (double)bits;
    }
}

static rbl_status read_scalar(ply_reader *reader, ply_type type, double *out)
{
    rbli_scan *scan = &reader->scan;
    if (reader->format == FORMAT_ASCII) {
        rbli_scan_space(scan);
        const char *begin = scan->at;
        if (rbli_scan_double(&scan->at, scan->end, out) && rbli_scan_at_gap(scan)) return RBL_OK;
        scan->at = begin;
        return fail_header(reader, "a number");
    }
    size_t bytes = ply_types[type].bytes;
    if ((size_t)(scan->end - scan->at) < bytes)
        return fail_at(reader, place(reader), "the file ends, more data expected");
    *out = decode(type, (const uint8_t *)scan->at, reader->format == FORMAT_BIG);
    scan->at += bytes;
    return RBL_OK;
}

/// A list into `reader->list`, or nowhere for a role that is not used.
static rbl_status read_list(ply_reader *reader, const ply_property *property)
{
    rbl_status status = RBL_OK;
    double length, value;
    bool uvs = property->role == ROLE_UVS, kept = uvs || property->role == ROLE_INDICES;
    size_t at = place(reader);
    RBL_TRY(read_scalar(reader, property->count_type, &length));
    size_t left = (size_t)(reader->scan.end - reader->scan.at);
    size_t each = reader->format == FORMAT_ASCII ? 1 : ply_types[property->type].bytes;
    if (!(length >= 0 && length <= (double)(left / each)) || length != floor(length))
        return fail_at(reader, at, "the length of a list does not fit in the file");
    if (uvs) {
        reader->uv_list.count = 0;
    } else if (kept) {
        reader->list.count = 0;
    }
    for (size_t i = 0; i < (size_t)length; i++) {
        RBL_TRY(read_scalar(reader, property->type, &value));
        if (uvs) {
            RBL_TRY(rbli_array_push(reader->ctx, &reader->uv_list, value));
        } else if (kept) {
            RBL_TRY(rbli_array_push(reader->ctx, &reader->list, value));
        }
    }
done:
    return status;
}

static rbl_status read_row(ply_reader *reader, const ply_element *element, double row[ROLE_SCALARS])
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < element->property_count; i++) {
        const ply_property *property = &reader->properties.data[element->first_property + i];
        if (property->count_type) {
            RBL_TRY(read_list(reader, property));
            continue;
        }
        double value;
        RBL_TRY(read_scalar(reader, property->type, &value));
        if (property->role >= ROLE_SCALARS) continue;
        if (property->role >= ROLE_RED && property->role <= ROLE_ALPHA) {
            if (property->type == PLY_UINT8) value /= 255;
            if (property->type == PLY_UINT16) value /= 65535;
        }
        row[property->role] = value;
    }
done:
    return status;
}

static rbl_status read_vertices(ply_reader *reader, const ply_element *element)
{
    rbl_context *ctx = reader->ctx;
    rbli_mesh_file *file = &reader->builder.file;
    rbl_status status = RBL_OK;
    if (!reader->has[ROLE_X] || !reader->has[ROLE_Y] || !reader->has[ROLE_Z])
        return rbli_fail(
            ctx, RBL_ERR_PARSE, "%s:%zu: vertices without x, y and z", reader->name, element->line);
    if (element->count > INT32_MAX)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "%s: more than 2^31 − 1 vertices", reader->name);
    size_t count = element->count;
    bool has_normals = reader->has[ROLE_NX] && reader->has[ROLE_NY] && reader->has[ROLE_NZ];
    file->positions = rbli_alloc(ctx, count, sizeof *file->positions);
    RBL_TRY_ALLOC(file->positions);
    file->position_count = count;
    RBL_TRY_ALLOC(reader->vertex_places = rbli_alloc(ctx, count, sizeof *reader->vertex_places));
    if (has_normals) RBL_TRY_ALLOC(reader->normals = rbli_alloc(ctx, count, sizeof *reader->normals));
    if (reader->has[ROLE_RED]) RBL_TRY_ALLOC(reader->colors = rbli_alloc(ctx, count, sizeof *reader->colors));
    if (reader->has[ROLE_U]) RBL_TRY_ALLOC(reader->uvs = rbli_alloc(ctx, count, sizeof *reader->uvs));
    for (size_t v = 0; v < count; v++) {
        if (v % 8192 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        double row[ROLE_SCALARS] = {[ROLE_RED] = 1, [ROLE_GREEN] = 1, [ROLE_BLUE] = 1, [ROLE_ALPHA] = 1};
        if (reader->format == FORMAT_ASCII) rbli_scan_space(&reader->scan);
        reader->vertex_places[v] = place(reader);
        RBL_TRY(read_row(reader, element, row));
        memcpy(file->positions[v], row + ROLE_X, sizeof file->positions[v]);
        if (has_normals) rbli_unit_normal(row + ROLE_NX, reader->normals[v]);
        for (int k = 0; reader->colors && k < 4; k++)
            reader->colors[v][k] = (float)row[ROLE_RED + k];
        if (reader->uvs) {
            reader->uvs[v][0] = rbli_finite_float(row[ROLE_U]);
            reader->uvs[v][1] = rbli_finite_float(1 - row[ROLE_V]);
        }
    }
done:
    return status;
}

static rbl_status check_index(ply_reader *reader, size_t at, double index)
{
    if (index >= 0 && index < (double)reader->vertex_count && index == floor(index)) return RBL_OK;
    char text[100];
    snprintf(text, sizeof text, "index %.17g of a vertex is out of range, there are %zu, from 0 on", index,
        reader->vertex_count);
    return fail_at(reader, at, text);
}

static rbl_status push_uv(ply_reader *reader, bool there, size_t corner)
{
    rbl_status status = RBL_OK;
    const double *uv = there ? reader->uv_list.data + 2 * corner : NULL;
    RBL_TRY(rbli_array_push(reader->ctx, &reader->corner_uvs, uv ? rbli_finite_float(uv[0]) : 0));
    RBL_TRY(rbli_array_push(reader->ctx, &reader->corner_uvs, uv ? rbli_finite_float(1 - uv[1]) : 0));
done:
    return status;
}

static rbl_status add_face(ply_reader *reader, size_t at, const double row[ROLE_SCALARS])
{
    rbl_context *ctx = reader->ctx;
    rbl_status status = RBL_OK;
    size_t count = reader->list.count;
    int32_t material = reader->builder.file.material_count > 0 ? 0 : -1;
    rbli_file_polygon polygon = {reader->corners.count, at, 0, material};
    for (size_t i = 0; i < count; i++)
        RBL_TRY(check_index(reader, at, reader->list.data[i]));
    if (count < 3) {
        if (reader->few_corners_count++ == 0) reader->few_corners_place = at;
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        RBL_TRY(rbli_array_push(ctx, &reader->corners, (int32_t)reader->list.data[i]));
    for (size_t i = 0; reader->face_has_uvs && i < count; i++)
        RBL_TRY(push_uv(reader, reader->uv_list.count == 2 * count, i));
    for (int k = 0; reader->face_has_colors && k < 4; k++)
        RBL_TRY(rbli_array_push(ctx, &reader->face_colors, (float)row[ROLE_RED + k]));
    RBL_TRY(rbli_array_push(ctx, &reader->polygons, polygon));
done:
    return status;
}

static rbl_status read_faces(ply_reader *reader, const ply_element *element)
{
    rbl_status status = RBL_OK;
    for (size_t f = 0; f < element->count; f++) {
        if (f % 8192 == 0 && rbli_cancelled(reader->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        double row[ROLE_SCALARS] = {[ROLE_RED] = 1, [ROLE_GREEN] = 1, [ROLE_BLUE] = 1, [ROLE_ALPHA] = 1};
        if (reader->format == FORMAT_ASCII) rbli_scan_space(&reader->scan);
        size_t at = place(reader);
        reader->list.count = reader->uv_list.count = 0;
        RBL_TRY(read_row(reader, element, row));
        RBL_TRY(add_face(reader, at, row));
    }
done:
    return status;
}

/// Strips in one list, ended by −1 each; every other triangle is turned.
static rbl_status add_strips(ply_reader *reader, size_t at)
{
    rbl_status status = RBL_OK;
    int32_t material = reader->builder.file.material_count > 0 ? 0 : -1;
    size_t start = 0;
    for (size_t i = 0; i < reader->list.count; i++) {
        const double *index = &reader->list.data[i];
        if (*index == -1) {
            start = i + 1;
            continue;
        }
        RBL_TRY(check_index(reader, at, *index));
        if (i < start + 2 || index[-2] == index[-1] || index[-1] == index[0] || index[0] == index[-2])
            continue;
        bool odd = (i - start) % 2 == 1;
        rbli_file_polygon polygon = {reader->corners.count, at, 0, material};
        RBL_TRY(rbli_array_push(reader->ctx, &reader->polygons, polygon));
        RBL_TRY(rbli_array_push(reader->ctx, &reader->corners, (int32_t)index[odd ? -1 : -2]));
        RBL_TRY(rbli_array_push(reader->ctx, &reader->corners, (int32_t)index[odd ? -2 : -1]));
        RBL_TRY(rbli_array_push(reader->ctx, &reader->corners, (int32_t)index[0]));
        for (int k = 0; reader->face_has_uvs && k < 3; k++)
            RBL_TRY(push_uv(reader, false, 0));
        for (int k = 0; reader->face_has_colors && k < 4; k++)
            RBL_TRY(rbli_array_push(reader->ctx, &reader->face_colors, 1));
    }
done:
    return status;
}

static rbl_status read_element_data(ply_reader *reader, const ply_element *element)
{
    rbl_status status = RBL_OK;
    size_t least = least_bytes(reader, element), left = (size_t)(reader->scan.end - reader->scan.at);
    if (least == 0 && element->kind != KIND_VERTEX) return RBL_OK;
    if (least > 0 && element->count > (left + 1) / least) {
        char text[120];
        snprintf(text, sizeof text, "%zu elements of the header's line %zu do not fit in the file",
            element->count, element->line);
        return fail_at(reader, place(reader), text);
    }
    if (element->kind == KIND_VERTEX) return read_vertices(reader, element);
    if (element->kind == KIND_FACE) return read_faces(reader, element);
    for (size_t i = 0; i < element->count; i++) {
        if (i % 8192 == 0 && rbli_cancelled(reader->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        double row[ROLE_SCALARS];
        size_t at = place(reader);
        reader->list.count = 0;
        RBL_TRY(read_row(reader, element, row));
        if (element->kind == KIND_STRIPS) RBL_TRY(add_strips(reader, at));
    }
done:
    return status;
}

static rbl_status fill_corners(ply_reader *reader, const int32_t *sources)
{
    rbl_status status = RBL_OK;
    rbli_mesh_builder *builder = &reader->builder;
    rbli_mesh_file *file = &builder->file;
    bool face_uvs = reader->corner_uvs.count > 0,
         face_colors = reader->face_colors.count > 0 && !reader->colors;
    if (reader->normals) RBL_TRY(rbli_builder_add_normals(builder));
    if (reader->uvs || face_uvs) RBL_TRY(rbli_builder_add_uvs(builder, 0));
    if (reader->colors || face_colors) RBL_TRY(rbli_builder_add_colors(builder));
    for (size_t c = 0; c < 3 * file->triangle_count; c++) {
        size_t vertex = (size_t)reader->corners.data[sources[c]];
        if (reader->normals) memcpy(file->normals[c], reader->normals[vertex], sizeof file->normals[c]);
        if (reader->colors) memcpy(file->colors[c], reader->colors[vertex], sizeof file->colors[c]);
        if (face_uvs) {
            memcpy(file->uvs[0][c], reader->corner_uvs.data + 2 * (size_t)sources[c], sizeof file->uvs[0][c]);
        } else if (reader->uvs) {
            memcpy(file->uvs[0][c], reader->uvs[vertex], sizeof file->uvs[0][c]);
        }
    }
    size_t p = 0;
    for (size_t t = 0; face_colors && t < file->triangle_count; t++) {
        while ((size_t)sources[3 * t] >= reader->polygons.data[p + 1].start)
            p++;
        for (size_t k = 0; k < 3; k++)
            memcpy(file->colors[3 * t + k], reader->face_colors.data + 4 * p, sizeof file->colors[0]);
    }
    rbli_builder_fix_colors(builder);
done:
    return status;
}

static rbl_status tell_few_corners(ply_reader *reader)
{
    if (reader->few_corners_count == 0) return RBL_OK;
    return rbli_builder_message(&reader->builder, RBLI_WARNING,
        reader->format == FORMAT_ASCII ? ":%zu: %zu faces of less than three corners are left out"
                                       : ": byte %zu: %zu faces of less than three corners are left out",
        reader->few_corners_place, reader->few_corners_count);
}

static rbl_status read_all(ply_reader *reader)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = reader->ctx;
    int32_t *sources = NULL;
    char *stem = rbli_file_stem(ctx, reader->name);
    RBL_TRY_ALLOC(stem);
    RBL_TRY(read_header(reader));
    for (size_t e = 0; e < reader->elements.count; e++)
        RBL_TRY(read_element_data(reader, &reader->elements.data[e]));
    rbli_file_polygon last = {reader->corners.count, 0, 0, 0};
    RBL_TRY(rbli_array_push(ctx, &reader->polygons, last));
    RBL_TRY(rbli_builder_add_node(&reader->builder, stem, strlen(stem), -1, NULL));
    rbli_polygon_input input = {
        .polygons = reader->polygons.data,
        .polygon_count = reader->polygons.count - 1,
        .corner_positions = reader->corners.data,
        .first_index = 0,
        .place_format = place_format(reader),
        .position_places = reader->vertex_places,
    };
    RBL_TRY(rbli_builder_triangulate(&reader->builder, &input, &sources));
    RBL_TRY(fill_corners(reader, sources));
    RBL_TRY(tell_few_corners(reader));
done:
    rbli_free(ctx, sources);
    rbli_free(ctx, stem);
    return status;
}

rbl_status rbli_mesh_file_parse_ply(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out)
{
    (void)folder;
    ply_reader reader = {.ctx = ctx, .name = name, .bytes = bytes, .builder = {.ctx = ctx, .name = name}};
    reader.scan = (rbli_scan){(const char *)bytes, (const char *)bytes + byte_count, 1};
    rbl_status status = read_all(&reader);
    rbli_free(ctx, reader.elements.data);
    rbli_free(ctx, reader.properties.data);
    rbli_free(ctx, reader.vertex_places);
    rbli_free(ctx, reader.normals);
    rbli_free(ctx, reader.colors);
    rbli_free(ctx, reader.uvs);
    rbli_free(ctx, reader.corners.data);
    rbli_free(ctx, reader.corner_uvs.data);
    rbli_free(ctx, reader.polygons.data);
    rbli_free(ctx, reader.face_colors.data);
    rbli_free(ctx, reader.list.data);
    rbli_free(ctx, reader.uv_list.data);
    return rbli_builder_end(&reader.builder, status, out);
}
