/// Hulls and graphs of a collection as lines and triangles.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/render_asset.h"

static const float HULL_RADIUS = 0.0011f;                                       /* beside the size */
static const float LEAST_NODE = 0.005f, MOST_NODE = 0.022f, NODE_SHARE = 0.13f; /* of a piece's edge */
static const double ONE_PLANE = 0.9999;                                         /* cosine between normals */

/* ---- Hulls ---- */

typedef struct hulls {
    size_t count;
    const int32_t *bone;
    const uint64_t *point_start, *face_start; /* [count + 1] */
    const double (*point)[3];
    const int32_t (*face)[3]; /* indices into the hull's points */
} hulls;

static const char *get_hulls(const render_asset *a, hulls *h)
{
    rbl_attribute_view points, faces;
    const rbl_collection *c = a->base.collection;
    *h = (hulls){.count = rbl_collection_group_size(c, "convex"),
        .bone = cli_attribute(c, "convex", "bone", RBL_INT32)};
    if (!h->count) return "there are no hulls: CreateLeafConvexHulls makes them";
    if (!h->bone || rbl_collection_attribute(c, "convex", "points", &points) != RBL_OK ||
        rbl_collection_attribute(c, "convex", "faces", &faces) != RBL_OK || !points.is_list ||
        !faces.is_list || points.type != RBL_VEC3 || faces.type != RBL_INT32_3)
        return "the collection's hulls are damaged";
    h->point_start = points.offsets;
    h->face_start = faces.offsets;
    h->point = points.data;
    h->face = faces.data;
    for (size_t i = 0; i < h->count; i++) {
        int64_t own = (int64_t)(h->point_start[i + 1] - h->point_start[i]);
        if (h->bone[i] < 0 || (size_t)h->bone[i] >= a->base.bone_count)
            return "the collection's hulls are damaged";
        for (uint64_t f = h->face_start[i]; f < h->face_start[i + 1]; f++)
            for (int k = 0; k < 3; k++)
                if (h->face[f][k] < 0 || h->face[f][k] >= own) return "the collection's hulls are damaged";
    }
    return NULL;
}

render_triangle *render_hull_triangles(const render_asset *a, size_t *count)
{
    hulls h;
    *count = 0;
    if (get_hulls(a, &h)) return NULL;
    *count = (size_t)h.face_start[h.count];
    render_triangle *triangles = *count ? calloc(*count, sizeof *triangles) : NULL;
    for (size_t i = 0; triangles && i < h.count; i++) {
        float colour[3];
        render_bone_colour(a, (size_t)h.bone[i], colour);
        for (uint64_t f = h.face_start[i]; f < h.face_start[i + 1]; f++)
            for (int k = 0; k < 3; k++) {
                render_place(a, (size_t)h.bone[i], h.point[h.point_start[i] + (uint64_t)h.face[f][k]],
                    triangles[f].position[k]);
                memcpy(triangles[f].colour[k], colour, sizeof colour);
            }
    }
    return triangles;
}

typedef struct edge {
    int32_t low, high;
    uint64_t face;
} edge;

static int compare_edges(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->face > y->face) - (x->face < y->face);
}

static void face_normal(const hulls *h, size_t hull, uint64_t face, double n[3])
{
    const double *p[3];
    double u[3], v[3];
    for (int k = 0; k < 3; k++)
        p[k] = h->point[h->point_start[hull] + (uint64_t)h->face[face][k]];
    for (int k = 0; k < 3; k++) {
        u[k] = p[1][k] - p[0][k];
        v[k] = p[2][k] - p[0][k];
    }
    n[0] = u[1] * v[2] - u[2] * v[1];
    n[1] = u[2] * v[0] - u[0] * v[2];
    n[2] = u[0] * v[1] - u[1] * v[0];
}

static bool in_one_plane(const hulls *h, size_t hull, uint64_t first, uint64_t second)
{
    double a[3], b[3];
    face_normal(h, hull, first, a);
    face_normal(h, hull, second, b);
    double aa = 0, bb = 0, ab = 0;
    for (int k = 0; k < 3; k++) {
        aa += a[k] * a[k];
        bb += b[k] * b[k];
        ab += a[k] * b[k];
    }
    return aa == 0 || bb == 0 || ab > ONE_PLANE * sqrt(aa * bb);
}

/// Lines of one hull; `edges` has room for all of its corners. @return how many
static size_t trace_hull(const render_asset *a, const hulls *h, size_t hull, edge *edges, render_line *lines)
{
    size_t n = 0, count = 0;
    for (uint64_t f = h->face_start[hull]; f < h->face_start[hull + 1]; f++)
        for (int k = 0; k < 3; k++) {
            int32_t from = h->face[f][k], to = h->face[f][(k + 1) % 3];
            edges[n++] = (edge){from < to ? from : to, from < to ? to : from, f};
        }
    qsort(edges, n, sizeof *edges, compare_edges);
    for (size_t i = 0; i < n; i++) {
        bool paired = i + 1 < n && edges[i].low == edges[i + 1].low && edges[i].high == edges[i + 1].high;
        if (!paired || !in_one_plane(h, hull, edges[i].face, edges[i + 1].face)) {
            render_line *line = &lines[count++];
            const double(*point)[3] = h->point + h->point_start[hull];
            *line =
                (render_line){.radius = HULL_RADIUS * a->look.line_scale, .colour = {0.02f, 0.04f, 0.09f}};
            render_place(a, (size_t)h->bone[hull], point[edges[i].low], line->from);
            render_place(a, (size_t)h->bone[hull], point[edges[i].high], line->to);
        }
        i += paired;
    }
    return count;
}

