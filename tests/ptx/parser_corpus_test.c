/* Parses the fuzzer's corpus: no crash or leak. */
#include "fuzz/corpus.h"

#define LLVMFuzzerTestOneInput ptx_fuzz_one_input /* each fuzzer defines one, and the tests are one program */
#include "fuzz/ptx_fuzz.c"

static void replay(const uint8_t *data, size_t size) { LLVMFuzzerTestOneInput(data, size); }

TEST("every module in the fuzzer's corpus is rejected with a message or is consistent") {
    CHECK(corpus_replay("ptx", replay) >= 10);
}
