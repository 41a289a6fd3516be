/// Unites solids over a tree: solids are ordered along a curve and halves are united; only those whose boxes
/// meet take part, and each union is cleaned by the repair.

#include "fracture/geometry/unite.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/radix_sort.h"

/// A united solid thinner than this, 2 V / A of the whole diagonal, is rounding.
static const double NO_VOLUME = 0x1p-44;

enum { FEW = 32 }; /* bodies that are asked one by one */

typedef double vec3[3];

/// A triangle with where its corners lie on its source.
typedef struct body_triangle {
    int32_t v[3];
    int32_t source; /* as in rbli_repair_result.origins */
    bool whole;     /* its corners are the source's */
    double weights[3][3];
} body_triangle;

/// A solid with its cavities.
typedef struct body {
    vec3 *positions;
    size_t vertex_count;
    body_triangle *triangles;
    size_t triangle_count, outer_count; /* the cavities' triangles follow those of the outer shell */
    vec3 min, max;
    double volume, largest; /* of the largest part in it */
    int32_t node;           /* that part's */
    int32_t unit;
    int32_t shell; /* in the input, −1 when united */
    bool meets;    /* takes part in the union at hand */
} body;

typedef RBLI_ARRAY(body *) body_list;

typedef struct unite_job {
    rbl_context *ctx;
    const rbli_repair_result *in;
    const bool *kept;
    rbli_join join;
    double diagonal;
    bool met;
} unite_job;

static void free_body(rbl_context *ctx, body *b)
{
    if (!b) return;
    rbli_free(ctx, b->positions);
    rbli_free(ctx, b->triangles);
    rbli_free(ctx, b);
}

static void free_bodies(rbl_context *ctx, body_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_body(ctx, list->data[i]);
    rbli_free(ctx, list->data);
    *list = (body_list){0};
}

/* ---- bodies from shells ---- */

static void measure_box(body *b)
{
    for (int k = 0; k < 3; k++) {
        b->min[k] = HUGE_VAL;
        b->max[k] = -HUGE_VAL;
    }
    for (size_t v = 0; v < b->vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            b->min[k] = fmin(b->min[k], b->positions[v][k]);
            b->max[k] = fmax(b->max[k], b->positions[v][k]);
        }
}

/// The origin of a triangle of `r` as weights on what the origins refer to; true when it is all of it.
static bool read_weights(const rbli_triangle_origins *origins, size_t triangle, double weights[3][3])
{
    int32_t row = origins->weights_index[triangle];
    if (row >= 0) {
        memcpy(weights, origins->weights[row], sizeof(double[3][3]));
        return false;
    }
    for (int i = 0; i < 9; i++)
        weights[i / 3][i % 3] = i % 4 == 0;
    return true;
}

/// Kept cavities by the solid that they lie in: those of shell s are next[s], next[next[s]] …, ascending, until −1.
static rbl_status list_cavities(
    rbl_context *ctx, const rbli_repair_result *r, const bool *kept, int32_t **next)
{
    *next = rbli_alloc(ctx, r->shell_count, sizeof **next);
    if (!*next) return RBL_ERR_NO_MEMORY;
    memset(*next, 0xff, r->shell_count * sizeof **next);
    for (size_t s = r->shell_count; s-- > 0;) {
        int32_t parent = r->shells[s].parent;
        if (!kept[s] || r->shells[s].kind != RBLI_SHELL_CAVITY || parent < 0 ||
            r->shells[parent].kind != RBLI_SHELL_SOLID)
            continue;
        (*next)[s] = (*next)[parent];
        (*next)[parent] = (int32_t)s;
    }
    return RBL_OK;
}

