# Kernels that spin: limits, signals and the diagnosis of livelocks end every command that executes them.
. "$(dirname "$0")/../testlib.sh"

small="--gpu fermi-15sm"
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
flat() { awk -f tools/json-flat.awk "$1"; }

# kernel NAME LOOP: a launch of four CTAs in $work/NAME.yaml. Warp 1 of each executes the loop, warp 0 waits for it at a
# barrier.
kernel() {
    cat >"$work/$1.ptx" <<PTX
.version 8.0
.target sm_90
.address_size 64
.visible .entry spin(.param .u64 flag) {
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [flag];
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 32;
@%p1 bra join;
mov.u32 %r3, 0;
loop: ld.volatile.global.u32 %r2, [%rd1];
$2
setp.eq.u32 %p2, %r2, 0;
@%p2 bra loop;
join: bar.sync 0;
ret;
}
PTX
    cat >"$work/$1.yaml" <<YAML
ptx: $1.ptx
buffers:
  - {name: flag, bytes: 256}
launches:
  - {kernel: spin, grid: [4], block: [64], args: [{buffer: flag}]}
YAML
}
kernel counts "add.u32 %r3, %r3, 1;" # never repeats a state
kernel polls ""
kernel stores "st.volatile.global.u32 [%rd1+128], %r1;"

testcase "--max-insts ends a run in which a warp spins while another waits at a barrier"
for name in counts stores; do
    for time in first second; do
        sluice run --launch "$work/$name.yaml" $small --max-insts 200000 --json "$work/$time.json"
        status_is 0
        err_empty
        flat "$work/$time.json" | grep -v '^host\.' >"$work/$time"
    done
    same_files "$work/first" "$work/second"
    issued=$(sed -n 's/^thread_instructions	//p' "$work/first")
    holds "at least 200000 thread instructions: $issued" test "$issued" -ge 200000
    holds "check none" grep -q "^check	none$" "$work/first"
done

testcase "--max-insts ends a comparison of such a kernel"
sluice compare --launch "$work/counts.yaml" --designs shared,private --max-insts 200000
status_is 0
err_empty
out_has "thread instructions"

testcase "--max-insts ends a run that looks ahead, for which kernels are executed completely"
sluice run --launch "$work/counts.yaml" --gpu selrep-64sm --design look-ahead --max-insts 200000 --json "$work/ahead.json"
status_is 0
holds "check none" grep -q '"check": "none"' "$work/ahead.json"

testcase "--max-insts ends a run whose endless launch is executed without timing"
sed 's/grid: /repeat: 2, grid: /' "$work/stores.yaml" >"$work/twice.yaml"
for option in "--skip-kernels 1" "--kernels 2" "--sample-kernels 1" "--kernels 2 --checkpoint $work/state"; do
    # shellcheck disable=SC2086 # the words of the options
    sluice run --launch "$work/twice.yaml" $small $option --max-insts 1000
    status_is 1
    err_has "launch of spin, which is executed without timing: no CTA has ended for 16777216 warp instructions"
done
no_file "$work/state"

testcase "--max-insts ends a recording, which is simulated like any other"
for name in counts stores; do
    for time in first second; do
        sluice record --launch "$work/$name.yaml" --max-insts 200000 -o "$work/$time.stream"
        status_is 0
        err_empty
    done
    same_files "$work/first.stream" "$work/second.stream"
    sluice info "$work/first.stream" --json "$work/info.json"
    recorded=$(flat "$work/info.json" | sed -n 's/^thread_instructions	//p')
    holds "$recorded thread instructions" test "$recorded" -ge 200000 -a "$recorded" -lt 205000
    sluice run --trace "$work/first.stream" $small --json "$work/replayed.json"
    status_is 0
    err_empty
    holds "all are simulated" grep -q "\"thread_instructions\": $recorded," "$work/replayed.json"
    holds "check none" grep -q '"check": "none"' "$work/replayed.json"
done

testcase "a recording that ends while warps wait at a barrier with a number of threads is simulated"
kernel named "st.volatile.global.u32 [%rd1+128], %r1;"
sed -i 's/bar.sync 0;/bar.sync 1, 64;/' "$work/named.ptx"
sed -i 's/block: \[64\]/block: [128]/' "$work/named.yaml"
sluice record --launch "$work/named.yaml" --max-insts 200000 -o "$work/named.stream"
status_is 0
sluice run --trace "$work/named.stream" $small
status_is 0
err_empty

testcase "--max-insts ends a survey, and is for what is executed"
sluice list workloads --survey mm --max-insts 100000
status_is 0
out_has " 104704 "
sluice list gpus --max-insts 100000
status_is 2
err_has "--max-insts is for workloads with --long or --survey"
sluice record synth:alu --max-insts 1000 -o "$work/synth.stream"
status_is 2
err_has "--max-insts is for programs that are executed"
no_file "$work/synth.stream"

testcase "a livelock ends a run, a comparison and a recording with the line, the address and the waiting warps"
for command in "run $small" "compare --designs shared,private" "record -o $work/polls.stream"; do
    # shellcheck disable=SC2086 # the words of a command
    sluice $command --launch "$work/polls.yaml"
    status_is 1
    err_has "polls.ptx:11: \`ld.volatile.global.u32 %r2, [%rd1]\` in kernel spin, block (0,0,0), thread (32,0,0): livelock"
    err_has "block (0,0,0) warp 1 polls 4 bytes of global memory at 0xc0000000 (0x0) in line 11"
    err_has "block (0,0,0) warp 0 waits at barrier 0 in line 15"
done
no_file "$work/polls.stream"

# ended_by SIGNAL ARGS...: sluice ARGS, which gets the signal after half a second and has to end within two seconds of it;
# it is killed after 60, with status 137.
ended_by() {
    local signal=$1 start took
    shift
    last_command="sluice $*"
    start=$(date +%s%N)
    timeout --foreground --preserve-status -k 60 -s "$signal" 0.5 "$SLUICE" "$@" >"$work/out" 2>"$work/err"
    last_status=$?
    took=$((($(date +%s%N) - start) / 1000000 - 500))
    holds "it ended $took ms after SIG$signal" test "$took" -lt 2000
}
cat >"$work/lab.yaml" <<YAML
title: spin
question: does it end?
gpu: fermi-15sm
workloads: [counts.yaml]
designs: {shared: {design: shared}}
metrics: [{name: IPC, value: ipc}]
YAML

testcase "Ctrl-C, TERM and a closed terminal end every command that executes a spinning kernel, and leave no file"
while read -r signal name; do
    ended_by "$signal" run --launch "$work/$name.yaml" $small --json "$work/run.json"
    status_is 1
    holds "the result is marked as interrupted" grep -q '"interrupted": true' "$work/run.json"
    ended_by "$signal" compare --launch "$work/$name.yaml" --designs shared,private
    status_is 1
    ended_by "$signal" record --launch "$work/$name.yaml" -o "$work/spin.stream"
    status_is 1
    err_has "interrupted; no recording was written"
    ended_by "$signal" lab run "$work/lab.yaml" --store "$work/lab.sqlite"
    status_is 1
    no_file "$work/spin.stream"
    holds "no file is left: $(ls -A "$TMPDIR")" test -z "$(ls -A "$TMPDIR")"
done <<'PAIRS'
INT counts
TERM stores
HUP counts
PAIRS

testcase "Ctrl-C and TERM end a survey"
for signal in INT TERM; do
    ended_by $signal list workloads --survey rn --size adaptive
    status_is 1
    err_has "interrupted"
done

tests_end
