#!/usr/bin/env bash
# `sluice cuda`: from CUDA sources to PTX and launch files.
. "$(dirname "$0")/../testlib.sh"

nvcc=${CUDA_HOME:+$CUDA_HOME/bin/nvcc}
[ -x "${nvcc:-}" ] || nvcc=$(command -v nvcc) || nvcc=
compilers=clang
[ -z "$nvcc" ] || compilers="clang nvcc"

testcase "writes the PTX of the example, and a launch file that runs"
sluice cuda --compiler clang examples/saxpy.cu -o "$work/saxpy.ptx"
status_is 0
holds "the PTX differs from examples/saxpy.ptx" cmp -s "$work/saxpy.ptx" examples/saxpy.ptx
cp "$work/out" "$work/saxpy.yaml"
out_has "  - name: k1_0 # parameter 0 of saxpy, read only"
out_has "      - {scalar: f32, value: 0}"
sluice run --launch "$work/saxpy.yaml" --gpu fermi-15sm
status_is 0

testcase "compiles ordinary CUDA, whose kernels compute the right results"
for compiler in $compilers; do
    sluice cuda --compiler $compiler tests/cudart/functions.cu -o "$work/functions.ptx"
    status_is 0
    out_has "block: [64, 1, 1]"
    out_has "dynamic_shared_bytes: 4096"
    # The skeleton with the values of the test: two blocks, a factor of a half, no errors and 128 threads.
    sed -e 's/grid: \[1\]/grid: [2]/' -e 's/value: 0/value: 0.5/' \
        -e '/k1_0 #/{n;s/.*/    bytes: 4\n    final_sum_u32: 0/}' -e '/k1_2 #/{n;s/.*/    bytes: 4\n    final_sum_u32: 128/}' "$work/out" >"$work/functions.yaml"
    sluice run --launch "$work/functions.yaml" --gpu fermi-15sm --json "$work/functions.json"
    status_is 0
    out_has "block 0 of 2"
    holds "$compiler: $(cat "$work/err")" grep -q '"check": "passed"' "$work/functions.json"
done

testcase "mathematical functions are as accurate as their header states, by the host's library"
sluice cuda --compiler clang tests/cudart/maths.cu -o "$work/maths.ptx"
status_is 0
threads=2048
printf 'ptx: %s\nbuffers:\n  - {name: rows, bytes: %d, dump: %s}\nlaunches:\n  - {kernel: compute, grid: [%d], block: [128], args: [{buffer: rows}]}\n' \
    "$work/maths.ptx" $((24 * threads * $(grep -cE '^(ONE|TWO)\(' tests/cudart/maths.def))) "$work/rows" $((threads / 128)) >"$work/maths.yaml"
sluice run --launch "$work/maths.yaml" --gpu fermi-15sm
status_is 0
"${CC:-gcc}" -std=gnu17 tests/cudart/maths.c -o "$work/maths" -lm 2>"$work/cc.log"
holds "$(head -n 5 "$work/cc.log")" test -x "$work/maths"
"$work/maths" "$work/rows" $threads >"$work/out"
check $? "$(head -n 5 "$work/out")"

testcase "lists every kernel of a program"
sluice cuda --compiler clang tests/cudart/classic.cu -o "$work/classic.ptx"
status_is 0
holds "kernels: $(grep -c 'kernel:' "$work/out")" test "$(grep -c '  - kernel:' "$work/out")" = 11

testcase "passes macros and directories to the compiler"
mkdir "$work/headers"
printf '#define KERNEL chosen\n' >"$work/headers/names.h"
printf '#include "names.h"\nextern "C" __global__ void KERNEL(int *p) { *p = VALUE; }\n' >"$work/named.cu"
sluice cuda --compiler clang -I "$work/headers" -DVALUE=77 "$work/named.cu" -o "$work/named.ptx"
status_is 0
out_has "kernel: chosen"
holds "the macro has no effect" grep -q 77 "$work/named.ptx"

testcase "reports errors of the compiler and of the command line, and writes nothing"
printf '__global__ void broken( { }\n' >"$work/broken.cu"
sluice cuda --compiler clang "$work/broken.cu" -o "$work/broken.ptx"
status_is 2
err_has "broken.cu:1"
err_has "clang has failed"
holds "files are left" test -z "$(ls "$work" | grep broken.ptx)"
printf 'int main() { return 0; }\n' >"$work/none.cu"
sluice cuda --compiler clang "$work/none.cu" -o "$work/none.ptx"
status_is 2
err_has "none.cu has no kernels"
sluice cuda "$work/absent.cu"
status_is 2
err_has "cannot read $work/absent.cu"
sluice cuda --compiler gcc examples/saxpy.cu
status_is 2
err_has "expected nvcc or clang"
sluice cuda
status_is 2
PATH=/nowhere CUDA_HOME='' "$SLUICE" cuda examples/saxpy.cu -o "$work/x.ptx" >"$work/out" 2>"$work/err"
last_status=$? last_command="sluice cuda without compilers"
status_is 2
err_has "neither nvcc nor clang is installed"

tests_end
