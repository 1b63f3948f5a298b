/* Reads arbitrary bytes as a launch file of a small module: it is rejected with a located message, or it has a name and a
 * source. Entry point for libFuzzer; tests/host/corpus_test.c replays data/fuzz/launch through it. */
#include <string.h>

#include "fuzz/scratch.h"
#include "host/launch_file.h"
#include "host/programs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char module[] = PTX_HEAD PTX_ADD PTX_PAIR;
    char *ptx = scratch_path("a.ptx"), *path = scratch_path("a.yaml");
    scratch_write(ptx, module, strlen(module));
    scratch_write(path, data, size);
    struct error err = {0};
    struct launch_file *file = launch_file_open(path, ptx, &err);
    must(!file == err.set);
    if (file) {
        struct launch_dump dump;
        must(launch_file_name(file) != NULL);
        for (unsigned i = 0; launch_file_dump(file, NULL, i, &dump); i++) must(dump.path && *dump.path);
        struct stream_source *source = launch_file_source(file); /* not started: a launch may be of any length */
        source->ops->destroy(source);
        launch_file_close(file);
    } else {
        must(*err.text);
    }
    unlink(path);
    unlink(ptx);
    free(path);
    free(ptx);
    return 0;
}
