/// rubble batch: many assets by one command.

#include "tools/cli/batch/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/batch/journal.h"
#include "tools/cli/batch/report.h"
#include "tools/cli/batch/thumbnail.h"
#include "tools/cli/files.h"

/// What assets share stays in memory: sources and what is made of them before a seed comes in. The rest is not asked for again.
static const size_t kept_bytes = (size_t)256 << 20;

typedef struct arguments {
    const char *file, *out, *name, *chunk, *cache, *progress, *fail_on, *merge;
    cli_list sets, overs;
    long threads, limit;
    size_t memory, cache_bytes;
    bool no_cache, resume, dry_run, stop_on_failure, thumbnails;
} arguments;

/* ---- Options ---- */

static bool read_number(const char *text, unsigned long long *out)
{
    char *end;
    if (!text || *text < '0' || *text > '9') return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !errno && !*end;
}

/// `auto` and `auto/N`: what Slurm or Kubernetes says.
static bool read_chunk_of_farm(const char *text, unsigned long long *index, unsigned long long *count)
{
    unsigned long long first = 0;
    const char *slurm = getenv("SLURM_ARRAY_TASK_ID"), *kubernetes = getenv("JOB_COMPLETION_INDEX");
    if (slurm) {
        if (!read_number(slurm, index) || !read_number(getenv("SLURM_ARRAY_TASK_COUNT"), count)) return false;
        if (getenv("SLURM_ARRAY_TASK_MIN") && !read_number(getenv("SLURM_ARRAY_TASK_MIN"), &first))
            return false;
        *index = *index - first + 1;
        return true;
    }
    if (!read_number(kubernetes, index) || text[4] != '/' || !read_number(text + 5, count)) return false;
    ++*index; /* counted from 0 there */
    return true;
}

static bool read_chunk(const char *text, batch_settings *s)
{
    unsigned long long index = 1, count = 1;
    bool farm = text && strncmp(text, "auto", 4) == 0 && (!text[4] || text[4] == '/'), good = true;
    if (farm) {
        good = read_chunk_of_farm(text, &index, &count);
    } else if (text) {
        const char *slash = strchr(text, '/');
        char *first = slash ? strndup(text, (size_t)(slash - text)) : NULL;
        good = read_number(first, &index) && read_number(slash + 1, &count);
        free(first);
    }
    good = good && index >= 1 && index <= count && count <= 1000000;
    if (!good && farm)
        cli_error("--chunk %s: neither SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT nor, for auto/N, "
                  "JOB_COMPLETION_INDEX say which part this is",
            text);
    else if (!good)
        cli_error("--chunk needs I/N with I from 1 to N, not \"%s\"", text);
    s->chunked = text != NULL;
    s->chunk = index - 1;
    s->chunk_count = count;
    return good;
}

static bool read_settings(const arguments *a, batch_settings *s)
{
    static const char *const words[] = {"none", "bar", "plain", "json"};
    *s = (batch_settings){.out = a->out,
        .resume = a->resume,
        .stop_on_failure = a->stop_on_failure,
        .fail_on_warning = a->fail_on != NULL,
        .no_cache = a->no_cache,
        .thumbnails = a->thumbnails,
        .memory = a->memory};
    const char *terminal = getenv("TERM");
    bool dumb = terminal && strcmp(terminal, "dumb") == 0; /* it cannot take a line back */
    s->progress = isatty(STDERR_FILENO) && !dumb ? BATCH_BAR : BATCH_PLAIN;
    for (int i = 0; i < 4; i++)
        if (strcmp(a->progress, words[i]) == 0) s->progress = (batch_progress)i;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long threads = a->threads > 0 ? a->threads : cores > 0 ? cores : 1;
    s->thread_count = (int)(threads > BATCH_MOST_WORKERS ? BATCH_MOST_WORKERS : threads);
    if (!*a->out) cli_error("--out needs a folder");
    return *a->out && read_chunk(a->chunk, s);
}

/* ---- Running ---- */

