/// What a chunk did, line by line. Each line is one write to the end of the file: one that a kill cuts short is the
/// last of its process, and whoever reads leaves it out.

#include "tools/cli/batch/journal.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/cli/files.h"

/// Writes the object as a line and frees it.
static void add_line(batch *b, cJSON *object)
{
    char *text = cJSON_PrintUnformatted(object);
    size_t length = text ? strlen(text) : 0;
    /* A line that a kill cut short ends here: an empty line is none. */
    char *line = text ? malloc(length + 3) : NULL;
    if (line) {
        bool first = !b->journal_begun;
        size_t count = (size_t)snprintf(line, length + 3, "%s%s\n", first ? "\n" : "", text);
        b->journal_begun = true;
        if (write(b->journal, line, count) != (ssize_t)count && !b->journal_failed) {
            b->journal_failed = true;
            cli_error("the chunk's journal cannot be written: %s", strerror(errno));
        }
    }
    free(line);
    cJSON_free(text);
    cJSON_Delete(object);
}

static cJSON *new_event(const char *what)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "event", what);
    return object;
}

/// Who runs the chunk: the machine, the process, and the task of Slurm or pod of Kubernetes.
static void add_runner(cJSON *object)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
    cJSON_AddStringToObject(object, "host", host);
    cJSON_AddNumberToObject(object, "process", (double)getpid());
    const char *job = getenv("SLURM_ARRAY_JOB_ID"), *task = getenv("SLURM_ARRAY_TASK_ID");
    if (job && task) {
        const char *node = getenv("SLURMD_NODENAME"), *restarts = getenv("SLURM_RESTART_COUNT");
        char id[64];
        snprintf(id, sizeof id, "%.30s_%.30s", job, task);
        cJSON_AddStringToObject(object, "task", id);
        cJSON_AddNumberToObject(object, "restarts", restarts ? (double)atol(restarts) : 0);
        if (node) cJSON_AddStringToObject(object, "node", node);
    }
}

void batch_journal_open(batch *b)
{
    const batch_settings *s = b->settings;
    b->journal = -1;
    if (!s->chunked) return;
    size_t bytes = strlen(s->out) + 80;
    char *path = malloc(bytes);
    if (!path) return;
    snprintf(path, bytes, "%s/batch-%llu-of-%llu.jsonl", s->out, (unsigned long long)s->chunk + 1,
        (unsigned long long)s->chunk_count);
    cli_make_folders(path);
    struct stat info;
    b->journal = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (b->journal >= 0 && (fstat(b->journal, &info) != 0 || !S_ISREG(info.st_mode))) {
        close(b->journal);
        b->journal = -1;
        errno = EINVAL;
    }
    if (b->journal < 0) cli_error("%s: %s", path, strerror(errno));
    free(path);
    if (b->journal < 0) return;
    cJSON *object = new_event("begin");
    cJSON_AddNumberToObject(object, "chunk", (double)s->chunk + 1);
    cJSON_AddNumberToObject(object, "chunks", (double)s->chunk_count);
    cJSON_AddNumberToObject(object, "assets", (double)b->order_count);
    cJSON_AddNumberToObject(object, "time", (double)time(NULL));
    add_runner(object);
    add_line(b, object);
}

void batch_journal_start(batch *b, const batch_asset *asset)
{
    if (b->journal < 0) return;
    cJSON *object = new_event("start");
    cJSON_AddStringToObject(object, "name", asset->name);
    add_line(b, object);
}

void batch_journal_asset(batch *b, const batch_asset *asset, const batch_result *result)
{
    if (b->journal < 0) return;
    cJSON *object = new_event("asset");
    cJSON_AddStringToObject(object, "name", asset->name);
    cJSON_AddStringToObject(object, "state", batch_state_text(result->state));
    cJSON_AddNumberToObject(object, "wall_ms", result->wall_ms);
    if (result->error) cJSON_AddStringToObject(object, "error", result->error);
    add_line(b, object);
}

void batch_journal_close(batch *b)
{
    if (b->journal < 0) return;
    cJSON *object = new_event("end");
    cJSON_AddStringToObject(object, "state", batch_interrupted() ? "interrupted" : "done");
    cJSON_AddNumberToObject(object, "time", (double)time(NULL));
    add_line(b, object);
    close(b->journal);
    b->journal = -1;
}
