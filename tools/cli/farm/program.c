/// Runs a program without a shell and reads what it writes.

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cli/farm/farm.h"

extern char **environ;

static char *read_all(int handle)
{
    size_t used = 0, capacity = 4096;
    char *text = malloc(capacity);
    while (text) {
        ssize_t count = read(handle, text + used, capacity - used - 1);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        used += (size_t)count;
        if (used + 1 < capacity) continue;
        char *larger = realloc(text, capacity *= 2);
        if (!larger) free(text);
        text = larger;
    }
    if (text) text[used] = '\0';
    return text;
}

farm_output farm_run(char *const *arguments, const char *folder, bool quiet)
{
    farm_output out = {.code = -1};
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0) return out;
    int fault = posix_spawn_file_actions_init(&actions);
    if (fault == 0) {
        fault = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (fault == 0) fault = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        if (fault == 0 && quiet)
            fault = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (fault == 0 && folder) fault = posix_spawn_file_actions_addchdir_np(&actions, folder);
        pid_t child = 0;
        if (fault == 0) fault = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        if (fault == 0) {
            int status = 0;
            out.text = read_all(ends[0]);
            while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
            if (out.text && WIFEXITED(status)) out.code = WEXITSTATUS(status);
        }
    } else {
        close(ends[1]);
    }
    close(ends[0]);
    errno = fault;
    return out;
}
