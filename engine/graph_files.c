/// The files that a graph's results depend on.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/engine.h"
#include "engine/run.h"
#include "fracture/base/alloc.h"
#include "fracture/base/file.h"

/// What a warning about a missing file needs.
typedef struct searcher {
    rbl_messages *messages;
    const rbli_graph_node *node;
} searcher;

static rbl_status look_for_param(void *user, const rbl_param *param)
{
    const searcher *s = user;
    struct stat info;
    if (stat(param->string, &info) == 0) return RBL_OK;
    bool placed = param->offset != RBLI_JSON_NONE;
    rbli_place place = {s->node->document->source, placed ? param->offset : s->node->id_offset, s->node->id,
        rbl_param_pointer(param)};
    rbli_message_addf(
        s->messages, RBL_WARNING, RBL_OK, &place, NULL, "%s: %s", param->string, strerror(errno));
    return RBL_OK;
}

rbl_status rbl_graph_look_for_files(const rbl_graph *graph, rbl_messages **messages)
{
    rbl_status status = rbli_messages_open(graph->engine->allocator, messages);
    if (status != RBL_OK) return status;
    uv_mutex_lock((uv_mutex_t *)&graph->mutex);
    size_t first = rbl_messages_count(*messages);
    for (const rbl_graph *g = graph; g; g = g == graph ? graph->bodies : g->next_body)
        for (size_t i = 0; i < g->node_count; i++) {
            searcher s = {*messages, &g->nodes[i]};
            if (g->nodes[i].params) rbli_params_each_path(g->nodes[i].params, look_for_param, &s);
        }
    rbli_messages_sort(*messages, first);
    uv_mutex_unlock((uv_mutex_t *)&graph->mutex);
    return RBL_OK;
}

typedef struct collector {
    rbl_context ctx;
    RBLI_ARRAY(char *) paths;
    size_t graph_count; /* of the first ones, which are graph files */
} collector;

static rbl_status add_path(collector *c, const char *path)
{
    char *copy = rbli_strdup(&c->ctx, path);
    if (copy && rbli_array_push(&c->ctx, &c->paths, copy) == RBL_OK) return RBL_OK;
    rbli_free(&c->ctx, copy);
    return RBL_ERR_NO_MEMORY;
}

static rbl_status add_param(void *user, const rbl_param *param)
{
    return add_path(user, param->string);
}

/// What the nodes of one graph name and read.
static rbl_status add_files(collector *c, const rbl_graph *graph)
{
    rbl_status status = RBL_OK;
    uv_mutex_lock((uv_mutex_t *)&graph->mutex);
    for (size_t i = 0; i < graph->node_count; i++) {
        RBL_TRY(rbli_params_each_path(graph->nodes[i].params, add_param, c));
        for (size_t k = 0; graph->history && k < graph->history[i].file_count; k++)
            RBL_TRY(add_path(c, graph->history[i].files[k].path));
    }
    for (size_t i = 0; i < graph->reads.count; i++)
        RBL_TRY(add_path(c, graph->reads.data[i].path));
done:
    uv_mutex_unlock((uv_mutex_t *)&graph->mutex);
    return status;
}

rbl_status rbl_graph_each_file(
    const rbl_graph *graph, void (*fn)(void *user, const char *path, bool is_graph), void *user)
{
    collector c = {.ctx = graph->engine->base};
    rbl_status status = RBL_OK;
    for (const rbli_document *document = graph->documents; document; document = document->next)
        RBL_TRY(add_path(&c, rbli_source_name(document->source)));
    c.graph_count = c.paths.count;
    RBL_TRY(add_files(&c, graph));
    for (rbl_graph *body = graph->bodies; body && status == RBL_OK; body = body->next_body)
        status = add_files(&c, body);
done:
    /* Called without the lock: the host may ask the graph. */
    for (size_t i = 0; i < c.paths.count; i++) {
        if (status == RBL_OK) fn(user, c.paths.data[i], i < c.graph_count);
        rbli_free(&c.ctx, c.paths.data[i]);
    }
    rbli_free(&c.ctx, c.paths.data);
    return status;
}

