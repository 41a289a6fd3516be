/// Contacts of the cut's pieces: each facet lists the pairs of pieces that its caps lie between, with their areas; all are
/// sorted and summed up. Pairs that meet in a line or a point alone do not touch.

#include "fracture/geometry/cut_contacts.h"

#include <stdlib.h>

#include "fracture/geometry/cut_cell.h"
#include "fracture/geometry/radix_sort.h"

enum {
    AHEAD = 40, /* caps whose corners memory is asked for before they are measured */
    FACET_GRAIN = 1024,
    CONTACT_GRAIN = 8192,
};

/// Area and longest side of a cap, in source units.
typedef struct cap_measure {
    double area, reach;
} cap_measure;

static inline double squared_length(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

/// What the next cap around the same corner has in common with a cap.
typedef struct cap_spoke {
    const double *corner, *end;
    double side[3], squared; /* from the corner to the end; its squared length */
} cap_spoke;

static inline cap_spoke spoke_between(const double *corner, const double *end)
{
    cap_spoke spoke = {corner, end, {end[0] - corner[0], end[1] - corner[1], end[2] - corner[2]}, 0};
    spoke.squared = squared_length(spoke.side);
    return spoke;
}

/// @param before  the cap before this one in its facet, or NULL; then `spoke` is of that, and set to this one's
static inline cap_measure measure_cap(
    const cut_state *s, const cut_facet_triangle *cap, const cut_facet_triangle *before, cap_spoke *spoke)
{
    bool follows = before && cap->v[0] == before->v[0] && cap->v[1] == before->v[2];
    cap_spoke u = follows ? *spoke : spoke_between(cut_position(s, cap->v[0]), cut_position(s, cap->v[1]));
    cap_spoke v = spoke_between(u.corner, cut_position(s, cap->v[2]));
    const double w[3] = {v.end[0] - u.end[0], v.end[1] - u.end[1], v.end[2] - u.end[2]};
    const double n[3] = {u.side[1] * v.side[2] - u.side[2] * v.side[1],
        u.side[2] * v.side[0] - u.side[0] * v.side[2], u.side[0] * v.side[1] - u.side[1] * v.side[0]};
    double longest = cut_max(cut_max(u.squared, v.squared), squared_length(w));
    *spoke = v;
    return (cap_measure){
        0.5 * sqrt(squared_length(n)) * s->grid.step * s->grid.step, sqrt(longest) * s->grid.step};
}

/// A contact while it is summed up; `reach` bounds its length, so that lines and points can be told from
/// areas.
typedef struct contact_sum {
    int32_t piece_a, piece_b;
    double area, reach;
} contact_sum;
typedef RBLI_ARRAY(contact_sum) contact_list;

static int by_area(const void *pa, const void *pb)
{
    const contact_sum *a = pa, *b = pb;
    return a->area < b->area ? -1 : a->area > b->area; /* so that sums do not depend on the sort */
}

static bool same_contact(const contact_sum *a, const contact_sum *b)
{
    return a->piece_a == b->piece_a && a->piece_b == b->piece_b;
}

typedef struct contact_lists {
    const cut_cap_pieces *of;
    struct contact_block {
        contact_list list;
        size_t start; /* in the whole */
        char apart[CUT_APART_BYTES];
    } * blocks; /* of facets */
    contact_list *whole;
} contact_lists;

/// The piece that a cap belongs to on one side, −1 for none.
static inline int32_t piece_of_cap(const cut_cap_pieces *of, int32_t cap, int side, int32_t cell)
{
    if (cut_is_dropped(of->state, cell)) return -1;
    int32_t within = of->cell_whole[cell] ? 0 : of->cap_piece[2 * cap + side];
    return within < 0 ? -1 : of->cell_first_piece[cell] + within;
}

/// One entry for each run of a facet's caps between the same two pieces.
static rbl_status list_facet_contacts(
    rbl_context *ctx, const cut_cap_pieces *of, contact_list *list, size_t facet)
{
    rbl_status status = RBL_OK;
    const cut_state *s = of->state;
    const int32_t *cells = cut_facet_cells(s, (int32_t)facet);
    const cut_cap_range range = s->facet_caps[facet];
    if (range.count == 0) return RBL_OK;
    const cut_facet_triangle *caps = cut_cap_at(s, range.first);
    size_t beyond = (size_t)range.first < s->complex.triangle_count
                        ? s->complex.triangle_count - (size_t)range.first
                        : s->complex.triangle_count + s->made_cap_count - (size_t)range.first;
    bool whole = of->cell_whole[cells[0]] && of->cell_whole[cells[1]]; /* then all caps are alike */
    contact_sum sum = {-1, -1, 0, 0};
    const cut_facet_measure *measure = whole ? cut_measure_of_caps(s, (int32_t)facet) : NULL;
    if (measure) {
        int32_t p = piece_of_cap(of, range.first, 0, cells[0]),
                q = piece_of_cap(of, range.first, 1, cells[1]);
        if (p < 0 || q < 0) return RBL_OK;
        /* No film by far, whatever its reach. */
        double area = measure->area * s->grid.step * s->grid.step;
        return rbli_array_push(ctx, list, ((contact_sum){p < q ? p : q, p < q ? q : p, area, 0}));
    }
    const cut_facet_triangle *before = NULL; /* that was measured */
    cap_spoke spoke = {0};
    for (int32_t i = 0; i < range.count; i++) {
        if (!whole || i == 0) {
            int32_t p = piece_of_cap(of, range.first + i, 0, cells[0]),
                    q = piece_of_cap(of, range.first + i, 1, cells[1]);
            if (p < 0 || q < 0) continue;
            contact_sum one = {p < q ? p : q, p < q ? q : p, 0, 0};
            if (!same_contact(&sum, &one)) {
                if (sum.piece_a >= 0) RBL_TRY(rbli_array_push(ctx, list, sum));
                sum = one;
            }
        }
        if ((size_t)i + AHEAD < beyond) __builtin_prefetch(cut_position(s, caps[i + AHEAD].v[2]));
        cap_measure one = measure_cap(s, &caps[i], before, &spoke);
        before = &caps[i];
        sum.area += one.area;
        sum.reach += one.reach;
    }
    if (sum.piece_a >= 0) RBL_TRY(rbli_array_push(ctx, list, sum));
done:
    return status;
}

static rbl_status contact_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)worker;
    rbl_status status = RBL_OK;
    const contact_lists *lists = user;
    contact_list *list = &lists->blocks[block].list;
    RBL_TRY(rbli_array_reserve(ctx, list, end - begin)); /* facets between more pieces are rare */
    for (size_t f = begin; f < end; f++)
        RBL_TRY(list_facet_contacts(ctx, lists->of, list, f));
