#!/usr/bin/env bash
# Two concurrent programs, from the command line.
. "$(dirname "$0")/../testlib.sh"

# value FILE PYTHON: an expression over the JSON as j.
value() { python3 -c "import json; j = json.load(open('$1')); print($2)"; }

testcase "WORKLOAD + WORKLOAD runs two programs concurrently, with a result for each"
sluice run mm:tiny + va:tiny --json "$work/two.json"
status_is 0
out_has "mm:tiny + va:tiny on"
out_has "concurrent programs"
out_has "completed"
holds "no programs" test "$(value "$work/two.json" "[p['workload'] for p in j['programs']]")" = "['mm:tiny', 'va:tiny']"
holds "not both verified" test "$(value "$work/two.json" "[p['check'] for p in j['programs']]")" = "['passed', 'passed']"
holds "not each its kernels" \
    test "$(value "$work/two.json" "[[k['name'] for k in p['kernels']] for p in j['programs']]")" = "[['mm_tiled'], ['va_add']]"
holds "units differ from programs" \
    test "$(value "$work/two.json" "j['units']['program.cycles'] == [p['cycles'] for p in j['programs']]")" = True

testcase "+ needs no blanks, and the run is deterministic"
sluice run mm:tiny+va:tiny --json "$work/again.json"
status_is 0
holds "another result" test "$(value "$work/two.json" "j['stats']")" = "$(value "$work/again.json" "j['stats']")"

testcase "--alone reports STP, the sum of IPC over IPC alone, and ANTT, the mean of the inverse"
sluice run mm:tiny + va:tiny --alone --json "$work/alone.json"
status_is 0
out_has "STP"
sluice run mm:tiny --json "$work/mm.json"
sluice run va:tiny --json "$work/va.json"
mm=$(value "$work/mm.json" "j['ipc']") va=$(value "$work/va.json" "j['ipc']")
holds "STP is something else" test \
    "$(value "$work/alone.json" "abs(j['stp'] - j['programs'][0]['ipc'] / $mm - j['programs'][1]['ipc'] / $va) < 1e-9")" = True
holds "ANTT is something else" test \
    "$(value "$work/alone.json" "abs(2 * j['antt'] - $mm / j['programs'][0]['ipc'] - $va / j['programs'][1]['ipc']) < 1e-9")" = True

testcase "compare prints STP and ANTT of two programs for each design"
sluice compare gemm:tiny + mm:tiny --designs shared,private --json "$work/compare.json"
status_is 0
out_has "gemm:tiny + mm:tiny on"
out_has "STP"
out_has "ANTT"
holds "no STP of designs" test "$(value "$work/compare.json" "all(d['stp'] > 0 for d in j['designs'])")" = True

testcase "decisions name their program"
sluice run synth:stream + synth:copy --design adaptive --set llc.adaptive.profile_cycles=1000 \
    --set llc.adaptive.epoch_cycles=6000 --set workload.iterations=8 --json "$work/adaptive.json"
status_is 0
holds "not of both" test "$(value "$work/adaptive.json" "sorted({d['program'] for d in j['decisions']})")" = "[0, 1]"

testcase "rejects programs that cannot run concurrently"
sluice run mm:tiny +
status_is 2
err_has "missing workload"
sluice run mm:tiny + va:tiny + ms:tiny
status_is 2
err_has "at most two programs"
sluice run mm:tiny + vaa:tiny
status_is 2
err_has "did you mean"
sluice run mm:tiny va:tiny + ms:tiny
status_is 2
err_has "missing + between"
sluice run mm:tiny + va:tiny --trace x
status_is 2
err_has "mutually exclusive"
sluice run mm:tiny + va:tiny --set gpu.first_program_sms=10
status_is 2
err_has "gpu.first_program_sms"
sluice record mm:tiny + va:tiny -o "$work/x"
status_is 2
err_has "one workload expected"

tests_end
