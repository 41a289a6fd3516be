/// A child process with limits: input as a file in memory, output and its one line of errors over pipes.

#include "fracture/io/import_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "fracture/base/alloc.h"
#include "fracture/io/mesh_builder.h"

/* The instrumented programs of the sanitizers reserve more address space than any limit allows, and the thread
   sanitizer's write a file when they start. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_SPACE false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LIMITS_SPACE false
#endif
#endif
#ifndef LIMITS_SPACE
#define LIMITS_SPACE true
#endif

enum {
    PATH_BYTES = 4096,
    ERROR_BYTES = 1000,
    READ_BYTES = 1 << 16,
    POLL_MS = 10,
    MIB = 1 << 20,
    /* what the program ends with (tools/import/main.cpp); 127: it could not be started */
    EXIT_REFUSED = 3,
    EXIT_NO_MEMORY = 4,
    EXIT_NOT_STARTED = 127,
};

typedef struct limits {
    size_t cpu_seconds, wall_ms, memory_bytes, output_bytes;
} limits;

typedef struct child {
    rbl_context *ctx;
    const char *name;
    limits limits;
    pid_t process;   /* 0: none, or waited for */
    int output;      /* −1: closed */
    int errors;      /* −1: closed */
    uint64_t end_ms; /* by which it must have ended */
    RBLI_ARRAY(uint8_t) bytes;
    char error_text[ERROR_BYTES]; /* the last ones */
    size_t error_count;
    int state; /* of waitpid; 0 also where the host took it from us */
} child;

/* ---- Where the program is ---- */

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

/// `path` is a file: the program in its folder.
static bool beside(char path[PATH_BYTES])
{
    static const char program[] = "rubble-import";
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash + 1 - path) + sizeof program > PATH_BYTES) return false;
    memcpy(slash + 1, program, sizeof program);
    return is_program(path);
}

static bool find_program(char path[PATH_BYTES])
{
    const char *named = secure_getenv("RUBBLE_IMPORT");
    size_t bytes = PATH_BYTES;
    Dl_info about;
    if (named && *named) return snprintf(path, PATH_BYTES, "%s", named) < PATH_BYTES && is_program(path);
    if (uv_exepath(path, &bytes) == 0 && beside(path)) return true;
    if (dladdr((void *)(uintptr_t)rbli_import_run, &about) && about.dli_fname &&
        snprintf(path, PATH_BYTES, "%s", about.dli_fname) < PATH_BYTES && beside(path))
        return true;
    return snprintf(path, PATH_BYTES, "%s", RUBBLE_LIBEXEC "/") < PATH_BYTES && beside(path);
}

static rbl_status tell_missing(rbl_context *ctx, const char *name, const char *format)
{
    const char *named = secure_getenv("RUBBLE_IMPORT");
    if (named && *named)
        return rbli_fail(
            ctx, RBL_ERR_READ, "%s: the program that RUBBLE_IMPORT names is not there: %.1000s", name, named);
    return rbli_fail(ctx, RBL_ERR_READ,
        "%s: .%s is read by the program rubble-import, which is not there: install assimp (Debian: "
        "libassimp-dev) and build rubble again, or say in RUBBLE_IMPORT where the program is",
        name, format);
}

/* ---- Limits ---- */

/// A whole number from the environment, or `otherwise`.
static size_t number_from(const char *variable, size_t otherwise)
{
    const char *text = secure_getenv(variable);
    char *end = NULL;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;
    return text && end != text && !*end && value > 0 && value <= 1000000000 ? value : otherwise;
}

static limits limits_for(size_t byte_count)
{
    limits out;
    out.cpu_seconds = number_from("RUBBLE_IMPORT_SECONDS", 30 + byte_count / MIB);
    out.wall_ms = 3000 * out.cpu_seconds;
    out.memory_bytes = number_from("RUBBLE_IMPORT_MEMORY", 1024 + 64 * (byte_count / MIB)) * MIB;
    out.output_bytes = 64 * MIB + (byte_count < SIZE_MAX / 512 ? 256 * byte_count : byte_count);
    return out;
}

static void set_limit(int which, size_t value)
{
    struct rlimit limit = {(rlim_t)value, (rlim_t)value};
    struct rlimit now;
    if (getrlimit(which, &now) == 0 && now.rlim_max < limit.rlim_max)
        limit.rlim_cur = limit.rlim_max = now.rlim_max; /* the host's is lower */
    setrlimit(which, &limit);
}

/* ---- Start ---- */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/// Moves a descriptor above the standard ones, which a host may have closed.
static bool lift(int *descriptor)
{
    if (*descriptor > 2) return true;
    int higher = fcntl(*descriptor, F_DUPFD_CLOEXEC, 3);
    close(*descriptor);
    *descriptor = higher;
    return higher >= 0;
}

