# Clusters from the command line: a CUDA program with distributed shared memory, its recording, and launches that do not fit.
. "$(dirname "$0")/../testlib.sh"

flat() { awk -f tools/json-flat.awk "$1" | grep -v '^host\.'; }

testcase "the example passes its check, and skipping cycles or a recording changes nothing"
sluice run --launch examples/cluster.yaml --json "$work/run.json"
status_is 0
err_empty
holds "passed" grep -q '"check": "passed"' "$work/run.json"
flat "$work/run.json" >"$work/run"
sluice run --launch examples/cluster.yaml --no-skip --json "$work/polled.json"
status_is 0
flat "$work/polled.json" >"$work/polled"
same_files "$work/run" "$work/polled"
sluice record --launch examples/cluster.yaml -o "$work/cluster.rec"
status_is 0
sluice run --trace "$work/cluster.rec" --json "$work/trace.json"
status_is 0
holds "same cycles" test "$(flat "$work/trace.json" | grep '^cycles')" = "$(grep '^cycles' "$work/run")"

testcase "distributed shared memory has a latency"
sluice run --launch examples/cluster.yaml --set sm.cluster_shared_cycles=30 --json "$work/near.json"
status_is 0
near=$(flat "$work/near.json" | awk '$1 == "cycles" { print $2 }') far=$(awk '$1 == "cycles" { print $2 }' "$work/run")
holds "170 cycles more, not $near and $far" test $((far - near)) -eq 170

testcase "a machine whose SM clusters are too small rejects the kernel"
sluice run --launch examples/cluster.yaml --gpu fermi-15sm
status_is 2
err_has "kernel 'cluster_sum' does not fit: a cluster has 8 CTAs"

testcase "a cooperative launch needs all of its clusters at once"
cat >"$work/all.ptx" <<'PTX'
.version 8.0
.target sm_90
.address_size 64
.visible .entry all() { ret; }
PTX
for grid in 128 144 160; do
    cat >"$work/all.yaml" <<YAML
ptx: all.ptx
launches:
  - {kernel: all, grid: [$grid], block: [1024], cluster: [16], cooperative: true, args: []}
YAML
    sluice run --launch "$work/all.yaml"
    [ $grid = 128 ] && status_is 0 && continue
    status_is 2
    err_has "kernel 'all' is cooperative and has $grid CTAs, but only 128 fit on the GPU at once: 2 on each of 80 SMs, in clusters of 16 within an SM cluster"
done

testcase "the launch gives the size of clusters, or repeats that of the kernel"
cp examples/cluster.ptx "$work"
sed 's/grid: \[128\],/& cluster: [8],/' examples/cluster.yaml >"$work/same.yaml"
sluice run --launch "$work/same.yaml"
status_is 0
sed 's/grid: \[128\],/& cluster: [4],/' examples/cluster.yaml >"$work/other.yaml"
sluice run --launch "$work/other.yaml"
status_is 2
err_matches 'other\.yaml:8:[0-9]+: launch of cluster_sum: clusters of 4x1x1 CTAs; the kernel requires 8x1x1'
sed 's/grid: \[128\],/grid: [127],/' examples/cluster.yaml >"$work/partial.yaml"
sluice run --launch "$work/partial.yaml"
status_is 2
err_matches 'partial\.yaml:8:5: .*does not consist of clusters of 8x1x1'
sed '/^\.reqnctapercluster/d' examples/cluster.ptx >"$work/explicit.ptx"
sluice run --launch "$work/same.yaml" --ptx "$work/explicit.ptx"
status_is 0
sluice run --launch examples/cluster.yaml --ptx "$work/explicit.ptx"
status_is 2
err_has "the kernel requires a size of clusters (.explicitcluster)"

tests_end
