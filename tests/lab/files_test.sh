#!/usr/bin/env bash
# Launch files, recordings and SASS traces as workloads of experiments.
. "$(dirname "$0")/../testlib.sh"
mkdir "$work/own" "$work/own/kernels"
cp examples/saxpy.ptx examples/saxpy.yaml "$work/own/kernels"
examples=$PWD/examples
cd "$work" || exit 1

# experiment WORKLOADS [DESIGNS]: own/x.yaml.
experiment() {
    cat >own/x.yaml <<YAML
title: A test
workloads: $1
designs: ${2:-[shared, private]}
metrics: [{name: IPC, value: ipc}]
YAML
}
runs() { "$SLUICE" lab export --store "$1" --json - | sed 's/,"host":{[^}]*}//; s/,$//' | sort; }
"$SLUICE" record mm:tiny -o own/mm.stream

testcase "an experiment runs launch files and recordings, with paths relative to its directory"
experiment '[kernels/saxpy.yaml, {workload: mm.stream, name: mine}, va:tiny]'
sluice lab run own/x.yaml -j 1
status_is 0
err_empty
out_has "6 runs: 6 simulated, 0 cached (results.sqlite)"
no_file results.sqlite.work
sluice run mm:tiny --design private --json mm.json
cycles=$(grep -m1 -oE '"cycles": [0-9]+' mm.json | tr -d ' ')
holds "the run of the recording equals the run of the program" test "$(runs results.sqlite | grep -c "$cycles,")" -eq 1
holds "the results of the launch file are verified" \
    test "$(runs results.sqlite | grep '"workload":"saxpy"' | grep -c '"check":"passed"')" -eq 2

testcase "reports and exports show them with their labels"
sluice report own/x.yaml -o x.html
status_is 0
holds "labels" grep -qw 'mine' x.html
holds "labels" grep -qw 'saxpy' x.html
sluice lab status
out_has "6 of 6 runs"

testcase "a run depends on the contents of the files and not on their paths"
mv own elsewhere && mv elsewhere/kernels/saxpy.yaml elsewhere/kernels/other.yaml
mv elsewhere own && experiment '[kernels/other.yaml, ./mm.stream]'
sluice lab run own/x.yaml --dry-run
out_has "4 runs (4 cells): 0 to simulate, 4 cached"
echo '// a comment' >>own/kernels/saxpy.ptx
sluice lab run own/x.yaml --dry-run
out_has "2 to simulate, 2 cached"
"$SLUICE" record va:tiny -o own/mm.stream
sluice lab run own/x.yaml --dry-run
out_has "4 to simulate, 0 cached"

testcase "a data file of a launch file is part of its content"
head -c 400000 /dev/zero >own/kernels/x.bin
sed 's/fill: {kind: iota[^}]*}/fill: {kind: file, file: x.bin}/; s/, final_.*/}/' "$examples/saxpy.yaml" >own/kernels/data.yaml
cp "$examples/saxpy.ptx" own/kernels
experiment '[kernels/data.yaml]'
sluice lab run own/x.yaml --store data.sqlite
status_is 0
out_has "2 runs: 2 simulated"
printf 'x' | dd of=own/kernels/x.bin conv=notrunc status=none
sluice lab run own/x.yaml --store data.sqlite
out_has "2 runs: 2 simulated"

testcase "several runs of a launch file share one recording, and buffers are not dumped"
sed 's/^  - {name: y,/  - {name: y, dump: y.bin,/' "$examples/saxpy.yaml" >own/kernels/dumps.yaml
experiment '[kernels/dumps.yaml]' '[shared, private, lrr, default]'
sluice lab run own/x.yaml --store dumps.sqlite
status_is 0
out_has "3 runs: 3 simulated" # `default` is the machine of `shared`
holds "no dump" test -z "$(find . -name y.bin)"
experiment '[kernels/dumps.yaml]' '[bcs]'
sluice lab run own/x.yaml --store dumps.sqlite
out_has "1 run: 1 simulated"
holds "no dump" test -z "$(find . -name y.bin)"