/// A shell and the cavities in it as a body of its own. @param next as list_cavities gives it
/// @param local [r->vertex_count] −1 everywhere, and so again afterwards
static rbl_status make_body(rbl_context *ctx, const rbli_repair_result *r, const int32_t *next, size_t shell,
    int32_t *local, body **out)
{
    rbl_status status = RBL_OK;
    size_t count = 0, filled = 0;
    body *b = NULL;
    for (int32_t s = (int32_t)shell; s >= 0; s = next[s])
        count += (size_t)r->shells[s].triangle_count;
    RBL_TRY_ALLOC(b = rbli_calloc(ctx, 1, sizeof *b));
    RBL_TRY_ALLOC(b->triangles = rbli_alloc(ctx, count, sizeof *b->triangles));
    RBL_TRY_ALLOC(b->positions = rbli_alloc(ctx, 3 * count, sizeof *b->positions));
    for (int32_t s = (int32_t)shell; s >= 0; s = next[s]) {
        const rbli_shell *from = &r->shells[s];
        for (int32_t t = from->triangle_start; t < from->triangle_start + from->triangle_count; t++) {
            RBL_TRY(rbli_poll(ctx, (size_t)t));
            body_triangle *triangle = &b->triangles[filled++];
            triangle->source = r->origins.source[t];
            triangle->whole = read_weights(&r->origins, (size_t)t, triangle->weights);
            for (int i = 0; i < 3; i++) {
                int32_t v = r->triangles[t][i];
                if (local[v] < 0) {
                    local[v] = (int32_t)b->vertex_count;
                    memcpy(b->positions[b->vertex_count++], r->positions[v], sizeof(vec3));
                }
                triangle->v[i] = local[v];
            }
        }
        b->volume += from->volume;
        if (s == (int32_t)shell) b->outer_count = filled;
        for (int32_t t = from->triangle_start; t < from->triangle_start + from->triangle_count; t++) {
            RBL_TRY(rbli_poll(ctx, (size_t)t));
            for (int i = 0; i < 3; i++)
                local[r->triangles[t][i]] = -1;
        }
    }
    b->triangle_count = filled;
    b->largest = r->shells[shell].volume;
    b->node = r->shells[shell].node;
    b->shell = (int32_t)shell;
    measure_box(b);
    *out = b;
    b = NULL;
done:
    free_body(ctx, b);
    return status;
}

/// The boxes of bodies in a tree.
static rbl_status make_tree(rbl_context *ctx, body *const *bodies, size_t count, rbli_box_tree **out)
{
    rbl_status status = RBL_OK;
    double(*boxes)[2][3] = NULL;
    RBL_TRY_ALLOC(boxes = rbli_alloc(ctx, count, sizeof *boxes));
    for (size_t i = 0; i < count; i++) {
        memcpy(boxes[i][0], bodies[i]->min, sizeof(vec3));
        memcpy(boxes[i][1], bodies[i]->max, sizeof(vec3));
    }
    RBL_TRY(rbli_box_tree_create(ctx, (const double(*)[2][3])boxes, count, out));
done:
    rbli_free(ctx, boxes);
    return status;
}

static rbl_status make_bodies(rbl_context *ctx, const rbli_repair_result *r, const bool *kept, body_list *out)
{
    rbl_status status = RBL_OK;
    int32_t *local = NULL, *next = NULL;
    RBL_TRY_ALLOC(local = rbli_alloc(ctx, r->vertex_count, sizeof *local));
    for (size_t v = 0; v < r->vertex_count; v++)
        local[v] = -1;
    RBL_TRY(list_cavities(ctx, r, kept, &next));
    for (size_t s = 0; s < r->shell_count; s++) {
        if (!kept[s] || r->shells[s].kind != RBLI_SHELL_SOLID) continue;
        RBL_TRY(rbli_array_reserve(ctx, out, 1));
        RBL_TRY(make_body(ctx, r, next, s, local, &out->data[out->count]));
        out->count++;
    }
done:
    rbli_free(ctx, next);
    rbli_free(ctx, local);
    return status;
}

/* ---- one union ---- */

/// The meeting bodies of a list as one mesh, and their triangles in its order. Free both parts.
typedef struct gathered {
    rbli_mesh_view mesh;
    vec3 *positions;
    int32_t (*triangles)[3];
    const body_triangle **sources;
} gathered;

