#!/usr/bin/env bash
# `sluice compare`: one instruction stream under several designs.
. "$(dirname "$0")/../testlib.sh"

testcase "prints one column per design, normalised to the first"
sluice compare va:tiny --designs shared,private --json "$work/compare.json"
status_is 0
out_has "shared          private"
out_has "normalised IPC"
out_has "check passed"
holds "no counters of designs" grep -q '"llc.read_misses"' "$work/compare.json"

testcase "the column of a design equals a run of it"
sluice run va:tiny --design private --json "$work/run.json"
status_is 0
cycles=$(grep -m1 -oE '"cycles": [0-9]+' "$work/run.json")
holds "$cycles is not in the comparison" grep -q "$cycles" "$work/compare.json"

testcase "rejects mistyped and missing designs before anything runs"
sluice compare va:tiny --designs shared,privat
status_is 2
err_has "did you mean \`private\`"
sluice compare va:tiny
status_is 2
err_has "missing designs"

testcase "compares designs on a recording"
sluice record va:tiny -o "$work/va.stream"
sluice compare --trace "$work/va.stream" --designs default,lrr --gpu fermi-15sm
status_is 0
out_has "va:tiny on fermi-15sm"

testcase "warns about settings that no design uses"
sluice compare va:tiny --designs shared,private --set llc.adaptive.epoch_cycles=1000000
status_is 0
err_has "warning: --set llc.adaptive.epoch_cycles has no effect: llc.organisation is shared"
sluice compare va:tiny --designs shared,adaptive --set llc.adaptive.epoch_cycles=1000000
status_is 0
err_empty

testcase "--latency adds the breakdown of each design"
sluice compare mm:tiny --designs shared,private --latency
status_is 0
out_has "latency breakdown of loads, design shared"
out_has "latency breakdown of loads, design private"
sluice run mm:tiny --design private --latency
grep '^    DRAM  *[0-9.]* %' "$work/out" >"$work/alone"
sluice compare mm:tiny --designs shared,private --latency
holds "compare and run agree" grep -qxF "$(cat "$work/alone")" "$work/out"

testcase "rejects an empty name of a design"
for designs in shared, ,shared shared,,private; do
    sluice compare va:tiny --designs $designs
    status_is 2
    err_has "--designs $designs: the name of a design is empty"
done

tests_end
