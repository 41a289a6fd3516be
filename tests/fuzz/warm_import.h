#ifndef RUBBLE_TESTS_FUZZ_WARM_IMPORT_H
#define RUBBLE_TESTS_FUZZ_WARM_IMPORT_H

/// `rubble-import` without its start: in a program that is linked with it, librubble forks as always, sets its limits and
/// pipes, and where it would execute the program, its main function runs in the forked process. A start costs 100 times
/// as much as reading a small file, most of it for loading assimp. tests/io/test_import.c starts the real one.

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// From now on programs are not executed but run as said. `*ours`, in shared memory, is set where a sanitizer finds a fault
/// that is not assimp's.
void warm_import_begin(volatile bool *ours);

#ifdef __cplusplus
}
#endif

#endif
