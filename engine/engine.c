/// Engines: node types, threads, cache.

#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

#include "fracture/base/alloc.h"

#define VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
#define VERSION_TEXT(major, minor, patch) VERSION_TEXT_(major, minor, patch)

enum { MOST_FIELDS = 255 };
static const size_t default_memory_bytes = (size_t)2 << 30;
static const size_t default_cache_bytes = (size_t)10 << 30;

const char *rbl_version_text(void)
{
    return VERSION_TEXT(RBL_VERSION_MAJOR, RBL_VERSION_MINOR, RBL_VERSION_PATCH);
}

void rbl_engine_options_init(rbl_engine_options *options)
{
    *options = (rbl_engine_options){
        .size = sizeof *options, .memory_bytes = default_memory_bytes, .cache_bytes = default_cache_bytes};
}

size_t rbli_count_ports(const rbl_port_desc *ports)
{
    size_t count = 0;
    while (ports && ports[count].name)
        count++;
    return count;
}

size_t rbli_find_port(const rbl_port_desc *ports, const char *name)
{
    for (size_t i = 0; ports && ports[i].name; i++)
        if (strcmp(ports[i].name, name) == 0) return i;
    return SIZE_MAX;
}

/* ---- Checking descriptors ---- */

typedef struct checker {
    rbl_engine *engine;
    const rbl_node_desc *desc;
    rbl_messages *messages;
    bool good, out_of_memory;
} checker;

