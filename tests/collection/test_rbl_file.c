#include "tests/check.h"

#include <unistd.h>

#include "fracture/base/rng.h"
#include "fracture/collection/rbl_file.h"
#include "tests/failing_alloc.h"
#include "tests/make_asset.h"
#include "tests/rbl_checksums.h"

/// An asset with an attribute of every type, as an array and as a list.
static rbl_status make_everything(rbl_context *ctx, size_t cubes, rbl_collection **out)
{
    static const rbl_type types[] = {
#define TYPE_ENTRY(name, number, bytes, word) RBL_##name,
        RBL_TYPE_LIST(TYPE_ENTRY)
#undef TYPE_ENTRY
    };
    rbl_status status;
    rbl_collection *asset = NULL;
    rbli_buffer *list = NULL;
    uint8_t values[5 * 128];
    RBL_TRY(make_cube_row(ctx, cubes, &asset));
    RBL_TRY(rbli_collection_resize(ctx, asset, "user", 5));
    RBL_TRY(rbli_collection_resize(ctx, asset, "nothing", 7));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char name[40];
        size_t bytes = rbl_type_bytes(types[i]);
        uint8_t *elements;
        snprintf(name, sizeof name, "array_%s", rbl_type_word(types[i]));
        RBL_TRY(rbli_collection_write(ctx, asset, "user", name, types[i], (void **)&elements));
        for (size_t k = 0; k < 5 * bytes; k++)
            values[k] = elements[k] = (uint8_t)(types[i] == RBL_BOOL ? k % 2 : 1 + k % 100);
        snprintf(name, sizeof name, "list_%s", rbl_type_word(types[i]));
        RBL_TRY(rbli_buffer_create_list(ctx, types[i], 5, (uint64_t[]){0, 2, 2, 2, 3, 5}, values, &list));
        RBL_TRY(rbli_collection_set(ctx, asset, "user", name, list));
        rbli_buffer_release(list);
        list = NULL;
    }
    *out = asset;
    asset = NULL;
done:
    rbli_buffer_release(list);
    rbli_collection_release(asset);
    return status;
}

static char folder[] = "/tmp/rubble-test-rbl-XXXXXX";
static char path[100];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/a.rbl", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static rbl_status write_file(rbl_context *ctx, const rbl_collection *asset)
{
    rbli_file_writer *writer = NULL;
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_file_writer_open(ctx, path, &writer));
    rbli_file_writer_skip_sync(writer);
    RBL_TRY(rbli_rbl_write(ctx, asset, writer));
    status = rbli_file_writer_commit(ctx, writer);
    writer = NULL;
done:
    rbli_file_writer_discard(writer);
    return status;
}

static void assert_written_the_same(
    rbl_context *ctx, const rbl_collection *asset, const uint8_t *file, size_t bytes)
{
    uint8_t *written = NULL;
    size_t count;
    assert_ok(ctx, write_file(ctx, asset));
    assert_ok(ctx, rbli_file_read(ctx, path, 0, &written, &count));
    assert_int_equal(count, bytes);
    assert_memory_equal(written, file, bytes);
    rbli_free(ctx, written);
}

static void what_is_encoded_is_decoded(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 5, 2000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *first = NULL;
        size_t first_bytes = 0;
        rbl_context *keep = make_context(1);
        for (int threads = 1; threads <= 4; threads *= 2) {
            rbl_context *ctx = make_context(threads);
            rbl_collection *asset = NULL, *back = NULL;
            uint8_t *file = NULL, *again = NULL;
            size_t bytes, again_bytes;
            assert_ok(ctx, make_everything(ctx, sizes[i], &asset));
            assert_ok(ctx, rbli_rbl_encode(ctx, asset, &file, &bytes));
            assert_ok(ctx, rbli_rbl_decode(ctx, "x", file, bytes, &back));
            assert_true(rbli_hash_equal(rbli_collection_hash(asset), rbli_collection_hash(back)));
            assert_int_equal(rbli_collection_size(back, "nothing"), 7);
            if (sizes[i] > 1) assert_ok(ctx, rbli_collection_validate(ctx, back, RBLI_VALIDATE_CLOSED));
            assert_ok(ctx, rbli_rbl_encode(ctx, back, &again, &again_bytes));
            assert_int_equal(bytes, again_bytes);
            assert_memory_equal(file, again, bytes);
            assert_written_the_same(ctx, asset, file, bytes);
            if (first) {
                assert_int_equal(bytes, first_bytes);
                assert_memory_equal(file, first, bytes);
            } else {
                first = rbli_alloc(keep, bytes, 1);
                memcpy(first, file, bytes);
                first_bytes = bytes;
            }
            rbli_free(ctx, file);
            rbli_free(ctx, again);
            rbli_collection_release(asset);
            rbli_collection_release(back);
            finish_context(ctx);
        }
        rbli_free(keep, first);
        finish_context(keep);
    }
}

