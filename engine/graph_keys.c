/// What all parts of loading a graph use: messages about JSON values, keys and what was meant by unknown ones,
/// identifiers.

#include "engine/loader.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void *rbli_loader_alloc(rbli_loader *l, size_t bytes)
{
    void *memory = rbli_arena_alloc(&l->root->strings, bytes, 1);
    if (!memory) l->out_of_memory = true;
    return memory;
}

const char *rbli_loader_join(rbli_loader *l, const char *prefix, const char *text)
{
    size_t a = strlen(prefix), b = strlen(text);
    char *joined = rbli_loader_alloc(l, a + b + 1);
    if (!joined) return NULL;
    memcpy(joined, prefix, a);
    memcpy(joined + a, text, b + 1);
    return joined;
}

void rbli_loader_enter(rbli_loader *l, rbli_document *document)
{
    l->document = document;
    l->json = document->json;
}

void rbli_loader_tell(rbli_loader *l, rbl_severity severity, uint32_t value, uint32_t offset,
    const char *node, const char *hint, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rbli_text pointer;
    rbli_text_init(&pointer, l->allocator);
    rbli_json_pointer(l->json, value, &pointer);
    rbli_place place = {l->document->source, offset, node, pointer.data};
    rbli_message_add(
        l->messages, severity, severity == RBL_ERROR ? RBL_ERR_GRAPH : RBL_OK, &place, hint, text);
    rbli_text_free(&pointer);
    l->failed |= severity == RBL_ERROR;
}

void rbli_loader_tell_type(
    rbli_loader *l, uint32_t value, const char *node, const char *what, const char *wanted)
{
    if (rbli_loader_at(l, value)->type == RBLI_JSON_BAD)
        l->failed = true;
    else
        rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node, NULL,
            "%s must be %s, not %s", what, wanted, rbli_json_type_words(rbli_loader_at(l, value)->type));
}

const char *const rbli_document_keys[] = {"rubble", "vars", "nodes", "graphs", "$schema", NULL};
const char *const rbli_node_keys[] = {"type", "in", "params", NULL};
const char *const rbli_subgraph_keys[] = {"text", "inputs", "nodes", "outputs", NULL};

bool rbli_is_one_of(const char *word, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

/// The allowed key that one that is not allowed stands for; NULL: none comes to mind.
static const char *meant_key(const char *key, const char *const *allowed)
{
    static const char *const others[][2] = {{"variables", "vars"}, {"variable", "vars"},
        {"parameters", "params"}, {"parameter", "params"}, {"args", "params"}, {"inputs", "in"},
        {"input", "in"}, {"connections", "in"}, {"subgraphs", "graphs"}, {"version", "rubble"},
        {"kind", "type"}, {"class", "type"}, {"value", "default"}, {"minimum", "min"}, {"maximum", "max"},
        {"values", "words"}, {"description", "text"}, {"out", "outputs"}, {"in", "inputs"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcasecmp(key, others[i][0]) == 0 && rbli_is_one_of(others[i][1], allowed)) return others[i][1];
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, key);
    for (size_t i = 0; allowed[i]; i++)
        rbli_nearest_feed(&nearest, allowed[i]);
    bool unlike = strlen(key) < 3 && (!nearest.best || strcasecmp(nearest.best, key) != 0);
    return unlike ? NULL : nearest.best;
}

uint32_t rbli_loader_member(const rbli_loader *l, const rbli_json *json, uint32_t object, const char *name,
    const char *const *allowed)
{
    (void)l;
    uint32_t found = rbli_json_member(json, object, name);
    if (found != RBLI_JSON_NONE || json->values[object].type != RBLI_JSON_OBJECT) return found;
    for (uint32_t m = json->values[object].first_child; m != RBLI_JSON_NONE; m = json->values[m].next) {
        const char *key = json->values[m].key;
        const char *meant = rbli_is_one_of(key, allowed) ? NULL : meant_key(key, allowed);
        if (meant && strcmp(meant, name) == 0) return m;
    }
    return RBLI_JSON_NONE;
}

void rbli_loader_tell_key(
    rbli_loader *l, uint32_t m, const char *node, const char *const *allowed, const rbl_node_desc *desc)
{
    const char *key = rbli_loader_at(l, m)->key;
    bool port = desc && rbli_find_port(desc->inputs, key) != SIZE_MAX, param = false;
    for (size_t i = 0; desc && desc->params && desc->params[i].name; i++)
        param |= strcmp(desc->params[i].name, key) == 0;
    const char *meant = meant_key(key, allowed);
    l->failed = true;
    if (l->partial && !port && !param && !meant) return; /* of something else: a bracket is missing */
    rbli_text hint;
    rbli_text_init(&hint, l->allocator);
    if (port)
        rbli_text_printf(&hint, "it is an input: write it into \"in\": {\"%s\": …}\n", key);
    else if (param)
        rbli_text_printf(&hint, "it is a parameter: write it into \"params\": {\"%s\": …}\n", key);
    else if (meant)
        rbli_text_printf(&hint, "did you mean \"%s\"?\n", meant);
    rbli_text_puts(&hint, "allowed: ");
    for (size_t i = 0; allowed[i]; i++)
        rbli_text_printf(&hint, "%s%s", i ? ", " : "", allowed[i]);
    rbli_loader_tell(
        l, RBL_ERROR, m, rbli_loader_at(l, m)->key_offset, node, hint.data, "unknown key \"%s\"", key);
    rbli_text_free(&hint);
}

void rbli_loader_check_keys(rbli_loader *l, uint32_t object, const char *node, const char *const *allowed)
{
    for (uint32_t m = rbli_loader_at(l, object)->first_child; m != RBLI_JSON_NONE;
         m = rbli_loader_at(l, m)->next)
        if (!rbli_is_one_of(rbli_loader_at(l, m)->key, allowed))
            rbli_loader_tell_key(l, m, node, allowed, NULL);
}

bool rbli_fit_identifier(const char *name, char out[RBLI_LONGEST_ID + 1])
{
    size_t length = 0;
    for (const char *c = name; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        bool digit = *c >= '0' && *c <= '9';
        if (length + 2 > RBLI_LONGEST_ID || (unsigned char)*c >= 0x80) return false;
        if (digit && length == 0) out[length++] = '_';
        out[length++] = letter || digit ? *c : '_';
    }
    out[length] = '\0';
    return length > 0;
}

bool rbli_is_identifier(const char *name)
{
    size_t length = 0;
    for (; name[length]; length++) {
        char c = name[length];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(length > 0 && c >= '0' && c <= '9')) return false;
    }
    return length >= 1 && length <= RBLI_LONGEST_ID;
}
