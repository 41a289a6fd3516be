/// The "vars" of a graph file.

#include "engine/loader.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *word;
    rbl_param_type type;
} variable_types[] = {
    {"int", RBL_PARAM_INT},
    {"float", RBL_PARAM_FLOAT},
    {"bool", RBL_PARAM_BOOL},
    {"string", RBL_PARAM_STRING},
    {"path", RBL_PARAM_PATH},
    {"seed", RBL_PARAM_SEED},
    {"enum", RBL_PARAM_ENUM},
    {"vec3", RBL_PARAM_VEC3},
    {"int3", RBL_PARAM_INT3},
};

const char *const rbli_declaration_keys[] = {"type", "default", "min", "max", "words", "text", NULL};

const char *rbli_other_type_word(const char *word)
{
    static const char *const others[][2] = {{"number", "float"}, {"double", "float"}, {"real", "float"},
        {"integer", "int"}, {"boolean", "bool"}, {"text", "string"}, {"str", "string"}, {"file", "path"},
        {"vec2", "vec3"}, {"vec4", "vec3"}, {"vector", "vec3"}, {"point", "vec3"}, {"color", "vec3"},
        {"mesh", "collection"}, {"geometry", "collection"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcasecmp(others[i][0], word) == 0) return others[i][1];
    return NULL;
}

static void read_variable_type(rbli_loader *l, uint32_t object, rbli_variable *variable)
{
    uint32_t type = rbli_loader_member(l, l->json, object, "type", rbli_declaration_keys);
    if (type == RBLI_JSON_NONE) {
        rbli_loader_tell(l, RBL_ERROR, object, rbli_loader_at(l, object)->offset, NULL, NULL,
            "variable \"%s\" has no \"type\"", variable->name);
        return;
    }
    if (rbli_loader_at(l, type)->type != RBLI_JSON_STRING) {
        rbli_loader_tell_type(l, type, NULL, "\"type\"", "a string");
        return;
    }
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, rbli_loader_at(l, type)->string);
    for (size_t i = 0; i < sizeof variable_types / sizeof *variable_types; i++) {
        if (strcmp(variable_types[i].word, rbli_loader_at(l, type)->string) == 0)
            variable->desc.type = variable_types[i].type;
        rbli_nearest_feed(&nearest, variable_types[i].word);
    }
    if (variable->desc.type) return;
    char hint[160];
    const char *best = rbli_other_type_word(rbli_loader_at(l, type)->string);
    if (!best) best = nearest.best;
    snprintf(hint, sizeof hint, "%s%s%sallowed: int, float, bool, string, path, seed, enum, vec3, int3",
        best ? "did you mean \"" : "", best ? best : "", best ? "\"?\n" : "");
    rbli_loader_tell(l, RBL_ERROR, type, rbli_loader_at(l, type)->offset, NULL, hint,
        "unknown type \"%s\" of a variable", rbli_loader_at(l, type)->string);
}

static void read_variable_bounds(rbli_loader *l, uint32_t object, rbli_variable *variable)
{
    rbl_param_type type = variable->desc.type;
    bool number = type == RBL_PARAM_INT || type == RBL_PARAM_FLOAT || type == RBL_PARAM_SEED ||
                  type == RBL_PARAM_VEC3 || type == RBL_PARAM_INT3;
    const char *names[2] = {"min", "max"};
    double bounds[2] = {-1.7976931348623157e308, 1.7976931348623157e308};
    uint32_t place = object; /* of "min", else of "max", perhaps misspelt */
    bool any = false;
    for (size_t i = 0; i < 2; i++) {
        uint32_t bound = rbli_loader_member(l, l->json, object, names[i], rbli_declaration_keys);
        if (bound == RBLI_JSON_NONE) continue;
        if (!number && type)
            rbli_loader_tell(l, RBL_ERROR, bound, rbli_loader_at(l, bound)->key_offset, NULL, NULL,
                "a variable of type %s has no \"%s\"", rbli_param_type_word(type), names[i]);
        else if (rbli_loader_at(l, bound)->type != RBLI_JSON_NUMBER)
            rbli_loader_tell_type(l, bound, NULL, i ? "\"max\"" : "\"min\"", "a number");
        else
            bounds[i] = rbli_loader_at(l, bound)->number;
        if (i == 0 || place == object) place = bound;
        any = true;
    }
    if (bounds[0] > bounds[1]) {
        rbli_loader_tell(
            l, RBL_ERROR, place, rbli_loader_at(l, place)->offset, NULL, NULL, "\"min\" is above \"max\"");
        any = false;
    }
    if (!any) return;
    variable->desc.min = bounds[0];
    variable->desc.max = bounds[1];
    /* "min": 0, "max": 0 means that bound; two zeros in a descriptor mean none. */
    if (bounds[0] == 0 && bounds[1] == 0) variable->desc.max = 5e-324;
}

