/// How far the chunks of a batch are: from their journals, and from what Slurm says of their tasks.

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/batch/batch.h"
#include "tools/cli/farm/farm.h"
#include "tools/cli/files.h"

/// An asset of the last run of a chunk.
typedef struct entry {
    char *name, *error;
    enum { STARTED, DONE, FAILED, DROPPED } state; /* dropped: cancelled, or not run */
} entry;

typedef enum chunk_state {
    NOT_BEGUN,
    WAITING, /* Slurm will run it */
    RUNNING,
    ENDED,
    STOPPED, /* it began, did not end, and runs no more */
    UNKNOWN, /* it began, did not end, and nobody here knows */
} chunk_state;
static const char *const state_words[] = {"not begun", "waiting", "running", "ended", "stopped", "unknown"};

typedef struct chunk {
    bool begun, ended;
    chunk_state state;
    size_t assets; /* all of the chunk */
    bool counted;  /* `assets` is known */
    size_t done, before, failed, running, missing;
    char *host, *task, *scheduler; /* what Slurm calls its state */
    long process, restarts;
    entry *entries;
    size_t entry_count;
    size_t *slots; /* hash table of entries by name, 1 + index */
    size_t slot_count;
} chunk;

typedef struct farm {
    chunk *chunks;
    unsigned long count;
    char *job, *merge;
    bool scheduler; /* it was asked and answered */
    bool failed;    /* no memory */
} farm;

/* ---- Journals ---- */

static entry *find_entry(chunk *c, const char *name)
{
    if (2 * (c->entry_count + 1) > c->slot_count) {
        size_t count = c->slot_count ? 2 * c->slot_count : 64;
        size_t *slots = calloc(count, sizeof *slots);
        entry *entries = realloc(c->entries, count * sizeof *entries);
        if (entries) c->entries = entries;
        if (!slots || !entries) {
            free(slots);
            return NULL;
        }
        for (size_t i = 0; i < c->entry_count; i++) {
            size_t at = batch_chunk_of(entries[i].name, count);
            while (slots[at])
                at = (at + 1) % count;
            slots[at] = i + 1;
        }
        free(c->slots);
        c->slots = slots;
        c->slot_count = count;
    }
    size_t at = batch_chunk_of(name, c->slot_count);
    for (; c->slots[at]; at = (at + 1) % c->slot_count)
        if (strcmp(c->entries[c->slots[at] - 1].name, name) == 0) return &c->entries[c->slots[at] - 1];
    char *copy = strdup(name);
    if (!copy) return NULL;
    c->entries[c->entry_count] = (entry){.name = copy};
    c->slots[at] = ++c->entry_count;
    return &c->entries[c->entry_count - 1];
}

static void clear_chunk(chunk *c)
{
    for (size_t i = 0; i < c->entry_count; i++) {
        free(c->entries[i].name);
        free(c->entries[i].error);
    }
    free(c->entries);
    free(c->slots);
    free(c->host);
    free(c->task);
    free(c->scheduler);
    *c = (chunk){.assets = c->assets, .counted = c->counted};
}

static const char *text_of(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static double number_of(const cJSON *object, const char *key)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(number) && number->valuedouble >= 0 && number->valuedouble < 1e12
               ? number->valuedouble
               : 0;
}

static char *copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

/// A new run of the chunk: it tells of all its assets again.
static void begin_chunk(chunk *c, const cJSON *line)
{
    clear_chunk(c);
    c->begun = true;
    c->assets = (size_t)number_of(line, "assets");
    c->counted = true;
    const char *node = text_of(line, "node");
    c->host = copy_of(node ? node : text_of(line, "host"));
    c->task = copy_of(text_of(line, "task"));
    c->process = (long)number_of(line, "process");
    c->restarts = (long)number_of(line, "restarts");
    char here[256] = "";
    if (gethostname(here, sizeof here - 1) == 0 && text_of(line, "host") &&
        strcmp(here, text_of(line, "host")) != 0)
        c->process = 0; /* of another machine */
}

