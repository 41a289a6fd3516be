/// Connections of siblings by the methods of Chaos, each cluster for itself.

#include "fracture/ops/connection_graph.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/delaunay_edges.h"
#include "fracture/geometry/mass_properties.h"
#include "fracture/geometry/radix_sort.h"
#include "fracture/ops/inside_pairs.h"
#include "fracture/ops/proximity.h"

enum { POLL = 512 };

rbli_connection_options rbli_connection_default_options(void)
{
    return (rbli_connection_options){.method = RBLI_CONNECT_PROXIMITY, .near_distance = 5, .factor = 1};
}

/// A candidate between two siblings.
typedef struct candidate {
    int32_t a, b;
    double length;
} candidate;

typedef struct connector {
    rbl_context *ctx;
    const rbl_collection *in;
    const rbli_connection_options *options;
    size_t bone_count;
    const int32_t *parent;
    rbli_world_surface surface;
    double tolerance;
    double (*center)[3];          /* [bone_count] */
    double (*low)[3], (*high)[3]; /* [bone_count] low > high where there is nothing */
    int32_t *member, *start;      /* bones with something in them, by parent: roots first */
    int32_t *united;              /* [bone_count] union-find over bones */
    rbli_pair_array pairs;
    rbli_sibling_pair *known; /* contacts lifted to siblings, for areas */
    size_t known_count;
    double unknown_area; /* of a pair that is not among the known */
} connector;

static void connector_free(connector *c)
{
    rbli_world_surface_free(c->ctx, &c->surface);
    rbli_free(c->ctx, c->center);
    rbli_free(c->ctx, c->low);
    rbli_free(c->ctx, c->high);
    rbli_free(c->ctx, c->member);
    rbli_free(c->ctx, c->start);
    rbli_free(c->ctx, c->united);
    rbli_free(c->ctx, c->pairs.data);
    rbli_free(c->ctx, c->known);
}

static int32_t find_root(int32_t *united, int32_t i)
{
    while (united[i] != i)
        i = united[i] = united[united[i]];
    return i;
}

/// @return false when they are one already
static bool unite(int32_t *united, int32_t a, int32_t b)
{
    int32_t x = find_root(united, a), y = find_root(united, b);
    united[x > y ? x : y] = x > y ? y : x;
    return x != y;
}

static rbl_status connect(connector *c, int32_t a, int32_t b)
{
    rbli_keyed pair = {(uint64_t)(a < b ? a : b) << 32 | (uint32_t)(a < b ? b : a), 0};
    unite(c->united, a, b);
    return rbli_array_push(c->ctx, &c->pairs, pair);
}

/* ---- centres and members ---- */

