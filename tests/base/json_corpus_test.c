/* Reads the fuzzer's corpus: no crash, leak or lost value. */
#include "fuzz/corpus.h"
#define LLVMFuzzerTestOneInput json_fuzz_one_input /* each fuzzer defines one, and the tests are one program */
#include "fuzz/json_fuzz.c"

static void replay(const uint8_t *data, size_t size) { LLVMFuzzerTestOneInput(data, size); }

TEST("every text in the fuzzer's corpus is rejected with a message or reads back the same") {
    CHECK(corpus_replay("json", replay) >= 10);
}
