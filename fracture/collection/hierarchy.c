/// Bones: everything is a loop over parents that come before their children, so depth costs no stack. What
/// changes several groups works on a copy and puts it in place at the end, so that a failure changes nothing.

#include "fracture/collection/hierarchy.h"

#include <stdio.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"

/// Parents of all bones with their number, each checked to be −1 or a bone; `before_child`: also to come
/// before the child.
static rbl_status get_parents(rbl_context *ctx, const rbl_collection *collection, bool before_child,
    const int32_t **parents, size_t *count)
{
    size_t bone_count = rbli_collection_size(collection, "bone");
    const int32_t *parent = rbli_collection_read(collection, "bone", "parent", RBL_INT32);
    if (!parent && bone_count > 0)
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "bone.parent is missing or not of type int32");
    if (bone_count > INT32_MAX)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "bone: %zu elements are too many to index", bone_count);
    for (size_t b = 0; b < bone_count; b++) {
        if (parent[b] < -1 || parent[b] >= (int32_t)bone_count)
            return rbli_fail(ctx, RBL_ERR_COLLECTION,
                "bone.parent: bone %zu has parent %d, which is not one of %zu", b, (int)parent[b],
                bone_count);
        if (before_child && parent[b] >= (int32_t)b)
            return rbli_fail(ctx, RBL_ERR_COLLECTION,
                "bone.parent: bone %zu has parent %d, which does not come before it", b, (int)parent[b]);
    }
    *parents = parent;
    *count = bone_count;
    return RBL_OK;
}

rbl_status rbli_children_build(rbl_context *ctx, const rbl_collection *collection, rbli_children *out)
{
    rbl_status status = RBL_OK;
    const int32_t *parent;
    size_t count, child_count = 0;
    rbli_children made = {0};
    RBL_TRY(get_parents(ctx, collection, false, &parent, &count));
    made.start = rbli_calloc(ctx, count + 1, sizeof *made.start);
    RBL_TRY_ALLOC(made.start);
    for (size_t b = 0; b < count; b++) {
        if (parent[b] < 0) continue;
        made.start[parent[b] + 1]++;
        child_count++;
    }
    made.child = rbli_alloc(ctx, child_count, sizeof *made.child);
    RBL_TRY_ALLOC(made.child);
    for (size_t b = 0; b < count; b++)
        made.start[b + 1] += made.start[b];
    /* Each row's start moves to its end while the row is filled; then all are moved back by one row. */
    for (size_t b = 0; b < count; b++)
        if (parent[b] >= 0) made.child[made.start[parent[b]]++] = (int32_t)b;
    for (size_t b = count; b > 0; b--)
        made.start[b] = made.start[b - 1];
    made.start[0] = 0;
    *out = made;
    made = (rbli_children){0};
done:
    rbli_children_free(ctx, &made);
    return status;
}

void rbli_children_free(rbl_context *ctx, rbli_children *children)
{
    rbli_free(ctx, children->start);
    rbli_free(ctx, children->child);
    *children = (rbli_children){0};
}

rbl_status rbli_hierarchy_update_levels(rbl_context *ctx, rbl_collection *collection)
{
    rbl_status status = RBL_OK;
    const int32_t *parent;
    int32_t *level;
    size_t count;
    RBL_TRY(get_parents(ctx, collection, true, &parent, &count));
    if (count == 0) return RBL_OK;
    const int32_t *now = rbli_collection_read(collection, "bone", "level", RBL_INT32);
    bool right = now != NULL;
    for (size_t b = 0; right && b < count; b++)
        right = now[b] == (parent[b] < 0 ? 0 : now[parent[b]] + 1);
    if (right) return RBL_OK;
    RBL_TRY(rbli_collection_write(ctx, collection, "bone", "level", RBL_INT32, (void **)&level));
    for (size_t b = 0; b < count; b++)
        level[b] = parent[b] < 0 ? 0 : level[parent[b]] + 1;
done:
    return status;
}

rbl_status rbli_hierarchy_world_transforms(
    rbl_context *ctx, const rbl_collection *collection, double (**out)[16])
{
    rbl_status status = RBL_OK;
    const int32_t *parent;
    size_t count;
    double(*world)[16] = NULL;
    RBL_TRY(get_parents(ctx, collection, true, &parent, &count));
    const double(*local)[16] = rbli_collection_read(collection, "bone", "transform", RBL_MAT4);
    if (!local && count > 0) {
        status = rbli_fail(ctx, RBL_ERR_COLLECTION, "bone.transform is missing or not of type mat4");
        goto done;
    }
    world = rbli_alloc(ctx, count, sizeof *world);
    RBL_TRY_ALLOC(world);
    for (size_t b = 0; b < count; b++) {
        if (parent[b] < 0)
            memcpy(world[b], local[b], sizeof *world);
        else
            rbli_affine_multiply(world[parent[b]], local[b], world[b]);
    }
    *out = world;
    world = NULL;
done:
    rbli_free(ctx, world);
    return status;
}

