# Custom kernels from the command line: launch files, their results, and their errors.
. "$(dirname "$0")/../testlib.sh"

small="--gpu fermi-15sm"
flat() { awk -f tools/json-flat.awk "$1"; }

# edited SED: the example with one thing changed, in $work/launch.yaml.
edited() {
    sed "$1" examples/saxpy.yaml >"$work/launch.yaml"
    cp examples/saxpy.ptx "$work/"
}
# rejected WORDS: the edited example is rejected with a location in the file, and nothing runs.
rejected() {
    sluice run --launch "$work/launch.yaml" $small
    status_is 2
    out_empty
    err_matches 'launch\.yaml:[0-9]+:[0-9]+: '
    err_has "$1"
}

testcase "the example runs and passes its check"
sluice run --launch examples/saxpy.yaml $small --json "$work/saxpy.json"
status_is 0
err_empty
flat "$work/saxpy.json" >"$work/flat"
for field in "workload	saxpy" "check	passed" "kernels.0.name	saxpy" "kernels.0.grid.0	391" "kernels.0.block.0	256"; do
    holds "$field" grep -q "^$field\$" "$work/flat"
done

testcase "the example with variables passes its check, and a variable is dumped"
sluice run --launch examples/polynomial.yaml $small --json "$work/polynomial.json"
status_is 0
err_empty
holds "passed" grep -q '"check": "passed"' "$work/polynomial.json"
awk '/^variables:/ { on = 1 } /^launches:/ { on = 0 } on' examples/polynomial.yaml >"$work/variables"
holds "docs/launch-files.md shows it" test "$(grep -cxFf "$work/variables" docs/launch-files.md)" -eq 3
sed "s|name: negative,|name: negative, dump: $work/negative.bin,|" examples/polynomial.yaml >"$work/dumped.yaml"
sluice run --launch "$work/dumped.yaml" --ptx examples/polynomial.ptx $small
status_is 0
holds "4 negative results" test "$(od -An -tu4 "$work/negative.bin" | tr -d ' ')" = 4
sed 's/final_sum_u32: 4/final_sum_u32: 5/' examples/polynomial.yaml >"$work/wrong.yaml"
sluice run --launch "$work/wrong.yaml" --ptx examples/polynomial.ptx $small
status_is 1
err_has "variable negative: final_sum_u32 is 4, expected 5"

testcase "every machine executes the same instructions, and runs are deterministic"
grep -E '^(thread|warp)_instructions' "$work/flat" >"$work/counts"
for gpu in adaptive-80sm icc-32sm selrep-64sm; do
    sluice run --launch examples/saxpy.yaml --gpu $gpu --json "$work/other.json"
    status_is 0
    flat "$work/other.json" | grep -E '^(thread|warp)_instructions' >"$work/other"
    same_files "$work/counts" "$work/other"
done
sluice run --launch examples/saxpy.yaml $small --json "$work/again.json"
flat "$work/again.json" | grep -v '^host\.' >"$work/again"
grep -v '^host\.' "$work/flat" >"$work/first"
same_files "$work/first" "$work/again"

testcase "a matrix product on tensor pipelines passes its check, and its recording gives the same counters"
sluice run --launch examples/gemm.yaml --json "$work/gemm.json"
status_is 0
flat "$work/gemm.json" | grep -E '^(check|cycles|stats\.)' >"$work/gemm"
for field in "check	passed" "stats.sm.op.tensor	3072" "stats.sm.tensor_multiply_adds	8388608"; do
    holds "$field" grep -q "^$field\$" "$work/gemm"
done
sluice record --launch examples/gemm.yaml -o "$work/gemm.stream"
status_is 0
sluice run --trace "$work/gemm.stream" --json "$work/traced.json"
status_is 0
flat "$work/traced.json" | grep -E '^(check|cycles|stats\.)' >"$work/traced"
same_files "$work/gemm" "$work/traced"

testcase "a slower tensor pipeline costs cycles, and a machine without any rejects the program"
sluice run --launch examples/gemm.yaml --set 'sm.tensor_f16_f32=[4, 16]' --json "$work/slow.json"
status_is 0
cycles() { flat "$1" | awk -F'\t' '$1 == "cycles" { print $2 }'; }
holds "more cycles" test "$(cycles "$work/slow.json")" -gt "$(cycles "$work/gemm.json")"
for from in "--launch examples/gemm.yaml" "--trace $work/gemm.stream"; do
    for machine in "--gpu gtx480-322" "--set sm.tensor_units=0"; do
        sluice run $from $machine
        status_is 2
        err_has "this GPU has no tensor pipelines; set sm.tensor_units"
    done
