# Textures from the command line: the example, its timing with and without a read-only cache, its source.
. "$(dirname "$0")/../testlib.sh"

flat() { awk -f tools/json-flat.awk "$1"; }
value() { awk -F '\t' -v name="$2" '$1 == name { print $2 }' "$1"; }

testcase "the example of textures runs and passes its check"
sluice run --launch examples/scale.yaml --json "$work/cached.json"
status_is 0
err_empty
flat "$work/cached.json" >"$work/cached"
holds "check" grep -q "^check	passed$" "$work/cached"

testcase "textures use the read-only cache if there is one, otherwise the L1"
sluice run --launch examples/scale.yaml --set sm.read_only_kb=0 --json "$work/plain.json"
status_is 0
flat "$work/plain.json" >"$work/plain"
holds "check" grep -q "^check	passed$" "$work/plain"
holds "misses of the read-only cache" test "$(value "$work/cached" stats.sm.read_only_misses)" -gt 0
holds "no misses without one" test "$(value "$work/plain" stats.sm.read_only_misses)" -eq 0
holds "more misses of the L1" test "$(value "$work/plain" stats.l1.read_misses)" -gt "$(value "$work/cached" stats.l1.read_misses)"

testcase "an error in a texture is located"
sed 's/filter: linear/filter: cubic/' examples/scale.yaml >"$work/launch.yaml"
cp examples/scale.ptx "$work/"
sluice run --launch "$work/launch.yaml"
status_is 2
out_empty
err_matches 'launch\.yaml:15:13: .*cubic'

nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
[ -x "$nvcc" ] || nvcc=$(command -v nvcc || true)
if [ -n "$nvcc" ]; then
    testcase "PTX that nvcc generates from the example's source runs like the stored one"
    for arch in sm_75 sm_90; do
        holds "nvcc -arch=$arch" "$nvcc" -arch=$arch -O3 -ptx examples/scale.cu -o "$work/scale.ptx"
        sluice run --launch examples/scale.yaml --ptx "$work/scale.ptx" --json "$work/new.json"
        status_is 0
        holds "check" grep -q '"check": "passed"' "$work/new.json"
    done
fi

tests_end
