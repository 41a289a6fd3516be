/// First fit by address with boundary tags (Knuth, The Art of Computer Programming 1, 2.5) in a few large
/// regions of pages. A region's used part grows upward and is divided into spans; neighbouring free spans are joined.

#include "fracture/base/large_blocks.h"

#include <stdint.h>
#include <stdlib.h>
#include <uv.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ADDRESS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ADDRESS_SANITIZER
#endif

#if defined(__linux__) && !defined(UNDER_ADDRESS_SANITIZER)
#define HAS_PAGES
#include <sys/mman.h>
#endif

enum {
    BIN_COUNT = 64,              /* free spans by the logarithm of their size */
    ALIGN_BYTES = 64,            /* of spans, so that arrays do not all begin at the same place of a page */
    LEAST_SPLIT_BYTES = 1 << 16, /* a smaller rest stays with the block */
    HUGE_PAGE_BIN = 21,
    HUGE_PAGE_BYTES = 1 << HUGE_PAGE_BIN,
    FIRST_REGION_BYTES = 1 << 26,
    LAST_REGION_BYTES = 1 << 30, /* later ones are twice as large as those before, up to this; untouched
                                          pages cost nothing */
    KEPT_PARTS = 3,              /* of what is in use: between two phases of an evaluation little is */
    KEPT_BYTES = 1 << 26,
};
#define IN_USE SIZE_MAX

typedef struct region region;

/// In front of every block.
typedef struct span {
    size_t bytes;          /* with this header */
    size_t previous_bytes; /* of the span in front; 0 for the first of a region */
    region *home;
    struct span *next, *previous; /* in its bin, when free */
    size_t touched;               /* IN_USE, or how many bytes of a free span hold pages, about */
} span;
_Static_assert(sizeof(span) % 16 == 0, "blocks are 16-byte aligned");

struct region {
    region *next;
    void *mapping;
    size_t mapping_bytes;
    char *base, *top, *end; /* spans lie from base to top */
    span *last;             /* the one that ends at top, or NULL */
};

struct rbli_large_blocks {
    uv_mutex_t mutex;
    region *regions; /* the newest first */
    span *bins[BIN_COUNT];
    size_t region_bytes, used_bytes, touched_bytes; /* of the next region; in use; in free spans */
};

#ifdef HAS_PAGES

static void *map_pages(size_t bytes)
{
    void *pages =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    madvise(pages, bytes, MADV_HUGEPAGE); /* where the system has them */
    return pages;
}

static void unmap_pages(void *pages, size_t bytes)
{
    munmap(pages, bytes);
}

/// Gives the whole pages from `begin` to `end` back.
static void drop_pages(char *begin, char *end)
{
    uintptr_t first = ((uintptr_t)begin + HUGE_PAGE_BYTES - 1) & ~(uintptr_t)(HUGE_PAGE_BYTES - 1);
    uintptr_t past = (uintptr_t)end & ~(uintptr_t)(HUGE_PAGE_BYTES - 1);
    if (first < past) madvise((void *)first, past - first, MADV_DONTNEED);
}

rbli_large_blocks *rbli_large_blocks_create(void)
{
    rbli_large_blocks *blocks = calloc(1, sizeof *blocks);
    if (!blocks) return NULL;
    blocks->region_bytes = FIRST_REGION_BYTES;
    if (uv_mutex_init(&blocks->mutex) != 0) {
        free(blocks);
        return NULL;
    }
    return blocks;
}

#else

static void *map_pages(size_t bytes)
{
    (void)bytes;
    return NULL;
}

static void unmap_pages(void *pages, size_t bytes)
{
    (void)pages;
    (void)bytes;
}

static void drop_pages(char *begin, char *end)
{
    (void)begin;
    (void)end;
}

/// The address sanitizer looks at the C library's blocks alone.
rbli_large_blocks *rbli_large_blocks_create(void)
{
    return NULL;
}

#endif

