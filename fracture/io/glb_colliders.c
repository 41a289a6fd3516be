/// Colliders of a GLB file: as the draft extensions for physics say it, or as engines read it from names.

#include <math.h>
#include <stdio.h>

#include "fracture/io/glb_writer.h"

/// A mesh from points in the bone's frame; `*mesh` is its element of `hulls`.
static rbl_status add_mesh(glb_writer *writer, size_t bone, const rbli_hull_view *hull, int32_t *mesh)
{
    rbl_status status = RBL_OK;
    const double *center = writer->centers[bone];
    primitive out = {.material = -1,
        .streams = 1u << GLB_HULL,
        .vertex_count = hull->point_count,
        .index_count = 3 * hull->triangle_count,
        .wide = hull->point_count > MOST_SHORT_VERTICES};
    const int stream = out.wide ? GLB_INDEX32 : GLB_INDEX16;
    void *room, *indices;
    out.first[GLB_HULL] = (uint32_t)(writer->streams[GLB_HULL].count / writer->streams[GLB_HULL].stride);
    out.first_index = writer->streams[stream].count / writer->streams[stream].stride;
    RBL_TRY(rbli_glb_room(writer, GLB_HULL, hull->point_count, &room));
    RBL_TRY(rbli_glb_room(writer, stream, out.index_count, &indices));
    float(*points)[3] = room;
    for (size_t i = 0; i < hull->point_count; i++)
        for (int k = 0; k < 3; k++) {
            float x = (float)(hull->points[i][k] - center[k]);
            points[i][k] = isfinite(x) ? x : 0;
            if (i == 0 || (double)points[i][k] < out.min[k]) out.min[k] = (double)points[i][k];
            if (i == 0 || (double)points[i][k] > out.max[k]) out.max[k] = (double)points[i][k];
        }
    for (size_t i = 0; i < out.index_count; i++) {
        int32_t index = hull->triangles[i / 3][i % 3];
        if (out.wide)
            ((uint32_t *)indices)[i] = (uint32_t)index;
        else
            ((uint16_t *)indices)[i] = (uint16_t)index;
    }
    *mesh = (int32_t)writer->hulls.count;
    RBL_TRY(rbli_array_push(writer->ctx, &writer->hulls, out));
done:
    return status;
}

static rbl_status add_extra(glb_writer *writer, const glb_extra *extra, int32_t *node)
{
    *node = (int32_t)(writer->view.bone_count + writer->extras.count);
    return rbli_array_push(writer->ctx, &writer->extras, *extra);
}

/* ---- KHR_physics_rigid_bodies ---- */

/// A collider of the piece: on its own node when it is the only one and centred there, else on one below.
static rbl_status place_collider(glb_writer *writer, size_t bone, const glb_collider *collider, bool own,
    const double offset[3], int32_t number)
{
    int32_t node;
    writer->report.colliders++;
    if (own) {
        writer->body_of_bone[bone].collider = *collider;
        return RBL_OK;
    }
    glb_extra extra = {.place = GLB_BELOW_PIECE,
        .bone = (int32_t)bone,
        .mesh = -1,
        .collider = *collider,
        .translation = {offset[0], offset[1], offset[2]},
        .prefix = "",
        .suffix = "_collider",
        .number = number};
    return add_extra(writer, &extra, &node);
}

static rbl_status add_implicit(glb_writer *writer, size_t bone, const rbli_body *body)
{
    double offset[3], off = 0;
    glb_shape shape = {.sphere = body->shape == RBLI_SHAPE_SPHERE, .radius = body->radius};
    glb_collider collider = {.node = -1, .shape = (int32_t)writer->shapes.count};
    for (int k = 0; k < 3; k++) {
        offset[k] = body->center[k] - writer->centers[bone][k];
        off = fmax(off, fabs(offset[k]));
        shape.size[k] = body->size[k];
    }
    bool own = off <= 1e-6 * body->radius; /* the centre was rounded to float: not worth a node */
    for (int k = 0; own && k < 3; k++)
        shape.size[k] += 2 * off;
    if (own) shape.radius += 2 * off;
    rbl_status status = rbli_array_push(writer->ctx, &writer->shapes, shape);
    if (status != RBL_OK) return status;
    return place_collider(writer, bone, &collider, own, offset, -1);
}

