/// Delaunay triangulation of a convex polygon with inner points by insertion and flips (Lawson 1977).

#include "fracture/geometry/facet_mesh.h"

void rbli_facet_mesh_free(rbl_context *ctx, rbli_facet_mesh *mesh)
{
    rbli_free(ctx, mesh->triangles.data);
    rbli_free(ctx, mesh->stack.data);
    *mesh = (rbli_facet_mesh){0};
}

static double cross(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static double dot(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[0] - a[0]) + (b[1] - a[1]) * (c[1] - a[1]);
}

/// True when the angles at c and d, which see edge ab, add up to more than half a turn, clearly.
static bool should_flip(const double a[2], const double b[2], const double c[2], const double d[2])
{
    double sin_c = cross(c, a, b), cos_c = dot(c, a, b), sin_d = cross(d, b, a), cos_d = dot(d, b, a);
    double sine = sin_c * cos_d + cos_c * sin_d;
    double size = (sin_c < 0 ? -sin_c : sin_c) * (cos_d < 0 ? -cos_d : cos_d) +
                  (cos_c < 0 ? -cos_c : cos_c) * (sin_d < 0 ? -sin_d : sin_d);
    return sine < -1e-12 * size && cross(c, a, d) > 0 && cross(c, d, b) > 0;
}

/// The side of t whose neighbour is `other`.
static int side_to(const rbli_facet_triangle *t, int32_t other)
{
    return t->neighbor[0] == other ? 0 : t->neighbor[1] == other ? 1 : 2;
}

static void replace_neighbor(rbli_facet_triangle *triangles, int32_t t, int32_t old, int32_t now)
{
    if (t >= 0) triangles[t].neighbor[side_to(&triangles[t], old)] = now;
}

/// Joins the first inner point with every side of the border.
static rbl_status make_fan(rbl_context *ctx, rbli_facet_mesh *mesh, size_t border_count)
{
    int32_t n = (int32_t)border_count;
    mesh->triangles.count = 0;
    rbl_status status = rbli_array_reserve(ctx, &mesh->triangles, border_count);
    for (int32_t i = 0; status == RBL_OK && i < n; i++) {
        rbli_facet_triangle made = {{n, i, (i + 1) % n}, {(i + n - 1) % n, -1, (i + 1) % n}};
        mesh->triangles.data[mesh->triangles.count++] = made;
    }
    return status;
}

/// Walks to the triangle that holds a point; ends anyway, in one near it, where rounding makes a circle.
static int32_t locate(const rbli_facet_mesh *mesh, const double (*points)[2], const double p[2], int32_t from)
{
    int32_t at = from;
    for (size_t steps = 0; steps < mesh->triangles.count; steps++) {
        const rbli_facet_triangle *t = &mesh->triangles.data[at];
        int32_t next = -1;
        for (int i = 0; i < 3 && next < 0; i++)
            if (cross(points[t->v[i]], points[t->v[i == 2 ? 0 : i + 1]], p) < 0) next = t->neighbor[i];
        if (next < 0) break;
        at = next;
    }
    return at;
}

/// Restores the Delaunay property around a new point, corner 0 of the triangles on the stack.
static rbl_status legalise(rbl_context *ctx, rbli_facet_mesh *mesh, const double (*points)[2])
{
    rbl_status status = RBL_OK;
    rbli_facet_triangle *triangles = mesh->triangles.data;
    while (mesh->stack.count > 0) {
        int32_t t = mesh->stack.data[--mesh->stack.count];
        rbli_facet_triangle *one = &triangles[t];
        int32_t other = one->neighbor[1];
        if (other < 0) continue;
        rbli_facet_triangle *two = &triangles[other];
        int s = side_to(two, t), s1 = (s + 1) % 3, s2 = (s + 2) % 3;
        int32_t p = one->v[0], a = one->v[1], b = one->v[2], d = two->v[s2];
        if (!should_flip(points[a], points[b], points[p], points[d])) continue;
        int32_t ad = two->neighbor[s1], db = two->neighbor[s2], bp = one->neighbor[2], pa = one->neighbor[0];
        *one = (rbli_facet_triangle){{p, a, d}, {pa, ad, other}};
        *two = (rbli_facet_triangle){{p, d, b}, {t, db, bp}};
        replace_neighbor(triangles, ad, other, t);
        replace_neighbor(triangles, bp, t, other);
        RBL_TRY(rbli_array_push(ctx, &mesh->stack, t));
        RBL_TRY(rbli_array_push(ctx, &mesh->stack, other));
    }
done:
    return status;
}

/// Splits the triangle that holds point p in three.
static rbl_status insert(
    rbl_context *ctx, rbli_facet_mesh *mesh, const double (*points)[2], int32_t p, int32_t *last)
{
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_array_reserve(ctx, &mesh->triangles, 2));
    int32_t t = locate(mesh, points, points[p], *last), u = (int32_t)mesh->triangles.count, w = u + 1;
    rbli_facet_triangle *triangles = mesh->triangles.data;
    rbli_facet_triangle old = triangles[t];
    mesh->triangles.count += 2;
    triangles[t] = (rbli_facet_triangle){{p, old.v[0], old.v[1]}, {w, old.neighbor[0], u}};
    triangles[u] = (rbli_facet_triangle){{p, old.v[1], old.v[2]}, {t, old.neighbor[1], w}};
    triangles[w] = (rbli_facet_triangle){{p, old.v[2], old.v[0]}, {u, old.neighbor[2], t}};
    replace_neighbor(triangles, old.neighbor[1], t, u);
    replace_neighbor(triangles, old.neighbor[2], t, w);
    RBL_TRY(rbli_array_push(ctx, &mesh->stack, t));
    RBL_TRY(rbli_array_push(ctx, &mesh->stack, u));
    RBL_TRY(rbli_array_push(ctx, &mesh->stack, w));
    RBL_TRY(legalise(ctx, mesh, points));
    *last = t;
done:
    return status;
}

rbl_status rbli_facet_mesh_make(
    rbl_context *ctx, rbli_facet_mesh *mesh, const double (*points)[2], size_t border_count, size_t count)
{
    rbl_status status = RBL_OK;
    int32_t last = 0;
    mesh->stack.count = 0;
    RBL_TRY(make_fan(ctx, mesh, border_count));
    for (size_t p = border_count + 1; p < count; p++)
        RBL_TRY(insert(ctx, mesh, points, (int32_t)p, &last));
done:
    return status;
}
