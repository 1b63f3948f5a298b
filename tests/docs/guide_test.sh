#!/usr/bin/env bash
# docs/guide.md does what it says, from its first command to its last: its files are written and its commands run in an empty folder, in their
# order, and print what the page shows. Lines about the host may differ. --update writes what was printed into the page.
. "$(dirname "$0")/../testlib.sh"
. tests/docs/console.sh

page=docs/guide.md
folder=$work/guide
mkdir "$folder"
awk -v folder="$folder" '/^```/ && !open { open = 1; split($0, word, " "); file = word[2]; next } /^```/ { open = 0; next } open && file != "" { print > (folder "/" file) }' $page
PATH=$(dirname "$SLUICE"):$PATH

try() {
    testcase "$1: $2"
    (cd "$folder" && set -o pipefail && eval "timeout 100 env $2") >"$work/out" 2>&1
    status_fits $?
    printed_as_shown '^  simulated in|^about '
}

console_page $page

testcase "the guide leaves a page and its plots"
for file in sweep.html sweep.figures/sweep.svg sweep.figures/sweep.pdf sweep.csv sharing.html; do holds "there is no $file" test -s "$folder/$file"; done

# A picture of the page is what its command draws. tests/report/timeline_test.sh tests timeline.png.
testcase "docs/slices.svg is what the guide draws"
[ -z "$update" ] || cp "$folder/slices.svg" docs/slices.svg
holds "it differs (if that is intended: tests/docs/update.sh)" cmp -s "$folder/slices.svg" docs/slices.svg
holds "there is no timeline" test -s "$folder/nn.json"

testcase "the text has the packets of the timeline"
text=$(python3 - "$folder/nn.json" $page <<'END'
import json, re, sys
values = [(e["ts"], e["args"]["packets"]) for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "C" and e["name"] == "request network"]
shared, begin, end, private, later = map(int, re.search(r"network holds (\d+) packets on average from (\d+) to (\d+) us and (\d+) from (\d+) us on", open(sys.argv[2]).read().replace("\n", " ")).groups())
mean = lambda low, high: sum(v for t, v in values if low <= t < high) / sum(low <= t < high for t, _ in values)
found = mean(begin, end), mean(later, 1e9)
print("" if (shared, private) == tuple(map(round, found)) else found)
END
)
holds "$text" test -z "$text"

tests_end
