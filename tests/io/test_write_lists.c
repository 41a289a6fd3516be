/* STL and PLY, written and read back. */

#include "tests/failing_alloc.h"
#include "tests/io/make_asset.h"

#include <math.h>
#include <unistd.h>

#include "fracture/io/mesh_file.h"
#include "fracture/io/write.h"

static char folder[] = "/tmp/rubble_lists_XXXXXX";

static rbl_status try_write(
    rbl_context *ctx, const rbl_collection *asset, bool ply, rbli_stl_report *report, char path[200])
{
    rbli_file_writer *writer = NULL;
    snprintf(path, 200, "%s/pieces.%s", folder, ply ? "ply" : "stl");
    rbl_status status = rbli_file_writer_open(ctx, path, &writer);
    if (status == RBL_OK)
        status = ply ? rbli_write_ply(ctx, asset, writer) : rbli_write_stl(ctx, asset, writer, report);
    if (status == RBL_OK) return rbli_file_writer_commit(ctx, writer);
    rbli_file_writer_discard(writer);
    return status;
}

static void write_and_read(
    rbl_context *ctx, const rbl_collection *asset, bool ply, rbli_stl_report *report, rbli_mesh_file *out)
{
    char path[200];
    assert_ok(ctx, try_write(ctx, asset, ply, report, path));
    assert_ok(ctx, rbli_mesh_file_read(ctx, path, out));
}

