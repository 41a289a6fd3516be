/// Which cell each mesh vertex lies in, and how often the mesh winds around each vertex of the complex. Both
/// spread along edges; crossings say what changes on the way. Only parts without any crossing need a query.

#include "fracture/geometry/cut_internal.h"

/* ---- order along edges ---- */

enum { AHEAD = 16 }; /* crossings that memory is asked for before they are read */

/// Parameters are good to 2^-50; closer ones are compared exactly.
static const double PARAMETER_MARGIN = 1e-14;

static int compare_along_mesh_edge(const cut_state *state, const cut_crossing *a, const cut_crossing *b)
{
    double difference = a->parameter - b->parameter;
    if (fabs(difference) > PARAMETER_MARGIN) return difference < 0 ? -1 : 1;
    return rbli_compare_crossings(&state->orient, cut_half_start(state, a->half),
        cut_half_end(state, a->half), state->complex.triangles[a->triangle].v,
        state->complex.triangles[b->triangle].v);
}

static void rotate_to(cut_crossing *crossings, size_t from, size_t to)
{
    cut_crossing moving = crossings[from];
    for (size_t i = from; i > to; i--)
        crossings[i] = crossings[i - 1];
    crossings[to] = moving;
}

/// Depth-first with backtracking; `budget` bounds the work.
static bool chain_from(cut_crossing *crossings, size_t count, size_t position, int32_t start, int *budget)
{
    if (position == count) return true;
    if (--*budget < 0) return false;
    for (size_t i = position; i < count; i++) {
        if (crossings[i].from != start) continue;
        rotate_to(crossings, i, position);
        if (chain_from(crossings, count, position + 1, crossings[position].to, budget)) return true;
        cut_crossing moving = crossings[position]; /* put it back */
        for (size_t j = position; j < i; j++)
            crossings[j] = crossings[j + 1];
        crossings[i] = moving;
    }
    return false;
}

bool cut_chain_crossings(cut_crossing *crossings, size_t count, int32_t start)
{
    int32_t label = start;
    size_t i = 0;
    for (; i < count; i++) {
        size_t j = i;
        while (j < count && crossings[j].from != label)
            j++;
        if (j == count) break;
        rotate_to(crossings, j, i);
        label = crossings[i].to;
    }
    if (i == count) return true;
    int budget = 10000;
    return count <= 64 && chain_from(crossings, count, 0, start, &budget);
}

/// The cell that is left once more than it is entered; the first one where the walk returns to its start.
static int32_t chain_start(const cut_crossing *crossings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int net = 0;
        for (size_t j = 0; j < count; j++)
            net += (crossings[j].from == crossings[i].from) - (crossings[j].to == crossings[i].from);
        if (net > 0) return crossings[i].from;
    }
    return crossings[0].from;
}

rbl_status cut_order_crossings(
    rbl_context *ctx, const cut_state *state, cut_crossing *crossings, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        cut_crossing moving = crossings[i];
        size_t j = i;
        for (; j > 0 && compare_along_mesh_edge(state, &moving, &crossings[j - 1]) < 0; j--)
            crossings[j] = crossings[j - 1];
        crossings[j] = moving;
    }
    if (state->unite) return RBL_OK; /* windings count; ties are settled once they are known */
    if (!cut_chain_crossings(crossings, count, chain_start(crossings, count)))
        return rbli_fail(ctx, RBL_ERR_INTERNAL,
            "cut: the cells along mesh edge %d–%d do not follow each other",
            cut_half_start(state, crossings[0].half), cut_half_end(state, crossings[0].half));
    return RBL_OK;
}

/* ---- mesh vertices ---- */

static rbl_status set_label(rbl_context *ctx, cut_state *state, int32_t vertex, int32_t label)
{
    int32_t *stored = &state->vertex_label[vertex];
    if (label < 0)
        return rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: mesh vertex %d lies outside of every cell", vertex);
    if (*stored == CUT_NO_LABEL) *stored = label;
    if (*stored != label)
        return rbli_fail(
            ctx, RBL_ERR_INTERNAL, "cut: mesh vertex %d lies in cells %d and %d", vertex, *stored, label);
    return RBL_OK;
}

