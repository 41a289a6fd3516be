#include "tests/engine/test_nodes.h"

#include <time.h>

#include "fracture/base/rng.h"

/// Nodes that choose: what only the other side needs does not run.

static rbl_outcome outcome_of(const rbl_run *run, const char *node)
{
    return report_of(run, node)->outcome;
}

static const char *const branch_text =
    "{\"rubble\": 1, \"vars\": {\"yes\": {\"type\": \"bool\", \"default\": true}, \"n\": {\"type\": \"int\", "
    "\"default\": 10}},\n"
    "\"nodes\": {\n"
    "\"shared\": {\"type\": \"test.Collection\"},\n"
    "\"a\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"shared\"}, \"params\": {\"count\": "
    "5}},\n"
    "\"deep\": {\"type\": \"test.Collection\", \"params\": {\"count\": {\"var\": \"n\"}}},\n"
    "\"b\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"deep\"}, \"params\": {\"count\": 7, "
    "\"name\": "
    "\"other\"}},\n"
    "\"switch\": {\"type\": \"Branch\", \"in\": {\"yes\": \"a\", \"no\": \"b\"}, \"params\": {\"condition\": "
    "{\"var\": "
    "\"yes\"}}},\n"
    "\"end\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"switch\"}, \"params\": {\"name\": "
    "\"last\"}}}}";

