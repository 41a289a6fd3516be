/// One cell of the cut: gathers its triangles, makes every edge occur once, and joins corners at one place.

#include "fracture/geometry/cut_cell.h"

#include "fracture/geometry/collapse.h"

enum {
    MOST_SPLIT_ROUNDS = 16, /* back-to-back triangles need a second round */
    AHEAD = 8,              /* items that memory is asked for before they are read */
    LEAST_NUMBER_BITS = 12, /* of local numbers; stamps have the other bits of a word */
    MOST_ROWS = 256,        /* vertices whose edges are kept in rows of bits, which stay in the cache */
};

/* ---- gathering ---- */

/// The least vertex of a part; parents are lower than their children.
static int32_t find_root(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

static void unite(int32_t *parent, const int32_t v[3])
{
    int32_t a = find_root(parent, v[0]), b = find_root(parent, v[1]), c = find_root(parent, v[2]);
    int32_t least = a < b ? (a < c ? a : c) : (b < c ? b : c);
    parent[a] = parent[b] = parent[c] = least;
}

/// The lists of a cell while they grow, apart from it so that compilers keep them in registers.
typedef struct gathering {
    cut_local_numbers numbers;
    int32_t *parent;
    cut_cell_triangle *next;
    size_t capacity; /* for vertices */
} gathering;

/// Makes room for vertices in all their lists.
static rbl_status reserve_vertices(rbl_context *ctx, cut_cell *c, gathering *g, size_t extra)
{
    rbl_status status = RBL_OK;
    c->ids.count = c->positions.count = c->part_of.count = g->numbers.count;
    RBL_TRY(rbli_array_reserve(ctx, &c->ids, extra));
    RBL_TRY(rbli_array_reserve(ctx, &c->positions, extra));
    RBL_TRY(rbli_array_reserve(ctx, &c->part_of, extra));
    g->numbers.ids = c->ids.data;
    g->parent = c->part_of.data;
    g->capacity = g->numbers.count + extra;
done:
    return status;
}

/// The local number of an arrangement vertex; there is room for a new one. For corners on the mesh: most are known.
static inline int32_t local_of(gathering *g, int32_t id)
{
    cut_local_numbers *n = &g->numbers;
    uint32_t local = n->locals[id] ^ n->stamp;
    if (local > n->last) {
        local = (uint32_t)n->count++;
        n->locals[id] = n->stamp | local;
        n->ids[local] = id;
        g->parent[local] = (int32_t)local;
    }
    return (int32_t)local;
}

/// The same for corners of facets.
static inline int32_t local_of_facet(gathering *g, int32_t id)
{
    size_t count = g->numbers.count;
    g->parent[count] = (int32_t)count;
    return cut_local_of(&g->numbers, id);
}

/// Room for so many new vertices and the one that is written beyond.
static inline rbl_status reserve_corners(rbl_context *ctx, cut_cell *c, gathering *g, size_t count)
{
    return g->capacity - g->numbers.count <= count ? reserve_vertices(ctx, c, g, g->capacity / 2 + count + 1)
                                                   : RBL_OK;
}

/// Appends a triangle of local vertices and makes them one part, which they are already where that is said.
static inline void push_triangle(
    gathering *g, int32_t v0, int32_t v1, int32_t v2, int32_t source, bool weighted, bool joined)
{
    if (!joined && (g->parent[v0] != g->parent[v1] || g->parent[v1] != g->parent[v2]))
        unite(g->parent, (const int32_t[3]){v0, v1, v2});
    *g->next++ = (cut_cell_triangle){{v0, v1, v2}, source, weighted, false};
}

static inline rbl_status add_triangle(
    rbl_context *ctx, cut_cell *c, gathering *g, const int32_t corners[3], int32_t source, bool weighted)
{
    rbl_status status = reserve_corners(ctx, c, g, 3);
    if (status != RBL_OK) return status;
    int32_t v0 = local_of(g, corners[0]), v1 = local_of(g, corners[1]), v2 = local_of(g, corners[2]);
    push_triangle(g, v0, v1, v2, source, weighted, false);
    return RBL_OK;
}

/// Appends the caps of a facet as one of its sides has them. Most follow each other around a corner: two corners are
/// known then.
static inline rbl_status add_caps(
    rbl_context *ctx, const cut_state *s, cut_cell *c, gathering *g, const cut_cap_run *run, bool joined)
{
    const cut_facet_triangle *cap = cut_cap_at(s, run->first / 2), *end = cap + run->count;
    bool positive = run->first % 2;
    rbl_status status = reserve_corners(ctx, c, g, 3 * (size_t)run->count);
    if (status != RBL_OK) return status;
    int32_t source = -1 - cap->facet;
    while (cap < end) {
        const int32_t *v = cap->v;
        int32_t corner = v[0], last = v[2], apex, from, to; /* local vertices of a cap as it is stored */
        apex = local_of_facet(g, corner);                   /* in the order in which the side has them */
        if (!positive) from = local_of_facet(g, v[1]);
        to = local_of_facet(g, last);
        if (positive) from = local_of_facet(g, v[1]);
        for (;;) {
            __builtin_prefetch(cut_source(s, last));
            push_triangle(g, apex, positive ? to : from, positive ? from : to, source, false, joined);
            if (++cap == end || cap->v[0] != corner || cap->v[1] != last) break;
            last = cap->v[2];
            from = to;
            to = local_of_facet(g, last);
        }
    }
    return RBL_OK;
}

static inline void prefetch_corners(const cut_cell *c, const int32_t v[3])
{
    for (int i = 0; i < 3; i++)
        __builtin_prefetch(&c->locals[v[i]]);
}

cut_local_numbers cut_cell_begin(cut_cell *c, size_t most)
{
    int bits = c->number_bits;
    while (most >> bits > 0)
        bits++;
    c->stamp++;
    if (bits != c->number_bits || c->stamp >> (32 - bits) != 0) {
        memset(c->locals, 0, c->local_count * sizeof *c->locals);
        c->number_bits = bits;
        c->stamp = 1;
    }
    return (cut_local_numbers){c->locals, c->stamp << bits, ((uint32_t)1 << bits) - 1, c->ids.data, 0};
}

static rbl_status gather(rbl_context *ctx, const cut_state *s, const cut_items *items, cut_cell *c)
{
    rbl_status status = RBL_OK;
    size_t count = items->untouched_count + items->face_count + items->cap_count;
    gathering g = {.numbers = cut_cell_begin(c, 3 * count < c->local_count ? 3 * count : c->local_count)};
    c->triangles.count = c->middles.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->triangles, count));
    RBL_TRY(reserve_vertices(ctx, c, &g, count / 2 + 8)); /* what a closed surface has, and a little */
    g.next = c->triangles.data;
    for (size_t i = 0; i < items->untouched_count; i++) {
        const int32_t *item = items->untouched + i;
        if (i + 2 * AHEAD < items->untouched_count) {
            __builtin_prefetch(s->mesh_view->triangles[item[2 * AHEAD]]);
            prefetch_corners(c, s->mesh_view->triangles[item[AHEAD]]);
        }
        RBL_TRY(add_triangle(ctx, c, &g, s->mesh_view->triangles[*item], *item, false));
    }
    for (size_t i = 0; i < items->face_count; i++) {
        const int32_t *item = items->faces + i;
        const cut_face *face = &s->faces[*item];
        if (i + 2 * AHEAD < items->face_count) {
            __builtin_prefetch(&s->faces[item[2 * AHEAD]]);
            prefetch_corners(c, s->faces[item[AHEAD]].v);
        }
        RBL_TRY(add_triangle(ctx, c, &g, face->v, face->source, true));
    }
    c->cap_first = items->untouched_count + items->face_count;
    bool joined = c->cap_first == 0 && s->complex_view->convex; /* all of a convex cell: it is one part */
    for (size_t i = 0; i < items->run_count; i++)
        RBL_TRY(joined ? add_caps(ctx, s, c, &g, &items->runs[i], true)
                       : add_caps(ctx, s, c, &g, &items->runs[i], false));
    size_t vertex_count = g.numbers.count;
    if (joined) memset(g.parent, 0, vertex_count * sizeof *g.parent);
    c->triangles.count = count;
    c->ids.count = c->positions.count = c->part_of.count = vertex_count;
    /* Apart from the above, so that many are on their way at once. */
    for (size_t v = 0; v < vertex_count; v++)
        memcpy(c->positions.data[v].at, cut_source(s, g.numbers.ids[v]), sizeof(double[3]));
