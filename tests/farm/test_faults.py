#!/usr/bin/env python3
"""What a batch meets in a night: test_faults.py RUBBLE

Full disks, folders without rights, sources that change, two batches at once, signals, too little memory. What is finished stays,
nothing is half written, and --resume makes the rest to the same bytes. RUBBLE_NIGHTLY=1 does more of each. Killed batches are in
tests/cli/test_batch.py. Each function test_… is a test; it gets a folder of its own.
"""
import contextlib
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
import harness
from harness import Skip

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUBBLE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "rubble")
NIGHTLY = os.environ.get("RUBBLE_NIGHTLY", "0") not in ("", "0")
SEED = int(os.environ.get("RUBBLE_SEED") or random.randrange(1 << 30))
SANITIZED = b"__asan_init" in open(RUBBLE, "rb").read() or b"__tsan_init" in open(RUBBLE, "rb").read()
CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {f}\n" for f in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"))
GRAPH = {
    "rubble": 1,
    "vars": {"seed": {"type": "seed", "default": 0}, "pieces": {"type": "int", "default": 200, "min": 2},
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
    def __init__(self, code, text):
        self.code, self.text = code, text

    def expect(self, code, *texts):
        assert self.code == code, f"exit {self.code}, not {code}\n{self.text}"
        for text in texts:
            assert text.lower() in self.text.lower(), f"{text!r} is missing in\n{self.text}"
        return self


def command(*arguments):
    return [RUBBLE, "batch", "g.json", "--threads", "2", "--progress", "plain", *arguments]


def environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(("RUBBLE_CACHE", "SLURM"))}


def batch(folder, *arguments, before=None):
    p = subprocess.run(command(*arguments), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        env=environment(), preexec_fn=before)
    return Result(p.returncode, p.stdout)


def write(folder, name, value):
    with open(os.path.join(folder, name), "w") as f:
        f.write(value if isinstance(value, str) else json.dumps(value))


def read(*path):
    with open(os.path.join(*path)) as f:
        return json.load(f)


def prepare(folder):
    write(folder, "a.obj", CUBE)
    write(folder, "g.json", GRAPH)


def hash_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def tree(folder):
    """Files of assets by name, without records and temporary files."""
    return {os.path.relpath(os.path.join(path, name), folder): hash_of(os.path.join(path, name)) for path, _, names in os.walk(folder)
        for name in names if not name.startswith("batch") and name != "asset.json" and not name.endswith(".tmp")}


def check_whole(folder, out, good):
    """Each file is there as in `good`, or not at all; each record is whole. @return names of finished assets"""
    made, whole = tree(os.path.join(folder, out)), tree(os.path.join(folder, good))
    for name, content in made.items():
        assert content == whole[name], f"{name} is half written"
    done = []
    for path, _, names in os.walk(os.path.join(folder, out)):
        if "asset.json" in names:
            record = read(path, "asset.json")
            assert record["complete"]
            if record["state"] == "done":
                done.append(record["name"])
                for file in record["files"]:
                    assert os.path.getsize(os.path.join(path, file["name"])) == file["bytes"]
    return done


def no_temporary_files(folder):
    for path, _, names in os.walk(folder):
        assert not [n for n in names if n.endswith(".tmp")], (path, names)


@contextlib.contextmanager
def small_disk(folder, name, size):
    if os.geteuid() != 0:
        raise Skip("needs root, to mount a small disk")
    place = os.path.join(folder, name)
    os.makedirs(place)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk_fails_what_does_not_fit(folder):
    prepare(folder)
    ask = ("--over", "seed=0..7", "--resume")
    batch(folder, *ask, "--out", "good").expect(0)
    size = sum(os.path.getsize(os.path.join(p, n)) for p, _, names in os.walk(os.path.join(folder, "good")) for n in names)
    for part in (0.1, 0.35, 0.6, 0.9) if NIGHTLY else (0.1, 0.6):
        with small_disk(folder, "disk", int(size * part)) as disk:
            result = batch(folder, *ask, "--out", "disk/out")
            assert result.code in (1, 3) and "no space left on device" in result.text.lower(), result.text
            done = check_whole(folder, "disk/out", "good")
            assert len(done) < 8
            no_temporary_files(disk)
            subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)
            batch(folder, *ask, "--out", "disk/out").expect(0, f"{len(done)} finished before" if done else "8 done")
            assert tree(os.path.join(folder, "disk/out")) == tree(os.path.join(folder, "good"))
        os.rmdir(os.path.join(folder, "disk"))


def test_a_full_cache_disk_fails_nothing(folder):
    prepare(folder)
    ask = ("--over", "seed=0..5")
    batch(folder, *ask, "--out", "good").expect(0)
    with small_disk(folder, "disk", 200000):
        result = batch(folder, *ask, "--out", "out", "--cache", "disk/kept").expect(0, "6 done", "note: the cache cannot be written")
        assert result.text.count("note: the cache") == 1, result.text
        assert tree(os.path.join(folder, "out")) == tree(os.path.join(folder, "good"))
        batch(folder, *ask, "--out", "again", "--cache", "disk/kept").expect(0)
        assert tree(os.path.join(folder, "again")) == tree(os.path.join(folder, "good"))


