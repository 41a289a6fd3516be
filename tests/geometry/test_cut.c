#include "tests/geometry/cut_help.h"

#include "fracture/base/hash.h"

static rbli_hash hash_result(const rbli_cut_result *r)
{
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    rbli_hasher_add(&hasher, r->piece_cell, r->piece_count * sizeof *r->piece_cell);
    rbli_hasher_add(&hasher, r->piece_volume, r->piece_count * sizeof *r->piece_volume);
    rbli_hasher_add(&hasher, r->vertex_start, (r->piece_count + 1) * sizeof *r->vertex_start);
    rbli_hasher_add(&hasher, r->triangle_start, (r->piece_count + 1) * sizeof *r->triangle_start);
    rbli_hasher_add(&hasher, r->positions, r->vertex_count * sizeof *r->positions);
    rbli_hasher_add(&hasher, r->vertex_source, r->vertex_count * sizeof *r->vertex_source);
    rbli_hasher_add(&hasher, r->triangles, r->triangle_count * sizeof *r->triangles);
    rbli_hasher_add(&hasher, r->origins.source, r->triangle_count * sizeof(int32_t));
    rbli_hasher_add(&hasher, r->origins.weights_index, r->triangle_count * sizeof(int32_t));
    rbli_hasher_add(&hasher, r->origins.weights, r->origins.weights_count * sizeof *r->origins.weights);
    for (size_t i = 0; i < r->contact_count; i++) {
        rbli_hasher_add(&hasher, &r->contacts[i].piece_a, sizeof(int32_t));
        rbli_hasher_add(&hasher, &r->contacts[i].piece_b, sizeof(int32_t));
        rbli_hasher_add(&hasher, &r->contacts[i].area, sizeof(double));
    }
    return rbli_hasher_end(&hasher);
}

/// Whether two numbers are alike up to rounding, of which both may have a size's worth.
static bool alike(double a, double b, double size)
{
    return fabs(a - b) <= 0x1p-40 * (fabs(a) + fabs(b)) + 0x1p-60 * size;
}

/// Makes volumes and areas of one result those of another, which may be rounded otherwise.
static void take_measures(const rbli_cut_result *from, rbli_cut_result *to)
{
    double volume = 0;
    assert_int_equal(from->piece_count, to->piece_count);
    assert_int_equal(from->contact_count, to->contact_count);
    for (size_t p = 0; p < from->piece_count; p++)
        volume += fabs(from->piece_volume[p]);
    for (size_t p = 0; p < from->piece_count; p++) {
        assert_true(alike(from->piece_volume[p], to->piece_volume[p], volume));
        to->piece_volume[p] = from->piece_volume[p];
    }
    for (size_t c = 0; c < from->contact_count; c++) {
        assert_true(alike(from->contacts[c].area, to->contacts[c].area, cbrt(volume) * cbrt(volume)));
        to->contacts[c].area = from->contacts[c].area;
    }
}

/// The short ways through convex cells, taken or not, give the same pieces; they must hold for any closed cell.
static void check_without_short_ways(
    rbl_context *ctx, const rbli_mesh_view *view, const rbli_cell_complex *k, const rbli_cut_result *result)
{
    rbli_cell_complex plain = *k;
    rbli_cut_result *again = NULL;
    plain.convex = !k->convex && k->cell_count > 0;
    assert_ok(ctx, rbli_cut(ctx, view, &plain, NULL, &again));
    take_measures(result, again);
    assert_true(rbli_hash_equal(hash_result(result), hash_result(again)));
    rbli_cut_result_destroy(ctx, again);
}

/// Cuts and checks; the caller destroys the result.
static rbli_cut_result *cut_checked(rbl_context *ctx, const test_mesh *mesh, const rbli_cell_complex *k,
    bool sound, const char *family, uint32_t seed)
{
    rbli_mesh_view view = view_of(mesh);
    rbli_cut_result *result = NULL;
    rbl_status status = rbli_cut(ctx, &view, k, NULL, &result);
    const char *fault = status == RBL_OK ? result_fault(&view, result, sound) : rbl_status_text(status);
    if (fault) {
        print_error("%s, seed %u: %s\n", family, seed, fault);
        print_messages(ctx);
        fail();
    }
    check_without_short_ways(ctx, &view, k, result);
    return result;
}

static double contact_area(const rbli_cut_result *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->contact_count; i++)
        sum += r->contacts[i].area;
    return sum;
}

/* ---- exact cases ---- */

static const double LATTICE[] = {-0.5, 0, 1, 2, 3, 3.5};