static void free_gathered(rbl_context *ctx, gathered *g)
{
    rbli_free(ctx, g->positions);
    rbli_free(ctx, g->triangles);
    rbli_free(ctx, (void *)g->sources);
}

static rbl_status gather(rbl_context *ctx, body *const *bodies, size_t count, gathered *g)
{
    rbl_status status = RBL_OK;
    size_t vertices = 0, triangles = 0;
    for (size_t i = 0; i < count; i++) {
        if (!bodies[i]->meets) continue;
        vertices += bodies[i]->vertex_count;
        triangles += bodies[i]->triangle_count;
    }
    RBL_TRY_ALLOC(g->positions = rbli_alloc(ctx, vertices, sizeof *g->positions));
    RBL_TRY_ALLOC(g->triangles = rbli_alloc(ctx, triangles, sizeof *g->triangles));
    RBL_TRY_ALLOC(g->sources = rbli_alloc(ctx, triangles, sizeof *g->sources));
    vertices = triangles = 0;
    for (size_t i = 0; i < count; i++) {
        const body *b = bodies[i];
        if (!b->meets) continue;
        memcpy(g->positions + vertices, b->positions, b->vertex_count * sizeof(vec3));
        for (size_t t = 0; t < b->triangle_count; t++, triangles++) {
            RBL_TRY(rbli_poll(ctx, t));
            g->sources[triangles] = &b->triangles[t];
            for (int k = 0; k < 3; k++)
                g->triangles[triangles][k] = b->triangles[t].v[k] + (int32_t)vertices;
        }
        vertices += b->vertex_count;
    }
    g->mesh = (rbli_mesh_view){
        (const double(*)[3])g->positions, vertices, (const int32_t(*)[3])g->triangles, triangles};
done:
    return status;
}

static void compose(const double outer[3][3], const double inner[3][3], double out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] = outer[i][0] * inner[0][j] + outer[i][1] * inner[1][j] + outer[i][2] * inner[2][j];
}

/// Follows a triangle of a cleaned union back to what the bodies' triangles came from.
static void trace_back(
    body_triangle *triangle, const rbli_united_pair *pair, const gathered *a, const gathered *b)
{
    double weights[3][3];
    size_t at = (size_t)triangle->source, source = (size_t)pair->origins.source[at];
    bool whole = read_weights(&pair->origins, at, weights) && triangle->whole;
    double through[3][3];
    compose((const double(*)[3])triangle->weights, (const double(*)[3])weights, through);
    const body_triangle *from =
        source < a->mesh.triangle_count ? a->sources[source] : b->sources[source - a->mesh.triangle_count];
    compose((const double(*)[3])through, (const double(*)[3])from->weights, triangle->weights);
    triangle->whole = whole && from->whole;
    triangle->source = from->source;
}

/// Marks what counts in a cleaned union: no solid within a solid, nothing without volume.
static rbl_status choose(unite_job *job, const rbli_repair_result *r, bool **out)
{
    bool *kept = rbli_calloc(job->ctx, r->shell_count, sizeof *kept);
    *out = kept;
    if (!kept) return RBL_ERR_NO_MEMORY;
    for (size_t s = 0; s < r->shell_count; s++) {
        const rbli_shell *shell = &r->shells[s];
        if (shell->kind == RBLI_SHELL_SHEET)
            return rbli_fail(
                job->ctx, RBL_ERR_INTERNAL, "union: %d triangles are left open", (int)shell->triangle_count);
        if (shell->kind > RBLI_SHELL_CAVITY) continue;
        kept[s] = 2 * fabs(shell->volume) > NO_VOLUME * job->diagonal * shell->area;
        if (shell->kind == RBLI_SHELL_SOLID && shell->parent >= 0 &&
            r->shells[shell->parent].kind == RBLI_SHELL_SOLID)
            kept[s] = false;
    }
    return RBL_OK;
}

