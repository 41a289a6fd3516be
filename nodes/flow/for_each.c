/// ForEach: runs a graph of the file once for each bone, each file or a number of times.

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/call.h"
#include "engine/run.h"
#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/base/trace.h"
#include "fracture/collection/hierarchy.h"
#include "fracture/ops/merge.h"

typedef enum over { OVER_BONES, OVER_FILES, OVER_COUNT } over;

typedef struct element {
    int32_t bone;
    char *file; /* OVER_FILES */
    char *name;
} element;

/// One element's evaluation.
typedef struct element_run {
    rbl_status status;
    rbli_messages *messages; /* of the work around the graph, NULL: nothing said */
    rbl_messages *said;      /* by the nodes of the graph */
    bool ended, ran, open;   /* open: in a dry run, something in it would run */
} element_run;

typedef struct work {
    rbl_context *ctx;
    rbl_call *call;
    const rbl_graph *body;
    const rbl_port_desc *inputs; /* what the graph wants, ports and values */
    over over;
    element *elements;
    size_t count;
    rbl_value **outputs; /* [count][output_count] */
    element_run *runs;   /* [count] */
    atomic_size_t lowest_failed, ended_count;
    uv_thread_t thread; /* that evaluates the node */
    bool is_parallel;
} work;

/* ---- The elements ---- */

static char *file_title(rbl_context *ctx, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return rbli_format(ctx, "%.*s", (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name)), name);
}

/// The bones of the selection that are below no other of it; without one all pieces.
static rbl_status list_bones(work *w)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = w->ctx;
    const rbl_collection *collection = rbl_call_input_collection(w->call, "collection");
    const rbli_selection *selection = rbli_call_input_selection(w->call, "selection");
    int32_t *leaves = NULL;
    bool *chosen = NULL;
    size_t count = 0;
    if (!collection)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "there is no collection whose bones could be gone through");
    if (selection && !rbli_selection_fits(selection, collection))
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "the selection belongs to another collection");
    size_t bones = rbli_collection_size(collection, "bone");
    const int32_t *parent = rbli_collection_read(collection, "bone", "parent", RBL_INT32);
    RBL_TRY_ALLOC(chosen = rbli_calloc(ctx, bones + 1, sizeof *chosen));
    const int32_t *list = selection ? rbli_selection_bones(selection) : NULL;
    if (selection)
        count = rbli_selection_count(selection);
    else
        RBL_TRY(rbli_rigid_leaves(ctx, collection, NULL, &leaves, &count));
    if (!selection) list = leaves;
    RBL_TRY_ALLOC(w->elements = rbli_calloc(ctx, count + 1, sizeof *w->elements));
    for (size_t i = 0; i < count; i++)
        chosen[list[i]] = true;
    for (size_t i = 0; i < count; i++) {
        bool below = false;
        for (int32_t b = parent ? parent[list[i]] : -1; b >= 0 && !below; b = parent[b])
            below = chosen[b];
        if (below) continue;
        element *e = &w->elements[w->count];
        e->bone = list[i];
        e->name = rbli_strdup(ctx, rbli_collection_string(collection, "bone", "name", (size_t)list[i]));
        RBL_TRY_ALLOC(e->name);
        w->count++;
    }
done:
    rbli_free(ctx, leaves);
    rbli_free(ctx, chosen);
    return status;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static rbl_status list_files(work *w)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = w->ctx;
    const rbl_param *param = rbl_call_param(w->call, "files");
    const char *pattern = rbl_param_string(param), *folder = w->call->node->document->folder;
    glob_t found = {0};
    char here[PATH_MAX] = "", *whole = NULL;
    if (!*pattern)
        return rbl_call_fail(
            ctx, w->call, param, RBL_ERR_ARGUMENT, "there is no pattern like \"meshes/*.obj\"");
    if (*pattern != '/' && *folder != '/' && !getcwd(here, sizeof here))
        return rbli_fail(ctx, RBL_ERR_READ, "the working folder cannot be found");
    if (*pattern == '/')
        whole = rbli_strdup(ctx, pattern);
    else
        whole = rbli_format(ctx, "%s%s%s%s%s", here, *here ? "/" : "", folder, *folder ? "/" : "", pattern);
    RBL_TRY_ALLOC(whole);
    int code = glob(whole, GLOB_NOSORT, NULL, &found);
    if (code == GLOB_NOSPACE) RBL_TRY(RBL_ERR_NO_MEMORY);
    if (code != 0 || found.gl_pathc == 0)
        RBL_TRY(rbl_call_fail(ctx, w->call, param, RBL_ERR_READ, "no file is called \"%s\"", pattern));
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_paths);
    RBL_TRY_ALLOC(w->elements = rbli_calloc(ctx, found.gl_pathc, sizeof *w->elements));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        element *e = &w->elements[w->count++];
        e->file = rbli_strdup(ctx, found.gl_pathv[i]);
        e->name = file_title(ctx, found.gl_pathv[i]);
        RBL_TRY_ALLOC(e->file);
        RBL_TRY_ALLOC(e->name);
    }
