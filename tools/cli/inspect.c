/// rubble inspect: what is in a mesh or a .rbl file, found by a graph of one node.

#include "tools/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/cli/summary.h"

static const char help[] =
    "usage: rubble inspect FILE [--bones] [--json]\n"
    "\n"
    "Reads a mesh (.obj .glb .gltf .stl .ply .off) or a .rbl file and shows what is in it: pieces, shells,\n"
    "triangles, bounds, volume, materials, and what the reader had to say. Of a mesh that needed repair, "
    "also\n"
    "each shell as it was found, its holes with place and length, and settings that would help.\n"
    "\n"
    "  --bones   list the bones, too\n"
    "  --json    print it as JSON\n"
    "\n"
    "example: rubble inspect graphs/meshes/vase.obj\n";

static void print_human(const char *file, const rbl_collection *c, const cli_summary *s)
{
    printf("%s\n", file);
    printf("  bones      %zu (%zu clusters, %d levels)\n", s->bones, s->clusters, s->levels);
    printf("  pieces     %zu\n", s->pieces);
    if (s->sheets) printf("  sheets     %zu\n", s->sheets);
    printf("  shells     %zu, %s\n", s->shells, s->open_edges ? "open" : "closed");
    if (s->open_edges) printf("  open edges %zu\n", s->open_edges);
    printf("  vertices   %zu\n", s->vertices);
    printf("  triangles  %zu", s->triangles);
    if (s->internal_triangles) printf(" (%zu inside)", s->internal_triangles);
    printf("\n");
    if (s->pieces || s->sheets) {
        printf("  bounds     %.6g %.6g %.6g … %.6g %.6g %.6g\n", s->min[0], s->min[1], s->min[2], s->max[0],
            s->max[1], s->max[2]);
        printf("  volume     %.9g\n", s->volume);
    }
    if (s->hulls) printf("  hulls      %zu\n", s->hulls);
    printf("  draw calls %zu\n", s->draw_calls);
    printf("  materials  %zu", s->materials);
    for (size_t m = 0; m < s->materials && m < 8; m++)
        printf("%s%s", m ? ", " : ": ", rbl_collection_string(c, "material", "name", m));
    printf("%s\n", s->materials > 8 ? ", …" : "");
}

static void print_bones(const rbl_collection *c, bool json)
{
    const int32_t *parent = cli_attribute(c, "bone", "parent", RBL_INT32);
    const int32_t *level = cli_attribute(c, "bone", "level", RBL_INT32);
    const int32_t *geometry = cli_attribute(c, "bone", "geometry", RBL_INT32);
    const double *volume = cli_attribute(c, "geometry", "volume", RBL_DOUBLE);
    const int32_t *faces = cli_attribute(c, "geometry", "face_count", RBL_INT32);
    size_t count = rbl_collection_group_size(c, "bone"),
           geometries = rbl_collection_group_size(c, "geometry");
    if (!parent || !level || !geometry || !volume || !faces) return;
    if (json) printf(", \"bones\": [");
    for (size_t b = 0; b < count; b++) {
        bool solid = geometry[b] >= 0 && (size_t)geometry[b] < geometries;
        const char *name = rbl_collection_string(c, "bone", "name", b);
        bool child = parent[b] >= 0 && (size_t)parent[b] < count;
        if (json) {
            printf(b ? ",\n  {\"name\": " : "\n  {\"name\": ");
            cli_json_string(stdout, name);
            printf(", \"parent\": ");
            if (child)
                cli_json_string(stdout, rbl_collection_string(c, "bone", "name", (size_t)parent[b]));
            else
                printf("null");
            printf(
                ", \"level\": %d, \"triangles\": %d, \"volume\": ", level[b], solid ? faces[geometry[b]] : 0);
            cli_json_number(solid ? volume[geometry[b]] : 0);
            printf("}");
        } else if (solid) {
            printf("  %*s%s  volume %.6g, %d triangles\n", 2 * level[b], "", name, volume[geometry[b]],
                faces[geometry[b]]);
        } else {
            printf("  %*s%s\n", 2 * level[b], "", name);
        }
    }
    if (json) printf("\n]");
}

enum { FINDINGS_SHOWN = 40 };

/// The groups that MeshToCollection writes with "details".
typedef struct findings {
    size_t shells, holes;
    const int32_t *triangles, *crossings, *open_holes, *filled_holes;
    const double *volume;
    const unsigned char *overlaps;
    const int32_t *shell, *edges;
    const double *length;
    const double (*center)[3];
    const unsigned char *filled;
} findings;

