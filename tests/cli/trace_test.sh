#!/usr/bin/env bash
# SASS traces: simulated, described, cut and converted; plain and compressed; against the same kernels as PTX; in bounded memory.
. "$(dirname "$0")/../testlib.sh"

value() { python3 -c 'import json, sys; at = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("/"): at = at[int(key) if key.isdigit() else key]
print(at)' "$1" "$2"; }
# counters FILE: the counters of a run, without host and time.
counters() { python3 -c 'import json, sys; print("\n".join(f"{k} {v}" for k, v in json.load(open(sys.argv[1]))["stats"].items()))' "$1"; }

python3 tests/sass/equivalent.py "$work"

for kernel in add stride reuse; do
    testcase "$kernel as PTX and as an equivalent trace has the same accesses, and cycles within 2 %"
    for gpu in v100 a100 h100 fermi-15sm adaptive-80sm; do
        sluice run --launch "$work/$kernel.yaml" --gpu $gpu --json "$work/ptx.json"
        status_is 0
        sluice run --trace "$work/$kernel/kernelslist.g" --gpu $gpu --json "$work/trace.json"
        status_is 0
        err_empty
        a=$(value "$work/ptx.json" cycles) b=$(value "$work/trace.json" cycles)
        holds "$gpu: $a cycles as PTX, $b as a trace" test $((a > b ? 100 * (a - b) : 100 * (b - a))) -le $((2 * a))
    done
    sluice record --launch "$work/$kernel.yaml" -o "$work/ptx.stream"
    sluice trace info "$work/ptx.stream" --json "$work/a.json"
    sluice trace info "$work/$kernel" --json "$work/b.json"
    for key in accesses sectors; do
        holds "$key differ" test "$(value "$work/a.json" $key)" = "$(value "$work/b.json" $key)"
    done
done

testcase "data that a kernel does not write are read-only in a trace as in PTX, and in the recording of it"
sluice trace convert "$work/reuse" -o "$work/reuse.stream"
for input in "--launch $work/reuse.yaml" "--trace $work/reuse" "--trace $work/reuse.stream"; do
    sluice run $input --gpu a100 --json "$work/copies.json"
    value "$work/copies.json" stats/copies.read_hits
    sluice run $input --gpu selrep-64sm --design selrep --json "$work/selrep.json"
    value "$work/selrep.json" stats/selrep.requests
done >"$work/copies"
holds "$(cat "$work/copies")" test "$(sort -u "$work/copies" | wc -l)" -eq 2
holds "$(cat "$work/copies")" test "$(sort -n "$work/copies" | head -n 1)" -gt 0

sluice run --trace "$work/stride/kernelslist.g" --json "$work/trace.json"
counters "$work/trace.json" >"$work/stride.counters"

testcase "versions 3 and 4 of a trace give the same run as version 5"
for version in 3 4; do
    python3 tests/sass/equivalent.py "$work/v$version" $version
    sluice run --trace "$work/v$version/stride" --json "$work/version.json"
    status_is 0
    counters "$work/version.json" >"$work/version.counters"
    same_files "$work/stride.counters" "$work/version.counters"
done

testcase "a compressed trace gives the same run"
mkdir "$work/packed"
for packer in gzip xz zstd; do
    command -v $packer >/dev/null || continue
    case $packer in gzip) end=gz ;; xz) end=xz ;; zstd) end=zst ;; esac
    $packer -c "$work/stride/kernel-1.traceg" >"$work/packed/kernel-1.traceg.$end"
    echo "kernel-1.traceg.$end" >"$work/packed/kernelslist.g"
    sluice run --trace "$work/packed/kernelslist.g" --json "$work/packed.json"
    status_is 0
    counters "$work/packed.json" >"$work/packed.counters"
    same_files "$work/stride.counters" "$work/packed.counters"
done

testcase "a converted trace is a recording with the same run"
sluice trace convert "$work/stride" -o "$work/stride.stream"
status_is 0
sluice run --trace "$work/stride.stream" --json "$work/recording.json"
status_is 0
counters "$work/recording.json" >"$work/recording.counters"
same_files "$work/stride.counters" "$work/recording.counters"
sluice compare --trace "$work/stride" --designs shared,private
status_is 0

testcase "cut keeps the first CTAs of the selected kernels, of traces and of recordings"
printf 'MemcpyHtoD,0x1000,64\nadd/kernel-1.traceg\nstride/kernel-1.traceg\n' >"$work/both.g"
sluice trace cut "$work/both.g" --kernels 2 --ctas 7 -o "$work/cut"
status_is 0
holds "the list is $(cat "$work/cut/kernelslist.g")" test "$(sed -n 2p "$work/cut/kernelslist.g")" = kernel-2.traceg
sluice trace convert "$work/both.g" -o "$work/both.stream"
sluice trace cut "$work/both.stream" --kernels 2 --ctas 7 -o "$work/cut.stream"
status_is 0
sluice trace info "$work/cut" --json "$work/a.json"
status_is 0
sluice trace info "$work/cut.stream" --json "$work/b.json"
for key in warp_instructions accesses sectors kernels/0/grid classes; do
    holds "$key: $(value "$work/a.json" $key) and $(value "$work/b.json" $key)" test "$(value "$work/a.json" $key)" = "$(value "$work/b.json" $key)"
