#!/usr/bin/env python3
"""Checks the files of Terminal, over every example graph: formats, colliders, compression, extras.

  check_exports.py RUBBLE [WORK]

Each graph gets further Terminals, one for each word of `colliders` and of `compression`. Every .glb must be without an error or
a warning for gltf-validator (npm), but for extensions that it does not know; compressed ones are unpacked by meshoptimizer's
JavaScript decoder and compared with the plain one; extras.rubble is compared with the .json; every .usda must be read by three's USDLoader and by tinyusdz (npm), with all pieces in place. Shapes, masses and
joints are then compared with the .json and .obj of the same run by code that shares nothing with rubble. Installs the npm
packages into a temporary folder (or WORK, which is kept); says SKIP and exits with 77 when node, npm or the registry is
missing.

Copies of graphs/box.json with colliders by size, with anchored pieces and without masses are checked, too."""
import glob
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODES = {"none": (["glb", "obj", "json", "ply", "stl"], {}), "khr_physics": (["glb"], {"colliders": "khr_physics"}),
         "ucx": (["glb", "obj"], {"colliders": "ucx"}), "godot": (["glb"], {"colliders": "godot"}), "usd": (["usda"], {"colliders": "usd"}),
         "khr_meshopt": (["glb"], {"compression": "meshopt", "colliders": "khr_physics"})}
# Of graphs/box.json and its variant alone, to save time.
MORE_MODES = {"quantize": (["glb"], {"compression": "quantize"}),
         "khr_quantize": (["glb"], {"compression": "quantize", "colliders": "khr_physics"}),
         "godot_quantize": (["glb"], {"compression": "quantize", "colliders": "godot"}),
         "ucx_quantize": (["glb"], {"compression": "quantize", "colliders": "ucx"})}
MORE_MODES["meshopt"] = (["glb"], {"compression": "meshopt"})
PACKAGES = ["gltf-validator@2.0.0-dev.3.10", "three@0.187.0", "tinyusdz@0.9.0-rc10"]
# Reads names of files from a JSON list on stdin; tells what is in each.
SCRIPT = """
import fs from "fs";
// tinyusdz is built for browsers alone: it looks for a worker.
Object.assign(globalThis, {self: globalThis, WorkerGlobalScope: function () {}, importScripts: () => {}, location: {href: "http://x/"}});
Object.defineProperty(process, "type", {value: "renderer"});
const validator = (await import("gltf-validator")).default, THREE = await import("three");
const {USDLoader} = await import("three/addons/loaders/USDLoader.js");
const tiny = await (await import("tinyusdz/tinyusdz.js")).default({wasmBinary: fs.readFileSync("node_modules/tinyusdz/tinyusdz.wasm")});
const {MeshoptDecoder} = await import("three/addons/libs/meshopt_decoder.module.js");
await MeshoptDecoder.ready;
// A .glb without EXT_meshopt_compression beside the one with it.
function unpack(name, bytes) {
  const view = new DataView(bytes.buffer), length = view.getUint32(12, true);
  const doc = JSON.parse(new TextDecoder().decode(bytes.subarray(20, 20 + length))), packed = bytes.subarray(28 + length);
  if (!(doc.extensionsRequired || []).includes("EXT_meshopt_compression")) return;
  const parts = [];
  let at = 0;
  for (const v of doc.bufferViews) {
    const e = v.extensions?.EXT_meshopt_compression;
    let out = packed.subarray(v.byteOffset, v.byteOffset + v.byteLength);
    if (e) {
      out = new Uint8Array(e.count * e.byteStride);
      MeshoptDecoder.decodeGltfBuffer(out, e.count, e.byteStride, packed.subarray(e.byteOffset, e.byteOffset + e.byteLength), e.mode, e.filter);
    }
    delete v.extensions;
    Object.assign(v, {buffer: 0, byteOffset: at, byteLength: out.length});
    parts.push(out, new Uint8Array((4 - out.length % 4) % 4));
    at += out.length + (4 - out.length % 4) % 4;
  }
  doc.buffers = [{byteLength: at}];
  for (const key of ["extensionsUsed", "extensionsRequired"]) doc[key] = doc[key].filter(x => x !== "EXT_meshopt_compression");
  let text = JSON.stringify(doc);
  while (Buffer.byteLength(text) % 4) text += " ";
  const json = Buffer.from(text), head = Buffer.alloc(28);
  head.write("glTF", 0); head.writeUInt32LE(2, 4); head.writeUInt32LE(28 + json.length + at, 8);
  head.writeUInt32LE(json.length, 12); head.write("JSON", 16);
  const chunk = Buffer.alloc(8);
  chunk.writeUInt32LE(at, 0); chunk.write("BIN", 4);
  fs.writeFileSync(name.replace(/glb$/, "unpacked.glb"), Buffer.concat([head.subarray(0, 20), json, chunk, ...parts]));
}
const known = new Set(["UNSUPPORTED_EXTENSION"]);
const answers = {};
for (const name of JSON.parse(fs.readFileSync(0, "utf8"))) {
  const bytes = new Uint8Array(fs.readFileSync(name));
  if (name.endsWith(".glb")) {
    unpack(name, bytes);
    const report = await validator.validateBytes(bytes, {maxIssues: 100, ignoredIssues: ["UNUSED_OBJECT"]});
    const bad = report.issues.messages.filter(m => m.severity < 2 && !known.has(m.code));
    answers[name] = {errors: bad.length, messages: bad.slice(0, 5).map(m => m.code + " " + m.pointer + " " + m.message)};
    continue;
  }
  const root = new USDLoader().parse(new TextDecoder().decode(bytes)), box = new THREE.Box3();
  let meshes = 0, triangles = 0;
  root.updateMatrixWorld(true);
  root.traverse(o => {
    if (!o.isMesh || o.name !== "mesh") return;
    const geometry = o.geometry;
    meshes++;
    triangles += (geometry.index || geometry.attributes.position).count / 3;
    box.expandByObject(o, true);
  });
  const loader = new tiny.TinyUSDZLoaderNative(), ok = loader.loadFromBinary(bytes, "x.usda");
  answers[name] = {meshes, triangles, min: box.min.toArray(), max: box.max.toArray(), tiny: ok ? loader.numMeshes() : loader.error()};
  loader.delete();
}
console.log(JSON.stringify(answers));
"""


