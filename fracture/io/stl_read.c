/// STL, ASCII and binary. Every triangle brings its own three positions; welding is the caller's. Facet
/// normals are not corner normals and are ignored. Each solid of an ASCII file is a node.

#include <math.h>

#include "fracture/io/mesh_builder.h"
#include "fracture/io/scan.h"

enum { HEADER_BYTES = 84, FACET_BYTES = 50 };

static uint32_t read_u32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static float read_float(const uint8_t *bytes)
{
    uint32_t bits = read_u32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool contains_word(const uint8_t *bytes, size_t byte_count, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= byte_count; i++)
        if (rbli_word_is((const char *)bytes + i, length, word)) return true;
    return false;
}

/// A binary file may begin with "solid", too: its size decides, else whether the first lines look like
/// facets.
static bool is_ascii(const uint8_t *bytes, size_t byte_count)
{
    if (byte_count >= HEADER_BYTES) {
        uint64_t expected = HEADER_BYTES + (uint64_t)FACET_BYTES * read_u32(bytes + 80);
        if (expected == byte_count && memchr(bytes, 0, byte_count < 1000 ? byte_count : 1000)) return false;
    }
    size_t at = byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < byte_count && (rbli_is_blank((char)bytes[at]) || rbli_is_line_end((char)bytes[at])))
        at++;
    if (byte_count - at < 5 || !rbli_word_is((const char *)bytes + at, 5, "solid")) return false;
    size_t looked_at = byte_count < 4096 ? byte_count : 4096;
    return contains_word(bytes, looked_at, "facet") || contains_word(bytes, looked_at, "endsolid") ||
           !memchr(bytes, 0, looked_at);
}

static rbl_status read_binary(rbli_mesh_builder *builder, const uint8_t *bytes, size_t byte_count)
{
    rbl_context *ctx = builder->ctx;
    rbli_mesh_file *file = &builder->file;
    rbl_status status = RBL_OK;
    char *stem = NULL;
    if (byte_count < HEADER_BYTES)
        return rbli_fail(ctx, RBL_ERR_PARSE, "%s: byte %zu: the file ends, a header of %d bytes expected",
            builder->name, byte_count, HEADER_BYTES);
    size_t count = read_u32(bytes + 80), there = (byte_count - HEADER_BYTES) / FACET_BYTES;
    if (count > there)
        return rbli_fail(ctx, RBL_ERR_PARSE, "%s: byte %zu: the file ends after %zu of %zu triangles",
            builder->name, byte_count, there, count);
    if (byte_count - HEADER_BYTES - count * FACET_BYTES > 0)
        RBL_TRY(rbli_builder_message(builder, RBLI_WARNING,
            ": byte %zu: %zu bytes after the last triangle are ignored", HEADER_BYTES + count * FACET_BYTES,
            byte_count - HEADER_BYTES - count * FACET_BYTES));
    RBL_TRY(rbli_builder_set_triangle_count(builder, count));
    stem = rbli_file_stem(ctx, builder->name);
    RBL_TRY_ALLOC(stem);
    RBL_TRY(rbli_builder_add_node(builder, stem, strlen(stem), -1, NULL));
    file->positions = rbli_alloc(ctx, 3 * count, sizeof *file->positions);
    RBL_TRY_ALLOC(file->positions);
    file->position_count = 3 * count;
    for (size_t t = 0; t < count; t++) {
        size_t offset = HEADER_BYTES + t * FACET_BYTES + 12;
        for (size_t v = 0; v < 3; v++) {
            double *p = file->positions[3 * t + v];
            for (size_t k = 0; k < 3; k++)
                p[k] = (double)read_float(bytes + offset + 12 * v + 4 * k);
            file->triangles[t][v] = (int32_t)(3 * t + v);
            if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2])) continue;
            status = rbli_fail(ctx, RBL_ERR_PARSE,
                "%s: byte %zu: vertex %zu of triangle %zu is not finite (%g, %g, %g)", builder->name,
                offset + 12 * v, v + 1, t + 1, p[0], p[1], p[2]);
            goto done;
        }
    }
done:
    rbli_free(ctx, stem);
    return status;
}

typedef struct ascii_reader {
    rbl_context *ctx;
    rbli_mesh_builder *builder;
    rbli_scan scan;
    RBLI_ARRAY(double) positions; /* 9 a triangle */
    RBLI_ARRAY(int32_t) nodes;    /* of triangles */
} ascii_reader;

static rbl_status expected(ascii_reader *reader, const char *what)
{
    char quote[44];
    return rbli_fail(reader->ctx, RBL_ERR_PARSE, "%s:%zu: %s where \"%s\" was expected",
        reader->builder->name, reader->scan.line,
        reader->scan.at >= reader->scan.end ? "the file ends" : rbli_scan_quote(&reader->scan, quote), what);
}

/// Reads a keyword after blanks and line ends; nothing is read when another word is there.
static bool take_word(ascii_reader *reader, const char *text)
{
    rbli_scan_space(&reader->scan);
    rbli_scan saved = reader->scan;
    const char *word;
    size_t length = rbli_scan_word(&reader->scan, &word);
    if (rbli_word_is(word, length, text)) return true;
    reader->scan = saved;
    return false;
}

