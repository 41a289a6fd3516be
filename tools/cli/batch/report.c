/// Summaries of a batch. All are made from one JSON, so that those of merged chunks are the same.

#include "tools/cli/batch/report.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/cli/files.h"

/* ---- JSON ---- */

static cJSON *asset_json(const batch_asset *asset, const batch_result *result, size_t index)
{
    cJSON *one = cJSON_CreateObject(), *values = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "name", asset->name);
    cJSON_AddNumberToObject(one, "index", (double)index);
    cJSON_AddStringToObject(one, "state", batch_state_text(result->state));
    cJSON_AddStringToObject(one, "graph", asset->graph);
    for (size_t i = 0; i < asset->value_count; i++)
        cJSON_AddItemToObject(values, asset->values[i].name, cJSON_Parse(asset->values[i].json));
    cJSON_AddItemToObject(one, "values", values);
    const struct {
        const char *key;
        double amount;
    } numbers[] = {{"pieces", (double)result->pieces}, {"triangles", (double)result->triangles},
        {"volume", result->volume}, {"warnings", (double)result->warnings},
        {"errors", (double)result->errors}, {"nodes_ran", (double)result->nodes_ran},
        {"nodes_cached", (double)result->nodes_cached}, {"files", (double)result->files},
        {"bytes", (double)result->file_bytes}, {"wall_ms", result->wall_ms}, {"cpu_ms", result->cpu_ms}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cJSON_AddNumberToObject(one, numbers[i].key, numbers[i].amount);
    if (result->thumbnail) cJSON_AddStringToObject(one, "thumbnail", result->thumbnail);
    if (result->error) cJSON_AddStringToObject(one, "error", result->error);
    return one;
}

static cJSON *make_summary(double seconds, cJSON *assets)
{
    static const char *const states[] = {
        "done", "finished before", "failed", "timed out", "cancelled", "not run"};
    enum { STATES = sizeof states / sizeof *states };
    size_t counts[STATES] = {0}, warnings = 0;
    double cpu = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, assets)
    {
        const char *state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, "state"));
        for (size_t i = 0; i < STATES; i++)
            counts[i] += state && strcmp(state, states[i]) == 0;
        warnings += cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(one, "warnings")) > 0;
        double ms = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(one, "cpu_ms"));
        if (ms > 0) cpu += ms / 1e3;
    }
    cJSON *root = cJSON_CreateObject(), *states_json = cJSON_CreateObject();
    for (size_t i = 0; i < STATES; i++)
        cJSON_AddNumberToObject(states_json, states[i], (double)counts[i]);
    cJSON_AddStringToObject(root, "rubble", rbl_version_text());
    cJSON_AddNumberToObject(root, "count", cJSON_GetArraySize(assets));
    cJSON_AddItemToObject(root, "states", states_json);
    cJSON_AddNumberToObject(root, "with_warnings", (double)warnings);
    cJSON_AddNumberToObject(root, "seconds", seconds);
    cJSON_AddNumberToObject(root, "cpu_seconds", cpu);
    cJSON_AddItemToObject(root, "assets", assets);
    return root;
}

/* ---- Text that grows ---- */

typedef struct text {
    char *data;
    size_t length, capacity;
    bool failed;
} text;

static void add_bytes(text *t, const char *bytes, size_t count)
{
    if (t->length + count + 1 > t->capacity && !t->failed) {
        size_t capacity = 2 * (t->length + count) + 1024;
        char *data = realloc(t->data, capacity);
        t->failed = !data;
        if (data) {
            t->data = data;
            t->capacity = capacity;
        }
    }
    if (t->failed) return;
    memcpy(t->data + t->length, bytes, count);
    t->length += count;
    t->data[t->length] = '\0';
}

static void add(text *t, const char *more)
{
    add_bytes(t, more, strlen(more));
}

static void add_html(text *t, const char *more)
{
    for (; *more; more++) {
        const char *special = strchr("&<>\"'", *more);
        char code[8];
        snprintf(code, sizeof code, "&#%d;", *more);
        if (special)
            add(t, code);
        else
            add_bytes(t, more, 1);
    }
}

/// A path inside a link: what is no plain character becomes %XX.
static void add_link(text *t, const char *path)
{
    for (const unsigned char *c = (const unsigned char *)path; *c; c++) {
        char code[8];
        bool plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     strchr("/._-", *c);
        snprintf(code, sizeof code, plain ? "%c" : "%%%02X", *c);
        add(t, code);
    }
}

