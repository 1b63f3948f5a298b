# Energy from the command line: tables of one's own, overheads, and that the bundled tables are what the fit gives.
. "$(dirname "$0")/../testlib.sh"

testcase "the bundled tables are what tools/energy-fit makes of the reference points, and no point is missed by 15 %"
python3 tools/energy-fit --check >"$work/fit" 2>&1
check $? "$(tail -n 1 "$work/fit")"
holds "errors" awk '/^the largest error/ { found = 1; good = $(NF - 1) < 15 } END { exit !(found && good) }' "$work/fit"
holds "what leaving a point out does is told of every quantity" test "$(grep -c 'left out' "$work/fit")" -eq 72

testcase "overhead names the papers' own sums"
sluice overhead --design adaptive
status_is 0
out_has " 432 "
out_has " 448 "

testcase "overhead as JSON holds the same"
sluice overhead --gpu selrep-64sm --design private --json -
status_is 0
out_has '"crossbar_mm2"'
out_has '"bytes": 16384'

testcase "a table of one's own takes the place of a bundled one"
sed 's/^constant_watts:.*/constant_watts: 0/; s/^sm_watts:.*/sm_watts: 0/' energy/gpu-volta.yaml >"$work/own.yaml"
sluice run synth:alu --gpu fermi-15sm --set energy.gpu="$work/own.yaml" --json -
status_is 0
out_has '"constant": {"events": 0, "time": 0}'

testcase "a mistake in it is told with its place, before anything runs"
sed 's/^int_pj:.*/int_pj: many/' energy/gpu-volta.yaml >"$work/bad.yaml"
sluice run synth:alu --gpu fermi-15sm --set energy.gpu="$work/bad.yaml"
status_is 2
err_has "bad.yaml:"
err_has "int_pj"
sluice overhead --set energy.link=link-22nm-globle
status_is 2
err_has "did you mean"

tests_end
