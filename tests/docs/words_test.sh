#!/usr/bin/env bash
# Texts use the terms of docs/glossary.md: tests/docs/words.py finds none of the phrases that they replace.
. "$(dirname "$0")/../testlib.sh"

testcase "no text uses a phrase for which the field has a term"
python3 tests/docs/words.py . >"$work/found" 2>"$work/files"
holds "$(head -n 20 "$work/found")" test ! -s "$work/found"
holds "only $(cat "$work/files")" test "$(cut -d ' ' -f 1 "$work/files")" -gt 500

# found NAME TEXT: what words.py reports for a file of this name and text.
found() {
    rm -rf "$work/tree"
    mkdir "$work/tree"
    printf '%s\n' "$2" >"$work/tree/$1"
    python3 tests/docs/words.py "$work/tree" 2>"$work/files"
}

testcase "finds a phrase in pages, comments, strings and titles, also across lines"
holds "a page" test -n "$(found page.md 'A line on its way is not evicted.')"
holds "a description" test -n "$(found gpu.yaml 'help: every read brings its line in')"
holds "a C comment" test -n "$(found a.c '/* A full queue refuses the access. */')"
holds "a C comment of two lines" test -n "$(found a.c $'/* Reads that go\n * past the L1. */')"
holds "a C string" test -n "$(found a_test.c 'TEST("loads go past the L1") {')"
holds "a test script" test -n "$(found a_test.sh 'testcase "the replicas are forgotten"')"
holds "a script" test -n "$(found demo 'echo "All rooms are built once more."')"

testcase "accepts the terms and names in code"
holds "terms" test -z "$(found page.md 'A pending hit waits for a line in flight. Reads of 3 replicas bypass the L1.')"
holds "a file was read" test "$(cat "$work/files")" = '1 files'
holds "a name in C" test -z "$(found a.c 'unsigned room, refused = outdated(forget);')"
holds "a quoted name" test -z "$(found a.c '/* `room` is in bytes. */')"

tests_end