static rbl_status add_hull_colliders(glb_writer *writer, size_t bone, const rbli_body *body)
{
    static const double zero[3] = {0, 0, 0};
    rbl_status status = RBL_OK;
    glb_collider collider = {
        .node = writer->mesh_nodes ? writer->mesh_nodes[bone] : (int32_t)bone, .shape = -1};
    if (body->hull_count == 0 && writer->mesh_of_bone[bone] >= 0)
        return place_collider(writer, bone, &collider, true, zero, -1);
    for (size_t i = 0; i < body->hull_count; i++) {
        rbli_hull_view hull = rbli_body_hull(&writer->bodies, body->hulls[i]);
        int32_t number = body->hull_count > 1 ? (int32_t)i : -1;
        glb_extra extra = {.place = GLB_OUTSIDE_OF_SCENE,
            .bone = (int32_t)bone,
            .collider = {-1, -1},
            .prefix = "",
            .suffix = "_hull",
            .number = number};
        RBL_TRY(add_mesh(writer, bone, &hull, &extra.mesh));
        RBL_TRY(add_extra(writer, &extra, &collider.node));
        RBL_TRY(place_collider(writer, bone, &collider, body->hull_count == 1, zero, number));
    }
done:
    return status;
}

static rbl_status add_physics(glb_writer *writer, size_t bone, const rbli_body *body)
{
    glb_body *to = &writer->body_of_bone[bone];
    to->moves = body->simulation == RBLI_SIMULATION_DYNAMIC || body->simulation == RBLI_SIMULATION_KINEMATIC;
    to->kinematic = body->simulation == RBLI_SIMULATION_KINEMATIC;
    to->mass = body->mass;
    memcpy(to->moments, body->moments, sizeof to->moments);
    memcpy(to->axes, body->axes, sizeof to->axes);
    for (int k = 0; k < 3; k++)
        to->center[k] = body->center_of_mass[k] - writer->centers[bone][k];
    if (body->shape == RBLI_SHAPE_NONE) return RBL_OK;
    if (body->shape == RBLI_SHAPE_HULLS) return add_hull_colliders(writer, bone, body);
    return add_implicit(writer, bone, body);
}

/* ---- names ---- */

static rbl_status add_named(glb_writer *writer, size_t bone, const rbli_body *body)
{
    rbl_status status = RBL_OK;
    bool ucx = writer->options.colliders == RBLI_COLLIDERS_UCX, hulls = body->shape == RBLI_SHAPE_HULLS;
    size_t count = hulls ? body->hull_count : 1;
    for (size_t i = 0; i < count; i++) {
        rbli_shape_mesh shape;
        rbli_hull_view hull;
        glb_extra extra = {.place = ucx ? GLB_BESIDE_PIECE : GLB_BELOW_PIECE,
            .bone = (int32_t)bone,
            .collider = {-1, -1},
            .prefix = ucx ? rbli_ucx_prefix(body->shape) : "",
            .suffix = ucx ? "" : "-convcolonly",
            .number = ucx || count > 1 ? (int32_t)i : -1};
        int32_t node;
        if (hulls) {
            hull = rbli_body_hull(&writer->bodies, body->hulls[i]);
        } else {
            rbli_body_shape_mesh(body, &shape);
            hull = (rbli_hull_view){(const double(*)[3])shape.points, (const int32_t(*)[3])shape.triangles,
                shape.point_count, shape.triangle_count};
        }
        RBL_TRY(add_mesh(writer, bone, &hull, &extra.mesh));
        RBL_TRY(add_extra(writer, &extra, &node));
        writer->report.colliders++;
    }
done:
    return status;
}

rbl_status rbli_glb_add_colliders(glb_writer *writer)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = writer->ctx;
    const rbli_asset_view *view = &writer->view;
    bool khr = writer->options.colliders == RBLI_COLLIDERS_KHR;
    if (!khr && writer->options.colliders != RBLI_COLLIDERS_UCX &&
        writer->options.colliders != RBLI_COLLIDERS_GODOT)
        return RBL_OK;
    RBL_TRY(rbli_body_view_init(ctx, view, &writer->bodies));
    if (khr) {
        RBL_TRY_ALLOC(
            writer->body_of_bone = rbli_calloc(ctx, view->bone_count, sizeof *writer->body_of_bone));
        for (size_t b = 0; b < view->bone_count; b++)
            writer->body_of_bone[b].collider = (glb_collider){-1, -1};
    }
    for (size_t b = 0; b < view->bone_count; b++) {
        rbli_body body;
        if (b % 1024 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (!rbli_asset_is_piece(view, b)) continue;
        rbli_body_get(&writer->bodies, b, &body);
        if (khr)
            RBL_TRY(add_physics(writer, b, &body));
        else if (body.shape != RBLI_SHAPE_NONE)
            RBL_TRY(add_named(writer, b, &body));
    }
done:
    return status;
}

/* ---- JSON ---- */

rbl_status rbli_glb_put_extra_name(const glb_writer *writer, rbli_text_out *json, const glb_extra *extra)
{
    const char *bone = rbli_collection_string(writer->view.collection, "bone", "name", (size_t)extra->bone);
    char number[16] = "";
    if (extra->number >= 0) snprintf(number, sizeof number, "_%02d", extra->number);
    char *name = rbli_format(writer->ctx, "%s%s%s%s", extra->prefix, bone, number, extra->suffix);
    if (!name) return RBL_ERR_NO_MEMORY;
    rbli_put_json_string(json, name);
    rbli_free(writer->ctx, name);
    return RBL_OK;
}

