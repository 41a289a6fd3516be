#!/usr/bin/env python3
"""A night of a build farm in small: some thousand assets by `rubble batch`, some of them broken.

  many_assets.py RUBBLE [--models DIR] [--assets 2000] [--broken 50] [--threads 2,1] [--check 10] [--checker FILE] [--keep DIR]

Meshes of graphs/meshes and of --models (../shared/models, where it is there) times seeds, and broken inputs of many kinds.
Every good asset must have its pieces and its model's volume, every --check'th is read back by check_pieces.py, every broken one
must be reported with its place. Then the batch runs again, where all must come from the cache, and once more after a change of one
parameter, where nothing may run but what depends on it. Prints CPU time (user and system), memory and assets a minute of each run,
and ends with `N passed, N failed`.
"""
import argparse
import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("RUBBLE_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
FORMATS = (".obj", ".stl", ".ply", ".off", ".glb")
MOST_BYTES = 700000  # of a model: these are props, not scans
PIECES = 20
GRAPH = {
    "rubble": 1,
    "vars": {"mesh": {"type": "path", "default": "x.obj"}, "seed": {"type": "seed", "default": 0},
        "pieces": {"type": "int", "default": PIECES, "min": 2, "max": 1000}},
    "nodes": {
        "src": {"type": "MeshToCollection", "params": {"file": {"var": "mesh"}}},
        "sites": {"type": "ScatterPoints", "in": {"collection": "src"},
            "params": {"count": {"var": "pieces"}, "seed": {"var": "seed"}}},
        "crack": {"type": "VoronoiFracture", "in": {"collection": "src", "points": "sites"}},
        "near": {"type": "Proximity", "in": {"collection": "crack"}},
        "hulls": {"type": "CreateLeafConvexHulls", "in": {"collection": "near"}, "params": {"max_vertices": 40}},
        "end": {"type": "Terminal", "in": {"collection": "hulls"}, "params": {"files": ["prop.glb", "prop.obj", "prop.json"]}},
    },
}
BELOW_HULLS = {"hulls", "end"}
CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {f}\n" for f in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"))


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else (data if isinstance(data, str) else json.dumps(data, indent=1)).encode())
    return path


# Broken inputs: name of the file, content, and what the report must have besides the name.
def broken_meshes():
    glb = b"glTF" + struct.pack("<II", 2, 1000)
    ply = "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
    return [
        ("word.obj", "v 0 0 zero\n" + CUBE, ":1"), ("index.obj", CUBE + "f 1 2 99\n", ":15"), ("nan.obj", CUBE.replace("v 1 1 1", "v 1 nan 1"), ":8"),
        ("inf.obj", CUBE.replace("v 1 1 1", "v 1 1e999 1"), ":8"), ("short.obj", CUBE.replace("v 1 1 1", "v 1 1"), ":8"), ("zero.obj", CUBE + "f 0 1 2\n", ":15"),
        ("negative.obj", CUBE + "f -9 1 2\n", ":15"), ("empty.obj", "", ""), ("points.obj", CUBE[:CUBE.index("f")], ""), ("letter.obj", CUBE + "f a b c\n", ":15"),
        ("empty.stl", b"", ""), ("cut.stl", bytes(80) + struct.pack("<I", 12) + bytes(70), ""), ("word.stl", "solid a\nfacet normal 0 0 x\n", ":2"),
        ("end.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", ""), ("empty.ply", b"", ""), ("magic.ply", "plx\n", ""),
        ("count.ply", ply.format(-4) + "property list uchar int vertex_indices\nend_header\n", ":3"), ("end.ply", ply.format(3), ""),
        ("cut.ply", ply.format(3) + "property list uchar int vertex_indices\nend_header\n0 0 0\n", ""), ("empty.off", "", ""), ("magic.off", "OFX\n", ""),
        ("cut.off", "OFF\n3 1 0\n0 0 0\n", ""), ("index.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n", ":6"), ("empty.glb", b"", ""), ("text.glb", "this is text", ""),
        ("cut.glb", glb, ""), ("json.glb", glb[:8] + struct.pack("<III", 28, 8, 0x4e4f534a) + b"{\"a\": 1 ", ""), ("other.xyz", "0 0 0\n", ""),
    ]


