#!/bin/sh
# Makes dist/rubble-VERSION.tar.gz of the committed sources, and dist/SHA256SUMS. The same commit gives the same bytes.
#
#   tools/release.sh [FOLDER]   default: dist/
set -eu
cd "$(dirname "$0")/.."
out=${1:-dist}
version=$(sed -n "s/^ *version: '\(.*\)',$/\1/p" meson.build | head -n 1)
[ -n "$version" ] || {
    echo "error: meson.build has no version" >&2
    exit 1
}
mkdir -p "$out"
name=rubble-$version.tar.gz
git -c tar.umask=0022 archive --format=tar "--prefix=rubble-$version/" HEAD | gzip -n -9 >"$out/$name"
(cd "$out" && sha256sum "$name" >SHA256SUMS)
cat "$out/SHA256SUMS"