testcase "a run that writes data it loads as read-only fails, with or without a recording; with --on-violation warn it is stored"
sed '/final_sum/s/, final_sum.*}/}/; s/{buffer: x}/{buffer: y}/' "$examples/saxpy.yaml" >own/kernels/aliased.yaml
for designs in '[shared]' '[shared, private, lrr]'; do
    rm -rf aliased.sqlite*
    experiment '[kernels/aliased.yaml]' "$designs"
    sluice lab run own/x.yaml --store aliased.sqlite
    status_is 1
    out_has "0 cached, "
    err_matches '^sluice: aliased, shared: .*saxpy.ptx: line 41 of kernel `saxpy` writes to the line at'
    holds "nothing is stored" test -z "$(runs aliased.sqlite | grep workload)"
    sluice reproduce own/x.yaml --store aliased.sqlite -o aliased.html --on-violation warn
    status_is 0
    err_matches '^sluice: warning: .*: read-only data is written: .*saxpy.ptx: line 41 of kernel `saxpy` writes to the line at'
    sluice lab run own/x.yaml --store aliased.sqlite
    status_is 0
    out_has ": 0 simulated"
done
sluice reproduce quick --verify 1 --on-violation warn
status_is 2
err_has "omit --on-violation"

testcase "a cluster runs files from any directory"
mkdir bin
cat >bin/sbatch <<'SH'
#!/bin/sh
for word; do case $word in --array=0-*) last=${word#--array=0-} ;; esac; done
for task in $(seq 0 "$last"); do (cd / && SLURM_ARRAY_TASK_ID=$task sh "$word" >/dev/null); done
echo 1
SH
printf '#!/bin/sh\n' >bin/squeue
chmod +x bin/sbatch bin/squeue
experiment '[kernels/dumps.yaml, mm.stream]'
for _ in 1 2; do
    PATH=$work/bin:$PATH timeout 100 "$SLUICE" lab run own/x.yaml --slurm --store cluster.sqlite >out 2>err
    last_status=$? last_command="lab run --slurm"
    status_is 0
    err_empty
done
out_has "4 runs: 0 to simulate, 4 cached, 4 of them imported now (cluster.sqlite)"

testcase "a size does not apply to files"
experiment '[kernels/saxpy2.yaml, va:small]' '[shared]'
cp "$examples/saxpy.yaml" own/kernels/saxpy2.yaml
sluice lab run own/x.yaml --size tiny --store sizes.sqlite
status_is 0
out_has "2 runs: 2 simulated"
sluice lab run own/x.yaml --dry-run --store sizes.sqlite
out_has "1 to simulate, 1 cached"

# rejected WORKLOADS MESSAGE
rejected() {
    experiment "$1"
    sluice lab run own/x.yaml --store rejected.sqlite
    status_is 2
    err_has "own/x.yaml:2:$2"
    no_file rejected.sqlite
}

testcase "errors are located in the experiment"
rejected '[kernels/none.yaml]' '13: own/kernels/none.yaml: No such file or directory'
rejected '[va:tiny, mm.strean]' '22: own/mm.strean: No such file or directory'
rejected '[kernels/saxpy.ptx]' '13: '
err_has "saxpy.ptx"
rejected '[kernels]' '13: there is no workload `kernels`'
rejected '[./kernels]' '13: own/./kernels is not a file, and has no kernelslist.g'
rejected '[kernels/saxpy2.yaml:tiny]' '13: own/kernels/saxpy2.yaml:tiny: No such file or directory; files have no sizes'
rejected '[kernels/saxpy2.yaml + va]' '13: kernels/saxpy2.yaml + va: launch files, recordings and traces run alone'
rejected '[mm.stream, {workload: ./mm.stream}]' '35: duplicate workload mm; first given on line 2; give one of them another name'
echo 'launches: [{kernel: nothing, grid: [1], block: [1]}]' >own/kernels/bad.yaml
echo 'ptx: saxpy.ptx' >>own/kernels/bad.yaml
rejected '[kernels/bad.yaml]' "13: "
err_has "kernels/bad.yaml:1:"
err_has "has no kernel 'nothing'"
head -c 1000 own/mm.stream >own/cut.stream
rejected '[cut.stream]' "13: "
err_has "cut.stream"

testcase "compare runs launch files and recordings"
sluice compare --launch own/kernels/other.yaml --designs shared,private
status_is 0
out_has "saxpy on adaptive-80sm"
out_has "check passed"
sluice compare --trace own/mm.stream --designs shared,private
status_is 0
out_has "va:tiny on adaptive-80sm"
sluice compare --launch own/kernels/dumps.yaml --designs shared
status_is 0
no_file y.bin

mkdir own/bfs own/other
cp "$examples"/trace/* own/bfs
trace=own/bfs/kernel-1.traceg

testcase "an experiment runs traces: a command list, its directory, and a kernel file"
gzip -c "$trace" >own/single.traceg.gz
experiment '[bfs/kernelslist.g, {workload: ./bfs, name: folder}, single.traceg.gz, {workload: mm.stream, name: mine}]'
sluice lab run own/x.yaml --store traces.sqlite -j 1
status_is 0
err_empty
out_has "6 runs: 6 simulated, 0 cached" # a directory is its command list
sluice run --trace own/bfs --design private --json bfs.json
cycles=$(grep -m1 -oE '"cycles": [0-9]+' bfs.json | tr -d ' ')
holds "the runs of the list and of its kernel equal the run of the trace" \
    test "$(runs traces.sqlite | grep -c "$cycles,")" -eq 2
holds "the name of the program" test "$(runs traces.sqlite | grep -c '"workload":"bfs"')" -eq 2
sluice report own/x.yaml --store traces.sqlite -o traces.html
status_is 0
for label in bfs folder single mine; do holds "$label" grep -qw "$label" traces.html; done
sluice reproduce own/x.yaml --store traces.sqlite -o traces.html
status_is 0
out_has "6 runs: 0 simulated, 6 cached"

testcase "the run of a trace depends on the contents of its files and not on their paths"
mv own/bfs own/moved
experiment '[moved/kernelslist.g]'
sluice lab run own/x.yaml --store traces.sqlite --dry-run
out_has "2 runs (2 cells): 0 to simulate, 2 cached"
cp -r own/moved own/bfs
echo '# a comment' >>own/bfs/kernelslist.g
sed -i 's/ FADD / FMUL /' own/moved/kernel-1.traceg
sluice lab run own/x.yaml --store traces.sqlite --dry-run
out_has "2 to simulate, 0 cached"
experiment '[bfs/kernelslist.g]'
sluice lab run own/x.yaml --store traces.sqlite --dry-run
out_has "2 to simulate, 0 cached"

testcase "several runs of a trace share one recording, with the same results"
experiment '[bfs/kernelslist.g]' '[shared, private, lrr, bcs]'
sluice lab run own/x.yaml --store shared.sqlite -j 1
status_is 0
out_has "4 simulated"
holds "the run equals that of the trace" test "$(runs shared.sqlite | grep -c "$cycles,")" -ge 1
no_file shared.sqlite.work

testcase "unknown opcodes of a trace are reported once"
cp -r own/bfs/. own/other
sed -i 's/ FADD / QUUX /' own/other/kernel-1.traceg
for designs in '[shared, private]' '[shared, private, lrr, bcs]'; do
    experiment '[other/kernelslist.g]' "$designs"
    rm -f unknown.sqlite
    sluice lab run own/x.yaml --store unknown.sqlite
    status_is 0
    holds "$(cat err)" test "$(grep -c QUUX err)" -eq 1
done

testcase "errors of traces are located"
echo kernel-9.traceg >own/other/none.g
rejected '[other/none.g]' '13: own/other/none.g:1:1: own/other/kernel-9.traceg: No such file or directory'
sed 's/^-nregs = .*/-nregs = 21955/' "$trace" >own/garbage.traceg
rejected '[garbage.traceg]' '13: own/garbage.traceg:'
err_has "nregs = 21955: a thread has 1 to 255 registers"

testcase "record and compare take traces"
sluice record --trace own/bfs/kernelslist.g -o bfs.stream
status_is 0
sluice run --trace bfs.stream --design private --json again.json
holds "cycles of the recording" grep -q "\"cycles\": ${cycles#*:}," again.json
sluice compare --trace own/bfs --designs shared,private
status_is 0
out_has "bfs on adaptive-80sm"

testcase "run writes dumps unless --no-dump is given"
sluice run --launch own/kernels/dumps.yaml --no-dump
status_is 0
no_file y.bin
sluice run --launch own/kernels/dumps.yaml
holds "a dump" test -s y.bin

tests_end
