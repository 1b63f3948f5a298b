# shellcheck shell=bash
# Sourced by ./check, ./demo, bench/run and tools/fresh-root: installs what the build needs, and builds.
#
# On Debian and its derivatives missing packages are installed with apt-get, as root or through sudo; apt is not called when none is
# missing. On other systems the missing programs are named, and the user installs them.

# fail MESSAGE: prints an error and exits.
fail() {
    progress
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# progress [TEXT]: replaces the progress line on a terminal; without a text it clears the line. Elsewhere it prints nothing.
progress() {
    [ ! -t 2 ] || printf '\r\033[K%s' "${1:+${0##*/}: $1 }" >&2
}

processors() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2; }

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# need PACKAGE...: installs those of these Debian packages that are missing.
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
        fail "packages are missing and installing them needs root or sudo: apt-get install$missing"
    printf '%s: installing%s\n' "${0##*/}" "$missing" >&2
    local log
    log=$(mktemp)
    # The first attempt fails if the package lists are empty or old.
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
        command -v "$program" >/dev/null || fail "$program is missing (docs/dependencies.md lists all dependencies)"
    done
    pkg-config --exists yaml-0.1 libzstd zlib liblzma sqlite3 libxxhash ||
        fail "libyaml, libzstd, zlib, liblzma, SQLite or xxHash with their headers are missing (docs/dependencies.md lists all dependencies)"
}

# Packages by use; docs/dependencies.md gives the reason for each.
build_packages="gcc libc6-dev cmake ninja-build pkg-config libyaml-dev libzstd-dev zlib1g-dev liblzma-dev libsqlite3-dev libxxhash-dev"
report_packages="libjs-chart.js gnuplot-nox"
test_packages="clang clang-format libclang-rt-14-dev python3 python3-jsonschema python3-pandas python3-pytest valgrind"
cluster_packages="slurm-wlm munge" # tests of runs on a cluster; ./check --full installs them
browser_packages="chromium golang-src poppler-utils librsvg2-bin" # tests of reports and timelines in a browser, of reports on paper, and of PNG pictures; ./check --full installs them
deb_packages="dpkg-dev file"       # CPack computes the dependencies of the Debian package with them

# build PRESET [TARGET...]: configures and builds; prints progress and, if the build fails, its errors. Without a terminal the
# progress is one line.
build() {
    local log status=0
    log=$(mktemp)
    [ -t 2 ] || printf '%s: building %s (minutes, the first time)\n' "${0##*/}" "$1" >&2
    progress "configuring the $1 build"
    (
        set -o pipefail
        { cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs" ${2:+--target "${@:2}"}; } 2>&1 | build_progress "$1" >"$log"
    ) || status=1
    progress
    [ "$status" -eq 0 ] || grep -vE '^(\[[0-9]+/[0-9]+\] |-- |Preset CMake|  [A-Z_]+=|$)' "$log" >&2 || true
    rm -f "$log"
    return "$status"
}

# Copies Ninja's output and shows how many of its steps are done. The last one links, which takes as long as many others.
build_progress() {
    local line last
    while IFS= read -r line; do
        printf '%s\n' "$line"
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        last=
        [ "${BASH_REMATCH[2]}" -lt 10 ] || [ "${BASH_REMATCH[1]}" -ne $((BASH_REMATCH[2] - 1)) ] || last=', linking'
        progress "building $1: ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps$last"
    done
}