done:
    return status;
}

static rbl_status copy_contacts(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const contact_lists *lists = user;
    for (size_t i = begin; i < end; i++) {
        const struct contact_block *b = &lists->blocks[i];
        if (b->list.count)
            memcpy(lists->whole->data + b->start, b->list.data, b->list.count * sizeof *b->list.data);
    }
    return RBL_OK;
}

static rbl_status list_contacts(rbl_context *ctx, const cut_cap_pieces *of, contact_list *list)
{
    rbl_status status = RBL_OK;
    size_t facet_count = of->state->complex_view->facet_count, count = 0,
           block_count = (facet_count + FACET_GRAIN - 1) / FACET_GRAIN;
    contact_lists lists = {.of = of, .whole = list};
    RBL_TRY_ALLOC(lists.blocks = rbli_calloc(ctx, block_count, sizeof *lists.blocks));
    RBL_TRY(rbli_parallel_for(ctx, facet_count, FACET_GRAIN, contact_block, &lists));
    for (size_t i = 0; i < block_count; i++) {
        lists.blocks[i].start = count;
        count += lists.blocks[i].list.count;
    }
    RBL_TRY(rbli_array_reserve(ctx, list, count));
    list->count = count;
    RBL_TRY(rbli_parallel_for(ctx, block_count, 4, copy_contacts, &lists));
done:
    for (size_t i = 0; lists.blocks && i < block_count; i++)
        rbli_free(ctx, lists.blocks[i].list.data);
    rbli_free(ctx, lists.blocks);
    return status;
}

typedef struct contact_order {
    const contact_list *list;
    rbli_keyed *keys;
    contact_sum *sorted;
} contact_order;

static rbl_status key_contacts(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const contact_order *order = user;
    for (size_t i = begin; i < end; i++) {
        const contact_sum *one = &order->list->data[i];
        order->keys[i] = (rbli_keyed){(uint64_t)one->piece_a << 32 | (uint32_t)one->piece_b, (int32_t)i};
    }
    return RBL_OK;
}

static rbl_status put_contacts(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const contact_order *order = user;
    for (size_t i = begin; i < end; i++)
        order->sorted[i] = order->list->data[order->keys[i].index];
    return RBL_OK;
}

/// Sorts by pieces, then area.
static rbl_status sort_contacts(rbl_context *ctx, contact_list *list)
{
    rbl_status status = RBL_OK;
    contact_order order = {.list = list};
    size_t count = list->count;
    RBL_TRY_ALLOC(order.keys = rbli_alloc(ctx, 2 * count, sizeof *order.keys));
    RBL_TRY_ALLOC(order.sorted = rbli_alloc(ctx, count, sizeof *order.sorted));
    RBL_TRY(rbli_parallel_for(ctx, count, CONTACT_GRAIN, key_contacts, &order));
    RBL_TRY(rbli_radix_sort_polled(ctx, order.keys, order.keys + count, count));
    RBL_TRY(rbli_parallel_for(ctx, count, CONTACT_GRAIN, put_contacts, &order));
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && same_contact(&order.sorted[i], &order.sorted[end]);)
            end++;
        if (end - i > 1) qsort(order.sorted + i, end - i, sizeof *order.sorted, by_area);
    }
    rbli_free(ctx, list->data);
    list->data = order.sorted;
    list->capacity = count;
    order.sorted = NULL;
done:
    rbli_free(ctx, order.keys);
    rbli_free(ctx, order.sorted);
    return status;
}

rbl_status cut_make_contacts(rbl_context *ctx, const cut_cap_pieces *of, rbli_cut_result *r)
{
    rbl_status status = RBL_OK;
    contact_list list = {0};
    RBL_TRY(list_contacts(ctx, of, &list));
    RBL_TRY(sort_contacts(ctx, &list));
    RBL_TRY_ALLOC(r->contacts = rbli_alloc(ctx, list.count, sizeof *r->contacts));
    for (size_t i = 0; i < list.count;) { /* sums the entries of each pair */
        contact_sum sum = list.data[i++];
        for (; i < list.count && same_contact(&sum, &list.data[i]); i++) {
            sum.area += list.data[i].area;
            sum.reach += list.data[i].reach;
        }
        if (sum.area <= CUT_FILM_STEPS * of->state->grid.step * sum.reach) continue;
        r->contacts[r->contact_count++] = (rbli_contact){sum.piece_a, sum.piece_b, sum.area};
    }
done:
    rbli_free(ctx, list.data);
    return status;
}
