#!/usr/bin/env python3
"""rubble farm without a farm: test_farm.py RUBBLE

sbatch and squeue are small programs of the test; run_slurm.py beside this has real ones. Each function test_… is a test; it
gets a folder of its own.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
import harness
from harness import Skip

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUBBLE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "rubble")
HOSTILE = "o $(touch pwned) `touch pwned` ;touch pwned; 'q' \"d\" \\ %A_%a #SBATCH\n#SBATCH --array=1-9\n&& touch pwned é"
CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {f}\n" for f in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"))
GRAPH = {
    "rubble": 1,
    "vars": {"seed": {"type": "seed", "default": 0}, "mesh": {"type": "path", "default": "a.obj"},
        "pieces": {"type": "int", "default": 8, "min": 2}},
    "nodes": {
        "src": {"type": "MeshToCollection", "params": {"file": {"var": "mesh"}}},
        "sites": {"type": "ScatterPoints", "in": {"collection": "src"},
            "params": {"count": {"var": "pieces"}, "seed": {"var": "seed"}}},
        "crack": {"type": "VoronoiFracture", "in": {"collection": "src", "points": "sites"}},
        "end": {"type": "Terminal", "in": {"collection": "crack"}, "params": {"files": ["piece.obj"]}},
    },
}


def write(folder, name, text, mode=0o666):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text if isinstance(text, str) else json.dumps(text))
    os.chmod(path, mode)
    return path


def environment(folder, **more):
    base = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH", "JOB_COMPLETION", "RUBBLE_CACHE"))}
    return dict(base, **{"PATH": os.path.join(folder, "bin") + os.pathsep + base["PATH"], **more})


def rubble(folder, *arguments, code=0, **more):
    p = subprocess.run([RUBBLE, *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
        errors="replace", env=environment(folder, **more))
    assert p.returncode == code, f"exit {p.returncode}, not {code}\n{p.stdout}{p.stderr}"
    return p.stdout + p.stderr


def prepare(folder, manifest="props.json", seeds=7):
    """A manifest of `seeds` assets, and programs that note how they are called instead of Slurm's."""
    write(folder, "a.obj", CUBE)
    write(folder, "g.json", GRAPH)
    write(folder, manifest, {"rubble_batch": 1, "jobs": [{"graph": "g.json", "over": {"seed": {"from": 1, "to": seeds}}}]})
    write(folder, "bin/sbatch", "#!/bin/sh\nn=$(cat $0.count 2>/dev/null || echo 41); n=$((n + 1)); echo $n >$0.count\n"
        "printf '%s\\n' \"$PWD\" \"$@\" >$0.call$n; echo $n\n", 0o777)
    write(folder, "bin/squeue", "#!/bin/sh\ncase \"$*\" in *--user*) ;; *) cat $0.jobs 2>/dev/null || exit 1;; esac\n", 0o777)
    write(folder, "bin/sacct", "#!/bin/sh\nexit 1\n", 0o777)


def task(folder, out, number, count, code=0):
    """Runs one task of the array as Slurm does."""
    p = subprocess.run(["sh", os.path.join(folder, out, "batch-farm", "array.sh")], capture_output=True, text=True,
        cwd=os.path.join(folder, out, "batch-farm"), timeout=120, env=environment(folder, SLURM_ARRAY_JOB_ID="42",
            SLURM_ARRAY_TASK_ID=str(number), SLURM_ARRAY_TASK_MIN="1", SLURM_ARRAY_TASK_COUNT=str(count)))
    assert p.returncode == code, (p.returncode, p.stdout, p.stderr)


def status(folder, out, code=0):
    return json.loads(rubble(folder, "farm", "status", out, "--json", code=code))


def test_slurm_submits_an_array_and_a_merge(folder):
    prepare(folder)
    text = rubble(folder, "farm", "slurm", "props.json", "--out", "out", "--chunks", "3", "--threads", "2", "--memory", "1G",
        "--time", "1:00:00", "--partition", "long", "--sbatch=--account=art")
    assert "submitted job 42: 7 assets in 3 chunks" in text and "submitted job 43" in text, text
    calls = [open(os.path.join(folder, f"bin/sbatch.call{n}")).read().splitlines() for n in (42, 43)]
    place = os.path.realpath(os.path.join(folder, "out/batch-farm"))
    assert calls == [[place, "--parsable", "array.sh"], [place, "--parsable", "--dependency=afterany:42", "merge.sh"]], calls
    script = open(os.path.join(folder, "out/batch-farm/array.sh")).read()
    for line in ("--array=1-3", "--requeue", "--cpus-per-task=2", "--mem=1024M", "--time=1:00:00", "--partition=long",
            "--account=art", "--job-name=rubble-props"):
        assert f"\n#SBATCH {line}\n" in script, script
    record = json.load(open(os.path.join(folder, "out/batch-farm/farm.json")))
    assert record["job"] == "42" and record["merge"] == "43" and record["assets"] == [f"g/{i}" for i in range(1, 8)]
    for number in (1, 2, 3):
        task(folder, "out", number, 3)
    p = subprocess.run(["sh", "merge.sh"], cwd=place, capture_output=True, text=True, env=environment(folder))
    assert p.returncode == 0 and "7 assets of 3 chunks" in p.stdout, p
    now = status(folder, "out")
    assert (now["assets"], now["done"], now["missing"]) == (7, 7, 0), now


