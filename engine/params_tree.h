#ifndef RUBBLE_ENGINE_PARAMS_TREE_H
#define RUBBLE_ENGINE_PARAMS_TREE_H

/// The memory of parameter trees, for params.c and params_build.c.

#include <stdatomic.h>

#include "engine/host_mesh.h"
#include "engine/params.h"

typedef struct params_chunk {
    struct params_chunk *next;
    size_t used, bytes;
} params_chunk;
_Static_assert(sizeof(params_chunk) % 8 == 0, "memory behind the header is aligned for parameters");

struct rbli_params {
    rbli_allocator *allocator;
    atomic_size_t references;
    char *pointer; /* JSON pointer of the root */
    params_chunk *chunks;
    atomic_flag pointer_lock; /* guards `chunks` while pointers are composed */
    rbl_param root;
    rbl_param_desc root_desc;
    rbli_host_mesh *mesh; /* bound by the host in place of parameter `file`, or NULL */
};

/// Memory that lives as long as the tree; NULL without memory. Only while the tree is built.
void *rbli_params_alloc(rbli_params *params, size_t count, size_t size);
const char *rbli_params_strdup(rbli_params *params, const char *text);
/// A tree without values; `pointer`: of its root. NULL without memory.
rbli_params *rbli_params_create(rbli_allocator *allocator, const char *pointer);
/// The JSON pointer of a parameter, freed with rbli_text_free.
void rbli_params_compose_pointer(const rbl_param *param, rbli_text *out);

#endif
