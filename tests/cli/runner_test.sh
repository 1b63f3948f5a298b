# Tests of the test runner: one that passes failing tests would make every other test worthless.
. "$(dirname "$0")/../testlib.sh"
unset SLUICE_LONG_TESTS # the tests below decide for themselves

mkdir -p "$work/tests/module"
cat >"$work/tests/module/one_test.c" <<'C'
#include "test.h"
#include <stdlib.h>
#include <unistd.h>
TEST("is true") { CHECK(1); CHECK_EQ(1u, 1L); CHECK_EQ("a", "a"); CHECK_NEAR(100, 101, 0.01); CHECK_TEXT("abc", "bc"); }
TEST("condition") { CHECK(1 > 2); }
TEST("unequal") { CHECK_EQ(-1, ~0ull); }
TEST("text unequal") { CHECK_EQ("a", "b"); }
TEST("far") { CHECK_NEAR(100, 102, 0.01); }
TEST("not a number") { double zero = 0; CHECK_NEAR(zero / zero, 1.0, 0.5); }
TEST("without part") { CHECK_TEXT("abc", "cb"); }
TEST("requires") { REQUIRE(1 > 2); abort(); }
TEST("aborts") { CHECK(1); abort(); }
TEST("leaves early") { CHECK(1); exit(0); }
TEST("checks nothing") { }
TEST("fails, then holds") { CHECK(0); CHECK(1); }
TEST("sleeps") { CHECK(1); sleep(60); }
TEST_LONG("long") { CHECK(1); }
C
${CC:-gcc} -std=c17 -D_GNU_SOURCE -Itests tests/main.c "$work/tests/module/one_test.c" -lm -o "$work/runner" || exit 1

# runner ARGS...: like sluice of testlib.sh, for the runner just built.
runner() {
    last_command="runner $*"
    "$work/runner" "$@" >"$work/out" 2>"$work/err"
    last_status=$?
}
last_line_is() {
    [ "$(tail -n 1 "$work/out")" = "$1" ]
    check $? "the last line is \"$(tail -n 1 "$work/out")\""
}

testcase "prints a passing test only with -v"
runner "is true"
status_is 0
holds "one line is printed" test "$(wc -l <"$work/out")" -eq 1
last_line_is "1 passed, 0 failed"
runner "is true" -v
out_has "ok    module: is true"

testcase "reports a failed check with location, expression and value"
runner "without part" -j 1
status_is 1
out_has 'one_test.c:10: "abc" is "abc", without "cb"'

testcase "counts every kind of failure, with its reason"
runner -j 3 "is true" condition equal far number without requires aborts leaves nothing fails long
status_is 1
out_has "FAIL  module: aborts (Aborted)"
out_has "the test has no checks"
out_has "-1 is -1, but ~0ull is 18446744073709551615"
out_has "FAIL  module: leaves early (exit status 0)"
out_has "1 long tests skipped"
last_line_is "1 passed, 11 failed"

testcase "runs long tests on request"
SLUICE_LONG_TESTS=1 runner long
status_is 0
last_line_is "1 passed, 0 failed"

testcase "--list prints every test and runs none"
runner --list
status_is 0
out_has "module: aborts"
holds "14 lines" test "$(wc -l <"$work/out")" -eq 14

testcase "a request to end also ends the running tests"
last_command="runner sleeps, ended by TERM"
"$work/runner" sleeps & pid=$!
for _ in $(seq 100); do child=$(pgrep -P $pid) && break; sleep 0.1; done
kill -TERM $pid
wait $pid
last_status=$?
status_is 143
for _ in $(seq 100); do kill -0 "$child" 2>/dev/null || break; sleep 0.1; done
! kill -0 "$child" 2>/dev/null
check $? "the test still runs"

tests_end
