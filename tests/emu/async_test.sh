# Kernels with asynchronous copies on a whole machine (tests/emu/async): results, overlap, polling, recordings.
. "$(dirname "$0")/../testlib.sh"

# counters LAUNCH [OPTION]...: all counters of a run, in $work/counters.
counters() {
    local launch=$1
    shift
    sluice run --launch "tests/emu/async/$launch.yaml" --json "$work/run.json" "$@"
    status_is 0
    out_has "check                 passed"
    awk -f tools/json-flat.awk "$work/run.json" | grep -E '^(cycles|stats\.|units\.)' >"$work/counters"
}
counter() { awk -v name="$1" '$1 == name { print $2 }' "$work/counters"; }

testcase "the PTX that nvcc generates from the sources is the one that the tests run"
if command -v "${CUDA_HOME:+$CUDA_HOME/bin/}nvcc" >/dev/null; then
    mkdir "$work/ptx"
    holds "tests/emu/async/compile failed" tests/emu/async/compile "$work/ptx"
    for name in gemm bulk; do same_files "$work/ptx/$name.ptx" "tests/emu/async/$name.ptx"; done
else
    holds "an instruction is missing" grep -q cp.async.wait_group tests/emu/async/gemm.ptx
fi

testcase "copies overlap with the product of the tile before: fewer cycles, and no stalls for memory"
counters gemm_plain
plain=$(counter cycles) plain_stalls=$(counter stats.sm.stall.memory)
counters gemm_async
holds "$(counter cycles) cycles are not fewer than $plain" test "$(counter cycles)" -lt "$plain"
holds "$(counter stats.sm.stall.memory) stalls of $plain_stalls" test "$(($(counter stats.sm.stall.memory) * 10))" -lt "$plain_stalls"

testcase "a memory that the copies cannot hide stalls the waits"
counters gemm_async --set llc.latency_cycles=900
holds "$(counter stats.sm.stall.memory) stalls" test "$(counter stats.sm.stall.memory)" -gt 5000

testcase "counters do not depend on polling, and a recording has the same"
for launch in gemm_async bulk ring; do
    counters $launch
    cp "$work/counters" "$work/first"
    counters $launch --no-skip
    same_files "$work/first" "$work/counters"
    sluice record --launch tests/emu/async/$launch.yaml -o "$work/stream"
    status_is 0
    sluice run --trace "$work/stream" --json "$work/run.json"
    status_is 0
    awk -f tools/json-flat.awk "$work/run.json" | grep -E '^(cycles|stats\.|units\.)' >"$work/counters"
    same_files "$work/first" "$work/counters"
done

testcase "bulk copies bypass the L1 and take at least the time that their unit needs"
counters bulk --set sm.bulk_interval=1
fast=$(counter cycles)
holds "$(counter stats.l1.read_bypasses) bypasses" test "$(counter stats.l1.read_bypasses)" -ge 2048
counters bulk --set sm.bulk_interval=64
holds "$(counter cycles) cycles" test "$(counter cycles)" -gt $((2 * fast))

testcase "copies around a ring of CTAs take the latency of distributed shared memory in each step"
counters ring --set sm.cluster_shared_cycles=100
near=$(counter cycles)
counters ring --set sm.cluster_shared_cycles=200
holds "$(counter cycles) cycles after $near" test "$(counter cycles)" -ge $((near + 400))

tests_end