done:
    globfree(&found);
    rbli_free(ctx, whole);
    return status;
}

static rbl_status list_count(work *w)
{
    size_t count = (size_t)rbl_param_int(rbl_call_param(w->call, "count"));
    w->elements = rbli_calloc(w->ctx, count + 1, sizeof *w->elements);
    if (!w->elements) return RBL_ERR_NO_MEMORY;
    for (; w->count < count; w->count++) {
        w->elements[w->count].name = rbli_format(w->ctx, "%zu", w->count);
        if (!w->elements[w->count].name) return RBL_ERR_NO_MEMORY;
    }
    return RBL_OK;
}

static rbl_status list_elements(work *w)
{
    switch (w->over) {
    case OVER_BONES:
        return list_bones(w);
    case OVER_FILES:
        return list_files(w);
    default:
        return list_count(w);
    }
}

/* ---- What goes in ---- */

/// The bone with all below it as a collection of its own; the bone keeps its place in the world.
static rbl_status take_out(rbl_context *ctx, const work *w, int32_t bone, rbl_value **out)
{
    rbl_status status = RBL_OK;
    const rbl_collection *collection = rbl_call_input_collection(w->call, "collection");
    rbl_collection *own = NULL;
    size_t count = rbli_collection_size(collection, "bone");
    const int32_t *parent = rbli_collection_read(collection, "bone", "parent", RBL_INT32);
    bool *remove = rbli_calloc(ctx, count, sizeof *remove);
    RBL_TRY_ALLOC(remove);
    for (size_t b = 0; b < count; b++)
        remove[b] = (int32_t)b != bone && (parent[b] < 0 || remove[parent[b]]);
    RBL_TRY(rbli_collection_copy(ctx, collection, &own));
    RBL_TRY(rbli_hierarchy_remove_bones(ctx, own, remove));
    RBL_TRY(rbl_value_create_collection(ctx, own, out));
done:
    rbli_free(ctx, remove);
    rbli_collection_release(own);
    return status;
}

static rbl_status make_value(
    rbl_context *ctx, const rbl_port_desc *port, double number, const char *text, rbl_value **out)
{
    if (port->kind == RBL_VALUE_STRING && text) return rbl_value_create_string(ctx, text, out);
    if (port->kind == RBL_VALUE_STRING || text)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "input \"%s\" of the graph takes a %s", port->name,
            rbli_value_kind_word(port->kind));
    if (port->kind == RBL_VALUE_BOOL) number = number != 0;
    return rbl_value_create_number(ctx, port->kind, number, out);
}

/// What "set" gives for an input, or nothing.
static rbl_status take_set(rbl_context *ctx, const work *w, const rbl_port_desc *port, rbl_value **out)
{
    const rbl_param *set = rbl_call_param(w->call, "set");
    for (size_t i = 0; i < rbl_param_count(set); i++) {
        const rbl_param *item = rbl_param_at(set, i);
        if (strcmp(rbl_param_string(rbl_param_field(item, "name")), port->name) != 0) continue;
        const rbl_param *number = rbl_param_field(item, "number"), *text = rbl_param_field(item, "text");
        const rbl_param *vector = rbl_param_field(item, "vector");
        double components[3];
        rbl_param_vec3(vector, components);
        if (vector) return rbl_value_create_vec3(ctx, components, out);
        return make_value(
            ctx, port, number ? rbl_param_float(number) : 0, text ? rbl_param_string(text) : NULL, out);
    }
    return RBL_OK;
}

