#!/bin/sh
# Runs every test of the project and ends with one line, "N passed, N failed" (", N skipped"); exit 1 when one failed.
#
#   tools/test.sh            the fast stage: a build with -Werror, unit and property tests, layers, meshes, graphs, docs,
#                            cases and models of ../shared (or $RUBBLE_SHARED), formatting, generated files
#   RUBBLE_SLOW=1 tools/test.sh      after that the full stage: clang, sanitizers, fuzzers, models in 100 and 1,000 pieces
#   RUBBLE_NIGHTLY=1 tools/test.sh   after that the nightly stage: killed batches, long fuzzing, many assets
#   tools/test.sh --stage NAME       one of them alone: fast, full or nightly
#
# Installs missing packages on Debian. docs/testing.md tells more.
cd "$(dirname "$0")/.." || exit 1
. tools/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages $test_packages || {
    echo "0 passed, 1 failed"
    exit 1
}
exec python3 tools/run_tests.py "$@" </dev/null
