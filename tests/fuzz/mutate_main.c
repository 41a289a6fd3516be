/// Reads damaged variants of small files of every format: `mutate CORPUS [COUNT] [FORMAT…]`. What comes must be an error
/// that names the file and the place, or a mesh as mesh_file.h promises, in bounded memory and time.
///
/// Variants run in a process of each format; a crash, a failed check or a hang is told with the number of the variant,
/// which is written to a file, and the process goes on behind it. Exit 1 when there was one. RUBBLE_MUTATE_RANGE=FIRST-END
/// takes a part of the variants, for several processes at a time.

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fracture/collection/material.h"
#include "fracture/io/image_read.h"
#include "fracture/io/points_json.h"
#include "tests/fuzz/mesh_file.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/warm_import.h"

/* Fuzz targets that check what they read themselves: fuzz_NAME.c and its corpus. */
#define TARGETS(use)                                                                                         \
    use(cache_entry) use(format) use(graph) use(manifest) use(record) use(redis) use(request) use(set)       \
        use(text)
#define DECLARE(name) int fuzz_##name(const uint8_t *bytes, size_t count);
TARGETS(DECLARE)
DECLARE(mtl)
DECLARE(rbl)

#if defined(__SANITIZE_ADDRESS__)
#define DEFAULT_COUNT 2000
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DEFAULT_COUNT 2000
#endif
#endif
#ifndef DEFAULT_COUNT
#define DEFAULT_COUNT 300
#endif

enum {
    MOST_SEEDS = 400,
    MOST_FAULTS = 20,
    HANG_SECONDS = 60,
    MOST_SECONDS = 10, /* of one variant */
    MOST_MEMORY_MIB = 512,
};

typedef struct format {
    const char *name;   /* also the file's ending */
    const char *folder; /* of the seeds in the corpus */
    const char *ending; /* of the seeds; "" for all */
    void (*run)(const uint8_t *bytes, size_t count);
    /* Read by rubble-import. */
    bool by_child;
    /* Makes a variant; NULL: make_variant. */
    uint8_t *(*make)(const uint8_t *, size_t, size_t, size_t, size_t *);
} format;

/// What the process of a format tells the one that watches it.
typedef struct board {
    bool by_child;         /* the errors are those of assimp */
    volatile bool is_ours; /* a sanitizer found a fault of rubble-import that is not assimp's */
    size_t number, meshes, errors, crashes, stops;
    double most_seconds;
    size_t most_bytes;
    char odd[300]; /* an error that names no place */
    size_t odd_count;
} board;

static board *shared;

/* ---- What must hold ---- */

/// Whether an error says where: a line, a byte, a place in JSON, an element; or that something of the whole is missing.
static bool names_place(const char *text)
{
    static const char *const words[] = {": byte ", ": /", ": no triangles", ": point ",
        ": the PNG is damaged", ": this is no PNG", ": this is no", "(from rubble-import)", ": an image of",
        "its nodes unfold", "rubble-import"};
    if (strncmp(text, "input", 5) != 0) return false;
    if (text[5] == ':' && text[6] >= '0' && text[6] <= '9') return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i])) return true;
    return false;
}

/// What assimp does is told, whatever it is. What our own part of the program does must be right.
static void check_child_error(const char *text)
{
    REQUIRE(strncmp(text, "input: ", 7) == 0 || strncmp(text, "input (", 7) == 0);
    REQUIRE(!shared->is_ours);
    shared->crashes += strstr(text, "failed on it") != NULL || strstr(text, "crashed on it") != NULL;
    shared->stops += strstr(text, "stopped") != NULL || strstr(text, "MiB of memory") != NULL;
}

static void check_error(const rbl_context *ctx, rbl_status status)
{
    REQUIRE(status == RBL_ERR_PARSE || status == RBL_ERR_LIMIT || status == RBL_ERR_READ);
    REQUIRE(!shared->by_child || status != RBL_ERR_READ); /* the program must be there */
    REQUIRE(rbli_messages_count(ctx->messages) > 0);
    const char *text = rbli_messages_get(ctx->messages, rbli_messages_count(ctx->messages) - 1)->text;
    shared->errors++;
    if (getenv("RUBBLE_SHOW_ERRORS")) printf("%s\n", text);
    if (shared->by_child) {
        check_child_error(text);
        return;
    }
    if (names_place(text)) return;
    if (shared->odd_count++ == 0) snprintf(shared->odd, sizeof shared->odd, "%s", text);
}

static void finish(rbl_context *ctx)
{
    size_t peak = rbli_allocator_peak_bytes(ctx->allocator);
    if (peak > shared->most_bytes) shared->most_bytes = peak;
    REQUIRE(peak <= (size_t)MOST_MEMORY_MIB << 20);
    rbli_messages_clear(ctx->messages);
    REQUIRE(rbli_allocator_bytes(ctx->allocator) < 100000); /* the context's own */
    rbli_context_destroy(ctx);
}

