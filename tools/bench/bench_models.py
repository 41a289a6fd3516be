#!/usr/bin/env python3
"""Times MeshToCollection (reading, repair, union) over all meshes of a folder.

  bench_models.py RUBBLE MODELS_DIR [--runs N] [--threads N]

One graph reads all of them with the defaults, 3 runs unless told. Rows are those of bench.h: `case` is the model, its time that
of its node; the last row is the sum of all.
"""
import argparse
import glob
import json
import os
import subprocess
import tempfile

import bench_common as common

FORMATS = ("obj", "stl", "ply", "off", "glb")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rubble")
    parser.add_argument("models")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    a = parser.parse_args()
    files = sorted(f for f in glob.glob(os.path.join(a.models, "**", "*"), recursive=True)
        if f.rsplit(".", 1)[-1].lower() in FORMATS)
    nodes = {f"m{i}": {"type": "MeshToCollection", "params": {"file": os.path.abspath(f)}} for i, f in enumerate(files)}
    times, sums = {n: [] for n in nodes}, []
    with tempfile.TemporaryDirectory(prefix="rubble-bench-") as folder:
        graph, report = os.path.join(folder, "graph.json"), os.path.join(folder, "report.json")
        with open(graph, "w") as f:
            json.dump({"rubble": 1, "nodes": nodes}, f)
        for _ in range(a.runs):
            subprocess.run([a.rubble, "eval", graph, "--no-cache", "--threads", str(a.threads), "--out", folder, "--report",
                report], stdin=subprocess.DEVNULL, capture_output=True)
            with open(report) as f:
                got = {n["node"]: n["cpu_ms"] for n in json.load(f)["nodes"]}
            sums.append(sum(got.values()))
            for n in nodes:
                times[n].append(got[n])
    rows = common.Rows("models", common.machine_of(os.path.dirname(os.path.abspath(a.rubble))))
    for n, path in zip(nodes, files):
        rows.row(os.path.relpath(path, a.models), "", times[n], threads=a.threads)
    rows.row("all", "", sums, threads=a.threads)


if __name__ == "__main__":
    main()
