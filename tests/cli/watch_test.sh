#!/usr/bin/env bash
# `sluice run --watch` and `sluice lab run --watch`: a page on a terminal that is gone at the end, and no other result. No times are compared.
. "$(dirname "$0")/../testlib.sh"

testcase "watching changes no result, and draws nothing where there is no terminal"
sluice run mm:tiny --watch --json "$work/watched.json"
status_is 0
err_empty
sluice run mm:tiny --json "$work/plain.json"
holds "the results differ" python3 -c 'import json, sys
a, b = (json.load(open(path)) for path in sys.argv[1:])
sys.exit(a["stats"] != b["stats"] or a["cycles"] != b["cycles"])' "$work/watched.json" "$work/plain.json"

cat >"$work/x.yaml" <<YAML
title: A test
workloads: [gemm:tiny, mm:tiny]
designs: [shared, private]
metrics: [{name: IPC, value: ipc}]
YAML

testcase "lab run: a line per finished run where there is no terminal, and the same results"
sluice lab run "$work/x.yaml" --watch --store "$work/watched.sqlite" -j 2
status_is 0
for run in 'gemm:tiny, shared' 'gemm:tiny, private' 'mm:tiny, shared' 'mm:tiny, private'; do
    err_matches "^$run: [0-9.]+ s, IPC [0-9.]+, issuing [0-9.]+ %, L1 hits [0-9.]+ %, LLC hits [0-9.]+ %$"
done
holds "escape sequences" test "$(grep -c $'\x1b' "$work/err")" -eq 0
sluice lab run "$work/x.yaml" --store "$work/plain.sqlite" -j 2
for store in watched plain; do
    sluice lab export --store "$work/$store.sqlite" --json "$work/$store.lab"
    status_is 0
done
holds "the results differ" python3 -c 'import json, sys
def counters(path):
    return sorted((run["workload"], run["design"], run["cycles"], sorted(run["stats"].items())) for run in json.load(open(path)))
sys.exit(counters(sys.argv[1]) != counters(sys.argv[2]))' "$work/watched.lab" "$work/plain.lab"
ipc=$(python3 -c 'import json, sys; print("%.1f" % next(r["ipc"] for r in json.load(open(sys.argv[1])) if (r["workload"], r["design"]) == ("mm:tiny", "private")))' "$work/plain.lab")
sluice lab run "$work/x.yaml" --watch --store "$work/again.sqlite" -j 2
err_has "IPC $ipc,"

testcase "lab run: --watch is rejected where nothing runs on this machine"
for words in "run $work/x.yaml --slurm" "run $work/x.yaml --dry-run" status; do
    sluice lab $words --watch --store "$work/plain.sqlite"
    status_is 2
    err_has "without --slurm and --dry-run"
done

# A chroot without /dev/pts has no terminals.
if ! script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    echo "skipped: no terminal can be opened"
    tests_end
fi

# screen: what is on the screen at the end: lines, moved up and cleared by escape sequences.
screen() {
    python3 - "$work/terminal" >"$work/screen" <<'END'
import re, sys
screen, row = [], 0
text = open(sys.argv[1], encoding="utf-8", newline="").read().replace("\r\n", "\n")
for part in re.split("(\x1b\\[[0-9]*[AJK]|\n|\r)", text):
    if part == "\n":
        row += 1
    elif part.endswith("A") and part.startswith("\x1b"):
        row -= int(part[2:-1])
    elif part.endswith("J") and part.startswith("\x1b"):
        del screen[row:]
    elif part and not part.startswith("\x1b") and part != "\r":
        while len(screen) <= row:
            screen.append("")
        screen[row] = part
print("\n".join(screen))
END
}

testcase "the page shows the progress and values over time, and is removed"
LC_ALL=C.UTF-8 script -qefc "$SLUICE run synth:stream --set workload.iterations=400 --watch" "$work/terminal" >/dev/null 2>&1 </dev/null
holds "the title and the progress" grep -qE 'M cycles .*M warp instructions' "$work/terminal"
for track in IPC issuing 'L1 read hits' 'LLC read hits' memory DRAM; do
    holds "no track '$track'" grep -qE "^  $track +[0-9.]+ .*(\xe2\x96|[▁▂▃▄▅▆▇█])" "$work/terminal"
