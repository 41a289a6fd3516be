#ifndef RUBBLE_GEOMETRY_DELAUNAY_INSERT_H
#define RUBBLE_GEOMETRY_DELAUNAY_INSERT_H

/// One point after another goes into a Delaunay triangulation; several inserters at once, each in a region of
/// space.

#include "fracture/base/alloc.h"
#include "fracture/geometry/delaunay.h"

enum { RBLI_GHOST_COUNT = 6 };

typedef struct rbli_triangulation {
    const rbli_ranked_point *points;   /* the ghosts, then the sites in order of insertion */
    RBLI_ARRAY(rbli_tetrahedron) tets; /* v[0] < 0: free */
    uint32_t *stamp; /* [stamp_capacity] 2i: in conflict with insertion i, 2i + 1: tested and not */
    size_t stamp_capacity;
    uint8_t *region; /* [points] where several inserters work: whose it is; RBLI_EVERY_REGION for ghosts */
} rbli_triangulation;

enum { RBLI_EVERY_REGION = 255 };

/// A region owns the tetrahedra whose sites all lie in it; ghosts lie in every region. An inserter changes what its
/// region owns, and in the tetrahedra beside it the one link that leads to what it owns, which no other reads.
typedef struct rbli_inserter {
    rbl_context *ctx;
    rbli_triangulation *t;
    bool alone; /* the region is all of space */
    uint8_t region;
    RBLI_ARRAY(int32_t) free_list;
    size_t next, end; /* free tetrahedra beside those of the list: next … end − 1 */
    RBLI_ARRAY(int32_t) conflict;
    RBLI_ARRAY(int64_t) border; /* 4 · tetrahedron + face, seen from inside the cavity */
    int32_t last;               /* a tetrahedron of the region */
    uint32_t clock;
    char apart[128]; /* no cache line is in two of them */
} rbli_inserter;

/// Whether the region of an inserter owns a tetrahedron with these corners.
bool rbli_inserter_owns(const rbli_inserter *in, const int32_t v[4]);
/// Room for tetrahedra 0 … count − 1, with stamps. No inserter may work meanwhile.
rbl_status rbli_triangulation_reserve(rbl_context *ctx, rbli_triangulation *t, size_t count);
/// Makes the eight tetrahedra of the first site (point 6) with the faces of the octahedron of ghosts.
/// @param in an inserter that is alone, zero but for ctx, t and alone. @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_inserter_start(rbli_inserter *in);
/// Inserts point `p`, or leaves everything as it is: `*inserted` is false where the point's cavity leaves the region,
/// or may, and where no tetrahedra are free. An inserter that is alone always inserts.
/// @param in `last` must name a tetrahedron of the region. @return RBL_OK · RBL_ERR_NO_MEMORY
/// Threads: one for each inserter, whose regions share no point.
rbl_status rbli_insert_point(rbli_inserter *in, int32_t p, bool *inserted);
/// Frees its lists.
void rbli_inserter_free(rbl_context *ctx, rbli_inserter *in);

#endif
