#!/usr/bin/env bash
# docs/cuda.md: its coverage table is that of the list of exports, and the library exports these functions.
. "$(dirname "$0")/../testlib.sh"

testcase "the coverage table is generated from the list of exports"
awk '/^<!-- coverage -->$/ { show = 1; next } /^<!-- end of coverage -->$/ { show = 0 } show' docs/cuda.md >"$work/shown"
holds "run tools/cuda-coverage --update: $(tools/cuda-coverage | diff - "$work/shown" | head -n 3 | cut -c 1-200)" \
    cmp -s "$work/shown" <(tools/cuda-coverage)
holds "a group is missing" test "$(wc -l <"$work/shown")" -ge 10
# Every function that a program can name is in it, by the column of its own row or of the function that it is an alias of.
sed -nE 's/^(API|NOTHING|ALIAS|INNER|MISSING)\(([A-Za-z0-9_]+).*/\2/p' src/cudart/api.def | grep -vE '^__|_pt(sz|ds)$' >"$work/named"
holds "missing: $(grep -o '`cuda[A-Za-z0-9_]*`' "$work/shown" | tr -d '`' | sort | comm -3 - <(sort "$work/named"))" \
    cmp -s <(grep -o '`cuda[A-Za-z0-9_]*`' "$work/shown" | tr -d '`' | sort) <(sort "$work/named")
holds "the columns of aliases" test "$(awk -F '|' '$3 ~ /`cudaThreadSynchronize`/ && $4 ~ /`cudaGetDriverEntryPoint`/' "$work/shown" | wc -l)" = 1

testcase "every library exports the listed functions under its own symbol version, and nothing else"
sed -nE 's/^(API|NOTHING|ALIAS|INNER|MISSING)\(([A-Za-z0-9_]+).*/\2/p' src/cudart/api.def | sort >"$work/listed"
holds "a function is listed twice: $(uniq -d "$work/listed")" test -z "$(uniq -d "$work/listed")"
for release in 10.2 11.0 12 13; do
    library=$(dirname "$SLUICE")/lib/sluice/libcudart.so.$release
    nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort >"$work/exported"
    sed "s/\$/@@libcudart.so.$release/" "$work/listed" | sort >"$work/wanted"
    holds "$release: $(diff "$work/wanted" "$work/exported" | head -n 3)" cmp -s "$work/wanted" "$work/exported"
    holds "soname" grep -q "libcudart.so.$release\]" <(readelf -d "$library" | grep SONAME)
done

tests_end
