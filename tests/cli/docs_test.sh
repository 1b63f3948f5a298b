# The commands in the documentation succeed: every line of a code block that starts with `$ sluice` or `$ build/release/sluice`.
. "$(dirname "$0")/../testlib.sh"

commands=$(awk '/^ *```/ { block = !block; next } (block || /^    /) && /^ *\$ (build\/release\/)?sluice / { sub(/^ *\$ (build\/release\/)?sluice /, ""); print FILENAME "\t" $0 }' \
    $(ls README.md docs/*.md 2>/dev/null | grep -v guide.md)) # tests/docs/guide_test.sh tests the guide
# Under sanitizers a rerun of kept results would take as long as all other commands; tests/lab/lab_test.sh does it with tiny inputs.
case $SLUICE in */asan/*) commands=$(grep -v ' --verify ' <<<"$commands") ;; esac
# Programs that nvcc builds need the runtime of the sanitizers: tests/cudart/nvcc_test.sh runs them there.
sources=yes
case $SLUICE in */asan/*) sources= ;; esac
[ -x "${CUDA_HOME:-}/bin/nvcc" ] || command -v nvcc >/dev/null || sources=
[ -n "$sources" ] || commands=$(grep -v 'exec .*\.cu ' <<<"$commands")

testcase "the documentation has commands"
holds "none was found" test -n "$commands"

# The commands see the tree through links; their output files stay outside of it.
mkdir "$work/tree" && ln -s "$PWD"/* "$work/tree/"
# The programs of the examples of `sluice exec`.
. tests/cudart/plain.sh
plain 12 "$work/tree/vectoradd" && cp "$work/tree/vectoradd" "$work/tree/bfs"

# The results of the examples of `sluice diff` and `sluice plot`.
for design in shared private; do "$SLUICE" run mm:tiny --design $design --sample 1000 --json "$work/tree/$design.json" >/dev/null; done

while IFS=$'\t' read -r file line; do
    [ -n "$line" ] || continue
    testcase "$file: sluice $line"
    (cd "$work/tree" && eval "timeout 100 \"$SLUICE\" $line") >"$work/out" 2>"$work/err"
    last_status=$? last_command="sluice $line"
    status_is 0
done <<<"$commands"

tests_end
