#!/bin/sh
# Measures peers on rubble's own input in one run: the same mesh, sites and cells for all; CPU of the fracture alone.
#
#   tools/bench/peers.sh [BUILD [CSV]]     BUILD: a release build with the benchmarks (default: build); CSV: file (default: stdout)
#
# npm's manifold-3d (pinned), Debian's Blender (Cell Fracture add-on, exact booleans), voro++ for cells alone. Installs what is
# missing. About five minutes; PEERS_LONG=1 adds Blender on the large mesh, by 100 sites. docs/performance.md tells more.
set -e
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../packages.sh"
build=${1:-$here/../../build}
packages=blender
command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || packages="$packages nodejs npm"
# shellcheck disable=SC2086
need_packages $packages >&2
(cd "$here/peers" && npm ci --ignore-scripts --no-audit --no-fund --silent) >&2
exec python3 "$here/peers.py" "$build" ${2:+--csv "$2"} ${PEERS_LONG:+--long}