def test_dry_run_prints_and_does_nothing(folder):
    prepare(folder)
    text = rubble(folder, "farm", "slurm", "props.json", "--dry-run")
    assert text.count("#!/bin/sh") == 2 and "--merge out" in text, text
    assert not os.path.exists(os.path.join(folder, "out")) and not os.path.exists(os.path.join(folder, "bin/sbatch.count"))


def test_names_are_never_run(folder):
    prepare(folder, HOSTILE + ".json")
    write(folder, HOSTILE + ".obj", CUBE)
    out = HOSTILE + "out"
    rubble(folder, "farm", "slurm", HOSTILE + ".json", "--out", out, "--chunks", "2")
    script = open(os.path.join(folder, out, "batch-farm/array.sh")).read()
    head = script[:script.index("\ncd --")]
    assert all(line.startswith("#") for line in head.splitlines()), head
    assert head.count("--array=") == 1, head
    for number in (1, 2):
        task(folder, out, number, 2)
    subprocess.run(["sh", "merge.sh"], cwd=os.path.join(folder, out, "batch-farm"), check=True, env=environment(folder))
    assert status(folder, out)["done"] == 7
    rubble(folder, "farm", "slurm", "g.json", "--over", f"mesh={json.dumps([HOSTILE + '.obj'])}", "--name", "x {mesh}",
        "--out", "two", "--chunks", "1")
    task(folder, "two", 1, 1)
    assert status(folder, "two")["done"] == 1
    for path, _, names in os.walk(folder):
        assert "pwned" not in names, path


def test_options_that_would_break_out_are_refused(folder):
    prepare(folder)
    for option in ("--time=1\n#SBATCH --uid=0", "--partition=a b", "--sbatch=--x=$(id)", "--sbatch=-x", "--sbatch=--a\n--b",
            "--threads=0", "--chunks=2000000", "--memory=1"):
        assert "error: --" in rubble(folder, "farm", "slurm", "props.json", option, code=2)
    assert not os.path.exists(os.path.join(folder, "bin/sbatch.count"))


def test_a_wrong_manifest_is_not_submitted(folder):
    prepare(folder)
    write(folder, "bad.json", '{"rubble_batch": 1, "jobs": [{"graph": "g.json", "over": {"sed": [1]}}]}')
    assert 'has no variable "sed"' in rubble(folder, "farm", "slurm", "bad.json", code=2)
    assert not os.path.exists(os.path.join(folder, "bin/sbatch.count"))


def test_what_sbatch_says_is_told(folder):
    prepare(folder)
    write(folder, "bin/sbatch", "#!/bin/sh\necho 'sbatch: error: invalid partition' >&2\nexit 1\n", 0o777)
    assert "invalid partition" in rubble(folder, "farm", "slurm", "props.json", code=3)
    os.remove(os.path.join(folder, "bin/sbatch"))
    assert "No such file" in rubble(folder, "farm", "slurm", "props.json", code=3, PATH=os.path.join(folder, "bin"))


def test_a_busy_folder_is_left_alone(folder):
    prepare(folder)
    rubble(folder, "farm", "slurm", "props.json", "--chunks", "2")
    write(folder, "bin/squeue.jobs", "42_1|RUNNING\n42_2|PENDING\n")
    assert "still at work" in rubble(folder, "farm", "slurm", "props.json", "--chunks", "2", code=3)
    os.remove(os.path.join(folder, "bin/squeue.jobs"))
    rubble(folder, "farm", "slurm", "props.json", "--chunks", "3")


