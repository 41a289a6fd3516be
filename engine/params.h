#ifndef RUBBLE_ENGINE_PARAMS_H
#define RUBBLE_ENGINE_PARAMS_H

/// Typed parameter values: JSON against a descriptor, defaults filled in.

#include "engine/host_mesh.h"
#include "engine/json.h"
#include "fracture/base/hash.h"

/// A tree of typed values in its own memory. Reference counted and immutable once built: a change makes a new
/// tree.
typedef struct rbli_params rbli_params;

struct rbl_param {
    const rbl_param_desc *desc;
    const rbl_param *parent; /* NULL: the root */
    const rbli_params *owner;
    uint32_t index;   /* in a list; RBLI_JSON_NONE: not an element */
    uint32_t offset;  /* in the graph's text; RBLI_JSON_NONE: not written there */
    int32_t variable; /* the variable that gave the value, or −1 */
    int32_t from;     /* the connection that gives the value when its node is evaluated, or −1 */
    bool absent;      /* an optional one that was left out, or a value that is not known yet */
    size_t count;     /* of items */
    rbl_param *items; /* of a list, fields of an object in the descriptor's order, or NULL; components of a
                         vector when one of them is a variable */
    union {
        bool boolean;
        int64_t integer; /* INT, SEED, ENUM: index of the word */
        double number;
        double vec3[3];
        int64_t int3[3];
        struct {
            const char *string; /* STRING, ENUM word, PATH resolved */
            const char *raw;    /* PATH as it was written */
            int64_t word;       /* ENUM */
        };
    };
};

/// A value of `vars`.
typedef struct rbli_variable {
    char *name;
    rbl_param_desc desc; /* its text fields are borrowed from the graph */
    rbli_params *value;  /* NULL: none yet */
    char *json;          /* the value as JSON text, "" without one */
    uint32_t offset;     /* of its name in the text */
    uint32_t default_offset;
    bool used;
} rbli_variable;

/// What a parameter tree is built from.
typedef struct rbli_param_scope {
    rbli_allocator *allocator;
    rbl_messages *messages;
    rbli_source *source;         /* of places; NULL: messages have none */
    const char *folder;          /* relative paths are relative to it; "" for the working folder */
    const char *node;            /* id, or NULL */
    const char *pointer;         /* of the root: "/nodes/crack/params" */
    size_t node_offset;          /* place for what is missing */
    const rbl_port_desc *inputs; /* of the node, for hints; or NULL */
    bool partial;                /* what is missing is not reported: it may stand in a rest not read */
    rbli_variable *variables;
    size_t variable_count;
    bool inside_graph; /* of a graph within the graph, which has "inputs" and no variables */
    /// Resolves {"from": "node.port"}: gives the number of the connection and the kind of value, or reports
    /// and gives −1. NULL: not possible here.
    int32_t (*from)(void *user, const rbli_place *place, const char *text, rbl_value_kind *kind);
    /// A hint at another output of that node that gives `kind`; false: none. NULL: none.
    bool (*hint_from)(void *user, const char *text, rbl_value_kind kind, char *hint, size_t bytes);
    void *user;
    bool failed; /* set when something was reported as an error */
} rbli_param_scope;

/// Builds the parameters of a node from the members of object `value` of `json` (RBLI_JSON_NONE: all left
/// out) against the list `fields`. Everything wrong is reported; *out is set also then, unless memory ran
/// out. `defaults`: a tree of the same fields with all defaults, or NULL: taken from the descriptors' texts.
rbl_status rbli_params_build(rbli_param_scope *scope, const rbl_param_desc *fields, const rbli_json *json,
    uint32_t value, const rbli_params *defaults, rbli_params **out);
/// Builds one value against `desc`.
rbl_status rbli_params_build_value(rbli_param_scope *scope, const rbl_param_desc *desc, const rbli_json *json,
    uint32_t value, rbli_params **out);
/// A copy in which every value that variable `variable` gives is taken anew. A value that does not fit is
/// reported.
rbl_status rbli_params_with_variable(
    rbli_param_scope *scope, const rbli_params *params, int32_t variable, rbli_params **out);
/// A copy in which the value at `path` ("/noise/amplitude", under the root) is replaced.
/// @return RBL_ERR_NOT_FOUND (reported) when nothing can stand there
rbl_status rbli_params_with_value(rbli_param_scope *scope, const rbli_params *params, const char *path,
    const rbli_json *json, uint32_t value, rbli_params **out);
/// A copy in which connections' values stand; what values[from] does not give (NULL) stays absent.
rbl_status rbli_params_with_connections(
    rbli_param_scope *scope, const rbli_params *params, const rbl_value *const *values, rbli_params **out);

/// A copy with `mesh` (retained; NULL: none) in place of the file that parameter `file` names.
rbl_status rbli_params_with_mesh(
    rbli_param_scope *scope, const rbli_params *params, rbli_host_mesh *mesh, rbli_params **out);
/// The mesh that the host bound, borrowed, or NULL.
const rbli_host_mesh *rbli_params_mesh(const rbli_params *params);

rbli_params *rbli_params_retain(const rbli_params *params);
void rbli_params_release(rbli_params *params); /* NULL is fine */
const rbl_param *rbli_params_root(const rbli_params *params);
/// True when a value comes from that variable.
bool rbli_params_use_variable(const rbli_params *params, int32_t variable);
/// The first value that a variable without a value should give, or NULL.
const rbl_param *rbli_params_find_unset(const rbli_params *params);
/// Calls `fn` for every file that the parameters name ("" is none; not `file` when a mesh is bound); the
/// first failure ends it.
rbl_status rbli_params_each_path(
    const rbli_params *params, rbl_status (*fn)(void *user, const rbl_param *param), void *user);
/// Hash of names, typed values and a bound mesh. A PATH counts by its last part; its content is the caller's
/// to add.
rbli_hash rbli_params_hash(const rbli_params *params);
/// Name of the first value that differs ("noise.amplitude"), written to `name`; false when all are equal.
bool rbli_params_difference(const rbli_params *a, const rbli_params *b, char *name, size_t bytes);
/// Appends a value as JSON. Paths as they were written.
void rbli_param_json(const rbl_param *param, rbli_text *out);

/// True for a field of an object that a connection gives when its node is evaluated.
bool rbli_param_is_open(const rbl_param *object, const char *name);
/// "an integer", "one of …" words for messages.
const char *rbli_param_type_words(rbl_param_type type);
/// "int", "vec3" … as `vars` and the schema name types; NULL for no type.
const char *rbli_param_type_word(rbl_param_type type);

#endif
