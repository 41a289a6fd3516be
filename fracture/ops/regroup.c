/// Regrouping the pieces of a cut.

#include "fracture/ops/regroup.h"

#include <stdlib.h>

#include "fracture/base/alloc.h"

static int compare_contacts(const void *pa, const void *pb)
{
    const rbli_contact *a = pa, *b = pb;
    if (a->piece_a != b->piece_a) return a->piece_a < b->piece_a ? -1 : 1;
    if (a->piece_b != b->piece_b) return a->piece_b < b->piece_b ? -1 : 1;
    return a->area < b->area ? -1 : a->area > b->area;
}

/// Sorts contacts and adds up those of one pair. @return how many are left
static size_t merge_contacts(rbli_contact *contacts, size_t count)
{
    size_t kept = 0;
    if (count) qsort(contacts, count, sizeof *contacts, compare_contacts);
    for (size_t i = 0; i < count; i++) {
        rbli_contact *last = kept ? &contacts[kept - 1] : NULL;
        if (last && last->piece_a == contacts[i].piece_a && last->piece_b == contacts[i].piece_b)
            last->area += contacts[i].area;
        else
            contacts[kept++] = contacts[i];
    }
    return kept;
}

static void set_contact(rbli_contact *contact, int32_t a, int32_t b, double area)
{
    *contact = (rbli_contact){a < b ? a : b, a < b ? b : a, area};
}

/// The arrays of a result that regrouping lays out anew.
typedef struct fresh {
    int32_t *cell, *vertex_start, *triangle_start, *vertex_source, *source, *weights_index;
    double *volume, (*positions)[3];
    int32_t (*triangles)[3];
} fresh;

static rbl_status alloc_fresh(rbl_context *ctx, const rbli_cut_result *r, fresh *n)
{
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(n->cell = rbli_alloc(ctx, r->piece_count, sizeof *n->cell));
    RBL_TRY_ALLOC(n->volume = rbli_alloc(ctx, r->piece_count, sizeof *n->volume));
    RBL_TRY_ALLOC(n->vertex_start = rbli_alloc(ctx, r->piece_count + 1, sizeof *n->vertex_start));
    RBL_TRY_ALLOC(n->triangle_start = rbli_alloc(ctx, r->piece_count + 1, sizeof *n->triangle_start));
    RBL_TRY_ALLOC(n->positions = rbli_alloc(ctx, r->vertex_count, sizeof *n->positions));
    RBL_TRY_ALLOC(n->vertex_source = rbli_alloc(ctx, r->vertex_count, sizeof *n->vertex_source));
    RBL_TRY_ALLOC(n->triangles = rbli_alloc(ctx, r->triangle_count, sizeof *n->triangles));
    RBL_TRY_ALLOC(n->source = rbli_alloc(ctx, r->triangle_count, sizeof *n->source));
    RBL_TRY_ALLOC(n->weights_index = rbli_alloc(ctx, r->triangle_count, sizeof *n->weights_index));
done:
    return status;
}

static void free_fresh(rbl_context *ctx, fresh *n)
{
    void *arrays[] = {n->cell, n->vertex_start, n->triangle_start, n->vertex_source, n->source,
        n->weights_index, n->volume, n->positions, n->triangles};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
}

/// Copies piece p behind the `vertices` and `triangles` written so far.
static void append_piece(const rbli_cut_result *r, size_t p, fresh *n, size_t *vertices, size_t *triangles)
{
    int32_t first = r->vertex_start[p], count = r->vertex_start[p + 1] - first;
    int32_t shift = (int32_t)*vertices - first;
    memcpy(n->positions + *vertices, r->positions + first, (size_t)count * sizeof *n->positions);
    memcpy(n->vertex_source + *vertices, r->vertex_source + first, (size_t)count * sizeof *n->vertex_source);
    *vertices += (size_t)count;
    for (int32_t t = r->triangle_start[p]; t < r->triangle_start[p + 1]; t++, ++*triangles) {
        for (int k = 0; k < 3; k++)
            n->triangles[*triangles][k] = r->triangles[t][k] + shift;
        n->source[*triangles] = r->origins.source[t];
        n->weights_index[*triangles] = r->origins.weights_index[t];
    }
}

static void take_fresh(rbl_context *ctx, rbli_cut_result *r, fresh *n)
{
    fresh old = {r->piece_cell, r->vertex_start, r->triangle_start, r->vertex_source, r->origins.source,
        r->origins.weights_index, r->piece_volume, r->positions, r->triangles};
    r->piece_cell = n->cell;
    r->piece_volume = n->volume;
    r->vertex_start = n->vertex_start;
    r->triangle_start = n->triangle_start;
    r->positions = n->positions;
    r->vertex_source = n->vertex_source;
    r->triangles = n->triangles;
    r->origins.source = n->source;
    r->origins.weights_index = n->weights_index;
    *n = (fresh){0};
    free_fresh(ctx, &old);
}

