/* `rubble render`: a picture of a model, of a fractured collection or of a graph's result. Reads through the
 * public API, colours and moves the pieces, and leaves the light to render_scene. */

#include "tools/cli/render.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/cli/files.h"
#include "tools/cli/model.h"
#include "tools/cli/render_scene.h"

typedef enum colour_mode { BY_BONE, BY_CLUSTER, BY_LEVEL, BY_MATERIAL, BY_COLOR } colour_mode;

typedef struct settings {
    const char *file, *output, *node;
    cli_list pairs;
    double explode;
    colour_mode by;
    int32_t level; /* −1: pieces move alone */
    size_t palette;
    render_options options;
} settings;

/* Arguments */

static bool parse_number(const char *text, double low, double high, double *out, const char **end)
{
    char *stop;
    double x = strtod(text, &stop);
    if (stop == text || !(x >= low && x <= high)) return false;
    if (end)
        *end = stop;
    else if (*stop)
        return false;
    *out = x;
    return true;
}

static bool parse_size(const char *text, settings *s)
{
    double w, h;
    const char *rest;
    if (!parse_number(text, 16, 16384, &w, &rest) || *rest != 'x') return false;
    if (!parse_number(rest + 1, 16, 16384, &h, NULL) || w != floor(w) || h != floor(h)) return false;
    s->options.width = (size_t)w;
    s->options.height = (size_t)h;
    return true;
}

static bool parse_view(const char *text, settings *s)
{
    static const struct {
        const char *word;
        double azimuth_deg, elevation_deg;
    } views[] = {{"corner", 35, 20}, {"front", 0, 8}, {"back", 180, 8}, {"left", -90, 8}, {"right", 90, 8},
        {"top", 0, 80}};
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        if (strcmp(text, views[i].word) == 0) {
            s->options.azimuth_deg = views[i].azimuth_deg;
            s->options.elevation_deg = views[i].elevation_deg;
            return true;
        }
    }
    const char *rest;
    return parse_number(text, -360, 360, &s->options.azimuth_deg, &rest) && *rest == ',' &&
           parse_number(rest + 1, -89, 89, &s->options.elevation_deg, NULL);
}

static colour_mode find_mode(const char *word)
{
    static const char *const words[] = {"bone", "cluster", "level", "material", "color"};
    size_t i = 0;
    while (i < 4 && strcmp(word, words[i]) != 0)
        i++;
    return (colour_mode)i;
}