/// A binary heap of bones, least index on top.
static void heap_push(int32_t *heap, size_t *count, int32_t bone)
{
    size_t at = (*count)++;
    for (; at > 0 && heap[(at - 1) / 2] > bone; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = bone;
}

static int32_t heap_pop(int32_t *heap, size_t *count)
{
    int32_t top = heap[0], last = heap[--*count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= *count) break;
        if (child + 1 < *count && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= last) break;
        heap[at] = heap[child];
        at = child;
    }
    if (*count > 0) heap[at] = last;
    return top;
}

/// The order with parents first in which always the least bone that may come next comes next; so a sorted
/// hierarchy stays.
static rbl_status sort_parents_first(
    rbl_context *ctx, const rbl_collection *collection, const int32_t *parent, size_t count, int32_t *order)
{
    rbl_status status = RBL_OK;
    rbli_children children = {0};
    size_t heap_count = 0, placed = 0;
    int32_t *heap = rbli_alloc(ctx, count, sizeof *heap);
    RBL_TRY_ALLOC(heap);
    RBL_TRY(rbli_children_build(ctx, collection, &children));
    for (size_t b = 0; b < count; b++)
        if (parent[b] < 0) heap_push(heap, &heap_count, (int32_t)b);
    while (heap_count > 0) {
        int32_t bone = heap_pop(heap, &heap_count);
        order[placed++] = bone;
        for (int32_t c = children.start[bone]; c < children.start[bone + 1]; c++)
            heap_push(heap, &heap_count, children.child[c]);
    }
    if (placed < count)
        status = rbli_fail(
            ctx, RBL_ERR_COLLECTION, "bone.parent: %zu bones are in or below a cycle", count - placed);
done:
    rbli_children_free(ctx, &children);
    rbli_free(ctx, heap);
    return status;
}

/// Replaces each index i of an INT32 attribute, if it is there, by new_index[i]; negative ones stay.
static rbl_status renumber(rbl_context *ctx, rbl_collection *collection, const char *group, const char *name,
    const int32_t *new_index)
{
    if (!rbli_collection_read(collection, group, name, RBL_INT32)) return RBL_OK;
    size_t count = rbli_collection_size(collection, group);
    int32_t *values;
    rbl_status status = rbli_collection_write(ctx, collection, group, name, RBL_INT32, (void **)&values);
    for (size_t i = 0; status == RBL_OK && i < count; i++)
        if (values[i] >= 0) values[i] = new_index[values[i]];
    return status;
}

/// The same for an attribute of pairs, keeping the lesser index first.
static rbl_status renumber_pairs(rbl_context *ctx, rbl_collection *collection, const char *group,
    const char *name, const int32_t *new_index)
{
    if (!rbli_collection_read(collection, group, name, RBL_INT32_2)) return RBL_OK;
    size_t count = rbli_collection_size(collection, group);
    int32_t(*pairs)[2];
    rbl_status status = rbli_collection_write(ctx, collection, group, name, RBL_INT32_2, (void **)&pairs);
    for (size_t i = 0; status == RBL_OK && i < count; i++) {
        int32_t a = new_index[pairs[i][0]], b = new_index[pairs[i][1]];
        pairs[i][0] = a < b ? a : b;
        pairs[i][1] = a < b ? b : a;
    }
    return status;
}

/// Checks that an INT32 or INT32_2 attribute (when it is there) holds indices below `limit`, or from −1 if
/// `or_none`.
static rbl_status check_indices(rbl_context *ctx, const rbl_collection *collection, const char *group,
    const char *name, size_t per_element, size_t limit, bool or_none)
{
    const int32_t *values =
        rbli_collection_read(collection, group, name, per_element == 2 ? RBL_INT32_2 : RBL_INT32);
    size_t count = rbli_collection_size(collection, group);
    for (size_t i = 0; values && i < count * per_element; i++)
        if (values[i] < (or_none ? -1 : 0) || (values[i] >= 0 && (size_t)values[i] >= limit))
            return rbli_fail(ctx, RBL_ERR_COLLECTION,
                "%s.%s: element %zu has index %d, which is not one of %zu", group, name, i / per_element,
                (int)values[i], limit);
    return RBL_OK;
}

