# Sourced by tests that need a CUDA program, after testlib.sh.
#
# plain RELEASE FILE: compiles tests/cudart/plain.c for the runtime library of this release. A library built with the address
# sanitizer needs its runtime in the program, too.
library=$(dirname "$SLUICE")/lib/sluice
plain() {
    local sanitize=()
    ! nm -D "$library/libcudart.so.$1" | grep -q __asan_init || sanitize=(-fsanitize=address)
    "${CC:-gcc}" -std=gnu17 -Isrc -DCUDART_MAJOR="${1%%.*}" "${sanitize[@]}" tests/cudart/plain.c -o "$2" "$library/libcudart.so.$1" -pthread 2>"$work/cc.log" || cat "$work/cc.log"
}
