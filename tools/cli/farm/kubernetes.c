/// An Indexed Job for Kubernetes. All strings are quoted, so that nothing in a name is read as YAML; `$` stands
/// twice where Kubernetes itself puts variables in.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/farm/farm.h"
#include "tools/cli/files.h"

enum { TRIES_OF_INDEX = 6 };

static bool print_command(FILE *file, const farm_words *words)
{
    bool good = true;
    for (size_t i = 0; i < words->count && good; i++) {
        const char *word = words->items[i];
        char *doubled = malloc(2 * strlen(word) + 1), *to = doubled;
        if (!doubled) return false;
        for (; *word; word++) {
            if (*word == '$') *to++ = '$';
            *to++ = *word;
        }
        *to = '\0';
        fputs("            - ", file);
        good = farm_print_string(file, doubled);
        fputc('\n', file);
        if (!good) cli_error("\"%s\" is not UTF-8, and YAML cannot hold it", words->items[i]);
        free(doubled);
    }
    return good;
}

static bool print_value(FILE *file, const char *key, const char *value)
{
    fputs(key, file);
    bool good = farm_print_string(file, value);
    fputc('\n', file);
    if (!good) cli_error("\"%s\" is not UTF-8, and YAML cannot hold it", value);
    return good;
}

static bool print_job(FILE *file, const farm_options *o, const farm_words *words)
{
    char name[48];
    farm_job_name(o->file, name);
    fprintf(file,
        "# When it has ended: rubble batch --merge DIR, where DIR is the output folder.\n"
        "apiVersion: batch/v1\n"
        "kind: Job\n"
        "metadata:\n"
        "  name: \"%s\"\n"
        "spec:\n"
        "  completionMode: Indexed\n"
        "  completions: %ld\n"
        "  parallelism: %ld\n"
        "  backoffLimitPerIndex: %d\n"
        "  podFailurePolicy:\n"
        "    rules:\n"
        "      # Assets that failed, or a wrong list: again would be the same.\n"
        "      - action: FailIndex\n"
        "        onExitCodes:\n"
        "          containerName: rubble\n"
        "          operator: In\n"
        "          values: [1, 2]\n"
        "      # A machine that goes away is nobody's failure.\n"
        "      - action: Ignore\n"
        "        onPodConditions:\n"
        "          - type: DisruptionTarget\n"
        "            status: \"True\"\n"
        "  template:\n"
        "    metadata:\n"
        "      labels:\n"
        "        app.kubernetes.io/name: rubble\n"
        "    spec:\n"
        "      restartPolicy: Never\n"
        "      containers:\n"
        "        - name: rubble\n",
        name, o->chunks, o->chunks, TRIES_OF_INDEX);
    bool good = print_value(file, "          image: ", o->image);
    fputs("          command:\n", file);
    good = print_command(file, words) && good;
    good = print_value(file, "          workingDir: ", o->mount) && good;
    fprintf(file, "          resources:\n            requests:\n              cpu: \"%ld\"\n", o->threads);
    if (o->memory) {
        size_t megabytes = (o->memory + ((size_t)1 << 20) - 1) >> 20;
        fprintf(file,
            "              memory: \"%zuMi\"\n            limits:\n              memory: \"%zuMi\"\n",
            megabytes, megabytes);
    }
    fputs("          volumeMounts:\n            - name: work\n", file);
    good = print_value(file, "              mountPath: ", o->mount) && good;
    fputs("      volumes:\n        - name: work\n          persistentVolumeClaim:\n", file);
    return print_value(file, "            claimName: ", o->claim) && good;
}

int farm_kubernetes(const farm_options *o)
{
    if (*o->mount != '/' || strchr(o->mount, ':')) { /* as Kubernetes asks */
        cli_error("--mount needs a path that begins with / and has no ':', not \"%s\"", o->mount);
        return EXIT_USAGE;
    }
    char chunk[40], *text = NULL;
    size_t bytes = 0;
    farm_words words = {0};
    snprintf(chunk, sizeof chunk, "auto/%ld", o->chunks);
    farm_batch_words(&words, o, o->program ? o->program : "rubble", chunk);
    FILE *file = open_memstream(&text, &bytes);
    bool good = file && !words.failed;
    int code = EXIT_DONE;
    if (good && !print_job(file, o, &words)) code = EXIT_USAGE;
    if (file && fclose(file) != 0) good = false;
    if (!good) {
        cli_error("%s", rbl_status_text(RBL_ERR_NO_MEMORY));
        code = EXIT_EVALUATION;
    }
    if (code == EXIT_DONE && o->output)
        code = cli_write_file(o->output, text, bytes) ? EXIT_DONE : EXIT_FILE;
    else if (code == EXIT_DONE)
        code = cli_print(text);
    free(text);
    farm_words_free(&words);
    return code;
}
