# `sluice report` and `sluice reproduce` from the command line: files, messages and errors. tests/report/browser_test.sh tests the page itself.
. "$(dirname "$0")/../testlib.sh"

cat >"$work/small.yaml" <<'YAML'
title: Two designs
gpu: fermi-15sm
max_insts: 20000
workloads: [synth:alu, synth:stream]
designs: {plain: {}, slow: {set: {noc.channel_bytes: 8}}}
metrics: [{name: IPC, value: ipc, relative_to: plain, as: ratio}]
YAML
store=$work/small.sqlite

testcase "reproduce simulates the runs and builds the report"
sluice reproduce "$work/small.yaml" --store "$store" -o "$work/small.html" -j 2
status_is 0
out_has "$work/small.html: 1 figure; SVG and PDF in $work/small.figures"
holds "the page is not whole" grep -q '</html>' "$work/small.html"
for kind in svg pdf gnuplot; do holds "there is no $kind" test -s "$work/small.figures/small.$kind"; done
cp "$work/small.html" "$work/first.html"

testcase "a report of the experiments equals a report of their store"
sluice report "$work/small.yaml" --store "$store" -o "$work/small.html"
status_is 0
same_files "$work/first.html" "$work/small.html"
sluice report "$store" -o "$work/small.html"
status_is 0
same_files "$work/first.html" "$work/small.html"

testcase "reports and shows missing runs"
sed 's/synth:stream/synth:stream, synth:copy/' "$work/small.yaml" >"$work/more.yaml"
sluice report "$work/more.yaml" --store "$store" -o "$work/more.html"
status_is 0
out_has "2 runs missing"
holds "no value is null" grep -q '\[null, null\]' "$work/more.html"

testcase "without gnuplot, builds the report without plots, prints one message and has status 1"
mkdir "$work/bin"
sluice_path=$PATH
PATH=$work/bin /usr/bin/timeout 100 "$SLUICE" report "$work/small.yaml" --store "$store" -o "$work/plain.html" >"$work/out" 2>"$work/err"
last_status=$? last_command='sluice report, without gnuplot'
PATH=$sluice_path
status_is 1
err_has "gnuplot-nox"
holds "more than one message" test "$(wc -l <"$work/err")" -eq 1
holds "the page is not whole" grep -q '</html>' "$work/plain.html"
holds "it links to plots" grep -q '"plots": ""' "$work/plain.html"

# rejected WORDS ARGS...: status 2, the words in the error message, and no report.
rejected() {
    local words=$1
    shift
    sluice "$@"
    status_is 2
    out_empty
    err_has "$words"
}

testcase "rejects invalid arguments with the fix"
rejected "missing argument" report
rejected "small.yalm" report "$work/small.yalm" --store "$store"
rejected "did you mean" report quick/sharin --store "$store"
rejected "cannot be written to standard output" report "$work/small.yaml" --store "$store" -o -
rejected "cannot access directory" report "$work/small.yaml" --store "$store" -o "$work/nowhere/page.html"
rejected "$work/none.sqlite" report "$work/small.yaml" --store "$work/none.sqlite" -o "$work/none.html"
rejected "more than one store" report "$store" "$store"
rejected "missing experiment" reproduce
rejected "did you mean" reproduce quick/sharin --store "$work/none.sqlite"
no_file "$work/none.html"
no_file "$work/none.sqlite"

tests_end
