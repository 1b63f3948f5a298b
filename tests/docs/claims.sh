# Sourced by tests/docs/*_test.sh: claims about the documentation, tried on the program itself.
#
# The program is the first argument, or $SLUICE, or build/release/sluice. A claim is `claim TEXT`, followed by checks; it prints `ok TEXT`, or
# `not ok TEXT` with what went wrong below. The last line is `N passed, N failed`, the status 1 if any failed.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1
case "${1:-}" in '' | -*) ;; *) SLUICE=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") ; shift ;; esac
: "${SLUICE:=$root/build/release/sluice}"
export LC_ALL=C.UTF-8 # bars of the summary, wherever this runs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

passed=0 failed=0 claim_text='' claim_trouble='' claim_checks=0

claim_end() {
    [ -n "$claim_text" ] || return 0
    [ "$claim_checks" -gt 0 ] || claim_trouble="  it checks nothing"
    if [ -z "$claim_trouble" ]; then
        passed=$((passed + 1))
        printf 'ok %s\n' "$claim_text"
    else
        failed=$((failed + 1))
        printf 'not ok %s\n%s\n' "$claim_text" "$claim_trouble"
    fi
}

claim() {
    claim_end
    claim_text=$1 claim_trouble='' claim_checks=0
}

# holds WHAT COMMAND...: a check; WHAT is said when the command fails.
holds() {
    local what=$1
    shift
    claim_checks=$((claim_checks + 1))
    "$@" || claim_trouble+="${claim_trouble:+$'\n'}  $what"
}

claims_end() {
    claim_end
    claim_text=
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}