def test_status_tells_what_is_missing(folder):
    prepare(folder, seeds=20)
    rubble(folder, "farm", "slurm", "props.json", "--chunks", "4")
    write(folder, "bin/squeue.jobs", "".join(f"42_{i}|PENDING\n" for i in (1, 2, 3, 4)))
    now = status(folder, "out")
    assert now["missing"] == 20 and {c["state"] for c in now["chunks"]} == {"waiting"}, now
    write(folder, "a.obj", "v 0 0 zero\n")
    task(folder, "out", 1, 4, code=1)
    write(folder, "a.obj", CUBE)
    task(folder, "out", 2, 4)
    # The third stops in the middle of a line; Slurm no longer knows any.
    task(folder, "out", 3, 4)
    journal = os.path.join(folder, "out/batch-3-of-4.jsonl")
    lines = open(journal).read().strip().splitlines()
    os.remove(os.path.join(folder, "out/batch-3-of-4.json"))
    with open(journal, "w") as f:
        f.write("\n".join(lines[:3]) + "\n" + lines[3][:20])
    os.remove(os.path.join(folder, "bin/squeue.jobs"))
    now = status(folder, "out", code=1)
    third, first = now["chunks"][2], now["chunks"][0]
    assert first["failed"] == first["assets"] > 0 and len(now["failures"]) == first["failed"]
    assert "a.obj:1" in now["failures"][0]["error"], now
    assert third["state"] == "stopped" and third["done"] == 1 and third["missing"] == third["assets"] - 1, third
    assert now["chunks"][3]["state"] == "not begun"
    assert now["done"] + now["failed"] + now["missing"] == 20, now
    text = rubble(folder, "farm", "status", "out", code=1)
    assert "20 assets: " in text and "chunk 3 of 4: stopped" in text and "failed: g/" in text, text
    # The same command again makes what is missing, and nothing twice.
    rubble(folder, "farm", "slurm", "props.json", "--chunks", "4")
    for number in (1, 2, 3, 4):
        task(folder, "out", number, 4)
    now = status(folder, "out")
    assert now["done"] == 20 and now["finished_before"] == sum(c["assets"] for c in now["chunks"][1:3]), now


def test_status_of_chunks_without_slurm(folder):
    prepare(folder)
    assert "no chunks" in rubble(folder, "farm", "status", ".", code=3)
    rubble(folder, "batch", "props.json", "--chunk", "1/2")
    now = status(folder, "out", code=1)
    assert now["chunks"][0]["state"] == "ended" and now["chunks"][1]["state"] == "not begun"
    rubble(folder, "batch", "props.json", "--chunk", "2/2")
    assert status(folder, "out")["done"] == 7
    rubble(folder, "batch", "props.json", "--chunk", "1/3")
    assert "remove those of an earlier batch" in rubble(folder, "farm", "status", "out", code=3)
    rubble(folder, "batch", "props.json", "--chunk", "1/1", "--out", "one")
    rubble(folder, "batch", "--merge", "one")
    assert status(folder, "one")["done"] == 7


def test_status_survives_any_journal(folder):
    write(folder, "out/batch-1-of-1.jsonl", '\x00\xff\n[]\n{"event": 3}\n{"event": "asset"}\n{"event": "asset", "name": 3}\n'
        '{"event": "begin", "assets": 1e300, "process": -4}\n{"event": "asset", "name": "x", "state": "done"}\n'
        '{"event": "begin"\n' + "[" * 5000)
    rubble(folder, "farm", "status", "out")
    write(folder, "out/batch-farm/farm.json", '{"chunks": 1e300, "job": "$(id)", "assets": {"a": [1]}}')
    rubble(folder, "farm", "status", "out")


# The parts of the API that the job uses (Kubernetes 1.32, batch/v1 and core/v1): key → type; a tuple has allowed words, a
# list the type of its items, a key with ! must be there.
POD = {"restartPolicy": ("Never", "OnFailure"), "containers!": [{"name!": str, "image": str, "command": [str], "args": [str],
    "workingDir": str, "env": [{"name!": str, "value": str}], "resources": {"requests": {"cpu": str, "memory": str},
        "limits": {"cpu": str, "memory": str}}, "volumeMounts": [{"name!": str, "mountPath!": str}]}],
    "volumes": [{"name!": str, "persistentVolumeClaim": {"claimName!": str}}]}
JOB = {"apiVersion!": ("batch/v1",), "kind!": ("Job",), "metadata!": {"name!": str, "labels": dict},
    "spec!": {"completionMode": ("Indexed", "NonIndexed"), "completions": int, "parallelism": int, "backoffLimitPerIndex": int,
        "maxFailedIndexes": int, "backoffLimit": int, "podFailurePolicy": {"rules!": [{"action!": ("Ignore", "FailIndex",
            "FailJob", "Count"), "onExitCodes": {"containerName": str, "operator!": ("In", "NotIn"), "values!": [int]},
            "onPodConditions": [{"type!": str, "status!": ("True", "False", "Unknown")}]}]},
        "template!": {"metadata": {"labels": dict}, "spec!": POD}}}


