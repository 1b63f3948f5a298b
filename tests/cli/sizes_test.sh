#!/usr/bin/env bash
# Deprecated size names: sizes are now named after the papers.
. "$(dirname "$0")/../testlib.sh"

notice='sluice: size `s004` is now called `bypass`; the old name will be removed after the next release'
# The notice is on standard error, once, and not on standard output.
noticed_once() {
    holds "standard error is not the one line of deprecation: $(head -n 3 "$work/err")" test "$(cat "$work/err")" = "$notice"
    holds "standard output has the notice" test -z "$(grep -F 'now called' "$work/out")"
}
# is_workload FILE NAME: the workload of the result
is_workload() { holds "$1 is not of $2" grep -qF "\"workload\": \"$2\"" "$1"; }

testcase "a deprecated name runs the same size, and the result has the current name"
sluice run gaussian:bypass --json "$work/current.json"
status_is 0
err_empty
sluice run gaussian:s004 --json "$work/former.json"
status_is 0
noticed_once
is_workload "$work/former.json" gaussian:bypass
for file in current former; do sed '/"host": {/,/}/d' "$work/$file.json" >"$work/$file"; done
same_files "$work/current" "$work/former"

testcase "--json - prints only JSON with a deprecated name, too"
sluice run gaussian:s004 --json -
noticed_once
holds "not JSON" python3 -m json.tool "$work/out" /dev/null

testcase "prints the notice once per name"
sluice run gaussian:s004 + sd1:s004 --json "$work/two.json"
status_is 0
noticed_once
is_workload "$work/two.json" "gaussian:bypass + sd1:bypass"
sluice run gaussian:s002 + needle:s004 --max-insts 1000
holds "not two notices" test "$(grep -c 'is now called' "$work/err")" -eq 2

testcase "compare, record and list accept deprecated names"
sluice compare gaussian:s004 --designs shared,private
status_is 0
noticed_once
sluice record gaussian:s004 -o "$work/recording"
status_is 0
noticed_once
sluice run --trace "$work/recording" --json "$work/replayed.json"
err_empty
is_workload "$work/replayed.json" gaussian:bypass
sluice list workloads --survey gaussian --size s004
status_is 0
noticed_once
holds "not on the machine of the paper" grep -q '^| gaussian *| fermi-15sm ' "$work/out"

testcase "a deprecated name, in the experiment or as --size, finds runs stored under the current name"
experiment() {
    printf '%s\n' 'title: one run' "size: $1" 'workloads: [gaussian]' 'designs: [shared]' 'metrics: [{name: IPC, value: ipc}]' >"$work/one.yaml"
}
experiment bypass
sluice lab run "$work/one.yaml" --store "$work/store.sqlite"
status_is 0
experiment s004
sluice lab run "$work/one.yaml" --store "$work/store.sqlite"
status_is 0
holds "not one notice" test "$(grep -c 'is now called' "$work/err")" -eq 1
experiment tiny
sluice lab run "$work/one.yaml" --size s004 --store "$work/store.sqlite"
status_is 0
holds "not one notice" test "$(grep -c 'is now called' "$work/err")" -eq 1
sluice lab status --store "$work/store.sqlite"
holds "they were simulated again: $(head -n 1 "$work/out")" grep -q "store.sqlite: 1 run$" "$work/out"
out_has "(bypass)"

testcase "rejects an unknown size of a workload by its current name, with the nearest"
sluice run mm:s004
status_is 2
err_has 'mm has no size `bypass`; known: tiny, small, adaptive,'
sluice run an:adaptiv
status_is 2
err_has 'did you mean `adaptive`?'
sluice list workloads --survey --size s001
status_is 2
err_has 'no workload has a size `s001`'

testcase "the experiments of a paper have the sizes of the paper"
for file in experiments/{adaptive,selrep,icc,bypass}/*.yaml; do
    [ "$file" = experiments/adaptive/fig7b.yaml ] && continue # areas, which do not depend on a run
    [ "$file" = experiments/selrep/choose.yaml ] && continue  # programs that the paper does not have
    size=$(sed -n 's/^size: //p' "$file") paper=$(basename "$(dirname "$file")")
    programs=$(awk '/^workloads/ { on = 1; print; next } /^[a-z]/ { on = 0 } on' "$file" | grep -v synth: | grep -c '\[')
    holds "$file: size ${size:-small}" test "$size" = "$paper" -o "$programs" -eq 0 # generated streams have no size
done

tests_end
