/// Overlaps of triangles that lie on each other: a tree of their boxes gives candidates; what has another
/// direction or plane is dropped by a look at a few numbers kept in the tree's order; the rest is clipped
/// (Sutherland and Hodgman 1974).

#include "fracture/geometry/contact_overlap.h"

#include <math.h>

#include "fracture/base/threads.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/lanes.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/// The normal, twice the triangle's area long.
static void area_normal(const rbli_mesh_view *mesh, int32_t triangle, double out[3])
{
    const int32_t *t = mesh->triangles[triangle];
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = mesh->positions[t[1]][k] - mesh->positions[t[0]][k];
        v[k] = mesh->positions[t[2]][k] - mesh->positions[t[0]][k];
    }
    cross(u, v, out);
}

double rbli_triangle_area(const rbli_mesh_view *mesh, int32_t triangle)
{
    double normal[3];
    area_normal(mesh, triangle, normal);
    return sqrt(dot(normal, normal)) / 2;
}

/* ---- two triangles ---- */

/// Both relative to the larger one's first corner, so that nothing is lost far from the origin.
typedef struct triangle_pair {
    double large[3][3], small[3][3];
    double normal[3]; /* unit, of the large one */
    double origin[3];
    double size; /* largest coordinate */
} triangle_pair;

static bool make_pair(const rbli_mesh_view *mesh, int32_t first, int32_t second, triangle_pair *out)
{
    double n[2][3], squares[2];
    area_normal(mesh, first, n[0]);
    area_normal(mesh, second, n[1]);
    for (int i = 0; i < 2; i++)
        squares[i] = dot(n[i], n[i]);
    int larger = squares[1] > squares[0];
    double length = sqrt(squares[larger]);
    const int32_t *large = mesh->triangles[larger ? second : first];
    const int32_t *small = mesh->triangles[larger ? first : second];
    memcpy(out->origin, mesh->positions[large[0]], sizeof out->origin);
    out->size = 0;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) {
            out->large[c][k] = mesh->positions[large[c]][k] - out->origin[k];
            out->small[c][k] = mesh->positions[small[c]][k] - out->origin[k];
            double a = fabs(out->large[c][k]), b = fabs(out->small[c][k]);
            out->size = a > out->size ? a : out->size;
            out->size = b > out->size ? b : out->size;
        }
    for (int k = 0; k < 3; k++)
        out->normal[k] = n[larger][k] / length;
    return length > 0 && squares[!larger] > 0;
}

/// True when all of the small one is farther than the tolerance on one side of the large one's plane.
static bool off_plane(const triangle_pair *p, double tolerance)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int c = 0; c < 3; c++) {
        double height = dot(p->normal, p->small[c]);
        low = height < low ? height : low;
        high = height > high ? height : high;
    }
    return low > tolerance || high < -tolerance;
}

/// The outward normal of an edge in the large one's plane, as long as the edge; for triangles that turn the
/// other way it points inward.
static void edge_side(const double p[3], const double q[3], const double normal[3], double out[3])
{
    double e[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
    cross(e, normal, out);
}

/// True when a line along an edge of `a` parts both but for rounding. `turn` is −1 when `a` is seen
/// clockwise.
static bool parted(
    const double a[3][3], const double b[3][3], const double normal[3], double turn, double size)
{
    for (int c = 0; c < 3; c++) {
        double side[3], least = HUGE_VAL;
        edge_side(a[c], a[(c + 1) % 3], normal, side);
        for (int v = 0; v < 3; v++) {
            double to[3] = {b[v][0] - a[c][0], b[v][1] - a[c][1], b[v][2] - a[c][2]};
            double beyond = turn * dot(side, to);
            least = beyond < least ? beyond : least;
        }
        if (least >= 0) return true;
        if (least * least <= 1e-28 * size * size * dot(side, side)) return true;
    }
    return false;
}

enum { MOST_CORNERS = 8 };

/// Keeps what lies on the side n · (x − at) ≤ 0 of a polygon; @return the new count.
static int clip(double (*polygon)[3], int count, const double n[3], const double at[3])
{
    double out[MOST_CORNERS][3], height[MOST_CORNERS];
    int kept = 0;
    for (int i = 0; i < count; i++) {
        double to[3] = {polygon[i][0] - at[0], polygon[i][1] - at[1], polygon[i][2] - at[2]};
        height[i] = dot(n, to);
    }
    for (int i = 0; i < count; i++) {
        int next = i + 1 < count ? i + 1 : 0;
        double dp = height[i], dq = height[next];
        if (dp <= 0 && kept < MOST_CORNERS) memcpy(out[kept++], polygon[i], sizeof out[0]);
        if (((dp < 0 && dq > 0) || (dp > 0 && dq < 0)) && kept < MOST_CORNERS) {
            double s = dp / (dp - dq);
            for (int k = 0; k < 3; k++)
                out[kept][k] = polygon[i][k] + s * (polygon[next][k] - polygon[i][k]);
            kept++;
        }
    }
    memcpy(polygon, out, (size_t)kept * sizeof out[0]);
    return kept;
}

static void measure(const triangle_pair *p, double (*polygon)[3], int count, rbli_overlap_shape *out)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double u[3], v[3], n[3], e[3];
        const double *q = polygon[i + 1 < count ? i + 1 : 0];
        for (int k = 0; k < 3; k++) {
            u[k] = polygon[i][k] - polygon[0][k];
            v[k] = q[k] - polygon[0][k];
            e[k] = q[k] - polygon[i][k];
            double x = polygon[i][k] + p->origin[k];
            out->low[k] = x < out->low[k] ? x : out->low[k];
            out->high[k] = x > out->high[k] ? x : out->high[k];
        }
        cross(u, v, n);
        sum += dot(p->normal, n);
        out->perimeter += sqrt(dot(e, e));
    }
    out->area = fabs(sum) / 2;
}

