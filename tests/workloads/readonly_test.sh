# The verdicts of the read-only analysis on the kernels of all bundled workloads, and how many loads it marks: as recorded in readonly.txt.
# `tests/workloads/readonly_test.sh --record` records them again.
. "$(dirname "$0")/../testlib.sh"

verdicts() {
    local file
    for file in workloads/*/*.ptx; do
        echo "== $file: $("$SLUICE" ptx --rewrite - "$file" | grep -c 'ld\.global\S*\.ro') loads marked"
        "$SLUICE" ptx --read-only "$file"
    done
}
[ "${1:-}" != --record ] || { verdicts >tests/workloads/readonly.txt; exit; }

testcase "the verdicts on all bundled workloads are the recorded ones"
verdicts >"$work/readonly.txt"
holds "every workload has verdicts" test "$(grep -c ^== "$work/readonly.txt")" = "$(ls -d workloads/*/ | wc -l)"
holds "the verdicts differ: $(diff tests/workloads/readonly.txt "$work/readonly.txt" | head -n 5)" cmp -s tests/workloads/readonly.txt "$work/readonly.txt"

tests_end