static int print_list(const batch *b)
{
    size_t faults = 0;
    for (size_t i = 0; i < b->order_count; i++) {
        const batch_asset *asset = &b->list->assets[b->order[i]];
        printf("%s: %s", asset->name, asset->graph);
        for (size_t k = 0; k < asset->value_count; k++)
            printf(" %s=%s", asset->values[k].name, asset->values[k].json);
        printf("\n");
        if (asset->fault) fputs(asset->fault, stdout);
        faults += asset->fault != NULL;
    }
    printf("%zu asset%s, %zu that cannot run\n", b->order_count, cli_plural(b->order_count), faults);
    if (fflush(stdout) != 0) {
        cli_error("standard output: %s", strerror(errno));
        return EXIT_FILE;
    }
    return faults ? EXIT_EVALUATION : EXIT_DONE;
}

static int tell_end(const batch *b, bool written)
{
    size_t counts[BATCH_NOT_RUN + 1] = {0};
    for (size_t i = 0; i < b->order_count; i++)
        counts[b->results[b->order[i]].state]++;
    double seconds = batch_now() - b->began;
    size_t failed = counts[BATCH_FAILED] + counts[BATCH_TIMED_OUT];
    size_t missing = counts[BATCH_CANCELLED] + counts[BATCH_NOT_RUN];
    printf("%zu asset%s: %zu done", b->order_count, cli_plural(b->order_count), counts[BATCH_DONE]);
    if (b->cached) printf(" (%zu from the cache)", b->cached);
    if (counts[BATCH_FINISHED_BEFORE]) printf(", %zu finished before", counts[BATCH_FINISHED_BEFORE]);
    if (failed) printf(", %zu failed", failed);
    if (missing) printf(", %zu not done", missing);
    printf("; %.1f s", seconds);
    if (counts[BATCH_DONE] > 1 && seconds > 1)
        printf(", %.0f a minute", (double)counts[BATCH_DONE] * 60 / seconds);
    printf("\n");
    if (batch_interrupted())
        fprintf(stderr,
            "interrupted; what is finished stays, and the same command with --resume does the rest\n");
    if (fflush(stdout) != 0 || !written) return EXIT_FILE;
    if (batch_interrupted()) return EXIT_CANCELLED;
    return failed || missing ? EXIT_EVALUATION : EXIT_DONE;
}

/// The assets of this process's chunk.
static bool choose(batch *b)
{
    const batch_settings *s = b->settings;
    b->results = calloc(b->list->count + 1, sizeof *b->results);
    b->order = malloc((b->list->count + 1) * sizeof *b->order);
    for (size_t i = 0; b->order && i < b->list->count; i++)
        if (s->chunk_count <= 1 || batch_chunk_of(b->list->assets[i].name, s->chunk_count) == s->chunk)
            b->order[b->order_count++] = i;
    return b->results && b->order;
}

static int run_list(batch *b, const arguments *a)
{
    if (!choose(b)) {
        cli_error("%s", rbl_status_text(RBL_ERR_NO_MEMORY));
        return EXIT_EVALUATION;
    }
    if (a->dry_run) return print_list(b);
    if (!cli_can_hold_files(a->out)) return EXIT_FILE;
    batch_catch_signals();
    batch_journal_open(b);
    bool good = batch_run(b), written = good && batch_report_write(b);
    batch_journal_close(b);
    if (!good) {
        cli_error("%s", rbl_status_text(RBL_ERR_NO_MEMORY));
        return EXIT_EVALUATION;
    }
    return tell_end(b, written);
}