static bool take_asset(chunk *c, const cJSON *line, bool ended)
{
    const char *name = text_of(line, "name"), *state = text_of(line, "state");
    if (!name) return true;
    entry *e = find_entry(c, name);
    if (!e) return false;
    e->state = STARTED;
    if (!ended || !state) return true;
    bool before = strcmp(state, batch_state_text(BATCH_FINISHED_BEFORE)) == 0;
    bool failed = strcmp(state, batch_state_text(BATCH_FAILED)) == 0 ||
                  strcmp(state, batch_state_text(BATCH_TIMED_OUT)) == 0;
    e->state = before || strcmp(state, batch_state_text(BATCH_DONE)) == 0 ? DONE : failed ? FAILED : DROPPED;
    c->before += before;
    free(e->error);
    e->error = copy_of(text_of(line, "error"));
    return true;
}

static bool read_journal(chunk *c, const char *path)
{
    size_t bytes = 0;
    char *text = cli_read_file(path, &bytes);
    bool good = text != NULL;
    for (size_t i = 0; good && i < bytes; i++)
        if (!text[i]) text[i] = '\n'; /* of a file system that crashed */
    for (char *line = text, *next; line && *line && good; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        cJSON *object = cJSON_Parse(line); /* NULL: a line that a kill cut short */
        const char *event = text_of(object, "event");
        if (event && strcmp(event, "begin") == 0)
            begin_chunk(c, object);
        else if (event && strcmp(event, "end") == 0)
            c->ended = true;
        else if (event)
            good = take_asset(c, object, strcmp(event, "asset") == 0);
        cJSON_Delete(object);
    }
    free(text);
    return good;
}

/* ---- What there is ---- */

static bool make_chunks(farm *f, unsigned long count)
{
    if (f->count == count) return true;
    f->chunks = calloc(count, sizeof *f->chunks);
    if (f->chunks) f->count = count;
    return f->chunks != NULL;
}

/// The record of `rubble farm slurm`, when there is one.
static bool read_record(farm *f, const char *folder)
{
    char *path = farm_path(folder, farm_record);
    size_t bytes = 0;
    char *text = path && access(path, F_OK) == 0 ? cli_read_file(path, &bytes) : NULL;
    cJSON *record = text ? cJSON_Parse(text) : NULL;
    double chunks = number_of(record, "chunks");
    bool good = path != NULL;
    if (chunks >= 1 && chunks <= 1e6) {
        f->job = copy_of(text_of(record, "job"));
        f->merge = copy_of(text_of(record, "merge"));
        good = make_chunks(f, (unsigned long)chunks);
        const cJSON *name;
        cJSON_ArrayForEach(
            name, cJSON_GetObjectItemCaseSensitive(record, "assets")) if (good && cJSON_IsString(name))
            f->chunks[batch_chunk_of(name->valuestring, f->count)]
                .assets++;
        for (unsigned long i = 0; good && i < f->count; i++)
            f->chunks[i].counted = true;
    }
    cJSON_Delete(record);
    free(text);
    free(path);
    return good;
}

static bool read_chunks(farm *f, const char *folder)
{
    DIR *directory = opendir(folder);
    if (!directory) {
        cli_error("%s: %s", folder, strerror(errno));
        return false;
    }
    bool good = true;
    for (struct dirent *file; good && (file = readdir(directory)) != NULL;) {
        unsigned long number, count;
        const char *ending;
        if (!farm_is_chunk_file(file->d_name, &number, &count, &ending) || strcmp(ending, "jsonl") != 0)
            continue;
        if (f->count && f->count != count) {
            cli_error("%s: there are journals of %lu and of %lu chunks; remove those of an earlier batch",
                folder, f->count, count);
            good = false;
            break;
        }
        char *path = farm_path(folder, file->d_name);
        good = path && make_chunks(f, count) && read_journal(&f->chunks[number - 1], path);
        free(path);
    }
    closedir(directory);
    if (good && !f->count) {
        cli_error("%s: there are no chunks of a batch (batch-1-of-N.jsonl, %s)", folder, farm_record);
        good = false;
    }
    return good;
}

/* ---- Slurm ---- */

/// Notes the state of one task, "5_3|RUNNING".
static void take_task(farm *f, char *line)
{
    char *bar = strchr(line, '|'), *underline = strchr(line, '_'), *end;
    if (!bar || !underline || underline > bar) return;
    *bar = '\0';
    unsigned long number = strtoul(underline + 1, &end, 10);
    if (end != bar || number < 1 || number > f->count) return;
    char *state = bar + 1;
    state[strcspn(state, " \n|")] = '\0';
    char **place = &f->chunks[number - 1].scheduler;
    free(*place);
    *place = strdup(state);
}

