/* The fuzzer's corpus is read without a crash or a leak, also truncated, and with any line removed. */
#include "fuzz/corpus.h"

#define LLVMFuzzerTestOneInput experiment_fuzz_one_input /* each fuzzer has one; the tests are one program */
#include "fuzz/experiment_fuzz.c"

/* Unchanged; its first half, quarter, ...; and without each of its lines. */
static void replay(const uint8_t *data, size_t size) {
    static uint8_t part[1 << 16];
    for (size_t length = size; length > 0; length /= 2) LLVMFuzzerTestOneInput(data, length);
    for (size_t start = 0, end; start < size; start = end) {
        end = start;
        while (end < size && data[end++] != '\n') continue;
        memcpy(part, data, start);
        memcpy(part + start, data + end, size - end);
        LLVMFuzzerTestOneInput(part, size - (end - start));
    }
}

TEST("every experiment of the fuzzer's corpus is rejected with a location or is consistent") {
    CHECK(corpus_replay("experiment", replay) >= 8);
}
