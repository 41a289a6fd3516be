/// rubble eval --watch: evaluates again whenever the graph or a file that it reads changes.
///
/// Folders are watched, not files, because editors write a new file and rename it over the old one; a change
/// is what `stat` sees. An evaluation under way is cancelled by a change.

#include "tools/cli/eval.h"
#include "tools/cli/model.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rubble/rubble_uv.h"

enum {
    SETTLE_MS = 100, /* without a further event before files are looked at */
    POLL_MS = 1000,  /* where the system does not tell of changes */
};

/// What `stat` says of a file; zeroes when it is not there.
typedef struct signature {
    int64_t seconds, nanoseconds, bytes;
    uint64_t device, inode;
} signature;

typedef enum watched_kind { WATCHED_FILE, WATCHED_GRAPH, WATCHED_PATTERN } watched_kind;

typedef struct watched_file {
    char *path;
    watched_kind kind;
    signature signature;
} watched_file;

typedef struct watched_folder {
    uv_fs_event_t event;
    char *path;
} watched_folder;

typedef struct watcher {
    uv_loop_t loop;
    uv_timer_t settle, poll;
    uv_signal_t interrupt, terminate;
    rbl_engine *engine;
    cli_eval_settings *settings;
    rbl_graph *graph; /* NULL while the file cannot be loaded */
    size_t warning_count;
    watched_file *files;
    size_t file_count;
    watched_folder **folders;
    size_t folder_count;
    rbl_uv_evaluation *evaluation;
    bool reload, again, ending;
    int code; /* of what went wrong in the watcher itself */
} watcher;

static void on_settled(uv_timer_t *timer);

static void give_up(watcher *w, const char *why)
{
    cli_error("%s", why);
    w->code = EXIT_EVALUATION;
    w->ending = true;
}

/* ---- Files ---- */

static signature look_at(const char *path)
{
    struct stat info;
    signature s = {0};
    if (stat(path, &info) != 0) return s;
    s.seconds = (int64_t)info.st_mtim.tv_sec;
    s.nanoseconds = (int64_t)info.st_mtim.tv_nsec;
    s.bytes = (int64_t)info.st_size;
    s.device = (uint64_t)info.st_dev;
    s.inode = (uint64_t)info.st_ino;
    return s;
}

/// What the names say that match a pattern; what is in the files does not count.
static signature look_at_pattern(const char *pattern)
{
    signature s = {0};
    glob_t found = {0};
    if (glob(pattern, 0, NULL, &found) == 0) {
        s.bytes = (int64_t)found.gl_pathc;
        s.inode = 14695981039346656037u; /* FNV-1a */
        for (size_t i = 0; i < found.gl_pathc; i++)
            for (const char *c = found.gl_pathv[i]; c == found.gl_pathv[i] || c[-1]; c++)
                s.inode = (s.inode ^ (unsigned char)*c) * 1099511628211u;
    }
    globfree(&found);
    return s;
}

static signature look_at_file(const watched_file *file)
{
    return file->kind == WATCHED_PATTERN ? look_at_pattern(file->path) : look_at(file->path);
}

static void add_watched(watcher *w, const char *path, watched_kind kind)
{
    for (size_t i = 0; i < w->file_count; i++)
        if (strcmp(w->files[i].path, path) == 0) return;
    watched_file *files = realloc(w->files, (w->file_count + 1) * sizeof *files);
    if (files) w->files = files;
    char *copy = files ? strdup(path) : NULL;
    if (!copy) {
        give_up(w, rbl_status_text(RBL_ERR_NO_MEMORY));
        return;
    }
    watched_file file = {.path = copy, .kind = kind};
    file.signature = look_at_file(&file);
    files[w->file_count++] = file;
}

static void add_file(void *user, const char *path, bool is_graph)
{
    add_watched(user, path, is_graph ? WATCHED_GRAPH : WATCHED_FILE);
}

static void add_graph_file(void *user, const char *path)
{
    add_watched(user, path, WATCHED_GRAPH);
}

static void add_pattern(void *user, const char *pattern)
{
    add_watched(user, pattern, WATCHED_PATTERN);
}

/// Adds all that the graph depends on; of one that cannot be loaded, the files that it is in.
static void add_files(watcher *w)
{
    if (w->graph) {
        rbl_graph_each_file(w->graph, add_file, w);
        rbl_graph_each_pattern(w->graph, add_pattern, w);
    }
    if (w->reload) rbl_engine_each_graph_file(w->engine, w->settings->graph, add_graph_file, w);
}

static void forget_files(watcher *w)
{
    for (size_t i = 0; i < w->file_count; i++)
        free(w->files[i].path);
    w->file_count = 0;
}

/* ---- Folders ---- */

static void on_event(uv_fs_event_t *event, const char *name, int events, int status)
{
    (void)name;
    (void)events;
    (void)status;
    watcher *w = event->loop->data;
    if (!w->ending) uv_timer_start(&w->settle, on_settled, SETTLE_MS, 0);
}

