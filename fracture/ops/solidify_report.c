/// What a person reads about the repair of a mesh: a line for each mesh node that needed something, one for
/// each kind of repair, and on demand all shells and holes as groups of the collection.

#include <stdarg.h>
#include <stdio.h>

#include "fracture/base/alloc.h"
#include "fracture/ops/solidify_internal.h"

enum {
    REFUSALS_TOLD = 5, /* so many shells are named one by one in errors; the rest is counted */
    NODES_TOLD = 8,
    SHELLS_TOLD = 12,
};

/// From this part of the surface on, sheets are worth a hint.
static const double MANY_SHEETS = 0.1;
/// Volume that vanishes in a union by rounding alone, as a part.
static const double NO_OVERLAP = 1e-11;

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static const char *vertices(size_t count)
{
    return count == 1 ? "vertex" : "vertices";
}

rbl_status solidify_refuse(rbl_context *ctx, const solidify_job *job)
{
    rbl_status status = RBL_OK;
    size_t solids = 0, sheets = 0, refused = 0;
    for (size_t s = 0; s < job->repair->shell_count; s++) {
        solids += job->kept[s] && job->repair->shells[s].kind == RBLI_SHELL_SOLID;
        sheets += solidify_is_sheet(&job->repair->shells[s]);
    }
    if (solids > 0 || (sheets > 0 && job->options->sheets == RBLI_SHEETS_SEPARATE)) return RBL_OK;
    for (size_t s = 0; s < job->repair->shell_count; s++) {
        const rbli_shell *shell = &job->repair->shells[s];
        if (!solidify_is_sheet(shell)) continue;
        if (status == RBL_OK) status = shell->two_sided ? RBL_ERR_MESH : RBL_ERR_OPEN_MESH;
        if (++refused > REFUSALS_TOLD) continue;
        rbli_fail(ctx, status, "shell %zu of \"%s\" (%d triangle%s) is no solid: %s", s,
            solidify_node_name(job, shell->node), (int)shell->triangle_count,
            plural((size_t)shell->triangle_count), shell->why ? shell->why : "a hole stays open");
    }
    if (refused > REFUSALS_TOLD)
        rbli_fail(ctx, status, "%zu more shells of %zu are refused for such reasons", refused - REFUSALS_TOLD,
            job->repair->shell_count);
    return rbli_fail(ctx, status == RBL_OK ? RBL_ERR_MESH : status,
        "there is no solid in the mesh: no closed shell that encloses a volume; \"sheets\": \"thicken\" "
        "makes solids of surfaces");
}

/// A warning, counted: with `strict` the first one is the reason to refuse.
__attribute__((format(printf, 3, 4))) static void warn(
    rbl_context *ctx, size_t *warnings, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ++*warnings;
    rbli_warn(ctx, "%s", text);
}

/* ---- nodes ---- */

typedef struct node_sums {
    size_t shells, closed, filled, overlapping, solids_before, solids_after;
    double area, filled_area, sheet_area, volume_before, volume_after;
} node_sums;

static void add_sums(node_sums *to, const node_sums *from)
{
    to->shells += from->shells;
    to->closed += from->closed;
    to->filled += from->filled;
    to->overlapping += from->overlapping;
    to->solids_before += from->solids_before;
    to->solids_after += from->solids_after;
    to->area += from->area;
    to->filled_area += from->filled_area;
    to->sheet_area += from->sheet_area;
    to->volume_before += from->volume_before;
    to->volume_after += from->volume_after;
}

static void sum_nodes(const solidify_job *job, node_sums *nodes)
{
    const rbli_repair_result *found = job->found ? job->found : job->repair;
    const bool *found_kept = job->found ? job->found_kept : job->kept;
    for (size_t s = 0; s < found->shell_count; s++) {
        const rbli_shell *shell = &found->shells[s];
        node_sums *n = &nodes[shell->node];
        n->shells++;
        n->filled += shell->filled_loop_count > 0;
        n->closed += shell->kind <= RBLI_SHELL_CAVITY && shell->filled_loop_count == 0;
        n->area += shell->area;
        n->filled_area += shell->filled_area;
        if (solidify_is_sheet(shell)) n->sheet_area += shell->area;
        if (!found_kept[s]) continue;
        n->overlapping += shell->overlaps_other;
        n->solids_before += shell->kind == RBLI_SHELL_SOLID;
        n->volume_before += shell->volume;
    }
    for (size_t s = 0; s < job->repair->shell_count; s++) {
        const rbli_shell *shell = &job->repair->shells[s];
        if (!job->kept[s]) continue;
        nodes[shell->node].solids_after += shell->kind == RBLI_SHELL_SOLID;
        nodes[shell->node].volume_after += shell->volume;
    }
}

