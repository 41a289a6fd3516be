#!/bin/sh
# Writes what is generated: schema/ and docs/nodes/ from the registry of node types, tools/abi/rubble.abi from the library
# and its headers.
#
#   tools/regen.sh [BUILD]           with the command of that build folder (default: build)
#   tools/regen.sh --check [BUILD]   writes nothing; exit 1 when something is stale
set -eu
cd "$(dirname "$0")/.."
check=false
if [ "${1:-}" = "--check" ]; then
    check=true
    shift
fi
rubble=${1:-build}/rubble
if [ ! -x "$rubble" ]; then
    echo "error: $rubble is not built" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/schema" "$work/nodes"
"$rubble" schema >"$work/schema/graph.schema.json"
"$rubble" schema --nodes >"$work/schema/nodes.json"
python3 tools/make_node_docs.py "$work/schema/nodes.json" "$work/nodes"
if $check; then
    stale=0
    diff -r -q "$work/schema" schema || stale=1
    diff -r -q "$work/nodes" docs/nodes || stale=1
    if [ $stale = 1 ]; then
        echo "error: schema/ or docs/nodes/ is stale: run tools/regen.sh" >&2
        exit 1
    fi
    exit 0
fi
mkdir -p schema docs/nodes
rm -f docs/nodes/*.md
cp "$work"/schema/*.json schema/
cp "$work"/nodes/*.md docs/nodes/
if [ -e "${rubble%/*}/librubble.so" ]; then
    python3 tools/abi/abi.py --write "${rubble%/*}/librubble.so"
fi
