#!/usr/bin/env bash
# `sluice diff`: what changed between two runs.
. "$(dirname "$0")/../testlib.sh"

sluice run mm:tiny --design shared --json "$work/shared.json"
status_is 0
sluice run mm:tiny --design private --json "$work/private.json"
status_is 0

# out_matches PATTERN: a line of the output matches.
out_matches() { holds "no line matches '$1'" grep -qE "$1" "$work/out"; }
# value KEY FILE: a number of the JSON.
value() { grep -m1 -oE "\"$1\": [0-9.e+-]+" "$2" | sed 's/.*: //'; }

testcase "lists shares, rates, counters and parameters that differ"
sluice diff "$work/shared.json" "$work/private.json" --json "$work/diff.json"
status_is 0
out_has "A: mm:tiny on adaptive-80sm, shared"
out_has "B: mm:tiny on adaptive-80sm, private"
out_has "LLC read misses"
out_has "llc.writes_through"
out_matches "thread instructions .* equal"
out_matches "llc.organisation +shared +private"
misses=$(value llc.read_misses "$work/private.json")
holds "the counters are not those of the runs" grep -qE "\"name\": \"llc.read_misses\", \"a\": $(value llc.read_misses "$work/shared.json"), \"b\": $misses," "$work/diff.json"

testcase "the largest effects come first"
for part in shares rates counters; do
    text=$(python3 - "$work/diff.json" "$part" <<'END'
import json, sys
effects = [row["effect"] or float("inf") for row in json.load(open(sys.argv[1]))[sys.argv[2]]]
print("sorted" if len(effects) > 2 and effects == sorted(effects, reverse=True) else effects)
END
    )
    holds "$part: $text" test "$text" = sorted
done

testcase "a small counter has little effect"
sed '0,/"llc.flushes": [0-9]/s/"llc.flushes": [0-9]*/"llc.flushes": 3/; 0,/"llc.read_misses": [0-9]/s/"llc.read_misses": [0-9]*/"llc.read_misses": 4000000/' "$work/shared.json" >"$work/other.json"
sluice diff "$work/shared.json" "$work/other.json"
status_is 0
holds "llc.flushes is before llc.read_misses" awk '/llc.read_misses/ { seen = 1 } /llc.flushes/ { exit !seen }' "$work/out"

testcase "equal runs have no differences"
sluice diff "$work/shared.json" "$work/shared.json"
status_is 0
out_has "all equal"
holds "a share differs" test "$(grep -cE '^(Shares|Rates|Counters)' "$work/out")" -eq 0

testcase "counters of one run only follow those of both"
sed '/"llc.read_misses"/d' "$work/private.json" >"$work/fewer.json"
sluice diff "$work/fewer.json" "$work/shared.json" --all --json "$work/diff.json"
status_is 0
out_matches "llc.read_misses +- +[0-9]"
holds "$(grep -n '^[A-Z]' "$work/out")" awk '/^Counters of one run only/ { on = 1 } /^Parameters/ { on = 0 } /llc.read_misses  / { exit !on }' "$work/out"
holds "the JSON" python3 -c 'import json, sys
diff = json.load(open(sys.argv[1]))
single = {row["name"]: row for row in diff["counters_of_one_run"]}
sys.exit(not (single["llc.read_misses"]["a"] is None and single["llc.read_misses"]["b"] > 0 and "effect" not in single["llc.read_misses"]
              and diff["counters"] and all(row["a"] is not None and row["b"] is not None for row in diff["counters"])))' "$work/diff.json"

testcase "files that are no results are reported with their location"
sluice diff "$work/shared.json"
status_is 2
err_has "expected two files"
sluice diff "$work/shared.json" "$work/none.json"
status_is 2
err_has "none.json"
head -c 300 "$work/shared.json" >"$work/cut.json"
sluice diff "$work/shared.json" "$work/cut.json"
status_is 2
err_has "cut.json:"
echo '{"cycles": 1}' >"$work/small.json"
sluice diff "$work/small.json" "$work/shared.json"
status_is 2
err_has "not the result of a run: it has no \`workload\`"
echo '{"workload": "x", "gpu": 1, "design": null, "cycles": "y", "ipc": [], "stats": 3, "config": "z"}' >"$work/odd.json"
sluice diff "$work/odd.json" "$work/odd.json"
status_is 0

tests_end