/// Triangles whose sides spread labels. A triangle may come up before its vertices have labels (behind sides
/// that are crossed there and back); it comes up again when a neighbour learns one.
typedef struct label_flood {
    uint8_t *seen; /* 1 + how many vertices had labels when it last came up; 0: not yet. Plus STACKED */
    int32_t *stack;
    size_t depth;
} label_flood;

enum { COMPLETE = 4, STACKED = 8 };

static void push_triangle(label_flood *flood, int32_t triangle)
{
    if (flood->seen[triangle] >= COMPLETE) return;
    flood->seen[triangle] |= STACKED;
    flood->stack[flood->depth++] = triangle;
}

/// Pushes a triangle that has corners with labels and corners without; one without any waits, and one with
/// three has nothing to learn.
static void push_started(label_flood *flood, const cut_state *state, int32_t triangle)
{
    const int32_t *v = state->mesh_view->triangles[triangle];
    int known = 0;
    for (int corner = 0; corner < 3; corner++)
        known += state->vertex_label[v[corner]] != CUT_NO_LABEL;
    if (known == 3)
        flood->seen[triangle] = COMPLETE;
    else if (known > 0)
        push_triangle(flood, triangle);
}

/// Spreads labels over sides that nothing crosses, to all triangles that hang together.
static rbl_status spread_labels(rbl_context *ctx, cut_state *state, label_flood *flood)
{
    rbl_status status = RBL_OK;
    size_t steps = 0;
    while (flood->depth > 0) {
        int32_t triangle = flood->stack[--flood->depth];
        if ((++steps & 0x1fff) == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        const int32_t *v = state->mesh_view->triangles[triangle];
        int32_t *label = state->vertex_label;
        bool same = label[v[0]] == label[v[1]] && label[v[1]] == label[v[2]] && label[v[0]] != CUT_NO_LABEL;
        for (int round = 0; round < 2 && !same; round++)
            for (int side = 0; side < 3; side++) {
                int32_t a = v[side], b = v[side == 2 ? 0 : side + 1];
                if (label[a] == label[b]) continue;
                if (state->half_crossing[cut_half_owner(state, 3 * triangle + side)]) continue;
                if (label[a] == CUT_NO_LABEL)
                    label[a] = label[b];
                else
                    RBL_TRY(set_label(ctx, state, b, label[a]));
            }
        uint8_t known = 1, before = flood->seen[triangle] & (STACKED - 1);
        for (int corner = 0; corner < 3; corner++)
            known += label[v[corner]] != CUT_NO_LABEL;
        flood->seen[triangle] = known;
        if (known <= before) continue; /* nothing new */
        for (int side = 0; side < 3; side++)
            push_triangle(flood, state->mesh.opposite[3 * triangle + side] / 3);
    }
done:
    return status;
}

/// The end of the crossings of an edge.
static size_t edge_end(const cut_state *state, size_t first)
{
    size_t end = first + 1;
    while (end < state->crossing_count && state->crossings[end].half == state->crossings[first].half)
        end++;
    return end;
}

/// Takes the labels of the ends of a crossed edge.
static rbl_status seed_edge(rbl_context *ctx, cut_state *state, label_flood *flood, const cut_crossing *first,
    const cut_crossing *last)
{
    rbl_status status = RBL_OK;
    int32_t half = first->half;
    RBL_TRY(set_label(ctx, state, cut_half_start(state, half), first->from));
    RBL_TRY(set_label(ctx, state, cut_half_end(state, half), last->to));
    push_triangle(flood, half / 3);
    push_triangle(flood, state->mesh.opposite[half] / 3);
done:
    return status;
}

/// Does so with edges whose ends lie in different cells, and spreads these labels.
/// @param closed  gets the first crossings of the other edges
static rbl_status seed_open_edges(
    rbl_context *ctx, cut_state *state, label_flood *flood, cut_index_list *closed)
{
    rbl_status status = RBL_OK;
    const cut_crossing *crossings = state->crossings;
    for (size_t i = 0, end; i < state->crossing_count; i = end) {
        if (i + AHEAD < state->crossing_count) cut_prefetch_sides(state, crossings[i + AHEAD].half / 3);
        end = edge_end(state, i);
        if (crossings[i].from == crossings[end - 1].to)
            RBL_TRY(rbli_array_push(ctx, closed, (int32_t)i));
        else
            RBL_TRY(seed_edge(ctx, state, flood, &crossings[i], &crossings[end - 1]));
    }
    status = spread_labels(ctx, state, flood);
done:
    return status;
}

/// The same for edges whose ends lie in one cell. They come second because ties may hide where they start.
static rbl_status seed_closed_edges(rbl_context *ctx, cut_state *state, label_flood *flood,
    cut_columns *columns, const cut_index_list *closed)
{
    rbl_status status = RBL_OK;
    for (size_t c = 0; c < closed->count; c++) {
        size_t i = (size_t)closed->data[c], end = edge_end(state, i);
        cut_crossing *crossings = state->crossings + i;
        int32_t a = cut_half_start(state, crossings->half), b = cut_half_end(state, crossings->half);
        int32_t known =
            state->vertex_label[a] != CUT_NO_LABEL ? state->vertex_label[a] : state->vertex_label[b];
        if (known == CUT_NO_LABEL && compare_along_mesh_edge(state, &crossings[0], &crossings[1]) == 0)
            RBL_TRY(cut_query_cell(ctx, state, columns, a, &known)); /* a tie hides where it starts */
        if (known != CUT_NO_LABEL && known != crossings->from) cut_chain_crossings(crossings, end - i, known);
        RBL_TRY(seed_edge(ctx, state, flood, crossings, &state->crossings[end - 1]));
        RBL_TRY(spread_labels(ctx, state, flood));
    }
done:
    return status;
}

/// A corner without a label, or the first.
static int32_t unlabelled_corner(const cut_state *state, size_t triangle)
{
    const int32_t *v = state->mesh_view->triangles[triangle];
    for (int corner = 0; corner < 3; corner++)
        if (state->vertex_label[v[corner]] == CUT_NO_LABEL) return v[corner];
    return v[0];
}

rbl_status cut_spread_labels(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    label_flood flood = {0};
    cut_columns columns = {0};
    cut_index_list closed = {0};
    size_t triangle_count = state->mesh_view->triangle_count;
    RBL_TRY_ALLOC(flood.seen = rbli_calloc(ctx, triangle_count, 1));
    RBL_TRY_ALLOC(flood.stack = rbli_alloc(ctx, triangle_count, sizeof(int32_t)));
    for (size_t t = 0; t < triangle_count; t++)
        if (state->mesh.settled[t]) flood.seen[t] = COMPLETE;
    for (size_t i = 0; i < state->mesh.open.count; i++)
        push_started(&flood, state, state->mesh.open.order[i]);
    RBL_TRY(spread_labels(ctx, state, &flood));
    RBL_TRY(seed_open_edges(ctx, state, &flood, &closed));
    RBL_TRY(seed_closed_edges(ctx, state, &flood, &columns, &closed));
    for (size_t t = 0; t < triangle_count; t++) {
        if (flood.seen[t] == COMPLETE) continue;
        int32_t vertex = unlabelled_corner(state, t), cell = state->vertex_label[vertex];
        if (cell == CUT_NO_LABEL) RBL_TRY(cut_query_cell(ctx, state, &columns, vertex, &cell));
        RBL_TRY(set_label(ctx, state, vertex, cell));
        push_triangle(&flood, (int32_t)t);
        RBL_TRY(spread_labels(ctx, state, &flood));
    }
done:
    rbli_free(ctx, flood.seen);
    rbli_free(ctx, flood.stack);
    rbli_free(ctx, closed.data);
    cut_columns_free(ctx, &columns);
    return status;
}

/* ---- windings of mesh vertices, for a union ---- */

enum { NO_WINDING = INT32_MIN };

static int32_t crossing_step(const cut_crossing *crossing)
{
    return crossing->to == 0 ? 1 : -1;
}

/// Change of the winding along a half-edge.
static int32_t net_along(const cut_state *state, int32_t half)
{
    int32_t owner = cut_half_owner(state, half), net = 0;
    size_t first = 0, count = cut_crossings_of(state, owner, &first);
    for (size_t i = first; i < first + count; i++)
        net += crossing_step(&state->crossings[i]);
    return owner == half ? net : -net;
}

static rbl_status spread_mesh_windings(rbl_context *ctx, cut_state *state, label_flood *flood)
{
    int32_t *label = state->vertex_label;
    while (flood->depth > 0) {
        int32_t triangle = flood->stack[--flood->depth];
        const int32_t *v = state->mesh_view->triangles[triangle];
        for (int round = 0; round < 2; round++)
            for (int side = 0; side < 3; side++) {
                int32_t a = v[side], b = v[(side + 1) % 3];
                if (label[a] == NO_WINDING) continue;
                int32_t winding = label[a] + net_along(state, 3 * triangle + side);
                if (label[b] == NO_WINDING) label[b] = winding;
                if (label[b] != winding)
                    return rbli_fail(ctx, RBL_ERR_INTERNAL, "union: windings disagree at mesh vertex %d", b);
            }
        for (int side = 0; side < 3; side++)
            push_triangle(flood, state->mesh.opposite[3 * triangle + side] / 3);
    }
    return RBL_OK;
}

/// Among exact ties along each edge the winding stays 0 or 1 where it can.
static void settle_ties(cut_state *state)
{
    for (size_t first = 0, end; first < state->crossing_count; first = end) {
        cut_crossing *crossings = state->crossings;
        int32_t winding = state->vertex_label[cut_half_start(state, crossings[first].half)];
        for (end = first; end < state->crossing_count && crossings[end].half == crossings[first].half;)
            end++;
        for (size_t i = first; i < end; i++) {
            int32_t wanted = winding > 0 ? -1 : 1;
            size_t j = i;
            while (j < end && crossing_step(&crossings[j]) != wanted &&
                   (j == i || compare_along_mesh_edge(state, &crossings[i], &crossings[j]) == 0))
                j++;
            if (j > i && j < end && compare_along_mesh_edge(state, &crossings[i], &crossings[j]) == 0)
                rotate_to(crossings, j, i);
            winding += crossing_step(&crossings[i]);
        }
    }
}

rbl_status cut_wind_mesh(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    label_flood flood = {0};
    cut_columns columns = {0};
    size_t triangle_count = state->mesh_view->triangle_count;
    RBL_TRY_ALLOC(flood.seen = rbli_calloc(ctx, triangle_count, 1));
    RBL_TRY_ALLOC(flood.stack = rbli_alloc(ctx, triangle_count, sizeof(int32_t)));
    for (size_t v = 0; v < state->mesh_view->vertex_count; v++)
        state->vertex_label[v] = NO_WINDING;
    for (size_t t = 0; t < triangle_count; t++) {
        if (flood.seen[t]) continue;
        if (rbli_cancelled(ctx)) {
            status = RBL_ERR_CANCELLED;
            goto done;
        }
        int32_t vertex = state->mesh_view->triangles[t][0];
        if (state->vertex_label[vertex] == NO_WINDING)
            RBL_TRY(cut_query_cell_winding(ctx, state, &columns, vertex, &state->vertex_label[vertex]));
        push_triangle(&flood, (int32_t)t);
        RBL_TRY(spread_mesh_windings(ctx, state, &flood));
    }
    settle_ties(state);
    RBL_TRY(cut_place_nodes(ctx, state));
done:
    rbli_free(ctx, flood.seen);
    rbli_free(ctx, flood.stack);
    cut_columns_free(ctx, &columns);
    return status;
}

/* ---- windings of the complex's vertices ---- */

/// A vertex in a tree of those whose windings hang together (Galler and Fisher 1964, with what the winding changes by
/// on the way). Parents are lower than their children; the parent of a root is itself.
typedef struct wind_link {
    int32_t parent; /* vertex of the complex, −1: in no edge yet */
    int32_t change; /* of the winding, from the parent */
} wind_link;

/// The root of a vertex; paths become half as long on the way. @param change set to that of the winding from the root
static int32_t find_root(wind_link *links, int32_t v, int32_t *change)
{
    *change = 0;
    if (links[v].parent < 0) links[v] = (wind_link){v, 0};
    while (links[v].parent != v) {
        const wind_link *above = &links[links[v].parent];
        links[v] = (wind_link){above->parent, links[v].change + above->change};
        *change += links[v].change;
        v = links[v].parent;
    }
    return v;
}

/// Says how the windings of two vertices differ. @return false where it contradicts what was said before
static bool link_windings(wind_link *links, int32_t a, int32_t b, int32_t from_a_to_b)
{
    int32_t change_a, change_b, root_a = find_root(links, a, &change_a),
                                root_b = find_root(links, b, &change_b);
    int32_t change = change_a + from_a_to_b - change_b; /* from root to root */
    if (root_a < root_b) links[root_b] = (wind_link){root_a, change};
    if (root_b < root_a) links[root_a] = (wind_link){root_b, -change};
    return root_a != root_b || change == 0;
}

/// Links the ends of all edges by the crossings between them.
static rbl_status link_edges(rbl_context *ctx, const cut_state *state, wind_link *links)
{
    rbl_status status = RBL_OK;
    size_t edge_count = state->complex.real_edge_count;
    int32_t base = state->complex.first_point;
    int32_t *net = NULL; /* of an edge, from the smaller end to the larger */
    RBL_TRY_ALLOC(net = rbli_calloc(ctx, edge_count, sizeof(int32_t)));
    for (size_t i = 0; i < state->node_count; i++)
        if ((size_t)state->nodes[i].edge < edge_count)
            net[state->nodes[i].edge] += state->nodes[i].winding_step;
    for (size_t e = 0; e < edge_count; e++) {
        int32_t low = state->complex.edges[e][0] - base, high = state->complex.edges[e][1] - base;
        RBL_TRY(rbli_poll(ctx, e));
        if (!link_windings(links, low, high, net[e]))
            RBL_TRY(rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: windings disagree at complex vertex %d", high));
    }
done:
    rbli_free(ctx, net);
    return status;
}

/// Links the vertices of the complex's outermost facets: the mesh lies inside of them.
/// @param outside set to one of them, −1: there are none
static void link_border(const rbli_cell_complex *k, wind_link *links, int32_t *outside)
{
    *outside = -1;
    for (size_t f = 0; f < k->facet_count; f++) {
        if (k->facet_cells[f][0] >= 0 && k->facet_cells[f][1] >= 0) continue;
        if (*outside < 0) *outside = k->facet_vertices[k->facet_start[f]];
        for (int32_t i = k->facet_start[f]; i < k->facet_start[f + 1]; i++)
            link_windings(links, *outside, k->facet_vertices[i], 0);
    }
}

rbl_status cut_wind_vertices(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = state->complex_view;
    wind_link *links = NULL;
    int32_t outside, outside_root = -1, outside_change = 0;
    RBL_TRY_ALLOC(links = rbli_alloc(ctx, k->vertex_count, sizeof *links));
    memset(links, 0xff, k->vertex_count * sizeof *links);
    link_border(k, links, &outside);
    RBL_TRY(link_edges(ctx, state, links));
    if (outside >= 0) outside_root = find_root(links, outside, &outside_change);
    RBL_TRY_ALLOC(state->k_winding = rbli_alloc(ctx, k->vertex_count, sizeof(int32_t)));
    for (size_t v = 0; v < k->vertex_count; v++) {
        int32_t *winding = &state->k_winding[v], parent = links[v].parent;
        if (parent < 0)
            *winding = 0; /* in no facet */
        else if (parent != (int32_t)v)
            *winding = state->k_winding[parent] + links[v].change;
        else if (parent == outside_root)
            *winding = -outside_change;
        else
            RBL_TRY(cut_query_winding(ctx, state, state->complex.first_point + (int32_t)v, winding));
    }
done:
    rbli_free(ctx, links);
    return status;
}

/* ---- order along the complex's edges ---- */

static int compare_along_k_edge(const cut_state *state, const cut_node *a, const cut_node *b)
{
    double difference = a->parameter - b->parameter;
    if (fabs(difference) > PARAMETER_MARGIN) return difference < 0 ? -1 : 1;
    const int32_t *edge = state->complex.edges[a->edge];
    return rbli_compare_crossings(&state->orient, edge[0], edge[1],
        state->mesh_view->triangles[a->mesh_triangle], state->mesh_view->triangles[b->mesh_triangle]);
}

/// Sorts the nodes of one edge; among exact ties the winding stays 0 or 1 where it can.
static void order_nodes(const cut_state *state, int32_t *nodes, size_t count, int32_t winding)
{
    for (size_t i = 1; i < count; i++) {
        int32_t moving = nodes[i];
        size_t j = i;
        for (; j > 0; j--) {
            int order = compare_along_k_edge(state, &state->nodes[moving], &state->nodes[nodes[j - 1]]);
            if (order > 0 ||
                (order == 0 && state->nodes[moving].mesh_triangle > state->nodes[nodes[j - 1]].mesh_triangle))
                break;
            nodes[j] = nodes[j - 1];
        }
        nodes[j] = moving;
    }
    for (size_t i = 0; i < count; i++) {
        int32_t wanted = winding > 0 ? -1 : 1;
        size_t j = i;
        while (
            j < count &&
            (j == i || compare_along_k_edge(state, &state->nodes[nodes[i]], &state->nodes[nodes[j]]) == 0) &&
            state->nodes[nodes[j]].winding_step != wanted)
            j++;
        if (j < count && state->nodes[nodes[j]].winding_step == wanted &&
            (j == i || compare_along_k_edge(state, &state->nodes[nodes[i]], &state->nodes[nodes[j]]) == 0)) {
            int32_t moving = nodes[j];
            for (; j > i; j--)
                nodes[j] = nodes[j - 1];
            nodes[i] = moving;
        }
        winding += state->nodes[nodes[i]].winding_step;
    }
}

static rbl_status order_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    cut_state *state = user;
    for (size_t e = begin; e < end; e++) {
        int32_t first = state->edge_node_start[e], count = state->edge_node_start[e + 1] - first;
        int32_t winding = state->k_winding[state->complex.edges[e][0] - state->complex.first_point];
        if (count > 1) order_nodes(state, state->edge_nodes + first, (size_t)count, winding);
    }
    return RBL_OK;
}

rbl_status cut_order_edges(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    size_t edge_count = state->complex.real_edge_count;
    RBL_TRY_ALLOC(state->edge_node_start = rbli_calloc(ctx, edge_count + 2, sizeof(int32_t)));
    RBL_TRY_ALLOC(state->edge_nodes = rbli_alloc(ctx, state->node_count, sizeof(int32_t)));
    for (size_t i = 0; i < state->node_count; i++)
        if ((size_t)state->nodes[i].edge < edge_count) state->edge_node_start[state->nodes[i].edge + 2]++;
    for (size_t e = 0; e < edge_count; e++)
        state->edge_node_start[e + 2] += state->edge_node_start[e + 1];
    for (size_t i = 0; i < state->node_count; i++)
        if ((size_t)state->nodes[i].edge < edge_count)
            state->edge_nodes[state->edge_node_start[state->nodes[i].edge + 1]++] = (int32_t)i;
    RBL_TRY(rbli_parallel_for(ctx, edge_count, 8192, order_block, state));
done:
    return status;
}

/* ---- all of it ---- */

enum { JOB_COUNT = 3 }; /* of one thread each; blocks of nodes follow */

static rbl_status spread_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    static rbl_status (*const jobs[JOB_COUNT])(rbl_context * ctx, cut_state * state) = {
        cut_spread_labels, cut_wind_vertices, cut_list_points};
    cut_state *state = user;
    (void)block;
    (void)worker;
    rbl_status status = RBL_OK;
    for (size_t i = begin; i < end && status == RBL_OK; i++) {
        if (i < JOB_COUNT) {
            status = jobs[i](ctx, state);
            continue;
        }
        size_t first = (i - JOB_COUNT) * CUT_PLACE_GRAIN, rest = state->node_count - first;
        first += state->crossing_count;
        cut_place_range(state, first, first + (rest < CUT_PLACE_GRAIN ? rest : CUT_PLACE_GRAIN));
    }
    return status;
}

rbl_status cut_label_all(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    size_t node_blocks = (state->node_count + CUT_PLACE_GRAIN - 1) / CUT_PLACE_GRAIN;
    RBL_TRY(cut_make_node_room(ctx, state));
    RBL_TRY(rbli_parallel_for(ctx, JOB_COUNT + node_blocks, 1, spread_block, state));
    RBL_TRY(cut_find_twins(ctx, state));
    RBL_TRY(cut_finish_chains(ctx, state));
done:
    return status;
}
