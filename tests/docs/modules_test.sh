# The order of modules: src/modules declares it, every #include keeps it, docs/architecture.md shows it.
. "$(dirname "$0")/../testlib.sh"

# violations ROOT: every include below ROOT/src that goes the wrong way.
violations() { find "$1/src" -name '*.[ch]' -o -name '*.def' | sort | xargs awk -f tests/docs/modules.awk "$1/src/modules"; }

testcase "no file includes a header of a later module"
found=$(violations .)
holds "includes that go the wrong way:"$'\n'"$(head -n 20 <<<"$found")" test -z "$found"

testcase "an include of a later module, a cycle and a module that is not listed are found"
mkdir -p "$work/tree" && cp -r src "$work/tree"
printf '#include "sm/sm.h"\n' >>"$work/tree/src/dram/dram.h"
mkdir "$work/tree/src/extra" && printf 'int nothing;\n' >"$work/tree/src/extra/extra.c"
found=$(violations "$work/tree")
holds "finds dram/dram.h including sm/sm.h: $found" grep -q 'src/dram/dram.h:[0-9]*: dram includes "sm/sm.h"' <<<"$found"
holds "finds the unlisted module: $found" grep -q 'module extra is not in the list' <<<"$found"

testcase "docs/architecture.md lists the modules in that order"
listed=$(grep -v '^#' src/modules)
shown=$(grep -oE '^\| `src/[a-z0-9]+/`' docs/architecture.md | sed 's/.*src\///; s/\/`//')
holds "listed: $(echo $listed); shown: $(echo $shown)" test "$listed" = "$shown"

tests_end
