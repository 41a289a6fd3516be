/// Contacts of pieces: equal triangles are put together by a hash of their positions (contact_faces.c), all others are
/// paired by overlap (contact_overlap.c); then what two pieces have in common is added up.

#include "fracture/geometry/contact.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/hash.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/contact_overlap.h"
#include "fracture/geometry/radix_sort.h"

/* ---- opposite triangles ---- */

static size_t table_size(size_t count)
{
    size_t size = 16;
    while (size < 2 * count)
        size *= 2;
    return size;
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

/* ---- what two pieces have in common ---- */

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

typedef RBLI_ARRAY(rbli_touch) touch_array;

/// Overlaps dealt out into ranges of pieces that are about equal; each range is summed by itself.
typedef struct pair_summer {
    const rbli_mesh_view *mesh;
    double tolerance;
    const rbli_overlap_array *parts; /* of all lists of parts */
    size_t part_count, range_count;
    uint64_t ranges_per_piece; /* times 2^32 */
    int32_t *most;             /* [group] highest piece a */
    size_t *places, *begins;   /* rbli_place_ranges */
    rbli_overlap_array all;    /* by range; of a range as they were found */
    touch_array *touches;      /* [range_count] */
} pair_summer;

enum { GROUP = 64, MOST_RANGES = 256 }; /* parts of a group */

static rbl_status find_most(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const pair_summer *s = user;
    int32_t most = 0;
    (void)ctx;
    (void)worker;
    for (size_t part = begin; part < end; part++)
        for (size_t i = 0; i < s->parts[part].count; i++)
            most = s->parts[part].data[i].a > most ? s->parts[part].data[i].a : most;
    s->most[block] = most;
    return RBL_OK;
}

static inline size_t range_of(const pair_summer *s, const rbli_overlap *o)
{
    return (size_t)((uint64_t)o->a * s->ranges_per_piece >> 32);
}

static rbl_status count_group(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const pair_summer *s = user;
    size_t *counts = s->places + block * s->range_count;
    (void)ctx;
    (void)worker;
    memset(counts, 0, s->range_count * sizeof *counts);
    for (size_t part = begin; part < end; part++)
        for (size_t i = 0; i < s->parts[part].count; i++)
            counts[range_of(s, &s->parts[part].data[i])]++;
    return RBL_OK;
}

static rbl_status deal_group(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const pair_summer *s = user;
    size_t *places = s->places + block * s->range_count;
    (void)ctx;
    (void)worker;
    for (size_t part = begin; part < end; part++)
        for (size_t i = 0; i < s->parts[part].count; i++)
            s->all.data[places[range_of(s, &s->parts[part].data[i])]++] = s->parts[part].data[i];
    return RBL_OK;
}

static rbl_status sum_range(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const pair_summer *s = user;
    rbl_status status = RBL_OK;
    rbli_keyed *order = NULL, *scratch = NULL;
    size_t pairs = 0;
    (void)end;
    (void)worker;
    if (s->begins[begin] == s->begins[begin + 1]) return RBL_OK;
    const rbli_overlap_array own = {
        s->all.data + s->begins[begin], s->begins[begin + 1] - s->begins[begin], 0};
    RBL_TRY_ALLOC(order = rbli_alloc(ctx, own.count, sizeof *order));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, own.count, sizeof *scratch));
    for (size_t i = 0; i < own.count; i++)
        order[i] = (rbli_keyed){(uint64_t)own.data[i].a << 32 | (uint32_t)own.data[i].b, (int32_t)i};
    RBL_TRY(rbli_radix_sort_polled(ctx, order, scratch, own.count));
    for (size_t i = 0, last; i < own.count; i = last) {
        rbli_touch pair;
        for (last = i + 1; last < own.count && order[last].key == order[i].key; last++) {
        }
        if (pairs++ % 256 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        RBL_TRY(sum_pair(ctx, s->mesh, &own, order + i, last - i, s->tolerance, &pair));
        if (pair.area > 0) RBL_TRY(rbli_array_push(ctx, &s->touches[block], pair));
    }
done:
    rbli_free(ctx, order);
    rbli_free(ctx, scratch);
    return status;
}

static rbl_status join_touches(
    rbl_context *ctx, const touch_array *ranges, size_t range_count, rbli_touch **out, size_t *out_count)
{
    touch_array all = {0};
    size_t total = 1; /* never an empty array */
    for (size_t i = 0; i < range_count; i++)
        total += ranges[i].count;
    if (rbli_array_reserve(ctx, &all, total) != RBL_OK) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < range_count; i++) {
        if (ranges[i].count == 0) continue;
        memcpy(all.data + all.count, ranges[i].data, ranges[i].count * sizeof *all.data);
        all.count += ranges[i].count;
    }
    *out = all.data;
    *out_count = all.count;
    return RBL_OK;
}

