#!/usr/bin/env bash
# CUDA programs that nvcc compiles, under `sluice exec`: ten programs of classical shape, and the groups of the runtime API.
# Without nvcc there is nothing to test here; exec_test.sh tests a program with a prebuilt fat binary.
. "$(dirname "$0")/../testlib.sh"

nvcc=${CUDA_HOME:+$CUDA_HOME/bin/nvcc}
[ -x "${nvcc:-}" ] || nvcc=$(command -v nvcc) || {
    testcase "nvcc is not installed: its programs are skipped"
    check 0
    tests_end
}

release=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
case $release in
10\ *) release=10.2 ;;
11\ *) release=11.0 ;;
*) release=${release%% *} ;;
esac
# A library built with sanitizers, by clang, needs their runtime in the program, too, before all other libraries.
. tests/cudart/plain.sh
sanitizer=()
if sanitized "$release"; then
    runtime=$(clang -print-file-name=libclang_rt.asan-x86_64.so)
    sanitizer=(-Xlinker --no-as-needed -Xlinker "$runtime" -Xlinker --as-needed -Xlinker -rpath -Xlinker "$(dirname "$runtime")")
fi
# The program links Sluice's own library: not every installation of nvcc has one.
mkdir "$work/lib" && ln -s "$library/libcudart.so.$release" "$work/lib/libcudart.so"
for name in api classic; do
    "$nvcc" -cudart shared -gencode arch=compute_75,code=compute_75 "${sanitizer[@]}" -L"$work/lib" -o "$work/$name" "tests/cudart/$name.cu" >"$work/$name.log" 2>&1 &
done
wait

testcase "nvcc compiles the programs"
for name in api classic; do holds "$(head -n 5 "$work/$name.log")" test -x "$work/$name"; done

testcase "ten classical programs verify their results, timed and with --functional"
for program in add naive tiled reduction scan histogram transpose stencil search streams; do
    for mode in --functional --gpu=fermi-15sm; do
        sluice exec "$mode" -- "$work/classic" $program
        status_is 0
        out_has "$program: passed"
    done
done

for group in memory streams launches functions cooperation textures devices; do
    testcase "the functions of group $group do and return what they must"
    sluice exec --functional -- "$work/api" $group
    status_is 0
    holds "output: $(cat "$work/out")" test "$(cat "$work/out")" = passed
    err_empty
done

testcase "event times are simulated times"
sluice exec -- "$work/api" streams
status_is 0
out_has passed

testcase "kernels print in order with the program, and allocate memory"
sluice exec --functional -- "$work/api" calls
status_is 0
holds "output: $(cat "$work/out")" test "$(cat "$work/out")" = "before
thread 0 of 2: text 1.5
thread 1 of 2: text 1.5
after
passed
thread 0 of 1: text 1.5"

testcase "a failed assertion is an error of the program and names its source"
sluice exec --functional -- "$work/api" asserts
status_is 1
out_has passed
err_matches 'tests/cudart/api.cu:[0-9]+: void insist\(int\): assertion `n < 3` failed'

tests_end