static void box_on_its_own_lattice_gives_unit_cubes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_box(0, 0, 0, 3, 3, 3);
    rbli_cell_complex *k =
        make_boxes(ctx, (const double *const[]){LATTICE, LATTICE, LATTICE}, (int[]){6, 6, 6}, 0, 0);
    assert_ok(ctx, rbli_cell_complex_check(ctx, k));
    rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "lattice box", 0);
    assert_int_equal(r->piece_count, 27);
    assert_int_equal(r->film_count, 0);
    assert_int_equal(r->contact_count, 54);
    for (size_t p = 0; p < 27; p++)
        assert_close(r->piece_volume[p], 1, 1e-14);
    for (size_t c = 0; c < 54; c++)
        assert_close(r->contacts[c].area, 1, 1e-14);
    rbli_cut_result_destroy(ctx, r);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void one_cell_leaves_the_mesh_as_it_was(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_sphere(8, 1, 0.1);
    const double wide[] = {-2, 2};
    rbli_cell_complex *k = make_boxes(ctx, (const double *const[]){wide, wide, wide}, (int[]){2, 2, 2}, 0, 0);
    rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "one cell", 0);
    assert_int_equal(r->piece_count, 1);
    assert_int_equal(r->triangle_count, mesh.triangle_count);
    assert_int_equal(r->origins.weights_count, 0);
    assert_int_equal(r->contact_count, 0);
    rbli_cut_result_destroy(ctx, r);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void cavities_stay_with_what_holds_them(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_box(0, 0, 0, 4, 4, 4);
    test_mesh hollow = make_box(1, 1, 1, 3, 3, 3), ball = make_box(1.5, 1.5, 1.5, 2.5, 2.5, 2.5);
    mesh_append(&mesh, &hollow, true);
    mesh_append(&mesh, &ball, false);
    const double wide[] = {-1, 5}, halves[] = {-1, 0.5, 5};
    rbli_cell_complex *k =
        make_boxes(ctx, (const double *const[]){wide, wide, halves}, (int[]){2, 2, 3}, 0, 0);
    rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "nested", 0);
    assert_int_equal(r->piece_count, 3);
    assert_int_equal(r->negative_count, 0);
    assert_close(r->piece_volume[0], 8, 1e-13);
    assert_close(r->piece_volume[1], 4 * 4 * 3.5 - 8, 1e-13);
    assert_close(r->piece_volume[2], 1, 1e-13);
    assert_int_equal(r->contact_count, 1);
    assert_close(r->contacts[0].area, 16, 1e-13);
    rbli_cut_result_destroy(ctx, r);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh), free_mesh(&hollow), free_mesh(&ball);
    finish_context(ctx);
}

static void caps_may_have_holes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_box(0, 0, 0, 4, 4, 4), hollow = make_box(1, 1, 1, 3, 3, 3);
    mesh_append(&mesh, &hollow, true);
    const double wide[] = {-1, 5}, halves[] = {-1, 2, 5};
    rbli_cell_complex *k =
        make_boxes(ctx, (const double *const[]){wide, wide, halves}, (int[]){2, 2, 3}, 0, 0);
    rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "annulus", 0);
    assert_int_equal(r->piece_count, 2);
    assert_int_equal(r->contact_count, 1);
    assert_close(r->contacts[0].area, 12, 1e-13);
    rbli_cut_result_destroy(ctx, r);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh), free_mesh(&hollow);
    finish_context(ctx);
}

static void islands_are_pieces_unless_kept_together(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_voxels((uint8_t[]){1, 1, 1, 1, 0, 1}, 3, 2, 1, 1, (double[]){0, 0, 0}); /* a U */
    const double wide[] = {-1, 4}, cut[] = {-1, 1.5, 4};
    rbli_cell_complex *k = make_boxes(ctx, (const double *const[]){wide, cut, wide}, (int[]){2, 3, 2}, 0, 0);
    rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "U", 0);
    assert_int_equal(r->piece_count, 3);
    assert_true(r->positions[r->vertex_start[1]][0] < r->positions[r->vertex_start[2]][0]);
    assert_int_equal(r->contact_count, 2);
    rbli_cut_result_destroy(ctx, r);
    rbli_mesh_view view = view_of(&mesh);
    rbli_cut_options together = {.split_islands = false};
    assert_ok(ctx, rbli_cut(ctx, &view, k, &together, &r));
    assert_int_equal(r->piece_count, 2);
    assert_close(r->piece_volume[1], 1, 1e-14);
    assert_int_equal(r->contact_count, 1);
    rbli_cut_result_destroy(ctx, r);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void a_mesh_without_triangles_gives_no_pieces(void **state)
{
    (void)state;
    const double positions[2][3] = {{0, 0, 0}, {9, 9, 9}}, wide[] = {-1, 0.5, 2};
    rbli_mesh_view view = {positions, 2, NULL, 0};
    for (int convex = 0; convex < 2; convex++) {
        rbl_context *ctx = make_context(2);
        rbli_cut_result *r = NULL;
        rbli_cell_complex *k =
            make_boxes(ctx, (const double *const[]){wide, wide, wide}, (int[]){3, 3, 3}, 0, 0);
        k->convex = convex;
        assert_ok(ctx, rbli_cut(ctx, &view, k, NULL, &r));
        assert_int_equal(r->piece_count + r->vertex_count + r->triangle_count + r->contact_count, 0);
        rbli_cut_result_destroy(ctx, r);
        rbli_cell_complex_destroy(ctx, k);
        finish_context(ctx);
    }
}

