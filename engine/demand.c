/// Which nodes an evaluation needs. A node that chooses (rbl_node_desc.choose) does without some of what is
/// connected to it once the parameter that decides is known; what nobody else asks for then does not run.
/// So nodes are run in rounds: what is needed for sure; when that has told the choices, what they need.
///
/// The node "inputs" of a graph within the graph hands on only what is asked of it: it chooses, too.

#include "engine/evaluation.h"

#include <stdio.h>
#include <string.h>

struct rbli_demand {
    bool *wanted;          /* [node_count] by graph index, as are all */
    bool *blocked;         /* a choice above it is not known yet */
    bool *done;            /* was run, or skipped */
    bool *decided;         /* a node that chooses has chosen */
    bool *asked;           /* of the nodes "inputs": outputs that are wanted */
    size_t *asked_start;   /* [node_count + 1] into asked */
    bool counted;          /* what is not needed counts as done, for progress */
    uint32_t *unwanted_by; /* the node that chose against it, UINT32_MAX: none */
};

static bool passes(const rbli_graph_node *node)
{
    return node->type->desc->flags & RBLI_NODE_PASSES;
}

static bool is_root(const rbli_evaluation *e, const bool *followed, uint32_t node, size_t only)
{
    if (only != SIZE_MAX) return node == only;
    if (!followed[node]) return true;
    for (size_t i = 0; i < e->graph->output_count; i++)
        if (e->graph->outputs[i].ref.node == node) return true;
    return false;
}

/* ---- Choices ---- */

void rbl_call_skip_input(rbl_call *call, const char *port)
{
    size_t index = rbli_find_port(call->node->type->desc->inputs, port);
    if (index == SIZE_MAX || !call->skips) return;
    for (uint32_t i = call->node->input_start[index]; i < call->node->input_start[index + 1]; i++)
        call->skips[i] = true;
}

static void set_param_skips(const rbli_graph_node *node, const rbl_param *param, bool *skips, bool skip)
{
    if (param->from >= 0) skips[node->input_start[node->type->input_count] + (uint32_t)param->from] = skip;
    for (size_t i = 0; i < param->count; i++)
        set_param_skips(node, &param->items[i], skips, skip);
}

void rbl_call_skip_param(rbl_call *call, const rbl_param *param)
{
    if (param && call->skips) set_param_skips(call->node, param, call->skips, true);
}

/// A parameter of the root object, also one that is not known yet.
static const rbl_param *find_param(const rbli_params *params, const char *name)
{
    const rbl_param *root = rbli_params_root(params);
    for (size_t i = 0; i < root->count; i++)
        if (strcmp(root->items[i].desc->name, name) == 0) return &root->items[i];
    return NULL;
}

typedef enum decision { DECISION_LATER, DECISION_MADE, DECISION_NONE } decision;

/// Lets a node choose with the value that its deciding parameter has. `from`: what is connected to that, or
/// NULL.
static rbl_status choose(rbli_evaluation *e, uint32_t index, const rbl_param *choice, rbl_value *from)
{
    const rbli_graph_node *node = &e->graph->nodes[index];
    const rbli_params *params = e->params[index];
    rbli_params *own = NULL;
    rbl_context ctx = e->engine->base;
    rbl_status status = RBL_OK;
    const rbl_value **values = rbli_calloc(&ctx, node->ref_count + 1, sizeof *values);
    RBL_TRY_ALLOC(values);
    if (from) {
        values[choice->from] = from;
        /* What does not fit is reported when the node is run. */
        rbli_param_scope scope = {
            .allocator = ctx.allocator, .folder = "", .pointer = "", .node_offset = SIZE_MAX};
        RBL_TRY(rbli_params_with_connections(&scope, params, values, &own));
        params = own;
    }
    rbl_call call = {.ctx = &ctx, .node = node, .params = params, .evaluation = e, .skips = e->skips[index]};
    node->type->desc->choose(&call);
done:
    rbli_params_release(own);
    rbli_free(&ctx, values);
    return status;
}