class Fault(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Fault(text)


def skip(why):
    print("SKIP export test:", why)
    sys.exit(77)


def install(work):
    if not shutil.which("node") or not shutil.which("npm"):
        skip("node and npm are not here")
    if not os.path.isdir(os.path.join(work, "node_modules", "tinyusdz")):
        command = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--fetch-retries=0", "--fetch-timeout=20000",
                   "--prefix", work] + PACKAGES
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        except subprocess.TimeoutExpired:
            skip("npm does not answer")
        if done.returncode != 0:
            skip("npm cannot install the packages: " + done.stderr.strip()[-200:])
    with open(os.path.join(work, "read.mjs"), "w") as file:
        file.write(SCRIPT)


# ---- graphs ----

def variants(graph):
    """The box with shapes by size, held ones and no masses."""
    box = json.loads(json.dumps(graph))
    end = next(k for k, n in box["nodes"].items() if n["type"] == "Terminal")
    before = box["nodes"][end]["in"]["collection"]
    nodes = box["nodes"]
    nodes["chosen"] = {"type": "SelectRandom", "in": {"collection": before}, "params": {"chance": 0.3}}
    nodes["held"] = {"type": "SetAnchored", "in": {"collection": before, "selection": "chosen"}}
    nodes["led"] = {"type": "SetSimulationType", "in": {"collection": "held", "selection": "some"},
                    "params": {"type": "kinematic"}}
    nodes["some"] = {"type": "SelectRandom", "in": {"collection": before}, "params": {"chance": 0.2, "seed": 3}}
    nodes["sized"] = {"type": "SetColliders", "in": {"collection": "led"},
                      "params": {"box_below": 0.38, "sphere_below": 0.34, "none_below": 0.3}}
    nodes["near_"] = {"type": "Proximity", "in": {"collection": "sized"},
                      "params": {"contact_area": "geometry", "connection_graph": True}}
    nodes[end]["in"]["collection"] = "near_"
    return box