static void open_meshes_are_refused_by_their_first_open_edge(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_box(0, 0, 0, 1, 1, 1);
    mesh.triangle_count--;
    const double wide[] = {-1, 2};
    rbli_cell_complex *k = make_boxes(ctx, (const double *const[]){wide, wide, wide}, (int[]){2, 2, 2}, 0, 0);
    rbli_mesh_view view = view_of(&mesh);
    rbli_cut_result *r = (rbli_cut_result *)&view;
    assert_int_equal(rbli_cut(ctx, &view, k, NULL, &r), RBL_ERR_OPEN_MESH);
    assert_ptr_equal(r, &view);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "edge"));
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

/// Two boxes with a common edge: as many half-edges each way, so that only the pairing can tell.
static void edges_of_four_triangles_are_refused(void **state)
{
    (void)state;
    test_mesh one = make_box(0, 0, 0, 1, 1, 1), other = make_box(1, 1, 0, 2, 2, 1);
    double positions[16][3];
    int32_t triangles[24][3], number[8];
    memcpy(positions, one.positions, 8 * sizeof *positions);
    memcpy(triangles, one.triangles, 12 * sizeof *triangles);
    size_t count = 8;
    for (size_t v = 0; v < 8; v++) {
        size_t same = 0;
        while (same < 8 && memcmp(positions[same], other.positions[v], sizeof *positions) != 0)
            same++;
        number[v] = (int32_t)(same < 8 ? same : count);
        if (same == 8) memcpy(positions[count++], other.positions[v], sizeof *positions);
    }
    for (size_t t = 0; t < 12; t++)
        for (int corner = 0; corner < 3; corner++)
            triangles[12 + t][corner] = number[other.triangles[t][corner]];
    assert_int_equal(count, 14);
    for (int threads = 1; threads <= 3; threads++) {
        rbl_context *ctx = make_context(threads);
        const double wide[] = {-1, 3};
        rbli_cell_complex *k =
            make_boxes(ctx, (const double *const[]){wide, wide, wide}, (int[]){2, 2, 2}, 0, 0);
        rbli_mesh_view view = {(const double(*)[3])positions, count, (const int32_t(*)[3])triangles, 24};
        rbli_cut_result *r = NULL;
        assert_int_equal(rbli_cut(ctx, &view, k, NULL, &r), RBL_ERR_OPEN_MESH);
        assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "not met exactly once"));
        rbli_cell_complex_destroy(ctx, k);
        finish_context(ctx);
    }
    free_mesh(&one);
    free_mesh(&other);
}

/// A double cone: its tips are the first vertices, with thousands of edges.
static void vertices_may_have_thousands_of_edges(void **state)
{
    (void)state;
    enum { SIDES = 3000 };
    rbl_context *ctx = make_context(2);
    static double positions[SIDES + 2][3];
    static int32_t triangles[2 * SIDES][3];
    positions[0][2] = 1;
    positions[1][2] = -1;
    for (int i = 0; i < SIDES; i++) {
        double t = 2.0 * (i % (SIDES / 2)) / (SIDES / 2) - 1, s = (1 - t * t) / (1 + t * t);
        double sign = i < SIDES / 2 ? 1 : -1; /* half of the circle each */
        positions[i + 2][0] = sign * 2 * t / (1 + t * t);
        positions[i + 2][1] = -sign * s;
        int32_t a = i + 2, b = (i + 1) % SIDES + 2;
        memcpy(triangles[2 * i], ((int32_t[]){0, a, b}), sizeof *triangles);
        memcpy(triangles[2 * i + 1], ((int32_t[]){1, b, a}), sizeof *triangles);
    }
    test_mesh mesh = {positions, triangles, SIDES + 2, 2 * SIDES};
    const double wide[] = {-2, 2}, cut[] = {-2, 0.25, 2};
    rbli_cell_complex *k = make_boxes(ctx, (const double *const[]){cut, wide, cut}, (int[]){3, 2, 3}, 0, 0);
    rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "double cone", 0);
    assert_int_equal(r->piece_count, 4);
    rbli_cut_result_destroy(ctx, r);
    rbli_cell_complex_destroy(ctx, k);
    finish_context(ctx);
}

