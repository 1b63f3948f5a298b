/* Restores launches from the fuzzer's corpus, also truncated: no crash or leak. */
#include "fuzz/corpus.h"

#define LLVMFuzzerTestOneInput checkpoint_fuzz_one_input /* each fuzzer defines one, and the tests are one program */
#include "fuzz/checkpoint_fuzz.c"

static void replay(const uint8_t *data, size_t size) {
    for (size_t length = size; length > 0; length /= 2) LLVMFuzzerTestOneInput(data, length);
}

TEST("every effect of a launch in the fuzzer's corpus is rejected with a message or applied") {
    CHECK(corpus_replay("checkpoint", replay) >= 3);
}
