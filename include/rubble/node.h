#ifndef RUBBLE_NODE_H
#define RUBBLE_NODE_H

/// Node types: what a node is called, which ports and parameters it has, and the function that computes it.
/// Our own nodes and a host's nodes use the same descriptor.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rubble/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rbl_context rbl_context;
typedef struct rbl_collection rbl_collection;

/// Kinds of values that flow along connections. int → float is the one conversion.
/// X(name, number, word)
#define RBL_VALUE_KIND_LIST(X)                                                                               \
    X(COLLECTION, 1, "collection")                                                                           \
    X(POINTS, 2, "points")                                                                                   \
    X(BOX, 3, "box")                                                                                         \
    X(SELECTION, 4, "selection")                                                                             \
    X(BOOL, 5, "bool")                                                                                       \
    X(INT, 6, "int")                                                                                         \
    X(FLOAT, 7, "float")                                                                                     \
    X(STRING, 8, "string")                                                                                   \
    X(VEC3, 9, "vec3")

typedef enum rbl_value_kind {
#define RBL_VALUE_KIND_ENUM(name, number, word) RBL_VALUE_##name = number,
    RBL_VALUE_KIND_LIST(RBL_VALUE_KIND_ENUM)
#undef RBL_VALUE_KIND_ENUM
} rbl_value_kind;

/// An immutable, reference-counted value.
typedef struct rbl_value rbl_value;

typedef struct rbl_port_desc {
    const char *name; /* snake_case */
    rbl_value_kind kind;
    bool optional;    /* inputs: may be left unconnected */
    bool several;     /* inputs: takes a list of connections */
    const char *text; /* one line of documentation */
} rbl_port_desc;

typedef enum rbl_param_type {
    RBL_PARAM_BOOL = 1,
    RBL_PARAM_INT,   /* int64 within min … max */
    RBL_PARAM_SEED,  /* 0 … 2³² − 1 */
    RBL_PARAM_FLOAT, /* finite double within min … max */
    RBL_PARAM_STRING,
    RBL_PARAM_PATH,   /* a file that the node reads, relative to the graph file; its content is part of the
                         node's key */
    RBL_PARAM_ENUM,   /* one of `words` */
    RBL_PARAM_VEC3,   /* three finite doubles, each within min … max */
    RBL_PARAM_INT3,   /* three integers, each within min … max */
    RBL_PARAM_OBJECT, /* `fields` */
} rbl_param_type;

typedef struct rbl_param_desc {
    const char *name; /* snake_case */
    rbl_param_type type;
    bool list;                /* a JSON array of `type` */
    const char *default_json; /* the default as JSON text ("20", "[0, 0, 0]", "\"auto\"", "{}"); NULL: must be
                                 given, unless `optional` */
    bool optional;            /* may be left out without a default: rbl_call_param then says it is absent */
    double min, max;          /* inclusive bounds of numbers; both 0: no bounds */
    double step;              /* for sliders; 0: none */
    const char *unit;         /* "m", "deg", "kg/m3", "" … or NULL */
    const char *const *words; /* of an enum, ended by NULL; of a string that names a file to write: the
                                 endings that it may have (".obj") */
    const struct rbl_param_desc *fields; /* of an object, ended by an entry without a name */
    const char *text;                    /* one line of documentation */
} rbl_param_desc;

/// One evaluation of one node, handed to its functions. Valid during the call only.
typedef struct rbl_call rbl_call;

enum {
    RBL_NODE_ALWAYS_DELIVER =
        1, /* `deliver` is called in each run, also when `evaluate` was answered by the cache */
    RBL_NODE_TAKES_MESH =
        2, /* a host may bind a mesh in place of the PATH parameter `file` (rbl_graph_bind_mesh) */
    RBL_NODE_RUNS_GRAPH = 4, /* runs the graph that its string parameter `graph` names: ForEach alone */
    RBL_NODE_KEEPS_FILES =
        8, /* what `deliver` writes and says follows from parameters, inputs and outputs alone: the files may
              come from the cache instead; `revision` also counts changes of what is written */
};

/// An input, output or parameter that the next version of a node type calls otherwise.
typedef struct rbl_rename {
    const char *before, *after;
} rbl_rename;

