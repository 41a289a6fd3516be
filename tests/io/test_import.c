#include "tests/check.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "fracture/base/file.h"
#include "fracture/io/mesh_file.h"
#include "tests/failing_alloc.h"

static const char triangle_gltf[] =
    "{\"asset\":{\"version\":\"2.0\"},\"accessors\":[{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"nodes\":[{\"mesh\":0}]}";

static const char *fake(void)
{
    return getenv("RUBBLE_FAKE_IMPORT");
}

static void use_fake(const char *seconds)
{
    if (!fake()) skip();
    setenv("RUBBLE_IMPORT", fake(), 1);
    setenv("RUBBLE_IMPORT_SECONDS", seconds, 1);
    unsetenv("RUBBLE_IMPORT_MEMORY");
}

static rbl_status parse_text(rbl_context *ctx, const char *text, rbli_mesh_file *out)
{
    return rbli_mesh_file_parse_fbx(ctx, "a.fbx", (const uint8_t *)text, strlen(text), NULL, out);
}

/// The fake program is told `text`; it ends with `status` and a message that has `words`.
static void expect(const char *text, rbl_status status, const char *words)
{
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    rbl_status got = parse_text(ctx, text, &file);
    if (got != status) {
        print_error("%s: %s\n", text, rbl_status_text(got));
        print_messages(ctx);
    }
    assert_int_equal(got, status);
    assert_int_equal(rbli_messages_count(ctx->messages), 1);
    const char *said = rbli_messages_get(ctx->messages, 0)->text;
    if (!strstr(said, words) || strncmp(said, "a.fbx", 5) != 0) fail_msg("%s: %s", text, said);
    finish_context(ctx);
}

static void every_odd_end_is_told(void **state)
{
    (void)state;
    use_fake("30");
    expect("crash\n", RBL_ERR_PARSE, "crashed on it (signal 11)");
    expect("refuse\n", RBL_ERR_PARSE, "a.fbx: line 7: ? bad");
    expect("status\n", RBL_ERR_PARSE, "exit status 9");
    expect("nothing\n", RBL_ERR_PARSE, "0 bytes that are no GLB");
    expect("garbage\nabcdefgh", RBL_ERR_PARSE, "8 bytes that are no GLB");
    expect("glb\nglTF\2", RBL_ERR_PARSE, "byte 5: the file ends in its header");
    expect("flood\n", RBL_ERR_LIMIT, "gives more than 64 MiB");
}

/// A call in a thread of its own.
typedef struct attempt {
    const char *text;
    rbl_status status;
    char said[300];
    pthread_t thread;
} attempt;

static void *try_it(void *user)
{
    attempt *a = user;
    rbl_context *ctx = NULL;
    rbli_mesh_file file;
    if (rbli_context_create(1, &ctx) != RBL_OK) return NULL;
    a->status = parse_text(ctx, a->text, &file);
    if (rbli_messages_count(ctx->messages) == 1)
        snprintf(a->said, sizeof a->said, "%s", rbli_messages_get(ctx->messages, 0)->text);
    rbli_context_destroy(ctx);
    return NULL;
}

static void what_does_not_end_is_stopped(void **state)
{
    (void)state;
    use_fake("1");
    attempt attempts[] = {
        {.text = "spin\n"}, {.text = "sleep\n"}, {.text = "close\n"}, {.text = "complain\n"}};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&attempts[i].thread, NULL, try_it, &attempts[i]), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(attempts[i].thread, NULL);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(attempts[i].status, RBL_ERR_LIMIT);
        assert_non_null(strstr(attempts[i].said, "stopped"));
        if (i == 1 || i == 2)
            assert_non_null(strstr(attempts[i].said, "does not end: it was stopped after 3 s"));
    }
}

static void memory_is_limited(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    skip();
#endif
#endif
    use_fake("30");
    expect("eat\n", RBL_ERR_LIMIT, "needs more than 1024 MiB");
    setenv("RUBBLE_IMPORT_MEMORY", "100", 1);
    expect("eat\n", RBL_ERR_LIMIT, "needs more than 100 MiB");
    unsetenv("RUBBLE_IMPORT_MEMORY");
}

static void it_gets_no_other_descriptor(void **state)
{
    (void)state;
    use_fake("30");
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    int inherited = dup(1); /* without O_CLOEXEC */
    expect("surroundings\n", RBL_ERR_PARSE, "0 bytes that are no GLB");
    close(inherited);
    /* A host without standard descriptors, and one that waits for no child. */
    int input = dup(0);
    close(0);
    signal(SIGCHLD, SIG_IGN);
    assert_int_equal(parse_text(ctx, "garbage\nabcdefgh", &file), RBL_ERR_PARSE);
    signal(SIGCHLD, SIG_DFL);
    dup2(input, 0);
    close(input);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "8 bytes that are no GLB"));
    finish_context(ctx);
}

