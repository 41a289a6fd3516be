#ifndef RUBBLE_ENGINE_JSON_H
#define RUBBLE_ENGINE_JSON_H

/// Strict JSON (RFC 8259) that remembers where everything stands.
///
/// cJSON is not used for graphs because it keeps duplicate keys without a word, takes what is not JSON
/// (1e999, raw tabs, leading zeros, broken UTF-8), cuts strings at \u0000 and knows no places; checking all
/// that first is a parser already.

#include "engine/messages.h"

typedef enum rbli_json_type {
    RBLI_JSON_BAD, /* a value whose text is wrong; reported already */
    RBLI_JSON_NULL,
    RBLI_JSON_BOOL,
    RBLI_JSON_NUMBER,
    RBLI_JSON_STRING,
    RBLI_JSON_ARRAY,
    RBLI_JSON_OBJECT,
} rbli_json_type;

enum { RBLI_JSON_NONE = UINT32_MAX };

/// A value. Values are kept in one array in the order of the text; links are indices in it.
typedef struct rbli_json_value {
    uint8_t type; /* rbli_json_type */
    bool boolean;
    bool is_integer;       /* a number that is an integer of 64 bits */
    uint32_t offset, end;  /* bytes of its text */
    uint32_t key_offset;   /* of a member's key */
    uint32_t parent, next; /* RBLI_JSON_NONE */
    uint32_t first_child, child_count;
    const char *key; /* of a member, else NULL */
    union {
        const char *string; /* STRING */
        struct {
            double number;
            int64_t integer;
        };
    };
} rbli_json_value;

typedef struct rbli_json {
    rbli_allocator *allocator;
    rbli_source *source;
    rbli_json_value *values; /* values[0] is the root */
    size_t count, capacity;
    struct rbli_json_block *strings; /* decoded strings */
    bool partial;                    /* the parsing ended early; values that were not ended have no `end` */
} rbli_json;

enum {
    RBLI_JSON_COMMENTS = 1, /* comments and trailing commas are taken (.jsonc) */
    RBLI_JSON_PARTIAL = 2,  /* what stands before a mistake that ends the parsing is kept */
};

enum {
    RBLI_JSON_MOST_BYTES = 64 << 20,
    RBLI_JSON_MOST_DEPTH = 64,
};

/// Parses the text of `source`, which is retained. Members named "//" are left out; a name given twice is
/// reported at both places and the first one counts. What can be read in spite of errors is kept, so that all
/// errors of a text are found in one run; the caller looks at the count of errors in `messages`.
/// @return RBL_OK (also with errors reported) · RBL_ERR_PARSE (reported; nothing usable, or with
/// RBLI_JSON_PARTIAL not even a root) · RBL_ERR_NO_MEMORY · RBL_ERR_LIMIT
rbl_status rbli_json_parse(
    rbli_allocator *allocator, rbli_source *source, unsigned flags, rbl_messages *messages, rbli_json **out);
void rbli_json_destroy(rbli_json *json); /* NULL is fine */

/// Member of an object by name; RBLI_JSON_NONE when there is none.
uint32_t rbli_json_member(const rbli_json *json, uint32_t object, const char *name);
/// Appends the JSON pointer of a value (RFC 6901).
void rbli_json_pointer(const rbli_json *json, uint32_t value, rbli_text *out);
void rbli_json_pointer_step(rbli_text *out, const char *name); /* "/" and the escaped name */
/// "a string", "an object" …
const char *rbli_json_type_words(rbli_json_type type);

#endif