static void only_the_chosen_side_runs(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, branch_text);
    rbl_run *run = NULL;
    assert_int_equal(rbl_graph_explain(graph, NULL, &run), RBL_OK);
    assert_int_equal(outcome_of(run, "b"), RBL_OUTCOME_NOT_NEEDED);
    assert_int_equal(outcome_of(run, "a"), RBL_OUTCOME_WOULD_RUN);
    rbl_run_destroy(run);
    run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(outcome_of(run, "a"), RBL_OUTCOME_RAN);
    assert_int_equal(outcome_of(run, "b"), RBL_OUTCOME_NOT_NEEDED);
    assert_int_equal(outcome_of(run, "deep"), RBL_OUTCOME_NOT_NEEDED);
    assert_string_equal(report_of(run, "deep")->reason, "\"switch\" does without it");
    assert_null(rbl_run_value(run, "b"));
    assert_ptr_equal(
        rbl_value_collection(rbl_run_value(run, "switch")), rbl_value_collection(rbl_run_value(run, "a")));
    rbl_run_destroy(run);
    /* A change on the other side reaches nothing. */
    assert_int_equal(rbl_graph_set_variable_text(graph, "n", "11", NULL), RBL_OK);
    memset(&calls, 0, sizeof calls);
    run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(calls.collection, 0);
    assert_int_equal(outcome_of(run, "switch"), RBL_OUTCOME_MEMORY_HIT);
    assert_int_equal(outcome_of(run, "end"), RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);
    assert_int_equal(rbl_graph_set_variable_text(graph, "yes", "false", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(outcome_of(run, "a"), RBL_OUTCOME_NOT_NEEDED);
    assert_int_equal(outcome_of(run, "shared"), RBL_OUTCOME_NOT_NEEDED);
    assert_int_equal(outcome_of(run, "b"), RBL_OUTCOME_RAN);
    assert_string_equal(report_of(run, "switch")->reason, "parameter condition changed");
    rbl_run_destroy(run);
    /* What is asked for itself is needed. */
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.only_node = "a";
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
    assert_non_null(rbl_run_value(run, "a"));
    rbl_run_destroy(run);
    options.only_node = "switch";
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
    assert_int_equal(outcome_of(run, "a"), RBL_OUTCOME_NOT_NEEDED);
    assert_int_equal(outcome_of(run, "end"), RBL_OUTCOME_SKIPPED);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void a_failure_that_is_not_chosen_is_none(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"vars\": {\"i\": {\"type\": \"int\", \"default\": 1}}, \"nodes\": {\n"
        "\"bad\": {\"type\": \"test.Fail\"}, \"good\": {\"type\": \"test.Number\", \"params\": {\"number\": "
        "7}},\n"
        "\"one\": {\"type\": \"test.Number\"},\n"
        "\"index\": {\"type\": \"test.Number\", \"params\": {\"number\": {\"var\": \"i\"}}},\n"
        "\"s\": {\"type\": \"SelectValue\", \"params\": {\"index\": {\"from\": \"index\"}, \"numbers\": "
        "[{\"from\": \"bad\"}, {\"from\": \"good\"}, 3]}},\n"
        "\"t\": {\"type\": \"SelectValue\", \"params\": {\"index\": {\"from\": \"s.integer\"}, \"numbers\": "
        "[1, 2, 3, {\"from\": \"one\"}, 5, 6, 7, {\"from\": \"good\"}]}}}}");
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "t")), 7, 0);
    assert_int_equal(outcome_of(run, "bad"), RBL_OUTCOME_NOT_NEEDED);
    assert_int_equal(outcome_of(run, "one"), RBL_OUTCOME_NOT_NEEDED);
    assert_int_equal(calls.fail, 0);
    rbl_run_destroy(run);
    assert_int_equal(rbl_graph_set_variable_text(graph, "i", "2", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "t")), 1, 0);
    assert_int_equal(outcome_of(run, "good"), RBL_OUTCOME_NOT_NEEDED);
    assert_true(outcome_of(run, "one") != RBL_OUTCOME_NOT_NEEDED);
    rbl_run_destroy(run);
    /* Chosen, it is one; what waits for the choice needs nothing else. */
    assert_int_equal(rbl_graph_set_variable_text(graph, "i", "0", NULL), RBL_OK);
    run = NULL;
    assert_true(rbl_evaluate(graph, NULL, &run) != RBL_OK);
    assert_int_equal(outcome_of(run, "bad"), RBL_OUTCOME_FAILED);
    assert_int_equal(outcome_of(run, "s"), RBL_OUTCOME_SKIPPED);
    assert_int_equal(outcome_of(run, "t"), RBL_OUTCOME_SKIPPED);
    assert_int_equal(outcome_of(run, "one"), RBL_OUTCOME_NOT_NEEDED);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void graphs_hand_on_what_is_asked_of_them(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"graphs\": {\"pick\": {\"inputs\": {\"a\": {\"type\": \"float\"}, \"b\": "
        "{\"type\": "
        "\"float\"}, \"which\": {\"type\": \"int\"}},\n"
        "  \"nodes\": {\"s\": {\"type\": \"SelectValue\", \"params\": {\"index\": {\"from\": "
        "\"inputs.which\"}, "
        "\"numbers\": [{\"from\": \"inputs.a\"}, {\"from\": \"inputs.b\"}]}}},\n"
        "  \"outputs\": {\"value\": \"s\"}}},\n"
        "\"nodes\": {\"x\": {\"type\": \"test.Number\", \"params\": {\"number\": 4}}, \"bad\": {\"type\": "
        "\"test.Fail\"},\n"
        "\"zero\": {\"type\": \"test.Number\", \"params\": {\"number\": 0}},\n"
        "\"p\": {\"type\": \"graph:pick\", \"params\": {\"a\": {\"from\": \"x\"}, \"b\": {\"from\": "
        "\"bad\"}, \"which\": "
        "{\"from\": \"zero\"}}}}}");
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "p")), 4, 0);
    assert_int_equal(outcome_of(run, "bad"), RBL_OUTCOME_NOT_NEEDED);
    assert_string_equal(report_of(run, "bad")->reason, "\"p/s\" does without it");
    rbl_run_destroy(run);
    memset(&calls, 0, sizeof calls);
    run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(calls.number + calls.fail, 0);
    assert_int_equal(outcome_of(run, "p/s"), RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

/* ---- Random graphs against a lazy recursion ---- */

enum { MOST = 24, CHOICES = 3 };

typedef struct random_graph {
    int count;
    int index_from[MOST]; /* node, −1: index[] */
    int index[MOST];
    int from[MOST][CHOICES]; /* node, −1: number[] */
    int number[MOST][CHOICES];
    bool needed[MOST];
    double value[MOST];
} random_graph;

static double evaluate_lazily(random_graph *g, int node)
{
    if (g->needed[node]) return g->value[node];
    int i = g->index_from[node] >= 0 ? (int)evaluate_lazily(g, g->index_from[node]) : g->index[node];
    g->value[node] = g->from[node][i] >= 0 ? evaluate_lazily(g, g->from[node][i]) : g->number[node][i];
    g->needed[node] = true;
    return g->value[node];
}

static void make_random_graph(random_graph *g, uint64_t seed, char *text, size_t bytes)
{
    rbli_rng rng = rbli_rng_make((uint32_t)seed, 0, 0);
#define DRAW(n) ((int)rbli_rng_below(&rng, (uint32_t)(n)))
    memset(g, 0, sizeof *g);
    g->count = 2 + DRAW(MOST - 1);
    size_t used = (size_t)snprintf(text, bytes, "{\"rubble\": 1, \"nodes\": {");
    bool followed[MOST] = {false};
    for (int n = 0; n < g->count; n++) {
        g->index_from[n] = n && DRAW(2) ? DRAW(n) : -1;
        g->index[n] = DRAW(CHOICES);
        used += (size_t)snprintf(text + used, bytes - used,
            "%s\"n%d\": {\"type\": \"SelectValue\", \"params\": {\"index\": ", n ? ",\n" : "", n);
        if (g->index_from[n] >= 0)
            used +=
                (size_t)snprintf(text + used, bytes - used, "{\"from\": \"n%d.integer\"}", g->index_from[n]);
        else
            used += (size_t)snprintf(text + used, bytes - used, "%d", g->index[n]);
        used += (size_t)snprintf(text + used, bytes - used, ", \"numbers\": [");
        if (g->index_from[n] >= 0) followed[g->index_from[n]] = true;
        for (int i = 0; i < CHOICES; i++) {
            g->from[n][i] = n && DRAW(3) ? DRAW(n) : -1;
            g->number[n][i] = DRAW(CHOICES);
            if (g->from[n][i] >= 0) followed[g->from[n][i]] = true;
            if (g->from[n][i] >= 0)
                used += (size_t)snprintf(
                    text + used, bytes - used, "%s{\"from\": \"n%d.number\"}", i ? ", " : "", g->from[n][i]);
            else
                used += (size_t)snprintf(text + used, bytes - used, "%s%d", i ? ", " : "", g->number[n][i]);
        }
        used += (size_t)snprintf(text + used, bytes - used, "]}}");
    }
    snprintf(text + used, bytes - used, "}}");
    for (int n = 0; n < g->count; n++)
        if (!followed[n]) evaluate_lazily(g, n);
#undef DRAW
}

static void random_choices_run_what_a_recursion_needs(void **state)
{
    (void)state;
    static char text[1 << 15];
    uint64_t first = (uint64_t)time(NULL);
    print_message("seed %llu\n", (unsigned long long)first);
    for (int threads = 1; threads <= 4; threads += 3) {
        rbl_engine_options options;
        rbl_engine_options_init(&options);
        options.thread_count = threads;
        for (uint64_t round = 0; round < 150; round++) {
            random_graph g;
            make_random_graph(&g, first + round, text, sizeof text);
            rbl_engine *engine = NULL;
            assert_int_equal(rbl_engine_create(&options, &engine), RBL_OK);
            rbl_graph *graph = load_graph(engine, text);
            rbl_run *run = evaluate_graph(graph, RBL_OK);
            for (int n = 0; n < g.count; n++) {
                char id[16];
                snprintf(id, sizeof id, "n%d", n);
                bool ran = outcome_of(run, id) != RBL_OUTCOME_NOT_NEEDED;
                if (ran != g.needed[n] || (ran && rbl_value_number(rbl_run_value(run, id)) != g.value[n])) {
                    print_error("seed %llu, %s: %s", (unsigned long long)(first + round), id, text);
                    fail();
                }
            }
            rbl_run_destroy(run);
            rbl_graph_destroy(graph);
            rbl_engine_destroy(engine);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_chosen_side_runs),
        cmocka_unit_test(a_failure_that_is_not_chosen_is_none),
        cmocka_unit_test(graphs_hand_on_what_is_asked_of_them),
        cmocka_unit_test(random_choices_run_what_a_recursion_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