static rbl_status check_bone_indices(rbl_context *ctx, const rbl_collection *collection, size_t bone_count)
{
    rbl_status status = RBL_OK;
    RBL_TRY(check_indices(ctx, collection, "geometry", "bone", 1, bone_count, false));
    RBL_TRY(check_indices(ctx, collection, "convex", "bone", 1, bone_count, false));
    RBL_TRY(check_indices(ctx, collection, "connection", "bones", 2, bone_count, false));
    RBL_TRY(check_indices(
        ctx, collection, "bone", "geometry", 1, rbli_collection_size(collection, "geometry"), true));
done:
    return status;
}

rbl_status rbli_hierarchy_sort(rbl_context *ctx, rbl_collection *collection)
{
    rbl_status status = RBL_OK;
    const int32_t *parent;
    size_t count, moved = 0;
    int32_t *order = NULL, *new_index = NULL;
    rbl_collection *copy = NULL;
    RBL_TRY(get_parents(ctx, collection, false, &parent, &count));
    if (count == 0) return RBL_OK;
    order = rbli_alloc(ctx, count, sizeof *order);
    new_index = rbli_alloc(ctx, count, sizeof *new_index);
    RBL_TRY_ALLOC(order);
    RBL_TRY_ALLOC(new_index);
    RBL_TRY(sort_parents_first(ctx, collection, parent, count, order));
    for (size_t i = 0; i < count; i++) {
        new_index[order[i]] = (int32_t)i;
        moved += order[i] != (int32_t)i;
    }
    RBL_TRY(rbli_collection_copy(ctx, collection, &copy));
    if (moved > 0) {
        RBL_TRY(check_bone_indices(ctx, copy, count));
        RBL_TRY(rbli_collection_gather(ctx, copy, "bone", order, count));
        RBL_TRY(renumber(ctx, copy, "bone", "parent", new_index));
        RBL_TRY(renumber(ctx, copy, "geometry", "bone", new_index));
        RBL_TRY(renumber(ctx, copy, "convex", "bone", new_index));
        RBL_TRY(renumber_pairs(ctx, copy, "connection", "bones", new_index));
    }
    RBL_TRY(rbli_hierarchy_update_levels(ctx, copy));
    rbli_collection_swap(collection, copy);
done:
    rbli_collection_release(copy);
    rbli_free(ctx, new_index);
    rbli_free(ctx, order);
    return status;
}

/// Names in use, in open addressing, with the suffix to try next for each.
typedef struct name_table {
    const char **names; /* [capacity], NULL: free */
    uint32_t *next_suffix;
    size_t mask;
} name_table;

static size_t find_slot(const name_table *table, const char *name)
{
    size_t slot = (size_t)rbli_hash64(name, strlen(name)) & table->mask;
    while (table->names[slot] && strcmp(table->names[slot], name) != 0)
        slot = (slot + 1) & table->mask;
    return slot;
}

/// `name` itself or with the first free suffix "_2", "_3" …; in the arena, and entered. NULL without memory.
/// Where the number of a name that is taken goes: the end, but before "_sheet", by which programs know
/// sheets.
static size_t number_place(const char *name)
{
    static const char suffix[] = "_sheet";
    size_t length = strlen(name), ending = sizeof suffix - 1;
    return length > ending && strcmp(name + length - ending, suffix) == 0 ? length - ending : length;
}

static const char *make_unique(rbli_arena *arena, name_table *table, const char *name)
{
    size_t slot = find_slot(table, name);
    size_t bytes = strlen(name) + 16, place = number_place(name);
    char *unique = rbli_arena_alloc(arena, bytes, 1);
    if (!unique) return NULL;
    memcpy(unique, name, strlen(name) + 1);
    while (table->names[slot]) {
        size_t base = find_slot(table, name);
        snprintf(
            unique, bytes, "%.*s_%u%s", (int)place, name, (unsigned)++table->next_suffix[base], name + place);
        slot = find_slot(table, unique);
    }
    table->names[slot] = unique;
    table->next_suffix[slot] = 1;
    return unique;
}

