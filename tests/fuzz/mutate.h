#ifndef RUBBLE_TESTS_FUZZ_MUTATE_H
#define RUBBLE_TESTS_FUZZ_MUTATE_H

/// Damages a file in the ways that files get damaged: cut off anywhere, bits and bytes changed, numbers and lengths
/// replaced by those that hurt, parts doubled, lost and exchanged.

#include <stddef.h>
#include <stdint.h>

/// Variant `number` of the seed, which depends on nothing else. The first quarter of `variants` are truncations, spread
/// evenly. @return a buffer of exactly *out_count bytes (so that ASan sees a byte read behind it), to be freed; NULL
/// without memory
uint8_t *make_variant(
    const uint8_t *seed, size_t seed_count, size_t number, size_t variants, size_t *out_count);

/// The same for a 3MF package, of which the last file is damaged when it is stored without compression.
uint8_t *make_3mf_variant(
    const uint8_t *seed, size_t seed_count, size_t number, size_t variants, size_t *out_count);

#endif
