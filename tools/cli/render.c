/* `rubble render`: pictures of a model, of a fractured collection or of a graph's result. render_asset makes
 * triangles of it, render_lines hulls and graphs, render_scene the light. */

#include "tools/cli/render.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/cli/cli.h"
#include "tools/cli/files.h"
#include "tools/cli/model.h"
#include "tools/cli/render_apng.h"
#include "tools/cli/render_asset.h"
#include "tools/cli/render_palette.h"

typedef enum hull_mode { HULLS_NONE, HULLS_EDGES, HULLS_SOLID } hull_mode;
typedef enum graph_mode { GRAPH_NONE, GRAPH_CONTACTS, GRAPH_CONNECTIONS } graph_mode;

typedef struct settings {
    const char *file, *output, *node;
    cli_list pairs;
    render_look look;
    hull_mode hulls;
    graph_mode graph;
    size_t palette, frames; /* frames 0: one picture */
    bool animated;          /* frames go into one file */
    render_options options;
} settings;

/* ---- Arguments ---- */

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

/* Number of a word in a list "a|b"; the words were checked before. */
static int find_word(const char *words, const char *word)
{
    int index = 0;
    for (const char *at = words; *at; index++) {
        size_t length = strcspn(at, "|");
        if (strlen(word) == length && memcmp(at, word, length) == 0) return index;
        at += length + (at[length] == '|');
    }
    return 0;
}

static const char by_words[] = "bone|cluster|level|material|color|volume|contacts";
static const char hull_words[] = "edges|solid", graph_words[] = "contacts|connections";

static void interpret(const char *by, const char *hulls, const char *graph, settings *s)
{
    s->look.by = (render_by)find_word(by_words, by);
    s->hulls = hulls ? (hull_mode)(find_word(hull_words, hulls) + 1) : HULLS_NONE;
    s->graph = graph ? (graph_mode)(find_word(graph_words, graph) + 1) : GRAPH_NONE;
    s->look.pale = s->graph != GRAPH_NONE;
    s->options.through = s->graph ? 0.9f : 0.12f;
    s->options.steady = s->frames > 0;
    double smaller = (double)(s->options.width < s->options.height ? s->options.width : s->options.height);
    s->look.line_scale = (float)fmin(fmax(700 / smaller, 0.5), 4);
}

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), own = strlen(ending);
    return length > own && strcasecmp(name + length - own, ending) == 0;
}

