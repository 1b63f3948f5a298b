#!/usr/bin/env bash
# `sluice list workloads --long` and --survey measure the bundled programs.
. "$(dirname "$0")/../testlib.sh"

# cell N: the Nth cell of the only row
cell() { sed -n 3p "$work/out" | awk -F'|' -v n="$1" '{ gsub(/ /, "", $(n + 1)); print $(n + 1) }'; }
cell_is() { holds "cell $1 is \`$(cell "$1")\`, not \`$2\`" test "$(cell "$1")" = "$2"; }

testcase "a survey measures data sharing on the GPU of the size's paper, without simulated values"
sluice list workloads --survey mm --size mm_0
status_is 0
cell_is 1 mm
cell_is 2 selrep-64sm
cell_is 3 40
cell_is 7 0.033
cell_is 8 100.0
cell_is 9 passed
cell_is 10 -

testcase "--long also simulates, and surveys the same"
sluice list workloads --long mm
status_is 0
cell_is 2 adaptive-80sm
cell_is 7 0.033
holds "no cycles" test "$(cell 10)" -gt 1000
shown=$(cell 10)
sluice run mm:tiny --gpu adaptive-80sm --json -
holds "not the cycles of a run: $shown" grep -q "\"cycles\": $shown\b" "$work/out"

testcase "rejects an unknown workload and an unknown size"
sluice list workloads --survey mn
status_is 2
err_has "did you mean"
sluice list workloads --long mm --size bypass
status_is 2
err_has "mm has no size"
sluice list workloads --survey --size s999
status_is 2
err_has "no workload has a size"

tests_end
