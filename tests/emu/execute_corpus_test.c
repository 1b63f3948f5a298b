/* Runs the kernels of the fuzzer's corpus: no crash or leak. */
#include "fuzz/corpus.h"

#define LLVMFuzzerTestOneInput execute_fuzz_one_input /* each fuzzer defines one, and the tests are one program */
#include "fuzz/execute_fuzz.c"

static void replay(const uint8_t *data, size_t size) { LLVMFuzzerTestOneInput(data, size); }

TEST("every kernel in the fuzzer's corpus ends, faults with a message or is cut") {
    CHECK(corpus_replay("execute", replay) >= 10);
}