def test_a_read_only_disk_is_told(folder):
    prepare(folder)
    ask = ("--over", "seed=0..2")
    batch(folder, *ask, "--out", "good").expect(0)
    with small_disk(folder, "disk", "50m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        batch(folder, *ask, "--out", "disk/out").expect(3, "read-only file system")
        batch(folder, *ask, "--out", "disk/out", "--chunk", "1/1").expect(3, "Read-only file system")
        batch(folder, *ask, "--out", "out", "--cache", "disk/kept").expect(0, "note: the cache cannot be written")
        assert not os.listdir(disk)


def test_a_folder_without_rights_is_told(folder):
    prepare(folder)
    os.mkdir(os.path.join(folder, "out"), 0o555)
    os.chmod(folder, 0o755)

    def nobody():
        if os.geteuid() == 0:  # rights mean nothing to root
            os.setgid(65534)
            os.setuid(65534)
    try:
        result = batch(folder, "--over", "seed=0..2", before=nobody)
    except PermissionError:
        raise Skip("nobody may not run the program where it is") from None
    result.expect(3, "Permission denied")
    assert not os.listdir(os.path.join(folder, "out"))
    os.chmod(os.path.join(folder, "out"), 0o777)
    write(folder, "a.obj", CUBE)
    os.chmod(os.path.join(folder, "a.obj"), 0)
    batch(folder, "--over", "seed=0..2", before=nobody).expect(1, "Permission denied", "3 failed")


def test_a_source_that_changes_gives_no_mixture(folder):
    print(f"seed {SEED}")
    draw = random.Random(SEED)
    prepare(folder)
    taller = CUBE.replace(" 1\n", " 3\n", 8)
    heights = {1: CUBE, 3: taller}
    for _ in range(8 if NIGHTLY else 2):
        process = subprocess.Popen(command("--over", "seed=0..11", "--resume"), cwd=folder, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=environment())
        last = 1
        while process.poll() is None:
            time.sleep(draw.random() * 0.3)
            last = draw.choice((1, 3))
            write(folder, "new.obj", heights[last])
            os.replace(os.path.join(folder, "new.obj"), os.path.join(folder, "a.obj"))
        text = process.communicate()[0]
        assert process.returncode in (0, 1), text
        for name in os.listdir(os.path.join(folder, "out", "g")):
            record = read(folder, "out", "g", name, "asset.json")
            if record["state"] == "failed":
                assert "changes again and again" in record["error"], record["error"]
            elif record["state"] == "done":
                assert min(abs(record["volume"] - h) for h in (1, 3)) < 1e-9, record["volume"]
        batch(folder, "--over", "seed=0..11", "--resume").expect(0)
        batch(folder, "--over", "seed=0..11", "--out", "good").expect(0)
        assert tree(os.path.join(folder, "out")) == tree(os.path.join(folder, "good"))


def test_two_batches_over_one_cache_and_one_folder(folder):
    prepare(folder)
    ask = ("--over", "seed=0..9", "--cache", "kept")
    batch(folder, "--over", "seed=0..9", "--out", "good").expect(0)
    for outs in (("a", "b"), ("c", "c"), ("a", "d", "d", "e")) if NIGHTLY else (("a", "b"), ("c", "c")):
        shutil.rmtree(os.path.join(folder, "kept"), ignore_errors=True)
        several = [subprocess.Popen(command(*ask, "--out", out), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env=environment()) for out in outs]
        for process in several:
            text = process.communicate(timeout=200)[0]
            assert process.returncode == 0 and "note: the cache" not in text, text
        for out in outs:
            assert tree(os.path.join(folder, out)) == tree(os.path.join(folder, "good"))
        no_temporary_files(folder)
        batch(folder, *ask, "--out", "again").expect(0, "10 done (10 from the cache)")
        p = subprocess.run([RUBBLE, "cache", "verify", "kept"], cwd=folder, capture_output=True, text=True)
        assert p.returncode == 0 and "0 damaged" in p.stdout, p.stdout + p.stderr


def cpu_of(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def starts_of(journal):
    with open(journal) as f:
        return f.read().count('"event":"start"')


def test_signals_end_it_soon_and_keep_what_is_finished(folder):
    print(f"seed {SEED}")
    draw = random.Random(SEED)
    prepare(folder)
    # Small assets first, and a large one that is under way when the signal comes.
    ask = ("--over", "pieces=[100, 110, 120, 130, 140, 150, 12000]")
    small = ("--over", "pieces=[100, 110, 120, 130, 140, 150]")
    batch(folder, *small, "--out", "good").expect(0)
    for i in range(20 if NIGHTLY else 4):
        number, out = draw.choice((signal.SIGINT, signal.SIGTERM)), f"out{i}"
        # The journal of a chunk tells which assets were begun.
        journal = os.path.join(folder, out, "batch-1-of-1.jsonl")
        process = subprocess.Popen(command(*ask, "--out", out, "--chunk", "1/1"), cwd=folder, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=environment())
        wanted = draw.randrange(1, 6)
        while wanted and (line := process.stderr.readline()):
            wanted -= "] done" in line
        before, begin = cpu_of(process.pid), time.monotonic()
        process.send_signal(number)
        begun = starts_of(journal)
        err = process.stderr.read()
        out_text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        spent = usage.ru_utime + usage.ru_stime - before
        assert process.returncode == 130, (process.returncode, out_text, err)
        assert "what is finished stays" in err and "--resume" in err and "not done" in out_text, (out_text, err)
        # A quarter of a second of each thread; the clock has more, because the machine may be busy with others.
        assert SANITIZED or (spent < 0.5 and time.monotonic() - begin < 5), (spent, time.monotonic() - begin)
        # No asset is begun any more, but for one of each thread that was taking it just then.
        assert starts_of(journal) - begun <= 2, (starts_of(journal), begun)
        done = check_whole(folder, out, "good")
        assert done
        no_temporary_files(os.path.join(folder, out))
        states = {a["name"]: a["state"] for a in read(folder, out, "batch-1-of-1.json")["assets"]}
        assert states["g/12000"] in ("cancelled", "not run") and sum(s == "done" for s in states.values()) == len(done), states
        batch(folder, *small, "--out", out, "--resume").expect(0, f"{len(done)} finished before")
        assert tree(os.path.join(folder, out)) == tree(os.path.join(folder, "good"))


def test_little_address_space_is_an_error_and_no_half_file(folder):
    if SANITIZED:
        raise Skip("sanitizers take all address space")
    prepare(folder)
    ask = ("--over", "pieces=[50, 20000]")
    batch(folder, *ask, "--out", "good").expect(0)
    refused = 0
    for megabytes in range(20, 620, 20) if NIGHTLY else (24, 60, 120, 160, 240, 400):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
        result = batch(folder, *ask, "--out", "out", before=limit)
        # 127: not even the libraries can be loaded.
        assert result.code in (0, 1, 3, 127), f"{megabytes} MB: exit {result.code}\n{result.text}"
        assert result.code == 0 or "rror" in result.text, f"{megabytes} MB: no error is told\n{result.text}"
        refused += result.code == 1
        if os.path.isdir(os.path.join(folder, "out")):
            check_whole(folder, "out", "good")
            no_temporary_files(os.path.join(folder, "out"))
    assert refused, "no limit was between too little and enough"


@contextlib.contextmanager
def memory_group(bytes_):
    """A control group with a limit; a Skip where the system has none for us."""
    for top, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        place = os.path.join(top, f"rubble-test-{os.getpid()}")
        try:
            os.mkdir(place)
        except OSError:
            continue
        try:
            with open(os.path.join(place, limit), "w") as f:
                f.write(str(bytes_))
            with contextlib.suppress(OSError), open(os.path.join(place, "memory.swap.max"), "w") as f:
                f.write("0")
        except OSError:
            os.rmdir(place)
            continue
        try:
            yield os.path.join(place, "cgroup.procs")
        finally:
            end = time.monotonic() + 20
            while os.path.exists(place) and time.monotonic() < end:
                with contextlib.suppress(OSError):
                    os.rmdir(place)
                time.sleep(0.05)
        return
    raise Skip("this system gives us no control group of memory")


def test_a_memory_group_kills_and_resume_does_the_rest(folder):
    if SANITIZED:
        raise Skip("sanitizers take more memory")
    prepare(folder)
    ask = ("--over", "pieces=[100, 150, 200, 60000]", "--resume")
    small = ("--over", "pieces=[100, 150, 200]", "--resume")
    batch(folder, *small, "--out", "good").expect(0)
    with memory_group(60 << 20) as processes:
        def join():
            with open(processes, "w") as f:
                f.write("0")
        result = batch(folder, *ask, "--out", "out", before=join)
        assert result.code == -signal.SIGKILL, (result.code, result.text)
        shutil.rmtree(os.path.join(folder, "out", "g", "60000"), ignore_errors=True)
        check_whole(folder, "out", "good")
        # With --memory it is an error of the one asset instead.
        batch(folder, *ask, "--out", "out", "--memory", "25M", before=join).expect(1, "memory", "1 failed")
        made = os.listdir(os.path.join(folder, "out", "g", "60000"))
        assert [n for n in made if not n.endswith(".tmp")] == ["asset.json"], made
        shutil.rmtree(os.path.join(folder, "out", "g", "60000"))
        assert tree(os.path.join(folder, "out")) == tree(os.path.join(folder, "good"))


if __name__ == "__main__":
    harness.main(globals())
