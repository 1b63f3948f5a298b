# Host instructions of three fixed runs, against the recorded ones: a change that makes Sluice slower by more than 5 % is noticed.
# They depend on the compiler, so they are compared only with the one that they were recorded with.
#
#     tests/bench/cost_test.sh --accept    records the present ones, after a growth that is justified in the commit
. "$(dirname "${BASH_SOURCE[0]}")/../testlib.sh"

recorded=tests/bench/cost.csv
runs='gemm:tiny adaptive-80sm
bfs:tiny icc-32sm
hs:tiny fermi-15sm'

compiler() {
    local cache
    cache=$(dirname "$SLUICE")/CMakeCache.txt
    printf '%s %s' "$(sed -n 's/^CMAKE_C_COMPILER:[^=]*=//p' "$cache" | xargs -I {} sh -c 'printf "%s %s" "$(basename {})" "$({} -dumpfullversion)"')" \
        "$(sed -n 's/^SLUICE_RUNS_V3:[^=]*=/AVX2 /p' "$cache")"
}

# host_instructions WORKLOAD GPU
host_instructions() {
    GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=2000000000:glibc.cpu.x86_rep_movsb_threshold=2000000000 \
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$SLUICE" run "$1" --gpu "$2" 2>&1 >/dev/null | awk '/Collected/ { print $NF }'
}

if ! command -v valgrind >/dev/null; then
    echo "skipped: valgrind is not installed"
    tests_end
    exit
fi
if [ "${1:-}" = --accept ]; then
    {
        echo "# host instructions of tests/bench/cost_test.sh, $(compiler)"
        while read -r workload gpu; do echo "$workload,$gpu,$(host_instructions "$workload" "$gpu")"; done <<<"$runs"
    } >"$work/new" && cp "$work/new" "$recorded" && cat "$recorded"
    exit
fi
if ! head -n 1 "$recorded" | grep -qF ", $(compiler)"; then
    echo "skipped: recorded with another compiler ($(sed -n '1s/.*, //p' "$recorded"), not $(compiler))"
    tests_end
    exit
fi

while read -r workload gpu; do
    testcase "$workload on $gpu takes at most 5 % more host instructions than recorded"
    before=$(awk -F , -v w="$workload" -v g="$gpu" '$1 == w && $2 == g { print $3 }' "$recorded")
    now=$(host_instructions "$workload" "$gpu")
    growth=$(awk -v a="${before:-0}" -v b="${now:-0}" 'BEGIN { printf "%.1f", (a > 0 ? 100 * (b / a - 1) : 999) }')
    holds "$before before, $now now: $growth % more; if that is justified: tests/bench/cost_test.sh --accept" \
        awk -v growth="$growth" -v now="${now:-0}" 'BEGIN { exit !(now > 0 && growth <= 5) }'
done <<<"$runs"

tests_end
