/// Tiny pieces: who joins whom (rounds of choices over groups), then unions or clusters.

#include "fracture/ops/fix_tiny.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"
#include "fracture/geometry/fuse.h"
#include "fracture/ops/collision_samples.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/surface.h"

rbli_fix_tiny_options rbli_fix_tiny_default_options(void)
{
    return (rbli_fix_tiny_options){.relative_volume = 0.01,
        .min_volume_cube_root = 0.01,
        .only_connected = true,
        .only_same_parent = true,
        .on_fracture_level = true};
}

/// Neighbouring groups of one round.
typedef struct link {
    int32_t a, b;
    double area;
} link;

typedef struct tiny {
    rbl_context *ctx;
    const rbl_collection *in;
    const rbli_fix_tiny_options *options;
    size_t bone_count;
    const int32_t *parent, *level, *geometry;
    int32_t *leaves; /* rigid leaves, ascending */
    size_t leaf_count;
    rbli_world_surface surface;
    double (*world)[16];
    rbli_touch *touches; /* by bone */
    size_t touch_count;
    /* By bone; of groups at their root, which is the lowest bone. */
    int32_t *root;
    double *volume;
    double (*center)[3];
    bool *may_be_tiny, *must_join;
    double threshold;
} tiny;

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void tiny_free(tiny *t)
{
    rbli_free(t->ctx, t->leaves);
    rbli_free(t->ctx, t->world);
    rbli_free(t->ctx, t->touches);
    rbli_free(t->ctx, t->root);
    rbli_free(t->ctx, t->volume);
    rbli_free(t->ctx, t->center);
    rbli_free(t->ctx, t->may_be_tiny);
    rbli_free(t->ctx, t->must_join);
    rbli_world_surface_free(t->ctx, &t->surface);
}

/// Volume and centroid of a leaf in the world.
static void measure_leaf(tiny *t, int32_t bone)
{
    int32_t g = t->geometry[bone];
    const int32_t *face_start = rbli_collection_read(t->in, "geometry", "face_start", RBL_INT32);
    const int32_t *face_count = rbli_collection_read(t->in, "geometry", "face_count", RBL_INT32);
    const int32_t *vertex_start = rbli_collection_read(t->in, "geometry", "vertex_start", RBL_INT32);
    const int32_t(*faces)[3] = rbli_collection_read(t->in, "face", "vertices", RBL_INT32_3);
    const double *origin = t->surface.positions[vertex_start[g]];
    double volume = 0, moment[3] = {0, 0, 0};
    for (int32_t f = face_start[g]; f < face_start[g] + face_count[g]; f++) {
        double p[3][3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                p[c][k] = t->surface.positions[faces[f][c]][k] - origin[k];
        double six = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                     p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                     p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        volume += six / 6;
        for (int k = 0; k < 3; k++)
            moment[k] += six / 24 * (p[0][k] + p[1][k] + p[2][k]);
    }
    t->volume[bone] = volume;
    for (int k = 0; k < 3; k++)
        t->center[bone][k] = origin[k] + (volume != 0 ? moment[k] / volume : 0);
}

static rbl_status mark_candidates(tiny *t)
{
    const rbli_selection *selection = t->options->selection;
    bool restrict_to = t->options->use_selection == RBLI_TINY_USE_RESTRICT;
    if (selection && !rbli_selection_fits(selection, t->in))
        return rbli_fail(t->ctx, RBL_ERR_COLLECTION, "the selection was made on another set of bones");
    for (size_t b = 0; b < t->bone_count; b++)
        t->may_be_tiny[b] = !restrict_to;
    if (!selection || t->options->use_selection == RBLI_TINY_USE_NONE) return RBL_OK;
    const int32_t *bones = rbli_selection_bones(selection);
    for (size_t i = 0; i < rbli_selection_count(selection); i++) {
        if (restrict_to) {
            t->may_be_tiny[bones[i]] = true;
        } else {
            t->must_join[bones[i]] = true;
        }
    }
    return RBL_OK;
}

static rbl_status prepare(tiny *t)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->ctx;
    double total = 0;
    t->bone_count = rbli_collection_size(t->in, "bone");
    t->parent = rbli_collection_read(t->in, "bone", "parent", RBL_INT32);
    t->level = rbli_collection_read(t->in, "bone", "level", RBL_INT32);
    t->geometry = rbli_collection_read(t->in, "bone", "geometry", RBL_INT32);
    RBL_TRY(rbli_rigid_leaves(ctx, t->in, NULL, &t->leaves, &t->leaf_count));
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, t->in, &t->world));
    RBL_TRY(rbli_world_surface_build(ctx, t->in, &t->surface));
    RBL_TRY_ALLOC(t->root = rbli_alloc(ctx, t->bone_count, sizeof *t->root));
    RBL_TRY_ALLOC(t->volume = rbli_calloc(ctx, t->bone_count, sizeof *t->volume));
    RBL_TRY_ALLOC(t->center = rbli_calloc(ctx, t->bone_count, sizeof *t->center));
    RBL_TRY_ALLOC(t->may_be_tiny = rbli_calloc(ctx, t->bone_count, sizeof *t->may_be_tiny));
    RBL_TRY_ALLOC(t->must_join = rbli_calloc(ctx, t->bone_count, sizeof *t->must_join));
    for (size_t b = 0; b < t->bone_count; b++)
        t->root[b] = (int32_t)b;
    RBL_TRY(mark_candidates(t));
    for (size_t i = 0; i < t->leaf_count; i++) {
        measure_leaf(t, t->leaves[i]);
        total += t->volume[t->leaves[i]];
    }
    double r = t->options->relative_volume, m = t->options->min_volume_cube_root;
    t->threshold = t->options->select_by == RBLI_TINY_RELATIVE_VOLUME ? total * (r * r * r) : m * m * m;