typedef struct rbl_node_desc {
    size_t size;                  /* sizeof(rbl_node_desc) */
    const char *type;             /* PascalCase; a host's: vendor.Name */
    int version;                  /* pinned by "Type@N" */
    int revision;                 /* raised when the algorithm changes its results: part of every key */
    const char *family;           /* folder in nodes/: "sources", "points", … */
    const char *text;             /* one line; docs and schema show it */
    const char *details;          /* some paragraphs of documentation, or NULL */
    const rbl_port_desc *inputs;  /* ended by an entry without a name; may be NULL */
    const rbl_port_desc *outputs; /* likewise; the first is what "node" without a port means */
    const rbl_param_desc *params; /* likewise */
    /// Computes all outputs. Never changes an input. Errors through rbl_call_fail.
    rbl_status (*evaluate)(rbl_context *ctx, rbl_call *call);
    /// Writes files after `evaluate` or a cache hit (RBL_NODE_ALWAYS_DELIVER), or NULL. Outputs can be read.
    rbl_status (*deliver)(rbl_context *ctx, rbl_call *call);
    unsigned flags;
    /// Of an old version, for rubble migrate: what the next one calls otherwise, ended by an entry without
    /// names. NULL: a graph has to be rewritten by hand.
    const rbl_rename *renames;
    /// Looks at the parameters when a graph is loaded, before anything runs, or NULL. Parameters that
    /// connections give are not known yet (rbl_param_count is 0). Errors through rbl_call_fail; a file that the
    /// node writes is told with rbl_call_check_file_name, and may be told once in a graph.
    rbl_status (*check)(rbl_context *ctx, rbl_call *call);
    /// Of a node that does not need everything that is connected to it: says with rbl_call_skip_input and
    /// rbl_call_skip_param what it does without, as its parameter `choice` is; or NULL. What only that needs
    /// does not run, and `evaluate` sees it as not connected, or absent.
    void (*choose)(rbl_call *call);
    const char *choice; /* name of the parameter, not in an object; it may come from a connection */
} rbl_node_desc;

/// A parameter's value inside a call: typed, checked against the descriptor, defaults filled in.
typedef struct rbl_param rbl_param;

/// Parameter by name; inside objects by dots ("noise.amplitude"). NULL when an optional one was left out. A
/// name that the descriptor does not have is NULL, too.
RBL_API const rbl_param *rbl_call_param(const rbl_call *call, const char *name);
/// Number of elements of a list; 1 for a single value; 0 for NULL.
RBL_API size_t rbl_param_count(const rbl_param *param);
RBL_API const rbl_param *rbl_param_at(const rbl_param *list, size_t index);
RBL_API const rbl_param *rbl_param_field(const rbl_param *object, const char *name);
RBL_API bool rbl_param_bool(const rbl_param *param);
RBL_API int64_t rbl_param_int(const rbl_param *param);        /* INT, SEED; ENUM: index of the word */
RBL_API double rbl_param_float(const rbl_param *param);       /* FLOAT, INT */
RBL_API const char *rbl_param_string(const rbl_param *param); /* STRING, ENUM word, PATH (resolved) */
RBL_API void rbl_param_vec3(const rbl_param *param, double out[3]);
RBL_API void rbl_param_int3(const rbl_param *param, int64_t out[3]);
/// JSON pointer of the value in the graph, for messages ("/nodes/cut/params/planes/3/normal"); borrowed from
/// the call.
RBL_API const char *rbl_param_pointer(const rbl_param *param);

/// Number of values connected to an input; 0 when it is not connected.
RBL_API size_t rbl_call_input_count(const rbl_call *call, const char *port);
/// Borrowed input values; NULL when not connected (or past the count).
RBL_API const rbl_value *rbl_call_input(const rbl_call *call, const char *port, size_t index);
RBL_API const rbl_collection *rbl_call_input_collection(const rbl_call *call, const char *port);
/// Sets an output and takes the caller's reference. Every output must be set by a successful `evaluate`.
RBL_API void rbl_call_set_output(rbl_call *call, const char *port, rbl_value *value);
RBL_API void rbl_call_set_output_collection(rbl_call *call, const char *port, rbl_collection *collection);
/// For `deliver`: the output computed or remembered.
RBL_API const rbl_value *rbl_call_output(const rbl_call *call, const char *port);

