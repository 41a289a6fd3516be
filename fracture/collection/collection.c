/// Groups and attributes: two levels of small tables sorted by name, with references to shared arrays in the
/// leaves. Whatever replaces several arrays of a group makes all new ones first, so that a failure leaves the
/// group as it was.

#include "fracture/collection/collection.h"

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"

enum { NAME_MOST = 64 };

typedef struct attribute {
    char name[NAME_MOST + 1];
    rbli_buffer *buffer;
} attribute;

typedef struct attribute_group {
    char name[NAME_MOST + 1];
    size_t size; /* elements of each array */
    attribute *attributes;
    size_t attribute_count, attribute_capacity;
} attribute_group;

struct rbl_collection {
    rbli_allocator *own_allocator; /* of this struct */
    atomic_size_t references;
    rbli_allocator *allocator; /* of the tables */
    attribute_group *groups;
    size_t group_count, group_capacity;
};

bool rbli_collection_name_is_valid(const char *name)
{
    size_t length = strlen(name);
    if (length < 1 || length > NAME_MOST || (name[0] >= '0' && name[0] <= '9')) return false;
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
    }
    return true;
}

static rbl_status check_name(rbl_context *ctx, const char *kind, const char *name)
{
    if (rbli_collection_name_is_valid(name)) return RBL_OK;
    return rbli_fail(ctx, RBL_ERR_ARGUMENT,
        "%s name \"%.100s\" is not 1 to 64 lower-case letters, digits and underscores, beginning with no "
        "digit",
        kind, name);
}

/// Where `name` is or belongs among `count` rows of `row_bytes` that begin with their name.
static bool find_name(const void *rows, size_t count, size_t row_bytes, const char *name, size_t *index)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp((const char *)rows + middle * row_bytes, name);
        if (order == 0) {
            *index = middle;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *index = low;
    return false;
}

static attribute_group *find_group(const rbl_collection *collection, const char *name)
{
    size_t index;
    if (!find_name(collection->groups, collection->group_count, sizeof *collection->groups, name, &index))
        return NULL;
    return &collection->groups[index];
}

static attribute *find_attribute(const attribute_group *group, const char *name)
{
    size_t index;
    if (!group ||
        !find_name(group->attributes, group->attribute_count, sizeof *group->attributes, name, &index))
        return NULL;
    return &group->attributes[index];
}

/// Opens a zeroed row at `index`; NULL without memory.
static void *insert_row(
    rbli_allocator *allocator, void **rows, size_t *count, size_t *capacity, size_t row_bytes, size_t index)
{
    if (*count == *capacity) {
        size_t grown = *capacity ? *capacity * 2 : 8;
        void *moved = rbli_allocator_realloc(allocator, *rows, grown, row_bytes);
        if (!moved) return NULL;
        *rows = moved;
        *capacity = grown;
    }
    char *row = (char *)*rows + index * row_bytes;
    memmove(row + row_bytes, row, (*count - index) * row_bytes);
    memset(row, 0, row_bytes);
    ++*count;
    return row;
}

static void remove_row(void *rows, size_t *count, size_t row_bytes, size_t index)
{
    char *row = (char *)rows + index * row_bytes;
    memmove(row, row + row_bytes, (*count - index - 1) * row_bytes);
    --*count;
}

static void free_group(rbli_allocator *allocator, attribute_group *group)
{
    for (size_t i = 0; i < group->attribute_count; i++)
        rbli_buffer_release(group->attributes[i].buffer);
    rbli_allocator_free(allocator, group->attributes);
}

rbl_status rbli_collection_create(rbl_context *ctx, rbl_collection **out)
{
    rbl_collection *collection = rbli_calloc(ctx, 1, sizeof *collection);
    if (!collection) return RBL_ERR_NO_MEMORY;
    collection->own_allocator = rbli_allocator_retain(ctx->allocator);
    collection->allocator = rbli_allocator_retain(ctx->allocator);
    atomic_init(&collection->references, 1);
    *out = collection;
    return RBL_OK;
}

