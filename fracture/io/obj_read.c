/// Wavefront OBJ: polygons with positions, texture coordinates, normals and vertex colours, objects or
/// groups, materials. First the text is read into flat arrays of corners, then indices are checked (a face
/// may come before its vertices) and polygons are triangulated.

#include <math.h>

#include "fracture/base/file.h"
#include "fracture/io/mesh_builder.h"
#include "fracture/io/mtl.h"
#include "fracture/io/scan.h"

typedef struct obj_corner {
    int32_t position, uv, normal; /* from 0; uv and normal −1 when missing */
} obj_corner;

typedef RBLI_ARRAY(int32_t) index_list;

/// From polygon `first` on, faces belong to this object and group.
typedef struct obj_run {
    size_t first;
    int32_t object, group; /* −1 before the first `o` or `g` */
} obj_run;

typedef struct obj_reader {
    rbl_context *ctx;
    const char *name;
    const rbli_mesh_folder *folder;
    rbli_mesh_builder builder;
    rbli_scan scan;
    RBLI_ARRAY(double) positions; /* 3 each */
    RBLI_ARRAY(size_t) position_lines;
    RBLI_ARRAY(float) colors;               /* 4 each, from the first position with a colour on */
    RBLI_ARRAY(float) uvs;                  /* 2 each */
    RBLI_ARRAY(float) normals;              /* 3 each */
    index_list corners;                     /* positions */
    index_list corner_uvs, corner_normals;  /* −1 when missing, as for the corners behind the last entry */
    RBLI_ARRAY(rbli_file_polygon) polygons; /* `place` is the line */
    RBLI_ARRAY(obj_run) runs;
    rbli_names objects, groups;
    RBLI_ARRAY(char *) libraries;
    int32_t object, group, material;
    size_t few_corners_line, few_corners_count; /* faces of less than three corners */
    size_t bad_uv_line, unknown_line;
    char unknown_word[44];
} obj_reader;

/// Skips blanks and line ends after a backslash.
static inline void skip_blanks(rbli_scan *scan)
{
    for (;;) {
        while (scan->at < scan->end && rbli_is_blank(*scan->at))
            scan->at++;
        if (scan->at + 1 >= scan->end || *scan->at != '\\' || !rbli_is_line_end(scan->at[1])) return;
        scan->at++;
        rbli_scan_line_end(scan);
    }
}

static inline bool at_end_of_values(const rbli_scan *scan)
{
    return rbli_scan_at_line_end(scan) || *scan->at == '#';
}

/// Skips what is left of a statement, lines that a backslash continues included.
static void skip_statement(rbli_scan *scan)
{
    while (!rbli_scan_at_line_end(scan)) {
        if (*scan->at++ == '\\' && scan->at < scan->end && rbli_is_line_end(*scan->at))
            rbli_scan_line_end(scan);
    }
    rbli_scan_line_end(scan);
}

/// Reads up to `most` numbers; at least `least` must be there.
static rbl_status read_numbers(
    obj_reader *reader, const char *what, double *out, int least, int most, int *count)
{
    rbli_scan *scan = &reader->scan;
    size_t line = scan->line;
    int n = 0;
    char quote[44];
    for (; n < most; n++) {
        skip_blanks(scan);
        if (at_end_of_values(scan)) break;
        const char *begin = scan->at;
        bool number = rbli_scan_double(&scan->at, scan->end, &out[n]);
        if (!number || !(rbli_scan_at_gap(scan) || *scan->at == '#' || *scan->at == '\\')) {
            scan->at = begin;
            return rbli_fail(reader->ctx, RBL_ERR_PARSE, "%s:%zu: %s is not a number, %s expected",
                reader->name, scan->line, rbli_scan_quote(scan, quote), what);
        }
    }
    if (n < least)
        return rbli_fail(
            reader->ctx, RBL_ERR_PARSE, "%s:%zu: %d numbers, %s expected", reader->name, line, n, what);
    *count = n;
    return RBL_OK;
}

