#!/usr/bin/env bash
# Checkpoints: --checkpoint and --restore of `sluice run` and `sluice exec`.
. "$(dirname "$0")/../testlib.sh"
. tests/cudart/plain.sh

# same FILE FILE: whether two results have the same kernels and counters.
same() {
    python3 -c 'import json, sys
a, b = (json.load(open(path)) for path in sys.argv[1:])
sys.exit(any(a[key] != b[key] for key in ("cycles", "kernels", "stats", "check")))' "$@"
}

testcase "a restored run is the run that executes all launches, also with another design"
sluice run bfs:tiny --kernels 9- --checkpoint "$work/bfs.state" --json "$work/first.json"
status_is 0
sluice run bfs:tiny --kernels 9- --json "$work/executed.json"
sluice run bfs:tiny --restore "$work/bfs.state" --json "$work/restored.json"
status_is 0
holds "with --checkpoint" same "$work/executed.json" "$work/first.json"
holds "with --restore" same "$work/executed.json" "$work/restored.json"
sluice run bfs:tiny --skip-kernels 10 --design private --json "$work/executed.json"
sluice run bfs:tiny --skip-kernels 10 --design private --restore "$work/bfs.state" --json "$work/restored.json"
status_is 0
holds "a later start" same "$work/executed.json" "$work/restored.json"
holds "$(grep '"check"' "$work/restored.json")" grep -q '"check": "passed"' "$work/restored.json"

testcase "a launch file can be continued, too"
python3 - examples/saxpy.yaml >"$work/twice.yaml" <<'END'
import sys
head, launch = open(sys.argv[1]).read().split("launches:\n")
print(head + "launches:\n" + launch + launch)
END
launch=(--launch "$work/twice.yaml" --ptx examples/saxpy.ptx --no-check)
sluice run "${launch[@]}" --kernels 2 --checkpoint "$work/launch.state" --json "$work/executed.json"
status_is 0
sluice run "${launch[@]}" --restore "$work/launch.state" --json "$work/restored.json"
status_is 0
holds "the result differs" same "$work/executed.json" "$work/restored.json"

testcase "a checkpoint of another program, and what is none, is rejected with status 2"
sluice run bfs:small --restore "$work/bfs.state"
status_is 2
err_has "launch 1 of the checkpoint is not this launch of bfs_expand"
sluice run bfs:tiny --restore README.md
status_is 2
err_has "README.md is not a checkpoint"
sluice run bfs:tiny --restore "$work/none"
status_is 2
err_has "No such file"
head -c 200 "$work/bfs.state" >"$work/cut.state"
sluice run bfs:tiny --restore "$work/cut.state"
status_is 2
err_matches 'launch [0-9]+ of the checkpoint is damaged'
sluice run synth:stream --restore "$work/bfs.state"
status_is 2
err_has "are for programs that are executed"

testcase "a checkpoint is complete or absent"
sluice run bfs:tiny --kernels 100- --checkpoint "$work/new.state"
status_is 2
err_has "the program has fewer than 99 launches; no checkpoint is written"
sluice run bfs:tiny --checkpoint "$work/new.state"
status_is 2
err_has "must start behind launch 1"
sluice run bfs:tiny --kernels 3 --restore "$work/bfs.state"
status_is 2
err_has "has 8 launches; launch 3, the last one to be timed, is one of them"
sluice run bfs:tiny --kernels 2- --checkpoint "$work/no/such/folder"
status_is 2
sluice run bfs:tiny --sample-kernels 2 --restore "$work/bfs.state"
status_is 2
err_has "only one of --checkpoint, --restore and --sample-kernels"
sluice run bfs:tiny + bfs:tiny --restore "$work/bfs.state"
status_is 2
err_has "are for one program"
holds "files: $(ls "$work")" test -z "$(find "$work" -name 'new.state*')"

testcase "a CUDA program continues behind restored launches"
plain 12 "$work/plain"
sluice exec --gpu fermi-15sm --kernels 4- --checkpoint "$work/plain.state" --json "$work/executed.json" -- "$work/plain"
status_is 0
sluice exec --gpu fermi-15sm --restore "$work/plain.state" --json "$work/restored.json" -- "$work/plain"
status_is 0
out_has passed
holds "the result differs" same "$work/executed.json" "$work/restored.json"
sluice exec --checkpoint "$work/new.state" -- "$work/plain"
status_is 2

tests_end