static const char *string_of(const cJSON *object, const char *key)
{
    const char *string = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return string ? string : "";
}

static double number_of(const cJSON *object, const char *key)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

/* ---- CSV ---- */

static const char *const columns[] = {"pieces", "triangles", "volume", "warnings", "errors", "nodes_ran",
    "nodes_cached", "files", "bytes", "wall_ms", "cpu_ms"};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void add_csv(text *t, const char *value)
{
    /* A formula in a spreadsheet begins with one of these. */
    bool formula = *value && strchr("=+-@\t\r", *value);
    if (!formula && !strpbrk(value, ",\"\r\n")) {
        add(t, value);
        return;
    }
    add(t, formula ? "\"'" : "\"");
    for (; *value; value++)
        add_bytes(t, *value == '"' ? "\"\"" : value, *value == '"' ? 2 : 1);
    add(t, "\"");
}

static void make_csv(text *t, const cJSON *assets)
{
    add(t, "name,state,graph,values");
    for (size_t i = 0; i < COLUMNS; i++) {
        add(t, ",");
        add(t, columns[i]);
    }
    add(t, ",error\n");
    const cJSON *one;
    cJSON_ArrayForEach(one, assets)
    {
        char *values = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(one, "values"));
        const char *texts[] = {
            string_of(one, "name"), string_of(one, "state"), string_of(one, "graph"), values ? values : ""};
        for (size_t i = 0; i < 4; i++) {
            if (i) add(t, ",");
            add_csv(t, texts[i]);
        }
        for (size_t i = 0; i < COLUMNS; i++) {
            char number[40];
            snprintf(number, sizeof number, ",%.10g", number_of(one, columns[i]));
            add(t, number);
        }
        add(t, ",");
        add_csv(t, string_of(one, "error"));
        add(t, "\n");
        free(values);
    }
}

/* ---- HTML ---- */

static const char page_head[] =
    "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>rubble batch</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
    ":root{color-scheme:light dark;font:14px/1.45 system-ui,sans-serif}body{margin:2rem;max-width:90rem}\n"
    "h1{font-size:1.4rem;margin:0 0 .3rem}table{border-collapse:collapse;width:100%;margin-top:1rem}\n"
    "th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #8884;vertical-align:top}\n"
    "th button{all:unset;cursor:pointer;font-weight:600}th button:focus-visible{outline:2px solid}\n"
    "th.n,td.n{text-align:right;font-variant-numeric:tabular-nums}img{width:128px;height:96px;display:block}"
    "\n"
    "pre{margin:0;white-space:pre-wrap;font-size:12px}.failed td,.timed td{background:#d3363618}\n"
    ".warned td{background:#d9a40018}input{font:inherit;padding:.2rem .4rem}\n</style>\n";

static const char page_script[] =
    "<script>\n"
    "const body=document.querySelector('tbody'),rows=[...body.rows];\n"
    "document.querySelector('#find').addEventListener('input',e=>{const t=e.target.value.toLowerCase();\n"
    "for(const r of rows)r.hidden=!r.textContent.toLowerCase().includes(t)});\n"
    "document.querySelectorAll('th button').forEach((b,i)=>{let "
    "up=false;b.addEventListener('click',()=>{up=!up;\n"
    "const key=r=>{const c=r.cells[i];return c.classList.contains('n')?+c.dataset.v:c.textContent};\n"
    "rows.sort((x,y)=>{const a=key(x),c=key(y);return(a<c?-1:a>c?1:0)*(up?1:-1)});body.append(...rows)})});\n"
    "</script>\n";

static void add_cell(text *t, double number, int decimals)
{
    char cell[120];
    snprintf(cell, sizeof cell, "<td class=\"n\" data-v=\"%.10g\">%.*f</td>", number, decimals, number);
    add(t, cell);
}

