# `sluice correlate`: counters next to those of GPGPU-Sim 4 on the fast kernels, and next to any other table.
. "$(dirname "$0")/../testlib.sh"

reference=data/reference/gpgpusim

# compared ARGS...: like sluice of testlib.sh, with more time.
compared() {
    last_command="sluice correlate $*"
    timeout 200 "$SLUICE" correlate "$@" >"$work/out" 2>"$work/err"
    last_status=$?
}
# agree CODE: Python code, with the JSON of the comparison as `found`, finds nothing to print.
agree() {
    local text
    text=$(python3 -c 'import json, sys; found = json.load(open(sys.argv[2])); exec(sys.argv[1])' "$1" "$work/found.json" 2>&1)
    holds "$text" test -z "$text"
}

testcase "counters and cycles are within the bounds of GPGPU-Sim's, with fetch on write"
compared $reference --check --kernel vecadd --kernel saxpy_s2 --kernel stencil5 --kernel reduce --kernel histogram --kernel scatter --kernel fma --machine corr15f \
    --machine corr80f -o "$work/plot.svg" --json "$work/found.json"
status_is 0
out_has "corr15f         7  cycles"
out_has "corr80f         7  cycles"
holds "no row differs" test "$(grep -c DIFF "$work/out")" -eq 0
holds "a row per kernel with equal counts" test "$(grep -cE '^corr(15|80)f +[a-z0-9_]+ +equal' "$work/out")" -eq 14
holds "the plot has every cycle count" test "$(grep -c '<title>' "$work/plot.svg")" -ge 14
holds "the plot is not well-formed" python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/plot.svg"

testcase "docs/correlate.svg has the points that the command draws"
compared $reference --machine corr15f --kernel vecadd --kernel reduce --metric cycles -o "$work/few.svg"
holds "two points" test "$(grep -c '<title>' "$work/few.svg")" -eq 2
holds "they differ: run \`sluice correlate data/reference/gpgpusim --metric cycles -o docs/correlate.svg\`" \
    test "$(grep -o '<title>[^<]*' "$work/few.svg" | grep -cFf - docs/correlate.svg)" -eq 2

testcase "the JSON has the reference, the errors and their means"
agree '
import csv
table = list(csv.DictReader(open("data/reference/gpgpusim/gpgpusim_corr_fetchonwrite.csv")))
errors = {}
for row in found["kernels"]:
    cycles = next(m for m in row["metrics"] if m["metric"] == "cycles")
    theirs = next(int(t["cycles"]) for t in table if (t["machine"], t["kernel"]) == (row["machine"], row["kernel"]))
    if cycles["reference"] != theirs or abs(cycles["error"] - (cycles["ours"] / theirs - 1)) > 1e-9: print(row["kernel"], cycles, theirs)
    errors.setdefault(row["machine"], []).append(abs(cycles["error"]))
for machine in found["machines"]:
    mean = next((m["mean_absolute_error"] for m in machine["metrics"] if m["metric"] == "cycles"), None)
    if mean is not None and abs(mean - sum(errors[machine["machine"]]) / 7) > 1e-9: print(machine["machine"], mean)
'

testcase "one metric of one kernel can be compared"
compared $reference --kernel vecadd --machine corr15 --metric cycles -o "$work/plot.html"
status_is 0
holds "other metrics are compared" test "$(grep -c misses "$work/out")" -eq 0
holds "the page has one chart" test "$(grep -c '<figure>' "$work/plot.html")" -eq 1
holds "the page is not well-formed" python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/plot.html"
compared $reference --kernel vecadd --metric cycle
status_is 2
err_has "did you mean \`cycles\`"

testcase "counters and cycles are within the bounds, with write misses forwarded to memory"
compared $reference --check --kernel vecadd --kernel reduce --kernel scatter --kernel lat_alu --kernel lat_l1 --kernel lat_shared --machine corr15
status_is 0
out_has "corr15          6  cycles"

testcase "atomics by lane, the depth of the load/store unit and the gate of the slices are within the bounds"
compared $reference --check --kernel hotatom --kernel hashprobe --kernel matvec --kernel spmv --kernel histshared
status_is 0
out_has "corr15          5  cycles"
out_has "corr80          5  cycles"