static bool get_findings(const rbl_collection *c, findings *f)
{
    *f = (findings){.shells = rbl_collection_group_size(c, "shell"),
        .holes = rbl_collection_group_size(c, "hole"),
        .triangles = cli_attribute(c, "shell", "triangles", RBL_INT32),
        .crossings = cli_attribute(c, "shell", "crossings", RBL_INT32),
        .open_holes = cli_attribute(c, "shell", "open_holes", RBL_INT32),
        .filled_holes = cli_attribute(c, "shell", "filled_holes", RBL_INT32),
        .volume = cli_attribute(c, "shell", "volume", RBL_DOUBLE),
        .overlaps = cli_attribute(c, "shell", "overlaps", RBL_BOOL),
        .shell = cli_attribute(c, "hole", "shell", RBL_INT32),
        .edges = cli_attribute(c, "hole", "edges", RBL_INT32),
        .length = cli_attribute(c, "hole", "length", RBL_DOUBLE),
        .center = cli_attribute(c, "hole", "center", RBL_VEC3),
        .filled = cli_attribute(c, "hole", "filled", RBL_BOOL)};
    if (f->holes && !(f->shell && f->edges && f->length && f->center && f->filled)) return false;
    return f->triangles && f->crossings && f->open_holes && f->filled_holes && f->volume && f->overlaps;
}

/// What a person can set about a shell, or NULL.
static const char *advice(const rbl_collection *c, const findings *f, size_t s)
{
    const char *kind = rbl_collection_string(c, "shell", "kind", s);
    const char *why = rbl_collection_string(c, "shell", "why", s);
    if (strcmp(kind, "sheet") == 0 || strcmp(kind, "dropped") == 0) {
        if (strstr(why, "not planar") || strstr(why, "it is open")) return "\"fill\": \"auto\" may close it";
        if (strstr(why, "most of it")) return "\"fill\": \"all\" closes it all the same";
        return "\"sheets\" says what becomes of it";
    }
    if (f->filled_holes[s]) return "\"fill\": \"none\" leaves it open";
    return f->overlaps[s] ? "\"join\": \"none\" keeps it apart" : NULL;
}

