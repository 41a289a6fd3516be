/// The server of `rubble view --watch`. A connection carries one request; /events stays open (server-sent
/// events, WHATWG HTML §9.2). Limits on size, time and number keep a broken client from doing harm.

#include "tools/cli/view_serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/view_request.h"

enum {
    MOST_CONNECTIONS = 64,
    MOST_REQUEST_BYTES = 16 * 1024,
    MOST_WAITING_BYTES = 256 * 1024, /* that a browser leaves unread of its events */
    REQUEST_MS = 10 * 1000,          /* until a request has come */
    ANSWER_MS = 120 * 1000,          /* until its answer has gone */
    PING_MS = 15 * 1000,             /* between signs of life on /events */
};

/// Bytes that several connections may be sending.
typedef struct shared_bytes {
    size_t references;
    view_bytes bytes;
} shared_bytes;

typedef struct connection {
    uv_tcp_t tcp;
    uv_timer_t timer;
    view_server *server;
    struct connection *next;
    char request[MOST_REQUEST_BYTES + 1];
    size_t size;
    int open_handles;
    bool closing, answered, events;
} connection;

struct view_server {
    uv_tcp_t tcp;
    int port;
    connection *connections;
    size_t count;
    shared_bytes *page;
    char revision[64];
    char *problem;        /* JSON text; NULL: none */
    bool closing, closed; /* of the listener */
};

/* ---- Memory ---- */

static void release_bytes(shared_bytes *shared)
{
    if (!shared || --shared->references) return;
    free(shared->bytes.data);
    free(shared);
}

/// Takes bytes over, also when it fails. @return one reference, NULL without memory
static shared_bytes *share_bytes(view_bytes *bytes)
{
    shared_bytes *shared = bytes->failed ? NULL : malloc(sizeof *shared);
    if (shared)
        *shared = (shared_bytes){.references = 1, .bytes = *bytes};
    else
        free(bytes->data);
    *bytes = (view_bytes){0};
    return shared;
}

static void free_server_when_closed(view_server *server)
{
    if (!server->closed || server->count) return;
    release_bytes(server->page);
    free(server->problem);
    free(server);
}

/* ---- Connections ---- */

static void on_handle_closed(uv_handle_t *handle)
{
    connection *c = handle->data;
    if (--c->open_handles) return;
    view_server *server = c->server;
    for (connection **at = &server->connections; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    server->count--;
    free(c);
    free_server_when_closed(server);
}

static void close_connection(connection *c)
{
    if (c->closing) return;
    c->closing = true;
    uv_close((uv_handle_t *)&c->tcp, on_handle_closed);
    uv_close((uv_handle_t *)&c->timer, on_handle_closed);
}

typedef struct sending {
    uv_write_t write;
    connection *connection;
    shared_bytes *head, *body; /* body may be NULL */
} sending;

static void on_sent(uv_write_t *write, int status)
{
    sending *s = (sending *)write;
    connection *c = s->connection;
    release_bytes(s->head);
    release_bytes(s->body);
    free(s);
    if (status != 0 || !c->events) close_connection(c);
}

/// Sends bytes; the references of head and body are taken over.
static void send_bytes(connection *c, shared_bytes *head, shared_bytes *body)
{
    sending *s = head ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        release_bytes(head);
        release_bytes(body);
        close_connection(c);
        return;
    }
    *s = (sending){.connection = c, .head = head, .body = body};
    uv_buf_t parts[2] = {uv_buf_init((char *)head->bytes.data, (unsigned)head->bytes.size), {0}};
    if (body) parts[1] = uv_buf_init((char *)body->bytes.data, (unsigned)body->bytes.size);
    if (uv_write(&s->write, (uv_stream_t *)&c->tcp, parts, body ? 2 : 1, on_sent) != 0) {
        release_bytes(head);
        release_bytes(body);
        free(s);
        close_connection(c);
    }
}

