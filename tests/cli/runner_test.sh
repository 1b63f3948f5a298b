# The test harness judged by itself: a runner that passed what fails would make every other claim worthless.
. "$(dirname "$0")/../claims.sh"
unset SLUICE_LONG_TESTS # the claims below decide for themselves

mkdir -p "$work/tests/room"
cat >"$work/tests/room/one_test.c" <<'C'
#include "claim.h"
#include <stdlib.h>
#include <unistd.h>
CLAIM("is true") { CHECK(1); CHECK_EQ(1u, 1L); CHECK_EQ("a", "a"); CHECK_NEAR(100, 101, 0.01); CHECK_TEXT("abc", "bc"); }
CLAIM("condition") { CHECK(1 > 2); }
CLAIM("unequal") { CHECK_EQ(-1, ~0ull); }
CLAIM("text unequal") { CHECK_EQ("a", "b"); }
CLAIM("far") { CHECK_NEAR(100, 102, 0.01); }
CLAIM("not a number") { double zero = 0; CHECK_NEAR(zero / zero, 1.0, 0.5); }
CLAIM("without part") { CHECK_TEXT("abc", "cb"); }
CLAIM("requires") { REQUIRE(1 > 2); abort(); }
CLAIM("aborts") { CHECK(1); abort(); }
CLAIM("leaves early") { CHECK(1); exit(0); }
CLAIM("checks nothing") { }
CLAIM("fails, then holds") { CHECK(0); CHECK(1); }
CLAIM_LONG("long") { CHECK(1); }
C
${CC:-gcc} -std=c17 -D_GNU_SOURCE -Itests tests/main.c "$work/tests/room/one_test.c" -lm -o "$work/runner" || exit 1

# runner ARGS...: like sluice of claims.sh, for the runner just built.
runner() {
    last_command="runner $*"
    "$work/runner" "$@" >"$work/out" 2>"$work/err"
    last_status=$?
}
last_line_is() {
    [ "$(tail -n 1 "$work/out")" = "$1" ]
    check $? "the last line is \"$(tail -n 1 "$work/out")\""
}

claim "a claim that holds passes, and is named only when asked"
runner "is true"
status_is 0
holds "one line is printed" test "$(wc -l <"$work/out")" -eq 1
last_line_is "1 passed, 0 failed"
runner "is true" -v
out_has "ok    room: is true"

claim "a failed check is reported with its place, its expression and its value"
runner "without part" -j 1
status_is 1
out_has 'one_test.c:10: "abc" is "abc", without "cb"'

claim "every kind of failure is counted, with its reason"
runner -j 3
status_is 1
out_has "FAIL  room: aborts (Aborted)"
out_has "this claim checks nothing"
out_has "-1 is -1, but ~0ull is 18446744073709551615"
out_has "FAIL  room: leaves early (exit status 0)"
out_has "1 long claims were left out"
last_line_is "1 passed, 11 failed"

claim "long claims run when they are asked for"
SLUICE_LONG_TESTS=1 runner long
status_is 0
last_line_is "1 passed, 0 failed"

claim "the list names every claim and runs none"
runner --list
status_is 0
out_has "room: aborts"
holds "13 lines" test "$(wc -l <"$work/out")" -eq 13

claims_end
