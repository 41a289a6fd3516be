/// Step 7 of MESHES.md: which closed shells are solids and which are cavities, what lies in what, what
/// overlaps.

#include <math.h>
#include <stdlib.h>

#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/repair_internal.h"
#include "fracture/geometry/winding.h"

static const double NO_VOLUME = 0x1p-44; /* 2 V / A, of the shell's diagonal: sixteen steps of the grid */

typedef struct nesting {
    repair *r;
    rbli_shell *out;
    repair_crossings crossings;
    int32_t *unit;      /* [shells] */
    int32_t *by_volume; /* [solids] closed shells, largest first */
    int32_t *rank;      /* [shells] place in by_volume, or −1 */
    size_t solid_count;
    rbli_winding **windings; /* [shells] made when first asked for */
    double (*deep)[3];       /* [shells] */
    uint8_t *has_deep;       /* [shells] 0 not tried, 1 found, 2 none */
    uint8_t *swallowed;      /* [shells] */
    /* of the query at hand */
    int32_t asked, parent;
    rbl_status status;
} nesting;

static double box_diagonal(const repair_shell *shell)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (shell->max[k] - shell->min[k]) * (shell->max[k] - shell->min[k]);
    return sqrt(sum);
}

static const char *text_of_why(repair_why why)
{
    switch (why) {
    case REPAIR_WHY_NOT_ASKED:
        return "it is open";
    case REPAIR_WHY_NOT_ORIENTABLE:
        return "it has no inside and outside: it is not orientable";
    case REPAIR_WHY_NOT_PLANAR:
        return "filling refused: a hole is not planar";
    case REPAIR_WHY_FLAT:
        return "filling refused: it would be flat";
    case REPAIR_WHY_MOSTLY_FILL:
        return "filling refused: most of it would be new";
    case REPAIR_WHY_CROSSING:
        return "filling refused: it would cross itself";
    case REPAIR_WHY_POCKET:
        return "filling refused: it would be inside out";
    case REPAIR_WHY_NO_LOOP:
        return "its border has no loop to fill";
    }
    return "it is open";
}

/* Units: nodes that share a shell are one. */

static int compare_ints(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return a < b ? -1 : a > b;
}

static int32_t place_of(const int32_t *sorted, size_t count, int32_t value)
{
    const int32_t *found = bsearch(&value, sorted, count, sizeof value, compare_ints);
    return found ? (int32_t)(found - sorted) : 0;
}

static rbl_status find_units(nesting *n)
{
    rbl_status status = RBL_OK;
    repair *r = n->r;
    int32_t *nodes = NULL, *parent = NULL;
    size_t count = 0;
    RBL_TRY_ALLOC(n->unit = rbli_calloc(r->ctx, r->shells.count, sizeof *n->unit));
    RBL_TRY_ALLOC(nodes = rbli_alloc(r->ctx, r->triangles.count, sizeof *nodes));
    for (size_t t = 0; t < r->triangles.count; t++) {
        RBL_TRY(rbli_poll(r->ctx, t));
        if (t == 0 || r->triangles.data[t].node != r->triangles.data[t - 1].node)
            nodes[count++] = r->triangles.data[t].node;
    }
    if (count < 2) goto done;
    qsort(nodes, count, sizeof *nodes, compare_ints);
    size_t kept = 1;
    for (size_t i = 1; i < count; i++)
        if (nodes[i] != nodes[kept - 1]) nodes[kept++] = nodes[i];
    RBL_TRY_ALLOC(parent = repair_make_sets(r->ctx, kept));
    for (size_t s = 0; s < r->shells.count; s++) {
        RBL_TRY(rbli_poll(r->ctx, s));
        const repair_shell *shell = &r->shells.data[s];
        int32_t first = r->triangles.data[r->members[shell->start]].node;
        for (size_t i = 1; i < shell->count; i++) {
            int32_t node = r->triangles.data[r->members[shell->start + i]].node;
            if (node != first) unite(parent, place_of(nodes, kept, first), place_of(nodes, kept, node));
        }
    }
    for (size_t s = 0; s < r->shells.count; s++) {
        int32_t first = r->triangles.data[r->members[r->shells.data[s].start]].node;
        n->unit[s] = find_root(parent, place_of(nodes, kept, first));
    }
done:
    rbli_free(r->ctx, nodes);
    rbli_free(r->ctx, parent);
    return status;
}

/* Containment */

static rbl_status winding_of(nesting *n, int32_t s, const rbli_winding **out)
{
    rbl_status status = RBL_OK;
    rbli_mesh_view view = {0};
    if (!n->windings[s]) {
        RBL_TRY(repair_shell_mesh(n->r, &n->r->shells.data[s], NULL, 0, &view));
        RBL_TRY(rbli_winding_create(n->r->ctx, &view, &n->windings[s]));
    }
    *out = n->windings[s];
done:
    repair_free_mesh(n->r->ctx, &view);
    return status;
}

