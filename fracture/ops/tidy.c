/// Repairs from the inside out: what refers to nothing, the order of bones, then clusters; then a look at
/// what is left.

#include "fracture/ops/tidy.h"

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/face_graph.h"
#include "fracture/ops/collision_samples.h"
#include "fracture/ops/finish.h"
#include "fracture/ops/surface.h"

rbli_tidy_options rbli_tidy_default_options(void)
{
    return (rbli_tidy_options){.remove_unreferenced = true};
}

/* ---- what refers to nothing ---- */

/// Elements first … first + count − 1 of a group of `size` exist.
static bool range_exists(int32_t first, int32_t count, size_t size)
{
    return first >= 0 && count >= 0 && (size_t)first + (size_t)count <= size;
}

typedef struct references {
    rbl_context *ctx;
    rbl_collection *c;
    size_t bones, geometries, vertices, faces;
    int32_t *owner; /* [geometries] bone or −1 */
    bool *keep_vertex, *keep_face;
} references;

static void free_references(references *r)
{
    rbli_free(r->ctx, r->owner);
    rbli_free(r->ctx, r->keep_vertex);
    rbli_free(r->ctx, r->keep_face);
}

/// Finds which geometries, faces and vertices something has. False where the arrays to tell are missing: the
/// validator says so.
static rbl_status find_references(references *r, rbli_tidy_report *report, bool *possible)
{
    rbl_status status = RBL_OK;
    const rbl_collection *c = r->c;
    const int32_t *geometry = rbli_collection_read(c, "bone", "geometry", RBL_INT32);
    const int32_t *bone = rbli_collection_read(c, "geometry", "bone", RBL_INT32);
    const int32_t *range[4];
    static const char *const names[4] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    const int32_t(*faces)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    *possible = geometry && bone && faces && rbli_collection_read(c, "vertex", "position", RBL_VEC3);
    for (int i = 0; i < 4; i++)
        *possible &= (range[i] = rbli_collection_read(c, "geometry", names[i], RBL_INT32)) != NULL;
    if (!*possible || rbli_collection_size(c, "corner") != 3 * r->faces) {
        *possible = false;
        return RBL_OK;
    }
    RBL_TRY_ALLOC(r->owner = rbli_alloc(r->ctx, r->geometries, sizeof *r->owner));
    RBL_TRY_ALLOC(r->keep_vertex = rbli_calloc(r->ctx, r->vertices, sizeof *r->keep_vertex));
    RBL_TRY_ALLOC(r->keep_face = rbli_calloc(r->ctx, r->faces, sizeof *r->keep_face));
    for (size_t g = 0; g < r->geometries; g++) {
        int32_t b = bone[g];
        bool owned = b >= 0 && (size_t)b < r->bones && geometry[b] == (int32_t)g &&
                     range_exists(range[0][g], range[1][g], r->vertices) &&
                     range_exists(range[2][g], range[3][g], r->faces);
        r->owner[g] = owned ? b : -1;
        report->lost_geometries += !owned;
        for (int32_t f = range[2][g]; owned && f < range[2][g] + range[3][g]; f++) {
            r->keep_face[f] = true;
            for (int k = 0; k < 3; k++)
                if (faces[f][k] >= 0 && (size_t)faces[f][k] < r->vertices) r->keep_vertex[faces[f][k]] = true;
        }
    }
    for (size_t f = 0; f < r->faces; f++)
        report->lost_faces += !r->keep_face[f];
    for (size_t v = 0; v < r->vertices; v++)
        report->lost_vertices += !r->keep_vertex[v];
    for (size_t b = 0; b < r->bones; b++)
        report->lost_links += geometry[b] != -1 && (geometry[b] < 0 || (size_t)geometry[b] >= r->geometries ||
                                                       r->owner[geometry[b]] != (int32_t)b);
done:
    return status;
}