done:
    return status;
}

/* ---- who joins whom ---- */

static bool is_tiny(const tiny *t, int32_t root)
{
    return (t->may_be_tiny[root] && t->volume[root] < t->threshold) || t->must_join[root];
}

static bool may_join(const tiny *t, int32_t a, int32_t b)
{
    bool same_parent = t->options->only_same_parent || t->options->merge == RBLI_TINY_CLUSTERS;
    if (same_parent && t->parent[a] != t->parent[b]) return false;
    return !t->options->on_fracture_level || t->level[a] == t->level[b];
}

static int compare_links(const void *a, const void *b)
{
    const link *p = a, *q = b;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    return p->area < q->area ? -1 : p->area > q->area;
}

static double distance_squared(const tiny *t, int32_t a, int32_t b)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (t->center[a][k] - t->center[b][k]) * (t->center[a][k] - t->center[b][k]);
    return sum;
}

/// Whether a neighbour is better than the best so far; ties go to the larger, then the nearer, then the lower
/// bone.
static bool is_better(const tiny *t, int32_t me, const link *now, const link *best)
{
    if (best->b < 0) return true;
    double size = t->volume[now->b] - t->volume[best->b];
    double nearness = distance_squared(t, me, best->b) - distance_squared(t, me, now->b);
    double first = t->options->neighbor == RBLI_TINY_LARGEST          ? size
                   : t->options->neighbor == RBLI_TINY_NEAREST_CENTER ? nearness
                                                                      : now->area - best->area;
    if (first != 0) return first > 0;
    if (size != 0) return size > 0;
    if (nearness != 0) return nearness > 0;
    return now->b < best->b;
}

/// Whether a union over this contact can be clean: most of it is shared to the bit.
static bool is_shared(const tiny *t, const rbli_touch *touch)
{
    return t->options->merge == RBLI_TINY_CLUSTERS || touch->matched_area > 0.25 * touch->area;
}

/// The nearest piece that it may join although they do not touch. `touching` [bone] is scratch.
static int32_t nearest_stranger(const tiny *t, int32_t me, int32_t *touching)
{
    for (size_t i = 0; i < t->touch_count; i++) {
        int32_t a = find_root(t->root, t->touches[i].piece_a), b = find_root(t->root, t->touches[i].piece_b);
        if (a == me || b == me) touching[a == me ? b : a] = me;
    }
    link best = {me, -1, 0};
    double near = HUGE_VAL;
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t other = find_root(t->root, t->leaves[i]);
        if (other == me || touching[other] == me || !may_join(t, me, other)) continue;
        double d = distance_squared(t, me, other);
        if (d < near) near = d, best.b = other;
    }
    return best.b;
}