bool rbli_fetch_pages(char *begin, char *end)
{
#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
    const uintptr_t page = 1 << 16; /* no system's are larger */
    uintptr_t first = ((uintptr_t)begin + page - 1) & ~(page - 1), past = (uintptr_t)end & ~(page - 1);
    return first >= past || madvise((void *)first, past - first, MADV_POPULATE_WRITE) == 0;
#else
    (void)begin;
    (void)end;
    return false;
#endif
}

void rbli_large_blocks_destroy(rbli_large_blocks *blocks)
{
    if (!blocks) return;
    for (region *next, *r = blocks->regions; r; r = next) {
        next = r->next;
        unmap_pages(r->mapping, r->mapping_bytes);
        free(r);
    }
    uv_mutex_destroy(&blocks->mutex);
    free(blocks);
}

/* Free spans */

static int bin_of(size_t bytes)
{
    return 63 - __builtin_clzll((unsigned long long)bytes);
}

static void put_in_bin(rbli_large_blocks *blocks, span *s)
{
    span **bin = &blocks->bins[bin_of(s->bytes)];
    s->previous = NULL;
    s->next = *bin;
    if (*bin) (*bin)->previous = s;
    *bin = s;
    blocks->touched_bytes += s->touched;
}

static void take_from_bin(rbli_large_blocks *blocks, span *s)
{
    if (s->next) s->next->previous = s->previous;
    if (s->previous) {
        s->previous->next = s->next;
    } else {
        blocks->bins[bin_of(s->bytes)] = s->next;
    }
    blocks->touched_bytes -= s->touched;
}

static span *span_behind(const span *s)
{
    char *behind = (char *)s + s->bytes;
    return behind < s->home->top ? (span *)behind : NULL;
}

static span *span_before(const span *s)
{
    return s->previous_bytes ? (span *)((char *)s - s->previous_bytes) : NULL;
}

/// Tells the neighbour behind how large `s` is.
static void tag_behind(span *s)
{
    span *behind = span_behind(s);
    if (behind) {
        behind->previous_bytes = s->bytes;
    } else {
        s->home->last = s;
    }
}

/// Cuts a span that is in no bin to `bytes`; a rest worth it becomes a free span.
static void split(rbli_large_blocks *blocks, span *s, size_t bytes)
{
    size_t rest = s->bytes - bytes;
    if (rest < LEAST_SPLIT_BYTES) return;
    span *behind = span_behind(s), *free_span = (span *)((char *)s + bytes);
    *free_span = (span){.bytes = rest, .previous_bytes = bytes, .home = s->home};
    free_span->touched = s->touched == IN_USE ? rest : s->touched > bytes ? s->touched - bytes : 0;
    s->bytes = bytes;
    if (behind && behind->touched != IN_USE) {
        take_from_bin(blocks, behind);
        free_span->bytes += behind->bytes;
        free_span->touched += behind->touched;
    }
    tag_behind(free_span);
    put_in_bin(blocks, free_span);
}

/// The free span of at least `bytes` at the lowest address, or NULL.
static span *find_span(const rbli_large_blocks *blocks, size_t bytes)
{
    span *first = NULL;
    for (int bin = bin_of(bytes); bin < BIN_COUNT; bin++)
        for (span *s = blocks->bins[bin]; s; s = s->next)
            if (s->bytes >= bytes && (!first || s < first)) first = s;
    return first;
}

/// Gives pages of free spans back, as many as a region is about to grow by: what the system just got it hands out
/// again, and what is held grows with what is in use, not with the holes between. Of a span the rear part goes,
/// whose front is taken first.
static void exchange_pages(rbli_large_blocks *blocks, size_t bytes)
{
    const size_t least = 2 * (size_t)HUGE_PAGE_BYTES;
    for (int bin = BIN_COUNT - 1; bin >= bin_of(least) && bytes >= HUGE_PAGE_BYTES; bin--)
        for (span *s = blocks->bins[bin]; s && bytes >= HUGE_PAGE_BYTES; s = s->next) {
            if (s->touched < least) continue;
            size_t given = s->touched < bytes ? s->touched : bytes, rest = s->touched - given;
            drop_pages((char *)(s + 1) + rest, (char *)s + s->bytes);
            s->touched = rest;
            blocks->touched_bytes -= given;
            bytes -= given;
        }
}