/// The value at a connection when it is known before anything has run: a parameter that went into a graph
/// within the graph. *out stays NULL when it is not. Released by the caller.
static rbl_status find_static_value(rbli_evaluation *e, const rbli_port_ref *ref, rbl_value **out)
{
    rbl_context ctx = e->engine->base;
    for (const rbli_graph_node *node = &e->graph->nodes[ref->node]; passes(node);
         node = &e->graph->nodes[ref->node]) {
        rbl_value *given = e->given && ref->node == e->graph->inputs ? e->given[ref->port] : NULL;
        if (given) {
            *out = rbl_value_retain(given);
            return RBL_OK;
        }
        const rbl_param *param = find_param(e->params[ref->node], node->type->desc->outputs[ref->port].name);
        if (!param || (param->absent && param->from < 0)) return RBL_OK;
        if (param->from < 0) return rbli_param_value(&ctx, param, out);
        ref = &node->refs[node->input_start[node->type->input_count] + (uint32_t)param->from];
    }
    return RBL_OK;
}

/// Sets e->skips[index] of a node that chooses.
static rbl_status decide(rbli_evaluation *e, rbli_demand *d, uint32_t index, decision *out)
{
    const rbli_graph_node *node = &e->graph->nodes[index];
    const rbl_param *choice = find_param(e->params[index], node->type->desc->choice);
    *out = DECISION_NONE;
    if (!choice || (choice->absent && choice->from < 0)) return RBL_OK;
    rbl_value *value = NULL;
    const rbli_port_ref *ref = NULL;
    if (choice->from >= 0) {
        ref = &node->refs[node->input_start[node->type->input_count] + (uint32_t)choice->from];
        rbl_status status = find_static_value(e, ref, &value);
        if (status != RBL_OK) return status;
        if (!value && !d->done[ref->node]) {
            *out = DECISION_LATER;
            return RBL_OK;
        }
        const rbli_run_node *source = &e->run->nodes[e->run_index[ref->node]];
        if (!value && source->result) value = rbl_value_retain(source->result->outputs[ref->port]);
        if (!value && e->dry) return RBL_OK; /* either side may be needed */
    }
    e->skips[index] = rbli_allocator_calloc(e->engine->allocator, node->ref_count + 1, sizeof(bool));
    *out = DECISION_MADE;
    if (!e->skips[index] || !ref || value) {
        rbl_status status = e->skips[index] ? choose(e, index, choice, value) : RBL_ERR_NO_MEMORY;
        rbl_value_release(value);
        return status;
    }
    /* What should decide failed, so this node will be skipped: it needs nothing else. */
    for (uint32_t i = 0; i < node->ref_count; i++)
        e->skips[index][i] = &node->refs[i] != ref;
    return RBL_OK;
}

/* ---- Demand ---- */

static void ask(rbli_demand *d, const rbli_graph_node *nodes, const rbli_port_ref *ref)
{
    d->wanted[ref->node] = true;
    if (!passes(&nodes[ref->node])) return;
    bool *asked = &d->asked[d->asked_start[ref->node] + ref->port];
    if (!*asked) d->done[ref->node] = false; /* it hands on more than before */
    *asked = true;
}

/// What a node "inputs" needs for what is asked of it.
static void ask_of_inputs(rbli_evaluation *e, rbli_demand *d, uint32_t index)
{
    const rbli_graph_node *node = &e->graph->nodes[index];
    const rbl_node_desc *desc = node->type->desc;
    bool *skips = e->skips[index];
    memset(skips, true, node->ref_count);
    for (size_t i = 0; i < node->type->output_count; i++) {
        if (!d->asked[d->asked_start[index] + i]) continue;
        size_t port = rbli_find_port(desc->inputs, desc->outputs[i].name);
        const rbl_param *param =
            port == SIZE_MAX ? find_param(e->params[index], desc->outputs[i].name) : NULL;
        if (param) set_param_skips(node, param, skips, false);
        for (uint32_t k = port == SIZE_MAX ? 0 : node->input_start[port];
             port != SIZE_MAX && k < node->input_start[port + 1]; k++)
            skips[k] = false;
    }
}