static void print_findings(const rbl_collection *c)
{
    findings f;
    bool clean = true;
    if (!get_findings(c, &f)) return;
    for (size_t s = 0; s < f.shells; s++)
        clean = clean && !f.crossings[s] && !f.open_holes[s] && !f.filled_holes[s] && !f.overlaps[s] &&
                *rbl_collection_string(c, "shell", "why", s) == 0;
    if (clean) return;
    printf("  as found   %zu shell%s, %zu hole%s\n", f.shells, f.shells == 1 ? "" : "s", f.holes,
        f.holes == 1 ? "" : "s");
    for (size_t s = 0; s < f.shells && s < FINDINGS_SHOWN; s++) {
        const char *why = rbl_collection_string(c, "shell", "why", s), *hint = advice(c, &f, s);
        printf("    shell %zu of %s: %s, %d triangles", s, rbl_collection_string(c, "shell", "node", s),
            rbl_collection_string(c, "shell", "kind", s), f.triangles[s]);
        if (f.volume[s] != 0) printf(", volume %.6g", f.volume[s]);
        if (f.filled_holes[s]) printf(", %d filled", f.filled_holes[s]);
        if (f.open_holes[s]) printf(", %d open", f.open_holes[s]);
        if (f.crossings[s]) printf(", crosses itself %d times", f.crossings[s]);
        if (f.overlaps[s]) printf(", overlaps another");
        printf("%s%s%s%s%s\n", *why ? "; " : "", why, hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
    }
    if (f.shells > FINDINGS_SHOWN) printf("    … %zu more shells\n", f.shells - FINDINGS_SHOWN);
    for (size_t h = 0; h < f.holes && h < FINDINGS_SHOWN; h++)
        printf("    hole in shell %d at %.6g %.6g %.6g: %d edges, length %.6g, %s\n", f.shell[h],
            f.center[h][0], f.center[h][1], f.center[h][2], f.edges[h], f.length[h],
            f.filled[h] ? "filled" : "open");
    if (f.holes > FINDINGS_SHOWN) printf("    … %zu more holes\n", f.holes - FINDINGS_SHOWN);
}

static void print_findings_json(const rbl_collection *c)
{
    static const char *const texts[] = {"node", "kind", "why"};
    findings f;
    if (!get_findings(c, &f)) return;
    printf(", \"shells\": [");
    for (size_t s = 0; s < f.shells; s++) {
        printf(s ? ",\n  {" : "\n  {");
        for (size_t i = 0; i < 3; i++) {
            printf("\"%s\": ", texts[i]);
            cli_json_string(stdout, rbl_collection_string(c, "shell", texts[i], s));
            printf(", ");
        }
        printf("\"triangles\": %d, \"filled_holes\": %d, \"open_holes\": %d, \"crossings\": %d, "
               "\"overlaps\": %s, \"volume\": ",
            f.triangles[s], f.filled_holes[s], f.open_holes[s], f.crossings[s],
            f.overlaps[s] ? "true" : "false");
        cli_json_number(f.volume[s]);
        printf("}");
    }
    printf("\n], \"holes\": [");
    for (size_t h = 0; h < f.holes; h++) {
        printf(h ? ",\n  {" : "\n  {");
        printf("\"shell\": %d, \"edges\": %d, \"filled\": %s, \"length\": ", f.shell[h], f.edges[h],
            f.filled[h] ? "true" : "false");
        cli_json_number(f.length[h]);
        printf(", \"center\": [");
        for (int k = 0; k < 3; k++) {
            printf(k ? ", " : "");
            cli_json_number(f.center[h][k]);
        }
        printf("]}");
    }
    printf("\n]");
}

static void print_json(
    const char *file, const rbl_collection *c, const cli_summary *s, const rbl_messages *messages, bool bones)
{
    char *text = NULL, hash[33];
    rbl_collection_hash_text(c, hash);
    printf("{\"file\": ");
    cli_json_string(stdout, file);
    printf(", \"hash\": \"%s\", \"summary\": ", hash);
    cli_summary_json(c, s);
    printf(", \"materials\": [");
    for (size_t m = 0; m < s->materials; m++) {
        printf(m ? ", " : "");
        cli_json_string(stdout, rbl_collection_string(c, "material", "name", m));
    }
    printf("]");
    if (bones) print_bones(c, true);
    print_findings_json(c);
    if (rbl_messages_json(messages, &text) == RBL_OK) {
        printf(", \"messages\": %s", text);
        rbl_messages_free_text(messages, text);
    }
    printf("}\n");
}

static int show(const char *file, const rbl_run *run, bool bones, bool json)
{
    const rbl_value *value = rbl_run_value(run, "file");
    const rbl_collection *collection = value ? rbl_value_collection(value) : NULL;
    cli_summary summary;
    rbl_status status = collection ? cli_summarize(collection, true, &summary) : RBL_ERR_COLLECTION;
    if (status != RBL_OK) {
        cli_error("%s: %s", file, rbl_status_text(status));
        return EXIT_EVALUATION;
    }
    if (json) {
        print_json(file, collection, &summary, rbl_run_messages(run), bones);
    } else {
        print_human(file, collection, &summary);
        print_findings(collection);
        if (bones) print_bones(collection, false);
    }
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FILE;
}

static int read_file(rbl_engine *engine, const char *file, bool bones, bool json)
{
    rbl_graph *graph = NULL;
    rbl_run *run = NULL;
    int code = cli_load_file_graph(engine, file, &graph);
    if (code == EXIT_DONE) {
        rbl_status status = rbl_evaluate(graph, NULL, &run);
        if (run && !(json && status == RBL_OK))
            cli_print_file_messages(file, rbl_run_messages(run), RBL_NOTE);
        if (!run) cli_error("%s", rbl_status_text(status));
        code = status == RBL_OK ? show(file, run, bones, json) : cli_exit_code(status);
    }
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    return code;
}

int cli_inspect(int argc, char **argv)
{
    bool bones = false, json = false;
    const char *file = NULL;
    const cli_option options[] = {{"bones", CLI_FLAG, &bones}, {"json", CLI_FLAG, &json}, {0}};
    int code = cli_parse(&(cli_command){"inspect", help, options, &file, 1, 1}, argc, argv);
    if (code >= 0) return code;
    rbl_engine *engine = cli_engine(0, NULL);
    if (!engine) return EXIT_EVALUATION;
    code = read_file(engine, file, bones, json);
    rbl_engine_destroy(engine);
    return code;
}