rbl_collection *rbli_collection_retain(rbl_collection *collection)
{
    atomic_fetch_add_explicit(&collection->references, 1, memory_order_relaxed);
    return collection;
}

void rbli_collection_release(rbl_collection *collection)
{
    if (!collection) return;
    if (atomic_fetch_sub_explicit(&collection->references, 1, memory_order_acq_rel) != 1) return;
    rbli_allocator *allocator = collection->own_allocator;
    for (size_t g = 0; g < collection->group_count; g++)
        free_group(collection->allocator, &collection->groups[g]);
    rbli_allocator_free(collection->allocator, collection->groups);
    rbli_allocator_release(collection->allocator);
    rbli_allocator_free(allocator, collection);
    rbli_allocator_release(allocator);
}

rbl_status rbli_collection_copy(rbl_context *ctx, const rbl_collection *collection, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *copy = NULL;
    RBL_TRY(rbli_collection_create(ctx, &copy));
    if (collection->group_count > 0) {
        copy->groups = rbli_calloc(ctx, collection->group_count, sizeof *copy->groups);
        RBL_TRY_ALLOC(copy->groups);
        copy->group_capacity = collection->group_count;
    }
    for (size_t g = 0; g < collection->group_count; g++) {
        const attribute_group *from = &collection->groups[g];
        attribute_group *to = &copy->groups[g];
        copy->group_count = g + 1;
        memcpy(to->name, from->name, sizeof to->name);
        to->size = from->size;
        if (from->attribute_count == 0) continue;
        to->attributes = rbli_alloc(ctx, from->attribute_count, sizeof *to->attributes);
        RBL_TRY_ALLOC(to->attributes);
        to->attribute_capacity = to->attribute_count = from->attribute_count;
        memcpy(to->attributes, from->attributes, from->attribute_count * sizeof *to->attributes);
        for (size_t i = 0; i < to->attribute_count; i++)
            rbli_buffer_retain(to->attributes[i].buffer);
    }
    *out = copy;
    copy = NULL;
done:
    rbli_collection_release(copy);
    return status;
}

void rbli_collection_swap(rbl_collection *a, rbl_collection *b)
{
    rbl_collection old = {.allocator = a->allocator,
        .groups = a->groups,
        .group_count = a->group_count,
        .group_capacity = a->group_capacity};
    a->allocator = b->allocator;
    a->groups = b->groups;
    a->group_count = b->group_count;
    a->group_capacity = b->group_capacity;
    b->allocator = old.allocator;
    b->groups = old.groups;
    b->group_count = old.group_count;
    b->group_capacity = old.group_capacity;
}

static rbl_status hash_buffers(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    rbli_buffer *const *buffers = user;
    rbl_status status = RBL_OK;
    (void)block;
    (void)worker;
    for (size_t i = begin; i < end && status == RBL_OK; i++)
        status = rbli_buffer_hash_polled(ctx, buffers[i]);
    return status;
}

rbl_status rbli_collection_hash_polled(rbl_context *ctx, const rbl_collection *collection)
{
    rbl_status status = RBL_OK;
    RBLI_ARRAY(rbli_buffer *) buffers = {0};
    for (size_t g = 0; g < collection->group_count; g++)
        for (size_t i = 0; i < collection->groups[g].attribute_count; i++)
            RBL_TRY(rbli_array_push(ctx, &buffers, collection->groups[g].attributes[i].buffer));
    RBL_TRY(rbli_parallel_for(ctx, buffers.count, 1, hash_buffers, buffers.data));
done:
    rbli_free(ctx, buffers.data);
    return status;
}