bool rbli_triangle_overlap(
    const rbli_mesh_view *mesh, int32_t first, int32_t second, double tolerance, rbli_overlap_shape *out)
{
    triangle_pair p;
    double turned[3], u[3], v[3], polygon[MOST_CORNERS][3];
    int count = 3;
    *out = (rbli_overlap_shape){0};
    memcpy(out->low, mesh->positions[mesh->triangles[first][0]], sizeof out->low);
    memcpy(out->high, out->low, sizeof out->high);
    if (!make_pair(mesh, first, second, &p) || off_plane(&p, tolerance)) return false;
    for (int k = 0; k < 3; k++) {
        u[k] = p.small[1][k] - p.small[0][k];
        v[k] = p.small[2][k] - p.small[0][k];
    }
    cross(u, v, turned);
    double turn = dot(turned, p.normal) < 0 ? -1 : 1;
    if (parted((const double(*)[3])p.large, (const double(*)[3])p.small, p.normal, 1, p.size) ||
        parted((const double(*)[3])p.small, (const double(*)[3])p.large, p.normal, turn, p.size))
        return false;
    memcpy(polygon, p.small, sizeof p.small);
    for (int c = 0; c < 3 && count >= 3; c++) {
        double side[3];
        edge_side(p.large[c], p.large[(c + 1) % 3], p.normal, side);
        count = clip(polygon, count, side, p.large[c]);
    }
    if (count < 3) return false;
    for (int i = 0; i < count; i++)
        if (!(fabs(dot(p.normal, polygon[i])) <= tolerance)) return false;
    for (int k = 0; k < 3; k++) {
        out->low[k] = HUGE_VAL;
        out->high[k] = -HUGE_VAL;
    }
    measure(&p, polygon, count, out);
    return out->area > 0;
}

/* ---- all pairs ---- */

/// What a look at candidates needs, in the tree's order: a block of slots side by side, looked at together.
enum { FAN = RBLI_BOX_TREE_FAN };
typedef struct face_looks {
    rbli_float4 normal[3]; /* of the first direction */
    rbli_float4 tilt;      /* how far (sine) its direction may be off when corners are off by the tolerance */
    int32_t piece[2][FAN]; /* of the triangle of each direction, or −1 */
} face_looks;

typedef struct overlap_search {
    rbl_context *ctx;
    const rbli_mesh_view *mesh;
    const rbli_contact_face *faces;
    const rbli_box_tree *tree;
    const int32_t *items; /* of the tree: faces by slot */
    const face_looks *looks;
    double tolerance;
    rbli_overlap_array *blocks;
} overlap_search;

/// Two slots of about the same direction (or, `flip`, the opposite one).
typedef struct slot_pair {
    size_t first, second;
    int flip;
} slot_pair;

enum { QUEUED = 32 };

typedef struct block_search {
    const overlap_search *search;
    rbl_context *ctx;
    rbli_overlap_array *found;
    size_t visits;
    rbl_status status;
    slot_pair queue[QUEUED]; /* looked at together, so that memory answers several at once */
    int queued;
} block_search;

