/* Reads the fuzzer's corpus: no crash, leak or lost value. */
#include "fuzz/corpus.h"

#include "fuzz/config_fuzz.c"

static void replay(const uint8_t *data, size_t size) { LLVMFuzzerTestOneInput(data, size); }

TEST("every description in the fuzzer's corpus is rejected with a message or reads back the same") {
    CHECK(corpus_replay("config", replay) >= 10);
}
