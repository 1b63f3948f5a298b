#!/usr/bin/env bash
# The page of V100, A100 and H100 shows its data, and their descriptions run.
. "$(dirname "$0")/../testlib.sh"

testcase "the table of docs/machines.md is what its data give"
tools/machines --check >"$work/out" 2>&1
check $? "$(cat "$work/out")"

testcase "programs run on the machines, with the designs that fit"
for run in "v100 selrep" "v100 private" "a100 shared" "a100 selrep" "h100 static-2"; do
    read -r gpu design <<<"$run"
    sluice run mm:tiny --gpu "$gpu" --design "$design" --json "$work/run.json"
    status_is 0
    holds "$run: $(grep '"check"' "$work/run.json")" grep -q '"check": "passed"' "$work/run.json"
done

testcase "designs that do not fit are rejected with the reason"
sluice run mm:tiny --gpu a100 --design adaptive
status_is 2
err_has "a private LLC needs one slice per cluster"
sluice run mm:tiny --gpu v100 --design icc-mgc
status_is 2
err_has "have a fixed size, and this GPU carves shared memory out of them"

tests_end
