#!/usr/bin/env bash
# `sluice exec`: CUDA programs that run unmodified on the simulated GPU. Programs that nvcc compiles are tested where it is
# installed; a program with a prebuilt fat binary everywhere.
. "$(dirname "$0")/../testlib.sh"
. tests/cudart/plain.sh

cc=${CC:-gcc}
gpu=(--gpu fermi-15sm)

json() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }

testcase "runs a program of each release, whose output and status pass through"
for release in 10.2 11.0 12 13; do
    plain "$release" "$work/plain-$release"
    sluice exec --functional -- "$work/plain-$release" properties
    status_is 0
    version=${release%%.*}000
    [ "$release" != 10.2 ] || version=10020
    holds "output: $(cat "$work/out")" test "$(cat "$work/out")" = "passed
$version: Sluice adaptive-80sm, 80 SMs, 7.5, 6144 KB L2, 2048 threads per SM, 16384 MB"
    err_empty
done
program=$work/plain-12
sluice exec --functional -- "$program" status
status_is 7

testcase "every launch is a kernel of the result, and --functional executes the same instructions"
sluice exec "${gpu[@]}" --json "$work/timed.json" -- "$program"
status_is 0
out_has passed
err_has "IPC"
sluice exec --functional --json "$work/functional.json" -- "$program"
holds "5 launches of add" test "$(json "$work/timed.json" '[k["name"] for k in r["kernels"]]')" = "['add', 'add', 'add', 'add', 'add']"
holds "no cycles" test "$(json "$work/timed.json" 'r["cycles"] > 0 and all(k["cycles"] > 0 for k in r["kernels"])')" = True
for key in '[k["instructions"] for k in r["kernels"]]' 'r["warp_instructions"]' 'r["workload"]'; do
    holds "$key differs" test "$(json "$work/timed.json" "$key")" = "$(json "$work/functional.json" "$key")"
done
for mode in timed functional; do
    holds "the host's time" test "$(json "$work/$mode.json" 'r["host"]["seconds"] > 0 and r["host"]["peak_rss_bytes"] > 0')" = True
done

testcase "the results fit their schemas"
if /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
    for pair in run/timed exec/functional; do
        /usr/bin/python3 -c 'import json, jsonschema, sys; jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))' \
            "schemas/${pair%/*}.schema.json" "$work/${pair#*/}.json" >"$work/out" 2>&1
        check $? "$pair: $(tail -n 3 "$work/out")"
    done
else
    check 0 # python3-jsonschema is not installed
fi

testcase "launches are counted one by one, selected and represented"
sluice exec "${gpu[@]}" --kernels 2-3 --kernel-stats --json "$work/some.json" -- "$program"
status_is 0
holds "launches 2 and 3" test "$(json "$work/some.json" '[k["launch"] for k in r["kernels"]]')" = "[2, 3]"
holds "their counters" test "$(json "$work/some.json" 'sum(k["stats"]["sm.issuing"] for k in r["kernels"]) == r["stats"]["sm.issuing"]')" = True
err_has "largest stalls"
sluice exec "${gpu[@]}" --sample-kernels 2 --json "$work/sampled.json" -- "$program"
status_is 0
out_has passed
err_has "of 5 launches; estimate for all of them:"
holds "all launches are represented" test "$(json "$work/sampled.json" 'sum(k["launches"] for k in r["sampling"]["representatives"])')" = 5
holds "all instructions" test "$(json "$work/sampled.json" 'r["sampling"]["warp_instructions"]')" = "$(json "$work/timed.json" 'r["warp_instructions"]')"
sluice exec --sample-kernels 2 --functional -- "$program"
status_is 2
err_has "cannot be combined"
sluice exec --kernel-stats --functional -- "$program"
status_is 2
err_has "--kernel-stats and --functional are mutually exclusive"

testcase "two runs have the same result"
sluice exec "${gpu[@]}" --json "$work/again.json" -- "$program"
holds "the counters differ" diff <(grep -vE '"(seconds|warp_instructions_per_second|peak_rss_bytes)"' "$work/timed.json") \
    <(grep -vE '"(seconds|warp_instructions_per_second|peak_rss_bytes)"' "$work/again.json")