static double removed_part(const node_sums *n)
{
    double part = n->volume_before > 0 ? (n->volume_before - n->volume_after) / n->volume_before : 0;
    return part > NO_OVERLAP ? part : 0;
}

/// "19 shells: 5 closed, 14 with holes filled (4.7 % of the surface is new); 1 solid after union, 3.6 % …".
static void describe_node(const solidify_job *job, const node_sums *n, char *text, size_t size)
{
    int used = snprintf(text, size, "%zu shell%s: %zu closed", n->shells, plural(n->shells), n->closed);
    if (n->filled && used > 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used,
            ", %zu with holes filled (%.2g %% of the surface is new)", n->filled,
            n->area > 0 ? 100 * n->filled_area / n->area : 0);
    if (!job->found || used < 0 || (size_t)used >= size || n->solids_after == 0 ||
        (n->solids_before == n->solids_after && removed_part(n) == 0))
        return;
    used += snprintf(text + used, size - (size_t)used, "; %zu solid%s after union", n->solids_after,
        plural(n->solids_after));
    if (removed_part(n) > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", %.2g %% overlap removed", 100 * removed_part(n));
}

static rbl_status report_nodes(rbl_context *ctx, const solidify_job *job, size_t *warnings)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(job->in, "geometry"), told = 0, rest_count = 0;
    bool scene = job->options->join == RBLI_JOIN_SCENE;
    node_sums *nodes = NULL, rest = {0}, all = {0};
    char text[256];
    RBL_TRY_ALLOC(nodes = rbli_calloc(ctx, count, sizeof *nodes));
    sum_nodes(job, nodes);
    for (size_t i = 0; i < count; i++) {
        const node_sums *n = &nodes[i];
        add_sums(&all, n);
        bool united = job->found && !scene && (n->solids_before != n->solids_after || removed_part(n) > 0);
        if (n->filled == 0 && !united) continue;
        if (++told > NODES_TOLD) {
            add_sums(&rest, n);
            rest_count++;
            continue;
        }
        describe_node(job, n, text, sizeof text);
        if (n->filled || n->overlapping || removed_part(n) > 0)
            warn(ctx, warnings, "%.100s: %s", solidify_node_name(job, (int32_t)i), text);
        else
            rbli_note(ctx, "%.100s: %s", solidify_node_name(job, (int32_t)i), text);
    }
    if (rest_count) {
        describe_node(job, &rest, text, sizeof text);
        warn(ctx, warnings, "%zu more nodes: %s", rest_count, text);
    }
    if (told == 0 || scene || count > 1) {
        describe_node(job, &all, text, sizeof text);
        rbli_note(ctx, "%zu mesh node%s, %s", count, plural(count), text);
    }
    if (scene && job->found && removed_part(&all) > 0)
        warn(ctx, warnings, "%zu solid%s after union of %zu in the scene, %.2g %% overlap removed",
            all.solids_after, plural(all.solids_after), all.solids_before, 100 * removed_part(&all));
    if (all.overlapping && job->options->join == RBLI_JOIN_NONE)
        warn(ctx, warnings,
            "%zu shell%s overlap%s others: what they share counts twice; \"join\": \"node\" makes them one "
            "solid",
            all.overlapping, plural(all.overlapping), all.overlapping == 1 ? "s" : "");
    if (all.area > 0 && all.sheet_area > MANY_SHEETS * all.area &&
        job->options->sheets != RBLI_SHEETS_SEPARATE) /* else as was asked for */
        warn(ctx, warnings, "%.2g %% of the surface has no inside: try \"sheets\": \"thicken\"",
            100 * all.sheet_area / all.area);
done:
    rbli_free(ctx, nodes);
    return status;
}

/* ---- shells ---- */

/// One message about a shell; false when there is nothing to say.
static bool describe_shell(const solidify_job *job, const rbli_repair_result *r, const bool *kept, size_t s,
    int kind, char *text, size_t size)
{
    const rbli_shell *shell = &r->shells[s];
    const char *name = solidify_node_name(job, shell->node);
    const char *sheets = job->options->sheets == RBLI_SHEETS_DROP ? "dropped" : "kept as a sheet";
    int triangles = (int)shell->triangle_count;
    switch (kind) {
    case 0:
        if (shell->kind <= RBLI_SHELL_CAVITY) return false;
        snprintf(text, size, "shell %zu of \"%.100s\" (%d triangle%s): %s; %s", s, name, triangles,
            plural((size_t)triangles), shell->why ? shell->why : "a hole stays open",
            solidify_is_sheet(shell) ? sheets : "dropped");
        return true;
    case 1:
        if (!shell->flipped) return false;
        snprintf(
            text, size, "shell %zu of \"%.100s\" (%d triangles) was inside out: turned", s, name, triangles);
        return true;
    case 2:
        if (!kept[s] || shell->self_crossings == 0) return false;
        snprintf(text, size,
            "%d crossing%s inside shell %zu of \"%.100s\" left as they are; pieces are closed, volumes "
            "signed",
            (int)shell->self_crossings, plural((size_t)shell->self_crossings), s, name);
        return true;
    default:
        if (!solidify_is_swallowed(r->shells, s)) return false;
        snprintf(text, size,
            "shell %zu of \"%.100s\" lies inside shell %d and is wound outward: taken as solid; \"nested\": "
            "\"cavity\" hollows it",
            s, name, (int)shell->parent);
        return true;
    }
}

