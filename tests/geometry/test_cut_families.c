/// Every family of degenerate sites, with jitters from nothing to plain randomness, through K and through the
/// cut of a sphere, of a box whose faces lie in K's facets, and of two boxes that touch. RUBBLE_SLOW=1 takes
/// every jitter of a family instead of every third; RUBBLE_SEED=N chooses the first seed, RUBBLE_SEEDS=N how
/// many.

#include "tests/check.h"

#include "fracture/geometry/cut.h"
#include "tests/geometry/cut_help.h"
#include "tests/geometry/site_families.h"

static const double jitters[] = {0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-3};
enum { JITTER_COUNT = sizeof jitters / sizeof *jitters, PROBES = 12 };

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void stop(const char *family, double jitter, uint64_t seed, const char *what)
{
    print_error("family %s, jitter %g, seed %llu: %s\n", family, jitter, (unsigned long long)seed, what);
    fail();
}

/// A point is in the piece of its nearest site and in no other; points near a bisector are not asked.
static const char *membership_fault(const site_set *sites, const rbli_cell_complex *k, const test_mesh *mesh,
    const rbli_cut_result *r, rbli_rng *rng)
{
    int32_t whole_start[2] = {0, (int32_t)mesh->triangle_count};
    rbli_cut_result whole = {
        .triangle_start = whole_start, .positions = mesh->positions, .triangles = mesh->triangles};
    for (int probe = 0; probe < PROBES; probe++) {
        double p[3], best = INFINITY, second = INFINITY;
        size_t nearest = 0;
        for (int axis = 0; axis < 3; axis++)
            p[axis] = rbli_rng_double(rng);
        for (size_t s = 0; s < sites->count; s++) {
            double d = 0;
            for (int axis = 0; axis < 3; axis++)
                d += (p[axis] - sites->sites[s][axis]) * (p[axis] - sites->sites[s][axis]);
            if (d < best) {
                second = best;
                best = d;
                nearest = s;
            } else if (d < second) {
                second = d;
            }
        }
        if (second - best < 1e-6) continue;
        double inside = winding_at(&whole, 0, p);
        if (fabs(inside - round(inside)) > 1e-3) continue; /* on the surface */
        int found = 0;
        for (size_t piece = 0; piece < r->piece_count; piece++) {
            double w = winding_at(r, piece, p);
            if (w < 0.5) continue;
            found++;
            if ((size_t)k->cell_site[r->piece_cell[piece]] != nearest)
                return "a point lies in a foreign piece";
        }
        if (found != (inside > 0.5)) return "a point lies in no piece or in several";
    }
    return NULL;
}

static const char *cut_fault(
    rbl_context *ctx, const site_set *sites, const rbli_cell_complex *k, const test_mesh *mesh, rbli_rng *rng)
{
    rbli_mesh_view view = view_of(mesh);
    rbli_cut_result *r = NULL;
    if (rbli_cut(ctx, &view, k, NULL, &r) != RBL_OK) {
        print_messages(ctx);
        return "the cut failed";
    }
    const char *fault = result_fault(&view, r, true);
    if (!fault && sites->count <= 200) fault = membership_fault(sites, k, mesh, r, rng);
    rbli_cut_result_destroy(ctx, r);
    return fault;
}

static void try_sites(rbl_context *ctx, const test_mesh *meshes, int family, double jitter, uint64_t seed)
{
    static site_set sites;
    const double low[3] = {-0.25, -0.25, -0.25}, high[3] = {1.25, 1.25, 1.25};
    rbli_rng rng = rbli_rng_make((uint32_t)seed, RBLI_RNG_TEST, (uint64_t)family);
    const char *name = make_family(family, seed, jitter, &sites);
    rbli_cell_complex *k = NULL;
    if (rbli_voronoi_complex(ctx, (const double(*)[3])sites.sites, sites.count, low, high, NULL, NULL, &k) !=
        RBL_OK)
        stop(name, jitter, seed, "no complex");
    if (rbli_cell_complex_check(ctx, k) != RBL_OK) stop(name, jitter, seed, "K is not closed");
    for (int i = 0; i < 3; i++) {
        const char *fault = cut_fault(ctx, &sites, k, &meshes[i], &rng);
        if (fault) stop(name, jitter, seed, fault);
    }
    rbli_cell_complex_destroy(ctx, k);
    rbli_messages_clear(ctx->messages);
}

static void every_family_cuts_cleanly(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh meshes[3] = {
        make_sphere(6, 0.45, 0.1), make_box(0, 0, 0, 1, 1, 1), make_box(0, 0, 0, 0.5, 1, 1)};
    for (size_t v = 0; v < meshes[0].vertex_count; v++)
        for (int axis = 0; axis < 3; axis++)
            meshes[0].positions[v][axis] += 0.5;
    test_mesh second = make_box(0.5, 0, 0, 1, 1, 1);
    mesh_append(&meshes[2], &second, false);
    free_mesh(&second);
    uint64_t first = number_from("RUBBLE_SEED", 1), count = number_from("RUBBLE_SEEDS", 1);
    int runs = 0;
    for (uint64_t seed = first; seed < first + count; seed++)
        for (int family = 0; family < FAMILY_COUNT; family++)
            for (int j = 0; j < JITTER_COUNT; j++) {
                if ((family + j + (int)seed) % (int)tries(3, 1) != 0) continue;
                try_sites(ctx, meshes, family, jitters[j], seed);
                runs += 3;
            }
    print_message("%d cuts from seed %llu on\n", runs, (unsigned long long)first);
    for (int i = 0; i < 3; i++)
        free_mesh(&meshes[i]);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_family_cuts_cleanly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
