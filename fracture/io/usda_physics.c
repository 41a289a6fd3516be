/// UsdPhysics of a .usda file: rigid bodies, colliders, joints.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fracture/base/affine.h"
#include "fracture/geometry/mass_properties.h"
#include "fracture/io/usda_writer.h"

static const double step = 1 / 60., strength = 3e6; /* s, Pa: tensile strength of concrete */

/* ---- bodies ---- */

static bool is_moving(const rbli_body *body)
{
    return body->simulation == RBLI_SIMULATION_DYNAMIC || body->simulation == RBLI_SIMULATION_KINEMATIC;
}

bool rbli_usda_body_has_schemas(const rbli_body *body)
{
    return is_moving(body);
}

void rbli_usda_put_body_schemas(usda_writer *w, size_t depth, const rbli_body *body)
{
    if (!is_moving(body)) return;
    rbli_usda_line(w, depth,
        body->mass > 0 ? "prepend apiSchemas = [\"PhysicsRigidBodyAPI\", \"PhysicsMassAPI\"]"
                       : "prepend apiSchemas = [\"PhysicsRigidBodyAPI\"]");
}

static void put_quaternion(usda_writer *w, size_t depth, const char *name, const double q[4])
{
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, name);
    rbli_put(&w->text, " = (");
    for (int k = 0; k < 4; k++) { /* the real part first */
        if (k) rbli_put(&w->text, ", ");
        rbli_put_float(&w->text, (float)q[(k + 3) % 4]);
    }
    rbli_put(&w->text, ")\n");
}

static void put_motion(usda_writer *w, size_t depth, size_t bone, const rbli_body *body)
{
    double center[3];
    if (!is_moving(body)) return;
    if (body->simulation == RBLI_SIMULATION_KINEMATIC)
        rbli_usda_line(w, depth, "bool physics:kinematicEnabled = 1");
    if (!(body->mass > 0)) return;
    for (int k = 0; k < 3; k++)
        center[k] = body->center_of_mass[k] - w->centers[bone][k];
    rbli_usda_put_scalar(w, depth, "float physics:mass", body->mass);
    rbli_usda_put_vector(w, depth, "point3f physics:centerOfMass", center, false);
    rbli_usda_put_vector(w, depth, "float3 physics:diagonalInertia", body->moments, false);
    put_quaternion(w, depth, "quatf physics:principalAxes", body->axes);
}

/* ---- colliders ---- */

static void open_collider(usda_writer *w, size_t depth, const char *type, size_t number, const char *schemas)
{
    char line[64];
    snprintf(line, sizeof line, "def %s \"collider_%02zu\" (", type, number);
    rbli_usda_line(w, depth, line);
    rbli_usda_line(w, depth + 1, schemas);
    rbli_usda_line(w, depth, ")");
    rbli_usda_line(w, depth, "{");
    w->report.colliders++;
}

static void put_hull_points(usda_writer *w, size_t depth, size_t bone, const rbli_hull_view *hull)
{
    double low[3] = {0}, high[3] = {0};
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, "point3f[] points = [");
    for (size_t i = 0; i < hull->point_count; i++) {
        rbli_put(&w->text, i ? ", (" : "(");
        for (int k = 0; k < 3; k++) {
            double x = hull->points[i][k] - w->centers[bone][k];
            if (i == 0 || x < low[k]) low[k] = x;
            if (i == 0 || x > high[k]) high[k] = x;
            if (k) rbli_put(&w->text, ", ");
            rbli_put_float(&w->text, (float)x);
        }
        rbli_put(&w->text, ")");
    }
    rbli_put(&w->text, "]\n");
    rbli_usda_put_extent(w, depth, low, high);
}

static void put_hull(usda_writer *w, size_t depth, size_t bone, size_t number, const rbli_hull_view *hull)
{
    open_collider(w, depth, "Mesh", number,
        "prepend apiSchemas = [\"PhysicsCollisionAPI\", \"PhysicsMeshCollisionAPI\"]");
    rbli_usda_indent(w, depth + 1);
    rbli_put(&w->text, "int[] faceVertexCounts = [");
    for (size_t t = 0; t < hull->triangle_count; t++)
        rbli_put(&w->text, t ? ", 3" : "3");
    rbli_put(&w->text, "]\n");
    rbli_usda_indent(w, depth + 1);
    rbli_put(&w->text, "int[] faceVertexIndices = [");
    for (size_t c = 0; c < 3 * hull->triangle_count; c++) {
        if (c) rbli_put(&w->text, ", ");
        rbli_put_size(&w->text, (size_t)hull->triangles[c / 3][c % 3]);
    }
    rbli_put(&w->text, "]\n");
    put_hull_points(w, depth + 1, bone, hull);
    rbli_usda_line(w, depth + 1, "uniform token physics:approximation = \"convexHull\"");
    rbli_usda_line(w, depth + 1, "uniform token purpose = \"guide\"");
    rbli_usda_line(w, depth + 1, "uniform token subdivisionScheme = \"none\"");
    rbli_usda_line(w, depth, "}");
}

