#!/usr/bin/env python3
"""Writes the meshes of the example graphs.

  make_meshes.py [FOLDER]            writes into FOLDER (graphs/meshes beside this script's parent)
  make_meshes.py --check [FOLDER]    exits 1 when a file there differs from what would be written

Vase and column are surfaces of revolution; walls, house and building are boxes of a lattice; the statue is the zero set of
a smooth union of simple distance functions. Every object is closed and turned outward, has UVs, normals and a material; but
the doorway is what game kits are like: open shells stuck into each other, and a banner of one sheet. Units are metres, y is up. Coordinates are rounded to 1e-6 before anything else is computed from them, and after that only
+ - * / and sqrt are used, so that the files are the same bytes on every machine. Python's standard library only.
"""
import math
import os
import sys

CREASE_COSINE = 0.76  # edges sharper than about 40 degrees stay sharp


class Solid:
    """One object: shared positions, and triangles with a UV a corner and a material each; paint(x, y, z), if there is one,
    gives the vertices colours."""

    def __init__(self, name, paint=None):
        self.name = name
        self.paint = paint
        self.positions = []
        self.triangles = []
        self.ids = {}

    def vertex(self, x, y, z):
        """Index of the vertex at a position rounded to 1e-6; equal positions are one vertex."""
        key = (rounded(x), rounded(y), rounded(z))
        if key not in self.ids:
            self.ids[key] = len(self.positions)
            self.positions.append(key)
        return self.ids[key]

    def triangle(self, corners, uvs, material):
        if len(set(corners)) == 3:
            self.triangles.append((tuple(corners), tuple(uvs), material))

    def quad(self, corners, uvs, material):
        """Two triangles; the diagonal goes from the first corner to the third."""
        self.triangle(corners[:3], uvs[:3], material)
        self.triangle((corners[0], corners[2], corners[3]), (uvs[0], uvs[2], uvs[3]), material)

    def flat_uv(self, corners, scale=0.5):
        """UVs of a polygon seen along the axis that its normal is closest to."""
        a, b, c = (self.positions[i] for i in corners[:3])
        n = [abs(k) for k in cross(sub(b, a), sub(c, a))]
        axis = n.index(max(n))
        s, t = ((2, 1), (0, 2), (0, 1))[axis]
        return [(self.positions[i][s] * scale, self.positions[i][t] * scale) for i in corners]


def rounded(x):
    return round(x, 6) + 0.0  # + 0.0 turns -0.0 into 0.0


def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def length(a):
    return math.sqrt(dot(a, a))


def corner_normals(solid):
    """A normal for each corner: the sum of the area vectors of the faces around the vertex within the crease angle."""
    vectors, around = [], [[] for _ in solid.positions]
    for f, (corners, _, _) in enumerate(solid.triangles):
        a, b, c = (solid.positions[i] for i in corners)
        vectors.append(cross(sub(b, a), sub(c, a)))
        for i in corners:
            around[i].append(f)
    lengths = [length(v) for v in vectors]
    normals = []
    for f, (corners, _, _) in enumerate(solid.triangles):
        row = []
        for i in corners:
            total = (0.0, 0.0, 0.0)
            for g in around[i]:
                if g == f or dot(vectors[f], vectors[g]) >= CREASE_COSINE * lengths[f] * lengths[g]:
                    total = tuple(total[k] + vectors[g][k] for k in range(3))
            size = length(total)
            row.append(tuple(round(k / size, 4) + 0.0 for k in total))
        normals.append(row)
    return normals


