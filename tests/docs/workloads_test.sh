#!/usr/bin/env bash
# The committed PTX of every workload is what its CUDA source compiles to, and every workload is described.
. "$(dirname "$0")/../claims.sh"

claim "the PTX of every workload is what its source compiles to"
mkdir "$work/ptx"
holds "a source does not compile" tools/ptx -o "$work/ptx"
for source in workloads/*/*.cu; do
    name=$(basename "$source" .cu)
    holds "workloads/$name/$name.ptx is older than its source: tools/ptx $name" cmp -s "$work/ptx/$name.ptx" "workloads/$name/$name.ptx"
done

claim "every workload has a page of its own"
for source in workloads/*/*.c; do
    name=$(basename "$source" .c)
    holds "workloads/$name/README.md is missing" test -s "workloads/$name/README.md"
done

claims_end
