#!/usr/bin/env python3
"""Runs the suites of tools/test.sh and adds up what they count.

  run_tests.py [--only SUITE,…] [--verbose]      RUBBLE_SLOW=1 adds the full stage; RUBBLE_SHARED: data of tests

A suite is a program whose last line is `N passed, N failed` (and `, N skipped`); its `FAIL` and `skip` lines are shown. The
last line of all is the sum.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
JOBS = os.cpu_count() or 1
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")


class Report:
    def __init__(self, only, verbose):
        self.only, self.verbose = only, verbose
        self.passed = self.failed = 0
        self.skipped = []

    def wanted(self, suite):
        return not self.only or suite in self.only

    def begin(self, suite):
        print(f"== {suite}", flush=True)
        return time.monotonic()

    def end(self, start, passed, failed):
        self.passed += passed
        self.failed += failed
        print(f"   {passed} passed, {failed} failed ({time.monotonic() - start:.0f} s)", flush=True)

    def skip(self, name, why):
        if name in self.skipped:
            return
        self.skipped.append(name)
        print(f"   skip {name}: {why}", flush=True)


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


def indent(text, count=60):
    for line in text.strip().splitlines()[-count:]:
        print("   " + line)


# Suites


def counted(report, suite, arguments, timeout=1800, environment=None):
    """A program that counts for itself."""
    if not report.wanted(suite):
        return
    start = report.begin(suite)
    code, output = run(arguments, timeout, environment)
    lines = output.strip().splitlines()
    summary = SUMMARY.match(lines[-1]) if lines else None
    for line in lines[:-1] if summary else []:
        if line.startswith("skip "):
            name, _, why = line[5:].partition(": ")
            report.skip(f"{suite} {name}", why)
        elif report.verbose or not line.startswith("ok "):
            print("   " + line)
    if not summary:
        indent(output)
        report.end(start, 0, 1)
        return
    passed, failed = int(summary.group(1)), int(summary.group(2))
    report.end(start, passed, failed + (1 if code and not failed else 0))


def single(report, suite, arguments, timeout=600):
    """A program that passes with exit code 0."""
    if not report.wanted(suite):
        return
    start = report.begin(suite)
    code, output = run(arguments, timeout)
    if code:
        indent(output)
    report.end(start, int(code == 0), int(code != 0))


def build(report, suite, folder, options, environment=None, pattern=None):
    """Builds everything, or the programs whose path the pattern matches. @return True when it is built"""
    start = report.begin(f"{suite}: build")
    path = os.path.join(ROOT, folder)
    if not os.path.exists(os.path.join(path, "build.ninja")):
        shutil.rmtree(path, ignore_errors=True)
        code, output = run(["meson", "setup", folder, "--werror", *options], 600, environment)
        if code:
            indent(output)
            report.end(start, 0, 1)
            return False
    targets = []
    if pattern:
        _, output = run(["ninja", "-C", folder, "-t", "targets", "all"], 600, environment)
        targets = re.findall(rf"^({pattern}): \S*_LINKER\b", output, re.M)
    code, output = run(["ninja", "-k", "0", "-C", folder, *targets], 1800, environment)
    if code:
        indent("\n".join(l for l in output.splitlines() if not l.startswith("[") and "-fvisibility=" not in l))
    report.end(start, int(code == 0), int(code != 0))
    return code == 0


def count_cases(text):
    """Test cases that a cmocka program ran well and badly."""
    passed = sum(int(n) for n in re.findall(r"\[  PASSED  \] (\d+) test\(s\)", text))
    failed = sum(int(n) for n in re.findall(r"\[  FAILED  \] [^\n]*?(\d+) test\(s\)", text))
    skipped = re.findall(r"\[  SKIPPED \] ([A-Za-z_]\w*)", text)
    return passed, failed, skipped


def unit_tests(report, suite, folder, environment=None, slower=1):
    """All tests that meson knows, case by case."""
    start = report.begin(f"{suite}: tests")
    log = os.path.join(ROOT, folder, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.remove(log)
    code, output = run(["meson", "test", "-C", folder, "--no-rebuild", "--num-processes", str(JOBS),
        "--timeout-multiplier", str(slower)], 3600, environment)
    passed = failed = 0
    try:
        with open(log) as f:
            results = [json.loads(line) for line in f]
    except (OSError, ValueError):
        indent(output)
        results = []
    for r in results:
        text = r.get("stdout", "") + "\n" + r.get("stderr", "")
        good, bad, skipped = count_cases(text)
        for name in sorted(set(skipped)):
            report.skip(f"{r['name']} {name}", "the test says so")
        if r["result"] == "SKIP":
            report.skip(r["name"], "the test says so")
        elif r["result"] in ("OK", "EXPECTEDFAIL"):
            passed += max(good, 1)
        else:
            print(f"   FAIL {r['name']}: {r['result']}")
            indent(text, 30)
            passed += good
            failed += max(bad, 1)
    if not results or code and not failed:
        failed += 1
    report.end(start, passed, failed)


def data_suites(report, rubble, shared, counts):
    """Cases and models that are kept beside the project and not committed."""
    tools = os.path.join(shared, "tools") if shared else ""
    models = "models" if counts is None else "models in 1000"
    if counts is None and not report.wanted("cases"):
        pass
    elif shared and os.path.isfile(os.path.join(tools, "run_cases.py")) and os.path.isdir(os.path.join(shared, "cases")):
        if counts is None:
            counted(report, "cases", [sys.executable, os.path.join(tools, "run_cases.py"), rubble,
                os.path.join(shared, "cases"), "--jobs", str(JOBS)])
    elif counts is None:
        report.skip("cases", "no cases beside the project (RUBBLE_SHARED)")
    if not report.wanted(models):
        return
    if shared and os.path.isfile(os.path.join(tools, "check_pieces.py")) and os.path.isdir(os.path.join(shared, "models")):
        counted(report, models, [sys.executable, "tools/check_models.py", rubble, shared, "--jobs", str(JOBS)]
            + ([] if counts is None else ["--counts", counts]), 3600)
    else:
        report.skip(models, "no models beside the project (RUBBLE_SHARED)")


def formatting(report):
    """Every C and C++ file as clang-format writes it; a test a file."""
    if not report.wanted("format"):
        return
    if not shutil.which("clang-format"):
        report.skip("format", "clang-format is not installed")
        return
    start = report.begin("format")
    files = sorted(os.path.relpath(f, ROOT) for d in ("include", "engine", "examples", "nodes", "fracture", "tests", "tools")
        for e in ("c", "h", "cc", "cpp") for f in glob.glob(os.path.join(ROOT, d, "**", "*." + e), recursive=True))
    _, output = run(["clang-format", "--dry-run", *files], 600)
    bad = sorted(set(re.findall(r"^(\S+?):\d+:\d+: ", output, re.M)))
    for f in bad:
        print(f"   FAIL {f}: not as clang-format writes it")
    report.end(start, len(files) - len(bad), len(bad))


def script(report, suite, path, *arguments):
    """A checking program of the project that passes with exit code 0."""
    if not report.wanted(suite):
        return
    interpreter = sys.executable if path.endswith(".py") else "sh"
    if os.path.exists(os.path.join(ROOT, path)):
        single(report, suite, [interpreter, path, *arguments])
    else:
        report.skip(suite, f"{path} does not exist")


def fuzzers(report, folder, seconds):
    programs = sorted(p for p in glob.glob(os.path.join(ROOT, folder, "**", "fuzz_*"), recursive=True)
        if os.path.isfile(p) and os.access(p, os.X_OK) and not p.endswith((".p", ".o")))
    start = report.begin(f"fuzzers, {seconds} s each")
    passed = failed = 0
    for program in programs:
        name = os.path.basename(program)
        corpus = os.path.join(ROOT, "tests", "fuzz", "corpus", name.removeprefix("fuzz_"))
        work = os.path.join(ROOT, folder, "corpus-" + name)
        os.makedirs(work, exist_ok=True)
        code, output = run([program, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=3000", "-print_final_stats=0",
            f"-artifact_prefix={work}/", work] + ([corpus] if os.path.isdir(corpus) else []), seconds * 10 + 120)
        if code:
            print(f"   FAIL {name}")
            indent(output, 40)
        passed, failed = passed + (code == 0), failed + (code != 0)
    if not programs:
        report.skip("fuzzers", "none is built")
    report.end(start, passed, failed)


# Stages


def fast_stage(report, shared):
    folder = "build-test"
    rubble = os.path.join(ROOT, folder, "rubble")
    built = build(report, "gcc", folder, ["--buildtype=debugoptimized"])
    if built and report.wanted("unit"):
        unit_tests(report, "unit", folder)
    script(report, "layers", "tools/check_layers.py")
    counted(report, "meshes", [sys.executable, "tests/graphs/test_meshes.py"])
    if built and os.path.exists(os.path.join(ROOT, folder, "tools", "cli", "rubble")) and not os.path.exists(rubble):
        rubble = os.path.join(ROOT, folder, "tools", "cli", "rubble")
    if built:
        counted(report, "graphs", [sys.executable, "tests/graphs/run_graphs.py", rubble])
        counted(report, "pictures", [sys.executable, "tests/cli/run_render.py", rubble])
        counted(report, "docs", [sys.executable, "tests/docs/run_docs.py", rubble])
        data_suites(report, rubble, shared, None)
        if report.wanted("generated"):
            script(report, "generated", "tools/regen.sh", "--check", folder)
    formatting(report)
    return rubble if built else None


def full_stage(report, rubble, shared):
    clang = {"CC": "clang", "CXX": "clang++"}
    # Instrumented tests take the short form: what the slow one adds is more of the same.
    address = {"ASAN_OPTIONS": "detect_stack_use_after_return=1", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "RUBBLE_SLOW": "0"}
    thread = {"TSAN_OPTIONS": "halt_on_error=1", "RUBBLE_SLOW": "0"}
    if report.wanted("clang") and build(report, "clang", "build-clang", ["--buildtype=debugoptimized"], clang):
        unit_tests(report, "clang", "build-clang")
    sanitize = ["--buildtype=debugoptimized", "-Drender=disabled", "-Db_lundef=false"]
    if report.wanted("asan") and build(report, "ASan and UBSan", "build-asan",
            [*sanitize, "-Db_sanitize=address,undefined"], clang):  # gcc warns of what its own checks insert
        unit_tests(report, "ASan and UBSan", "build-asan", address, 4)
    if report.wanted("tsan") and build(report, "TSan", "build-tsan", [*sanitize, "-Db_sanitize=thread"], clang):
        unit_tests(report, "TSan", "build-tsan", thread, 8)
    if report.wanted("fuzzers") and build(report, "fuzzers", "build-fuzz", [*sanitize, "-Dfuzzers=true",
            "-Db_sanitize=address,undefined"], clang, r"\S*/fuzz_\w+"):
        fuzzers(report, "build-fuzz", 20)
    if rubble:
        counted(report, "viewer", [sys.executable, "tests/view/run_view.py", rubble])
        counted(report, "loaders", [sys.executable, "tests/foreign/run_loaders.py", rubble])
        counted(report, "blender", [sys.executable, "tests/foreign/run_blender.py", rubble])
        data_suites(report, rubble, shared, "1000")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="suites, by the names after ==")
    parser.add_argument("--verbose", action="store_true", help="show what passed, too")
    a = parser.parse_args()
    report = Report(set(filter(None, a.only.split(","))), a.verbose)
    shared = os.environ.get("RUBBLE_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
    shared = os.path.abspath(shared) if os.path.isdir(shared) else ""
    start = time.monotonic()
    rubble = fast_stage(report, shared)
    print(f"stage fast: {time.monotonic() - start:.0f} s", flush=True)
    if os.environ.get("RUBBLE_SLOW", "0") not in ("", "0"):
        start = time.monotonic()
        full_stage(report, rubble, shared)
        print(f"stage full: {time.monotonic() - start:.0f} s", flush=True)
    if report.skipped:
        print("skipped: " + ", ".join(report.skipped))
    print(f"{report.passed} passed, {report.failed} failed" + (f", {len(report.skipped)} skipped" if report.skipped else ""))
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
