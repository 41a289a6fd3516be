/// Findings of `rubble inspect`.

#include "tools/cli/findings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/cli/summary.h"
#include "tools/cli/wrap.h"

enum { SHELLS_SHOWN = 20, HOLES_SHOWN = 6, MOST_SETTINGS = 8 };

/// The groups that MeshToCollection writes with "details".
typedef struct findings {
    const rbl_collection *collection;
    size_t shells, holes;
    const int32_t *triangles, *crossings, *open_holes, *filled_holes;
    const double *volume;
    const double (*low)[3], (*high)[3], (*crossing_place)[3];
    const unsigned char *overlaps;
    const int32_t *shell, *edges;
    const double *length;
    const double (*center)[3];
    const unsigned char *filled;
    double diagonal; /* of all shells */
} findings;

/// A parameter of MeshToCollection, and what it would do.
typedef struct setting {
    const char *text;
    char effect[160];
} setting;

static double diagonal_of(const findings *f)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
    for (size_t s = 0; s < f->shells; s++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], f->low[s][k]);
            high[k] = fmax(high[k], f->high[s][k]);
        }
    for (int k = 0; k < 3 && f->shells; k++)
        sum += (high[k] - low[k]) * (high[k] - low[k]);
    return sqrt(sum);
}

static bool get_findings(const rbl_collection *c, findings *f)
{
    *f = (findings){.collection = c,
        .shells = rbl_collection_group_size(c, "shell"),
        .holes = rbl_collection_group_size(c, "hole"),
        .triangles = cli_attribute(c, "shell", "triangles", RBL_INT32),
        .crossings = cli_attribute(c, "shell", "crossings", RBL_INT32),
        .open_holes = cli_attribute(c, "shell", "open_holes", RBL_INT32),
        .filled_holes = cli_attribute(c, "shell", "filled_holes", RBL_INT32),
        .volume = cli_attribute(c, "shell", "volume", RBL_DOUBLE),
        .low = cli_attribute(c, "shell", "bounds_min", RBL_VEC3),
        .high = cli_attribute(c, "shell", "bounds_max", RBL_VEC3),
        .crossing_place = cli_attribute(c, "shell", "crossing_place", RBL_VEC3),
        .overlaps = cli_attribute(c, "shell", "overlaps", RBL_BOOL),
        .shell = cli_attribute(c, "hole", "shell", RBL_INT32),
        .edges = cli_attribute(c, "hole", "edges", RBL_INT32),
        .length = cli_attribute(c, "hole", "length", RBL_DOUBLE),
        .center = cli_attribute(c, "hole", "center", RBL_VEC3),
        .filled = cli_attribute(c, "hole", "filled", RBL_BOOL)};
    if (f->holes && !(f->shell && f->edges && f->length && f->center && f->filled)) return false;
    if (!(f->triangles && f->crossings && f->open_holes && f->filled_holes && f->volume && f->low &&
            f->high && f->crossing_place && f->overlaps))
        return false;
    f->diagonal = diagonal_of(f);
    return true;
}

static const char *text_of(const findings *f, const char *name, size_t shell)
{
    return rbl_collection_string(f->collection, "shell", name, shell);
}

static bool is_sheet(const findings *f, size_t s)
{
    return strcmp(text_of(f, "kind", s), "sheet") == 0;
}

static bool is_clean(const findings *f, size_t s)
{
    return !f->crossings[s] && !f->open_holes[s] && !f->filled_holes[s] && !f->overlaps[s] &&
           *text_of(f, "why", s) == 0;
}

/* ---- settings ---- */

/// Thickness of sheets: a hundredth of the diagonal, with one digit.
static double suggested_thickness(const findings *f)
{
    double wanted = 0.01 * f->diagonal, unit = wanted > 0 ? pow(10, floor(log10(wanted))) : 1;
    return wanted > 0 ? floor(wanted / unit + 0.5) * unit : 0;
}

static size_t count_nodes(const findings *f)
{
    size_t count = 0;
    for (size_t s = 0; s < f->shells; s++) {
        size_t other = 0;
        while (other < s && strcmp(text_of(f, "node", other), text_of(f, "node", s)) != 0)
            other++;
        count += other == s;
    }
    return count;
}