static rbl_status deep_point_of(nesting *n, int32_t s)
{
    const rbli_winding *winding = NULL;
    if (n->has_deep[s]) return RBL_OK;
    rbl_status status = winding_of(n, s, &winding);
    if (status != RBL_OK) return status;
    bool inverted = n->r->shells.data[s].volume < 0;
    n->has_deep[s] = rbli_winding_deep_point(winding, inverted, n->deep[s]) ? 1 : 2;
    return RBL_OK;
}

static bool box_in_box(const repair_shell *inner, const repair_shell *outer)
{
    for (int k = 0; k < 3; k++)
        if (inner->min[k] < outer->min[k] || inner->max[k] > outer->max[k]) return false;
    return true;
}

/// A shell whose box holds a corner of the asked one's: does it contain it, closer than the parent known?
static bool ask_parent(void *user, int32_t place)
{
    nesting *n = user;
    int32_t s = n->by_volume[place], asked = n->asked;
    if (n->rank[s] >= n->rank[asked] || n->unit[s] != n->unit[asked]) return true;
    if (n->parent >= 0 && n->rank[s] < n->rank[n->parent]) return true;
    if (!box_in_box(&n->r->shells.data[asked], &n->r->shells.data[s])) return true;
    if (repair_shells_cross(&n->crossings, s, asked)) return true;
    const rbli_winding *winding = NULL;
    n->status = deep_point_of(n, asked);
    if (n->status == RBL_OK) n->status = winding_of(n, s, &winding);
    if (n->status != RBL_OK) return false;
    if (n->has_deep[asked] == 1 && rbli_winding_number(winding, n->deep[asked], NULL) != 0) n->parent = s;
    return true;
}

typedef struct sized_shell {
    double volume;
    int32_t shell;
} sized_shell;

static int compare_sizes(const void *left, const void *right)
{
    const sized_shell *a = left, *b = right;
    if (a->volume != b->volume) return a->volume > b->volume ? -1 : 1;
    return a->shell < b->shell ? -1 : a->shell > b->shell;
}

static rbl_status sort_by_volume(nesting *n)
{
    rbl_status status = RBL_OK;
    repair *r = n->r;
    sized_shell *sizes = NULL;
    RBL_TRY_ALLOC(sizes = rbli_alloc(r->ctx, r->shells.count, sizeof *sizes));
    RBL_TRY_ALLOC(n->by_volume = rbli_alloc(r->ctx, r->shells.count, sizeof *n->by_volume));
    RBL_TRY_ALLOC(n->rank = rbli_alloc(r->ctx, r->shells.count, sizeof *n->rank));
    for (int32_t s = 0; s < (int32_t)r->shells.count; s++) {
        n->rank[s] = -1;
        if (n->out[s].kind == RBLI_SHELL_SOLID)
            sizes[n->solid_count++] = (sized_shell){fabs(r->shells.data[s].volume), s};
    }
    if (n->solid_count) qsort(sizes, n->solid_count, sizeof *sizes, compare_sizes);
    for (size_t i = 0; i < n->solid_count; i++) {
        n->by_volume[i] = sizes[i].shell;
        n->rank[sizes[i].shell] = (int32_t)i;
    }
done:
    rbli_free(r->ctx, sizes);
    return status;
}

static rbl_status find_parents(nesting *n)
{
    rbl_status status = RBL_OK;
    repair *r = n->r;
    double(*boxes)[2][3] = NULL;
    rbli_box_tree *tree = NULL;
    if (n->solid_count < 2) return RBL_OK;
    RBL_TRY_ALLOC(boxes = rbli_alloc(r->ctx, n->solid_count, sizeof *boxes));
    for (size_t i = 0; i < n->solid_count; i++) {
        memcpy(boxes[i][0], r->shells.data[n->by_volume[i]].min, sizeof boxes[i][0]);
        memcpy(boxes[i][1], r->shells.data[n->by_volume[i]].max, sizeof boxes[i][1]);
    }
    RBL_TRY(rbli_box_tree_create(r->ctx, (const double(*)[2][3])boxes, n->solid_count, &tree));
    for (size_t i = 1; i < n->solid_count; i++) {
        n->asked = n->by_volume[i];
        n->parent = -1;
        const double *corner = r->shells.data[n->asked].min;
        rbli_box_tree_query(tree, corner, corner, ask_parent, n);
        RBL_TRY(n->status);
        n->out[n->asked].parent = n->parent;
    }
done:
    rbli_free(r->ctx, boxes);
    rbli_box_tree_destroy(r->ctx, tree);
    return status;
}

/* Kinds */