static int run(const arguments *a, const batch_settings *s)
{
    batch b = {.settings = s, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    batch_list list = {0};
    rbl_executor executor;
    batch_executor(&b, &executor);
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.executor = &executor;
    options.limit_bytes = a->memory;
    options.memory_bytes = kept_bytes;
    options.cache_folder = a->no_cache ? NULL : a->cache ? a->cache : getenv("RUBBLE_CACHE");
    options.cache_bytes = a->cache_bytes;
    rbl_status status = rbl_engine_create(&options, &b.engine);
    if (status != RBL_OK) {
        cli_engine_fault(status, options.cache_folder);
        return cli_engine_exit_code(options.cache_folder);
    }
    batch_request request = {.file = a->file,
        .sets = a->sets.items,
        .overs = a->overs.items,
        .set_count = a->sets.count,
        .over_count = a->overs.count,
        .name = a->name,
        .limit_seconds = (double)a->limit};
    int code = batch_list_read(b.engine, &request, &list);
    b.list = &list;
    if (code == EXIT_DONE) code = run_list(&b, a);
    for (size_t i = 0; b.results && i < list.count; i++) {
        free(b.results[i].error);
        free(b.results[i].thumbnail);
    }
    free(b.results);
    free(b.order);
    batch_list_free(&list);
    rbl_engine_destroy(b.engine);
    return code;
}

int cli_batch(int argc, char **argv)
{
    arguments a = {.out = "out", .progress = "auto", .cache_bytes = (size_t)10 << 30};
    const cli_option options[] = {{"over", CLI_LIST, &a.overs, "NAME=VALUES",
                                      "an asset for each value: a pattern of files ('props/*.glb'), "
                                      "FROM..TO, or a JSON list; several --over make every combination"},
        {"set", CLI_LIST, &a.sets, "NAME=VALUE", "a value for all assets"},
        {"name", CLI_TEXT, &a.name, "TEMPLATE",
            "names of assets (default '{graph}/{NAME}_…'): {graph}, {NAME}, and of paths {NAME.file} with "
            "its ending, {NAME.path} with its folders"},
        {"out", CLI_TEXT, &a.out, "DIR", "default: out", .letter = 'o'},
        {"resume", CLI_FLAG, &a.resume, NULL,
            "leave out what an earlier batch finished: same graph, values and input files, and its files are "
            "still what was written"},
        {"dry-run", CLI_FLAG, &a.dry_run, NULL, "look for mistakes and list the assets, run nothing"},
        {"time-limit", CLI_NUMBER, &a.limit, "SECONDS",
            "an asset that takes longer fails (default 0: no limit)"},
        {"stop-on-failure", CLI_FLAG, &a.stop_on_failure, NULL, "begin no asset after one has failed"},
        {"thumbnails", CLI_FLAG, &a.thumbnails, NULL, "draw a small picture of each asset for batch.html"},
        {"fail-on", CLI_WORD, &a.fail_on, "warning", "an asset with a warning has failed"},
        {"chunk", CLI_TEXT, &a.chunk, "I/N",
            "make the Ith of N parts (auto: of SLURM_ARRAY_TASK_ID and _COUNT; auto/N: of "
            "JOB_COMPLETION_INDEX); --merge joins their summaries"},
        {"merge", CLI_TEXT, &a.merge, "DIR", "join the summaries of chunks in a folder"},
        CLI_OPTION_THREADS(&a.threads),
        {"memory", CLI_BYTES, &a.memory, "BYTES",
            "most memory, like 4G; an asset that needs more than is left runs again alone"},
        {"cache", CLI_TEXT, &a.cache, "DIR", "as of rubble eval"},
        {"cache-bytes", CLI_BYTES, &a.cache_bytes, "BYTES", "as of rubble eval"},
        {"no-cache", CLI_FLAG, &a.no_cache, NULL, "as of rubble eval"},
        {"progress", CLI_WORD, &a.progress, "auto|bar|plain|json|none",
            "on stderr (default auto: a bar on a terminal, else lines)"},
        {0}};
    const cli_command command = {.name = "batch",
        .usage = "MANIFEST.json [options]\nGRAPH --over NAME=VALUES … [options]\n--merge DIR",
        .text = "Evaluates graphs with many values of their variables, several at once. Each asset gets a "
                "folder below --out, with its files and "
                "asset.json; batch.json, batch.csv and batch.html sum up. What fails does not stop the rest; "
                "the exit code is 1 then.",
        .examples = "rubble batch graphs/vase.json --over seed=0..9 --out out",
        .takes = "GRAPH",
        .options = options,
        .arguments = &a.file,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    batch_settings settings;
    if (code < 0 && !a.file == !a.merge) {
        cli_error(a.file ? "--merge takes the folder alone" : "rubble batch needs a manifest or a graph");
        fprintf(stderr, "`rubble batch --help` tells more\n");
        code = EXIT_USAGE;
    }
    if (code < 0 && a.merge) code = batch_report_merge(a.merge);
    if (code < 0 && !read_settings(&a, &settings)) code = EXIT_USAGE;
    if (code < 0 && a.thumbnails && !batch_thumbnails_possible()) code = EXIT_USAGE;
    if (code < 0) code = run(&a, &settings);
    free(a.sets.items);
    free(a.overs.items);
    return code;
}