/// The new surface while it is laid out.
typedef struct fresh_surface {
    double (*positions)[3];
    int32_t (*faces)[3];
    int32_t *vertex_source, *face_source, *none, *new_vertex, *new_geometry, *geometry_source;
    int32_t (*ranges)[4]; /* by new geometry */
    bool *whole;          /* by new geometry: no vertex was lost */
    size_t vertex_count, face_count, geometry_count;
} fresh_surface;

static void free_fresh(rbl_context *ctx, fresh_surface *s)
{
    void *arrays[] = {s->positions, s->faces, s->vertex_source, s->face_source, s->none, s->new_vertex,
        s->new_geometry, s->geometry_source, s->ranges, s->whole};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
}

static rbl_status alloc_fresh(const references *r, fresh_surface *s)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = r->ctx;
    RBL_TRY_ALLOC(s->positions = rbli_alloc(ctx, r->vertices, sizeof *s->positions));
    RBL_TRY_ALLOC(s->faces = rbli_alloc(ctx, r->faces, sizeof *s->faces));
    RBL_TRY_ALLOC(s->vertex_source = rbli_alloc(ctx, r->vertices, sizeof *s->vertex_source));
    RBL_TRY_ALLOC(s->face_source = rbli_alloc(ctx, r->faces, sizeof *s->face_source));
    RBL_TRY_ALLOC(s->none = rbli_alloc(ctx, r->faces, sizeof *s->none));
    RBL_TRY_ALLOC(s->new_vertex = rbli_alloc(ctx, r->vertices, sizeof *s->new_vertex));
    RBL_TRY_ALLOC(s->new_geometry = rbli_alloc(ctx, r->geometries, sizeof *s->new_geometry));
    RBL_TRY_ALLOC(s->geometry_source = rbli_alloc(ctx, r->geometries, sizeof *s->geometry_source));
    RBL_TRY_ALLOC(s->ranges = rbli_alloc(ctx, r->geometries, sizeof *s->ranges));
    RBL_TRY_ALLOC(s->whole = rbli_alloc(ctx, r->geometries, sizeof *s->whole));
done:
    return status;
}

static int32_t read_range(const rbl_collection *c, const char *name, size_t g)
{
    return ((const int32_t *)rbli_collection_read(c, "geometry", name, RBL_INT32))[g];
}

