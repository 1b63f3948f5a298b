#!/usr/bin/env bash
# CUDA programs that nvcc compiles, under `sluice exec`: programs of classical shape, and the groups of the runtime API.
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
for name in api classic thrust; do
    "$nvcc" -cudart shared -gencode arch=compute_75,code=compute_75 "${sanitizer[@]}" -L"$work/lib" -o "$work/$name" "tests/cudart/$name.cu" >"$work/$name.log" 2>&1 &
done
wait

testcase "nvcc compiles the programs"
for name in api classic; do holds "$(head -n 5 "$work/$name.log")" test -x "$work/$name"; done

testcase "programs of classical shape verify their results, timed and with --functional"
for program in add naive tiled reduction scan histogram transpose stencil search streams texture; do
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

testcase "the commands at the beginning of docs/cuda.md run"
awk '/^```sh$/ { show = 1; next } /^```$/ { exit } show' docs/cuda.md >"$work/start"
holds "there are none" test "$(wc -l <"$work/start")" -ge 5
mkdir "$work/tools" "$work/user"
ln -s "$SLUICE" "$work/tools/sluice"
{ echo '#!/bin/sh' && printf 'exec' && printf " '%s'" "$nvcc" "${sanitizer[@]}" -L"$work/lib" && echo ' "$@"'; } >"$work/tools/nvcc"
chmod +x "$work/tools/nvcc"
ln -s "$PWD/examples" "$work/user/examples"
while read -r line; do
    (cd "$work/user" && PATH=$work/tools:$PATH && eval "$line") >"$work/out" 2>"$work/err" </dev/null
    last_status=$? last_command=$line
    status_is 0
    case $line in *"sluice exec"*) out_has "4096 sums are correct" ;; esac
done <"$work/start"
mkdir "$work/temporary"
export CUDA_HOME=
(cd "$work/user" && TMPDIR=$work/temporary PATH=$work/tools:$PATH NVCC_APPEND_FLAGS=-DUNUSED "$SLUICE" exec --functional --json source.json -- examples/vectoradd.cu 4096) >"$work/out" 2>"$work/err"
last_status=$? last_command="sluice exec -- examples/vectoradd.cu"
status_is 0
out_has "4096 sums are correct"
holds "the name of the source" grep -q '"workload": "examples/vectoradd.cu"' "$work/user/source.json"
printf '#error no program\n' >"$work/broken.cu"
TMPDIR=$work/temporary PATH=$work/tools:$PATH "$SLUICE" exec -- "$work/broken.cu" >"$work/out" 2>"$work/err"
last_status=$? last_command="sluice exec -- broken.cu"
status_is 2
err_has "no program"
err_has "nvcc has failed; its messages are above"
holds "left: $(ls "$work/temporary")" test -z "$(ls "$work/temporary")"
holds "result.json has no launches" test "$(grep -c '"launch":' "$work/user/result.json")" = 5

testcase "kernel and launch give the size of clusters"
"$nvcc" -cudart shared -gencode arch=compute_90,code=compute_90 "${sanitizer[@]}" -L"$work/lib" -o "$work/cluster" tests/cudart/cluster.cu >"$work/cluster.log" 2>&1
holds "$(head -n 5 "$work/cluster.log")" test -x "$work/cluster"
for mode in --functional --gpu=adaptive-80sm; do
    sluice exec "$mode" -- "$work/cluster"
    status_is 0
    holds "output: $(cat "$work/out")" test "$(cat "$work/out")" = "kernel: cudaSuccess, cudaSuccess, 11 10 13 12 15 14 17 16
launch: cudaSuccess, cudaSuccess, 11 12 13 10 15 16 17 14
cooperative: cudaSuccess, cudaSuccess, 11 12 13 14 15 16 17 10
part: cudaErrorInvalidClusterSize, cudaSuccess, 11 12 13 14 15 16 17 10"
done

testcase "programs of Thrust run"
if grep -q 'thrust/.*No such file' "$work/thrust.log"; then
    check 0 # this installation of nvcc is without Thrust
else
    holds "$(head -n 5 "$work/thrust.log")" test -x "$work/thrust"
    for mode in --functional --gpu=fermi-15sm; do
        sluice exec "$mode" -- "$work/thrust"
        status_is 0
        holds "output: $(cat "$work/out")" test "$(cat "$work/out")" = "sum 499500
0 wrong"
    done
fi

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
