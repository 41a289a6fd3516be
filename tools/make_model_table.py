#!/usr/bin/env python3
"""Writes docs/models.md: what MeshToCollection found in each model of a folder, did and got, with default settings.

  make_model_table.py RUBBLE MODELS_DIR [OUT]      default OUT: docs/models.md
"""
import glob
import json
import os
import subprocess
import sys

FORMATS = ("obj", "stl", "STL", "ply", "off", "glb")


def inspect(rubble, path):
    run = subprocess.run([rubble, "inspect", path, "--json"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if run.returncode:
        lines = [l.split("error: ", 1)[1] for l in run.stderr.splitlines() if "error: " in l]
        return None, [l.replace(path + ": ", "") for l in lines]
    return json.loads(run.stdout), []


def count(number, word):
    return f"{number} {word}{'' if number == 1 else 's'}"


def found(doc):
    shells, holes = doc.get("shells", []), doc.get("holes", [])
    parts = [count(len(shells), "shell")]
    if holes:
        parts.append(count(len(holes), "hole"))
    crossings = sum(s["crossings"] for s in shells)
    if crossings:
        parts.append(count(crossings, "crossing"))
    overlapping = sum(s["overlaps"] for s in shells)
    if overlapping:
        parts.append(f"{overlapping} overlapping")
    return ", ".join(parts)


def done(doc):
    texts = [m["text"] for m in doc["messages"] if m["severity"] == "warning"]
    shown = "; ".join(texts[:3])
    return shown + (f"; {len(texts) - 3} more" if len(texts) > 3 else "") if texts else "nothing"


def got(doc):
    s = doc["summary"]
    parts = [count(s["pieces"], "solid"), f"volume {s['volume']:.6g}"]
    if s["sheets"]:
        parts.insert(1, count(s["sheets"], "sheet"))
    return ", ".join(parts)


def main():
    rubble, folder = sys.argv[1], sys.argv[2]
    out = sys.argv[3] if len(sys.argv) > 3 else os.path.join(os.path.dirname(__file__), "..", "docs", "models.md")
    files = sorted((f for e in FORMATS for f in glob.glob(os.path.join(folder, "**", "*." + e), recursive=True)),
                   key=lambda f: os.path.relpath(f, folder).lower())
    lines = ["# Models that rubble is tried on", "",
             "Real meshes, closed and not, read by `MeshToCollection` with default settings. Written by",
             "`tools/make_model_table.py`; `rubble inspect MESH` shows the same for any mesh, shell by shell.", "",
             "| model | found | done | got |", "|---|---|---|---|"]
    for path in files:
        doc, errors = inspect(rubble, path)
        name = os.path.relpath(path, folder)
        cells = [found(doc), done(doc), got(doc)] if doc else ["", "refused: " + "; ".join(errors[-1:]), "nothing"]
        lines.append("| " + " | ".join(c.replace("|", "\\|") for c in [name] + cells) + " |")
    with open(out, "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
