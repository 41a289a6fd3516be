#!/bin/sh
# Runs fuzzers from their kept corpora (tests/fuzz/corpus/NAME); exit 1 when one found something.
#
#   tools/fuzz.sh --hours N [NAME…]      builds them into build-fuzz/ and runs all, or those named, N hours altogether
#   tools/fuzz.sh --seconds N [NAME…]    N seconds each
#   tools/fuzz.sh --minimize [NAME…]     keeps of the corpora and of what was found what reaches anything new
#
# --build FOLDER: what is built there. Crashes are kept in FOLDER/found/NAME/, new inputs in FOLDER/corpus/NAME/.
set -eu
cd "$(dirname "$0")/.."
build=
seconds=60
hours=
minimize=false
while [ $# -gt 0 ]; do
    case "$1" in
    --hours) hours=$2 && shift 2 ;;
    --seconds) seconds=$2 && shift 2 ;;
    --build) build=$2 && shift 2 ;;
    --minimize) minimize=true && shift ;;
    -*) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || set -- $(sed -n "s/^    '\(.*\)',$/\1/p" tests/fuzz/meson.build)
if [ -z "$build" ]; then
    build=build-fuzz
    [ -e $build/build.ninja ] || CC=clang CXX=clang++ meson setup $build --buildtype=debugoptimized -Drender=disabled \
        -Db_lundef=false -Dfuzzers=true -Db_sanitize=address,undefined
    ninja -C $build $(printf 'tests/fuzz/fuzz_%s ' "$@")
fi
[ -z "$hours" ] || seconds=$(awk "BEGIN { print int($hours * 3600 / $#) }")
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1" ASAN_OPTIONS="detect_stack_use_after_return=1"
case "$build" in /*) ;; *) build=$PWD/$build ;; esac # some targets go to a folder of their own
status=0
for name in "$@"; do
    corpus=$PWD/tests/fuzz/corpus/$name
    work=$build/corpus/$name
    found=$build/found/$name
    program=$build/tests/fuzz/fuzz_$name
    mkdir -p "$corpus" "$work" "$found"
    set -- -timeout=20 -rss_limit_mb=3000 -max_len=100000 "-artifact_prefix=$found/"
    [ ! -e "tests/fuzz/$name.dict" ] || set -- "$@" "-dict=tests/fuzz/$name.dict"
    if $minimize; then
        rm -rf "$corpus.new"
        mkdir "$corpus.new"
        "$program" -merge=1 "$@" "$corpus.new" "$corpus" "$work" && rm -rf "$corpus" && mv "$corpus.new" "$corpus"
    else
        "$program" "-max_total_time=$seconds" -print_final_stats=0 "$@" "$work" "$corpus" || status=1
    fi
done
exit $status
