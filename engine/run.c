/// Runs: what an evaluation leaves, and its report.

#include "engine/run.h"

#include <string.h>

static char *copy_text(rbli_allocator *allocator, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = rbli_allocator_alloc(allocator, bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static rbl_status variables_json(rbl_graph *graph, char **out)
{
    rbli_text text;
    rbli_text_init(&text, graph->engine->allocator);
    rbli_text_puts(&text, "{");
    for (size_t i = 0; i < graph->variable_count; i++) {
        rbli_text_puts(&text, i ? ", " : "");
        rbli_text_json_string(&text, graph->variables[i].name);
        rbli_text_puts(&text, ": ");
        rbli_text_puts(&text, *graph->variables[i].json ? graph->variables[i].json : "null");
    }
    rbli_text_puts(&text, "}");
    return rbli_text_take(&text, out);
}

static rbl_status add_node(rbl_run *run, const rbli_graph_node *node)
{
    rbli_run_node *entry = &run->nodes[run->node_count];
    entry->id = copy_text(run->allocator, node->id);
    if (!entry->id) return RBL_ERR_NO_MEMORY;
    entry->desc = node->type->desc;
    entry->report = (rbl_node_report){.node = entry->id,
        .type = entry->desc->type,
        .outcome = RBL_OUTCOME_SKIPPED,
        .reason = "not asked for"};
    size_t existing;
    rbl_status status = rbli_name_table_add(&run->ids, entry->id, run->node_count, &existing);
    if (status != RBL_OK) {
        rbli_allocator_free(run->allocator, entry->id);
        return status;
    }
    run->node_count++;
    return RBL_OK;
}

rbl_status rbli_run_create(rbl_graph *graph, const bool *needed, rbl_run **out)
{
    rbli_allocator *allocator = graph->engine->allocator;
    rbl_run *run = rbli_allocator_calloc(allocator, 1, sizeof *run);
    if (!run) return RBL_ERR_NO_MEMORY;
    run->allocator = rbli_allocator_retain(allocator);
    run->graph = rbli_graph_retain(graph);
    rbli_name_table_init(&run->ids, allocator);
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_messages_open(allocator, &run->messages));
    run->graph_file = copy_text(allocator, rbli_source_name(graph->source));
    RBL_TRY_ALLOC(run->graph_file);
    rbli_hash_to_text(rbli_graph_hash(graph), run->graph_hash);
    RBL_TRY(variables_json(graph, &run->variables));
    run->nodes = rbli_allocator_calloc(allocator, graph->node_count, sizeof *run->nodes);
    RBL_TRY_ALLOC(run->nodes);
    for (int wanted = 1; wanted >= 0; wanted--)
        for (size_t i = 0; i < graph->node_count; i++)
            if (needed[graph->order[i]] == wanted) RBL_TRY(add_node(run, &graph->nodes[graph->order[i]]));
    *out = run;
    run = NULL;
done:
    rbl_run_destroy(run);
    return status;
}

void rbl_run_destroy(rbl_run *run)
{
    if (!run) return;
    rbli_allocator *allocator = run->allocator;
    for (size_t i = 0; i < run->node_count; i++) {
        rbli_result_release(run->nodes[i].result);
        rbli_allocator_free(allocator, run->nodes[i].reason);
        rbli_allocator_free(allocator, run->nodes[i].id);
    }
    for (size_t i = 0; i < run->files.count; i++) {
        rbli_allocator_free(allocator, run->files.data[i].path);
        rbli_allocator_free(allocator, run->files.data[i].node);
    }
    rbli_allocator_free(allocator, run->files.data);
    rbli_allocator_free(allocator, run->nodes);
    rbli_allocator_free(allocator, run->graph_file);
    rbli_allocator_free(allocator, run->variables);
    rbli_name_table_free(&run->ids);
    rbl_messages_destroy(run->messages);
    rbli_trace_destroy(run->trace);
    rbl_graph_destroy(run->graph);
    rbli_allocator_free(allocator, run);
    rbli_allocator_release(allocator);
}

rbl_status rbl_run_status(const rbl_run *run)
{
    return run->status;
}

size_t rbl_run_node_count(const rbl_run *run)
{
    return run->node_count;
}

const rbl_node_report *rbl_run_node(const rbl_run *run, size_t index)
{
    return index < run->node_count ? &run->nodes[index].report : NULL;
}

const rbl_messages *rbl_run_messages(const rbl_run *run)
{
    return run->messages;
}

double rbl_run_wall_ms(const rbl_run *run)
{
    return run->wall_ms;
}

size_t rbl_run_file_count(const rbl_run *run)
{
    return run->files.count;
}

const rbl_file_report *rbl_run_file(const rbl_run *run, size_t index)
{
    if (index >= run->files.count) return NULL;
    return &run->files.data[index].report;
}

/// The output that a name of a graph within the graph stands for: "wall.points", or "wall" for its first.
static const rbl_value *value_of_alias(const rbl_run *run, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < run->graph->aliases.count; i++) {
        const rbli_alias *alias = &run->graph->aliases.data[i];
        if (strncmp(alias->name, name, length) != 0) continue;
        if (alias->name[length] && (alias->name[length] != '.' || strchr(name, '.'))) continue;
        const rbli_graph_node *node = &run->graph->nodes[alias->ref.node];
        size_t index = rbli_name_table_find(&run->ids, node->id);
        if (index == SIZE_MAX || !run->nodes[index].result) return NULL;
        return run->nodes[index].result->outputs[alias->ref.port];
    }
    return NULL;
}

