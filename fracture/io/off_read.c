/// OFF as Geomview defines it, in ASCII: [ST][C][N]OFF, counts, vertices, polygons with optional colours.
/// Numbers may be spread over lines in any way, but a polygon's colour ends with its line.

#include <math.h>

#include "fracture/io/mesh_builder.h"
#include "fracture/io/scan.h"

typedef struct off_reader {
    rbl_context *ctx;
    const char *name;
    rbli_mesh_builder builder;
    rbli_scan scan;
    bool has_uvs, has_colors, has_normals;
    size_t vertex_count, face_count;
    size_t *vertex_lines;
    float (*normals)[3];
    float (*colors)[4];
    float (*uvs)[2];
    RBLI_ARRAY(int32_t) corners;
    RBLI_ARRAY(rbli_file_polygon) polygons;
    RBLI_ARRAY(float) face_colors; /* 4 a polygon, or empty */
    size_t few_corners_line, few_corners_count;
} off_reader;

static void skip_space_and_comments(rbli_scan *scan)
{
    for (;;) {
        rbli_scan_space(scan);
        if (scan->at >= scan->end || *scan->at != '#') return;
        rbli_scan_line(scan);
    }
}

static bool at_end_of_values(rbli_scan *scan)
{
    rbli_scan_blanks(scan);
    return rbli_scan_at_line_end(scan) || *scan->at == '#';
}

static rbl_status expected(off_reader *reader, const char *what)
{
    char quote[44];
    return rbli_fail(reader->ctx, RBL_ERR_PARSE, "%s:%zu: %s where %s was expected", reader->name,
        reader->scan.line,
        reader->scan.at >= reader->scan.end ? "the file ends" : rbli_scan_quote(&reader->scan, quote), what);
}

static rbl_status take_number(off_reader *reader, const char *what, double *out)
{
    rbli_scan *scan = &reader->scan;
    skip_space_and_comments(scan);
    const char *begin = scan->at;
    if (rbli_scan_double(&scan->at, scan->end, out) && (rbli_scan_at_gap(scan) || *scan->at == '#'))
        return RBL_OK;
    scan->at = begin;
    return expected(reader, what);
}

static rbl_status take_int(off_reader *reader, const char *what, int64_t *out)
{
    rbli_scan *scan = &reader->scan;
    skip_space_and_comments(scan);
    const char *begin = scan->at;
    if (rbli_scan_int(&scan->at, scan->end, out) && (rbli_scan_at_gap(scan) || *scan->at == '#'))
        return RBL_OK;
    scan->at = begin;
    return expected(reader, what);
}

/// The header word, which may be missing, and the three counts.
static rbl_status read_header(off_reader *reader)
{
    rbl_status status = RBL_OK;
    rbli_scan *scan = &reader->scan;
    skip_space_and_comments(scan);
    rbli_scan saved = *scan;
    const char *word;
    size_t length = rbli_scan_word(scan, &word);
    if (length >= 3 && rbli_word_is(word + length - 3, 3, "OFF")) {
        for (size_t i = 0; i < length - 3;) {
            if (word[i] == 'S' && word[i + 1] == 'T') {
                reader->has_uvs = true;
                i += 2;
            } else if (word[i] == 'C' || word[i] == 'N') {
                *(word[i] == 'C' ? &reader->has_colors : &reader->has_normals) = true;
                i++;
            } else {
                *scan = saved;
                return expected(reader, "OFF, COFF, NOFF, CNOFF or STOFF (three dimensions)");
            }
        }
        rbli_scan_blanks(scan);
        saved = *scan;
        length = rbli_scan_word(scan, &word);
        *scan = saved;
        if (rbli_word_is(word, length, "BINARY")) return expected(reader, "ASCII (binary OFF is not read)");
    } else {
        *scan = saved;
    }
    int64_t vertex_count, face_count, edge_count;
    RBL_TRY(take_int(reader, "the number of vertices", &vertex_count));
    RBL_TRY(take_int(reader, "the number of faces", &face_count));
    if (!at_end_of_values(scan)) RBL_TRY(take_int(reader, "the number of edges", &edge_count));
    /* A vertex takes at least six bytes, a face two. */
    size_t left = (size_t)(scan->end - scan->at);
    if (vertex_count < 0 || (uint64_t)vertex_count > left / 6 + 1 || vertex_count > INT32_MAX)
        return rbli_fail(reader->ctx, RBL_ERR_PARSE, "%s:%zu: %lld vertices do not fit in the file",
            reader->name, scan->line, (long long)vertex_count);
    if (face_count < 0 || (uint64_t)face_count > left / 2 + 1)
        return rbli_fail(reader->ctx, RBL_ERR_PARSE, "%s:%zu: %lld faces do not fit in the file",
            reader->name, scan->line, (long long)face_count);
    reader->vertex_count = (size_t)vertex_count;
    reader->face_count = (size_t)face_count;
done:
    return status;
}

