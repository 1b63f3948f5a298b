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
if ! python3 tests/cli/terminal.py /dev/null true >/dev/null 2>&1; then
    echo "skipped: no terminal can be opened"
    tests_end
fi

export TERM=xterm # with colours, which must not hide lines from the tests

# terminal SIZE COMMAND...: runs it on a terminal of this size (columns x rows), or with "SIZE TEXT OTHER" on one that changes its size once TEXT is there.
# $work/terminal is the output as written, $work/lines its lines without escape sequences, $work/screen what remains on the screen.
terminal() {
    local size=(--size "${1%% *}")
    [ "$1" = "${1%% *}" ] || size+=(--resize "$(cut -d ' ' -f 2 <<<"$1")" "${1##* }")
    shift
    timeout 200 python3 tests/cli/terminal.py "${size[@]}" "$work/terminal" "$@" >"$work/screen" 2>"$work/log" || cat "$work/log"
    sed -E 's/\x1b\[[?0-9;]*[A-Za-z]//g; s/\r$//; s/.*\r//' "$work/terminal" >"$work/lines"
}
# fits COLUMNS: no line of a page is wider.
fits() {
    local widest
    widest=$(python3 -c 'import re, sys
page = re.search("\x1b\\[\\?1049h(.*)\x1b\\[\\?1049l", open(sys.argv[1], encoding="utf-8", newline="").read(), re.S).group(1)
print(max(len(line) for line in re.split("[\r\n]+", re.sub("\x1b\\[[?0-9;]*[A-Za-z]", "", page.replace("\x1b[H", "\n")))))' "$work/terminal")
    holds "a line of $widest characters on $1 columns" test "$widest" -le "$1"
}

stream=("$SLUICE" run synth:stream --set workload.iterations=400)

testcase "the page shows the progress and values over time, and is removed"
terminal 80x30 "${stream[@]}" --watch
cp "$work/lines" "$work/run"
holds "the title and the progress" grep -qE 'M cycles .*M warp instructions' "$work/lines"
for track in IPC issuing 'L1 read hits' 'LLC read hits' memory DRAM; do
    holds "no track '$track'" grep -qE "^  $track +[0-9.]+ .*[▁▂▃▄▅▆▇█]" "$work/lines"
done
holds "DRAM is idle" grep -qE '^  DRAM +[1-9][0-9.]+ GB/s' "$work/lines"
holds "$(head -n 30 "$work/screen")" test "$(grep -c 'IPC' "$work/screen")" -eq 1
holds "the summary follows: $(head -n 30 "$work/screen")" test "$(head -n 1 "$work/screen")" = 'synth:stream on adaptive-80sm'

for size in 80x10 50x24 20x3 '100x30 LLC 40x8' '120x24 LLC 120x6' '40x8 issuing 100x30'; do
    testcase "nothing of the page remains on a terminal of $(sed 's/ .* /, then /' <<<"$size")"
    terminal "$size" "${stream[@]}" --watch
    holds "no page" grep -q '1049h' "$work/terminal"
    # The summary, without the blanks that differ once lines wrap.
    sed -n '/synth:stream on/,$p' "$work/lines" | sed '1s/.*synth:stream on/synth:stream on/' | tr -d ' \n' >"$work/summary"
    tr -d ' \n' <"$work/screen" >"$work/remains"
    holds "no summary" test -s "$work/summary"
    same_files "$work/summary" "$work/remains"
    [ "$size" = "${size#* }" ] && fits "${size%%x*}"
done

testcase "a progress line fits the terminal"
terminal 30x5 "${stream[@]}"
holds "no line" grep -q 'M cycles' "$work/terminal"
holds "$(head -n 3 "$work/screen")" test "$(head -n 1 "$work/screen")" = 'synth:stream on adaptive-80sm'

testcase "Ctrl-C, once and twice, and Ctrl-Z leave a clean terminal"
for keys in INT 'INT INT' TSTP; do
    rm -f "$work/pid" "$work/terminal"
    timeout 100 python3 tests/cli/terminal.py "$work/terminal" sh -c "echo \$\$ >$work/pid; exec $SLUICE run synth:stream --set workload.iterations=4000 --watch" >"$work/screen" 2>&1 &
    page=$!
    for _ in $(seq 300); do
        grep -q issuing "$work/terminal" 2>/dev/null && break
        sleep 0.1
    done
    for key in $keys; do kill -"$key" "$(cat "$work/pid")"; done
    for _ in $(seq 300); do
        grep -q 1049l "$work/terminal" && break
        sleep 0.1
    done
    [ "$keys" = TSTP ] && kill -KILL "$(cat "$work/pid")"
    wait $page
    holds "the page was not drawn" grep -q issuing "$work/terminal"
    holds "$keys: the page remains" test "$(grep -o '1049[hl]' "$work/terminal" | tail -n 1)" = 1049l
    holds "$keys: $(cat "$work/screen")" test "$(grep -c 'of SM cycles' "$work/screen")" -eq 0
done

testcase "lab run: the page shows runs under way and finished, fits the terminal, and is removed"
# Two runs that last many times the interval of the page, on a fast machine, too, beside two that end at once.
sed -i 's/gemm:tiny/{workload: synth:stream, name: long, set: {workload.iterations: 400}}/' "$work/x.yaml"
for columns in 50 80 130; do
    rm -rf "$work"/page.sqlite*
    terminal "${columns}x30" "$SLUICE" lab run "$work/x.yaml" --watch --store "$work/page.sqlite" -j 3
    holds "no progress" grep -qE '[0-9] of 4 runs   [1-3] running   [0-9]+ %' "$work/lines"
    if [ "$columns" -ge 80 ]; then
        holds "no run under way" grep -qE '^  synth:stream, (shared|private) +[0-9]+ % +[0-9.]+ s +[0-9.]+ +[0-9.]+ % ' "$work/lines"
        holds "no finished run" grep -qE '^  (mm:tiny|synth:stream), (shared|private) +[0-9.]+ s +[0-9.]+ +[0-9.]+ % ' "$work/lines"
    fi
    fits "$columns"
    holds "$(cat "$work/screen")" test "$(grep -cE 'running|finished last' "$work/screen")" -eq 0
    holds "the counts follow" grep -q '4 runs: 4 simulated' "$work/screen"
done
holds "no curve" grep -qE '%  [▁▂▃▄▅▆▇█]+' "$work/lines"
cp "$work/lines" "$work/lab"

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
rm -rf "$work"/page.sqlite* "$work/pid" "$work/terminal"
python3 tests/cli/terminal.py "$work/terminal" sh -c "echo \$\$ >$work/pid; exec $SLUICE lab run $work/x.yaml --watch --store $work/page.sqlite -j 2" >"$work/screen" 2>&1 &
page=$!
for _ in $(seq 100); do
    grep -q issuing "$work/terminal" 2>/dev/null && break
    sleep 0.1
done
kill -INT "$(cat "$work/pid")"
wait $page
holds "the page was not drawn" grep -q issuing "$work/terminal"
holds "$(cat "$work/screen")" test "$(grep -cE 'running|finished last' "$work/screen")" -eq 0
holds "no message" grep -q 'interrupted with [1-4] runs\{0,1\} left' "$work/screen"

tests_end