const rbl_value *rbl_run_value(const rbl_run *run, const char *name)
{
    char id[4096];
    size_t length = strcspn(name, ".");
    if (length >= sizeof id) return NULL;
    memcpy(id, name, length);
    id[length] = '\0';
    size_t index = rbli_name_table_find(&run->ids, id);
    if (index == SIZE_MAX) return value_of_alias(run, name);
    if (!run->nodes[index].result) return NULL;
    const rbl_port_desc *ports = run->nodes[index].desc->outputs;
    size_t port = name[length] ? rbli_find_port(ports, name + length + 1) : 0;
    return port < run->nodes[index].result->output_count ? run->nodes[index].result->outputs[port] : NULL;
}

const char *rbl_outcome_text(rbl_outcome outcome)
{
    switch (outcome) {
    case RBL_OUTCOME_RAN:
        return "ran";
    case RBL_OUTCOME_MEMORY_HIT:
        return "memory hit";
    case RBL_OUTCOME_DISK_HIT:
        return "disk hit";
    case RBL_OUTCOME_SAME_OUTPUT:
        return "same output";
    case RBL_OUTCOME_SKIPPED:
        return "skipped";
    case RBL_OUTCOME_FAILED:
        return "failed";
    case RBL_OUTCOME_WOULD_RUN:
        return "would run";
    case RBL_OUTCOME_MAY_RUN:
        return "may run";
    case RBL_OUTCOME_NOT_NEEDED:
        return "not needed";
    }
    return "unknown";
}

/* ---- JSON ---- */

static void json_member(rbli_text *out, const char *name, const char *value)
{
    rbli_text_json_string(out, name);
    rbli_text_puts(out, ": ");
    rbli_text_json_string(out, value);
}

static void message_json(rbli_text *out, const rbl_message *message)
{
    static const char *const words[] = {"", "error", "warning", "note"};
    rbli_text_puts(out, "{");
    json_member(out, "severity", words[message->severity]);
    if (message->severity == RBL_ERROR) {
        rbli_text_puts(out, ", ");
        json_member(out, "status", rbl_status_text(message->status));
    }
    if (message->file[0]) {
        rbli_text_puts(out, ", ");
        json_member(out, "file", message->file);
    }
    if (message->line)
        rbli_text_printf(out, ", \"line\": %zu, \"column\": %zu", message->line, message->column);
    if (message->node[0]) {
        rbli_text_puts(out, ", ");
        json_member(out, "node", message->node);
    }
    if (message->pointer[0]) {
        rbli_text_puts(out, ", ");
        json_member(out, "pointer", message->pointer);
    }
    rbli_text_puts(out, ", ");
    json_member(out, "text", message->text);
    if (message->hint[0]) {
        rbli_text_puts(out, ", ");
        json_member(out, "hint", message->hint);
    }
    rbli_text_puts(out, "}");
}

rbl_status rbl_messages_json(const rbl_messages *messages, char **text)
{
    if (!messages) return RBL_ERR_ARGUMENT;
    rbli_text out;
    rbli_text_init(&out, rbli_messages_allocator(messages));
    rbli_text_puts(&out, "[");
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        rbli_text_puts(&out, i ? ",\n  " : "\n  ");
        message_json(&out, rbl_messages_get(messages, i));
    }
    rbli_text_puts(&out, rbl_messages_count(messages) ? "\n]" : "]");
    return rbli_text_take(&out, text);
}

