# The compiled kernels of tests/emu/launder.
. "$(dirname "$0")/../testlib.sh"

testcase "the PTX that clang generates from launder.cu is the one that the tests run"
mkdir "$work/ptx"
holds "tests/emu/launder/compile failed" env CUDA_HOME=/none tests/emu/launder/compile "$work/ptx"
for file in "$work"/ptx/clang-O*.ptx; do
    holds "tests/emu/launder/$(basename "$file") is older than its source: tests/emu/launder/compile" cmp -s "$file" "tests/emu/launder/$(basename "$file")"
done

tests_end