/// One round: every tiny group chooses, then all choices are joined. @return by `joined` how many
static rbl_status join_round(tiny *t, link *links, int32_t *choice, int32_t *touching, size_t *joined)
{
    size_t count = 0, kept = 0;
    *joined = 0;
    for (size_t i = 0; i < t->touch_count; i++) {
        int32_t a = find_root(t->root, t->touches[i].piece_a), b = find_root(t->root, t->touches[i].piece_b);
        if (a == b || !may_join(t, a, b) || (!is_tiny(t, a) && !is_tiny(t, b))) continue;
        if (!is_shared(t, &t->touches[i])) continue;
        links[count++] = (link){a, b, t->touches[i].area};
        links[count++] = (link){b, a, t->touches[i].area};
    }
    if (count) qsort(links, count, sizeof *links, compare_links);
    for (size_t i = 0; i < count; i++) {
        if (kept && links[kept - 1].a == links[i].a && links[kept - 1].b == links[i].b) {
            links[kept - 1].area += links[i].area;
        } else {
            links[kept++] = links[i];
        }
    }
    for (size_t i = 0; i < t->leaf_count; i++)
        choice[t->leaves[i]] = -1;
    for (size_t i = 0, end; i < kept; i = end) {
        link best = {links[i].a, -1, 0};
        for (end = i; end < kept && links[end].a == links[i].a; end++)
            if (is_better(t, links[i].a, &links[end], &best)) best = links[end];
        if (is_tiny(t, links[i].a)) choice[links[i].a] = best.b;
    }
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t b = t->leaves[i];
        if (rbli_cancelled(t->ctx)) return RBL_ERR_CANCELLED;
        if (t->root[b] == b && choice[b] < 0 && !t->options->only_connected && is_tiny(t, b))
            choice[b] = nearest_stranger(t, b, touching);
    }
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t b = t->leaves[i];
        if (choice[b] < 0) continue;
        int32_t x = find_root(t->root, b), y = find_root(t->root, choice[b]);
        if (x == y) continue;
        t->root[x > y ? x : y] = x < y ? x : y;
        ++*joined;
    }
    return RBL_OK;
}

/// Volumes and centres of groups from their members, in the order of bones.
static void measure_groups(tiny *t, const double *volume, const double (*center)[3])
{
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t b = t->leaves[i];
        t->volume[b] = 0;
        t->center[b][0] = t->center[b][1] = t->center[b][2] = 0;
        if (find_root(t->root, b) != b) t->must_join[find_root(t->root, b)] = false;
    }
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t b = t->leaves[i], r = find_root(t->root, b);
        t->volume[r] += volume[b];
        for (int k = 0; k < 3; k++)
            t->center[r][k] += volume[b] * center[b][k];
        if (r != b) t->may_be_tiny[r] |= t->may_be_tiny[b];
    }
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t b = t->leaves[i];
        for (int k = 0; k < 3 && t->root[b] == b; k++)
            t->center[b][k] = t->volume[b] != 0 ? t->center[b][k] / t->volume[b] : center[b][k];
    }
}

static rbl_status choose_groups(tiny *t)
{
    rbl_status status = RBL_OK;
    link *links = NULL;
    int32_t *choice = NULL, *touching = NULL;
    double *volume = NULL, (*center)[3] = NULL;
    size_t joined;
    RBL_TRY_ALLOC(links = rbli_alloc(t->ctx, t->touch_count, 2 * sizeof *links));
    RBL_TRY_ALLOC(choice = rbli_alloc(t->ctx, t->bone_count, sizeof *choice));
    RBL_TRY_ALLOC(touching = rbli_alloc(t->ctx, t->bone_count, sizeof *touching));
    memset(touching, 0xff, t->bone_count * sizeof *touching);
    RBL_TRY_ALLOC(volume = rbli_alloc(t->ctx, t->bone_count, sizeof *volume));
    RBL_TRY_ALLOC(center = rbli_alloc(t->ctx, t->bone_count, sizeof *center));
    memcpy(volume, t->volume, t->bone_count * sizeof *volume);
    memcpy(center, t->center, t->bone_count * sizeof *center);
    do {
        RBL_TRY(join_round(t, links, choice, touching, &joined));
        measure_groups(t, volume, (const double(*)[3])center);
    } while (joined > 0);
    memcpy(t->volume, volume, t->bone_count * sizeof *volume);
done:
    rbli_free(t->ctx, links);
    rbli_free(t->ctx, choice);
    rbli_free(t->ctx, touching);
    rbli_free(t->ctx, volume);
    rbli_free(t->ctx, center);
    return status;
}

/// Groups of more than one: members in rows, and the largest of each.
typedef struct groups {
    int32_t *member; /* leaves sorted by group */
    size_t *start;   /* [count + 1] */
    int32_t *largest;
    size_t count;
    size_t member_count;
} groups;