/* @return −1 to go on, else an exit code */
static int parse_arguments(int argc, char **argv, settings *s)
{
    const char *by = "bone", *view = NULL, *size = NULL, *hulls = NULL, *graph = NULL;
    long samples = 16, level = -1, palette = 0, threads = 0, frames = 0;
    memset(s, 0, sizeof *s);
    render_options_init(&s->options);
    const cli_option options[] = {
        {"out", CLI_TEXT, &s->output, "PICTURE.png",
            "file to write (default: FILE's name with .png, in the working folder)", .letter = 'o'},
        {"explode", CLI_REAL, &s->look.explode, "AMOUNT",
            "move pieces apart, 0 … 10 times their distance from the middle (default 0)", .most = 10},
        {"by", CLI_WORD, &by, by_words,
            "colours (default bone); color: of the vertices; volume and contacts: by rank, from small or few "
            "(blue) "
            "to large or many (red)"},
        {"level", CLI_NUMBER, &level, "N",
            "bones of level N, each with all below it, move as one; with --by bone or cluster, they get the "
            "colours, "
            "too",
            .most = 1000},
        {"hulls", CLI_WORD, &hulls, hull_words,
            "draw the edges of convex hulls over the pieces, or hulls alone"},
        {"graph", CLI_WORD, &graph, graph_words,
            "draw who touches whom, or the connection graph, through pale pieces: the larger the area, the "
            "thicker the "
            "line; anchored bones are red"},
        {"turntable", CLI_NUMBER, &frames, "N",
            "N pictures of a whole turn, -o NAME_%03d.png (default: FILE's name); the folder is made when it "
            "is missing; with -o NAME.apng one animated file, 24 pictures a second",
            .least = 2, .most = 10000},
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
        .text =
            "Draws a mesh (.obj .glb .stl .ply .off .fbx .dae .3mf), a collection (.rbl) or the result of a "
            "graph (.json .jsonc).",
        .examples = "rubble render out/vase.rbl -o vase.png --explode 0.3\n"
                    "rubble render out/wall.rbl --graph connections --view front\n"
                    "rubble render out/wall.rbl --turntable 48 -o turn.apng --size 640x480",
        .takes = "MODEL",
        .options = options,
        .arguments = &s->file,
        .least_arguments = 1,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    if (code >= 0) return code;
    bool bad_view = view && !parse_view(view, s);
    if (bad_view || (size && !parse_size(size, s))) {
        cli_error(
            bad_view
                ? "--view needs corner, front, back, left, right, top, or AZIMUTH,ELEVATION (up to 89), not "
                  "\"%s\""
                : "--size needs WIDTHxHEIGHT, 16 to 16384 each, not \"%s\"",
            bad_view ? view : size);
        fprintf(stderr, "`rubble render --help` tells more\n");
        return EXIT_USAGE;
    }
    s->frames = (size_t)frames;
    s->animated = s->frames > 0 && s->output && has_ending(s->output, ".apng");
    s->look.level = (int32_t)level;
    s->palette = (size_t)palette;
    s->options.samples = (int)samples;
    s->options.thread_count = (unsigned)threads;
    interpret(by, hulls, graph, s);
    return -1;
}

/* ---- Names of pictures ---- */

/* Length of "%d" or "%03d" at the start of a text, 0 when there is none; *digits: how many at least. */
static size_t number_field(const char *text, int *digits)
{
    size_t i = 1;
    *digits = 1;
    if (text[0] != '%') return 0;
    if (text[i] == '0' && text[i + 1] >= '1' && text[i + 1] <= '9') {
        *digits = text[i + 1] - '0';
        i += 2;
    }
    return text[i] == 'd' ? i + 1 : 0;
}

/* The pattern of frames: what was asked for, with _%03d before its ending where it has no number. NULL, and
 * told, when it has several. */
static char *frame_pattern(const settings *s)
{
    char *name = s->output ? strdup(s->output) : cli_name_with_ending(s->file, ".png");
    size_t fields = 0;
    int digits;
    for (const char *at = name; at && (at = strchr(at, '%')); at++)
        fields += number_field(at, &digits) ? 1 : 2;
    if (fields == 1 || !name) return name;
    if (fields > 1) {
        cli_error("--out takes one number, %%d or %%03d, not \"%s\"", name);
        free(name);
        return NULL;
    }
    const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    size_t room = strlen(name) + 8,
           stem = dot && (!slash || dot > slash) ? (size_t)(dot - name) : strlen(name);
    char *pattern = malloc(room);
    if (pattern) snprintf(pattern, room, "%.*s_%%03d%s", (int)stem, name, name + stem);
    free(name);
    return pattern;
}

static char *frame_name(const char *pattern, size_t frame)
{
    const char *at = strchr(pattern, '%');
    int digits = 1;
    size_t field = at ? number_field(at, &digits) : 0, room = strlen(pattern) + 32;
    char *name = malloc(room);
    if (name && at)
        snprintf(name, room, "%.*s%0*zu%s", (int)(at - pattern), pattern, digits, frame, at + field);
    return name;
}

/* The folder of frames, made when only it is missing. */
static bool make_folder(const char *name)
{
    char *folder = strdup(name), *slash = folder ? strrchr(folder, '/') : NULL;
    bool good = folder != NULL;
    if (slash && slash != folder) {
        *slash = '\0';
        good = mkdir(folder, 0777) == 0 || errno == EEXIST;
        if (!good) cli_error("%s: %s", folder, strerror(errno));
    }
    free(folder);
    return good;
}

/* ---- Pictures ---- */

/* png NULL: out of memory. */
static int write_file(const char *path, const void *png, size_t bytes)
{
    if (!png) cli_error("%s: out of memory", path);
    if (!png || !cli_write_file(path, png, bytes)) return EXIT_FILE;
    printf("%s\n", path);
    fflush(stdout);
    return EXIT_DONE;
}

static int write_picture(const char *path, const unsigned char *rgb, const settings *s)
{
    size_t bytes = 0;
    void *png = render_encode_png(rgb, s->options.width, s->options.height, s->palette, &bytes);
    int code = write_file(path, png, bytes);
    free(png);
    return code;
}

typedef struct picture {
    render_triangle *triangles;
    render_line *lines;
    size_t triangle_count, line_count;
} picture;

/* @return NULL, or what is wrong */
static const char *make_picture(const render_asset *a, const settings *s, picture *p)
{
    const char *problem = NULL;
    if (s->hulls == HULLS_EDGES) problem = render_hull_lines(a, &p->lines, &p->line_count);
    if (s->graph) problem = render_graph_lines(a, s->graph == GRAPH_CONNECTIONS, &p->lines, &p->line_count);
    if (problem) return problem;
    bool solid = s->hulls == HULLS_SOLID;
    p->triangles =
        solid ? render_hull_triangles(a, &p->triangle_count) : render_asset_triangles(a, &p->triangle_count);
    if (!p->triangle_count)
        return solid ? "there are no hulls: CreateLeafConvexHulls makes them" : "there is nothing to see";
    return p->triangles ? NULL : "out of memory";
}

/* @return NULL, or what is wrong */
static const char *draw_frame(const picture *p, const settings *s, size_t frame, unsigned char *rgb)
{
    render_options options = s->options;
    options.azimuth_deg += 360.0 * (double)frame / (double)s->frames;
    return render_image(p->triangles, p->triangle_count, &options, rgb);
}

/* Joins pictures, which have the colours of one palette where one is asked for. @return false when out of memory */
static bool join_frames(const settings *s, const unsigned char *rgb, render_apng *out)
{
    size_t pixels = s->options.width * s->options.height, count = 0;
    unsigned char palette[256][3] = {{0}}, *index = s->palette ? malloc(pixels * s->frames) : NULL;
    bool good = !s->palette ||
                (index && render_choose_palette(rgb, pixels * s->frames, s->palette, palette, &count, index));
    for (size_t i = 0; good && i < s->frames; i++) {
        size_t bytes = 0;
        void *png =
            index ? render_encode_indexed(
                        index + i * pixels, s->options.width, s->options.height, palette, count, &bytes)
                  : render_encode_png(rgb + 3 * i * pixels, s->options.width, s->options.height, 0, &bytes);
        good = png && render_apng_add(out, png, bytes);
        free(png);
    }
    free(index);
    return good;
}

static int draw_animation(const picture *p, const settings *s, const char *output)
{
    enum { FRAMES_PER_SECOND = 24 };
    render_apng out = {.frames = (uint32_t)s->frames, .frames_per_second = FRAMES_PER_SECOND};
    size_t bytes = 3 * s->options.width * s->options.height;
    unsigned char *rgb = bytes <= SIZE_MAX / s->frames ? malloc(bytes * s->frames) : NULL;
    const char *problem = rgb ? NULL : "out of memory";
    for (size_t i = 0; i < s->frames && !problem; i++)
        problem = draw_frame(p, s, i, rgb + i * bytes);
    if (!problem && !join_frames(s, rgb, &out)) problem = "out of memory";
    int code = EXIT_EVALUATION;
    if (problem)
        cli_error("%s: %s", s->file, problem);
    else
        code = write_file(output, out.bytes, out.count);
    free(out.bytes);
    free(rgb);
    return code;
}

static int draw_frames(const picture *p, const settings *s, const char *pattern, unsigned char *rgb)
{
    int code = EXIT_DONE;
    if (!make_folder(pattern)) return EXIT_FILE;
    for (size_t i = 0; i < s->frames && code == EXIT_DONE; i++) {
        char *name = frame_name(pattern, i);
        const char *problem = name ? draw_frame(p, s, i, rgb) : "out of memory";
        if (problem) cli_error("%s: %s", s->file, problem);
        code = problem ? EXIT_EVALUATION : write_picture(name, rgb, s);
        free(name);
    }
    return code;
}

static int draw_one(const picture *p, const settings *s, const char *output, unsigned char *rgb)
{
    const char *problem = render_image(p->triangles, p->triangle_count, &s->options, rgb);
    if (!problem) return write_picture(output, rgb, s);
    cli_error("%s: %s", s->file, problem);
    return EXIT_EVALUATION;
}

static int draw(const rbl_collection *collection, settings *s, const char *output)
{
    render_asset asset;
    picture p = {0};
    unsigned char *rgb = malloc(s->options.width * s->options.height * 3);
    const char *problem = render_asset_create(collection, &s->look, &asset);
    if (!problem) problem = rgb ? make_picture(&asset, s, &p) : "out of memory";
    int code = EXIT_EVALUATION;
    s->options.lines = p.lines;
    s->options.line_count = p.line_count;
    if (problem)
        cli_error("%s: %s", s->file, problem);
    else
        code = s->animated ? draw_animation(&p, s, output)
               : s->frames ? draw_frames(&p, s, output, rgb)
                           : draw_one(&p, s, output, rgb);
    free(p.triangles);
    free(p.lines);
    free(rgb);
    render_asset_free(&asset);
    return code;
}

/* Frames that would take the place of something that is read. */
static bool frames_would_replace(const rbl_graph *graph, const char *pattern, size_t frames)
{
    bool replace = false;
    for (size_t i = 0; i < frames && !replace; i++) {
        char *name = frame_name(pattern, i);
        replace = cli_would_replace_input(name, graph);
        free(name);
    }
    return replace;
}

static int load_and_draw(rbl_engine *engine, settings *s)
{
    bool numbered = s->frames && !s->animated;
    char *output = numbered    ? frame_pattern(s)
                   : s->output ? strdup(s->output)
                               : cli_name_with_ending(s->file, ".png");
    if (!output) return EXIT_USAGE;
    cli_model model;
    cli_model_request request = {.file = s->file,
        .node = s->node,
        .pairs = &s->pairs,
        .output = numbered ? NULL : output,
        .least = RBL_WARNING};
    int code = cli_load_model(engine, &request, &model);
    if (code == EXIT_DONE && numbered && frames_would_replace(model.graph, output, s->frames))
        code = EXIT_USAGE;
    if (code == EXIT_DONE) code = draw(model.collection, s, output);
    cli_free_model(&model);
    free(output);
    return code;
}

int rubble_render(int argc, char **argv)
{
    settings s;
    int code = parse_arguments(argc, argv, &s);
    if (code < 0 && s.hulls == HULLS_EDGES && s.graph) {
        cli_error("--hulls edges or --graph, not both");
        code = EXIT_USAGE;
    }
    if (code < 0) {
        rbl_engine *engine = cli_engine((long)s.options.thread_count, NULL);
        code = engine ? load_and_draw(engine, &s) : EXIT_EVALUATION;
        rbl_engine_destroy(engine);
    }
    free(s.pairs.items);
    return code;
}
