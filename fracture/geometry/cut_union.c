/// The union of two meshes in one arrangement: the cut's phases with the second mesh as the complex.

#include <stdlib.h>

#include "fracture/base/hash.h"
#include "fracture/geometry/cut_internal.h"
#include "fracture/geometry/radix_sort.h"
#include "fracture/geometry/unite.h"

/// A triangle of the boundary in arrangement vertices, then in vertices of the result.
typedef struct united_triangle {
    int32_t v[3];
    int32_t source; /* triangle of `a`, or a's count + triangle of `b` */
    bool whole;     /* all of its source */
} united_triangle;

typedef struct pair_job {
    const rbli_mesh_view *a, *b;
    rbli_cell_complex complex;
    cut_state state;
    RBLI_ARRAY(united_triangle) triangles;
    int32_t *vertex; /* [arrangement vertices] vertex of the result, −1 where none uses it */
    double (*positions)[3];
    size_t vertex_count;
} pair_job;

static rbl_status make_complex(rbl_context *ctx, pair_job *job)
{
    rbl_status status = RBL_OK;
    const rbli_mesh_view *b = job->b;
    rbli_cell_complex *k = &job->complex;
    k->vertex_count = b->vertex_count;
    k->facet_count = b->triangle_count;
    k->cell_count = 2;
    RBL_TRY_ALLOC(k->vertices = rbli_alloc(ctx, b->vertex_count, sizeof *k->vertices));
    RBL_TRY_ALLOC(k->facet_start = rbli_alloc(ctx, b->triangle_count + 1, sizeof *k->facet_start));
    RBL_TRY_ALLOC(k->facet_vertices = rbli_alloc(ctx, 3 * b->triangle_count, sizeof *k->facet_vertices));
    RBL_TRY_ALLOC(k->facet_cells = rbli_alloc(ctx, b->triangle_count, sizeof *k->facet_cells));
    memcpy(k->vertices, b->positions, b->vertex_count * sizeof *k->vertices);
    for (size_t f = 0; f < b->triangle_count; f++) {
        k->facet_start[f] = (int32_t)(3 * f);
        k->facet_cells[f][0] = 0;
        k->facet_cells[f][1] = 1;
        for (int i = 0; i < 3; i++) {
            int32_t v = b->triangles[f][i];
            if (v < 0 || (size_t)v >= b->vertex_count) {
                status = rbli_fail(
                    ctx, RBL_ERR_ARGUMENT, "triangle %zu names vertex %d of %zu", f, v, b->vertex_count);
                goto done;
            }
            k->facet_vertices[3 * f + (size_t)i] = v;
        }
    }
    k->facet_start[b->triangle_count] = (int32_t)(3 * b->triangle_count);
done:
    return status;
}

static rbl_status arrange(rbl_context *ctx, pair_job *job)
{
    typedef rbl_status (*phase_fn)(rbl_context * ctx, cut_state * state);
    static const phase_fn phases[] = {cut_prepare_mesh, cut_prepare_complex, cut_settle, cut_flood,
        cut_wind_mesh, cut_wind_vertices, cut_order_edges, cut_trace_mesh, cut_trace_facets};
    rbl_status status = RBL_OK;
    job->state = (cut_state){.mesh_view = job->a, .complex_view = &job->complex, .unite = true};
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        RBL_TRY(phases[i](ctx, &job->state));
done:
    return status;
}

static bool is_apart(const pair_job *job)
{
    const cut_state *s = &job->state;
    if (s->cut_triangle_count > 0) return false;
    for (size_t v = 0; v < job->a->vertex_count; v++)
        if (s->vertex_label[v] != 0) return false;
    for (size_t v = 0; v < job->b->vertex_count; v++)
        if (s->k_winding[v] != 0) return false;
    return true;
}

static rbl_status add_triangle(
    rbl_context *ctx, pair_job *job, const int32_t v[3], int32_t source, bool whole)
{
    return rbli_array_push(ctx, &job->triangles, ((united_triangle){{v[0], v[1], v[2]}, source, whole}));
}

