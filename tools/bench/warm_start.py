#!/usr/bin/env python3
"""What a warm cache folder saves the next process: CPU time (user and system) of the whole command, median of five.

  warm_start.py RUBBLE GRAPH [OPTION…]

cold: no cache folder yet; same: once more into the same output folder; other: into an empty one.
"""
import os
import shutil
import statistics
import sys
import tempfile

ROUNDS = 5


def cpu_ms(arguments, log):
    actions = [(os.POSIX_SPAWN_OPEN, n, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) for n in (1, 2)]
    child = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=actions)
    _, status, used = os.wait4(child, 0)
    if status:
        sys.exit(open(log).read())
    return (used.ru_utime + used.ru_stime) * 1e3


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    command = [os.path.abspath(sys.argv[1]), "eval", *sys.argv[2:]]
    times = {"cold": [], "same": [], "other": []}
    for _ in range(ROUNDS):
        folder = tempfile.mkdtemp(prefix="rubble-warm-")
        path = lambda name: os.path.join(folder, name)
        for name, out in (("cold", "out"), ("same", "out"), ("other", "other")):
            times[name].append(cpu_ms([*command, "--cache", path("kept"), "-o", path(out)], path("log")))
        for name in os.listdir(path("out")):
            with open(os.path.join(path("out"), name), "rb") as a, open(os.path.join(path("other"), name), "rb") as b:
                assert a.read() == b.read(), name
        shutil.rmtree(folder)
    cold = statistics.median(times["cold"])
    for name, all_ in times.items():
        print(f"{name:6} {statistics.median(all_):8.2f} ms  {100 * statistics.median(all_) / cold:6.1f} %")


if __name__ == "__main__":
    main()
