#!/usr/bin/env python3
"""Does what docs/tutorial.md says: run_tutorial.py RUBBLE [--pictures FOLDER]

Runs its blocks as tests/docs does, opens its page in Debian's chromium (three.js and Rapier from npm, pinned by
package-lock.json here) and throws a ball at the wall. Debian's Godot is 3.2: godot3-server imports the .glb, its tree must be that of
the .json, and the two scripts run with that version's names of the same classes; what the ball hits must fall. Ends with `N passed, N
failed`. A missing Godot is a failure for root, who can install it (tools/packages.sh), else a skip; as is what npm does not give.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "docs"))
from run_docs import Document, blocks  # noqa: E402

TREE = """extends SceneTree

func show(node, parent):
	var points = node.shape.points.size() if node is CollisionShape else 0
	print("node\\t", node.get_class(), "\\t", node.name, "\\t", parent, "\\t", points)
	for child in node.get_children():
		show(child, node.name)

func _init():
	show(load("res://wall.glb").instance(), "")
	quit()
"""
PLAY = """extends SceneTree

var wall
var frames = 0

func count(node, type):
	var sum = 1 if node.get_class() == type else 0
	for child in node.get_children():
		sum += count(child, type)
	return sum

func _initialize():
	wall = load("res://wall.glb").instance()
	wall.set_script(load("res://wall.gd"))
	get_root().add_child(wall)
	var ball = RigidBody.new()
	ball.set_script(load("res://ball.gd"))
	ball.mass = 100
	ball.linear_velocity = Vector3(0, 0, -20)
	ball.translation = Vector3(1.7, 1.5, 2)
	var shape = CollisionShape.new()
	shape.shape = SphereShape.new()
	shape.shape.radius = 0.15
	ball.add_child(shape)
	get_root().add_child(ball)
	print("before\\t", count(wall, "RigidBody"), "\\t", count(wall, "StaticBody"))

func _iteration(_delta):
	frames += 1
	if frames < 90:
		return false
	var fallen = 0
	for child in wall.get_children():
		if child is RigidBody and child.get_child(0).global_transform.origin.y < -1:
			fallen += 1
	if frames == 90:
		print("after\\t", count(wall, "RigidBody"), "\\t", count(wall, "StaticBody"), "\\t", fallen)
		quit()
	return true
"""


class Fault(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Fault(text)


class Counts:
    passed = failed = skipped = 0

    def test(self, name, body, *arguments):
        try:
            print(f"ok   {name}: {body(*arguments) or 'as it should be'}", flush=True)
            self.passed += 1
        except (Fault, OSError, ValueError, subprocess.SubprocessError) as e:
            print(f"FAIL {name}: {e}", flush=True)
            self.failed += 1

    def skip(self, name, why):
        print(f"skip {name}: {why}")
        self.skipped += 1


def write_files(rubble, folder):
    """The tutorial's files and what its commands make of them."""
    shutil.copytree(os.path.join(ROOT, "graphs"), os.path.join(folder, "graphs"))
    document = Document(rubble, folder)
    with open(os.path.join(ROOT, "docs", "tutorial.md")) as f:
        text = f.read()
    for line, words, body in blocks(text):
        why = document.block(words, body)
        need(not why, f"docs/tutorial.md:{line}: {why}")
    shutil.copy(os.path.join(folder, "out", "wall.glb"), folder)


# ---- the page ----

def play_page(counts, chromium, folder, pictures):
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(HERE, name), folder)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=folder,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if done.returncode:
        counts.skip("page", "npm cannot install its packages: " + (done.stdout + done.stderr).strip()[-200:])
        return
    done = subprocess.run(["node", os.path.join(HERE, "tutorial_page.mjs"), chromium, folder] + ([pictures] if pictures else []),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    print(done.stdout, end="")
    counts.passed += len(re.findall(r"^ok  ", done.stdout, re.M))
    counts.failed += len(re.findall(r"^FAIL", done.stdout, re.M)) + (done.returncode != 0)


# ---- Godot ----

def godot(folder, *arguments):
    environment = dict(os.environ, HOME=os.path.join(folder, "home"), LANG="en_US.UTF-8", LC_ALL="en_US.UTF-8")
    return subprocess.Popen(["godot3-server", "--path", folder, *arguments], env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)


def import_glb(folder):
    """Lets the editor import; it does not end by itself, so it is ended when the imported scene is there."""
    editor, imported = godot(folder, "--editor"), os.path.join(folder, ".import")
    start = time.monotonic()
    try:
        while time.monotonic() - start < 240 and editor.poll() is None:
            if os.path.isdir(imported) and any(n.endswith(".md5") for n in os.listdir(imported)):
                return
            time.sleep(0.2)
        raise Fault("Godot has not imported wall.glb")
    finally:
        os.killpg(editor.pid, signal.SIGKILL)
        editor.communicate()


def run_script(folder, name, text):
    with open(os.path.join(folder, name), "w") as f:
        f.write(text)
    program = godot(folder, "-s", name)
    try:
        output = program.communicate(timeout=120)[0]
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, signal.SIGKILL)
        raise Fault(f"{name} does not end: " + program.communicate()[0][-500:])
    need("SCRIPT ERROR" not in output and "Parse Error" not in output, output[-1500:])
    return [line.split("\t") for line in output.splitlines()]


