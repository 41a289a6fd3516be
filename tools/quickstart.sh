#!/bin/sh
# From a fresh clone to a broken vase: installs what is missing (Debian 12, as root or with sudo), builds into build/,
# fractures graphs/vase.json and draws the pieces. Run it again at will: what is there is kept.
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh

# shellcheck disable=SC2086
need_packages $build_packages

if [ ! -f build/build.ninja ]; then
    if pkg-config --exists cmocka; then tests=true; else tests=false; fi
    echo "Configuring build/ …"
    meson setup build --buildtype=release -Dtests=$tests >build.log 2>&1 || {
        cat build.log >&2
        exit 1
    }
    mv build.log build/quickstart.log
fi
echo "Building …"
ninja -C build rubble rubble-render >build/ninja.log 2>&1 </dev/null || {
    tail -n 40 build/ninja.log >&2
    exit 1
}

build/rubble eval graphs/vase.json --out out </dev/null
build/rubble render out/vase.rbl -o out/vase.png --explode 0.25 </dev/null >/dev/null

echo
echo "Files:"
for file in out/vase.*; do
    echo "  $file"
done
echo "Picture: $(pwd)/out/vase.png"
