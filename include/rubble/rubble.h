#ifndef RUBBLE_H
#define RUBBLE_H

/// rubble: fractures meshes as a graph file says, keeps every intermediate collection, and after a change
/// runs only what the change reaches.
///
///     rbl_engine *engine; rbl_graph *graph; rbl_run *run; rbl_messages *messages = NULL;
///     rbl_engine_create(NULL, &engine);
///     if (rbl_graph_load_file(engine, "wall.json", &messages, &graph) == RBL_OK) {
///         rbl_graph_set_variable_text(graph, "pieces", "80", &messages);
///         rbl_evaluate(graph, NULL, &run);
///         const rbl_value *wall = rbl_run_value(run, "wall");
///         …
///     }
///
/// Rules for the whole interface
/// - A function that can fail returns rbl_status. Outputs are set on success only, unless their comment says
///   otherwise.
/// - Who creates destroys: `rbl_x_create` (or load, evaluate) with `rbl_x_destroy`; destroying NULL is fine.
///   What a getter returns is borrowed and lives as long as the handle it was got from.
/// - Options structs begin with their size and are filled by their init function; NULL stands for the
///   defaults.
/// - `messages` parameters take the address of a list that is created when it is NULL and appended to
///   otherwise; the caller destroys it, also after a failure. The address itself may be NULL: messages are
///   then dropped.
/// - Strings are UTF-8. Sizes are bytes, times milliseconds, lengths the mesh's own unit.
/// - A const handle may be used from several threads at once. Setters and destroyers need the handle for
///   themselves, except that a graph may be changed while it is evaluated: the evaluation goes on with what
///   it began with.

#include "rubble/mesh.h"
#include "rubble/node.h"
#include "rubble/status.h"
#include "rubble/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RBL_VERSION_MAJOR 0
#define RBL_VERSION_MINOR 1
#define RBL_VERSION_PATCH 0
/// The `"rubble"` number of graph files that this library reads.
#define RBL_GRAPH_VERSION 1

/// The version of the linked library, "0.1.0".
RBL_API const char *rbl_version_text(void);

/// The candidate nearest to a misspelt name, NULL when none is near.
RBL_API const char *rbl_nearest_name(const char *name, const char *const *candidates, size_t count);

typedef struct rbl_engine rbl_engine;
typedef struct rbl_graph rbl_graph;
typedef struct rbl_run rbl_run;
typedef struct rbl_control rbl_control;
typedef struct rbl_messages rbl_messages;

/* ---- Messages ---- */

typedef enum rbl_severity {
    RBL_ERROR = 1,   /* something failed */
    RBL_WARNING = 2, /* something was done to the input beyond exact welding, or was asked for but not done */
    RBL_NOTE = 3,    /* anything else that a person may want to know */
} rbl_severity;

/// One message. Strings are "" where there is nothing to say, never NULL.
typedef struct rbl_message {
    rbl_severity severity;
    rbl_status status;       /* of an error, else RBL_OK */
    const char *file;        /* graph file */
    size_t line, column;     /* from 1, columns in characters; 0: no place */
    const char *node;        /* node id */
    const char *pointer;     /* JSON pointer, "/nodes/tidy/params/relative_volume" */
    const char *text;        /* one sentence without a full stop */
    const char *hint;        /* did you mean "…"?, the allowed list; lines are separated by '\n' */
    const char *source_line; /* the offending line; of a very long one the part around the place */
    size_t caret;            /* byte offset in source_line */
} rbl_message;

