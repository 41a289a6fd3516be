#!/usr/bin/env python3
"""Reads real models with MeshToCollection and checks what it makes of them.

  run_models.py RUBBLE [MODELS_DIR] [--shuffles N] [--seed N] [--only PART-OF-NAME]

MODELS_DIR is ../shared/models beside the project unless given; without it the exit code is 77, skipped.
- Every file of a readable format gives closed solids, or an error that says why it does not.
- The order of a file's triangles changes neither what is reported nor the volume by a bit: N random orders of each model
  (1; 12 with RUBBLE_SLOW, none with RUBBLE_BRIEF). With triangles that start at other corners, too, messages are the same and
  volumes to 1e-12.
- "join": "scene" makes one solid of parts that meet, and of those alone: which parts meet is found by trying triangles.
"""
import argparse
import glob
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "graphs"))
import obj
import test_meshes

FORMATS = ("obj", "stl", "ply", "off", "glb")
REFUSED = ("moebius.obj", "soup.stl", "triple_vierbein.obj")  # no solid in them


def inspect(rubble, path):
    p = subprocess.run([rubble, "inspect", path, "--json"], capture_output=True, text=True, stdin=subprocess.DEVNULL,
        timeout=600)
    return p.returncode, p.stdout, p.stderr.replace(os.path.dirname(path), "")


def report(rubble, path):
    """What a person is told of a file, without its place."""
    code, out, err = inspect(rubble, path)
    if code:
        return {"error": err}
    document = json.loads(out)
    return {"messages": [(m["severity"], m["text"]) for m in document["messages"]], "summary": document["summary"],
        "shells": document.get("shells"), "holes": document.get("holes")}


# Shuffling


class Shuffler(random.Random):
    """Random numbers, and whether triangles are turned, too."""
    turns = False

    def turned(self, triangle):
        k = self.randrange(len(triangle)) if self.turns and len(triangle) == 3 else 0
        return triangle[k:] + triangle[:k]


def shuffle_obj(data, rng):
    """Faces change places within their object, group and material."""
    out, faces = [], []

    def flush():
        rng.shuffle(faces)
        out.extend(b"f " + b" ".join(rng.turned(f)) for f in faces)
        faces.clear()

    for line in data.split(b"\n"):
        words = line.split()
        if words[:1] == [b"f"] and not line.rstrip().endswith(b"\\") and not any(w.startswith(b"-") for w in words):
            faces.append(words[1:])
            continue
        if words and words[0] in (b"o", b"g", b"usemtl", b"s", b"f"):
            flush()
        out.append(line)
    flush()
    return b"\n".join(out) + b"\n"


def shuffle_stl(data, rng):
    count = struct.unpack_from("<I", data, 80)[0] if len(data) >= 84 else 0
    if len(data) == 84 + 50 * count:
        facets = [data[84 + 50 * i:134 + 50 * i] for i in range(count)]
        rng.shuffle(facets)
        return data[:84] + b"".join(f[:12] + b"".join(rng.turned([f[12:24], f[24:36], f[36:48]])) + f[48:] for f in facets)
    facets = re.findall(rb"facet\b.*?endfacet", data, re.S)
    head, tail = data[:data.index(facets[0])], data[data.rindex(b"endfacet") + 8:]
    rng.shuffle(facets)
    return head + b"\n".join(facets) + tail


def shuffle_off(data, rng):
    lines = [l for l in data.split(b"\n") if l.strip() and not l.lstrip().startswith(b"#")]
    counts = lines[1].split() if lines[0].strip() == b"OFF" else lines[0].split()[1:]
    first = (2 if lines[0].strip() == b"OFF" else 1) + int(counts[0])
    faces = lines[first:first + int(counts[1])]
    rng.shuffle(faces)
    return b"\n".join(lines[:first] + faces + lines[first + int(counts[1]):]) + b"\n"