static void cancelling_leaves_nothing(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_sphere(20, 1, 0.1);
    rbli_cell_complex *k =
        make_boxes(ctx, (const double *const[]){LATTICE, LATTICE, LATTICE}, (int[]){6, 6, 6}, 0, 0);
    for (size_t v = 0; v < mesh.vertex_count; v++)
        for (int axis = 0; axis < 3; axis++)
            mesh.positions[v][axis] += 1.5;
    atomic_bool cancel = true;
    ctx->cancel = &cancel;
    rbli_mesh_view view = view_of(&mesh);
    rbli_cut_result *r = NULL;
    assert_int_equal(rbli_cut(ctx, &view, k, NULL, &r), RBL_ERR_CANCELLED);
    assert_null(r);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

/* ---- random and degenerate families ---- */

/// Lattice-valued coordinates of a complex: planes of the mesh's own lattice, now and then between.
static rbli_cell_complex *random_boxes(
    rbl_context *ctx, rbli_rng *rng, double low, double high, double step, double wobble)
{
    static double values[3][16];
    int counts[3];
    for (int axis = 0; axis < 3; axis++) {
        int n = 0;
        values[axis][n++] = low;
        for (double x = low + step; x < high - 0.5 * step && n < 15; x += step * (1 + rbli_rng_below(rng, 3)))
            values[axis][n++] = rbli_rng_below(rng, 8) == 0 ? x + 0.37 * step : x;
        values[axis][n++] = high;
        counts[axis] = n;
    }
    return make_boxes(
        ctx, (const double *const[]){values[0], values[1], values[2]}, counts, wobble, rbli_rng_u32(rng));
}

/// A random blob of voxels without edges or corners where voxels touch in nothing else.
static test_mesh random_voxels(rbli_rng *rng, int n)
{
    uint8_t filled[6 * 6 * 6];
    for (;;) {
        for (int i = 0; i < n * n * n; i++)
            filled[i] = rbli_rng_below(rng, 4) < 3;
        test_mesh mesh = make_voxels(filled, n, n, n, 1, (double[]){0, 0, 0});
        if (mesh.triangle_count && !closed_fault((const int32_t(*)[3])mesh.triangles, mesh.triangle_count))
            return mesh;
        free_mesh(&mesh);
    }
}

static void random_voxels_on_their_lattice(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        rbl_context *ctx = make_context(1);
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 1);
        test_mesh mesh = random_voxels(&rng, 2 + (int)rbli_rng_below(&rng, 2));
        rbli_cell_complex *k = random_boxes(ctx, &rng, -1, 4, 0.5, 0);
        rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "voxels", seed);
        rbli_cut_result_destroy(ctx, r);
        rbli_cell_complex_destroy(ctx, k);
        free_mesh(&mesh);
        finish_context(ctx);
    }
}

static void wobbling_triangular_facets(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        rbl_context *ctx = make_context(1);
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 2);
        test_mesh mesh = seed % 2 ? make_sphere(12, 1.5, 0.2) : make_torus(17, 11, 1.2, 0.5);
        if (seed % 3 == 0) quantise(&mesh, 0.125);
        rbli_cell_complex *k = random_boxes(ctx, &rng, -2.5, 2.5, 0.5, 0.03);
        rbli_mesh_view view = view_of(&mesh);
        assert_null(closed_fault(view.triangles, view.triangle_count));
        rbli_cut_result *r = cut_checked(ctx, &mesh, k, seed % 3 != 0, "wobble", seed);
        rbli_cut_result_destroy(ctx, r);
        rbli_cell_complex_destroy(ctx, k);
        free_mesh(&mesh);
        finish_context(ctx);
    }
}

