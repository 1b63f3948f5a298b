#!/usr/bin/env bash
# Launches of a program: counters of each, ranges, and launches that represent the program.
. "$(dirname "$0")/../testlib.sh"

# evaluate EXPRESSION: prints a Python expression of `run`, the JSON of the last run, and of `full`, that of the first.
evaluate() {
    python3 -c 'import json, sys
run, full = (json.load(open(path)) for path in sys.argv[2:])
print(eval(sys.argv[1]))' "$1" "$work/run.json" "$work/full.json"
}
value_is() {
    local found
    found=$(evaluate "$2" 2>&1)
    holds "$2 is $found, not $1" test "$found" = "$1"
}

testcase "the counters of all kernels add up to those of the run, and energy to its energy"
sluice run bfs:tiny --kernel-stats --json "$work/run.json"
status_is 0
cp "$work/run.json" "$work/full.json"
value_is 14 'len(run["kernels"])'
value_is True 'all(sum(k["stats"].get(name, 0) for k in run["kernels"]) == run["stats"][name] for name in
    ("sm.issuing", "sm.cycles", "l1.read_hits", "llc.read_misses", "llc.write_hits", "noc.request.packets_injected", "dram.reads", "dram.row_hits"))'
value_is True 'sum(k["cycles"] for k in run["kernels"]) == run["cycles"]'
value_is True 'all(abs(sum(k["energy"][name] for k in run["kernels"]) - part["events"] - part["time"]) <= 1e-9 * (part["events"] + part["time"])
    for name, part in run["energy"]["parts"].items() if name != "arithmetic")'
value_is True 'abs(sum(k["energy"]["noc"] for k in run["kernels"]) / run["energy"]["noc"] - 1) < 1e-9'
# Lanes per operation are means, of a launch and of the run.
value_is -0.8 'round(100 * (sum(k["energy"]["arithmetic"] for k in run["kernels"]) / run["energy"]["parts"]["arithmetic"]["events"] - 1), 1)'
holds "docs/kernels.md has another value" grep -q 'launches of `bfs:tiny` is 0.8 % below the run' docs/kernels.md
value_is True '[k["launch"] for k in run["kernels"]] == list(range(1, 15))'

testcase "the summary has a table of kernels"
out_has "launch  name                           cycles      IPC  L1 hits LLC hits DRAM GB/s  largest stalls"
holds "$(grep bfs_expand "$work/out")" grep -qE '^ +1  bfs_expand +[0-9,]+ +[0-9.]+ +[0-9.]+ % +[0-9.]+ % +[0-9.]+  idle [0-9]+ %, [a-z]+ [0-9]+ %$' "$work/out"
sluice run bfs:tiny
holds "without the option" test "$(grep -c 'largest stalls' "$work/out")" -eq 0

testcase "counting for each kernel changes nothing"
sluice run bfs:tiny --json "$work/run.json"
value_is True 'run["stats"] == full["stats"] and run["cycles"] == full["cycles"]'
value_is False '"stats" in run["kernels"][0]'

testcase "a range of launches is timed; the earlier ones are executed"
sluice run bfs:tiny --kernels 3-5 --json "$work/run.json"
status_is 0
value_is '[3, 4, 5]' '[k["launch"] for k in run["kernels"]]'
value_is True 'all(a["warp_instructions"] == b["warp_instructions"] for a, b in zip(run["kernels"], full["kernels"][2:]))'
value_is none 'run["check"]'
sluice run bfs:tiny --skip-kernels 12 --json "$work/run.json"
status_is 0
value_is '[13, 14]' '[k["launch"] for k in run["kernels"]]'
value_is passed 'run["check"]'

testcase "launches of a recording can be selected, too"
sluice record bfs:tiny -o "$work/bfs.stream"
status_is 0
sluice run --trace "$work/bfs.stream" --kernels 3-5 --json "$work/recorded.json"
status_is 0
sluice run bfs:tiny --kernels 3-5 --json "$work/run.json"
value_is True "run['stats'] == json.load(open('$work/recorded.json'))['stats']"

testcase "with as many representatives as launches the estimate is the run"
sluice run bfs:tiny --sample-kernels 100 --json "$work/run.json"
status_is 0
value_is 14 'len(run["sampling"]["representatives"])'
value_is True 'run["sampling"]["cycles"] == full["cycles"] and run["sampling"]["stats"]["dram.reads"] == full["stats"]["dram.reads"]'
value_is True 'run["sampling"]["thread_instructions"] == full["thread_instructions"]'

