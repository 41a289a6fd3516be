#ifndef RUBBLE_TESTS_FUZZ_H
#define RUBBLE_TESTS_FUZZ_H

/// What every fuzz_<name>.c defines: libFuzzer's entry. Must not leak, keep state or depend on anything but
/// its input.

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

#endif