/// Cleans a union and appends its bodies.
static rbl_status clean(
    unite_job *job, const rbli_united_pair *pair, const gathered *a, const gathered *b, body_list *out)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = job->ctx;
    rbli_repair_options options = {.stitch = 0, .fill = RBLI_FILL_NONE};
    rbli_repair_result *r = NULL;
    bool *kept = NULL;
    int32_t *node = NULL;
    size_t first = out->count;
    rbli_mesh_view mesh = {(const double(*)[3])pair->positions, pair->vertex_count,
        (const int32_t(*)[3])pair->triangles, pair->triangle_count};
    RBL_TRY_ALLOC(node = rbli_calloc(ctx, pair->triangle_count, sizeof *node));
    RBL_TRY(rbli_repair(ctx, &mesh, node, &options, &r));
    RBL_TRY(choose(job, r, &kept));
    RBL_TRY(make_bodies(ctx, r, kept, out));
    for (size_t i = first; i < out->count; i++)
        for (size_t t = 0; t < out->data[i]->triangle_count; t++) {
            RBL_TRY(rbli_poll(ctx, t));
            trace_back(&out->data[i]->triangles[t], pair, a, b);
        }
done:
    rbli_free(ctx, node);
    rbli_free(ctx, kept);
    rbli_repair_result_destroy(ctx, r);
    return status;
}

static bool boxes_meet(const body *a, const body *b)
{
    for (int k = 0; k < 3; k++)
        if (a->min[k] > b->max[k] || b->min[k] > a->max[k]) return false;
    return true;
}

/// A search in a list for the bodies whose boxes meet one.
typedef struct meeting {
    body *one, *const *others;
    bool any; /* met so far */
} meeting;

/// Calls `visit` for each body of a list whose box meets that of m->one, and maybe others.
/// @param tree of the list, or NULL: there are few
static void visit_near(meeting *m, const rbli_box_tree *tree, size_t count, rbli_box_visit visit)
{
    if (tree) rbli_box_tree_query(tree, m->one->min, m->one->max, visit, m);
    for (size_t i = 0; !tree && i < count; i++)
        visit(m, (int32_t)i);
}

static bool mark_if_met(void *user, int32_t other)
{
    meeting *m = user;
    if (boxes_meet(m->one, m->others[other])) m->any = m->one->meets = m->others[other]->meets = true;
    return true;
}

/// Marks the bodies of both lists whose boxes meet one of the other; `*any` tells whether there are any.
static rbl_status mark_meeting(
    rbl_context *ctx, body *const *a, size_t a_count, body *const *b, size_t b_count, bool *any)
{
    rbl_status status = RBL_OK;
    rbli_box_tree *tree = NULL;
    meeting m = {.others = b};
    for (size_t i = 0; i < a_count; i++)
        a[i]->meets = false;
    for (size_t j = 0; j < b_count; j++)
        b[j]->meets = false;
    if (b_count > FEW) RBL_TRY(make_tree(ctx, b, b_count, &tree));
    for (size_t i = 0; i < a_count; i++) {
        RBL_TRY(rbli_poll(ctx, i));
        m.one = a[i];
        visit_near(&m, tree, b_count, mark_if_met);
    }
    *any = m.any;
done:
    rbli_box_tree_destroy(ctx, tree);
    return status;
}

static bool name_if_within(void *user, int32_t other)
{
    const meeting *m = user;
    body *made = m->one;
    const body *b = m->others[other];
    bool within = b->meets;
    for (int k = 0; k < 3; k++)
        within = within && b->min[k] >= made->min[k] && b->max[k] <= made->max[k];
    if (!within || b->largest < made->largest || (b->largest == made->largest && b->node >= made->node))
        return true;
    made->largest = b->largest;
    made->node = b->node;
    return true;
}

/// The largest of the meeting bodies that lies in a new one, by its box, tells the node.
static rbl_status name_bodies(
    rbl_context *ctx, body *const *bodies, size_t count, body *const *made, size_t made_count)
{
    rbl_status status = RBL_OK;
    rbli_box_tree *tree = NULL;
    meeting m = {.others = bodies};
    if (count > FEW && made_count > 1) RBL_TRY(make_tree(ctx, bodies, count, &tree));
    for (size_t i = 0; i < made_count; i++) {
        RBL_TRY(rbli_poll(ctx, i));
        m.one = made[i];
        m.one->largest = -HUGE_VAL;
        m.one->shell = -1;
        visit_near(&m, tree, count, name_if_within);
    }
done:
    rbli_box_tree_destroy(ctx, tree);
    return status;
}

