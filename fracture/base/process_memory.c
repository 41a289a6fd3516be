/// Memory of the process for programs that do little else than evaluate.

#include <stdint.h>
#include <stdlib.h>

#include "rubble/rubble.h"

#ifdef __GLIBC__

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include "fracture/base/large_blocks.h"

enum {
    KIB = 1 << 10,
    MIB = 1 << 20,
    HUGE_PAGE = 2 * MIB,
    HEAP = 512 * MIB,
    LARGE = 160 * KIB, /* more than an unused heap has */
    FRONT = 192 * KIB, /* more than that, and whole pages of any system */
    CORES_A_HEAP = 8
};

static bool is_limited(void)
{
    struct rlimit space, data;
    return getrlimit(RLIMIT_AS, &space) != 0 || getrlimit(RLIMIT_DATA, &data) != 0 ||
           space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY;
}

void rbl_tune_process_memory(void)
{
    if (is_limited()) return;
    /* Heaps of other threads have small pages alone. Few blocks come this way at all: malloc keeps the smallest for each
       thread, and large ones are our own. */
    mallopt(M_ARENA_MAX, 1 + (int)uv_available_parallelism() / CORES_A_HEAP);
    mallopt(M_TRIM_THRESHOLD, INT32_MAX);
    /* What is smaller than that comes from the heap, too. The padding grows it, and it stays that large. */
    mallopt(M_MMAP_THRESHOLD, 512 * KIB);
    mallopt(M_TOP_PAD, HEAP);
    /* The heap goes on a little in front of a huge page: malloc's own words around `heap` are not in it yet when the
       system is told to make it one. What comes before is fetched at once instead of page by page. */
    char *end = sbrk(0);
    if (end != (char *)-1) sbrk((intptr_t)(-((uintptr_t)end + FRONT) & (HUGE_PAGE - 1)));
    char *heap = malloc(LARGE);
    mallopt(M_TOP_PAD, MIB);
    char *huge = (char *)(((uintptr_t)heap + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
#ifdef MADV_HUGEPAGE
    if (heap) madvise(huge, HEAP - FRONT, MADV_HUGEPAGE);
#endif
    if (heap && huge - heap <= FRONT) rbli_fetch_pages(huge - FRONT, huge);
    free(heap);
}

#else

void rbl_tune_process_memory(void)
{
}

#endif