static rbl_status read_position(obj_reader *reader)
{
    rbl_context *ctx = reader->ctx;
    double v[8];
    int count;
    rbl_status status = rbli_array_push(ctx, &reader->position_lines, reader->scan.line);
    if (status != RBL_OK) return status;
    RBL_TRY(read_numbers(reader, "a vertex of three coordinates", v, 3, 8, &count));
    RBL_TRY(rbli_array_reserve(ctx, &reader->positions, 3));
    memcpy(reader->positions.data + reader->positions.count, v, 3 * sizeof *v);
    reader->positions.count += 3;
    /* x y z r g b, with alpha as a seventh; a fourth alone is a weight, which polygons do not use */
    if (count >= 6 || reader->colors.count > 0) {
        size_t wanted = reader->positions.count / 3 * 4;
        RBL_TRY(rbli_array_reserve(ctx, &reader->colors, wanted - reader->colors.count));
        while (reader->colors.count < wanted)
            reader->colors.data[reader->colors.count++] = 1;
        for (int k = 0; count >= 6 && k < 4 && 3 + k < count; k++)
            reader->colors.data[wanted - 4 + (size_t)k] = (float)v[3 + k];
    }
done:
    return status;
}

static rbl_status read_uv(obj_reader *reader)
{
    double v[3] = {0, 0, 0};
    int count;
    size_t line = reader->scan.line;
    rbl_status status;
    RBL_TRY(read_numbers(reader, "a texture coordinate of one to three numbers", v, 1, 3, &count));
    RBL_TRY(rbli_array_reserve(reader->ctx, &reader->uvs, 2));
    if (!isfinite((float)v[0]) || !isfinite((float)v[1])) {
        v[0] = v[1] = 0;
        if (!reader->bad_uv_line) reader->bad_uv_line = line;
    }
    reader->uvs.data[reader->uvs.count++] = (float)v[0];
    reader->uvs.data[reader->uvs.count++] = (float)(1 - v[1]);
done:
    return status;
}

static rbl_status read_normal(obj_reader *reader)
{
    double v[3];
    int count;
    rbl_status status;
    RBL_TRY(read_numbers(reader, "a normal of three numbers", v, 3, 3, &count));
    RBL_TRY(rbli_array_reserve(reader->ctx, &reader->normals, 3));
    rbli_unit_normal(v, reader->normals.data + reader->normals.count);
    reader->normals.count += 3;
done:
    return status;
}

/// One index of a face: resolves negative ones; positive ones are checked at the end.
static rbl_status read_index(obj_reader *reader, const char *what, size_t count, int32_t *out)
{
    rbli_scan *scan = &reader->scan;
    const char *begin = scan->at;
    int64_t index;
    char quote[44];
    if (!rbli_scan_int(&scan->at, scan->end, &index) || index == 0) {
        scan->at = begin;
        return rbli_fail(reader->ctx, RBL_ERR_PARSE,
            "%s:%zu: %s is not the index of a %s, 1 … or −1 … expected", reader->name, scan->line,
            rbli_scan_quote(scan, quote), what);
    }
    if (index < 0 ? (uint64_t) - (index + 1) >= count : index > INT32_MAX)
        return rbli_fail(reader->ctx, RBL_ERR_PARSE,
            "%s:%zu: index %lld of a %s is out of range, there are %zu up to this line", reader->name,
            scan->line, (long long)index, what, count);
    *out = (int32_t)(index < 0 ? (int64_t)count + index : index - 1);
    return RBL_OK;
}

