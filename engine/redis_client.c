/// A Redis server as a store of bytes by key. hiredis finds the server, connects and reads the protocol; sending, waiting
/// and deadlines are here, because its own would hold a cancelled evaluation up.

#include "engine/redis_client.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

#include "engine/redis_address.h"
#include "fracture/base/alloc.h"

enum {
    MOST_IDLE = 16,     /* connections that are kept */
    SLICE_MS = 20,      /* how long a wait does not look at cancellation */
    MOST_PAUSE_S = 60,  /* between tries of a server that fails */
    MOST_REJECTED = 3,  /* damaged values in a row */
    MOST_WORDS = 8,     /* of a command */
    MOST_TEXT = 1 << 16 /* bytes of answers beside values */
};

struct rbli_redis {
    rbli_allocator *allocator;
    rbli_redis_address address;
    uv_mutex_t mutex; /* what follows */
    redisContext *idle[MOST_IDLE];
    size_t idle_count;
    uint64_t blocked_until, writes_blocked_until, failed_at, write_failed_at; /* ns of uv_hrtime */
    unsigned pause_s, write_pause_s;
    unsigned rejected; /* values in a row */
    bool told;
};

/* ---- Answers ---- */

/// What a command gave. Arrays are never asked for.
typedef struct answer {
    enum { NOTHING, TEXT, BYTES, NUMBER, ERROR } kind;
    long long number;
    size_t count;
    char data[]; /* [count] and a zero byte */
} answer;

static void *make_text(const redisReadTask *task, char *text, size_t length)
{
    answer *a = malloc(sizeof *a + length + 1);
    if (!a) return NULL;
    a->kind = task->type == REDIS_REPLY_STRING ? BYTES : task->type == REDIS_REPLY_ERROR ? ERROR : TEXT;
    a->count = length;
    memcpy(a->data, text, length);
    a->data[length] = '\0';
    return a;
}

static void *make_number(const redisReadTask *task, long long number)
{
    (void)task;
    answer *a = calloc(1, sizeof *a + 1);
    if (a) *a = (answer){.kind = NUMBER, .number = number};
    return a;
}

static void *make_nothing(const redisReadTask *task)
{
    (void)task;
    return calloc(1, sizeof(answer) + 1);
}

#if HIREDIS_MAJOR >= 1
static void *make_array(const redisReadTask *task, size_t count)
#else
static void *make_array(const redisReadTask *task, int count)
#endif
{
    (void)task, (void)count;
    return NULL; /* an error of the reader; else a liar could ask for any amount of memory */
}

static redisReplyObjectFunctions functions = {.createString = make_text,
    .createArray = make_array,
    .createInteger = make_number,
    .createNil = make_nothing,
    .freeObject = free};

/* ---- Waiting ---- */

/// A request under way.
typedef struct request {
    rbl_context *ctx;
    rbli_redis *redis;
    redisContext *connection;
    uint64_t deadline;
    bool cancelled;
    char why[200];
} request;

static bool fail(request *r, const char *why)
{
    if (!*r->why) snprintf(r->why, sizeof r->why, "%s", why);
    return false;
}

static bool fail_errno(request *r, int number)
{
    char text[120];
    if (uv_strerror_r(uv_translate_sys_error(number), text, sizeof text)) return fail(r, text);
    return fail(r, "it failed");
}

static void extend(request *r)
{
    r->deadline = uv_hrtime() + (uint64_t)r->redis->address.timeout_ms * 1000000;
}

/// Until the socket is ready; false when the time is up, on errors and when cancelled.
static bool wait_for(request *r, short events)
{
    for (;;) {
        if (rbli_cancelled(r->ctx)) {
            r->cancelled = true;
            return false;
        }
        uint64_t now = uv_hrtime();
        if (now >= r->deadline) return fail(r, "no answer in time");
        uint64_t left = (r->deadline - now) / 1000000 + 1;
        struct pollfd ready = {.fd = r->connection->fd, .events = events};
        int count = poll(&ready, 1, left < SLICE_MS ? (int)left : SLICE_MS);
        if (count > 0) return true;
        if (count < 0 && errno != EINTR) return fail_errno(r, errno);
    }
}

/// Each megabyte has the time anew: large values take longer, and a trickle does not go on forever.
static void count_progress(request *r, size_t before, size_t now)
{
    if (before >> 20 != now >> 20) extend(r);
}