static void jittered_lattice_sites(void **state)
{
    (void)state;
    static const double jitters[] = {0, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8, 1e-6, 1e-3};
    for (uint32_t seed = 1; seed <= 110; seed++) {
        rbl_context *ctx = make_context(1);
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 3);
        double jitter = jitters[seed % 11];
        test_mesh mesh = seed % 2 ? random_voxels(&rng, 3) : make_box(0, 0, 0, 3, 3, 3);
        double sites[216][3];
        int n = 3 + (int)rbli_rng_below(&rng, 4);
        for (int i = 0; i < n * n * n; i++)
            for (int axis = 0; axis < 3; axis++)
                sites[i][axis] = ((axis == 0      ? i % n
                                      : axis == 1 ? i / n % n
                                                  : i / n / n) +
                                     0.5) *
                                     3 / n +
                                 jitter * (2 * rbli_rng_double(&rng) - 1);
        rbli_cell_complex *k = make_voronoi(ctx, &mesh, (const double(*)[3])sites, (size_t)(n * n * n));
        rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "jittered lattice", seed);
        rbli_cut_result_destroy(ctx, r);
        rbli_cell_complex_destroy(ctx, k);
        free_mesh(&mesh);
        finish_context(ctx);
    }
}

static void same_bytes_for_any_thread_count(void **state)
{
    (void)state;
    test_mesh mesh = make_sphere(40, 1, 0.1);
    rbli_hash hashes[3];
    for (int i = 0; i < 3; i++) {
        rbl_context *ctx = make_context((int[]){1, 2, 8}[i]);
        double sites[200][3];
        rbli_rng rng = rbli_rng_make(4, RBLI_RNG_TEST, 4);
        for (int j = 0; j < 600; j++)
            sites[j / 3][j % 3] = 2 * rbli_rng_double(&rng) - 1;
        rbli_cell_complex *k = make_voronoi(ctx, &mesh, (const double(*)[3])sites, 200);
        rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "threads", 0);
        hashes[i] = hash_result(r);
        rbli_cut_result_destroy(ctx, r);
        rbli_cell_complex_destroy(ctx, k);
        finish_context(ctx);
    }
    assert_true(rbli_hash_equal(hashes[0], hashes[1]));
    assert_true(rbli_hash_equal(hashes[0], hashes[2]));
    free_mesh(&mesh);
}

static void shuffled_triangles_give_the_same_pieces(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_torus(40, 20, 1, 0.4);
    quantise(&mesh, 1.0 / 16);
    double sites[64][3];
    for (int i = 0; i < 64; i++)
        for (int axis = 0; axis < 3; axis++)
            sites[i][axis] = (axis == 0 ? i % 4 : axis == 1 ? i / 4 % 4 : i / 16) * 0.75 - 1.125;
    rbli_cell_complex *k = make_voronoi(ctx, &mesh, (const double(*)[3])sites, 64);
    rbli_cut_result *first = NULL;
    for (uint32_t seed = 0; seed < 20; seed++) {
        if (seed) shuffle_triangles(&mesh, seed);
        rbli_cut_result *r = cut_checked(ctx, &mesh, k, false, "shuffled", seed);
        if (!first) {
            first = r;
            continue;
        }
        assert_int_equal(r->piece_count, first->piece_count);
        assert_int_equal(r->vertex_count, first->vertex_count);
        for (size_t p = 0; p < r->piece_count; p++) {
            assert_int_equal(r->piece_cell[p], first->piece_cell[p]);
            assert_close(r->piece_volume[p], first->piece_volume[p], 1e-14);
        }
        assert_close(contact_area(r), contact_area(first), 1e-12);
        rbli_cut_result_destroy(ctx, r);
    }
    rbli_cut_result_destroy(ctx, first);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

/// Voronoi cells of random sites, the second half of them next to one of the first half.
static rbli_cell_complex *random_cells(
    rbl_context *ctx, const test_mesh *mesh, double offset, double near, uint32_t seed)
{
    enum { COUNT = 400 };
    static double sites[COUNT][3];
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 7);
    for (int i = 0; i < COUNT; i++)
        for (int axis = 0; axis < 3; axis++)
            sites[i][axis] = i < COUNT / 2 || near == 0
                                 ? offset + 3 * rbli_rng_double(&rng)
                                 : sites[i - COUNT / 2][axis] + near * (2 * rbli_rng_double(&rng) - 1);
    return make_voronoi(ctx, mesh, (const double(*)[3])sites, COUNT);
}

/// With coordinates as coarse as they get far from the origin, and facets of all widths.
static void cells_inside_come_out_whole(void **state)
{
    (void)state;
    static const double offsets[] = {0, 1e3, 1e5}, nears[] = {0, 1e-2, 1e-5, 1e-7};
    for (uint32_t seed = 0; seed < 12; seed++) {
        rbl_context *ctx = make_context(1);
        double at = offsets[seed % 3], volume = 0;
        test_mesh mesh = make_box(at, at, at, at + 3, at + 3, at + 3);
        rbli_cell_complex *k = random_cells(ctx, &mesh, at, nears[seed / 3], seed);
        rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "cells inside", seed);
        for (size_t p = 0; p < r->piece_count; p++)
            volume += r->piece_volume[p];
        assert_true(fabs(volume - 27) <= 27 * (1e-12 + at * 1e-15));
        rbli_cut_result_destroy(ctx, r);
        rbli_cell_complex_destroy(ctx, k);
        free_mesh(&mesh);
        finish_context(ctx);
    }
}

