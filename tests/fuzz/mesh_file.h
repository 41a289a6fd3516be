#ifndef RUBBLE_TESTS_FUZZ_MESH_FILE_H
#define RUBBLE_TESTS_FUZZ_MESH_FILE_H

/// What the fuzz targets of the mesh readers share: reads, and checks that what was read is as mesh_file.h
/// says.

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/io/mesh_file.h"
#include "tests/fuzz/fuzz.h"

#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) abort();                                                                           \
    } while (0)

static inline void check_corners(const rbli_mesh_file *file)
{
    for (size_t c = 0; c < 3 * file->triangle_count; c++) {
        for (int k = 0; file->normals && k < 3; k++)
            REQUIRE(fabsf(file->normals[c][k]) <= 1.001f);
        for (int k = 0; file->tangents && k < 4; k++)
            REQUIRE(fabsf(file->tangents[c][k]) <= 1.001f);
        for (int k = 0; file->colors && k < 4; k++)
            REQUIRE(file->colors[c][k] >= 0 && file->colors[c][k] <= 1);
        for (size_t set = 0; set < file->uv_set_count; set++)
            REQUIRE(isfinite(file->uvs[set][c][0]) && isfinite(file->uvs[set][c][1]));
    }
}

static inline void check_mesh_file(const rbli_mesh_file *file)
{
    REQUIRE(file->triangle_count > 0 && file->node_count > 0);
    for (size_t t = 0; t < file->triangle_count; t++) {
        for (int k = 0; k < 3; k++) {
            REQUIRE(file->triangles[t][k] >= 0 && (size_t)file->triangles[t][k] < file->position_count);
            const double *p = file->positions[file->triangles[t][k]];
            REQUIRE(isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]));
        }
        REQUIRE(file->triangle_nodes[t] >= 0 && (size_t)file->triangle_nodes[t] < file->node_count);
        REQUIRE(
            file->triangle_materials[t] >= -1 && file->triangle_materials[t] < (int64_t)file->material_count);
    }
    for (size_t n = 0; n < file->node_count; n++)
        REQUIRE(file->nodes[n].name[0] && file->nodes[n].parent >= -1 && file->nodes[n].parent < (int64_t)n);
    for (size_t m = 0; m < file->material_count; m++) {
        REQUIRE(file->materials[m].name[0] && file->materials[m].texture);
        for (int role = 0; role < RBLI_TEXTURE_ROLES; role++)
            REQUIRE(file->materials[m].look.textures[role] >= -1 &&
                    file->materials[m].look.textures[role] < (int64_t)file->texture_count);
    }
    for (size_t t = 0; t < file->texture_count; t++)
        REQUIRE(file->textures[t].image >= 0 && file->textures[t].image < (int64_t)file->image_count);
    for (size_t i = 0; i < file->image_count; i++)
        REQUIRE(file->images[i].name[0] && file->images[i].mime_type && file->images[i].byte_count > 0);
    check_corners(file);
}

typedef rbl_status (*mesh_parse_fn)(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out);

static inline int fuzz_mesh_reader(mesh_parse_fn parse, const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    if (rbli_context_create(1, &ctx) != RBL_OK) return 0;
    rbli_mesh_file file = {0};
    if (parse(ctx, "input", bytes, count, NULL, &file) == RBL_OK) {
        check_mesh_file(&file);
        rbli_mesh_file_free(ctx, &file);
    }
    rbli_messages_clear(ctx->messages);
    rbli_context_destroy(ctx);
    return 0;
}

#endif
