#!/bin/sh
# Compares two revisions on this machine, side by side: builds both in temporary worktrees and runs their benchmarks in turn.
#
#   tools/bench/compare.sh REV_A REV_B ["BENCH OPTION…"…]      default: "cut --triangles 300000 --pieces 1000" "cells --pieces 10000"
#
# ROUNDS (default 5) times A B A B …; for each row the medians of CPU time, their ratio B / A, the least and the most of the
# ratios of one round, and whether the results are the same bytes. A revision must have tools/bench/bench.h.
set -e
if [ $# -lt 2 ]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
revision_a=$1
revision_b=$2
shift 2
[ $# -gt 0 ] || set -- "cut --triangles 300000 --pieces 1000" "cells --pieces 10000"

folder=$(mktemp -d "${TMPDIR:-/tmp}/rubble-compare-XXXXXX")
finish() {
    git -C "$root" worktree remove --force "$folder/a" 2>/dev/null || true
    git -C "$root" worktree remove --force "$folder/b" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM

build() { # build NAME REVISION BENCH…: into $folder/NAME/build
    name=$1
    revision=$2
    shift 2
    git -C "$root" worktree add -q --detach "$folder/$name" "$revision"
    if [ ! -f "$folder/$name/tools/bench/bench.h" ]; then
        echo "error: $revision has no tools/bench/bench.h, its benchmarks cannot be compared" >&2
        exit 1
    fi
    targets=
    for bench in "$@"; do
        targets="$targets tools/bench/bench_${bench%% *}"
    done
    # shellcheck disable=SC2086
    (cd "$folder/$name" && meson setup build --buildtype=release -Dtests=false -Drender=disabled &&
        ninja -C build -j "$(nproc)" $targets) >"$folder/$name.log" 2>&1 || {
        tail -n 20 "$folder/$name.log" >&2
        exit 1
    }
}
build a "$revision_a" "$@"
build b "$revision_b" "$@"
python3 "$root/tools/bench/compare.py" "$folder/a/build" "$folder/b/build" --rounds "${ROUNDS:-5}" "$@"
