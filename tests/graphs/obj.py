"""Reads OBJ files for the tests: shares no code with rubble or with make_meshes.py."""


class Part:
    """One object: triangles as vertex indices, and for each corner (vertex, uv, normal), −1 where the file gives none."""

    def __init__(self, name):
        self.name = name
        self.corners = []
        self.materials = []

    @property
    def triangles(self):
        return [tuple(c[0] for c in t) for t in self.corners]


def read(path):
    """@return positions, number of UVs, number of normals, parts"""
    positions, uvs, normals, parts, material = [], 0, 0, [], ""
    with open(path) as f:
        for line in f:
            words = line.split()
            if not words:
                continue
            if words[0] == "v":
                positions.append(tuple(float(w) for w in words[1:4]))
            elif words[0] == "vt":
                uvs += 1
            elif words[0] == "vn":
                normals += 1
            elif words[0] == "o":
                parts.append(Part(line[2:].strip()))
            elif words[0] == "usemtl":
                material = words[1]
            elif words[0] == "f":
                if not parts:
                    parts.append(Part(""))
                corners = []
                for w in words[1:]:
                    ids = [int(i) - 1 if i else -1 for i in w.split("/")]
                    corners.append(tuple(ids + [-1] * (3 - len(ids))))
                for k in range(1, len(corners) - 1):
                    parts[-1].corners.append((corners[0], corners[k], corners[k + 1]))
                    parts[-1].materials.append(material)
    return positions, uvs, normals, [p for p in parts if p.corners]


def open_edges(triangles):
    """Directed edges that are not met exactly once by their reverse."""
    count = {}
    for a, b, c in triangles:
        for edge in ((a, b), (b, c), (c, a)):
            count[edge] = count.get(edge, 0) + 1
    return [e for e, n in count.items() if n != 1 or count.get((e[1], e[0])) != 1]


def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def volume(positions, triangles):
    """Signed volume, measured from one of the vertices so that far-away meshes lose nothing."""
    o = positions[triangles[0][0]]
    return sum(dot(sub(positions[a], o), cross(sub(positions[b], o), sub(positions[c], o)))
        for a, b, c in triangles) / 6


def area(positions, triangle):
    a, b, c = (positions[i] for i in triangle)
    n = cross(sub(b, a), sub(c, a))
    return dot(n, n) ** 0.5 / 2