static rbl_status read_vertex_extras(off_reader *reader, size_t vertex)
{
    rbl_status status = RBL_OK;
    double value[4] = {1, 1, 1, 1};
    if (reader->has_normals) {
        for (int k = 0; k < 3; k++)
            RBL_TRY(take_number(reader, "a vertex's normal", &value[k]));
        rbli_unit_normal(value, reader->normals[vertex]);
    }
    if (reader->has_colors) {
        value[3] = 1;
        for (int k = 0; k < 4; k++) {
            if (k == 3 && at_end_of_values(&reader->scan)) break; /* alpha is often left out */
            RBL_TRY(take_number(reader, "a vertex's colour", &value[k]));
        }
        for (int k = 0; k < 4; k++)
            reader->colors[vertex][k] = (float)value[k];
    }
    if (reader->has_uvs) {
        RBL_TRY(take_number(reader, "a vertex's texture coordinate", &value[0]));
        RBL_TRY(take_number(reader, "a vertex's texture coordinate", &value[1]));
        reader->uvs[vertex][0] = rbli_finite_float(value[0]);
        reader->uvs[vertex][1] = rbli_finite_float(1 - value[1]);
    }
done:
    return status;
}

static rbl_status read_vertices(off_reader *reader)
{
    rbl_context *ctx = reader->ctx;
    rbli_mesh_file *file = &reader->builder.file;
    rbl_status status = RBL_OK;
    size_t count = reader->vertex_count;
    file->positions = rbli_alloc(ctx, count, sizeof *file->positions);
    RBL_TRY_ALLOC(file->positions);
    file->position_count = count;
    reader->vertex_lines = rbli_alloc(ctx, count, sizeof *reader->vertex_lines);
    RBL_TRY_ALLOC(reader->vertex_lines);
    if (reader->has_normals) RBL_TRY_ALLOC(reader->normals = rbli_alloc(ctx, count, sizeof *reader->normals));
    if (reader->has_colors) RBL_TRY_ALLOC(reader->colors = rbli_alloc(ctx, count, sizeof *reader->colors));
    if (reader->has_uvs) RBL_TRY_ALLOC(reader->uvs = rbli_alloc(ctx, count, sizeof *reader->uvs));
    for (size_t v = 0; v < count; v++) {
        if (v % 8192 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (int k = 0; k < 3; k++)
            RBL_TRY(take_number(reader, "a vertex's coordinate", &file->positions[v][k]));
        reader->vertex_lines[v] = reader->scan.line;
        RBL_TRY(read_vertex_extras(reader, v));
    }
done:
    return status;
}

/// What follows a polygon on its line: nothing, an index into a colour map (ignored), RGB or RGBA; integers
/// are 0 … 255.
static rbl_status read_face_color(off_reader *reader)
{
    double value[4] = {1, 1, 1, 1};
    int count = 0;
    bool fractions = false;
    rbl_status status = RBL_OK;
    for (; count < 4 && !at_end_of_values(&reader->scan); count++) {
        const char *begin = reader->scan.at;
        RBL_TRY(take_number(reader, "a face's colour", &value[count]));
        fractions |= memchr(begin, '.', (size_t)(reader->scan.at - begin)) != NULL;
    }
    if (count < 3) return RBL_OK;
    size_t wanted = 4 * reader->polygons.count;
    RBL_TRY(rbli_array_reserve(reader->ctx, &reader->face_colors, wanted - reader->face_colors.count));
    while (reader->face_colors.count < wanted)
        reader->face_colors.data[reader->face_colors.count++] = 1;
    for (int k = 0; k < count; k++)
        reader->face_colors.data[wanted - 4 + (size_t)k] = (float)(fractions ? value[k] : value[k] / 255);
done:
    return status;
}

static rbl_status read_face(off_reader *reader)
{
    rbl_status status = RBL_OK;
    rbli_scan *scan = &reader->scan;
    int64_t corner_count, index;
    RBL_TRY(take_int(reader, "a face's number of corners", &corner_count));
    rbli_file_polygon polygon = {reader->corners.count, scan->line, 0, -1};
    if (corner_count < 0)
        return rbli_fail(reader->ctx, RBL_ERR_PARSE, "%s:%zu: a face of %lld corners", reader->name,
            scan->line, (long long)corner_count);
    for (int64_t i = 0; i < corner_count; i++) {
        RBL_TRY(take_int(reader, "an index of a vertex", &index));
        if (index < 0 || (uint64_t)index >= reader->vertex_count)
            return rbli_fail(reader->ctx, RBL_ERR_PARSE,
                "%s:%zu: index %lld of a vertex is out of range, there are %zu, from 0 on", reader->name,
                scan->line, (long long)index, reader->vertex_count);
        RBL_TRY(rbli_array_push(reader->ctx, &reader->corners, (int32_t)index));
    }
    if (corner_count < 3) {
        reader->corners.count = polygon.start;
        if (reader->few_corners_count++ == 0) reader->few_corners_line = polygon.place;
        while (!at_end_of_values(scan))
            scan->at++;
    } else {
        RBL_TRY(rbli_array_push(reader->ctx, &reader->polygons, polygon));
        RBL_TRY(read_face_color(reader));
    }
done:
    return status;
}

static rbl_status fill_corners(off_reader *reader, const int32_t *sources)
{
    rbl_status status = RBL_OK;
    rbli_mesh_builder *builder = &reader->builder;
    rbli_mesh_file *file = &builder->file;
    if (reader->has_normals) RBL_TRY(rbli_builder_add_normals(builder));
    if (reader->has_uvs) RBL_TRY(rbli_builder_add_uvs(builder, 0));
    if (reader->has_colors || reader->face_colors.count > 0) RBL_TRY(rbli_builder_add_colors(builder));
    for (size_t c = 0; c < 3 * file->triangle_count; c++) {
        size_t vertex = (size_t)reader->corners.data[sources[c]];
        if (reader->has_normals) memcpy(file->normals[c], reader->normals[vertex], sizeof file->normals[c]);
        if (reader->has_uvs) memcpy(file->uvs[0][c], reader->uvs[vertex], sizeof file->uvs[0][c]);
        if (reader->has_colors) memcpy(file->colors[c], reader->colors[vertex], sizeof file->colors[c]);
    }
    if (!reader->has_colors && reader->face_colors.count > 0) {
        size_t p = 0;
        for (size_t t = 0; t < file->triangle_count; t++) {
            while ((size_t)sources[3 * t] >= reader->polygons.data[p + 1].start)
                p++;
            for (size_t k = 0; k < 3 && 4 * p < reader->face_colors.count; k++)
                memcpy(file->colors[3 * t + k], reader->face_colors.data + 4 * p, sizeof file->colors[0]);
        }
    }
    rbli_builder_fix_colors(builder);
done:
    return status;
}

static rbl_status read_all(off_reader *reader)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = reader->ctx;
    int32_t *sources = NULL;
    char *stem = rbli_file_stem(ctx, reader->name);
    RBL_TRY_ALLOC(stem);
    RBL_TRY(read_header(reader));
    RBL_TRY(read_vertices(reader));
    for (size_t f = 0; f < reader->face_count; f++) {
        if (f % 8192 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        RBL_TRY(read_face(reader));
    }
    rbli_file_polygon last = {reader->corners.count, 0, 0, 0};
    RBL_TRY(rbli_array_push(ctx, &reader->polygons, last));
    RBL_TRY(rbli_builder_add_node(&reader->builder, stem, strlen(stem), -1, NULL));
    rbli_polygon_input input = {
        .polygons = reader->polygons.data,
        .polygon_count = reader->polygons.count - 1,
        .corner_positions = reader->corners.data,
        .first_index = 0,
        .place_format = "%s:%zu: ",
        .position_places = reader->vertex_lines,
    };
    RBL_TRY(rbli_builder_triangulate(&reader->builder, &input, &sources));
    RBL_TRY(fill_corners(reader, sources));
    if (reader->few_corners_count)
        RBL_TRY(rbli_builder_message(&reader->builder, RBLI_WARNING,
            ":%zu: %zu faces of less than three corners are left out", reader->few_corners_line,
            reader->few_corners_count));
done:
    rbli_free(ctx, sources);
    rbli_free(ctx, stem);
    return status;
}

rbl_status rbli_mesh_file_parse_off(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out)
{
    (void)folder;
    off_reader reader = {.ctx = ctx, .name = name, .builder = {.ctx = ctx, .name = name}};
    reader.scan = (rbli_scan){(const char *)bytes, (const char *)bytes + byte_count, 1};
    if (byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) reader.scan.at += 3;
    rbl_status status = read_all(&reader);
    rbli_free(ctx, reader.vertex_lines);
    rbli_free(ctx, reader.normals);
    rbli_free(ctx, reader.colors);
    rbli_free(ctx, reader.uvs);
    rbli_free(ctx, reader.corners.data);
    rbli_free(ctx, reader.polygons.data);
    rbli_free(ctx, reader.face_colors.data);
    return rbli_builder_end(&reader.builder, status, out);
}
