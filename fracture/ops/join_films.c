/// Joining films with what lies behind them, by the union of pieces that share facets.

#include "fracture/ops/join_films.h"

#include "fracture/base/alloc.h"
#include "fracture/geometry/contact.h"
#include "fracture/geometry/fuse.h"
#include "fracture/ops/regroup.h"

/// What a triangle of a piece lies on.
typedef enum side { SURFACE, FRONT, BACK } side;

/// Positions of the film's front are multiplied by this while a piece that touches it on both sides is
/// joined, so that they match nothing; a power of two, so it can be undone.
static const double AWAY = 0x1p20;

typedef struct join {
    rbl_context *ctx;
    rbli_cut_result *r;
    size_t sheet_facets;
    int32_t *ids, *opposite, *piece; /* scratch by vertex, triangle, triangle */
    int32_t *root;                   /* by piece: union-find, then the group */
    int32_t *member;                 /* by triangle, in the regrouped order: the piece it came from */
    uint8_t *film;                   /* by piece: it is one */
    bool *both_sides;                /* by group: a film's front and back meet the same group */
    size_t piece_count;
} join;

static side side_of(const join *j, size_t triangle)
{
    int32_t source = j->r->origins.source[triangle];
    if (source >= 0) return SURFACE;
    size_t facet = (size_t)(-1 - source);
    return facet < j->sheet_facets ? FRONT : BACK;
}

/* ---- the border ---- */

typedef struct cap_edge {
    int32_t low, high, piece; /* piece < 0: free */
    uint8_t sides;
} cap_edge;

/// Where a piece bends from the front to the back, the sheet's border lies inside the object. (A film bends
/// also where the border lies on the object's surface.)
static rbl_status check_border(join *j)
{
    rbl_status status = RBL_OK;
    const rbli_cut_result *r = j->r;
    cap_edge *table = NULL;
    size_t caps = 0, size = 64;
    for (size_t t = 0; t < r->triangle_count; t++)
        caps += r->origins.source[t] < 0;
    while (size < 6 * caps)
        size *= 2;
    RBL_TRY_ALLOC(table = rbli_alloc(j->ctx, size, sizeof *table));
    for (size_t i = 0; i < size; i++)
        table[i].piece = -1;
    for (size_t p = 0; p < r->piece_count; p++) {
        if (j->film[p]) continue;
        for (int32_t t = r->triangle_start[p]; t < r->triangle_start[p + 1]; t++) {
            side s = side_of(j, (size_t)t);
            for (int c = 0; c < 3 && s != SURFACE; c++) {
                int32_t a = r->triangles[t][c], b = r->triangles[t][(c + 1) % 3];
                int32_t low = a < b ? a : b, high = a < b ? b : a;
                size_t slot = ((size_t)low * 0x9e3779b97f4a7c15u ^ (size_t)high * 0xc2b2ae3d27d4eb4fu) >> 20;
                slot &= size - 1;
                while (table[slot].piece >= 0 && (table[slot].low != low || table[slot].high != high))
                    slot = (slot + 1) & (size - 1);
                uint8_t before = table[slot].piece < 0 ? 0 : table[slot].sides;
                table[slot] = (cap_edge){low, high, (int32_t)p, (uint8_t)(before | 1u << s)};
                if (table[slot].sides != (1u << FRONT | 1u << BACK)) continue;
                const double *x = r->positions[low];
                status = rbli_fail(j->ctx, RBL_ERR_MESH,
                    "the border of the cutter lies inside the object, at (%g, %g, %g): an open cutter must "
                    "reach "
                    "out of it all around",
                    x[0], x[1], x[2]);
                goto done;
            }
        }
    }
done:
    rbli_free(j->ctx, table);
    return status;
}

/* ---- which pieces ---- */

static int32_t find_root(int32_t *root, int32_t p)
{
    while (root[p] != p) {
        root[p] = root[root[p]];
        p = root[p];
    }
    return p;
}

/// Matches the caps of one side between films and others.
static rbl_status match_side(join *j, side which)
{
    rbli_cut_result *r = j->r;
    for (size_t p = 0; p < r->piece_count; p++)
        for (int32_t t = r->triangle_start[p]; t < r->triangle_start[p + 1]; t++)
            j->piece[t] = side_of(j, (size_t)t) == which ? (int32_t)p : -1;
    return rbli_match_opposite(
        j->ctx, (const int32_t(*)[3])r->triangles, r->triangle_count, j->ids, j->piece, j->opposite);
}

