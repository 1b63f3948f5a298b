#!/usr/bin/env bash
# `sluice lab` from the command line: every run is simulated once, despite interruptions.
. "$(dirname "$0")/../testlib.sh"
page=$PWD/docs/experiments.md
tests=$PWD/tests/lab
cd "$work" || exit 1

# experiment NAME DESIGNS [WORKLOADS]: a file with two values of a parameter.
experiment() {
    cat >"$1.yaml" <<YAML
title: A test
gpu: adaptive-80sm
size: tiny
workloads: ${3:-[mm, va]}
designs: $2
sweep: {noc.channel_bytes: [16, 32]}
metrics:
  - {name: IPC, value: ipc}
draw: table
YAML
}
# The sorted contents of a store without host.
content() { "$SLUICE" lab export --store "$1" --json - | sed 's/,"host":{[^}]*}//; s/,$//' | sort; }
runs() { "$SLUICE" lab export --store "$1" --json - | grep -c '"identity"'; }

experiment two '{shared: {design: shared}, lrr: {design: lrr}}'
experiment one '{lrr: {design: lrr}}'

testcase "--dry-run reports the number of runs and their expected time, and simulates nothing"
sluice lab run two.yaml --dry-run
status_is 0
out_has "8 runs (8 cells): 8 to simulate, 0 cached (results.sqlite)"
out_has "a rough estimate for 8 of them"
no_file results.sqlite

testcase "simulates every run once, also shared ones, and none when run again"
sluice lab run one.yaml -j 2
status_is 0
err_empty
out_has "4 runs: 4 simulated, 0 cached (results.sqlite)"
holds "an estimate before the runs" grep -qE '^about [0-9.]+ s with 2 in parallel; a rough estimate for 4 of them' <(head -n 1 out)
sluice lab run two.yaml one.yaml -j 2
status_is 0
holds "an estimate from stored runs" grep -qE '^about [0-9.]+ s with 2 in parallel$' <(head -n 1 out)
out_has "8 runs: 4 simulated, 4 cached (results.sqlite)"
sluice lab run two.yaml
out_has "8 runs: 0 simulated, 8 cached (results.sqlite)"
holds "no estimate without runs" test "$(wc -l <out)" -eq 1
sluice lab run two.yaml --dry-run
out_has "0 to simulate, 8 cached (results.sqlite)"
no_file results.sqlite.work
no_file results.sqlite.lock
no_file results.sqlite-wal

testcase "status lists the experiments with their runs"
sluice lab status
status_is 0
out_has "results.sqlite: 8 runs"
holds "4 of one" grep -qE '^  one +4 of 4 runs' out
holds "8 of two" grep -qE '^  two +8 of 8 runs' out

testcase "a run of a shared stream equals the run of the program"
experiment four '{shared: {design: shared}, lrr: {design: lrr}, bcs: {design: bcs}, dcs: {design: dcs}}'
sluice lab run four.yaml --store four.sqlite
status_is 0
content results.sqlite >results.txt
content four.sqlite >four.txt
holds "runs in common" test "$(comm -12 results.txt four.txt | grep -c '"check":"passed"')" -eq 8

testcase "exports selected runs; a merge imports the missing ones"
sluice lab export one.yaml --csv one.csv
status_is 0
holds "a row for each" test "$(wc -l <one.csv)" -eq 5
sluice lab merge four.sqlite
status_is 0
out_has "8 runs of four.sqlite imported into results.sqlite"
sluice lab run four.yaml
out_has "16 runs: 0 simulated, 16 cached (results.sqlite)"

testcase "reports a failed run with its error, simulates the others, and retries it"
experiment small '{large: {}, small: {set: {sm.shared_kb: 1}}}'
sluice lab run small.yaml --store small.sqlite
status_is 1
out_has "8 runs: 6 simulated, 0 cached, 2 failed (small.sqlite)"
err_has "sluice: mm:tiny, small, 16: kernel 'mm_tiled' does not fit"
sluice lab status --store small.sqlite
out_has "  mm:tiny, small, 32: kernel 'mm_tiled' does not fit"
sluice lab run small.yaml --store small.sqlite
status_is 1
out_has "8 runs: 0 simulated, 6 cached, 2 failed (small.sqlite)"

