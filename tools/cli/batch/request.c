/// A graph with --set and --over: a manifest of one job.

#include <stdlib.h>
#include <string.h>

#include "tools/cli/batch/reader.h"

/// The JSON of a value as a command line gives it.
static cJSON *value_of_text(const char *type, const char *text)
{
    if (strcmp(type, "path") == 0 || strcmp(type, "string") == 0 || strcmp(type, "enum") == 0)
        return cJSON_CreateString(text);
    cJSON *value = cJSON_ParseWithOpts(text, NULL, true);
    if (value) return value;
    size_t bytes = strlen(text) + 3;
    char *list = malloc(bytes);
    if (!list) return NULL;
    snprintf(list, bytes, "[%s]", text);
    value = cJSON_ParseWithOpts(list, NULL, true); /* "0,0,1" */
    free(list);
    return value ? value : cJSON_CreateString(text);
}

/// The values of NAME=VALUES: a JSON list, FROM..TO, or one value, which for a path may be a pattern.
static cJSON *values_of_text(const char *type, const char *text)
{
    long from, to;
    int used = 0;
    if (sscanf(text, "%ld..%ld%n", &from, &to, &used) == 2 && !text[used]) {
        cJSON *range = cJSON_CreateObject();
        cJSON_AddNumberToObject(range, "from", (double)from);
        cJSON_AddNumberToObject(range, "to", (double)to);
        if (to < from) cJSON_AddNumberToObject(range, "step", -1);
        return range;
    }
    cJSON *list = *text == '[' ? cJSON_ParseWithOpts(text, NULL, true) : NULL;
    return list ? list : value_of_text(type, text);
}

static bool add_pairs(batch_reader *r, const rbl_graph *graph, cJSON *object, const char *const *pairs,
    size_t count, bool several, const char *option)
{
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(pairs[i], '=');
        char *name = equals && equals > pairs[i] ? strndup(pairs[i], (size_t)(equals - pairs[i])) : NULL;
        if (!name) {
            batch_fail_at(r, NULL, "%s needs NAME=VALUE, not \"%s\"", option, pairs[i]);
            return false;
        }
        size_t variable;
        const char *type = graph && batch_find_variable(graph, name, &variable)
                               ? rbl_graph_variable_type(graph, variable)
                               : "path";
        cJSON *value = several ? values_of_text(type, equals + 1) : value_of_text(type, equals + 1);
        bool twice = cJSON_GetObjectItemCaseSensitive(object, name) != NULL;
        if (twice) batch_fail_at(r, NULL, "%s %s is given twice", option, name);
        if (twice || !value || !cJSON_AddItemToObject(object, name, value)) {
            cJSON_Delete(value);
            free(name);
            return r->code == EXIT_DONE && batch_fail_memory(r);
        }
        free(name);
    }
    return true;
}

/// A graph with --set and --over is a manifest of one job.
void batch_read_graph(batch_reader *r)
{
    rbl_graph *graph = NULL;
    rbl_status status = rbl_graph_load_file(r->engine, r->request->file, NULL, &graph);
    cJSON *whole = cJSON_CreateObject();
    cJSON *set = cJSON_AddObjectToObject(whole, "set"), *over = cJSON_AddObjectToObject(whole, "over");
    cJSON_AddStringToObject(whole, "graph", r->request->file);
    if (r->request->name) cJSON_AddStringToObject(whole, "name", r->request->name);
    if (!set || !over)
        batch_fail_memory(r);
    else if (add_pairs(r, status == RBL_OK ? graph : NULL, set, r->request->sets, r->request->set_count,
                 false, "--set") &&
             add_pairs(r, status == RBL_OK ? graph : NULL, over, r->request->overs, r->request->over_count,
                 true, "--over"))
        batch_read_job(r, whole, "");
    cJSON_Delete(whole);
    rbl_graph_destroy(graph);
}