static void run_mesh(mesh_parse_fn parse, const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    rbli_mesh_file file = {0};
    REQUIRE(rbli_context_create(1, &ctx) == RBL_OK);
    rbl_status status = parse(ctx, "input", bytes, count, NULL, &file);
    if (status == RBL_OK) {
        shared->meshes++;
        check_mesh_file(&file);
        rbli_mesh_file_free(ctx, &file);
    } else {
        check_error(ctx, status);
    }
    finish(ctx);
}

#define MESH_RUNNER(format)                                                                                  \
    static void run_##format(const uint8_t *bytes, size_t count)                                             \
    {                                                                                                        \
        run_mesh(rbli_mesh_file_parse_##format, bytes, count);                                               \
    }
MESH_RUNNER(obj)
MESH_RUNNER(stl)
MESH_RUNNER(ply)
MESH_RUNNER(off)
MESH_RUNNER(gltf)
#ifdef RUBBLE_WITH_IMPORT
MESH_RUNNER(fbx)
MESH_RUNNER(dae)
MESH_RUNNER(3mf)
#endif

#define TARGET_RUNNER(name)                                                                                  \
    static void run_##name(const uint8_t *bytes, size_t count)                                               \
    {                                                                                                        \
        fuzz_##name(bytes, count);                                                                           \
    }
TARGETS(TARGET_RUNNER)
TARGET_RUNNER(mtl)
TARGET_RUNNER(rbl)

static void run_points(const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    double(*points)[3] = NULL;
    size_t point_count = 0;
    REQUIRE(rbli_context_create(1, &ctx) == RBL_OK);
    rbl_status status =
        rbli_read_points_json(ctx, "input", (const char *)bytes, count, &points, &point_count);
    for (size_t i = 0; status == RBL_OK && i < point_count; i++)
        REQUIRE(isfinite(points[i][0]) && isfinite(points[i][1]) && isfinite(points[i][2]));
    if (status != RBL_OK) check_error(ctx, status);
    shared->meshes += status == RBL_OK;
    rbli_free(ctx, points);
    finish(ctx);
}

/// Pictures of painted masks, and the looks that are taken at images that are only passed on.
static void run_image(const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    rbli_image image = {0};
    REQUIRE(rbli_context_create(1, &ctx) == RBL_OK);
    rbli_image_type_of_bytes(bytes, count);
    rbl_status status = rbli_image_parse(ctx, "input", bytes, count, &image);
    if (status == RBL_OK) {
        double value = rbli_image_sample(&image, 0.3, 0.7, -1);
        REQUIRE(value >= 0 && value <= 1);
        rbli_image_free(ctx, &image);
    } else {
        check_error(ctx, status);
    }
    shared->meshes += status == RBL_OK;
    finish(ctx);
}

static const format formats[] = {
    {"obj", "obj", ".obj", run_obj, false, NULL},
    {"mtl", "mtl", ".mtl", run_mtl, false, NULL},
    {"stl", "stl", ".stl", run_stl, false, NULL},
    {"ply", "ply", ".ply", run_ply, false, NULL},
    {"off", "off", "", run_off, false, NULL},
    {"gltf", "gltf", ".gltf", run_gltf, false, NULL},
    {"glb", "gltf", ".glb", run_gltf, false, NULL},
    {"rbl", "rbl", ".rbl", run_rbl, false, NULL},
    {"points", "points", ".json", run_points, false, NULL},
    {"image", "image", "", run_image, false, NULL},
#define TARGET(name) {#name, #name, "", run_##name, false, NULL},
    TARGETS(TARGET)
#ifdef RUBBLE_WITH_IMPORT
        {"fbx", "../../io/import", ".fbx", run_fbx, true, NULL},
    {"dae", "../../io/import", ".dae", run_dae, true, NULL},
    {"3mf", "../../io/import", ".3mf", run_3mf, true, make_3mf_variant},
#endif
};

/* ---- Seeds ---- */

typedef struct seed {
    char *name;
    uint8_t *bytes;
    size_t count;
} seed;

static bool read_seed(const char *path, seed *out)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) return false;
    out->count = (size_t)ftell(file);
    rewind(file);
    out->bytes = malloc(out->count + 1);
    bool good = out->bytes && fread(out->bytes, 1, out->count, file) == out->count;
    fclose(file);
    return good;
}

static size_t read_seeds(const char *corpus, const format *f, seed seeds[MOST_SEEDS])
{
    char folder[2000], path[3000];
    struct dirent **entries = NULL;
    size_t count = 0, length = strlen(f->ending);
    snprintf(folder, sizeof folder, "%s/%s", corpus, f->folder);
    int entry_count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < entry_count; i++) {
        const char *name = entries[i]->d_name;
        size_t name_length = strlen(name);
        if (name[0] == '.' || name_length < length || strcmp(name + name_length - length, f->ending) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (count < MOST_SEEDS && read_seed(path, &seeds[count])) seeds[count++].name = strdup(name);
    }
    for (int i = 0; i < entry_count; i++)
        free(entries[i]);
    free(entries);
    return count;
}

/* ---- Processes ---- */