static rbl_status read_corner(obj_reader *reader, obj_corner *corner)
{
    rbli_scan *scan = &reader->scan;
    corner->uv = corner->normal = -1;
    rbl_status status = read_index(reader, "vertex", reader->positions.count / 3, &corner->position);
    if (status != RBL_OK || scan->at >= scan->end || *scan->at != '/') return status;
    scan->at++;
    if (!rbli_scan_at_gap(scan) && *scan->at != '/') {
        status = read_index(reader, "texture coordinate", reader->uvs.count / 2, &corner->uv);
        if (status != RBL_OK) return status;
    }
    if (scan->at >= scan->end || *scan->at != '/') return RBL_OK;
    scan->at++;
    if (rbli_scan_at_gap(scan)) return RBL_OK;
    return read_index(reader, "normal", reader->normals.count / 3, &corner->normal);
}

/// A triangle of vertex indices alone, the rest of whose line is `bytes`.
static rbl_status add_triangle(obj_reader *reader, const int32_t indices[3], size_t bytes)
{
    rbl_status status = RBL_OK;
    rbli_file_polygon polygon = {reader->corners.count, reader->scan.line, 0, reader->material};
    RBL_TRY(rbli_array_reserve(reader->ctx, &reader->corners, 3));
    for (int k = 0; k < 3; k++)
        reader->corners.data[reader->corners.count++] = indices[k] - 1;
    RBL_TRY(rbli_array_push(reader->ctx, &reader->polygons, polygon));
    reader->scan.at += bytes;
done:
    return status;
}

/// Sets what a list says of corner `corner`, the last one.
static rbl_status set_index(obj_reader *reader, index_list *list, size_t corner, int32_t index)
{
    if (index < 0) return RBL_OK;
    size_t wanted = list->data ? corner + 1 : reader->corners.capacity; /* at first, as for the positions */
    if (rbli_array_reserve(reader->ctx, list, wanted - list->count) != RBL_OK) return RBL_ERR_NO_MEMORY;
    while (list->count < corner)
        list->data[list->count++] = -1;
    list->data[list->count++] = index;
    return RBL_OK;
}

static rbl_status add_corner(obj_reader *reader, const obj_corner *corner)
{
    size_t number = reader->corners.count;
    rbl_status status = rbli_array_push(reader->ctx, &reader->corners, corner->position);
    if (status == RBL_OK) status = set_index(reader, &reader->corner_uvs, number, corner->uv);
    if (status == RBL_OK) status = set_index(reader, &reader->corner_normals, number, corner->normal);
    return status;
}

/// Forgets the corners from `count` on.
static void drop_corners(obj_reader *reader, size_t count)
{
    reader->corners.count = count;
    if (reader->corner_uvs.count > count) reader->corner_uvs.count = count;
    if (reader->corner_normals.count > count) reader->corner_normals.count = count;
}

static rbl_status read_face(obj_reader *reader)
{
    rbl_context *ctx = reader->ctx;
    rbli_scan *scan = &reader->scan;
    rbl_status status = RBL_OK;
    int32_t indices[3];
    size_t bytes = rbli_scan_indices(scan, indices);
    if (bytes > 0 && indices[0] && indices[1] && indices[2]) return add_triangle(reader, indices, bytes);
    rbli_file_polygon polygon = {reader->corners.count, scan->line, 0, reader->material};
    for (;;) {
        skip_blanks(scan);
        if (at_end_of_values(scan)) break;
        obj_corner corner;
        RBL_TRY(read_corner(reader, &corner));
        if (!rbli_scan_at_gap(scan) && *scan->at != '\\' && *scan->at != '#') {
            char quote[44];
            status = rbli_fail(ctx, RBL_ERR_PARSE,
                "%s:%zu: %s follows an index, a corner is v, v/vt, v//vn or v/vt/vn", reader->name,
                scan->line, rbli_scan_quote(scan, quote));
            goto done;
        }
        RBL_TRY(add_corner(reader, &corner));
    }
    if (reader->corners.count - polygon.start < 3) {
        drop_corners(reader, polygon.start);
        if (reader->few_corners_count++ == 0) reader->few_corners_line = polygon.place;
    } else {
        status = rbli_array_push(ctx, &reader->polygons, polygon);
    }
done:
    return status;
}

