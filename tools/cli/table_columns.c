/// Columns of `rubble table`.

#include "tools/cli/table_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Attributes that are indices into another group.
static const struct {
    const char *group, *attribute, *target;
} links[] = {
    {"bone", "parent", "bone"},
    {"bone", "geometry", "geometry"},
    {"geometry", "bone", "bone"},
    {"vertex", "bone", "bone"},
    {"face", "material", "material"},
    {"convex", "bone", "bone"},
    {"texture", "image", "image"},
};

static const char *link_target(const char *group, const char *attribute)
{
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (strcmp(links[i].group, group) == 0 && strcmp(links[i].attribute, attribute) == 0)
            return links[i].target;
    return NULL;
}

static bool is_index(const table_column *c)
{
    return !c->attribute;
}

bool table_is_text(const table_column *c)
{
    return !is_index(c) && c->view.is_list && c->view.type == RBL_CHAR;
}

size_t table_component_count(const table_column *c)
{
    if (is_index(c) || table_is_text(c)) return 1;
    if (c->view.is_list) return 0;
    switch (c->view.type) {
    case RBL_BOOL:
    case RBL_INT32:
    case RBL_INT64:
    case RBL_FLOAT:
    case RBL_DOUBLE:
        return 1;
    case RBL_INT32_2:
    case RBL_INT32_3:
    case RBL_FLOAT_2:
    case RBL_FLOAT_3:
    case RBL_FLOAT_4:
        return rbl_type_bytes(c->view.type) / 4;
    case RBL_VEC2:
    case RBL_VEC3:
    case RBL_VEC4:
        return rbl_type_bytes(c->view.type) / 8;
    default:
        return 0;
    }
}

/* ---- Finding ---- */

static bool find_attribute(
    const rbl_collection *collection, const char *group, const char *name, table_column *out)
{
    out->group = group;
    out->attribute = NULL;
    if (strcmp(name, "index") == 0) return true;
    for (size_t i = 0; i < rbl_collection_attribute_count(collection, group); i++) {
        const char *attribute = rbl_collection_attribute_name(collection, group, i);
        if (strcmp(attribute, name) != 0) continue;
        out->attribute = attribute;
        return rbl_collection_attribute(collection, group, attribute, &out->view) == RBL_OK;
    }
    return false;
}

static int tell_unknown(const rbl_collection *collection, const char *group, const char *name,
    const char *option, const char *before)
{
    const char *names[512];
    size_t count = 0;
    for (size_t i = 0; i < rbl_collection_attribute_count(collection, group) && count < 511; i++)
        names[count++] = rbl_collection_attribute_name(collection, group, i);
    names[count++] = "index";
    const char *nearest = rbl_nearest_name(name, names, count);
    cli_error("--%s: there is no attribute \"%s\" in %s", option, name, group);
    if (nearest) fprintf(stderr, "  did you mean \"%s%s\"?\n", before, nearest);
    fprintf(stderr, "  attributes:");
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", names[i]);
    fprintf(stderr, "\n");
    return EXIT_USAGE;
}

static bool add_column(
    const rbl_collection *collection, const char *group, const char *name, table_column *out)
{
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", name);
    const char *dot = strchr(name, '.');
    if (dot) {
        table_column index = {0};
        char link[TABLE_NAME];
        snprintf(link, sizeof link, "%.*s", (int)(dot - name), name);
        if (!find_attribute(collection, group, link, &index) || !index.attribute ||
            index.view.type != RBL_INT32 || index.view.is_list)
            return false;
        out->through = index.view.data;
        group = link_target(group, link);
        name = dot + 1;
    }
    return group && find_attribute(collection, group, name, out) && table_component_count(out) > 0;
}

int table_find_column(const rbl_collection *collection, const char *group, const char *name,
    const char *option, table_column *out)
{
    if (add_column(collection, group, name, out)) return EXIT_DONE;
    const char *dot = strchr(name, '.');
    char link[TABLE_NAME] = "", before[TABLE_NAME + 1] = "";
    if (dot) {
        table_column index = {0};
        snprintf(link, sizeof link, "%.*s", (int)(dot - name), name);
        snprintf(before, sizeof before, "%s.", link);
        if (!find_attribute(collection, group, link, &index))
            return tell_unknown(collection, group, link, option, "");
        if (!link_target(group, link)) {
            cli_error("--%s: \"%s\" of %s points to no other group", option, link, group);
            return EXIT_USAGE;
        }
        group = link_target(group, link);
        name = dot + 1;
    }
    if (!find_attribute(collection, group, name, out))
        return tell_unknown(collection, group, name, option, before);
    cli_error("--%s: \"%s\" is a list or a matrix, which no column can show", option, name);
    return EXIT_USAGE;
}

