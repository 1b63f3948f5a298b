# Sourced by tests/*/*_test.sh, which test the program and its documentation from the command line. $SLUICE is the program under test.
#
#     testcase "rejects an unknown key with a hint"
#     sluice run synth:alu --set llc.slizes=4        runs the program and keeps status, out and err
#     status_is 2
#     err_has "did you mean"
#     holds "message on failure" test -e file         any other command that must succeed
#     ...
#     tests_end                                     the last line of every test
#
# A test fails if one of its checks fails, or if it has no checks.

: "${SLUICE:=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/release/sluice}"
module=$(basename "$(dirname "$0")")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export LC_ALL=C.UTF-8 # for the bars of the summary

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tests_passed=0 tests_failed=0 test_text='' test_checks=0 test_failures=''

testcase_end() {
    [ -n "$test_text" ] || return 0
    [ "$test_checks" -gt 0 ] || test_failures="    it has no checks"$'\n'
    if [ -z "$test_failures" ]; then
        tests_passed=$((tests_passed + 1))
    else
        tests_failed=$((tests_failed + 1))
        printf 'FAIL  %s: %s\n%s' "$module" "$test_text" "$test_failures"
    fi
    test_text=''
}

testcase() {
    testcase_end
    test_text=$1 test_checks=0 test_failures=''
}

tests_end() {
    testcase_end
    echo "$tests_passed passed, $tests_failed failed"
    [ "$tests_failed" -eq 0 ] || exit 1
    exit 0
}

# check STATUS MESSAGE: counts a check, and records the message if it failed.
check() {
    test_checks=$((test_checks + 1))
    [ "$1" -eq 0 ] && return 0
    test_failures+="    $(caller 1 | awk '{ print $3 ":" $1 }'): $2"$'\n'
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
    check $? "\`$last_command\` does not print \"$1\" but: $(head -n 5 "$work/out")"
}
err_has() {
    grep -qF -- "$1" "$work/err"
    check $? "\`$last_command\` has no error message with \"$1\" but: $(head -n 5 "$work/err")"
}
err_matches() {
    grep -qE -- "$1" "$work/err"
    check $? "\`$last_command\` has no error message that matches \"$1\" but: $(head -n 5 "$work/err")"
}
err_empty() {
    [ ! -s "$work/err" ]
    check $? "\`$last_command\` prints to standard error: $(head -n 5 "$work/err")"
}
out_empty() {
    [ ! -s "$work/out" ]
    check $? "\`$last_command\` prints to standard output: $(head -n 5 "$work/out")"
}
no_file() {
    [ ! -e "$1" ]
    check $? "$1 exists"
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
