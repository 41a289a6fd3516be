"""What the measuring scripts share: programs that print the CSV of bench.h, evaluations measured from outside, fits."""
import csv
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COLUMNS = ("bench,case,part,triangles,pieces,threads,runs,cpu_ms,cpu_min_ms,wall_ms,wall_min_ms,peak_mb,value,"
    "unit,hash").split(",")
NUMBERS = COLUMNS[3:13]


def number(text):
    return float(text) if text else None


def parse(text):
    """@return the `# key: value` lines as a dictionary, the rows as dictionaries with numbers"""
    machine = dict(line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("# ") and ": " in line)
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    for row in rows:
        row.update({k: number(row[k]) for k in NUMBERS if k in row}) # targets.csv has columns of its own
    return machine, rows


def run_bench(build, name, cores=None, **options):
    """Runs bench_NAME with --key value options. @param cores  the only ones that it may use. @return as parse"""
    command = [os.path.join(build, "tools", "bench", "bench_" + name)]
    for key, value in options.items():
        command += ["--" + key, str(value)]
    keep = (lambda: os.sched_setaffinity(0, cores)) if cores else None
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, preexec_fn=keep)
    if done.returncode:
        sys.exit(f"error: {' '.join(command)} failed")
    return parse(done.stdout)


def make_input(build, folder, triangles, pieces, *extensions):
    """Writes the bumpy sphere of the benchmarks, and its sites as .json or .sites. @return paths"""
    paths = [os.path.join(folder, f"{triangles}_{pieces}{e}") for e in extensions]
    subprocess.run([os.path.join(build, "tools", "bench", "bench_mesh"), "--triangles", str(triangles), "--pieces",
        str(pieces), *paths], check=True)
    return paths


def spawn(command, log):
    """@return CPU milliseconds (user and system) of the whole process, wall milliseconds, peak of memory in MB"""
    actions = [(os.POSIX_SPAWN_OPEN, n, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) for n in (1, 2)]
    begin = time.monotonic()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, used = os.wait4(child, 0)
    wall = time.monotonic() - begin
    if status:
        with open(log, errors="replace") as f:
            sys.exit(f"error: {' '.join(command)}\n{f.read()}")
    return (used.ru_utime + used.ru_stime) * 1e3, wall * 1e3, used.ru_maxrss / 1e3


def evaluate(rubble, graph, folder, threads=0, options=(), trace=False):
    """Evaluates a graph in a process of its own, without any cache.

    @return {"cpu", "wall", "peak_mb", "nodes": {id: (cpu, wall)}, "phases": {(node, phase): (cpu, wall)},
    "files": {name: hash}}, milliseconds
    """
    report, traced, path = (os.path.join(folder, n) for n in ("report.json", "trace.json", "graph.json"))
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)  # an equal file of before would be read, too
    if isinstance(graph, dict):
        with open(path, "w") as f:
            json.dump(graph, f)
    else:
        path = graph
    command = [os.path.abspath(rubble), "eval", path, "--no-cache", "--threads", str(threads), "--out",
        os.path.join(folder, "out"), "--progress", "none", "--report", report, *options]
    if trace:
        command += ["--trace", traced]
    cpu, wall, peak = spawn(command, os.path.join(folder, "log"))
    with open(report) as f:
        told = json.load(f)
    made = {"cpu": cpu, "wall": wall, "peak_mb": peak,
        "nodes": {n["node"]: (n["cpu_ms"], n["wall_ms"]) for n in told["nodes"]},
        "types": {n["node"]: n["type"] for n in told["nodes"]},
        "files": {os.path.basename(f["path"]): f["hash"] for f in told.get("files", [])}, "phases": {}}
    if trace:
        with open(traced) as f:
            events = json.load(f)["traceEvents"]
        for e in events:
            if e.get("cat") != "phase":
                continue
            key = e["args"]["node"], e["name"]
            cpu, wall = made["phases"].get(key, (0, 0))
            made["phases"][key] = cpu + e["args"].get("cpu_us", 0) / 1e3, wall + e["dur"] / 1e3
    return made


def exponent(points):
    """The slope of log y over log x by least squares."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    x, y = statistics.mean(xs), statistics.mean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def solve(matrix, right):
    """Gauss with pivoting; None when singular."""
    n = len(right)
    rows = [list(r) + [b] for r, b in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        if abs(rows[pivot][i]) < 1e-300:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(n):
            if r != i:
                f = rows[r][i] / rows[i][i]
                rows[r] = [a - f * b for a, b in zip(rows[r], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def fit_costs(samples):
    """Non-negative costs c with sum(c · counts) ≈ time, least relative squares: all subsets are tried.

    @param samples [(counts, time)]. @return costs, largest relative fault
    """
    size, best = len(samples[0][0]), None
    for mask in range(1, 1 << size):
        used = [k for k in range(size) if mask >> k & 1]
        rows = [[counts[k] / time for k in used] for counts, time in samples]
        normal = [[sum(r[i] * r[j] for r in rows) for j in range(len(used))] for i in range(len(used))]
        found = solve(normal, [sum(r[i] for r in rows) for i in range(len(used))])
        if not found or min(found) < 0:
            continue
        costs = [0.0] * size
        for k, c in zip(used, found):
            costs[k] = c
        faults = [sum(c * n for c, n in zip(costs, counts)) / time - 1 for counts, time in samples]
        total = sum(f * f for f in faults)
        if best is None or total < best[0]:
            best = total, costs, max(abs(f) for f in faults)
    return best[1], best[2]


def machine_of(build):
    """What bench.h says about the machine; of a build folder without benchmarks nothing."""
    known = os.path.exists(os.path.join(build, "tools", "bench", "bench_cells"))
    return run_bench(build, "cells", only="none")[0] if known else {}


class Rows:
    """Writes CSV as bench.h does."""

    def __init__(self, bench, machine, file=None):
        self.bench, self.file = bench, file or sys.stdout
        for key, value in machine.items():
            print(f"# {key}: {value}", file=self.file)
        print(",".join(COLUMNS), file=self.file, flush=True)

    def row(self, case, part, cpu, wall=(), triangles=None, pieces=None, threads=1, peak_mb=None, value=None, unit=""):
        """@param cpu, wall milliseconds of each run"""
        def times(ms):
            return f"{statistics.median(ms):.5g},{min(ms):.5g}" if ms else ","
        def or_nothing(x, form):
            return "" if x is None else format(x, form)
        print(f"{self.bench},{case},{part},{triangles or ''},{pieces or ''},{threads},{len(cpu)},{times(cpu)},{times(wall)},"
            f"{or_nothing(peak_mb, '.1f')},{or_nothing(value, '.4g')},{unit},", file=self.file, flush=True)


def load_average():
    return " ".join(f"{x:.2f}" for x in os.getloadavg())
