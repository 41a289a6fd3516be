/// Compares the memory cache with plain LRU on what a person at a slider asks for: `bench_cache [--ticks N]`
/// (1,000).
///
/// A graph of ten nodes in a line stands for mesh → … → hulls; each has a size and a cost. Somebody drags the
/// slider of one node after the other (each tick asks for all ten keys, those from that node on are new
/// unless the value was there before), turns back often, and now and then another graph of many nodes is
/// evaluated once: the scan. Both caches see the same requests. Cases: `scan never`, every 100 and every
/// 20 ticks; parts: budget and cache; values: shares of the requests answered (`hits`) and of the cost saved.
/// Times are of both caches together, and tell little.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cache.h"
#include "engine/value.h"
#include "fracture/base/alloc.h"
#include "tools/bench/bench.h"

enum { NODES = 10, VALUES = 60, SCAN_NODES = 60 };
static const size_t node_kilobytes[NODES] = {64, 8, 8, 256, 384, 384, 400, 400, 512, 16};
static const double node_costs[NODES] = {40, 2, 2, 200, 300, 60, 80, 20, 150, 1};

typedef struct tally {
    size_t asked, hit;
    double cost, saved;
} tally;

/* ---- Plain LRU ---- */

typedef struct lru_entry {
    rbli_hash key;
    size_t bytes, used; /* tick of the last use; 0: free */
} lru_entry;

typedef struct lru {
    lru_entry entries[4096];
    size_t count, bytes, budget, clock;
} lru;

static bool lru_ask(lru *cache, rbli_hash key, size_t bytes)
{
    cache->clock++;
    for (size_t i = 0; i < cache->count; i++)
        if (rbli_hash_equal(cache->entries[i].key, key)) {
            cache->entries[i].used = cache->clock;
            return true;
        }
    if (bytes > cache->budget || cache->count == sizeof cache->entries / sizeof *cache->entries) return false;
    cache->entries[cache->count++] = (lru_entry){key, bytes, cache->clock};
    cache->bytes += bytes;
    while (cache->bytes > cache->budget) {
        size_t oldest = 0;
        for (size_t i = 1; i < cache->count; i++)
            if (cache->entries[i].used < cache->entries[oldest].used) oldest = i;
        cache->bytes -= cache->entries[oldest].bytes;
        cache->entries[oldest] = cache->entries[--cache->count];
    }
    return false;
}

/* ---- Ours ---- */

static bool ours_ask(rbl_context *ctx, rbli_cache *cache, rbli_hash key, size_t bytes)
{
    rbli_result *result = rbli_cache_find(cache, key);
    if (result) {
        rbli_result_release(result);
        return true;
    }
    double(*points)[3] = rbli_calloc(ctx, bytes / sizeof *points, sizeof *points);
    if (points && rbli_result_create(ctx->allocator, 1, &result) == RBL_OK) {
        if (rbl_value_create_points(
                ctx, (const double(*)[3])points, bytes / sizeof *points, &result->outputs[0]) == RBL_OK)
            rbli_cache_put(cache, key, result);
        rbli_result_release(result);
    }
    rbli_free(ctx, points);
    return false;
}

/* ---- The work ---- */

typedef struct bench {
    rbl_context *ctx;
    rbli_cache *ours;
    lru *plain;
    tally tallies[2];
} bench;

static void ask(bench *b, rbli_hash key, size_t bytes, double cost)
{
    bool hits[2] = {lru_ask(b->plain, key, bytes), ours_ask(b->ctx, b->ours, key, bytes)};
    for (int i = 0; i < 2; i++) {
        b->tallies[i].asked++;
        b->tallies[i].hit += hits[i];
        b->tallies[i].cost += cost;
        b->tallies[i].saved += hits[i] ? cost : 0;
    }
}

/// One evaluation of the graph with these values of its nodes' sliders.
static void evaluate(bench *b, const uint32_t values[NODES])
{
    rbli_hash key = {1, 2};
    for (size_t i = 0; i < NODES; i++) {
        uint32_t own[2] = {(uint32_t)i, values[i]};
        key = rbli_hash_combine(key, rbli_hash_bytes(own, sizeof own));
        ask(b, key, node_kilobytes[i] << 10, node_costs[i]);
    }
}

static void scan(bench *b, uint32_t number)
{
    for (uint32_t i = 0; i < SCAN_NODES; i++) {
        uint32_t own[3] = {number, i, 77};
        ask(b, rbli_hash_bytes(own, sizeof own), (size_t)200 << 10, 50);
    }
}

static uint32_t below(uint32_t *state, uint32_t most)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(*state >> 4) * most) >> 28);
}

static void drag(bench *b, uint32_t ticks, uint32_t scan_every)
{
    uint32_t values[NODES] = {0}, random = 12345, node = 3;
    int direction = 1;
    for (uint32_t tick = 0; tick < ticks; tick++) {
        if (below(&random, 80) == 0) { /* another slider; the last one goes back to where it was good */
            values[node] = below(&random, 4) * 10;
            node = 1 + below(&random, NODES - 1);
        }
        if (below(&random, 12) == 0) direction = -direction;
        values[node] = (uint32_t)((int)(values[node] + VALUES) + direction) % VALUES;
        evaluate(b, values);
        if (scan_every && below(&random, scan_every) == 0) scan(b, tick);
    }
}

static void print_share(
    const bench_options *o, const bench_times *times, bench_row row, double value, const char *unit)
{
    row.value = value;
    row.unit = unit;
    bench_print(o, times, &row);
}

static void compare(const bench_options *o, bench *b, uint32_t ticks, uint32_t scan_every, size_t megabytes)
{
    static const char *const names[] = {"lru", "ours"};
    bench_times times = {0};
    char name[40], part[40];
    for (int run = 0; run < o->runs; run++) {
        memset(b->plain, 0, sizeof *b->plain);
        memset(b->tallies, 0, sizeof b->tallies);
        b->plain->budget = megabytes << 20;
        bench_check(b->ctx, rbli_cache_create(b->ctx->allocator, b->plain->budget, &b->ours), "cache");
        bench_begin(&times);
        drag(b, ticks, scan_every);
        bench_end(&times);
        rbli_cache_destroy(b->ours);
    }
    snprintf(name, sizeof name, scan_every ? "scan every %u" : "scan never", (unsigned)scan_every);
    for (int k = 0; k < 2; k++) {
        const tally *t = &b->tallies[k];
        snprintf(part, sizeof part, "%zu MB %s", megabytes, names[k]);
        bench_row row = {.case_name = name, .part = part};
        print_share(o, &times, row, (double)t->hit / (double)t->asked, "hits");
        print_share(o, &times, row, t->saved / t->cost, "cost saved");
    }
}

int main(int argc, char **argv)
{
    long ticks = 1000;
    const bench_own_option own[] = {{"--ticks", &ticks}, {0}};
    bench_options o = bench_start(argc, argv, "cache", own);
    bench b = {.ctx = bench_context(1), .plain = bench_alloc(1, sizeof *b.plain)};
    static const uint32_t scans[] = {0, 100, 20};
    static const size_t megabytes[] = {8, 32, 128};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++)
            compare(&o, &b, (uint32_t)ticks, scans[i], megabytes[k]);
    bench_context_destroy(b.ctx);
    free(b.plain);
    return 0;
}