static void node_json(rbli_text *out, const rbli_run_node *node)
{
    const rbl_node_report *report = &node->report;
    rbli_text_puts(out, "{");
    json_member(out, "node", report->node);
    rbli_text_puts(out, ", ");
    json_member(out, "type", report->type);
    rbli_text_puts(out, ", ");
    json_member(out, "outcome", rbl_outcome_text(report->outcome));
    rbli_text_puts(out, ", ");
    json_member(out, "reason", report->reason);
    rbli_text_puts(out, ", ");
    json_member(out, "status", rbl_status_text(report->status));
    rbli_text_puts(out, ", \"wall_ms\": ");
    rbli_text_json_double(out, report->wall_ms);
    rbli_text_puts(out, ", \"cpu_ms\": ");
    rbli_text_json_double(out, report->cpu_ms);
    rbli_text_printf(out, ", \"bytes\": %zu", report->bytes);
    if (!rbli_hash_is_zero(node->key)) {
        char key[33];
        rbli_hash_to_text(node->key, key);
        rbli_text_printf(out, ", \"key\": \"%s\"", key);
    }
    if (node->result) {
        rbli_text_puts(out, ", \"outputs\": {");
        for (size_t i = 0, written = 0; i < node->result->output_count; i++) {
            char hash[33];
            if (!node->result->outputs[i]) continue; /* nobody asked for it */
            rbli_hash_to_text(rbli_value_hash(node->result->outputs[i]), hash);
            rbli_text_puts(out, written++ ? ", " : "");
            json_member(out, node->desc->outputs[i].name, hash);
        }
        rbli_text_puts(out, "}");
    }
    rbli_text_puts(out, "}");
}

rbl_status rbl_run_json(const rbl_run *run, char **text)
{
    rbli_text out;
    rbli_text_init(&out, run->allocator);
    rbli_text_puts(&out, "{\n  ");
    json_member(&out, "rubble", rbl_version_text());
    rbli_text_puts(&out, ",\n  ");
    json_member(&out, "graph", run->graph_file);
    rbli_text_puts(&out, ",\n  ");
    json_member(&out, "graph_hash", run->graph_hash);
    rbli_text_printf(&out, ",\n  \"variables\": %s,\n  ", run->variables);
    json_member(&out, "status", rbl_status_text(run->status));
    rbli_text_puts(&out, ",\n  \"wall_ms\": ");
    rbli_text_json_double(&out, run->wall_ms);
    rbli_text_puts(&out, ",\n  \"cpu_ms\": ");
    rbli_text_json_double(&out, run->cpu_ms);
    rbli_text_puts(&out, ",\n  \"nodes\": [");
    for (size_t i = 0; i < run->node_count; i++) {
        rbli_text_puts(&out, i ? ",\n    " : "\n    ");
        node_json(&out, &run->nodes[i]);
    }
    rbli_text_puts(&out, "\n  ],\n  \"files\": [");
    for (size_t i = 0; i < run->files.count; i++) {
        const rbl_file_report *file = rbl_run_file(run, i);
        rbli_text_puts(&out, i ? ",\n    {" : "\n    {");
        json_member(&out, "path", file->path);
        rbli_text_puts(&out, ", ");
        json_member(&out, "node", file->node);
        rbli_text_printf(&out, ", \"bytes\": %zu, ", file->bytes);
        json_member(&out, "hash", file->hash);
        rbli_text_printf(&out, ", \"unchanged\": %s}", file->unchanged ? "true" : "false");
    }
    rbli_text_puts(&out, run->files.count ? "\n  ],\n  \"messages\": [" : "],\n  \"messages\": [");
    size_t message_count = rbl_messages_count(run->messages);
    for (size_t i = 0; i < message_count; i++) {
        rbli_text_puts(&out, i ? ",\n    " : "\n    ");
        message_json(&out, rbl_messages_get(run->messages, i));
    }
    rbli_text_puts(&out, message_count ? "\n  ]\n}\n" : "]\n}\n");
    return rbli_text_take(&out, text);
}

