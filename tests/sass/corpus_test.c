/* Reads and simulates the traces of the fuzzer's corpus, whole and truncated: no crash, hang or leak. */
#include "fuzz/corpus.h"

#define LLVMFuzzerTestOneInput sass_fuzz_one_input /* each fuzzer defines one, and the tests are one program */
#include "fuzz/sass_fuzz.c"

static void replay(const uint8_t *data, size_t size) {
    for (size_t length = size; length > 0; length = length * 3 / 4) LLVMFuzzerTestOneInput(data, length);
}

TEST("every trace in the fuzzer's corpus is rejected with a message or is simulated") {
    CHECK(corpus_replay("sass", replay) >= 6);
}