done:
    return status;
}

/* ---- edges that occur twice ---- */

static cut_edge_slot *find_slot(cut_cell *c, int32_t low, int32_t high)
{
    uint32_t x = (uint32_t)low * 0x9e3779b1u ^ (uint32_t)high * 0x85ebca6bu;
    size_t i = (x ^ x >> 15) & (c->slots.count - 1);
    while (c->slots.data[i].low >= 0 && (c->slots.data[i].low != low || c->slots.data[i].high != high))
        i = (i + 1) & (c->slots.count - 1);
    return &c->slots.data[i];
}

static inline bool is_mesh_id(const cut_state *s, int32_t id)
{
    return (uint32_t)id < (uint32_t)s->mesh_view->vertex_count;
}

static bool is_mesh_vertex(const cut_state *s, const cut_cell *c, int32_t local)
{
    return is_mesh_id(s, c->ids.data[local]);
}

/// Counts the half-edges of all triangles but the untouched ones; `*doubled` tells whether an edge occurs
/// twice.
static rbl_status count_edges(rbl_context *ctx, const cut_state *s, cut_cell *c, size_t first, bool *doubled)
{
    rbl_status status = RBL_OK;
    size_t half_count = 3 * (c->triangles.count - first), size = 16;
    while (size < half_count)
        size *= 2;
    c->slots.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->slots, size));
    c->slots.count = size;
    for (size_t i = 0; i < size; i++)
        c->slots.data[i] = (cut_edge_slot){-1, -1, {0, 0}};
    *doubled = false;
    for (size_t t = first; t < c->triangles.count; t++)
        for (int i = 0; i < 3; i++) {
            int32_t from = c->triangles.data[t].v[i], to = c->triangles.data[t].v[i == 2 ? 0 : i + 1];
            int32_t low = from < to ? from : to, high = from < to ? to : from;
            cut_edge_slot *slot = find_slot(c, low, high);
            slot->low = low;
            slot->high = high;
            if (slot->count[from > to]++ > 0) *doubled = true;
        }
    for (size_t i = 0; i < size; i++) {
        const cut_edge_slot *slot = &c->slots.data[i];
        if (slot->count[0] == slot->count[1]) continue;
        if (!is_mesh_vertex(s, c, slot->low) || !is_mesh_vertex(s, c, slot->high))
            return rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: a piece is not closed at arrangement edge %d–%d",
                c->ids.data[slot->low], c->ids.data[slot->high]);
    }
