# shellcheck shell=bash
# Sourced by ./check, ./demo and bench/run: required packages, and the build.
#
# On Debian and its derivatives missing packages are installed with apt-get, as root or through sudo; apt is not called if nothing is
# missing. On other systems the missing programs are reported.

# Prints an error and exits.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

processors() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2; }

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# need PACKAGE...: installs missing Debian packages.
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
        fail "missing packages; installing them requires root or sudo: apt-get install$missing"
    printf 'installing%s\n' "$missing" >&2
    local log
    log=$(mktemp)
    # An empty or outdated package list only shows when the install fails.
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
        command -v "$program" >/dev/null || fail "$program is missing (see docs/dependencies.md)"
    done
    pkg-config --exists yaml-0.1 libzstd sqlite3 libxxhash ||
        fail "libyaml, libzstd, SQLite or xxHash with their headers are missing (see docs/dependencies.md)"
}

# Packages for building; docs/dependencies.md explains each.
build_packages="gcc libc6-dev cmake ninja-build pkg-config libyaml-dev libzstd-dev libsqlite3-dev libxxhash-dev"

# Packages for reports.
report_packages="libjs-chart.js gnuplot-nox"

# Packages for testing.
test_packages="clang clang-format python3"

# Packages for the cluster and browser tests of ./check --full.
cluster_packages="slurm-wlm munge"
browser_packages="chromium"

# build PRESET [TARGET]: configures and builds; prints only errors.
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