/// The child's side, between fork and exec: async-signal-safe calls alone.
static _Noreturn void become(
    const limits *l, const char *path, char *const *arguments, const int descriptors[3])
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (int i = 0; i < 3; i++)
        if (dup2(descriptors[i], i) < 0) _exit(EXIT_NOT_STARTED);
    close_range(3, ~0u, 0);
    set_limit(RLIMIT_CPU, l->cpu_seconds);
    set_limit(RLIMIT_CORE, 0);
    if (LIMITS_SPACE) {
        set_limit(RLIMIT_FSIZE, 0);
        set_limit(RLIMIT_AS, l->memory_bytes);
    }
    execv(path, arguments);
    _exit(EXIT_NOT_STARTED);
}

/// The input as a file in memory, at its beginning.
static int make_input(const uint8_t *bytes, size_t byte_count)
{
    int descriptor = memfd_create("rubble-import", MFD_CLOEXEC);
    for (size_t at = 0; descriptor >= 0 && at < byte_count;) {
        ssize_t put = write(descriptor, bytes + at, byte_count - at);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            close(descriptor);
            return -1;
        }
        at += (size_t)put;
    }
    if (descriptor >= 0 && lseek(descriptor, 0, SEEK_SET) != 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

static rbl_status tell_not_started(child *c, int error)
{
    char why[200];
    uv_strerror_r(uv_translate_sys_error(error), why, sizeof why);
    return rbli_fail(c->ctx, RBL_ERR_READ, "%s: rubble-import cannot be started: %s", c->name, why);
}

static rbl_status start(
    child *c, const char *path, const char *format, const uint8_t *bytes, size_t byte_count)
{
    enum { INPUT, OUTPUT, ERRORS, OUR_OUTPUT, OUR_ERRORS, COUNT };
    int d[COUNT] = {-1, -1, -1, -1, -1}, pair[2], error = 0;
    char *arguments[] = {(char *)path, (char *)format, NULL};
    d[INPUT] = make_input(bytes, byte_count);
    if (d[INPUT] < 0) error = errno;
    for (int i = 0; !error && i < 2; i++) {
        if (pipe2(pair, O_CLOEXEC) != 0) {
            error = errno;
            break;
        }
        d[OUR_OUTPUT + i] = pair[0];
        d[OUTPUT + i] = pair[1];
    }
    for (int i = 0; !error && i < COUNT; i++)
        if (!lift(&d[i])) error = errno;
    if (!error) {
        c->process = fork();
        if (c->process == 0) become(&c->limits, path, arguments, d);
        if (c->process < 0) error = errno;
    }
    for (int i = 0; i < 3; i++)
        if (d[i] >= 0) close(d[i]);
    if (!error) {
        fcntl(d[OUR_OUTPUT], F_SETFL, O_NONBLOCK);
        fcntl(d[OUR_ERRORS], F_SETFL, O_NONBLOCK);
        c->output = d[OUR_OUTPUT];
        c->errors = d[OUR_ERRORS];
        c->end_ms = now_ms() + c->limits.wall_ms;
        return RBL_OK;
    }
    for (int i = OUR_OUTPUT; i < COUNT; i++)
        if (d[i] >= 0) close(d[i]);
    c->process = 0;
    return tell_not_started(c, error);
}

/* ---- While it runs ---- */

static void close_descriptor(int *descriptor)
{
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
}

/// Takes what has come of the output. At its end the descriptor is closed.
static rbl_status take_output(child *c)
{
    for (;;) {
        rbl_status status = rbli_array_reserve(c->ctx, &c->bytes, READ_BYTES);
        if (status != RBL_OK) return status;
        ssize_t got = read(c->output, c->bytes.data + c->bytes.count, READ_BYTES);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return RBL_OK;
        if (got <= 0) {
            close_descriptor(&c->output);
            return RBL_OK;
        }
        c->bytes.count += (size_t)got;
        if (c->bytes.count > c->limits.output_bytes)
            return rbli_fail(c->ctx, RBL_ERR_LIMIT,
                "%s: rubble-import gives more than %zu MiB, more than the file's size justifies", c->name,
                c->limits.output_bytes / MIB);
        if (rbli_cancelled(c->ctx)) return RBL_ERR_CANCELLED;
    }
}

/// Keeps the last bytes of what it says.
static void take_errors(child *c)
{
    char part[ERROR_BYTES];
    ssize_t got = read(c->errors, part, sizeof part);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
        close_descriptor(&c->errors);
        return;
    }
    size_t count = (size_t)got,
           kept = ERROR_BYTES - count < c->error_count ? ERROR_BYTES - count : c->error_count;
    memmove(c->error_text, c->error_text + c->error_count - kept, kept);
    memcpy(c->error_text + kept, part, count);
    c->error_count = kept + count;
}