/// The value of one input for one element; NULL: the default that the graph gives.
static rbl_status take_input(
    rbl_context *ctx, const work *w, const rbl_port_desc *port, size_t index, rbl_value **out)
{
    const element *e = &w->elements[index];
    const char *name = port->name;
    const rbl_value *connected = rbl_call_input(w->call, name, 0);
    if (w->over == OVER_BONES && strcmp(name, "collection") == 0) return take_out(ctx, w, e->bone, out);
    if (connected) {
        *out = rbl_value_retain((rbl_value *)connected);
        return RBL_OK;
    }
    rbl_status status = take_set(ctx, w, port, out);
    if (status != RBL_OK || *out) return status;
    if (strcmp(name, "index") == 0) return make_value(ctx, port, (double)index, NULL, out);
    if (strcmp(name, "count") == 0) return make_value(ctx, port, (double)w->count, NULL, out);
    if (strcmp(name, "bone") == 0 && w->over == OVER_BONES) return make_value(ctx, port, e->bone, NULL, out);
    if (strcmp(name, "file") == 0 && w->over == OVER_FILES) return make_value(ctx, port, 0, e->file, out);
    if (strcmp(name, "name") == 0 && w->over != OVER_COUNT) return make_value(ctx, port, 0, e->name, out);
    return RBL_OK;
}

static void look_at_run(const rbl_run *run, element_run *r)
{
    for (size_t i = 0; i < rbl_run_node_count(run); i++) {
        rbl_outcome outcome = rbl_run_node(run, i)->outcome;
        bool passes = run->nodes[i].desc->flags & RBLI_NODE_PASSES;
        r->ran |= !passes && (outcome == RBL_OUTCOME_RAN || outcome == RBL_OUTCOME_SAME_OUTPUT);
        r->open |= outcome == RBL_OUTCOME_WOULD_RUN || outcome == RBL_OUTCOME_MAY_RUN;
    }
}

static rbl_status run_element(rbl_context *ctx, work *w, size_t index)
{
    rbl_status status = RBL_OK;
    element_run *r = &w->runs[index];
    size_t input_count = rbli_count_ports(w->inputs);
    rbl_value **given = rbli_calloc(ctx, input_count + 1, sizeof *given);
    rbl_run *run = NULL;
    char *prefix = rbli_format(ctx, "%s[%zu]/", w->call->node->id, index);
    RBL_TRY_ALLOC(given);
    RBL_TRY_ALLOC(prefix);
    for (size_t i = 0; i < input_count; i++)
        RBL_TRY(take_input(ctx, w, &w->inputs[i], index, &given[i]));
    status = rbli_evaluate_body(ctx, w->call, given, prefix, &run);
    if (run) r->said = rbli_run_take_messages(run);
    if (status != RBL_OK && status != RBL_ERR_CANCELLED && status != RBL_ERR_NO_MEMORY)
        rbli_fail(ctx, status, "element %zu (%s) failed", index, w->elements[index].name);
    RBL_TRY(status);
    look_at_run(run, r);
    for (size_t i = 0; i < w->body->output_count && !r->open; i++) {
        const rbli_port_ref *ref = &w->body->outputs[i].ref;
        size_t node = rbli_name_table_find(&run->ids, w->body->nodes[ref->node].id);
        rbl_value *value = run->nodes[node].result->outputs[ref->port];
        w->outputs[index * w->body->output_count + i] = rbl_value_retain(value);
    }
done:
    for (size_t i = 0; given && i < input_count; i++)
        rbl_value_release(given[i]);
    rbli_free(ctx, given);
    rbli_free(ctx, prefix);
    rbl_run_destroy(run);
    return status;
}

static void forget_element(work *w, size_t index)
{
    element_run *r = &w->runs[index];
    rbli_messages_destroy(r->messages);
    rbl_messages_destroy(r->said);
    *r = (element_run){0};
    for (size_t i = 0; i < w->body->output_count; i++) {
        rbl_value **output = &w->outputs[index * w->body->output_count + i];
        rbl_value_release(*output);
        *output = NULL;
    }
}