/// The bone.name array with `count` unique names more.
static rbl_status add_names(rbl_context *ctx, const rbl_collection *collection, size_t count,
    const char *const *names, rbli_buffer **out)
{
    rbl_status status = RBL_OK;
    size_t old_count = rbli_collection_size(collection, "bone"), capacity = 16;
    rbli_buffer *added = NULL, *old = rbli_collection_buffer(collection, "bone", "name");
    const char **unique = NULL;
    name_table table = {0};
    rbli_arena arena;
    rbli_arena_init(&arena, ctx);
    if (!old || rbli_buffer_type(old) != RBL_CHAR || !rbli_buffer_is_list(old)) {
        status = rbli_fail(ctx, RBL_ERR_COLLECTION, "bone.name is missing or not of strings");
        goto done;
    }
    while (capacity / 2 < old_count + count)
        capacity *= 2;
    table.mask = capacity - 1;
    table.names = rbli_calloc(ctx, capacity, sizeof *table.names);
    table.next_suffix = rbli_calloc(ctx, capacity, sizeof *table.next_suffix);
    unique = rbli_alloc(ctx, count, sizeof *unique);
    RBL_TRY_ALLOC(table.names);
    RBL_TRY_ALLOC(table.next_suffix);
    RBL_TRY_ALLOC(unique);
    for (size_t b = 0; b < old_count; b++) {
        size_t slot = find_slot(&table, rbli_buffer_string(old, b));
        table.names[slot] = rbli_buffer_string(old, b);
        table.next_suffix[slot] = 1;
    }
    for (size_t i = 0; i < count; i++) {
        const char *wanted = names && names[i] && names[i][0] ? names[i] : "bone";
        unique[i] = make_unique(&arena, &table, wanted);
        RBL_TRY_ALLOC(unique[i]);
    }
    RBL_TRY(rbli_buffer_create_strings(ctx, count, unique, &added));
    RBL_TRY(rbli_buffer_concat(ctx, old, added, out));
done:
    rbli_buffer_release(added);
    rbli_free(ctx, unique);
    rbli_free(ctx, table.next_suffix);
    rbli_free(ctx, table.names);
    rbli_arena_free(&arena);
    return status;
}

/// Sets the attributes of bones old_count … old_count + count − 1.
static rbl_status set_new_bones(rbl_context *ctx, rbl_collection *collection, size_t old_count, size_t count,
    const int32_t *parents, rbli_bone_type type)
{
    rbl_status status = RBL_OK;
    int32_t *parent, *level, *kind, *simulation, *geometry, *site;
    double(*transform)[16];
    bool *anchored;
    RBL_TRY(rbli_collection_write(ctx, collection, "bone", "parent", RBL_INT32, (void **)&parent));
    RBL_TRY(rbli_collection_write(ctx, collection, "bone", "level", RBL_INT32, (void **)&level));
    RBL_TRY(rbli_collection_write(ctx, collection, "bone", "type", RBL_INT32, (void **)&kind));
    RBL_TRY(
        rbli_collection_write(ctx, collection, "bone", "simulation_type", RBL_INT32, (void **)&simulation));
    RBL_TRY(rbli_collection_write(ctx, collection, "bone", "transform", RBL_MAT4, (void **)&transform));
    RBL_TRY(rbli_collection_write(ctx, collection, "bone", "geometry", RBL_INT32, (void **)&geometry));
    RBL_TRY(rbli_collection_write(ctx, collection, "bone", "site", RBL_INT32, (void **)&site));
    RBL_TRY(rbli_collection_write(ctx, collection, "bone", "anchored", RBL_BOOL, (void **)&anchored));
    for (size_t i = 0; i < count; i++) {
        size_t b = old_count + i;
        parent[b] = parents ? parents[i] : -1;
        level[b] = parent[b] < 0 ? 0 : level[parent[b]] + 1;
        kind[b] = (int32_t)type;
        simulation[b] = RBLI_SIMULATION_DYNAMIC;
        geometry[b] = site[b] = -1;
        for (int k = 0; k < 4; k++)
            transform[b][k * 5] = 1;
    }
done:
    return status;
}

rbl_status rbli_hierarchy_add_bones(rbl_context *ctx, rbl_collection *collection, size_t count,
    const int32_t *parents, const char *const *names, rbli_bone_type type, int32_t *first)
{
    rbl_status status = RBL_OK;
    rbli_buffer *all_names = NULL;
    rbl_collection *copy = NULL;
    size_t old_count = rbli_collection_size(collection, "bone");
    if (!rbli_collection_has_group(collection, "bone"))
        return rbli_fail(ctx, RBL_ERR_NOT_FOUND, "the collection has no group \"bone\"");
    if (count > INT32_MAX - 1 || old_count > INT32_MAX - 1 - count)
        return rbli_fail(
            ctx, RBL_ERR_LIMIT, "bone: %zu and %zu more are too many to index", old_count, count);
    for (size_t i = 0; parents && i < count; i++)
        if (parents[i] < -1 || (parents[i] >= 0 && (size_t)parents[i] >= old_count))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "new bone %zu has parent %d, which is not one of %zu", i,
                (int)parents[i], old_count);
    RBL_TRY(add_names(ctx, collection, count, names, &all_names));
    RBL_TRY(rbli_collection_copy(ctx, collection, &copy));
    /* The names are replaced whole: leave them out of the resizing. */
    rbli_collection_remove(copy, "bone", "name");
    RBL_TRY(rbli_collection_resize(ctx, copy, "bone", old_count + count));
    RBL_TRY(rbli_collection_set(ctx, copy, "bone", "name", all_names));
    RBL_TRY(set_new_bones(ctx, copy, old_count, count, parents, type));
    rbli_collection_swap(collection, copy);
    if (first) *first = (int32_t)old_count;
