/// A change of the hierarchy: first only numbers (who is whose parent, what is left over), then the bones,
/// then all that was derived from the hierarchy.

#include "fracture/ops/rehang.h"

#include <stdlib.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"
#include "fracture/base/hash.h"
#include "fracture/ops/bone_mass.h"
#include "fracture/ops/proximity.h"

enum { POLL = 8192 };

rbl_status rbli_rehang_plan_create(rbl_context *ctx, const rbl_collection *in, rbli_rehang_plan *out)
{
    rbl_status status = RBL_OK;
    rbli_rehang_plan plan = {.bone_count = rbli_collection_size(in, "bone")};
    const int32_t *parent = rbli_collection_read(in, "bone", "parent", RBL_INT32);
    if (!parent && plan.bone_count > 0)
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "the collection lacks bone.parent");
    RBL_TRY_ALLOC(plan.parent = rbli_alloc(ctx, plan.bone_count, sizeof *plan.parent));
    RBL_TRY_ALLOC(plan.dissolve = rbli_calloc(ctx, plan.bone_count, sizeof *plan.dissolve));
    if (plan.bone_count) memcpy(plan.parent, parent, plan.bone_count * sizeof *parent);
    *out = plan;
    plan = (rbli_rehang_plan){0};
done:
    rbli_rehang_plan_free(ctx, &plan);
    return status;
}

void rbli_rehang_plan_free(rbl_context *ctx, rbli_rehang_plan *plan)
{
    for (size_t i = 0; i < plan->new_count; i++)
        rbli_free(ctx, plan->new_name[i]);
    rbli_free(ctx, plan->new_name);
    rbli_free(ctx, plan->new_parent);
    rbli_free(ctx, plan->parent);
    rbli_free(ctx, plan->dissolve);
    *plan = (rbli_rehang_plan){0};
}

rbl_status rbli_rehang_add(rbl_context *ctx, rbli_rehang_plan *plan, int32_t parent, const char *base,
    const char *ending, int32_t *node)
{
    if (plan->new_count == plan->new_capacity) {
        size_t capacity = plan->new_capacity ? 2 * plan->new_capacity : 16;
        void *grown = rbli_realloc(ctx, plan->new_parent, capacity, sizeof *plan->new_parent);
        if (!grown) return RBL_ERR_NO_MEMORY;
        plan->new_parent = grown;
        grown = rbli_realloc(ctx, plan->new_name, capacity, sizeof *plan->new_name);
        if (!grown) return RBL_ERR_NO_MEMORY;
        plan->new_name = grown;
        plan->new_capacity = capacity;
    }
    char *name = rbli_format(ctx, "%s%s", base, ending);
    if (!name) return RBL_ERR_NO_MEMORY;
    plan->new_parent[plan->new_count] = parent;
    plan->new_name[plan->new_count] = name;
    *node = (int32_t)(plan->bone_count + plan->new_count++);
    return RBL_OK;
}

/* ---- who is left, and below whom ---- */

typedef struct rehang {
    rbl_context *ctx;
    const rbl_collection *in;
    const rbli_rehang_plan *plan;
    size_t count;        /* nodes: old bones and new clusters */
    int32_t *parent;     /* [count] */
    bool *gone;          /* [count] */
    int32_t *order;      /* [count] nodes, parents first */
    int32_t *kids;       /* [count] number of children that are left */
    int32_t *kid;        /* [count] exclusive or of their numbers: the child itself where there is one */
    int32_t *was;        /* [count] number of children before; −1 for new ones */
    double (*world)[16]; /* [count] */
} rehang;

static void rehang_free(rehang *r)
{
    rbli_free(r->ctx, r->parent);
    rbli_free(r->ctx, r->gone);
    rbli_free(r->ctx, r->order);
    rbli_free(r->ctx, r->kids);
    rbli_free(r->ctx, r->kid);
    rbli_free(r->ctx, r->was);
    rbli_free(r->ctx, r->world);
}

static bool is_new(const rehang *r, int32_t node)
{
    return (size_t)node >= r->plan->bone_count;
}

