#!/usr/bin/env python3
"""Checks graphs/meshes: fresh, and every object closed, outward, connected, free of self-crossings, with UVs and materials.
The doorway is meant to be otherwise: as the shells of game kits are, many of its own are open, and they overlap."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import obj

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "graphs", "meshes")


def components(triangles):
    parent = {}

    def find(a):
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a

    for t in triangles:
        for i in t:
            parent.setdefault(i, i)
        parent[find(t[0])] = find(t[1])
        parent[find(t[1])] = find(t[2])
    return len({find(a) for a in parent})


def fans(triangles):
    """Vertices whose triangles do not form one fan."""
    following = {}
    for t in triangles:
        for k in range(3):
            following.setdefault(t[k], {})[t[(k + 1) % 3]] = t[(k + 2) % 3]
    bad = []
    for vertex, ring in following.items():
        start = at = next(iter(ring))
        steps = 0
        while steps <= len(ring):
            at = ring[at]
            steps += 1
            if at == start:
                break
        if steps != len(ring):
            bad.append(vertex)
    return bad


def crosses(p, q, a, b, c):
    """True when the segment goes through the triangle, touching not counted."""
    n = obj.cross(obj.sub(b, a), obj.sub(c, a))
    size = obj.dot(n, n) ** 0.5
    dp, dq = obj.dot(obj.sub(p, a), n), obj.dot(obj.sub(q, a), n)
    tiny = 1e-7 * size
    if not (dp > tiny and dq < -tiny or dp < -tiny and dq > tiny):
        return False
    t = dp / (dp - dq)
    x = tuple(p[k] + t * (q[k] - p[k]) for k in range(3))
    for u, v in ((a, b), (b, c), (c, a)):
        if obj.dot(obj.cross(obj.sub(v, u), obj.sub(x, u)), n) <= 1e-7 * size:
            return False
    return True


def crossings(positions, triangles):
    """Pairs of triangles of which an edge of one goes through the other; candidates come from a grid."""
    longest = max(max(abs(k) for k in obj.sub(positions[t[i]], positions[t[i - 1]])) for t in triangles for i in range(3))
    cell = max(longest / 4, 1e-3)
    grid = {}
    boxes = []
    for f, t in enumerate(triangles):
        low = [min(positions[i][k] for i in t) for k in range(3)]
        high = [max(positions[i][k] for i in t) for k in range(3)]
        boxes.append((low, high))
        span = [range(int(low[k] // cell), int(high[k] // cell) + 1) for k in range(3)]
        for x in span[0]:
            for y in span[1]:
                for z in span[2]:
                    grid.setdefault((x, y, z), []).append(f)
    seen, found = set(), []
    for faces in grid.values():
        for m, f in enumerate(faces):
            (fl, fh), tf = boxes[f], triangles[f]
            for g in faces[:m]:
                gl, gh = boxes[g]
                if (fl[0] > gh[0] or gl[0] > fh[0] or fl[1] > gh[1] or gl[1] > fh[1] or fl[2] > gh[2]
                        or gl[2] > fh[2] or (f, g) in seen):
                    continue
                seen.add((f, g))
                tg = triangles[g]
                for s, t in ((tf, tg), (tg, tf)):
                    corners = [positions[i] for i in t]
                    if any(s[k] not in t and s[k - 1] not in t and crosses(positions[s[k]], positions[s[k - 1]], *corners)
                            for k in range(3)):
                        found.append((f, g))
                        break
    return found


KITS = {"doorway.obj": ("doorway", 26, 100)}  # object, shells at least, open edges at least


def check_kit(path, name, shells, edges):
    positions, _, _, parts = obj.read(path)
    triangles = next(p.triangles for p in parts if p.name == name)
    if components(triangles) < shells:
        return f"{name}: only {components(triangles)} shells"
    if len(obj.open_edges(triangles)) < edges:
        return f"{name}: only {len(obj.open_edges(triangles))} open edges"
    return "" if crossings(positions, triangles) else f"{name}: nothing overlaps"


def check(path):
    if os.path.basename(path) in KITS:
        return check_kit(path, *KITS[os.path.basename(path)])
    positions, uvs, normals, parts = obj.read(path)
    with open(path[:-4] + ".mtl") as f:
        materials = {line.split()[1] for line in f if line.startswith("newmtl ")}
    names = [p.name for p in parts]
    if len(set(names)) != len(names) or "" in names:
        return "objects without a name of their own"
    for p in parts:
        triangles = p.triangles
        bad = obj.open_edges(triangles)
        if bad:
            return f"{p.name}: {len(bad)} edges without exactly one mate, as {bad[0]}"
        if obj.volume(positions, triangles) <= 0:
            return f"{p.name}: not outward"
        if components(triangles) != 1:
            return f"{p.name}: {components(triangles)} parts in one object"
        if fans(triangles):
            return f"{p.name}: the surface touches itself at vertex {fans(triangles)[0]}"
        thin = [t for t in triangles if obj.area(positions, t) < 1e-9]
        if thin:
            return f"{p.name}: {len(thin)} triangles without area"
        for corner in (c for t in p.corners for c in t):
            if not (0 <= corner[1] < uvs and 0 <= corner[2] < normals):
                return f"{p.name}: a corner without UV or normal"
        if not set(p.materials) <= materials:
            return f"{p.name}: unknown material"
    pairs = crossings(positions, [t for p in parts for t in p.triangles])
    return f"{len(pairs)} pairs of triangles go through each other" if pairs else ""


def main():
    results = []
    fresh = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "make_meshes.py"), "--check"],
        capture_output=True, text=True)
    results.append(("meshes are what make_meshes.py writes", fresh.stderr.strip() if fresh.returncode else ""))
    files = sorted(f for f in os.listdir(FOLDER) if f.endswith(".obj"))
    results += [(f, check(os.path.join(FOLDER, f))) for f in files]
    for name, why in results:
        print(f"FAIL {name}: {why}" if why else f"ok   {name}")
    failed = sum(1 for _, why in results if why)
    print(f"{len(results) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
