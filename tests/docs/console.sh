# Sourced by the tests of pages that show commands and what they print, after testlib.sh.
#
# console_page PAGE calls `try PAGE COMMAND`, which the test defines, for every `$ ` line of the page's `console` blocks. What the page shows after
# the command is then in $work/shown; what try leaves in $work/out is what --update writes into the page instead.

update=
case " $* " in *' --update '*) update=yes ;; esac

console_page() {
    local page=$1 open='' command='' line
    console_end() { if [ -n "$command" ]; then try "$page" "$command"; cat "$work/out" >>"$work/page"; command=; fi; }
    : >"$work/page"
    while IFS= read -r line <&3; do
        case "$open$line" in
        '```console') open=1 ;;
        '1```') console_end; open= ;;
        '1$ '*) console_end; command=${line#\$ }; : >"$work/shown" ;;
        1*) printf '%s\n' "$line" >>"$work/shown"; continue ;;
        esac
        printf '%s\n' "$line" >>"$work/page"
    done 3<"$page"
    [ -z "$update" ] || cp "$work/page" "$page"
}

# printed_as_shown [LINES]: what was printed is what the page shows, but for lines that match; nothing to compare where the page is being written.
printed_as_shown() {
    [ -z "$update" ] || return 0
    local but=${1:-$'\x01'}
    grep -vE -- "$but" "$work/out" >"$work/printed"
    grep -vE -- "$but" "$work/shown" >"$work/expected"
    holds "it prints otherwise (tests/docs/update.sh, if that is as it should be):"$'\n'"$(diff "$work/expected" "$work/printed" | head -n 6 | sed 's/^/    /')" \
        cmp -s "$work/printed" "$work/expected"
}

# A complaint has status 2, anything else 0.
status_fits() {
    if grep -q '^sluice: ' "$work/out"; then holds "status $1, not 2" test "$1" -eq 2; else holds "status $1" test "$1" -eq 0; fi
}