testcase "--kernels times a part of the launches"
sluice exec "${gpu[@]}" --kernels 2-3 --json "$work/part.json" -- "$program"
status_is 0
holds "kernels: $(json "$work/part.json" 'len(r["kernels"])')" test "$(json "$work/part.json" 'len(r["kernels"])')" = 2
sluice exec --kernels 9- -- "$program"
err_has "no launch is in the range --kernels 9-"
for range in 0-3 3-2 x 1- 1-2x -3; do
    case $range in 1-) continue ;; esac
    sluice exec "--kernels=$range" -- "$program"
    status_is 2
    err_has "expected A, A-B or A-"
done

testcase "--record writes streams that give the counters of the timed run"
sluice exec --record "$work/plain.stream" -- "$program"
status_is 0
out_has passed
sluice run "${gpu[@]}" --trace "$work/plain.stream" --json "$work/recorded.json"
status_is 0
for key in 'r["cycles"]' 'r["stats"]' 'r["kernels"]'; do
    holds "$key differs" test "$(json "$work/timed.json" "$key")" = "$(json "$work/recorded.json" "$key")"
done

testcase "--design and --set choose the machine, as \`run\` does for the recording"
large=(--gpu adaptive-80sm) # has private slices
sluice exec "${large[@]}" --json "$work/default.json" -- "$program"
for machine in "--design private" "--set llc.latency_cycles=333"; do
    # shellcheck disable=SC2086 # the words of the options
    sluice exec "${large[@]}" $machine --json "$work/machine.json" -- "$program"
    status_is 0
    # shellcheck disable=SC2086
    sluice run "${large[@]}" $machine --trace "$work/plain.stream" --json "$work/recorded.json"
    status_is 0
    for key in 'r["cycles"]' 'r["stats"]' 'r["design"]' 'r["config"]'; do
        holds "$machine: $key differs" test "$(json "$work/machine.json" "$key")" = "$(json "$work/recorded.json" "$key")"
    done
    holds "$machine has no effect" test "$(json "$work/machine.json" 'r["cycles"]')" != "$(json "$work/default.json" 'r["cycles"]')"
done
sluice exec --set l1.size_kib=8 -- "$program"
status_is 2
err_has "size_kib"

testcase "compare and lab run simulate a recording"
sluice exec "${large[@]}" --design private --json "$work/private.json" -- "$program"
cycles=$(json "$work/private.json" 'r["cycles"]')
sluice compare "${large[@]}" --trace "$work/plain.stream" --designs shared,private --json "$work/compared.json"
status_is 0
holds "compare: $cycles cycles under the design private" grep -q "\"cycles\": $cycles\b" "$work/compared.json"
printf 'title: A recording\ngpu: adaptive-80sm\nworkloads: [{workload: plain.stream, name: plain}]\ndesigns: [shared, private]\nmetrics: [{name: IPC, value: ipc}]\n' >"$work/lab.yaml"
sluice lab run "$work/lab.yaml" --store "$work/lab.sqlite" -j 1
status_is 0
sluice lab export "$work/lab.yaml" --store "$work/lab.sqlite" --json "$work/lab.json"
status_is 0
holds "lab run: $cycles cycles under the design private" grep -q "\"cycles\":$cycles\b" "$work/lab.json"

testcase "a crash gives its signal, the status of a shell, and no result"
sluice exec "${gpu[@]}" --json "$work/crash.json" -- "$program" crash
status_is 139
out_has passed
err_has "was ended by signal 11 (Segmentation fault) after 5 launches; no result is written"
holds "a result was written" test ! -e "$work/crash.json"

testcase "an early exit gives a complete result and its status"
sluice exec "${gpu[@]}" --json "$work/early.json" -- "$program" early
status_is 5
holds "kernels" test "$(json "$work/early.json" 'len(r["kernels"])')" = 5

testcase "a fault is a sticky error in the program, and is reported with its location"
sluice exec "${gpu[@]}" --json "$work/fault.json" -- "$program" fault
status_is 1
out_has "cudaSuccess, cudaErrorIllegalAddress, cudaErrorIllegalAddress"
out_has "then cudaErrorIllegalAddress"
err_matches 'plain-12 \(PTX\):[0-9]+: `ld.global.*in kernel add, block \(0,0,0\), thread \(0,0,0\): .*0x10'
holds "a result was written" test ! -e "$work/fault.json"
sluice exec --functional -- "$program" fault
status_is 1
err_matches 'in kernel add'