static void add_row(text *t, const cJSON *one)
{
    const char *state = string_of(one, "state"), *thumbnail = string_of(one, "thumbnail");
    add(t, strcmp(state, "failed") == 0      ? "<tr class=\"failed\">"
           : strcmp(state, "timed out") == 0 ? "<tr class=\"timed\">"
           : number_of(one, "warnings") > 0  ? "<tr class=\"warned\">"
                                             : "<tr>");
    add(t, "<td>");
    if (*thumbnail) {
        add(t, "<img loading=\"lazy\" alt=\"\" src=\"");
        add_link(t, string_of(one, "name"));
        add(t, "/");
        add_link(t, thumbnail);
        add(t, "\">");
    }
    add(t, "</td><td><a href=\"");
    add_link(t, string_of(one, "name"));
    add(t, "/asset.json\">");
    add_html(t, string_of(one, "name"));
    add(t, "</a>");
    if (*string_of(one, "error")) {
        add(t, "<pre>");
        add_html(t, string_of(one, "error"));
        add(t, "</pre>");
    }
    add(t, "</td><td>");
    add_html(t, state);
    add(t, "</td>");
    add_cell(t, number_of(one, "pieces"), 0);
    add_cell(t, number_of(one, "triangles"), 0);
    add_cell(t, number_of(one, "warnings"), 0);
    add_cell(t, number_of(one, "bytes") / 1e6, 2);
    add_cell(t, number_of(one, "wall_ms") / 1e3, 2);
    add_cell(t, number_of(one, "cpu_ms") / 1e3, 2);
    add(t, "</tr>\n");
}

static void make_html(text *t, const cJSON *summary)
{
    const cJSON *state;
    char number[64];
    add(t, page_head);
    snprintf(number, sizeof number, "<h1>%.0f assets</h1>\n<p>", number_of(summary, "count"));
    add(t, number);
    cJSON_ArrayForEach(state, cJSON_GetObjectItemCaseSensitive(summary, "states"))
    {
        if (state->valuedouble == 0) continue;
        snprintf(number, sizeof number, "%.0f %s · ", state->valuedouble, state->string);
        add(t, number);
    }
    snprintf(number, sizeof number, "%.0f with warnings · %.1f s · %.1f s of CPU</p>\n",
        number_of(summary, "with_warnings"), number_of(summary, "seconds"),
        number_of(summary, "cpu_seconds"));
    add(t, number);
    add(t, "<label>Find <input id=\"find\" type=\"search\"></label>\n<table><thead><tr>");
    static const char *const heads[] = {
        "", "Name", "State", "Pieces", "Triangles", "Warnings", "MB", "Seconds", "CPU s"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        add(t, i < 3 ? "<th><button>" : "<th class=\"n\"><button>");
        add(t, heads[i]);
        add(t, "</button></th>");
    }
    add(t, "</tr></thead><tbody>\n");
    for (int failures = 1; failures >= 0; failures--) {
        const cJSON *one;
        cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(summary, "assets"))
        {
            bool failed = strcmp(string_of(one, "state"), "failed") == 0 ||
                          strcmp(string_of(one, "state"), "timed out") == 0;
            if (failed == failures) add_row(t, one);
        }
    }
    add(t, "</tbody></table>\n");
    add(t, page_script);
}

/* ---- Files ---- */

static bool write_one(const char *folder, const char *stem, const char *ending, const text *t)
{
    size_t bytes = strlen(folder) + 64;
    char *path = malloc(bytes);
    if (path) snprintf(path, bytes, "%s/%s.%s", folder, stem, ending);
    if (!path || t->failed)
        cli_error("%s/%s.%s: %s", folder, stem, ending, rbl_status_text(RBL_ERR_NO_MEMORY));
    bool good = path && !t->failed && cli_write_product(path, t->data ? t->data : "", t->length);
    free(path);
    return good;
}

static bool write_all(const char *folder, const char *stem, const cJSON *summary)
{
    const cJSON *assets = cJSON_GetObjectItemCaseSensitive(summary, "assets");
    text csv = {0}, html = {0};
    char *json_text = cJSON_Print(summary);
    text json = {json_text, json_text ? strlen(json_text) : 0, 0, !json_text};
    make_csv(&csv, assets);
    make_html(&html, summary);
    mkdir(folder, 0777); /* what goes wrong shows when files are written */
    bool good = write_one(folder, stem, "json", &json);
    good = write_one(folder, stem, "csv", &csv) && good;
    good = write_one(folder, stem, "html", &html) && good;
    free(json_text);
    free(csv.data);
    free(html.data);
    return good;
}

