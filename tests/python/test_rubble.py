#!/usr/bin/env python3
"""The Python module, with the standard library alone.

  test_rubble.py LIBRUBBLE.SO
"""
import array
import gc
import json
import os
import sys
import tempfile
import unittest

os.environ["RUBBLE_LIBRARY"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "python"))
import rubble  # noqa: E402

CORNERS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
TRIANGLES = [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6),
    (3, 0, 4), (3, 4, 7)]
GRAPH = {"rubble": 1,
    "vars": {"sites": {"type": "int", "default": 5, "min": 1, "max": 100000}},
    "nodes": {
        "mesh": {"type": "MeshToCollection", "params": {"file": ""}},
        "sites": {"type": "ScatterPoints", "in": {"collection": "mesh"}, "params": {"count": {"var": "sites"}}},
        "cut": {"type": "VoronoiFracture", "in": {"collection": "mesh", "points": "sites"}},
        "end": {"type": "Terminal", "in": {"collection": "cut"}, "params": {"files": ["cube.json"]}}}}


class Rubble(unittest.TestCase):
    def setUp(self):
        self.engine = rubble.Engine(threads=2)
        self.graph = self.engine.load_text(GRAPH)
        self.graph.bind_mesh("mesh", CORNERS, TRIANGLES, name="cube")

    def test_a_mesh_from_memory_is_cut(self):
        run = self.graph.evaluate()
        cut = run["cut"]
        self.assertEqual(cut.size("geometry"), 5)
        self.assertAlmostEqual(sum(cut.view("geometry", "volume")), 1, places=12)
        self.assertIn("cube_4", cut.names())
        positions = cut.view("vertex", "position")
        self.assertEqual(positions.shape, (cut.size("vertex"), 3))
        self.assertTrue(positions.readonly)
        self.assertEqual(len(run["sites"]), 5)
        self.assertEqual(len(cut.hash()), 32)
        self.assertIn("position", cut.attributes("vertex"))
        self.assertIn("bone", cut.groups())

    def test_buffers_of_all_kinds_are_the_same_mesh(self):
        self.graph.evaluate()
        flat = [float(x) for p in CORNERS for x in p]
        indices = [i for t in TRIANGLES for i in t]
        for positions in (array.array("d", flat), array.array("f", flat), memoryview(array.array("f", flat)),
                bytes(array.array("d", flat)) and memoryview(bytes(array.array("d", flat))).cast("d")):
            for triangles in (array.array("H", indices), array.array("I", indices), TRIANGLES):
                self.graph.bind_mesh("mesh", positions, triangles, name="cube")
                self.assertEqual({r.outcome for r in self.graph.evaluate().reports()}, {"memory hit"})

    def test_views_outlive_their_run(self):
        view = self.graph.evaluate()["cut"].view("vertex", "position")
        before = view.tolist()
        self.graph["sites"] = 9
        self.graph.evaluate()
        gc.collect()
        self.assertEqual(view.tolist(), before)

    def test_variables_parameters_and_reasons(self):
        self.assertEqual(self.graph["sites"], 5)
        self.graph.evaluate()
        self.graph["sites"] = 6
        self.assertEqual(self.graph.variables(), {"sites": 6})
        forecast = {r.node: r for r in self.graph.explain().reports()}
        self.assertEqual(forecast["sites"].outcome, "would run")
        self.assertEqual(forecast["mesh"].outcome, "memory hit")
        reports = {r.node: r for r in self.graph.evaluate().reports()}
        self.assertEqual(reports["sites"].reason, "parameter count changed")
        self.graph.set_parameter("sites", "seed", 3)
        parameters = {p.name: p for p in self.graph.parameters("sites")}
        self.assertEqual(parameters["seed"].value, 3)
        self.assertEqual(parameters["count"].variable, "sites")
        self.assertEqual(parameters["count"].type, "int")
        self.assertEqual(self.graph.nodes(), ["mesh", "sites", "cut", "end"])
        self.assertTrue(any(t["type"] == "Terminal" for t in self.engine.node_types()))

    def test_files_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            run = self.graph.evaluate(output_folder=folder)
            self.assertIn("cube.json", os.listdir(folder))
            self.assertEqual(len(run.json()["files"]), 2)
            path = os.path.join(folder, "graph.json")
            with open(path, "w") as f:
                json.dump(GRAPH, f)
            self.assertEqual(len(self.engine.load(path).nodes()), 4)

    def test_changes(self):
        first = self.graph.evaluate()
        self.assertTrue(all(c.added for c in first.changes(None, "cut")))
        self.graph["sites"] = 6
        second = self.graph.evaluate()
        changes = second.changes(first, "cut")
        self.assertEqual([c.name for c in changes if c.added], ["cube_5"])
        self.assertTrue(any(c.geometry for c in changes))
        self.assertEqual(second.changes(second, "cut"), [])

    def test_another_thread(self):
        self.graph["sites"] = 50000
        long = self.graph.begin()
        self.graph["sites"] = 4
        short = self.graph.begin()
        long.cancel()
        with self.assertRaises(rubble.Error) as caught:
            long.wait()
        self.assertEqual(caught.exception.status, rubble.CANCELLED)
        self.assertEqual(short.wait()["cut"].size("geometry"), 4)
        self.assertTrue(short.done())
        self.assertEqual(short.progress(), 1)
        self.graph["sites"] = 50001
        del long, short
        self.graph.begin()  # dropped: cancelled

    def test_errors(self):
        with self.assertRaises(rubble.Error) as caught:
            self.engine.load_text({"rubble": 1, "nodes": {"a": {"type": "Terminol"}}})
        self.assertIn("Terminal", caught.exception.messages[0].hint)
        with self.assertRaises(rubble.Error):
            self.engine.load("/nowhere/graph.json")
        with self.assertRaises(rubble.Error) as caught:
            self.graph["sites"] = 0
        self.assertIn("sites", str(caught.exception) + caught.exception.messages[0].pointer)
        with self.assertRaises(rubble.Error):
            self.graph.bind_mesh("mesh", CORNERS, [(0, 1, 8)])
        with self.assertRaises(ValueError):
            self.graph.bind_mesh("mesh", CORNERS, TRIANGLES, uvs=[(0, 0)])
        with self.assertRaises(KeyError):
            self.graph.evaluate()["nothing"]
        self.graph.bind_mesh("mesh", None)
        with self.assertRaises(rubble.Error) as caught:
            self.graph.evaluate()
        self.assertIn("bound no mesh", str(caught.exception))
        self.assertEqual(caught.exception.run.reports()[0].outcome, "failed")
        self.assertRegex(rubble.version(), r"^\d+\.\d+\.\d+$")


unittest.main(verbosity=1)
