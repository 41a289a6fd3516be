/// Which reader a file needs.

#include "fracture/io/mesh_file.h"

#include "fracture/base/file.h"
#include "fracture/io/mesh_builder.h"
#include "fracture/io/scan.h"

typedef rbl_status (*parse_fn)(rbl_context *ctx, const char *name, const uint8_t *bytes, size_t byte_count,
    const rbli_mesh_folder *folder, rbli_mesh_file *out);

static bool starts_with(const uint8_t *bytes, size_t byte_count, const char *text)
{
    size_t length = strlen(text);
    return byte_count >= length && memcmp(bytes, text, length) == 0;
}

static bool has_extension(const char *path, const char *extension)
{
    const char *dot = strrchr(path, '.');
    return dot && !strchr(dot, '/') && rbli_word_is(dot + 1, strlen(dot + 1), extension);
}

/// First bytes that leave no doubt, then the name's ending, then weaker hints.
static parse_fn choose_parser(const char *path, const uint8_t *bytes, size_t byte_count)
{
    if (starts_with(bytes, byte_count, "glTF")) return rbli_mesh_file_parse_gltf;
    if (starts_with(bytes, byte_count, "ply\n") || starts_with(bytes, byte_count, "ply\r"))
        return rbli_mesh_file_parse_ply;
    if (starts_with(bytes, byte_count, "Kaydara FBX Binary")) return rbli_mesh_file_parse_fbx;
    static const struct {
        const char *extension;
        parse_fn parse;
    } formats[] = {
        {"obj", rbli_mesh_file_parse_obj},
        {"stl", rbli_mesh_file_parse_stl},
        {"ply", rbli_mesh_file_parse_ply},
        {"off", rbli_mesh_file_parse_off},
        {"glb", rbli_mesh_file_parse_gltf},
        {"gltf", rbli_mesh_file_parse_gltf},
        {"fbx", rbli_mesh_file_parse_fbx},
        {"dae", rbli_mesh_file_parse_dae},
        {"3mf", rbli_mesh_file_parse_3mf},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (has_extension(path, formats[i].extension)) return formats[i].parse;
    if (starts_with(bytes, byte_count, "OFF") || starts_with(bytes, byte_count, "COFF"))
        return rbli_mesh_file_parse_off;
    if (starts_with(bytes, byte_count, "solid ")) return rbli_mesh_file_parse_stl;
    return NULL;
}

rbl_status rbli_mesh_file_read(rbl_context *ctx, const char *path, rbli_mesh_file *out)
{
    return rbli_mesh_file_read_with(ctx, path, false, out);
}

rbl_status rbli_mesh_file_read_with(rbl_context *ctx, const char *path, bool anywhere, rbli_mesh_file *out)
{
    rbl_status status = RBL_OK;
    uint8_t *bytes = NULL;
    size_t byte_count = 0;
    char *folder = rbli_strdup(ctx, path);
    RBL_TRY_ALLOC(folder);
    char *slash = strrchr(folder, '/');
    if (slash) {
        slash[slash == folder ? 1 : 0] = 0;
    } else {
        folder[0] = 0;
    }
    RBL_TRY(rbli_file_read(ctx, path, RBLI_MOST_FILE_BYTES, &bytes, &byte_count));
    parse_fn parse = choose_parser(path, bytes, byte_count);
    if (!parse) {
        status = rbli_fail(ctx, RBL_ERR_READ,
            "%s: not a mesh file that rubble reads: .obj, .stl, .ply, .off, .glb, .gltf, .fbx, .dae or .3mf",
            path);
        goto done;
    }
    RBL_TRY(parse(ctx, path, bytes, byte_count, &(rbli_mesh_folder){folder, anywhere}, out));
done:
    rbli_free(ctx, bytes);
    rbli_free(ctx, folder);
    return status;
}