static void on_late(uv_timer_t *timer)
{
    close_connection(timer->data);
}

/* ---- Answers ---- */

static const char common_head[] =
    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n";

/// Sends a whole answer; a reference of `body` is taken over.
static void answer(connection *c, const char *status, const char *type, shared_bytes *body)
{
    char text[512];
    view_bytes head = {0};
    snprintf(text, sizeof text,
        "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\nConnection: "
        "close\r\n%s%s\r\n",
        status, type, body ? body->bytes.size : 0, strncmp(status, "405", 3) == 0 ? "Allow: GET\r\n" : "",
        common_head);
    view_bytes_text(&head, text);
    c->answered = true;
    uv_timer_start(&c->timer, on_late, ANSWER_MS, 0);
    send_bytes(c, share_bytes(&head), body);
}

static void answer_text(connection *c, const char *status)
{
    view_bytes text = {0};
    view_bytes_text(&text, status);
    view_bytes_text(&text, "\n");
    answer(c, status, "text/plain", share_bytes(&text));
}

static void send_event(connection *c, const char *name, const char *data)
{
    if (c->closing) return;
    if (uv_stream_get_write_queue_size((uv_stream_t *)&c->tcp) > MOST_WAITING_BYTES) {
        close_connection(c);
        return;
    }
    view_bytes text = {0};
    if (*name) {
        view_bytes_text(&text, "event: ");
        view_bytes_text(&text, name);
        view_bytes_text(&text, "\ndata: ");
        view_bytes_text(&text, data);
    } else {
        view_bytes_text(&text, ":"); /* a comment: a sign of life */
    }
    view_bytes_text(&text, "\n\n");
    send_bytes(c, share_bytes(&text), NULL);
}

static void on_ping(uv_timer_t *timer)
{
    send_event(timer->data, "", "");
}

static void begin_events(connection *c)
{
    view_bytes head = {0};
    view_bytes_text(&head, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n");
    view_bytes_text(&head, common_head);
    view_bytes_text(&head, "Connection: close\r\n\r\nretry: 1000\n\n");
    c->answered = c->events = true;
    uv_timer_start(&c->timer, on_ping, PING_MS, PING_MS);
    send_bytes(c, share_bytes(&head), NULL);
    if (*c->server->revision) send_event(c, "result", c->server->revision);
    if (c->server->problem) send_event(c, "problem", c->server->problem);
}

/* ---- Requests ---- */

static void handle_request(connection *c)
{
    view_server *server = c->server;
    switch (view_request_read(c->request, server->port)) {
    case VIEW_REQUEST_BAD:
        answer_text(c, "400 Bad Request");
        return;
    case VIEW_REQUEST_FOREIGN:
        answer_text(c, "403 Forbidden");
        return;
    case VIEW_REQUEST_METHOD:
        answer_text(c, "405 Method Not Allowed");
        return;
    case VIEW_REQUEST_EVENTS:
        begin_events(c);
        return;
    case VIEW_REQUEST_ICON:
        answer(c, "200 OK", "image/x-icon", NULL);
        return;
    case VIEW_REQUEST_PAGE:
        if (!server->page) break;
        server->page->references++;
        answer(c, "200 OK", "text/html", server->page);
        return;
    case VIEW_REQUEST_UNKNOWN:
        break;
    }
    answer_text(c, "404 Not Found");
}

static void on_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    (void)suggested;
    connection *c = handle->data;
    *buffer = uv_buf_init(c->request + c->size, (unsigned)(MOST_REQUEST_BYTES - c->size));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    (void)buffer;
    connection *c = stream->data;
    if (count < 0) {
        close_connection(c);
        return;
    }
    if (c->answered) return; /* what follows a request is not read: its place is used again */
    c->size += (size_t)count;
    c->request[c->size] = '\0';
    bool whole = strlen(c->request) == c->size && strstr(c->request, "\r\n\r\n");
    if (whole)
        handle_request(c);
    else if (strlen(c->request) != c->size)
        answer_text(c, "400 Bad Request");
    else if (c->size == MOST_REQUEST_BYTES)
        answer_text(c, "431 Request Header Fields Too Large");
    if (c->answered) c->size = 0;
}

