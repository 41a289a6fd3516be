/// Times readers and writers: `bench_io`. Case `read`: a bumpy sphere of a million triangles (--triangles) in
/// each mesh format. Case `write`: 300,000 triangles in 1,000 pieces (--triangles, --pieces) in each asset
/// format, into a file that is not synced. Case `load`: the same .rbl. Values: MB of the file a second of CPU;
/// for `rbl unpacked` MB of arrays.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fracture/base/alloc.h"
#include "fracture/base/file.h"
#include "fracture/collection/rbl_file.h"
#include "fracture/io/mesh_file.h"
#include "fracture/io/write.h"
#include "tools/bench/bench.h"

static char folder[] = "/tmp/bench_io_XXXXXX";

static void path_of(const char *extension, char path[80])
{
    snprintf(path, 80, "%s/bench.%s", folder, extension);
}

static size_t file_bytes(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 ? (size_t)found.st_size : 0;
}

static void print_rate(const bench_options *o, const bench_times *times, bench_row row, size_t bytes)
{
    row.value = (double)bytes / 1e3 / bench_cpu_median(times);
    row.unit = "MB/s";
    bench_print(o, times, &row);
}

static void read_all(const bench_options *o)
{
    static const char *const formats[] = {"obj", "stl", "ply", "off", "glb"};
    bench_mesh mesh = bench_sphere(o->triangles ? o->triangles : 1000000);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        bench_times times = {0};
        bench_row row = {.case_name = "read", .part = formats[i], .triangles = mesh.triangle_count};
        char path[80];
        path_of(formats[i], path);
        bench_write_mesh(&mesh, path);
        for (int run = 0; run < o->runs; run++) {
            rbl_context *ctx = bench_context(o->threads);
            rbli_mesh_file file;
            bench_begin(&times);
            bench_check(ctx, rbli_mesh_file_read(ctx, path, &file), path);
            bench_end(&times);
            row.hash = rbli_hash_bytes(file.positions, file.position_count * sizeof *file.positions);
            rbli_mesh_file_free(ctx, &file);
            row.peak_bytes = rbli_allocator_peak_bytes(ctx->allocator);
            bench_context_destroy(ctx);
        }
        print_rate(o, &times, row, file_bytes(path));
        unlink(path);
    }
    bench_mesh_free(&mesh);
}

static rbl_status write_one(
    rbl_context *ctx, const rbl_collection *c, const char *format, rbli_file_writer *out)
{
    if (strcmp(format, "glb") == 0)
        return rbli_write_glb(ctx, c, &(rbli_glb_options){.extras = true}, out, NULL);
    if (strcmp(format, "obj") == 0) return rbli_write_obj(ctx, c, NULL, RBLI_COLLIDERS_NONE, out);
    if (strcmp(format, "json") == 0) return rbli_write_json(ctx, c, out);
    if (strcmp(format, "usda") == 0) return rbli_write_usda(ctx, c, NULL, RBLI_COLLIDERS_NONE, out, NULL);
    uint8_t *bytes = NULL;
    size_t count;
    rbl_status status = rbli_rbl_encode(ctx, c, &bytes, &count);
    if (status == RBL_OK) rbli_file_writer_write(out, bytes, count);
    rbli_free(ctx, bytes);
    return status;
}

static void write_all(const bench_options *o, const rbl_collection *pieces, bench_row row)
{
    static const char *const formats[] = {"glb", "obj", "json", "usda", "rbl"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        bench_times times = {0};
        size_t bytes = 0;
        char path[80];
        path_of(formats[i], path);
        row.part = formats[i];
        for (int run = 0; run < o->runs; run++) {
            rbl_context *ctx = bench_context(o->threads);
            rbli_file_writer *writer = NULL;
            bench_begin(&times);
            bench_check(ctx, rbli_file_writer_open(ctx, path, &writer), path);
            rbli_file_writer_skip_sync(writer);
            bench_check(ctx, write_one(ctx, pieces, formats[i], writer), path);
            bench_check(ctx, rbli_file_writer_finish(writer, &row.hash, &bytes), path);
            bench_check(ctx, rbli_file_writer_commit(ctx, writer), path);
            bench_end(&times);
            row.peak_bytes = rbli_allocator_peak_bytes(ctx->allocator);
            bench_context_destroy(ctx);
        }
        print_rate(o, &times, row, bytes);
        if (strcmp(formats[i], "rbl") != 0) unlink(path);
    }
}

static void load(const bench_options *o, bench_row row)
{
    bench_times times = {0};
    size_t unpacked = 0;
    char path[80];
    path_of("rbl", path);
    for (int run = 0; run < o->runs; run++) {
        rbl_context *ctx = bench_context(o->threads);
        rbl_collection *c = NULL;
        uint8_t *bytes = NULL;
        size_t count;
        bench_begin(&times);
        bench_check(ctx, rbli_file_read(ctx, path, 0, &bytes, &count), path);
        bench_check(ctx, rbli_rbl_decode(ctx, path, bytes, count, &c), path);
        rbli_free(ctx, bytes);
        bench_end(&times);
        unpacked = rbli_collection_bytes(c);
        row.hash = rbli_collection_hash(c);
        rbli_collection_release(c);
        row.peak_bytes = rbli_allocator_peak_bytes(ctx->allocator);
        bench_context_destroy(ctx);
    }
    row.part = "rbl";
    print_rate(o, &times, row, file_bytes(path));
    row.part = "rbl unpacked";
    print_rate(o, &times, row, unpacked);
    unlink(path);
}

int main(int argc, char **argv)
{
    bench_options o = bench_start(argc, argv, "io", NULL);
    if (!mkdtemp(folder)) return 1;
    if (bench_wants(&o, "read")) read_all(&o);
    if (bench_wants(&o, "write") || bench_wants(&o, "load")) {
        rbl_context *ctx = bench_context(2);
        size_t count = o.pieces ? o.pieces : 1000;
        bench_mesh mesh = bench_sphere(o.triangles ? o.triangles : 300000);
        double(*sites)[3] = bench_sites(count);
        rbl_collection *whole = bench_sphere_collection(ctx, &mesh);
        rbl_collection *pieces = bench_pieces(ctx, whole, (const double(*)[3])sites, count);
        bench_row row = {.case_name = "write", .triangles = mesh.triangle_count, .pieces = count};
        write_all(&o, pieces, row);
        row.case_name = "load";
        load(&o, row);
        rbli_collection_release(whole);
        rbli_collection_release(pieces);
        free(sites);
        bench_mesh_free(&mesh);
        bench_context_destroy(ctx);
    }
    rmdir(folder);
    return 0;
}
