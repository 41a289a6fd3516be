/// Parameters from JSON against a descriptor, and changed copies of them.

#include "engine/params_tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fracture/base/alloc.h"

typedef struct builder {
    rbli_param_scope *scope;
    rbli_params *params;
    const rbli_json *json;
    bool out_of_memory;
} builder;

/// Reports an error at a parameter. `offset`: the place, RBLI_JSON_NONE for the node itself; `key`: a name
/// under the parameter, or NULL.
static void complain(builder *b, const rbl_param *param, uint32_t offset, const char *key, const char *hint,
    const char *format, ...) RBL_PRINTF(6, 7);
static void complain(builder *b, const rbl_param *param, uint32_t offset, const char *key, const char *hint,
    const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rbli_text pointer;
    rbli_text_init(&pointer, b->scope->allocator);
    rbli_params_compose_pointer(param, &pointer);
    if (key) rbli_json_pointer_step(&pointer, key);
    rbli_place place = {.source = b->scope->source,
        .offset = offset != RBLI_JSON_NONE ? offset : b->scope->node_offset,
        .node = b->scope->node,
        .pointer = pointer.data};
    rbli_message_add(b->scope->messages, RBL_ERROR, RBL_ERR_GRAPH, &place, hint, text);
    rbli_text_free(&pointer);
    b->scope->failed = true;
}

/// `param` is new: everything unset.
static void start_param(builder *b, rbl_param *param, const rbl_param_desc *desc, const rbl_param *parent)
{
    *param = (rbl_param){.desc = desc,
        .parent = parent,
        .owner = b->params,
        .index = RBLI_JSON_NONE,
        .offset = RBLI_JSON_NONE,
        .variable = -1,
        .from = -1};
}

static bool make_items(builder *b, rbl_param *param, size_t count)
{
    param->items = rbli_params_alloc(b->params, count, sizeof *param->items);
    if (!param->items) {
        b->out_of_memory = true;
        return false;
    }
    param->count = count;
    return true;
}

static const char *keep(builder *b, const char *text)
{
    const char *copy = rbli_params_strdup(b->params, text);
    if (!copy) b->out_of_memory = true;
    return copy ? copy : "";
}

static void set_path(builder *b, rbl_param *param, const char *raw, const char *folder)
{
    param->raw = keep(b, raw);
    param->string = param->raw;
    if (!*raw || *raw == '/' || !*folder) return;
    size_t bytes = strlen(folder) + strlen(raw) + 2;
    char *joined = rbli_params_alloc(b->params, bytes, 1);
    if (!joined) {
        b->out_of_memory = true;
        return;
    }
    snprintf(joined, bytes, "%s/%s", folder, raw);
    param->string = joined;
}

static bool is_vector(const rbl_param_desc *desc)
{
    return desc->type == RBL_PARAM_VEC3 || desc->type == RBL_PARAM_INT3;
}

static const char *who(const builder *b, const rbl_param *param, char *buffer, size_t bytes)
{
    const char *name = param->desc->name ? param->desc->name : "value";
    if (param->variable >= 0)
        snprintf(
            buffer, bytes, "variable \"%s\" for \"%s\"", b->scope->variables[param->variable].name, name);
    else if (param->index != RBLI_JSON_NONE && param->desc->name)
        snprintf(buffer, bytes, "%s %u of \"%s\"",
            is_vector(param->parent->desc) && !is_vector(param->desc) ? "component" : "element", param->index,
            name);
    else
        snprintf(buffer, bytes, "\"%s\"", name);
    return buffer;
}

static bool has_bounds(const rbl_param_desc *desc)
{
    return desc->min != 0 || desc->max != 0;
}

/// Reports a number outside the descriptor's bounds.
static bool check_bounds(builder *b, const rbl_param *param, uint32_t offset, double number)
{
    const rbl_param_desc *desc = param->desc;
    char name[160];
    if (desc->type == RBL_PARAM_SEED && !(number >= 0 && number <= 4294967295.0)) {
        complain(b, param, offset, NULL, NULL, "%s is %.17g; a seed is an integer from 0 to 4294967295",
            who(b, param, name, sizeof name), number);
        return false;
    }
    if (!has_bounds(desc)) return true;
    if (number < desc->min) {
        complain(b, param, offset, NULL, NULL, "%s is %.15g; the smallest allowed value is %.15g",
            who(b, param, name, sizeof name), number, desc->min);
        return false;
    }
    if (number > desc->max) {
        complain(b, param, offset, NULL, NULL, "%s is %.15g; the largest allowed value is %.15g",
            who(b, param, name, sizeof name), number, desc->max);
        return false;
    }
    return true;
}

/// Appends the text of a JSON value, when it is short.
static void quote_json(builder *b, uint32_t value, rbli_text *out)
{
    const rbli_json_value *v = &b->json->values[value];
    size_t bytes = v->end > v->offset ? v->end - v->offset : 0;
    if (bytes && bytes <= 60)
        rbli_text_add(out, rbli_source_text(b->json->source) + v->offset, bytes);
    else
        rbli_text_puts(out, "…");
}

