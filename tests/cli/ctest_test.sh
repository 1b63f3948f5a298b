# CTest has one test per module for its unit tests, and one per script.
. "$(dirname "$0")/../testlib.sh"

build=$(dirname "$SLUICE")

testcase "ctest lists the unit tests of every module and every script"
ctest --test-dir "$build" -N | sed -n 's/^ *Test *#[0-9]*: //p' | sort >"$work/listed"
{
    "$build/sluice_tests" --list | sed 's/^\([a-z0-9]*\): .*/unit.\1/'
    printf '%s\n' tests/*/*_test.sh | sed 's|^tests/||; s|/|.|; s|_test\.sh$||'
} | sort -u >"$work/there"
same_files "$work/there" "$work/listed"

testcase "ctest runs them and writes JUnit XML"
holds "unit.base passes" ctest --test-dir "$build" -R '^unit.base$' --output-junit "$work/junit.xml" -Q
holds "the test is in the file" grep -q '<testcase name="unit.base"[^>]* status="run"' "$work/junit.xml"

testcase "sluice_tests --module runs the tests of one module only"
"$build/sluice_tests" --list --module base >"$work/out"
holds "some are listed, none of another module" awk -F: '$1 != "base" { exit 1 } END { exit !NR }' "$work/out"

tests_end
