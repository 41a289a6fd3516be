#ifndef RUBBLE_BASE_LARGE_BLOCKS_H
#define RUBBLE_BASE_LARGE_BLOCKS_H

/// Large blocks of the default allocator. Evaluations take and free arrays of megabytes all the time; the C
/// library gives them back to the system, which clears their pages again when the next array needs them. Where a block
/// fits into no hole between others, holes give as many pages back as it takes: the process does not hold both.

#include <stdbool.h>
#include <stddef.h>

enum { RBLI_LARGE_BYTES = 1 << 16 }; /* blocks of at least this size belong here */

typedef struct rbli_large_blocks rbli_large_blocks;

/// NULL without memory, or where pages cannot be had from the system: use the C library for all sizes then.
rbli_large_blocks *rbli_large_blocks_create(void);
/// Gives all pages back; blocks that were not freed are gone, too.
void rbli_large_blocks_destroy(rbli_large_blocks *blocks); /* NULL is fine */
/// 16-byte aligned, not zeroed; `bytes` ≥ RBLI_LARGE_BYTES. NULL when out of memory. Threads: any.
void *rbli_large_blocks_alloc(rbli_large_blocks *blocks, size_t bytes);
/// Makes a block larger or smaller where it is. False: there is no room behind it, and nothing happened.
bool rbli_large_blocks_resize(rbli_large_blocks *blocks, void *pointer, size_t bytes);
/// At most three times as many bytes as are in use, or 64 MiB, stay with the process for the next blocks, and what small
/// holes hold.
void rbli_large_blocks_free(rbli_large_blocks *blocks, void *pointer);
/// Bytes of blocks in use, with what is lost between them; bytes kept for the next ones. For tests.
void rbli_large_blocks_count(rbli_large_blocks *blocks, size_t *used, size_t *kept);
/// Checks every span and list. For tests.
bool rbli_large_blocks_are_sound(rbli_large_blocks *blocks);

/// Has the system give the whole pages from `begin` to `end` that it has not given yet. False: it cannot be asked.
bool rbli_fetch_pages(char *begin, char *end);

#endif
