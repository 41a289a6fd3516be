#include "tests/nodes/node_help.h"

static void the_defaults_are_those_of_concrete(void **state)
{
    (void)state;
    graph_run g =
        run_nodes("\"boxes\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 2, \"group\": true}},\n"
                  "\"mass\": {\"type\": \"SetMass\", \"in\": {\"collection\": \"boxes\"}},\n"
                  "\"damage\": {\"type\": \"SetDamageThresholds\", \"in\": {\"collection\": \"mass\"}},\n"
                  "\"anchor\": {\"type\": \"SetAnchored\", \"in\": {\"collection\": \"damage\"}},\n"
                  "\"type\": {\"type\": \"SetSimulationType\", \"in\": {\"collection\": \"anchor\"},\n"
                  "  \"params\": {\"type\": \"none\"}},\n"
                  "\"all\": {\"type\": \"SetRemoval\", \"in\": {\"collection\": \"type\"}}",
            RBL_OK);
    const rbl_collection *c = collection_of(&g, "all");
    const double *mass = rbli_collection_read(c, "bone", "mass", RBL_DOUBLE);
    const double *threshold = rbli_collection_read(c, "bone", "damage_threshold", RBL_DOUBLE);
    const bool *anchored = rbli_collection_read(c, "bone", "anchored", RBL_BOOL);
    const int32_t *type = rbli_collection_read(c, "bone", "simulation_type", RBL_INT32);
    assert_close(mass[0], 4 * 2400, 1e-9);
    assert_close(mass[1], 2400, 1e-9);
    assert_true(threshold[1] == 5000 && threshold[4] == 500);
    assert_true(anchored[0] && anchored[5]);
    assert_int_equal(type[2], RBLI_SIMULATION_NONE);
    assert_true(said(&g, "nothing will be removed"));
    end_run(&g);
}

static void materials_have_densities(void **state)
{
    (void)state;
    graph_run g =
        run_nodes("\"boxes\": {\"type\": \"test.Boxes\"},\n"
                  "\"mass\": {\"type\": \"SetMass\", \"in\": {\"collection\": \"boxes\"}, \"params\":\n"
                  "  {\"materials\": [{\"material\": \"pa*\", \"density\": 700}]}}",
            RBL_OK);
    const double *mass = rbli_collection_read(collection_of(&g, "mass"), "bone", "mass", RBL_DOUBLE);
    assert_close(mass[1], 700, 1e-9);
    end_run(&g);
}

static void bad_lists_are_told_at_their_place(void **state)
{
    (void)state;
    graph_run g =
        run_nodes("\"boxes\": {\"type\": \"test.Boxes\"},\n"
                  "\"x\": {\"type\": \"SetRemoval\", \"in\": {\"collection\": \"boxes\"}, \"params\":\n"
                  "  {\"sleep_time\": [5, 1]}}",
            RBL_ERR_ARGUMENT);
    assert_string_equal(error_pointer(&g), "/nodes/x/params/sleep_time");
    end_run(&g);
    g = run_nodes(
        "\"boxes\": {\"type\": \"test.Boxes\"},\n"
        "\"x\": {\"type\": \"SetDamageThresholds\", \"in\": {\"collection\": \"boxes\"}, \"params\":\n"
        "  {\"thresholds\": []}}",
        RBL_ERR_ARGUMENT);
    assert_string_equal(error_pointer(&g), "/nodes/x/params/thresholds");
    end_run(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_those_of_concrete),
        cmocka_unit_test(materials_have_densities),
        cmocka_unit_test(bad_lists_are_told_at_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