/// Nodes with parents first: a walk that follows each node up to one that is placed, then places the way
/// back.
static rbl_status order_nodes(rehang *r)
{
    rbl_status status = RBL_OK;
    size_t placed = 0;
    int32_t *next = NULL; /* the way back; −1: not seen, −2: placed */
    RBL_TRY_ALLOC(next = rbli_alloc(r->ctx, r->count, sizeof *next));
    memset(next, 0xff, r->count * sizeof *next);
    for (size_t i = 0; i < r->count; i++) {
        if (i % POLL == 0 && rbli_cancelled(r->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        int32_t node = (int32_t)i, back = node;
        while (node >= 0 && next[node] == -1) {
            next[node] = back;
            back = node;
            node = r->parent[node];
        }
        /* Only nodes of this very walk are seen and not placed. */
        if (node >= 0 && next[node] != -2) {
            status = rbli_fail(r->ctx, RBL_ERR_COLLECTION, "a bone would hang below itself");
            goto done;
        }
        for (node = back; next[node] != -2;) {
            int32_t below = next[node];
            r->order[placed++] = node;
            next[node] = -2;
            node = below;
        }
    }
done:
    rbli_free(r->ctx, next);
    return status;
}

/// The nearest node above that is not gone; −1 when there is none. Ways are shortened.
static int32_t above(rehang *r, int32_t node)
{
    int32_t top = node;
    while (top >= 0 && r->gone[top])
        top = r->parent[top];
    while (node >= 0 && r->gone[node]) {
        int32_t next = r->parent[node];
        r->parent[node] = top;
        node = next;
    }
    return top;
}

/// Marks what is left without children, or with one: children first.
static void tidy(rehang *r)
{
    const int32_t *type = rbli_collection_read(r->in, "bone", "type", RBL_INT32);
    bool single = r->plan->clusters_of_one;
    for (size_t i = r->count; i-- > 0;) {
        int32_t node = r->order[i], parent = r->parent[node], only = r->kid[node];
        bool fresh = is_new(r, node);
        if (r->gone[node] || r->kids[node] > 1 || (!fresh && type && type[node] != RBLI_BONE_CLUSTER))
            continue;
        if (r->kids[node] == 1 && !single && is_new(r, only)) {
            /* A new cluster of all: its parent has the same children without it. */
            r->gone[only] = true;
            r->kids[node] = r->kids[only];
            r->kid[node] = r->kid[only];
            continue;
        }
        if (r->kids[node] == r->was[node] || (parent < 0 && !fresh) || (r->kids[node] == 1 && single))
            continue;
        r->gone[node] = true;
        if (parent < 0) continue;
        r->kid[parent] ^= node;
        if (r->kids[node] == 0) {
            r->kids[parent]--;
        } else {
            r->kid[parent] ^= only;
        }
    }
}

static rbl_status resolve(rehang *r)
{
    rbl_status status = RBL_OK;
    const rbli_rehang_plan *plan = r->plan;
    const int32_t *old = rbli_collection_read(r->in, "bone", "parent", RBL_INT32);
    r->count = plan->bone_count + plan->new_count;
    if (r->count > INT32_MAX)
        return rbli_fail(r->ctx, RBL_ERR_LIMIT, "bone: %zu are too many to index", r->count);
    RBL_TRY_ALLOC(r->parent = rbli_alloc(r->ctx, r->count, sizeof *r->parent));
    RBL_TRY_ALLOC(r->gone = rbli_calloc(r->ctx, r->count, sizeof *r->gone));
    RBL_TRY_ALLOC(r->order = rbli_alloc(r->ctx, r->count, sizeof *r->order));
    RBL_TRY_ALLOC(r->kids = rbli_calloc(r->ctx, r->count, sizeof *r->kids));
    RBL_TRY_ALLOC(r->kid = rbli_calloc(r->ctx, r->count, sizeof *r->kid));
    RBL_TRY_ALLOC(r->was = rbli_calloc(r->ctx, r->count, sizeof *r->was));
    for (size_t i = 0; i < r->count; i++) {
        bool fresh = is_new(r, (int32_t)i);
        r->parent[i] = fresh ? plan->new_parent[i - plan->bone_count] : plan->parent[i];
        r->gone[i] = !fresh && plan->dissolve[i];
        r->was[i] = fresh ? -1 : 0;
    }
    RBL_TRY(order_nodes(r));
    for (size_t i = 0; i < plan->bone_count; i++)
        if (old[i] >= 0) r->was[old[i]]++;
    for (size_t i = 0; i < r->count; i++) {
        if (r->gone[i] || (r->parent[i] = above(r, r->parent[i])) < 0) continue;
        r->kids[r->parent[i]]++;
        r->kid[r->parent[i]] ^= (int32_t)i;
    }
    tidy(r);
    for (size_t i = 0; i < r->count; i++)
        if (!r->gone[i]) r->parent[i] = above(r, r->parent[i]);
done:
    return status;
}

/* ---- the bones ---- */

/// Places in the world, also of new nodes; old ones as they were.
static rbl_status place_nodes(rehang *r)
{
    double(*old)[16] = NULL;
    rbl_status status = rbli_hierarchy_world_transforms(r->ctx, r->in, &old);
    if (status != RBL_OK) return status;
    r->world = rbli_realloc(r->ctx, old, r->count, sizeof *old);
    if (!r->world) {
        rbli_free(r->ctx, old);
        return RBL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < r->count; i++) {
        int32_t node = r->order[i], parent = r->parent[node];
        if (!is_new(r, node)) continue;
        memset(r->world[node], 0, sizeof *r->world);
        for (int k = 0; k < 4; k++)
            r->world[node][5 * k] = 1;
        if (parent >= 0) memcpy(r->world[node], r->world[parent], sizeof *r->world);
    }
    return RBL_OK;
}

/// Local transforms of bones whose parent's place differs from the one before.
static rbl_status keep_places(rehang *r, double (*local)[16])
{
    static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const int32_t *old = rbli_collection_read(r->in, "bone", "parent", RBL_INT32);
    for (size_t b = 0; b < r->plan->bone_count; b++) {
        int32_t parent = r->parent[b];
        if (b % POLL == 0 && rbli_cancelled(r->ctx)) return RBL_ERR_CANCELLED;
        if (r->gone[b] || parent == old[b]) continue;
        const double *now = parent < 0 ? identity : r->world[parent];
        const double *before = old[b] < 0 ? identity : r->world[old[b]];
        double inverse[16];
        if (memcmp(now, before, sizeof inverse) == 0) continue;
        if (memcmp(now, identity, sizeof inverse) == 0) {
            memcpy(local[b], r->world[b], sizeof inverse);
            continue;
        }
        if (!rbli_affine_invert(now, inverse))
            return rbli_fail(r->ctx, RBL_ERR_COLLECTION,
                "bone \"%s\": nothing can be hung below it, its transform has no inverse",
                is_new(r, parent) ? r->plan->new_name[(size_t)parent - r->plan->bone_count]
                                  : rbli_collection_string(r->in, "bone", "name", (size_t)parent));
        rbli_affine_multiply(inverse, r->world[b], local[b]);
    }
    return RBL_OK;
}

/// What a runtime reads of new clusters, from their children.
static rbl_status inherit_state(rehang *r, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    int32_t *simulation, *collider = NULL;
    bool *anchored;
    double *threshold = NULL;
    size_t first = r->plan->bone_count;
    RBL_TRY(rbli_collection_write(r->ctx, to, "bone", "simulation_type", RBL_INT32, (void **)&simulation));
    RBL_TRY(rbli_collection_write(r->ctx, to, "bone", "anchored", RBL_BOOL, (void **)&anchored));
    if (rbli_collection_read(to, "bone", "collider", RBL_INT32))
        RBL_TRY(rbli_collection_write(r->ctx, to, "bone", "collider", RBL_INT32, (void **)&collider));
    if (rbli_collection_read(to, "bone", "damage_threshold", RBL_DOUBLE))
        RBL_TRY(
            rbli_collection_write(r->ctx, to, "bone", "damage_threshold", RBL_DOUBLE, (void **)&threshold));
    for (size_t n = first; n < r->count; n++) {
        simulation[n] = -1;
        anchored[n] = true;
        if (collider) collider[n] = RBLI_COLLIDER_CONVEX;
    }
    /* Children first; a child that differs from the ones before makes the cluster dynamic for good. */
    for (size_t i = r->count; i-- > 0;) {
        int32_t node = r->order[i], parent = r->parent[node];
        if (r->gone[node] || parent < 0 || !is_new(r, parent)) continue;
        if (simulation[parent] < 0) simulation[parent] = simulation[node];
        if (simulation[parent] != simulation[node]) simulation[parent] = RBLI_SIMULATION_DYNAMIC;
        anchored[parent] &= anchored[node];
        if (threshold && threshold[node] > threshold[parent]) threshold[parent] = threshold[node];
    }
    for (size_t n = first; n < r->count; n++)
        if (simulation[n] < 0) {
            simulation[n] = RBLI_SIMULATION_DYNAMIC;
            anchored[n] = false;
        }
done:
    return status;
}

/// Adds the new bones, writes parents and transforms, sorts and removes what is gone.
static rbl_status build(rehang *r, rbl_collection *to, int32_t **source)
{
    static const char mark[] = "rehang_node";
    rbl_status status = RBL_OK;
    rbl_context *ctx = r->ctx;
    int32_t *parent, *numbers, *order = NULL;
    double(*local)[16];
    bool *remove = NULL;
    if (r->plan->new_count > 0)
        RBL_TRY(rbli_hierarchy_add_bones(ctx, to, r->plan->new_count, NULL,
            (const char *const *)r->plan->new_name, RBLI_BONE_CLUSTER, NULL));
    RBL_TRY(rbli_collection_write(ctx, to, "bone", "parent", RBL_INT32, (void **)&parent));
    RBL_TRY(rbli_collection_write(ctx, to, "bone", "transform", RBL_MAT4, (void **)&local));
    RBL_TRY(rbli_collection_write(ctx, to, "bone", mark, RBL_INT32, (void **)&numbers));
    RBL_TRY(place_nodes(r));
    RBL_TRY(keep_places(r, local));
    for (size_t i = 0; i < r->count; i++) {
        parent[i] = r->gone[i] ? -1 : r->parent[i];
        numbers[i] = (int32_t)i;
    }
    RBL_TRY(inherit_state(r, to));
    rbli_collection_remove_group(to, "connection");
    RBL_TRY(rbli_hierarchy_sort(ctx, to));
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    RBL_TRY_ALLOC(remove = rbli_alloc(ctx, r->count, sizeof *remove));
    const int32_t *sorted = rbli_collection_read(to, "bone", mark, RBL_INT32);
    for (size_t i = 0; i < r->count; i++)
        remove[i] = r->gone[sorted[i]];
    RBL_TRY(rbli_hierarchy_remove_bones(ctx, to, remove));
    size_t left = rbli_collection_size(to, "bone");
    RBL_TRY_ALLOC(order = rbli_alloc(ctx, left, sizeof *order));
    if (left) memcpy(order, rbli_collection_read(to, "bone", mark, RBL_INT32), left * sizeof *order);
    rbli_collection_remove(to, "bone", mark);
    *source = order;
    order = NULL;
done:
    rbli_free(ctx, order);
    rbli_free(ctx, remove);
    return status;
}

/* ---- hulls ---- */

/// A number for each bone that tells which pieces are below it, the bone included.
static rbl_status fingerprint(rbl_context *ctx, const rbl_collection *c, const int32_t *name, uint64_t **out)
{
    size_t count = rbli_collection_size(c, "bone");
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    const int32_t *geometry = rbli_collection_read(c, "bone", "geometry", RBL_INT32);
    uint64_t *print = rbli_calloc(ctx, count, sizeof *print);
    if (!print) return RBL_ERR_NO_MEMORY;
    for (size_t b = count; b-- > 0;) {
        int32_t number = name ? name[b] : (int32_t)b;
        if (geometry[b] >= 0) print[b] += rbli_hash64(&number, sizeof number);
        if (parent[b] >= 0) print[parent[b]] += print[b];
    }
    *out = print;
    return RBL_OK;
}

/// Which bones of `to` have the same pieces as before; new ones have not.
static rbl_status find_unchanged(rehang *r, const rbl_collection *to, const int32_t *source, bool **out)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(to, "bone");
    uint64_t *then = NULL, *now = NULL;
    bool *same = NULL;
    RBL_TRY(fingerprint(r->ctx, r->in, NULL, &then));
    RBL_TRY(fingerprint(r->ctx, to, source, &now));
    RBL_TRY_ALLOC(same = rbli_alloc(r->ctx, count, sizeof *same));
    for (size_t b = 0; b < count; b++)
        same[b] = !is_new(r, source[b]) && now[b] == then[source[b]];
    *out = same;
done:
    rbli_free(r->ctx, then);
    rbli_free(r->ctx, now);
    return status;
}

static rbl_status drop_hulls(rehang *r, rbl_collection *to, const bool *same)
{
    size_t count = rbli_collection_size(to, "convex"), before = rbli_collection_size(r->in, "convex");
    const int32_t *owner = rbli_collection_read(to, "convex", "bone", RBL_INT32);
    if (!owner) return RBL_OK;
    bool *keep = rbli_alloc(r->ctx, count, sizeof *keep);
    if (!keep) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        keep[i] = same[owner[i]];
    rbl_status status = rbli_collection_filter(r->ctx, to, "convex", keep, NULL);
    rbli_free(r->ctx, keep);
    size_t dropped = before - rbli_collection_size(to, "convex");
    if (status == RBL_OK && dropped > 0)
        rbli_note(r->ctx, "removed %zu hull%s of clusters that are gone or whose pieces changed", dropped,
            dropped == 1 ? "" : "s");
    return status;
}

/* ---- masses ---- */

/// Clusters weigh what is below them; those with the same pieces as before keep what they have.
static rbl_status sum_masses(rehang *r, rbl_collection *to, const int32_t *source, const bool *same)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(to, "bone");
    const int32_t *parent = rbli_collection_read(to, "bone", "parent", RBL_INT32);
    const int32_t *geometry = rbli_collection_read(to, "bone", "geometry", RBL_INT32);
    rbli_bone_masses masses;
    rbli_mass *bodies = NULL;
    if (!rbli_has_masses(to)) return RBL_OK;
    RBL_TRY(rbli_bone_masses_write(r->ctx, to, &masses));
    RBL_TRY_ALLOC(bodies = rbli_calloc(r->ctx, count, sizeof *bodies));
    for (size_t b = count; b-- > 0;) {
        const double *place = r->world[source[b]];
        if (b % POLL == 0 && rbli_cancelled(r->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (geometry[b] >= 0 || same[b])
            bodies[b] = rbli_bone_mass_get(&masses, b, place);
        else
            rbli_bone_mass_set(&masses, b, place, &bodies[b]);
        if (parent[b] >= 0) bodies[parent[b]] = rbli_mass_add(&bodies[parent[b]], &bodies[b]);
    }
done:
    rbli_free(r->ctx, bodies);
    return status;
}

/* ---- connections ---- */

static bool area_known(const rbl_collection *c, const char *group)
{
    const double *area = rbli_collection_read(c, group, "area", RBL_DOUBLE);
    return area && rbli_collection_size(c, group) > 0 && area[0] >= 0;
}

/// Whether the connections are those that the proximity gives.
static rbl_status derived_from_proximity(rbl_context *ctx, const rbl_collection *in, bool *out)
{
    rbl_status status = RBL_OK;
    size_t count = 0, lifted_count = 0, own = rbli_collection_size(in, "connection");
    const int32_t(*pairs)[2] = rbli_collection_read(in, "connection", "bones", RBL_INT32_2);
    rbli_touch *touches = NULL;
    rbli_sibling_pair *lifted = NULL;
    *out = false;
    if (!rbli_collection_read(in, "proximity", "geometries", RBL_INT32_2)) return RBL_OK;
    RBL_TRY(rbli_known_contacts(ctx, in, NULL, &touches, &count));
    RBL_TRY(rbli_lift_contacts(ctx, in, touches, count, &lifted, &lifted_count));
    *out = own == lifted_count;
    for (size_t i = 0; i < own && *out; i++)
        *out = pairs[i][0] == lifted[i].bone_a && pairs[i][1] == lifted[i].bone_b;
done:
    rbli_free(ctx, touches);
    rbli_free(ctx, lifted);
    return status;
}

/// The old pairs, lifted to siblings. `to` has no group connection.
static rbl_status lift_connections(
    rbl_context *ctx, const rbl_collection *in, const int32_t *place, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(in, "connection"), kept = 0, touching = 0;
    const int32_t(*old)[2] = rbli_collection_read(in, "connection", "bones", RBL_INT32_2);
    const double *old_area = rbli_collection_read(in, "connection", "area", RBL_DOUBLE);
    int32_t(*pairs)[2];
    double *area;
    rbli_touch *touches = NULL;
    rbli_sibling_pair *lifted = NULL;
    RBL_TRY_ALLOC(touches = rbli_alloc(ctx, count, sizeof *touches));
    for (size_t i = 0; i < count; i++) {
        int32_t a = place[old[i][0]], b = place[old[i][1]];
        if (a < 0 || b < 0) {
            rbli_warn(ctx, "the connection graph was removed: it has pairs of a bone that is gone and that "
                           "no contact tells of; make it anew");
            goto done;
        }
        if (a != b)
            touches[touching++] = (rbli_touch){a < b ? a : b, a < b ? b : a, old_area ? old_area[i] : -1, 0};
    }
    RBL_TRY(rbli_lift_contacts(ctx, to, touches, touching, &lifted, &kept));
    RBL_TRY(rbli_collection_resize(ctx, to, "connection", kept));
    RBL_TRY(rbli_collection_write(ctx, to, "connection", "bones", RBL_INT32_2, (void **)&pairs));
    RBL_TRY(rbli_collection_write(ctx, to, "connection", "area", RBL_DOUBLE, (void **)&area));
    for (size_t i = 0; i < kept; i++) {
        pairs[i][0] = lifted[i].bone_a;
        pairs[i][1] = lifted[i].bone_b;
        area[i] = lifted[i].area;
    }
done:
    rbli_free(ctx, touches);
    rbli_free(ctx, lifted);
    return status;
}

rbl_status rbli_renew_connections(
    rbl_context *ctx, const rbl_collection *in, const int32_t *place, rbl_collection *to)
{
    bool derived;
    rbli_collection_remove_group(to, "connection");
    if (!rbli_collection_read(in, "connection", "bones", RBL_INT32_2)) return RBL_OK;
    rbl_status status = derived_from_proximity(ctx, in, &derived);
    if (status != RBL_OK) return status;
    return derived ? rbli_connect_siblings(ctx, to, area_known(in, "connection"))
                   : lift_connections(ctx, in, place, to);
}

/* ---- the whole ---- */

rbl_status rbli_rehang(rbl_context *ctx, const rbl_collection *in, const rbli_rehang_plan *plan,
    rbl_collection **out, int32_t **source)
{
    rbl_status status = RBL_OK;
    rehang r = {.ctx = ctx, .in = in, .plan = plan};
    rbl_collection *copy = NULL;
    int32_t *order = NULL;
    int32_t *place = NULL;
    bool *same = NULL;
    RBL_TRY(resolve(&r));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(build(&r, copy, &order));
    RBL_TRY(find_unchanged(&r, copy, order, &same));
    RBL_TRY(drop_hulls(&r, copy, same));
    RBL_TRY(sum_masses(&r, copy, order, same));
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    RBL_TRY_ALLOC(place = rbli_alloc(ctx, r.count, sizeof *place));
    memset(place, 0xff, r.count * sizeof *place);
    for (size_t b = 0; b < rbli_collection_size(copy, "bone"); b++)
        place[order[b]] = (int32_t)b;
    RBL_TRY(rbli_renew_connections(ctx, in, place, copy));
    *out = copy;
    copy = NULL;
    if (source) {
        *source = order;
        order = NULL;
    }
done:
    rehang_free(&r);
    rbli_free(ctx, order);
    rbli_free(ctx, place);
    rbli_free(ctx, same);
    rbli_collection_release(copy);
    return status;
}