size_t table_all_columns(
    const rbl_collection *collection, const char *group, table_column out[TABLE_MOST_COLUMNS])
{
    size_t count = 0;
    for (size_t i = 0; i < rbl_collection_attribute_count(collection, group) && count < TABLE_MOST_COLUMNS;
         i++)
        count +=
            add_column(collection, group, rbl_collection_attribute_name(collection, group, i), &out[count]);
    return count;
}

static bool is_true_somewhere(const table_column *c)
{
    for (size_t i = 0; i < c->view.count; i++)
        if (c->view.type != RBL_BOOL || table_number(c, i, 0) != 0) return true;
    return false;
}

size_t table_default_columns(
    const rbl_collection *collection, const char *group, table_column out[TABLE_MOST_COLUMNS])
{
    static const char *const of_bones[] = {"name", "parent.name", "level", "volume", "geometry.volume",
        "geometry.face_count", "mass", "anchored", "damage_threshold", "collider"};
    size_t count = 0;
    bool has_volume = false;
    if (strcmp(group, "bone") != 0) return table_all_columns(collection, group, out);
    for (size_t i = 0; i < sizeof of_bones / sizeof *of_bones; i++) {
        bool is_volume = strstr(of_bones[i], "volume") != NULL;
        if ((is_volume && has_volume) || !add_column(collection, group, of_bones[i], &out[count])) continue;
        has_volume = has_volume || is_volume;
        count += is_true_somewhere(&out[count]);
    }
    return count;
}

/* ---- Values ---- */

static size_t element_of(const table_column *c, size_t row)
{
    return c->through ? (c->through[row] < 0 ? SIZE_MAX : (size_t)c->through[row]) : row;
}

bool table_has(const table_column *c, size_t row)
{
    size_t element = element_of(c, row);
    return is_index(c) ? element != SIZE_MAX : element < c->view.count;
}

double table_number(const table_column *c, size_t row, size_t component)
{
    size_t element = element_of(c, row);
    if (!table_has(c, row) || table_is_text(c)) return NAN;
    if (is_index(c)) return (double)element;
    const char *data = (const char *)c->view.data + element * c->view.stride;
    switch (c->view.type) {
    case RBL_BOOL:
        return *(const uint8_t *)data != 0;
    case RBL_INT64:
        return (double)*(const int64_t *)data;
    case RBL_INT32:
    case RBL_INT32_2:
    case RBL_INT32_3:
        return ((const int32_t *)data)[component];
    case RBL_FLOAT:
    case RBL_FLOAT_2:
    case RBL_FLOAT_3:
    case RBL_FLOAT_4:
        return ((const float *)data)[component];
    default:
        return ((const double *)data)[component];
    }
}

const char *table_text(const rbl_collection *collection, const table_column *c, size_t row)
{
    if (!table_has(c, row)) return "";
    return rbl_collection_string(collection, c->group, c->attribute, element_of(c, row));
}

/// As few digits as give the same number again are enough.
static bool reads_back(const char *text, double number, bool is_float)
{
    return is_float ? strtof(text, NULL) == (float)number : strtod(text, NULL) == number;
}

void table_format(const table_column *c, size_t row, size_t component, bool exact, char out[64])
{
    *out = '\0';
    if (!table_has(c, row) || table_is_text(c)) return;
    double number = table_number(c, row, component);
    bool is_float = !is_index(c) && (c->view.type == RBL_FLOAT || c->view.type == RBL_FLOAT_2 ||
                                        c->view.type == RBL_FLOAT_3 || c->view.type == RBL_FLOAT_4);
    if (!is_index(c) && c->view.type == RBL_BOOL) {
        snprintf(out, 64, "%s", number != 0 ? "true" : "false");
    } else if (!is_index(c) && c->view.type == RBL_INT64) {
        const char *data = (const char *)c->view.data + element_of(c, row) * c->view.stride;
        snprintf(out, 64, "%" PRId64, *(const int64_t *)data);
    } else {
        int digits = exact && !is_float ? 15 : 6, most = is_float ? 9 : 17;
        do
            snprintf(out, 64, "%.*g", digits, number);
        while (exact && digits++ < most && !reads_back(out, number, is_float));
    }
}
