/// A host's own mesh and its own node type, with the public headers alone.
///
/// A cube from memory is cut by an ordinary node; then a node of the host, `demo.Scatter`, moves the pieces
/// apart and gives each a weight that a physics engine could read. Prints what came out.

#include <stdio.h>
#include <string.h>

#include <rubble/collection.h>
#include <rubble/rubble.h>

/* ---- The node type ---- */

/// Moves every piece away from the root's origin by `factor` times the distance, and writes bone.weight.
static rbl_status scatter_evaluate(rbl_context *ctx, rbl_call *call)
{
    const rbl_collection *in = rbl_call_input_collection(call, "collection");
    double factor = rbl_param_float(rbl_call_param(call, "factor"));
    double density = rbl_param_float(rbl_call_param(call, "density"));
    rbl_attribute_view volume, min, max, owner;
    if (rbl_collection_attribute(in, "geometry", "volume", &volume) != RBL_OK ||
        rbl_collection_attribute(in, "geometry", "bounds_min", &min) != RBL_OK ||
        rbl_collection_attribute(in, "geometry", "bounds_max", &max) != RBL_OK ||
        rbl_collection_attribute(in, "geometry", "bone", &owner) != RBL_OK)
        return rbl_call_fail(ctx, call, NULL, RBL_ERR_COLLECTION, "the collection has no geometry");

    rbl_collection *out = NULL;
    void *transforms = NULL, *weights = NULL;
    rbl_status status = rbl_collection_copy(ctx, in, &out);
    if (status == RBL_OK) status = rbl_collection_write(ctx, out, "bone", "transform", RBL_MAT4, &transforms);
    if (status == RBL_OK) status = rbl_collection_write(ctx, out, "bone", "weight", RBL_DOUBLE, &weights);
    for (size_t g = 0; status == RBL_OK && g < volume.count; g++) {
        if (rbl_call_cancelled(ctx)) status = RBL_ERR_CANCELLED;
        int32_t bone = ((const int32_t *)owner.data)[g];
        double *transform = (double *)transforms + 16 * bone;
        for (int k = 0; k < 3; k++) {
            double center =
                0.5 * (((const double(*)[3])min.data)[g][k] + ((const double(*)[3])max.data)[g][k]);
            transform[12 + k] += factor * center;
        }
        ((double *)weights)[bone] = density * ((const double *)volume.data)[g];
        rbl_call_progress(ctx, (double)(g + 1) / (double)volume.count);
    }
    if (status == RBL_OK && factor == 0) rbl_call_note(ctx, "factor 0 moves nothing");
    if (status == RBL_OK)
        rbl_call_set_output_collection(call, "collection", out);
    else
        rbl_collection_release(out);
    return status;
}

static const rbl_port_desc ports[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "pieces"}, {0}};
static const rbl_param_desc params[] = {
    {.name = "factor",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.5",
        .min = 0,
        .max = 10,
        .step = 0.1,
        .text = "how far, times the distance from the origin"},
    {.name = "density",
        .type = RBL_PARAM_FLOAT,
        .default_json = "2400",
        .min = 0,
        .max = 100000,
        .unit = "kg/m3",
        .text = "of the material"},
    {0},
};
static const rbl_node_desc scatter_node = {
    .size = sizeof(rbl_node_desc),
    .type = "demo.Scatter",
    .version = 1,
    .revision = 1,
    .family = "demo",
    .text = "Moves pieces apart and weighs them.",
    .inputs = ports,
    .outputs = ports,
    .params = params,
    .evaluate = scatter_evaluate,
};

/* ---- The mesh, as a renderer may have it ---- */

typedef struct vertex {
    float position[3];
    unsigned char color[4];
} vertex;
static const vertex vertices[8] = {{{-1, -1, -1}, {200, 60, 40, 255}}, {{1, -1, -1}, {200, 60, 40, 255}},
    {{1, 1, -1}, {200, 60, 40, 255}}, {{-1, 1, -1}, {200, 60, 40, 255}}, {{-1, -1, 1}, {90, 60, 40, 255}},
    {{1, -1, 1}, {90, 60, 40, 255}}, {{1, 1, 1}, {90, 60, 40, 255}}, {{-1, 1, 1}, {90, 60, 40, 255}}};
