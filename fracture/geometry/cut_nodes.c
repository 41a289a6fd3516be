/// Where nodes lie, once labels have settled the order of ties, their weights, and the ends of chains as vertices.

#include "fracture/geometry/cut_internal.h"

enum { AHEAD = 8 }; /* triangles that memory is asked for before their chains are resolved */

static void interpolate(const double a[3], const double b[3], double t, double out[3])
{
    for (int axis = 0; axis < 3; axis++)
        out[axis] = t <= 0.5 ? a[axis] + t * (b[axis] - a[axis]) : b[axis] - (1 - t) * (b[axis] - a[axis]);
}

/// Rounds to the grid, so that vertices which coincide but for rounding coincide exactly. The threshold lies
/// away from simple fractions: those are what regular input gives, and they must not fall to either side by
/// chance.
static void round_to_grid(double p[3])
{
    for (int axis = 0; axis < 3; axis++)
        p[axis] = floor(p[axis] + 0.5857864376269049);
}

/// Source coordinates of a node: those of the mesh vertex at its grid point, where one of the candidates is.
static void place_source(const cut_state *s, const int32_t *candidates, int count, size_t node)
{
    const double *p = s->node_positions[node];
    for (int i = 0; i < count; i++) {
        const double *q = s->points[candidates[i]];
        if (p[0] != q[0] || p[1] != q[1] || p[2] != q[2]) continue;
        memcpy(s->node_sources[node], s->mesh_view->positions[candidates[i]], sizeof s->node_sources[node]);
        return;
    }
    rbli_grid_unsnap(&s->grid, p, s->node_sources[node]);
}

void cut_place_range(cut_state *s, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        if (i < s->crossing_count) {
            const cut_crossing *c = &s->crossings[i];
            int32_t ends[2] = {cut_half_start(s, c->half), cut_half_end(s, c->half)};
            interpolate(s->points[ends[0]], s->points[ends[1]], c->parameter, s->node_positions[i]);
            round_to_grid(s->node_positions[i]);
            place_source(s, ends, 2, i);
        } else {
            const cut_node *n = &s->nodes[i - s->crossing_count];
            const int32_t *edge = s->complex.edges[n->edge],
                          *corners = s->mesh_view->triangles[n->mesh_triangle];
            interpolate(s->points[edge[0]], s->points[edge[1]], n->parameter, s->node_positions[i]);
            round_to_grid(s->node_positions[i]);
            place_source(s, corners, 3, i);
            if (s->node_weights) /* each is a corner of several faces */
                cut_solve_weights(s, corners, s->node_positions[i], s->node_weights[i - s->crossing_count]);
        }
    }
}

static rbl_status place_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    cut_place_range(user, begin, end);
    return RBL_OK;
}

/// Turns the ends of chains into arrangement vertices.
static rbl_status resolve_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    cut_state *s = user;
    for (size_t i = begin; i < end; i++) {
        const cut_cut_triangle *record = &s->cut_triangles[i];
        if (i + AHEAD < end) cut_prefetch_sides(s, record[AHEAD].triangle);
        for (int32_t c = record->chain_start; c < record->chain_start + record->chain_count; c++) {
            cut_chain *chain = &s->chains[c];
            for (int which = 0; which < 2; which++) {
                if (chain->end[which] >= 0) {
                    chain->end[which] = cut_node_vertex(s, (size_t)chain->end[which]);
                    continue;
                }
                size_t first = 0, j = 0;
                size_t count = cut_crossings_of(
                    s, cut_half_owner(s, 3 * record->triangle + (-1 - chain->end[which])), &first);
                while (j < count && s->crossings[first + j].triangle != chain->end_triangle[which])
                    j++;
                if (j == count)
                    return rbli_fail(ctx, RBL_ERR_INTERNAL,
                        "cut: two mesh triangles disagree on their common edge (triangle %d)",
                        record->triangle);
                chain->end[which] = cut_crossing_vertex(s, first + j);
            }
            for (int32_t b = chain->bend_start; b < chain->bend_start + chain->bend_count; b++)
                s->bends[b] = cut_node_vertex(s, (size_t)s->bends[b]);
        }
    }
    return RBL_OK;
}

rbl_status cut_make_node_room(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    size_t count = state->crossing_count + state->node_count;
    RBL_TRY_ALLOC(state->node_positions = rbli_alloc(ctx, count, sizeof *state->node_positions));
    RBL_TRY_ALLOC(state->node_sources = rbli_alloc(ctx, count, sizeof *state->node_sources));
    if (!state->contacts_only && !state->unite)
        RBL_TRY_ALLOC(state->node_weights = rbli_alloc(ctx, state->node_count, sizeof *state->node_weights));
done:
    return status;
}

static rbl_status place_and_resolve(rbl_context *ctx, cut_state *state, size_t count)
{
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_parallel_for(ctx, count, CUT_PLACE_GRAIN, place_block, state));
    RBL_TRY(rbli_parallel_for(ctx, state->cut_triangle_count, 4096, resolve_block, state));
done:
    return status;
}

rbl_status cut_finish_chains(rbl_context *ctx, cut_state *state)
{
    return place_and_resolve(ctx, state, state->crossing_count);
}

rbl_status cut_place_nodes(rbl_context *ctx, cut_state *state)
{
    rbl_status status = cut_make_node_room(ctx, state);
    return status == RBL_OK ? place_and_resolve(ctx, state, state->crossing_count + state->node_count)
                            : status;
}