done:
    return status;
}

static rbl_status add_middle(rbl_context *ctx, cut_cell *c, int32_t a, int32_t b, int32_t *middle)
{
    rbl_status status = RBL_OK;
    cut_point m;
    for (int axis = 0; axis < 3; axis++)
        m.at[axis] = 0.5 * (c->positions.data[a].at[axis] + c->positions.data[b].at[axis]);
    *middle = (int32_t)c->ids.count;
    RBL_TRY(rbli_array_push(ctx, &c->ids, -1 - (int32_t)c->middles.count));
    RBL_TRY(rbli_array_push(ctx, &c->positions, m));
    RBL_TRY(rbli_array_push(ctx, &c->part_of, a));
    RBL_TRY(rbli_array_push(ctx, &c->middles, ((cut_middle){{a, b}})));
done:
    return status;
}

/// Gives every further occurrence of an edge a middle point, shared by the two triangles there.
static rbl_status choose_middles(rbl_context *ctx, cut_cell *c, size_t first)
{
    rbl_status status = RBL_OK;
    size_t half_count = 3 * (c->triangles.count - first);
    RBL_TRY(rbli_array_reserve(ctx, &c->half_middles, half_count));
    RBL_TRY(rbli_array_reserve(ctx, &c->halves, half_count));
    RBL_TRY(rbli_array_reserve(ctx, &c->first_halves, c->slots.count));
    for (size_t h = 0; h < half_count; h++)
        c->half_middles.data[h] = -1;
    for (size_t i = 0; i < c->slots.count; i++)
        c->first_halves.data[i] = -1;
    /* Lists of the half-edges of doubled edges, in order, both directions in one. */
    for (size_t h = half_count; h-- > 0;) {
        const int32_t *v = c->triangles.data[first + h / 3].v;
        int32_t from = v[h % 3], to = v[(h + 1) % 3];
        cut_edge_slot *slot = find_slot(c, from < to ? from : to, from < to ? to : from);
        if (slot->count[0] < 2 && slot->count[1] < 2) continue;
        int32_t *head = &c->first_halves.data[slot - c->slots.data];
        c->halves.data[h] = *head;
        *head = (int32_t)h;
    }
    for (size_t i = 0; i < c->slots.count; i++) {
        const cut_edge_slot *slot = &c->slots.data[i];
        if (slot->count[0] < 2 && slot->count[1] < 2) continue;
        /* The k-th half-edge up meets the k-th down; the last pair stays as it is. */
        int32_t up = c->first_halves.data[i], down = up;
        int pairs = slot->count[0] < slot->count[1] ? slot->count[0] : slot->count[1];
        int extra = slot->count[0] == slot->count[1] ? 1 : 0;
        for (int k = 0; k < pairs - extra; k++) {
            while (c->triangles.data[first + (size_t)up / 3].v[up % 3] != slot->low)
                up = c->halves.data[up];
            while (c->triangles.data[first + (size_t)down / 3].v[down % 3] != slot->high)
                down = c->halves.data[down];
            int32_t middle;
            RBL_TRY(add_middle(ctx, c, slot->low, slot->high, &middle));
            c->half_middles.data[up] = c->half_middles.data[down] = middle;
            up = c->halves.data[up];
            down = c->halves.data[down];
            c->split_count++;
        }
    }
done:
    return status;
}