/// All triangles of the boundary.
static rbl_status collect(rbl_context *ctx, pair_job *job)
{
    rbl_status status = RBL_OK;
    const cut_state *s = &job->state;
    size_t count = job->a->triangle_count;
    uint8_t *is_cut = NULL;
    RBL_TRY_ALLOC(is_cut = rbli_calloc(ctx, count, 1));
    for (size_t i = 0; i < s->cut_triangle_count; i++)
        is_cut[s->cut_triangles[i].triangle] = 1;
    for (size_t t = 0; t < count; t++) {
        if (is_cut[t]) continue;
        const int32_t *v = job->a->triangles[t];
        int32_t layers = 1 - s->vertex_label[v[0]], back[3] = {v[0], v[2], v[1]};
        for (int32_t i = 0; i < abs(layers); i++)
            RBL_TRY(add_triangle(ctx, job, layers > 0 ? v : back, (int32_t)t, layers > 0));
    }
    for (size_t i = 0; i < s->face_count; i++)
        RBL_TRY(add_triangle(ctx, job, s->faces[i].v, s->faces[i].source, false));
    for (size_t f = 0; f < s->complex_view->facet_count; f++)
        for (int32_t i = 0; i < s->facet_caps[f].count; i++)
            RBL_TRY(add_triangle(
                ctx, job, cut_cap_at(s, s->facet_caps[f].first)[i].v, (int32_t)(count + f), false));
done:
    rbli_free(ctx, is_cut);
    return status;
}

/// Where an arrangement vertex lies in source coordinates.
static const double *source_position(const pair_job *job, int32_t id)
{
    size_t i = (size_t)id, a = job->a->vertex_count;
    if (i < a) return job->a->positions[i];
    if (i < a + job->b->vertex_count) return job->b->positions[i - a];
    return job->state.node_sources[id - job->state.point_count];
}

/// Numbers the vertices in use, one for each grid point; it lies where the first of them lies, those of the
/// meshes first.
static rbl_status weld(rbl_context *ctx, pair_job *job)
{
    rbl_status status = RBL_OK;
    const cut_state *s = &job->state;
    size_t count = (size_t)s->point_count + s->crossing_count + s->node_count, used = 0, capacity = 16;
    int32_t *slots = NULL;
    RBL_TRY_ALLOC(job->vertex = rbli_calloc(ctx, count, sizeof *job->vertex));
    for (size_t t = 0; t < job->triangles.count; t++)
        for (int i = 0; i < 3; i++)
            job->vertex[job->triangles.data[t].v[i]] = 1;
    for (size_t i = 0; i < count; i++)
        used += (size_t)job->vertex[i];
    while (capacity < 2 * used)
        capacity *= 2;
    RBL_TRY_ALLOC(slots = rbli_alloc(ctx, capacity, sizeof *slots));
    RBL_TRY_ALLOC(job->positions = rbli_alloc(ctx, used, sizeof *job->positions));
    for (size_t i = 0; i < capacity; i++)
        slots[i] = -1;
    for (size_t i = 0; i < count; i++) {
        if (!job->vertex[i]) {
            job->vertex[i] = -1;
            continue;
        }
        const double *p = cut_position(s, (int32_t)i);
        double key[3] = {p[0] + 0.0, p[1] + 0.0, p[2] + 0.0}; /* no −0 */
        size_t at = (size_t)rbli_hash64(key, sizeof key) & (capacity - 1);
        for (; slots[at] >= 0; at = (at + 1) & (capacity - 1)) {
            const double *q = cut_position(s, slots[at]);
            if (q[0] == p[0] && q[1] == p[1] && q[2] == p[2]) break;
        }
        if (slots[at] < 0) {
            slots[at] = (int32_t)i;
            job->vertex[i] = (int32_t)job->vertex_count;
            memcpy(job->positions[job->vertex_count++], source_position(job, (int32_t)i),
                sizeof *job->positions);
        } else {
            job->vertex[i] = job->vertex[slots[at]];
        }
    }
done:
    rbli_free(ctx, slots);
    return status;
}

/* ---- triangles without area ---- */

