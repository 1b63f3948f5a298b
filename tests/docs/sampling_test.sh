#!/usr/bin/env bash
# docs/kernels.md: the errors of sampled launches are those of its commands. --update writes them into the page.
. "$(dirname "$0")/../testlib.sh"
. tests/docs/console.sh

page=docs/kernels.md
run=$(sed -n 's/^    sluice \(run WORKLOAD:small .*\) --sample-kernels N --json .*/\1/p' $page)
testcase "the page has the command"
holds "none is found" test -n "$run"

for workload in nw lud bfs; do
    for sets in 0 4 8 16; do
        [ "$workload $sets" != 'bfs 16' ] || continue # it has 20 launches
        # shellcheck disable=SC2046,SC2086
        sluice ${run/WORKLOAD/$workload} $([ $sets -eq 0 ] || echo --sample-kernels $sets) --json "$work/$workload-$sets.json"
    done
done
python3 - "$work" >"$work/table" <<'END'
import json, sys
read = lambda workload, sets: json.load(open(f"{sys.argv[1]}/{workload}-{sets}.json"))
print("| workload | launches | sets | warp instructions timed | cycles | DRAM reads |\n|---|---:|---:|---:|---:|---:|")
for workload, all_sets in ("nw", (4, 8, 16)), ("lud", (4, 8, 16)), ("bfs", (4, 8)):
    whole = read(workload, 0)
    for sets in all_sets:
        part = read(workload, sets)
        estimate = part["sampling"]
        error = lambda found, true: 100 * (found / true - 1)
        first = f"| `{workload}` | {len(whole['kernels'])} " if sets == 4 else "| | "
        print(f"{first}| {sets} | {100 * part['warp_instructions'] / whole['warp_instructions']:.0f} % | {error(estimate['cycles'], whole['cycles']):+.1f} % "
              f"| {error(estimate['stats']['dram.reads'], whole['stats']['dram.reads']):+.0f} % |")
END
sed -n '/^| workload | launches | sets /,/^$/p' $page | sed '/^$/d' >"$work/shown"
testcase "the table has the errors of the runs"
if [ -n "$update" ]; then
    awk -v table="$work/table" '/^\| workload \| launches \| sets / { while ((getline line < table) > 0) print line; on = 1 } on && /^$/ { on = 0 } !on' $page >"$work/page"
    cp "$work/page" $page
else
    holds "they differ (if that is intended: tests/docs/update.sh): $(diff "$work/shown" "$work/table")" cmp -s "$work/shown" "$work/table"
fi
holds "no runs" test "$(wc -l <"$work/table")" -eq 10

tests_end
