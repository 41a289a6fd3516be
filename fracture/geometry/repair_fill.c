/// Step 6 of MESHES.md: fills the holes of a shell when that gives a believable solid, else leaves it a
/// sheet.

#include <math.h>

#include "fracture/geometry/repair_internal.h"
#include "fracture/geometry/winding.h"

enum { MINIMAL_MOST = 160, SAMPLES = 1024 };

static const double PLANAR_DEVIATION = 1e-3; /* of the loop's size */
static const double FLAT_THICKNESS = 0.01;   /* 2 V / A, of the shell's diagonal */
static const double MOST_FILL = 0.75;        /* of the closed shell's area; a bent fill: of the given area */
static const double BAD_VOLUME = 0.05, BAD_FILL = 0.02;

typedef struct loop_plane {
    bool planar;
    double normal[3]; /* of the fill, a unit vector */
    double center[3], size, area;
    int32_t parent; /* the loop whose fill has this one as a hole, or −1 */
    int32_t hole;   /* of filler.holes once it is filled, or −1 */
} loop_plane;

/// The proposed fill of one shell.
typedef struct proposal {
    int32_t shell;
    size_t first, count;           /* range of filler.triangles */
    size_t first_hole, hole_count; /* range of filler.holes */
    double volume, area, filled_area;
    double min[3], max[3];
    bool planar, refused;
} proposal;

typedef struct fill_triangle {
    int32_t v[3], node;
    int32_t hole; /* of filler.holes */
} fill_triangle;

typedef struct filler {
    repair *r;
    repair_loops loops;
    repair_indices indices;
    RBLI_ARRAY(int32_t) reversed; /* the loops in the direction of the fill */
    RBLI_ARRAY(loop_plane) planes;
    RBLI_ARRAY(fill_triangle) triangles;
    RBLI_ARRAY(rbli_hole) holes;
    RBLI_ARRAY(proposal) proposals;
    RBLI_ARRAY(const int32_t *) group;
    RBLI_ARRAY(size_t) group_counts;
} filler;

static void set_why(repair *r, int32_t shell, repair_why why)
{
    const repair_shell *s = &r->shells.data[shell];
    for (size_t i = 0; i < s->count; i++)
        r->triangles.data[r->members[s->start + i]].why = (int8_t)why;
}

/* Planes of loops */

static size_t loop_count(const filler *f, size_t i)
{
    return (size_t)(f->loops.start.data[i + 1] - f->loops.start.data[i]);
}

static const int32_t *loop_of(const filler *f, size_t i)
{
    return f->reversed.data + f->loops.start.data[i];
}

static rbl_status reverse_loops(filler *f)
{
    f->reversed.count = 0;
    for (size_t i = 0; i < f->loops.count; i++) {
        int32_t begin = f->loops.start.data[i], end = f->loops.start.data[i + 1];
        /* Still from the lowest vertex. */
        if (rbli_array_push(f->r->ctx, &f->reversed, f->loops.vertices.data[begin]) != RBL_OK)
            return RBL_ERR_NO_MEMORY;
        for (int32_t j = end; --j > begin;)
            if (rbli_array_push(f->r->ctx, &f->reversed, f->loops.vertices.data[j]) != RBL_OK)
                return RBL_ERR_NO_MEMORY;
    }
    return RBL_OK;
}

static double deviation(const repair *r, const loop_plane *plane, const int32_t *loop, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const double *p = r->positions.data[loop[i]];
        double off = 0;
        for (int k = 0; k < 3; k++)
            off += (p[k] - plane->center[k]) * plane->normal[k];
        if (fabs(off) > most) most = fabs(off);
    }
    return most;
}