static const unsigned short indices[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4, 1, 2, 6, 1,
    6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};

static const char graph_text[] =
    "{ \"rubble\": 1, \"nodes\": {"
    "  \"cube\": { \"type\": \"MeshToCollection\", \"params\": { \"file\": \"\" } },"
    "  \"cut\": { \"type\": \"UniformFracture\", \"in\": { \"collection\": \"cube\" },"
    "    \"params\": { \"min_sites\": 8, \"max_sites\": 8 } },"
    "  \"apart\": { \"type\": \"demo.Scatter\", \"in\": { \"collection\": \"cut\" } } } }";

static void print_messages(const rbl_messages *messages)
{
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        char *text = NULL;
        if (rbl_messages_format(messages, i, &text) == RBL_OK) fputs(text, stderr);
        rbl_messages_free_text(messages, text);
    }
}

static rbl_status bind_cube(rbl_graph *graph, rbl_messages **messages)
{
    rbl_mesh_desc mesh;
    rbl_mesh_desc_init(&mesh);
    mesh.name = "cube";
    mesh.vertex_count = 8;
    mesh.positions.data = vertices[0].position;
    mesh.positions.type = RBL_FLOAT_3;
    mesh.positions.stride = sizeof(vertex);
    mesh.colors.data = vertices[0].color;
    mesh.colors.type = RBL_INT32;
    mesh.colors.stride = sizeof(vertex);
    mesh.indices = indices;
    mesh.index_bits = 16;
    mesh.triangle_count = 12;
    return rbl_graph_bind_mesh(graph, "cube", &mesh, messages);
}

/// Reads the result without copying it.
static double print_pieces(const rbl_collection *pieces)
{
    rbl_attribute_view weight, transform, owner;
    double sum = 0;
    if (rbl_collection_attribute(pieces, "bone", "weight", &weight) != RBL_OK ||
        rbl_collection_attribute(pieces, "bone", "transform", &transform) != RBL_OK ||
        rbl_collection_attribute(pieces, "geometry", "bone", &owner) != RBL_OK)
        return 0;
    for (size_t g = 0; g < owner.count; g++) {
        int32_t bone = ((const int32_t *)owner.data)[g];
        const double *matrix = (const double *)transform.data + 16 * bone;
        double kilograms = ((const double *)weight.data)[bone];
        printf("%-8s %8.1f kg at %6.3f %6.3f %6.3f\n",
            rbl_collection_string(pieces, "bone", "name", (size_t)bone), kilograms, matrix[12], matrix[13],
            matrix[14]);
        sum += kilograms;
    }
    return sum;
}

int main(void)
{
    rbl_engine *engine = NULL;
    rbl_graph *graph = NULL;
    rbl_run *run = NULL;
    rbl_messages *messages = NULL;
    int code = 1;
    rbl_status status = rbl_engine_create(NULL, &engine);
    if (status == RBL_OK) status = rbl_engine_register_node(engine, &scatter_node, &messages);
    if (status == RBL_OK)
        status = rbl_graph_load_text(engine, "demo.json", graph_text, strlen(graph_text), &messages, &graph);
    if (status == RBL_OK) status = bind_cube(graph, &messages);
    if (status == RBL_OK) status = rbl_evaluate(graph, NULL, &run);
    print_messages(messages);
    if (run) print_messages(rbl_run_messages(run));
    if (status == RBL_OK) {
        double sum = print_pieces(rbl_value_collection(rbl_run_value(run, "apart")));
        printf("together %8.1f kg\n", sum);
        code = sum > 19199.9 && sum < 19200.1 ? 0 : 1; /* 8 cubic metres of 2,400 kg */
    } else {
        fprintf(stderr, "error: %s\n", rbl_status_text(status));
    }
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
    rbl_engine_destroy(engine);
    return code;
}