static bool send_bytes(request *r, const void *bytes, size_t count)
{
    const char *at = bytes;
    for (size_t sent = 0; sent < count;) {
        ssize_t part = send(r->connection->fd, at + sent, count - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (part > 0) {
            count_progress(r, sent, sent + (size_t)part);
            sent += (size_t)part;
        } else if (part < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (!wait_for(r, POLLOUT)) return false;
        } else if (part == 0 || errno != EINTR) {
            return fail_errno(r, part == 0 ? EPIPE : errno);
        }
    }
    return true;
}

/// The next answer, freed by the caller; NULL when none comes.
static answer *receive(request *r, size_t most)
{
    char buffer[1 << 14];
    size_t received = 0;
    for (;;) {
        void *got = NULL;
        if (redisReaderGetReply(r->connection->reader, &got) != REDIS_OK) {
            fail(r, "it does not speak Redis' protocol");
            return NULL;
        }
        if (got) return got;
        ssize_t part = recv(r->connection->fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (part > 0) {
            count_progress(r, received, received + (size_t)part);
            received += (size_t)part;
            if (received > most) {
                fail(r, "a value is larger than it can be");
                return NULL;
            }
            if (redisReaderFeed(r->connection->reader, buffer, (size_t)part) != REDIS_OK) {
                fail(r, rbl_status_text(RBL_ERR_NO_MEMORY));
                return NULL;
            }
        } else if (part == 0) {
            fail(r, "the server closed the connection");
            return NULL;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_for(r, POLLIN)) return NULL;
        } else if (errno != EINTR) {
            fail_errno(r, errno);
            return NULL;
        }
    }
}

/* ---- Commands ---- */

/// Sends a command of words; the last of them may be any bytes.
static bool send_command(
    request *r, const char *const *words, const void *value, size_t bytes, const char *const *after)
{
    char head[1024];
    size_t count = 0, length = 0;
    while (words[count])
        count++;
    size_t after_count = 0;
    while (after && after[after_count])
        after_count++;
    length = (size_t)snprintf(head, sizeof head, "*%zu\r\n", count + (value != NULL) + after_count);
    for (size_t i = 0; i < count && length < sizeof head; i++)
        length += (size_t)snprintf(
            head + length, sizeof head - length, "$%zu\r\n%s\r\n", strlen(words[i]), words[i]);
    if (value && length < sizeof head)
        length += (size_t)snprintf(head + length, sizeof head - length, "$%zu\r\n", bytes);
    if (length >= sizeof head) return fail(r, "user or password is too long");
    if (!send_bytes(r, head, length)) return false;
    if (!value) return true;
    length = (size_t)snprintf(head, sizeof head, "\r\n");
    for (size_t i = 0; i < after_count; i++)
        length += (size_t)snprintf(
            head + length, sizeof head - length, "$%zu\r\n%s\r\n", strlen(after[i]), after[i]);
    return send_bytes(r, value, bytes) && send_bytes(r, head, length);
}

/// A command whose answer says only whether it was done.
static bool do_command(request *r, const char *const *words)
{
    answer *a = send_command(r, words, NULL, 0, NULL) ? receive(r, MOST_TEXT) : NULL;
    bool good = a && a->kind != ERROR;
    if (a && !good) fail(r, a->data);
    free(a);
    return good;
}

static bool open_connection(request *r)
{
    const rbli_redis_address *a = &r->redis->address;
    r->connection = a->is_socket ? redisConnectUnixNonBlock(a->host) : redisConnectNonBlock(a->host, a->port);
    if (!r->connection) return fail(r, rbl_status_text(RBL_ERR_NO_MEMORY));
    if (r->connection->err) return fail(r, r->connection->errstr);
    redisReader *reader = redisReaderCreateWithFunctions(&functions);
    if (!reader) return fail(r, rbl_status_text(RBL_ERR_NO_MEMORY));
    redisReaderFree(r->connection->reader);
    r->connection->reader = reader;
    int fault = 0;
    socklen_t length = sizeof fault;
    if (!wait_for(r, POLLOUT)) return false;
    if (getsockopt(r->connection->fd, SOL_SOCKET, SO_ERROR, &fault, &length) != 0) fault = errno;
    if (fault) return fail_errno(r, fault);
    char database[24];
    snprintf(database, sizeof database, "%ld", a->database);
    const char *short_login[] = {"AUTH", a->password, NULL}, *login[] = {"AUTH", a->user, a->password, NULL},
               *choice[] = {"SELECT", database, NULL};
    if (a->password && !do_command(r, a->user ? login : short_login)) return false;
    return a->database == 0 || do_command(r, choice);
}

/* ---- A server that fails ---- */

/// Whether the server is to be asked. The first who comes after a pause tries it, the others go on without.
static bool may_try(rbli_redis *redis, bool write)
{
    uint64_t now = uv_hrtime();
    uv_mutex_lock(&redis->mutex);
    bool open = now >= redis->blocked_until && (!write || now >= redis->writes_blocked_until);
    if (open && redis->pause_s) redis->blocked_until = now + (uint64_t)redis->pause_s * 1000000000;
    if (open && write && redis->write_pause_s)
        redis->writes_blocked_until = now + (uint64_t)redis->write_pause_s * 1000000000;
    uv_mutex_unlock(&redis->mutex);
    return open;
}

static void pause_after(unsigned *pause_s, uint64_t *until, uint64_t *last)
{
    uint64_t now = uv_hrtime();
    /* Requests that were under way together fail together. */
    if (*pause_s && now < *last + (uint64_t)*pause_s * 500000000) return;
    *last = now;
    *pause_s = *pause_s == 0 ? 1 : *pause_s * 2 > MOST_PAUSE_S ? MOST_PAUSE_S : *pause_s * 2;
    *until = now + (uint64_t)*pause_s * 1000000000;
}

/// Notes a failure; `write`: reading may go on (the server is full, or a copy that only reads).
static void note_failure(rbl_context *ctx, rbli_redis *redis, bool write, const char *why)
{
    uv_mutex_lock(&redis->mutex);
    if (write)
        pause_after(&redis->write_pause_s, &redis->writes_blocked_until, &redis->write_failed_at);
    else
        pause_after(&redis->pause_s, &redis->blocked_until, &redis->failed_at);
    bool tell = !redis->told;
    redis->told = true;
    uv_mutex_unlock(&redis->mutex);
    if (tell)
        rbli_note(ctx,
            "the cache %s cannot be %s, and work goes on without; it is tried again now and then: %s",
            redis->address.name, write ? "written" : "used", why);
}

/* ---- Connections ---- */

static bool take_connection(request *r)
{
    rbli_redis *redis = r->redis;
    for (;;) {
        uv_mutex_lock(&redis->mutex);
        r->connection = redis->idle_count ? redis->idle[--redis->idle_count] : NULL;
        uv_mutex_unlock(&redis->mutex);
        if (!r->connection) return open_connection(r);
        /* Something to read before anything was asked: the server closed it. */
        char byte;
        ssize_t count = recv(r->connection->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
        redisFree(r->connection);
        r->connection = NULL;
    }
}

/// After a request: keeps the connection, or closes one whose state is not known.
static void give_connection(request *r, bool good)
{
    rbli_redis *redis = r->redis;
    if (!r->connection) return;
    uv_mutex_lock(&redis->mutex);
    if (good) redis->pause_s = 0;
    if (good) redis->blocked_until = 0;
    bool keep = good && redis->idle_count < MOST_IDLE;
    if (keep) redis->idle[redis->idle_count++] = r->connection;
    uv_mutex_unlock(&redis->mutex);
    if (!keep) redisFree(r->connection);
    r->connection = NULL;
}

/// Begins a request. False: the server is left alone, or failed.
static bool begin(request *r, rbl_context *ctx, rbli_redis *redis, bool write)
{
    *r = (request){.ctx = ctx, .redis = redis};
    if (!may_try(redis, write)) return false;
    extend(r);
    if (take_connection(r)) return true;
    if (!r->cancelled) note_failure(ctx, redis, false, r->why);
    give_connection(r, false);
    return false;
}

static rbli_redis_answer end_badly(request *r)
{
    if (!r->cancelled) note_failure(r->ctx, r->redis, false, *r->why ? r->why : "its answer is none");
    give_connection(r, false);
    return r->cancelled ? RBLI_REDIS_CANCELLED : RBLI_REDIS_FAILED;
}

/* ---- Requests ---- */

/// Sends EXPIRE or TOUCH of a key; whether it is there is its answer.
static bool send_renewal(request *r, const char *key)
{
    char seconds[24];
    snprintf(seconds, sizeof seconds, "%ld", r->redis->address.expire_s);
    const char *expire[] = {"EXPIRE", key, seconds, NULL}, *touch[] = {"TOUCH", key, NULL};
    return send_command(r, r->redis->address.expire_s ? expire : touch, NULL, 0, NULL);
}

rbli_redis_answer rbli_redis_has(rbl_context *ctx, rbli_redis *redis, const char *key)
{
    request r;
    if (!begin(&r, ctx, redis, false)) return r.cancelled ? RBLI_REDIS_CANCELLED : RBLI_REDIS_FAILED;
    answer *a = send_renewal(&r, key) ? receive(&r, MOST_TEXT) : NULL;
    bool good = a && a->kind == NUMBER, there = good && a->number > 0;
    if (a && a->kind == ERROR) fail(&r, a->data);
    free(a);
    if (!good) return end_badly(&r);
    give_connection(&r, true);
    return there ? RBLI_REDIS_YES : RBLI_REDIS_NO;
}

rbli_redis_answer rbli_redis_get(
    rbl_context *ctx, rbli_redis *redis, const char *key, uint8_t **bytes, size_t *count)
{
    request r;
    if (!begin(&r, ctx, redis, false)) return r.cancelled ? RBLI_REDIS_CANCELLED : RBLI_REDIS_FAILED;
    const char *words[] = {"GET", key, NULL};
    answer *value = NULL, *renewed = NULL;
    bool good = send_command(&r, words, NULL, 0, NULL) && send_renewal(&r, key);
    if (good) value = receive(&r, redis->address.most_bytes + MOST_TEXT);
    if (value) renewed = receive(&r, MOST_TEXT);
    good = value && renewed && (value->kind == BYTES || value->kind == NOTHING) && renewed->kind == NUMBER;
    if (value && value->kind == ERROR) fail(&r, value->data);
    bool found = good && value->kind == BYTES;
    uint8_t *copy = found ? rbli_alloc(ctx, value->count + 1, 1) : NULL;
    if (copy) {
        memcpy(copy, value->data, value->count + 1);
        *bytes = copy;
        *count = value->count;
    }
    free(value);
    free(renewed);
    if (!good) return end_badly(&r);
    give_connection(&r, true);
    return copy ? RBLI_REDIS_YES : RBLI_REDIS_NO;
}

rbli_redis_answer rbli_redis_put(
    rbl_context *ctx, rbli_redis *redis, const char *key, const uint8_t *bytes, size_t count)
{
    if (count > redis->address.most_bytes) return RBLI_REDIS_NO;
    request r;
    if (!begin(&r, ctx, redis, true)) return r.cancelled ? RBLI_REDIS_CANCELLED : RBLI_REDIS_FAILED;
    char seconds[24];
    snprintf(seconds, sizeof seconds, "%ld", redis->address.expire_s);
    const char *words[] = {"SET", key, NULL}, *after[] = {"EX", seconds, NULL};
    bool sent = send_command(&r, words, bytes, count, redis->address.expire_s ? after : NULL);
    answer *a = sent ? receive(&r, MOST_TEXT) : NULL;
    bool done = a && a->kind == TEXT;
    if (!a || (a->kind != TEXT && a->kind != ERROR)) {
        free(a);
        return end_badly(&r);
    }
    if (done) {
        uv_mutex_lock(&redis->mutex);
        redis->write_pause_s = 0;
        redis->writes_blocked_until = 0;
        uv_mutex_unlock(&redis->mutex);
    } else {
        note_failure(ctx, redis, true, a->data); /* full, or a copy that only reads */
    }
    free(a);
    give_connection(&r, true);
    return done ? RBLI_REDIS_YES : RBLI_REDIS_FAILED;
}

void rbli_redis_accept(rbli_redis *redis)
{
    uv_mutex_lock(&redis->mutex);
    redis->rejected = 0;
    uv_mutex_unlock(&redis->mutex);
}

void rbli_redis_reject(rbl_context *ctx, rbli_redis *redis, const char *key, const char *why)
{
    uv_mutex_lock(&redis->mutex);
    bool enough = ++redis->rejected >= MOST_REJECTED;
    if (enough) redis->rejected = 0;
    bool tell = !redis->told;
    redis->told = true;
    uv_mutex_unlock(&redis->mutex);
    if (tell) rbli_note(ctx, "the cache %s has a damaged value: %s; it is removed", redis->address.name, why);
    const char *words[] = {"DEL", key, NULL};
    request r;
    if (begin(&r, ctx, redis, false)) {
        if (do_command(&r, words))
            give_connection(&r, true);
        else
            end_badly(&r);
    }
    if (enough) note_failure(ctx, redis, false, "its values are damaged");
}

/* ---- The whole ---- */

rbl_status rbli_redis_create(rbli_allocator *allocator, const char *address, rbli_redis **out)
{
    rbli_redis *redis = rbli_allocator_calloc(allocator, 1, sizeof *redis);
    if (!redis) return RBL_ERR_NO_MEMORY;
    rbl_status status = rbli_redis_address_read(allocator, address, &redis->address);
    if (status == RBL_OK && uv_mutex_init(&redis->mutex) != 0) {
        rbli_redis_address_free(allocator, &redis->address);
        status = RBL_ERR_NO_MEMORY;
    }
    if (status != RBL_OK) {
        rbli_allocator_free(allocator, redis);
        return status;
    }
    redis->allocator = rbli_allocator_retain(allocator);
    *out = redis;
    return RBL_OK;
}

void rbli_redis_destroy(rbli_redis *redis)
{
    if (!redis) return;
    rbli_allocator *allocator = redis->allocator;
    while (redis->idle_count)
        redisFree(redis->idle[--redis->idle_count]);
    uv_mutex_destroy(&redis->mutex);
    rbli_redis_address_free(allocator, &redis->address);
    rbli_allocator_free(allocator, redis);
    rbli_allocator_release(allocator);
}

const char *rbli_redis_name(const rbli_redis *redis)
{
    return redis->address.name;
}

size_t rbli_redis_most_bytes(const rbli_redis *redis)
{
    return redis->address.most_bytes;
}