/// Triangles without area that hang together by edges lie on a line. They go; in their place every edge of
/// theirs is split, in the triangles beside them, at the vertices of the set.
typedef struct flat_sets {
    RBLI_ARRAY(int32_t) triangles; /* numbers in the job */
    rbli_keyed *edges;             /* [3 × triangles] by edge; index: place in `triangles` */
    size_t edge_count;
    int32_t *set; /* [triangles] least member */
    struct flat_vertex {
        int32_t set, id; /* arrangement vertex */
    } * vertices;        /* by set, then along its line, no two at one place */
    size_t vertex_count;
    RBLI_ARRAY(int32_t) inserts; /* of the triangle at hand */
    RBLI_ARRAY(united_triangle) out;
} flat_sets;

/// Whether three grid points lie on a line, exactly.
static bool are_collinear(const double a[3], const double b[3], const double c[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        __extension__ typedef __int128 wide;
        wide u = (wide)(int64_t)(b[i] - a[i]) * (int64_t)(c[j] - a[j]);
        wide v = (wide)(int64_t)(b[j] - a[j]) * (int64_t)(c[i] - a[i]);
        if (u != v) return false;
    }
    return true;
}

static uint64_t edge_key(int32_t a, int32_t b)
{
    return (uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a);
}

/// Drops triangles that welding made lines and lists those without area.
static rbl_status find_flat(rbl_context *ctx, pair_job *job, flat_sets *f)
{
    rbl_status status = RBL_OK;
    size_t kept = 0;
    for (size_t t = 0; t < job->triangles.count; t++) {
        united_triangle *triangle = &job->triangles.data[t];
        int32_t v[3];
        for (int i = 0; i < 3; i++)
            v[i] = job->vertex[triangle->v[i]];
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
        if (are_collinear(cut_position(&job->state, triangle->v[0]),
                cut_position(&job->state, triangle->v[1]), cut_position(&job->state, triangle->v[2])))
            RBL_TRY(rbli_array_push(ctx, &f->triangles, (int32_t)kept));
        job->triangles.data[kept++] = *triangle;
    }
    job->triangles.count = kept;
done:
    return status;
}

static int32_t set_root(int32_t *set, int32_t i)
{
    while (set[i] != i)
        i = set[i] = set[set[i]];
    return i;
}

