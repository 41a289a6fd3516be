/// Stands in for `rubble-import`: does what the first word of its input says, most of it bad.

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char input[1 << 20];

/// 0 when nothing but the three standard descriptors is open and the limits are set.
static int check_surroundings(void)
{
    struct rlimit limit;
    for (int i = 3; i < 100; i++)
        if (fcntl(i, F_GETFD) >= 0) return 9;
    if (getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_cur > 1000) return 10;
    if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur != 0) return 11;
    return 0;
}

/// Takes memory until there is none; at most 8 GiB, of which little is touched.
static int eat(void)
{
    for (int i = 0; i < 512; i++) {
        volatile char *part = malloc(1 << 24);
        if (!part) return 4;
        part[0] = 1;
    }
    return 0;
}

static void write_without_end(int descriptor)
{
    while (write(descriptor, input, 4096) > 0)
        ;
}

int main(void)
{
    size_t count = fread(input, 1, sizeof input - 1, stdin);
    size_t length = strcspn(input, "\n");
    const char *rest = input + length + (length < count);
    input[length] = 0;
    if (strcmp(input, "crash") == 0) {
        signal(SIGSEGV, SIG_DFL); /* also of a sanitizer */
        raise(SIGSEGV);
    }
    while (strcmp(input, "spin") == 0)
        ;
    while (strcmp(input, "sleep") == 0)
        pause();
    if (strcmp(input, "close") == 0) {
        close(1);
        close(2);
        for (;;)
            pause();
    }
    if (strcmp(input, "eat") == 0) return eat();
    if (strcmp(input, "flood") == 0) write_without_end(1);
    if (strcmp(input, "complain") == 0) write_without_end(2);
    if (strcmp(input, "refuse") == 0) {
        fputs("noise\nline 7: \001 bad\n", stderr);
        return 3;
    }
    if (strcmp(input, "surroundings") == 0 && check_surroundings() != 0) return check_surroundings();
    if (strcmp(input, "status") == 0) return 9;
    if (strcmp(input, "nothing") == 0) return 0;
    size_t left = count - (size_t)(rest - input);
    return fwrite(rest, 1, left, stdout) == left ? 0 : 1;
}
