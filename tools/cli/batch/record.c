/// asset.json in an asset's folder: what it was made of, what came out, and what was said.

#include "tools/cli/batch/record.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/cli/files.h"

static const char record_name[] = "asset.json";

static char *path_in(const char *folder, const char *name)
{
    size_t bytes = strlen(folder) + strlen(name) + 2;
    char *path = malloc(bytes);
    if (path) snprintf(path, bytes, "%s/%s", folder, name);
    return path;
}

/* ---- Writing ---- */

typedef struct input_list {
    rbl_engine *engine;
    cJSON *list;
    bool failed;
} input_list;

static void add_input(void *user, const char *path, bool is_graph)
{
    input_list *inputs = user;
    const cJSON *known;
    (void)is_graph;
    cJSON_ArrayForEach(
        known, inputs->list) if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(known, "path")),
                                     path) == 0) return;
    char hash[33];
    cJSON *one = cJSON_CreateObject();
    rbl_status status = rbl_engine_hash_file(inputs->engine, path, hash);
    /* A file that is not there counts, too: its coming changes the result. */
    inputs->failed |= status == RBL_ERR_NO_MEMORY || !cJSON_AddStringToObject(one, "path", path) ||
                      !cJSON_AddStringToObject(one, "hash", hash) || !cJSON_AddItemToArray(inputs->list, one);
}

static cJSON *values_of(const batch_asset *asset)
{
    cJSON *values = cJSON_CreateObject();
    for (size_t i = 0; i < asset->value_count; i++)
        if (!cJSON_AddItemToObject(values, asset->values[i].name, cJSON_Parse(asset->values[i].json))) {
            cJSON_Delete(values);
            return NULL;
        }
    return values;
}

/// Files that the run wrote, named below the asset's folder.
static bool add_files(cJSON *list, const rbl_run *run, const char *folder)
{
    size_t length = strlen(folder);
    bool good = true;
    for (size_t i = 0; run && i < rbl_run_file_count(run) && good; i++) {
        const rbl_file_report *file = rbl_run_file(run, i);
        const char *name = file->path;
        if (strncmp(name, folder, length) == 0 && name[length] == '/') name += length + 1;
        cJSON *one = cJSON_CreateObject();
        good = cJSON_AddStringToObject(one, "name", name) &&
               cJSON_AddNumberToObject(one, "bytes", (double)file->bytes) &&
               cJSON_AddStringToObject(one, "hash", file->hash) && cJSON_AddItemToArray(list, one);
    }
    return good;
}

/// The run's own report, nodes and messages in it.
static bool add_run(cJSON *record, const rbl_run *run)
{
    char *text = NULL;
    if (!run) return true;
    bool good = rbl_run_json(run, &text) == RBL_OK && cJSON_AddRawToObject(record, "run", text);
    rbl_run_free_text(run, text);
    return good;
}

static cJSON *make_record(batch *b, const batch_asset *asset, const batch_result *result, rbl_graph *graph,
    const rbl_run *run, const char *folder)
{
    cJSON *record = cJSON_CreateObject();
    cJSON_AddStringToObject(record, "rubble", rbl_version_text());
    cJSON_AddStringToObject(record, "name", asset->name);
    cJSON_AddStringToObject(record, "graph", asset->graph);
    cJSON_AddItemToObject(record, "values", values_of(asset));
    if (asset->only) cJSON_AddStringToObject(record, "only", asset->only);
    cJSON_AddStringToObject(record, "state", batch_state_text(result->state));
    if (result->error) cJSON_AddStringToObject(record, "error", result->error);
    if (result->thumbnail) cJSON_AddStringToObject(record, "thumbnail", result->thumbnail);
    static const char *const numbers[] = {
        "warnings", "errors", "pieces", "triangles", "volume", "wall_ms", "cpu_ms"};
    const double amounts[] = {(double)result->warnings, (double)result->errors, (double)result->pieces,
        (double)result->triangles, result->volume, result->wall_ms, result->cpu_ms};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cJSON_AddNumberToObject(record, numbers[i], amounts[i]);
    input_list inputs = {b->engine, cJSON_AddArrayToObject(record, "inputs"), false};
    cJSON *files = cJSON_AddArrayToObject(record, "files");
    if (graph && inputs.list && rbl_graph_each_file(graph, add_input, &inputs) != RBL_OK)
        inputs.failed = true;
    /* What is added last is missing when something before it found no memory. */
    if (inputs.failed || !files || !add_files(files, run, folder) || !add_run(record, run) ||
        !cJSON_AddTrueToObject(record, "complete")) {
        cJSON_Delete(record);
        return NULL;
    }
    return record;
}