RBL_API void rbl_messages_destroy(rbl_messages *messages);
/// 0 for NULL.
RBL_API size_t rbl_messages_count(const rbl_messages *messages);
/// Number of messages of one severity; 0 for NULL.
RBL_API size_t rbl_messages_count_of(const rbl_messages *messages, rbl_severity severity);
RBL_API const rbl_message *rbl_messages_get(const rbl_messages *messages, size_t index);
/// A message as a person reads it, several lines, with caret and hint, ended by a line feed:
/// `file:line:column: error: what is wrong (node "id", /json/pointer)`. *text is freed with
/// rbl_messages_free_text.
RBL_API rbl_status rbl_messages_format(const rbl_messages *messages, size_t index, char **text);
/// All messages as a JSON list; freed with rbl_messages_free_text. @return RBL_ERR_ARGUMENT for NULL
RBL_API rbl_status rbl_messages_json(const rbl_messages *messages, char **text);
RBL_API void rbl_messages_free_text(const rbl_messages *messages, char *text);

/* ---- Memory of the process ---- */

/// For programs that do little else than evaluate: has the C library keep freed memory, puts its heap on huge pages, as
/// engines do with their large blocks anyhow, and lets the threads of eight cores share one. Cold evaluations spend less on
/// page faults, which cost most on virtual machines. Changes the allocator of the whole process (mallopt), holds 512 MiB
/// of address space, and memory that has been used is not given back before the process ends; so it is never done unasked.
/// Does nothing under a limit of the address space (RLIMIT_AS, RLIMIT_DATA) and where the C library is not glibc. No result
/// depends on it. Call it once, before the first engine and before other threads.
RBL_API void rbl_tune_process_memory(void);

/* ---- Engine ---- */

/// A host's threads in place of the engine's own.
typedef struct rbl_executor {
    size_t size;      /* sizeof(rbl_executor) */
    int thread_count; /* most tasks that run at once, 1 … 256 */
    /// Calls `task(task_user, i)` once for each i below `count`, on any threads, at once or one after the
    /// other, and returns when all calls have returned. A task works until its evaluation is done; it may
    /// wait for a task that has begun, never for one that has not. Called on the evaluating thread; a node
    /// that evaluates a graph itself calls it from inside a task.
    void (*run)(void *user, size_t count, void (*task)(void *task_user, size_t index), void *task_user);
    void *user;
} rbl_executor;

typedef struct rbl_engine_options {
    size_t size;         /* sizeof(rbl_engine_options) */
    int thread_count;    /* threads that compute, the caller's included; 0: one per core (default). No result
                            depends on it */
    size_t memory_bytes; /* most bytes that the cache keeps; default 2 GiB; 0: nothing is kept */
    /// The host's memory: pointer NULL allocates, new_bytes 0 frees, 16-byte aligned, NULL when out of
    /// memory; called from any thread. NULL (default): the C library's.
    void *(*reallocate)(void *user, void *pointer, size_t old_bytes, size_t new_bytes);
    void *user; /* handed to `reallocate` */
    /// Folder that keeps results between processes; made when something is written. Several processes may
    /// share it, and nothing depends on it but time: what is damaged or cannot be used is a note of the run.
    /// NULL (default) or "": none. Or a Redis server, when the library was built with hiredis:
    /// "redis://[[user]:password@]host[:port][/database][?options]" or "unix://path[?options]"; a wrong address is
    /// RBL_ERR_ARGUMENT. Nothing is sent before the first evaluation. docs/cache.md tells the options.
    const char *cache_folder;
    size_t cache_bytes; /* most bytes that the folder keeps, about; default 10 GiB; 0: no bound */
    /// Most bytes that the engine and everything made with it hold, the cache included, arrays that several
    /// values share counted once. When it is reached, the cache gives up entries; when that does not help,
    /// the node that asked fails with RBL_ERR_NO_MEMORY and says so. Not counted: what other libraries take
    /// for themselves. 0 (default): no limit.
    size_t limit_bytes;
    const rbl_executor *executor; /* copied; thread_count is then its; NULL (default): own threads */
} rbl_engine_options;