/// Times in microseconds, exactly.
static void trace_time(rbli_text *out, const char *name, uint64_t ns)
{
    rbli_text_printf(
        out, ", \"%s\": %llu.%03u", name, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

rbl_status rbl_run_trace_json(const rbl_run *run, char **text)
{
    if (!run->trace) return RBL_ERR_NOT_FOUND;
    rbli_text out;
    rbli_text_init(&out, run->allocator);
    rbli_text_puts(&out, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
                         "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": ");
    rbli_text_json_string(&out, run->graph_file);
    rbli_text_puts(&out, "}}");
    for (size_t i = 0; i < rbli_trace_count(run->trace); i++) {
        const rbli_trace_entry *entry = rbli_trace_get(run->trace, i);
        rbli_text_puts(&out, ",\n{\"ph\": \"X\", \"pid\": 1");
        rbli_text_printf(&out, ", \"tid\": %u, ", entry->thread);
        json_member(&out, "cat", entry->category);
        rbli_text_puts(&out, ", ");
        json_member(&out, "name", entry->name);
        trace_time(&out, "ts", entry->begin_ns - run->trace_begin_ns);
        trace_time(&out, "dur", entry->end_ns - entry->begin_ns);
        rbli_text_puts(&out, ", \"args\": {");
        json_member(&out, "node", entry->node);
        if (entry->cpu_ns >= 0) trace_time(&out, "cpu_us", (uint64_t)entry->cpu_ns);
        rbli_text_puts(&out, "}}");
    }
    rbli_text_puts(&out, "\n]}\n");
    return rbli_text_take(&out, text);
}

void rbl_run_free_text(const rbl_run *run, char *text)
{
    rbli_allocator_free(run->allocator, text);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/// No times and no folders: the same graph and variables give the same bytes.
static void write_named(rbli_text *out, const char *path, rbli_hash hash, bool first)
{
    char text[33];
    rbli_hash_to_text(hash, text);
    rbli_text_puts(out, first ? "\n    {" : ",\n    {");
    json_member(out, "name", last_part(path));
    rbli_text_puts(out, ", ");
    json_member(out, "hash", text);
    rbli_text_puts(out, "}");
}

/// What the files were made from: graph files beside the main one, and files that nodes read.
static void write_sources(const rbl_run *run, rbli_text *out)
{
    const rbl_graph *graph = run->graph;
    rbli_named_hashes reads;
    bool first = true;
    rbli_text_puts(out, "\"graphs\": [");
    for (const rbli_document *d = graph->documents; d; d = d->next) {
        if (d->source == graph->source) continue;
        write_named(out, rbli_source_name(d->source),
            rbli_hash_bytes(rbli_source_text(d->source), rbli_source_bytes(d->source)), first);
        first = false;
    }
    rbli_text_puts(out, first ? "],\n  \"reads\": [" : "\n  ],\n  \"reads\": [");
    out->failed |= rbli_graph_list_reads(graph, run, &reads) != RBL_OK;
    for (size_t i = 0; i < reads.count; i++)
        write_named(out, reads.data[i].path, reads.data[i].hash, i == 0);
    rbli_text_puts(out, reads.count ? "\n  ],\n  " : "],\n  ");
    rbli_named_hashes_free(graph, &reads);
}

void rbli_write_manifest(const rbl_run *run, uint32_t node, const rbli_pending_files *files, rbli_text *out)
{
    rbli_text_puts(out, "{\n  ");
    json_member(out, "rubble", rbl_version_text());
    rbli_text_puts(out, ",\n  ");
    json_member(out, "graph", last_part(run->graph_file));
    rbli_text_puts(out, ",\n  ");
    json_member(out, "graph_hash", run->graph_hash);
    rbli_text_printf(out, ",\n  \"variables\": %s,\n  ", run->variables);
    write_sources(run, out);
    json_member(out, "node", run->nodes[node].id);
    rbli_text_puts(out, ",\n  \"files\": [");
    for (size_t i = 0, written = 0; i < files->count; i++) {
        if (files->data[i].node != node) continue;
        char hash[33];
        rbli_hash_to_text(files->data[i].hash, hash);
        rbli_text_puts(out, written++ ? ",\n    {" : "\n    {");
        json_member(out, "name", files->data[i].name);
        rbli_text_printf(out, ", \"bytes\": %zu, ", files->data[i].bytes);
        json_member(out, "hash", hash);
        rbli_text_puts(out, "}");
    }
    rbli_text_puts(out, "\n  ],\n  \"nodes\": [");
    for (size_t i = 0, written = 0; i < run->node_count; i++) {
        const rbli_run_node *entry = &run->nodes[i];
        if (!entry->result) continue;
        rbli_text_puts(out, written++ ? ",\n    {" : "\n    {");
        json_member(out, "node", entry->id);
        rbli_text_puts(out, ", ");
        json_member(out, "type", entry->desc->type);
        rbli_text_printf(
            out, ", \"version\": %d, \"revision\": %d}", entry->desc->version, entry->desc->revision);
    }
    rbli_text_puts(out, "\n  ],\n  \"warnings\": [");
    size_t written = 0;
    for (size_t i = 0; i < rbl_messages_count(run->messages); i++) {
        const rbl_message *message = rbl_messages_get(run->messages, i);
        if (message->severity != RBL_WARNING) continue;
        rbli_text_puts(out, written++ ? ",\n    {" : "\n    {");
        json_member(out, "node", message->node);
        rbli_text_puts(out, ", ");
        json_member(out, "text", message->text);
        rbli_text_puts(out, "}");
    }
    rbli_text_puts(out, written ? "\n  ]\n}\n" : "]\n}\n");
}