/// @return how many there are in `out`
static size_t list_settings(const findings *f, setting out[MOST_SETTINGS])
{
    size_t filled = 0, open = 0, refused = 0, sheets = 0, overlapping = 0, count = 0;
    size_t nodes = f->shells <= 4096 ? count_nodes(f) : 2;
    for (size_t h = 0; h < f->holes; h++)
        filled += f->filled[h] != 0;
    for (size_t s = 0; s < f->shells; s++) {
        const char *why = text_of(f, "why", s);
        sheets += is_sheet(f, s);
        overlapping += f->overlaps[s] != 0;
        open += strstr(why, "not planar") || strstr(why, "it is open");
        refused += strstr(why, "most of it") || strstr(why, "cross itself");
    }
    if (filled) {
        out[count].text = "\"fill\": \"none\"";
        snprintf(out[count++].effect, sizeof out->effect, "leaves the %zu filled hole%s open: %s become%s",
            filled, cli_plural(filled), filled == 1 ? "its shell" : "their shells",
            filled == 1 ? "s a sheet" : " sheets");
    }
    if (open) {
        out[count].text = "\"fill\": \"auto\"";
        snprintf(
            out[count++].effect, sizeof out->effect, "may close %zu open shell%s", open, cli_plural(open));
    }
    if (refused) {
        out[count].text = "\"fill\": \"all\"";
        snprintf(out[count++].effect, sizeof out->effect,
            "closes %zu shell%s all the same, with much that is new", refused, cli_plural(refused));
    }
    if (sheets) {
        bool all = sheets == f->shells;
        out[count].text = "\"sheets\": \"thicken\"";
        snprintf(out[count++].effect, sizeof out->effect,
            "with \"thickness\": %.3g, say, makes %s of %zu sheet%s", suggested_thickness(f),
            sheets == 1 ? "a solid" : "solids", sheets, cli_plural(sheets));
        out[count].text = all ? "\"sheets\": \"separate\"" : "\"sheets\": \"drop\"";
        snprintf(out[count++].effect, sizeof out->effect, "%s",
            all ? "takes sheets as bones of their own, open as they are"
                : "leaves sheets out; \"separate\" makes them bones of their own");
    }
    if (overlapping) {
        out[count].text = "\"join\": \"none\"";
        snprintf(out[count++].effect, sizeof out->effect,
            "keeps the %zu overlapping shell%s apart: what they share counts twice", overlapping,
            cli_plural(overlapping));
    }
    if (nodes > 1 && f->shells > sheets + 1) {
        out[count].text = "\"join\": \"scene\"";
        snprintf(out[count++].effect, sizeof out->effect, "makes one solid of what meets across nodes, too");
    }
    return count;
}

/* ---- text ---- */

/// A place; what is next to nothing beside the whole is 0.
static void print_place(const findings *f, const double p[3])
{
    for (int k = 0; k < 3; k++)
        cli_say(k ? " %.4g" : "%.4g", fabs(p[k]) > 1e-6 * f->diagonal ? p[k] : 0);
}

static void print_holes(const findings *f, size_t s)
{
    size_t shown = 0, more = 0;
    double longest = 0;
    for (size_t h = 0; h < f->holes; h++) {
        if (f->shell[h] < 0 || (size_t)f->shell[h] != s) continue;
        if (shown == HOLES_SHOWN) {
            more++;
            longest = fmax(longest, f->length[h]);
            continue;
        }
        shown++;
        cli_say("      hole at ");
        print_place(f, f->center[h]);
        cli_say(": %d edges, length %.4g, %s\n", f->edges[h], f->length[h], f->filled[h] ? "filled" : "open");
    }
    if (more) cli_say("      … %zu more hole%s, length up to %.4g\n", more, cli_plural(more), longest);
}

static void print_shell(const findings *f, size_t s)
{
    const char *why = text_of(f, "why", s);
    cli_say("    shell %zu of \"%s\" (", s, text_of(f, "node", s));
    print_place(f, f->low[s]);
    cli_say(" … ");
    print_place(f, f->high[s]);
    cli_say(
        "): %s, %d triangle%s", text_of(f, "kind", s), f->triangles[s], cli_plural((size_t)f->triangles[s]));
    if (f->volume[s] != 0) cli_say(", volume %.4g", f->volume[s]);
    if (f->overlaps[s]) cli_say("; overlaps another");
    if (f->crossings[s]) {
        cli_say(
            "; crosses itself %d time%s, first near ", f->crossings[s], cli_plural((size_t)f->crossings[s]));
        print_place(f, f->crossing_place[s]);
    }
    cli_say("%s%s\n", *why ? "; " : "", why);
    print_holes(f, s);
}