RBL_API void rbl_engine_options_init(rbl_engine_options *options);
/// An engine: node types, threads and the cache, shared by its graphs. `options` NULL: defaults.
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_ARGUMENT (size)
RBL_API rbl_status rbl_engine_create(const rbl_engine_options *options, rbl_engine **out);
/// Graphs, runs and messages of the engine must be destroyed before.
RBL_API void rbl_engine_destroy(rbl_engine *engine);
/// Adds a host's node type, named "vendor.Name". The descriptor and all it points to must outlive the engine.
/// Not while graphs are loaded or evaluated.
/// @return RBL_OK · RBL_ERR_ARGUMENT (a malformed descriptor, or the type and version exist; `messages` says
/// what)
RBL_API rbl_status rbl_engine_register_node(
    rbl_engine *engine, const rbl_node_desc *desc, rbl_messages **messages);
/// All node types, sorted by name, then version.
RBL_API size_t rbl_engine_node_count(const rbl_engine *engine);
RBL_API const rbl_node_desc *rbl_engine_node(const rbl_engine *engine, size_t index);
/// A node type by name; version 0: the newest. NULL when there is none.
RBL_API const rbl_node_desc *rbl_engine_find_node(const rbl_engine *engine, const char *type, int version);
/// The name nearest to a misspelt node type, NULL when none is near.
RBL_API const char *rbl_engine_nearest_node(const rbl_engine *engine, const char *type);
/// JSON Schema (draft 2020-12) of graph files, from the registered types: editors complete and check with it.
/// *text is freed with rbl_engine_free_text.
RBL_API rbl_status rbl_engine_schema(const rbl_engine *engine, char **text);
/// Node types with ports, parameters, defaults, ranges and documentation as JSON: one by name, or (NULL) a
/// list of all.
/// @return RBL_OK · RBL_ERR_NOT_FOUND · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_engine_nodes_json(const rbl_engine *engine, const char *type, char **text);
/// The canonical form of a graph file's text: two spaces a level, what fits into 120 columns on one line.
/// Values, their order and comments stay as they are; a comma before a closing bracket goes. `name` tells
/// .jsonc from .json. *out is freed with rbl_engine_free_text.
/// @return RBL_OK · RBL_ERR_GRAPH (not JSON; `messages` says where) · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_engine_format(const rbl_engine *engine, const char *name, const char *text,
    size_t bytes, rbl_messages **messages, char **out);
/// A graph file's text in which nodes of old versions ("Type@1") have become the newest: pin, inputs,
/// parameters and what refers to their outputs; all else stays byte for byte. `messages` notes each node, and
/// warns of those that have to be rewritten by hand. As rbl_engine_format otherwise.
RBL_API rbl_status rbl_engine_migrate(const rbl_engine *engine, const char *name, const char *text,
    size_t bytes, rbl_messages **messages, char **out);
RBL_API void rbl_engine_free_text(const rbl_engine *engine, char *text);
/// Bytes that the cache holds (arrays shared by several values counted once), and its entries.
RBL_API size_t rbl_engine_cache_bytes(const rbl_engine *engine);
RBL_API size_t rbl_engine_cache_entries(const rbl_engine *engine);
RBL_API void rbl_engine_clear_cache(rbl_engine *engine);
/// Hash of a file's content as file reports and manifests have it: XXH3-128, 32 hexadecimal digits and a zero
/// byte. For programs that ask whether files are still what was written. From any thread.
/// @return RBL_OK · RBL_ERR_READ (`text` is "") · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_engine_hash_file(rbl_engine *engine, const char *path, char text[33]);

/* ---- The folder of a disk cache ---- */

/// What is in a cache folder after a call, and what the call did. Other files than a cache's are neither
/// counted nor touched.
typedef struct rbl_cache_report {
    size_t entries;         /* results and contents of files kept */
    size_t set_aside;       /* damaged files under another name */
    size_t temporary;       /* being written, or left by a process that was ended */
    uint64_t bytes;         /* of all of them */
    size_t damaged;         /* verify: found now */
    size_t removed;         /* gc, clear */
    uint64_t removed_bytes; /* of the removed files */
} rbl_cache_report;

/// Counts. All four: safe while other processes use the folder; the report is set also on failure.
/// @return RBL_OK · RBL_ERR_READ (no folder; `messages` says why) · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_cache_stat(
    rbl_engine *engine, const char *folder, rbl_cache_report *report, rbl_messages **messages);
