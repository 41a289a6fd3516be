/// From triangles as files hold them to closed, oriented, manifold shells: the order of the steps
/// (MESHES.md).
///
/// Whatever adds, moves or removes triangles is followed by a new canonical order, and neighbours are found
/// again from the triangles alone; so the result depends on the set of triangles, and repairing it again
/// changes nothing.

#include <math.h>

#include "fracture/base/trace.h"
#include "fracture/geometry/repair_internal.h"

enum { MAX_ROUNDS = 8 };

rbli_repair_options rbli_repair_default_options(void)
{
    return (rbli_repair_options){
        .stitch = 1e-6, .fill = RBLI_FILL_AUTO, .nested_cavity = false, .self_crossings = true};
}

void rbli_repair_result_destroy(rbl_context *ctx, rbli_repair_result *result)
{
    if (!result) return;
    rbli_free(ctx, result->positions);
    rbli_free(ctx, result->triangles);
    rbli_free(ctx, result->triangle_node);
    rbli_free(ctx, result->origins.source);
    rbli_free(ctx, result->origins.weights_index);
    rbli_free(ctx, result->origins.weights);
    rbli_free(ctx, result->shells);
    rbli_free(ctx, result->holes);
    rbli_free(ctx, result);
}

static void free_repair(repair *r)
{
    repair_forget(r);
    rbli_free(r->ctx, r->positions.data);
    rbli_free(r->ctx, r->grid);
    rbli_free(r->ctx, r->triangles.data);
    rbli_free(r->ctx, r->weights.data);
    rbli_free(r->ctx, r->fins.data);
    rbli_free(r->ctx, r->holes.data);
    rbli_free(r->ctx, r->shells.data);
}

static rbl_status poll(const repair *r)
{
    return rbli_cancelled(r->ctx) ? RBL_ERR_CANCELLED : RBL_OK;
}

static rbl_status count_nonmanifold_edges(repair *r)
{
    if (r->edges.clean) return RBL_OK;
    for (size_t e = 0; e < r->edges.count; e++) {
        if (rbli_poll(r->ctx, e) != RBL_OK) return RBL_ERR_CANCELLED;
        r->out->nonmanifold_edges += r->edges.start[e + 1] - r->edges.start[e] > 2;
    }
    return RBL_OK;
}

/// Everything before shells: what must not stay in the mesh, and borders that belong together.
static rbl_status clean(repair *r)
{
    rbl_status status = RBL_OK;
    RBL_TRY(repair_match_edges(r));
    if (r->edges.clean) return RBL_OK;
    RBL_TRY(repair_drop_zero_area(r));
    RBL_TRY(repair_drop_duplicates(r));
    size_t before = r->out->stitched_vertices + r->out->split_edges;
    RBL_TRY(repair_stitch(r));
    if (r->out->stitched_vertices + r->out->split_edges > before) {
        RBL_TRY(repair_drop_zero_area(r));
        RBL_TRY(repair_drop_duplicates(r));
    }
    RBL_TRY(repair_drop_membranes(r));
done:
    return status;
}

static rbl_status find_shells(repair *r)
{
    rbl_status status = RBL_OK;
    RBL_TRY(poll(r));
    RBL_TRY(repair_pair(r));
    RBL_TRY(repair_build_shells(r));
done:
    return status;
}

/// Shells without fins inside.
static rbl_status find_shells_without_fins(repair *r)
{
    rbl_status status = RBL_OK;
    bool changed = true;
    for (int round = 0; changed && round < MAX_ROUNDS; round++) {
        RBL_TRY(find_shells(r));
        RBL_TRY(repair_match_edges(r));
        if (r->edges.clean) break;
        RBL_TRY(repair_take_fins(r, &changed));
    }
    if (!r->shell_of) RBL_TRY(find_shells(r));
done:
    return status;
}

static rbl_status fill_and_split(repair *r)
{
    rbl_status status = RBL_OK;
    bool changed = false;
    RBL_TRY(repair_fill(r, &changed));
    if (changed) {
        r->changed = true;
        RBL_TRY(repair_reindex(r));
        RBL_TRY(find_shells(r));
    }
    for (int round = 0; round < MAX_ROUNDS; round++) {
        RBL_TRY(repair_split_double_edges(r, &changed));
        if (!changed) break;
        r->changed = true;
        RBL_TRY(repair_reindex(r));
        RBL_TRY(find_shells(r));
    }
done:
    return status;
}

/// From welded triangles to shells with kinds. @param shells set to an array of kinds
static rbl_status settle(repair *r, rbli_shell **shells)
{
    rbl_status status = RBL_OK;
    RBL_TRY(poll(r));
    RBL_TRY(clean(r));
    RBL_TRY(find_shells_without_fins(r));
    RBL_TRY(fill_and_split(r));
    RBL_TRY(poll(r));
    rbli_free(r->ctx, *shells);
    RBL_TRY_ALLOC(*shells = rbli_calloc(r->ctx, r->shells.count, sizeof **shells));
    RBL_TRY(repair_decide_signs(r, *shells));
done:
    return status;
}

static rbl_status run(repair *r)
{
    rbl_status status = RBL_OK;
    rbli_shell *shells = NULL;
    RBLI_PHASE(r->ctx, "repair: weld", repair_weld(r));
    r->tolerance = isfinite(r->diagonal) ? r->options.stitch * r->diagonal : 0;
    RBL_TRY(repair_match_edges(r));
    RBL_TRY(count_nonmanifold_edges(r));
    for (int round = 0; round < MAX_ROUNDS; round++) {
        r->changed = false;
        RBLI_PHASE(r->ctx, "repair: settle", settle(r, &shells));
        /* Around edges of more than two triangles, neighbours depend on all of them and on how they are
         * turned. */
        if (!r->changed) break;
        repair_forget_edges(r);
        RBL_TRY(repair_match_edges(r));
        if (r->edges.clean) break;
        if (round + 1 < MAX_ROUNDS) RBL_TRY(repair_reindex(r));
    }
    RBLI_PHASE(r->ctx, "repair: write", repair_write(r, shells));
done:
    rbli_free(r->ctx, shells);
    return status;
}

rbl_status rbli_repair(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *node,
    const rbli_repair_options *options, rbli_repair_result **out)
{
    rbl_status status = RBL_OK;
    rbli_repair_result *result = rbli_calloc(ctx, 1, sizeof *result);
    repair r = {.ctx = ctx, .mesh = mesh, .node = node, .out = result};
    r.options = options ? *options : rbli_repair_default_options();
    RBL_TRY_ALLOC(result);
    RBL_TRY(run(&r));
    *out = result;
    result = NULL;
done:
    free_repair(&r);
    rbli_repair_result_destroy(ctx, result);
    return status;
}
