/// A job array for Slurm, and a job behind it that joins the summaries. Paths stand in the scripts as words of sh;
/// what stands in #SBATCH lines, which sbatch reads in its own way, is of plain characters only.

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/cli/farm/farm.h"
#include "tools/cli/files.h"

typedef struct scripts {
    char *array, *merge;
} scripts;

/* ---- Scripts ---- */

static bool is_made_of(const char *text, const char *characters)
{
    return *text && strspn(text, characters) == strlen(text);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool check_options(const farm_options *o)
{
    if (o->time && !is_made_of(o->time, DIGITS ":-")) {
        cli_error("--time takes D-HH:MM:SS, HH:MM:SS or minutes, not \"%s\"", o->time);
        return false;
    }
    if (o->partition && !is_made_of(o->partition, LETTERS DIGITS "_.,-")) {
        cli_error("--partition takes a name, not \"%s\"", o->partition);
        return false;
    }
    for (size_t i = 0; i < o->extra.count; i++) {
        const char *option = o->extra.items[i];
        if (strncmp(option, "--", 2) == 0 && is_made_of(option, LETTERS DIGITS "_.,:;@%&|()[]*+/=-"))
            continue;
        cli_error("--sbatch takes an option like --account=art, of plain characters, not \"%s\"", option);
        return false;
    }
    return true;
}

static void print_common(FILE *file, const farm_options *o, const char *suffix, const char *log)
{
    char name[48];
    farm_job_name(o->file, name);
    fprintf(file, "#!/bin/sh\n#SBATCH --job-name=%s%s\n#SBATCH --output=%s\n#SBATCH --open-mode=append\n",
        name, suffix, log);
    if (o->partition) fprintf(file, "#SBATCH --partition=%s\n", o->partition);
    for (size_t i = 0; i < o->extra.count; i++)
        fprintf(file, "#SBATCH %s\n", o->extra.items[i]);
}

static void print_command(FILE *file, const char *here, const farm_words *words)
{
    fputs("cd -- ", file);
    farm_print_shell_word(file, here);
    fputs(" || exit 3\nexec", file);
    for (size_t i = 0; i < words->count; i++) {
        fputc(' ', file);
        farm_print_shell_word(file, words->items[i]);
    }
    fputc('\n', file);
}

static void print_array(FILE *file, const farm_options *o, const char *here, const farm_words *words)
{
    print_common(file, o, "", "%A_%a.log");
    fprintf(file, "#SBATCH --array=1-%ld\n#SBATCH --requeue\n#SBATCH --cpus-per-task=%ld\n", o->chunks,
        o->threads);
    if (o->memory) fprintf(file, "#SBATCH --mem=%zuM\n", (o->memory + ((size_t)1 << 20) - 1) >> 20);
    /* SIGTERM before the time is up, so that a task ends well and says what is missing. */
    if (o->time) fprintf(file, "#SBATCH --time=%s\n#SBATCH --signal=B:TERM@30\n", o->time);
    print_command(file, here, words);
}

/// Makes the text of one script; NULL without memory.
static char *make_script(const farm_options *o, const char *here, const farm_words *words, bool merge)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = words->failed ? NULL : open_memstream(&text, &bytes);
    if (!file) return NULL;
    if (merge) {
        print_common(file, o, "-merge", "merge-%j.log");
        print_command(file, here, words);
    } else {
        print_array(file, o, here, words);
    }
    if (fclose(file) == 0) return text;
    free(text);
    return NULL;
}

static bool make_scripts(const farm_options *o, const char *here, const char *program, scripts *out)
{
    farm_words array = {0}, merge = {0};
    farm_batch_words(&array, o, program, "auto");
    const char *const words[] = {program, "batch", "--merge", o->out};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        farm_word(&merge, words[i]);
    out->array = make_script(o, here, &array, false);
    out->merge = make_script(o, here, &merge, true);
    farm_words_free(&array);
    farm_words_free(&merge);
    if (out->array && out->merge) return true;
    cli_error("%s", rbl_status_text(RBL_ERR_NO_MEMORY));
    return false;
}

/* ---- The folder ---- */

/// Whether jobs of an earlier submission into the folder are still there.
static bool is_busy(const farm_options *o)
{
    char *path = farm_path(o->out, farm_record);
    size_t bytes = 0;
    char *text = path && access(path, F_OK) == 0 ? cli_read_file(path, &bytes) : NULL;
    cJSON *record = text ? cJSON_Parse(text) : NULL;
    const char *job = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(record, "job"));
    bool busy = false;
    if (job && is_made_of(job, DIGITS)) {
        char jobs[64], squeue[] = "squeue", plain[] = "--noheader", format[] = "--format=%i";
        snprintf(jobs, sizeof jobs, "--jobs=%.40s", job);
        farm_output output = farm_run((char *[]){squeue, plain, format, jobs, NULL}, NULL, true);
        busy = output.code == 0 && strspn(output.text, " \n") != strlen(output.text);
        free(output.text);
        if (busy)
            cli_error(
                "%s: job %s is still at work there; `rubble farm status` shows it, `scancel %s` ends it",
                o->out, job, job);
    }
    cJSON_Delete(record);
    free(text);
    free(path);
    return busy;
}