static rbl_status join_flat(rbl_context *ctx, const pair_job *job, flat_sets *f)
{
    rbl_status status = RBL_OK;
    size_t count = f->triangles.count;
    f->edge_count = 3 * count;
    RBL_TRY_ALLOC(f->edges = rbli_alloc(ctx, 2 * f->edge_count, sizeof *f->edges));
    RBL_TRY_ALLOC(f->set = rbli_alloc(ctx, count, sizeof *f->set));
    for (size_t i = 0; i < count; i++) {
        const int32_t *v = job->triangles.data[f->triangles.data[i]].v;
        f->set[i] = (int32_t)i;
        for (size_t k = 0; k < 3; k++)
            f->edges[3 * i + k] =
                (rbli_keyed){edge_key(job->vertex[v[k]], job->vertex[v[(k + 1) % 3]]), (int32_t)i};
    }
    rbli_radix_sort(f->edges, f->edges + f->edge_count, f->edge_count);
    for (size_t i = 1; i < f->edge_count; i++) {
        if (f->edges[i].key != f->edges[i - 1].key) continue;
        int32_t a = set_root(f->set, f->edges[i].index), b = set_root(f->set, f->edges[i - 1].index);
        f->set[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t i = 0; i < count; i++)
        f->set[i] = set_root(f->set, (int32_t)i);
done:
    return status;
}

/// The order along any line: that of the coordinates.
static int compare_places(const double a[3], const double b[3])
{
    for (int k = 0; k < 3; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

static int compare_flat_vertices(const cut_state *s, const struct flat_vertex *a, const struct flat_vertex *b)
{
    if (a->set != b->set) return a->set < b->set ? -1 : 1;
    return compare_places(cut_position(s, a->id), cut_position(s, b->id));
}

/// Heap sort: the comparison needs the state.
static void sort_flat_vertices(const cut_state *s, struct flat_vertex *v, size_t count)
{
    for (size_t end = count, first = count / 2; end > 1;) {
        if (first > 0) {
            first--;
        } else {
            struct flat_vertex last = v[--end];
            v[end] = v[0];
            v[0] = last;
        }
        struct flat_vertex moving = v[first];
        size_t at = first;
        for (size_t child; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && compare_flat_vertices(s, &v[child], &v[child + 1]) < 0) child++;
            if (compare_flat_vertices(s, &moving, &v[child]) >= 0) break;
            v[at] = v[child];
        }
        v[at] = moving;
    }
}

static rbl_status order_flat(rbl_context *ctx, const pair_job *job, flat_sets *f)
{
    rbl_status status = RBL_OK;
    size_t count = f->triangles.count, kept = 0;
    RBL_TRY_ALLOC(f->vertices = rbli_alloc(ctx, 3 * count, sizeof *f->vertices));
    for (size_t i = 0; i < 3 * count; i++)
        f->vertices[i] =
            (struct flat_vertex){f->set[i / 3], job->triangles.data[f->triangles.data[i / 3]].v[i % 3]};
    sort_flat_vertices(&job->state, f->vertices, 3 * count);
    for (size_t i = 0; i < 3 * count; i++)
        if (kept == 0 || compare_flat_vertices(&job->state, &f->vertices[kept - 1], &f->vertices[i]) != 0)
            f->vertices[kept++] = f->vertices[i];
    f->vertex_count = kept;
done:
    return status;
}

/// The set of an edge, −1 for none.
static int32_t set_of_edge(const pair_job *job, const flat_sets *f, int32_t a, int32_t b)
{
    uint64_t key = edge_key(job->vertex[a], job->vertex[b]);
    size_t begin = 0, end = f->edge_count;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (f->edges[middle].key < key)
            begin = middle + 1;
        else
            end = middle;
    }
    if (begin == f->edge_count || f->edges[begin].key != key) return -1;
    return f->set[f->edges[begin].index];
}

/// Vertices to put on an edge from a to b, in that order, into f->inserts from its end on.
static rbl_status list_inserts(
    rbl_context *ctx, const pair_job *job, flat_sets *f, int32_t a, int32_t b, size_t range[2])
{
    rbl_status status = RBL_OK;
    int32_t set = set_of_edge(job, f, a, b);
    range[0] = range[1] = f->inserts.count;
    if (set < 0) return RBL_OK;
    const double *from = cut_position(&job->state, a), *to = cut_position(&job->state, b);
    bool forward = compare_places(from, to) < 0;
    size_t begin = 0, end = f->vertex_count;
    while (begin < end) { /* the first vertex of the set */
        size_t middle = begin + (end - begin) / 2;
        if (f->vertices[middle].set < set)
            begin = middle + 1;
        else
            end = middle;
    }
    for (end = begin; end < f->vertex_count && f->vertices[end].set == set;)
        end++;
    for (size_t i = begin; i < end; i++) {
        int32_t id = f->vertices[forward ? i : begin + end - 1 - i].id;
        const double *p = cut_position(&job->state, id);
        int past_from = compare_places(p, from), past_to = compare_places(p, to);
        if (forward ? past_from <= 0 || past_to >= 0 : past_from >= 0 || past_to <= 0) continue;
        RBL_TRY(rbli_array_push(ctx, &f->inserts, id));
    }
    range[1] = f->inserts.count;
done:
    return status;
}

/// Triangles from an apex to an edge a–b with its inserts; the last one is left out if `open`.
static rbl_status emit_fan(rbl_context *ctx, flat_sets *f, int32_t source, int32_t a, const size_t range[2],
    int32_t b, int32_t apex, bool open)
{
    rbl_status status = RBL_OK;
    for (size_t i = range[0]; i <= range[1]; i++) {
        int32_t next = i == range[1] ? b : f->inserts.data[i];
        if (i == range[1] && open) break;
        RBL_TRY(rbli_array_push(ctx, &f->out, ((united_triangle){{a, next, apex}, source, false})));
        a = next;
    }
done:
    return status;
}

/// Appends a triangle with the vertices that belong on its sides.
static rbl_status emit_split(rbl_context *ctx, const pair_job *job, flat_sets *f, const united_triangle *t)
{
    rbl_status status = RBL_OK;
    size_t on[3][2];
    f->inserts.count = 0;
    for (int i = 0; i < 3; i++)
        RBL_TRY(list_inserts(ctx, job, f, t->v[i], t->v[(i + 1) % 3], on[i]));
    if (f->inserts.count == 0) return rbli_array_push(ctx, &f->out, *t);
    const int32_t *v = t->v;
    if (on[2][0] < on[2][1]) {
        int32_t first = f->inserts.data[on[2][0]], last = f->inserts.data[on[2][1] - 1];
        size_t between[2] = {on[2][0] + 1, on[2][1]};
        RBL_TRY(emit_fan(ctx, f, t->source, v[0], on[0], v[1], last, false));
        RBL_TRY(emit_fan(ctx, f, t->source, v[1], on[1], v[2], first, false));
        RBL_TRY(emit_fan(ctx, f, t->source, first, between, v[0], v[1], true));
    } else {
        bool split = on[0][0] < on[0][1];
        int32_t apex = split ? f->inserts.data[on[0][1] - 1] : v[0];
        if (split) RBL_TRY(emit_fan(ctx, f, t->source, v[0], on[0], v[1], v[2], true));
        RBL_TRY(emit_fan(ctx, f, t->source, v[1], on[1], v[2], apex, false));
    }
done:
    return status;
}

/// Takes triangles without area out, leaving no gap.
static rbl_status drop_flat(rbl_context *ctx, pair_job *job)
{
    rbl_status status = RBL_OK;
    flat_sets f = {0};
    RBL_TRY(find_flat(ctx, job, &f));
    if (f.triangles.count == 0) goto done;
    RBL_TRY(join_flat(ctx, job, &f));
    RBL_TRY(order_flat(ctx, job, &f));
    RBL_TRY(rbli_array_reserve(ctx, &f.out, job->triangles.count));
    for (size_t t = 0, next = 0; t < job->triangles.count; t++) {
        if (next < f.triangles.count && f.triangles.data[next] == (int32_t)t)
            next++;
        else
            RBL_TRY(emit_split(ctx, job, &f, &job->triangles.data[t]));
    }
    job->triangles.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &job->triangles, f.out.count));
    memcpy(job->triangles.data, f.out.data, f.out.count * sizeof *f.out.data);
    job->triangles.count = f.out.count;
