#ifndef RUBBLE_STATUS_H
#define RUBBLE_STATUS_H

/// Status codes of every fallible function. Numbers are pinned: new codes take free numbers, old ones never
/// change.

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RBL_API __attribute__((visibility("default")))
#define RBL_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#else
#define RBL_API
#define RBL_PRINTF(format_index, first_index)
#endif

/// X(name, number, text)
#define RBL_STATUS_LIST(X)                                                                                   \
    X(OK, 0, "done")                                                                                         \
    X(ERR_NO_MEMORY, 1, "out of memory")                                                                     \
    X(ERR_CANCELLED, 2, "cancelled")                                                                         \
    X(ERR_ARGUMENT, 3, "an argument is out of range")                                                        \
    X(ERR_LIMIT, 4, "a limit is exceeded")                                                                   \
    X(ERR_INTERNAL, 5, "internal error")                                                                     \
    X(ERR_READ, 10, "a file cannot be read")                                                                 \
    X(ERR_WRITE, 11, "a file cannot be written")                                                             \
    X(ERR_PARSE, 12, "a file is malformed")                                                                  \
    X(ERR_GRAPH, 20, "the graph is invalid")                                                                 \
    X(ERR_NODE, 21, "a node failed")                                                                         \
    X(ERR_TYPE, 22, "a value has the wrong type")                                                            \
    X(ERR_NOT_FOUND, 23, "no such name")                                                                     \
    X(ERR_OPEN_MESH, 30, "the mesh is not closed")                                                           \
    X(ERR_MESH, 31, "the mesh is refused")                                                                   \
    X(ERR_COLLECTION, 32, "the collection is not valid")

typedef enum rbl_status {
#define RBL_STATUS_ENUM(name, number, text) RBL_##name = number,
    RBL_STATUS_LIST(RBL_STATUS_ENUM)
#undef RBL_STATUS_ENUM
} rbl_status;

/// The English text of a status, a static string, never NULL. Thread-safe.
RBL_API const char *rbl_status_text(rbl_status status);

#ifdef __cplusplus
}
#endif
#endif
