#ifndef RUBBLE_CLI_VIEW_REQUEST_H
#define RUBBLE_CLI_VIEW_REQUEST_H

/// What a request to the server of `rubble view --watch` asks for.

typedef enum view_request {
    VIEW_REQUEST_BAD,     /* no request of HTTP/1 */
    VIEW_REQUEST_FOREIGN, /* meant for another server: a page of another site has its name point here */
    VIEW_REQUEST_METHOD,  /* not GET */
    VIEW_REQUEST_PAGE,
    VIEW_REQUEST_EVENTS,
    VIEW_REQUEST_ICON,
    VIEW_REQUEST_UNKNOWN, /* no such thing here */
} view_request;

/// Reads the head of a request, a text. `port`: of this server.
view_request view_request_read(const char *request, int port);

#endif