/* @return −1 to go on, else an exit code */
static int parse_arguments(int argc, char **argv, settings *s)
{
    const char *by = "bone", *view = NULL, *size = NULL;
    long samples = 16, level = -1, palette = 0, threads = 0;
    memset(s, 0, sizeof *s);
    render_options_init(&s->options);
    const cli_option options[] = {
        {"out", CLI_TEXT, &s->output, "PICTURE.png",
            "file to write (default: FILE's name with .png, in the working folder)", .letter = 'o'},
        {"explode", CLI_REAL, &s->explode, "AMOUNT",
            "move pieces apart, 0 … 10 times their distance from the middle (default 0)", .most = 10},
        {"by", CLI_WORD, &by, "bone|cluster|level|material|color",
            "colours (default bone); color: of the vertices"},
        {"level", CLI_NUMBER, &level, "N",
            "bones of level N, each with all below it, move as one; with --by bone or cluster, they get the "
            "colours, too",
            .most = 1000},
        {"view", CLI_TEXT, &view, "VIEW",
            "corner (default), front, back, left, right, top, or AZIMUTH,ELEVATION in degrees"},
        {"size", CLI_TEXT, &size, "WxH", "pixels, 16 … 16384 each (default 1200x900)"},
        {"samples", CLI_NUMBER, &samples, "COUNT", "rays a pixel (default 16); more is finer and slower",
            .least = 1, .most = 1024},
        {"palette", CLI_NUMBER, &palette, "COUNT",
            "a picture of at most COUNT colours, 2 … 256: a much smaller file", .least = 2, .most = 256},
        {"node", CLI_TEXT, &s->node, "NODE",
            "of a graph: the node to show (default: the last one that gives a collection)"},
        CLI_OPTION_SET(&s->pairs),
        CLI_OPTION_THREADS(&threads),
        {0},
    };
    const cli_command command = {.name = "render",
        .usage = "FILE [options]",
        .text = "Draws a mesh (.obj .glb .stl .ply .off), a collection (.rbl) or the result of a graph "
                "(.json .jsonc).",
        .examples = "rubble render out/vase.rbl -o vase.png --explode 0.3",
        .takes = "MODEL",
        .options = options,
        .arguments = &s->file,
        .least_arguments = 1,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    if (code >= 0) return code;
    if ((view && !parse_view(view, s)) || (size && !parse_size(size, s))) {
        bool bad_view = view && !parse_view(view, s);
        cli_error("--%s does not take \"%s\"", bad_view ? "view" : "size", bad_view ? view : size);
        fprintf(stderr, "`rubble render --help` tells more\n");
        return EXIT_USAGE;
    }
    s->by = find_mode(by);
    s->level = (int32_t)level;
    s->palette = (size_t)palette;
    s->options.samples = (int)samples;
    s->options.thread_count = (unsigned)threads;
    return -1;
}

/* Reading */

/* The collection as plain arrays, borrowed from the run. */
typedef struct asset {
    const rbl_collection *collection;
    size_t bones, geometries, materials;
    const int32_t *parent, *level, *bone_geometry, *geometry_bone;
    const double (*transform)[16];
    const int32_t *vertex_start, *vertex_count, *face_start, *face_count;
    const double (*position)[3];
    const int32_t (*face)[3];
    const int32_t *material;
    const unsigned char *internal, *sheet;
    const float (*normal)[3];
    const float (*base_colour)[4];
    const float (*corner_colour)[4];
} asset;

static const void *attribute(const rbl_collection *c, const char *group, const char *name, rbl_type type)
{
    rbl_attribute_view view;
    if (rbl_collection_attribute(c, group, name, &view) != RBL_OK) return NULL;
    return view.type == type && !view.is_list && view.stride == rbl_type_bytes(type) ? view.data : NULL;
}

static bool read_asset(const rbl_collection *c, asset *a)
{
    *a = (asset){
        .collection = c,
        .bones = rbl_collection_group_size(c, "bone"),
        .geometries = rbl_collection_group_size(c, "geometry"),
        .materials = rbl_collection_group_size(c, "material"),
        .parent = attribute(c, "bone", "parent", RBL_INT32),
        .sheet = attribute(c, "bone", "sheet", RBL_BOOL),
        .level = attribute(c, "bone", "level", RBL_INT32),
        .bone_geometry = attribute(c, "bone", "geometry", RBL_INT32),
        .transform = attribute(c, "bone", "transform", RBL_MAT4),
        .geometry_bone = attribute(c, "geometry", "bone", RBL_INT32),
        .vertex_start = attribute(c, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = attribute(c, "geometry", "vertex_count", RBL_INT32),
        .face_start = attribute(c, "geometry", "face_start", RBL_INT32),
        .face_count = attribute(c, "geometry", "face_count", RBL_INT32),
        .position = attribute(c, "vertex", "position", RBL_VEC3),
        .face = attribute(c, "face", "vertices", RBL_INT32_3),
        .material = attribute(c, "face", "material", RBL_INT32),
        .internal = attribute(c, "face", "internal", RBL_BOOL),
        .normal = attribute(c, "corner", "normal", RBL_FLOAT_3),
        .base_colour = attribute(c, "material", "base_color", RBL_FLOAT_4),
        .corner_colour = attribute(c, "corner", "color", RBL_FLOAT_4),
    };
    return a->parent && a->level && a->transform && a->geometry_bone && a->vertex_start && a->vertex_count &&
           a->face_start && a->face_count && a->position && a->face;
}

/* Placing */

/* out = a · b, column-major. */
static void multiply(const double a[16], const double b[16], double out[16])
{
    for (int column = 0; column < 4; column++) {
        for (int row = 0; row < 4; row++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += a[k * 4 + row] * b[column * 4 + k];
            out[column * 4 + row] = sum;
        }
    }
}

static void apply(const double m[16], const double p[3], double w, double out[3])
{
    for (int row = 0; row < 3; row++)
        out[row] = m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row] * w;
}

/* World transforms; a parent comes before its children. */
static double (*world_transforms(const asset *a))[16]
{
    double(*world)[16] = malloc((a->bones ? a->bones : 1) * sizeof *world);
    if (!world) return NULL;
    for (size_t b = 0; b < a->bones; b++) {
        int32_t parent = a->parent[b];
        if (parent >= 0 && (size_t)parent < b)
            multiply(world[parent], a->transform[b], world[b]);
        else
            memcpy(world[b], a->transform[b], sizeof world[b]);
    }
    return world;
}

typedef struct bounds {
    double low[3], high[3];
} bounds;

static const bounds NOTHING = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void grow(bounds *b, const double p[3])
{
    for (int k = 0; k < 3; k++) {
        b->low[k] = fmin(b->low[k], p[k]);
        b->high[k] = fmax(b->high[k], p[k]);
    }
}

static bounds geometry_bounds(const asset *a, size_t geometry, const double world[16])
{
    bounds b = NOTHING;
    for (int32_t v = 0; v < a->vertex_count[geometry]; v++) {
        double p[3];
        apply(world, a->position[a->vertex_start[geometry] + v], 1, p);
        grow(&b, p);
    }
    return b;
}

/* Sideways a piece moves away from the middle axis; upwards by its height above the ground, so that what
 * stands on the ground goes on standing there. */
static void explode_offset(const bounds *piece, const bounds *all, double amount, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = amount * ((piece->low[k] + piece->high[k]) / 2 - (all->low[k] + all->high[k]) / 2);
    out[1] = amount * (piece->low[1] - all->low[1]);
}

/* Colours */

static void palette(size_t index, bool inside, float out[3])
{
    static const double lightness[] = {0.74, 0.80, 0.69};
    double hue_deg = fmod(28 + 137.50776405 * (double)index, 360); /* golden angle: neighbours differ */
    if (inside)
        render_colour(0.88, 0.055, hue_deg, out);
    else
        render_colour(lightness[index % 3], 0.115, hue_deg, out);
}

static bool is_interior(const asset *a, size_t face)
{
    if (a->internal && a->internal[face]) return true;
    if (!a->material || a->material[face] < 0 || (size_t)a->material[face] >= a->materials) return false;
    return strcmp(rbl_collection_string(a->collection, "material", "name", (size_t)a->material[face]),
               "interior") == 0;
}

/* The bone of a level that a bone belongs to; itself where it is above that, or without a level. */
static int32_t ancestor(const asset *a, int32_t bone, int32_t level)
{
    while (level >= 0 && a->level[bone] > level && a->parent[bone] >= 0)
        bone = a->parent[bone];
    return bone;
}

static void material_colour(const asset *a, size_t face, float out[3])
{
    size_t material = a->material && a->material[face] >= 0 ? (size_t)a->material[face] : 0;
    if (a->base_colour && material < a->materials)
        memcpy(out, a->base_colour[material], 3 * sizeof(float));
    else
        palette(material, false, out);
}

/* The colour of a bone or cluster; what belongs to one is of like shades. */
static void group_colour(size_t group, size_t member, bool inside, float out[3])
{
    palette(group, inside, out);
    float shade = 0.82f + 0.06f * (float)(member * 5 % 7 % 4);
    for (int k = 0; k < 3 && !inside; k++)
        out[k] *= shade;
}

static void face_colour(const asset *a, const settings *s, size_t geometry, size_t face, float out[3])
{
    bool inside = is_interior(a, face);
    int32_t bone = a->geometry_bone[geometry];
    if (s->by == BY_MATERIAL || s->by == BY_COLOR) {
        if (inside)
            render_colour(0.83, 0.03, 70, out);
        else
            material_colour(a, face, out);
    } else if (s->by == BY_LEVEL) {
        group_colour((size_t)a->level[bone], geometry, inside, out);
    } else if (s->level >= 0) {
        group_colour((size_t)ancestor(a, bone, s->level), geometry, inside, out);
    } else if (s->by == BY_CLUSTER && a->parent[bone] >= 0) {
        group_colour((size_t)a->parent[bone], geometry, inside, out);
    } else {
        palette(geometry, inside, out);
    }
}

/* What is painted on a corner, where that is asked for. */
static void corner_colour(const asset *a, const settings *s, size_t face, size_t corner, float out[3])
{
    if (s->by != BY_COLOR || !a->corner_colour || is_interior(a, face)) return;
    for (int k = 0; k < 3; k++)
        out[k] = fminf(fmaxf(a->corner_colour[3 * face + corner][k], 0), 1);
}

/* The bone that a geometry moves with: a sheet with the piece that it is attached to. */
static int32_t mover(const asset *a, size_t geometry, int32_t level)
{
    int32_t bone = a->geometry_bone[geometry];
    if (level < 0 && a->sheet && a->sheet[bone] && a->parent[bone] >= 0) return a->parent[bone];
    return ancestor(a, bone, level);
}

/* Triangles */

static void fill_triangle(const asset *a, size_t face, const double world[16], const double offset[3],
    const bounds *all, double size, render_triangle *t)
{
    memset(t, 0, sizeof *t);
    for (int c = 0; c < 3; c++) {
        double p[3];
        apply(world, a->position[a->face[face][c]], 1, p);
        for (int k = 0; k < 3; k++) /* moved near the origin before precision is lost */
            t->position[c][k] = (float)((p[k] + offset[k] - all->low[k]) / size);
        if (!a->normal) continue;
        double n[3], own[3] = {a->normal[face * 3 + (size_t)c][0], a->normal[face * 3 + (size_t)c][1],
                         a->normal[face * 3 + (size_t)c][2]};
        apply(world, own, 0, n); /* bones turn and scale evenly */
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3 && length > 0; k++)
            t->normal[c][k] = (float)(n[k] / length);
    }
}