/// A cube or a sphere around the middle of the hulls.
static void put_shape(usda_writer *w, size_t depth, size_t bone, const rbli_body *body)
{
    bool sphere = body->shape == RBLI_SHAPE_SPHERE;
    double offset[3], low[3], high[3];
    for (int k = 0; k < 3; k++) {
        offset[k] = body->center[k] - w->centers[bone][k];
        high[k] = sphere ? body->radius : 0.5;
        low[k] = -high[k];
    }
    open_collider(w, depth, sphere ? "Sphere" : "Cube", 0, "prepend apiSchemas = [\"PhysicsCollisionAPI\"]");
    rbli_usda_put_extent(w, depth + 1, low, high);
    rbli_usda_line(w, depth + 1, "uniform token purpose = \"guide\"");
    if (sphere)
        rbli_usda_put_scalar(w, depth + 1, "double radius", body->radius);
    else
        rbli_usda_line(w, depth + 1, "double size = 1");
    if (!sphere) rbli_usda_put_vector(w, depth + 1, "float3 xformOp:scale", body->size, false);
    rbli_usda_put_vector(w, depth + 1, "double3 xformOp:translate", offset, true);
    rbli_usda_line(w, depth + 1,
        sphere ? "uniform token[] xformOpOrder = [\"xformOp:translate\"]"
               : "uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:scale\"]");
    rbli_usda_line(w, depth, "}");
}

void rbli_usda_put_body(usda_writer *w, size_t depth, size_t bone, const rbli_body *body)
{
    put_motion(w, depth, bone, body);
    if (body->shape == RBLI_SHAPE_BOX || body->shape == RBLI_SHAPE_SPHERE) put_shape(w, depth, bone, body);
    if (body->shape != RBLI_SHAPE_HULLS) return;
    for (size_t i = 0; i < body->hull_count; i++) {
        rbli_hull_view hull = rbli_body_hull(&w->bodies, body->hulls[i]);
        put_hull(w, depth, bone, i, &hull);
    }
    if (body->hull_count > 0) return;
    int32_t g = w->view.geometry[bone], first = w->view.vertex_start[g];
    size_t count = 3 * (size_t)w->view.face_counts[g];
    int32_t(*triangles)[3] = (int32_t(*)[3])w->numbers; /* scratch of the piece's corners */
    for (size_t c = 0; c < count; c++)
        triangles[c / 3][c % 3] = w->view.faces[(size_t)w->view.face_start[g] + c / 3][c % 3] - first;
    rbli_hull_view mesh = {w->view.positions + first, (const int32_t(*)[3])triangles,
        (size_t)w->view.vertex_counts[g], count / 3};
    put_hull(w, depth, bone, 0, &mesh);
}

/* ---- joints ---- */

/// A connection of the graph, by bones a < b.
typedef struct tie {
    int32_t a, b;
    double area; /* −1: not computed */
    bool used;
} tie;