static void fault(checker *c, const char *format, ...) RBL_PRINTF(2, 3);
static void fault(checker *c, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rbli_message_addf(c->messages, RBL_ERROR, RBL_ERR_ARGUMENT, NULL, NULL, "node type %s: %s",
        c->desc->type ? c->desc->type : "without a name", text);
    c->good = false;
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_snake_case(const char *name)
{
    if (!is_lower(*name)) return false;
    for (const char *c = name; *c; c++)
        if (!is_lower(*c) && !is_digit(*c) && *c != '_') return false;
    return true;
}

static bool is_pascal_case(const char *name, size_t length)
{
    if (length == 0 || !is_upper(*name)) return false;
    for (size_t i = 0; i < length; i++)
        if (!is_lower(name[i]) && !is_digit(name[i]) && !is_upper(name[i])) return false;
    return true;
}

/// PascalCase, or vendor.PascalCase.
static bool is_type_name(const char *name)
{
    const char *dot = strchr(name, '.');
    if (!dot) return is_pascal_case(name, strlen(name));
    if (dot == name) return false;
    for (const char *c = name; c < dot; c++)
        if (!is_lower(*c) && !is_digit(*c) && *c != '_') return false;
    return is_pascal_case(dot + 1, strlen(dot + 1));
}

static void check_ports(checker *c, const rbl_port_desc *ports, const char *what)
{
    for (size_t i = 0; ports && ports[i].name; i++) {
        if (!is_snake_case(ports[i].name)) fault(c, "%s \"%s\" is not snake_case", what, ports[i].name);
        if (strcmp(rbli_value_kind_word(ports[i].kind), "unknown") == 0)
            fault(c, "%s \"%s\" has no kind", what, ports[i].name);
        if (rbli_find_port(ports, ports[i].name) != i)
            fault(c, "%s \"%s\" is there twice", what, ports[i].name);
    }
}

/// A default must be a value of its own parameter.
static void check_default(checker *c, const rbl_param_desc *field)
{
    rbl_status status = RBL_OK;
    rbli_allocator *allocator = c->engine->allocator;
    size_t bytes = strlen(field->default_json), before = rbli_messages_error_count(c->messages);
    char *text = rbli_allocator_alloc(allocator, bytes + 1, 1);
    rbli_source *source = NULL;
    rbli_json *json = NULL;
    rbli_params *value = NULL;
    rbli_param_scope scope = {.allocator = allocator,
        .messages = c->messages,
        .folder = "",
        .pointer = "default",
        .node_offset = SIZE_MAX};
    RBL_TRY_ALLOC(text);
    memcpy(text, field->default_json, bytes + 1);
    RBL_TRY(rbli_source_create(allocator, field->name, text, bytes, &source));
    scope.source = source;
    RBL_TRY(rbli_json_parse(allocator, source, 0, c->messages, &json));
    RBL_TRY(rbli_params_build_value(&scope, field, json, 0, &value));
done:
    if (status == RBL_ERR_NO_MEMORY)
        c->out_of_memory = true;
    else if (status != RBL_OK || scope.failed || rbli_messages_error_count(c->messages) != before)
        fault(c, "the default %s of \"%s\" does not fit it", field->default_json, field->name);
    rbli_params_release(value);
    rbli_json_destroy(json);
    rbli_source_release(source);
}

static void check_fields(checker *c, const rbl_param_desc *fields, int depth)
{
    size_t count = 0;
    for (; fields && fields[count].name; count++) {
        const rbl_param_desc *field = &fields[count];
        if (!is_snake_case(field->name)) fault(c, "parameter \"%s\" is not snake_case", field->name);
        for (size_t i = 0; i < count; i++)
            if (strcmp(fields[i].name, field->name) == 0)
                fault(c, "parameter \"%s\" is there twice", field->name);
        if (!rbli_param_type_word(field->type)) {
            fault(c, "parameter \"%s\" has no type", field->name);
            continue;
        }
        if (field->type == RBL_PARAM_ENUM && (!field->words || !field->words[0])) {
            fault(c, "parameter \"%s\" has no words", field->name);
            continue;
        }
        if (field->min > field->max) fault(c, "parameter \"%s\" has no range", field->name);
        if (field->type == RBL_PARAM_OBJECT) {
            if (!field->fields || depth > 8)
                fault(c, "parameter \"%s\" has no fields, or is too deep", field->name);
            else
                check_fields(c, field->fields, depth + 1);
        }
        if (field->default_json && c->good) check_default(c, field);
    }
    if (count > MOST_FIELDS) fault(c, "more than %d parameters", MOST_FIELDS);
}

/// @return RBL_OK · RBL_ERR_ARGUMENT with a message · RBL_ERR_NO_MEMORY
static rbl_status check_desc(rbl_engine *engine, const rbl_node_desc *desc, rbl_messages *messages)
{
    checker c = {.engine = engine, .desc = desc, .messages = messages, .good = true};
    if (desc->size != sizeof *desc) fault(&c, "its descriptor is of another version of the library");
    if (!c.good) return RBL_ERR_ARGUMENT;
    if (!desc->type || !is_type_name(desc->type))
        fault(&c, "the name must be PascalCase or vendor.PascalCase");
    if (desc->version < 1) fault(&c, "versions begin at 1");
    if (!desc->evaluate) fault(&c, "it has no evaluate function");
    check_ports(&c, desc->inputs, "input");
    check_ports(&c, desc->outputs, "output");
    check_fields(&c, desc->params, 1);
    return c.out_of_memory ? RBL_ERR_NO_MEMORY : c.good ? RBL_OK : RBL_ERR_ARGUMENT;
}

rbl_status rbli_engine_check_nodes(rbl_engine *engine, rbl_messages *messages)
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < engine->type_count && status != RBL_ERR_NO_MEMORY; i++) {
        rbl_status found = check_desc(engine, engine->types[i]->desc, messages);
        if (found != RBL_OK) status = found;
    }
    return status;
}

/* ---- The registry ---- */

static int compare_types(const char *a, int a_version, const char *b, int b_version)
{
    int order = strcmp(a, b);
    return order ? order : (a_version > b_version) - (a_version < b_version);
}

