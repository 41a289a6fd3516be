#!/usr/bin/env python3
"""What a frame of `rubble view` costs: view_frames.py RUBBLE [--pieces 500,2000,10000]

Cubes in Voronoi pieces with hulls, in chromium without a window at 300 × 200. Prints a table in Markdown, times in ms, median and
95 of 100 frames: our own scripts before drawing, the physics engine, our scripts and three.js while drawing, and how long the graphics
driver goes on after that. Where there is no graphics card the driver is a program that draws on the processor, and its time tells
nothing of a card.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests", "view"))
from run_view import build_page, install_playwright, run


def make_page(rubble, folder, count):
    graph = {"rubble": 1, "nodes": {"box": {"type": "MakePrimitive"},
        "cut": {"type": "UniformFracture", "in": {"collection": "box"}, "params": {"min_sites": count, "max_sites": count}},
        "near": {"type": "Proximity", "in": {"collection": "cut"}},
        "hulls": {"type": "CreateLeafConvexHulls", "in": {"collection": "near"}}}}
    with open(os.path.join(folder, f"{count}.json"), "w") as f:
        json.dump(graph, f)
    done = run([rubble, "view", f"{count}.json", "-o", f"{count}.html"], folder)
    if done.returncode:
        sys.exit(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rubble")
    parser.add_argument("--pieces", default="500,2000,10000")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("chromium-browser"))
    parser.add_argument("--pages", help="write the pages and packages to this folder, measure nothing")
    a = parser.parse_args()
    rubble = os.path.abspath(a.rubble)
    if not a.chromium:
        sys.exit("chromium is not installed")
    build_page(rubble)
    with tempfile.TemporaryDirectory(prefix="rubble-view-") as folder:
        install_playwright(folder)
        counts = [int(n) for n in a.pieces.split(",")]
        for count in counts:
            make_page(rubble, folder, count)
        if a.pages:
            shutil.copytree(folder, a.pages, dirs_exist_ok=True)
            return
        sys.exit(subprocess.run(["node", os.path.join(HERE, "view_frames.mjs"), a.chromium, folder, *map(str, counts)]).returncode)


if __name__ == "__main__":
    main()
