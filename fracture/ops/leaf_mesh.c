/// The surface of pieces in world space.

#include "fracture/ops/leaf_mesh.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/ops/proximity.h"

void rbli_leaf_mesh_free(rbl_context *ctx, rbli_leaf_mesh *mesh)
{
    rbli_free(ctx, mesh->positions);
    rbli_free(ctx, mesh->triangles);
    rbli_free(ctx, mesh->faces);
    *mesh = (rbli_leaf_mesh){0};
}

rbli_mesh_view rbli_leaf_mesh_view(const rbli_leaf_mesh *mesh)
{
    return (rbli_mesh_view){(const double(*)[3])mesh->positions, mesh->vertex_count,
        (const int32_t(*)[3])mesh->triangles, mesh->triangle_count};
}

rbl_status rbli_leaf_mesh_build(
    rbl_context *ctx, const rbl_collection *collection, const rbli_selection *selection, rbli_leaf_mesh *out)
{
    rbl_status status = RBL_OK;
    size_t face_count = rbli_collection_size(collection, "face"), leaf_count = 0;
    const int32_t(*vertices)[3] = rbli_collection_read(collection, "face", "vertices", RBL_INT32_3);
    rbli_world_surface surface = {0};
    rbli_leaf_mesh made = {.vertex_count = rbli_collection_size(collection, "vertex"),
        .low = {HUGE_VAL, HUGE_VAL, HUGE_VAL},
        .high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    int32_t *leaves = NULL;
    bool *chosen = NULL;
    RBL_TRY(rbli_rigid_leaves(ctx, collection, selection, &leaves, &leaf_count));
    RBL_TRY(rbli_world_surface_build(ctx, collection, &surface));
    RBL_TRY_ALLOC(chosen = rbli_calloc(ctx, rbli_collection_size(collection, "bone"), sizeof *chosen));
    RBL_TRY_ALLOC(made.triangles = rbli_alloc(ctx, face_count, sizeof *made.triangles));
    RBL_TRY_ALLOC(made.faces = rbli_alloc(ctx, face_count, sizeof *made.faces));
    for (size_t i = 0; i < leaf_count; i++)
        chosen[leaves[i]] = true;
    for (size_t f = 0; f < face_count; f++) {
        if (surface.piece[f] < 0 || !chosen[surface.piece[f]]) continue;
        made.faces[made.triangle_count] = (int32_t)f;
        memcpy(made.triangles[made.triangle_count++], vertices[f], sizeof *made.triangles);
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                made.low[k] = fmin(made.low[k], surface.positions[vertices[f][c]][k]);
                made.high[k] = fmax(made.high[k], surface.positions[vertices[f][c]][k]);
            }
    }
    made.positions = surface.positions;
    surface.positions = NULL;
    *out = made;
    made = (rbli_leaf_mesh){0};
done:
    rbli_leaf_mesh_free(ctx, &made);
    rbli_world_surface_free(ctx, &surface);
    rbli_free(ctx, leaves);
    rbli_free(ctx, chosen);
    return status;
}

void rbli_leaf_mesh_drop_internal(const rbl_collection *collection, rbli_leaf_mesh *mesh)
{
    const bool *internal = rbli_collection_read(collection, "face", "internal", RBL_BOOL);
    size_t kept = 0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        if (internal && internal[mesh->faces[t]]) continue;
        mesh->faces[kept] = mesh->faces[t];
        memmove(mesh->triangles[kept++], mesh->triangles[t], sizeof *mesh->triangles);
    }
    mesh->triangle_count = kept;
}

/* ---- numbers of corners ---- */

/// How to read a number out of an element of an array.
typedef struct number_reader {
    const void *data;
    rbl_type type; /* BOOL, INT32, INT64, FLOAT or DOUBLE */
    size_t parts;  /* of an element */
    int channel;   /* −1: the mean of the first three parts, or the only one */
} number_reader;

