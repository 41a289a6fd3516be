/// rubble inspect: what is in a mesh or a .rbl file, found by a graph of one node.

#include "tools/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/cli/findings.h"
#include "tools/cli/summary.h"

static const char help[] =
    "usage: rubble inspect FILE [--bones] [--json]\n"
    "\n"
    "Reads a mesh (.obj .glb .gltf .stl .ply .off) or a .rbl file and shows what is in it: pieces, shells,\n"
    "triangles, bounds, volume, materials, and what the reader had to say. Of a mesh that needed repair, "
    "also\n"
    "each shell as it was found, where it is, its holes with place and length, its crossings, and settings\n"
    "that would change that; of one that is refused, too.\n"
    "\n"
    "  --bones   list the bones, too\n"
    "  --json    print it as JSON\n"
    "\n"
    "example: rubble inspect graphs/meshes/vase.obj\n";

/// Lengths are metres; what is very large or small was perhaps made in another unit.
static void print_size(const cli_summary *s)
{
    double size[3], longest = 0;
    for (int k = 0; k < 3; k++) {
        size[k] = s->max[k] - s->min[k];
        longest = size[k] > longest ? size[k] : longest;
    }
    printf("  size       %.4g × %.4g × %.4g", size[0], size[1], size[2]);
    if (longest > 500 || longest < 0.02)
        printf(", in metres? (\"scale\": 0.01 makes metres of centimetres, 0.001 of millimetres)");
    printf("\n");
}

static void print_human(const char *file, const rbl_collection *c, const cli_summary *s)
{
    printf("%s\n", file);
    printf("  bones      %zu (%zu cluster%s, %d level%s)\n", s->bones, s->clusters,
        s->clusters == 1 ? "" : "s", s->levels, s->levels == 1 ? "" : "s");
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
        print_size(s);
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
    cli_findings_json(c);
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
        cli_print_findings(collection);
        if (bones) print_bones(collection, false);
    }
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FILE;
}

/// What was found in a mesh that was refused: as if sheets were asked for as bones of their own.
static void show_refused(rbl_graph *graph, const char *file)
{
    rbl_messages *messages = NULL;
    rbl_run *run = NULL;
    rbl_status status =
        rbl_graph_set_parameter(graph, "/nodes/file/params/sheets", "\"separate\"", &messages);
    if (status == RBL_OK) status = rbl_evaluate(graph, NULL, &run);
    if (status == RBL_OK) {
        printf("%s: refused\n", file);
        cli_print_findings(rbl_value_collection(rbl_run_value(run, "file")));
    }
    rbl_messages_destroy(messages);
    rbl_run_destroy(run);
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
        if (!json && (status == RBL_ERR_MESH || status == RBL_ERR_OPEN_MESH)) show_refused(graph, file);
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