static void put_geometry(rbli_text_out *json, const glb_collider *collider)
{
    rbli_put(json, collider->shape >= 0 ? "\"collider\":{\"geometry\":{\"shape\":"
                                        : "\"collider\":{\"geometry\":{\"convexHull\":true,\"node\":");
    rbli_put_size(json, (size_t)(collider->shape >= 0 ? collider->shape : collider->node));
    rbli_put(json, "}}");
}

static bool has_collider(const glb_collider *collider)
{
    return collider->node >= 0 || collider->shape >= 0;
}

void rbli_glb_put_collider(const glb_writer *writer, rbli_text_out *json, const glb_collider *collider)
{
    (void)writer;
    if (!has_collider(collider)) return;
    rbli_put(json, ",\"extensions\":{\"KHR_physics_rigid_bodies\":{");
    put_geometry(json, collider);
    rbli_put(json, "}}");
}

void rbli_glb_put_body(const glb_writer *writer, rbli_text_out *json, size_t bone)
{
    const glb_body *body = writer->body_of_bone ? &writer->body_of_bone[bone] : NULL;
    if (!body || (!body->moves && !has_collider(&body->collider))) return;
    rbli_put(json, ",\"extensions\":{\"KHR_physics_rigid_bodies\":{");
    if (body->moves) {
        const char *comma = body->kinematic ? "," : "";
        rbli_put(json, "\"motion\":{");
        if (body->kinematic) rbli_put(json, "\"isKinematic\":true");
        if (body->mass > 0) {
            rbli_put(json, comma);
            rbli_put(json, "\"mass\":");
            rbli_put_double(json, body->mass);
            rbli_put(json, ",\"centerOfMass\":");
            rbli_glb_put_numbers(json, body->center, 3);
            rbli_put(json, ",\"inertiaDiagonal\":");
            rbli_glb_put_numbers(json, body->moments, 3);
            rbli_put(json, ",\"inertiaOrientation\":");
            rbli_glb_put_numbers(json, body->axes, 4);
        }
        rbli_put(json, has_collider(&body->collider) ? "}," : "}");
    }
    if (has_collider(&body->collider)) put_geometry(json, &body->collider);
    rbli_put(json, "}}");
}

/// An array of those names that are not NULL; nothing when there is none.
static void put_names(rbli_text_out *json, const char *key, const char *const *names, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (!names[i]) continue;
        rbli_put(json, any ? "," : key);
        rbli_put_json_string(json, names[i]);
        any = true;
    }
    if (any) rbli_put(json, "]");
}

void rbli_glb_put_extensions(const glb_writer *writer, rbli_text_out *json)
{
    bool any = writer->report.colliders > 0;
    for (size_t b = 0; writer->body_of_bone && b < writer->view.bone_count && !any; b++)
        any = writer->body_of_bone[b].moves;
    any = any && writer->options.colliders == RBLI_COLLIDERS_KHR;
    const char *const used[] = {
        writer->options.compression == RBLI_GLB_MESHOPT ? "EXT_meshopt_compression" : NULL,
        any && writer->shapes.count > 0 ? "KHR_implicit_shapes" : NULL,
        writer->step > 0 ? "KHR_mesh_quantization" : NULL, any ? "KHR_physics_rigid_bodies" : NULL,
        writer->texture_transforms ? "KHR_texture_transform" : NULL};
    put_names(json, ",\"extensionsUsed\":[", used, sizeof used / sizeof *used);
    const char *const required[] = {used[0], used[2]};
    put_names(json, ",\"extensionsRequired\":[", required, sizeof required / sizeof *required);
    if (!any || writer->shapes.count == 0) return;
    rbli_put(json, ",\"extensions\":{\"KHR_implicit_shapes\":{\"shapes\":[");
    for (size_t i = 0; i < writer->shapes.count; i++) {
        const glb_shape *shape = &writer->shapes.data[i];
        rbli_put(json, i ? "," : "");
        if (shape->sphere) {
            rbli_put(json, "{\"type\":\"sphere\",\"sphere\":{\"radius\":");
            rbli_put_double(json, shape->radius);
        } else {
            rbli_put(json, "{\"type\":\"box\",\"box\":{\"size\":");
            rbli_glb_put_numbers(json, shape->size, 3);
        }
        rbli_put(json, "}}");
    }
    rbli_put(json, "]}}");
}

void rbli_glb_free_colliders(glb_writer *writer)
{
    rbl_context *ctx = writer->ctx;
    rbli_body_view_free(ctx, &writer->bodies);
    rbli_free(ctx, writer->body_of_bone);
    rbli_free(ctx, writer->shapes.data);
    rbli_free(ctx, writer->extras.data);
    rbli_free(ctx, writer->hulls.data);
}
