/// The OBJ reader on any bytes; what is behind a first zero byte is read as a material library.

#include "fracture/io/mtl.h"
#include "tests/fuzz/mesh_file.h"

static void read_library(const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    if (rbli_context_create(1, &ctx) != RBL_OK) return;
    rbli_mesh_builder builder = {.ctx = ctx, .name = "input"};
    bool found[2] = {false, false};
    if (rbli_builder_add_material(&builder, "a", 1) == RBL_OK &&
        rbli_builder_add_material(&builder, "b", 1) == RBL_OK &&
        rbli_mtl_parse(&builder, "sub/x.mtl", &(rbli_mesh_folder){"/nowhere", false}, bytes, count, found) ==
            RBL_OK)
        for (int m = 0; m < 2; m++) {
            const rbli_material *look = &builder.file.materials[m].look;
            REQUIRE(
                look->roughness >= 0 && look->roughness <= 1 && look->metallic >= 0 && look->metallic <= 1);
            REQUIRE(isfinite(look->normal_scale));
        }
    rbli_builder_free(&builder);
    rbli_messages_clear(ctx->messages);
    rbli_context_destroy(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const uint8_t *zero = count ? memchr(bytes, 0, count) : NULL;
    if (zero) read_library(zero + 1, count - (size_t)(zero + 1 - bytes));
    return fuzz_mesh_reader(rbli_mesh_file_parse_obj, bytes, zero ? (size_t)(zero - bytes) : count);
}