/// Whether a facet touches the walls of a box from 0 to 3.
static bool is_near_walls(const rbli_cell_complex *k, int32_t facet)
{
    for (int32_t i = k->facet_start[facet]; i < k->facet_start[facet + 1]; i++)
        for (int axis = 0; axis < 3; axis++) {
            double x = k->vertices[k->facet_vertices[i]][axis];
            if (x < 0.1 || x > 2.9) return true;
        }
    return false;
}

/// Facets that turn the wrong way or join cells that do not meet there, none of them near the mesh.
static void cells_that_are_not_closed_are_refused(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        rbl_context *ctx = make_context(1);
        test_mesh mesh = make_box(0, 0, 0, 3, 3, 3);
        rbli_cell_complex *k = random_cells(ctx, &mesh, 0, 0, 1);
        rbli_mesh_view view = view_of(&mesh);
        rbli_cut_result *r = NULL;
        bool *at_walls = calloc(k->cell_count, 1);
        int32_t facet = 0, inner = -1;
        for (size_t f = 0; f < k->facet_count; f++)
            for (int side = 0; side < 2 && is_near_walls(k, (int32_t)f); side++)
                if (k->facet_cells[f][side] >= 0) at_walls[k->facet_cells[f][side]] = true;
        for (size_t f = 0; f < k->facet_count; f++) {
            const int32_t *cells = k->facet_cells[f];
            if (cells[0] < 0 || cells[1] < 0 || at_walls[cells[0]] || at_walls[cells[1]]) continue;
            if (inner < 0) facet = (int32_t)f, inner = cells[0];
            if (cells[0] != k->facet_cells[facet][0] && cells[1] != k->facet_cells[facet][0])
                inner = cells[0];
        }
        assert_true(inner >= 0 && inner != k->facet_cells[facet][0]);
        int32_t *loop = k->facet_vertices + k->facet_start[facet];
        int32_t last = k->facet_start[facet + 1] - k->facet_start[facet] - 1;
        for (int32_t i = 0; kind == 0 && i < last - i; i++) {
            int32_t moved = loop[i];
            loop[i] = loop[last - i];
            loop[last - i] = moved;
        }
        if (kind == 1) k->facet_cells[facet][0] = inner;
        assert_int_equal(rbli_cut(ctx, &view, k, NULL, &r), RBL_ERR_INTERNAL);
        assert_null(r);
        free(at_walls);
        rbli_cell_complex_destroy(ctx, k);
        free_mesh(&mesh);
        finish_context(ctx);
    }
}

static void random_points_lie_in_the_piece_of_their_nearest_site(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_torus(24, 12, 1, 0.45);
    rbli_mesh_view view = view_of(&mesh);
    double sites[30][3];
    rbli_rng rng = rbli_rng_make(9, RBLI_RNG_TEST, 6);
    for (int j = 0; j < 90; j++)
        sites[j / 3][j % 3] = (2 * rbli_rng_double(&rng) - 1) * (j % 3 == 2 ? 0.5 : 1.4);
    rbli_cell_complex *k = make_voronoi(ctx, &mesh, (const double(*)[3])sites, 30);
    rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "membership", 9);
    int32_t whole_start[2] = {0, (int32_t)mesh.triangle_count};
    rbli_cut_result whole = {
        .triangle_start = whole_start, .positions = mesh.positions, .triangles = mesh.triangles};
    (void)view;
    for (int i = 0; i < 400; i++) {
        double p[3] = {2.9 * rbli_rng_double(&rng) - 1.45, 2.9 * rbli_rng_double(&rng) - 1.45,
            rbli_rng_double(&rng) - 0.5};
        int nearest = 0;
        double best = INFINITY;
        for (int s = 0; s < 30; s++) {
            double d = 0;
            for (int axis = 0; axis < 3; axis++)
                d += (p[axis] - sites[s][axis]) * (p[axis] - sites[s][axis]);
            if (d < best) best = d, nearest = s;
        }
        bool inside = winding_at(&whole, 0, p) > 0.5;
        int found = 0;
        for (size_t piece = 0; piece < r->piece_count; piece++) {
            if (winding_at(r, piece, p) < 0.5) continue;
            found++;
            assert_int_equal(k->cell_site[r->piece_cell[piece]], nearest);
        }
        assert_int_equal(found, inside);
    }
    rbli_cut_result_destroy(ctx, r);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

