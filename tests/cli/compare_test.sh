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

testcase "reads that near copies serve count as reads and hits of the LLC"
sluice compare mm:tiny --gpu a100 --designs default,shared --json "$work/copies.json"
status_is 0
holds "$(grep 'LLC accesses' "$work/out")" awk '/LLC accesses/ { exit !($4 == $5) }' "$work/out"
sluice run mm:tiny --gpu a100 --json "$work/a.json"
holds "$(cat "$work/out")" grep -qE '^    LLC +2,272 reads: ' "$work/out"
holds "$(cat "$work/out")" grep -qE '^    copies +[0-9,]+ reads: ' "$work/out"
holds "$(cat "$work/out")" grep -qE '^    bridges +[0-9,]+ crossings: [0-9,]+ requests, [0-9,]+ fetches of copies; [0-9.]+ GB/s$' "$work/out"
sluice run mm:tiny --gpu a100 --design shared --json "$work/b.json"
holds "$(cat "$work/out")" grep -qE '^    LLC +2,272 reads: ' "$work/out"
sluice diff "$work/a.json" "$work/b.json" --all
holds "LLC reads differ" test -z "$(grep 'LLC reads ' "$work/out")"
sluice run mm:tiny
holds "copies without partitions" test -z "$(grep -E '^    (copies|bridges) ' "$work/out")"

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
