#ifndef RUBBLE_TESTS_SITE_FAMILIES_H
#define RUBBLE_TESTS_SITE_FAMILIES_H

/// Sets of sites in and about the unit cube, most of them degenerate: many cospherical, coplanar or
/// collinear.

#include <math.h>
#include <string.h>

#include "fracture/base/rng.h"

enum { FAMILY_COUNT = 34, FAMILY_MOST_SITES = 1100 };

typedef struct site_set {
    double sites[FAMILY_MOST_SITES][3];
    size_t count;
} site_set;

static inline void add_site(site_set *s, double x, double y, double z)
{
    if (s->count >= FAMILY_MOST_SITES) return;
    double *p = s->sites[s->count++];
    p[0] = x;
    p[1] = y;
    p[2] = z;
}

/// A lattice of nx × ny × nz cells with a basis, in the box of size `size` about the centre.
static inline void add_lattice(
    site_set *s, int nx, int ny, int nz, const double size[3], const double (*basis)[3], int basis_count)
{
    for (int x = 0; x < nx; x++)
        for (int y = 0; y < ny; y++)
            for (int z = 0; z < nz; z++)
                for (int b = 0; b < basis_count; b++)
                    add_site(s, 0.5 + size[0] * ((x + basis[b][0]) / nx - 0.5),
                        0.5 + size[1] * ((y + basis[b][1]) / ny - 0.5),
                        0.5 + size[2] * ((z + basis[b][2]) / nz - 0.5));
}

