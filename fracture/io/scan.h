#ifndef RUBBLE_IO_SCAN_H
#define RUBBLE_IO_SCAN_H

/// Scanning text that is not trusted: correctly rounded decimal numbers whatever the process's locale is, and
/// words, blanks and lines with their numbers. Nothing here allocates; all functions are reentrant.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A text being read. `line` counts from 1; a line ends with LF, CR LF or CR.
typedef struct rbli_scan {
    const char *at, *end;
    size_t line;
} rbli_scan;

/// Reads a number at *at ("-1.5e3", "nan", "inf", "1.#QNAN") and moves *at behind it. Rounded to nearest,
/// ties to even; too large is infinite. Method: Clinger 1990's fast path, else 128-bit integers up to 19
/// digits and powers up to 10^19, else strtod in the C locale.
/// @return false, with *at unmoved, where there is no number
bool rbli_scan_double(const char **at, const char *end, double *out);
/// Reads a decimal integer with an optional sign; false where there is none or where it exceeds int64.
bool rbli_scan_int(const char **at, const char *end, int64_t *out);

/// Looks for " 12 3 456" before LF: three numbers of at most seven digits, each behind one blank. @return bytes up
/// to the line's end, 0 for any other text
size_t rbli_scan_indices(const rbli_scan *scan, int32_t out[3]);

static inline bool rbli_is_line_end(char c)
{
    return c == '\n' || c == '\r';
}
static inline bool rbli_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}
/// True at the end of the text, a blank or the end of a line.
static inline bool rbli_scan_at_gap(const rbli_scan *scan)
{
    return scan->at >= scan->end || rbli_is_blank(*scan->at) || rbli_is_line_end(*scan->at);
}
static inline bool rbli_scan_at_line_end(const rbli_scan *scan)
{
    return scan->at >= scan->end || rbli_is_line_end(*scan->at);
}
/// Skips blanks of the line.
void rbli_scan_blanks(rbli_scan *scan);
/// Skips blanks and line ends.
void rbli_scan_space(rbli_scan *scan);
/// Skips the rest of the line and its end.
void rbli_scan_line(rbli_scan *scan);
/// Steps over one line end at `at`, counting it; nothing elsewhere.
void rbli_scan_line_end(rbli_scan *scan);
/// The word at `at` (up to a gap), which is skipped. Its length may be 0.
size_t rbli_scan_word(rbli_scan *scan, const char **word);
/// The rest of the line without blanks around it, and the line's end skipped.
size_t rbli_scan_rest(rbli_scan *scan, const char **rest);
/// Whether a word of `length` bytes is `text`, apart from the case of ASCII letters.
bool rbli_word_is(const char *word, size_t length, const char *text);

/// For messages: at most 40 bytes of the word at `at`, unprintable ones as '?', in `out`. Returns `out`.
const char *rbli_scan_quote(const rbli_scan *scan, char out[44]);

#endif