def number(x):
    text = f"{x:.6f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def obj_text(title, material_file, solids):
    """The text of an OBJ file; a vertex, UV or normal that occurs twice in an object is written once."""
    lines = [f"# {title}", "# Made by tools/make_meshes.py; metres, y up", f"mtllib {material_file}"]
    base = [1, 1, 1]
    for solid in solids:
        uv_ids, normal_ids, faces, material = {}, {}, [], None
        for (corners, uvs, name), normals in zip(solid.triangles, corner_normals(solid)):
            if name != material:
                material = name
                faces.append(f"usemtl {name}")
            words = []
            for i, uv, normal in zip(corners, uvs, normals):
                uv = tuple(round(k, 4) + 0.0 for k in uv)
                t = uv_ids.setdefault(uv, len(uv_ids))
                n = normal_ids.setdefault(normal, len(normal_ids))
                words.append(f"{base[0] + i}/{base[1] + t}/{base[2] + n}")
            faces.append("f " + " ".join(words))
        lines.append(f"o {solid.name}")
        for p in solid.positions:
            colour = [round(k, 3) for k in solid.paint(*p)] if solid.paint else []
            lines.append("v " + " ".join(number(k) for k in [*p, *colour]))
        lines += ["vt " + " ".join(number(k) for k in t) for t in uv_ids]
        lines += ["vn " + " ".join(number(k) for k in n) for n in normal_ids]
        lines += faces
        base = [base[0] + len(solid.positions), base[1] + len(uv_ids), base[2] + len(normal_ids)]
    return "\n".join(lines) + "\n"


def mtl_text(materials):
    lines = ["# Made by tools/make_meshes.py"]
    for name, colour in materials:
        lines += [f"newmtl {name}", "Kd " + " ".join(number(k) for k in colour), "Ks 0 0 0", "d 1", "illum 1"]
    return "\n".join(lines) + "\n"


# Surfaces of revolution


def revolve(name, rows, segments, radius, u_repeats):
    """Turns a profile about the y axis. rows: (y, v, material of the band above); the first and last row are poles.

    radius(row, segment) is the distance from the axis; 0 at the poles.
    """
    solid = Solid(name)
    turn = [(math.cos(2 * math.pi * j / segments), math.sin(2 * math.pi * j / segments)) for j in range(segments)]

    def point(i, j):
        r = radius(i, j % segments)
        return solid.vertex(r * turn[j % segments][0], rows[i][0], -r * turn[j % segments][1])

    for i in range(len(rows) - 1):
        for j in range(segments):
            corners = (point(i, j), point(i, j + 1), point(i + 1, j + 1), point(i + 1, j))
            u0, u1 = u_repeats * j / segments, u_repeats * (j + 1) / segments
            v0, v1 = rows[i][1], rows[i + 1][1]
            uvs = ((u0, v0), (u1, v0), (u1, v1), (u0, v1))
            if corners[0] == corners[1]:  # the pole at the start of the profile
                solid.triangle((corners[0], corners[2], corners[3]), (uvs[0], uvs[2], uvs[3]), rows[i][2])
            else:
                solid.quad(corners, uvs, rows[i][2])
    return solid


def catmull_rom(points, steps):
    """A smooth curve through points of a plane, `steps` pieces between neighbours."""
    out = []
    for k in range(len(points) - 1):
        p0, p1, p2 = points[max(k - 1, 0)], points[k], points[k + 1]
        p3 = points[min(k + 2, len(points) - 1)]
        for s in range(steps):
            t = s / steps
            out.append(tuple(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t
                + (3 * b - a - 3 * c + d) * t * t * t) for a, b, c, d in zip(p0, p1, p2, p3)))
    out.append(points[-1])
    return out


def vase():
    """Wall thickness 1.4 cm; 56 cm high; the outside is glazed, the inside is bare clay."""
    outer = catmull_rom([(0.105, 0.0), (0.11, 0.02), (0.15, 0.1), (0.19, 0.22), (0.175, 0.34), (0.105, 0.44),
        (0.085, 0.49), (0.115, 0.545)], 4)
    inner = catmull_rom([(0.1, 0.548), (0.071, 0.49), (0.09, 0.438), (0.161, 0.335), (0.176, 0.22), (0.136, 0.106),
        (0.09, 0.03)], 4)
    rim = [(0.113, 0.554), (0.107, 0.557), (0.102, 0.555)]
    profile = [(0.0, 0.0)] + outer + rim + inner + [(0.0, 0.018)]
    rows, travelled = [], 0.0
    for k, (r, y) in enumerate(profile):
        if k:
            travelled += math.sqrt((r - profile[k - 1][0]) ** 2 + (y - profile[k - 1][1]) ** 2)
        rows.append((y, 2 * travelled, "glaze" if 1 <= k < len(outer) + 3 else "clay"))
    return [revolve("vase", rows, 64, lambda i, j: profile[i][0], 2)]


