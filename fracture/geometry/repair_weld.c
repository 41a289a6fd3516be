/// Step 1 of MESHES.md: exact weld, canonical order, edges; and small edits of triangles that later steps
/// share.

#include <math.h>
#include <stdlib.h>

#include "fracture/geometry/radix_sort.h"
#include "fracture/geometry/repair_internal.h"

int32_t *repair_make_sets(rbl_context *ctx, size_t count)
{
    int32_t *parent = rbli_alloc(ctx, count, sizeof *parent);
    for (size_t i = 0; parent && i < count; i++)
        parent[i] = (int32_t)i;
    return parent;
}

void repair_forget_edges(repair *r)
{
    rbli_free(r->ctx, r->edges.start);
    rbli_free(r->ctx, r->edges.half);
    rbli_free(r->ctx, r->edges.of_half);
    rbli_free(r->ctx, r->edges.vertex_start);
    r->edges = (repair_edges){0};
}

void repair_forget(repair *r)
{
    repair_forget_edges(r);
    rbli_free(r->ctx, r->mate);
    rbli_free(r->ctx, r->members);
    rbli_free(r->ctx, r->shell_of);
    r->mate = r->members = r->shell_of = NULL;
    r->shells.count = 0;
}

void repair_remove(repair *r, const uint8_t *dead)
{
    size_t kept = 0;
    for (size_t t = 0; t < r->triangles.count; t++)
        if (!dead[t]) r->triangles.data[kept++] = r->triangles.data[t];
    r->triangles.count = kept;
    repair_forget(r);
}

/* Welding */

enum { SHORT_RUN = 16 };

static int compare_points(const double p[3], const double q[3])
{
    for (int k = 0; k < 3; k++)
        if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
    return 0;
}

/// Sorts few positions that share their x.
static void sort_run(const repair_point *positions, rbli_keyed *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        rbli_keyed key = keys[i];
        size_t j = i;
        for (; j > 0 && compare_points(positions[keys[j - 1].index], positions[key.index]) > 0; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

/// Sorts by one coordinate, and runs of equal ones by the next.
static rbl_status sort_by_axis(const repair *r, rbli_keyed *keys, rbli_keyed *scratch, size_t count, int axis)
{
    for (size_t i = 0; i < count; i++) {
        if (rbli_poll(r->ctx, i + 1) != RBL_OK) return RBL_ERR_CANCELLED;
        keys[i].key = rbli_double_key(r->positions.data[keys[i].index][axis]);
    }
    rbl_status status = rbli_radix_sort_polled(r->ctx, keys, scratch, count);
    if (axis == 2) return status;
    for (size_t begin = 0, end; begin < count && status == RBL_OK; begin = end) {
        if (rbli_poll(r->ctx, begin) != RBL_OK) return RBL_ERR_CANCELLED;
        for (end = begin + 1; end < count && keys[end].key == keys[begin].key; end++) {
        }
        if (end - begin > SHORT_RUN) {
            status = sort_by_axis(r, keys + begin, scratch, end - begin, axis + 1);
        } else {
            sort_run(r->positions.data, keys + begin, end - begin);
        }
    }
    return status;
}

/// Sorts r->positions by (x, y, z), welding equal ones. `index` [count] is set to the new index of each.
static rbl_status sort_positions(repair *r, int32_t *index)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = r->ctx;
    size_t count = r->positions.count, kept = 0;
    rbli_keyed *keys = NULL, *scratch = NULL;
    repair_point *sorted = NULL;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, count, sizeof *scratch));
    for (size_t i = 0; i < count; i++)
        keys[i].index = (int32_t)i;
    RBL_TRY(sort_by_axis(r, keys, scratch, count, 0));
    rbli_free(ctx, scratch);
    scratch = NULL;
    RBL_TRY_ALLOC(sorted = rbli_alloc(ctx, count, sizeof *sorted));
    for (size_t i = 0; i < count; i++) {
        RBL_TRY(rbli_poll(ctx, i));
        const double *p = r->positions.data[keys[i].index];
        if (kept == 0 || compare_points(sorted[kept - 1], p) != 0) memcpy(sorted[kept++], p, sizeof *sorted);
        index[keys[i].index] = (int32_t)kept - 1;
    }
    rbli_free(ctx, r->positions.data);
    r->positions.data = sorted;
    r->positions.capacity = count;
    r->positions.count = kept;
    sorted = NULL;
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    rbli_free(ctx, sorted);
    return status;
}

