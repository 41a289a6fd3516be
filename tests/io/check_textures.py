#!/usr/bin/env python3
"""Checks that textures, UVs and normals of textured models reach the files of Terminal.

  check_textures.py RUBBLE [--validate]

Each model of ../shared/models is cut into pieces and written. The images of the .glb and beside the .obj must be the bytes of
the source. At 1,000 random points on the outside of the pieces, UV and normal in the .glb and the .obj must be those of a triangle
of the source at that point, the normal being the direction of the corners' weighted sum, or that of the triangle where the source
has no normals (spot). Nothing is shared with rubble: both files are read here. With --validate, gltf-validator (npm) must find no
error. Exits with 77 when the models are not there."""
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = os.path.join(os.environ.get("RUBBLE_SHARED") or os.path.join(ROOT, "..", "shared"), "models")
NAMES = ["wall_doorway.glb", "pillar_decorated.glb", "building-small-b/building-small-b.glb", "coin/coin.glb", "CesiumMilkTruck.glb",
         "building_bridge_A/building_bridge_A.obj", "spot.obj"]
POINTS = 1000
FORMATS = {5121: "B", 5123: "H", 5125: "I", 5126: "f"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


class Fault(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Fault(text)


def multiply(a, b):
    return [sum(a[4 * k + r] * b[4 * c + k] for k in range(4)) for c in range(4) for r in range(4)]


def local_matrix(node):
    if "matrix" in node:
        return node["matrix"]
    t, s = node.get("translation", [0, 0, 0]), node.get("scale", [1, 1, 1])
    x, y, z, w = node.get("rotation", [0, 0, 0, 1])
    r = [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), 2 * (x * y - z * w), 1 - 2 * (x * x + z * z),
         2 * (y * z + x * w), 2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)]
    return [r[0] * s[0], r[1] * s[0], r[2] * s[0], 0, r[3] * s[1], r[4] * s[1], r[5] * s[1], 0,
            r[6] * s[2], r[7] * s[2], r[8] * s[2], 0] + list(t) + [1]


