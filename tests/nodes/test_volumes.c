#include <math.h>
#include <unistd.h>

#include "tests/nodes/node_help.h"

/* Without grout and noise the pieces of every cutter have the volume of what was cut: on primitives, and on
   the sound closed models of their list (RUBBLE_SHARED/models, else ../shared/models), if it is there. */

static char folder[5000];

/// Sum of volumes, of areas times diagonals (what rounding is measured by), and of faces.
static void measure(const rbl_collection *c, double *volume, double *scale, size_t *pieces)
{
    const double *volumes = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE);
    const double(*p)[3] = rbli_collection_read(c, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, area = 0;
    *volume = 0;
    *pieces = rbli_collection_size(c, "geometry");
    for (size_t g = 0; g < *pieces; g++)
        *volume += volumes[g];
    for (size_t f = 0; f < rbli_collection_size(c, "face"); f++) {
        const double *a = p[faces[f][0]], *b = p[faces[f][1]], *d = p[faces[f][2]];
        double square = 0;
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            double n = (b[i] - a[i]) * (d[j] - a[j]) - (b[j] - a[j]) * (d[i] - a[i]);
            square += n * n;
            low[k] = fmin(low[k], a[k]);
            high[k] = fmax(high[k], a[k]);
        }
        area += sqrt(square) / 2;
    }
    double diagonal = 0;
    for (int k = 0; k < 3; k++)
        diagonal += (high[k] - low[k]) * (high[k] - low[k]);
    *scale = area * sqrt(diagonal);
}

/// Cuts what `source` makes by every cutter.
/// @param size of the object, for bricks and the knife
static void check_all_cutters(const char *name, const char *source, const double size[3])
{
    static const char *const nodes[] = {"uniform", "voronoi", "planes", "slices", "bricks", "mesh", "copies"};
    double largest = fmax(size[0], fmax(size[1], size[2])), worst = 0, volume, scale, sum, unused;
    char text[6000];
    size_t pieces, all = 0;
    rbl_context *ctx = make_context(1);
    snprintf(text, sizeof text,
        "%s,\n"
        "\"points\": {\"type\": \"GridScatterPoints\", \"in\": {\"collection\": \"src\"}, \"params\": "
        "{\"count\": [3, 3, 2]}},\n"
        "\"knife\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"sphere\", \"segments\": 10, "
        "\"size\": "
        "[%.17g, %.17g, %.17g]}},\n"
        "\"uniform\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"src\"}, \"params\": "
        "{\"min_sites\": "
        "30, \"max_sites\": 30, \"seed\": 3}},\n"
        "\"voronoi\": {\"type\": \"VoronoiFracture\", \"in\": {\"collection\": \"src\", \"points\": "
        "\"points\"}},\n"
        "\"planes\": {\"type\": \"PlaneCutter\", \"in\": {\"collection\": \"src\"}, \"params\": "
        "{\"random_planes\": 5}},\n"
        "\"slices\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"src\"}},\n"
        "\"bricks\": {\"type\": \"BrickCutter\", \"in\": {\"collection\": \"src\"}, \"params\": {\"length\": "
        "%.17g, "
        "\"height\": %.17g, \"depth\": %.17g}},\n"
        "\"mesh\": {\"type\": \"MeshCutter\", \"in\": {\"collection\": \"src\", \"cutter\": \"knife\"}},\n"
        "\"copies\": {\"type\": \"MeshCutter\", \"in\": {\"collection\": \"src\", \"cutter\": \"knife\"}, "
        "\"params\": "
        "{\"distribution\": \"random\", \"count\": 3}}",
        source, 0.5 * largest, 0.4 * largest, 0.45 * largest, 0.31 * largest, 0.13 * largest, 0.17 * largest);
    graph_run g = run_nodes(text, RBL_OK);
    measure(collection_of(&g, "src"), &volume, &scale, &pieces);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        const rbl_collection *c = collection_of(&g, nodes[i]);
        assert_ok(ctx, rbli_collection_validate(ctx, c, RBLI_VALIDATE_CLOSED));
        measure(c, &sum, &unused, &pieces);
        double off = fabs(sum - volume) / scale;
        if (!(off <= 1e-14))
            print_error("%s, %s: %.17g instead of %.17g, off by %g of area times diagonal\n", name, nodes[i],
                sum, volume, off);
        assert_true(off <= 1e-14);
        worst = fmax(worst, off);
        all += pieces;
    }
    print_message("%-40s %6zu pieces, largest error %.1e of area times diagonal\n", name, all, worst);
    end_run(&g);
    finish_context(ctx);
}

static void primitives_keep_their_volume(void **state)
{
    (void)state;
    static const char *const shapes[] = {"box", "sphere", "cylinder", "plane_slab"};
    const double size[3] = {1, 1, 1};
    for (int i = 0; i < 4; i++) {
        char source[300];
        snprintf(source, sizeof source,
            "\"src\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"%s\", \"segments\": 20}}",
            shapes[i]);
        check_all_cutters(shapes[i], source, size);
    }
}

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

/// A closed manifold without crossings and overlaps, all its shells outward, in a format that is read.
static bool is_sound(const char *line)
{
    static const char *const formats[] = {"OBJ", "STL", "PLY", "OFF", "GLB"};
    char text[600];
    bool read = false;
    column(line, 3, text);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        read |= strncmp(text, formats[i], 3) == 0;
    return read && strncmp(column(line, 11, text), "yes", 3) == 0 &&
           strcmp(column(line, 21, text), "0") == 0 && strcmp(column(line, 22, text), "0") == 0 &&
           strstr(column(line, 10, text), "(0 inside-out)");
}

static void sound_models_keep_their_volume(void **state)
{
    (void)state;
    if (!find_model("", folder)) skip();
    char path[6000], line[20000];
    size_t tried = 0;
    snprintf(path, sizeof path, "%s/MODELS.tsv", folder);
    FILE *list = fopen(path, "rb");
    assert_non_null(list);
    while (fgets(line, sizeof line, list)) {
        char name[600], text[600], source[6000];
        double low[3], high[3], size[3];
        if (!is_sound(line)) continue;
        column(line, 0, name);
        assert_int_equal(sscanf(column(line, 28, text), "%lf,%lf,%lf", low, low + 1, low + 2), 3);
        assert_int_equal(sscanf(column(line, 29, text), "%lf,%lf,%lf", high, high + 1, high + 2), 3);
        for (int k = 0; k < 3; k++)
            size[k] = high[k] - low[k];
        snprintf(source, sizeof source,
            "\"src\": {\"type\": \"MeshToCollection\", \"params\": {\"file\": \"%s/%s\"}}", folder, name);
        check_all_cutters(name, source, size);
        tried++;
    }
    fclose(list);
    print_message("%zu models\n", tried);
    assert_true(tried >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives_keep_their_volume),
        cmocka_unit_test(sound_models_keep_their_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
