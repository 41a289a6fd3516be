/// Bricks: bonds as lists of boxes, and the complex of any set of boxes from a compressed grid (CUTTERS.md).

#include "fracture/geometry/brick_complex.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/geometry/complex_edit.h"

/// Coordinates closer than this, relative to the size, are one.
static const double SAME = 1e-9;
/// More grid cells than this are refused.
static const size_t MOST_GRID_CELLS = (size_t)1 << 28;

rbli_brick_options rbli_brick_default_options(void)
{
    return (rbli_brick_options){
        .bond = RBLI_BOND_STRETCHER, .length = 0.194, .height = 0.057, .depth = 0.092, .most = 8192};
}

/* ---- bonds ---- */

/// A row of equal intervals: from + i·step for i = first … last, those that reach into 0 … size.
typedef struct row {
    double from, step, width;
    int64_t first, last;
} row;

static row row_over(double from, double step, double width, double size, double tolerance)
{
    row r = {.from = from, .step = step, .width = width};
    r.first = (int64_t)ceil((tolerance - from - width) / step);
    r.last = (int64_t)floor((size - tolerance - from) / step);
    while (r.from + (double)r.first * step + width <= tolerance)
        r.first++;
    while (r.from + (double)r.last * step >= size - tolerance)
        r.last--;
    return r;
}

static double row_count(const row *r)
{
    return r->last < r->first ? 0 : (double)(r->last - r->first) + 1;
}

/// One kind of brick in a course: a row along the wall times a row across it.
typedef struct block {
    row along, across;
} block;

enum { MOST_BLOCKS = 3 };

/// The blocks of an even or odd course. `extent`: along, up, across.
static int course_blocks(const rbli_brick_options *o, bool odd, const double extent[3], double tolerance,
    block blocks[MOST_BLOCKS])
{
    double l = o->length, d = o->depth;
    bool header = o->bond == RBLI_BOND_HEADER || (o->bond == RBLI_BOND_ENGLISH && odd);
    double shift = 0;
    if (o->bond == RBLI_BOND_FLEMISH) {
        shift = odd ? (l + d) / 2 : 0;
        row stretchers = row_over(shift, l + d, l, extent[0], tolerance);
        blocks[0] = (block){stretchers, row_over(0, l, d, extent[2], tolerance)};
        blocks[1] = (block){stretchers, row_over(l - d, l, d, extent[2], tolerance)};
        blocks[2] = (block){
            row_over(shift + l, l + d, d, extent[0], tolerance), row_over(0, l, l, extent[2], tolerance)};
        return 3;
    }
    if (odd && o->bond == RBLI_BOND_STRETCHER) shift = l / 2;
    if (odd && o->bond == RBLI_BOND_HEADER) shift = d / 2;
    if (odd && o->bond == RBLI_BOND_ENGLISH) shift = -d / 2;
    double along = header ? d : l, across = header ? l : d;
    blocks[0] = (block){row_over(shift, along, along, extent[0], tolerance),
        row_over(0, across, across, extent[2], tolerance)};
    return 1;
}

static double count_bricks(const rbli_brick_options *o, const double extent[3], double tolerance)
{
    row courses = row_over(0, o->height, o->height, extent[1], tolerance);
    double total = 0, count = row_count(&courses);
    for (int odd = 0; odd < 2; odd++) {
        block blocks[MOST_BLOCKS];
        int n = course_blocks(o, odd, extent, tolerance, blocks);
        for (int i = 0; i < n; i++)
            total += (odd ? floor(count / 2) : ceil(count / 2)) * row_count(&blocks[i].along) *
                     row_count(&blocks[i].across);
    }
    return total;
}

static rbli_brick_options scaled(const rbli_brick_options *o, double factor)
{
    rbli_brick_options s = *o;
    s.length *= factor;
    s.height *= factor;
    s.depth *= factor;
    return s;
}