def shuffle_ply(data, rng):
    """Binary little-endian triangles, their int indices first; None for other files."""
    end = data.index(b"end_header\n") + 11
    header = data[:end].decode()
    if "binary_little_endian" not in header or header.count("property list") != 1:
        return None
    vertices, faces = (int(re.search(rf"element {k} (\d+)", header)[1]) for k in ("vertex", "face"))
    sizes = {"float": 4, "double": 8, "uchar": 1, "uint8": 1, "int": 4, "uint": 4, "float32": 4, "int32": 4, "uint32": 4}
    between = header[header.index("element vertex"):header.index("element face")]
    row = sum(sizes[w] for w in re.findall(r"property (\w+) \w+", between))
    start, size = end + vertices * row, 13 + sum(sizes[w] for w in re.findall(r"property (?!list)(\w+) \w+",
        header[header.index("element face"):]))
    if len(data) != start + size * faces:
        return None
    rows = [data[start + size * i:start + size * (i + 1)] for i in range(faces)]
    rng.shuffle(rows)
    return data[:start] + b"".join(r[:1] + b"".join(rng.turned([r[1:5], r[5:9], r[9:13]])) + r[13:] for r in rows)


def shuffle_glb(data, rng):
    """The index triples of each primitive that has some."""
    size = struct.unpack_from("<I", data, 12)[0]
    document, out, binary, done = json.loads(data[20:20 + size]), bytearray(data), 28 + size, set()
    for primitive in (p for m in document["meshes"] for p in m["primitives"]):
        if "indices" not in primitive or primitive.get("mode", 4) != 4 or primitive["indices"] in done:
            continue
        done.add(primitive["indices"])
        accessor = document["accessors"][primitive["indices"]]
        view = document["bufferViews"][accessor["bufferView"]]
        width = {5121: 1, 5123: 2, 5125: 4}[accessor["componentType"]]
        at = binary + view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        index = [bytes(out[at + width * i:at + width * i + width]) for i in range(accessor["count"])]
        triangles = [rng.turned(index[i:i + 3]) for i in range(0, len(index), 3)]
        rng.shuffle(triangles)
        out[at:at + width * len(index)] = b"".join(b"".join(t) for t in triangles)
    return bytes(out)


SHUFFLE = {"obj": shuffle_obj, "stl": shuffle_stl, "off": shuffle_off, "ply": shuffle_ply, "glb": shuffle_glb}


def differences(a, b, exact):
    if not exact:
        a, b = ({"error": d.get("error"), "messages": d.get("messages"),
            "volumes": [d["summary"]["volume"]] + [s["volume"] for s in d["shells"]] if "summary" in d else []} for d in (a, b))
        if a["messages"] == b["messages"] and a["error"] == b["error"] and len(a["volumes"]) == len(b["volumes"]) and \
                all(abs(u - v) <= 1e-12 * max(map(abs, a["volumes"])) for u, v in zip(a["volumes"], b["volumes"])):
            return ""
    return ", ".join(f"{k}: {str(a.get(k))[:300]} | {str(b.get(k))[:300]}" for k in {**a, **b} if a.get(k) != b.get(k))


def check_shuffles(rubble, path, count, seed, folder):
    """@return "" or why an order changes the report"""
    with open(path, "rb") as f:
        data = f.read()
    kind = path.rsplit(".", 1)[1].lower()
    copy = os.path.join(folder, os.path.basename(path))
    wanted = None
    for number in range(count + 1):
        rng = Shuffler(f"{seed} {os.path.basename(path)} {number}")
        rng.turns = number > count // 2
        shuffled = data if number == 0 else SHUFFLE[kind](data, rng)
        if shuffled is None:
            return "cannot be shuffled"
        with open(copy, "wb") as f:
            f.write(shuffled)
        got = report(rubble, copy)
        if number == 0:
            wanted = got
            continue
        why = differences(wanted, got, not rng.turns)
        if why:
            return f"order {number} of seed {seed}: {why}"
    os.remove(copy)
    return ""


# What comes of it


