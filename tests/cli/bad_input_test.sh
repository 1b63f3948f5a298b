# Invalid input ends the program with status 2 and a message with the fault, its location and the fix; it neither crashes nor hangs nor leaves a partial
# file.
. "$(dirname "$0")/../testlib.sh"

# rejected WORDS ARGS...: status 2, nothing on standard output, the words in the error message.
rejected() {
    local words=$1
    shift
    sluice "$@"
    status_is 2
    out_empty
    err_has "$words"
}

testcase "rejects an unknown key with its location and the nearest name"
rejected "did you mean" run synth:alu --set llc.slizes_per_mc=4
err_has "slices_per_mc"
printf 'llc:\n  slizes_per_mc: 4\n' >"$work/gpu.yaml"
rejected "did you mean" run synth:alu --gpu "$work/gpu.yaml"
err_matches 'gpu\.yaml:2:[0-9]+: '

testcase "rejects a value of the wrong type with its location"
printf 'sm:\n  count: many\n' >"$work/gpu.yaml"
rejected "sm.count" run synth:alu --gpu "$work/gpu.yaml"
err_matches 'gpu\.yaml:2:[0-9]+: '
rejected "sm.count" run synth:alu --set sm.count=[1,2]

testcase "rejects a value out of range with the range"
rejected "sm.count" run synth:alu --set sm.count=-1
rejected "sm.count" run synth:alu --set sm.count=1000000000000

testcase "rejects a machine without SMs"
rejected "sm.count" run synth:alu --set sm.count=0

testcase "rejects a cache whose size is not sets x ways x line"
rejected "sets" run synth:alu --set l1.sets=7

testcase "rejects invalid YAML with its location"
printf 'sm:\n  count: [1, 2\nllc: 3\n' >"$work/gpu.yaml"
sluice run synth:alu --gpu "$work/gpu.yaml"
status_is 2
err_matches 'gpu\.yaml:[0-9]+:[0-9]+: '

testcase "rejects a binary file and a directory as GPU descriptions"
head -c 4096 "$SLUICE" >"$work/binary.yaml"
sluice run synth:alu --gpu "$work/binary.yaml"
status_is 2
sluice run synth:alu --gpu "$work"
status_is 2

testcase "distinguishes a missing file from an unknown GPU"
rejected "no-such.yaml" run synth:alu --gpu "$work/no-such.yaml"
rejected "adaptive-80sm" run synth:alu --gpu adaptive-81sm

testcase "rejects an unknown workload with the nearest name"
rejected "synth:stream" run synth:strean

testcase "rejects a CTA that fits in no SM before anything runs"
rejected "CTA" run synth:alu --set workload.warps=32 --set sm.warps=16

testcase "a rejected run leaves no output file"
sluice run synth:alu --json "$work/out.json" --set sm.count=0
status_is 2
no_file "$work/out.json"

testcase "rejects a profile that is missing, invalid, damaged or of another machine"
profiled="run synth:alu --gpu fermi-15sm --design profiled --set l1.profiled.profile=$work/p"
# shellcheck disable=SC2086
{
    rejected "No such file" $profiled
    printf 'hello\n' >"$work/p"
    rejected "p:1:1: not a profile" $profiled
    printf 'sluice profile 1\nsms 2 line_bytes 128\n' >"$work/p"
    rejected "p:2:1: the profile is for 2 SMs" $profiled
    printf 'sluice profile 1\nsms 15 line_bytes 128\nkernel 0 sm 0\n1f three\n' >"$work/p"
    rejected "p:4:4: expected" $profiled
}
rejected "cannot access directory" run synth:alu --design profiled --set "l1.profiled.record=$work/no/p"

tests_end
