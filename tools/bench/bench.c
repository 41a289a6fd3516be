/// What the benchmark programs share.

#include "tools/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench_revision.h"
#include "rubble/rubble.h"
#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/base/threads.h"
#include "fracture/base/trace.h"
#include "fracture/io/mesh_collection.h"
#include "fracture/ops/fracture.h"
#include "fracture/ops/surface.h"

/* ---- Start ---- */

/// The first line of a file that begins with `key`, after the colon.
static void print_from(const char *path, const char *key, const char *name)
{
    char line[256];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !value) continue;
        value += strspn(value, ": \t");
        printf("# %s: %.*s\n", name, (int)strcspn(value, "\n"), value);
        break;
    }
    if (file) fclose(file);
}

static void print_machine(void)
{
    struct utsname system;
    double load[3];
    print_from("/proc/cpuinfo", "model name", "cpu");
    printf("# cores: %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
    print_from("/proc/meminfo", "MemTotal", "memory");
    if (uname(&system) == 0) printf("# kernel: %s %s\n", system.sysname, system.release);
#ifdef __clang__
    printf("# compiler: clang " __clang_version__ "\n");
#else
    printf("# compiler: gcc " __VERSION__ "\n");
#endif
    printf("# flags: %s\n# revision: %s\n", BENCH_FLAGS, BENCH_REVISION);
    if (getloadavg(load, 3) == 3) printf("# load: %.2f %.2f %.2f\n", load[0], load[1], load[2]);
}

static void usage(const char *name, const bench_own_option *own)
{
    fprintf(stderr,
        "usage: bench_%s [--threads N] [--runs N] [--only PART-OF-NAME] [--triangles N] [--pieces N]", name);
    for (; own && own->name; own++)
        fprintf(stderr, " [%s N]", own->name);
    fprintf(stderr, "\n");
    exit(2);
}

static bool set_own(const bench_own_option *own, const char *name, long value)
{
    for (; own && own->name; own++)
        if (strcmp(own->name, name) == 0) {
            *own->value = value;
            return true;
        }
    return false;
}

bench_options bench_start(int argc, char **argv, const char *name, const bench_own_option *own)
{
    bench_options o = {.name = name, .threads = 1, .runs = 5, .only = ""};
    if (argc % 2 == 0) usage(name, own);
    rbl_tune_process_memory(); /* as the command does */
    for (int i = 1; i < argc; i += 2) {
        const char *key = argv[i], *text = argv[i + 1];
        char *end;
        long value = strtol(text, &end, 10);
        bool is_number = *text && *end == 0 && value >= 0;
        if (strcmp(key, "--only") == 0)
            o.only = text;
        else if (!is_number)
            usage(name, own);
        else if (strcmp(key, "--threads") == 0)
            o.threads = (int)value;
        else if (strcmp(key, "--runs") == 0 && value >= 1 && value <= BENCH_MOST_RUNS)
            o.runs = (int)value;
        else if (strcmp(key, "--triangles") == 0)
            o.triangles = (size_t)value;
        else if (strcmp(key, "--pieces") == 0)
            o.pieces = (size_t)value;
        else if (!set_own(own, key, value))
            usage(name, own);
    }
    print_machine();
    printf(
        "bench,case,part,triangles,pieces,threads,runs,cpu_ms,cpu_min_ms,wall_ms,wall_min_ms,peak_mb,value,"
        "unit,hash\n");
    fflush(stdout);
    return o;
}

bool bench_wants(const bench_options *options, const char *case_name)
{
    return strstr(case_name, options->only) != NULL;
}

void bench_check(rbl_context *ctx, rbl_status status, const char *what)
{
    if (status == RBL_OK) return;
    fprintf(stderr, "error: %s: %s\n", what, rbl_status_text(status));
    for (size_t i = 0; ctx && i < rbli_messages_count(ctx->messages); i++)
        fprintf(stderr, "  %s\n", rbli_messages_get(ctx->messages, i)->text);
    exit(1);
}

/// Memory of the allocator that keeps pages from run to run.
static void *reallocate_warm(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    (void)old_bytes;
    if (new_bytes) return rbli_allocator_realloc(user, pointer, new_bytes, 1);
    rbli_allocator_free(user, pointer);
    return NULL;
}

rbl_context *bench_context(int threads)
{
    static rbli_allocator *warm; /* lives as long as the program */
    if (!warm) {
        warm = rbli_allocator_create(NULL, NULL);
        /* Never touched: as many bytes as are in use stay with the process, and an engine has its caches. */
        if (warm) rbli_allocator_alloc(warm, (size_t)512 << 20, 1);
    }
    rbli_allocator *allocator = warm ? rbli_allocator_create(reallocate_warm, warm) : NULL;
    rbl_context *ctx = allocator ? rbli_allocator_calloc(allocator, 1, sizeof *ctx) : NULL;
    if (!ctx) bench_check(NULL, RBL_ERR_NO_MEMORY, "context");
    ctx->allocator = allocator;
    ctx->messages = rbli_messages_create(allocator);
    if (!ctx->messages) bench_check(NULL, RBL_ERR_NO_MEMORY, "context");
    if (threads != 1) bench_check(NULL, rbli_pool_create(allocator, threads, &ctx->pool), "threads");
    ctx->activity = bench_alloc(1, sizeof *ctx->activity);
    ctx->activity->name = "bench";
    return ctx;
}

void bench_context_destroy(rbl_context *ctx)
{
    rbli_activity *activity = ctx ? ctx->activity : NULL;
    rbli_context_destroy(ctx);
    free(activity);
}

/// On huge pages where it is large and the system has them, as the library's own arrays are.
static void *alloc_large(size_t bytes)
{
    const size_t page = (size_t)1 << 21;
    void *memory = aligned_alloc(page, (bytes + page - 1) / page * page);
#ifdef MADV_HUGEPAGE
    if (memory) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    if (memory) memset(memory, 0, bytes);
    return memory;
}

void *bench_alloc(size_t count, size_t size)
{
    size_t bytes = count ? count * size : size;
    void *memory = bytes >= (size_t)1 << 20 ? alloc_large(bytes) : calloc(1, bytes);
    if (!memory) bench_check(NULL, RBL_ERR_NO_MEMORY, "memory");
    return memory;
}

/* ---- Times ---- */

static double clock_ms(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

double bench_cpu_ms(void)
{
    return clock_ms(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_wall_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

void bench_begin(bench_times *times)
{
    times->wall_begin_ms = bench_wall_ms();
    times->cpu_begin_ms = bench_cpu_ms();
}

void bench_end(bench_times *times)
{
    double cpu_ms = bench_cpu_ms() - times->cpu_begin_ms;
    bench_add(times, cpu_ms, bench_wall_ms() - times->wall_begin_ms);
}

void bench_add(bench_times *times, double cpu_ms, double wall_ms)
{
    if (times->count == BENCH_MOST_RUNS) return;
    times->cpu_ms[times->count] = cpu_ms;
    times->wall_ms[times->count++] = wall_ms;
}

static int compare_doubles(const void *pa, const void *pb)
{
    const double *a = pa, *b = pb;
    return (*a > *b) - (*a < *b);
}

/// The value at `rank` of `count` − 1 in ascending order.
static double ranked(const double *values, int count, int rank)
{
    double sorted[BENCH_MOST_RUNS];
    if (count < 1) return 0;
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    return sorted[rank];
}

double bench_cpu_median(const bench_times *times)
{
    return ranked(times->cpu_ms, times->count, times->count / 2);
}

double bench_wall_median(const bench_times *times)
{
    return ranked(times->wall_ms, times->count, times->count / 2);
}

/* ---- Rows ---- */

static void print_count(size_t count)
{
    if (count) printf("%zu", count);
    putchar(',');
}

static void print_times(const double *ms, int count)
{
    double least = ranked(ms, count, 0);
    if (count == 0 || least < 0)
        printf(",,");
    else
        printf("%.4g,%.4g,", ranked(ms, count, count / 2), least);
}

void bench_print(const bench_options *options, const bench_times *times, const bench_row *row)
{
    printf("%s,%s,%s,", options->name, row->case_name, row->part ? row->part : "");
    print_count(row->triangles);
    print_count(row->pieces);
    printf("%d,%d,", options->threads, times->count);
    print_times(times->cpu_ms, times->count);
    print_times(times->wall_ms, times->count);
    if (row->peak_bytes) printf("%.1f", (double)row->peak_bytes / 1e6);
    if (row->unit)
        printf(strcmp(row->unit, "count") == 0 ? ",%.0f,%s," : ",%.4g,%s,", row->value, row->unit);
    else
        printf(",,,");
    if (row->hash.low || row->hash.high) {
        char text[33];
        rbli_hash_to_text(row->hash, text);
        printf("%.16s", text);
    }
    printf("\n");
    fflush(stdout);
}

/* ---- Work ---- */

/// Distance of the surface from the origin in a direction.
static double radius_at(const double direction[3])
{
    return 1 + 0.1 * sin(9 * direction[0]) * sin(11 * direction[1]) * sin(7 * direction[2] + 1);
}

typedef struct sphere {
    bench_mesh mesh;
    int32_t *ids; /* of the surface's grid points, by the face that met them first; −1 */
    size_t n;
} sphere;

/// Grid points of a cube's surface have six sheets of (n + 1)²; a point on several takes the first.
static size_t grid_index(const sphere *s, const size_t at[3])
{
    size_t n = s->n, side = n + 1;
    for (size_t axis = 0; axis < 3; axis++)
        if (at[axis] == 0 || at[axis] == n)
            return ((2 * axis + (at[axis] != 0)) * side + at[(axis + 1) % 3]) * side + at[(axis + 2) % 3];
    return 0;
}

static int32_t sphere_vertex(sphere *s, const size_t at[3])
{
    int32_t *id = &s->ids[grid_index(s, at)];
    if (*id >= 0) return *id;
    double p[3], length = 0;
    for (int k = 0; k < 3; k++) {
        p[k] = 2 * (double)at[k] / (double)s->n - 1;
        length += p[k] * p[k];
    }
    for (int k = 0; k < 3; k++)
        p[k] /= sqrt(length);
    double r = radius_at(p);
    for (int k = 0; k < 3; k++)
        s->mesh.positions[s->mesh.vertex_count][k] = (float)(p[k] * r);
    return *id = (int32_t)s->mesh.vertex_count++;
}

static void sphere_square(sphere *s, size_t axis, bool far_side, size_t u, size_t v)
{
    int32_t corner[4];
    for (size_t k = 0; k < 4; k++) {
        size_t at[3];
        at[axis] = far_side ? s->n : 0;
        at[(axis + 1) % 3] = u + (k == 1 || k == 2);
        at[(axis + 2) % 3] = v + (k >= 2);
        corner[k] = sphere_vertex(s, at);
    }
    int b = far_side ? 1 : 3, d = far_side ? 3 : 1;
    int32_t pair[2][3] = {{corner[0], corner[b], corner[2]}, {corner[0], corner[2], corner[d]}};
    memcpy(s->mesh.triangles[s->mesh.triangle_count], pair, sizeof pair);
    s->mesh.triangle_count += 2;
}

bench_mesh bench_sphere(size_t triangles)
{
    size_t n = (size_t)(sqrt((double)triangles / 12) + 0.5);
    sphere s = {.n = n ? n : 1};
    n = s.n;
    size_t points = 6 * (n + 1) * (n + 1);
    s.ids = bench_alloc(points, sizeof *s.ids);
    memset(s.ids, 0xff, points * sizeof *s.ids);
    s.mesh.positions = bench_alloc(6 * n * n + 2, sizeof *s.mesh.positions);
    s.mesh.triangles = bench_alloc(12 * n * n, sizeof *s.mesh.triangles);
    for (size_t side = 0; side < 6; side++)
        for (size_t v = 0; v < n; v++)
            for (size_t u = 0; u < n; u++)
                sphere_square(&s, side / 2, side % 2, u, v);
    free(s.ids);
    return s.mesh;
}

void bench_mesh_free(bench_mesh *mesh)
{
    free(mesh->positions);
    free(mesh->triangles);
    *mesh = (bench_mesh){0};
}

rbli_mesh_view bench_view(const bench_mesh *mesh)
{
    return (rbli_mesh_view){(const double(*)[3])mesh->positions, mesh->vertex_count,
        (const int32_t(*)[3])mesh->triangles, mesh->triangle_count};
}

double (*bench_sites(size_t count))[3]
{
    double(*sites)[3] = bench_alloc(count, sizeof *sites);
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, 0);
    for (size_t i = 0; i < count;) {
        double p[3], length = 0;
        for (int k = 0; k < 3; k++) {
            p[k] = (float)(2.2 * rbli_rng_double(&rng) - 1.1);
            length += p[k] * p[k];
        }
        length = sqrt(length);
        double direction[3] = {p[0] / length, p[1] / length, p[2] / length};
        if (length < 0.98 * radius_at(direction)) memcpy(sites[i++], p, sizeof p);
    }
    return sites;
}

rbl_collection *bench_sphere_collection(rbl_context *ctx, const bench_mesh *mesh)
{
    rbl_collection *made = NULL;
    char name[] = "sphere";
    int32_t *nodes = bench_alloc(mesh->triangle_count, sizeof *nodes);
    int32_t *materials = bench_alloc(mesh->triangle_count, sizeof *materials);
    memset(materials, 0xff, mesh->triangle_count * sizeof *materials);
    rbli_mesh_file_node node = {.name = name, .parent = -1};
    for (int k = 0; k < 4; k++)
        node.transform[5 * k] = 1;
    rbli_mesh_file file = {.positions = mesh->positions,
        .position_count = mesh->vertex_count,
        .triangles = mesh->triangles,
        .triangle_nodes = nodes,
        .triangle_materials = materials,
        .triangle_count = mesh->triangle_count,
        .nodes = &node,
        .node_count = 1};
    rbli_mesh_collection_options options = {.scale = 1};
    bench_check(ctx, rbli_mesh_collection_create(ctx, &file, &options, &made), "collection");
    bench_check(ctx, rbli_surface_fill_flat_normals(ctx, made), "normals");
    bench_check(ctx, rbli_surface_measure(ctx, made, 0), "volumes");
    free(nodes);
    free(materials);
    return made;
}

typedef struct site_list {
    const double (*points)[3];
    size_t count;
} site_list;

static rbl_status make_cells(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    (void)facts;
    const site_list *s = user;
    return rbli_voronoi_complex(ctx, s->points, s->count, domain->box_min, domain->box_max, NULL, NULL, out);
}

rbl_collection *bench_pieces(
    rbl_context *ctx, const rbl_collection *whole, const double (*sites)[3], size_t site_count)
{
    site_list list = {sites, site_count};
    rbli_fracture_options options = rbli_fracture_default_options();
    rbli_fracture_result result = {0};
    options.make_complex = make_cells;
    options.user = &list;
    bench_check(ctx, rbli_fracture(ctx, whole, &options, &result), "fracture");
    rbli_free(ctx, result.new_bones);
    return result.collection;
}

static void write_stl(const bench_mesh *m, FILE *file)
{
    char head[80] = "rubble bench";
    uint32_t count = (uint32_t)m->triangle_count;
    fwrite(head, 1, sizeof head, file);
    fwrite(&count, 4, 1, file);
    for (size_t t = 0; t < m->triangle_count; t++) {
        float record[12] = {0};
        uint16_t attribute = 0;
        for (int k = 0; k < 9; k++)
            record[3 + k] = (float)m->positions[m->triangles[t][k / 3]][k % 3];
        fwrite(record, 4, 12, file);
        fwrite(&attribute, 2, 1, file);
    }
}

static void write_vertices(const bench_mesh *m, FILE *file)
{
    for (size_t v = 0; v < m->vertex_count; v++) {
        float p[3] = {(float)m->positions[v][0], (float)m->positions[v][1], (float)m->positions[v][2]};
        fwrite(p, 4, 3, file);
    }
}

static void write_ply(const bench_mesh *m, FILE *file)
{
    fprintf(file,
        "ply\nformat binary_little_endian 1.0\nelement vertex %zu\nproperty float x\nproperty float y\n"
        "property float z\nelement face %zu\nproperty list uchar int vertex_indices\nend_header\n",
        m->vertex_count, m->triangle_count);
    write_vertices(m, file);
    for (size_t t = 0; t < m->triangle_count; t++) {
        fputc(3, file);
        fwrite(m->triangles[t], 4, 3, file);
    }
}

static void write_glb(const bench_mesh *m, FILE *file)
{
    char json[1024];
    size_t indices = m->triangle_count * 12, positions = m->vertex_count * 12;
    int length = snprintf(json, sizeof json,
        "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":1},\"indices\":0}]}],"
        "\"buffers\":[{\"byteLength\":%zu}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":%zu},"
        "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}],\"accessors\":[{\"bufferView\":0,"
        "\"componentType\":5125,\"count\":%zu,\"type\":\"SCALAR\"},{\"bufferView\":1,\"componentType\":5126,"
        "\"count\":%zu,\"type\":\"VEC3\",\"min\":[-2,-2,-2],\"max\":[2,2,2]}]}",
        indices + positions, indices, indices, positions, m->triangle_count * 3, m->vertex_count);
    while (length % 4)
        json[length++] = ' ';
    uint32_t head[5] = {
        0x46546C67, 2, (uint32_t)(28 + (size_t)length + indices + positions), (uint32_t)length, 0x4E4F534A};
    uint32_t chunk[2] = {(uint32_t)(indices + positions), 0x004E4942};
    fwrite(head, 4, 5, file);
    fwrite(json, 1, (size_t)length, file);
    fwrite(chunk, 4, 2, file);
    fwrite(m->triangles, 12, m->triangle_count, file);
    write_vertices(m, file);
}

static void write_text(const bench_mesh *m, bool is_off, FILE *file)
{
    if (is_off) fprintf(file, "OFF\n%zu %zu 0\n", m->vertex_count, m->triangle_count);
    for (size_t v = 0; v < m->vertex_count; v++)
        fprintf(file, "%s%.9g %.9g %.9g\n", is_off ? "" : "v ", m->positions[v][0], m->positions[v][1],
            m->positions[v][2]);
    int first = is_off ? 0 : 1;
    for (size_t t = 0; t < m->triangle_count; t++)
        fprintf(file, "%s %d %d %d\n", is_off ? "3" : "f", m->triangles[t][0] + first,
            m->triangles[t][1] + first, m->triangles[t][2] + first);
}

void bench_write_mesh(const bench_mesh *mesh, const char *path)
{
    const char *dot = strrchr(path, '.');
    FILE *file = fopen(path, "wb");
    if (!file) bench_check(NULL, RBL_ERR_WRITE, path);
    if (strcmp(dot, ".stl") == 0)
        write_stl(mesh, file);
    else if (strcmp(dot, ".ply") == 0)
        write_ply(mesh, file);
    else if (strcmp(dot, ".glb") == 0)
        write_glb(mesh, file);
    else
        write_text(mesh, strcmp(dot, ".off") == 0, file);
    if (fclose(file) != 0) bench_check(NULL, RBL_ERR_WRITE, path);
}
