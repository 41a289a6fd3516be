/// What a batch is to make: a manifest or a graph, turned into a list of assets.

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/batch/place.h"
#include "tools/cli/batch/reader.h"

void batch_fail_at(batch_reader *r, const char *pointer, const char *format, ...)
{
    char what[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (r->text && pointer) {
        batch_place place = batch_place_of_pointer(r->text, pointer);
        cli_error("%s:%zu:%zu: %s (%s)", r->request->file, place.line, place.column, what,
            *pointer ? pointer : "/");
    } else {
        cli_error("%s", what);
    }
    r->code = EXIT_USAGE;
}

void *batch_fail_memory(batch_reader *r)
{
    cli_error("%s", rbl_status_text(RBL_ERR_NO_MEMORY));
    r->code = EXIT_EVALUATION;
    return NULL;
}

/// Whether the file looks like a manifest: an object with "rubble_batch" or "jobs".
static bool is_manifest(const char *file)
{
    FILE *probe = fopen(file, "rb");
    if (!probe) return false;
    char start[4096];
    size_t count = fread(start, 1, sizeof start - 1, probe);
    fclose(probe);
    start[count] = '\0';
    return strstr(start, "\"rubble_batch\"") || (strstr(start, "\"jobs\"") && !strstr(start, "\"rubble\""));
}

static int compare_names(const void *a, const void *b, void *user)
{
    const batch_asset *assets = user;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int order = strcmp(assets[i].name, assets[j].name);
    return order ? order : (i > j) - (i < j);
}

static void check_names(batch_reader *r)
{
    const batch_list *list = r->list;
    size_t *order = malloc((list->count + 1) * sizeof *order);
    if (!order) {
        batch_fail_memory(r);
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        order[i] = i;
    qsort_r(order, list->count, sizeof *order, compare_names, list->assets);
    for (size_t i = 1; i < list->count && r->code == EXIT_DONE; i++) {
        const batch_asset *a = &list->assets[order[i - 1]], *b = &list->assets[order[i]];
        if (strcmp(a->name, b->name) != 0) continue;
        batch_fail_at(r, NULL, "two assets are named %s (of %s and %s)", a->name, a->graph, b->graph);
        fprintf(stderr,
            "  a \"name\" like \"{graph}/{mesh.path}_{seed}\" tells them apart: {mesh} is a file's "
            "name, {mesh.file} with its ending, {mesh.path} with its folders\n");
    }
    free(order);
}

int batch_list_read(rbl_engine *engine, const batch_request *request, batch_list *list)
{
    *list = (batch_list){0};
    batch_reader r = {.engine = engine, .request = request, .folder = strdup(""), .list = list};
    if (!r.folder) return EXIT_EVALUATION;
    if (is_manifest(request->file)) {
        if (request->over_count || request->set_count || request->name)
            batch_fail_at(&r, NULL, "--set, --over and --name go with a graph; the manifest has its own");
        else
            batch_read_manifest(&r);
    } else {
        batch_read_graph(&r);
    }
    if (r.code == EXIT_DONE) check_names(&r);
    if (r.code != EXIT_DONE) batch_list_free(list);
    free(r.folder);
    return r.code;
}

void batch_list_free(batch_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        batch_asset *asset = &list->assets[i];
        for (size_t k = 0; k < asset->value_count; k++) {
            free(asset->values[k].name);
            free(asset->values[k].json);
        }
        free(asset->values);
        free(asset->name);
        free(asset->graph);
        free(asset->only);
        free(asset->fault);
    }
    free(list->assets);
    *list = (batch_list){0};
}

rbl_status batch_asset_load(
    rbl_engine *engine, const batch_asset *asset, rbl_messages **messages, rbl_graph **graph)
{
    rbl_graph *loaded = NULL;
    rbl_status status = rbl_graph_load_file(engine, asset->graph, messages, &loaded);
    for (size_t i = 0; i < asset->value_count && status == RBL_OK; i++)
        status = rbl_graph_set_variable(loaded, asset->values[i].name, asset->values[i].json, messages);
    if (status == RBL_OK)
        *graph = loaded;
    else
        rbl_graph_destroy(loaded);
    return status;
}

uint64_t batch_chunk_of(const char *name, uint64_t count)
{
    uint64_t hash = 14695981039346656037ull; /* FNV-1a */
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = (hash ^ *c) * 1099511628211ull;
    return (hash ^ hash >> 32) % count;
}