static rbl_status check_time(const child *c)
{
    if (rbli_cancelled(c->ctx)) return RBL_ERR_CANCELLED;
    if (now_ms() < c->end_ms) return RBL_OK;
    return rbli_fail(c->ctx, RBL_ERR_LIMIT,
        "%s: rubble-import does not end: it was stopped after %zu s (RUBBLE_IMPORT_SECONDS allows more)",
        c->name, c->limits.wall_ms / 1000);
}

/// Reads until both pipes are closed, then waits for the end.
static rbl_status follow(child *c)
{
    rbl_status status = RBL_OK;
    while (c->output >= 0 || c->errors >= 0) {
        RBL_TRY(check_time(c));
        struct pollfd watched[2] = {{c->output, POLLIN, 0}, {c->errors, POLLIN, 0}};
        if (poll(watched, 2, POLL_MS) <= 0) continue;
        if (c->output >= 0 && watched[0].revents) RBL_TRY(take_output(c));
        /* A program that writes errors without end is stopped by the clock. */
        if (c->errors >= 0 && watched[1].revents) take_errors(c);
    }
    while (c->process) {
        pid_t ended = waitpid(c->process, &c->state, WNOHANG);
        if (ended == 0) {
            RBL_TRY(check_time(c));
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        } else if (ended > 0 || errno != EINTR) {
            c->process = 0;
        }
    }
done:
    return status;
}

static void stop(child *c)
{
    close_descriptor(&c->output);
    close_descriptor(&c->errors);
    if (!c->process) return;
    kill(c->process, SIGKILL);
    while (waitpid(c->process, &c->state, 0) < 0 && errno == EINTR)
        ;
    c->process = 0;
}

/* ---- How it ended ---- */

static rbl_status tell_refusal(child *c)
{
    size_t end = c->error_count, begin;
    while (end > 0 && (c->error_text[end - 1] == '\n' || c->error_text[end - 1] == ' '))
        end--;
    for (begin = end; begin > 0 && c->error_text[begin - 1] != '\n'; begin--)
        ;
    char *text =
        rbli_clean_text(c->ctx, c->error_text + begin, end - begin, "rubble-import does not take it");
    if (!text) return RBL_ERR_NO_MEMORY;
    rbl_status status = rbli_fail(c->ctx, RBL_ERR_PARSE, "%s: %s", c->name, text);
    rbli_free(c->ctx, text);
    return status;
}

static rbl_status judge_end(child *c)
{
    if (WIFSIGNALED(c->state)) {
        int number = WTERMSIG(c->state);
        if (number == SIGXCPU || number == SIGKILL)
            return rbli_fail(c->ctx, RBL_ERR_LIMIT,
                "%s: rubble-import was stopped: it took more than %zu s of processor time "
                "(RUBBLE_IMPORT_SECONDS allows more) or the system's memory ran out",
                c->name, c->limits.cpu_seconds);
        return rbli_fail(c->ctx, RBL_ERR_PARSE,
            "%s: rubble-import crashed on it (signal %d): the file is damaged, or assimp cannot read its "
            "kind",
            c->name, number);
    }
    switch (WEXITSTATUS(c->state)) {
    case 0:
        return RBL_OK;
    case EXIT_REFUSED:
        return tell_refusal(c);
    case EXIT_NO_MEMORY:
        return rbli_fail(c->ctx, RBL_ERR_LIMIT,
            "%s: rubble-import needs more than %zu MiB of memory (RUBBLE_IMPORT_MEMORY allows more)", c->name,
            c->limits.memory_bytes / MIB);
    case EXIT_NOT_STARTED:
        return rbli_fail(c->ctx, RBL_ERR_READ, "%s: rubble-import cannot be started", c->name);
    default:
        return rbli_fail(c->ctx, RBL_ERR_PARSE, "%s: rubble-import failed on it (exit status %d)", c->name,
            WEXITSTATUS(c->state));
    }
}

rbl_status rbli_import_run(rbl_context *ctx, const char *name, const char *format, const uint8_t *bytes,
    size_t byte_count, uint8_t **out, size_t *out_bytes)
{
    rbl_status status = RBL_OK;
    char path[PATH_BYTES];
    child c = {.ctx = ctx, .name = name, .limits = limits_for(byte_count), .output = -1, .errors = -1};
    if (!find_program(path)) return tell_missing(ctx, name, format);
    RBL_TRY(start(&c, path, format, bytes, byte_count));
    RBL_TRY(follow(&c));
    RBL_TRY(judge_end(&c));
    *out = c.bytes.data;
    *out_bytes = c.bytes.count;
    c.bytes.data = NULL;
done:
    stop(&c);
    rbli_free(ctx, c.bytes.data);
    return status;
}
