#!/usr/bin/env python3
"""What a warm cache folder saves the next process: CPU time (user and system) of the whole command, median of five.

  warm_start.py RUBBLE GRAPH [OPTION…]

cold: no cache folder yet; same: once more into the same output folder; other: into an empty one. Rows are those of bench.h.
"""
import os
import shutil
import statistics
import sys
import tempfile

import bench_common as common

ROUNDS = 5


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    command = [os.path.abspath(sys.argv[1]), "eval", *sys.argv[2:]]
    times = {"cold": [], "same": [], "other": []}
    for _ in range(ROUNDS):
        folder = tempfile.mkdtemp(prefix="rubble-warm-")
        path = lambda name: os.path.join(folder, name)
        for name, out in (("cold", "out"), ("same", "out"), ("other", "other")):
            times[name].append(common.spawn([*command, "--cache", path("kept"), "--out", path(out)], path("log")))
        for name in os.listdir(path("out")):
            with open(os.path.join(path("out"), name), "rb") as a, open(os.path.join(path("other"), name), "rb") as b:
                assert a.read() == b.read(), name
        shutil.rmtree(folder)
    rows = common.Rows("warm_start", common.machine_of(os.path.dirname(command[0])))
    cold = statistics.median(t[0] for t in times["cold"])
    for name, all_ in times.items():
        cpu, wall, peaks = zip(*all_)
        rows.row(os.path.basename(sys.argv[2]), name, cpu, wall, threads=0, peak_mb=max(peaks),
            value=100 * statistics.median(cpu) / cold, unit="% of cold")


if __name__ == "__main__":
    main()