def column():
    """A fluted shaft of 2.4 m with a round base and capital and square slabs below and above."""
    segments, flutes = 96, 16
    turn = [(abs(math.cos(2 * math.pi * j / segments)), abs(math.sin(2 * math.pi * j / segments)))
        for j in range(segments)]

    def square(half):
        return lambda j: half / max(turn[j])

    def circle(r):
        return lambda j: r

    def fluted(r, depth):
        per = segments // flutes
        return lambda j: r - depth * (4 * (j % per / per) * (1 - j % per / per))

    rings = [(0.0, square(0.3)), (0.12, square(0.3)), (0.12, circle(0.27)), (0.15, circle(0.285)),
        (0.18, circle(0.285)), (0.21, circle(0.27)), (0.225, circle(0.24)), (0.25, circle(0.225)),
        (0.27, fluted(0.222, 0.0)), (0.31, fluted(0.22, 0.016))]
    for k in range(1, 12):
        t = k / 12
        rings.append((0.31 + 1.98 * t, fluted(0.22 - 0.035 * t * t, 0.016)))
    rings += [(2.29, fluted(0.184, 0.015)), (2.33, fluted(0.183, 0.0)), (2.35, circle(0.2)), (2.38, circle(0.2)),
        (2.40, circle(0.19)), (2.45, circle(0.235)), (2.49, circle(0.265)), (2.49, square(0.29)),
        (2.6, square(0.29))]
    rings = [(0.0, lambda j: 0.0)] + rings + [(2.6, lambda j: 0.0)]
    rows = [(y, y, "marble") for y, _ in rings]
    return [revolve("column", rows, segments, lambda i, j: rings[i][1](j), 2)]


# Boxes of a lattice


def lattice(name, xs, ys, zs, filled, material):
    """The surface of the lattice boxes (i, j, k) for which filled(x, y, z), at the box's centre, is true."""
    solid = Solid(name)

    def inside(i, j, k):
        if not (0 <= i < len(xs) - 1 and 0 <= j < len(ys) - 1 and 0 <= k < len(zs) - 1):
            return False
        return filled((xs[i] + xs[i + 1]) / 2, (ys[j] + ys[j + 1]) / 2, (zs[k] + zs[k + 1]) / 2)

    def face(points, normal):
        corners = [solid.vertex(xs[i], ys[j], zs[k]) for i, j, k in points]
        solid.quad(corners, solid.flat_uv(corners), material(normal))

    for i in range(len(xs) - 1):
        for j in range(len(ys) - 1):
            for k in range(len(zs) - 1):
                if not inside(i, j, k):
                    continue
                a, b, c = i + 1, j + 1, k + 1
                if not inside(i - 1, j, k):
                    face([(i, j, k), (i, j, c), (i, b, c), (i, b, k)], (-1, 0, 0))
                if not inside(a, j, k):
                    face([(a, j, k), (a, b, k), (a, b, c), (a, j, c)], (1, 0, 0))
                if not inside(i, j - 1, k):
                    face([(i, j, k), (a, j, k), (a, j, c), (i, j, c)], (0, -1, 0))
                if not inside(i, b, k):
                    face([(i, b, k), (i, b, c), (a, b, c), (a, b, k)], (0, 1, 0))
                if not inside(i, j, k - 1):
                    face([(i, j, k), (i, b, k), (a, b, k), (a, j, k)], (0, 0, -1))
                if not inside(i, j, c):
                    face([(i, j, c), (a, j, c), (a, b, c), (i, b, c)], (0, 0, 1))
    return solid


