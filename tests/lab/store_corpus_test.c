/* Reads the stores of the fuzzer's corpus, also truncated: no crash or leak. */
#include "fuzz/corpus.h"

#define LLVMFuzzerTestOneInput store_fuzz_one_input /* each fuzzer defines one, and the tests are one program */
#include "fuzz/store_fuzz.c"

static void replay(const uint8_t *data, size_t size) {
    for (size_t length = size; length > 0; length /= 2) LLVMFuzzerTestOneInput(data, length);
}

TEST("every store in the fuzzer's corpus is rejected with a message or can be read") {
    CHECK(corpus_replay("store", replay) >= 8);
}
