#!/usr/bin/env bash
# Recording, describing and simulating a stream.
. "$(dirname "$0")/../testlib.sh"

testcase "a run of a recording equals the run of the program except for host"
sluice record mm:tiny -o "$work/mm.stream"
status_is 0
sluice run mm:tiny --json "$work/program.json"
status_is 0
sluice run --trace "$work/mm.stream" --json "$work/recording.json"
status_is 0
for side in program recording; do grep -vE '"(seconds|warp_instructions_per_second|peak_rss_bytes)"' "$work/$side.json" >"$work/$side.txt"; done
holds "the counters differ" diff -q "$work/program.txt" "$work/recording.txt"
holds "there are no counters" grep -q '"l1.read_hits"' "$work/program.txt"

testcase "a recording does not depend on the machine, even if CTAs race"
for name in mm va sssp bh bfs hg; do
    sluice record "$name:tiny" -o "$work/$name.stream"
    status_is 0
    for machine in fermi-15sm/lrr selrep-64sm/bcs icc-32sm/two-level adaptive-80sm/private-bypass; do
        sluice record "$name:tiny" -o "$work/other.stream" --gpu "${machine%/*}" --design "${machine#*/}"
        status_is 0
        holds "$name on $machine is another stream" cmp -s "$work/$name.stream" "$work/other.stream"
    done
done

testcase "sluice info describes a recording"
sluice info "$work/mm.stream"
status_is 0
out_has "mm_tiled"
sluice info "$work/mm.stream" --json -
out_has '"thread_instructions"'

testcase "rejects a damaged recording with its location"
head -c 1500 "$work/mm.stream" >"$work/cut.stream"
sluice info "$work/cut.stream"
status_is 2
err_has "cut.stream: byte 1500"
{ head -c 200 "$work/mm.stream"; printf 'X'; tail -c +202 "$work/mm.stream"; } >"$work/bad.stream"
sluice run --trace "$work/bad.stream"
status_is 2
err_has "bad.stream: byte"
sluice info README.md
status_is 2
err_has "not a stream recorded by"

testcase "a failed recording keeps the previous file"
cp "$work/mm.stream" "$work/kept.stream"
sluice record mm:huge -o "$work/kept.stream"
status_is 2
holds "the old file is gone" cmp -s "$work/mm.stream" "$work/kept.stream"

tests_end
