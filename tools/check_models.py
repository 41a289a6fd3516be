#!/usr/bin/env python3
"""Fractures real models and lets an independent program check the pieces.

  check_models.py RUBBLE SHARED [--counts 20,100] [--jobs 2] [--only NAME]

SHARED holds models/MODELS.tsv, the meshes, and tools/check_pieces.py. Models that the table calls closed must fracture: every
piece closed, volumes summing to the source's. The others must fracture into closed pieces or be refused with an `error:`
and exit 1 or 3; a crash, a hang or an open piece fails. Models of formats that rubble does not read are skipped by name.
The last line is `N passed, N failed, N skipped`.
"""
import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FORMATS = (".obj", ".stl", ".ply", ".off", ".glb", ".fbx", ".dae", ".3mf")


def graph(mesh, count):
    return {"rubble": 1, "nodes": {
        "src": {"type": "MeshToCollection", "params": {"file": mesh}},
        "sites": {"type": "ScatterPoints", "in": {"collection": "src"}, "params": {"count": count, "seed": 1}},
        "cut": {"type": "VoronoiFracture", "in": {"collection": "src", "points": "sites"}},
        "end": {"type": "Terminal", "in": {"collection": "cut"},
            "params": {"files": ["pieces.obj"], "hulls_if_missing": False}}}}


def fracture(rubble, checker, mesh, row, count, folder):
    """@return "" or why it failed"""
    path, out = os.path.join(folder, "graph.json"), os.path.join(folder, "out")
    with open(path, "w") as f:
        json.dump(graph(mesh, count), f)
    try:
        p = subprocess.run([rubble, "eval", path, "--out", out, "--no-cache"], capture_output=True, text=True,
            timeout=600, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "no answer in 600 s"
    closed = row["closed_manifold"].startswith("yes")
    message = next((l for l in p.stderr.splitlines() if "error:" in l), "no message")[:200]
    if p.returncode:
        if p.returncode in (1, 3) and "error:" in p.stderr and not closed:
            return ""
        return f"exit {p.returncode}: {message}"
    sound = row["closed_manifold"] == "yes (indexed)" and row["self-intersecting pairs"] == "0" and \
        row["coplanar overlaps"] == "0" and "(0 inside-out)" in row["components_closed"]
    if "warning:" in p.stderr and sound:
        return next(l for l in p.stderr.splitlines() if "warning:" in l)[:200]
    arguments = [sys.executable, checker, os.path.join(out, "pieces.obj")]
    if closed and row["components_closed"].split()[0] == "1" and row["self-intersecting pairs"] == "0" \
            and "ngon" not in row["format"]:
        arguments += ["--source", mesh]
    p = subprocess.run(arguments, capture_output=True, text=True)
    return "" if p.returncode == 0 else " ".join((p.stderr.strip() or p.stdout.strip()).splitlines()[-3:])[:300]


def check(job):
    rubble, checker, mesh, row, count = job
    folder = tempfile.mkdtemp(prefix="rubble-model-")
    try:
        return fracture(rubble, checker, mesh, row, count, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rubble")
    parser.add_argument("shared")
    parser.add_argument("--counts", default="20,100")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    a = parser.parse_args()
    models = os.path.join(a.shared, "models")
    checker = os.path.join(a.shared, "tools", "check_pieces.py")
    jobs, names, skipped = [], [], 0
    with open(os.path.join(models, "MODELS.tsv")) as f:
        rows = [r for r in csv.DictReader(f, delimiter="\t") if a.only in r["file"]]
    for row in rows:
        mesh = os.path.abspath(os.path.join(models, row["file"]))
        if not mesh.lower().endswith(FORMATS) or not os.path.isfile(mesh):
            print(f"skip {row['file']}: {'no such file' if mesh.lower().endswith(FORMATS) else 'a format that rubble does not read'}")
            skipped += 1
            continue
        for count in (int(c) for c in a.counts.split(",")):
            jobs.append((os.path.abspath(a.rubble), checker, mesh, row, count))
            names.append(f"{row['file']} in {count}")
    failed = 0
    with ThreadPoolExecutor(a.jobs) as pool:
        for name, why in zip(names, pool.map(check, jobs)):
            failed += bool(why)
            print(f"FAIL {name}: {why}" if why else f"ok   {name}", flush=True)
    print(f"{len(jobs) - failed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
