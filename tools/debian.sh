#!/bin/sh
# Builds Debian packages of the committed sources into dist/, and tries them; nothing is installed on this system.
#
#   tools/debian.sh [--test] [FOLDER]   default: dist/
#
# The build itself fetches nothing. What the page of `rubble view` is made of comes from npm before it, into a tarball of its
# own (rubble_VERSION.orig-viewer.tar.gz); without node and npm the packages have no page.
# --test: lintian finds no error, and the tests of debian/tests/ pass in a fresh system with these packages alone (a root folder
# by mmdebstrap; needs root).
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh
test=false
if [ "${1:-}" = --test ]; then
    test=true
    shift
fi
# shellcheck disable=SC2086
need_packages $build_packages $debian_packages libassimp-dev zlib1g-dev
mkdir -p "${1:-dist}"
out=$(cd "${1:-dist}" && pwd)
version=$(sed -n "s/^ *version: '\(.*\)',$/\1/p" meson.build | head -n 1)
work=$out/work # always the same: ccache, where it is, knows the files of an earlier build
rm -rf "$work"
mkdir "$work"
root=$work/root
end() {
    umount "$root/proc" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
tree=$work/rubble-$version
profiles=

git -c tar.umask=0022 archive --format=tar "--prefix=rubble-$version/" HEAD -- . ':!debian' | gzip -n -9 \
    >"$work/rubble_$version.orig.tar.gz"
git archive --format=tar "--prefix=rubble-$version/" HEAD | tar -C "$work" -xf -
if command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1; then
    mkdir "$tree/viewer"
    cp tools/view/package.json tools/view/package-lock.json "$tree/viewer/"
    (cd "$tree/viewer" && npm ci --ignore-scripts --no-audit --no-fund --silent)
    cp tools/view/package-lock.json "$tree/viewer/fetched-lock.json"
    tar --sort=name --owner=0 --group=0 --numeric-owner "--mtime=@$(git log -1 --format=%ct)" -C "$tree" -cf - viewer |
        gzip -n -9 >"$work/rubble_$version.orig-viewer.tar.gz"
    dpkg-query -W nodejs >/dev/null 2>&1 || profiles=-d # node is here, but not from Debian
else
    echo "note: without node and npm the packages have no page of rubble view" >&2
    profiles=--build-profiles=pkg.rubble.noviewer
fi

echo "Building packages …"
(cd "$tree" && DEB_BUILD_OPTIONS="nocheck parallel=$(nproc) ${DEB_BUILD_OPTIONS:-}" \
    dpkg-buildpackage -us -uc -b $profiles) >"$work/log" 2>&1 </dev/null || {
    tail -n 60 "$work/log" >&2
    exit 1
}
rm -f "$out"/*rubble*.deb "$out"/rubble_*.orig*.tar.gz
cp "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$work"/rubble_*.orig*.tar.gz "$out/"
(cd "$out" && ls -1 ./*rubble*.deb)
$test || exit 0

passed=0
failed=0
check() { # NAME COMMAND…
    name=$1
    shift
    if "$@" >"$work/log" 2>&1 </dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        tail -n 40 "$work/log"
    fi
}

check lintian lintian --fail-on error --tag-display-limit 0 --allow-root "$work"/*.changes
make_root() {
    . /etc/os-release
    mkdir "$work/packages"
    cp "$work"/*.deb "$work/packages/"
    rm -f "$work"/packages/*-dbgsym_*
    install="DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends"
    mmdebstrap --variant=apt --quiet --customize-hook="cp -r '$work/packages' \"\$1/packages\"" --customize-hook="chroot \"\$1\" sh -c \
        '$install /packages/*.deb g++ pkg-config'" "$VERSION_CODENAME" "$root" http://deb.debian.org/debian
}
if [ "$(id -u)" = 0 ]; then
    check "installation in a fresh system" make_root
    cp -r "$tree/debian/tests" "$root/tests"
    mount -t proc proc "$root/proc" || true # rubble finds rubble-render beside itself there
    for test in $(sed -n 's/^Tests: //p' debian/tests/control); do
        check "$test" chroot "$root" env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 sh "/tests/$test"
    done
else
    echo "skip installation: needs root"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
