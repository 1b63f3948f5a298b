#!/usr/bin/env bash
# Files about the project as a whole agree with the program: the version is the same everywhere, and every workload names its origin.
. "$(dirname "$0")/../testlib.sh"

version=$("$SLUICE" --version | cut -d ' ' -f 2)

testcase "every file that repeats the version has the version of the build"
holds "CMakeLists.txt" grep -q "^project(sluice VERSION $version " CMakeLists.txt
holds "CHANGELOG.md: the first entry" test "$(sed -n 's/^## \([0-9.]*\) .*/\1/p' CHANGELOG.md | head -n 1)" = "$version"
holds "CITATION.cff" grep -qx "version: $version" CITATION.cff
holds "python/pyproject.toml" grep -qx "version = \"$version\"" python/pyproject.toml
holds "man/sluice.1" grep -q "^\.TH SLUICE 1 \"\" \"sluice $version\"$" man/sluice.1

testcase "the citation has the date of the release in the changelog"
date=$(sed -n "s/^## $version (\(.*\))$/\1/p" CHANGELOG.md)
holds "the date is '$date'" grep -qx "date-released: '$date'" CITATION.cff

testcase "the new names of counters in the changelog's entry of this version exist"
"$SLUICE" list stats | awk '/^[a-z]/ { print $1 }' >"$work/counters"
awk -F '|' -v version="$version" '/^## / { on = index($0, "## " version " ") == 1 } on && /^  \| `/ { print $3 }' CHANGELOG.md | grep -oE '`(l1|llc|sm|dram|control)\.[a-z_.]+[a-z]`' | tr -d '`' >"$work/names"
holds "there are some" test -s "$work/names"
while IFS= read -r name; do
    holds "$name is not a counter" grep -qx "$name" "$work/counters"
done <"$work/names"

testcase "every workload names the suite whose algorithm it follows, and its code is our own"
suites='Rodinia|PolyBench/GPU|the CUDA SDK samples|LonestarGPU|Mars|SHOC|Tango|the ISPASS-2009 benchmarks'
paper='the FFT of Locality-Driven Dynamic GPU Cache Bypassing \(ICS 2015\)'
for page in workloads/*/README.md; do
    holds "$page has no line 'Provenance: the algorithm follows BENCHMARK of SUITE; the code is our own.'" \
        grep -qE "^Provenance: the algorithm follows ([^;]+ of ($suites)|$paper[^;]*); the code is our own\." "$page"
done

tests_end
