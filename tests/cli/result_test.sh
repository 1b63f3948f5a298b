# The result of a run: complete and consistent JSON, or no file.
. "$(dirname "$0")/../testlib.sh"

flat() { awk -f tools/json-flat.awk "$1"; }
# field FILE KEY: the value of one field of a result.
field() { flat "$1" | awk -F '\t' -v key="$2" '$1 == key { print $2; exit }'; }

run="run synth:copy --gpu fermi-15sm --set workload.ctas=30 --set workload.iterations=10"

testcase "counters of units and of kernels sum to the totals"
# shellcheck disable=SC2086
sluice $run --set workload.kernels=2 --json "$work/a.json"
status_is 0
flat "$work/a.json" >"$work/flat"
awk -F '\t' '
    { value[$1] = $2 }
    $1 ~ /^units\.sm\.warp_instructions\./ { units += $2 }
    $1 ~ /^kernels\.[0-9]+\.warp_instructions$/ { kernels += $2 }
    $1 ~ /^kernels\.[0-9]+\.cycles$/ { cycles += $2 }
    END {
        total = value["warp_instructions"]
        exit !(total > 0 && units == total && kernels == total && value["stats.sm.warp_instructions"] == total &&
               cycles <= value["cycles"] && value["thread_instructions"] == 32 * total)
    }' "$work/flat"
check $? "sums differ"

testcase "attributes every SM cycle to issuing or to one kind of stall"
awk -F '\t' '
    $1 == "stats.sm.cycles" { whole = $2 }
    $1 == "stats.sm.issuing" || $1 ~ /^stats\.sm\.stall\./ { parts += $2 }
    END { exit !(whole > 0 && parts == whole) }' "$work/flat"
check $? "the parts are not the whole"

testcase "the parts of the energy sum to the total, and to events and time"
awk -F '\t' '
    function near(a, b) { return a > 0 && a < b * (1 + 1e-9) && b < a * (1 + 1e-9) }
    { value[$1] = $2 }
    $1 ~ /^energy\.parts\.[a-z0-9_]+\.events$/ { events += $2 }
    $1 ~ /^energy\.parts\.[a-z0-9_]+\.time$/ { time += $2 }
    END {
        exit !(near(events, value["energy.events"]) && near(time, value["energy.time"]) && near(events + time, value["energy.total"]))
    }' "$work/flat"
check $? "the parts are not the whole"

testcase "the result has the configuration of the run"
holds "sm.count" test "$(field "$work/a.json" config.sm.count)" = 15
holds "a setting" test "$(field "$work/a.json" config.workload.kernels)" = 2

testcase "all numbers of a result are valid JSON"
holds "there is a result" test -s "$work/a.json"
holds "no nan, no inf" test -z "$(grep -iE ': *-?(nan|inf)' "$work/a.json")"

testcase "samples sum to the totals"
# shellcheck disable=SC2086
sluice $run --sample 100 --json "$work/s.json"
status_is 0
flat "$work/s.json" >"$work/flat"
awk -F '\t' '
    $1 ~ /^samples\.columns\./ { sub(/.*\./, "", $1); if ($2 ~ /sm\.warp_instructions/) column = $1 }
    $1 ~ /^samples\.rows\./ { split($1, part, "."); if (part[4] == column) sum += $2; if (part[4] == 0) rows++ }
    $1 == "warp_instructions" { total = $2 }
    END { exit !(rows > 2 && column != "" && sum == total) }' "$work/flat"
check $? "samples do not add up"
holds "without --sample there are none" test -z "$(flat "$work/a.json" | grep '^samples')"

testcase "--max-insts stops a run early and cleanly"
sluice run synth:alu --gpu fermi-15sm --set workload.iterations=100000000 --max-insts 2000000 --json "$work/m.json"
status_is 0
awk -v n="$(field "$work/m.json" thread_instructions)" 'BEGIN { exit !(n >= 2000000 && n < 4000000) }'
check $? "thread instructions: $(field "$work/m.json" thread_instructions)"
holds "not marked as interrupted" test "$(field "$work/m.json" interrupted)" = false

