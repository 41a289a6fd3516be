/// Parts of `rubble inspect`: levels, tree, contacts, cost in an engine, attributes, concerns.

#include "tools/cli/inspect_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/cli/wrap.h"

enum { CHILDREN_SHOWN = 8, LEVELS_SHOWN = 12, LINE_COLUMNS = 100, MOST_LEVELS = 64 };

/* ---- Levels ---- */

typedef struct level_counts {
    size_t clusters, pieces, sheets;
} level_counts;

/// @return how many levels there are; deeper ones count as the last of them
static size_t count_levels(const cli_asset *a, level_counts counts[MOST_LEVELS])
{
    size_t levels = 0;
    memset(counts, 0, MOST_LEVELS * sizeof *counts);
    for (size_t b = 0; b < a->bone_count && a->level; b++) {
        size_t level = a->level[b] > 0 ? (size_t)a->level[b] : 0;
        if (level >= MOST_LEVELS) level = MOST_LEVELS - 1;
        if (level + 1 > levels) levels = level + 1;
        if (cli_is_piece(a, b))
            counts[level].pieces++;
        else if (a->bone_geometry[b] >= 0)
            counts[level].sheets++;
        else
            counts[level].clusters++;
    }
    return levels;
}

static void print_count(const char *before, size_t count, const char *noun)
{
    cli_say("%s%zu %s%s", before, count, noun, cli_plural(count));
}

void cli_print_levels(const cli_asset *a)
{
    level_counts counts[MOST_LEVELS];
    size_t levels = count_levels(a, counts);
    if (!levels) return;
    cli_say("  levels     ");
    for (size_t l = 0; l < levels && l < LEVELS_SHOWN; l++) {
        const char *comma = "";
        cli_say("%s%zu: ", l ? " · " : "", l);
        if (counts[l].clusters) print_count("", counts[l].clusters, "cluster"), comma = ", ";
        if (counts[l].pieces) print_count(comma, counts[l].pieces, "piece"), comma = ", ";
        if (counts[l].sheets) print_count(comma, counts[l].sheets, "sheet");
    }
    cli_say("%s\n", levels > LEVELS_SHOWN ? " · …" : "");
}

void cli_levels_json(const cli_asset *a)
{
    level_counts counts[MOST_LEVELS];
    size_t levels = count_levels(a, counts);
    printf(", \"levels\": [");
    for (size_t l = 0; l < levels; l++)
        printf("%s{\"level\": %zu, \"clusters\": %zu, \"pieces\": %zu, \"sheets\": %zu}", l ? ", " : "", l,
            counts[l].clusters, counts[l].pieces, counts[l].sheets);
    printf("]");
}

/* ---- Tree ---- */

/// Children as linked lists in their order, and sums of what is below.
typedef struct tree {
    const cli_asset *asset;
    int32_t *first, *next; /* −1: none */
    size_t *pieces;
    double *volume;
    int name_columns;
} tree;

