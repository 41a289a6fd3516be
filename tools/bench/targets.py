#!/usr/bin/env python3
"""Measures every speed target of docs/performance.md and prints target, measured, met or not.

  targets.py [BUILD] [--only NUMBER,…] [--runs N] [--no-peers | --peers FILE] [--csv FILE]

BUILD (default: build, in the project) is a release build with the benchmarks. Each figure is the median of N runs (5 unless
told; the largest work fewer). CPU is user and system time of one process. Figures of peers come from
tools/bench/peers.sh, which is run (some minutes), or from the CSV that it wrote before (--peers). Exit status 0 whatever is met.
"""
import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile

import bench_common as common
from bench_common import evaluate, exponent, fit_costs, make_input, run_bench

RUNS = 5


class Table:
    def __init__(self, csv_path, machine):
        self.rows, self.csv = [], open(csv_path, "w", newline="") if csv_path else None
        lines = "".join(f"# {key}: {value}\n" for key, value in machine.items())
        print(lines, end="")
        if self.csv:
            self.csv.write(lines)
            self.writer = csv.writer(self.csv, lineterminator="\n")
            self.writer.writerow(["number", "target", "limit", "measured", "unit", "met", "note"])

    def add(self, number, what, value, limit, unit, least=False, note=""):
        """@param least the limit is a lower one"""
        met = "-" if value is None else "met" if (value >= limit if least else value <= limit) else "NOT MET"
        self.rows.append(met)
        sign = "≥" if least else "≤"
        measured = "not measured" if value is None else f"{value:.4g} {unit}"
        print(f"{number}  {what:62} {sign} {limit:<6g} {measured:>20}  {met}{'  ' + note if note else ''}", flush=True)
        if self.csv:
            self.writer.writerow([number, what, f"{sign} {limit:g}", "" if value is None else f"{value:.4g}", unit, met, note])
            self.csv.flush()


def pick(rows, part, case=None):
    return next(r for r in rows if r["part"] == part and (case is None or r["case"] == case))


def fracture_graph(mesh, sites, files, more=None):
    return {"rubble": 1, "nodes": {
        "mesh": {"type": "MeshToCollection", "params": {"file": mesh}},
        "sites": {"type": "MakePoints", "params": {"file": sites}},
        "cut": {"type": "VoronoiFracture", "in": {"collection": "mesh", "points": "sites"}},
        **(more or {}),
        "end": {"type": "Terminal", "in": {"collection": list(more)[-1] if more else "cut"},
            "params": {"files": files, "hulls_if_missing": False}}}}


WHOLE = {
    "near": {"type": "Proximity", "in": {"collection": "cut"}, "params": {"contact_area": "geometry",
        "connection_graph": True}},
    "groups": {"type": "AutoCluster", "in": {"collection": "near"}, "params": {"by": "fraction"}},
}


def medians(measured):
    """Of several evaluations: CPU of the process, of each node."""
    nodes = {n: statistics.median(m["nodes"][n][0] for m in measured) for n in measured[0]["nodes"]}
    return statistics.median(m["cpu"] for m in measured), nodes


# 1: the whole command; peers


def whole_command(table, build, folder, runs):
    rubble = os.path.join(build, "rubble")
    for triangles, limit in ((300000, 0.45), (20000, 0.12)):
        mesh, sites = make_input(build, folder, triangles, 1000, ".obj", ".json")
        graph = fracture_graph(mesh, sites, ["a.glb"])
        cpu, nodes = medians([evaluate(rubble, graph, folder) for _ in range(runs)])
        table.add(1, f"OBJ to GLB, {triangles // 1000}k × 1000, CPU", cpu / 1e3, limit, "s",
            note=" ".join(f"{n} {t:.0f}" for n, t in nodes.items()) + " ms")


def peers(table, rows):
    """Ratios to peers; all of one run of peers.sh."""
    def cpu(peer, part, triangles):
        return next((r["cpu_ms"] for r in rows if r["case"] == peer and r["part"] == part and r["pieces"] == 1000
            and abs((r["triangles"] or 0) - triangles) < 1000), None)
    for number, part, peer, triangles, limit in ((1, "fracture", "manifold-3d", 20000, 100),
            (1, "fracture", "blender-cell-fracture", 20000, 1000), (2, "cells and cut", "manifold-3d", 300000, 300)):
        mine, theirs = cpu("rubble", part, triangles), cpu(peer, "fracture", triangles)
        table.add(number, f"{part}, {triangles // 1000}k × 1000: CPU of {peer} over ours", theirs / mine if theirs and mine else None,
            limit, "×", least=True, note=f"{theirs / 1e3:.3g} s over {mine / 1e3:.3g} s" if theirs and mine else "")