/// A new span at the top of a region that has room for it; a free one that lies there is its beginning.
static span *extend_region(rbli_large_blocks *blocks, size_t bytes)
{
    for (region *r = blocks->regions; r; r = r->next) {
        span *last = r->last && r->last->touched != IN_USE ? r->last : NULL;
        char *begin = last ? (char *)last : r->top;
        if ((size_t)(r->end - begin) < bytes) continue;
        if (last) {
            take_from_bin(blocks, last);
            exchange_pages(blocks, bytes - last->bytes);
            last->bytes = bytes;
        } else {
            exchange_pages(blocks, bytes);
            last = (span *)begin;
            *last = (span){.bytes = bytes, .previous_bytes = r->last ? r->last->bytes : 0, .home = r};
            r->last = last;
        }
        r->top = begin + bytes;
        return last;
    }
    return NULL;
}

static bool add_region(rbli_large_blocks *blocks, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) return false;
    size_t least = (bytes + 2 * (size_t)HUGE_PAGE_BYTES - 1) & ~(size_t)(HUGE_PAGE_BYTES - 1);
    size_t mapped = blocks->region_bytes > least ? blocks->region_bytes : least;
    region *r = malloc(sizeof *r);
    void *pages = r ? map_pages(mapped) : NULL;
    if (r && !pages && mapped > least) pages = map_pages(mapped = least);
    if (!pages) {
        free(r);
        return false;
    }
    char *base = (char *)(((uintptr_t)pages + HUGE_PAGE_BYTES - 1) & ~(uintptr_t)(HUGE_PAGE_BYTES - 1));
    *r = (region){blocks->regions, pages, mapped, base, base, (char *)pages + mapped, NULL};
    blocks->regions = r;
    if (blocks->region_bytes < LAST_REGION_BYTES) blocks->region_bytes *= 2;
    return true;
}

