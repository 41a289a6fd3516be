#!/usr/bin/env python3
"""Tests the pages of `rubble view` in Debian's chromium: run_view.py RUBBLE [--pictures FOLDER]

Builds the page in RUBBLE's build folder when it is not there. Installs playwright-core (tests/view/package-lock.json) into a
temporary folder. What is missing (node, npm, a registry, chromium) is a skip that says so.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HOSTILE = "</script><img src=x onerror=window.hacked=1>"


def skip(why):
    print(f"skip view: {why}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def fail(what, text=""):
    print(text.strip()[-3000:])
    print(f"FAIL {what}\n0 passed, 1 failed")
    sys.exit(1)


def run(arguments, folder, timeout=300):
    return subprocess.run(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", timeout=timeout)


def build_page(rubble):
    build = os.path.dirname(rubble)
    done = run(["ninja", "-C", build, "tools/view/view.html"], ROOT)
    if "unknown target" in done.stdout:  # configured before node was installed
        run(["meson", "setup", "--reconfigure", build], ROOT)
        done = run(["ninja", "-C", build, "tools/view/view.html"], ROOT)
    if done.returncode and "npm cannot fetch" in done.stdout:
        skip("npm does not answer")
    if done.returncode:
        fail("the page is built", done.stdout)


def install_playwright(folder):
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(HERE, name), folder)
    done = run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], folder)
    if done.returncode:
        skip("npm cannot install playwright-core: " + done.stdout.strip()[-200:])


def anchored_graph():
    """graphs/wall.json, its lowest pieces anchored, with thresholds and masses."""
    with open(os.path.join(ROOT, "graphs", "wall.json")) as f:
        graph = json.load(f)
    graph["vars"]["mesh"]["default"] = os.path.join(ROOT, "graphs", "meshes", "wall.obj")
    nodes = graph["nodes"]
    del nodes["end"]
    nodes["low"] = {"type": "SelectInBox", "in": {"collection": "hulls"},
        "params": {"min": [-100, -100, -100], "max": [100, 0.25, 100], "inside": "any"}}
    nodes["held"] = {"type": "SetAnchored", "in": {"collection": "hulls", "selection": "low"}}
    nodes["strong"] = {"type": "SetDamageThresholds", "in": {"collection": "held"}}
    nodes["heavy"] = {"type": "SetMass", "in": {"collection": "strong"}}
    return graph


def make_pages(rubble, folder):
    wall = os.path.join(ROOT, "graphs", "wall.json")
    with open(os.path.join(folder, "anchored.json"), "w") as f:
        json.dump(anchored_graph(), f)
    with open(os.path.join(ROOT, "graphs", "meshes", "vase.obj")) as f:
        vase = re.sub(r"^o .*\n", "", f.read(), flags=re.M)
    with open(os.path.join(folder, "evil.obj"), "w") as f:
        f.write(f"o {HOSTILE}\n" + vase)
    many = {"rubble": 1, "nodes": {"box": {"type": "MakePrimitive"},
        "cut": {"type": "UniformFracture", "in": {"collection": "box"}, "params": {"min_sites": 2000, "max_sites": 2000}},
        "hulls": {"type": "CreateLeafConvexHulls", "in": {"collection": "cut"}}}}
    with open(os.path.join(folder, "many.json"), "w") as f:
        json.dump(many, f)
    # A piece, pieces without hulls and contacts, and pieces of a size that no metre has.
    box = {"type": "MakePrimitive"}
    cut = {"type": "UniformFracture", "in": {"collection": "box"}, "params": {"min_sites": 20, "max_sites": 20}}
    odd = {"one": {"box": box}, "plain": {"box": box, "cut": cut},
        "huge": {"box": dict(box, params={"size": [3e8, 1e8, 1e8]}), "cut": cut}}
    for name, nodes in odd.items():
        with open(os.path.join(folder, name + ".json"), "w") as f:
            json.dump({"rubble": 1, "nodes": nodes}, f)
    for name, file, *options in (*((n, n + ".json") for n in odd), ("wall", wall, "--set", "stones=500"),
            ("anchored", "anchored.json", "--set", "stones=200"), ("evil", "evil.obj"), ("many", "many.json")):
        done = run([rubble, "view", file, "-o", name + ".html", *options], folder)
        if done.returncode:
            fail(f"rubble view writes {name}.html", done.stdout)
    with open(os.path.join(folder, "evil.html")) as f:
        page = f.read()
    with open(os.path.join(folder, "bad.html"), "w") as f:
        f.write(re.sub(r'(id="data">)[^<]*', r"\1bm90aGluZyBnb29kIGF0IGFsbA==", page))


def start_server(rubble, folder):
    graph = {"rubble": 1, "nodes": {"box": {"type": "MakePrimitive"}, "cut": {"type": "UniformFracture",
        "in": {"collection": "box"}, "params": {"min_sites": 12, "max_sites": 12}}}}
    with open(os.path.join(folder, "live.json"), "w") as f:
        json.dump(graph, f)
    with open(os.path.join(folder, "server.log"), "w") as log:
        server = subprocess.Popen([rubble, "view", "live.json", "--watch"], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=log, text=True)
    found = re.match(r"open (http://127\.0\.0\.1:\d+/)", server.stdout.readline())
    if not found:
        server.kill()
        fail("rubble view --watch serves its page")
    return server, found.group(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rubble")
    parser.add_argument("--pictures", help="folder for screenshots")
    a = parser.parse_args()
    rubble = os.path.abspath(a.rubble)
    for program in ("node", "npm", "ninja"):
        if not shutil.which(program):
            skip(f"{program} is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        skip("chromium is not installed")
    build_page(rubble)
    with tempfile.TemporaryDirectory(prefix="rubble-view-") as folder:
        install_playwright(folder)
        make_pages(rubble, folder)
        if a.pictures:
            os.makedirs(a.pictures, exist_ok=True)
        server, url = start_server(rubble, folder)
        try:
            arguments = ["node", os.path.join(HERE, "browser.mjs"), chromium, folder, url]
            code = subprocess.run(arguments + ([os.path.abspath(a.pictures)] if a.pictures else []), timeout=1500).returncode
        finally:
            server.terminate()
            server.wait(timeout=60)
    sys.exit(code)


if __name__ == "__main__":
    main()
