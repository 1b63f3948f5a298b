#!/usr/bin/env bash
# `--errors json`: every error message as a JSON object on one line.
. "$(dirname "$0")/../testlib.sh"

# object KEY: the value of a key of the message.
object() {
    python3 -c 'import json, sys; print(json.loads(sys.stdin.read())[sys.argv[1]])' "$1" <"$work/err" 2>&1
}
# is KEY VALUE: the message has this value.
is() { holds "$1 is $(object "$1")" test "$(object "$1")" = "$2"; }

testcase "a located error has file, line and column"
printf 'name: x\nptx: a.ptx\nbuffers: 3\n' >"$work/bad.yaml"
sluice run --launch "$work/bad.yaml" --errors json
status_is 2
is file "$work/bad.yaml"
is line 3
is column 10
is message 'buffers must be a list (- ...), not a value'

testcase "an error of the command line has the command"
sluice run mm:tiny --errors=json --gpus x
status_is 2
is command run
holds "no hint" grep -q 'did you mean `--gpu`' "$work/err"

testcase "an error of the library has the command, too"
for words in 'run nope' 'run mm:tiny --set foo=1' 'compare mm:tiny --designs nope' 'lab run nope'; do
    sluice $words --errors json
    status_is 2
    is command "${words%% *}"
    holds "a file: $(cat "$work/err")" sh -c '! grep -q "\"file\"" "$0"' "$work/err"
done

testcase "a file that cannot be read is the file of the error"
for words in 'plot none.json' 'diff none.json none.json' 'run --launch none.json' 'run --trace=none.json' 'run mm:tiny --restore none.json' 'ptx none.json'; do
    sluice $words --errors json
    status_is 2
    is command "${words%% *}"
    is file none.json
    is message 'No such file or directory'
done
sluice run mm:tiny --gpu ./none.yaml --errors json
is file ./none.yaml
sluice run mm:tiny --json "$work/none/x.json" --errors json
is file "$work/none/x.json"

testcase "a name that is far from all others has no hint"
for name in nope xyz foobar; do
    sluice run "$name"
    status_is 2
    holds "$(cat "$work/err")" sh -c '! grep -q "did you mean" "$0"' "$work/err"
done
sluice run cpoy
err_has 'did you mean `synth:copy`?'

testcase "texts are escaped, and a colon does not make a location"
sluice --errors json 'r"u:1:n'
status_is 2
holds "message: $(object message)" grep -qF 'r"u:1:n' <<<"$(object message)"
holds "it has a file" test "$(object file)" != "r\"u"

testcase "the option may come before the command, and text is the default"
sluice --errors json rum
status_is 2
holds "no object" grep -q '^{"message": "unknown command' "$work/err"
sluice --errors text rum
status_is 2
err_has 'sluice: unknown command `rum`'
sluice run --errors xml
status_is 2
err_has 'requires `text` or `json`'
sluice run mm:tiny --errors
status_is 2
err_has 'requires `text` or `json`'

testcase "success prints no object"
sluice list gpus --errors json
status_is 0
holds "something is printed" test ! -s "$work/err"

tests_end