testcase "a comparison out of bounds has status 1 and is reported"
mkdir -p "$work/mine/launch"
cp -r $reference/ptx "$work/mine/ptx"
cp $reference/launch/vecadd.yaml "$work/mine/launch/"
printf 'machine,gpu,settings\nslow,corr80,llc.latency_cycles=900\n' >"$work/mine/machines.csv"
sed -n -e 1p -e '/^corr80f,vecadd,/s/corr80f/slow/p' $reference/gpgpusim_corr_fetchonwrite.csv >"$work/mine/reference.csv"
compared "$work/mine" --check
status_is 1
out_has "vecadd on slow: cycles are"
out_has "slow: cycles are"
compared "$work/mine" --check --json -
status_is 1
err_has "vecadd on slow: cycles are"
compared "$work/mine"
status_is 0

testcase "columns with the name of a counter, and columns that columns.csv defines, are compared"
rm "$work/mine/reference.csv"
"$SLUICE" run --launch "$work/mine/launch/vecadd.yaml" --gpu corr80 --set llc.latency_cycles=900 --json "$work/run.json" >"$work/summary"
fills=$(grep -m1 -oE '"l1.fills": [0-9]+' "$work/run.json" | sed 's/.*: //')
stores=$(grep -m1 -oE '"l1.write_misses": [0-9]+' "$work/run.json" | sed 's/.*: //')
printf 'machine,kernel,l1.fills,"Stores, sent",note\nslow,vecadd,%d,%d,fast\n' "$fills" "$((2 * stores))" >"$work/mine/other.csv"
printf 'column,formula\n"Stores, sent",l1.write_hits + l1.write_misses\n' >"$work/mine/columns.csv"
compared "$work/mine" --json "$work/found.json"
status_is 0
agree '
errors = {m["metric"]: m["error"] for m in found["kernels"][0]["metrics"]}
if errors != {"Stores, sent": -0.5, "l1.fills": 0}: print(errors)
'

testcase "a failing kernel is reported, and the others are compared"
sed 's/final_sum_u32: 1745529536/final_sum_u32: 1/' "$work/mine/launch/vecadd.yaml" >"$work/mine/launch/bad.yaml"
printf 'slow,bad,1,1,\n' >>"$work/mine/other.csv"
compared "$work/mine"
status_is 1
err_has "bad on slow: "
holds "the other kernel is missing" grep -qE '^slow +vecadd ' "$work/out"
holds "the failing kernel is compared" test "$(grep -c bad "$work/out")" -eq 0
sed -i 's/ptx: .*/ptx: none.ptx/' "$work/mine/launch/bad.yaml"
compared "$work/mine"
status_is 2
err_has "none.ptx"
sed -i 's/,bad,/,unknown,/' "$work/mine/other.csv"
compared "$work/mine"
status_is 0
out_has "1 row without a launch file"

testcase "input errors are located"
compared
status_is 2
err_has "one folder"
compared "$work/nothing"
status_is 2
err_has "launch/"
compared "$work/mine" --kernel vecad
status_is 2
err_has "--kernel vecad"
compared "$work/mine" -o "$work/plot.pdf"
status_is 2
err_has ".html, .svg or .png"
printf 'slow,vecadd,many,1,\n' >>"$work/mine/other.csv"
compared "$work/mine"
status_is 2
err_has "other.csv:4:1: column l1.fills: \`many\` is not a number"
sed -i '$d' "$work/mine/other.csv"
printf 'slow,vecadd\n' >>"$work/mine/other.csv"
compared "$work/mine"
status_is 2
err_has "other.csv:4:1: this row has 2 of 5 columns"
sed -i '$d' "$work/mine/other.csv"
printf 'fast,vecadd,1,1,\n' >>"$work/mine/other.csv"
compared "$work/mine"
status_is 2
err_has "machines.csv has no row for machine \`fast\`"
printf 'column,formula\nx,1 +\n' >"$work/mine/columns.csv"
sed -i '$d' "$work/mine/other.csv"
compared "$work/mine"
status_is 2
err_has "columns.csv:2:1: formula \`1 +\`: character 4"
rm "$work/mine/machines.csv"
compared "$work/mine"
status_is 2
err_has "machines.csv"

testcase "ends within a second of Ctrl-C, and leaves no files"
mkdir "$work/tmp"
TMPDIR=$work/tmp "$SLUICE" correlate $reference >"$work/out" 2>"$work/err" &
child=$!
for _ in {1..100}; do [ -z "$(ls "$work/tmp")" ] || break; sleep 0.05; done
sleep 0.2
start=$(date +%s%N)
kill -INT "$child"
wait "$child"
last_status=$? last_command="sluice correlate, interrupted"
took=$((($(date +%s%N) - start) / 1000000))
status_is 1
err_has "interrupted"
holds "it took $took ms" test "$took" -lt 2000
holds "files are left: $(ls "$work/tmp")" test -z "$(ls "$work/tmp")"

tests_end
