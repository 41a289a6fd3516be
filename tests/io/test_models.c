#include "tests/check.h"

#include <math.h>
#include <unistd.h>

#include "fracture/io/mesh_file.h"

/// Reads real meshes and compares with the counts in their list. They are in models of $RUBBLE_SHARED or
/// of ../shared; without them the test is skipped.

static char folder[5000];

/// Tab-separated column of a line, copied.
static const char *column(const char *line, int index, char out[600])
{
    for (; index > 0 && line; index--) {
        line = strchr(line, '\t');
        if (line) line++;
    }
    size_t length = line ? strcspn(line, "\t\n") : 0;
    if (length > 599) length = 599;
    memcpy(out, line ? line : "", length);
    out[length] = 0;
    return out;
}

static bool is_read(const char *format)
{
    static const char *const formats[] = {"OBJ", "STL", "PLY", "OFF", "GLB"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strncmp(format, formats[i], 3) == 0) return true;
    return false;
}

static void check_model(rbl_context *ctx, const char *line)
{
    char name[600], text[600], path[6000];
    column(line, 0, name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    rbli_mesh_file file;
    print_message("%s\n", name);
    assert_ok(ctx, rbli_mesh_file_read(ctx, path, &file));
    size_t triangles = strtoul(column(line, 8, text), NULL, 10);
    size_t vertices = strtoul(column(line, 5, text), NULL, 10);
    assert_int_equal(file.triangle_count, triangles);
    if (strncmp(column(line, 3, text), "GLB", 3) != 0) assert_int_equal(file.position_count, vertices);
    column(line, 23, text);
    assert_int_equal(file.uv_set_count > 0, strcmp(text, "no") != 0);
    column(line, 24, text);
    assert_int_equal(file.normals != NULL, strcmp(text, "yes") == 0);
    double low[3], high[3], expected[3];
    memcpy(low, file.positions[file.triangles[0][0]], sizeof low);
    memcpy(high, low, sizeof high);
    for (size_t t = 0; t < file.triangle_count; t++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                double p = file.positions[file.triangles[t][i]][k];
                if (p < low[k]) low[k] = p;
                if (p > high[k]) high[k] = p;
            }
    for (int side = 0; side < 2; side++) {
        assert_int_equal(
            sscanf(column(line, 28 + side, text), "%lf,%lf,%lf", expected, expected + 1, expected + 2), 3);
        for (int k = 0; k < 3; k++)
            assert_close(side ? high[k] : low[k], expected[k], 1e-5 * (high[k] - low[k] + fabs(expected[k])));
    }
    rbli_mesh_file_free(ctx, &file);
}

static void real_models_have_the_counts_of_their_list(void **state)
{
    (void)state;
    if (!find_model("", folder)) {
        print_message("no models in %s: real_models_have_the_counts_of_their_list\n", folder);
        skip();
    }
    char path[6000], line[5000], format[600];
    snprintf(path, sizeof path, "%s/MODELS.tsv", folder);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    size_t count = 0;
    rbl_context *ctx = make_context(1);
    while (fgets(line, sizeof line, list)) {
        if (!is_read(column(line, 3, format))) continue;
        check_model(ctx, line);
        count++;
    }
    fclose(list);
    assert_true(count > 0);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(real_models_have_the_counts_of_their_list)};
    return cmocka_run_group_tests_name("io/models", tests, NULL, NULL);
}