static void report_shells(rbl_context *ctx, const solidify_job *job, size_t *warnings)
{
    const rbli_repair_result *r = job->found ? job->found : job->repair;
    const bool *kept = job->found ? job->found_kept : job->kept;
    char text[512];
    size_t told = 0;
    for (int kind = 0; kind < 4; kind++)
        for (size_t s = 0; s < r->shell_count; s++) {
            if (!describe_shell(job, r, kept, s, kind, text, sizeof text)) continue;
            bool asked_for =
                kind == 0 && solidify_is_sheet(&r->shells[s]) && job->options->sheets == RBLI_SHEETS_SEPARATE;
            if (asked_for)
                rbli_note(ctx, "%s", text);
            else if (++told <= SHELLS_TOLD)
                warn(ctx, warnings, "%s", text);
        }
    if (told > SHELLS_TOLD)
        warn(
            ctx, warnings, "%zu more such findings; \"rubble inspect\" lists all shells", told - SHELLS_TOLD);
}

/* ---- the whole mesh ---- */

static void report_repairs(rbl_context *ctx, const rbli_repair_result *r, size_t *warnings)
{
    if (r->stitched_vertices)
        warn(ctx, warnings, "stitched %zu %s (largest move %.2g)", r->stitched_vertices,
            vertices(r->stitched_vertices), r->largest_move);
    if (r->split_edges)
        warn(ctx, warnings, "split %zu edge%s where vertices of other triangles lie on %s", r->split_edges,
            plural(r->split_edges), r->split_edges == 1 ? "it" : "them");
    const struct {
        size_t count;
        const char *one, *many;
    } repairs[] = {
        {r->dropped_zero_area, "triangle without area dropped", "triangles without area dropped"},
        {r->dropped_duplicates, "triangle listed twice: the copy dropped",
            "triangles listed twice: the copies dropped"},
        {r->dropped_opposite, "back-to-back triangle dropped", "back-to-back triangles dropped"},
        {r->flipped_triangles, "triangle turned to agree with its shell",
            "triangles turned to agree with their shell"},
        {r->membrane_triangles, "triangle of an inner wall dropped", "triangles of inner walls dropped"},
    };
    for (size_t i = 0; i < sizeof repairs / sizeof *repairs; i++)
        if (repairs[i].count)
            warn(ctx, warnings, "%zu %s", repairs[i].count,
                repairs[i].count == 1 ? repairs[i].one : repairs[i].many);
    if (r->dropped_repeated)
        rbli_note(ctx, "%zu triangle%s with a repeated vertex left out", r->dropped_repeated,
            plural(r->dropped_repeated));
    if (r->split_vertices)
        rbli_note(ctx, "doubled %zu %s where solids touch", r->split_vertices, vertices(r->split_vertices));
    if (r->split_edges_manifold)
        rbli_note(ctx, "split %zu edge%s where solids touch", r->split_edges_manifold,
            plural(r->split_edges_manifold));
}

rbl_status solidify_report(rbl_context *ctx, const solidify_job *job, size_t *warnings)
{
    rbl_status status = RBL_OK;
    RBL_TRY(report_nodes(ctx, job, warnings));
    report_shells(ctx, job, warnings);
    report_repairs(ctx, job->found ? job->found : job->repair, warnings);
done:
    return status;
}

/* ---- details ---- */

/// A string attribute of a group from texts that live long enough.
static rbl_status write_strings(rbl_context *ctx, rbl_collection *c, const char *group, const char *name,
    size_t count, const char *const *texts)
{
    rbl_status status = RBL_OK;
    rbli_buffer *buffer = NULL;
    RBL_TRY(rbli_buffer_create_strings(ctx, count, texts, &buffer));
    status = rbli_collection_set(ctx, c, group, name, buffer);
done:
    rbli_buffer_release(buffer);
    return status;
}

static void bound_shell(const rbli_repair_result *r, const rbli_shell *shell, double low[3], double high[3])
{
    for (int32_t t = shell->triangle_start; t < shell->triangle_start + shell->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            const double *p = r->positions[r->triangles[t][c]];
            for (int k = 0; k < 3; k++) {
                bool first = t == shell->triangle_start && c == 0;
                low[k] = first || p[k] < low[k] ? p[k] : low[k];
                high[k] = first || p[k] > high[k] ? p[k] : high[k];
            }
        }
}

