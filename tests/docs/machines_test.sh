#!/usr/bin/env bash
# The page of V100, A100 and H100 shows its data, and their descriptions run.
. "$(dirname "$0")/../testlib.sh"

testcase "the table of docs/machines.md is what its data give"
tools/machines --check >"$work/out" 2>&1
check $? "$(cat "$work/out")"

testcase "the report of the microbenchmarks has the published values of the page, with the same errors"
sluice report microbench --kept data/results -o "$work/machines.html" --json "$work/machines.json"
status_is 0
python3 - "$work/machines.json" >"$work/out" 2>&1 <<'PYTHON'
import json, sys

def values(node):
    if isinstance(node, list):
        for part in node:
            yield from values(part)
    elif isinstance(node, dict):
        for key, part in node.items():
            yield from (part if key == "papers" else values(part))

shown = {value["id"]: f"{value['error']:+.1f} %" for value in values(json.load(open(sys.argv[1])))}
for line in open("docs/machines.md"):
    cells = [cell.strip() for cell in line.split("|")]
    if len(cells) != 8 or not cells[1].startswith("`"):
        continue
    name = cells[1].strip("`") + " " + cells[2].rsplit(",", 1)[0]
    if shown.pop(name, "none") != cells[5]:
        sys.exit(f"{name}: the page has {cells[5]}")
if shown:
    sys.exit(f"not on the page: {shown}")
PYTHON
check $? "$(cat "$work/out")"

testcase "microbench/lines finds lines of 128 bytes, and microbench/l2-conflicts fewer lines that are 4 KB apart"
python3 - >"$work/out" 2>&1 <<'PYTHON'
import csv

def runs(name):
    """Workload and GPU of each run, and its loads and row."""
    for row in csv.DictReader(open(f"data/results/microbench/{name}.csv")):
        workload, _, gpu = row["cell"].split(", ")
        yield workload, gpu, float(row["sm.loads"]), row

for gpu in ("v100", "a100", "h100"):
    lines = [(w, float(r["l1.read_hits"]) > loads / 2) for w, g, loads, r in runs("lines") if g == gpu]
    size, count = ([(int(w.split()[0]), fits) for w, fits in lines if unit in w] for unit in (" KB ", " loads"))
    held = [max(n for n, fits in rows if fits) for rows in (size, count)]
    beyond = [min(n for n, fits in rows if not fits) for rows in (size, count)]
    least, most = 1024 * held[0] / beyond[1], 1024 * beyond[0] / held[1]
    assert 118 < least < 128 < most < 138, (gpu, least, most)
    most_lines = {}
    for workload, g, loads, row in runs("l2-conflicts"):
        words = workload.split()
        if g == gpu and float(row["dram.reads"]) < loads / 2:
            most_lines[words[3]] = max(int(words[0]), most_lines.get(words[3], 0))
    assert most_lines["4096"] < most_lines["128"], (gpu, most_lines)
PYTHON
check $? "$(cat "$work/out")"

testcase "every value of the descriptions names its source, or is marked as assumed or fitted"
for gpu in v100 a100 h100; do
    sources='Jia|Khairy|Jin|Luo|Abdelkhalik|RRZE|QV100|Accel-Sim|CUDA|cuda|NVIDIA|V100|A100|H100|compute capability|assumed|fitted|boost clock|as tensor_f16|maximum'
    awk -v sources="$sources" '/^ +[A-Za-z0-9_]+: *[^ #]/ && $0 !~ "# .*(" sources ")"' gpus/$gpu.yaml >"$work/unsourced"
    holds "$gpu: $(cat "$work/unsourced")" test ! -s "$work/unsourced"
    holds "$gpu: $(grep -cE '^ +[A-Za-z0-9_]+: *[^ #]' gpus/$gpu.yaml) values" test "$(grep -cE '^ +[A-Za-z0-9_]+: *[^ #]' gpus/$gpu.yaml)" -ge 100
done

testcase "the help of reproduce names the microbenchmarks"
sluice help reproduce
out_has microbench

testcase "all programs at tiny run on the machines, with correct results"
programs=$("$SLUICE" list workloads | awk '/^[a-z0-9]/ { name = $1 } /^ / && $1 == "tiny" { print name ":tiny" }')
holds "$(wc -w <<<"$programs") programs" test "$(wc -w <<<"$programs")" -ge 40
[ -n "${SLUICE_LONG_TESTS:-}" ] || programs="mm:tiny bfs:tiny va:tiny"
for gpu in v100 a100 h100; do
    for program in $programs; do
        sluice run "$program" --gpu "$gpu" --json "$work/run.json"
        status_is 0
        holds "$program on $gpu: $(grep '"check"' "$work/run.json")" grep -q '"check": "passed"' "$work/run.json"
    done
done

# fits GPU DESIGN REASON: it runs if there is no reason, else it is rejected with it.
fits() {
    sluice run mm:tiny --gpu "$1" --design "$2" --json "$work/run.json"
    if [ -n "$3" ]; then
        status_is 2
        err_has "designs/$2.yaml:"
        err_has "$3"
    else
        status_is 0
        holds "$1, $2: $(grep '"check"' "$work/run.json")" grep -q '"check": "passed"' "$work/run.json"
    fi
}

testcase "designs run where they fit and are rejected with the reason where not"
for gpu in v100 a100 h100; do
    clusters="a private LLC needs one slice per cluster" degree="the replication degree is 1, 2, 4, ... up to 4, not 8"
    [ $gpu != v100 ] || clusters="" degree=""
    for design in shared selrep selrep-tuned static-2 static-4; do fits $gpu $design ""; done
    for design in private adaptive; do fits $gpu $design "$clusters"; done
    fits $gpu static-8 "$degree"
    for design in clustered icc-agc icc-mgc; do
        fits $gpu $design "have a fixed size, and this GPU carves shared memory out of them"
        err_has "sm.carve_outs=[], sm.shared_kb and l1.size_kb, l1.sector_bytes=0, l1.allocate_on=miss, l1.write_allocate=none, l1.port_bytes=0, l1.tags_per_cycle=1"
    done
done

# settings_after TEXT: the options --set of the command of the page that follows a line with TEXT.
settings_after() {
    awk -v text="$1" 'index($0, text) { on = 1 } on && /--set/ { print; found = 1 } found && !/\\$/ { exit }' docs/machines.md | grep -oE -- '--set [^ ]+'
}

testcase "with the settings of the page, SMs share L1s"
settings=$(settings_after "L1s that are shared by SMs")
holds "$settings" test "$(wc -l <<<"$settings")" -eq 9
for gpu in v100 a100 h100; do
    for design in clustered icc-agc icc-mgc; do
        sluice run mm:tiny --gpu $gpu --design $design $settings --json "$work/run.json"
        status_is 0
        holds "$gpu, $design" grep -q '"check": "passed"' "$work/run.json"
    done
done

testcase "with the settings of the page, all organisations of the LLC run on two partitions"
settings=$(settings_after "With four slices per controller")
holds "$settings" test "$(wc -l <<<"$settings")" -eq 4
sluice compare mm:tiny --gpu a100 --designs partitioned,shared,selrep,private,adaptive $settings
status_is 0
out_has "check passed"
sluice compare mm:tiny --gpu h100 --designs partitioned,shared,selrep,private,adaptive ${settings/1024/1280}
status_is 0
out_has "check passed"
for gpu in a100 h100; do fits $gpu partitioned ""; done
fits v100 partitioned "partitioned needs an LLC of two partitions"

tests_end