static rbl_status take_number(ascii_reader *reader, double *out)
{
    rbli_scan *scan = &reader->scan;
    rbli_scan_space(scan);
    const char *begin = scan->at;
    if (rbli_scan_double(&scan->at, scan->end, out) && rbli_scan_at_gap(scan)) return RBL_OK;
    scan->at = begin;
    return expected(reader, "a number");
}

static rbl_status read_facet(ascii_reader *reader)
{
    rbl_status status = RBL_OK;
    double ignored, position[9];
    if (take_word(reader, "normal"))
        for (int k = 0; k < 3; k++)
            RBL_TRY(take_number(reader, &ignored));
    if (!take_word(reader, "outer")) return expected(reader, "outer loop");
    if (!take_word(reader, "loop")) return expected(reader, "loop");
    for (int v = 0; v < 3; v++) {
        if (!take_word(reader, "vertex")) return expected(reader, "vertex");
        for (int k = 0; k < 3; k++)
            RBL_TRY(take_number(reader, &position[3 * v + k]));
        const double *p = position + 3 * v;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            return rbli_fail(reader->ctx, RBL_ERR_PARSE,
                "%s:%zu: vertex %d of triangle %zu is not finite (%g, %g, %g)", reader->builder->name,
                reader->scan.line, v + 1, reader->nodes.count + 1, p[0], p[1], p[2]);
    }
    if (take_word(reader, "vertex"))
        return rbli_fail(reader->ctx, RBL_ERR_PARSE, "%s:%zu: a fourth vertex where \"endloop\" was expected",
            reader->builder->name, reader->scan.line);
    if (!take_word(reader, "endloop")) return expected(reader, "endloop");
    if (!take_word(reader, "endfacet")) return expected(reader, "endfacet");
    RBL_TRY(rbli_array_reserve(reader->ctx, &reader->positions, 9));
    memcpy(reader->positions.data + reader->positions.count, position, sizeof position);
    reader->positions.count += 9;
    RBL_TRY(rbli_array_push(reader->ctx, &reader->nodes, (int32_t)reader->builder->file.node_count - 1));
done:
    return status;
}

static rbl_status read_solid(ascii_reader *reader, const char *stem)
{
    rbl_status status = RBL_OK;
    const char *name;
    size_t length = rbli_scan_rest(&reader->scan, &name), before = reader->nodes.count;
    if (length == 0) {
        name = stem;
        length = strlen(stem);
    }
    RBL_TRY(rbli_builder_add_node(reader->builder, name, length, -1, NULL));
    while (take_word(reader, "facet")) {
        if (reader->nodes.count % 8192 == 0 && rbli_cancelled(reader->ctx)) return RBL_ERR_CANCELLED;
        RBL_TRY(read_facet(reader));
    }
    if (!take_word(reader, "endsolid")) return expected(reader, "facet or endsolid");
    rbli_scan_line(&reader->scan);
    if (reader->nodes.count == before) { /* nothing in it */
        rbli_mesh_file *file = &reader->builder->file;
        rbli_free(reader->ctx, file->nodes[--file->node_count].name);
    }
done:
    return status;
}

static rbl_status read_ascii(rbli_mesh_builder *builder, const uint8_t *bytes, size_t byte_count)
{
    rbl_context *ctx = builder->ctx;
    rbli_mesh_file *file = &builder->file;
    rbl_status status = RBL_OK;
    ascii_reader reader = {.ctx = ctx, .builder = builder};
    reader.scan = (rbli_scan){(const char *)bytes, (const char *)bytes + byte_count, 1};
    if (byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) reader.scan.at += 3;
    char *stem = rbli_file_stem(ctx, builder->name);
    RBL_TRY_ALLOC(stem);
    while (take_word(&reader, "solid"))
        RBL_TRY(read_solid(&reader, stem));
    if (reader.scan.at < reader.scan.end && *reader.scan.at != 0) {
        status = expected(&reader, "solid");
        goto done;
    }
    RBL_TRY(rbli_builder_set_triangle_count(builder, reader.nodes.count));
    file->positions = (double(*)[3])reader.positions.data;
    file->position_count = 3 * file->triangle_count;
    reader.positions.data = NULL;
    for (size_t t = 0; t < file->triangle_count; t++) {
        file->triangle_nodes[t] = reader.nodes.data[t];
        for (size_t k = 0; k < 3; k++)
            file->triangles[t][k] = (int32_t)(3 * t + k);
    }
done:
    rbli_free(ctx, stem);
    rbli_free(ctx, reader.positions.data);
    rbli_free(ctx, reader.nodes.data);
    return status;
}

rbl_status rbli_mesh_file_parse_stl(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out)
{
    (void)folder;
    rbli_mesh_builder builder = {.ctx = ctx, .name = name};
    rbl_status status = is_ascii(bytes, byte_count) ? read_ascii(&builder, bytes, byte_count)
                                                    : read_binary(&builder, bytes, byte_count);
    return rbli_builder_end(&builder, status, out);
}