/// Unites bodies [0, half) with [half, count) of a list in place.
static rbl_status unite_halves(unite_job *job, body_list *list, size_t half)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = job->ctx;
    gathered a = {0}, b = {0};
    rbli_united_pair pair = {0};
    body_list made = {0};
    size_t kept = 0;
    bool any;
    RBL_TRY(mark_meeting(ctx, list->data, half, list->data + half, list->count - half, &any));
    if (!any) return RBL_OK;
    RBL_TRY(gather(ctx, list->data, half, &a));
    RBL_TRY(gather(ctx, list->data + half, list->count - half, &b));
    RBL_TRY(rbli_unite_pair(ctx, &a.mesh, &b.mesh, &pair));
    if (pair.apart) goto done;
    job->met = true;
    RBL_TRY(clean(job, &pair, &a, &b, &made));
    RBL_TRY(name_bodies(ctx, list->data, list->count, made.data, made.count));
    RBL_TRY(rbli_array_reserve(ctx, list, made.count));
    for (size_t i = 0; i < list->count; i++) {
        if (list->data[i]->meets)
            free_body(ctx, list->data[i]);
        else
            list->data[kept++] = list->data[i];
    }
    memcpy(list->data + kept, made.data, made.count * sizeof *made.data);
    list->count = kept + made.count;
    made.count = 0;
done:
    free_gathered(ctx, &a);
    free_gathered(ctx, &b);
    rbli_united_pair_free(ctx, &pair);
    free_bodies(ctx, &made);
    return status;
}

/// Unites bodies[0 … count) and appends what comes out; takes the bodies over (sets them to NULL). As deep as
/// the logarithm of the count.
static rbl_status unite_range(unite_job *job, body **bodies, size_t count, body_list *out)
{
    rbl_status status = RBL_OK;
    body_list list = {0};
    if (rbli_cancelled(job->ctx)) return RBL_ERR_CANCELLED;
    if (count == 1) {
        RBL_TRY(rbli_array_push(job->ctx, out, bodies[0]));
        bodies[0] = NULL;
        return RBL_OK;
    }
    RBL_TRY(unite_range(job, bodies, count / 2, &list));
    size_t half = list.count;
    RBL_TRY(unite_range(job, bodies + count / 2, count - count / 2, &list));
    RBL_TRY(unite_halves(job, &list, half));
    RBL_TRY(rbli_array_reserve(job->ctx, out, list.count));
    memcpy(out->data + out->count, list.data, list.count * sizeof *list.data);
    out->count += list.count;
    list.count = 0;
done:
    free_bodies(job->ctx, &list);
    return status;
}

/* ---- units ---- */

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/// Gives every body its unit: the least node of those that share shells with its own, or 0 for a scene.
static rbl_status assign_units(unite_job *job, body_list *bodies)
{
    rbl_status status = RBL_OK;
    const rbli_repair_result *in = job->in;
    int32_t *parent = NULL, nodes = 0;
    for (size_t t = 0; t < in->triangle_count; t++) {
        RBL_TRY(rbli_poll(job->ctx, t));
        if (in->triangle_node[t] >= nodes) nodes = in->triangle_node[t] + 1;
    }
    RBL_TRY_ALLOC(parent = rbli_alloc(job->ctx, (size_t)nodes, sizeof *parent));
    for (int32_t n = 0; n < nodes; n++)
        parent[n] = n;
    for (size_t s = 0; s < in->shell_count; s++)
        for (int32_t t = in->shells[s].triangle_start;
             t < in->shells[s].triangle_start + in->shells[s].triangle_count; t++) {
            RBL_TRY(rbli_poll(job->ctx, (size_t)t));
            int32_t a = find_root(parent, in->shells[s].node), b = find_root(parent, in->triangle_node[t]);
            parent[a > b ? a : b] = a > b ? b : a;
        }
    for (size_t i = 0; i < bodies->count; i++)
        bodies->data[i]->unit = job->join == RBLI_JOIN_SCENE ? 0 : find_root(parent, bodies->data[i]->node);
done:
    rbli_free(job->ctx, parent);
    return status;
}