testcase "a run reads the output file of another, which is rerun if the file is gone"
counting='counted: {set: {l1.insertion: profiled}}'
uses='uses: {design: counted, writes: l1.profiled.record, reads: l1.profiled.profile}'
experiment profile "{$counting, profiled: {set: {l1.insertion: profiled}, $uses}}" '[mm, hg]'
sluice lab run profile.yaml --store profile.sqlite
status_is 0
out_has "8 runs: 8 simulated, 0 cached (profile.sqlite)"
no_file profile.sqlite.work
experiment profile4 "{$counting, profiled: {set: {l1.insertion: profiled, l1.profiled.threshold: 4}, $uses}}" '[mm, hg]'
sluice lab run profile4.yaml --store profile.sqlite
status_is 0
out_has "8 runs: 8 simulated, 4 cached (profile.sqlite)"
sluice lab run profile.yaml profile4.yaml --store profile.sqlite
out_has "12 runs: 0 simulated, 12 cached (profile.sqlite)"
sluice lab run profile.yaml profile4.yaml --store profile2.sqlite -j 1
content profile.sqlite >profile.txt
content profile2.sqlite >profile2.txt
same_files profile.txt profile2.txt
holds "the profile changed nothing" test "$(grep -o '"l1.read_bypasses":[0-9]*' profile.txt | sort -u | wc -l)" -gt 1

testcase "a sweep over the size of a cache needs no other parameter"
for sizes in 'llc.slice_kb: [48, 96, 192]' 'l1.size_kb: [24, 48, 96]' 'sm.constant_kb: [4, 8, 16]' 'llc.ways: [8, 16]'; do
    experiment sizes '[shared]' '[va]'
    sed -i "s/^sweep: .*/sweep: {$sizes}/" sizes.yaml
    sluice lab run sizes.yaml --store sizes.sqlite
    status_is 0
done
"$SLUICE" lab export --store sizes.sqlite --csv sizes.csv
holds "the baseline is one run" test "$(wc -l <sizes.csv)" -eq 9
sed -i 's/^sweep: .*/sweep: {llc.slice_kb: [48, 97]}/' sizes.yaml
sluice lab run sizes.yaml --store sizes.sqlite
status_is 2
err_has "sizes.yaml:6:28: design 'shared' at 97: --set llc.slice_kb=97: llc.slice_kb: 97 KB in lines of 128 B are 776 lines"

testcase "the example of docs/experiments.md has as many runs as the page says"
awk '/^```yaml/ { on = 1; next } /^```/ && on { exit } on' "$page" >example.yaml
sluice lab run example.yaml --dry-run --store example.sqlite
status_is 0
out_has "(40 cells)"

testcase "warns about a setting without effect, once for each design, unless the experiment allows it"
experiment unused '{shared: {design: shared}, lrr: {design: lrr}, adaptive: {design: adaptive}}' '[va]'
echo 'set: {llc.adaptive.epoch_cycles: 100000}' >>unused.yaml
sluice lab run unused.yaml --store unused.sqlite
status_is 0
err_has "sluice: warning: unused.yaml:10:7: design 'shared': llc.adaptive.epoch_cycles has no effect: llc.organisation is shared"
err_has "sluice: warning: unused.yaml:10:7: design 'lrr': llc.adaptive.epoch_cycles has no effect: llc.organisation is shared"
err_has "sluice: warning: unused.yaml: if this is intended, add \`unused_settings: allowed\`"
holds "no other warning" test "$(wc -l <err)" -eq 3
echo 'unused_settings: allowed' >>unused.yaml
sluice lab run unused.yaml --store unused.sqlite
status_is 0
err_empty

testcase "TERM ends lab run cleanly, with its processes"
experiment many '{shared: {design: shared}, lrr: {design: lrr}, bcs: {design: bcs}, dcs: {design: dcs}}' '[mm, va, hg]'
"$SLUICE" lab run many.yaml --store term.sqlite -j 2 >out 2>err &
pid=$!
for _ in $(seq 100); do [ -s term.sqlite ] && break; sleep 0.02; done
kill -TERM $pid
wait $pid
last_status=$? last_command="sluice lab run"
status_is 1
err_has "rerun the command to continue"
holds "a process has outlived it" test -z "$(grep -ls 'ter[m].sqlite.work' /proc/[0-9]*/cmdline)"

testcase "kill -9 at twenty random times loses no run"
sluice lab run many.yaml --store calm.sqlite -j 2
status_is 0
RANDOM=6 cut=0
for _ in $(seq 20); do
    "$SLUICE" lab run many.yaml --store killed.sqlite -j 2 >/dev/null 2>&1 &
    pid=$!
    sleep 0.$(printf %03d $((RANDOM % 300)))
    kill -9 $pid 2>/dev/null && cut=$((cut + 1))
    wait $pid 2>/dev/null
done
sluice lab run many.yaml --store killed.sqlite -j 2
status_is 0
holds "it was never killed at work" test $cut -gt 3
holds "every run once" test "$(runs killed.sqlite)" -eq 24
content calm.sqlite >calm.txt
content killed.sqlite >killed.txt
same_files calm.txt killed.txt
no_file killed.sqlite.work

