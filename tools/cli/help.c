/// Help texts and the man page, both made of the same tables.

#include "tools/cli/cli.h"

#include <stdint.h>
#include <string.h>

enum { COLUMNS = 100, WIDEST_OPTION = 26, MOST_HEAD = 200 };

/* ---- Plain text ---- */

static size_t columns_of(const char *text, size_t bytes)
{
    size_t columns = 0;
    for (size_t i = 0; i < bytes; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

typedef struct wrapping {
    size_t indent, column; /* column: where the next word would go, indent when the line is empty */
} wrapping;

static void put_word(void *user, const char *word, size_t length)
{
    wrapping *w = user;
    size_t columns = columns_of(word, length);
    bool first = w->column == w->indent;
    if (!first && w->column + 1 + columns > COLUMNS) {
        printf("\n%*s", (int)w->indent, "");
        w->column = w->indent;
        first = true;
    }
    printf("%s%.*s", first ? "" : " ", (int)length, word);
    w->column += columns + !first;
}

/// Words of a text, the first one at the column `indent`, where the line stands already.
static void print_wrapped(const char *text, size_t indent)
{
    wrapping w = {indent, indent};
    cli_each_word(text, ' ', put_word, &w);
    printf("\n");
}

/// "-o, --out DIR", or "--out DIR"
static size_t option_head(const cli_option *o, char head[MOST_HEAD])
{
    char letter[8] = "";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    int bytes = snprintf(
        head, MOST_HEAD, "%s--%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");
    return columns_of(head, bytes > 0 && bytes < MOST_HEAD ? (size_t)bytes : strlen(head));
}

static void print_options(const cli_option *options)
{
    char head[MOST_HEAD];
    size_t widest = strlen("--help") + 4;
    for (const cli_option *o = options; o->name; o++) {
        size_t width = option_head(o, head);
        if (width > widest && width <= WIDEST_OPTION) widest = width;
    }
    for (const cli_option *o = options; o->name; o++) {
        size_t width = option_head(o, head);
        printf("  %s", head);
        if (width > widest)
            printf("\n%*s", (int)widest + 4, "");
        else
            printf("%*s", (int)(widest - width) + 2, "");
        print_wrapped(o->text, widest + 4);
    }
    printf("  %-*s  print this text\n", (int)widest, "-h, --help");
}

/// One line of a command's text: a paragraph, or an item "- word: text".
static void print_paragraph(void *user, const char *line, size_t length)
{
    bool *in_items = user;
    char text[2048];
    snprintf(text, sizeof text, "%.*s", (int)length, line);
    char *colon = strncmp(text, "- ", 2) == 0 ? strstr(text, ": ") : NULL;
    if (!colon) {
        printf("\n");
        print_wrapped(text, 0);
        *in_items = false;
        return;
    }
    if (!*in_items) printf("\n");
    *in_items = true;
    *colon = '\0';
    printf("  %-11s ", text + 2);
    print_wrapped(colon + 2, 14);
}

typedef struct usage_lines {
    const char *name;
    size_t lines;
} usage_lines;

static void print_usage(void *user, const char *line, size_t length)
{
    usage_lines *u = user;
    printf("%s rubble %s %.*s\n", u->lines++ ? "      " : "usage:", u->name, (int)length, line);
}

static void print_example(void *user, const char *line, size_t length)
{
    (void)user;
    printf("  %.*s\n", (int)length, line);
}

int cli_print_help(const cli_command *c)
{
    usage_lines usage = {c->name, 0};
    bool in_items = false;
    if (*c->usage)
        cli_each_word(c->usage, '\n', print_usage, &usage);
    else
        printf("usage: rubble %s\n", c->name);
    cli_each_word(c->text, '\n', print_paragraph, &in_items);
    printf("\n");
    print_options(c->options);
    printf("\nexample%s:\n", strchr(c->examples, '\n') ? "s" : "");
    cli_each_word(c->examples, '\n', print_example, NULL);
    return cli_print("");
}

/* ---- Man page ---- */

/// One code point of UTF-8, 0 at the end.
static uint32_t next_code(const unsigned char **at)
{
    const unsigned char *p = *at;
    size_t more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
    uint32_t code = more == 3 ? *p & 7u : more == 2 ? *p & 15u : more == 1 ? *p & 31u : *p;
    for (p += *p != 0; more && (*p & 0xc0) == 0x80; more--)
        code = code << 6 | (*p++ & 63u);
    *at = p;
    return code;
}

void cli_print_roff(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    if (*text == '.' || *text == '\'') printf("\\&");
    for (uint32_t code; (code = next_code(&at));) {
        if (code == '\\')
            printf("\\e");
        else if (code == '-')
            printf("\\-");
        else if (code == '^' || code == '~' || code == '`')
            printf(code == '^' ? "\\(ha" : code == '~' ? "\\(ti" : "\\(ga");
        else if (code < 0x80)
            putchar((int)code);
        else
            printf("\\[u%04X]", (unsigned)code);
    }
}

static void print_roff_bytes(const char *text, size_t length)
{
    char part[2048];
    snprintf(part, sizeof part, "%.*s", (int)length, text);
    cli_print_roff(part);
}

static void roff_paragraph(void *user, const char *line, size_t length)
{
    (void)user;
    const char *colon = length > 2 && strncmp(line, "- ", 2) == 0 ? strstr(line, ": ") : NULL;
    if (colon && colon < line + length) {
        printf(".TP\n.B ");
        print_roff_bytes(line + 2, (size_t)(colon - line) - 2);
        printf("\n");
        print_roff_bytes(colon + 2, length - (size_t)(colon + 2 - line));
    } else {
        printf(".PP\n");
        print_roff_bytes(line, length);
    }
    printf("\n");
}

static void roff_usage(void *user, const char *line, size_t length)
{
    usage_lines *u = user;
    printf("%s.B rubble %s\n", u->lines++ ? ".br\n" : "", u->name);
    print_roff_bytes(line, length);
    printf("\n");
}

static void roff_example(void *user, const char *line, size_t length)
{
    (void)user;
    print_roff_bytes(line, length);
    printf("\n");
}

int cli_print_man(const cli_command *c)
{
    usage_lines usage = {c->name, 0};
    printf(".SS rubble %s\n", c->name);
    if (*c->usage) cli_each_word(c->usage, '\n', roff_usage, &usage);
    cli_each_word(c->text, '\n', roff_paragraph, NULL);
    for (const cli_option *o = c->options; o->name; o++) {
        printf(".TP\n");
        if (o->letter) printf("\\fB\\-%c\\fR, ", o->letter);
        printf("\\fB");
        char name[64];
        snprintf(name, sizeof name, "--%s", o->name);
        cli_print_roff(name);
        printf("\\fR");
        if (o->value) {
            printf(" \\fI");
            cli_print_roff(o->value);
            printf("\\fR");
        }
        printf("\n");
        cli_print_roff(o->text);
        printf("\n");
    }
    printf(".PP\nFor example:\n.PP\n.RS\n.nf\n");
    cli_each_word(c->examples, '\n', roff_example, NULL);
    printf(".fi\n.RE\n");
    return cli_print("");
}
