#ifndef RUBBLE_TYPES_H
#define RUBBLE_TYPES_H

/// Element types of attributes. Numbers are stored in .rbl files: pinned.

#include <stddef.h>
#include <stdint.h>

#include "rubble/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// X(name, number, bytes of one element, word)
#define RBL_TYPE_LIST(X)                                                                                     \
    X(BOOL, 1, 1, "bool")                                                                                    \
    X(INT32, 2, 4, "int32")                                                                                  \
    X(INT64, 3, 8, "int64")                                                                                  \
    X(FLOAT, 4, 4, "float")                                                                                  \
    X(DOUBLE, 5, 8, "double")                                                                                \
    X(INT32_2, 6, 8, "int32_2")                                                                              \
    X(INT32_3, 7, 12, "int32_3")                                                                             \
    X(FLOAT_2, 8, 8, "float_2")                                                                              \
    X(FLOAT_3, 9, 12, "float_3")                                                                             \
    X(FLOAT_4, 10, 16, "float_4")                                                                            \
    X(VEC2, 11, 16, "vec2")                                                                                  \
    X(VEC3, 12, 24, "vec3")                                                                                  \
    X(VEC4, 13, 32, "vec4")                                                                                  \
    X(MAT4, 14, 128, "mat4")                                                                                 \
    X(CHAR, 15, 1, "char")

/// VEC… and MAT4 are doubles, a MAT4 is column-major. A string is a list of CHAR (UTF-8, no zero byte).
typedef enum rbl_type {
#define RBL_TYPE_ENUM(name, number, bytes, word) RBL_##name = number,
    RBL_TYPE_LIST(RBL_TYPE_ENUM)
#undef RBL_TYPE_ENUM
} rbl_type;

/// Bytes of one element; 0 for an unknown type. Thread-safe.
RBL_API size_t rbl_type_bytes(rbl_type type);
/// The type's word ("vec3"); "unknown" for an unknown type. Thread-safe.
RBL_API const char *rbl_type_word(rbl_type type);

#ifdef __cplusplus
}
#endif
#endif
