/// Triangles of the same three positions: dealt out by their lowest position into ranges that a cache holds, then put
/// together by a hash in each range. Numbers of positions follow the order of the pieces, so that what is near in space
/// is near in memory.

#include "fracture/base/threads.h"
#include "fracture/geometry/contact_overlap.h"
#include "fracture/geometry/radix_sort.h"

enum {
    DEALT = 1 << 14,        /* triangles of a block */
    RANGE_TRIANGLES = 2048, /* about, of a range */
    MOST_RANGES = 1024,
    LISTED = 1 << 13, /* triangles of a block whose lists make faces */
    A_POLL = 64, /* triangles of a list between looks at the request to cancel: each meets all before it */
    NONE = INT32_MAX,
};
enum { IS_FIRST = 1, IS_EVEN = 2 };

/// A triangle and the numbers of its positions, ascending.
typedef struct keyed_triangle {
    int32_t triangle, key[3];
} keyed_triangle;

/// Lists of triangles with the same positions, each from its lowest triangle on.
typedef struct face_maker {
    const rbli_mesh_view *mesh;
    const int32_t *ids, *piece;
    size_t range_count;
    uint64_t ranges_per_id;  /* times 2^32 */
    size_t *places, *begins; /* rbli_place_ranges */
    keyed_triangle *keyed;
    int32_t *next;    /* [triangle_count] of the list, or NONE */
    uint8_t *flags;   /* [triangle_count] */
    size_t *faces_at; /* [block of LISTED + 1]: how many faces, then where they begin */
    rbli_contact_face *faces;
    rbli_overlap_parts *overlaps; /* a part each block of LISTED */
} face_maker;

/// The numbers of a triangle's positions, ascending. `even` is true when an even number of swaps sorts them, so that
/// two triangles of one key face opposite ways when these differ. @return false when two are equal
static inline bool sorted_key(const int32_t triangle[3], const int32_t *ids, int32_t key[3], bool *even)
{
    int32_t a = ids[triangle[0]], b = ids[triangle[1]], c = ids[triangle[2]];
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    *even = ((a > b) ^ (b > c) ^ (a > c)) == 0;
    key[0] = c < low ? c : low;
    key[1] = c < low ? low : c < high ? c : high;
    key[2] = c < high ? high : c;
    return a != b && b != c && a != c;
}

static inline size_t range_of(const face_maker *m, int32_t position)
{
    return (size_t)((uint64_t)position * m->ranges_per_id >> 32);
}

static rbl_status count_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const face_maker *m = user;
    size_t *counts = m->places + block * m->range_count;
    (void)ctx;
    (void)worker;
    memset(counts, 0, m->range_count * sizeof *counts);
    for (size_t t = begin; t < end; t++) {
        int32_t key[3];
        bool even;
        m->next[t] = NONE;
        m->flags[t] = 0;
        if (m->piece[t] < 0 || !sorted_key(m->mesh->triangles[t], m->ids, key, &even)) continue;
        if (even) m->flags[t] = IS_EVEN;
        counts[range_of(m, key[0])]++;
    }
    return RBL_OK;
}

static rbl_status deal_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const face_maker *m = user;
    size_t *places = m->places + block * m->range_count;
    (void)ctx;
    (void)worker;
    for (size_t t = begin; t < end; t++) {
        keyed_triangle own = {.triangle = (int32_t)t};
        bool even;
        if (m->piece[t] < 0 || !sorted_key(m->mesh->triangles[t], m->ids, own.key, &even)) continue;
        m->keyed[places[range_of(m, own.key[0])]++] = own;
    }
    return RBL_OK;
}

static inline uint64_t hash_of(const int32_t key[3])
{
    uint64_t hash = ((uint64_t)(uint32_t)key[1] << 32 | (uint32_t)key[2]) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32 ^ (uint32_t)key[0]) * 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
}

/// Links the triangles of each list of a range.
static rbl_status link_range(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const face_maker *m = user;
    (void)end;
    (void)block;
    (void)worker;
    const keyed_triangle *keyed = m->keyed + m->begins[begin];
    size_t count = m->begins[begin + 1] - m->begins[begin], size = 16;
    while (size < 2 * count)
        size *= 2;
    uint32_t *last =
        rbli_calloc(ctx, size, sizeof *last); /* by hash: the list's last triangle so far, 1 + place */
    if (!last) return RBL_ERR_NO_MEMORY;
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < count && status == RBL_OK; i++) {
        const int32_t *key = keyed[i].key;
        size_t slot = hash_of(key) & (size - 1);
        for (; last[slot]; slot = (slot + 1) & (size - 1)) {
            const int32_t *other = keyed[last[slot] - 1].key;
            if (other[0] == key[0] && other[1] == key[1] && other[2] == key[2]) break;
        }
        if (last[slot]) {
            m->next[keyed[last[slot] - 1].triangle] = keyed[i].triangle;
        } else {
            m->flags[keyed[i].triangle] |= IS_FIRST;
        }
        last[slot] = (uint32_t)i + 1;
        status = rbli_poll(ctx, i);
    }
    rbli_free(ctx, last);
    return status;
}