def broken_graphs():
    def changed(**nodes):
        return dict(GRAPH, nodes={k: v for k, v in dict(GRAPH["nodes"], **nodes).items()})
    crack = GRAPH["nodes"]["crack"]
    return [
        ("text", "{", ":1:"), ("type", changed(crack=dict(crack, type="VoronoiFractur")), "did you mean"), ("cycle", changed(src={"type": "MeshToCollection",
            "params": {"file": {"from": "crack.name"}}}), ""), ("port", changed(crack=dict(crack, **{"in": {"colection": "src", "points": "sites"}})), "did you mean"),
        ("missing node", changed(crack=dict(crack, **{"in": {"collection": "scr", "points": "sites"}})), ""), ("parameter", changed(crack=dict(crack,
            params={"grot": 1})), "did you mean"), ("value", changed(crack=dict(crack, params={"grout": "wide"})), ""), ("range", changed(crack=dict(crack,
            params={"grout": -1})), ""), ("version", dict(GRAPH, rubble=99), ""), ("variable", changed(sites=dict(GRAPH["nodes"]["sites"],
            params={"count": {"var": "peices"}})), "did you mean"), ("file above", changed(end=dict(GRAPH["nodes"]["end"], params={"files": ["../x.glb"]})), ""),
        ("format", changed(end=dict(GRAPH["nodes"]["end"], params={"files": ["x.docx"]})), ""),
    ]


def manifest(folder, models, assets, broken):
    """Writes all inputs. @return names of good assets → model, names of broken ones → what the report must have"""
    write(os.path.join(folder, "prop.json"), GRAPH)
    jobs, good, bad = [], {}, {}
    seeds, more = divmod(assets - broken, len(models))
    for i, model in enumerate(models):
        count = seeds + (i < more)
        if count:
            jobs.append({"graph": "prop.json", "set": {"mesh": model}, "over": {"seed": {"from": 1, "to": count}}, "name": f"m{i}/{{seed}}"})
        good.update({f"m{i}/{k}": model for k in range(1, count + 1)})
    kinds = []  # each of those of graphs once: their assets have their names
    for name, content, place in broken_meshes():
        write(os.path.join(folder, "broken", name), content)
        kinds.append(({"graph": "prop.json", "set": {"mesh": f"broken/{name}"}}, [name + place]))
    for name, graph, words in broken_graphs():
        file = f"graphs/{name.replace(' ', '_')}.json"
        write(os.path.join(folder, file), graph)
        kinds.append(({"graph": file}, [os.path.basename(file) + ":", words]))
    for value, words in ((0, "smallest"), (2000, "largest"), ("many", "")):
        kinds.append(({"graph": "prop.json", "set": {"mesh": models[0], "pieces": value}}, ["pieces", words]))
    kinds.append(({"graph": "prop.json", "set": {"mesh": "broken/not there.obj"}}, ["not there.obj"]))
    kinds.append(({"graph": "prop.json", "set": {"mesh": "broken"}}, ["broken"]))
    kinds.append(({"graph": "prop.json", "set": {"mesh": models[0]}, "only": "no_such_node"}, ["no_such_node"]))
    kinds.append(({"graph": "no_such_graph.json"}, ["no_such_graph.json"]))
    kinds.append(({"graph": "prop.json", "set": {"mesh": models[0], "pieces": 1000}, "limit": 0.001}, ["0.001 s"]))
    meshes = [k for k in kinds if "set" in k[0]]
    for i in range(broken):
        job, words = kinds[i] if i < len(kinds) else meshes[i % len(meshes)]
        if "set" in job:  # the same kind again has another seed
            job = dict(job, name=f"broken/{i}", set=dict(job["set"], seed=i))
        jobs.append(job)
        # A graph that cannot be read has no variables, and its asset is named as its file.
        bad[job.get("name") or os.path.basename(job["graph"]).removesuffix(".json")] = words
    write(os.path.join(folder, "props.json"), {"rubble_batch": 1, "jobs": jobs})
    return good, bad, len(kinds)


