# Kernels of one's own from the command line: launch files, what they compute, and what is wrong with them.
. "$(dirname "$0")/../testlib.sh"

small="--gpu fermi-15sm"
flat() { awk -f tools/json-flat.awk "$1"; }

# edited SED: the example with one thing changed, in $work/launch.yaml.
edited() {
    sed "$1" examples/saxpy.yaml >"$work/launch.yaml"
    cp examples/saxpy.ptx "$work/"
}
# refused WORDS: the edited example is refused at a place in the file, and nothing runs.
refused() {
    sluice run --launch "$work/launch.yaml" $small
    status_is 2
    out_empty
    err_matches 'launch\.yaml:[0-9]+:[0-9]+: '
    err_has "$1"
}

testcase "the example runs, and its check passes"
sluice run --launch examples/saxpy.yaml $small --json "$work/saxpy.json"
status_is 0
err_empty
flat "$work/saxpy.json" >"$work/flat"
for field in "workload	saxpy" "check	passed" "kernels.0.name	saxpy" "kernels.0.grid.0	391" "kernels.0.block.0	256"; do
    holds "$field" grep -q "^$field\$" "$work/flat"
done

testcase "every machine executes the same instructions, and twice the same gives the same to the last digit"
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

testcase "--ptx takes the place of what the launch file names, and the file's name is the workload's if it has none"
edited '/^name:/d; s/^ptx:.*/ptx: no-such.ptx/'
sluice run --launch "$work/launch.yaml" --ptx examples/saxpy.ptx $small --json -
status_is 0
out_has '"workload": "launch"'

testcase "a dump appears when the run is complete, with what the kernel left"
edited "s|name: y, |name: y, dump: $work/y.bin, |; s/100000/1000/; s/400000/4000/; s/391/4/; s/, final_sum.*}/}/"
sluice run --launch "$work/launch.yaml" $small
status_is 0
holds "4000 bytes" test "$(stat -c %s "$work/y.bin")" -eq 4000
holds "y[1] = 2" test "$(od -An -tf4 -j4 -N4 "$work/y.bin" | tr -d ' ')" = 2
holds "y[999] = 1000" test "$(od -An -tf4 -j3996 -N4 "$work/y.bin" | tr -d ' ')" = 1000

testcase "what was dumped is expected of a second run, and anything else fails the check"
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

testcase "a sum that is not what it should be fails the run, with both"
edited 's/final_sum_u32: 1742383104/final_sum_u32: 7/'
sluice run --launch "$work/launch.yaml" $small --json "$work/bad.json"
status_is 1
err_has "final_sum_u32 is 1742383104, and should be 7"
holds "failed" grep -q '"check": "failed"' "$work/bad.json"

testcase "a launch that is repeated is so many kernels"
edited 's/    block: .*/&\n    repeat: 3/; s/, final_sum.*}/}/'
sluice run --launch "$work/launch.yaml" $small --json "$work/three.json"
status_is 0
holds "three kernels" test "$(flat "$work/three.json" | grep -c '^kernels\..*\.name')" -eq 3

testcase "an access outside of every buffer ends the run with its place"
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

testcase "a run that stops before the program's end says so neither of its check nor of its faults"
edited 's/value: 100000}/value: 100001}/'
sluice run --launch "$work/launch.yaml" $small --max-insts 1000 --json "$work/short.json"
status_is 0
holds "no check" grep -q '"check": "none"' "$work/short.json"

testcase "a kernel that never ends is ended in good order by a signal, also while the machine waits for it"
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

testcase "mistakes in a launch file are found where they are, with a remedy"
edited 's/kernel: saxpy/kernel: saxpi/'
refused "did you mean 'saxpy'"
edited 's/buffer: x/buffer: z/'
refused "no buffer called 'z'"
edited 's/bytes: 400000/bites: 400000/'
refused "unknown key 'bites' of a buffer; did you mean 'bytes'"
edited 's/kind: iota/kind: itoa/'
refused "did you mean 'iota'"
edited 's/scalar: f32, value: 2/scalar: s32, value: 2.5/'
refused "'2.5' is no s32"
edited 's/scalar: f32/scalar: f64/'
refused "takes 4 bytes, and this has 8"
edited '/buffer: x/d'
refused "takes 4 arguments, and args has 3"
edited 's/\[256\]/[1025]/'
refused "block[0] = 1025 is out of range"
edited 's/name: y/name: x/'
refused "two buffers called 'x'"
edited 's/ptx: .*//'
refused "no PTX is named"

testcase "mistakes in the PTX are found where they are"
edited 's/zzz//'
sed 's/fma.rn.f32/fmma.rn.f32/' examples/saxpy.ptx >"$work/saxpy.ptx"
sluice run --launch "$work/launch.yaml" $small
status_is 2
err_matches 'saxpy\.ptx:[0-9]+:[0-9]+: '

testcase "what cannot go together, or is missing, is refused"
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
err_has "there is no folder"

testcase "a kernel that writes what it loads as read-only is told of, and its lines are counted"
edited '/final_sum/s/, final_sum.*}/}/; s/{buffer: x}/{buffer: y}/'
sluice run --launch "$work/launch.yaml" $small --json "$work/aliased.json"
status_is 0
err_matches 'saxpy.ptx: line [0-9]+ of kernel `saxpy` writes to the line at 0x[0-9a-f]+, which it has loaded as read-only'
err_has "(3125 lines of 128 bytes in all)"
holds "the counter says the same" grep -q '"program.read_only_violations": 3125' "$work/aliased.json"
sluice record --launch "$work/launch.yaml" -o "$work/aliased.sluice"
status_is 0
err_has "(3125 lines of 128 bytes in all)"
sluice run --launch examples/saxpy.yaml $small --json "$work/apart.json"
err_empty
holds "the counter says so" grep -q '"program.read_only_violations": 0' "$work/apart.json"

tests_end