done:
    rbli_collection_release(copy);
    rbli_buffer_release(all_names);
    return status;
}

/// Gives children of removed bones to the nearest bone above that stays, with the transforms between
/// multiplied in.
static rbl_status move_children_up(
    rbl_context *ctx, rbl_collection *collection, const bool *remove, size_t count)
{
    rbl_status status = RBL_OK;
    int32_t *parent;
    double(*local)[16] = NULL, moved[16];
    RBL_TRY(rbli_collection_write(ctx, collection, "bone", "parent", RBL_INT32, (void **)&parent));
    if (rbli_collection_read(collection, "bone", "transform", RBL_MAT4))
        RBL_TRY(rbli_collection_write(ctx, collection, "bone", "transform", RBL_MAT4, (void **)&local));
    /* Parents come first, so a removed parent is already attached to a bone that stays: one step is enough.
     */
    for (size_t b = 0; b < count; b++) {
        int32_t above = parent[b];
        if (above < 0 || !remove[above]) continue;
        parent[b] = parent[above];
        if (!local) continue;
        rbli_affine_multiply(local[above], local[b], moved);
        memcpy(local[b], moved, sizeof moved);
    }
done:
    return status;
}

/// Marks the elements of each kept geometry's range in keep[0 … size − 1].
static rbl_status mark_ranges(rbl_context *ctx, const rbl_collection *collection, const char *group,
    const char *start_name, const char *count_name, const bool *keep_geometry, bool *keep)
{
    const int32_t *start = rbli_collection_read(collection, "geometry", start_name, RBL_INT32);
    const int32_t *length = rbli_collection_read(collection, "geometry", count_name, RBL_INT32);
    size_t size = rbli_collection_size(collection, group);
    if (!start || !length)
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "geometry.%s or %s is missing or not of type int32",
            start_name, count_name);
    for (size_t g = 0; g < rbli_collection_size(collection, "geometry"); g++) {
        if (start[g] < 0 || length[g] < 0 || (size_t)start[g] + (size_t)length[g] > size)
            return rbli_fail(ctx, RBL_ERR_COLLECTION,
                "geometry.%s: geometry %zu has elements %d … %lld of %zu", start_name, g, (int)start[g],
                (long long)start[g] + length[g] - 1, size);
        if (keep_geometry[g]) memset(keep + start[g], 1, (size_t)length[g]);
    }
    return RBL_OK;
}

/// Writes ranges without gaps again from their lengths.
static rbl_status close_ranges(
    rbl_context *ctx, rbl_collection *collection, const char *start_name, const char *count_name)
{
    const int32_t *length = rbli_collection_read(collection, "geometry", count_name, RBL_INT32);
    int32_t *start, at = 0;
    rbl_status status =
        rbli_collection_write(ctx, collection, "geometry", start_name, RBL_INT32, (void **)&start);
    for (size_t g = 0; status == RBL_OK && g < rbli_collection_size(collection, "geometry"); g++) {
        start[g] = at;
        at += length[g];
    }
    return status;
}

static rbl_status renumber_face_vertices(
    rbl_context *ctx, rbl_collection *collection, const int32_t *new_vertex, size_t old_vertex_count)
{
    rbl_status status = RBL_OK;
    int32_t(*vertices)[3];
    size_t count = rbli_collection_size(collection, "face");
    RBL_TRY(rbli_collection_write(ctx, collection, "face", "vertices", RBL_INT32_3, (void **)&vertices));
    for (size_t f = 0; f < count; f++) {
        RBL_TRY(rbli_poll(ctx, f));
        for (int k = 0; k < 3; k++) {
            int32_t vertex = vertices[f][k];
            if (vertex < 0 || (size_t)vertex >= old_vertex_count || new_vertex[vertex] < 0)
                return rbli_fail(ctx, RBL_ERR_COLLECTION,
                    "face.vertices: a kept face has vertex %d, which is not in its geometry", (int)vertex);
            vertices[f][k] = new_vertex[vertex];
        }
    }
done:
    return status;
}