/// Bounds and bodies of the leaves.
static rbl_status measure_leaves(connector *c, rbli_mass *body)
{
    rbl_status status = RBL_OK;
    static const char *const names[4] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    const int32_t *geometry = rbli_collection_read(c->in, "bone", "geometry", RBL_INT32), *ranges[4];
    int32_t *leaves = NULL;
    size_t leaf_count;
    for (int i = 0; i < 4; i++)
        ranges[i] = rbli_collection_read(c->in, "geometry", names[i], RBL_INT32);
    RBL_TRY(rbli_rigid_leaves(c->ctx, c->in, NULL, &leaves, &leaf_count));
    for (size_t i = 0; i < leaf_count; i++) {
        int32_t b = leaves[i], g = geometry[b];
        if (i % POLL == 0 && rbli_cancelled(c->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (int32_t v = ranges[0][g]; v < ranges[0][g] + ranges[1][g]; v++)
            for (int k = 0; k < 3; k++) {
                c->low[b][k] = fmin(c->low[b][k], c->surface.positions[v][k]);
                c->high[b][k] = fmax(c->high[b][k], c->surface.positions[v][k]);
            }
        body[b] = rbli_mass_of_mesh((const double(*)[3])c->surface.positions,
            c->surface.triangles + ranges[2][g], (size_t)ranges[3][g]);
    }
done:
    rbli_free(c->ctx, leaves);
    return status;
}

/// Centres of mass of all that is below a bone; of its bounds when it is flat or inside out.
static rbl_status measure(connector *c)
{
    rbl_status status = RBL_OK;
    rbli_mass *body = NULL;
    RBL_TRY_ALLOC(c->center = rbli_alloc(c->ctx, c->bone_count, sizeof *c->center));
    RBL_TRY_ALLOC(c->low = rbli_alloc(c->ctx, c->bone_count, sizeof *c->low));
    RBL_TRY_ALLOC(c->high = rbli_alloc(c->ctx, c->bone_count, sizeof *c->high));
    RBL_TRY_ALLOC(body = rbli_calloc(c->ctx, c->bone_count, sizeof *body));
    for (size_t b = 0; b < c->bone_count; b++)
        for (int k = 0; k < 3; k++) {
            c->low[b][k] = HUGE_VAL;
            c->high[b][k] = -HUGE_VAL;
        }
    RBL_TRY(measure_leaves(c, body));
    for (size_t b = c->bone_count; b-- > 0;) {
        double box = 1;
        for (int k = 0; k < 3; k++)
            box *= fmax(c->high[b][k] - c->low[b][k], 0);
        bool solid = body[b].mass > 1e-9 * box;
        for (int k = 0; k < 3; k++)
            c->center[b][k] = solid ? body[b].center[k] : c->low[b][k] + (c->high[b][k] - c->low[b][k]) / 2;
        if (c->parent[b] < 0 || c->low[b][0] > c->high[b][0]) continue;
        rbli_mass *above = &body[c->parent[b]];
        if (solid) *above = rbli_mass_add(above, &body[b]);
        for (int k = 0; k < 3; k++) {
            c->low[c->parent[b]][k] = fmin(c->low[c->parent[b]][k], c->low[b][k]);
            c->high[c->parent[b]][k] = fmax(c->high[c->parent[b]][k], c->high[b][k]);
        }
    }
done:
    rbli_free(c->ctx, body);
    return status;
}

/// Bones that hold something, by their parents: those below bone p are member[start[p + 1]] …
/// member[start[p + 2] − 1], roots are at start[0].
static rbl_status list_members(connector *c)
{
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(c->start = rbli_calloc(c->ctx, c->bone_count + 3, sizeof *c->start));
    RBL_TRY_ALLOC(c->member = rbli_alloc(c->ctx, c->bone_count, sizeof *c->member));
    RBL_TRY_ALLOC(c->united = rbli_alloc(c->ctx, c->bone_count, sizeof *c->united));
    for (size_t b = 0; b < c->bone_count; b++) {
        c->united[b] = (int32_t)b;
        if (c->low[b][0] <= c->high[b][0]) c->start[c->parent[b] + 3]++;
    }
    for (size_t p = 0; p <= c->bone_count; p++)
        c->start[p + 2] += c->start[p + 1];
    for (size_t b = 0; b < c->bone_count; b++)
        if (c->low[b][0] <= c->high[b][0]) c->member[c->start[c->parent[b] + 2]++] = (int32_t)b;
done:
    return status;
}

/* ---- methods ---- */

static bool boxes_meet(const connector *c, int32_t a, int32_t b)
{
    for (int k = 0; k < 3; k++)
        if (c->low[a][k] > c->high[b][k] + c->tolerance || c->low[b][k] > c->high[a][k] + c->tolerance)
            return false;
    return true;
}

/// Near ones all; of the rest, the shortest first, those that join what is apart.
static rbl_status span(connector *c, const candidate *candidates, size_t count)
{
    rbl_status status = RBL_OK;
    double near = c->options->near_distance * sqrt(c->options->factor);
    rbli_keyed *order = NULL, *scratch = NULL;
    size_t far = 0;
    RBL_TRY_ALLOC(order = rbli_alloc(c->ctx, count, sizeof *order));
    RBL_TRY_ALLOC(scratch = rbli_alloc(c->ctx, count, sizeof *scratch));
    for (size_t i = 0; i < count; i++) {
        if (candidates[i].length <= near)
            RBL_TRY(connect(c, candidates[i].a, candidates[i].b));
        else
            order[far++] = (rbli_keyed){rbli_double_key(candidates[i].length), (int32_t)i};
    }
    if (far) RBL_TRY(rbli_radix_sort_polled(c->ctx, order, scratch, far));
    for (size_t i = 0; i < far; i++) {
        const candidate *e = &candidates[order[i].index];
        if (find_root(c->united, e->a) != find_root(c->united, e->b)) RBL_TRY(connect(c, e->a, e->b));
    }
done:
    rbli_free(c->ctx, order);
    rbli_free(c->ctx, scratch);
    return status;
}

/// Connects the members of one cluster by their centres.
static rbl_status connect_centers(connector *c, const int32_t *member, size_t count)
{
    rbl_status status = RBL_OK;
    double(*centers)[3] = NULL;
    int32_t(*edges)[2] = NULL;
    candidate *candidates = NULL;
    size_t edge_count;
    RBL_TRY_ALLOC(centers = rbli_alloc(c->ctx, count, sizeof *centers));
    for (size_t i = 0; i < count; i++)
        memcpy(centers[i], c->center[member[i]], sizeof *centers);
    RBL_TRY(rbli_delaunay_edges(c->ctx, (const double(*)[3])centers, count, &edges, &edge_count));
    RBL_TRY_ALLOC(candidates = rbli_alloc(c->ctx, edge_count, sizeof *candidates));
    for (size_t i = 0; i < edge_count; i++) {
        const double *p = centers[edges[i][0]], *q = centers[edges[i][1]];
        double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
        candidates[i] = (candidate){member[edges[i][0]], member[edges[i][1]], sqrt(x * x + y * y + z * z)};
    }
    switch (c->options->method) {
    case RBLI_CONNECT_MINIMAL_SPANNING:
    case RBLI_CONNECT_POINT_IMPLICIT_AUGMENTED:
        RBL_TRY(span(c, candidates, edge_count));
        break;
    default:
        for (size_t i = 0; i < edge_count; i++)
            if (c->options->method == RBLI_CONNECT_DELAUNAY ||
                boxes_meet(c, candidates[i].a, candidates[i].b))
                RBL_TRY(connect(c, candidates[i].a, candidates[i].b));
    }
done:
    rbli_free(c->ctx, centers);
    rbli_free(c->ctx, edges);
    rbli_free(c->ctx, candidates);
    return status;
}

static rbl_status connect_lifted(connector *c, const rbli_touch *touches, size_t count)
{
    rbli_sibling_pair *siblings = NULL;
    size_t sibling_count;
    rbl_status status = rbli_lift_contacts(c->ctx, c->in, touches, count, &siblings, &sibling_count);
    for (size_t i = 0; status == RBL_OK && i < sibling_count; i++)
        status = connect(c, siblings[i].bone_a, siblings[i].bone_b);
    rbli_free(c->ctx, siblings);
    return status;
}

static bool uses_centers(rbli_connection_method method)
{
    return method != RBLI_CONNECT_PROXIMITY && method != RBLI_CONNECT_POINT_IMPLICIT &&
           method != RBLI_CONNECT_NONE;
}

static rbl_status connect_all(connector *c)
{
    rbl_status status = RBL_OK;
    rbli_touch *touches = NULL;
    size_t count;
    rbli_connection_method method = c->options->method;
    if (method == RBLI_CONNECT_PROXIMITY)
        for (size_t i = 0; i < c->known_count; i++)
            RBL_TRY(connect(c, c->known[i].bone_a, c->known[i].bone_b));
    if (method == RBLI_CONNECT_POINT_IMPLICIT || method == RBLI_CONNECT_POINT_IMPLICIT_AUGMENTED) {
        RBL_TRY(rbli_inside_pairs(c->ctx, c->in, &c->surface, c->tolerance, &touches, &count));
        RBL_TRY(connect_lifted(c, touches, count));
    }
    for (size_t p = 0; uses_centers(method) && p <= c->bone_count; p++) {
        size_t members = (size_t)(c->start[p + 1] - c->start[p]);
        if (p % POLL == 0 && rbli_cancelled(c->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (members > 1) RBL_TRY(connect_centers(c, c->member + c->start[p], members));
    }
done:
    rbli_free(c->ctx, touches);
    return status;
}

/* ---- areas and the group ---- */

static rbl_status read_known(connector *c)
{
    rbl_status status = RBL_OK;
    rbli_touch *touches = NULL;
    size_t count = 0;
    c->unknown_area = -1;
    bool near = rbli_collection_read(c->in, "proximity", "geometries", RBL_INT32_2) != NULL;
    if (near || c->options->method == RBLI_CONNECT_PROXIMITY) {
        RBL_TRY(rbli_known_contacts(c->ctx, c->in, &c->surface, &touches, &count));
    } else {
        RBL_TRY(rbli_recorded_contacts(c->ctx, c->in, &touches, &count));
    }
    bool with_areas = near;
    for (size_t i = 0; i < count && with_areas; i++)
        with_areas = touches[i].area >= 0;
    if (with_areas && count > 0) c->unknown_area = 0;
    RBL_TRY(rbli_lift_contacts(c->ctx, c->in, touches, count, &c->known, &c->known_count));
done:
    rbli_free(c->ctx, touches);
    return status;
}

static double area_of(const connector *c, int32_t a, int32_t b)
{
    size_t low = 0, high = c->known_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const rbli_sibling_pair *pair = &c->known[middle];
        if (pair->bone_a < a || (pair->bone_a == a && pair->bone_b < b))
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < c->known_count && c->known[low].bone_a == a && c->known[low].bone_b == b;
    return found ? c->known[low].area : c->unknown_area;
}

static rbl_status write_pairs(connector *c, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    size_t count = c->pairs.count, kept = 0;
    int32_t(*bones)[2];
    double *area;
    rbli_keyed *pairs = c->pairs.data, *scratch = rbli_alloc(c->ctx, count, sizeof *scratch);
    RBL_TRY_ALLOC(scratch);
    if (count) RBL_TRY(rbli_radix_sort_polled(c->ctx, pairs, scratch, count));
    for (size_t i = 0; i < count; i++)
        if (i == 0 || pairs[i].key != pairs[i - 1].key) pairs[kept++] = pairs[i];
    rbli_collection_remove_group(to, "connection");
    RBL_TRY(rbli_collection_resize(c->ctx, to, "connection", kept));
    RBL_TRY(rbli_collection_write(c->ctx, to, "connection", "bones", RBL_INT32_2, (void **)(void *)&bones));
    RBL_TRY(rbli_collection_write(c->ctx, to, "connection", "area", RBL_DOUBLE, (void **)(void *)&area));
    for (size_t i = 0; i < kept; i++) {
        bones[i][0] = (int32_t)(pairs[i].key >> 32);
        bones[i][1] = (int32_t)(uint32_t)pairs[i].key;
        area[i] = area_of(c, bones[i][0], bones[i][1]);
    }
done:
    rbli_free(c->ctx, scratch);
    return status;
}

/// Notes clusters whose children fall apart at once.
static void report(const connector *c)
{
    size_t loose = 0, parts = 0;
    int32_t first = -1;
    if (c->options->method == RBLI_CONNECT_NONE) return;
    for (size_t p = 1; p <= c->bone_count; p++) {
        size_t here = 0;
        for (int32_t i = c->start[p]; i < c->start[p + 1]; i++)
            here += find_root(c->united, c->member[i]) == c->member[i];
        if (here < 2) continue;
        if (loose++ == 0) first = (int32_t)p - 1, parts = here;
    }
    if (loose)
        rbli_note(c->ctx, "the connections of %zu cluster%s leave parts apart (first: \"%s\", %zu parts)",
            loose, loose == 1 ? "" : "s", rbli_collection_string(c->in, "bone", "name", (size_t)first),
            parts);
}

rbl_status rbli_connection_graph(
    rbl_context *ctx, const rbl_collection *in, const rbli_connection_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *copy = NULL;
    connector c = {.ctx = ctx,
        .in = in,
        .options = options,
        .bone_count = rbli_collection_size(in, "bone"),
        .parent = rbli_collection_read(in, "bone", "parent", RBL_INT32)};
    RBL_TRY(rbli_world_surface_build(ctx, in, &c.surface));
    c.tolerance = rbli_world_surface_tolerance(&c.surface, 0);
    RBL_TRY(measure(&c));
    RBL_TRY(list_members(&c));
    RBL_TRY(read_known(&c));
    RBL_TRY(connect_all(&c));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(write_pairs(&c, copy));
    report(&c);
    *out = copy;
    copy = NULL;
done:
    connector_free(&c);
    rbli_collection_release(copy);
    return status;
}
