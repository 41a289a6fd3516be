/// A job: a graph with lists of values, multiplied out into assets.

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/cli/batch/names.h"
#include "tools/cli/batch/reader.h"

static char *join(const char *folder, const char *path)
{
    if (*path == '/') folder = "";
    size_t bytes = strlen(folder) + strlen(path) + 1;
    char *out = malloc(bytes);
    if (out) snprintf(out, bytes, "%s%s", folder, path);
    return out;
}

typedef struct axis {
    const char *name; /* of the variable */
    cJSON *values;    /* array */
    bool is_path;
} axis;

typedef struct job {
    const cJSON *json;
    char pointer[64]; /* in the manifest; "" for the command line */
    char *graph_file;
    rbl_graph *graph; /* NULL: it cannot be loaded, for `fault` */
    char *fault;
    axis *axes; /* the values of "set" first, one each */
    size_t axis_count;
    const char *name_template;
} job;

static const char *const job_keys[] = {"graph", "set", "over", "name", "only", "limit"};
enum { JOB_KEYS = sizeof job_keys / sizeof *job_keys };

/// Pointer of a member of the job; of a variable in it when `variable` is given.
static const char *pointer_in(const job *j, const char *key, const char *variable, char buffer[512])
{
    char escaped[300] = "";
    size_t length = 0;
    for (const char *c = variable ? variable : ""; *c && length < sizeof escaped - 3; c++) {
        if (*c == '~' || *c == '/') {
            escaped[length++] = '~';
            escaped[length++] = *c == '~' ? '0' : '1';
        } else {
            escaped[length++] = *c;
        }
    }
    escaped[length] = '\0';
    snprintf(buffer, 512, "%s/%s%s%s", j->pointer, key, variable ? "/" : "", escaped);
    return buffer;
}

