#!/usr/bin/env bash
# The measurements in docs/model/README.md are those of this tree: zero-load latencies to the cycle, sensitivities to assumed values to half a point.
#
# The table of sensitivities takes a minute: only its first row is measured unless SLUICE_LONG_TESTS=1. --update writes the measurements into the page.
. "$(dirname "$0")/../testlib.sh"

page=docs/model/README.md
update=
case " $* " in *' --update '*) update=yes SLUICE_LONG_TESTS=1 ;; esac

# counter KEY ARGS...: a value of the JSON of a run.
counter() {
    local key=$1
    shift
    "$SLUICE" run "$@" --json - | awk -f tools/json-flat.awk | awk -F '\t' -v key="$key" '$1 == key { print $2; found = 1 } END { if (!found) print "none" }'
}

# row LABEL: the cells after it, separated by blanks.
row() { awk -F ' *[|] *' -v label="$1" '$2 == label { for (i = 3; i < NF; i++) printf "%s ", $i; exit }' $page; }

# put LABEL CELLS...: writes a row back.
put() {
    local label=$1
    shift
    awk -F ' *[|] *' -v label="$label" -v cells="$*" '
        $2 == label { count = split(cells, cell, " "); printf "| %s |", label; for (i = 1; i <= count; i++) printf " %s |", cell[i]; print ""; next } { print }' $page >"$work/page" && cp "$work/page" $page
}

latency() { counter stats.sm.load_cycles_min synth:chase "$@"; }
small="--set workload.footprint_kb=4 --set workload.stride_bytes=128 --set workload.iterations=500"

for level in 'L1 hit' 'LLC hit, one sector' 'memory, bank closed'; do
    case $level in
    L1*) settings=$small ;;
    LLC*) settings="$small --set workload.cache_global=true" ;;
    *) settings='--set workload.iterations=1' ;;
    esac
    measured=
    for gpu in $(row 'measured, in cycles'); do
        # shellcheck disable=SC2086
        measured+="$(latency --gpu "$gpu" $settings) "
    done
    [ -z "$update" ] || put "$level" $measured
    testcase "latencies of docs/model/README.md: $level"
    holds "measured $measured, not $(row "$level")" test "$measured" = "$(row "$level")"
done

workloads=$(row setting)
declare -A base
for workload in $workloads; do base[$workload]=$(counter cycles "synth:$workload"); done
awk -F ' *[|] *' '/^## Sensitivity/ { on = 1 } on && $2 ~ /^`.*=/ { gsub(/`/, "", $2); print $2 }' $page >"$work/settings"
[ -n "${SLUICE_LONG_TESTS:-}" ] || sed -i 1q "$work/settings"

while IFS= read -r setting; do
    measured=
    for workload in $workloads; do
        measured+=$(awk -v a="$(counter cycles "synth:$workload" --set "$setting")" -v b="${base[$workload]}" 'BEGIN { printf "%+.1f ", 100 * (a - b) / b }')
    done
    [ -z "$update" ] || put "\`$setting\`" $measured
    testcase "sensitivities of docs/model/README.md: $setting"
    awk -v a="$measured" -v b="$(row "\`$setting\`")" 'BEGIN { n = split(a, x, " "); if (split(b, y, " ") != n) exit 1; for (i = 1; i <= n; i++) if (x[i] - y[i] > 0.5 || y[i] - x[i] > 0.5) exit 1 }'
    near=$?
    holds "measured $measured, not $(row "\`$setting\`")" test $near -eq 0
done <"$work/settings"

tests_end
