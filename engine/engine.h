#ifndef RUBBLE_ENGINE_ENGINE_H
#define RUBBLE_ENGINE_ENGINE_H

/// The parts behind the handles of include/rubble/rubble.h.

#include <stdatomic.h>
#include <string.h>
#include <uv.h>

#include "engine/cache.h"
#include "engine/disk_cache.h"
#include "engine/messages.h"
#include "engine/params.h"
#include "engine/registry.h"
#include "engine/value.h"
#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "rubble/rubble.h"

enum {
    RBLI_NODE_PASSES = 1 << 16, /* flag of a type: hands on its inputs, needs no cache */
    RBLI_NODE_VAGUE = 1 << 17,  /* of a graph within the graph that has an input of no known type */
};

/// A registered node type.
typedef struct rbli_node_type {
    const rbl_node_desc *desc;
    rbl_node_desc own_desc;          /* of a host that was built with a shorter one; else unused */
    _Atomic(rbli_params *) defaults; /* rbli_type_defaults; NULL: nobody asked yet */
    size_t input_count, output_count;
    bool is_registered; /* false: of a node "inputs", which a graph makes */
} rbli_node_type;

struct rbl_engine {
    rbli_allocator *allocator;
    rbl_context base; /* allocator alone: for work outside of runs */
    rbli_pool *pool;  /* NULL: one thread */
    rbli_cache *cache;
    rbli_disk_cache *disk_cache; /* NULL: none */
    rbli_node_type **types;      /* sorted by name, then version */
    size_t type_count, type_capacity;
};

/// Reads a struct that begins with its size and may be that of an older version of the library, which was
/// shorter: what it does not have stays as it is in `to`. `least`: its size in the first version. False for
/// another size.
static inline bool rbli_take_struct(void *to, size_t to_bytes, const void *from, size_t least)
{
    size_t bytes;
    memcpy(&bytes, from, sizeof bytes);
    if (bytes < least || bytes > to_bytes) return false;
    memcpy(to, from, bytes);
    memcpy(to, &to_bytes, sizeof to_bytes);
    return true;
}

/// Sizes in version 0 of the binary interface.
enum {
    RBLI_ENGINE_OPTIONS_LEAST = 56,
    RBLI_EVALUATE_OPTIONS_LEAST = 56,
    RBLI_MESH_DESC_LEAST = 360,
    RBLI_NODE_DESC_LEAST = 96,
};

/// A type by name, of a version or (0) the newest; NULL when there is none.
const rbli_node_type *rbli_find_type(const rbl_engine *engine, const char *type, int version);
/// All parameters of a type at their defaults, required ones absent; made when first asked for. Borrowed; NULL
/// without memory, and of a type that is not registered. Thread-safe.
const rbli_params *rbli_type_defaults(rbl_engine *engine, const rbli_node_type *of);
/// Checks the descriptors of all types, as registering does; engines do not check those of the library.
/// @return RBL_OK · RBL_ERR_ARGUMENT with messages · RBL_ERR_NO_MEMORY
rbl_status rbli_engine_check_nodes(rbl_engine *engine, rbl_messages *messages);
size_t rbli_count_ports(const rbl_port_desc *ports);
/// Index of a port, SIZE_MAX when there is none.
size_t rbli_find_port(const rbl_port_desc *ports, const char *name);

/// An output that something is connected to.
typedef struct rbli_port_ref {
    uint32_t node, port;
    uint32_t offset; /* of the text that names it */
} rbli_port_ref;

/// A graph file that was read: the main one, or one that holds graphs for it.
typedef struct rbli_document {
    struct rbli_document *next;
    char *folder; /* of the file, "" for the working folder */
    rbli_source *source;
    rbli_json *json; /* holds the strings; NULL when the text could not be read at all */
} rbli_document;