static bool ask(farm *f, char *const *arguments)
{
    farm_output output = farm_run(arguments, NULL, true);
    bool good = output.code == 0;
    for (char *line = good ? output.text : NULL, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        take_task(f, line);
        if (!next) break;
    }
    free(output.text);
    return good;
}

/// Tasks that ended a while ago are only known to accounting, where there is one.
static void ask_scheduler(farm *f)
{
    if (!f->job || !*f->job || strspn(f->job, "0123456789") != strlen(f->job)) return;
    char jobs[80], squeue[] = "squeue", plain[] = "--noheader", every[] = "--array",
                   format[] = "--format=%i|%T";
    char sacct[] = "sacct", whole[] = "-X", parsable[] = "-P", all[] = "--array",
         what[] = "--format=JobID,State";
    snprintf(jobs, sizeof jobs, "--jobs=%.40s", f->job);
    f->scheduler = ask(f, (char *[]){sacct, whole, plain, parsable, all, what, jobs, NULL});
    f->scheduler |= ask(f, (char *[]){squeue, plain, every, format, jobs, NULL});
    if (f->scheduler) return;
    /* A job that squeue no longer knows is an error there: whether it answers at all tells the two apart. */
    char count[] = "--format=%A", nobody[] = "--user=root";
    farm_output output = farm_run((char *[]){squeue, plain, count, nobody, NULL}, NULL, true);
    f->scheduler = output.code == 0;
    free(output.text);
}

static bool is_word_of(const char *state, const char *const *words)
{
    for (; state && *words; words++)
        if (strcmp(state, *words) == 0) return true;
    return false;
}

static chunk_state state_of(const farm *f, const chunk *c)
{
    static const char *const waits[] = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT",
        NULL},
                             *const runs[] = {"RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED",
                                 "STAGE_OUT", "SIGNALING", "STOPPED", "RESIZING", NULL};
    if (is_word_of(c->scheduler, waits)) return WAITING;
    if (c->ended) return ENDED;
    if (is_word_of(c->scheduler, runs)) return RUNNING;
    if (!c->begun) return NOT_BEGUN;
    if (c->task && f->scheduler) return STOPPED;
    if (c->process > 0 && !c->task)
        return kill((pid_t)c->process, 0) == 0 || errno == EPERM ? RUNNING : STOPPED;
    return UNKNOWN;
}

static void count(const farm *f, chunk *c)
{
    c->state = state_of(f, c);
    for (size_t i = 0; i < c->entry_count; i++) {
        c->done += c->entries[i].state == DONE;
        c->failed += c->entries[i].state == FAILED;
        c->running += c->entries[i].state == STARTED && (c->state == RUNNING || c->state == UNKNOWN);
    }
    size_t known = c->done + c->failed + c->running;
    c->missing = c->assets > known ? c->assets - known : 0;
}

/* ---- Telling ---- */

typedef struct totals {
    size_t assets, done, before, failed, running, missing;
    size_t states[UNKNOWN + 1], uncounted;
} totals;

static totals add_up(const farm *f)
{
    totals t = {0};
    for (unsigned long i = 0; i < f->count; i++) {
        const chunk *c = &f->chunks[i];
        t.assets += c->assets;
        t.done += c->done;
        t.before += c->before;
        t.failed += c->failed;
        t.running += c->running;
        t.missing += c->missing;
        t.uncounted += !c->counted;
        t.states[c->state]++;
    }
    return t;
}

static void add_counts(cJSON *object, const chunk *c)
{
    cJSON_AddNumberToObject(object, "assets", (double)c->assets);
    cJSON_AddNumberToObject(object, "done", (double)c->done);
    cJSON_AddNumberToObject(object, "finished_before", (double)c->before);
    cJSON_AddNumberToObject(object, "failed", (double)c->failed);
    cJSON_AddNumberToObject(object, "running", (double)c->running);
    cJSON_AddNumberToObject(object, "missing", (double)c->missing);
}

