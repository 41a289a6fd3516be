/// The memory cache: segmented LRU (Karedla, Love and Wherry 1994). Entries are in a table by key and in one
/// of two lists by last use: those asked for once since they came, and those asked for again. What leaves is
/// the oldest of the first list, so a scan over many graphs does not push out what is in use. The second list
/// keeps at most a part of the budget; its oldest entries go back to the head of the first. Arrays shared by
/// several values count once, but those of a value that was read from disk: it counts whole, unpacked or not.

#include "engine/cache.h"

#include <string.h>
#include <uv.h>

#include "engine/value.h"
#include "fracture/base/alloc.h"
#include "fracture/collection/collection.h"

enum { PARTS = 10, PROTECTED_PARTS = 3 }; /* of the budget, for what was asked for again */

/* ---- Results ---- */

rbl_status rbli_result_create(rbli_allocator *allocator, size_t output_count, rbli_result **out)
{
    rbli_result *result = rbli_allocator_calloc(allocator, 1, sizeof *result);
    if (!result) return RBL_ERR_NO_MEMORY;
    result->outputs = rbli_allocator_calloc(allocator, output_count, sizeof *result->outputs);
    if (!result->outputs) {
        rbli_allocator_free(allocator, result);
        return RBL_ERR_NO_MEMORY;
    }
    result->allocator = rbli_allocator_retain(allocator);
    atomic_init(&result->references, 1);
    result->output_count = output_count;
    *out = result;
    return RBL_OK;
}

rbli_result *rbli_result_retain(rbli_result *result)
{
    atomic_fetch_add_explicit(&result->references, 1, memory_order_relaxed);
    return result;
}

void rbli_result_release(rbli_result *result)
{
    if (!result || atomic_fetch_sub_explicit(&result->references, 1, memory_order_acq_rel) != 1) return;
    rbli_allocator *allocator = result->allocator;
    for (size_t i = 0; i < result->output_count; i++)
        rbl_value_release(result->outputs[i]);
    for (size_t i = 0; i < result->message_count; i++)
        rbli_allocator_free(allocator, result->messages[i].text);
    for (size_t i = 0; i < result->file_count; i++)
        rbli_allocator_free(allocator, result->files[i].path);
    rbli_allocator_free(allocator, result->outputs);
    rbli_allocator_free(allocator, result->messages);
    rbli_allocator_free(allocator, result->files);
    rbli_allocator_free(allocator, result);
    rbli_allocator_release(allocator);
}