done
holds "$(value "$work/a.json" warp_instructions) instructions" test "$(value "$work/a.json" warp_instructions)" -eq $((7 * 4 * 17))
holds "$(value "$work/a.json" copies) copies" test "$(value "$work/a.json" copies)" -eq 1
sluice run --trace "$work/cut"
status_is 0
sluice trace cut "$work/both.g" -o "$work/cut"
status_is 2
err_has "exists; choose a new directory"
sluice trace cut "$work/both.g" --kernels 3- -o "$work/none"
status_is 2
err_has "launch 3 does not exist: the trace has 2"
no_file "$work/none"
sluice trace convert "$work/both.g" --kernels 3- -o "$work/none.stream"
status_is 2
no_file "$work/none.stream"

testcase "a broken line is an error with its location, and nothing is written"
sed '100s/ R/ X/' "$work/add/kernel-1.traceg" >"$work/broken.traceg"
for command in "run --trace $work/broken.traceg" "trace info $work/broken.traceg" \
    "trace convert $work/broken.traceg -o $work/broken.stream" "trace cut $work/broken.traceg -o $work/broken.cut"; do
    sluice $command
    status_is 2
    err_matches 'broken\.traceg:100:[0-9]+: `X[0-9]+`: expected a register'
done
no_file "$work/broken.stream"
no_file "$work/broken.cut"
sed 's/^-nregs = .*/-nregs = 21955/' "$work/add/kernel-1.traceg" >"$work/garbage.traceg"
sluice run --trace "$work/garbage.traceg"
status_is 2
err_has "garbage.traceg:6:10: nregs = 21955: a thread has 1 to 255 registers"

testcase "a file of a compression that is not read is rejected with those that are"
printf 'BZh91AY&SY....' >"$work/packed/kernel-2.traceg.bz2"
echo kernel-2.traceg.bz2 >"$work/packed/kernelslist.g"
for input in "$work/packed/kernel-2.traceg.bz2" "$work/packed"; do
    sluice run --trace "$input"
    status_is 2
    err_has "kernel-2.traceg.bz2: neither text nor compressed by gzip, xz or zstd"
done

testcase "an unknown opcode is timed by default, with one warning"
sed 's/ FADD / QUUX /' "$work/add/kernel-1.traceg" >"$work/unknown.traceg"
sluice run --trace "$work/unknown.traceg"
status_is 0
holds "$(cat "$work/err")" test "$(grep -c QUUX "$work/err")" -eq 1
sluice trace info "$work/unknown.traceg"
out_has "unknown opcodes: QUUX (799)"

testcase "a dependent chain of an opcode takes the latency of the table for its architecture"
for machine in v100:70 a100:80 h100:90; do
    gpu=${machine%:*}
    python3 tests/sass/chains.py "$work/chains-$gpu" "${machine#*:}" >"$work/latencies"
    holds "$(wc -l <"$work/latencies") opcodes" test "$(wc -l <"$work/latencies")" -ge 10
    sluice trace convert "$work/chains-$gpu" -o "$work/chains.stream"
    for input in "$work/chains-$gpu" "$work/chains.stream"; do
        sluice run --trace "$input" --gpu "$gpu" --json "$work/chains.json"
        status_is 0
        python3 - "$work/chains.json" "$work/latencies" >"$work/measured" <<'PYTHON'
import json, sys
kernels = json.load(open(sys.argv[1]))["kernels"]
for i, line in enumerate(open(sys.argv[2])):
    short, long = kernels[2 * i + 1], kernels[2 * i + 2]
    print(line.split()[0], (long["cycles"] - short["cycles"]) / 100)
PYTHON
        sed 's/$/.0/' "$work/latencies" >"$work/expected"
        same_files "$work/expected" "$work/measured"
    done
done

testcase "the latency of an opcode follows the parameter of its class"
sluice run --trace "$work/chains-v100/kernel-3.traceg" --gpu v100 --json "$work/a.json"
sluice run --trace "$work/chains-v100/kernel-3.traceg" --gpu v100 --set 'sm.op_f32_add=[12, 2]' --json "$work/b.json"
holds "$(value "$work/a.json" cycles) and $(value "$work/b.json" cycles)" \
    test $(($(value "$work/b.json" cycles) - $(value "$work/a.json" cycles))) -eq 2000

testcase "mistakes on the command line are explained"
sluice trace cut "$work/add"
status_is 2
err_has "missing output: -o FILE"
sluice trace convort "$work/add"
status_is 2
err_has "did you mean"
sluice trace info "$work/nothing.traceg"
status_is 2
err_has "nothing.traceg: No such file"

# Reading may take 200 MB of memory, whatever the size of the trace and the order of its CTAs. Without a limit of the process, which a
# sanitizer's address space exceeds, peak memory is that of the run.
megabytes=30
[ -z "${SLUICE_LONG_TESTS:-}" ] || megabytes=1000
for order in '' --shuffled; do
    testcase "a trace of $megabytes MB ${order:+with CTAs in reverse order }is read in less than 200 MB"
    python3 tests/sass/synthetic.py $megabytes $order | gzip -1 >"$work/synthetic.traceg.gz"
    /usr/bin/env python3 - "$SLUICE" trace info "$work/synthetic.traceg.gz" --json "$work/synthetic.json" >"$work/out" <<'PYTHON'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PYTHON
    read -r status kilobytes <"$work/out"
    holds "status $status" test "$status" -eq 0
    holds "$(value "$work/synthetic.json" text_bytes) bytes" test "$(value "$work/synthetic.json" text_bytes)" -ge $((megabytes * 900000))
    if ldd "$SLUICE" | grep -q -e libasan -e libtsan; then continue; fi
    holds "$kilobytes kB" test "$kilobytes" -lt 200000
done

tests_end
