/// Vertices of the complex that lie on vertices of the mesh (on the grid): they are written at the mesh
/// vertex's own source coordinates, so that the edge between the two has length zero exactly and can be
/// collapsed.

#include "fracture/base/alloc.h"
#include "fracture/geometry/cut_internal.h"

typedef struct twin_table {
    const double (*points)[3];
    int32_t *slots; /* complex point, or −1 */
    size_t mask;
} twin_table;

/// Coordinates are whole numbers below 2^53 in size, so sums of their multiples tell points apart well enough.
static size_t hash_point(const double p[3])
{
    uint64_t x = (uint64_t)(int64_t)p[0] * 0x9e3779b97f4a7c15u +
                 (uint64_t)(int64_t)p[1] * 0xc2b2ae3d27d4eb4fu +
                 (uint64_t)(int64_t)p[2] * 0x165667b19e3779f9u;
    return (size_t)((x ^ x >> 32) * 0x9e3779b97f4a7c15u >> 24);
}

/// The slot of an equal point, or the free slot for it.
static int32_t *find_slot(const twin_table *t, const double p[3])
{
    size_t at = hash_point(p) & t->mask;
    while (t->slots[at] >= 0 && memcmp(t->points[t->slots[at]], p, sizeof(double[3])) != 0)
        at = (at + 1) & t->mask;
    return &t->slots[at];
}

rbl_status cut_find_twins(rbl_context *ctx, cut_state *s)
{
    rbl_status status = RBL_OK;
    size_t mesh_count = s->mesh_view->vertex_count, count = s->complex_view->vertex_count, capacity = 16;
    while (capacity < 4 * count) /* most points that are looked for are not there */
        capacity *= 2;
    twin_table table = {(const double(*)[3])s->points, NULL, capacity - 1};
    int32_t *twins = NULL; /* mesh vertex at the same grid point, or −1 */
    RBL_TRY_ALLOC(twins = rbli_alloc(ctx, count, sizeof *twins));
    RBL_TRY_ALLOC(s->complex_sources = rbli_alloc(ctx, count, sizeof *s->complex_sources));
    RBL_TRY_ALLOC(table.slots = rbli_alloc(ctx, capacity, sizeof *table.slots));
    for (size_t i = 0; i < capacity; i++)
        table.slots[i] = -1;
    for (size_t k = 0; k < count; k++) {
        twins[k] = -1;
        *find_slot(&table, s->points[mesh_count + k]) = (int32_t)(mesh_count + k);
    }
    /* A vertex of the complex that the output shows beside a mesh vertex has facets that cut its triangles.
     */
    for (size_t i = 0; i < s->cut_triangle_count; i++)
        for (int corner = 0; corner < 3; corner++) {
            int32_t vertex = s->mesh_view->triangles[s->cut_triangles[i].triangle][corner];
            int32_t point = *find_slot(&table, s->points[vertex]);
            if (point < 0) continue;
            int32_t *twin = &twins[(size_t)point - mesh_count];
            if (*twin < 0 || vertex < *twin) *twin = vertex;
        }
    for (size_t k = 0; k < count; k++) {
        if (twins[k] >= 0)
            memcpy(s->complex_sources[k], s->mesh_view->positions[twins[k]], sizeof *s->complex_sources);
        else
            rbli_grid_unsnap(&s->grid, s->points[mesh_count + k], s->complex_sources[k]);
    }
done:
    rbli_free(ctx, twins);
    rbli_free(ctx, table.slots);
    return status;
}
