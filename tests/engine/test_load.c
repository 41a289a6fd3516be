#include "tests/engine/test_nodes.h"

#include <dirent.h>

/// Every graph in tests/cases/graphs with what NAME.expect says of it, a message a line:
/// `line:column severity fragment | fragment …`; each fragment is in the text or the hint of a message at
/// that place; one that begins with "/" is its pointer, "node=…" its node. No other error or warning may
/// come.

enum { MOST_LINES = 200 };

typedef struct expectation {
    size_t line, column;
    char severity[16];
    char *fragments;
} expectation;

static const char *folder(void)
{
    static char path[1024];
    const char *source = getenv("RUBBLE_SOURCE");
    snprintf(path, sizeof path, "%s/tests/cases/graphs", source ? source : ".");
    return path;
}

static size_t read_expectations(
    rbl_context *ctx, const char *path, char **text, expectation lines[MOST_LINES])
{
    uint8_t *bytes = NULL;
    size_t byte_count, count = 0;
    assert_ok(ctx, rbli_file_read(ctx, path, 0, &bytes, &byte_count));
    *text = (char *)bytes;
    for (char *line = *text; *line;) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        int used = 0;
        expectation *e = &lines[count++];
        assert_true(count < MOST_LINES);
        assert_int_equal(sscanf(line, "%zu:%zu %15s %n", &e->line, &e->column, e->severity, &used), 3);
        e->fragments = line + used;
        line = end + 1;
    }
    return count;
}

static bool has_fragments(const rbl_message *message, const char *fragments)
{
    char copy[1000];
    snprintf(copy, sizeof copy, "%s", fragments);
    for (char *part = copy, *next; part; part = next) {
        next = strstr(part, " | ");
        if (next) {
            *next = '\0';
            next += 3;
        }
        if (*part == '/') {
            if (strcmp(message->pointer, part) != 0) return false;
            continue;
        }
        if (strncmp(part, "node=", 5) == 0) {
            if (strcmp(message->node, part + 5) != 0) return false;
            continue;
        }
        if (!strstr(message->text, part) && !strstr(message->hint, part)) return false;
    }
    return true;
}

static bool is_met(const rbl_messages *messages, const expectation *e)
{
    static const char *const words[] = {"", "error", "warning", "note"};
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        const rbl_message *m = rbl_messages_get(messages, i);
        if (m->line == e->line && m->column == e->column && strcmp(words[m->severity], e->severity) == 0 &&
            has_fragments(m, e->fragments))
            return true;
    }
    return false;
}

/// True when the graph's messages are exactly those expected.
static bool check_case(rbl_engine *engine, const char *path, const char *expect_path)
{
    rbl_context *ctx = make_context(1);
    static expectation lines[MOST_LINES];
    char *text;
    size_t count = read_expectations(ctx, expect_path, &text, lines);
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    rbl_status status = rbl_graph_load_file(engine, path, &messages, &graph);
    size_t errors = 0, warnings = 0;
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        errors += strcmp(lines[i].severity, "error") == 0;
        warnings += strcmp(lines[i].severity, "warning") == 0;
        if (is_met(messages, &lines[i])) continue;
        print_error("%s: no message %zu:%zu %s %s\n", path, lines[i].line, lines[i].column, lines[i].severity,
            lines[i].fragments);
        good = false;
    }
    if (rbl_messages_count_of(messages, RBL_ERROR) != errors ||
        rbl_messages_count_of(messages, RBL_WARNING) != warnings) {
        print_error("%s: %zu errors and %zu warnings expected\n", path, errors, warnings);
        good = false;
    }
    if (status != (errors ? RBL_ERR_GRAPH : RBL_OK)) {
        print_error("%s: status %s\n", path, rbl_status_text(status));
        good = false;
    }
    if (!good) print_all(messages);
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        const rbl_message *m = rbl_messages_get(messages, i);
        assert_true(m->line > 0 && m->column > 0 && m->caret <= strlen(m->source_line));
    }
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
    rbli_free(ctx, text);
    finish_context(ctx);
    return good;
}

static void every_case_has_its_messages(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    DIR *dir = opendir(folder());
    assert_non_null(dir);
    size_t seen = 0, bad = 0;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || (strcmp(dot, ".json") != 0 && strcmp(dot, ".jsonc") != 0)) continue;
        char path[2048], expect_path[2048];
        snprintf(path, sizeof path, "%s/%s", folder(), entry->d_name);
        snprintf(expect_path, sizeof expect_path, "%s/%.*s.expect", folder(), (int)(dot - entry->d_name),
            entry->d_name);
        seen++;
        bad += !check_case(engine, path, expect_path);
    }
    closedir(dir);
    assert_true(seen >= 40);
    assert_int_equal(bad, 0);
    rbl_engine_destroy(engine);
}