static rbl_status start_run(obj_reader *reader, bool is_object)
{
    const char *rest;
    size_t length = rbli_scan_rest(&reader->scan, &rest);
    rbl_status status = rbli_names_add(reader->ctx, is_object ? &reader->objects : &reader->groups, rest,
        length, is_object ? &reader->object : &reader->group);
    if (status != RBL_OK) return status;
    obj_run run = {reader->polygons.count, reader->object, reader->group};
    return rbli_array_push(reader->ctx, &reader->runs, run);
}

static rbl_status use_material(obj_reader *reader)
{
    const char *rest;
    size_t length = rbli_scan_rest(&reader->scan, &rest);
    rbli_mesh_builder *builder = &reader->builder;
    rbl_status status =
        rbli_names_find(reader->ctx, &builder->material_names, rest, length, &reader->material);
    if (status != RBL_OK || reader->material >= 0) return status;
    reader->material = (int32_t)builder->file.material_count;
    return rbli_builder_add_material(builder, rest, length);
}

static rbl_status note_library(obj_reader *reader)
{
    const char *rest;
    size_t length = rbli_scan_rest(&reader->scan, &rest);
    if (length == 0) return RBL_OK;
    char *name = rbli_clean_text(reader->ctx, rest, length, "");
    if (!name) return RBL_ERR_NO_MEMORY;
    for (char *p = name; *p; p++)
        if (*p == '\\') *p = '/';
    for (size_t i = 0; i < reader->libraries.count; i++) {
        if (strcmp(reader->libraries.data[i], name) == 0) {
            rbli_free(reader->ctx, name);
            return RBL_OK;
        }
    }
    rbl_status status =
        reader->libraries.count < 64 ? rbli_array_push(reader->ctx, &reader->libraries, name) : RBL_ERR_LIMIT;
    if (status != RBL_OK) rbli_free(reader->ctx, name);
    if (status == RBL_ERR_LIMIT)
        return rbli_fail(reader->ctx, RBL_ERR_PARSE, "%s:%zu: more than 64 material libraries", reader->name,
            reader->scan.line);
    return status;
}

static rbl_status read_statement(obj_reader *reader)
{
    static const char *const ignored[] = {"s", "l", "p", "vp", "mg", "cstype", "deg", "bmat", "step", "curv",
        "curv2", "surf", "parm", "trim", "hole", "scrv", "sp", "end", "con", "bevel", "c_interp", "d_interp",
        "lod", "shadow_obj", "trace_obj", "ctech", "stech", "maplib", "usemap", "bsp", "bzp", "cdc", "cdp",
        "res", "call", "csh"};
    rbli_scan *scan = &reader->scan;
    rbli_scan saved = *scan;
    const char *word = scan->at;
    size_t length = 1;
    if (scan->end - word > 1 && word[1] == ' ' && !rbli_is_line_end(*word))
        scan->at++;
    else
        length = rbli_scan_word(scan, &word);
    rbl_status status = RBL_OK;
    if (length == 0 || *word == '#') {
        rbli_scan_line(scan);
        return RBL_OK;
    }
    if (length == 1 && *word == 'v') {
        status = read_position(reader);
    } else if (length == 1 && *word == 'f') {
        status = read_face(reader);
    } else if (rbli_word_is(word, length, "vt")) {
        status = read_uv(reader);
    } else if (rbli_word_is(word, length, "vn")) {
        status = read_normal(reader);
    } else if (rbli_word_is(word, length, "o")) {
        return start_run(reader, true);
    } else if (rbli_word_is(word, length, "g")) {
        return start_run(reader, false);
    } else if (rbli_word_is(word, length, "usemtl")) {
        return use_material(reader);
    } else if (rbli_word_is(word, length, "mtllib")) {
        return note_library(reader);
    } else {
        bool known = false;
        for (size_t i = 0; i < sizeof ignored / sizeof *ignored && !known; i++)
            known = rbli_word_is(word, length, ignored[i]);
        if (!known && !reader->unknown_line) {
            reader->unknown_line = saved.line;
            rbli_scan_quote(&saved, reader->unknown_word);
        }
    }
    if (status == RBL_OK) skip_statement(scan);
    return status;
}

