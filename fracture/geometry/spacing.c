/// Balls in a hash of cubes: level L holds radii in least·2^L … least·2^(L+1), its cubes have twice the
/// larger edge, so a ball of the same level or a smaller one meets no more than 27 cubes of it.

#include "fracture/geometry/spacing.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/hash.h"

enum { LEVELS = 41 };

typedef struct ball {
    double center[3], radius;
    int64_t cell[4]; /* x, y, z, level */
    int32_t next;    /* of the same cell, −1 at the end */
} ball;

struct rbli_spacing {
    double origin[3], least;
    uint64_t levels_used; /* one bit a level */
    RBLI_ARRAY(ball) balls;
    int32_t *slots; /* [mask + 1] first ball of a cell, −1: free */
    size_t mask, cell_count;
};

rbl_status rbli_spacing_create(
    rbl_context *ctx, const double origin[3], double least_radius, rbli_spacing **out)
{
    rbli_spacing *s = rbli_calloc(ctx, 1, sizeof *s);
    if (!s) return RBL_ERR_NO_MEMORY;
    memcpy(s->origin, origin, sizeof s->origin);
    s->least = least_radius;
    s->mask = 63;
    s->slots = rbli_alloc(ctx, s->mask + 1, sizeof *s->slots);
    if (!s->slots) {
        rbli_free(ctx, s);
        return RBL_ERR_NO_MEMORY;
    }
    memset(s->slots, 0xff, (s->mask + 1) * sizeof *s->slots);
    *out = s;
    return RBL_OK;
}

void rbli_spacing_destroy(rbl_context *ctx, rbli_spacing *s)
{
    if (!s) return;
    rbli_free(ctx, s->balls.data);
    rbli_free(ctx, s->slots);
    rbli_free(ctx, s);
}

static int level_of(const rbli_spacing *s, double radius)
{
    int level = 0;
    if (radius > s->least) {
        frexp(radius / s->least, &level);
        level--;
    }
    return level < 0 ? 0 : level >= LEVELS ? LEVELS - 1 : level;
}

static double cell_size(const rbli_spacing *s, int level)
{
    return ldexp(s->least, level + 2);
}

static int64_t cell_at(const rbli_spacing *s, double coordinate, int axis, int level)
{
    double at = floor((coordinate - s->origin[axis]) / cell_size(s, level));
    return (int64_t)fmin(fmax(at, -0x1p+60), 0x1p+60);
}

static size_t find_slot(const rbli_spacing *s, const int64_t cell[4])
{
    size_t slot = (size_t)rbli_hash64(cell, 4 * sizeof *cell) & s->mask;
    while (s->slots[slot] >= 0 && memcmp(s->balls.data[s->slots[slot]].cell, cell, 4 * sizeof *cell) != 0)
        slot = (slot + 1) & s->mask;
    return slot;
}

static bool cell_is_clear(const rbli_spacing *s, const int64_t cell[4], const double center[3], double radius)
{
    for (int32_t i = s->slots[find_slot(s, cell)]; i >= 0; i = s->balls.data[i].next) {
        const ball *b = &s->balls.data[i];
        double x = b->center[0] - center[0], y = b->center[1] - center[1], z = b->center[2] - center[2];
        double apart = b->radius + radius;
        if (x * x + y * y + z * z < apart * apart) return false;
    }
    return true;
}

static bool level_is_clear(const rbli_spacing *s, int level, const double center[3], double radius)
{
    double reach = radius + 0.5 * cell_size(s, level);
    int64_t low[3], high[3], cell[4] = {0, 0, 0, level};
    double cells = 1;
    for (int k = 0; k < 3; k++) {
        low[k] = cell_at(s, center[k] - reach, k, level);
        high[k] = cell_at(s, center[k] + reach, k, level);
        cells *= (double)(high[k] - low[k] + 1);
    }
    if (cells > (double)s->balls.count) { /* a much larger ball: looking at all is faster */
        for (size_t i = 0; i < s->balls.count; i++)
            if (s->balls.data[i].cell[3] == level && !cell_is_clear(s, s->balls.data[i].cell, center, radius))
                return false;
        return true;
    }
    for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++)
        for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++)
            for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++)
                if (!cell_is_clear(s, cell, center, radius)) return false;
    return true;
}

bool rbli_spacing_fits(const rbli_spacing *s, const double center[3], double radius)
{
    for (int level = 0; level < LEVELS; level++)
        if (s->levels_used >> level & 1 && !level_is_clear(s, level, center, radius)) return false;
    return true;
}

/// Doubles the table. Cells are found again through their first balls.
static rbl_status grow(rbl_context *ctx, rbli_spacing *s)
{
    size_t old_count = s->mask + 1, mask = 2 * old_count - 1;
    int32_t *old = s->slots, *slots = rbli_alloc(ctx, mask + 1, sizeof *slots);
    if (!slots) return RBL_ERR_NO_MEMORY;
    memset(slots, 0xff, (mask + 1) * sizeof *slots);
    s->slots = slots;
    s->mask = mask;
    for (size_t i = 0; i < old_count; i++)
        if (old[i] >= 0) s->slots[find_slot(s, s->balls.data[old[i]].cell)] = old[i];
    rbli_free(ctx, old);
    return RBL_OK;
}

rbl_status rbli_spacing_add(rbl_context *ctx, rbli_spacing *s, const double center[3], double radius)
{
    if (s->balls.count >= INT32_MAX) return rbli_fail(ctx, RBL_ERR_LIMIT, "too many points to keep apart");
    if (2 * (s->cell_count + 1) > s->mask && grow(ctx, s) != RBL_OK) return RBL_ERR_NO_MEMORY;
    ball b = {.radius = radius, .next = -1};
    int level = level_of(s, radius);
    memcpy(b.center, center, sizeof b.center);
    for (int k = 0; k < 3; k++)
        b.cell[k] = cell_at(s, center[k], k, level);
    b.cell[3] = level;
    size_t slot = find_slot(s, b.cell);
    b.next = s->slots[slot];
    if (rbli_array_push(ctx, &s->balls, b) != RBL_OK) return RBL_ERR_NO_MEMORY;
    s->cell_count += b.next < 0;
    s->slots[slot] = (int32_t)(s->balls.count - 1);
    s->levels_used |= (uint64_t)1 << level;
    return RBL_OK;
}