/// Newell's normal about the loop's middle.
static loop_plane plane_of_loop(const repair *r, const int32_t *loop, size_t count)
{
    loop_plane plane = {.parent = -1, .hole = -1};
    double min[3] = {0}, max[3] = {0};
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            double value = r->positions.data[loop[i]][k];
            plane.center[k] += value / (double)count;
            if (i == 0 || value < min[k]) min[k] = value;
            if (i == 0 || value > max[k]) max[k] = value;
        }
    for (int k = 0; k < 3; k++)
        plane.size += (max[k] - min[k]) * (max[k] - min[k]);
    plane.size = sqrt(plane.size);
    for (size_t i = 0; i < count; i++) {
        const double *p = r->positions.data[loop[i]], *q = r->positions.data[loop[(i + 1) % count]];
        double a[3], b[3];
        for (int k = 0; k < 3; k++) {
            a[k] = p[k] - plane.center[k];
            b[k] = q[k] - plane.center[k];
        }
        for (int k = 0; k < 3; k++)
            plane.normal[k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
    double length = sqrt(plane.normal[0] * plane.normal[0] + plane.normal[1] * plane.normal[1] +
                         plane.normal[2] * plane.normal[2]);
    plane.area = 0.5 * length;
    if (!(length > 0)) return plane;
    for (int k = 0; k < 3; k++)
        plane.normal[k] /= length;
    plane.planar = deviation(r, &plane, loop, count) <= PLANAR_DEVIATION * plane.size;
    return plane;
}

/// Whether p lies inside the loop, both seen along the plane's largest axis.
static bool loop_contains(
    const repair *r, const loop_plane *plane, const int32_t *loop, size_t count, int32_t vertex)
{
    int k = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(plane->normal[i]) > fabs(plane->normal[k])) k = i;
    int u = (k + 1) % 3, v = (k + 2) % 3, number = 0;
    const double *p = r->grid[vertex];
    for (size_t i = 0; i < count; i++) {
        const double *a = r->grid[loop[i]], *b = r->grid[loop[(i + 1) % count]];
        if (a[v] <= p[v]) {
            if (b[v] > p[v] && rbli_grid_orient2d(a, b, p, u, v) > 0) number++;
        } else if (b[v] <= p[v] && rbli_grid_orient2d(a, b, p, u, v) < 0) {
            number--;
        }
    }
    return number != 0;
}

/// A loop that turns the other way inside another one of the same plane is its hole.
static void nest_loops(filler *f)
{
    repair *r = f->r;
    loop_plane *planes = f->planes.data;
    for (size_t i = 0; i < f->loops.count; i++) {
        if (!planes[i].planar) continue;
        for (size_t j = 0; j < f->loops.count; j++) {
            if (j == i || !planes[j].planar || planes[j].area <= planes[i].area) continue;
            double dot = planes[i].normal[0] * planes[j].normal[0] +
                         planes[i].normal[1] * planes[j].normal[1] +
                         planes[i].normal[2] * planes[j].normal[2];
            if (dot >= 0) continue;
            if (planes[i].parent >= 0 && planes[planes[i].parent].area <= planes[j].area) continue;
            if (deviation(r, &planes[j], loop_of(f, i), loop_count(f, i)) > PLANAR_DEVIATION * planes[j].size)
                continue;
            if (loop_contains(r, &planes[j], loop_of(f, j), loop_count(f, j), loop_of(f, i)[0]))
                planes[i].parent = (int32_t)j;
        }
    }
}

/* Triangles of one fill */