static void an_empty_collection_is_a_header(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *empty = NULL, *back = NULL;
    uint8_t *file = NULL;
    size_t bytes;
    assert_ok(ctx, rbli_collection_create(ctx, &empty));
    assert_ok(ctx, rbli_rbl_encode(ctx, empty, &file, &bytes));
    assert_int_equal(bytes, 64);
    assert_ok(ctx, rbli_rbl_decode(ctx, "x", file, bytes, &back));
    assert_int_equal(rbli_collection_group_count(back), 0);
    rbli_collection_release(empty);
    rbli_collection_release(back);
    rbli_free(ctx, file);
    finish_context(ctx);
}

static void decode_refuses(
    rbl_context *ctx, const uint8_t *file, size_t bytes, const char *message_or_null, const char *what)
{
    rbl_collection *back = NULL;
    rbli_messages_clear(ctx->messages);
    rbl_status status = rbli_rbl_decode(ctx, "f.rbl", file, bytes, &back);
    if (status != RBL_ERR_PARSE || rbli_messages_count(ctx->messages) != 1) {
        print_error("%s: status %d\n", what, status);
        fail();
    }
    assert_null(back);
    const char *text = rbli_messages_get(ctx->messages, 0)->text;
    assert_int_equal(strncmp(text, "f.rbl: byte ", 12), 0);
    if (message_or_null) assert_string_equal(text, message_or_null);
}

static void every_changed_byte_is_noticed(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    uint8_t *file = NULL;
    size_t bytes;
    assert_ok(ctx, make_everything(ctx, 2, &asset));
    assert_ok(ctx, rbli_rbl_encode(ctx, asset, &file, &bytes));
    for (size_t i = 0; i < bytes; i++) {
        char what[60];
        uint8_t before = file[i];
        snprintf(what, sizeof what, "byte %zu changed", i);
        file[i] ^= (uint8_t)(1 << i % 8);
        decode_refuses(ctx, file, bytes, NULL, what);
        file[i] = before;
    }
    for (size_t i = 0; i < bytes; i += i < 3000 ? 1 : 37)
        decode_refuses(ctx, file, i, NULL, "a cut file");
    rbli_free(ctx, file);
    rbli_collection_release(asset);
    finish_context(ctx);
}

/// Damage with right checksums: anything may come out but a crash, and what comes out can be written and read
/// again.
static void damage_behind_the_checksums_is_harmless(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    uint8_t *file = NULL;
    size_t bytes, accepted = 0;
    assert_ok(ctx, make_everything(ctx, 2, &asset));
    assert_ok(ctx, rbli_rbl_encode(ctx, asset, &file, &bytes));
    uint8_t *damaged = rbli_alloc(ctx, bytes + 100, 1);
    size_t table_bytes = rbl_get(file + 24, 4) * 80 + rbl_get(file + 28, 4) * 144;
    uint32_t rounds = tries(5000, 20000);
    for (uint32_t seed = 0; seed < rounds; seed++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 2);
        size_t length = bytes;
        memcpy(damaged, file, bytes);
        uint32_t changes = 1 + rbli_rng_below(&rng, 3);
        for (uint32_t c = 0; c < changes; c++) {
            static const uint8_t odd[] = {0, 1, 2, 0x7f, 0x80, 0xff};
            bool in_table = rbli_rng_below(&rng, 4) > 0;
            size_t at = rbli_rng_below(&rng, (uint32_t)(in_table ? 64 + table_bytes : bytes));
            uint32_t kind = rbli_rng_below(&rng, 5);
            if (kind == 0)
                damaged[at] = odd[rbli_rng_below(&rng, sizeof odd)];
            else if (kind == 1)
                damaged[at] = (uint8_t)rbli_rng_u32(&rng);
            else if (kind == 2 && at + 8 <= bytes)
                memset(damaged + at, rbli_rng_below(&rng, 2) ? 0xff : 0, 8);
            else if (kind == 3)
                damaged[at] ^= (uint8_t)(1 << rbli_rng_below(&rng, 8));
            else
                length = rbli_rng_below(&rng, 8) == 0 ? at : length + rbli_rng_below(&rng, 2);
        }
        if (length > bytes) memset(damaged + bytes, 0, length - bytes);
        repair_rbl_checksums(damaged, length);
        rbl_collection *back = NULL, *twice = NULL;
        rbl_status status = rbli_rbl_decode(ctx, "f.rbl", damaged, length, &back);
        rbli_messages_clear(ctx->messages);
        if (status == RBL_OK) {
            uint8_t *again = NULL;
            size_t again_bytes;
            accepted++;
            assert_ok(ctx, rbli_rbl_encode(ctx, back, &again, &again_bytes));
            assert_ok(ctx, rbli_rbl_decode(ctx, "f.rbl", again, again_bytes, &twice));
            if (!rbli_hash_equal(rbli_collection_hash(back), rbli_collection_hash(twice))) {
                print_error("seed %u\n", seed);
                fail();
            }
            rbli_free(ctx, again);
        } else if (status != RBL_ERR_PARSE) {
            print_error("seed %u: status %d\n", seed, status);
            fail();
        }
        rbli_collection_release(back);
        rbli_collection_release(twice);
    }
    assert_true(accepted > rounds / 200 && accepted < rounds / 4 * 3);
    rbli_free(ctx, damaged);
    rbli_free(ctx, file);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void put_u32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}
