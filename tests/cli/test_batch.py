#!/usr/bin/env python3
"""rubble batch as a person or a farm meets it: test_batch.py RUBBLE

Each function test_… is a test; it gets a folder of its own.
"""
import csv
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import harness

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUBBLE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "rubble")
NIGHTLY = os.environ.get("RUBBLE_NIGHTLY", "0") not in ("", "0")
SEED = int(os.environ.get("RUBBLE_SEED") or random.randrange(1 << 30))
CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {f}\n" for f in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"))
GRAPH = {
    "rubble": 1,
    "vars": {"pieces": {"type": "int", "default": 8, "min": 2, "max": 10000}, "seed": {"type": "seed", "default": 0},
        "mesh": {"type": "path", "default": "a.obj"}},
    "nodes": {
        "src": {"type": "MeshToCollection", "params": {"file": {"var": "mesh"}}},
        "sites": {"type": "ScatterPoints", "in": {"collection": "src"},
            "params": {"count": {"var": "pieces"}, "seed": {"var": "seed"}}},
        "crack": {"type": "VoronoiFracture", "in": {"collection": "src", "points": "sites"}},
        "end": {"type": "Terminal", "in": {"collection": "crack"}, "params": {"files": ["piece.obj", "piece.json"]}},
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


def batch(folder, *arguments, env=None):
    base = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "JOB_COMPLETION", "RUBBLE_CACHE"))}
    return Result(subprocess.run([RUBBLE, "batch", *arguments], cwd=folder, capture_output=True, text=True,
        timeout=300, env=dict(base, **(env or {}))))


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text if isinstance(text, str) else json.dumps(text, indent=1))
    return path


def read(folder, *names):
    with open(os.path.join(folder, *names)) as f:
        return json.load(f) if names[-1].endswith(".json") else f.read()


def prepare(folder, meshes=("a",)):
    for name in meshes:
        write(folder, f"props/{name}.obj", CUBE)
    write(folder, "a.obj", CUBE)
    write(folder, "g.json", GRAPH)