/// Puts the bodies of each unit side by side, units in the order of their first bodies.
static rbl_status group_by_unit(unite_job *job, body_list *bodies)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = job->ctx;
    size_t count = bodies->count, units = 0;
    int32_t *first = NULL; /* body of each unit, or −1 */
    rbli_keyed *keys = NULL, *scratch = NULL;
    body **grouped = NULL;
    for (size_t i = 0; i < count; i++)
        if ((size_t)bodies->data[i]->unit >= units) units = (size_t)bodies->data[i]->unit + 1;
    RBL_TRY_ALLOC(first = rbli_alloc(ctx, units, sizeof *first));
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, count, sizeof *scratch));
    RBL_TRY_ALLOC(grouped = rbli_alloc(ctx, count, sizeof *grouped));
    memset(first, 0xff, units * sizeof *first);
    for (size_t i = 0; i < count; i++) {
        int32_t *of_unit = &first[bodies->data[i]->unit];
        if (*of_unit < 0) *of_unit = (int32_t)i;
        keys[i] = (rbli_keyed){(uint64_t)*of_unit, (int32_t)i};
    }
    RBL_TRY(rbli_radix_sort_polled(ctx, keys, scratch, count));
    for (size_t i = 0; i < count; i++)
        grouped[i] = bodies->data[keys[i].index];
    memcpy(bodies->data, grouped, count * sizeof *grouped);
done:
    rbli_free(ctx, first);
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    rbli_free(ctx, (void *)grouped);
    return status;
}

/// Unites the bodies of one unit, ordered along a curve in space; takes them over (sets them to NULL).
static rbl_status unite_unit(unite_job *job, body **members, size_t count, body_list *out)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = job->ctx;
    body_list ordered = {0};
    rbli_box_tree *tree = NULL;
    RBL_TRY(make_tree(ctx, members, count, &tree));
    RBL_TRY(rbli_array_reserve(ctx, &ordered, count));
    for (size_t i = 0; i < count; i++)
        ordered.data[i] = members[rbli_box_tree_items(tree)[i]];
    ordered.count = count;
    memset(members, 0, count * sizeof *members);
    RBL_TRY(unite_range(job, ordered.data, count, out));
done:
    free_bodies(ctx, &ordered);
    rbli_box_tree_destroy(ctx, tree);
    return status;
}

/* ---- the result ---- */

typedef struct result_writer {
    unite_job *job;
    rbli_repair_result *out;
    size_t row_capacity;
} result_writer;

static rbl_status size_result(result_writer *w, const body_list *bodies)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = w->job->ctx;
    const rbli_repair_result *in = w->job->in;
    rbli_repair_result *out = w->out;
    size_t vertices = 0, triangles = 0, shells = 2 * bodies->count;
    for (size_t i = 0; i < bodies->count; i++) {
        vertices += bodies->data[i]->vertex_count;
        triangles += bodies->data[i]->triangle_count;
    }
    for (size_t s = 0; s < in->shell_count; s++) {
        if (in->shells[s].kind <= RBLI_SHELL_CAVITY) continue;
        vertices += 3 * (size_t)in->shells[s].triangle_count;
        triangles += (size_t)in->shells[s].triangle_count;
        shells++;
    }
    if (vertices > INT32_MAX || triangles > INT32_MAX / 3)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "the united mesh has too many triangles (%zu)", triangles);
    RBL_TRY_ALLOC(out->positions = rbli_alloc(ctx, vertices, sizeof *out->positions));
    RBL_TRY_ALLOC(out->triangles = rbli_alloc(ctx, triangles, sizeof *out->triangles));
    RBL_TRY_ALLOC(out->triangle_node = rbli_alloc(ctx, triangles, sizeof *out->triangle_node));
    RBL_TRY_ALLOC(out->origins.source = rbli_alloc(ctx, triangles, sizeof *out->origins.source));
    RBL_TRY_ALLOC(out->origins.weights_index = rbli_alloc(ctx, triangles, sizeof(int32_t)));
    RBL_TRY_ALLOC(out->origins.weights = rbli_alloc(ctx, triangles, sizeof *out->origins.weights));
    RBL_TRY_ALLOC(out->shells = rbli_alloc(ctx, shells, sizeof *out->shells));