testcase "one process writes at a time: a second one is rejected"
(flock 9 && exec sleep 100) 9>killed.sqlite.lock & # one process, which holds the lock
pid=$!
for _ in $(seq 100); do flock -n killed.sqlite.lock true || break; sleep 0.02; done
sluice lab run many.yaml --store killed.sqlite
status_is 2
err_has "is writing to this store"
sluice lab status --store killed.sqlite
status_is 0
kill $pid
wait $pid 2>/dev/null

testcase "a full disk ends lab run with one message, and a rerun continues"
(trap '' XFSZ && ulimit -f 150 && exec "$SLUICE" lab run many.yaml --store full.sqlite -j 1) >out 2>err
last_status=$? last_command="sluice lab run, with files of 150 kB at most"
status_is 1
holds "one message" test "$(grep -c '^sluice: ' err)" -eq 1
sluice lab run many.yaml --store full.sqlite -j 2
status_is 0
content full.sqlite >full.txt
same_files calm.txt full.txt
if unshare -rm true 2>/dev/null; then
    mkdir disk
    unshare -rm bash -c "mount -t tmpfs -o size=300k none disk && cd disk && '$SLUICE' lab run ../many.yaml -j 2 >../out 2>../err
        echo \$? >../status; mount -o remount,size=20m none . && '$SLUICE' lab run ../many.yaml >../again && '$SLUICE' lab export --json ../disk.json"
    last_status=$(cat status) last_command="sluice lab run, on a disk of 300 kB"
    status_is 1
    holds "one message" test "$(grep -c '^sluice: ' err)" -eq 1
    err_has "free disk space"
    sed 's/,"host":{[^}]*}//; s/,$//' disk.json | sort >disk.txt
    same_files calm.txt disk.txt
fi

testcase "rejects a store of a newer sluice and other files, unchanged"
cp calm.sqlite newer.sqlite
printf '\0\0\3\350' | dd of=newer.sqlite bs=1 seek=60 conv=notrunc 2>/dev/null
cp newer.sqlite before
sluice lab run many.yaml --store newer.sqlite
status_is 2
err_has "newer sluice"
same_files newer.sqlite before
sluice lab status --store many.yaml
status_is 2
err_has "not a results store"

testcase "rejects a damaged store, and exports the runs that can still be read"
# Pages of the table of counters, between the first pages of each table and the results at the end, are overwritten.
cp calm.sqlite damaged.sqlite
page=$((4096 * ($(stat -c %s calm.sqlite) / 8192)))
head -c 4096 /dev/zero | tr '\0' '\377' | dd of=damaged.sqlite bs=1 seek="$page" conv=notrunc 2>/dev/null
cp damaged.sqlite before
for command in "lab status" "lab export --csv damaged.csv" "report many.yaml -o damaged.html" "lab run many.yaml"; do
    # shellcheck disable=SC2086
    sluice $command --store damaged.sqlite
    status_is 2
    err_has "the store is damaged"
    err_has "lab export --salvage"
done
no_file damaged.csv
no_file damaged.html
same_files damaged.sqlite before
sluice lab export --salvage --json salvaged.json --csv salvaged.csv --store damaged.sqlite
status_is 0
err_has "cannot be read"
saved=$(grep -c '"identity"' salvaged.json)
holds "some of the $(runs calm.sqlite) runs, not $saved" test "$saved" -gt 0 -a "$saved" -le "$(runs calm.sqlite)"
sed 's/,"host":{[^}]*}//; s/,$//' salvaged.json | sort >salvaged.txt
holds "each as it was stored" test -z "$(comm -23 salvaged.txt calm.txt)"
holds "the same runs as CSV" test "$(wc -l <salvaged.csv)" -eq $((saved + 1))

testcase "a store in a read-only directory can be read"
if unshare -rm true 2>/dev/null; then
    mkdir fixed && cp calm.sqlite fixed
    unshare -rm bash -c "mount -t tmpfs none fixed && cp calm.sqlite fixed && mount -o remount,ro none fixed &&
        '$SLUICE' lab status --store fixed/calm.sqlite >out 2>err && '$SLUICE' lab export --csv fixed.csv --store fixed/calm.sqlite 2>>err &&
        '$SLUICE' report many.yaml --store fixed/calm.sqlite -o fixed.html >>out 2>>err; echo \$? >status"
    last_status=$(cat status) last_command="sluice lab status, export and report in a read-only directory"
    status_is 0
    "$SLUICE" lab export --csv calm.csv --store calm.sqlite
    same_files fixed.csv calm.csv
fi

testcase "without Slurm, --slurm ends with one message, and the runs can be simulated here"
PATH=/nowhere "$SLUICE" lab run one.yaml --store slurm.sqlite --slurm >out 2>err
last_status=$? last_command="sluice lab run --slurm"
status_is 1
err_has "sbatch is not in the PATH"
sluice lab run one.yaml --store slurm.sqlite
status_is 0
out_has "4 simulated"
no_file slurm.sqlite.work

