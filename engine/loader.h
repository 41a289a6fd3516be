#ifndef RUBBLE_ENGINE_LOADER_H
#define RUBBLE_ENGINE_LOADER_H

/// Loading a graph, for graph_load.c, graph_variables.c and graph_subgraph.c.
///
/// A graph within the graph is flattened while it is loaded: the node "wall" of type "graph:bricks" becomes
/// the nodes "wall/inputs" (what comes in), "wall/crack" … of one flat list, so that keys, cache and cut-off
/// know nothing of graphs within graphs. A graph that ForEach runs is loaded on its own, with a node "inputs"
/// that gets its values when the graph is run.

#include "engine/engine.h"
#include "fracture/base/alloc.h"

enum {
    RBLI_MOST_NODES = 100000,
    RBLI_LONGEST_ID = 64,
    RBLI_MOST_CYCLES = 10,   /* reported */
    RBLI_DEEPEST_GRAPH = 64, /* graphs within graphs */
};

typedef struct rbli_frame rbli_frame;

/// A node of a frame: one of the flat list, or a graph.
typedef struct rbli_frame_node {
    const char *id;
    uint32_t value;     /* its JSON */
    uint32_t node;      /* in the flat list; of a graph its "inputs"; UINT32_MAX: none */
    rbli_frame *inside; /* of a graph */
} rbli_frame_node;

/// One use of a graph: the file's own nodes, or a graph within it.
struct rbli_frame {
    rbli_frame *parent;
    rbli_frame *next; /* in the loader's list of all */
    rbli_document *document;
    rbl_graph *graph;
    uint32_t inputs;    /* flat node "inputs", UINT32_MAX of the file's own nodes */
    uint32_t object;    /* JSON object that has "nodes" */
    const char *name;   /* "bricks", NULL of the file's own nodes */
    const char *prefix; /* of ids: "" or "wall/" */
    size_t depth;
    rbli_name_table ids;
    rbli_frame_node *nodes;
    size_t node_count;
};

typedef struct rbli_loader {
    rbl_engine *engine;
    rbli_allocator *allocator;
    rbl_graph *root;  /* owns documents, bodies and all strings */
    rbl_graph *graph; /* whose nodes are being read: the root or a body */
    rbli_document *document;
    rbli_json *json; /* of the document */
    rbli_frame *frame;
    rbli_frame *frames; /* all, for their release */
    rbl_messages *messages;
    size_t current;                 /* flat node whose parameters are being read */
    size_t node_capacity;           /* of graph->nodes */
    RBLI_ARRAY(rbli_port_ref) refs; /* of that node */
    bool failed, out_of_memory, too_many;
    bool partial;      /* the text ended early: what is missing may stand in the rest */
    bool listed_types; /* all node types were listed in a hint */
} rbli_loader;

static inline const rbli_json_value *rbli_loader_at(const rbli_loader *l, uint32_t value)
{
    return &l->json->values[value];
}

/// Memory that lives as long as the root graph; NULL without memory (noted).
void *rbli_loader_alloc(rbli_loader *l, size_t bytes);
/// "prefix" + "text", likewise.
const char *rbli_loader_join(rbli_loader *l, const char *prefix, const char *text);
/// Reports something about the JSON value `value`, at byte `offset` of the document.
void rbli_loader_tell(rbli_loader *l, rbl_severity severity, uint32_t value, uint32_t offset,
    const char *node, const char *hint, const char *format, ...) RBL_PRINTF(7, 8);
/// Reports a value of the wrong JSON type unless the parser did.
void rbli_loader_tell_type(
    rbli_loader *l, uint32_t value, const char *node, const char *what, const char *wanted);
/// Reports every member of an object that is not in `allowed` (ended by NULL).
void rbli_loader_check_keys(rbli_loader *l, uint32_t object, const char *node, const char *const *allowed);
/// Reports the member `m` that is not in `allowed`. `desc`: of the node that it stands in, or NULL.
void rbli_loader_tell_key(
    rbli_loader *l, uint32_t m, const char *node, const char *const *allowed, const rbl_node_desc *desc);
