#!/usr/bin/env python3
"""Opens .glb and .usda in web loaders and compares what they make of them: run_loaders.py RUBBLE

three's GLTFLoader and USDLoader and tinyusdz (npm, pinned by package-lock.json here) run in Debian's chromium. All must give
the same tree: names, parents, transforms, triangles, bounds, materials; and that of the .json of the same run. Ends with
`N passed, N failed`. What is missing (node, npm, a registry, chromium) is a skip that says so.

Limits of the loaders, each seen in its source, and what is compared instead:
- USDLoader (three 0.187) never sets the name of a material (USDComposer._buildMaterial): colours stand for names.
- It knows prims by their identifiers, not by displayName: names that are no identifiers are compared as identifiers.
- tinyusdz's JavaScript (0.9.0-rc10) tells one material a mesh, without its name, and nothing of GeomSubset: we bind the mesh
  to the material with the most faces, too, and that colour is compared.
- The .glb leaves out triangles that collapse in single precision; the .usda keeps them, with two equal points.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NAMES = ["1 brick", "a/b.c [x]", "mesh", "collider_00", "Looks", "ziegel_ü", 'say "no\\"', "plain", "</script>"]


class Fault(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Fault(text)


def skip(why):
    print(f"skip loaders: {why}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def near(a, b, tolerance):
    return a is not None and b is not None and len(a) == len(b) and all(abs(x - y) <= tolerance for x, y in zip(a, b))


# ---- files ----

def install(work):
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(HERE, name), work)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=work,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if done.returncode:
        skip("npm cannot install the loaders: " + (done.stdout + done.stderr).strip()[-200:])


def wall_graph():
    """The wall of two levels, with and without physics."""
    with open(os.path.join(ROOT, "graphs", "wall.json")) as f:
        graph = json.load(f)
    graph["vars"]["mesh"]["default"] = os.path.join(ROOT, "graphs", "meshes", "wall.obj")
    source = graph["nodes"].pop("end")["in"]
    for colliders, files in (("none", ["wall.glb", "wall.usda", "wall.json"]), ("khr_physics", ["wall_khr.glb"]),
            ("godot", ["wall_godot.glb"]), ("usd", ["wall_physics.usda"])):
        graph["nodes"]["end_" + colliders] = {"type": "Terminal", "in": dict(source),
            "params": {"files": files, "colliders": colliders}}
    return graph


def names_graph(folder):
    """Boxes with names that no identifier may have, each in pieces."""
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    quads = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    with open(os.path.join(folder, "names.obj"), "w") as f:
        for i, name in enumerate(NAMES):
            f.write(f"o {name}\n" + "".join(f"v {2 * i + x} {y} {z}\n" for x, y, z in corners))
            f.write("".join("f " + " ".join(str(8 * i + c) for c in q) + "\n" for q in quads))
    return {"rubble": 1, "nodes": {
        "mesh": {"type": "MeshToCollection", "params": {"file": "names.obj"}},
        "cut": {"type": "UniformFracture", "in": {"collection": "mesh"},
                "params": {"min_sites": 3, "max_sites": 3, "group_fracture": False}},
        "end": {"type": "Terminal", "in": {"collection": "cut"}, "params": {"files": ["names.glb", "names.usda", "names.json"]}}}}


def evaluate(rubble, name, graph, folder):
    path = os.path.join(folder, name + "_graph.json")
    with open(path, "w") as f:
        json.dump(graph, f)
    done = subprocess.run([rubble, "eval", path, "--out", os.path.join(folder, "out"), "--no-cache"], capture_output=True, text=True)
    need(done.returncode == 0, done.stderr[-800:])


# ---- checks ----

def is_name(usd, name):
    """A prim's name is the bone's, but for what an identifier cannot hold (one _ for each byte) and for names that are taken."""
    like = re.sub(r"_+", "_", re.sub(r"\W", "_", name, flags=re.A))
    return re.fullmatch(f"_?{like}(_\\d+)?", re.sub(r"_+", "_", usd)) is not None


def colors_of(tree, by):
    """Triangles of each material, by colour or by name."""
    out = []
    for bone in tree:
        sums = {}
        for m in bone["materials"]:
            key = m[by] if by == "name" else tuple(round(c, 5) for c in m["color"])
            sums[key] = sums.get(key, 0) + m["triangles"]
        out.append(sums)
    return out


def check_json(tree, bones):
    """A tree of the .glb beside the .json of its run."""
    need([b["name"] for b in tree] == [b["name"] for b in ordered(bones)], "names, or their order")
    for got, want in zip(tree, ordered(bones)):
        name = want["name"]
        need(got["parent"] == want["parent"], f"{name} hangs on {got['parent']}")
        need(got["triangles"] <= want["triangles"] and (got["triangles"] > 0) == (want["triangles"] > 0), f"{name}: {got['triangles']} triangles")
        need(got["extras"]["rubble"]["level"] == want["level"], f"{name}: extras {got['extras']}")
        if want["triangles"]:
            reach = 1e-6 * max(abs(x) for corner in want["bounds"] for x in corner)
            need(near(got["min"], want["bounds"][0], reach) and near(got["max"], want["bounds"][1], reach), f"{name}: bounds")
    return f"{len(tree)} bones, {sum(b['triangles'] for b in tree)} triangles"


def ordered(bones):
    """Depth first, children in their order: as a scene is walked through."""
    children = {}
    for b in bones:
        children.setdefault(b["parent"], []).append(b)
    out, stack = [], children[None][::-1]
    while stack:
        b = stack.pop()
        out.append(b)
        stack += children.get(b["name"], [])[::-1]
    return out


def check_same(glb, other, plain, exact_counts):
    """A tree of the .usda beside that of the .glb."""
    need(len(glb) == len(other), f"{len(other)} bones, not {len(glb)}")
    renamed = {None: None}
    for a, b in zip(glb, other):
        need(is_name(b["name"], a["name"]) and (not plain or a["name"] == b["name"]), f"{a['name']} is {b['name']}")
        renamed[a["name"]] = b["name"]
    need(len(set(renamed.values())) == len(renamed), "two prims of one name")
    lost = 0
    for a, b in zip(glb, other):
        name = a["name"]
        need(renamed[a["parent"]] == b["parent"], f"{name} hangs on {b['parent']}")
        need(near(a["matrix"], b["matrix"], 1e-12), f"{name}: {a['matrix']} and {b['matrix']}")
        lost += b["triangles"] - a["triangles"]
        need(b["triangles"] == a["triangles"] or not exact_counts and b["triangles"] > a["triangles"], f"{name}: triangles")
        if a["min"]:
            reach = 1e-6 * max(abs(x) for x in a["min"] + a["max"])
            need(near(a["min"], b["min"], reach) and near(a["max"], b["max"], reach), f"{name}: bounds")
    return f"{len(other)} bones, {lost} triangles more than in the .glb"


def check_colors(glb, other, whole):
    """Colours with their triangles; or, where a mesh tells of one material only, the one of most triangles."""
    pieces = 0
    for a, b, got, want in zip(glb, other, colors_of(other, "color"), colors_of(glb, "color")):
        if not want:
            continue
        pieces += 1
        if whole:
            need(set(got) == set(want) and all(got[c] - want[c] in range(0, 1 + b["triangles"] - a["triangles"]) for c in want),
                 f"{a['name']}: {got}, not {want}")
        else:
            color, = got
            need(want.get(color, 0) + b["triangles"] - a["triangles"] >= max(want.values()), f"{a['name']}: {color} of {want}")
    need(pieces > 0, "no pieces")
    return f"{pieces} pieces"


def check_material_names(tree):
    names = {n for sums in colors_of(tree, "name") for n in sums}
    need(names == {"stone", "plaster", "interior"}, str(names))


def check_old_names(glb, tiny):
    for a, b in zip(glb, tiny):
        need(b.get("displayName", b["name"]) == a["name"], f"{a['name']} is shown as {b.get('displayName', b['name'])}")


def tests_of(facts, bones):
    def tree(file, loader):
        got = facts[file][loader]
        need("error" not in got, str(got)[:500])
        return got

    def wall(file="wall.glb"):
        return [b for b in tree(file, "glb") if not b["name"].endswith("-convcolonly")]

    yield "wall.glb in GLTFLoader is the .json", lambda: check_json(wall(), bones["wall"])
    yield "wall.glb in GLTFLoader has the materials", lambda: check_material_names(wall())
    yield "wall.glb with physics is the same", lambda: check_json(wall("wall_khr.glb"), bones["wall"])
    yield "wall.glb for Godot is the same", lambda: check_json(wall("wall_godot.glb"), bones["wall"])
    for file in ("wall.usda", "wall_physics.usda"):
        for loader, title in (("usda", "USDLoader"), ("tiny", "tinyusdz")):
            yield f"{file} in {title} is the .glb", lambda f=file, l=loader: check_same(wall(), tree(f, l), True, False)
            yield f"{file} in {title} has the colours", lambda f=file, l=loader: check_colors(wall(), tree(f, l), l == "usda")
    yield "names.glb in GLTFLoader is the .json", lambda: check_json(tree("names.glb", "glb"), bones["names"])
    for loader, title in (("usda", "USDLoader"), ("tiny", "tinyusdz")):
        yield f"names.usda in {title} is the .glb", lambda l=loader: check_same(tree("names.glb", "glb"), tree("names.usda", l), False, True)
    yield "names.usda tells the names as they were", lambda: check_old_names(tree("names.glb", "glb"), tree("names.usda", "tiny"))


def main():
    rubble = os.path.abspath(sys.argv[1])
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    for name, path in (("node", shutil.which("node")), ("npm", shutil.which("npm")), ("chromium", chromium)):
        if not path:
            skip(f"{name} is not installed")
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="rubble-loaders-") as work:
        install(work)
        evaluate(rubble, "wall", wall_graph(), work)
        evaluate(rubble, "names", names_graph(work), work)
        out, path = os.path.join(work, "out"), os.path.join(work, "facts.json")
        done = subprocess.run(["node", os.path.join(HERE, "loaders.mjs"), chromium, out, work, path], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=600)
        if done.returncode:
            print(f"FAIL loaders: {(done.stdout + done.stderr).strip()[-1500:]}\n0 passed, 1 failed")
            sys.exit(1)
        with open(path) as f:
            facts = json.load(f)
        bones = {}
        for name in ("wall", "names"):
            with open(os.path.join(out, name + ".json")) as f:
                bones[name] = json.load(f)["bones"]
        for name, body in tests_of(facts, bones):
            try:
                print(f"ok   {name}: {body() or 'as it should be'}")
                passed += 1
            except (Fault, KeyError, TypeError, ValueError) as e:
                print(f"FAIL {name}: {e if isinstance(e, Fault) else repr(e)}")
                failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