/* @return triangles freed by the caller; NULL when out of memory or when there is none (*count 0) */
static render_triangle *collect_triangles(const asset *a, const settings *s, size_t *count)
{
    double(*world)[16] = world_transforms(a);
    size_t total = 0;
    for (size_t g = 0; g < a->geometries; g++)
        total += (size_t)a->face_count[g];
    render_triangle *triangles = malloc((total ? total : 1) * sizeof *triangles);
    bounds all = NOTHING, *moving = malloc((a->bones ? a->bones : 1) * sizeof *moving);
    size_t n = 0;
    if (!world || !triangles || !moving) goto done;
    for (size_t b = 0; b < a->bones; b++)
        moving[b] = NOTHING;
    for (size_t g = 0; g < a->geometries; g++) {
        bounds piece = geometry_bounds(a, g, world[a->geometry_bone[g]]);
        bounds *group = &moving[mover(a, g, s->level)];
        if (!a->vertex_count[g]) continue;
        grow(group, piece.low);
        grow(group, piece.high);
        grow(&all, piece.low);
        grow(&all, piece.high);
    }
    double size = fmax(fmax(all.high[0] - all.low[0], all.high[1] - all.low[1]), all.high[2] - all.low[2]);
    for (size_t g = 0; g < a->geometries; g++) {
        double offset[3];
        explode_offset(&moving[mover(a, g, s->level)], &all, s->explode, offset);
        for (int32_t f = 0; f < a->face_count[g]; f++) {
            size_t face = (size_t)(a->face_start[g] + f);
            fill_triangle(
                a, face, world[a->geometry_bone[g]], offset, &all, size > 0 ? size : 1, &triangles[n]);
            for (size_t corner = 0; corner < 3; corner++) {
                face_colour(a, s, g, face, triangles[n].colour[corner]);
                corner_colour(a, s, face, corner, triangles[n].colour[corner]);
            }
            n++;
        }
    }
done:
    *count = total;
    free(world);
    free(moving);
    if (n == total && n > 0) return triangles;
    free(triangles);
    return NULL;
}