static int compare_links(const void *x, const void *y)
{
    const tie *p = x, *q = y;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

typedef struct joining {
    usda_writer *w;
    tie *links; /* [count] sorted */
    size_t count;
    int32_t *depth; /* of bones */
    const double *threshold;
} joining;

static rbl_status read_links(joining *j)
{
    rbl_context *ctx = j->w->ctx;
    const rbl_collection *c = j->w->view.collection;
    const int32_t(*pairs)[2] = rbli_collection_read(c, "connection", "bones", RBL_INT32_2);
    const double *areas = rbli_collection_read(c, "connection", "area", RBL_DOUBLE);
    size_t bone_count = j->w->view.bone_count;
    j->count = pairs ? rbli_collection_size(c, "connection") : 0;
    j->links = rbli_alloc(ctx, j->count, sizeof *j->links);
    j->depth = rbli_alloc(ctx, bone_count, sizeof *j->depth);
    if (!j->links || !j->depth) return RBL_ERR_NO_MEMORY;
    for (size_t b = 0; b < bone_count; b++)
        j->depth[b] = j->w->view.parent[b] < 0 ? 0 : j->depth[j->w->view.parent[b]] + 1;
    for (size_t i = 0; i < j->count; i++) {
        int32_t a = pairs[i][0], b = pairs[i][1];
        if (a < 0 || b < 0 || (size_t)a >= bone_count || (size_t)b >= bone_count)
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "connection.bones %zu: index out of range", i);
        j->links[i] = (tie){a < b ? a : b, a < b ? b : a, areas ? areas[i] : -1, false};
    }
    if (j->count > 0) qsort(j->links, j->count, sizeof *j->links, compare_links);
    return RBL_OK;
}

static tie *find_link(const joining *j, int32_t a, int32_t b)
{
    tie key = {a < b ? a : b, a < b ? b : a, 0, false};
    return j->count > 0 ? bsearch(&key, j->links, j->count, sizeof key, compare_links) : NULL;
}

/// The connection that holds two bones: that of the siblings which they are or lie below.
static tie *link_above(const joining *j, int32_t a, int32_t b)
{
    const int32_t *parent = j->w->view.parent;
    while (a >= 0 && j->depth[a] > j->depth[b])
        a = parent[a];
    while (b >= 0 && j->depth[b] > j->depth[a])
        b = parent[b];
    while (a >= 0 && b >= 0 && a != b && parent[a] != parent[b]) {
        a = parent[a];
        b = parent[b];
    }
    return a < 0 || b < 0 || a == b ? NULL : find_link(j, a, b);
}

/// The middle of a piece's bounds in the world.
static void world_center(const usda_writer *w, int32_t bone, double out[3])
{
    rbli_affine_point(w->view.world[bone], w->centers[bone], out);
}

static void put_frame(usda_writer *w, int32_t bone, int side, const double anchor[3])
{
    double local[3], rotation[3][3], turned[3][3], q[4];
    if (!rbli_affine_solve_point(w->view.world[bone], anchor, local))
        memcpy(local, w->centers[bone], sizeof local);
    for (int k = 0; k < 3; k++)
        local[k] -= w->centers[bone][k];
    rbli_usda_put_vector(
        w, 3, side ? "point3f physics:localPos1" : "point3f physics:localPos0", local, false);
    rbli_body_rotation(w->view.world[bone], rotation);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            turned[r][c] = rotation[c][r];
    rbli_rotation_quaternion((const double(*)[3])turned, q);
    put_quaternion(w, 3, side ? "quatf physics:localRot1" : "quatf physics:localRot0", q);
}

static void put_joint(joining *j, int32_t a, int32_t b, const tie *link, double area)
{
    usda_writer *w = j->w;
    double ca[3], cb[3], anchor[3], apart = 0, force;
    char line[64];
    world_center(w, a, ca);
    world_center(w, b, cb);
    for (int k = 0; k < 3; k++) {
        anchor[k] = ca[k] + (cb[k] - ca[k]) / 2;
        apart += (cb[k] - ca[k]) * (cb[k] - ca[k]);
    }
    if (!(area > 0)) area = apart / 16; /* about as much as pieces of that size share */
    force = j->threshold ? fmin(j->threshold[link->a], j->threshold[link->b]) / step : strength * area;
    snprintf(line, sizeof line, "def PhysicsFixedJoint \"joint_%zu\"", w->report.joints++);
    rbli_usda_line(w, 2, line);
    rbli_usda_line(w, 2, "{");
    rbli_usda_indent(w, 3);
    rbli_put(&w->text, "rel physics:body0 = ");
    rbli_usda_put_path(w, (size_t)a);
    rbli_put(&w->text, "\n");
    rbli_usda_indent(w, 3);
    rbli_put(&w->text, "rel physics:body1 = ");
    rbli_usda_put_path(w, (size_t)b);
    rbli_put(&w->text, "\n");
    put_frame(w, a, 0, anchor);
    put_frame(w, b, 1, anchor);
    rbli_usda_put_scalar(w, 3, "float physics:breakForce", force);
    rbli_usda_put_scalar(w, 3, "float physics:breakTorque", force * sqrt(area) / 2);
    rbli_usda_line(w, 2, "}");
}

