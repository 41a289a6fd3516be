/// Splitting islands: a cut by one cell that holds everything, whose islands become the pieces.

#include "fracture/ops/split_islands.h"

static rbl_status make_one_cell(rbl_context *ctx, const rbli_cut_domain *domain, void *user,
    rbli_complex_facts *facts, rbli_cell_complex **out)
{
    (void)user;
    (void)facts;
    return rbli_plane_complex(ctx, NULL, 0, domain->box_min, domain->box_max, NULL, out);
}

rbl_status rbli_split_islands(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    double vertex_distance, double bridge_distance, rbli_fracture_result *out)
{
    rbli_fracture_options options = rbli_fracture_default_options();
    options.selection = selection;
    options.close_vertex_distance = vertex_distance;
    options.bridge_distance = bridge_distance;
    options.internal_material = NULL;
    options.number_pieces = true;
    options.make_complex = make_one_cell;
    return rbli_fracture(ctx, in, &options, out);
}