/// Numbers groups by their first piece: `number` [piece_count], −1 for dropped pieces.
static rbl_status number_groups(
    rbl_context *ctx, const int32_t *group, size_t count, int32_t *number, size_t *group_count)
{
    int32_t most = -1;
    for (size_t p = 0; p < count; p++)
        most = group[p] > most ? group[p] : most;
    int32_t *of_group = rbli_alloc(ctx, (size_t)(most + 1), sizeof *of_group);
    if (!of_group) return RBL_ERR_NO_MEMORY;
    memset(of_group, 0xff, (size_t)(most + 1) * sizeof *of_group);
    *group_count = 0;
    for (size_t p = 0; p < count; p++) {
        if (group[p] >= 0 && of_group[group[p]] < 0) of_group[group[p]] = (int32_t)(*group_count)++;
        number[p] = group[p] < 0 ? -1 : of_group[group[p]];
    }
    rbli_free(ctx, of_group);
    return RBL_OK;
}

rbl_status rbli_regroup_pieces(rbl_context *ctx, rbli_cut_result *r, const int32_t *group)
{
    rbl_status status = RBL_OK;
    fresh n = {0};
    int32_t *number = NULL, *next = NULL, *head = NULL;
    size_t group_count = 0, vertices = 0, triangles = 0, contacts = 0;
    RBL_TRY_ALLOC(number = rbli_alloc(ctx, r->piece_count, sizeof *number));
    RBL_TRY_ALLOC(next = rbli_alloc(ctx, r->piece_count, sizeof *next));
    RBL_TRY_ALLOC(head = rbli_alloc(ctx, r->piece_count, sizeof *head));
    RBL_TRY(number_groups(ctx, group, r->piece_count, number, &group_count));
    RBL_TRY(alloc_fresh(ctx, r, &n));
    for (size_t g = 0; g < group_count; g++)
        head[g] = -1;
    for (size_t p = r->piece_count; p-- > 0;) /* lists of members, ascending */
        if (number[p] >= 0) {
            next[p] = head[number[p]];
            head[number[p]] = (int32_t)p;
        }
    for (size_t g = 0; g < group_count; g++) {
        n.cell[g] = r->piece_cell[head[g]];
        n.volume[g] = 0;
        n.vertex_start[g] = (int32_t)vertices;
        n.triangle_start[g] = (int32_t)triangles;
        for (int32_t p = head[g]; p >= 0; p = next[p]) {
            n.volume[g] += r->piece_volume[p];
            append_piece(r, (size_t)p, &n, &vertices, &triangles);
        }
    }
    n.vertex_start[group_count] = (int32_t)vertices;
    n.triangle_start[group_count] = (int32_t)triangles;
    for (size_t i = 0; i < r->contact_count; i++) {
        int32_t a = number[r->contacts[i].piece_a], b = number[r->contacts[i].piece_b];
        if (a >= 0 && b >= 0 && a != b) set_contact(&r->contacts[contacts++], a, b, r->contacts[i].area);
    }
    r->contact_count = merge_contacts(r->contacts, contacts);
    take_fresh(ctx, r, &n);
    r->piece_count = group_count;
    r->vertex_count = vertices;
    r->triangle_count = triangles;
done:
    free_fresh(ctx, &n);
    rbli_free(ctx, number);
    rbli_free(ctx, next);
    rbli_free(ctx, head);
    return status;
}

/* ---- contacts across gaps ---- */

/// Matches pieces with gaps to pieces without.
typedef struct matching {
    const rbli_cut_result *result, *whole;
    int32_t *first_of_site; /* first whole piece of each site's cell, or −1 */
    size_t site_count;
    int32_t *owner;  /* per mesh triangle: the whole piece of the present cell that has a part of it */
    int32_t *votes;  /* [whole pieces] */
    int32_t *target; /* [pieces] the whole piece, or −1 */
} matching;

/// The whole piece that a piece was a part of, out of those of its cell.
static int32_t match_piece(const matching *m, size_t p, int32_t first, int32_t end)
{
    const rbli_cut_result *r = m->result;
    int32_t best = first;
    for (int32_t w = first; w < end; w++) {
        m->votes[w] = 0;
        if (m->whole->piece_volume[w] > m->whole->piece_volume[best]) best = w;
    }
    for (int32_t t = r->triangle_start[p]; t < r->triangle_start[p + 1]; t++) {
        int32_t source = r->origins.source[t];
        if (source < 0 || m->owner[source] < first || m->owner[source] >= end) continue;
        m->votes[m->owner[source]]++;
    }
    for (int32_t w = first; w < end; w++)
        if (m->votes[w] > m->votes[best]) best = w;
    return best;
}