static rbl_status fan_from_middle(filler *f, const int32_t *loop, size_t count, const double center[3])
{
    repair *r = f->r;
    int32_t middle = (int32_t)r->positions.count;
    if (rbli_array_reserve(r->ctx, &r->positions, 1) != RBL_OK) return RBL_ERR_NO_MEMORY;
    memcpy(r->positions.data[r->positions.count++], center, sizeof(repair_point));
    for (size_t i = 0; i < count; i++) {
        const int32_t triangle[3] = {loop[i], loop[(i + 1) % count], middle};
        for (int k = 0; k < 3; k++)
            if (rbli_array_push(r->ctx, &f->indices.list, triangle[k]) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    return RBL_OK;
}

/// The loop, then its holes.
static rbl_status group_with_holes(filler *f, size_t i)
{
    rbl_context *ctx = f->r->ctx;
    f->group.count = f->group_counts.count = 0;
    for (size_t j = 0; j <= f->loops.count; j++) {
        size_t loop = j == 0 ? i : j - 1;
        if (j > 0 && f->planes.data[loop].parent != (int32_t)i) continue;
        if (rbli_array_push(ctx, &f->group, loop_of(f, loop)) != RBL_OK) return RBL_ERR_NO_MEMORY;
        if (rbli_array_push(ctx, &f->group_counts, loop_count(f, loop)) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    return RBL_OK;
}

static rbl_status fill_loop(filler *f, size_t i, bool *as_plane)
{
    repair *r = f->r;
    const int32_t *loop = loop_of(f, i);
    size_t count = loop_count(f, i);
    bool done = false;
    *as_plane = f->planes.data[i].planar;
    f->indices.list.count = 0;
    if (f->planes.data[i].planar) {
        if (group_with_holes(f, i) != RBL_OK) return RBL_ERR_NO_MEMORY;
        if (repair_triangulate_planar(r, f->group.data, f->group_counts.data, f->group.count,
                f->planes.data[i].normal, &f->indices, &done) != RBL_OK)
            return RBL_ERR_NO_MEMORY;
        if (done) return RBL_OK;
        *as_plane = false;
        for (size_t j = 0; j < f->loops.count; j++) /* its holes are filled on their own */
            if (f->planes.data[j].parent == (int32_t)i) f->planes.data[j].parent = -1;
    }
    if (count <= MINIMAL_MOST) return repair_triangulate_minimal(r, loop, count, &f->indices);
    return fan_from_middle(f, loop, count, f->planes.data[i].center);
}

static rbl_status keep_fill(filler *f, size_t loop)
{
    repair *r = f->r;
    const int32_t *vertices = loop_of(f, loop);
    int32_t e = repair_find_edge(r, vertices[0], vertices[1]);
    int32_t node = e < 0 ? 0 : r->triangles.data[r->edges.half[r->edges.start[e]] / 3].node;
    for (size_t i = 0; i + 2 < f->indices.list.count; i += 3) {
        const int32_t *v = f->indices.list.data + i;
        fill_triangle triangle = {{v[0], v[1], v[2]}, node, (int32_t)f->holes.count};
        if (rbli_array_push(r->ctx, &f->triangles, triangle) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    rbli_hole hole = repair_describe_loop(r, vertices, loop_count(f, loop));
    hole.filled = true;
    int32_t parent = f->planes.data[loop].parent;
    if (parent >= 0) hole.shell = -2 - f->planes.data[parent].hole; /* whose triangles fill it */
    f->planes.data[loop].hole = (int32_t)f->holes.count;
    return rbli_array_push(r->ctx, &f->holes, hole);
}

/* Volume and area with the fill */

static void measure(const filler *f, proposal *p)
{
    const repair *r = f->r;
    const repair_shell *shell = &r->shells.data[p->shell];
    const double *o = r->positions.data[r->triangles.data[r->members[shell->start]].v[0]];
    double volume = 0;
    p->filled_area = 0;
    for (size_t i = 0; i < p->count; i++) {
        const int32_t *v = f->triangles.data[p->first + i].v;
        double d[3][3], n[3], u[3], w[3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                d[c][k] = r->positions.data[v[c]][k] - o[k];
        for (int k = 0; k < 3; k++) {
            u[k] = d[1][k] - d[0][k];
            w[k] = d[2][k] - d[0][k];
        }
        for (int k = 0; k < 3; k++)
            n[k] = u[(k + 1) % 3] * w[(k + 2) % 3] - u[(k + 2) % 3] * w[(k + 1) % 3];
        p->filled_area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        volume += (d[0][0] * n[0] + d[0][1] * n[1] + d[0][2] * n[2]) / 6;
    }
    p->volume = shell->volume + volume;
    p->area = shell->area + p->filled_area;
}

/* Refusals */

/// The share of sampled volume whose winding is not 1. Samples follow the additive recurrence of the plastic
/// number's generalisation (Roberts 2018), so they are the same for any order of triangles.
static rbl_status sample_bad_volume(const filler *f, const proposal *p, double *bad_share)
{
    rbl_status status = RBL_OK;
    repair *r = f->r;
    const repair_shell *shell = &r->shells.data[p->shell];
    rbli_mesh_view view = {0};
    rbli_winding *winding = NULL;
    int32_t(*extra)[3] = NULL;
    size_t inside = 0, bad = 0;
    RBL_TRY_ALLOC(extra = rbli_alloc(r->ctx, p->count, sizeof *extra));
    for (size_t i = 0; i < p->count; i++)
        memcpy(extra[i], f->triangles.data[p->first + i].v, sizeof *extra);
    RBL_TRY(repair_shell_mesh(r, shell, (const int32_t(*)[3])extra, p->count, &view));
    RBL_TRY(rbli_winding_create(r->ctx, &view, &winding));
    static const double step[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
    double place[3] = {0.5, 0.5, 0.5};
    for (int i = 0; i < SAMPLES; i++) {
        double point[3];
        for (int k = 0; k < 3; k++) {
            place[k] += step[k];
            if (place[k] >= 1) place[k] -= 1;
            point[k] = shell->min[k] + place[k] * (shell->max[k] - shell->min[k]);
        }
        int32_t number = rbli_winding_number(winding, point, NULL);
        if (p->volume < 0) number = -number;
        inside += number != 0;
        bad += number != 0 && number != 1;
    }
    *bad_share = inside ? (double)bad / (double)inside : 0;
done:
    rbli_winding_destroy(r->ctx, winding);
    repair_free_mesh(r->ctx, &view);
    rbli_free(r->ctx, extra);
    return status;
}

static rbl_status judge(filler *f, proposal *p)
{
    repair *r = f->r;
    const repair_shell *shell = &r->shells.data[p->shell];
    double diagonal = 0, bad_share = 0;
    if (r->options.fill == RBLI_FILL_ALL) return RBL_OK;
    for (int k = 0; k < 3; k++)
        diagonal += (shell->max[k] - shell->min[k]) * (shell->max[k] - shell->min[k]);
    diagonal = sqrt(diagonal);
    repair_why why = REPAIR_WHY_NOT_ASKED;
    if (2 * fabs(p->volume) < FLAT_THICKNESS * diagonal * p->area) {
        why = REPAIR_WHY_FLAT;
    } else if (p->filled_area > MOST_FILL * (p->planar ? p->area : p->area - p->filled_area)) {
        why = REPAIR_WHY_MOSTLY_FILL;
    } else if (p->filled_area > BAD_FILL * p->area) {
        if (sample_bad_volume(f, p, &bad_share) != RBL_OK) return RBL_ERR_NO_MEMORY;
        if (bad_share > BAD_VOLUME) why = REPAIR_WHY_CROSSING;
    }
    if (why == REPAIR_WHY_NOT_ASKED) return RBL_OK;
    p->refused = true;
    set_why(r, p->shell, why);
    return RBL_OK;
}

/* All shells */

static bool has_holes(const filler *f, size_t i)
{
    for (size_t j = 0; j < f->loops.count; j++)
        if (f->planes.data[j].parent == (int32_t)i) return true;
    return false;
}

/// Loops with holes come first, because a failure leaves their holes to be filled alone; holes of others come
/// last.
static rbl_status fill_loops(filler *f, bool *all_planar)
{
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < f->loops.count; i++) {
            bool is_hole = f->planes.data[i].parent >= 0, as_plane = true;
            if (f->planes.data[i].hole >= 0 || is_hole != (pass == 2)) continue;
            if (pass == 0 && !has_holes(f, i)) continue;
            f->indices.list.count = 0;
            if (!is_hole && fill_loop(f, i, &as_plane) != RBL_OK) return RBL_ERR_NO_MEMORY;
            if (keep_fill(f, i) != RBL_OK) return RBL_ERR_NO_MEMORY;
            *all_planar &= as_plane;
        }
    return RBL_OK;
}

/// Proposes a fill for every hole of an open shell, or says why not.
static rbl_status propose(filler *f, int32_t number)
{
    rbl_status status = RBL_OK;
    repair *r = f->r;
    const repair_shell *shell = &r->shells.data[number];
    proposal p = {.shell = number, .first = f->triangles.count, .first_hole = f->holes.count};
    set_why(r, number, shell->orientable ? REPAIR_WHY_NOT_ASKED : REPAIR_WHY_NOT_ORIENTABLE);
    if (!shell->orientable || r->options.fill == RBLI_FILL_NONE) return RBL_OK;
    RBL_TRY(repair_trace_loops(r, shell, &f->loops));
    if (f->loops.count == 0) {
        set_why(r, number, REPAIR_WHY_NO_LOOP);
        return RBL_OK;
    }
    RBL_TRY(reverse_loops(f));
    f->planes.count = 0;
    for (size_t i = 0; i < f->loops.count; i++)
        RBL_TRY(rbli_array_push(r->ctx, &f->planes, plane_of_loop(r, loop_of(f, i), loop_count(f, i))));
    nest_loops(f);
    bool all_planar = true;
    RBL_TRY(fill_loops(f, &all_planar));
    p.planar = all_planar;
    p.count = f->triangles.count - p.first;
    p.hole_count = f->holes.count - p.first_hole;
    measure(f, &p);
    if (r->options.fill == RBLI_FILL_PLANAR && !all_planar) {
        set_why(r, number, REPAIR_WHY_NOT_PLANAR);
        p.refused = true;
    } else {
        RBL_TRY(judge(f, &p));
    }
    RBL_TRY(rbli_array_push(r->ctx, &f->proposals, p));
done:
    return status;
}

/// A file that is inside out as a whole is turned: more of the closed area winds inwards than outwards.
static rbl_status vote_on_file(filler *f)
{
    repair *r = f->r;
    double inward = 0, outward = 0;
    for (size_t s = 0; s < r->shells.count; s++) {
        const repair_shell *shell = &r->shells.data[s];
        if (!shell->closed || !shell->orientable) continue;
        if (shell->volume < 0) inward += shell->area;
        if (shell->volume > 0) outward += shell->area;
    }
    for (size_t i = 0; i < f->proposals.count; i++) {
        const proposal *p = &f->proposals.data[i];
        if (p->refused) continue;
        if (p->volume < 0) inward += p->area;
        if (p->volume > 0) outward += p->area;
    }
    if (inward <= outward) return RBL_OK;
    repair_forget_edges(r);
    for (size_t s = 0; s < r->shells.count; s++) {
        repair_shell *shell = &r->shells.data[s];
        if (!shell->orientable) continue;
        rbl_status status = repair_turn_shell(r, shell);
        if (status == RBL_OK) status = repair_measure_shell(r, shell);
        if (status != RBL_OK) return status;
    }
    for (size_t i = 0; i < f->triangles.count; i++) {
        int32_t *v = f->triangles.data[i].v, swap = v[1];
        v[1] = v[2];
        v[2] = swap;
    }
    for (size_t i = 0; i < f->proposals.count; i++)
        f->proposals.data[i].volume = -f->proposals.data[i].volume;
    return RBL_OK;
}

static rbl_status apply(filler *f, const proposal *p)
{
    repair *r = f->r;
    int32_t first_hole = (int32_t)r->holes.count;
    for (size_t i = 0; i < p->hole_count; i++) {
        rbli_hole hole = f->holes.data[p->first_hole + i];
        if (hole.shell < -1) hole.shell += (int32_t)p->first_hole - first_hole;
        if (rbli_array_push(r->ctx, &r->holes, hole) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < p->count; i++) {
        const fill_triangle *from = &f->triangles.data[p->first + i];
        int32_t hole = from->hole - (int32_t)p->first_hole + first_hole;
        repair_triangle triangle = {.v = {from->v[0], from->v[1], from->v[2]},
            .node = from->node,
            .source = -1 - hole,
            .weights = -1};
        if (rbli_array_push(r->ctx, &r->triangles, triangle) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    return RBL_OK;
}

rbl_status repair_fill(repair *r, bool *changed)
{
    rbl_status status = RBL_OK;
    filler f = {.r = r};
    size_t position_count = r->positions.count;
    *changed = false;
    for (int32_t s = 0; s < (int32_t)r->shells.count; s++) {
        if (r->shells.data[s].closed && r->shells.data[s].orientable) continue;
        if (rbli_cancelled(r->ctx)) {
            status = RBL_ERR_CANCELLED;
            goto done;
        }
        RBL_TRY(propose(&f, s));
    }
    RBL_TRY(vote_on_file(&f));
    for (size_t i = 0; i < f.proposals.count; i++) {
        proposal *p = &f.proposals.data[i];
        if (p->refused) continue;
        if (p->volume < 0 && r->options.fill != RBLI_FILL_ALL) {
            set_why(r, p->shell, REPAIR_WHY_POCKET);
            continue;
        }
        RBL_TRY(apply(&f, p));
        *changed = true;
    }
    if (!*changed) r->positions.count = position_count; /* middles of fans that were refused */
done:
    repair_loops_free(r->ctx, &f.loops);
    rbli_free(r->ctx, f.indices.list.data);
    rbli_free(r->ctx, f.reversed.data);
    rbli_free(r->ctx, f.planes.data);
    rbli_free(r->ctx, f.triangles.data);
    rbli_free(r->ctx, f.holes.data);
    rbli_free(r->ctx, f.proposals.data);
    rbli_free(r->ctx, f.group.data);
    rbli_free(r->ctx, f.group_counts.data);
    return status;
}
