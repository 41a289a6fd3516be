#!/usr/bin/env python3
"""rubble fmt: nothing is lost, and formatting twice is formatting once. rubble migrate: old node versions.

  test_fmt.py RUBBLE [SEED]"""
import difflib
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUBBLE = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*', re.S)


def fmt(text, name="x.jsonc"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(text)
        done = subprocess.run([RUBBLE, "fmt", "--print", path], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr


def comments(text):
    return sorted(m.group().rstrip() for m in COMMENT.finditer(text) if m.group()[0] == "/")


def values(text):
    plain = COMMENT.sub(lambda m: m.group() if m.group()[0] == '"' else " ", text)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", plain), object_pairs_hook=list)


def space(rng, commented):
    text = rng.choice(["", " ", "\n", "\n\n\n", "\t ", "\r\n"])
    if commented and rng.random() < 0.15:
        text += rng.choice(["/* a */", "// b\n", "/* c\n   d */", "// \u00e4\u00f6 {[,:\n"]) + rng.choice(["", "\n", " "])
    return text


def make(rng, depth, commented):
    s = lambda: space(rng, commented)
    kind = rng.random()
    if depth == 0 or (kind < 0.7 and 1 < depth < 5):
        members = [s() + f'"k{i}{rng.choice(["", "//", "ö"])}"' + s() + ":" + s() + make(rng, depth + 1, commented) + s()
                   for i in range(rng.randrange(5))]
        last = "," if members and commented and rng.random() < 0.3 else ""
        return "{" + ",".join(members) + last + s() + "}"
    if kind < 0.85 and depth < 5:
        items = [s() + make(rng, depth + 1, commented) + s() for _ in range(rng.randrange(5))]
        return "[" + ",".join(items) + s() + "]"
    return rng.choice(["1", "-2.50e+3", "true", "null", '"a \\" // no /* comment */"', '"' + "x" * rng.randrange(100) + '"'])


def need(condition, message, *texts):
    if not condition:
        sys.exit("seed %d: %s\n%s" % (SEED, message, "\n-----\n".join(texts)))


OLD = """{
  "rubble": 1, "//": "SelectValue@1, s.value",
  "graphs": { "g": { "nodes": { "s": { "type": "SelectValue@1", "params": { "values": [1, 2] } } },
    "outputs": { "value": "s.value", "again": "s" } } },
  "nodes": {
    "s": { "type": "SelectValue@1", "params": {"which":1, "values": [3, 4] } },
    "t": { "type": "SelectValue", "params": { "numbers": [{ "from": "s.value" }], "texts": ["s.value"] } },
    "u": { "type": "graph:g" },
    "v": { "type": "SelectValue@2", "params": { "numbers": [{ "from": "u.value" }] } }
  }
}
"""
NEW = OLD.replace('"SelectValue@1"', '"SelectValue"').replace('"values"', '"numbers"').replace('"which"', '"index"') \
    .replace('"from": "s.value"', '"from": "s.number"').replace('{ "value": "s.value"', '{ "value": "s.number"')


def check_migrate():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "old.json")
        with open(path, "w") as file:
            file.write(OLD)
        done = subprocess.run([RUBBLE, "check", path], capture_output=True, text=True)
        need(done.returncode == 0 and done.stderr.count("warning: version 1 of SelectValue is old") == 2, done.stderr)
        need(subprocess.run([RUBBLE, "eval", path], capture_output=True).returncode == 0, "the old version does not run")
        done = subprocess.run([RUBBLE, "migrate", "--check", path], capture_output=True, text=True)
        need(done.returncode == 1 and open(path).read() == OLD, "migrate --check")
        need(subprocess.run([RUBBLE, "migrate", path], capture_output=True).returncode == 0, "migrate")
        need(open(path).read() == NEW, "not as expected", open(path).read())
        done = subprocess.run([RUBBLE, "check", path], capture_output=True, text=True)
        need(done.returncode == 0 and done.stderr == "", "after migrate", done.stderr)
        need(subprocess.run([RUBBLE, "migrate", "--check", path]).returncode == 0, "migrate --check, a second time")


def main():
    print("seed", SEED)
    check_migrate()
    rng = random.Random(SEED)
    for i in range(150):
        commented = i % 2 == 0
        text = space(rng, commented) + make(rng, 0, commented) + space(rng, commented)
        name = "x.jsonc" if commented else "x.json"
        code, once, errors = fmt(text, name)
        need(code == 0, "exit %d: %s" % (code, errors), text)
        need(values(once) == values(text), "other values", text, once)
        need(comments(once) == comments(text), "other comments: %s %s" % (comments(text), comments(once)))
        again = fmt(once, name)[1]
        need(again == once, "not the same a second time", *difflib.unified_diff(once.split("\n"), again.split("\n")))
        need(not any(line.endswith((" ", "\t")) for line in once.split("\n")) or "/*" in once, "space at an end", once)
    for path in sorted(glob.glob(os.path.join(ROOT, "graphs", "*.json"))):
        code = subprocess.run([RUBBLE, "fmt", "--check", path]).returncode
        need(code == 0, path + " is not in the canonical form: run rubble fmt")
    expected = """{
  // first
  "rubble": 1, // behind

  /* before */
  "nodes": {
    "a": { "type": "MakePrimitive", "params": { "size": [1, 2, 3] } }, // a box
    "b": {
      "type": "Terminal",
      // files
      "in": { "collection": "a" }
    }
    // last
  }
}
"""
    code, text, _ = fmt("""{ // first
"rubble":1 // behind
,

/* before */ "nodes":{"a":{"type":"MakePrimitive","params":{"size":[1,2,
3]}}, // a box
"b":{"type":"Terminal",
// files
"in":{"collection":"a",},}
// last
}}""")
    need(text.replace("{ // first\n", "{\n  // first\n") == expected, "not as expected", text)
    code, text, errors = fmt('{"rubble": 1,, }', "x.json")
    need(code == 2 and "x.json:1:14" in errors, "a broken file: exit %d, %s" % (code, errors))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "g.json")
        with open(path, "w") as file:
            file.write('{"rubble":1}')
        need(subprocess.run([RUBBLE, "fmt", "--check", path], capture_output=True).returncode == 1, "--check says it is fine")
        need(subprocess.run([RUBBLE, "fmt", path]).returncode == 0, "exit")
        need(open(path).read() == '{\n  "rubble": 1\n}\n', "not written")
        need(os.listdir(folder) == ["g.json"], "a file is left")


main()
