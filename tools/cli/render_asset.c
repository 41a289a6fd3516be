/// Pieces as triangles: placed in the world, pulled apart, coloured.

#include "tools/cli/render_asset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const render_bounds NOTHING = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

/* ---- Placing ---- */

static void apply(const double m[16], const double p[3], double w, double out[3])
{
    for (int row = 0; row < 3; row++)
        out[row] = m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row] * w;
}

static void grow(render_bounds *b, const double p[3])
{
    for (int k = 0; k < 3; k++) {
        b->low[k] = fmin(b->low[k], p[k]);
        b->high[k] = fmax(b->high[k], p[k]);
    }
}

static bool is_empty(const render_bounds *b)
{
    return !(b->low[0] <= b->high[0]);
}

static void join(render_bounds *b, const render_bounds *other)
{
    if (is_empty(other)) return;
    grow(b, other->low);
    grow(b, other->high);
}

static render_bounds geometry_bounds(const render_asset *a, size_t g)
{
    const cli_asset *c = &a->base;
    render_bounds b = NOTHING;
    for (int32_t v = 0; v < c->geometry_vertices[g]; v++) {
        double p[3];
        apply(a->world[c->geometry_bone[g]], c->position + 3 * (size_t)(c->vertex_start[g] + v), 1, p);
        grow(&b, p);
    }
    return b;
}

/// The bone of a level that a bone belongs to; itself where it is above that, or without a level.
static int32_t ancestor(const render_asset *a, int32_t bone, int32_t level)
{
    while (level >= 0 && a->base.level[bone] > level && a->base.parent[bone] >= 0)
        bone = a->base.parent[bone];
    return bone;
}

/// The bone that a bone moves with: a sheet with the piece that it is attached to.
static int32_t mover(const render_asset *a, int32_t bone)
{
    const cli_asset *c = &a->base;
    if (a->look.level < 0 && c->sheet && c->sheet[bone] && c->parent[bone] >= 0) return c->parent[bone];
    return ancestor(a, bone, a->look.level);
}

/// Sideways a piece moves away from the middle axis; upwards by its height above the ground, so that what
/// stands on the ground goes on standing there.
static void explode_offset(const render_bounds *piece, const render_bounds *all, double amount, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = is_empty(piece)
                     ? 0
                     : amount * ((piece->low[k] + piece->high[k]) / 2 - (all->low[k] + all->high[k]) / 2);
    if (!is_empty(piece)) out[1] = amount * (piece->low[1] - all->low[1]);
}

/// Offsets of all bones, bounds of what is below each, origin and size of the whole.
static bool place_all(render_asset *a)
{
    const cli_asset *c = &a->base;
    render_bounds all = NOTHING, *own = malloc((c->geometry_count + 1) * sizeof *own);
    if (!own) return false;
    for (size_t b = 0; b < c->bone_count; b++)
        a->bounds[b] = NOTHING;
    for (size_t g = 0; g < c->geometry_count; g++) {
        own[g] = geometry_bounds(a, g);
        join(&a->bounds[mover(a, c->geometry_bone[g])], &own[g]);
        join(&all, &own[g]);
    }
    for (size_t b = 0; b < c->bone_count; b++)
        explode_offset(&a->bounds[mover(a, (int32_t)b)], &all, a->look.explode, a->offset[b]);
    for (size_t b = 0; b < c->bone_count; b++)
        a->bounds[b] = NOTHING;
    for (size_t g = 0; g < c->geometry_count; g++) {
        size_t b = (size_t)c->geometry_bone[g];
        for (int k = 0; k < 3; k++) {
            own[g].low[k] += a->offset[b][k];
            own[g].high[k] += a->offset[b][k];
        }
        join(&a->bounds[b], &own[g]);
    }
    for (size_t b = c->bone_count; b-- > 0;)
        if (c->parent[b] >= 0) join(&a->bounds[c->parent[b]], &a->bounds[b]);
    a->size = 0;
    for (int k = 0; k < 3 && !is_empty(&all); k++) {
        a->origin[k] = all.low[k];
        a->size = fmax(a->size, all.high[k] - all.low[k]);
    }
    if (!(a->size > 0)) a->size = 1;
    free(own);
    return true;
}

