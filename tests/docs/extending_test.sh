#!/usr/bin/env bash
# docs/extending.md does what it says: in a copy of the tree its blocks are put where their fences say, the result is built, and its commands print
# what the page shows.
#
# usage: extending_test.sh [--update]     (a program of its own is built; --update writes what was printed into the page)
. "$(dirname "$0")/../testlib.sh"
. tests/docs/console.sh

page=docs/extending.md
copy=$work/tree
mkdir "$copy"
tar -cf - --exclude=./build --exclude=./.git --exclude=./data . | tar -C "$copy" -xf -

# Blocks to files of their own: NNN.new, NNN.def, NNN.diff, with the target's name in NNN.target.
mkdir "$work/blocks"
awk -v dir="$work/blocks" '
    /^```/ && !open { open = 1; file = ""; split($0, word, " ")
        if (word[2] != "") { file = sprintf("%s/%03d", dir, ++count); print word[1] > (file ".kind"); print word[2] > (file ".target") }
        next }
    /^```/ { open = 0; next }
    open && file != "" { print > file }' $page

# apply_diff DIFF FILE: puts the `+` lines after the line before them, which must be in the file exactly once.
apply_diff() {
    awk -v diff="$1" '
        BEGIN { while ((getline line < diff) > 0) { if (substr(line, 1, 1) == "+") added = added substr(line, 2) "\n"; else anchor = substr(line, 2) } }
        { print }
        $0 == anchor { printf "%s", added; times++ }
        END { exit times != 1 }' "$2" >"$work/patched" && mv "$work/patched" "$2"
}

testcase "every block of docs/extending.md goes where its fence says"
for block in "$work"/blocks/???; do
    target=$(cat "$block.target")
    case "$(cat "$block.kind") $target" in
    '```diff '*) holds "the line before the added one is not in $target once" apply_diff "$block" "$copy/$target" ;;
    *.def)
        holds "there is no table $target" test -e "$copy/$target"
        cat "$block" >>"$copy/$target"
        ;;
    *)
        holds "$target exists already" test ! -e "$copy/$target"
        cp "$block" "$copy/$target"
        ;;
    esac
done

# In the copy, and a build prints nothing.
try() {
    testcase "$1: $2"
    (cd "$copy" && eval "$2") >"$work/out" 2>&1
    local status=$?
    case "$2" in
    cmake*)
        holds "it does not build: $(grep -m 3 -E 'error|FAILED' "$work/out")" test $status -eq 0
        : >"$work/out"
        ;;
    *) status_fits $status ;;
    esac
    printed_as_shown
}

console_page $page

tests_end
