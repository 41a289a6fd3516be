/// The reader of material libraries on any bytes, for an .obj with two materials.

#include <string.h>

#include "fracture/io/mtl.h"
#include "tests/fuzz/mesh_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    if (rbli_context_create(1, &ctx) != RBL_OK) return 0;
    rbli_mesh_builder builder = {.ctx = ctx, .name = "input"};
    bool found[2] = {false, false};
    if (rbli_builder_add_material(&builder, "a", 1) == RBL_OK &&
        rbli_builder_add_material(&builder, "b", 1) == RBL_OK &&
        rbli_mtl_parse(&builder, "sub/x.mtl", &(rbli_mesh_folder){"/nowhere", false}, bytes, count, found) ==
            RBL_OK)
        for (int m = 0; m < 2; m++) {
            const rbli_material *look = &builder.file.materials[m].look;
            REQUIRE(look->roughness >= 0 && look->roughness <= 1);
            REQUIRE(look->metallic >= 0 && look->metallic <= 1);
            REQUIRE(isfinite(look->normal_scale));
        }
    rbli_builder_free(&builder);
    rbli_messages_clear(ctx->messages);
    rbli_context_destroy(ctx);
    return 0;
}