static rbl_status list_groups(const tiny *t, groups *g)
{
    rbl_status status = RBL_OK;
    int32_t *size = NULL, *row = NULL;
    RBL_TRY_ALLOC(size = rbli_calloc(t->ctx, t->bone_count, sizeof *size));
    RBL_TRY_ALLOC(row = rbli_alloc(t->ctx, t->bone_count, sizeof *row));
    RBL_TRY_ALLOC(g->member = rbli_alloc(t->ctx, t->leaf_count, sizeof *g->member));
    RBL_TRY_ALLOC(g->start = rbli_calloc(t->ctx, t->leaf_count + 2, sizeof *g->start));
    RBL_TRY_ALLOC(g->largest = rbli_alloc(t->ctx, t->leaf_count, sizeof *g->largest));
    for (size_t i = 0; i < t->leaf_count; i++)
        size[find_root(t->root, t->leaves[i])]++;
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t b = t->leaves[i];
        if (t->root[b] != b || size[b] < 2) continue;
        row[b] = (int32_t)g->count;
        g->largest[g->count] = b;
        g->start[g->count + 1] = g->start[g->count] + (size_t)size[b];
        g->count++;
    }
    g->member_count = g->start[g->count];
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t b = t->leaves[i], r = find_root(t->root, b);
        if (size[r] < 2) continue;
        int32_t *largest = &g->largest[row[r]];
        if (t->volume[b] > t->volume[*largest]) *largest = b;
        g->member[g->start[row[r]]++] = b;
    }
    for (size_t i = g->count; i-- > 0;)
        g->start[i + 1] = g->start[i];
    g->start[0] = 0;
done:
    rbli_free(t->ctx, size);
    rbli_free(t->ctx, row);
    return status;
}

static void groups_free(const tiny *t, groups *g)
{
    rbli_free(t->ctx, g->member);
    rbli_free(t->ctx, g->start);
    rbli_free(t->ctx, g->largest);
}

/* ---- union of a group ---- */

typedef struct ranges {
    const int32_t *vertex_start, *vertex_count, *face_start, *face_count;
    const int32_t (*faces)[3];
} ranges;

static ranges read_ranges(const rbl_collection *c)
{
    return (ranges){rbli_collection_read(c, "geometry", "vertex_start", RBL_INT32),
        rbli_collection_read(c, "geometry", "vertex_count", RBL_INT32),
        rbli_collection_read(c, "geometry", "face_start", RBL_INT32),
        rbli_collection_read(c, "geometry", "face_count", RBL_INT32),
        rbli_collection_read(c, "face", "vertices", RBL_INT32_3)};
}

/// A fused group; sources are vertices and faces of the collection. Positions are in the frame of the largest
/// member.
typedef struct fused {
    rbli_fuse_result result;
    bool good; /* false: the pieces stay apart */
} fused;

static double total_area(const double (*positions)[3], const int32_t (*triangles)[3], size_t count)
{
    double sum = 0;
    for (size_t t = 0; t < count; t++) {
        const double *a = positions[triangles[t][0]], *b = positions[triangles[t][1]],
                     *c = positions[triangles[t][2]];
        double u[3], v[3], n[3];
        for (int k = 0; k < 3; k++)
            u[k] = b[k] - a[k], v[k] = c[k] - a[k];
        for (int k = 0; k < 3; k++)
            n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        sum += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
    }
    return sum;
}

/// From world space to the frame of the bone `to`; a vertex that did not move keeps its own bits.
static bool to_frame(const tiny *t, int32_t to, const int32_t *vertex_bone, rbli_fuse_result *r)
{
    const double(*local)[3] = rbli_collection_read(t->in, "vertex", "position", RBL_VEC3);
    for (size_t v = 0; v < r->vertex_count; v++) {
        int32_t source = r->vertex_source[v];
        double world[3];
        memcpy(world, r->positions[v], sizeof world);
        bool same_frame = memcmp(t->world[vertex_bone[v]], t->world[to], sizeof *t->world) == 0;
        if (same_frame && memcmp(world, t->surface.positions[source], sizeof world) == 0) {
            memcpy(r->positions[v], local[source], sizeof world);
        } else if (!rbli_affine_solve_point(t->world[to], world, r->positions[v])) {
            return false;
        }
    }
    return true;
}