static rbl_status check_index(
    obj_reader *reader, const rbli_file_polygon *polygon, int32_t index, size_t count, const char *what)
{
    if (index < 0 || (size_t)index < count) return RBL_OK;
    return rbli_fail(reader->ctx, RBL_ERR_PARSE, "%s:%zu: index %lld of a %s is out of range, there are %zu",
        reader->name, polygon->place, (long long)index + 1, what, count);
}

static int32_t index_at(const index_list *list, size_t corner)
{
    return corner < list->count ? list->data[corner] : -1;
}

static bool are_below(const index_list *list, size_t count)
{
    bool below = true;
    for (size_t c = 0; c < list->count; c++)
        below &= list->data[c] < (int64_t)count;
    return below;
}

static rbl_status check_indices(obj_reader *reader)
{
    size_t position_count = reader->positions.count / 3, uv_count = reader->uvs.count / 2;
    size_t normal_count = reader->normals.count / 3;
    rbl_status status = RBL_OK;
    if (are_below(&reader->corners, position_count) && are_below(&reader->corner_uvs, uv_count) &&
        are_below(&reader->corner_normals, normal_count))
        return RBL_OK;
    for (size_t p = 0; p + 1 < reader->polygons.count; p++) {
        RBL_TRY(rbli_poll(reader->ctx, p));
        const rbli_file_polygon *polygon = &reader->polygons.data[p];
        for (size_t c = polygon[0].start; c < polygon[1].start; c++) {
            RBL_TRY(check_index(reader, polygon, reader->corners.data[c], position_count, "vertex"));
            RBL_TRY(check_index(
                reader, polygon, index_at(&reader->corner_uvs, c), uv_count, "texture coordinate"));
            RBL_TRY(
                check_index(reader, polygon, index_at(&reader->corner_normals, c), normal_count, "normal"));
        }
    }
done:
    return status;
}

/// Makes nodes of objects, or of groups where there is no object, and gives polygons theirs. Only those with
/// faces.
static rbl_status assign_nodes(obj_reader *reader)
{
    rbl_context *ctx = reader->ctx;
    rbl_status status = RBL_OK;
    bool by_object = reader->objects.list.count > 0;
    const rbli_names *names = by_object ? &reader->objects : &reader->groups;
    int32_t *node_of_name = rbli_alloc(ctx, names->list.count + 1, sizeof *node_of_name);
    char *stem = rbli_file_stem(ctx, reader->name);
    if (!node_of_name || !stem) {
        status = RBL_ERR_NO_MEMORY;
        goto done;
    }
    for (size_t i = 0; i <= names->list.count; i++)
        node_of_name[i] = -1;
    size_t run = 0;
    int32_t name = -1;
    for (size_t p = 0; p + 1 < reader->polygons.count; p++) {
        RBL_TRY(rbli_poll(ctx, p));
        for (; run < reader->runs.count && reader->runs.data[run].first <= p; run++)
            name = by_object ? reader->runs.data[run].object : reader->runs.data[run].group;
        int32_t *node = &node_of_name[name + 1];
        if (*node < 0) {
            const char *text = name < 0 ? stem : names->list.data[name];
            *node = (int32_t)reader->builder.file.node_count;
            RBL_TRY(rbli_builder_add_node(&reader->builder, text, strlen(text), -1, NULL));
        }
        reader->polygons.data[p].node = *node;
    }
done:
    rbli_free(ctx, node_of_name);
    rbli_free(ctx, stem);
    return status;
}

static rbl_status has_any(rbl_context *ctx, const index_list *list, bool *any)
{
    *any = false;
    for (size_t c = 0; c < list->count && !*any; c++) {
        if (rbli_poll(ctx, c) != RBL_OK) return RBL_ERR_CANCELLED;
        *any = list->data[c] >= 0;
    }
    return RBL_OK;
}

