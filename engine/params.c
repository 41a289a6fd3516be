/// Typed parameter values: their memory, and what the engine and nodes ask about them.

#include "engine/params_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fracture/base/alloc.h"

enum { FIRST_CHUNK_BYTES = 512, LARGEST_CHUNK_BYTES = 1 << 16 };

void *rbli_params_alloc(rbli_params *params, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX / 2) return NULL;
    bytes = (bytes + 7) & ~(size_t)7;
    params_chunk *chunk = params->chunks;
    if (!chunk || chunk->bytes - chunk->used < bytes) {
        size_t capacity = chunk ? chunk->bytes * 2 : FIRST_CHUNK_BYTES;
        if (capacity > LARGEST_CHUNK_BYTES) capacity = LARGEST_CHUNK_BYTES;
        if (capacity < bytes) capacity = bytes;
        chunk = rbli_allocator_alloc(params->allocator, sizeof *chunk + capacity, 1);
        if (!chunk) return NULL;
        *chunk = (params_chunk){params->chunks, 0, capacity};
        params->chunks = chunk;
    }
    void *memory = (char *)(chunk + 1) + chunk->used;
    chunk->used += bytes;
    return memory;
}

const char *rbli_params_strdup(rbli_params *params, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = rbli_params_alloc(params, bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

rbli_params *rbli_params_create(rbli_allocator *allocator, const char *pointer)
{
    rbli_params *params = rbli_allocator_calloc(allocator, 1, sizeof *params);
    if (!params) return NULL;
    params->allocator = rbli_allocator_retain(allocator);
    atomic_init(&params->references, 1);
    atomic_flag_clear(&params->pointer_lock);
    params->pointer = rbli_allocator_alloc(allocator, strlen(pointer) + 1, 1);
    if (!params->pointer) {
        rbli_params_release(params);
        return NULL;
    }
    memcpy(params->pointer, pointer, strlen(pointer) + 1);
    return params;
}

rbli_params *rbli_params_retain(const rbli_params *params)
{
    rbli_params *shared = (rbli_params *)params; /* only the count changes */
    atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
    return shared;
}

void rbli_params_release(rbli_params *params)
{
    if (!params || atomic_fetch_sub_explicit(&params->references, 1, memory_order_acq_rel) != 1) return;
    rbli_allocator *allocator = params->allocator;
    while (params->chunks) {
        params_chunk *next = params->chunks->next;
        rbli_allocator_free(allocator, params->chunks);
        params->chunks = next;
    }
    rbli_allocator_free(allocator, params->pointer);
    rbli_host_mesh_release(params->mesh);
    rbli_allocator_free(allocator, params);
    rbli_allocator_release(allocator);
}

const rbl_param *rbli_params_root(const rbli_params *params)
{
    return &params->root;
}

const rbli_host_mesh *rbli_params_mesh(const rbli_params *params)
{
    return params->mesh;
}

const char *rbli_param_type_words(rbl_param_type type)
{
    switch (type) {
    case RBL_PARAM_BOOL:
        return "true or false";
    case RBL_PARAM_INT:
        return "an integer";
    case RBL_PARAM_SEED:
        return "a seed (an integer from 0 to 4294967295)";
    case RBL_PARAM_FLOAT:
        return "a number";
    case RBL_PARAM_STRING:
        return "a string";
    case RBL_PARAM_PATH:
        return "a path (a string)";
    case RBL_PARAM_ENUM:
        return "a word (a string)";
    case RBL_PARAM_VEC3:
        return "a list of three numbers";
    case RBL_PARAM_INT3:
        return "a list of three integers";
    case RBL_PARAM_OBJECT:
        return "an object";
    }
    return "nothing";
}

const char *rbli_param_type_word(rbl_param_type type)
{
    switch (type) {
    case RBL_PARAM_BOOL:
        return "bool";
    case RBL_PARAM_INT:
        return "int";
    case RBL_PARAM_SEED:
        return "seed";
    case RBL_PARAM_FLOAT:
        return "float";
    case RBL_PARAM_STRING:
        return "string";
    case RBL_PARAM_PATH:
        return "path";
    case RBL_PARAM_ENUM:
        return "enum";
    case RBL_PARAM_VEC3:
        return "vec3";
    case RBL_PARAM_INT3:
        return "int3";
    case RBL_PARAM_OBJECT:
        return "object";
    }
    return NULL;
}

void rbli_params_compose_pointer(const rbl_param *param, rbli_text *out)
{
    const rbl_param *path[RBLI_JSON_MOST_DEPTH * 2];
    size_t depth = 0;
    for (; param->parent && depth < RBLI_JSON_MOST_DEPTH * 2; param = param->parent)
        path[depth++] = param;
    rbli_text_puts(out, param->owner->pointer);
    while (depth-- > 0) {
        if (path[depth]->index != RBLI_JSON_NONE)
            rbli_text_printf(out, "/%u", path[depth]->index);
        else
            rbli_json_pointer_step(out, path[depth]->desc->name);
    }
}

/* ---- Questions ---- */

/// The next parameter of a tree in depth-first order; NULL at the end.
static const rbl_param *next_param(const rbl_param *param, const rbl_param *root)
{
    if (param->count) return param->items;
    while (param != root) {
        const rbl_param *parent = param->parent;
        if ((size_t)(param - parent->items) + 1 < parent->count) return param + 1;
        param = parent;
    }
    return NULL;
}

bool rbli_params_use_variable(const rbli_params *params, int32_t variable)
{
    for (const rbl_param *p = &params->root; p; p = next_param(p, &params->root))
        if (p->variable == variable) return true;
    return false;
}

/// True for parameter `file` when a mesh stands for it.
static bool is_replaced(const rbli_params *params, const rbl_param *p)
{
    return params->mesh && p->parent == &params->root && strcmp(p->desc->name, "file") == 0;
}

const rbl_param *rbli_params_find_unset(const rbli_params *params)
{
    for (const rbl_param *p = &params->root; p; p = next_param(p, &params->root))
        if (p->variable >= 0 && p->absent && !is_replaced(params, p)) return p;
    return NULL;
}

static bool is_single(const rbl_param *param)
{
    return !param->desc->list || param->index != RBLI_JSON_NONE;
}

rbl_status rbli_params_each_path(
    const rbli_params *params, rbl_status (*fn)(void *user, const rbl_param *param), void *user)
{
    for (const rbl_param *p = &params->root; p; p = next_param(p, &params->root)) {
        if (p->desc->type != RBL_PARAM_PATH || !is_single(p) || p->absent || !p->string || !*p->string)
            continue;
        if (is_replaced(params, p)) continue;
        rbl_status status = fn(user, p);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/// Hashes what a parameter holds itself, not its items.
static void hash_own(rbli_hasher *hasher, const rbl_param *p)
{
    struct {
        int32_t type, absent;
        uint64_t count;
    } head = {(int32_t)p->desc->type, p->absent, p->count};
    rbli_hasher_add(hasher, &head, sizeof head);
    if (p->index == RBLI_JSON_NONE) rbli_hasher_add_string(hasher, p->desc->name ? p->desc->name : "");
    if (p->absent || !is_single(p)) return;
    switch (p->desc->type) {
    case RBL_PARAM_BOOL:
        rbli_hasher_add(hasher, &p->boolean, sizeof p->boolean);
        break;
    case RBL_PARAM_INT:
    case RBL_PARAM_SEED:
        rbli_hasher_add(hasher, &p->integer, sizeof p->integer);
        break;
    case RBL_PARAM_FLOAT:
        rbli_hasher_add(hasher, &p->number, sizeof p->number);
        break;
    case RBL_PARAM_STRING:
    case RBL_PARAM_ENUM:
        rbli_hasher_add_string(hasher, p->string);
        break;
    case RBL_PARAM_PATH:
        rbli_hasher_add_string(hasher, last_part(p->string));
        break;
    case RBL_PARAM_VEC3:
        rbli_hasher_add(hasher, p->vec3, sizeof p->vec3);
        break;
    case RBL_PARAM_INT3:
        rbli_hasher_add(hasher, p->int3, sizeof p->int3);
        break;
    case RBL_PARAM_OBJECT:
        break;
    }
}

static bool is_vector(const rbl_param *p)
{
    return is_single(p) && (p->desc->type == RBL_PARAM_VEC3 || p->desc->type == RBL_PARAM_INT3);
}

static rbli_hash hash_tree(const rbl_param *p)
{
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    if (is_vector(p)) { /* by its numbers, whether or not a variable gave one of them */
        rbl_param whole = *p;
        whole.count = 0;
        hash_own(&hasher, &whole);
        return rbli_hasher_end(&hasher);
    }
    hash_own(&hasher, p);
    for (size_t i = 0; i < p->count; i++) {
        rbli_hash item = hash_tree(&p->items[i]);
        rbli_hasher_add(&hasher, &item, sizeof item);
    }
    return rbli_hasher_end(&hasher);
}

rbli_hash rbli_params_hash(const rbli_params *params)
{
    rbli_hash hash = hash_tree(&params->root);
    if (!params->mesh) return hash;
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    rbli_hash mesh = rbli_host_mesh_hash(params->mesh);
    rbli_hasher_add(&hasher, &hash, sizeof hash);
    rbli_hasher_add(&hasher, &mesh, sizeof mesh);
    return rbli_hasher_end(&hasher);
}

bool rbli_params_difference(const rbli_params *a, const rbli_params *b, char *name, size_t bytes)
{
    const rbl_param *p = &a->root, *q = &b->root;
    name[0] = '\0';
    if (rbli_hash_equal(hash_tree(p), hash_tree(q))) {
        bool same = rbli_hash_equal(rbli_params_hash(a), rbli_params_hash(b));
        if (!same) snprintf(name, bytes, "file");
        return !same;
    }
    while (p->desc->type == RBL_PARAM_OBJECT && is_single(p) && p->count == q->count && p->count) {
        size_t i = 0;
        while (i + 1 < p->count && rbli_hash_equal(hash_tree(&p->items[i]), hash_tree(&q->items[i])))
            i++;
        p = &p->items[i];
        q = &q->items[i];
        size_t used = strlen(name);
        snprintf(name + used, bytes - used, "%s%s", used ? "." : "", p->desc->name);
    }
    return true;
}

static void single_json(const rbl_param *p, rbli_text *out)
{
    switch (p->desc->type) {
    case RBL_PARAM_BOOL:
        rbli_text_puts(out, p->boolean ? "true" : "false");
        break;
    case RBL_PARAM_INT:
    case RBL_PARAM_SEED:
        rbli_text_printf(out, "%lld", (long long)p->integer);
        break;
    case RBL_PARAM_FLOAT:
        rbli_text_json_double(out, p->number);
        break;
    case RBL_PARAM_STRING:
    case RBL_PARAM_ENUM:
        rbli_text_json_string(out, p->string);
        break;
    case RBL_PARAM_PATH:
        rbli_text_json_string(out, p->raw);
        break;
    case RBL_PARAM_VEC3:
    case RBL_PARAM_INT3:
        for (size_t k = 0; k < 3; k++) {
            rbli_text_puts(out, k ? ", " : "[");
            if (p->desc->type == RBL_PARAM_VEC3)
                rbli_text_json_double(out, p->vec3[k]);
            else
                rbli_text_printf(out, "%lld", (long long)p->int3[k]);
        }
        rbli_text_puts(out, "]");
        break;
    case RBL_PARAM_OBJECT:
        rbli_text_puts(out, "{");
        for (size_t i = 0, written = 0; i < p->count; i++) {
            if (p->items[i].absent) continue;
            if (written++) rbli_text_puts(out, ", ");
            rbli_text_json_string(out, p->items[i].desc->name);
            rbli_text_puts(out, ": ");
            rbli_param_json(&p->items[i], out);
        }
        rbli_text_puts(out, "}");
        break;
    }
}

void rbli_param_json(const rbl_param *p, rbli_text *out)
{
    if (p->absent) {
        rbli_text_puts(out, "null");
    } else if (is_single(p)) {
        single_json(p, out);
    } else {
        rbli_text_puts(out, "[");
        for (size_t i = 0; i < p->count; i++) {
            if (i) rbli_text_puts(out, ", ");
            rbli_param_json(&p->items[i], out);
        }
        rbli_text_puts(out, "]");
    }
}

/* ---- What nodes ask (include/rubble/node.h) ---- */

size_t rbl_param_count(const rbl_param *param)
{
    if (!param || param->absent) return 0;
    return is_single(param) ? 1 : param->count;
}

const rbl_param *rbl_param_at(const rbl_param *list, size_t index)
{
    if (!list || list->absent) return NULL;
    if (is_single(list)) return index == 0 ? list : NULL;
    return index < list->count ? &list->items[index] : NULL;
}

const rbl_param *rbl_param_field(const rbl_param *object, const char *name)
{
    if (!object || object->absent || object->desc->type != RBL_PARAM_OBJECT || !is_single(object))
        return NULL;
    for (size_t i = 0; i < object->count; i++)
        if (strcmp(object->items[i].desc->name, name) == 0)
            return object->items[i].absent ? NULL : &object->items[i];
    return NULL;
}

bool rbli_param_is_open(const rbl_param *object, const char *name)
{
    for (size_t i = 0; object && i < object->count; i++)
        if (strcmp(object->items[i].desc->name, name) == 0)
            return object->items[i].absent && object->items[i].from >= 0;
    return false;
}

bool rbl_param_bool(const rbl_param *param)
{
    return param && param->desc->type == RBL_PARAM_BOOL && is_single(param) && param->boolean;
}

int64_t rbl_param_int(const rbl_param *param)
{
    if (!param || !is_single(param)) return 0;
    if (param->desc->type == RBL_PARAM_INT || param->desc->type == RBL_PARAM_SEED) return param->integer;
    return param->desc->type == RBL_PARAM_ENUM ? param->word : 0;
}

double rbl_param_float(const rbl_param *param)
{
    if (!param || !is_single(param)) return 0;
    if (param->desc->type == RBL_PARAM_FLOAT) return param->number;
    return (double)rbl_param_int(param);
}

const char *rbl_param_string(const rbl_param *param)
{
    if (!param || !is_single(param)) return "";
    rbl_param_type type = param->desc->type;
    bool text = type == RBL_PARAM_STRING || type == RBL_PARAM_ENUM || type == RBL_PARAM_PATH;
    return text && param->string ? param->string : "";
}

void rbl_param_vec3(const rbl_param *param, double out[3])
{
    bool vector = param && param->desc->type == RBL_PARAM_VEC3 && is_single(param);
    for (size_t k = 0; k < 3; k++)
        out[k] = vector ? param->vec3[k] : 0;
}

void rbl_param_int3(const rbl_param *param, int64_t out[3])
{
    bool vector = param && param->desc->type == RBL_PARAM_INT3 && is_single(param);
    for (size_t k = 0; k < 3; k++)
        out[k] = vector ? param->int3[k] : 0;
}

const char *rbl_param_pointer(const rbl_param *param)
{
    if (!param) return "";
    rbli_params *owner = (rbli_params *)param->owner; /* only its memory for pointers grows, under the lock */
    rbli_text text;
    rbli_text_init(&text, owner->allocator);
    rbli_params_compose_pointer(param, &text);
    const char *kept = NULL;
    if (text.data && !text.failed) {
        while (atomic_flag_test_and_set_explicit(&owner->pointer_lock, memory_order_acquire)) {
        }
        kept = rbli_params_strdup(owner, text.data);
        atomic_flag_clear_explicit(&owner->pointer_lock, memory_order_release);
    }
    rbli_text_free(&text);
    return kept ? kept : owner->pointer;
}
