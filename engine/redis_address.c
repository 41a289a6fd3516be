/// The address of a Redis server, taken apart.

#include "engine/redis_address.h"

#include <stdlib.h>
#include <string.h>

#include "engine/redis_client.h"
#include "fracture/base/alloc.h"

static const char tcp_start[] = "redis://", socket_start[] = "unix://";

bool rbli_redis_is_address(const char *place)
{
    return strncmp(place, "redis://", 8) == 0 || strncmp(place, "rediss://", 9) == 0 ||
           strncmp(place, "unix://", 7) == 0;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/// A part of the address, %XX decoded. @return RBL_ERR_ARGUMENT for a % without digits or a zero byte
static rbl_status take(rbli_allocator *allocator, const char *text, size_t length, char **out)
{
    char *copy = rbli_allocator_alloc(allocator, length + 1, 1), *to = copy;
    if (!copy) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '%') {
            *to++ = text[i];
            continue;
        }
        int high = i + 2 < length ? digit_of(text[i + 1]) : -1;
        int low = high >= 0 ? digit_of(text[i + 2]) : -1;
        if (low < 0 || high * 16 + low == 0) {
            rbli_allocator_free(allocator, copy);
            return RBL_ERR_ARGUMENT;
        }
        *to++ = (char)(high * 16 + low);
        i += 2;
    }
    *to = '\0';
    *out = copy;
    return RBL_OK;
}

/// A whole number that ends at `end`.
static bool read_number(const char *text, const char *end, long most, long *out)
{
    long number = 0;
    if (text == end) return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9') return false;
        number = number * 10 + (*text - '0');
        if (number > most) return false;
    }
    *out = number;
    return true;
}

/// Bytes with K, M or G behind them.
static bool read_bytes(const char *text, const char *end, size_t *out)
{
    unsigned shift = 0;
    if (end > text && (end[-1] == 'K' || end[-1] == 'k')) shift = 10;
    if (end > text && (end[-1] == 'M' || end[-1] == 'm')) shift = 20;
    if (end > text && (end[-1] == 'G' || end[-1] == 'g')) shift = 30;
    long number;
    if (!read_number(text, shift ? end - 1 : end, 512L << 20, &number)) return false;
    *out = (size_t)number << shift;
    return *out > 0 && *out <= (size_t)512 << 20; /* what Redis takes */
}

static bool is_key(const char *text, const char *equals, const char *key)
{
    return (size_t)(equals - text) == strlen(key) && strncmp(text, key, strlen(key)) == 0;
}

static bool read_options(const char *text, rbli_redis_address *a)
{
    while (*text) {
        const char *end = text + strcspn(text, "&"), *equals = memchr(text, '=', (size_t)(end - text));
        bool good = false;
        if (equals && is_key(text, equals, "timeout"))
            good = read_number(equals + 1, end, 600000, &a->timeout_ms) && a->timeout_ms > 0;
        else if (equals && is_key(text, equals, "expire"))
            good = read_number(equals + 1, end, 1000000000, &a->expire_s);
        else if (equals && is_key(text, equals, "db"))
            good = read_number(equals + 1, end, 1000000, &a->database);
        else if (equals && is_key(text, equals, "value"))
            good = read_bytes(equals + 1, end, &a->most_bytes);
        if (!good) return false;
        text = *end ? end + 1 : end;
    }
    return true;
}

static rbl_status read_server(
    rbli_allocator *allocator, const char *text, const char *end, rbli_redis_address *a)
{
    rbl_status status = RBL_OK;
    const char *at = NULL;
    for (const char *c = text; c < end; c++)
        if (*c == '@') at = c;
    if (at) {
        const char *colon = memchr(text, ':', (size_t)(at - text));
        if (!colon) return RBL_ERR_ARGUMENT;
        if (colon > text) RBL_TRY(take(allocator, text, (size_t)(colon - text), &a->user));
        RBL_TRY(take(allocator, colon + 1, (size_t)(at - colon - 1), &a->password));
        text = at + 1;
    }
    const char *slash = memchr(text, '/', (size_t)(end - text)), *host_end = slash ? slash : end;
    if (slash && slash + 1 < end && !read_number(slash + 1, end, 1000000, &a->database))
        return RBL_ERR_ARGUMENT;
    const char *colon = NULL, *host = text, *after = host_end;
    if (*text == '[') { /* IPv6 */
        const char *bracket = memchr(text, ']', (size_t)(host_end - text));
        if (!bracket) return RBL_ERR_ARGUMENT;
        host = text + 1;
        after = bracket;
        if (bracket + 1 < host_end) colon = bracket + 1;
        if (colon && *colon != ':') return RBL_ERR_ARGUMENT;
    } else if ((colon = memchr(text, ':', (size_t)(host_end - text)))) {
        after = colon;
    }
    long port = 6379;
    if (colon && (!read_number(colon + 1, host_end, 65535, &port) || port == 0)) return RBL_ERR_ARGUMENT;
    if (after == host) return RBL_ERR_ARGUMENT;
    a->port = (int)port;
    RBL_TRY(take(allocator, host, (size_t)(after - host), &a->host));
done:
    return status;
}

rbl_status rbli_redis_address_read(rbli_allocator *allocator, const char *text, rbli_redis_address *out)
{
    rbl_context ctx = {.allocator = allocator};
    rbl_status status = RBL_ERR_ARGUMENT;
    *out =
        (rbli_redis_address){.timeout_ms = 500, .expire_s = 30L * 24 * 3600, .most_bytes = (size_t)64 << 20};
    const char *end = text + strcspn(text, "?");
    if (*end && !read_options(end + 1, out)) goto done;
    if (strncmp(text, socket_start, sizeof socket_start - 1) == 0) {
        text += sizeof socket_start - 1;
        out->is_socket = true;
        if (*text != '/') goto done;
        RBL_TRY(take(allocator, text, (size_t)(end - text), &out->host));
        out->name = rbli_format(&ctx, "%s%s", socket_start, out->host);
    } else if (strncmp(text, tcp_start, sizeof tcp_start - 1) == 0) {
        RBL_TRY(read_server(allocator, text + sizeof tcp_start - 1, end, out));
        bool six = strchr(out->host, ':') != NULL;
        out->name = rbli_format(&ctx, "%s%s%s%s:%d/%ld", tcp_start, six ? "[" : "", out->host, six ? "]" : "",
            out->port, out->database);
    } else {
        goto done; /* rediss://: without TLS */
    }
    RBL_TRY_ALLOC(out->name);
    return RBL_OK;
done:
    rbli_redis_address_free(allocator, out);
    return status;
}

void rbli_redis_address_free(rbli_allocator *allocator, rbli_redis_address *address)
{
    rbli_allocator_free(allocator, address->host);
    rbli_allocator_free(allocator, address->user);
    rbli_allocator_free(allocator, address->password);
    rbli_allocator_free(allocator, address->name);
    *address = (rbli_redis_address){0};
}