static rbl_status fuse_group(tiny *t, const ranges *in, const int32_t *member, size_t count, int32_t largest,
    double contact_area, fused *out)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->ctx;
    size_t vertex_count = 0, face_count = 0, v = 0, f = 0;
    double(*positions)[3] = NULL;
    int32_t(*triangles)[3] = NULL, *piece = NULL, *vertex = NULL, *face = NULL, *vertex_bone = NULL,
    *owner = NULL;
    for (size_t i = 0; i < count; i++) {
        vertex_count += (size_t)in->vertex_count[t->geometry[member[i]]];
        face_count += (size_t)in->face_count[t->geometry[member[i]]];
    }
    RBL_TRY_ALLOC(positions = rbli_alloc(ctx, vertex_count, sizeof *positions));
    RBL_TRY_ALLOC(vertex = rbli_alloc(ctx, vertex_count, sizeof *vertex));
    RBL_TRY_ALLOC(triangles = rbli_alloc(ctx, face_count, sizeof *triangles));
    RBL_TRY_ALLOC(piece = rbli_alloc(ctx, face_count, sizeof *piece));
    RBL_TRY_ALLOC(face = rbli_alloc(ctx, face_count, sizeof *face));
    RBL_TRY_ALLOC(owner = rbli_alloc(ctx, vertex_count, sizeof *owner));
    for (size_t i = 0; i < count; i++) {
        int32_t g = t->geometry[member[i]], shift = (int32_t)v - in->vertex_start[g];
        for (int32_t j = 0; j < in->vertex_count[g]; j++, v++) {
            vertex[v] = in->vertex_start[g] + j;
            owner[v] = member[i];
            memcpy(positions[v], t->surface.positions[vertex[v]], sizeof *positions);
        }
        for (int32_t j = 0; j < in->face_count[g]; j++, f++) {
            face[f] = in->face_start[g] + j;
            piece[f] = member[i];
            for (int k = 0; k < 3; k++)
                triangles[f][k] = in->faces[face[f]][k] + shift;
        }
    }
    rbli_mesh_view mesh = {
        (const double(*)[3])positions, vertex_count, (const int32_t(*)[3])triangles, face_count};
    status = rbli_fuse(ctx, &mesh, piece, &out->result);
    if (status == RBL_ERR_OPEN_MESH || status == RBL_ERR_INTERNAL) {
        status = RBL_OK; /* stays apart */
        goto done;
    }
    if (status != RBL_OK) goto done;
    rbli_fuse_result *r = &out->result;
    double before = total_area((const double(*)[3])positions, (const int32_t(*)[3])triangles, face_count);
    double after =
        total_area((const double(*)[3])r->positions, (const int32_t(*)[3])r->triangles, r->triangle_count);
    bool whole = fabs(before - after - 2 * contact_area) <= 1e-6 * contact_area + 1e-12 * before;
    RBL_TRY_ALLOC(vertex_bone = rbli_alloc(ctx, r->vertex_count, sizeof *vertex_bone));
    for (size_t i = 0; i < r->vertex_count; i++) {
        vertex_bone[i] = owner[r->vertex_source[i]];
        r->vertex_source[i] = vertex[r->vertex_source[i]];
    }
    for (size_t i = 0; i < r->triangle_count; i++)
        r->origins.source[i] = face[r->origins.source[i]];
    out->good = whole && to_frame(t, largest, vertex_bone, r);
done:
    rbli_free(ctx, positions);
    rbli_free(ctx, vertex);
    rbli_free(ctx, triangles);
    rbli_free(ctx, piece);
    rbli_free(ctx, face);
    rbli_free(ctx, vertex_bone);
    rbli_free(ctx, owner);
    return status;
}

/* ---- the new surface ---- */

typedef struct new_surface {
    RBLI_ARRAY(int32_t) vertex_source;
    struct {
        double (*data)[3];
        size_t count, capacity;
    } positions;
    struct {
        int32_t (*data)[3];
        size_t count, capacity;
    } faces;
    RBLI_ARRAY(int32_t) face_source;
    RBLI_ARRAY(int32_t) weights_index;
    struct {
        double (*data)[3][3];
        size_t count, capacity;
    } weights;
} new_surface;

static void new_surface_free(rbl_context *ctx, new_surface *s)
{
    rbli_free(ctx, s->vertex_source.data);
    rbli_free(ctx, s->positions.data);
    rbli_free(ctx, s->faces.data);
    rbli_free(ctx, s->face_source.data);
    rbli_free(ctx, s->weights_index.data);
    rbli_free(ctx, s->weights.data);
}

static rbl_status append_old(
    rbl_context *ctx, new_surface *s, const rbl_collection *in, const ranges *r, size_t g)
{
    rbl_status status = RBL_OK;
    const double(*positions)[3] = rbli_collection_read(in, "vertex", "position", RBL_VEC3);
    size_t vertices = (size_t)r->vertex_count[g], faces = (size_t)r->face_count[g];
    int32_t shift = (int32_t)s->positions.count - r->vertex_start[g];
    RBL_TRY(rbli_array_reserve(ctx, &s->positions, vertices));
    RBL_TRY(rbli_array_reserve(ctx, &s->vertex_source, vertices));
    RBL_TRY(rbli_array_reserve(ctx, &s->faces, faces));
    RBL_TRY(rbli_array_reserve(ctx, &s->face_source, faces));
    RBL_TRY(rbli_array_reserve(ctx, &s->weights_index, faces));
    for (size_t i = 0; i < vertices; i++) {
        int32_t v = r->vertex_start[g] + (int32_t)i;
        memcpy(s->positions.data[s->positions.count++], positions[v], sizeof *positions);
        s->vertex_source.data[s->vertex_source.count++] = v;
    }
    for (size_t i = 0; i < faces; i++) {
        int32_t f = r->face_start[g] + (int32_t)i;
        for (int k = 0; k < 3; k++)
            s->faces.data[s->faces.count][k] = r->faces[f][k] + shift;
        s->faces.count++;
        s->face_source.data[s->face_source.count++] = f;
        s->weights_index.data[s->weights_index.count++] = -1;
    }
done:
    return status;
}