static bool open_reader(const rbli_buffer *buffer, int channel, number_reader *out)
{
    static const struct {
        rbl_type type, part;
        size_t parts;
    } types[] = {{RBL_BOOL, RBL_BOOL, 1}, {RBL_INT32, RBL_INT32, 1}, {RBL_INT64, RBL_INT64, 1},
        {RBL_FLOAT, RBL_FLOAT, 1}, {RBL_DOUBLE, RBL_DOUBLE, 1}, {RBL_FLOAT_3, RBL_FLOAT, 3},
        {RBL_FLOAT_4, RBL_FLOAT, 4}, {RBL_VEC3, RBL_DOUBLE, 3}, {RBL_VEC4, RBL_DOUBLE, 4}};
    for (size_t i = 0; i < sizeof types / sizeof *types && !rbli_buffer_is_list(buffer); i++)
        if (types[i].type == rbli_buffer_type(buffer)) {
            *out = (number_reader){rbli_buffer_data(buffer), types[i].part, types[i].parts, channel};
            return channel < (int)types[i].parts;
        }
    return false;
}

static double read_part(const number_reader *r, size_t index)
{
    switch (r->type) {
    case RBL_BOOL:
        return ((const bool *)r->data)[index];
    case RBL_INT32:
        return ((const int32_t *)r->data)[index];
    case RBL_INT64:
        return (double)((const int64_t *)r->data)[index];
    case RBL_FLOAT:
        return (double)((const float *)r->data)[index];
    default:
        return ((const double *)r->data)[index];
    }
}

static double read_number(const number_reader *r, size_t element)
{
    size_t first = element * r->parts;
    if (r->channel >= 0) return read_part(r, first + (size_t)r->channel);
    if (r->parts == 1) return read_part(r, first);
    return (read_part(r, first) + read_part(r, first + 1) + read_part(r, first + 2)) / 3;
}

/// The bone of each face.
static rbl_status bones_of_faces(rbl_context *ctx, const rbl_collection *collection, int32_t **out)
{
    const int32_t *bone = rbli_collection_read(collection, "geometry", "bone", RBL_INT32);
    const int32_t *start = rbli_collection_read(collection, "geometry", "face_start", RBL_INT32);
    const int32_t *length = rbli_collection_read(collection, "geometry", "face_count", RBL_INT32);
    int32_t *made = rbli_calloc(ctx, rbli_collection_size(collection, "face"), sizeof *made);
    if (!made) return RBL_ERR_NO_MEMORY;
    for (size_t g = 0; g < rbli_collection_size(collection, "geometry"); g++)
        for (int32_t f = start[g]; f < start[g] + length[g]; f++)
            made[f] = bone[g];
    *out = made;
    return RBL_OK;
}

rbl_status rbli_leaf_mesh_numbers(rbl_context *ctx, const rbl_collection *collection,
    const rbli_leaf_mesh *mesh, const char *attribute, int channel, double (**out)[3])
{
    static const char *const groups[] = {"corner", "vertex", "face", "bone"};
    rbl_status status = RBL_OK;
    const rbli_buffer *buffer = NULL;
    number_reader reader;
    int32_t *bone = NULL;
    double(*numbers)[3] = NULL;
    int group = 0;
    while (group < 4 && !(buffer = rbli_collection_buffer(collection, groups[group], attribute)))
        group++;
    if (!buffer)
        return rbli_fail(ctx, RBL_ERR_NOT_FOUND,
            "there is no attribute \"%s\" of corners, vertices, faces or bones", attribute);
    if (!open_reader(buffer, channel, &reader))
        return rbli_fail(ctx, RBL_ERR_TYPE, "%s.%s is %s%s: it has no number to take here", groups[group],
            attribute, rbli_buffer_is_list(buffer) ? "a list of " : "",
            rbl_type_word(rbli_buffer_type(buffer)));
    if (group == 3) RBL_TRY(bones_of_faces(ctx, collection, &bone));
    RBL_TRY_ALLOC(numbers = rbli_alloc(ctx, mesh->triangle_count, sizeof *numbers));
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            size_t face = (size_t)mesh->faces[t];
            const size_t elements[4] = {
                3 * face + (size_t)c, (size_t)mesh->triangles[t][c], face, bone ? (size_t)bone[face] : 0};
            numbers[t][c] = read_number(&reader, elements[group]);
        }
    *out = numbers;
    numbers = NULL;
done:
    rbli_free(ctx, bone);
    rbli_free(ctx, numbers);
    return status;
}