/// Replaces a triangle by the fan of its outline with middle points. The first part takes its place, so that
/// a cap is still found at its number; the others go to the end.
static rbl_status split_triangle(rbl_context *ctx, cut_cell *c, size_t index, const int32_t middle[3])
{
    rbl_status status = RBL_OK;
    cut_cell_triangle old = c->triangles.data[index];
    int32_t outline[6];
    int count = 0, start = 0;
    for (int i = 0; i < 3; i++) {
        outline[count++] = old.v[i];
        if (middle[i] >= 0) {
            start = count; /* fan from a middle point: no flat triangle */
            outline[count++] = middle[i];
        }
    }
    bool first = true;
    for (int i = 1; i + 1 < count; i++) {
        cut_cell_triangle t = old;
        t.v[0] = outline[start];
        t.v[1] = outline[(start + i) % count];
        t.v[2] = outline[(start + i + 1) % count];
        t.weighted = old.source >= 0;
        if (first)
            c->triangles.data[index] = t;
        else
            RBL_TRY(rbli_array_push(ctx, &c->triangles, t));
        first = false;
    }
done:
    return status;
}

/// Notes each half-edge in two tables of rows of bits, at its start that it leads to its end, at its end that it comes
/// from its start. @param shift  log2 of the words of a row. @return whether one occurs twice
static inline bool note_half_edges(
    const cut_cell *c, size_t first, uint64_t *leads, uint64_t *comes, int shift)
{
    const cut_cell_triangle *triangles = c->triangles.data;
    uint64_t twice = 0;
    for (size_t t = first; t < c->triangles.count; t++) {
        size_t v[3] = {(size_t)triangles[t].v[0], (size_t)triangles[t].v[1], (size_t)triangles[t].v[2]};
        for (int i = 0; i < 3; i++) {
            size_t from = v[i], to = v[i == 2 ? 0 : i + 1];
            uint64_t *row = leads + (from << shift) + (shift ? to >> 6 : 0), bit = (uint64_t)1 << (to & 63);
            twice |= *row & bit;
            *row |= bit;
            comes[(to << shift) + (shift ? from >> 6 : 0)] |= (uint64_t)1 << (from & 63);
        }
    }
    return twice;
}

