/// ValidateCollection: looks a collection through and puts in order what can be.

#include "fracture/base/alloc.h"
#include "fracture/ops/tidy.h"
#include "rubble/node.h"

/// The text with what JSON does not allow in strings escaped; NULL without memory.
static char *escape(rbl_context *ctx, const char *text)
{
    char *out = rbli_alloc(ctx, 6 * strlen(text) + 1, 1), *to = out;
    if (!out) return NULL;
    for (const char *from = text; *from; from++) {
        static const char digits[] = "0123456789abcdef";
        unsigned char c = (unsigned char)*from;
        if (c >= 0x20 && c != '"' && c != '\\') {
            *to++ = *from;
            continue;
        }
        const char code[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
        memcpy(to, code, sizeof code);
        to += sizeof code;
    }
    *to = 0;
    return out;
}

static rbl_status write_report(
    rbl_context *ctx, const rbli_tidy_options *o, const rbli_tidy_report *r, rbl_value **out)
{
    rbl_status status = RBL_OK;
    char *fault = NULL, *text = NULL;
    if (r->fault) RBL_TRY_ALLOC(fault = escape(ctx, r->fault));
    text = rbli_format(ctx,
        "{\"valid\": %s, \"fault\": %s%s%s, \"pieces\": %zu, \"open_pieces\": %zu, \"inside_out_pieces\": "
        "%zu, \"empty_bones\": %zu, \"flat_faces\": %zu, \"roots\": %zu, \"order_fixed\": %s, "
        "\"unreferenced\": {\"removed\": %s, \"geometries\": %zu, \"faces\": %zu, \"vertices\": %zu, "
        "\"hulls\": "
        "%zu, \"pairs\": %zu}, \"lost_links\": %zu, \"clusters_of_one\": {\"removed\": %s, \"count\": %zu}, "
        "\"dangling_clusters\": {\"removed\": %s, \"count\": %zu}}",
        r->fault ? "false" : "true", r->fault ? "\"" : "", r->fault ? fault : "null", r->fault ? "\"" : "",
        r->pieces, r->open_pieces, r->inside_out_pieces, r->empty_bones, r->flat_faces, r->roots,
        r->order_fixed ? "true" : "false", o->remove_unreferenced ? "true" : "false", r->lost_geometries,
        r->lost_faces, r->lost_vertices, r->lost_hulls, r->lost_pairs, r->lost_links,
        o->remove_clusters_of_one ? "true" : "false", r->clusters_of_one,
        o->remove_dangling_clusters ? "true" : "false", r->dangling);
    RBL_TRY_ALLOC(text);
    status = rbl_value_create_string(ctx, text, out);
done:
    rbli_free(ctx, fault);
    rbli_free(ctx, text);
    return status;
}

static const char *s_of(size_t count)
{
    return count == 1 ? "" : "s";
}

static const char *removed(bool really)
{
    return really ? ", removed" : "";
}

static void say_all(
    rbl_context *ctx, const rbli_tidy_options *o, const rbli_tidy_report *r, const rbl_collection *c)
{
    size_t lost = r->lost_geometries + r->lost_faces + r->lost_vertices + r->lost_hulls + r->lost_pairs;
    if (lost)
        rbli_note(ctx, "nothing refers to %zu geometr%s, %zu face%s, %zu vert%s, %zu hull%s and %zu pair%s%s",
            r->lost_geometries, r->lost_geometries == 1 ? "y" : "ies", r->lost_faces, s_of(r->lost_faces),
            r->lost_vertices, r->lost_vertices == 1 ? "ex" : "ices", r->lost_hulls, s_of(r->lost_hulls),
            r->lost_pairs, s_of(r->lost_pairs), removed(o->remove_unreferenced));
    if (r->lost_links)
        rbli_warn(ctx, "%zu bone%s named a geometry that is not theirs and have none now", r->lost_links,
            s_of(r->lost_links));
    if (r->clusters_of_one)
        rbli_note(ctx, "%zu cluster%s of one bone%s", r->clusters_of_one, s_of(r->clusters_of_one),
            removed(o->remove_clusters_of_one));
    if (r->dangling)
        rbli_note(ctx, "%zu bone%s without geometry at or below%s", r->dangling, s_of(r->dangling),
            removed(o->remove_dangling_clusters));
    if (r->order_fixed) rbli_warn(ctx, "bones were put behind their parents and got their levels");
    if (r->roots > 1) rbli_warn(ctx, "%zu roots became children of a new one", r->roots);
    if (r->open_pieces)
        rbli_warn(ctx, "%zu piece%s not closed (\"%s\"%s)", r->open_pieces,
            r->open_pieces == 1 ? " is" : "s are",
            rbli_collection_string(c, "bone", "name", (size_t)r->first_open),
            r->open_pieces > 1 ? ", …" : "");
    if (r->inside_out_pieces)
        rbli_warn(ctx, "%zu piece%s no volume or %s inside out (\"%s\"%s)", r->inside_out_pieces,
            r->inside_out_pieces == 1 ? " has" : "s have", r->inside_out_pieces == 1 ? "is" : "are",
            rbli_collection_string(c, "bone", "name", (size_t)r->first_inside_out),
            r->inside_out_pieces > 1 ? ", …" : "");
    if (r->empty_bones)
        rbli_note(
            ctx, "%zu rigid bone%s no geometry", r->empty_bones, r->empty_bones == 1 ? " has" : "s have");
    if (r->flat_faces)
        rbli_note(ctx, "%zu face%s no area", r->flat_faces, r->flat_faces == 1 ? " has" : "s have");
    if (r->fault && !r->open_pieces) rbli_warn(ctx, "%s", r->fault);
    if (!r->fault) rbli_note(ctx, "%zu piece%s, all closed: valid", r->pieces, s_of(r->pieces));
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_tidy_report report = {0};
    rbl_collection *out = NULL;
    rbl_value *text = NULL, *valid = NULL;
    rbli_tidy_options options = {
        .remove_unreferenced = rbl_param_bool(rbl_call_param(call, "remove_unreferenced")),
        .remove_clusters_of_one = rbl_param_bool(rbl_call_param(call, "remove_clusters_of_one")),
        .remove_dangling_clusters = rbl_param_bool(rbl_call_param(call, "remove_dangling_clusters"))};
    RBL_TRY(rbli_tidy(ctx, rbl_call_input_collection(call, "collection"), &options, &report, &out));
    RBL_TRY(write_report(ctx, &options, &report, &text));
    RBL_TRY(rbl_value_create_number(ctx, RBL_VALUE_BOOL, report.fault == NULL, &valid));
    say_all(ctx, &options, &report, out);
    rbl_call_set_output_collection(call, "collection", out);
    rbl_call_set_output(call, "report", text);
    rbl_call_set_output(call, "valid", valid);
    out = NULL;
    text = valid = NULL;
done:
    rbli_free(ctx, report.fault);
    rbli_collection_release(out);
    rbl_value_release(text);
    rbl_value_release(valid);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "what is looked through"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same, put in order"},
    {.name = "report", .kind = RBL_VALUE_STRING, .text = "what was found, as a JSON object"},
    {.name = "valid", .kind = RBL_VALUE_BOOL, .text = "nothing is wrong with the result"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "remove_unreferenced",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "remove geometries, faces, vertices, hulls and pairs that nothing refers to"},
    {.name = "remove_clusters_of_one",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "the only child of a cluster takes its place and its connections; roots stay"},
    {.name = "remove_dangling_clusters",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "remove bones without geometry at or below them"},
    {0},
};

const rbl_node_desc rbli_node_validate_collection = {
    .size = sizeof(rbl_node_desc),
    .type = "ValidateCollection",
    .version = 1,
    .revision = 1,
    .family = "cleanup",
    .text = "Looks a collection through, repairs what can be, and reports.",
    .details =
        "Always gives bones their levels, puts parents before children and several roots below one. "
        "Warns of pieces that are\n"
        "not closed or have no volume; they stay, and `valid` is false: Branch can act on it. An input "
        "that no node could\n"
        "use (indices out of range, a cycle of parents) is an error that says what is wrong.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
