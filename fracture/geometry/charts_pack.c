/// Rectangles in rows of falling height; the scale by halving an interval.

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/charts.h"
#include "fracture/geometry/radix_sort.h"

/// Places all in their order; false when they do not fit. corners may be NULL.
static bool place_rows(const rbli_keyed *order, const double (*sizes)[2], size_t count, double side,
    double gutter, double scale, double (*corners)[2])
{
    double x = 0, y = 0, row = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t r = order[i].index;
        double width = sizes[r][0] * scale + gutter, height = sizes[r][1] * scale + gutter;
        if (x + width > side) {
            y += row;
            x = row = 0;
        }
        row = fmax(row, height);
        if (width > side || y + row > side) return false;
        if (corners) {
            corners[r][0] = x + gutter / 2;
            corners[r][1] = y + gutter / 2;
        }
        x += width;
    }
    return true;
}

rbl_status rbli_pack_rectangles(rbl_context *ctx, const double (*sizes)[2], size_t count, double side,
    double gutter, double (*corners)[2], double *out)
{
    rbl_status status = RBL_OK;
    double area = 0, longest = 0;
    rbli_keyed *order = NULL, *scratch = NULL;
    RBL_TRY_ALLOC(order = rbli_alloc(ctx, count, sizeof *order));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, count, sizeof *scratch));
    for (size_t i = 0; i < count; i++) {
        area += sizes[i][0] * sizes[i][1];
        longest = fmax(longest, fmax(sizes[i][0], sizes[i][1]));
        order[i] = (rbli_keyed){~rbli_double_key(sizes[i][1]), (int32_t)i};
    }
    rbli_radix_sort(order, scratch, count);
    if (!place_rows(order, sizes, count, side, gutter, 0, corners)) {
        status = RBL_ERR_LIMIT;
        goto done;
    }
    /* Nothing fits above `high`; `low` fits. */
    double low = 0, high = longest > 0 ? side / longest : 0;
    if (area > 0) high = fmin(high, side / sqrt(area));
    for (int round = 0; round < 48 && high > low * (1 + 1e-9); round++) {
        double middle = round == 0 ? high : (low + high) / 2;
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (place_rows(order, sizes, count, side, gutter, middle, NULL))
            low = middle;
        else
            high = middle;
    }
    place_rows(order, sizes, count, side, gutter, low, corners);
    *out = low;
done:
    rbli_free(ctx, order);
    rbli_free(ctx, scratch);
    return status;
}
