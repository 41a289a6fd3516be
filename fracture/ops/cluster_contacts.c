/// Contacts with areas, and who is beside whom.

#include "fracture/ops/cluster_contacts.h"

#include "fracture/base/alloc.h"

static int compare(const rbli_touch *a, const rbli_touch *b)
{
    if (a->piece_a != b->piece_a) return a->piece_a < b->piece_a ? -1 : 1;
    return a->piece_b < b->piece_b ? -1 : a->piece_b > b->piece_b;
}

/// The area of a pair out of sorted ones; 0 when it is not among them.
static double find_area(const rbli_touch *touches, size_t count, const rbli_touch *pair)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&touches[middle], pair) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && compare(&touches[low], pair) == 0 ? touches[low].area : 0;
}

rbl_status rbli_weighed_contacts(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, rbli_touch **out, size_t *count)
{
    rbl_status status = RBL_OK;
    rbli_touch *known = NULL, *computed = NULL;
    size_t known_count, computed_count = 0;
    bool lacking = false;
    RBL_TRY(rbli_known_contacts(ctx, collection, surface, &known, &known_count));
    for (size_t i = 0; i < known_count && !lacking; i++)
        lacking = !(known[i].area >= 0);
    if (lacking) RBL_TRY(rbli_leaf_contacts(ctx, collection, surface, 0, &computed, &computed_count));
    for (size_t i = 0; i < known_count && lacking; i++)
        if (!(known[i].area >= 0)) known[i].area = find_area(computed, computed_count, &known[i]);
    *out = known;
    *count = known_count;
    known = NULL;
done:
    rbli_free(ctx, known);
    rbli_free(ctx, computed);
    return status;
}

void rbli_neighbors_free(rbl_context *ctx, rbli_neighbors *neighbors)
{
    rbli_free(ctx, neighbors->start);
    rbli_free(ctx, neighbors->bone);
    rbli_free(ctx, neighbors->area);
    *neighbors = (rbli_neighbors){0};
}

rbl_status rbli_neighbors_build(
    rbl_context *ctx, size_t bone_count, const rbli_sibling_pair *pairs, size_t count, rbli_neighbors *out)
{
    rbl_status status = RBL_OK;
    rbli_neighbors made = {0};
    RBL_TRY_ALLOC(made.start = rbli_calloc(ctx, bone_count + 2, sizeof *made.start));
    RBL_TRY_ALLOC(made.bone = rbli_alloc(ctx, count, 2 * sizeof *made.bone));
    RBL_TRY_ALLOC(made.area = rbli_alloc(ctx, count, 2 * sizeof *made.area));
    for (size_t i = 0; i < count; i++) {
        made.start[pairs[i].bone_a + 2]++;
        made.start[pairs[i].bone_b + 2]++;
    }
    for (size_t b = 2; b < bone_count + 2; b++)
        made.start[b] += made.start[b - 1];
    /* Pairs are sorted by the lower bone: first all lower neighbours of a bone come, then all higher ones. */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            int32_t of = pass ? pairs[i].bone_a : pairs[i].bone_b,
                    to = pass ? pairs[i].bone_b : pairs[i].bone_a;
            size_t at = made.start[of + 1]++;
            made.bone[at] = to;
            made.area[at] = pairs[i].area;
        }
    *out = made;
    made = (rbli_neighbors){0};
done:
    rbli_neighbors_free(ctx, &made);
    return status;
}