/// The variable that a value of the wrong type seems to mean: "n", "$n", "{n}", {"variable": "n"}; NULL: none.
static rbli_variable *meant_variable(builder *b, const rbl_param *param, const rbli_json_value *v)
{
    const char *text = v->type == RBLI_JSON_STRING ? v->string : NULL;
    bool nested = param->desc->type == RBL_PARAM_OBJECT;
    if (!nested && v->type == RBLI_JSON_OBJECT && v->child_count == 1 &&
        b->json->values[v->first_child].type == RBLI_JSON_STRING)
        text = b->json->values[v->first_child].string;
    if (!text) return NULL;
    text += strspn(text, "$%{@");
    size_t length = strcspn(text, "}%");
    for (size_t i = 0; i < b->scope->variable_count; i++)
        if (strlen(b->scope->variables[i].name) == length &&
            strncmp(b->scope->variables[i].name, text, length) == 0)
            return &b->scope->variables[i];
    return NULL;
}

static void hint_words(rbli_text *hint, const char *wanted, const char *const *words);

static void hint_type(builder *b, const rbl_param *param, uint32_t value, bool list, rbli_text *hint)
{
    const rbli_json_value *v = &b->json->values[value];
    rbli_variable *variable = meant_variable(b, param, v);
    if (variable) {
        variable->used = true;
        rbli_text_printf(hint, "a variable is taken with {\"var\": \"%s\"}", variable->name);
    } else if (list && v->type != RBLI_JSON_OBJECT && v->type != RBLI_JSON_NULL) {
        rbli_text_puts(hint, "write [");
        quote_json(b, value, hint);
        rbli_text_puts(hint, "]");
    } else if (param->desc->type == RBL_PARAM_ENUM && param->desc->words) {
        hint_words(hint, "", param->desc->words);
    } else if (param->desc->type == RBL_PARAM_BOOL && v->type == RBLI_JSON_STRING) {
        bool on = strcmp(v->string, "true") == 0, off = strcmp(v->string, "false") == 0;
        if (on || off) rbli_text_printf(hint, "without quotes: %s", v->string);
    } else if ((param->desc->type == RBL_PARAM_INT || param->desc->type == RBL_PARAM_SEED ||
                   param->desc->type == RBL_PARAM_FLOAT) &&
               v->type == RBLI_JSON_STRING && *v->string &&
               strspn(v->string, "0123456789.-") == strlen(v->string)) {
        rbli_text_printf(hint, "without quotes: %s", v->string);
    }
}

static const char *found_words(
    const rbl_param_desc *desc, const rbli_json_value *v, char *buffer, size_t bytes)
{
    if (v->type == RBLI_JSON_NUMBER) {
        bool whole = v->is_integer || v->number > 9e15 || v->number < -9e15;
        return !whole ? "a number with a fraction" : v->is_integer ? "an integer" : "a number this large";
    }
    if (v->type == RBLI_JSON_ARRAY && is_vector(desc)) {
        snprintf(buffer, bytes, "a list of %u", v->child_count);
        return buffer;
    }
    return rbli_json_type_words(v->type);
}

static void wrong_type(builder *b, const rbl_param *param, uint32_t value, const char *wanted)
{
    const rbli_json_value *v = &b->json->values[value];
    if (v->type == RBLI_JSON_BAD || (b->scope->partial && !v->end)) {
        b->scope->failed = true; /* reported by the parser */
        return;
    }
    char name[160], found[40];
    bool list = param->desc->list && param->index == RBLI_JSON_NONE;
    rbli_text hint;
    rbli_text_init(&hint, b->scope->allocator);
    hint_type(b, param, value, list, &hint);
    complain(b, param, v->offset, NULL, hint.data, "%s must be %s, not %s", who(b, param, name, sizeof name),
        wanted, found_words(param->desc, v, found, sizeof found));
    rbli_text_free(&hint);
}

/// `did you mean` and the list of what is allowed.
static void hint_words(rbli_text *hint, const char *wanted, const char *const *words)
{
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, wanted);
    for (size_t i = 0; words[i] && *wanted; i++)
        rbli_nearest_feed(&nearest, words[i]);
    if (nearest.best) rbli_text_printf(hint, "did you mean \"%s\"?\n", nearest.best);
    rbli_text_puts(hint, "allowed: ");
    for (size_t i = 0; words[i]; i++)
        rbli_text_printf(hint, "%s%s", i ? ", " : "", words[i]);
}

static void set_enum(builder *b, rbl_param *param, uint32_t offset, const char *word)
{
    const char *const *words = param->desc->words;
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0) {
            param->word = (int64_t)i;
            param->string = words[i];
            return;
        }
    rbli_text hint;
    rbli_text_init(&hint, b->scope->allocator);
    hint_words(&hint, word, words);
    char name[160];
    complain(
        b, param, offset, NULL, hint.data, "%s must not be \"%s\"", who(b, param, name, sizeof name), word);
    rbli_text_free(&hint);
    param->string = words[0] ? words[0] : "";
}

