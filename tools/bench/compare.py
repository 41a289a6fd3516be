#!/usr/bin/env python3
"""Runs benchmarks of two build folders in turn and prints the ratio of CPU times; compare.sh builds them.

  compare.py BUILD_A BUILD_B [--rounds N] "BENCH OPTION…"…
"""
import argparse
import os
import shlex
import statistics
import subprocess
import sys

import bench_common as common

KEY = ("case", "part", "triangles", "pieces", "threads")


def run_once(build, bench):
    name, *options = shlex.split(bench)
    command = [os.path.join(build, "tools", "bench", "bench_" + name), *options, "--runs", "1"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(command)} failed")
    machine, rows = common.parse(done.stdout)
    return machine, {tuple(r[k] for k in KEY): r for r in rows if r["cpu_ms"] is not None}


def compare(a, b, bench, rounds):
    times, hashes = {}, {}
    for _ in range(rounds):
        for which, build in enumerate((a, b)):
            _, rows = run_once(build, bench)
            for key, row in rows.items():
                times.setdefault(key, ([], []))[which].append(row["cpu_ms"])
                hashes.setdefault(key, (set(), set()))[which].add(row["hash"])
    for key, (one, two) in times.items():
        case, part, triangles, pieces, _ = key
        size = " × ".join(f"{n:.0f}" for n in (triangles, pieces) if n)
        name = f"{bench.split()[0]} {case} {part} {size}".replace("  ", " ")
        if len(one) != len(two):
            print(f"{name:60} only in {'A' if one else 'B'}")
            continue
        ratios = [y / x for x, y in zip(one, two) if x > 0]
        if not ratios:
            continue
        m, n = statistics.median(one), statistics.median(two)
        same = "" if hashes[key] == ({""}, {""}) else "  same" if hashes[key][0] == hashes[key][1] else "  DIFFERENT BYTES"
        print(f"{name:60} {m:10.3f} {n:10.3f} ms  {n / m if m else 0:6.3f}  {min(ratios):.3f} … {max(ratios):.3f}{same}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_a")
    parser.add_argument("build_b")
    parser.add_argument("bench", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    a = parser.parse_args()
    for letter, build in (("A", a.build_a), ("B", a.build_b)):
        machine, _ = common.run_bench(build, a.bench[0].split()[0], only="none")
        if letter == "A":
            for key in ("cpu", "cores", "kernel", "compiler", "flags", "load"):
                print(f"# {key}: {machine.get(key, '?')}")
        print(f"# {letter}: {machine.get('revision', '?')}")
    print(f"{'':60} {'A':>10} {'B':>10}     {'B / A':>6}  least … most of {a.rounds} rounds", flush=True)
    for bench in a.bench:
        compare(a.build_a, a.build_b, bench, a.rounds)


if __name__ == "__main__":
    main()
