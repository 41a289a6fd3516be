#!/bin/sh
# Makes dist/rubble-VERSION.tar.gz of the committed sources, and dist/SHA256SUMS of it and of what tools/static.sh and
# tools/debian.sh put beside it. The same commit gives the same bytes.
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
git -c tar.umask=0022 archive --format=tar "--prefix=rubble-$version/" HEAD | gzip -n -9 >"$out/rubble-$version.tar.gz"
cd "$out"
rm -f SHA256SUMS
sums=$(sha256sum -- *)
echo "$sums" | tee SHA256SUMS
