#!/usr/bin/env python3
"""The files that rubble eval leaves, whatever happens: a warm cache, damage, kills, full disks, refused folders.

  test_files.py RUBBLE

A test that cannot be made here is skipped and says why.
"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import harness
from harness import Skip

RUBBLE = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WALL = os.path.join(ROOT, "graphs", "wall.json")


class Result:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    def expect(self, code, *texts):
        assert self.code == code, f"exit {self.code}, not {code}\n{self.out}{self.err}"
        for text in texts:
            assert text in self.out + self.err, f"{text!r} is missing in\n{self.out}{self.err}"
        return self


def rubble(folder, *arguments, **options):
    return Result(subprocess.run([RUBBLE, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, **options))


def content(path):
    with open(path, "rb") as f:
        return f.read()


def contents(folder):
    return {name: content(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}


def write_graph(folder, *ends, pieces=60):
    """A box in pieces, and a Terminal for each list of file names."""
    nodes = {
        "box": {"type": "MakePrimitive"},
        "sites": {"type": "ScatterPoints", "in": {"collection": "box"}, "params": {"count": {"var": "pieces"}}},
        "crack": {"type": "VoronoiFracture", "in": {"collection": "box", "points": "sites"}},
    }
    for i, files in enumerate(ends):
        nodes[f"end{i}"] = {"type": "Terminal", "in": {"collection": "crack"}, "params": {"files": files}}
    graph = {"rubble": 1, "vars": {"pieces": {"type": "int", "default": pieces}}, "nodes": nodes}
    with open(os.path.join(folder, "g.json"), "w") as f:
        json.dump(graph, f)


ALL = ["x.glb", "x.obj", "x.json", "x.rbl"]


def test_a_warm_cache_gives_the_same_bytes(folder):
    rubble(folder, "eval", WALL, "--cache", "kept", "-o", "cold").expect(0, "10 ran, 0 from", "wrote cold/wall.glb")
    cold = contents(os.path.join(folder, "cold"))
    assert sorted(cold) == ["end.manifest.json", "wall.glb", "wall.json", "wall.mtl", "wall.obj", "wall.rbl"]
    again = rubble(folder, "eval", WALL, "--cache", "kept", "-o", "cold").expect(0, "0 ran, 10 from")
    assert again.out.count("unchanged cold/") == 6 and "wrote" not in again.out, again.out
    other = rubble(folder, "eval", WALL, "--cache", "kept", "-o", "other").expect(0, "0 ran, 10 from")
    assert other.out.count("wrote other/") == 6, other.out
    for name in ("cold", "other"):
        assert contents(os.path.join(folder, name)) == cold
    rubble(folder, "eval", WALL, "--no-cache", "--threads", "1", "-o", "none").expect(0)
    assert contents(os.path.join(folder, "none")) == cold
    # What is said of the result and the warnings are the same, too.
    first = rubble(folder, "eval", WALL, "--no-cache", "-o", "none")
    lines = lambda run: [l for l in (run.err + run.out).splitlines() if " ms" not in l and "wrote" not in l and "unchanged" not in l]
    assert lines(first) == lines(other) == lines(again)


def test_changed_files_are_written_again(folder):
    write_graph(folder, ALL)
    rubble(folder, "eval", "g.json", "--cache", "kept", "-o", "out").expect(0)
    out = os.path.join(folder, "out")
    wanted = contents(out)
    for name in wanted:
        path = os.path.join(out, name)
        for change in ("flip", "truncate", "empty", "append", "delete"):
            bytes_ = bytearray(wanted[name])
            if change == "flip":
                bytes_[len(bytes_) // 2] ^= 1
            if change == "truncate":
                bytes_ = bytes_[: len(bytes_) // 2]
            if change == "empty":
                bytes_ = b""
            if change == "append":
                bytes_ += b" "
            os.unlink(path) if change == "delete" else open(path, "wb").write(bytes_)
            run = rubble(folder, "eval", "g.json", "--cache", "kept", "-o", "out").expect(0, "0 ran", "wrote out/" + name)
            assert run.out.count("wrote") == 1 and run.out.count("unchanged") == len(wanted) - 1, run.out
            assert contents(out) == wanted, (name, change)


def test_reports_tell_what_stayed(folder):
    write_graph(folder, ALL)
    for stayed in (False, True):
        rubble(folder, "eval", "g.json", "-o", "out", "--report", "r.json").expect(0)
        with open(os.path.join(folder, "r.json")) as f:
            report = json.load(f)
        assert [file["unchanged"] for file in report["files"]] == [stayed] * 6, report["files"]


def test_kills_leave_no_part_of_a_file(folder):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    write_graph(folder, ALL)
    wanted = {}
    for pieces in (60, 61):
        began = time.monotonic()
        rubble(folder, "eval", "g.json", "--set", f"pieces={pieces}", "-o", f"ref{pieces}").expect(0)
        took = time.monotonic() - began
        for name, bytes_ in contents(os.path.join(folder, f"ref{pieces}")).items():
            wanted.setdefault(name, []).append(bytes_)
    out = os.path.join(folder, "out")
    killed = 0
    for i in range(20):
        process = subprocess.Popen([RUBBLE, "eval", "g.json", "--set", f"pieces={60 + i % 2}", "-o", "out", "--cache",
            "kept" if i % 4 else f"kept{i}"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0.1, 1.1) * took)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        for name in os.listdir(out) if os.path.isdir(out) else []:
            if name.startswith(".rubble-") and name.endswith(".tmp"):
                continue
            assert content(os.path.join(out, name)) in wanted[name], f"{name} is neither the old file nor the new one"
    print(f"killed {killed} of 20")
    for pieces in (60, 61):
        rubble(folder, "eval", "g.json", "--set", f"pieces={pieces}", "-o", "out", "--cache", "kept").expect(0)
        for name, choices in wanted.items():
            assert content(os.path.join(out, name)) == choices[pieces - 60], name
    # What was left under other names goes when it is old.
    with open(os.path.join(out, ".rubble-999999999-12ab.tmp"), "w") as f:
        f.write("left")
    for name in os.listdir(out):
        if name.startswith(".rubble-"):
            os.utime(os.path.join(out, name), (time.time() - 3600, time.time() - 3600))
    rubble(folder, "eval", "g.json", "-o", "out").expect(0)
    assert sorted(os.listdir(out)) == sorted(wanted), os.listdir(out)


def test_a_full_disk_is_an_error_that_names_the_file(folder):
    small = os.path.join(folder, "small")
    os.mkdir(small)
    if os.geteuid() != 0:
        raise Skip("only root can mount a small file system")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small], capture_output=True, text=True)
    assert mounted.returncode == 0, "root cannot mount a tmpfs: " + mounted.stderr
    try:
        write_graph(folder, ["first.json"], ["big.obj"])
        rubble(folder, "eval", "g.json", "-o", "small", "--set", "pieces=4").expect(0)
        before = contents(small)
        run = rubble(folder, "eval", "g.json", "-o", "small", "--set", "pieces=3000").expect(3, "error:", "no space left")
        assert "small/big.obj" in run.err or "small/first.json" in run.err, run.err
        assert contents(small) == before, "a file was changed by a run that could not write"
        rubble(folder, "eval", "g.json", "-o", "small", "--set", "pieces=5").expect(0)
        # A cache on a full disk is a note.
        rubble(folder, "eval", "g.json", "-o", "out", "--cache", "small/kept", "--set", "pieces=3000").expect(
            0, "the cache cannot be written")
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_folder_without_rights_is_an_error(folder):
    write_graph(folder, ALL)
    os.mkdir(os.path.join(folder, "out"), 0o555)
    options = {}
    if os.geteuid() == 0: # rights mean nothing to root
        os.chmod(folder, 0o755)
        options = {"user": 65534, "group": 65534}
        if rubble(folder, "version", **options).code != 0:
            raise Skip("the command cannot be run by another user here")
    run = rubble(folder, "eval", os.path.join(folder, "g.json"), "-o", os.path.join(folder, "out"), **options)
    run.expect(3, "error:", "/out: Permission denied")
    assert os.listdir(os.path.join(folder, "out")) == []


def test_a_name_that_is_a_folder_stops_its_node_alone(folder):
    write_graph(folder, ["a.json"], ["b.json", "taken.obj"], ["c.json"])
    os.makedirs(os.path.join(folder, "out", "taken.obj"))
    for _ in range(2):
        run = rubble(folder, "eval", "g.json", "-o", "out", "--cache", "kept").expect(3, "error:", "out/taken.obj", "end1")
        assert sorted(os.listdir(os.path.join(folder, "out"))) == ["a.json", "c.json", "end0.manifest.json",
            "end2.manifest.json", "taken.obj"], run.out
    os.rmdir(os.path.join(folder, "out", "taken.obj"))
    rubble(folder, "eval", "g.json", "-o", "out", "--cache", "kept").expect(0, "0 ran", "wrote out/taken.obj",
        "unchanged out/a.json")


def test_what_is_read_is_never_written_over(folder):
    path = lambda name: os.path.join(folder, name)
    kept = lambda name, before: content(path(name)) == before
    write_graph(folder, ["a.obj"], ["g.json", "b.glb"])
    graph = content(path("g.json"))
    run = rubble(folder, "eval", "g.json", "-o", ".").expect(3, "error:", "g.json", "over the graph itself", "end1")
    assert kept("g.json", graph) and os.path.exists(path("a.obj")) and not os.path.exists(path("b.glb")), run.out
    os.symlink("g.json", path("link.json"))
    for option in ("--report", "--trace"):
        for name in ("g.json", "link.json"):
            rubble(folder, "eval", "g.json", "-o", "out", option, name).expect(2, "error:", name)
            assert kept("g.json", graph) and not os.path.exists(path("out"))
    rubble(folder, "view", "g.json", "-o", "g.json").expect(2, "error:", "g.json")
    rubble(folder, "eval", "g.json", "-o", "out").expect(0, "wrote out/g.json")

    mesh = content(path("a.obj"))
    nodes = {"mesh": {"type": "MeshToCollection", "params": {"file": "a.obj"}},
        "end": {"type": "Terminal", "in": {"collection": "mesh"}, "params": {"files": ["a.obj"]}}}
    with open(path("h.json"), "w") as f:
        json.dump({"rubble": 1, "nodes": nodes}, f)
    for _ in range(2): # from the cache, too
        rubble(folder, "eval", "h.json", "-o", ".", "--cache", "kept").expect(3, "a.obj", "a file that the graph reads")
        assert kept("a.obj", mesh)
        rubble(folder, "eval", "h.json", "-o", "elsewhere", "--cache", "kept").expect(0)
    with open(path("m.mtl"), "w") as f:
        f.write("newmtl a\n")
    with open(path("c.obj"), "wb") as f:
        f.write(b"mtllib m.mtl\n" + mesh)
    shown = {"mesh": {"type": "MeshToCollection", "params": {"file": "c.obj"}}}
    with open(path("r.json"), "w") as f:
        json.dump({"rubble": 1, "nodes": shown}, f)
    before = {name: content(path(name)) for name in ("c.obj", "m.mtl", "r.json")}
    for command in ("view", "render"):
        tried = rubble(folder, command, "c.obj", "-o", "tried", *(["--size", "64x48"] if command == "render" else []))
        if "unknown command" in tried.err or "was not built" in tried.err:
            continue
        for file, outputs in (("c.obj", ("c.obj", "m.mtl")), ("r.json", ("r.json", "c.obj", "m.mtl"))):
            for output in outputs:
                rubble(folder, command, file, "-o", output).expect(2, output + " would be written over the file that is read")
                assert {name: content(path(name)) for name in before} == before
    for option in ("--report", "--trace"):
        rubble(folder, "eval", "r.json", "-o", "out", option, "c.obj").expect(2, "c.obj would be written over")


if __name__ == "__main__":
    harness.main(globals())