/// Appends what is kept of one geometry. A face with a vertex outside of its geometry cannot be repaired.
static rbl_status append_geometry(const references *r, fresh_surface *s, size_t g)
{
    const double(*positions)[3] = rbli_collection_read(r->c, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(r->c, "face", "vertices", RBL_INT32_3);
    int32_t first = read_range(r->c, "vertex_start", g), count = read_range(r->c, "vertex_count", g);
    int32_t first_face = read_range(r->c, "face_start", g), face_count = read_range(r->c, "face_count", g);
    size_t n = s->geometry_count++, start = s->vertex_count, face_start = s->face_count;
    s->new_geometry[g] = (int32_t)n;
    s->geometry_source[n] = (int32_t)g;
    for (int32_t v = first; v < first + count; v++) {
        if (!r->keep_vertex[v]) continue;
        s->new_vertex[v] = (int32_t)s->vertex_count;
        s->vertex_source[s->vertex_count] = v;
        memcpy(s->positions[s->vertex_count++], positions[v], sizeof *positions);
    }
    for (int32_t f = first_face; f < first_face + face_count; f++) {
        for (int k = 0; k < 3; k++) {
            int32_t v = faces[f][k];
            if (v < first || v >= first + count)
                return rbli_fail(r->ctx, RBL_ERR_COLLECTION,
                    "face %d of geometry %zu has vertex %d, outside its %d … %d", (int)f, g, (int)v,
                    (int)first, (int)(first + count) - 1);
            s->faces[s->face_count][k] = s->new_vertex[v];
        }
        s->none[s->face_count] = -1;
        s->face_source[s->face_count++] = f;
    }
    s->ranges[n][0] = (int32_t)start;
    s->ranges[n][1] = (int32_t)(s->vertex_count - start);
    s->ranges[n][2] = (int32_t)face_start;
    s->ranges[n][3] = (int32_t)(s->face_count - face_start);
    s->whole[n] = s->ranges[n][1] == count;
    return RBL_OK;
}

/// Keeps the pairs whose two elements exist after renumbering, and renumbers them.
static rbl_status filter_pairs(rbl_context *ctx, rbl_collection *c, const char *group, const char *name,
    const int32_t *new_index, size_t count, bool really, size_t *lost)
{
    rbl_status status = RBL_OK;
    size_t size = rbli_collection_size(c, group);
    const int32_t(*pairs)[2] = rbli_collection_read(c, group, name, RBL_INT32_2);
    bool *keep = NULL;
    void *out;
    size_t gone = 0;
    if (!pairs || size == 0) return RBL_OK;
    RBL_TRY_ALLOC(keep = rbli_alloc(ctx, size, sizeof *keep));
    for (size_t i = 0; i < size; i++) {
        keep[i] = true;
        for (int k = 0; k < 2; k++)
            keep[i] &= pairs[i][k] >= 0 && (size_t)pairs[i][k] < count &&
                       (!new_index || new_index[pairs[i][k]] >= 0);
        gone += !keep[i];
    }
    *lost += gone;
    if (!really) goto done;
    if (gone) RBL_TRY(rbli_collection_filter(ctx, c, group, keep, NULL));
    if (!new_index) goto done;
    RBL_TRY(rbli_collection_write(ctx, c, group, name, RBL_INT32_2, &out));
    for (size_t i = 0; i < 2 * (size - gone); i++)
        ((int32_t *)out)[i] = new_index[((int32_t *)out)[i]];
done:
    rbli_free(ctx, keep);
    return status;
}

/// Replaces the surface by what is kept of it.
static rbl_status drop_surface(const references *r)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = r->ctx;
    rbl_collection *c = r->c;
    fresh_surface s = {0};
    size_t lost = 0;
    void *out;
    RBL_TRY(alloc_fresh(r, &s));
    for (size_t g = 0; g < r->geometries; g++) {
        s.new_geometry[g] = -1;
        if (r->owner[g] >= 0) RBL_TRY(append_geometry(r, &s, g));
    }
    rbli_surface_map map = {s.vertex_count, (const double(*)[3])s.positions, s.vertex_source, s.face_count,
        (const int32_t(*)[3])s.faces, s.face_source, s.none, NULL};
    RBL_TRY(rbli_surface_replace(ctx, c, &map));
    RBL_TRY(rbli_collection_gather(ctx, c, "geometry", s.geometry_source, s.geometry_count));
    static const char *const names[4] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    for (int i = 0; i < 4; i++) {
        RBL_TRY(rbli_collection_write(ctx, c, "geometry", names[i], RBL_INT32, &out));
        for (size_t g = 0; g < s.geometry_count; g++)
            ((int32_t *)out)[g] = s.ranges[g][i];
    }
    RBL_TRY(rbli_keep_collision_samples(ctx, c, s.whole));
    RBL_TRY(rbli_collection_write(ctx, c, "bone", "geometry", RBL_INT32, &out));
    for (size_t b = 0; b < r->bones; b++) {
        int32_t *g = &((int32_t *)out)[b];
        if (*g != -1) *g = s.new_geometry[*g];
    }
    RBL_TRY(filter_pairs(ctx, c, "proximity", "geometries", s.new_geometry, r->geometries, true, &lost));
    RBL_TRY(filter_pairs(ctx, c, "contact", "geometries", s.new_geometry, r->geometries, true, &lost));
done:
    free_fresh(ctx, &s);
    return status;
}

/// Bones that name a geometry of another have none.
static rbl_status drop_links(const references *r)
{
    rbl_status status = RBL_OK;
    void *out;
    RBL_TRY(rbli_collection_write(r->ctx, r->c, "bone", "geometry", RBL_INT32, &out));
    for (size_t b = 0; b < r->bones; b++) {
        int32_t *g = &((int32_t *)out)[b];
        if (*g < 0 || (size_t)*g >= r->geometries || r->owner[*g] != (int32_t)b) *g = -1;
    }
done:
    return status;
}