static rbl_status snap_positions(repair *r)
{
    double min[3] = {0}, max[3] = {0};
    for (size_t v = 0; v < r->positions.count; v++) {
        if (rbli_poll(r->ctx, v) != RBL_OK) return RBL_ERR_CANCELLED;
        for (int k = 0; k < 3; k++) {
            double value = r->positions.data[v][k];
            if (v == 0 || value < min[k]) min[k] = value;
            if (v == 0 || value > max[k]) max[k] = value;
        }
    }
    rbli_free(r->ctx, r->grid);
    r->grid = rbli_alloc(r->ctx, r->positions.count, sizeof *r->grid);
    if (!r->grid) return RBL_ERR_NO_MEMORY;
    rbli_grid grid = rbli_grid_fit(min, max);
    for (size_t v = 0; v < r->positions.count; v++) {
        if (rbli_poll(r->ctx, v) != RBL_OK) return RBL_ERR_CANCELLED;
        rbli_grid_snap(&grid, r->positions.data[v], r->grid[v]);
    }
    double largest = 0, sum = 0;
    for (int k = 0; k < 3; k++)
        if (max[k] - min[k] > largest) largest = max[k] - min[k];
    for (int k = 0; k < 3 && largest > 0; k++) {
        double side = (max[k] - min[k]) / largest; /* squares of huge meshes would overflow */
        sum += side * side;
    }
    r->diagonal = largest * sqrt(sum);
    return RBL_OK;
}

/* Order of triangles: by sorted vertices, node, orientation, first corner, source. */

/// A triangle under its lowest vertex.
typedef struct triangle_key {
    int32_t middle, high, index;
} triangle_key;

static int32_t lowest_of(const int32_t v[3])
{
    int32_t low = v[0] < v[1] ? v[0] : v[1];
    return low < v[2] ? low : v[2];
}

static triangle_key key_of_triangle(const repair_triangle *triangle, int32_t low, size_t index)
{
    const int32_t *v = triangle->v;
    int32_t a = v[0] == low ? v[1] : v[0], b = v[2] == low ? v[1] : v[2];
    return (triangle_key){a < b ? a : b, a < b ? b : a, (int32_t)index};
}

/// Triangles with the same vertices.
static int compare_equal(const repair_triangle *a, const repair_triangle *b, int32_t left, int32_t right)
{
    int first_a = a->v[0] < a->v[1] ? (a->v[0] < a->v[2] ? 0 : 2) : (a->v[1] < a->v[2] ? 1 : 2);
    int first_b = b->v[0] < b->v[1] ? (b->v[0] < b->v[2] ? 0 : 2) : (b->v[1] < b->v[2] ? 1 : 2);
    int turn_a = a->v[(first_a + 1) % 3] > a->v[(first_a + 2) % 3];
    int turn_b = b->v[(first_b + 1) % 3] > b->v[(first_b + 2) % 3];
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    if (turn_a != turn_b) return turn_a < turn_b ? -1 : 1;
    if (first_a != first_b) return first_a < first_b ? -1 : 1;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return left < right ? -1 : left > right;
}

static inline bool is_before(const repair_triangle *triangles, const triangle_key *a, const triangle_key *b)
{
    if (a->middle != b->middle) return a->middle < b->middle;
    if (a->high != b->high) return a->high < b->high;
    return compare_equal(&triangles[a->index], &triangles[b->index], a->index, b->index) < 0;
}

/// Sorts keys from `root` down in a heap of `count`.
static void sift_key(const repair_triangle *triangles, triangle_key *keys, size_t root, size_t count)
{
    triangle_key key = keys[root];
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && is_before(triangles, &keys[child], &keys[child + 1])) child++;
        if (!is_before(triangles, &key, &keys[child])) break;
        keys[root] = keys[child];
    }
    keys[root] = key;
}

