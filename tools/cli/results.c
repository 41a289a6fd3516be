/// What an ended run made.

#include "tools/cli/results.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/cli.h"

cli_counts cli_count_outcomes(const rbl_run *run)
{
    cli_counts c = {0};
    for (size_t i = 0; i < rbl_run_node_count(run); i++) {
        const rbl_node_report *report = rbl_run_node(run, i);
        if (strcmp(report->reason, "not asked for") == 0) continue;
        c.asked++;
        c.ran += report->outcome == RBL_OUTCOME_RAN || report->outcome == RBL_OUTCOME_SAME_OUTPUT;
        c.hits += report->outcome == RBL_OUTCOME_MEMORY_HIT || report->outcome == RBL_OUTCOME_DISK_HIT;
        c.skipped += report->outcome == RBL_OUTCOME_SKIPPED;
        c.not_needed += report->outcome == RBL_OUTCOME_NOT_NEEDED;
        c.failed += report->outcome == RBL_OUTCOME_FAILED;
    }
    return c;
}

/* ---- Nodes that end a run ---- */

static const rbl_collection *output_of(const rbl_run *run, size_t index)
{
    const rbl_value *value = rbl_run_value(run, rbl_run_node(run, index)->node);
    return value ? rbl_value_collection(value) : NULL;
}

/// Calls `visit` with the index of each Terminal that succeeded; without one, of the last node that gives a
/// collection.
static void each_end(
    const rbl_run *run, void (*visit)(void *user, const rbl_run *run, size_t index), void *user)
{
    size_t visited = 0, count = rbl_run_node_count(run);
    for (size_t i = 0; i < count; i++) {
        const rbl_node_report *report = rbl_run_node(run, i);
        if (strcmp(report->type, "Terminal") != 0 || report->status != RBL_OK ||
            report->outcome == RBL_OUTCOME_SKIPPED)
            continue;
        visit(user, run, i);
        visited++;
    }
    for (size_t i = count; i-- > 0 && !visited;) {
        if (!output_of(run, i)) continue;
        visit(user, run, i);
        visited++;
    }
}

/* ---- Summaries ---- */

typedef struct summary_walk {
    cli_summary_visit visit;
    void *user;
} summary_walk;

static void visit_summary(void *user, const rbl_run *run, size_t index)
{
    const summary_walk *walk = user;
    const rbl_collection *collection = output_of(run, index);
    cli_summary summary;
    if (collection && cli_summarize(collection, true, &summary) == RBL_OK)
        walk->visit(walk->user, rbl_run_node(run, index)->node, collection, &summary);
}

void cli_each_summary(const rbl_run *run, cli_summary_visit visit, void *user)
{
    summary_walk walk = {visit, user};
    each_end(run, visit_summary, &walk);
}

/* ---- Results ---- */

static bool read_number(const cJSON *object, const char *name, double *out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsNumber(item)) return false;
    *out = item->valuedouble;
    return true;
}

static bool read_count(const cJSON *object, const char *name, size_t *out)
{
    double number;
    if (!read_number(object, name, &number) || number < 0) return false;
    *out = (size_t)number;
    return true;
}

static void read_piece(const cJSON *object, const char *name, const char **piece, double *volume)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (read_number(item, "volume", volume))
        *piece = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
}

/// What a Terminal says of its asset, as JSON that the result refers to; NULL when it says nothing.
static cJSON *read_stats(const rbl_run *run, const char *node, cli_result *r)
{
    char name[1024];
    int length = snprintf(name, sizeof name, "%s.stats", node);
    const char *text = length < (int)sizeof name ? rbl_value_string(rbl_run_value(run, name)) : NULL;
    cJSON *object = text ? cJSON_Parse(text) : NULL;
    bool good = read_count(object, "pieces", &r->pieces) && read_count(object, "triangles", &r->triangles) &&
                read_count(object, "hulls", &r->hulls) && read_count(object, "draw_calls", &r->draw_calls) &&
                read_number(object, "volume", &r->volume);
    read_piece(object, "smallest", &r->smallest, &r->smallest_volume);
    read_piece(object, "largest", &r->largest, &r->largest_volume);
    if (good) return object;
    cJSON_Delete(object);
    return NULL;
}

static bool summarize(const rbl_collection *collection, cli_result *r)
{
    cli_summary s;
    if (!collection || cli_summarize(collection, false, &s) != RBL_OK) return false;
    *r = (cli_result){.node = r->node,
        .pieces = s.pieces,
        .triangles = s.triangles,
        .hulls = s.hulls,
        .draw_calls = s.draw_calls,
        .volume = s.volume,
        .smallest_volume = s.smallest_volume,
        .largest_volume = s.largest_volume};
    if (s.pieces) {
        r->smallest = rbl_collection_string(collection, "bone", "name", (size_t)s.smallest);
        r->largest = rbl_collection_string(collection, "bone", "name", (size_t)s.largest);
    }
    return true;
}

typedef struct result_walk {
    cli_result_visit visit;
    void *user;
} result_walk;

static void visit_result(void *user, const rbl_run *run, size_t index)
{
    const result_walk *walk = user;
    cli_result result = {.node = rbl_run_node(run, index)->node};
    cJSON *stats = read_stats(run, result.node, &result);
    if (stats || summarize(output_of(run, index), &result)) walk->visit(walk->user, &result);
    cJSON_Delete(stats);
}

void cli_each_result(const rbl_run *run, cli_result_visit visit, void *user)
{
    result_walk walk = {visit, user};
    each_end(run, visit_result, &walk);
}

void cli_print_result(const cli_result *r)
{
    printf("%s: %zu piece%s, %zu triangle%s, %zu hull%s, %zu draw call%s\n", r->node, r->pieces,
        cli_plural(r->pieces), r->triangles, cli_plural(r->triangles), r->hulls, cli_plural(r->hulls),
        r->draw_calls, cli_plural(r->draw_calls));
    if (r->smallest && r->largest)
        printf("  smallest piece %s (%.3g), largest %s (%.3g), volume %.6g\n", r->smallest,
            r->smallest_volume, r->largest, r->largest_volume, r->volume);
}
