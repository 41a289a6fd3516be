/// rubble inspect: what is in a mesh or a .rbl file, found by a graph of one node.

#include "tools/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/cli/findings.h"
#include "tools/cli/inspect_parts.h"
#include "tools/cli/model.h"
#include "tools/cli/wrap.h"

/// Lengths are metres; what is very large or small was perhaps made in another unit.
static void print_size(const cli_summary *s)
{
    double size[3], longest = 0;
    for (int k = 0; k < 3; k++) {
        size[k] = s->max[k] - s->min[k];
        longest = size[k] > longest ? size[k] : longest;
    }
    cli_say("  size       %.4g × %.4g × %.4g", size[0], size[1], size[2]);
    if (longest > 500 || longest < 0.02)
        cli_say(", in metres? (\"scale\": 0.01 makes metres of centimetres, 0.001 of millimetres)");
    cli_say("\n");
}

/// What is asked for, and what was found.
typedef struct inspection {
    const char *file, *fail_on;
    bool bones, json, attributes;
    long depth;
    cli_asset asset;
    cli_summary summary;
    cli_engine_cost cost;
    cli_audit audit;
} inspection;

/// What is next to nothing beside the whole is 0.
static void print_bounds(const cli_summary *s)
{
    double size = 0;
    for (int k = 0; k < 3; k++)
        size = fmax(size, s->max[k] - s->min[k]);
    cli_say("  bounds    ");
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 3; k++) {
            double x = side ? s->max[k] : s->min[k];
            cli_say("%s %.6g", side && !k ? " …" : "", fabs(x) > 1e-9 * size ? x : 0);
        }
    cli_say("\n");
}

static void print_materials(const rbl_collection *c, size_t count)
{
    cli_say("  materials  %zu", count);
    for (size_t m = 0; m < count && m < 8; m++)
        cli_say("%s%s", m ? ", " : ": ", rbl_collection_string(c, "material", "name", m));
    cli_say("%s\n", count > 8 ? ", …" : "");
}

static rbl_status print_human(const inspection *i)
{
    const cli_summary *s = &i->summary;
    const rbl_collection *c = i->asset.collection;
    cli_say("%s\n", i->file);
    cli_say("  bones      %zu (%zu cluster%s, %d level%s)\n", s->bones, s->clusters,
        s->clusters == 1 ? "" : "s", s->levels, s->levels == 1 ? "" : "s");
    if (s->levels > 2) cli_print_levels(&i->asset);
    cli_say("  pieces     %zu", s->pieces);
    if (s->pieces > 1)
        cli_say(", volume %.4g (%s) … %.4g (%s)", s->smallest_volume,
            cli_bone_name(&i->asset, (size_t)s->smallest), s->largest_volume,
            cli_bone_name(&i->asset, (size_t)s->largest));
    cli_say("\n");
    if (s->sheets) cli_say("  sheets     %zu\n", s->sheets);
    cli_say("  shells     %zu, %s\n", s->shells, s->open_edges ? "open" : "closed");
    if (s->open_edges) cli_say("  open edges %zu\n", s->open_edges);
    cli_say("  triangles  %zu", s->triangles);
    if (s->internal_triangles) cli_say(" (%zu inside)", s->internal_triangles);
    cli_say(", %zu vertices\n", s->vertices);
    if (s->pieces || s->sheets) {
        print_bounds(s);
        print_size(s);
        cli_say("  volume     %.9g\n", s->volume);
    }
    print_materials(c, s->materials);
    cli_print_engine_cost(&i->cost);
    rbl_status status = cli_print_structure(&i->asset);
    if (status == RBL_OK && (i->bones || i->depth >= 0 || s->bones > 2))
        status = cli_print_tree(&i->asset, i->bones ? INSPECT_ALL : i->depth);
    if (i->attributes) cli_print_attributes(c);
    cli_print_findings(c);
    cli_print_audit(&i->audit);
    return status;
}

static rbl_status print_json(const inspection *i, const rbl_messages *messages)
{
    const rbl_collection *c = i->asset.collection;
    char *text = NULL, hash[33];
    rbl_collection_hash_text(c, hash);
    printf("{\"file\": ");
    cli_json_string(stdout, i->file);
    printf(", \"hash\": \"%s\", \"summary\": ", hash);
    cli_summary_json(c, &i->summary);
    printf(", \"materials\": [");
    for (size_t m = 0; m < i->summary.materials; m++) {
        printf(m ? ", " : "");
        cli_json_string(stdout, rbl_collection_string(c, "material", "name", m));
    }
    printf("]");
    cli_levels_json(&i->asset);
    cli_engine_cost_json(&i->cost);
    rbl_status status = cli_structure_json(&i->asset);
    cli_audit_json(&i->audit);
    cli_attributes_json(c);
    if (i->bones) cli_bones_json(&i->asset);
    cli_findings_json(c);
    if (rbl_messages_json(messages, &text) == RBL_OK) {
        printf(", \"messages\": %s", text);
        rbl_messages_free_text(messages, text);
    }
    printf("}\n");
    return status;
}

