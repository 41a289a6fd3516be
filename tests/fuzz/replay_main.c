/// Feeds files, and all files in folders, to a fuzz target, so that its corpus is tested with any compiler.

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

static int replay_file(const char *path, size_t *file_count)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        if (file) fclose(file);
        return 1;
    }
    long length = ftell(file);
    rewind(file);
    /* As large as the content and no more, so that ASan sees a byte read behind it. */
    uint8_t *bytes = malloc(length > 0 ? (size_t)length : 1);
    int failed = !bytes || fread(bytes, 1, (size_t)length, file) != (size_t)length;
    fclose(file);
    if (failed)
        fprintf(stderr, "%s: cannot be read\n", path);
    else
        LLVMFuzzerTestOneInput(bytes, (size_t)length);
    free(bytes);
    ++*file_count;
    return failed;
}

static int replay(const char *path, size_t *file_count)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        fprintf(stderr, "%s: not found\n", path);
        return 1;
    }
    if (!S_ISDIR(about.st_mode)) return replay_file(path, file_count);
    int failed = 0;
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') failed |= replay(inner, file_count);
        free(entries[i]);
    }
    free(entries);
    return failed || count < 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    size_t file_count = 0;
    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i], &file_count);
    printf("%zu inputs\n", file_count);
    return failed || file_count == 0;
}