static void match_pieces(const matching *m, const int32_t *sites)
{
    const rbli_cut_result *r = m->result, *whole = m->whole;
    int32_t cell = -1, first = 0, end = 0;
    for (size_t p = 0; p < r->piece_count; p++) {
        int32_t site = sites[r->piece_cell[p]];
        m->target[p] = -1;
        if (site < 0 || (size_t)site >= m->site_count || m->first_of_site[site] < 0) continue;
        if (r->piece_cell[p] != cell) {
            cell = r->piece_cell[p];
            first = end = m->first_of_site[site];
            while ((size_t)end < whole->piece_count && whole->piece_cell[end] == whole->piece_cell[first])
                end++;
            for (int32_t w = first; w < end && end - first > 1; w++)
                for (int32_t t = whole->triangle_start[w]; t < whole->triangle_start[w + 1]; t++)
                    if (whole->origins.source[t] >= 0) m->owner[whole->origins.source[t]] = w;
        }
        m->target[p] = end - first > 1 ? match_piece(m, p, first, end) : first;
    }
}

/// The whole contacts, each for all pairs of pieces of its two.
static rbl_status spread_contacts(rbl_context *ctx, rbli_cut_result *r, const matching *m,
    const int32_t *head, const int32_t *next, const double *volume)
{
    rbl_status status = RBL_OK;
    RBLI_ARRAY(rbli_contact) made = {0};
    for (size_t i = 0; i < m->whole->contact_count; i++) {
        const rbli_contact *c = &m->whole->contacts[i];
        for (int32_t p = head[c->piece_a]; p >= 0; p = next[p])
            for (int32_t q = head[c->piece_b]; q >= 0; q = next[q]) {
                double part =
                    r->piece_volume[p] / volume[c->piece_a] * (r->piece_volume[q] / volume[c->piece_b]);
                rbli_contact contact;
                set_contact(&contact, p, q, c->area * part);
                RBL_TRY(rbli_array_push(ctx, &made, contact));
            }
    }
    rbli_free(ctx, r->contacts);
    r->contacts = made.data;
    r->contact_count = merge_contacts(made.data, made.count);
    made.data = NULL;
done:
    rbli_free(ctx, made.data);
    return status;
}

rbl_status rbli_contacts_across_gaps(rbl_context *ctx, rbli_cut_result *r, const int32_t *sites,
    const rbli_cut_result *whole, const int32_t *whole_sites, size_t mesh_triangle_count)
{
    rbl_status status = RBL_OK;
    matching m = {.result = r, .whole = whole};
    int32_t *head = NULL, *next = NULL;
    double *volume = NULL;
    for (size_t w = 0; w < whole->piece_count; w++) {
        int32_t site = whole_sites[whole->piece_cell[w]];
        if (site >= 0 && (size_t)site >= m.site_count) m.site_count = (size_t)site + 1;
    }
    RBL_TRY_ALLOC(m.first_of_site = rbli_alloc(ctx, m.site_count, sizeof(int32_t)));
    RBL_TRY_ALLOC(m.owner = rbli_alloc(ctx, mesh_triangle_count, sizeof(int32_t)));
    RBL_TRY_ALLOC(m.votes = rbli_alloc(ctx, whole->piece_count, sizeof(int32_t)));
    RBL_TRY_ALLOC(m.target = rbli_alloc(ctx, r->piece_count, sizeof(int32_t)));
    RBL_TRY_ALLOC(head = rbli_alloc(ctx, whole->piece_count, sizeof *head));
    RBL_TRY_ALLOC(next = rbli_alloc(ctx, r->piece_count, sizeof *next));
    RBL_TRY_ALLOC(volume = rbli_calloc(ctx, whole->piece_count, sizeof *volume));
    memset(m.first_of_site, 0xff, m.site_count * sizeof(int32_t));
    memset(m.owner, 0xff, mesh_triangle_count * sizeof(int32_t));
    for (size_t w = whole->piece_count; w-- > 0;) {
        int32_t site = whole_sites[whole->piece_cell[w]];
        if (site >= 0) m.first_of_site[site] = (int32_t)w;
        head[w] = -1;
    }
    match_pieces(&m, sites);
    for (size_t p = r->piece_count; p-- > 0;) {
        int32_t w = m.target[p];
        if (w < 0) continue;
        next[p] = head[w];
        head[w] = (int32_t)p;
        volume[w] += r->piece_volume[p];
    }
    status = spread_contacts(ctx, r, &m, head, next, volume);
done:
    rbli_free(ctx, m.first_of_site);
    rbli_free(ctx, m.owner);
    rbli_free(ctx, m.votes);
    rbli_free(ctx, m.target);
    rbli_free(ctx, head);
    rbli_free(ctx, next);
    rbli_free(ctx, volume);
    return status;
}
