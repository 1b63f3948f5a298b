#!/usr/bin/env bash
# The commands in README.md and docs/architecture.md print what the pages show.
#
# A `console` block holds commands (`$ ...`) and their output. Lines that tell of the host (`simulated in`) may differ. A command whose output is a complaint ends with
# status 2, any other with 0. --update writes what was printed into the pages.
. "$(dirname "$0")/../claims.sh"

update=
case " $* " in *' --update '*) update=yes ;; esac

try() {
    local page=$1 command=$2 status
    claim "$page: $command"
    (set -o pipefail && eval "${command/#build\/release\/sluice/\"\$SLUICE\"}") >"$work/out" 2>&1
    status=$?
    if grep -q '^sluice: ' "$work/out"; then holds "status $status, not 2" test $status -eq 2; else holds "status $status" test $status -eq 0; fi
    [ -z "$update" ] || return
    grep -v '^  simulated in' "$work/out" >"$work/printed"
    grep -v '^  simulated in' "$work/shown" >"$work/expected"
    holds "it prints otherwise (tests/docs/update.sh, if that is as it should be):"$'\n'"$(diff "$work/expected" "$work/printed" | head -n 6 | sed 's/^/    /')" \
        cmp -s "$work/printed" "$work/expected"
}

for page in README.md docs/architecture.md; do
    : >"$work/page"
    open= command=
    finish() { if [ -n "$command" ]; then try $page "$command"; cat "$work/out" >>"$work/page"; command=; fi; }
    while IFS= read -r line <&3; do
        case "$open$line" in
        '```console') open=1 ;;
        '1```') finish; open= ;;
        '1$ '*) finish; command=${line#\$ }; : >"$work/shown" ;;
        1*) printf '%s\n' "$line" >>"$work/shown"; continue ;;
        esac
        printf '%s\n' "$line" >>"$work/page"
    done 3<$page
    [ -z "$update" ] || cp "$work/page" $page
done

claims_end