# 2: cells and cut


def cut_costs(table, build, runs):
    samples, peaks, k_costs = [], [], {}
    for triangles in (20000, 100000, 300000, 1000000):
        for sites in (100, 1000, 10000):
            _, rows = run_bench(build, "cut", triangles=triangles, pieces=sites, runs=runs)
            count = {p: pick(rows, p)["value"] for p in ("untouched", "cut triangles", "facets", "output")}
            cut = pick(rows, "cut")
            samples.append(((count["untouched"], count["cut triangles"], count["facets"]), cut["cpu_ms"]))
            peaks.append((cut["peak_mb"] * 1e6 / (cut["triangles"] + count["output"]), triangles, sites))
            print(f"   cut {triangles} × {sites}: {cut['cpu_ms']:.1f} ms, {count}", file=sys.stderr)
    costs, fault = fit_costs(samples)
    note = f"fit over 12 cases, off by at most {100 * fault:.0f} %"
    table.add(2, "cut, an untouched triangle, CPU", costs[0] * 1e6, 80, "ns", note=note)
    table.add(2, "cut, a cut triangle, CPU", costs[1] * 1e3, 2, "us", note=note)
    table.add(2, "cut, an interior facet, CPU", costs[2] * 1e3, 0.6, "us", note=note)
    worst = max(peaks)
    table.add(2, "cut, peak a triangle of input and output", worst[0], 130, "bytes", note=f"worst at {worst[1]} × {worst[2]}")
    for sites in (1000, 10000, 100000):
        _, rows = run_bench(build, "cells", only="random", pieces=sites, runs=runs)
        table.add(2, f"cells (all of K), a site, {sites} sites, CPU", pick(rows, "cells")["value"], 12, "us",
            note=f"voro++ {pick(rows, 'voro++')['value']:.1f}")
    for sites, limit in ((1000, 85), (10000, 350)):
        _, rows = run_bench(build, "cut", triangles=300000, pieces=sites, runs=runs)
        whole = pick(rows, "whole")["cpu_ms"]
        table.add(2, f"cells and cut, 300k × {sites}, one thread, CPU", whole, limit, "ms",
            note=f"cells {pick(rows, 'cells')['cpu_ms']:.0f}, cut {pick(rows, 'cut')['cpu_ms']:.0f}")


# 3: two threads


