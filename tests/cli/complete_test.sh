#!/usr/bin/env bash
# `sluice complete`, and the completion of bash by it.
. "$(dirname "$0")/../testlib.sh"

# candidates WORD...: how the last word can be completed, separated by blanks.
candidates() {
    sluice complete -- "$@"
    status_is 0
    found=$(cut -f 1 "$work/out" | tr '\n' ' ')
}
# are WORDS: they are the candidates.
are() { holds "candidates: $found" test "$found" = "$1"; }
# contain WORD: it is one of the candidates.
contain() { holds "candidates: $found" grep -qF -- " $1 " <<<" $found"; }

testcase "commands, with their summary"
candidates rep
are "report reproduce "
out_has "reproduce	"
candidates help over
are "overhead "
candidates nonsense ''
are ""

testcase "options of a command"
candidates run --des
are "--design "
candidates compare mm --design
are "--designs "
candidates ptx --
contain --read-only
contain --help

testcase "names by option"
candidates run mm --gpu fermi
are "fermi-15sm "
candidates run mm --gpu=fermi
are "--gpu=fermi-15sm "
candidates run mm --design decoup
contain decoupled
candidates compare mm --designs shared,priv
contain shared,private
candidates run mm --set llc.slice_
contain llc.slice_kb=
candidates run mm --set llc.organisation=sh
are "llc.organisation=shared "
candidates run mm --set=llc.organisation=sh
are "--set=llc.organisation=shared "

testcase "values by option: choices, counters, metrics"
candidates run mm --timeline-detail ''
are "kernels sms ctas "
candidates run mm --timeline-detail=s
are "--timeline-detail=sms "
candidates plot x.json --kind ''
are "stalls series units roofline latency kernels "
candidates run --launch x.yaml --on-violation ''
are "warn error "
for command in run plot list; do
    candidates $command --errors ''
    are "text json "
done
candidates lab --errors=j
are "--errors=json "
candidates run mm --sample 100 --sample-units llc.read_mi
are "llc.read_misses "
candidates plot x.json --counter dram.read_b
are "dram.read_bytes "
candidates correlate data --metric 'DRAM w'
are "DRAM write bytes "

testcase "names and words by command"
candidates run ss
are "ss sssp "
candidates run ss:
contain ss:tiny
contain ss:icc
candidates run synth:al
are "synth:alu "
candidates lab st
are "status "
candidates lab run icc/fig1
contain icc/fig16
candidates list work
are "workloads "
candidates --json run.json
are ""

testcase "options with values are not taken for the first argument"
candidates lab --store x.sqlite st
are "status "

testcase "words are required"
sluice complete
status_is 2
err_has "missing words"

testcase "bash completes behind colons and equals signs"
mkdir "$work/bin"
ln -s "$SLUICE" "$work/bin/sluice"
# shell LINE: the replies of bash for the line.
shell() {
    found=$(PATH=$work/bin:$PATH bash -c '
        compopt() { :; }
        . completions/sluice.bash
        COMP_LINE=$1 COMP_POINT=${#1}
        _sluice
        printf "%s " "${COMPREPLY[@]}"' bash "$1" 2>&1)
}
shell "sluice over"
are "overhead "
shell "sluice run ss:t"
are "tiny "
shell "sluice run mm --set llc.organisation=sh"
are "shared "
shell "sluice run mm --gpu "
contain fermi-15sm
shell "sluice run mm --timeline-detail k"
are "kernels "
shell "sluice run mm --errors="
are "text json "
shell "sluice run mm --sample-units llc.read_mi"
are "llc.read_misses "
shell 'sluice correlate data --metric DRAM\ w'
are 'DRAM\ write\ bytes '

if command -v zsh >/dev/null; then
    testcase "the script for zsh is well-formed"
    holds "zsh -n" zsh -n completions/_sluice
fi
if command -v fish >/dev/null; then
    testcase "the script for fish is well-formed"
    holds "fish -n" fish -n completions/sluice.fish
fi

tests_end