static void a_missing_program_is_told(void **state)
{
    (void)state;
    setenv("RUBBLE_IMPORT", "/nowhere/rubble-import", 1);
    expect("", RBL_ERR_READ, "the program that RUBBLE_IMPORT names is not there: /nowhere/rubble-import");
    setenv("RUBBLE_IMPORT", "/etc/passwd", 1);
    expect("", RBL_ERR_READ, "is not there");
    setenv("RUBBLE_IMPORT", "/tmp", 1); /* a folder */
    expect("", RBL_ERR_READ, "cannot be started");
    unsetenv("RUBBLE_IMPORT");
}

typedef struct later {
    atomic_bool flag;
} later;

static void *set_later(void *user)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    atomic_store(&((later *)user)->flag, true);
    return NULL;
}

static void it_can_be_cancelled(void **state)
{
    (void)state;
    use_fake("30");
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    later cancel = {false};
    pthread_t thread;
    ctx->cancel = &cancel.flag;
    assert_int_equal(pthread_create(&thread, NULL, set_later, &cancel), 0);
    assert_int_equal(parse_text(ctx, "sleep\n", &file), RBL_ERR_CANCELLED);
    pthread_join(thread, NULL);
    ctx->cancel = NULL;
    finish_context(ctx);
}

/* ---- The real program ---- */

static const char *source(const char *name)
{
    static char path[600];
    const char *root = getenv("RUBBLE_SOURCE");
    snprintf(path, sizeof path, "%s/tests/io/import/%s", root ? root : ".", name);
    return path;
}

static bool use_real(void)
{
    const char *real = getenv("RUBBLE_REAL_IMPORT");
    if (!real || !*real) return false;
    setenv("RUBBLE_IMPORT", real, 1);
    unsetenv("RUBBLE_IMPORT_SECONDS");
    unsetenv("RUBBLE_IMPORT_MEMORY");
    return true;
}

static double signed_volume(const rbli_mesh_file *file, int32_t node)
{
    double sum = 0;
    for (size_t t = 0; t < file->triangle_count; t++) {
        const double *a = file->positions[file->triangles[t][0]], *b = file->positions[file->triangles[t][1]];
        const double *c = file->positions[file->triangles[t][2]];
        if (file->triangle_nodes[t] == node)
            sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                   a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6;
}

static int32_t find_node(const rbli_mesh_file *file, const char *name)
{
    for (size_t n = 0; n < file->node_count; n++)
        if (strcmp(file->nodes[n].name, name) == 0) return (int32_t)n;
    print_error("no node %s\n", name);
    fail();
    return -1;
}

/// Area of the front side (z = ½) of the block: its concave polygon was cut inside its outline.
static double front_area(const rbli_mesh_file *file, int32_t node)
{
    double sum = 0;
    for (size_t t = 0; t < file->triangle_count; t++) {
        const double *a = file->positions[file->triangles[t][0]], *b = file->positions[file->triangles[t][1]];
        const double *c = file->positions[file->triangles[t][2]];
        bool front = fabs(a[2] - 0.5) < 1e-6 && fabs(b[2] - 0.5) < 1e-6 && fabs(c[2] - 0.5) < 1e-6;
        if (front && file->triangle_nodes[t] == node)
            sum += fabs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2;
    }
    return sum;
}

static void check_attributes(const rbli_mesh_file *file)
{
    assert_non_null(file->normals);
    assert_int_equal(file->uv_set_count, 1);
    int32_t block = find_node(file, "block");
    for (size_t t = 0; t < file->triangle_count; t++) {
        const double *p[3];
        for (int k = 0; k < 3; k++)
            p[k] = file->positions[file->triangles[t][k]];
        double u[3], v[3], n[3];
        for (int k = 0; k < 3; k++) {
            u[k] = p[1][k] - p[0][k];
            v[k] = p[2][k] - p[0][k];
        }
        for (int k = 0; k < 3; k++)
            n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; k++) {
            const float *normal = file->normals[3 * t + (size_t)k], *uv = file->uvs[0][3 * t + (size_t)k];
            for (int i = 0; i < 3; i++)
                assert_close((double)normal[i], n[i] / length, 1e-5);
            if (file->triangle_nodes[t] != block) continue;
            assert_close((double)uv[0], p[k][0] / 4 + 0.5, 1e-5);
            assert_close((double)uv[1], 1 - p[k][1], 1e-5);
        }
    }
}