enum { BOX_GRAIN = 1 << 14, BLOCK_GRAIN = 64, VISITS_BETWEEN_POLLS = 1 << 14 };

static int32_t triangle_of(const rbli_contact_face *face)
{
    return face->triangle[0] >= 0 ? face->triangle[0] : face->triangle[1];
}

/// Triangles of two slots that face each other, one pair or two with the same positions.
typedef struct candidate {
    rbli_overlap pair[2];
    int pairs;
} candidate;

/// @return false when there are none, or none that this search is for
static bool pair_triangles(const overlap_search *s, const slot_pair *slots, candidate *out)
{
    const face_looks *p = &s->looks[slots->first / FAN], *q = &s->looks[slots->second / FAN];
    const rbli_contact_face *one = &s->faces[s->items[slots->first]],
                            *two = &s->faces[s->items[slots->second]];
    out->pairs = 0;
    for (int side = 0; side < 2; side++) {
        int32_t a = p->piece[side][slots->first % FAN];
        int32_t c = q->piece[side ^ slots->flip][slots->second % FAN];
        if (a < 0 || c < 0 || a == c) continue;
        out->pair[out->pairs++] = (rbli_overlap){
            a < c ? a : c, a < c ? c : a, 0, one->triangle[side], two->triangle[side ^ slots->flip], false};
    }
    return out->pairs > 0 && one->list != two->list;
}

static void measure_candidate(block_search *b, candidate *c)
{
    const overlap_search *s = b->search;
    rbli_overlap_shape shape;
    if (!rbli_triangle_overlap(s->mesh, c->pair[0].first, c->pair[0].second, s->tolerance, &shape)) return;
    for (int k = 0; k < c->pairs && b->status == RBL_OK; k++) {
        c->pair[k].area = shape.area;
        c->pair[k].wide = shape.area > s->tolerance * shape.perimeter;
        b->status = rbli_array_push(b->ctx, b->found, c->pair[k]);
    }
}

/// Looks at all pairs of the queue, in their order.
static void empty_queue(block_search *b)
{
    const rbli_mesh_view *mesh = b->search->mesh;
    candidate all[QUEUED];
    int count = 0;
    for (int i = 0; i < b->queued; i++) {
        if (!pair_triangles(b->search, &b->queue[i], &all[count])) continue;
        __builtin_prefetch(mesh->triangles[all[count].pair[0].first]);
        __builtin_prefetch(mesh->triangles[all[count++].pair[0].second]);
    }
    b->queued = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            __builtin_prefetch(mesh->positions[mesh->triangles[all[i].pair[0].first][k]]);
            __builtin_prefetch(mesh->positions[mesh->triangles[all[i].pair[0].second][k]]);
        }
    for (int i = 0; i < count && b->status == RBL_OK; i++)
        measure_candidate(b, &all[i]);
}

static void queue_pair(block_search *b, size_t first, size_t second, int flip)
{
    const overlap_search *s = b->search;
    __builtin_prefetch(&s->faces[s->items[first]]);
    __builtin_prefetch(&s->faces[s->items[second]]);
    b->queue[b->queued++] = (slot_pair){first, second, flip};
    if (b->queued == QUEUED) empty_queue(b);
}

/// Of the pairs of two blocks those whose directions agree, in the order of their slots.
static void look_at_blocks(void *user, size_t block_one, size_t block_two, unsigned hits)
{
    block_search *b = user;
    const face_looks *p = &b->search->looks[block_one], *q = &b->search->looks[block_two];
    if (b->status != RBL_OK) return;
    if (++b->visits % VISITS_BETWEEN_POLLS == 0 && rbli_cancelled(b->ctx)) b->status = RBL_ERR_CANCELLED;
    for (int i = 0; hits; i++, hits >>= FAN) {
        if (!(hits & ((1u << FAN) - 1))) continue;
        rbli_float4 along =
            p->normal[0][i] * q->normal[0] + p->normal[1][i] * q->normal[1] + p->normal[2][i] * q->normal[2];
        rbli_float4 tilt = p->tilt[i] + q->tilt, least = 1 - tilt * tilt; /* 0.5 counts where that is more */
        rbli_int4 agree = ~(((along < least) & (along > -least)) | ((along < 0.5f) & (along > -0.5f)));
        for (unsigned row = hits & rbli_lane_bits(agree); row; row &= row - 1) {
            int j = __builtin_ctz(row);
            /* Triangles that face each other: of different directions if the normals agree, else of the same. */
            queue_pair(b, block_one * FAN + (size_t)i, block_two * FAN + (size_t)j, along[j] > 0);
        }
    }
}

