/// Step 5 of MESHES.md: shells by paired edges, turned by flooding.

#include <math.h>
#include <stdlib.h>

#include "fracture/geometry/repair_internal.h"

typedef struct flooding {
    uint8_t *turned; /* [triangles] */
    int32_t *queue;  /* [triangles] */
    bool any;        /* some triangle of the shell at hand is turned */
} flooding;

static inline double area_of_corners(const double a[3], const double b[3], const double c[3])
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
    }
    double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
    return 0.5 * sqrt(x * x + y * y + z * z);
}

static double triangle_area(const repair *r, const repair_triangle *triangle)
{
    const int32_t *v = triangle->v;
    return area_of_corners(r->positions.data[v[0]], r->positions.data[v[1]], r->positions.data[v[2]]);
}

static int compare_indices(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return a < b ? -1 : a > b;
}

/// Reaches all triangles of the shell that starts with `seed`.
static rbl_status flood_shell(repair *r, flooding *flood, int32_t seed, repair_shell *shell)
{
    int32_t *queue = flood->queue + shell->start;
    int32_t number = (int32_t)r->shells.count;
    shell->orientable = shell->closed = true;
    flood->any = false;
    queue[shell->count++] = seed;
    r->shell_of[seed] = number;
    for (size_t i = 0; i < shell->count; i++) {
        if (rbli_poll(r->ctx, i + 1) != RBL_OK) return RBL_ERR_CANCELLED;
        int32_t t = queue[i];
        for (int k = 0; k < 3; k++) {
            int32_t h = 3 * t + k, g = r->mate[h];
            if (g < 0) {
                shell->closed = false;
                continue;
            }
            int32_t u = g / 3;
            uint8_t turned = flood->turned[t] ^ (half_tail(r, h) == half_tail(r, g));
            if (r->shell_of[u] < 0) {
                r->shell_of[u] = number;
                flood->turned[u] = turned;
                flood->any |= turned;
                queue[shell->count++] = u;
            } else if (flood->turned[u] != turned) {
                shell->orientable = false;
            }
        }
    }
    return RBL_OK;
}

/// The larger part of the area keeps the file's orientation; a shell without orientation keeps all of it.
static rbl_status vote_by_area(repair *r, flooding *flood, const repair_shell *shell)
{
    const int32_t *members = r->members + shell->start;
    double kept = 0, turned = 0;
    for (size_t i = 0; i < shell->count && !shell->orientable; i++)
        flood->turned[members[i]] = 0;
    for (size_t i = 0; i < shell->count; i++) {
        if (rbli_poll(r->ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        double area = triangle_area(r, &r->triangles.data[members[i]]);
        if (flood->turned[members[i]]) {
            turned += area;
        } else {
            kept += area;
        }
    }
    if (turned <= kept) return RBL_OK;
    for (size_t i = 0; i < shell->count; i++)
        flood->turned[members[i]] ^= 1;
    return RBL_OK;
}

static int32_t turned_half(const flooding *flood, int32_t h)
{
    if (h < 0 || !flood->turned[h / 3]) return h;
    return h / 3 * 3 + 2 - h % 3;
}

/// Turns the marked triangles and renames half-edges in mates: corner 1 and 2 change places, so edge 0 and 2
/// do.
static rbl_status apply_turns(repair *r, const flooding *flood)
{
    bool any = false;
    for (size_t t = 0; t < r->triangles.count; t++) {
        if (rbli_poll(r->ctx, t) != RBL_OK) return RBL_ERR_CANCELLED;
        if (!flood->turned[t]) continue;
        any = true;
        if (repair_flip_triangle(r, &r->triangles.data[t]) != RBL_OK) return RBL_ERR_NO_MEMORY;
        int32_t swap = r->mate[3 * t];
        r->mate[3 * t] = r->mate[3 * t + 2];
        r->mate[3 * t + 2] = swap;
    }
    if (!any) return RBL_OK;
    for (size_t h = 0; h < 3 * r->triangles.count; h++) {
        if (rbli_poll(r->ctx, h) != RBL_OK) return RBL_ERR_CANCELLED;
        r->mate[h] = turned_half(flood, r->mate[h]);
    }
    repair_forget_edges(r); /* they name half-edges, too */
    return repair_match_edges(r);
}

rbl_status repair_measure_shell(const repair *r, repair_shell *shell)
{
    const int32_t *members = r->members + shell->start;
    const double *o = r->positions.data[r->triangles.data[members[0]].v[0]];
    double min[3] = {o[0], o[1], o[2]}, max[3] = {o[0], o[1], o[2]}, volume = 0, total = 0;
    shell->filled_area = 0;
    shell->filled = false;
    for (size_t i = 0; i < shell->count; i++) {
        if (rbli_poll(r->ctx, i + 1) != RBL_OK) return RBL_ERR_CANCELLED;
        const repair_triangle *triangle = &r->triangles.data[members[i]];
        double p[3][3], d[3][3];
        for (int c = 0; c < 3; c++)
            memcpy(p[c], r->positions.data[triangle->v[c]], sizeof p[c]);
        double area = area_of_corners(p[0], p[1], p[2]);
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                d[c][k] = p[c][k] - o[k];
                min[k] = p[c][k] < min[k] ? p[c][k] : min[k];
                max[k] = p[c][k] > max[k] ? p[c][k] : max[k];
            }
        volume += d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) +
                  d[0][1] * (d[1][2] * d[2][0] - d[1][0] * d[2][2]) +
                  d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
        total += area;
        if (triangle->source < 0) {
            shell->filled_area += area;
            shell->filled = true;
        }
    }
    shell->volume = volume / 6;
    shell->area = total;
    memcpy(shell->min, min, sizeof shell->min);
    memcpy(shell->max, max, sizeof shell->max);
    return RBL_OK;
}

