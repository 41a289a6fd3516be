#!/usr/bin/env python3
"""Checks who includes whom (docs/design/DESIGN.md, folders). Prints each forbidden include and exits 1 if there is one.

A folder may include itself, include/ and what the table says. Tests may include everything;
benchmarks time single kernels and may include the library that nodes wrap, and the evaluator.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ALLOWED = {
    "include": [],
    "examples": [],
    "fracture/base": [],
    "fracture/geometry": ["fracture/base"],
    "fracture/collection": ["fracture/base"],
    "fracture/ops": ["fracture/base", "fracture/geometry", "fracture/collection"],
    "fracture/io": ["fracture/base", "fracture/geometry", "fracture/collection"],
    "engine": ["fracture/base", "fracture/collection"],
    "nodes": ["fracture/base", "fracture/geometry", "fracture/collection", "fracture/ops", "fracture/io", "engine"],
    "tools/bench": ["fracture/base", "fracture/geometry", "fracture/collection", "fracture/ops", "fracture/io", "engine"],
    "tools": [],
}


def layer(path):
    """The layer of a file of the project, None for what no layer holds."""
    return next((name for name in ALLOWED if path.startswith(name + "/")), None)


def target(path, word):
    """The file of the project that an include names, None when it is somebody else's."""
    for folder in (os.path.dirname(path), "", "include"):
        candidate = os.path.normpath(os.path.join(folder, word))
        if os.path.isfile(os.path.join(ROOT, candidate)):
            return candidate
    return None


def faults(path):
    own = layer(path)
    with open(os.path.join(ROOT, path), errors="replace") as f:
        for number, line in enumerate(f, 1):
            match = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
            other = target(path, match.group(1)) if match else None
            if not other:
                continue
            name = layer(other)
            if name not in (own, "include") and name not in ALLOWED[own]:
                yield f"{path}:{number}: {own} must not include {other}"


def main():
    bad = []
    for name in ALLOWED:
        for folder, _, files in os.walk(os.path.join(ROOT, name)):
            for file in sorted(files):
                if file.endswith((".c", ".h", ".cc", ".cpp", ".hh")):
                    bad += faults(os.path.relpath(os.path.join(folder, file), ROOT))
    for line in sorted(set(bad)):
        print(line)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