static rbl_status drop_hulls(const references *r, bool really, rbli_tidy_report *report)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(r->c, "convex");
    const int32_t *owner = rbli_collection_read(r->c, "convex", "bone", RBL_INT32);
    bool *keep = NULL;
    if (!owner || count == 0) return RBL_OK;
    RBL_TRY_ALLOC(keep = rbli_alloc(r->ctx, count, sizeof *keep));
    for (size_t h = 0; h < count; h++) {
        keep[h] = owner[h] >= 0 && (size_t)owner[h] < r->bones;
        report->lost_hulls += !keep[h];
    }
    if (really && report->lost_hulls) RBL_TRY(rbli_collection_filter(r->ctx, r->c, "convex", keep, NULL));
done:
    rbli_free(r->ctx, keep);
    return status;
}

static rbl_status drop_unreferenced(
    rbl_context *ctx, rbl_collection *c, bool really, rbli_tidy_report *report)
{
    rbl_status status = RBL_OK;
    references r = {.ctx = ctx,
        .c = c,
        .bones = rbli_collection_size(c, "bone"),
        .geometries = rbli_collection_size(c, "geometry"),
        .vertices = rbli_collection_size(c, "vertex"),
        .faces = rbli_collection_size(c, "face")};
    bool possible;
    RBL_TRY(drop_hulls(&r, really, report));
    RBL_TRY(filter_pairs(ctx, c, "connection", "bones", NULL, r.bones, really, &report->lost_pairs));
    RBL_TRY(find_references(&r, report, &possible));
    if (!possible) goto done;
    if (report->lost_links) RBL_TRY(drop_links(&r));
    RBL_TRY(filter_pairs(ctx, c, "proximity", "geometries", NULL, r.geometries, really, &report->lost_pairs));
    RBL_TRY(filter_pairs(ctx, c, "contact", "geometries", NULL, r.geometries, really, &report->lost_pairs));
    if (really && (report->lost_geometries || report->lost_faces || report->lost_vertices))
        RBL_TRY(drop_surface(&r));
done:
    free_references(&r);
    return status;
}

/* ---- bones ---- */

/// Parents before children and levels, if they are not so.
static rbl_status fix_order(rbl_context *ctx, rbl_collection *c, rbli_tidy_report *report)
{
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    const int32_t *level = rbli_collection_read(c, "bone", "level", RBL_INT32);
    size_t bones = rbli_collection_size(c, "bone");
    for (size_t b = 0; parent && b < bones && !report->order_fixed; b++) {
        bool behind = parent[b] < (int32_t)b && parent[b] >= -1;
        int32_t expected = behind && parent[b] >= 0 && level ? level[parent[b]] + 1 : 0;
        report->order_fixed = !behind || !level || level[b] != expected;
    }
    return report->order_fixed ? rbli_hierarchy_sort(ctx, c) : RBL_OK;
}

static rbl_status remove_dangling(rbl_context *ctx, rbl_collection *c, bool really, rbli_tidy_report *report)
{
    rbl_status status = RBL_OK;
    size_t bones = rbli_collection_size(c, "bone");
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    const int32_t *geometry = rbli_collection_read(c, "bone", "geometry", RBL_INT32);
    bool *remove = rbli_alloc(ctx, bones, sizeof *remove);
    RBL_TRY_ALLOC(remove);
    for (size_t b = 0; b < bones; b++)
        remove[b] = geometry[b] < 0;
    for (size_t b = bones; b-- > 0;)
        if (!remove[b] && parent[b] >= 0) remove[parent[b]] = false;
    for (size_t b = 0; b < bones; b++)
        report->dangling += remove[b];
    if (report->dangling == bones && bones > 0) { /* a collection keeps a bone */
        remove[0] = false;
        report->dangling--;
    }
    if (really && report->dangling) RBL_TRY(rbli_hierarchy_remove_bones(ctx, c, remove));
done:
    rbli_free(ctx, remove);
    return status;
}

