#!/usr/bin/env python3
"""Runs the stages of tools/test.sh.

  run_tests.py [--stage NAME] [--only NAME,…] [--verbose]

The fast stage always; the full stage after it with RUBBLE_SLOW=1 or RUBBLE_NIGHTLY=1; the nightly stage last with RUBBLE_NIGHTLY=1
(each fuzzer RUBBLE_FUZZ_SECONDS, 300; of each format RUBBLE_MUTATIONS damaged files, 100000). With --stage that one alone.
The last line is `N passed, N failed` (and `, N skipped`). docs/testing.md tells what is in each stage and how to add to it.
"""
import argparse
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from testing.runner import JOBS, ROOT, Report, build, formatting, fuzzers, programs, unit_tests

# Stage, name, command. A program ends with the line `N passed, N failed`, or passes with exit code 0; 77 is skipped. Those of a stage
# run at the same time, the longest should be first. {shared}: folder of data of tests beside the project.
# A test in a meson.build takes part in the same way: `suite: 'full'`; 'once': with gcc alone.
CHECKS = (
    ("fast", "models", "tools/check_models.py {rubble} {shared} --counts 20 --jobs {jobs}"),
    ("fast", "docs", "tests/docs/run_docs.py {rubble}"),
    ("fast", "graphs", "tests/graphs/run_graphs.py {rubble}"),
    ("fast", "cases", "{shared}/tools/run_cases.py {rubble} {shared}/cases --jobs {jobs}"),
    ("fast", "meshes", "tests/graphs/test_meshes.py"),
    ("fast", "pictures", "tests/cli/run_render.py {rubble}"),
    ("fast", "generated", "tools/regen.sh --check {build}"),
    ("fast", "release", "tests/cli/test_release.py"),
    ("fast", "layers", "tools/check_layers.py"),
    ("full", "models in many", "tools/check_models.py {rubble} {shared} --counts 100,1000 --jobs {jobs}"),
    ("full", "viewer", "tests/view/run_view.py {rubble}"),
    ("full", "loaders", "tests/foreign/run_loaders.py {rubble}"),
    ("full", "slurm", "tests/farm/run_slurm.py {rubble}"),
    ("full", "faults", "tests/farm/test_faults.py {rubble}"),
    ("full", "tutorial", "tests/foreign/run_tutorial.py {rubble}"),
    ("full", "blender", "tests/foreign/run_blender.py {rubble}"),
    ("nightly", "damaged files", "{build}/tests/fuzz/mutate tests/fuzz/corpus {mutations}"),
    ("nightly", "blender on every graph", "tests/foreign/run_blender.py {rubble} --all"),
    ("nightly", "killed batches", "tests/cli/test_batch.py {rubble} killed"),
    ("nightly", "more faults", "tests/farm/test_faults.py {rubble}"),
    ("nightly", "debian packages", "tools/debian.sh --test build-debian"),
    ("nightly", "static command", "tools/static.sh --test build-static"),
    ("nightly", "many assets", "tools/bench/many_assets.py {rubble} --check 4"),
)
LONGEST_S = {"fast": 600, "full": 1800, "nightly": 4 * 3600}
FOLDER = "build-test"
CLANG = {"CC": "clang", "CXX": "clang++"}
SANITIZE = ["--buildtype=debugoptimized", "-Drender=disabled", "-Db_lundef=false"]
NOT_LATER = ["--no-suite", "full"]


def run_checks(report, stage, values):
    programs(report, [c[1:] for c in CHECKS if c[0] == stage], values, LONGEST_S[stage])


def build_fuzzers(report):
    return build(report, "fuzzers", "build-fuzz", [*SANITIZE, "-Dfuzzers=true", "-Db_sanitize=address,undefined"], CLANG,
        r"\S*/fuzz_\w+")


def fast_stage(report, built, values):
    if report.wanted("format"):
        formatting(report)
    if built and report.wanted("unit"):
        unit_tests(report, "unit", FOLDER, NOT_LATER)
    if built:
        run_checks(report, "fast", values)


def full_stage(report, built, values):
    # Other builds take the short form of tests: what the slow one adds is more of the same.
    short = {"RUBBLE_SLOW": "0", "RUBBLE_NIGHTLY": "0"}
    address = {"ASAN_OPTIONS": "detect_stack_use_after_return=1:allocator_may_return_null=1", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1", **short}
    thread = {"TSAN_OPTIONS": "halt_on_error=1", **short}
    choice = NOT_LATER + ["--no-suite", "once"]
    if built and report.wanted("unit"):
        unit_tests(report, "unit full", FOLDER, ["--suite", "full"])
    if report.wanted("clang") and build(report, "clang", "build-clang", ["--buildtype=debugoptimized"], CLANG):
        unit_tests(report, "clang", "build-clang", choice, short)
    if report.wanted("asan") and build(report, "ASan and UBSan", "build-asan",
            [*SANITIZE, "-Db_sanitize=address,undefined"], CLANG):  # gcc warns of what its own checks insert
        unit_tests(report, "ASan and UBSan", "build-asan", choice, address, 4)
    if report.wanted("tsan") and build(report, "TSan", "build-tsan", [*SANITIZE, "-Db_sanitize=thread"], CLANG):
        unit_tests(report, "TSan", "build-tsan", choice, thread, 8)
    if report.wanted("fuzzers") and build_fuzzers(report):
        fuzzers(report, "build-fuzz", 15)
    if built:
        run_checks(report, "full", values)


def nightly_stage(report, built, values):
    if report.wanted("fuzzers") and build_fuzzers(report):
        fuzzers(report, "build-fuzz", int(os.environ.get("RUBBLE_FUZZ_SECONDS") or 300))
    if built:
        run_checks(report, "nightly", values)


def asked_for(name):
    return os.environ.get(name, "0") not in ("", "0")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", choices=("fast", "full", "nightly"), help="this stage alone")
    parser.add_argument("--only", default="", help="checks, by their names; unit, format, clang, asan, tsan and fuzzers, too")
    parser.add_argument("--verbose", action="store_true", help="show what passed, too")
    a = parser.parse_args()
    report = Report(filter(None, a.only.split(",")), a.verbose)
    shared = os.environ.get("RUBBLE_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
    values = {"rubble": os.path.join(ROOT, FOLDER, "rubble"), "build": FOLDER, "jobs": JOBS,
        "mutations": os.environ.get("RUBBLE_MUTATIONS") or 100000,
        "shared": os.path.abspath(shared) if os.path.isdir(os.path.join(shared, "models")) else ""}
    if values["shared"]:
        os.environ["RUBBLE_SHARED"] = values["shared"]
    nightly = a.stage == "nightly" or not a.stage and asked_for("RUBBLE_NIGHTLY")
    slow = nightly or a.stage == "full" or not a.stage and asked_for("RUBBLE_SLOW")
    stages = [a.stage] if a.stage else ["fast"] + ["full"] * slow + ["nightly"] * nightly
    start = time.monotonic()
    built = build(report, "gcc", FOLDER, ["--buildtype=debugoptimized"])
    for stage in stages:
        os.environ.update(RUBBLE_SLOW=str(int(slow)), RUBBLE_NIGHTLY=str(int(stage == "nightly")))
        {"fast": fast_stage, "full": full_stage, "nightly": nightly_stage}[stage](report, built, values)
        print(f"stage {stage}: {time.monotonic() - start:.0f} s", flush=True)
        start = time.monotonic()
    sys.exit(report.finish())


if __name__ == "__main__":
    main()
