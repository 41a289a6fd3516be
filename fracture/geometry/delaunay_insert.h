#ifndef RUBBLE_GEOMETRY_DELAUNAY_INSERT_H
#define RUBBLE_GEOMETRY_DELAUNAY_INSERT_H

/// The parts of a Delaunay triangulation (delaunay.h): one point after another goes into it, several inserters work at
/// once, each in a region of space; tetrahedra are numbered in the end.

#include "fracture/base/alloc.h"
#include "fracture/geometry/delaunay.h"

enum { RBLI_GHOST_COUNT = 6 };

typedef struct rbli_triangulation {
    const rbli_ranked_point *points; /* [point_count] the ghosts, then the sites along a curve */
    size_t point_count;
    rbli_tetrahedron *tets; /* [count of capacity] none in two cache lines; v[0] < 0: free */
    size_t count, capacity;
    uint32_t *stamp; /* [capacity] 2i: in conflict with insertion i, 2i + 1: tested and not */
    void *memory;    /* of the tetrahedra */
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
    size_t clear;     /* next … clear − 1 are set free, those behind are not written to yet */
    RBLI_ARRAY(int32_t) conflict;
    RBLI_ARRAY(int64_t) border; /* 4 · tetrahedron + face, seen from inside the cavity */
    struct rbli_star *star;     /* to link new tetrahedra */
    int32_t last;               /* a tetrahedron of the region */
    uint32_t clock;
    char apart[128]; /* no cache line is in two of them */
} rbli_inserter;

/// Whether the region of an inserter owns a tetrahedron with these corners.
bool rbli_inserter_owns(const rbli_inserter *in, const int32_t v[4]);
/// The first multiple of a cache line's size from a pointer on; less than that size away.
void *rbli_at_cache_line(void *memory);
enum { RBLI_CACHE_LINE = 64 };
/// Room for `extra` tetrahedra more, with stamps. No inserter may work meanwhile.
rbl_status rbli_triangulation_reserve(rbl_context *ctx, rbli_triangulation *t, size_t extra);
/// Gives an inserter `count` free tetrahedra more, one after another. No inserter may work meanwhile.
/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_inserter_take(rbli_inserter *in, size_t count);
/// Sets the tetrahedra free that an inserter has not used.
void rbli_inserter_finish(rbli_inserter *in);
/// Makes the eight tetrahedra of the first site with the faces of the octahedron of ghosts.
/// @param in an inserter that is alone, zero but for ctx, t and alone. @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_inserter_start(rbli_inserter *in, int32_t first);
/// Inserts point `p`, or leaves everything as it is: `*inserted` is false where the point's cavity leaves the region,
/// or may, and where no tetrahedra are free. An inserter that is alone always inserts.
/// @param in `last` must name a tetrahedron of the region. @return RBL_OK · RBL_ERR_NO_MEMORY
/// Threads: one for each inserter, whose regions share no point.
rbl_status rbli_insert_point(rbli_inserter *in, int32_t p, bool *inserted);
/// Frees its lists.
void rbli_inserter_free(rbl_context *ctx, rbli_inserter *in);
/// Frees all but the points.
void rbli_triangulation_free(rbl_context *ctx, rbli_triangulation *t);

/// Inserts all points, each thread those inside a region of its own.
/// @param t      zero but for its points
/// @param order  [point_count − 6] places on the curve in order of insertion, a permutation
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses all of the context's for which there are cores. The triangulation does not depend on them, the numbers
/// of its tetrahedra do.
rbl_status rbli_insert_all(rbl_context *ctx, rbli_triangulation *t, const int32_t *order);

/// Numbers tetrahedra by their corners' places, the last first, so that neighbours in space are neighbours in memory
/// and no number depends on threads; names points as the caller does.
/// @param t      its stamps are overwritten
/// @param curve  [point_count − 6] the caller's indices of sites along the curve. @param out its tetrahedra are set
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED. Threads: uses all of the context's.
rbl_status rbli_number_tetrahedra(
    rbl_context *ctx, rbli_triangulation *t, const int32_t *curve, rbli_delaunay *out);

#endif