rbli_hash rbli_collection_hash(const rbl_collection *collection)
{
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    for (size_t g = 0; g < collection->group_count; g++) {
        const attribute_group *group = &collection->groups[g];
        const uint64_t counts[2] = {group->size, group->attribute_count};
        rbli_hasher_add_string(&hasher, group->name);
        rbli_hasher_add(&hasher, counts, sizeof counts);
        for (size_t i = 0; i < group->attribute_count; i++) {
            rbli_hash hash = rbli_buffer_hash(group->attributes[i].buffer);
            rbli_hasher_add_string(&hasher, group->attributes[i].name);
            rbli_hasher_add(&hasher, &hash, sizeof hash);
        }
    }
    return rbli_hasher_end(&hasher);
}

size_t rbli_collection_bytes(const rbl_collection *collection)
{
    size_t bytes = 0;
    for (size_t g = 0; g < collection->group_count; g++)
        for (size_t i = 0; i < collection->groups[g].attribute_count; i++)
            bytes += rbli_buffer_bytes(collection->groups[g].attributes[i].buffer);
    return bytes;
}

size_t rbli_collection_group_count(const rbl_collection *collection)
{
    return collection->group_count;
}

const char *rbli_collection_group_name(const rbl_collection *collection, size_t group)
{
    return collection->groups[group].name;
}

size_t rbli_collection_size(const rbl_collection *collection, const char *group)
{
    const attribute_group *found = find_group(collection, group);
    return found ? found->size : 0;
}

bool rbli_collection_has_group(const rbl_collection *collection, const char *group)
{
    return find_group(collection, group) != NULL;
}

/// Releases the first `count` buffers and the list.
static void free_buffers(rbl_context *ctx, rbli_buffer **buffers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rbli_buffer_release(buffers[i]);
    rbli_free(ctx, buffers);
}

/// Replaces all arrays of a group by those of `buffers`, and frees that list.
static void replace_buffers(rbl_context *ctx, attribute_group *group, rbli_buffer **buffers, size_t size)
{
    for (size_t i = 0; i < group->attribute_count; i++) {
        rbli_buffer_release(group->attributes[i].buffer);
        group->attributes[i].buffer = buffers[i];
    }
    group->size = size;
    rbli_free(ctx, buffers);
}

static rbl_status add_group(rbl_context *ctx, rbl_collection *collection, const char *name, size_t size)
{
    rbl_status status = check_name(ctx, "group", name);
    if (status != RBL_OK) return status;
    size_t index;
    find_name(collection->groups, collection->group_count, sizeof *collection->groups, name, &index);
    attribute_group *group = insert_row(collection->allocator, (void **)&collection->groups,
        &collection->group_count, &collection->group_capacity, sizeof *group, index);
    if (!group) return RBL_ERR_NO_MEMORY;
    memcpy(group->name, name, strlen(name) + 1);
    group->size = size;
    return RBL_OK;
}

rbl_status rbli_collection_resize(
    rbl_context *ctx, rbl_collection *collection, const char *group, size_t count)
{
    attribute_group *found = find_group(collection, group);
    if (!found) return add_group(ctx, collection, group, count);
    if (found->size == count) return RBL_OK;
    rbli_buffer **buffers = rbli_alloc(ctx, found->attribute_count, sizeof(rbli_buffer *));
    if (!buffers) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < found->attribute_count; i++) {
        rbl_status status = rbli_buffer_resize(ctx, found->attributes[i].buffer, count, &buffers[i]);
        if (status != RBL_OK) {
            free_buffers(ctx, buffers, i);
            return status;
        }
    }
    replace_buffers(ctx, found, buffers, count);
    return RBL_OK;
}

void rbli_collection_remove_group(rbl_collection *collection, const char *group)
{
    attribute_group *found = find_group(collection, group);
    if (!found) return;
    free_group(collection->allocator, found);
    remove_row(
        collection->groups, &collection->group_count, sizeof *found, (size_t)(found - collection->groups));
}

size_t rbli_collection_attribute_count(const rbl_collection *collection, const char *group)
{
    const attribute_group *found = find_group(collection, group);
    return found ? found->attribute_count : 0;
}

