/// The interface as a host uses it: meshes from memory, evaluations on other threads and for a libuv loop,
/// changes, parameters, forecasts.

#include "tests/engine/test_nodes.h"

#include <uv.h>

#include "rubble/async.h"
#include "rubble/changes.h"
#include "rubble/collection.h"
#include "rubble/parameters.h"
#include "rubble/rubble_uv.h"
#include "tests/failing_alloc.h"

/* ---- Meshes from memory ---- */

/// A cube with positions as floats among other data, and 16-bit indices.
typedef struct host_vertex {
    float color[4];
    float position[3];
    float uv[2];
} host_vertex;
static const uint16_t cube_indices[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4, 1, 2, 6, 1, 6,
    5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};

static void make_cube(host_vertex vertices[8], float edge)
{
    static const float corners[8][3] = {
        {0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    for (int v = 0; v < 8; v++) {
        vertices[v] = (host_vertex){.color = {1, 0, 0, 1}, .uv = {corners[v][0], corners[v][1]}};
        for (int k = 0; k < 3; k++)
            vertices[v].position[k] = corners[v][k] * edge;
    }
}

static rbl_mesh_desc describe_cube(const host_vertex *vertices)
{
    rbl_mesh_desc mesh;
    rbl_mesh_desc_init(&mesh);
    mesh.name = "cube";
    mesh.vertex_count = 8;
    mesh.positions = (rbl_mesh_array){vertices[0].position, RBL_FLOAT_3, sizeof *vertices};
    mesh.triangle_count = 12;
    mesh.indices = cube_indices;
    mesh.index_bits = 16;
    mesh.colors = (rbl_mesh_array){vertices[0].color, RBL_FLOAT_4, sizeof *vertices};
    mesh.uvs[0] = (rbl_mesh_array){vertices[0].uv, RBL_FLOAT_2, sizeof *vertices};
    return mesh;
}

static const char cube_graph[] =
    "{\"rubble\": 1, \"vars\": {\"sites\": {\"type\": \"int\", \"default\": 4, \"min\": 1, \"max\": 100}},"
    "\"nodes\": {\"mesh\": {\"type\": \"MeshToCollection\", \"params\": {\"file\": \"\"}},"
    "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"mesh\"},"
    "\"params\": {\"min_sites\": {\"var\": \"sites\"}, \"max_sites\": {\"var\": \"sites\"}}}}}";

static rbl_graph *load_cube(rbl_engine *engine, float edge)
{
    rbl_graph *graph = load_graph(engine, cube_graph);
    host_vertex vertices[8];
    make_cube(vertices, edge);
    rbl_mesh_desc mesh = describe_cube(vertices);
    assert_int_equal(rbl_graph_bind_mesh(graph, "mesh", &mesh, NULL), RBL_OK);
    memset(vertices, 0xFF, sizeof vertices); /* the host's memory is not needed any more */
    return graph;
}

static double volume_of(const rbl_run *run, const char *name)
{
    const rbl_collection *c = rbl_value_collection(rbl_run_value(run, name));
    rbl_attribute_view view;
    assert_int_equal(rbl_collection_attribute(c, "geometry", "volume", &view), RBL_OK);
    double sum = 0;
    for (size_t i = 0; i < view.count; i++)
        sum += ((const double *)view.data)[i];
    return sum;
}

static void a_mesh_in_memory_is_cut(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_cube(engine, 2);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_close(volume_of(run, "mesh"), 8, 1e-12);
    assert_close(volume_of(run, "cut"), 8, 1e-12);
    const rbl_collection *cut = rbl_value_collection(rbl_run_value(run, "cut"));
    assert_int_equal(rbl_collection_group_size(cut, "geometry"), 4);
    assert_string_equal(rbl_collection_string(cut, "bone", "name", 1), "cube");
    rbl_attribute_view view;
    assert_int_equal(rbl_collection_attribute(cut, "corner", "color", &view), RBL_OK);
    assert_int_equal(rbl_collection_attribute(cut, "corner", "uv0", &view), RBL_OK);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void equal_content_is_not_computed_again(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_cube(engine, 1);
    rbl_run_destroy(evaluate_graph(graph, RBL_OK));
    /* The same mesh as packed doubles with 32-bit indices. */
    double positions[8][3], uv[8][2];
    float color[8][4];
    uint32_t indices[36];
    host_vertex vertices[8];
    make_cube(vertices, 1);
    for (int v = 0; v < 8; v++) {
        for (int k = 0; k < 3; k++)
            positions[v][k] = (double)vertices[v].position[k];
        for (int k = 0; k < 2; k++)
            uv[v][k] = (double)vertices[v].uv[k];
        memcpy(color[v], vertices[v].color, sizeof color[v]);
    }
    for (int i = 0; i < 36; i++)
        indices[i] = cube_indices[i];
    rbl_mesh_desc mesh = describe_cube(vertices);
    mesh.positions = (rbl_mesh_array){positions, RBL_VEC3, 0};
    mesh.uvs[0] = (rbl_mesh_array){uv, RBL_VEC2, 0};
    mesh.colors = (rbl_mesh_array){color, RBL_FLOAT_4, 0};
    mesh.indices = indices;
    mesh.index_bits = 32;
    assert_int_equal(rbl_graph_bind_mesh(graph, "mesh", &mesh, NULL), RBL_OK);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(report_of(run, "mesh")->outcome, RBL_OUTCOME_MEMORY_HIT);
    assert_int_equal(report_of(run, "cut")->outcome, RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);
    positions[6][0] = 1.5;
    assert_int_equal(rbl_graph_bind_mesh(graph, "mesh", &mesh, NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(report_of(run, "mesh")->outcome, RBL_OUTCOME_RAN);
    assert_string_equal(report_of(run, "mesh")->reason, "parameter file changed");
    rbl_run_destroy(run);
    assert_int_equal(rbl_graph_bind_mesh(graph, "mesh", NULL, NULL), RBL_OK);
    rbl_run_destroy(evaluate_graph(graph, RBL_ERR_ARGUMENT)); /* neither file nor mesh */
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void clockwise_triangles_are_turned(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, cube_graph);
    host_vertex vertices[8];
    make_cube(vertices, 1);
    float corners[36][3];
    for (int t = 0; t < 12; t++)
        for (int k = 0; k < 3; k++)
            memcpy(corners[3 * t + k], vertices[cube_indices[3 * t + 2 - k]].position, sizeof corners[0]);
    rbl_mesh_desc mesh;
    rbl_mesh_desc_init(&mesh);
    mesh.positions = (rbl_mesh_array){corners, RBL_FLOAT_3, 0};
    mesh.vertex_count = 36;
    mesh.triangle_count = 12;
    mesh.clockwise = true;
    assert_int_equal(rbl_graph_bind_mesh(graph, "mesh", &mesh, NULL), RBL_OK);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_close(volume_of(run, "mesh"), 1, 1e-12);
    assert_int_equal(rbl_messages_count_of(rbl_run_messages(run), RBL_WARNING), 0);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void expect_refusal(rbl_graph *graph, const rbl_mesh_desc *mesh, rbl_status expected, const char *text)
{
    rbl_messages *messages = NULL;
    assert_int_equal(rbl_graph_bind_mesh(graph, "mesh", mesh, &messages), expected);
    assert_int_equal(rbl_messages_count_of(messages, RBL_ERROR), 1);
    if (!strstr(rbl_messages_get(messages, 0)->text, text))
        fail_msg("\"%s\" is not in \"%s\"", text, rbl_messages_get(messages, 0)->text);
    rbl_messages_destroy(messages);
}

static void a_mesh_stands_for_a_variable_without_value(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"vars\": {\"source\": {\"type\": \"path\"}}, \"nodes\": {\"mesh\": {\"type\": "
        "\"MeshToCollection\", \"params\": {\"file\": {\"var\": \"source\"}}}}}");
    rbl_run_destroy(evaluate_graph(graph, RBL_ERR_GRAPH));
    host_vertex vertices[8];
    make_cube(vertices, 1);
    rbl_mesh_desc mesh = describe_cube(vertices);
    assert_int_equal(rbl_graph_bind_mesh(graph, "mesh", &mesh, NULL), RBL_OK);
    rbl_run_destroy(evaluate_graph(graph, RBL_OK));
    assert_int_equal(rbl_graph_set_variable(graph, "source", "\"no such file.obj\"", NULL), RBL_OK);
    rbl_run_destroy(evaluate_graph(graph, RBL_OK)); /* the mesh stays */
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void bad_meshes_are_refused(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_cube(engine, 1);
    host_vertex vertices[8];
    make_cube(vertices, 1);
    rbl_mesh_desc mesh = describe_cube(vertices);
    mesh.vertex_count = 7;
    expect_refusal(graph, &mesh, RBL_ERR_MESH, "uses vertex 7 of 7");
    mesh = describe_cube(vertices);
    mesh.index_bits = 8;
    expect_refusal(graph, &mesh, RBL_ERR_ARGUMENT, "16 or 32 bits, not 8");
    mesh = describe_cube(vertices);
    mesh.triangle_count = 0;
    expect_refusal(graph, &mesh, RBL_ERR_ARGUMENT, "at least one triangle");
    mesh = describe_cube(vertices);
    mesh.positions.type = RBL_FLOAT_4;
    expect_refusal(graph, &mesh, RBL_ERR_ARGUMENT, "positions of a mesh cannot be of type float_4");
    mesh = describe_cube(vertices);
    mesh.size = 8;
    expect_refusal(graph, &mesh, RBL_ERR_ARGUMENT, "another version");
    mesh = describe_cube(vertices);
    mesh.triangle_count = (size_t)1 << 40;
    expect_refusal(graph, &mesh, RBL_ERR_LIMIT, "2^31");
    vertices[3].position[1] = (float)(1e308 * 10);
    mesh = describe_cube(vertices);
    expect_refusal(graph, &mesh, RBL_ERR_MESH, "position 3 of a mesh is not finite");
    assert_int_equal(rbl_graph_bind_mesh(graph, "nothing", &mesh, NULL), RBL_ERR_NOT_FOUND);
    assert_int_equal(rbl_graph_bind_mesh(graph, "cut", &mesh, NULL), RBL_ERR_ARGUMENT);
    rbl_run_destroy(evaluate_graph(graph, RBL_OK)); /* the first cube is still bound */
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

/* ---- Threads ---- */

static const char number_graph[] =
    "{\"rubble\": 1, \"nodes\": {\"n\": {\"type\": \"test.Number\", \"params\": {\"number\": 7}}}}";
static const char slow_graph[] = "{\"rubble\": 1, \"nodes\": {\"slow\": {\"type\": \"test.Slow\"}}}";

static double number_of(const rbl_run *run)
{
    return rbl_value_number(rbl_run_value(run, "n"));
}

static void set_done(void *user, rbl_evaluation *evaluation)
{
    atomic_store((atomic_bool *)user, rbl_evaluation_is_done(evaluation));
}

static void an_evaluation_keeps_what_it_began_with(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, number_graph);
    rbl_evaluation *evaluations[20];
    atomic_bool done;
    atomic_init(&done, false);
    for (int i = 0; i < 20; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/n/params/number", text, NULL), RBL_OK);
        assert_int_equal(
            rbl_evaluation_begin(graph, NULL, i == 19 ? set_done : NULL, &done, &evaluations[i]), RBL_OK);
    }
    for (int i = 19; i >= 0; i--) {
        assert_int_equal(rbl_evaluation_wait(evaluations[i]), RBL_OK);
        assert_true(rbl_evaluation_is_done(evaluations[i]));
        assert_close(rbl_evaluation_progress(evaluations[i]), 1, 0);
        assert_close(number_of(rbl_evaluation_run(evaluations[i])), i, 0);
        rbl_run *run = i % 2 ? rbl_evaluation_take_run(evaluations[i]) : NULL;
        rbl_evaluation_destroy(evaluations[i]);
        if (run) assert_close(number_of(run), i, 0);
        rbl_run_destroy(run);
    }
    assert_true(atomic_load(&done));
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void an_evaluation_is_cancelled(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, slow_graph);
    rbl_evaluation *first = NULL, *second = NULL;
    assert_int_equal(rbl_evaluation_begin(graph, NULL, NULL, NULL, &first), RBL_OK);
    assert_int_equal(
        rbl_evaluation_begin(graph, NULL, NULL, NULL, &second), RBL_OK); /* waits for the first */
    rbl_evaluation_destroy(first);
    rbl_evaluation_cancel(second);
    assert_int_equal(rbl_evaluation_wait(second), RBL_ERR_CANCELLED);
    rbl_evaluation_destroy(second);
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.only_node = "quick";
    assert_int_equal(rbl_evaluation_begin(graph, &options, NULL, NULL, &first), RBL_ERR_NOT_FOUND);
    rbl_evaluation_destroy(NULL);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

typedef struct heard {
    uv_loop_t loop;
    uv_thread_t thread;
    int events, dones;
    rbl_status status;
    double number;
} heard;

static void hear_event(void *user, const rbl_event *event)
{
    heard *h = user;
    uv_thread_t self = uv_thread_self();
    assert_true(uv_thread_equal(&self, &h->thread));
    assert_int_equal(h->dones, 0);
    assert_string_equal(event->node, "n");
    h->events++;
}

static void hear_done(void *user, rbl_status status, rbl_run *run)
{
    heard *h = user;
    uv_thread_t self = uv_thread_self();
    assert_true(uv_thread_equal(&self, &h->thread));
    h->dones++;
    h->status = status;
    if (status == RBL_OK) h->number = number_of(run);
    rbl_run_destroy(run);
}

static void a_loop_hears_of_an_evaluation(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, number_graph), *slow = load_graph(engine, slow_graph);
    heard h = {.thread = uv_thread_self()};
    assert_int_equal(uv_loop_init(&h.loop), 0);
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.event = hear_event;
    options.user = &h;
    rbl_uv_evaluation *evaluation = NULL;
    assert_int_equal(rbl_uv_evaluate(&h.loop, graph, &options, hear_done, &h, NULL), RBL_OK);
    assert_int_equal(h.dones, 0);
    assert_int_equal(uv_run(&h.loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(h.dones, 1);
    assert_int_equal(h.events, 2);
    assert_close(h.number, 7, 0);
    assert_int_equal(rbl_uv_evaluate(&h.loop, slow, NULL, hear_done, &h, &evaluation), RBL_OK);
    rbl_uv_cancel(evaluation);
    assert_true(rbl_uv_progress(evaluation) <= 1);
    assert_int_equal(uv_run(&h.loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(h.dones, 2);
    assert_int_equal(h.status, RBL_ERR_CANCELLED);
    options.only_node = "no such node";
    assert_int_equal(
        rbl_uv_evaluate(&h.loop, graph, &options, hear_done, &h, &evaluation), RBL_ERR_NOT_FOUND);
    assert_int_equal(uv_run(&h.loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(h.dones, 2);
    assert_int_equal(uv_loop_close(&h.loop), 0);
    rbl_graph_destroy(graph);
    rbl_graph_destroy(slow);
    rbl_engine_destroy(engine);
}

/* ---- A node type that uses public functions alone ---- */

static rbl_status lift_evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    void *transform = NULL, *weight = NULL;
    rbl_status status = rbl_collection_copy(ctx, rbl_call_input_collection(call, "collection"), &out);
    size_t bones = out ? rbl_collection_group_size(out, "bone") : 0;
    if (status == RBL_OK) status = rbl_collection_write(ctx, out, "bone", "transform", RBL_MAT4, &transform);
    if (status == RBL_OK) status = rbl_collection_write(ctx, out, "bone", "weight", RBL_FLOAT, &weight);
    int64_t which = rbl_param_int(rbl_call_param(call, "bone"));
    if (status == RBL_OK && which < (int64_t)bones) {
        ((double(*)[16])transform)[which][13] += 1;
        ((float *)weight)[which] = 2;
        if (rbl_call_cancelled(ctx)) status = RBL_ERR_CANCELLED;
        rbl_call_note(ctx, "bone %d was lifted", (int)which);
    } else if (status == RBL_OK) {
        rbl_call_warn(ctx, "there is no bone %d", (int)which);
    }
    if (status == RBL_OK) status = rbl_collection_validate(ctx, out, RBL_VALIDATE_CLOSED);
    if (status == RBL_OK)
        rbl_call_set_output_collection(call, "collection", out);
    else
        rbl_collection_release(out);
    return status;
}
static const rbl_param_desc lift_params[] = {{.name = "bone",
                                                 .type = RBL_PARAM_INT,
                                                 .default_json = "0",
                                                 .min = 0,
                                                 .max = 1000,
                                                 .step = 1,
                                                 .text = "which"},
    {0}};
static const rbl_port_desc lift_inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "pieces"}, {0}};
static const rbl_node_desc lift_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Lift",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "lifts a bone",
    .inputs = lift_inputs,
    .outputs = lift_inputs,
    .params = lift_params,
    .evaluate = lift_evaluate};

static const char lift_graph[] =
    "{\"rubble\": 1, \"vars\": {\"sites\": {\"type\": \"int\", \"default\": 6, \"min\": 1, \"max\": 50}},"
    "\"nodes\": {\"mesh\": {\"type\": \"MeshToCollection\", \"params\": {\"file\": \"\"}},"
    "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"mesh\"},"
    "\"params\": {\"min_sites\": {\"var\": \"sites\"}, \"max_sites\": {\"var\": \"sites\"}}},"
    "\"lift\": {\"type\": \"test.Lift\", \"in\": {\"collection\": \"cut\"}, \"params\": {\"bone\": 3}}}}";

static rbl_graph *load_lift(rbl_engine *engine)
{
    assert_int_equal(rbl_engine_register_node(engine, &lift_node, NULL), RBL_OK);
    rbl_graph *graph = load_graph(engine, lift_graph);
    host_vertex vertices[8];
    make_cube(vertices, 1);
    rbl_mesh_desc mesh = describe_cube(vertices);
    assert_int_equal(rbl_graph_bind_mesh(graph, "mesh", &mesh, NULL), RBL_OK);
    return graph;
}

static void a_host_node_changes_a_collection(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_lift(engine);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    const rbl_collection *cut = rbl_value_collection(rbl_run_value(run, "cut"));
    const rbl_collection *lifted = rbl_value_collection(rbl_run_value(run, "lift"));
    rbl_attribute_view before, after;
    assert_int_equal(rbl_collection_attribute(cut, "bone", "weight", &before), RBL_ERR_NOT_FOUND);
    assert_int_equal(rbl_collection_attribute(lifted, "bone", "weight", &after), RBL_OK);
    assert_close((double)((const float *)after.data)[3], 2, 0);
    assert_int_equal(rbl_collection_attribute(cut, "vertex", "position", &before), RBL_OK);
    assert_int_equal(rbl_collection_attribute(lifted, "vertex", "position", &after), RBL_OK);
    assert_ptr_equal(before.data, after.data); /* shared */
    size_t lifts = 0;
    for (size_t i = 0; i < rbl_messages_count(rbl_run_messages(run)); i++)
        lifts += strcmp(rbl_messages_get(rbl_run_messages(run), i)->text, "bone 3 was lifted") == 0;
    assert_int_equal(lifts, 1);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static rbl_status make_evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbl_collection *out = NULL;
    int32_t first = -1, parents[2] = {0, 0};
    const char *root = "root", *names[2] = {"a", "a"}, *words[3] = {"x", NULL, "z"};
    const uint64_t offsets[4] = {0, 2, 2, 3}, falling[4] = {0, 2, 1, 3};
    const int32_t values[3] = {4, 5, 6};
    const bool keep[3] = {true, false, true}, drop[3] = {false, true, false};
    double transforms[3][16];
    void *numbers;
    RBL_TRY(rbl_collection_create_asset(ctx, &out));
    RBL_TRY(rbl_collection_add_bones(ctx, out, 1, NULL, &root, false, NULL));
    RBL_TRY(rbl_collection_add_bones(ctx, out, 2, parents, names, true, &first));
    RBL_TRY(rbl_collection_world_transforms(ctx, out, transforms));
    RBL_TRY(rbl_collection_resize(ctx, out, "thing", 3));
    RBL_TRY(rbl_collection_write(ctx, out, "thing", "number", RBL_INT32, &numbers));
    memcpy(numbers, values, sizeof values);
    RBL_TRY(rbl_collection_write_strings(ctx, out, "thing", "word", words));
    RBL_TRY(rbl_collection_write_list(ctx, out, "thing", "list", RBL_INT32, offsets, values));
    bool good = first == 1 && transforms[2][0] == 1;
    good &=
        rbl_collection_write_list(ctx, out, "thing", "bad", RBL_INT32, falling, values) == RBL_ERR_ARGUMENT;
    good &= rbl_collection_write(ctx, out, "nothing", "x", RBL_INT32, &numbers) == RBL_ERR_NOT_FOUND;
    good &= rbl_collection_write(ctx, out, "thing", "Bad Name", RBL_INT32, &numbers) == RBL_ERR_ARGUMENT;
    RBL_TRY(rbl_collection_filter(ctx, out, "thing", keep));
    RBL_TRY(rbl_collection_remove_bones(ctx, out, drop));
    rbl_collection_remove_attribute(out, "thing", "number");
    rbl_collection_remove_group(out, "material");
    rbl_call_set_output_collection(call, "collection", rbl_collection_retain(out));
    if (!good) status = rbl_call_fail(ctx, call, NULL, RBL_ERR_INTERNAL, "something is wrong");
done:
    rbl_collection_release(out);
    return status;
}
static const rbl_node_desc make_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Make",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "makes a collection",
    .inputs = no_ports,
    .outputs = lift_inputs,
    .params = no_params,
    .evaluate = make_evaluate};

static void a_host_node_makes_a_collection(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    assert_int_equal(rbl_engine_register_node(engine, &make_node, NULL), RBL_OK);
    rbl_graph *graph =
        load_graph(engine, "{\"rubble\": 1, \"nodes\": {\"make\": {\"type\": \"test.Make\"}}}");
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    const rbl_collection *made = rbl_value_collection(rbl_run_value(run, "make"));
    assert_int_equal(rbl_collection_group_size(made, "bone"), 2);
    assert_string_equal(rbl_collection_string(made, "bone", "name", 1), "a_2");
    assert_int_equal(rbl_collection_group_size(made, "thing"), 2);
    assert_string_equal(rbl_collection_string(made, "thing", "word", 1), "z");
    rbl_attribute_view view;
    assert_int_equal(rbl_collection_attribute(made, "thing", "list", &view), RBL_OK);
    assert_true(view.is_list);
    assert_int_equal(view.offsets[2], 3);
    assert_int_equal(((const int32_t *)view.data)[2], 6);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

/* ---- Changes ---- */

static void changed_bones_are_told(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_lift(engine);
    rbl_run *first = evaluate_graph(graph, RBL_OK), *second;
    rbl_changes *changes = NULL;
    assert_int_equal(rbl_run_changes(engine, NULL, first, "lift", &changes), RBL_OK);
    size_t bones = rbl_collection_group_size(rbl_value_collection(rbl_run_value(first, "lift")), "bone");
    assert_int_equal(rbl_changes_count(changes), bones);
    assert_int_equal(rbl_changes_get(changes, 0)->what, RBL_CHANGE_ADDED);
    rbl_changes_destroy(changes);

    assert_int_equal(rbl_run_changes(engine, first, first, "lift", &changes), RBL_OK);
    assert_int_equal(rbl_changes_count(changes), 0);
    rbl_changes_destroy(changes);

    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/lift/params/bone", "4", NULL), RBL_OK);
    second = evaluate_graph(graph, RBL_OK);
    assert_int_equal(rbl_run_changes(engine, first, second, "lift", &changes), RBL_OK);
    assert_int_equal(rbl_changes_count(changes), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(rbl_changes_get(changes, i)->what, RBL_CHANGE_TRANSFORM);
        assert_int_equal(rbl_changes_get(changes, i)->after, 3 + (int)i);
    }
    assert_null(rbl_changes_get(changes, 2));
    rbl_changes_destroy(changes);
    rbl_run_destroy(second);

    assert_int_equal(rbl_graph_set_variable(graph, "sites", "5", NULL), RBL_OK);
    second = evaluate_graph(graph, RBL_OK);
    assert_int_equal(rbl_run_changes(engine, first, second, "cut", &changes), RBL_OK);
    size_t geometry = 0, removed = 0;
    for (size_t i = 0; i < rbl_changes_count(changes); i++) {
        const rbl_changed_bone *bone = rbl_changes_get(changes, i);
        geometry += bone->what == RBL_CHANGE_GEOMETRY;
        removed += bone->what == RBL_CHANGE_REMOVED;
        if (bone->what == RBL_CHANGE_REMOVED) assert_int_equal(bone->after, -1);
    }
    assert_true(geometry > 0);
    assert_int_equal(removed, 1);
    rbl_changes_destroy(changes);
    rbl_run_destroy(second);
    rbl_run_destroy(first);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

/* ---- Parameters ---- */

static void parameters_are_listed_for_sliders(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"vars\": {\"f\": {\"type\": \"float\", \"default\": 2, \"min\": 1, \"max\": 3}},"
        "\"nodes\": {\"n\": {\"type\": \"test.Number\"},"
        "\"add\": {\"type\": \"test.Add\", \"in\": {\"a\": \"n\"},"
        "\"params\": {\"factor\": {\"var\": \"f\"}}}}}");
    rbl_parameters *list = NULL;
    assert_int_equal(rbl_graph_parameters(graph, "none", &list), RBL_ERR_NOT_FOUND);
    assert_int_equal(rbl_graph_parameters(graph, "add", &list), RBL_OK);
    assert_int_equal(rbl_parameters_count(list), 3);
    const rbl_parameter *factor = rbl_parameters_get(list, 0), *clamp = rbl_parameters_get(list, 1);
    assert_string_equal(factor->pointer, "/nodes/add/params/factor");
    assert_string_equal(factor->json, "2");
    assert_string_equal(factor->variable, "f");
    assert_close(factor->desc->max, 100, 0);
    assert_string_equal(clamp->name, "limits.clamp");
    assert_string_equal(clamp->json, "");
    assert_string_equal(rbl_parameters_get(list, 2)->json, "\"fast\"");
    assert_null(rbl_parameters_get(list, 3));
    rbl_parameters_destroy(list);
    assert_close(rbl_graph_variable_desc(graph, 0)->max, 3, 0);
    assert_null(rbl_graph_variable_desc(graph, 1));
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

/* ---- Forecasts ---- */

static void expect_forecast(rbl_graph *graph, const char *node, rbl_outcome outcome, const char *reason)
{
    rbl_run *run = NULL;
    assert_int_equal(rbl_graph_explain(graph, NULL, &run), RBL_OK);
    assert_int_equal(report_of(run, node)->outcome, outcome);
    assert_string_equal(report_of(run, node)->reason, reason);
    rbl_run_destroy(run);
}

static void explain_says_what_would_run(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"nodes\": {\"n\": {\"type\": \"test.Number\"}, \"m\": {\"type\": \"test.Number\"},"
        "\"add\": {\"type\": \"test.Add\", \"in\": {\"a\": \"n\", \"b\": \"m\"}}}}");
    expect_forecast(graph, "n", RBL_OUTCOME_WOULD_RUN, "first run");
    expect_forecast(graph, "add", RBL_OUTCOME_WOULD_RUN, "\"n\" above it runs");
    assert_int_equal(calls.number, 0);
    rbl_run_destroy(evaluate_graph(graph, RBL_OK));
    expect_forecast(graph, "add", RBL_OUTCOME_MEMORY_HIT, "");
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/add/params/factor", "3", NULL), RBL_OK);
    expect_forecast(graph, "n", RBL_OUTCOME_MEMORY_HIT, "");
    expect_forecast(graph, "add", RBL_OUTCOME_WOULD_RUN, "parameter factor changed");
    expect_forecast(
        graph, "add", RBL_OUTCOME_WOULD_RUN, "parameter factor changed"); /* nothing was remembered */
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/m/params/number", "5", NULL), RBL_OK);
    expect_forecast(graph, "m", RBL_OUTCOME_WOULD_RUN, "parameter number changed");
    expect_forecast(graph, "add", RBL_OUTCOME_MAY_RUN, "\"m\" above it runs");
    assert_int_equal(calls.add, 1);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

/* ---- Structs of other versions ---- */

static void shorter_structs_are_taken(void **state)
{
    (void)state;
    rbl_engine_options engine_options;
    rbl_engine *engine = NULL;
    rbl_engine_options_init(&engine_options);
    engine_options.size = 8;
    assert_int_equal(rbl_engine_create(&engine_options, &engine), RBL_ERR_ARGUMENT);
    engine_options.size = sizeof engine_options + 8;
    assert_int_equal(rbl_engine_create(&engine_options, &engine), RBL_ERR_ARGUMENT);
    engine_options.size = RBLI_ENGINE_OPTIONS_LEAST;
    assert_int_equal(rbl_engine_create(&engine_options, &engine), RBL_OK);
    rbl_engine_destroy(engine);

    engine = make_engine();
    rbl_node_desc old_node;
    memcpy(&old_node, &lift_node, sizeof old_node);
    memset((char *)&old_node + RBLI_NODE_DESC_LEAST, 0xFF, sizeof old_node - RBLI_NODE_DESC_LEAST);
    old_node.size = RBLI_NODE_DESC_LEAST;
    assert_int_equal(rbl_engine_register_node(engine, &old_node, NULL), RBL_OK);
    assert_int_equal(rbl_engine_find_node(engine, "test.Lift", 0)->size, sizeof old_node);
    old_node.size = 8;
    old_node.type = "test.Lower";
    assert_int_equal(rbl_engine_register_node(engine, &old_node, NULL), RBL_ERR_ARGUMENT);
    rbl_graph *graph = load_graph(engine, number_graph);
    rbl_run *run = NULL;
    rbl_evaluation *evaluation = NULL;
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    memset(
        (char *)&options + RBLI_EVALUATE_OPTIONS_LEAST, 0xFF, sizeof options - RBLI_EVALUATE_OPTIONS_LEAST);
    options.size = RBLI_EVALUATE_OPTIONS_LEAST;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
    rbl_run_destroy(run);
    assert_int_equal(rbl_evaluation_begin(graph, &options, NULL, NULL, &evaluation), RBL_OK);
    rbl_evaluation_destroy(evaluation);
    options.size = 8;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_ERR_ARGUMENT);
    assert_int_equal(rbl_evaluation_begin(graph, &options, NULL, NULL, &evaluation), RBL_ERR_ARGUMENT);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

/* ---- Memory ---- */

/// Everything that a host may ask, once. @return the first status that is not RBL_OK
static rbl_status ask_everything(rbl_engine *engine, rbl_graph *graph, const rbl_run *first, uv_loop_t *loop)
{
    rbl_status status = RBL_OK;
    host_vertex vertices[8];
    make_cube(vertices, 1);
    rbl_mesh_desc mesh = describe_cube(vertices);
    const char *names[2] = {"stone", "wood"};
    mesh.material_names = names;
    mesh.material_count = 2;
    rbl_parameters *parameters = NULL;
    rbl_changes *changes = NULL;
    rbl_evaluation *evaluation = NULL;
    heard h = {.thread = uv_thread_self()};
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.only_node = "n";
    options.no_cache = true;
    RBL_TRY(rbl_graph_bind_mesh(graph, "mesh", &mesh, NULL));
    RBL_TRY(rbl_graph_parameters(graph, "n", &parameters));
    RBL_TRY(rbl_run_changes(engine, NULL, first, "mesh", &changes));
    RBL_TRY(rbl_evaluation_begin(graph, &options, NULL, NULL, &evaluation));
    RBL_TRY(rbl_evaluation_wait(evaluation));
    RBL_TRY(rbl_uv_evaluate(loop, graph, &options, hear_done, &h, NULL));
    uv_run(loop, UV_RUN_DEFAULT);
    assert_int_equal(h.dones, 1);
    status = h.status;
done:
    uv_run(loop, UV_RUN_DEFAULT);
    rbl_parameters_destroy(parameters);
    rbl_changes_destroy(changes);
    rbl_evaluation_destroy(evaluation);
    return status;
}

static void lost_memory_is_reported(void **state)
{
    (void)state;
    failing_alloc memory = {0};
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    options.reallocate = failing_reallocate;
    options.user = &memory;
    rbl_engine *engine = NULL;
    uv_loop_t loop;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(rbl_engine_create(&options, &engine), RBL_OK);
    assert_int_equal(register_test_nodes(engine), RBL_OK);
    rbl_graph *graph = load_graph(engine, "{\"rubble\": 1, \"nodes\": {\"mesh\": {\"type\": "
                                          "\"MeshToCollection\", \"params\": {\"file\": \"\"}},"
                                          "\"n\": {\"type\": \"test.Number\"}}}");
    host_vertex vertices[8];
    make_cube(vertices, 1);
    rbl_mesh_desc mesh = describe_cube(vertices);
    assert_int_equal(rbl_graph_bind_mesh(graph, "mesh", &mesh, NULL), RBL_OK);
    rbl_run *first = evaluate_graph(graph, RBL_OK);
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        atomic_store(&memory.failed, false);
        memory.fail_at = atomic_load(&memory.calls) + n;
        rbl_status status = ask_everything(engine, graph, first, &loop);
        memory.fail_at = 0;
        if (!atomic_load(&memory.failed)) {
            assert_int_equal(status, RBL_OK);
            break;
        }
        /* What only says why a node runs may be forgotten. */
        assert_true(status == RBL_ERR_NO_MEMORY || status == RBL_OK);
        failures += status != RBL_OK;
    }
    assert_true(failures > 40);
    assert_int_equal(uv_loop_close(&loop), 0);
    rbl_run_destroy(first);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mesh_in_memory_is_cut),
        cmocka_unit_test(equal_content_is_not_computed_again),
        cmocka_unit_test(clockwise_triangles_are_turned),
        cmocka_unit_test(a_mesh_stands_for_a_variable_without_value),
        cmocka_unit_test(bad_meshes_are_refused),
        cmocka_unit_test(an_evaluation_keeps_what_it_began_with),
        cmocka_unit_test(an_evaluation_is_cancelled),
        cmocka_unit_test(a_loop_hears_of_an_evaluation),
        cmocka_unit_test(a_host_node_changes_a_collection),
        cmocka_unit_test(a_host_node_makes_a_collection),
        cmocka_unit_test(changed_bones_are_told),
        cmocka_unit_test(parameters_are_listed_for_sliders),
        cmocka_unit_test(explain_says_what_would_run),
        cmocka_unit_test(shorter_structs_are_taken),
        cmocka_unit_test(lost_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
