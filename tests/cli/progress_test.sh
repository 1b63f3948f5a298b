#!/usr/bin/env bash
# The progress line on a terminal: the share done and of what, for every command that simulates. No times are compared.
. "$(dirname "$0")/../testlib.sh"

# A chroot without /dev/pts has no terminals.
if ! script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    echo "skipped: no terminal can be opened"
    tests_end
fi

# terminal ARGS...: runs the program on a terminal until a line of its output matches $until, or for at most a minute.
terminal() {
    last_command="sluice $*"
    rm -f "$work/terminal" "$work/pid" # a line of the command before must not match
    script -qefc "echo \$\$ >$work/pid; exec $SLUICE $*" "$work/terminal" >/dev/null 2>&1 </dev/null &
    local pid=$!
    for _ in $(seq 600); do
        cat "$work/terminal" 2>/dev/null | tr '\r' '\n' | grep -qE "$until" && break
        kill -0 $pid 2>/dev/null || break
        sleep 0.1
    done
    kill -TERM "$(cat "$work/pid" 2>/dev/null)" 2>/dev/null
    wait $pid 2>/dev/null
    tr '\r' '\n' <"$work/terminal" | grep -E "$until" >"$work/out"
    check $? "\`$last_command\` shows no line that matches \"$until\" but: $(tr '\r' '\n' <"$work/terminal" | tail -n 3)"
}
cp examples/saxpy.ptx examples/saxpy.yaml "$work"
sed -i 's/, final_.*/}/; s/^    grid:/    repeat: 3000\n    grid:/' "$work/saxpy.yaml"
"$SLUICE" record synth:stream --set workload.iterations=2000 -o "$work/stream"
cat >"$work/x.yaml" <<YAML
title: A test
workloads: [saxpy.yaml]
designs: [shared]
metrics: [{name: IPC, value: ipc}]
YAML

testcase "run: share of the kernel under way if the launches are not known"
until='M cycles .*M/s   kernel [0-9]+ \([a-z_0-9]+\): [0-9]+ %' terminal run mm:small

testcase "run: share of the whole run for launch files, recordings and limited runs"
until='M cycles .*M/s   [0-9]+ %   [0-9]+ s left' terminal run --launch "$work/saxpy.yaml"
until='M cycles .*M/s   [0-9]+ %   [0-9]+ s left' terminal run --trace "$work/stream"
until='M cycles .*M/s   [0-9]+ %   [0-9]+ s left' terminal run mm:small --max-insts 1000000000

testcase "compare: the design and its share"
until='^shared \(1 of 2\)   .*M cycles .*   [0-9]+ %   [0-9]+ s left' terminal compare --trace "$work/stream" --designs shared,private
until='^recording   .*M warp instructions .*   [0-9]+ %' terminal compare --launch "$work/saxpy.yaml" --designs shared

testcase "record: share of the launches, or of the kernel"
until='^[0-9.]+ M warp instructions .*   [0-9]+ %   [0-9]+ s left' terminal record --launch "$work/saxpy.yaml" -o "$work/a"
until='M/s   kernel [0-9]+ \([a-z_0-9]+\): [0-9]+ %' terminal record mm:small -o "$work/a"
no_file "$work/a"

testcase "lab run: share of all runs, which moves within a run"
until='^0 of 1 runs   1 running   ([1-9]|[1-9][0-9]) %   about [0-9.]+ (s|min|h) left' terminal lab run "$work/x.yaml" --store "$work/x.sqlite"

tests_end
