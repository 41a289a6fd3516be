/// An editor in small: a slider is dragged a hundred times on the host's own libuv loop. Each position
/// cancels the evaluation under way; of each result only the pieces that changed would be uploaded. The loop
/// never waits.

#include <stdio.h>
#include <string.h>

#include <rubble/changes.h>
#include <rubble/parameters.h>
#include <rubble/rubble_uv.h>

enum { DRAGS = 100, DRAG_MS = 3 };

static const char graph_text[] =
    "{ \"rubble\": 1, \"vars\": { \"pieces\": { \"type\": \"int\", \"default\": 50, \"min\": 2, \"max\": "
    "1000 } },"
    "  \"nodes\": {"
    "    \"box\": { \"type\": \"MakePrimitive\", \"params\": { \"shape\": \"box\" } },"
    "    \"sites\": { \"type\": \"ScatterPoints\", \"in\": { \"collection\": \"box\" },"
    "      \"params\": { \"count\": { \"var\": \"pieces\" } } },"
    "    \"cut\": { \"type\": \"VoronoiFracture\", \"in\": { \"collection\": \"box\", \"points\": \"sites\" "
    "} } } }";

typedef struct editor {
    uv_loop_t loop;
    uv_timer_t mouse;
    rbl_engine *engine;
    rbl_graph *graph;
    rbl_uv_evaluation *evaluation; /* NULL: none under way */
    rbl_run *shown;                /* the result on the screen */
    int position, drags, begun, cancelled, finished;
    bool stale; /* the slider moved since the evaluation under way began */
    size_t uploads;
    rbl_status fault;
} editor;

static void begin(editor *e);

/// What changed since the result that is shown.
static void upload(editor *e, const rbl_run *run)
{
    rbl_changes *changes = NULL;
    e->fault = rbl_run_changes(e->engine, e->shown, run, "cut", &changes);
    if (e->fault != RBL_OK) return;
    for (size_t i = 0; i < rbl_changes_count(changes); i++) {
        const rbl_changed_bone *bone = rbl_changes_get(changes, i);
        e->uploads += (bone->what & (RBL_CHANGE_ADDED | RBL_CHANGE_GEOMETRY)) != 0;
    }
    rbl_changes_destroy(changes);
}

static void on_done(void *user, rbl_status status, rbl_run *run)
{
    editor *e = user;
    e->evaluation = NULL;
    if (status == RBL_OK) {
        e->finished++;
        upload(e, run);
        rbl_run_destroy(e->shown);
        e->shown = run;
    } else {
        e->cancelled += status == RBL_ERR_CANCELLED;
        if (status != RBL_ERR_CANCELLED) e->fault = status;
        rbl_run_destroy(run);
    }
    if (e->stale && e->fault == RBL_OK) begin(e);
}

static void begin(editor *e)
{
    e->stale = false;
    e->fault = rbl_uv_evaluate(&e->loop, e->graph, NULL, on_done, e, &e->evaluation);
    e->begun += e->fault == RBL_OK;
}

/// The mouse moved: 50, 51, … and back.
static void on_drag(uv_timer_t *timer)
{
    editor *e = timer->data;
    char text[16];
    e->drags++;
    e->position = 50 + (e->drags <= DRAGS / 2 ? e->drags : DRAGS - e->drags);
    snprintf(text, sizeof text, "%d", e->position);
    e->fault = rbl_graph_set_variable(e->graph, "pieces", text, NULL);
    e->stale = true;
    if (e->evaluation)
        rbl_uv_cancel(e->evaluation); /* on_done comes and begins the next one */
    else if (e->fault == RBL_OK)
        begin(e);
    if (e->drags == DRAGS || e->fault != RBL_OK) uv_close((uv_handle_t *)timer, NULL);
}

int main(void)
{
    editor e = {0};
    rbl_status status = rbl_engine_create(NULL, &e.engine);
    if (status == RBL_OK)
        status = rbl_graph_load_text(e.engine, "slider.json", graph_text, strlen(graph_text), NULL, &e.graph);
    if (status != RBL_OK || uv_loop_init(&e.loop) != 0) {
        fprintf(stderr, "error: %s\n", rbl_status_text(status));
        return 1;
    }
    const rbl_param_desc *slider = rbl_graph_variable_desc(e.graph, 0);
    printf("slider \"%s\" from %g to %g\n", rbl_graph_variable_name(e.graph, 0), slider->min, slider->max);
    uv_timer_init(&e.loop, &e.mouse);
    e.mouse.data = &e;
    uv_timer_start(&e.mouse, on_drag, 0, DRAG_MS);
    uv_run(&e.loop, UV_RUN_DEFAULT);
    uv_loop_close(&e.loop);

    const rbl_value *last = e.shown ? rbl_run_value(e.shown, "cut") : NULL;
    size_t pieces = last ? rbl_collection_group_size(rbl_value_collection(last), "geometry") : 0;
    printf("%d drags: %d evaluations begun, %d cancelled, %d finished; %zu pieces uploaded\n", e.drags,
        e.begun, e.cancelled, e.finished, e.uploads);
    printf("shown: %zu pieces, as the slider says: %d\n", pieces, e.position);
    bool good = e.fault == RBL_OK && pieces == (size_t)e.position && e.begun == e.cancelled + e.finished;
    rbl_run_destroy(e.shown);
    rbl_graph_destroy(e.graph);
    rbl_engine_destroy(e.engine);
    return good ? 0 : 1;
}
