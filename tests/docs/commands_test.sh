#!/usr/bin/env bash
# The commands in the pages below print what the pages show, and ./demo runs to its end.
#
# A `console` block contains commands (`$ ...`) and their output. Lines about the host (`simulated in`) may differ. A
# command whose output is an error message ends with status 2, any other with 0. --update writes the output into the pages.
. "$(dirname "$0")/../testlib.sh"
. tests/docs/console.sh

try() {
    testcase "$1: $2"
    (set -o pipefail && eval "${2/#build\/release\/sluice/\"\$SLUICE\"}") >"$work/out" 2>&1
    status_fits $?
    printed_as_shown '^  simulated in'
}

for page in README.md docs/architecture.md docs/correlate.md docs/energy.md docs/kernels.md docs/latency.md docs/plot.md docs/scripting.md docs/timeline.md docs/traces.md docs/model/*.md; do console_page "$page"; done

for picture in plot latency kernels; do
    testcase "docs/$picture.svg is what docs/$picture.md draws"
    [ -z "$update" ] || cp "build/$picture.svg" "docs/$picture.svg"
    holds "it differs (if that is intended: tests/docs/update.sh)" cmp -s "build/$picture.svg" "docs/$picture.svg"
done

if [ -z "$update" ]; then
    # The examples of README.md see the tree, but do not write into it.
    mkdir "$work/tree" && ln -s "$PWD"/* "$work/tree/"
    awk -F '`' '/^\|.*`sluice (run|compare|reproduce) / { print $2 }' README.md >"$work/examples"
    testcase "README.md has examples"
    holds "$(wc -l <"$work/examples") lines" test "$(wc -l <"$work/examples")" -ge 5
    while IFS= read -r example <&3; do
        testcase "README.md: $example"
        (cd "$work/tree" && eval "timeout 100 \"\$SLUICE\" ${example#sluice }") >"$work/out" 2>&1
        status=$?
        holds "status $status: $(head -n 3 "$work/out")" test $status -eq 0
    done 3<"$work/examples"

    testcase "./demo prints a row for each load and writes its report"
    touch "$work/start"
    ./demo --size tiny >"$work/out" 2>&1
    status=$?
    holds "status $status" test $status -eq 0
    for load in 'chase 8K' 'chase 128K' 'chase 128M' stream copy uniform hotline shared alu; do
        holds "no row '$load'" grep -qE "^$load +[0-9]+ +[0-9.]+ " "$work/out"
    done
    holds "build/demo/quick-tiny.html is older than the run" test build/demo/quick-tiny.html -nt "$work/start"
fi

tests_end