void render_place(const render_asset *a, size_t bone, const double point[3], float out[3])
{
    double p[3];
    apply(a->world[bone], point, 1, p);
    for (int k = 0; k < 3; k++) /* moved near the origin before precision is lost */
        out[k] = (float)((p[k] + a->offset[bone][k] - a->origin[k]) / a->size);
}

/* ---- Colours ---- */

static void palette(size_t index, bool inside, float out[3])
{
    static const double lightness[] = {0.74, 0.80, 0.69};
    double hue_deg = fmod(28 + 137.50776405 * (double)index, 360); /* golden angle: neighbours differ */
    if (inside)
        render_colour(0.88, 0.055, hue_deg, out);
    else
        render_colour(lightness[index % 3], 0.115, hue_deg, out);
}

static bool is_interior(const render_asset *a, size_t face)
{
    const cli_asset *c = &a->base;
    if (c->internal && c->internal[face]) return true;
    if (c->face_material[face] < 0 || (size_t)c->face_material[face] >= c->material_count) return false;
    size_t material = (size_t)c->face_material[face];
    return strcmp(rbl_collection_string(c->collection, "material", "name", material), "interior") == 0;
}

static void material_colour(const render_asset *a, size_t face, float out[3])
{
    const cli_asset *c = &a->base;
    size_t material = c->face_material[face] >= 0 ? (size_t)c->face_material[face] : 0;
    if (a->base_colour && material < c->material_count)
        memcpy(out, a->base_colour[material], 3 * sizeof(float));
    else
        palette(material, false, out);
}

/// The colour of a bone or cluster; what belongs to one is of like shades.
static void group_colour(size_t group, size_t member, bool inside, float out[3])
{
    palette(group, inside, out);
    float shade = 0.82f + 0.06f * (float)(member * 5 % 7 % 4);
    for (int k = 0; k < 3 && !inside; k++)
        out[k] *= shade;
}

static void geometry_colour(const render_asset *a, size_t g, bool inside, float out[3])
{
    const cli_asset *c = &a->base;
    int32_t bone = c->geometry_bone[g];
    if (a->heat) {
        memcpy(out, a->heat[g], 3 * sizeof(float));
        for (int k = 0; k < 3 && inside; k++)
            out[k] = 0.5f * out[k] + 0.5f * 0.75f;
    } else if (a->look.by == RENDER_BY_LEVEL) {
        group_colour((size_t)c->level[bone], g, inside, out);
    } else if (a->look.level >= 0) {
        group_colour((size_t)ancestor(a, bone, a->look.level), g, inside, out);
    } else if (a->look.by == RENDER_BY_CLUSTER && c->parent[bone] >= 0) {
        group_colour((size_t)c->parent[bone], g, inside, out);
    } else {
        palette(g, inside, out);
    }
}

void render_bone_colour(const render_asset *a, size_t bone, float out[3])
{
    if (a->base.bone_geometry[bone] >= 0)
        geometry_colour(a, (size_t)a->base.bone_geometry[bone], false, out);
    else
        group_colour(bone, 0, false, out);
}

static void corner_colour(const render_asset *a, size_t g, size_t face, size_t corner, float out[3])
{
    bool inside = is_interior(a, face);
    if (a->look.by != RENDER_BY_MATERIAL && a->look.by != RENDER_BY_COLOR)
        geometry_colour(a, g, inside, out);
    else if (inside)
        render_colour(0.83, 0.03, 70, out);
    else
        material_colour(a, face, out);
    if (a->look.by == RENDER_BY_COLOR && a->corner_colour && !inside)
        for (int k = 0; k < 3; k++)
            out[k] = fminf(fmaxf(a->corner_colour[3 * face + corner][k], 0), 1);
    for (int k = 0; k < 3 && a->look.pale; k++)
        out[k] = 0.35f * out[k] + 0.65f * 0.82f;
}