static double signed_volume(const rbli_mesh_file *file)
{
    double sum = 0;
    const double *o = file->positions[file->triangles[0][0]];
    for (size_t t = 0; t < file->triangle_count; t++) {
        double p[3][3];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                p[i][k] = file->positions[file->triangles[t][i]][k] - o[k];
        sum += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
               p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
               p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return sum / 6;
}

/* Two cubes, the first turned, mirrored and twice as large, and a sheet of one triangle below it. */
static rbl_collection *mirrored_asset(rbl_context *ctx, bool all)
{
    rbl_collection *asset = make_asset(ctx, (asset_options){{1, 2, 3}, all, all, all});
    mirror_first_piece(ctx, asset);
    return asset;
}

static void stl_reads_back(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = mirrored_asset(ctx, true);
    rbli_mesh_file file;
    rbli_stl_report report;
    write_and_read(ctx, asset, false, &report, &file);
    assert_int_equal(report.triangles, 25);
    assert_int_equal(report.collapsed_triangles, 0);
    assert_int_equal(file.triangle_count, 25);
    file.triangle_count = 24; /* without the sheet */
    assert_close(signed_volume(&file), 9, 1e-5);
    for (int k = 0; k < 3; k++) { /* the order of triangles, and where the second cube stands */
        const double *p = file.positions[file.triangles[12][k]];
        int32_t corner = cube_faces[0][k];
        assert_true(p[0] == 2 + cube_points[corner][0] && p[1] == 2 + cube_points[corner][1] &&
                    p[2] == 3 + cube_points[corner][2]);
    }
    rbli_mesh_file_free(ctx, &file);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void stl_normals_and_count_are_right(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = mirrored_asset(ctx, false);
    char path[200];
    uint8_t *bytes;
    size_t size;
    assert_ok(ctx, try_write(ctx, asset, false, NULL, path));
    assert_ok(ctx, rbli_file_read(ctx, path, 0, &bytes, &size));
    assert_int_equal(size, 84 + 50 * 25);
    assert_true(memcmp(bytes, "solid", 5) != 0);
    for (size_t t = 0; t < 25; t++) {
        float n[3], p[3][3];
        memcpy(n, bytes + 84 + 50 * t, sizeof n);
        memcpy(p, bytes + 84 + 50 * t + 12, sizeof p);
        for (int i = 0; i < 3; i++) { /* axes: across both sides, of unit length */
            int a = i, b = (i + 1) % 3;
            double along = 0;
            for (int k = 0; k < 3; k++)
                along += (double)n[k] * ((double)p[b][k] - (double)p[a][k]);
            assert_close(along, 0, 1e-6);
        }
        assert_close((double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2], 1, 1e-6);
        assert_true(bytes[84 + 50 * t + 48] == 0 && bytes[84 + 50 * t + 49] == 0);
    }
    rbli_free(ctx, bytes);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void stl_leaves_out_what_collapses(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_asset(ctx, (asset_options){.origin = {1e9, 0, 0}}); /* floats of 64 there */
    char path[200];
    rbli_stl_report report;
    assert_ok(ctx, try_write(ctx, asset, false, &report, path));
    assert_true(report.collapsed_triangles > 0);
    assert_int_equal(report.triangles + report.collapsed_triangles, 25);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void ply_reads_back(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        rbl_context *ctx = make_context(1);
        rbl_collection *asset = mirrored_asset(ctx, all);
        rbli_mesh_file file;
        write_and_read(ctx, asset, true, NULL, &file);
        assert_int_equal(file.triangle_count, 25);
        assert_int_equal(file.uv_set_count, all);
        assert_int_equal(file.colors != NULL, all);
        assert_non_null(file.normals);
        const float(*uvs)[2] = all ? rbli_collection_read(asset, "corner", "uv0", RBL_FLOAT_2) : NULL;
        for (size_t t = 0; t < 24; t++)
            for (size_t k = 0; k < 3; k++) {
                size_t c = 3 * t + k, from = 3 * t + (t < 12 && k > 0 ? 3 - k : k);
                const double *p = file.positions[file.triangles[t][k]];
                int32_t corner = cube_faces[t % 12][from % 3];
                const double *q = cube_points[corner];
                const double x = 1 + q[0] + (t >= 12), y = 2 + q[1], z = 3 + q[2];
                const double turned[3] = {10 + 2 * y, 20 + 2 * x, 30 + 2 * z}, plain[3] = {x, y, z};
                const float *n = cube_normals[t % 12 / 2];
                const float moved[3] = {n[1], n[0], n[2]};
                for (int a = 0; a < 3; a++) {
                    assert_true(p[a] == (t < 12 ? turned : plain)[a]);
                    assert_close((double)file.normals[c][a], (double)(t < 12 ? moved : n)[a], 1e-6);
                }
                if (!all) continue;
                assert_close((double)file.uvs[0][c][0], (double)uvs[from][0], 1e-7);
                assert_close((double)file.uvs[0][c][1], (double)uvs[from][1], 1e-7);
                for (int a = 0; a < 4; a++)
                    assert_close((double)file.colors[c][a], a / 4.0, 0.51 / 255);
            }
        file.triangle_count = 24;
        assert_close(signed_volume(&file), 9, 1e-12);
        rbli_mesh_file_free(ctx, &file);
        rbli_collection_release(asset);
        finish_context(ctx);
    }
}

static void ply_names_pieces_and_materials(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = mirrored_asset(ctx, false);
    char path[200];
    uint8_t *bytes;
    size_t size;
    assert_ok(ctx, try_write(ctx, asset, true, NULL, path));
    assert_ok(ctx, rbli_file_read(ctx, path, 0, &bytes, &size));
    const char *text = (const char *)bytes;
    assert_non_null(
        strstr(text, "\ncomment piece 1 wall_0\ncomment piece 2 wall \"1\"\ncomment piece 3 wall_0_sheet\n"
                     "comment material 0 brick\ncomment material 1 interior\nelement vertex "));
    const char *data = strstr(text, "end_header\n");
    assert_non_null(data);
    const int32_t *material = rbli_collection_read(asset, "face", "material", RBL_INT32);
    for (size_t f = 0; f < 25; f++) { /* records of 22 bytes at the end */
        const uint8_t *record = bytes + size - 22 * (25 - f);
        int32_t numbers[2];
        assert_int_equal(record[0], 3);
        memcpy(numbers, record + 13, sizeof numbers);
        assert_int_equal(numbers[0], f < 12 ? 1 : f < 24 ? 2 : 3);
        assert_int_equal(numbers[1], material[f]);
    }
    rbli_free(ctx, bytes);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void an_empty_collection_is_a_file_without_triangles(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    assert_ok(ctx, rbli_collection_create_empty_asset(ctx, &asset));
    for (int ply = 0; ply < 2; ply++) {
        char path[200];
        rbli_mesh_file file;
        assert_ok(ctx, try_write(ctx, asset, ply, NULL, path));
        assert_int_equal(rbli_mesh_file_read(ctx, path, &file), RBL_ERR_PARSE); /* no triangles */
    }
    rbli_collection_release(asset);
    finish_context(ctx);
}

static rbl_status write_both(rbl_context *ctx, void *user)
{
    char path[200];
    (void)user;
    rbl_collection *asset = user;
    rbl_status status = try_write(ctx, asset, false, NULL, path);
    if (status == RBL_OK) status = try_write(ctx, asset, true, NULL, path);
    if (status != RBL_OK) return status;
    rbli_file_writer *writer = NULL;
    snprintf(path, sizeof path, "%s/pieces.usdz", folder);
    status = rbli_file_writer_open(ctx, path, &writer);
    if (status == RBL_OK) status = rbli_write_usdz(ctx, asset, "pieces", RBLI_COLLIDERS_USD, writer, NULL);
    if (status == RBL_OK) return rbli_file_writer_commit(ctx, writer);
    rbli_file_writer_discard(writer);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = mirrored_asset(ctx, true);
    assert_true(fail_each_allocation(write_both, asset, 0) > 10);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/pieces.stl", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/pieces.ply", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/pieces.usdz", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stl_reads_back),
        cmocka_unit_test(stl_normals_and_count_are_right),
        cmocka_unit_test(stl_leaves_out_what_collapses),
        cmocka_unit_test(ply_reads_back),
        cmocka_unit_test(ply_names_pieces_and_materials),
        cmocka_unit_test(an_empty_collection_is_a_file_without_triangles),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("io/write_lists", tests, make_folder, remove_folder);
}