static void put_u64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

/// A hand-made file: two groups "a" (3 elements) and "b" (1), a.x int32, a.y list of char, b.z double.
static rbl_status encode_small(rbl_context *ctx, uint8_t **file, size_t *bytes)
{
    rbl_status status;
    rbl_collection *made = NULL;
    rbli_buffer *strings = NULL;
    void *elements;
    RBL_TRY(rbli_collection_create(ctx, &made));
    RBL_TRY(rbli_collection_resize(ctx, made, "a", 3));
    RBL_TRY(rbli_collection_resize(ctx, made, "b", 1));
    RBL_TRY(rbli_collection_write(ctx, made, "a", "x", RBL_INT32, &elements));
    RBL_TRY(rbli_collection_write(ctx, made, "b", "z", RBL_DOUBLE, &elements));
    RBL_TRY(rbli_buffer_create_strings(ctx, 3, (const char *const[]){"one", "", "three"}, &strings));
    RBL_TRY(rbli_collection_set(ctx, made, "a", "y", strings));
    RBL_TRY(rbli_rbl_encode(ctx, made, file, bytes));
done:
    rbli_buffer_release(strings);
    rbli_collection_release(made);
    return status;
}

static void hostile_files_are_refused_with_the_place(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    uint8_t *good = NULL, bad[1000];
    size_t bytes;
    assert_ok(ctx, encode_small(ctx, &good, &bytes));
    /* Table: groups at 64 and 144, rows of a.x, a.y, b.z at 224, 368, 512; blocks at 704, 768, 832, 896; 904
     * bytes. */
    assert_int_equal(bytes, 904);
    static const struct {
        size_t at, width;
        uint64_t value;
        const char *message;
    } faults[] = {
        {0, 1, 'x', "f.rbl: byte 0: not an .rbl file"},
        {8, 4, 2, "f.rbl: byte 8: version 2, expected 1"},
        {12, 4, 1, "f.rbl: byte 12: reserved bytes are not 0"},
        {24, 4, 0xffffffff,
            "f.rbl: byte 24: a table of 4294967295 groups and 3 attributes does not fit in the file"},
        {28, 4, 0xffffffff,
            "f.rbl: byte 24: a table of 2 groups and 4294967295 attributes does not fit in the file"},
        {28, 4, 2, "f.rbl: byte 28: 2 attributes, but the groups have 3"},
        {32, 8, UINT64_MAX,
            "f.rbl: byte 32: 18446744073709551615 bytes unpacked, which is more than a file of 904 bytes may "
            "hold"},
        {32, 8, 61, "f.rbl: byte 32: 1 bytes unpacked are in no block"},
        {32, 8, 59, "f.rbl: byte 600: a block of 8 bytes unpacked exceeds the stated total"},
        {64, 1, 'b', "f.rbl: byte 144: group b does not come after b"},
        {64, 1, 'A', "f.rbl: byte 64: not a valid name"},
        {64 + 63, 1, 'a', "f.rbl: byte 64: not a valid name"},
        {64 + 64, 8, UINT64_MAX, "f.rbl: byte 128: a has 18446744073709551615 elements"},
        {64 + 64, 8, 2, "f.rbl: byte 312: x has 12 bytes of int32 for 2 elements"},
        {64 + 72, 4, 1, "f.rbl: byte 28: 3 attributes, but the groups have 2"},
        {224, 1, 'y', "f.rbl: byte 368: attribute y does not come after y"},
        {224 + 64, 4, 16, "f.rbl: byte 288: x has type 16, list 0"},
        {224 + 68, 4, 2, "f.rbl: byte 288: x has type 2, list 2"},
        {224 + 72, 8, 705, "f.rbl: byte 296: a block at 705, expected at 704"},
        {368 + 72, 8, 704, "f.rbl: byte 440: a block at 704, expected at 768"},
        {368 + 72 + 8, 8, UINT64_MAX,
            "f.rbl: byte 448: a block of 18446744073709551615 bytes does not fit in the file"},
        {368 + 72 + 16, 8, 9, "f.rbl: byte 472: packing 0 of 9 bytes as 8"},
        {224 + 72 + 32, 4, 2, "f.rbl: byte 328: packing 2 of 12 bytes as 12"},
        {224 + 72 + 32, 4, 1, "f.rbl: byte 704: not one zstd frame of 12 bytes"},
        {224 + 108 + 24, 8, 1, "f.rbl: byte 332: x is no list, but has offsets"},
        {704 + 12, 1, 1, "f.rbl: byte 716: bytes between blocks are not 0"},
        {768, 1, 0, "f.rbl: byte 768: a.y: string 0 is not UTF-8 without zero bytes"},
        {768, 1, 0xff, "f.rbl: byte 768: a.y: string 0 is not UTF-8 without zero bytes"},
        {832, 8, 1, "f.rbl: byte 832: offsets of a.y do not ascend from 0 to 8"},
        {840, 8, 9, "f.rbl: byte 832: offsets of a.y do not ascend from 0 to 8"},
        {856, 8, 7, "f.rbl: byte 832: offsets of a.y do not ascend from 0 to 8"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        memcpy(bad, good, bytes);
        if (faults[i].width == 1)
            bad[faults[i].at] = (uint8_t)faults[i].value;
        else if (faults[i].width == 4)
            put_u32(bad + faults[i].at, (uint32_t)faults[i].value);
        else
            put_u64(bad + faults[i].at, faults[i].value);
        if (faults[i].at >= 24 || faults[i].at == 12) {
            /* Checksums of blocks must stay as they are where the fault is in one. */
            uint8_t row[8];
            memcpy(row, bad + 224 + 108 + 24, 8);
            repair_rbl_checksums(bad, bytes);
            memcpy(bad + 224 + 108 + 24, row, 8);
            size_t table_bytes = rbl_get(bad + 24, 4) * 80 + rbl_get(bad + 28, 4) * 144;
            if (table_bytes <= bytes - 64) put_u64(bad + 48, rbli_hash64(bad + 64, table_bytes));
            put_u64(bad + 56, rbli_hash64(bad, 56));
        }
        decode_refuses(ctx, bad, bytes, faults[i].message, faults[i].message);
    }
    memcpy(bad, good, bytes);
    bad[bytes] = 0;
    decode_refuses(
        ctx, bad, bytes + 1, "f.rbl: byte 16: a file of 904 bytes, but there are 905", "a byte behind");
    repair_rbl_checksums(bad, bytes + 1);
    decode_refuses(ctx, bad, bytes + 1, "f.rbl: byte 904: bytes behind the last block", "a byte behind");
    rbli_free(ctx, good);
    finish_context(ctx);
}

/// Zeros pack so well that the rule against bombs would refuse them: then they are stored as they are.
static void much_of_the_same_can_still_be_read(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    rbl_collection *made = NULL, *back = NULL;
    void *elements;
    uint8_t *file = NULL;
    size_t bytes;
    assert_ok(ctx, rbli_collection_create(ctx, &made));
    assert_ok(ctx, rbli_collection_resize(ctx, made, "a", 2100000));
    assert_ok(ctx, rbli_collection_write(ctx, made, "a", "x", RBL_DOUBLE, &elements));
    assert_ok(ctx, rbli_rbl_encode(ctx, made, &file, &bytes));
    assert_true(bytes < 10000);
    rbli_free(ctx, file);
    assert_ok(ctx, rbli_collection_write(ctx, made, "a", "m", RBL_MAT4, &elements));
    assert_ok(ctx, rbli_rbl_encode(ctx, made, &file, &bytes));
    assert_ok(ctx, rbli_rbl_decode(ctx, "x", file, bytes, &back));
    assert_true(rbli_hash_equal(rbli_collection_hash(made), rbli_collection_hash(back)));
    rbli_free(ctx, file);
    rbli_collection_release(made);
    rbli_collection_release(back);
    finish_context(ctx);
}

static rbl_status encode_and_decode(rbl_context *ctx, void *user)
{
    (void)user;
    rbl_status status;
    rbl_collection *asset = NULL, *back = NULL;
    uint8_t *file = NULL;
    size_t bytes;
    RBL_TRY(make_everything(ctx, 3, &asset));
    RBL_TRY(rbli_rbl_encode(ctx, asset, &file, &bytes));
    RBL_TRY(rbli_rbl_decode(ctx, "x", file, bytes, &back));
    RBL_TRY(write_file(ctx, asset));
done:
    rbli_free(ctx, file);
    rbli_collection_release(asset);
    rbli_collection_release(back);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(encode_and_decode, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encoded_is_decoded),
        cmocka_unit_test(an_empty_collection_is_a_header),
        cmocka_unit_test(every_changed_byte_is_noticed),
        cmocka_unit_test(damage_behind_the_checksums_is_harmless),
        cmocka_unit_test(hostile_files_are_refused_with_the_place),
        cmocka_unit_test(much_of_the_same_can_still_be_read),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
