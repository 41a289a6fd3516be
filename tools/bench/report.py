#!/usr/bin/env python3
"""Puts the tables of tools/bench/results/*.csv into docs/performance.md, between `<!-- begin NAME -->` and `<!-- end NAME -->`.

  report.py [--check]      --check: exit 1 when the page is not what the results say
"""
import csv
import os
import re
import sys

import bench_common as common

RESULTS = os.path.join(common.HERE, "results")
PAGE = os.path.join(common.ROOT, "docs", "performance.md")


def load(name):
    path = os.path.join(RESULTS, name + ".csv")
    if not os.path.exists(path):
        return {}, []
    with open(path) as f:
        return common.parse(f.read())


def table(head, rows):
    rows = list(rows)
    if not rows:
        return "Not measured yet."
    return "\n".join("| " + " | ".join(r) + " |" for r in [head, ["---"] * len(head), *rows])


def plain(x, digits=3):
    if x is None:
        return "–"
    text = f"{x:.{digits}g}"
    if "e" in text:
        text = f"{x:.0f}"
    return f"{int(text):,}" if text.lstrip("-").isdigit() else text


def size(n):
    return f"{n / 1e6:.0f}M" if n >= 1e6 and round(n, -6) - n < 1e5 and n % 1e6 < 1e5 else f"{round(n, -3) / 1e3:.0f}k" if n >= 1000 else f"{n:.0f}"


def find(rows, **wanted):
    return next((r for r in rows if all(r[k] == v for k, v in wanted.items())), None)


BUSY = 1.0  # load, of one measuring process


def machine():
    told, busy = [], []
    for name in ("targets", "peers", "cut", "cells", "io", "edit", "hulls", "proximity", "clusters", "cutters", "engine", "graph",
        "nodes"):
        found, _ = load(name)
        if found:
            if float(found.get("load", "0").split()[0]) > BUSY:
                busy.append(name)
            told.append([f"`{name}.csv`", *(found.get(k, "–") for k in ("cpu", "cores", "memory", "kernel", "compiler", "flags",
                "revision", "load"))])
    head = ["file", "processor", "cores", "memory", "kernel", "compiler", "build", "revision", "load at the start"]
    warning = ("\n\n**The load was above one when these began: " + ", ".join(busy) + ".** Where that was more than the benchmark "
        "before, CPU times are higher for it, and walls and two threads mean nothing.") if busy else ""
    return table(head, told) + warning


def targets():
    path = os.path.join(RESULTS, "targets.csv")
    if not os.path.exists(path):
        return "Not measured yet."
    with open(path) as f:
        rows = list(csv.DictReader(line for line in f if not line.startswith("#")))
    words = {"met": "met", "NOT MET": "**not met**", "-": "–"}
    text = table(["", "what", "target", "measured", "", "remarks"], ([r["number"], r["target"], f"{r['limit']} {r['unit']}".strip(),
        f"{r['measured'] or '–'} {r['unit'] if r['measured'] else ''}".strip(), words[r["met"]], r["note"]] for r in rows))
    met = sum(r["met"] == "met" for r in rows)
    return f"{text}\n\n{met} of {len(rows)} are met."


def peers():
    _, rows = load("peers")
    ours = {(r["triangles"], r["pieces"]): r["cpu_ms"] for r in rows if r["case"] == "rubble" and r["part"] == "fracture"}
    out = []
    for r in rows:
        base = ours.get((r["triangles"], r["pieces"]))
        ratio = plain(r["cpu_ms"] / base) + " ×" if base and r["part"] == "fracture" else "–"
        out.append([r["case"], r["part"], size(r["triangles"]) if r["triangles"] else "–", plain(r["pieces"], 6),
            plain(r["cpu_ms"] / 1e3) + " s", ratio, f"{r['value']:.2g} {r['unit']}"])
    return table(["program", "part", "triangles", "sites", "CPU", "over rubble's fracture", "value"], out)


def cut():
    _, rows = load("cut")
    out = []
    for r in rows:
        if r["part"] != "whole":
            continue
        same = {"case": r["case"], "triangles": r["triangles"], "pieces": r["pieces"]}
        cells, voro, cut_row, output = (find(rows, part=p, **same) for p in ("cells", "voro++", "cut", "output"))
        out.append([size(r["triangles"]), plain(r["pieces"], 6), plain(cells["cpu_ms"]), plain(voro["cpu_ms"]) if voro else "–",
            plain(cut_row["cpu_ms"]), plain(r["cpu_ms"]), plain(cut_row["peak_mb"]), size(output["value"]),
            plain(cut_row["peak_mb"] * 1e6 / (r["triangles"] + output["value"]))])
    return table(["triangles", "sites", "cells ms", "voro++ ms", "cut ms", "cells and cut ms", "peak of the cut MB", "triangles out",
        "bytes a triangle"], out)


