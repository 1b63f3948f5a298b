# Sourced by tests that need a CUDA program, after testlib.sh.
#
# plain RELEASE FILE: compiles tests/cudart/plain.c for the runtime library of this release. A library built with sanitizers, by
# clang, needs their runtime in the program, too.
library=$(dirname "$SLUICE")/lib/sluice
sanitized() { nm -D "$library/libcudart.so.$1" | grep __asan_init >/dev/null; }
plain() {
    local compiler=("${CC:-gcc}")
    ! sanitized "$1" || compiler=(clang -fsanitize=address,undefined)
    "${compiler[@]}" -std=gnu17 -Isrc -DCUDART_MAJOR="${1%%.*}" tests/cudart/plain.c -o "$2" "$library/libcudart.so.$1" -pthread 2>"$work/cc.log" || cat "$work/cc.log"
}