static char *copy_text(rbli_allocator *allocator, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = rbli_allocator_alloc(allocator, bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

rbl_status rbli_result_add_message(rbli_result *result, rbl_severity severity, const char *text)
{
    rbli_kept_message *messages = rbli_allocator_realloc(
        result->allocator, result->messages, result->message_count + 1, sizeof *messages);
    if (!messages) return RBL_ERR_NO_MEMORY;
    result->messages = messages;
    char *copy = copy_text(result->allocator, text);
    if (!copy) return RBL_ERR_NO_MEMORY;
    messages[result->message_count++] = (rbli_kept_message){severity, copy};
    return RBL_OK;
}

rbl_status rbli_result_add_file(rbli_result *result, const char *path, rbli_hash hash)
{
    rbli_file_stamp *files =
        rbli_allocator_realloc(result->allocator, result->files, result->file_count + 1, sizeof *files);
    if (!files) return RBL_ERR_NO_MEMORY;
    result->files = files;
    char *copy = copy_text(result->allocator, path);
    if (!copy) return RBL_ERR_NO_MEMORY;
    files[result->file_count++] = (rbli_file_stamp){.path = copy, .hash = hash};
    return RBL_OK;
}

size_t rbli_result_bytes(const rbli_result *result)
{
    size_t bytes = sizeof *result;
    for (size_t i = 0; i < result->output_count; i++)
        if (result->outputs[i]) bytes += rbli_value_bytes(result->outputs[i]);
    return bytes;
}

/* ---- Shared arrays ---- */

/// How many entries hold an array (or any other block): open addressing by address.
typedef struct block_slot {
    const void *block; /* NULL: free */
    size_t holders;
    size_t bytes;
} block_slot;

typedef struct block_table {
    rbli_allocator *allocator;
    block_slot *slots;
    size_t capacity, count;
} block_table;

static block_slot *block_find(block_slot *slots, size_t capacity, const void *block)
{
    size_t i = (size_t)(((uint64_t)(uintptr_t)block * 0x9E3779B97F4A7C15u) >> 20) & (capacity - 1);
    while (slots[i].block && slots[i].block != block)
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

/// A new table without the slots that nobody holds, at most a quarter full.
static bool block_grow(block_table *table)
{
    size_t capacity = 64, live = 0;
    for (size_t i = 0; i < table->capacity; i++)
        live += table->slots[i].holders > 0;
    while (capacity < live * 4)
        capacity *= 2;
    block_slot *slots = rbli_allocator_calloc(table->allocator, capacity, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->slots[i].holders) *block_find(slots, capacity, table->slots[i].block) = table->slots[i];
    rbli_allocator_free(table->allocator, table->slots);
    table->slots = slots;
    table->capacity = capacity;
    table->count = live;
    return true;
}

/// One holder more; the bytes that this adds to what is held. A block that cannot be noted counts each time.
static size_t block_hold(block_table *table, const void *block, size_t bytes)
{
    if (table->count * 2 >= table->capacity && !block_grow(table) && table->count + 1 >= table->capacity)
        return bytes;
    block_slot *slot = block_find(table->slots, table->capacity, block);
    if (!slot->block) {
        *slot = (block_slot){.block = block};
        table->count++;
    }
    if (slot->holders++) return 0;
    slot->bytes = bytes;
    return bytes;
}

/// One holder fewer; the bytes that nobody holds any more. Slots stay in their chain and are swept by
/// growing.
static size_t block_drop(block_table *table, const void *block, size_t bytes)
{
    if (!table->capacity) return bytes;
    block_slot *slot = block_find(table->slots, table->capacity, block);
    if (!slot->block || !slot->holders) return bytes;
    return --slot->holders ? 0 : slot->bytes;
}

/// Holds or drops everything in a result.
static size_t visit_blocks(
    block_table *table, const rbli_result *result, size_t (*visit)(block_table *, const void *, size_t))
{
    size_t bytes = sizeof *result;
    for (size_t i = 0; i < result->output_count; i++) {
        const rbl_value *value = result->outputs[i];
        if (!value) continue;
        /* A value that came packed counts with its bytes when unpacked, before and after it is. */
        const rbl_collection *collection = rbli_value_was_packed(value) ? NULL : rbl_value_collection(value);
        if (!collection) {
            bytes += visit(table, value, rbli_value_bytes(value));
            continue;
        }
        for (size_t g = 0; g < rbli_collection_group_count(collection); g++) {
            const char *group = rbli_collection_group_name(collection, g);
            for (size_t a = 0; a < rbli_collection_attribute_count(collection, group); a++) {
                const rbli_buffer *buffer = rbli_collection_buffer(
                    collection, group, rbli_collection_attribute_name(collection, group, a));
                if (buffer) bytes += visit(table, buffer, rbli_buffer_bytes(buffer));
            }
        }
    }
    return bytes;
}

/* ---- Entries ---- */

typedef struct cache_entry {
    rbli_hash key;
    rbli_result *result;
    struct cache_entry *next_in_bucket;
    struct cache_entry *newer, *older; /* in its list */
    bool again;                        /* asked for since it was put in */
    size_t own_bytes;                  /* shared arrays included: the share of its list */
} cache_entry;

typedef struct entry_list {
    cache_entry *newest, *oldest;
    size_t bytes;
} entry_list;

struct rbli_cache {
    rbli_allocator *allocator;
    uv_mutex_t mutex;
    atomic_uintptr_t owner; /* the thread that holds the mutex, 0: none */
    size_t budget, bytes, count;
    cache_entry **buckets;
    size_t bucket_count;
    entry_list once, again;
    block_table blocks;
};

rbl_status rbli_cache_create(rbli_allocator *allocator, size_t budget, rbli_cache **out)
{
    rbli_cache *cache = rbli_allocator_calloc(allocator, 1, sizeof *cache);
    if (!cache) return RBL_ERR_NO_MEMORY;
    if (uv_mutex_init(&cache->mutex) != 0) {
        rbli_allocator_free(allocator, cache);
        return RBL_ERR_NO_MEMORY;
    }
    cache->allocator = rbli_allocator_retain(allocator);
    cache->budget = budget;
    cache->blocks.allocator = allocator;
    *out = cache;
    return RBL_OK;
}

/// An address that is another one in each thread.
static uintptr_t this_thread(void)
{
    static _Thread_local char here;
    return (uintptr_t)&here;
}

static void lock(rbli_cache *cache)
{
    uv_mutex_lock(&cache->mutex);
    atomic_store_explicit(&cache->owner, this_thread(), memory_order_relaxed);
}

static void unlock(rbli_cache *cache)
{
    atomic_store_explicit(&cache->owner, 0, memory_order_relaxed);
    uv_mutex_unlock(&cache->mutex);
}

static entry_list *list_of(rbli_cache *cache, const cache_entry *entry)
{
    return entry->again ? &cache->again : &cache->once;
}

static void unlink_entry(rbli_cache *cache, cache_entry *entry)
{
    entry_list *list = list_of(cache, entry);
    *(entry->newer ? &entry->newer->older : &list->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &list->oldest) = entry->newer;
    list->bytes -= entry->own_bytes;
}

static void link_newest(rbli_cache *cache, cache_entry *entry)
{
    entry_list *list = list_of(cache, entry);
    entry->newer = NULL;
    entry->older = list->newest;
    *(list->newest ? &list->newest->newer : &list->oldest) = entry;
    list->newest = entry;
    list->bytes += entry->own_bytes;
}

static cache_entry **bucket_link(rbli_cache *cache, rbli_hash key)
{
    cache_entry **link = &cache->buckets[(size_t)key.low & (cache->bucket_count - 1)];
    while (*link && !rbli_hash_equal((*link)->key, key))
        link = &(*link)->next_in_bucket;
    return link;
}

static cache_entry *find_entry(rbli_cache *cache, rbli_hash key)
{
    return cache->bucket_count ? *bucket_link(cache, key) : NULL;
}

static void drop_entry(rbli_cache *cache, cache_entry *entry)
{
    unlink_entry(cache, entry);
    *bucket_link(cache, entry->key) = entry->next_in_bucket;
    cache->bytes -= visit_blocks(&cache->blocks, entry->result, block_drop);
    cache->count--;
    rbli_result_release(entry->result);
    rbli_allocator_free(cache->allocator, entry);
}

static bool grow_buckets(rbli_cache *cache)
{
    if (cache->count < cache->bucket_count) return true;
    size_t count = cache->bucket_count ? cache->bucket_count * 2 : 64;
    cache_entry **buckets = rbli_allocator_calloc(cache->allocator, count, sizeof(cache_entry *));
    if (!buckets) return cache->bucket_count > 0;
    for (size_t i = 0; i < cache->bucket_count; i++)
        for (cache_entry *entry = cache->buckets[i], *next; entry; entry = next) {
            next = entry->next_in_bucket;
            cache_entry **bucket = &buckets[(size_t)entry->key.low & (count - 1)];
            entry->next_in_bucket = *bucket;
            *bucket = entry;
        }
    rbli_allocator_free(cache->allocator, cache->buckets);
    cache->buckets = buckets;
    cache->bucket_count = count;
    return true;
}

void rbli_cache_destroy(rbli_cache *cache)
{
    if (!cache) return;
    rbli_allocator *allocator = cache->allocator;
    rbli_cache_clear(cache);
    rbli_allocator_free(allocator, cache->buckets);
    rbli_allocator_free(allocator, cache->blocks.slots);
    uv_mutex_destroy(&cache->mutex);
    rbli_allocator_free(allocator, cache);
    rbli_allocator_release(allocator);
}

/// Sends the oldest entries that were asked for again back to the others while they hold too much.
static void keep_protected_part(rbli_cache *cache)
{
    while (cache->again.bytes > cache->budget / PARTS * PROTECTED_PARTS && cache->again.oldest) {
        cache_entry *entry = cache->again.oldest;
        unlink_entry(cache, entry);
        entry->again = false;
        link_newest(cache, entry);
    }
}

rbli_result *rbli_cache_find(rbli_cache *cache, rbli_hash key)
{
    lock(cache);
    cache_entry *entry = find_entry(cache, key);
    rbli_result *result = entry ? rbli_result_retain(entry->result) : NULL;
    if (entry) {
        unlink_entry(cache, entry);
        entry->again = true;
        link_newest(cache, entry);
        keep_protected_part(cache);
    }
    unlock(cache);
    return result;
}

static void drop_one(rbli_cache *cache)
{
    drop_entry(cache, cache->once.oldest ? cache->once.oldest : cache->again.oldest);
}

static void shrink_to_budget(rbli_cache *cache)
{
    while (cache->bytes > cache->budget && cache->count)
        drop_one(cache);
}

bool rbli_cache_evict(void *user, size_t bytes)
{
    rbli_cache *cache = user;
    if (atomic_load_explicit(&cache->owner, memory_order_relaxed) == this_thread()) return false;
    lock(cache);
    size_t before = rbli_allocator_bytes(cache->allocator);
    size_t goal = before > bytes ? before - bytes : 0;
    bool any = cache->count > 0;
    while (cache->count && rbli_allocator_bytes(cache->allocator) > goal)
        drop_one(cache);
    unlock(cache);
    return any;
}

void rbli_cache_put(rbli_cache *cache, rbli_hash key, rbli_result *result)
{
    lock(cache);
    cache_entry *old = find_entry(cache, key);
    if (old) drop_entry(cache, old);
    cache_entry *entry = NULL;
    if (cache->budget && grow_buckets(cache))
        entry = rbli_allocator_calloc(cache->allocator, 1, sizeof *entry);
    if (entry) {
        entry->key = key;
        entry->result = rbli_result_retain(result);
        entry->own_bytes = rbli_result_bytes(result);
        cache_entry **link = bucket_link(cache, key);
        *link = entry;
        cache->bytes += visit_blocks(&cache->blocks, result, block_hold);
        cache->count++;
        link_newest(cache, entry);
        shrink_to_budget(cache);
    }
    unlock(cache);
}

void rbli_cache_remove(rbli_cache *cache, rbli_hash key)
{
    lock(cache);
    cache_entry *entry = find_entry(cache, key);
    if (entry) drop_entry(cache, entry);
    unlock(cache);
}

void rbli_cache_clear(rbli_cache *cache)
{
    lock(cache);
    while (cache->once.newest)
        drop_entry(cache, cache->once.newest);
    while (cache->again.newest)
        drop_entry(cache, cache->again.newest);
    unlock(cache);
}

size_t rbli_cache_bytes(rbli_cache *cache)
{
    lock(cache);
    size_t bytes = cache->bytes;
    unlock(cache);
    return bytes;
}

size_t rbli_cache_count(rbli_cache *cache)
{
    lock(cache);
    size_t count = cache->count;
    unlock(cache);
    return count;
}