testcase "few representatives stand for all launches"
sluice run bfs:tiny --sample-kernels 3 --json "$work/run.json"
status_is 0
out_has "sampled 3 of 14 launches; estimate for all of them:"
value_is True '{r["launch"] - d for r in run["sampling"]["representatives"] for d in (0, 1)} == {k["launch"] for k in run["kernels"]}'
value_is 14 'sum(r["launches"] for r in run["sampling"]["representatives"])'
value_is True 'abs(sum(r["weight"] * full["kernels"][r["launch"] - 1]["warp_instructions"] for r in run["sampling"]["representatives"])
    / run["sampling"]["warp_instructions"] - 1) < 1e-9'
value_is True 'abs(sum(r["weight"] * k["cycles"] for r in run["sampling"]["representatives"] for k in run["kernels"]
    if k["launch"] == r["launch"]) / run["sampling"]["cycles"] - 1) < 1e-9'
value_is True '{k["name"] for k in run["kernels"]} == {"bfs_expand", "bfs_advance"}'
value_is True 'abs(run["sampling"]["cycles"] / full["cycles"] - 1) < 0.5'

testcase "an estimate needs all representatives"
sluice run bfs:tiny --sample-kernels 3 --max-insts 1000 --json "$work/run.json"
value_is False '"cycles" in run["sampling"]'

testcase "device output appears once although the program is executed twice"
cat >"$work/print.ptx" <<'PTX'
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry k() {
.reg .b64 %rd<3>;
mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, 0;
{ .param .b64 p0; st.param.b64 [p0], %rd1; .param .b64 p1; st.param.b64 [p1], %rd2; .param .b32 q; call.uni (q), vprintf, (p0, p1); }
ret; }
PTX
printf 'ptx: print.ptx\nlaunches:\n  - {kernel: k, grid: [1], block: [1]}\n' >"$work/print.yaml"
sluice run --launch "$work/print.yaml" --sample-kernels 1
status_is 0
holds "$(cat "$work/out")" test "$(grep -c '^hello' "$work/out")" -eq 1

testcase "of many kernels the table has the longest"
for _ in $(seq 17); do echo '  - {kernel: k, grid: [1], block: [1]}'; done >>"$work/print.yaml"
sluice run --launch "$work/print.yaml" --kernel-stats
status_is 0
out_has "the 16 longest of 18 kernels"
holds "16 rows" test "$(grep -cE '^ +[0-9]+  k  ' "$work/out")" -eq 16

testcase "the carve-out of each kernel is reported where L1 and shared memory are one array"
unified="--set l1.size_kb=32 --set l1.ways=64 --set sm.carve_outs=[0,8,16,24]"
sluice run mm:tiny $unified --json "$work/run.json"
status_is 0
value_is '[8]' '[k["carve_out_kb"] for k in run["kernels"]]'
out_has "shared memory           8 KB   of the array of 32 KB; the L1 has the rest"
sluice run mm:tiny $unified --set sm.carve_out_kb=16 --json "$work/run.json"
value_is '[16]' '[k["carve_out_kb"] for k in run["kernels"]]'
sluice run mm:tiny $unified --set sm.carve_out_kb=0
status_is 2
err_has "kernel 'mm_tiled' does not fit: a CTA needs 2048 bytes of shared memory, an SM has 0 (sm.carve_out_kb)"
sluice run mm:tiny --json "$work/run.json"
value_is False '"carve_out_kb" in run["kernels"][0]'
holds "two arrays" test "$(grep -c 'shared memory' "$work/out")" -eq 0

testcase "impossible selections are rejected"
for range in 0 0-3 5-3 x 3-x -3; do
    sluice run bfs:tiny --kernels=$range
    status_is 2
    err_has "expected A, A-B or A-, counted from 1"
done
sluice run bfs:tiny --kernels 15-20
status_is 2
err_has "no launch is timed: the program has 14"
sluice run bfs:tiny --kernels 3 --sample-kernels 2
status_is 2
err_has "only one of --kernels, --skip-kernels and --sample-kernels can be given"
sluice run bfs:tiny + mm:tiny --kernel-stats
status_is 2
err_has "are for one program"

tests_end