/// The least factor, to a thousandth, that leaves at most `most` bricks.
static double enlarge(const rbli_brick_options *o, const double extent[3], double tolerance)
{
    double largest = fmax(extent[0], fmax(extent[1], extent[2]));
    double smallest = fmin(o->length, fmin(o->height, o->depth));
    if (largest / smallest < 1e9 && count_bricks(o, extent, tolerance) <= (double)o->most) return 1;
    double low = fmax(1, largest / smallest / 1e9), high = 2 * low;
    for (;; high *= 2) {
        rbli_brick_options s = scaled(o, high);
        if (count_bricks(&s, extent, tolerance) <= (double)o->most) break;
        low = high;
    }
    while (high - low > 1e-3 * low) {
        double middle = 0.5 * (low + high);
        rbli_brick_options s = scaled(o, middle);
        *(count_bricks(&s, extent, tolerance) <= (double)o->most ? &high : &low) = middle;
    }
    return high;
}

static rbl_status check_layout(
    rbl_context *ctx, const rbli_brick_options *o, const double low[3], const double high[3])
{
    const double sizes[] = {o->length, o->height, o->depth};
    for (int i = 0; i < 3; i++) {
        if (!(sizes[i] > 0) || !isfinite(sizes[i]))
            return rbli_fail(
                ctx, RBL_ERR_ARGUMENT, "a brick's size must be above 0, but one is %g", sizes[i]);
        if (!(high[i] > low[i]))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "the box to fill with bricks is empty");
    }
    if (o->bond == RBLI_BOND_FLEMISH && o->length < 2 * o->depth)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT,
            "Flemish bond lays two stretchers beside a header: length %g must be at least twice the depth %g",
            o->length, o->depth);
    return RBL_OK;
}

rbl_status rbli_brick_layout(rbl_context *ctx, const rbli_brick_options *options, const double low[3],
    const double high[3], double *enlarged, rbli_brick **bricks, size_t *count)
{
    rbl_status status = RBL_OK;
    int axes[3] = {options->along_z ? 2 : 0, 1, options->along_z ? 0 : 2};
    double extent[3], largest = 0;
    rbli_brick *list = NULL;
    size_t n = 0;
    RBL_TRY(check_layout(ctx, options, low, high));
    for (int i = 0; i < 3; i++) {
        extent[i] = high[axes[i]] - low[axes[i]];
        largest = fmax(largest, extent[i]);
    }
    double tolerance = SAME * largest;
    double factor = enlarge(options, extent, tolerance);
    rbli_brick_options o = scaled(options, factor);
    RBL_TRY_ALLOC(list = rbli_alloc(ctx, (size_t)count_bricks(&o, extent, tolerance), sizeof *list));
    row courses = row_over(0, o.height, o.height, extent[1], tolerance);
    for (int64_t y = courses.first; y <= courses.last; y++) {
        block blocks[MOST_BLOCKS];
        int block_count = course_blocks(&o, y & 1, extent, tolerance, blocks);
        for (int b = 0; b < block_count; b++)
            for (int64_t z = blocks[b].across.first; z <= blocks[b].across.last; z++)
                for (int64_t x = blocks[b].along.first; x <= blocks[b].along.last; x++) {
                    const row *rows[3] = {&blocks[b].along, &courses, &blocks[b].across};
                    int64_t at[3] = {x, y, z};
                    for (int i = 0; i < 3; i++) {
                        double from = low[axes[i]] + (rows[i]->from + (double)at[i] * rows[i]->step);
                        list[n].min[axes[i]] = from;
                        list[n].max[axes[i]] = from + rows[i]->width;
                    }
                    n++;
                }
    }
    if (enlarged) *enlarged = factor;
    *bricks = list;
    *count = n;
    list = NULL;
done:
    rbli_free(ctx, list);
    return status;
}

/* ---- boxes to a complex ---- */

/// The compressed grid. Cell (x, y, z) is cells[(z·ny + y)·nx + x].
typedef struct grid {
    rbl_context *ctx;
    double *coordinates[3]; /* [counts] ascending; the outer box's first and last */
    int32_t counts[3];
    int32_t *cells;   /* box, or the outside's number */
    uint8_t *corners; /* [counts product] grid points that are corners of facets */
    int32_t *vertex;  /* likewise: number in the complex, or −1 */
    rbli_facet_list facets;
    RBLI_ARRAY(int32_t) loop;
    size_t vertex_count;
} grid;