static rbl_status write_shells(
    rbl_context *ctx, const solidify_job *job, const rbli_repair_result *r, rbl_collection *c)
{
    rbl_status status = RBL_OK;
    static const char *const kinds[] = {"solid", "cavity", "sheet", "dropped"};
    size_t count = r->shell_count;
    const char **texts = NULL;
    void *triangles, *open, *filled, *crossings, *place, *overlaps, *volume, *area, *low, *high;
    RBL_TRY_ALLOC(texts = rbli_alloc(ctx, 3 * count, sizeof *texts));
    RBL_TRY(rbli_collection_resize(ctx, c, "shell", count));
    RBL_TRY(rbli_collection_write(ctx, c, "shell", "triangles", RBL_INT32, &triangles));
    RBL_TRY(rbli_collection_write(ctx, c, "shell", "open_holes", RBL_INT32, &open));
    RBL_TRY(rbli_collection_write(ctx, c, "shell", "filled_holes", RBL_INT32, &filled));
    RBL_TRY(rbli_collection_write(ctx, c, "shell", "crossings", RBL_INT32, &crossings));
    RBL_TRY(rbli_collection_write(ctx, c, "shell", "crossing_place", RBL_VEC3, &place));
    RBL_TRY(rbli_collection_write(ctx, c, "shell", "bounds_min", RBL_VEC3, &low));
    RBL_TRY(rbli_collection_write(ctx, c, "shell", "bounds_max", RBL_VEC3, &high));
    RBL_TRY(rbli_collection_write(ctx, c, "shell", "overlaps", RBL_BOOL, &overlaps));
    RBL_TRY(rbli_collection_write(ctx, c, "shell", "volume", RBL_DOUBLE, &volume));
    RBL_TRY(rbli_collection_write(ctx, c, "shell", "area", RBL_DOUBLE, &area));
    for (size_t s = 0; s < count; s++) {
        const rbli_shell *shell = &r->shells[s];
        ((int32_t *)triangles)[s] = shell->triangle_count;
        ((int32_t *)open)[s] = shell->open_loop_count;
        ((int32_t *)filled)[s] = shell->filled_loop_count;
        ((int32_t *)crossings)[s] = shell->self_crossings;
        memcpy(((double(*)[3])place)[s], shell->crossing_place, sizeof shell->crossing_place);
        bound_shell(r, shell, ((double(*)[3])low)[s], ((double(*)[3])high)[s]);
        ((bool *)overlaps)[s] = shell->overlaps_other;
        ((double *)volume)[s] = shell->volume;
        ((double *)area)[s] = shell->area;
        texts[s] = solidify_node_name(job, shell->node);
        texts[count + s] = solidify_is_sheet(shell) ? "sheet" : kinds[shell->kind];
        texts[2 * count + s] = shell->why ? shell->why : "";
    }
    RBL_TRY(write_strings(ctx, c, "shell", "node", count, texts));
    RBL_TRY(write_strings(ctx, c, "shell", "kind", count, texts + count));
    RBL_TRY(write_strings(ctx, c, "shell", "why", count, texts + 2 * count));
done:
    rbli_free(ctx, (void *)texts);
    return status;
}

rbl_status solidify_write_details(rbl_context *ctx, const solidify_job *job, rbl_collection *c)
{
    rbl_status status = RBL_OK;
    const rbli_repair_result *r = job->found ? job->found : job->repair;
    void *shell, *edges, *length, *center, *filled;
    RBL_TRY(write_shells(ctx, job, r, c));
    RBL_TRY(rbli_collection_resize(ctx, c, "hole", r->hole_count));
    RBL_TRY(rbli_collection_write(ctx, c, "hole", "shell", RBL_INT32, &shell));
    RBL_TRY(rbli_collection_write(ctx, c, "hole", "edges", RBL_INT32, &edges));
    RBL_TRY(rbli_collection_write(ctx, c, "hole", "length", RBL_DOUBLE, &length));
    RBL_TRY(rbli_collection_write(ctx, c, "hole", "center", RBL_VEC3, &center));
    RBL_TRY(rbli_collection_write(ctx, c, "hole", "filled", RBL_BOOL, &filled));
    for (size_t h = 0; h < r->hole_count; h++) {
        ((int32_t *)shell)[h] = r->holes[h].shell;
        ((int32_t *)edges)[h] = r->holes[h].edge_count;
        ((double *)length)[h] = r->holes[h].length;
        memcpy(((double(*)[3])center)[h], r->holes[h].center, sizeof r->holes[h].center);
        ((bool *)filled)[h] = r->holes[h].filled;
    }
done:
    return status;
}