def add_terminals(graph, modes):
    """Replaces each Terminal by one for each mode; gives the modes' names of files."""
    for key in [k for k, n in graph["nodes"].items() if n["type"].startswith("Terminal")]:
        node = graph["nodes"].pop(key)
        source = node["in"]["collection"]
    files = {}
    for mode, (kinds, params) in modes.items():
        files[mode] = ["%s.%s" % (mode, kind) for kind in kinds]
        graph["nodes"]["end_" + mode] = {"type": "Terminal", "in": {"collection": source}, "params": {"files": files[mode], **params}}
    return files


# ---- readers ----

def read_glb(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<I", data[12:16])[0]
    document = json.loads(data[20:20 + length])
    return document, data[28 + length:]


def accessor(glb, index):
    document, binary = glb
    a = document["accessors"][index]
    view = document["bufferViews"][a["bufferView"]]
    width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[a["type"]]
    kind = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}[a["componentType"]]
    start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
    gap = view.get("byteStride", 0) - struct.calcsize("<%d%s" % (width, kind))
    values = [v for v in struct.iter_unpack("<%d%s%dx" % (width, kind, max(gap, 0)),
                                            binary[start:start + a["count"] * max(view.get("byteStride", 0), struct.calcsize("<%d%s" % (width, kind)))])]
    return values if width > 1 else [v[0] for v in values]


def mesh_of(glb, index):
    points, triangles = [], []
    for primitive in glb[0]["meshes"][index]["primitives"]:
        first = len(points)
        points += accessor(glb, primitive["attributes"]["POSITION"])
        indices = accessor(glb, primitive["indices"])
        triangles += [tuple(first + i for i in indices[t:t + 3]) for t in range(0, len(indices), 3)]
    return points, triangles


def read_obj(path):
    """Objects of an OBJ: name → (points, triangles)."""
    points, objects, name = [], {}, None
    with open(path) as file:
        for line in file:
            word = line.split()
            if not word:
                continue
            if word[0] == "v":
                points.append(tuple(map(float, word[1:4])))
            elif word[0] == "o":
                name = line[2:].strip()
                need(name not in objects, "two objects " + name)
                objects[name] = []
            elif word[0] == "f":
                objects[name].append(tuple(int(w.split("/")[0]) - 1 for w in word[1:4]))
    return {n: (points, t) for n, t in objects.items()}


# ---- geometry ----