static bool check_job(batch_reader *r, const job *j)
{
    char place[512];
    if (!cJSON_IsObject(j->json)) {
        batch_fail_at(r, j->pointer, "a job is an object with \"graph\", and \"set\", \"over\", \"name\" …");
        return false;
    }
    const cJSON *member;
    cJSON_ArrayForEach(member, j->json)
    {
        bool known = false;
        for (size_t i = 0; i < JOB_KEYS; i++)
            known |= strcmp(member->string, job_keys[i]) == 0;
        if (known) continue;
        const char *nearest = rbl_nearest_name(member->string, job_keys, JOB_KEYS);
        batch_fail_at(r, pointer_in(j, member->string, NULL, place),
            "a job has no \"%s\"%s%s%s; it has graph, set, over, name, only and limit", member->string,
            nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
        return false;
    }
    static const struct {
        const char *key, *what;
        int type;
    } types[] = {{"graph", "the path of a graph file", cJSON_String},
        {"set", "an object of values", cJSON_Object}, {"over", "an object of lists", cJSON_Object},
        {"name", "a string like \"{graph}/{mesh}\"", cJSON_String},
        {"only", "the id of a node", cJSON_String}, {"limit", "a number of seconds", cJSON_Number}};
    for (size_t i = 0; i < JOB_KEYS; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(j->json, types[i].key);
        if (value && (value->type & 0xff) != types[i].type) {
            batch_fail_at(
                r, pointer_in(j, types[i].key, NULL, place), "\"%s\" is %s", types[i].key, types[i].what);
            return false;
        }
    }
    const cJSON *limit = cJSON_GetObjectItemCaseSensitive(j->json, "limit");
    if (limit && !(limit->valuedouble > 0 && limit->valuedouble < 1e9)) {
        batch_fail_at(r, pointer_in(j, "limit", NULL, place), "\"limit\" is a number of seconds above 0");
        return false;
    }
    if (!cJSON_GetObjectItemCaseSensitive(j->json, "graph")) {
        batch_fail_at(r, j->pointer, "a job needs \"graph\"");
        return false;
    }
    return true;
}

bool batch_find_variable(const rbl_graph *graph, const char *name, size_t *index)
{
    for (*index = 0; *index < rbl_graph_variable_count(graph); ++*index)
        if (strcmp(rbl_graph_variable_name(graph, *index), name) == 0) return true;
    return false;
}

static bool fail_variable(batch_reader *r, const job *j, const char *key, const char *name)
{
    size_t count = rbl_graph_variable_count(j->graph);
    const char **names = malloc((count + 1) * sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = rbl_graph_variable_name(j->graph, i);
    const char *nearest = names ? rbl_nearest_name(name, names, count) : NULL;
    char place[512];
    batch_fail_at(r, pointer_in(j, key, name, place), "%s has no variable \"%s\"%s%s%s", j->graph_file, name,
        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    free(names);
    return false;
}

/* Values of an axis */

static bool is_glob(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_glob(batch_reader *r, const job *j, const axis *a, const char *pattern)
{
    glob_t found = {0};
    int result = glob(pattern, GLOB_NOSORT, NULL, &found);
    char place[512];
    if (result == GLOB_NOSPACE) {
        batch_fail_memory(r);
    } else if (result != 0 || found.gl_pathc == 0) {
        batch_fail_at(r, pointer_in(j, "over", a->name, place), "no file matches %s", pattern);
    } else {
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_paths);
        for (size_t i = 0; i < found.gl_pathc && r->code == EXIT_DONE; i++)
            if (!cJSON_AddItemToArray(a->values, cJSON_CreateString(found.gl_pathv[i]))) batch_fail_memory(r);
    }
    globfree(&found);
    return r->code == EXIT_DONE;
}

/// One value; a path is made relative to the working folder, and a pattern becomes all files that match.
static bool add_value(batch_reader *r, const job *j, const axis *a, const cJSON *value)
{
    if (!a->is_path || !cJSON_IsString(value)) {
        if (!cJSON_AddItemToArray(a->values, cJSON_Duplicate(value, true))) batch_fail_memory(r);
        return r->code == EXIT_DONE;
    }
    char *path = join(r->folder, value->valuestring);
    struct stat info;
    bool good = path != NULL;
    if (!path)
        batch_fail_memory(r);
    else if (is_glob(value->valuestring) && stat(path, &info) != 0)
        good = add_glob(r, j, a, path);
    else if (!cJSON_AddItemToArray(a->values, cJSON_CreateString(path)))
        batch_fail_memory(r);
    free(path);
    return good && r->code == EXIT_DONE;
}

/// {"from": 0, "to": 9, "step": 1}, both ends included.
static bool add_range(batch_reader *r, const job *j, const axis *a, const cJSON *range)
{
    char place[512];
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(range, "from"),
                *to = cJSON_GetObjectItemCaseSensitive(range, "to"),
                *step = cJSON_GetObjectItemCaseSensitive(range, "step");
    double by = step ? step->valuedouble : 1;
    const cJSON *member;
    bool known = true;
    cJSON_ArrayForEach(member, range) known &= member == from || member == to || member == step;
    double steps = cJSON_IsNumber(from) && cJSON_IsNumber(to) && by != 0
                       ? (to->valuedouble - from->valuedouble) / by
                       : -1;
    if (!known || (step && !cJSON_IsNumber(step)) || !(steps >= 0) || !(steps < BATCH_MOST_ASSETS)) {
        batch_fail_at(r, pointer_in(j, "over", a->name, place),
            "a range is {\"from\": 0, \"to\": 9, \"step\": 1} with at most %d values", BATCH_MOST_ASSETS);
        return false;
    }
    size_t count = (size_t)(steps + 1e-9) + 1;
    for (size_t i = 0; i < count && r->code == EXIT_DONE; i++)
        if (!cJSON_AddItemToArray(a->values, cJSON_CreateNumber(from->valuedouble + by * (double)i)))
            batch_fail_memory(r);
    return r->code == EXIT_DONE;
}

static bool read_axis(batch_reader *r, job *j, const char *key, const cJSON *value)
{
    size_t variable;
    char place[512];
    if (!batch_find_variable(j->graph, value->string, &variable))
        return fail_variable(r, j, key, value->string);
    for (size_t i = 0; i < j->axis_count; i++)
        if (strcmp(j->axes[i].name, value->string) == 0) {
            batch_fail_at(
                r, pointer_in(j, key, value->string, place), "\"%s\" is given twice", value->string);
            return false;
        }
    axis *axes = realloc(j->axes, (j->axis_count + 1) * sizeof *axes);
    if (!axes) return batch_fail_memory(r);
    j->axes = axes;
    axis *a = &axes[j->axis_count];
    *a = (axis){.name = value->string,
        .values = cJSON_CreateArray(),
        .is_path = strcmp(rbl_graph_variable_type(j->graph, variable), "path") == 0};
    if (!a->values) return batch_fail_memory(r);
    j->axis_count++;
    if (strcmp(key, "set") == 0) return add_value(r, j, a, value);
    if (cJSON_IsObject(value)) return add_range(r, j, a, value);
    if (!cJSON_IsArray(value)) return add_value(r, j, a, value);
    const cJSON *one;
    cJSON_ArrayForEach(one, value) if (!add_value(r, j, a, one)) return false;
    if (cJSON_GetArraySize(a->values) == 0)
        batch_fail_at(
            r, pointer_in(j, key, value->string, place), "the list of \"%s\" is empty", value->string);
    return r->code == EXIT_DONE;
}

static bool read_axes(batch_reader *r, job *j)
{
    static const char *const keys[] = {"set", "over"};
    for (size_t k = 0; k < 2; k++) {
        const cJSON *value;
        cJSON_ArrayForEach(value, cJSON_GetObjectItemCaseSensitive(j->json, keys[k]))
        {
            if (!read_axis(r, j, keys[k], value)) return false;
            axis *a = &j->axes[j->axis_count - 1];
            if (k == 0 && cJSON_GetArraySize(a->values) != 1) {
                char place[512];
                batch_fail_at(r, pointer_in(j, "set", a->name, place),
                    "%d files match; \"over\" makes an asset of each", cJSON_GetArraySize(a->values));
                return false;
            }
        }
    }
    return true;
}

/* ---- Assets ---- */

/// Errors as lines, freed by the caller; NULL when there are none or no memory.
static char *error_lines(const rbl_messages *messages)
{
    char *all = NULL;
    size_t length = 0;
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        char *text = NULL;
        if (rbl_messages_get(messages, i)->severity != RBL_ERROR) continue;
        if (rbl_messages_format(messages, i, &text) != RBL_OK) continue;
        size_t bytes = strlen(text);
        char *grown = realloc(all, length + bytes + 1);
        if (grown) {
            memcpy(grown + length, text, bytes + 1);
            all = grown;
            length += bytes;
        }
        rbl_messages_free_text(messages, text);
    }
    return all;
}

typedef struct inputs {
    uint64_t bytes;
    char *missing; /* "path: why" of the first one */
} inputs;

static void look_at_input(void *user, const char *path, bool is_graph)
{
    inputs *in = user;
    struct stat info;
    if (is_graph || is_glob(path)) return;
    if (stat(path, &info) == 0) {
        in->bytes += (uint64_t)info.st_size;
    } else if (!in->missing) {
        size_t bytes = strlen(path) + 64;
        in->missing = malloc(bytes);
        if (in->missing) snprintf(in->missing, bytes, "error: %s: %s\n", path, strerror(errno));
    }
}

/// Sets the asset's variables on the job's graph, to find what is wrong with them and what it reads.
static void try_values(const job *j, batch_asset *asset)
{
    rbl_messages *messages = NULL;
    inputs in = {0};
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < asset->value_count; i++) {
        rbl_status one =
            rbl_graph_set_variable(j->graph, asset->values[i].name, asset->values[i].json, &messages);
        if (status == RBL_OK) status = one;
    }
    if (status == RBL_OK) status = rbl_graph_each_file(j->graph, look_at_input, &in);
    if (asset->only && rbl_graph_find_node(j->graph, asset->only) == SIZE_MAX && !in.missing) {
        size_t bytes = strlen(asset->only) + 64;
        in.missing = malloc(bytes);
        if (in.missing) snprintf(in.missing, bytes, "error: the graph has no node \"%s\"\n", asset->only);
    }
    asset->input_bytes = in.bytes;
    asset->fault = status != RBL_OK ? error_lines(messages) : in.missing;
    if (status != RBL_OK && !asset->fault) asset->fault = strdup("error: its variables cannot be set\n");
    if (asset->fault != in.missing) free(in.missing);
    rbl_messages_destroy(messages);
}

static batch_asset *new_asset(batch_reader *r, const job *j)
{
    batch_list *list = r->list;
    if (list->count == BATCH_MOST_ASSETS) {
        batch_fail_at(r, j->pointer, "there are more than %d assets", BATCH_MOST_ASSETS);
        return NULL;
    }
    if (list->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 64;
        batch_asset *assets = realloc(list->assets, capacity * sizeof *assets);
        if (!assets) return batch_fail_memory(r);
        list->assets = assets;
        r->capacity = capacity;
    }
    batch_asset *asset = &list->assets[list->count];
    *asset = (batch_asset){.graph = strdup(j->graph_file),
        .values = calloc(j->axis_count + 1, sizeof *asset->values),
        .limit_seconds = r->request->limit_seconds};
    list->count++;
    const cJSON *only = cJSON_GetObjectItemCaseSensitive(j->json, "only"),
                *limit = cJSON_GetObjectItemCaseSensitive(j->json, "limit");
    if (only) asset->only = strdup(only->valuestring);
    if (limit) asset->limit_seconds = limit->valuedouble;
    if (!asset->graph || !asset->values || (only && !asset->only)) return batch_fail_memory(r);
    return asset;
}

/// The asset of the values number `choice[axis]`.
static bool add_asset(batch_reader *r, const job *j, cJSON *const *chosen)
{
    batch_asset *asset = new_asset(r, j);
    if (!asset) return false;
    for (size_t i = 0; i < j->axis_count; i++) {
        batch_value *value = &asset->values[asset->value_count++];
        value->name = strdup(j->axes[i].name);
        value->json = cJSON_PrintUnformatted(chosen[i]);
        if (!value->name || !value->json) return batch_fail_memory(r);
    }
    char why[256];
    asset->name = batch_make_name(j->name_template, asset, why, sizeof why);
    if (!asset->name) {
        char place[512];
        batch_fail_at(r, pointer_in(j, "name", NULL, place), "%s", why);
        return false;
    }
    if (j->graph)
        try_values(j, asset);
    else
        asset->fault = strdup(j->fault);
    return true;
}

/// Every combination; the last axis changes fastest.
static bool multiply(batch_reader *r, const job *j)
{
    cJSON **chosen = calloc(j->axis_count + 1, sizeof(cJSON *));
    if (!chosen) return batch_fail_memory(r);
    for (size_t i = 0; i < j->axis_count; i++)
        chosen[i] = j->axes[i].values->child;
    bool more = true;
    while (more && add_asset(r, j, chosen)) {
        more = false;
        for (size_t i = j->axis_count; i-- > 0 && !more;) {
            more = chosen[i]->next != NULL;
            chosen[i] = more ? chosen[i]->next : j->axes[i].values->child;
        }
    }
    free(chosen);
    return r->code == EXIT_DONE;
}

static bool load_graph(batch_reader *r, job *j)
{
    const cJSON *graph = cJSON_GetObjectItemCaseSensitive(j->json, "graph");
    j->graph_file = join(r->folder, graph->valuestring);
    if (!j->graph_file) return batch_fail_memory(r);
    rbl_messages *messages = NULL;
    rbl_status status = rbl_graph_load_file(r->engine, j->graph_file, &messages, &j->graph);
    if (status != RBL_OK) {
        j->fault = error_lines(messages);
        if (!j->fault) j->fault = strdup("error: the graph cannot be loaded\n");
    }
    rbl_messages_destroy(messages);
    return status == RBL_OK || j->fault || batch_fail_memory(r);
}

/// The template of names that is used when none is given: every variable that has several values.
static char *default_template(const job *j)
{
    size_t bytes = 16;
    for (size_t i = 0; i < j->axis_count; i++)
        bytes += strlen(j->axes[i].name) + 4;
    char *text = malloc(bytes);
    if (!text) return NULL;
    size_t length = (size_t)snprintf(text, bytes, "{graph}");
    char between = '/';
    for (size_t i = 0; i < j->axis_count; i++) {
        if (!j->axes[i].values->child || !j->axes[i].values->child->next) continue;
        length += (size_t)snprintf(text + length, bytes - length, "%c{%s}", between, j->axes[i].name);
        between = '_';
    }
    return text;
}

void batch_read_job(batch_reader *r, const cJSON *json, const char *pointer)
{
    job j = {.json = json};
    char *made = NULL;
    snprintf(j.pointer, sizeof j.pointer, "%s", pointer);
    if (check_job(r, &j) && load_graph(r, &j) && (!j.graph || read_axes(r, &j))) {
        /* A graph that cannot be loaded gives one asset, whose variables are not known. */
        const cJSON *name = j.graph ? cJSON_GetObjectItemCaseSensitive(json, "name") : NULL;
        made = default_template(&j);
        j.name_template = name ? name->valuestring : made;
        if (made)
            multiply(r, &j);
        else
            batch_fail_memory(r);
    }
    for (size_t i = 0; i < j.axis_count; i++)
        cJSON_Delete(j.axes[i].values);
    free(j.axes);
    free(j.graph_file);
    free(j.fault);
    free(made);
    rbl_graph_destroy(j.graph);
}