def check_tree(folder, bones):
    import_glb(folder)
    lines = [line[1:] for line in run_script(folder, "tree.gd", TREE) if line[0] == "node"]
    pieces = {b["name"]: b for b in bones if b["triangles"] > 0}
    meshes = {name: parent for kind, name, parent, _ in lines if kind == "MeshInstance"}
    need(meshes == {n: b["parent"] for n, b in pieces.items()}, f"{len(meshes)} meshes, or their parents")
    bodies = [name for kind, name, _, _ in lines if kind == "StaticBody"]
    need(sorted(bodies) == sorted(pieces), f"{len(bodies)} static bodies")
    shapes = [int(points) for kind, _, _, points in lines if kind == "CollisionShape"]
    need(len(shapes) == sum(len(b["hulls"]) for b in pieces.values()) and min(shapes) >= 4, f"{len(shapes)} shapes")
    return f"{len(meshes)} meshes, {len(shapes)} convex shapes"


def older(text):
    """A script of Godot 4 with the names of Godot 3."""
    text = re.sub(r"\bNode3D\b", "Spatial", text)
    return re.sub(r"\b([A-Z]\w*)3D\b", r"\1", text).replace("max_contacts_reported", "contacts_reported")


def play_godot(folder, source):
    for name in ("wall.gd", "ball.gd"):
        with open(os.path.join(source, name)) as f, open(os.path.join(folder, name), "w") as out:
            out.write(older(f.read()))
    lines = {line[0]: list(map(int, line[1:])) for line in run_script(folder, "play.gd", PLAY) if line[0] in ("before", "after")}
    loose, standing = lines["before"]
    need(loose == 0 and standing > 80, str(lines))
    bodies, still, fallen = lines["after"]
    need(5 < bodies < standing / 2 and standing / 2 < still < standing - 5, str(lines))
    need(fallen > bodies / 2, f"{fallen} of {bodies} fell")
    return f"{bodies} bodies came off, {still} of {standing} pieces stand"


def test_godot(counts, source, bones):
    if not shutil.which("godot3-server"):
        if os.geteuid() == 0:
            counts.failed += 1
            print("FAIL godot: godot3-server is not installed (tools/packages.sh: full_packages)")
        else:
            counts.skip("godot", "godot3-server is not installed")
        return
    folder = os.path.join(source, "godot")
    os.makedirs(os.path.join(folder, "home"))
    shutil.copy(os.path.join(source, "wall.glb"), folder)
    with open(os.path.join(folder, "project.godot"), "w") as f:
        f.write('config_version=4\n[application]\nconfig/name="wall"\n')
    counts.test("Godot 3.2 imports meshes and convex shapes", check_tree, folder, bones)
    counts.test("Godot 3.2 runs the scripts", play_godot, folder, source)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rubble")
    parser.add_argument("--pictures", help="folder for screenshots")
    a = parser.parse_args()
    counts, chromium = Counts(), shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory(prefix="rubble-tutorial-") as folder:
        counts.test("the blocks of the tutorial", write_files, os.path.abspath(a.rubble), folder)
        if counts.passed:
            with open(os.path.join(folder, "out", "wall.json")) as f:
                bones = json.load(f)["bones"]
            if a.pictures:
                os.makedirs(a.pictures, exist_ok=True)
            if chromium and shutil.which("node") and shutil.which("npm"):
                play_page(counts, chromium, folder, a.pictures and os.path.abspath(a.pictures))
            else:
                counts.skip("page", "node, npm or chromium is not installed")
            test_godot(counts, folder, bones)
    print(f"{counts.passed} passed, {counts.failed} failed" + (f", {counts.skipped} skipped" if counts.skipped else ""))
    sys.exit(1 if counts.failed else 0)


if __name__ == "__main__":
    main()