static rbl_status group_pieces(join *j)
{
    rbl_status status = RBL_OK;
    rbli_cut_result *r = j->r;
    size_t unique;
    RBL_TRY(rbli_position_ids(j->ctx, (const double(*)[3])r->positions, r->vertex_count, j->ids, &unique));
    for (size_t p = 0; p < r->piece_count; p++)
        j->root[p] = (int32_t)p;
    RBL_TRY(match_side(j, BACK));
    for (size_t t = 0; t < r->triangle_count; t++) {
        if (j->opposite[t] < 0) continue;
        int32_t a = j->piece[t], b = j->piece[j->opposite[t]];
        if (j->film[a] == j->film[b]) continue;
        a = find_root(j->root, a);
        b = find_root(j->root, b);
        j->root[a < b ? b : a] = a < b ? a : b;
    }
    for (size_t p = 0; p < r->piece_count; p++)
        j->root[p] = find_root(j->root, (int32_t)p);
    RBL_TRY(match_side(j, FRONT));
    for (size_t t = 0; t < r->triangle_count; t++) {
        if (j->opposite[t] < 0) continue;
        int32_t a = j->root[j->piece[t]], b = j->root[j->piece[j->opposite[t]]];
        if (a == b) j->both_sides[a] = true;
    }
done:
    return status;
}

/* ---- joining ---- */

/// The surfaces of the result while they are written anew.
typedef struct joined_point {
    double x[3];
    int32_t source;
} joined_point;
typedef struct joined_triangle {
    int32_t v[3];
    int32_t source, weights;
} joined_triangle;
typedef struct joined_weights {
    double w[3][3];
} joined_weights;
typedef struct joined {
    RBLI_ARRAY(joined_point) points;
    RBLI_ARRAY(joined_triangle) triangles;
    RBLI_ARRAY(joined_weights) weights;
} joined;

static rbl_status copy_piece(join *j, size_t p, joined *out)
{
    rbl_status status = RBL_OK;
    const rbli_cut_result *r = j->r;
    int32_t shift = (int32_t)out->points.count - r->vertex_start[p];
    for (int32_t v = r->vertex_start[p]; v < r->vertex_start[p + 1]; v++) {
        joined_point made = {.source = r->vertex_source[v]};
        memcpy(made.x, r->positions[v], sizeof made.x);
        RBL_TRY(rbli_array_push(j->ctx, &out->points, made));
    }
    for (int32_t t = r->triangle_start[p]; t < r->triangle_start[p + 1]; t++) {
        joined_triangle made = {.source = r->origins.source[t], .weights = r->origins.weights_index[t]};
        for (int c = 0; c < 3; c++)
            made.v[c] = r->triangles[t][c] + shift;
        RBL_TRY(rbli_array_push(j->ctx, &out->triangles, made));
    }
done:
    return status;
}

/// Weights of a triangle that was split, on the mesh's triangle: those on the piece's, times its own.
static rbl_status compose_weights(join *j, const double own[3][3], int32_t row, joined *out, int32_t *index)
{
    joined_weights made;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            made.w[a][b] = own[a][b];
            if (row < 0) continue;
            made.w[a][b] = 0;
            for (int c = 0; c < 3; c++)
                made.w[a][b] += own[a][c] * j->r->origins.weights[row][c][b];
        }
    *index = (int32_t)(j->r->origins.weights_count + out->weights.count);
    return rbli_array_push(j->ctx, &out->weights, made);
}

static rbl_status take_fused(join *j, size_t p, const rbli_fuse_result *fused, const bool *away,
    const double (*positions)[3], joined *out)
{
    rbl_status status = RBL_OK;
    const rbli_cut_result *r = j->r;
    int32_t first_vertex = r->vertex_start[p], first_triangle = r->triangle_start[p];
    int32_t shift = (int32_t)out->points.count;
    for (size_t v = 0; v < fused->vertex_count; v++) {
        int32_t source = fused->vertex_source[v];
        joined_point made = {.source = r->vertex_source[first_vertex + source]};
        memcpy(made.x, fused->positions[v], sizeof made.x);
        if (memcmp(made.x, positions[source], sizeof made.x) != 0) made.source = -1; /* a middle point */
        if (away[source])
            for (int k = 0; k < 3; k++)
                made.x[k] /= AWAY;
        RBL_TRY(rbli_array_push(j->ctx, &out->points, made));
    }
    for (size_t t = 0; t < fused->triangle_count; t++) {
        int32_t from = first_triangle + fused->origins.source[t], row = fused->origins.weights_index[t];
        joined_triangle made = {.source = r->origins.source[from], .weights = r->origins.weights_index[from]};
        for (int c = 0; c < 3; c++)
            made.v[c] = fused->triangles[t][c] + shift;
        if (row >= 0 && made.source >= 0)
            RBL_TRY(compose_weights(
                j, (const double(*)[3])fused->origins.weights[row], made.weights, out, &made.weights));
        RBL_TRY(rbli_array_push(j->ctx, &out->triangles, made));
    }
done:
    return status;
}