/// The child of a removed cluster takes over its connections.
static rbl_status hand_on_connections(
    rbl_context *ctx, rbl_collection *c, const bool *remove, const int32_t *only_child)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(c, "connection");
    void *out;
    if (count == 0) return RBL_OK;
    RBL_TRY(rbli_collection_write(ctx, c, "connection", "bones", RBL_INT32_2, &out));
    int32_t(*pairs)[2] = out;
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < 2; k++)
            while (remove[pairs[i][k]])
                pairs[i][k] = only_child[pairs[i][k]];
        if (pairs[i][0] > pairs[i][1]) {
            int32_t swap = pairs[i][0];
            pairs[i][0] = pairs[i][1];
            pairs[i][1] = swap;
        }
    }
done:
    return status;
}

static rbl_status remove_clusters_of_one(
    rbl_context *ctx, rbl_collection *c, bool really, rbli_tidy_report *report)
{
    rbl_status status = RBL_OK;
    size_t bones = rbli_collection_size(c, "bone");
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    const int32_t *type = rbli_collection_read(c, "bone", "type", RBL_INT32);
    int32_t *children = rbli_calloc(ctx, bones, sizeof *children);
    int32_t *only_child = rbli_alloc(ctx, bones, sizeof *only_child);
    bool *remove = rbli_calloc(ctx, bones, sizeof *remove);
    RBL_TRY_ALLOC(children);
    RBL_TRY_ALLOC(only_child);
    RBL_TRY_ALLOC(remove);
    for (size_t b = 0; b < bones; b++)
        if (parent[b] >= 0) {
            children[parent[b]]++;
            only_child[parent[b]] = (int32_t)b;
        }
    for (size_t b = 0; b < bones; b++) {
        remove[b] = parent[b] >= 0 && type[b] == RBLI_BONE_CLUSTER && children[b] == 1;
        report->clusters_of_one += remove[b];
    }
    if (!really || report->clusters_of_one == 0) goto done;
    RBL_TRY(hand_on_connections(ctx, c, remove, only_child));
    RBL_TRY(rbli_hierarchy_remove_bones(ctx, c, remove));
done:
    rbli_free(ctx, children);
    rbli_free(ctx, only_child);
    rbli_free(ctx, remove);
    return status;
}

/* ---- what is left ---- */

typedef struct look {
    const rbl_collection *c;
    const int32_t *type, *geometry, *vertex_start, *vertex_count, *face_start, *face_count;
    const int32_t (*faces)[3];
    const double (*positions)[3], *volume;
    const bool *sheet;
    struct findings {
        bool piece, open, inside_out, empty;
        size_t flat_faces;
    } * found; /* by bone */
} look;

static bool has_area(const double a[3], const double b[3], const double c[3])
{
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        if ((b[i] - a[i]) * (c[j] - a[j]) != (b[j] - a[j]) * (c[i] - a[i])) return true;
    }
    return false;
}

static rbl_status look_at_bones(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const look *l = user;
    for (size_t b = begin; b < end; b++) {
        int32_t g = l->geometry[b], *opposite = NULL;
        l->found[b].empty = l->type[b] == RBLI_BONE_RIGID && g < 0;
        if (g < 0) continue;
        const int32_t(*faces)[3] = l->faces + l->face_start[g];
        size_t count = (size_t)l->face_count[g];
        for (size_t f = 0; f < count; f++)
            l->found[b].flat_faces +=
                !has_area(l->positions[faces[f][0]], l->positions[faces[f][1]], l->positions[faces[f][2]]);
        if (l->sheet && l->sheet[b]) continue;
        rbl_status status =
            rbli_face_graph(ctx, faces, count, l->vertex_start[g], (size_t)l->vertex_count[g], &opposite);
        if (status != RBL_OK) return status;
        l->found[b].piece = true;
        l->found[b].inside_out = !(l->volume[g] > 0);
        for (size_t c = 0; c < 3 * count; c++)
            l->found[b].open |= opposite[c] < 0;
        rbli_free(ctx, opposite);
    }
    return RBL_OK;
}