done:
    rbli_free(ctx, f.triangles.data);
    rbli_free(ctx, f.edges);
    rbli_free(ctx, f.set);
    rbli_free(ctx, f.vertices);
    rbli_free(ctx, f.inserts.data);
    rbli_free(ctx, f.out.data);
    return status;
}

/* ---- triangles back to back ---- */

/// A triangle by its vertices, ascending.
typedef struct triangle_key {
    int32_t v[3];
    int32_t sign; /* +1 when ascending is its own turn */
    int32_t index;
} triangle_key;

static int compare_keys(const void *left, const void *right)
{
    const triangle_key *a = left, *b = right;
    for (int i = 0; i < 3; i++)
        if (a->v[i] != b->v[i]) return a->v[i] < b->v[i] ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void swap_ascending(triangle_key *key, int i, int j)
{
    if (key->v[i] <= key->v[j]) return;
    int32_t v = key->v[i];
    key->v[i] = key->v[j];
    key->v[j] = v;
    key->sign = -key->sign;
}

/// Drops pairs of triangles that lie back to back.
static rbl_status cancel(rbl_context *ctx, pair_job *job)
{
    rbl_status status = RBL_OK;
    triangle_key *keys = NULL;
    uint8_t *dead = NULL;
    size_t count = 0, kept = 0;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, job->triangles.count, sizeof *keys));
    RBL_TRY_ALLOC(dead = rbli_calloc(ctx, job->triangles.count, 1));
    for (size_t t = 0; t < job->triangles.count; t++) {
        const int32_t *v = job->triangles.data[t].v;
        triangle_key key = {{job->vertex[v[0]], job->vertex[v[1]], job->vertex[v[2]]}, 1, (int32_t)t};
        swap_ascending(&key, 0, 1);
        swap_ascending(&key, 1, 2);
        swap_ascending(&key, 0, 1);
        keys[count++] = key;
    }
    if (count) qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0, end; i < count; i = end) {
        int32_t net = 0;
        for (end = i; end < count && memcmp(keys[end].v, keys[i].v, sizeof keys[i].v) == 0; end++)
            net += keys[end].sign;
        for (size_t j = i; j < end; j++) {
            bool stays = (net > 0 && keys[j].sign > 0) || (net < 0 && keys[j].sign < 0);
            if (stays) net -= keys[j].sign;
            dead[keys[j].index] = !stays;
        }
    }
    for (size_t t = 0; t < job->triangles.count; t++)
        if (!dead[t]) job->triangles.data[kept++] = job->triangles.data[t];
    job->triangles.count = kept;
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, dead);
    return status;
}

