/// What a Redis server answers: the first byte of an input chooses the request, the second in what parts the rest comes, which
/// a server of this process sends to whoever connects, before it closes the connection.

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "engine/redis_cache.h"
#include "fracture/base/alloc.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/temporary.h"

/* ---- The server ---- */

static struct server {
    int listener;
    pthread_mutex_t mutex; /* what follows */
    const uint8_t *bytes;
    size_t count, part;
} server = {.listener = -1, .mutex = PTHREAD_MUTEX_INITIALIZER};

static void send_parts(int peer, const uint8_t *bytes, size_t count, size_t part)
{
    for (size_t sent = 0; sent < count;) {
        size_t next = part && part < count - sent ? part : count - sent;
        ssize_t done = send(peer, bytes + sent, next, MSG_NOSIGNAL);
        if (done <= 0) return; /* the client has gone */
        sent += (size_t)done;
    }
}

static void *serve(void *user)
{
    (void)user;
    char nothing[4096];
    for (;;) {
        int peer = accept(server.listener, NULL, NULL);
        if (peer < 0) continue;
        pthread_mutex_lock(&server.mutex);
        size_t count = server.count, part = server.part;
        uint8_t *copy = malloc(count + 1);
        if (copy && count) memcpy(copy, server.bytes, count);
        pthread_mutex_unlock(&server.mutex);
        if (copy) send_parts(peer, copy, count, part);
        free(copy);
        shutdown(peer, SHUT_WR);
        while (recv(peer, nothing, sizeof nothing, 0) > 0)
            ;
        close(peer);
    }
    return NULL;
}

/// Starts the server once in each process: those that were forked have none.
static void start_server(char address[200])
{
    static pid_t started;
    static struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (started != getpid()) {
        pthread_t thread;
        snprintf(name.sun_path, sizeof name.sun_path, "%.60s/redis-%ld", fuzz_folder, (long)getpid());
        server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (server.listener < 0 || bind(server.listener, (struct sockaddr *)&name, sizeof name) != 0 ||
            listen(server.listener, 64) != 0 || pthread_create(&thread, NULL, serve, NULL) != 0)
            abort();
        pthread_detach(thread);
        started = getpid();
    }
    snprintf(address, 200, "unix://%s?timeout=2000&value=1M", name.sun_path);
}

static void set_answers(const uint8_t *bytes, size_t count, size_t part)
{
    pthread_mutex_lock(&server.mutex);
    server.bytes = bytes;
    server.count = count;
    server.part = part;
    pthread_mutex_unlock(&server.mutex);
}

/* ---- The client ---- */

static void get(rbl_context *ctx, rbli_redis *redis)
{
    uint8_t *value = NULL;
    size_t count = 0;
    if (rbli_redis_get(ctx, redis, "rubble:c:0", &value, &count) != RBLI_REDIS_YES) return;
    if (!value || count > rbli_redis_most_bytes(redis) + (1 << 16) || value[count] != 0) abort();
    rbli_free(ctx, value);
}

static void copy_content(rbl_context *ctx, rbli_redis *redis)
{
    rbli_file_writer *writer = NULL;
    if (rbli_file_writer_open(ctx, "content", &writer) != RBL_OK) return;
    rbli_redis_cache_copy_content(ctx, redis, (rbli_hash){0, 0}, writer);
    rbli_file_writer_discard(writer);
}

static void ask(rbl_context *ctx, rbli_redis *redis, unsigned request)
{
    switch (request % 6) {
    case 0:
        get(ctx, redis);
        get(ctx, redis); /* on the same connection when the first answers were right */
        break;
    case 1:
        rbli_redis_has(ctx, redis, "rubble:f:0");
        rbli_redis_has(ctx, redis, "rubble:f:1");
        break;
    case 2:
        rbli_redis_put(ctx, redis, "rubble:c:0", (const uint8_t *)"value", 5);
        get(ctx, redis);
        break;
    case 3:
        rbli_result_release(rbli_redis_cache_find(ctx, redis, (rbli_hash){0, 0}, NULL));
        break;
    case 4:
        copy_content(ctx, redis);
        break;
    case 5:
        rbli_redis_reject(ctx, redis, "rubble:c:0", "it is damaged");
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    rbli_redis *redis = NULL;
    char address[200];
    if (count < 2 || rbli_context_create(1, &ctx) != RBL_OK) return 0;
    enter_folder();
    start_server(address);
    /* With a database the first answer is that to SELECT. */
    if (bytes[0] & 0x80) strcat(address, "&db=3");
    set_answers(bytes + 2, count - 2, bytes[1]);
    if (rbli_redis_create(ctx->allocator, address, &redis) == RBL_OK) ask(ctx, redis, bytes[0] & 0x7F);
    rbli_redis_destroy(redis);
    set_answers(NULL, 0, 0);
    rbli_messages_clear(ctx->messages);
    rbli_context_destroy(ctx);
    return 0;
}
