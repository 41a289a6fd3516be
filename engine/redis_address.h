#ifndef RUBBLE_ENGINE_REDIS_ADDRESS_H
#define RUBBLE_ENGINE_REDIS_ADDRESS_H

/// The address of a Redis server, taken apart.

#include "fracture/base/context.h"

typedef struct rbli_redis_address {
    char *host; /* or the path of a socket; owned, also what follows */
    char *user, *password;
    char *name; /* for messages: without user and password */
    bool is_socket;
    int port;
    long database, timeout_ms, expire_s;
    size_t most_bytes;
} rbli_redis_address;

/// @return RBL_OK · RBL_ERR_ARGUMENT · RBL_ERR_NO_MEMORY; nothing is held on failure
rbl_status rbli_redis_address_read(rbli_allocator *allocator, const char *text, rbli_redis_address *out);
void rbli_redis_address_free(rbli_allocator *allocator, rbli_redis_address *address);

#endif