/// Sorts the triangles of one lowest vertex: few by insertion, many by a heap.
static void sort_keys(const repair_triangle *triangles, triangle_key *keys, size_t count)
{
    if (count > 24) {
        for (size_t i = count / 2; i-- > 0;)
            sift_key(triangles, keys, i, count);
        for (size_t end = count; end-- > 1;) {
            triangle_key last = keys[end];
            keys[end] = keys[0];
            keys[0] = last;
            sift_key(triangles, keys, 0, end);
        }
        return;
    }
    for (size_t i = 1; i < count; i++) {
        triangle_key key = keys[i];
        size_t j = i;
        for (; j > 0 && is_before(triangles, &key, &keys[j - 1]); j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

rbl_status repair_order_triangles(repair *r, const repair_triangle *triangles, size_t count, int32_t *order)
{
    rbl_status status = RBL_OK;
    triangle_key *keys = NULL;
    int32_t *start = NULL;
    RBL_TRY_ALLOC(keys = rbli_alloc(r->ctx, count, sizeof *keys));
    RBL_TRY_ALLOC(start = rbli_calloc(r->ctx, r->positions.count + 1, sizeof *start));
    for (size_t t = 0; t < count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        start[lowest_of(triangles[t].v) + 1]++;
    }
    for (size_t v = 0; v < r->positions.count; v++)
        start[v + 1] += start[v];
    for (size_t t = 0; t < count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        int32_t low = lowest_of(triangles[t].v);
        keys[start[low]++] = key_of_triangle(&triangles[t], low, t);
    }
    for (size_t v = 0, begin = 0; v < r->positions.count; begin = (size_t)start[v++]) {
        RBL_TRY(rbli_poll(r->ctx, v));
        sort_keys(triangles, keys + begin, (size_t)start[v] - begin);
    }
    for (size_t t = 0; t < count; t++)
        order[t] = keys[t].index;
done:
    rbli_free(r->ctx, keys);
    rbli_free(r->ctx, start);
    return status;
}

static rbl_status sort_triangles(repair *r)
{
    rbl_status status = RBL_OK;
    size_t count = r->triangles.count;
    int32_t *order = NULL;
    repair_triangle *sorted = NULL;
    RBL_TRY_ALLOC(order = rbli_alloc(r->ctx, count, sizeof *order));
    RBL_TRY(repair_order_triangles(r, r->triangles.data, count, order));
    RBL_TRY_ALLOC(sorted = rbli_alloc(r->ctx, count, sizeof *sorted));
    for (size_t t = 0; t < count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        sorted[t] = r->triangles.data[order[t]];
    }
    rbli_free(r->ctx, r->triangles.data);
    r->triangles.data = sorted;
    r->triangles.capacity = count;
    sorted = NULL;
done:
    rbli_free(r->ctx, order);
    rbli_free(r->ctx, sorted);
    return status;
}

static void drop_repeated(repair *r)
{
    size_t kept = 0;
    for (size_t t = 0; t < r->triangles.count; t++) {
        const int32_t *v = r->triangles.data[t].v;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
        if (kept < t) r->triangles.data[kept] = r->triangles.data[t];
        kept++;
    }
    r->out->dropped_repeated += r->triangles.count - kept;
    r->triangles.count = kept;
}

/// Numbers used vertices, in order of first use, and copies their positions.
static rbl_status compact_positions(repair *r, const double (*from)[3], size_t from_count)
{
    rbl_status status = RBL_OK;
    int32_t *used = NULL;
    repair_point *kept = NULL;
    int32_t count = 0;
    RBL_TRY_ALLOC(used = rbli_alloc(r->ctx, from_count, sizeof *used));
    memset(used, 0xff, from_count * sizeof *used);
    size_t most = r->triangles.count * 3 + r->fins.count * 3;
    if (most > from_count) most = from_count;
    RBL_TRY_ALLOC(kept = rbli_alloc(r->ctx, most, sizeof *kept));
    for (int set = 0; set < 2; set++) {
        size_t triangle_count = set ? r->fins.count : r->triangles.count;
        for (size_t t = 0; t < triangle_count; t++) {
            RBL_TRY(rbli_poll(r->ctx, t));
            int32_t *v = set ? r->fins.data[t].v : r->triangles.data[t].v;
            for (int k = 0; k < 3; k++) {
                int32_t *index = &used[v[k]];
                if (*index < 0) {
                    *index = count++;
                    for (int axis = 0; axis < 3; axis++)
                        kept[*index][axis] = from[v[k]][axis] + 0.0; /* −0 becomes 0 */
                }
                v[k] = *index;
            }
        }
    }
    rbli_free(r->ctx, r->positions.data);
    r->positions.data = kept;
    r->positions.capacity = most;
    r->positions.count = (size_t)count;
    kept = NULL;
done:
    rbli_free(r->ctx, used);
    rbli_free(r->ctx, kept);
    return status;
}

/// Welds and sorts; every position is in use.
static rbl_status sort_all(repair *r)
{
    rbl_status status = RBL_OK;
    int32_t *index = NULL;
    RBL_TRY_ALLOC(index = rbli_alloc(r->ctx, r->positions.count, sizeof *index));
    RBL_TRY(sort_positions(r, index));
    for (size_t t = 0; t < r->triangles.count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        for (int k = 0; k < 3; k++)
            r->triangles.data[t].v[k] = index[r->triangles.data[t].v[k]];
    }
    for (size_t t = 0; t < r->fins.count; t++)
        for (int k = 0; k < 3; k++)
            r->fins.data[t].v[k] = index[r->fins.data[t].v[k]];
    RBL_TRY(snap_positions(r));
    drop_repeated(r);
    RBL_TRY(sort_triangles(r));
done:
    rbli_free(r->ctx, index);
    return status;
}

rbl_status repair_reindex(repair *r)
{
    repair_forget(r);
    rbl_status status = compact_positions(r, (const double(*)[3])r->positions.data, r->positions.count);
    return status == RBL_OK ? sort_all(r) : status;
}

rbl_status repair_weld(repair *r)
{
    rbl_status status = RBL_OK;
    const rbli_mesh_view *mesh = r->mesh;
    if (mesh->vertex_count > INT32_MAX || mesh->triangle_count > INT32_MAX / 3)
        return rbli_fail(r->ctx, RBL_ERR_ARGUMENT, "the mesh has too many vertices or triangles");
    RBL_TRY(rbli_array_reserve(r->ctx, &r->triangles, mesh->triangle_count));
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        repair_triangle *triangle = &r->triangles.data[t];
        *triangle = (repair_triangle){.node = r->node ? r->node[t] : 0, .source = (int32_t)t, .weights = -1};
        for (int k = 0; k < 3; k++) {
            int32_t v = triangle->v[k] = mesh->triangles[t][k];
            if (v < 0 || (size_t)v >= mesh->vertex_count)
                return rbli_fail(r->ctx, RBL_ERR_ARGUMENT, "triangle %zu has no vertex %d", t, (int)v);
        }
    }
    r->triangles.count = mesh->triangle_count;
    bool finite = true;
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        RBL_TRY(rbli_poll(r->ctx, v));
        const double *p = mesh->positions[v];
        finite &= isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
    }
    size_t lowest = SIZE_MAX;
    for (size_t t = 0; t < mesh->triangle_count && !finite; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        for (int k = 0; k < 3; k++) {
            size_t v = (size_t)mesh->triangles[t][k];
            const double *p = mesh->positions[v];
            if ((!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) && v < lowest) lowest = v;
        }
    }
    if (lowest != SIZE_MAX) return rbli_fail(r->ctx, RBL_ERR_ARGUMENT, "vertex %zu is not finite", lowest);
    RBL_TRY(compact_positions(r, mesh->positions, mesh->vertex_count));
    size_t referenced = r->positions.count;
    RBL_TRY(sort_all(r));
    r->out->welded_vertices = referenced - r->positions.count;
done:
    return status;
}

/* Edges */

/// A half-edge under the lower end of its edge: upper end << 32 | number << 1 | whether it leads down.
typedef uint64_t edge_entry;

static int compare_entries(const void *left, const void *right)
{
    edge_entry a = *(const edge_entry *)left, b = *(const edge_entry *)right;
    return a < b ? -1 : a > b;
}

static void sort_entries(edge_entry *entries, size_t count)
{
    if (count > 32) {
        qsort(entries, count, sizeof *entries, compare_entries);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        edge_entry entry = entries[i];
        size_t j = i;
        for (; j > 0 && entries[j - 1] > entry; j--)
            entries[j] = entries[j - 1];
        entries[j] = entry;
    }
}

static bool is_of_one_node(const repair *r, edge_entry a, edge_entry b)
{
    return r->triangles.data[(uint32_t)a / 6].node == r->triangles.data[(uint32_t)b / 6].node;
}

/// @param one_node all triangles are of one
static rbl_status group_entries(repair *r, const edge_entry *entries, const int32_t *place, bool one_node)
{
    repair_edges *edges = &r->edges;
    size_t at = 0;
    edges->clean = true;
    for (size_t v = 0; v < r->positions.count; v++) {
        if (rbli_poll(r->ctx, v) != RBL_OK) return RBL_ERR_CANCELLED;
        edges->vertex_start[v] = (int32_t)edges->count;
        size_t end = (size_t)place[v];
        while (at < end) {
            size_t begin = at;
            for (; at < end && entries[at] >> 32 == entries[begin] >> 32; at++) {
                edges->half[at] = (int32_t)((uint32_t)entries[at] >> 1);
                edges->of_half[edges->half[at]] = (int32_t)edges->count;
            }
            if (at - begin != 2 || ((entries[begin] ^ entries[begin + 1]) & 1) == 0 ||
                !(one_node || is_of_one_node(r, entries[begin], entries[begin + 1])))
                edges->clean = false;
            edges->start[edges->count++] = (int32_t)begin;
        }
    }
    edges->vertex_start[r->positions.count] = (int32_t)edges->count;
    edges->start[edges->count] = (int32_t)at;
    return RBL_OK;
}

/// Sets mates of the half-edges under one vertex. @param mate NULL: looks only
/// @return whether their edges are clean
static bool match_entries(
    const repair *r, const edge_entry *entries, size_t count, bool one_node, int32_t *mate)
{
    if (count % 2) return false;
    for (size_t i = 0; i < count; i += 2) {
        edge_entry a = entries[i], b = entries[i + 1];
        if (a >> 32 != b >> 32 || !((a ^ b) & 1) || (i + 2 < count && entries[i + 2] >> 32 == a >> 32) ||
            !(one_node || is_of_one_node(r, a, b)))
            return false;
        if (!mate) continue;
        mate[(uint32_t)a >> 1] = (int32_t)((uint32_t)b >> 1);
        mate[(uint32_t)b >> 1] = (int32_t)((uint32_t)a >> 1);
    }
    return true;
}

/// @param match sets mates where all edges are clean, and groups where not. Mates that are there stay: of two half-edges of
/// a node they are the same.
static rbl_status find_edges(repair *r, bool match)
{
    rbl_status status = RBL_OK;
    size_t half_count = r->triangles.count * 3;
    edge_entry *entries = NULL;
    int32_t *place = NULL, *mate = NULL;
    repair_edges *edges = &r->edges;
    RBL_TRY_ALLOC(entries = rbli_alloc(r->ctx, half_count, sizeof *entries));
    if (match && !r->mate) RBL_TRY_ALLOC(mate = rbli_alloc(r->ctx, half_count, sizeof *mate));
    RBL_TRY_ALLOC(place = rbli_calloc(r->ctx, r->positions.count + 1, sizeof *place));
    bool one_node = true;
    for (size_t t = 0; t < r->triangles.count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        one_node &= r->triangles.data[t].node == r->triangles.data[0].node;
        for (int k = 0; k < 3; k++) {
            int32_t a = r->triangles.data[t].v[k], b = r->triangles.data[t].v[k == 2 ? 0 : k + 1];
            place[(a < b ? a : b) + 1]++;
        }
    }
    for (size_t v = 0; v < r->positions.count; v++)
        place[v + 1] += place[v];
    for (size_t t = 0; t < r->triangles.count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        for (size_t k = 0; k < 3; k++) {
            int32_t a = r->triangles.data[t].v[k], b = r->triangles.data[t].v[k == 2 ? 0 : k + 1];
            entries[place[a < b ? a : b]++] = (edge_entry)(a < b ? b : a) << 32 | (3 * t + k) << 1 | (a > b);
        }
    }
    edges->clean = match;
    for (size_t v = 0, begin = 0; v < r->positions.count; begin = (size_t)place[v++]) {
        RBL_TRY(rbli_poll(r->ctx, v));
        size_t count = (size_t)place[v] - begin;
        sort_entries(entries + begin, count);
        edges->clean = edges->clean && match_entries(r, entries + begin, count, one_node, mate);
    }
    if (edges->clean) {
        r->mate = mate ? mate : r->mate;
        mate = NULL;
        goto done;
    }
    rbli_free(r->ctx, mate);
    mate = NULL;
    edges->count = 0;
    RBL_TRY_ALLOC(edges->half = rbli_alloc(r->ctx, half_count, sizeof *edges->half));
    RBL_TRY_ALLOC(edges->of_half = rbli_alloc(r->ctx, half_count, sizeof *edges->of_half));
    RBL_TRY_ALLOC(edges->vertex_start = rbli_alloc(r->ctx, r->positions.count + 1, sizeof *place));
    RBL_TRY_ALLOC(edges->start = rbli_alloc(r->ctx, half_count + 1, sizeof *edges->start));
    RBL_TRY(group_entries(r, entries, place, one_node));
done:
    rbli_free(r->ctx, entries);
    rbli_free(r->ctx, place);
    rbli_free(r->ctx, mate);
    if (status != RBL_OK) repair_forget(r);
    return status;
}

rbl_status repair_build_edges(repair *r)
{
    return r->edges.start ? RBL_OK : find_edges(r, false);
}

rbl_status repair_match_edges(repair *r)
{
    return r->edges.start || r->edges.clean ? RBL_OK : find_edges(r, true);
}

int32_t repair_find_edge(const repair *r, int32_t a, int32_t b)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    int32_t begin = r->edges.vertex_start[low], end = r->edges.vertex_start[low + 1];
    while (begin < end) {
        int32_t middle = begin + (end - begin) / 2;
        int32_t h = r->edges.half[r->edges.start[middle]];
        int32_t tail = half_tail(r, h), tip = half_tip(r, h);
        int32_t other = tail < tip ? tip : tail;
        if (other == high) return middle;
        if (other < high) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return -1;
}

/* Edits that keep where a triangle's corners lie on its source. */

repair_weights repair_weights_of(const repair *r, const repair_triangle *triangle)
{
    if (triangle->weights >= 0) return r->weights.data[triangle->weights];
    return (repair_weights){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

rbl_status repair_append_part(
    repair *r, const repair_triangle *triangle, const int32_t v[3], const double corners[3][3])
{
    repair_weights old = repair_weights_of(r, triangle), rows;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rows.corner[i][j] = corners[i][0] * old.corner[0][j] + corners[i][1] * old.corner[1][j] +
                                corners[i][2] * old.corner[2][j];
    repair_triangle part = *triangle;
    memcpy(part.v, v, sizeof part.v);
    part.weights = triangle->source < 0 ? -1 : (int32_t)r->weights.count;
    if (part.weights >= 0 && rbli_array_push(r->ctx, &r->weights, rows) != RBL_OK) return RBL_ERR_NO_MEMORY;
    return rbli_array_push(r->ctx, &r->triangles, part);
}

rbl_status repair_flip_triangle(repair *r, repair_triangle *triangle)
{
    int32_t swap = triangle->v[1];
    triangle->v[1] = triangle->v[2];
    triangle->v[2] = swap;
    r->changed = true;
    if (triangle->source < 0) return RBL_OK;
    repair_weights old = repair_weights_of(r, triangle), rows;
    memcpy(rows.corner[0], old.corner[0], sizeof rows.corner[0]);
    memcpy(rows.corner[1], old.corner[2], sizeof rows.corner[1]);
    memcpy(rows.corner[2], old.corner[1], sizeof rows.corner[2]);
    static const repair_weights identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    if (memcmp(&rows, &identity, sizeof rows) == 0) {
        triangle->weights = -1;
        return RBL_OK;
    }
    triangle->weights = (int32_t)r->weights.count;
    return rbli_array_push(r->ctx, &r->weights, rows);
}
