/// Bones that differ between two collections: a hash of each bone's own content, compared by name.

#include "rubble/changes.h"

#include <string.h>

#include "engine/engine.h"
#include "fracture/base/alloc.h"
#include "fracture/collection/collection.h"

struct rbl_changes {
    rbli_allocator *allocator;
    RBLI_ARRAY(rbl_changed_bone) list; /* names are owned */
};

/// The bones of one collection.
typedef struct fingerprints {
    const rbl_collection *collection; /* NULL: none */
    size_t count;
    rbli_hash *geometry, *transform; /* [count] */
} fingerprints;

/// Element ranges of a geometry.
typedef struct ranges {
    size_t vertex_start, vertex_count, face_start, face_count;
} ranges;

static void hash_elements(rbli_hasher *hasher, const rbli_buffer *buffer, size_t start, size_t count)
{
    size_t bytes = rbl_type_bytes(rbli_buffer_type(buffer));
    const unsigned char *data = rbli_buffer_data(buffer);
    const uint64_t *offsets = rbli_buffer_offsets(buffer);
    size_t begin = offsets ? (size_t)offsets[start] : start;
    size_t end = offsets ? (size_t)offsets[start + count] : start + count;
    rbli_hash hash = rbli_hash_bytes(data + begin * bytes, (end - begin) * bytes);
    rbli_hasher_add(hasher, &hash, sizeof hash);
    for (size_t i = start; offsets && i < start + count; i++) {
        uint64_t length = offsets[i + 1] - offsets[i];
        rbli_hasher_add(hasher, &length, sizeof length);
    }
}

/// True for attributes of faces that hold indices, whose numbers change with what is elsewhere.
static bool is_index(const char *name)
{
    return strcmp(name, "vertices") == 0 || strcmp(name, "material") == 0 || strcmp(name, "origin") == 0;
}

/// All attributes of a range of a group, but for indices.
static void hash_group(
    rbli_hasher *hasher, const rbl_collection *c, const char *group, size_t start, size_t count)
{
    size_t attributes = rbli_collection_attribute_count(c, group);
    for (size_t a = 0; a < attributes; a++) {
        const char *name = rbli_collection_attribute_name(c, group, a);
        if (is_index(name)) continue;
        rbli_hasher_add_string(hasher, name);
        hash_elements(hasher, rbli_collection_buffer(c, group, name), start, count);
    }
}

/// Faces by vertices of their own geometry and by names of materials.
static void hash_faces(rbli_hasher *hasher, const rbl_collection *c, const ranges *r)
{
    const int32_t(*vertices)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    const int32_t *materials = rbli_collection_read(c, "face", "material", RBL_INT32);
    for (size_t f = r->face_start; f < r->face_start + r->face_count; f++) {
        int32_t local[3];
        for (int k = 0; vertices && k < 3; k++)
            local[k] = vertices[f][k] - (int32_t)r->vertex_start;
        if (vertices) rbli_hasher_add(hasher, local, sizeof local);
        if (!materials) continue;
        int32_t material = materials[f];
        if (f > r->face_start && material == materials[f - 1])
            rbli_hasher_add(hasher, "=", 1);
        else if (material < 0)
            rbli_hasher_add_string(hasher, "");
        else
            rbli_hasher_add_string(hasher, rbl_collection_string(c, "material", "name", (size_t)material));
    }
}

/// The ranges of geometry `g`; false when they are not inside the groups.
static bool read_ranges(const rbl_collection *c, size_t g, ranges *out)
{
    static const char *const names[4] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    size_t values[4];
    if (g >= rbli_collection_size(c, "geometry")) return false;
    for (int i = 0; i < 4; i++) {
        const int32_t *range = rbli_collection_read(c, "geometry", names[i], RBL_INT32);
        if (!range || range[g] < 0) return false;
        values[i] = (size_t)range[g];
    }
    *out = (ranges){values[0], values[1], values[2], values[3]};
    return values[0] + values[1] <= rbli_collection_size(c, "vertex") &&
           values[2] + values[3] <= rbli_collection_size(c, "face") &&
           3 * (values[2] + values[3]) <= rbli_collection_size(c, "corner");
}

static rbl_status fingerprint_bone(fingerprints *f, size_t bone, const int32_t *geometry,
    const int32_t *parent, const double (*transform)[16])
{
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    if (geometry && geometry[bone] >= 0) {
        ranges r;
        if (!read_ranges(f->collection, (size_t)geometry[bone], &r)) return RBL_ERR_COLLECTION;
        hash_group(&hasher, f->collection, "vertex", r.vertex_start, r.vertex_count);
        hash_group(&hasher, f->collection, "face", r.face_start, r.face_count);
        hash_group(&hasher, f->collection, "corner", 3 * r.face_start, 3 * r.face_count);
        hash_faces(&hasher, f->collection, &r);
    }
    f->geometry[bone] = rbli_hasher_end(&hasher);
    rbli_hasher_init(&hasher);
    if (transform) rbli_hasher_add(&hasher, transform[bone], sizeof transform[bone]);
    if (parent && parent[bone] >= 0)
        rbli_hasher_add_string(
            &hasher, rbl_collection_string(f->collection, "bone", "name", (size_t)parent[bone]));
    f->transform[bone] = rbli_hasher_end(&hasher);
    return RBL_OK;
}