testcase "kept results give the figure of the store, and verify"
sluice lab export two.yaml --kept kept
status_is 0
out_has "kept/two.csv: 8 runs"
sluice report two.yaml --json store.json
status_is 0
sluice report two.yaml --kept kept --json kept.json
status_is 0
same_files store.json kept.json
sluice reproduce two.yaml --kept kept --verify 3 --seed 5
status_is 0
out_has "3 of 8 kept runs rerun: 3 equal, 0 differ"
sluice reproduce two.yaml --kept kept --verify 100 --within 1000 -j 2
status_is 0
out_has "8 of 8 kept runs rerun: 8 equal, 0 differ"

testcase "kept results of another size have a file of their own"
sluice lab export two.yaml --size tiny --kept kept
status_is 0
out_has "kept/two@tiny.csv: 8 runs"

testcase "an incomplete experiment is not kept"
cp kept/two.csv before.csv
sluice lab run one.yaml --store part.sqlite
sluice lab export two.yaml --store part.sqlite --kept pieces
status_is 1
err_has "two: 4 of its runs are not in part.sqlite"
no_file pieces/two.csv

testcase "an incomplete experiment is kept on request, and completed with another store"
sluice lab export two.yaml --store part.sqlite --kept pieces --partial
status_is 0
out_has "pieces/two.csv: 8 runs, 4 missing"
sluice lab run two.yaml --store rest.sqlite --kept pieces --dry-run
status_is 0
out_has "4 to simulate, 0 cached, 4 kept"
sluice lab run two.yaml --store rest.sqlite --kept pieces
status_is 0
out_has "8 runs: 4 simulated, 0 cached, 4 kept"
sluice lab export two.yaml --store rest.sqlite --kept pieces
status_is 0
out_has "pieces/two.csv: 8 runs"
sluice report two.yaml --kept pieces --json pieces.json
status_is 0
same_files store.json pieces.json
sluice lab export --csv all.csv --partial
status_is 2
err_has "--partial requires --kept DIR"

testcase "an edited digit of kept results is an error with its place"
sed -i '2s/,118374/,118375/' kept/two.csv
sluice report two.yaml --kept kept --json -
status_is 2
err_has "kept/two.csv:2:1: this row does not match its checksum"

testcase "verification finds a value that differs, and says whether the model changed"
cp before.csv kept/two.csv
python3 "$tests/alter_kept.py" kept/two.csv cycles 12345
rm -f kept/two@tiny.csv
sluice reproduce two.yaml --kept kept --verify 8
status_is 1
out_has "differs  cycles "
out_has "kept 12345"
out_has "8 of 8 kept runs rerun: 7 equal, 1 differs"
holds "no other model" test -z "$(grep 'model changed' out)"
cp before.csv kept/two.csv
python3 "$tests/alter_kept.py" kept/two.csv model 0123456789abcdef0123456789abcdef
sluice reproduce two.yaml --kept kept --verify 8
status_is 0
out_has "; model changed since"
out_has "the model changed since 1 of them were kept"
sluice report two.yaml --kept kept --json -
out_has '"model": "several"'

testcase "an experiment with seeds has a run for each, and its mean with the range"
sed 's/^sweep.*/seeds: 3/' one.yaml >seeds.yaml
sluice lab run seeds.yaml --store seeds.sqlite
status_is 0
out_has "6 runs: 6 simulated"
sluice report seeds.yaml --store seeds.sqlite --json -
out_has '"low": ['
out_has '"high": ['

testcase "rejects invalid arguments of kept results"
for words in "lab export --kept kept" "report --kept kept" "report two.yaml --kept nosuch" "reproduce two.yaml --within 3" "reproduce two.yaml --verify 2 --kept nosuch" \
    "reproduce two.yaml --verify 2 -o x.html"; do
    # shellcheck disable=SC2086
    sluice $words
    status_is 2
    out_empty
done

testcase "rejects invalid arguments"
for words in "lab" "lab frob" "lab run" "lab run nosuch" "lab merge" "lab merge nosuch.sqlite" "lab export" "lab run one.yaml --wait" "lab task" \
    "lab task one.yaml 0" "lab status --store nosuch.sqlite" "lab run one.yaml --store nowhere/x.sqlite" "lab gather words"; do
    # shellcheck disable=SC2086
    sluice $words
    status_is 2
    out_empty
done

testcase "no process of these tests is left"
left=
for process in /proc/[0-9]*; do
    [ "$process" = /proc/$$ ] || [ "$(readlink "$process/cwd")" != "$PWD" ] || left+=" $(tr '\0' ' ' <"$process/cmdline")"
done 2>/dev/null
holds "left:$left" test -z "$left"

tests_end