/// Variant `number` of a format: seeds take turns.
static uint8_t *variant_of(
    const format *f, const seed *seeds, size_t seed_count, size_t number, size_t variants, size_t *count)
{
    const seed *s = &seeds[number % seed_count];
    return (f->make ? f->make : make_variant)(
        s->bytes, s->count, number / seed_count, variants / seed_count, count);
}

static void run_variants(
    const format *f, const seed *seeds, size_t seed_count, size_t first, size_t end, size_t variants)
{
    for (size_t n = first; n < end; n++) {
        size_t count = 0;
        uint8_t *bytes = variant_of(f, seeds, seed_count, n, variants, &count);
        REQUIRE(bytes != NULL);
        shared->number = n;
        clock_t start = clock();
        f->run(bytes, count);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (seconds > shared->most_seconds) shared->most_seconds = seconds;
        REQUIRE(seconds < MOST_SECONDS);
        free(bytes);
    }
}

/// Waits for the process; one that stays at a variant is ended.
static int watch(pid_t process)
{
    int state = 0, waited = 0;
    size_t seen = SIZE_MAX;
    while (waitpid(process, &state, WNOHANG) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        waited = seen == shared->number ? waited + 1 : 0;
        seen = shared->number;
        if (waited > HANG_SECONDS * 50) kill(process, SIGKILL);
    }
    return state;
}

static void tell_fault(const format *f, const seed *seeds, size_t seed_count, size_t variants, int state)
{
    char path[200];
    size_t count = 0, n = shared->number;
    uint8_t *bytes = variant_of(f, seeds, seed_count, n, variants, &count);
    snprintf(path, sizeof path, "%s-%zu.%s", f->name, n, f->name);
    FILE *file = bytes ? fopen(path, "wb") : NULL;
    if (file) {
        fwrite(bytes, 1, count, file);
        fclose(file);
    }
    free(bytes);
    printf("FAIL %s: variant %zu of %zu, of %s: %s %d; see %s\n", f->name, n, variants,
        seeds[n % seed_count].name, WIFSIGNALED(state) ? "signal" : "exit status",
        WIFSIGNALED(state) ? WTERMSIG(state) : WEXITSTATUS(state), path);
}

static size_t try_format(const char *corpus, const format *f, size_t variants)
{
    static seed seeds[MOST_SEEDS];
    size_t seed_count = read_seeds(corpus, f, seeds), faults = 0;
    memset(shared, 0, sizeof *shared);
    shared->by_child = f->by_child;
    if (seed_count == 0) {
        printf("FAIL %s: no seeds\n", f->name);
        return 1;
    }
    size_t begin = 0, end = variants;
    const char *range = getenv("RUBBLE_MUTATE_RANGE");
    if (range && sscanf(range, "%zu-%zu", &begin, &end) == 2 && end > variants) end = variants;
    for (size_t first = begin; first < end && faults < MOST_FAULTS;) {
        fflush(stdout);
        pid_t process = fork();
        if (process == 0) {
            run_variants(f, seeds, seed_count, first, end, variants);
            exit(0);
        }
        int state = process > 0 ? watch(process) : 1 << 8;
        if (state == 0) break;
        faults++;
        shared->is_ours = false;
        tell_fault(f, seeds, seed_count, variants, state);
        first = shared->number + 1;
    }
    if (shared->odd_count) {
        printf("FAIL %s: %zu errors name no place, as: %s\n", f->name, shared->odd_count, shared->odd);
        faults++;
    }
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    printf("%-6s %zu variants of %zu seeds: %zu read, %zu errors; at most %.2f s, %.1f MiB; %zu faults\n",
        f->name, end - begin, seed_count, shared->meshes, shared->errors, shared->most_seconds,
        (double)shared->most_bytes / 1048576, faults);
    if (f->by_child)
        printf("       rubble-import crashed on %zu and was stopped on %zu of them\n", shared->crashes,
            shared->stops);
    for (size_t i = 0; i < seed_count; i++) {
        free(seeds[i].name);
        free(seeds[i].bytes);
    }
    return faults;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 3; i < argc; i++)
        if (strcmp(argv[i], name) == 0) return true;
    return argc <= 3;
}

int main(int argc, char **argv)
{
    size_t count = argc > 2 ? (size_t)atol(argv[2]) : DEFAULT_COUNT, faults = 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc < 2 || count < 4 || shared == MAP_FAILED) {
        fprintf(stderr, "usage: mutate CORPUS [COUNT] [FORMAT…]\n");
        return 2;
    }
#ifdef RUBBLE_WITH_IMPORT
    setenv("RUBBLE_IMPORT", "/proc/self/exe", 1); /* is there; warm_import.h tells what is run */
    warm_import_begin(&shared->is_ours);
#endif
    setenv("RUBBLE_IMPORT_SECONDS", "5", 0);
    setenv("RUBBLE_IMPORT_MEMORY", "256",
        0); /* MiB; a variant that takes all it can get takes a second a gigabyte */
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!is_wanted(formats[i].name, argc, argv)) continue;
        faults += try_format(argv[1], &formats[i], count);
    }
    return faults > 0;
}