static bool kind_gives(rbl_value_kind kind, const rbl_param_desc *desc)
{
    switch (desc->type) {
    case RBL_PARAM_BOOL:
        return kind == RBL_VALUE_BOOL;
    case RBL_PARAM_INT:
    case RBL_PARAM_SEED:
        return kind == RBL_VALUE_INT;
    case RBL_PARAM_FLOAT:
        return kind == RBL_VALUE_FLOAT || kind == RBL_VALUE_INT;
    case RBL_PARAM_STRING:
    case RBL_PARAM_PATH:
    case RBL_PARAM_ENUM:
        return kind == RBL_VALUE_STRING;
    case RBL_PARAM_VEC3:
    case RBL_PARAM_INT3:
        return kind == RBL_VALUE_VEC3;
    case RBL_PARAM_OBJECT:
        return false;
    }
    return false;
}

/// Whether a variable of type `from` may stand for a parameter of type `to`.
static bool type_gives(rbl_param_type from, rbl_param_type to)
{
    if (from == to) return true;
    if (from == RBL_PARAM_INT || from == RBL_PARAM_SEED)
        return to == RBL_PARAM_INT || to == RBL_PARAM_SEED || to == RBL_PARAM_FLOAT;
    if (from == RBL_PARAM_STRING) return to == RBL_PARAM_ENUM;
    if (from == RBL_PARAM_ENUM) return to == RBL_PARAM_STRING;
    return false;
}

/// Takes the value of variable `param->variable`, whose type fits.
static void take_variable(builder *b, rbl_param *param)
{
    const rbli_variable *variable = &b->scope->variables[param->variable];
    param->absent = !variable->value;
    if (!variable->value) return;
    const rbl_param *value = rbli_params_root(variable->value);
    switch (param->desc->type) {
    case RBL_PARAM_BOOL:
        param->boolean = value->boolean;
        break;
    case RBL_PARAM_INT:
    case RBL_PARAM_SEED:
        param->integer = value->integer;
        check_bounds(b, param, param->offset, (double)value->integer);
        break;
    case RBL_PARAM_FLOAT:
        param->number = value->desc->type == RBL_PARAM_FLOAT ? value->number : (double)value->integer;
        check_bounds(b, param, param->offset, param->number);
        break;
    case RBL_PARAM_STRING:
        param->string = keep(b, value->string);
        break;
    case RBL_PARAM_PATH:
        param->raw = keep(b, value->raw);
        param->string = keep(b, value->string);
        break;
    case RBL_PARAM_ENUM:
        set_enum(b, param, param->offset, value->string);
        break;
    case RBL_PARAM_VEC3:
        for (size_t k = 0; k < 3; k++) {
            param->vec3[k] = value->vec3[k];
            if (!check_bounds(b, param, param->offset, value->vec3[k])) break;
        }
        break;
    case RBL_PARAM_INT3:
        for (size_t k = 0; k < 3; k++) {
            param->int3[k] = value->int3[k];
            if (!check_bounds(b, param, param->offset, (double)value->int3[k])) break;
        }
        break;
    case RBL_PARAM_OBJECT:
        break;
    }
}

/// {"from": "node.port"}, whose text is the JSON value `m`.
static void resolve_from(builder *b, rbl_param *param, const rbli_json_value *m, bool whole_list)
{
    if (!b->scope->from) {
        complain(b, param, m->offset, NULL, NULL, "{\"from\": …} cannot stand here");
        return;
    }
    rbli_text pointer;
    rbli_text_init(&pointer, b->scope->allocator);
    rbli_params_compose_pointer(param, &pointer);
    rbli_place place = {b->scope->source, m->offset, b->scope->node, pointer.data};
    rbl_value_kind kind = 0;
    param->from = b->scope->from(b->scope->user, &place, m->string, &kind);
    rbli_text_free(&pointer);
    if (param->from < 0) {
        b->scope->failed = true;
    } else if (whole_list || !kind_gives(kind, param->desc)) {
        char hint[200] = "";
        for (int k = RBL_VALUE_BOOL; k <= RBL_VALUE_VEC3 && !*hint && !whole_list && b->scope->hint_from; k++)
            if (kind_gives((rbl_value_kind)k, param->desc))
                b->scope->hint_from(b->scope->user, m->string, (rbl_value_kind)k, hint, sizeof hint);
        complain(b, param, m->offset, NULL, *hint ? hint : NULL, "\"%s\" cannot give %s: it is of kind %s",
            m->string, whole_list ? "a list" : rbli_param_type_words(param->desc->type),
            rbl_value_kind_text(kind));
    }
}

static void tell_unknown_variable(
    builder *b, const rbl_param *param, const rbli_json_value *m, const char *nearest)
{
    rbli_text hint;
    rbli_text_init(&hint, b->scope->allocator);
    if (nearest) rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest);
    if (b->scope->inside_graph)
        rbli_text_printf(&hint,
            "a graph within the graph has no variables: declare an input and write {\"from\": \"inputs.%s\"}",
            m->string);
    else
        rbli_text_puts(&hint, b->scope->variable_count ? "variables: " : "this graph has no \"vars\"");
    for (size_t i = 0; i < b->scope->variable_count && i < 40; i++)
        rbli_text_printf(&hint, "%s%s", i ? ", " : "", b->scope->variables[i].name);
    complain(b, param, m->offset, NULL, hint.data, "unknown variable \"%s\"", m->string);
    rbli_text_free(&hint);
}