/// Makes the triangles and what their corners have.
static rbl_status fill_triangles(obj_reader *reader, const rbli_polygon_input *input)
{
    rbli_mesh_file *file = &reader->builder.file;
    bool any_uv, any_normal, any_color = reader->colors.count > 0;
    int32_t *sources = NULL;
    rbl_status status = RBL_OK;
    RBL_TRY(has_any(reader->ctx, &reader->corner_uvs, &any_uv));
    RBL_TRY(has_any(reader->ctx, &reader->corner_normals, &any_normal));
    RBL_TRY(rbli_builder_triangulate(
        &reader->builder, input, any_uv || any_normal || any_color ? &sources : NULL));
    size_t corner_count = 3 * file->triangle_count;
    if (any_uv) {
        RBL_TRY(rbli_builder_add_uvs(&reader->builder, 0));
        for (size_t c = 0; c < corner_count; c++) {
            RBL_TRY(rbli_poll(reader->ctx, c));
            int32_t uv = index_at(&reader->corner_uvs, (size_t)sources[c]);
            if (uv >= 0) memcpy(file->uvs[0][c], reader->uvs.data + 2 * (size_t)uv, sizeof file->uvs[0][c]);
        }
    }
    if (any_normal) {
        RBL_TRY(rbli_builder_add_normals(&reader->builder));
        for (size_t c = 0; c < corner_count; c++) {
            RBL_TRY(rbli_poll(reader->ctx, c));
            int32_t normal = index_at(&reader->corner_normals, (size_t)sources[c]);
            if (normal >= 0)
                memcpy(file->normals[c], reader->normals.data + 3 * (size_t)normal, sizeof file->normals[c]);
        }
    }
    if (any_color) {
        RBL_TRY(rbli_builder_add_colors(&reader->builder));
        for (size_t c = 0; c < corner_count; c++) {
            RBL_TRY(rbli_poll(reader->ctx, c));
            size_t position = (size_t)reader->corners.data[sources[c]];
            if (4 * position < reader->colors.count)
                memcpy(file->colors[c], reader->colors.data + 4 * position, sizeof file->colors[c]);
        }
        rbli_builder_fix_colors(&reader->builder);
    }
done:
    rbli_free(reader->ctx, sources);
    return status;
}

enum { MOST_LIBRARY_BYTES = 64 << 20 };

/// Reads one library if it is there and may be read. Failing to read one is no error of the mesh.
static rbl_status read_library(obj_reader *reader, const char *relative, bool *found, bool *was_read)
{
    rbl_context *ctx = reader->ctx;
    rbl_status status = RBL_OK;
    uint8_t *bytes = NULL;
    size_t byte_count = 0;
    char *path = NULL;
    if (!rbli_may_read(reader->folder, relative)) return RBL_OK;
    RBL_TRY_ALLOC(path = rbli_join_path(ctx, reader->folder->path, relative));
    rbl_context quiet = *ctx;
    quiet.messages = NULL;
    status = rbli_file_read(&quiet, path, MOST_LIBRARY_BYTES, &bytes, &byte_count);
    if (status == RBL_ERR_READ || status == RBL_ERR_LIMIT) {
        status = RBL_OK;
        goto done;
    }
    if (status != RBL_OK) goto done;
    *was_read = true;
    RBL_TRY(rbli_builder_add_file(&reader->builder, path));
    RBL_TRY(rbli_mtl_parse(&reader->builder, relative, reader->folder, bytes, byte_count, found));
done:
    rbli_free(ctx, bytes);
    rbli_free(ctx, path);
    return status;
}