def two_threads(table, build, runs):
    """Two threads against one thread of the two cores' mean speed: on virtual machines one core can be half as fast again as
    the other for minutes, and where a single thread runs is left to chance."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    def faster(pick):
        one = len(cores) / sum(1 / pick(walls[core,]) for core in cores)
        return one / pick(walls[tuple(cores)])
    works = (("cells", "cut", {"triangles": 300000, "pieces": 10000}, "cells"),
        ("cut", "cut", {"triangles": 300000, "pieces": 10000}, "cut"),
        ("hulls", "hulls", {"triangles": 300000, "pieces": 10000, "only": "pieces"}, ""),
        ("proximity", "proximity", {"triangles": 300000, "pieces": 10000, "only": "cut"}, ""))
    for name, program, options, part in works:
        walls, hashes = {}, set()
        for _ in range(runs):
            for used in ((cores[0],), (cores[-1],), tuple(cores)):
                _, rows = run_bench(build, program, cores=used, threads=len(used), runs=1, **options)
                walls.setdefault(used, []).append(pick(rows, part)["wall_ms"])
                hashes.add(next(r["hash"] for r in rows if r["hash"]))
        alone = " and ".join(f"{statistics.median(walls[core,]):.0f}" for core in cores)
        table.add(3, f"{name}, 300k × 10,000, two threads, wall", faster(statistics.median), 1.7, "×", least=True,
            note=f"{statistics.median(walls[tuple(cores)]):.0f} ms, one thread {alone} ms on the cores; least over least "
            f"{faster(min):.2f}; " + ("same bytes" if len(hashes) == 1 else "DIFFERENT BYTES"))


# 4: growth


def growth(table, build, folder, runs):
    rubble = os.path.join(build, "rubble")
    def measure(triangles, pieces, times):
        mesh, sites = make_input(build, folder, triangles, pieces, ".obj", ".json")
        made = [evaluate(rubble, fracture_graph(mesh, sites, ["a.rbl"], WHOLE), folder, threads=1) for _ in range(times)]
        os.unlink(mesh)
        cpu, nodes = medians(made)
        print(f"   {triangles} × {pieces}: {cpu:.0f} ms, " + " ".join(f"{n} {t:.0f}" for n, t in nodes.items()),
            file=sys.stderr)
        return {"all": cpu, **nodes}, max(m["peak_mb"] for m in made)
    few = max(1, runs // 2)
    by_triangles = {t: measure(t, 1000, few)[0] for t in (10000, 100000, 1000000, 3000000)}
    by_pieces = {n: measure(300000, n, few)[0] for n in (1000, 10000, 100000)}
    for name, data in (("triangles, 10k to 3M, × 1000", by_triangles), ("pieces, 1000 to 100,000, of 300k", by_pieces)):
        sizes = sorted(data)
        for part, label in (("all", "whole"), ("mesh", "read and repair"), ("cut", "cells and cut"),
                ("near", "proximity"), ("groups", "clusters"), ("end", "check and write .rbl")):
            points = [(s, data[s][part]) for s in sizes]
            last = exponent(points[-2:])
            table.add(4, f"exponent in {name}: {label}", exponent(points), 1.05, "", note=f"of the last step {last:.2f}")
    cpu, peak = measure(1000000, 100000, few)
    table.add(4, "1M × 100,000: read, cut, proximity, clusters, .rbl, CPU", cpu["all"] / 1e3, 12, "s",
        note=" ".join(f"{n} {t / 1e3:.2f}" for n, t in cpu.items() if n != "all") + " s")
    table.add(4, "the same, peak of memory", peak / 1024, 3, "GiB")
    _, rows = run_bench(build, "cut", coplanar=1, triangles=300000, runs=runs)
    ratio = pick(rows, "cut", "coplanar")["cpu_ms"] / pick(rows, "cut", "generic")["cpu_ms"]
    table.add(4, "exactly coplanar input over generic, cut, CPU", ratio, 4, "×",
        note=f"cells {pick(rows, 'cells', 'coplanar')['cpu_ms'] / pick(rows, 'cells', 'generic')['cpu_ms']:.2f} ×")


# 5: a person at a slider


def edits(table, build, runs):
    _, rows = run_bench(build, "edit", threads=0, runs=runs)
    wall = {r["case"]: r["wall_ms"] for r in rows}
    note = f"{rows[0]['pieces']:.0f} pieces"
    table.add(5, "wall in two levels, cold, wall", wall["cold"] / 1e3, 1, "s", note=note)
    table.add(5, "after a change of the last node, wall", wall["last"], 30, "ms",
        note=f"of the hulls, the node before: {wall['hulls']:.1f} ms")
    table.add(5, "after a change of the first seed, over cold, wall", wall["first seed"] / wall["cold"], 1.05, "×",
        note="5 % for noise")


# 6: files


def files(table, build, runs):
    _, rows = run_bench(build, "io", runs=runs)
    for case, part, limit in (("read", "obj", 150), ("read", "glb", 600), ("read", "stl", 600), ("write", "glb", 400),
            ("load", "rbl unpacked", 1000)):
        table.add(6, f"{case} {part}, one core", pick(rows, part, case)["value"], limit, "MB/s", least=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default=os.path.join(common.ROOT, "build"))
    parser.add_argument("--only", default="1,2,3,4,5,6")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--peers", metavar="FILE")
    parser.add_argument("--csv")
    a = parser.parse_args()
    wanted, build = set(a.only.split(",")), os.path.abspath(a.build)
    machine, _ = run_bench(build, "cells", only="none")
    table = Table(a.csv, machine)
    with tempfile.TemporaryDirectory(prefix="rubble-targets-") as folder:
        if "1" in wanted:
            whole_command(table, build, folder, a.runs)
        if "2" in wanted:
            cut_costs(table, build, a.runs)
        if wanted & {"1", "2"} and not a.no_peers:
            out, rows = a.peers or os.path.join(folder, "peers.csv"), []
            command = ["sh", os.path.join(common.HERE, "peers.sh"), build, out]
            if a.peers or subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode == 0:
                with open(out) as f:
                    _, rows = common.parse(f.read())
            peers(table, rows)
        if "3" in wanted:
            two_threads(table, build, a.runs)
        if "4" in wanted:
            growth(table, build, folder, a.runs)
        if "5" in wanted:
            edits(table, build, a.runs)
        if "6" in wanted:
            files(table, build, a.runs)
    print(f"# load at the end: {common.load_average()}")
    print(f"{table.rows.count('met')} met, {table.rows.count('NOT MET')} not met, {table.rows.count('-')} not measured")


if __name__ == "__main__":
    main()
