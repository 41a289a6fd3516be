/// A manifest: {"rubble_batch": 1, "jobs": […]}.

#include <stdlib.h>
#include <string.h>

#include "tools/cli/batch/place.h"
#include "tools/cli/batch/reader.h"
#include "tools/cli/files.h"

enum {
    MOST_MEMBERS = 1000,  /* of an object */
    MOST_WRONG_JOBS = 50, /* that are told of */
};

static void find_duplicate_keys(batch_reader *r, const cJSON *value, const char *pointer)
{
    size_t count = 0;
    for (const cJSON *a = cJSON_IsObject(value) ? value->child : NULL; a; a = a->next)
        if (++count > MOST_MEMBERS) {
            batch_fail_at(r, pointer, "an object has more than %d members", MOST_MEMBERS);
            return;
        }
    for (const cJSON *a = cJSON_IsObject(value) ? value->child : NULL; a; a = a->next)
        for (const cJSON *b = a->next; b; b = b->next)
            if (strcmp(a->string, b->string) == 0) {
                batch_fail_at(r, pointer, "\"%s\" stands twice in one object", a->string);
                return;
            }
}

static void read_jobs(batch_reader *r, const cJSON *root)
{
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(root, "rubble_batch"),
                *jobs = cJSON_GetObjectItemCaseSensitive(root, "jobs"), *member;
    if (!cJSON_IsObject(root)) {
        batch_fail_at(r, "", "a manifest is an object with rubble_batch and jobs");
        return;
    }
    find_duplicate_keys(r, root, "");
    if (r->code != EXIT_DONE) return;
    cJSON_ArrayForEach(member, root)
    {
        char pointer[300];
        snprintf(pointer, sizeof pointer, "/%s", member->string);
        if (member != version && member != jobs)
            batch_fail_at(
                r, pointer, "a manifest has no \"%s\"; it has rubble_batch and jobs", member->string);
    }
    if (!cJSON_IsNumber(version) || version->valuedouble != 1)
        batch_fail_at(r, version ? "/rubble_batch" : "", "a manifest begins with \"rubble_batch\": 1");
    if (!cJSON_IsArray(jobs) || !jobs->child)
        batch_fail_at(r, jobs ? "/jobs" : "", "a manifest needs a list \"jobs\" of objects with \"graph\"");
    size_t index = 0, wrong = 0;
    if (r->code != EXIT_DONE) return;
    cJSON_ArrayForEach(member, jobs)
    {
        static const char *const inner[] = {"", "set", "over"};
        char pointer[64], below[80];
        snprintf(pointer, sizeof pointer, "/jobs/%zu", index++);
        for (size_t k = 0; k < 3; k++) {
            snprintf(below, sizeof below, "%s%s%s", pointer, k ? "/" : "", inner[k]);
            find_duplicate_keys(r, k ? cJSON_GetObjectItemCaseSensitive(member, inner[k]) : member, below);
        }
        batch_read_job(r, member, pointer);
        if (r->code != EXIT_DONE && ++wrong == MOST_WRONG_JOBS) return;
    }
}

void batch_read_manifest(batch_reader *r)
{
    const char *end = NULL, *slash = strrchr(r->request->file, '/');
    size_t bytes = 0;
    char *text = cli_read_file(r->request->file, &bytes);
    if (!text) {
        r->code = EXIT_FILE;
        return;
    }
    r->text = text;
    free(r->folder);
    r->folder = slash ? strndup(r->request->file, (size_t)(slash - r->request->file) + 1) : strdup("");
    cJSON *root = cJSON_ParseWithLengthOpts(text, bytes + 1, &end, true);
    if (!root || strlen(text) != bytes) {
        batch_place place = batch_place_of_offset(text, end ? (size_t)(end - text) : 0);
        cli_error("%s:%zu:%zu: is not JSON from here on", r->request->file, place.line, place.column);
        r->code = EXIT_USAGE;
    } else if (!r->folder) {
        batch_fail_memory(r);
    } else {
        read_jobs(r, root);
    }
    cJSON_Delete(root);
    r->text = NULL;
    free(text);
}