class Figures:
    def __init__(self, wall, usage, text):
        self.wall, self.cpu, self.memory, self.text = wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def batch(rubble, folder, *arguments):
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as text:
        process = subprocess.Popen([rubble, "batch", "props.json", "--progress", "none", *arguments], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=text, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        text.seek(0)
        return process.returncode, Figures(time.monotonic() - start, usage, text.read())


def read(*path):
    with open(os.path.join(*path)) as f:
        return json.load(f)


def find_models(rubble, folder, models):
    """Those of which the graph makes pieces: some are there because they cannot."""
    files = sorted(glob.glob(os.path.join(ROOT, "graphs", "meshes", "*")) + (glob.glob(os.path.join(models, "**", "*"), recursive=True) if models else []))
    files = [f for f in files if f.lower().endswith(FORMATS) and os.path.getsize(f) <= MOST_BYTES]
    write(os.path.join(folder, "prop.json"), GRAPH)
    write(os.path.join(folder, "props.json"), {"rubble_batch": 1, "jobs": [{"graph": "prop.json", "set": {"mesh": f}, "name": f"m{i}"}
        for i, f in enumerate(files)]})
    batch(rubble, folder, "--out", "try")
    volumes = {}
    for i, f in enumerate(files):
        record = read(folder, "try", f"m{i}", "asset.json")
        if record["state"] == "done":
            volumes[f] = record["volume"]
    shutil.rmtree(os.path.join(folder, "try"))
    return volumes


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, what):
        self.passed += bool(good)
        self.failed += not good
        if not good and self.failed < 40:
            print(f"FAIL {what}", flush=True)


def check_first(tally, folder, out, good, bad, volumes, every, checker):
    assets = {a["name"]: a for a in read(folder, out, "batch.json")["assets"]}
    tally.check(len(assets) == len(good) + len(bad), f"{len(assets)} assets are reported")
    for i, (name, model) in enumerate(good.items()):
        a = assets.get(name, {})
        right = a.get("state") == "done" and a["pieces"] >= 2 and abs(a["volume"] - volumes[model]) <= 1e-9 * abs(volumes[model])
        if right and checker and i % every == 0:
            p = subprocess.run([sys.executable, checker, os.path.join(folder, out, name, "prop.obj")], capture_output=True, text=True)
            right = p.returncode == 0
            if not right:
                print(p.stdout[-300:])
        tally.check(right, f"{name} of {os.path.basename(model)}: {a.get('state')}, {a.get('error')}")
    for name, words in bad.items():
        a = assets.get(name, {})
        error = a.get("error") or ""
        tally.check(a.get("state") in ("failed", "timed out") and all(w in error for w in words), f"{name}: {a.get('state')}, {words} not in {error!r}")


def run_again(tally, rubble, folder, out, good, bad, threads, first):
    # What else the machine does only adds.
    twice = [batch(rubble, folder, "--out", out, "--cache", "kept", "--threads", threads)[1] for _ in range(2)]
    again = min(twice, key=lambda run: run.cpu)
    assets = read(folder, out, "batch.json")["assets"]
    tally.check(all(a["nodes_ran"] == 0 and a["state"] == "done" for a in assets if a["name"] in good), "the second run computed something")
    tally.check(sum(a["state"] in ("failed", "timed out") for a in assets) == len(bad), "the second run has other failures")
    share = 100 * again.cpu / first.cpu
    print(f"again, all from the cache: {again.cpu:.2f} s of CPU, {share:.1f} % of the first; {again.memory:.0f} MB")
    tally.check(share < 5, f"the second run takes {share:.1f} % of the first")
    resumed = batch(rubble, folder, "--out", out, "--cache", "kept", "--threads", threads, "--resume")[1]
    print(f"again with --resume: {resumed.cpu:.2f} s of CPU, {100 * resumed.cpu / first.cpu:.1f} % of the first")


