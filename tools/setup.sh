# shellcheck shell=bash
# Sourced by ./check, ./demo and bench/run: what a machine needs before it can build, and how it builds.
#
# On Debian (and what descends from it) missing packages are installed with apt-get, as root or through sudo; apt is not touched when nothing is
# missing. Elsewhere the missing programs are named and left to the user.

# Prints one line for whoever is watching, and stops.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

processors() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2; }

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# need PACKAGE...: makes sure that these Debian packages are installed.
need() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        need_elsewhere
        return
    fi
    missing=
    local package
    for package in "$@"; do
        case "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" in
        installed) ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
        fail "packages are missing, and installing them takes root or sudo: apt-get install$missing"
    printf 'installing%s\n' "$missing" >&2
    local log
    log=$(mktemp)
    # A package list that is empty or out of date is only known by the install failing.
    if ! apt_get_install "$log" && ! { as_root apt-get update >>"$log" 2>&1 && apt_get_install "$log"; }; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        fail "could not install$missing"
    fi
    rm -f "$log"
}

apt_get_install() {
    # shellcheck disable=SC2086 # a list of package names
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >>"$1" 2>&1
}

need_elsewhere() {
    local program
    for program in cmake ninja gcc pkg-config; do
        command -v "$program" >/dev/null || fail "$program is missing (docs/dependencies.md names everything needed)"
    done
    pkg-config --exists yaml-0.1 libzstd sqlite3 libxxhash ||
        fail "libyaml, libzstd, SQLite or xxHash with their headers are missing (docs/dependencies.md names everything needed)"
}

# What ./check and ./demo build with: docs/dependencies.md says what each is for.
build_packages="gcc libc6-dev cmake ninja-build pkg-config libyaml-dev libzstd-dev libsqlite3-dev libxxhash-dev"

# What a report is made with.
report_packages="libjs-chart.js gnuplot-nox"

# What ./check tests with.
test_packages="clang clang-format python3"

# For the tests of runs on a cluster and of a report in a browser, which ./check --full installs.
cluster_packages="slurm-wlm munge"
browser_packages="chromium"

# build PRESET [TARGET]: configures and builds, quietly unless something goes wrong.
build() {
    local log
    log=$(mktemp)
    if ! { cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs" ${2:+--target "$2"}; } >"$log" 2>&1; then
        grep -vE '^(\[[0-9]+/[0-9]+\] |-- |Preset CMake|  [A-Z_]+=|$)' "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}
