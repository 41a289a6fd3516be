#ifndef RUBBLE_TESTS_FAILING_ALLOC_H
#define RUBBLE_TESTS_FAILING_ALLOC_H

/// Runs a piece of code again and again, each time with another allocation failing, and checks that it
/// reports RBL_ERR_NO_MEMORY and leaks nothing.

#include "tests/check.h"

/// A host allocator that fails its `fail_at`-th allocation (from 1; 0: none), and all later ones if `sticky`.
/// It checks the sizes that it is told and surrounds nothing: run under ASan to see overruns.
typedef struct failing_alloc {
    atomic_size_t calls;
    size_t fail_at;
    bool sticky;
    atomic_bool failed;
} failing_alloc;

static inline void *failing_reallocate(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    failing_alloc *state = user;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(pointer);
        return NULL;
    }
    size_t call = atomic_fetch_add(&state->calls, 1) + 1;
    if (state->fail_at && (call == state->fail_at || (state->sticky && call > state->fail_at))) {
        atomic_store(&state->failed, true);
        return NULL;
    }
    return realloc(pointer, new_bytes);
}

/// What is tried: must release all that it made, on success as on failure, and return the first status that
/// is not RBL_OK.
typedef rbl_status (*failing_fn)(rbl_context *ctx, void *user);

/// Calls `fn` with allocation 1, 2, 3 … failing until no allocation was left to fail; first each alone, then
/// with all that come after. The context has no pool and no message list, so every failure that is not
/// reported is a fault. At most `most` rounds of each kind (0: no limit), evenly spread. Returns the number
/// of allocations of one undisturbed call.
static inline size_t fail_each_allocation(failing_fn fn, void *user, size_t most)
{
    failing_alloc count_only = {0};
    rbli_allocator *allocator = rbli_allocator_create(failing_reallocate, &count_only);
    assert_non_null(allocator);
    rbl_context plain = {.allocator = allocator};
    size_t before = atomic_load(&count_only.calls);
    assert_int_equal(fn(&plain, user), RBL_OK);
    size_t total = atomic_load(&count_only.calls) - before;
    assert_int_equal(rbli_allocator_bytes(allocator), 0);
    rbli_allocator_release(allocator);

    size_t step = most && total > most ? total / most : 1;
    for (int sticky = 0; sticky < 2; sticky++) {
        for (size_t fail_at = 1; fail_at <= total; fail_at += step) {
            failing_alloc state = {.sticky = sticky != 0};
            allocator = rbli_allocator_create(failing_reallocate, &state);
            assert_non_null(allocator);
            state.fail_at = atomic_load(&state.calls) + fail_at;
            rbl_context ctx = {.allocator = allocator};
            rbl_status status = fn(&ctx, user);
            if (atomic_load(&state.failed) ? status != RBL_ERR_NO_MEMORY : status != RBL_OK) {
                print_error("allocation %zu of %zu failing%s: status %d (%s)\n", fail_at, total,
                    sticky ? " with all later ones" : "", status, rbl_status_text(status));
                fail();
            }
            if (rbli_allocator_bytes(allocator) != 0) {
                print_error("allocation %zu of %zu failing%s: %zu bytes leaked\n", fail_at, total,
                    sticky ? " with all later ones" : "", rbli_allocator_bytes(allocator));
                fail();
            }
            rbli_allocator_release(allocator);
        }
    }
    return total;
}

#endif