testcase "several threads share the device"
sluice exec "${gpu[@]}" --json "$work/threads.json" -- "$program" threads
status_is 0
for i in 0 1 2 3; do out_has "thread $i: passed"; done
holds "kernels" test "$(json "$work/threads.json" 'len(r["kernels"])')" = 25

testcase "a forked child has no device, and its parent keeps it"
sluice exec --functional -- "$program" fork
status_is 0
out_has "child: cudaErrorInitializationError"
out_has "parent: passed"
err_has "this process was forked from a CUDA program and has no device"

# gone PID: the process ends within ten seconds, on a loaded machine.
gone() { for _ in {1..200}; do kill -0 "$1" 2>/dev/null || return 0; sleep 0.05; done; return 1; }

testcase "processes that a program leaves are ended"
sluice exec --functional -- "$program" leave
status_is 0
err_has "1 process that $program has started and left was ended"
holds "it is alive" gone "$(tail -n 1 "$work/out")"

testcase "an interrupt ends the program, also one that ignores it, and marks the result"
for how in wait stubborn; do
    for mode in --functional --json="$work/interrupted.json"; do
        rm -f "$work/interrupted.json"
        : >"$work/out" # the shell that starts the program truncates it only later
        "$SLUICE" exec "${gpu[@]}" "$mode" -- "$program" $how >"$work/out" 2>"$work/err" &
        pid=$!
        for _ in {1..1000}; do [ "$(wc -l <"$work/out")" -ge 2 ] && break || sleep 0.05; done
        kill -TERM $pid
        wait $pid
        check $(($? != 1)) "the status is not 1: $(cat "$work/err")"
        holds "the program is alive" gone "$(tail -n 1 "$work/out")"
    done
    holds "not marked" test "$(json "$work/interrupted.json" 'r["interrupted"], len(r["kernels"])')" = "(True, 5)"
done

