# The compiled kernels of tests/emu/threads and examples/cooperative.cu, and cooperative launches.
. "$(dirname "$0")/../testlib.sh"

testcase "the PTX that clang generates is the one that the tests run"
mkdir "$work/ptx"
holds "tests/emu/threads/compile failed" env CUDA_HOME=/none tests/emu/threads/compile "$work/ptx"
for file in "$work"/ptx/*.clang-O*.ptx; do
    holds "tests/emu/threads/$(basename "$file") is older than its source: tests/emu/threads/compile" cmp -s "$file" "tests/emu/threads/$(basename "$file")"
done
holds "examples/cooperative.ptx is older than its source: tests/emu/threads/compile" cmp -s "$work/ptx/cooperative.ptx" examples/cooperative.ptx

testcase "a cooperative reduction, compiled by clang and by nvcc with cooperative groups, gives the sum"
for ptx in examples/cooperative.ptx tests/emu/threads/cooperative.nvcc.ptx; do
    sluice run --launch examples/cooperative.yaml --ptx $ptx --json -
    status_is 0
    out_has '"check": "passed"'
done

testcase "a cooperative launch that does not fit on the GPU is an error that says how many CTAs fit"
sed 's/grid: \[160\]/grid: [641]/; s/bytes: 640/bytes: 2564/' examples/cooperative.yaml >"$work/launch.yaml"
sluice run --launch "$work/launch.yaml" --ptx examples/cooperative.ptx
status_is 2
err_has "kernel 'reduce' is cooperative and has 641 CTAs, but only 640 fit on the GPU at once: 8 on each of 80 SMs"

testcase "a recording of a cooperative launch has the same requirement"
sluice record --launch "$work/launch.yaml" --ptx examples/cooperative.ptx -o "$work/large.stream"
status_is 0
sluice run --trace "$work/large.stream"
status_is 2
err_has "kernel 'reduce' is cooperative"

testcase "a barrier of the grid in a launch that is not cooperative traps"
sed '/cooperative: true/d' examples/cooperative.yaml >"$work/launch.yaml"
sluice run --launch "$work/launch.yaml" --ptx tests/emu/threads/cooperative.nvcc.ptx
status_is 1
err_has "the program executed trap"

testcase "the cycles of a barrier of the grid grow about linearly with the CTAs"
cycles_of() {
    sed "s/\[80\]/[$1]/; s/value: 1/value: 4/; s|ptx: |ptx: $PWD/tests/emu/threads/|" tests/emu/threads/barrier.yaml >"$work/barrier.yaml"
    sluice run --launch "$work/barrier.yaml" --json -
    status_is 0
    sed -n 's/^  "cycles": \([0-9]*\),/\1/p' "$work/out"
}
few=$(cycles_of 80) many=$(cycles_of 320)
holds "4 barriers of 80 CTAs take ${few:-no} cycles, of 320 CTAs ${many:-no}" test "$many" -gt "$few" -a "$many" -lt $((5 * few))

tests_end
