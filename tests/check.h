#ifndef RUBBLE_TESTS_CHECK_H
#define RUBBLE_TESTS_CHECK_H

/// What every test file includes: cmocka with its needs, and a context that is checked for leaks.

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fracture/base/alloc.h"
#include "fracture/base/context.h"

/// How often something is tried: seldom, so that the tests of every commit are quick, or often, with RUBBLE_SLOW.
static inline uint32_t tries(uint32_t few, uint32_t many)
{
    const char *slow = getenv("RUBBLE_SLOW");
    return slow && *slow && strcmp(slow, "0") != 0 ? many : few;
}

/// Place of a file of the models beside the project, in $RUBBLE_SHARED or ../shared. @return whether it can be read
static inline bool find_model(const char *name, char path[5000])
{
    const char *shared = getenv("RUBBLE_SHARED"), *source = getenv("RUBBLE_SOURCE");
    if (shared && *shared)
        snprintf(path, 5000, "%s/models/%s", shared, name);
    else
        snprintf(path, 5000, "%s/../shared/models/%s", source ? source : ".", name);
    return access(path, R_OK) == 0;
}

/// Fails unless |a − b| ≤ tolerance, printing all three.
#define assert_close(a, b, tolerance)                                                                        \
    do {                                                                                                     \
        double a_ = (a), b_ = (b), t_ = (tolerance);                                                         \
        if (!(a_ - b_ <= t_ && b_ - a_ <= t_)) {                                                             \
            print_error("%s:%d: %s = %.17g, not %s = %.17g (tolerance %g)\n", __FILE__, __LINE__, #a, a_,    \
                #b, b_, t_);                                                                                 \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

#define assert_ok(ctx, expression)                                                                           \
    do {                                                                                                     \
        rbl_status s_ = (expression);                                                                        \
        if (s_ != RBL_OK) {                                                                                  \
            print_error("%s:%d: %s: %s\n", __FILE__, __LINE__, #expression, rbl_status_text(s_));            \
            print_messages(ctx);                                                                             \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

static inline void print_messages(rbl_context *ctx)
{
    for (size_t i = 0; ctx->messages && i < rbli_messages_count(ctx->messages); i++)
        print_error("  %s\n", rbli_messages_get(ctx->messages, i)->text);
}

static inline rbl_context *make_context(int thread_count)
{
    rbl_context *ctx = NULL;
    assert_int_equal(rbli_context_create(thread_count, &ctx), RBL_OK);
    return ctx;
}

/// Destroys a context and fails if anything allocated from it is left.
static inline void finish_context(rbl_context *ctx)
{
    rbli_allocator *allocator = rbli_allocator_retain(ctx->allocator);
    rbli_context_destroy(ctx);
    assert_int_equal(rbli_allocator_bytes(allocator), 0);
    rbli_allocator_release(allocator);
}

#endif
