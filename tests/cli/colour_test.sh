#!/usr/bin/env bash
# Colours: on a terminal, unless NO_COLOR is set or the terminal is dumb.
. "$(dirname "$0")/../testlib.sh"

# A chroot without /dev/pts has no terminals.
if ! python3 tests/cli/terminal.py /dev/null true >/dev/null 2>&1; then
    echo "skipped: no terminal can be opened"
    tests_end
fi

# terminal ARGS...: what the program writes to a terminal, with escape characters as ^.
terminal() {
    last_command="sluice $*"
    python3 tests/cli/terminal.py "$work/terminal" "$SLUICE" "$@" >/dev/null 2>&1
    tr '\033\r' '^\n' <"$work/terminal" >"$work/out"
}
shows() { holds "\`$last_command\` does not show \"$1\" but: $(head -n 12 "$work/out")" grep -qF -- "$1" "$work/out"; }
no_colours() { holds "\`$last_command\` shows colours: $(grep -m 3 '\^\[[0-9;]*m' "$work/out")" test -z "$(grep '\^\[[0-9;]*m' "$work/out")"; }
unset NO_COLOR
export TERM=xterm

testcase "titles, bars and the check of a run are coloured on a terminal"
terminal run mm:tiny --max-insts 100000
shows '^[1mmm:tiny on adaptive-80sm^[0m'
shows '  ^[1mSM cycle breakdown (80 SMs)^[0m'
terminal run va:tiny
shows 'check         ^[32m        passed^[0m'

testcase "compare marks its title and the designs"
terminal compare va:tiny --designs shared,private
shows '^[1mva:tiny on adaptive-80sm^[0m: '
shows '^[1m           shared          private^[0m'

testcase "errors are red, warnings yellow, and machine-readable ones neither"
terminal run nothing
shows '^[31msluice:^[0m there is no workload'
terminal run synth:alu --set workload.iterations=1 --sample-units llc.read_misses
shows '^[33msluice: warning:^[0m --sample-units has no effect'
terminal run nothing --errors json
no_colours

testcase "NO_COLOR and dumb terminals have no colours; an empty NO_COLOR does not count"
NO_COLOR=1 terminal run va:tiny
no_colours
TERM=dumb terminal run va:tiny
no_colours
NO_COLOR='' terminal run va:tiny
shows '^[1mva:tiny on adaptive-80sm^[0m'

testcase "pipes and files have no colours"
"$SLUICE" run va:tiny 2>&1 | tr '\033' '^' >"$work/out"
no_colours

tests_end
