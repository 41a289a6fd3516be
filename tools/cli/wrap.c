/// Wrapping by characters: every one of them is taken to be a column wide.

#include "tools/cli/wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FACT = 13, LEAST_COLUMNS = 40 }; /* "  name       fact" */

/// Of the terminal; 0: there is none.
static size_t terminal_columns(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col) return 0;
    return size.ws_col < LEAST_COLUMNS ? LEAST_COLUMNS : size.ws_col;
}

static int begins_character(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

size_t cli_wrap_indent(const char *line)
{
    size_t spaces = strspn(line, " ");
    if (spaces == 2 && strlen(line) > FACT && line[FACT - 1] == ' ' && line[FACT] != ' ') return FACT;
    return spaces + 2;
}

size_t cli_wrap_at(const char *line, size_t columns)
{
    size_t column = 0, last = 0, first = cli_wrap_indent(line);
    for (size_t i = 0; line[i]; i++) {
        if (line[i] == ' ' && i > first && column <= columns) last = i;
        column += (size_t)begins_character(line[i]);
        if (column > columns && last) return last;
    }
    return strlen(line);
}

static void put_line(const char *line, size_t columns)
{
    size_t indent = cli_wrap_indent(line), length = columns ? cli_wrap_at(line, columns) : strlen(line);
    printf("%.*s\n", (int)length, line);
    for (line += length; *line; line += length) {
        line += strspn(line, " ");
        char *rest = NULL;
        if (asprintf(&rest, "%*s%s", (int)indent, "", line) < 0) {
            printf("%s\n", line);
            return;
        }
        size_t whole = strlen(rest);
        length = cli_wrap_at(rest, columns);
        printf("%.*s\n", (int)length, rest);
        length = length > indent ? length - indent : whole - indent;
        free(rest);
    }
}

void cli_say(const char *format, ...)
{
    static char *line; /* what has come of it */
    static size_t count;
    char *part = NULL, *more;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&part, format, arguments);
    va_end(arguments);
    more = length < 0 ? NULL : realloc(line, count + (size_t)length + 1);
    if (!more) {
        free(part);
        return;
    }
    line = more;
    memcpy(line + count, part, (size_t)length + 1);
    count += (size_t)length;
    free(part);
    size_t columns = terminal_columns(), at = 0;
    for (char *end; (end = strchr(line + at, '\n')) != NULL; at = (size_t)(end - line) + 1) {
        *end = '\0';
        put_line(line + at, columns);
    }
    count -= at;
    memmove(line, line + at, count + 1);
    if (count > 0) return;
    free(line);
    line = NULL;
}