/// @param parts emptied as soon as they are not needed
static rbl_status sum_pairs(rbl_context *ctx, const rbli_mesh_view *mesh, rbli_overlap_parts *parts,
    double tolerance, rbli_touch **out, size_t *out_count)
{
    rbl_status status = RBL_OK;
    pair_summer s = {.mesh = mesh, .tolerance = tolerance, .parts = parts->data, .part_count = parts->count};
    size_t group_count = (parts->count + GROUP - 1) / GROUP, piece_count = 1;
    RBL_TRY_ALLOC(s.most = rbli_alloc(ctx, group_count, sizeof *s.most));
    RBL_TRY(rbli_parallel_for(ctx, parts->count, GROUP, find_most, &s));
    for (size_t i = 0; i < group_count; i++)
        piece_count = (size_t)s.most[i] >= piece_count ? (size_t)s.most[i] + 1 : piece_count;
    s.range_count = piece_count < MOST_RANGES ? piece_count : MOST_RANGES;
    s.ranges_per_piece = ((uint64_t)s.range_count << 32) / piece_count;
    RBL_TRY_ALLOC(s.places = rbli_alloc(ctx, group_count * s.range_count, sizeof *s.places));
    RBL_TRY_ALLOC(s.begins = rbli_alloc(ctx, s.range_count + 1, sizeof *s.begins));
    RBL_TRY_ALLOC(s.touches = rbli_calloc(ctx, s.range_count, sizeof *s.touches));
    RBL_TRY(rbli_parallel_for(ctx, parts->count, GROUP, count_group, &s));
    rbli_place_ranges(s.places, group_count, s.range_count, s.begins);
    RBL_TRY(rbli_array_reserve(ctx, &s.all, s.begins[s.range_count]));
    RBL_TRY(rbli_parallel_for(ctx, parts->count, GROUP, deal_group, &s));
    rbli_overlap_parts_free(ctx, parts);
    RBL_TRY(rbli_parallel_for(ctx, s.range_count, 1, sum_range, &s));
    RBL_TRY(join_touches(ctx, s.touches, s.range_count, out, out_count));
done:
    for (size_t i = 0; s.touches && i < s.range_count; i++)
        rbli_free(ctx, s.touches[i].data);
    rbli_free(ctx, s.touches);
    rbli_free(ctx, s.all.data);
    rbli_free(ctx, s.most);
    rbli_free(ctx, s.places);
    rbli_free(ctx, s.begins);
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

/// Appends what `more` holds, which is empty then.
static rbl_status append_parts(rbl_context *ctx, rbli_overlap_parts *parts, rbli_overlap_parts *more)
{
    size_t count = parts->count + more->count;
    rbli_overlap_array *data = rbli_realloc(ctx, parts->data, count, sizeof *data);
    if (!data) return RBL_ERR_NO_MEMORY;
    if (more->count) memcpy(data + parts->count, more->data, more->count * sizeof *data);
    *parts = (rbli_overlap_parts){data, count};
    rbli_free(ctx, more->data);
    *more = (rbli_overlap_parts){0};
    return RBL_OK;
}

rbl_status rbli_find_contacts(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece,
    double tolerance, rbli_touch **out, size_t *count)
{
    rbl_status status = RBL_OK;
    int32_t *ids = NULL;
    rbli_contact_face *faces = NULL;
    rbli_overlap_parts all = {0}, found = {0};
    size_t unique, face_count = 0;
    tolerance += rounding(mesh);
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    RBL_TRY_ALLOC(ids = rbli_alloc(ctx, mesh->vertex_count, sizeof *ids));
    RBL_TRY(rbli_position_ids(ctx, mesh->positions, mesh->vertex_count, ids, &unique));
    RBL_TRY(rbli_make_contact_faces(ctx, mesh, ids, unique, piece, &faces, &face_count, &all));
    rbli_free(ctx, ids);
    ids = NULL;
    RBL_TRY(rbli_find_overlaps(ctx, mesh, piece, tolerance, faces, face_count, &found));
    rbli_free(ctx, faces);
    faces = NULL;
    RBL_TRY(append_parts(ctx, &all, &found));
    RBL_TRY(sum_pairs(ctx, mesh, &all, tolerance, out, count));
done:
    rbli_free(ctx, ids);
    rbli_free(ctx, faces);
    rbli_overlap_parts_free(ctx, &all);
    rbli_overlap_parts_free(ctx, &found);
    return status;
}