/// The node's id in the graph.
RBL_API const char *rbl_call_node_id(const rbl_call *call);
/// Says that the node read a file beyond its PATH parameters (an .mtl, a glTF buffer): its content then
/// counts for the key.
RBL_API rbl_status rbl_call_read_file(rbl_context *ctx, rbl_call *call, const char *path);
/// For `choose`: the node does without an input, or without the values that are connected to a parameter.
RBL_API void rbl_call_skip_input(rbl_call *call, const char *port);
RBL_API void rbl_call_skip_param(rbl_call *call, const rbl_param *param);
/// For `deliver`: the folder that files may be written below, NULL when this run writes none.
RBL_API const char *rbl_call_output_folder(const rbl_call *call);
/// For `deliver`: tells a finished temporary file, to be published at the end of the run under `name` in the
/// output folder if no node failed. `writer` is an rbli_file_writer that was finished; it is taken.
RBL_API rbl_status rbl_call_add_file(rbl_context *ctx, rbl_call *call, const char *name, void *writer);
/// For a parameter that names an output file: RBL_ERR_ARGUMENT, told at the parameter, unless it is one plain
/// file name, without folders, so that a graph writes below the output folder only.
RBL_API rbl_status rbl_call_check_file_name(
    rbl_context *ctx, rbl_call *call, const rbl_param *param, const char *name);
/// For `deliver`: opens an rbli_file_writer for `name` in the output folder, which is made when it is
/// missing. Write, finish, and hand it to rbl_call_add_file. @return RBL_OK · RBL_ERR_ARGUMENT (no output
/// folder) · RBL_ERR_WRITE · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_call_open_file(rbl_context *ctx, rbl_call *call, const char *name, void **writer);
/// An error at a parameter: the message carries node, pointer and place. Returns `status`.
RBL_API rbl_status rbl_call_fail(rbl_context *ctx, rbl_call *call, const rbl_param *param, rbl_status status,
    const char *format, ...) RBL_PRINTF(5, 6);

/// Values. Created with one reference.
RBL_API rbl_value *rbl_value_retain(rbl_value *value);
RBL_API void rbl_value_release(rbl_value *value);
RBL_API rbl_value_kind rbl_value_get_kind(const rbl_value *value);
/// Retains the collection, which must not be changed any more.
RBL_API rbl_status rbl_value_create_collection(rbl_context *ctx, rbl_collection *collection, rbl_value **out);
/// [count][3] doubles, copied.
RBL_API rbl_status rbl_value_create_points(
    rbl_context *ctx, const double (*points)[3], size_t count, rbl_value **out);
RBL_API rbl_status rbl_value_create_box(
    rbl_context *ctx, const double min[3], const double max[3], rbl_value **out);
/// Bones of a collection, in any order.
RBL_API rbl_status rbl_value_create_selection(
    rbl_context *ctx, const rbl_collection *collection, const int32_t *bones, size_t count, rbl_value **out);
RBL_API rbl_status rbl_value_create_number(
    rbl_context *ctx, rbl_value_kind kind, double number, rbl_value **out);
/// A VEC3: three finite numbers; what parameters of the types vec3 and int3 take.
RBL_API rbl_status rbl_value_create_vec3(rbl_context *ctx, const double vector[3], rbl_value **out);
RBL_API rbl_status rbl_value_create_string(rbl_context *ctx, const char *text, rbl_value **out);
/// Borrowed contents; NULL or 0 for a value of another kind.
RBL_API const rbl_collection *rbl_value_collection(const rbl_value *value);
RBL_API const double (*rbl_value_points(const rbl_value *value, size_t *count))[3];
RBL_API bool rbl_value_box(const rbl_value *value, double min[3], double max[3]);
RBL_API const int32_t *rbl_value_selection(const rbl_value *value, size_t *count);
RBL_API double rbl_value_number(const rbl_value *value); /* BOOL, INT, FLOAT */
/// False, and `out` untouched, for another kind.
RBL_API bool rbl_value_vec3(const rbl_value *value, double out[3]);
RBL_API const char *rbl_value_string(const rbl_value *value);

#ifdef __cplusplus
}
#endif
#endif
