# The command line: every command and option is documented, and invalid ones are rejected with a hint.
. "$(dirname "$0")/../testlib.sh"

# rejected WORDS ARGS...: status 2, nothing on standard output, the words in the error message.
rejected() {
    local words=$1
    shift
    sluice "$@"
    status_is 2
    out_empty
    err_has "$words"
}

testcase "help lists every command and describes each"
sluice help
status_is 0
err_empty
for command in run list show ptx lab report reproduce help; do out_has "  $command "; done
for command in run list show ptx lab report reproduce help; do
    sluice help $command
    status_is 0
    out_has "usage: sluice $command"
    cp "$work/out" "$work/help"
    sluice $command --help
    status_is 0
    same_files "$work/help" "$work/out"
done

testcase "help aligns the summaries of all commands"
sluice help
holds "all begin in one column" awk '
    /^commands:/ { inside = 1; next }
    inside && NF == 0 { exit }
    inside { match($0, /^  [a-z]+ +/); column[RLENGTH]++; count++ }
    END { for (c in column) columns++; exit !(count > 5 && columns == 1) }' "$work/out"

testcase "--help prints the help, and --version the version"
sluice help
cp "$work/out" "$work/help"
sluice --help
status_is 0
same_files "$work/help" "$work/out"
sluice --version
status_is 0
holds "sluice and a number" grep -qE '^sluice [0-9]+\.[0-9]+\.[0-9]+$' "$work/out"

testcase "docs/commands.md and the manual page equal the output of help"
sluice help --markdown
status_is 0
same_files docs/commands.md "$work/out"
sluice help --man
status_is 0
same_files man/sluice.1 "$work/out"

testcase "all three texts document every option"
"$SLUICE" help --man | sed 's/\\-/-/g' >"$work/man"
for option in --gpu --design --set --json --max-insts --sample --no-skip --no-check; do
    sluice help run
    out_has "$option"
    holds "$option in docs/commands.md" grep -qF -- "$option" docs/commands.md
    holds "$option in the manual page" grep -qF -- "$option" "$work/man"
done

testcase "rejects a missing and an unknown command"
rejected "sluice help"
rejected "did you mean \`list\`" lsit gpus
rejected "unknown command" frobnicate
rejected "did you mean \`show\`" help shwo

testcase "rejects unknown and malformed options"
rejected "did you mean \`--sample\`" run synth:alu --smaple 5
rejected "unknown option" run synth:alu --frobnicate
rejected "unknown option" list gpus --json x
rejected "takes no value" run synth:alu --no-skip=1
rejected "requires a value" run synth:alu --json
rejected "positive integer" run synth:alu --max-insts many
rejected "positive integer" run synth:alu --max-insts 0
rejected "positive integer" run synth:alu --sample -5
rejected "positive integer" run synth:alu --sample 99999999999999999999999

testcase "rejects missing and unexpected arguments"
rejected "missing workload" run
rejected "unexpected argument" run synth:alu synth:chase
rejected "missing argument" list
rejected "did you mean \`gpus\`" list gpu
rejected "unexpected argument" list gpus extra
rejected "only GPUs" show
rejected "only GPUs" show workload
rejected "show gpu NAME" show gpu
rejected "one GPU" show gpu a b

testcase "--name=value and --name value are equivalent"
sluice run synth:chase --gpu=fermi-15sm --set=workload.iterations=50 --json=-
status_is 0
sed '/"host"/,$d' "$work/out" >"$work/first"
sluice run --json - --set workload.iterations=50 --gpu fermi-15sm -- synth:chase
status_is 0
sed '/"host"/,$d' "$work/out" >"$work/second"
same_files "$work/first" "$work/second"

testcase "lists parameters with their ranges, and counters with their descriptions"
sluice list parameters
status_is 0
out_has "sm.count"
out_has "workload.footprint_mb"
out_has "gto"
sluice list parameters workload.
status_is 0
holds "only those asked for" test -z "$(grep -F sm.count "$work/out")"
sluice list stats
status_is 0
out_has "sm.warp_instructions"
sluice list designs
status_is 0
holds "selrep is the paper's" grep -q '^selrep  .*as published: one tag' "$work/out"
holds "selrep-tuned is our own" grep -q '^selrep-tuned  .*changes of our own: a directory per degree' "$work/out"
sluice list experiments
status_is 0
out_has "quick/sharing"
rejected "no parameter name contains" list parameters no-such-thing
rejected "no counter name contains" list stats no-such-thing

testcase "every parameter accepts the value that list parameters shows"
"$SLUICE" list parameters --gpu fermi-15sm | awk '/^  [a-z]/ && $2 !~ /^\[/ { print "--set\n" $1 "=" $2 }' >"$work/settings"
holds "there are many" test "$(wc -l <"$work/settings")" -gt 100
mapfile -t settings <"$work/settings"
sluice show gpu fermi-15sm "${settings[@]}"
status_is 0

testcase "SLUICE_HOME replaces the bundled descriptions"
mkdir -p "$work/home/gpus"
cp gpus/fermi-15sm.yaml "$work/home/gpus/mine.yaml"
SLUICE_HOME="$work/home" sluice list gpus
status_is 0
out_has "mine"
SLUICE_HOME="$work/home" sluice run synth:alu --gpu mine --set workload.ctas=1
status_is 0

tests_end