/// Runs an element unless one before it failed: what comes behind that is of no use.
static void element_task(rbl_context *tasks_ctx, size_t index, void *user)
{
    work *w = user;
    element_run *r = &w->runs[index];
    if (index > atomic_load(&w->lowest_failed)) return;
    rbl_context ctx = *tasks_ctx;
    ctx.progress = NULL;
    ctx.messages = r->messages = rbli_messages_create(ctx.allocator);
    int64_t cpu_ns = rbli_thread_cpu_ns();
    uv_thread_t self = uv_thread_self();
    r->status = rbli_cancelled(&ctx) ? RBL_ERR_CANCELLED
                : r->messages        ? run_element(&ctx, w, index)
                                     : RBL_ERR_NO_MEMORY;
    r->ended = true;
    if (ctx.activity && !uv_thread_equal(&self, &w->thread))
        atomic_fetch_add(&ctx.activity->cpu_ns, rbli_thread_cpu_ns() - cpu_ns);
    if (r->status == RBL_ERR_NO_MEMORY && w->is_parallel) return; /* once more, alone */
    size_t lowest = atomic_load(&w->lowest_failed);
    while (r->status != RBL_OK && index < lowest &&
           !atomic_compare_exchange_weak(&w->lowest_failed, &lowest, index)) {
    }
    rbli_progress(w->ctx, (double)(atomic_fetch_add(&w->ended_count, 1) + 1) / (double)w->count);
}

/// Says what the elements said, in their order, up to the first that failed; gives its status.
static rbl_status end_elements(work *w)
{
    size_t end = atomic_load(&w->lowest_failed);
    for (size_t i = 0; i < w->count && i <= end; i++) {
        element_run *r = &w->runs[i];
        rbl_status status = rbli_hand_on_body_messages(w->call, r->said);
        if (status != RBL_OK) return status;
        for (size_t k = 0; r->messages && k < rbli_messages_count(r->messages); k++) {
            const rbli_message *m = rbli_messages_get(r->messages, k);
            rbli_messages_append(w->ctx->messages, m->severity, m->status, m->text);
        }
        w->call->elements_ran += r->ran || r->open;
    }
    return end < w->count ? w->runs[end].status : RBL_OK;
}

/// Runs the elements as tasks of the engine's pool, the first ones first. One that finds no memory beside
/// others is run again when they have ended.
static rbl_status run_elements(work *w)
{
    rbl_status status = RBL_OK;
    uint32_t *wait_counts = rbli_calloc(w->ctx, w->count + 1, sizeof *wait_counts);
    size_t *follower_start = rbli_calloc(w->ctx, w->count + 1, sizeof *follower_start);
    w->runs = rbli_calloc(w->ctx, w->count + 1, sizeof *w->runs);
    w->thread = uv_thread_self();
    w->is_parallel = rbli_worker_count(w->ctx) > 1;
    atomic_init(&w->lowest_failed, w->count);
    atomic_init(&w->ended_count, 0);
    RBL_TRY_ALLOC(wait_counts);
    RBL_TRY_ALLOC(follower_start);
    RBL_TRY_ALLOC(w->runs);
    rbli_task_graph tasks = {.count = w->count,
        .wait_counts = wait_counts,
        .follower_start = follower_start,
        .followers = wait_counts};
    RBL_TRY(rbli_run_tasks(w->ctx, &tasks, element_task, w));
    w->is_parallel = false;
    for (size_t i = 0; i < w->count && i < atomic_load(&w->lowest_failed); i++) {
        if (w->runs[i].ended && w->runs[i].status != RBL_ERR_NO_MEMORY) continue;
        forget_element(w, i);
        element_task(w->ctx, i, w);
    }
    status = end_elements(w);
done:
    rbli_free(w->ctx, wait_counts);
    rbli_free(w->ctx, follower_start);
    return status;
}

/* ---- What comes out ---- */

static rbl_value *output_of(const work *w, size_t index, size_t output)
{
    return w->outputs[index * w->body->output_count + output];
}

static size_t find_output(const work *w, rbl_value_kind kind)
{
    for (size_t i = 0; i < w->body->output_count; i++)
        if (w->body->outputs[i].kind == kind) return i;
    return SIZE_MAX;
}