/// Whether each edge of a cell of few vertices occurs once in each direction. Edges between mesh vertices may have
/// partners among the untouched triangles.
static rbl_status check_single_rows(
    rbl_context *ctx, const cut_state *s, cut_cell *c, size_t first, bool *single)
{
    rbl_status status = RBL_OK;
    size_t vertex_count = c->ids.count;
    int shift = vertex_count <= 64 ? 0 : vertex_count <= 128 ? 1 : 2;
    size_t words = (size_t)1 << shift, size = (2 * vertex_count + 1) * words;
    uint64_t open = 0;
    c->table.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->table, size));
    uint64_t *leads = c->table.data, *comes = leads + vertex_count * words,
             *mesh = comes + vertex_count * words;
    memset(leads, 0, size * sizeof *leads);
    bool twice = shift == 0 ? note_half_edges(c, first, leads, comes, 0)
                            : note_half_edges(c, first, leads, comes, shift);
    for (size_t v = 0; v < vertex_count; v++)
        mesh[v >> 6] |= (uint64_t)is_mesh_vertex(s, c, (int32_t)v) << (v & 63);
    for (size_t v = 0; v < vertex_count; v++) {
        uint64_t exempt = 0 - (mesh[v >> 6] >> (v & 63) & 1);
        for (size_t w = 0; w < words; w++)
            open |= (leads[(v << shift) + w] ^ comes[(v << shift) + w]) & ~(exempt & mesh[w]);
    }
    *single = !twice && open == 0;
done:
    return status;
}

/// The same for many vertices. Half-edges between mesh vertices are told apart by direction; of the others it is
/// enough to look at one direction once all cancel out (in a sum of hashes: an open piece, which would be a fault
/// of the phases before, is overlooked with a chance of 2^-64).
static rbl_status check_single_hashed(
    rbl_context *ctx, const cut_state *s, cut_cell *c, size_t first, bool *single)
{
    static const uint64_t odd = 0x9e3779b97f4a7c15u, free_slot = UINT64_MAX;
    rbl_status status = RBL_OK;
    size_t half_count = 3 * (c->triangles.count - first), size = 16, count = 0;
    uint64_t sum = 0;
    const int32_t *ids = c->ids.data;
    c->keys.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->keys, half_count + 1));
    uint64_t *keys = c->keys.data;
    for (size_t t = first; t < c->triangles.count; t++) {
        const int32_t *v = c->triangles.data[t].v;
        uint64_t mesh[3];
        for (int i = 0; i < 3; i++)
            mesh[i] = is_mesh_id(s, ids[v[i]]);
        for (int i = 0; i < 3; i++) {
            int n = i == 2 ? 0 : i + 1;
            uint64_t from = (uint32_t)v[i], to = (uint32_t)v[n], up = from < to, apart = mesh[i] & mesh[n];
            uint64_t key = up ? from << 32 | to : to << 32 | from, mixed = key * odd;
            mixed = (mixed ^ mixed >> 32) * odd;
            sum += (mixed & (apart - 1)) * (2 * up - 1);
            keys[count] = key | (apart & up) << 63;
            count += apart | up;
        }
    }
    while (size < 2 * count)
        size *= 2;
    RBL_TRY(rbli_array_reserve(ctx, &c->table, size));
    uint64_t *table = c->table.data;
    memset(table, 0xff, size * sizeof *table);
    *single = sum == 0;
    for (size_t i = 0; i < count && *single; i++) {
        uint64_t key = keys[i], mixed = key * odd;
        size_t at = (mixed ^ mixed >> 32) & (size - 1);
        while (table[at] != free_slot && table[at] != key)
            at = (at + 1) & (size - 1);
        *single = table[at] != key;
        table[at] = key;
    }
done:
    return status;
}

