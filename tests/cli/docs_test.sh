# What the documentation tells its reader to type works: every line of a code block that starts with `$ sluice` or `$ build/release/sluice`.
. "$(dirname "$0")/../testlib.sh"

commands=$(awk '/^ *```/ { block = !block; next } (block || /^    /) && /^ *\$ (build\/release\/)?sluice / { sub(/^ *\$ (build\/release\/)?sluice /, ""); print FILENAME "\t" $0 }' \
    $(ls README.md docs/*.md 2>/dev/null | grep -v guide.md)) # the guide has a test of its own, tests/docs/guide_test.sh

testcase "there are commands to try in the documentation"
holds "none was found" test -n "$commands"

# The commands see the tree, but what they write does not end up in it.
mkdir "$work/tree" && ln -s "$PWD"/* "$work/tree/"

while IFS=$'\t' read -r file line; do
    [ -n "$line" ] || continue
    testcase "$file: sluice $line"
    (cd "$work/tree" && eval "timeout 100 \"$SLUICE\" $line") >"$work/out" 2>"$work/err"
    last_status=$? last_command="sluice $line"
    status_is 0
done <<<"$commands"

tests_end