static rbl_status collect_collections(work *w)
{
    rbl_status status = RBL_OK;
    size_t output = find_output(w, RBL_VALUE_COLLECTION);
    const char *root = rbl_param_string(rbl_call_param(w->call, "root"));
    rbl_collection *merged = NULL;
    const rbl_collection **list = rbli_calloc(w->ctx, w->count + 1, sizeof *list);
    RBL_TRY_ALLOC(list);
    size_t count = output == SIZE_MAX ? 0 : w->count;
    for (size_t i = 0; i < count; i++) {
        RBL_TRY(rbli_value_unpack(w->ctx, output_of(w, i, output)));
        list[i] = rbl_value_collection(output_of(w, i, output));
    }
    RBL_TRY(rbli_merge_collections(w->ctx, list, count, count && *root ? root : NULL, &merged));
    rbl_call_set_output_collection(w->call, "collection", merged);
    merged = NULL;
done:
    rbli_collection_release(merged);
    rbli_free(w->ctx, list);
    return status;
}

static rbl_status collect_points(work *w)
{
    rbl_status status = RBL_OK;
    size_t output = find_output(w, RBL_VALUE_POINTS), all = 0, used = 0, count;
    double(*points)[3] = NULL;
    rbl_value *value = NULL;
    for (size_t i = 0; output != SIZE_MAX && i < w->count; i++) {
        rbl_value_points(output_of(w, i, output), &count);
        all += count;
    }
    RBL_TRY_ALLOC(points = rbli_alloc(w->ctx, all + 1, sizeof *points));
    for (size_t i = 0; output != SIZE_MAX && i < w->count; i++) {
        const double(*own)[3] = rbl_value_points(output_of(w, i, output), &count);
        if (count) memcpy(points + used, own, count * sizeof *points);
        used += count;
    }
    RBL_TRY(rbl_value_create_points(w->ctx, (const double(*)[3])points, all, &value));
    rbl_call_set_output(w->call, "points", value);
done:
    rbli_free(w->ctx, points);
    return status;
}

static rbl_status add_strings(work *w, rbl_collection *table, const char *name, const char *const *strings)
{
    rbli_buffer *buffer = NULL;
    rbl_status status = rbli_buffer_create_strings(w->ctx, w->count, strings, &buffer);
    if (status == RBL_OK) status = rbli_collection_set(w->ctx, table, "element", name, buffer);
    rbli_buffer_release(buffer);
    return status;
}

/// One column of the table: what one output gave, element after element.
static rbl_status add_column(work *w, rbl_collection *table, size_t output, const char **strings)
{
    const char *name = w->body->outputs[output].name;
    if (!rbli_collection_name_is_valid(name))
        return rbli_fail(
            w->ctx, RBL_ERR_ARGUMENT, "output \"%s\" cannot name a column: write it in small letters", name);
    void *data = NULL;
    rbl_status status = RBL_OK;
    switch (w->body->outputs[output].kind) {
    case RBL_VALUE_BOOL:
        status = rbli_collection_write(w->ctx, table, "element", name, RBL_BOOL, &data);
        for (size_t i = 0; status == RBL_OK && i < w->count; i++)
            ((bool *)data)[i] = rbl_value_number(output_of(w, i, output)) != 0;
        return status;
    case RBL_VALUE_INT:
        status = rbli_collection_write(w->ctx, table, "element", name, RBL_INT64, &data);
        for (size_t i = 0; status == RBL_OK && i < w->count; i++)
            ((int64_t *)data)[i] = (int64_t)rbl_value_number(output_of(w, i, output));
        return status;
    case RBL_VALUE_FLOAT:
        status = rbli_collection_write(w->ctx, table, "element", name, RBL_DOUBLE, &data);
        for (size_t i = 0; status == RBL_OK && i < w->count; i++)
            ((double *)data)[i] = rbl_value_number(output_of(w, i, output));
        return status;
    case RBL_VALUE_VEC3:
        status = rbli_collection_write(w->ctx, table, "element", name, RBL_VEC3, &data);
        for (size_t i = 0; status == RBL_OK && i < w->count; i++)
            rbl_value_vec3(output_of(w, i, output), ((double(*)[3])data)[i]);
        return status;
    case RBL_VALUE_STRING:
        for (size_t i = 0; i < w->count; i++)
            strings[i] = rbl_value_string(output_of(w, i, output));
        return add_strings(w, table, name, strings);
    default:
        return RBL_OK;
    }
}