static void messages_are_written_with_line_and_caret(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    const char *text = "{\"rubble\": 1,\n\t\"nodes\": {\"ä\": {}, \"a\": {\"type\": \"test.Nmber\"}}}";
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    assert_int_equal(
        rbl_graph_load_text(engine, "dir/x.json", text, strlen(text), &messages, &graph), RBL_ERR_GRAPH);
    char *formatted = NULL;
    assert_int_equal(rbl_messages_format(messages, 2, &formatted), RBL_OK);
    const char *expected =
        "dir/x.json:2:35: error: unknown node type \"test.Nmber\" (node \"a\", /nodes/a/type)\n"
        "  2 | \t\"nodes\": {\"ä\": {}, \"a\": {\"type\": \"test.Nmber\"}}}\n"
        "    | \t                                 ^\n"
        "  did you mean \"test.Number\"?\n";
    assert_int_equal(strncmp(formatted, expected, strlen(expected)), 0);
    rbl_messages_free_text(messages, formatted);
    rbl_messages_destroy(messages);
    rbl_engine_destroy(engine);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    static const char text[] =
        "{\"rubble\": 1, \"\\u001b[31m\": \"\0\x1b\", \"nodes\": {\"a\": {\"type\": \"test.Number\"}}}";
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    assert_int_equal(
        rbl_graph_load_text(engine, "x.json", text, sizeof text - 1, &messages, &graph), RBL_ERR_GRAPH);
    assert_int_equal(rbl_messages_count(messages), 3);
    for (size_t i = 0; i < 3; i++) {
        char *formatted = NULL;
        assert_true(strlen(rbl_messages_get(messages, i)->source_line) ==
                    strlen("{'rubble': 1, 'u001b[31m': '00', 'nodes': {'a': {'type': 'test.Number'}}}") + 1);
        assert_int_equal(rbl_messages_format(messages, i, &formatted), RBL_OK);
        assert_null(strchr(formatted, 0x1b));
        rbl_messages_free_text(messages, formatted);
    }
    rbl_messages_destroy(messages);
    rbl_engine_destroy(engine);
}

static void very_long_lines_are_cut_around_the_place(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    char *text = malloc(100000);
    size_t length = (size_t)sprintf(text, "{\"rubble\": 1, \"//\": \"");
    for (int i = 0; i < 20000; i++)
        length += (size_t)sprintf(text + length, "ä");
    length +=
        (size_t)sprintf(text + length, "\", \"nodes\": {\"a\": {\"type\": \"test.Nmber\"}}, \"//\": \"");
    for (int i = 0; i < 20000; i++)
        length += (size_t)sprintf(text + length, "ö");
    length += (size_t)sprintf(text + length, "\"}");
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    assert_int_equal(rbl_graph_load_text(engine, "x.json", text, length, &messages, &graph), RBL_ERR_GRAPH);
    const rbl_message *message = rbl_messages_get(messages, 0);
    assert_true(strlen(message->source_line) <= 200);
    assert_int_equal(strncmp(message->source_line + message->caret, "\"test.Nmber\"", 12), 0);
    assert_int_equal(message->column, 20049);
    rbl_messages_destroy(messages);
    free(text);
    rbl_engine_destroy(engine);
}

static void limits_are_errors(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    size_t bytes = ((size_t)64 << 20) + 1;
    char *text = malloc(bytes);
    memset(text, ' ', bytes);
    assert_int_equal(rbl_graph_load_text(engine, "x.json", text, bytes, &messages, &graph), RBL_ERR_LIMIT);
    size_t length = (size_t)sprintf(text, "{\"rubble\": 1, \"nodes\": {");
    for (int i = 0; i <= 100000; i++)
        length += (size_t)sprintf(text + length, "%s\"n%d\": {\"type\": \"test.Number\"}", i ? "," : "", i);
    length += (size_t)sprintf(text + length, "}}");
    assert_int_equal(rbl_graph_load_text(engine, "x.json", text, length, &messages, &graph), RBL_ERR_GRAPH);
    assert_int_equal(rbl_graph_load_file(engine, "/nowhere/x.json", &messages, &graph), RBL_ERR_READ);
    assert_int_equal(rbl_graph_load_file(engine, "/", &messages, &graph), RBL_ERR_READ);
    assert_int_equal(rbl_messages_count_of(messages, RBL_ERROR), 4);
    rbl_messages_destroy(messages);
    /* Without a list the messages are dropped. */
    assert_int_equal(rbl_graph_load_text(engine, "x.json", "{", 1, NULL, &graph), RBL_ERR_GRAPH);
    free(text);
    rbl_engine_destroy(engine);
}

static void many_mistakes_end_in_a_note(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    char *text = malloc(1 << 20);
    size_t length = (size_t)sprintf(text, "{\"rubble\": 1, \"nodes\": {");
    for (int i = 0; i < 5000; i++)
        length += (size_t)sprintf(text + length, "%s\"n%d\": {\"type\": \"Q\"}", i ? ",\n" : "", i);
    length += (size_t)sprintf(text + length, "}}");
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    assert_int_equal(rbl_graph_load_text(engine, "x.json", text, length, &messages, &graph), RBL_ERR_GRAPH);
    assert_int_equal(rbl_messages_count(messages), 2001);
    assert_int_equal(rbl_messages_count_of(messages, RBL_NOTE), 1);
    rbl_messages_destroy(messages);
    free(text);
    rbl_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_has_its_messages),
        cmocka_unit_test(messages_are_written_with_line_and_caret),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(very_long_lines_are_cut_around_the_place),
        cmocka_unit_test(limits_are_errors),
        cmocka_unit_test(many_mistakes_end_in_a_note),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