bool batch_report_write(const batch *b)
{
    char stem[64] = "batch";
    if (b->settings->chunked)
        snprintf(stem, sizeof stem, "batch-%llu-of-%llu", (unsigned long long)b->settings->chunk + 1,
            (unsigned long long)b->settings->chunk_count);
    cJSON *assets = cJSON_CreateArray();
    for (size_t i = 0; i < b->list->count; i++) {
        if (b->settings->chunk_count > 1 &&
            batch_chunk_of(b->list->assets[i].name, b->settings->chunk_count) != b->settings->chunk)
            continue;
        cJSON_AddItemToArray(assets, asset_json(&b->list->assets[i], &b->results[i], i));
    }
    cJSON *summary = make_summary(batch_now() - b->began, assets);
    bool good = write_all(b->settings->out, stem, summary);
    cJSON_Delete(summary);
    return good;
}

/* ---- Merging ---- */

static int compare_indices(const void *a, const void *b)
{
    double i = number_of(*(cJSON *const *)a, "index"), j = number_of(*(cJSON *const *)b, "index");
    return (i > j) - (i < j);
}

/// Takes the assets out of one chunk's summary.
static bool take_assets(const char *path, cJSON ***all, size_t *count, double *seconds)
{
    size_t bytes = 0;
    char *json = cli_read_file(path, &bytes);
    cJSON *summary = json ? cJSON_Parse(json) : NULL;
    cJSON *assets = cJSON_GetObjectItemCaseSensitive(summary, "assets");
    bool good = cJSON_IsArray(assets);
    if (json && !good) cli_error("%s: is no summary of rubble batch", path);
    if (good && number_of(summary, "seconds") > *seconds) *seconds = number_of(summary, "seconds");
    while (good && assets->child) {
        cJSON **grown = (*count & (*count - 1)) == 0 ? realloc(*all, (2 * *count + 1) * sizeof **all) : *all;
        good = grown != NULL;
        if (!good) cli_error("%s", rbl_status_text(RBL_ERR_NO_MEMORY));
        if (!good) break;
        *all = grown;
        grown[(*count)++] = cJSON_DetachItemViaPointer(assets, assets->child);
    }
    cJSON_Delete(summary);
    free(json);
    return good;
}

/// The number of chunks that a file name "batch-2-of-8.json" tells, else 0.
static unsigned long chunks_of_name(const char *name)
{
    unsigned long chunk, count;
    int used = 0;
    if (sscanf(name, "batch-%lu-of-%lu.json%n", &chunk, &count, &used) != 2 || !used || name[used]) return 0;
    return chunk >= 1 && chunk <= count ? count : 0;
}

static unsigned long find_chunk_count(const char *folder)
{
    DIR *directory = opendir(folder);
    unsigned long count = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        unsigned long one = chunks_of_name(entry->d_name);
        if (one && count && one != count) {
            cli_error("%s: there are summaries of %lu and of %lu chunks; remove those of an earlier batch",
                folder, count, one);
            count = 0;
            break;
        }
        if (one) count = one;
    }
    if (directory) closedir(directory);
    return count;
}

int batch_report_merge(const char *folder)
{
    unsigned long chunks = find_chunk_count(folder);
    cJSON **all = NULL;
    size_t count = 0, failed = 0;
    double seconds = 0;
    bool good = chunks > 0;
    if (!good) cli_error("%s: there are no summaries of chunks (batch-1-of-N.json)", folder);
    for (unsigned long i = 1; i <= chunks && good; i++) {
        size_t bytes = strlen(folder) + 80;
        char *path = malloc(bytes);
        if (path) snprintf(path, bytes, "%s/batch-%lu-of-%lu.json", folder, i, chunks);
        good = path && take_assets(path, &all, &count, &seconds);
        free(path);
    }
    if (count) qsort(all, count, sizeof *all, compare_indices);
    cJSON *assets = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        const char *state = string_of(all[i], "state");
        failed += strcmp(state, "done") != 0 && strcmp(state, "finished before") != 0;
        cJSON_AddItemToArray(assets, all[i]);
    }
    cJSON *summary = make_summary(seconds, assets);
    good = good && write_all(folder, "batch", summary);
    if (good)
        printf("%zu assets of %lu chunks, %zu failed or missing; %s/batch.html\n", count, chunks, failed,
            folder);
    cJSON_Delete(summary);
    free(all);
    return !good ? EXIT_FILE : failed ? EXIT_EVALUATION : EXIT_DONE;
}
