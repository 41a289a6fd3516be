#!/bin/sh
# Makes dist/rubble-VERSION-linux-MACHINE.tar.gz: the command as one file that needs nothing of the system but its kernel,
# with man page, completions, documents, graphs and the licences of what is in it. The same commit gives the same bytes on
# the same Debian.
#
#   tools/static.sh [--test] [FOLDER]   default: dist/
#
# --test: runs it where nothing else is (as root: in a root folder of its own), and makes it twice: both must be the same bytes.
# Left out are what has no static form: `rubble render` (Embree), FBX, DAE and 3MF (assimp), caches on Redis servers (names of
# machines are looked up by plugins of the system's C library). Debian has no static cJSON and meshoptimizer: both are
# built from its source packages. The page of `rubble view` is in it when node and npm are there.
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages $static_packages
test=false
if [ "${1:-}" = --test ]; then
    test=true
    shift
fi
mkdir -p "${1:-dist}"
out=$(cd "${1:-dist}" && pwd)
version=$(sed -n "s/^ *version: '\(.*\)',$/\1/p" meson.build | head -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y meson.build)}
export SOURCE_DATE_EPOCH
export LC_ALL=C TZ=UTC
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=rubble-$version-linux-$(uname -m)

# Sources of Debian packages, by an apt of their own: the system's lists stay as they are.
sources() {
    . /etc/os-release
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/src"
    for suite in "$VERSION_CODENAME" "$VERSION_CODENAME-updates"; do
        echo "deb-src http://deb.debian.org/debian $suite main"
    done >"$work/apt/sources.list"
    cat >"$work/apt/conf" <<EOF
Dir::Etc::sourcelist "$work/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$work/apt/lists";
Dir::Cache "$work/apt/cache";
APT::Sandbox::User "root";
EOF
    APT_CONFIG=$work/apt/conf apt-get update -q >"$work/log" 2>&1 &&
        (cd "$work/src" && APT_CONFIG=$work/apt/conf apt-get source -q "$@" >>"$work/log" 2>&1) || {
        tail -n 20 "$work/log" >&2
        echo "error: apt-get has no sources of $*" >&2
        exit 1
    }
}

# LIBRARY FILE…: compiles the files of a library
archive() {
    library=$1
    shift
    for file in "$@"; do
        case "$file" in
        *.c) compiler=cc ;;
        *) compiler="c++ -std=c++11" ;;
        esac
        $compiler -O2 -ffp-contract=off "-ffile-prefix-map=$work=." -c "$file" -o "$work/lib/$library-$(basename "$file").o"
    done
    ar rcsD "$work/lib/lib$library.a" "$work/lib/$library"-*.o
}

mkdir -p "$work/lib/pkgconfig" "$work/include/cjson"
sources cjson meshoptimizer
archive cjson "$work"/src/cjson-*/cJSON.c
archive meshoptimizer "$work"/src/meshoptimizer-*/src/*.cpp
cp "$work"/src/cjson-*/cJSON.h "$work/include/cjson/"
cat >"$work/lib/pkgconfig/libcjson.pc" <<EOF
Name: libcjson
Description: JSON
Version: $(sed -n 's/^#define CJSON_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$work/include/cjson/cJSON.h" | paste -s -d .)
Libs: -L$work/lib -lcjson
Cflags: -I$work/include
EOF

viewer=auto
if command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1; then
    viewer=enabled
else
    echo "note: without node and npm there is no page of rubble view in it" >&2
fi
export "LIBRARY_PATH=$work/lib" "PKG_CONFIG_PATH=$work/lib/pkgconfig"
meson setup "$work/build" --buildtype=release --prefix=/ --mandir=share/man \
    -Dstatic=true -Dtests=false -Drender=disabled -Dimport=disabled -Dredis=disabled -Dmeshopt=enabled -Dviewer=$viewer \
    >"$work/log" || {
    cat "$work/log" >&2
    exit 1
}
# Warnings of the linker: functions that look up users and machines need the system's library. None is called.
ninja -C "$work/build" >"$work/log" 2>&1 || {
    tail -n 40 "$work/log" >&2
    exit 1
}
root=$work/$name
DESTDIR=$root meson install -C "$work/build" --no-rebuild >"$work/log"
strip --strip-all --remove-section=.comment "$root/bin/rubble"
if ldd "$root/bin/rubble" >/dev/null 2>&1; then
    echo "error: the command is not static" >&2
    exit 1
fi

# What is in it, and its licences.
licences=$root/share/doc/rubble/licences
mkdir -p "$licences"
for package in libc6 libstdc++6 libgcc-s1 libuv1 libxxhash0 libzstd1 libgmp10 voro++-dev libpng16-16 zlib1g; do
    cp -L "/usr/share/doc/$package/copyright" "$licences/$package" ||
        dpkg -s "$package" >/dev/null 2>&1 || exit 1
done
cp "$work"/src/cjson-*/debian/copyright "$licences/cjson"
cp "$work"/src/meshoptimizer-*/debian/copyright "$licences/meshoptimizer"
cat >"$licences/README" <<EOF
bin/rubble $version has these libraries of Debian inside, besides rubble itself (LICENSE):
$(dpkg-query -W -f '  ${Package} ${Version}\n' libc6 libstdc++6 libgcc-s1 libuv1 libxxhash0 libzstd1 libgmp10 libpng16-16 zlib1g)
  voro++ $(dpkg-query -W -f '${Version}' voro++-dev)
$(cd "$work/src" && for f in *.dsc; do echo "  ${f%.dsc}" | tr _ ' '; done)
The GNU C library and GMP are under the LGPL: rubble's sources (rubble-$version.tar.gz) and tools/static.sh in them link the
command anew with other versions of them. The page share/rubble/view.html, where it is, names three.js and Rapier and has
their licences in itself.
EOF
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w "--mtime=@$SOURCE_DATE_EPOCH" -C "$work" \
    -cf - "$name" | gzip -n -9 >"$work/$name.tar.gz"
cp "$work/$name.tar.gz" "$out/"
(cd "$out" && sha256sum "$name.tar.gz")
$test || exit 0

mkdir "$root/tmp"
if [ "$(id -u)" = 0 ]; then
    here=
    chroot=$(command -v chroot)
    in_place() { env -i "$chroot" "$root" "$@"; }
else
    here=$root
    in_place() { env -i "$root$@"; }
fi
in_place /bin/rubble eval "$here/share/rubble/graphs/vase.json" --set pieces=12 --out "$here/tmp/out"
test -s "$root/tmp/out/vase.glb"
in_place /bin/rubble inspect "$here/tmp/out/vase.rbl" >/dev/null
[ $viewer = auto ] || in_place /bin/rubble view "$here/tmp/out/vase.rbl" -o "$here/tmp/vase.html"
sh tools/static.sh "$work/again" >/dev/null
cmp "$work/$name.tar.gz" "$work/again/$name.tar.gz"