/// {"var": name}, whose name is the JSON value `m`.
static void resolve_variable(builder *b, rbl_param *param, const rbli_json_value *m, bool whole_list)
{
    char name[160];
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, m->string);
    for (size_t i = 0; i < b->scope->variable_count; i++) {
        if (strcmp(b->scope->variables[i].name, m->string) == 0) param->variable = (int32_t)i;
        rbli_nearest_feed(&nearest, b->scope->variables[i].name);
    }
    if (param->variable < 0) {
        if (b->scope->partial)
            b->scope->failed = true; /* it may be declared in the rest */
        else
            tell_unknown_variable(b, param, m, nearest.best);
        return;
    }
    rbli_variable *variable = &b->scope->variables[param->variable];
    variable->used = true;
    if (!variable->desc.type) {
        param->variable = -1; /* its declaration was reported */
        b->scope->failed = true;
    } else if (whole_list || !type_gives(variable->desc.type, param->desc->type)) {
        param->variable = -1;
        complain(b, param, m->offset, NULL, NULL, "variable \"%s\" is of type %s, but %s must be %s",
            m->string, rbli_param_type_word(variable->desc.type), who(b, param, name, sizeof name),
            whole_list ? "a list" : rbli_param_type_words(param->desc->type));
    } else {
        take_variable(b, param);
    }
}

/// A member "var" or "from" that is no reference as it stands. What it names counts as used all the same.
static void tell_malformed_reference(
    builder *b, const rbl_param *param, uint32_t value, const rbli_json_value *m, const char *key)
{
    for (size_t i = 0; m->type == RBLI_JSON_STRING && i < b->scope->variable_count; i++)
        if (strcmp(b->scope->variables[i].name, m->string) == 0) b->scope->variables[i].used = true;
    if (m->type == RBLI_JSON_BAD)
        b->scope->failed = true;
    else
        complain(b, param, b->json->values[value].offset, NULL, NULL,
            "write {\"%s\": \"%s\"} and nothing else in it", key,
            strcmp(key, "var") == 0 ? "name" : "node.port");
}

/// {"var": name} and {"from": "node.port"}: true when `value` is one of them.
static bool resolve_reference(builder *b, rbl_param *param, uint32_t value, bool whole_list)
{
    const rbli_json_value *v = &b->json->values[value];
    if (v->type != RBLI_JSON_OBJECT || v->child_count == 0) return false;
    const char *key = "var";
    uint32_t member = rbli_json_member(b->json, value, key);
    if (member == RBLI_JSON_NONE) member = rbli_json_member(b->json, value, key = "from");
    if (member == RBLI_JSON_NONE) return false;
    if (param->desc->type == RBL_PARAM_OBJECT && !whole_list)
        for (const rbl_param_desc *field = param->desc->fields; field && field->name; field++)
            if (strcmp(field->name, key) == 0) return false;
    param->absent = true;
    const rbli_json_value *m = &b->json->values[member];
    if (m->type != RBLI_JSON_STRING || v->child_count != 1)
        tell_malformed_reference(b, param, value, m, key);
    else if (strcmp(key, "from") == 0)
        resolve_from(b, param, m, whole_list);
    else
        resolve_variable(b, param, m, whole_list);
    return true;
}

static void resolve_value(builder *b, rbl_param *param, uint32_t value);

static rbl_param_desc component_of(const rbl_param_desc *desc)
{
    return (rbl_param_desc){.name = desc->name,
        .type = desc->type == RBL_PARAM_VEC3 ? RBL_PARAM_FLOAT : RBL_PARAM_INT,
        .min = desc->min,
        .max = desc->max};
}

/// The descriptor of a vector's components.
static const rbl_param_desc *component_desc(builder *b, const rbl_param_desc *desc)
{
    rbl_param_desc *component = rbli_params_alloc(b->params, 1, sizeof *component);
    if (!component) {
        b->out_of_memory = true;
        return NULL;
    }
    *component = component_of(desc);
    return component;
}

static void gather_components(rbl_param *param)
{
    for (size_t k = 0; k < 3; k++) {
        param->absent |= param->items[k].absent;
        if (param->desc->type == RBL_PARAM_VEC3)
            param->vec3[k] = param->items[k].number;
        else
            param->int3[k] = param->items[k].integer;
    }
}

/// A component, which is no reference: reported with its own pointer.
static double resolve_component(
    builder *b, rbl_param *param, uint32_t value, const rbl_param_desc *desc, uint32_t k)
{
    const rbli_json_value *v = &b->json->values[value];
    bool integer = desc->type == RBL_PARAM_INT;
    rbl_param component;
    start_param(b, &component, desc, param);
    component.index = k;
    if (v->type == RBLI_JSON_NUMBER && (v->is_integer || !integer)) {
        check_bounds(b, &component, v->offset, v->number);
        return v->number;
    }
    wrong_type(b, &component, value, rbli_param_type_words(desc->type));
    return 0;
}