/// Boxes that stand apart in one cell of mortar: components of the complex that only a query can place.
static rbli_cell_complex *make_mortar(rbl_context *ctx, int n, double gap)
{
    const double wide[] = {-1, n + 1};
    rbli_cell_complex *k = make_boxes(ctx, (const double *const[]){wide, wide, wide}, (int[]){2, 2, 2}, 0, 0);
    size_t cells = (size_t)(n * n * n), facets = 6 + 6 * cells, vertices = 8 + 8 * cells;
    k->vertices = rbli_realloc(ctx, k->vertices, vertices, sizeof *k->vertices);
    k->facet_start = rbli_realloc(ctx, k->facet_start, facets + 1, sizeof(int32_t));
    k->facet_vertices = rbli_realloc(ctx, k->facet_vertices, 4 * facets, sizeof(int32_t));
    k->facet_cells = rbli_realloc(ctx, k->facet_cells, facets, sizeof *k->facet_cells);
    k->facet_origin = rbli_realloc(ctx, k->facet_origin, facets, sizeof(int32_t));
    k->cell_site = rbli_realloc(ctx, k->cell_site, cells + 1, sizeof(int32_t));
    for (size_t cell = 0; cell < cells; cell++) {
        int32_t base = (int32_t)k->vertex_count, q[3] = {(int)cell % n, (int)cell / n % n, (int)cell / n / n};
        for (int i = 0; i < 8; i++)
            for (int axis = 0; axis < 3; axis++)
                k->vertices[k->vertex_count + (size_t)i][axis] = q[axis] + (i >> axis & 1 ? 1 - gap : gap);
        k->vertex_count += 8;
        for (int face = 0; face < 6; face++) {
            int axis = face / 2, side = face % 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
            for (int c = 0; c < 4; c++) {
                int pu = c == 1 || c == 2, pv = c >= 2;
                int at = side << axis | (side ? pu : pv) << u | (side ? pv : pu) << v;
                k->facet_vertices[k->facet_start[k->facet_count] + c] = base + at;
            }
            k->facet_cells[k->facet_count][0] = (int32_t)cell + 1; /* outward = to the mortar */
            k->facet_cells[k->facet_count][1] = 0;
            k->facet_origin[k->facet_count] = face;
            k->facet_start[k->facet_count + 1] = k->facet_start[k->facet_count] + 4;
            k->facet_count++;
        }
        k->cell_site[cell + 1] = (int32_t)cell + 1;
    }
    k->cell_count = cells + 1;
    k->convex = false;
    return k;
}

static void cells_may_stand_apart_in_mortar(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_cell_complex *k = make_mortar(ctx, 4, 0.125);
    assert_ok(ctx, rbli_cell_complex_check(ctx, k));
    test_mesh mesh = make_box(-0.5, -0.5, -0.5, 3.5, 3.5, 3.5);
    rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "mortar", 0);
    assert_int_equal(r->piece_count, 65);
    assert_close(r->piece_volume[1], 0.421875, 1e-14);
    assert_int_equal(r->contact_count, 64); /* each brick touches the mortar alone */
    rbli_cut_result_destroy(ctx, r);
    free_mesh(&mesh);
    mesh = make_sphere(10, 1.2, 0);
    for (size_t v = 0; v < mesh.vertex_count; v++)
        for (int axis = 0; axis < 3; axis++)
            mesh.positions[v][axis] += 2;
    r = cut_checked(ctx, &mesh, k, true, "mortar sphere", 0);
    rbli_cut_result_destroy(ctx, r);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void shells_that_nothing_crosses_find_their_cell(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = {0};
    for (int i = 0; i < 64; i++) {
        double x = i % 4 + 0.25, y = i / 4 % 4 + 0.25, z = i / 16 + 0.25;
        test_mesh grain = make_box(x, y, z, x + 0.5, y + 0.5, z + 0.5);
        mesh_append(&mesh, &grain, false);
        free_mesh(&grain);
    }
    const double planes[] = {-0.5, 1, 2, 3, 4.5};
    rbli_cell_complex *k =
        make_boxes(ctx, (const double *const[]){planes, planes, planes}, (int[]){5, 5, 5}, 0, 0);
    rbli_cut_result *r = cut_checked(ctx, &mesh, k, true, "grains", 0);
    assert_int_equal(r->piece_count, 64);
    for (int32_t cell = 0; cell < 64; cell++) {
        assert_int_equal(r->piece_cell[cell], cell);
        assert_close(r->positions[r->vertex_start[cell]][0], cell % 4 + 0.5, 0.26);
    }
    rbli_cut_result_destroy(ctx, r);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

/// Shells that overlap and shells that cross themselves: pieces close and signed volumes add up.
static void windings_other_than_one_stay_closed(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        rbl_context *ctx = make_context(1);
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 8);
        test_mesh mesh = seed % 3 == 0 ? make_torus(23, 14, 0.8, 1) : make_box(-1, -1, -1, 1, 1, 1);
        if (seed % 3) {
            test_mesh other =
                seed % 3 == 1 ? make_box(-0.5, -0.5, -0.5, 1.5, 1.5, 1.5) : make_sphere(7, 1.2, 0.3);
            mesh_append(&mesh, &other, false);
            mesh_append(&mesh, &other, seed % 2);
            free_mesh(&other);
        }
        rbli_cell_complex *k = random_boxes(ctx, &rng, -2.5, 2.5, 0.25, 0.02);
        rbli_mesh_view view = view_of(&mesh);
        rbli_cut_result *r = NULL;
        assert_ok(ctx, rbli_cut(ctx, &view, k, NULL, &r));
        const char *fault = result_fault(&view, r, true);
        if (fault) print_error("seed %u: %s\n", seed, fault);
        assert_null(fault);
        rbli_cut_result_destroy(ctx, r);
        rbli_cell_complex_destroy(ctx, k);
        free_mesh(&mesh);
        finish_context(ctx);
    }
}