static rbl_status append_fused(rbl_context *ctx, new_surface *s, const rbli_fuse_result *r)
{
    rbl_status status = RBL_OK;
    int32_t shift = (int32_t)s->positions.count, weights_shift = (int32_t)s->weights.count;
    RBL_TRY(rbli_array_reserve(ctx, &s->positions, r->vertex_count));
    RBL_TRY(rbli_array_reserve(ctx, &s->vertex_source, r->vertex_count));
    RBL_TRY(rbli_array_reserve(ctx, &s->faces, r->triangle_count));
    RBL_TRY(rbli_array_reserve(ctx, &s->face_source, r->triangle_count));
    RBL_TRY(rbli_array_reserve(ctx, &s->weights_index, r->triangle_count));
    RBL_TRY(rbli_array_reserve(ctx, &s->weights, r->origins.weights_count));
    for (size_t v = 0; v < r->vertex_count; v++) {
        memcpy(s->positions.data[s->positions.count++], r->positions[v], sizeof *r->positions);
        s->vertex_source.data[s->vertex_source.count++] = r->vertex_source[v];
    }
    for (size_t f = 0; f < r->triangle_count; f++) {
        for (int k = 0; k < 3; k++)
            s->faces.data[s->faces.count][k] = r->triangles[f][k] + shift;
        s->faces.count++;
        s->face_source.data[s->face_source.count++] = r->origins.source[f];
        int32_t row = r->origins.weights_index[f];
        s->weights_index.data[s->weights_index.count++] = row < 0 ? -1 : row + weights_shift;
    }
    for (size_t i = 0; i < r->origins.weights_count; i++)
        memcpy(s->weights.data[s->weights.count++], r->origins.weights[i], sizeof *s->weights.data);
done:
    return status;
}

/// Replaces the surface by one in which groups are fused, and removes the bones that went into others.
static rbl_status replace_surface(
    tiny *t, const ranges *in, const int32_t *action, const fused *unions, bool *remove, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->ctx;
    size_t geometry_count = rbli_collection_size(to, "geometry");
    const int32_t *bone = rbli_collection_read(t->in, "geometry", "bone", RBL_INT32);
    int32_t *start[4] = {NULL, NULL, NULL, NULL};
    int32_t(*written)[4] = NULL;
    bool *kept = NULL;
    new_surface s = {0};
    RBL_TRY_ALLOC(written = rbli_alloc(ctx, geometry_count, sizeof *written));
    for (size_t g = 0; g < geometry_count; g++) {
        size_t v = s.positions.count, f = s.faces.count;
        int32_t what = bone[g] >= 0 ? action[bone[g]] : -1;
        if (what >= 0) {
            RBL_TRY(append_fused(ctx, &s, &unions[what].result));
        } else if (bone[g] < 0 || !remove[bone[g]]) {
            RBL_TRY(append_old(ctx, &s, t->in, in, g));
        }
        if (s.positions.count > INT32_MAX || s.faces.count > INT32_MAX / 3) {
            status = rbli_fail(ctx, RBL_ERR_LIMIT, "the joined surface is too large");
            goto done;
        }
        written[g][0] = (int32_t)v;
        written[g][1] = (int32_t)(s.positions.count - v);
        written[g][2] = (int32_t)f;
        written[g][3] = (int32_t)(s.faces.count - f);
    }
    rbli_surface_map map = {.vertex_count = s.positions.count,
        .positions = (const double(*)[3])s.positions.data,
        .vertex_source = s.vertex_source.data,
        .face_count = s.faces.count,
        .faces = (const int32_t(*)[3])s.faces.data,
        .face_source = s.face_source.data,
        .weights_index = s.weights_index.data,
        .weights = (const double(*)[3][3])s.weights.data};
    RBL_TRY(rbli_surface_replace(ctx, to, &map));
    static const char *const names[4] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    for (int i = 0; i < 4; i++) {
        RBL_TRY(rbli_collection_write(ctx, to, "geometry", names[i], RBL_INT32, (void **)&start[i]));
        for (size_t g = 0; g < geometry_count; g++)
            start[i][g] = written[g][i];
    }
    RBL_TRY_ALLOC(kept = rbli_alloc(ctx, geometry_count, sizeof *kept));
    for (size_t g = 0; g < geometry_count; g++)
        kept[g] = bone[g] < 0 || action[bone[g]] < 0;
    RBL_TRY(rbli_keep_collision_samples(ctx, to, kept));
    RBL_TRY(rbli_surface_measure(ctx, to, 0));
    RBL_TRY(rbli_hierarchy_remove_bones(ctx, to, remove));
done:
    rbli_free(ctx, kept);
    rbli_free(ctx, written);
    new_surface_free(ctx, &s);
    return status;
}

