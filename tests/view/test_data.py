#!/usr/bin/env python3
"""What `rubble view` writes, without a browser: messages, exit codes, and the data in the page, read here anew.

  test_data.py RUBBLE
"""
import base64
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

RUBBLE = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOSTILE = '</script><img src=x onerror=alert(1)>"\\'
CUBE = "".join(f"v {x} {y} {z}\n" for x, y, z in ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1),
    (0, 1, 1))) + "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
TYPES = {"i8": "b", "u8": "B", "u16": "H", "u32": "I", "i32": "i", "f32": "f", "f64": "d"}


def read(page):
    """The arrays of a page that is nothing but <DATA>."""
    with open(page) as f:
        text = f.read()
    assert text[0] == "<" and text[-1] == ">"
    data = base64.b64decode(text[1:-1], validate=True)
    magic, version, size, zero = struct.unpack_from("<4sIII", data)
    assert (magic, version, zero, size % 8) == (b"RUBV", 1, 0, 0)
    head = json.loads(data[16:16 + size].decode())
    for name, (kind, offset, count) in head["arrays"].items():
        assert offset % 8 == 0
        head[name] = struct.unpack_from(f"<{count}{TYPES[kind]}", data, 16 + size + offset)
    return head


class View(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="rubble-view-")
        self.addCleanup(place.cleanup)
        self.folder = place.name
        self.page = self.write("bare.html", "<@RUBBLE_DATA@>")
        self.write("cube.obj", CUBE)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def view(self, *arguments, code=0, page=None):
        p = subprocess.run([RUBBLE, "view", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120,
            env=dict(os.environ, RUBBLE_VIEW_PAGE=page or self.page))
        self.assertEqual(p.returncode, code, p.stdout + p.stderr)
        return p

    def test_a_mesh(self):
        p = self.view("cube.obj")
        self.assertRegex(p.stdout, r"^wrote cube.html \(")
        data = read(self.path("cube.html"))
        self.assertEqual(data["title"], "cube.obj")
        self.assertEqual(data["origin"], [0.5, 0.5, 0.5])
        self.assertEqual(len(data["faces"]), 36)
        self.assertEqual(len(data["normals"]), 108)
        self.assertEqual(sorted(set(data["positions"])), [-0.5, 0.5])
        self.assertAlmostEqual(sum(data["volume"]), 1)

    def test_a_graph_and_its_variables(self):
        self.view(os.path.join(ROOT, "graphs", "wall.json"), "--set", "stones=30", "-o", "wall.html")
        data = read(self.path("wall.html"))
        bones = len(data["names"])
        self.assertEqual(len(data["parent"]), bones)
        self.assertTrue(all(p < b for b, p in enumerate(data["parent"])))
        self.assertEqual(sum(data["vertex_count"]) * 3, len(data["positions"]))
        self.assertEqual(sum(data["face_count"]) * 3, len(data["faces"]))
        self.assertEqual(data["hull_face_start"][-1] * 3, len(data["hull_faces"]))
        self.assertEqual(data["hull_point_start"][-1] * 3, len(data["hull_points"]))
        self.assertEqual(len(data["connection"]), 2 * len(data["connection_area"]))
        for v, g in zip(data["hull_bone"], range(len(data["hull_bone"]))):
            self.assertLess(v, bones)
            self.assertGreater(data["hull_volume"][g], 0)
        self.view(os.path.join(ROOT, "graphs", "wall.json"), "--node", "wall", "-o", "whole.html")
        self.assertEqual(len(read(self.path("whole.html"))["geometry_bone"]), 1)

    def test_the_places_of_bones_are_in_the_positions(self):
        self.write("moved.json", json.dumps({"rubble": 1, "nodes": {
            "mesh": {"type": "MeshToCollection", "params": {"file": "cube.obj"}},
            "cut": {"type": "PlaneCutter", "in": {"collection": "mesh"},
                    "params": {"planes": [{"point": [0.5, 0.5, 0.5], "normal": [1, 0, 0]}]}},
            "apart": {"type": "ExplodedView", "in": {"collection": "cut"}, "params": {"scale": 2}}}}))
        self.view("moved.json", "-o", "moved.html")
        x = sorted(set(read(self.path("moved.html"))["positions"][::3]))
        self.assertGreater(x[-1] - x[0], 1.4)

    def test_a_collection(self):
        subprocess.run([RUBBLE, "eval", os.path.join(ROOT, "graphs", "box.json"), "--out", "out"], cwd=self.folder, check=True,
            capture_output=True, timeout=120)
        self.view("out/box.rbl", "-o", "box.html")
        inspected = json.loads(subprocess.run([RUBBLE, "inspect", "out/box.rbl", "--json", "--bones"], cwd=self.folder, check=True,
            capture_output=True, text=True, timeout=120).stdout)
        data = read(self.path("box.html"))
        self.assertEqual(data["names"], [b["name"] for b in inspected["bones"]])
        self.assertEqual(sorted(f for f in data["face_count"]), sorted(b["triangles"] for b in inspected["bones"] if b["triangles"]))

    def test_a_hostile_name(self):
        self.write("evil.obj", f"o {HOSTILE}\n{CUBE}")
        self.view("evil.obj")
        with open(self.path("evil.html")) as f:
            text = f.read()
        self.assertNotIn("script", text)
        self.assertTrue(any("<img src=x onerror" in n for n in read(self.path("evil.html"))["names"]))

    def test_what_goes_wrong(self):
        self.assertIn("no such file", self.view("none.obj", code=3).stderr)
        self.write("bad.rbl", "nothing")
        self.assertIn("not an .rbl file", self.view("bad.rbl", code=3).stderr)
        self.assertIn("did you mean", self.view("cube.obj", "--nodee", "x", code=2).stderr)
        self.assertIn('node "nobody"', self.view(os.path.join(ROOT, "graphs", "box.json"), "--node", "nobody", code=2).stderr)
        self.assertIn("No such file", self.view("cube.obj", "-o", "no/page.html", code=3).stderr)
        self.assertIn("No space left", self.view("cube.obj", "-o", "/dev/full", code=3).stderr)
        self.assertIn("not the page", self.view("cube.obj", code=3, page=self.path("cube.obj")).stderr)
        self.assertIn("RUBBLE_VIEW_PAGE", self.view("cube.obj", code=3, page=self.path("none.html")).stderr)
        points = self.write("points.json", json.dumps({"rubble": 1, "nodes": {"p": {"type": "MakePoints",
            "params": {"points": [[0, 0, 0]]}}}}))
        self.assertIn("no node gives a collection", self.view(points, code=2).stderr)

    def test_says_what_is_missing_without_a_page(self):
        copy = self.path("alone")
        subprocess.run(["cp", RUBBLE, copy], check=True)
        p = subprocess.run([copy, "view", "cube.obj"], cwd=self.folder, capture_output=True, text=True, timeout=60,
            env={k: v for k, v in os.environ.items() if k != "RUBBLE_VIEW_PAGE"})
        self.assertEqual(p.returncode, 3)
        self.assertIn("npm", p.stderr)
        self.assertFalse(os.path.exists(self.path("cube.html")))


if __name__ == "__main__":
    unittest.main()
