#!/usr/bin/env python3
"""Fractures one mesh by one set of sites with rubble and with peers; peers.sh installs them and calls this.

  peers.py BUILD [--csv FILE] [--runs N] [--long]

Rows are those of bench.h; `case` is the program, `value` how much the sum of the pieces' volumes differs from the mesh, relatively.
A run that fails gives a warning and no row.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import bench_common as common

PEERS = os.path.join(common.HERE, "peers")
TIMEOUT_S = 1800


def volume_of_obj(path):
    """Signed sum over triangles of every object; fans of larger faces."""
    vertices, volume = [], 0.0
    with open(path) as f:
        for line in f:
            if line.startswith("v "):
                vertices.append(tuple(map(float, line.split()[1:4])))
            elif line.startswith("f "):
                a, *rest = (vertices[int(w.split("/")[0]) - 1] for w in line.split()[1:])
                for b, c in zip(rest, rest[1:]):
                    volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
                        + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6
    return volume


def run_peer(name, command, marker=""):
    """@return what the program printed as JSON, None when it failed"""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            errors="replace", timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as e:
        print(f"warning: {name}: {e}", file=sys.stderr)
        return None
    for line in done.stdout.splitlines():
        if line.startswith(marker + "{"):
            return json.loads(line[len(marker):])
    print(f"warning: {name} gave nothing (exit {done.returncode})\n{(done.stdout + done.stderr)[-1000:]}", file=sys.stderr)
    return None


def rubble(build, mesh, sites, folder, runs):
    """The node VoronoiFracture of a run of the command, which writes OBJ for the volumes. @return as the peers'"""
    graph = {"rubble": 1, "nodes": {
        "mesh": {"type": "MeshToCollection", "params": {"file": mesh}},
        "sites": {"type": "MakePoints", "params": {"file": sites}},
        "cut": {"type": "VoronoiFracture", "in": {"collection": "mesh", "points": "sites"}},
        "end": {"type": "Terminal", "in": {"collection": "cut"}, "params": {"files": ["a.obj", "a.json"],
            "hulls_if_missing": False}}}}
    made = [common.evaluate(os.path.join(build, "rubble"), graph, folder, threads=1) for _ in range(runs)]
    out = os.path.join(folder, "out")
    with open(os.path.join(out, "a.json")) as f:
        pieces = [b for b in json.load(f)["bones"] if b.get("triangles")]
    return {"cpu": [m["nodes"]["cut"][0] for m in made], "wall": [m["nodes"]["cut"][1] for m in made],
        "pieces": len(pieces), "volume": volume_of_obj(os.path.join(out, "a.obj")), "source_volume": volume_of_obj(mesh)}


class Csv(common.Rows):
    def row(self, case, part, triangles, pieces, cpu, wall, value, unit):
        super().row(case, part, cpu, wall, triangles=triangles, pieces=pieces, value=value, unit=unit)
        print(f"   {case} {part} {triangles} × {pieces}: {statistics.median(cpu) / 1e3:.4g} s CPU, {unit} {value:.3g}",
            file=sys.stderr)


def fracture(csv, build, folder, triangles, pieces, runs, blender_modes, manifold=True):
    mesh, json_sites, sites, cells = common.make_input(build, folder, triangles, pieces, ".obj", ".json", ".sites", ".cells")
    with open(mesh) as f:
        count = sum(line.startswith("f ") for line in f)
    found = rubble(build, mesh, json_sites, folder, runs)
    csv.row("rubble", "fracture", count, pieces, found["cpu"], found["wall"], found["volume"] / found["source_volume"] - 1,
        "volume difference")
    _, rows = common.run_bench(build, "cut", triangles=triangles, pieces=pieces, runs=runs)
    whole, voro = (next(r for r in rows if r["part"] == p) for p in ("whole", "voro++"))
    csv.row("rubble", "cells and cut", count, pieces, [whole["cpu_ms"]], [whole["wall_ms"]], whole["value"], whole["unit"])
    csv.row("voro++", "cells alone", count, pieces, [voro["cpu_ms"]], [voro["wall_ms"]], voro["value"], voro["unit"])
    todo = [("manifold-3d", ["node", os.path.join(PEERS, "manifold.mjs"), mesh, cells], "")] if manifold else []
    for mode in blender_modes:
        todo.append(("blender-" + mode, ["blender", "-b", "--factory-startup", "-noaudio", "-P", os.path.join(PEERS, "blender.py"),
            "--", mesh, sites, cells, mode], "RESULT "))
    for name, command, marker in todo:
        made = run_peer(name, command, marker)
        if not made:
            continue
        csv.row(name, "fracture", count, pieces, [made["cpu_ms"]], [made["wall_ms"]], made["volume"] / made["source_volume"] - 1,
            "volume difference")
        if abs(made["volume"] / found["volume"] - 1) > 0.02:
            print(f"warning: {name}: the volume differs from ours by more than 2 %", file=sys.stderr)
        if made["pieces"] != found["pieces"]:
            print(f"   {name}: {made['pieces']} pieces, ours {found['pieces']}"
                + (f", {made['open_pieces']} open" if made.get("open_pieces") else ""), file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--csv")
    parser.add_argument("--runs", type=int, default=5, help="of rubble; peers run once")
    parser.add_argument("--long", action="store_true", help="Blender on the large mesh, by 100 sites, too")
    a = parser.parse_args()
    build = os.path.abspath(a.build)
    csv = Csv("peers", common.machine_of(build), open(a.csv, "w") if a.csv else None)
    with tempfile.TemporaryDirectory(prefix="rubble-peers-") as folder:
        fracture(csv, build, folder, 20000, 1000, a.runs, ("cell-fracture", "exact-boolean"))
        fracture(csv, build, folder, 300000, 1000, a.runs, ())
        if a.long:
            fracture(csv, build, folder, 300000, 100, a.runs, ("cell-fracture", "exact-boolean"))
        for pieces in (10000, 100000):
            _, rows = common.run_bench(build, "cells", only="random", pieces=pieces, runs=max(1, a.runs // 2))
            for r in rows:
                csv.row("rubble" if r["part"] == "cells" else "voro++", "cells alone", "", pieces, [r["cpu_ms"]], [r["wall_ms"]],
                    r["value"], r["unit"])
    print(f"# load at the end: {common.load_average()}", file=csv.file)


if __name__ == "__main__":
    main()
