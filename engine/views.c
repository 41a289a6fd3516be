/// Collections from outside, without copies.

#include "engine/engine.h"

#include "fracture/collection/collection.h"

size_t rbl_collection_group_count(const rbl_collection *collection)
{
    return rbli_collection_group_count(collection);
}

const char *rbl_collection_group_name(const rbl_collection *collection, size_t group)
{
    return group < rbli_collection_group_count(collection) ? rbli_collection_group_name(collection, group)
                                                           : NULL;
}

size_t rbl_collection_group_size(const rbl_collection *collection, const char *group)
{
    return rbli_collection_size(collection, group);
}

size_t rbl_collection_attribute_count(const rbl_collection *collection, const char *group)
{
    return rbli_collection_has_group(collection, group) ? rbli_collection_attribute_count(collection, group)
                                                        : 0;
}

const char *rbl_collection_attribute_name(const rbl_collection *collection, const char *group, size_t index)
{
    if (index >= rbl_collection_attribute_count(collection, group)) return NULL;
    return rbli_collection_attribute_name(collection, group, index);
}

rbl_status rbl_collection_attribute(
    const rbl_collection *collection, const char *group, const char *name, rbl_attribute_view *view)
{
    const rbli_buffer *buffer = rbli_collection_buffer(collection, group, name);
    if (!buffer) return RBL_ERR_NOT_FOUND;
    *view = (rbl_attribute_view){.type = rbli_buffer_type(buffer),
        .is_list = rbli_buffer_is_list(buffer),
        .count = rbli_buffer_count(buffer),
        .data = rbli_buffer_data(buffer),
        .stride = rbl_type_bytes(rbli_buffer_type(buffer)),
        .offsets = rbli_buffer_offsets(buffer)};
    return RBL_OK;
}

const char *rbl_collection_string(
    const rbl_collection *collection, const char *group, const char *name, size_t index)
{
    const rbli_buffer *buffer = rbli_collection_buffer(collection, group, name);
    if (!buffer || index >= rbli_buffer_count(buffer)) return "";
    return rbli_collection_string(collection, group, name, index);
}

void rbl_collection_hash_text(const rbl_collection *collection, char text[33])
{
    rbli_hash_to_text(rbli_collection_hash(collection), text);
}

size_t rbl_collection_memory(const rbl_collection *collection)
{
    return rbli_collection_bytes(collection);
}

size_t rbl_graph_connection_count(const rbl_graph *graph, size_t node)
{
    return node < graph->node_count ? graph->nodes[node].ref_count : 0;
}

rbl_status rbl_graph_connection(const rbl_graph *graph, size_t node, size_t index, rbl_connection *connection)
{
    if (index >= rbl_graph_connection_count(graph, node)) return RBL_ERR_NOT_FOUND;
    const rbli_graph_node *to = &graph->nodes[node];
    const rbli_port_ref *ref = &to->refs[index];
    size_t input = 0;
    while (input < to->type->input_count && index >= to->input_start[input + 1])
        input++;
    *connection = (rbl_connection){.from = ref->node,
        .from_port = graph->nodes[ref->node].type->desc->outputs[ref->port].name,
        .to_port = input < to->type->input_count ? to->type->desc->inputs[input].name : NULL};
    return RBL_OK;
}
