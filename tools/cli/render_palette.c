/* Median cut (Heckbert 1982) with the split of Wu (1991): the box of colours with the largest sum of squared
 * errors is cut at its mean, across its longest side. */

#include "tools/cli/render_palette.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 7, CELLS = 1 << (3 * BITS), AXES = 3 };

/* A cell of the colour cube with pixels in it. */
typedef struct colour_cell {
    uint32_t key, count;
    uint64_t sum[AXES];
} colour_cell;

/* Cells first … first + count − 1. */
typedef struct colour_box {
    size_t first, count;
    double error, mean[AXES];
    int axis;
} colour_box;

static uint32_t key_of(const unsigned char *rgb)
{
    return (uint32_t)(rgb[0] >> (8 - BITS)) << (2 * BITS) | (uint32_t)(rgb[1] >> (8 - BITS)) << BITS |
           (uint32_t)(rgb[2] >> (8 - BITS));
}

static double value(const colour_cell *cell, int axis)
{
    return (double)cell->sum[axis] / cell->count;
}

static void measure(const colour_cell *cells, colour_box *box)
{
    double count = 0, largest = -1;
    box->error = 0;
    memset(box->mean, 0, sizeof box->mean);
    for (size_t i = box->first; i < box->first + box->count; i++) {
        count += cells[i].count;
        for (int a = 0; a < AXES; a++)
            box->mean[a] += (double)cells[i].sum[a];
    }
    for (int a = 0; a < AXES; a++) {
        double sum = 0;
        box->mean[a] /= count;
        for (size_t i = box->first; i < box->first + box->count; i++) {
            double off = value(&cells[i], a) - box->mean[a];
            sum += off * off * cells[i].count;
        }
        box->error += sum;
        if (sum > largest) {
            largest = sum;
            box->axis = a;
        }
    }
}

/* Moves the cells below the mean to the front, in no other order. @return how many */
static size_t divide(colour_cell *cells, const colour_box *box)
{
    size_t front = box->first;
    for (size_t i = box->first; i < box->first + box->count; i++) {
        if (value(&cells[i], box->axis) >= box->mean[box->axis]) continue;
        colour_cell swap = cells[front];
        cells[front++] = cells[i];
        cells[i] = swap;
    }
    return front - box->first;
}

static size_t make_boxes(colour_cell *cells, size_t cell_count, size_t most, colour_box *boxes)
{
    size_t count = 1;
    boxes[0] = (colour_box){.first = 0, .count = cell_count};
    measure(cells, &boxes[0]);
    while (count < most) {
        size_t worst = 0;
        for (size_t i = 1; i < count; i++)
            if (boxes[i].error > boxes[worst].error) worst = i;
        colour_box *box = &boxes[worst];
        size_t below = box->count > 1 ? divide(cells, box) : 0;
        if (below == 0 || below == box->count) break; /* one colour in the worst box: one in each */
        boxes[count] = (colour_box){.first = box->first + below, .count = box->count - below};
        box->count = below;
        measure(cells, box);
        measure(cells, &boxes[count++]);
    }
    return count;
}

bool render_choose_palette(const unsigned char *rgb, size_t pixels, size_t most, unsigned char palette[][3],
    size_t *count, unsigned char *index)
{
    colour_box boxes[256];
    colour_cell *cells = NULL;
    size_t cell_count = 0;
    uint32_t *number = calloc(CELLS, sizeof *number); /* of a key: pixels, then place, then box */
    if (!number) return false;
    for (size_t i = 0; i < pixels; i++)
        if (number[key_of(rgb + 3 * i)]++ == 0) cell_count++;
    cells = calloc(cell_count ? cell_count : 1, sizeof *cells);
    if (!cells) {
        free(number);
        return false;
    }
    cell_count = 0;
    for (uint32_t key = 0; key < CELLS; key++) {
        if (number[key] == 0) continue;
        cells[cell_count].key = key;
        number[key] = (uint32_t)cell_count++;
    }
    for (size_t i = 0; i < pixels; i++) {
        colour_cell *cell = &cells[number[key_of(rgb + 3 * i)]];
        cell->count++;
        for (int a = 0; a < AXES; a++)
            cell->sum[a] += rgb[3 * i + (size_t)a];
    }
    *count = cell_count ? make_boxes(cells, cell_count, most, boxes) : 0;
    for (size_t b = 0; b < *count; b++) {
        for (int a = 0; a < AXES; a++)
            palette[b][a] = (unsigned char)(boxes[b].mean[a] + 0.5);
        for (size_t i = boxes[b].first; i < boxes[b].first + boxes[b].count; i++)
            number[cells[i].key] = (uint32_t)b;
    }
    for (size_t i = 0; i < pixels; i++)
        index[i] = (unsigned char)number[key_of(rgb + 3 * i)];
    free(cells);
    free(number);
    return true;
}