static rbl_status search_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const overlap_search *s = user;
    block_search b = {.search = s, .ctx = ctx, .found = &s->blocks[block]};
    (void)worker;
    rbli_box_tree_pair_blocks(s->tree, begin, end, look_at_blocks, &b);
    if (b.status == RBL_OK) empty_queue(&b);
    return b.status;
}

/// The box around a triangle, widened by half the tolerance.
static void box_of(
    const rbli_mesh_view *mesh, int32_t triangle, double tolerance, double min[3], double max[3])
{
    const int32_t *corner = mesh->triangles[triangle];
    for (int k = 0; k < 3; k++) {
        double a = mesh->positions[corner[0]][k], b = mesh->positions[corner[1]][k],
               c = mesh->positions[corner[2]][k];
        double low = a < b ? a : b, high = a < b ? b : a;
        min[k] = (c < low ? c : low) - tolerance / 2;
        max[k] = (c > high ? c : high) + tolerance / 2;
    }
}

/// The tolerance over the triangle's least height, and something for the rounding of floats.
static double tilt_of(const rbli_mesh_view *mesh, int32_t triangle, double doubled_area, double tolerance)
{
    double longest = 0;
    for (int c = 0; c < 3; c++) {
        const double *p = mesh->positions[mesh->triangles[triangle][c]];
        const double *q = mesh->positions[mesh->triangles[triangle][(c + 1) % 3]];
        double e[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]}, square = dot(e, e);
        longest = square > longest ? square : longest;
    }
    double tilt = 2 * tolerance * sqrt(longest) / doubled_area + 1e-3;
    return tilt < 1 ? tilt : 1;
}

/// What the tree and the looks are made from.
typedef struct look_maker {
    const rbli_mesh_view *mesh;
    const int32_t *piece;
    double tolerance;
    const rbli_contact_face *faces;
    size_t count;
    rbli_box_tree *tree;
    face_looks *looks;
    struct bounds *bounds; /* of blocks of faces */
} look_maker;

/// Asks early for the memory of a few faces from here: what leads to what is asked for in turn. `items` NULL: the
/// faces in their own order.
static inline void ask_ahead(const look_maker *m, const int32_t *items, size_t slot)
{
    enum { FACE = 48, TRIANGLE = 32, CORNERS = 16 };
    if (slot + FACE >= m->count) return; /* the last few come by themselves */
    size_t at = items ? (size_t)items[slot + TRIANGLE] : slot + TRIANGLE;
    if (items) __builtin_prefetch(&m->faces[items[slot + FACE]]);
    __builtin_prefetch(m->mesh->triangles[triangle_of(&m->faces[at])]);
    at = items ? (size_t)items[slot + CORNERS] : slot + CORNERS;
    const int32_t *corner = m->mesh->triangles[triangle_of(&m->faces[at])];
    for (int k = 0; k < 3; k++)
        __builtin_prefetch(m->mesh->positions[corner[k]]);
}

/// The box of a slot; the look is made by the way, since both read the same positions from all over the mesh.
static void get_slot(void *user, size_t slot, int32_t item, double min[3], double max[3])
{
    const look_maker *m = user;
    const rbli_contact_face *face = &m->faces[item];
    face_looks *look = &m->looks[slot / FAN];
    size_t lane = slot % FAN;
    double normal[3];
    ask_ahead(m, rbli_box_tree_items(m->tree), slot);
    box_of(m->mesh, triangle_of(face), m->tolerance, min, max);
    area_normal(m->mesh, triangle_of(face), normal);
    double length = sqrt(dot(normal, normal));
    look->tilt[lane] = length == 0 ? 1 : (float)tilt_of(m->mesh, triangle_of(face), length, m->tolerance);
    if (face->triangle[0] < 0) length = -length;
    for (int k = 0; k < 3; k++) /* one without area gets no direction and no partner */
        look->normal[k][lane] = length == 0 ? 0 : (float)(normal[k] / length);
    for (int side = 0; side < 2; side++)
        look->piece[side][lane] = face->triangle[side] < 0 ? -1 : m->piece[face->triangle[side]];
}