/// A merged face of a grid plane.
typedef struct rectangle {
    int32_t axis, plane, low[2], high[2], cells[2];
} rectangle;
typedef struct rectangle_list {
    RBLI_ARRAY(rectangle) list;
} rectangle_list;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/// Sorts and merges the coordinates of an axis. Those outside `low` … `high` fall on the outer box.
static rbl_status list_coordinates(grid *g, int axis, const rbli_brick *boxes, size_t count, double low,
    double high, double outer_min, double outer_max, double tolerance)
{
    rbl_status status = RBL_OK;
    double *c;
    RBL_TRY_ALLOC(c = g->coordinates[axis] = rbli_alloc(g->ctx, 2 * count + 2, sizeof *c));
    size_t n = 0, kept = 1;
    for (size_t i = 0; i < count; i++) {
        double ends[2] = {boxes[i].min[axis], boxes[i].max[axis]};
        for (int e = 0; e < 2; e++)
            if (ends[e] > low + tolerance && ends[e] < high - tolerance) c[1 + n++] = ends[e];
    }
    qsort(c + 1, n, sizeof *c, compare_doubles);
    c[0] = outer_min;
    for (size_t i = 1; i <= n; i++)
        if (c[i] - c[kept - 1] > tolerance) c[kept++] = c[i];
    c[kept++] = outer_max;
    g->counts[axis] = (int32_t)kept;
done:
    return status;
}

/// Which coordinate a box's side falls on.
static int32_t rank_of(const grid *g, int axis, double x, double low, double high, double tolerance)
{
    const double *c = g->coordinates[axis];
    int32_t first = 0, last = g->counts[axis] - 1;
    if (x <= low + tolerance) return first;
    if (x >= high - tolerance) return last;
    while (first < last) { /* the last coordinate not above x */
        int32_t middle = (first + last + 1) / 2;
        if (c[middle] <= x)
            first = middle;
        else
            last = middle - 1;
    }
    bool next_is_nearer = first + 1 < g->counts[axis] && c[first + 1] - x < x - c[first];
    return first + next_is_nearer;
}

static rbl_status fill_grid(grid *g, const rbli_brick *boxes, size_t count, const double low[3],
    const double high[3], double tolerance)
{
    rbl_status status = RBL_OK;
    size_t nx = (size_t)g->counts[0] - 1, ny = (size_t)g->counts[1] - 1, nz = (size_t)g->counts[2] - 1;
    if (nx > MOST_GRID_CELLS / ny || nx * ny > MOST_GRID_CELLS / nz)
        return rbli_fail(g->ctx, RBL_ERR_LIMIT, "the boxes need a grid of %zu × %zu × %zu cells", nx, ny, nz);
    RBL_TRY_ALLOC(g->cells = rbli_alloc(g->ctx, nx * ny * nz, sizeof *g->cells));
    for (size_t i = 0; i < nx * ny * nz; i++)
        g->cells[i] = (int32_t)count;
    for (size_t b = 0; b < count; b++) {
        int32_t from[3], to[3];
        for (int a = 0; a < 3; a++) {
            from[a] = rank_of(g, a, boxes[b].min[a], low[a], high[a], tolerance);
            to[a] = rank_of(g, a, boxes[b].max[a], low[a], high[a], tolerance);
        }
        for (int32_t z = from[2]; z < to[2]; z++)
            for (int32_t y = from[1]; y < to[1]; y++)
                for (int32_t x = from[0]; x < to[0]; x++) {
                    int32_t *cell = &g->cells[((size_t)z * ny + (size_t)y) * nx + (size_t)x];
                    if (*cell != (int32_t)count)
                        return rbli_fail(g->ctx, RBL_ERR_ARGUMENT, "boxes %d and %zu overlap", (int)*cell, b);
                    *cell = (int32_t)b;
                }
    }
done:
    return status;
}

/// The cell on a side of place (i, j) of a grid plane.
static int32_t cell_at(const grid *g, int axis, int32_t plane, int32_t i, int32_t j)
{
    if (plane < 0 || plane >= g->counts[axis] - 1) return -1;
    int32_t at[3];
    at[axis] = plane;
    at[(axis + 1) % 3] = i;
    at[(axis + 2) % 3] = j;
    return g
        ->cells[((size_t)at[2] * (size_t)(g->counts[1] - 1) + (size_t)at[1]) * (size_t)(g->counts[0] - 1) +
                (size_t)at[0]];
}