static void resolve_vector(builder *b, rbl_param *param, uint32_t value)
{
    const rbli_json_value *v = &b->json->values[value];
    bool integers = param->desc->type == RBL_PARAM_INT3;
    if (v->type != RBLI_JSON_ARRAY || v->child_count != 3) {
        wrong_type(b, param, value, rbli_param_type_words(param->desc->type));
        return;
    }
    bool plain = true;
    for (uint32_t c = v->first_child; c != RBLI_JSON_NONE; c = b->json->values[c].next)
        plain &= b->json->values[c].type != RBLI_JSON_OBJECT;
    if (plain) {
        rbl_param_desc desc = component_of(param->desc);
        uint32_t k = 0;
        for (uint32_t c = v->first_child; c != RBLI_JSON_NONE; c = b->json->values[c].next, k++) {
            double number = resolve_component(b, param, c, &desc, k);
            if (integers)
                param->int3[k] = b->json->values[c].type == RBLI_JSON_NUMBER ? b->json->values[c].integer : 0;
            else
                param->vec3[k] = number + 0.0;
        }
        return;
    }
    const rbl_param_desc *desc = component_desc(b, param->desc);
    if (!desc || !make_items(b, param, 3)) return;
    uint32_t k = 0;
    for (uint32_t c = v->first_child; c != RBLI_JSON_NONE; c = b->json->values[c].next, k++) {
        start_param(b, &param->items[k], desc, param);
        param->items[k].index = k;
        resolve_value(b, &param->items[k], c);
    }
    gather_components(param);
}

static void resolve_number(builder *b, rbl_param *param, uint32_t value)
{
    const rbli_json_value *v = &b->json->values[value];
    bool integer = param->desc->type != RBL_PARAM_FLOAT;
    bool huge = v->type == RBLI_JSON_NUMBER && !v->is_integer && (v->number > 9e15 || v->number < -9e15);
    if (integer && huge && !check_bounds(b, param, v->offset, v->number)) return;
    if (v->type != RBLI_JSON_NUMBER || (integer && !v->is_integer)) {
        wrong_type(b, param, value, rbli_param_type_words(param->desc->type));
        return;
    }
    check_bounds(b, param, v->offset, v->number);
    if (integer)
        param->integer = v->integer;
    else
        param->number = v->number + 0.0; /* no −0: equal values hash equally */
}

static void resolve_fields(
    builder *b, rbl_param *param, const rbli_json *json, uint32_t object, const rbl_param *defaults);

/// One value, not a list.
static void resolve_single(builder *b, rbl_param *param, uint32_t value)
{
    const rbli_json_value *v = &b->json->values[value];
    if (resolve_reference(b, param, value, false)) return;
    switch (param->desc->type) {
    case RBL_PARAM_BOOL:
        if (v->type == RBLI_JSON_BOOL)
            param->boolean = v->boolean;
        else
            wrong_type(b, param, value, "true or false");
        break;
    case RBL_PARAM_INT:
    case RBL_PARAM_SEED:
    case RBL_PARAM_FLOAT:
        resolve_number(b, param, value);
        break;
    case RBL_PARAM_STRING:
    case RBL_PARAM_PATH:
    case RBL_PARAM_ENUM:
        param->string = param->raw = "";
        if (v->type != RBLI_JSON_STRING)
            wrong_type(b, param, value, rbli_param_type_words(param->desc->type));
        else if (param->desc->type == RBL_PARAM_ENUM)
            set_enum(b, param, v->offset, v->string);
        else if (param->desc->type == RBL_PARAM_PATH)
            set_path(b, param, v->string, b->scope->folder);
        else
            param->string = keep(b, v->string);
        break;
    case RBL_PARAM_VEC3:
    case RBL_PARAM_INT3:
        resolve_vector(b, param, value);
        break;
    case RBL_PARAM_OBJECT:
        if (v->type != RBLI_JSON_OBJECT)
            wrong_type(b, param, value, "an object");
        else
            resolve_fields(b, param, b->json, value, NULL);
        break;
    }
}

static void resolve_value(builder *b, rbl_param *param, uint32_t value)
{
    const rbli_json_value *v = &b->json->values[value];
    param->offset = v->offset;
    if (!param->desc->list || param->index != RBLI_JSON_NONE) {
        resolve_single(b, param, value);
        return;
    }
    if (resolve_reference(b, param, value, true)) return;
    if (v->type != RBLI_JSON_ARRAY) {
        wrong_type(b, param, value, "a list");
        return;
    }
    if (!make_items(b, param, v->child_count)) return;
    uint32_t index = 0;
    for (uint32_t c = v->first_child; c != RBLI_JSON_NONE; c = b->json->values[c].next, index++) {
        start_param(b, &param->items[index], param->desc, param);
        param->items[index].index = index;
        resolve_value(b, &param->items[index], c);
    }
}

/// A default's text. What is wrong with it is the descriptor's fault and is reported like everything else.
static void resolve_default(builder *b, rbl_param *param)
{
    size_t bytes = strlen(param->desc->default_json);
    char *text = rbli_allocator_alloc(b->scope->allocator, bytes + 1, 1);
    rbli_source *source = NULL;
    rbli_json *json = NULL;
    if (!text) {
        b->out_of_memory = true;
        return;
    }
    memcpy(text, param->desc->default_json, bytes + 1);
    rbl_status status = rbli_source_create(b->scope->allocator, "default", text, bytes, &source);
    if (status == RBL_OK) status = rbli_json_parse(b->scope->allocator, source, 0, b->scope->messages, &json);
    if (status == RBL_OK) {
        const rbli_json *outer = b->json;
        rbli_source *outer_source = b->scope->source;
        b->json = json;
        b->scope->source = source;
        resolve_value(b, param, 0);
        b->json = outer;
        b->scope->source = outer_source;
        param->offset = RBLI_JSON_NONE;
    } else if (status == RBL_ERR_NO_MEMORY) {
        b->out_of_memory = true;
    } else {
        b->scope->failed = true;
    }
    rbli_json_destroy(json);
    rbli_source_release(source);
}

