#!/usr/bin/env python3
"""Checks schema/graph.schema.json with ajv: every graph in graphs/ must be valid, broken ones must not.

  check_schema.py RUBBLE [WORK]

Takes the schema from `rubble schema`. Installs ajv from npm into a temporary folder (or WORK, which is kept). Says
SKIP and exits with 77 when node, npm or the registry is missing."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = """
const Ajv = require("ajv/dist/2020"), fs = require("fs");
const ajv = new Ajv({strict: false, allErrors: true, validateSchema: true});
const check = ajv.compile(JSON.parse(fs.readFileSync(process.argv[2], "utf8")));
const out = JSON.parse(fs.readFileSync(0, "utf8")).map(g => ({valid: check(g), at: (check.errors || []).map(e => e.instancePath + " " + e.message)}));
console.log(JSON.stringify(out));
"""
# What is wrong, and where an error must be.
BROKEN = [
    ({"rubble": 1}, ""),
    ({"rubble": 2, "nodes": {"a": {"type": "MakePrimitive"}}}, "/rubble"),
    ({"rubble": 1, "nodes": {}}, "/nodes"),
    ({"rubble": 1, "nodes": {"1a": {"type": "MakePrimitive"}}}, "/nodes"),
    ({"rubble": 1, "nodes": {"a": {"type": "MakePrimitve"}}}, "/nodes/a/type"),
    ({"rubble": 1, "nodes": {"a": {"type": "MakePrimitive", "parms": {}}}}, "/nodes/a"),
    ({"rubble": 1, "nodes": {"a": {"type": "MakePrimitive", "params": {"shpae": "box"}}}}, "/nodes/a/params"),
    ({"rubble": 1, "nodes": {"a": {"type": "MakePrimitive", "params": {"shape": "bxo"}}}}, "/nodes/a/params/shape"),
    ({"rubble": 1, "nodes": {"a": {"type": "MakePrimitive", "params": {"size": [1, 1]}}}}, "/nodes/a/params/size"),
    ({"rubble": 1, "nodes": {"a": {"type": "MakePrimitive", "params": {"segments": 1}}}}, "/nodes/a/params/segments"),
    ({"rubble": 1, "nodes": {"a": {"type": "MakePrimitive", "params": {"segments": 3.5}}}}, "/nodes/a/params/segments"),
    ({"rubble": 1, "nodes": {"a": {"type": "MeshToCollection"}}}, "/nodes/a"),
    ({"rubble": 1, "nodes": {"a": {"type": "SliceCutter", "in": {"collektion": "b"}}}}, "/nodes/a/in"),
    ({"rubble": 1, "nodes": {"a": {"type": "SliceCutter", "in": {"collection": 3}}}}, "/nodes/a/in/collection"),
    ({"rubble": 1, "vars": {"n": {"type": "integer"}}, "nodes": {"a": {"type": "MakePrimitive"}}}, "/vars/n/type"),
    ({"rubble": 1, "nodes": {"a": {"type": "MakePrimitive", "params": {"segments": {"vra": "n"}}}}},
     "/nodes/a/params/segments"),
    ({"rubble": 1, "graphs": {"g": {"nodes": {"a": {"type": "MakePrimitive"}}}}}, "/graphs/g"),
    ({"rubble": 1, "graphs": {"g": {"inputs": {"c": {"type": "colection"}}, "nodes": {"a": {"type": "MakePrimitive"}},
      "outputs": {"c": "a"}}}}, "/graphs/g/inputs/c/type"),
    ({"rubble": 1, "graphs": {"g": {"nodes": {"a": {"type": "Nothing"}}, "outputs": {"c": "a"}}}},
     "/graphs/g/nodes/a/type"),
    ({"rubble": 1, "nodes": {"a": {"type": "graph:lib.json"}}}, "/nodes/a/type"),
    ({"rubble": 1, "nodes": {"a": {"type": "graph:"}}}, "/nodes/a/type"),
    ({"rubble": 1, "graphs": {"g": {"nodes": {"inputs": {"type": "MakePrimitive"}}, "outputs": {"c": "inputs"}}}},
     "/graphs/g/nodes"),
    ({"rubble": 1, "graphs": {"g": {"inputs": {"c": {"type": "points", "default": 1}}, "nodes": {"a": {"type":
      "MakePrimitive"}}, "outputs": {"c": "a"}}}}, "/graphs/g/inputs/c/default"),
    ({"rubble": 1, "vars": {"n": {"type": "int", "default": "3"}}, "nodes": {"a": {"type": "MakePrimitive"}}},
     "/vars/n/default"),
    ({"rubble": 1, "vars": {"n": {"type": "vec3", "default": [1, 2]}}, "nodes": {"a": {"type": "MakePrimitive"}}},
     "/vars/n/default"),
    ({"rubble": 1, "vars": {"n": {"type": "string", "min": 3}}, "nodes": {"a": {"type": "MakePrimitive"}}},
     "/vars/n/min"),
    ({"rubble": 1, "vars": {"n": {"type": "enum", "default": "a"}}, "nodes": {"a": {"type": "MakePrimitive"}}},
     "/vars/n"),
    ({"rubble": 1, "nodes": {"a": {"type": "Terminal", "in": {"collection": "b"}, "params": {"files": ["x/a.obj"]}}}},
     "/nodes/a/params/files/0"),
    ({"rubble": 1, "nodes": {"a": {"type": "Terminal", "in": {"collection": "b"}, "params": {"files": ["a.fbx"]}}}},
     "/nodes/a/params/files/0"),
    ({"rubble": 1, "nodes": {"a": {"type": "Terminal", "in": {"collection": "b"}, "params":
      {"files": ["a.obj", "a.obj"]}}}}, "/nodes/a/params/files"),
]
# Valid, though no graph in graphs/ is like this.
VALID = [
    {"rubble": 1, "nodes": {"a": {"type": "graph:other.json#b", "in": {"x": "c.y"}, "params": {"n": {"var": "z"}}}}},
    {"rubble": 1, "//": "x", "nodes": {"//": "x", "a": {"//": "x", "type": "MakePrimitive@1",
     "params": {"//": "x", "size": [1, {"var": "n"}, 1]}}}},
    {"rubble": 1, "vars": {"//": "x", "n": {"type": "int3", "default": [1, 2, 3]}}, "graphs": {"//": "x", "g": {
     "inputs": {"//": "x", "v": {"type": "vec3", "default": [1, 2, 3.5], "min": 0}, "p": {"type": "path",
     "default": "a.obj"}}, "nodes": {"a": {"type": "MakePrimitive", "params": {"size": {"from": "inputs.v"}}}},
     "outputs": {"//": "x", "c": "a"}}},
     "nodes": {"a": {"type": "Table", "in": {"collection": "b"}, "params": {"file": ""}}}},
]


def skip(why):
    print("SKIP schema test:", why)
    sys.exit(77)


def main():
    rubble = os.path.abspath(sys.argv[1])
    work = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="rubble-ajv-")
    try:
        if not shutil.which("node") or not shutil.which("npm"):
            skip("node and npm are not here")
        if not os.path.isdir(os.path.join(work, "node_modules", "ajv")):
            command = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--fetch-retries=0",
                       "--fetch-timeout=20000", "--prefix", work, "ajv@8"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            except subprocess.TimeoutExpired:
                skip("npm does not answer")
            if done.returncode != 0:
                skip("npm cannot install ajv: " + done.stderr.strip()[-200:])
        schema = os.path.join(work, "graph.schema.json")
        with open(schema, "w") as file:
            file.write(subprocess.run([rubble, "schema"], check=True, capture_output=True, text=True).stdout)
        script = os.path.join(work, "check.js")
        with open(script, "w") as file:
            file.write(SCRIPT)
        paths = sorted(glob.glob(os.path.join(ROOT, "graphs", "*.json")))
        documents = [json.load(open(p)) for p in paths] + VALID + [b[0] for b in BROKEN]
        done = subprocess.run(["node", script, schema], input=json.dumps(documents), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr[-2000:])
        answers = json.loads(done.stdout)
        failed = 0
        names = [os.path.basename(p) for p in paths] + ["valid %d" % i for i in range(len(VALID))]
        for name, answer in zip(names, answers):
            if not answer["valid"]:
                print("FAIL", name, "is not valid:", "; ".join(answer["at"][:5]))
                failed += 1
        for (document, where), answer in zip(BROKEN, answers[len(names):]):
            if answer["valid"] or not any(a.split(" ")[0] == where for a in answer["at"]):
                print("FAIL", json.dumps(document), "has no error at", where or "/", "but", answer["at"][:5])
                failed += 1
        print("%d graphs, %d broken ones, %d failed" % (len(names), len(BROKEN), failed))
        sys.exit(1 if failed else 0)
    finally:
        if len(sys.argv) <= 2:
            shutil.rmtree(work, ignore_errors=True)


main()