def run_changed(tally, rubble, folder, out, good, threads, first):
    """After a change of one parameter."""
    graph = json.loads(json.dumps(GRAPH))
    graph["nodes"]["hulls"]["params"]["max_vertices"] = 30
    write(os.path.join(folder, "prop.json"), graph)
    code, changed = batch(rubble, folder, "--out", out, "--cache", "kept", "--threads", threads)
    ran = collections.Counter()
    for name in good:
        for node in read(folder, out, name, "asset.json")["run"]["nodes"]:
            if node["outcome"] in ("ran", "same output"):
                ran[node["node"]] += 1
    print(f"after a change of the hulls: {changed.cpu:.2f} s of CPU, {100 * changed.cpu / first.cpu:.1f} % of the first; ran: "
        + ", ".join(f"{n} {c}" for n, c in sorted(ran.items())))
    tally.check(set(ran) <= BELOW_HULLS and ran["hulls"] == len(good), f"after a change of hulls these ran: {dict(ran)}")
    write(os.path.join(folder, "prop.json"), GRAPH)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rubble")
    parser.add_argument("--models", default=os.path.join(SHARED, "models"))
    parser.add_argument("--checker", default=os.path.join(SHARED, "tools", "check_pieces.py"))
    parser.add_argument("--assets", type=int, default=2000)
    parser.add_argument("--broken", type=int, default=50)
    parser.add_argument("--threads", default="2,1")
    parser.add_argument("--check", type=int, default=10)
    parser.add_argument("--keep", help="work in this folder and leave it")
    a = parser.parse_args()
    rubble, tally = os.path.abspath(a.rubble), Tally()
    folder = a.keep or tempfile.mkdtemp(prefix="rubble-many-")
    os.makedirs(folder, exist_ok=True)
    try:
        volumes = find_models(rubble, folder, a.models if os.path.isdir(a.models) else "")
        good, bad, kinds = manifest(folder, sorted(volumes), a.assets, a.broken)
        print(f"{len(good)} assets of {len(volumes)} models and {len(bad)} broken ones of {kinds} kinds", flush=True)
        all_threads = a.threads.split(",")
        for i, threads in enumerate(all_threads):
            shutil.rmtree(os.path.join(folder, "kept"), ignore_errors=True)
            out = f"out{threads}"
            code, first = batch(rubble, folder, "--out", out, "--cache", "kept", "--threads", threads)
            tally.check(code == 1, f"exit {code}, not 1: {first.text[-300:]}")
            count = len(good) + len(bad)
            print(f"{threads} thread{'s' * (threads != '1')}: {first.wall:.1f} s, {60 * count / first.wall:.0f} assets a minute; {first.cpu:.1f} s of CPU, "
                f"{60 * count / first.cpu:.0f} a minute of CPU; {first.memory:.0f} MB", flush=True)
            if i == 0:
                check_first(tally, folder, out, good, bad, volumes, a.check, a.checker if os.path.isfile(a.checker) else None)
                run_again(tally, rubble, folder, out, good, bad, threads, first)
                run_changed(tally, rubble, folder, out, good, threads, first)
                sizes = [os.path.getsize(os.path.join(p, n)) for p, _, names in os.walk(os.path.join(folder, "kept")) for n in names]
                print(f"cache: {len(sizes)} files, {sum(sizes) / 1e6:.0f} MB", flush=True)
    finally:
        if not a.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