static rbl_status collect_table(work *w)
{
    rbl_status status = RBL_OK;
    rbl_collection *table = NULL;
    int32_t *number;
    const char **strings = rbli_calloc(w->ctx, w->count + 1, sizeof *strings);
    RBL_TRY_ALLOC(strings);
    RBL_TRY(rbli_collection_create_empty_asset(w->ctx, &table));
    RBL_TRY(rbli_collection_resize(w->ctx, table, "element", w->count));
    RBL_TRY(rbli_collection_write(w->ctx, table, "element", "index", RBL_INT32, (void **)&number));
    for (size_t i = 0; i < w->count; i++) {
        number[i] = (int32_t)i;
        strings[i] = w->elements[i].name;
    }
    RBL_TRY(add_strings(w, table, "name", strings));
    for (size_t i = 0; i < w->body->output_count; i++)
        RBL_TRY(add_column(w, table, i, strings));
    rbl_call_set_output_collection(w->call, "table", table);
    table = NULL;
done:
    rbli_collection_release(table);
    rbli_free(w->ctx, strings);
    return status;
}

/* ---- What "set" may say ---- */

/// Checks a number against the bounds that the graph declares for its input.
static rbl_status check_number(
    rbl_context *ctx, rbl_call *call, const rbl_param *param, const rbl_param_desc *desc, double number)
{
    bool whole = desc->type == RBL_PARAM_INT || desc->type == RBL_PARAM_SEED || desc->type == RBL_PARAM_INT3;
    if (whole && (number < -9e15 || number > 9e15 || number != (double)(int64_t)number))
        return rbl_call_fail(
            ctx, call, param, RBL_ERR_ARGUMENT, "input \"%s\" is an integer, not %.17g", desc->name, number);
    if (desc->type == RBL_PARAM_SEED && (number < 0 || number > 4294967295.0))
        return rbl_call_fail(ctx, call, param, RBL_ERR_ARGUMENT,
            "input \"%s\" is a seed from 0 to 4294967295, not %.17g", desc->name, number);
    if ((desc->min != 0 || desc->max != 0) && number < desc->min)
        return rbl_call_fail(ctx, call, param, RBL_ERR_ARGUMENT,
            "input \"%s\" is %.15g; the smallest allowed value is %.15g", desc->name, number, desc->min);
    if ((desc->min != 0 || desc->max != 0) && number > desc->max)
        return rbl_call_fail(ctx, call, param, RBL_ERR_ARGUMENT,
            "input \"%s\" is %.15g; the largest allowed value is %.15g", desc->name, number, desc->max);
    return RBL_OK;
}

static rbl_status check_text(
    rbl_context *ctx, rbl_call *call, const rbl_param *param, const rbl_param_desc *desc)
{
    const char *text = rbl_param_string(param);
    bool known = desc->type != RBL_PARAM_ENUM || !desc->words;
    for (size_t i = 0; !known && desc->words[i]; i++)
        known = strcmp(desc->words[i], text) == 0;
    return known ? RBL_OK
                 : rbl_call_fail(ctx, call, param, RBL_ERR_ARGUMENT, "input \"%s\" must not be \"%s\"",
                       desc->name, text);
}

/// One entry of "set"; the name was looked at when the graph was loaded.
static rbl_status check_item(
    rbl_context *ctx, rbl_call *call, const rbl_param *item, const rbl_param_desc *desc)
{
    static const char *const fields[] = {"number", "text", "vector"};
    const rbl_param *given = NULL;
    size_t count = 0, which = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const rbl_param *field = rbl_param_field(item, fields[i]);
        if (rbli_param_is_open(item, fields[i])) return RBL_OK; /* a connection will tell */
        if (!field) continue;
        given = field;
        which = i;
        count++;
    }
    bool is_text =
        desc->type == RBL_PARAM_STRING || desc->type == RBL_PARAM_PATH || desc->type == RBL_PARAM_ENUM;
    bool is_vector = desc->type == RBL_PARAM_VEC3 || desc->type == RBL_PARAM_INT3;
    size_t wanted = is_text ? 1 : is_vector ? 2 : 0;
    if (count != 1 || which != wanted)
        return rbl_call_fail(ctx, call, count == 1 ? given : item, RBL_ERR_ARGUMENT,
            "input \"%s\" is of type %s: give \"%s\"", desc->name, rbli_param_type_word(desc->type),
            fields[wanted]);
    double vector[3] = {0, 0, 0};
    if (is_text) return check_text(ctx, call, given, desc);
    if (!is_vector) return check_number(ctx, call, given, desc, rbl_param_float(given));
    rbl_param_vec3(given, vector);
    rbl_status status = RBL_OK;
    for (size_t k = 0; k < 3 && status == RBL_OK; k++)
        status = check_number(ctx, call, given, desc, vector[k]);
    return status;
}

