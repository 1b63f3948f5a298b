/* Replays a fuzzer's corpus in a test. A harness is not a test by itself: the fuzzer links it, the test includes it. */
#ifndef SLUICE_TESTS_FUZZ_CORPUS_H
#define SLUICE_TESTS_FUZZ_CORPUS_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

#include "test.h"

/* Passes every file of data/fuzz/NAME; returns their number. */
static inline unsigned corpus_replay(const char *name, void (*replay)(const uint8_t *data, size_t size)) {
    char path[1024];
    snprintf(path, sizeof path, SLUICE_SOURCE_DIR "/data/fuzz/%s", name);
    DIR *folder = opendir(path);
    REQUIRE(folder);
    unsigned replayed = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        static uint8_t data[1 << 16];
        snprintf(path, sizeof path, SLUICE_SOURCE_DIR "/data/fuzz/%s/%s", name, entry->d_name);
        FILE *file = fopen(path, "rb");
        REQUIRE(file);
        size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        replay(data, size);
        replayed++;
    }
    closedir(folder);
    return replayed;
}

#endif
