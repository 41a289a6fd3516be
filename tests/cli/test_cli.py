#!/usr/bin/env python3
"""The command as a person or a program meets it: test_cli.py RUBBLE

Each function test_… is a test; it gets a folder of its own.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUBBLE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "rubble")
VASE = os.path.join(ROOT, "graphs", "meshes", "vase.obj")
CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "usemtl stone\n" + "".join(
    f"f {f}\n" for f in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"))
GRAPH = {
    "rubble": 1,
    "vars": {"pieces": {"type": "int", "default": 8, "min": 2, "max": 100}, "mesh": {"type": "path", "default": "cube.obj"}},
    "nodes": {
        "src": {"type": "MeshToCollection", "params": {"file": {"var": "mesh"}}},
        "sites": {"type": "ScatterPoints", "in": {"collection": "src"}, "params": {"count": {"var": "pieces"}}},
        "crack": {"type": "VoronoiFracture", "in": {"collection": "src", "points": "sites"}},
        "end": {"type": "Terminal", "in": {"collection": "crack"}, "params": {"files": ["cube.obj", "cube.json"]}},
    },
}


class Result:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    def expect(self, code, *texts):
        assert self.code == code, f"exit {self.code}, not {code}\n{self.out}{self.err}"
        for text in texts:
            assert text in self.out + self.err, f"{text!r} is missing in\n{self.out}{self.err}"
        return self


def rubble(folder, *arguments, env=None):
    return Result(subprocess.run([RUBBLE, *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
        env=dict(os.environ, **(env or {}))))


def write_text(folder, name, text):
    with open(os.path.join(folder, name), "w") as f:
        f.write(text)


def write_graph(folder, name="g.json", **changes):
    graph = dict(GRAPH, **changes)
    with open(os.path.join(folder, "cube.obj"), "w") as f:
        f.write(CUBE)
    with open(os.path.join(folder, name), "w") as f:
        json.dump(graph, f, indent=1)
    return graph


def test_no_command_and_unknown_ones(folder):
    rubble(folder).expect(2, "error: which command?")
    rubble(folder, "evla").expect(2, 'unknown command "evla"', 'did you mean "eval"?')
    rubble(folder, "--help").expect(0, "eval", "inspect", "exit code")
    rubble(folder, "--version").expect(0, "rubble 0.")
    rubble(folder, "--hlep").expect(2, 'unknown option "--hlep"', 'did you mean "--help"?')
    rubble(folder, "help", "evla").expect(2, 'did you mean "eval"?')


def test_every_command_has_help_with_an_example(folder):
    listed = rubble(folder, "--help").out
    commands = [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and not line.startswith("  rubble")]
    commands = [word for word in commands if not word.isdigit()]
    assert {"batch", "eval", "cache", "check", "inspect", "nodes", "schema", "version"} <= set(commands)
    for command in commands:
        for arguments in ((command, "--help"), ("help", command)):
            help_text = rubble(folder, *arguments).expect(0, "usage: rubble " + command, "example").out
            assert all(len(line) <= 100 for line in help_text.splitlines())


def test_options_are_checked(folder):
    write_graph(folder)
    rubble(folder, "eval").expect(2, "needs a graph file")
    rubble(folder, "inspect").expect(2, "needs a file")
    rubble(folder, "cache").expect(2, "needs stat, verify, gc or clear")
    rubble(folder, "eval", "g.json", "h.json").expect(2, "too many arguments")
    rubble(folder, "eval", "g.json", "--otu", "x").expect(2, 'unknown option "--otu"', "did you mean --out?")
    rubble(folder, "eval", "g.json", "--threads", "two").expect(2, "--threads needs a number from 0 to 256, not \"two\"")
    for number in ("99999999999", "257", "-1", "3x", ""):
        rubble(folder, "eval", "g.json", "--threads", number).expect(2, "--threads needs a number from 0 to 256")
    rubble(folder, "eval", "g.json", "-threads", "2").expect(2, "did you mean --threads?")
    rubble(folder, "eval", "g.json", "--threads").expect(2, "--threads needs a value")
    rubble(folder, "eval", "g.json", "--memory", "2X").expect(2, "--memory needs a number of bytes")
    rubble(folder, "eval", "g.json", "--no-cache=1").expect(2, "--no-cache takes no value")
    rubble(folder, "eval", "g.json", "--progress", "loud").expect(2, "--progress takes")
    rubble(folder, "eval", "g.json", "--fail-on", "note").expect(2, "--fail-on takes")
    rubble(folder, "eval", "g.json", "-x").expect(2, 'unknown option "-x"')
    rubble(folder, "eval", "g.json", "--set", "pieces").expect(2, "--set needs NAME=VALUE")
    assert sorted(os.listdir(folder)) == ["cube.obj", "g.json"]


def test_eval_writes_files_and_says_what_happened(folder):
    write_graph(folder)
    result = rubble(folder, "eval", "g.json").expect(0)
    for text in ("end: 8 pieces", "hulls", "draw calls", "smallest piece", "4 nodes: 4 ran", "wrote out/cube.obj"):
        assert text in result.out, result.out
    assert sorted(os.listdir(os.path.join(folder, "out"))) == ["cube.json", "cube.mtl", "cube.obj", "end.manifest.json"]
    with open(os.path.join(folder, "out", "end.manifest.json")) as f:
        manifest = json.load(f)
    assert manifest["variables"]["pieces"] == 8 and len(manifest["files"]) == 3


def test_the_same_bytes_for_any_number_of_threads(folder):
    write_graph(folder)
    contents = []
    for threads in ("1", "2", "7"):
        rubble(folder, "eval", "g.json", "--out", "o" + threads, "--threads", threads, "--set", "pieces=30").expect(0)
        files = sorted(os.listdir(os.path.join(folder, "o" + threads)))
        contents.append({n: open(os.path.join(folder, "o" + threads, n), "rb").read() for n in files})
    assert contents[0] == contents[1] == contents[2]


def test_variables_from_the_command_line(folder):
    write_graph(folder)
    rubble(folder, "eval", "g.json", "--set", "pieces=12", "--set=mesh=" + VASE).expect(0, "pieces")
    rubble(folder, "eval", "g.json", "--set", "pieces=12").expect(0, "end: 12 pieces")
    rubble(folder, "eval", "g.json", "--set", "pieces=1").expect(2, "the smallest allowed value is 2")
    rubble(folder, "eval", "g.json", "--set", "pieces=x").expect(2)
    rubble(folder, "eval", "g.json", "--set", "peices=3").expect(2, 'unknown variable "peices"', 'did you mean "pieces"?')
    rubble(folder, "check", "g.json", "--set", "pieces=101").expect(2, "the largest allowed value is 100")


def test_exit_codes(folder):
    rubble(folder, "eval", "nowhere.json").expect(3, "error: nowhere.json")
    with open(os.path.join(folder, "bad.json"), "w") as f:
        f.write('{"rubble": 1')
    rubble(folder, "eval", "bad.json").expect(2, "bad.json:1:13: error:")
    write_graph(folder)
    missing = rubble(folder, "eval", "g.json", "--set", "mesh=nowhere.obj").expect(3, "nowhere.obj")
    assert 'node "src"' in missing.err
    with open(os.path.join(folder, "broken.obj"), "w") as f:
        f.write("v 0 0 0\nf 1 2 9\n")
    rubble(folder, "eval", "g.json", "--set", "mesh=broken.obj").expect(3, "error:")
    with open(os.path.join(folder, "one.obj"), "w") as f:
        f.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    rubble(folder, "eval", "g.json", "--set", "mesh=one.obj").expect(1, "error:")
    with open(os.path.join(folder, "plain"), "w"):
        pass
    rubble(folder, "eval", "g.json", "--out", "plain/out").expect(3, "error:")
    rubble(folder, "eval", "g.json", "--only", "crakc").expect(2, 'no node "crakc"', 'did you mean "crack"?')
    assert not os.path.exists(os.path.join(folder, "out"))


def test_what_cannot_be_written_is_told_before_the_evaluation(folder):
    write_graph(folder)
    write_text(folder, "plain", "")
    for out in ("plain", "plain/", "plain/deep/out"):
        told = rubble(folder, "eval", "g.json", "-o", out, "--progress", "plain").expect(3, "error: plain", "is a file, and a folder is needed")
        assert "[1/4]" not in told.err
    for option in ("--report", "--trace"):
        for path, text in (("nowhere/r.json", "No such file"), (".", "Is a directory"), ("plain/r.json", "Not a directory")):
            told = rubble(folder, "eval", "g.json", "-o", "out", option, path, "--progress", "plain").expect(3, "error: " + path, text)
            assert "[1/4]" not in told.err and not os.path.exists(os.path.join(folder, "out"))
    rubble(folder, "batch", "g.json", "--over", "pieces=2..3", "--out", "plain").expect(3, "a folder is needed")
    rubble(folder, "eval", "g.json", "--only", "crack", "-o", "plain").expect(0) # nothing to write
    rubble(folder, "eval", "g.json", "-o", "deep/er/out").expect(0, "wrote deep/er/out/cube.obj")


def test_numbers_have_their_grammar(folder):
    write_graph(folder)
    rubble(folder, "eval", "g.json", "--only", "src").expect(0, "src: 1 piece, 12 triangles, 0 hulls, 1 draw call\n", "1 node: 1 ran")
    rubble(folder, "explain", "g.json", "--only", "src").expect(0, "1 node: 1 would run")
    write_graph(folder, vars=dict(GRAPH["vars"], idle={"type": "int"}))
    rubble(folder, "eval", "g.json", "--fail-on", "warning").expect(1, "1 warning, and --fail-on")


def test_too_little_memory_says_who_needs_how_much(folder):
    write_graph(folder)
    rubble(folder, "eval", "g.json", "--memory", "1").expect(1, "out of memory: the limit is 1 B (--memory)")
    told = rubble(folder, "eval", "g.json", "--memory", "600K", "--set", "pieces=100").expect(1)
    match = re.search(r"the memory limit of 614400 bytes is reached: (\d+) are in use, and (\d+) more were asked for \(node \"(\w+)\"", told.err)
    assert match and match.group(3) in GRAPH["nodes"], told.err


def test_a_failed_evaluation_writes_nothing(folder):
    nodes = dict(GRAPH["nodes"], other={"type": "MakePoints", "params": {"file": "nowhere.json"}})
    write_graph(folder, nodes=nodes)
    result = rubble(folder, "eval", "g.json", "--out", "o").expect(3, "error:", "1 failed")
    assert not os.path.exists(os.path.join(folder, "o")), result.err
    rubble(folder, "eval", "g.json", "--out", "o", "--only", "end").expect(0, "wrote o/cube.obj")


def test_files_stay_below_the_output_folder(folder):
    for name in ("../x.obj", "/tmp/x.obj", "a/x.obj", "..", ""):
        nodes = dict(GRAPH["nodes"])
        nodes["end"] = dict(nodes["end"], params={"files": [name]})
        write_graph(folder, nodes=nodes)
        rubble(folder, "eval", "g.json", "--out", "o").expect(2, "/nodes/end/params/files/0")
        assert not os.path.exists(os.path.join(folder, "o"))


def test_every_mistake_of_a_graph_at_once(folder):
    with open(os.path.join(folder, "g.json"), "w") as f:
        f.write('{\n  "rubble": 1,\n  "nodes": {\n    "a": { "type": "ScaterPoints" },\n'
                '    "b": { "type": "MakePoints", "params": { "piont": [] } }\n  }\n}\n')
    result = rubble(folder, "check", "g.json").expect(2)
    assert result.out == ""
    assert result.err.count("error:") == 2
    assert 'g.json:4:20: error: unknown node type "ScaterPoints" (node "a", /nodes/a/type)' in result.err
    assert '  4 |     "a": { "type": "ScaterPoints" },\n    |                    ^\n' in result.err
    assert 'did you mean "ScatterPoints"?' in result.err
    parsed = json.loads(rubble(folder, "check", "g.json", "--json").expect(2).out)
    assert parsed["valid"] is False and len(parsed["messages"]) == 2 and parsed["messages"][0]["line"] == 4
    write_graph(folder)
    rubble(folder, "check", "g.json").expect(0, "4 nodes, 2 variables, no mistake found")
    write_graph(folder, vars=dict(GRAPH["vars"], idle={"type": "int"}))
    rubble(folder, "check", "g.json").expect(0, "warning:")
    rubble(folder, "check", "g.json", "--fail-on", "warning").expect(1)


def test_json_and_reports(folder):
    write_graph(folder)
    result = rubble(folder, "eval", "g.json", "--json", "--report", "r.json").expect(0)
    parsed = json.loads(result.out)
    assert parsed["results"]["end"]["pieces"] == 8 and parsed["results"]["end"]["open_edges"] == 0
    assert [n["outcome"] for n in parsed["run"]["nodes"]] == ["ran"] * 4
    with open(os.path.join(folder, "r.json")) as f:
        report = json.load(f)
    assert report["nodes"][0]["reason"] == "first run" and report["files"][0]["bytes"] > 0
    rubble(folder, "eval", "g.json", "--report", "no/r.json").expect(3, "error: no/r.json")
    rubble(folder, "eval", "g.json", "--report", "out").expect(3, "error: out: Is a directory")
    before = os.path.join(folder, "real.json")
    with open(before, "w") as f:
        f.write("old")
    os.chmod(before, 0o640)
    os.symlink("real.json", os.path.join(folder, "link.json"))
    rubble(folder, "eval", "g.json", "--report", "link.json").expect(0)
    assert os.path.islink(os.path.join(folder, "link.json")) and os.stat(before).st_mode & 0o777 == 0o640
    with open(before) as f:
        assert json.load(f)["status"] == "done"
    told = rubble(folder, "eval", "g.json", "--report", "/dev/stdout").expect(0)
    assert '"graph_hash"' in told.out
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]
    json.loads(rubble(folder, "version", "--json").expect(0).out)


def test_warnings_can_fail(folder):
    write_graph(folder, vars=dict(GRAPH["vars"], idle={"type": "int"}))
    rubble(folder, "eval", "g.json", "--fail-on", "warning").expect(1, 'warning: variable "idle" is not used')
    rubble(folder, "eval", "g.json").expect(0)


def test_progress_and_colours(folder):
    write_graph(folder)
    result = rubble(folder, "eval", "g.json", "--progress", "plain").expect(0)
    assert "[1/4] src: ran" in result.err and "[4/4] end: ran" in result.err
    lines = [l for l in rubble(folder, "eval", "g.json", "--progress", "json").err.splitlines() if l.startswith("{")]
    assert [json.loads(l)["event"] for l in lines] == ["begins", "ends"] * 4
    assert "\033" not in rubble(folder, "eval", "g.json").err


def test_nodes_and_schema(folder):
    rubble(folder, "nodes").expect(0, "VoronoiFracture", "MeshToCollection", "Terminal")
    rubble(folder, "nodes", "ScatterPoints").expect(0, "params", "count", "int = 20", "seed")
    rubble(folder, "nodes", "ScaterPoints").expect(2, 'did you mean "ScatterPoints"?')
    one = json.loads(rubble(folder, "nodes", "ScatterPoints", "--json").expect(0).out)
    assert one["type"] == "ScatterPoints" and one["params"][0]["name"] == "count"
    every = json.loads(rubble(folder, "schema", "--nodes").expect(0).out)
    assert any(n["type"] == "Terminal" for n in every["nodes"])
    schema = json.loads(rubble(folder, "schema").expect(0).out)
    try:
        import jsonschema
    except ImportError:
        return
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    known = {n["type"] for n in every["nodes"]}
    for name in sorted(os.listdir(os.path.join(ROOT, "graphs"))):
        if not name.endswith(".json"):
            continue
        with open(os.path.join(ROOT, "graphs", name)) as f:
            graph = json.load(f)
        if all(n["type"] in known for i, n in graph["nodes"].items() if i != "//"):
            validator.validate(graph)
    good = write_graph(folder)
    validator.validate(good)
    for path, value in ((("nodes", "sites", "type"), "ScaterPoints"), (("nodes", "sites", "params", "count"), "x"),
            (("nodes", "sites", "params", "cuont"), 1), (("nodes", "crack", "in", "pionts"), "a"), (("rubble",), 2),
            (("nodes", "1a"), {"type": "SelectAll"}), (("nodes", "crack", "in"), {"points": "sites"})):
        bad = json.loads(json.dumps(good))
        at = bad
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
        assert not validator.is_valid(bad), path


def test_inspect(folder):
    result = rubble(folder, "inspect", VASE).expect(0, "pieces     1", "closed", "triangles", "volume", "bounds", "clay")
    assert "note:" in result.err
    parsed = json.loads(rubble(folder, "inspect", VASE, "--json", "--bones").expect(0).out)
    assert parsed["summary"]["pieces"] == 1 and len(parsed["bones"]) == 2 and parsed["bones"][0]["parent"] is None
    rubble(folder, "inspect", VASE, "--bones").expect(0, "vase")
    rubble(folder, "inspect", "nowhere.obj").expect(3, "nowhere.obj")
    doorway = VASE.replace("vase", "doorway")
    rubble(folder, "inspect", doorway).expect(0, "32 shells, 28 holes", 'shell 2 of "doorway" (-2 0 -0.25 … 2 3 0.25): solid',
        "hole at -1.35 0 0: 4 edges, length 3.6, filled", "filling refused: it would be flat", '"fill": "none"',
        "keeps the 31 overlapping shells apart", '"sheets": "thicken"')
    parsed = json.loads(rubble(folder, "inspect", doorway, "--json").expect(0).out)
    assert parsed["shells"][2]["bounds_max"] == [2, 3, 0.25] and len(parsed["holes"]) == 28
    assert [s["set"] for s in parsed["settings"]][:2] == ['"fill": "none"', '"sheets": "thicken"']
    write_text(folder, "crossed.obj", "v -.5 -.5 -.5\nv .5 -.5 -.5\nv .5 .5 -.5\nv -.5 .5 -.5\nv .5 .5 .5\nv -.5 .5 .5\nv -.5 -.5 .5\n"
        "v .5 -.5 .5\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n")
    rubble(folder, "inspect", "crossed.obj").expect(0, "crosses itself 12 times, first near", "crossings  ")
    write_text(folder, "sheet.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")
    rubble(folder, "inspect", "sheet.obj").expect(1, "sheet.obj: refused", "it would be flat", "hole at 0.5 0.5 0: 4 edges",
        "makes a solid of 1 sheet")
    write_graph(folder, nodes=dict(GRAPH["nodes"], end={"type": "Terminal", "in": {"collection": "crack"},
        "params": {"files": ["vase.rbl"]}}))
    rubble(folder, "eval", "g.json").expect(0)
    rubble(folder, "inspect", "out/vase.rbl").expect(0, "pieces     8", "hulls      8")
    with open(os.path.join(folder, "bad.rbl"), "wb") as f:
        f.write(b"RBL nonsense")
    rubble(folder, "inspect", "bad.rbl").expect(3, "error:")


def test_paths_of_a_graph_are_relative_to_it(folder):
    os.mkdir(os.path.join(folder, "deep"))
    with open(os.path.join(folder, "deep", "m.obj"), "w") as f:
        f.write(CUBE)
    write_graph(os.path.join(folder, "deep"), vars={"pieces": GRAPH["vars"]["pieces"], "mesh": {"type": "path", "default": "m.obj"}})
    rubble(folder, "eval", "deep/g.json").expect(0)
    rubble(folder, "eval", "deep/g.json", "--set", "mesh=deep/m.obj").expect(0)
    rubble(folder, "eval", "deep/g.json", "--set", "mesh=m.obj").expect(3)


def test_interrupt_ends_with_130(folder):
    write_graph(folder, vars=dict(GRAPH["vars"], pieces={"type": "int", "default": 60000}))
    process = subprocess.Popen([RUBBLE, "eval", "g.json", "--threads", "1"], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    time.sleep(0.4)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, (process.returncode, err)
    assert "cancelled" in err and not os.path.exists(os.path.join(folder, "out"))


def test_a_closed_output_is_an_error(folder):
    write_graph(folder)
    with open("/dev/full", "w") as full:
        process = subprocess.run([RUBBLE, "nodes"], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True)
    assert process.returncode == 3


def result_files(folder, name):
    files = {}
    for entry in sorted(os.listdir(os.path.join(folder, name))):
        with open(os.path.join(folder, name, entry), "rb") as f:
            files[entry] = f.read()
    return files


def test_a_cache_folder_answers_the_next_process(folder):
    write_graph(folder)
    rubble(folder, "eval", "g.json", "--out", "a", "--cache", "kept/deep").expect(0, "4 ran, 0 from the cache")
    rubble(folder, "eval", "g.json", "--out", "b", "--cache", "kept/deep").expect(0, "0 ran, 4 from the cache")
    assert result_files(folder, "a") == result_files(folder, "b")
    rubble(folder, "eval", "g.json", "--out", "b", env={"RUBBLE_CACHE": "kept/deep"}).expect(0, "0 ran")
    rubble(folder, "eval", "g.json", "--cache", "kept/deep", "--no-cache").expect(0, "4 ran")
    rubble(folder, "eval", "g.json", "--cache", "kept/deep", "--checked").expect(0, "0 ran")
    rubble(folder, "eval", "g.json", "--cache", "kept/deep", "--progress", "plain").expect(0, "src: disk hit")
    rubble(folder, "eval", "g.json", "--cache", "kept/deep", "--set", "pieces=9").expect(0, "3 ran, 1 from the cache")


def test_the_cache_command_counts_checks_and_clears(folder):
    write_graph(folder)
    rubble(folder, "eval", "g.json", "--cache", "kept").expect(0)
    # Four results, the record of the Terminal's files, and their contents: .obj, .mtl, .json
    stat = json.loads(rubble(folder, "cache", "stat", "kept", "--json").expect(0).out)
    assert stat["entries"] == 8 and stat["bytes"] > 1000, stat
    rubble(folder, "cache", "verify", env={"RUBBLE_CACHE": "kept"}).expect(0, "8 results and files", "0 damaged")
    for root, _, names in os.walk(os.path.join(folder, "kept")):
        for name in names:
            with open(os.path.join(root, name), "r+b") as f:
                f.seek(70)
                f.write(b"damage")
    rubble(folder, "cache", "verify", "kept").expect(1, "note:", "set aside as .bad", "8 damaged")
    rubble(folder, "eval", "g.json", "--cache", "kept").expect(0, "4 ran")
    rubble(folder, "cache", "stat", "kept").expect(0, "8 results and files, 8 damaged files set aside")
    rubble(folder, "cache", "gc", "kept", "--bytes", "0").expect(0, "removed 16 files")
    rubble(folder, "eval", "g.json", "--cache", "kept").expect(0, "4 ran")
    rubble(folder, "cache", "clear", "kept").expect(0, "removed 8 files", "0 results")
    rubble(folder, "cache", "stat", "nowhere").expect(3, "error: nowhere")
    rubble(folder, "cache", "tidy", "kept").expect(2, "stat, verify, gc or clear")
    rubble(folder, "cache", "stat", env={"RUBBLE_CACHE": ""}).expect(2, "needs a folder")


def test_damage_in_the_cache_changes_no_result(folder):
    write_graph(folder)
    rubble(folder, "eval", "g.json", "--out", "a", "--cache", "kept").expect(0)
    files = [os.path.join(r, n) for r, _, names in os.walk(os.path.join(folder, "kept")) for n in names]
    for i, file in enumerate(files):
        with open(file, "r+b") as f:
            f.truncate((0, 40, 100, 300)[i % 4])
    run = rubble(folder, "eval", "g.json", "--out", "b", "--cache", "kept", "--fail-on", "warning")
    run.expect(0, "4 ran", "note: the cache file", "is damaged")
    assert result_files(folder, "a") == result_files(folder, "b")
    again = rubble(folder, "eval", "g.json", "--out", "b", "--cache", "kept").expect(0, "0 ran")
    assert "damaged" not in again.err


def test_a_cache_that_cannot_be_written_stops_nothing(folder):
    write_graph(folder)
    with open(os.path.join(folder, "file"), "w") as f:
        f.write("no folder")
    run = rubble(folder, "eval", "g.json", "--cache", "file").expect(0, "4 ran", "the cache cannot be written")
    assert run.err.count("the cache cannot be written") == 1


def test_processes_killed_and_at_once_leave_a_good_cache(folder):
    write_graph(folder)
    for wait in (0.005, 0.02, 0.04, 0.06):
        process = subprocess.Popen([RUBBLE, "eval", "g.json", "--out", "k", "--cache", "kept"], cwd=folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait)
        process.kill()
        process.wait()
    together = [subprocess.Popen([RUBBLE, "eval", "g.json", "--out", f"t{i}", "--cache", "kept"], cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for i in range(3)]
    for process in together:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0 and "damaged" not in err, err
    rubble(folder, "eval", "g.json", "--out", "a", "--no-cache").expect(0)
    for i in range(3):
        assert result_files(folder, "a") == result_files(folder, f"t{i}")
    rubble(folder, "cache", "verify", "kept").expect(0, "8 results and files", "0 damaged")


def test_pieces_named_like_colliders_are_told(folder):
    nodes = {"src": {"type": "MeshToCollection", "params": {"file": "cube.obj"}},
        "end": {"type": "Terminal", "in": {"collection": "src"}, "params": {"files": ["x.glb"], "colliders": "none"}}}
    write_graph(folder, vars={}, nodes=nodes)
    for name, words in (("UCX_a_00", {"ucx": "what Unreal takes"}), ("a-convcolonly", {"godot": "what Godot takes"}), ("a", {})):
        write_text(folder, "cube.obj", f"o {name}\n" + CUBE)
        for form in ("none", "khr_physics", "ucx", "godot"):
            nodes["end"]["params"]["colliders"] = form
            write_text(folder, "g.json", json.dumps({"rubble": 1, "nodes": nodes}))
            run = rubble(folder, "eval", "g.json").expect(0, *([words[form], f'"{name}"'] if form in words else []))
            assert ("for a collider" in run.err) == (form in words), run.err


if __name__ == "__main__":
    harness.main(globals())
