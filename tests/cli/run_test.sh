# Runs from the command line: every workload on every GPU, the contents of the result, determinism.
. "$(dirname "$0")/../testlib.sh"

workloads="chase stream copy hotline uniform shared alu"
gpus=$(cd gpus && ls -- *.yaml | sed 's/\.yaml$//')
# The others differ from these in their values only: they run once, and not under sanitizers.
papers="adaptive-80sm fermi-15sm icc-32sm selrep-64sm"
[ -z "${SLUICE_LONG_TESTS:-}" ] || papers=$gpus
case "$SLUICE" in */asan/sluice) gpus=$papers ;; esac
short="--set workload.iterations=4"

flat() { awk -f tools/json-flat.awk "$1"; }
# A result without host.
result() { flat "$1" | grep -v '^host\.'; }

# run_to NAME ARGS...: one run, its result in $work/NAME.
run_to() {
    local name=$1
    shift
    # shellcheck disable=SC2086
    timeout 100 "$SLUICE" run "$@" $short --json "$work/$name.json" >/dev/null 2>"$work/$name.err"
    check $? "sluice run $*: $(head -n 3 "$work/$name.err")"
    result "$work/$name.json" >"$work/$name"
}

testcase "all workloads run on all bundled GPUs, with every message accounted for"
for gpu in $gpus; do
    for workload in $workloads; do run_to "$gpu.$workload" "synth:$workload" --gpu "$gpu"; done
done

testcase "--no-skip gives the same result"
for gpu in $papers; do
    for workload in $workloads; do
        run_to polled "synth:$workload" --gpu "$gpu" --no-skip
        same_files "$work/$gpu.$workload" "$work/polled"
    done
done

testcase "the same run twice gives the same result except for host"
for gpu in $papers; do
    for workload in uniform shared; do
        run_to again "synth:$workload" --gpu "$gpu"
        same_files "$work/$gpu.$workload" "$work/again"
    done
done

testcase "the result has every documented field"
flat "$work/adaptive-80sm.stream.json" >"$work/flat"
for key in sluice gpu design workload cycles thread_instructions warp_instructions ipc check kernels.0.name kernels.0.grid.0 kernels.0.block.0 \
    kernels.0.cycles kernels.0.instructions stats.dram.reads host.seconds host.warp_instructions_per_second host.peak_rss_bytes; do
    grep -q "^$key	" "$work/flat"
    check $? "no field $key"
done

testcase "prints a summary, and nothing on standard error if that is not a terminal"
sluice run synth:alu --gpu fermi-15sm $short
status_is 0
err_empty
holds "a summary" test -s "$work/out"

testcase "--json - prints only JSON"
sluice run synth:alu --gpu fermi-15sm $short --json -
status_is 0
holds "the output is one JSON document" awk -f tools/json-flat.awk "$work/out" >/dev/null

testcase "the output of show gpu describes the same machine"
sluice show gpu fermi-15sm
status_is 0
cp "$work/out" "$work/shown.yaml"
sluice show gpu "$work/shown.yaml"
status_is 0
grep -v '^#' "$work/shown.yaml" | sed 's/ *#.*//' >"$work/first"
grep -v '^#' "$work/out" | sed 's/ *#.*//' >"$work/second"
same_files "$work/first" "$work/second"

testcase "lists every GPU and workload"
sluice list gpus
status_is 0
for gpu in $gpus; do out_has "$gpu"; done
sluice list workloads
status_is 0
for workload in $workloads; do out_has "synth:$workload"; done

testcase "warns about options and settings without effect, and runs"
sluice run mm:tiny --set llc.adaptive.epoch_cycles=1000000 --set workload.iterations=3 --sample 100 --alone
status_is 0
err_has "warning: --set llc.adaptive.epoch_cycles has no effect: llc.organisation is shared"
err_has "warning: --set workload.iterations has no effect: it is for generated streams"
err_has "warning: --sample has no effect without --json"
err_has "warning: --alone has no effect on one program"
sluice run synth:alu --design adaptive --set llc.adaptive.epoch_cycles=1000000 --set workload.iterations=1 --sample 100 --json "$work/used.json"
status_is 0
err_empty

testcase "--latency attributes the cycles of loads, and changes no other counter"
sluice run mm:tiny --json "$work/plain.json"
sluice run mm:tiny --latency --kernel-stats --sample 500 --json "$work/observed.json"
status_is 0
out_has "latency breakdown of loads"
out_has "    all              100.0 %"
text=$(python3 - "$work/plain.json" "$work/observed.json" 2>&1 <<'END'
import json, sys
plain, observed = (json.load(open(file)) for file in sys.argv[1:])
def is_stage(name): return name.startswith("latency.") and not name.split(".")[2].startswith(("from_", "loads"))
for name, value in plain["stats"].items():
    if observed["stats"][name] != value: print(name, value, observed["stats"][name])
if any(name.startswith("latency.") for name in plain["stats"]): print("counters of an observer that is off")
for stats in [observed["stats"]] + [kernel["stats"] for kernel in observed["kernels"]]:
    if sum(value for name, value in stats.items() if is_stage(name)) != stats["sm.load_cycles"]: print("stages do not add up")
    if sum(value for name, value in stats.items() if name.startswith("latency.") and name.endswith(".loads")) != stats["sm.loads"]: print("levels do not add up")
columns, rows = observed["samples"]["columns"], observed["samples"]["rows"]
for row in rows:
    if sum(v for c, v in zip(columns, row) if is_stage(c)) != row[columns.index("sm.load_cycles")]: print("samples do not add up")
END
)
holds "$text" test -z "$text"
sluice list stats latency.dram --set gpu.observe_latency=true
status_is 0
out_has "latency.dram.slice_queue"

tests_end