static rbl_status link_lists(rbl_context *ctx, face_maker *m, size_t id_count)
{
    rbl_status status = RBL_OK;
    size_t count = m->mesh->triangle_count, block_count = (count + DEALT - 1) / DEALT;
    m->range_count = count / RANGE_TRIANGLES + 1;
    if (m->range_count > MOST_RANGES) m->range_count = MOST_RANGES;
    m->ranges_per_id = ((uint64_t)m->range_count << 32) / (id_count ? id_count : 1);
    RBL_TRY_ALLOC(m->places = rbli_alloc(ctx, block_count * m->range_count, sizeof *m->places));
    RBL_TRY_ALLOC(m->begins = rbli_alloc(ctx, m->range_count + 1, sizeof *m->begins));
    RBL_TRY(rbli_parallel_for(ctx, count, DEALT, count_block, m));
    rbli_place_ranges(m->places, block_count, m->range_count, m->begins);
    RBL_TRY_ALLOC(m->keyed = rbli_alloc(ctx, m->begins[m->range_count], sizeof *m->keyed));
    RBL_TRY(rbli_parallel_for(ctx, count, DEALT, deal_block, m));
    RBL_TRY(rbli_parallel_for(ctx, m->range_count, 1, link_range, m));
done:
    rbli_free(ctx, m->places);
    rbli_free(ctx, m->begins);
    rbli_free(ctx, m->keyed);
    return status;
}

/* ---- faces ---- */

static rbl_status count_faces(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const face_maker *m = user;
    size_t faces = 0, pairs = 0;
    (void)worker;
    for (size_t t = begin; t < end; t++) {
        size_t sides[2] = {0};
        if (!(m->flags[t] & IS_FIRST)) continue;
        for (int32_t i = (int32_t)t; i != NONE; i = m->next[i])
            sides[(m->flags[i] & IS_EVEN) != 0]++;
        faces += sides[0] > sides[1] ? sides[0] : sides[1];
        pairs += sides[0] * sides[1];
    }
    m->faces_at[block] = faces;
    /* Those within a piece do not count, and of many equal triangles they are most: no more room at first than a pair
     * for each triangle. */
    return rbli_array_reserve(ctx, &m->overlaps->data[block], pairs < end - begin ? pairs : end - begin);
}

/// Appends the pairs of triangle `t` with those before it in its list.
static rbl_status pair_with_list(
    rbl_context *ctx, const face_maker *m, int32_t first, int32_t t, rbli_overlap_array *overlaps)
{
    double area = -1;
    for (int32_t other = first; other != t; other = m->next[other]) {
        int32_t a = m->piece[t], b = m->piece[other];
        if (a == b || ((m->flags[t] ^ m->flags[other]) & IS_EVEN) == 0) continue;
        if (area < 0) area = rbli_triangle_area(m->mesh, t);
        if (area == 0) break;
        rbli_overlap o = {a < b ? a : b, a < b ? b : a, area, -1, -1, true};
        if (rbli_array_push(ctx, overlaps, o) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    return RBL_OK;
}

/// The pairs of each list that face each other, and its faces: as many as there are of the more frequent direction.
static rbl_status split_lists(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const face_maker *m = user;
    rbli_contact_face *faces = m->faces + m->faces_at[block];
    (void)worker;
    for (size_t t = begin; t < end; t++) {
        size_t made[2] = {0}, count = 0;
        if (!(m->flags[t] & IS_FIRST)) continue;
        for (int32_t i = (int32_t)t; i != NONE; i = m->next[i]) {
            int side = (m->flags[i] & IS_EVEN) != 0;
            size_t place = made[side]++;
            if (place % A_POLL == A_POLL - 1 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
            if (place == count) faces[count++] = (rbli_contact_face){{-1, -1}, (int32_t)t};
            faces[place].triangle[side] = i;
            rbl_status status = pair_with_list(ctx, m, (int32_t)t, i, &m->overlaps->data[block]);
            if (status != RBL_OK) return status;
        }
        faces += count;
    }
    return RBL_OK;
}

rbl_status rbli_make_contact_faces(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *ids,
    size_t id_count, const int32_t *piece, rbli_contact_face **out, size_t *out_count,
    rbli_overlap_parts *overlaps)
{
    rbl_status status = RBL_OK;
    size_t count = mesh->triangle_count, block_count = (count + LISTED - 1) / LISTED, face_count = 0;
    rbli_overlap_parts parts = {0};
    face_maker m = {.mesh = mesh, .ids = ids, .piece = piece, .overlaps = &parts};
    RBL_TRY_ALLOC(m.next = rbli_alloc(ctx, count, sizeof *m.next));
    RBL_TRY_ALLOC(m.flags = rbli_alloc(ctx, count, sizeof *m.flags));
    RBL_TRY_ALLOC(m.faces_at = rbli_alloc(ctx, block_count, sizeof *m.faces_at));
    RBL_TRY_ALLOC(parts.data = rbli_calloc(ctx, block_count, sizeof *parts.data));
    parts.count = block_count;
    RBL_TRY(link_lists(ctx, &m, id_count));
    RBL_TRY(rbli_parallel_for(ctx, count, LISTED, count_faces, &m));
    for (size_t i = 0; i < block_count; i++) {
        size_t here = m.faces_at[i];
        m.faces_at[i] = face_count;
        face_count += here;
    }
    RBL_TRY_ALLOC(m.faces = rbli_alloc(ctx, face_count, sizeof *m.faces));
    RBL_TRY(rbli_parallel_for(ctx, count, LISTED, split_lists, &m));
    *out = m.faces;
    *out_count = face_count;
    *overlaps = parts;
    m.faces = NULL;
    parts = (rbli_overlap_parts){0};
done:
    rbli_free(ctx, m.next);
    rbli_free(ctx, m.flags);
    rbli_free(ctx, m.faces_at);
    rbli_free(ctx, m.faces);
    rbli_overlap_parts_free(ctx, &parts);
    return status;
}
