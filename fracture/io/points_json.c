/// Points as JSON: brackets, commas and numbers, nothing else.

#include "fracture/io/points_json.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/io/scan.h"

static rbl_status expected(rbl_context *ctx, const char *name, const rbli_scan *scan, const char *what)
{
    char quote[44];
    if (scan->at >= scan->end)
        return rbli_fail(
            ctx, RBL_ERR_PARSE, "%s:%zu: the text ends where %s is expected", name, scan->line, what);
    return rbli_fail(ctx, RBL_ERR_PARSE, "%s:%zu: \"%s\" where %s is expected", name, scan->line,
        rbli_scan_quote(scan, quote), what);
}

static bool take(rbli_scan *scan, char c)
{
    rbli_scan_space(scan);
    if (scan->at >= scan->end || *scan->at != c) return false;
    scan->at++;
    return true;
}

static rbl_status read_point(
    rbl_context *ctx, const char *name, rbli_scan *scan, size_t index, double point[3])
{
    if (!take(scan, '[')) return expected(ctx, name, scan, "a point \"[x, y, z]\"");
    for (int k = 0; k < 3; k++) {
        if (k > 0 && !take(scan, ',')) return expected(ctx, name, scan, "a comma");
        rbli_scan_space(scan);
        if (!rbli_scan_double(&scan->at, scan->end, &point[k])) return expected(ctx, name, scan, "a number");
        if (!isfinite(point[k]))
            return rbli_fail(ctx, RBL_ERR_PARSE, "%s:%zu: point %zu is not finite", name, scan->line, index);
    }
    return take(scan, ']') ? RBL_OK : expected(ctx, name, scan, "\"]\" after three numbers");
}

rbl_status rbli_read_points_json(
    rbl_context *ctx, const char *name, const char *text, size_t bytes, double (**out)[3], size_t *count)
{
    rbl_status status = RBL_OK;
    rbli_scan scan = {text, text + bytes, 1};
    struct {
        double (*data)[3];
        size_t count, capacity;
    } points = {0};
    if (!take(&scan, '[')) return expected(ctx, name, &scan, "a list \"[[x, y, z], …]\"");
    if (!take(&scan, ']')) {
        do {
            RBL_TRY(rbli_array_reserve(ctx, &points, 1));
            RBL_TRY(read_point(ctx, name, &scan, points.count, points.data[points.count]));
            points.count++;
        } while (take(&scan, ','));
        if (!take(&scan, ']')) {
            status = expected(ctx, name, &scan, "\",\" or \"]\"");
            goto done;
        }
    }
    rbli_scan_space(&scan);
    if (scan.at < scan.end) {
        status = expected(ctx, name, &scan, "the end");
        goto done;
    }
    *out = points.data;
    *count = points.count;
    points.data = NULL;
done:
    rbli_free(ctx, points.data);
    return status;
}
