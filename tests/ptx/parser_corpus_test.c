/* The fuzzer's corpus stays read without a crash or a leak. */
#include "fuzz/corpus.h"

#define LLVMFuzzerTestOneInput ptx_fuzz_one_input /* each fuzzer has one, and the tests are one program */
#include "fuzz/ptx_fuzz.c"

static void replay(const uint8_t *data, size_t size) { LLVMFuzzerTestOneInput(data, size); }

TEST("every module in the fuzzer's corpus is refused with a message or holds together") {
    CHECK(corpus_replay("ptx", replay) >= 10);
}
