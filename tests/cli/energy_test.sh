# Energy from the command line: custom tables, overheads, and the fit of the bundled tables.
. "$(dirname "$0")/../testlib.sh"

testcase "tools/energy-fit reproduces the bundled tables, with errors below 15 % at every reference point"
python3 tools/energy-fit --check >"$work/fit" 2>&1
check $? "$(tail -n 1 "$work/fit")"
holds "errors" awk '/^largest error/ { found = 1; good = $(NF - 1) < 15 } END { exit !(found && good) }' "$work/fit"
holds "the leave-one-out error is reported for every quantity" test "$(grep -c 'leave-one-out' "$work/fit")" -eq 72

testcase "overhead reports the sums of the papers"
sluice overhead --design adaptive
status_is 0
out_has " 432 "
out_has " 16 "
out_has " 128 "

testcase "writes the overhead as JSON"
sluice overhead --gpu selrep-64sm --design private --json -
status_is 0
out_has '"crossbar_mm2"'
out_has '"bytes": 16384'

testcase "a custom table replaces a bundled one"
sed 's/^constant_watts:.*/constant_watts: 0/; s/^sm_watts:.*/sm_watts: 0/' energy/gpu-volta.yaml >"$work/own.yaml"
sluice run synth:alu --gpu fermi-15sm --set energy.gpu="$work/own.yaml" --json -
status_is 0
out_has '"constant": {"events": 0, "time": 0}'

testcase "rejects an error in a custom table with its location, before anything runs"
sed 's/^int_pj:.*/int_pj: many/' energy/gpu-volta.yaml >"$work/bad.yaml"
sluice run synth:alu --gpu fermi-15sm --set energy.gpu="$work/bad.yaml"
status_is 2
err_has "bad.yaml:"
err_has "int_pj"
sluice overhead --set energy.link=link-22nm-globle
status_is 2
err_has "did you mean"

tests_end