void rbli_graph_forget_reads(rbl_graph *body)
{
    uv_mutex_lock(&body->mutex);
    for (size_t i = 0; i < body->reads.count; i++)
        rbli_allocator_free(body->engine->allocator, body->reads.data[i].path);
    body->reads.count = 0;
    uv_mutex_unlock(&body->mutex);
}

rbli_hash rbli_graph_hash(const rbl_graph *graph)
{
    const rbli_document *first = graph->documents;
    if (!first || !first->next)
        return rbli_hash_bytes(rbli_source_text(graph->source), rbli_source_bytes(graph->source));
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    for (const rbli_document *d = first; d; d = d->next) {
        rbli_hash hash = rbli_hash_bytes(rbli_source_text(d->source), rbli_source_bytes(d->source));
        rbli_hasher_add(&hasher, &hash, sizeof hash);
    }
    return rbli_hasher_end(&hasher);
}

static rbl_status add_named(rbl_context *ctx, rbli_named_hashes *list, const char *path, rbli_hash hash)
{
    rbli_named_hash item = {rbli_strdup(ctx, path), hash};
    if (item.path && rbli_array_push(ctx, list, item) == RBL_OK) return RBL_OK;
    rbli_free(ctx, item.path);
    return RBL_ERR_NO_MEMORY;
}

static int compare_named(const void *a, const void *b)
{
    return strcmp(((const rbli_named_hash *)a)->path, ((const rbli_named_hash *)b)->path);
}

rbl_status rbli_graph_list_reads(const rbl_graph *graph, const rbl_run *run, rbli_named_hashes *out)
{
    rbl_context ctx = graph->engine->base;
    rbl_status status = RBL_OK;
    *out = (rbli_named_hashes){0};
    for (const rbl_graph *g = graph; g && status == RBL_OK; g = g == graph ? graph->bodies : g->next_body) {
        uv_mutex_lock((uv_mutex_t *)&g->mutex);
        for (size_t i = 0; i < g->node_count && g == graph && g->history && status == RBL_OK; i++) {
            size_t node = rbli_name_table_find(&run->ids, g->nodes[i].id);
            if (node == SIZE_MAX || !run->nodes[node].result) continue; /* that is of an earlier run */
            for (size_t k = 0; k < g->history[i].file_count && status == RBL_OK; k++)
                status = add_named(&ctx, out, g->history[i].files[k].path, g->history[i].files[k].hash);
        }
        for (size_t i = 0; i < g->reads.count && status == RBL_OK; i++)
            status = add_named(&ctx, out, g->reads.data[i].path, g->reads.data[i].hash);
        uv_mutex_unlock((uv_mutex_t *)&g->mutex);
    }
    if (out->count) qsort(out->data, out->count, sizeof *out->data, compare_named);
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        bool again = kept && strcmp(out->data[kept - 1].path, out->data[i].path) == 0;
        if (again)
            rbli_free(&ctx, out->data[i].path);
        else
            out->data[kept++] = out->data[i];
    }
    out->count = kept;
    return status;
}

void rbli_named_hashes_free(const rbl_graph *graph, rbli_named_hashes *list)
{
    for (size_t i = 0; i < list->count; i++)
        rbli_allocator_free(graph->engine->allocator, list->data[i].path);
    rbli_allocator_free(graph->engine->allocator, list->data);
    *list = (rbli_named_hashes){0};
}

/* ---- For programs that watch files ---- */

static const char *const pattern_signs = "*?[";

