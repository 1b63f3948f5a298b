# Sourced, after testlib.sh, by the tests of pages that show commands with their output.
#
# console_page PAGE calls `try PAGE COMMAND`, which the test defines, for every `$ ` line of the page's `console` blocks. $work/shown then has the output that
# the page shows; --update replaces it by the output that try leaves in $work/out.

update=
case " $* " in *' --update '*) update=yes ;; esac

console_page() {
    local page=$1 state=text command='' line
    console_end() { if [ -n "$command" ]; then try "$page" "$command"; cat "$work/out" >>"$work/page"; command=; fi; }
    : >"$work/page"
    while IFS= read -r line <&3; do
        case "$state:$line" in
        'text:```console') state=console ;;
        'console:```') console_end; state=text ;;
        'console:$ '*) console_end; command=${line#\$ }; : >"$work/shown" ;;
        console:*) printf '%s\n' "$line" >>"$work/shown"; continue ;;
        esac
        printf '%s\n' "$line" >>"$work/page"
    done 3<"$page"
    [ -z "$update" ] || cp "$work/page" "$page"
}

# printed_as_shown [PATTERN]: the output equals what the page shows, except for lines that match; with --update there is nothing to compare.
printed_as_shown() {
    [ -z "$update" ] || return 0
    local but=${1:-$'\x01'}
    grep -vE -- "$but" "$work/out" >"$work/printed"
    grep -vE -- "$but" "$work/shown" >"$work/expected"
    holds "the output differs (if that is intended: tests/docs/update.sh):"$'\n'"$(diff "$work/expected" "$work/printed" | head -n 6 | sed 's/^/    /')" \
        cmp -s "$work/printed" "$work/expected"
}

# An error message has status 2, any other output 0.
status_fits() {
    if grep -q '^sluice: ' "$work/out"; then holds "status $1, not 2" test "$1" -eq 2; else holds "status $1" test "$1" -eq 0; fi
}