bool batch_record_write(batch *b, const batch_asset *asset, const batch_result *result, rbl_graph *graph,
    const rbl_run *run, const char *folder)
{
    cJSON *record = make_record(b, asset, result, graph, run, folder);
    char *text = record ? cJSON_Print(record) : NULL, *path = path_in(folder, record_name);
    if (path) cli_make_folders(path);
    if (!text || !path) cli_error("%s/%s: %s", folder, record_name, rbl_status_text(RBL_ERR_NO_MEMORY));
    bool good = text && path && cli_write_product(path, text, strlen(text));
    cJSON_Delete(record);
    free(text);
    free(path);
    return good;
}

/* ---- Asking ---- */

static cJSON *read_record(const char *folder)
{
    char *path = path_in(folder, record_name), *text = NULL;
    struct stat info;
    size_t bytes = 0;
    if (path && lstat(path, &info) == 0 && S_ISREG(info.st_mode)) text = cli_read_file(path, &bytes);
    cJSON *record = text ? cJSON_Parse(text) : NULL;
    free(path);
    free(text);
    return record;
}

static bool text_is(const cJSON *record, const char *key, const char *wanted)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(record, key));
    return text ? wanted && strcmp(text, wanted) == 0 : !wanted;
}

/// Whether every file of a list has its hash; names are below `folder`, or (NULL) paths.
static bool files_match(rbl_engine *engine, const cJSON *list, const char *folder)
{
    if (!cJSON_IsArray(list)) return false;
    const cJSON *one;
    cJSON_ArrayForEach(one, list)
    {
        const char *name =
                       cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, folder ? "name" : "path")),
                   *hash = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, "hash"));
        if (!name || !hash) return false;
        char *path = folder && *name != '/' ? path_in(folder, name) : strdup(name), now[33] = "?";
        if (path) rbl_engine_hash_file(engine, path, now);
        free(path);
        if (strcmp(now, hash) != 0) return false;
    }
    return true;
}

static double number_of(const cJSON *record, const char *key)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(record, key);
    return cJSON_IsNumber(number) && number->valuedouble >= 0 && number->valuedouble < 1e15
               ? number->valuedouble
               : 0;
}

bool batch_record_matches(batch *b, const batch_asset *asset, const char *folder, batch_result *result)
{
    cJSON *record = read_record(folder), *values = values_of(asset);
    bool match = record && values && cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(record, "complete")) &&
                 text_is(record, "state", batch_state_text(BATCH_DONE)) &&
                 text_is(record, "rubble", rbl_version_text()) && text_is(record, "graph", asset->graph) &&
                 text_is(record, "only", asset->only) &&
                 cJSON_Compare(values, cJSON_GetObjectItemCaseSensitive(record, "values"), true) &&
                 files_match(b->engine, cJSON_GetObjectItemCaseSensitive(record, "inputs"), NULL) &&
                 files_match(b->engine, cJSON_GetObjectItemCaseSensitive(record, "files"), folder);
    if (match && b->settings->fail_on_warning && number_of(record, "warnings") > 0) match = false;
    if (match) {
        result->warnings = (size_t)number_of(record, "warnings");
        result->pieces = (size_t)number_of(record, "pieces");
        result->triangles = (size_t)number_of(record, "triangles");
        result->volume = number_of(record, "volume");
        const cJSON *thumbnail = cJSON_GetObjectItemCaseSensitive(record, "thumbnail");
        if (cJSON_IsString(thumbnail)) result->thumbnail = strdup(thumbnail->valuestring);
        result->files = (size_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(record, "files"));
    }
    cJSON_Delete(record);
    cJSON_Delete(values);
    return match;
}