def tree(folder):
    """Bytes of all files of assets but the records, whose times differ."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if name.startswith("batch") or name == "asset.json":
                continue
            with open(os.path.join(path, name), "rb") as f:
                found[os.path.relpath(os.path.join(path, name), folder)] = hashlib.sha256(f.read()).hexdigest()
    return found


def states(folder, out="out"):
    return {a["name"]: a["state"] for a in read(folder, out, "batch.json")["assets"]}


def test_products_of_files_ranges_and_lists(folder):
    prepare(folder, ("a", "b"))
    batch(folder, "g.json", "--over", "mesh=props/*.obj", "--over", "seed=3..5", "--over", "pieces=[4, 6]").expect(
        0, "12 assets: 12 done")
    names = {f"g/{m}_{s}_{p}" for m in "ab" for s in (3, 4, 5) for p in (4, 6)}
    assert set(states(folder)) == names
    for name in names:
        record = read(folder, "out", name, "asset.json")
        assert record["state"] == "done" and record["pieces"] == int(name[-1])
        made = read(folder, "out", name, "piece.json")
        assert sum(b["volume"] is not None and b["triangles"] > 0 for b in made["bones"]) >= record["pieces"]
        for file in record["files"]:
            assert os.path.getsize(os.path.join(folder, "out", name, file["name"])) == file["bytes"]
    with open(os.path.join(folder, "out", "batch.csv")) as f:
        rows = list(csv.DictReader(f))
    assert {r["name"] for r in rows} == names and all(r["state"] == "done" for r in rows)


def test_a_manifest_says_the_same_as_the_command_line(folder):
    prepare(folder, ("a", "b"))
    write(folder, "sub/m.json", {"rubble_batch": 1, "jobs": [{"graph": "../g.json",
        "over": {"mesh": "../props/*.obj", "seed": {"from": 3, "to": 5}}, "name": "{graph}/{mesh}_{seed}"}]})
    batch(folder, "sub/m.json", "--out", "one").expect(0, "6 done")
    batch(folder, "g.json", "--over", "mesh=props/*.obj", "--over", "seed=3..5", "--out", "two").expect(0)
    one, two = tree(os.path.join(folder, "one")), tree(os.path.join(folder, "two"))
    assert set(one) == set(two)
    assert all(one[k] == two[k] for k in one if not k.endswith("manifest.json"))


def test_one_thread_and_many_give_the_same(folder):
    prepare(folder, ("a", "b", "c"))
    for threads in ("1", "2", "8"):
        batch(folder, "g.json", "--over", "mesh=props/*.obj", "--over", "seed=0..3", "--over", "pieces=[5, 60]",
            "--threads", threads, "--out", threads).expect(0, "24 done")
    trees = [tree(os.path.join(folder, t)) for t in ("1", "2", "8")]
    assert trees[0] == trees[1] == trees[2] and len(trees[0]) >= 72


def test_mistakes_in_a_manifest_are_told_with_their_place(folder):
    prepare(folder)
    cases = [
        ('{"rubble_batch": 1,\n "jobs": [\n  {"graph": "g.json", "over": {"sed": [1]}}\n ]}', "m.json:3:32",
            'has no variable "sed"', 'did you mean "seed"'),
        ('{"rubble_batch": 1,\n "jobs": [\n  {"graph": "g.json", "ovr": {}}\n ]}', "m.json:3:23", 'did you mean "over"'),
        ('{"rubble_batch": 1, "jobs": [{"set": {}}]}', "m.json:1:30", 'needs "graph"'),
        ('{"rubble_batch": 1, "jobs": {}}', "m.json:1:21", 'needs a list "jobs"'),
        ('{"rubble_batch": 2, "jobs": [{"graph": "g.json"}]}', "m.json:1:2", '"rubble_batch": 1'),
        ('{"rubble_batch": 1, "jobs": [{"graph": "g.json",}]}', "m.json:1:50", "is not JSON"),
        ('{"rubble_batch": 1, "jobs": [{"graph": "g.json"}]', "m.json:1:50", "is not JSON"),
        ('{"rubble_batch": 1, "jobs": [{"graph": "g.json", "over": {"mesh": "props/*.stl"}}]}', "m.json:1:59",
            "no file matches"),
        ('{"rubble_batch": 1, "jobs": [{"graph": "g.json", "limit": -1}]}', "m.json:1:50", "seconds above 0"),
        ('{"rubble_batch": 1, "jobs": [{"graph": "g.json", "name": "{what}"}]}', "m.json:1:50", "{what}"),
        ('{"rubble_batch": 1, "jobs": [{"graph": "g.json", "name": "a//b"}]}', "m.json:1:50", "empty"),
        ('{"rubble_batch": 1, "jobs": [{"graph": "g.json", "over": {"seed": {"from": 1}}}]}', "m.json:1:59", "a range is"),
        ('{"rubble_batch": 1, "jobs": [{"graph": "g.json", "set": {"seed": 1, "seed": 2}}]}', "m.json:1:50", "twice"),
        ('{"rubble_batch": 1, "job": [], "jobs": [{"graph": "g.json"}]}', "m.json:1:21", 'has no "job"'),
        ('[{"graph": "g.json", "rubble_batch": 1}]', "m.json:1:1", "a manifest is an object"),
    ]
    for text, place, *words in cases:
        write(folder, "m.json", text)
        result = batch(folder, "m.json").expect(2, *words)
        assert place in result.err, f"{text}\n{result.err}"
        assert not os.path.exists(os.path.join(folder, "out"))


def test_names_stay_below_the_folder_and_apart(folder):
    prepare(folder)
    write(folder, "props/sub/a.obj", CUBE)
    write(folder, "..hidden x.obj", CUBE)
    meshes = json.dumps(["props/a.obj", "props/sub/a.obj", "..hidden x.obj"])
    batch(folder, "g.json", "--over", f"mesh={meshes}").expect(2, "two assets are named g/a", "{mesh.path}")
    batch(folder, "g.json", "--over", f"mesh={meshes}", "--name", "../{mesh.path}").expect(0, "3 done")
    assert set(states(folder)) == {"_./props_a.obj", "_./props_sub_a.obj", "_./_.hidden_x.obj"}
    assert sorted(os.listdir(folder)) == sorted(["..hidden x.obj", "a.obj", "g.json", "out", "props"])


def test_failures_do_not_stop_the_rest(folder):
    prepare(folder, ("a", "b", "c"))
    write(folder, "props/broken.obj", "v 0 0 zero\n")
    write(folder, "props/empty.obj", "")
    result = batch(folder, "g.json", "--over", "mesh=props/*.obj", "--over", "seed=0..1").expect(
        1, "10 assets: 6 done, 4 failed", "broken.obj:1")
    assert sum(s == "failed" for s in states(folder).values()) == 4
    assert read(folder, "out", "g", "broken_0", "asset.json")["error"]
    assert result.err.count("broken.obj:1") == 2
    html = read(folder, "out", "batch.html")
    assert html.index("broken_0") < html.index("g/a_0")
    stopped = batch(folder, "g.json", "--over", "mesh=props/*.obj", "--out", "o2", "--stop-on-failure", "--threads", "1",
        "--set", "pieces=1").expect(1, "1 failed, 4 not done")
    assert "smallest allowed value" in stopped.err


def test_dry_run_lists_and_looks_for_mistakes(folder):
    prepare(folder)
    write(folder, "bad.json", {"rubble": 1, "nodes": {"x": {"type": "Foo"}}})
    write(folder, "m.json", {"rubble_batch": 1, "jobs": [{"graph": "bad.json"}, {"graph": "g.json",
        "set": {"pieces": 5, "mesh": "no.obj"}}, {"graph": "g.json", "over": {"pieces": [1, 3]}}]})
    batch(folder, "m.json", "--dry-run").expect(1, 'unknown node type "Foo"', "no.obj: No such file", "smallest allowed",
        "4 assets, 3 that cannot run")
    assert not os.path.exists(os.path.join(folder, "out"))


def test_resume_repeats_nothing_that_is_finished(folder):
    prepare(folder, ("a", "b"))
    ask = ["g.json", "--over", "mesh=props/*.obj", "--over", "seed=0..2", "--resume"]
    batch(folder, *ask).expect(0, "6 done")
    batch(folder, *ask).expect(0, "0 done, 6 finished before")
    with open(os.path.join(folder, "out", "g", "a_1", "piece.obj"), "a") as f:
        f.write("# touched\n")
    os.remove(os.path.join(folder, "out", "g", "b_0", "piece.json"))
    write(folder, "out/g/b_2/asset.json", read(folder, "out", "g", "b_2", "asset.json")["name"])
    batch(folder, *ask).expect(0, "3 done, 3 finished before")
    write(folder, "props/a.obj", CUBE.replace("v 1 1 1", "v 1 1 2"))
    batch(folder, *ask).expect(0, "3 done, 3 finished before")
    write(folder, "g.json", dict(GRAPH, nodes=dict(GRAPH["nodes"], more={"type": "SelectAll", "in": {"collection": "crack"}})))
    batch(folder, *ask).expect(0, "6 done")
    batch(folder, *ask, "--set", "pieces=9").expect(0, "6 done")


def test_a_time_limit_ends_an_asset_and_no_other(folder):
    prepare(folder)
    graph = json.loads(json.dumps(GRAPH))
    graph["vars"]["pieces"]["max"] = 1000000
    write(folder, "g.json", graph)
    result = batch(folder, "g.json", "--over", "pieces=[5, 900000, 7]", "--time-limit", "1", "--threads", "1").expect(
        1, "2 done, 1 failed", "not done within 1 s")
    assert states(folder) == {"g/5": "done", "g/900000": "timed out", "g/7": "done"}, result.err
    assert os.listdir(os.path.join(folder, "out", "g", "900000")) == ["asset.json"]


def test_chunks_share_the_work_and_their_summaries_merge(folder):
    prepare(folder)
    ask = ["g.json", "--over", "seed=0..19"]
    for i in (1, 2):
        batch(folder, *ask, "--chunk", f"{i}/3").expect(0)
    batch(folder, "--merge", "out").expect(3, "batch-3-of-3.json")
    batch(folder, *ask, "--chunk", "auto", env={"SLURM_ARRAY_TASK_ID": "12", "SLURM_ARRAY_TASK_MIN": "10",
        "SLURM_ARRAY_TASK_COUNT": "3"}).expect(0)
    batch(folder, "--merge", "out").expect(0, "20 assets of 3 chunks, 0 failed")
    merged = read(folder, "out", "batch.json")
    assert [a["name"] for a in merged["assets"]] == [f"g/{i}" for i in range(20)]
    parts = [len(read(folder, "out", f"batch-{i}-of-3.json")["assets"]) for i in (1, 2, 3)]
    assert sum(parts) == 20 and min(parts) > 0
    batch(folder, *ask, "--out", "o2", "--chunk", "auto/2", env={"JOB_COMPLETION_INDEX": "1"}).expect(0)
    assert os.path.exists(os.path.join(folder, "o2", "batch-2-of-2.json"))
    batch(folder, *ask, "--chunk", "auto").expect(2, "SLURM_ARRAY_TASK_ID")
    batch(folder, *ask, "--chunk", "4/3").expect(2, "--chunk needs I/N")


def test_an_interrupt_keeps_what_is_finished(folder):
    prepare(folder)
    ask = [RUBBLE, "batch", "g.json", "--over", "seed=0..24", "--set", "pieces=400", "--threads", "2", "--progress", "plain"]
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(ask + ["--out", str(int(number))], cwd=folder, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        while "] done" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130 and "not done" in out and "--resume" in err, (process.returncode, out, err)
        named = states(folder, str(int(number)))
        done = [n for n, s in named.items() if s == "done"]
        assert done and len(named) == 25 and any(s == "not run" for s in named.values())
        for path, _, names in os.walk(os.path.join(folder, str(int(number)))):
            assert not [n for n in names if n.endswith(".tmp")], names
        again = Result(subprocess.run(ask + ["--out", str(int(number)), "--resume"], cwd=folder, capture_output=True,
            text=True, timeout=300))
        again.expect(0, f"{len(done)} finished before")


def test_killed_batches_are_resumed_to_the_same_result(folder):
    print(f"seed {SEED}")
    draw = random.Random(SEED)
    prepare(folder, ("a", "b"))
    ask = ["g.json", "--over", "mesh=props/*.obj", "--over", "seed=0..4", "--set", "pieces=200"]
    batch(folder, *ask, "--out", "good").expect(0, "10 done")
    for _ in range(200 if NIGHTLY else 6):
        process = subprocess.Popen([RUBBLE, "batch", *ask, "--resume"], cwd=folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        time.sleep(draw.random() * 0.25)
        process.kill()
        process.wait()
        for path, _, names in os.walk(os.path.join(folder, "out")):
            for name in names:
                if name.endswith(".json"):
                    read(path, name)  # whole or not there
    batch(folder, *ask, "--resume").expect(0)
    good, made = tree(os.path.join(folder, "good")), tree(os.path.join(folder, "out"))
    assert {k: v for k, v in made.items() if not k.endswith(".tmp")} == good


def test_a_source_that_changes_meanwhile_is_read_again(folder):
    prepare(folder)
    write(folder, "slow.json", dict(GRAPH, vars=dict(GRAPH["vars"], pieces={"type": "int", "default": 5000})))
    process = subprocess.Popen([RUBBLE, "batch", "slow.json", "--threads", "1"], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    time.sleep(0.25)
    write(folder, "a.obj", CUBE.replace("v 1 1 1", "v 1 1 3"))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, (out, err)
    record = read(folder, "out", "slow", "asset.json")
    batch(folder, "slow.json", "--out", "after").expect(0)
    assert read(folder, "after", "slow", "asset.json")["volume"] == record["volume"]


def test_a_memory_limit_is_an_error_and_no_half_file(folder):
    prepare(folder)
    batch(folder, "g.json", "--over", "pieces=[5, 10000]", "--memory", "6M", "--threads", "2").expect(
        1, "1 done, 1 failed", "memory")
    assert states(folder)["g/5"] == "done"
    assert os.listdir(os.path.join(folder, "out", "g", "10000")) == ["asset.json"]


def test_thumbnails_are_drawn_once(folder):
    if not os.path.exists(os.path.join(os.path.dirname(RUBBLE), "rubble-render")):
        batch(folder, "g.json", "--thumbnails").expect(2, "rubble-render")
        return
    prepare(folder)
    ask = ["g.json", "--over", "seed=0..1", "--thumbnails"]
    batch(folder, *ask).expect(0, "2 done")
    picture = os.path.join(folder, "out", "g", "1", "thumbnail.png")
    with open(picture, "rb") as f:
        assert f.read(8) == b"\x89PNG\r\n\x1a\n"
    drawn = os.stat(picture).st_mtime_ns
    assert read(folder, "out", "batch.html").count("/thumbnail.png") == 2
    for more in ([], ["--resume"]):
        batch(folder, *ask, *more).expect(0)
        assert os.stat(picture).st_mtime_ns == drawn
        assert read(folder, "out", "batch.html").count("/thumbnail.png") == 2


def test_names_and_messages_are_text_in_the_page_and_the_table(folder):
    prepare(folder)
    evil = '=1+1 <img src=x onerror=alert(1)>&"'
    write(folder, evil + ".obj", CUBE)
    write(folder, "<b>.obj", "v 1 nan\n")
    batch(folder, "g.json", "--over", "mesh=" + json.dumps([evil + ".obj", "<b>.obj"])).expect(1)
    html = read(folder, "out", "batch.html")
    assert "<img src=x" not in html and "<b>" not in html
    with open(os.path.join(folder, "out", "batch.csv")) as f:
        assert not any(cell.startswith("=") for row in csv.reader(f) for cell in row)


def on_a_terminal(folder, columns, *arguments, term="xterm"):
    """What a terminal of so many columns gets, and the exit code."""
    import fcntl
    import pty
    import struct
    import termios
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([RUBBLE, "batch", *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=slave, env=dict(os.environ, TERM=term))
    os.close(slave)
    text = b""
    try:
        while part := os.read(master, 65536):
            text += part
    except OSError:  # so a terminal says that nobody writes any more
        pass
    os.close(master)
    return text.decode(), process.wait()


def test_a_terminal_has_a_bar_that_fits(folder):
    prepare(folder)
    long = "a long name of a mesh, with é and 石 in it, " * 4
    write(folder, long + ".obj", CUBE)
    write(folder, "broken.obj", "v 0 0 zero\n")
    meshes = json.dumps([long + ".obj", "broken.obj", "a.obj"])
    ask = ("g.json", "--over", f"mesh={meshes}", "--over", "seed=1..3", "--set", "pieces=1500", "--cache", "kept")
    for columns in (40, 80, 300):
        text, code = on_a_terminal(folder, columns, *ask)
        assert code == 1
        bars = [part.split("\r")[0].split("\n")[0] for part in text.split("\r\033[K") if part.startswith("[")]
        assert bars and all(len(bar) < columns for bar in bars), max(bars, key=len)
        assert any("9/9, 3 failed" in bar for bar in bars) and bars[-1].startswith("[####################]"), bars[-1]
        assert any(": g/" in bar for bar in bars) or columns == 40, bars
        assert text.endswith("\r\033[K"), "the bar stays"
        assert text.count("broken.obj:1") >= 3, text
    assert any("6 from the cache" in bar for bar in bars), bars[-1]
    text, _ = on_a_terminal(folder, 100, *ask, "--resume")
    assert "6 finished before" in text, text
    text, _ = on_a_terminal(folder, 100, *ask, term="dumb")
    assert "\033" not in text and "[9/9]" in text, text


def test_a_log_has_plain_lines(folder):
    prepare(folder)
    text = batch(folder, "g.json", "--over", "seed=1..3", "--threads", "1").expect(0).err
    lines = text.strip().splitlines()
    assert [l.split("]")[0] for l in lines] == ["[1/3", "[2/3", "[3/3"] and "\033" not in text and "\r" not in text, text
    events = [json.loads(l) for l in batch(folder, "g.json", "--over", "seed=1..3", "--progress", "json").expect(0).err.splitlines()]
    assert [e["ended"] for e in events] == [1, 2, 3] and all(e["state"] == "done" for e in events)
    assert batch(folder, "g.json", "--over", "seed=1..3", "--progress", "none").expect(0).err == ""


def test_fail_on_warning(folder):
    prepare(folder)
    write(folder, "w.json", dict(GRAPH, vars=dict(GRAPH["vars"], unused={"type": "int", "default": 3})))
    batch(folder, "w.json", "--over", "seed=1..2").expect(0, "2 done")
    result = batch(folder, "w.json", "--over", "seed=1..2", "--fail-on", "warning").expect(1, "2 failed", "--fail-on warning")
    assert read(folder, "out", "w", "1", "asset.json")["state"] == "failed", result.err
    batch(folder, "w.json", "--over", "seed=1..2", "--resume").expect(0, "2 done")
    batch(folder, "w.json", "--over", "seed=1..2", "--resume", "--fail-on", "warning").expect(1, "2 failed")
    batch(folder, "g.json", "--fail-on", "warning").expect(0)


if __name__ == "__main__":
    harness.main(globals())