/// Hulls of pieces that grew no longer fit.
static rbl_status drop_hulls(tiny *t, const int32_t *action, rbl_collection *to)
{
    size_t count = rbli_collection_size(to, "convex");
    const int32_t *owner = rbli_collection_read(to, "convex", "bone", RBL_INT32);
    if (!owner || count == 0) return RBL_OK;
    bool *keep = rbli_alloc(t->ctx, count, sizeof *keep);
    if (!keep) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        keep[i] = action[owner[i]] < 0;
    rbl_status status = rbli_collection_filter(t->ctx, to, "convex", keep, NULL);
    rbli_free(t->ctx, keep);
    return status;
}

/// Area of the contacts inside each group.
static void sum_contacts(tiny *t, const groups *g, const int32_t *row_of, double *area)
{
    memset(area, 0, g->count * sizeof *area);
    for (size_t i = 0; i < t->touch_count; i++) {
        int32_t a = find_root(t->root, t->touches[i].piece_a), b = find_root(t->root, t->touches[i].piece_b);
        if (a == b && row_of[a] >= 0) area[row_of[a]] += t->touches[i].area;
    }
}

static rbl_status merge_geometry(tiny *t, const groups *g, rbl_collection *to, size_t *merged, size_t *apart)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->ctx;
    ranges in = read_ranges(t->in);
    fused *unions = NULL;
    int32_t *action = NULL, *row_of = NULL;
    double *area = NULL;
    bool *remove = NULL;
    RBL_TRY_ALLOC(unions = rbli_calloc(ctx, g->count, sizeof *unions));
    RBL_TRY_ALLOC(action = rbli_alloc(ctx, t->bone_count, sizeof *action));
    RBL_TRY_ALLOC(row_of = rbli_alloc(ctx, t->bone_count, sizeof *row_of));
    RBL_TRY_ALLOC(area = rbli_alloc(ctx, g->count, sizeof *area));
    RBL_TRY_ALLOC(remove = rbli_calloc(ctx, t->bone_count, sizeof *remove));
    memset(action, 0xff, t->bone_count * sizeof *action);
    memset(row_of, 0xff, t->bone_count * sizeof *row_of);
    for (size_t i = 0; i < g->count; i++)
        row_of[find_root(t->root, g->member[g->start[i]])] = (int32_t)i;
    sum_contacts(t, g, row_of, area);
    for (size_t i = 0; i < g->count; i++) {
        const int32_t *member = g->member + g->start[i];
        size_t count = g->start[i + 1] - g->start[i];
        if (rbli_cancelled(ctx)) {
            status = RBL_ERR_CANCELLED;
            goto done;
        }
        RBL_TRY(fuse_group(t, &in, member, count, g->largest[i], area[i], &unions[i]));
        if (!unions[i].good) {
            *apart += count - 1;
            continue;
        }
        *merged += count - 1;
        action[g->largest[i]] = (int32_t)i;
        for (size_t j = 0; j < count; j++)
            remove[member[j]] = member[j] != g->largest[i];
    }
    if (*merged > 0) {
        RBL_TRY(drop_hulls(t, action, to));
        RBL_TRY(replace_surface(t, &in, action, unions, remove, to));
    }
done:
    for (size_t i = 0; unions && i < g->count; i++)
        rbli_fuse_result_free(ctx, &unions[i].result);
    rbli_free(ctx, unions);
    rbli_free(ctx, action);
    rbli_free(ctx, row_of);
    rbli_free(ctx, area);
    rbli_free(ctx, remove);
    return status;
}

/* ---- clusters instead ---- */

static rbl_status merge_clusters(tiny *t, const groups *g, rbl_collection *to, size_t *merged)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = t->ctx;
    int32_t *parents = NULL, *parent, first;
    char **names = NULL;
    RBL_TRY_ALLOC(parents = rbli_alloc(ctx, g->count, sizeof *parents));
    RBL_TRY_ALLOC(names = rbli_calloc(ctx, g->count, sizeof *names));
    for (size_t i = 0; i < g->count; i++) {
        const char *name = rbli_collection_string(t->in, "bone", "name", (size_t)g->largest[i]);
        parents[i] = t->parent[g->largest[i]];
        RBL_TRY_ALLOC(names[i] = rbli_format(ctx, "%s_merged", name));
    }
    RBL_TRY(rbli_hierarchy_add_bones(
        ctx, to, g->count, parents, (const char *const *)names, RBLI_BONE_CLUSTER, &first));
    RBL_TRY(rbli_collection_write(ctx, to, "bone", "parent", RBL_INT32, (void **)&parent));
    for (size_t i = 0; i < g->count; i++)
        for (size_t j = g->start[i]; j < g->start[i + 1]; j++)
            parent[g->member[j]] = first + (int32_t)i;
    rbli_collection_remove_group(to, "connection");
    RBL_TRY(rbli_hierarchy_sort(ctx, to));
    *merged = g->member_count - g->count;