typedef struct rbli_graph_node {
    const char *id; /* "crack"; of a node in a graph within the graph: "wall/crack" */
    const rbli_node_type *type;
    rbli_params *params;
    const rbli_document *document; /* that it stands in */
    const char *pointer;           /* its JSON pointer there: "/nodes/crack" */
    rbl_graph *body;               /* of ForEach: the graph that it runs; else NULL */
    /// Connections of input i are refs[input_start[i]] … refs[input_start[i + 1] − 1]; behind those of the
    /// inputs come those of {"from": …} in parameters, in the order of their numbers.
    uint32_t *input_start;
    rbli_port_ref *refs;
    uint32_t ref_count;
    uint32_t id_offset;
    bool faulty; /* something about its parameters was reported while it was loaded */
} rbli_graph_node;

/// What a graph remembers of a node's last successful evaluation, to say why it runs again.
typedef struct rbli_history {
    bool known, failed;
    double took_ms; /* when it last ran; 0: never */
    rbli_hash key;
    rbli_params *params;
    rbli_hash *ref_hashes;    /* [ref_count] */
    rbli_hash *output_hashes; /* [output_count] */
    struct rbli_file_stamp *files;
    size_t file_count;
} rbli_history;

/// What comes out of a graph that ForEach runs.
typedef struct rbli_body_output {
    const char *name;
    rbli_port_ref ref;
    rbl_value_kind kind;
} rbli_body_output;

/// The name of an output of a graph within the graph.
typedef struct rbli_alias {
    const char *name; /* "wall.collection" */
    rbli_port_ref ref;
} rbli_alias;

/// Reference counted: runs hold on to it for the types of its nodes "inputs".
struct rbl_graph {
    rbl_engine *engine;
    atomic_size_t references;
    RBLI_ARRAY(rbli_alias) aliases; /* in no order */
    rbl_graph *root;                /* owner of documents and bodies: the graph itself unless it is a body */
    rbl_graph *bodies;              /* graphs that nodes ForEach run, owned by the root */
    rbl_graph *next_body;           /* in that list */
    const rbli_document *body_document;       /* of a body: where it stands */
    uint32_t body_object;                     /* its JSON value there */
    RBLI_ARRAY(struct rbli_file_stamp) reads; /* of a body: what its elements read in the last evaluation */
    rbli_body_output *outputs;
    size_t output_count;
    uint32_t inputs;          /* of a body: its node "inputs" (UINT32_MAX: it has none) */
    rbli_document *documents; /* the main one first */
    rbli_arena strings;       /* ids, pointers and the types of nodes "inputs" */
    rbli_source *source;      /* of the main document, borrowed */
    const char *folder;       /* likewise */
    rbli_graph_node *nodes;
    size_t node_count;
    rbli_name_table ids;
    uint32_t *order; /* nodes, every one behind those that it needs */
    rbli_variable *variables;
    size_t variable_count;
    rbli_history *history; /* [node_count] */
    uv_mutex_t mutex;      /* params, variables, history */
    uv_mutex_t evaluating; /* held by the evaluation under way */
};

rbl_graph *rbli_graph_retain(rbl_graph *graph); /* its root, released with rbl_graph_destroy */
/// A copy of the folder part of a path ("" when there is none).
char *rbli_path_folder(rbli_allocator *allocator, const char *path);
void rbli_graph_forget_reads(rbl_graph *body);
/// Hash of the texts of all files that a graph was loaded from.
rbli_hash rbli_graph_hash(const rbl_graph *graph);
/// A file and what it holds, for manifests.
typedef struct rbli_named_hash {
    char *path;
    rbli_hash hash;
} rbli_named_hash;
typedef RBLI_ARRAY(rbli_named_hash) rbli_named_hashes;
/// What the nodes of a run, and of the graphs that its nodes ForEach ran, have read, by path, each once. Freed
/// with rbli_named_hashes_free, also on failure.
rbl_status rbli_graph_list_reads(const rbl_graph *graph, const rbl_run *run, rbli_named_hashes *out);
void rbli_named_hashes_free(const rbl_graph *graph, rbli_named_hashes *list);
void rbli_history_clear(rbli_allocator *allocator, rbli_history *history);

#endif