/// A result, and no mesh that is still to be broken.
static bool is_finished(const char *file)
{
    size_t length = strlen(file);
    return cli_is_graph(file) || (length >= 4 && strcasecmp(file + length - 4, ".rbl") == 0);
}

static int show(inspection *i, const rbl_collection *collection, const rbl_run *run)
{
    rbl_status status = cli_summarize(collection, true, &i->summary);
    if (status == RBL_OK && !cli_get_asset(collection, &i->asset)) status = RBL_ERR_COLLECTION;
    if (status == RBL_OK) status = cli_count_engine_cost(&i->asset, &i->cost);
    if (status == RBL_OK)
        status = cli_audit_collection(is_finished(i->file), &i->asset, &i->summary, &i->cost, &i->audit);
    if (status == RBL_OK) status = i->json ? print_json(i, rbl_run_messages(run)) : print_human(i);
    if (status != RBL_OK) {
        cli_error("%s: %s", i->file, rbl_status_text(status));
        return EXIT_EVALUATION;
    }
    if (fflush(stdout) != 0) return EXIT_FILE;
    size_t warnings = i->audit.warnings + rbl_messages_count_of(rbl_run_messages(run), RBL_WARNING);
    if (!i->fail_on || !warnings) return EXIT_DONE;
    cli_error("%zu warning%s, and --fail-on warning was given", warnings, warnings == 1 ? "" : "s");
    return EXIT_EVALUATION;
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
        cli_say("%s: refused\n", file);
        cli_print_findings(rbl_value_collection(rbl_run_value(run, "file")));
    }
    rbl_messages_destroy(messages);
    rbl_run_destroy(run);
}

static int read_file(rbl_engine *engine, const inspection *asked, const char *node, const cli_list *pairs)
{
    inspection i = *asked;
    cli_model model;
    cli_model_request request = {
        .file = i.file, .node = node, .pairs = pairs, .least = i.json ? RBL_ERROR : RBL_NOTE};
    int code = cli_load_model(engine, &request, &model);
    rbl_status status = model.run ? rbl_run_status(model.run) : RBL_OK;
    if (code == EXIT_DONE) code = show(&i, model.collection, model.run);
    if (!i.json && !cli_is_graph(i.file) && (status == RBL_ERR_MESH || status == RBL_ERR_OPEN_MESH))
        show_refused(model.graph, i.file);
    cli_free_model(&model);
    return code;
}

int cli_inspect(int argc, char **argv)
{
    inspection i = {.depth = INSPECT_AUTO};
    const char *node = NULL;
    cli_list pairs = {0};
    const cli_option options[] = {
        {"depth", CLI_NUMBER, &i.depth, "N",
            "levels of the tree below the root (default: to the first with several bones)"},
        {"bones", CLI_FLAG, &i.bones, NULL, "list all bones"},
        {"attributes", CLI_FLAG, &i.attributes, NULL, "list groups and attributes, with types and sizes"},
        {"fail-on", CLI_WORD, &i.fail_on, "warning",
            "exit 1 when there is a warning, of the reader or about the pieces"},
        {"json", CLI_FLAG, &i.json, NULL, "print all of it as JSON"},
        {"node", CLI_TEXT, &node, "NODE",
            "of a graph: the node to show (default: the last one that gives a collection)"},
        CLI_OPTION_SET(&pairs), {0}};
    const cli_command command = {.name = "inspect",
        .usage = "FILE [options]",
        .text = "Shows what is in a mesh (.obj .glb .gltf .stl .ply .off .fbx .dae .3mf), a collection "
                "(.rbl) or the result "
                "of a graph (.json .jsonc): pieces and levels, shells, triangles, bounds, volume, materials, "
                "hulls, who "
                "touches whom, the tree of bones; what it costs in an engine (draw calls, memory); and what "
                "a lead artist "
                "would send back: open, tiny or sliver pieces, hulls beyond what engines take, pieces that "
                "touch nothing.\n"
                "Of a mesh that needed repair, also each shell as it was found, where it is, its holes with "
                "place and length, "
                "its crossings, and settings that would change that; of one that is refused, too.",
        .examples =
            "rubble inspect graphs/meshes/vase.obj\nrubble inspect out/wall.rbl --depth 2 --fail-on warning",
        .takes = "MODEL",
        .options = options,
        .arguments = &i.file,
        .least_arguments = 1,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    if (code < 0) {
        rbl_engine *engine = cli_engine(0, NULL);
        code = engine ? read_file(engine, &i, node, &pairs) : EXIT_EVALUATION;
        rbl_engine_destroy(engine);
    }
    free(pairs.items);
    return code;
}
