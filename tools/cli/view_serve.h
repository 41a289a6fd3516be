#ifndef RUBBLE_CLI_VIEW_SERVE_H
#define RUBBLE_CLI_VIEW_SERVE_H

/// A small HTTP server for one page and its events, for this machine only: it listens on 127.0.0.1, answers GET
/// of / and /events, and refuses requests that name another host (DNS rebinding). Everything happens on the
/// thread of its loop.

#include <uv.h>

#include "tools/cli/view_data.h"

typedef struct view_server view_server;

enum { VIEW_SERVER_PORT = 8177 }; /* where none is asked for; another free one when it is taken */

/// @param port  0: any, with VIEW_SERVER_PORT tried first
/// @return NULL when it cannot listen; *error is then libuv's number
view_server *view_server_start(uv_loop_t *loop, int port, int *error);
int view_server_port(const view_server *server);
/// Takes the page over, whose data is at `page->data`, and tells browsers of its revision (a word without
/// quotes).
void view_server_set_page(view_server *server, view_bytes *page, const char *revision);
/// Tells browsers, and those that come before the next result, what went wrong: JSON text of a string.
void view_server_set_problem(view_server *server, const char *json);
/// Tells browsers that an evaluation has begun.
void view_server_tell_running(view_server *server);
/// Closes all connections; frees itself while the loop runs on.
void view_server_stop(view_server *server);

#endif
