"""Runs checks, several at a time, and adds up what they count."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOBS = os.cpu_count() or 1
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
SKIPPED = 77
GIVE_WAY = ["nice", "-n", "5"]  # to programs that run meanwhile, which wait for browsers and have time limits


class Check:
    """What one check found. Its lines are printed together at its end, so checks may run at a time."""

    def __init__(self, report, name):
        self.report, self.name, self.lines = report, name, []
        self.passed = self.failed = 0
        self.start = time.monotonic()

    def say(self, text):
        self.lines.append("   " + text)

    def show(self, text, count=60):
        for line in text.strip().splitlines()[-count:]:
            self.say(line)

    def count(self, passed, failed):
        self.passed += passed
        self.failed += failed

    def one(self, good, text=""):
        """A check that is one test."""
        self.count(int(good), int(not good))
        if not good:
            self.show(text)

    def skip(self, name, why):
        """What needs root is skipped for others only: root must be able to do it."""
        if os.geteuid() == 0 and "needs root" in why:
            self.count(0, 1)
            self.say(f"FAIL {name}: {why}")
        elif self.report.note_skip(name):
            self.say(f"skip {name}: {why}")

    def end(self):
        self.report.add(self)


class Report:
    def __init__(self, only=(), verbose=False):
        self.only, self.verbose = set(only), verbose
        self.passed = self.failed = 0
        self.skipped, self.lock = [], threading.Lock()

    def wanted(self, name):
        return not self.only or name in self.only

    def note_skip(self, name):
        with self.lock:
            new = name not in self.skipped
            if new:
                self.skipped.append(name)
        return new

    def add(self, check):
        with self.lock:
            self.passed += check.passed
            self.failed += check.failed
            print(f"== {check.name}", *check.lines, f"   {check.passed} passed, {check.failed} failed"
                f" ({time.monotonic() - check.start:.0f} s)", sep="\n", flush=True)

    def finish(self):
        """Prints the closing lines. @return exit status"""
        if self.skipped:
            print("skipped: " + ", ".join(self.skipped))
        print(f"{self.passed} passed, {self.failed} failed" + (f", {len(self.skipped)} skipped" if self.skipped else ""))
        return 1 if self.failed else 0


def run(arguments, timeout, environment=None):
    """@return exit code, output; a program that cannot be started or does not end is a failure with a text"""
    try:
        p = subprocess.run(arguments, cwd=ROOT, env=dict(os.environ, **(environment or {})), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout)
        return p.returncode, p.stdout
    except subprocess.TimeoutExpired as e:
        text = e.stdout or b""
        return 1, (text if isinstance(text, str) else text.decode(errors="replace")) + f"\nno end after {timeout} s"
    except OSError as e:
        return 1, str(e)


def program(report, name, arguments, timeout=1800):
    """A program that counts for itself (its last line is `N passed, N failed`), or passes with exit code 0; 77: skipped."""
    check = Check(report, name)
    code, output = run(arguments, timeout)
    lines = output.strip().splitlines()
    summary = SUMMARY.match(lines[-1]) if lines else None
    if not summary:
        if code == SKIPPED:
            check.skip(name, lines[-1] if lines else "it says so")
        else:
            check.one(code == 0, output)
        check.end()
        return
    for line in lines[:-1]:
        word, _, rest = line.partition(" ")
        if word in ("skip", "skipped"):
            test, _, why = rest.partition(": ")
            check.skip(f"{name} {test}", why)
        elif report.verbose or word != "ok":
            check.say(line)
    passed, failed = int(summary.group(1)), int(summary.group(2))
    check.count(passed, failed + (1 if code and not failed else 0))
    check.end()


def programs(report, checks, values, timeout=3600):
    """Runs (name, command) pairs on all processors, the first ones first. {rubble}, {build}, {shared}, {jobs} in a command are
    values; without {shared}, what needs it is skipped."""

    def one(name, command):
        words = command.split()
        if not values["shared"] and any("{shared}" in w for w in words):
            check = Check(report, name)
            check.skip(name, "no data beside the project (RUBBLE_SHARED)")
            return check.end()
        words = [w.format(**values) for w in words]
        interpreter = {".py": [sys.executable], ".sh": ["sh"]}.get(os.path.splitext(words[0])[1], [])
        return program(report, name, interpreter + words, timeout)

    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(lambda c: one(*c), [c for c in checks if report.wanted(c[0])]))


def build(report, suite, folder, options, environment=None, pattern=None):
    """Builds everything, or the targets whose path the pattern matches. @return True when it is built"""
    check = Check(report, f"{suite}: build")
    path = os.path.join(ROOT, folder)
    code = 0
    if not os.path.exists(os.path.join(path, "build.ninja")):
        shutil.rmtree(path, ignore_errors=True)
        code, output = run(["meson", "setup", folder, "--werror", *options], 600, environment)
    if code == 0:
        targets = []
        if pattern:
            _, output = run(["ninja", "-C", folder, "-t", "targets", "all"], 600, environment)
            targets = re.findall(rf"^({pattern}): ", output, re.M)
        code, output = run([*GIVE_WAY, "ninja", "-k", "0", "-C", folder, *targets], 1800, environment)
    check.one(code == 0, "\n".join(l for l in output.splitlines() if not l.startswith("[") and "-fvisibility=" not in l))
    check.end()
    return code == 0


def count_cases(text):
    """Test cases that a cmocka program ran well, badly and not at all."""
    passed = sum(int(n) for n in re.findall(r"\[  PASSED  \] (\d+) test\(s\)", text))
    failed = sum(int(n) for n in re.findall(r"\[  FAILED  \] [^\n]*?(\d+) test\(s\)", text))
    return passed, failed, re.findall(r"\[  SKIPPED \] ([A-Za-z_]\w*)", text)


def unit_result(check, result):
    """Counts one line of meson's log."""
    text = result.get("stdout", "") + "\n" + result.get("stderr", "")
    good, bad, skipped = count_cases(text)
    last = (result.get("stdout", "").strip() or "the test says so").splitlines()[-1]
    for name in sorted(set(skipped)):
        check.skip(f"{result['name']} {name}", "needs root" if "needs root" in text else "the test says so")
    if result["result"] == "SKIP":
        check.skip(result["name"], last)
    elif result["result"] in ("OK", "EXPECTEDFAIL"):
        check.count(max(good, 1), 0)
    else:
        check.say(f"FAIL {result['name']}: {result['result']}")
        check.show(text, 30)
        check.count(good, max(bad, 1))


