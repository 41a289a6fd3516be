"""What the tests of the command and the farm share: running it, small meshes and graphs, running functions test_…"""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUBBLE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "rubble")


class Skip(Exception):
    """A test that cannot be made here."""


class Result:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    def expect(self, code, *texts):
        assert self.code == code, f"exit {self.code}, not {code}\n{self.out}{self.err}"
        for text in texts:
            assert text in self.out + self.err, f"{text!r} is missing in\n{self.out}{self.err}"
        return self

    def lacks(self, *texts):
        for text in texts:
            assert text not in self.out + self.err, f"{text!r} is in\n{self.out}{self.err}"
        return self


def rubble(folder, *arguments, env=None):
    return Result(subprocess.run([RUBBLE, *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
        env=dict(os.environ, **(env or {}))))


def write_text(folder, name, text):
    with open(os.path.join(folder, name), "w") as f:
        f.write(text)


def boxes(*sizes_and_places):
    """An OBJ of boxes, each an object with its own name: (name, low, high)."""
    text, base = "", 0
    for name, low, high in sizes_and_places:
        text += f"o {name}\n"
        for x in (low[0], high[0]):
            for y in (low[1], high[1]):
                for z in (low[2], high[2]):
                    text += f"v {x} {y} {z}\n"
        for face in ((1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)):
            text += "f " + " ".join(str(base + i) for i in face) + "\n"
        base += 8
    return text


def make_rbl(folder, name, nodes, last):
    """Runs nodes and writes what `last` gives as out/NAME.rbl, hulls only where a node made them."""
    nodes = dict(nodes, end={"type": "Terminal", "in": {"collection": last},
        "params": {"files": [name + ".rbl"], "hulls_if_missing": False}})
    write_text(folder, name + ".json", json.dumps({"rubble": 1, "nodes": nodes}))
    rubble(folder, "eval", name + ".json").expect(0)
    return os.path.join("out", name + ".rbl")


def main(functions):
    """Runs every test_… with a folder of its own; those whose name holds all words that follow the command's path, if any."""
    failed = skipped = 0
    tests = [(n, f) for n, f in functions.items() if n.startswith("test_") and all(w in n for w in sys.argv[2:])]
    for name, function in tests:
        with tempfile.TemporaryDirectory(prefix="rubble-test-") as folder:
            try:
                function(folder)
                print(f"ok {name}")
            except Skip as reason:
                skipped += 1
                print(f"skip {name}: {reason}")
            except Exception as error:  # one failure must not hide the others
                failed += 1
                print(f"FAIL {name}: {type(error).__name__}: {error}")
        sys.stdout.flush()
    print(f"{len(tests) - failed - skipped} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed else 0)
