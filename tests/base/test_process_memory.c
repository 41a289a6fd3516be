/// rbl_tune_process_memory: the heap stays grown, and under a limit nothing is done.

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rubble/rubble.h"
#include "tests/check.h"

/// Sanitizers bring an allocator of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATOR 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define OWN_ALLOCATOR 1
#endif
#endif
#ifndef OWN_ALLOCATOR
#define OWN_ALLOCATOR 0
#endif

/// Exit status of a child that asks for it under a limit of the address space (0: none): 1 when its heap holds
/// the address space afterwards, and still does after a large block came and went.
static int heap_of_child(rlim_t limit)
{
    pid_t child = fork();
    if (child == 0) {
        struct rlimit space = {limit, limit};
        if (limit && setrlimit(RLIMIT_AS, &space) != 0) _exit(9);
        rbl_tune_process_memory();
        bool grown = mallinfo2().arena >= (size_t)512 << 20;
        char *block = malloc(8 << 20);
        if (!block) _exit(8);
        for (size_t i = 0; i < 8 << 20; i += 4096)
            block[i] = 1;
        free(block);
        _exit(grown && mallinfo2().arena >= (size_t)512 << 20);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_heap_stays_grown(void **state)
{
    (void)state;
    if (OWN_ALLOCATOR) skip();
    assert_int_equal(heap_of_child(0), 1);
}

static void test_limits_are_respected(void **state)
{
    (void)state;
    if (OWN_ALLOCATOR) skip();
    assert_int_equal(heap_of_child((rlim_t)256 << 20), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap_stays_grown),
        cmocka_unit_test(test_limits_are_respected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