/// Fuses the surfaces of one regrouped piece.
static rbl_status fuse_piece(join *j, size_t p, bool both_sides, joined *out)
{
    rbl_status status = RBL_OK;
    const rbli_cut_result *r = j->r;
    int32_t v0 = r->vertex_start[p], t0 = r->triangle_start[p];
    size_t vertex_count = (size_t)(r->vertex_start[p + 1] - v0);
    size_t triangle_count = (size_t)(r->triangle_start[p + 1] - t0);
    double(*positions)[3] = rbli_alloc(j->ctx, vertex_count, sizeof *positions);
    int32_t(*triangles)[3] = rbli_alloc(j->ctx, triangle_count, sizeof *triangles);
    bool *away = rbli_calloc(j->ctx, vertex_count, sizeof *away);
    rbli_fuse_result fused = {0};
    RBL_TRY_ALLOC(positions);
    RBL_TRY_ALLOC(triangles);
    RBL_TRY_ALLOC(away);
    memcpy(positions, r->positions + v0, vertex_count * sizeof *positions);
    for (size_t t = 0; t < triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            triangles[t][c] = r->triangles[(size_t)t0 + t][c] - v0;
            bool front =
                both_sides && j->film[j->member[(size_t)t0 + t]] && side_of(j, (size_t)t0 + t) == FRONT;
            if (front) away[triangles[t][c]] = true;
        }
    for (size_t v = 0; v < vertex_count; v++)
        for (int k = 0; k < 3 && away[v]; k++)
            positions[v][k] *= AWAY;
    rbli_mesh_view view = {
        (const double(*)[3])positions, vertex_count, (const int32_t(*)[3])triangles, triangle_count};
    RBL_TRY(rbli_fuse(j->ctx, &view, j->member + t0, &fused));
    RBL_TRY(take_fused(j, p, &fused, away, (const double(*)[3])positions, out));
done:
    rbli_fuse_result_free(j->ctx, &fused);
    rbli_free(j->ctx, positions);
    rbli_free(j->ctx, triangles);
    rbli_free(j->ctx, away);
    return status;
}

/// Makes the arrays of the result those that were written anew.
static rbl_status take_joined(join *j, joined *n)
{
    rbl_status status = RBL_OK;
    rbli_cut_result *r = j->r;
    size_t vertices = n->points.count, triangles = n->triangles.count, rows = r->origins.weights_count;
    void *moved;
    RBL_TRY_ALLOC(moved = rbli_realloc(j->ctx, r->positions, vertices, sizeof *r->positions));
    r->positions = moved;
    RBL_TRY_ALLOC(moved = rbli_realloc(j->ctx, r->vertex_source, vertices, sizeof *r->vertex_source));
    r->vertex_source = moved;
    RBL_TRY_ALLOC(moved = rbli_realloc(j->ctx, r->triangles, triangles, sizeof *r->triangles));
    r->triangles = moved;
    RBL_TRY_ALLOC(moved = rbli_realloc(j->ctx, r->origins.source, triangles, sizeof(int32_t)));
    r->origins.source = moved;
    RBL_TRY_ALLOC(moved = rbli_realloc(j->ctx, r->origins.weights_index, triangles, sizeof(int32_t)));
    r->origins.weights_index = moved;
    if (n->weights.count) {
        RBL_TRY_ALLOC(moved = rbli_realloc(
                          j->ctx, r->origins.weights, rows + n->weights.count, sizeof *r->origins.weights));
        r->origins.weights = moved;
        memcpy(r->origins.weights + rows, n->weights.data, n->weights.count * sizeof *r->origins.weights);
        r->origins.weights_count += n->weights.count;
    }
    for (size_t v = 0; v < vertices; v++) {
        memcpy(r->positions[v], n->points.data[v].x, sizeof *r->positions);
        r->vertex_source[v] = n->points.data[v].source;
    }
    for (size_t t = 0; t < triangles; t++) {
        memcpy(r->triangles[t], n->triangles.data[t].v, sizeof *r->triangles);
        r->origins.source[t] = n->triangles.data[t].source;
        r->origins.weights_index[t] = n->triangles.data[t].weights;
    }
    r->vertex_count = vertices;
    r->triangle_count = triangles;
done:
    return status;
}

