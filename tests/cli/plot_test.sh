#!/usr/bin/env bash
# `sluice plot`: charts of runs. The values in a picture are those of the JSON.
. "$(dirname "$0")/../testlib.sh"

sluice run mm:tiny --design shared --sample 500 --sample-units llc.read_misses --json "$work/shared.json"
sluice run mm:tiny --design private --json "$work/private.json"

# well_formed FILE: it is XML.
well_formed() { holds "$(basename "$1") is not well-formed" python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"; }
# agree CODE FILE...: the Python code, with the JSON of a run as `run` and the titles and table rows of the page as `titles` and `rows`, finds nothing to print.
agree() {
    local text
    text=$(python3 - "$@" 2>&1 <<'END'
import json, sys
import xml.etree.ElementTree as tree
code, page, result = sys.argv[1:]
run = json.load(open(result))
page = tree.parse(page)
local = lambda element: element.tag.split("}")[-1]
titles = [e.text for e in page.iter() if local(e) == "title"]
rows = [[cell.text for cell in e] for e in page.iter() if local(e) == "tr"]
exec(code)
END
    )
    holds "$text" test -z "$text"
}

testcase "draws every kind that the run has values for, as SVG and as a page"
sluice plot "$work/shared.json" -o "$work/all.svg"
status_is 0
well_formed "$work/all.svg"
for title in 'SM cycle breakdown' IPC 'L1 read hits' 'LLC read hits' 'DRAM traffic' Units 'llc.read_misses by unit over time' Roofline 'Latency by level'; do
    holds "no chart '$title'" grep -qF ">$title<" "$work/all.svg"
done
sluice plot "$work/shared.json" -o "$work/all.html"
status_is 0
well_formed "$work/all.html"
holds "the page refers to other files" sh -c '! grep -qE "(src|href)=" "$0"' "$work/all.html"

testcase "the breakdown has the shares of the counters"
agree '
cycles = run["stats"]["sm.cycles"]
head = next(row for row in rows if row[0] == "% of SM cycles")
values = rows[rows.index(head) + 1]
if abs(sum(map(float, values[1:])) - 100) > 0.5: print("the bar ends at", sum(map(float, values[1:])))
for name, value in zip(head[1:], values[1:]):
    counter = "sm.issuing" if name == "issuing" else "sm.stall." + name.replace(" ", "_")
    share = 100 * run["stats"][counter] / cycles
    if abs(float(value) - share) > 0.006: print(name, value, share)
    if share > 1 and not any(t.endswith("%s: %.2f %%" % (name, share)) for t in titles): print("no bar", name, share)
' "$work/all.html" "$work/shared.json"

testcase "the series has the increase of a counter per cycle"
sluice plot "$work/shared.json" --kind series --counter l1.read_misses -o "$work/series.html"
status_is 0
agree '
column = run["samples"]["columns"].index("l1.read_misses")
last = 0
shown = [row for row in rows if row[0] == "mm:tiny"]
if len(shown) != len(run["samples"]["rows"]): print(len(shown), "rows")
for sample, row in zip(run["samples"]["rows"], shown):
    rate = sample[column] / (sample[0] - last)
    last = sample[0]
    if int(row[1]) != last or abs(float(row[2]) - rate) > 1e-5 * rate: print(row, rate)
' "$work/series.html" "$work/shared.json"

testcase "a heat map has a cell per unit"
sluice plot "$work/shared.json" --kind units --counter dram.read_bytes --counter '100 * llc.read_misses / total(llc.read_misses)' -o "$work/units.html"
status_is 0
agree '
bytes = next(row for row in rows if row[1] == "dram.read_bytes")
if list(map(float, bytes[2:])) != run["units"]["dram.read_bytes"]: print(bytes)
shares = next(row for row in rows if row[1].startswith("100 *"))
if len(shares) != 2 + len(run["units"]["llc.read_misses"]) or abs(sum(map(float, shares[2:])) - 100) > 0.01: print(shares)
' "$work/units.html" "$work/shared.json"

testcase "the roofline has the peak rates of the machine and the rates of the run"
sluice plot "$work/shared.json" --kind roofline -o "$work/roofline.html"
status_is 0
holds "DRAM: 8 channels of 64 B per memory cycle, 1758 to 1400 MHz" grep -q 'DRAM, 642.9 B/cycle' "$work/roofline.html"
holds "LLC: 64 ports of 32 B" grep -q 'LLC, 2048 B/cycle' "$work/roofline.html"
holds "80 SMs with 2 schedulers" grep -q 'issue, 160 per cycle' "$work/roofline.html"
agree '
row = next(row for row in rows if row[1] == "DRAM")
intensity = run["warp_instructions"] / (run["stats"]["dram.read_bytes"] + run["stats"]["dram.write_bytes"])
ipc = run["warp_instructions"] / run["cycles"]
if abs(float(row[2]) / intensity - 1) > 1e-3 or abs(float(row[3]) / ipc - 1) > 1e-3: print(row, intensity, ipc)
if abs(float(row[5]) - 100 * ipc / min(160, intensity * 642.93)) > 0.1: print(row)
' "$work/roofline.html" "$work/shared.json"

testcase "latencies are means in core cycles"
sluice plot "$work/shared.json" --kind latency -o "$work/latency.html"
status_is 0
agree '
stats, config = run["stats"], run["config"]
expected = {
    "load, issue to data": stats["sm.load_cycles"] / stats["sm.loads"],
    "request network": stats["noc.request.packet_cycles"] / stats["noc.request.packets_ejected"],
    "LLC lookup": 120,
    "DRAM read, with controller": config["dram.controller_cycles"] + stats["dram.read_cycles"] / stats["dram.reads"] * config["gpu.core_mhz"] / config["dram.clock_mhz"],
    "reply network": stats["noc.reply.packet_cycles"] / stats["noc.reply.packets_ejected"],
}
found = {row[0]: float(row[1]) for row in rows[1:]}
if found.keys() != expected.keys() or any(abs(found[name] - expected[name]) > 0.006 for name in found): print(found, expected)
' "$work/latency.html" "$work/shared.json"

testcase "a run with --latency has a breakdown by level and stage, and a histogram"
sluice run mm:tiny --design shared --latency --json "$work/observed.json"
sluice plot "$work/observed.json" --kind latency -o "$work/latency.html"
status_is 0
well_formed "$work/latency.html"
agree '
stats = run["stats"]
levels = {"L1 hit": "l1", "L1 pending hit": "l1_pending", "SM cache hit": "sm_cache", "LLC hit": "llc", "LLC pending hit": "llc_pending", "DRAM": "dram"}
head = next(row for row in rows if row[0] == "mean cycles per load")
shown = rows[rows.index(head) + 1:rows.index(head) + 1 + len(levels)]
if [row[0] for row in shown] != list(levels): print([row[0] for row in shown])
if len(head) != 23: print(head)
for row in shown:
    name, loads = levels[row[0]], stats["latency.%s.loads" % levels[row[0]]]
    stages = [key for key in stats if key.startswith("latency.%s." % name) and not key.split(".")[2].startswith(("from_", "loads"))]
    for cell, key in zip(row[3:], stages, strict=True):
        if abs(float(cell) - stats[key] / loads) > 0.006: print(row[0], key, cell)
    if abs(float(row[2]) - sum(stats[key] for key in stages) / loads) > 0.006: print(row)
    if abs(float(row[1]) - 100 * loads / stats["sm.loads"]) > 0.006: print(row)
histogram = next(row for row in rows if row[0] == "% of loads, from cycles")
bins = rows[rows.index(histogram) + 1:]
if abs(sum(float(cell) for row in bins for cell in row[1:]) - 100) > 0.1: print("shares", bins)
for row in bins:
    for title, cell in zip(histogram[1:], row[1:], strict=True):
        share = 100 * stats["latency.%s.from_%s" % (levels[title], row[0])] / stats["sm.loads"]
        if abs(float(cell) - share) > 0.0006: print(row, title, share)
' "$work/latency.html" "$work/observed.json"
sluice plot "$work/observed.json" "$work/private.json" --kind latency -o "$work/mixed.svg"
status_is 0
well_formed "$work/mixed.svg"
out_has "3 charts"
for title in 'Latency breakdown of loads' 'Load latency histogram' 'Latency by level'; do
    holds "no chart '$title'" grep -qF ">$title<" "$work/mixed.svg"
done

testcase "kernels have their IPC over their cycles"
sluice run bfs:tiny --json "$work/bfs.json"
sluice plot "$work/bfs.json" --kind kernels -o "$work/kernels.html"
status_is 0
well_formed "$work/kernels.html"
agree '
shown = rows[1:]
if len(shown) != 14 or len(run["kernels"]) != 14: print(len(shown), "rows")
for kernel, row in zip(run["kernels"], shown):
    ipc = kernel["instructions"] / kernel["cycles"]
    if row[:3] != [str(kernel["launch"]), kernel["name"], str(kernel["cycles"])] or abs(float(row[3]) - ipc) > 0.006: print(row, ipc)
    if "launch %d, %s: IPC %.2f, %d cycles" % (kernel["launch"], kernel["name"], ipc, kernel["cycles"]) not in titles: print("no bar", row)
' "$work/kernels.html" "$work/bfs.json"
sluice plot "$work/shared.json" --kind kernels -o "$work/none.svg"
status_is 2
err_has "fewer than two launches"

testcase "several runs are in one chart, by the names in which they differ"
sluice plot "$work/shared.json" "$work/private.json" --kind stalls --kind roofline -o "$work/two.html"
status_is 0
agree '
for name in "shared", "private":
    if sum(row[0] == name for row in rows) != 3: print(name, rows)
' "$work/two.html" "$work/shared.json"
cp "$work/shared.json" "$work/again.json"
sluice plot "$work/shared.json" "$work/again.json" --kind stalls -o "$work/two.svg"
status_is 0
holds "equal runs are named by their files" grep -q '>again.json<' "$work/two.svg"

testcase "long names are in the picture, or shortened with all of the name in a tooltip and the table"
for run in shared observed; do
    for number in 1 2; do # in which workload, GPU and design differ
        sed "0,/\"workload\": /s/\"workload\": .*/\"workload\": \"a workload with a long name:small $number\",/; 0,/\"gpu\": /s/\"gpu\": .*/\"gpu\": \"a-gpu-with-a-long-name-$number\",/
            0,/\"design\": /s/\"design\": .*/\"design\": \"a-design-$number\",/" "$work/$run.json" >"$work/long-$run-$number.json"
    done
    sluice plot "$work/long-$run-1.json" "$work/long-$run-2.json" --counter "l1.read_hits + l1.read_misses + 0 * (l1.read_hits + l1.read_misses + l1.read_bypasses + l1.read_pending_hits)" -o "$work/long.svg"
    status_is 0
    well_formed "$work/long.svg"
    text=$(python3 - "$work/long.svg" <<'END'
import sys
import xml.etree.ElementTree as tree
name = "{http://www.w3.org/2000/svg}"
picture = tree.parse(sys.argv[1]).getroot()
width, shortened = float(picture.get("width")), 0
def walk(element, x):
    global shortened
    if element.tag == name + "g":
        x += float(element.get("transform").split("(")[1].split()[0])
    if element.tag == name + "text" and element.get("x"):
        title = element.find(name + "title")
        text = (element.text or "") + (title.tail if title is not None else "")
        shortened += title is not None
        if title is not None and not (text.endswith("…") and title.text.startswith(text[:-1])): print("tooltip", title.text, text)
        wide = len(text) * {"head": 7.5, "muted": 5.4}.get(element.get("class"), 6)
        left = x + float(element.get("x")) - wide * {"start": 0, "middle": 0.5, "end": 1}[element.get("text-anchor")]
        if left < 0 or left + wide > width: print("outside:", text, left, left + wide)
    for child in element:
        walk(child, x)
walk(picture, 0)
if not shortened: print("nothing is shortened")
END
    )
    holds "$text" test -z "$text"
done
sluice plot "$work/long-shared-1.json" "$work/long-shared-2.json" --kind stalls -o "$work/long.html"
holds "the name in the table" grep -q '<td>a workload with a long name:small 1, a-gpu-with-a-long-name-1, a-design-1</td>' "$work/long.html"

testcase "no point of the roofline is on the label of a ceiling"
for number in 1 2 3 4; do # points along the ceiling of DRAM
    python3 - "$work/shared.json" $number >"$work/roof-$number.json" <<'END'
import json, sys
run, number = json.load(open(sys.argv[1])), int(sys.argv[2])
run["design"] = "roof %d" % number
run["warp_instructions"] = int(run["cycles"] * 0.5 * 3 ** number)
run["stats"]["dram.read_bytes"], run["stats"]["dram.write_bytes"] = int(run["cycles"] * 630), 0
json.dump(run, sys.stdout)
END
done
sluice plot "$work"/roof-[1-4].json --kind roofline -o "$work/roof.svg"
status_is 0
text=$(python3 - "$work/roof.svg" <<'END'
import math, re, sys
text = open(sys.argv[1]).read()
points = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', text)]
points += [(float(x), float(y) + 6) for x, y in re.findall(r'<path d="M([\d.]+) ([\d.]+)l6 6', text)]
labels = re.findall(r'translate\(([\d.]+) ([\d.]+)\) rotate\((-[\d.]+)\)">([^<]*B/cycle)<', text)
if len(points) != 8 or len(labels) != 2: print(points, labels)
for x, y, angle, label in labels:
    angle = math.radians(float(angle))
    for px, py in points:
        dx, dy = px - float(x), py - float(y)
        along, below = dx * math.cos(angle) + dy * math.sin(angle), dy * math.cos(angle) - dx * math.sin(angle)
        if -5 < along < 5.4 * len(label) + 5 and -8 - 5 < below < 5: print(label, "is covered by", px, py)
END
)
holds "$text" test -z "$text"

testcase "input errors are located, and nothing is written"
rm -f "$work/none.svg"
sluice plot
status_is 2
err_has "missing run"
sluice plot "$work/private.json" --kind series -o "$work/none.svg"
status_is 2
err_has "private.json: --kind series: it has no samples"
sluice plot "$work/shared.json" --kind roof -o "$work/none.svg"
status_is 2
err_has "did you mean \`roofline\`"
sluice plot "$work/shared.json" --counter l1.read_mises -o "$work/none.svg"
status_is 2
err_has "did you mean \`l1.read_misses\`"
sluice plot "$work/shared.json" --counter 'l1.read_misses +' -o "$work/none.svg"
status_is 2
err_has "character 17"
sluice plot "$work/shared.json" -o "$work/none.gif"
status_is 2
err_has ".html, .svg or .png"
head -c 300 "$work/shared.json" >"$work/cut.json"
sluice plot "$work/cut.json" -o "$work/none.svg"
status_is 2
err_matches 'cut.json:[0-9]+:[0-9]+: '
echo '{"workload": "x", "gpu": 1, "design": null, "cycles": "y", "ipc": [], "stats": 3, "config": "z", "samples": [], "units": {"a": 1}}' >"$work/odd.json"
sluice plot "$work/odd.json" -o "$work/none.svg"
err_empty
rm -f "$work/none.svg"
sluice plot "$work/odd.json" --kind stalls -o "$work/none.svg"
status_is 2
no_file "$work/none.svg"
no_file "$work/none.gif"

testcase "impossible values are drawn, too"
python3 - "$work/shared.json" >"$work/extreme.json" <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
for row in run["samples"]["rows"]:
    row[0] = 0
for name in "dram.read_cycles", "sm.load_cycles_max", "sm.issuing", "dram.read_bytes":
    run["stats"][name] = 1e308
run["units"]["sm.issuing"][3] = -1e300
json.dump(run, sys.stdout)
END
sluice plot "$work/extreme.json" -o "$work/extreme.svg"
status_is 0
well_formed "$work/extreme.svg"

testcase "a PNG picture is drawn by rsvg-convert, and its absence is reported"
mkdir "$work/bin"
PATH=$work/bin "$SLUICE" plot "$work/shared.json" -o "$work/none.png" 2>"$work/err" >"$work/out"
last_status=$? last_command="sluice plot without rsvg-convert"
status_is 2
err_has "librsvg2-bin"
printf '#!/bin/sh\n[ "$(head -c 4)" = "<svg" ] && printf PNG\n' >"$work/bin/rsvg-convert"
chmod +x "$work/bin/rsvg-convert"
PATH=$work/bin:$PATH sluice plot "$work/shared.json" -o "$work/some.png"
status_is 0
holds "its output is the file" test "$(cat "$work/some.png")" = PNG
printf '#!/bin/sh\nexit 1\n' >"$work/bin/rsvg-convert"
PATH=$work/bin:$PATH sluice plot "$work/shared.json" -o "$work/none.png"
status_is 1
no_file "$work/none.png"

if command -v rsvg-convert >/dev/null; then
    testcase "the PNG picture has twice the size of the SVG picture"
    sluice plot "$work/shared.json" --kind stalls -o "$work/stalls.png"
    status_is 0
    holds "width" test "$(od -An -tu1 -j18 -N2 "$work/stalls.png" | awk '{ print $1 * 256 + $2 }')" -eq 1664
fi

tests_end