/// Shells of a mesh whose edges are clean: all are closed, and nothing is to be turned, so that no flood is
/// needed. They get the same numbers, by their least triangles.
static rbl_status join_clean(repair *r)
{
    rbl_status status = RBL_OK;
    int32_t count = (int32_t)r->triangles.count, *shell_of = r->shell_of;
    for (int32_t t = 0; t < count; t++)
        shell_of[t] = t; /* sets first, roots are least elements */
    for (int32_t t = 0; t < count; t++) {
        RBL_TRY(rbli_poll(r->ctx, (size_t)t));
        for (int k = 0; k < 3; k++) {
            int32_t neighbor = r->mate[3 * t + k] / 3;
            if (neighbor < t) unite(shell_of, neighbor, t);
        }
    }
    for (int32_t t = 0; t < count; t++) {
        RBL_TRY(rbli_poll(r->ctx, (size_t)t));
        int32_t parent = shell_of[t]; /* before t, so it has its number */
        if (parent == t) {
            shell_of[t] = (int32_t)r->shells.count;
            RBL_TRY(
                rbli_array_push(r->ctx, &r->shells, ((repair_shell){.orientable = true, .closed = true})));
        } else {
            shell_of[t] = shell_of[parent];
        }
        r->shells.data[shell_of[t]].count++;
    }
    size_t start = 0;
    for (size_t s = 0; s < r->shells.count; s++) {
        r->shells.data[s].start = start;
        start += r->shells.data[s].count;
        r->shells.data[s].count = 0;
    }
    for (int32_t t = 0; t < count; t++) {
        RBL_TRY(rbli_poll(r->ctx, (size_t)t));
        repair_shell *shell = &r->shells.data[shell_of[t]];
        r->members[shell->start + shell->count++] = t;
    }
done:
    return status;
}