/// Reads all and compares every checksum and hash. A damaged file is set aside, with a note.
RBL_API rbl_status rbl_cache_verify(
    rbl_engine *engine, const char *folder, rbl_cache_report *report, rbl_messages **messages);
/// Removes temporary files older than an hour, then what was used longest ago until at most `bytes` are left.
RBL_API rbl_status rbl_cache_gc(
    rbl_engine *engine, const char *folder, size_t bytes, rbl_cache_report *report, rbl_messages **messages);
/// Removes every file of the cache. @return also RBL_ERR_WRITE (something could not be removed)
RBL_API rbl_status rbl_cache_clear(
    rbl_engine *engine, const char *folder, rbl_cache_report *report, rbl_messages **messages);

/* ---- Graphs ---- */

/// Loads a graph file (.json; .jsonc may hold comments and trailing commas). Relative paths in it are
/// relative to its folder. All errors of the file are reported at once.
/// @return RBL_OK (there may be warnings) · RBL_ERR_GRAPH (invalid, or not JSON) · RBL_ERR_READ ·
/// RBL_ERR_NO_MEMORY ·
///         RBL_ERR_LIMIT (64 MiB of text)
RBL_API rbl_status rbl_graph_load_file(
    rbl_engine *engine, const char *path, rbl_messages **messages, rbl_graph **out);
/// The same from memory; `name` stands for the file in messages and its folder is what paths are relative to.
RBL_API rbl_status rbl_graph_load_text(rbl_engine *engine, const char *name, const char *text, size_t bytes,
    rbl_messages **messages, rbl_graph **out);
RBL_API void rbl_graph_destroy(rbl_graph *graph);

RBL_API const char *rbl_graph_file(const rbl_graph *graph);
/// Calls `fn` for every file that the graph's results depend on, as far as known now: the graph file, the
/// files that parameters name, and those that nodes read besides when they were last evaluated (an .mtl, a
/// glTF buffer). A file may come several times, and need not exist. `is_graph`: it must be loaded anew when
/// it changes. For programs that watch files.
/// @return RBL_OK · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_graph_each_file(
    const rbl_graph *graph, void (*fn)(void *user, const char *path, bool is_graph), void *user);
/// Calls `fn` for every pattern of file names ("meshes/*.obj") that ForEach goes over. For programs that watch
/// files: what matches may change. @return RBL_OK · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_graph_each_pattern(
    const rbl_graph *graph, void (*fn)(void *user, const char *pattern), void *user);
/// Calls `fn` for a graph file and for the files that it takes graphs from ("file.json#name"), whether or not
/// they are valid or there at all. For programs that watch a graph that cannot be loaded.
/// @return RBL_OK · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_engine_each_graph_file(
    rbl_engine *engine, const char *file, void (*fn)(void *user, const char *path), void *user);
/// Warns of every file that parameters name and that is not there.
/// @return RBL_OK · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_graph_look_for_files(const rbl_graph *graph, rbl_messages **messages);
/// Nodes in the order of the file.
RBL_API size_t rbl_graph_node_count(const rbl_graph *graph);
RBL_API const char *rbl_graph_node_id(const rbl_graph *graph, size_t node);
RBL_API const rbl_node_desc *rbl_graph_node_desc(const rbl_graph *graph, size_t node);
/// What goes into a node: connections of its inputs in their order, then values of other nodes in its
/// parameters.
typedef struct rbl_connection {
    size_t from;           /* index of the node that it comes from */
    const char *from_port; /* its output */
    const char *to_port;   /* the input; NULL: a parameter */
} rbl_connection;
RBL_API size_t rbl_graph_connection_count(const rbl_graph *graph, size_t node);
/// @return RBL_OK · RBL_ERR_NOT_FOUND (no such node or connection). Strings live as long as the graph.
RBL_API rbl_status rbl_graph_connection(
    const rbl_graph *graph, size_t node, size_t index, rbl_connection *connection);
