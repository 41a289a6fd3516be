/// Wavefront .mtl: names, diffuse colour, opacity and the diffuse texture.

#include "fracture/io/mtl.h"

#include "fracture/io/scan.h"

/// Skips options of a texture statement ("-s 1 1 1 -clamp on"); what is left is the file's name.
static void skip_texture_options(rbli_scan *scan)
{
    static const char *const words_options[] = {
        "-blendu", "-blendv", "-cc", "-clamp", "-imfchan", "-type", "-bm", "-boost", "-texres"};
    for (;;) {
        rbli_scan_blanks(scan);
        rbli_scan saved = *scan;
        const char *word;
        size_t length = rbli_scan_word(scan, &word);
        size_t values = 0;
        bool numbers = rbli_word_is(word, length, "-o") || rbli_word_is(word, length, "-s") ||
                       rbli_word_is(word, length, "-t");
        if (rbli_word_is(word, length, "-mm")) values = 2;
        for (size_t i = 0; i < sizeof words_options / sizeof *words_options; i++)
            if (rbli_word_is(word, length, words_options[i])) values = 1;
        if (!numbers && values == 0) {
            *scan = saved;
            return;
        }
        for (size_t i = 0; i < values; i++) {
            rbli_scan_blanks(scan);
            rbli_scan_word(scan, &word);
        }
        double ignored;
        for (int i = 0; numbers && i < 3; i++) {
            rbli_scan_blanks(scan);
            saved = *scan;
            if (!rbli_scan_double(&scan->at, scan->end, &ignored) || !rbli_scan_at_gap(scan)) {
                *scan = saved;
                break;
            }
        }
    }
}

static bool scan_numbers(rbli_scan *scan, float *out, int least, int most)
{
    int count = 0;
    for (; count < most; count++) {
        rbli_scan_blanks(scan);
        double value;
        if (!rbli_scan_double(&scan->at, scan->end, &value) || !rbli_scan_at_gap(scan)) break;
        out[count] = value >= 0 ? value <= 1 ? (float)value : 1 : 0;
    }
    for (int i = count; i < most && count >= least; i++)
        out[i] = out[count - 1]; /* "Kd 0.5" means grey */
    return count >= least;
}

/// One statement of the material `at`. False when it cannot be understood.
static rbl_status read_statement(
    rbli_mesh_builder *builder, rbli_scan *scan, rbli_mesh_file_material *material, bool *understood)
{
    const char *word, *rest;
    size_t length = rbli_scan_word(scan, &word);
    float values[3];
    if (rbli_word_is(word, length, "Kd")) {
        rbli_scan saved = *scan;
        rbli_scan_blanks(&saved);
        const char *kind;
        size_t kind_length = rbli_scan_word(&saved, &kind);
        if (rbli_word_is(kind, kind_length, "spectral") || rbli_word_is(kind, kind_length, "xyz"))
            return RBL_OK;
        *understood = scan_numbers(scan, values, 1, 3);
        if (*understood) memcpy(material->base_color, values, sizeof values);
    } else if (rbli_word_is(word, length, "d") || rbli_word_is(word, length, "Tr")) {
        bool opacity = length == 1;
        rbli_scan_blanks(scan);
        if (scan->end - scan->at > 5 && memcmp(scan->at, "-halo", 5) == 0) scan->at += 5;
        *understood = scan_numbers(scan, values, 1, 1);
        if (*understood) material->base_color[3] = opacity ? values[0] : 1 - values[0];
    } else if (rbli_word_is(word, length, "map_Kd")) {
        skip_texture_options(scan);
        length = rbli_scan_rest(scan, &rest);
        char *texture = rbli_clean_text(builder->ctx, rest, length, "");
        if (!texture) return RBL_ERR_NO_MEMORY;
        for (char *p = texture; *p; p++)
            if (*p == '\\') *p = '/';
        rbli_free(builder->ctx, material->texture);
        material->texture = texture;
    }
    return RBL_OK;
}

rbl_status rbli_mtl_parse(
    rbli_mesh_builder *builder, const char *mtl_name, const uint8_t *bytes, size_t byte_count, bool *found)
{
    rbl_status status = RBL_OK;
    rbli_mesh_file *file = &builder->file;
    rbli_mesh_file_material *material = NULL;
    rbli_scan scan = {(const char *)bytes, (const char *)bytes + byte_count, 1};
    size_t bad_line = 0;
    while (scan.at < scan.end) {
        size_t line = scan.line;
        bool understood = true;
        rbli_scan_blanks(&scan);
        rbli_scan saved = scan;
        const char *word;
        size_t length = rbli_scan_word(&scan, &word);
        if (rbli_word_is(word, length, "newmtl")) {
            const char *rest;
            length = rbli_scan_rest(&scan, &rest);
            material = NULL;
            int32_t index;
            RBL_TRY(rbli_names_find(builder->ctx, &builder->material_names, rest, length, &index));
            if (index >= 0 && !found[index]) {
                material = &file->materials[index];
                found[index] = true;
            }
            continue;
        }
        if (material) {
            scan = saved;
            RBL_TRY(read_statement(builder, &scan, material, &understood));
        }
        if (!understood && !bad_line) bad_line = line;
        if (scan.line == line) rbli_scan_line(&scan);
    }
    if (bad_line)
        status = rbli_builder_message(builder, RBLI_WARNING,
            ": %s:%zu: a material's values cannot be understood and keep their defaults", mtl_name, bad_line);
done:
    return status;
}