static void copy_param(builder *b, rbl_param *out, const rbl_param *in, const rbl_param *parent,
    bool (*substitute)(builder *b, rbl_param *out, const rbl_param *in, void *user), void *user);

/// A field that the text leaves out.
static void resolve_missing(builder *b, rbl_param *param, const rbl_param *defaults, bool reported)
{
    const rbl_param_desc *desc = param->desc;
    if (defaults) {
        copy_param(b, param, defaults, param->parent, NULL, NULL);
        if (desc->default_json || desc->optional) return;
    }
    if (desc->default_json) {
        resolve_default(b, param);
    } else {
        param->absent = true;
        if (desc->type == RBL_PARAM_STRING || desc->type == RBL_PARAM_PATH || desc->type == RBL_PARAM_ENUM)
            param->string = param->raw = "";
        if (!desc->optional && b->scope->partial)
            b->scope->failed = true;
        else if (!desc->optional && !reported)
            complain(b, param, param->parent->offset, NULL, desc->text, "missing parameter \"%s\" (%s)",
                desc->name, desc->list ? "a list" : rbli_param_type_words(desc->type));
    }
}

/// Where an unknown parameter belongs: an input, or a field of an object ("noise.amplitude", "amplitude").
static void hint_place(builder *b, const rbl_param *param, const char *key, rbli_text *hint)
{
    bool input = false;
    for (const rbl_port_desc *port = b->scope->inputs; port && port->name; port++)
        input |= strcmp(port->name, key) == 0;
    if (!param->parent && input) {
        rbli_text_printf(hint, "it is an input: write it into \"in\": {\"%s\": …}\n", key);
        return;
    }
    const char *dot = strpbrk(key, "./");
    const char *name = dot ? dot + 1 : key;
    size_t length = dot ? (size_t)(dot - key) : 0;
    for (const rbl_param_desc *f = param->desc->fields; f && f->name; f++) {
        bool named = !dot || (strlen(f->name) == length && strncmp(f->name, key, length) == 0);
        for (const rbl_param_desc *g = named && f->type == RBL_PARAM_OBJECT && !f->list ? f->fields : NULL;
             g && g->name; g++)
            if (strcmp(g->name, name) == 0) {
                rbli_text_printf(hint, "write \"%s\": {\"%s\": …}\n", f->name, name);
                return;
            }
    }
}

/// Gives the index of the field that was probably meant, or SIZE_MAX.
static size_t report_unknown_field(builder *b, const rbl_param *param, const rbli_json_value *member)
{
    rbli_text hint;
    rbli_text_init(&hint, b->scope->allocator);
    const rbl_param_desc *fields = param->desc->fields;
    size_t count = 0;
    while (fields && fields[count].name)
        count++;
    hint_place(b, param, member->key, &hint);
    const char **words = rbli_allocator_calloc(b->scope->allocator, count + 1, sizeof *words);
    if (words) {
        for (size_t i = 0; i < count; i++)
            words[i] = fields[i].name;
        if (count)
            hint_words(&hint, hint.length ? "" : member->key, words);
        else
            rbli_text_puts(&hint, "no parameter is allowed here");
    }
    complain(b, param, member->key_offset, member->key, hint.data, "unknown parameter \"%s\"", member->key);
    rbli_allocator_free(b->scope->allocator, words);
    rbli_text_free(&hint);
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, member->key);
    size_t meant = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const char *before = nearest.best;
        rbli_nearest_feed(&nearest, fields[i].name);
        if (nearest.best != before) meant = i;
    }
    return meant;
}

/// All fields of an object from the members of `object` (RBLI_JSON_NONE: none is given).
static void resolve_fields(
    builder *b, rbl_param *param, const rbli_json *json, uint32_t object, const rbl_param *defaults)
{
    const rbl_param_desc *fields = param->desc->fields;
    size_t count = 0;
    while (fields && fields[count].name)
        count++;
    if (!make_items(b, param, count)) return;
    for (size_t i = 0; i < count; i++)
        start_param(b, &param->items[i], &fields[i], param);
    bool given[256] = {false}, meant[256] = {false}; /* descriptors are checked to have fewer fields */
    uint32_t member = object == RBLI_JSON_NONE ? RBLI_JSON_NONE : json->values[object].first_child;
    for (; member != RBLI_JSON_NONE; member = json->values[member].next) {
        size_t i = 0;
        while (i < count && strcmp(fields[i].name, json->values[member].key) != 0)
            i++;
        if (i == count) {
            size_t field = report_unknown_field(b, param, &json->values[member]);
            if (field != SIZE_MAX) meant[field] = true;
        } else if (!given[i]) { /* a second one was reported by the parser */
            given[i] = true;
            resolve_value(b, &param->items[i], member);
        }
    }
    for (size_t i = 0; i < count; i++)
        if (!given[i])
            resolve_missing(
                b, &param->items[i], defaults && defaults->items ? &defaults->items[i] : NULL, meant[i]);
}