def unit_tests(report, suite, folder, choice=(), environment=None, slower=1):
    """The tests that meson knows, case by case; the choice is `--suite NAME` and `--no-suite NAME` of meson.
    One more than there are processors at a time, as some of them mostly wait."""
    check = Check(report, f"{suite}: tests")
    log = os.path.join(ROOT, folder, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.remove(log)
    code, output = run([*GIVE_WAY, "meson", "test", "-C", folder, "--no-rebuild", "--num-processes", str(JOBS + 1),
        "--timeout-multiplier", str(slower), *choice], 3600, environment)
    try:
        with open(log) as f:
            results = [json.loads(line) for line in f]
    except (OSError, ValueError):
        check.show(output)
        results = []
    for result in results:
        unit_result(check, result)
    if not results and "No suitable tests" not in output or code and not check.failed:
        check.one(False, output if not results else "")
    check.end()


def formatting(report):
    """Every C and C++ file as clang-format writes it; a test a file."""
    check = Check(report, "format")
    if not shutil.which("clang-format"):
        check.skip("format", "clang-format is not installed")
        return check.end()
    files = sorted(os.path.relpath(f, ROOT) for d in ("include", "engine", "examples", "nodes", "fracture", "tests", "tools")
        for e in ("c", "h", "cc", "cpp") for f in glob.glob(os.path.join(ROOT, d, "**", "*." + e), recursive=True)
        if "node_modules" not in f)
    with ThreadPoolExecutor(JOBS) as pool:
        parts = pool.map(lambda k: run(["clang-format", "--dry-run", *files[k::JOBS]], 600)[1], range(JOBS))
        bad = sorted({f for output in parts for f in re.findall(r"^(\S+?):\d+:\d+: ", output, re.M)})
    for f in bad:
        check.say(f"FAIL {f}: not as clang-format writes it")
    check.count(len(files) - len(bad), len(bad))
    return check.end()


def fuzzers(report, folder, seconds):
    """Each fuzzer for some seconds from its corpus, as many at a time as there are processors."""
    names = sorted(os.path.basename(p) for p in glob.glob(os.path.join(ROOT, folder, "tests", "fuzz", "fuzz_*"))
        if os.path.isfile(p) and os.access(p, os.X_OK))
    check = Check(report, f"fuzzers, {seconds} s each")

    def one(name):
        return name, run(["sh", "tools/fuzz.sh", "--build", folder, "--seconds", str(seconds), name.removeprefix("fuzz_")],
            seconds * 10 + 120)

    with ThreadPoolExecutor(JOBS) as pool:
        for name, (code, output) in pool.map(one, names):
            check.count(int(code == 0), int(code != 0))
            if code:
                check.say(f"FAIL {name}")
                check.show(output, 40)
    if not names:
        check.skip("fuzzers", "none is built")
    check.end()
