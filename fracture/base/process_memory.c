/// Memory of the process for programs that do little else than evaluate.

#include <stdint.h>
#include <stdlib.h>

#include "rubble/rubble.h"

#ifdef __GLIBC__

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum {
    MIB = 1 << 20,
    HUGE_PAGE = 2 * MIB,
    HEAP = 512 * MIB,
    LARGE = MIB / 4
}; /* more than an unused heap has */

static bool is_limited(void)
{
    struct rlimit space, data;
    return getrlimit(RLIMIT_AS, &space) != 0 || getrlimit(RLIMIT_DATA, &data) != 0 ||
           space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY;
}

void rbl_tune_process_memory(void)
{
    if (is_limited()) return;
    mallopt(M_TRIM_THRESHOLD, INT32_MAX);
    /* What is smaller than that comes from the heap, too. The padding grows it, and it stays that large. */
    mallopt(M_MMAP_THRESHOLD, 2 * LARGE);
    mallopt(M_TOP_PAD, HEAP);
    char *heap = malloc(LARGE);
    mallopt(M_TOP_PAD, MIB);
#ifdef MADV_HUGEPAGE
    /* What is in front of the first huge page is enough for starting. */
    uintptr_t begin = ((uintptr_t)heap + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    if (heap) madvise((void *)begin, (uintptr_t)heap + HEAP - begin, MADV_HUGEPAGE);
#endif
    free(heap);
}

#else

void rbl_tune_process_memory(void)
{
}

#endif
