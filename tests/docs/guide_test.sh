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

# A picture of the page is what its command draws. timeline.png is made by tests/report/trace_viewer.py.
testcase "docs/slices.svg is what the guide draws"
[ -z "$update" ] || cp "$folder/slices.svg" docs/slices.svg
holds "it differs (if that is intended: tests/docs/update.sh)" cmp -s "$folder/slices.svg" docs/slices.svg
holds "there is no timeline" test -s "$folder/nn.json"

tests_end
