#!/usr/bin/env bash
# The JSON of every command fits its schema in schemas/, and the schemas notice what does not fit.
. "$(dirname "$0")/../testlib.sh"

if ! /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
    echo "note: skipped, python3-jsonschema is not installed"
    tests_end
fi

# valid SCHEMA FILE: prints the first violation.
valid() {
    /usr/bin/python3 - "schemas/$1.schema.json" "$2" <<'END'
import json, sys
import jsonschema
schema, result = (json.load(open(path)) for path in sys.argv[1:])
jsonschema.Draft202012Validator.check_schema(schema)
error = next(jsonschema.Draft202012Validator(schema).iter_errors(result), None)
if error:
    print("/".join(map(str, error.absolute_path)) + ": " + error.message[:200])
    sys.exit(1)
END
}
# fits SCHEMA FILE: the result fits the schema.
fits() {
    local text
    status_is 0
    text=$(valid "$1" "$2" 2>&1)
    check $? "$1: $text"
}

testcase "the results of run fit: plain, sampled, with decisions, of two programs, with groups of L1s, with carve-outs"
sluice run mm:tiny --json "$work/run.json"
fits run "$work/run.json"
sluice run synth:uniform --set workload.iterations=8 --design adaptive --set llc.adaptive.profile_cycles=500 \
    --set llc.adaptive.epoch_cycles=5000 --sample 2000 --sample-units dram.reads --json "$work/adaptive.json"
fits run "$work/adaptive.json"
holds "no decisions" grep -q '"decisions"' "$work/adaptive.json"
sluice run gemm:tiny + mm:tiny --alone --json "$work/two.json"
fits run "$work/two.json"
sluice run syrk:tiny --gpu icc-32sm --design icc-mgc --json "$work/icc.json"
fits run "$work/icc.json"
sluice run sssp:tiny --gpu gtx480-322 --design decoupled --json "$work/duel.json"
fits run "$work/duel.json"

sluice run mm:tiny --set l1.size_kb=32 --set l1.ways=64 --set sm.carve_outs=[0,8,16] --json "$work/unified.json"
fits run "$work/unified.json"
holds "no carve-out" grep -q '"carve_out_kb"' "$work/unified.json"

testcase "the results of compare, overhead, diff and correlate fit"
sluice compare mm:tiny --designs shared,private,adaptive --json "$work/compare.json"
fits compare "$work/compare.json"
sluice overhead --design selrep --gpu selrep-64sm --json "$work/overhead.json"
fits overhead "$work/overhead.json"
sluice diff "$work/run.json" "$work/icc.json" --json "$work/diff.json"
fits diff "$work/diff.json"
sluice correlate data/reference/gpgpusim --kernel vecadd --kernel fma --json "$work/correlate.json"
fits correlate "$work/correlate.json"

testcase "timelines fit"
sluice run mm:tiny --timeline "$work/timeline.json" --timeline-detail ctas
fits timeline "$work/timeline.json"
sluice run synth:uniform --set workload.iterations=8 --design adaptive --set llc.adaptive.profile_cycles=500 \
    --set llc.adaptive.epoch_cycles=5000 --timeline "$work/timeline.json" --timeline-detail kernels
fits timeline "$work/timeline.json"

testcase "the results of lab fit"
sluice lab run quick/sharing --size tiny --store "$work/lab.sqlite"
status_is 0
sluice lab export quick/sharing --size tiny --store "$work/lab.sqlite" --json "$work/lab.json"
fits lab "$work/lab.json"

testcase "a missing key, an unknown key and a wrong type do not fit"
sed '0,/"ipc"/s//"ips"/' "$work/run.json" >"$work/wrong.json"
holds "an unknown key fits" test -n "$(valid run "$work/wrong.json")"
sed '/"thread_instructions":/d' "$work/run.json" >"$work/wrong.json"
holds "a missing key fits" test -n "$(valid run "$work/wrong.json")"
sed '0,/"cycles": [0-9]*/s//"cycles": "many"/' "$work/run.json" >"$work/wrong.json"
holds "a text as a number fits" test -n "$(valid run "$work/wrong.json")"

tests_end