testcase "replaces an existing result, leaves no draft, and sets ordinary permissions"
mkdir "$work/folder"
echo old >"$work/folder/r.json"
# shellcheck disable=SC2086
(umask 022 && timeout 100 "$SLUICE" $run --json "$work/folder/r.json" >/dev/null)
check $? "the run failed"
holds "one file" test "$(ls -A "$work/folder" | wc -l)" -eq 1
holds "a new one" test "$(field "$work/folder/r.json" check)" = none
holds "mode 644" test "$(stat -c %a "$work/folder/r.json")" = 644

testcase "writes a result to a device"
# shellcheck disable=SC2086
sluice $run --json /dev/null
status_is 0
holds "/dev/null is still a device" test -c /dev/null

testcase "rejects an unwritable result file before the run, and fails on a full disk"
sluice run synth:alu --json "$work"
status_is 2
err_has "directory"
sluice run synth:alu --json ""
status_is 2
# shellcheck disable=SC2086
timeout 100 "$SLUICE" $run --json - >/dev/full 2>"$work/err"
last_status=$? last_command="sluice run --json - >/dev/full"
status_is 1

testcase "TERM, Ctrl-C and a closed terminal leave a complete result, marked as interrupted, and status 1"
for signal in TERM INT HUP; do
    # A shell starts background jobs with INT ignored, and nohup its command with HUP; `env` restores the defaults.
    env --default-signal=INT,HUP "$SLUICE" run synth:alu --gpu fermi-15sm --set workload.iterations=100000000 --json "$work/cut.$signal.json" \
        >"$work/out" 2>"$work/err" &
    pid=$!
    sleep 0.7
    holds "nothing is there before the end" test ! -e "$work/cut.$signal.json"
    kill -$signal $pid
    wait $pid
    last_status=$? last_command="a run ended by $signal"
    status_is 1
    holds "marked" test "$(field "$work/cut.$signal.json" interrupted)" = true
    holds "statistics so far" test "$(field "$work/cut.$signal.json" cycles)" -gt 0
    out_has "interrupted"
done

testcase "under nohup, a run outlives its terminal"
nohup "$SLUICE" run synth:alu --gpu fermi-15sm --set workload.iterations=100 --json "$work/nohup.json" >"$work/out" 2>"$work/err" &
pid=$!
for _ in {1..1000}; do [ "$(cat /proc/$pid/comm 2>/dev/null)" = sluice ] && break || sleep 0.01; done # no longer the shell
for _ in {1..10}; do kill -HUP $pid 2>/dev/null; sleep 0.02; done
wait $pid
last_status=$? last_command="a run under nohup"
status_is 0
holds "marked" test "$(field "$work/nohup.json" interrupted)" = false

long="run synth:alu --gpu fermi-15sm --set workload.iterations=100000000"
testcase "shows no progress without a terminal"
# shellcheck disable=SC2086
timeout --foreground -s TERM 1 "$SLUICE" $long >"$work/out" 2>"$work/err"
holds "silent" test ! -s "$work/err"

testcase "timeout(1), which sends TERM twice, also ends a run cleanly"
# shellcheck disable=SC2086
timeout --preserve-status -s TERM 1 "$SLUICE" $long --json "$work/twice.json" >"$work/out" 2>&1
last_status=$? last_command="a run ended by timeout"
status_is 1
holds "marked" test "$(field "$work/twice.json" interrupted)" = true

# A chroot without /dev/pts has no terminals.
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    testcase "shows progress on a terminal during the run"
    script -qec "timeout --foreground -s TERM 1 $SLUICE $long" /dev/null >"$work/terminal" 2>&1 </dev/null
    holds "a line with cycles, instructions, rate and time left" grep -qE 'M cycles .* M warp instructions .* M/s .* s left' "$work/terminal"
else
    echo "skipped: no terminal can be opened, so the progress line is not tested"
fi

testcase "writes a profile when the run is complete, and a run with the profile allocates the same lines"
profiled="$run --design profiled"
# shellcheck disable=SC2086
{
    sluice $profiled --set "l1.profiled.record=$work/profile" --json "$work/a.json"
    status_is 0
    sluice $profiled --set "l1.profiled.profile=$work/profile" --set l1.profiled.threshold=1 --json "$work/b.json"
    status_is 0
}
check "$([ "$(field "$work/a.json" cycles)" = "$(field "$work/b.json" cycles)" ]; echo $?)" "cycles differ"
check "$(ls "$work"/profile.* >/dev/null 2>&1 && echo 1 || echo 0)" "a draft was left behind"

tests_end