static size_t point_at(const grid *g, int axis, int32_t plane, int32_t i, int32_t j)
{
    int32_t at[3];
    at[axis] = plane;
    at[(axis + 1) % 3] = i;
    at[(axis + 2) % 3] = j;
    return ((size_t)at[2] * (size_t)g->counts[1] + (size_t)at[1]) * (size_t)g->counts[0] + (size_t)at[0];
}

/// Merges the faces of one grid plane greedily: along the first axis, then along the second.
static rbl_status merge_plane(grid *g, int axis, int32_t plane, uint8_t *done, rectangle_list *out)
{
    rbl_status status = RBL_OK;
    int32_t n = g->counts[(axis + 1) % 3] - 1, m = g->counts[(axis + 2) % 3] - 1;
    memset(done, 0, (size_t)n * (size_t)m);
    for (int32_t j = 0; j < m; j++)
        for (int32_t i = 0; i < n; i++) {
            int32_t negative = cell_at(g, axis, plane - 1, i, j), positive = cell_at(g, axis, plane, i, j);
            if (done[(size_t)j * (size_t)n + (size_t)i] || negative == positive) continue;
            int32_t end = i, top = j + 1;
            while (end < n && !done[(size_t)j * (size_t)n + (size_t)end] &&
                   cell_at(g, axis, plane - 1, end, j) == negative &&
                   cell_at(g, axis, plane, end, j) == positive)
                end++;
            for (bool same = true; top < m && same; top += same)
                for (int32_t x = i; x < end && same; x++)
                    same = !done[(size_t)top * (size_t)n + (size_t)x] &&
                           cell_at(g, axis, plane - 1, x, top) == negative &&
                           cell_at(g, axis, plane, x, top) == positive;
            for (int32_t y = j; y < top; y++)
                memset(done + (size_t)y * (size_t)n + (size_t)i, 1, (size_t)(end - i));
            rectangle r = {axis, plane, {i, j}, {end, top}, {negative, positive}};
            RBL_TRY(rbli_array_push(g->ctx, &out->list, r));
            g->corners[point_at(g, axis, plane, i, j)] = g->corners[point_at(g, axis, plane, end, j)] = 1;
            g->corners[point_at(g, axis, plane, end, top)] = g->corners[point_at(g, axis, plane, i, top)] = 1;
        }
done:
    return status;
}

/// Appends a flagged grid point to the loop.
static rbl_status visit(grid *g, const rectangle *r, int32_t i, int32_t j)
{
    size_t point = point_at(g, r->axis, r->plane, i, j);
    if (!g->corners[point]) return RBL_OK;
    if (g->vertex[point] < 0) g->vertex[point] = (int32_t)g->vertex_count++;
    return rbli_array_push(g->ctx, &g->loop, g->vertex[point]);
}

/// Walks a rectangle's border, counter-clockwise seen from the positive side.
static rbl_status add_rectangle(grid *g, const rectangle *r, int32_t origin)
{
    rbl_status status = RBL_OK;
    g->loop.count = 0;
    for (int32_t i = r->low[0]; i < r->high[0]; i++)
        RBL_TRY(visit(g, r, i, r->low[1]));
    for (int32_t j = r->low[1]; j < r->high[1]; j++)
        RBL_TRY(visit(g, r, r->high[0], j));
    for (int32_t i = r->high[0]; i > r->low[0]; i--)
        RBL_TRY(visit(g, r, i, r->high[1]));
    for (int32_t j = r->high[1]; j > r->low[1]; j--)
        RBL_TRY(visit(g, r, r->low[0], j));
    bool wall = r->cells[0] < 0 || r->cells[1] < 0;
    RBL_TRY(rbli_facet_list_add(
        g->ctx, &g->facets, g->loop.data, g->loop.count, r->cells[0], r->cells[1], wall ? -1 : origin));
done:
    return status;
}