static void on_folder_closed(uv_handle_t *handle)
{
    watched_folder *folder = handle->data;
    free(folder->path);
    free(folder);
}

static void forget_folders(watcher *w)
{
    for (size_t i = 0; i < w->folder_count; i++)
        uv_close((uv_handle_t *)&w->folders[i]->event, on_folder_closed);
    w->folder_count = 0;
}

static void watch_folder(watcher *w, const char *path)
{
    for (size_t i = 0; i < w->folder_count; i++)
        if (strcmp(w->folders[i]->path, path) == 0) return;
    watched_folder **folders = realloc(w->folders, (w->folder_count + 1) * sizeof(watched_folder *));
    if (folders) w->folders = folders;
    watched_folder *folder = folders ? calloc(1, sizeof *folder) : NULL;
    char *copy = folder ? strdup(path) : NULL;
    if (!copy || uv_fs_event_init(&w->loop, &folder->event) != 0) {
        free(copy);
        free(folder);
        give_up(w, rbl_status_text(RBL_ERR_NO_MEMORY));
        return;
    }
    folder->path = copy;
    folder->event.data = folder;
    folders[w->folder_count++] = folder;
    if (uv_fs_event_start(&folder->event, on_event, path, 0) != 0)
        uv_timer_start(&w->poll, on_settled, POLL_MS, POLL_MS);
}

/// Watches the folder of each file; of a folder that is not there, the nearest one above it.
static void watch_folders(watcher *w)
{
    forget_folders(w);
    for (size_t i = 0; i < w->file_count && !w->ending; i++) {
        char *path = strdup(w->files[i].path);
        if (!path) {
            give_up(w, rbl_status_text(RBL_ERR_NO_MEMORY));
            return;
        }
        if (w->files[i].kind == WATCHED_PATTERN) path[strcspn(path, "*?[")] = '\0';
        for (;;) {
            char *slash = strrchr(path, '/');
            if (!slash)
                strcpy(path, *path ? "." : "");
            else if (slash == path)
                path[1] = '\0';
            else
                *slash = '\0';
            bool last = strcmp(path, ".") == 0 || strcmp(path, "/") == 0 || !*path;
            if (last || access(path, F_OK) == 0) break;
        }
        watch_folder(w, *path ? path : ".");
        free(path);
    }
    /* what changed while no folder was watched is seen now */
    if (!w->ending) uv_timer_start(&w->settle, on_settled, SETTLE_MS, 0);
}

/* ---- Evaluations ---- */

static void begin(watcher *w);

/// Says what ran, and why.
static void tell_nodes(const rbl_run *run)
{
    for (size_t i = 0; i < rbl_run_node_count(run); i++) {
        const rbl_node_report *report = rbl_run_node(run, i);
        if (report->outcome == RBL_OUTCOME_RAN || report->outcome == RBL_OUTCOME_SAME_OUTPUT ||
            report->outcome == RBL_OUTCOME_FAILED)
            fprintf(
                stderr, "  %s: %s (%s)\n", report->node, rbl_outcome_text(report->outcome), report->reason);
    }
}

/// The files may be others now: a parameter may come from a node, and nodes read files beside those.
static void refresh(watcher *w)
{
    add_files(w);
    watch_folders(w);
    size_t count = 0;
    for (size_t i = 0; i < w->file_count; i++)
        count += w->files[i].kind != WATCHED_PATTERN;
    if (!w->ending) fprintf(stderr, "watching %zu file%s; Ctrl-C ends\n", count, count == 1 ? "" : "s");
}

static void on_done(void *user, rbl_status status, rbl_run *run)
{
    watcher *w = user;
    w->evaluation = NULL;
    if (w->again || w->ending) {
        if (w->settings->progress_kind == PROGRESS_LINE) fputs("\r\033[K", stderr);
        rbl_run_destroy(run);
    } else {
        const cli_watch_hooks *hooks = w->settings->hooks;
        if (run) tell_nodes(run);
        if (hooks) hooks->ended(hooks->user, w->graph, run, status, run ? rbl_run_messages(run) : NULL);
        cli_eval_tell(w->settings, status, run, w->warning_count);
    }
    if (w->ending) return;
    if (w->again)
        begin(w);
    else
        refresh(w);
}