/// Whether a joint between two bones holds anything: pieces, of which one moves.
static bool can_join(const usda_writer *w, int32_t a, int32_t b)
{
    rbli_body p, q;
    if (!rbli_asset_is_piece(&w->view, (size_t)a) || !rbli_asset_is_piece(&w->view, (size_t)b)) return false;
    rbli_body_kind(&w->bodies, (size_t)a, &p);
    rbli_body_kind(&w->bodies, (size_t)b, &q);
    if (p.simulation == RBLI_SIMULATION_NONE || q.simulation == RBLI_SIMULATION_NONE) return false;
    return is_moving(&p) || is_moving(&q);
}

/// The first piece that a bone is, or that lies below it; −1 for none.
static rbl_status first_pieces(joining *j, int32_t **out)
{
    const rbli_asset_view *view = &j->w->view;
    int32_t *piece = rbli_alloc(j->w->ctx, view->bone_count, sizeof *piece);
    if (!piece) return RBL_ERR_NO_MEMORY;
    for (size_t b = 0; b < view->bone_count; b++)
        piece[b] = -1;
    for (size_t b = view->bone_count; b-- > 0;) {
        if (rbli_asset_is_piece(view, b) && !(view->sheet && view->sheet[b])) piece[b] = (int32_t)b;
        if (view->parent[b] >= 0 && piece[b] >= 0) piece[view->parent[b]] = piece[b];
    }
    *out = piece;
    return RBL_OK;
}

/// Joints between pieces that touch and that a connection holds.
static rbl_status join_touching(joining *j)
{
    rbl_context *ctx = j->w->ctx;
    const rbl_collection *c = j->w->view.collection;
    const int32_t(*pairs)[2] = rbli_collection_read(c, "proximity", "geometries", RBL_INT32_2);
    const double *areas = rbli_collection_read(c, "proximity", "area", RBL_DOUBLE);
    const int32_t *owner = rbli_collection_read(c, "geometry", "bone", RBL_INT32);
    size_t count = pairs && owner ? rbli_collection_size(c, "proximity") : 0,
           limit = j->w->view.geometry_count;
    for (size_t i = 0; i < count; i++) {
        if (i % 256 == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        if (pairs[i][0] < 0 || pairs[i][1] < 0 || (size_t)pairs[i][0] >= limit ||
            (size_t)pairs[i][1] >= limit)
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "proximity.geometries %zu: index out of range", i);
        int32_t a = owner[pairs[i][0]], b = owner[pairs[i][1]];
        if (a < 0 || b < 0 || (size_t)a >= j->w->view.bone_count || (size_t)b >= j->w->view.bone_count)
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "geometry.bone: index out of range");
        tie *link = can_join(j->w, a, b) ? link_above(j, a, b) : NULL;
        if (!link) continue;
        bool own = link->a == (a < b ? a : b) && link->b == (a < b ? b : a);
        link->used = true;
        put_joint(j, a, b, link, own && link->area >= 0 ? link->area : areas ? areas[i] : -1);
    }
    return RBL_OK;
}

/// Joints of the other connections.
static rbl_status join_others(joining *j)
{
    int32_t *piece;
    rbl_status status = first_pieces(j, &piece);
    if (status != RBL_OK) return status;
    for (size_t i = 0; i < j->count; i++) {
        const tie *link = &j->links[i];
        int32_t a = piece[link->a], b = piece[link->b];
        if (!link->used && a >= 0 && b >= 0 && a != b && can_join(j->w, a, b))
            put_joint(j, a, b, link, link->area);
    }
    rbli_free(j->w->ctx, piece);
    return RBL_OK;
}

rbl_status rbli_usda_put_joints(usda_writer *w)
{
    rbl_status status = RBL_OK;
    joining j = {.w = w,
        .threshold = rbli_collection_read(w->view.collection, "bone", "damage_threshold", RBL_DOUBLE)};
    RBL_TRY(read_links(&j));
    if (j.count == 0) goto done;
    rbli_usda_line(w, 1, "def Scope \"Joints\"");
    rbli_usda_line(w, 1, "{");
    RBL_TRY(join_touching(&j));
    RBL_TRY(join_others(&j));
    rbli_usda_line(w, 1, "}");
done:
    rbli_free(w->ctx, j.links);
    rbli_free(w->ctx, j.depth);
    return status;
}
