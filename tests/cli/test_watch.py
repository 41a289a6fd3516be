#!/usr/bin/env python3
"""rubble explain, and rubble eval --watch with files that change as editors change them.

  test_watch.py RUBBLE

Waits for what the command says, never for a time; a wait that takes a minute is a failure.
"""
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

RUBBLE = os.path.abspath(sys.argv.pop(1))
CUBE = """v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"""


def graph(sites, mesh="cube.obj"):
    return json.dumps({"rubble": 1, "nodes": {
        "mesh": {"type": "MeshToCollection", "params": {"file": mesh}},
        "cut": {"type": "UniformFracture", "in": {"collection": "mesh"},
                "params": {"min_sites": sites, "max_sites": sites}},
        "end": {"type": "Terminal", "in": {"collection": "cut"}, "params": {"files": ["cube.json"]}}}})


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def replace(path, text):
    """As most editors save: a new file, renamed over the old one."""
    write(path + "~new", text)
    os.replace(path + "~new", path)


class Folder(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = self.place.name
        write(self.path("cube.obj"), CUBE)
        write(self.path("cube.graph.json"), graph(3))

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_rubble(self, *arguments, code=0):
        p = subprocess.run([RUBBLE, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return p


class Explain(Folder):
    def test_says_what_would_run(self):
        text = self.run_rubble("explain", "cube.graph.json").stdout
        self.assertIn("first run", text)
        self.assertIn("3 nodes: 3 would run, 0 may run, 0 from the cache", text)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_asks_the_cache_folder(self):
        self.run_rubble("eval", "cube.graph.json", "--cache", "kept")
        text = self.run_rubble("explain", "cube.graph.json", "--cache", "kept").stdout
        self.assertIn("3 nodes: 0 would run, 0 may run, 3 from the cache", text)
        write(self.path("cube.graph.json"), graph(4))
        text = self.run_rubble("explain", "cube.graph.json", "--cache", "kept").stdout
        self.assertRegex(text, r"mesh +from the cache\ncut +would run +not in the cache\nend +may run +\"cut\" above it runs")
        text = self.run_rubble("explain", "cube.graph.json", "--cache", "kept", "--no-cache").stdout
        self.assertIn("3 would run", text)

    def test_json_and_one_node(self):
        run = json.loads(self.run_rubble("explain", "cube.graph.json", "--json", "--only", "mesh").stdout)
        self.assertEqual(run["nodes"][0]["outcome"], "would run")
        self.assertEqual(run["nodes"][1]["outcome"], "skipped")
        self.assertIn("no node \"mash\"", self.run_rubble("explain", "cube.graph.json", "--only", "mash", code=2).stderr)

    def test_a_missing_file_is_an_error(self):
        os.remove(self.path("cube.obj"))
        self.assertIn("cube.obj", self.run_rubble("explain", "cube.graph.json", code=3).stderr)


class Watch(Folder):
    def start(self, *arguments):
        p = subprocess.Popen([RUBBLE, "eval", "cube.graph.json", "--watch", *arguments], cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.seen = queue.Queue(), []
        for stream in (p.stdout, p.stderr):
            threading.Thread(target=self.read, args=(stream,), daemon=True).start()
        self.addCleanup(lambda: (p.kill(), p.wait(), p.stdout.close(), p.stderr.close()))
        return p

    def read(self, stream):
        try:
            for line in stream:
                self.lines.put(line.rstrip())
        except ValueError:
            pass  # closed by the cleanup

    def wait_for(self, *wanted):
        """Until all were said, in any order."""
        wanted = list(wanted)
        while wanted:
            try:
                line = self.lines.get(timeout=60)
            except queue.Empty:
                self.fail(f"never said: {wanted}; said: {self.seen[-20:]}")
            self.seen.append(line)
            wanted = [w for w in wanted if w not in line]

    def end(self, p):
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(timeout=60), 130)

    def test_files_that_are_replaced(self):
        p = self.start()
        self.wait_for("cut: ran (first run)", "watching 2 files", "wrote out/cube.json")
        replace(self.path("cube.obj"), CUBE.replace("v 1 1 1", "v 1.5 1 1"))
        self.wait_for("changed: cube.obj", "mesh: ran (file cube.obj changed)", "cut: ran (input collection changed)",
            "watching")
        replace(self.path("cube.graph.json"), graph(5))
        self.wait_for("changed: cube.graph.json", "cut: ran (parameter", "3 nodes: 2 ran, 1 from the cache", "watching")
        with open(self.path("cube.obj"), "a") as f:  # the same file, written to
            f.write("# the end\n")
        self.wait_for("changed: cube.obj", "mesh: same output", "watching")
        self.end(p)

    def test_faults_are_survived(self):
        p = self.start()
        self.wait_for("watching 2 files")
        replace(self.path("cube.graph.json"), "{")
        self.wait_for("changed: cube.graph.json", "error:", "watching")
        replace(self.path("cube.graph.json"), graph(3, "later/other.obj"))
        self.wait_for("changed: cube.graph.json", "other.obj", "watching")
        os.mkdir(self.path("later"))
        replace(self.path("later/other.obj"), CUBE)
        self.wait_for("changed: later/other.obj", "mesh: ran", "watching")
        os.remove(self.path("later/other.obj"))
        self.wait_for("changed: later/other.obj", "error:", "watching")
        self.end(p)

    def test_an_evaluation_under_way_is_ended(self):
        write(self.path("cube.graph.json"), graph(200000))
        p = self.start("--progress", "plain")
        self.wait_for("mesh: ran")
        replace(self.path("cube.graph.json"), graph(2))
        self.wait_for("changed: cube.graph.json", "3 nodes:", "watching")
        write(self.path("cube.graph.json"), graph(200001))
        self.wait_for("changed: cube.graph.json", "mesh: memory hit")
        self.end(p)

    def test_the_file_of_a_subgraph(self):
        parts = {"rubble": 1, "nodes": {}, "graphs": {"piece": {
            "nodes": {"box": {"type": "MakePrimitive"}, "cut": {"type": "UniformFracture", "in": {"collection": "box"}}},
            "outputs": {"collection": "cut"}}}}
        write(self.path("parts.json"), json.dumps(parts))
        write(self.path("cube.graph.json"),
            json.dumps({"rubble": 1, "nodes": {"p": {"type": "graph:parts.json#piece"}}}))
        p = self.start()
        self.wait_for("watching 2 files")
        parts["graphs"]["piece"]["nodes"]["box"]["params"] = {"size": [1, 2, 1]}
        replace(self.path("parts.json"), json.dumps(parts))
        self.wait_for("changed: ", "p/box: ran (parameter size changed)", "watching 2 files")
        self.end(p)

    def test_a_broken_or_missing_file_of_a_subgraph(self):
        os.mkdir(self.path("lib"))
        write(self.path("cube.graph.json"),
            json.dumps({"rubble": 1, "nodes": {"p": {"type": "graph:lib/parts.json#piece"}}}))
        p = self.start()
        self.wait_for("lib/parts.json", "watching 2 files")
        write(self.path("lib/parts.json"), '{ "rubble": 1, "graphs": { "piece": { "nodes": { "box": { "type": "MakePrimitve" } },'
                                           ' "outputs": { "collection": "box" } } } }')
        self.wait_for("changed: ", "unknown node type", "watching 2 files")
        replace(self.path("lib/parts.json"), '{ "rubble": 1, "graphs": { "piece": { "nodes": { "box": { "type": "MakePrimitive" } },'
                                             ' "outputs": { "collection": "box" } } } }')
        self.wait_for("changed: ", "p/box: ran", "watching 2 files")
        os.remove(self.path("lib/parts.json"))
        self.wait_for("changed: ", "error:", "watching 2 files")
        replace(self.path("lib/parts.json"), '{ "rubble": 1, "graphs": { "piece": { "nodes": { "box": { "type": "MakePrimitive",'
                                             ' "params": { "shape": "sphere" } } }, "outputs": { "collection": "box" } } } }')
        self.wait_for("changed: ", "p/box: ran (parameter shape changed)", "watching 2 files")
        self.end(p)

    def test_files_of_a_pattern(self):
        os.mkdir(self.path("meshes"))
        write(self.path("meshes/a.obj"), "mtllib a.mtl\nusemtl red\n" + CUBE)
        write(self.path("meshes/a.mtl"), "newmtl red\nKd 1 0 0\n")
        write(self.path("meshes/b.obj"), CUBE)
        write(self.path("cube.graph.json"), json.dumps({"rubble": 1, "graphs": {"load": {
            "inputs": {"file": {"type": "path"}},
            "nodes": {"mesh": {"type": "MeshToCollection", "params": {"file": {"from": "inputs.file"}}}},
            "outputs": {"collection": "mesh"}}},
            "nodes": {"each": {"type": "ForEach", "params": {"graph": "load", "over": "files", "files": "meshes/*.obj"}},
                      "end": {"type": "Terminal", "in": {"collection": "each"}, "params": {"files": ["all.json"]}}}}))
        p = self.start()
        self.wait_for("each: ran (2 of 2 elements ran)", "watching 4 files")
        with open(self.path("out/end.manifest.json")) as f:
            manifest = json.load(f)
        self.assertEqual([r["name"] for r in manifest["reads"]], ["a.mtl", "a.obj", "b.obj"])
        replace(self.path("meshes/b.obj"), CUBE.replace("v 1 1 1", "v 1 1 2"))
        self.wait_for("changed: ", "each: ran (1 of 2 elements ran)", "watching")
        replace(self.path("meshes/c.obj"), CUBE)
        self.wait_for("changed: meshes/*.obj", "elements ran", "watching 5 files")
        replace(self.path("meshes/a.mtl"), "newmtl red\nKd 0 1 0\n")
        self.wait_for("changed: ", "each: ran (1 of 3 elements ran)", "watching")
        os.remove(self.path("meshes/b.obj"))
        self.wait_for("changed: ", "2 nodes: 1 ran, 1 from the cache", "watching")
        self.end(p)

    def test_usage(self):
        p = self.start("--only", "nothing")
        self.wait_for("no node \"nothing\"", "watching")
        self.end(p)


unittest.main(verbosity=1)