static rbl_status separate_edges(rbl_context *ctx, const cut_state *s, cut_cell *c, size_t first)
{
    rbl_status status = RBL_OK;
    bool single; /* no table of edges is needed then */
    RBL_TRY((c->ids.count <= MOST_ROWS ? check_single_rows : check_single_hashed)(ctx, s, c, first, &single));
    if (single) return RBL_OK;
    for (int round = 0; round < MOST_SPLIT_ROUNDS; round++) {
        bool doubled;
        RBL_TRY(count_edges(ctx, s, c, first, &doubled));
        if (!doubled) return RBL_OK;
        RBL_TRY(choose_middles(ctx, c, first));
        size_t count = c->triangles.count;
        for (size_t i = first; i < count; i++) {
            const int32_t *middle = c->half_middles.data + 3 * (i - first);
            int32_t copy[3] = {middle[0], middle[1], middle[2]};
            if (copy[0] >= 0 || copy[1] >= 0 || copy[2] >= 0) RBL_TRY(split_triangle(ctx, c, i, copy));
        }
    }
    status = rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: a piece keeps doubled edges");
done:
    return status;
}

/* ---- all of it ---- */

/// Joins the ends of edges of length zero; dropped triangles and joined vertices stay in the lists, marked.
static rbl_status collapse_edges(rbl_context *ctx, const cut_state *s, cut_cell *c)
{
    rbl_status status = RBL_OK;
    rbli_arena arena;
    rbli_arena_init(&arena, ctx);
    c->kept.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &c->kept, c->ids.count));
    c->kept.count = c->ids.count;
    for (size_t v = 0; v < c->ids.count; v++)
        c->kept.data[v] = (int32_t)v;
    if (!c->has_zero_edge) goto done;
    uint8_t *prefer = rbli_arena_alloc(&arena, c->ids.count, 1);
    int32_t(*triangles)[3] = rbli_arena_alloc(&arena, c->triangles.count, sizeof *triangles);
    bool *dropped = rbli_arena_alloc(&arena, c->triangles.count, 1);
    RBL_TRY_ALLOC(prefer);
    RBL_TRY_ALLOC(triangles);
    RBL_TRY_ALLOC(dropped);
    for (size_t v = 0; v < c->ids.count; v++)
        prefer[v] = is_mesh_vertex(s, c, (int32_t)v) ? 2 : c->ids.data[v] >= 0;
    for (size_t t = 0; t < c->triangles.count; t++) {
        memcpy(triangles[t], c->triangles.data[t].v, sizeof *triangles);
        dropped[t] = false;
    }
    RBL_TRY(rbli_collapse_zero_edges(&arena, (const double(*)[3])c->positions.data, c->ids.count, prefer,
        triangles, c->triangles.count, dropped, c->kept.data));
    for (size_t t = 0; t < c->triangles.count; t++) {
        c->triangles.data[t].dropped = dropped[t];
        if (!dropped[t]) memcpy(c->triangles.data[t].v, triangles[t], sizeof *triangles);
    }
done:
    rbli_arena_free(&arena);
    return status;
}

rbl_status cut_cell_init(rbl_context *ctx, cut_cell *c, size_t arrangement_vertex_count)
{
    c->locals = rbli_alloc(ctx, arrangement_vertex_count, sizeof *c->locals);
    if (!c->locals) return RBL_ERR_NO_MEMORY;
    c->local_count = arrangement_vertex_count;
    c->number_bits = LEAST_NUMBER_BITS;
    return cut_fill(ctx, c->locals, 0, arrangement_vertex_count * sizeof *c->locals);
}

void cut_cell_free(rbl_context *ctx, cut_cell *c)
{
    void *arrays[] = {c->locals, c->triangles.data, c->ids.data, c->positions.data, c->part_of.data,
        c->middles.data, c->kept.data, c->parts.data, c->pieces.data, c->slots.data, c->first_halves.data,
        c->halves.data, c->half_middles.data, c->keys.data, c->table.data, c->windings.data, c->touched.data};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
}

rbl_status cut_cell_build(rbl_context *ctx, const cut_state *state, const cut_items *items, cut_cell *cell)
{
    rbl_status status = RBL_OK;
    RBL_TRY(gather(ctx, state, items, cell));
    if (!state->contacts_only) RBL_TRY(separate_edges(ctx, state, cell, items->untouched_count));
    RBL_TRY(cut_cell_find_pieces(ctx, state, cell));
    cell->whole =
        cell->parts.count == 1 && cell->pieces.count == 1 && cell->middles.count == 0 && !cell->has_zero_edge;
    if (!cell->whole) RBL_TRY(collapse_edges(ctx, state, cell));
done:
    return status;
}