/// Keeps those elements of a group whose index or pair of indices is kept (new_index ≥ 0), and renumbers
/// these.
static rbl_status filter_owned(rbl_context *ctx, rbl_collection *collection, const char *group,
    const char *name, size_t per_element, const int32_t *new_index)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(collection, group);
    const int32_t *owner =
        rbli_collection_read(collection, group, name, per_element == 2 ? RBL_INT32_2 : RBL_INT32);
    if (!owner) return RBL_OK;
    bool *keep = rbli_alloc(ctx, count, sizeof *keep);
    RBL_TRY_ALLOC(keep);
    for (size_t i = 0; i < count; i++)
        keep[i] = new_index[owner[i * per_element]] >= 0 && new_index[owner[(i + 1) * per_element - 1]] >= 0;
    RBL_TRY(rbli_collection_filter(ctx, collection, group, keep, NULL));
    if (per_element == 2)
        RBL_TRY(renumber_pairs(ctx, collection, group, name, new_index));
    else
        RBL_TRY(renumber(ctx, collection, group, name, new_index));
done:
    rbli_free(ctx, keep);
    return status;
}

/// Whether the geometries that are not kept have any vertices or faces.
static bool have_ranges(const rbl_collection *collection, const bool *keep_geometry)
{
    const int32_t *vertices = rbli_collection_read(collection, "geometry", "vertex_count", RBL_INT32);
    const int32_t *faces = rbli_collection_read(collection, "geometry", "face_count", RBL_INT32);
    for (size_t g = 0; g < rbli_collection_size(collection, "geometry"); g++)
        if (!keep_geometry[g] && (!vertices || !faces || vertices[g] != 0 || faces[g] != 0)) return true;
    return false;
}

/// Removes the vertices, faces and corners of all geometries that are not kept.
static rbl_status remove_ranges(rbl_context *ctx, rbl_collection *collection, const bool *keep_geometry)
{
    rbl_status status = RBL_OK;
    size_t vertex_count = rbli_collection_size(collection, "vertex"),
           face_count = rbli_collection_size(collection, "face");
    int32_t *new_vertex = NULL;
    bool *keep_corner = NULL, *keep_vertex = rbli_calloc(ctx, vertex_count, 1),
         *keep_face = rbli_calloc(ctx, face_count, 1);
    RBL_TRY_ALLOC(keep_vertex);
    RBL_TRY_ALLOC(keep_face);
    RBL_TRY(
        mark_ranges(ctx, collection, "vertex", "vertex_start", "vertex_count", keep_geometry, keep_vertex));
    RBL_TRY(mark_ranges(ctx, collection, "face", "face_start", "face_count", keep_geometry, keep_face));
    if (rbli_collection_has_group(collection, "corner")) {
        if (rbli_collection_size(collection, "corner") != 3 * face_count) {
            status = rbli_fail(ctx, RBL_ERR_COLLECTION, "corner: %zu elements where %zu faces have %zu",
                rbli_collection_size(collection, "corner"), face_count, 3 * face_count);
            goto done;
        }
        keep_corner = rbli_alloc(ctx, face_count, 3);
        RBL_TRY_ALLOC(keep_corner);
        for (size_t c = 0; c < 3 * face_count; c++) {
            RBL_TRY(rbli_poll(ctx, c));
            keep_corner[c] = keep_face[c / 3];
        }
        RBL_TRY(rbli_collection_filter(ctx, collection, "corner", keep_corner, NULL));
    }
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    RBL_TRY(rbli_collection_filter(ctx, collection, "face", keep_face, NULL));
    RBL_TRY(rbli_collection_filter(ctx, collection, "vertex", keep_vertex, &new_vertex));
    RBL_TRY(renumber_face_vertices(ctx, collection, new_vertex, vertex_count));
done:
    rbli_free(ctx, new_vertex);
    rbli_free(ctx, keep_corner);
    rbli_free(ctx, keep_face);
    rbli_free(ctx, keep_vertex);
    return status;
}

/// Removes geometries of removed bones with all that depends on them; bones still have their old numbers.
static rbl_status remove_geometries(rbl_context *ctx, rbl_collection *collection, const bool *remove)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(collection, "geometry"), kept = 0;
    const int32_t *owner = rbli_collection_read(collection, "geometry", "bone", RBL_INT32);
    if (!owner) return RBL_OK;
    int32_t *new_geometry = NULL;
    bool *keep = rbli_alloc(ctx, count, sizeof *keep);
    RBL_TRY_ALLOC(keep);
    for (size_t g = 0; g < count; g++)
        kept += keep[g] = !remove[owner[g]];
    if (kept == count) goto done;
    RBL_TRY(check_indices(ctx, collection, "proximity", "geometries", 2, count, false));
    RBL_TRY(check_indices(ctx, collection, "contact", "geometries", 2, count, false));
    if (have_ranges(collection, keep)) RBL_TRY(remove_ranges(ctx, collection, keep));
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    RBL_TRY(rbli_collection_filter(ctx, collection, "geometry", keep, &new_geometry));
    RBL_TRY(close_ranges(ctx, collection, "vertex_start", "vertex_count"));
    RBL_TRY(close_ranges(ctx, collection, "face_start", "face_count"));
    RBL_TRY(renumber(ctx, collection, "bone", "geometry", new_geometry));
    RBL_TRY(filter_owned(ctx, collection, "proximity", "geometries", 2, new_geometry));
    RBL_TRY(filter_owned(ctx, collection, "contact", "geometries", 2, new_geometry));
