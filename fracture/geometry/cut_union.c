/// The union of two meshes in one arrangement: the cut's phases with the second mesh as the complex.

#include <stdlib.h>

#include "fracture/base/hash.h"
#include "fracture/geometry/cut_internal.h"
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
    static const phase_fn phases[] = {cut_prepare_mesh, cut_prepare_complex, cut_flood, cut_wind_mesh,
        cut_wind_edges, cut_trace_mesh, cut_trace_facets};
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
    for (size_t i = 0; i < s->cap_count; i++)
        RBL_TRY(add_triangle(ctx, job, s->caps[i].v, (int32_t)count + s->caps[i].facet, false));
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

/// Drops triangles that are a line after welding, and pairs that lie back to back.
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
        dead[t] = key.v[0] == key.v[1] || key.v[1] == key.v[2];
        if (!dead[t]) keys[count++] = key;
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