testcase "an interrupt or a closed terminal in the first kernel leaves a marked result, no recording and no other file"
mkdir "$work/long"
for signal in TERM HUP; do
    for mode in --functional "" --record; do
        rm -f "$work"/long/*
        [ "$mode" != --record ] || mode="--record $work/long/long.stream"
        : >"$work/out"
        # nohup starts its command with HUP ignored; `env` restores the default.
        # shellcheck disable=SC2086 # the words of the option
        env --default-signal=HUP "$SLUICE" exec "${gpu[@]}" $mode --json "$work/long/long.json" -- "$program" long >"$work/out" 2>"$work/err" &
        pid=$!
        for _ in {1..1000}; do [ -s "$work/out" ] && break || sleep 0.05; done
        sleep 0.5
        kill -$signal $pid
        wait $pid
        last_status=$? last_command="sluice exec $mode -- $program long, ended by $signal"
        status_is 1
        holds "the program is alive" gone "$(head -n 1 "$work/out")"
        holds "there is a kernel: $(cat "$work/err")" test "$(grep -c "has launched no kernel" "$work/err")" = 0
        case $mode in
        --record*)
            err_has "interrupted; no recording is written"
            holds "left: $(ls -A "$work/long")" test -z "$(ls -A "$work/long")"
            ;;
        *)
            holds "not marked" test "$(json "$work/long/long.json" 'r["interrupted"]')" = True
            holds "left: $(ls -A "$work/long")" test "$(ls -A "$work/long")" = long.json
            ;;
        esac
        [ "$mode" ] || holds "nothing is timed" test "$(json "$work/long/long.json" 'r["cycles"] > 0')" = True
    done
done

testcase "a program that closes the connection is told so, and gives no result"
for mode in --functional "" "--record $work/close.stream"; do
    # shellcheck disable=SC2086 # the words of the option
    sluice exec "${gpu[@]}" $mode --json "$work/close.json" -- "$program" close
    status_is 1
    out_has "cudaErrorInitializationError, 0 bytes"
    err_has "the program has closed the connection to the simulator"
    err_has "$program has closed its connection to the simulator, so that its later CUDA calls have failed; no result is written"
    no_file "$work/close.json"
done
no_file "$work/close.stream"
sluice exec --functional --json "$work/close.json" -- "$program" last # without later calls, nothing is missing
status_is 0
err_empty
holds "not complete" test "$(json "$work/close.json" 'len(r["kernels"])')" = 5

testcase "the program ends with the simulator"
: >"$work/out"
"$SLUICE" exec --functional -- "$program" stubborn >"$work/out" 2>"$work/err" &
pid=$!
for _ in {1..1000}; do [ "$(wc -l <"$work/out")" -ge 2 ] && break || sleep 0.05; done
disown $pid # the shell does not report its end
kill -KILL $pid
holds "the program is alive" gone "$(tail -n 1 "$work/out")"

testcase "a program without launches gives no result"
sluice exec --json "$work/none.json" -- "$program" none
status_is 0
err_has "has launched no kernel"
holds "a result was written" test ! -e "$work/none.json"

testcase "a function that is not implemented names itself once"
sluice exec --functional -- "$program" missing
status_is 0
out_has "cudaErrorNotSupported"
holds "it is named once" test "$(grep -c 'cudaGraphCreate is not implemented' "$work/err")" = 1

testcase "without the simulator, the library says how to start the program"
LD_LIBRARY_PATH=$library "$program" >"$work/out" 2>"$work/err"
last_status=$? last_command=$program
status_is 3
err_has "this runtime library works under the simulator only: sluice exec -- PROGRAM"

testcase "rejects what it cannot run, and says how to rebuild it"
sluice exec -- "$work/nothing"
status_is 2
err_has "there is no program $work/nothing"
sluice exec -- ./README.md
status_is 2
err_has "not a 64-bit ELF executable"
printf 'int main() { return 0; }\n' >"$work/source.cu"
PATH=/nowhere CUDA_HOME='' "$SLUICE" exec -- "$work/source.cu" 2>"$work/err"
last_status=$? last_command="sluice exec -- source.cu without nvcc"
status_is 2
err_has "source.cu is a source, and nvcc, which would build its program, is not installed"
err_has "\`sluice cuda $work/source.cu\` compiles its kernels"
err_has "nvcc -cudart shared -gencode arch=compute_75,code=compute_75"
sluice exec -- "$work/absent.cu"
status_is 2
err_has "cannot read $work/absent.cu"
sluice exec -- /bin/sh
status_is 2
err_has "the program has no device code"
sluice exec "$program"
status_is 2
err_has 'the program and its arguments follow `--`'
sluice exec --json - -- "$program"
status_is 2
err_has "standard output is the program's"
sluice exec --functional --record "$work/x.stream" -- "$program"
status_is 2
printf '.section .note.GNU-stack,""\n.section .nv_fatbin,"a"\n.incbin "data/fuzz/fatbin/nvcc-raw"\n' >"$work/static.s"
printf 'int main(void) { return 0; }\n' >"$work/main.c"
"$cc" "$work/main.c" "$work/static.s" -o "$work/static"
sluice exec -- "$work/static"
status_is 2
err_has "the program is linked with the static CUDA runtime; rebuild it with nvcc -cudart shared -gencode arch=compute_75,code=compute_75"
{ cat "$work/static.s" && printf '.section __nv_relfatbin,"a"\n.byte 1\n'; } >"$work/relocatable.s"
"$cc" "$work/main.c" "$work/relocatable.s" -o "$work/relocatable"
sluice exec -- "$work/relocatable"
status_is 2
err_has "relocatable device code is not supported; rebuild the program without -rdc=true"
# One entry of kind 2, machine code, with 8 bytes of it.
printf '.section .note.GNU-stack,""\n.section .nv_fatbin,"a"\n.long 0xBA55ED50\n.short 1, 16\n.quad 72\n.short 2, 0x101\n.long 64\n.quad 8\n.zero 56\n' >"$work/code.s"
"$cc" -Wl,--no-as-needed,--unresolved-symbols=ignore-all "$work/main.c" "$work/code.s" -o "$work/code" "$library/libcudart.so.13"
sluice exec -- "$work/code"
status_is 2
err_has "the program has machine code but no PTX; rebuild it with nvcc"
head -c 3000 "$program" >"$work/cut"
sluice exec -- "$work/cut"
status_is 2

tests_end
