# The order of modules: src/modules declares it, every #include keeps it, docs/architecture.md shows it.
. "$(dirname "$0")/../testlib.sh"

# violations ROOT: every include below ROOT/src and ROOT/workloads that does not follow the order.
violations() { find "$1/src" "$1/workloads" -name '*.[ch]' -o -name '*.def' | sort | xargs awk -f tests/docs/modules.awk "$1/src/modules"; }

testcase "no file includes a header of a later module"
found=$(violations .)
holds "includes against the order:"$'\n'"$(head -n 20 <<<"$found")" test -z "$found"

# changed FILE LINE PATTERN: with the line added to the file, the pattern is found.
changed() {
    cp "$1" "$work/tree/$1"
    printf '%s\n' "$2" >>"$work/tree/$1"
    found=$(violations "$work/tree")
    cp "$1" "$work/tree/$1"
    holds "not found: $3; found: $found" grep -q "$3" <<<"$found"
}

testcase "finds an include of a later module, which would close a cycle"
mkdir -p "$work/tree" && cp -r src workloads "$work/tree"
changed src/dram/dram.h '#include "sm/sm.h"' 'src/dram/dram.h:[0-9]*: dram includes "sm/sm.h"'
changed src/base/base.c '#  include "config/config.h"' 'src/base/base.c:[0-9]*: base includes "config/config.h"'
changed src/sim/message.h '#include "../llc/llc.h"' 'src/sim/message.h:[0-9]*: "../llc/llc.h" is not below a module'
changed src/host/source.c '#include "work.h"' 'src/host/source.c:[0-9]*: host includes "work.h"'
changed workloads/work.c '#include "lab/plan.h"' 'workloads/work.c:[0-9]*: workloads includes "lab/plan.h"'

testcase "finds a module that is not in the list"
mkdir "$work/tree/src/extra" && printf 'int nothing;\n' >"$work/tree/src/extra/extra.c"
found=$(violations "$work/tree")
holds "found: $found" test "$found" = "$work/tree/src/extra/extra.c: module extra is not in the list"

testcase "docs/architecture.md lists the modules in that order"
listed=$(grep -v '^#' src/modules)
shown=$(sed -n 's,^| `\(src/\)\{0\,1\}\([a-z0-9]*\)/` .*,\2,p' docs/architecture.md)
holds "listed: $(echo $listed); shown: $(echo $shown)" test "$listed" = "$shown"

tests_end
