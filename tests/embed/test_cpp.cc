/// The interface from C++: every header, and a run.

#include <cstdio>
#include <cstring>
#include <memory>

#include <rubble/async.h>
#include <rubble/changes.h>
#include <rubble/collection.h>
#include <rubble/mesh.h>
#include <rubble/parameters.h>
#include <rubble/rubble.h>
#include <rubble/rubble_uv.h>

int main()
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    rbl_engine *engine = nullptr;
    if (rbl_engine_create(&options, &engine) != RBL_OK) return 1;
    std::unique_ptr<rbl_engine, void (*)(rbl_engine *)> owner(engine, rbl_engine_destroy);
    const char text[] = "{\"rubble\": 1, \"nodes\": {\"box\": {\"type\": \"MakePrimitive\"}}}";
    rbl_graph *graph = nullptr;
    if (rbl_graph_load_text(engine, "box.json", text, std::strlen(text), nullptr, &graph) != RBL_OK) return 1;
    rbl_evaluation *evaluation = nullptr;
    bool good = rbl_evaluation_begin(graph, nullptr, nullptr, nullptr, &evaluation) == RBL_OK &&
                rbl_evaluation_wait(evaluation) == RBL_OK;
    const rbl_run *run = good ? rbl_evaluation_run(evaluation) : nullptr;
    rbl_attribute_view view;
    good = run && rbl_collection_attribute(
                      rbl_value_collection(rbl_run_value(run, "box")), "vertex", "position", &view) == RBL_OK;
    if (good) std::printf("%zu vertices\n", view.count);
    rbl_evaluation_destroy(evaluation);
    rbl_graph_destroy(graph);
    return good && view.count == 8 ? 0 : 1;
}