done:
    rbli_free(ctx, new_geometry);
    rbli_free(ctx, keep);
    return status;
}

rbl_status rbli_hierarchy_remove_bones(rbl_context *ctx, rbl_collection *collection, const bool *remove)
{
    rbl_status status = RBL_OK;
    const int32_t *parent;
    size_t count, removed = 0;
    bool *keep = NULL;
    int32_t *new_index = NULL;
    rbl_collection *copy = NULL;
    RBL_TRY(get_parents(ctx, collection, true, &parent, &count));
    for (size_t b = 0; b < count; b++)
        removed += remove[b];
    if (removed == 0) return RBL_OK;
    RBL_TRY(check_bone_indices(ctx, collection, count));
    keep = rbli_alloc(ctx, count, sizeof *keep);
    RBL_TRY_ALLOC(keep);
    for (size_t b = 0; b < count; b++)
        keep[b] = !remove[b];
    RBL_TRY(rbli_collection_copy(ctx, collection, &copy));
    RBL_TRY(move_children_up(ctx, copy, remove, count));
    RBL_TRY(remove_geometries(ctx, copy, remove));
    RBL_TRY(rbli_collection_filter(ctx, copy, "bone", keep, &new_index));
    RBL_TRY(renumber(ctx, copy, "bone", "parent", new_index));
    RBL_TRY(renumber(ctx, copy, "geometry", "bone", new_index));
    RBL_TRY(filter_owned(ctx, copy, "convex", "bone", 1, new_index));
    RBL_TRY(filter_owned(ctx, copy, "connection", "bones", 2, new_index));
    RBL_TRY(rbli_hierarchy_update_levels(ctx, copy));
    rbli_collection_swap(collection, copy);
done:
    rbli_collection_release(copy);
    rbli_free(ctx, new_index);
    rbli_free(ctx, keep);
    return status;
}

struct rbli_selection {
    rbli_allocator *allocator;
    atomic_size_t references;
    rbli_hash topology;
    size_t count;
    int32_t bones[];
};

rbli_hash rbli_topology_hash(const rbl_collection *collection)
{
    const uint64_t count = rbli_collection_size(collection, "bone");
    const rbli_buffer *parents = rbli_collection_buffer(collection, "bone", "parent");
    const rbli_buffer *names = rbli_collection_buffer(collection, "bone", "name");
    rbli_hash hash = rbli_hash_bytes(&count, sizeof count), none = {0};
    hash = rbli_hash_combine(hash, names ? rbli_buffer_hash(names) : none);
    return rbli_hash_combine(hash, parents ? rbli_buffer_hash(parents) : none);
}

rbl_status rbli_selection_create(rbl_context *ctx, const rbl_collection *collection, const int32_t *bones,
    size_t count, rbli_selection **out)
{
    size_t bone_count = rbli_collection_size(collection, "bone"), kept = 0;
    for (size_t i = 0; i < count; i++)
        if (bones[i] < 0 || (size_t)bones[i] >= bone_count)
            return rbli_fail(
                ctx, RBL_ERR_ARGUMENT, "selected bone %d is not one of %zu", (int)bones[i], bone_count);
    rbl_status status = RBL_OK;
    rbli_selection *made = NULL;
    bool *chosen = rbli_calloc(ctx, bone_count, sizeof *chosen);
    RBL_TRY_ALLOC(chosen);
    for (size_t i = 0; i < count; i++) {
        kept += !chosen[bones[i]];
        chosen[bones[i]] = true;
    }
    made = rbli_alloc(ctx, 1, sizeof *made + kept * sizeof *made->bones);
    RBL_TRY_ALLOC(made);
    made->allocator = rbli_allocator_retain(ctx->allocator);
    atomic_init(&made->references, 1);
    made->topology = rbli_topology_hash(collection);
    made->count = 0;
    for (size_t b = 0; b < bone_count; b++)
        if (chosen[b]) made->bones[made->count++] = (int32_t)b;
    *out = made;
done:
    rbli_free(ctx, chosen);
    return status;
}