static void check_materials(const rbli_mesh_file *file, bool textured)
{
    int32_t block = find_node(file, "block");
    assert_int_equal(file->material_count, 2);
    for (size_t t = 0; t < file->triangle_count; t++) {
        const char *wanted = file->triangle_nodes[t] == block ? "red" : "blue";
        assert_string_equal(file->materials[file->triangle_materials[t]].name, wanted);
    }
    for (size_t m = 0; m < 2; m++) {
        const rbli_mesh_file_material *material = &file->materials[m];
        bool red = strcmp(material->name, "red") == 0;
        if (!red) assert_close((double)material->base_color[2], 0.8, 1e-6);
        assert_int_equal(material->look.textures[RBLI_TEXTURE_BASE_COLOR] >= 0, red && textured);
        if (red && textured) assert_string_equal(material->texture, "paint.png");
    }
    assert_int_equal(file->image_count, textured ? 1 : 0);
}

static void scenes_come_in_metres_with_all_they_have(void **state)
{
    (void)state;
    static const char *const names[] = {"scene.fbx", "binary.fbx", "scene.dae", "scene.3mf", "stored.3mf"};
    if (!use_real()) skip();
    for (size_t i = 0; i < 5; i++) {
        bool has_tree = i < 3; /* 3MF has none, and no texture */
        rbl_context *ctx = make_context(1);
        rbli_mesh_file file;
        assert_ok(ctx, rbli_mesh_file_read(ctx, source(names[i]), &file));
        assert_int_equal(file.triangle_count, 32);
        assert_int_equal(file.message_count, 0);
        int32_t block = find_node(&file, "block"), tower = find_node(&file, "tower");
        if (has_tree) assert_int_equal(file.nodes[tower].parent, block);
        assert_close(signed_volume(&file, block), 1.5, 1e-6);
        assert_close(signed_volume(&file, tower), 0.125, 1e-6);
        assert_close(front_area(&file, block), 1.5, 1e-6);
        double most = 0;
        for (size_t v = 0; v < file.position_count; v++)
            most = fmax(most, file.positions[v][1]);
        assert_close(most, 1.5, 1e-6);
        if (has_tree) check_attributes(&file);
        check_materials(&file, has_tree);
        rbli_mesh_file_free(ctx, &file);
        finish_context(ctx);
    }
}

static void damaged_scenes_are_errors(void **state)
{
    (void)state;
    static const char *const names[] = {"scene.fbx", "scene.dae", "scene.3mf"};
    if (!use_real()) skip();
    for (size_t i = 0; i < 3; i++) {
        rbl_context *ctx = make_context(1);
        rbli_mesh_file file;
        uint8_t *bytes;
        size_t count;
        assert_ok(ctx, rbli_file_read(ctx, source(names[i]), 0, &bytes, &count));
        rbl_status (*parse[])(rbl_context *, const char *, const uint8_t *, size_t, const rbli_mesh_folder *,
            rbli_mesh_file *) = {
            rbli_mesh_file_parse_fbx, rbli_mesh_file_parse_dae, rbli_mesh_file_parse_3mf};
        rbl_status status = parse[i](ctx, names[i], bytes, count / 2, NULL, &file);
        assert_int_equal(status, RBL_ERR_PARSE);
        assert_int_equal(strncmp(rbli_messages_get(ctx->messages, 0)->text, names[i], strlen(names[i])), 0);
        rbli_free(ctx, bytes);
        finish_context(ctx);
    }
}

/// "glb", a line end, and a GLB of a triangle, for the fake program to give back.
static size_t put_glb(uint8_t out[600])
{
    size_t json = strlen(triangle_gltf), padded = (json + 3) / 4 * 4;
    uint32_t header[5] = {0x46546C67, 2, (uint32_t)(20 + padded), (uint32_t)padded, 0x4E4F534A};
    memcpy(out, "glb\n", 4);
    memcpy(out + 4, header, sizeof header);
    memset(out + 24, ' ', padded);
    memcpy(out + 24, triangle_gltf, json);
    return 24 + padded;
}

static rbl_status read_glb(rbl_context *ctx, void *user)
{
    uint8_t bytes[600];
    rbli_mesh_file file = {0};
    (void)user;
    rbl_status status = rbli_mesh_file_parse_fbx(ctx, "a.fbx", bytes, put_glb(bytes), NULL, &file);
    if (status == RBL_OK) rbli_mesh_file_free(ctx, &file);
    return status;
}

static void each_failing_allocation_is_told(void **state)
{
    (void)state;
    use_fake("30");
    assert_true(fail_each_allocation(read_glb, NULL, 12) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_odd_end_is_told),
        cmocka_unit_test(what_does_not_end_is_stopped),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(it_gets_no_other_descriptor),
        cmocka_unit_test(a_missing_program_is_told),
        cmocka_unit_test(it_can_be_cancelled),
        cmocka_unit_test(each_failing_allocation_is_told),
        cmocka_unit_test(scenes_come_in_metres_with_all_they_have),
        cmocka_unit_test(damaged_scenes_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