static void on_connection(uv_stream_t *listener, int status)
{
    view_server *server = listener->data;
    if (status != 0 || server->closing) return;
    connection *c = calloc(1, sizeof *c);
    if (!c) return;
    c->server = server;
    uv_tcp_init(listener->loop, &c->tcp);
    uv_timer_init(listener->loop, &c->timer);
    c->tcp.data = c->timer.data = c;
    c->open_handles = 2;
    c->next = server->connections;
    server->connections = c;
    server->count++;
    if (uv_accept(listener, (uv_stream_t *)&c->tcp) != 0 || server->count > MOST_CONNECTIONS ||
        uv_timer_start(&c->timer, on_late, REQUEST_MS, 0) != 0 ||
        uv_read_start((uv_stream_t *)&c->tcp, on_buffer, on_read) != 0)
        close_connection(c);
}

/* ---- The server ---- */

static void on_server_closed(uv_handle_t *handle)
{
    view_server *server = handle->data;
    server->closed = true;
    free_server_when_closed(server);
}

static int listen_on(view_server *server, uv_loop_t *loop, int port)
{
    struct sockaddr_in address;
    int length = sizeof address;
    uv_tcp_init(loop, &server->tcp);
    server->tcp.data = server;
    int error = uv_ip4_addr("127.0.0.1", port, &address);
    if (error == 0) error = uv_tcp_bind(&server->tcp, (const struct sockaddr *)&address, 0);
    if (error == 0) error = uv_listen((uv_stream_t *)&server->tcp, 16, on_connection);
    if (error == 0) error = uv_tcp_getsockname(&server->tcp, (struct sockaddr *)&address, &length);
    if (error == 0) server->port = ntohs(address.sin_port);
    return error;
}

static void on_failed_closed(uv_handle_t *handle)
{
    free(handle->data);
}

view_server *view_server_start(uv_loop_t *loop, int port, int *error)
{
    int tries[2] = {port ? port : VIEW_SERVER_PORT, 0};
    for (int i = 0; i < (port ? 1 : 2); i++) {
        view_server *server = calloc(1, sizeof *server);
        *error = server ? listen_on(server, loop, tries[i]) : UV_ENOMEM;
        if (*error == 0) return server;
        if (server) uv_close((uv_handle_t *)&server->tcp, on_failed_closed);
        if (!server) break;
    }
    return NULL;
}

int view_server_port(const view_server *server)
{
    return server->port;
}

static void tell_all(view_server *server, const char *name, const char *data)
{
    for (connection *c = server->connections, *next; c; c = next) {
        next = c->next;
        if (c->events) send_event(c, name, data);
    }
}

void view_server_set_page(view_server *server, view_bytes *page, const char *revision)
{
    shared_bytes *shared = share_bytes(page);
    if (!shared) return;
    release_bytes(server->page);
    server->page = shared;
    free(server->problem);
    server->problem = NULL;
    snprintf(server->revision, sizeof server->revision, "%s", revision);
    if (*revision) tell_all(server, "result", revision);
}

void view_server_set_problem(view_server *server, const char *json)
{
    char *copy = strdup(json);
    if (!copy) return;
    free(server->problem);
    server->problem = copy;
    tell_all(server, "problem", json);
}

void view_server_tell_running(view_server *server)
{
    tell_all(server, "running", "1"); /* browsers drop events without data */
}

void view_server_stop(view_server *server)
{
    if (!server) return;
    server->closing = true;
    for (connection *c = server->connections; c; c = c->next)
        close_connection(c);
    uv_close((uv_handle_t *)&server->tcp, on_server_closed);
}