static size_t columns_of(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

static bool make_tree(const cli_asset *a, tree *t)
{
    size_t n = a->bone_count + 1;
    *t = (tree){.asset = a,
        .first = malloc(n * sizeof *t->first),
        .next = malloc(n * sizeof *t->next),
        .pieces = calloc(n, sizeof *t->pieces),
        .volume = calloc(n, sizeof *t->volume)};
    if (!t->first || !t->next || !t->pieces || !t->volume) return false;
    for (size_t b = 0; b < n; b++)
        t->first[b] = t->next[b] = -1;
    for (size_t b = a->bone_count; b-- > 0;) {
        if (cli_is_piece(a, b)) {
            t->pieces[b]++;
            t->volume[b] += a->volume[a->bone_geometry[b]];
        }
        if (a->parent[b] < 0) continue;
        size_t up = (size_t)a->parent[b];
        t->pieces[up] += t->pieces[b];
        t->volume[up] += t->volume[b];
        t->next[b] = t->first[up];
        t->first[up] = (int32_t)b;
    }
    return true;
}

static void free_tree(tree *t)
{
    free(t->first);
    free(t->next);
    free(t->pieces);
    free(t->volume);
}

static void print_bone(const tree *t, size_t bone, int indent)
{
    const cli_asset *a = t->asset;
    const char *name = cli_bone_name(a, bone);
    int room = t->name_columns - indent - (int)columns_of(name);
    cli_say("    %*s%s%*s", indent, "", name, room > 0 ? room : 0, "");
    if (t->first[bone] >= 0)
        cli_say(
            "  %6zu piece%-2s volume %.4g\n", t->pieces[bone], cli_plural(t->pieces[bone]), t->volume[bone]);
    else if (a->bone_geometry[bone] >= 0)
        cli_say("  %6d triangle%s, volume %.4g%s\n", a->geometry_faces[a->bone_geometry[bone]],
            cli_plural((size_t)a->geometry_faces[a->bone_geometry[bone]]), t->volume[bone],
            cli_is_piece(a, bone) ? "" : ", sheet");
    else
        cli_say("   empty\n");
}

/// The first level with more than one bone.
static long first_wide_level(const cli_asset *a)
{
    level_counts counts[MOST_LEVELS];
    size_t levels = count_levels(a, counts), level = 0;
    while (level + 1 < levels && counts[level].clusters + counts[level].pieces + counts[level].sheets < 2)
        level++;
    return (long)level;
}

/// Calls `visit` for what is shown, or with SIZE_MAX for the rest of a bone's children; no recursion: trees
/// may be deep.
static void walk(tree *t, long depth, void (*visit)(tree *t, size_t bone, size_t hidden, int indent))
{
    const cli_asset *a = t->asset;
    for (size_t root = 0; root < a->bone_count; root++) {
        if (a->parent[root] >= 0) continue;
        int32_t at = (int32_t)root;
        long below = 0;
        size_t shown[MOST_LEVELS] = {0};
        while (at >= 0) {
            visit(t, (size_t)at, 0, 2 * (int)below);
            bool deeper = t->first[at] >= 0 && (depth == INSPECT_ALL || below < depth);
            if (deeper) {
                below++;
                if (below < MOST_LEVELS) shown[below] = 0;
                at = t->first[at];
                continue;
            }
            while (at >= 0) {
                bool cut = depth != INSPECT_ALL && below > 0 && below < MOST_LEVELS &&
                           ++shown[below] == CHILDREN_SHOWN;
                if (at != (int32_t)root && t->next[at] >= 0 && !cut) {
                    at = t->next[at];
                    break;
                }
                if (at != (int32_t)root && cut && t->next[at] >= 0) {
                    size_t hidden = 0;
                    for (int32_t c = t->next[at]; c >= 0; c = t->next[c])
                        hidden++;
                    visit(t, SIZE_MAX, hidden, 2 * (int)below);
                }
                at = at == (int32_t)root ? -1 : a->parent[at];
                below--;
            }
        }
    }
}

static void widen(tree *t, size_t bone, size_t hidden, int indent)
{
    (void)hidden;
    if (bone == SIZE_MAX) return;
    int columns = indent + (int)columns_of(cli_bone_name(t->asset, bone));
    if (columns > t->name_columns && columns <= 48) t->name_columns = columns;
}

static void print_node(tree *t, size_t bone, size_t hidden, int indent)
{
    if (bone == SIZE_MAX)
        cli_say("    %*s… %zu more\n", indent, "", hidden);
    else
        print_bone(t, bone, indent);
}

rbl_status cli_print_tree(const cli_asset *a, long depth)
{
    tree t;
    bool good = make_tree(a, &t);
    if (depth == INSPECT_AUTO) depth = first_wide_level(a);
    if (good) {
        cli_say("  tree\n");
        walk(&t, depth, widen);
        walk(&t, depth, print_node);
    }
    free_tree(&t);
    return good ? RBL_OK : RBL_ERR_NO_MEMORY;
}

void cli_bones_json(const cli_asset *a)
{
    printf(", \"bones\": [");
    for (size_t b = 0; b < a->bone_count; b++) {
        int32_t geometry = a->bone_geometry[b];
        printf(b ? ",\n  {\"name\": " : "\n  {\"name\": ");
        cli_json_string(stdout, cli_bone_name(a, b));
        printf(", \"parent\": ");
        if (a->parent[b] >= 0)
            cli_json_string(stdout, cli_bone_name(a, (size_t)a->parent[b]));
        else
            printf("null");
        printf(", \"level\": %d, \"triangles\": %d, \"volume\": ", a->level ? a->level[b] : 0,
            geometry >= 0 ? a->geometry_faces[geometry] : 0);
        cli_json_number(geometry >= 0 ? a->volume[geometry] : 0);
        printf("}");
    }
    printf("\n]");
}

/* ---- Contacts, connections, hulls ---- */

typedef struct pairs {
    size_t count, least, most; /* least and most: of one element */
    bool known, has_areas;
    double area;
} pairs;

static rbl_status count_pairs(const cli_asset *a, const char *group, const char *name, size_t elements,
    bool (*counts)(const cli_asset *a, size_t element), pairs *out)
{
    const int32_t(*pair)[2] = cli_attribute(a->collection, group, name, RBL_INT32_2);
    const double *area = cli_attribute(a->collection, group, "area", RBL_DOUBLE);
    *out = (pairs){.known = pair != NULL, .least = SIZE_MAX};
    if (!pair) return RBL_OK;
    size_t *degree = calloc(elements + 1, sizeof *degree);
    if (!degree) return RBL_ERR_NO_MEMORY;
    out->count = rbl_collection_group_size(a->collection, group);
    for (size_t i = 0; i < out->count; i++) {
        for (int k = 0; k < 2; k++)
            if (pair[i][k] >= 0 && (size_t)pair[i][k] < elements) degree[pair[i][k]]++;
        if (!area || area[i] < 0) continue;
        out->has_areas = true;
        out->area += area[i];
    }
    for (size_t e = 0; e < elements; e++) {
        if (!counts(a, e)) continue;
        if (degree[e] < out->least) out->least = degree[e];
        if (degree[e] > out->most) out->most = degree[e];
    }
    if (out->least == SIZE_MAX) out->least = 0;
    free(degree);
    return RBL_OK;
}

static bool is_piece_geometry(const cli_asset *a, size_t geometry)
{
    return cli_is_piece(a, (size_t)a->geometry_bone[geometry]);
}

static bool is_child(const cli_asset *a, size_t bone)
{
    return a->parent[bone] >= 0;
}

static void print_pairs(const char *title, const pairs *p, const char *text)
{
    if (!p->known) return;
    cli_say("  %-10s %zu%s, %zu … %zu %s", title, p->count, p->has_areas ? "" : " (areas not computed)",
        p->least, p->most, text);
    if (p->has_areas) cli_say(", area %.4g", p->area);
    cli_say("\n");
}

typedef struct hull_counts {
    size_t count, least, most, triangles;
} hull_counts;

static hull_counts count_hulls(const cli_asset *a)
{
    rbl_attribute_view points, faces;
    hull_counts h = {.least = SIZE_MAX};
    if (rbl_collection_attribute(a->collection, "convex", "points", &points) != RBL_OK || !points.is_list)
        return (hull_counts){0};
    h.count = points.count;
    for (size_t i = 0; i < h.count; i++) {
        size_t n = (size_t)(points.offsets[i + 1] - points.offsets[i]);
        if (n < h.least) h.least = n;
        if (n > h.most) h.most = n;
    }
    if (rbl_collection_attribute(a->collection, "convex", "faces", &faces) == RBL_OK && faces.is_list)
        h.triangles = (size_t)faces.offsets[faces.count];
    return h;
}

rbl_status cli_print_structure(const cli_asset *a)
{
    pairs contacts, connections;
    hull_counts h = count_hulls(a);
    if (h.count)
        cli_say(
            "  hulls      %zu, %zu … %zu vertices, %zu triangles\n", h.count, h.least, h.most, h.triangles);
    rbl_status status =
        count_pairs(a, "proximity", "geometries", a->geometry_count, is_piece_geometry, &contacts);
    if (status == RBL_OK)
        status = count_pairs(a, "connection", "bones", a->bone_count, is_child, &connections);
    if (status != RBL_OK) return status;
    print_pairs("contacts", &contacts, "a piece");
    print_pairs("connected", &connections, "a bone");
    return RBL_OK;
}

static void pairs_json(const char *name, const pairs *p)
{
    if (!p->known) {
        printf(", \"%s\": null", name);
        return;
    }
    printf(", \"%s\": {\"count\": %zu, \"least\": %zu, \"most\": %zu, \"area\": ", name, p->count, p->least,
        p->most);
    cli_json_number(p->has_areas ? p->area : NAN);
    printf("}");
}

rbl_status cli_structure_json(const cli_asset *a)
{
    pairs contacts, connections;
    hull_counts h = count_hulls(a);
    rbl_status status =
        count_pairs(a, "proximity", "geometries", a->geometry_count, is_piece_geometry, &contacts);
    if (status == RBL_OK)
        status = count_pairs(a, "connection", "bones", a->bone_count, is_child, &connections);
    if (status != RBL_OK) return status;
    printf(
        ", \"hulls\": {\"count\": %zu, \"least_vertices\": %zu, \"most_vertices\": %zu, \"triangles\": %zu}",
        h.count, h.count ? h.least : 0, h.most, h.triangles);
    pairs_json("contacts", &contacts);
    pairs_json("connections", &connections);
    return RBL_OK;
}

/* ---- Cost in an engine ---- */

void cli_print_engine_cost(const cli_engine_cost *c)
{
    char total[32], indices[32], hulls[32], images[32];
    cli_say("  draw calls %zu", c->draw_calls);
    if (c->fewest_draw_calls < c->draw_calls)
        cli_say(" (one a piece and material; %zu with one material)", c->fewest_draw_calls);
    cli_say("\n  memory     %s in an engine: %zu vertices of %zu B, indices %s",
        cli_bytes(c->vertex_total_bytes + c->index_bytes + c->hull_bytes + c->image_bytes, total),
        c->vertices, c->vertex_bytes, cli_bytes(c->index_bytes, indices));
    if (c->hull_bytes) cli_say(", hulls %s", cli_bytes(c->hull_bytes, hulls));
    if (c->image_bytes) cli_say(", image files %s", cli_bytes(c->image_bytes, images));
    cli_say("\n");
}

void cli_engine_cost_json(const cli_engine_cost *c)
{
    printf(", \"engine\": {\"draw_calls\": %zu, \"fewest_draw_calls\": %zu, \"vertices\": %zu, "
           "\"vertex_bytes\": %zu, "
           "\"index_bytes\": %zu, \"hull_bytes\": %zu, \"image_bytes\": %zu}",
        c->draw_calls, c->fewest_draw_calls, c->vertices, c->vertex_total_bytes, c->index_bytes,
        c->hull_bytes, c->image_bytes);
}

/* ---- Attributes ---- */

static size_t attribute_bytes(const rbl_attribute_view *view)
{
    size_t values = view->is_list ? (size_t)view->offsets[view->count] : view->count;
    return values * rbl_type_bytes(view->type) + (view->is_list ? (view->count + 1) * 8 : 0);
}

static void type_text(const rbl_attribute_view *view, char text[40])
{
    if (view->is_list && view->type == RBL_CHAR)
        snprintf(text, 40, "string");
    else
        snprintf(text, 40, "%s%s", view->is_list ? "list of " : "", rbl_type_word(view->type));
}

static void print_group(const rbl_collection *c, const char *group)
{
    size_t bytes = 0, column = 15;
    rbl_attribute_view view;
    for (size_t i = 0; i < rbl_collection_attribute_count(c, group); i++)
        if (rbl_collection_attribute(c, group, rbl_collection_attribute_name(c, group, i), &view) == RBL_OK)
            bytes += attribute_bytes(&view);
    char text[32], type[40], entry[160];
    cli_say(
        "    %-10s %zu, %s\n%15s", group, rbl_collection_group_size(c, group), cli_bytes(bytes, text), "");
    for (size_t i = 0; i < rbl_collection_attribute_count(c, group); i++) {
        const char *name = rbl_collection_attribute_name(c, group, i);
        if (rbl_collection_attribute(c, group, name, &view) != RBL_OK) continue;
        type_text(&view, type);
        size_t length = (size_t)snprintf(entry, sizeof entry, "%s %s", name, type);
        if (i && column + 2 + length > LINE_COLUMNS) {
            cli_say(",\n%15s", "");
            column = 15;
        } else if (i) {
            cli_say(", ");
            column += 2;
        }
        cli_say("%s", entry);
        column += length;
    }
    cli_say("\n");
}

void cli_print_attributes(const rbl_collection *c)
{
    cli_say("  attributes\n");
    for (size_t g = 0; g < rbl_collection_group_count(c); g++)
        print_group(c, rbl_collection_group_name(c, g));
}

void cli_attributes_json(const rbl_collection *c)
{
    printf(", \"groups\": {");
    for (size_t g = 0; g < rbl_collection_group_count(c); g++) {
        const char *group = rbl_collection_group_name(c, g);
        printf("%s\n  \"%s\": {\"count\": %zu, \"attributes\": {", g ? "," : "", group,
            rbl_collection_group_size(c, group));
        for (size_t i = 0; i < rbl_collection_attribute_count(c, group); i++) {
            const char *name = rbl_collection_attribute_name(c, group, i);
            rbl_attribute_view view;
            char type[40];
            if (rbl_collection_attribute(c, group, name, &view) != RBL_OK) continue;
            type_text(&view, type);
            printf("%s\"%s\": {\"type\": \"%s\", \"bytes\": %zu}", i ? ", " : "", name, type,
                attribute_bytes(&view));
        }
        printf("}}");
    }
    printf("\n}");
}

/* ---- Concerns ---- */

void cli_print_audit(const cli_audit *audit)
{
    if (!audit->count) return;
    cli_say("  look at\n");
    for (size_t i = 0; i < audit->count; i++) {
        const cli_concern *c = &audit->concerns[i];
        cli_say("    %s %s", c->warning ? "!" : "·", c->text);
        for (size_t k = 0; k < AUDIT_NAMES && c->names[k]; k++)
            if (!k || strcmp(c->names[k], c->names[k - 1]) != 0)
                cli_say("%s%s", k ? ", " : " (", c->names[k]);
        cli_say("%s\n", !c->names[0] ? "" : c->count > AUDIT_NAMES ? ", …)" : ")");
    }
}

void cli_audit_json(const cli_audit *audit)
{
    printf(", \"concerns\": [");
    for (size_t i = 0; i < audit->count; i++) {
        const cli_concern *c = &audit->concerns[i];
        printf("%s\n  {\"code\": \"%s\", \"severity\": \"%s\", \"count\": %zu, \"text\": ", i ? "," : "",
            c->code, c->warning ? "warning" : "note", c->count);
        cli_json_string(stdout, c->text);
        printf(", \"names\": [");
        for (size_t k = 0; k < AUDIT_NAMES && c->names[k]; k++) {
            printf(k ? ", " : "");
            cli_json_string(stdout, c->names[k]);
        }
        printf("]}");
    }
    printf("]");
}
