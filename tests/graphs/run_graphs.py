#!/usr/bin/env python3
"""Runs every example graph and checks what it wrote.

  run_graphs.py RUBBLE [GRAPH.json …]      default: graphs/*.json

For each graph: `check` accepts it; `eval` writes the files that its Terminals name, without a warning (but those of what
MeshToCollection repaired, where the mesh is not closed), the same bytes with 1 and with 4 threads; the pieces of the OBJ are closed, have volume and fill the source; bones, hulls and contacts of the JSON
agree with it; the GLB holds a mesh for each piece; another seed gives other pieces; `render` draws it, where it is built.
"""
import glob
import hashlib
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import obj

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Fault(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Fault(text)


def run(arguments, **options):
    p = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, **options)
    return p.returncode, p.stdout, p.stderr


def last_lines(text, count=4):
    return " | ".join(text.strip().splitlines()[:count])[:400]


def terminal_files(graph):
    return [f for n in graph["nodes"].values() if n["type"].startswith("Terminal")
        for f in n.get("params", {}).get("files", [])]


def hashes(folder, files):
    return {f: hashlib.sha256(open(os.path.join(folder, f), "rb").read()).hexdigest() for f in files}


def source_parts(path, graph):
    """Positions and objects of the mesh that the variable `mesh` names."""
    mesh = graph.get("vars", {}).get("mesh")
    if not mesh:
        return [], []
    positions, _, _, parts = obj.read(os.path.join(os.path.dirname(path), mesh["default"]))
    return positions, parts


def is_closed(path, graph):
    return not any(obj.open_edges(p.triangles) for p in source_parts(path, graph)[1])


def source_volume(path, graph):
    """Volumes of the mesh and of all boxes that MakePrimitive makes; None where the mesh is not closed."""
    positions, parts = source_parts(path, graph)
    if not is_closed(path, graph):
        return None
    total = [obj.volume(positions, p.triangles) for p in parts]
    for node in graph["nodes"].values():
        if node["type"] == "MakePrimitive" and node.get("params", {}).get("shape", "box") == "box":
            total.append(math.prod(node.get("params", {}).get("size", [1, 1, 1])))
    return math.fsum(total) if total else None


def check_obj(path, expected_volume):
    positions, _, _, parts = obj.read(path)
    pieces = {p.name: p for p in parts if not p.name.endswith("_sheet")}
    need(pieces, "no pieces in the OBJ")
    need(len(pieces) == sum(1 for p in parts if not p.name.endswith("_sheet")), "two pieces of one name")
    volumes = {}
    for name, p in pieces.items():
        bad = obj.open_edges(p.triangles)
        need(not bad, f"piece {name}: {len(bad)} edges without exactly one mate")
        volumes[name] = obj.volume(positions, p.triangles)
        need(volumes[name] > 0, f"piece {name}: volume {volumes[name]:g}")
    total = math.fsum(volumes.values())
    if expected_volume:
        need(abs(total - expected_volume) <= 1e-9 * expected_volume,
            f"pieces hold {total:.12g}, the source {expected_volume:.12g}")
    return volumes, len(parts) - len(pieces)


def check_json(path, volumes):
    document = json.load(open(path))
    bones = {b["name"]: b for b in document["bones"]}
    need(len(bones) == len(document["bones"]), "two bones of one name")
    need(sum(1 for b in bones.values() if b["parent"] is None) == 1, "not exactly one root")
    for b in bones.values():
        if b["parent"] is not None:
            need(b["parent"] in bones, f"bone {b['name']} has no parent {b['parent']}")
            need(b["level"] == bones[b["parent"]]["level"] + 1, f"level of bone {b['name']}")
    parents = {b["parent"] for b in bones.values() if not b["name"].endswith("_sheet")}
    for name, volume in volumes.items():
        need(name in bones, f"piece {name} is not among the bones")
        b = bones[name]
        need(name not in parents, f"piece {name} has children")
        need(abs(b["volume"] - volume) <= 1e-9 * abs(volume) + 1e-15, f"volume of bone {name}")
        need(b["hulls"], f"piece {name} has no hull")
        need(math.fsum(h["volume"] for h in b["hulls"]) >= volume * (1 - 1e-6) or len(b["hulls"]) > 1,
            f"the hull of {name} is smaller than the piece")
    need(document["proximity"], "no contacts")
    for pair in document["proximity"]:
        need(pair["a"] in bones and pair["b"] in bones and pair["a"] != pair["b"], "a contact of unknown bones")
    for pair in document["connections"]:
        need(bones[pair["a"]]["parent"] == bones[pair["b"]]["parent"], "a connection of bones that are not siblings")