const char *render_hull_lines(const render_asset *a, render_line **lines, size_t *count)
{
    hulls h;
    *lines = NULL;
    *count = 0;
    const char *problem = get_hulls(a, &h);
    if (problem) return problem;
    uint64_t most = 0, all = h.face_start[h.count];
    for (size_t i = 0; i < h.count; i++)
        if (h.face_start[i + 1] - h.face_start[i] > most) most = h.face_start[i + 1] - h.face_start[i];
    edge *edges = malloc((3 * (size_t)most + 1) * sizeof *edges);
    *lines = malloc((3 * (size_t)all + 1) * sizeof **lines);
    for (size_t i = 0; edges && *lines && i < h.count; i++)
        *count += trace_hull(a, &h, i, edges, *lines + *count);
    if (!edges || !*lines) problem = "out of memory";
    free(edges);
    return problem;
}

/* ---- Graphs ---- */

static bool middle_of(const render_asset *a, size_t bone, float out[3])
{
    const render_bounds *b = &a->bounds[bone];
    if (!(b->low[0] <= b->high[0])) return false;
    for (int k = 0; k < 3; k++)
        out[k] = (float)(((b->low[k] + b->high[k]) / 2 - a->origin[k]) / a->size);
    return true;
}

/// Balls are an eighth of a usual piece.
static float node_radius(const render_asset *a)
{
    size_t pieces = 0;
    double volume = 0;
    for (size_t g = 0; g < a->base.geometry_count; g++) {
        pieces++;
        volume += fabs(a->base.volume[g]);
    }
    float side = pieces ? (float)(cbrt(volume / (double)pieces) / a->size) : 0;
    float radius = fminf(fmaxf(NODE_SHARE * side, LEAST_NODE), MOST_NODE);
    return fmaxf(radius, 2.5f * HULL_RADIUS * a->look.line_scale);
}

static void add_node(const render_asset *a, size_t bone, float radius, render_line *lines, size_t *count)
{
    const unsigned char *anchored = cli_attribute(a->base.collection, "bone", "anchored", RBL_BOOL);
    static const float FREE[3] = {0.95f, 0.42f, 0.04f}, HELD[3] = {0.62f, 0.02f, 0.05f};
    render_line node = {.radius = radius};
    if (!middle_of(a, bone, node.from)) return;
    memcpy(node.to, node.from, sizeof node.to);
    memcpy(node.colour, anchored && anchored[bone] ? HELD : FREE, sizeof node.colour);
    lines[(*count)++] = node;
}

const char *render_graph_lines(const render_asset *a, bool connections, render_line **lines, size_t *count)
{
    const char *group = connections ? "connection" : "proximity";
    const cli_asset *c = &a->base;
    const int32_t(*pair)[2] =
        cli_attribute(c->collection, group, connections ? "bones" : "geometries", RBL_INT32_2);
    const double *area = cli_attribute(c->collection, group, "area", RBL_DOUBLE);
    size_t pairs = rbl_collection_group_size(c->collection, group),
           elements = connections ? c->bone_count : c->geometry_count;
    *lines = NULL;
    *count = 0;
    if (!pair)
        return connections
                   ? "there is no connection graph: Proximity with \"connection_graph\": true makes one"
                   : "who touches whom is not known: a Proximity node finds it";
    *lines = malloc((pairs + c->bone_count + 1) * sizeof **lines);
    bool *seen = calloc(c->bone_count + 1, sizeof *seen);
    if (!*lines || !seen) {
        free(seen);
        return "out of memory";
    }
    double largest = 0;
    float node = node_radius(a);
    for (size_t i = 0; i < pairs && area; i++)
        largest = fmax(largest, area[i]);
    for (size_t i = 0; i < pairs; i++) {
        if (pair[i][0] < 0 || pair[i][1] < 0 || (size_t)pair[i][0] >= elements ||
            (size_t)pair[i][1] >= elements)
            continue;
        size_t bones[2];
        for (int k = 0; k < 2; k++)
            bones[k] = (size_t)(connections ? pair[i][k] : c->geometry_bone[pair[i][k]]);
        float share = area && area[i] > 0 && largest > 0 ? (float)sqrt(area[i] / largest) : 0;
        render_line line = {.radius = node * (0.15f + 0.6f * share), .colour = {0.03f, 0.13f, 0.36f}};
        if (!middle_of(a, bones[0], line.from) || !middle_of(a, bones[1], line.to)) continue;
        (*lines)[(*count)++] = line;
        seen[bones[0]] = seen[bones[1]] = true;
    }
    /* Pieces that touch nothing are to be seen, too. */
    for (size_t b = 0; b < c->bone_count; b++)
        if (seen[b] || (!connections && cli_is_piece(c, b))) add_node(a, b, node, *lines, count);
    free(seen);
    return NULL;
}