static rbl_status orient(nesting *n, int32_t s, bool outward)
{
    repair_shell *shell = &n->r->shells.data[s];
    if ((shell->volume > 0) == outward) return RBL_OK;
    shell->volume = -shell->volume;
    return repair_turn_shell(n->r, shell);
}

/// Parents come first, being larger.
static rbl_status decide_kind(nesting *n, int32_t s)
{
    rbli_shell *out = &n->out[s];
    bool in_solid = out->parent >= 0 && n->out[out->parent].kind == RBLI_SHELL_SOLID;
    if (out->parent >= 0 && n->swallowed[out->parent]) n->swallowed[s] = 1;
    if (in_solid && (n->r->shells.data[s].volume < 0 || n->r->options.nested_cavity)) {
        out->kind = RBLI_SHELL_CAVITY;
    } else if (in_solid) {
        n->swallowed[s] = 1;
    }
    if (n->swallowed[s]) out->overlaps_other = true;
    return orient(n, s, out->kind == RBLI_SHELL_SOLID);
}

static void classify(nesting *n)
{
    repair *r = n->r;
    for (size_t s = 0; s < r->shells.count; s++) {
        const repair_shell *shell = &r->shells.data[s];
        rbli_shell *out = &n->out[s];
        const repair_triangle *first = &r->triangles.data[r->members[shell->start]];
        out->node = first->node;
        out->parent = -1;
        if (!shell->closed || !shell->orientable) {
            out->kind = RBLI_SHELL_SHEET;
            out->why = text_of_why(shell->orientable ? (repair_why)first->why : REPAIR_WHY_NOT_ORIENTABLE);
        } else if (2 * fabs(shell->volume) <= NO_VOLUME * box_diagonal(shell) * shell->area) {
            out->kind = RBLI_SHELL_DROPPED;
            out->why = "it encloses no volume";
        }
    }
}

static void free_nesting(nesting *n)
{
    rbl_context *ctx = n->r->ctx;
    repair_crossings_free(ctx, &n->crossings);
    for (size_t s = 0; n->windings && s < n->r->shells.count; s++)
        rbli_winding_destroy(ctx, n->windings[s]);
    rbli_free(ctx, n->windings);
    rbli_free(ctx, n->unit);
    rbli_free(ctx, n->by_volume);
    rbli_free(ctx, n->rank);
    rbli_free(ctx, n->deep);
    rbli_free(ctx, n->has_deep);
    rbli_free(ctx, n->swallowed);
}

/// The middle of a triangle.
static void place_crossing(const repair *r, int32_t triangle, double place[3])
{
    const int32_t *v = r->triangles.data[triangle].v;
    for (int k = 0; k < 3; k++)
        place[k] = (r->positions.data[v[0]][k] + r->positions.data[v[1]][k] + r->positions.data[v[2]][k]) / 3;
}

rbl_status repair_decide_signs(repair *r, rbli_shell *out)
{
    rbl_status status = RBL_OK;
    nesting n = {.r = r, .out = out};
    size_t count = r->shells.count;
    classify(&n);
    RBL_TRY_ALLOC(n.windings = rbli_calloc(r->ctx, count, sizeof *n.windings));
    RBL_TRY_ALLOC(n.deep = rbli_alloc(r->ctx, count, sizeof *n.deep));
    RBL_TRY_ALLOC(n.has_deep = rbli_calloc(r->ctx, count, 1));
    RBL_TRY_ALLOC(n.swallowed = rbli_calloc(r->ctx, count, 1));
    RBL_TRY(find_units(&n));
    RBL_TRY(sort_by_volume(&n));
    RBL_TRY(repair_find_crossings(r, n.unit, &n.crossings));
    RBL_TRY(find_parents(&n));
    for (size_t i = 0; i < n.solid_count; i++)
        RBL_TRY(decide_kind(&n, n.by_volume[i]));
    for (size_t i = 0; i < n.crossings.pairs.count; i++) {
        uint64_t key = n.crossings.pairs.data[i];
        rbli_shell *a = &out[key >> 32], *b = &out[key & UINT32_MAX];
        if (a->kind > RBLI_SHELL_CAVITY || b->kind > RBLI_SHELL_CAVITY) continue;
        a->overlaps_other = b->overlaps_other = true;
    }
    for (size_t s = 0; s < count; s++) {
        const repair_shell *shell = &r->shells.data[s];
        out[s].volume = out[s].kind <= RBLI_SHELL_CAVITY ? shell->volume : 0;
        out[s].area = shell->area;
        out[s].filled_area = shell->filled_area;
        if (out[s].kind > RBLI_SHELL_CAVITY) continue;
        out[s].self_crossings = n.crossings.self_count[s];
        if (out[s].self_crossings) place_crossing(r, n.crossings.first[s], out[s].crossing_place);
        out[s].flipped = r->triangles.data[r->members[shell->start]].turned;
    }
done:
    free_nesting(&n);
    return status;
}
