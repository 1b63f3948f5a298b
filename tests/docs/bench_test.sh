# bench/run: how it divides the host instructions of a run among modules.
. "$(dirname "$0")/../testlib.sh"

cat >"$work/profile" <<'END'
events: Ir
fl=(1) tree/src/noc/fabric.c
fn=(1) fabric_tick
10 100
cfi=(2) tree/src/sim/port.c
cfn=(2) port_take
calls=1 20
11 30
fl=(2)
fn=(2)
20 30
fl=(3) tree/src/sim/engine.c
fn=(3) engine_run_until
30 7
fi=(4) tree/src/sim/port.h
31 5
END

testcase "charges a port to its caller, and the engine to its module"
awk -f bench/modules.awk "$work/profile" | sort >"$work/out"
printf 'noc\t130\nrest\t0\nsim\t12\ntotal\t142\n' >"$work/expected"
holds "printed: $(cat "$work/out")" cmp -s "$work/expected" "$work/out"
for file in $(grep -o 'src/[a-z]*/[a-z]*\.[ch]' "$work/profile"); do holds "there is no $file" test -e "$file"; done

testcase "charges every module that runs in a cycle to a class of events"
charged=$(sed -n "/^class_table='/,/^'/p" bench/run | awk -F ' *[|] *' 'NF == 4 { print $3 }' | tr ' ' '\n' | sort)
ticked=$(grep -lE '^#include "sim/(engine|port)\.h"' src/*/*.[ch] | cut -d / -f 2 | sort -u)
for name in $ticked; do holds "$name is charged to no class" grep -qx "$name" <<<"$charged"; done
for name in $charged; do holds "$name is no module" grep -qx "$name" src/modules; done

tests_end