static rbl_status finish_build(builder *b, rbli_params **out)
{
    if (b->out_of_memory) {
        rbli_params_release(b->params);
        return RBL_ERR_NO_MEMORY;
    }
    *out = b->params;
    return RBL_OK;
}

rbl_status rbli_params_build(rbli_param_scope *scope, const rbl_param_desc *fields, const rbli_json *json,
    uint32_t value, const rbli_params *defaults, rbli_params **out)
{
    builder b = {scope, rbli_params_create(scope->allocator, scope->pointer), json, false};
    if (!b.params) return RBL_ERR_NO_MEMORY;
    b.params->root_desc = (rbl_param_desc){.name = "params", .type = RBL_PARAM_OBJECT, .fields = fields};
    start_param(&b, &b.params->root, &b.params->root_desc, NULL);
    if (value != RBLI_JSON_NONE) b.params->root.offset = json->values[value].offset;
    if (value != RBLI_JSON_NONE && json->values[value].type != RBLI_JSON_OBJECT) {
        wrong_type(&b, &b.params->root, value, "an object");
        value = RBLI_JSON_NONE;
    }
    resolve_fields(&b, &b.params->root, json, value, defaults ? &defaults->root : NULL);
    return finish_build(&b, out);
}

rbl_status rbli_params_build_value(rbli_param_scope *scope, const rbl_param_desc *desc, const rbli_json *json,
    uint32_t value, rbli_params **out)
{
    builder b = {scope, rbli_params_create(scope->allocator, scope->pointer), json, false};
    if (!b.params) return RBL_ERR_NO_MEMORY;
    b.params->root_desc = *desc;
    start_param(&b, &b.params->root, &b.params->root_desc, NULL);
    resolve_value(&b, &b.params->root, value);
    return finish_build(&b, out);
}

/* ---- Changed copies ---- */

static void copy_param(builder *b, rbl_param *out, const rbl_param *in, const rbl_param *parent,
    bool (*substitute)(builder *b, rbl_param *out, const rbl_param *in, void *user), void *user)
{
    *out = *in;
    out->parent = parent;
    out->owner = b->params;
    if (substitute && substitute(b, out, in, user)) return;
    if (in->items) {
        out->items = NULL;
        out->count = 0;
        if (!make_items(b, out, in->count)) return;
        bool vector = !in->desc->list || in->index != RBLI_JSON_NONE;
        vector = vector && (in->desc->type == RBL_PARAM_VEC3 || in->desc->type == RBL_PARAM_INT3);
        const rbl_param_desc *components = vector ? component_desc(b, in->desc) : NULL;
        if (vector && !components) return;
        for (size_t i = 0; i < in->count; i++) {
            copy_param(b, &out->items[i], &in->items[i], out, substitute, user);
            if (vector) out->items[i].desc = components;
        }
        if (vector) {
            out->absent = false;
            gather_components(out);
        }
        return;
    }
    bool text = in->desc->type == RBL_PARAM_STRING || in->desc->type == RBL_PARAM_PATH;
    text = text && (!in->desc->list || in->index != RBLI_JSON_NONE);
    if (!text) return;
    if (in->string) out->string = keep(b, in->string);
    if (in->raw && in->desc->type == RBL_PARAM_PATH)
        out->raw = in->raw == in->string ? out->string : keep(b, in->raw);
}

static rbl_status copy_params(rbli_param_scope *scope, const rbli_params *params, const rbli_json *json,
    bool (*substitute)(builder *b, rbl_param *out, const rbl_param *in, void *user), void *user,
    rbli_params **out)
{
    builder b = {scope, rbli_params_create(scope->allocator, params->pointer), json, false};
    if (!b.params) return RBL_ERR_NO_MEMORY;
    b.params->root_desc = params->root_desc;
    b.params->mesh = rbli_host_mesh_retain(params->mesh);
    copy_param(&b, &b.params->root, &params->root, NULL, substitute, user);
    b.params->root.desc = &b.params->root_desc;
    return finish_build(&b, out);
}

rbl_status rbli_params_with_mesh(
    rbli_param_scope *scope, const rbli_params *params, rbli_host_mesh *mesh, rbli_params **out)
{
    rbli_params *copy = NULL;
    rbl_status status = copy_params(scope, params, NULL, NULL, NULL, &copy);
    if (status != RBL_OK) return status;
    rbli_host_mesh_release(copy->mesh);
    copy->mesh = rbli_host_mesh_retain(mesh);
    *out = copy;
    return RBL_OK;
}

static bool substitute_variable(builder *b, rbl_param *out, const rbl_param *in, void *user)
{
    if (in->variable != *(int32_t *)user) return false;
    start_param(b, out, in->desc, out->parent);
    out->index = in->index;
    out->offset = in->offset;
    out->variable = in->variable;
    take_variable(b, out);
    return true;
}

rbl_status rbli_params_with_variable(
    rbli_param_scope *scope, const rbli_params *params, int32_t variable, rbli_params **out)
{
    return copy_params(scope, params, NULL, substitute_variable, &variable, out);
}

typedef struct replacement {
    const rbl_param *target;
    uint32_t value;
} replacement;

