/// What a person or a program sees while a batch runs, on stderr.

#include <string.h>

#include "tools/cli/batch/batch.h"

const char *batch_state_text(batch_state state)
{
    static const char *const texts[] = {
        "waiting", "running", "done", "finished before", "failed", "timed out", "cancelled", "not run"};
    return texts[state];
}

bool batch_state_is_failure(batch_state state)
{
    return state == BATCH_FAILED || state == BATCH_TIMED_OUT;
}

void batch_clear_line(batch *b)
{
    if (b->line_shown) fputs("\r\033[K", stderr);
    b->line_shown = false;
}

/// "45 s", "12 min", "3.5 h"
static void print_time(double seconds)
{
    if (seconds < 90)
        fprintf(stderr, "%.0f s", seconds);
    else if (seconds < 5400)
        fprintf(stderr, "%.0f min", seconds / 60);
    else
        fprintf(stderr, "%.1f h", seconds / 3600);
}

void batch_draw_line(batch *b)
{
    enum { CELLS = 20 };
    if (b->settings->progress != BATCH_BAR) return;
    double part = b->weight_all > 0 ? b->weight_ended / b->weight_all : 1, spent = batch_now() - b->began;
    fputs("\r\033[K[", stderr);
    for (int i = 0; i < CELLS; i++)
        fputc(i < (int)(part * CELLS + 0.5) ? '#' : '.', stderr);
    fprintf(stderr, "] %zu/%zu", b->ended, b->order_count);
    if (b->failed) fprintf(stderr, ", %zu failed", b->failed);
    if (b->cached + b->before) fprintf(stderr, ", %zu from before", b->cached + b->before);
    if (part > 0.02 && spent > 2) {
        fputs(", ", stderr);
        print_time(spent * (1 - part) / part);
        fputs(" left", stderr);
    }
    const char *between = ": ";
    for (size_t i = 0; i < b->worker_count && i < 3; i++) {
        if (b->workers[i].asset == SIZE_MAX) continue;
        fprintf(stderr, "%s%.40s", between, b->list->assets[b->workers[i].asset].name);
        between = ", ";
    }
    fflush(stderr);
    b->line_shown = true;
}

static void tell_as_json(const batch *b, const batch_asset *asset, const batch_result *result)
{
    fputs("{\"event\": \"asset\", \"name\": ", stderr);
    cli_json_string(stderr, asset->name);
    fprintf(stderr,
        ", \"state\": \"%s\", \"ended\": %zu, \"total\": %zu, \"wall_ms\": %.1f, \"warnings\": %zu, "
        "\"nodes_ran\": %zu, \"nodes_cached\": %zu}\n",
        batch_state_text(result->state), b->ended, b->order_count, result->wall_ms, result->warnings,
        result->nodes_ran, result->nodes_cached);
}

static void tell_as_line(const batch *b, const batch_asset *asset, const batch_result *result)
{
    fprintf(
        stderr, "[%zu/%zu] %s: %s", b->ended, b->order_count, batch_state_text(result->state), asset->name);
    if (result->state == BATCH_DONE)
        fprintf(stderr, " (%zu pieces, %.2f s%s)", result->pieces, result->wall_ms / 1e3,
            result->nodes_ran ? "" : ", all from the cache");
    fputc('\n', stderr);
}

void batch_tell_cache(batch *b, const rbl_messages *messages)
{
    static const char start[] = "the cache";
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        const rbl_message *message = rbl_messages_get(messages, i);
        if (message->severity != RBL_NOTE || strncmp(message->text, start, sizeof start - 1) != 0) continue;
        pthread_mutex_lock(&b->mutex);
        if (!b->cache_told && b->settings->progress != BATCH_JSON) {
            batch_clear_line(b);
            fprintf(stderr, "note: %s\n", message->text);
        }
        b->cache_told = true;
        pthread_mutex_unlock(&b->mutex);
        return;
    }
}

void batch_tell_ended(batch *b, size_t asset)
{
    const batch_asset *what = &b->list->assets[asset];
    const batch_result *result = &b->results[asset];
    batch_progress progress = b->settings->progress;
    batch_clear_line(b);
    if (progress == BATCH_JSON) tell_as_json(b, what, result);
    if (progress == BATCH_PLAIN) tell_as_line(b, what, result);
    if (batch_state_is_failure(result->state) && progress != BATCH_JSON) {
        fprintf(stderr, "%s: %s\n", what->name, batch_state_text(result->state));
        if (result->error) {
            size_t length = strlen(result->error);
            fprintf(stderr, "%s%s", result->error, length && result->error[length - 1] == '\n' ? "" : "\n");
        }
    }
    batch_draw_line(b);
    fflush(stderr);
}
