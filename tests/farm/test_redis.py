#!/usr/bin/env python3
"""--cache redis://…: test_redis.py RUBBLE

With a real server, and with servers of the test that are slow, lie, or hang up. Whatever a cache does, an evaluation gives the
same files. Each function test_… is a test; it gets a folder of its own.
"""
import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import socket
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
SEED = int(os.environ.get("RUBBLE_SEED") or random.randrange(1 << 30))
CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {f}\n" for f in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"))
GRAPH = {
    "rubble": 1,
    "vars": {"seed": {"type": "seed", "default": 0}, "pieces": {"type": "int", "default": 20, "min": 2}},
    "nodes": {
        "src": {"type": "MeshToCollection", "params": {"file": "a.obj"}},
        "sites": {"type": "ScatterPoints", "in": {"collection": "src"},
            "params": {"count": {"var": "pieces"}, "seed": {"var": "seed"}}},
        "crack": {"type": "VoronoiFracture", "in": {"collection": "src", "points": "sites"}},
        "end": {"type": "Terminal", "in": {"collection": "crack"}, "params": {"files": ["piece.obj", "piece.json"]}},
    },
}


def write(folder, name, value):
    with open(os.path.join(folder, name), "w") as f:
        f.write(value if isinstance(value, str) else json.dumps(value))


