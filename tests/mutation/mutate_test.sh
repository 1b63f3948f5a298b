# The mutation runner, tried on a tree of one module with one function.
. "$(dirname "${BASH_SOURCE[0]}")/../testlib.sh"

tree=$work/tree
mkdir -p "$tree/tools" "$tree/src/toy" "$tree/tests/mutation"
cp tools/mutate "$tree/tools/"
cat >"$tree/src/toy/toy.c" <<'END'
#include <assert.h>
#include <stdbool.h>
void toy_clear(int *values, int count) {
    for (int i = 0; i < count; i++) values[i] = 0;
}
int toy_count(const int *values, int count, bool all) {
    assert(count >= 0); /* x < y && z: neither assertions nor comments have mutants */
    int found = 0;
    for (int i = 0; i < count; i++)
        if (values[i] > 2 && !all) found += values[i];
    return found;
}
END
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(toy LANGUAGES C)
add_executable(sluice_tests src/toy/toy.c tests/toy_test.c)
END
# Notices every fault but the three of the limit 2, which need a value of 2 or 3. Only a sanitizer notices a write behind the array.
cat >"$tree/tests/toy_test.c" <<'END'
#include <stdbool.h>
#include <stdlib.h>
int toy_count(const int *values, int count, bool all);
void toy_clear(int *values, int count);
int main(void) {
    int values[4] = {5, 1, 7, 9}, *cleared = malloc(2 * sizeof *cleared);
    cleared[0] = cleared[1] = 1;
    toy_clear(cleared, 2);
    int wrong = !(cleared[0] == 0 && cleared[1] == 0 && toy_count(values, 3, false) == 12 && toy_count(values, 3, true) == 0);
    free(cleared);
    return wrong;
}
END

mutate() {
    last_command="tools/mutate $*"
    timeout 300 python3 "$tree/tools/mutate" "$@" >"$work/out" 2>"$work/err"
    last_status=$?
}

testcase "lists the mutants of a function, none of them in assertions and comments"
mutate --modules toy --count 100 --list
status_is 0
for change in "if (values[i] >= 2 && !all)" "if (values[i] > 2 || !all)" "if (values[i] > 2 && all)" "if (values[i] > 2 )" "if (values[i] > 2 && !all) found -= values[i];" \
    "if (values[i] > 3 && !all)" "int found = 1;" "if (values[i] > 2 && !all) ;"; do
    out_has "+ $change"
done
holds "there are mutants of assertions or comments" test "$(grep -cE '^ +\+ (assert.*count (<|>) 0|.*x <= y)' "$work/out")" -eq 0

testcase "samples the same mutants for the same seed"
mutate --modules toy --count 5 --seed 7 --list
cp "$work/out" "$work/first"
mutate --modules toy --count 5 --seed 7 --list
same_files "$work/out" "$work/first"
mutate --modules toy --count 5 --seed 8 --list
holds "another seed gives the same sample" test "$(cmp -s "$work/out" "$work/first"; echo $?)" -eq 1

testcase "reports the mutants that no test notices"
mutate --modules toy --count 100 --quick --jobs 2
status_is 0
out_has "after: if (values[i] >= 2 && !all) found += values[i];"
out_has "after: if (values[i] > 3 && !all) found += values[i];"
out_has "after: if (values[i] > 1 && !all) found += values[i];"
holds "another number of survivors: $(grep '| toy' "$work/out")" test "$(grep -c '^after: ' "$work/out")" -eq 3
holds "the source has changed" grep -q 'values\[i\] > 2 && !all' "$tree/src/toy/toy.c"

testcase "runs the tests with sanitizers"
holds "the write behind the array is not noticed" grep -q '"after": "for (int i = 0; i <= count; i++) values.*with sanitizers"' "$tree/build/mutate/results.jsonl"

testcase "does not count a listed mutant as a survivor, and repeats survivors on request"
cat >"$tree/tests/mutation/equivalent" <<'END'
# A comment.

file: src/toy/toy.c
before: if (values[i] > 2 && !all) found += values[i];
after: if (values[i] > 1 && !all) found += values[i];
reason: no value is 2
END
sed -i 's/{5, 1, 7, 9}/{3, 2, 9, 9}/' "$tree/tests/toy_test.c"
mutate --modules toy --count 100 --quick --jobs 1 --again
status_is 0
holds "survivors remain: $(grep '^after: ' "$work/out")" test "$(grep -c '^after: ' "$work/out")" -eq 0
holds "no mutant is equivalent" grep -qE '^\| toy \| [0-9]+ \| [0-9]+ \| 0 \| 1 \| 100.0 % \|$' "$work/out"

tests_end
