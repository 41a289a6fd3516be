#!/usr/bin/env python3
"""Benchmarks run on small work and print the columns that scripts read; nothing is timed.

  test_bench.py BUILD
"""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "bench"))
import bench_common as common

BUILD = os.path.abspath(sys.argv[1])
SMALL = {
    "cache": {"ticks": 20},
    "cancel": {"triangles": 1000, "pieces": 5, "requests": 1},
    "cells": {"pieces": 20},
    "clusters": {"pieces": 40, "requests": 1},
    "cut": {"triangles": 1000, "pieces": 20},
    "cutters": {"triangles": 1000, "pieces": 20, "only": "slices"},
    "edit": {"stones": 20},
    "engine": {"pieces": 20},
    "hulls": {"triangles": 1000, "pieces": 20, "only": "pieces"},
    "io": {"triangles": 1000, "pieces": 5},
    "proximity": {"triangles": 1000, "pieces": 20},
}


def test_programs_print_the_columns():
    for name, options in SMALL.items():
        machine, rows = common.run_bench(BUILD, name, runs=1, **options)
        missing = {"cores", "kernel", "compiler", "flags", "revision", "load"} - set(machine)
        assert not missing, (name, missing)
        assert rows and all(list(r) == common.COLUMNS and r["bench"] == name for r in rows), (name, rows)
        assert any(r["runs"] >= 1 and (r["cpu_ms"] is not None or r["wall_ms"] is not None) for r in rows), (name, rows)


def test_no_benchmark_is_forgotten():
    with open(os.path.join(ROOT, "tools", "bench", "meson.build")) as f:
        listed = f.read().split("bench_programs = [")[1].split("]")[0]
    names = {n.strip(" '") for n in listed.replace("\n", "").split(",") if n.strip()}
    others = {"mesh", "writers"}  # take files, and have no rows, or their own
    assert names == set(SMALL) | others, names ^ set(SMALL) ^ others


def test_hashes_do_not_depend_on_threads():
    for name in ("cells", "cut", "hulls", "proximity"):
        hashes = [[r["hash"] for r in common.run_bench(BUILD, name, runs=1, threads=t, **SMALL[name])[1]] for t in (1, 2)]
        assert hashes[0] == hashes[1] and any(hashes[0]), (name, hashes)


def test_wrong_options_are_refused():
    program = os.path.join(BUILD, "tools", "bench", "bench_cells")
    for options in (["--runs", "0"], ["--runs", "x"], ["--runs"], ["--sites", "3"], ["more"]):
        assert subprocess.run([program, *options], capture_output=True).returncode == 2, options


def test_the_mesh_is_closed_in_every_format():
    with tempfile.TemporaryDirectory(prefix="rubble-bench-") as folder:
        names = [".obj", ".stl", ".ply", ".off", ".glb", ".json", ".sites", ".cells"]
        paths = common.make_input(BUILD, folder, 1000, 20, *names)
        for path in paths[:5]:
            done = subprocess.run([os.path.join(BUILD, "rubble"), "inspect", path], capture_output=True, text=True)
            assert done.returncode == 0 and "1 shell: 1 closed" in done.stdout + done.stderr, (path, done.stdout, done.stderr)
        with open(paths[5]) as f:
            assert len(json.load(f)) == 20
        with open(paths[7]) as f:
            assert len(json.load(f)) == 20


def test_fits():
    assert abs(common.exponent([(x, 3 * x ** 1.2) for x in (10, 100, 1000)]) - 1.2) < 1e-9
    counts = [(1, 5, 2), (4, 1, 9), (7, 3, 3), (2, 2, 8)]
    costs, fault = common.fit_costs([(c, 2 * c[0] + 3 * c[1] + 0.5 * c[2]) for c in counts])
    assert all(abs(a - b) < 1e-9 for a, b in zip(costs, (2, 3, 0.5))) and fault < 1e-9, costs
    costs, _ = common.fit_costs([(c, 2 * c[0] + 3 * c[1]) for c in counts])
    assert all(c >= 0 for c in costs), costs


def test_the_page_shows_the_results():
    assert subprocess.run([sys.executable, os.path.join(ROOT, "tools", "bench", "report.py"), "--check"]).returncode == 0


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("ok", name)


if __name__ == "__main__":
    main()