def read_glb(path):
    """Triangles as (material name, three of (position, normal, uv)), and the images."""
    data = open(path, "rb").read()
    length = struct.unpack_from("<I", data, 12)[0]
    document, binary = json.loads(data[20:20 + length]), data[28 + length:]

    def view(index):
        one = document["bufferViews"][index]
        start = one.get("byteOffset", 0)
        return binary[start:start + one["byteLength"]], one.get("byteStride")

    def accessor(index):
        one = document["accessors"][index]
        content, stride = view(one["bufferView"])
        form, width = "<" + WIDTHS[one["type"]] * FORMATS[one["componentType"]], WIDTHS[one["type"]]
        stride = stride or struct.calcsize(form)
        start = one.get("byteOffset", 0)
        values = [struct.unpack_from(form, content, start + i * stride) for i in range(one["count"])]
        return [v[0] for v in values] if width == 1 else values

    triangles = []

    def visit(index, above):
        node = document["nodes"][index]
        m = multiply(above, local_matrix(node))
        for part in document["meshes"][node["mesh"]]["primitives"] if "mesh" in node else []:
            name = document["materials"][part["material"]]["name"] if "material" in part else ""
            attributes = part["attributes"]
            positions = [tuple(m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r] for r in range(3))
                         for p in accessor(attributes["POSITION"])]
            normals = []
            for n in accessor(attributes["NORMAL"]):
                moved = [m[r] * n[0] + m[4 + r] * n[1] + m[8 + r] * n[2] for r in range(3)]  # no model has skewed nodes
                size = math.sqrt(sum(x * x for x in moved)) or 1
                normals.append(tuple(x / size for x in moved))
            if "_NORMAL_LENGTH" in attributes:  # what cuts made: weights of corners in the sum
                lengths = accessor(attributes["_NORMAL_LENGTH"])
                normals = [tuple(length * x for x in n) for n, length in zip(normals, lengths)]
            uvs = accessor(attributes["TEXCOORD_0"]) if "TEXCOORD_0" in attributes else [(0, 0)] * len(positions)
            indices = accessor(part["indices"])
            for i in range(0, len(indices), 3):
                triangles.append((name, [(positions[k], normals[k], uvs[k]) for k in indices[i:i + 3]]))
        for child in node.get("children", []):
            visit(child, m)

    for root in document["scenes"][document.get("scene", 0)]["nodes"]:
        visit(root, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
    images = []
    for image in document.get("images", []):
        if "uri" in image:
            images.append(open(os.path.join(os.path.dirname(path), image["uri"]), "rb").read())
        else:
            images.append(view(image["bufferView"])[0])
    return triangles, images, document


def read_obj(path, unit=True):
    positions, uvs, normals, triangles, images, name = [], [], [], [], [], ""
    for line in open(path):
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            positions.append(tuple(map(float, words[1:4])))
        elif words[0] == "vt":
            uvs.append((float(words[1]), 1 - float(words[2])))
        elif words[0] == "vn":
            n = list(map(float, words[1:4]))
            size = (math.sqrt(sum(x * x for x in n)) or 1) if unit else 1
            normals.append(tuple(x / size for x in n))
        elif words[0] == "usemtl":
            name = words[1]
        elif words[0] == "mtllib":
            for entry in open(os.path.join(os.path.dirname(path), words[1])):
                if entry.strip().startswith("map_Kd"):
                    images.append(open(os.path.join(os.path.dirname(path), entry.split()[-1]), "rb").read())
        elif words[0] == "f":
            corners = []
            for word in words[1:]:
                numbers = [int(x) if x else 0 for x in (word + "//").split("/")[:3]]
                corners.append((positions[numbers[0] - 1], normals[numbers[2] - 1] if numbers[2] else None,
                                uvs[numbers[1] - 1] if numbers[1] else (0, 0)))
            for i in range(1, len(corners) - 1):
                triangles.append((name, [corners[0], corners[i], corners[i + 1]]))
    return triangles, images


def minus(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def weights_at(triangle, point, reach):
    """Barycentric weights of a point within `reach` of the triangle, or None."""
    a, b, c = (corner[0] for corner in triangle)
    for k in range(3):
        if not min(a[k], b[k], c[k]) - reach <= point[k] <= max(a[k], b[k], c[k]) + reach:
            return None
    u, v, w = minus(b, a), minus(c, a), minus(point, a)
    n = cross(u, v)
    area = dot(n, n)
    if area == 0 or abs(dot(n, w)) > reach * math.sqrt(area):
        return None
    second, third = dot(cross(w, v), n) / area, dot(cross(u, w), n) / area
    slack = reach * max(math.sqrt(dot(u, u)), math.sqrt(dot(v, v)), math.sqrt(dot(minus(b, c), minus(b, c)))) / math.sqrt(area)
    if min(second, third, 1 - second - third) < -slack:
        return None
    return 1 - second - third, second, third


def blend(triangle, weights, what):
    return [sum(w * corner[what][k] for w, corner in zip(weights, triangle)) for k in range(len(triangle[0][what]))]


def unit(v):
    size = math.sqrt(dot(v, v)) or 1
    return [x / size for x in v]


def check_points(pieces, source, seed):
    """Largest errors of UVs and normals over random points."""
    rng = random.Random(seed)
    outside = [t for name, t in pieces if name not in ("interior", "filled")]
    need(outside, "no outside")
    low = [min(c[0][k] for _, t in source for c in t) for k in range(3)]
    high = [max(c[0][k] for _, t in source for c in t) for k in range(3)]
    reach = 2e-6 * math.dist(low, high)
    areas = [math.sqrt(dot(n, n)) for n in (cross(minus(t[1][0], t[0][0]), minus(t[2][0], t[0][0])) for t in outside)]
    worst = [0, 0]
    for t in rng.choices(outside, areas, k=POINTS):
        a, b = sorted((rng.random(), rng.random()))
        weights = (a, b - a, 1 - b)
        point, normal, uv = (blend(t, weights, what) for what in range(3))
        facing = cross(minus(t[1][0], t[0][0]), minus(t[2][0], t[0][0]))
        best = None
        for _, candidate in source:
            at = weights_at(candidate, point, reach)
            if not at:
                continue
            p = [c[0] for c in candidate]
            flat = cross(minus(p[1], p[0]), minus(p[2], p[0]))
            if dot(flat, facing) <= 0:
                continue  # the other side of a thin wall, or turned by the repair
            error = max(abs(x - y) for x, y in zip(blend(candidate, at, 2), uv))
            told = candidate[0][1] is not None
            turned = math.dist(unit(blend(candidate, at, 1) if told else flat), unit(normal))
            if best is None or error + turned < sum(best):
                best = (error, turned)
        if best is None:
            worst.append(point)
            continue
        worst[0], worst[1] = max(worst[0], best[0]), max(worst[1], best[1])
    return worst[0], worst[1], len(worst) - 2


def check_usd(out, images):
    """The .usda names the images beside it; the .usdz holds it and them, stored at multiples of 64 bytes."""
    text = open(os.path.join(out, "a.usda")).read()
    files = set(re.findall(r"asset inputs:file = @@@([^@]*)@@@", text))
    need(sorted(open(os.path.join(out, n), "rb").read() for n in files) == sorted(set(images)), "textures of the .usda")
    for name, output in re.findall(r"connect = </Asset/Looks/[^/>]*/([^.>]*)\.outputs:([a-z]*)>", text):
        need('def Shader "%s"' % name in text, "a connection to %s" % name)
    path = os.path.join(out, "b.usdz")
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        need(archive.testzip() is None, "a checksum of the .usdz")
        names = archive.namelist()
        need(names[0] == "b.usda" and archive.read("b.usda").decode() == text.replace("@a_image", "@b_image"), "the .usda in the .usdz")
        need(sorted(archive.read(n) for n in names[1:]) == sorted(set(images)), "images of the .usdz")
        need(set(names[1:]) == {n.replace("a_image", "b_image") for n in files}, "names in the .usdz")
        for info in archive.infolist():
            file.seek(info.header_offset)
            head = file.read(30)
            start = info.header_offset + 30 + sum(struct.unpack_from("<HH", head, 26))
            need(info.compress_type == zipfile.ZIP_STORED and start % 64 == 0, info.filename + " is not aligned")


def graph_of(path):
    return {"rubble": 1, "nodes": {
        "mesh": {"type": "MeshToCollection", "params": {"file": path}},
        "points": {"type": "VolumePoints", "in": {"collection": "mesh"}, "params": {"count": 12, "seed": 3}},
        "cut": {"type": "VoronoiFracture", "in": {"collection": "mesh", "points": "points"}},
        "end": {"type": "Terminal", "in": {"collection": "cut"}, "params": {"files": ["a.glb", "a.obj", "a.rbl", "a.usda", "b.usdz"]}}}}


def run(rubble, graph, work):
    path = os.path.join(work, "graph.json")
    json.dump(graph, open(path, "w"))
    done = subprocess.run([rubble, "eval", path, "--out", os.path.join(work, "out")], capture_output=True, text=True)
    need(done.returncode == 0, done.stderr[-500:])


def copy_spot(work):
    """Spot comes without a library: one that names its texture is written beside it."""
    shutil.copy(os.path.join(MODELS, "spot_texture.png"), work)
    open(os.path.join(work, "spot.mtl"), "w").write("newmtl spot\nmap_Kd spot_texture.png\n")
    text = open(os.path.join(MODELS, "spot_triangulated.obj")).read()
    path = os.path.join(work, "spot.obj")
    open(path, "w").write("mtllib spot.mtl\nusemtl spot\n" + text)
    return path


def check(rubble, name, work):
    path = copy_spot(work) if name == "spot.obj" else os.path.abspath(os.path.join(MODELS, name))
    source, images = read_glb(path)[:2] if name.endswith(".glb") else read_obj(path)
    run(rubble, graph_of(path), work)
    out = os.path.join(work, "out")
    pieces, written, document = read_glb(os.path.join(out, "a.glb"))
    need(sorted(written) == sorted(set(images)), "images of the .glb are not those of the source")
    beside = [open(os.path.join(out, n), "rb").read() for n in os.listdir(out) if n.startswith("a_image_")]
    need(sorted(beside) == sorted(set(images)), "images beside the .obj are not those of the source")
    check_usd(out, images)
    first = open(os.path.join(out, "a.glb"), "rb").read()
    again = {"rubble": 1, "nodes": {
        "load": {"type": "LoadCollection", "params": {"file": os.path.join(out, "a.rbl")}},
        "end": {"type": "Terminal", "in": {"collection": "load"}, "params": {"files": ["b.glb"]}}}}
    run(rubble, again, work)
    need(open(os.path.join(out, "b.glb"), "rb").read() == first, "the .glb of the .rbl is another one")
    uv, normal, lost = check_points(pieces, source, name)
    print(f"{name}: {len(images)} images, {POINTS - lost} points, UVs within {uv:.2g}, normals within {normal:.2g}, {lost} not on the source")
    other = check_points(read_obj(os.path.join(out, "a.obj"), unit=False)[0], source, name)
    print(f"  .obj: UVs within {other[0]:.2g}, normals within {other[1]:.2g}, {other[2]} not on the source")
    return max(uv, other[0]), max(normal, other[1]), lost + other[2], os.path.join(out, "a.glb")


def validate(path, work):
    script = ("import fs from 'fs'; const v = (await import('gltf-validator')).default;"
              "const r = await v.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2])), {maxIssues: 20});"
              "console.log(JSON.stringify([r.issues.numErrors, r.issues.numWarnings, r.issues.messages.filter(m => m.severity < 2)]));")
    open(os.path.join(work, "v.mjs"), "w").write(script)
    done = subprocess.run(["node", "v.mjs", path], cwd=work, capture_output=True, text=True)
    need(done.returncode == 0, done.stderr)
    errors, warnings, messages = json.loads(done.stdout)
    need(errors == 0, f"gltf-validator: {messages[:3]}")
    print(f"  gltf-validator: 0 errors, {warnings} warnings")


def main():
    if not os.path.isdir(MODELS):
        print("SKIP textures: the models are not here")
        sys.exit(77)
    failed = 0
    npm = tempfile.mkdtemp()
    checked = "--validate" in sys.argv
    if checked:
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "gltf-validator@2.0.0-dev.3.10"], cwd=npm, check=True)
    for name in NAMES:
        with tempfile.TemporaryDirectory() as work:
            try:
                uv, normal, lost, path = check(sys.argv[1], name, work)
                if checked:
                    validate(path, npm)
                need(uv <= TOLERANCE and normal <= NORMAL_TOLERANCE and lost == 0, "points differ from the source")
            except Fault as fault:
                print(f"FAIL {name}: {fault}")
                failed += 1
    shutil.rmtree(npm)
    sys.exit(failed > 0)


TOLERANCE = 1e-6
NORMAL_TOLERANCE = 1e-6

if __name__ == "__main__":
    main()
