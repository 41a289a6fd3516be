/// Lloyd relaxation on our own cells.

#include "fracture/geometry/relax.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/cell_complex.h"

/// Adds the cone from `apex` over a facet to a volume and a first moment about the apex.
static void add_cone(const rbli_cell_complex *k, size_t f, double sign, const double apex[3], double sums[4])
{
    const int32_t *loop = k->facet_vertices + k->facet_start[f];
    int32_t count = k->facet_start[f + 1] - k->facet_start[f];
    double a[3], b[3], c[3];
    for (int j = 0; j < 3; j++)
        a[j] = k->vertices[loop[0]][j] - apex[j];
    for (int32_t i = 1; i + 1 < count; i++) {
        for (int j = 0; j < 3; j++) {
            b[j] = k->vertices[loop[i]][j] - apex[j];
            c[j] = k->vertices[loop[i + 1]][j] - apex[j];
        }
        double volume = sign / 6 *
                        (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                            a[2] * (b[0] * c[1] - b[1] * c[0]));
        sums[3] += volume;
        for (int j = 0; j < 3; j++)
            sums[j] += volume * (a[j] + b[j] + c[j]) / 4;
    }
}

static rbl_status move_to_centroids(rbl_context *ctx, const rbli_cell_complex *k, double (*sites)[3])
{
    double(*sums)[4] = rbli_calloc(ctx, k->cell_count, sizeof *sums);
    if (!sums) return RBL_ERR_NO_MEMORY;
    for (size_t f = 0; f < k->facet_count; f++)
        for (int side = 0; side < 2; side++) {
            int32_t c = k->facet_cells[f][side];
            if (c >= 0) add_cone(k, f, side == 0 ? 1 : -1, k->cell_point[c], sums[c]);
        }
    for (size_t c = 0; c < k->cell_count; c++)
        for (int j = 0; j < 3 && sums[c][3] > 0; j++) {
            double x = k->cell_point[c][j] + sums[c][j] / sums[c][3];
            if (isfinite(x)) sites[k->cell_site[c]][j] = x;
        }
    rbli_free(ctx, sums);
    return RBL_OK;
}

rbl_status rbli_voro_relax(rbl_context *ctx, double (*sites)[3], size_t site_count, const double box_min[3],
    const double box_max[3], int iterations)
{
    rbl_status status = RBL_OK;
    double(*moved)[3] = NULL;
    if (iterations < 0) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "%d iterations of relaxation", iterations);
    RBL_TRY_ALLOC(moved = rbli_alloc(ctx, site_count, sizeof *moved));
    if (site_count) memcpy(moved, sites, site_count * sizeof *moved);
    for (int i = 0; i < iterations; i++) {
        rbli_cell_complex *k = NULL;
        RBL_TRY(rbli_voronoi_complex(
            ctx, (const double(*)[3])moved, site_count, box_min, box_max, NULL, NULL, &k));
        status = move_to_centroids(ctx, k, moved);
        rbli_cell_complex_destroy(ctx, k);
        if (status != RBL_OK) goto done;
    }
    if (site_count) memcpy(sites, moved, site_count * sizeof *moved);
done:
    rbli_free(ctx, moved);
    return status;
}