done:
    return status;
}

/// Appends a triangle whose vertices are set.
static void put_triangle(
    result_writer *w, const int32_t v[3], int32_t node, int32_t source, const double weights[3][3])
{
    rbli_repair_result *out = w->out;
    size_t t = out->triangle_count++;
    memcpy(out->triangles[t], v, sizeof out->triangles[t]);
    out->triangle_node[t] = node;
    out->origins.source[t] = source;
    out->origins.weights_index[t] = -1;
    if (!weights) return;
    out->origins.weights_index[t] = (int32_t)out->origins.weights_count;
    memcpy(out->origins.weights[out->origins.weights_count++], weights, sizeof *out->origins.weights);
}

/// Copies the shells that are no solids and no cavities.
static rbl_status copy_sheets(result_writer *w)
{
    rbl_status status = RBL_OK;
    const rbli_repair_result *in = w->job->in;
    rbli_repair_result *out = w->out;
    int32_t *local = NULL;
    RBL_TRY_ALLOC(local = rbli_alloc(w->job->ctx, in->vertex_count, sizeof *local));
    for (size_t v = 0; v < in->vertex_count; v++)
        local[v] = -1;
    for (size_t s = 0; s < in->shell_count; s++) {
        const rbli_shell *from = &in->shells[s];
        if (from->kind <= RBLI_SHELL_CAVITY) continue;
        rbli_shell *to = &out->shells[out->shell_count++];
        *to = *from;
        to->parent = -1;
        to->triangle_start = (int32_t)out->triangle_count;
        for (int32_t t = from->triangle_start; t < from->triangle_start + from->triangle_count; t++) {
            RBL_TRY(rbli_poll(w->job->ctx, (size_t)t));
            int32_t v[3], row = in->origins.weights_index[t];
            for (int i = 0; i < 3; i++) {
                int32_t *place = &local[in->triangles[t][i]];
                if (*place < 0) {
                    *place = (int32_t)out->vertex_count;
                    memcpy(out->positions[out->vertex_count++], in->positions[in->triangles[t][i]],
                        sizeof(vec3));
                }
                v[i] = *place;
            }
            put_triangle(w, v, in->triangle_node[t], in->origins.source[t],
                row < 0 ? NULL : (const double(*)[3])in->origins.weights[row]);
        }
    }
done:
    rbli_free(w->job->ctx, local);
    return status;
}

static double surface_area(const body *b, size_t begin, size_t end)
{
    double sum = 0;
    for (size_t t = begin; t < end; t++) {
        const double *p = b->positions[b->triangles[t].v[0]], *q = b->positions[b->triangles[t].v[1]],
                     *r = b->positions[b->triangles[t].v[2]];
        double x = (q[1] - p[1]) * (r[2] - p[2]) - (q[2] - p[2]) * (r[1] - p[1]);
        double y = (q[2] - p[2]) * (r[0] - p[0]) - (q[0] - p[0]) * (r[2] - p[2]);
        double z = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
        sum += 0.5 * sqrt(x * x + y * y + z * z);
    }
    return sum;
}