def read(rubble, path, folder, **parameters):
    """@return exit code, messages, positions and objects of the solids that MeshToCollection makes"""
    graph = {"rubble": 1, "nodes": {
        "mesh": {"type": "MeshToCollection", "params": {"file": os.path.abspath(path), **parameters}},
        "end": {"type": "Terminal", "in": {"collection": "mesh"}, "params": {"files": ["solids.obj"], "hulls_if_missing": False}}}}
    with open(os.path.join(folder, "graph.json"), "w") as f:
        json.dump(graph, f)
    p = subprocess.run([rubble, "eval", os.path.join(folder, "graph.json"), "--out", folder, "--no-cache"],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    positions, parts = [], []
    if p.returncode == 0:
        positions, _, _, parts = obj.read(os.path.join(folder, "solids.obj"))
    return p.returncode, p.stderr, positions, parts


def check_result(rubble, path, folder):
    """@return "" or what is wrong with the solids"""
    code, messages, positions, parts = read(rubble, path, folder)
    name = os.path.basename(path)
    if name in REFUSED:
        told = re.search(r"error: .*there is no solid in the mesh", messages)
        return "" if code == 1 and told else f"exit {code}: {messages[:200]}"
    if code:
        return f"exit {code}: {messages[:300]}"
    solids = [p for p in parts if not p.name.endswith("_sheet")]
    if not solids:
        return "no solid"
    for p in solids:
        bad = obj.open_edges(p.triangles)
        if bad:
            return f"{p.name}: {len(bad)} edges without exactly one mate"
        if obj.volume(positions, p.triangles) <= 0:
            return f"{p.name}: no volume"
    return ""


def meeting_groups(positions, parts):
    """How many groups the objects form, where those belong together of which triangles go through each other."""
    owner, triangles, group = [], [], list(range(len(parts)))
    for k, p in enumerate(parts):
        triangles += p.triangles
        owner += [k] * len(p.triangles)

    def find(k):
        while group[k] != k:
            k = group[k]
        return k

    for a, b in test_meshes.crossings(positions, triangles):
        group[find(owner[a])] = find(owner[b])
    return len({find(k) for k in range(len(parts))})


def check_scene(rubble, path, folder):
    """@return "" or why the scene did not become the right number of solids"""
    code, messages, positions, parts = read(rubble, path, folder, join="none")
    if code:
        return messages[:200]
    wanted = meeting_groups(positions, parts)
    code, messages, positions, united = read(rubble, path, folder, join="scene")
    if code:
        return messages[:200]
    bad = [p.name for p in united if obj.open_edges(p.triangles)]
    if bad:
        return f"{bad[0]} is open"
    return "" if len(united) == wanted else f"{len(united)} solids of {len(parts)} parts, {wanted} groups meet"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rubble")
    parser.add_argument("models", nargs="?", default=os.path.join(os.environ.get("RUBBLE_SHARED",
        os.path.join(os.path.dirname(ROOT), "shared")), "models"))
    slow, brief = (os.environ.get(name, "0") not in ("", "0") for name in ("RUBBLE_SLOW", "RUBBLE_BRIEF"))
    parser.add_argument("--shuffles", type=int, default=12 if slow else 0 if brief else 1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    a = parser.parse_args()
    rubble = os.path.abspath(a.rubble)
    if not os.path.isdir(a.models):
        print(f"no models in {a.models}: skipped")
        sys.exit(77)
    files = sorted(f for f in glob.glob(os.path.join(a.models, "**", "*"), recursive=True)
        if f.rsplit(".", 1)[-1].lower() in FORMATS and a.only in f)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rubble-models-") as folder:
        for path in files:
            results = [("solids", check_result(rubble, path, folder))]
            if a.shuffles:
                results.append(("orders", check_shuffles(rubble, path, a.shuffles, a.seed, folder)))
            for name, why in results:
                failed += bool(why)
                print(f"FAIL {os.path.basename(path)}, {name}: {why}" if why else f"ok   {os.path.basename(path)}, {name}", flush=True)
        for path in (f for f in files if os.path.basename(f) in ("pins.glb", "rabbit.obj")):
            why = check_scene(rubble, path, folder)
            failed += bool(why)
            print(f"FAIL {os.path.basename(path)} as a scene: {why}" if why else f"ok   {os.path.basename(path)} as a scene")
    print(f"seed {a.seed}, {len(files)} models, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