/* ---- memory ---- */

typedef struct failing_memory {
    size_t left; /* allocations until one fails */
    bool failed;
} failing_memory;

static void *fail_in_turn(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    failing_memory *memory = user;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(pointer);
        return NULL;
    }
    if (memory->left-- == 0) {
        memory->failed = true;
        return NULL;
    }
    return realloc(pointer, new_bytes);
}

static void every_failed_allocation_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    rbl_context *plain = make_context(1);
    test_mesh mesh = make_torus(12, 8, 1, 0.5);
    rbli_mesh_view view = view_of(&mesh);
    const double planes[] = {-2, -0.5, 0, 0.75, 2};
    rbli_cell_complex *k =
        make_boxes(plain, (const double *const[]){planes, planes, planes}, (int[]){5, 5, 5}, 0, 0);
    size_t failures = 0;
    for (size_t n = 0;; n++) {
        failing_memory memory = {SIZE_MAX, false};
        rbli_allocator *allocator = rbli_allocator_create(fail_in_turn, &memory);
        rbl_context ctx = {.allocator = allocator};
        rbli_cut_result *r = NULL;
        memory.left = n;
        rbl_status status = rbli_cut(&ctx, &view, k, NULL, &r);
        memory.left = SIZE_MAX;
        rbli_cut_result_destroy(&ctx, r);
        assert_int_equal(rbli_allocator_bytes(allocator), 0);
        rbli_allocator_release(allocator);
        if (!memory.failed) {
            assert_int_equal(status, RBL_OK);
            break;
        }
        assert_int_equal(status, RBL_ERR_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 30);
    rbli_cell_complex_destroy(plain, k);
    free_mesh(&mesh);
    finish_context(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_on_its_own_lattice_gives_unit_cubes),
        cmocka_unit_test(one_cell_leaves_the_mesh_as_it_was),
        cmocka_unit_test(cavities_stay_with_what_holds_them),
        cmocka_unit_test(caps_may_have_holes),
        cmocka_unit_test(islands_are_pieces_unless_kept_together),
        cmocka_unit_test(a_mesh_without_triangles_gives_no_pieces),
        cmocka_unit_test(open_meshes_are_refused_by_their_first_open_edge),
        cmocka_unit_test(edges_of_four_triangles_are_refused),
        cmocka_unit_test(vertices_may_have_thousands_of_edges),
        cmocka_unit_test(cancelling_leaves_nothing),
        cmocka_unit_test(random_voxels_on_their_lattice),
        cmocka_unit_test(wobbling_triangular_facets),
        cmocka_unit_test(jittered_lattice_sites),
        cmocka_unit_test(same_bytes_for_any_thread_count),
        cmocka_unit_test(shuffled_triangles_give_the_same_pieces),
        cmocka_unit_test(cells_may_stand_apart_in_mortar),
        cmocka_unit_test(shells_that_nothing_crosses_find_their_cell),
        cmocka_unit_test(windings_other_than_one_stay_closed),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaves_nothing),
        cmocka_unit_test(cells_inside_come_out_whole),
        cmocka_unit_test(cells_that_are_not_closed_are_refused),
        cmocka_unit_test(random_points_lie_in_the_piece_of_their_nearest_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