typedef struct bounds {
    double min[3], max[3];
} bounds;

/// The box around faces begin … end − 1 into one of `user`'s slots.
static rbl_status bound_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const look_maker *m = user;
    bounds all = {{0}, {0}};
    (void)ctx;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        double low[3], high[3];
        ask_ahead(m, NULL, i);
        box_of(m->mesh, triangle_of(&m->faces[i]), m->tolerance, low, high);
        for (int k = 0; k < 3; k++) {
            all.min[k] = i == begin || low[k] < all.min[k] ? low[k] : all.min[k];
            all.max[k] = i == begin || high[k] > all.max[k] ? high[k] : all.max[k];
        }
    }
    m->bounds[block] = all;
    return RBL_OK;
}

static rbl_status put_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const look_maker *m = user;
    (void)ctx;
    (void)block;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        double low[3], high[3];
        ask_ahead(m, NULL, i);
        box_of(m->mesh, triangle_of(&m->faces[i]), m->tolerance, low, high);
        rbli_box_tree_put(m->tree, i, low, high);
    }
    return RBL_OK;
}

/// Makes the tree and the looks. Boxes are made as often as they are needed: all at once they would be the largest
/// array.
static rbl_status build_tree(rbl_context *ctx, look_maker *m)
{
    rbl_status status = RBL_OK;
    size_t look_count = (m->count + FAN - 1) / FAN, bounds_count = (m->count + BOX_GRAIN - 1) / BOX_GRAIN;
    RBL_TRY_ALLOC(m->bounds = rbli_alloc(ctx, bounds_count, sizeof *m->bounds));
    RBL_TRY(rbli_parallel_for(ctx, m->count, BOX_GRAIN, bound_block, m));
    bounds *all = &m->bounds[0];
    for (size_t i = 1; i < bounds_count; i++)
        for (int k = 0; k < 3; k++) {
            all->min[k] = fmin(all->min[k], m->bounds[i].min[k]);
            all->max[k] = fmax(all->max[k], m->bounds[i].max[k]);
        }
    RBL_TRY(rbli_box_tree_begin(ctx, all->min, all->max, m->count, &m->tree));
    RBL_TRY(rbli_parallel_for(ctx, m->count, BOX_GRAIN, put_block, m));
    RBL_TRY_ALLOC(m->looks = rbli_alloc(ctx, look_count, sizeof *m->looks));
    memset(&m->looks[look_count - 1], 0, sizeof *m->looks); /* its last lanes may stay empty */
    RBL_TRY(rbli_box_tree_end(ctx, m->tree, get_slot, m));
done:
    rbli_free(ctx, m->bounds);
    m->bounds = NULL;
    return status;
}

void rbli_overlap_parts_free(rbl_context *ctx, rbli_overlap_parts *parts)
{
    for (size_t i = 0; parts->data && i < parts->count; i++)
        rbli_free(ctx, parts->data[i].data);
    rbli_free(ctx, parts->data);
    *parts = (rbli_overlap_parts){0};
}

rbl_status rbli_find_overlaps(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece,
    double tolerance, const rbli_contact_face *faces, size_t face_count, rbli_overlap_parts *out)
{
    rbl_status status = RBL_OK;
    look_maker made = {mesh, piece, tolerance, faces, face_count, NULL, NULL, NULL};
    size_t block_count = 0;
    overlap_search s = {.mesh = mesh, .faces = faces, .tolerance = tolerance};
    if (face_count == 0) {
        *out = (rbli_overlap_parts){0};
        return RBL_OK;
    }
    RBL_TRY(build_tree(ctx, &made));
    s.tree = made.tree;
    s.items = rbli_box_tree_items(made.tree);
    s.looks = made.looks;
    block_count = (rbli_box_tree_block_count(made.tree) + BLOCK_GRAIN - 1) / BLOCK_GRAIN;
    RBL_TRY_ALLOC(s.blocks = rbli_calloc(ctx, block_count, sizeof *s.blocks));
    RBL_TRY(rbli_parallel_for(ctx, rbli_box_tree_block_count(made.tree), BLOCK_GRAIN, search_block, &s));
    *out = (rbli_overlap_parts){s.blocks, block_count};
    s.blocks = NULL;
done:
    rbli_overlap_parts_free(ctx, &(rbli_overlap_parts){s.blocks, block_count});
    rbli_free(ctx, made.looks);
    rbli_box_tree_destroy(ctx, made.tree);
    return status;
}