static inline void rotate_sites(site_set *s, rbli_rng *rng)
{
    double q[4], sum = 0;
    for (int k = 0; k < 4; k++) {
        q[k] = 2 * rbli_rng_double(rng) - 1;
        sum += q[k] * q[k];
    }
    for (int k = 0; k < 4; k++)
        q[k] /= sqrt(sum);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
        {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
        {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (size_t i = 0; i < s->count; i++) {
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = s->sites[i][k] - 0.5;
        for (int k = 0; k < 3; k++)
            s->sites[i][k] = 0.5 + m[k][0] * p[0] + m[k][1] * p[1] + m[k][2] * p[2];
    }
}

static inline void add_sphere(site_set *s, size_t count, double radius, rbli_rng *rng)
{
    while (count > 0) {
        double p[3], sum = 0;
        for (int k = 0; k < 3; k++) {
            p[k] = 2 * rbli_rng_double(rng) - 1;
            sum += p[k] * p[k];
        }
        if (sum > 1 || sum < 0.01) continue;
        double scale = radius / sqrt(sum);
        add_site(s, 0.5 + scale * p[0], 0.5 + scale * p[1], 0.5 + scale * p[2]);
        count--;
    }
}

static inline void add_ring(site_set *s, int count, double radius, double z, double phase)
{
    for (int i = 0; i < count; i++) {
        double angle = 6.283185307179586 * (i + phase) / count;
        add_site(s, 0.5 + radius * cos(angle), 0.5 + radius * sin(angle), z);
    }
}

static inline const char *make_family(int family, uint64_t seed, double jitter, site_set *s)
{
    static const double corner[][3] = {{0.5, 0.5, 0.5}}, bcc[][3] = {{0.25, 0.25, 0.25}, {0.75, 0.75, 0.75}},
                        fcc[][3] = {{0.25, 0.25, 0.25}, {0.25, 0.75, 0.75}, {0.75, 0.25, 0.75},
                            {0.75, 0.75, 0.25}},
                        diamond[][3] = {{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0},
                            {0.25, 0.25, 0.25}, {0.25, 0.75, 0.75}, {0.75, 0.25, 0.75}, {0.75, 0.75, 0.25}},
                        hexagonal[][3] = {{0.25, 0.25, 0.5}, {0.75, 0.75, 0.5}}, full[3] = {1, 1, 1},
                        most[3] = {0.6, 0.6, 0.6};
    rbli_rng rng = rbli_rng_make((uint32_t)seed, RBLI_RNG_TEST, (uint64_t)family);
    const char *name = "";
    int n = 3 + (int)rbli_rng_below(&rng, 5); /* the size varies with the seed */
    s->count = 0;
#define U() rbli_rng_double(&rng)
    switch (family) {
    case 0:
        name = "random";
        for (int i = 0; i < 300; i++)
            add_site(s, U(), U(), U());
        break;
    case 1:
        name = "cubic lattice";
        add_lattice(s, n, n, n, full, corner, 1);
        break;
    case 2:
        name = "rotated lattice";
        add_lattice(s, n, n, n, most, corner, 1);
        rotate_sites(s, &rng);
        break;
    case 3:
        name = "rotated lattice in floats";
        add_lattice(s, n, n, n, most, corner, 1);
        rotate_sites(s, &rng);
        for (size_t i = 0; i < s->count; i++)
            for (int k = 0; k < 3; k++)
                s->sites[i][k] = (float)s->sites[i][k];
        break;
    case 4:
        name = "bcc";
        add_lattice(s, n, n, n, full, bcc, 2);
        break;
    case 5:
        name = "fcc";
        add_lattice(s, n, n, n, full, fcc, 4);
        break;
    case 6:
        name = "rotated fcc";
        add_lattice(s, n - 1, n - 1, n - 1, most, fcc, 4);
        rotate_sites(s, &rng);
        break;
    case 7:
        name = "diamond";
        add_lattice(s, n / 2 + 1, n / 2 + 1, n / 2 + 1, most, diamond, 8);
        break;
    case 8: {
        const double size[3] = {1, 0.2, 0.03};
        name = "flat boxes";
        add_lattice(s, n, n, n, size, corner, 1);
        break;
    }
    case 9: {
        const double size[3] = {0.8, 0.8 * 0.5773502691896258 * 1.5, 0.7};
        name = "hexagonal prisms";
        add_lattice(s, n, n, n, size, hexagonal, 2);
        break;
    }
    case 10:
        name = "ring";
        add_ring(s, 10 * n, 0.4, 0.5, 0);
        break;
    case 11:
        name = "rings in a cylinder";
        for (int i = 0; i < 8; i++)
            add_ring(s, 4 * n, 0.3, 0.1 + 0.8 * U(), i % 2 ? 0.5 : 0);
        break;
    case 12:
        name = "sphere";
        add_sphere(s, 60 * (size_t)n, 0.4, &rng);
        break;
    case 13:
        name = "sphere and centre";
        add_sphere(s, 60, 0.35, &rng);
        add_site(s, 0.5, 0.5, 0.5);
        break;
    case 14:
        name = "line";
        for (int i = 0; i < 10 * n; i++)
            add_site(s, 0.5, U(), 0.5);
        break;
    case 15:
        name = "slanted line";
        for (int i = 0; i < 10 * n; i++) {
            double t = U();
            add_site(s, 0.1 + 0.3 * t, 0.2 + 0.5 * t, 0.9 - 0.7 * t);
        }
        break;
    case 16:
        name = "plane";
        for (int i = 0; i < 200; i++)
            add_site(s, U(), U(), 0.5);
        break;
    case 17: {
        const double size[3] = {0.9, 0.9, 0.5};
        name = "lattice in a plane";
        add_lattice(s, 2 * n, 2 * n, 1, size, corner, 1);
        break;
    }
    case 18: {
        name = "icosahedra";
        const double phi = 1.618033988749895;
        for (int shell = 1; shell <= n; shell++)
            for (int i = 0; i < 12; i++) {
                double a = (i & 1 ? 0.06 : -0.06) * shell, b = (i & 2 ? 0.06 : -0.06) * shell / phi,
                       p[3] = {0, 0, 0};
                p[i / 4] = a;
                p[(i / 4 + 1) % 3] = b;
                add_site(s, 0.5 + p[0], 0.5 + p[1], 0.5 + p[2]);
            }
        break;
    }
    case 19:
        name = "prism, random heights";
        for (int i = 0; i < 40; i++) {
            double z = U();
            add_ring(s, 6, 0.3, z, 0);
        }
        break;
    case 20:
        name = "two clusters";
        for (int i = 0; i < 200; i++)
            add_site(s, (i % 2 ? 0.1 : 0.9) + 1e-4 * U(), 0.5 + 1e-4 * U(), 0.5 + 1e-4 * U());
        break;
    case 21:
        name = "two lattices, fine and coarse";
        add_lattice(s, n, n, n, most, corner, 1);
        for (size_t i = 0, count = s->count; i < count; i++)
            add_site(
                s, 0.1 + 1e-3 * s->sites[i][0], 0.1 + 1e-3 * s->sites[i][1], 0.1 + 1e-3 * s->sites[i][2]);
        break;
    case 22:
        name = "duplicates";
        for (int i = 0; i < 100; i++) {
            double x = U(), y = U(), z = U();
            for (int j = 0; j < 1 + i % 3; j++)
                add_site(s, x, y, z);
        }
        break;
    case 23:
        name = "coarse grid";
        for (int i = 0; i < 300; i++)
            add_site(s, rbli_rng_below(&rng, 8) / 8.0, rbli_rng_below(&rng, 8) / 8.0,
                rbli_rng_below(&rng, 8) / 8.0);
        break;
    case 24:
        name = "columns";
        for (int i = 0; i < 40; i++) {
            double x = U(), y = U();
            for (int j = 0; j < n; j++)
                add_site(s, x, y, (j + 0.5) / n);
        }
        break;
    case 25:
        name = "layers";
        for (int i = 0; i < n; i++) {
            double z = U();
            for (int j = 0; j < 40; j++)
                add_site(s, U(), U(), z);
        }
        break;
    case 26:
        name = "shells with equal directions";
        add_sphere(s, 30, 0.1, &rng);
        for (int shell = 2; shell <= 4; shell++)
            for (int i = 0; i < 30; i++)
                add_site(s, 0.5 + shell * (s->sites[i][0] - 0.5), 0.5 + shell * (s->sites[i][1] - 0.5),
                    0.5 + shell * (s->sites[i][2] - 0.5));
        break;
    case 27:
        name = "cone";
        for (int i = 1; i <= 2 * n; i++)
            add_ring(s, 12, 0.4 * i / (2 * n), 0.9 - 0.8 * i / (2 * n), 0);
        break;
    case 28:
        name = "shifted rows";
        for (int z = 0; z < n; z++)
            for (int y = 0; y < n; y++)
                for (int x = 0; x < n; x++)
                    add_site(s, (x + 0.25 + 0.5 * ((y + z) % 2)) / n, (y + 0.5) / n, (z + 0.5) / n);
        break;
    case 29:
        name = "torus";
        for (int i = 0; i < 24; i++)
            for (int j = 0; j < 2 * n; j++) {
                double a = 6.283185307179586 * i / 24, b = 6.283185307179586 * j / (2 * n),
                       r = 0.3 + 0.1 * cos(b);
                add_site(s, 0.5 + r * cos(a), 0.5 + r * sin(a), 0.5 + 0.1 * sin(b));
            }
        break;
    case 30:
        name = "mirror images";
        for (int i = 0; i < 6 * n; i++) {
            double p[3] = {0.4 * U(), 0.4 * U(), 0.4 * U()};
            for (int m = 0; m < 8; m++)
                add_site(s, 0.5 + (m & 1 ? p[0] : -p[0]), 0.5 + (m & 2 ? p[1] : -p[1]),
                    0.5 + (m & 4 ? p[2] : -p[2]));
        }
        break;
    case 31:
        name = "all outside the box";
        for (int i = 0; i < 100; i++)
            add_site(s, 1.5 + U(), 3 * U() - 1, 3 * U() - 1);
        break;
    case 32:
        name = "far sites";
        for (int i = 0; i < 100; i++)
            add_site(s, U(), U(), U());
        for (int i = 0; i < 20; i++)
            add_site(s, 1e6 * U(), -1e9 * U(), 1e5 * U());
        break;
    default:
        name = "few";
        for (int i = 0; i < n - 2; i++)
            add_site(s, U(), U(), U());
        break;
    }
    for (size_t i = 0; i < s->count; i++)
        for (int k = 0; k < 3; k++)
            s->sites[i][k] += jitter * (2 * U() - 1);
#undef U
    return name;
}

#endif
