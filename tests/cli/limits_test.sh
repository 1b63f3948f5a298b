# A resource limit (threads, file size) ends a command with a message and status 1, not by a signal.
. "$(dirname "$0")/../testlib.sh"

# limited LIMIT VALUE ARGS...: sluice ARGS under `ulimit LIMIT VALUE`. Its output goes through a pipe, since the limit
# may apply to files.
limited() {
    local limit=$1 value=$2
    shift 2
    last_command="sluice $*"
    (ulimit "$limit" "$value" && exec timeout 100 "$SLUICE" "$@") 2>&1 | cat >"$work/err"
    last_status=${PIPESTATUS[0]}
}

# A stack of 200 TB exceeds the address space, so no thread can be created.
no_thread=(-s 200000000000)

testcase "reports that the thread of a program cannot be created"
for command in "run va:tiny" "run va:tiny + bs:tiny" "record va:tiny -o $work/va.stream" "list workloads --survey va"; do
    # shellcheck disable=SC2086 # the words of a command
    limited "${no_thread[@]}" $command
    status_is 1
    err_has "cannot start the thread that executes the program: Resource temporarily unavailable"
done
no_file "$work/va.stream"

testcase "reports that a file exceeds the file size limit, and leaves no partial file"
limited -f 1 run synth:alu --json "$work/result.json"
status_is 1
err_has "result.json: File too large"
holds "no file is left" test -z "$(find "$work" -name 'result.json*')"

tests_end
