/// What a person or a program sees while a batch runs, on stderr.

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

/// A line under way; what does not fit is left out.
typedef struct line {
    char text[1024];
    size_t length;
} line;

static void add(line *l, const char *format, ...) RBL_PRINTF(2, 3);
static void add(line *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(l->text + l->length, sizeof l->text - l->length, format, arguments);
    va_end(arguments);
    size_t room = sizeof l->text - l->length - 1;
    if (count > 0) l->length += (size_t)count < room ? (size_t)count : room;
}

/// "45 s", "12 min", "3.5 h"
static void add_time(line *l, double seconds)
{
    if (seconds < 90)
        add(l, "%.0f s", seconds);
    else if (seconds < 5400)
        add(l, "%.0f min", seconds / 60);
    else
        add(l, "%.1f h", seconds / 3600);
}

/// Columns of the terminal; one is left free, as some terminals wrap in the last one.
static size_t line_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col - 1u;
    return 79;
}

/// Cuts the line to so many characters: one that wraps could not be taken back.
static void cut(line *l, size_t columns)
{
    size_t at = 0;
    for (size_t used = 0; at < l->length; used++) {
        if (used == columns) break;
        at++;
        while (at < l->length && ((unsigned char)l->text[at] & 0xc0) == 0x80)
            at++;
    }
    l->text[at] = '\0';
}

void batch_draw_line(batch *b)
{
    enum { CELLS = 20 };
    if (b->settings->progress != BATCH_BAR) return;
    double part = b->weight_all > 0 ? b->weight_ended / b->weight_all : 1, spent = batch_now() - b->began;
    line l = {.text = "["};
    l.length = 1;
    for (int i = 0; i < CELLS; i++)
        add(&l, "%c", i < (int)(part * CELLS + 0.5) ? '#' : '.');
    add(&l, "] %zu/%zu", b->ended, b->order_count);
    if (b->failed) add(&l, ", %zu failed", b->failed);
    if (b->cached) add(&l, ", %zu from the cache", b->cached);
    if (b->before) add(&l, ", %zu finished before", b->before);
    if (part > 0.02 && part < 1 && spent > 2) {
        add(&l, ", ");
        add_time(&l, spent * (1 - part) / part);
        add(&l, " left");
    }
    const char *between = ": ";
    for (size_t i = 0; i < b->worker_count && i < 3; i++) {
        if (b->workers[i].asset == SIZE_MAX) continue;
        add(&l, "%s%.80s", between, b->list->assets[b->workers[i].asset].name);
        between = ", ";
    }
    cut(&l, line_columns());
    fprintf(stderr, "\r\033[K%s", l.text);
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
