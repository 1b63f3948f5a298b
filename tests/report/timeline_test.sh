#!/usr/bin/env bash
# A timeline in the trace viewer that was Chrome's tracing page (newer versions of Chromium no longer contain it), inside headless Chromium. Needs Debian's
# chromium and golang-src, which has the viewer; ./check --full installs both. Skipped without them. TRACE_VIEWER: another folder with trace_viewer_full.html.
. "$(dirname "$0")/../testlib.sh"

viewer=${TRACE_VIEWER:-$(dirname "$(find /usr/share/go-*/src /usr/lib/go-*/src -name trace_viewer_full.html 2>/dev/null | sort -V | tail -n 1)")}
if ! command -v chromium >/dev/null; then
    echo 'skipped: chromium is not installed'
    tests_end
fi
if [ ! -e "$viewer/trace_viewer_full.html" ]; then
    echo 'skipped: golang-src is not installed'
    tests_end
fi

# viewed TITLE: the viewer shows $work/t.json as it is.
viewed() {
    testcase "$1: the viewer opens it"
    timeout 100 python3 tests/report/trace_viewer.py "$viewer" "$work/t.json" >"$work/found" 2>"$work/log"
    holds "$(tail -n 3 "$work/log")" test -s "$work/found"
    while IFS= read -r line; do
        testcase "$1: ${line#?? }"
        holds "${line#*: }" test "${line%% *}" = ok
    done <"$work/found"
}

"$SLUICE" run bfs:tiny --timeline "$work/t.json" --timeline-detail ctas >/dev/null 2>&1
viewed "kernels, SMs and CTAs"

"$SLUICE" run an:tiny --design adaptive --set llc.adaptive.profile_cycles=500 --set llc.adaptive.epoch_cycles=3000 --set llc.adaptive.sets=64 \
    --timeline "$work/t.json" --timeline-detail kernels >/dev/null 2>&1
viewed "a reconfiguring LLC"

# The command behind docs/timeline.png, as the page has it.
command=$(sed -n 's/^    \(tests\/report\/trace_viewer.py .* --picture docs\/timeline.png .*\)/\1/p' docs/timeline.md)
guide=$(sed -n 's/^\$ sluice \(run .* --timeline nn.json .*\) >.*/\1/p' docs/guide.md)
testcase "docs/timeline.png has every track of the guide's timeline"
holds "no command in docs/timeline.md" test -n "$command"
holds "no command in docs/guide.md" test -n "$guide"
(cd "$work" && "$SLUICE" $guide) >/dev/null 2>&1
command=${command/VIEWER/$viewer} command=${command/nn.json/$work/nn.json} command=${command/docs\/timeline.png/$work/nn.png}
timeout 100 python3 $command >"$work/found" 2>"$work/log"
holds "$(tail -n 1 "$work/log")" test -s "$work/nn.png"
holds "it was made with another size" test "$(od -An -tx1 -j16 -N8 "$work/nn.png")" = "$(od -An -tx1 -j16 -N8 docs/timeline.png)"
for track in kernels 'adaptive LLC' 'SM cycles (%)' IPC 'L1 read hits' 'LLC read hits' 'request network' 'reply network' 'LLC slices blocked (%)' 'DRAM reads in flight' 'DRAM queues full (%)' 'DRAM bus' reconfiguration; do
    holds "no track '$track'" grep -qF "\"$track\"" "$work/nn.json"
done

testcase "a picture that leaves out tracks is noticed"
rm -f "$work/nn.png"
timeout 100 python3 ${command% --height*} --height 600 >"$work/found" 2>"$work/log"
holds "$(cat "$work/log")" grep -q 'not in the picture: .*kernels' "$work/log"
no_file "$work/nn.png"

testcase "spans that overlap are noticed"
sed -E '0,/"dur": ?[0-9.]+/s//"dur": 900/' "$work/t.json" >"$work/damaged.json"
timeout 100 python3 tests/report/trace_viewer.py "$viewer" "$work/damaged.json" >"$work/found" 2>"$work/log"
holds "$(cat "$work/found")" grep -q '^no the spans of a track follow each other: ' "$work/found"

tests_end