static rbl_status take_fingerprints(rbl_context *ctx, const rbl_collection *c, fingerprints *f)
{
    *f = (fingerprints){.collection = c, .count = c ? rbli_collection_size(c, "bone") : 0};
    f->geometry = rbli_alloc(ctx, f->count, sizeof *f->geometry);
    f->transform = rbli_alloc(ctx, f->count, sizeof *f->transform);
    if (!f->geometry || !f->transform) return RBL_ERR_NO_MEMORY;
    if (!f->count) return RBL_OK;
    const int32_t *geometry = rbli_collection_read(c, "bone", "geometry", RBL_INT32);
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    const double(*transform)[16] = rbli_collection_read(c, "bone", "transform", RBL_MAT4);
    for (size_t bone = 0; bone < f->count; bone++) {
        rbl_status status = fingerprint_bone(f, bone, geometry, parent, transform);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

static const char *bone_name(const fingerprints *f, size_t bone)
{
    return rbl_collection_string(f->collection, "bone", "name", bone);
}

static rbl_status add(
    rbl_context *ctx, rbl_changes *changes, const char *name, unsigned what, size_t before, size_t after)
{
    rbl_changed_bone bone = {.what = what,
        .before = before == SIZE_MAX ? -1 : (int32_t)before,
        .after = after == SIZE_MAX ? -1 : (int32_t)after};
    char *copy = rbli_strdup(ctx, name);
    bone.name = copy;
    if (copy && rbli_array_push(ctx, &changes->list, bone) == RBL_OK) return RBL_OK;
    rbli_free(ctx, copy);
    return RBL_ERR_NO_MEMORY;
}

static rbl_status compare(
    rbl_context *ctx, const fingerprints *before, const fingerprints *after, rbl_changes *changes)
{
    rbl_status status = RBL_OK;
    rbli_name_table names;
    rbli_name_table_init(&names, ctx->allocator);
    bool *met = rbli_calloc(ctx, before->count, sizeof *met);
    RBL_TRY_ALLOC(met);
    size_t existing;
    for (size_t i = 0; i < before->count; i++)
        RBL_TRY(rbli_name_table_add(&names, bone_name(before, i), i, &existing));
    for (size_t i = 0; i < after->count; i++) {
        const char *name = bone_name(after, i);
        size_t old = rbli_name_table_find(&names, name);
        unsigned what = RBL_CHANGE_ADDED;
        if (old != SIZE_MAX) {
            met[old] = true;
            what = 0;
            if (!rbli_hash_equal(before->geometry[old], after->geometry[i])) what |= RBL_CHANGE_GEOMETRY;
            if (!rbli_hash_equal(before->transform[old], after->transform[i])) what |= RBL_CHANGE_TRANSFORM;
        }
        if (what) RBL_TRY(add(ctx, changes, name, what, old, i));
    }
    for (size_t i = 0; i < before->count; i++)
        if (!met[i]) RBL_TRY(add(ctx, changes, bone_name(before, i), RBL_CHANGE_REMOVED, i, SIZE_MAX));
done:
    rbli_name_table_free(&names);
    rbli_free(ctx, met);
    return status;
}

rbl_status rbl_collection_changes(
    rbl_engine *engine, const rbl_collection *before, const rbl_collection *after, rbl_changes **out)
{
    rbl_context ctx = engine->base;
    rbl_status status = RBL_OK;
    fingerprints old = {0}, new = {0};
    rbl_changes *changes = rbli_calloc(&ctx, 1, sizeof *changes);
    if (!changes) return RBL_ERR_NO_MEMORY;
    changes->allocator = rbli_allocator_retain(engine->allocator);
    bool same = before && after && rbli_hash_equal(rbli_collection_hash(before), rbli_collection_hash(after));
    if (!same) {
        RBL_TRY(take_fingerprints(&ctx, before, &old));
        RBL_TRY(take_fingerprints(&ctx, after, &new));
        RBL_TRY(compare(&ctx, &old, &new, changes));
    }
    *out = changes;
    changes = NULL;
done:
    rbli_free(&ctx, old.geometry);
    rbli_free(&ctx, old.transform);
    rbli_free(&ctx, new.geometry);
    rbli_free(&ctx, new.transform);
    rbl_changes_destroy(changes);
    return status;
}

static const rbl_collection *collection_of(const rbl_run *run, const char *output)
{
    const rbl_value *value = run ? rbl_run_value(run, output) : NULL;
    return value ? rbl_value_collection(value) : NULL;
}

rbl_status rbl_run_changes(
    rbl_engine *engine, const rbl_run *before, const rbl_run *after, const char *output, rbl_changes **out)
{
    return rbl_collection_changes(engine, collection_of(before, output), collection_of(after, output), out);
}

size_t rbl_changes_count(const rbl_changes *changes)
{
    return changes->list.count;
}

const rbl_changed_bone *rbl_changes_get(const rbl_changes *changes, size_t index)
{
    return index < changes->list.count ? &changes->list.data[index] : NULL;
}

void rbl_changes_destroy(rbl_changes *changes)
{
    if (!changes) return;
    rbli_allocator *allocator = changes->allocator;
    for (size_t i = 0; i < changes->list.count; i++)
        rbli_allocator_free(allocator, (void *)changes->list.data[i].name);
    rbli_allocator_free(allocator, changes->list.data);
    rbli_allocator_free(allocator, changes);
    rbli_allocator_release(allocator);
}