def fit(value, schema, place="job"):
    if isinstance(schema, tuple):
        assert value in schema, f"{place}: {value!r}"
    elif isinstance(schema, type):
        assert isinstance(value, schema) and not isinstance(value, bool), f"{place}: {value!r} is no {schema.__name__}"
    elif isinstance(schema, list):
        assert isinstance(value, list) and value, f"{place}: {value!r}"
        for i, one in enumerate(value):
            fit(one, schema[0], f"{place}[{i}]")
    else:
        known = {k.rstrip("!"): s for k, s in schema.items()}
        assert isinstance(value, dict), f"{place}: {value!r}"
        for key, one in value.items():
            assert key in known, f"{place}: unknown {key}"
            fit(one, known[key], f"{place}.{key}")
        for key in schema:
            assert not key.endswith("!") or key[:-1] in value, f"{place}: no {key[:-1]}"


def read_yaml(text):
    try:
        import yaml
    except ImportError:
        raise Skip("python3-yaml is not installed") from None
    return yaml.safe_load(text)


def kubernetes(folder, *arguments):
    return rubble(folder, "farm", "kubernetes", *arguments, "--image", "farm.example/rubble:1", "--claim", "props")


def test_kubernetes_prints_an_indexed_job(folder):
    prepare(folder)
    job = read_yaml(kubernetes(folder, "props.json", "--chunks", "4", "--threads", "2", "--memory", "3G", "--cache", "kept"))
    fit(job, JOB)
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    assert (spec["completions"], spec["parallelism"], job["metadata"]["name"]) == (4, 4, "rubble-props")
    container = pod["containers"][0]
    assert container["resources"]["limits"] == {"memory": "3072Mi"} and container["resources"]["requests"]["cpu"] == "2"
    assert container["volumeMounts"][0]["name"] == pod["volumes"][0]["name"]
    assert spec["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"] == sorted(
        set(spec["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"]))
    for index in range(4):  # what a pod does
        subprocess.run([RUBBLE, *container["command"][1:]], cwd=folder, check=True, capture_output=True,
            env=environment(folder, JOB_COMPLETION_INDEX=str(index)))
    rubble(folder, "batch", "--merge", "out")
    assert status(folder, "out")["done"] == 7
    rubble(folder, "farm", "kubernetes", "props.json", code=2)


def expand(text):
    """As Kubernetes reads words: $$ is $, $(NAME) a variable."""
    out, at = "", 0
    while at < len(text):
        if text[at] == "$" and text[at + 1:at + 2] == "$":
            out, at = out + "$", at + 2
        elif text[at] == "$" and text[at + 1:at + 2] == "(":
            out, at = out + "EXPANDED", text.index(")", at) + 1
        else:
            out, at = out + text[at], at + 1
    return out


def test_kubernetes_takes_names_as_they_are(folder):
    name = HOSTILE + "$(HOME) $$ : - [x] {y} \x01 \x7f \u2028 \U0001f9f1"
    prepare(folder, name + ".json")
    job = read_yaml(kubernetes(folder, name + ".json", "--out", "o: $(HOME)"))
    fit(job, JOB)
    command = [expand(word) for word in job["spec"]["template"]["spec"]["containers"][0]["command"]]
    assert command[-1] == name + ".json" and command[command.index("--out") + 1] == "o: $(HOME)", command
    prepare(folder)
    assert "is not UTF-8" in rubble(folder, "farm", "kubernetes", "props.json", "--image", "a", "--claim", "b", "--out",
        b"\xff\xc0\x80", code=2)


def test_kubectl_knows_every_field(folder):
    if not shutil.which("kubectl"):
        raise Skip("kubectl is not installed")
    prepare(folder)
    path = os.path.join(folder, "job.yaml")
    kubernetes(folder, "props.json", "--memory", "1G", "-o", path)
    p = subprocess.run(["kubectl", "label", "--local", "-f", path, "a=b", "-o", "json"], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    typed = json.loads(p.stdout)  # what kubectl's types do not have is gone

    def lacks(mine, theirs, place):
        if isinstance(mine, dict):
            for key, value in mine.items():
                assert key in theirs, f"{place}.{key} is unknown to kubectl"
                lacks(value, theirs[key], f"{place}.{key}")
        elif isinstance(mine, list):
            assert len(mine) == len(theirs), place
            for i, value in enumerate(mine):
                lacks(value, theirs[i], f"{place}[{i}]")
    with open(path) as f:
        lacks(read_yaml(f.read()), typed, "job")


if __name__ == "__main__":
    harness.main(globals())
