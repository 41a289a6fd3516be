#include "tests/engine/test_nodes.h"

#include <time.h>

#include "fracture/base/rng.h"

/// After a change exactly the nodes run whose inputs or parameters are new in content: what gives the same
/// again ends the work below it, through graphs within graphs, Branch and ForEach.

static bool did_run(const rbl_run *run, const char *id)
{
    rbl_outcome outcome = report_of(run, id)->outcome;
    return outcome == RBL_OUTCOME_RAN || outcome == RBL_OUTCOME_SAME_OUTPUT;
}

/// The nodes that ran, with a space behind each.
static const char *what_ran(const rbl_run *run)
{
    static char text[2000];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < rbl_run_node_count(run); i++)
        if (did_run(run, rbl_run_node(run, i)->node))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s ", rbl_run_node(run, i)->node);
    return text;
}

/// A box does not use `segments`; a sphere does.
static const char *const chain =
    "{\"rubble\": 1, \"vars\": {\"segments\": {\"type\": \"int\", \"default\": 8}, \"shape\": {\"type\": "
    "\"enum\", "
    "\"words\": [\"box\", \"sphere\"], \"default\": \"box\"},\n"
    "  \"many\": {\"type\": \"int\", \"default\": 3}, \"yes\": {\"type\": \"bool\", \"default\": true}},\n"
    "\"graphs\": {\n"
    "\"crack\": {\"inputs\": {\"collection\": {\"type\": \"collection\"}, \"sites\": {\"type\": \"int\"}}, "
    "\"nodes\": {\n"
    "  \"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"inputs.collection\"}, \"params\": "
    "{\"min_sites\": {\"from\": \"inputs.sites\"}, \"max_sites\": {\"from\": \"inputs.sites\"}}}},\n"
    "  \"outputs\": {\"collection\": \"cut\"}},\n"
    "\"slice\": {\"inputs\": {\"collection\": {\"type\": \"collection\"}}, \"nodes\": {\n"
    "  \"halves\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"inputs.collection\"}, \"params\": "
    "{\"slices\": "
    "[1, 0, 0]}}},\n"
    "  \"outputs\": {\"collection\": \"halves\"}}},\n"
    "\"nodes\": {\n"
    "\"shape\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": {\"var\": \"shape\"}, \"segments\": "
    "{\"var\": "
    "\"segments\"}}},\n"
    "\"other\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"cylinder\", \"segments\": {\"var\": "
    "\"segments\"}}},\n"
    "\"g\": {\"type\": \"graph:crack\", \"in\": {\"collection\": \"shape\"}, \"params\": {\"sites\": "
    "{\"var\": "
    "\"many\"}}},\n"
    "\"b\": {\"type\": \"Branch\", \"in\": {\"yes\": \"g\", \"no\": \"other\"}, \"params\": {\"condition\": "
    "{\"var\": "
    "\"yes\"}}},\n"
    "\"each\": {\"type\": \"ForEach\", \"in\": {\"collection\": \"b\"}, \"params\": {\"graph\": "
    "\"slice\"}},\n"
    "\"near\": {\"type\": \"Proximity\", \"in\": {\"collection\": \"each\"}}}}";

static void an_equal_output_ends_the_work_below(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, chain);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(report_of(run, "other")->outcome, RBL_OUTCOME_NOT_NEEDED);
    assert_string_equal(what_ran(run), "shape g/inputs g/cut b each near ");
    rbl_run_destroy(run);
    /* The parameter changes, the box does not. */
    assert_int_equal(rbl_graph_set_variable_text(graph, "segments", "9", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_string_equal(what_ran(run), "shape ");
    assert_int_equal(report_of(run, "shape")->outcome, RBL_OUTCOME_SAME_OUTPUT);
    assert_string_equal(report_of(run, "shape")->reason, "parameter segments changed");
    assert_string_equal(report_of(run, "each")->reason, "0 of 3 elements ran");
    rbl_run_destroy(run);
    /* Back again: all is remembered. */
    assert_int_equal(rbl_graph_set_variable_text(graph, "segments", "8", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_string_equal(what_ran(run), "");
    rbl_run_destroy(run);
    /* Into the graph within the graph, and from there on. */
    assert_int_equal(rbl_graph_set_variable_text(graph, "many", "4", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_string_equal(what_ran(run), "g/inputs g/cut b each near ");
    rbl_run_destroy(run);
    /* The other side alone. */
    assert_int_equal(rbl_graph_set_variable_text(graph, "yes", "false", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_string_equal(what_ran(run), "other b each near ");
    assert_string_equal(report_of(run, "each")->reason, "1 of 1 elements ran");
    rbl_run_destroy(run);
    /* What is not chosen may change as it likes. */
    assert_int_equal(rbl_graph_set_variable_text(graph, "many", "5", NULL), RBL_OK);
    assert_int_equal(rbl_graph_set_variable_text(graph, "shape", "sphere", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_string_equal(what_ran(run), "");
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void elements_that_are_the_same_do_not_run(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph =
        load_graph(engine, "{\"rubble\": 1, \"graphs\": {\"g\": {\"inputs\": {\"index\": {\"type\": "
                           "\"int\"}, \"by\": {\"type\": \"float\"}}, "
                           "\"nodes\": {\n"
                           "\"half\": {\"type\": \"SelectValue\", \"params\": {\"index\": {\"from\": "
                           "\"inputs.index\"}, \"numbers\": [1, 1, 2, "
                           "{\"from\": \"inputs.by\"}]}},\n"
                           "\"add\": {\"type\": \"test.Add\", \"in\": {\"a\": \"half\"}, \"params\": "
                           "{\"limits\": {\"clamp\": 3}}},\n"
                           "\"last\": {\"type\": \"test.Add\", \"in\": {\"a\": \"add\", \"b\": \"add\"}}},\n"
                           "\"outputs\": {\"sum\": \"last\"}}},\n"
                           "\"nodes\": {\"each\": {\"type\": \"ForEach\", \"params\": {\"graph\": \"g\", "
                           "\"over\": \"count\", \"count\": 4, "
                           "\"set\": [{\"name\": \"by\", \"number\": 5}]}},\n"
                           "\"after\": {\"type\": \"test.Add\", \"in\": {\"a\": \"each.count\"}}}}");
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_string_equal(report_of(run, "each")->reason, "4 of 4 elements ran");
    rbl_run_destroy(run);
    memset(&calls, 0, sizeof calls);
    /* Only the last element takes it, and clamps it: 5 and 6 give 3. */
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/each/params/set/0/number", "6", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_string_equal(report_of(run, "each")->reason, "1 of 4 elements ran");
    assert_int_equal(report_of(run, "each")->outcome, RBL_OUTCOME_SAME_OUTPUT);
    assert_int_equal(report_of(run, "after")->outcome, RBL_OUTCOME_MEMORY_HIT);
    assert_int_equal(calls.add, 1);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

/* ---- Random graphs against a list of what was computed before ---- */

enum { MOST_NODES = 30, MOST_SEEN = 4000, CHANGES = 25 };

typedef struct work_done {
    int type; /* 0: a number; 1: a clamped sum */
    double a, b, factor;
} work_done;

static bool is_new(work_done *seen, size_t *count, work_done now)
{
    for (size_t i = 0; i < *count; i++)
        if (memcmp(&seen[i], &now, sizeof now) == 0) return false;
    assert_true(*count < MOST_SEEN);
    seen[(*count)++] = now;
    return true;
}

static void random_changes_run_what_is_new(void **state)
{
    (void)state;
    static work_done seen[MOST_SEEN];
    static char text[1 << 15];
    uint32_t first = (uint32_t)time(NULL);
    print_message("seed %u\n", first);
    for (uint32_t round = 0; round < 60; round++) {
        rbli_rng rng = rbli_rng_make(first + round, 0, 0);
        int count = 3 + (int)rbli_rng_below(&rng, MOST_NODES - 3), from[MOST_NODES][2];
        int number[MOST_NODES];
        size_t used = (size_t)snprintf(text, sizeof text, "{\"rubble\": 1, \"nodes\": {"), seen_count = 0;
        for (int n = 0; n < count; n++) {
            bool leaf = n < 2 || rbli_rng_below(&rng, 4) == 0;
            number[n] = (int)rbli_rng_below(&rng, 4);
            from[n][0] = leaf ? -1 : (int)rbli_rng_below(&rng, (uint32_t)n);
            from[n][1] = leaf ? -1 : (int)rbli_rng_below(&rng, (uint32_t)n);
            if (leaf)
                used += (size_t)snprintf(text + used, sizeof text - used,
                    "%s\"n%d\": {\"type\": \"test.Number\", \"params\": {\"number\": %d}}", n ? ",\n" : "", n,
                    number[n]);
            else
                used += (size_t)snprintf(text + used, sizeof text - used,
                    ",\n\"n%d\": {\"type\": \"test.Add\", \"in\": {\"a\": \"n%d\", \"b\": \"n%d\"}, "
                    "\"params\": {\"factor\": "
                    "%d, \"limits\": {\"clamp\": 4}}}",
                    n, from[n][0], from[n][1], number[n]);
        }
        snprintf(text + used, sizeof text - used, "}}");
        rbl_engine *engine = make_engine();
        rbl_graph *graph = load_graph(engine, text);
        for (int change = 0; change < CHANGES; change++) {
            double value[MOST_NODES];
            rbl_run *run = evaluate_graph(graph, RBL_OK);
            work_done now[MOST_NODES];
            memset(now, 0, sizeof now);
            for (int n = 0; n < count; n++) {
                now[n].factor = number[n];
                now[n].type = from[n][0] >= 0;
                if (now[n].type) now[n].a = value[from[n][0]];
                if (now[n].type) now[n].b = value[from[n][1]];
                double sum = now[n].a + now[n].factor * now[n].b;
                value[n] = !now[n].type ? number[n] : sum > 4 ? 4 : sum;
            }
            for (size_t i = 0; i < rbl_run_node_count(run); i++) { /* in the order of evaluation */
                const char *id = rbl_run_node(run, i)->node;
                int n = atoi(id + 1);
                bool expected = is_new(seen, &seen_count, now[n]);
                if (did_run(run, id) != expected || rbl_value_number(rbl_run_value(run, id)) != value[n]) {
                    print_error("seed %u, change %d, %s: %s\n%s\n", first + round, change, id,
                        expected ? "is new and did not run" : "ran, or gave something else", text);
                    fail();
                }
            }
            rbl_run_destroy(run);
            int changed = (int)rbli_rng_below(&rng, (uint32_t)count);
            char pointer[60], json[16];
            number[changed] = (int)rbli_rng_below(&rng, 4);
            snprintf(pointer, sizeof pointer, "/nodes/n%d/params/%s", changed,
                from[changed][0] < 0 ? "number" : "factor");
            snprintf(json, sizeof json, "%d", number[changed]);
            assert_int_equal(rbl_graph_set_parameter(graph, pointer, json, NULL), RBL_OK);
        }
        rbl_graph_destroy(graph);
        rbl_engine_destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_equal_output_ends_the_work_below),
        cmocka_unit_test(elements_that_are_the_same_do_not_run),
        cmocka_unit_test(random_changes_run_what_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