const char *rbli_collection_attribute_name(const rbl_collection *collection, const char *group, size_t index)
{
    const attribute_group *found = find_group(collection, group);
    return found && index < found->attribute_count ? found->attributes[index].name : NULL;
}

rbli_buffer *rbli_collection_buffer(const rbl_collection *collection, const char *group, const char *name)
{
    const attribute *found = find_attribute(find_group(collection, group), name);
    return found ? found->buffer : NULL;
}

const void *rbli_collection_read(
    const rbl_collection *collection, const char *group, const char *name, rbl_type type)
{
    const rbli_buffer *buffer = rbli_collection_buffer(collection, group, name);
    if (!buffer || rbli_buffer_is_list(buffer) || rbli_buffer_type(buffer) != type) return NULL;
    return rbli_buffer_data(buffer);
}

/// Puts `buffer` under a name; takes the reference on success only.
static rbl_status put_buffer(rbl_context *ctx, rbl_collection *collection, attribute_group *group,
    const char *name, rbli_buffer *buffer)
{
    size_t index;
    if (find_name(group->attributes, group->attribute_count, sizeof *group->attributes, name, &index)) {
        rbli_buffer_release(group->attributes[index].buffer);
        group->attributes[index].buffer = buffer;
        return RBL_OK;
    }
    rbl_status status = check_name(ctx, "attribute", name);
    if (status != RBL_OK) return status;
    attribute *added = insert_row(collection->allocator, (void **)&group->attributes, &group->attribute_count,
        &group->attribute_capacity, sizeof *added, index);
    if (!added) return RBL_ERR_NO_MEMORY;
    memcpy(added->name, name, strlen(name) + 1);
    added->buffer = buffer;
    return RBL_OK;
}

static rbl_status fail_no_group(rbl_context *ctx, const char *group)
{
    return rbli_fail(ctx, RBL_ERR_NOT_FOUND, "the collection has no group \"%s\"", group);
}

rbl_status rbli_collection_write(rbl_context *ctx, rbl_collection *collection, const char *group,
    const char *name, rbl_type type, void **out)
{
    attribute_group *found = find_group(collection, group);
    if (!found) return fail_no_group(ctx, group);
    attribute *existing = find_attribute(found, name);
    if (existing && rbli_buffer_type(existing->buffer) == type && !rbli_buffer_is_list(existing->buffer)) {
        void *elements = rbli_buffer_write(ctx, &existing->buffer);
        if (!elements) return RBL_ERR_NO_MEMORY;
        *out = elements;
        return RBL_OK;
    }
    rbl_status status = RBL_OK;
    rbli_buffer *buffer = NULL;
    RBL_TRY(rbli_buffer_create(ctx, type, found->size, &buffer));
    RBL_TRY(put_buffer(ctx, collection, found, name, buffer));
    *out = rbli_buffer_write(ctx, &buffer);
    buffer = NULL;
done:
    rbli_buffer_release(buffer);
    return status;
}

rbl_status rbli_collection_set(
    rbl_context *ctx, rbl_collection *collection, const char *group, const char *name, rbli_buffer *buffer)
{
    attribute_group *found = find_group(collection, group);
    if (!found) return fail_no_group(ctx, group);
    if (rbli_buffer_count(buffer) != found->size)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "%s.%s: %zu elements where the group has %zu", group, name,
            rbli_buffer_count(buffer), found->size);
    rbl_status status = put_buffer(ctx, collection, found, name, rbli_buffer_retain(buffer));
    if (status != RBL_OK) rbli_buffer_release(buffer);
    return status;
}

void rbli_collection_remove(rbl_collection *collection, const char *group, const char *name)
{
    attribute_group *found = find_group(collection, group);
    attribute *gone = find_attribute(found, name);
    if (!gone) return;
    rbli_buffer_release(gone->buffer);
    remove_row(found->attributes, &found->attribute_count, sizeof *gone, (size_t)(gone - found->attributes));
}

