# Sourced by tests/*/*_test.sh: claims about the program and its documentation, made from the command line. $SLUICE is the program under test.
#
#     claim "an unknown key is refused with a hint"
#     sluice run synth:alu --set llc.slizes=4        runs it; its status, out and err are kept
#     status_is 2
#     err_has "did you mean"
#     holds "what is said otherwise" test -e file     any other command that must succeed
#     ...
#     claims_end                                     the last line of every test
#
# A claim fails when any of its checks fails, and when it checks nothing.

: "${SLUICE:=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/release/sluice}"
room=$(basename "$(dirname "$0")")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export LC_ALL=C.UTF-8 # bars of the summary, wherever this runs

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

claims_passed=0 claims_failed=0 claim_text='' claim_checks=0 claim_failures=''

claim_end() {
    [ -n "$claim_text" ] || return 0
    [ "$claim_checks" -gt 0 ] || claim_failures="    it checks nothing"$'\n'
    if [ -z "$claim_failures" ]; then
        claims_passed=$((claims_passed + 1))
    else
        claims_failed=$((claims_failed + 1))
        printf 'FAIL  %s: %s\n%s' "$room" "$claim_text" "$claim_failures"
    fi
    claim_text=''
}

claim() {
    claim_end
    claim_text=$1 claim_checks=0 claim_failures=''
}

claims_end() {
    claim_end
    echo "$claims_passed passed, $claims_failed failed"
    [ "$claims_failed" -eq 0 ] || exit 1
    exit 0
}

# check STATUS MESSAGE: the bookkeeping of every check below.
check() {
    claim_checks=$((claim_checks + 1))
    [ "$1" -eq 0 ] && return 0
    claim_failures+="    $(caller 1 | awk '{ print $3 ":" $1 }'): $2"$'\n'
    return 1
}

sluice() {
    last_command="sluice $*"
    timeout 100 "$SLUICE" "$@" >"$work/out" 2>"$work/err"
    last_status=$?
}

status_is() {
    [ "$last_status" -eq "$1" ]
    check $? "\`$last_command\` ended with status $last_status, not $1: $(head -n 3 "$work/err")"
}
out_has() {
    grep -qF -- "$1" "$work/out"
    check $? "\`$last_command\` does not print \"$1\", but: $(head -n 5 "$work/out")"
}
err_has() {
    grep -qF -- "$1" "$work/err"
    check $? "\`$last_command\` does not complain of \"$1\", but: $(head -n 5 "$work/err")"
}
err_matches() {
    grep -qE -- "$1" "$work/err"
    check $? "\`$last_command\` does not complain in the form of \"$1\", but: $(head -n 5 "$work/err")"
}
err_empty() {
    [ ! -s "$work/err" ]
    check $? "\`$last_command\` is not silent on standard error: $(head -n 5 "$work/err")"
}
out_empty() {
    [ ! -s "$work/out" ]
    check $? "\`$last_command\` prints, though nothing was expected: $(head -n 5 "$work/out")"
}
no_file() {
    [ ! -e "$1" ]
    check $? "$1 is there, though it should not be"
}
same_files() {
    cmp -s "$1" "$2"
    check $? "$(basename "$1") and $(basename "$2") differ: $(diff "$1" "$2" | head -n 4)"
}
holds() {
    local text=$1
    shift
    "$@"
    check $? "$text"
}
