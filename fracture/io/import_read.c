/// FBX, DAE and 3MF by way of `rubble-import`, which makes a GLB of them; that is read like any other, so every count
/// and index of it is checked.

#include "fracture/base/alloc.h"
#include "fracture/io/import_process.h"
#include "fracture/io/mesh_file.h"

static rbl_status parse(rbl_context *ctx, const char *name, const char *format, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out)
{
    rbl_status status = RBL_OK;
    uint8_t *glb = NULL;
    size_t glb_bytes = 0;
    char *converted = NULL;
    RBL_TRY(rbli_import_run(ctx, name, format, bytes, byte_count, &glb, &glb_bytes));
    if (glb_bytes < 4 || memcmp(glb, "glTF", 4) != 0) {
        status = rbli_fail(
            ctx, RBL_ERR_PARSE, "%s: rubble-import gave back %zu bytes that are no GLB", name, glb_bytes);
        goto done;
    }
    RBL_TRY_ALLOC(converted = rbli_format(ctx, "%s (from rubble-import)", name));
    RBL_TRY(rbli_mesh_file_parse_gltf(ctx, converted, glb, glb_bytes, folder, out));
done:
    rbli_free(ctx, glb);
    rbli_free(ctx, converted);
    return status;
}

rbl_status rbli_mesh_file_parse_fbx(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out)
{
    return parse(ctx, name, "fbx", bytes, byte_count, folder, out);
}

rbl_status rbli_mesh_file_parse_dae(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out)
{
    return parse(ctx, name, "dae", bytes, byte_count, folder, out);
}

rbl_status rbli_mesh_file_parse_3mf(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out)
{
    return parse(ctx, name, "3mf", bytes, byte_count, folder, out);
}