def box(name, low, high, material):
    return lattice(name, (low[0], high[0]), (low[1], high[1]), (low[2], high[2]), lambda x, y, z: True,
        lambda normal: material)


def wall():
    """4 m by 2.7 m by 0.3 m with a door, a window, a plinth and a coping that stand out."""

    def filled(x, y, z):
        door = 0.6 < x < 1.5 and y < 2.1
        window = 2.3 < x < 3.4 and 0.9 < y < 2.1
        proud = abs(z) > 0.15
        return not door and not window and (not proud or y < 0.25 or y > 2.5)

    return [lattice("wall", (0.0, 0.6, 1.5, 2.3, 3.4, 4.0), (0.0, 0.25, 0.9, 2.1, 2.5, 2.7), (-0.2, -0.15, 0.15, 0.2),
        filled, lambda normal: "plaster" if normal[2] else "stone")]


def steps(low, high, count):
    return [low + (high - low) * k / count for k in range(count + 1)]


def painted_wall():
    """3.2 m by 2.2 m by 0.24 m, its vertices red where it is to break into small pieces: about a hit, and along a line."""

    def stroke(x, y, a, b, radius):
        t = min(max(((x - a[0]) * (b[0] - a[0]) + (y - a[1]) * (b[1] - a[1]))
            / ((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2), 0.0), 1.0)
        d = math.sqrt((x - a[0] - t * (b[0] - a[0])) ** 2 + (y - a[1] - t * (b[1] - a[1])) ** 2) / radius
        return max(1.0 - d * d, 0.0)

    def paint(x, y, z):
        red = max(stroke(x, y, (1.0, 1.35), (1.02, 1.35), 0.5), 0.8 * stroke(x, y, (1.0, 1.35), (1.7, 0.75), 0.22),
            0.8 * stroke(x, y, (1.7, 0.75), (2.9, 0.4), 0.22))
        return (red, 0.3 - 0.2 * red, 0.4 - 0.35 * red)  # only red counts; what is not painted is not black, to be seen

    solid = lattice("painted_wall", steps(0.0, 3.2, 20), steps(0.0, 2.2, 14), (-0.12, 0.12), lambda x, y, z: True,
        lambda normal: "plaster" if normal[2] else "brick")
    solid.paint = paint
    return [solid]


def pane():
    """A pane of glass, 1.2 m by 0.9 m and 8 mm thick, standing on its edge around the origin."""
    return [box("pane", (-0.6, -0.45, -0.004), (0.6, 0.45, 0.004), "glass")]


def plank():
    """Three boards of 2.4 m side by side, their grain along x."""
    return [box(f"board_{k}", (0.0, 0.0, 0.25 * k), (2.4, 0.05, 0.25 * k + 0.24), "wood") for k in range(3)]


def house():
    """Six closed objects that touch: slab, walls with door and windows, gabled roof, chimney, door, step."""

    def walls_filled(x, y, z):
        if 0.2 < x < 4.8 and 0.2 < z < 3.8:
            return False
        door = z > 3.8 and 0.8 < x < 1.7 and y < 2.2
        front = z > 3.8 and 2.6 < x < 4.0 and 1.0 < y < 2.2
        left = x < 0.2 and 1.4 < z < 2.6 and 1.0 < y < 2.2
        back = z < 0.2 and 2.6 < x < 4.0 and 1.0 < y < 2.2
        return not (door or front or left or back)

    walls = lattice("walls", (0.0, 0.2, 0.8, 1.7, 2.6, 4.0, 4.8, 5.0), (0.2, 1.0, 2.2, 2.7),
        (0.0, 0.2, 1.4, 2.6, 3.8, 4.0), walls_filled, lambda normal: "plaster")
    roof = Solid("roof")
    profile = [(-0.4, 2.7), (4.4, 2.7), (4.4, 2.78), (2.0, 4.5), (-0.4, 2.78)]  # z, y
    near = [roof.vertex(0.0, y, z) for z, y in profile]
    far = [roof.vertex(5.0, y, z) for z, y in profile]
    for k in range(5):
        m = (k + 1) % 5
        corners = (near[k], far[k], far[m], near[m])
        roof.quad(corners, roof.flat_uv(corners), "tiles" if k in (2, 3) else "wood")
    for ring, order in ((near, ((0, 1, 2), (0, 2, 4), (2, 3, 4))), (far, ((0, 2, 1), (0, 4, 2), (2, 4, 3)))):
        for t in order:
            corners = tuple(ring[k] for k in t)
            roof.triangle(corners, roof.flat_uv(corners), "wood")
    slab = box("slab", (-0.2, 0.0, -0.2), (5.8, 0.2, 4.2), "stone")
    chimney = lattice("chimney", (5.0, 5.1, 5.5, 5.6), (0.2, 4.7, 4.9), (1.4, 1.5, 2.1, 2.2),
        lambda x, y, z: y > 4.7 or (x < 5.5 and 1.5 < z < 2.1), lambda normal: "brick")
    door = box("door", (0.8, 0.2, 3.85), (1.7, 2.2, 3.95), "wood")
    step = box("step", (0.6, 0.0, 4.2), (1.9, 0.1, 4.7), "stone")
    return [slab, walls, roof, chimney, door, step]


def building():
    """Two storeys, 6 m by 4 m: ground, four walls a storey with a door and windows, a floor between with a hole for the
    stairs, the stairs, a flat roof with a parapet. Closed objects that touch, named by where they are."""
    t = 0.25
    parts = [box("ground", (-0.3, 0.0, -0.3), (6.3, 0.3, 4.3), "concrete")]
    for storey, low in ((1, 0.3), (2, 3.3)):
        high, sill, lintel = low + 2.8, low + 0.9, low + 2.1
        xs = (0.0, 0.8, 1.8, 2.5, 3.5, 4.2, 5.2, 6.0)
        ys = (low, sill, lintel, high)
        windows = ((0.8, 1.8), (2.5, 3.5), (4.2, 5.2))

        def open_at(x, y, door):
            for k, (a, b) in enumerate(windows):
                if a < x < b and y < lintel and (y > sill or door and k == 1):
                    return True
            return False

        plaster = lambda normal: "plaster"
        parts.append(lattice(f"storey{storey}_front", xs, ys, (4.0 - t, 4.0),
            lambda x, y, z, door=storey == 1: not open_at(x, y, door), plaster))
        parts.append(lattice(f"storey{storey}_back", xs, ys, (0.0, t), lambda x, y, z: not open_at(x, y, False), plaster))
        for side, a in (("left", 0.0), ("right", 6.0 - t)):
            parts.append(lattice(f"storey{storey}_{side}", (a, a + t), ys, (t, 1.5, 2.5, 4.0 - t),
                lambda x, y, z: not (1.5 < z < 2.5 and sill < y < lintel), plaster))
        if storey == 1:
            parts.append(lattice("floor", (0.0, 0.5, 1.7, 6.0), (high, high + 0.2), (0.0, 0.4, 3.0, 4.0),
                lambda x, y, z: not (0.5 < x < 1.7 and 0.4 < z < 3.0), lambda normal: "concrete"))
            treads = steps(0.4, 3.0, 10)
            parts.append(lattice("stairs", (0.55, 1.65), [0.3 + 0.28 * k for k in range(11)], treads,
                lambda x, y, z: y < 0.3 + 0.28 * (1 + sum(z > k for k in treads[1:])) and y > 0.3 + 0.28 *
                (sum(z > k for k in treads[1:]) - 2), lambda normal: "concrete"))
    parts.append(lattice("roof", (-0.1, 0.15, 5.85, 6.1), (6.1, 6.3, 6.7), (-0.1, 0.15, 3.85, 4.1),
        lambda x, y, z: y < 6.3 or not (0.15 < x < 5.85 and 0.15 < z < 3.85), lambda normal: "concrete"))
    return parts


# A wall as game kits have them


def shell(name, low, high, material, missing):
    """A box without the sides in `missing` ("-x", "+x", "-y", …)."""
    whole, open_box = box(name, low, high, material), Solid(name)
    for corners, uvs, m in whole.triangles:
        a, b, c = (whole.positions[i] for i in corners)
        n = cross(sub(b, a), sub(c, a))
        axis = max(range(3), key=lambda k: abs(n[k]))
        if ("+" if n[axis] > 0 else "-") + "xyz"[axis] not in missing:
            open_box.triangle([open_box.vertex(*whole.positions[i]) for i in corners], uvs, m)
    return open_box


def joined(name, shells):
    """One object of several shells that share no vertex."""
    solid = Solid(name)
    for part in shells:
        base = len(solid.positions)
        solid.positions += part.positions
        for corners, uvs, material in part.triangles:
            solid.triangles.append((tuple(base + i for i in corners), uvs, material))
    return solid


def doorway():
    """A wall piece of 4 m by 3 m as kits have them. The wall has no underside. Stones lie on it like boxes without a back,
    frame and sill are open where they go into it, all of them overlap; a banner is one sheet. The door is an object of its
    own: boards and hinges that overlap."""
    core = lattice("core", (-2.0, -0.7, 0.7, 2.0), (0.0, 2.2, 3.0), (-0.25, 0.25), lambda x, y, z: abs(x) > 0.7 or y > 2.2,
        lambda normal: "plaster")
    kept = Solid("core")
    for corners, uvs, material in core.triangles:
        if any(core.positions[i][1] > 0.0 for i in corners):
            kept.triangle([kept.vertex(*core.positions[i]) for i in corners], uvs, material)
    shells = [kept]
    stones = ((-1.85, 0.3, 0.5, 0.3), (-1.2, 0.75, 0.45, 0.28), (-1.75, 1.6, 0.42, 0.3), (-1.15, 2.0, 0.5, 0.26),
        (1.0, 0.35, 0.5, 0.3), (1.55, 1.0, 0.4, 0.3), (1.05, 1.55, 0.46, 0.28), (1.5, 2.3, 0.45, 0.3), (-0.3, 2.6, 0.5, 0.24))
    for x, y, width, height in stones:
        shells.append(shell("stone", (x, y, 0.2), (x + width, y + height, 0.31), "stone", ("-z",)))
        shells.append(shell("stone", (-x - width, y - 0.1, -0.31), (-x, y - 0.1 + height, -0.2), "stone", ("+z",)))
    for x in (-0.82, 0.62):
        shells.append(shell("post", (x, 0.0, -0.33), (x + 0.2, 2.3, 0.33), "wood", ("-y",)))
    shells.append(box("lintel", (-1.0, 2.15, -0.35), (1.0, 2.4, 0.35), "wood"))
    shells.append(shell("plinth", (-2.05, 0.0, -0.32), (-0.8, 0.24, 0.32), "stone", ("-y",)))
    shells.append(shell("plinth", (0.8, 0.0, -0.32), (2.05, 0.24, 0.32), "stone", ("-y",)))
    shells.append(shell("coping", (-2.05, 2.9, -0.3), (2.05, 3.1, 0.3), "stone", ("-y",)))
    banner = Solid("banner")
    quad = [banner.vertex(*p) for p in ((1.2, 0.9, 0.36), (1.8, 0.9, 0.36), (1.8, 2.4, 0.33), (1.2, 2.4, 0.33))]
    banner.quad(quad, banner.flat_uv(quad), "cloth")
    shells.append(banner)
    boards = [box("board", (-0.62 + 0.31 * k, 0.02, -0.04 - 0.004 * (k % 2)), (-0.3 + 0.31 * k, 2.15, 0.04), "wood")
        for k in range(4)]
    bars = [shell("bar", (-0.6, y, 0.03), (0.6, y + 0.14, 0.07), "iron", ("-z",)) for y in (0.4, 1.6)]
    return [joined("doorway", shells), joined("door", boards + bars)]


# The statue


def smooth_min(a, b, k):
    """Polynomial smooth minimum: min(a, b) where they differ by more than k."""
    h = max(k - abs(a - b), 0.0) / k
    return min(a, b) - h * h * k * 0.25


def ellipsoid(p, centre, radii):
    q = sub(p, centre)
    s = (q[0] / radii[0], q[1] / radii[1], q[2] / radii[2])
    t = (s[0] / radii[0], s[1] / radii[1], s[2] / radii[2])
    k0, k1 = length(s), length(t)
    return -min(radii) if k1 == 0 else k0 * (k0 - 1) / k1


def capsule(p, a, b, radius):
    pa, ba = sub(p, a), sub(b, a)
    h = min(max(dot(pa, ba) / dot(ba, ba), 0.0), 1.0)
    return length(sub(pa, tuple(k * h for k in ba))) - radius


def statue_distance(x, y, z):
    """A sitting bear on a round base, 0.9 m high; mirrored in x."""
    p = (abs(x), y, z)
    d = ellipsoid(p, (0.0, 0.3, 0.02), (0.2, 0.27, 0.17))
    d = smooth_min(d, ellipsoid(p, (0.0, 0.66, 0.02), (0.155, 0.145, 0.14)), 0.07)
    d = smooth_min(d, ellipsoid(p, (0.0, 0.62, 0.15), (0.075, 0.06, 0.065)), 0.05)
    d = smooth_min(d, ellipsoid(p, (0.115, 0.785, 0.0), (0.06, 0.06, 0.047)), 0.03)
    d = smooth_min(d, capsule(p, (0.17, 0.48, 0.03), (0.22, 0.33, 0.13), 0.058), 0.06)
    d = smooth_min(d, capsule(p, (0.13, 0.14, 0.08), (0.17, 0.14, 0.26), 0.075), 0.05)
    d = smooth_min(d, ellipsoid(p, (0.175, 0.18, 0.3), (0.072, 0.085, 0.055)), 0.02)
    radial, up, edge = length((x, 0.0, z - 0.06)) - 0.36, abs(y - 0.055) - 0.048, 0.046
    outside = length((max(radial + edge, 0.0), max(up + edge, 0.0), 0.0)) - edge
    base = outside + min(max(radial + edge, up + edge), 0.0)
    return smooth_min(d, base, 0.06)


def statue():
    """Surface nets (Gibson 1998) on a lattice: a vertex in each cell that the surface crosses, a quad for each crossed edge."""
    cell = 0.0255
    low, counts = (-0.41, -0.015, -0.345), (33, 37, 34)
    size = tuple(n + 1 for n in counts)
    value = {}
    for i in range(size[0]):
        for j in range(size[1]):
            for k in range(size[2]):
                value[i, j, k] = statue_distance(low[0] + i * cell, low[1] + j * cell, low[2] + k * cell) or 1e-9
    offsets = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    edges = [(p, q) for p in offsets for q in offsets if sum(q) == sum(p) + 1 and all(q[m] >= p[m] for m in range(3))]
    solid, ids = Solid("statue"), {}
    for i in range(counts[0]):
        for j in range(counts[1]):
            for k in range(counts[2]):
                crossings = []
                for p, q in edges:
                    a = value[i + p[0], j + p[1], k + p[2]]
                    b = value[i + q[0], j + q[1], k + q[2]]
                    if (a < 0) != (b < 0):
                        t = a / (a - b)
                        crossings.append(tuple(p[m] + t * (q[m] - p[m]) for m in range(3)))
                if crossings:
                    mean = [sum(c[m] for c in crossings) / len(crossings) for m in range(3)]
                    ids[i, j, k] = solid.vertex(low[0] + (i + mean[0]) * cell, low[1] + (j + mean[1]) * cell,
                        low[2] + (k + mean[2]) * cell)
    for (i, j, k), a in value.items():
        for axis in range(3):
            step = [0, 0, 0]
            step[axis] = 1
            b = value.get((i + step[0], j + step[1], k + step[2]))
            if b is None or (a < 0) == (b < 0):
                continue
            u, w = [0, 0, 0], [0, 0, 0]
            u[(axis + 1) % 3] = 1
            w[(axis + 2) % 3] = 1
            ring = [ids[i - m * u[0] - n * w[0], j - m * u[1] - n * w[1], k - m * u[2] - n * w[2]]
                for m, n in ((1, 1), (0, 1), (0, 0), (1, 0))]
            if a > 0:
                ring.reverse()
            # The shorter diagonal gives the better triangles.
            if length(sub(solid.positions[ring[0]], solid.positions[ring[2]])) > length(
                    sub(solid.positions[ring[1]], solid.positions[ring[3]])):
                ring = ring[1:] + ring[:1]
            solid.quad(ring, solid.flat_uv(ring, 2.0), "bronze")
    return [solid]


MESHES = [
    ("vase", "A vase with a wall thickness", vase, [("glaze", (0.2, 0.42, 0.62)), ("clay", (0.72, 0.42, 0.28))]),
    ("wall", "A wall with a door and a window", wall, [("plaster", (0.86, 0.82, 0.74)), ("stone", (0.6, 0.58, 0.55))]),
    ("column", "A fluted column", column, [("marble", (0.9, 0.89, 0.86))]),
    ("house", "A small house of several closed objects that touch", house, [("plaster", (0.88, 0.84, 0.75)),
        ("stone", (0.55, 0.54, 0.52)), ("tiles", (0.66, 0.28, 0.2)), ("wood", (0.48, 0.33, 0.2)),
        ("brick", (0.58, 0.27, 0.2))]),
    ("building", "A house of two storeys, of closed objects that touch", building, [("plaster", (0.87, 0.8, 0.68)),
        ("concrete", (0.62, 0.61, 0.6))]),
    ("doorway", "A wall with a door as game kits have them: open shells that overlap", doorway,
        [("plaster", (0.8, 0.74, 0.64)), ("stone", (0.55, 0.55, 0.57)), ("wood", (0.45, 0.3, 0.18)),
        ("cloth", (0.62, 0.13, 0.14)), ("iron", (0.28, 0.28, 0.3))]),
    ("painted_wall", "A wall whose vertices are red where it is to break finely", painted_wall,
        [("plaster", (0.86, 0.82, 0.74)), ("brick", (0.62, 0.36, 0.28))]),
    ("pane", "A pane of glass", pane, [("glass", (0.75, 0.87, 0.86))]),
    ("plank", "Three wooden boards", plank, [("wood", (0.55, 0.39, 0.24))]),
    ("statue", "A sitting bear", statue, [("bronze", (0.56, 0.43, 0.25))]),
]


def main(arguments):
    check = "--check" in arguments
    folders = [a for a in arguments if a != "--check"]
    if len(folders) > 1 or any(a.startswith("-") for a in folders):
        sys.exit(__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    folder = folders[0] if folders else os.path.join(os.path.dirname(here), "graphs", "meshes")
    stale = 0
    for name, title, build, materials in MESHES:
        for file, text in ((f"{name}.obj", obj_text(title, f"{name}.mtl", build())),
                (f"{name}.mtl", mtl_text(materials))):
            path = os.path.join(folder, file)
            if check:
                try:
                    with open(path, newline="") as f:
                        same = f.read() == text
                except OSError:
                    same = False
                if not same:
                    print(f"{path}: not what make_meshes.py writes", file=sys.stderr)
                    stale += 1
            else:
                os.makedirs(folder, exist_ok=True)
                with open(path, "w", newline="") as f:
                    f.write(text)
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