static rbl_status write_pair(rbl_context *ctx, pair_job *job, rbli_united_pair *out)
{
    rbl_status status = RBL_OK;
    size_t count = job->triangles.count, a = job->a->triangle_count, rows = 0;
    for (size_t t = 0; t < count; t++)
        rows += !job->triangles.data[t].whole;
    RBL_TRY_ALLOC(out->triangles = rbli_alloc(ctx, count, sizeof *out->triangles));
    RBL_TRY_ALLOC(out->origins.source = rbli_alloc(ctx, count, sizeof(int32_t)));
    RBL_TRY_ALLOC(out->origins.weights_index = rbli_alloc(ctx, count, sizeof(int32_t)));
    RBL_TRY_ALLOC(out->origins.weights = rbli_alloc(ctx, rows, sizeof *out->origins.weights));
    for (size_t t = 0; t < count; t++) {
        const united_triangle *triangle = &job->triangles.data[t];
        int32_t corners[3];
        bool of_a = (size_t)triangle->source < a;
        for (int i = 0; i < 3; i++) {
            out->triangles[t][i] = job->vertex[triangle->v[i]];
            corners[i] =
                of_a ? job->a->triangles[triangle->source][i]
                     : job->b->triangles[(size_t)triangle->source - a][i] + job->state.complex.first_point;
        }
        out->origins.source[t] = triangle->source;
        out->origins.weights_index[t] = -1;
        if (triangle->whole) continue;
        size_t row = out->origins.weights_count++;
        out->origins.weights_index[t] = (int32_t)row;
        for (int i = 0; i < 3; i++)
            cut_arrangement_weights(&job->state, triangle->v[i], corners, out->origins.weights[row][i]);
    }
    out->triangle_count = count;
    out->positions = job->positions;
    out->vertex_count = job->vertex_count;
    job->positions = NULL;
done:
    return status;
}

void rbli_united_pair_free(rbl_context *ctx, rbli_united_pair *pair)
{
    rbli_free(ctx, pair->positions);
    rbli_free(ctx, pair->triangles);
    rbli_free(ctx, pair->origins.source);
    rbli_free(ctx, pair->origins.weights_index);
    rbli_free(ctx, pair->origins.weights);
    *pair = (rbli_united_pair){0};
}

rbl_status rbli_unite_pair(
    rbl_context *ctx, const rbli_mesh_view *a, const rbli_mesh_view *b, rbli_united_pair *out)
{
    rbl_status status = RBL_OK;
    pair_job job = {.a = a, .b = b};
    rbli_united_pair made = {0};
    RBL_TRY(make_complex(ctx, &job));
    RBL_TRY(arrange(ctx, &job));
    made.apart = is_apart(&job);
    if (!made.apart) {
        RBL_TRY(collect(ctx, &job));
        RBL_TRY(weld(ctx, &job));
        RBL_TRY(drop_flat(ctx, &job));
        RBL_TRY(cancel(ctx, &job));
        RBL_TRY(write_pair(ctx, &job, &made));
    }
    *out = made;
    made = (rbli_united_pair){0};
done:
    rbli_united_pair_free(ctx, &made);
    cut_free_state(ctx, &job.state);
    rbli_free(ctx, job.complex.vertices);
    rbli_free(ctx, job.complex.facet_start);
    rbli_free(ctx, job.complex.facet_vertices);
    rbli_free(ctx, job.complex.facet_cells);
    rbli_free(ctx, job.triangles.data);
    rbli_free(ctx, job.vertex);
    rbli_free(ctx, job.positions);
    return status;
}