static void print_settings(const findings *f)
{
    setting settings[MOST_SETTINGS];
    size_t count = list_settings(f, settings);
    bool crosses = false;
    for (size_t s = 0; s < f->shells; s++)
        crosses = crosses || f->crossings[s];
    if (count || crosses) cli_say("  what would change that\n");
    for (size_t i = 0; i < count; i++)
        cli_say("    %-22s %s\n", settings[i].text, settings[i].effect);
    if (crosses)
        cli_say("    crossings              no setting: mend them in the modelling program, or let pieces "
                "there overlap a little\n");
}

static void print_totals(const findings *f)
{
    size_t edges = 0, filled = 0, crossings = 0, overlapping = 0;
    for (size_t h = 0; h < f->holes; h++) {
        edges += f->edges[h] > 0 ? (size_t)f->edges[h] : 0;
        filled += f->filled[h] != 0;
    }
    for (size_t s = 0; s < f->shells; s++) {
        crossings += f->crossings[s] > 0 ? (size_t)f->crossings[s] : 0;
        overlapping += f->overlaps[s] != 0;
    }
    cli_say("  as found   %zu shell%s, %zu hole%s", f->shells, cli_plural(f->shells), f->holes,
        cli_plural(f->holes));
    if (f->holes) cli_say(" of %zu open edges, %zu filled", edges, filled);
    if (crossings) cli_say(", %zu crossing%s", crossings, cli_plural(crossings));
    if (overlapping) cli_say(", %zu overlap%s", overlapping, overlapping == 1 ? "s" : "");
}

void cli_print_findings(const rbl_collection *collection)
{
    findings f;
    size_t told = 0, clean = 0;
    if (!get_findings(collection, &f)) return;
    for (size_t s = 0; s < f.shells; s++)
        clean += is_clean(&f, s);
    if (clean == f.shells) return;
    print_totals(&f);
    if (clean)
        cli_say("; %zu of the shells %s closed and clear of others, and not listed", clean,
            clean == 1 ? "is" : "are");
    cli_say("\n");
    for (size_t s = 0; s < f.shells; s++) {
        if (is_clean(&f, s)) continue;
        if (told++ < SHELLS_SHOWN) print_shell(&f, s);
    }
    if (told > SHELLS_SHOWN)
        cli_say("    … %zu more shell%s\n", told - SHELLS_SHOWN, cli_plural(told - SHELLS_SHOWN));
    print_settings(&f);
}

/* ---- JSON ---- */

static void json_vector(const char *name, const double v[3])
{
    printf(", \"%s\": [", name);
    for (int k = 0; k < 3; k++) {
        printf(k ? ", " : "");
        cli_json_number(v[k]);
    }
    printf("]");
}

static void json_shell(const findings *f, size_t s)
{
    static const char *const texts[] = {"node", "kind", "why"};
    for (size_t i = 0; i < 3; i++) {
        printf("\"%s\": ", texts[i]);
        cli_json_string(stdout, text_of(f, texts[i], s));
        printf(", ");
    }
    printf("\"triangles\": %d, \"filled_holes\": %d, \"open_holes\": %d, \"crossings\": %d, "
           "\"overlaps\": %s, \"volume\": ",
        f->triangles[s], f->filled_holes[s], f->open_holes[s], f->crossings[s],
        f->overlaps[s] ? "true" : "false");
    cli_json_number(f->volume[s]);
    json_vector("bounds_min", f->low[s]);
    json_vector("bounds_max", f->high[s]);
    if (f->crossings[s]) json_vector("crossing_place", f->crossing_place[s]);
}

void cli_findings_json(const rbl_collection *collection)
{
    findings f;
    setting settings[MOST_SETTINGS];
    if (!get_findings(collection, &f)) return;
    printf(", \"shells\": [");
    for (size_t s = 0; s < f.shells; s++) {
        printf(s ? ",\n  {" : "\n  {");
        json_shell(&f, s);
        printf("}");
    }
    printf("\n], \"holes\": [");
    for (size_t h = 0; h < f.holes; h++) {
        printf(h ? ",\n  {" : "\n  {");
        printf("\"shell\": %d, \"edges\": %d, \"filled\": %s, \"length\": ", f.shell[h], f.edges[h],
            f.filled[h] ? "true" : "false");
        cli_json_number(f.length[h]);
        json_vector("center", f.center[h]);
        printf("}");
    }
    printf("\n], \"settings\": [");
    size_t count = list_settings(&f, settings);
    for (size_t i = 0; i < count; i++) {
        printf(i ? ",\n  {\"set\": " : "\n  {\"set\": ");
        cli_json_string(stdout, settings[i].text);
        printf(", \"effect\": ");
        cli_json_string(stdout, settings[i].effect);
        printf("}");
    }
    printf("\n]");
}