static void read_variable_words(rbli_loader *l, uint32_t object, rbli_variable *variable)
{
    uint32_t words = rbli_json_member(l->json, object, "words");
    if (variable->desc.type != RBL_PARAM_ENUM) {
        if (words != RBLI_JSON_NONE && variable->desc.type)
            rbli_loader_tell(l, RBL_ERROR, words, rbli_loader_at(l, words)->key_offset, NULL, NULL,
                "only an enum has \"words\"");
        return;
    }
    bool good = words != RBLI_JSON_NONE && rbli_loader_at(l, words)->type == RBLI_JSON_ARRAY &&
                rbli_loader_at(l, words)->child_count > 0;
    for (uint32_t w = good ? rbli_loader_at(l, words)->first_child : RBLI_JSON_NONE; w != RBLI_JSON_NONE;
         w = rbli_loader_at(l, w)->next)
        good = good && rbli_loader_at(l, w)->type == RBLI_JSON_STRING;
    if (!good) {
        uint32_t where = words != RBLI_JSON_NONE ? words : object;
        rbli_loader_tell(l, RBL_ERROR, where, rbli_loader_at(l, where)->offset, NULL, NULL,
            "an enum needs \"words\": a list of the words that it may be");
        variable->desc.type = 0;
        return;
    }
    size_t most = rbli_loader_at(l, words)->child_count + 1;
    const char **list = rbli_arena_alloc(&l->root->strings, most, sizeof *list);
    if (!list) {
        l->out_of_memory = true;
        variable->desc.type = 0;
        return;
    }
    size_t count = 0;
    for (uint32_t w = rbli_loader_at(l, words)->first_child; w != RBLI_JSON_NONE;
         w = rbli_loader_at(l, w)->next)
        list[count++] = rbli_loader_at(l, w)->string;
    list[count] = NULL;
    variable->desc.words = list;
}

static void read_variable_default(rbli_loader *l, uint32_t object, rbli_variable *variable)
{
    uint32_t value = rbli_loader_member(l, l->json, object, "default", rbli_declaration_keys);
    if (value == RBLI_JSON_NONE || !variable->desc.type) return;
    rbli_text pointer;
    rbli_text_init(&pointer, l->allocator);
    rbli_json_pointer(l->json, value, &pointer);
    rbli_param_scope scope = {.allocator = l->allocator,
        .messages = l->messages,
        .source = l->document->source,
        .folder = l->document->folder,
        .pointer = pointer.data ? pointer.data : "",
        .node_offset = rbli_loader_at(l, value)->offset};
    bool reference = rbli_json_member(l->json, value, "var") != RBLI_JSON_NONE ||
                     rbli_json_member(l->json, value, "from") != RBLI_JSON_NONE;
    if (reference) {
        rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, NULL, NULL,
            "a default is a value; it cannot be taken from elsewhere");
        scope.failed = true;
    } else if (rbli_params_build_value(&scope, &variable->desc, l->json, value, &variable->value) != RBL_OK)
        l->out_of_memory = true;
    rbli_text_free(&pointer);
    l->failed |= scope.failed;
    if (!scope.failed) return;
    rbli_params_release(variable->value); /* what uses it says nothing more */
    variable->value = NULL;
    variable->desc.type = 0;
}

