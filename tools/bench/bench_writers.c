/// Times the writers of files: `bench_writers [--runs N] [--only FORMAT] FILE.rbl…`. Each collection is written in each format to
/// a file in /tmp that is not synced. Prints CSV: collection, format, pieces, triangles, bytes written, the least
/// CPU time of the runs (5 unless told) in milliseconds, and MB a second of it; one thread. A collection comes from
/// `rubble eval` of a graph whose Terminal writes .rbl.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fracture/base/alloc.h"
#include "fracture/collection/rbl_file.h"
#include "fracture/io/write.h"

static double cpu_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static const char *const formats[] = {"glb", "glb_khr", "obj", "ply", "stl", "usda", "json", NULL};

static rbl_status write_format(
    rbl_context *ctx, const rbl_collection *collection, const char *format, rbli_file_writer *out)
{
    if (strcmp(format, "glb") == 0)
        return rbli_write_glb(ctx, collection,
            &(rbli_glb_options){.colliders = RBLI_COLLIDERS_NONE, .extras = true}, out, NULL);
    if (strcmp(format, "glb_khr") == 0)
        return rbli_write_glb(
            ctx, collection, &(rbli_glb_options){.colliders = RBLI_COLLIDERS_KHR, .extras = true}, out, NULL);
    if (strcmp(format, "obj") == 0) return rbli_write_obj(ctx, collection, NULL, RBLI_COLLIDERS_NONE, out);
    if (strcmp(format, "ply") == 0) return rbli_write_ply(ctx, collection, out);
    if (strcmp(format, "stl") == 0) return rbli_write_stl(ctx, collection, out, NULL);
    if (strcmp(format, "usda") == 0)
        return rbli_write_usda(ctx, collection, NULL, RBLI_COLLIDERS_NONE, out, NULL);
    return rbli_write_json(ctx, collection, out);
}

static rbl_status write_once(
    rbl_context *ctx, const rbl_collection *collection, const char *format, size_t *bytes, double *ms)
{
    char path[80];
    rbli_file_writer *writer = NULL;
    snprintf(path, sizeof path, "/tmp/bench_writers.%d", (int)getpid());
    double before = cpu_ms();
    rbl_status status = rbli_file_writer_open(ctx, path, &writer);
    if (status != RBL_OK) return status;
    rbli_file_writer_skip_sync(writer);
    status = write_format(ctx, collection, format, writer);
    if (status == RBL_OK) status = rbli_file_writer_finish(writer, NULL, bytes);
    *ms = cpu_ms() - before;
    rbli_file_writer_discard(writer);
    return status;
}

static rbl_status time_formats(rbl_context *ctx, const char *path, int runs, const char *only)
{
    rbl_collection *collection = NULL;
    uint8_t *bytes = NULL;
    size_t byte_count = 0;
    rbl_status status = RBL_OK;
    const char *slash = strrchr(path, '/');
    RBL_TRY(rbli_file_read(ctx, path, 0, &bytes, &byte_count));
    RBL_TRY(rbli_rbl_decode(ctx, path, bytes, byte_count, &collection));
    for (int f = 0; formats[f]; f++) {
        double least = 0;
        size_t written = 0;
        if (only && strcmp(only, formats[f]) != 0) continue;
        for (int run = 0; run < runs; run++) {
            double ms;
            RBL_TRY(write_once(ctx, collection, formats[f], &written, &ms));
            if (run == 0 || ms < least) least = ms;
        }
        printf("%s,%s,%zu,%zu,%zu,%.2f,%.0f\n", slash ? slash + 1 : path, formats[f],
            rbli_collection_size(collection, "geometry"), rbli_collection_size(collection, "face"), written,
            least, (double)written / least / 1e3);
        fflush(stdout);
    }
done:
    rbli_collection_release(collection);
    rbli_free(ctx, bytes);
    return status;
}

int main(int argc, char **argv)
{
    int runs = 5, first = 1;
    const char *only = NULL;
    rbl_context *ctx = NULL;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        if (strcmp(argv[first], "--runs") == 0) runs = atoi(argv[first + 1]);
        if (strcmp(argv[first], "--only") == 0) only = argv[first + 1];
    }
    if (first >= argc || runs < 1 || rbli_context_create(1, &ctx) != RBL_OK) {
        fprintf(stderr, "usage: bench_writers [--runs N] [--only FORMAT] FILE.rbl...\n");
        return 2;
    }
    printf("collection,format,pieces,triangles,bytes,cpu_ms,mb_per_s\n");
    rbl_status status = RBL_OK;
    for (int i = first; i < argc && status == RBL_OK; i++)
        status = time_formats(ctx, argv[i], runs, only);
    if (status != RBL_OK) fprintf(stderr, "error: %s\n", rbl_status_text(status));
    rbli_context_destroy(ctx);
    return status != RBL_OK;
}