/// Loads the graph anew. Without success `reload` stays set: the old one is kept for what it remembers, and
/// not evaluated.
static void load(watcher *w)
{
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    const cli_watch_hooks *hooks = w->settings->hooks;
    rbl_status status = hooks ? hooks->load(hooks->user, w->engine, &messages, &graph)
                              : rbl_graph_load_file(w->engine, w->settings->graph, &messages, &graph);
    cli_print_messages(messages);
    if (status != RBL_OK && !rbl_messages_count_of(messages, RBL_ERROR))
        cli_tell_status(status, &w->settings->memory);
    w->warning_count = rbl_messages_count_of(messages, RBL_WARNING);
    if (status != RBL_OK && hooks) hooks->ended(hooks->user, NULL, NULL, status, messages);
    rbl_messages_destroy(messages);
    if (status != RBL_OK || cli_set_variables(graph, &w->settings->pairs) != EXIT_DONE ||
        (!hooks && cli_eval_look_at_outputs(graph, w->settings) != EXIT_DONE)) {
        if (status == RBL_OK && hooks) hooks->ended(hooks->user, NULL, NULL, RBL_ERR_GRAPH, NULL);
        rbl_graph_destroy(graph);
        return;
    }
    if (w->graph) rbl_graph_inherit(graph, w->graph);
    rbl_graph_destroy(w->graph);
    w->graph = graph;
    w->reload = false;
}

/// Evaluates; the graph is loaded before when its file changed. No evaluation may be under way.
static void begin(watcher *w)
{
    w->again = false;
    if (w->reload) load(w);
    if (w->reload) {
        refresh(w);
        return;
    }
    forget_files(w);
    add_files(w); /* as they are before they are read */
    watch_folders(w);
    if (w->ending) return;
    rbl_evaluate_options options;
    cli_eval_options(w->settings, NULL, &options);
    if (w->settings->hooks) w->settings->hooks->begins(w->settings->hooks->user);
    rbl_status status = rbl_uv_evaluate(&w->loop, w->graph, &options, on_done, w, &w->evaluation);
    if (status == RBL_ERR_NOT_FOUND) {
        const cli_watch_hooks *hooks = w->settings->hooks;
        if (hooks) hooks->ended(hooks->user, w->graph, NULL, status, NULL);
        cli_tell_unknown_node(w->graph, w->settings->only);
        refresh(w);
    } else if (status != RBL_OK) {
        give_up(w, rbl_status_text(status));
    }
}

static void on_settled(uv_timer_t *timer)
{
    watcher *w = timer->loop->data;
    size_t changed = 0;
    for (size_t i = 0; i < w->file_count; i++) {
        signature now = look_at_file(&w->files[i]);
        if (memcmp(&now, &w->files[i].signature, sizeof now) == 0) continue;
        if (w->settings->progress_kind == PROGRESS_LINE && !changed) fputs("\r\033[K", stderr);
        fprintf(stderr, "%s%s", changed++ ? ", " : "changed: ", w->files[i].path);
        w->files[i].signature = now;
        w->reload |= w->files[i].kind == WATCHED_GRAPH;
    }
    if (!changed) return;
    fputc('\n', stderr);
    w->again = true;
    if (w->evaluation)
        rbl_uv_cancel(w->evaluation);
    else
        begin(w);
}

/* ---- The whole ---- */

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    watcher *w = handle->loop->data;
    if (w->ending) _exit(EXIT_CANCELLED); /* the second time: at once */
    w->ending = true;
    if (w->evaluation) rbl_uv_cancel(w->evaluation);
    uv_stop(&w->loop);
}

static bool open_loop(watcher *w)
{
    if (uv_loop_init(&w->loop) != 0) return false;
    w->loop.data = w;
    uv_timer_init(&w->loop, &w->settle);
    uv_timer_init(&w->loop, &w->poll);
    uv_signal_init(&w->loop, &w->interrupt);
    uv_signal_init(&w->loop, &w->terminate);
    return uv_signal_start(&w->interrupt, on_signal, SIGINT) == 0 &&
           uv_signal_start(&w->terminate, on_signal, SIGTERM) == 0;
}

static void close_loop(watcher *w)
{
    while (w->evaluation)
        uv_run(&w->loop, UV_RUN_ONCE);
    forget_folders(w);
    if (w->settings->hooks) w->settings->hooks->close(w->settings->hooks->user);
    uv_close((uv_handle_t *)&w->settle, NULL);
    uv_close((uv_handle_t *)&w->poll, NULL);
    uv_close((uv_handle_t *)&w->interrupt, NULL);
    uv_close((uv_handle_t *)&w->terminate, NULL);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    uv_loop_close(&w->loop);
}

int cli_watch(rbl_engine *engine, cli_eval_settings *s)
{
    watcher w = {.engine = engine, .settings = s, .reload = true, .code = EXIT_CANCELLED};
    if (!open_loop(&w)) {
        cli_error("the watcher cannot be started");
        return EXIT_EVALUATION;
    }
    if (s->hooks && !s->hooks->open(s->hooks->user, &w.loop)) {
        w.code = EXIT_FILE;
        w.ending = true;
    } else {
        add_file(&w, s->graph, true);
        begin(&w);
    }
    while (!w.ending)
        uv_run(&w.loop, UV_RUN_ONCE);
    close_loop(&w);
    forget_files(&w);
    rbl_graph_destroy(w.graph);
    free(w.files);
    free(w.folders);
    return w.code;
}