/// `line` names one file, perhaps with spaces, or several.
static rbl_status read_library_line(obj_reader *reader, char *line, bool *found, bool *any_read)
{
    bool was_read = false;
    rbl_status status = read_library(reader, line, found, &was_read);
    for (char *word = line; status == RBL_OK && !was_read && strchr(line, ' ') && *word;) {
        size_t length = strcspn(word, " ");
        char *name = rbli_clean_text(reader->ctx, word, length, "");
        if (!name) return RBL_ERR_NO_MEMORY;
        bool word_read = false;
        if (*name) status = read_library(reader, name, found, &word_read);
        *any_read |= word_read;
        rbli_free(reader->ctx, name);
        word += length;
        word += strspn(word, " ");
    }
    *any_read |= was_read;
    return status;
}

static rbl_status read_libraries(obj_reader *reader)
{
    rbli_mesh_file *file = &reader->builder.file;
    if (!reader->folder || reader->libraries.count == 0 || file->material_count == 0) return RBL_OK;
    rbl_status status = RBL_OK;
    bool any_read = false;
    bool *found = rbli_calloc(reader->ctx, file->material_count, sizeof *found);
    if (!found) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < reader->libraries.count; i++) {
        bool line_read = false;
        RBL_TRY(read_library_line(reader, reader->libraries.data[i], found, &line_read));
        any_read |= line_read;
        if (!line_read && !rbli_may_read(reader->folder, reader->libraries.data[i]))
            RBL_TRY(rbli_builder_message(&reader->builder, RBLI_WARNING,
                ": material library \"%.200s\" is not read, it is not in the folder of the mesh or below "
                "(\"other_files\": \"anywhere\" reads it)",
                reader->libraries.data[i]));
        else if (!line_read)
            RBL_TRY(rbli_builder_message(&reader->builder, RBLI_NOTE,
                ": material library \"%s\" is not there, materials are white", reader->libraries.data[i]));
    }
    for (size_t i = 0; any_read && i < file->material_count; i++) {
        if (found[i]) continue;
        RBL_TRY(rbli_builder_message(&reader->builder, RBLI_NOTE, ": no library defines the material \"%s\"",
            file->materials[i].name));
        break;
    }
done:
    rbli_free(reader->ctx, found);
    return status;
}

static rbl_status tell_oddities(obj_reader *reader)
{
    rbl_status status = RBL_OK;
    if (reader->few_corners_count)
        RBL_TRY(rbli_builder_message(&reader->builder, RBLI_WARNING,
            ":%zu: %zu faces of less than three corners are left out", reader->few_corners_line,
            reader->few_corners_count));
    if (reader->bad_uv_line)
        RBL_TRY(rbli_builder_message(&reader->builder, RBLI_WARNING,
            ":%zu: texture coordinates that are not finite are taken as 0", reader->bad_uv_line));
    if (reader->unknown_line)
        RBL_TRY(rbli_builder_message(&reader->builder, RBLI_NOTE,
            ":%zu: the statement %s is unknown and skipped", reader->unknown_line, reader->unknown_word));
done:
    return status;
}

static rbl_status finish(obj_reader *reader)
{
    rbl_status status = RBL_OK;
    rbli_mesh_file *file = &reader->builder.file;
    rbli_file_polygon last = {reader->corners.count, 0, 0, 0};
    RBL_TRY(rbli_array_push(reader->ctx, &reader->polygons, last));
    RBL_TRY(check_indices(reader));
    RBL_TRY(assign_nodes(reader));
    file->positions = (double(*)[3])reader->positions.data;
    file->position_count = reader->positions.count / 3;
    reader->positions.data = NULL;
    rbli_polygon_input input = {
        .polygons = reader->polygons.data,
        .polygon_count = reader->polygons.count - 1,
        .corner_positions = reader->corners.data,
        .first_index = 1,
        .place_format = "%s:%zu: ",
        .position_places = reader->position_lines.data,
    };
    RBL_TRY(fill_triangles(reader, &input));
    RBL_TRY(read_libraries(reader));
    RBL_TRY(tell_oddities(reader));
done:
    return status;
}