/// Writes `member` in the order that regrouping brings, and how many pieces each group has.
static void list_members(join *j, int32_t *sizes)
{
    const rbli_cut_result *r = j->r;
    size_t at = 0;
    for (size_t g = 0; g < r->piece_count; g++) {
        sizes[g] = 0;
        for (size_t p = g; p < r->piece_count; p++) { /* a group is named by its first piece */
            if (j->root[p] != (int32_t)g) {
                if (j->root[g] != (int32_t)g) break;
                continue;
            }
            sizes[g]++;
            for (int32_t t = r->triangle_start[p]; t < r->triangle_start[p + 1]; t++)
                j->member[at++] = (int32_t)p;
        }
    }
}

static rbl_status join_groups(join *j)
{
    rbl_status status = RBL_OK;
    rbli_cut_result *r = j->r;
    joined n = {0};
    int32_t *sizes = NULL, *names = NULL, *vertex_start = NULL, *triangle_start = NULL;
    size_t old_count = r->piece_count, count = 0;
    RBL_TRY_ALLOC(sizes = rbli_alloc(j->ctx, old_count, sizeof *sizes));
    RBL_TRY_ALLOC(names = rbli_alloc(j->ctx, old_count, sizeof *names));
    list_members(j, sizes);
    for (size_t g = 0; g < old_count; g++)
        if (j->root[g] == (int32_t)g) names[count++] = (int32_t)g;
    RBL_TRY(rbli_regroup_pieces(j->ctx, r, j->root));
    RBL_TRY_ALLOC(vertex_start = rbli_alloc(j->ctx, count + 1, sizeof *vertex_start));
    RBL_TRY_ALLOC(triangle_start = rbli_alloc(j->ctx, count + 1, sizeof *triangle_start));
    for (size_t p = 0; p < count; p++) {
        vertex_start[p] = (int32_t)n.points.count;
        triangle_start[p] = (int32_t)n.triangles.count;
        RBL_TRY(sizes[names[p]] > 1 ? fuse_piece(j, p, j->both_sides[names[p]], &n) : copy_piece(j, p, &n));
    }
    vertex_start[count] = (int32_t)n.points.count;
    triangle_start[count] = (int32_t)n.triangles.count;
    RBL_TRY(take_joined(j, &n));
    memcpy(r->vertex_start, vertex_start, (count + 1) * sizeof *vertex_start);
    memcpy(r->triangle_start, triangle_start, (count + 1) * sizeof *triangle_start);
done:
    rbli_free(j->ctx, n.points.data);
    rbli_free(j->ctx, n.triangles.data);
    rbli_free(j->ctx, n.weights.data);
    rbli_free(j->ctx, sizes);
    rbli_free(j->ctx, names);
    rbli_free(j->ctx, vertex_start);
    rbli_free(j->ctx, triangle_start);
    return status;
}

rbl_status rbli_join_films(rbl_context *ctx, rbli_cut_result *r, size_t sheet_facets)
{
    rbl_status status = RBL_OK;
    join j = {.ctx = ctx, .r = r, .sheet_facets = sheet_facets, .piece_count = r->piece_count};
    RBL_TRY_ALLOC(j.film = rbli_calloc(ctx, r->piece_count, 1));
    size_t films = 0;
    for (size_t p = 0; p < r->piece_count; p++)
        films += j.film[p] = r->piece_cell[p] == 1;
    if (films == 0) goto done;
    RBL_TRY(check_border(&j));
    RBL_TRY_ALLOC(j.ids = rbli_alloc(ctx, r->vertex_count, sizeof *j.ids));
    RBL_TRY_ALLOC(j.opposite = rbli_alloc(ctx, r->triangle_count, sizeof *j.opposite));
    RBL_TRY_ALLOC(j.piece = rbli_alloc(ctx, r->triangle_count, sizeof *j.piece));
    RBL_TRY_ALLOC(j.member = rbli_alloc(ctx, r->triangle_count, sizeof *j.member));
    RBL_TRY_ALLOC(j.root = rbli_alloc(ctx, r->piece_count, sizeof *j.root));
    RBL_TRY_ALLOC(j.both_sides = rbli_calloc(ctx, r->piece_count, sizeof *j.both_sides));
    RBL_TRY(group_pieces(&j));
    RBL_TRY(join_groups(&j));
done:
    rbli_free(ctx, j.film);
    rbli_free(ctx, j.ids);
    rbli_free(ctx, j.opposite);
    rbli_free(ctx, j.piece);
    rbli_free(ctx, j.member);
    rbli_free(ctx, j.root);
    rbli_free(ctx, j.both_sides);
    return status;
}