static size_t span_bytes(size_t bytes)
{
    return (bytes + sizeof(span) + ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
}

void *rbli_large_blocks_alloc(rbli_large_blocks *blocks, size_t bytes)
{
    if (bytes > PTRDIFF_MAX / 2) return NULL;
    size_t needed = span_bytes(bytes);
    uv_mutex_lock(&blocks->mutex);
    span *s = find_span(blocks, needed);
    if (s) {
        take_from_bin(blocks, s);
        split(blocks, s, needed);
    } else {
        s = extend_region(blocks, needed);
        if (!s && add_region(blocks, needed)) s = extend_region(blocks, needed);
    }
    if (s) {
        s->touched = IN_USE;
        blocks->used_bytes += s->bytes;
    }
    uv_mutex_unlock(&blocks->mutex);
    return s ? s + 1 : NULL;
}

static bool grow(rbli_large_blocks *blocks, span *s, size_t needed)
{
    region *home = s->home;
    span *behind = span_behind(s);
    size_t room = 0;
    if (behind && behind->touched == IN_USE) return false;
    if (behind) room = behind->bytes;
    bool at_top = !behind || !span_behind(behind);
    if (at_top && s->bytes + room < needed) {
        if ((size_t)(home->end - (char *)s) < needed) return false;
        if (behind) take_from_bin(blocks, behind);
        exchange_pages(blocks, needed - s->bytes - room);
        s->bytes = needed;
        home->top = (char *)s + needed;
        home->last = s;
        return true;
    }
    if (s->bytes + room < needed) return false;
    take_from_bin(blocks, behind);
    s->bytes += room;
    tag_behind(s);
    split(blocks, s, needed);
    return true;
}

bool rbli_large_blocks_resize(rbli_large_blocks *blocks, void *pointer, size_t bytes)
{
    span *s = (span *)pointer - 1;
    if (bytes > PTRDIFF_MAX / 2) return false;
    size_t needed = span_bytes(bytes);
    bool done = true;
    uv_mutex_lock(&blocks->mutex);
    size_t before = s->bytes;
    if (needed > s->bytes) {
        done = grow(blocks, s, needed);
    } else {
        split(blocks, s, needed);
    }
    blocks->used_bytes += s->bytes - before;
    uv_mutex_unlock(&blocks->mutex);
    return done;
}

/// Joins a free span that is in no bin with its free neighbours. @return the whole
static span *join(rbli_large_blocks *blocks, span *s)
{
    span *before = span_before(s), *behind = span_behind(s);
    if (behind && behind->touched != IN_USE) {
        take_from_bin(blocks, behind);
        s->bytes += behind->bytes;
        s->touched += behind->touched;
    }
    if (before && before->touched != IN_USE) {
        take_from_bin(blocks, before);
        before->bytes += s->bytes;
        before->touched += s->touched;
        s = before;
    }
    tag_behind(s);
    return s;
}

/// Gives a free span's pages back where that is worth a call.
static void drop_span(rbli_large_blocks *blocks, span *s)
{
    if (s->touched <= HUGE_PAGE_BYTES) return;
    drop_pages((char *)(s + 1), (char *)s + s->bytes);
    blocks->touched_bytes -= s->touched;
    s->touched = 0;
}

void rbli_large_blocks_free(rbli_large_blocks *blocks, void *pointer)
{
    span *s = (span *)pointer - 1;
    uv_mutex_lock(&blocks->mutex);
    blocks->used_bytes -= s->bytes;
    s->touched = s->bytes;
    s = join(blocks, s);
    put_in_bin(blocks, s);
    size_t most = KEPT_PARTS * blocks->used_bytes > KEPT_BYTES ? KEPT_PARTS * blocks->used_bytes : KEPT_BYTES;
    if (blocks->touched_bytes > most) drop_span(blocks, s);
    /* What was kept when more was in use may be too much now: the largest spans first. */
    for (int bin = BIN_COUNT - 1; bin >= HUGE_PAGE_BIN && blocks->touched_bytes > most; bin--)
        for (span *other = blocks->bins[bin]; other && blocks->touched_bytes > most; other = other->next)
            drop_span(blocks, other);
    uv_mutex_unlock(&blocks->mutex);
}

void rbli_large_blocks_count(rbli_large_blocks *blocks, size_t *used, size_t *kept)
{
    uv_mutex_lock(&blocks->mutex);
    *used = blocks->used_bytes;
    *kept = blocks->touched_bytes;
    uv_mutex_unlock(&blocks->mutex);
}

/// Free spans and bytes of a region; false when a tag is wrong.
static bool is_region_sound(const region *r, size_t *free_count, size_t *used, size_t *touched)
{
    size_t before = 0;
    bool was_free = false;
    char *at = r->base;
    for (const span *s; at < r->top; at += before) {
        s = (const span *)at;
        bool is_free = s->touched != IN_USE;
        if (s->home != r || s->previous_bytes != before || s->bytes < sizeof *s) return false;
        if ((is_free && was_free) || (is_free && s->touched > s->bytes)) return false;
        if ((char *)s + s->bytes == r->top && r->last != s) return false;
        *free_count += is_free;
        *(is_free ? touched : used) += is_free ? s->touched : s->bytes;
        was_free = is_free;
        before = s->bytes;
    }
    return at == r->top && r->top <= r->end;
}

bool rbli_large_blocks_are_sound(rbli_large_blocks *blocks)
{
    size_t free_count = 0, listed = 0, used = 0, touched = 0;
    bool sound = true;
    uv_mutex_lock(&blocks->mutex);
    for (const region *r = blocks->regions; r && sound; r = r->next)
        sound = is_region_sound(r, &free_count, &used, &touched);
    for (int bin = 0; bin < BIN_COUNT; bin++)
        for (const span *s = blocks->bins[bin]; s; s = s->next) {
            sound &= s->touched != IN_USE && bin_of(s->bytes) == bin && (!s->next || s->next->previous == s);
            listed++;
        }
    sound &= listed == free_count && used == blocks->used_bytes && touched == blocks->touched_bytes;
    uv_mutex_unlock(&blocks->mutex);
    return sound;
}
