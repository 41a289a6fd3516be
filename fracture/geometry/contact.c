/// Contacts of pieces: equal triangles are put together by a hash of their positions, all others are paired
/// by overlap (contact_overlap.c); then what two pieces have in common is added up.

#include "fracture/geometry/contact.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/hash.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/contact_overlap.h"
#include "fracture/geometry/radix_sort.h"

/* ---- equal positions, opposite triangles ---- */

static size_t table_size(size_t count)
{
    size_t size = 16;
    while (size < 2 * count)
        size *= 2;
    return size;
}

enum { POLL = 4096, BATCH = 32 }; /* steps between looks at the request to cancel; look-ups under way */

/// A position without negative zeros, and where to look for it.
typedef struct position_look {
    double p[3];
    size_t slot;
} position_look;

rbl_status rbli_position_ids(
    rbl_context *ctx, const double (*positions)[3], size_t count, int32_t *ids, size_t *unique_count)
{
    rbl_status status = RBL_OK;
    size_t mask = table_size(count) - 1, unique = 0;
    int32_t *table = NULL;
    position_look looks[BATCH];
    RBL_TRY_ALLOC(table = rbli_alloc(ctx, mask + 1, sizeof *table));
    memset(table, 0xff, (mask + 1) * sizeof *table);
    for (size_t begin = 0; begin < count; begin += BATCH) {
        size_t end = begin + BATCH < count ? begin + BATCH : count;
        if (begin % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (size_t i = begin; i < end; i++) { /* so that memory answers several at once */
            position_look *look = &looks[i - begin];
            for (int k = 0; k < 3; k++)
                look->p[k] = positions[i][k] + 0.0;
            look->slot = rbli_hash64(look->p, sizeof look->p) & mask;
            __builtin_prefetch(&table[look->slot]);
        }
        for (size_t i = begin; i < end; i++) {
            const double *p = looks[i - begin].p;
            size_t slot = looks[i - begin].slot;
            for (; table[slot] >= 0; slot = (slot + 1) & mask) {
                const double *q = positions[table[slot]];
                if (q[0] == p[0] && q[1] == p[1] && q[2] == p[2]) break;
            }
            if (table[slot] < 0) {
                table[slot] = (int32_t)i;
                ids[i] = (int32_t)unique++;
            } else {
                ids[i] = ids[table[slot]];
            }
        }
    }
    *unique_count = unique;
done:
    rbli_free(ctx, table);
    return status;
}

/// The least id first, keeping the direction; false when two are equal.
static inline bool canonical(const int32_t triangle[3], const int32_t *ids, int32_t out[3])
{
    int32_t v[3] = {ids[triangle[0]], ids[triangle[1]], ids[triangle[2]]};
    int first = v[0] < v[1] && v[0] < v[2] ? 0 : v[1] < v[2] ? 1 : 2;
    for (int k = 0; k < 3; k++)
        out[k] = v[(first + k) % 3];
    return v[0] != v[1] && v[1] != v[2] && v[0] != v[2];
}

rbl_status rbli_match_opposite(rbl_context *ctx, const int32_t (*triangles)[3], size_t triangle_count,
    const int32_t *ids, const int32_t *piece, int32_t *opposite)
{
    rbl_status status = RBL_OK;
    size_t mask = table_size(triangle_count) - 1;
    int32_t *table = NULL;
    RBL_TRY_ALLOC(table = rbli_alloc(ctx, mask + 1, sizeof *table));
    memset(table, 0xff, (mask + 1) * sizeof *table);
    for (size_t t = 0; t < triangle_count; t++) {
        if (t % 4096 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        int32_t v[3];
        opposite[t] = -1;
        if (piece[t] < 0 || !canonical(triangles[t], ids, v)) continue;
        /* Both directions share a hash: look for one that waits the other way round, else wait. */
        int32_t key[3] = {v[0], v[1] < v[2] ? v[1] : v[2], v[1] < v[2] ? v[2] : v[1]};
        size_t slot = rbli_hash64(key, sizeof key) & mask;
        for (; table[slot] >= 0; slot = (slot + 1) & mask) {
            int32_t w[3], other = table[slot];
            if (opposite[other] >= 0 || piece[other] == piece[t]) continue;
            canonical(triangles[other], ids, w);
            if (w[0] == v[0] && w[1] == v[2] && w[2] == v[1]) break;
        }
        if (table[slot] >= 0) {
            opposite[t] = table[slot];
            opposite[table[slot]] = (int32_t)t;
        } else {
            table[slot] = (int32_t)t;
        }
    }
done:
    rbli_free(ctx, table);
    return status;
}

/* ---- triangles of the same three positions ---- */

/// A position's number, 0 … unique − 1, of each corner in ascending order. `even` is true when an even number of swaps
/// sorts them, so that two triangles of one key face opposite ways when these differ. @return false when two are equal
static bool sorted_key(const int32_t triangle[3], const int32_t *ids, int32_t key[3], bool *even)
{
    bool is_sound = canonical(triangle, ids, key);
    *even = key[1] < key[2];
    if (!*even) {
        int32_t swapped = key[1];
        key[1] = key[2];
        key[2] = swapped;
    }
    return is_sound;
}

/// Triangles in lists of the same three positions: those of list g are triangle[start[g]] … triangle[start[g
/// + 1] − 1], ascending.
typedef struct triangle_lists {
    int32_t *triangle;
    size_t *start; /* [count + 1] */
    size_t count;
} triangle_lists;

static void triangle_lists_free(rbl_context *ctx, triangle_lists *lists)
{
    rbli_free(ctx, lists->triangle);
    rbli_free(ctx, lists->start);
}

/// Where to look for a triangle by its lowest position: numbers follow the order of the pieces, so that what is near
/// in space is near in the table, too. A few triangles are looked through, more are hashed.
typedef struct key_table {
    size_t *start; /* [positions + 1] */
    int32_t *list; /* of slot */
} key_table;

enum { LOOKED_THROUGH = 8 };

static size_t slots_of(size_t triangles)
{
    return triangles <= LOOKED_THROUGH ? triangles : table_size(triangles);
}

static rbl_status key_table_create(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *ids,
    size_t id_count, const int32_t *piece, key_table *out)
{
    rbl_status status = RBL_OK;
    size_t slots = 0;
    RBL_TRY_ALLOC(out->start = rbli_calloc(ctx, id_count + 1, sizeof *out->start));
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        int32_t v[3];
        if (t % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (piece[t] >= 0 && canonical(mesh->triangles[t], ids, v)) out->start[v[0]]++;
    }
    for (size_t i = 0; i <= id_count; i++) {
        size_t own = slots_of(out->start[i]);
        if (i % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        out->start[i] = slots;
        slots += own;
    }
    RBL_TRY_ALLOC(out->list = rbli_alloc(ctx, slots, sizeof *out->list));
    memset(out->list, 0xff, slots * sizeof *out->list);
done:
    return status;
}

/// The slot that holds the key or, empty, waits for it.
static int32_t *find_key(const key_table *table, const int32_t (*keys)[3], const int32_t key[3])
{
    int32_t *slots = table->list + table->start[key[0]];
    size_t count = table->start[key[0] + 1] - table->start[key[0]];
    size_t at = count <= LOOKED_THROUGH ? 0 : rbli_hash64(key, 3 * sizeof *key) & (count - 1);
    for (; slots[at] >= 0; at = at + 1 < count ? at + 1 : 0)
        if (keys[slots[at]][1] == key[1] && keys[slots[at]][2] == key[2]) break;
    return &slots[at];
}

/// `list[t]`: which list triangle t belongs to, or −1 for one without a piece or without area.
static rbl_status number_lists(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *ids,
    size_t id_count, const int32_t *piece, int32_t *list, size_t *list_count)
{
    rbl_status status = RBL_OK;
    size_t count = 0;
    key_table table = {0};
    int32_t(*keys)[3] = NULL;
    RBL_TRY(key_table_create(ctx, mesh, ids, id_count, piece, &table));
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, mesh->triangle_count, sizeof *keys));
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        int32_t key[3];
        bool even;
        if (t % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        list[t] = -1;
        if (piece[t] < 0 || !sorted_key(mesh->triangles[t], ids, key, &even)) continue;
        int32_t *slot = find_key(&table, (const int32_t(*)[3])keys, key);
        if (*slot < 0) {
            memcpy(keys[count], key, sizeof *keys);
            *slot = (int32_t)count++;
        }
        list[t] = *slot;
    }
    *list_count = count;
done:
    rbli_free(ctx, table.start);
    rbli_free(ctx, table.list);
    rbli_free(ctx, keys);
    return status;
}

static rbl_status list_triangles(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *ids,
    size_t id_count, const int32_t *piece, triangle_lists *out)
{
    rbl_status status = RBL_OK;
    triangle_lists made = {0};
    int32_t *list = NULL;
    RBL_TRY_ALLOC(list = rbli_alloc(ctx, mesh->triangle_count, sizeof *list));
    RBL_TRY(number_lists(ctx, mesh, ids, id_count, piece, list, &made.count));
    RBL_TRY_ALLOC(made.start = rbli_calloc(ctx, made.count + 2, sizeof *made.start));
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        if (t % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (list[t] >= 0) made.start[list[t] + 2]++;
    }
    for (size_t g = 2; g <= made.count + 1; g++) {
        if (g % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        made.start[g] += made.start[g - 1];
    }
    RBL_TRY_ALLOC(made.triangle = rbli_alloc(ctx, made.start[made.count + 1], sizeof *made.triangle));
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        if (t % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (list[t] >= 0) made.triangle[made.start[list[t] + 1]++] = (int32_t)t;
    }
    *out = made;
    made = (triangle_lists){0};
done:
    rbli_free(ctx, list);
    triangle_lists_free(ctx, &made);
    return status;
}

/// The pairs of one list that face each other, and its faces: as many as there are of the more frequent
/// direction.
static rbl_status split_list(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *ids,
    const int32_t *piece, const triangle_lists *lists, size_t g, rbli_overlap_array *overlaps,
    rbli_contact_face *faces, size_t *face_count)
{
    size_t begin = lists->start[g], end = lists->start[g + 1], made[2] = {*face_count, *face_count};
    if (end - begin == 1) { /* the rest of the surface: most triangles of imported pieces */
        faces[(*face_count)++] = (rbli_contact_face){{lists->triangle[begin], -1}, (int32_t)g};
        return RBL_OK;
    }
    for (size_t i = begin; i < end; i++) {
        int32_t key[3], t = lists->triangle[i];
        bool side, other_side;
        sorted_key(mesh->triangles[t], ids, key, &side);
        rbli_contact_face *face = &faces[made[side]++];
        if (made[side] > *face_count) {
            *face = (rbli_contact_face){{-1, -1}, (int32_t)g};
            *face_count = made[side];
        }
        face->triangle[side] = t;
        double area = -1;
        for (size_t j = begin; j < i; j++) {
            int32_t other = lists->triangle[j], a = piece[t], b = piece[other];
            if (a == b) continue;
            sorted_key(mesh->triangles[other], ids, key, &other_side);
            if (other_side == side) continue;
            if (area < 0) area = rbli_triangle_area(mesh, t);
            if (area == 0) break;
            rbli_overlap o = {a < b ? a : b, a < b ? b : a, area, -1, -1, true};
            if (rbli_array_push(ctx, overlaps, o) != RBL_OK) return RBL_ERR_NO_MEMORY;
        }
    }
    return RBL_OK;
}

static rbl_status split_lists(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *ids,
    const int32_t *piece, const triangle_lists *lists, rbli_overlap_array *overlaps, rbli_contact_face *faces,
    size_t *face_count)
{
    for (size_t g = 0; g < lists->count; g++) {
        if (g % POLL == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        rbl_status status = split_list(ctx, mesh, ids, piece, lists, g, overlaps, faces, face_count);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/* ---- what two pieces have in common ---- */

/// Overlaps in order of their pieces: those of piece a and higher ones are order[start[a]] … ascending by b,
/// among equals as they were found.
static rbl_status sort_overlaps(
    rbl_context *ctx, const rbli_overlap_array *all, size_t *start, size_t piece_count, rbli_keyed *order)
{
    size_t most = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (i % POLL == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        start[all->data[i].a + 2]++;
    }
    for (size_t a = 0; a <= piece_count; a++) {
        most = start[a + 1] > most ? start[a + 1] : most;
        start[a + 1] += start[a];
    }
    for (size_t i = 0; i < all->count; i++) {
        if (i % POLL == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        order[start[all->data[i].a + 1]++] = (rbli_keyed){(uint64_t)all->data[i].b, (int32_t)i};
    }
    rbli_keyed *scratch = rbli_alloc(ctx, most, sizeof *scratch);
    if (!scratch) return RBL_ERR_NO_MEMORY;
    rbl_status status = RBL_OK;
    for (size_t a = 0; a < piece_count && status == RBL_OK; a++) {
        if (a % POLL == 0 && rbli_cancelled(ctx)) status = RBL_ERR_CANCELLED;
        rbli_radix_sort(order + start[a], scratch, start[a + 1] - start[a]);
    }
    rbli_free(ctx, scratch);
    return status;
}

typedef struct patches {
    double (*boxes)[2][3];
    int32_t *parent;
} patches;

static int32_t find_patch(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void join_patches(void *user, int32_t a, int32_t b)
{
    patches *p = user;
    int32_t x = find_patch(p->parent, a), y = find_patch(p->parent, b);
    p->parent[x > y ? x : y] = x > y ? y : x;
}

/// Whether overlaps that are thin each make a region that is wider than twice the tolerance: those whose
/// boxes meet are taken together.
static rbl_status together_wide(rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_overlap_array *all,
    const rbli_keyed *order, size_t count, double tolerance, bool *wide)
{
    rbl_status status = RBL_OK;
    patches p = {0};
    rbli_box_tree *tree = NULL;
    double *area = NULL;
    RBL_TRY_ALLOC(p.boxes = rbli_alloc(ctx, count, sizeof *p.boxes));
    RBL_TRY_ALLOC(p.parent = rbli_alloc(ctx, count, sizeof *p.parent));
    RBL_TRY_ALLOC(area = rbli_calloc(ctx, count, sizeof *area));
    for (size_t i = 0; i < count; i++) {
        const rbli_overlap *o = &all->data[order[i].index];
        rbli_overlap_shape shape;
        p.parent[i] = (int32_t)i;
        rbli_triangle_overlap(mesh, o->first, o->second, tolerance, &shape);
        for (int k = 0; k < 3; k++) {
            p.boxes[i][0][k] = shape.low[k] - tolerance / 2;
            p.boxes[i][1][k] = shape.high[k] + tolerance / 2;
        }
    }
    RBL_TRY(rbli_box_tree_create(ctx, (const double(*)[2][3])p.boxes, count, &tree));
    const int32_t *items = rbli_box_tree_items(tree);
    rbli_box_tree_pairs(tree, 0, rbli_box_tree_block_count(tree), join_patches, &p);
    for (size_t slot = 0; slot < count; slot++) { /* the root of a patch is its lowest slot */
        int32_t root = find_patch(p.parent, (int32_t)slot);
        double(*of_root)[3] = p.boxes[items[root]], (*own)[3] = p.boxes[items[slot]];
        for (int k = 0; k < 3; k++) {
            of_root[0][k] = own[0][k] < of_root[0][k] ? own[0][k] : of_root[0][k];
            of_root[1][k] = own[1][k] > of_root[1][k] ? own[1][k] : of_root[1][k];
        }
        area[root] += all->data[order[items[slot]].index].area;
    }
    *wide = false;
    for (size_t slot = 0; slot < count && !*wide; slot++) {
        double square = 0, (*box)[3] = p.boxes[items[slot]];
        for (int k = 0; k < 3; k++)
            square += (box[1][k] - box[0][k]) * (box[1][k] - box[0][k]);
        *wide = area[slot] > 2 * tolerance * (sqrt(square) + 2 * tolerance);
    }
done:
    rbli_box_tree_destroy(ctx, tree);
    rbli_free(ctx, p.boxes);
    rbli_free(ctx, p.parent);
    rbli_free(ctx, area);
    return status;
}

/// Adds up the overlaps of one pair, thin ones last in the rest.
static rbl_status sum_pair(rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_overlap_array *all,
    rbli_keyed *order, size_t count, double tolerance, rbli_touch *out)
{
    size_t thin = 0;
    double rest = 0, thin_area = 0;
    bool wide = false;
    *out = (rbli_touch){all->data[order[0].index].a, all->data[order[0].index].b, 0, 0};
    for (size_t i = 0; i < count; i++) {
        const rbli_overlap *o = &all->data[order[i].index];
        if (o->first < 0) {
            out->matched_area += o->area;
        } else if (o->wide) {
            wide = true;
            rest += o->area;
        } else {
            thin_area += o->area;
            order[thin++] = order[i];
        }
    }
    if (!wide && thin > 1) {
        rbl_status status = together_wide(ctx, mesh, all, order, thin, tolerance, &wide);
        if (status != RBL_OK) return status;
    }
    /* Thin overlaps beside wide ones belong to the same contact; without any they are an edge. */
    out->area = out->matched_area + rest + (wide ? thin_area : 0);
    return RBL_OK;
}

static rbl_status sum_pairs(rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_overlap_array *all,
    double tolerance, rbli_touch **out, size_t *out_count)
{
    rbl_status status = RBL_OK;
    size_t piece_count = 0, kept = 0, *start = NULL;
    rbli_keyed *order = NULL;
    RBLI_ARRAY(rbli_touch) pairs = {0};
    for (size_t i = 0; i < all->count; i++) {
        if (i % POLL == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        if ((size_t)all->data[i].a >= piece_count) piece_count = (size_t)all->data[i].a + 1;
    }
    RBL_TRY_ALLOC(start = rbli_calloc(ctx, piece_count + 2, sizeof *start));
    RBL_TRY_ALLOC(order = rbli_alloc(ctx, all->count, sizeof *order));
    RBL_TRY(sort_overlaps(ctx, all, start, piece_count, order));
    for (size_t i = 0, end; i < all->count; i = end) {
        const rbli_overlap *first = &all->data[order[i].index];
        rbli_touch pair;
        for (end = i + 1;
             end < all->count && order[end].key == order[i].key && all->data[order[end].index].a == first->a;
             end++) {
        }
        if (kept++ % 256 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        RBL_TRY(sum_pair(ctx, mesh, all, order + i, end - i, tolerance, &pair));
        if (pair.area > 0) RBL_TRY(rbli_array_push(ctx, &pairs, pair));
    }
    if (!pairs.data) RBL_TRY(rbli_array_reserve(ctx, &pairs, 1));
    *out = pairs.data;
    *out_count = pairs.count;
    pairs.data = NULL;
done:
    rbli_free(ctx, pairs.data);
    rbli_free(ctx, start);
    rbli_free(ctx, order);
    return status;
}

/// What positions are off by where they are the results of a calculation: some units in the last place of the
/// largest coordinate.
static double rounding(const rbli_mesh_view *mesh)
{
    double most = 0;
    for (size_t v = 0; v < mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++)
            most = fabs(mesh->positions[v][k]) > most ? fabs(mesh->positions[v][k]) : most;
    return 8 * 0x1p-52 * most;
}

rbl_status rbli_find_contacts(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece,
    double tolerance, rbli_touch **out, size_t *count)
{
    rbl_status status = RBL_OK;
    int32_t *ids = NULL;
    triangle_lists lists = {0};
    rbli_contact_face *faces = NULL;
    rbli_overlap_array all = {0};
    size_t unique, face_count = 0;
    tolerance += rounding(mesh);
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    RBL_TRY_ALLOC(ids = rbli_alloc(ctx, mesh->vertex_count, sizeof *ids));
    RBL_TRY(rbli_position_ids(ctx, mesh->positions, mesh->vertex_count, ids, &unique));
    RBL_TRY(list_triangles(ctx, mesh, ids, unique, piece, &lists));
    RBL_TRY_ALLOC(faces = rbli_alloc(ctx, lists.start[lists.count], sizeof *faces));
    /* most lists have one triangle or two, which are one overlap; a few more come from triangles that differ */
    size_t most = lists.start[lists.count] - lists.count;
    RBL_TRY(rbli_array_reserve(ctx, &all, most + most / 64 + 64));
    RBL_TRY(split_lists(ctx, mesh, ids, piece, &lists, &all, faces, &face_count));
    rbli_free(ctx, ids);
    ids = NULL;
    triangle_lists_free(ctx, &lists);
    lists = (triangle_lists){0};
    RBL_TRY(rbli_find_overlaps(ctx, mesh, piece, tolerance, faces, face_count, &all));
    rbli_free(ctx, faces);
    faces = NULL;
    RBL_TRY(sum_pairs(ctx, mesh, &all, tolerance, out, count));
done:
    rbli_free(ctx, ids);
    triangle_lists_free(ctx, &lists);
    rbli_free(ctx, faces);
    rbli_free(ctx, all.data);
    return status;
}