/// Summaries and journals of an earlier batch would be taken for those of this one; assets and their records stay.
static void remove_old(const char *folder)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        unsigned long chunk, count;
        const char *ending;
        if (!farm_is_chunk_file(entry->d_name, &chunk, &count, &ending)) continue;
        if (strcmp(ending, "json") != 0 && strcmp(ending, "csv") != 0 && strcmp(ending, "html") != 0 &&
            strcmp(ending, "jsonl") != 0)
            continue;
        char *path = farm_path(folder, entry->d_name);
        if (path) unlink(path);
        free(path);
    }
    if (directory) closedir(directory);
}

static bool write_script(const char *out, const char *name, const char *text)
{
    char *path = farm_path(out, name);
    char *folder = farm_path(out, farm_folder);
    bool inside = folder && cli_stays_inside(out, folder);
    if (folder && !inside) cli_error("%s: is a link that leads out of %s", folder, out);
    free(folder);
    if (path && inside) cli_make_folders(path);
    bool good = path && inside && cli_write_product(path, text, strlen(text));
    free(path);
    return good;
}

static bool write_record(
    const farm_options *o, const farm_assets *assets, const char *here, const char *job, const char *merge)
{
    cJSON *record = cJSON_CreateObject();
    cJSON_AddStringToObject(record, "rubble", rbl_version_text());
    cJSON_AddStringToObject(record, "farm", "slurm");
    cJSON_AddStringToObject(record, "job", job);
    if (merge) cJSON_AddStringToObject(record, "merge", merge);
    cJSON_AddNumberToObject(record, "chunks", (double)o->chunks);
    cJSON_AddStringToObject(record, "folder", here);
    cJSON_AddStringToObject(record, "manifest", o->file);
    cJSON_AddNumberToObject(record, "submitted", (double)time(NULL));
    cJSON_AddItemToObject(
        record, "assets", cJSON_CreateStringArray((const char *const *)assets->names, (int)assets->count));
    char *text = cJSON_Print(record), *path = farm_path(o->out, farm_record);
    bool good = text && path && cli_write_product(path, text, strlen(text));
    if (!text || !path) cli_error("%s", rbl_status_text(RBL_ERR_NO_MEMORY));
    cJSON_free(text);
    free(path);
    cJSON_Delete(record);
    return good;
}

/* ---- Submitting ---- */

/// Submits a script of the folder. @return the job's number in `job`; false when sbatch did not, which it told
static bool submit(const char *folder, const char *dependency, const char *script, char job[32])
{
    char sbatch[] = "sbatch", parsable[] = "--parsable", after[80], name[32];
    snprintf(name, sizeof name, "%s", script);
    snprintf(after, sizeof after, "--dependency=afterany:%s", dependency ? dependency : "");
    char *first[] = {sbatch, parsable, name, NULL}, *second[] = {sbatch, parsable, after, name, NULL};
    farm_output output = farm_run(dependency ? second : first, folder, false);
    if (!output.text)
        cli_error("sbatch: %s; --dry-run prints the scripts for another machine", strerror(errno));
    size_t digits = output.text ? strspn(output.text, DIGITS) : 0;
    bool good = output.code == 0 && digits > 0 && digits < 32;
    if (good) snprintf(job, 32, "%.*s", (int)digits, output.text);
    if (output.text && !good)
        cli_error("sbatch did not take %s/%s (exit code %d)", folder, script, output.code);
    free(output.text);
    return good;
}

static int submit_all(
    const farm_options *o, const farm_assets *assets, const char *here, const scripts *texts)
{
    char job[32], merge[32], *folder = farm_path(o->out, farm_folder);
    if (!folder) return EXIT_EVALUATION;
    int code = EXIT_FILE;
    if (write_script(o->out, "batch-farm/array.sh", texts->array) &&
        write_script(o->out, "batch-farm/merge.sh", texts->merge) && submit(folder, NULL, "array.sh", job)) {
        printf("submitted job %s: %zu assets in %ld chunks\n", job, assets->count, o->chunks);
        bool good = write_record(o, assets, here, job, NULL);
        if (submit(folder, job, "merge.sh", merge)) {
            printf("submitted job %s behind it, which joins the summaries\n", merge);
            good = write_record(o, assets, here, job, merge) && good;
        } else {
            good = false;
            cli_error("the summaries will not be joined by themselves: `rubble batch --merge` does it");
        }
        printf("`rubble farm status` tells how far it is\n");
        code = fflush(stdout) == 0 && good ? EXIT_DONE : EXIT_FILE;
    }
    free(folder);
    return code;
}

int farm_slurm(const farm_options *o, const farm_assets *assets)
{
    if (!check_options(o)) return EXIT_USAGE;
    char *here = getcwd(NULL, 0), program[CLI_PATH_BYTES];
    scripts texts = {0};
    int code = EXIT_FILE;
    if (!here) {
        cli_error("the working folder: %s", strerror(errno));
    } else if (!o->program && !cli_find_program("rubble", program)) {
        cli_error("where this program lies is not known: give --program");
    } else if (!make_scripts(o, here, o->program ? o->program : program, &texts)) {
        code = EXIT_EVALUATION;
    } else if (o->dry_run) {
        code = cli_print(texts.array);
        if (code == EXIT_DONE) code = cli_print(texts.merge);
    } else if (!is_busy(o)) {
        remove_old(o->out);
        code = submit_all(o, assets, here, &texts);
    }
    free(texts.array);
    free(texts.merge);
    free(here);
    return code;
}
