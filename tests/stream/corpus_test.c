/* Reads and simulates the recordings of the fuzzer's corpus, whole and truncated: no crash, hang or leak. */
#include "fuzz/corpus.h"

#define LLVMFuzzerTestOneInput recording_fuzz_one_input /* each fuzzer defines one, and the tests are one program */
#include "fuzz/recording_fuzz.c"

static void replay(const uint8_t *data, size_t size) {
    for (size_t length = size; length > 0; length /= 2) LLVMFuzzerTestOneInput(data, length);
}

TEST("every recording in the fuzzer's corpus is rejected with a message or is simulated") {
    CHECK(corpus_replay("recording", replay) >= 6);
}
