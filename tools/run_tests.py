#!/usr/bin/env python3
"""Runs the stages of tools/test.sh.

  run_tests.py [--stage NAME] [--only NAME,…] [--verbose]

The fast stage always; the full stage after it with RUBBLE_SLOW=1 or RUBBLE_NIGHTLY=1; the nightly stage last with RUBBLE_NIGHTLY=1
(each fuzzer RUBBLE_FUZZ_SECONDS, 300; of each format RUBBLE_MUTATIONS damaged files, 100000). With --stage that one alone.
The last line is `N passed, N failed` (and `, N skipped`). docs/testing.md tells what is in each stage and how to add to it.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from testing.runner import JOBS, ROOT, Report, build, formatting, fuzzers, programs, unit_tests

# Stage, name, command. A program ends with the line `N passed, N failed`, or passes with exit code 0; 77 is skipped. Those of a stage
# run at the same time, the longest should be first. {shared}: folder of data of tests beside the project.
# A test in a meson.build takes part in the same way: `suite: 'full'`; 'once': with gcc alone; 'no-tsan': not with the thread sanitizer.
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
# Line numbers are all that messages need of debug information; the rest takes a quarter of the time of compilers.
QUICK = ["--buildtype=debugoptimized", "-Dc_args=-g1", "-Dcpp_args=-g1"]
LINKER = {"CC_LD": "lld", "CXX_LD": "lld"} if shutil.which("ld.lld") else {}  # half the time of GNU ld
CLANG = {"CC": "clang", "CXX": "clang++", **LINKER}
# Checks that end the program at what they find are less code to compile than those that could go on, and they must end it anyway.
NO_RECOVERY = "-g1 -fno-sanitize-recover=all"
ADDRESS = ["--buildtype=debugoptimized", f"-Dc_args={NO_RECOVERY}", f"-Dcpp_args={NO_RECOVERY}", "-Db_lundef=false",
    "-Drender=disabled", "-Db_sanitize=address,undefined", "-Dfuzzers=true"]
THREAD = [*QUICK, "-Db_lundef=false", "-Drender=disabled", "-Db_sanitize=thread"]
NOT_LATER = ["--no-suite", "full"]


def run_checks(report, stage, values):
    programs(report, [c[1:] for c in CHECKS if c[0] == stage], values, LONGEST_S[stage])


def build_checked(report):
    """One folder for the warnings of clang, unit tests with checks of addresses and undefined behaviour, and fuzzers."""
    return build(report, "ASan and UBSan", "build-asan", ADDRESS, CLANG)


def fast_stage(report, built, values):
    if report.wanted("format"):
        formatting(report)
    if built and report.wanted("unit"):
        unit_tests(report, "unit", FOLDER, NOT_LATER)
    if built:
        run_checks(report, "fast", values)


def sanitizers(report):
    # Tests take their short form, that of models is yet shorter: what longer ones add is more of the same.
    brief = {"RUBBLE_SLOW": "0", "RUBBLE_NIGHTLY": "0", "RUBBLE_BRIEF": "1"}
    address = {"ASAN_OPTIONS": "detect_stack_use_after_return=1:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1", **brief}
    thread = {"TSAN_OPTIONS": "halt_on_error=1", **brief}
    choice = NOT_LATER + ["--no-suite", "once"]
    if report.wanted("clang"):  # warnings of what the others leave out
        build(report, "clang", "build-clang", QUICK, CLANG, r"\S*render\S*\.o")
    if (report.wanted("asan") or report.wanted("fuzzers")) and build_checked(report):
        if report.wanted("asan"):
            unit_tests(report, "ASan and UBSan", "build-asan", choice, address, 4)
        if report.wanted("fuzzers"):
            fuzzers(report, "build-asan", 15)
    if report.wanted("tsan") and build(report, "TSan", "build-tsan", THREAD, CLANG):
        unit_tests(report, "TSan", "build-tsan", choice + ["--no-suite", "no-tsan"], thread, 8)


def full_stage(report, built, values):
    def programs_of_stage():
        if built and report.wanted("unit"):
            unit_tests(report, "unit full", FOLDER, ["--suite", "full"])
        if built:
            run_checks(report, "full", values)

    # Programs wait now and then, for browsers and for Slurm; builds and unit tests give way to them.
    with ThreadPoolExecutor(2) as beside:
        for each in [beside.submit(programs_of_stage), beside.submit(sanitizers, report)]:
            each.result()


def nightly_stage(report, built, values):
    if report.wanted("clang") and build(report, "clang", "build-clang", QUICK, CLANG):
        unit_tests(report, "clang", "build-clang", NOT_LATER + ["--no-suite", "once"])
    if report.wanted("fuzzers") and build_checked(report):
        fuzzers(report, "build-asan", int(os.environ.get("RUBBLE_FUZZ_SECONDS") or 300))
    if built:
        run_checks(report, "nightly", values)


def install_late():
    """Installs what the full stage alone needs, while the fast one runs. What is missing then is a failure of its test."""
    return subprocess.Popen(["sh", "-c", ". tools/packages.sh; need_packages $full_packages"], cwd=ROOT, stdin=subprocess.DEVNULL)


def asked_for(name):
    return os.environ.get(name, "0") not in ("", "0")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", choices=("fast", "full", "nightly"), help="this stage alone")
    parser.add_argument("--only", default="", help="checks, by their names; unit, format, asan, tsan, fuzzers and clang, too")
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
    late = install_late() if slow else None
    built = build(report, "gcc", FOLDER, QUICK, LINKER)
    for stage in stages:
        if late and stage != "fast":
            late.wait()
        os.environ.update(RUBBLE_SLOW=str(int(slow)), RUBBLE_NIGHTLY=str(int(stage == "nightly")))
        {"fast": fast_stage, "full": full_stage, "nightly": nightly_stage}[stage](report, built, values)
        print(f"stage {stage}: {time.monotonic() - start:.0f} s", flush=True)
        start = time.monotonic()
    sys.exit(report.finish())


if __name__ == "__main__":
    main()
