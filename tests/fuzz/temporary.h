#ifndef RUBBLE_TESTS_FUZZ_TEMPORARY_H
#define RUBBLE_TESTS_FUZZ_TEMPORARY_H

/// A folder of a fuzz target's own, for readers that take a file's name. It is the working folder then, so that relative
/// paths of an input lead there.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char fuzz_folder[64];

static void leave_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", fuzz_folder);
    if (chdir("/") == 0 && system(command) != 0) return;
}

/// Makes the folder once, and silences what the command prints: libFuzzer and sanitizers write to the descriptor itself.
static inline void enter_folder(void)
{
    if (*fuzz_folder) return;
    snprintf(fuzz_folder, sizeof fuzz_folder, "%s/rubble-fuzz-XXXXXX",
        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(fuzz_folder) || chdir(fuzz_folder) != 0) abort();
    atexit(leave_folder);
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere) stderr = nowhere;
}

static inline void write_fuzz_file(const char *name, const uint8_t *bytes, size_t count)
{
    FILE *file = fopen(name, "wb");
    if (!file || (count > 0 && fwrite(bytes, 1, count, file) != count) || fclose(file) != 0) abort();
}

#endif
