/// Lloyd relaxation on our own cells.

#include "fracture/geometry/relax.h"

#include "fracture/base/alloc.h"
#include "fracture/geometry/complex_edit.h"

static rbl_status move_to_centroids(rbl_context *ctx, const rbli_cell_complex *k, double (*sites)[3])
{
    double(*centroids)[3] = rbli_alloc(ctx, k->cell_count, sizeof *centroids);
    if (!centroids) return RBL_ERR_NO_MEMORY;
    rbl_status status = rbli_complex_moments(ctx, k, centroids, NULL);
    for (size_t c = 0; c < k->cell_count && status == RBL_OK; c++)
        memcpy(sites[k->cell_site[c]], centroids[c], sizeof centroids[c]);
    rbli_free(ctx, centroids);
    return status;
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