void rbli_load_declaration(rbli_loader *l, uint32_t object, rbli_variable *variable)
{
    read_variable_type(l, object, variable);
    read_variable_bounds(l, object, variable);
    read_variable_words(l, object, variable);
    read_variable_default(l, object, variable);
}

static char *copy_text(rbli_loader *l, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = rbli_allocator_alloc(l->allocator, bytes, 1);
    if (!copy) l->out_of_memory = true;
    return copy ? memcpy(copy, text, bytes) : NULL;
}

/// "n": 12 for "n": {"type": "int", "default": 12}
static void tell_short_variable(rbli_loader *l, uint32_t object)
{
    const rbli_json_value *v = rbli_loader_at(l, object);
    const char *type = v->type == RBLI_JSON_BOOL     ? "bool"
                       : v->type == RBLI_JSON_STRING ? "string"
                       : v->type == RBLI_JSON_ARRAY  ? "vec3"
                       : v->type == RBLI_JSON_NUMBER ? (v->is_integer ? "int" : "float")
                                                     : NULL;
    size_t bytes = v->end > v->offset ? v->end - v->offset : 0;
    char wanted[160] = "an object like {\"type\": \"int\", \"default\": 1}";
    if (type && bytes && bytes < 80)
        snprintf(wanted, sizeof wanted, "an object like {\"type\": \"%s\", \"default\": %.*s}", type,
            (int)bytes, rbli_source_text(l->document->source) + v->offset);
    rbli_loader_tell_type(l, object, NULL, "a variable", wanted);
}

static void read_variable(rbli_loader *l, uint32_t object)
{
    rbl_graph *graph = l->root;
    const char *name = rbli_loader_at(l, object)->key;
    for (size_t i = 0; i < graph->variable_count; i++)
        if (strcmp(graph->variables[i].name, name) == 0) return; /* reported by the parser */
    bool named = rbli_is_identifier(name);
    if (!named)
        rbli_loader_tell(l, RBL_ERROR, object, rbli_loader_at(l, object)->key_offset, NULL,
            "names: letters, digits and _, not beginning with a digit, at most 64",
            "\"%s\" cannot name a variable", name);
    rbli_variable *variable = &graph->variables[graph->variable_count];
    *variable = (rbli_variable){.name = copy_text(l, name), .offset = rbli_loader_at(l, object)->key_offset};
    if (!variable->name) return;
    graph->variable_count++;
    variable->desc.name = variable->name;
    if (rbli_loader_at(l, object)->type != RBLI_JSON_OBJECT) {
        tell_short_variable(l, object);
        variable->used = true;
        return;
    }
    rbli_loader_check_keys(l, object, NULL, rbli_declaration_keys);
    rbli_load_declaration(l, object, variable);
    if (!named || !variable->desc.type) variable->used = true; /* one error is enough */
    rbli_text json;
    rbli_text_init(&json, l->allocator);
    if (variable->value) rbli_param_json(rbli_params_root(variable->value), &json);
    if (rbli_text_take(&json, &variable->json) != RBL_OK) l->out_of_memory = true;
}

void rbli_load_variables(rbli_loader *l)
{
    uint32_t vars = rbli_loader_member(l, l->json, 0, "vars", rbli_document_keys);
    if (vars == RBLI_JSON_NONE) return;
    if (rbli_loader_at(l, vars)->type != RBLI_JSON_OBJECT) {
        rbli_loader_tell_type(l, vars, NULL, "\"vars\"", "an object");
        return;
    }
    l->root->variables =
        rbli_allocator_calloc(l->allocator, rbli_loader_at(l, vars)->child_count, sizeof(rbli_variable));
    if (!l->root->variables) {
        l->out_of_memory = true;
        return;
    }
    for (uint32_t v = rbli_loader_at(l, vars)->first_child; v != RBLI_JSON_NONE && !l->out_of_memory;
         v = rbli_loader_at(l, v)->next)
        read_variable(l, v);
}