def check_glb(path, piece_count):
    data = open(path, "rb").read()
    magic, version, size = struct.unpack_from("<4sII", data)
    need((magic, version, size) == (b"glTF", 2, len(data)), "not a GLB")
    json_size, kind = struct.unpack_from("<I4s", data, 12)
    need(kind == b"JSON", "GLB without JSON")
    document = json.loads(data[20:20 + json_size])
    meshes = [n for n in document["nodes"] if "mesh" in n
        and not re.match(r"UCX_|.*(-colonly|-convcolonly|_collider)", n.get("name", ""))]
    need(len(meshes) == piece_count, f"{len(meshes)} nodes with a mesh in the GLB for {piece_count} pieces and sheets")


def evaluate(rubble, path, out, *more):
    code, stdout, stderr = run([rubble, "eval", path, "--out", out, "--no-cache", *more])
    need(code == 0, f"eval: exit {code}: {last_lines(stderr)}")
    return stdout, stderr


def check_graph(rubble, path, out):
    graph = json.load(open(path))
    files = terminal_files(graph)
    need(files, "no Terminal that writes a file")
    code, _, stderr = run([rubble, "check", path])
    need(code == 0, f"check: exit {code}: {last_lines(stderr)}")
    one, many, other = (os.path.join(out, d) for d in ("one", "many", "other"))
    _, stderr = evaluate(rubble, path, one, "--threads", "1")
    warnings = [l for l in stderr.splitlines() if "warning:" in l]
    if not is_closed(path, graph):
        readers = [n for n, node in graph["nodes"].items() if node["type"] == "MeshToCollection"]
        need(warnings, "does not say what was repaired")
        warnings = [l for l in warnings if not any(f'(node "{n}")' in l for n in readers)]
    need(not warnings, "warns: " + last_lines("\n".join(warnings)))
    for f in files:
        need(os.path.exists(os.path.join(one, f)), f"{f} was not written")
    beside = {f[:-4] + ".mtl" for f in files if f.endswith(".obj")}
    left = [f for f in os.listdir(one) if f not in files and f not in beside and not f.endswith(".manifest.json")]
    need(not left, f"unexpected file {left[:1]}")
    evaluate(rubble, path, many, "--threads", "4")
    need(hashes(one, files) == hashes(many, files), "other bytes with 4 threads")
    volumes, sheets = {}, 0
    for f in files:
        if f.endswith(".obj"):
            volumes, sheets = check_obj(os.path.join(one, f), source_volume(path, graph))
    need(len(volumes) > 1, "fewer than two pieces")
    for f in files:
        if f.endswith(".json"):
            check_json(os.path.join(one, f), volumes)
        elif f.endswith(".glb"):
            check_glb(os.path.join(one, f), len(volumes) + sheets)
    if "seed" in graph.get("vars", {}):
        evaluate(rubble, path, other, "--set", "seed=99")
        need(hashes(one, files) != hashes(other, files), "another seed gives the same pieces")
    return len(volumes), os.path.join(one, next((f for f in files if f.endswith(".rbl")), files[0]))


def check_render(rubble, collection, out):
    picture = os.path.join(out, "small.png")
    code, _, stderr = run([rubble, "render", collection, "-o", picture, "--size", "64x48", "--explode", "0.2"])
    need(code == 0, f"render: exit {code}: {last_lines(stderr)}")
    data = open(picture, "rb").read()
    need(data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack_from(">II", data, 16) == (64, 48), "render: not the picture")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    rubble = os.path.abspath(sys.argv[1])
    graphs = sys.argv[2:] or sorted(glob.glob(os.path.join(ROOT, "graphs", "*.json")))
    has_render = run([rubble, "render", "--help"])[0] == 0
    passed = failed = skipped = 0
    for path in graphs:
        name = os.path.relpath(path, ROOT)
        out = tempfile.mkdtemp(prefix="rubble-graph-")
        try:
            count, collection = check_graph(rubble, path, out)
            if has_render:
                check_render(rubble, collection, out)
            print(f"ok   {name}: {count} pieces")
            passed += 1
        except (Fault, OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as e:
            print(f"FAIL {name}: {e if isinstance(e, Fault) else type(e).__name__ + ' ' + str(e)}")
            failed += 1
        finally:
            shutil.rmtree(out, ignore_errors=True)
    if not has_render:
        print("skip pictures of the graphs: `rubble render` is not built")
        skipped += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
