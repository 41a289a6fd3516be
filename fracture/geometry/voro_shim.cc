/// See voro_shim.h. The block grid depends on the number of sites alone, since the bits of the results depend
/// on it.

#include "fracture/geometry/voro_shim.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

#include <voro++/voro++.hh>

namespace
{

bool sites_are_inside(const double (*sites)[3], size_t count, const double low[3], const double high[3])
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            if (!(sites[i][k] > low[k] && sites[i][k] < high[k])) return false;
    return true;
}

/// Sweep along the axis on which the sites spread most; quadratic only where thousands share a coordinate.
bool sites_are_apart(const double (*sites)[3], size_t count, double distance)
{
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        for (int k = 0; k < 3; k++)
            if (sites[a][k] != sites[b][k]) return sites[a][k] < sites[b][k];
        return a < b;
    });
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count && sites[order[j]][0] - sites[order[i]][0] <= distance; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) {
                double d = sites[order[j]][k] - sites[order[i]][k];
                sum += d * d;
            }
            if (sum <= distance * distance) return false;
        }
    return true;
}

} // namespace

rbl_status rbli_voro_cells(const double (*sites)[3], size_t site_count, const double box_min[3],
    const double box_max[3], double *volumes, double (*centroids)[3])
try {
    double diagonal = std::sqrt((box_max[0] - box_min[0]) * (box_max[0] - box_min[0]) +
                                (box_max[1] - box_min[1]) * (box_max[1] - box_min[1]) +
                                (box_max[2] - box_min[2]) * (box_max[2] - box_min[2]));
    if (!(diagonal > 0) || !std::isfinite(diagonal) || site_count > 100000000) return RBL_ERR_ARGUMENT;
    if (!sites_are_inside(sites, site_count, box_min, box_max)) return RBL_ERR_ARGUMENT;
    if (!sites_are_apart(sites, site_count, 1e-9 * diagonal)) return RBL_ERR_ARGUMENT;
    int blocks = std::max(1, (int)std::cbrt((double)site_count / 5));
    voro::container box(box_min[0], box_max[0], box_min[1], box_max[1], box_min[2], box_max[2], blocks,
        blocks, blocks, false, false, false, 8);
    for (size_t i = 0; i < site_count; i++)
        box.put((int)i, sites[i][0], sites[i][1], sites[i][2]);
    if ((size_t)box.total_particles() != site_count) return RBL_ERR_INTERNAL;
    voro::voro_compute<voro::container> compute(box, box.nx, box.ny, box.nz);
    voro::voronoicell_neighbor cell;
    size_t computed = 0;
    for (int k = 0, block = 0; k < box.nz; k++)
        for (int j = 0; j < box.ny; j++)
            for (int i = 0; i < box.nx; i++, block++)
                for (int q = 0; q < box.co[block]; q++) {
                    if (!compute.compute_cell(cell, block, q, i, j, k)) continue;
                    int id = box.id[block][q];
                    volumes[id] = cell.volume();
                    if (centroids) {
                        double c[3];
                        cell.centroid(c[0], c[1], c[2]);
                        for (int axis = 0; axis < 3; axis++)
                            centroids[id][axis] = sites[id][axis] + c[axis];
                    }
                    computed++;
                }
    return computed == site_count ? RBL_OK : RBL_ERR_INTERNAL;
} catch (const std::bad_alloc &) {
    return RBL_ERR_NO_MEMORY;
}