static cJSON *chunk_json(const chunk *c, unsigned long number, cJSON *failures)
{
    cJSON *one = cJSON_CreateObject();
    cJSON_AddNumberToObject(one, "chunk", (double)number);
    cJSON_AddStringToObject(one, "state", state_words[c->state]);
    add_counts(one, c);
    if (c->host) cJSON_AddStringToObject(one, "host", c->host);
    if (c->task) cJSON_AddStringToObject(one, "task", c->task);
    if (c->task) cJSON_AddNumberToObject(one, "restarts", (double)c->restarts);
    if (c->scheduler) cJSON_AddStringToObject(one, "slurm", c->scheduler);
    cJSON *running = cJSON_AddArrayToObject(one, "running_assets");
    for (size_t i = 0; i < c->entry_count; i++) {
        const entry *e = &c->entries[i];
        if (e->state == STARTED && c->running) cJSON_AddItemToArray(running, cJSON_CreateString(e->name));
        if (e->state != FAILED) continue;
        cJSON *failure = cJSON_CreateObject();
        cJSON_AddStringToObject(failure, "name", e->name);
        if (e->error) cJSON_AddStringToObject(failure, "error", e->error);
        cJSON_AddItemToArray(failures, failure);
    }
    return one;
}

static int print_json(const farm *f, const totals *t, const char *folder)
{
    cJSON *root = cJSON_CreateObject(), *chunks = cJSON_CreateArray(), *failures = cJSON_CreateArray();
    cJSON_AddStringToObject(root, "folder", folder);
    if (f->job) cJSON_AddStringToObject(root, "job", f->job);
    if (f->merge) cJSON_AddStringToObject(root, "merge", f->merge);
    add_counts(root, &(chunk){.assets = t->assets,
                         .done = t->done,
                         .before = t->before,
                         .failed = t->failed,
                         .running = t->running,
                         .missing = t->missing});
    for (unsigned long i = 0; i < f->count; i++)
        cJSON_AddItemToArray(chunks, chunk_json(&f->chunks[i], i + 1, failures));
    cJSON_AddItemToObject(root, "chunks", chunks);
    cJSON_AddItemToObject(root, "failures", failures);
    char *text = cJSON_Print(root);
    int code = text ? cli_print(text) : EXIT_EVALUATION;
    if (code == EXIT_DONE) code = cli_print("\n");
    cJSON_free(text);
    cJSON_Delete(root);
    return code;
}

static void print_failures(const chunk *c)
{
    for (size_t i = 0; i < c->entry_count; i++) {
        const entry *e = &c->entries[i];
        if (e->state != FAILED) continue;
        const char *error = e->error ? e->error : "";
        printf("failed: %s: %.*s\n", e->name, (int)strcspn(error, "\n"), error);
    }
}

static int print_text(const farm *f, const totals *t)
{
    for (unsigned long i = 0; i < f->count; i++) {
        const chunk *c = &f->chunks[i];
        printf("chunk %lu of %lu: %s", i + 1, f->count, state_words[c->state]);
        if (c->counted) printf(", %zu assets: %zu done", c->assets, c->done);
        if (c->failed) printf(", %zu failed", c->failed);
        if (c->running) printf(", %zu running", c->running);
        if (c->missing) printf(", %zu missing", c->missing);
        if (c->host) printf("; on %s", c->host);
        if (c->task) printf(", task %s", c->task);
        if (c->restarts) printf(", restarted %ld times", c->restarts);
        if (c->scheduler) printf(", Slurm says %s", c->scheduler);
        printf("\n");
    }
    for (unsigned long i = 0; i < f->count; i++)
        print_failures(&f->chunks[i]);
    printf("%zu assets: %zu done, %zu failed, %zu running, %zu missing", t->assets, t->done, t->failed,
        t->running, t->missing);
    if (t->uncounted) printf(" (and those of %zu chunks that did not begin)", t->uncounted);
    printf("\n");
    if (fflush(stdout) == 0) return EXIT_DONE;
    cli_error("standard output: %s", strerror(errno));
    return EXIT_FILE;
}

int farm_status(const char *folder, bool json)
{
    farm f = {0};
    int code = EXIT_FILE;
    if (read_record(&f, folder) && read_chunks(&f, folder)) {
        ask_scheduler(&f);
        for (unsigned long i = 0; i < f.count; i++)
            count(&f, &f.chunks[i]);
        totals t = add_up(&f);
        code = json ? print_json(&f, &t, folder) : print_text(&f, &t);
        bool at_work = t.states[WAITING] + t.states[RUNNING] + t.states[UNKNOWN] > 0;
        bool bad = t.failed > 0 || (!at_work && (t.missing > 0 || t.uncounted > 0));
        if (code == EXIT_DONE && bad) code = EXIT_EVALUATION;
    }
    for (unsigned long i = 0; i < f.count; i++)
        clear_chunk(&f.chunks[i]);
    free(f.chunks);
    free(f.job);
    free(f.merge);
    return code;
}