static rbl_status check_set(rbl_context *ctx, rbl_call *call, const rbl_graph *body)
{
    const rbl_param *set = rbl_call_param(call, "set");
    rbl_status first = RBL_OK;
    for (size_t i = 0; i < rbl_param_count(set); i++) {
        const rbl_param *item = rbl_param_at(set, i), *name = rbl_param_field(item, "name");
        const rbl_param_desc *desc = body->nodes[body->inputs].type->desc->params;
        rbl_status status = RBL_OK;
        if (!name) continue;
        while (desc->name && strcmp(desc->name, rbl_param_string(name)) != 0)
            desc++;
        for (size_t k = 0; k < i && status == RBL_OK; k++) {
            const rbl_param *before = rbl_param_field(rbl_param_at(set, k), "name");
            if (before && strcmp(rbl_param_string(before), rbl_param_string(name)) == 0)
                status = rbl_call_fail(
                    ctx, call, name, RBL_ERR_ARGUMENT, "input \"%s\" is set twice", rbl_param_string(name));
        }
        if (status == RBL_OK && desc->name) status = check_item(ctx, call, item, desc);
        if (first == RBL_OK) first = status;
    }
    return first;
}

static rbl_status check(rbl_context *ctx, rbl_call *call)
{
    const rbl_graph *body = call->node->body;
    if (!body || body->inputs == UINT32_MAX || !body->nodes[body->inputs].type) return RBL_OK;
    rbl_status status = check_set(ctx, call, body);
    const rbl_param *what = rbl_call_param(call, "over"), *files = rbl_call_param(call, "files");
    rbl_status second = RBL_OK;
    if (what && rbl_param_int(what) == OVER_BONES && rbl_call_input_count(call, "collection") == 0)
        second = rbl_call_fail(ctx, call, NULL, RBL_ERR_ARGUMENT,
            "it goes over bones, but its input \"collection\" is not connected");
    if (what && rbl_param_int(what) == OVER_FILES && files && !*rbl_param_string(files))
        second = rbl_call_fail(ctx, call, what, RBL_ERR_ARGUMENT,
            "it goes over files, but \"files\" holds no pattern like \"meshes/*.obj\"");
    return status != RBL_OK ? status : second;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    work w = {.ctx = ctx, .call = call, .body = call->node->body};
    rbl_value *count = NULL;
    if (!w.body || w.body->inputs == UINT32_MAX)
        return rbli_fail(ctx, RBL_ERR_GRAPH, "there is no graph to run");
    w.inputs = w.body->nodes[w.body->inputs].type->desc->outputs;
    w.over = (over)rbl_param_int(rbl_call_param(call, "over"));
    RBL_TRY(check_set(ctx, call, w.body));
    RBL_TRY(list_elements(&w));
    call->elements = w.count;
    RBL_TRY_ALLOC(w.outputs = rbli_calloc(ctx, w.count * w.body->output_count + 1, sizeof *w.outputs));
    RBL_TRY(run_elements(&w));
    if (call->is_dry && call->elements_ran) goto done; /* what comes out is not known */
    RBL_TRY(collect_collections(&w));
    RBL_TRY(collect_points(&w));
    RBL_TRY(collect_table(&w));
    RBL_TRY(rbl_value_create_number(ctx, RBL_VALUE_INT, (double)w.count, &count));
    rbl_call_set_output(call, "count", count);
done:
    for (size_t i = 0; w.runs && i < w.count; i++)
        forget_element(&w, i);
    rbli_free(ctx, w.runs);
    for (size_t i = 0; w.outputs && i < w.count * w.body->output_count; i++)
        rbl_value_release(w.outputs[i]);
    for (size_t i = 0; w.elements && i < w.count; i++) {
        rbli_free(ctx, w.elements[i].file);
        rbli_free(ctx, w.elements[i].name);
    }
    rbli_free(ctx, w.elements);
    rbli_free(ctx, w.outputs);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection",
        .kind = RBL_VALUE_COLLECTION,
        .optional = true,
        .text = "over bones: whose bones; else handed on to the graph"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "over bones: which bones (default: all pieces); else handed on"},
    {.name = "points", .kind = RBL_VALUE_POINTS, .optional = true, .text = "handed on to the graph"},
    {.name = "box", .kind = RBL_VALUE_BOX, .optional = true, .text = "handed on to the graph"},
    {0},
};