/// Index of a node; SIZE_MAX when there is none of this id.
RBL_API size_t rbl_graph_find_node(const rbl_graph *graph, const char *id);
/// Variables in the order of the file.
RBL_API size_t rbl_graph_variable_count(const rbl_graph *graph);
RBL_API const char *rbl_graph_variable_name(const rbl_graph *graph, size_t variable);
/// Type word ("int", "path", …) and value as JSON text ("" when it has none yet).
RBL_API const char *rbl_graph_variable_type(const rbl_graph *graph, size_t variable);
RBL_API const char *rbl_graph_variable_json(const rbl_graph *graph, size_t variable);

/// Takes over what `before`, an earlier version of the same file, remembers of its last run: reports of the
/// next run then say what changed between the versions. `before` forgets it. Values that a host set are not
/// taken over.
RBL_API void rbl_graph_inherit(rbl_graph *graph, rbl_graph *before);

/// Sets a variable from JSON text ("80", "\"wall.glb\"", "[0, 0, 1]"). Paths are relative to the working
/// folder. On failure nothing changes. @return RBL_OK · RBL_ERR_NOT_FOUND · RBL_ERR_GRAPH (type, range;
/// `messages` says what)
RBL_API rbl_status rbl_graph_set_variable(
    rbl_graph *graph, const char *name, const char *json, rbl_messages **messages);
/// Sets a variable as a command line gives it: strings, paths and enum words without quotes, a vec3 as
/// "[0,0,1]" or "0,0,1".
RBL_API rbl_status rbl_graph_set_variable_text(
    rbl_graph *graph, const char *name, const char *text, rbl_messages **messages);
/// Sets a parameter, or a part of one, from JSON text. `pointer` is "/nodes/ID/params/NAME…" as in the file,
/// also for a parameter that the file leaves at its default. On failure nothing changes.
/// @return RBL_OK · RBL_ERR_NOT_FOUND · RBL_ERR_GRAPH (`messages` says what)
RBL_API rbl_status rbl_graph_set_parameter(
    rbl_graph *graph, const char *pointer, const char *json, rbl_messages **messages);

/* ---- Evaluation ---- */

typedef enum rbl_outcome {
    RBL_OUTCOME_RAN = 1,
    RBL_OUTCOME_MEMORY_HIT = 2, /* answered by the cache */
    RBL_OUTCOME_DISK_HIT = 3,   /* answered by the cache folder */
    RBL_OUTCOME_SAME_OUTPUT =
        4, /* ran; its outputs equal those of the graph's previous run: nothing below needs to run */
    RBL_OUTCOME_SKIPPED = 5, /* not asked for, or something above it failed */
    RBL_OUTCOME_FAILED = 6,
    RBL_OUTCOME_WOULD_RUN = 7,  /* rbl_graph_explain: it must run */
    RBL_OUTCOME_MAY_RUN = 8,    /* rbl_graph_explain: it runs unless what is above it gives the same again */
    RBL_OUTCOME_NOT_NEEDED = 9, /* a node that chooses, like Branch, does without it */
} rbl_outcome;

/// "collection", "points", …; "unknown" for no kind.
RBL_API const char *rbl_value_kind_text(rbl_value_kind kind);
/// "int", "vec3", … as graph files and the schema name types of parameters; "unknown" for no type.
RBL_API const char *rbl_param_type_text(rbl_param_type type);

/// "ran", "memory hit", "disk hit", "same output", "skipped", "failed", "would run", "may run".
RBL_API const char *rbl_outcome_text(rbl_outcome outcome);

typedef enum rbl_event_kind {
    RBL_EVENT_NODE_BEGINS = 1,
    RBL_EVENT_NODE_ENDS = 2,
} rbl_event_kind;

