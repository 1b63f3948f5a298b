#!/usr/bin/env bash
# `sluice run --timeline`: trace events that agree with the counters, in a file of bounded size.
. "$(dirname "$0")/../testlib.sh"

# evaluate EXPRESSION: prints a Python expression of `events`, `other` (the timeline) and `run` (the JSON).
evaluate() {
    python3 -c 'import json, sys
timeline, run = (json.load(open(path)) for path in sys.argv[2:])
events, other = timeline["traceEvents"], timeline["otherData"]
spans = [e for e in events if e["ph"] == "X"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
process = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
processes = list(process.values())
positions = {process[e["pid"]]: e["args"]["sort_index"] for e in events if e["name"] == "process_sort_index"}
values = lambda track: [e for e in events if e["ph"] == "C" and e["name"] == track]
thread = lambda name: [e for e in spans if names.get((e["pid"], e["tid"])) == name]
mhz = run["config"]["gpu.core_mhz"]
def cycles(track, cause):
    rows = values(track)
    ends = [e["ts"] for e in rows[1:]] + [run["cycles"] / mhz]
    return sum(e["args"].get(cause, 0) / 100 * (end - e["ts"]) * mhz for e, end in zip(rows, ends))
near = lambda a, b: abs(a - b) <= 0.002 * b + 2
print(eval(sys.argv[1]))' "$1" "$work/t.json" "$work/run.json"
}
value_is() {
    local found
    found=$(evaluate "$2" 2>&1)
    holds "$2 is $found, not $1" test "$found" = "$1"
}

testcase "kernels are spans with their cycles"
sluice run bfs:tiny --timeline "$work/t.json" --json "$work/run.json"
status_is 0
err_has "t.json: at most 32 MB: up to "
value_is True '[k["name"] for k in run["kernels"]] == [e["name"] for e in thread("kernels")]'
value_is True 'all(abs(k["cycles"] / mhz - e["dur"]) < 0.002 for k, e in zip(run["kernels"], thread("kernels")))'
value_is True 'all(abs(a["ts"] + a["dur"] - b["ts"]) < 0.01 for a, b in zip(thread("kernels"), thread("kernels")[1:]))'
value_is True 'all(a["ts"] + a["dur"] < b["ts"] + 1e-6 for a, b in zip(thread("kernels"), thread("kernels")[1:]))' # viewers drop spans that overlap

testcase "values over time add up to the counters, of all SMs and of each"
value_is True 'near(80 * cycles("SM cycles (%)", "issuing"), run["stats"]["sm.issuing"])'
value_is True 'near(80 * cycles("SM cycles (%)", "memory"), run["stats"]["sm.stall.memory"])'
value_is True 'near(cycles("SM 0 (%)", "issuing"), run["units"]["sm.issuing"][0])'
value_is True 'near(cycles("SM 0 (%)", "memory"), run["units"]["sm.stall.memory"][0])'
value_is 0 'len(values("SM 1 (%)"))' # it has no CTA
value_is True 'max(e["args"]["%"] for e in values("LLC read hits")) <= 100'

testcase "queues: blocked slices, reads in flight and full DRAM queues add up to the counters"
sluice run synth:copy --set workload.iterations=20 --timeline "$work/t.json" --json "$work/run.json"
value_is True 'near(64 * cycles("LLC slices blocked (%)", "memory queue"), run["stats"]["llc.reservation_fail.memory_queue"]) and run["stats"]["llc.reservation_fail.memory_queue"] > 1000'
value_is True 'near(64 * cycles("LLC slices blocked (%)", "reply queue"), run["stats"]["llc.reservation_fail.reply_queue"])'
value_is True 'near(100 * cycles("DRAM reads in flight", "reads") * run["config"]["dram.clock_mhz"] / mhz, run["stats"]["dram.read_cycles"])'
value_is True 'near(len(run["units"]["dram.queue_full_cycles"]) * cycles("DRAM queues full (%)", "queue"), run["stats"]["dram.queue_full_cycles"])'
value_is True 'max(sum(e["args"].values()) for e in values("LLC slices blocked (%)")) <= 100.1'

testcase "standard output has the timeline and nothing else"
"$SLUICE" run bfs:tiny --timeline - >"$work/t.json" 2>"$work/err"
sluice run bfs:tiny --timeline "$work/file.json" --json "$work/run.json"
same_files "$work/t.json" "$work/file.json"
value_is True 'len(thread("kernels")) == len(run["kernels"])'
sluice run synth:alu --set workload.ctas=20000 --set workload.iterations=16 --timeline - --timeline-detail ctas --timeline-size 2
holds "$(wc -c <"$work/out") bytes" test "$(wc -c <"$work/out")" -le 2000000
for others in '--json -' '--dram-log -'; do
    sluice run mm:tiny --timeline - $others
    status_is 2
    err_has 'only one of'
    out_empty
done

testcase "a timeline changes nothing"
sluice run bfs:tiny --timeline "$work/t.json" --json "$work/run.json"
sluice run bfs:tiny --json "$work/plain.json"
value_is True "run['stats'] == json.load(open('$work/plain.json'))['stats']"

testcase "the level of detail"
sluice run mm:tiny --timeline "$work/t.json" --timeline-detail kernels --json "$work/run.json"
value_is 0 'len([e for e in events if e["pid"] > 1])'
sluice run mm:tiny --timeline "$work/t.json" --timeline-detail ctas --json "$work/run.json"
value_is True 'len([e for e in spans if e["name"].startswith("CTA ")]) == run["stats"]["sm.ctas"]'
value_is True 'sorted({e["name"] for e in spans if e["pid"] > 2}) == sorted("CTA %d" % i for i in range(run["stats"]["sm.ctas"]))'
value_is True 'all(e["ts"] + e["dur"] <= run["cycles"] / mhz + 0.01 for e in spans)'
value_is "['GPU', 'SMs', 'CTAs of SM 0', 'CTAs of SM 1', 'CTAs of SM 2']" 'sorted(processes, key=positions.get)[:5]'

testcase "modes of a mechanism are spans with the reason"
sluice run an:tiny --design adaptive --set llc.adaptive.profile_cycles=500 --set llc.adaptive.epoch_cycles=3000 --set llc.adaptive.sets=64 \
    --timeline "$work/t.json" --timeline-detail kernels --json "$work/run.json"
status_is 0
value_is "['private', 'shared']" 'sorted({e["name"] for e in thread("adaptive LLC")})'
value_is True 'any(e["args"]["reason"].startswith("rule 2") for e in thread("adaptive LLC"))'
value_is True 'max(e["args"]["% of time stopped"] for e in values("reconfiguration")) == 100'
value_is True 'near(cycles("reconfiguration", "% of time stopped"), run["stats"]["control.stop_cycles"])'

testcase "the file stays below its limit: intervals grow, and CTAs are left out"
sluice run synth:alu --set workload.ctas=20000 --set workload.iterations=16 --timeline "$work/t.json" --timeline-detail ctas --timeline-size 2 --json "$work/run.json"
status_is 0
err_has "at most 2 MB"
holds "$(wc -c <"$work/t.json") bytes" test "$(wc -c <"$work/t.json")" -le 2000000
value_is True 'other["interval_cycles"] > 256'
value_is True 'other["left_out"] > 0 and other["left_out"] + len([e for e in spans if e["name"].startswith("CTA ")]) == 20000'
value_is True 'near(80 * cycles("SM cycles (%)", "issuing"), run["stats"]["sm.issuing"])'

testcase "two programs"
sluice run mm:tiny + va:tiny --timeline "$work/t.json" --json "$work/run.json"
status_is 0
value_is True '{e["name"] for e in thread("kernels of mm:tiny")} == {k["name"] for k in run["kernels"] if k["name"].startswith("mm")}'
value_is True '{e["name"] for e in thread("kernels of va:tiny")} == {k["name"] for k in run["kernels"] if k["name"].startswith("va")}'

testcase "rejects an unknown level, a limit that is too small, and a file that cannot be written"
sluice run mm:tiny --timeline "$work/x.json" --timeline-detail all
status_is 2
err_has "expected kernels, sms or ctas"
sluice run mm:tiny --set sm.count=160 --set gpu.clusters=8 --timeline "$work/x.json" --timeline-size 1
status_is 2
err_has "this timeline needs at least"
sluice run mm:tiny --timeline "$work/none/x.json"
status_is 2
no_file "$work/x.json"
sluice run mm:tiny --timeline-detail ctas
status_is 0
err_has "no effect without --timeline"

tests_end
