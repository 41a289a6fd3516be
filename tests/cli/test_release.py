#!/usr/bin/env python3
"""tools/release.sh makes the same bytes twice, and workflows of GitHub run only what is here: test_release.py

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


def check_workflows():
    files = glob.glob(os.path.join(ROOT, ".github", "workflows", "*.yml"))
    assert files
    for path in files:
        with open(path) as f:
            text = f.read()
        assert "\t" not in text, path
        runs = re.findall(r"^ *run: (.*)$", text, re.M)
        assert runs and all(r.strip() not in ("|", ">") for r in runs), path
        for script in re.findall(r"\bsh (\S+)", " ".join(runs)):
            assert os.path.isfile(os.path.join(ROOT, script)), f"{path}: {script}"
            subprocess.run(["sh", "-n", os.path.join(ROOT, script)], check=True)


if not os.path.exists(os.path.join(ROOT, ".git")):
    print("not a clone")
    sys.exit(77)
check_release()
check_workflows()