/// Appends a body as a solid and, where it has cavities, one shell for all of them.
static rbl_status put_body(result_writer *w, const body *b)
{
    rbli_repair_result *out = w->out;
    int32_t base = (int32_t)out->vertex_count, solid = (int32_t)out->shell_count;
    memcpy(out->positions + out->vertex_count, b->positions, b->vertex_count * sizeof(vec3));
    out->vertex_count += b->vertex_count;
    size_t start = out->triangle_count;
    for (size_t t = 0; t < b->triangle_count; t++) {
        if (rbli_poll(w->job->ctx, t) != RBL_OK) return RBL_ERR_CANCELLED;
        const body_triangle *from = &b->triangles[t];
        int32_t v[3] = {from->v[0] + base, from->v[1] + base, from->v[2] + base};
        put_triangle(w, v, b->node, from->source, from->whole ? NULL : (const double(*)[3])from->weights);
    }
    out->shells[out->shell_count++] = (rbli_shell){.kind = RBLI_SHELL_SOLID,
        .triangle_start = (int32_t)start,
        .triangle_count = (int32_t)b->outer_count,
        .node = b->node,
        .parent = -1,
        .volume = b->volume,
        .area = surface_area(b, 0, b->outer_count)};
    if (b->outer_count == b->triangle_count) return RBL_OK;
    out->shells[out->shell_count++] = (rbli_shell){.kind = RBLI_SHELL_CAVITY,
        .triangle_start = (int32_t)(start + b->outer_count),
        .triangle_count = (int32_t)(b->triangle_count - b->outer_count),
        .node = b->node,
        .parent = solid,
        .area = surface_area(b, b->outer_count, b->triangle_count)};
    return RBL_OK;
}

static rbl_status write_result(unite_job *job, const body_list *bodies, rbli_repair_result **result)
{
    rbl_status status = RBL_OK;
    result_writer w = {.job = job};
    RBL_TRY_ALLOC(w.out = rbli_calloc(job->ctx, 1, sizeof *w.out));
    RBL_TRY(size_result(&w, bodies));
    RBL_TRY(copy_sheets(&w));
    for (int united = 0; united < 2; united++)
        for (size_t i = 0; i < bodies->count; i++)
            if ((bodies->data[i]->shell < 0) == (united == 1)) RBL_TRY(put_body(&w, bodies->data[i]));
    *result = w.out;
    w.out = NULL;
done:
    rbli_repair_result_destroy(job->ctx, w.out);
    return status;
}

static double diagonal_of(const rbli_repair_result *in)
{
    vec3 low = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double sum = 0;
    for (size_t v = 0; v < in->vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], in->positions[v][k]);
            high[k] = fmax(high[k], in->positions[v][k]);
        }
    for (int k = 0; k < 3; k++)
        sum += (high[k] - low[k]) * (high[k] - low[k]);
    return in->vertex_count ? sqrt(sum) : 0;
}

static bool has_two_solids(const rbli_repair_result *in, const bool *kept)
{
    size_t solids = 0;
    for (size_t s = 0; s < in->shell_count && solids < 2; s++)
        solids += kept[s] && in->shells[s].kind == RBLI_SHELL_SOLID;
    return solids == 2;
}

rbl_status rbli_unite(rbl_context *ctx, const rbli_repair_result *in, const bool *kept, rbli_join join,
    rbli_repair_result **out)
{
    rbl_status status = RBL_OK;
    unite_job job = {.ctx = ctx, .in = in, .kept = kept, .join = join, .diagonal = diagonal_of(in)};
    body_list bodies = {0}, united = {0};
    *out = NULL;
    if (join == RBLI_JOIN_NONE || !has_two_solids(in, kept)) return RBL_OK;
    RBL_TRY(make_bodies(ctx, in, kept, &bodies));
    RBL_TRY(assign_units(&job, &bodies));
    RBL_TRY(group_by_unit(&job, &bodies));
    for (size_t i = 0, end; i < bodies.count; i = end) {
        for (end = i + 1; end < bodies.count && bodies.data[end]->unit == bodies.data[i]->unit;)
            end++;
        RBL_TRY(unite_unit(&job, bodies.data + i, end - i, &united));
    }
    if (job.met) RBL_TRY(write_result(&job, &united, out));
done:
    free_bodies(ctx, &bodies);
    free_bodies(ctx, &united);
    return status;
}
