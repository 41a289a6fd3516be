/* LoadCollection: what was written is read again bit for bit; damage is refused with the file's name. */

#include "fracture/collection/rbl_file.h"
#include "rubble/rubble.h"
#include "tests/check.h"
#include "tests/ops/asset_builder.h"

#include <unistd.h>

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* Evaluates LoadCollection on `path`; *hash gets the collection's hash on success, *text the first error
 * otherwise. */
static rbl_status load(const char *path, char hash[33], char *text, size_t text_bytes)
{
    rbl_engine *engine = NULL;
    rbl_graph *graph = NULL;
    rbl_run *run = NULL;
    char json[512];
    snprintf(json, sizeof json,
        "{\"rubble\": 1, \"nodes\": {\"load\": {\"type\": \"LoadCollection\", \"params\": {\"file\": "
        "\"%s\"}}}}",
        path);
    assert_int_equal(rbl_engine_create(NULL, &engine), RBL_OK);
    assert_int_equal(rbl_graph_load_text(engine, "test", json, strlen(json), NULL, &graph), RBL_OK);
    rbl_status status = rbl_evaluate(graph, NULL, &run);
    if (status == RBL_OK) {
        rbl_collection_hash_text(rbl_value_collection(rbl_run_value(run, "load")), hash);
    } else {
        const rbl_messages *messages = rbl_run_messages(run);
        assert_true(rbl_messages_count(messages) > 0);
        snprintf(text, text_bytes, "%s", rbl_messages_get(messages, 0)->text);
    }
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    return status;
}

/* Bounds, volume and normals of unit boxes, which the builder leaves at zero. */
static void describe_boxes(rbl_context *ctx, rbl_collection *asset, size_t count, const double (*boxes)[2][3])
{
    void *low, *high, *volume, *normal;
    assert_ok(ctx, rbli_collection_write(ctx, asset, "geometry", "bounds_min", RBL_VEC3, &low));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "geometry", "bounds_max", RBL_VEC3, &high));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "geometry", "volume", RBL_DOUBLE, &volume));
    for (size_t i = 0; i < count; i++) {
        memcpy((double *)low + 3 * i, boxes[i][0], sizeof boxes[i][0]);
        memcpy((double *)high + 3 * i, boxes[i][1], sizeof boxes[i][1]);
        ((double *)volume)[i] = 1;
    }
    assert_ok(ctx, rbli_collection_write(ctx, asset, "corner", "normal", RBL_FLOAT_3, &normal));
    for (size_t i = 0; i < rbli_collection_size(asset, "corner"); i++)
        ((float *)normal)[3 * i] = 1;
}

static void collection_comes_back_and_damage_is_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static const double boxes[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{1, 0, 0}, {2, 1, 1}}};
    rbl_collection *boxes_asset = make_boxes(ctx, 2, boxes);
    describe_boxes(ctx, boxes_asset, 2, boxes);
    uint8_t *bytes = NULL;
    size_t count = 0;
    assert_ok(ctx, rbli_rbl_encode(ctx, boxes_asset, &bytes, &count));
    char path[] = "/tmp/rubble-load-XXXXXX", written[33], read[33], text[400] = "";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);

    write_file(path, bytes, count);
    rbl_collection_hash_text(boxes_asset, written);
    assert_int_equal(load(path, read, text, sizeof text), RBL_OK);
    assert_string_equal(read, written);

    bytes[count / 2] ^= 0x10;
    write_file(path, bytes, count);
    assert_int_equal(load(path, read, text, sizeof text), RBL_ERR_PARSE);
    assert_non_null(strstr(text, path));

    write_file(path, "o box\n", 6);
    assert_int_equal(load(path, read, text, sizeof text), RBL_ERR_PARSE);
    remove(path);
    assert_int_equal(load(path, read, text, sizeof text), RBL_ERR_READ);
    rbli_free(ctx, bytes);
    rbli_collection_release(boxes_asset);
    finish_context(ctx);
}

static void collection_that_does_not_hold_together_is_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static const double boxes[1][2][3] = {{{0, 0, 0}, {1, 1, 1}}};
    rbl_collection *asset = make_boxes(ctx, 1, boxes);
    describe_boxes(ctx, asset, 1, boxes);
    void *out = NULL;
    assert_ok(ctx, rbli_collection_write(ctx, asset, "face", "vertices", RBL_INT32_3, &out));
    ((int32_t *)out)[5] = 1000;
    uint8_t *bytes = NULL;
    size_t count = 0;
    assert_ok(ctx, rbli_rbl_encode(ctx, asset, &bytes, &count));
    char path[] = "/tmp/rubble-load-XXXXXX", hash[33], text[400] = "";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    write_file(path, bytes, count);
    assert_int_equal(load(path, hash, text, sizeof text), RBL_ERR_PARSE);
    remove(path);
    rbli_free(ctx, bytes);
    rbli_collection_release(asset);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collection_comes_back_and_damage_is_refused),
        cmocka_unit_test(collection_that_does_not_hold_together_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