typedef struct rbl_event {
    rbl_event_kind kind;
    const char *node;    /* id */
    const char *type;    /* type of the node */
    size_t number;       /* of this node in the order of evaluation, from 0 */
    size_t total;        /* nodes of this run */
    rbl_outcome outcome; /* NODE_ENDS */
    double progress; /* fraction of the run, 0 … 1: nodes that have ended, weighted by their guessed cost */
} rbl_event;

typedef struct rbl_evaluate_options {
    size_t size;               /* sizeof(rbl_evaluate_options) */
    const char *output_folder; /* files go below it; made when something is written; NULL (default): nothing
                                  is written */
    const char *only_node;     /* evaluate this node and what it needs; NULL (default): every node */
    bool no_cache;             /* neither ask nor fill the caches, in memory and on disk */
    bool checked;              /* compute every hit again and compare */
    bool no_manifest;          /* write no NODE.manifest.json beside a node's files */
    rbl_control *control;      /* to cancel from another thread or a signal handler; may be NULL */
    /// Called on the thread that the node runs on (with an engine of one thread: on the evaluating thread),
    /// one call at a time. A node begins after the nodes that it needs have ended; apart from that the order
    /// differs from run to run. May change the graph (the next run sees it), not evaluate it. May be NULL.
    void (*event)(void *user, const rbl_event *event);
    void *user;
    bool trace;      /* record what ran when and on which thread, for rbl_run_trace_json */
    bool files_only; /* the run is asked for its files, reports and messages alone: what comes from the cache
                        folder is read when something needs it, and what no cache keeps is freed when all that
                        need it have run. Collections of the run that something else is connected to, or that
                        files were written from, may then be missing (NULL). */
} rbl_evaluate_options;

RBL_API void rbl_evaluate_options_init(rbl_evaluate_options *options);

/// A handle to cancel evaluations and watch their progress.
RBL_API rbl_status rbl_control_create(rbl_engine *engine, rbl_control **out);
RBL_API void rbl_control_destroy(rbl_control *control);
/// Asks for the end of every evaluation that uses the handle. From any thread and from signal handlers.
RBL_API void rbl_control_cancel(rbl_control *control);
/// Makes a cancelled handle usable again.
RBL_API void rbl_control_reset(rbl_control *control);
/// Fraction done of the current run, 0 … 1: of its nodes, weighted by what they took last time or else by
/// their family. 1 after a run. From any thread, not from signal handlers.
RBL_API double rbl_control_progress(const rbl_control *control);
/// Fraction done of one node of the current run, by its number in events.
RBL_API double rbl_control_node_progress(const rbl_control *control, size_t number);

/// Evaluates a graph. A node that fails fails what follows it only; files are published when no node failed.
/// @param out set whenever the run began, also when nodes failed or it was cancelled: the run tells what
/// happened
/// @return RBL_OK · the status of the first failed node · RBL_ERR_CANCELLED · RBL_ERR_NOT_FOUND (only_node,
/// *out not set) ·
///         RBL_ERR_WRITE (publishing) · RBL_ERR_NO_MEMORY (*out may be unset: NULL)
RBL_API rbl_status rbl_evaluate(rbl_graph *graph, const rbl_evaluate_options *options, rbl_run **out);
/// What rbl_evaluate would do now, and why, without doing it: reads the files that nodes name and asks the
/// caches, runs no node, writes nothing, sends no events. The run's reports have the outcomes MEMORY_HIT,
/// DISK_HIT, WOULD_RUN, MAY_RUN, SKIPPED and FAILED (an input file is missing), and reasons for all but hits.
/// @return as rbl_evaluate
RBL_API rbl_status rbl_graph_explain(rbl_graph *graph, const rbl_evaluate_options *options, rbl_run **out);
/// May outlive its graph, not its engine.
RBL_API void rbl_run_destroy(rbl_run *run);

typedef struct rbl_node_report {
    const char *node; /* id */
    const char *type;
    rbl_outcome outcome;
    const char
        *reason; /* why it ran, was skipped or failed: "parameter relative_volume changed"; "" for a hit */
    rbl_status status;
    double wall_ms, cpu_ms; /* CPU time of all threads that worked on it */
    size_t bytes;           /* of its outputs */
} rbl_node_report;