/// Counts faults of pieces; the ranges hold and faces stay inside their geometry.
static rbl_status look_at_pieces(rbl_context *ctx, const rbl_collection *c, rbli_tidy_report *report)
{
    rbl_status status = RBL_OK;
    size_t bones = rbli_collection_size(c, "bone");
    look l = {.c = c,
        .type = rbli_collection_read(c, "bone", "type", RBL_INT32),
        .geometry = rbli_collection_read(c, "bone", "geometry", RBL_INT32),
        .vertex_start = rbli_collection_read(c, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(c, "geometry", "vertex_count", RBL_INT32),
        .face_start = rbli_collection_read(c, "geometry", "face_start", RBL_INT32),
        .face_count = rbli_collection_read(c, "geometry", "face_count", RBL_INT32),
        .faces = rbli_collection_read(c, "face", "vertices", RBL_INT32_3),
        .positions = rbli_collection_read(c, "vertex", "position", RBL_VEC3),
        .volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE),
        .sheet = rbli_collection_read(c, "bone", "sheet", RBL_BOOL)};
    RBL_TRY_ALLOC(l.found = rbli_calloc(ctx, bones, sizeof *l.found));
    RBL_TRY(rbli_parallel_for(ctx, bones, 4, look_at_bones, &l));
    for (size_t b = 0; b < bones; b++) {
        report->pieces += l.found[b].piece;
        report->empty_bones += l.found[b].empty;
        report->flat_faces += l.found[b].flat_faces;
        if (l.found[b].open && report->open_pieces++ == 0) report->first_open = (int32_t)b;
        if (l.found[b].inside_out && report->inside_out_pieces++ == 0) report->first_inside_out = (int32_t)b;
    }
done:
    rbli_free(ctx, l.found);
    return status;
}

/// What the validator says first at a level, without saying it to the run; NULL when all is well.
static rbl_status first_fault(
    rbl_context *ctx, const rbl_collection *c, rbli_validate_level level, char **fault)
{
    rbl_status status = RBL_OK;
    rbl_context quiet = *ctx;
    *fault = NULL;
    RBL_TRY_ALLOC(quiet.messages = rbli_messages_create(ctx->allocator));
    status = rbli_collection_validate(&quiet, c, level);
    if (status == RBL_ERR_COLLECTION) {
        /* without memory there is no message */
        if (rbli_messages_count(quiet.messages) > 0)
            *fault = rbli_strdup(ctx, rbli_messages_get(quiet.messages, 0)->text);
        status = *fault ? RBL_OK : RBL_ERR_NO_MEMORY;
    }
done:
    rbli_messages_destroy(quiet.messages);
    return status;
}

rbl_status rbli_tidy(rbl_context *ctx, const rbl_collection *in, const rbli_tidy_options *options,
    rbli_tidy_report *report, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbli_tidy_report r = {.first_open = -1, .first_inside_out = -1};
    rbl_collection *c = NULL;
    RBL_TRY(rbli_collection_copy(ctx, in, &c));
    RBL_TRY(drop_unreferenced(ctx, c, options->remove_unreferenced, &r));
    RBL_TRY(fix_order(ctx, c, &r));
    RBL_TRY(rbli_collection_validate(ctx, c, RBLI_VALIDATE_RANGES));
    RBL_TRY(remove_dangling(ctx, c, options->remove_dangling_clusters, &r));
    RBL_TRY(remove_clusters_of_one(ctx, c, options->remove_clusters_of_one, &r));
    RBL_TRY(rbli_join_roots(ctx, c, &r.roots));
    RBL_TRY(first_fault(ctx, c, RBLI_VALIDATE_GEOMETRY, &r.fault));
    if (!r.fault) {
        RBL_TRY(look_at_pieces(ctx, c, &r));
        RBL_TRY(first_fault(ctx, c, RBLI_VALIDATE_CLOSED, &r.fault));
    }
    *report = r;
    r.fault = NULL;
    *out = c;
    c = NULL;
done:
    rbli_free(ctx, r.fault);
    rbli_collection_release(c);
    return status;
}