def rubble(folder, *arguments, code=0, **more):
    environment = {k: v for k, v in os.environ.items() if k != "RUBBLE_CACHE"}
    p = subprocess.run([RUBBLE, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, env=dict(environment, **more))
    assert p.returncode == code, f"exit {p.returncode}, not {code}\n{p.stdout}{p.stderr}"
    return p.stdout + p.stderr


def tree(folder):
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if not name.startswith("batch") and name != "asset.json":
                with open(os.path.join(path, name), "rb") as f:
                    found[os.path.relpath(os.path.join(path, name), folder)] = hashlib.sha256(f.read()).hexdigest()
    return found


def prepare(folder):
    """The graph, and in `good` what a batch without a cache makes of it."""
    write(folder, "a.obj", CUBE)
    write(folder, "g.json", GRAPH)
    batch(folder, "good", None)


def batch(folder, out, cache, *more, seeds="0..5"):
    text = rubble(folder, "batch", "g.json", "--over", f"seed={seeds}", "--out", out, "--threads", "2", "--progress", "plain",
        *(["--cache", cache] if cache else []), *more)
    if os.path.exists(os.path.join(folder, "good")):
        assert tree(os.path.join(folder, out)) == tree(os.path.join(folder, "good"))
    return text


def program():
    """Debian's redis-tools has the server under another name, which does not start a service of the machine."""
    return shutil.which("redis-server") or shutil.which("redis-check-rdb")


@contextlib.contextmanager
def server(folder, *options, port=0):
    if not program():
        raise Skip("redis-tools is not installed")
    link = os.path.join(folder, "redis-server")
    if not os.path.exists(link):
        os.symlink(program(), link)
    path = os.path.join(folder, "redis.socket")
    process = subprocess.Popen([link, "--port", str(port), "--bind", "127.0.0.1", "--unixsocket", path, "--save", "", "--dir", folder,
        *options], stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as s:
                s.connect(path)
                break
            assert time.monotonic() < end and process.poll() is None, "the server does not start"
            time.sleep(0.02)
        yield f"unix://{path}", process
    finally:
        process.kill()
        process.wait()


def ask(address, *words):
    """A command, and its answer as text."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(address.removeprefix("unix://"))
        s.settimeout(10)
        s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w.encode()), w.encode()) for w in words) +
            b"*1\r\n$4\r\nQUIT\r\n")
        text = b""
        while part := s.recv(65536):
            text += part
    return text.decode(errors="replace").removesuffix("+OK\r\n")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_a_server_keeps_what_a_folder_keeps(folder):
    prepare(folder)
    with server(folder) as (address, _):
        assert "from the cache)" not in batch(folder, "a", address)
        shutil.rmtree(os.path.join(folder, "a"))
        assert "6 done (6 from the cache)" in batch(folder, "b", address)
        keys = ask(address, "KEYS", "rubble:*").count("\nrubble:")
        batch(folder, "c", os.path.join(folder, "kept"))
        files = sum(len(names) for _, _, names in os.walk(os.path.join(folder, "kept")))
        assert keys == files > 20, (keys, files)
        one = next(l for l in ask(address, "KEYS", "rubble:c:*").split() if l.startswith("rubble:"))
        assert int(ask(address, "TTL", one).strip(":\r\n")) > 29 * 24 * 3600
        rubble(folder, "eval", "g.json", "--cache", address, "--checked", "--out", "d")


def test_addresses(folder):
    write(folder, "a.obj", CUBE)
    write(folder, "g.json", GRAPH)
    port = free_port()
    with server(folder, "--requirepass", "it's@me", port=port) as (address, _):
        secret = f"redis://:it's%40me@127.0.0.1:{port}/3?timeout=2000&value=1M&expire=60"
        rubble(folder, "eval", "g.json", "--cache", secret, "--out", "out")
        text = rubble(folder, "eval", "g.json", "--cache", secret, "--out", "out")
        assert "4 from the cache" in text and "note: the cache" not in text, text
        text = rubble(folder, "eval", "g.json", "--cache", f"redis://default:it's%40me@localhost:{port}/3", "--out", "out")
        assert "4 from the cache" in text and "note: the cache" not in text, text
        text = rubble(folder, "eval", "g.json", "--cache", address, "--out", "out")
        assert text.count("NOAUTH") == 1 and "0 from the cache" in text, text
        text = rubble(folder, "eval", "g.json", "--cache", f"redis://:wrong@127.0.0.1:{port}", "--out", "out")
        assert text.count("note: the cache") == 1 and "WRONGPASS" in text and "wrong@" not in text, text
        text = rubble(folder, "eval", "g.json", "--out", "out", "--cache", f"redis://:it's%40me@127.0.0.1:{port}/99")
        assert "DB index" in text, text
    for wrong in ("redis://", "redis://host:x", "redis://host:0", "redis://host:70000", "redis://host/x", "redis://user@host", "redis://%zz",
            "redis://%00", "redis://[::1", "redis://h?timeout=0", "redis://h?what=1", "redis://h?value=1T", "unix://relative", "rediss://h",
            "unix:///x?db=-1"):
        text = rubble(folder, "eval", "g.json", "--cache", wrong, "--out", "out", code=2)
        assert "an address is redis://" in text, (wrong, text)


def test_a_server_that_is_killed_while_a_batch_runs(folder):
    print(f"seed {SEED}")
    draw = random.Random(SEED)
    prepare(folder)
    for i in range(4):
        with server(folder) as (address, process):
            killer = threading.Timer(draw.random() * 0.3, process.kill)
            killer.start()
            text = batch(folder, f"out{i}", address)
            killer.join()
            assert "6 done" in text and text.count("note: the cache") <= 1, text


def test_a_server_that_is_not_there_is_told_once(folder):
    prepare(folder)
    text = batch(folder, "out", f"redis://127.0.0.1:{free_port()}")
    assert text.count("note: the cache redis://127.0.0.1:") == 1 and "connection refused" in text, text
    text = batch(folder, "out2", "unix:///nowhere/at all")
    assert text.count("note: the cache unix:///nowhere/at all") == 1, text
    text = batch(folder, "out3", "redis://no.such.host.invalid")
    assert text.count("note: the cache redis://no.such.host.invalid:6379/0") == 1, text


def test_a_full_server_still_reads(folder):
    prepare(folder)
    with server(folder) as (address, _):
        batch(folder, "a", address)
        ask(address, "CONFIG", "SET", "maxmemory-policy", "noeviction")
        ask(address, "CONFIG", "SET", "maxmemory", "1")
        assert "6 done (6 from the cache)" in batch(folder, "b", address)
        text = rubble(folder, "batch", "g.json", "--over", "seed=3..9", "--out", "c", "--cache", address, "--threads", "1")
        assert "7 done (3 from the cache)" in text and text.count("cannot be written") == 1 and "OOM" in text, text
        ask(address, "CONFIG", "SET", "maxmemory", "600kb")  # by the server itself, what was used longest ago
        ask(address, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        batch(folder, "d", address)


def test_large_values_are_left_out(folder):
    prepare(folder)
    with server(folder) as (address, _):
        assert "note" not in batch(folder, "a", address + "?value=1K")
        sizes = [int(ask(address, "STRLEN", k).strip(":\r\n")) for k in ask(address, "KEYS", "*").split() if k.startswith("rubble:")]
        assert sizes and max(sizes) <= 1024, sizes
        batch(folder, "b", address + "?value=10M&expire=0")
        key = next(k for k in ask(address, "KEYS", "rubble:c:*").split() if k.startswith("rubble:")
            and int(ask(address, "STRLEN", k).strip(":\r\n")) > 1024)
        assert ask(address, "TTL", key).strip() == ":-1"
        shutil.rmtree(os.path.join(folder, "b"))
        batch(folder, "c", address + "?value=1K&timeout=5000")  # a value that is larger than it can be


def damage(address, draw):
    """Every value changed: a bit, a cut, another key's value, another type."""
    keys = [k for k in ask(address, "KEYS", "rubble:*").split() if k.startswith("rubble:")]
    for key in keys:
        way = draw.randrange(5)
        if way == 0:
            ask(address, "SETBIT", key, str(draw.randrange(400)), str(draw.randrange(2)))
            ask(address, "SETBIT", key, str(draw.randrange(3000)), "1")
            ask(address, "SETBIT", key, str(draw.randrange(3000)), "0")
        elif way == 1:
            ask(address, "SETRANGE", key, str(draw.randrange(100)), "rubbish")
        elif way == 2:
            ask(address, "SET", key, "")
        elif way == 3:
            ask(address, "COPY", draw.choice(keys), key, "REPLACE")
        else:
            ask(address, "DEL", key)
            ask(address, "RPUSH", key, "a", "list")
    return len(keys)


def test_damaged_values_are_found(folder):
    print(f"seed {SEED}")
    draw = random.Random(SEED)
    prepare(folder)
    with server(folder) as (address, _):
        for i in range(3):
            batch(folder, f"a{i}", address)
            assert damage(address, draw) > 20
            text = batch(folder, f"b{i}", address)
            assert text.count("note: the cache") == 1, text


class Fake(threading.Thread):
    """A server that answers as `behave(connection, request bytes)` does."""

    def __init__(self, behave):
        super().__init__(daemon=True)
        self.listener, self.behave, self.requests = socket.socket(), behave, 0
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(50)
        self.address = f"redis://127.0.0.1:{self.listener.getsockname()[1]}?timeout=200"
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            while data := connection.recv(1 << 16):
                self.requests += 1
                self.behave(connection, data)


@contextlib.contextmanager
def fake(behave):
    one = Fake(behave)
    try:
        yield one
    finally:
        one.listener.close()


def trickle(connection, _):
    connection.sendall(b"$1000000\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


def hang_up(connection, _):
    connection.sendall(b"$100\r\nabc")
    connection.close()


def answers(connection, data, value):
    """To every command of a request; `value` to GET."""
    for word in re.findall(rb"\r\n(GET|EXPIRE|SET|DEL)\r\n", data):
        connection.sendall({b"GET": value, b"SET": b"+OK\r\n"}.get(word, b":1\r\n" if value[1:2] != b"-" else b":0\r\n"))


LIES = {
    "garbage": lambda c, d: c.sendall(os.urandom(200)),
    "wrong value": lambda c, d: answers(c, d, b"$5\r\nhello\r\n"),
    "empty value": lambda c, d: answers(c, d, b"$0\r\n\r\n"),
    "huge array": lambda c, d: c.sendall(b"*2000000000\r\n"),
    "nested arrays": lambda c, d: c.sendall(b"*1\r\n" * 2000),
    "huge value": lambda c, d: c.sendall(b"$99999999999999\r\nabc"),
    "negative": lambda c, d: c.sendall(b"$-7\r\n:1\r\n"),
    "numbers": lambda c, d: c.sendall(b":1\r\n:1\r\n"),
    "strings": lambda c, d: c.sendall(b"+yes\r\n+no\r\n"),
    "errors": lambda c, d: c.sendall(b"-ERR no\r\n-ERR no\r\n"),
    "long error": lambda c, d: c.sendall(b"-" + b"e" * 100000 + b"\r\n"),
    "too much": lambda c, d: c.sendall(b"$3\r\nabc\r\n:1\r\n" * 50),
    "nothing there": lambda c, d: answers(c, d, b"$-1\r\n"),
}


def test_liars(folder):
    prepare(folder)
    for name, behave in LIES.items():
        with fake(behave) as liar:
            text = batch(folder, "out " + name, liar.address)
            assert "6 done" in text and text.count("note: the cache") <= (name != "nothing there"), (name, text)
            assert liar.requests > 0


def test_slow_servers_are_left_alone(folder):
    prepare(folder)
    for behave in (lambda c, d: time.sleep(30), trickle, hang_up, lambda c, d: time.sleep(0.5)):
        with fake(behave) as slow:
            begin = time.monotonic()
            text = batch(folder, "out", slow.address)
            shutil.rmtree(os.path.join(folder, "out"))
            assert "6 done" in text and text.count("note: the cache") == 1, text
            # Each of two threads waits once; a second try comes a second later.
            assert slow.requests <= 8, slow.requests
            assert time.monotonic() - begin < 20


def test_a_server_that_never_accepts(folder):
    prepare(folder)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(0)
        held = []
        for _ in range(3):  # fills the queue
            one = socket.socket()
            one.setblocking(False)
            with contextlib.suppress(OSError):
                one.connect(s.getsockname())
            held.append(one)
        text = batch(folder, "out", f"redis://127.0.0.1:{s.getsockname()[1]}?timeout=100")
        assert text.count("note: the cache") == 1 and "no answer in time" in text, text
        for one in held:
            one.close()


def test_a_wait_can_be_interrupted(folder):
    prepare(folder)
    with fake(lambda c, d: time.sleep(30)) as slow:
        process = subprocess.Popen([RUBBLE, "batch", "g.json", "--cache", slow.address.replace("=200", "=60000")], cwd=folder,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 20
        while not slow.requests and time.monotonic() < end:
            time.sleep(0.01)
        begin = time.monotonic()
        process.terminate()
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130 and time.monotonic() - begin < 5, (out, err)


def test_two_batches_over_one_server(folder):
    prepare(folder)
    with server(folder) as (address, _):
        both = [subprocess.Popen([RUBBLE, "batch", "g.json", "--over", "seed=0..5", "--out", out, "--cache", address, "--threads", "2"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for out in ("a", "b")]
        for process, out in zip(both, ("a", "b")):
            text, _ = process.communicate(timeout=100)
            assert process.returncode == 0 and "note" not in text, text
            assert tree(os.path.join(folder, out)) == tree(os.path.join(folder, "good"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "g.json", {"rubble": 1, "nodes": {}})
        if "built" in subprocess.run([RUBBLE, "eval", "g.json", "--cache", "unix:///x"], cwd=folder, capture_output=True,
                text=True).stderr:
            print("skip all: built without hiredis")
            sys.exit(77)
    harness.main(globals())


if __name__ == "__main__":
    main()
