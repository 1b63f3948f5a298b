#!/usr/bin/env bash
# docs/architecture.md follows one load: its cycles add up to what a run measures, part by part; functions and files that the pages name exist.
. "$(dirname "$0")/../testlib.sh"

pages="README.md $(find docs -name '*.md' -not -path docs/commands.md | sort | tr '\n' ' ')"

testcase "every function() that the documentation names is defined in src/"
for name in $(cat $pages | grep -oE '`[a-z_0-9]+\(\)`' | tr -d '`()' | sort -u); do
    holds "$name() is not defined" grep -rqE --include='*.[ch]' "^[a-zA-Z_].*[ *]$name\(" src
done

testcase "every step of the path is in the file that the table gives"
awk '/^## The path of a load/ { on = 1 } on && /^\| [0-9]/' docs/architecture.md | grep -oE '`[a-z_0-9/]+(\.[ch]|\(\))`' | tr -d '`()' >"$work/places"
file=
while IFS= read -r name; do
    case $name in
    src/*) file=$name ;;
    *) holds "$name() is not defined in $file" grep -qE "^[a-zA-Z_].*[ *]$name\(" "$file" ;;
    esac
done <"$work/places"

testcase "every file that the documentation names exists"
for name in $(cat $pages | grep -oE '`(src|tests|docs|gpus|designs|bench|tools|data)/[A-Za-z0-9_./-]+`' | tr -d '`' | sort -u); do
    # Files that docs/extending.md adds do not exist yet.
    grep -qE "^\`\`\`[a-z]+ $name\$" docs/extending.md && continue
    holds "$name does not exist" test -e "$name"
done

# The table: cycle, takes and reason of each step.
awk -F ' *[|] *' '/^## The path of a load/ { on = 1 } on && /^\| [0-9]/ { print $2 "\t" $5 "\t" $6 }' docs/architecture.md >"$work/steps"

command=$(awk '/^## The path of a load/ { on = 1 } on && /^\$ / { sub(/^\$ [^ ]* /, ""); sub(/ \|.*/, ""); print; exit }' docs/architecture.md)
# shellcheck disable=SC2086
"$SLUICE" $command --json "$work/run.json" >/dev/null || echo "sluice $command failed"
awk -f tools/json-flat.awk "$work/run.json" >"$work/flat"
value() { awk -F '\t' -v key="$1" '$1 == key { print $2 }' "$work/flat"; }

steps=$(wc -l <"$work/steps")

testcase "each step of the path begins when the previous one ends"
holds "there is no table of steps" test "$steps" -gt 10
awk -F '\t' 'NR > 1 && $1 != at { print "  cycle " $1 " follows on " at; bad = 1 } { at = $1 + $2 } END { exit bad }' "$work/steps" >"$work/gaps"
holds "$(cat "$work/gaps")" test ! -s "$work/gaps"

testcase "the path of a load adds up to what synth:chase measures"
sum=$(awk -F '\t' '{ sum += $2 } END { print sum }' "$work/steps")
holds "the table says $sum, the run $(value stats.sm.load_cycles)" test "$sum" = "$(value stats.sm.load_cycles)"
holds "one load" test "$(value stats.sm.loads)" = 1

testcase "both networks take the cycles of the table"
network=$(awk -F '\t' '$3 ~ /^.noc\.link_cycles/ { start = $1 } $3 ~ /last link/ { printf "%s ", $1 - start }' "$work/steps")
holds "the table says $network" test "$network" = "$(value stats.noc.request.packet_cycles) $(value stats.noc.reply.packet_cycles) "

tests_end
