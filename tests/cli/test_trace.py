#!/usr/bin/env python3
"""rubble eval --trace and rubble dot: what ran when, and the graph as a picture.

  test_trace.py RUBBLE
"""
import json
import os
import re
import subprocess
import sys
import tempfile

RUBBLE = os.path.abspath(sys.argv[1])


def run(folder, code, *arguments):
    p = subprocess.run([RUBBLE, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
    assert p.returncode == code, f"exit {p.returncode}, not {code}\n{p.stdout}{p.stderr}"
    return p


def node(type_, inputs=None, **params):
    made = {"type": type_}
    if inputs:
        made["in"] = inputs
    if params:
        made["params"] = params
    return made


def write_diamond(folder, points=400):
    """Two cuts that take a while, from one box into one collection."""
    nodes = {"box": node("MakePrimitive")}
    for side, seed in (("left", 1), ("right", 2)):
        nodes[side + "_sites"] = node("ScatterPoints", {"collection": "box"}, count=points, seed=seed)
        nodes[side] = node("VoronoiFracture", {"collection": "box", "points": side + "_sites"})
    nodes["both"] = node("MergeCollections", {"collections": ["left", "right"]})
    nodes["end"] = node("Terminal", {"collection": "both"}, files=["both.json"])
    with open(os.path.join(folder, "g.json"), "w") as f:
        json.dump({"rubble": 1, "nodes": nodes}, f)
    return nodes


def read_trace(folder, name="t.json"):
    with open(os.path.join(folder, name)) as f:
        trace = json.load(f)
    assert trace["displayTimeUnit"] == "ms"
    events = trace["traceEvents"]
    assert events[0]["ph"] == "M" and events[0]["args"]["name"].endswith("g.json")
    for e in events[1:]:
        assert e["ph"] == "X" and e["pid"] == 1 and isinstance(e["tid"], int), e
        assert e["ts"] >= 0 and e["dur"] >= 0 and e["name"] and e["cat"] in ("node", "deliver", "loop", "phase"), e
        assert e["cat"] != "phase" or e["args"]["cpu_us"] >= 0, e
    return events[1:]


def test_a_trace_shows_nodes_side_by_side(folder):
    nodes = write_diamond(folder)
    run(folder, 0, "eval", "g.json", "--threads", "2", "--trace", "t.json")
    events = read_trace(folder)
    spans = {e["name"]: e for e in events if e["cat"] == "node"}
    assert set(spans) == set(nodes)
    left, right = spans["left"], spans["right"]
    begin = max(left["ts"], right["ts"])
    end = min(left["ts"] + left["dur"], right["ts"] + right["dur"])
    assert end - begin > 0.2 * min(left["dur"], right["dur"]), (left, right)
    assert left["tid"] != right["tid"]
    # Nothing begins before what it needs has ended.
    for name, made in nodes.items():
        for needed in made.get("in", {}).values():
            for one in needed if isinstance(needed, list) else [needed]:
                assert spans[one]["ts"] + spans[one]["dur"] <= spans[name]["ts"] + 0.001, (one, name)
    assert [e["name"] for e in events if e["cat"] == "deliver"] == ["end"]


def test_a_trace_names_loops_and_serial_phases(folder):
    write_diamond(folder)
    run(folder, 0, "eval", "g.json", "--threads", "1", "--trace", "t.json")
    events = read_trace(folder)
    phases = {(e["args"]["node"], e["name"]) for e in events if e["cat"] == "phase"}
    for expected in (("left", "cut: flood"), ("left", "cut: assemble"), ("right", "replace surface"), ("end", "finish"),
            ("end", "validate"), ("end", "write .json"), ("both", "hash outputs")):
        assert expected in phases, (expected, sorted(phases))
    assert any(e["cat"] == "loop" for e in events)
    assert len({e["tid"] for e in events}) == 1
    # On one thread, events lie within one another or apart.
    open_until = []
    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while open_until and open_until[-1] <= e["ts"] + 1e-3:
            open_until.pop()
        assert not open_until or e["ts"] + e["dur"] <= open_until[-1] + 1e-3, e
        open_until.append(e["ts"] + e["dur"])
    # Phases and loops of a node lie within it, and tell most of the time of a long one.
    for name in ("left", "right"):
        span = next(e for e in events if e["cat"] == "node" and e["name"] == name)
        inside = [e for e in events if e["cat"] in ("phase", "loop") and e["args"]["node"] == name]
        marks = sorted((e["ts"], e["ts"] + e["dur"]) for e in inside)
        assert marks[0][0] >= span["ts"] - 1e-3 and max(m[1] for m in marks) <= span["ts"] + span["dur"] + 1e-3
        told, reached = 0.0, 0.0
        for begin, end in marks:
            told += max(0.0, end - max(begin, reached))
            reached = max(reached, end)
        assert told > 0.6 * span["dur"], (name, told, span["dur"])


def test_a_trace_of_a_cached_run_and_of_a_failed_one(folder):
    write_diamond(folder, 20)
    run(folder, 0, "eval", "g.json", "--cache", "kept")
    run(folder, 0, "eval", "g.json", "--cache", "kept", "--trace", "t.json")
    assert {e["name"] for e in read_trace(folder) if e["cat"] == "phase"} == {"look into the cache"}
    with open(os.path.join(folder, "g.json")) as f:
        graph = json.load(f)
    graph["nodes"]["box"] = node("MeshToCollection", file="missing.obj")
    with open(os.path.join(folder, "g.json"), "w") as f:
        json.dump(graph, f)
    run(folder, 3, "eval", "g.json", "--trace", "f.json")
    assert [e["name"] for e in read_trace(folder, "f.json")] == ["box"]
    run(folder, 3, "eval", "g.json", "--trace", "no/such/folder/t.json")


def test_dot_and_mermaid_show_every_node_and_connection(folder):
    nodes = write_diamond(folder, 20)
    wanted = sorted((one, name) for name, made in nodes.items() for needed in made.get("in", {}).values()
        for one in (needed if isinstance(needed, list) else [needed]))
    dot = run(folder, 0, "dot", "g.json").stdout
    assert dot.startswith("digraph") and dot.count("{") == dot.count("}")
    names = dict(re.findall(r'^\s*(n\d+) \[label="(\w+)\\n', dot, re.M))
    assert sorted(names.values()) == sorted(nodes)
    assert sorted((names[a], names[b]) for a, b in re.findall(r"^\s*(n\d+) -> (n\d+)", dot, re.M)) == wanted, dot
    mermaid = run(folder, 0, "dot", "g.json", "--format", "mermaid").stdout
    assert re.match(r"(flowchart|graph) ", mermaid), mermaid
    for name, made in nodes.items():
        assert made["type"] in dot and made["type"] in mermaid and name in mermaid
    assert len(re.findall(r"-->", mermaid)) == len(wanted), mermaid
    for text in (dot, mermaid):
        assert " ms" not in text
    # The same text each time.
    assert run(folder, 0, "dot", "g.json").stdout == dot


def test_dot_colours_what_a_report_says(folder):
    write_diamond(folder, 20)
    run(folder, 0, "eval", "g.json", "--cache", "kept", "--report", "first.json")
    run(folder, 0, "eval", "g.json", "--cache", "kept", "--report", "second.json")
    for kind in ("dot", "mermaid"):
        first = run(folder, 0, "dot", "g.json", "--format", kind, "--report", "first.json").stdout
        second = run(folder, 0, "dot", "g.json", "--format", kind, "--report", "second.json").stdout
        assert first.count("ms") >= 7 and first.count("#9ecae1") >= 1 and "#c7e9c0" not in re.sub(r"classDef.*", "", first)
        assert second.count("#c7e9c0") >= 1 and first != second, second
    run(folder, 3, "dot", "g.json", "--report", "missing.json")
    p = run(folder, 3, "dot", "g.json", "--report", "g.json")
    assert "no report" in p.stderr
    run(folder, 2, "dot", "g.json", "--format", "svg")


def main():
    failed = 0
    tests = [(n, f) for n, f in globals().items() if n.startswith("test_")]
    for name, function in tests:
        with tempfile.TemporaryDirectory(prefix="rubble-trace-") as folder:
            try:
                function(folder)
                print(f"ok {name}")
            except Exception as error:
                failed += 1
                print(f"FAIL {name}: {type(error).__name__}: {error}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
