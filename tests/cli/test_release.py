#!/usr/bin/env python3
"""tools/release.sh makes the same bytes twice, and workflows of GitHub run only what is here

Exits with 77 outside of a clone.
"""
import glob
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def release(folder):
    subprocess.run(["sh", os.path.join(ROOT, "tools", "release.sh"), folder], check=True, stdout=subprocess.DEVNULL)
    return {name: open(os.path.join(folder, name), "rb").read() for name in sorted(os.listdir(folder))}


def check_release():
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        made = release(one)
        assert made == release(two), "two runs give different bytes"
        tarball = next(n for n in made if n.endswith(".tar.gz"))
        digest, name = made["SHA256SUMS"].decode().split()
        assert name == tarball and digest == hashlib.sha256(made[tarball]).hexdigest(), made["SHA256SUMS"]
        with tarfile.open(os.path.join(one, tarball)) as tar:
            names = tar.getnames()
        top = tarball.removesuffix(".tar.gz")
        assert all(n == top or n.startswith(top + "/") for n in names)
        assert {top + "/meson.build", top + "/LICENSE", top + "/include/rubble/rubble.h"} <= set(names)


def check_block(text, place, committed):
    """A block of shell: its syntax, and that the scripts it calls are in the repository."""
    plain = re.sub(r"\$\{\{.*?\}\}", "x", text)
    p = subprocess.run(["bash", "-n"], input=plain, capture_output=True, text=True)
    assert p.returncode == 0, f"{place}: {p.stderr}"
    for script in re.findall(r"(?:^|[\s;&|])(?:sh|bash|python3|node)\s+([\w.][\w./-]*)", plain):
        assert script in committed, f"{place}: {script} is not in the repository"
        if script.endswith(".sh") or script == ".ci/run":
            subprocess.run(["sh", "-n", os.path.join(ROOT, script)], check=True)


def check_workflows():
    try:
        import yaml
    except ImportError:
        print("skip workflows: python3-yaml is not installed")
        return
    committed = set(subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())
    files = sorted(glob.glob(os.path.join(ROOT, ".github", "workflows", "*.yml")))
    blocks = 0
    for path in files:
        with open(path) as f:
            workflow = yaml.safe_load(f)
        file = os.path.basename(path)
        # YAML takes the key "on" for true.
        assert {"name", True, "permissions", "jobs"} <= set(workflow), file
        for name, job in workflow["jobs"].items():
            assert {"runs-on", "timeout-minutes", "steps"} <= set(job), f"{file}: {name}"
            assert set([job["needs"]] if "needs" in job else []) <= set(workflow["jobs"]), f"{file}: {name}"
            for i, step in enumerate(job["steps"]):
                place = f"{file}: {name}, step {i + 1}"
                assert ("run" in step) != ("uses" in step), place
                assert set(step) <= {"name", "run", "uses", "with", "env", "if"}, place
                assert "uses" not in step or re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]), place
                if "run" in step:
                    check_block(step["run"], place, committed)
                    blocks += 1
    assert len(files) >= 3 and blocks >= 8, (len(files), blocks)


if not os.path.exists(os.path.join(ROOT, ".git")):
    print("not a clone")
    sys.exit(77)
check_release()
check_workflows()