static rbl_status ask_all(rbli_evaluation *e, rbli_demand *d, uint32_t index, bool *pending)
{
    const rbli_graph_node *node = &e->graph->nodes[index];
    d->blocked[index] = false;
    if (passes(node) && node->ref_count && e->skips[index]) ask_of_inputs(e, d, index);
    if (node->type->desc->choose && !d->decided[index]) {
        decision made;
        rbl_status status = decide(e, d, index, &made);
        if (status != RBL_OK) return status;
        d->decided[index] = made != DECISION_LATER;
        d->blocked[index] = made == DECISION_LATER;
    }
    const rbl_param *choice = NULL;
    if (d->blocked[index]) {
        *pending = true;
        choice = find_param(e->params[index], node->type->desc->choice);
    }
    uint32_t first = node->input_start[node->type->input_count];
    for (uint32_t i = 0; i < node->ref_count; i++) {
        bool other = choice && i != first + (uint32_t)choice->from;
        if (other) continue;
        if (!e->skips[index] || !e->skips[index][i])
            ask(d, e->graph->nodes, &node->refs[i]);
        else if (d->unwanted_by[node->refs[i].node] == UINT32_MAX)
            d->unwanted_by[node->refs[i].node] = passes(node) ? d->unwanted_by[index] : index;
    }
    return RBL_OK;
}

/// Once all choices are made: what is not needed is done as far as progress goes. No node is under way.
static void count_unneeded(rbli_evaluation *e, rbli_demand *d)
{
    for (uint32_t i = 0; i < e->needed_count && !d->counted; i++) {
        if (d->wanted[e->graph_index[i]]) continue;
        atomic_store_explicit(&e->progress.fractions[i], 1, memory_order_relaxed);
        e->done_cost += e->progress.costs[i];
    }
    d->counted = true;
}

rbl_status rbli_demand_next(rbli_evaluation *e, rbli_demand *d, bool *run, size_t *count)
{
    const rbl_graph *graph = e->graph;
    bool pending = false;
    *count = 0;
    for (size_t i = graph->node_count; i-- > 0;) {
        uint32_t index = graph->order[i];
        if (!d->wanted[index]) continue;
        rbl_status status = ask_all(e, d, index, &pending);
        if (status != RBL_OK) return status;
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        uint32_t index = graph->order[i];
        const rbli_graph_node *node = &graph->nodes[index];
        for (uint32_t k = 0; k < node->ref_count && !d->blocked[index]; k++)
            if (!e->skips[index] || !e->skips[index][k]) d->blocked[index] = d->blocked[node->refs[k].node];
        bool now = d->wanted[index] && !d->done[index] && !d->blocked[index];
        run[e->run_index[index]] = now;
        if (!now) continue;
        d->done[index] = true;
        ++*count;
    }
    if (!pending) count_unneeded(e, d);
    return RBL_OK;
}

/// Nodes that only what is not needed leads to are not needed for the same reason.
static void spread_reasons(const rbl_graph *graph, rbli_demand *d)
{
    for (size_t i = graph->node_count; i-- > 0;) {
        const rbli_graph_node *node = &graph->nodes[graph->order[i]];
        uint32_t by = d->unwanted_by[graph->order[i]];
        for (uint32_t k = 0; k < node->ref_count && !d->wanted[graph->order[i]]; k++)
            if (d->unwanted_by[node->refs[k].node] == UINT32_MAX) d->unwanted_by[node->refs[k].node] = by;
    }
}

