#!/bin/sh
# Runs all benchmarks, keeps their CSV in tools/bench/results/ and puts their tables into docs/performance.md.
#
#   tools/bench/record.sh [BUILD [NAME…]]      BUILD: a release build (default: build); NAME: files of results/ to renew
#
# About half an hour on a machine that does nothing else; RUNS (default 3) times each. Every file begins with the machine, the revision and the load.
set -e
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- peers targets cut coplanar cells io edit hulls proximity clusters cutters engine cache graph nodes
results=$here/results
runs=${RUNS:-3}
mkdir -p "$results"
for name in "$@"; do
    echo "$name" >&2
    out=$results/$name.csv
    new=$out.new
    case $name in
    peers) sh "$here/peers.sh" "$build" "$new" ;;
    targets)
        if [ -f "$results/peers.csv" ]; then
            python3 "$here/targets.py" "$build" --csv "$new" --peers "$results/peers.csv"
        else
            python3 "$here/targets.py" "$build" --csv "$new"
        fi
        ;;
    cut) "$build/tools/bench/bench_cut" --grid 1 --runs "$runs" >"$new" ;;
    coplanar) "$build/tools/bench/bench_cut" --coplanar 1 --runs "$runs" >"$new" ;;
    edit) "$build/tools/bench/bench_edit" --threads 0 --runs "$runs" >"$new" ;;
    graph) python3 "$here/bench_graph.py" "$build" --triangles 1000,20000,300000,1000000,3000000 --pieces 1000 --runs "$runs" >"$new" ;;
    nodes) python3 "$here/bench_graph.py" "$build" --nodes --triangles 300000 --pieces 1000 --runs "$runs" >"$new" ;;
    *) "$build/tools/bench/bench_$name" --runs "$runs" >"$new" ;;
    esac
    mv "$new" "$out"
done
python3 "$here/report.py"
