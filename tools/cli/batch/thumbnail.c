/// Small pictures of assets for the summary's page, drawn by rubble-render.

#include "tools/cli/batch/thumbnail.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char thumbnail_name[] = "thumbnail.png";

bool batch_thumbnails_possible(void)
{
    char path[CLI_PATH_BYTES];
    if (cli_find_program("rubble-render", path) && access(path, X_OK) == 0) return true;
    cli_error("--thumbnails needs rubble-render, which was not built: it needs Embree and libpng");
    return false;
}

/// The written file that shows the asset best, and whether no file of the run is new.
static const char *file_to_draw(const rbl_run *run, bool *unchanged)
{
    static const char *const endings[] = {".rbl", ".glb", ".obj"};
    enum { ENDINGS = sizeof endings / sizeof *endings };
    const char *best = NULL;
    size_t best_rank = ENDINGS;
    *unchanged = true;
    for (size_t i = 0; i < rbl_run_file_count(run); i++) {
        const rbl_file_report *file = rbl_run_file(run, i);
        const char *dot = strrchr(file->path, '.');
        *unchanged &= file->unchanged;
        for (size_t rank = 0; dot && rank < best_rank; rank++)
            if (strcasecmp(dot, endings[rank]) == 0) {
                best = file->path;
                best_rank = rank;
            }
    }
    return best;
}

static bool draw(const char *file, const char *picture)
{
    char program[CLI_PATH_BYTES];
    if (!cli_find_program("rubble-render", program)) return false;
    char name[] = "render", o[] = "-o", size[] = "--size", pixels[] = "160x120", samples[] = "--samples",
         rays[] = "4", palette[] = "--palette", colors[] = "64", explode[] = "--explode", amount[] = "0.15",
         threads[] = "--threads", one[] = "1", end[] = "--";
    char *arguments[] = {name, o, (char *)picture, size, pixels, samples, rays, palette, colors, explode,
        amount, threads, one, end, (char *)file, NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    pid_t child;
    int status = 1;
    bool good = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
                posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                posix_spawn(&child, program, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    while (good && waitpid(child, &status, 0) < 0)
        good = errno == EINTR;
    return good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void batch_thumbnail_draw(const rbl_run *run, const char *folder, batch_result *result)
{
    bool unchanged;
    const char *file = file_to_draw(run, &unchanged);
    size_t bytes = strlen(folder) + sizeof thumbnail_name + 1;
    char *picture = file ? malloc(bytes) : NULL;
    if (!picture) return;
    snprintf(picture, bytes, "%s/%s", folder, thumbnail_name);
    struct stat info;
    bool there = lstat(picture, &info) == 0;
    if (there && !S_ISREG(info.st_mode)) unlink(picture); /* a link is not followed */
    if ((unchanged && there && S_ISREG(info.st_mode)) || draw(file, picture))
        result->thumbnail = strdup(thumbnail_name);
    free(picture);
}