/// From small or few (blue) by green and yellow to large or many (red): t in 0 … 1.
static void heat_colour(double t, float out[3])
{
    render_colour(0.62 + 0.20 * (1 - fabs(2 * t - 1)), 0.14, 262 - 237 * t, out);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Colours by the rank of a value: outliers do not take the range from the rest.
static bool colour_by_rank(render_asset *a, const double *values)
{
    size_t n = a->base.geometry_count, different = 0;
    double *sorted = malloc((n + 1) * sizeof *sorted);
    a->heat = malloc((n + 1) * sizeof *a->heat);
    if (!sorted || !a->heat) {
        free(sorted);
        return false;
    }
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[different - 1]) sorted[different++] = sorted[i];
    for (size_t g = 0; g < n; g++) {
        size_t low = 0, high = different;
        while (low + 1 < high) {
            size_t middle = (low + high) / 2;
            if (sorted[middle] <= values[g])
                low = middle;
            else
                high = middle;
        }
        heat_colour(different > 1 ? (double)low / (double)(different - 1) : 0.5, a->heat[g]);
    }
    free(sorted);
    return true;
}

static const char *make_heat(render_asset *a)
{
    const cli_asset *c = &a->base;
    if (a->look.by == RENDER_BY_VOLUME) return colour_by_rank(a, c->volume) ? NULL : "out of memory";
    if (a->look.by != RENDER_BY_CONTACTS) return NULL;
    const int32_t(*pair)[2] = cli_attribute(c->collection, "proximity", "geometries", RBL_INT32_2);
    if (!pair) return "who touches whom is not known: a Proximity node finds it";
    double *counts = calloc(c->geometry_count + 1, sizeof *counts);
    if (!counts) return "out of memory";
    for (size_t i = 0; i < rbl_collection_group_size(c->collection, "proximity"); i++)
        for (int k = 0; k < 2; k++)
            if (pair[i][k] >= 0 && (size_t)pair[i][k] < c->geometry_count) counts[pair[i][k]]++;
    bool good = colour_by_rank(a, counts);
    free(counts);
    return good ? NULL : "out of memory";
}

/* ---- The asset ---- */

const char *render_asset_create(const rbl_collection *collection, const render_look *look, render_asset *a)
{
    *a = (render_asset){.look = *look};
    if (!cli_get_asset(collection, &a->base) || !a->base.level) return "the collection is damaged";
    const cli_asset *c = &a->base;
    a->normal = cli_attribute(collection, "corner", "normal", RBL_FLOAT_3);
    a->base_colour = cli_attribute(collection, "material", "base_color", RBL_FLOAT_4);
    a->corner_colour = cli_attribute(collection, "corner", "color", RBL_FLOAT_4);
    a->world = (double(*)[16])cli_world_transforms(c);
    a->offset = calloc(c->bone_count + 1, sizeof *a->offset);
    a->bounds = malloc((c->bone_count + 1) * sizeof *a->bounds);
    if (!a->world || !a->offset || !a->bounds || !place_all(a)) return "out of memory";
    return make_heat(a);
}

void render_asset_free(render_asset *a)
{
    free(a->world);
    free(a->offset);
    free(a->bounds);
    free(a->heat);
    *a = (render_asset){0};
}

static void fill_triangle(const render_asset *a, size_t g, size_t face, render_triangle *t)
{
    const cli_asset *c = &a->base;
    size_t bone = (size_t)c->geometry_bone[g];
    memset(t, 0, sizeof *t);
    for (size_t k = 0; k < 3; k++) {
        render_place(a, bone, c->position + 3 * (size_t)c->face_vertices[3 * face + k], t->position[k]);
        corner_colour(a, g, face, k, t->colour[k]);
        if (!a->normal) continue;
        const float *own = a->normal[face * 3 + k];
        double n[3], from[3] = {own[0], own[1], own[2]};
        apply(a->world[bone], from, 0, n); /* bones turn and scale evenly */
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int i = 0; i < 3 && length > 0; i++)
            t->normal[k][i] = (float)(n[i] / length);
    }
}

render_triangle *render_asset_triangles(const render_asset *a, size_t *count)
{
    const cli_asset *c = &a->base;
    size_t total = 0, n = 0;
    for (size_t g = 0; g < c->geometry_count; g++)
        total += (size_t)c->geometry_faces[g];
    *count = total;
    render_triangle *triangles = total ? malloc(total * sizeof *triangles) : NULL;
    for (size_t g = 0; triangles && g < c->geometry_count; g++)
        for (int32_t f = 0; f < c->geometry_faces[g]; f++)
            fill_triangle(a, g, (size_t)(c->face_start[g] + f), &triangles[n++]);
    return triangles;
}