def phases():
    _, rows = load("cut")
    parts = list(dict.fromkeys(r["part"] for r in rows if r["part"].startswith("cut: ")))
    cases = [(r["triangles"], r["pieces"]) for r in rows if r["part"] == "whole" and r["pieces"] in (1000, 10000)
        and r["triangles"] > 15000]
    out = []
    for triangles, pieces in cases:
        found = [find(rows, part=p, triangles=triangles, pieces=pieces) for p in parts]
        out.append([size(triangles), plain(pieces, 6), *(plain(r["cpu_ms"]) for r in found)])
    return table(["triangles", "sites", *(p[5:] for p in parts)], out)


def growth():
    _, rows = load("cut")
    out = []
    for part in ("cells", "cut", "whole"):
        name = {"whole": "cells and cut"}.get(part, part)
        own = [r for r in rows if r["part"] == part]
        for pieces in (1000, 10000):
            points = sorted((r["triangles"], r["cpu_ms"]) for r in own if r["pieces"] == pieces and r["triangles"] > 5000)
            if part != "cells" and len(points) > 2:
                out.append([name, f"triangles, {size(points[0][0])} to {size(points[-1][0])}, {plain(pieces, 6)} sites",
                    f"{common.exponent(points):.2f}", f"{common.exponent(points[-2:]):.2f}"])
        for triangles in sorted({r["triangles"] for r in own if r["triangles"] > 250000}):
            points = sorted((r["pieces"], r["cpu_ms"]) for r in own if r["triangles"] == triangles and r["pieces"] >= 1000)
            if len(points) > 2:
                out.append([name, f"sites, 1,000 to 100,000, {size(triangles)} triangles", f"{common.exponent(points):.2f}",
                    f"{common.exponent(points[-2:]):.2f}"])
    return table(["what", "in", "exponent", "of the last step"], out)


def graph():
    _, rows = load("graph")
    sizes = list(dict.fromkeys(r["triangles"] for r in rows))
    parts = list(dict.fromkeys(r["part"] for r in rows))
    out = []
    for part in parts:
        found = [find(rows, part=part, triangles=t) for t in sizes]
        if max((r["cpu_ms"] for r in found if r), default=0) < 1:
            continue
        out.append([part, *(plain(r["cpu_ms"]) if r else "–" for r in found)])
    return table(["part", *(size(t) for t in sizes)], out)


def nodes():
    _, rows = load("nodes")
    found = sorted((r for r in rows if ":" not in r["part"] and r["part"] != "whole"), key=lambda r: -r["cpu_ms"])
    return table(["node", "CPU ms"], ([r["part"], plain(r["cpu_ms"])] for r in found))


def rows_of(name):
    _, rows = load(name)
    return table(["case", "part", "triangles", "pieces", "CPU ms", "peak MB", "value"], ([r["case"], r["part"] or "–",
        size(r["triangles"]) if r["triangles"] else "–", plain(r["pieces"], 6), plain(r["cpu_ms"]), plain(r["peak_mb"]),
        f"{plain(r['value'])} {r['unit']}" if r["unit"] else "–"] for r in rows if r["cpu_ms"] is not None))


BLOCKS = {"machine": machine, "targets": targets, "peers": peers, "cut": cut, "phases": phases, "growth": growth, "graph": graph,
    "nodes": nodes, **{n: (lambda n=n: rows_of(n)) for n in ("cells", "io", "hulls", "proximity", "clusters", "cutters", "engine",
    "edit")}}


def main():
    with open(PAGE) as f:
        before = f.read()
    def renew(match):
        return f"<!-- begin {match[1]} -->\n{BLOCKS[match[1]]()}\n<!-- end {match[1]} -->"
    after = re.sub(r"<!-- begin (\w+) -->\n.*?<!-- end \1 -->", renew, before, flags=re.S)
    if "--check" in sys.argv:
        sys.exit(before != after)
    with open(PAGE, "w") as f:
        f.write(after)


if __name__ == "__main__":
    main()
