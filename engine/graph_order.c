/// The order of a graph's nodes, and cycles.

#include "engine/loader.h"

#include <string.h>

/// Reports the cycle that `node` is on, of nodes that `left` of their inputs wait for; marks them.
static void tell_cycle(rbli_loader *l, uint32_t first, const uint32_t *left, uint32_t *mark, uint32_t round)
{
    rbl_graph *graph = l->graph;
    uint32_t node = first;
    const rbli_port_ref *edge = NULL;
    while (!mark[node]) {
        mark[node] = round;
        edge = NULL;
        for (uint32_t i = 0; i < graph->nodes[node].ref_count && !edge; i++)
            if (left[graph->nodes[node].refs[i].node]) edge = &graph->nodes[node].refs[i];
        if (!edge) return;
        node = edge->node;
    }
    if (mark[node] != round) return; /* leads to one that was reported */
    /* From `node` against the connections back to it; printed in the direction of the values. */
    RBLI_ARRAY(uint32_t) path = {0};
    uint32_t walk = node;
    do {
        if (rbli_array_push(&l->engine->base, &path, walk) != RBL_OK) {
            l->out_of_memory = true;
            break;
        }
        for (uint32_t i = 0; i < graph->nodes[walk].ref_count; i++)
            if (left[graph->nodes[walk].refs[i].node]) {
                edge = &graph->nodes[walk].refs[i];
                break;
            }
        walk = edge->node;
    } while (walk != node);
    rbli_text text;
    rbli_text_init(&text, l->allocator);
    rbli_text_printf(&text, path.count == 1 ? "the node needs itself: %s" : "the nodes form a cycle: %s",
        graph->nodes[node].id);
    for (size_t i = path.count, written = 0; i-- > 0; written++) {
        if (written == 20 && i > 2) {
            rbli_text_printf(&text, " → … %zu more …", i);
            i = 1;
        }
        rbli_text_printf(&text, " → %s", graph->nodes[path.data[i]].id);
    }
    const rbli_port_ref *back = NULL;
    for (uint32_t i = 0; i < graph->nodes[node].ref_count && !back; i++)
        if (left[graph->nodes[node].refs[i].node]) back = &graph->nodes[node].refs[i];
    rbli_place place = {graph->nodes[node].document->source,
        back ? back->offset : graph->nodes[node].id_offset, graph->nodes[node].id,
        graph->nodes[node].pointer};
    rbli_text pointer;
    rbli_text_init(&pointer, l->allocator);
    const rbli_json *json = graph->nodes[node].document->json;
    for (uint32_t v = 0; back && v < json->count && !pointer.length; v++)
        if (json->values[v].offset == back->offset) rbli_json_pointer(json, v, &pointer);
    if (pointer.length) place.pointer = pointer.data;
    rbli_message_add(l->messages, RBL_ERROR, RBL_ERR_GRAPH, &place, NULL, text.data ? text.data : "a cycle");
    l->failed = true;
    rbli_text_free(&pointer);
    rbli_text_free(&text);
    rbli_allocator_free(l->allocator, path.data);
}

/// Sorts the nodes so that each comes behind those that it needs (Kahn 1962).
void rbli_sort_nodes(rbli_loader *l)
{
    rbl_graph *graph = l->graph;
    size_t count = graph->node_count, edge_count = 0;
    for (size_t i = 0; i < count; i++)
        edge_count += graph->nodes[i].ref_count;
    graph->order = rbli_allocator_calloc(l->allocator, count + 1, sizeof *graph->order);
    uint32_t *left = rbli_allocator_calloc(l->allocator, count, sizeof *left);
    uint32_t *mark = rbli_allocator_calloc(l->allocator, count, sizeof *mark);
    uint32_t *start = rbli_allocator_calloc(l->allocator, count + 2, sizeof *start);
    uint32_t *users = rbli_allocator_calloc(l->allocator, edge_count, sizeof *users);
    if (!graph->order || !left || !mark || !start || !users) {
        l->out_of_memory = true;
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < graph->nodes[i].ref_count; k++)
            start[graph->nodes[i].refs[k].node + 2]++;
    for (size_t i = 0; i < count; i++)
        start[i + 2] += start[i + 1];
    for (size_t i = 0; i < count; i++) {
        left[i] = graph->nodes[i].ref_count;
        for (uint32_t k = 0; k < graph->nodes[i].ref_count; k++)
            users[start[graph->nodes[i].refs[k].node + 1]++] = (uint32_t)i;
    }
    size_t sorted = 0;
    for (size_t i = 0; i < count; i++)
        if (left[i] == 0) graph->order[sorted++] = (uint32_t)i;
    for (size_t next = 0; next < sorted; next++) {
        uint32_t node = graph->order[next];
        for (uint32_t k = start[node]; k < start[node + 1]; k++)
            if (--left[users[k]] == 0) graph->order[sorted++] = users[k];
    }
    uint32_t round = 0;
    for (size_t i = 0; i < count && sorted < count && round < RBLI_MOST_CYCLES; i++)
        if (left[i] && !mark[i]) tell_cycle(l, (uint32_t)i, left, mark, ++round);
done:
    rbli_allocator_free(l->allocator, left);
    rbli_allocator_free(l->allocator, mark);
    rbli_allocator_free(l->allocator, start);
    rbli_allocator_free(l->allocator, users);
}