done:
    for (size_t i = 0; names && i < g->count; i++)
        rbli_free(ctx, names[i]);
    rbli_free(ctx, names);
    rbli_free(ctx, parents);
    return status;
}

/* ---- the whole ---- */

/// Says what was joined, which tiny pieces found nobody, and which have neighbours but share too little with
/// them.
static rbl_status report(tiny *t, const groups *g, size_t merged, size_t apart)
{
    size_t lonely = 0;
    int32_t first = -1;
    bool *unshared = rbli_calloc(t->ctx, t->bone_count, 1);
    if (!unshared) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < t->touch_count; i++) {
        int32_t a = t->touches[i].piece_a, b = t->touches[i].piece_b;
        if (may_join(t, a, b) && !is_shared(t, &t->touches[i])) unshared[a] = unshared[b] = true;
    }
    for (size_t i = 0; i < g->member_count; i++)
        t->may_be_tiny[g->member[i]] = t->must_join[g->member[i]] = false;
    for (size_t i = 0; i < t->leaf_count; i++) {
        int32_t b = t->leaves[i];
        if (!is_tiny(t, b)) continue;
        apart += unshared[b];
        if (!unshared[b] && lonely++ == 0) first = b;
    }
    rbli_free(t->ctx, unshared);
    if (merged > 0)
        rbli_note(t->ctx, "joined %zu tiny piece%s to neighbours", merged, merged == 1 ? "" : "s");
    if (lonely > 0)
        rbli_warn(t->ctx, "%zu tiny piece%s stayed: no neighbour that may be joined (first: \"%s\")", lonely,
            lonely == 1 ? "" : "s", rbli_collection_string(t->in, "bone", "name", (size_t)first));
    if (apart > 0)
        rbli_warn(t->ctx,
            "%zu tiny piece%s stayed apart: the pieces do not share their whole contact to the bit, so a "
            "union "
            "would keep inner walls",
            apart, apart == 1 ? "" : "s");
    return RBL_OK;
}

/// Proximity and connections as they were asked for before, of the new pieces.
static rbl_status renew_proximity(tiny *t, rbl_collection **collection)
{
    rbli_proximity_options options = {0};
    const double *area = rbli_collection_read(t->in, "proximity", "area", RBL_DOUBLE);
    options.contact_area = area && rbli_collection_size(t->in, "proximity") > 0 && area[0] >= 0;
    options.connection_graph = rbli_collection_has_group(t->in, "connection");
    rbl_collection *renewed = NULL;
    rbl_status status = rbli_proximity(t->ctx, *collection, &options, &renewed);
    if (status != RBL_OK) return status;
    rbli_collection_release(*collection);
    *collection = renewed;
    return RBL_OK;
}

rbl_status rbli_fix_tiny(
    rbl_context *ctx, const rbl_collection *in, const rbli_fix_tiny_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    tiny t = {.ctx = ctx, .in = in, .options = options};
    groups g = {0};
    rbl_collection *copy = NULL;
    size_t merged = 0, apart = 0;
    RBL_TRY(prepare(&t));
    RBL_TRY(rbli_leaf_contacts(ctx, in, &t.surface, 0, &t.touches, &t.touch_count));
    RBL_TRY(choose_groups(&t));
    RBL_TRY(list_groups(&t, &g));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    if (g.count > 0) {
        bool had_proximity = rbli_collection_has_group(in, "proximity");
        if (options->merge == RBLI_TINY_GEOMETRY) {
            rbli_collection_remove_group(copy, "contact");
            rbli_collection_remove_group(copy, "proximity");
            rbli_collection_remove_group(copy, "connection");
            RBL_TRY(merge_geometry(&t, &g, copy, &merged, &apart));
        } else {
            RBL_TRY(merge_clusters(&t, &g, copy, &merged));
        }
        if (had_proximity) RBL_TRY(renew_proximity(&t, &copy));
    }
    RBL_TRY(report(&t, &g, merged, apart));
    *out = copy;
    copy = NULL;
done:
    groups_free(&t, &g);
    tiny_free(&t);
    rbli_collection_release(copy);
    return status;
}
