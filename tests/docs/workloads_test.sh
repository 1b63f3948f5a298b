#!/usr/bin/env bash
# The committed PTX of every workload is what its CUDA source compiles to, and every workload is described, measured, and as large as it is said to be.
. "$(dirname "$0")/../testlib.sh"

testcase "the PTX of every workload is what its source compiles to"
mkdir "$work/ptx"
holds "a source does not compile" tools/ptx -o "$work/ptx"
for source in workloads/*/*.cu tests/workloads/*.cu; do
    name=$(basename "$source" .cu)
    holds "${source%.cu}.ptx is older than its source: tools/ptx $name" cmp -s "$work/ptx/$name.ptx" "${source%.cu}.ptx"
done

testcase "every workload has a page of its own"
for source in workloads/*/*.c; do
    name=$(basename "$source" .c)
    holds "workloads/$name/README.md is missing" test -s "workloads/$name/README.md"
done

# measured SIZE: the rows of docs/workloads.md, `NAME GPU INSTRUCTIONS CHECK CYCLES` each
measured() {
    awk -v mark="<!-- table measured $1" 'index($0, mark) { on = 1 } /^<!-- end/ { on = 0 } on && /^\| [a-z0-9]/ && !/^\| workload/' docs/workloads.md |
        awk -F'|' '{ gsub(/ /, ""); print $2, $3, $6, $10, $11 }'
}

testcase "every workload is on the page at each of its sizes, and its results are right"
while read -r name size; do
    [[ $size == tiny* ]] && continue
    row=$(measured "$size" | grep "^$name ") || row=$(measured nn_0 | grep "^$size ")
    holds "$name:$size is not in docs/workloads.md: tools/workloads $size" test -n "$row"
    holds "$name:$size did not pass" grep -q ' passed ' <<<"$row"
done < <("$SLUICE" list workloads | awk '/^generated/ { exit } /^[a-z0-9]/ { name = $1 } /^ / { for (i = 1; i <= NF; i++) print name, $i }')

testcase "every small size is long enough for what it is to show"
while read -r name gpu _ _ cycles; do
    case $gpu in adaptive-80sm | selrep-64sm) least=200000 ;; *) least=50000 ;; esac
    holds "$name takes $cycles cycles on $gpu" test "$cycles" -ge $least
done < <(measured small)

testcase "no paper's size has more than a billion instructions"
for size in adaptive icc selrep bypass nn_0; do
    while read -r name _ instructions _; do holds "$name: $instructions" test "$instructions" -le 1000000000; done < <(measured $size)
done

testcase "what differs from the papers is among the exceptions, with its reason"
sed -n '/^## Exceptions/,/^## Classes/p' docs/workloads.md >"$work/exceptions"
holds "there are no exceptions on the page" test -s "$work/exceptions"
for name in $(awk -F'|' '/\*\*no\*\*/ { gsub(/[` ]/, "", $2); sub(/:.*/, "", $2); print $2 }' docs/workloads.md | sort -u); do
    holds "$name is not" grep -q "^- .*\`$name" "$work/exceptions"
done

tests_end
