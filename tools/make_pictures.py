#!/usr/bin/env python3
"""Draws the pictures of docs/cookbook.md, docs/graphs.md and README.md from the example graphs.

  make_pictures.py RUBBLE [--check] [FOLDER] [NAME …]      default: all, into docs/pictures

With --check nothing is kept: every picture is drawn small, and it is an error when a graph or an option is refused, or when
a committed picture is missing, has another size, or takes more than 60 kB. (That it shows the same is not compared:
processors differ in the last bit of a pixel.) Python's standard library only.
"""
import os
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZE, TALL = (640, 480), (480, 640)
MOST_BYTES = 60000

# picture: graph or mesh below graphs/, options, size where it is not SIZE
PICTURES = {
    "brick_wall": ("brick_wall.json", ["--explode", "0.1", "--view", "28,14"]),
    "building_1": ("building.json", ["--level", "1", "--explode", "0.25"]),
    "building_2": ("building.json", ["--level", "2", "--explode", "0.2"]),
    "building_3": ("building.json", ["--by", "cluster", "--explode", "0.12"]),
    "clustered_wall_graph": ("clustered_wall.json", ["--graph", "connections", "--level", "2", "--explode", "0.2"]),
    "doorway": ("doorway.json", ["--by", "material", "--explode", "0.12"]),
    "doorway_mesh": ("meshes/doorway.obj", ["--by", "material"]),
    "house": ("house.json", ["--by", "cluster", "--explode", "0.12"]),
    "painted_wall": ("painted_wall.json", ["--explode", "0.08", "--view", "28,14"]),
    "painted_wall_mesh": ("meshes/painted_wall.obj", ["--by", "color", "--view", "28,14"]),
    "pane": ("pane.json", ["--explode", "0.06", "--view", "24,10"]),
    "plank": ("plank.json", ["--explode", "0.12", "--view", "30,38"]),
    "statue_hit": ("statue_hit.json", ["--explode", "0.25", "--view", "22,14"]),
    "stone_column": ("stone_column.json", ["--explode", "0.25", "--view", "30,8"], TALL),
    "vase": ("vase.json", ["--explode", "0.15"]),
    "wall": ("wall.json", ["--by", "cluster", "--explode", "0.12", "--view", "28,14"]),
}


def run(arguments):
    p = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"{' '.join(arguments)}: exit {p.returncode}\n{p.stderr}")


def size_of(name):
    return PICTURES[name][2] if len(PICTURES[name]) > 2 else SIZE


def draw(rubble, name, folder, results, samples, shrink):
    source, options = PICTURES[name][:2]
    width, height = (k // shrink for k in size_of(name))
    path = os.path.join(ROOT, "graphs", source)
    if source.endswith(".json"):
        made = os.path.join(results, source[:-5] + ".rbl")
        if not os.path.exists(made):
            run([rubble, "eval", path, "--out", results, "--no-cache"])
        path = made
    run([rubble, "render", path, "-o", os.path.join(folder, name + ".png"), "--palette", "256", "--samples", str(samples),
        "--size", f"{width}x{height}", *options])


def fault(folder, name):
    """What is wrong with a committed picture, or nothing."""
    try:
        with open(os.path.join(folder, name + ".png"), "rb") as f:
            data = f.read()
    except OSError:
        return "is missing; tools/make_pictures.py draws it"
    if data[:8] != b"\x89PNG\r\n\x1a\n" or struct.unpack_from(">II", data, 16) != size_of(name):
        return "is not a PNG of {} by {} pixels".format(*size_of(name))
    return f"takes {len(data)} bytes" if len(data) > MOST_BYTES else ""


def main(arguments):
    check = "--check" in arguments
    arguments = [a for a in arguments if a != "--check"]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    rubble = os.path.abspath(arguments[0])
    folder = next((a for a in arguments[1:] if os.path.isdir(a)), os.path.join(ROOT, "docs", "pictures"))
    names = [a for a in arguments[1:] if a in PICTURES] or sorted(PICTURES)
    if subprocess.run([rubble, "render", "--help"], stdin=subprocess.DEVNULL, capture_output=True).returncode:
        print("`rubble render` is not built: skipped")
        sys.exit(77)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="rubble-pictures-") as results:
        for name in names:
            if check:
                why = fault(folder, name)
                draw(rubble, name, results, results, 1, 10)
                bad += bool(why)
                print(f"FAIL {name}.png {why}" if why else f"ok   {name}.png")
            else:
                draw(rubble, name, folder, results, 32, 1)
                print(os.path.join(folder, name + ".png"), os.path.getsize(os.path.join(folder, name + ".png")))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