void rbli_demand_end(rbli_evaluation *e, rbli_demand *d)
{
    spread_reasons(e->graph, d);
    for (uint32_t i = 0; i < e->needed_count; i++) {
        uint32_t index = e->graph_index[i];
        if (d->wanted[index]) continue;
        rbli_run_node *entry = &e->run->nodes[i];
        char reason[200] = "nothing that runs needs it";
        uint32_t by = d->unwanted_by[index];
        if (by != UINT32_MAX)
            snprintf(reason, sizeof reason, "\"%s\" does without it", e->graph->nodes[by].id);
        entry->report.outcome = RBL_OUTCOME_NOT_NEEDED;
        rbli_evaluation_set_reason(e, entry, reason);
        e->blame[i] = i;
    }
}

rbl_status rbli_demand_create(rbli_evaluation *e, size_t only, rbli_demand **out)
{
    const rbl_graph *graph = e->graph;
    rbli_allocator *allocator = e->engine->allocator;
    size_t count = graph->node_count, asked = 0;
    rbl_status status = RBL_OK;
    bool *followed = rbli_allocator_calloc(allocator, count + 1, sizeof *followed);
    rbli_demand *d = rbli_allocator_calloc(allocator, 1, sizeof *d);
    RBL_TRY_ALLOC(followed);
    RBL_TRY_ALLOC(d);
    d->wanted = rbli_allocator_calloc(allocator, count + 1, sizeof *d->wanted);
    d->blocked = rbli_allocator_calloc(allocator, count + 1, sizeof *d->blocked);
    d->done = rbli_allocator_calloc(allocator, count + 1, sizeof *d->done);
    d->decided = rbli_allocator_calloc(allocator, count + 1, sizeof *d->decided);
    d->unwanted_by = rbli_allocator_calloc(allocator, count + 1, sizeof *d->unwanted_by);
    d->asked_start = rbli_allocator_calloc(allocator, count + 1, sizeof *d->asked_start);
    bool good = d->wanted && d->blocked && d->done && d->decided && d->unwanted_by && d->asked_start;
    if (!good) RBL_TRY(RBL_ERR_NO_MEMORY);
    for (size_t i = 0; i < count; i++) {
        const rbli_graph_node *node = &graph->nodes[i];
        d->unwanted_by[i] = UINT32_MAX;
        d->asked_start[i] = asked;
        if (passes(node)) asked += node->type->output_count;
        for (uint32_t k = 0; k < node->ref_count; k++)
            followed[node->refs[k].node] = true;
    }
    d->asked_start[count] = asked;
    RBL_TRY_ALLOC(d->asked = rbli_allocator_calloc(allocator, asked + 1, sizeof *d->asked));
    for (uint32_t i = 0; i < count; i++) {
        d->wanted[i] = e->ends[i] = is_root(e, followed, i, only);
        if (!passes(&graph->nodes[i])) continue;
        if (d->wanted[i]) /* asked for itself: all of it */
            memset(&d->asked[d->asked_start[i]], true, graph->nodes[i].type->output_count);
        e->skips[i] = rbli_allocator_calloc(allocator, graph->nodes[i].ref_count + 1, sizeof(bool));
        RBL_TRY_ALLOC(e->skips[i]);
    }
    *out = d;
    d = NULL;
done:
    rbli_demand_destroy(e, d);
    rbli_allocator_free(allocator, followed);
    return status;
}

void rbli_demand_destroy(rbli_evaluation *e, rbli_demand *d)
{
    if (!d) return;
    rbli_allocator *allocator = e->engine->allocator;
    rbli_allocator_free(allocator, d->wanted);
    rbli_allocator_free(allocator, d->blocked);
    rbli_allocator_free(allocator, d->done);
    rbli_allocator_free(allocator, d->decided);
    rbli_allocator_free(allocator, d->asked);
    rbli_allocator_free(allocator, d->asked_start);
    rbli_allocator_free(allocator, d->unwanted_by);
    rbli_allocator_free(allocator, d);
}