/// Shells of any mesh.
static rbl_status flood_all(repair *r)
{
    rbl_status status = RBL_OK;
    size_t count = r->triangles.count, start = 0;
    flooding flood = {.queue = r->members};
    RBL_TRY_ALLOC(flood.turned = rbli_calloc(r->ctx, count, 1));
    memset(r->shell_of, 0xff, count * sizeof *r->shell_of);
    for (int32_t t = 0; t < (int32_t)count; t++) {
        if (r->shell_of[t] >= 0) continue;
        repair_shell shell = {.start = start};
        RBL_TRY(rbli_poll(r->ctx, r->shells.count));
        RBL_TRY(flood_shell(r, &flood, t, &shell));
        if (flood.any) RBL_TRY(vote_by_area(r, &flood, &shell));
        start += shell.count;
        RBL_TRY(rbli_array_push(r->ctx, &r->shells, shell));
    }
    for (size_t t = 0; t < count; t++)
        r->out->flipped_triangles += flood.turned[t];
    RBL_TRY(apply_turns(r, &flood));
    /* Members by number: sums then do not depend on how the flood ran. */
    size_t place = 0;
    if (r->shells.count == 1) {
        for (size_t t = 0; t < count; t++)
            r->members[t] = (int32_t)t;
    } else {
        for (size_t s = 0; s < r->shells.count; s++) {
            RBL_TRY(rbli_poll(r->ctx, s));
            repair_shell *shell = &r->shells.data[s];
            qsort(r->members + place, shell->count, sizeof *r->members, compare_indices);
            place += shell->count;
        }
    }
done:
    rbli_free(r->ctx, flood.turned);
    return status;
}

rbl_status repair_build_shells(repair *r)
{
    rbl_status status = RBL_OK;
    size_t count = r->triangles.count;
    r->shells.count = 0;
    RBL_TRY_ALLOC(r->members = rbli_alloc(r->ctx, count, sizeof *r->members));
    RBL_TRY_ALLOC(r->shell_of = rbli_alloc(r->ctx, count, sizeof *r->shell_of));
    RBL_TRY(r->edges.clean ? join_clean(r) : flood_all(r));
    for (size_t s = 0; s < r->shells.count; s++) {
        RBL_TRY(rbli_poll(r->ctx, s));
        RBL_TRY(repair_measure_shell(r, &r->shells.data[s]));
    }
done:
    return status;
}

rbl_status repair_turn_shell(repair *r, const repair_shell *shell)
{
    for (size_t i = 0; i < shell->count; i++) {
        if (rbli_poll(r->ctx, i + 1) != RBL_OK) return RBL_ERR_CANCELLED;
        int32_t t = r->members[shell->start + i];
        if (repair_flip_triangle(r, &r->triangles.data[t]) != RBL_OK) return RBL_ERR_NO_MEMORY;
        r->triangles.data[t].turned = !r->triangles.data[t].turned;
        int32_t swap = r->mate[3 * t];
        r->mate[3 * t] = r->mate[3 * t + 2];
        r->mate[3 * t + 2] = swap;
        for (int k = 0; k < 3; k++) {
            int32_t g = r->mate[3 * t + k];
            if (g >= 0) r->mate[3 * t + k] = g / 3 * 3 + 2 - g % 3;
        }
    }
    return RBL_OK;
}

rbl_status repair_shell_mesh(
    repair *r, const repair_shell *shell, const int32_t (*extra)[3], size_t extra_count, rbli_mesh_view *view)
{
    rbl_status status = RBL_OK;
    size_t count = shell->count + extra_count;
    double(*positions)[3] = NULL;
    int32_t(*triangles)[3] = NULL;
    RBL_TRY_ALLOC(positions = rbli_alloc(r->ctx, count * 3, sizeof *positions));
    RBL_TRY_ALLOC(triangles = rbli_alloc(r->ctx, count, sizeof *triangles));
    for (size_t i = 0; i < count; i++) {
        RBL_TRY(rbli_poll(r->ctx, i + 1));
        const int32_t *v =
            i < shell->count ? r->triangles.data[r->members[shell->start + i]].v : extra[i - shell->count];
        for (int k = 0; k < 3; k++) {
            memcpy(positions[3 * i + (size_t)k], r->positions.data[v[k]], sizeof *positions);
            triangles[i][k] = (int32_t)(3 * i) + k;
        }
    }
    *view = (rbli_mesh_view){(const double(*)[3])positions, count * 3, (const int32_t(*)[3])triangles, count};
    return RBL_OK;
done:
    rbli_free(r->ctx, positions);
    rbli_free(r->ctx, triangles);
    return status;
}

void repair_free_mesh(rbl_context *ctx, rbli_mesh_view *view)
{
    rbli_free(ctx, (void *)view->positions);
    rbli_free(ctx, (void *)view->triangles);
}
