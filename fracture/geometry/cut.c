/// The cut: one arrangement of a closed mesh with a cell complex (CUT.md). The phases are in cut_*.c.

#include "fracture/geometry/cut.h"

#include "fracture/base/trace.h"
#include "fracture/geometry/cut_internal.h"

void cut_free_state(rbl_context *ctx, cut_state *s)
{
    void *arrays[] = {s->points, s->mesh.opposite, s->mesh.settled, s->mesh.vertex_half,
        (void *)s->mesh.normals, s->complex.triangles, s->complex.triangle_edges, s->complex.boxes,
        s->complex.measures, s->complex.edges, s->complex.loop_edge, s->complex.facet_triangle_start,
        s->complex.facet_axes, s->complex.side_start, s->complex.sides, s->cut_triangles, s->crossings,
        s->nodes, s->chains, s->bends, s->half_crossing, s->node_positions, s->node_sources, s->node_weights,
        s->vertex_label, s->k_winding, s->edge_node_start, s->edge_nodes, s->faces, s->made_caps,
        s->facet_caps, s->complex_sources, s->complex_places.words};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
    cut_tree_free(ctx, &s->mesh.open);
    cut_tree_free(ctx, &s->mesh.whole);
}

typedef struct fill {
    char *to;
    int byte;
} fill;

static rbl_status fill_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const fill *f = user;
    memset(f->to + begin, f->byte, end - begin);
    return RBL_OK;
}

rbl_status cut_fill(rbl_context *ctx, void *to, int byte, size_t bytes)
{
    enum { PART_BYTES = 1 << 19 };
    fill f = {to, byte};
    rbl_status status = rbli_touch_pages(ctx, to, bytes);
    if (status != RBL_OK) return status;
    return rbli_parallel_for(ctx, bytes, PART_BYTES, fill_block, &f);
}

/// Frees an array that is not needed any more.
#define RELEASE(ctx, array) (rbli_free((ctx), (void *)(array)), (array) = NULL)

/// Frees what only the search for crossings and the tracing of regions need; assembling takes the most memory.
static void free_search(rbl_context *ctx, cut_state *s)
{
    RELEASE(ctx, s->complex.boxes);
    RELEASE(ctx, s->complex.triangle_edges);
    RELEASE(ctx, s->complex.loop_edge);
    RELEASE(ctx, s->complex.side_start);
    RELEASE(ctx, s->complex.sides);
    RELEASE(ctx, s->mesh.settled);
    RELEASE(ctx, s->mesh.opposite);
    RELEASE(ctx, s->mesh.normals);
    RELEASE(ctx, s->half_crossing);
    RELEASE(ctx, s->chains);
    RELEASE(ctx, s->bends);
    RELEASE(ctx, s->k_winding);
    RELEASE(ctx, s->edge_nodes);
    cut_tree_free(ctx, &s->mesh.open);
    cut_tree_free(ctx, &s->mesh.whole);
    s->mesh.open = s->mesh.whole = (cut_tree){0};
}

void rbli_cut_result_destroy(rbl_context *ctx, rbli_cut_result *r)
{
    if (!r) return;
    void *arrays[] = {r->piece_cell, r->piece_volume, r->vertex_start, r->triangle_start, r->positions,
        r->vertex_source, r->triangles, r->origins.source, r->origins.weights_index, r->origins.weights,
        r->contacts, r};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
}

typedef rbl_status (*phase_fn)(rbl_context *ctx, cut_state *state);

rbl_status rbli_cut(rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_cell_complex *complex,
    const rbli_cut_options *options, rbli_cut_result **out)
{
    static const phase_fn phases[] = {cut_prepare_mesh, cut_prepare_complex, cut_settle, cut_flood,
        cut_label_all, cut_order_edges, cut_trace_mesh, cut_trace_facets};
    static const char *const names[] = {"cut: prepare mesh", "cut: prepare cells", "cut: settle",
        "cut: flood", "cut: label vertices", "cut: order edges", "cut: trace mesh", "cut: trace facets"};
    enum { PHASE_COUNT = sizeof phases / sizeof *phases };
    _Static_assert(sizeof names / sizeof *names == PHASE_COUNT, "each phase has a name");
    _Static_assert(PHASE_COUNT + 1 == RBLI_CUT_PHASES, "each phase has a time");
    rbl_status status = RBL_OK;
    bool drop = options && options->drop_outside;
    cut_state state = {.mesh_view = mesh,
        .complex_view = complex,
        .split_islands = !options || options->split_islands,
        .dropped_cells = drop ? complex->outside_cell_count : 0,
        .contacts_only = options && options->contacts_only};
    rbli_cut_result *result = NULL;
    RBL_TRY_ALLOC(result = rbli_calloc(ctx, 1, sizeof *result));
    int64_t before = rbli_activity_cpu_ns(ctx);
    for (int i = 0; i < PHASE_COUNT; i++) {
        RBLI_PHASE(ctx, names[i], phases[i](ctx, &state));
        int64_t after = rbli_activity_cpu_ns(ctx);
        result->phase_ms[i] = (double)(after - before) / 1e6;
        before = after;
        rbli_progress(ctx, (i + 1.0) / (PHASE_COUNT + 1));
    }
    free_search(ctx, &state);
    RBLI_PHASE(ctx, "cut: assemble", cut_assemble(ctx, &state, result));
    result->phase_ms[PHASE_COUNT] = (double)(rbli_activity_cpu_ns(ctx) - before) / 1e6;
    *out = result;
    result = NULL;
done:
    cut_free_state(ctx, &state);
    rbli_cut_result_destroy(ctx, result);
    return status;
}