done

testcase "--ptx replaces the PTX file of the launch file, whose name is the default workload name"
edited '/^name:/d; s/^ptx:.*/ptx: no-such.ptx/'
sluice run --launch "$work/launch.yaml" --ptx examples/saxpy.ptx $small --json -
status_is 0
out_has '"workload": "launch"'

testcase "dumps the contents of a buffer when the run is complete"
edited "s|name: y, |name: y, dump: $work/y.bin, |; s/100000/1000/; s/400000/4000/; s/391/4/; s/, final_sum.*}/}/"
sluice run --launch "$work/launch.yaml" $small
status_is 0
holds "4000 bytes" test "$(stat -c %s "$work/y.bin")" -eq 4000
holds "y[1] = 2" test "$(od -An -tf4 -j4 -N4 "$work/y.bin" | tr -d ' ')" = 2
holds "y[999] = 1000" test "$(od -An -tf4 -j3996 -N4 "$work/y.bin" | tr -d ' ')" = 1000

testcase "compares a buffer with an expected file"
edited "s|name: y, |name: y, expected: y.bin, |; s/100000/1000/; s/400000/4000/; s/391/4/; s/, final_sum.*}/}/"
sluice run --launch "$work/launch.yaml" $small --json "$work/good.json"
status_is 0
holds "passed" grep -q '"check": "passed"' "$work/good.json"
sed -i 's/value: 2}/value: 3}/' "$work/launch.yaml"
sluice run --launch "$work/launch.yaml" $small
status_is 1
err_has "buffer y differs from y.bin, first at byte"
sluice run --launch "$work/launch.yaml" $small --no-check
status_is 0

testcase "a wrong sum fails the check, and both sums are reported"
edited 's/final_sum_u32: 1742383104/final_sum_u32: 7/'
sluice run --launch "$work/launch.yaml" $small --json "$work/bad.json"
status_is 1
err_has "final_sum_u32 is 1742383104, expected 7"
holds "failed" grep -q '"check": "failed"' "$work/bad.json"

testcase "repeat launches a kernel several times"
edited 's/    block: .*/&\n    repeat: 3/; s/, final_sum.*}/}/'
sluice run --launch "$work/launch.yaml" $small --json "$work/three.json"
status_is 0
holds "three kernels" test "$(flat "$work/three.json" | grep -c '^kernels\..*\.name')" -eq 3

testcase "an access outside every buffer ends the run with its location"
edited 's/value: 100000}/value: 100001}/'
sluice run --launch "$work/launch.yaml" $small
status_is 1
out_empty
err_has "saxpy"
err_matches '0x[0-9a-f]+'
edited "s/value: 100000}/value: 100001}/; s|name: y, |name: y, dump: $work/none.bin, |"
sluice run --launch "$work/launch.yaml" $small
status_is 1
no_file "$work/none.bin"

testcase "a run stopped by --max-insts reports neither check nor later faults"
edited 's/value: 100000}/value: 100001}/'
sluice run --launch "$work/launch.yaml" $small --max-insts 1000 --json "$work/short.json"
status_is 0
holds "no check" grep -q '"check": "none"' "$work/short.json"

testcase "a signal ends an endless kernel cleanly, also while the machine waits for its stream"
cat >"$work/spin.ptx" <<'TEXT'
.version 6.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 p) {
    .reg .pred %p<3>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p2, %r2, 32;
    @%p2 bra DONE;
AGAIN:
    add.u32 %r2, %r2, 1;
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
DONE:
    bar.sync 0;
    ret;
}
TEXT
printf '%s\n' 'buffers: [{name: a, bytes: 4}]' 'launches: [{kernel: spin, grid: [4], block: [64], args: [{buffer: a}]}]' >"$work/spin.yaml"
timeout --foreground --preserve-status -k 60 -s TERM 4 "$SLUICE" run --launch "$work/spin.yaml" --ptx "$work/spin.ptx" $small --json "$work/spin.json" >"$work/out" 2>&1
holds "status 1" test $? -eq 1
holds "marked as interrupted" grep -q '"interrupted": true' "$work/spin.json"

