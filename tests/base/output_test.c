/* Files in memory, and the errors if memory runs out. */
#include "base/output.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/no_memory.h"
#include "test.h"

bool no_memory_for_files;

FILE *open_memstream(char **text, size_t *length) {
    if (no_memory_for_files) {
        errno = ENOMEM;
        return NULL;
    }
    FILE *(*original)(char **, size_t *) = NULL;
    *(void **)&original = dlsym(RTLD_NEXT, "open_memstream"); /* the cast that POSIX prescribes; ISO C has none */
    return original(text, length);
}

TEST("a file in memory contains what was written") {
    struct error err = {0};
    char *text;
    size_t length;
    FILE *file = text_open(&text, &length, &err);
    REQUIRE(file);
    fprintf(file, "%d slices", 64);
    REQUIRE(text_close(file, &text, &err));
    CHECK_EQ(text, "64 slices");
    CHECK_EQ(length, 9u);
    free(text);
}

TEST("reports an error if a file in memory cannot be opened") {
    struct error err = {0};
    char *text;
    size_t length;
    no_memory_for_files = true;
    CHECK(!text_open(&text, &length, &err));
    CHECK_EQ(err.text, "cannot open a file in memory: Cannot allocate memory");
}

TEST("reports an error and returns no text if a write to a file in memory failed") {
    struct error err = {0};
    char *text = mem_text("a part");
    FILE *full = fopen("/dev/full", "w");
    REQUIRE(full);
    fputs("the whole", full);
    CHECK(!text_close(full, &text, &err));
    CHECK(!text);
    CHECK_EQ(err.text, "cannot write to a file in memory: No space left on device");
}
