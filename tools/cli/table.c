/// rubble table: attributes of a collection as rows and columns.

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/model.h"
#include "tools/cli/summary.h"
#include "tools/cli/table_columns.h"

enum { MOST_CONDITIONS = 16, WIDEST = 48 };

typedef enum comparison { EQUAL, DIFFERENT, AT_MOST, AT_LEAST, BELOW, ABOVE } comparison;

/// `volume<0.1`, `name=wall_*`
typedef struct condition {
    table_column column;
    comparison comparison;
    const char *text;
    double number;
} condition;

typedef struct table {
    const rbl_collection *collection;
    const char *group;
    table_column columns[TABLE_MOST_COLUMNS];
    size_t column_count, row_count;
    condition conditions[MOST_CONDITIONS];
    size_t condition_count;
    size_t *rows;
} table;

typedef struct settings {
    const char *file, *node, *group, *columns, *sort;
    cli_list pairs, where;
    long limit;
    bool csv, json;
} settings;

/* ---- What is asked for ---- */

typedef struct column_list {
    const rbl_collection *collection;
    table *table;
    int code;
} column_list;

static void read_column(void *user, const char *word, size_t length)
{
    column_list *l = user;
    table *t = l->table;
    char name[TABLE_NAME];
    if (l->code != EXIT_DONE) return;
    if (t->column_count == TABLE_MOST_COLUMNS || length >= sizeof name) {
        cli_error("--columns: more than %d, or a name that is too long", TABLE_MOST_COLUMNS);
        l->code = EXIT_USAGE;
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    if (strcmp(name, "all") == 0) {
        t->column_count = table_all_columns(t->collection, t->group, t->columns);
        return;
    }
    l->code = table_find_column(t->collection, t->group, name, "columns", &t->columns[t->column_count]);
    t->column_count += l->code == EXIT_DONE;
}

static int read_columns(table *t, const char *names)
{
    column_list list = {t->collection, t, EXIT_DONE};
    if (names)
        cli_each_word(names, ',', read_column, &list);
    else
        t->column_count = table_default_columns(t->collection, t->group, t->columns);
    if (list.code == EXIT_DONE && !t->column_count) {
        cli_error("--columns: no attribute of %s can be shown", t->group);
        list.code = EXIT_USAGE;
    }
    return list.code;
}

static int read_condition(table *t, const char *text)
{
    static const char *const signs[] = {"=", "!=", "<=", ">=", "<", ">"};
    static const comparison order[] = {
        DIFFERENT, AT_MOST, AT_LEAST, EQUAL, BELOW, ABOVE}; /* longer signs first */
    size_t length = strcspn(text, "=!<>");
    for (size_t i = 0; i < sizeof order / sizeof *order && text[length]; i++) {
        const char *sign = signs[order[i]];
        if (strncmp(text + length, sign, strlen(sign)) != 0) continue;
        if (t->condition_count == MOST_CONDITIONS || length == 0 || length >= TABLE_NAME) break;
        condition *c = &t->conditions[t->condition_count];
        char name[TABLE_NAME], *end;
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        int code = table_find_column(t->collection, t->group, name, "where", &c->column);
        if (code != EXIT_DONE) return code;
        c->comparison = order[i];
        c->text = text + length + strlen(sign);
        c->number = strcmp(c->text, "true") == 0    ? 1
                    : strcmp(c->text, "false") == 0 ? 0
                                                    : strtod(c->text, &end);
        bool is_number =
            strcmp(c->text, "true") == 0 || strcmp(c->text, "false") == 0 || (end != c->text && !*end);
        bool is_text = table_is_text(&c->column);
        if (table_component_count(&c->column) != 1 || (!is_text && !is_number) ||
            (is_text && order[i] > DIFFERENT)) {
            cli_error(is_text ? "--where: texts are compared by = or != alone: \"%s\""
                              : "--where: \"%s\" needs an attribute that is one number, and a number",
                text);
            return EXIT_USAGE;
        }
        t->condition_count++;
        return EXIT_DONE;
    }
    cli_error("--where needs ATTRIBUTE=VALUE, or !=, <, <=, > or >=, not \"%s\"", text);
    return EXIT_USAGE;
}

static bool holds(const table *t, const condition *c, size_t row)
{
    if (table_is_text(&c->column)) {
        bool same = fnmatch(c->text, table_text(t->collection, &c->column, row), 0) == 0;
        return same == (c->comparison == EQUAL);
    }
    if (!table_has(&c->column, row)) return c->comparison == DIFFERENT;
    double x = table_number(&c->column, row, 0);
    switch (c->comparison) {
    case EQUAL:
        return x == c->number;
    case DIFFERENT:
        return x != c->number;
    case AT_MOST:
        return x <= c->number;
    case AT_LEAST:
        return x >= c->number;
    case BELOW:
        return x < c->number;
    case ABOVE:
        return x > c->number;
    }
    return false;
}

/* ---- Rows ---- */

typedef struct sort_key {
    const table *table;
    const table_column *column;
    size_t row;
    bool descending;
} sort_key;

/// What is missing comes last; equal ones stay in their order.
static int compare_keys(const void *a, const void *b)
{
    const sort_key *x = a, *y = b;
    bool has_x = table_has(x->column, x->row), has_y = table_has(y->column, y->row);
    int order = 0;
    if (has_x != has_y) return has_x ? -1 : 1;
    if (has_x && table_is_text(x->column)) {
        order = strcmp(table_text(x->table->collection, x->column, x->row),
            table_text(y->table->collection, y->column, y->row));
    } else if (has_x) {
        double p = table_number(x->column, x->row, 0), q = table_number(y->column, y->row, 0);
        order = (p > q) - (p < q);
    }
    if (x->descending) order = -order;
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static int sort_rows(table *t, const char *sort)
{
    table_column column;
    bool descending = *sort == '-';
    int code = table_find_column(t->collection, t->group, sort + descending, "sort", &column);
    if (code != EXIT_DONE) return code;
    if (table_component_count(&column) != 1) {
        cli_error("--sort: \"%s\" is no single number or text", sort + descending);
        return EXIT_USAGE;
    }
    sort_key *keys = malloc((t->row_count + 1) * sizeof *keys);
    if (!keys) {
        cli_error("%s", rbl_status_text(RBL_ERR_NO_MEMORY));
        return EXIT_EVALUATION;
    }
    for (size_t i = 0; i < t->row_count; i++)
        keys[i] = (sort_key){t, &column, t->rows[i], descending};
    qsort(keys, t->row_count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < t->row_count; i++)
        t->rows[i] = keys[i].row;
    free(keys);
    return EXIT_DONE;
}

static int choose_rows(table *t, const settings *s)
{
    size_t all = rbl_collection_group_size(t->collection, t->group);
    t->rows = malloc((all + 1) * sizeof *t->rows);
    if (!t->rows) {
        cli_error("%s", rbl_status_text(RBL_ERR_NO_MEMORY));
        return EXIT_EVALUATION;
    }
    for (size_t row = 0; row < all; row++) {
        bool good = true;
        for (size_t i = 0; i < t->condition_count && good; i++)
            good = holds(t, &t->conditions[i], row);
        if (good) t->rows[t->row_count++] = row;
    }
    int code = s->sort ? sort_rows(t, s->sort) : EXIT_DONE;
    if (s->limit && t->row_count > (size_t)s->limit) t->row_count = (size_t)s->limit;
    return code;
}

/* ---- Writing ---- */

static const char *const axes[] = {"_x", "_y", "_z", "_w"};

/// A field of RFC 4180: in quotes where it has to be.
static void print_csv_field(const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++)
        printf(*text == '"' ? "\"\"" : "%c", *text);
    putchar('"');
}

static void print_csv(const table *t)
{
    char text[64];
    for (size_t c = 0; c < t->column_count; c++)
        for (size_t k = 0; k < table_component_count(&t->columns[c]); k++) {
            printf("%s", c || k ? "," : "");
            printf("%s%s", t->columns[c].name, table_component_count(&t->columns[c]) > 1 ? axes[k] : "");
        }
    printf("\n");
    for (size_t r = 0; r < t->row_count; r++) {
        for (size_t c = 0; c < t->column_count; c++) {
            const table_column *column = &t->columns[c];
            for (size_t k = 0; k < table_component_count(column); k++) {
                printf("%s", c || k ? "," : "");
                table_format(column, t->rows[r], k, true, text);
                print_csv_field(table_is_text(column) ? table_text(t->collection, column, t->rows[r]) : text);
            }
        }
        printf("\n");
    }
}

static void print_json_value(const table *t, const table_column *column, size_t row)
{
    char text[64];
    size_t parts = table_component_count(column);
    if (!table_has(column, row)) {
        printf("null");
    } else if (table_is_text(column)) {
        cli_json_string(stdout, table_text(t->collection, column, row));
    } else {
        for (size_t k = 0; k < parts; k++) {
            table_format(column, row, k, true, text);
            printf("%s%s", parts > 1 ? (k ? ", " : "[") : "",
                isfinite(table_number(column, row, k)) ? text : "null");
        }
        if (parts > 1) printf("]");
    }
}

static void print_json(const table *t)
{
    printf("[");
    for (size_t r = 0; r < t->row_count; r++) {
        printf(r ? ",\n  {" : "\n  {");
        for (size_t c = 0; c < t->column_count; c++) {
            printf("%s", c ? ", " : "");
            cli_json_string(stdout, t->columns[c].name);
            printf(": ");
            print_json_value(t, &t->columns[c], t->rows[r]);
        }
        printf("}");
    }
    printf("\n]\n");
}

/// A cell as text: components with spaces between them.
static void format_cell(const table *t, const table_column *column, size_t row, char *out, size_t room)
{
    size_t used = 0;
    *out = '\0';
    if (!table_has(column, row)) {
        snprintf(out, room, "-");
    } else if (table_is_text(column)) {
        snprintf(out, room, "%s", table_text(t->collection, column, row));
    } else {
        for (size_t k = 0; k < table_component_count(column) && used < room; k++) {
            char part[64];
            table_format(column, row, k, false, part);
            used += (size_t)snprintf(out + used, room - used, "%s%s", k ? " " : "", part);
        }
    }
}

static size_t width_of(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

static void print_cell(const char *text, size_t width, bool left, bool last)
{
    size_t used = width_of(text);
    int pad = used < width ? (int)(width - used) : 0;
    if (left)
        printf("%s%*s", text, last ? 0 : pad, "");
    else
        printf("%*s%s", pad, "", text);
    printf("%s", last ? "\n" : "  ");
}

static void print_text(const table *t)
{
    size_t widths[TABLE_MOST_COLUMNS];
    char cell[512];
    for (size_t c = 0; c < t->column_count; c++) {
        widths[c] = width_of(t->columns[c].name);
        for (size_t r = 0; r < t->row_count; r++) {
            format_cell(t, &t->columns[c], t->rows[r], cell, sizeof cell);
            size_t width = width_of(cell);
            if (width > widths[c]) widths[c] = width < WIDEST ? width : WIDEST;
        }
    }
    for (size_t r = 0; r <= t->row_count; r++)
        for (size_t c = 0; c < t->column_count; c++) {
            const table_column *column = &t->columns[c];
            if (r) format_cell(t, column, t->rows[r - 1], cell, sizeof cell);
            print_cell(r ? cell : column->name, widths[c], table_is_text(column), c + 1 == t->column_count);
        }
}

/* ---- The command ---- */

static int find_group(table *t)
{
    const char *names[256];
    size_t count = 0;
    for (size_t i = 0; i < rbl_collection_group_count(t->collection) && count < 256; i++) {
        names[count++] = rbl_collection_group_name(t->collection, i);
        if (strcmp(names[i], t->group) == 0) return EXIT_DONE;
    }
    const char *nearest = rbl_nearest_name(t->group, names, count);
    cli_error("--group: there is no group \"%s\"", t->group);
    if (nearest) fprintf(stderr, "  did you mean \"%s\"?\n", nearest);
    fprintf(stderr, "  groups:");
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", names[i]);
    fprintf(stderr, "\n");
    return EXIT_USAGE;
}

static int show(const rbl_collection *collection, const settings *s)
{
    table t = {.collection = collection, .group = s->group};
    int code = find_group(&t);
    if (code == EXIT_DONE) code = read_columns(&t, s->columns);
    for (size_t i = 0; i < s->where.count && code == EXIT_DONE; i++)
        code = read_condition(&t, s->where.items[i]);
    if (code == EXIT_DONE) code = choose_rows(&t, s);
    if (code == EXIT_DONE) {
        (s->csv ? print_csv : s->json ? print_json : print_text)(&t);
        code = cli_print("");
    }
    free(t.rows);
    return code;
}

static int load_and_show(const settings *s)
{
    cli_model model;
    cli_model_request request = {.file = s->file, .node = s->node, .pairs = &s->pairs, .least = RBL_WARNING};
    rbl_engine *engine = cli_engine(0, NULL);
    if (!engine) return EXIT_EVALUATION;
    int code = cli_load_model(engine, &request, &model);
    if (code == EXIT_DONE) code = show(model.collection, s);
    cli_free_model(&model);
    rbl_engine_destroy(engine);
    return code;
}

int cli_table(int argc, char **argv)
{
    settings s = {.group = "bone"};
    const cli_option options[] = {{"columns", CLI_TEXT, &s.columns, "A,B,…",
                                      "attributes, in this order; parent.name and geometry.volume follow an "
                                      "index to what it points to; index is "
                                      "the number of the row; all: every attribute of the group (default: "
                                      "what matters of bones, else all)"},
        {"group", CLI_TEXT, &s.group, "GROUP",
            "whose elements are the rows (default bone): geometry, face, vertex, corner, material, convex, "
            "proximity, "
            "connection …; `rubble inspect --attributes` lists them"},
        {"sort", CLI_TEXT, &s.sort, "[-]ATTRIBUTE",
            "sort by a number or text, with - before it from the largest down"},
        {"where", CLI_LIST, &s.where, "CONDITION",
            "only rows with ATTRIBUTE=VALUE, or !=, <, <=, >, >=; texts may be patterns (name=wall_*); "
            "several: all hold"},
        {"limit", CLI_NUMBER, &s.limit, "N", "at most N rows (default 0: all)"},
        {"csv", CLI_FLAG, &s.csv, NULL, "print as CSV (RFC 4180): vectors as columns _x, _y, …; all digits"},
        {"json", CLI_FLAG, &s.json, NULL, "print as a JSON list of objects, all digits"},
        {"node", CLI_TEXT, &s.node, "NODE",
            "of a graph: the node to show (default: the last one that gives a collection)"},
        CLI_OPTION_SET(&s.pairs), {0}};
    const cli_command command = {.name = "table",
        .usage = "FILE [options]",
        .text = "Prints attributes of a mesh, a collection (.rbl) or the result of a graph as a table.",
        .examples =
            "rubble table out/wall.rbl --sort -geometry.volume --limit 10\n"
            "rubble table out/wall.rbl --columns name,geometry.volume --where 'geometry.volume<0.001'\n"
            "rubble table out/wall.rbl --group proximity --csv > contacts.csv",
        .takes = "MODEL",
        .options = options,
        .arguments = &s.file,
        .least_arguments = 1,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    if (code < 0 && s.csv && s.json) {
        cli_error("--csv or --json, not both");
        code = EXIT_USAGE;
    }
    if (code < 0) code = load_and_show(&s);
    free(s.pairs.items);
    free(s.where.items);
    return code;
}