testcase "reports errors in a launch file with location and fix"
edited 's/kernel: saxpy/kernel: saxpi/'
rejected "did you mean 'saxpy'"
edited 's/buffer: x/buffer: z/'
rejected "there is no buffer 'z'"
edited 's/bytes: 400000/bites: 400000/'
rejected "unknown key 'bites' of a buffer; did you mean 'bytes'"
edited 's/kind: iota/kind: itoa/'
rejected "did you mean 'iota'"
edited 's/scalar: f32, value: 2/scalar: s32, value: 2.5/'
rejected "'2.5' is not a valid s32"
edited 's/scalar: f32/scalar: f64/'
rejected "has 4 bytes, but this argument has 8"
edited '/buffer: x/d'
rejected "has 4 parameters, but args has 3"
edited 's/\[256\]/[1025]/'
rejected "block[0] = 1025 is out of range"
edited 's/name: y/name: x/'
rejected "two buffers named 'x'"
edited 's/ptx: .*//'
rejected "no PTX is given"

testcase "reports errors in the PTX with their location"
edited 's/zzz//'
sed 's/fma.rn.f32/fmma.rn.f32/' examples/saxpy.ptx >"$work/saxpy.ptx"
sluice run --launch "$work/launch.yaml" $small
status_is 2
err_matches 'saxpy\.ptx:[0-9]+:[0-9]+: '

testcase "rejects conflicting options and missing files"
sluice run --ptx examples/saxpy.ptx
status_is 2
err_has "--launch FILE"
sluice run synth:alu --launch examples/saxpy.yaml
status_is 2
err_has "mutually exclusive"
sluice run --launch "$work/no-such.yaml"
status_is 2
err_has "no-such.yaml"
edited "s|name: y, |name: y, dump: $work/no/such/y.bin, |"
sluice run --launch "$work/launch.yaml" $small
status_is 2
err_has "cannot access directory"

# Both pointers of saxpy are `y`: a load through the first is marked, and the store goes through the second.
aliased="s|name: y, |name: y, dump: $work/aliased.bin, |; /final_sum/s/, final_sum.*}/}/; s/{buffer: x}/{buffer: y}/"
violation='saxpy.ptx: line 41 of kernel `saxpy` writes to the line at 0x[0-9a-f]+, which it has loaded as read-only; it is in the buffer of `saxpy_param_0`, `saxpy_param_1`'

testcase "fails if a kernel writes lines it loads as read-only, with kernel, line of PTX, address and buffer, and writes no results"
edited "$aliased"
for option in "" "--on-violation error"; do
    sluice run --launch "$work/launch.yaml" $small --json "$work/aliased.json" $option
    status_is 1
    out_empty
    err_matches "^sluice: .*$violation \(3125 lines of 128 bytes in this kernel; with --on-violation warn, the run continues\)"
    no_file "$work/aliased.json"
    no_file "$work/aliased.bin"
    sluice record --launch "$work/launch.yaml" -o "$work/aliased.sluice" $option
    status_is 1
    err_matches "$violation"
    no_file "$work/aliased.sluice"
    sluice compare --launch "$work/launch.yaml" --designs default,lrr $small --json "$work/aliased.json" $option
    status_is 1
    out_empty
    err_matches "$violation"
    no_file "$work/aliased.json"
done
holds "no temporary file remains" test -z "$(find "$work" -name 'aliased*')"

testcase "with --on-violation warn, warns of such a kernel and counts the lines"
edited "$aliased"
sluice run --launch "$work/launch.yaml" $small --json "$work/aliased.json" --on-violation warn
status_is 0
err_matches "^sluice: warning: read-only data is written: .*$violation"
err_has "(3125 lines of 128 bytes in all)"
holds "the counter says the same" grep -q '"program.read_only_violations": 3125' "$work/aliased.json"
holds "the dump" test -s "$work/aliased.bin"
sluice record --launch "$work/launch.yaml" -o "$work/aliased.sluice" --on-violation warn
status_is 0
err_has "(3125 lines of 128 bytes in all)"
sluice compare --launch "$work/launch.yaml" --designs default,lrr $small --on-violation warn
status_is 0
err_has "(3125 lines of 128 bytes in all)"
out_has "lrr"

testcase "accepts no other value of --on-violation, and no violation is no error"
for command in "run --launch examples/saxpy.yaml" "record va:tiny -o $work/r.stream" "compare va:tiny --designs shared" "lab run quick" "reproduce quick"; do
    sluice $command --on-violation ignore
    status_is 2
    err_has 'expected warn or error'
done
sluice run --launch examples/saxpy.yaml $small --json "$work/apart.json"
err_empty
holds "the counter says so" grep -q '"program.read_only_violations": 0' "$work/apart.json"

tests_end
