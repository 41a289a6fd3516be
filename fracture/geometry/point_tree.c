/// A balanced k-d tree in place (Bentley 1975).

#include "fracture/geometry/point_tree.h"

#include <math.h>
#include <string.h>

static bool comes_before(const rbli_point_node *p, const rbli_point_node *q, int axis)
{
    if (p->point[axis] != q->point[axis]) return p->point[axis] < q->point[axis];
    return p->index < q->index;
}

/// Puts the node that belongs at `middle` there, lesser ones before it (Hoare 1961). No two nodes are equal.
static void select_middle(rbli_point_node *nodes, size_t begin, size_t end, size_t middle, int axis)
{
    while (end - begin > 1) {
        /* The median of three as pivot, at the front. */
        size_t a = begin, b = begin + (end - begin) / 2, c = end - 1;
        if (comes_before(&nodes[b], &nodes[a], axis)) {
            size_t t = a;
            a = b;
            b = t;
        }
        if (comes_before(&nodes[c], &nodes[b], axis)) b = comes_before(&nodes[c], &nodes[a], axis) ? a : c;
        rbli_point_node pivot = nodes[b];
        nodes[b] = nodes[begin];
        nodes[begin] = pivot;
        size_t i = begin, j = end;
        for (;;) {
            do
                i++;
            while (i < end && comes_before(&nodes[i], &pivot, axis));
            do
                j--;
            while (comes_before(&pivot, &nodes[j], axis));
            if (i >= j) break;
            rbli_point_node swap = nodes[i];
            nodes[i] = nodes[j];
            nodes[j] = swap;
        }
        nodes[begin] = nodes[j];
        nodes[j] = pivot;
        if (j == middle) return;
        if (j < middle)
            begin = j + 1;
        else
            end = j;
    }
}

rbl_status rbli_point_tree_build(
    rbl_context *ctx, rbli_point_node *nodes, const double (*points)[3], size_t count)
{
    struct {
        size_t begin, end;
    } stack[128];
    size_t depth = 0, done = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(nodes[i].point, points[i], sizeof nodes[i].point);
        nodes[i].index = (int32_t)i;
    }
    stack[depth].begin = 0;
    stack[depth++].end = count;
    while (depth > 0) {
        size_t begin = stack[--depth].begin, end = stack[depth].end, middle = begin + (end - begin) / 2;
        double widest = -1;
        int axis = 0;
        for (int k = 0; k < 3 && end > begin; k++) {
            double low = HUGE_VAL, high = -HUGE_VAL;
            for (size_t i = begin; i < end; i++) {
                low = nodes[i].point[k] < low ? nodes[i].point[k] : low;
                high = nodes[i].point[k] > high ? nodes[i].point[k] : high;
            }
            if (high - low > widest) widest = high - low, axis = k;
        }
        if (end <= begin) continue;
        select_middle(nodes, begin, end, middle, axis);
        nodes[middle].axis = axis;
        stack[depth].begin = begin;
        stack[depth++].end = middle;
        stack[depth].begin = middle + 1;
        stack[depth++].end = end;
        done += end - begin;
        if (done > 16384) {
            if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
            done = 0;
        }
    }
    return RBL_OK;
}

typedef struct search {
    const rbli_point_node *nodes;
    rbli_point_accept accept; /* NULL: all */
    void *user;
    int32_t best;
    double near;
} search;

static void search_tree(search *s, size_t count, const double p[3])
{
    struct {
        size_t begin, end;
        double gap; /* squared distance to the part's half-space */
    } stack[128];
    size_t depth = 0;
    stack[depth].begin = 0;
    stack[depth].end = count;
    stack[depth++].gap = 0;
    while (depth > 0) {
        depth--;
        size_t begin = stack[depth].begin, end = stack[depth].end;
        if (begin >= end || stack[depth].gap > s->near) continue;
        size_t middle = begin + (end - begin) / 2;
        const rbli_point_node *node = &s->nodes[middle];
        double d = rbli_point_distance_squared(p, node->point),
               side = p[node->axis] - node->point[node->axis];
        if ((d < s->near || (d == s->near && (s->best < 0 || node->index < s->best))) &&
            (!s->accept || s->accept(s->user, node->index)))
            s->near = d, s->best = node->index;
        bool below = side < 0;
        stack[depth].begin = below ? middle + 1 : begin;
        stack[depth].end = below ? end : middle;
        stack[depth++].gap = side * side;
        stack[depth].begin = below ? begin : middle + 1;
        stack[depth].end = below ? middle : end;
        stack[depth++].gap = 0;
    }
}

int32_t rbli_point_tree_nearest(
    const rbli_point_node *nodes, size_t count, const double p[3], int32_t guess, double near)
{
    search s = {nodes, NULL, NULL, guess, near};
    search_tree(&s, count, p);
    return s.best;
}

int32_t rbli_point_tree_two_nearest(
    const rbli_point_node *nodes, size_t count, const double p[3], int32_t guess, double near, double *second)
{
    struct {
        size_t begin, end;
        double gap;
    } stack[128];
    size_t depth = 0;
    int32_t best = guess;
    *second = HUGE_VAL;
    stack[depth].begin = 0;
    stack[depth].end = count;
    stack[depth++].gap = 0;
    while (depth > 0) {
        depth--;
        size_t begin = stack[depth].begin, end = stack[depth].end;
        if (begin >= end || stack[depth].gap > *second) continue;
        size_t middle = begin + (end - begin) / 2;
        const rbli_point_node *node = &nodes[middle];
        double d = rbli_point_distance_squared(p, node->point),
               side = p[node->axis] - node->point[node->axis];
        if (node->index == best) {
            near = d;
        } else if (d < near || (d == near && node->index < best)) {
            *second = near;
            near = d;
            best = node->index;
        } else if (d < *second) {
            *second = d;
        }
        bool below = side < 0;
        stack[depth].begin = below ? middle + 1 : begin;
        stack[depth].end = below ? end : middle;
        stack[depth++].gap = side * side;
        stack[depth].begin = below ? begin : middle + 1;
        stack[depth].end = below ? middle : end;
        stack[depth++].gap = 0;
    }
    return best;
}

int32_t rbli_point_tree_nearest_accepted(
    const rbli_point_node *nodes, size_t count, const double p[3], rbli_point_accept accept, void *user)
{
    search s = {nodes, accept, user, -1, HUGE_VAL};
    search_tree(&s, count, p);
    return s.best;
}
