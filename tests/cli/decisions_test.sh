#!/usr/bin/env bash
# What `run` and `compare` say about the decisions of mechanisms, and its JSON.
. "$(dirname "$0")/../testlib.sh"

# The paragraph of the first mechanism.
paragraph() { sed -n '/^  decisions of/,/^$/p' "$work/out"; }
# value NAME...: a value of the JSON by its path.
value() {
    python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for name in sys.argv[2:]: value = value[int(name) if name.isdigit() else name]
print(value)' "$work/run.json" "$@"
}
value_is() {
    local expected=$1 found
    shift
    found=$(value "$@" 2>&1)
    holds "$* is $found, not $expected" test "$found" = "$expected"
}

profile="--set llc.adaptive.profile_cycles=500 --set llc.adaptive.epoch_cycles=3000 --set llc.adaptive.sets=64"

testcase "compare explains why the adaptive LLC stayed shared"
sluice compare nn:tiny --designs shared,private,adaptive --json "$work/run.json"
status_is 0
out_has "decisions of adaptive LLC, design adaptive"
out_has "no decision, 4 times: the kernel ended before its profile of 50,000 cycles"
out_has "mode: shared for the whole run"
holds "designs without mechanisms are listed" test "$(grep -c "decisions of" "$work/out")" -eq 1
value_is "adaptive LLC" designs 2 mechanisms 0 mechanism
value_is none designs 2 mechanisms 0 decisions 0 decision
value_is 4 designs 2 mechanisms 0 decisions 0 count

testcase "run shows rules, their inputs and the mode over time of the adaptive LLC"
sluice run an:tiny --design adaptive $profile --json "$work/run.json"
status_is 0
out_has "times: rule 2: private mode has more bandwidth (on average shared miss rate"
out_has "shared, 8 times: rule 3: a new epoch"
out_has "no decision, once: the kernel ended before its profile of 500 cycles"
holds "$(paragraph)" grep -qE '^    mode: shared [0-9.]+ %, private [0-9.]+ % of the cycles; 36 changes$' "$work/out"
holds "$(paragraph)" test "$(paragraph | grep -c .)" -le 8
listed=$(value decisions | grep -o "'decision'" | wc -l)
counted=$(python3 -c 'import json, sys
print(sum(row["count"] for row in json.load(open(sys.argv[1]))["mechanisms"][0]["decisions"] if row["decision"] != "none"))' "$work/run.json")
holds "$counted decisions of $listed are summarised" test "$counted" -eq "$listed"
cycles=$(python3 -c 'import json, sys
run = json.load(open(sys.argv[1]))
print(sum(row["cycles"] for row in run["mechanisms"][0]["modes"]) - run["cycles"])' "$work/run.json")
holds "modes and run differ by $cycles cycles" test "$cycles" -eq 0

testcase "few changes of the mode are listed with their cycles"
sluice run mm:tiny --design adaptive $profile
status_is 0
out_has "mode: shared, private from cycle 517, shared from cycle 3,000"

testcase "decisions that are not applied are marked, and have no mode"
sluice run mm:tiny --design adaptive $profile --set llc.adaptive.acts=false
status_is 0
out_has "decisions of adaptive LLC (llc.adaptive.acts is off: not applied)"
holds "$(paragraph)" test -z "$(paragraph | grep mode:)"

testcase "a run that ends before its first decision says what it would have needed"
sluice run va:tiny --gpu selrep-64sm --design selrep --set llc.selrep.epoch_cycles=100000000 --json "$work/run.json"
status_is 0
out_has "no decision: the run ended before the first epoch of 100,000,000 cycles"
out_has "mode: degree 1 for the whole run"
value_is "the run ended before the first epoch of 100,000,000 cycles" mechanisms 0 no_decision

testcase "epochs of selective replication are counted by degree and reason"
sluice run bfs:tiny --gpu selrep-64sm --design selrep --set llc.selrep.epoch_cycles=1000 --json "$work/run.json"
status_is 0
out_has "decisions of selective replication"
out_has "times: too few samples (on average hit rate"
value_is "$(value stats selrep.epochs)" mechanisms 0 decisions 0 count

testcase "the duel reports verdicts with both miss rates, and rounds without one"
sluice run bfs:tiny --gpu fermi-15sm --design decoupled --json "$work/run.json"
status_is 0
out_has "decisions of SM dueling"
out_has "times: the kernel ended before SM 0 and SM 1 both had 32 reads in an interval"
out_has "times: the policy misses more than the plain cache, beyond the threshold (on average policy miss rate"
holds "a summarised mechanism is listed in \`decisions\`" test -z "$(value decisions 2>/dev/null)"

testcase "dynamic sending counts the periods of all nodes, or says that none has sampled enough"
sluice run ss:tiny --gpu icc-32sm --design icc-mgc --set l1.icc-mgc.sampled=16 --json "$work/run.json"
status_is 0
out_has "decisions of dynamic sending"
out_has "directly to the LLC, "
out_has "probes made the sampled misses of an L1 node slower"
periods=$(($(value stats l1.sending.periods_groups) + $(value stats l1.sending.periods_llc)))
counted=$(python3 -c 'import json, sys
print(sum(row["count"] for row in json.load(open(sys.argv[1]))["mechanisms"][0]["decisions"]))' "$work/run.json")
holds "$counted of $periods periods are counted" test "$counted" -eq "$periods"
sluice run va:tiny --gpu icc-32sm --design icc-mgc
out_has "no decision: no L1 node completed a sampling phase of 256 misses"

testcase "two programs have a paragraph each"
sluice run lud:tiny + gemm:tiny --design adaptive $profile --json "$work/run.json"
status_is 0
out_has "decisions of adaptive LLC, for lud:tiny"
out_has "decisions of adaptive LLC, for gemm:tiny"
value_is 1 mechanisms 1 program

testcase "a design without such a mechanism prints nothing about decisions"
sluice run va:tiny --json "$work/run.json"
status_is 0
holds "$(paragraph)" test -z "$(paragraph)"
holds "the JSON has mechanisms" test -z "$(value mechanisms 2>/dev/null)"

tests_end