/// How many lines begin with "v " and with "f". Eight bits hold the counts of a part, so that many bytes are looked at at
/// once.
static rbl_status count_lines(
    const rbl_context *ctx, const char *text, size_t bytes, size_t *vertices, size_t *faces)
{
    enum { PART = 128 };
    *vertices = *faces = 0;
    for (size_t part = 0; (part + 1) * PART + 2 <= bytes; part++) {
        if (rbli_poll(ctx, part) != RBL_OK) return RBL_ERR_CANCELLED;
        const char *p = text + part * PART;
        uint8_t v = 0, f = 0;
        for (int i = 0; i < PART; i++) {
            v = (uint8_t)(v + ((p[i] == '\n') & (p[i + 1] == 'v') & (p[i + 2] == ' ')));
            f = (uint8_t)(f + ((p[i] == '\n') & (p[i + 1] == 'f')));
        }
        *vertices += v;
        *faces += f;
    }
    return RBL_OK;
}

/// Makes room for what the file seems to hold: arrays that grow are copied, and each copy takes fresh memory.
static rbl_status reserve(obj_reader *reader)
{
    enum {
        SHORTEST = 8, /* bytes of "v 0 0 0" and its end */
        SPARE = 16,   /* what the count missed at both ends */
    };
    rbl_status status = RBL_OK;
    size_t vertices, faces, bytes = (size_t)(reader->scan.end - reader->scan.at);
    RBL_TRY(count_lines(reader->ctx, reader->scan.at, bytes, &vertices, &faces));
    if (vertices > bytes / SHORTEST || faces > bytes / SHORTEST) return RBL_OK;
    RBL_TRY(rbli_array_reserve(reader->ctx, &reader->positions, 3 * (vertices + SPARE)));
    RBL_TRY(rbli_array_reserve(reader->ctx, &reader->position_lines, vertices + SPARE));
    RBL_TRY(rbli_array_reserve(reader->ctx, &reader->corners, 3 * (faces + SPARE)));
    RBL_TRY(rbli_array_reserve(reader->ctx, &reader->polygons, faces + SPARE));
done:
    return status;
}

rbl_status rbli_mesh_file_parse_obj(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out)
{
    rbl_status status = RBL_OK;
    obj_reader reader = {
        .ctx = ctx, .name = name, .folder = folder, .object = -1, .group = -1, .material = -1};
    reader.builder = (rbli_mesh_builder){.ctx = ctx, .name = name};
    reader.scan = (rbli_scan){(const char *)bytes, (const char *)bytes + byte_count, 1};
    if (byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) reader.scan.at += 3;
    RBL_TRY(reserve(&reader));
    for (size_t n = 0; reader.scan.at < reader.scan.end; n++) {
        if (n % 8192 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        skip_blanks(&reader.scan);
        RBL_TRY(read_statement(&reader));
        if (reader.corners.count > INT32_MAX)
            RBL_TRY(rbli_fail(ctx, RBL_ERR_LIMIT, "%s: more than 2^31 − 1 corners", name));
    }
    RBL_TRY(finish(&reader));
done:
    rbli_free(ctx, reader.positions.data);
    rbli_free(ctx, reader.position_lines.data);
    rbli_free(ctx, reader.colors.data);
    rbli_free(ctx, reader.uvs.data);
    rbli_free(ctx, reader.normals.data);
    rbli_free(ctx, reader.corners.data);
    rbli_free(ctx, reader.corner_uvs.data);
    rbli_free(ctx, reader.corner_normals.data);
    rbli_free(ctx, reader.polygons.data);
    rbli_free(ctx, reader.runs.data);
    for (size_t i = 0; i < reader.libraries.count; i++)
        rbli_free(ctx, reader.libraries.data[i]);
    rbli_free(ctx, reader.libraries.data);
    rbli_names_free(ctx, &reader.objects);
    rbli_names_free(ctx, &reader.groups);
    return rbli_builder_end(&reader.builder, status, out);
}
