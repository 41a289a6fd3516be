#!/usr/bin/env python3
"""Compares convex decompositions with V-HACD's, on ten meshes, at equal numbers of hulls.

  compare_vhacd.py RUBBLE MODELS [--hulls 8,32] [--work FOLDER]

MODELS is the folder with the shared test models. Each mesh is read and closed by rubble; both programs then get that mesh
and at most so many hulls of at most 64 vertices: rubble by CreateLeafConvexHulls, V-HACD as npm's vhacd-js (WebAssembly)
with its defaults but for those two limits. Prints a Markdown table: the hulls made; how much more volume they have
together than the mesh (parts that overlap count twice); how far a point of the mesh is from all hulls, at most, in
percent of the mesh's diagonal; and CPU seconds. Installs vhacd-js into FOLDER, or a temporary folder."""
import argparse
import json
import math
import os
import shutil
import subprocess
import tempfile

MESHES = ["spot_triangulated.obj", "koala_low_resolution.obj", "skull_low_resolution.obj", "boot.obj", "wingnut.obj",
          "gearwheel.ascii.stl", "featuretype.STL", "plate_holes.STL", "pinion.off", "angle_block.STL"]
SCRIPT = """
import fs from "fs";
import {ConvexMeshDecomposition} from "vhacd-js/lib/vhacd.js";
const input = JSON.parse(fs.readFileSync(0, "utf8"));
const maker = await ConvexMeshDecomposition.create();
const start = process.cpuUsage();
const hulls = maker.computeConvexHulls({positions: new Float64Array(input.positions), indices: new Uint32Array(input.indices)},
  {maxHulls: input.hulls, maxVerticesPerHull: 64});
const used = process.cpuUsage(start);
console.log(JSON.stringify({cpu: (used.user + used.system) / 1e6,
  hulls: hulls.map(h => ({positions: Array.from(h.positions), indices: Array.from(h.indices)}))}));
"""


def read_obj(path):
    points, objects, name = [], {}, None
    with open(path) as file:
        for line in file:
            word = line.split()
            if word and word[0] == "v":
                points.append(tuple(map(float, word[1:4])))
            elif word and word[0] == "o":
                name = word[1]
                objects[name] = []
            elif word and word[0] == "f":
                objects[name].append([int(w.split("/")[0]) - 1 for w in word[1:4]])
    return points, objects


def compact(points, triangles):
    used = sorted({i for t in triangles for i in t})
    index = {u: i for i, u in enumerate(used)}
    return [points[u] for u in used], [[index[i] for i in t] for t in triangles]


def volume(points, triangles):
    o = points[0]
    total = []
    for t in triangles:
        a, b, c = ([points[i][k] - o[k] for k in range(3)] for i in t)
        total.append(a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                     a[2] * (b[0] * c[1] - b[1] * c[0]))
    return math.fsum(total) / 6


def planes(points, triangles):
    out = []
    for t in triangles:
        a, b, c = (points[i] for i in t)
        u, v = [b[k] - a[k] for k in range(3)], [c[k] - a[k] for k in range(3)]
        n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        length = math.sqrt(sum(x * x for x in n))
        if length > 0:
            n = [x / length for x in n]
            out.append((n[0], n[1], n[2], sum(n[k] * a[k] for k in range(3))))
    return out


def farthest(points, hulls):
    """How far a point is beyond the hull that it is least beyond, at most."""
    sides, worst = [planes(*h) for h in hulls], 0
    for p in points:
        least = math.inf
        for side in sides:
            beyond = 0
            for n in side:
                beyond = max(beyond, n[0] * p[0] + n[1] * p[1] + n[2] * p[2] - n[3])
                if beyond >= least:
                    break
            least = min(least, beyond)
            if least <= worst:
                break
        worst = max(worst, least)
    return worst


def by_rubble(rubble, path, work, count):
    graph = {"rubble": 1, "nodes": {
        "mesh": {"type": "MeshToCollection", "params": {"file": path}},
        "hulls": {"type": "CreateLeafConvexHulls", "in": {"collection": "mesh"},
                  "params": {"max_vertices": 64, "decomposition": {"max_hulls": count}}},
        "end": {"type": "Terminal", "in": {"collection": "hulls"}, "params": {"files": ["out.obj"], "colliders": "ucx"}}}}
    file, report = os.path.join(work, "graph.json"), os.path.join(work, "report.json")
    with open(file, "w") as out:
        json.dump(graph, out)
    subprocess.run([rubble, "eval", file, "--out", work, "--no-cache", "--report", report, "--threads", "1"], check=True,
                   capture_output=True)
    points, objects = read_obj(os.path.join(work, "out.obj"))
    hulls = [compact(points, t) for n, t in objects.items() if n.startswith("UCX_")]
    mesh = compact(points, [f for n, t in objects.items() if not n.startswith("UCX_") and not n.endswith("_sheet") for f in t])
    with open(report) as text:
        cpu = next(n["cpu_ms"] for n in json.load(text)["nodes"] if n["node"] == "hulls") / 1000
    return mesh, hulls, cpu


def by_vhacd(mesh, work, count):
    points, triangles = mesh
    data = json.dumps({"positions": [x for p in points for x in p], "indices": [i for t in triangles for i in t], "hulls": count})
    done = subprocess.run(["node", "vhacd.mjs"], input=data, capture_output=True, text=True, cwd=work, check=True)
    answer = json.loads(done.stdout.splitlines()[-1])
    hulls = []
    for h in answer["hulls"]:
        p = [tuple(h["positions"][i:i + 3]) for i in range(0, len(h["positions"]), 3)]
        hulls.append((p, [h["indices"][i:i + 3] for i in range(0, len(h["indices"]), 3)]))
    return hulls, answer["cpu"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rubble")
    parser.add_argument("models")
    parser.add_argument("--hulls", default="8,32")
    parser.add_argument("--work")
    options = parser.parse_args()
    work = options.work or tempfile.mkdtemp(prefix="rubble-vhacd-")
    os.makedirs(work, exist_ok=True)
    try:
        if not os.path.isdir(os.path.join(work, "node_modules", "vhacd-js")):
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", work, "vhacd-js@0.0.1"], check=True)
        with open(os.path.join(work, "vhacd.mjs"), "w") as file:
            file.write(SCRIPT)
        print("| mesh | at most | hulls | excess | outside | CPU s | V-HACD: hulls | excess | outside | CPU s |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for name in MESHES:
            for count in map(int, options.hulls.split(",")):
                mesh, ours, our_cpu = by_rubble(os.path.abspath(options.rubble), os.path.abspath(
                    os.path.join(options.models, name)), work, count)
                theirs, their_cpu = by_vhacd(mesh, work, count)
                whole = volume(*mesh)
                diagonal = math.dist([min(p[k] for p in mesh[0]) for k in range(3)], [max(p[k] for p in mesh[0]) for k in range(3)])
                cells = []
                for hulls, cpu in ((ours, our_cpu), (theirs, their_cpu)):
                    cells += ["%d" % len(hulls), "%.1f %%" % (100 * (sum(abs(volume(*h)) for h in hulls) / whole - 1)),
                              "%.2g %%" % (100 * farthest(mesh[0], hulls) / diagonal), "%.2f" % cpu]
                print("| %s | %d | %s |" % (name.split(".")[0], count, " | ".join(cells)), flush=True)
    finally:
        if not options.work:
            shutil.rmtree(work, ignore_errors=True)


main()
