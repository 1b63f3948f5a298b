# Correlation with GPGPU-Sim 4 on the fast kernels; bench/correlate has all kernels, and the bounds.
. "$(dirname "$0")/../testlib.sh"

# compared ARGS...: like sluice of testlib.sh, for bench/correlate.
compared() {
    last_command="bench/correlate $*"
    SLUICE="$SLUICE" timeout 200 bench/correlate -o "$work/plot.svg" "$@" >"$work/out" 2>"$work/err"
    last_status=$?
}

testcase "counters and cycles are within the bounds of GPGPU-Sim's, with fetch on write"
compared --check --kernel vecadd --kernel saxpy_s2 --kernel stencil5 --kernel reduce --kernel histogram --kernel scatter --kernel fma --machine corr15f \
    --machine corr80f
status_is 0
out_has "corr15f         7"
out_has "corr80f         7"
holds "no row differs" test "$(grep -c DIFF "$work/out")" -eq 0
holds "the plot has every cycle count" test "$(grep -c '<title>' "$work/plot.svg")" -ge 14

testcase "counters and cycles are within the bounds, with write misses forwarded to memory"
compared --check --kernel vecadd --kernel reduce --kernel scatter --kernel lat_alu --kernel lat_l1 --kernel lat_shared --machine corr15
status_is 0
out_has "corr15          6"

testcase "atomics by lane, the depth of the load/store unit and the gate of the slices are within the bounds"
compared --check --kernel hotatom --kernel hashprobe --kernel matvec --kernel spmv --kernel histshared
status_is 0
out_has "corr15          5"
out_has "corr80          5"

testcase "a comparison out of bounds has status 1 and is reported"
mkdir -p "$work/mine/launch"
cp -r data/reference/gpgpusim/ptx "$work/mine/ptx"
cp data/reference/gpgpusim/launch/vecadd.yaml "$work/mine/launch/"
printf 'machine,gpu,settings\nslow,corr80,llc.latency_cycles=900\n' >"$work/mine/machines.csv"
sed -n -e 1p -e '/^corr80f,vecadd,/s/corr80f/slow/p' data/reference/gpgpusim/gpgpusim_corr_fetchonwrite.csv >"$work/mine/reference.csv"
compared --check "$work/mine"
status_is 1
out_has "vecadd on slow: cycles are"
compared "$work/mine"
status_is 0

testcase "rejects a directory without reference data"
compared "$work/nothing"
status_is 2
err_has "launch/"
rm "$work/mine/machines.csv"
compared "$work/mine"
status_is 2
err_has "machines.csv"

tests_end
