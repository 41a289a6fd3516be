# Sourced by quickstart.sh, test.sh, static.sh and debian.sh: need_packages NAME… installs the Debian packages that are not there yet.

build_packages="gcc g++ meson ninja-build pkg-config python3 voro++-dev libqhull-dev libcjson-dev libuv1-dev libgmp-dev
libxxhash-dev libzstd-dev libembree-dev libpng-dev libhiredis-dev libmeshoptimizer-dev"
test_packages="libcmocka-dev clang clang-format libclang-rt-14-dev lld llvm python3-yaml libassimp-dev zlib1g-dev redis-tools"

# For the page of `rubble view` and its tests, wherever they came from.
command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || test_packages="$test_packages nodejs npm"

# Programs that the full stage hands our files to, installed while the fast one runs. What is not there and cannot be installed is
# a failure of its test.
full_packages="blender godot3-server munge python3-numpy slurm-client slurmctld slurmd"
command -v chromium >/dev/null 2>&1 || full_packages="$full_packages chromium"

# For tools/static.sh and tools/debian.sh.
static_packages="dpkg-dev ca-certificates"
debian_packages="debhelper dh-python dpkg-dev fakeroot lintian mmdebstrap"

need_packages() {
    if ! command -v dpkg-query >/dev/null 2>&1; then
        echo "note: not a Debian system; please see to it that these are installed: $*" >&2
        return 0
    fi
    missing=
    for package in "$@"; do
        case "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" in
        *" installed") ;;
        *) missing="$missing $package" ;;
        esac
    done
    if [ -z "$missing" ]; then
        return 0
    fi
    as_root=
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "error: these packages are missing, and neither root nor sudo is there to install them:$missing" >&2
            return 1
        fi
        as_root=sudo
    fi
    echo "Installing:$missing"
    # A list that cannot be renewed may still do. Names are split on purpose.
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null >/dev/null 2>&1 || true
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing \
        </dev/null >/dev/null || {
        echo "error: apt-get could not install:$missing" >&2
        return 1
    }
}