rbl_status rbl_graph_each_pattern(
    const rbl_graph *graph, void (*fn)(void *user, const char *pattern), void *user)
{
    collector c = {.ctx = graph->engine->base};
    rbl_status status = RBL_OK;
    for (const rbl_graph *g = graph; g && status == RBL_OK; g = g == graph ? graph->bodies : g->next_body) {
        uv_mutex_lock((uv_mutex_t *)&g->mutex);
        for (size_t i = 0; i < g->node_count && status == RBL_OK; i++) {
            const rbli_graph_node *node = &g->nodes[i];
            const rbl_param *root = node->body ? rbli_params_root(node->params) : NULL;
            const char *over = rbl_param_string(rbl_param_field(root, "over"));
            const char *pattern = rbl_param_string(rbl_param_field(root, "files"));
            if (strcmp(over, "files") != 0 || !strpbrk(pattern, pattern_signs)) continue;
            const char *folder = *pattern == '/' ? "" : node->document->folder;
            char *whole = rbli_format(&c.ctx, "%s%s%s", folder, *folder ? "/" : "", pattern);
            status = whole ? add_path(&c, whole) : RBL_ERR_NO_MEMORY;
            rbli_free(&c.ctx, whole);
        }
        uv_mutex_unlock((uv_mutex_t *)&g->mutex);
    }
    for (size_t i = 0; i < c.paths.count; i++) {
        if (status == RBL_OK) fn(user, c.paths.data[i]);
        rbli_free(&c.ctx, c.paths.data[i]);
    }
    rbli_free(&c.ctx, c.paths.data);
    return status;
}

static rbl_status add_part(collector *c, const char *folder, const char *text)
{
    const char *hash = strrchr(text, '#');
    if (!hash || hash == text) return RBL_OK;
    int length = (int)(hash - text);
    char *path = *text == '/' || !*folder ? rbli_format(&c->ctx, "%.*s", length, text)
                                          : rbli_format(&c->ctx, "%s/%.*s", folder, length, text);
    if (!path) return RBL_ERR_NO_MEMORY;
    bool known = false;
    for (size_t i = 0; i < c->paths.count && !known; i++)
        known = strcmp(c->paths.data[i], path) == 0;
    rbl_status status = known ? RBL_OK : add_path(c, path);
    rbli_free(&c->ctx, path);
    return status;
}

/// Adds the files that a graph file names for parts of it, as far as it can be read.
static rbl_status add_parts(collector *c, const char *path)
{
    rbl_status status = RBL_OK;
    rbl_context quiet = c->ctx;
    quiet.messages = NULL;
    rbl_messages *unheard = NULL;
    rbli_source *source = NULL;
    rbli_json *json = NULL;
    char *folder = NULL;
    uint8_t *bytes = NULL;
    size_t count;
    if (rbli_file_read(&quiet, path, RBLI_JSON_MOST_BYTES, &bytes, &count) != RBL_OK) return RBL_OK;
    RBL_TRY(rbli_source_create(c->ctx.allocator, path, (char *)bytes, count, &source));
    RBL_TRY(rbli_messages_open(c->ctx.allocator, &unheard));
    RBL_TRY_ALLOC(folder = rbli_path_folder(c->ctx.allocator, path));
    status =
        rbli_json_parse(c->ctx.allocator, source, RBLI_JSON_COMMENTS | RBLI_JSON_PARTIAL, unheard, &json);
    if (status == RBL_ERR_PARSE) status = RBL_OK;
    for (size_t v = 0; json && v < json->count && status == RBL_OK; v++) {
        const rbli_json_value *value = &json->values[v];
        if (value->type != RBLI_JSON_STRING || !value->key) continue;
        if (strcmp(value->key, "type") == 0 && strncmp(value->string, "graph:", 6) == 0)
            status = add_part(c, folder, value->string + 6);
        else if (strcmp(value->key, "graph") == 0)
            status = add_part(c, folder, value->string);
    }
done:
    rbli_free(&c->ctx, folder);
    rbli_json_destroy(json);
    rbli_source_release(source);
    rbl_messages_destroy(unheard);
    return status;
}

rbl_status rbl_engine_each_graph_file(
    rbl_engine *engine, const char *file, void (*fn)(void *user, const char *path), void *user)
{
    collector c = {.ctx = engine->base};
    rbl_status status = add_path(&c, file);
    for (size_t i = 0; i < c.paths.count && status == RBL_OK; i++)
        status = add_parts(&c, c.paths.data[i]);
    for (size_t i = 0; i < c.paths.count; i++) {
        if (status == RBL_OK) fn(user, c.paths.data[i]);
        rbli_free(&c.ctx, c.paths.data[i]);
    }
    rbli_free(&c.ctx, c.paths.data);
    return status;
}