/* The command */

static int write_picture(const char *path, const unsigned char *rgb, const settings *s)
{
    size_t bytes = 0;
    void *png = render_encode_png(rgb, s->options.width, s->options.height, s->palette, &bytes);
    if (!png) cli_error("%s: out of memory", path);
    bool good = png && cli_write_file(path, png, bytes);
    if (good) printf("%s\n", path);
    free(png);
    return good ? EXIT_DONE : EXIT_FILE;
}

static int draw(const rbl_collection *collection, const settings *s)
{
    asset a;
    if (!collection || !read_asset(collection, &a)) {
        cli_error("%s: there is no collection to show", s->file);
        return EXIT_EVALUATION;
    }
    size_t count = 0, pixels = s->options.width * s->options.height;
    render_triangle *triangles = collect_triangles(&a, s, &count);
    unsigned char *rgb = malloc(pixels * 3);
    char *made = s->output ? NULL : cli_name_with_ending(s->file, ".png");
    const char *output = s->output ? s->output : made;
    const char *problem = count == 0 ? "there is nothing to see" : NULL;
    if (!problem && (!triangles || !rgb || !output)) problem = "out of memory";
    if (!problem) problem = render_image(triangles, count, &s->options, rgb);
    int code = EXIT_DONE;
    if (problem) {
        cli_error("%s: %s", s->file, problem);
        code = EXIT_EVALUATION;
    } else {
        code = write_picture(output, rgb, s);
    }
    free(triangles);
    free(rgb);
    free(made);
    return code;
}

static int load_and_draw(rbl_engine *engine, const settings *s)
{
    cli_model model;
    cli_model_request request = {
        .file = s->file, .node = s->node, .pairs = &s->pairs, .output = s->output, .least = RBL_WARNING};
    int code = cli_load_model(engine, &request, &model);
    if (code == EXIT_DONE) code = draw(model.collection, s);
    cli_free_model(&model);
    return code;
}

int rubble_render(int argc, char **argv)
{
    settings s;
    int code = parse_arguments(argc, argv, &s);
    if (code < 0 && cli_would_replace(s.output, s.file)) code = EXIT_USAGE;
    if (code < 0) {
        rbl_engine *engine = cli_engine((long)s.options.thread_count, NULL);
        code = engine ? load_and_draw(engine, &s) : EXIT_EVALUATION;
        rbl_engine_destroy(engine);
    }
    free(s.pairs.items);
    return code;
}