done
holds "DRAM is idle" grep -qE '^  DRAM +[1-9][0-9.]+ GB/s' "$work/terminal"
sed -E 's/\x1b\[[0-9]*[A-Z]//g; s/\r//g' "$work/terminal" >"$work/run"
screen
holds "$(head -n 30 "$work/screen")" test "$(grep -c 'IPC' "$work/screen")" -eq 1
holds "the summary follows" grep -q 'synth:stream on adaptive-80sm' "$work/screen"

testcase "lab run: the page shows runs under way and finished, fits the terminal, and is removed"
sed -i 's/gemm:tiny/synth:stream/' "$work/x.yaml" # long enough to be seen
for columns in 80 130; do
    rm -rf "$work"/page.sqlite*
    LC_ALL=C.UTF-8 script -qefc "stty cols $columns rows 30; $SLUICE lab run $work/x.yaml --watch --store $work/page.sqlite -j 2" "$work/terminal" >/dev/null 2>&1 </dev/null
    holds "no progress" grep -qE '[0-9] of 4 runs   [12] running   [0-9]+ %   about' "$work/terminal"
    holds "no run under way" grep -qE '^  synth:stream, (shared|private) +[0-9]+ % +[0-9.]+ s +[0-9.]+ +[0-9.]+ % ' "$work/terminal"
    holds "no finished run" grep -qE '^  (mm:tiny|synth:stream), (shared|private) +[0-9.]+ s +[0-9.]+ +[0-9.]+ % ' "$work/terminal"
    widest=$(python3 -c 'import re, sys
lines = re.split("[\r\n]+", re.sub("\x1b\\[[0-9]*[A-Z]", "", open(sys.argv[1], encoding="utf-8", newline="").read()))
print(max(len(line) for line in lines if "%" in line and "COMMAND" not in line))' "$work/terminal")
    holds "a line of $widest characters on $columns columns" test "$widest" -le "$columns"
    screen
    holds "$(cat "$work/screen")" test "$(grep -cE 'running|finished last' "$work/screen")" -eq 0
    holds "the counts follow" grep -q '4 runs: 4 simulated' "$work/screen"
done
holds "no curve" grep -qE '%  [▁▂▃▄▅▆▇█]+' "$work/terminal"
sed -E 's/\x1b\[[0-9]*[A-Z]//g; s/\r//g' "$work/terminal" >"$work/lab"

testcase "docs/timeline.md shows the pages as they are drawn"
awk '/^```text/ { on = 1; next } /^```/ { on = 0 } on' docs/timeline.md >"$work/shown"
for form in '^  [0-9.]+ M cycles   [0-9.]+ M warp instructions   [0-9.]+ M/s ' '^  IPC +[0-9.]+ +[▁▂▃▄▅▆▇█]+$' '^  issuing +[0-9.]+ % of SM cycles +[▁▂▃▄▅▆▇█]+$' '^  LLC read hits +[0-9.]+ % +[▁▂▃▄▅▆▇█]+$'; do
    holds "the page has no line '$form'" grep -qE "$form" "$work/shown"
    holds "the program prints no line '$form'" grep -qE "$form" "$work/run"
done
for form in '[0-9] of [0-9] runs   [0-9] running   [0-9]+ %   about [0-9]+ s left' '^  [a-z:]+, [a-z]+ +[0-9]+ % +[0-9.]+ s +[0-9.]+ +[0-9.]+ % +[0-9.]+ % +[0-9.]+ %  [▁▂▃▄▅▆▇█]+$'; do
    holds "the page has no line '$form'" grep -qE "$form" "$work/shown"
    holds "lab prints no line '$form'" grep -qE "$form" "$work/lab"
done

testcase "lab run: Ctrl-C leaves a clean terminal"
rm -rf "$work"/page.sqlite* "$work/pid"
script -qefc "echo \$\$ >$work/pid; exec $SLUICE lab run $work/x.yaml --watch --store $work/page.sqlite -j 2" "$work/terminal" >/dev/null 2>&1 </dev/null &
page=$!
for _ in $(seq 100); do
    grep -q issuing "$work/terminal" 2>/dev/null && break
    sleep 0.1
done
kill -INT "$(cat "$work/pid")"
wait $page
screen
holds "the page was not drawn" grep -q issuing "$work/terminal"
holds "$(cat "$work/screen")" test "$(grep -cE 'running|finished last' "$work/screen")" -eq 0
holds "no message" grep -q 'interrupted with [1-4] runs\{0,1\} left' "$work/screen"

tests_end
