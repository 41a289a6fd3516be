/// Binary STL: all pieces as one list of triangles.

#include <math.h>

#include "fracture/io/piece_view.h"
#include "fracture/io/text_out.h"
#include "fracture/io/write.h"

enum { HEADER_BYTES = 80, TRIANGLE_BYTES = 50 };

/// Corners of a face in the world, as floats, counter-clockwise from outside. @return whether no two are equal
static bool face_points(const rbli_asset_view *view, const rbli_world_map *map, size_t face, float out[3][3])
{
    for (int k = 0; k < 3; k++) {
        double p[3];
        rbli_world_point(map, view->positions[view->faces[face][map->mirrored && k > 0 ? 3 - k : k]], p);
        for (int a = 0; a < 3; a++) {
            float x = (float)p[a];
            out[k][a] = isfinite(x) ? x : 0;
        }
    }
    for (int k = 0; k < 3; k++) {
        const float *a = out[k], *b = out[(k + 1) % 3];
        if (a[0] == b[0] && a[1] == b[1] && a[2] == b[2]) return false;
    }
    return true;
}

/// The face's unit normal; zero where it has none, which readers take for "to be computed".
static void face_normal(const float p[3][3], float out[3])
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (double)p[1][k] - (double)p[0][k];
        v[k] = (double)p[2][k] - (double)p[0][k];
    }
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++)
        out[k] = length > 0 && isfinite(length) ? (float)(n[k] / length) : 0;
}

/// Goes over all triangles that do not collapse; writes them if `text` is not NULL.
static rbl_status for_triangles(
    rbl_context *ctx, const rbli_asset_view *view, rbli_text_out *text, rbli_stl_report *report)
{
    *report = (rbli_stl_report){0};
    for (size_t b = 0; b < view->bone_count; b++) {
        if (!rbli_asset_is_piece(view, b)) continue;
        int32_t g = view->geometry[b];
        rbli_world_map map = rbli_world_map_of(view, b);
        size_t first = (size_t)view->face_start[g], count = (size_t)view->face_counts[g];
        for (size_t f = first; f < first + count; f++) {
            struct {
                float normal[3], points[3][3];
            } out;
            _Static_assert(sizeof out + 2 == TRIANGLE_BYTES, "as in the file");
            if (rbli_poll(ctx, f) != RBL_OK) return RBL_ERR_CANCELLED;
            if (!face_points(view, &map, f, out.points)) {
                report->collapsed_triangles++;
                continue;
            }
            report->triangles++;
            if (!text) continue;
            face_normal((const float(*)[3])out.points, out.normal);
            rbli_put_bytes(text, (const char *)&out, sizeof out);
            rbli_put_bytes(text, "\0\0", 2);
        }
    }
    return RBL_OK;
}

rbl_status rbli_write_stl(
    rbl_context *ctx, const rbl_collection *collection, rbli_file_writer *out, rbli_stl_report *report)
{
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they are");
    rbl_status status = RBL_OK;
    rbli_asset_view view = {0};
    rbli_stl_report counted;
    rbli_text_out text = {.ctx = ctx, .out = out};
    char header[HEADER_BYTES] =
        "rubble: binary STL, all pieces in the world"; /* "solid" would be taken for text */
    RBL_TRY(rbli_asset_view_init(ctx, collection, &view));
    RBL_TRY(for_triangles(ctx, &view, NULL, &counted));
    if (counted.triangles > UINT32_MAX)
        RBL_TRY(
            rbli_fail(ctx, RBL_ERR_LIMIT, "%zu triangles: an STL file holds 2^32 − 1", counted.triangles));
    uint32_t count = (uint32_t)counted.triangles;
    rbli_put_bytes(&text, header, sizeof header);
    rbli_put_bytes(&text, (const char *)&count, sizeof count);
    RBL_TRY(for_triangles(ctx, &view, &text, &counted));
    RBL_TRY(rbli_text_out_end(&text));
    if (report) *report = counted;
done:
    rbli_text_out_free(&text);
    rbli_asset_view_free(ctx, &view);
    return status;
}