static bool substitute_value(builder *b, rbl_param *out, const rbl_param *in, void *user)
{
    const replacement *r = user;
    if (in != r->target) return false;
    start_param(b, out, in->desc, out->parent);
    out->index = in->index;
    rbli_source *source = b->scope->source;
    b->scope->source = NULL; /* the text of the new value is no part of the file */
    resolve_value(b, out, r->value);
    b->scope->source = source;
    out->offset = in->offset;
    return true;
}

/// One step of a JSON pointer, unescaped, into `step`; the rest is returned.
static const char *next_step(const char *path, char *step, size_t bytes)
{
    size_t length = 0;
    path++;
    while (*path && *path != '/') {
        char c = *path++;
        if (c == '~' && (*path == '0' || *path == '1')) c = *path++ == '0' ? '~' : '/';
        if (length + 1 < bytes) step[length++] = c;
    }
    step[length] = '\0';
    return path;
}

/// The parameter at a pointer under `param`; NULL, with what was not found in `step`.
static const rbl_param *find_path(const rbl_param *param, const char *path, char *step, size_t bytes)
{
    while (*path == '/') {
        path = next_step(path, step, bytes);
        const rbl_param *found = NULL;
        for (size_t i = 0; i < param->count && !found; i++) {
            const rbl_param *item = &param->items[i];
            char index[24];
            snprintf(index, sizeof index, "%zu", i);
            if (strcmp(item->index != RBLI_JSON_NONE ? index : item->desc->name, step) == 0) found = item;
        }
        if (!found) return NULL;
        param = found;
    }
    return *path ? NULL : param;
}

rbl_status rbli_params_with_value(rbli_param_scope *scope, const rbli_params *params, const char *path,
    const rbli_json *json, uint32_t value, rbli_params **out)
{
    char step[128] = "";
    replacement r = {find_path(&params->root, path, step, sizeof step), value};
    if (!r.target || r.target == &params->root) {
        builder b = {scope, (rbli_params *)params, json, false};
        const rbl_param *root = &params->root;
        rbli_text hint;
        rbli_text_init(&hint, scope->allocator);
        rbli_nearest nearest;
        rbli_nearest_init(&nearest, step);
        for (size_t i = 0; i < root->count; i++)
            rbli_nearest_feed(&nearest, root->items[i].desc->name);
        if (nearest.best) rbli_text_printf(&hint, "did you mean \"%s\"?", nearest.best);
        complain(&b, root, RBLI_JSON_NONE, NULL, hint.data, "no parameter at \"%s\"", path);
        rbli_text_free(&hint);
        return RBL_ERR_NOT_FOUND;
    }
    return copy_params(scope, params, json, substitute_value, &r, out);
}

/// The components of a vector that a connection gives.
static void take_vector(builder *b, rbl_param *out, const rbl_value *value)
{
    double vector[3] = {0, 0, 0};
    rbl_value_vec3(value, vector);
    bool integers = out->desc->type == RBL_PARAM_INT3, good = true;
    char name[160];
    for (size_t k = 0; k < 3 && good; k++) {
        double v = vector[k];
        good = check_bounds(b, out, out->offset, v);
        bool whole = v > -9e15 && v < 9e15 && v == (double)(int64_t)v;
        if (good && integers && !whole) {
            complain(b, out, out->offset, NULL, NULL, "%s must be a list of three integers, not [%g, %g, %g]",
                who(b, out, name, sizeof name), vector[0], vector[1], vector[2]);
            good = false;
        }
    }
    for (size_t k = 0; k < 3 && good; k++) {
        if (integers)
            out->int3[k] = (int64_t)vector[k];
        else
            out->vec3[k] = vector[k];
    }
}

static bool substitute_connection(builder *b, rbl_param *out, const rbl_param *in, void *user)
{
    if (in->from < 0) return false;
    const rbl_value *value = ((const rbl_value *const *)user)[in->from];
    if (!value) return false; /* stays absent */
    start_param(b, out, in->desc, out->parent);
    out->index = in->index;
    out->offset = in->offset;
    double number = rbl_value_number(value);
    const char *text = rbl_value_string(value);
    switch (in->desc->type) {
    case RBL_PARAM_BOOL:
        out->boolean = number != 0;
        break;
    case RBL_PARAM_INT:
    case RBL_PARAM_SEED:
        if (check_bounds(b, out, out->offset, number) && fabs(number) < 9.2e18)
            out->integer = (int64_t)number;
        break;
    case RBL_PARAM_FLOAT:
        out->number = number;
        check_bounds(b, out, out->offset, number);
        break;
    case RBL_PARAM_STRING:
        out->string = keep(b, text ? text : "");
        break;
    case RBL_PARAM_PATH:
        set_path(b, out, text ? text : "", b->scope->folder);
        break;
    case RBL_PARAM_ENUM:
        set_enum(b, out, out->offset, text ? text : "");
        break;
    case RBL_PARAM_VEC3:
    case RBL_PARAM_INT3:
        take_vector(b, out, value);
        break;
    case RBL_PARAM_OBJECT:
        break;
    }
    return true;
}

rbl_status rbli_params_with_connections(
    rbli_param_scope *scope, const rbli_params *params, const rbl_value *const *values, rbli_params **out)
{
    return copy_params(scope, params, NULL, substitute_connection, (void *)values, out);
}
