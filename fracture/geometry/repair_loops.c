/// The open borders of a shell as simple loops.

#include <math.h>

#include "fracture/geometry/repair_internal.h"

void repair_loops_free(rbl_context *ctx, repair_loops *loops)
{
    rbli_free(ctx, loops->vertices.data);
    rbli_free(ctx, loops->start.data);
    rbli_free(ctx, loops->walk.data);
    rbli_free(ctx, loops->seen);
    rbli_free(ctx, loops->place);
    *loops = (repair_loops){0};
}

/// The open half-edge after h along the border: around the tip of h to the next one without a mate.
static int32_t next_open(const repair *r, int32_t h)
{
    int32_t g = half_next(h);
    while (r->mate[g] >= 0)
        g = half_next(r->mate[g]);
    return g;
}

static rbl_status add_loop(repair *r, repair_loops *loops, const int32_t *vertices, size_t count)
{
    if (count < 3) return RBL_OK; /* two open edges on each other: pairing closes them */
    size_t lowest = 0;
    for (size_t i = 1; i < count; i++)
        if (vertices[i] < vertices[lowest]) lowest = i;
    for (size_t i = 0; i < count; i++)
        if (rbli_array_push(r->ctx, &loops->vertices, vertices[(lowest + i) % count]) != RBL_OK)
            return RBL_ERR_NO_MEMORY;
    loops->count++;
    return rbli_array_push(r->ctx, &loops->start, (int32_t)loops->vertices.count);
}

/// Cuts a loop off the walk whenever a vertex comes again.
static rbl_status trace_one(repair *r, int32_t first, repair_loops *loops)
{
    rbl_status status = RBL_OK;
    int32_t h = first;
    loops->walk.count = 0;
    do {
        loops->seen[h] = 1;
        int32_t v = half_tail(r, h);
        if (loops->place[v] >= 0) {
            size_t begin = (size_t)loops->place[v];
            RBL_TRY(add_loop(r, loops, loops->walk.data + begin, loops->walk.count - begin));
            for (size_t i = begin; i < loops->walk.count; i++)
                loops->place[loops->walk.data[i]] = -1;
            loops->walk.count = begin;
        }
        loops->place[v] = (int32_t)loops->walk.count;
        RBL_TRY(rbli_array_push(r->ctx, &loops->walk, v));
        h = next_open(r, h);
    } while (h != first);
    RBL_TRY(add_loop(r, loops, loops->walk.data, loops->walk.count));
done:
    for (size_t i = 0; i < loops->walk.count; i++)
        loops->place[loops->walk.data[i]] = -1;
    return status;
}

rbl_status repair_trace_loops(repair *r, const repair_shell *shell, repair_loops *loops)
{
    rbl_status status = RBL_OK;
    const int32_t *members = r->members + shell->start;
    if (!loops->seen) {
        RBL_TRY_ALLOC(loops->seen = rbli_calloc(r->ctx, 3 * r->triangles.count, 1));
        RBL_TRY_ALLOC(loops->place = rbli_alloc(r->ctx, r->positions.count, sizeof *loops->place));
        memset(loops->place, 0xff, r->positions.count * sizeof *loops->place);
    }
    loops->vertices.count = loops->start.count = loops->count = 0;
    RBL_TRY(rbli_array_push(r->ctx, &loops->start, 0));
    for (size_t i = 0; i < shell->count; i++)
        for (int32_t h = 3 * members[i]; h < 3 * members[i] + 3; h++)
            if (r->mate[h] < 0 && !loops->seen[h]) RBL_TRY(trace_one(r, h, loops));
    for (size_t i = 0; i < shell->count; i++)
        for (int k = 0; k < 3; k++)
            loops->seen[3 * members[i] + k] = 0;
done:
    return status;
}

rbli_hole repair_describe_loop(const repair *r, const int32_t *vertices, size_t count)
{
    rbli_hole hole = {.shell = -1, .edge_count = (int32_t)count};
    for (size_t i = 0; i < count; i++) {
        const double *p = r->positions.data[vertices[i]], *q = r->positions.data[vertices[(i + 1) % count]];
        double x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
        hole.length += sqrt(x * x + y * y + z * z);
        for (int k = 0; k < 3; k++)
            hole.center[k] += p[k] / (double)count;
    }
    return hole;
}