/// First type that is not before (type, version).
static size_t lower_bound(const rbl_engine *engine, const char *type, int version)
{
    size_t low = 0, high = engine->type_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const rbl_node_desc *desc = engine->types[middle]->desc;
        if (compare_types(desc->type, desc->version, type, version) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const rbli_node_type *rbli_find_type(const rbl_engine *engine, const char *type, int version)
{
    if (version > 0) {
        size_t i = lower_bound(engine, type, version);
        bool found = i < engine->type_count && strcmp(engine->types[i]->desc->type, type) == 0 &&
                     engine->types[i]->desc->version == version;
        return found ? engine->types[i] : NULL;
    }
    size_t i = lower_bound(engine, type, INT32_MAX);
    if (i < engine->type_count && strcmp(engine->types[i]->desc->type, type) == 0) return engine->types[i];
    return i > 0 && strcmp(engine->types[i - 1]->desc->type, type) == 0 ? engine->types[i - 1] : NULL;
}

/// Registers a type whose descriptor is good. `copy`: the descriptor lives no longer than the call.
/// @return RBL_OK · RBL_ERR_ARGUMENT with a message (it exists) · RBL_ERR_NO_MEMORY
static rbl_status add_type(rbl_engine *engine, const rbl_node_desc *desc, bool copy, rbl_messages *messages)
{
    if (rbli_find_type(engine, desc->type, desc->version)) {
        rbli_message_addf(messages, RBL_ERROR, RBL_ERR_ARGUMENT, NULL, NULL,
            "node type %s: version %d exists", desc->type, desc->version);
        return RBL_ERR_ARGUMENT;
    }
    if (engine->type_count == engine->type_capacity) {
        size_t capacity = engine->type_capacity ? engine->type_capacity * 2 : 64;
        rbli_node_type **types =
            rbli_allocator_realloc(engine->allocator, engine->types, capacity, sizeof *types);
        if (!types) return RBL_ERR_NO_MEMORY;
        engine->types = types;
        engine->type_capacity = capacity;
    }
    rbli_node_type *type = rbli_allocator_calloc(engine->allocator, 1, sizeof *type);
    if (!type) return RBL_ERR_NO_MEMORY;
    type->is_registered = true;
    if (copy) type->own_desc = *desc;
    type->desc = copy ? &type->own_desc : desc;
    type->input_count = rbli_count_ports(desc->inputs);
    type->output_count = rbli_count_ports(desc->outputs);
    size_t at = lower_bound(engine, desc->type, desc->version);
    memmove(&engine->types[at + 1], &engine->types[at], (engine->type_count - at) * sizeof(rbli_node_type *));
    engine->types[at] = type;
    engine->type_count++;
    return RBL_OK;
}

const rbli_params *rbli_type_defaults(rbl_engine *engine, const rbli_node_type *of)
{
    rbli_node_type *type = (rbli_node_type *)of; /* nothing changes but what is remembered */
    rbli_params *made = NULL, *defaults = atomic_load_explicit(&type->defaults, memory_order_acquire);
    if (defaults || !type->is_registered) return defaults;
    rbli_param_scope scope = {
        .allocator = engine->allocator, .folder = "", .pointer = "", .node_offset = SIZE_MAX};
    if (rbli_params_build(&scope, type->desc->params, NULL, RBLI_JSON_NONE, NULL, &made) != RBL_OK)
        return NULL;
    if (atomic_compare_exchange_strong(&type->defaults, &defaults, made)) return made;
    rbli_params_release(made);
    return defaults;
}

rbl_status rbl_engine_register_node(rbl_engine *engine, const rbl_node_desc *desc, rbl_messages **messages)
{
    if (messages) {
        rbl_status status = rbli_messages_open(engine->allocator, messages);
        if (status != RBL_OK) return status;
    }
    rbl_node_desc whole = {0};
    bool shorter =
        desc->size < sizeof *desc && rbli_take_struct(&whole, sizeof whole, desc, RBLI_NODE_DESC_LEAST);
    const rbl_node_desc *checked = shorter ? &whole : desc;
    rbl_status status = check_desc(engine, checked, messages ? *messages : NULL);
    return status == RBL_OK ? add_type(engine, checked, shorter, messages ? *messages : NULL) : status;
}

size_t rbl_engine_node_count(const rbl_engine *engine)
{
    return engine->type_count;
}

const rbl_node_desc *rbl_engine_node(const rbl_engine *engine, size_t index)
{
    return index < engine->type_count ? engine->types[index]->desc : NULL;
}

const rbl_node_desc *rbl_engine_find_node(const rbl_engine *engine, const char *type, int version)
{
    const rbli_node_type *found = rbli_find_type(engine, type, version);
    return found ? found->desc : NULL;
}

const char *rbl_engine_nearest_node(const rbl_engine *engine, const char *type)
{
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, type);
    for (size_t i = 0; i < engine->type_count; i++)
        rbli_nearest_feed(&nearest, engine->types[i]->desc->type);
    return nearest.best;
}

/* ---- Engines ---- */

rbl_status rbl_engine_create(const rbl_engine_options *options, rbl_engine **out)
{
    rbl_engine_options defaults;
    rbl_engine_options_init(&defaults);
    if (options && !rbli_take_struct(&defaults, sizeof defaults, options, RBLI_ENGINE_OPTIONS_LEAST))
        return RBL_ERR_ARGUMENT;
    options = &defaults;
    if (options->thread_count < 0) return RBL_ERR_ARGUMENT;
    const rbl_executor *executor = options->executor;
    if (executor && executor->size != sizeof *executor) return RBL_ERR_ARGUMENT;
    rbli_allocator *allocator = rbli_allocator_create(options->reallocate, options->user);
    if (!allocator) return RBL_ERR_NO_MEMORY;
    rbl_engine *engine = rbli_allocator_calloc(allocator, 1, sizeof *engine);
    if (!engine) {
        rbli_allocator_release(allocator);
        return RBL_ERR_NO_MEMORY;
    }
    rbl_status status = RBL_OK;
    engine->allocator = allocator;
    engine->base.allocator = allocator;
    if (executor)
        RBL_TRY(rbli_pool_create_with_executor(allocator,
            &(rbli_executor){executor->thread_count, executor->run, executor->user}, &engine->pool));
    else if (options->thread_count != 1)
        RBL_TRY(rbli_pool_create(allocator, options->thread_count, &engine->pool));
    RBL_TRY(rbli_cache_create(allocator, options->memory_bytes, &engine->cache));
    if (options->cache_folder && *options->cache_folder)
        RBL_TRY(rbli_disk_cache_create(
            allocator, options->cache_folder, options->cache_bytes, &engine->disk_cache));
    /* A test checks their descriptors; here that would cost each start of a program. */
    for (size_t i = 0; rbli_builtin_nodes[i]; i++)
        RBL_TRY(add_type(engine, rbli_builtin_nodes[i], false, NULL));
    rbli_allocator_set_limit(allocator, options->limit_bytes, rbli_cache_evict, engine->cache);
    *out = engine;
    engine = NULL;
done:
    rbl_engine_destroy(engine);
    return status;
}

void rbl_engine_destroy(rbl_engine *engine)
{
    if (!engine) return;
    rbli_allocator *allocator = engine->allocator;
    rbli_allocator_set_limit(allocator, 0, NULL, NULL);
    for (size_t i = 0; i < engine->type_count; i++) {
        rbli_params_release(atomic_load(&engine->types[i]->defaults));
        rbli_allocator_free(allocator, engine->types[i]);
    }
    rbli_allocator_free(allocator, engine->types);
    rbli_cache_destroy(engine->cache);
    rbli_disk_cache_destroy(engine->disk_cache);
    rbli_pool_destroy(engine->pool);
    rbli_allocator_free(allocator, engine);
    rbli_allocator_release(allocator);
}

void rbl_engine_free_text(const rbl_engine *engine, char *text)
{
    rbli_allocator_free(engine->allocator, text);
}

size_t rbl_engine_cache_bytes(const rbl_engine *engine)
{
    return rbli_cache_bytes(engine->cache);
}

size_t rbl_engine_cache_entries(const rbl_engine *engine)
{
    return rbli_cache_count(engine->cache);
}

void rbl_engine_clear_cache(rbl_engine *engine)
{
    rbli_cache_clear(engine->cache);
}

const char *rbl_nearest_name(const char *name, const char *const *candidates, size_t count)
{
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, name);
    for (size_t i = 0; i < count; i++)
        rbli_nearest_feed(&nearest, candidates[i]);
    return nearest.best;
}

const char *rbl_value_kind_text(rbl_value_kind kind)
{
    return rbli_value_kind_word(kind);
}

const char *rbl_param_type_text(rbl_param_type type)
{
    const char *word = rbli_param_type_word(type);
    return word ? word : "unknown";
}