/// The status that rbl_evaluate returned.
RBL_API rbl_status rbl_run_status(const rbl_run *run);
/// Reports in the order of evaluation; nodes that were not asked for come last.
RBL_API size_t rbl_run_node_count(const rbl_run *run);
RBL_API const rbl_node_report *rbl_run_node(const rbl_run *run, size_t index);
/// Everything that nodes had to say; warnings of nodes that the cache answered are repeated.
RBL_API const rbl_messages *rbl_run_messages(const rbl_run *run);
RBL_API double rbl_run_wall_ms(const rbl_run *run);

typedef struct rbl_file_report {
    const char *node; /* id of the node that wrote it */
    const char *path; /* output folder and name */
    size_t bytes;
    const char *hash; /* XXH3-128 of the content, 32 hexadecimal digits */
    bool unchanged;   /* it was there with this content already and was left alone */
} rbl_file_report;

/// Files that are there now, in the order of writing.
RBL_API size_t rbl_run_file_count(const rbl_run *run);
RBL_API const rbl_file_report *rbl_run_file(const rbl_run *run, size_t index);
/// Value of "node.port", or of "node": its first output. NULL when there is none, or the node did not
/// succeed.
RBL_API const rbl_value *rbl_run_value(const rbl_run *run, const char *name);
/// The whole run as JSON; freed with rbl_run_free_text.
RBL_API rbl_status rbl_run_json(const rbl_run *run, char **text);
/// What ran when and on which thread, as a Chrome trace (chrome://tracing, ui.perfetto.dev): a complete event
/// per node, per delivery, per phase of a node (`args.cpu_us`: CPU time of all threads that worked on it) and
/// per thread of a parallel loop. Freed with rbl_run_free_text.
/// @return RBL_OK · RBL_ERR_NOT_FOUND (the run was not asked to record) · RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_run_trace_json(const rbl_run *run, char **text);
RBL_API void rbl_run_free_text(const rbl_run *run, char *text);

/* ---- Collections from outside ---- */

/// An attribute without a copy. Element i of a list attribute is data[offsets[i]] … data[offsets[i + 1] − 1].
typedef struct rbl_attribute_view {
    rbl_type type;
    bool is_list;
    size_t count;            /* elements of the group */
    const void *data;        /* count values, or offsets[count] values of a list */
    size_t stride;           /* bytes from one value to the next */
    const uint64_t *offsets; /* [count + 1] of a list, else NULL */
} rbl_attribute_view;

/// Groups and attributes, sorted by name; fracture/collection/schema.h lists those that rubble gives a
/// meaning.
RBL_API size_t rbl_collection_group_count(const rbl_collection *collection);
RBL_API const char *rbl_collection_group_name(const rbl_collection *collection, size_t group);
/// Elements of a group, 0 when it does not exist.
RBL_API size_t rbl_collection_group_size(const rbl_collection *collection, const char *group);
RBL_API size_t rbl_collection_attribute_count(const rbl_collection *collection, const char *group);
RBL_API const char *rbl_collection_attribute_name(
    const rbl_collection *collection, const char *group, size_t index);
/// @return RBL_OK · RBL_ERR_NOT_FOUND. The view lives as long as the collection.
RBL_API rbl_status rbl_collection_attribute(
    const rbl_collection *collection, const char *group, const char *name, rbl_attribute_view *view);
/// String of a string attribute, "" when missing.
RBL_API const char *rbl_collection_string(
    const rbl_collection *collection, const char *group, const char *name, size_t index);
/// 128-bit content hash as 32 hexadecimal digits and a zero byte.
RBL_API void rbl_collection_hash_text(const rbl_collection *collection, char text[33]);
/// Bytes of all arrays.
RBL_API size_t rbl_collection_memory(const rbl_collection *collection);

#ifdef __cplusplus
}
#endif
#endif