/// A member by name, or else one that is not in `allowed` (reported elsewhere) and seems to mean it: what is
/// in it is looked at all the same. RBLI_JSON_NONE when there is none.
uint32_t rbli_loader_member(const rbli_loader *l, const rbli_json *json, uint32_t object, const char *name,
    const char *const *allowed);
extern const char *const rbli_document_keys[], *const rbli_node_keys[], *const rbli_subgraph_keys[],
                                                                            *const rbli_declaration_keys[];
bool rbli_is_identifier(const char *name);
bool rbli_is_one_of(const char *word, const char *const *words); /* ended by NULL */
/// An identifier like `name`, for a hint; false when there is none.
bool rbli_fit_identifier(const char *name, char out[RBLI_LONGEST_ID + 1]);
/// Goes on in another document.
void rbli_loader_enter(rbli_loader *l, rbli_document *document);

/// Reads "vars" of the document.
void rbli_load_variables(rbli_loader *l);
/// Reads type, bounds, words and default of what `object` declares; its value is the caller's to release.
void rbli_load_declaration(rbli_loader *l, uint32_t object, rbli_variable *variable);
/// What a type of a variable or an input is called here that is called `word` elsewhere; NULL: nothing.
const char *rbli_other_type_word(const char *word);
/// A graph without anything in it; `root`: its owner, or NULL for one of its own.
rbl_status rbli_graph_create(rbl_engine *engine, rbl_graph *root, rbl_graph **out);

/// Adds a node to the flat list; NULL when there are too many or no memory.
rbli_graph_node *rbli_loader_add_node(rbli_loader *l, const char *id, uint32_t object);
/// `inputs`: its node "inputs", UINT32_MAX of a file's own nodes. Makes a frame of a graph and reads its
/// nodes, and graphs within, into the flat list; NULL without memory.
rbli_frame *rbli_load_frame(rbli_loader *l, rbli_frame *parent, rbli_document *document, uint32_t object,
    const char *name, const char *prefix, uint32_t inputs);
/// Connects everything in a frame.
void rbli_connect_frame(rbli_loader *l, rbli_frame *frame);
/// Connects one flat node as the JSON `object` says.
void rbli_connect_node(rbli_loader *l, uint32_t node, uint32_t object);
/// Finds "node" or "node.port" in a frame. False when it was reported (`place` NULL: silently); *kind is 0
/// when the node's type is not known.
bool rbli_find_output(rbli_loader *l, rbli_frame *frame, const rbli_place *place, const char *text,
    rbli_port_ref *ref, rbl_value_kind *kind);
/// Sorts the nodes of the graph; reports cycles.
void rbli_sort_nodes(rbli_loader *l);
/// Another file, parsed once; NULL when it was reported at the JSON value `value`.
rbli_document *rbli_load_document(rbli_loader *l, uint32_t value, const char *node, const char *path);

/* graph_subgraph.c */

/// The node `frame->nodes[index]`, whose type is the text "graph:…".
void rbli_load_graph_node(rbli_loader *l, rbli_frame *frame, size_t index, uint32_t type);
/// Finds an output of a graph; as rbli_find_output. `name` NULL: the first.
bool rbli_find_graph_output(rbli_loader *l, rbli_frame *frame, const rbli_place *place, const char *id,
    const char *name, rbli_port_ref *ref, rbl_value_kind *kind);
/// How a graph within this file that is called `name` is used as a type ("graph:bricks"), for a hint; false
/// when there is none.
bool rbli_nearest_graph(const rbli_loader *l, const char *name, char *hint, size_t bytes);
/// Checks "outputs" of a frame.
void rbli_check_outputs(rbli_loader *l, rbli_frame *frame);
/// Loads the graph that the ForEach `node` runs.
void rbli_load_body(rbli_loader *l, uint32_t node, uint32_t object);
/// Checks "graphs" of the main document: those that nothing uses are read, too. `frame`: of the file's
/// own nodes.
void rbli_check_graphs(rbli_loader *l, rbli_frame *frame);

/* graph_check.c */

/// Calls `check` of every node of the root graph, and reports files that two nodes would write.
void rbli_check_nodes(rbli_loader *l);

#endif