const char *rbli_collection_string(
    const rbl_collection *collection, const char *group, const char *name, size_t index)
{
    const rbli_buffer *buffer = rbli_collection_buffer(collection, group, name);
    return buffer ? rbli_buffer_string(buffer, index) : "";
}

enum { CHECKED_AT_ONCE = 1 << 16 }; /* between looks at the request to cancel */

/// Whether every source is −1 or below `size`; `identity`: whether each of as many is its own.
static rbl_status check_sources(
    rbl_context *ctx, const int32_t *source, size_t count, size_t size, const char *group, bool *identity)
{
    const uint32_t most =
        size < (size_t)1 << 31 ? (uint32_t)size : (uint32_t)1 << 31; /* of a source plus one */
    bool same = count == size;
    for (size_t begin = 0; begin < count; begin += CHECKED_AT_ONCE) {
        if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        size_t end = count - begin < CHECKED_AT_ONCE ? count : begin + CHECKED_AT_ONCE;
        uint32_t others = 0, faults = 0;
        for (size_t i = begin; i < end; i++) {
            others |= (uint32_t)source[i] ^ (uint32_t)i;
            faults |= (uint32_t)source[i] + 1 > most;
        }
        same = same && !others;
        for (size_t i = begin; faults && i < end; i++)
            if ((uint32_t)source[i] + 1 > most)
                return rbli_fail(ctx, RBL_ERR_ARGUMENT,
                    "%s: element %zu is gathered from %d, which is not one of %zu", group, i, (int)source[i],
                    size);
    }
    *identity = same;
    return RBL_OK;
}

rbl_status rbli_collection_gather(
    rbl_context *ctx, rbl_collection *collection, const char *group, const int32_t *source, size_t count)
{
    attribute_group *found = find_group(collection, group);
    if (!found) return fail_no_group(ctx, group);
    bool identity = false;
    rbl_status checked = check_sources(ctx, source, count, found->size, group, &identity);
    if (checked != RBL_OK || identity) return checked;
    rbli_buffer **buffers = rbli_alloc(ctx, found->attribute_count, sizeof(rbli_buffer *));
    if (!buffers) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < found->attribute_count; i++) {
        rbl_status status = rbli_cancelled(ctx) ? RBL_ERR_CANCELLED
                                                : rbli_buffer_gather_checked(ctx, found->attributes[i].buffer,
                                                      source, count, &buffers[i]);
        if (status != RBL_OK) {
            free_buffers(ctx, buffers, i);
            return status;
        }
    }
    replace_buffers(ctx, found, buffers, count);
    return RBL_OK;
}

rbl_status rbli_collection_filter(
    rbl_context *ctx, rbl_collection *collection, const char *group, const bool *keep, int32_t **new_index)
{
    const attribute_group *found = find_group(collection, group);
    if (!found) return fail_no_group(ctx, group);
    size_t size = found->size, kept = 0;
    if (size > INT32_MAX)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "%s: %zu elements are too many to index", group, size);
    rbl_status status = RBL_OK;
    int32_t *source = rbli_alloc(ctx, size, sizeof *source);
    int32_t *moved_to = new_index ? rbli_alloc(ctx, size, sizeof *moved_to) : NULL;
    RBL_TRY_ALLOC(source);
    if (new_index) RBL_TRY_ALLOC(moved_to);
    for (size_t i = 0; i < size; i++) {
        RBL_TRY(rbli_poll(ctx, i));
        if (moved_to) moved_to[i] = keep[i] ? (int32_t)kept : -1;
        if (keep[i]) source[kept++] = (int32_t)i;
    }
    RBL_TRY(rbli_collection_gather(ctx, collection, group, source, kept));
    if (new_index) {
        *new_index = moved_to;
        moved_to = NULL;
    }
done:
    rbli_free(ctx, moved_to);
    rbli_free(ctx, source);
    return status;
}