static rbl_status make_facets(grid *g)
{
    rbl_status status = RBL_OK;
    rectangle_list rectangles = {0};
    uint8_t *done = NULL;
    size_t points = (size_t)g->counts[0] * (size_t)g->counts[1] * (size_t)g->counts[2], largest = 0;
    for (int a = 0; a < 3; a++) {
        size_t face = (size_t)g->counts[a] * (size_t)g->counts[(a + 1) % 3];
        largest = face > largest ? face : largest;
    }
    RBL_TRY_ALLOC(done = rbli_alloc(g->ctx, largest, 1));
    RBL_TRY_ALLOC(g->corners = rbli_calloc(g->ctx, points, 1));
    RBL_TRY_ALLOC(g->vertex = rbli_alloc(g->ctx, points, sizeof *g->vertex));
    memset(g->vertex, 0xff, points * sizeof *g->vertex);
    for (int axis = 0; axis < 3; axis++)
        for (int32_t plane = 0; plane < g->counts[axis]; plane++)
            RBL_TRY(merge_plane(g, axis, plane, done, &rectangles));
    int32_t origin = -1;
    for (size_t i = 0; i < rectangles.list.count; i++) {
        const rectangle *r = &rectangles.list.data[i];
        if (i == 0 || r->axis != r[-1].axis || r->plane != r[-1].plane) origin++;
        RBL_TRY(add_rectangle(g, r, origin));
    }
done:
    rbli_free(g->ctx, done);
    rbli_free(g->ctx, rectangles.list.data);
    return status;
}

static rbl_status build_complex(grid *g, size_t count, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    rbli_cell_complex *k = NULL;
    size_t points = (size_t)g->counts[0] * (size_t)g->counts[1] * (size_t)g->counts[2];
    bool outside = false;
    for (size_t i = 0; i < g->facets.cells.count; i++)
        outside |= g->facets.cells.data[i] == (int32_t)count;
    RBL_TRY_ALLOC(k = rbli_calloc(g->ctx, 1, sizeof *k));
    RBL_TRY_ALLOC(k->vertices = rbli_alloc(g->ctx, g->vertex_count, sizeof *k->vertices));
    k->vertex_count = g->vertex_count;
    for (size_t p = 0; p < points; p++) {
        if (g->vertex[p] < 0) continue;
        size_t nx = (size_t)g->counts[0], ny = (size_t)g->counts[1];
        double *x = k->vertices[g->vertex[p]];
        x[0] = g->coordinates[0][p % nx];
        x[1] = g->coordinates[1][p / nx % ny];
        x[2] = g->coordinates[2][p / nx / ny];
    }
    k->cell_count = count + outside;
    k->outside_cell_count = outside;
    k->convex = !outside;
    RBL_TRY_ALLOC(k->cell_site = rbli_alloc(g->ctx, k->cell_count, sizeof *k->cell_site));
    for (size_t c = 0; c < count; c++)
        k->cell_site[c] = (int32_t)c;
    if (outside) k->cell_site[count] = -1;
    RBL_TRY(rbli_facet_list_move(g->ctx, &g->facets, k));
    *out = k;
    k = NULL;
done:
    rbli_cell_complex_destroy(g->ctx, k);
    return status;
}

rbl_status rbli_box_complex(rbl_context *ctx, const rbli_brick *boxes, size_t count, const double low[3],
    const double high[3], const double outer_min[3], const double outer_max[3], rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    grid g = {.ctx = ctx};
    double size = 0;
    for (int a = 0; a < 3; a++)
        size = fmax(size, outer_max[a] - outer_min[a]);
    for (int a = 0; a < 3; a++)
        RBL_TRY(
            list_coordinates(&g, a, boxes, count, low[a], high[a], outer_min[a], outer_max[a], SAME * size));
    RBL_TRY(fill_grid(&g, boxes, count, low, high, SAME * size));
    RBL_TRY(make_facets(&g));
    RBL_TRY(build_complex(&g, count, out));
done:
    for (int a = 0; a < 3; a++)
        rbli_free(ctx, g.coordinates[a]);
    rbli_free(ctx, g.cells);
    rbli_free(ctx, g.corners);
    rbli_free(ctx, g.vertex);
    rbli_free(ctx, g.loop.data);
    rbli_facet_list_free(ctx, &g.facets);
    return status;
}