rbl_status rbli_selection_restore(
    rbl_context *ctx, rbli_hash topology, const int32_t *bones, size_t count, rbli_selection **out)
{
    for (size_t i = 0; i < count; i++)
        if (bones[i] < 0 || (i > 0 && bones[i] <= bones[i - 1]))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "selected bones do not ascend at %zu", i);
    if (count > (SIZE_MAX - sizeof(rbli_selection)) / sizeof *bones) return RBL_ERR_NO_MEMORY;
    rbli_selection *made = rbli_alloc(ctx, 1, sizeof *made + count * sizeof *made->bones);
    if (!made) return RBL_ERR_NO_MEMORY;
    made->allocator = rbli_allocator_retain(ctx->allocator);
    atomic_init(&made->references, 1);
    made->topology = topology;
    made->count = count;
    if (count) memcpy(made->bones, bones, count * sizeof *bones);
    *out = made;
    return RBL_OK;
}

rbli_hash rbli_selection_topology(const rbli_selection *selection)
{
    return selection->topology;
}

rbli_selection *rbli_selection_retain(rbli_selection *selection)
{
    atomic_fetch_add_explicit(&selection->references, 1, memory_order_relaxed);
    return selection;
}

void rbli_selection_release(rbli_selection *selection)
{
    if (!selection) return;
    if (atomic_fetch_sub_explicit(&selection->references, 1, memory_order_acq_rel) != 1) return;
    rbli_allocator *allocator = selection->allocator;
    rbli_allocator_free(allocator, selection);
    rbli_allocator_release(allocator);
}

size_t rbli_selection_count(const rbli_selection *selection)
{
    return selection->count;
}

const int32_t *rbli_selection_bones(const rbli_selection *selection)
{
    return selection->bones;
}

rbli_hash rbli_selection_hash(const rbli_selection *selection)
{
    return rbli_hash_combine(
        selection->topology, rbli_hash_bytes(selection->bones, selection->count * sizeof *selection->bones));
}

size_t rbli_selection_bytes(const rbli_selection *selection)
{
    return sizeof *selection + selection->count * sizeof *selection->bones;
}

bool rbli_selection_fits(const rbli_selection *selection, const rbl_collection *collection)
{
    /* A restored selection has not seen its collection. */
    if (selection->count &&
        (size_t)selection->bones[selection->count - 1] >= rbli_collection_size(collection, "bone"))
        return false;
    return rbli_hash_equal(selection->topology, rbli_topology_hash(collection));
}

rbl_status rbli_rigid_leaves(rbl_context *ctx, const rbl_collection *collection,
    const rbli_selection *selection, int32_t **out, size_t *count)
{
    rbl_status status = RBL_OK;
    const int32_t *parent;
    size_t bone_count, kept = 0;
    enum { WANTED = 1, HAS_CHILDREN = 2 };
    uint8_t *marks = NULL;
    int32_t *leaves = NULL;
    RBL_TRY(get_parents(ctx, collection, true, &parent, &bone_count));
    const int32_t *type = rbli_collection_read(collection, "bone", "type", RBL_INT32);
    const int32_t *geometry = rbli_collection_read(collection, "bone", "geometry", RBL_INT32);
    const bool *sheet = rbli_collection_read(collection, "bone", "sheet", RBL_BOOL);
    if (selection && !rbli_selection_fits(selection, collection)) {
        status =
            rbli_fail(ctx, RBL_ERR_COLLECTION, "the selection was made on a collection with other bones");
        goto done;
    }
    if (bone_count > 0 && (!type || !geometry)) {
        status =
            rbli_fail(ctx, RBL_ERR_COLLECTION, "bone.type or bone.geometry is missing or not of type int32");
        goto done;
    }
    marks = rbli_calloc(ctx, bone_count, sizeof *marks);
    leaves = rbli_alloc(ctx, bone_count, sizeof *leaves);
    RBL_TRY_ALLOC(marks);
    RBL_TRY_ALLOC(leaves);
    for (size_t i = 0; selection && i < selection->count; i++)
        marks[selection->bones[i]] = WANTED;
    for (size_t b = 0; b < bone_count; b++) {
        if (!selection || (parent[b] >= 0 && marks[parent[b]] & WANTED)) marks[b] |= WANTED;
        if (parent[b] >= 0 && !(sheet && sheet[b])) marks[parent[b]] |= HAS_CHILDREN;
    }
    for (size_t b = 0; b < bone_count; b++)
        if (marks[b] == WANTED && type[b] == RBLI_BONE_RIGID && geometry[b] >= 0 && !(sheet && sheet[b]))
            leaves[kept++] = (int32_t)b;
    *out = leaves;
    *count = kept;
    leaves = NULL;
done:
    rbli_free(ctx, leaves);
    rbli_free(ctx, marks);
    return status;
}
