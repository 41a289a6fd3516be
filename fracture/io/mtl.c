/// Wavefront .mtl: names, colours, opacity, roughness and textures.

#include "fracture/io/mtl.h"

#include <math.h>

#include "fracture/io/scan.h"

/// What the options of a texture statement say that glTF can say, too.
typedef struct texture_options {
    double offset[2], scale[2]; /* of u and of v upwards */
    float bump;                 /* -bm */
    bool clamp;
} texture_options;

/// Reads up to three numbers; those that are not there keep their values. Returns how many there are.
static int scan_vector(rbli_scan *scan, double out[3])
{
    int count = 0;
    for (; count < 3; count++) {
        rbli_scan_blanks(scan);
        rbli_scan saved = *scan;
        double value;
        if (!rbli_scan_double(&scan->at, scan->end, &value) || !rbli_scan_at_gap(scan)) {
            *scan = saved;
            break;
        }
        out[count] = value;
    }
    return count;
}

/// Reads options of a texture statement ("-s 1 1 1 -clamp on"); what is left is the file's name.
static texture_options scan_texture_options(rbli_scan *scan)
{
    static const char *const words_options[] = {
        "-blendu", "-blendv", "-cc", "-clamp", "-imfchan", "-type", "-bm", "-boost", "-texres"};
    texture_options out = {.scale = {1, 1}, .bump = 1};
    for (;;) {
        rbli_scan_blanks(scan);
        rbli_scan saved = *scan;
        const char *option, *word = "";
        size_t length = rbli_scan_word(scan, &option), word_length = 0, values = 0;
        double vector[3] = {0, 0, 0};
        if (rbli_word_is(option, length, "-o")) {
            scan_vector(scan, vector);
            memcpy(out.offset, vector, sizeof out.offset);
            continue;
        }
        if (rbli_word_is(option, length, "-s")) {
            vector[0] = vector[1] = 1;
            scan_vector(scan, vector);
            memcpy(out.scale, vector, sizeof out.scale);
            continue;
        }
        if (rbli_word_is(option, length, "-t")) {
            scan_vector(scan, vector);
            continue;
        }
        if (rbli_word_is(option, length, "-mm")) values = 2;
        for (size_t i = 0; i < sizeof words_options / sizeof *words_options; i++)
            if (rbli_word_is(option, length, words_options[i])) values = 1;
        if (values == 0) {
            *scan = saved;
            return out;
        }
        for (size_t i = 0; i < values; i++) {
            rbli_scan_blanks(scan);
            word_length = rbli_scan_word(scan, &word);
        }
        if (rbli_word_is(option, length, "-clamp")) out.clamp = rbli_word_is(word, word_length, "on");
        if (rbli_word_is(option, length, "-bm")) {
            const char *at = word;
            double value;
            if (rbli_scan_double(&at, word + word_length, &value) && at == word + word_length)
                out.bump = rbli_finite_float(value);
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

/// Statements that name textures; a bump map is taken as a normal map, which is what exporters write there.
static const struct {
    const char *word;
    int role;
} texture_words[] = {
    {"map_Kd", RBLI_TEXTURE_BASE_COLOR},
    {"map_Ke", RBLI_TEXTURE_EMISSIVE},
    {"map_Bump", RBLI_TEXTURE_NORMAL},
    {"bump", RBLI_TEXTURE_NORMAL},
    {"norm", RBLI_TEXTURE_NORMAL},
    {"map_ao", RBLI_TEXTURE_OCCLUSION},
};

typedef struct mtl_reader {
    rbli_mesh_builder *builder;
    const rbli_mesh_folder *folder; /* of the mesh */
    const char *subfolder; /* the library's folder relative to that of the mesh, "" or with "/" at its end */
    float roughness;       /* of the material under way: Pr, or −1 */
    double exponent;       /* Ns, or −1 */
    bool dull;             /* Ks 0 */
} mtl_reader;

static rbl_status read_texture(
    mtl_reader *reader, rbli_scan *scan, rbli_mesh_file_material *material, int role)
{
    rbl_context *ctx = reader->builder->ctx;
    rbl_status status = RBL_OK;
    const char *rest;
    texture_options options = scan_texture_options(scan);
    size_t length = rbli_scan_rest(scan, &rest);
    char *path = NULL, *name = rbli_clean_text(ctx, rest, length, "");
    rbli_texture texture = rbli_texture_default();
    RBL_TRY_ALLOC(name);
    for (char *p = name; *p; p++)
        if (*p == '\\') *p = '/';
    RBL_TRY_ALLOC(path = rbli_format(ctx, "%s%s", *name ? reader->subfolder : "", name));
    RBL_TRY(rbli_builder_load_image(reader->builder, reader->folder, path, &texture.image));
    if (role == RBLI_TEXTURE_BASE_COLOR) {
        rbli_free(ctx, material->texture);
        material->texture = path;
        path = NULL;
    }
    if (texture.image < 0) goto done;
    /* v downwards */
    texture.scale[0] = rbli_finite_float(options.scale[0]);
    texture.scale[1] = rbli_finite_float(options.scale[1]);
    texture.offset[0] = rbli_finite_float(options.offset[0]);
    texture.offset[1] = rbli_finite_float(1 - options.scale[1] - options.offset[1]);
    if (options.clamp) texture.wrap[0] = texture.wrap[1] = RBLI_WRAP_CLAMP;
    if (role == RBLI_TEXTURE_NORMAL) material->look.normal_scale = options.bump;
    /* a texture shines by itself when nothing else says how much */
    const float *emissive = material->look.emissive;
    if (role == RBLI_TEXTURE_EMISSIVE && emissive[0] == 0 && emissive[1] == 0 && emissive[2] == 0)
        material->look.emissive[0] = material->look.emissive[1] = material->look.emissive[2] = 1;
    status = rbli_builder_add_texture(reader->builder, &texture, &material->look.textures[role]);
done:
    rbli_free(ctx, name);
    rbli_free(ctx, path);
    return status;
}

/// One statement of a material. *understood false when it cannot be understood.
static rbl_status read_statement(
    mtl_reader *reader, rbli_scan *scan, rbli_mesh_file_material *material, bool *understood)
{
    const char *word;
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
    } else if (rbli_word_is(word, length, "Ke")) {
        *understood = scan_numbers(scan, values, 1, 3);
        if (*understood) memcpy(material->look.emissive, values, sizeof values);
    } else if (rbli_word_is(word, length, "Pm")) {
        *understood = scan_numbers(scan, values, 1, 1);
        if (*understood) material->look.metallic = values[0];
    } else if (rbli_word_is(word, length, "Pr")) {
        *understood = scan_numbers(scan, values, 1, 1);
        if (*understood) reader->roughness = values[0];
    } else if (rbli_word_is(word, length, "Ks")) {
        *understood = scan_numbers(scan, values, 1, 3);
        reader->dull = *understood && values[0] == 0 && values[1] == 0 && values[2] == 0;
    } else if (rbli_word_is(word, length, "Ns")) {
        double exponent;
        rbli_scan_blanks(scan);
        *understood = rbli_scan_double(&scan->at, scan->end, &exponent);
        if (*understood) reader->exponent = exponent >= 0 ? exponent : 0;
    } else {
        for (size_t i = 0; i < sizeof texture_words / sizeof *texture_words; i++)
            if (rbli_word_is(word, length, texture_words[i].word))
                return read_texture(reader, scan, material, texture_words[i].role);
    }
    return RBL_OK;
}

/// Roughness of the material that ends: Pr, else from the highlight's exponent (the square of roughness is the
/// width of a Beckmann lobe, √(2 / (Ns + 2)): Walter et al. 2007); without highlight (Ks 0) all rough.
static void end_material(mtl_reader *reader, rbli_mesh_file_material *material)
{
    if (!material) return;
    rbli_material *look = &material->look;
    if (reader->roughness >= 0) {
        look->roughness = reader->roughness;
    } else if (reader->dull) {
        look->roughness = 1;
    } else if (reader->exponent >= 0) {
        look->roughness = (float)sqrt(sqrt(2 / (reader->exponent + 2)));
    }
    reader->roughness = -1;
    reader->exponent = -1;
    reader->dull = false;
}

rbl_status rbli_mtl_parse(rbli_mesh_builder *builder, const char *mtl_name, const rbli_mesh_folder *folder,
    const uint8_t *bytes, size_t byte_count, bool *found)
{
    rbl_status status = RBL_OK;
    mtl_reader reader = {.builder = builder, .folder = folder, .roughness = -1, .exponent = -1};
    const char *slash = strrchr(mtl_name, '/');
    char *subfolder = rbli_format(builder->ctx, "%.*s", slash ? (int)(slash + 1 - mtl_name) : 0, mtl_name);
    RBL_TRY_ALLOC(subfolder);
    reader.subfolder = subfolder;
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
            end_material(&reader, material);
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
            RBL_TRY(read_statement(&reader, &scan, material, &understood));
        }
        if (!understood && !bad_line) bad_line = line;
        if (scan.line == line) rbli_scan_line(&scan);
    }
    end_material(&reader, material);
    if (bad_line)
        status = rbli_builder_message(builder, RBLI_WARNING,
            ": %s:%zu: a material's values cannot be understood and keep their defaults", mtl_name, bad_line);
done:
    rbli_free(builder->ctx, subfolder);
    return status;
}