static const rbl_port_desc outputs[] = {
    {.name = "collection",
        .kind = RBL_VALUE_COLLECTION,
        .text = "what the graph's output of kind collection gave, merged in order"},
    {.name = "points",
        .kind = RBL_VALUE_POINTS,
        .text = "what its output of kind points gave, one after another"},
    {.name = "table",
        .kind = RBL_VALUE_COLLECTION,
        .text = "group `element`: index, name and what its numbers and texts gave"},
    {.name = "count", .kind = RBL_VALUE_INT, .text = "number of elements"},
    {0},
};

static const char *const over_words[] = {"bones", "files", "count", NULL};

static const rbl_param_desc set_fields[] = {
    {.name = "name", .type = RBL_PARAM_STRING, .text = "an input of the graph"},
    {.name = "number",
        .type = RBL_PARAM_FLOAT,
        .optional = true,
        .text = "its value, when it is a number (bool: 0 or 1)"},
    {.name = "text", .type = RBL_PARAM_STRING, .optional = true, .text = "its value, when it is a text"},
    {.name = "vector",
        .type = RBL_PARAM_VEC3,
        .optional = true,
        .text = "its value, when it is a vec3 or int3"},
    {0},
};

static const rbl_param_desc params[] = {
    {.name = "graph",
        .type = RBL_PARAM_STRING,
        .text = "the graph to run: a name under `graphs`, or \"file.json#name\""},
    {.name = "over",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"bones\"",
        .words = over_words,
        .text = "what it is run for"},
    {.name = "count",
        .type = RBL_PARAM_INT,
        .default_json = "1",
        .min = 0,
        .max = 100000,
        .text = "over count: how often"},
    {.name = "files",
        .type = RBL_PARAM_STRING,
        .default_json = "\"\"",
        .text = "over files: a pattern like \"meshes/*.obj\", relative to the graph file; in order of their "
                "names"},
    {.name = "set",
        .type = RBL_PARAM_OBJECT,
        .list = true,
        .default_json = "[]",
        .fields = set_fields,
        .text = "values of further inputs of the graph, the same for all elements"},
    {.name = "root",
        .type = RBL_PARAM_STRING,
        .default_json = "\"each\"",
        .text = "name of the new root above the collected pieces; \"\": none"},
    {0},
};

const rbl_node_desc rbli_node_for_each = {
    .size = sizeof(rbl_node_desc),
    .type = "ForEach",
    .version = 1,
    .revision = 1,
    .family = "flow",
    .text = "Runs a graph for each bone, each file, or a number of times",
    .details =
        "The graph's inputs are given by name: `collection` (over bones: the bone with all below it, as a "
        "collection of its own), `index`, `count`, `bone`, `name`, `file`, what is connected to this node, "
        "and "
        "what `set` says; others take their defaults.\n\n"
        "What comes out is collected in the order of the elements: one output of kind collection is merged "
        "as MergeCollections does, one of kind points is appended, numbers and texts become columns of "
        "`table`. Elements run at the same time on the engine's threads. The nodes of the graph are cached "
        "one by one: after a change only elements that it reaches "
        "run again. Nodes that write files cannot stand in the graph.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .check = check,
    .evaluate = evaluate,
    .flags = RBL_NODE_RUNS_GRAPH,
};
