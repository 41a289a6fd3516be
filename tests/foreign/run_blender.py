#!/usr/bin/env python3
"""Imports exports into Blender and compares what it has with the .json of the same run: run_blender.py RUBBLE [--all]

The walls of graphs/ (--all: every graph there) and, where ../shared is, a model with textures are evaluated; their .glb and
.obj are imported by `blender -b` (Debian's 3.4), and objects, parents, materials, UV layers, volumes, bounds and closure
must be those of the .json and of the graph. The walls' pieces are also checked by ../shared/tools/check_pieces.py. Ends with
`N passed, N failed`. A missing Blender is a failure for root, who can install it (tools/packages.sh), else a skip."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARED = os.environ.get("RUBBLE_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
TEXTURED = os.path.join(SHARED, "models", "pillar_decorated.glb")


class Fault(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Fault(text)


def near(a, b, tolerance):
    return len(a) == len(b) and all(abs(x - y) <= tolerance for x, y in zip(a, b))


# ---- files ----

def terminal_of(graph):
    return next(n for n in graph["nodes"].values() if n["type"].startswith("Terminal"))


def check_properties(properties, bone):
    """extras.rubble, of which Blender makes a group. Numbers of contacts are those of the file."""
    told = properties.get("rubble", {})
    need(list(properties) == ["rubble"] and told.get("level") == bone["level"], f"{bone['name']}: properties {properties}")
    need(told.get("mass") == bone["mass"] and told.get("threshold") == bone.get("damage_threshold"), f"{bone['name']}: {told}")
    need(bool(told.get("anchored")) == bone["anchored"], f"{bone['name']}: {told}")
    need(told.get("contacts", [[0, 0]]) and all(len(c) == 2 for c in told.get("contacts", [])), f"{bone['name']}: {told}")


def graph_of(name):
    with open(os.path.join(ROOT, "graphs", name + ".json")) as f:
        graph = json.load(f)
    terminal_of(graph)["params"] = {"files": ["plain.glb", "plain.obj", "plain.json", "plain.rbl"]}
    return graph


def with_colliders(graph):
    graph["nodes"]["also"] = {"type": "Terminal", "in": dict(terminal_of(graph)["in"]),
                              "params": {"files": ["ucx.glb"], "colliders": "ucx"}}
    return graph


def textured_graph():
    return {"rubble": 1, "nodes": {
        "mesh": {"type": "MeshToCollection", "params": {"file": TEXTURED}},
        "cut": {"type": "UniformFracture", "in": {"collection": "mesh"}, "params": {"min_sites": 12, "max_sites": 12}},
        "end": {"type": "Terminal", "in": {"collection": "cut"},
                "params": {"files": ["plain.glb", "plain.obj", "plain.json", "plain.rbl"]}}}}


def evaluate(rubble, name, graph, folder):
    path, out = os.path.join(folder, name + ".json"), os.path.join(folder, "out_" + name)
    with open(path, "w") as f:
        json.dump(graph, f)
    done = subprocess.run([rubble, "eval", path, "--out", out, "--no-cache"], capture_output=True, text=True)
    need(done.returncode == 0, done.stderr[-800:])
    return out


def inspect(rubble, out):
    done = subprocess.run([rubble, "inspect", os.path.join(out, "plain.rbl"), "--json"], capture_output=True, text=True)
    need(done.returncode == 0, done.stderr[-800:])
    return json.loads(done.stdout)


def blender_facts(folder, files):
    path = os.path.join(folder, "facts.json")
    # Blender's Python takes its packages from where the first python3 of the PATH has them: that must be Debian's.
    environment = dict(os.environ, PATH="/usr/bin:/bin")
    done = subprocess.run([shutil.which("blender"), "-b", "--factory-startup", "--python", os.path.join(HERE, "blender_facts.py"),
        "--", path, *files], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=600)
    need(done.returncode == 0 and os.path.exists(path), (done.stdout + done.stderr)[-1500:])
    with open(path) as f:
        return json.load(f)


# ---- checks ----

def rounding_of(bone):
    """Files and Blender hold floats, and Blender turns what it reads."""
    low, high = bone["bounds"]
    return 1e-6 * (max(high[k] - low[k] for k in range(3)) + max(abs(x) for x in low + high))


def check_bounds(objects, bones):
    """Bounds of a bone hold what hangs on it, too: clusters have no other, and sheets hang on pieces."""
    bounds = {n: [list(o["min"]), list(o["max"])] for n, o in objects.items() if o["type"] == "MESH"}
    for name in sorted(bones, key=lambda n: -bones[n]["level"]):
        parent, own = bones[name]["parent"], bounds.get(name)
        if own is None:
            continue
        need(all(near(a, b, rounding_of(bones[name])) for a, b in zip(own, bones[name]["bounds"])),
             f"{name}: bounds {own}, not {bones[name]['bounds']}")
        if parent is not None:
            whole = bounds.setdefault(parent, [list(own[0]), list(own[1])])
            bounds[parent] = [list(map(min, whole[0], own[0])), list(map(max, whole[1], own[1]))]


def check_piece(o, bone, materials, has_uvs, closed):
    name = bone["name"]
    size = max(bone["bounds"][1][k] - bone["bounds"][0][k] for k in range(3))
    if not bone["sheet"]:
        tolerance = 4 * rounding_of(bone) * size * size
        need(abs(o["volume"] - bone["volume"]) <= tolerance, f"{name}: volume {o['volume']}, not {bone['volume']}")
    need(o["polygon_sizes"] == [3], f"{name}: {o['polygon_sizes']} corners")
    need(set(o["materials"]) <= set(materials), f"{name}: materials {o['materials']}")
    need(o["used_materials"] == list(range(len(o["materials"]))), f"{name}: a material without faces")
    need(len(o["uv_layers"]) == (1 if has_uvs else 0), f"{name}: UV layers {o['uv_layers']}")
    need(not closed or bone["sheet"] or o["open_edges"] == 0, f"{name}: {o['open_edges']} open edges")


def by_name(objects):
    found = {o["name"]: o for o in objects}
    need(len(found) == len(objects), "two objects of one name")
    return found


def check_materials(facts, summary, images):
    need(sorted(m["name"] for m in facts["materials"]) == sorted(summary["materials"]), "materials " + str(facts["materials"]))
    found = [i["size"] for m in facts["materials"] for i in m["images"]]
    need(len(found) >= images and all(min(s) > 0 for s in found), f"images {found}")


def check_glb(facts, bones, summary, has_uvs, images=0):
    objects = by_name(facts["objects"])
    need(set(objects) == set(bones), f"objects {sorted(set(objects) ^ set(bones))[:5]}")
    triangles = 0
    for name, bone in bones.items():
        o = objects[name]
        check_properties(o["properties"], bone)
        need(o["parent"] == bone["parent"], f"{name} hangs on {o['parent']}, not on {bone['parent']}")
        piece = bone["triangles"] > 0
        need(o["type"] == ("MESH" if piece else "EMPTY"), f"{name} is a {o['type']}")
        if piece:
            check_piece(o, bone, summary["materials"], has_uvs, False)
            need(o["triangles"] <= bone["triangles"], f"{name}: {o['triangles']} triangles")
            triangles += o["triangles"]
    check_bounds(objects, bones)
    lost = summary["summary"]["triangles"] - triangles
    need(0 <= lost <= 0.02 * summary["summary"]["triangles"], f"{lost} triangles collapsed")
    check_materials(facts, summary, images)
    return f"{len(objects)} objects, {triangles} triangles, {lost} collapsed in single precision"


def check_obj(facts, bones, summary, has_uvs, images=0):
    objects = by_name(facts["objects"])
    pieces = {n: b for n, b in bones.items() if b["triangles"] > 0}
    need(set(objects) == set(pieces), f"objects {sorted(set(objects) ^ set(pieces))[:5]}")
    for name, bone in pieces.items():
        check_piece(objects[name], bone, summary["materials"], has_uvs, True)
        need(objects[name]["triangles"] == bone["triangles"], f"{name}: {objects[name]['triangles']} triangles")
    check_bounds(objects, bones)
    check_materials(facts, summary, images)
    total = sum(o["volume"] for n, o in objects.items() if not pieces[n]["sheet"])
    need(abs(total - summary["summary"]["volume"]) <= 1e-5 * total, f"volume {total}")
    return f"{len(objects)} objects, all closed, volume {total:.7g}"


def check_ucx(facts, bones):
    """A collider is beside its piece, convex round it, and named after it."""
    objects, count = by_name(facts["objects"]), 0
    for name, bone in bones.items():
        hulls = [o for n, o in objects.items() if n.startswith(f"UCX_{name}_") and n[len(name) + 5:].isdigit()]
        need(len(hulls) == len(bone["hulls"]), f"{name}: {len(hulls)} colliders, not {len(bone['hulls'])}")
        for o in hulls:
            need(o["parent"] == bone["parent"] and o["open_edges"] == 0, o["name"])
            need(o["volume"] >= bone["volume"] * (1 - 1e-4), f"{o['name']} is smaller than its piece")
        count += len(hulls)
    need(len(objects) == len(bones) + count, "more objects than bones and colliders")
    return f"{count} colliders"


class Run:
    def __init__(self, rubble, folder):
        self.rubble, self.folder = rubble, folder
        self.passed = self.failed = 0

    def test(self, name, body, *arguments):
        try:
            print(f"ok   {name}: {body(*arguments) or 'as it should be'}", flush=True)
            self.passed += 1
        except (Fault, OSError, ValueError, KeyError, subprocess.SubprocessError) as e:
            print(f"FAIL {name}: {e if isinstance(e, Fault) else repr(e)}", flush=True)
            self.failed += 1

    def graph(self, name, graph, images=0):
        """Evaluates, and lists the tests of its files for when Blender has read them."""
        out = evaluate(self.rubble, name, graph, self.folder)
        with open(os.path.join(out, "plain.json")) as f:
            bones = {b["name"]: b for b in json.load(f)["bones"]}
        summary = inspect(self.rubble, out)
        with open(os.path.join(out, "plain.obj")) as f:
            has_uvs = any(line.startswith("vt ") for line in f)
        tests = [("plain.glb", check_glb, bones, summary, has_uvs, images), ("plain.obj", check_obj, bones, summary, has_uvs, images)]
        if "also" in graph["nodes"]:
            tests.append(("ucx.glb", check_ucx, bones))
        return [(f"{name} {file}", os.path.join(out, file), check, *rest) for file, check, *rest in tests]


def check_pieces(path):
    done = subprocess.run([sys.executable, os.path.join(SHARED, "tools", "check_pieces.py"), path, "--source",
        os.path.join(ROOT, "graphs", "meshes", "wall.obj")], capture_output=True, text=True)
    need(done.returncode == 0, done.stdout + done.stderr)


def main():
    rubble, whole = os.path.abspath(sys.argv[1]), "--all" in sys.argv[2:]
    if not shutil.which("blender"):
        missing = os.geteuid() == 0
        print(f"{'FAIL' if missing else 'skip'} blender: not installed (tools/packages.sh: full_packages)")
        print("0 passed, 1 failed" if missing else "0 passed, 0 failed, 1 skipped")
        sys.exit(int(missing))
    names = ["wall", "clustered_wall"]
    if whole:
        found = sorted(n[:-5] for n in os.listdir(os.path.join(ROOT, "graphs")) if n.endswith(".json"))
        names = [n for n in found if any(t["type"].startswith("Terminal") for t in
            json.load(open(os.path.join(ROOT, "graphs", n + ".json"))).get("nodes", {}).values())]
    with tempfile.TemporaryDirectory(prefix="rubble-blender-") as folder:
        shutil.copytree(os.path.join(ROOT, "graphs", "meshes"), os.path.join(folder, "meshes"))
        run, tests = Run(rubble, folder), []
        for name in names:
            graph = graph_of(name)
            tests += run.graph(name, with_colliders(graph) if name == "wall" else graph)
        if os.path.exists(TEXTURED):
            tests += run.graph("textured", textured_graph(), 1)
        facts = blender_facts(folder, [t[1] for t in tests])
        print(f"Blender {facts['version']}")
        for name, path, check, *rest in tests:
            run.test(name, check, facts[path], *rest)
        if os.path.exists(os.path.join(SHARED, "tools", "check_pieces.py")):
            for name in ("wall", "clustered_wall"):
                run.test(f"{name} check_pieces.py", check_pieces, os.path.join(folder, f"out_{name}", "plain.obj"))
    print(f"{run.passed} passed, {run.failed} failed")
    sys.exit(1 if run.failed else 0)


if __name__ == "__main__":
    main()