def sub(a, b):
    return [a[k] - b[k] for k in range(3)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def size_of(points):
    return max(max(p[k] for p in points) - min(p[k] for p in points) for k in range(3))


def volume(points, triangles):
    return math.fsum(dot(points[t[0]], cross(points[t[1]], points[t[2]])) for t in triangles) / 6


def excess(hull, points, rounded=False):
    """How far points are beyond the planes of a convex mesh; `rounded`: by as much as planes of thin triangles shift when
    corners are rounded to float."""
    corners, triangles = hull
    most = 0
    for t in triangles:
        a = corners[t[0]]
        n = cross(sub(corners[t[1]], a), sub(corners[t[2]], a))
        length = math.sqrt(dot(n, n))
        longest = max(math.dist(corners[t[k]], corners[t[k - 1]]) for k in range(3)) if rounded else 0
        if length > 1e-12 * size_of(corners) ** 2:
            most = max([most] + [dot(n, sub(p, a)) / (length + longest * longest) for p in points])
    return most


def check_closed(name, triangles):
    edges = {}
    for t in triangles:
        for k in range(3):
            edges[(t[k], t[(k + 1) % 3])] = edges.get((t[k], t[(k + 1) % 3]), 0) + 1
    need(all(n == 1 and edges.get((b, a)) == 1 for (a, b), n in edges.items()), name + " is not closed")


# ---- checks ----

def check_facts(glb, told, bones):
    nodes = glb[0]["nodes"]
    contacts = {}
    for pair in told["proximity"]:
        contacts.setdefault(pair["a"], {})[pair["b"]] = contacts.setdefault(pair["b"], {})[pair["a"]] = pair["area"]
    for pair in told["connections"]:
        for a, b in ((pair["a"], pair["b"]), (pair["b"], pair["a"])):
            if not told["proximity"] or bones[a]["type"] != "rigid":
                contacts.setdefault(a, {})[b] = pair["area"]
    for node in nodes[:len(bones)]:
        bone, facts = bones[node["name"]], node["extras"]["rubble"]
        need(facts["level"] == bone["level"] and abs(facts["volume"] - bone["volume"]) <= 1e-12 * abs(bone["volume"]),
             node["name"] + ": level or volume in extras")
        need(facts.get("mass") == bone["mass"] and facts.get("anchored", False) == bone["anchored"] and
             facts.get("threshold") == bone.get("damage_threshold"), node["name"] + ": mass, anchored or threshold in extras")
        found = {nodes[n]["name"]: area for n, area in facts.get("contacts", [])}
        right = contacts.get(node["name"], {})
        need(len(found) == len(facts.get("contacts", [])) and found.keys() == right.keys(), node["name"] + ": contacts in extras")
        for other, area in right.items():
            need(found[other] == -1 if area is None else abs(area - found[other]) <= 1e-6 * area,
                 node["name"] + ": area in extras")


def moved_to(glb):
    """Translations of nodes in the world; bones of the examples do not turn."""
    nodes, out = glb[0]["nodes"], {}

    def visit(index, at):
        t = nodes[index].get("translation", [0, 0, 0])
        out[index] = [at[k] + t[k] for k in range(3)]
        for child in nodes[index].get("children", []):
            visit(child, out[index])

    for index in glb[0]["scenes"][0]["nodes"]:
        visit(index, [0, 0, 0])
    return out


def check_quantized(glb, plain, bones):
    """The pieces of a quantized file are those of the plain one, within half a step, on one grid."""
    nodes, places, flat_places = glb[0]["nodes"], moved_to(glb), moved_to(plain)
    triangles = 0
    for index, node in enumerate(nodes[:len(bones)]):
        flat = plain[0]["nodes"][index]
        need(node["name"] == flat["name"] and "mesh" not in node, "a node with a quantized mesh")
        below = [c for c in node.get("children", []) if nodes[c]["name"] == node["name"] + "_mesh"]
        need(len(below) == ("mesh" in flat), node["name"] + ": nodes of meshes")
        if not below:
            continue
        scale = nodes[below[0]]["scale"]
        need(scale[0] == scale[1] == scale[2] and math.frexp(scale[0])[0] == 0.5, node["name"] + ": scale")
        step = scale[0]
        origin = [places[index][k] / step for k in range(3)]
        need(all(o == int(o) for o in origin), node["name"] + " is not on the grid")
        points, faces = mesh_of(glb, nodes[below[0]]["mesh"])
        corners, flat_faces = mesh_of(plain, flat["mesh"])
        grid = {tuple(int(origin[k]) + p[k] for k in range(3)) for p in points}
        wanted = {tuple(math.floor((flat_places[index][k] + c[k]) / step + 0.5) for k in range(3)) for c in corners}
        for p in grid - wanted:  # the plain file was rounded to float before
            near = ((p[0] + i, p[1] + j, p[2] + k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1))
            need(any(q in wanted for q in near), node["name"] + ": a corner where none was")
        need(len(faces) <= len(flat_faces), node["name"] + ": triangles")
        triangles += len(faces)
        if bones[node["name"]]["triangles"] == len(faces) and len(grid) == len({tuple(c) for c in corners}):
            check_closed_at(node["name"], points, faces, bones[node["name"]]["sheet"])
    return triangles


def check_closed_at(name, points, faces, sheet):
    numbers = {}
    welded = [numbers.setdefault(tuple(p), len(numbers)) for p in points]
    if not sheet:
        check_closed(name, [tuple(welded[i] for i in t) for t in faces])


def check_khr(glb, bones, holds):
    nodes = glb[0]["nodes"]
    shapes = glb[0].get("extensions", {}).get("KHR_implicit_shapes", {}).get("shapes", [])
    found = {"box": 0, "sphere": 0, "convex": 0}
    for node in nodes[:len(bones)]:
        bone = bones[node["name"]]
        if bone["type"] != "rigid" or "mesh" not in node:
            continue
        name, shape = node["name"], bone.get("collider", "convex")
        body = node.get("extensions", {}).get("KHR_physics_rigid_bodies", {})
        moves = bone["simulation"] in ("dynamic", "kinematic") and not bone["anchored"] and not bone["sheet"]
        need(("motion" in body) == moves, name + ": motion")
        points, _ = mesh_of(glb, node["mesh"])
        if moves:
            motion = body["motion"]
            need(motion.get("isKinematic", False) == (bone["simulation"] == "kinematic"), name + ": kinematic")
            need(motion["mass"] > 0 and min(motion["inertiaDiagonal"]) > 0, name + ": mass")
            mass = bone["mass"] if bone["mass"] is not None else 2400 * bone["volume"]
            need(abs(motion["mass"] - mass) <= 1e-9 * mass, name + ": mass %g, not %g" % (motion["mass"], mass))
            need(abs(dot(motion["inertiaOrientation"], motion["inertiaOrientation"]) - 1) < 1e-12, name + ": quaternion")
            i = sorted(motion["inertiaDiagonal"])
            need(i[0] + i[1] >= i[2] * (1 - 1e-6), name + ": moments of no body")
            if "inertia" in bone:
                check_inertia(name, motion, bone)
            need(all(min(p[k] for p in points) <= motion["centerOfMass"][k] <= max(p[k] for p in points)
                     for k in range(3)), name + ": centre of mass outside")
        own = [c for c in [(node, body.get("collider"))] if c[1]]
        own += [(nodes[c], nodes[c].get("extensions", {}).get("KHR_physics_rigid_bodies", {}).get("collider"))
                for c in node.get("children", []) if c >= len(bones)]
        if bone["sheet"] or shape == "none":
            need(not own, name + ": a collider")
            continue
        need(len(own) == (len(bone["hulls"]) if shape == "convex" else 1), name + ": %d colliders" % len(own))
        for at, collider in own:
            geometry, size = collider["geometry"], size_of(points)
            offset = at.get("translation", [0, 0, 0]) if at is not node else [0, 0, 0]
            if shape == "convex":
                hull = mesh_of(glb, nodes[geometry["node"]]["mesh"])
                need(geometry["convexHull"] is True and volume(*hull) > 0, name + ": hull")
                check_closed(name, hull[1])
                beyond = excess(hull, points, True) if holds and len(own) == 1 else 0
                need(beyond <= 4e-6 * size, name + " is not in its hull: %g" % beyond)
            elif shape == "box":
                box = shapes[geometry["shape"]]["box"]["size"]
                need(not holds or all(abs(p[k] - offset[k]) <= box[k] / 2 + 1e-6 * size for p in points for k in range(3)),
                     name + " is not in its box")
            else:
                radius = shapes[geometry["shape"]]["sphere"]["radius"]
                need(not holds or all(math.dist(p, offset) <= radius + 1e-6 * size for p in points), name + " is not in its sphere")
            found[shape] += 1
    return found


def check_extras(document, asset):
    """What the .glb tells beyond glTF's own words must be what the .json tells."""
    names = [n["name"] for n in document["nodes"]]
    for node, bone in zip(document["nodes"], asset["bones"]):
        extras, name = node["extras"]["rubble"], node["name"]
        need(name == bone["name"] and list(node["extras"]) == ["rubble"], name + ": extras")
        need(extras.get("sheet", False) == bone["sheet"], name + ": sheet")
    graph = document["scenes"][0].get("extras", {}).get("rubble", {}).get("connections", {"a": [], "b": []})
    areas = graph.get("area", [-1] * len(graph["a"]))
    found = [(names[a], names[b], None if area < 0 else area) for a, b, area in zip(graph["a"], graph["b"], areas)]
    need(found == [(c["a"], c["b"], c["area"]) for c in asset.get("connections", [])], "connections")


def check_inertia(name, motion, bone):
    """Moments and axes must give the tensor again (bones of the examples do not turn)."""
    x, y, z, w = motion["inertiaOrientation"]
    r = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
         [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
         [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    tensor = [[sum(r[i][k] * motion["inertiaDiagonal"][k] * r[j][k] for k in range(3)) for j in range(3)] for i in range(3)]
    d, p = bone["inertia"], bone["inertia_products"]
    right = [[d[0], p[0], p[2]], [p[0], d[1], p[1]], [p[2], p[1], d[2]]]
    need(all(abs(tensor[i][j] - right[i][j]) <= 1e-7 * max(d) for i in range(3) for j in range(3)), name + ": inertia")


def check_named(glb, bones, prefixes, suffix):
    """Nodes of colliders are beside the piece with a prefix, or below it with a suffix."""
    nodes = glb[0]["nodes"]
    names = [n["name"] for n in nodes]
    for node in nodes[:len(bones)]:
        bone = bones[node["name"]]
        shape = bone.get("collider", "convex")
        solid = bone["type"] == "rigid" and not bone["sheet"] and bone["triangles"] > 0 and bone["simulation"] != "none"
        count = len(bone["hulls"]) if shape == "convex" else 0 if shape == "none" else 1
        if suffix:
            found = sum(c >= len(bones) and names[c].startswith(bone["name"]) and names[c].endswith(suffix)
                        for c in node.get("children", []))
        else:
            pattern = re.compile(re.escape(prefixes.get(shape, "") + bone["name"]) + r"_\d\d$")
            found = sum(bool(pattern.match(n)) for n in names[len(bones):])
        need(found == (count if solid else 0), "%s: %d colliders" % (bone["name"], found))


def check_ucx_obj(path, pieces, bones, holds):
    objects = read_obj(path)
    for name, (points, triangles) in objects.items():
        match = re.match(r"U(CX|BX|SP)_(.*)_\d\d$", name)
        if not match:
            continue
        bone = bones[match.group(2)]
        corners = sorted({i for t in triangles for i in t})
        index = {c: i for i, c in enumerate(corners)}
        hull = [points[c] for c in corners], [tuple(index[i] for i in t) for t in triangles]
        check_closed(name, hull[1])
        need(volume(*hull) > 0, name + ": inside out")
        piece = [pieces[bone["name"]][0][i] for i in {i for t in pieces[bone["name"]][1] for i in t}]
        if holds and len(bone["hulls"]) == 1 and match.group(1) != "SP":
            need(excess(hull, piece) <= 1e-9 * size_of(hull[0]), name + " does not hold its piece: " + str(excess(hull, piece)))


def check_usda(text, answer, bones):
    pieces = [b for b in bones.values() if b["type"] == "rigid" and b["triangles"] > 0]
    need(answer["meshes"] == len(pieces), "three finds %d meshes of %d" % (answer["meshes"], len(pieces)))
    need(answer["triangles"] == sum(b["triangles"] for b in pieces), "three finds %d triangles" % answer["triangles"])
    need(isinstance(answer["tiny"], int) and answer["tiny"] >= len(pieces), "tinyusdz: %s" % answer["tiny"])
    for k in range(3):
        low, high = min(b["bounds"][0][k] for b in pieces), max(b["bounds"][1][k] for b in pieces)
        need(abs(answer["min"][k] - low) + abs(answer["max"][k] - high) <= 1e-5 * max(1e-3, high - low), "bounds in three")
    need(text.count("{") == text.count("}") and text.count("(") == text.count(")"), "brackets")
    moving = sum(b["simulation"] in ("dynamic", "kinematic") and not b["anchored"] and not b["sheet"] for b in pieces)
    need(text.count('"PhysicsRigidBodyAPI"') == moving, "rigid bodies")
    solid = [b for b in pieces if not b["sheet"] and b.get("collider", "convex") != "none"]
    need(text.count('"PhysicsCollisionAPI"') == sum(len(b["hulls"]) if b.get("collider", "convex") == "convex" else 1
                                                    for b in solid), "colliders")
    joints = re.findall(r'PhysicsFixedJoint "joint_\d+"\s*\{\s*rel physics:body0 = <([^>]*)>\s*rel physics:body1 = <([^>]*)>'
                        r'.*?breakForce = (\S+).*?breakTorque = (\S+)', text, re.S)
    need(len(joints) == text.count("def PhysicsFixedJoint"), "joints")
    for a, b, force, torque in joints:
        need(a != b and float(force) > 0 and float(torque) > 0, "joint of %s and %s" % (a, b))
        for path in (a, b):
            need('"%s"' % path.split("/")[-1] in text, "there is no prim " + path)
    return len(joints)


def check_graph(name, graph, folder, rubble, work):
    files = add_terminals(graph, {**MODES, **MORE_MODES} if name.startswith("box") else MODES)
    path = os.path.join(folder, "checked_" + name)
    out = os.path.join(folder, "out_" + name)
    with open(path, "w") as file:
        json.dump(graph, file)
    done = subprocess.run([rubble, "eval", path, "--out", out, "--no-cache"], capture_output=True, text=True)
    need(done.returncode == 0, done.stderr[-500:])
    names = [os.path.join(out, f) for mode in files.values() for f in mode if f.endswith((".glb", ".usda"))]
    done = subprocess.run(["node", "read.mjs"], input=json.dumps(names), capture_output=True, text=True, cwd=work)
    need(done.returncode == 0, done.stderr[-1500:])
    answers = json.loads(done.stdout.splitlines()[-1])
    for file, answer in answers.items():
        if file.endswith(".glb"):
            need(answer["errors"] == 0, "%s: %s" % (os.path.basename(file), answer["messages"]))
    with open(os.path.join(out, "none.json")) as file:
        asset = json.load(file)
    bones = {b["name"]: b for b in asset["bones"]}
    holds = not any(n["type"] in ("CreateNonOverlappingConvexHulls", "SimplifyConvexHulls") for n in graph["nodes"].values())
    plain = read_glb(os.path.join(out, "none.glb"))
    check_facts(plain, asset, bones)
    need("extensionsUsed" not in plain[0] and len(plain[0]["nodes"]) == len(bones), "colliders where none were asked for")
    check_extras(plain[0], asset)
    found = check_khr(read_glb(os.path.join(out, "khr_physics.glb")), bones, holds)
    check_named(read_glb(os.path.join(out, "ucx.glb")), bones, {"convex": "UCX_", "box": "UBX_", "sphere": "USP_"}, "")
    check_named(read_glb(os.path.join(out, "godot.glb")), bones, {}, "-convcolonly")
    check_ucx_obj(os.path.join(out, "ucx.obj"), read_obj(os.path.join(out, "none.obj")), bones, holds)
    for mode in files:
        if "quantize" in mode or "meshopt" in mode:
            unpacked = os.path.join(out, mode + ".unpacked.glb")
            check_quantized(read_glb(unpacked if os.path.exists(unpacked) else os.path.join(out, mode + ".glb")), plain, bones)
    usda = os.path.join(out, "usd.usda")
    with open(usda) as file:
        joints = check_usda(file.read(), answers[usda], bones)
    return "%d convex, %d box, %d sphere, %d joints" % (found["convex"], found["box"], found["sphere"], joints)


def has_meshopt(rubble, work):
    path = os.path.join(work, "meshopt.json")
    with open(path, "w") as file:
        json.dump({"rubble": 1, "nodes": {"box": {"type": "MakePrimitive"}, "end": {
            "type": "Terminal", "in": {"collection": "box"}, "params": {"files": ["a.glb"], "compression": "meshopt"}}}}, file)
    done = subprocess.run([rubble, "check", path], capture_output=True, text=True)
    need(done.returncode == 0 or "built without meshoptimizer" in done.stderr, done.stderr)
    return done.returncode == 0


def main():
    rubble = os.path.abspath(sys.argv[1])
    work = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="rubble-exports-")
    folder, failed = os.path.join(work, "graphs"), 0
    if not has_meshopt(rubble, work):
        print("note: this rubble was built without meshoptimizer")
        MODES["khr_meshopt"][1]["compression"] = MORE_MODES["meshopt"][1]["compression"] = "quantize"
    try:
        install(work)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, "graphs"), folder)
        graphs = {}
        for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
            with open(path) as file:
                graph = json.load(file)
            if any(n["type"].startswith("Terminal") for n in graph.get("nodes", {}).values()):
                graphs[os.path.basename(path)] = graph
        graphs["box_shapes.json"] = variants(graphs["box.json"])
        for name, graph in graphs.items():
            try:
                print("ok   %s: %s" % (name, check_graph(name, graph, folder, rubble, work)))
            except Fault as fault:
                print("FAIL %s: %s" % (name, fault))
                failed += 1
        print("%d graphs, %d failed" % (len(graphs), failed))
    finally:
        if len(sys.argv) <= 2:
            shutil.rmtree(work, ignore_errors=True)
    sys.exit(1 if failed else 0)


main()
